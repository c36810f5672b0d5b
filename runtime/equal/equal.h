/* equal.h - do two programs compute the same?
 *
 * Both are ordinary programs that take inputs of the same types and give
 * results of the same.  They are held against each other in two ways, which say
 * different things:
 *
 *     over finite fields (runtime/field): the same as real functions, but for
 *     a chance that is told, under assumptions that are told; nothing about
 *     floats
 *     in floats, at points of several kinds, ordinary and extreme: a difference
 *     is shown by inputs and both results; agreement shows nothing more than
 *     itself
 *
 * A difference of fields alone accuses nobody: what is no polynomial may be the
 * same in a way that fields do not see. */
#ifndef JX_EQUAL_H
#define JX_EQUAL_H

#include "frontend/ir/claim.h"
#include "frontend/ir/typed.h"
#include "runtime/plan.h"
#include "runtime/witness/domain.h"

/* One of both.  Its results from number `nouts` of the question on are pairs
 * that must be equal: an array as one device has it, and as another does. */
typedef struct jx_equal_side {
    const jx_typed *typed; /* its entry runs */
    int nbindings;
    const jx_binding *bindings;
} jx_equal_side;

typedef struct jx_equal_question {
    jx_equal_side a, b;
    /* whose first inputs these are, and what callers promise of them; or NULL */
    const jx_program *declared[2];
    int nouts;         /* results that are compared */
    int alone;         /* or of these one alone, its number from 1; 0: all */
    jx_plan *plans[2]; /* of a and b, in declared dtypes: jx_equal_open() */
    /* per input, as both have it; and the same without numbers that only the
     * programs tell from others.  NULL: no input is an integer.
     * jx_equal_open() */
    const jx_integer_domain *domains, *plain;
    size_t memory; /* of an evaluation and of a plan, in bytes; 0: 2 GiB */
    int64_t work;  /* operations on elements over fields; 0: 2^33 */
    /* or NULL */
    void (*progress)(void *to, const char *doing, int64_t done, int64_t all);
    void *to;
} jx_equal_question;

/* Plans both; false with an error in the context of the one
 * that can't be run. */
bool jx_equal_open(jx_equal_question *question);
void jx_equal_close(jx_equal_question *question);
/* The same question of another first program; the second one's plan is that of
 * `other`, and the first's is freed by whoever asks.  False with an error. */
bool jx_equal_open_beside(const jx_equal_question *other, const jx_typed *typed,
                          jx_equal_question *to);

/* ---- over fields */

/* Where a result differs, as far as fields see it. */
typedef struct jx_field_difference {
    int output;               /* of the first array that differs, or -1 */
    int64_t index, count, of; /* its first element, how many, of how many */
    /* of these: of the first side NaN, where the other has a number */
    int64_t unfinite;
    bool rearranged; /* it has the same elements, at other places */
    /* all of `output` are that many times the other's; 0: they are not */
    int64_t over, under;
} jx_field_difference;

typedef struct jx_equal_fields {
    bool identical; /* error below 2^-bits */
    bool drawn;     /* at integers or keys that were drawn, and no others */
    int bits, rounds;
    int64_t worked; /* operations on elements that it took */
    /* arena text of the first program, or NULL: nothing */
    const char *assuming;
    /* of what is not identical, and of no difference that is known */
    const char *why;
    bool asks_for_nan; /* one of both asks whether something is a number */
    jx_field_difference differs; /* output -1: unknown */
    /* the first pair whose halves differ, or -1, and whose it is */
    int pair, side;
    /* of a: the first that chose numbers where others are NaN */
    const jx_eqn *masked;
    /* of a: the first that takes a slice from elsewhere than it says */
    const jx_eqn *clamped;
} jx_equal_fields;

/* Whether the result is one of those that are compared. */
bool jx_equal_asks(const jx_equal_question *question, int output);
/* Whether integers are drawn that only the programs tell from others. */
bool jx_equal_tells_integers(const jx_equal_question *question);

/* False only without memory (an error in the context of a). */
bool jx_equal_over_fields(const jx_equal_question *question,
                          jx_equal_fields *to);

