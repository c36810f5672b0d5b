/* test_prove.c - the rungs of the prover, its answers and their parts. */
#include "prover/prover.h"
#include "prover/solver.h"
#include "prover/work.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A question behind its constraints: "b >= 2; a >= b |- a > 1" */
typedef struct asked {
    jx_ctx *ctx;
    jx_dims *dims;
    jx_constraint constraints[256], question;
    int n;
    jx_prover *prover;
    jx_answer answer;
} asked;

static jx_constraint read(jx_dims *dims, const char *text, size_t length)
{
    const char *expected;
    jx_constraint c;
    size_t at;

    if (!jx_constraint_parse(dims, text, length, 0, &c, &at, &expected))
        fail_msg("%.*s: at %zu expected %s", (int)length, text, at, expected);
    return c;
}

static asked ask_with(const char *text, jx_prover_options o)
{
    asked q = {.ctx = jx_ctx_new(0)};
    const char *turn = strstr(text, "|-"), *at = text;

    q.dims = jx_dims_new(q.ctx);
    while (turn && at < turn) {
        const char *end = strchr(at, ';');
        if (!end || end > turn)
            end = turn;
        q.constraints[q.n++] = read(q.dims, at, (size_t)(end - at));
        at = end + 1;
    }
    at = turn ? turn + 2 : text;
    q.question = read(q.dims, at, strlen(at));
    q.prover = jx_prover_new(q.ctx, q.dims, q.constraints, q.n, &o);
    assert_non_null(q.prover);
    q.answer = jx_prove_compare(q.prover, q.question.lhs, q.question.relation,
                                q.question.rhs);
    return q;
}

static void done(asked *q)
{
    jx_prover_free(q->prover);
    jx_ctx_free(q->ctx);
}

static void expect_base(const char *text, int64_t base, jx_truth truth,
                        const char *by)
{
    asked q = ask_with(text, (jx_prover_options){.base = base,
                                                 .base_is_set = true,
                                                 .no_solver = true});

    if (q.answer.truth != truth || (by && strcmp(q.answer.by, by)))
        fail_msg("%s: %s by %s (%s)", text, jx_truth_text(q.answer.truth),
                 q.answer.by ? q.answer.by : "-",
                 q.answer.why ? q.answer.why : "");
    done(&q);
}

static void expect(const char *text, jx_truth truth, const char *by)
{
    expect_base(text, 1, truth, by);
}

static void what_simplifies_to_a_number_is_algebra(void **state)
{
    (void)state;
    expect("4*(a//4) == a - a%4", JX_TRUE, "algebra");
    expect("max(0, t-2) + min(t, 2) == t", JX_TRUE, "algebra");
    expect("-floordiv(-h, 2) == floordiv(h-1, 2) + 1", JX_TRUE, "algebra");
    expect("floordiv(floordiv(h, 2), 2) == floordiv(h, 4)", JX_TRUE, "algebra");
    expect("mod(a + b, b) == mod(a, b)", JX_TRUE, "algebra");
    expect("mod(a*b, c) == mod(mod(a, c)*mod(b, c), c)", JX_TRUE, "algebra");
    expect("max(a, b) + min(a, b) == a + b", JX_TRUE, "algebra");
    expect("max(a, b)^2 + min(a, b)^2 == a^2 + b^2", JX_TRUE, "algebra");
    expect("floordiv(6*h + 4, 4) == h + floordiv(2*h + 4, 4)", JX_TRUE,
           "algebra");
    expect("mod(127*b, 128) == mod(-b, 128)", JX_TRUE, "algebra");
    expect("a + 1 == a", JX_FALSE, "algebra");
}

static void intervals_decide_where_they_can(void **state)
{
    (void)state;
    expect("2*a + b >= 3", JX_TRUE, "bounds");
    expect("mod(n, 4) < 4", JX_TRUE, "bounds");
    expect("a >= 5 |- a <= 4", JX_FALSE, "bounds");
    /* beyond 2^53, where floats can't tell neighbours apart */
    expect("a <= 9007199254740993 |- a <= 9007199254740993", JX_TRUE, "bounds");
    expect("a >= 9007199254740995 |- a < 9007199254740995", JX_FALSE, "bounds");
}

