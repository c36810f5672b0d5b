/* search.c - see search.h. */
#include "prover/search.h"

#include <stdlib.h>
#include <string.h>

enum {
    SHELL_POINTS = 2500,
    NEAR_POINTS = 2500,
    SPREAD = 16, /* variables whose scattered values differ */
    SURE_PASSES = 8,
    MAX_PASSES = 16,
};

/* -------------------------------------------------------------------------
 * Evaluation
 * ---------------------------------------------------------------------- */

typedef struct env {
    const jx_search *search;
    const jx_point *point;
} env;

static int index_of(const jx_search *s, const jx_dim_atom *var)
{
    for (int i = 0; i < s->nvars; i++)
        if (s->vars[i] == var)
            return i;
    return -1;
}

static bool look_up(void *data, const jx_dim_atom *var, jx_int *value)
{
    const env *e = data;
    int i = index_of(e->search, var);

    if (i < 0)
        return false;
    *value = e->point->at[i];
    return true;
}

static bool evaluate(const jx_search *s, const jx_dim *d, const jx_point *point,
                     jx_int *value)
{
    env e = {s, point};

    return jx_dim_eval_exact(d, look_up, &e, value);
}

bool jx_search_holds(const jx_search *s, const jx_constraint *c,
                     const jx_point *point, bool *holds)
{
    jx_int a, b;

    if (!evaluate(s, c->lhs, point, &a) || !evaluate(s, c->rhs, point, &b))
        return false;
    *holds = jx_relation_holds(a, c->relation, b);
    return true;
}

bool jx_search_admits(const jx_search *s, const jx_point *point)
{
    bool holds;

    for (int i = 0; i < s->nvars; i++)
        if (point->at[i] < s->base)
            return false;
    for (int i = 0; i < s->nconstraints; i++)
        if (!jx_search_holds(s, &s->constraints[i], point, &holds) || !holds)
            return false;
    return true;
}

/* -------------------------------------------------------------------------
 * What the constraints say about where to look
 * ---------------------------------------------------------------------- */

static void add_var(jx_search *s, const jx_dim_atom *var)
{
    int i;

    if (index_of(s, var) >= 0)
        return;
    if (s->nvars == JX_SEARCH_VARS) {
        s->too_many = true;
        return;
    }
    for (i = s->nvars++; i > 0; i--) {
        int c = strcmp(s->vars[i - 1]->name, var->name);
        if (c < 0 || (c == 0 && s->vars[i - 1]->scope < var->scope))
            break;
        s->vars[i] = s->vars[i - 1];
    }
    s->vars[i] = var;
}

static void add_vars(jx_search *s, const jx_dim *d)
{
    int count;
    const jx_dim_atom *const *vars = jx_dim_vars(s->dims, d, &count);

    for (int i = 0; i < count; i++)
        add_var(s, vars[i]);
}

/* So far out do candidates go: sums of a few of them fit 128 bits. */
static const jx_int most = (jx_int)1 << 124;

/* A value that a variable may have, and its negation. */
static bool fits(jx_int v)
{
    return v >= -most && v <= most;
}

static void add_value(jx_search *s, jx_int value)
{
    if (!fits(value))
        return;
    for (int i = 0; i < s->nvalues; i++)
        if (s->values[i] == value)
            return;
    if (s->nvalues < (int)(sizeof s->values / sizeof *s->values))
        s->values[s->nvalues++] = value;
}

static void add_values(jx_search *s, const jx_dim *d)
{
    for (int i = 0; i < jx_dim_nterms(d); i++) {
        const jx_dim_term *t = &jx_dim_terms(d)[i];
        jx_int k = fits(t->coefficient) ? t->coefficient : 0;

        for (int more = -1; k && more <= 1; more++)
            add_value(s, (k < 0 ? -k : k) + more);
        for (int j = 0; j < t->nfactors; j++)
            if (t->factors[j].atom->kind != JX_ATOM_VAR) {
                add_values(s, t->factors[j].atom->a);
                add_values(s, t->factors[j].atom->b);
            }
    }
}

