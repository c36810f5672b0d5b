/* jvp.h - the derivative of a program along a direction, forward.
 *
 *     inputs, a tangent per inexact input -> outputs, a tangent per inexact output
 *
 * Each equation becomes itself and the equations that its primitive's rule (column
 * `jvp` of prims.def) gives for its tangents.  Where all tangents that it takes are
 * zero there are none: zeros are known as such, as JAX knows them, and written only
 * where a result or a loop needs them.  `custom_jvp_call` is differentiated by its
 * rule, all other calls by what they call. */
#ifndef JX_JVP_H
#define JX_JVP_H

#include "frontend/ir/typed.h"

/* What has a tangent, and a cotangent. */
static inline bool jx_has_tangent(const jx_aval *aval)
{
    return aval->kind == JX_AVAL_ARRAY && jx_dtype_is_inexact(aval->dtype);
}

/* A new program in the same context; NULL with an error that names the equation of
 * which no derivative is known (PRM002), or what typing refuses. */
jx_program *jx_program_jvp(const jx_typed *typed);

#endif
