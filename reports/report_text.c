/* report_text.c - reports for people, in the manner of rustc:
 *
 *     error[SHP001] trace-decided-by-size: while tracing, `b == 1` was ...
 *       --> model.py:12:8
 *        |
 *     12 |     if x.shape[0] == 1:
 *        |        ^^^^^^^^^^^^^^^
 *        = note: in main, called from train.py:40:5
 *        = help: ...
 *
 * The last line counts what was claimed about all programs. */
#include "reports/report.h"
#include "reports/source.h"

#include <stdio.h>
#include <string.h>

enum { MAX_CALLS = 4 }; /* notes of the chain of calls */

typedef struct writer {
    jx_buffer *to;
    const jx_text_options *options;
    const char *path; /* of the program, where there is no better place */
} writer;

typedef enum style {
    PLAIN = 0,
    BOLD,
    RED,
    YELLOW,
    CYAN,
    BLUE,
} style;

static void set_style(const writer *w, style s)
{
    static const char *const codes[] = {
        "\033[0m",    "\033[1m",    "\033[1;31m",
        "\033[1;33m", "\033[1;36m", "\033[1;34m",
    };

    if (w->options->colour)
        jx_buffer_puts(w->to, codes[s]);
}

static void put_styled(const writer *w, style s, const char *text)
{
    set_style(w, s);
    jx_buffer_puts(w->to, text);
    set_style(w, PLAIN);
}

static style style_of(jx_level level)
{
    return level == JX_ERROR ? RED : level == JX_WARNING ? YELLOW : CYAN;
}

static int digits_of(int number)
{
    int digits = 1;

    while (number >= 10) {
        number /= 10;
        digits++;
    }
    return digits;
}

static void put_spaces(const writer *w, int count)
{
    for (int i = 0; i < count; i++)
        jx_buffer_putc(w->to, ' ');
}

/* "file:line:column", as far as known. */
static void put_spot(const writer *w, const jx_spot *spot)
{
    jx_buffer_puts(w->to, spot->file);
    if (spot->line)
        jx_buffer_printf(w->to, ":%d", spot->line);
    if (spot->line && spot->column)
        jx_buffer_printf(w->to, ":%d", spot->column);
}

/* `|` behind a gutter as wide as the line's number. */
static void put_gutter(const writer *w, int width, const char *number)
{
    set_style(w, BLUE);
    jx_buffer_printf(w->to, "%*s |", width, number);
    set_style(w, PLAIN);
}

/* The line without tabs and control bytes; one cell per character at least. */
static void put_source(const writer *w, const char *line)
{
    for (; *line; line++) {
        if (*line == '\t')
            jx_buffer_puts(w->to, "    ");
        else
            jx_buffer_putc(w->to, (unsigned char)*line < ' ' ? ' ' : *line);
    }
}

static bool continues(char c) /* a character of UTF-8 */
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Where the character after the first `count` begins. */
static const char *skip(const char *line, int count)
{
    for (; *line && count > 0; count--)
        do
            line++;
        while (continues(*line));
    return line;
}

/* Cells that the characters of [begin, end) take. */
static int cells(const char *begin, const char *end)
{
    int count = 0;

    for (; begin < end; begin++)
        count += *begin == '\t' ? 4 : !continues(*begin);
    return count;
}

/* Carets under the columns; to the end of the line if the place goes on. */
static void put_carets(const writer *w, const jx_spot *spot, const char *line,
                       style s)
{
    const char *begin = skip(line, spot->column - 1), *end;

    if (!spot->column || !*begin)
        return;
    end = spot->end_line == spot->line && spot->end_column > spot->column
              ? skip(line, spot->end_column - 1)
          : spot->end_line > spot->line ? line + strlen(line)
                                        : skip(begin, 1);
    put_spaces(w, 1 + cells(line, begin));
    set_style(w, s);
    for (int i = cells(begin, end); i > 0; i--)
        jx_buffer_putc(w->to, '^');
    set_style(w, PLAIN);
}

static const char *line_of(const writer *w, const jx_spot *spot)
{
    if (spot->source || !w->options->sources || !spot->file || !spot->line)
        return spot->source;
    return jx_sources_line(w->options->sources, spot->file, spot->line);
}

static void put_snippet(const writer *w, const jx_spot *spot, int width,
                        style s)
{
    const char *line = line_of(w, spot);
    char number[16];

    set_style(w, BLUE);
    jx_buffer_printf(w->to, "%*s--> ", width, "");
    set_style(w, PLAIN);
    put_spot(w, spot);
    jx_buffer_putc(w->to, '\n');
    if (!line)
        return;
    snprintf(number, sizeof number, "%d", spot->line);
    put_gutter(w, width, "");
    jx_buffer_putc(w->to, '\n');
    put_gutter(w, width, number);
    jx_buffer_putc(w->to, ' ');
    put_source(w, line);
    jx_buffer_putc(w->to, '\n');
    put_gutter(w, width, "");
    put_carets(w, spot, line, s);
    jx_buffer_putc(w->to, '\n');
}

