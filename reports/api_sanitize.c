/* api_sanitize.c - of jaxvet.h, calls that look at what they compute. */
#include "reports/api_program.h"

#include "reports/formats/formats.h"
#include "reports/pipeline/sanitized.h"

#include <stdlib.h>
#include <string.h>

/* What a run found, in memory of its own. */
typedef struct jx_api_found {
    jx_ctx *keep;
    jx_report report;
    jaxvet_finding *findings;
    const char *json;
} jx_api_found;

unsigned jaxvet_sanitize_kinds(const char *text)
{
    const char *wrong;

    return text ? jx_sanitize_kinds(text, &wrong) : 0;
}

void jx_api_found_free(jx_api_found *found)
{
    if (found)
        jx_ctx_free(found->keep);
    free(found);
}

bool jx_api_sanitize(jaxvet_call *call, const jx_binding *bindings,
                     unsigned kinds)
{
    const jaxvet_program *p = call->program;
    const jx_sanitize_options options = {
        .kinds = (kinds & JAXVET_SANITIZE_NAN ? JX_PROBE_NAN : 0) |
                 (kinds & JAXVET_SANITIZE_OOB ? JX_PROBE_OOB : 0) |
                 (kinds & JAXVET_SANITIZE_WRAP ? JX_PROBE_WRAP : 0) |
                 (kinds & JAXVET_SANITIZE_DIGITS ? JX_PROBE_DIGITS : 0),
        .handlers = p->handlers};

    call->sanitizer =
        jx_sanitizer_new(p->program, p->nsizes, bindings, &options);
    if (!call->sanitizer)
        return false;
    call->plan = (jx_plan *)(uintptr_t)jx_sanitizer_plan(call->sanitizer);
    return true;
}

/* As the text of a report has it, but for the count of all at its end. */
static const char *text_of(jx_ctx *keep, const char *path,
                           const jx_finding *finding)
{
    jx_report one = {.path = path};
    jx_buffer text = jx_ctx_text(keep);
    const char *end, *shown;

    JX_PUSH(keep->arena, &one.findings, *finding);
    jx_report_text(&(jx_report_list){1, &one, 0, NULL},
                   &(jx_style){false, NULL}, &text);
    end = jx_buffer_ok(&text) ? strstr(jx_buffer_text(&text), "\n\n") : NULL;
    shown = end ? jx_arena_string(keep->arena, jx_buffer_text(&text),
                                  (size_t)(end - jx_buffer_text(&text)))
                : NULL;
    jx_buffer_free(&text);
    return shown;
}

/* The findings one by one, and all of them as JSON. */
static bool render(jx_api_found *found)
{
    jx_ctx *keep = found->keep;
    size_t n = found->report.findings.count;
    jx_buffer json = jx_ctx_text(keep);

    found->findings = JX_NEW_ARRAY(keep->arena, n + 1, jaxvet_finding);
    for (size_t i = 0; found->findings && i < n; i++) {
        const jx_finding *from = &found->report.findings.at[i];
        found->findings[i] =
            (jaxvet_finding){.size = sizeof(jaxvet_finding),
                             .code = jx_code_of(from->code)->id,
                             .message = from->message,
                             .file = from->where.file ? from->where.file : "",
                             .line = from->where.line,
                             .text = text_of(keep, found->report.path, from)};
    }
    jx_report_json(&(jx_report_list){1, &found->report, 0, NULL}, NULL, &json);
    found->json = jx_arena_take(keep->arena, &json);
    return jx_ok(keep);
}

static bool hear(void *env, const jx_witnesses *witnesses)
{
    jaxvet_call *call = env;
    jx_program *program = jx_sanitizer_program(call->sanitizer);
    jx_api_found *found = calloc(1, sizeof *found);

    if (!found || !(found->keep = jx_ctx_new(0))) {
        free(found);
        return jx_starved(program->ctx);
    }
    found->report.path = program->path;
    if (!jx_sanitized_report(found->keep, &found->report, program, witnesses) ||
        !render(found)) {
        jx_api_found_free(found);
        return jx_starved(program->ctx);
    }
    call->found = found;
    return true;
}

jaxvet_status jx_api_run_sanitized(jaxvet_call *call, const void *const *inputs,
                                   void *const *outputs, void *context,
                                   jaxvet_error *error)
{
    jx_ctx *ctx = call->program->ctx;

    jx_api_found_free(call->found);
    call->found = NULL;
    if (!jx_sanitizer_run(call->sanitizer, call->exec, inputs, outputs, context,
                          hear, call))
        return jx_exec_error(call->exec)[0] ? jx_api_tell_failure(call, error)
                                            : jx_api_hand_over(ctx, error);
    return call->found ? JAXVET_FINDINGS : JAXVET_OK;
}

int jaxvet_call_findings(const jaxvet_call *call,
                         const jaxvet_finding **findings)
{
    if (findings)
        *findings = call && call->found ? call->found->findings : NULL;
    return call && call->found ? (int)call->found->report.findings.count : 0;
}

const char *jaxvet_call_report(const jaxvet_call *call)
{
    return call && call->found ? call->found->json : NULL;
}
