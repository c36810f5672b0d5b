/* summands.h - programs that take and give sums as the arrays of
 * their summands.
 *
 * Of an array that lies in unreduced parts each device has a summand, and a
 * host has nothing else: so it hands over, or is handed, an array with one more
 * axis, in front, which counts them. */
#ifndef JX_SUMMANDS_H
#define JX_SUMMANDS_H

#include "frontend/ir/program.h"

/* The program whose input (result) `i` is the array of `ins[i]` (`outs[i]`)
 * summands of what it was; 0 leaves it as it is.  Which summands a result has
 * is what they are made of where that is known; else the first is all of it and
 * the others are zero.  NULL with an error. */
jx_program *jx_program_summands(jx_program *program, const int64_t *ins,
                                const int64_t *outs);

#endif
