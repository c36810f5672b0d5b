/* roundoff.h - what rounding may account for in a result.
 *
 * A sum of terms that cancel loses more than any default allows, in any order
 * of adding up.  How much is seen by the same in a wider dtype, and by runs of
 * that whose inputs are off a little.  What moves by far less in one of these
 * runs than in another did not lose digits, but went another way at a
 * threshold: that says nothing of its neighbours. */
#ifndef JX_ROUNDOFF_H
#define JX_ROUNDOFF_H

#include "frontend/base/ctx.h"
#include "frontend/ir/dtype.h"

#include <stdint.h>

/* Another order may lose this many times as much, up to this part of the
 * largest number: where nearly all digits are lost, any error would pass. */
enum { JX_ROUNDINGS = 8, JX_ROUNDOFF_PART = 10 };

typedef struct jx_roundoff {
    double *each;   /* room for n: by how much each may be off */
    double lost;    /* at most, anywhere */
    double largest; /* magnitude of a result */
    /* results are what is left where nothing should be, far below what they
     * are made of: `each` is then JX_ROUNDINGS times what was lost, whatever
     * the results are */
    bool is_noise;
} jx_roundoff;

/* n results of that dtype, made of numbers up to `made_of`; the same in float64
 * or complex128, `wide`, and in `runs` runs of that with other inputs.  False:
 * that is not known (something is finite in one of `got` and `wide` only; or
 * there is no memory, which is the context's error then). */
bool jx_roundoff_measure(jx_ctx *ctx, jx_dtype dtype, const void *got,
                         const void *wide, int runs, const void *const *others,
                         int64_t n, double made_of, jx_roundoff *to);

#endif
