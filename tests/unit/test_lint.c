/* test_lint.c - what programs bake in, and who asked JAX about sizes. */
#include "analyzer/asking.h"
#include "analyzer/lint/lint.h"
#include "frontend/read/document.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Tables that all documents here share: avals 0 f32[64,64], 1 f32[], 2
 * i32[64,64], 3 bool[64,64], 4 f32[b,64], 5 i32[] and 6 f32[4]. */
static const char head[] =
    "{\"format\":\"jaxvet-jaxpr\",\"version\":1,\"producer\":{\"jaxvet\":"
    "\"0.1.0\",\"jax\":\"0.10.2\",\"python\":\"3.11.7\",\"x64\":false},"
    "\"entry\":{\"jaxpr\":%d,\"name\":\"f\",\"in_paths\":[\"x\"],"
    "\"out_paths\":[\"\"]},"
    "\"avals\":[{\"dt\":\"f32\",\"sh\":[64,64]},{\"dt\":\"f32\"},"
    "{\"dt\":\"i32\",\"sh\":[64,64]},{\"dt\":\"bool\",\"sh\":[64,64]},"
    "{\"dt\":\"f32\",\"sh\":[\"b\",64]},{\"dt\":\"i32\"},"
    "{\"dt\":\"f32\",\"sh\":[4]}],"
    "\"prims\":[\"iota\",\"sin\",\"add\",\"jit\",\"scan\",\"gt\","
    "\"broadcast_in_dim\",\"select_n\",\"mul\",\"dim_as_value\"],"
    "\"jaxprs\":[%s]}\n";

#define IOTA(axis, aval, dt)                                                   \
    "[0,[],[" aval "],{\"dimension\":" axis ",\"dtype\":{\"$dt\":\"" dt        \
    "\"},\"shape\":[64,64],\"sharding\":null},-1,-1,-1]"
#define SIN(from) "[1,[" from "],[0],{\"accuracy\":null},-1,-1,-1]"
#define ADD(a, b) "[2,[" a "," b "],[0],{},-1,-1,-1]"
#define JIT(jaxpr, from)                                                       \
    "[3,[" from "],[0],{\"ctx_mesh\":null,\"donated_invars\":[false],"         \
    "\"inline\":false,\"jaxpr\":{\"$jaxpr\":" jaxpr                            \
    "},\"keep_unused\":false,\"name\":\"g\"},-1,-1,-1]"
#define JAXPR(eqns, out) "{\"in\":[0],\"eqns\":[" eqns "],\"out\":[" out "]}"

typedef struct linted {
    jx_ctx *ctx;
    jx_analysis *analysis;
    jx_flat *flat;
} linted;

/* Lints the program whose jaxprs these are; the last is the entry. */
static linted lint(int entry, const char *jaxprs, int64_t min_elements)
{
    const jx_lint_options options = {.min_elements = min_elements};
    linted made = {.ctx = jx_ctx_new(0)};
    jx_buffer text = {0};
    jx_program *program;

    jx_buffer_printf(&text, head, entry, jaxprs);
    program = jx_read_document(made.ctx, "-", text.text, text.length);
    jx_buffer_free(&text);
    if (!program)
        print_error("%s: %s\n", made.ctx->error.place, made.ctx->error.message);
    assert_non_null(program);
    made.analysis = jx_analysis_new(program);
    assert_true(jx_type_program(made.analysis));
    made.analysis->claims.count = 0;
    assert_true(jx_lint(made.analysis, &options));
    made.flat = jx_flatten(&made.analysis->typed);
    assert_non_null(made.flat);
    return made;
}

static size_t count(const linted *l, jx_code code)
{
    size_t n = 0;

    for (size_t i = 0; i < l->analysis->claims.count; i++)
        n += l->analysis->claims.at[i]->code == code;
    return n;
}

/* The only claim of that code. */
static const jx_claim *only(const linted *l, jx_code code)
{
    assert_int_equal(count(l, code), 1);
    for (size_t i = 0; i < l->analysis->claims.count; i++)
        if (l->analysis->claims.at[i]->code == code)
            return l->analysis->claims.at[i];
    return NULL;
}

static void work_without_inputs_is_found_where_it_ends(void **state)
{
    linted l = lint(0,
                    JAXPR(IOTA("0", "0", "float32") "," SIN("1") "," SIN(
                              "2") "," ADD("0", "3"),
                          "4"),
                    1024);
    const jx_claim *claim = only(&l, JX_CODE_STG001);
    (void)state;

    assert_ptr_equal(claim->eqn, &l.flat->program->entry.jaxpr->eqns[2]);
    assert_int_equal(claim->verdict, JX_WITNESSED);
    assert_int_equal(claim->level, JX_NOTE);
    assert_string_equal(claim->what, "`sin` makes f32[64,64] (16 KiB) from no "
                                     "input, at every run: 3 equations");
    jx_ctx_free(l.ctx);
}

static void small_work_is_let_pass(void **state)
{
    linted l = lint(
        0, JAXPR(IOTA("0", "0", "float32") "," SIN("1") "," ADD("0", "2"), "3"),
        4097);
    (void)state;

    assert_int_equal(count(&l, JX_CODE_STG001), 0);
    jx_ctx_free(l.ctx);
}

