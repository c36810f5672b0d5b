/* text.h - reads StableHLO as MLIR prints it and as people write it.
 *
 * The generic form of any op, and the pretty forms of StableHLO, CHLO, sdy,
 * func, check and builtin; aliases of attributes, types and locations; blobs of
 * resources; several modules in one text, between lines `// -----`.  Ops
 * without a module around them get one.  What the tree says is what the text
 * says: no op is verified beyond its form, defaults left out stay out.
 *
 * Errors name line and column, what was expected and what is there, and show
 * the line. */
#ifndef JX_MLIR_TEXT_H
#define JX_MLIR_TEXT_H

#include "frontend/mlir/tree.h"

/* Whether this is MLIR text by its beginning. */
bool jx_is_mlir_text(const char *text, size_t length);

/* NULL with an error.  Types go into `types` (so that trees can be compared),
 * or into a table of the file's own if it is NULL.  The text need not outlive
 * the call. */
jx_mlir_file *jx_mlir_read_text(jx_ctx *ctx, jx_mlir_types *types,
                                const char *path, const char *text,
                                size_t length);

#endif
