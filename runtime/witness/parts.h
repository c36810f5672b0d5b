/* parts.h - what the files of the search for witnesses share. */
#ifndef JX_WITNESS_PARTS_H
#define JX_WITNESS_PARTS_H

#include "runtime/gradients/gradcall.h"
#include "runtime/witness/domain.h"
#include "runtime/witness/origin.h"
#include "runtime/witness/witness.h"

/* What an input holds, in the numbers of double. */
typedef struct jx_held {
    double lo, hi;
    bool whole;    /* integers and bools */
    bool open;     /* a key, or what else has no numbers: stays zero */
    bool declared; /* that it does */
    bool indexes;  /* as an integer that says a place */
    bool weight;   /* a matrix product takes it: numbers of either sign */
} jx_held;

/* What is plain about inputs of which nothing is declared. */
typedef struct jx_plain {
    bool any; /* inputs stand for what anybody may pass */
    /* ... and for what every such function has to bear: zeros, ones, equal
     * vectors, numbers between 0 and 1, masks that are empty */
    bool modest;
    /* ... or for what nobody promised not to pass: integers that index, and
     * are one too large */
    bool outside;
    bool degenerate; /* elements are equal that need not be */
    /* elements are so much in order that indices alone are looked at */
    bool ordered;
    bool squareless; /* some have no square in float16 */
} jx_plain;

/* Magnitudes of inputs for which all outputs may be proved to be
 * finite (glance.c). */
enum { JX_TAME = 2 };
typedef enum jx_tameness {
    JX_TAME_NOT_ASKED = 0,
    JX_TAME_NO,
    JX_TAME_YES
} jx_tameness;

typedef struct jx_hunt {
    jx_program *program;
    const jx_typed *typed;
    const jx_witness_options *options;
    jx_watch *watch;
    jx_callee run;  /* the program; watched, but where ... */
    bool unwatched; /* ... nothing showed yet (glance.c) */
    /* the same without a watch, if all that a run may show is in its outputs;
     * it takes the inputs of `run` */
    jx_callee glance;
    /* the last run was of that one: the watch tells of one before */
    bool glanced;
    bool glances; /* it may be opened */
    /* of its runs those that did not show anything, those that did */
    int clear, shown;
    /* what any run makes of its indices, which are the same in all */
    bool unseen;
    jx_callee wide; /* the same in double; opened when it is asked for */
    jx_watch *wide_watch;
    bool wide_failed;
    bool wide_spoiled; /* something is not finite there, either */
    jx_origins origins;
    bool placed;             /* an index is computed of floats that it takes */
    JX_VEC(jx_atom) indices; /* of all equations, where they are looked at */
    /* of integers only those count that index without arithmetic */
    bool as_they_are;
    bool edged;      /* it has functions that end at 1: arccos, artanh */
    bool decomposes; /* it decomposes matrices, or solves with them */
    bool gradient;   /* it computes a derivative backwards */
    bool cancels;    /* a difference may lose its digits (cancel.c) */
    bool halves;     /* it computes in float16: an infinity may be hidden */
    /* of which it asks whether they are infinite, where it does that */
    JX_VEC(jx_atom) asked;
    /* products and quotients of cotangents that a choice makes zero, by which
     * operand that is */
    jx_map absorbing[2];
    int nchoices;
    const jx_eqn *const *choices; /* these */
    const jx_eqn *spoiled; /* runs change what it takes from outside, or all */
    bool spoiled_whole;
    jx_plain plain; /* the inputs that are filled in now */
    double largest; /* magnitude of their floats; infinite: not known */
    jx_tameness tame[JX_TAME];
    jx_held *held; /* per input */
    int nroots;    /* of the last run without any excuse */
    jx_unfinite roots[JX_WATCHED_ROOTS];
    jx_rng rng;
    int64_t operations; /* that are left */
    int64_t weight;     /* what a run takes beside its own, for its size */
    bool flushed;       /* subnormal numbers are zeros now */
    /* of what is told of one point, where there are many; or NULL */
    jx_arena *scratch;
    struct jx_ways *ways; /* path.c: made when it is asked for */
    struct jx_tape *tape; /* of what a host gave, played at each run; or NULL */
    jx_witnesses *to;
} jx_hunt;

/* points.c: fills the inputs of the program in one of many ways; false: there
 * are no more than `number` of them. */
