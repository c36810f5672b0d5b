/* test_prove_random.c - random small questions against exhaustive evaluation.
 *
 * A `true` or `false` must hold on all of a box and at points far out, a
 * witness must be one, and a contradiction must have no assignment there.
 * JX_RANDOM_QUESTIONS says how many (make prove-random: 10^6), JX_RANDOM_SEED
 * which. */
#include "prover/prover.h"
#include "prover/solver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { VARS = 3, MAX_CONSTRAINTS = 3 };

typedef struct generator {
    jx_dims *in;
    uint64_t seed;
    int nvars;
} generator;

static unsigned next(generator *g, unsigned below)
{
    g->seed = g->seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(g->seed >> 33) % below;
}

/* Small, now and then one of those that people write. */
static const jx_dim *random_number(generator *g)
{
    static const int large[] = {12, 16, 24, 32, 64, 100, 128, 1000};

    return jx_dim_int(g->in, next(g, 12) ? (int64_t)next(g, 12) - 4
                                         : large[next(g, 8)]);
}

static const jx_dim *random_dim(generator *g, int depth)
{
    static const char *names[VARS] = {"a", "b", "c"};
    unsigned what = next(g, 20);
    const jx_dim *a, *b;

    if (!depth || what < 4)
        return next(g, 3) ? jx_dim_var(g->in, names[next(g, (unsigned)g->nvars)], 0)
                          : random_number(g);
    a = random_dim(g, depth - 1);
    b = random_dim(g, depth - 1);
    /* Mostly by a number, seldom by 0. */
    if (what >= 10 && what < 16 && next(g, 3))
        b = next(g, 12) ? jx_dim_int(g->in, next(g, 40)
                                               ? 1 + (int64_t)next(g, 8)
                                               : (int64_t)next(g, 4) - 3)
                        : random_number(g);
    switch (what) {
    case 4: case 5: case 6: return jx_dim_add(g->in, a, b);
    case 7: case 8: return jx_dim_sub(g->in, a, b);
    case 9: return jx_dim_mul(g->in, a, b);
    case 10: case 11: case 12: return jx_dim_floordiv(g->in, a, b);
    case 13: case 14: case 15: return jx_dim_mod(g->in, a, b);
    case 16: case 17: return jx_dim_max(g->in, a, b);
    default: return jx_dim_min(g->in, a, b);
    }
}

static jx_constraint random_constraint(generator *g, int depth)
{
    jx_constraint c;

    c.lhs = random_dim(g, depth);
    c.rhs = next(g, 2) ? random_dim(g, depth)
                       : jx_dim_int(g->in, (int64_t)next(g, 12) - 3);
    c.relation = (jx_relation)next(g, 6);
    return c;
}

/* Constraints like those that people write, and now and then any. */
static jx_constraint random_assumption(generator *g)
{
    jx_constraint c = random_constraint(g, next(g, 4) ? 1 : 2);

    if (next(g, 3) == 0)
        c = (jx_constraint){
            jx_dim_mod(g->in, random_dim(g, 0),
                       jx_dim_int(g->in, 2 + (int64_t)next(g, 3))),
            JX_REL_EQ, jx_dim_int(g->in, 0)};
    return c;
}

typedef struct point {
    int64_t at[VARS];
} point;

static bool look_up(void *env, const jx_dim_atom *var, int64_t *value)
{
    *value = ((point *)env)->at[var->name[0] - 'a'];
    return true;
}

/* 1 holds, 0 does not, -1 no value. */
static int truth_at(const jx_constraint *c, point *p)
{
    jx_int a, b;

    if (!jx_dim_eval_wide(c->lhs, look_up, p, &a) ||
        !jx_dim_eval_wide(c->rhs, look_up, p, &b))
        return -1;
    switch (c->relation) {
    case JX_REL_EQ: return a == b;
    case JX_REL_NE: return a != b;
    case JX_REL_GE: return a >= b;
    case JX_REL_LE: return a <= b;
    case JX_REL_GT: return a > b;
    case JX_REL_LT: return a < b;
    }
    return -1;
}

