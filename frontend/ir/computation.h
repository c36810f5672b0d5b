/* computation.h - what computations of scalars consist of. */
#ifndef JX_COMPUTATION_H
#define JX_COMPUTATION_H

#include "frontend/ir/program.h"

/* The primitive of a body that is one equation on its two operands;
 * JX_PRIM_unknown: it is something else.  `ordered`: on the operands in their
 * order, else in either. */
static inline jx_prim_id jx_body_operation(const jx_jaxpr *body, bool ordered)
{
    const jx_eqn *eqn = &body->eqns[0];

    if (body->nins != 2 || body->nouts != 1 || body->neqns != 1 ||
        eqn->nins != 2 || eqn->nouts != 1 || body->outs[0].var != eqn->outs[0])
        return JX_PRIM_unknown;
    const jx_var *a = body->vars[body->nconsts];
    const jx_var *b = body->vars[body->nconsts + 1];
    bool forth = eqn->ins[0].var == a && eqn->ins[1].var == b;
    bool back = eqn->ins[0].var == b && eqn->ins[1].var == a;
    return forth || (back && !ordered) ? eqn->prim->id : JX_PRIM_unknown;
}

/* The same for an operation that folds: it gives what it takes. */
static inline jx_prim_id jx_body_monoid(const jx_jaxpr *body)
{
    jx_prim_id id = jx_body_operation(body, false);

    return id != JX_PRIM_unknown && body->eqns[0].outs[0]->aval->dtype ==
                                        body->vars[body->nconsts]->aval->dtype
               ? id
               : JX_PRIM_unknown;
}

#endif
