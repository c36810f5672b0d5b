/* watch.h - where a run first computes what is not finite.
 *
 * A plan that is made with a watch looks at the results of each equation.  What
 * counts is who makes a NaN of operands without one, and an infinity of finite
 * operands: a mask of -inf that a program declares is no news. */
#ifndef JX_WATCH_H
#define JX_WATCH_H

#include "runtime/badness.h"

enum { JX_WATCHED_ROOTS = 16 };

typedef struct jx_watch {
    jx_unfinite nan, infinity; /* the first of each */
    bool infinity_came_first;
    /* Each equation that gives what is not finite though all that it takes is, once, in
     * the order of the run; more than there is room for are left out. */
    int nroots;
    jx_unfinite roots[JX_WATCHED_ROOTS];
    /* Equations whose results of that kind become ones: what would come of the others
     * alone. */
    int nexcused;
    const jx_eqn *excused[JX_WATCHED_ROOTS];
} jx_watch;

/* Appends a look at what an equation made of its operands. */
void jx_plan_watch(jx_planner *p, jx_watch *to, const jx_eqn *eqn,
                   const jx_slot *ins, const jx_slot *outs);

#endif