static void jax_is_wrong_where_we_are_not(void **state)
{
    (void)state;
    expect("a <= 9007199254740993 |- a <= 9007199254740992", JX_DEPENDS, NULL);
    expect("max(min(a-5, 2), -3)^2 >= 4", JX_DEPENDS, NULL);
    expect("mod(x, 5) == 0; x <= 40 |- floordiv(x, 5) != 1", JX_DEPENDS, NULL);
    expect("floordiv(a-b, 2)^2 >= 0", JX_TRUE, NULL);
    expect("floordiv(a-b, 2)*mod(a, 3) >= -5", JX_DEPENDS, NULL);
    expect("b == 1", JX_DEPENDS, NULL);
}

static void case_splits_prove_what_intervals_cannot(void **state)
{
    (void)state;
    expect("a*b >= a", JX_TRUE, "elementary");
    expect("n^2 >= n", JX_TRUE, "elementary");
    expect("b >= 2 |- a*b > a", JX_TRUE, "elementary");
    expect("a >= b; c >= d |- a*c >= b*d", JX_TRUE, "elementary");
    expect("floordiv(t*t, 4) == floordiv(t, 2)*floordiv(t+1, 2)", JX_TRUE,
           "elementary");
    expect("mod(a, b*c) == 0 |- mod(a, b) == 0", JX_TRUE, "elementary");
    expect("mod(a, 3) == 0; mod(a, 4) == 0 |- mod(a, 12) == 0", JX_TRUE,
           "elementary");
    expect("a*c == b*c |- a == b", JX_TRUE, "elementary");
    expect("a*a != 4*b + 3", JX_TRUE, "elementary");
    expect("a <= 1000 |- a*a != 2*b*b", JX_TRUE, "elementary");
    expect("x^2 + 2 >= 3*x", JX_TRUE, "elementary");
    expect("a >= c |- a*floordiv(a, b) >= c*floordiv(c, b)", JX_TRUE,
           "elementary");
    expect("max(max(a, b), c) == max(a, max(b, c))", JX_TRUE, "elementary");
}

static void the_base_matters(void **state)
{
    (void)state;
    expect_base("a*b >= a", 1, JX_TRUE, NULL);
    expect_base("a*b >= a", 0, JX_DEPENDS, NULL);
    expect_base("a >= 0", -3, JX_DEPENDS, NULL);
    expect_base("a^2 >= a", -3, JX_TRUE, NULL);
}

static void assignments_where_a_divisor_is_0_do_not_count(void **state)
{
    (void)state;
    expect("floordiv(a, b - 1) >= 0", JX_TRUE, NULL);
    expect_base("mod(a, b) < b", 0, JX_TRUE, NULL);
    expect_base("floordiv(a*b, b) == a", 0, JX_TRUE, NULL);
    expect("floordiv(a, b - b) == 1", JX_CONTRADICTION, NULL);
    expect("b == 1 |- mod(a, b - 1) >= 0", JX_CONTRADICTION, NULL);
}

static void check_holds(const asked *q, const jx_assignment *a, int64_t b_is)
{
    assert_int_equal(a->count, 2);
    assert_string_equal(a->at[0].var->name, "a");
    assert_string_equal(a->at[1].var->name, "b");
    assert_int_equal(a->at[1].value, b_is);
    (void)q;
}

static void what_depends_has_a_witness_for_each(void **state)
{
    asked q = ask_with("a*b >= 2*a", (jx_prover_options){0});
    (void)state;

    assert_int_equal(q.answer.truth, JX_DEPENDS);
    check_holds(&q, &q.answer.when_true, 2);
    check_holds(&q, &q.answer.when_false, 1);
    done(&q);
}

