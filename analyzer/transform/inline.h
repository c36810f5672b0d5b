/* inline.h - a program without calls: what jit, remat, custom rules and others
 * of their kind call stands where it is called, so that each equation is
 * computed at one place.
 *
 * It computes the same.  What is gone with the calls: rules (the derivative of
 * the result is that of what it computes), and what remat recomputes.  Loops
 * and branches stay, with bodies that are inlined likewise.  An equation's
 * stack is followed by that of its calls, so that each has a line of its
 * user's.  What stands in several places and would make the program grow too
 * much (frontend/ir/growth.h) stays a call. */
#ifndef JX_INLINE_H
#define JX_INLINE_H

#include "frontend/ir/program.h"

/* In the program's context, with what the program says of itself; NULL
 * with an error. */
jx_program *jx_program_inline(jx_program *program);

#endif
