/* element.h - one element of a float dtype as a number, and back.
 *
 * Every float dtype of 32 bits or fewer is exact as a double. */
#ifndef JX_ELEMENT_H
#define JX_ELEMENT_H

#include "frontend/ir/dtype.h"

/* The value of an element that lies at `bits` (f64 too). */
double jx_element_real(jx_dtype dtype, const void *bits);
/* The element nearest to `value` (ties away from zero; infinite and NaN as the
 * dtype has them, else its largest).  For text, where values are exact. */
void jx_element_from_real(jx_dtype dtype, double value, void *bits);

#endif
