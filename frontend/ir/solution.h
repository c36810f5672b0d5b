/* solution.h - how the variables of a program's sizes follow from the shapes of
 * its inputs.
 *
 * JAX's way: sizes are looked at in the order of inputs and axes; one that is
 * linear in its only unknown variable gives that variable; one whose variables
 * are known is compared; again from the start until nothing more follows.  Each
 * step is something that a call checks. */
#ifndef JX_SOLUTION_H
#define JX_SOLUTION_H

#include "frontend/ir/program.h"

typedef struct jx_size_step {
    int input, axis;
    const jx_dim *dim; /* as declared */
    /* dim == factor*var + rest, and `var` becomes known; NULL: all variables
     * are known, and the size is compared. */
    const jx_dim_atom *var;
    jx_int factor;
    const jx_dim *rest;
} jx_size_step;

typedef struct jx_solution {
    int nsteps;
    const jx_size_step *steps;
    int nopen; /* sizes that gave nothing, and the variables they leave */
    const jx_size_step *open;
    int nunsolved;
    const jx_dim_atom *const *unsolved;
} jx_solution;

/* Of inputs of these types, with variables known from the start; in the dims'
 * arena.  NULL without memory. */
const jx_solution *jx_solution_of_avals(jx_dims *dims, int count,
                                        const jx_aval *const *avals, int nknown,
                                        const jx_dim_atom *const *known);
/* Of a program's inputs. */
const jx_solution *jx_solution_of(const jx_program *program, int nknown,
                                  const jx_dim_atom *const *known);

#endif
