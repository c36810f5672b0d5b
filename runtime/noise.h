/* noise.h - roundings as they might have been.
 *
 * In a plan that is made with a noise, each step that rounds gives a number
 * some units above its result, or below: what a run then gives differs from
 * what it gives without by about as much as rounding can make of it (an
 * estimate, no bound).  How a number is moved depends on the operation and on
 * what it is made of, so that what is computed twice is the same twice. */
#ifndef JX_NOISE_H
#define JX_NOISE_H

#include "runtime/kernel.h"

/* Read when the plan runs. */
typedef struct jx_noise {
    uint64_t seed;
    double by; /* units of float64, at most; 0: none */
    /* a part of a complex number that is zero changes its sign, too, which says
     * on what side of a cut the number lies */
    bool signs;
} jx_noise;

/* Whether it has any. */
bool jx_prim_is_noisy(jx_prim_id prim);

/* Puts the operands of an equation, as slots, through the noise, where what it
 * rounds is seen in these alone: sums, decompositions.  Elementwise steps move
 * their results (kernels/elementwise.h). */
void jx_plan_noise(jx_planner *p, const jx_noise *noise, const jx_eqn *eqn,
                   jx_slot *ins);

#endif
