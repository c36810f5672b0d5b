/* specialise.h - an exported file at sizes: what takes any `b` becomes what
 * takes b = 8. */
#ifndef JX_SPECIALISE_H
#define JX_SPECIALISE_H

#include "frontend/base/texts.h"
#include "frontend/ir/program.h"
#include "frontend/read/exported.h"

/* The file of which `program` was made (jx_input_read) with every size that
 * `--set` names, and its derivatives: signatures and modules are of fixed
 * shapes, and JAX loads them as if they had been exported so.  The module's ops
 * are those of the lowering, not those of the file.  `version` is StableHLO's,
 * or NULL: that of the file.  NULL with an error: a size that is missing or not
 * admitted, more devices than one, effects. */
const jx_exported *jx_exported_at(jx_program *program, const jx_texts *set,
                                  const int *version, bool strip);

#endif
