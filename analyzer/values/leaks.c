/* leaks.c - all places at which values may come to be no finite numbers.
 *
 * A value knows where its bound was lost first (jx_lost), and no other place:
 * log(x) + exp(y) is lost at the logarithm.  Here each equation counts that may
 * make what its operands are not. */
#include "analyzer/values/values_parts.h"

/* It gives NaN though nothing that it takes is, or an infinity though all that
 * it takes is finite. */
static bool is_made_here(const jx_bounding *t, const jx_known *out)
{
    bool nan = false, finite = true;

    for (int i = 0; i < t->eqn->nins; i++) {
        nan |= t->ins[i].is.nan;
        finite &= jx_extent_is_finite(t->ins[i].is);
    }
    return out->is.nan ? !nan : finite;
}

/* An equation in a loop is walked several times: its first one counts. */
static bool is_noted(const jx_extents *to, const jx_eqn *eqn)
{
    for (int i = 0; i < eqn->nouts; i++)
        if (jx_map_get(&to->unbounded, eqn->outs[i]) == eqn)
            return true;
    return false;
}

void jx_leak_note(const jx_bounding *t, int out)
{
    jx_extents *to = t->in->to;
    const jx_var *var = t->eqn->outs[out];
    const jx_lost *leak = NULL;

    if (!t->in->leaking || !t->in->recording ||
        !jx_dtype_is_inexact(var->aval->dtype) ||
        jx_extent_is_finite(t->outs[out].is) || is_noted(to, t->eqn))
        return;
    /* The bodies of a loop or a branch tell for themselves. */
    if (!t->walked && is_made_here(t, &t->outs[out]))
        leak = jx_lost_new(t, &t->outs[out]);
    jx_map_put(&to->unbounded, var, leak ? (const void *)t->eqn : NULL);
    if (leak)
        JX_PUSH(jx_valuing_arena(t->in), &to->leaks, leak);
}
