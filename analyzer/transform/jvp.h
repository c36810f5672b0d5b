/* jvp.h - the derivative of a program along a direction, forward.
 *
 *     inputs, a tangent per inexact input
 *         -> outputs, a tangent per inexact output
 *
 * Each equation becomes itself and the equations that its primitive's rule
 * (column `jvp` of prims.def) gives for its tangents.  Where all tangents that
 * it takes are zero there are none: zeros are known as such, as JAX knows them,
 * and written only where a result or a loop needs them.  `custom_jvp_call` is
 * differentiated by its rule, all other calls by what they call. */
#ifndef JX_JVP_H
#define JX_JVP_H

#include "analyzer/transform/making.h"
#include "frontend/ir/typed.h"

/* What has a tangent, and a cotangent. */
static inline bool jx_has_tangent(const jx_aval *aval)
{
    return aval->kind == JX_AVAL_ARRAY && jx_dtype_is_inexact(aval->dtype);
}

/* A new program in the same context; NULL with an error that names the equation
 * of which no derivative is known (PRM002), or what typing refuses. */
jx_program *jx_program_jvp(const jx_typed *typed);

/* ---- of jaxprs, in a program that is in the making */

typedef JX_VEC(const jx_eqn *) jx_eqn_list;

typedef struct jx_differentiator {
    jx_making *make;
    const jx_typed *typed;
    /* functions that have rules are differentiated without them */
    bool stripped;
    jx_intern made; /* jx_jvped, by what they are made of */
    /* Gets the calls of custom_jvp functions that close over what is
     * differentiated, which count as if they did not, as in JAX below jit.
     * NULL: these are refused. */
    jx_eqn_list *closing;
} jx_differentiator;

void jx_differentiator_begin(jx_differentiator *d, jx_making *make,
                             const jx_typed *typed, bool stripped);

/* The order of what a jaxpr takes and gives: tangents stand behind the inputs
 * (and outputs) of their group, which ends before these numbers. */
typedef struct jx_jvp_groups {
    int ins[3], outs[2]; /* rising; the last are all */
} jx_jvp_groups;

static inline jx_jvp_groups jx_jvp_one_group(const jx_jaxpr *of)
{
    return (jx_jvp_groups){{0, 0, of->nins}, {0, of->nouts}};
}

/* What a rule is never told to be differentiated, because its function closed
 * over it, or uses it as it was before the call. */
bool jx_rule_closes_over(const jx_rule *rule, int operand);

/* A jaxpr that takes its inputs and the tangents of some, and gives its results
 * and the tangents of some. */
typedef struct jx_jvped {
    const jx_jaxpr *jaxpr;
    const bool *ins, *outs; /* whose */
} jx_jvped;

/* With tangents of these inputs, and of at least these outputs (NULL: those
 * that come of it); NULL, told. */
const jx_jvped *jx_jvp_jaxpr(jx_differentiator *of, const jx_jaxpr *from,
                             jx_jvp_groups groups, const bool *ins,
                             const bool *outs);

#endif