bool jx_hunt_fill(jx_hunt *h, int number);
/* Fills them anywhere. */
void jx_hunt_fill_anywhere(jx_hunt *h);
/* The same in one of the ways to set out from; false: there are no more. */
bool jx_hunt_start(jx_hunt *h, int number);
/* Fills one input alone, in one of the ways that hide least; false:
 * there are no more. */
bool jx_hunt_fill_one(jx_hunt *h, int input, int number);
/* Moves the ends of a range of floats inward to numbers of their dtype, if it
 * has any there. */
void jx_held_fit(jx_held *held, jx_dtype dtype);
/* Writes numbers, held within the range, as elements of input `input` from
 * number `at` on; double in, declared dtype out. */
void jx_hunt_put(jx_hunt *h, int input, int64_t at, const double *from,
                 int64_t count);
void jx_hunt_take(const jx_hunt *h, int input, double *to);

/* plain.c: fills inputs of which nothing is declared, in one of some ways;
 * false: there are no more than `number`. */
bool jx_hunt_fill_plain(jx_hunt *h, int number);
/* ... with numbers that are large beside their differences; `near`: beside
 * which the ranges that are declared are large, too. */
void jx_hunt_fill_around(jx_hunt *h, bool near);

/* It decomposes a matrix or solves with one (news.c). */
bool jx_eqn_is_of_matrices(const jx_eqn *eqn);

/* news.c: whether what is not finite for plain inputs is worth telling.  The
 * last run was with these others excused, and `out` was not finite. */
bool jx_hunt_is_news(jx_hunt *h, const jx_unfinite *root, jx_code code, int out,
                     int nothers, const jx_eqn *const *others);

/* news.c: whether one of these roots may be, after a run in which none was
 * excused; it may run again.  To ask that of each root takes a run or two
 * for each, and what is made of large inputs has many, and no value in
 * double, either. */
bool jx_hunt_may_be_news(jx_hunt *h, int nroots, const jx_unfinite *roots);

/* news.c: keeps what gave an infinity in the last run, in float16, that no
 * output shows: what is divided by it is 0.  It may run again. */
void jx_hunt_weigh_hidden(jx_hunt *h);
/* Whether such a thing is looked for at these inputs. */
bool jx_hunt_may_hide(const jx_hunt *h);
/* Notes what the equation says of that, before the search. */
void jx_hunt_look_at_hiding(jx_hunt *h, const jx_eqn *eqn);

/* indices.c: a float that the program takes is among what an
 * index is made of. */
bool jx_hunt_is_of_floats(const jx_hunt *h, jx_atom index);

/* indices.c: keeps those of what the last run made of its indices that are
 * worth telling. */
bool jx_hunt_weigh_indices(jx_hunt *h, int count, const jx_misuse *misuses);

/* cause.c: which code is for it. */
jx_code jx_hunt_code(jx_hunt *h, const jx_unfinite *root, int out, int nothers,
                     const jx_eqn *const *others);
/* Whether it is the derivative of a root, where that root is zero. */
bool jx_hunt_is_slope_of_root(const jx_hunt *h, const jx_unfinite *made);
/* Whether a choice that makes cotangents zero stands in another expression. */
bool jx_hunt_is_masked_elsewhere(const jx_hunt *h, const jx_eqn *eqn);
/* Whether it is a factor of a derivative alone, and the program had a value in
 * the last run without any excuse. */
bool jx_hunt_is_slope(const jx_hunt *h, const jx_eqn *eqn);
/* Finds what makes the program a derivative. */
void jx_hunt_look_backward(jx_hunt *h);
/* Whether a run may show what is told: of a gradient that nobody asked for that
 * is a trap of zeros, a root's derivative and an infinity of the program's own,
 * of which it has to hold the one or the other. */
bool jx_hunt_may_tell(const jx_hunt *h);
/* Whether it has any `absorbing`. */
bool jx_hunt_absorbs(const jx_hunt *h);

/* domain.c: what the program makes of inputs of which nothing is declared,
 * and so what they plainly are: integers that index lie between 0 and the
 * length of the axis. */
void jx_hunt_look_at_uses(jx_hunt *h);

/* witness.c: runs it with these excused; the first output that is not
 * finite, or -1. */
bool jx_hunt_run(jx_hunt *h, bool absorbing, int nexcused,
                 const jx_eqn *const *excused);
/* The first output that is not finite; else JX_OUT_OF_LOOP, where a NaN was
 * compared in a loop's predicate; or -1. */
