/* test_field.c - arithmetic over random fields, and which programs are
 * the same there. */
#include "analyzer/typing.h"
#include "frontend/ir/params.h"
#include "frontend/read/text.h"
#include "runtime/equal/equal.h"
#include "runtime/field/field_same.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- the ring */

static void primes_are_prime(void **state)
{
    static const uint64_t prime[] = {2, 3, 61, 2305843009213693951u,
                                     18446744073709551557u};
    static const uint64_t composite[] = {0,
                                         1,
                                         561,
                                         3215031751u,
                                         3825123056546413051u,
                                         2305843009213693951u - 2,
                                         4611686014132420609u};

    (void)state;
    for (size_t i = 0; i < sizeof prime / sizeof *prime; i++)
        assert_true(jx_ring_is_prime(prime[i]));
    for (size_t i = 0; i < sizeof composite / sizeof *composite; i++)
        assert_false(jx_ring_is_prime(composite[i]));
}

static void rings_have_what_they_promise(void **state)
{
    uint64_t random = 1, root;

    (void)state;
    for (int i = 0; i < 20; i++) {
        jx_ring r;
        jx_ring_make(&r, &random);
        assert_true(jx_ring_is_prime(r.p) && jx_ring_is_prime(r.q));
        assert_true(r.p > (uint64_t)1 << 59 && r.p < (uint64_t)1 << 62);
        assert_true(r.q > (uint64_t)1 << 52 && r.p % r.q == 1);
        assert_true(r.g != 1 && jx_mod_power(r.g, r.q, r.p) == 1);
        for (int f = 0; f < 2; f++) {
            uint64_t prime = f ? r.q : r.p;
            assert_true(jx_mod_mul(r.i[f], r.i[f], prime) == prime - 1);
            assert_true(jx_mod_mul(r.root2[f], r.root2[f], prime) == 2);
        }
        for (int k = 0; k < 100; k++) {
            uint64_t a = k ? jx_ring_random(&random) % r.p : r.p - 1;
            uint64_t b = k > 1 ? jx_ring_random(&random) % r.p : r.p - 1;
            assert_true(jx_mod_fast(a, b, &r.fast_p) == jx_mod_mul(a, b, r.p));
            assert_true(jx_mod_fast(a % r.q, b % r.q, &r.fast_q) ==
                        jx_mod_mul(a % r.q, b % r.q, r.q));
        }
        assert_false(jx_mod_root(r.no_square, r.p, &root));
        assert_true(jx_mod_root(jx_mod_mul(12345, 12345, r.p), r.p, &root));
        assert_true(root == 12345 || root == r.p - 12345);
        assert_true(jx_mod_mul(jx_mod_dyadic(-3, -70, r.p),
                               jx_mod_power(2, 70, r.p), r.p) == r.p - 3);
    }
}

/* ---- programs */

#define BRANCH "{ lambda ; x:f32[] y:f32[] v:f32[3]. let\n%s }\n"

static int64_t work_of; /* jx_field_question.work of the next ones */

static jx_field_answer ask_of(const char *text_of, const char *a, const char *b,
                              const char *result, bool integers,
                              const char **said)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_buffer text = {0};
    static char kept[2000];
    jx_program *both;
    jx_field_answer answer;

    jx_buffer_printf(&text, text_of, result, a, b);
    both = jx_read_text(ctx, "-", text.text, text.length);
    if (!both)
        print_error("%s: %s\n%s\n", ctx->error.place, ctx->error.message,
                    text.text);
    assert_non_null(both);
    jx_buffer_free(&text);
    const jx_p_cond *p = both->entry.jaxpr->eqns[0].typed;
    const jx_field_question question = {.typed = jx_typed_of(both),
                                        .a = &p->branches.at[0],
                                        .b = &p->branches.at[1],
                                        .integers = integers,
                                        .work = work_of};
    assert_true(jx_field_same(&question, &answer));
    snprintf(kept, sizeof kept, "%s",
             answer.verdict ? answer.assuming ? answer.assuming : ""
                            : answer.why);
    *said = kept;
    jx_ctx_free(ctx);
    return answer;
}

static jx_field_answer ask(const char *a, const char *b, const char *result,
                           const char **said)
{
    return ask_of("{ lambda ; p:i32[] q:f32[] r:f32[] t:f32[3]. let\n"
                  " o:%s = cond[branches=(\n" BRANCH BRANCH
                  ")] p q r t\n in (o,) }",
                  a, b, result, false, said);
}

/* `assuming`: a part of what is assumed; "": nothing is. */
static void same_as(const char *a, const char *b, const char *result,
                    const char *assuming)
{
    const char *said;
    jx_field_answer answer = ask(a, b, result, &said);

    if (answer.verdict != JX_FIELD_IDENTICAL)
        fail_msg("not found to be the same (%s):\n%s\n%s", said, a, b);
    if (*assuming ? !strstr(said, assuming) : *said)
        fail_msg("assumes \"%s\", not \"%s\":\n%s\n%s", said, assuming, a, b);
    assert_true(answer.bits >= 60);
}

static void same(const char *a, const char *b, const char *assuming)
{
    same_as(a, b, "f32[]", assuming);
}

/* ---- the same by planes, for two programs */

static jx_program *program_of(jx_ctx *ctx, const char *body)
{
    jx_buffer text = {0};
    jx_program *to;

    jx_buffer_printf(&text, "{ lambda ; x:f32[] y:f32[] v:f32[3]. let\n%s }\n",
                     body);
    to = jx_read_text(ctx, "-", text.text, text.length);
    if (!to)
        print_error("%s: %s\n%s\n", ctx->error.place, ctx->error.message,
                    text.text);
    assert_non_null(to);
    jx_buffer_free(&text);
    return to;
}

static jx_equal_fields ask_planes(const char *a, const char *b,
                                  const char **said)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_program *first = program_of(ctx, a), *second = program_of(ctx, b);
    jx_equal_question question = {.a = {.typed = jx_typed_of(first)},
                                  .b = {.typed = jx_typed_of(second)},
                                  .nouts = first->entry.jaxpr->nouts};
    static char kept[2000];
    jx_equal_fields answer;

    assert_true(jx_equal_open(&question));
    assert_true(jx_equal_over_fields(&question, &answer));
    jx_equal_close(&question);
    snprintf(kept, sizeof kept, "%s",
             answer.identical ? answer.assuming ? answer.assuming : ""
                              : answer.why);
    *said = kept;
    jx_ctx_free(ctx);
    return answer;
}

