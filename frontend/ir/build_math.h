/* build_math.h - arithmetic in the making (build.h): equations whose results
 * are as the type rules give them.  Whoever takes nothing gives nothing. */
#ifndef JX_BUILD_MATH_H
#define JX_BUILD_MATH_H

#include "frontend/ir/build.h"

jx_atom jx_math_1(jx_body *b, jx_prim_id prim, jx_atom a);
jx_atom jx_math_2(jx_body *b, jx_prim_id prim, jx_atom a, jx_atom c);
jx_atom jx_math_number(jx_body *b, jx_atom like, double value);
/* a * value, a + value, value - a, value / a */
jx_atom jx_math_times(jx_body *b, jx_atom a, double value);
jx_atom jx_math_plus(jx_body *b, jx_atom a, double value);
jx_atom jx_math_from(jx_body *b, double value, jx_atom a);
jx_atom jx_math_over(jx_body *b, double value, jx_atom a);
jx_atom jx_math_power(jx_body *b, jx_atom a, int64_t n);
/* In that shape: operands may be scalars, or have axes of size 1,
 * beside arrays. */
jx_atom jx_math_spread(jx_body *b, jx_atom a, const jx_aval *like);
/* Where `yes`, else `no`, of one shape. */
jx_atom jx_math_where(jx_body *b, jx_atom yes_if, jx_atom yes, jx_atom no);
/* Of the first operand's shape: all that number. */
jx_atom jx_math_all(jx_body *b, jx_atom like, double value);
/* The sum of two tangents, either of which may be zero. */
jx_atom jx_math_sum(jx_body *b, jx_atom a, jx_atom c);

#endif