static void a_ramp_and_a_scalar_cost_nothing(void **state)
{
    linted l =
        lint(0,
             JAXPR("[8,[{\"a\":1,\"v\":2.0},{\"a\":1,\"v\":3.0}],[1],"
                   "{\"out_dtype\":null},-1,-1,-1],"
                   "[6,[1],[0],{\"broadcast_dimensions\":[],\"shape\":[64,64],"
                   "\"sharding\":null},-1,-1,-1]," IOTA(
                       "0", "0", "float32") ",[8,[3,2],[0],{\"out_dtype\":null}"
                                            ",-1,-1,-1]," ADD("0", "4"),
                   "5"),
             1024);
    (void)state;

    assert_int_equal(count(&l, JX_CODE_STG001), 0);
    jx_ctx_free(l.ctx);
}

static void dead_work_is_not_done(void **state)
{
    linted l = lint(0,
                    JAXPR(IOTA("0", "0", "float32") "," SIN("1") "," ADD(
                              "0", "2") "," SIN("0"),
                          "4"),
                    1024);
    (void)state;

    assert_int_equal(count(&l, JX_CODE_STG001), 0);
    assert_false(l.flat->nodes.at[0].live);
    assert_true(l.flat->nodes.at[3].live);
    jx_ctx_free(l.ctx);
}

static void calls_are_seen_through_and_equals_are_one(void **state)
{
    linted l = lint(
        1,
        JAXPR(IOTA("0", "0", "float32") "," SIN("1") "," ADD("0", "2"),
              "3") "," JAXPR(JIT("0", "0") "," JIT("0", "1") "," ADD("1", "2"),
                             "3"),
        1024);
    const jx_claim *claim = only(&l, JX_CODE_STG001);
    (void)state;

    /* iota and sin once, and an addition for each call, and the last. */
    assert_int_equal(l.flat->nodes.count, 5);
    assert_int_equal(l.flat->nodes.at[1].copies, 2);
    assert_non_null(strstr(claim->what, "written 2 times"));
    assert_non_null(claim->calls);
    assert_ptr_equal(claim->calls->eqn, &l.flat->program->entry.jaxpr->eqns[0]);
    jx_ctx_free(l.ctx);
}

static void work_inside_a_loop_is_found(void **state)
{
    linted l = lint(
        1,
        JAXPR(
            IOTA("0", "0", "float32") "," SIN("1") "," ADD("0", "2"),
            "3") "," JAXPR("[4,[0],[0],{\"jaxpr\":{\"$jaxpr\":0},\"length\":3,"
                           "\"num_carry\":1,\"num_consts\":0,\"reverse\":false,"
                           "\"unroll\":1},-1,-1,-1]",
                           "1"),
        1024);
    const jx_claim *claim = only(&l, JX_CODE_STG001);
    (void)state;

    assert_ptr_equal(claim->calls->eqn, &l.flat->program->entry.jaxpr->eqns[0]);
    jx_ctx_free(l.ctx);
}

/* Jaxprs that each call the one before twice: 2^40 equations, each looked at
 * once. */
static void programs_that_grow_without_bound_are_seen_whole(void **state)
{
    jx_buffer jaxprs = {0};
    linted l;
    (void)state;

    jx_buffer_puts(
        &jaxprs,
        JAXPR(IOTA("0", "0", "float32") "," SIN("1") "," ADD("0", "2"), "3"));
    for (int i = 0; i < 40; i++)
        jx_buffer_printf(&jaxprs,
                         ",{\"in\":[0],\"eqns\":[[3,[0],[0],{\"jaxpr\":"
                         "{\"$jaxpr\":%d},\"name\":\"g\"},-1,-1,-1],"
                         "[3,[1],[0],{\"jaxpr\":{\"$jaxpr\":%d},\"name\":"
                         "\"g\"},-1,-1,-1]],\"out\":[2]}",
                         i, i);
    l = lint(40, jx_buffer_text(&jaxprs), 1024);
    assert_true(l.flat->shared);
    assert_false(l.flat->truncated);
    assert_in_range(l.flat->nodes.count, 40, 2000);
    assert_int_equal(l.analysis->assumptions.count, 1);
    assert_non_null(only(&l, JX_CODE_STG001)->calls);
    jx_buffer_free(&jaxprs);
    jx_ctx_free(l.ctx);
}

static void products_of_sizes_are_told_from_products_of_numbers(void **state)
{
    static const char sizes[] =
        "[8,[{\"a\":5,\"v\":64},{\"a\":5,\"v\":64}],[5],{\"out_dtype\":null},"
        "-1,-1,-1]";
    static const char numbers[] =
        "[8,[{\"a\":5,\"v\":64},{\"a\":5,\"v\":7}],[5],{\"out_dtype\":null},"
        "-1,-1,-1]";
    linted l;
    jx_buffer text = {0};
    (void)state;

    jx_buffer_printf(&text, "{\"in\":[0],\"eqns\":[%s],\"out\":[1]}", sizes);
    l = lint(0, jx_buffer_text(&text), 1024);
    assert_int_equal(only(&l, JX_CODE_STG003)->level, JX_WARNING);
    jx_ctx_free(l.ctx);
    jx_buffer_clear(&text);
    jx_buffer_printf(&text, "{\"in\":[0],\"eqns\":[%s],\"out\":[1]}", numbers);
    l = lint(0, jx_buffer_text(&text), 1024);
    assert_int_equal(count(&l, JX_CODE_STG003), 0);
    jx_ctx_free(l.ctx);
    jx_buffer_free(&text);
}

