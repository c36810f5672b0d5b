/* judge.h - results that are right without being equal.
 *
 * An eigenvector has any sign, a sum's last bits depend on its order, and a
 * sort that need not be stable may leave equal keys in any order.  Such
 * results are judged by what they have to satisfy: a factorization by its
 * residual, orthogonality and order (LAPACK's own criterion: relative to n
 * units of rounding), a long sum by its error relative to the largest result,
 * a sort by holding the same rows. */
#ifndef JX_JUDGE_H
#define JX_JUDGE_H

#include "runtime/plan.h"

/* Whether the program has such a criterion and its outputs meet it.  `want`
 * holds the expected outputs; everything is dense and in the declared dtypes.
 * When false, *why says which criterion failed (text of static storage), or
 * is NULL when there is none. */
bool jx_judge_outputs(const jx_program *program, const jx_plan *plan,
                      const void *const *ins, const void *const *outs,
                      const void *const *want, const char **why);

#endif
