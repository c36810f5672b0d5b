/* repair_ways.h - the ways in which an expression can be repaired, as text
 * and as equations. */
#ifndef JX_REPAIR_WAYS_H
#define JX_REPAIR_WAYS_H

#include "analyzer/transform/edit.h"
#include "reports/pipeline/fix.h"
#include "runtime/witness/origin.h"

/* All jaxprs that are run, each once. */
typedef struct jx_repair_jaxprs {
    int count;
    const jx_jaxpr *const *at;
} jx_repair_jaxprs;

/* Where repairs are made. */
typedef struct jx_repair_site {
    jx_program *program; /* without calls */
    const jx_origins *origins;
    const jx_repair_jaxprs *walk;
    /* quotients whose divisors are not below 0: npositive */
    const jx_eqn *const *positive;
    int npositive;
    const jx_eqn *const *chosen; /* choices of two (select_n): nchosen */
    int nchosen;
} jx_repair_site;

/* A way that is taken: what it changes. */
typedef struct jx_repair {
    const jx_passage *in; /* the expression */
    bool masked;          /* a choice leaves out what is not finite */
    /* only what computes the same function otherwise is wanted */
    bool same_alone;
    int way, number; /* of those that there are: where the next begins */
    const char *says;
    jx_change change;
    JX_VEC(jx_edit) edits;
} jx_repair;

/* The first way, then (`next`) the one after it; false: there are no more. */
bool jx_repair_first(const jx_repair_site *site, jx_repair *repair);
bool jx_repair_next(const jx_repair_site *site, jx_repair *repair);

/* Another way: a finite number in the place of an infinity that is written in
 * the expression and that the equation takes; there is no next one. */
bool jx_repair_infinity(const jx_repair_site *site, jx_repair *repair,
                        const jx_eqn *eqn);

/* Whether an equation was written as that expression. */
bool jx_eqn_is_written(const jx_repair_site *site, const jx_eqn *eqn,
                       const jx_frame *frame);

/* Expressions of the program that the one of this frame is a part of, each
 * once; at most `most`, in the order of the program. */
int jx_enclosing_frames(const jx_repair_site *site, const jx_frame *frame,
                        int most, const jx_frame **to);

#endif
