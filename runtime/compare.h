/* compare.h - is an array what it should be? */
#ifndef JX_COMPARE_H
#define JX_COMPARE_H

#include "frontend/base/ctx.h"
#include "frontend/ir/dtype.h"

#include <stdint.h>

typedef struct jx_tolerance {
    double relative, absolute;
    bool neighbours;    /* or the next number of a dtype of at most 8 bits */
    bool bits;          /* the same bits, -0 and NaN payloads included */
    const double *each; /* absolute, of each element; or NULL */
} jx_tolerance;

/* The default for a dtype: exact for integers and booleans, 1e-12 for f64, 1e-5
 * and 1e-6 for f32, 2 units of their precision for f16 and bf16, a neighbour
 * for the smaller floats. */
jx_tolerance jx_tolerance_of(jx_dtype dtype);

typedef struct jx_mismatch {
    int64_t count;  /* elements that differ */
    int64_t index;  /* of the first, flat */
    int64_t worst;  /* of the largest difference, flat */
    double largest; /* that difference; NaN when one side is not finite */
} jx_mismatch;

/* Compares n elements; true if all agree.  NaN equals NaN, -0 equals +0. */
bool jx_compare(jx_dtype dtype, const void *got, const void *want, int64_t n,
                const jx_tolerance *within, jx_mismatch *found);
/* The largest magnitude among the finite ones of n floats; -1 if none is. */
double jx_largest(jx_dtype dtype, const void *at, int64_t n);
/* One element as text. */
void jx_element_print(jx_dtype dtype, const void *at, jx_buffer *to);

#endif
