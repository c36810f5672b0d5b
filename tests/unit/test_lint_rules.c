/* test_lint_rules.c - lints on programs as JAX prints them, which have no
 * lines: for each code one that has it, and one that has not. */
#include "analyzer/lint/lint.h"
#include "frontend/read/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct example {
    jx_code code;
    const char *has, *has_not;
} example;

#define PROGRAM(in, eqns, out)                                                 \
    "{ lambda ; " in ". let\n" eqns "  in (" out ") }\n"
#define BITS(to, key)                                                          \
    "    " to ":u32[4] = random_bits[bit_width=32 shape=(4,)] " key "\n"
#define KEY "a:key<fry>[]"

static const example examples[] = {
    {JX_CODE_RNG001, PROGRAM(KEY, BITS("b", "a") BITS("c", "a"), "b, c"),
     PROGRAM(KEY " d:key<fry>[]", BITS("b", "a") BITS("c", "d"), "b, c")},
    {JX_CODE_RNG001,
     PROGRAM(
         "a:u32[2]",
         "    b:key<fry>[] = random_wrap[impl=fry] a\n" BITS(
             "c", "b") "    d:key<fry>[] = random_wrap[impl=fry] a\n" BITS("e",
                                                                           "d"),
         "c, e"),
     PROGRAM(
         "a:u32[2,2]",
         "    b:u32[1,2] = slice[limit_indices=(1, 2) start_indices=(0, 0) strides=None] a\n"
         "    c:u32[1,2] = slice[limit_indices=(2, 2) start_indices=(1, 0) strides=None] a\n"
         "    d:key<fry>[1] = random_wrap[impl=fry] b\n"
         "    e:key<fry>[1] = random_wrap[impl=fry] c\n"
         "    f:u32[1,4] = random_bits[bit_width=32 shape=(4,)] d\n"
         "    g:u32[1,4] = random_bits[bit_width=32 shape=(4,)] e\n",
         "f, g")},
    {JX_CODE_RNG001,
     PROGRAM(
         KEY " b:u32[5]",
         "    c:u32[] = scan[\n"
         "      jaxpr={ lambda ; d:key<fry>[] e:u32[] f:u32[]. let\n"
         "          g:u32[] = random_bits[bit_width=32 shape=()] d\n"
         "          h:u32[] = add e g\n"
         "        in (h,) }\n"
         "      length=5\n      num_carry=1\n      num_consts=1\n      reverse=False\n"
         "      unroll=1\n"
         "    ] a 0:u32[] b\n",
         "c,"),
     PROGRAM(
         KEY " b:u32[1]",
         "    c:u32[] = scan[\n"
         "      jaxpr={ lambda ; d:key<fry>[] e:u32[] f:u32[]. let\n"
         "          g:u32[] = random_bits[bit_width=32 shape=()] d\n"
         "          h:u32[] = add e g\n"
         "        in (h,) }\n"
         "      length=1\n      num_carry=1\n      num_consts=1\n      reverse=False\n"
         "      unroll=1\n"
         "    ] a 0:u32[] b\n",
         "c,")},
    {JX_CODE_RNG002,
     PROGRAM(
         "a:f32[]",
         "    b:key<fry>[] = random_seed[impl=fry] 0:i32[]\n" BITS("c", "b"),
         "c,"),
     PROGRAM("a:i32[]",
             "    b:key<fry>[] = random_seed[impl=fry] a\n" BITS("c", "b"),
             "c,")},
    {JX_CODE_RNG003,
     PROGRAM(KEY,
             "    b:key<fry>[] = random_fold_in a 1:u32[]\n"
             "    c:key<fry>[] = random_fold_in a 1:u32[]\n" BITS("d", "b")
                 BITS("e", "c"),
             "d, e"),
     PROGRAM(KEY,
             "    b:key<fry>[] = random_fold_in a 1:u32[]\n"
             "    c:key<fry>[] = random_fold_in a 2:u32[]\n" BITS("d", "b")
                 BITS("e", "c"),
             "d, e")},
    {JX_CODE_RNG004,
     PROGRAM(KEY,
             BITS("b", "a") "    c:key<fry>[2] = random_split[shape=(2,)] a\n",
             "b, c"),
     PROGRAM(KEY, "    c:key<fry>[2] = random_split[shape=(2,)] a\n", "c,")},
    {JX_CODE_RNG006, PROGRAM(KEY, BITS("b", "a"), "b, a"),
     PROGRAM(KEY, BITS("b", "a"), "b,")},
    {JX_CODE_DTY002,
     PROGRAM("a:bf16[1000]",
             "    b:bf16[1000] = cumsum[axis=0 reverse=False] a\n", "b,"),
     PROGRAM("a:bf16[100]",
             "    b:bf16[100] = cumsum[axis=0 reverse=False] a\n", "b,")},
    {JX_CODE_DTY003,
     PROGRAM(
         "a:i32[4]",
         "    b:f32[4] = convert_element_type[new_dtype=float32 weak_type=False] a\n"
         "    c:f32[4] = div b 3.0:f32[]\n"
         "    d:i32[4] = convert_element_type[new_dtype=int32 weak_type=False] c\n",
         "d,"),
     PROGRAM(
         "a:f32[4]",
         "    c:f32[4] = div a 3.0:f32[]\n"
         "    d:i32[4] = convert_element_type[new_dtype=int32 weak_type=False] c\n",
         "d,")},
    {JX_CODE_DTY004,
     PROGRAM("a:u8[4] b:u8[4]", "    c:u8[4] = add a b\n", "c,"),
     PROGRAM("a:i32[4] b:i32[4]", "    c:i32[4] = add a b\n", "c,")},
    {JX_CODE_DTY005,
     PROGRAM(
         "a:f32[4]",
         "    b:bf16[4] = convert_element_type[new_dtype=bfloat16 weak_type=False] a\n"
         "    c:f32[4] = convert_element_type[new_dtype=float32 weak_type=False] b\n",
         "c,"),
     PROGRAM(
         "a:bf16[4]",
         "    b:f32[4] = convert_element_type[new_dtype=float32 weak_type=False] a\n"
         "    c:bf16[4] = convert_element_type[new_dtype=bfloat16 weak_type=False] b\n",
         "c,")},
    {JX_CODE_GRF001,
     PROGRAM("a:f32[4] b:f32[4]", "    c:f32[4] = sin a\n", "c,"),
     PROGRAM("a:f32[4] b:f32[4]", "    c:f32[4] = add a b\n", "c,")},
    {JX_CODE_GRF002,
     PROGRAM("a:f32[64,64]",
             "    b:f32[64,64] = cholesky a\n    c:f32[64,64] = sin a\n", "c,"),
     PROGRAM("a:f32[64,64]",
             "    b:f32[64,64] = cholesky a\n    c:f32[64,64] = sin b\n",
             "c,")},
    {JX_CODE_GRF005, PROGRAM("a:f32[4]", "    b:f32[4] = sin a\n", "b, a"),
     PROGRAM("a:f32[4]", "    b:f32[4] = sin a\n", "b,")},
    {JX_CODE_GRF006,
     PROGRAM("a:f32[4]", "    b:f32[4] = sin a\n    c:f32[4] = sin a\n",
             "b, c"),
     PROGRAM("a:f32[4]", "    b:f32[4] = sin a\n    c:f32[4] = cos a\n",
             "b, c")},
    {JX_CODE_GRF007,
     PROGRAM("a:u32[4]",
             "    b:bool[4] = ge a 0:u32[]\n    c:u32[4] = mul a 2:u32[]\n"
             "    d:u32[4] = select_n b a c\n",
             "d,"),
     PROGRAM("a:i32[4]",
             "    b:bool[4] = ge a 0:i32[]\n    c:i32[4] = mul a 2:i32[]\n"
             "    d:i32[4] = select_n b a c\n",
             "d,")},
    {JX_CODE_GRF009,
     PROGRAM(
         "a:i32[]",
         "    b:i32[] = while[\n"
         "      body_jaxpr={ lambda ; c:i32[]. let d:i32[] = sub c 1:i32[] in (d,) }\n"
         "      body_nconsts=0\n"
         "      cond_jaxpr={ lambda ; e:i32[]. let f:bool[] = lt e 9:i32[] in (f,) }\n"
         "      cond_nconsts=0\n    ] a\n",
         "b,"),
     PROGRAM(
         "a:i32[]",
         "    b:i32[] = while[\n"
         "      body_jaxpr={ lambda ; c:i32[]. let d:i32[] = add c 1:i32[] in (d,) }\n"
         "      body_nconsts=0\n"
         "      cond_jaxpr={ lambda ; e:i32[]. let f:bool[] = lt e 9:i32[] in (f,) }\n"
         "      cond_nconsts=0\n    ] a\n",
         "b,")},
    {JX_CODE_NUM006,
     PROGRAM("a:f32[4]", "    b:bool[4] = eq a nan:f32[]\n", "b,"),
     PROGRAM("a:f32[4]", "    b:bool[4] = ne a a\n", "b,")},
    {JX_CODE_NUM007,
     PROGRAM("a:f32[4] b:f32[4]",
             "    c:f32[4] = mul a b\n    d:bool[4] = eq c b\n", "d,"),
     PROGRAM("a:f32[4] b:f32[4]",
             "    c:f32[4] = mul a b\n    d:bool[4] = eq c 1.0:f32[]\n", "d,")},
    {JX_CODE_NUM008,
     PROGRAM("a:f32[4]",
             "    b:f32[4] = exp a\n    c:f32[4] = sub b 1.0:f32[]\n", "c,"),
     PROGRAM("a:f32[4]",
             "    b:f32[4] = exp a\n    c:f32[4] = sub b 2.0:f32[]\n", "c,")},
    {JX_CODE_NUM012,
     PROGRAM(
         "a:bool[8192,8192]",
         "    b:f32[8192,8192] = convert_element_type[new_dtype=float32 weak_type=False] a\n"
         "    c:f32[] = reduce_sum[axes=(0, 1) out_sharding=None] b\n",
         "c,"),
     PROGRAM("a:f32[8192,8192]",
             "    c:f32[] = reduce_sum[axes=(0, 1) out_sharding=None] a\n",
             "c,")},
    {JX_CODE_PRF001,
     PROGRAM(
         "a:f32[4096]",
         "    b:f32[4096,1] = reshape[dimensions=None new_sizes=(4096, 1) sharding=None] a\n"
         "    c:f32[1,4096] = reshape[dimensions=None new_sizes=(1, 4096) sharding=None] a\n"
         "    d:f32[4096,4096] = sub b c\n"
         "    e:f32[4096,4096,8] = "
         "broadcast_in_dim[broadcast_dimensions=(0, 1) "
         "shape=(4096, 4096, 8) sharding=None] d\n"
         "    f:f32[4096,4096,8] = sin e\n"
         "    g:f32[4096] = reduce_sum[axes=(1, 2) out_sharding=None] f\n",
         "g,"),
     PROGRAM("a:f32[4096,4096,8]",
             "    f:f32[4096,4096,8] = sin a\n"
             "    g:f32[4096] = reduce_sum[axes=(1, 2) out_sharding=None] f\n",
             "g,")},
};

static size_t count(const char *text, jx_code code)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_program *program = jx_read_text(ctx, "-", text, strlen(text));
    jx_analysis *analysis;
    size_t n = 0;

    if (!program)
        print_error("%s: %s\n%s", ctx->error.place, ctx->error.message, text);
    assert_non_null(program);
    analysis = jx_analysis_new(program);
    assert_true(jx_type_program(analysis));
    analysis->claims.count = 0;
    assert_true(jx_lint(analysis, NULL));
    for (size_t i = 0; i < analysis->claims.count; i++)
        n += analysis->claims.at[i]->code == code;
    jx_ctx_free(ctx);
    return n;
}

static void each_rule_tells_its_own_example_from_its_look_alike(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const char *id = jx_code_of(examples[i].code)->id;
        if (count(examples[i].has, examples[i].code) == 0)
            fail_msg("%s is not found in\n%s", id, examples[i].has);
        if (count(examples[i].has_not, examples[i].code) != 0)
            fail_msg("%s is found in\n%s", id, examples[i].has_not);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_tells_its_own_example_from_its_look_alike),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