static void planes_differ(const char *a, const char *b)
{
    const char *said;

    if (ask_planes(a, b, &said).identical || ask_planes(b, a, &said).identical)
        fail_msg("called identical by planes (%s):\n%s\n%s", said, a, b);
}

static void planes_same(const char *a, const char *b, const char *assuming)
{
    const char *said;
    jx_equal_fields answer = ask_planes(a, b, &said);

    if (!answer.identical || answer.bits < 40)
        fail_msg("not found to be the same by planes (%s, %d bits):\n%s\n%s",
                 said, answer.bits, a, b);
    if (*assuming ? !strstr(said, assuming) : *said)
        fail_msg("assumes \"%s\", not \"%s\":\n%s\n%s", said, assuming, a, b);
}

static void undecided_as(const char *a, const char *b, const char *result)
{
    const char *said;

    if (ask(a, b, result, &said).verdict == JX_FIELD_IDENTICAL)
        fail_msg("called identical (%s):\n%s\n%s", said, a, b);
    if (ask(b, a, result, &said).verdict == JX_FIELD_IDENTICAL)
        fail_msg("called identical (%s):\n%s\n%s", said, b, a);
    /* what is one program is the same however little is known of it */
    if (strcmp(a, b) != 0)
        planes_differ(a, b);
}

static void undecided(const char *a, const char *b)
{
    undecided_as(a, b, "f32[]");
}

#define X " in (x,)"
#define POWERS "exp and sin"
#define NEEDS "no divisor is 0"

static void polynomials_are_the_same_in_any_form(void **state)
{
    (void)state;
    same(
        " a:f32[] = add x y\n b:f32[] = integer_pow[y=2] a\n in (b,)",
        " a:f32[] = mul x x\n b:f32[] = mul y y\n c:f32[] = mul x y\n d:f32[] = mul 2.0:f32[] c\n"
        " e:f32[] = add a d\n f:f32[] = add e b\n in (f,)",
        "");
    same(" a:f32[] = add x 100000000.0:f32[]\n b:f32[] = sub a "
         "100000000.0:f32[]\n in (b,)",
         X, "");
    same(" a:f32[] = mul x 0.0:f32[]\n b:f32[] = add a y\n in (b,)", " in (y,)",
         "");
    same_as(
        " a:f32[3] = cumsum[axis=0 reverse=False] v\n b:f32[3] = rev[dimensions=(0,)] a\n"
        " c:f32[] = reduce_sum[axes=(0,) out_sharding=None] b\n in (c,)",
        " a:f32[3] = cumsum[axis=0 reverse=True] v\n b:f32[1] = slice[limit_indices=(1,) start_indices=(0,) strides=None] a\n"
        " c:f32[] = squeeze[dimensions=(0,)] b\n"
        " d:f32[3] = mul v v\n e:f32[] = reduce_sum[axes=(0,) out_sharding=None] d\n"
        " f:f32[] = dot_general[dimension_numbers=(([0], [0]), ([], [])) preferred_element_type=float32] v v\n"
        " g:f32[] = sub e f\n"
        " h:f32[1] = slice[limit_indices=(1,) start_indices=(0,) strides=None] v\n"
        " k:f32[1] = slice[limit_indices=(2,) start_indices=(1,) strides=None] v\n"
        " l:f32[] = squeeze[dimensions=(0,)] h\n m:f32[] = squeeze[dimensions=(0,)] k\n"
        " n:f32[] = add c g\n o:f32[] = add n m\n q:f32[] = add l l\n"
        " r:f32[] = add o q\n in (r,)",
        "f32[]", "");
}

static void polynomials_that_differ_do(void **state)
{
    (void)state;
    undecided(" a:f32[] = mul x 2305843009213693952.0:f32[]\n in (a,)", X);
    undecided(" a:f32[] = mul x 1.0000001:f32[]\n in (a,)", X);
    undecided(" a:f32[] = mul y 1e-30:f32[]\n b:f32[] = add x a\n in (b,)", X);
    undecided(" a:f32[] = integer_pow[y=1000003] x\n in (a,)", X);
    undecided(" a:f32[] = integer_pow[y=2147483647] x\n in (a,)", X);
    undecided(" a:f32[] = pow x 1000003.0:f32[]\n in (a,)", X);
    undecided(" a:f32[] = sub x y\n in (a,)", " a:f32[] = sub y x\n in (a,)");
    undecided(" a:f32[] = mul x 0.1:f32[]\n in (a,)",
              " a:f32[] = mul x 0.2:f32[]\n in (a,)");
    undecided(" a:f32[] = mul x 0.79788:f32[]\n in (a,)",
              " a:f32[] = mul x 0.7978846:f32[]\n in (a,)");
}

