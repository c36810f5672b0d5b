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
#include "frontend/base/utf8.h"
#include "reports/formats/formats.h"
#include "reports/pipeline/fix.h"
#include "reports/pipeline/report_groups.h"
#include "reports/pipeline/source.h"

#include <stdio.h>
#include <string.h>

enum { MAX_CALLS = 4 }; /* notes of the chain of calls */

typedef struct writer {
    jx_buffer *to;
    const jx_style *options;
    const char *path; /* of the program, where there is no better place */
    const jx_groups *groups;
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

/* Text from outside: a program's names, paths, messages that quote them. */
static void put_outside(const writer *w, const char *text)
{
    jx_utf8_show(text, w->to);
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
    put_outside(w, spot->file);
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

/* The character at `line`, as it is shown; how many bytes it has. */
static size_t put_character(const char *line, jx_buffer *to)
{
    uint32_t rune;
    size_t n = jx_utf8_rune(line, strnlen(line, 4), &rune);

    n += !n;
    if (*line == '\t')
        jx_buffer_puts(to, "    ");
    else
        jx_utf8_show_bytes(line, n, to);
    return n;
}

/* Where the character after the first `count` begins. */
static const char *skip(const char *line, int count)
{
    uint32_t rune;

    for (; *line && count > 0; count--) {
        size_t n = jx_utf8_rune(line, strnlen(line, 4), &rune);
        line += n ? n : 1;
    }
    return line;
}

/* Cells that the characters of [begin, end) take when they are shown, one for
 * a letter, however wide it is. */
static int cells(const char *begin, const char *end, jx_budget *budget)
{
    jx_buffer shown = {.budget = budget};
    size_t count = 0;

    while (begin < end) {
        jx_buffer_clear(&shown);
        begin += put_character(begin, &shown);
        count +=
            (unsigned char)*jx_buffer_text(&shown) < 0x80 ? shown.length : 1;
    }
    jx_buffer_free(&shown);
    return (int)count;
}

/* The part of a line that is shown: all of it, unless it is longer than any
 * that somebody has written. */
typedef struct part {
    const char *begin, *end;
    bool cut; /* something stands before it */
} part;

static part part_of(const char *line, int column)
{
    enum { MOST = 240, BEFORE = 80 };
    part shown = {line, skip(line, MOST), false};

    if (!*shown.end)
        return shown;
    shown.cut = column > BEFORE + 1;
    if (shown.cut)
        shown.begin = skip(line, column - 1 - BEFORE);
    shown.end = skip(shown.begin, MOST);
    return shown;
}

static void put_source(const writer *w, const part *shown)
{
    if (shown->cut)
        jx_buffer_puts(w->to, "...");
    for (const char *at = shown->begin; at < shown->end;)
        at += put_character(at, w->to);
    if (*shown->end)
        jx_buffer_puts(w->to, "...");
}

/* Carets under the columns; to the end of what is shown if the
 * place goes on. */
static void put_carets(const writer *w, const jx_spot *spot, const char *line,
                       const part *shown, style s)
{
    const char *begin = skip(line, spot->column - 1), *end;

    if (!spot->column || begin < shown->begin || begin >= shown->end)
        return;
    end = spot->end_line == spot->line && spot->end_column > spot->column
              ? skip(line, spot->end_column - 1)
          : spot->end_line > spot->line ? shown->end
                                        : skip(begin, 1);
    put_spaces(w, 1 + (shown->cut ? 3 : 0) +
                      cells(shown->begin, begin, w->to->budget));
    set_style(w, s);
    for (int i =
             cells(begin, end < shown->end ? end : shown->end, w->to->budget);
         i > 0; i--)
        jx_buffer_putc(w->to, '^');
    set_style(w, PLAIN);
}

/* The line of the file, as far as it may be read, else the one that the program
 * embeds. */
static const char *line_of(const writer *w, const jx_spot *spot)
{
    const char *line = NULL;

    if (w->options->sources && spot->file && spot->line)
        line = jx_sources_line(w->options->sources, spot->file, spot->line);
    return line ? line : spot->source;
}

/* `label`, or NULL, stands beside what is marked. */
static void put_snippet(const writer *w, const jx_spot *spot, int width,
                        style s, const char *label)
{
    const char *line = line_of(w, spot);
    char number[16];
    part shown;

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
    shown = part_of(line, spot->column);
    put_source(w, &shown);
    jx_buffer_putc(w->to, '\n');
    put_gutter(w, width, "");
    put_carets(w, spot, line, &shown, s);
    if (label && spot->column) {
        jx_buffer_putc(w->to, ' ');
        put_styled(w, s, label);
    }
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
    jx_buffer_puts(w->to, ": ");
    put_outside(w, text);
    jx_buffer_putc(w->to, '\n');
}

/* A note for each line. */
static void put_notes(const writer *w, int width, const char *kind,
                      const char *text)
{
    jx_buffer line = {.budget = w->to->budget};

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
    if (spot->function) {
        jx_buffer_puts(w->to, " in ");
        put_outside(w, spot->function);
    }
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
    jx_buffer text = {.budget = w->to->budget};

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
    jx_buffer text = {.budget = w->to->budget};

    if (!finding->suggestion)
        return;
    jx_buffer_printf(&text, "the constraint `%s` would make it hold",
                     finding->suggestion);
    put_note(w, width, "help", jx_buffer_text(&text));
    jx_buffer_free(&text);
}

static void put_safe(const writer *w, const jx_finding *finding, int width)
{
    jx_buffer text = {.budget = w->to->budget};

    if (!finding->safe)
        return;
    jx_buffer_printf(&text, "nothing wraps here while `%s`", finding->safe);
    put_note(w, width, "safe", jx_buffer_text(&text));
    jx_buffer_free(&text);
}

/* = then: log of 0 gives -inf at model.py:14:5 */
static void put_consequences(const writer *w, const jx_finding *finding,
                             int width)
{
    for (int i = 0; i < finding->nthen; i++) {
        set_style(w, BLUE);
        jx_buffer_printf(w->to, "%*s = ", width, "");
        put_styled(w, BOLD, "then");
        jx_buffer_puts(w->to, ": ");
        put_outside(w, finding->then[i].what);
        jx_buffer_puts(w->to, " at ");
        put_spot(w, &finding->then[i].where);
        jx_buffer_putc(w->to, '\n');
    }
}

/* The same at this place in other files. */
static void put_others(const writer *w, const jx_finding *finding, int width)
{
    const jx_group *group = jx_group_of(w->groups, finding);
    char text[64];

    if (!group)
        return;
    snprintf(text, sizeof text, "the same in %d other file%s", group->files - 1,
             group->files == 2 ? "" : "s");
    put_note(w, width, "note", text);
}

/* A line of a patch, in its colour. */
static void put_patch_line(const writer *w, style s, char sign,
                           const char *text)
{
    set_style(w, s);
    jx_buffer_putc(w->to, sign);
    put_outside(w, text);
    set_style(w, PLAIN);
    jx_buffer_putc(w->to, '\n');
}

static void put_fix(const writer *w, const jx_finding *finding, int width)
{
    const jx_fix *fix = finding->fix;
    jx_buffer text = {.budget = w->to->budget};

    if (!fix)
        return;
    jx_buffer_printf(&text, "%s; %s", fix->says,
                     fix->quiet
                         ? "with it nothing was found any more"
                         : "with it these inputs are no witness any more");
    put_note(w, width, "fix", jx_buffer_text(&text));
    for (int i = 0; i < fix->nlines; i++) {
        const jx_fixed_line *line = &fix->lines[i];
        jx_buffer_printf(w->to, "@@ -%d +%d @@\n", line->line, line->line);
        put_patch_line(w, RED, '-', line->was);
        put_patch_line(w, CYAN, '+', line->is);
    }
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
    jx_buffer_printf(w->to, " %s: ", code->name);
    put_outside(w, finding->message);
    set_style(w, PLAIN);
    if (finding->count > 1)
        jx_buffer_printf(w->to, " (%d times)", finding->count);
    jx_buffer_putc(w->to, '\n');
    if (finding->where.file)
        put_snippet(w, &finding->where, width, s, finding->shown);
    else
        put_snippet(w, &(jx_spot){.file = w->path}, width, s, NULL);
    put_counterexample(w, finding, width);
    put_note(w, width, "why", finding->why);
    put_note(w, width, "note", finding->note);
    put_consequences(w, finding, width);
    put_calls(w, finding, width);
    put_others(w, finding, width);
    put_note(w, width, "equation", finding->equation);
    put_suggestion(w, finding, width);
    put_safe(w, finding, width);
    put_notes(w, width, "help", finding->help);
    put_fix(w, finding, width);
    jx_buffer_putc(w->to, '\n');
}

static void put_unreadable(const writer *w, const jx_report *report)
{
    const jx_error *error = &report->unreadable;

    put_styled(w, RED, "unreadable");
    jx_buffer_puts(w->to, ": ");
    if (!error->file) {
        put_outside(w, report->path);
        jx_buffer_puts(w->to, ": ");
    }
    jx_error_print(error, w->to);
    jx_buffer_puts(w->to, "\n\n");
}

static void put_heading(const writer *w, const jx_report *report)
{
    set_style(w, BOLD);
    put_outside(w, report->path);
    jx_buffer_printf(w->to, ": %s", jx_report_status(report));
    set_style(w, PLAIN);
    jx_buffer_puts(w->to, "\n\n");
}

/* Whether a finding is said with its program: the same in many files is said
 * once, and what has no place in a line at the end. */
static bool is_told_here(const writer *w, const jx_finding *finding)
{
    const jx_group *group = jx_group_of(w->groups, finding);

    return !group || (finding->where.file && !group->told);
}

static bool has_more_to_tell(const writer *w, const jx_report *report)
{
    for (size_t i = 0; i < report->findings.count; i++)
        if (is_told_here(w, &report->findings.at[i]))
            return true;
    for (size_t i = 0; i < report->undecided.count; i++)
        if (is_told_here(w, &report->undecided.at[i]))
            return true;
    return false;
}

static void tell(const writer *w, const jx_findings *list)
{
    for (size_t i = 0; i < list->count; i++) {
        jx_group *group = jx_group_of(w->groups, &list->at[i]);

        if (!is_told_here(w, &list->at[i]))
            continue;
        put_finding(w, &list->at[i]);
        if (group && list->at[i].where.file)
            group->told = true;
    }
}

/* note[EXP006] path-leaked in 214 files, the first a.jaxexport: ... */
static void put_groups(const writer *w)
{
    bool any = false;

    for (size_t i = 0; i < w->groups->list.count; i++) {
        const jx_group *group = w->groups->list.at[i];
        const jx_finding *first = group->first;
        const jx_code_info *code = jx_code_of(first->code);
        bool open = first->verdict == JX_UNDECIDED;

        if (group->files < 2 || first->where.file)
            continue;
        set_style(w, open ? CYAN : style_of(first->level));
        jx_buffer_printf(w->to, "%s[%s]",
                         open ? "undecided" : jx_level_text(first->level),
                         code->id);
        set_style(w, PLAIN);
        jx_buffer_printf(w->to, " %s in %d files, the first ", code->name,
                         group->files);
        put_outside(w, group->path);
        jx_buffer_puts(w->to, ": ");
        put_outside(w, group->same_message ? first->message : code->summary);
        jx_buffer_putc(w->to, '\n');
        any = true;
    }
    if (any)
        jx_buffer_putc(w->to, '\n');
}

static void put_line(const writer *w, const char *label, const char *text)
{
    jx_buffer_puts(w->to, label);
    put_outside(w, text);
    jx_buffer_putc(w->to, '\n');
}

static void put_report(const writer *w, const jx_report *report, bool heading)
{
    if (report->unreadable.kind != JX_E_NONE) {
        put_unreadable(w, report);
        return;
    }
    if (heading && has_more_to_tell(w, report))
        put_heading(w, report);
    tell(w, &report->findings);
    tell(w, &report->undecided);
    for (size_t i = 0; i < report->proofs.count; i++)
        put_line(w, "proved: ", report->proofs.at[i]);
    for (size_t i = 0; i < report->assumptions.count; i++)
        put_line(w, "assumed: ", report->assumptions.at[i]);
    if (report->proofs.count || report->assumptions.count)
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
    for (int i = 0; i < reports->count; i++) {
        const jx_report *r = &reports->at[i];
        if (r->milliseconds <= 0)
            continue;
        put_outside(w, r->path);
        jx_buffer_printf(w->to, ": %.1f ms, %lld equation%s\n", r->milliseconds,
                         (long long)r->equations, r->equations == 1 ? "" : "s");
    }
}

static void put_skipped(const writer *w, const jx_report_list *reports)
{
    for (int64_t i = 0; reports->names && i < reports->skipped; i++) {
        jx_buffer_puts(w->to, "skipped: ");
        put_outside(w, reports->names[i]);
        jx_buffer_putc(w->to, '\n');
    }
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

void jx_report_text(const jx_report_list *reports, const jx_style *options,
                    jx_buffer *to)
{
    jx_groups groups;
    writer w = {to, options, NULL, &groups};

    jx_groups_init(&groups, reports);
    for (int i = 0; i < reports->count; i++) {
        w.path = reports->at[i].path;
        put_report(&w, &reports->at[i], reports->count > 1);
    }
    put_groups(&w);
    put_times(&w, reports);
    put_skipped(&w, reports);
    put_totals(&w, reports);
    jx_groups_free(&groups);
}