/* The variable of k*x + c, or NULL. */
static const jx_dim_atom *lone_variable(const jx_dim *d, jx_int *k, jx_int *c)
{
    const jx_dim_term *t = jx_dim_terms(d);
    int n = jx_dim_nterms(d);

    if (n < 1 || n > 2 || t[0].nfactors != 1 || t[0].factors[0].power != 1 ||
        t[0].factors[0].atom->kind != JX_ATOM_VAR || (n == 2 && t[1].nfactors))
        return NULL;
    *k = t[0].coefficient;
    *c = n == 2 ? t[1].coefficient : 0;
    return t[0].factors[0].atom;
}

/* k*x + c >= 0 */
static void use_bound(jx_search *s, int i, jx_int k, jx_int c)
{
    jx_int q, r;

    if (!fits(c))
        return;
    if (k > 0 && jx_int_floordiv(c, k, &q, &r) && fits(q) && -q > s->low[i])
        s->low[i] = -q;
    if (k < 0 && jx_int_floordiv(c, -k, &q, &r) && fits(q) && q < s->high[i])
        s->high[i] = q;
}

static void use_inequality(jx_search *s, const jx_constraint *c)
{
    bool less = c->relation == JX_REL_LE || c->relation == JX_REL_LT;
    bool strict = c->relation == JX_REL_GT || c->relation == JX_REL_LT;
    const jx_dim *d = less ? jx_dim_sub(s->dims, c->rhs, c->lhs)
                           : jx_dim_sub(s->dims, c->lhs, c->rhs);
    jx_int k, n;
    const jx_dim_atom *x = d ? lone_variable(d, &k, &n) : NULL;

    if (x && fits(n) && c->relation != JX_REL_NE && c->relation != JX_REL_EQ)
        use_bound(s, index_of(s, x), k, n - strict);
}

/* mod(x + c, m) == r: x goes in steps of m. */
static void use_multiple(jx_search *s, const jx_constraint *c)
{
    const jx_dim_term *t = jx_dim_terms(c->lhs);
    int64_t m, r;
    jx_int k, n, q, rest;
    const jx_dim_atom *x;
    int i;

    if (c->relation != JX_REL_EQ || jx_dim_nterms(c->lhs) != 1 ||
        t->nfactors != 1 || t->factors[0].power != 1 || t->coefficient != 1 ||
        t->factors[0].atom->kind != JX_ATOM_MOD || !jx_dim_is_int(c->rhs, &r) ||
        !jx_dim_is_int(t->factors[0].atom->b, &m) || m < 2 || m > 1 << 20)
        return;
    x = lone_variable(t->factors[0].atom->a, &k, &n);
    i = x ? index_of(s, x) : -1;
    if (i < 0 || k != 1 || s->step[i] % m == 0)
        return;
    jx_int step = s->step[i] * m;
    if (step > 1 << 24 || s->low[i] > most - step)
        return;
    /* The first value from low on that fits; with two steps found by trying. */
    for (jx_int v = s->low[i]; v < s->low[i] + step; v += s->step[i])
        if (fits(n) && jx_int_floordiv(v + n - r, m, &q, &rest) && !rest) {
            s->low[i] = v;
            s->step[i] = step;
            return;
        }
}

static jx_int lone_coefficient(const jx_dim *d, const jx_dim_atom *x)
{
    for (int i = 0; i < jx_dim_nterms(d); i++) {
        const jx_dim_term *t = &jx_dim_terms(d)[i];
        if (t->nfactors == 1 && t->factors[0].atom == x &&
            t->factors[0].power == 1)
            return t->coefficient;
    }
    return 0;
}

static bool mentions(jx_search *s, const jx_dim *d, const jx_dim_atom *x)
{
    int count;
    const jx_dim_atom *const *vars = jx_dim_vars(s->dims, d, &count);

    for (int i = 0; i < count; i++)
        if (vars[i] == x)
            return true;
    return false;
}

