/* retraces.h - is the exported program what the function is?
 *
 * A document may hold the same function traced again at concrete sizes.  The
 * program, refined to the same sizes, must compute the same: by its structure,
 * or else when both are run.  A difference breaks the promise that
 * `f(x) == exported.call(x)` for all admissible sizes, whatever caused it. */
#ifndef JX_RETRACES_H
#define JX_RETRACES_H

#include "analyzer/typing.h"

/* After jx_settle(): compares every retrace, makes claims (SHP001) of the
 * differences, and settles the recorded comparisons whose answer is wrong at a
 * size that was traced again: where the function is the same program there, the
 * answer did not matter.  That no difference was found is said among the
 * assumptions: it holds at these sizes.  False without memory. */
bool jx_settle_retraces(jx_analysis *to);

#endif
