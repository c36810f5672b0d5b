/* transpose_parts.h - what the rules of transposition share. */
#ifndef JX_TRANSPOSE_PARTS_H
#define JX_TRANSPOSE_PARTS_H

#include "analyzer/transform/transpose.h"
#include "frontend/ir/build_math.h"

/* An equation on its way back.  An operand that is nothing is linear; a
 * cotangent that is nothing is zero. */
typedef struct jx_transpose {
    jx_transposer *of;
    jx_body *b;
    const jx_eqn *eqn;
    /* its operands, and the cotangents of its results */
    const jx_atom *ins, *cts;
    /* to be filled in: cotangents of linear operands; zero before */
    jx_atom *gives;
} jx_transpose;

/* At least one cotangent is not zero.  False: told. */
typedef bool jx_transpose_rule(jx_transpose *t);

#define PRIM(id, name, nins, nouts, params, type, plan, cost, jvp, transpose,  \
             ...)                                                              \
    jx_transpose_rule jx_transpose_##transpose;
#include "frontend/ir/prims.def"
#undef PRIM

bool jx_transpose_refuse(jx_transpose *t, const char *why);

static inline bool jx_is_linear(const jx_transpose *t, int i)
{
    return !jx_is_made(t->ins[i]);
}

static inline const jx_aval *jx_transpose_in(const jx_transpose *t, int i)
{
    return jx_atom_aval(t->eqn->ins[i]);
}

static inline jx_arena *jx_transpose_arena(const jx_transpose *t)
{
    return t->b->in->program->ctx->arena;
}

/* A cotangent of a result, written out where it is zero. */
jx_atom jx_transpose_full(jx_transpose *t, int i);
/* Gives it to a linear operand, summed over what that was broadcast along. */
bool jx_transpose_give(jx_transpose *t, int i, jx_atom ct);
/* The parameters of the equation, but of these names (NULL ends them). */
jx_params jx_transpose_others(jx_transpose *t, const char *const *without);

#endif
