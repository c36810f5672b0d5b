/* test_wraps.c - for which sizes a program's own size arithmetic is right. */
#include "frontend/read/document.h"
#include "reports/pipeline/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A program that takes f32[b,n,k] and computes with these sizes as values,
 * under these constraints (a table's rows, or none). */
static const char head[] =
    "{\"format\":\"jaxvet-jaxpr\",\"version\":1,\"producer\":{\"jaxvet\":"
    "\"0.1.0\",\"jax\":\"0.10.2\",\"python\":\"3.11.7\",\"x64\":%s},"
    "\"entry\":{\"jaxpr\":0,\"name\":\"f\",\"in_paths\":[\"x\"]},%s"
    "\"avals\":[{\"dt\":\"f32\",\"sh\":[\"b\",\"n\",\"k\"]},{\"dt\":\"%s\","
    "\"weak\":true}],\"prims\":[\"dim_as_value\"],\"jaxprs\":[{\"in\":[0],"
    "\"eqns\":[";

typedef struct checked {
    jx_ctx *ctx;
    jx_analysis *analysis;
} checked;

static checked check(bool x64, const char *constraints, int n,
                     const char *const *sizes)
{
    checked made = {.ctx = jx_ctx_new(0)};
    const jx_check_options options = {.settle = {.no_solver = true}};
    jx_buffer text = {0};
    jx_program *program;

    jx_buffer_printf(&text, head, x64 ? "true" : "false", constraints,
                     x64 ? "i64" : "i32");
    for (int i = 0; i < n; i++)
        jx_buffer_printf(&text,
                         "%s[0,[],[1],{\"dim\":{\"$dim\":\"%s\"}},-1,-1,-1]",
                         i ? "," : "", sizes[i]);
    jx_buffer_puts(&text, "],\"out\":[");
    for (int i = 0; i < n; i++)
        jx_buffer_printf(&text, i ? ",%d" : "%d", i + 1);
    jx_buffer_puts(&text, "]}]}\n");
    program = jx_read_document(made.ctx, "-", text.text, text.length);
    jx_buffer_free(&text);
    if (!program)
        print_error("%s: %s\n", made.ctx->error.place, made.ctx->error.message);
    assert_non_null(program);
    made.analysis = jx_check_program(program, &options);
    assert_non_null(made.analysis);
    return made;
}

static void expect(checked made, int n, const char *const *conditions)
{
    assert_int_equal(made.analysis->conditions.count, n);
    for (int i = 0; i < n; i++)
        assert_string_equal(made.analysis->conditions.at[i], conditions[i]);
    assert_int_equal(made.analysis->assumptions.count, n > 0);
    jx_ctx_free(made.ctx);
}

static void expect_one(const char *size, const char *condition)
{
    expect(check(false, "", 1, &size), condition != NULL, &condition);
}

static void a_bound_is_said_as_the_largest_sizes(void **state)
{
    (void)state;

    expect_one("b*n", "b*n <= 2147483647");
    expect_one("b*n + 1", "b*n <= 2147483646");
    expect_one("4*b*n - 1", "b*n <= 536870912");
    expect_one("k^2", "k <= 46340");
    expect_one("2*k^2 + k", "k <= 32767");
    expect_one("4*b", "b <= 536870911");
    expect_one("- b*n", "b*n <= 2147483648");
    expect_one("b + 3", NULL);
    expect_one("mod(b, 7)", NULL);
}

static void operands_of_divisions_count_and_sums_on_the_way_do_not(void **state)
{
    (void)state;

    expect_one("floordiv(k^2, 70000)", "k <= 46340");
    expect_one("mod(b*n, 1000)", "b*n <= 2147483647");
    expect_one("b*n - b*n + k", NULL);
    expect_one("max(b*n, k)", "b*n <= 2147483647");
}

static void conditions_that_follow_from_others_are_left_out(void **state)
{
    static const char *const products[] = {"b*n", "3*b*n", "b*n*k", "b"};
    static const char *const apart[] = {"b*n", "n*k"};
    static const char *const safe[] = {"b*n*k <= 2147483647",
                                       "b*n <= 715827882"};
    static const char *const both[] = {"b*n <= 2147483647",
                                       "k*n <= 2147483647"};
    checked made = check(false, "", 4, products);
    (void)state;

    assert_int_equal(made.analysis->conditions.count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_true(
            !strcmp(made.analysis->conditions.at[i], safe[0]) ||
            !strcmp(made.analysis->conditions.at[i], safe[1]) ||
            !strcmp(made.analysis->conditions.at[i], "b*k*n <= 2147483647"));
    jx_ctx_free(made.ctx);
    expect(check(false, "", 2, apart), 2, both);
}

static void constraints_prove_bounds(void **state)
{
    static const char few[] =
        "\"scopes\":[{\"constraints\":[[\"geq\",\"4096\",\"b\",\"b <= 4096\"],"
        "[\"geq\",\"4096\",\"n\",\"n <= 4096\"]]}],";
    static const char equal[] =
        "\"scopes\":[{\"constraints\":[[\"eq\",\"b\",\"2*n\",\"b == 2*n\"]]}],";
    static const char *const size = "b*n";
    static const char *const twice = "2*n^2";
    static const char *const safe = "n <= 32767";
    checked made = check(false, few, 1, &size);
    (void)state;

    for (size_t i = 0; i < made.analysis->claims.count; i++)
        if (made.analysis->claims.at[i]->code == JX_CODE_IDX004)
            assert_int_equal(made.analysis->claims.at[i]->verdict, JX_PROVED);
    expect(made, 0, NULL);
    expect(check(false, equal, 1, &twice), 1, &safe);
}

static void a_finding_has_sizes_that_wrap_and_those_that_do_not(void **state)
{
    static const char *const size = "b*n";
    checked made = check(false, "", 1, &size);
    const jx_claim *claim = NULL;
    (void)state;

    for (size_t i = 0; i < made.analysis->claims.count; i++)
        if (made.analysis->claims.at[i]->code == JX_CODE_IDX004)
            claim = made.analysis->claims.at[i];
    assert_non_null(claim);
    assert_int_equal(claim->verdict, JX_REFUTED);
    assert_string_equal(claim->evidence.safe, "b*n <= 2147483647");
    assert_int_equal(claim->evidence.width, 32);
    assert_int_equal(claim->evidence.nbindings, 2);
    assert_int_equal(claim->evidence.bindings[0].value, 65536);
    assert_int_equal(claim->evidence.bindings[1].value, 65536);
    jx_ctx_free(made.ctx);
}

static void sixty_four_bits_wrap_later(void **state)
{
    static const char *const square = "k^2";
    static const char *const fourth = "k^4";
    static const char *const safe = "k <= 55108";
    (void)state;

    expect(check(true, "", 1, &square), 0, NULL);
    expect(check(true, "", 1, &fourth), 1, &safe);
}

static void hundreds_of_multiples_are_one_condition(void **state)
{
    enum { N = 300 };
    static char texts[N][16];
    const char *sizes[N];
    static const char *const safe = "b*n <= 7158278";
    (void)state;

    for (int i = 0; i < N; i++) {
        snprintf(texts[i], sizeof texts[i], "%d*b*n", i + 1);
        sizes[i] = texts[i];
    }
    expect(check(false, "", N, sizes), 1, &safe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bound_is_said_as_the_largest_sizes),
        cmocka_unit_test(
            operands_of_divisions_count_and_sums_on_the_way_do_not),
        cmocka_unit_test(conditions_that_follow_from_others_are_left_out),
        cmocka_unit_test(constraints_prove_bounds),
        cmocka_unit_test(a_finding_has_sizes_that_wrap_and_those_that_do_not),
        cmocka_unit_test(sixty_four_bits_wrap_later),
        cmocka_unit_test(hundreds_of_multiples_are_one_condition),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