static bool admits(const jx_constraint *cs, int n, point *p)
{
    for (int i = 0; i < n; i++)
        if (truth_at(&cs[i], p) != 1)
            return false;
    return true;
}

static void fail_with(const jx_constraint *cs, int n, const jx_constraint *q,
                      const jx_answer *a, const point *p, const char *what)
{
    jx_buffer text = {0};

    for (int i = 0; i < n; i++) {
        jx_constraint_print(&cs[i], &text);
        jx_buffer_puts(&text, i + 1 < n ? ", " : "");
    }
    jx_buffer_puts(&text, " |- ");
    jx_constraint_print(q, &text);
    fail_msg("%s: %s by %s but %s at a=%d b=%d c=%d", jx_buffer_text(&text),
             jx_truth_text(a->truth), a->by ? a->by : "-", what,
             (int)p->at[0], (int)p->at[1], (int)p->at[2]);
}

typedef struct box {
    const jx_constraint *cs;
    int n;
    const jx_constraint *q;
    const jx_answer *a;
    int64_t base;
} box;

static void check_point(const box *x, point *p)
{
    int truth;

    if (!admits(x->cs, x->n, p))
        return;
    if (x->a->ncore)
        fail_with(x->cs, x->n, x->q, x->a, p, "admissible");
    if ((truth = truth_at(x->q, p)) < 0)
        return;
    if (x->a->truth == JX_CONTRADICTION)
        fail_with(x->cs, x->n, x->q, x->a, p, "admissible");
    if (x->a->truth == JX_TRUE && !truth)
        fail_with(x->cs, x->n, x->q, x->a, p, "false");
    if (x->a->truth == JX_FALSE && truth)
        fail_with(x->cs, x->n, x->q, x->a, p, "true");
    for (int i = 0; i < x->a->nsuggestions; i++)
        if (!truth && truth_at(&x->a->suggestions[i], p) == 1)
            fail_with(x->cs, x->n, x->q, x->a, p, "a suggestion fails");
}

static void check_box(const box *x, int nvars, int64_t size)
{
    point p;

    for (p.at[0] = x->base; p.at[0] < x->base + size; p.at[0]++)
        for (p.at[1] = x->base;
             p.at[1] < x->base + (nvars > 1 ? size : 1); p.at[1]++)
            for (p.at[2] = x->base;
                 p.at[2] < x->base + (nvars > 2 ? size : 1); p.at[2]++)
                check_point(x, &p);
}

/* A box sees small values only. */
static void check_far_points(const box *x, generator *g)
{
    static const unsigned limits[] = {40, 300, 5000, 1000000};
    point p;

    for (int k = 0; k < 120; k++) {
        for (int i = 0; i < VARS; i++)
            p.at[i] = x->base + (int64_t)next(g, limits[next(g, 4)]);
        check_point(x, &p);
    }
}

static void check_witness(const box *x, const jx_assignment *a, int expected)
{
    point p = {{x->base, x->base, x->base}};

    for (int i = 0; i < a->count; i++) {
        p.at[a->at[i].var->name[0] - 'a'] = a->at[i].value;
        assert_true(a->at[i].value >= x->base);
    }
    if (!admits(x->cs, x->n, &p) || truth_at(x->q, &p) != expected)
        fail_with(x->cs, x->n, x->q, x->a, &p, "no such witness");
}

typedef struct tally {
    long truths[5], asked;
    double slowest, seconds;
} tally;

