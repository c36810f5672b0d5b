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

/* A primitive that has no rule, met at least once. */
typedef struct jx_unknown {
    const char *name;
    int64_t count;
    const jx_jaxpr *jaxpr; /* first place */
    const jx_eqn *eqn;
    const jx_calls *calls; /* that lead there, or NULL */
} jx_unknown;

typedef struct jx_analysis {
    jx_program *program;
    jx_claim_list claims;
    JX_VEC(jx_unknown) unknowns;
    JX_VEC(const char *) assumptions; /* what all that depends on it assumes */
    int64_t settled; /* claims proved on the spot by algebra or bounds, counted
                        and not kept */
    int64_t repeated; /* conditions that another claim states already, or that
                         hold because arrays of that size exist */
    int64_t resting; /* what would be settled, but for an unknown primitive */
    int64_t equations;
} jx_analysis;

/* An empty analysis in the program's arena; NULL without memory. */
jx_analysis *jx_analysis_new(jx_program *program);
/* False only on failure of memory; what is wrong with the program is claims. */
bool jx_type_program(jx_analysis *to);

#endif
