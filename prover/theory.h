/* theory.h - a set of constraints as hypotheses, in a space of its own: what
 * the rungs of the prover, its suggestions and its certificates reason from. */
#ifndef JX_PROVER_THEORY_H
#define JX_PROVER_THEORY_H

#include "prover/prover.h"
#include "prover/trace.h"

enum { JX_THEORY_HYPS = 320 };

/* A set of constraints as hypotheses, but for those that are too large: what is
 * proved is true all the same.  Those of a question's divisors are added behind
 * the base_hyps first ones. */
typedef struct jx_theory {
    jx_work work;
    int nhyps, base_hyps;
    bool empty;            /* some variable's range is */
    bool divisor_may_be_0; /* in the last goal */
    int goal_signs;        /* what intervals say of the last goal */
    jx_hyp hyps[JX_THEORY_HYPS];
} jx_theory;

/* In a context below `above`, which pays for it. */
bool jx_theory_init(jx_theory *t, jx_ctx *above, int64_t base,
                    const jx_constraint *constraints, int count);
/* The same, with a trace from the start (trace.h). */
bool jx_theory_init_traced(jx_theory *t, jx_ctx *above, int64_t base,
                           const jx_constraint *constraints, int count,
                           jx_trace *trace);
void jx_theory_free(jx_theory *t);
/* The question as `*d has a sign in *wanted`; false when it is too large. */
bool jx_theory_goal(jx_theory *t, const jx_constraint *question,
                    const jx_dim **d, int *wanted);
/* That the last goal, `d`, has a sign in `wanted`: by bounds or case splits. */
bool jx_theory_proves(jx_theory *t, const jx_dim *d, int wanted, long steps);
/* That the hypotheses exclude each other. */
bool jx_theory_clashes(jx_theory *t, long steps);

#endif
