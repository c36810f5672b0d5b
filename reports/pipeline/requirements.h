/* requirements.h - what a StableHLO module without a contract asks of its
 * inputs.
 *
 * A `?` says nothing of sizes, and a plain module has no place where its author
 * could: that a slice of 4 elements needs 4 is no mistake, but a precondition.
 * Sizes for which a statement fails are one if they are all of inputs, and if
 * all such statements can hold together for arrays that are not empty: the
 * statement is then a note (SHP016), and what follows from those before it is
 * proved under them, which the report says.  A file of jax.export declares its
 * sizes, and keeps errors. */
#ifndef JX_REQUIREMENTS_H
#define JX_REQUIREMENTS_H

#include "reports/pipeline/settle.h"

/* After all else is settled.  Where ranges of inputs that are sizes contradict
 * what these have to be, or sizes do not fit, says so (`unfit`).  False
 * without memory. */
bool jx_settle_requirements(jx_analysis *analysis,
                            const jx_settle_options *options);

#endif
