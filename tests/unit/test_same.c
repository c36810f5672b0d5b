/* test_same.c - which programs are the same by their structure. */
#include "analyzer/transform/refine.h"
#include "analyzer/transform/same.h"
#include "analyzer/typing.h"
#include "frontend/ir/params.h"
#include "frontend/read/text.h"
#include "runtime/agree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Two programs as the branches of one: of x and y, f32[3], and i, i32[]. */
#define BRANCH "{ lambda ; x:f32[3] y:f32[3] i:i32[] m:f32[2,3]. let\n%s }\n"

typedef struct pair {
    jx_ctx *ctx;
    jx_program *a, *b;
} pair;

static pair read_pair(const char *a, const char *b, const char *result)
{
    pair made = {.ctx = jx_ctx_new(0)};
    jx_buffer text = {0};
    jx_program *both;

    jx_buffer_printf(&text,
                     "{ lambda ; p:i32[] q:f32[3] r:f32[3] s:i32[] t:f32[2,3]. "
                     "let\n o:%s = cond[branches=(\n" BRANCH BRANCH
                     ")] p q r s "
                     "t\n in (o,) }",
                     result, a, b);
    both = jx_read_text(made.ctx, "-", text.text, text.length);
    if (!both)
        print_error("%s: %s\n%s\n", made.ctx->error.place,
                    made.ctx->error.message, text.text);
    assert_non_null(both);
    jx_buffer_free(&text);
    const jx_p_cond *p = both->entry.jaxpr->eqns[0].typed;
    made.a = jx_program_refine(both, &p->branches.at[0], 0, NULL);
    made.b = jx_program_refine(both, &p->branches.at[1], 0, NULL);
    assert_non_null(made.a);
    assert_non_null(made.b);
    return made;
}

static jx_difference compare(const char *a, const char *b, const char *result,
                             bool same)
{
    pair made = read_pair(a, b, result);
    jx_difference found;

    if (jx_same_programs(jx_typed_of(made.a), jx_typed_of(made.b), &found) !=
        same)
        fail_msg("expected %s:\n%s\n%s", same ? "the same" : "a difference", a,
                 b);
    assert_true(jx_same_programs(jx_typed_of(made.a), jx_typed_of(made.a),
                                 &(jx_difference){0}));
    if (!same)
        assert_true(found.a.eqn || found.b.eqn || found.output >= 0);
    assert_true(jx_ok(made.ctx));
    jx_ctx_free(made.ctx);
    return found;
}

static void same(const char *a, const char *b)
{
    compare(a, b, "f32[3]", true);
    compare(b, a, "f32[3]", true);
}

static void differ(const char *a, const char *b)
{
    compare(a, b, "f32[3]", false);
    compare(b, a, "f32[3]", false);
}

static void names_calls_dead_code_and_order_do_not_count(void **state)
{
    (void)state;
    same(" a:f32[3] = sin x\n b:f32[3] = cos y\n c:f32[3] = add a b in (c,)",
         " b:f32[3] = cos y\n d:f32[3] = tan y\n a:f32[3] = sin x\n"
         " c:f32[3] = add a b in (c,)");
    same(" a:f32[3] = sin x\n b:f32[3] = sin x\n c:f32[3] = add a b in (c,)",
         " a:f32[3] = sin x\n c:f32[3] = add a a in (c,)");
    same(" a:f32[3] = jit[name=f jaxpr={ lambda ; z:f32[3]. let "
         "w:f32[3] = sin z in (w,) }] x in (a,)",
         " a:f32[3] = sin x in (a,)");
}

/* An object is what it expands to; without that, nobody knows which it is. */
static void objects_are_what_they_expand_to(void **state)
{
#define SINE "jaxpr={ lambda ; z:f32[3]. let w:f32[3] = sin z in (w,) }"
    (void)state;
    same(" a:f32[3] = call_hi_primitive[name=Foo params={'k': 1} " SINE
         "] x in (a,)",
         " a:f32[3] = sin x in (a,)");
    same(
        " a:f32[3] = call_hi_primitive[name=Foo params={'k': 1} " SINE "] x in "
        "(a,)",
        " a:f32[3] = call_hi_primitive[name=Bar params={'k': 2} " SINE "] x in "
        "(a,)");
    differ(" a:f32[3] = Foo[k=1] x in (a,)", " a:f32[3] = Foo[k=1] x in (a,)");
    differ(" a:f32[3] = Foo[k=1] x in (a,)", " a:f32[3] = Foo[k=2] x in (a,)");
}

