/* growth.h - how a program grows when its calls are written out.
 *
 * Calls within calls double: twenty functions, each of which calls the one
 * before twice, are a million equations.  Who writes calls out asks here which
 * jaxprs are to be met once instead: none in a program that stays small, else
 * those that stand in several places and are not tiny. */
#ifndef JX_GROWTH_H
#define JX_GROWTH_H

#include "frontend/ir/program.h"

typedef struct jx_growth {
    const jx_program *program;
    /* By number of the jaxpr: its equations, those of what it runs included
     * once for each place, as far as that is written out; 0: not reached. */
    int64_t *sizes;
    int *uses;     /* places that it stands in */
    int64_t own;   /* equations of all that is reached, each once */
    int64_t whole; /* with everything written out */
    int64_t most;  /* what it may grow to */
    int64_t small; /* what has no more is written out anyway */
} jx_growth;

/* From this jaxpr on, which may grow to `least`, or to a few times its own
 * size. In the arena; false without memory. */
bool jx_growth_measure(jx_arena *arena, const jx_program *program,
                       const jx_jaxpr *root, int64_t least, jx_growth *to);

/* It is not written out where it stands. */
bool jx_growth_shares(const jx_growth *growth, const jx_jaxpr *jaxpr);

#endif
