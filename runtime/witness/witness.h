/* witness.h - inputs within their ranges for which a program computes what
 * is not finite.
 *
 * The program runs in its declared dtypes, as written (ieee), and with
 * subnormal numbers taken for zeros (ftz), at corners of the ranges, at random,
 * and where its own derivative leads: toward the place where a logarithm, a
 * root, a quotient or an exponential leaves its domain.  What counts is an
 * output that is not finite although all inputs are, and an equation that is to
 * blame for it: it gives what is not finite though all that it takes is, and
 * with every other such equation's results made finite an output still is not.
 * So the arm that a `where` leaves out blames nobody.
 *
 * Where no range is declared (`plain`), inputs are what any function has
 * to bear, and what is found counts only if the function is not about
 * that (news.c).
 *
 * An index that lies outside (or is there twice, ...) counts if
 * somebody notices: with other numbers in the place of what it gives an
 * output is another.
 *
 * This shows, and proves nothing: nothing found means nothing. */
#ifndef JX_WITNESS_H
#define JX_WITNESS_H

#include <limits.h>

#include "frontend/ir/claim.h"
#include "frontend/ir/typed.h"
#include "runtime/watch.h"

/* No output shows it: a NaN decides when a loop ends. */
enum { JX_OUT_OF_LOOP = INT_MAX };

typedef struct jx_witness {
    jx_unfinite made; /* the equation, and what it gave; */
    /* or what it makes of its indices (that has an equation, then) */
    jx_misuse misuse;
    jx_slip slip; /* ... of integers */
    /* or what is left of a difference, and what it is in double */
    double gave, is;
    jx_level level;
    bool always;           /* whatever the inputs are */
    jx_code code;          /* that says it */
    const jx_stack *stack; /* its line */
    /* where subnormal numbers are taken for zeros (ftz), and not else */
    bool flushed;
    /* in the program as XLA compiles it (transform/xla.h), and not else */
    bool compiled;
    /* outputs are finite, but one is far from what it is in double: `gave`,
     * `is` */
    bool hidden;
    int out; /* the first output that is not finite, or JX_OUT_OF_LOOP; */
             /* where it is hidden, the one that is far off */
    /* What else gives what is not finite of what is, and does not once that
     * equation's results are finite: consequences, in the order of the run. */
    int nthen;
    const jx_unfinite *then;
    const jx_stack *const *then_at; /* their lines */
    int ninputs;
    /* one array per input, dense, in the program's arena */
    const void *const *inputs;
    /* how it gets to the output, where that is looked for (given.h) */
    int npath;
    const jx_eqn *const *path;
} jx_witness;

typedef struct jx_witnesses {
    JX_VEC(jx_witness) found;
    int64_t runs;
    bool spent; /* the operations came to an end before the search */
} jx_witnesses;

typedef struct jx_witness_options {
    bool plain; /* nothing is declared: see above */
    /* outputs are proved to be finite: only digits may be lost */
    bool finite;
    /* if it is a derivative backwards (vjp.h): its last inputs, which are
     * cotangents, and ones; */
    int nseeds;
    /* inputs are those of a run: what it shows counts, and by what way an
     * output comes to be not finite */
    bool given;
    /* nobody asked for it: only what is amiss backwards counts, as notes */
    bool unasked;
    int64_t operations; /* that all runs together may execute */
    bool compiled;      /* the program is what XLA made of another */
    uint64_t seed;
    size_t memory; /* budget of one plan, in bytes; 0: none */
} jx_witness_options;

/* What says of a primitive that it is left by what is finite: its domain
 * (NUM001), or that it overflows. */
jx_code jx_witness_code(jx_prim_id id);

/* Of a program without symbolic sizes whose equations stand at one place each
 * (inline.h); a witness for each equation that one is found for.  False with
 * an error in the program's context only when memory ends; a program that
 * can't be run has none. */
bool jx_witness_search(const jx_typed *typed, const jx_witness_options *options,
                       jx_witnesses *to);

/* Whether a search in the derivative of a program without calls, unasked and
 * plain, may find anything; the derivative has not to be made for that. */
bool jx_gradient_may_tell(const jx_program *program);

/* What a program makes of the inputs of a witness of another one, which
 * takes the same: */
typedef enum jx_standing {
    /* outputs are finite, or nothing of the witness' expression is to blame */
    JX_GONE = 0,
    JX_STANDS,  /* something of that still is */
    JX_NOT_RUN, /* it can't be run */
} jx_standing;

jx_standing jx_witness_stands(const jx_typed *typed,
                              const jx_witness_options *options,
                              const jx_witness *witness);

#endif