#define LOOP(trees)                                                            \
    " a:f32[3] = scan[" trees " jaxpr={ lambda ; c:f32[3] d:f32[3]. let "      \
    "e:f32[3] = add c d in (e,) } length=2 reverse=False unroll=1] x m in "    \
    "(a,)"

static void releases_differ_in_what_they_say_of_the_same(void **state)
{
    (void)state;
    same(LOOP("ft_in=((), (None,), (None,)) ft_out=((None,), ())"),
         LOOP("num_consts=0 num_carry=1"));
    same(LOOP("ft_in=((), (None,), (None,)) ft_out=((None,), ())"),
         LOOP("ft_in=((), (None,), RightsOnly(Right(None))) ft_out=((None,), "
              "(RightsOnly(Left(None)),))"));
    same(" a:f32[3] = erfc[accuracy=None] x in (a,)",
         " a:f32[3] = erfc x in (a,)");
    differ(" a:f32[3] = erfc[accuracy=AccuracyMode.HIGHEST] x in (a,)",
           " a:f32[3] = erfc x in (a,)");
}

static void moves_that_move_nothing_do_not_count(void **state)
{
    static const char plain[] = " a:f32[3] = sin x in (a,)";

    (void)state;
    same(" b:f32[3] = copy x\n a:f32[3] = sin b in (a,)", plain);
    same(" b:f32[3] = convert_element_type[new_dtype=float32 "
         "weak_type=True] x\n a:f32[3] = sin b in (a,)",
         plain);
    same(" b:f32[1,3] = broadcast_in_dim[broadcast_dimensions=(1,) "
         "shape=(1, 3) sharding=None] x\n\n c:f32[3] = "
         "reshape[dimensions=None new_sizes=(3,) sharding=None] b\n"
         " a:f32[3] = sin c in (a,)",
         plain);
    same(" b:f32[3] = slice[limit_indices=(3,) start_indices=(0,) "
         "strides=None] x\n a:f32[3] = sin b in (a,)",
         plain);
    same(" b:f32[3] = dynamic_slice[slice_sizes=(3,)] x i\n"
         " a:f32[3] = sin b in (a,)",
         plain);
    same(" b:f32[3] = transpose[permutation=(0,)] x\n a:f32[3] = sin b in (a,)",
         plain);
    same(" b:f32[3] = select_n True:bool[] y x\n a:f32[3] = sin b in (a,)",
         plain);
    same(" b:f32[3] = pad[padding_config=((0, 0, 0),)] x 1.0:f32[]\n"
         " a:f32[3] = sin b in (a,)",
         plain);
}

