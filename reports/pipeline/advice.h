/* advice.h - what to write to make a finding go away, in the words in which JAX
 * takes it: a constraint beside those that are declared, another spec, a size
 * that is chosen when sizes are known. */
#ifndef JX_ADVICE_H
#define JX_ADVICE_H

#include "frontend/ir/claim.h"
#include "prover/prover.h"

/* One piece of advice per line, without a newline at the end, in the program's
 * arena; NULL if there is none.  `settles` are constraints that were proved to
 * make the claim hold together. */
const char *jx_advice(const jx_program *program, const jx_claim *claim,
                      int count, const jx_constraint *settles);
/* Those of an answer: the first that does it alone, or all that do together;
 * their number. */
int jx_advised(const jx_answer *answer, const jx_constraint **settles);
/* "mod(h, 16) == 0 and mod(w, 16) == 0", in the program's arena. */
const char *jx_advised_text(const jx_program *program, int count,
                            const jx_constraint *settles);

#endif