static void put_note(const writer *w, int width, const char *kind,
                     const char *text)
{
    if (!text)
        return;
    set_style(w, BLUE);
    jx_buffer_printf(w->to, "%*s = ", width, "");
    put_styled(w, BOLD, kind);
    jx_buffer_printf(w->to, ": %s\n", text);
}

/* A note for each line. */
static void put_notes(const writer *w, int width, const char *kind,
                      const char *text)
{
    jx_buffer line = {0};

    while (text && *text) {
        size_t n = strcspn(text, "\n");
        jx_buffer_clear(&line);
        jx_buffer_bytes(&line, text, n);
        put_note(w, width, kind, jx_buffer_text(&line));
        text += n + (text[n] == '\n');
    }
    jx_buffer_free(&line);
}

static void put_call(const writer *w, int width, const jx_spot *spot)
{
    set_style(w, BLUE);
    jx_buffer_printf(w->to, "%*s = ", width, "");
    put_styled(w, BOLD, "note");
    jx_buffer_puts(w->to, ": called from ");
    put_spot(w, spot);
    if (spot->function)
        jx_buffer_printf(w->to, " in %s", spot->function);
    jx_buffer_putc(w->to, '\n');
}

static void put_calls(const writer *w, const jx_finding *finding, int width)
{
    int shown = finding->ncalls < MAX_CALLS ? finding->ncalls : MAX_CALLS;
    char rest[48];

    for (int i = 0; i < shown; i++)
        put_call(w, width, &finding->calls[i]);
    if (shown < finding->ncalls) {
        snprintf(rest, sizeof rest, "... and %d callers further out",
                 finding->ncalls - shown);
        put_note(w, width, "note", rest);
    }
}

static void put_counterexample(const writer *w, const jx_finding *finding,
                               int width)
{
    jx_buffer text = {0};

    if (!finding->nsizes)
        return;
    for (int i = 0; i < finding->nsizes; i++)
        jx_buffer_printf(&text, "%s%s = %lld", i ? ", " : "",
                         finding->sizes[i].name,
                         (long long)finding->sizes[i].value);
    if (finding->by)
        jx_buffer_printf(&text, " (%s)", finding->by);
    put_note(w, width, "counterexample", jx_buffer_text(&text));
    jx_buffer_free(&text);
}

static void put_suggestion(const writer *w, const jx_finding *finding,
                           int width)
{
    jx_buffer text = {0};

    if (!finding->suggestion)
        return;
    jx_buffer_printf(&text, "the constraint `%s` would make it hold",
                     finding->suggestion);
    put_note(w, width, "help", jx_buffer_text(&text));
    jx_buffer_free(&text);
}

static void put_safe(const writer *w, const jx_finding *finding, int width)
{
    jx_buffer text = {0};

    if (!finding->safe)
        return;
    jx_buffer_printf(&text, "nothing wraps here while `%s`", finding->safe);
    put_note(w, width, "safe", jx_buffer_text(&text));
    jx_buffer_free(&text);
}

static void put_finding(const writer *w, const jx_finding *finding)
{
    const jx_code_info *code = jx_code_of(finding->code);
    bool open = finding->verdict == JX_UNDECIDED;
    style s = open ? CYAN : style_of(finding->level);
    int width = 1 + digits_of(finding->where.line);

    set_style(w, s);
    jx_buffer_printf(w->to, "%s[%s]",
                     open ? "undecided" : jx_level_text(finding->level),
                     code->id);
    set_style(w, PLAIN);
    set_style(w, BOLD);
    jx_buffer_printf(w->to, " %s: %s", code->name, finding->message);
    set_style(w, PLAIN);
    if (finding->count > 1)
        jx_buffer_printf(w->to, " (%d times)", finding->count);
    jx_buffer_putc(w->to, '\n');
    if (finding->where.file)
        put_snippet(w, &finding->where, width, s);
    else
        put_snippet(w, &(jx_spot){.file = w->path}, width, s);
    put_counterexample(w, finding, width);
    put_note(w, width, "why", finding->why);
    put_note(w, width, "note", finding->note);
    put_calls(w, finding, width);
    put_note(w, width, "equation", finding->equation);
    put_suggestion(w, finding, width);
    put_safe(w, finding, width);
    put_notes(w, width, "help", finding->help);
    jx_buffer_putc(w->to, '\n');
}

