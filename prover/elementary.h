/* elementary.h - a decider for signs of dims, by splitting cases.
 *
 * The domain (variables with ranges, hypotheses) is split until in every case
 * the question is about a polynomial in variables that are not negative, all
 * of whose coefficients have one sign:
 *
 *   - a quotient by a small number: the variables by their residues;
 *   - any other quotient floordiv(x, d): x = d*q + r, d split by sign;
 *   - a maximum: by the sign of what it compares with 0;
 *   - a hypothesis x >= e or x == e: x replaced;
 *   - a polynomial of mixed sign: the order of two variables, small values.
 *
 * Exact, and deterministic: it gives up after a number of steps, not after a
 * time. */
#ifndef JX_PROVER_ELEMENTARY_H
#define JX_PROVER_ELEMENTARY_H

#include "prover/work.h"

/* What a dim may be, as a set. */
enum {
    JX_NEGATIVE = 1,
    JX_ZERO = 2,
    JX_POSITIVE = 4,
};

typedef enum jx_hyp_kind { JX_HYP_GE, JX_HYP_EQ, JX_HYP_NE } jx_hyp_kind;

/* dim >= 0, == 0 or != 0; simplified, in `work`. */
typedef struct jx_hyp {
    const jx_dim *dim;
    jx_hyp_kind kind;
} jx_hyp;

/* True only if `dim` (simplified) has a sign in `wanted` everywhere where the
 * hypotheses hold and no divisor is 0.  With wanted == 0: the hypotheses
 * contradict each other. */
bool jx_elementary(jx_work *work, const jx_hyp *hyps, int nhyps,
                   const jx_dim *dim, int wanted, long steps);

/* By intervals alone: the signs that `dim` may have. */
int jx_signs_by_bounds(const jx_work *work, const jx_dim *dim);

#endif
