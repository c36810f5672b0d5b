/* fold.h - elementwise primitives on scalars that are known: integers in their
 * own width, and IEEE operations that round once.
 *
 * What machines may differ in is not computed: subnormals, divisions by zero,
 * NaNs that are compared, functions that are not rounded correctly. */
#ifndef JX_FOLD_H
#define JX_FOLD_H

#include "frontend/ir/dtype.h"
#include "frontend/ir/prim.h"

typedef struct jx_scalar {
    jx_dtype dtype;
    const unsigned char *bits; /* as the element lies in memory */
} jx_scalar;

/* The element of dtype `out` that the primitive gives; false if that is not
 * exact, nor rounded once. */
bool jx_fold(jx_prim_id id, int nins, const jx_scalar *ins, jx_dtype out,
             unsigned char bits[16]);

#endif
