/* certificates.c - see certificates.h. */
#include "reports/certificates.h"

#include "checker/checker.h"
#include "frontend/base/file.h"
#include "frontend/base/utf8.h"
#include "reports/commands.h"

#include <stdio.h>
#include <string.h>

void jx_certificates_add(jx_certificates *to, const jx_certifying *answer)
{
    const char *why;

    if (answer->answer->truth == JX_UNKNOWN)
        return;
    if (jx_certify(answer, &to->lines, &why)) {
        to->written++;
        return;
    }
    if (!to->none++)
        snprintf(to->why, sizeof to->why, "%s", why);
}

/* Where there are no steps: who found it, or why not. */
static void say_no_steps(const jx_answer *a, const char *why, jx_buffer *to)
{
    if (a->truth == JX_UNKNOWN)
        jx_buffer_puts(to, "undecided: there are no steps\n");
    else if (a->by && !strcmp(a->by, "z3"))
        jx_buffer_printf(to,
                         "%s found it; no steps that a person would write\n",
                         a->solver ? a->solver : a->by);
    else
        jx_buffer_printf(to, "proved, but not in steps to be read (%s)\n", why);
}

void jx_explanation_add(const jx_certifying *answer, bool json, jx_buffer *to)
{
    jx_buffer lines = {0};
    const char *why, *end;

    if (!jx_explain(answer, &lines, &why))
        say_no_steps(answer->answer, why, &lines);
    if (json && to->length > 2) {
        to->length -= 2; /* the object's end and the line's */
        jx_buffer_puts(to, ",\"explain\":[");
    }
    for (const char *s = jx_buffer_text(&lines); *s; s = end + 1) {
        end = s + strcspn(s, "\n");
        if (json) {
            if (s != lines.text)
                jx_buffer_putc(to, ',');
            jx_json_put_bytes(to, s, (size_t)(end - s));
        } else {
            jx_buffer_printf(to, "  | %.*s\n", (int)(end - s), s);
        }
        if (!*end)
            break;
    }
    if (json)
        jx_buffer_puts(to, "]}\n");
    else
        jx_buffer_printf(to, "  | so: %s\n",
                         jx_truth_text(answer->answer->truth));
    jx_buffer_free(&lines);
}

int jx_certificates_write(jx_certificates *from, const char *path)
{
    int code = jx_command_write(path, &from->lines);

    if (code == JX_EXIT_OK && from->none)
        jx_command_say("jaxvet: %ld certificates; %ld answers have none (the "
                       "first: %s)",
                       from->written, from->none, from->why);
    else if (code == JX_EXIT_OK)
        jx_command_say("jaxvet: %ld certificates, no answer without one",
                       from->written);
    jx_buffer_free(&from->lines);
    return code;
}

typedef struct counts {
    long accepted, rejected, malformed;
} counts;

static void check_line(const char *line, size_t length, long number, counts *n,
                       jx_buffer *to)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_check_result result = JX_CHECK_MALFORMED;
    const jx_json *id = NULL;
    jx_json *json = NULL;
    const char *expected;
    char why[300] = "";
    size_t at;

    jx_buffer_printf(to, "%ld", number);
    if (!jx_json_scan(line, length, &at, &expected))
        snprintf(why, sizeof why, "column %zu: expected %s", at + 1, expected);
    else if (!ctx || !jx_json_read(ctx, NULL, line, length, &json))
        snprintf(why, sizeof why, "%s",
                 ctx ? ctx->error.message : "out of memory");
    else
        result = jx_check_certificate(json, why, sizeof why);
    if (json && jx_json_kind_of(json) == JX_JSON_OBJECT)
        jx_json_get(json, "id", &id);
    if (id && jx_json_kind_of(id) == JX_JSON_TEXT)
        jx_utf8_printf(to, " %s", jx_json_text(id, &at));
    else if (id && jx_json_kind_of(id) == JX_JSON_INT)
        jx_buffer_printf(to, " %lld", (long long)jx_json_int(id));
    switch (result) {
    case JX_CHECK_ACCEPTED:
        n->accepted++;
        jx_buffer_puts(to, ": accepted\n");
        break;
    case JX_CHECK_REJECTED:
        n->rejected++;
        jx_utf8_printf(to, ": rejected: %s\n", why);
        break;
    case JX_CHECK_MALFORMED:
        n->malformed++;
        jx_utf8_printf(to, ": malformed: %s\n", why);
        break;
    }
    if (json)
        jx_json_free(json);
    jx_ctx_free(ctx);
}

int jx_certificates_check(const char *path, jx_buffer *to)
{
    jx_ctx *ctx = jx_ctx_new(0);
    size_t size = 0;
    const char *text = ctx ? jx_file_read(ctx, path, &size) : NULL, *end;
    counts n = {0};
    long number = 0;
    int code;

    if (!text) {
        code = ctx ? jx_command_error(&ctx->error) : JX_EXIT_INPUT;
        jx_ctx_free(ctx);
        return code;
    }
    for (const char *line = text; line < text + size; line = end + 1) {
        end = memchr(line, '\n', (size_t)(text + size - line));
        end = end ? end : text + size;
        number++;
        if (end > line)
            check_line(line, (size_t)(end - line), number, &n, to);
    }
    jx_buffer_printf(to, "%ld accepted, %ld rejected, %ld malformed\n",
                     n.accepted, n.rejected, n.malformed);
    jx_ctx_free(ctx);
    return n.malformed  ? JX_EXIT_INPUT
           : n.rejected ? JX_EXIT_FINDINGS
                        : JX_EXIT_OK;
}
