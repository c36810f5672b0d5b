/* differ_file.h - what changed between the signatures of two exported files:
 * where they run, what they promise, the trees of their arguments. */
#ifndef JX_DIFFER_FILE_H
#define JX_DIFFER_FILE_H

#include "frontend/read/exported.h"
#include "reports/formats/differ.h"

/* Adds a line for each change to `to`, in the context's arena; what callers of
 * the old file rely on (as jax.export's `call` does) is JX_REFUTED, or
 * JX_UNDECIDED where the files do not tell. */
void jx_exported_files_diff(jx_ctx *ctx, const jx_exported *before,
                            const jx_exported *after, jx_contract_lines *to);

#endif
