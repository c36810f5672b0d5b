/* rules.h - what checking derivative rules gives, as parts of a report. */
#ifndef JX_RULES_H
#define JX_RULES_H

#include "reports/pipeline/report.h"
#include "runtime/gradients/gradcheck.h"

/* "no disagreement at 14 points (264 comparisons, each within 6 %; 80 more
 * could not tell)": how little that may be is said, too. */
void jx_rule_say_agreement(const jx_rule_report *rule, jx_buffer *to);

/* The same and all else that is known of it, as a JSON object. */
void jx_rule_json(const jx_rule_report *rule, const char *path, jx_buffer *to);

/* Runs the rules that a document holds, for as long as that is no burden:
 * beside the proofs of a check they may take a second or so, counted in
 * operations, so that the same program has the same report.  What is found or
 * left undecided joins the report; that the others are right is one line of its
 * assumptions.  False without memory. */
bool jx_check_rules(jx_ctx *keep, jx_report *report,
                    const jx_analysis *analysis, const jx_selection *selection);

#endif
