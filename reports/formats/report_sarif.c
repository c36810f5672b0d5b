/* report_sarif.c - reports as SARIF 2.1.0, for code scanning services.
 *
 * One run whatever the number of programs (services limit runs per file).
 * Every result has a rule of the table, a message, a place with a relative URI
 * where one is known, and a fingerprint that stays while lines move.  An
 * obligation that is undecided is a result of kind "open"; an unreadable input
 * is a notification of the run.  Nothing is cut off; a run that exceeds what
 * GitHub takes says so in a notification. */
#include "frontend/base/json.h"
#include "reports/formats/formats.h"
#include "reports/pipeline/code_texts.h"
#include "reports/pipeline/versions.h"

#include <string.h>

enum { GITHUB_RESULTS = 25000 };

static const char *const levels[] = {
    [JX_NOTE] = "note",
    [JX_WARNING] = "warning",
    [JX_ERROR] = "error",
};

static void put_message(jx_buffer *to, const char *text)
{
    jx_buffer_puts(to, "{\"text\":");
    jx_json_put_text(to, text);
    jx_buffer_putc(to, '}');
}

/* A path as a relative reference (RFC 3986): unusual bytes are escaped, and a
 * first segment with a colon can't be taken for a scheme. */
static void put_uri(jx_buffer *to, const char *path)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    jx_buffer uri = {.budget = to->budget};

    if (strncmp(path, "./", 2) == 0)
        path += 2;
    if (*path == '/')
        jx_buffer_puts(&uri, "file://");
    for (; *path; path++) {
        if (strchr(plain, *path))
            jx_buffer_putc(&uri, *path);
        else
            jx_buffer_printf(&uri, "%%%02X", (unsigned char)*path);
    }
    jx_json_put_text(to, jx_buffer_text(&uri));
    jx_buffer_free(&uri);
}

static void put_region(jx_buffer *to, const jx_spot *spot)
{
    jx_buffer_printf(to, ",\"region\":{\"startLine\":%d", spot->line);
    if (spot->column)
        jx_buffer_printf(to, ",\"startColumn\":%d", spot->column);
    if (spot->column && spot->end_line >= spot->line && spot->end_column &&
        (spot->end_line > spot->line || spot->end_column > spot->column))
        jx_buffer_printf(to, ",\"endLine\":%d,\"endColumn\":%d", spot->end_line,
                         spot->end_column);
    if (spot->source) {
        jx_buffer_puts(to, ",\"snippet\":");
        put_message(to, spot->source);
    }
    jx_buffer_putc(to, '}');
}

static void put_location(jx_buffer *to, const jx_spot *spot)
{
    jx_buffer_puts(to, "{\"physicalLocation\":{\"artifactLocation\":{\"uri\":");
    put_uri(to, spot->file);
    jx_buffer_putc(to, '}');
    if (spot->line)
        put_region(to, spot);
    jx_buffer_putc(to, '}');
    if (spot->function) {
        jx_buffer_puts(to, ",\"logicalLocations\":[{\"fullyQualifiedName\":");
        jx_json_put_text(to, spot->function);
        jx_buffer_puts(to, ",\"kind\":\"function\"}]");
    }
}

static bool same_spot(const jx_spot *a, const jx_spot *b)
{
    return a->line == b->line && a->column == b->column &&
           strcmp(a->file, b->file) == 0;
}

/* Functions that call themselves are at one place several times; SARIF's
 * related locations are a set. */
static bool is_repeated(const jx_finding *finding, int index)
{
    for (int i = 0; i < index; i++)
        if (same_spot(&finding->calls[i], &finding->calls[index]))
            return true;
    return false;
}

/* Who called, innermost first. */
static void put_callers(jx_buffer *to, const jx_finding *finding)
{
    jx_buffer_puts(to, ",\"relatedLocations\":[");
    for (int i = 0; i < finding->ncalls; i++) {
        if (is_repeated(finding, i))
            continue;
        if (i)
            jx_buffer_putc(to, ',');
        put_location(to, &finding->calls[i]);
        jx_buffer_puts(to, ",\"message\":{\"text\":\"called from here\"}}");
    }
    jx_buffer_putc(to, ']');
}

static void put_place(jx_buffer *to, const jx_report *report,
                      const jx_finding *finding)
{
    jx_spot input = {.file = report->path};

    jx_buffer_puts(to, ",\"locations\":[");
    put_location(to, finding->where.file ? &finding->where : &input);
    jx_buffer_puts(to, "}]");
    if (finding->ncalls)
        put_callers(to, finding);
}