static void cutting_apart_is_slicing(void **state)
{
    (void)state;
    same("a:f32[] b:f32[] c:f32[] = unstack[axis=0] x\n"
         "d:f32[] = add a c\ng:f32[3] = broadcast_in_dim"
         "[broadcast_dimensions=() shape=(3,) sharding=None] d in (g,)",
         "a:f32[1] = slice[limit_indices=(1,) start_indices=(0,) "
         "strides=None] x\nb:f32[] = squeeze[dimensions=(0,)] a\n"
         "c:f32[1] = slice[limit_indices=(3,) start_indices=(2,) "
         "strides=None] x\nd:f32[] = reshape[dimensions=None new_sizes=() "
         "sharding=None] c\n"
         "h:f32[] = add b d\ng:f32[3] = broadcast_in_dim"
         "[broadcast_dimensions=() shape=(3,) sharding=None] h in (g,)");
    same("a:f32[1] b:f32[2] = split[axis=0 sizes=(1, 2)] x\n"
         "c:f32[3] = concatenate[dimension=0] b a in (c,)",
         "a:f32[1] = slice[limit_indices=(1,) start_indices=(0,) "
         "strides=None] x\nb:f32[2] = slice[limit_indices=(3,) "
         "start_indices=(1,) strides=None] x\n"
         "c:f32[3] = concatenate[dimension=0] b a in (c,)");
    same("a:f32[3] b:f32[3] = unstack[axis=0] m in (b,)",
         "a:f32[1,3] = slice[limit_indices=(2, 3) start_indices=(1, 0) "
         "strides=None] m\nb:f32[3] = squeeze[dimensions=(0,)] a in (b,)");
    differ("a:f32[] b:f32[] c:f32[] = unstack[axis=0] x\n"
           "d:f32[3] = broadcast_in_dim[broadcast_dimensions=() shape=(3,) "
           "sharding=None] a in (d,)",
           "a:f32[] b:f32[] c:f32[] = unstack[axis=0] x\n"
           "d:f32[3] = broadcast_in_dim[broadcast_dimensions=() shape=(3,) "
           "sharding=None] b in (d,)");
    differ("a:f32[1] b:f32[2] = split[axis=0 sizes=(1, 2)] x\n"
           "c:f32[3] = concatenate[dimension=0] b a in (c,)",
           "a:f32[2] b:f32[1] = split[axis=0 sizes=(2, 1)] x\n"
           "c:f32[3] = concatenate[dimension=0] a b in (c,)");
}

static void numbers_count_by_value(void **state)
{
    (void)state;
    same(" b:f32[] = convert_element_type[new_dtype=float32 weak_type=False] "
         "3:i32[]\n\n a:f32[3] = mul x b in (a,)",
         " a:f32[3] = mul x 3.0:f32[] in (a,)");
    same(" c:i32[] = mul 2:i32[] 4:i32[]\n\n c2:i32[] = sub c 5:i32[]\n"
         " b:f32[] = convert_element_type[new_dtype=float32 weak_type=False] "
         "c2\n\n a:f32[3] = mul x b in (a,)",
         " a:f32[3] = mul x 3.0:f32[] in (a,)");
    same(" b:f32[3] = broadcast_in_dim[broadcast_dimensions=() shape=(3,) "
         "sharding=None] 3.0:f32[]\n\n a:f32[3] = mul x b in (a,)",
         " a:f32[3] = mul x 3.0:f32[] in (a,)");
    same(" c:i32[] = add 2147483647:i32[] 1:i32[]\n"
         " b:f32[] = convert_element_type[new_dtype=float32 weak_type=False] "
         "c\n\n a:f32[3] = mul x b in (a,)",
         " a:f32[3] = mul x -2147483648.0:f32[] in (a,)");
    same(" c:bool[] = lt 1:i32[] 2:i32[]\n\n a:f32[3] = select_n c x y "
         "in (a,)",
         " in (y,)");
    same(" a:f32[1] = dynamic_slice[slice_sizes=(1,)] x 7:i32[]\n\n b:f32[3] = "
         "mul a x in (b,)",
         " a:f32[1] = slice[limit_indices=(3,) start_indices=(2,) "
         "strides=None] x\n\n b:f32[3] = mul a x in (b,)");
}

/* Integers stay what they are; floats do not (-0.0 + 0.0 is 0.0). */
static void adding_no_integer_does_not_count(void **state)
{
    (void)state;
    compare(" a:i32[] = mul i 1:i32[]\n b:i32[] = add 0:i32[] a\n"
            " c:i32[] = sub b 0:i32[] in (c,)",
            " in (i,)", "i32[]", true);
    compare(" c:i32[] = sub 0:i32[] i in (c,)", " in (i,)", "i32[]", false);
    compare(" c:i32[] = mul i 0:i32[] in (c,)", " in (i,)", "i32[]", false);
}

