/* turns.h - loops that go on where they have come to an end.
 *
 * An iteration ends when it is near enough.  In a plan that is made with turns
 * its loops may go on from there: what converges comes as near to where it
 * leads as numbers are, and what it gives is a function of its inputs that
 * knows nothing of a tolerance or a count of steps. What is no number (floats,
 * complex numbers: the others) is after that what it was at the loop's own end:
 * how many turns it made, whether it found something.  A turn that makes of
 * finite numbers one that is not (0 / 0, where nothing is left to improve) is
 * taken back, and the loop ends there. */
#ifndef JX_TURNS_H
#define JX_TURNS_H

#include "runtime/kernel.h"

enum { JX_MOST_TURNS = 64 }; /* times as many as a loop's own */

typedef enum jx_turning {
    JX_TURN_OUTERMOST,        /* loops that lie in none that could go on */
    JX_TURN_OUTERMOST_SEARCH, /* the same of searches alone */
    JX_TURN_INNERMOST_SEARCH, /* those that hold no other */
    JX_TURNINGS,
} jx_turning;

typedef struct jx_turns {
    /* Counted when a plan is made: loops that can go on, and that can't, since
     * they take or give something at each turn. */
    int again, once;
    /* Of `again`: those that end when they are near enough, called searches.
     * What makes so many turns is a function of these: nobody knows that it was
     * meant to lead further. */
    int searches;
    /* Read when it runs, by one execution at a time: which loops go on, for how
     * many times their own turns and some beside, but no more than `most` (0:
     * as many as that). */
    jx_turning which;
    int times; /* at most JX_MOST_TURNS; 0: none goes on */
    int64_t most;
    int fewer; /* than that: turns that are left out */
    /* numbers that such a loop carries at its end are moved first, by chance
     * from this seed; 0: they are not ... */
    uint64_t nudge;
    double part; /* ... by so much of themselves, at most */
    /* written: the fewest turns more that ended in one that was taken back, if
     * that is less than what was there */
    int64_t least;
    int within;    /* loops of that kind in which the run is, 0 between runs */
    bool nested;   /* written: one of them began within another */
    int64_t begun; /* loops that have begun, of all runs */
} jx_turns;

/* One loop as planned. */
typedef struct jx_turning_loop {
    jx_turns *turns; /* NULL: it does not go on */
    int body;        /* its block */
    bool is_search;
    /* of a loop under vmap, 1 of others: leading elements of all
     * that it carries */
    int64_t rows;
} jx_turning_loop;

/* Whether a `while` ends when it has come near enough to something: what
 * decides that is more than how many turns there were, or a clock that moves on
 * by the same in each of them. */
bool jx_turns_is_search(const jx_eqn *eqn);

/* Bytes of scratch that it needs for what it carries; 0 without turns. */
size_t jx_turns_scratch(const jx_turning_loop *loop, int count,
                        const jx_slot *carry);

/* Called where the loop begins, which gives its number, and where it ends,
 * having made so many turns of its own.  `going` is what decides which rows
 * take a turn (NULL: there is one). */
int64_t jx_turns_begin(const jx_turning_loop *loop);
bool jx_turns_end(jx_run *run, const jx_turning_loop *loop, int64_t number,
                  int64_t made, const jx_view *going, int count,
                  const jx_view *carry, void *scratch);
/* Called instead where its run is cut short, and handed on: false. */
bool jx_turns_cut(const jx_turning_loop *loop);

#endif
