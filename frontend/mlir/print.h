/* print.h - a tree of StableHLO as the text that MLIR prints for it.
 *
 * The pretty form is what JAX shows; the generic form spells everything out
 * and is right for any op.  Both are what MLIR's own printer gives, byte for
 * byte, for the ops of ops.def. */
#ifndef JX_MLIR_PRINT_H
#define JX_MLIR_PRINT_H

#include "frontend/base/buffer.h"
#include "frontend/mlir/tree.h"

typedef struct jx_mlir_print_how {
    bool generic;
    bool any_dialect; /* pretty forms, too, that MLIR reads nowhere */
    bool locations;   /* with `loc(...)` and the aliases they need */
    int64_t elide;    /* constants of more elements than this are left out, as
                       dense_resource<__elided__>; 0: none are */
} jx_mlir_print_how;

/* The op, a module as a rule, and a line feed.  False without memory, or with
 * an error in ctx when something is nested too deeply. */
bool jx_mlir_print(jx_ctx *ctx, const jx_mlir_op *op, jx_mlir_print_how how,
                   jx_buffer *to);

/* `tensor<2x?xf32>` */
void jx_mlir_print_type(const jx_mlir_type *type, jx_buffer *to);
/* Bytes a dense constant has per element of that type; 0: not known. */
size_t jx_mlir_element_bytes(const jx_mlir_type *type);

#endif
