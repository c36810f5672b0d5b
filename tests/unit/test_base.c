/* test_base.c - arenas, interning, buffers, errors. */
#include "frontend/base/buffer.h"
#include "frontend/base/ctx.h"
#include "frontend/base/vec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void memory_comes_zeroed_and_aligned(void **state)
{
    jx_arena *arena = jx_arena_new(NULL);
    (void)state;

    for (size_t size = 0; size < 5000; size += 7) {
        unsigned char *p = jx_arena_alloc(arena, size);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xff, size);
    }
    jx_arena_free(arena);
}

static void past_the_budget_an_arena_fails_for_good(void **state)
{
    jx_budget budget;
    (void)state;

    jx_budget_init(&budget, (jx_limits){.bytes = 1000}, NULL);
    jx_arena *arena = jx_arena_new(&budget);

    assert_non_null(jx_arena_alloc(arena, 900));
    assert_null(jx_arena_alloc(arena, 200));
    assert_null(jx_arena_alloc(arena, 1));
    assert_true(jx_arena_failed(arena));
    jx_arena_free(arena);
    assert_int_equal(atomic_load(&budget.used), 0);
    assert_int_equal(jx_budget_spent(&budget), JX_SPENT_BYTES);
}

static void an_overflowing_array_is_a_failure(void **state)
{
    jx_arena *arena = jx_arena_new(NULL);
    (void)state;

    assert_null(jx_arena_array(arena, SIZE_MAX / 2, 8));
    assert_true(jx_arena_failed(arena));
    jx_arena_free(arena);
}

static void equal_text_is_one_pointer(void **state)
{
    jx_ctx *ctx = jx_ctx_new(0);
    char name[16];
    (void)state;

    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "v%d", i % 100);
        const char *a = jx_intern_text(ctx, name);
        assert_string_equal(a, name);
        assert_ptr_equal(a, jx_intern_text(ctx, name));
        assert_null(jx_intern_text(ctx, NULL)); /* of a text without memory */
    }
    jx_ctx_free(ctx);
}

static void only_the_first_error_is_kept(void **state)
{
    jx_ctx *ctx = jx_ctx_new(0);
    (void)state;

    assert_false(jx_fail(ctx, JX_E_INPUT, "a.json", "byte 3", "expected %d", 7));
    assert_false(jx_fail(ctx, JX_E_SYSTEM, NULL, NULL, "later"));
    assert_int_equal(ctx->error.kind, JX_E_INPUT);
    assert_string_equal(ctx->error.message, "expected 7");
    jx_ctx_free(ctx);
}

static void a_spent_budget_is_an_error_of_the_context(void **state)
{
    jx_ctx *ctx = jx_ctx_new(4096);
    (void)state;

    assert_true(jx_ok(ctx));
    assert_null(jx_arena_alloc(ctx->arena, 8192));
    assert_false(jx_ok(ctx));
    assert_int_equal(ctx->error.kind, JX_E_LIMIT);
    jx_ctx_free(ctx);
}

static void vectors_and_buffers_grow(void **state)
{
    jx_arena *arena = jx_arena_new(NULL);
    JX_VEC(int) numbers = {0};
    jx_buffer text = {0};
    (void)state;

    for (int i = 0; i < 1000; i++) {
        JX_PUSH(arena, &numbers, i);
        jx_buffer_printf(&text, "%d,", i);
    }
    assert_int_equal(numbers.count, 1000);
    assert_int_equal(numbers.at[999], 999);
    assert_memory_equal(jx_buffer_text(&text), "0,1,2,", 6);
    assert_int_equal(text.length, 10 * 2 + 90 * 3 + 900 * 4);
    assert_true(jx_buffer_ok(&text));
    jx_buffer_free(&text);
    assert_string_equal(jx_buffer_text(&text), "");
    jx_arena_free(arena);
}

static void what_a_message_quotes_is_text(void **state)
{
    jx_ctx *ctx = jx_ctx_new(0);

    (void)state;
    jx_fail(ctx, JX_E_INPUT, NULL, NULL, "op a\xc3\xa9\xff\x1b[1m\xe2\x82\n\tend");
    assert_string_equal(ctx->error.message, "op a\xc3\xa9??[1m??\n\tend");
    jx_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_comes_zeroed_and_aligned),
        cmocka_unit_test(past_the_budget_an_arena_fails_for_good),
        cmocka_unit_test(an_overflowing_array_is_a_failure),
        cmocka_unit_test(equal_text_is_one_pointer),
        cmocka_unit_test(only_the_first_error_is_kept),
        cmocka_unit_test(a_spent_budget_is_an_error_of_the_context),
        cmocka_unit_test(what_a_message_quotes_is_text),
        cmocka_unit_test(vectors_and_buffers_grow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
