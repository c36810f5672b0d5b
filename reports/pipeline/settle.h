/* settle.h - asks the prover about the claims of a program. */
#ifndef JX_SETTLE_H
#define JX_SETTLE_H

#include "analyzer/typing.h"
#include "prover/prover.h"

typedef struct jx_settle_options {
    bool no_solver;    /* algebra, bounds, case splits and search only */
    bool suggest;      /* look for constraints that would settle a claim */
    jx_solver *solver; /* shared by the programs of a run, or NULL */
} jx_settle_options;

/* Settles what logic can of the claims that have a goal and no verdict yet.
 * A counterexample is believed only after plain evaluation of both sides.
 * Equal goals are asked about once.  False without memory. */
bool jx_settle(jx_program *program, const jx_claim_list *claims,
               const jx_settle_options *options);

#endif
