/* slice.h - which constraints a question has to do with.
 *
 * Two constraints are connected when they share a variable, or are connected to
 * a third.  A question's slice is what is connected to its variables: the rest
 * neither helps a proof nor restricts a counterexample, as long as it allows
 * some assignment at all. */
#ifndef JX_PROVER_SLICE_H
#define JX_PROVER_SLICE_H

#include "frontend/base/map.h"
#include "prover/elementary.h"
#include "prover/prover.h"

typedef struct jx_slices {
    jx_dims *dims;
    int nconstraints;
    const jx_constraint *constraints;
    int nvars;
    const jx_dim_atom **vars;
    jx_map known; /* from each variable to its place in `vars` */
    int *joined; /* by variable: the first that it is connected to, or itself */
    int *of;     /* by constraint: a variable of it, or -1 */
    /* by variable and by constraint: a slice's constraints in order, from its
     * first variable; -1 ends them */
    int *first, *next;
    int count; /* slices */
} jx_slices;

/* False without memory. */
bool jx_slices_init(jx_slices *slices, jx_ctx *ctx, jx_dims *dims,
                    const jx_constraint *constraints, int count);
/* The constraints connected to the question, and those without variables, in
 * order; how many. */
int jx_slices_of(const jx_slices *slices, const jx_constraint *question,
                 jx_constraint *to);
/* Whether no constraint before i is connected to it. */
bool jx_slices_begins(const jx_slices *slices, int i);
/* Those connected to constraint i, in order. */
int jx_slices_around(const jx_slices *slices, int i, int *to);

/* Of many hypotheses those nearest to the variables of `dim`, at most `room`,
 * with few enough variables for the decider; how many. */
int jx_nearest_hyps(jx_work *work, const jx_hyp *hyps, int nhyps,
                    const jx_dim *dim, jx_hyp *to, int room);

#endif
