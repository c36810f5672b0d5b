/* discharge.h - references as values.
 *
 * A reference is an array that equations read and write in place.  Here it
 * becomes a value: each equation takes what it holds at that point and gives
 * what it holds afterwards, so that data flow says all about order, and no
 * later pass knows of references.  What an input of the program holds at the
 * end, if any equation writes it, is a further output.  Broadcasts of indices
 * (`broadcast_to`) become `broadcast_in_dim`.
 *
 *     a[i] += b       c = dynamic_slice[...] a i
 *                     d = add c b
 *                     a' = dynamic_update_slice a d i
 *
 * What is in bounds, and what happens else, is as JAX has it, which does the
 * same when it lowers. */
#ifndef JX_DISCHARGE_H
#define JX_DISCHARGE_H

#include "frontend/ir/program.h"

/* Changes the program, in place, to one without references; `written` of it is
 * then the program as it was.  One without any stays as it is.  False with an
 * error that names the equation: a reference that is given away, used after it
 * was frozen, or indexed by what does not fit it. */
bool jx_program_discharge(jx_program *program);

#endif