static void expect_suggestion(const char *text, const char *suggestion)
{
    asked q = ask_with(text, (jx_prover_options){.suggest = true});
    jx_buffer all = {0};

    assert_int_equal(q.answer.truth, JX_DEPENDS);
    for (int i = 0; i < q.answer.nsuggestions; i++) {
        jx_constraint_print(&q.answer.suggestions[i], &all);
        jx_buffer_puts(&all, "; ");
    }
    for (int i = 0; i < q.answer.ntogether; i++) {
        jx_buffer_puts(&all, i ? " and " : "");
        jx_constraint_print(&q.answer.together[i], &all);
    }
    if (!strstr(jx_buffer_text(&all), suggestion))
        fail_msg("%s: suggests %s", text, jx_buffer_text(&all));
    jx_buffer_free(&all);
    done(&q);
}

static void suggestions_are_bounds_multiples_and_orders(void **state)
{
    (void)state;
    expect_suggestion("a*b >= 2*a", "b >= 2");
    /* the least bound, wherever it is */
    expect_suggestion("2*n > 2147483648", "n >= 1073741825");
    expect_suggestion("m*n > 2147483648", "m >= 2147483649");
    expect_suggestion("b >= 12 |- 3*b - 1 >= 3000000000", "b >= 1000000001");
    expect_suggestion("floordiv(h - 7, 2) <= 123456", "h <= 246920");
    /* in words that JAX takes: one term left of ==, and no other relation */
    /* The constraint leaves out c == 1 there; beside n != 3, the next value
       that there is turns it true. */
    expect_suggestion("c - 2*b + a == 4 |- 130 - c - a <= a", "a >= 64");
    expect_suggestion("n != 3 |- n >= 4", "n >= 4");
    expect_suggestion("a + b == c", "a == c - b");
    expect_suggestion("3 == mod(a + b, 5)", "mod(b + a, 5) == 3");
    expect_suggestion("a != b", "a >= b + 1");
    expect_suggestion("mod(a + b, 4) != 0", "mod(b + a, 4) >= 1");
    expect_suggestion("n <= 16", "n <= 16");
    expect_suggestion("mod(b, 6) == 0", "mod(b, 6) == 0");
    expect_suggestion("floordiv(n, 4)*4 == n", "mod(n, 4) == 0");
    expect_suggestion("a - b >= 0", "a >= b");
    expect_suggestion("a*b == a", "b == 1");
    expect_suggestion("c + b >= 8", "c + b >= 8");
    /* several at once, none that is not needed */
    expect_suggestion("3*b*h*w == 768*b*floordiv(h, 16)*floordiv(w, 16)",
                      "mod(h, 16) == 0 and mod(w, 16) == 0");
    expect_suggestion(
        "mod(w, 8) == 0 |- h*w == 32*floordiv(h, 4)*floordiv(w, 8)",
        "mod(h, 4) == 0");
    expect_suggestion(
        "floordiv(h, 2)*floordiv(w, 3)*floordiv(d, 4)*24 == h*w*d",
        "mod(d, 4) == 0 and mod(h, 2) == 0 and mod(w, 3) == 0");
}

static void a_contradiction_names_a_minimal_core(void **state)
{
    asked q = ask_with("z >= 3; a1 >= a3 + 1; a3 >= a2 + 4; y == 2*z; "
                       "a1 <= a4 + 2; a4 <= a2 + 2 |- a1 >= a2",
                       (jx_prover_options){.no_solver = true});
    (void)state;

    assert_int_equal(q.answer.truth, JX_CONTRADICTION);
    assert_int_equal(q.answer.ncore, 4);
    assert_true(q.answer.core_is_minimal);
    for (int i = 0; i < 4; i++)
        assert_int_equal(q.answer.core[i], i < 2 ? i + 1 : i + 2);
    done(&q);
    expect("2*a == 2*b + 1 |- a >= 1", JX_CONTRADICTION, NULL);
    expect("a^2 == 2 |- a >= 1", JX_CONTRADICTION, NULL);
    expect("a <= 0 |- a >= b", JX_CONTRADICTION, NULL);
    expect("a*b == 7; a >= 2; b >= 2; a <= 7 |- a == b", JX_CONTRADICTION,
           NULL);
}