static void poles_and_domains_are_needed(void **state)
{
    (void)state;
    undecided_as(
        " a:f32[] = div x x\n b:f32[] = div y y\n c:f32[] = mul a y\n in (c,)",
        " a:f32[] = div x x\n b:f32[] = mul a y\n c:f32[] = sub x x\n d:f32[] = div c x\n"
        " e:f32[] = add b d\n f:f32[] = add e x\n in (f,)",
        "f32[]");
    same(" in (1.0:f32[],)", " a:f32[] = div x x\n in (a,)", NEEDS);
    const char *said;
    assert_false(
        ask(" a:f32[] = div x x\n in (a,)", " in (1.0:f32[],)", "f32[]", &said)
            .verdict);
    assert_non_null(strstr(said, "one divides"));
    assert_false(
        ask(" a:f32[] = log x\n b:f32[] = exp a\n in (b,)", X, "f32[]", &said)
            .verdict);
    same(X, " a:f32[] = log x\n b:f32[] = exp a\n in (b,)", NEEDS);
    undecided(" a:f32[] = div x 0.0:f32[]\n in (a,)",
              " a:f32[] = div x 0.0:f32[]\n in (a,)");
    /* What is divided by is another's divisor times an exponential, unless that
     * comes to nothing. */
    same(
        " a:f32[] = expm1 x\n b:f32[] = div y a\n in (b,)",
        " a:f32[] = neg x\n b:f32[] = expm1 a\n c:f32[] = exp x\n d:f32[] = mul b c\n"
        " e:f32[] = neg d\n f:f32[] = div y e\n in (f,)",
        NEEDS);
    assert_false(ask(" a:f32[] = expm1 x\n b:f32[] = div y a\n c:f32[] = mul b "
                     "a\n in (c,)",
                     " a:f32[] = neg x\n b:f32[] = expm1 a\n c:f32[] = div y "
                     "b\n in (y,)",
                     "f32[]", &said)
                     .verdict);
    assert_non_null(strstr(said, "one divides"));
    /* ... or the product of two of them, or one of two whose product it is. */
#define FACTORS " p:f32[] = sub 1.0:f32[] x\n q:f32[] = add 1.0:f32[] x\n"
    same(FACTORS " a:f32[] = div y p\n b:f32[] = div a q\n in (b,)",
         " a:f32[] = mul x x\n b:f32[] = sub 1.0:f32[] a\n c:f32[] = div y b\n "
         "in (c,)",
         NEEDS);
    same(" a:f32[] = mul x x\n b:f32[] = sub 1.0:f32[] a\n c:f32[] = div y b\n "
         "in (c,)",
         FACTORS " a:f32[] = div y p\n b:f32[] = div a q\n in (b,)", NEEDS);
    same(" a:f32[] = mul x x\n b:f32[] = sub a 1.0:f32[]\n c:f32[] = sqrt b\n "
         "d:f32[] = div y c\n in (d,)",
         FACTORS " a:f32[] = mul p q\n b:f32[] = neg a\n c:f32[] = rsqrt b\n "
                 "d:f32[] = mul y c\n in (d,)",
         NEEDS);
    assert_false(ask(FACTORS " a:f32[] = div y p\n b:f32[] = div a q\n c:f32[] "
                             "= mul b q\n in (c,)",
                     FACTORS " a:f32[] = div y p\n in (a,)", "f32[]", &said)
                     .verdict);
    assert_non_null(strstr(said, "one divides"));
    /* Where the divisor is 0 the other branch is taken. */
    undecided(" a:bool[] = eq x 0.0:f32[]\n b:f32[] = div y x\n c:f32[] = mul "
              "b x\n in (c,)",
              " a:bool[] = eq x 0.0:f32[]\n b:f32[] = select_n a y 0.0:f32[]\n "
              "in (b,)");
}

static void functions_keep_their_relations(void **state)
{
    (void)state;
    same(" a:f32[] = add x y\n b:f32[] = exp a\n in (b,)",
         " a:f32[] = exp x\n b:f32[] = exp y\n c:f32[] = mul a b\n in (c,)",
         POWERS);
    same(" a:f32[] = exp x\n b:f32[] = log a\n in (b,)", X, POWERS);
    same(
        " a:f32[] = sin x\n b:f32[] = mul a a\n c:f32[] = cos x\n d:f32[] = mul c c\n"
        " e:f32[] = add b d\n in (e,)",
        " in (1.0:f32[],)", POWERS);
    same(
        " a:f32[] = tanh x\n in (a,)",
        " a:f32[] = mul 2.0:f32[] x\n b:f32[] = logistic a\n c:f32[] = mul 2.0:f32[] b\n"
        " d:f32[] = sub c 1.0:f32[]\n in (d,)",
        POWERS);
    same(" a:f32[] = exp x\n b:f32[] = log1p a\n c:f32[] = sub x b\n d:f32[] = "
         "exp c\n in (d,)",
         " a:f32[] = logistic x\n in (a,)", POWERS);
    same(" a:f32[] = exp x\n b:f32[] = log1p a\n in (b,)",
         " a:f32[] = neg x\n b:f32[] = exp a\n c:f32[] = log1p b\n d:f32[] = "
         "add x c\n in (d,)",
         POWERS);
    same(" a:f32[] = mul x x\n b:f32[] = add a 1.0:f32[]\n c:f32[] = log b\n"
         " d:f32[] = mul c 0.3:f32[]\n e:f32[] = div d 0.3:f32[]\n f:f32[] = "
         "exp e\n in (f,)",
         " a:f32[] = mul x x\n b:f32[] = add a 1.0:f32[]\n in (b,)", POWERS);
    same(" a:f32[] = sqrt x\n b:f32[] = mul a a\n c:f32[] = mul y a\n d:f32[] "
         "= mul c b\n in (d,)",
         " a:f32[] = sqrt x\n b:f32[] = integer_pow[y=3] a\n c:f32[] = mul b "
         "y\n in (c,)",
         NEEDS);
    same(
        " a:f32[] = mul x x\n b:f32[] = add a 1.0:f32[]\n c:f32[] = rsqrt b\n "
        "in (c,)",
        " a:f32[] = mul x x\n b:f32[] = add a 1.0:f32[]\n c:f32[] = sqrt b\n d:f32[] = div c b\n"
        " in (d,)",
        "");
}

