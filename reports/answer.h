/* answer.h - an answer of the prover as a line of JSON, as `jaxvet prove` prints
 * it and jaxvet_prove() hands it out. */
#ifndef JX_REPORTS_ANSWER_H
#define JX_REPORTS_ANSWER_H

#include "prover/prover.h"

/* `id` is JSON (NULL: null); `constraints` are the texts that a core is named
 * by; `version` is the solver's, NULL if it has not run. */
void jx_answer_json(const jx_answer *a, const char *id,
                    const char *const *constraints, const char *version,
                    jx_buffer *to);

#endif
