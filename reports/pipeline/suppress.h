/* suppress.h - comments in the checked source that accept a finding:
 *
 *     if x.shape[0] == 1:  # jaxvet: ignore[SHP001] b is never 1 here
 *
 * The comment stands on a line of the place that the finding shows.  It lists
 * codes, beginnings of codes (STG) or names; what follows the bracket is the
 * reason.  One that suppresses nothing in all programs of a run is itself a
 * finding (SUP001), so that it goes when its reason does.
 *
 * Lines come from disk (source.h): a program from somebody else must not be
 * able to hush what is said of it.  Those that it embeds count only where the
 * user says so.  Whether a comment was used is asked only where a program
 * embeds its line, too. */
#ifndef JX_SUPPRESS_H
#define JX_SUPPRESS_H

#include "reports/pipeline/report.h"
#include "reports/pipeline/source.h"

typedef struct jx_suppressions jx_suppressions;

/* `sources` (may be NULL) has the lines.  NULL without memory. */
jx_suppressions *jx_suppressions_new(jx_ctx *keep, jx_sources *sources,
                                     const jx_selection *selection);
/* Comments in lines that programs embed count, too. */
void jx_suppressions_trust_embedded(jx_suppressions *in);
/* Notes in the report which lines that its program embeds have
 * such a comment. */
bool jx_report_remarks(jx_ctx *keep, jx_report *report,
                       const jx_program *program);
/* Another program begins, the next in the list of reports. */
void jx_suppressions_begin(jx_suppressions *in);
/* Remembers the remarks of the report, as far as they count. */
bool jx_suppressions_read(jx_suppressions *in, const jx_report *report);
/* Takes suppressed findings out of the report and counts them. */
void jx_suppress(jx_suppressions *in, jx_report *report);
/* After all programs: adds a SUP001 for each code that suppressed nothing, to
 * the report of the first program that has the line. */
bool jx_suppressions_unused(jx_suppressions *in, jx_report *reports, int count);

#endif
