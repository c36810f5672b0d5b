/* quick.c - see quick.h. */
#include "prover/quick.h"

#include <string.h>

/* -------------------------------------------------------------------------
 * Ranges
 * ---------------------------------------------------------------------- */

static jx_dim_range *range_of(jx_quick *q, const jx_dim_atom *var)
{
    for (int i = 0; i < q->nvars; i++)
        if (q->vars[i] == var)
            return &q->ranges[i];
    if (q->nvars == JX_QUICK_VARS)
        return NULL;
    q->vars[q->nvars] = var;
    q->ranges[q->nvars] = (jx_dim_range){.has_low = true, .low = q->base};
    return &q->ranges[q->nvars++];
}

/* The variable that a dim is, alone and with coefficient 1; or NULL. */
static const jx_dim_atom *lone_variable(const jx_dim *d)
{
    const jx_dim_term *t = jx_dim_terms(d);

    return jx_dim_nterms(d) == 1 && t->coefficient == 1 && t->nfactors == 1 &&
                   t->factors[0].power == 1 &&
                   t->factors[0].atom->kind == JX_ATOM_VAR
               ? t->factors[0].atom
               : NULL;
}

static void raise_low(jx_dim_range *r, int64_t low)
{
    if (low > r->low)
        r->low = low;
}

static void lower_high(jx_dim_range *r, int64_t high)
{
    if (!r->has_high || high < r->high) {
        r->has_high = true;
        r->high = high;
    }
}

/* x relation k */
static bool use(jx_quick *q, const jx_constraint *c)
{
    const jx_dim_atom *var = lone_variable(c->lhs);
    jx_dim_range *r = var ? range_of(q, var) : NULL;
    int64_t k;

    if (!r || !jx_dim_is_int(c->rhs, &k) || k <= INT64_MIN + 1 ||
        k >= INT64_MAX - 1)
        return false;
    switch (c->relation) {
    case JX_REL_EQ:
        raise_low(r, k);
        lower_high(r, k);
        break;
    case JX_REL_GE: raise_low(r, k); break;
    case JX_REL_GT: raise_low(r, k + 1); break;
    case JX_REL_LE: lower_high(r, k); break;
    case JX_REL_LT: lower_high(r, k - 1); break;
    case JX_REL_NE: return false;
    }
    return !r->has_high || r->low <= r->high;
}

void jx_quick_init(jx_quick *q, int64_t base, const jx_constraint *constraints,
                   int count)
{
    q->base = base;
    q->nvars = 0;
    q->usable = true;
    for (int i = 0; i < count && q->usable; i++)
        q->usable = use(q, &constraints[i]);
}

/* -------------------------------------------------------------------------
 * Comparing
 * ---------------------------------------------------------------------- */

static void known_range(void *env, const jx_dim_atom *atom, jx_dim_range *known)
{
    const jx_quick *q = env;

    if (atom->kind != JX_ATOM_VAR)
        return;
    *known = (jx_dim_range){.has_low = true, .low = q->base};
    for (int i = 0; i < q->nvars; i++)
        if (q->vars[i] == atom)
            *known = q->ranges[i];
}

/* No divisor in it can be 0. */
static bool is_defined(jx_quick *q, const jx_dim *d)
{
    for (int i = 0; i < jx_dim_nterms(d); i++)
        for (int j = 0; j < jx_dim_terms(d)[i].nfactors; j++) {
            const jx_dim_atom *a = jx_dim_terms(d)[i].factors[j].atom;
            jx_dim_range r;

            if (a->kind == JX_ATOM_VAR)
                continue;
            if (!is_defined(q, a->a) || !is_defined(q, a->b))
                return false;
            if (a->kind != JX_ATOM_FLOORDIV && a->kind != JX_ATOM_MOD)
                continue;
            r = jx_dim_bounds_by(a->b, known_range, q);
            if (!(r.has_low && r.low > 0) && !(r.has_high && r.high < 0))
                return false;
        }
    return true;
}

/* a >= b, or a > b, for all that the intervals hold. */
static bool is_above(jx_dim_range a, jx_dim_range b, bool strictly)
{
    return a.has_low && b.has_high &&
           (strictly ? a.low > b.high : a.low >= b.high);
}

static jx_truth truth_of(bool holds, bool fails)
{
    return holds ? JX_TRUE : fails ? JX_FALSE : JX_UNKNOWN;
}

static jx_truth compare(jx_dim_range a, jx_relation relation, jx_dim_range b)
{
    bool equal = is_above(a, b, false) && is_above(b, a, false);
    bool apart = is_above(a, b, true) || is_above(b, a, true);

    switch (relation) {
    case JX_REL_EQ: return truth_of(equal, apart);
    case JX_REL_NE: return truth_of(apart, equal);
    case JX_REL_GE:
        return truth_of(is_above(a, b, false), is_above(b, a, true));
    case JX_REL_LE:
        return truth_of(is_above(b, a, false), is_above(a, b, true));
    case JX_REL_GT:
        return truth_of(is_above(a, b, true), is_above(b, a, false));
    case JX_REL_LT:
        return truth_of(is_above(b, a, true), is_above(a, b, false));
    }
    return JX_UNKNOWN;
}

jx_truth jx_quick_compare(jx_quick *q, const jx_dim *lhs, jx_relation relation,
                          const jx_dim *rhs)
{
    jx_truth truth;

    if (!q->usable)
        return JX_UNKNOWN;
    truth = compare(jx_dim_bounds_by(lhs, known_range, q), relation,
                    jx_dim_bounds_by(rhs, known_range, q));
    return truth && is_defined(q, lhs) && is_defined(q, rhs) ? truth
                                                             : JX_UNKNOWN;
}