static void functions_are_even_or_odd(void **state)
{
    (void)state;
    same(" a:f32[] = neg x\n b:f32[] = erf a\n c:f32[] = neg b\n in (c,)",
         " a:f32[] = erf x\n in (a,)", "");
    same(" a:f32[] = sub x y\n b:f32[] = erfc a\n in (b,)",
         " a:f32[] = sub y x\n b:f32[] = erfc a\n c:f32[] = sub 2.0:f32[] b\n "
         "in (c,)",
         "");
    same(" a:f32[] = abs x\n b:f32[] = bessel_i0e a\n in (b,)",
         " a:f32[] = bessel_i0e x\n in (a,)", "");
    undecided(" a:f32[] = abs x\n b:f32[] = bessel_i1e a\n in (b,)",
              " a:f32[] = bessel_i1e x\n in (a,)");
    undecided(" a:f32[] = neg x\n b:f32[] = acos a\n in (b,)",
              " a:f32[] = acos x\n in (a,)");
    /* At a kink a rule may say what both sides come to, and nothing else. */
    same(" a:bool[] = eq x 0.0:f32[]\n b:f32[] = abs x\n c:f32[] = select_n a "
         "b 0.0:f32[]\n in (c,)",
         " a:f32[] = abs x\n in (a,)", "at a kink");
    same(" a:bool[] = eq x 0.0:f32[]\n b:f32[] = abs x\n d:f32[] = erf b\n"
         " c:f32[] = select_n a d 0.0:f32[]\n in (c,)",
         " a:f32[] = abs x\n d:f32[] = erf a\n in (d,)", "at a kink");
    undecided(" a:bool[] = eq x 0.0:f32[]\n b:f32[] = abs x\n c:f32[] = "
              "select_n a b 1.0:f32[]\n in (c,)",
              " a:f32[] = abs x\n in (a,)");
    undecided(
        " a:bool[] = eq x 0.0:f32[]\n b:f32[] = abs x\n d:f32[] = log b\n "
        "e:f32[] = mul b d\n"
        " c:f32[] = select_n a e 0.0:f32[]\n in (c,)",
        " a:f32[] = abs x\n b:f32[] = log a\n d:f32[] = mul a b\n in (d,)");
}

static void functions_that_differ_do(void **state)
{
    (void)state;
    undecided(" a:f32[] = mul x x\n b:f32[] = sqrt a\n in (b,)", X);
    undecided(" a:f32[] = mul x x\n b:f32[] = sqrt a\n in (b,)",
              " a:f32[] = neg x\n in (a,)");
    undecided(" a:f32[] = abs x\n in (a,)", X);
    undecided(" a:f32[] = exp x\n in (a,)", " a:f32[] = exp2 x\n in (a,)");
    undecided(" a:f32[] = sin x\n in (a,)", " a:f32[] = cos x\n in (a,)");
    undecided(" a:f32[] = erf x\n in (a,)", " a:f32[] = tanh x\n in (a,)");
    undecided(
        " a:f32[] = round[rounding_method=RoundingMethod.TO_NEAREST_EVEN] x\n "
        "in (a,)",
        X);
    undecided(
        " a:bf16[] = convert_element_type[new_dtype=bfloat16 weak_type=False] x\n"
        " b:f32[] = convert_element_type[new_dtype=float32 "
        "weak_type=False] a\n in (b,)",
        X);
    undecided(" a:f32[] = exp x\n b:f32[] = exp a\n in (b,)",
              " a:f32[] = exp x\n in (a,)");
    undecided(
        " a:f32[] = sqrt x\n b:f32[] = sqrt y\n c:f32[] = add a b\n in (c,)",
        " a:f32[] = sqrt x\n b:f32[] = sqrt y\n c:f32[] = sub a b\n in (c,)");
    undecided(" a:f32[] = mul 6.2831855:f32[] x\n b:f32[] = sin a\n in (b,)",
              " in (0.0:f32[],)");
}

static void all_ways_are_gone(void **state)
{
    (void)state;
    undecided(" a:bool[] = eq x 0.0:f32[]\n b:f32[] = select_n a x 5.0:f32[]\n "
              "in (b,)",
              X);
    undecided(" a:bool[] = ne x 0.0:f32[]\n b:f32[] = select_n a y x\n in (b,)",
              X);
    same(X,
         " a:bool[] = gt x 0.0:f32[]\n b:bool[] = lt x 0.0:f32[]\n c:bool[] = "
         "or a b\n"
         " d:f32[] = select_n c y x\n in (d,)",
         "at a kink");
    /* Whether the smaller of two is the first is which is smaller, not whether
     * they are equal. */
    same(" a:bool[] = lt x 2.0:f32[]\n b:f32[] = select_n a 0.0:f32[] y\n in "
         "(b,)",
         " a:f32[] = min x 2.0:f32[]\n b:bool[] = eq a x\n c:f32[] = select_n "
         "b 0.0:f32[] y\n in (c,)",
         "at a kink");
    undecided(" in (0.0:f32[],)", " a:bool[] = eq x 2.0:f32[]\n b:f32[] = "
                                  "select_n a 0.0:f32[] y\n in (b,)");
    undecided(" a:f32[] = max x y\n in (a,)", X);
    undecided(
        " a:bool[] = gt x 0.0:f32[]\n b:f32[] = select_n a y x\n in (b,)",
        " a:bool[] = gt x 1.0:f32[]\n b:f32[] = select_n a y x\n in (b,)");
    /* No x is above 1 and below 0. */
    same(
        " a:bool[] = gt x 1.0:f32[]\n b:bool[] = lt x 0.0:f32[]\n c:bool[] = and a b\n"
        " d:f32[] = select_n c x 5.0:f32[]\n in (d,)",
        X, "");
    /* What is added up in floats says nothing of what is above what. */
    undecided(
        " a:f32[] = add x 1e16:f32[]\n b:f32[] = add a 1.0:f32[]\n c:f32[] = "
        "sub b 1e16:f32[]\n"
        " d:bool[] = eq c 0.0:f32[]\n e:f32[] = add x 1.0:f32[]\n f:bool[] = eq e 0.0:f32[]\n"
        " g:bool[] = and d f\n h:f32[] = select_n g x 5.0:f32[]\n in (h,)",
        X);
    undecided(
        " a:bool[] = gt x -1.0:f32[]\n b:bool[] = lt x 0.0:f32[]\n c:bool[] = and a b\n"
        " d:f32[] = select_n c x 5.0:f32[]\n in (d,)",
        X);
    same(" a:f32[] = abs x\n b:f32[] = mul a a\n in (b,)",
         " a:f32[] = mul x x\n in (a,)", "");
    /* A square is never negative. */
    same(" a:f32[] = mul x x\n b:bool[] = lt a 0.0:f32[]\n c:f32[] = select_n "
         "b y x\n in (c,)",
         " in (y,)", "");
    undecided(" a:f32[] = mul x x\n b:bool[] = le a 0.0:f32[]\n c:f32[] = "
              "select_n b y x\n in (c,)",
              " in (y,)");
    /* Six comparisons guard a difference. */
    undecided(
        " a:bool[] = gt x 1.0:f32[]\n b:bool[] = lt x 2.0:f32[]\n c:bool[] = "
        "gt y 1.0:f32[]\n"
        " d:bool[] = lt y 2.0:f32[]\n z:f32[] = mul x y\n e:bool[] = gt z 2.0:f32[]\n"
        " f:bool[] = lt z 3.0:f32[]\n g:bool[] = and a b\n h:bool[] = and c d\n"
        " k:bool[] = and e f\n l:bool[] = and g h\n m:bool[] = and k l\n"
        " n:f32[] = select_n m x 5.0:f32[]\n in (n,)",
        X);
    /* Elements of one vector go ways of their own, also where
     * they are added up. */
    undecided(
        " a:bool[3] = gt v 0.0:f32[]\n b:f32[3] = broadcast_in_dim[broadcast_dimensions=() shape=(3,) sharding=None] 1.0:f32[]\n"
        " c:f32[3] = select_n a b v\n d:f32[] = reduce_sum[axes=(0,) "
        "out_sharding=None] c\n in (d,)",
        " a:f32[] = reduce_sum[axes=(0,) out_sharding=None] v\n in (a,)");
    same(
        " a:f32[3] = max v 0.0:f32[]\n d:f32[] = reduce_sum[axes=(0,) "
        "out_sharding=None] a\n in (d,)",
        " a:bool[3] = gt v 0.0:f32[]\n b:f32[3] = mul v 0.0:f32[]\n c:f32[3] = select_n a b v\n"
        " d:f32[] = reduce_sum[axes=(0,) out_sharding=None] c\n in (d,)",
        "");
    undecided(" a:i32[] = argmax[axes=(0,) index_dtype=int32] v\n"
              " b:f32[] = convert_element_type[new_dtype=float32 "
              "weak_type=False] a\n in (b,)",
              " in (0.0:f32[],)");
}