static void what_computes_something_else_differs(void **state)
{
    (void)state;
    differ(" a:f32[3] = sin x in (a,)", " a:f32[3] = sin y in (a,)");
    differ(" a:f32[3] = sin x in (a,)", " a:f32[3] = cos x in (a,)");
    differ(" a:f32[3] = sub x y in (a,)", " a:f32[3] = sub y x in (a,)");
    differ(" a:f32[3] = mul x 2.0:f32[] in (a,)",
           " a:f32[3] = mul x 3.0:f32[] in (a,)");
    differ(" a:f32[3] = add x 0.0:f32[] in (a,)",
           " a:f32[3] = add x -0.0:f32[] in (a,)");
    differ(" a:f32[3] = add x 0.0:f32[] in (a,)", " in (x,)");
    differ(" in (x,)", " in (y,)");
    differ(" a:f32[3] = integer_pow[y=2] x in (a,)",
           " a:f32[3] = integer_pow[y=3] x in (a,)");
    differ(" a:f32[3] = cumsum[axis=0 reverse=False] x in (a,)",
           " a:f32[3] = cumsum[axis=0 reverse=True] x in (a,)");
    differ(" a:f32[3] = rev[dimensions=(0,)] x in (a,)", " in (x,)");
    differ(" a:f32[1] = dynamic_slice[slice_sizes=(1,)] x i\n\n b:f32[3] = "
           "mul a x in (b,)",
           " a:f32[1] = slice[limit_indices=(1,) start_indices=(0,) "
           "strides=None] x\n\n b:f32[3] = mul a x in (b,)");
    differ(" a:i32[3] = convert_element_type[new_dtype=int32 weak_type=False] "
           "x\n\n b:f32[3] = convert_element_type[new_dtype=float32 "
           "weak_type=False] a in (b,)",
           " in (x,)");
    differ(" a:f32[3] = jit[name=f jaxpr={ lambda ; z:f32[3] w:f32[3]. let "
           "v:f32[3] = sub z w in (v,) }] x y in (a,)",
           " a:f32[3] = jit[name=f jaxpr={ lambda ; z:f32[3] w:f32[3]. let "
           "v:f32[3] = sub w z in (v,) }] x y in (a,)");
}

/* One release of JAX says what the others leave to be understood. */
static void what_a_parameter_is_by_default_does_not_count(void **state)
{
    static const char top[] = " a:f32[2] b:i32[2] = top_k[axis=0 k=2] x\n\n"
                              " c:f32[2] = neg a in (c,)";
    static const char sure[] = " a:f32[2] b:i32[2] = top_k[axis=0 "
                               "is_stable=True k=2] x\n\n"
                               " c:f32[2] = neg a in (c,)";
    static const char loose[] = " a:f32[2] b:i32[2] = top_k[axis=0 "
                                "is_stable=False k=2] x\n\n"
                                " c:f32[2] = neg a in (c,)";

    (void)state;
    same(" a:f32[3] = erfc[accuracy=None] x in (a,)",
         " a:f32[3] = erfc x in (a,)");
    differ(" a:f32[3] = erfc[accuracy=AccuracyMode.HIGHEST] x in (a,)",
           " a:f32[3] = erfc x in (a,)");
    compare(top, sure, "f32[2]", true);
    compare(sure, top, "f32[2]", true);
    compare(top, loose, "f32[2]", false);
}

/* Unrolled it begins with the last coefficient, else with 0 times x. */
static void polynomials_that_begin_otherwise_differ(void **state)
{
    (void)state;
    differ(" a:f32[3] = polynomial x y 1.0:f32[] in (a,)",
           " a:f32[3] = polynomial[unroll=1] x y 1.0:f32[] in (a,)");
    same(" a:f32[3] = polynomial x y 1.0:f32[] in (a,)",
         " a:f32[3] = polynomial[unroll=3] x y 1.0:f32[] in (a,)");
    same(" a:f32[3] = polynomial[unroll=0] x y 1.0:f32[] in (a,)",
         " a:f32[3] = polynomial[unroll=1] x y 1.0:f32[] in (a,)");
}

/* A transposed matrix has the same size and other elements. */
static void moves_that_move_something_differ(void **state)
{
    (void)state;
    compare(" a:f32[3,2] = transpose[permutation=(1, 0)] m in (a,)",
            " a:f32[3,2] = reshape[dimensions=None new_sizes=(3, 2) "
            "sharding=None] m in (a,)",
            "f32[3,2]", false);
    compare(" b:f32[2,1,3] = broadcast_in_dim[broadcast_dimensions=(0, 2) "
            "shape=(2, 1, 3) sharding=None] m\n\n a:f32[1,2,3] = "
            "transpose[permutation=(1, 0, 2)] b in (a,)",
            " a:f32[1,2,3] = reshape[dimensions=None new_sizes=(1, 2, 3) "
            "sharding=None] m in (a,)",
            "f32[1,2,3]", true);
}

