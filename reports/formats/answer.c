/* answer.c - an answer of the prover as JSON; see answer.h. */
#include "reports/formats/answer.h"

#include "frontend/base/json.h"
#include "frontend/base/sha256.h"

static void put_assignment(jx_buffer *to, const char *key,
                           const jx_assignment *a)
{
    jx_buffer_printf(to, ",\"%s\":{", key);
    for (int i = 0; i < a->count; i++) {
        if (i)
            jx_buffer_putc(to, ',');
        jx_json_put_text(to, a->at[i].var->name);
        jx_buffer_putc(to, ':');
        jx_int_print(a->at[i].value, to);
    }
    jx_buffer_putc(to, '}');
}

static void put_core(const char *const *constraints, jx_buffer *to,
                     const jx_answer *a)
{
    jx_buffer_puts(to, ",\"core\":[");
    for (int i = 0; i < a->ncore; i++) {
        if (i)
            jx_buffer_putc(to, ',');
        jx_json_put_text(to, constraints[a->core[i]]);
    }
    jx_buffer_putc(to, ']');
}

static void put_suggestions(jx_buffer *to, const char *key, int count,
                            const jx_constraint *all)
{
    jx_buffer text = {.budget = to->budget};

    jx_buffer_printf(to, ",\"%s\":[", key);
    for (int i = 0; i < count; i++) {
        if (i)
            jx_buffer_putc(to, ',');
        jx_buffer_clear(&text);
        jx_constraint_print(&all[i], &text);
        jx_json_put_text(to, jx_buffer_text(&text));
    }
    jx_buffer_putc(to, ']');
    to->failed |= !jx_buffer_ok(&text);
    jx_buffer_free(&text);
}

void jx_answer_json(const jx_answer *a, const char *id,
                    const char *const *constraints, const jx_digests *digest,
                    jx_buffer *to)
{
    jx_buffer_printf(to, "{\"id\":%s,\"verdict\":\"%s\"", id ? id : "null",
                     jx_truth_text(a->truth));
    if (a->by)
        jx_buffer_printf(to, ",\"by\":\"%s\"", a->by);
    if (a->solver)
        jx_buffer_printf(to, ",\"solver\":\"%s\"", a->solver);
    if (a->has_true)
        put_assignment(to, "witness_true", &a->when_true);
    if (a->has_false)
        put_assignment(to, "witness_false", &a->when_false);
    if (a->truth == JX_CONTRADICTION)
        put_core(constraints, to, a);
    if (a->nsuggestions)
        put_suggestions(to, "suggest", a->nsuggestions, a->suggestions);
    if (a->ntogether)
        put_suggestions(to, "suggest_together", a->ntogether, a->together);
    if (a->why) {
        jx_buffer_puts(to, ",\"why\":");
        jx_json_put_text(to, a->why);
    }
    if (a->passing)
        jx_buffer_puts(to, ",\"passing\":true");
    if (digest)
        jx_buffer_printf(to, ",\"digest\":\"%s\"", digest->question);
    if (digest && a->truth == JX_CONTRADICTION)
        jx_buffer_printf(to, ",\"claim\":\"%s\"", digest->claim);
    jx_buffer_puts(to, "}\n");
}

void jx_digest_question(jx_ctx *ctx, int64_t base, int n,
                        const char *const *constraints, const char *question,
                        char digest[JX_DIGEST_TEXT])
{
    jx_buffer text = jx_ctx_text(ctx);

    jx_buffer_printf(&text, "{\"base\":%lld,\"constraints\":[",
                     (long long)base);
    for (int i = 0; i < n; i++) {
        if (i)
            jx_buffer_putc(&text, ',');
        jx_json_put_text(&text, constraints[i]);
    }
    jx_buffer_puts(&text, "],\"question\":");
    jx_json_put_text(&text, question);
    jx_buffer_putc(&text, '}');
    *digest = '\0';
    if (jx_buffer_ok(&text))
        jx_sha256(text.text, text.length, digest);
    jx_buffer_free(&text);
}

void jx_digest(const jx_certifying *c, jx_digests *to)
{
    const jx_answer *a = c->answer;
    const char *core[JX_DIGEST_CORE];
    int n = 0;

    jx_digest_question(c->ctx, c->base, c->nconstraints, c->constraints,
                       c->question, to->question);
    for (int i = 0; i < a->ncore && n < JX_DIGEST_CORE; i++)
        core[n++] = c->constraints[a->core[i]];
    jx_digest_question(c->ctx, c->base, n, core, "", to->claim);
}
