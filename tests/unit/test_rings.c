/* test_rings.c - rules for all sizes of a mesh, against every step
 * of every device. */
#include "frontend/base/ctx.h"
#include "runtime/equal/rings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    EACH = 2 /* products of a part of a chunk */,
    WIDE = 3 /* elements of a block */
};

static int modulo(int a, int n)
{
    return (a % n + n) % n;
}

/* A result of shape [WIDE, devices * parts * 2] whose blocks along axis 1 add
 * up what the rule says. */
static jx_orders orders_by(jx_arena *arena, int devices, const jx_ring *rule)
{
    int h = rule->shares, terms = devices * h * EACH,
        columns = devices * rule->parts * 2;
    int64_t *shape = JX_NEW_ARRAY(arena, 2, int64_t);
    jx_order *out = JX_NEW(arena, jx_order);
    int32_t *of = JX_NEW_ARRAY(arena, WIDE * columns * terms, int32_t);

    shape[0] = WIDE;
    shape[1] = columns;
    for (int x = 0; x < WIDE * columns; x++) {
        int block = x % columns / 2, d = block / rule->parts,
            p = block % rule->parts;
        for (int g = 0; g < h; g++)
            for (int i = 0; i < devices; i++) {
                const jx_ring_step *s = &rule->sums[p][g].ties[0];
                int e =
                    modulo(s->device * d + s->step * i + s->offset, devices);
                int share = rule->sums[p][g].share;
                int chunk = rule->outer ? share * devices + e : e * h + share;
                int at = rule->apart ? g * devices + i : i * h + g;
                for (int q = 0; q < EACH; q++)
                    of[x * terms + at * EACH + q] = chunk * EACH + q;
            }
    }
    *out = (jx_order){.rank = 2,
                      .shape = shape,
                      .count = WIDE * columns,
                      .terms = terms,
                      .of = of};
    return (jx_orders){.devices = devices, .nouts = 1, .outs = out};
}

static jx_ring_sum sum_of(int device, int step, int offset, int share)
{
    return (jx_ring_sum){1, {{device, step, offset}}, share};
}

static bool is_step(const jx_ring_sum *found, const jx_ring_sum *rule)
{
    for (int t = 0; t < found->nties; t++)
        if (!memcmp(&found->ties[t], &rule->ties[0], sizeof rule->ties[0]))
            return true;
    return false;
}

static void the_rule_is_found_again(void **state)
{
    jx_ctx *ctx = jx_ctx_new(0);
    const int sizes[] = {4, 5, 8};

    (void)state;
    for (int how = 0; how < 16; how++) {
        jx_ring rule = {.axis = 1,
                        .parts = 1 + how % 2,
                        .shares = 1 + how / 2 % 2,
                        .apart = how / 4 % 2,
                        .outer = how / 8},
                found;
        jx_orders at[3];
        for (int p = 0; p < rule.parts; p++)
            for (int g = 0; g < rule.shares; g++)
                rule.sums[p][g] =
                    sum_of(1, g ? 1 : -1, p ? 1 : -1, (g + p) % rule.shares);
        for (int t = 0; t < 3; t++)
            at[t] = orders_by(ctx->arena, sizes[t], &rule);
        assert_true(jx_ring_find(ctx, 3, at, 0, &found));
        assert_int_equal(found.parts, rule.parts);
        assert_int_equal(found.shares, rule.shares);
        for (int p = 0; p < rule.parts; p++)
            for (int g = 0; g < rule.shares; g++) {
                const char *by = NULL;
                assert_true(is_step(&found.sums[p][g], &rule.sums[p][g]));
                assert_null(jx_ring_prove(ctx, &found, &by));
                assert_non_null(by);
            }
    }
    jx_ctx_free(ctx);
}

/* Whether no two steps of a device have one chunk, on meshes of up
 * to 12 devices. */
static bool is_right(const jx_ring_step *s)
{
    for (int n = 1; n <= 12; n++)
        for (int d = 0; d < n; d++) {
            unsigned seen = 0;
            for (int i = 0; i < n; i++)
                seen |=
                    1u << modulo(s->device * d + s->step * i + s->offset, n);
            if (seen != (1u << n) - 1)
                return false;
        }
    return true;
}

static void only_what_holds_is_proved(void **state)
{
    jx_ctx *ctx = jx_ctx_new(0);

    (void)state;
    for (int device = -2; device <= 2; device++)
        for (int step = -3; step <= 3; step++)
            for (int offset = -2; offset <= 2; offset += 2) {
                jx_ring rule = {.axis = 1, .parts = 1, .shares = 1};
                const char *by, *why;
                rule.sums[0][0] = sum_of(device, step, offset, 0);
                why = jx_ring_prove(ctx, &rule, &by);
                assert_true(!why == is_right(&rule.sums[0][0].ties[0]));
                if (why)
                    assert_non_null(strstr(why, "does not hold for all S"));
            }
    jx_ctx_free(ctx);
}

static void what_is_as_simple_counts_as_well(void **state)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_ring rule = {.axis = 1, .parts = 1, .shares = 1}, found;
    jx_orders at;
    const char *by;

    (void)state;
    rule.sums[0][0] = sum_of(1, 1, 2, 0); /* on 4 devices 2 is -2 */
    at = orders_by(ctx->arena, 4, &rule);
    assert_true(jx_ring_find(ctx, 1, &at, 0, &found));
    assert_int_equal(found.sums[0][0].nties, 2);
    assert_null(jx_ring_prove(ctx, &found, &by));
    jx_ctx_free(ctx);
}

static void what_has_no_rule_is_not_found(void **state)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_ring up = {.axis = 1, .parts = 1, .shares = 1}, down = up, found;
    jx_orders at[2];

    (void)state;
    up.sums[0][0] = sum_of(1, 1, 0, 0);
    down.sums[0][0] = sum_of(1, -1, 0, 0);
    at[0] = orders_by(ctx->arena, 5, &up);
    at[1] = orders_by(ctx->arena, 4, &down);
    assert_true(jx_ring_find(ctx, 1, &at[0], 0, &found));
    assert_true(jx_ring_find(ctx, 1, &at[1], 0, &found));
    assert_false(jx_ring_find(ctx, 2, at, 0, &found));
    /* One pair of products is in another order on one device. */
    jx_order changed = at[0].outs[0];
    int32_t *of = jx_arena_copy(ctx->arena, changed.of,
                                sizeof *of * (size_t)changed.terms * 30);
    of[0] = changed.of[1];
    of[1] = changed.of[0];
    changed.of = of;
    at[0].outs = &changed;
    assert_false(jx_ring_find(ctx, 1, at, 0, &found));
    jx_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rule_is_found_again),
        cmocka_unit_test(only_what_holds_is_proved),
        cmocka_unit_test(what_is_as_simple_counts_as_well),
        cmocka_unit_test(what_has_no_rule_is_not_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