/* A program that computes with that size. */
static linted with_size(const char *size)
{
    jx_buffer text = {0};
    linted l;

    jx_buffer_printf(&text,
                     "{\"in\":[0],\"eqns\":[[9,[],[5],{\"dim\":{"
                     "\"$dim\":\"%s\"}},-1,-1,-1]],\"out\":[1]}",
                     size);
    l = lint(0, jx_buffer_text(&text), 1024);
    jx_buffer_free(&text);
    return l;
}

static void products_of_sizes_are_claimed_to_fit_their_type(void **state)
{
    linted l = with_size("b*n");
    const jx_claim *claim = only(&l, JX_CODE_IDX004);
    (void)state;

    assert_int_equal(claim->verdict, JX_UNDECIDED);
    assert_int_equal(claim->goal.kind, JX_GOAL_GE);
    assert_int_equal(jx_dim_value(claim->goal.lhs), INT32_MAX);
    jx_ctx_free(l.ctx);
    l = with_size("3*b + n");
    assert_int_equal(count(&l, JX_CODE_IDX004), 0);
    jx_ctx_free(l.ctx);
}

/* Who asked. */

static jx_asking asked(const char *op, jx_decision decision, const char *file,
                       const char *function, const char *via)
{
    const jx_comparison comparison = {.op = op,
                                      .decision = decision,
                                      .site_file = file,
                                      .site_function = function,
                                      .via = via};

    return jx_asking_of(&comparison, NULL);
}

static void users_comparisons_matter_and_caches_do_not(void **state)
{
    (void)state;
    assert_int_equal(asked("==", JX_DECIDED_FALSE, "model.py", "f", NULL),
                     JX_ASKING_semantic);
    assert_int_equal(asked("==", JX_DECIDED_FALSE, "flax/linen.py", "f", NULL),
                     JX_ASKING_semantic);
    assert_int_equal(asked("==", JX_DECIDED_FALSE, "model.py", "f", "call"),
                     JX_ASKING_harmless);
}

static void jax_s_own_comparisons_are_looked_up(void **state)
{
    const char *numpy = "jax/_src/numpy/lax_numpy.py";
    (void)state;

    assert_int_equal(asked("==", JX_DECIDED_FALSE, "jax/_src/core.py",
                           "definitely_equal", NULL),
                     JX_ASKING_harmless);
    assert_int_equal(asked("==", JX_DECIDED_FALSE,
                           "/venv/site-packages/jax/_src/core.py",
                           "definitely_equal", NULL),
                     JX_ASKING_harmless);
    assert_int_equal(asked("==", JX_DECIDED_FALSE, numpy, "_argmax", NULL),
                     JX_ASKING_semantic);
    assert_int_equal(asked("==", JX_DECIDED_FALSE, numpy,
                           "diagonal.<locals>._default_diag.<locals>.<genexpr>",
                           NULL),
                     JX_ASKING_harmless);
    assert_int_equal(asked("==", JX_DECIDED_FALSE, numpy, "diagonals", NULL),
                     JX_ASKING_UNKNOWN);
    assert_int_equal(
        asked("==", JX_DECIDED_FALSE, "jax/_src/new.py", "f", NULL),
        JX_ASKING_UNKNOWN);
}

static void what_jax_took_for_true_is_relied_on(void **state)
{
    (void)state;
    assert_int_equal(asked("==", JX_DECIDED_TRUE, "jax/_src/core.py",
                           "definitely_equal", NULL),
                     JX_ASKING_semantic);
    assert_int_equal(
        asked(">=", JX_DECIDED_FALSE, "jax/_src/core.py", "max_dim", NULL),
        JX_ASKING_semantic);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_without_inputs_is_found_where_it_ends),
        cmocka_unit_test(small_work_is_let_pass),
        cmocka_unit_test(a_ramp_and_a_scalar_cost_nothing),
        cmocka_unit_test(dead_work_is_not_done),
        cmocka_unit_test(calls_are_seen_through_and_equals_are_one),
        cmocka_unit_test(work_inside_a_loop_is_found),
        cmocka_unit_test(programs_that_grow_without_bound_are_seen_whole),
        cmocka_unit_test(products_of_sizes_are_told_from_products_of_numbers),
        cmocka_unit_test(products_of_sizes_are_claimed_to_fit_their_type),
        cmocka_unit_test(users_comparisons_matter_and_caches_do_not),
        cmocka_unit_test(jax_s_own_comparisons_are_looked_up),
        cmocka_unit_test(what_jax_took_for_true_is_relied_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
