/* timing.h - how long one device takes, by a model of three numbers.
 *
 * A message takes `alpha` seconds and each of its bytes `beta` (Hockney's
 * model), an operation 1 / `flops` seconds.  What sends is counted as rings of
 * devices send it (communication.h), what computes as in cost.h; outside of
 * computations on many devices each does all of it.
 *
 * The critical path is the longest way from the inputs to a result along what
 * equations need of each other: no schedule takes less, however much it
 * overlaps, and one that does one thing after the other takes computing +
 * sending.  A turn of a loop needs what it carries, no more. */
#ifndef JX_TIMING_H
#define JX_TIMING_H

#include "analyzer/cost.h"

typedef struct jx_rates {
    double alpha, beta; /* seconds for a message, and for a byte */
    double flops;       /* operations in a second; 0: computing takes no time */
} jx_rates;

/* In seconds. */
typedef struct jx_timing {
    double computing, sending; /* of all equations, one after the other */
    /* of `sending`, where both directions of a ring are used at once: by halves
     * of what collectives send, by permutes up and down */
    double both_ways;
    double path;         /* the critical one ... */
    double path_sending; /* ... and how much of it is sending */
} jx_timing;

/* Of a program at these sizes, and of what it costs.  False with an error in
 * its context: a size that is not given, a loop of which it is not known how
 * often it runs, loops that are too long. */
bool jx_timing_of(const jx_typed *typed, const jx_cost *cost, int nbindings,
                  const jx_binding *bindings, const jx_rates *rates,
                  jx_timing *to);

#endif
