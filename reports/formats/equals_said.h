/* equals_said.h - what `jaxvet equal` says of each comparison (equals.h). */
#ifndef JX_EQUALS_SAID_H
#define JX_EQUALS_SAID_H

#include "frontend/base/buffer.h"
#include "reports/pipeline/equals.h"
#include "reports/pipeline/report.h"

/* "identical", "different", "undecided" or "the same by terms". */
const char *jx_equal_word(const jx_equality *e);
/* A line for people, which begins with the paths. */
void jx_equality_text(const jx_equality *e, const char *b, jx_buffer *to);
/* The report on the first program as JSON, with all comparisons as `equal`. */
void jx_equal_report_json(jx_report *report, const jx_equalities *all,
                          jx_buffer *to);

#endif
