/* replica_groups.h - the groups of devices that axes of a mesh make.
 *
 * Since StableHLO 1.16 a collective may say `model` where it listed the devices
 * [[0, 1], [2, 3]]: those whose coordinates differ along these axes only.  In a
 * group the last axis counts fastest; groups come in the order of the mesh. */
#ifndef JX_READ_REPLICA_GROUPS_H
#define JX_READ_REPLICA_GROUPS_H

#include "frontend/mlir/tree.h"

typedef struct jx_replica_groups {
    int64_t count, width;
    const int64_t *ids; /* of group 0, then of group 1, ... */
} jx_replica_groups;

bool jx_is_replica_groups_of_mesh(const jx_mlir_attr *groups);

/* Written out.  `module` has the mesh, where the attribute only names it.
 * False with what was expected. */
bool jx_replica_groups_of_mesh(jx_ctx *ctx, const jx_mlir_op *module,
                               const jx_mlir_attr *groups,
                               jx_replica_groups *to, const char **expected);

#endif