#define SCAN(body, operands)                                                   \
    " a:f32[3] b:f32[3] = scan[jaxpr={ lambda ; c:f32[3] d:f32[3]. let\n   "   \
    " " body                                                                   \
    " } length=4 num_carry=2 num_consts=0 reverse=False unroll=1] " operands   \
    " in (a,)"

static void loops_are_the_same_if_their_bodies_are(void **state)
{
    (void)state;
    same(SCAN("e:f32[3] = sin c in (e, d)", "x y"),
         SCAN("f:f32[3] = cos d\n    e:f32[3] = sin c in (e, d)", "x y"));
    differ(SCAN("e:f32[3] = sin c in (e, d)", "x y"),
           SCAN("e:f32[3] = sin d in (e, d)", "x y"));
    differ(SCAN("e:f32[3] = sin c in (e, d)", "x y"),
           SCAN("e:f32[3] = sin c in (e, d)", "y x"));
    differ(SCAN("in (c, d)", "x y"), SCAN("in (d, c)", "x y"));
}

#define INNER(use)                                                             \
    "e:f32[3] = scan[jaxpr={ lambda ; k:f32[3] g:f32[3]. let h:f32[3] = "      \
    "sub " use " in (h,) } length=2 num_carry=1 num_consts=1 reverse=False "   \
    "unroll=1] d c in (e, d)"

static void inner_loops_do_not_take_what_is_the_outer_ones(void **state)
{
    (void)state;
    differ(SCAN(INNER("k g"), "x y"), SCAN(INNER("g k"), "x y"));
    differ(SCAN(INNER("g g"), "x y"), SCAN(INNER("k k"), "x y"));
    same(SCAN(INNER("k g"), "x y"), SCAN(INNER("k g"), "x y"));
}

#define COND(first, second, index)                                             \
    " a:f32[3] = cond[branches=({ lambda ; c:f32[3]. let " first               \
    " }\n { lambda ; c:f32[3]. let " second " })] " index " x in (a,)"

static void branches_keep_their_places(void **state)
{
    (void)state;
    differ(COND("e:f32[3] = sin c in (e,)", "in (c,)", "i"),
           COND("in (c,)", "e:f32[3] = sin c in (e,)", "i"));
    same(COND("e:f32[3] = sin c in (e,)", "in (c,)", "0:i32[]"),
         " e:f32[3] = sin x in (e,)");
    same(COND("e:f32[3] = sin c in (e,)", "in (c,)", "9:i32[]"), " in (x,)");
}

static void machines_may_take_subnormal_numbers_for_zero(void **state)
{
    (void)state;
    differ(" a:f32[] = mul 1e-40:f32[] 1e30:f32[]\n b:f32[3] = mul x a in (b,)",
           " b:f32[3] = mul x 1e-10:f32[] in (b,)");
    differ(
        " a:bool[] = gt 1e-40:f32[] 0.0:f32[]\n b:f32[3] = select_n a x y in "
        "(b,)",
        " in (y,)");
}

static void what_is_not_known_is_what_all_its_parameters_say(void **state)
{
    (void)state;
    same(" a:f32[3] = my_op[name=one] x in (a,)",
         " a:f32[3] = my_op[name=one] x in (a,)");
    differ(" a:f32[3] = my_op[name=one] x in (a,)",
           " a:f32[3] = my_op[name=two] x in (a,)");
    differ(" a:f32[3] = my_op[linear=True] x in (a,)",
           " a:f32[3] = my_op[linear=False] x in (a,)");
    /* Two functions of one name need not be one. */
    compare(" a:f32[3] = my_call[f=<function g at 0x1>] x in (a,)",
            " a:f32[3] = my_call[f=<function g at 0x1>] x in (a,)", "f32[3]",
            false);
}