/* Where planes do not see it: along all ways that comparisons go, with what
 * cells know besides (field_same.h).  Of small programs of floats; what is
 * identical replaces what was said. */
bool jx_equal_by_ways(const jx_equal_question *question, jx_equal_fields *to);

/* The equation of a's entry where both part, on the way to that result: it
 * gives what b never computes, of what b has as well.  NULL: it is not known,
 * or b has all of it. */
const jx_eqn *jx_equal_parting(const jx_equal_question *question, int output);

/* ---- in floats */

/* A point where two results are further apart than rounding explains. */
typedef struct jx_float_witness {
    const char *point; /* "numbers of mean 10000"; NULL: there is none */
    bool extreme;      /* ordinary numbers show nothing */
    bool rounded;      /* in float64 both are the same there */
    bool rearranged;   /* they have the same elements, at other places */
    int output;        /* the array; of a pair: nouts + its number */
    int side;          /* of a pair: whose it is */
    int64_t index, count, of;
    const void *const *inputs; /* dense, in the arena of the first program */
    const void *got, *want;    /* all of that result of a and of b, likewise */
    /* what a and b lose there against float64, of that element; or NaN */
    double lost[2];
} jx_float_witness;

typedef struct jx_equal_floats {
    int points, dropped; /* that were run; where neither result is finite */
    /* elements of results that are finite in neither, over all points */
    int64_t unfinite;
    jx_float_witness differs, pair;
    const char *why; /* they could not be run, or NULL */
    int failed;      /* then which of them: 0 or 1 */
    /* why points are without the numbers that programs tell from others: for
     * one of these a loop goes round too often; or NULL */
    const char *endless;
} jx_equal_floats;

/* Whether a gives less than b where all inputs are 1 (-1), as much (0), or more
 * (1): of sums, whether terms are missing, others, or there twice.  False: it
 * is not the same for all elements, or not known. */
bool jx_equal_of_ones(const jx_equal_question *question, int *sign);

/* The parts of inputs that devices have: `of` says in which one of `count(...)`
 * an element is; 0 of them: the input is not cut. */
typedef struct jx_equal_blocks {
    int (*count)(const void *with, int input);
    int (*of)(const void *with, int input, int64_t element);
    const void *with;
} jx_equal_blocks;

/* On what of the inputs results of a depend, by runs in which a part of an
 * input is NaN, beside those of b. */
typedef struct jx_equal_reached {
    bool less, more; /* on less, on more */
    bool without;    /* on nothing of an input that b's depend on */
    /* some input is in blocks of which several get into one element of b's
     * results, and a's depend on as much of it */
    bool mixed;
} jx_equal_reached;

/* False: it is not known (a run fails, they are large). */
bool jx_equal_reach(const jx_equal_question *question,
                    const jx_equal_blocks *blocks, jx_equal_reached *to);

/* At how many points both agree within rounding, and so do pairs of either: the
 * first alone (`soon`), or all and some more ordinary ones.  0: at one of them
 * they do not, or can't be run. */
int jx_equal_agree(const jx_equal_question *question, bool soon);

/* Whether both differ, by more than rounding, where an input has such integers;
 * a witness without a point: they do not, or can't be run.  False only without
 * memory, or time. */
struct jx_equal_span;
bool jx_equal_in_span(const jx_equal_question *question,
                      const struct jx_equal_span *span, jx_float_witness *to);

/* What both do at integers outside of those that an input is meant to be. */
typedef struct jx_equal_outside {
    jx_float_witness at; /* point NULL: nothing else */
    int input;
    int64_t least, most; /* where they differ */
    int64_t first, last; /* which are meant: from, to */
    /* A program tells these from others, or all integers may be meant: else
     * they are no places of an axis, and what becomes of them nobody says. */
    bool meant;
} jx_equal_outside;

bool jx_equal_look_outside(const jx_equal_question *question,
                           jx_equal_outside *to);

/* False only without memory, or time. */
bool jx_equal_in_floats(const jx_equal_question *question, jx_equal_floats *to);

#endif
