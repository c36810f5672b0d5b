/* test_choose.c - sizes at which a program is worth looking at. */
#include "frontend/read/document.h"
#include "prover/choose.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* f32[INPUTS] and f32[OTHER], with constraints and comparisons. */
static const char document[] =
    "{\"format\":\"jaxvet-jaxpr\",\"version\":1,\"producer\":{\"jaxvet\":"
    "\"0.1.0\",\"jax\":\"0.10.2\",\"python\":\"3.11.7\",\"x64\":false},"
    "\"entry\":{\"jaxpr\":0,\"name\":\"f\",\"in_paths\":[\"x\",\"y\"],"
    "\"out_paths\":[\"\"]},"
    "\"scopes\":[{\"constraints\":[%s]}],"
    "\"avals\":[{\"dt\":\"f32\",\"sh\":[%s]},{\"dt\":\"f32\",\"sh\":[%s]}],"
    "\"prims\":[\"sin\"],"
    "\"jaxprs\":[{\"in\":[0,1],\"eqns\":[[0,[0],[0],{\"accuracy\":null},-1,-1,"
    "-1]],\"out\":[2]}],\"comparisons\":[%s]}\n";

#define GEQ(a, b) "[\"geq\",\"" a "\",\"" b "\",\"" a " >= " b "\"]"
#define EQ(a, b) "[\"eq\",\"" a "\",\"" b "\",\"" a " == " b "\"]"
#define ASKED(a, op, b)                                                        \
    "{\"op\":\"" op "\",\"lhs\":\"" a "\",\"rhs\":\"" b                        \
    "\",\"verdict\":false,\"n\":1,\"site\":[\"a.py\",\"f\"]}"

typedef struct chosen {
    jx_ctx *ctx;
    jx_program *program;
    jx_choice choice;
} chosen;

static chosen choose(const char *constraints, const char *shape,
                     const char *other, const char *asked, int wanted)
{
    chosen made = {.ctx = jx_ctx_new(0)};
    jx_buffer text = {0};

    jx_buffer_printf(&text, document, constraints, shape, other, asked);
    made.program = jx_read_document(made.ctx, "-", text.text, text.length);
    if (!made.program)
        print_error("%s: %s\n", made.ctx->error.place, made.ctx->error.message);
    assert_non_null(made.program);
    jx_buffer_free(&text);
    if (!jx_choose_sizes(made.program, wanted, &made.choice))
        made.choice.count = -1;
    return made;
}

static int64_t at(const chosen *c, int row, const char *name)
{
    for (int k = 0; k < c->choice.nvars; k++)
        if (!strcmp(c->choice.vars[k]->name, name))
            return c->choice.values[row * c->choice.nvars + k];
    fail_msg("no size %s", name);
    return 0;
}

static bool any(const chosen *c, const char *name, int64_t value)
{
    for (int i = 0; i < c->choice.count; i++)
        if (at(c, i, name) == value)
            return true;
    return false;
}

static void small_ones_come_first(void **state)
{
    chosen c = choose("", "\"b\"", "3", "", 5);

    (void)state;
    assert_int_equal(c.choice.count, 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(at(&c, i, "b"), i + 1);
    jx_ctx_free(c.ctx);
}

static void constraints_are_kept_and_their_edges_visited(void **state)
{
    chosen c =
        choose(GEQ("b", "40") "," GEQ("60", "b") "," EQ("mod(b, 4)", "0"),
               "\"b\"", "3", "", 6);

    (void)state;
    assert_in_range(c.choice.count, 3, 6);
    for (int i = 0; i < c.choice.count; i++) {
        assert_in_range(at(&c, i, "b"), 40, 60);
        assert_int_equal(at(&c, i, "b") % 4, 0);
    }
    assert_true(any(&c, "b", 40));
    assert_true(any(&c, "b", 60));
    jx_ctx_free(c.ctx);
}

static void wrong_answers_are_visited(void **state)
{
    chosen c = choose("", "\"b\"", "\"c\"",
                      ASKED("b", "==", "1000") "," ASKED("3*b", "==", "c"), 4);
    bool meets = false, thousand = false;

    (void)state;
    for (int i = 0; i < c.choice.count; i++) {
        meets = meets || 3 * at(&c, i, "b") == at(&c, i, "c");
        thousand = thousand || at(&c, i, "b") == 1000;
    }
    assert_true(meets);
    assert_true(thousand);
    jx_ctx_free(c.ctx);
}

static void divisors_are_hit_and_missed(void **state)
{
    chosen c = choose("", "\"b\"", "\"floordiv(b, 7)\"", "", 5);
    bool hit = false, missed = false;

    (void)state;
    for (int i = 0; i < c.choice.count; i++) {
        hit = hit || at(&c, i, "b") % 7 == 0;
        missed = missed || at(&c, i, "b") % 7 != 0;
    }
    assert_true(hit);
    assert_true(missed);
    jx_ctx_free(c.ctx);
}

static void variables_are_equal_and_not(void **state)
{
    chosen c = choose("", "\"b\"", "\"c\"", "", 4);
    bool equal = false, differ = false;

    (void)state;
    for (int i = 0; i < c.choice.count; i++) {
        equal = equal || at(&c, i, "b") == at(&c, i, "c");
        differ = differ || at(&c, i, "b") != at(&c, i, "c");
    }
    assert_true(equal);
    assert_true(differ);
    jx_ctx_free(c.ctx);
}

/* What no candidate meets, the prover finds. */
static void unusual_constraints_are_met(void **state)
{
    chosen c = choose(EQ("b", "c^2 + 1234"), "\"b\"", "\"c\"", "", 3);

    (void)state;
    assert_in_range(c.choice.count, 1, 3);
    for (int i = 0; i < c.choice.count; i++)
        assert_int_equal(at(&c, i, "b"),
                         at(&c, i, "c") * at(&c, i, "c") + 1234);
    jx_ctx_free(c.ctx);
}

static void without_sizes_there_is_nothing_to_choose(void **state)
{
    chosen none = choose("", "2", "3", "", 5);
    chosen clash = choose(GEQ("b", "4") "," GEQ("3", "b"), "\"b\"", "3", "", 5);

    (void)state;
    assert_int_equal(none.choice.count, 0);
    assert_int_equal(clash.choice.count, -1);
    assert_int_equal(clash.ctx->error.kind, JX_E_INPUT);
    jx_ctx_free(none.ctx);
    jx_ctx_free(clash.ctx);
}

static void large_arrays_are_avoided(void **state)
{
    chosen c = choose("", "\"b^6\",\"c^6\"", "3", ASKED("b", "==", "300"), 5);

    (void)state;
    for (int i = 0; i < c.choice.count; i++) {
        double n = 1;
        for (int k = 0; k < 6; k++)
            n *= (double)(at(&c, i, "b") * at(&c, i, "c"));
        assert_true(n <= 1 << 24);
    }
    jx_ctx_free(c.ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_ones_come_first),
        cmocka_unit_test(constraints_are_kept_and_their_edges_visited),
        cmocka_unit_test(wrong_answers_are_visited),
        cmocka_unit_test(divisors_are_hit_and_missed),
        cmocka_unit_test(variables_are_equal_and_not),
        cmocka_unit_test(unusual_constraints_are_met),
        cmocka_unit_test(without_sizes_there_is_nothing_to_choose),
        cmocka_unit_test(large_arrays_are_avoided),
    };

    return cmocka_run_group_tests_name("choose", tests, NULL, NULL);
}
