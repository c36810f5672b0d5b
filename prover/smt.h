/* smt.h - questions as SMT-LIB 2.
 *
 * Quotients and remainders are named: for floordiv(x, d) and mod(x, d)
 *     x = d*q + r,  0 <= r < d  (or d < r <= 0 for a negative d),  d != 0
 * since the `div` of SMT-LIB is not Python's for negative divisors and means
 * anything for 0.  Maxima and minima are named, too. */
#ifndef JX_PROVER_SMT_H
#define JX_PROVER_SMT_H

#include "prover/elementary.h"

typedef struct jx_smt {
    jx_work *work;
    jx_buffer *to;
    const char **names; /* by atom id, NULL where not yet named */
    size_t nnames;
    int fresh;
    bool failed;
} jx_smt;

void jx_smt_start(jx_smt *smt, jx_work *work, jx_buffer *to);
/* Asserts that dim has one of these signs. */
void jx_smt_assert(jx_smt *smt, const jx_dim *dim, int signs);
void jx_smt_assert_hyp(jx_smt *smt, const jx_hyp *hyp);
/* The variable that has this name in the script, or NULL. */
const jx_dim_atom *jx_smt_var(const jx_smt *smt, const jx_dim *const *dims,
                              int ndims, const char *name, size_t length);
bool jx_smt_ok(const jx_smt *smt);

#endif