/* x == e where x occurs nowhere else in it and nothing else is computed from
 * x or computes e. */
static void use_equation(jx_search *s, const jx_constraint *c)
{
    const jx_dim *d =
        c->relation == JX_REL_EQ ? jx_dim_sub(s->dims, c->lhs, c->rhs) : NULL;

    for (int i = s->nvars - 1; d && i >= 0; i--) {
        const jx_dim_atom *x = s->vars[i];
        jx_int k = lone_coefficient(d, x);
        const jx_dim *e, *kx;
        bool free = !s->given[i];

        if (k != 1 && k != -1)
            continue;
        kx = jx_dim_of_atom(s->dims, x);
        e = k == 1 ? jx_dim_sub(s->dims, kx, d) : jx_dim_add(s->dims, kx, d);
        if (!e || mentions(s, e, x))
            continue;
        for (int j = 0; j < s->nvars; j++)
            free &= !s->given[j] || (!mentions(s, s->given[j], x) &&
                                     !mentions(s, e, s->vars[j]));
        if (free) {
            s->given[i] = e;
            return;
        }
    }
}

static int by_value(const void *a, const void *b)
{
    jx_int x = *(const jx_int *)a, y = *(const jx_int *)b;

    return (x > y) - (x < y);
}

void jx_search_init(jx_search *s, jx_dims *dims, int64_t base,
                    const jx_constraint *constraints, int nconstraints,
                    const jx_constraint *question)
{
    s->nvars = s->nvalues = 0;
    s->too_many = false;
    s->dims = dims;
    s->base = base;
    s->constraints = constraints;
    s->nconstraints = nconstraints;
    for (int i = 0; i <= nconstraints; i++) {
        const jx_constraint *c = i < nconstraints ? &constraints[i] : question;

        if (!c)
            continue;
        add_vars(s, c->lhs);
        add_vars(s, c->rhs);
        add_values(s, c->lhs);
        add_values(s, c->rhs);
    }
    qsort(s->values, (size_t)s->nvalues, sizeof *s->values, by_value);
    for (int i = 0; i < s->nvars; i++) {
        s->given[i] = NULL;
        s->low[i] = base;
        s->high[i] = most;
        s->step[i] = 1;
    }
    if (s->too_many)
        return;
    for (int i = 0; i < nconstraints; i++)
        use_inequality(s, &constraints[i]);
    for (int i = 0; i < nconstraints; i++)
        use_multiple(s, &constraints[i]);
    for (int i = 0; i < nconstraints; i++)
        use_equation(s, &constraints[i]);
}

/* -------------------------------------------------------------------------
 * Candidates
 * ---------------------------------------------------------------------- */

/* Fills in what is computed; false if that has no value or leaves its range. */
static bool complete(const jx_search *s, jx_point *p)
{
    jx_int v;

    for (int i = 0; i < s->nvars; i++) {
        if (!s->given[i])
            continue;
        if (!evaluate(s, s->given[i], p, &v) || !fits(v))
            return false;
        p->at[i] = v;
    }
    return true;
}

static uint64_t scatter(uint64_t n)
{
    return jx_hash_mix(n, 0x2545f4914f6cdd1du);
}

static void place(const jx_search *s, jx_point *p, int i, jx_int offset)
{
    jx_int v;

    if (__builtin_mul_overflow(offset, s->step[i], &v) ||
        __builtin_add_overflow(v, s->low[i], &v) || v > s->high[i])
        v = s->high[i];
    p->at[i] = v;
}

/* Candidate n of those near the numbers of the question, or scattered. */
static void scattered_point(const jx_search *s, long n, jx_point *p)
{
    for (int i = 0; i < s->nvars; i++) {
        uint64_t h = scatter((uint64_t)n * SPREAD + (uint64_t)i);
        uint64_t what = h % 16, r = h >> 8;
        jx_int v = 0;

        if (what < 6 && s->nvalues && n < NEAR_POINTS) {
            v = s->values[r % (uint64_t)s->nvalues];
            v = v > s->low[i] ? (v - s->low[i]) / s->step[i] : 0;
            v += (int64_t)((r >> 16) % 3);
        } else if (what < 10) {
            v = (int64_t)(r % 12);
        } else if (what < 14) {
            v = (int64_t)(r % 200);
        } else {
            v = (int64_t)(r % (1u << (n % 24)));
        }
        place(s, p, i, v);
    }
}

