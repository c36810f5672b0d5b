/* shake.h - constants a little off, by about as much as they were rounded.
 *
 * What a computation says is no surer than that it says the same with other
 * roundings of its constants.  Those that a few bits hold (1, 0.5, 1000) are
 * what their author meant and stay; equal ones stay equal. */
#ifndef JX_SHAKE_H
#define JX_SHAKE_H

#include "frontend/ir/dtype.h"

#include <stdint.h>

typedef struct jx_shake {
    uint64_t seed;
    double by; /* in units of the dtype's rounding; 0: not at all */
} jx_shake;

/* Of a float or complex dtype, relative to the value; else 0. */
double jx_unit_roundoff(jx_dtype dtype);

/* The largest finite number of a float dtype, or of the parts of a complex one;
 * else infinity. */
double jx_largest_finite(jx_dtype dtype);

/* Moves values of float64 or complex128, `stored`, that a declared
 * dtype rounded. */
void jx_shake_values(const jx_shake *shake, jx_dtype declared, jx_dtype stored,
                     void *data, int64_t count);

/* The same, where the declared dtype is a narrower one. */
void jx_shake_constants(const jx_shake *shake, jx_dtype declared,
                        jx_dtype stored, void *data, int64_t count);

#endif
