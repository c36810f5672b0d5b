/* watch.h - where a run first computes what is not finite.
 *
 * A plan that is made with a watch looks at the results of each equation.  What
 * counts is who makes a NaN of operands without one, and an infinity of finite
 * operands: a mask of -inf that a program declares is no news. */
#ifndef JX_WATCH_H
#define JX_WATCH_H

#include "frontend/base/map.h"
#include "frontend/base/vec.h"
#include "runtime/badness.h"

enum { JX_WATCHED_ROOTS = 16, JX_EXCUSED = 64 };

/* What an equation makes of its indices that their author can't have meant. */
typedef enum jx_misuse_kind {
    /* a gather that promises to stay inside has an index outside */
    JX_BEYOND = 1,
    JX_FILLED,   /* ... one that fills what is outside */
    JX_DROPPED,  /* an update whose index lies outside is left out */
    JX_CLAMPED,  /* a slice that would reach outside begins elsewhere */
    JX_REPEATED, /* two updates that differ are for one place */
    /* ... or any two, though they promise to be for different ones */
    JX_NOT_UNIQUE,
    JX_NOT_SORTED, /* indices that promise to ascend do not */
    JX_WRAPPED,    /* a choice of integers takes what is for those below zero */
} jx_misuse_kind;

typedef struct jx_misuse {
    const jx_eqn *eqn;
    jx_misuse_kind kind;
    int axis;            /* of the operand */
    int64_t index, most; /* that it has, and may have */
    /* of vectors of indices, which one it is in; how many there are, */
    int64_t row, rows;
    int64_t outside; /* and of these lie outside */
    bool matters;    /* of what is dropped there something is not zero */
} jx_misuse;

/* What an equation of integers gives that is not what it says. */
typedef enum jx_slip_kind {
    JX_DIVIDED = 1,  /* a quotient or remainder by zero */
    JX_OVERFLOWED,   /* a result that its dtype does not hold */
    JX_NARROWED,     /* an integer converted to a dtype that does not hold it */
    JX_OUT_OF_RANGE, /* ... a float */
} jx_slip_kind;

typedef struct jx_slip {
    jx_slip_kind kind;
    jx_unfinite at; /* the equation, and the first such element */
} jx_slip;

/* Which results of an equation held what is not finite in the last run. */
typedef struct jx_tracked {
    const jx_eqn *eqn;
    bool *bad; /* per result */
} jx_tracked;

typedef struct jx_tracks {
    jx_arena *arena;
    JX_VEC(jx_tracked) all;
    JX_VEC(int64_t *) runs; /* of equations, counted: to be zero before a run */
} jx_tracks;

typedef struct jx_watch {
    jx_unfinite nan, infinity; /* the first of each */
    bool infinity_came_first;
    /* Each equation that gives what is not finite though all that it
     * takes is, once, in the order of the run; more than there is room
     * for are left out. */
    int nroots;
    jx_unfinite roots[JX_WATCHED_ROOTS];
    /* Equations whose results of that kind become ones: what would come of
     * the others alone. */
    int nexcused;
    const jx_eqn *excused[JX_EXCUSED];
    /* Each equation once for each kind; more than there is room
     * for are left out. */
    int nmisuses;
    jx_misuse misuses[JX_WATCHED_ROOTS];
    /* said when the plan is made: an equation of it takes indices */
    bool indexed;
    /* Where the plan has probes of integers, likewise. */
    int nslips;
    jx_slip slips[JX_WATCHED_ROOTS];
    /* the first loop whose predicate compared a NaN; or NULL */
    const jx_eqn *decided;
    /* filled in where there is one when the plan is made; or NULL */
    jx_tracks *tracks;
    /* what it takes from outside is changed: who notices? */
    const jx_eqn *spoiled;
    bool spoiled_whole; /* ... all that it gives */
    /* Products and quotients whose result is zero where that operand is,
     * whatever the other one is; or NULL. */
    const jx_map *absorbing[2];
} jx_watch;

/* Appends a look at what an equation made of its operands. */
void jx_plan_watch(jx_planner *p, jx_watch *to, const jx_eqn *eqn,
                   const jx_slot *ins, const jx_slot *outs);

/* The same for what it makes of indices (watch_index.c).  Without a
 * watch the run just notices (jx_run_notice()) that one lies outside,
 * which costs little. */
void jx_plan_watch_indices(jx_planner *p, jx_watch *to, const jx_eqn *eqn,
                           const jx_slot *ins, const jx_slot *outs);

/* The same for what the predicate of a loop compares (watch_decision.c): a NaN
 * there ends the loop, and may be seen nowhere else. */
void jx_plan_watch_decision(jx_planner *p, jx_watch *to, const jx_eqn *eqn,
                            const jx_slot *ins);

/* The operands of an equation that are looked at so, its indices and what
 * is compared where they repeat: the first, and their number, 0 where
 * there is none. */
int jx_watched_indices(const jx_eqn *eqn, int *count);

/* The same for what it makes of integers (watch_integers.c): of the
 * kinds of probes. */
void jx_plan_watch_integers(jx_planner *p, jx_watch *to, unsigned kinds,
                            const jx_eqn *eqn, const jx_slot *ins,
                            const jx_slot *outs);

#endif