/* What a reader without our other formats should know. */
static void put_result_message(jx_buffer *to, const jx_finding *finding)
{
    jx_buffer text = {.budget = to->budget};

    jx_buffer_puts(&text, finding->message);
    if (finding->why)
        jx_buffer_printf(&text, " (undecided: %s)", finding->why);
    if (finding->suggestion)
        jx_buffer_printf(&text, ". The constraint %s would make it hold",
                         finding->suggestion);
    if (finding->help)
        jx_buffer_printf(&text, ". Help: %s", finding->help);
    put_message(to, jx_buffer_text(&text));
    jx_buffer_free(&text);
}

/* Lines as a whole, each in the place of what it was. */
static void put_replacement(jx_buffer *to, const jx_fixed_line *line)
{
    int end = 1;

    for (const char *at = line->was; *at; at++)
        end += ((unsigned char)*at & 0xc0) != 0x80;
    jx_buffer_printf(
        to,
        "{\"deletedRegion\":{\"startLine\":%d,\"startColumn\":1,\"endLine\":%d,"
        "\"endColumn\":%d},\"insertedContent\":",
        line->line, line->line, end);
    put_message(to, line->is);
    jx_buffer_putc(to, '}');
}

static void put_fix(jx_buffer *to, const jx_fix *fix)
{
    jx_buffer_puts(to, ",\"fixes\":[{\"description\":");
    put_message(to, fix->says);
    jx_buffer_puts(to, ",\"artifactChanges\":[");
    for (int i = 0; i < fix->nlines; i++) {
        bool begins =
            !i || strcmp(fix->lines[i].file, fix->lines[i - 1].file) != 0;
        if (begins) {
            jx_buffer_puts(to, i ? "]},{" : "{");
            jx_buffer_puts(to, "\"artifactLocation\":{\"uri\":");
            put_uri(to, fix->lines[i].file);
            jx_buffer_puts(to, "},\"replacements\":[");
        } else {
            jx_buffer_putc(to, ',');
        }
        put_replacement(to, &fix->lines[i]);
    }
    jx_buffer_puts(to, "]}]}]");
}

static void put_result(jx_buffer *to, const jx_report *report,
                       const jx_finding *finding, const int *rule_index)
{
    bool open = finding->verdict == JX_UNDECIDED;

    jx_buffer_printf(to, "{\"ruleId\":\"%s\",\"ruleIndex\":%d,",
                     jx_code_of(finding->code)->id, rule_index[finding->code]);
    jx_buffer_printf(to, "\"kind\":\"%s\",\"level\":\"%s\",\"message\":",
                     open ? "open" : "fail",
                     open ? "none" : levels[finding->level]);
    put_result_message(to, finding);
    put_place(to, report, finding);
    if (!open)
        jx_buffer_printf(to, ",\"partialFingerprints\":{\"jaxvet/v1\":\"%s\"}",
                         finding->fingerprint);
    if (finding->fix)
        put_fix(to, finding->fix);
    jx_buffer_printf(to, ",\"occurrenceCount\":%d", finding->count);
    jx_buffer_puts(to, ",\"properties\":{\"program\":");
    jx_json_put_text(to, report->path);
    if (!open)
        jx_buffer_printf(to, ",\"evidence\":\"%s\"", finding->evidence);
    if (finding->equation) {
        jx_buffer_puts(to, ",\"equation\":");
        jx_json_put_text(to, finding->equation);
    }
    jx_buffer_puts(to, "}}");
}

static void put_rule(jx_buffer *to, jx_code code)
{
    const jx_code_info *info = jx_code_of(code);

    jx_buffer_printf(to, "{\"id\":\"%s\",\"name\":\"%s\",", info->id,
                     info->name);
    jx_buffer_puts(to, "\"shortDescription\":");
    put_message(to, info->summary);
    jx_buffer_puts(to, ",\"fullDescription\":");
    put_message(to, jx_code_why(code));
    jx_buffer_puts(to, ",\"help\":{\"text\":");
    jx_json_put_text(to, jx_code_why(code));
    jx_buffer_puts(to, ",\"markdown\":");
    jx_json_put_text(to, jx_code_why(code));
    jx_buffer_printf(
        to,
        "},\"defaultConfiguration\":{\"level\":\"%s\"},"
        "\"properties\":{\"precision\":\"%s\","
        "\"problem.severity\":\"%s\",\"tags\":[\"jax\",\"%.3s\"]}}",
        levels[info->level],
        info->class == JX_OBLIGATION ? "very-high" : "high",
        info->level == JX_NOTE ? "recommendation" : levels[info->level],
        info->id);
}

