/* possible.h - what may happen to the values of a program for all that their
 * bounds say, and is neither proved not to nor shown. */
#ifndef JX_POSSIBLE_H
#define JX_POSSIBLE_H

#include "reports/pipeline/report.h"

/* Notes, each with the code that it would have had if inputs had been found
 * for it: where a value may be no finite number and an output may show it, an
 * index may lie outside, a signed integer may leave its dtype.  What the report
 * says already, of the same expression, is not said again.  False without
 * memory. */
bool jx_check_possible(jx_ctx *keep, jx_report *report, jx_program *program,
                       const jx_selection *selection);

#endif
