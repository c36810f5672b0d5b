/* settle_declared.h - asks the prover about what a program declares of its
 * sizes, rather than about one equation. */
#ifndef JX_SETTLE_DECLARED_H
#define JX_SETTLE_DECLARED_H

#include "reports/pipeline/settle.h"

/* Settles goals of the kinds ADMISSIBLE, CALLABLE, ADDS and ANSWER; false if
 * the claim has another. */
bool jx_settle_declared(jx_program *program, jx_claim *claim,
                        const jx_settle_options *options);

/* Looks, once all else is settled, for variables that have one value only: by
 * the constraints, or because everything else was refuted (SHP008).  Appends
 * claims to `claims`.  False without memory. */
bool jx_settle_fixed(jx_program *program, jx_claim_list *claims,
                     const jx_settle_options *options);

#endif
