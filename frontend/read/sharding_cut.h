/* sharding_cut.h - which axes of a mesh cut which axes of an array. */
#ifndef JX_READ_SHARDING_CUT_H
#define JX_READ_SHARDING_CUT_H

#include "frontend/mlir/tree.h"

/* Axes of a mesh that cut an axis of an array, the last one fastest. */
typedef struct jx_cut_axis {
    int count;
    const jx_mlir_attr *const *by;
} jx_cut_axis;

typedef struct jx_cut {
    const jx_mlir_attr *mesh; /* by name, or in place; NULL: nothing is cut */
    int rank;
    jx_cut_axis *axes;
} jx_cut;

/* Where cuts are made, and whether memory was there for it. */
typedef struct jx_cuts {
    jx_ctx *ctx;
    const jx_mlir_op *module; /* whose meshes they are of */
    jx_arena *arena;
    bool starved;
} jx_cuts;

/* Of an array of this type, nothing cut; NULL without memory. */
jx_cut *jx_cut_new(jx_cuts *in, const jx_mlir_type *type);

/* Cuts axis `axis` of *to, an array of this type, by what cuts an operand: as
 * many of these mesh axes as divide it and cut nothing else.  Where operands
 * disagree, by what they have in common. */
void jx_cut_join(jx_cuts *in, jx_cut *to, const jx_mlir_type *type, int axis,
                 const jx_mlir_attr *mesh, jx_cut_axis from);

/* What a sharding of the module says, and of axes that it leaves open what was
 * there before (or NULL). */
const jx_cut *jx_cut_said(jx_cuts *in, const jx_mlir_type *type,
                          const jx_mlir_attr *said, const jx_cut *before);
/* What both say; where they disagree, the first.  Each may be NULL. */
const jx_cut *jx_cut_joined(jx_cuts *in, const jx_mlir_type *type,
                            const jx_cut *a, const jx_cut *b);

/* The cut as a sharding that a module could say (sdy.sharding), in the
 * context's arena; that of an array which every device of the mesh has all of.
 * NULL without memory. */
const jx_mlir_attr *jx_cut_sharding(jx_ctx *ctx, const jx_cut *cut);
const jx_mlir_attr *jx_sharding_whole(jx_ctx *ctx, const jx_mlir_attr *mesh,
                                      int rank);

#endif