static void one_question(uint64_t seed, jx_solver *solver, tally *t)
{
    jx_ctx *ctx = jx_ctx_new(1 << 27);
    generator g = {.in = jx_dims_new(ctx), .seed = seed};
    jx_constraint cs[MAX_CONSTRAINTS];
    int n = 0, size;
    jx_prover_options o = {.base_is_set = true, .solver = solver,
                           .no_solver = !solver};
    struct timespec before, after;

    next(&g, 2);
    o.base = next(&g, 4) ? 1 : (int64_t)next(&g, 3) - 1;
    o.suggest = !next(&g, 4);
    g.nvars = 1 + (int)next(&g, VARS);
    size = g.nvars == 1 ? 60 : g.nvars == 2 ? 14 : 7;
    while (n < MAX_CONSTRAINTS && !next(&g, 2))
        cs[n++] = random_assumption(&g);
    jx_constraint q = random_constraint(&g, 1 + (int)next(&g, 3));

    clock_gettime(CLOCK_MONOTONIC, &before);
    jx_prover *p = jx_prover_new(ctx, g.in, cs, n, &o);
    jx_answer a = jx_prove_compare(p, q.lhs, q.relation, q.rhs);
    clock_gettime(CLOCK_MONOTONIC, &after);
    double seconds = (double)(after.tv_sec - before.tv_sec) +
                     1e-9 * (double)(after.tv_nsec - before.tv_nsec);
    t->seconds += seconds;
    if (seconds > t->slowest) {
        t->slowest = seconds;
        if (getenv("JX_RANDOM_SLOW")) {
            jx_buffer text = {0};
            for (int i = 0; i < n; i++) {
                jx_constraint_print(&cs[i], &text);
                jx_buffer_puts(&text, ", ");
            }
            jx_constraint_print(&q, &text);
            print_message("%.3f s: %s (base %d): %s\n", seconds,
                          jx_buffer_text(&text), (int)o.base,
                          jx_truth_text(a.truth));
            jx_buffer_free(&text);
        }
    }
    t->truths[a.truth]++;

    box x = {cs, n, &q, &a, o.base};
    check_box(&x, g.nvars, size);
    check_far_points(&x, &g);
    if (a.truth == JX_DEPENDS)
        assert_true(a.has_true && a.has_false);
    if (a.has_true)
        check_witness(&x, &a.when_true, 1);
    if (a.has_false)
        check_witness(&x, &a.when_false, 0);
    if (a.truth == JX_UNKNOWN)
        assert_non_null(a.why);
    jx_prover_free(p);
    jx_ctx_free(ctx);
}

static long setting(const char *name, long otherwise)
{
    const char *text = getenv(name);

    return text && *text ? atol(text) : otherwise;
}

static void run(long count, jx_solver *solver, uint64_t seed)
{
    tally t = {0};

    for (long i = 0; i < count; i++)
        one_question(seed + (uint64_t)i * 0x9e3779b97f4a7c15u, solver, &t);
    print_message("%ld questions in %.1f s (slowest %.3f s): %ld true, "
                  "%ld false, %ld depend, %ld contradictions, %ld unknown\n",
                  count, t.seconds, t.slowest, t.truths[JX_TRUE],
                  t.truths[JX_FALSE], t.truths[JX_DEPENDS],
                  t.truths[JX_CONTRADICTION], t.truths[JX_UNKNOWN]);
    /* Nearly all must be settled, or the test tests nothing. */
    assert_true(t.truths[JX_UNKNOWN] * 20 <= count);
}

static void without_the_solver_no_answer_is_wrong(void **state)
{
    (void)state;
    run(setting("JX_RANDOM_QUESTIONS", 4000), NULL,
        (uint64_t)setting("JX_RANDOM_SEED", 1));
}

static void with_the_solver_no_answer_is_wrong(void **state)
{
    jx_solver *solver = jx_solver_new(NULL);
    (void)state;

    run(setting("JX_RANDOM_QUESTIONS", 4000) / 20, solver,
        (uint64_t)setting("JX_RANDOM_SEED", 1) + 77);
    jx_solver_free(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_the_solver_no_answer_is_wrong),
        cmocka_unit_test(with_the_solver_no_answer_is_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
