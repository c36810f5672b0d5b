/* batch.h - a program over an axis more: what `vmap` makes of a function.
 *
 *     inputs, some with a new axis -> outputs, all with a new leading axis
 *
 * Inside, a value that depends on an input with the axis has it in front; what
 * does not depend on one stays as it is, and is computed once.  Each equation
 * becomes what its primitive's rule (column `batch` of prims.def) makes of it.
 * `custom_jvp_call` and `custom_vjp_call` keep their rules, which become
 * batched like the function. */
#ifndef JX_BATCH_H
#define JX_BATCH_H

#include "frontend/ir/typed.h"

enum { JX_NO_AXIS = -1 };

/* A new program in the same context.  `axes` has, per input of the entry, where
 * in the input's new shape the axis is, or JX_NO_AXIS; one input has it at
 * least.  Its size is a new symbol: `b`, or `b1`, `b2`, ... where there is one
 * of that name.  NULL with an error that names the equation for which there is
 * no rule (PRM002), or what typing refuses. */
jx_program *jx_program_batch(const jx_typed *typed, const int *axes);

#endif
