/* against.h - which equation another machine computed otherwise.
 *
 * A program gives values on the way among its outputs, and somebody says what
 * these are elsewhere.  Each is computed once more, of the others as they are
 * there: whatever comes in is the same, so that a value outside of the declared
 * error of its equation is that equation's doing.  What that error is:
 *
 *     integers, moves, choices                none
 *     sums, products, quotients, roots        a unit in the last place
 *     functions (exp, tanh, ...)              JX_FUNCTION_ULPS units
 *     sums of n terms (reductions,            n units of the sum of their
 *     products of matrices, convolutions)     sizes, in any order (Higham,
 *                                             Accuracy and Stability, 4.2)
 *     what else there is, loops among it      the default tolerance of a dtype
 *
 * and what is subnormal may be 0. */
#ifndef JX_AGAINST_H
#define JX_AGAINST_H

#include "frontend/ir/typed.h"

enum { JX_FUNCTION_ULPS = 16 };

/* An element that lies outside. */
typedef struct jx_culprit {
    const jx_eqn *eqn; /* NULL: none does */
    int out;           /* the program's output that has it */
    int64_t index;     /* flat */
    int64_t count;     /* of such elements of it */
    /* given, computed here of the same, and so in float64 */
    double theirs, ours, wide;
    double error;  /* that is allowed there */
    bool ours_too; /* ours lies outside as well: it is we who are wrong */
    int compared, skipped; /* values; those that can't be computed alone */
} jx_culprit;

/* Of a program without calls (inline.h) at its sizes; arrays are dense, as
 * their dtypes are declared, one per input and output; an output that is not
 * known is NULL.  The first in the program's order.  False with an error
 * when memory ends. */
bool jx_find_culprit(const jx_typed *typed, const void *const *ins,
                     const void *const *theirs, jx_culprit *to);

#endif
