/* certificates.c - see certificates.h. */
#include "reports/commands/certificates.h"

#include "checker/checker.h"
#include "frontend/base/assert.h"
#include "frontend/base/file.h"
#include "frontend/base/utf8.h"
#include "reports/commands/commands.h"
#include "reports/commands/limits.h"
#include "reports/formats/answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By our own checker. */
static bool is_accepted(const char *line, size_t length)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_json_fault fault = {0};
    jx_json *json = ctx ? jx_json_parse(ctx, line, length, true, &fault) : NULL;
    char why[200];
    jx_check_result result =
        json ? jx_check_certificate(json, why, sizeof why) : JX_CHECK_STARVED;
    bool ok = !fault.expected &&
              (result == JX_CHECK_ACCEPTED || result == JX_CHECK_STARVED);

    if (json)
        jx_json_free(json);
    jx_ctx_free(ctx);
    return ok;
}

void jx_certificates_add(jx_certificates *to, const jx_certifying *answer)
{
    const char *why;

    if (answer->answer->truth == JX_UNKNOWN)
        return;
    size_t before = to->lines.length;

    if (jx_certify(answer, &to->lines, &why)) {
        JX_ASSERT(
            is_accepted(to->lines.text + before, to->lines.length - before));
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
    jx_buffer lines = {.budget = to->budget};
    const char *why, *end;

    if (!jx_explain(answer, &lines, &why))
        say_no_steps(answer->answer, why, &lines);
    if (json && to->length > 2) {
        jx_buffer_cut(to, to->length - 2); /* the object's end, the line's */
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

/* -------------------------------------------------------------------------
 * Answers that certificates are to be of
 * ---------------------------------------------------------------------- */

typedef struct answered {
    const char *digest, *verdict;
    bool certified;
} answered;

typedef struct answers {
    jx_ctx *ctx;
    JX_VEC(answered) list;
    long undecided;
} answers;

static const char *member_text(jx_ctx *ctx, const jx_json *object,
                               const char *key)
{
    const jx_json *value;
    size_t length;

    if (jx_json_kind_of(object) != JX_JSON_OBJECT ||
        !jx_json_get(object, key, &value) ||
        jx_json_kind_of(value) != JX_JSON_TEXT)
        return NULL;
    const char *text = jx_json_text(value, &length);
    return jx_arena_string(ctx->arena, text, length);
}

static bool add_answer(answers *a, const char *line, size_t length,
                       const char **expected)
{
    jx_json_fault fault;
    jx_json *json = jx_json_parse(a->ctx, line, length, true, &fault);
    answered one = {0};

    if (!json) {
        *expected = fault.expected;
        return false;
    }
    one.verdict = member_text(a->ctx, json, "verdict");
    /* Of a contradiction, what its certificate says. */
    one.digest = member_text(a->ctx, json, "claim");
    if (!one.digest)
        one.digest = member_text(a->ctx, json, "digest");
    jx_json_free(json);
    *expected = "an answer with its verdict";
    if (!one.verdict)
        return false;
    if (!strcmp(one.verdict, "unknown") || !strcmp(one.verdict, "error")) {
        a->undecided++;
        return true;
    }
    *expected = "an answer with its digest (made with --certificate)";
    if (!one.digest)
        return false;
    JX_PUSH(a->ctx->arena, &a->list, one);
    return jx_ok(a->ctx);
}

static int by_digest(const void *a, const void *b)
{
    return strcmp(((const answered *)a)->digest, ((const answered *)b)->digest);
}

/* Reads the file; gives an exit code. */
static int read_answers(answers *a, const char *path, jx_limits limits,
                        jx_budget *paper)
{
    size_t size = 0;
    const char *text, *end, *expected = "an answer";
    long number = 0;

    a->ctx = jx_ctx_limited(limits);
    text = jx_command_read(a->ctx, path, paper, &size);
    if (!text)
        return jx_command_failed(a->ctx);
    for (const char *line = text; line < text + size; line = end + 1) {
        end = memchr(line, '\n', (size_t)(text + size - line));
        end = end ? end : text + size;
        number++;
        if (end > line &&
            !add_answer(a, line, (size_t)(end - line), &expected)) {
            if (!jx_ok(a->ctx))
                return jx_command_failed(a->ctx);
            fprintf(stderr, "jaxvet: %s, line %ld: expected %s\n", path, number,
                    expected);
            return JX_EXIT_INPUT;
        }
    }
    if (!a->list.count && !a->undecided) {
        fprintf(stderr, "jaxvet: %s: expected an answer, but it has none\n",
                path);
        return JX_EXIT_INPUT;
    }
    if (a->list.count)
        qsort(a->list.at, a->list.count, sizeof *a->list.at, by_digest);
    return JX_EXIT_OK;
}

/* What the certificate, which the checker has read, says its question is. */
static void digest_of(jx_ctx *ctx, const jx_json *json,
                      char digest[JX_DIGEST_TEXT])
{
    const jx_json *base, *list;
    const char *question = member_text(ctx, json, "question"), **texts;
    size_t n, length;

    *digest = '\0';
    jx_json_get(json, "base", &base);
    jx_json_get(json, "constraints", &list);
    n = jx_json_count(list);
    texts = JX_NEW_ARRAY(ctx->arena, n + 1, const char *);
    for (size_t i = 0; texts && i < n; i++)
        texts[i] = jx_json_text(jx_json_item(list, i), &length);
    if (texts && question)
        jx_digest_question(ctx, jx_json_int(base), (int)n, texts, question,
                           digest);
}

/* Whether an accepted certificate is one of an answer; else why not. */
static bool is_answered(answers *a, jx_ctx *ctx, const jx_json *json,
                        const char **why)
{
    char digest[JX_DIGEST_TEXT];
    const char *verdict = member_text(ctx, json, "verdict");
    size_t low = 0, high = a->list.count;
    bool found = false;

    digest_of(ctx, json, digest);
    while (low < high) {
        size_t middle = (low + high) / 2;

        if (strcmp(a->list.at[middle].digest, digest) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *why = "its question is none of the answers'";
    for (; verdict && low < a->list.count &&
           !strcmp(a->list.at[low].digest, digest);
         low++) {
        bool same = !strcmp(a->list.at[low].verdict, verdict);

        if (!same)
            *why = "the answer says otherwise";
        a->list.at[low].certified |= same;
        found |= same;
    }
    return found;
}

/* -------------------------------------------------------------------------
 * Checking
 * ---------------------------------------------------------------------- */

typedef struct counts {
    long accepted, rejected, malformed;
    long starved; /* there was no memory to check them */
} counts;

static void check_line(jx_ctx *ctx, const char *line, size_t length,
                       long number, answers *of, counts *n, jx_buffer *to)
{
    jx_check_result result = JX_CHECK_MALFORMED;
    const jx_json *id = NULL;
    jx_json_fault fault = {0};
    jx_json *json = jx_json_parse(ctx, line, length, true, &fault);
    const char *expected;
    char why[300] = "";
    size_t at;

    jx_buffer_printf(to, "%ld", number);
    if (fault.expected)
        snprintf(why, sizeof why, "column %zu: expected %s", fault.at + 1,
                 fault.expected);
    else if (!json)
        jx_starved(ctx);
    else
        result = jx_check_certificate(json, why, sizeof why);
    if (result == JX_CHECK_STARVED)
        jx_starved(ctx);
    if (result == JX_CHECK_ACCEPTED && of &&
        !is_answered(of, ctx, json, &expected)) {
        result = JX_CHECK_REJECTED;
        snprintf(why, sizeof why, "%s", expected);
    }
    if (json && jx_json_kind_of(json) == JX_JSON_OBJECT)
        jx_json_get(json, "id", &id);
    if (id && jx_json_kind_of(id) == JX_JSON_TEXT)
        jx_utf8_printf(to, " %s", jx_json_text(id, &at));
    else if (id && jx_json_kind_of(id) == JX_JSON_INT)
        jx_buffer_printf(to, " %lld", (long long)jx_json_int(id));
    else if (id && jx_json_kind_of(id) == JX_JSON_WIDE)
        jx_buffer_printf(to, " %s", jx_json_wide(id));
    switch (result) {
    case JX_CHECK_ACCEPTED:
        n->accepted++;
        jx_buffer_puts(to, ": accepted\n");
        break;
    case JX_CHECK_REJECTED:
        n->rejected++;
        jx_utf8_printf(to, ": rejected: %s\n", why);
        break;
    case JX_CHECK_STARVED: /* said by who sees the context */ break;
    case JX_CHECK_MALFORMED:
        n->malformed++;
        jx_utf8_printf(to, ": malformed: %s\n", why);
        break;
    }
    if (json)
        jx_json_free(json);
}

/* What the checker could not look at, it has not found wrong. */
static void check_or_give_up(const char *line, size_t length, long number,
                             answers *of, counts *n, double seconds,
                             jx_buffer *to)
{
    size_t left = jx_budget_left(to->budget);
    jx_ctx *ctx = jx_ctx_limited(
        (jx_limits){.bytes = left ? left : 1, .seconds = seconds});
    const counts before = *n;
    size_t mark = to->length;

    if (ctx) {
        jx_ctx_stage(ctx, "checking");
        check_line(ctx, line, length, number, of, n, to);
    }
    if (!ctx || jx_budget_spent(&ctx->budget) != JX_SPENT_NOTHING) {
        jx_buffer_cut(to, mark);
        *n = before;
        n->starved++;
        jx_buffer_printf(to, "%ld: %s\n", number,
                         ctx && !jx_ok(ctx) ? ctx->error.message : JX_STARVED);
    }
    jx_ctx_free(ctx);
}

/* How many of the answers have a certificate; gives an exit code. */
static int say_answered(const answers *a, bool strict, jx_buffer *to)
{
    long with = 0, all = (long)a->list.count;

    for (size_t i = 0; i < a->list.count; i++)
        with += a->list.at[i].certified;
    jx_buffer_printf(to,
                     "%ld answers: %ld with a certificate, %ld without, %ld "
                     "undecided\n",
                     all + a->undecided, with, all - with, a->undecided);
    return strict && with < all ? JX_EXIT_UNDECIDED : JX_EXIT_OK;
}

static int check_lines(const char *text, size_t size, answers *of, bool strict,
                       double seconds, jx_buffer *to)
{
    int code = JX_EXIT_OK;
    counts n = {0};
    const char *end;
    long number = 0;

    for (const char *line = text; line < text + size; line = end + 1) {
        end = memchr(line, '\n', (size_t)(text + size - line));
        end = end ? end : text + size;
        number++;
        if (end > line)
            check_or_give_up(line, (size_t)(end - line), number, of, &n,
                             seconds, to);
    }
    jx_buffer_printf(to, "%ld accepted, %ld rejected, %ld malformed",
                     n.accepted, n.rejected, n.malformed);
    if (n.starved)
        jx_buffer_printf(to, "; %ld: gave up", n.starved);
    jx_buffer_putc(to, '\n');
    if (!(n.accepted + n.rejected + n.malformed + n.starved))
        fputs("jaxvet: expected a certificate, but there is none\n", stderr);
    if (of && !n.starved) /* else nobody knows how many are certified */
        code = say_answered(of, strict, to);
    if (n.rejected)
        code = jx_exit_worse(code, JX_EXIT_FINDINGS);
    if (n.malformed || n.starved || !(n.accepted + n.rejected))
        code = jx_exit_worse(code, JX_EXIT_INPUT);
    return code;
}

int jx_certificates_check(const char *path, const char *answers_path,
                          bool strict, jx_limits limits, jx_buffer *to)
{
    jx_ctx *ctx = jx_ctx_limited(limits);
    size_t size = 0;
    const char *text = jx_command_read(ctx, path, to->budget, &size);
    answers of = {0};
    int code;

    if (!text)
        code = jx_command_failed(ctx);
    else
        code = answers_path
                   ? read_answers(&of, answers_path, limits, to->budget)
                   : JX_EXIT_OK;
    if (code == JX_EXIT_OK)
        code = check_lines(text, size, answers_path ? &of : NULL, strict,
                           limits.seconds, to);
    if (of.ctx)
        jx_ctx_free(of.ctx);
    jx_ctx_free(ctx);
    return code;
}