int jx_hunt_bad_output(const jx_hunt *h);
int jx_callee_bad_output(const jx_callee *f);
/* glance.c: a run that nobody watches takes a fraction of the time, and most
 * points show nothing; for small numbers that may be proved.  Where a run takes
 * longer than the plan of one, and shows nothing but its outputs: what is
 * missing without it is time alone. */
void jx_hunt_look_at_glances(jx_hunt *h);
/* Opens `run`: without a watch for now, where that may show all there is, and a
 * plan with one is long in the making. */
bool jx_hunt_open(jx_hunt *h, bool watched);
/* `run` is watched from now on; its inputs are what they were. */
bool jx_hunt_watch(jx_hunt *h);
bool jx_hunt_is_finite_at_a_glance(jx_hunt *h);
/* witness.c: elements of its outputs that are not finite; those that are no
 * number count twice. */
int64_t jx_hunt_count_bad(const jx_hunt *h);

/* witness.c: keeps an equation that is to blame for an output of the last run,
 * in which the others were excused, if it is worth it. */
void jx_hunt_keep(jx_hunt *h, const jx_unfinite *root, int out, int nothers,
                  const jx_eqn *const *others);
/* witness.c: keeps those equations that are to blame for what is not finite in
 * the last run. False: no operations are left. */
bool jx_hunt_weigh_numbers(jx_hunt *h);

/* domain.c: the largest of the whole numbers that a value may be, where the
 * program says them all (jnp's % has 1 in the place of a 0); else -inf.  `depth`
 * is 0. */
double jx_hunt_largest_number(const jx_hunt *h, jx_atom atom, int depth);
/* told.c: adds the numbers that the program tells from others to what is known
 * of its inputs; one of them; and whether it may be one. */
void jx_hunt_look_at_told(const jx_hunt *h, jx_integer_domain *to);
void jx_domain_tell(jx_integer_domain *to, int64_t number);
bool jx_domain_can_tell(const jx_integer_domain *of, double number);

/* hashes.c: the equations of integers that are bits, and those of which the
 * package says that their author chose what becomes of indices outside. */
void jx_hunt_find_quiet(jx_hunt *h, jx_map *to);

/* path.c: new memory for what is told of a point; that of the last one is
 * gone.  False without. */
bool jx_hunt_scratch(jx_hunt *h);
/* path.c: fills in by what way what is not finite came from its equation to the
 * output, in the last run.  False: it got to none, and another is to blame. */
bool jx_hunt_follow(jx_hunt *h, jx_witness *w);

/* witness.c: runs the program at the inputs that are filled in; what is found
 * is kept. False: no operations are left. */
bool jx_hunt_try(jx_hunt *h);
bool jx_hunt_knows(const jx_hunt *h, const jx_eqn *eqn);
/* The inputs as they are filled in, in the program's arena; NULL
 * without memory. */
const void *const *jx_hunt_inputs(jx_hunt *h);
/* Copies the inputs to a callee of the same program in the wide domain. */
void jx_hunt_hand_over(const jx_hunt *h, jx_callee *to);
/* Runs a callee, as long as there are operations. */
bool jx_hunt_spend(jx_hunt *h, jx_callee *f);

/* An equation, and the loops and branches around it, outermost first. */
enum { JX_SITE_DEPTH = 6 };
typedef struct jx_site {
    const jx_eqn *eqn;
    int depth;
    const jx_eqn *around[JX_SITE_DEPTH];
    const jx_closed *bodies[JX_SITE_DEPTH]; /* of these, in which it stands */
} jx_site;

/* operand.c: the program that gives operands of the equation there: in a loop
 * those of its first turn.  NULL where none is known. */
jx_program *jx_hunt_operands(jx_hunt *h, const jx_site *site, int first,
                             int count);

/* cancel.c: whether it is the difference of a mean of squares and a squared
 * mean; and keeps it, if its digits are lost. */
bool jx_hunt_cancels(const jx_hunt *h, const jx_eqn *eqn);
void jx_hunt_weigh_difference(jx_hunt *h, const jx_site *site);

/* toward.c: tries what the derivative of an equation's operand leads to. */
void jx_hunt_toward(jx_hunt *h, const jx_site *site);
/* Whether there is something to lead to: an operand with a bad place. */
bool jx_hunt_has_goal(const jx_eqn *eqn);

#endif