static void put_unreadable(const writer *w, const jx_report *report)
{
    const jx_error *error = &report->unreadable;

    put_styled(w, RED, "unreadable");
    jx_buffer_printf(w->to, ": %s:", error->file ? error->file : report->path);
    if (error->place)
        jx_buffer_printf(w->to, " %s:", error->place);
    jx_buffer_printf(w->to, " %s\n\n", error->message);
}

static void put_heading(const writer *w, const jx_report *report)
{
    set_style(w, BOLD);
    jx_buffer_printf(w->to, "%s: %s", report->path, jx_report_status(report));
    set_style(w, PLAIN);
    jx_buffer_puts(w->to, "\n\n");
}

static void put_report(const writer *w, const jx_report *report, bool heading)
{
    if (report->unreadable.kind != JX_E_NONE) {
        put_unreadable(w, report);
        return;
    }
    if (heading && (report->findings.count || report->undecided.count))
        put_heading(w, report);
    for (size_t i = 0; i < report->findings.count; i++)
        put_finding(w, &report->findings.at[i]);
    for (size_t i = 0; i < report->undecided.count; i++)
        put_finding(w, &report->undecided.at[i]);
    for (size_t i = 0; i < report->assumptions.count; i++)
        jx_buffer_printf(w->to, "assumed: %s\n", report->assumptions.at[i]);
    if (report->assumptions.count)
        jx_buffer_putc(w->to, '\n');
}

/* Sums over all programs. */
typedef struct sums {
    jx_counts claims;
    int64_t levels[JX_ERROR + 1];
    int64_t suppressed, hidden, unreadable;
} sums;

static sums sum_up(const jx_report_list *reports)
{
    sums s = {0};

    for (int i = 0; i < reports->count; i++) {
        const jx_report *r = &reports->at[i];
        s.claims.proved += r->claims.proved;
        s.claims.refuted += r->claims.refuted;
        s.claims.witnessed += r->claims.witnessed;
        s.claims.undecided += r->claims.undecided;
        s.suppressed += r->suppressed;
        s.hidden += r->hidden;
        s.unreadable += r->unreadable.kind != JX_E_NONE;
        for (size_t k = 0; k < r->findings.count; k++)
            s.levels[r->findings.at[k].level] += r->findings.at[k].count;
    }
    return s;
}

static void put_count(jx_buffer *to, bool *any, int64_t count, const char *what)
{
    if (!count)
        return;
    jx_buffer_printf(to, "%s%lld %s%s", *any ? ", " : "", (long long)count,
                     what, count == 1 ? "" : "s");
    *any = true;
}

static void put_aside(const writer *w, int64_t count, const char *one,
                      const char *many)
{
    if (count)
        jx_buffer_printf(w->to, "%lld %s\n", (long long)count,
                         count == 1 ? one : many);
}

static void put_times(const writer *w, const jx_report_list *reports)
{
    for (int i = 0; i < reports->count; i++)
        if (reports->at[i].milliseconds > 0)
            jx_buffer_printf(w->to, "%s: %.1f ms, %lld equation%s\n",
                             reports->at[i].path, reports->at[i].milliseconds,
                             (long long)reports->at[i].equations,
                             reports->at[i].equations == 1 ? "" : "s");
}

static void put_totals(const writer *w, const jx_report_list *reports)
{
    sums s = sum_up(reports);
    bool any = false;

    put_count(w->to, &any, s.levels[JX_ERROR], "error");
    put_count(w->to, &any, s.levels[JX_WARNING], "warning");
    put_count(w->to, &any, s.levels[JX_NOTE], "note");
    if (any)
        jx_buffer_putc(w->to, '\n');
    put_aside(w, s.hidden,
              "finding in a library's file is not shown (--deps shows it)",
              "findings in libraries' files are not shown (--deps shows them)");
    put_aside(w, s.suppressed, "finding is suppressed by a comment",
              "findings are suppressed by comments");
    put_aside(w, s.unreadable, "program can't be read",
              "programs can't be read");
    put_aside(w, reports->skipped, "other file skipped", "other files skipped");
    jx_buffer_printf(w->to,
                     "%d program%s: %lld proved, %lld refuted, %lld witnessed, "
                     "%lld undecided\n",
                     reports->count, reports->count == 1 ? "" : "s",
                     (long long)s.claims.proved, (long long)s.claims.refuted,
                     (long long)s.claims.witnessed,
                     (long long)s.claims.undecided);
}

void jx_report_text(const jx_report_list *reports,
                    const jx_text_options *options, jx_buffer *to)
{
    writer w = {to, options, NULL};

    for (int i = 0; i < reports->count; i++) {
        w.path = reports->at[i].path;
        put_report(&w, &reports->at[i], reports->count > 1);
    }
    put_times(&w, reports);
    put_totals(&w, reports);
}