/* "x0 >= x1 + 1; x1 >= x2 + 1; ... |- " and a question, in `to`. */
static void write_chain(jx_buffer *to, int n, const char *question)
{
    jx_buffer_clear(to);
    for (int i = 0; i < n; i++)
        jx_buffer_printf(to, "%sx%d >= x%d + 1", i ? "; " : "", i, i + 1);
    jx_buffer_printf(to, " |- %s", question);
}

static void more_constraints_and_variables_than_a_case_holds(void **state)
{
    jx_buffer text = {0};
    (void)state;

    write_chain(&text, 30, "x0 >= 31");
    expect(jx_buffer_text(&text), JX_TRUE, "elementary");
    write_chain(&text, 30, "x0 >= x29");
    expect(jx_buffer_text(&text), JX_TRUE, "elementary");
    write_chain(&text, 200, "x0 >= x1");
    expect(jx_buffer_text(&text), JX_TRUE, "elementary");
    write_chain(&text, 200, "x0 >= 202");
    asked q =
        ask_with(jx_buffer_text(&text), (jx_prover_options){.no_solver = true});
    assert_true(q.answer.has_true);
    assert_true(q.answer.has_false);
    assert_int_equal(q.answer.when_true.count, 201);
    done(&q);

    /* The contradiction is among the first ones; all others
     * are as they were. */
    write_chain(&text, 200, "x7 >= 0");
    jx_buffer_clear(&text);
    jx_buffer_puts(&text, "p >= q + 1; q >= p; ");
    for (int i = 0; i < 200; i++)
        jx_buffer_printf(&text, "y%d >= z%d; ", i, i);
    jx_buffer_puts(&text, "p*q >= 1 |- p >= 1");
    q = ask_with(jx_buffer_text(&text), (jx_prover_options){.no_solver = true});
    assert_int_equal(q.answer.truth, JX_CONTRADICTION);
    assert_int_equal(q.answer.ncore, 2);
    assert_int_equal(q.answer.core[0], 0);
    assert_int_equal(q.answer.core[1], 1);
    assert_true(q.answer.core_is_minimal);
    done(&q);
    jx_buffer_free(&text);
}

/* Witnesses hold for all constraints, those of other variables, too. */
static void a_witness_has_a_value_for_every_variable(void **state)
{
    asked q = ask_with("y == 2*z; mod(z, 3) == 0; x >= 4 |- x >= 9",
                       (jx_prover_options){.no_solver = true});
    (void)state;

    assert_int_equal(q.answer.truth, JX_DEPENDS);
    for (int k = 0; k < 2; k++) {
        const jx_assignment *a = k ? &q.answer.when_true : &q.answer.when_false;
        assert_int_equal(a->count, 3);
        assert_string_equal(a->at[0].var->name, "x");
        assert_int_equal(a->at[0].value >= 9, k);
        assert_string_equal(a->at[1].var->name, "y");
        assert_string_equal(a->at[2].var->name, "z");
        assert_int_equal(a->at[1].value, 2 * a->at[2].value);
        assert_int_equal(a->at[2].value % 3, 0);
    }
    done(&q);
}

static void witnesses_far_out_are_found(void **state)
{
    (void)state;
    expect("n > 2147483648", JX_DEPENDS, "search");
    expect("2*n == 2147483648", JX_DEPENDS, "search");
    expect("a >= 4*d + m; a <= 4*d + m; m <= 3 |- a - 4*d <= 2", JX_DEPENDS,
           "search");
    expect("4*d == a - m; m <= 3 |- m <= 2", JX_DEPENDS, "search");
    expect("m*n > 2147483648", JX_DEPENDS, "search");
    expect("a >= 9223372036854775000 |- a >= 9223372036854775806", JX_DEPENDS,
           NULL);
}

