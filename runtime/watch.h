/* watch.h - where a run first computes what is not finite.
 *
 * A plan that is made with a watch looks at the results of each equation.  What
 * counts is who makes a NaN of operands without one, and an infinity of finite
 * operands: a mask of -inf that a program declares is no news. */
#ifndef JX_WATCH_H
#define JX_WATCH_H

#include "runtime/kernel.h"

enum { JX_WATCHED_OPERANDS = 3, JX_WATCHED_ROOTS = 16 };

typedef struct jx_element {
    jx_dtype dtype; /* as stored */
    unsigned char bits[16];
} jx_element;

typedef struct jx_unfinite {
    const jx_eqn *eqn; /* NULL: none */
    int out;           /* which of its results */
    jx_element value;
    int rank;
    int64_t shape[JX_MAX_RANK], index[JX_MAX_RANK]; /* the first such element's */
    int64_t count; /* of such elements */
    int64_t run;   /* how often the equation had run before, in loops */
    /* The operands there, where they have as many elements as the result. */
    int noperands;
    jx_element operands[JX_WATCHED_OPERANDS];
} jx_unfinite;

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

/* The first element of an array in memory that is not finite, a NaN rather than
 * an infinity, and how many are as it is; false: all are finite. */
bool jx_unfinite_find(const jx_view *view, jx_unfinite *found);

#endif
