/* test_budget.c - what a program may take, and who says that it is spent. */
#include "frontend/base/ctx.h"
#include "frontend/base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void what_a_step_takes_is_taken_above(void **state)
{
    jx_budget program, step;
    (void)state;

    jx_budget_init(&program, (jx_limits){.bytes = 1000}, NULL);
    jx_budget_init(&step, (jx_limits){.bytes = 600}, &program);
    assert_true(jx_budget_take(&step, 500));
    assert_int_equal(jx_budget_left(&program), 500);
    assert_int_equal(jx_budget_left(&step), 100);
    assert_false(jx_budget_take(&step, 200));
    assert_int_equal(jx_budget_spent(&step), JX_SPENT_BYTES);
    assert_int_equal(jx_budget_spent(&program), JX_SPENT_NOTHING);
    assert_int_equal(jx_budget_left(&program), 500);
    jx_budget_give(&step, 500);
    assert_int_equal(jx_budget_left(&program), 1000);
}

static void what_is_spent_above_is_spent_below(void **state)
{
    jx_budget program, step;
    (void)state;

    jx_budget_init(&program, (jx_limits){.bytes = 1000}, NULL);
    jx_budget_init(&step, (jx_limits){0}, &program);
    assert_false(jx_budget_take(&step, SIZE_MAX));
    assert_int_equal(jx_budget_spent(&step), JX_SPENT_BYTES);
    assert_false(jx_budget_take(&step, 1));
    assert_int_equal(atomic_load(&step.used), 0);
    assert_int_equal(atomic_load(&program.used), 0);
}

static void time_and_patience_end(void **state)
{
    volatile int cancel = 0;
    jx_budget budget;
    (void)state;

    jx_budget_init(&budget, (jx_limits){.seconds = 1e-6}, NULL);
    while (jx_budget_lasts(&budget))
        ;
    assert_int_equal(jx_budget_spent(&budget), JX_SPENT_SECONDS);
    jx_budget_init(&budget, (jx_limits){.cancel = &cancel}, NULL);
    assert_true(jx_budget_lasts(&budget));
    cancel = 1;
    assert_false(jx_budget_lasts(&budget));
    assert_int_equal(jx_budget_spent(&budget), JX_SPENT_PATIENCE);
    cancel = 0;
    assert_false(jx_budget_lasts(&budget));
    jx_budget_restart(&budget);
    assert_false(jx_budget_lasts(&budget));
}

static void a_buffer_pays_for_its_text(void **state)
{
    jx_ctx *ctx = jx_ctx_new(100000);
    size_t before = jx_budget_left(&ctx->budget);
    jx_buffer text = jx_ctx_text(ctx);
    (void)state;

    while (jx_buffer_ok(&text) && text.length < 1000000)
        jx_buffer_puts(&text, "0123456789");
    assert_false(jx_buffer_ok(&text));
    assert_true(text.length < 100000);
    jx_buffer_free(&text);
    assert_int_equal(jx_budget_left(&ctx->budget), before);
    assert_false(jx_ok(ctx));
    assert_int_equal(ctx->error.kind, JX_E_LIMIT);
    assert_string_equal(ctx->error.message,
                        "gave up at 98 KiB of memory, the limit");
    jx_ctx_free(ctx);
}

static void what_fails_for_a_limit_is_said_to(void **state)
{
    jx_ctx *ctx = jx_ctx_new(10000);
    (void)state;

    jx_ctx_concerns(ctx, "a.json");
    jx_ctx_stage(ctx, "reading");
    assert_null(jx_arena_alloc(ctx->arena, 20000));
    assert_false(jx_fail(ctx, JX_E_INPUT, "f", NULL, "expected a number"));
    assert_int_equal(ctx->error.kind, JX_E_LIMIT);
    assert_string_equal(ctx->error.file, "a.json");
    assert_string_equal(
        ctx->error.message,
        "gave up at 9.8 KiB of memory, the limit, while reading");
    jx_ctx_free(ctx);
}

/* What is kept of a program's report outlives the program's limits. */
static void a_context_recovers_from_what_it_drew_on(void **state)
{
    jx_ctx *keep = jx_ctx_new(0), *program = jx_ctx_new(100000);
    (void)state;

    jx_ctx_draw_on(keep, program);
    assert_null(jx_arena_alloc(keep->arena, 200000));
    assert_false(jx_ok(keep));
    jx_ctx_draw_on(keep, NULL);
    jx_error_clear(keep);
    jx_ctx_free(program);
    assert_non_null(jx_arena_alloc(keep->arena, 200000));
    assert_true(jx_ok(keep));
    jx_ctx_free(keep);
}

/* 64 times a text of numbers is enough for its tree, 4 times is not. */
static void trees_of_json_are_paid_for(void **state)
{
    jx_buffer text = {0};
    jx_json_fault fault;
    (void)state;

    jx_buffer_puts(&text, "[0");
    for (int i = 0; i < 100000; i++)
        jx_buffer_puts(&text, ",0");
    jx_buffer_puts(&text, "]");
    for (size_t times = 4; times <= 64; times += 60) {
        jx_ctx *ctx = jx_ctx_new(times * text.length);
        jx_json *json =
            jx_json_parse(ctx, text.text, text.length, false, &fault);
        assert_true(times == 64 ? json != NULL : json == NULL);
        assert_true(times == 64 ? jx_ok(ctx) : !jx_ok(ctx));
        jx_json_free(json);
        jx_ctx_free(ctx);
    }
    jx_buffer_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_step_takes_is_taken_above),
        cmocka_unit_test(what_is_spent_above_is_spent_below),
        cmocka_unit_test(time_and_patience_end),
        cmocka_unit_test(a_buffer_pays_for_its_text),
        cmocka_unit_test(what_fails_for_a_limit_is_said_to),
        cmocka_unit_test(a_context_recovers_from_what_it_drew_on),
        cmocka_unit_test(trees_of_json_are_paid_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