typedef struct shells {
    int nfree;
    bool started;
    int64_t radius;
    int index[JX_SEARCH_VARS];
    int64_t at[JX_SEARCH_VARS]; /* of the nfree first ones */
} shells;

/* The next point whose largest coordinate is the radius; false when the
 * shell is done. */
static bool next_in_shell(shells *it)
{
    for (;;) {
        int i = it->nfree - 1;
        bool on = false;

        if (!it->started) {
            it->started = true;
        } else {
            while (i >= 0 && it->at[i] == it->radius)
                it->at[i--] = 0;
            if (i < 0)
                return false;
            it->at[i]++;
        }
        for (int j = 0; j < it->nfree; j++)
            on |= it->at[j] == it->radius;
        if (on || !it->radius)
            return true;
        /* Jump: nothing before the last coordinate reaches it is new. */
        it->at[it->nfree - 1] = it->radius;
        return true;
    }
}

static bool next_shell_point(const jx_search *s, shells *it, jx_point *p)
{
    if (!it->nfree && it->started)
        return false;
    while (!next_in_shell(it)) {
        it->radius++;
        memset(it->at, 0, (size_t)it->nfree * sizeof *it->at);
        it->started = false;
    }
    for (int j = 0; j < it->nfree; j++)
        place(s, p, it->index[j], it->at[j]);
    return true;
}

/* A search is long where evaluating is: it may be told to stop. */
static bool lasts(const jx_search *s)
{
    return jx_budget_lasts(&jx_dims_ctx(s->dims)->budget);
}

bool jx_search_run(const jx_search *s, long from, long to,
                   jx_search_visit *visit, void *data)
{
    bool more = true;
    shells it;

    it.nfree = 0;
    it.radius = 0;
    it.started = false;

    if (s->too_many)
        return false;
    for (int i = 0; i < s->nvars; i++)
        if (!s->given[i])
            it.index[it.nfree++] = i;
    memset(it.at, 0, (size_t)it.nfree * sizeof *it.at);
    for (long n = 0; n < to && more && lasts(s); n++) {
        jx_point p;

        if (n >= SHELL_POINTS)
            scattered_point(s, n - SHELL_POINTS, &p);
        else
            more = next_shell_point(s, &it, &p);
        if (more && n >= from && complete(s, &p) && jx_search_admits(s, &p) &&
            !visit(data, s, &p))
            return true;
    }
    return more && it.nfree > 0;
}

/* -------------------------------------------------------------------------
 * Repairing
 * ---------------------------------------------------------------------- */

/* lhs - rhs at a point. */
static bool gap_at(const jx_search *s, const jx_constraint *c,
                   const jx_point *p, jx_int *gap)
{
    jx_int a, b;

    return evaluate(s, c->lhs, p, &a) && evaluate(s, c->rhs, p, &b) &&
           !__builtin_sub_overflow(a, b, gap) && *gap < (jx_int)1 << 98 &&
           *gap > -((jx_int)1 << 98);
}

/* By how much the gap has to change for the constraint to hold; 0 if it
 * does. */
static jx_int lacking(jx_relation relation, jx_int gap)
{
    switch (relation) {
    case JX_REL_EQ: return -gap;
    case JX_REL_NE: return gap == 0;
    case JX_REL_GE: return gap < 0 ? -gap : 0;
    case JX_REL_LE: return gap > 0 ? -gap : 0;
    case JX_REL_GT: return gap <= 0 ? 1 - gap : 0;
    case JX_REL_LT: break;
    }
    return gap >= 0 ? -1 - gap : 0;
}