static void linear_questions_are_eliminated(void **state)
{
    (void)state;
    expect("2*a + 3*b <= 10 |- 2*b - a <= 3", JX_TRUE, "elementary");
    expect("2*a + 3*b >= 10 |- a + b >= 4", JX_TRUE, "elementary");
    expect("a + b <= c; b >= a |- 2*a <= c", JX_TRUE, "elementary");
    expect("2*a >= 2*b + 3 |- a >= b + 2", JX_TRUE, "elementary");
    expect("2*a == 2*b + 1 |- a >= b", JX_CONTRADICTION, NULL);
    expect("3*a >= 2*b; 3*b >= 2*c; c >= 9*d |- a >= 4*d", JX_TRUE,
           "elementary");
    expect("3*a >= 2*b; 3*b >= 2*c; c >= 9*d |- a >= 4*d + 1", JX_DEPENDS,
           NULL);
    expect("4611686018427387904*a >= 4611686018427387904*b |- a >= b", JX_TRUE,
           NULL);
    expect("9223372036854775807*a >= 9223372036854775807*b + c |- a >= b",
           JX_TRUE, NULL);
}

static void one_prover_answers_many_questions_alike(void **state)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_dims *in = jx_dims_new(ctx);
    jx_constraint c = read(in, "mod(b, 4) == 0", 14);
    jx_prover *p = jx_prover_new(ctx, in, &c, 1, NULL);
    const jx_dim *b = jx_dim_var(in, "b", 0), *two = jx_dim_int(in, 2);
    const jx_dim *zero = jx_dim_int(in, 0);
    (void)state;

    for (int i = 0; i < 2000; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", i % 50);
        const jx_dim *v = jx_dim_var(in, name, 0);
        assert_int_equal(jx_prove_divides(p, two, b).truth, JX_TRUE);
        assert_int_equal(jx_prove_divides(p, two, v).truth, JX_DEPENDS);
        assert_int_equal(jx_prove_compare(p, v, JX_REL_NE, zero).truth,
                         JX_TRUE);
        assert_int_equal(
            jx_prove_compare(p, jx_dim_sub(in, b, two), JX_REL_GE, zero).truth,
            JX_TRUE);
    }
    assert_int_equal(jx_prove_consistent(p).truth, JX_TRUE);
    assert_int_equal(jx_prove_consistent(p).when_true.at[0].value, 4);
    jx_prover_free(p);
    jx_ctx_free(ctx);
}

static void variables_of_two_scopes_are_two(void **state)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_dims *in = jx_dims_new(ctx);
    jx_prover *p = jx_prover_new(ctx, in, NULL, 0, NULL);
    const jx_dim *a = jx_dim_var(in, "a", 0), *b = jx_dim_var(in, "a", 1);
    (void)state;

    assert_int_equal(jx_prove_compare(p, a, JX_REL_EQ, a).truth, JX_TRUE);
    assert_int_equal(jx_prove_compare(p, a, JX_REL_EQ, b).truth, JX_DEPENDS);
    jx_prover_free(p);
    jx_ctx_free(ctx);
}

static void overflow_is_undecided_and_says_so(void **state)
{
    asked q = ask_with("(a*170141183460469231731687303715884105727)*b >= "
                       "-170141183460469231731687303715884105727*c*a",
                       (jx_prover_options){.no_solver = true});
    (void)state;

    assert_true(q.answer.truth == JX_TRUE || q.answer.why);
    done(&q);

    jx_ctx *ctx = jx_ctx_new(0);
    jx_dims *in = jx_dims_new(ctx);
    jx_prover *p = jx_prover_new(ctx, in, NULL, 0, NULL);
    jx_answer a = jx_prove_compare(p, NULL, JX_REL_EQ, jx_dim_int(in, 1));
    assert_int_equal(a.truth, JX_UNKNOWN);
    assert_non_null(strstr(a.why, "128 bits"));
    jx_prover_free(p);
    jx_ctx_free(ctx);
}

/* Symmetric inequalities: what case splits leave to Z3. */
static const char hard[] = "a*a + b*b + c*c + d*d >= a*b + b*c + c*d + d*a";

