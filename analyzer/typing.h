/* typing.h - abstract evaluation of a whole program, symbolic throughout.
 *
 * Types every jaxpr once, from its declared inputs; a call checks that its
 * operands fit the callee's inputs.  Inferred output avals are compared with
 * the declared ones; later equations use the inferred ones (the declared ones
 * where a claim says that both are equal).  An unknown primitive gives what it
 * declares, which becomes an assumption, and nothing that depends on it is
 * settled. */
#ifndef JX_TYPING_H
#define JX_TYPING_H

#include "frontend/ir/claim.h"
#include "frontend/ir/typed.h"

/* A primitive that has no rule, met at least once. */
typedef struct jx_unknown {
    const char *name;
    int64_t count;
    const jx_jaxpr *jaxpr; /* first place */
    const jx_eqn *eqn;
    const jx_calls *calls; /* that lead there, or NULL */
} jx_unknown;

/* Something that the program computes from sizes and then looks at (it divides,
 * compares, converts it, makes an array of that size): its integers hold the
 * value only while `dim <= most`. */
typedef struct jx_size_bound {
    const jx_dim *dim;
    jx_int most;
    int scope;
    int bits;        /* of the integers */
    bool reached;    /* `dim` is a value of the program, and not just beyond all
                        of them */
    bool asserted;   /* ... of an assertion: no constraint keeps it, since that
                        is what the assertion would enforce */
    jx_claim *claim; /* IDX004, or NULL: not worth a finding */
} jx_size_bound;

/* No variable is larger, as far as bounds of size arithmetic go: 2^31 elements
 * along one axis fail anyway, and sizes a little larger than a variable are not
 * worth a word. */
#define JX_LARGEST_SIZE (((int64_t)1 << 31) - ((int64_t)1 << 16))

typedef struct jx_analysis {
    jx_program *program;
    jx_claim_list claims;
    jx_typed typed; /* by jx_type_program() */
    JX_VEC(jx_unknown) unknowns;
    JX_VEC(const char *) assumptions; /* what all that depends on it assumes */
    /* why no sizes are as is assumed and promised, so that nothing that is said
     * of values would say anything; NULL */
    const char *unfit;
    JX_VEC(jx_size_bound) bounds;    /* of size arithmetic, by jx_lint(); those
                                     that hold anyway are left out */
    JX_VEC(const char *) conditions; /* the sizes for which nothing wraps, "b*t
                                        <= 2147483647"; none: for all */
    bool may_wrap;    /* some integer made from sizes was not followed, and may
                      wrap where the conditions hold */
    int64_t settled;  /* claims proved on the spot by algebra or bounds, counted
                        and not kept */
    int64_t repeated; /* conditions that another claim states already, or that
                         hold because arrays of that size exist */
    int64_t resting;  /* what would be settled, but for an unknown primitive */
    int64_t equations;
} jx_analysis;

/* An empty analysis in the program's arena; NULL without memory. */
jx_analysis *jx_analysis_new(jx_program *program);
/* False only on failure of memory; what is wrong with the program is claims. */
bool jx_type_program(jx_analysis *to);
/* Both at once; NULL without memory, or a program. */
jx_analysis *jx_typed_analysis(jx_program *program);
/* The same for who does not want the claims. */
const jx_typed *jx_typed_of(jx_program *program);

#endif
