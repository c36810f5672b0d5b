/* choose.h - sizes at which a program is worth looking at.
 *
 * A few assignments that the constraints allow: small ones, equal ones, edges
 * of the constraints, sizes on both sides of every comparison that was recorded
 * while tracing, and of what the program's own sizes depend on (n divided by 4:
 * a multiple, and one beside it).  They are found by evaluation; the prover is
 * asked where that finds none.  The same program gives the same sizes. */
#ifndef JX_CHOOSE_H
#define JX_CHOOSE_H

#include "frontend/ir/program.h"
#include "prover/prover.h"

typedef struct jx_choice {
    int nvars;
    const jx_dim_atom *const *vars; /* of the inputs, by name */
    int count;
    const int64_t *values; /* `nvars` of each, the smallest sizes first */
} jx_choice;

enum { JX_CHOOSE_DEFAULT = 5, JX_CHOOSE_MOST = 64 };

/* At most `wanted` assignments: fewer where there are no more that tell
 * anything apart.  Sizes stay small enough to run the program at: no array has
 * more than 2^24 elements, unless the constraints want it so.  In the program's
 * arena.  False with an error: no assignment is known that the constraints
 * allow, or there is no memory. */
bool jx_choose_sizes(const jx_program *program, int wanted, jx_choice *to);

#endif
