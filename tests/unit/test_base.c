/* test_base.c - arenas, interning, maps, buffers, errors. */
#include "frontend/base/buffer.h"
#include "frontend/base/ctx.h"
#include "frontend/base/map.h"
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

enum { KEYS = 1000 };

static void a_map_gives_each_key_its_last_value(void **state)
{
    static const char keys[KEYS], values[KEYS];
    jx_arena *arena = jx_arena_new(NULL);
    jx_map map;
    (void)state;

    jx_map_init(&map, arena);
    for (int i = 0; i < KEYS; i++) {
        assert_null(jx_map_get(&map, &keys[i]));
        assert_false(jx_map_has(&map, &keys[i]));
        assert_true(jx_map_put(&map, &keys[i], &values[i]));
        assert_int_equal(map.count, i + 1);
    }
    for (int i = 0; i < KEYS; i += 2)
        assert_true(jx_map_put(&map, &keys[i], i % 4 ? &keys[i] : NULL));
    assert_int_equal(map.count, KEYS);
    for (int i = 0; i < KEYS; i++) {
        assert_ptr_equal(jx_map_get(&map, &keys[i]), i % 2   ? &values[i]
                                                     : i % 4 ? &keys[i]
                                                             : NULL);
        assert_true(jx_map_has(&map, &keys[i]));
        assert_null(jx_map_get(&map, &values[i]));
    }
    assert_null(jx_map_get(&map, NULL));
    assert_false(jx_map_has(&map, NULL));
    jx_arena_free(arena);
}

static void a_set_takes_each_key_once(void **state)
{
    static const char keys[KEYS];
    jx_arena *arena = jx_arena_new(NULL);
    jx_map set = {0};
    (void)state;

    assert_false(jx_map_has(&set, keys));
    assert_null(jx_map_get(&set, keys));
    jx_map_init(&set, arena);
    for (int i = 0; i < KEYS; i++) {
        assert_true(jx_map_add(&set, &keys[i]));
        assert_false(jx_map_add(&set, &keys[i / 2]));
        assert_ptr_equal(jx_map_get(&set, &keys[i]), &keys[i]);
    }
    assert_int_equal(set.count, KEYS);
    jx_arena_free(arena);
}

static void without_memory_a_map_stays_as_it_was(void **state)
{
    static const char keys[KEYS], other;
    jx_budget budget;
    jx_map map;
    int count = 0;
    (void)state;

    jx_budget_init(&budget, (jx_limits){.bytes = 3000}, NULL);
    jx_arena *arena = jx_arena_new(&budget);
    jx_map_init(&map, arena);
    while (count < KEYS && jx_map_put(&map, &keys[count], &keys[count]))
        count++;
    assert_in_range(count, 10, KEYS - 1);
    assert_true(jx_arena_failed(arena));
    assert_false(jx_map_add(&map, &keys[count]));
    assert_int_equal(map.count, count);
    for (int i = 0; i < KEYS; i++)
        assert_ptr_equal(jx_map_get(&map, &keys[i]),
                         i < count ? &keys[i] : NULL);
    assert_true(jx_map_put(&map, keys, &other)); /* needs none */
    assert_ptr_equal(jx_map_get(&map, keys), &other);
    jx_arena_free(arena);
}

static void only_the_first_error_is_kept(void **state)
{
    jx_ctx *ctx = jx_ctx_new(0);
    (void)state;

    assert_false(
        jx_fail(ctx, JX_E_INPUT, "a.json", "byte 3", "expected %d", 7));
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
    jx_fail(ctx, JX_E_INPUT, NULL, NULL,
            "op a\xc3\xa9\xff\x1b[1m\xe2\x82\n\tend");
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
        cmocka_unit_test(a_map_gives_each_key_its_last_value),
        cmocka_unit_test(a_set_takes_each_key_once),
        cmocka_unit_test(without_memory_a_map_stays_as_it_was),
        cmocka_unit_test(only_the_first_error_is_kept),
        cmocka_unit_test(a_spent_budget_is_an_error_of_the_context),
        cmocka_unit_test(what_a_message_quotes_is_text),
        cmocka_unit_test(vectors_and_buffers_grow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
