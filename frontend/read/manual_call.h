/* manual_call.h - the sdy.manual_computation of one call, made up: what each
 * device calls with its parts of the operands. */
#ifndef JX_READ_MANUAL_CALL_H
#define JX_READ_MANUAL_CALL_H

#include "frontend/mlir/tree.h"

/* Of each operand of the call, and of each result after them: what it is a part
 * of, its own type, and how the whole is cut. */
typedef struct jx_manual_call {
    const jx_mlir_value *const *wholes;
    const jx_mlir_type *const *types;
    const jx_mlir_attr *const *shardings;
    const jx_mlir_attr *axes; /* of the mesh: an array of names, all manual */
} jx_manual_call;

/* In the arena; NULL without memory. */
const jx_mlir_op *jx_manual_call_make(jx_arena *arena, const jx_mlir_op *call,
                                      const jx_manual_call *of);
/* An array of `count` attributes, whose pointers are copied; NULL
 * without memory. */
const jx_mlir_attr *jx_array_attr(jx_arena *arena, int count,
                                  const jx_mlir_attr *const *items);

#endif