static void the_solver_is_started_only_when_needed(void **state)
{
    jx_solver *solver = jx_solver_new(NULL);
    asked q;
    (void)state;

    q = ask_with("a*b >= a", (jx_prover_options){.solver = solver});
    assert_int_equal(q.answer.truth, JX_TRUE);
    assert_int_equal(jx_solver_count(solver), 0);
    assert_null(jx_solver_version(solver));
    done(&q);
    q = ask_with(hard, (jx_prover_options){.no_solver = true});
    bool alone = q.answer.truth == JX_TRUE;
    done(&q);
    q = ask_with(hard, (jx_prover_options){.solver = solver});
    assert_int_equal(q.answer.truth, JX_TRUE);
    if (!alone) {
        assert_string_equal(q.answer.by, "z3");
        assert_true(jx_solver_count(solver) > 0);
        assert_non_null(jx_solver_version(solver));
    }
    done(&q);
    jx_solver_free(solver);
}

static void the_solver_answers_unsat_sat_and_errors(void **state)
{
    jx_solver *solver = jx_solver_new(NULL);
    jx_buffer text = {0};
    (void)state;

    for (int i = 0; i < 3; i++) {
        assert_int_equal(jx_solver_check(solver,
                                         "(declare-const a Int)"
                                         "(assert (= (* a a) 2))",
                                         100000, NULL, &text),
                         JX_SOLVER_UNSAT);
        assert_int_equal(jx_solver_check(solver,
                                         "(declare-const a Int)"
                                         "(assert (= (* a a a) (- 27)))",
                                         100000, NULL, &text),
                         JX_SOLVER_SAT);
        assert_string_equal(jx_buffer_text(&text), "a=-3");
        assert_int_equal(
            jx_solver_check(solver, "(assert (= x", 100000, NULL, &text),
            JX_SOLVER_UNKNOWN);
        assert_non_null(strstr(jx_buffer_text(&text), "error"));
    }
    assert_int_equal(jx_solver_count(solver), 9);
    jx_buffer_free(&text);
    jx_solver_free(solver);
}

static void a_script_names_quotient_and_remainder(void **state)
{
    asked q =
        ask_with("mod(n, 2) == 0 |- floordiv(n, m - 3) >= args[0].shape[1]",
                 (jx_prover_options){.no_solver = true});
    jx_buffer text = {0};
    (void)state;

    jx_prove_smt2(q.prover, q.question.lhs, q.question.relation, q.question.rhs,
                  true, &text);
    const char *s = jx_buffer_text(&text);
    assert_non_null(strstr(s, "quotient."));
    assert_non_null(strstr(s, "remainder."));
    assert_non_null(strstr(s, "is args[0].shape[1]"));
    assert_non_null(strstr(s, "(check-sat)"));
    jx_buffer_free(&text);
    done(&q);
}

static void constraints_are_read_and_refused_in_place(void **state)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_dims *in = jx_dims_new(ctx);
    jx_constraint c;
    const char *expected;
    size_t at;
    (void)state;

    assert_true(jx_constraint_parse(in, "a<=b", 4, 0, &c, &at, &expected));
    assert_int_equal(c.relation, JX_REL_LE);
    assert_true(jx_constraint_parse(in, "a < b", 5, 0, &c, &at, &expected));
    assert_int_equal(c.relation, JX_REL_LT);
    assert_false(jx_constraint_parse(in, "a = b", 5, 0, &c, &at, &expected));
    assert_int_equal(at, 2);
    assert_false(jx_constraint_parse(in, "a >= ", 5, 0, &c, &at, &expected));
    assert_int_equal(at, 5);
    assert_false(
        jx_constraint_parse(in, "a >= b >= c", 11, 0, &c, &at, &expected));
    assert_int_equal(at, 7);
    assert_false(jx_constraint_parse(in, "a", 1, 0, &c, &at, &expected));
    assert_int_equal(at, 1);
    jx_ctx_free(ctx);
}

/* -------------------------------------------------------------------------
 * Simplification against evaluation
 * ---------------------------------------------------------------------- */

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

