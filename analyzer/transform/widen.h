/* widen.h - one jaxpr of a program, at sizes that are numbers, for many
 * inputs at once. */
#ifndef JX_WIDEN_H
#define JX_WIDEN_H

#include "frontend/ir/program.h"

/* A new program in the same context, whose entry is that jaxpr of `program`
 * over an axis of `n` more, in front of all its results and of each input that
 * `has` names (one at least); the other inputs are for all `n`.  NULL with an
 * error that names the equation for which there is no batching rule, or what
 * the sizes do not fit. */
jx_program *jx_program_widen(jx_program *program, const jx_closed *closed,
                             int nbindings, const jx_binding *bindings,
                             const bool *has, int64_t n);

#endif
