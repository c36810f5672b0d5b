/* declared.h - claims about what is declared of a program's sizes, before any
 * equation: that the inputs' shapes give every variable (SHP006), that some
 * sizes satisfy the constraints and each constraint says something (SHP002),
 * that some call fits the inputs (SHP004), that what admits 0 can be 0
 * (SHP005); and about comparisons that JAX could not decide (SHP003). */
#ifndef JX_DECLARED_H
#define JX_DECLARED_H

#include "analyzer/typing.h"

/* Adds the claims.  False without memory. */
bool jx_claim_declared(jx_analysis *to);

#endif