static void the_first_difference_is_named(void **state)
{
    pair made =
        read_pair(" a:f32[3] = sin x\n b:f32[3] = mul a 2.0:f32[]\n c:f32[3] = "
                  "add b y in (c,)",
                  " a:f32[3] = sin x\n b:f32[3] = mul a 4.0:f32[]\n c:f32[3] = "
                  "add b y in (c,)",
                  "f32[3]");
    jx_difference found;

    (void)state;
    assert_false(
        jx_same_programs(jx_typed_of(made.a), jx_typed_of(made.b), &found));
    assert_int_equal(found.output, 0);
    assert_int_equal(found.a.eqn->prim->id, JX_PRIM_mul);
    assert_int_equal(found.b.eqn->prim->id, JX_PRIM_mul);
    jx_ctx_free(made.ctx);
}

/* ---- running */

static jx_agreement run(const char *a, const char *b, const char *result,
                        int64_t work)
{
    const jx_agree_limits limits = {work, (size_t)1 << 20};
    pair made = read_pair(a, b, result);
    jx_agreement found = jx_programs_agree(made.a, made.b, &limits);

    assert_true(jx_ok(made.ctx));
    if (found.verdict == JX_DISAGREES) {
        assert_non_null(found.a);
        assert_non_null(found.b);
        assert_string_not_equal(found.a, found.b);
    }
    if (found.verdict == JX_AGREE_UNKNOWN)
        assert_non_null(found.why);
    jx_ctx_free(made.ctx);
    return found;
}

static void running_tells_apart_what_differs(void **state)
{
    (void)state;
    assert_int_equal(run(" a:f32[3] = add x x in (a,)",
                         " a:f32[3] = mul x 2.0:f32[] in (a,)", "f32[3]", 1000)
                         .verdict,
                     JX_AGREES);
    assert_int_equal(run(" a:f32[3] = add x x in (a,)",
                         " a:f32[3] = mul x 2.1:f32[] in (a,)", "f32[3]", 1000)
                         .verdict,
                     JX_DISAGREES);
    /* Between -1 and 1 much is alike. */
    assert_int_equal(run(" a:f32[3] = min x 1.0:f32[]\n b:f32[3] = max a "
                         "-1.0:f32[] in (b,)",
                         " in (x,)", "f32[3]", 1000)
                         .verdict,
                     JX_DISAGREES);
    /* Double precision hides what a program rounds to fewer bits. */
    assert_int_equal(
        run(" a:bf16[3] = convert_element_type[new_dtype=bfloat16 "
            "weak_type=False] x\n b:f32[3] = convert_element_type[new_dtype="
            "float32 weak_type=False] a in (b,)",
            " a:f32[3] = mul x 1.0:f32[] in (a,)", "f32[3]", 1000)
            .verdict,
        JX_DISAGREES);
    /* A tolerance for numbers near 1 says nothing of small ones. */
    assert_int_equal(run(" a:f32[3] = mul x 1e-9:f32[] in (a,)",
                         " a:f32[3] = mul x 2e-9:f32[] in (a,)", "f32[3]", 1000)
                         .verdict,
                     JX_AGREE_UNKNOWN);
    assert_int_equal(run(" a:f32[3] = mul x 1e-9:f32[] in (a,)",
                         " a:f32[3] = mul 1e-9:f32[] x in (a,)", "f32[3]", 1000)
                         .verdict,
                     JX_AGREES);
    /* NaN equals NaN, so where there is nothing else, nothing was compared. */
    assert_int_equal(
        run(" a:f32[3] = sub x 9.0:f32[]\n b:f32[3] = log a in (b,)",
            " a:f32[3] = sub x 8.0:f32[]\n b:f32[3] = log a in (b,)", "f32[3]",
            1000)
            .verdict,
        JX_AGREE_UNKNOWN);
    /* Rounding alone: 1e8 + x - 1e8 keeps nothing of x in f32. */
    assert_int_equal(
        run(" a:f32[3] = add x 1e8:f32[]\n b:f32[3] = sub a 1e8:f32[] in (b,)",
            " in (x,)", "f32[3]", 1000)
            .verdict,
        JX_AGREES);
    assert_int_equal(
        run(" in (i,)", " a:i32[] = add i 1:i32[] in (a,)", "i32[]", 1000)
            .verdict,
        JX_DISAGREES);
}

