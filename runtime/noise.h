/* noise.h - roundings as they might have been.
 *
 * In a plan that is made with a noise, each result of an operation that rounds is moved by
 * about a unit of its own: what a run then gives differs from what it gives without by as
 * much as rounding can make of it.  How a number is moved depends on the number and on
 * what made it, so that what is computed twice is the same twice. */
#ifndef JX_NOISE_H
#define JX_NOISE_H

#include "runtime/kernel.h"

/* Read when the plan runs. */
typedef struct jx_noise {
    uint64_t seed;
    double by; /* units of float64; 0: none */
} jx_noise;

/* Puts the operands of an equation, as slots, through the noise, and its results: as it
 * rounds. */
void jx_plan_noise_before(jx_planner *p, const jx_noise *noise, const jx_eqn *eqn,
                          jx_slot *ins);
void jx_plan_noise_after(jx_planner *p, const jx_noise *noise, const jx_eqn *eqn,
                         jx_slot *outs);

#endif
