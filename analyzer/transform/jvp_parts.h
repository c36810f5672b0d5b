/* jvp_parts.h - what the files of the forward derivative share. */
#ifndef JX_JVP_PARTS_H
#define JX_JVP_PARTS_H

#include "analyzer/transform/jvp.h"
#include "frontend/ir/build_math.h"

/* An equation on its way.  A tangent without variable and literal is zero. */
typedef struct jx_jvp {
    jx_differentiator *of;
    jx_body *b;
    const jx_eqn *eqn;
    const jx_atom *ins, *tins; /* its operands there, and their tangents */
    jx_atom *outs, *touts;     /* to be filled in; tangents are zero before */
} jx_jvp;

/* Adds what an equation becomes; at least one of its tangents is not
 * zero.  False: told. */
typedef bool jx_jvp_rule(jx_jvp *t);

#define PRIM(id, name, nins, nouts, params, type, plan, cost, jvp, ...)        \
    jx_jvp_rule jx_jvp_##jvp;
#include "frontend/ir/prims.def"
#undef PRIM

/* Tells that the equation has no derivative, or why; always false. */
bool jx_jvp_refuse(jx_jvp *t, const char *why);

static inline const jx_aval *jx_jvp_out(const jx_jvp *t)
{
    return t->eqn->outs[0]->aval;
}

/* The equation itself: fills in `outs`. */
bool jx_jvp_primal(jx_jvp *t);
/* The same on other operands, of the same types: a result of it. */
const jx_atom *jx_jvp_again(jx_jvp *t, const jx_atom *ins);
/* A tangent, written out where it is zero. */
jx_atom jx_jvp_full(jx_jvp *t, int i);

/* ---- jaxprs */

/* The same results of a jaxpr that takes more, which it does not look at. */
const jx_jaxpr *jx_jvp_widened(jx_jvp *t, const jx_jaxpr *from, int count,
                               const jx_aval *const *more);

jx_arena *jx_jvp_arena(const jx_jvp *t);
/* A closed jaxpr as a parameter: with the constants of another. */
const jx_value *jx_jvp_closed(jx_jvp *t, const jx_jaxpr *jaxpr,
                              const jx_closed *like);
/* The parameters of the equation, but of these names (NULL ends them). */
jx_params jx_jvp_others(jx_jvp *t, const char *const *without);

#endif
