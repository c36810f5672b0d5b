/* advice.h - what to write to make a finding go away, in the words in which JAX
 * takes it: a constraint beside those that are declared, another spec, a size
 * that is chosen when sizes are known. */
#ifndef JX_ADVICE_H
#define JX_ADVICE_H

#include "frontend/ir/claim.h"
#include "prover/prover.h"

/* One piece of advice per line, without a newline at the end, in the program's
 * arena; NULL if there is none.  `settles` is a constraint that was proved to
 * make the claim hold, or NULL. */
const char *jx_advice(const jx_program *program, const jx_claim *claim,
                      const jx_constraint *settles);

#endif
