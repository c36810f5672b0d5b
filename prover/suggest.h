/* suggest.h - constraints that would make a comparison true; and the theory
 * (constraints in a space of their own) that the rungs share. */
#ifndef JX_PROVER_SUGGEST_H
#define JX_PROVER_SUGGEST_H

#include "prover/elementary.h"
#include "prover/search.h"

enum { JX_THEORY_HYPS = 320 };

/* A set of constraints as hypotheses.  Those of a question's divisors are
 * added behind the base_hyps first ones. */
typedef struct jx_theory {
    jx_work work;
    int nhyps, base_hyps;
    bool empty;            /* some variable's range is */
    bool incomplete;       /* some constraint is left out, being too large: what
                            * is proved is true all the same */
    bool divisor_may_be_0; /* in the last goal */
    int goal_signs;        /* what intervals say of the last goal */
    jx_hyp hyps[JX_THEORY_HYPS];
} jx_theory;

bool jx_theory_init(jx_theory *t, int64_t base,
                    const jx_constraint *constraints, int count);
/* The same, with a trace from the start (trace.h). */
bool jx_theory_init_traced(jx_theory *t, int64_t base,
                           const jx_constraint *constraints, int count,
                           struct jx_trace *trace);
void jx_theory_free(jx_theory *t);
/* The question as `*d has a sign in *wanted`; false when it is too large. */
bool jx_theory_goal(jx_theory *t, const jx_constraint *question,
                    const jx_dim **d, int *wanted);
/* That the last goal, `d`, has a sign in `wanted`: by bounds or case splits. */
bool jx_theory_proves(jx_theory *t, const jx_dim *d, int wanted, long steps);

/* That the hypotheses exclude each other. */
bool jx_theory_clashes(jx_theory *t, long steps);

/* Adds suggestions to an answer that says "depends". */
void jx_suggest(jx_ctx *ctx, const jx_search *search,
                const jx_constraint *question, jx_answer *answer);

#endif
