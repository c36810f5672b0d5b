/* gradjudge.h - does a number agree with slopes that have error bars? */
#ifndef JX_GRADJUDGE_H
#define JX_GRADJUDGE_H

#include "runtime/ridders.h"

typedef enum jx_opinion {
    JX_SKIP = 0,  /* there is nothing to compare with */
    JX_UNCERTAIN, /* the error bars are too wide to tell */
    JX_AGREE,
    JX_DISAGREE,
} jx_opinion;

/* A linear functional of slopes: what a rule must give lies in [low, high] (one
 * number where no kink is involved) up to `error`; `scale` sums magnitudes. */
typedef struct jx_target {
    double low, high, error, scale;
    bool undefined, stair, imprecise;
} jx_target;

void jx_target_add(jx_target *t, double weight, const jx_slope *slope);

/* Judges a value that was summed from terms of magnitude `scale`, to the given
 * relative tolerance. */
jx_opinion jx_judge(double value, double scale, double tolerance,
                    const jx_target *t);

#endif
