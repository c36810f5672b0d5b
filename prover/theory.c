/* theory.c - see theory.h. */
#include "prover/theory.h"

#include "prover/elementary.h"
#include "prover/slice.h"

#include <string.h>

/* What the decider takes, with room for its own. */
enum { SCENE_HYPS = 24 };

static int wanted_signs(jx_relation relation)
{
    switch (relation) {
    case JX_REL_EQ: return JX_ZERO;
    case JX_REL_NE: return JX_NEGATIVE | JX_POSITIVE;
    case JX_REL_GE: return JX_ZERO | JX_POSITIVE;
    case JX_REL_LE: return JX_NEGATIVE | JX_ZERO;
    case JX_REL_GT: return JX_POSITIVE;
    case JX_REL_LT: return JX_NEGATIVE;
    }
    return 0;
}

static const jx_dim *difference(jx_work *work, const jx_constraint *c)
{
    const jx_dim *a = jx_work_import(work, c->lhs);
    const jx_dim *b = jx_work_import(work, c->rhs);

    return a && b ? jx_dim_sub(work->in, a, b) : NULL;
}

static void narrow(jx_work *work, const jx_dim_atom *x, jx_int k, jx_int c)
{
    jx_int q, r;

    if (!jx_int_is_tame(c) || !jx_int_floordiv(c, k > 0 ? k : -k, &q, &r))
        return;
    if (work->trace)
        jx_note_fact(work, JX_STEP_RANGE,
                     jx_dim_add(work->in,
                                jx_dim_mul(work->in, jx_dim_wide(work->in, k),
                                           jx_dim_of_atom(work->in, x)),
                                jx_dim_wide(work->in, c)),
                     JX_HYP_GE);
    jx_work_narrow(work, x,
                   k > 0 ? (jx_dim_range){.has_low = true, .low = -q}
                         : (jx_dim_range){.has_high = true, .high = q});
}

/* k*x + c >= 0 (or == 0) is known of x from the start. */
static void use_as_range(jx_work *work, const jx_constraint *c)
{
    const jx_dim *d = difference(work, c);
    const jx_dim_term *t = d ? jx_dim_terms(d) : NULL;
    int n = d ? jx_dim_nterms(d) : 0;
    int signs = wanted_signs(c->relation);
    jx_int k, rest;

    if (n < 1 || n > 2 || t[0].nfactors != 1 || t[0].factors[0].power != 1 ||
        t[0].factors[0].atom->kind != JX_ATOM_VAR || (n == 2 && t[1].nfactors))
        return;
    k = t[0].coefficient;
    rest = n == 2 ? t[1].coefficient : 0;
    if (!jx_int_is_tame(rest))
        return;
    if (signs == JX_POSITIVE || signs == (JX_ZERO | JX_POSITIVE) ||
        signs == JX_ZERO)
        narrow(work, t[0].factors[0].atom, k, rest - (signs == JX_POSITIVE));
    if (signs == JX_NEGATIVE || signs == (JX_NEGATIVE | JX_ZERO) ||
        signs == JX_ZERO)
        narrow(work, t[0].factors[0].atom, -k, -rest - (signs == JX_NEGATIVE));
}

static bool is_hyp(const jx_theory *t, const jx_dim *d, jx_hyp_kind kind)
{
    for (int i = 0; i < t->nhyps; i++)
        if (t->hyps[i].dim == d && t->hyps[i].kind == kind)
            return true;
    return false;
}

/* Leaving one out only weakens what may be assumed. */
static void add_hyp(jx_theory *t, const jx_dim *d, jx_hyp_kind kind)
{
    if (d && t->nhyps < JX_THEORY_HYPS && !is_hyp(t, d, kind))
        t->hyps[t->nhyps++] = (jx_hyp){d, kind};
}

/* No divisor below `d` is 0: hypotheses for those that bounds leave open. */
static void add_divisors(jx_theory *t, const jx_dim *d)
{
    for (int i = 0; d && i < jx_dim_nterms(d); i++)
        for (int j = 0; j < jx_dim_terms(d)[i].nfactors; j++) {
            const jx_dim_atom *a = jx_dim_terms(d)[i].factors[j].atom;
            const jx_dim *by;

            if (a->kind == JX_ATOM_VAR)
                continue;
            add_divisors(t, a->a);
            add_divisors(t, a->b);
            if (a->kind != JX_ATOM_FLOORDIV && a->kind != JX_ATOM_MOD)
                continue;
            by = jx_work_simplify(&t->work, a->b);
            if (by && !(jx_signs_by_bounds(&t->work, by) & JX_ZERO))
                continue;
            t->divisor_may_be_0 = true;
            add_hyp(t, by, JX_HYP_NE);
        }
}

/* Of both sides: their difference may have lost some, as that of m//n >= m//n
 * has. */
static void add_divisors_of(jx_theory *t, const jx_constraint *c)
{
    add_divisors(t, jx_work_import(&t->work, c->lhs));
    add_divisors(t, jx_work_import(&t->work, c->rhs));
}

