/* suggest.h - constraints that would make a comparison true. */
#ifndef JX_PROVER_SUGGEST_H
#define JX_PROVER_SUGGEST_H

#include "prover/search.h"

/* Adds suggestions to an answer that says "depends". */
void jx_suggest(jx_ctx *ctx, const jx_search *search,
                const jx_constraint *question, jx_answer *answer);

#endif
