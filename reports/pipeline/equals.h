/* equals.h - `jaxvet equal`: two programs made ready to be held against each
 * other (runtime/equal), and what came of it. */
#ifndef JX_EQUALS_H
#define JX_EQUALS_H

#include "frontend/base/npz.h"
#include "frontend/base/texts.h"
#include "frontend/ir/claim.h"
#include "runtime/equal/equal.h"

typedef enum jx_equal_verdict {
    JX_EQUAL_UNDECIDED = 0, /* `why` */
    JX_EQUAL_TERMS,         /* the same by terms: bit for bit, on all inputs */
    /* over the reals: `bits`, `assuming`; no difference in floats */
    JX_EQUAL_IDENTICAL,
    JX_EQUAL_DIFFERENT, /* the claim's witness shows it */
} jx_equal_verdict;

/* "input 1 is from 0 to 9", and what is shown beyond. */
typedef struct jx_equality_outside {
    const char *within, *message;
    const char *witness; /* JSON; or NULL: it is large */
} jx_equality_outside;

/* One comparison: of values or of derivatives, at sizes. */
typedef struct jx_equality {
    jx_equal_verdict verdict;
    const char *path; /* of a */
    bool gradient;
    /* for meshes of all sizes (equals_meshes.h): `sizes` says
     * which these are */
    bool every;
    const char *sizes; /* "b = 3, n = 2", or NULL: there are none to choose */
    int bits;
    const char *assuming; /* or NULL: nothing */
    /* of what differs at integers outside of those that are meant; or NULL */
    const struct jx_equality_outside *outside;
    /* of `every`: how the prover knows its rule, "elementary"; or NULL */
    const char *proof;
    const char *why;
    int points;     /* at which both ran */
    int devices[2]; /* that a and b are for; 1: ordinary programs */
    /* Of what is different. */
    jx_code code;
    const char *message, *note;
    const char *witness;  /* JSON */
    jx_float_witness at;  /* point NULL: nothing was shown by a run */
    const jx_npz *arrays; /* in0, ... and `got` and `want`, of `at`; or NULL */
} jx_equality;

typedef struct jx_equalities {
    JX_VEC(jx_equality) all;
} jx_equalities;

typedef struct jx_equal_options {
    const jx_texts *set; /* sizes, of either program */
    bool gradient;       /* derivatives, too */
    /* of values and of derivatives: is told of each comparison; or NULL */
    struct jx_mesh_sizes *meshes;
    /* or NULL */
    void (*progress)(void *to, const char *doing, int64_t done, int64_t all);
    void *to;
} jx_equal_options;

/* Compares two programs.  (Whether they are the same by terms is asked where
 * they share a context.) What is different, or undecided, is a claim of
 * `a`.  False with an error of either: they do not take the same, can't be
 * run, no memory. */
bool jx_programs_equal(jx_program *a, jx_program *b,
                       const jx_equal_options *options, jx_claim_list *claims,
                       jx_equalities *to);

#endif