static void mark_used(const jx_findings *list, bool *used)
{
    for (size_t i = 0; i < list->count; i++)
        used[list->at[i].code] = true;
}

/* The rules that have results, in the order of the codes. */
static void put_rules(jx_buffer *to, const jx_report_list *reports,
                      int *rule_index)
{
    bool used[JX_NCODES] = {false};
    int count = 0;

    for (int i = 0; i < reports->count; i++) {
        mark_used(&reports->at[i].findings, used);
        mark_used(&reports->at[i].undecided, used);
    }
    jx_buffer_puts(to, "\"rules\":[");
    for (int code = 1; code < JX_NCODES; code++) {
        if (!used[code])
            continue;
        if (count)
            jx_buffer_putc(to, ',');
        rule_index[code] = count++;
        put_rule(to, (jx_code)code);
    }
    jx_buffer_putc(to, ']');
}

static int put_results(jx_buffer *to, const jx_report_list *reports,
                       const int *rule_index)
{
    int count = 0;

    for (int i = 0; i < reports->count; i++) {
        const jx_findings *lists[] = {&reports->at[i].findings,
                                      &reports->at[i].undecided};
        for (int list = 0; list < 2; list++)
            for (size_t k = 0; k < lists[list]->count; k++) {
                if (count++)
                    jx_buffer_putc(to, ',');
                put_result(to, &reports->at[i], &lists[list]->at[k],
                           rule_index);
            }
    }
    return count;
}

static void put_notification(jx_buffer *to, int *count, const char *level,
                             const char *path, const char *text)
{
    if ((*count)++)
        jx_buffer_putc(to, ',');
    jx_buffer_printf(to, "{\"level\":\"%s\",\"message\":", level);
    put_message(to, text);
    if (path) {
        jx_buffer_puts(to, ",\"locations\":[{\"physicalLocation\":{"
                           "\"artifactLocation\":{\"uri\":");
        put_uri(to, path);
        jx_buffer_puts(to, "}}}]");
    }
    jx_buffer_putc(to, '}');
}

static bool put_unreadables(jx_buffer *to, const jx_report_list *reports,
                            int *count)
{
    for (int i = 0; i < reports->count; i++) {
        const jx_error *error = &reports->at[i].unreadable;
        jx_buffer text = {.budget = to->budget};

        if (error->kind == JX_E_NONE)
            continue;
        if (error->place)
            jx_buffer_printf(&text, "%s: ", error->place);
        jx_buffer_puts(&text, error->message);
        put_notification(to, count, "error", reports->at[i].path,
                         jx_buffer_text(&text));
        jx_buffer_free(&text);
    }
    return *count > 0;
}

static void put_invocation(jx_buffer *to, const jx_report_list *reports,
                           int results)
{
    jx_buffer notes = {.budget = to->budget};
    int count = 0;
    bool failed = put_unreadables(&notes, reports, &count);

    if (results > GITHUB_RESULTS)
        put_notification(&notes, &count, "warning", NULL,
                         "more results than GitHub's code scanning takes from "
                         "one run (25000)");
    jx_buffer_printf(to, "\"invocations\":[{\"executionSuccessful\":%s",
                     failed ? "false" : "true");
    if (count)
        jx_buffer_printf(to, ",\"toolExecutionNotifications\":[%s]",
                         jx_buffer_text(&notes));
    jx_buffer_puts(to, "}]");
    jx_buffer_free(&notes);
}

void jx_report_sarif(const jx_report_list *reports, const jx_style *style,
                     jx_buffer *to)
{
    int rule_index[JX_NCODES] = {0}, results;
    (void)style;

    jx_buffer_puts(
        to,
        "{\"$schema\":\"https://json.schemastore.org/"
        "sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{"
        "\"tool\":{\"driver\":{\"name\":\"jaxvet\",\"version\":\"" JX_VERSION
        "\",");
    put_rules(to, reports, rule_index);
    jx_buffer_puts(to, "}},\"columnKind\":\"unicodeCodePoints\",\"results\":[");
    results = put_results(to, reports, rule_index);
    jx_buffer_puts(to, "],");
    put_invocation(to, reports, results);
    jx_buffer_puts(to, "}]}\n");
}
