/* answer.h - an answer of the prover as a line of JSON, as `jaxvet prove` prints
 * it and jaxvet_prove() hands it out. */
#ifndef JX_REPORTS_ANSWER_H
#define JX_REPORTS_ANSWER_H

#include "prover/prover.h"

/* `id` is JSON (NULL: null); `constraints` are the texts that a core is named
 * by.  "passing" marks an unknown that is due to the solver's process and should
 * not be remembered. */
void jx_answer_json(const jx_answer *a, const char *id,
                    const char *const *constraints, jx_buffer *to);

#endif
