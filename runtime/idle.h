/* idle.h - how much of what devices multiply reaches a result.
 *
 * In a pipeline a stage computes at every step, also before its first input
 * is there and after its last one has left: that is its bubble.  What a
 * device multiplies then is chosen away, or written where something else is
 * written later.  So the program is run as it is for all devices, element by
 * element, each of which knows of what it was made; and from the results back
 * it is told which elements of products led there.  Predicates and indices
 * that follow from the devices' numbers are known; what is chosen by numbers
 * counts as used. */
#ifndef JX_IDLE_H
#define JX_IDLE_H

#include "frontend/ir/typed.h"

typedef struct jx_idle {
    /* multiplications in contractions of floats, of all devices */
    int64_t products;
    int64_t useful;  /* of these: they reach a result */
    const char *why; /* it is not known, or NULL */
} jx_idle;

/* Of a program at sizes that is written out for all devices
 * (jx_program_spread).  False only without memory or time. */
bool jx_idle_of(const jx_typed *typed, jx_idle *to);

#endif
