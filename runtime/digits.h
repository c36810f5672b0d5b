/* digits.h - the digits that are left of what a program computes.
 *
 * The program runs in its declared dtypes, and all that it makes of floats is
 * recorded.  Then it runs once more in double (with other roundings than
 * nearest, where it computes in double itself), takes the ways that the first
 * run took, and compares: an equation loses digits that makes a result with
 * fewer than half of its dtype's of operands that have more. What an author
 * rounds on purpose is taken as it was rounded. */
#ifndef JX_DIGITS_H
#define JX_DIGITS_H

#include "frontend/base/budget.h"
#include "frontend/base/map.h"
#include "runtime/watch.h"

/* An equation that loses digits: the first element where it did. */
typedef struct jx_loss {
    jx_unfinite at; /* as it was computed */
    double is;      /* what it is with more digits */
    double scale;   /* the largest number among its operands */
} jx_loss;

/* Who makes an operand: whether there is one that has lost digits. */
typedef struct jx_sources_of_value {
    int count;
    const bool *const *lost;
} jx_sources_of_value;

typedef struct jx_digits {
    double tolerance; /* relative; half of the digits of the narrowest dtype */
    /* what is as much smaller than its operands is zero but for rounding ... */
    double zero;
    /* ... and that of these equations, which know fewer digits: */
    double unsure_zero;
    const jx_map *unsure;
    bool plays; /* the second run */
    /* the runs did not go one way, or there was no memory for them */
    bool astray;
    /* What was recorded, in the order of the run. */
    char *bytes;
    size_t size, room, most, at;
    jx_budget *budget;     /* which pays for `room` */
    const jx_map *sources; /* from variables to jx_sources_of_value */
    /* from equations to a bool per result, of the second run */
    const jx_map *lost;
    const jx_map *passed; /* equations that are not looked at */
    /* equations that round on purpose, or may give something else */
    const jx_map *rounds;
    int nexcused;
    /* what they give is taken as it was computed */
    const jx_eqn *excused[JX_EXCUSED];
    int nlosses;
    jx_loss losses[JX_WATCHED_ROOTS];
} jx_digits;

/* Appends to a plan what records, or (in the wide domain) compares, an
 * equation's results. */
void jx_plan_digits(jx_planner *p, jx_digits *to, const jx_eqn *eqn,
                    const jx_slot *ins, const jx_slot *outs);

#endif