/* No variable is computed here: an equation is a constraint like others.
 *
 * Moves variable i in the direction `way` so far that the gap, if it goes on
 * as it starts, changes by `change`. */
static bool move(const jx_search *s, const jx_constraint *c, jx_point *p, int i,
                 int way, jx_int gap, jx_int change)
{
    jx_int had = p->at[i], next, slope, steps, r;

    if (__builtin_add_overflow(had, way * s->step[i], &p->at[i]))
        p->at[i] = had;
    if (p->at[i] >= s->low[i] && p->at[i] <= s->high[i] &&
        gap_at(s, c, p, &next) && (slope = next - gap) != 0 &&
        (slope > 0) == (change > 0)) {
        jx_int_floordiv(change < 0 ? change : -change,
                        slope < 0 ? -slope : slope, &steps, &r);
        steps = had - steps * way * s->step[i];
        if (steps >= s->low[i] && steps <= s->high[i]) {
            p->at[i] = steps;
            return true;
        }
    }
    p->at[i] = had;
    return false;
}

typedef struct repairing {
    const jx_search *search;
    const jx_constraint *constraint;
    jx_point *point;
    jx_int gap, change;
    int way;
} repairing;

static bool move_some(const repairing *r, const jx_dim *of, int first)
{
    const jx_search *s = r->search;
    int n;
    const jx_dim_atom *const *vars = jx_dim_vars(s->dims, of, &n);

    for (int k = 0; vars && k < n; k++) {
        int i = index_of(s, vars[(first + k) % n]);

        if (i >= 0 &&
            (move(s, r->constraint, r->point, i, r->way, r->gap, r->change) ||
             (r->constraint->relation == JX_REL_NE &&
              move(s, r->constraint, r->point, i, r->way, r->gap, -r->change))))
            return true;
    }
    return false;
}

/* Makes one constraint hold, or come nearer to it, by one variable: the first
 * from `first` on that can, upwards if possible. */
static bool repair_one(const jx_search *s, const jx_constraint *c, int first,
                       jx_point *p)
{
    repairing r = {s, c, p, 0, 0, 1};

    if (!gap_at(s, c, p, &r.gap))
        return false;
    r.change = lacking(c->relation, r.gap);
    for (; r.way >= -1; r.way -= 2)
        if (first % 2 ? move_some(&r, c->rhs, first / 2) ||
                            move_some(&r, c->lhs, first / 2)
                      : move_some(&r, c->lhs, first / 2) ||
                            move_some(&r, c->rhs, first / 2))
            return true;
    return false;
}

/* Goes through all constraints, and the question at the end, and repairs what
 * it meets broken; 1 if all held, 0 if some did not, -1 if there is no way. */
static int repair_all(const jx_search *s, const jx_constraint *question,
                      int pass, jx_point *p)
{
    int n = s->nconstraints, all_held = 1;

    for (int k = 0; k < n + (question != NULL); k++) {
        /* There and back: one way is the right one for a chain. */
        const jx_constraint *c =
            k == n ? question : &s->constraints[pass % 2 ? n - 1 - k : k];
        bool holds;

        if (jx_search_holds(s, c, p, &holds) && holds)
            continue;
        /* Going round in circles, it tries other variables. */
        if (!repair_one(s, c, pass < SURE_PASSES ? 0 : pass - SURE_PASSES, p))
            return -1;
        all_held = 0;
    }
    return all_held;
}

bool jx_search_repair(const jx_search *s, const jx_constraint *question,
                      bool holds, jx_point *p)
{
    int state = 0;
    jx_constraint q;

    if (s->too_many)
        return false;
    if (question) {
        q = *question;
        if (!holds)
            q.relation = jx_relation_opposite(q.relation);
    }
    for (int i = 0; i < s->nvars; i++)
        p->at[i] = s->low[i];
    for (int pass = 0; !state && pass < MAX_PASSES; pass++)
        state = repair_all(s, question ? &q : NULL, pass, p);
    return state > 0 && jx_search_admits(s, p);
}
