/* vjp.h - the derivative of a program backwards.
 *
 *     inputs, a cotangent per inexact output -> a cotangent per inexact input
 *
 * It is the forward derivative (jvp.h), of which what follows from the inputs
 * alone is computed first (split.h), and the rest, which is linear, transposed
 * (transpose.h). */
#ifndef JX_VJP_H
#define JX_VJP_H

#include "analyzer/transform/making.h"
#include "frontend/ir/typed.h"

/* A new program in the same context; NULL with an error that names the
 * equation that has no derivative, or none backwards (PRM002), or what
 * typing refuses. */
jx_program *jx_program_vjp(const jx_typed *typed);

/* Of a forward derivative in the making, which takes `nins` operands and the
 * tangents of some, and gives `nouts` results and the tangents of some: of
 * operands and cotangents of the latter, cotangents of the former.  It has the
 * constants of `forward`; NULL, told. */
const jx_jaxpr *jx_vjp_of_jvp(jx_making *make, const jx_jaxpr *forward,
                              int nins, int nouts);

#endif
