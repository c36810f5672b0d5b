/* proofs.h - what is proved of the values of a program, for all inputs within
 * their ranges and all sizes.
 *
 * Asked is one of
 *
 *     finite               every output is finite
 *     in-bounds            every index lies within what it indexes
 *     no-wrap              no integer leaves its dtype
 *     out0 in [0, 1]       every element of that output lies there
 *
 * and of each it is said in which semantics it holds (extent.h). */
#ifndef JX_PROOFS_H
#define JX_PROOFS_H

#include "reports/pipeline/report.h"

typedef struct jx_proofs {
    int nasked;
    const char *const *asked;
} jx_proofs;

/* Proves what is asked, unless `unfit` (NULL: nothing) says why that would mean
 * nothing: what is proved joins the report's proofs and counts as proved; what
 * is not is undecided (NUM020), at the line where the bound was lost.  Nobody
 * asks for finite outputs of a program with ranges, which is tried: *settled
 * where it is proved in all semantics and nothing is indexed, so that nobody
 * need look for the contrary.  False with an error (a usage error for what
 * cannot be asked). */
bool jx_check_proofs(jx_ctx *keep, jx_report *report, jx_program *program,
                     const char *unfit, const jx_proofs *proofs,
                     const jx_selection *selection, bool *settled);

#endif
