/* wraps.h - for which sizes the program's own size arithmetic does not wrap.
 *
 * The analyzer lists what the program computes from sizes and what its integers
 * hold (jx_size_bound).  This asks the prover which of these bounds follow from
 * the declared constraints, settles the claims that go with them (IDX004), and
 * boils the others down to few conditions that together say the same: the
 * program computes what its proofs are about exactly as long as they hold. */
#ifndef JX_WRAPS_H
#define JX_WRAPS_H

#include "reports/pipeline/settle.h"

/* Settles the bounds' claims and fills in analysis->conditions.  False without
 * memory. */
bool jx_settle_wraps(jx_analysis *analysis, const jx_settle_options *options);

#endif
