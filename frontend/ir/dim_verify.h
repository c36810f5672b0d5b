/* dim_verify.h - is a dim in its normal form, and is it what was computed?
 *
 * For assertions (assert.h): the order of terms is defined here once
 * more, by the structure alone.  Dims of more than a few hundred nodes
 * are not looked at. */
#ifndef JX_DIM_VERIFY_H
#define JX_DIM_VERIFY_H

#include "frontend/ir/dim.h"

/* What is wrong with its form: a term of coefficient 0, terms of one product or
 * unsorted, factors likewise.  Parts of a dim are dims that were looked at. */
const char *jx_dim_fault(const jx_dim *dim);

/* Whether `result` is a + b ('+'), or '-', '*', '/' (floor), '%', '>' (max) or
 * '<' of them, at a few assignments.  NULLs are of no interest. */
bool jx_dim_is_result(char op, const jx_dim *a, const jx_dim *b,
                      const jx_dim *result);

/* The same value at a few assignments of the variables, each within its range
 * (the jx_dim_range_of). */
bool jx_dim_same_values(const jx_dim *a, const jx_dim *b,
                        jx_dim_range_of *range, void *env);

#endif