static void constants_may_stand_for_others(void **state)
{
    (void)state;
    same(" a:f32[] = mul x 0.7978846:f32[]\n b:f32[] = mul a a\n in (b,)",
         " a:f32[] = mul x x\n b:f32[] = mul a 0.63661975:f32[]\n in (b,)",
         "stands for");
    same(" a:f32[] = mul x 0.1:f32[]\n b:f32[] = mul 10.0:f32[] a\n in (b,)", X,
         "0.100000001 stands for 0.1");
    same(" a:f32[] = mul x 0.125:f32[]\n b:f32[] = mul 8.0:f32[] a\n in (b,)",
         X, "");
}

static void selected_booleans_are_choices(void **state)
{
    (void)state;
    undecided(
        " a:bool[] = gt x 0.0:f32[]\n b:bool[] = select_n a False:bool[] True:bool[]\n"
        " c:f32[] = select_n b y x\n in (c,)",
        X);
    undecided(
        " a:bool[] = gt x 0.0:f32[]\n b:bool[] = select_n a False:bool[] True:bool[]\n"
        " c:f32[] = select_n b y x\n in (c,)",
        " in (y,)");
    planes_same(
        " a:bool[] = gt x 0.0:f32[]\n b:bool[] = select_n a False:bool[] "
        "True:bool[]\n"
        " c:f32[] = select_n b y x\n in (c,)",
        " a:bool[] = gt x 0.0:f32[]\n c:f32[] = select_n a y x\n in (c,)", "");
}

#define SLICE(name, from, to)                                                  \
    " " name "1:f32[1] = slice[limit_indices=(" to ",) start_indices=(" from   \
    ",) strides=None] v\n"                                                     \
    " " name ":f32[] = squeeze[dimensions=(0,)] " name "1\n"
#define ELEMENTS SLICE("p", "0", "1") SLICE("q", "1", "2") SLICE("r", "2", "3")

static void maxima_ask_for_no_order(void **state)
{
    (void)state;
    planes_same(
        ELEMENTS " a:f32[] = max p q\n b:f32[] = max a r\n in (b,)",
        ELEMENTS
        " a:f32[] = max r q\n b:f32[] = max p a\n c:f32[] = max b q\n in (c,)",
        "");
    planes_same(
        ELEMENTS " a:f32[] = max p q\n b:f32[] = max a r\n in (b,)",
        " a:f32[] = reduce_max[axes=(0,) out_sharding=None] v\n in (a,)", "");
    planes_same(
        ELEMENTS " a:f32[] = min p q\n b:f32[] = min a r\n in (b,)",
        " a:f32[] = reduce_min[axes=(0,) out_sharding=None] v\n in (a,)", "");
    planes_same(" a:f32[] = max x y\n in (a,)", " a:f32[] = max y x\n in (a,)",
                "");
    planes_same(" a:f32[] = max x y\n in (a,)",
                " a:bool[] = ge x y\n b:f32[] = select_n a y x\n in (b,)", "");
    planes_same(" a:f32[] = max x y\n in (a,)",
                " a:bool[] = lt x y\n b:f32[] = select_n a x y\n in (b,)", "");
    planes_same(" a:f32[] = max x 0.0:f32[]\n in (a,)",
                " a:bool[] = gt x 0.0:f32[]\n b:f32[] = "
                "convert_element_type[new_dtype=float32 "
                "weak_type=False] a\n c:f32[] = mul b x\n in (c,)",
                "");
    planes_same(" a:f32[] = exp x\n b:f32[] = max a 0.0:f32[]\n in (b,)",
                " a:f32[] = exp x\n in (a,)", POWERS);
    planes_differ(
        ELEMENTS " a:f32[] = max p q\n in (a,)",
        " a:f32[] = reduce_max[axes=(0,) out_sharding=None] v\n in (a,)");
    planes_differ(" a:f32[] = max x y\n in (a,)",
                  " a:f32[] = min x y\n in (a,)");
    planes_differ(" a:f32[] = max x y\n in (a,)",
                  " a:bool[] = gt x y\n b:f32[] = select_n a x y\n in (b,)");
    /* How many are the largest is no zero; how many of some are may be one. */
    planes_same(
        " a:f32[] = reduce_max[axes=(0,) out_sharding=None] v\n b:bool[3] = eq v a\n"
        " c:f32[3] = convert_element_type[new_dtype=float32 weak_type=False] b\n"
        " d:f32[] = reduce_sum[axes=(0,) out_sharding=None] c\n "
        "e:f32[] = div d d\n in (e,)",
        " in (1.0:f32[],)", "");
    planes_differ(
        " a:f32[] = reduce_max[axes=(0,) out_sharding=None] v\n"
        " w:f32[2] = slice[limit_indices=(2,) start_indices=(0,) strides=None] v\n"
        " b:bool[2] = eq w a\n"
        " c:f32[2] = convert_element_type[new_dtype=float32 weak_type=False] b\n"
        " d:f32[] = reduce_sum[axes=(0,) out_sharding=None] c\n "
        "e:f32[] = div d d\n in (e,)",
        " in (1.0:f32[],)");
}

