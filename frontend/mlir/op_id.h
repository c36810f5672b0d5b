/* op_id.h - what ops are called in code: JX_OP_stablehlo_add. */
#ifndef JX_MLIR_OP_ID_H
#define JX_MLIR_OP_ID_H

#include <stdbool.h>

typedef enum jx_op_id {
    JX_OP_unknown = 0, /* has a name and nothing else; ops of VHLO, too */
#include "frontend/mlir/op_ids.h" /* made of ops.def: see Makefile */
    JX_OP_COUNT
} jx_op_id;

jx_op_id jx_mlir_op_id(const char *name);
/* "stablehlo.add"; "" of one that is not known. */
const char *jx_mlir_op_name(jx_op_id id);
/* Ops that end a region. */
bool jx_mlir_op_ends(jx_op_id id);
/* Elementwise ops of two operands that may as well be swapped. */
bool jx_mlir_op_commutes(jx_op_id id);

#endif
