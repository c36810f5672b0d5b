/* overlap.h - which of a jaxpr's equations can run at the same time: neither
 * needs what the other gives. */
#ifndef JX_OVERLAP_H
#define JX_OVERLAP_H

#include "frontend/ir/program.h"

typedef struct jx_overlap {
    const jx_program *program;
    /* per variable: it comes of the equation; it is needed for it */
    char *after, *before;
    /* per jaxpr of the program: 0: not looked at, 1: none, 2: some */
    char *products;
    int64_t steps; /* that are left: past them nothing is known */
} jx_overlap;

/* Memory for jaxprs of at most `nvars` variables; false without it. */
bool jx_overlap_open(jx_arena *arena, const jx_program *program, int nvars,
                     jx_overlap *to);

/* Whether some product (of matrices, a convolution, or what runs one) of the
 * jaxpr can run beside its equation `number`. */
bool jx_runs_beside_product(jx_overlap *o, const jx_jaxpr *jaxpr, int number);

#endif
