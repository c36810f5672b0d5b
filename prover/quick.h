/* quick.h - the first rung, for questions that intervals decide at sight: the
 * constraints only give ranges to variables, no divisor can be 0, and the two
 * sides' intervals do not meet, or meet as they should.  Works on the caller's
 * dims, makes none, and so costs less than setting up what the other rungs
 * need. */
#ifndef JX_PROVER_QUICK_H
#define JX_PROVER_QUICK_H

#include "prover/prover.h"

enum { JX_QUICK_VARS = 8 };

typedef struct jx_quick {
    bool usable; /* the constraints are ranges, and none is empty */
    int64_t base;
    int nvars;
    const jx_dim_atom *vars[JX_QUICK_VARS];
    jx_dim_range ranges[JX_QUICK_VARS];
} jx_quick;

void jx_quick_init(jx_quick *quick, int64_t base,
                   const jx_constraint *constraints, int count);

/* JX_TRUE, JX_FALSE, or JX_UNKNOWN where it takes more. */
jx_truth jx_quick_compare(jx_quick *quick, const jx_dim *lhs,
                          jx_relation relation, const jx_dim *rhs);

#endif