static void planes_know_what_cells_do(void **state)
{
    (void)state;
    planes_same(
        " a:f32[3] = exp v\n b:f32[] = reduce_sum[axes=(0,) out_sharding=None] a\n"
        " c:f32[3] = div a b\n in (c,)",
        " z:f32[] = reduce_max[axes=(0,) out_sharding=None] v\n y1:f32[3] = sub v z\n"
        " a:f32[3] = exp y1\n b:f32[] = reduce_sum[axes=(0,) out_sharding=None] a\n"
        " c:f32[3] = div a b\n in (c,)",
        POWERS);
    planes_same(
        " a:f32[3] = mul v v\n b:f32[3] = add a 1.0:f32[]\n c:f32[3] = rsqrt b\n"
        " d:f32[3] = mul v c\n in (d,)",
        " a:f32[3] = integer_pow[y=2] v\n b:f32[3] = add a 1.0:f32[]\n c:f32[3] = sqrt b\n"
        " d:f32[3] = div v c\n in (d,)",
        "");
    planes_differ(" a:f32[3] = div v v\n in (a,)",
                  " a:f32[3] = broadcast_in_dim[broadcast_dimensions=() "
                  "shape=(3,) sharding=None] 1.0:f32[]\n in (a,)");
    /* Each element has its own divisor. */
    planes_differ(" a:f32[3] = rev[dimensions=(0,)] v\n b:f32[3] = div v v\n "
                  "c:f32[3] = mul b v\n in (c,)",
                  " a:f32[3] = rev[dimensions=(0,)] v\n b:f32[3] = div a a\n "
                  "c:f32[3] = mul b v\n in (c,)");
    planes_same(
        " a:f32[3] = cumsum[axis=0 reverse=False] v\n in (a,)",
        " a:f32[] b:f32[3] = scan[_split_transpose=False jaxpr={ lambda ; b:f32[] c:f32[]. let\n"
        " d:f32[] = add b c\n in (d, d) } length=3 linear=(False, False) num_carry=1\n"
        " num_consts=0 reverse=False unroll=1] 0.0:f32[] v\n in (b,)",
        "");
}

static void planes_know_squares_of_roots(void **state)
{
    (void)state;
    planes_same(
        " a:f32[] = mul x x\n b:f32[] = add a 1.0:f32[]\n c:f32[] = sqrt b\n"
        " d:f32[] = integer_pow[y=3] c\n e:f32[] = div y d\n in (e,)",
        " a:f32[] = mul x x\n b:f32[] = add a 1.0:f32[]\n c:f32[] = rsqrt b\n"
        " d:f32[] = div c b\n e:f32[] = mul y d\n in (e,)",
        "");
    planes_differ(" a:f32[] = mul 4.0:f32[] x\n b:f32[] = sqrt a\n in (b,)",
                  " a:f32[] = sqrt x\n b:f32[] = mul -2.0:f32[] a\n in (b,)");
    planes_differ(
        " a:f32[] = mul x x\n b:f32[] = mul a y\n c:f32[] = sqrt b\n in (c,)",
        " a:f32[] = sqrt y\n b:f32[] = mul x a\n in (b,)");
    planes_same(
        " a:f32[3] = mul v v\n b:f32[3] = add a 1.0:f32[]\n c:f32[3] = sqrt b\n"
        " d:f32[] = dot_general[dimension_numbers=(([0], [0]), ([], [])) "
        "preferred_element_type=float32] c v\n in (d,)",
        " a:f32[3] = mul v v\n b:f32[3] = add a 1.0:f32[]\n c:f32[3] = sqrt b\n"
        " d:f32[3] = mul c v\n e:f32[] = reduce_sum[axes=(0,) "
        "out_sharding=None] d\n in (e,)",
        "");
}

static void windows_slide(void **state)
{
    (void)state;
    planes_same(
        " a:f32[2] = reduce_window_sum[base_dilation=(1,) padding=((0, 0),) window_dilation=(1,)\n"
        " window_dimensions=(2,) window_strides=(1,)] v\n in (a,)",
        " a:f32[2] = slice[limit_indices=(2,) start_indices=(0,) strides=None] v\n"
        " b:f32[2] = slice[limit_indices=(3,) start_indices=(1,) strides=None] v\n"
        " c:f32[2] = add a b\n in (c,)",
        "");
    planes_same(
        " a:f32[3] = reduce_window_max[base_dilation=(1,) padding=((2, 0),) "
        "window_dilation=(1,)\n"
        " window_dimensions=(3,) window_strides=(1,)] v\n"
        " b:f32[1] = slice[limit_indices=(3,) start_indices=(2,) strides=None] a\n"
        " c:f32[] = squeeze[dimensions=(0,)] b\n in (c,)",
        " a:f32[] = reduce_max[axes=(0,) out_sharding=None] v\n in (a,)", "");
    planes_differ(
        " a:f32[2] = reduce_window_sum[base_dilation=(1,) padding=((0, 0),) window_dilation=(1,)\n"
        " window_dimensions=(2,) window_strides=(1,)] v\n in (a,)",
        " a:f32[2] = reduce_window_max[base_dilation=(1,) padding=((0, 0),) window_dilation=(1,)\n"
        " window_dimensions=(2,) window_strides=(1,)] v\n in (a,)");
}

