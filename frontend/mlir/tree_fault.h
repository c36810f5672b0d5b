/* tree_fault.h - is a tree one?  For assertions (assert.h). */
#ifndef JX_MLIR_TREE_FAULT_H
#define JX_MLIR_TREE_FAULT_H

#include "frontend/mlir/tree.h"

/* What is wrong with the op and all below: a value without type, defined twice
 * or nowhere, a result or argument that says it is another's; or NULL.  Where
 * `before`, every use comes after its definition and attributes are in order,
 * too: what was read may have it otherwise. */
const char *jx_mlir_fault(const jx_mlir_op *module, bool before);
/* Of all modules, as a reader leaves them. */
const char *jx_mlir_file_fault(const jx_mlir_file *file);

#endif
