/* values.h - between what each value of a program lies, for all inputs
 * within their ranges.
 *
 * The program is walked once, in order, with an extent (extent.h) for every
 * value: a sound bound of all its elements, for all sizes that the program
 * allows and all inputs within the declared ranges (frontend/ir/range.h; of
 * floats the finite ones alone, also where a range ends at infinity). What
 * intervals alone lose is kept by value numbers: equal computations have one
 * number, so that a difference from the own maximum is at most 0 and 0
 * somewhere, a sum of exponentials of it at least 1, and an element of a sum of
 * what is not negative no more than the sum; and what is chosen where a
 * predicate holds is bounded by what that says.
 *
 * Loops are walked until their extents hold for any number of turns; those with
 * few, known turns as often as they turn. */
#ifndef JX_VALUES_ANALYSIS_H
#define JX_VALUES_ANALYSIS_H

#include "analyzer/values/extent.h"
#include "frontend/base/map.h"
#include "frontend/base/vec.h"
#include "frontend/ir/program.h"

/* What is asked of an equation, beside that its results are finite. */
typedef enum jx_asked {
    JX_ASKED_IN_BOUNDS, /* each index that it takes lies within its operand */
    JX_ASKED_NO_WRAP,   /* no integer that it computes leaves its dtype */
    JX_ASKED_NOT_BELOW, /* no divisor is less than 0 */
} jx_asked;

typedef struct jx_extents_question {
    jx_asked what;
    const jx_eqn *eqn;
    const jx_eqn *place; /* it, or what it is within, on a user's line */
    bool holds;
    /* Of the index that may lie outside, of the operand that may wrap; no
     * number where nothing is known of it. */
    jx_extent is;
    jx_extent may;
} jx_extents_question;

/* Where a bound was lost: an equation gives what may not be finite of
 * operands that are. */
typedef struct jx_lost {
    const jx_eqn *eqn;
    const jx_eqn *place; /* as of a question */
    jx_extent is;
    int nof; /* of its first operands */
    jx_extent of[2];
} jx_lost;

typedef struct jx_extents {
    jx_semantics semantics;
    int nouts;
    const jx_extent *outs;
    const jx_lost *const
        *lost; /* per output; NULL: it is finite, or of an input that is not */
    JX_VEC(jx_extents_question)
    questions; /* one per equation and kind, in order */
    /* Of jx_program_leaks() alone: where what is not finite may be made, one per
     * equation, in order, and the results that may not be finite. */
    JX_VEC(const jx_lost *) leaks;
    jx_map unbounded;
    bool ended; /* the budget: what was left is unknown */
} jx_extents;

/* Most equations that are walked, loops' turns counted. */
enum { JX_EXTENTS_BUDGET = 1000000 };

/* In the program's arena, of a program without calls
 * (analyzer/transform/inline.h); what is a call all the same is walked where it
 * stands.  NULL without memory. */
jx_extents *jx_program_extents(jx_program *program, jx_semantics semantics);
/* The same where no float that is given has a larger magnitude, either. */
jx_extents *jx_program_extents_within(jx_program *program,
                                      jx_semantics semantics, double largest);
/* The same, with all leaks. */
jx_extents *jx_program_leaks(jx_program *program, jx_semantics semantics);

#endif
