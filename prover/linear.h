/* linear.h - contradictions among linear inequalities over the integers.
 *
 * Variables are eliminated one by one (Fourier and Motzkin); every inequality
 * that comes out is divided by what its coefficients share, and its constant
 * rounded down, since the variables are whole numbers.  That is quick where the
 * question is small and linear, proves what any of the decider's splits would,
 * and says nothing else: what is not linear is left out of account. */
#ifndef JX_PROVER_LINEAR_H
#define JX_PROVER_LINEAR_H

#include "prover/elementary.h"

/* True only if `dim` has a sign in `wanted` wherever the hypotheses hold; with
 * wanted == 0, that they contradict each other. */
bool jx_linear(const jx_work *work, const jx_hyp *hyps, int nhyps,
               const jx_dim *dim, int wanted);

/* No powers, products or operations. */
bool jx_is_linear(const jx_dim *dim);

#endif
