/* meshes.h - meshes of a module, and the parts that their axes
 * cut arrays into. */
#ifndef JX_READ_MESHES_H
#define JX_READ_MESHES_H

#include "frontend/mlir/tree.h"

/* The mesh that stands in place, or that the module has under that name; NULL:
 * none. */
const jx_mlir_attr *jx_mesh_of_ref(const jx_mlir_op *module,
                                   const jx_mlir_attr *ref);

/* The list of shardings of a manual computation
 * (`in_shardings`); NULL: none. */
const jx_mlir_attr *jx_mesh_shardings(const jx_mlir_op *op, const char *name);

/* Into how many parts the manual axes cut this axis of operand (or result) `i`;
 * 0: the attributes do not say. */
int64_t jx_mesh_parts(jx_ctx *ctx, const jx_mlir_op *module,
                      const jx_mlir_op *op, const char *shardings, int i,
                      int axis);

/* Whether that axis, or part of one, is manual in a manual computation. */
bool jx_mesh_is_manual(jx_ctx *ctx, const jx_mlir_op *op,
                       const jx_mlir_attr *axis);

/* How many parts make operand (or result) `i` when they are added up: one
 * for each place along the manual axes that its sharding leaves
 * unreduced; 0: not known. */
int64_t jx_mesh_summands(jx_ctx *ctx, const jx_mlir_op *module,
                         const jx_mlir_op *op, const char *shardings, int i);

/* Whether a sharding leaves axes unreduced: the array is the sum of
 * its parts there. */
bool jx_mesh_is_summed(const jx_mlir_attr *sharding);
/* False where its parts make the array by another operation (a maximum). */
bool jx_mesh_adds_up(const jx_mlir_attr *sharding);

/* How an array lies on the devices that share it; where it is the sum of parts,
 * how the array of these does, whose first axis counts them. */
typedef struct jx_placement {
    bool is_summed;
    int rank, devices;
    const int64_t *parts; /* into how many each axis is cut */
    const int *place;     /* [device * rank + axis]: which of these it holds */
} jx_placement;

/* What a sharding of the module (sdy.sharding, or mhlo.sharding's text) says of
 * an array of that rank on so many devices.  False, with what is in the way in
 * *why: it is no such sharding. */
bool jx_mesh_place(jx_ctx *ctx, const jx_mlir_op *module,
                   const jx_mlir_attr *sharding, int rank, int devices,
                   jx_placement *to, const char **why);

/* Into how many parts an axis (or part of one) of that mesh
 * cuts; 0: not known. */
int64_t jx_mesh_axis_size(jx_ctx *ctx, const jx_mlir_op *module,
                          const jx_mlir_attr *mesh, const jx_mlir_attr *axis);
/* The same axis, or parts of one. */
bool jx_mesh_is_one_axis(jx_ctx *ctx, const jx_mlir_attr *a,
                         const jx_mlir_attr *b);

/* What a sharding says of each axis of the array; NULL: nothing.  Of one of
 * these: the axes of the mesh that cut it, and whether more may. */
const jx_mlir_attr *jx_mesh_axes_of(const jx_mlir_attr *sharding);
const jx_mlir_attr *jx_mesh_cut_by(const jx_mlir_attr *axis);
bool jx_mesh_is_open(const jx_mlir_attr *axis);

#endif
