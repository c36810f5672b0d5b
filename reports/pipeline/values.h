/* values.h - what a program computes for inputs within their ranges. */
#ifndef JX_VALUES_H
#define JX_VALUES_H

#include "reports/pipeline/report.h"

/* Looks for inputs within the declared ranges (frontend/ir/range.h) for which an output is
 * not finite (runtime/witness): what is found joins the report as NUM001, NUM003 or NUM004,
 * on the line that is to blame.  Nothing is looked for in a program without ranges.  The
 * search is counted in operations: the same program has the same report.  False without
 * memory. */
bool jx_check_values(jx_ctx *keep, jx_report *report, jx_program *program,
                     const jx_selection *selection);

#endif
