/* report_json.c - reports for programs: `check --format json`.
 *
 *     {"version":1,"programs":[{"path":...,"status":...,"claims":{...},
 *      "findings":[...],"undecided":[...],"assumptions":[...]}]}
 *
 * Keys come in this order; one whose value is not known is left out (but for
 * those of a program).  Lines and columns count from 1. */
#include "frontend/base/json.h"
#include "reports/formats/formats.h"
#include "reports/pipeline/fix.h"

/* `,` before all members but the first; `key` is plain. */
static void put_key(jx_buffer *to, bool *any, const char *key)
{
    if (*any)
        jx_buffer_putc(to, ',');
    *any = true;
    jx_buffer_printf(to, "\"%s\":", key);
}

static void put_text(jx_buffer *to, bool *any, const char *key,
                     const char *text)
{
    if (!text)
        return;
    put_key(to, any, key);
    jx_json_put_text(to, text);
}

static void put_number(jx_buffer *to, bool *any, const char *key, int64_t value)
{
    put_key(to, any, key);
    jx_json_put_int(to, value);
}

static void put_spot(jx_buffer *to, const jx_spot *spot)
{
    bool any = false;

    jx_buffer_putc(to, '{');
    put_text(to, &any, "file", spot->file);
    if (spot->line)
        put_number(to, &any, "line", spot->line);
    if (spot->line && spot->column)
        put_number(to, &any, "column", spot->column);
    put_text(to, &any, "function", spot->function);
    jx_buffer_putc(to, '}');
}

static void put_calls(jx_buffer *to, const jx_finding *finding)
{
    jx_buffer_putc(to, '[');
    for (int i = 0; i < finding->ncalls; i++) {
        if (i)
            jx_buffer_putc(to, ',');
        put_spot(to, &finding->calls[i]);
    }
    jx_buffer_putc(to, ']');
}

static void put_sizes(jx_buffer *to, bool *any, const char *key,
                      const jx_finding *finding)
{
    put_key(to, any, key);
    jx_buffer_putc(to, '{');
    for (int i = 0; i < finding->nsizes; i++) {
        if (i)
            jx_buffer_putc(to, ',');
        jx_json_put_text(to, finding->sizes[i].name);
        jx_buffer_putc(to, ':');
        jx_json_put_int(to, finding->sizes[i].value);
    }
    jx_buffer_putc(to, '}');
}

static void put_consequences(jx_buffer *to, bool *any,
                             const jx_finding *finding)
{
    put_key(to, any, "then");
    for (int i = 0; i < finding->nthen; i++) {
        bool first = false;
        jx_buffer_puts(to, i ? ",{" : "[{");
        put_text(to, &first, "message", finding->then[i].what);
        put_key(to, &first, "where");
        put_spot(to, &finding->then[i].where);
        jx_buffer_putc(to, '}');
    }
    jx_buffer_putc(to, ']');
}

static void put_data(jx_buffer *to, const jx_finding *finding)
{
    bool any = false;

    jx_buffer_putc(to, '{');
    put_text(to, &any, "by", finding->by);
    if (finding->nsizes)
        put_sizes(to, &any, "sizes", finding);
    put_text(to, &any, "suggestion", finding->suggestion);
    if (finding->safe) {
        put_key(to, &any, "safe");
        jx_buffer_putc(to, '[');
        jx_json_put_text(to, finding->safe);
        jx_buffer_putc(to, ']');
        if (finding->nsizes)
            put_sizes(to, &any, "wraps_at", finding);
    }
    if (finding->width)
        put_number(to, &any, "width", finding->width);
    put_text(to, &any, "note", finding->note);
    if (finding->witness) {
        put_key(to, &any, "witness");
        jx_buffer_puts(to, finding->witness);
    }
    if (finding->nthen)
        put_consequences(to, &any, finding);
    if (finding->count > 1)
        put_number(to, &any, "count", finding->count);
    put_text(to, &any, "fingerprint", finding->fingerprint);
    jx_buffer_putc(to, '}');
}

static void put_fix(jx_buffer *to, const jx_fix *fix)
{
    jx_buffer diff = {.budget = to->budget};
    bool any = false;

    jx_fix_print(fix, &diff);
    jx_buffer_putc(to, '{');
    put_text(to, &any, "says", fix->says);
    put_text(to, &any, "shown", fix->quiet ? "quiet" : "gone");
    put_key(to, &any, "lines");
    for (int i = 0; i < fix->nlines; i++) {
        bool first = false;
        jx_buffer_puts(to, i ? ",{" : "[{");
        put_text(to, &first, "file", fix->lines[i].file);
        put_number(to, &first, "line", fix->lines[i].line);
        put_text(to, &first, "was", fix->lines[i].was);
        put_text(to, &first, "is", fix->lines[i].is);
        jx_buffer_putc(to, '}');
    }
    jx_buffer_putc(to, ']');
    put_text(to, &any, "diff", jx_buffer_text(&diff));
    jx_buffer_putc(to, '}');
    jx_buffer_free(&diff);
}

