/* watch_decision.c - see watch.h: what a loop's predicate compares. */
#include "runtime/watch.h"

#include "runtime/plan_impl.h"
#include "runtime/run.h"

typedef struct decision {
    jx_watch *to; /* NULL: the run notices */
    const jx_eqn *loop;
    int nins;
} decision;

static bool run_decision(jx_run *run, const void *data, const jx_view *ins, const jx_view *outs,
                         void *scratch)
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

/* x != x asks for a NaN. */
static bool compares(const jx_eqn *eqn)
{
    switch (eqn->prim->id) {
    case JX_PRIM_eq:
    case JX_PRIM_ne: return eqn->ins[0].var != eqn->ins[1].var;
    case JX_PRIM_lt:
    case JX_PRIM_le:
    case JX_PRIM_gt:
    case JX_PRIM_ge: return true;
    default: return false;
    }
}

void jx_plan_watch_decision(jx_planner *p, jx_watch *to, const jx_eqn *eqn, const jx_slot *ins)
{
    decision d = {to, p->deciding, eqn->nins};

    if (p->deciding && compares(eqn) && jx_dtype_is_inexact(ins[0].dtype))
        jx_plan_op(p, run_decision, &d, sizeof d, eqn->nins, ins, 0, NULL, 0);
}
