/* watch_decision.c - see watch.h: what a loop's predicate compares.
 *
 * Told is what ends a loop behind its author's back: a comparison of scalars
 * that the predicate is a conjunction of, which a NaN makes false, in a loop
 * that asks about NaN nowhere. */
#include "runtime/watch.h"

#include "frontend/base/map.h"
#include "frontend/ir/params.h"
#include "runtime/plan_impl.h"
#include "runtime/run.h"

typedef struct decision {
    jx_watch *to; /* NULL: the run notices */
    const jx_eqn *loop;
    int nins;
} decision;

static bool run_decision(jx_run *run, const void *data, const jx_view *ins,
                         const jx_view *outs, void *scratch)
{
    const decision *d = data;
    jx_look look;

    (void)outs;
    (void)scratch;
    for (int i = 0; i < d->nins; i++) {
        if (jx_look_at(&look, &ins[i]) != JX_NO_NUMBER)
            continue;
        if (!d->to)
            jx_run_notice(run);
        else if (!d->to->decided)
            d->to->decided = d->loop;
    }
    return true;
}

/* What a NaN makes false. */
static bool compares(const jx_eqn *eqn)
{
    switch (eqn->prim->id) {
    case JX_PRIM_eq:
    case JX_PRIM_lt:
    case JX_PRIM_le:
    case JX_PRIM_gt:
    case JX_PRIM_ge:
        return jx_dtype_is_inexact(jx_atom_aval(eqn->ins[0])->dtype);
    default: return false;
    }
}

/* Whether the jaxpr's first result is false where that equation's is. */
static bool needs(jx_planner *p, const jx_jaxpr *jaxpr, const jx_eqn *eqn)
{
    jx_map needed; /* variables */

    jx_map_init(&needed, p->arena);
    for (int i = jaxpr->neqns - 1; i >= 0 && jaxpr->outs[0].var; i--) {
        const jx_eqn *by = &jaxpr->eqns[i];
        if (by->nouts != 1 || (by->outs[0] != jaxpr->outs[0].var &&
                               !jx_map_has(&needed, by->outs[0])))
            continue;
        if (by == eqn)
            return true;
        for (int k = 0; by->prim->id == JX_PRIM_and && k < by->nins; k++)
            if (by->ins[k].var)
                jx_map_add(&needed, by->ins[k].var);
    }
    return false;
}

/* isfinite(x), x != x. */
static bool asks_about_nan(const jx_jaxpr *jaxpr)
{
    for (int i = 0; i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        if (eqn->prim->id == JX_PRIM_is_finite ||
            (eqn->prim->id == JX_PRIM_ne && eqn->ins[0].var &&
             eqn->ins[0].var == eqn->ins[1].var))
            return true;
        for (int k = 0; k < eqn->nparams; k++)
            if (eqn->params[k].value->jaxpr &&
                asks_about_nan(eqn->params[k].value->jaxpr))
                return true;
    }
    return false;
}

void jx_plan_watch_decision(jx_planner *p, jx_watch *to, const jx_eqn *eqn,
                            const jx_slot *ins)
{
    const jx_p_while *loop = p->deciding ? p->deciding->typed : NULL;
    decision d = {to, p->deciding, eqn->nins};

    if (loop && compares(eqn) && !ins[0].rank && !ins[1].rank &&
        needs(p, loop->cond_jaxpr.jaxpr, eqn) &&
        !asks_about_nan(loop->cond_jaxpr.jaxpr) &&
        !asks_about_nan(loop->body_jaxpr.jaxpr))
        jx_plan_op(p, run_decision, &d, sizeof d, eqn->nins, ins, 0, NULL, 0);
}
