/* element.h - one element as a number, and back.
 *
 * Every float dtype of 32 bits or fewer is exact as a double. */
#ifndef JX_ELEMENT_H
#define JX_ELEMENT_H

#include "frontend/ir/dtype.h"

#include <stdbool.h>
#include <stdint.h>

/* The value of an element that lies at `bits` (f64 too). */
double jx_element_real(jx_dtype dtype, const void *bits);
/* The element nearest to `value` (ties away from zero; infinite and NaN as the
 * dtype has them, else its largest).  For text, where values are exact. */
void jx_element_from_real(jx_dtype dtype, double value, void *bits);
/* The integer that an element is, with its sign in all 64 bits; of a
 * boolean 0 or 1. */
uint64_t jx_element_integer(jx_dtype dtype, const void *bits);
/* An integer's low bits as an element of an integer dtype, or whether it is 0
 * as a boolean; false, and nothing, for other dtypes. */
bool jx_element_from_integer(jx_dtype dtype, uint64_t value, void *bits);

#endif
