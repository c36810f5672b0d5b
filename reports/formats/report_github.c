/* report_github.c - reports as workflow commands of GitHub Actions:
 *
 *     ::error file=model.py,line=12,col=8,title=SHP001::while tracing, ...
 *
 * GitHub shows ten annotations of each level per step and drops the others
 * without a word; so the worst come first, and a last line says how many it
 * will not show. */
#include "frontend/base/utf8.h"
#include "reports/formats/formats.h"

#include <string.h>

enum { SHOWN_PER_LEVEL = 10 };

static const char *const commands[] = {
    [JX_NOTE] = "notice",
    [JX_WARNING] = "warning",
    [JX_ERROR] = "error",
};

/* What its commands can't hold as GitHub has it; what else is no plain text as
 * the text report shows it, since the log is a terminal to those who read it.
 * A message may have lines. */
static void put_escaped(jx_buffer *to, const char *outside, bool property)
{
    jx_buffer shown = {.budget = to->budget};

    if (property)
        jx_utf8_show(outside, &shown);
    else
        jx_utf8_show_lines(outside, strlen(outside), &shown);
    for (const char *text = jx_buffer_text(&shown); *text; text++) {
        if (*text == '%' || *text == '\r' || *text == '\n' ||
            (property && (*text == ':' || *text == ',')))
            jx_buffer_printf(to, "%%%02X", (unsigned char)*text);
        else
            jx_buffer_putc(to, *text);
    }
    jx_buffer_free(&shown);
}

static void put_place(jx_buffer *to, const jx_spot *spot)
{
    jx_buffer_puts(to, " file=");
    put_escaped(to, spot->file, true);
    if (!spot->line)
        return;
    jx_buffer_printf(to, ",line=%d", spot->line);
    if (spot->end_line > spot->line)
        jx_buffer_printf(to, ",endLine=%d", spot->end_line);
    if (!spot->column)
        return;
    jx_buffer_printf(to, ",col=%d", spot->column);
    if (spot->end_line == spot->line && spot->end_column > spot->column)
        jx_buffer_printf(to, ",endColumn=%d", spot->end_column);
}

static void put_finding(jx_buffer *to, const jx_report *report,
                        const jx_finding *finding)
{
    const jx_code_info *code = jx_code_of(finding->code);

    jx_buffer_printf(to, "::%s", commands[finding->level]);
    if (finding->where.file)
        put_place(to, &finding->where);
    jx_buffer_printf(to, "%ctitle=%s %s::", finding->where.file ? ',' : ' ',
                     code->id, code->name);
    put_escaped(to, finding->message, false);
    if (!finding->where.file) {
        jx_buffer_puts(to, " (");
        put_escaped(to, report->path, false);
        jx_buffer_putc(to, ')');
    }
    if (finding->help) {
        jx_buffer_puts(to, "%0A");
        put_escaped(to, finding->help, false);
    }
    jx_buffer_putc(to, '\n');
}

static void put_unreadable(jx_buffer *to, const jx_report *report)
{
    const jx_error *error = &report->unreadable;

    jx_buffer_puts(to, "::error file=");
    put_escaped(to, error->file ? error->file : report->path, true);
    jx_buffer_puts(to, ",title=unreadable::");
    if (error->place) {
        put_escaped(to, error->place, false);
        jx_buffer_puts(to, ": ");
    }
    put_escaped(to, error->message, false);
    jx_buffer_putc(to, '\n');
}

/* All of one level; how many. */
static int put_level(jx_buffer *to, const jx_report_list *reports,
                     jx_level level)
{
    int count = 0;

    for (int i = 0; i < reports->count; i++) {
        const jx_report *report = &reports->at[i];
        if (level == JX_ERROR && report->unreadable.kind != JX_E_NONE) {
            put_unreadable(to, report);
            count++;
        }
        for (size_t k = 0; k < report->findings.count; k++)
            if (report->findings.at[k].level == level) {
                put_finding(to, report, &report->findings.at[k]);
                count++;
            }
    }
    return count;
}

void jx_report_github(const jx_report_list *reports, const jx_style *style,
                      jx_buffer *to)
{
    int64_t undecided = 0;
    (void)style;

    for (int level = JX_ERROR; level >= JX_NOTE; level--) {
        int count = put_level(to, reports, (jx_level)level);
        if (count > SHOWN_PER_LEVEL)
            jx_buffer_printf(to,
                             "jaxvet: GitHub shows %d of these %d %ss; the "
                             "log has all\n",
                             SHOWN_PER_LEVEL, count, commands[level]);
    }
    for (int i = 0; i < reports->count; i++)
        undecided += reports->at[i].claims.undecided;
    if (undecided)
        jx_buffer_printf(to,
                         "::notice title=undecided::%lld obligation%s "
                         "stayed undecided\n",
                         (long long)undecided, undecided == 1 ? "" : "s");
}
