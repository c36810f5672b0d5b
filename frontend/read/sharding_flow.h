/* sharding_flow.h - how the values of a function lie on devices, as far as that
 * follows from where they come from: arguments, constraints and manual
 * computations say it, and each op hands on what its operands have
 * (sharding_rules.c).
 *
 * Nothing that is computed depends on it: it chooses one layout among those
 * that a program leaves open, as XLA's partitioner does. */
#ifndef JX_READ_SHARDING_FLOW_H
#define JX_READ_SHARDING_FLOW_H

#include "frontend/mlir/tree.h"

/* Called for each custom call outside of manual computations, with how its
 * operands lie (sdy.sharding; NULL: nothing is known); in a loop once for each
 * look at it.  Attributes are in the context's arena, the list is not.  False:
 * without memory. */
typedef bool jx_flow_see(void *data, const jx_mlir_op *op,
                         const jx_mlir_attr *const *ins);

/* For each of `count` results of the function a sharding, or NULL: nothing is
 * known of it.  NULL without memory.  `see` may be NULL. */
const jx_mlir_attr *const *jx_sharding_flow(jx_ctx *ctx,
                                            const jx_mlir_op *module,
                                            const jx_mlir_op *func, int count,
                                            jx_flow_see *see, void *data);

#endif
