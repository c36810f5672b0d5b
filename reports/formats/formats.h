/* formats.h - what reports can be rendered as.
 *
 * A format is a file reports/formats/report_NAME.c, which defines
 * jx_report_NAME, and a row of formats.def: `--format NAME` and its help follow
 * from that. */
#ifndef JX_FORMATS_H
#define JX_FORMATS_H

#include "reports/pipeline/report.h"
#include "reports/pipeline/source.h"

/* What matters to people alone. */
typedef struct jx_style {
    bool colour;
    jx_sources *sources; /* of lines that no input embeds; or NULL */
} jx_style;

/* Appends all reports of a run to `to`. */
typedef void jx_format(const jx_report_list *reports, const jx_style *style,
                       jx_buffer *to);

#define FORMAT(name) jx_format jx_report_##name;
#include "reports/formats/formats.def"
#undef FORMAT

/* The names as a choice of options.h, from the second character on:
 * "|text|json|...". */
extern const char jx_format_names[];

/* NULL: there is no such format. */
jx_format *jx_format_named(const char *name);

#endif
