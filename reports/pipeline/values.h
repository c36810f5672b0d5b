/* values.h - what a program computes for inputs within their ranges. */
#ifndef JX_VALUES_H
#define JX_VALUES_H

#include "reports/pipeline/report.h"

/* Whether a program's gradient is looked at, too. */
typedef enum jx_backward {
    JX_BACKWARD_LOSS = 0, /* if it gives one number */
    JX_BACKWARD_ALWAYS,
    JX_BACKWARD_NEVER,
} jx_backward;

/* The program at sizes that its constraints allow, small ones; NULL
 * with an error. */
jx_program *jx_program_at_small_sizes(jx_program *program);

/* Looks for inputs for which an output is not finite, an index lies outside,
 * digits are lost (runtime/witness): within the declared ranges
 * (frontend/ir/range.h), else such as any function has to bear.  What is found
 * joins the report as NUM or IDX, on the line that is to blame.  Of outputs that
 * are `settled` (proofs.h) only lost digits are looked for, and what their
 * gradient is.  The search is counted in operations: the same program has the
 * same report.  False without memory. */
bool jx_check_values(jx_ctx *keep, jx_report *report,
                     const jx_analysis *analysis, const jx_selection *selection,
                     jx_backward backward, bool settled);

#endif