static const jx_dim *random_dim(jx_dims *in, uint64_t *seed, int depth)
{
    static const char *names[] = {"a", "b", "c"};
    unsigned what = (unsigned)next(seed) % 10;
    const jx_dim *a, *b;

    if (!depth || what == 0)
        return next(seed) % 2 ? jx_dim_var(in, names[next(seed) % 3], 0)
                              : jx_dim_int(in, (int64_t)(next(seed) % 11) - 4);
    a = random_dim(in, seed, depth - 1);
    b = random_dim(in, seed, depth - 1);
    switch (what) {
    case 1: return jx_dim_sub(in, a, b);
    case 2: return jx_dim_mul(in, a, b);
    case 3:
    case 4:
    case 5: return jx_dim_literal(in, JX_ATOM_FLOORDIV, a, b);
    case 6: return jx_dim_literal(in, JX_ATOM_MOD, a, b);
    case 7: return jx_dim_max(in, a, b);
    case 8: return jx_dim_min(in, a, b);
    default: return jx_dim_add(in, a, b);
    }
}

static bool look_up(void *env, const jx_dim_atom *var, int64_t *value)
{
    *value = ((int64_t *)env)[var->name[0] - 'a'];
    return true;
}

static void simplifying_changes_no_value(void **state)
{
    uint64_t seed = 11;
    long compared = 0;
    (void)state;

    for (int i = 0; i < 20000; i++) {
        jx_ctx *ctx = jx_ctx_new(0);
        jx_dims *in = jx_dims_new(ctx);
        const jx_dim *d = random_dim(in, &seed, 4), *simple;
        int64_t base = (int64_t)(next(&seed) % 3) - 1;
        jx_work work;

        assert_true(jx_work_init(&work, NULL, base));
        simple = jx_work_simplify(&work, jx_work_import(&work, d));
        for (int k = 0; simple && k < 12; k++) {
            int64_t at[3];
            jx_int x, y;

            for (int j = 0; j < 3; j++)
                at[j] = base + (int64_t)(next(&seed) % 9);
            if (!jx_dim_eval_wide(d, look_up, at, &x))
                continue;
            assert_true(jx_dim_eval_wide(simple, look_up, at, &y));
            if (x != y) {
                jx_buffer text = {0};
                jx_dim_print(d, &text);
                jx_buffer_puts(&text, "  became  ");
                jx_dim_print(simple, &text);
                fail_msg("%s", jx_buffer_text(&text));
            }
            compared++;
        }
        jx_work_free(&work);
        jx_ctx_free(ctx);
    }
    assert_true(compared > 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_simplifies_to_a_number_is_algebra),
        cmocka_unit_test(intervals_decide_where_they_can),
        cmocka_unit_test(jax_is_wrong_where_we_are_not),
        cmocka_unit_test(case_splits_prove_what_intervals_cannot),
        cmocka_unit_test(the_base_matters),
        cmocka_unit_test(assignments_where_a_divisor_is_0_do_not_count),
        cmocka_unit_test(what_depends_has_a_witness_for_each),
        cmocka_unit_test(suggestions_are_bounds_multiples_and_orders),
        cmocka_unit_test(a_contradiction_names_a_minimal_core),
        cmocka_unit_test(more_constraints_and_variables_than_a_case_holds),
        cmocka_unit_test(a_witness_has_a_value_for_every_variable),
        cmocka_unit_test(witnesses_far_out_are_found),
        cmocka_unit_test(linear_questions_are_eliminated),
        cmocka_unit_test(one_prover_answers_many_questions_alike),
        cmocka_unit_test(variables_of_two_scopes_are_two),
        cmocka_unit_test(overflow_is_undecided_and_says_so),
        cmocka_unit_test(the_solver_is_started_only_when_needed),
        cmocka_unit_test(the_solver_answers_unsat_sat_and_errors),
        cmocka_unit_test(a_script_names_quotient_and_remainder),
        cmocka_unit_test(constraints_are_read_and_refused_in_place),
        cmocka_unit_test(simplifying_changes_no_value),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