/* The divisors that may be 0, as written: before anything is rewritten. */
static void note_divisors(jx_theory *t, const jx_dim *d)
{
    for (int i = 0; d && i < jx_dim_nterms(d); i++)
        for (int j = 0; j < jx_dim_terms(d)[i].nfactors; j++) {
            const jx_dim_atom *a = jx_dim_terms(d)[i].factors[j].atom;

            if (a->kind == JX_ATOM_VAR)
                continue;
            note_divisors(t, a->a);
            note_divisors(t, a->b);
            if ((a->kind == JX_ATOM_FLOORDIV || a->kind == JX_ATOM_MOD) &&
                jx_signs_by_bounds(&t->work, a->b) & JX_ZERO) {
                jx_step *s =
                    jx_note_fact(&t->work, JX_STEP_NONZERO, a->b, JX_HYP_NE);
                if (s)
                    s->i = 1;
            }
        }
}

static void add_constraint(jx_theory *t, const jx_constraint *c)
{
    const jx_dim *raw = difference(&t->work, c);
    if (t->work.trace)
        note_divisors(t, raw);
    const jx_dim *d = jx_work_simplify(&t->work, raw);
    const jx_dim *one = jx_dim_int(t->work.in, 1);
    jx_dims *in = t->work.in;

    if (!d)
        return;
    add_divisors_of(t, c);
    /* What the ranges say already needs no hypothesis. */
    if (!(jx_signs_by_bounds(&t->work, d) & ~wanted_signs(c->relation)))
        return;
    switch (c->relation) {
    case JX_REL_EQ: add_hyp(t, d, JX_HYP_EQ); break;
    case JX_REL_NE: add_hyp(t, d, JX_HYP_NE); break;
    case JX_REL_GE: add_hyp(t, d, JX_HYP_GE); break;
    case JX_REL_LE: add_hyp(t, jx_dim_neg(in, d), JX_HYP_GE); break;
    case JX_REL_GT: add_hyp(t, jx_dim_sub(in, d, one), JX_HYP_GE); break;
    case JX_REL_LT:
        add_hyp(t, jx_dim_sub(in, jx_dim_neg(in, d), one), JX_HYP_GE);
        break;
    }
}

bool jx_theory_init(jx_theory *t, jx_ctx *above, int64_t base,
                    const jx_constraint *constraints, int count)
{
    return jx_theory_init_traced(t, above, base, constraints, count, NULL);
}

bool jx_theory_init_traced(jx_theory *t, jx_ctx *above, int64_t base,
                           const jx_constraint *constraints, int count,
                           jx_trace *trace)
{
    memset(t, 0, offsetof(jx_theory, hyps));
    if (!jx_work_init(&t->work, above, base))
        return false;
    t->work.trace = trace;
    for (int i = 0; i < count; i++)
        use_as_range(&t->work, &constraints[i]);
    t->empty = jx_work_is_empty(&t->work);
    for (int i = 0; !t->empty && i < count; i++)
        add_constraint(t, &constraints[i]);
    t->base_hyps = t->nhyps;
    return true;
}

void jx_theory_free(jx_theory *t)
{
    jx_work_free(&t->work);
}

bool jx_theory_goal(jx_theory *t, const jx_constraint *c, const jx_dim **d,
                    int *wanted)
{
    const jx_dim *raw = difference(&t->work, c);

    t->divisor_may_be_0 = false;
    t->goal_signs = JX_NEGATIVE | JX_ZERO | JX_POSITIVE;
    if (t->work.trace)
        note_divisors(t, raw);
    *d = jx_work_simplify(&t->work, raw);
    *wanted = wanted_signs(c->relation);
    if (!raw)
        return false;
    add_divisors_of(t, c);
    /* Simplifying joins what is equal but may widen intervals: mod(n, 4) is
     * between 0 and 3, n - 4*floordiv(n, 4) need not be. */
    t->goal_signs = jx_signs_by_bounds(&t->work, raw);
    if (*d)
        t->goal_signs &= jx_signs_by_bounds(&t->work, *d);
    return *d != NULL;
}

/* The decider with those hypotheses that it has room for. */
static bool decides(jx_theory *t, const jx_dim *d, int wanted, long steps)
{
    jx_hyp near[SCENE_HYPS];

    if (t->nhyps <= SCENE_HYPS)
        return jx_elementary(&t->work, t->hyps, t->nhyps, d, wanted, steps);
    return jx_elementary(
        &t->work, near,
        jx_nearest_hyps(&t->work, t->hyps, t->nhyps, d, near, SCENE_HYPS), d,
        wanted, steps);
}

bool jx_theory_proves(jx_theory *t, const jx_dim *d, int wanted, long steps)
{
    return !(t->goal_signs & ~wanted) || decides(t, d, wanted, steps);
}

/* With more than fit, around one after the other. */
bool jx_theory_clashes(jx_theory *t, long steps)
{
    const jx_dim *zero = jx_dim_int(t->work.in, 0);
    jx_hyp near[SCENE_HYPS];

    if (t->nhyps <= SCENE_HYPS)
        return jx_elementary(&t->work, t->hyps, t->nhyps, zero, 0, steps);
    for (int i = 0; i < t->nhyps; i += SCENE_HYPS / 2) {
        int n = jx_nearest_hyps(&t->work, t->hyps, t->nhyps, t->hyps[i].dim,
                                near, SCENE_HYPS);
        if (jx_elementary(&t->work, near, n, zero, 0, steps))
            return true;
    }
    return false;
}
