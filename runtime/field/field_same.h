/* field_same.h - do two programs compute the same real numbers?
 *
 * Both are evaluated over random rings (cell.h), on the same random inputs,
 * along all the ways that their comparisons can go.  Programs that differ
 * anywhere as formal expressions give different elements but for a chance
 * that degrees, constants and primes bound; so many rounds are run that it
 * is below 2^-60.
 *
 * "Identical over the reals" says nothing of floats: what overflows, cancels or
 * is not a number at some input is a matter of running. */
#ifndef JX_FIELD_SAME_H
#define JX_FIELD_SAME_H

#include "runtime/field/field.h"

typedef enum jx_field_verdict {
    JX_FIELD_UNDECIDED = 0, /* `why` */
    JX_FIELD_IDENTICAL,     /* error below 2^-bits, under `assuming` */
} jx_field_verdict;

typedef struct jx_field_question {
    const jx_typed *typed;
    /* the program of b, if that is another one; it has no sizes */
    const jx_typed *other;
    const jx_closed *a, *b; /* they take and give the same */
    bool strict;            /* at kinks, too, both give the same */
    /* inputs may be such: they are drawn, which is assumed to do */
    bool integers;
    int nbindings; /* sizes */
    const jx_binding *bindings;
    uint64_t seed;
    size_t memory; /* of the evaluation, in bytes; 0: 1 GiB */
    int64_t paths; /* to be followed at most; 0: 3^6 */
    /* operations on elements, in all, and those that are tried in searches for
     * products; 0: 2^21, a tenth of a second */
    int64_t work;
    /* a and b are derivatives, but for so many results at the end, which are
     * the function's own; 0: they are no derivatives */
    int nvalues;
} jx_field_question;

typedef struct jx_field_answer {
    jx_field_verdict verdict;
    int bits;
    int64_t paths; /* that were followed, in all rounds */
    /* "no divisor is 0, ..."; arena text, or NULL: nothing */
    const char *assuming;
    bool kinks;      /* ... of what `a` gives at a kink */
    const char *why; /* arena text */
} jx_field_answer;

/* Whether `a` gives what `b` does, wherever `b` is defined.  At a kink,
 * where two compared numbers are equal, `a` may give what both give on one
 * side of it, or their mean: that is then among the assumptions.  Where it
 * was asked for equality it may do so as well, if the function is there what
 * it comes to from both sides, as x log y with 0 for x = 0 is.  False only
 * without memory. */
bool jx_field_same(const jx_field_question *question, jx_field_answer *answer);

#endif
