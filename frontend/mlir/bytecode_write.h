/* bytecode_write.h - a VHLO tree as MLIR bytecode.
 *
 * What was read comes out byte for byte, and what was changed comes out as
 * MLIR's own writer has it: attributes, types and names of ops are numbered in
 * the order in which they are met, the most used first, grouped by dialect. */
#ifndef JX_MLIR_BYTECODE_WRITE_H
#define JX_MLIR_BYTECODE_WRITE_H

#include "frontend/base/buffer.h"
#include "frontend/mlir/tree.h"

/* Writes the file's first module in the file's version of bytecode and under
 * its producer's name.  The tree is VHLO's (vhlo.h).  False with an error. */
bool jx_bytecode_write(jx_ctx *ctx, const jx_mlir_file *file, jx_buffer *to);

#endif