static void functions_of_arrays_are_what_they_are_given(void **state)
{
    (void)state;
    planes_same(" a:f32[3] = sort[dimension=0 is_stable=True num_keys=1] v\n "
                "b:f32[3] = mul 2.0:f32[] a\n in (b,)",
                " a:f32[3] = sort[dimension=0 is_stable=True num_keys=1] v\n "
                "b:f32[3] = add a a\n in (b,)",
                "");
    planes_differ(
        " a:f32[3] = sort[dimension=0 is_stable=True num_keys=1] v\n in (a,)",
        " in (v,)");
    planes_differ(" a:f32[3] = cummax[axis=0 reverse=False] v\n in (a,)",
                  " a:f32[3] = cummax[axis=0 reverse=True] v\n in (a,)");
    planes_differ(" a:f32[3] = cummax[axis=0 reverse=False] v\n in (a,)",
                  " a:f32[3] = cummin[axis=0 reverse=False] v\n in (a,)");
}

static void loops_are_run_and_what_is_not_known_is_said(void **state)
{
    const char *said;

    (void)state;
    same(
        " a:f32[] b:f32[3] = scan[_split_transpose=False jaxpr={ lambda ; b:f32[] c:f32[]. let\n"
        " d:f32[] = mul b c\n in (d, b) } length=3 linear=(False, False) num_carry=1\n"
        " num_consts=0 reverse=True unroll=1] x v\n in (a,)",
        " a:f32[] = reduce_prod[axes=(0,) out_sharding=None] v\n b:f32[] = "
        "mul x a\n in (b,)",
        "");
    assert_false(
        ask(" a:f32[3] = sort[dimension=0 is_stable=True num_keys=1] v\n"
            " b:f32[] = reduce_sum[axes=(0,) out_sharding=None] a\n in (b,)",
            " b:f32[] = reduce_sum[axes=(0,) out_sharding=None] v\n in (b,)",
            "f32[]", &said)
            .verdict);
    assert_string_equal(said, "sort");
}

/* z of x and y, then the rest. */
#define Z " z:c64[] = complex x y\n"

static void complex_numbers_have_conjugates(void **state)
{
    (void)state;
    same(Z " a:c64[] = mul z z\n b:f32[] = real a\n in (b,)",
         " a:f32[] = mul x x\n b:f32[] = mul y y\n c:f32[] = sub a b\n in (c,)",
         "");
    same(Z " a:c64[] = integer_pow[y=3] z\n b:f32[] = imag a\n in (b,)",
         " a:f32[] = mul x x\n b:f32[] = mul y y\n c:f32[] = mul a 3.0:f32[]\n"
         " d:f32[] = sub c b\n e:f32[] = mul d y\n in (e,)",
         "");
    same(Z " a:f32[] = abs z\n b:f32[] = mul a a\n in (b,)",
         Z " a:c64[] = conj[input_dtype=complex64] z\n b:c64[] = mul a z\n "
           "c:f32[] = real b\n in (c,)",
         "");
    same(Z " a:c64[] = exp z\n b:f32[] = real a\n in (b,)",
         " a:f32[] = exp x\n b:f32[] = cos y\n c:f32[] = mul a b\n in (c,)",
         POWERS);
    same(Z " a:c64[] = log z\n b:c64[] = div z a\n c:c64[] = mul b a\n d:f32[] "
           "= imag c\n in (d,)",
         Z " a:c64[] = log z\n b:c64[] = div z a\n c:c64[] = mul a b\n d:f32[] "
           "= imag c\n in (d,)",
         NEEDS);
    /* A square of them has any sign, and is not what it is of real ones. */
    undecided(
        Z " a:c64[] = mul z z\n b:f32[] = real a\n c:bool[] = ge b 0.0:f32[]\n"
          " d:f32[] = select_n c y x\n in (d,)",
        X);
    undecided(Z " a:c64[] = mul z z\n b:f32[] = real a\n in (b,)",
              " a:f32[] = mul x x\n in (a,)");
    undecided(Z " a:f32[] = imag z\n in (a,)", X);
    undecided(
        Z
        " a:c64[] = conj[input_dtype=complex64] z\n b:f32[] = imag a\n in (b,)",
        " in (y,)");
    /* A root of a negative number is no real one. */
    undecided(" z:c64[] = complex x 0.0:f32[]\n a:c64[] = sqrt z\n b:f32[] = "
              "imag a\n in (b,)",
              " in (0.0:f32[],)");
    undecided(
        " z:c64[] = complex x 0.0:f32[]\n w:c64[] = mul z z\n a:c64[] = log w\n"
        " b:f32[] = imag a\n in (b,)",
        " in (0.0:f32[],)");
    undecided(Z
              " a:c64[] = exp z\n b:c64[] = log a\n c:f32[] = imag b\n in (c,)",
              " in (y,)");
}

#define OF_INTEGERS "{ lambda ; x:f32[] n:i32[] v:f32[3]. let\n%s }\n"

/* Whether these are the same of a number, an integer and an array. */
static bool same_of_integers(const char *a, const char *b, bool integers,
                             const char **said)
{
    return ask_of("{ lambda ; p:i32[] q:f32[] r:i32[] t:f32[3]. let\n"
                  " o:%s = cond[branches=(\n" OF_INTEGERS OF_INTEGERS
                  ")] p q r t\n in (o,) }",
                  a, b, "f32[]", integers, said)
               .verdict == JX_FIELD_IDENTICAL;
}

#define ELEMENT                                                                \
    " a:f32[1] = dynamic_slice[slice_sizes=(1,)] v n\n b:f32[] = "             \
    "squeeze[dimensions=(0,)] a\n"

