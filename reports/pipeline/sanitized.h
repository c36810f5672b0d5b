/* sanitized.h - what the sanitizer says of a run (runtime/sanitize.h). */
#ifndef JX_SANITIZED_H
#define JX_SANITIZED_H

#include "reports/pipeline/report.h"
#include "runtime/witness/witness.h"

/* Appends what a run of this program showed, and finishes the report, whose
 * memory is `keep`'s.  False with an error in one of the contexts. */
bool jx_sanitized_report(jx_ctx *keep, jx_report *to, jx_program *program,
                         const jx_witnesses *found);

#endif