static void put_finding(jx_buffer *to, const jx_finding *finding)
{
    const jx_code_info *code = jx_code_of(finding->code);
    bool any = false;

    jx_buffer_putc(to, '{');
    put_text(to, &any, "code", code->id);
    put_text(to, &any, "name", code->name);
    put_text(to, &any, "level", jx_level_text(finding->level));
    put_text(to, &any, "evidence", finding->evidence);
    put_text(to, &any, "message", finding->message);
    put_key(to, &any, "where");
    put_spot(to, &finding->where);
    put_key(to, &any, "calls");
    put_calls(to, finding);
    put_text(to, &any, "equation", finding->equation);
    put_key(to, &any, "data");
    put_data(to, finding);
    put_text(to, &any, "help", finding->help);
    if (finding->fix) {
        put_key(to, &any, "fix");
        put_fix(to, finding->fix);
    }
    jx_buffer_putc(to, '}');
}

static void put_undecided(jx_buffer *to, const jx_finding *finding)
{
    bool any = false;

    jx_buffer_putc(to, '{');
    put_text(to, &any, "code", jx_code_of(finding->code)->id);
    put_text(to, &any, "message", finding->message);
    put_key(to, &any, "where");
    put_spot(to, &finding->where);
    put_text(to, &any, "why", finding->why);
    if (finding->count > 1)
        put_number(to, &any, "count", finding->count);
    jx_buffer_putc(to, '}');
}

static void put_list(jx_buffer *to, const jx_findings *list,
                     void (*put)(jx_buffer *, const jx_finding *))
{
    jx_buffer_putc(to, '[');
    for (size_t i = 0; i < list->count; i++) {
        if (i)
            jx_buffer_putc(to, ',');
        put(to, &list->at[i]);
    }
    jx_buffer_putc(to, ']');
}

static void put_counts(jx_buffer *to, const jx_counts *counts)
{
    bool any = false;

    jx_buffer_putc(to, '{');
    put_number(to, &any, "proved", counts->proved);
    put_number(to, &any, "refuted", counts->refuted);
    put_number(to, &any, "witnessed", counts->witnessed);
    put_number(to, &any, "undecided", counts->undecided);
    jx_buffer_putc(to, '}');
}

/* Why an input can't be read, as the text report says it. */
static void put_error(jx_buffer *to, const jx_error *error)
{
    bool any = false;

    jx_buffer_putc(to, '{');
    put_text(to, &any, "file", error->file);
    put_text(to, &any, "place", error->place);
    put_text(to, &any, "message", error->message);
    jx_buffer_putc(to, '}');
}

static void put_texts(jx_buffer *to, bool *any, const char *key,
                      const char *const *texts, size_t count)
{
    put_key(to, any, key);
    jx_buffer_putc(to, '[');
    for (size_t i = 0; i < count; i++) {
        if (i)
            jx_buffer_putc(to, ',');
        jx_json_put_text(to, texts[i]);
    }
    jx_buffer_putc(to, ']');
}

static void put_report(jx_buffer *to, const jx_report *report)
{
    bool any = false;

    jx_buffer_putc(to, '{');
    put_text(to, &any, "path", report->path);
    put_text(to, &any, "status", jx_report_status(report));
    if (report->unreadable.kind != JX_E_NONE) {
        put_key(to, &any, "error");
        put_error(to, &report->unreadable);
    }
    put_key(to, &any, "claims");
    put_counts(to, &report->claims);
    put_key(to, &any, "findings");
    put_list(to, &report->findings, put_finding);
    put_key(to, &any, "undecided");
    put_list(to, &report->undecided, put_undecided);
    put_texts(to, &any, "assumptions", report->assumptions.at,
              report->assumptions.count);
    if (report->proofs.count)
        put_texts(to, &any, "proofs", report->proofs.at, report->proofs.count);
    if (report->conditions.count)
        put_texts(to, &any, "conditions", report->conditions.at,
                  report->conditions.count);
    if (report->suppressed)
        put_number(to, &any, "suppressed", report->suppressed);
    if (report->hidden)
        put_number(to, &any, "hidden", report->hidden);
    if (report->milliseconds > 0) {
        put_key(to, &any, "milliseconds");
        jx_json_put_real(to, report->milliseconds);
    }
    jx_buffer_putc(to, '}');
}

void jx_report_json(const jx_report_list *reports, const jx_style *style,
                    jx_buffer *to)
{
    bool any = true;
    (void)style;

    jx_buffer_puts(to, "{\"version\":1,\"programs\":[");
    for (int i = 0; i < reports->count; i++) {
        if (i)
            jx_buffer_putc(to, ',');
        put_report(to, &reports->at[i]);
    }
    jx_buffer_putc(to, ']');
    if (reports->names)
        put_texts(to, &any, "skipped", reports->names,
                  (size_t)reports->skipped);
    jx_buffer_puts(to, "}\n");
}