static void integers_are_drawn(void **state)
{
    static const char square[] =
        " a:f32[] = convert_element_type[new_dtype=float32 weak_type=False] n\n"
        " b:f32[] = add x a\n c:f32[] = mul b b\n in (c,)";
    static const char product[] =
        " a:i32[] = mul n n\n b:f32[] = convert_element_type[new_dtype=float32 "
        "weak_type=False] a\n"
        " c:i32[] = add n n\n d:f32[] = convert_element_type[new_dtype=float32 weak_type=False] c\n"
        " e:f32[] = mul x x\n f:f32[] = mul x d\n g:f32[] = add e f\n"
        " h:f32[] = add g b\n in (h,)";
    const char *said;

    (void)state;
    assert_true(same_of_integers(square, product, true, &said));
    assert_non_null(strstr(said, "from -4 to 35"));
    assert_false(same_of_integers(square, product, false, &said));
    assert_non_null(strstr(said, "no real number"));
    /* Whichever element it is. */
    assert_true(same_of_integers(
        ELEMENT " c:f32[] = sub b b\n d:f32[] = add x c\n in (d,)", X, true,
        &said));
    /* Each of the first few, and others, are drawn. */
    for (int n = 0; n < 4; n++) {
        char other[200];
        snprintf(other, sizeof other,
                 " a:bool[] = eq n %d:i32[]\n b:f32[] = select_n a x "
                 "5.0:f32[]\n in (b,)",
                 n);
        assert_false(same_of_integers(other, X, true, &said));
    }
    assert_false(same_of_integers(
        " a:bool[] = gt n 3:i32[]\n b:f32[] = select_n a x 5.0:f32[]\n in (b,)",
        " a:bool[] = gt n 2:i32[]\n b:f32[] = select_n a x 5.0:f32[]\n in (b,)",
        true, &said));
    assert_false(same_of_integers(ELEMENT " in (b,)", X, true, &said));
}

/* ---- what it takes */

static void products_are_those_of_numbers(void **state)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_cell all[12];
    jx_field f;

    (void)state;
    assert_true(jx_field_begin(&f, ctx, ctx->arena, 7));
    for (int i = 0; i < 12; i++) {
        all[i] = i == 0  ? jx_cell_nan()
                 : i < 4 ? jx_cell_integer(&f, i - 2)
                         : jx_cell_random(&f, (uint64_t)i);
        /* roots of what has none in the field have a part of their own */
        if (i > 7)
            all[i] = jx_cell_apply(&f, JX_F_SQRT, &all[i]);
    }
    for (int i = 0; i < 12; i++)
        for (int k = 0; k < 12; k++) {
            jx_cell whole = jx_cell_mul(&f, &all[i], &all[k]);
            jx_cell value = jx_cell_product(&f, &all[i], &all[k]);
            assert_int_equal(whole.kind == JX_CELL_NUMBER,
                             value.kind == JX_CELL_NUMBER);
            assert_int_equal(whole.kind == JX_CELL_NUMBER,
                             jx_cell_same(&whole, &value));
            for (int n = 0; n < 12; n++)
                assert_int_equal(
                    jx_cell_same(&whole, &all[n]),
                    jx_cell_is_product(&f, &all[i], &all[k], &all[n]));
            assert_int_equal(whole.kind == JX_CELL_NUMBER,
                             jx_cell_is_product(&f, &all[i], &all[k], &whole));
        }
    for (int n = 0; n < 20; n++) {
        const jx_keys *set = NULL;
        for (int i = 0; i < n; i++)
            set = jx_keys_with(&f, set, jx_ring_mix((uint64_t)i));
        for (int i = 0; i < 40; i++)
            assert_int_equal(i < n,
                             jx_keys_hold(set, jx_ring_mix((uint64_t)i)));
    }
    jx_ctx_free(ctx);
}

/* The least work with which two programs are found to be the same. */
static int64_t least_work(const char *a, const char *b)
{
    int64_t low = 0, high = 1 << 20;
    const char *said;

    while (high - low > 1) {
        work_of = low + (high - low) / 2;
        if (ask(a, b, "f32[]", &said).verdict)
            high = work_of;
        else
            low = work_of;
    }
    work_of = 0;
    assert_true(high < 1 << 20);
    return high;
}

/* What is searched for costs what it takes to look, of one budget
 * with all else. */
static void a_search_is_work(void **state)
{
    jx_buffer many = {0}, one = {0}, other = {0};

    (void)state;
    for (int i = 0; i < 60; i++)
        jx_buffer_printf(
            &many, " m%d:f32[] = mul x %d.0:f32[]\n e%d:f32[] = exp m%d\n", i,
            i + 2, i, i);
    jx_buffer_printf(&one,
                     "%s b:f32[] = mul y e59\n c:f32[] = sub b e59\n"
                     " d:f32[] = div e59 c\n in (d,)",
                     many.text);
    jx_buffer_printf(
        &other,
        "%s c:f32[] = sub y 1.0:f32[]\n d:f32[] = div 1.0:f32[] c\n"
        " in (d,)",
        many.text);
    assert_true(least_work(one.text, other.text) >
                least_work(one.text, one.text) + 500);
    jx_buffer_free(&many);
    jx_buffer_free(&one);
    jx_buffer_free(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(primes_are_prime),
        cmocka_unit_test(rings_have_what_they_promise),
        cmocka_unit_test(polynomials_are_the_same_in_any_form),
        cmocka_unit_test(polynomials_that_differ_do),
        cmocka_unit_test(poles_and_domains_are_needed),
        cmocka_unit_test(functions_keep_their_relations),
        cmocka_unit_test(functions_are_even_or_odd),
        cmocka_unit_test(functions_that_differ_do),
        cmocka_unit_test(all_ways_are_gone),
        cmocka_unit_test(constants_may_stand_for_others),
        cmocka_unit_test(selected_booleans_are_choices),
        cmocka_unit_test(maxima_ask_for_no_order),
        cmocka_unit_test(planes_know_what_cells_do),
        cmocka_unit_test(planes_know_squares_of_roots),
        cmocka_unit_test(windows_slide),
        cmocka_unit_test(functions_of_arrays_are_what_they_are_given),
        cmocka_unit_test(complex_numbers_have_conjugates),
        cmocka_unit_test(integers_are_drawn),
        cmocka_unit_test(loops_are_run_and_what_is_not_known_is_said),
        cmocka_unit_test(products_are_those_of_numbers),
        cmocka_unit_test(a_search_is_work),
    };

    return cmocka_run_group_tests_name("field", tests, NULL, NULL);
}
