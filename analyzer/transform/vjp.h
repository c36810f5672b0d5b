/* vjp.h - the derivative of a program backwards.
 *
 *     inputs, a cotangent per inexact output -> a cotangent per inexact input
 *
 * It is the forward derivative (jvp.h), of which what follows from the inputs alone is
 * computed first (split.h), and the rest, which is linear, transposed (transpose.h). */
#ifndef JX_VJP_H
#define JX_VJP_H

#include "frontend/ir/typed.h"

/* A new program in the same context; NULL with an error that names the equation that has
 * no derivative, or none backwards (PRM002), or what typing refuses. */
jx_program *jx_program_vjp(const jx_typed *typed);

#endif