static void what_costs_too_much_is_not_run(void **state)
{
    (void)state;
    assert_int_equal(run(" a:f32[3] = add x x in (a,)",
                         " a:f32[3] = mul x 2.0:f32[] in (a,)", "f32[3]", 5)
                         .verdict,
                     JX_AGREE_UNKNOWN);
    assert_int_equal(
        run(" a:f32[1000000,3] = broadcast_in_dim[broadcast_dimensions=(1,) "
            "shape=(1000000, 3) sharding=None] x\n\n b:f32[1000000,3] = sin a\n"
            " c:f32[3] = reduce_sum[axes=(0,)] b in (c,)",
            " in (x,)", "f32[3]", INT64_MAX)
            .verdict,
        JX_AGREE_UNKNOWN);
}

/* Two jaxprs of one program, where sums and products may be turned round. */
static void turned_round(const char *a, const char *b, bool same)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_buffer text = {0};
    jx_program *both;

    jx_buffer_printf(&text,
                     "{ lambda ; p:i32[] q:f32[3] r:f32[3] s:i32[] t:f32[2,3]. "
                     "let\n o:f32[3] = cond[branches=(\n" BRANCH BRANCH
                     ")] p q r s "
                     "t\n in (o,) }",
                     a, b);
    both = jx_read_text(ctx, "-", text.text, text.length);
    assert_non_null(both);
    jx_buffer_free(&text);
    const jx_p_cond *p = both->entry.jaxpr->eqns[0].typed;
    const jx_typed *typed = jx_typed_of(both);
    assert_int_equal(
        jx_same_jaxprs(typed, &p->branches.at[0], &p->branches.at[1]), same);
    assert_int_equal(
        jx_same_jaxprs(typed, &p->branches.at[1], &p->branches.at[0]), same);
    jx_ctx_free(ctx);
}

static void sums_and_products_may_be_turned_round(void **state)
{
    (void)state;
    turned_round(
        " a:f32[3] = sin x\n b:f32[3] = mul a y\n c:f32[3] = add b x\nin (c,)",
        " a:f32[3] = sin x\n b:f32[3] = mul y a\n c:f32[3] = add x b\nin (c,)",
        true);
    turned_round(" b:f32[3] = sub x y\nin (b,)", " b:f32[3] = sub y x\nin (b,)",
                 false);
    turned_round(" b:f32[3] = div x y\nin (b,)", " b:f32[3] = div y x\nin (b,)",
                 false);
    turned_round(" b:f32[3] = add x y\n c:f32[3] = add b 2.0:f32[]\nin (c,)",
                 " b:f32[3] = add x 2.0:f32[]\n c:f32[3] = add b y\nin (c,)",
                 false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_what_they_expand_to),
        cmocka_unit_test(releases_differ_in_what_they_say_of_the_same),
        cmocka_unit_test(names_calls_dead_code_and_order_do_not_count),
        cmocka_unit_test(moves_that_move_nothing_do_not_count),
        cmocka_unit_test(cutting_apart_is_slicing),
        cmocka_unit_test(numbers_count_by_value),
        cmocka_unit_test(adding_no_integer_does_not_count),
        cmocka_unit_test(what_computes_something_else_differs),
        cmocka_unit_test(what_a_parameter_is_by_default_does_not_count),
        cmocka_unit_test(polynomials_that_begin_otherwise_differ),
        cmocka_unit_test(moves_that_move_something_differ),
        cmocka_unit_test(loops_are_the_same_if_their_bodies_are),
        cmocka_unit_test(inner_loops_do_not_take_what_is_the_outer_ones),
        cmocka_unit_test(branches_keep_their_places),
        cmocka_unit_test(machines_may_take_subnormal_numbers_for_zero),
        cmocka_unit_test(what_is_not_known_is_what_all_its_parameters_say),
        cmocka_unit_test(the_first_difference_is_named),
        cmocka_unit_test(sums_and_products_may_be_turned_round),
        cmocka_unit_test(running_tells_apart_what_differs),
        cmocka_unit_test(what_costs_too_much_is_not_run),
    };

    return cmocka_run_group_tests_name("same", tests, NULL, NULL);
}
