/* check.h - the pipeline: read, type, claim, prove, and what is left to say. */
#ifndef JX_CHECK_H
#define JX_CHECK_H

#include "frontend/base/texts.h"
#include "reports/pipeline/proofs.h"
#include "reports/pipeline/report.h"
#include "reports/pipeline/settle.h"
#include "reports/pipeline/suppress.h"
#include "reports/pipeline/values.h"

typedef struct jx_check_options {
    jx_selection selection;
    int64_t min_elements; /* of STG001; 0: the lint's own */
    bool no_rules;        /* leave the derivative rules of documents out */
    jx_backward backward; /* whether gradients are run, too */
    jx_settle_options settle;
    int nwhere; /* constraints to add to those that are declared */
    const char *const *where;
    int nranges; /* what inputs hold, beside what is declared: "x in [0, 1]" */
    const char *const *ranges;
    jx_proofs proofs; /* that are asked for */
    bool possible;    /* what is neither proved nor shown is told, too */
    /* what is done to a program first; NULL: nothing */
    const jx_texts *transform;
} jx_check_options;

/* Types the program, claims what has to hold, lints it, and settles what logic
 * can.  NULL without memory. */
jx_analysis *jx_check_program(jx_program *program,
                              const jx_check_options *options);

/* Checks a program and fills the report, which lives in `keep`, with all that
 * is to be said of it (jx_check_finish() is still to come).  False with an
 * error in the program's context or in `keep`. */
bool jx_check_report(jx_ctx *keep, jx_report *report, jx_program *program,
                     const jx_check_options *options);

/* The whole for one input, `size` bytes that go by the name of `path` (or, if
 * `bytes` is NULL, the file of that name).  It is read into `ctx`, whose limits
 * hold for the program and its report, and which the caller frees; what the
 * report shows lives in `keep`. */
jx_report jx_check_input(jx_ctx *keep, jx_ctx *ctx, const char *path,
                         const char *bytes, size_t size,
                         const jx_check_options *options);

/* For each report of a run, in their order: puts aside what comments suppress
 * (`suppressions` may be NULL) and, without `deps`, what is in libraries; then
 * jx_report_finish(). */
bool jx_check_finish(jx_ctx *keep, jx_report *report, bool deps,
                     jx_suppressions *suppressions);

#endif
