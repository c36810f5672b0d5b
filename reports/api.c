/* api.c - jaxvet.h upon the modules inside. */
#include "reports/api_program.h"

#include "frontend/base/machine.h"
#include "frontend/ir/signature.h"
#include "reports/formats/costs.h"
#include "reports/formats/exported_info.h"
#include "reports/formats/formats.h"
#include "reports/formats/program_info.h"
#include "reports/pipeline/check.h"
#include "reports/pipeline/input.h"
#include "reports/pipeline/versions.h"
#include "runtime/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int jaxvet_abi_version(void)
{
    return JAXVET_ABI_VERSION;
}

uint64_t jaxvet_memory(const char *text)
{
    int64_t bytes;

    if (!text)
        return jx_machine_bytes();
    return jx_bytes_read(text, &bytes) ? (uint64_t)bytes : 0;
}

const char *jaxvet_version(void)
{
    return JX_VERSION;
}

/* ---- errors */

/* Cut to fit, between two characters. */
static void copy_text(char *to, size_t room, const char *text)
{
    size_t length = text ? strlen(text) : 0;

    if (length >= room) {
        length = room - 1;
        while (length && ((unsigned char)text[length] & 0xc0) == 0x80)
            length--;
    }
    memcpy(to, text ? text : "", length);
    to[length] = '\0';
}

void jx_api_error(jaxvet_error *to, jaxvet_status status, const char *file,
                  const char *place, const char *message)
{
    if (!to)
        return;
    to->status = status;
    copy_text(to->file, sizeof to->file, file);
    copy_text(to->place, sizeof to->place, place);
    copy_text(to->message, sizeof to->message, message);
}

static jaxvet_status status_of(jx_error_kind kind)
{
    switch (kind) {
    case JX_E_NONE:
    case JX_E_INTERNAL: break;
    case JX_E_USAGE: return JAXVET_USAGE;
    case JX_E_INPUT:
    case JX_E_SYSTEM: return JAXVET_INPUT;
    case JX_E_LIMIT: return JAXVET_LIMIT;
    }
    return JAXVET_INTERNAL;
}

bool jx_api_given(const void *pointer, const char *what, jaxvet_error *error)
{
    char message[sizeof error->message];

    if (pointer)
        return true;
    snprintf(message, sizeof message, "expected %s, found NULL", what);
    jx_api_error(error, JAXVET_USAGE, NULL, NULL, message);
    return false;
}

jaxvet_status jx_api_starved(jaxvet_error *to)
{
    jx_api_error(to, JAXVET_LIMIT, NULL, NULL, JX_STARVED);
    return JAXVET_LIMIT;
}

jaxvet_status jx_api_hand_over(jx_ctx *ctx, jaxvet_error *to)
{
    jx_ok(ctx);
    jaxvet_status status = status_of(ctx->error.kind);
    jx_api_error(to, status, ctx->error.file, ctx->error.place,
                 ctx->error.message);
    jx_error_clear(ctx);
    return status;
}

/* ---- opening */

static const char *type_text(jx_ctx *ctx, const jx_aval *aval)
{
    jx_buffer text = jx_ctx_text(ctx);

    jx_aval_print(aval, &text);
    return jx_arena_take(ctx->arena, &text);
}

jaxvet_status jx_api_tell_failure(const jaxvet_call *call, jaxvet_error *error)
{
    const jaxvet_error *host = jx_exec_host_error(call->exec);
    jaxvet_status status =
        jx_exec_gave_up(call->exec) ? JAXVET_LIMIT : JAXVET_INPUT;

    if (host)
        jx_api_error(error, host->status, host->file, host->place,
                     host->message);
    else
        jx_api_error(error, status, NULL, NULL, jx_exec_error(call->exec));
    return host ? host->status : status;
}

bool jx_api_read_signature(jaxvet_program *p)
{
    const jx_jaxpr *entry = p->program->entry.jaxpr;
    jx_arena *arena = p->ctx->arena;

    p->in_types = JX_NEW_ARRAY(arena, entry->nins, const char *);
    p->out_types = JX_NEW_ARRAY(arena, entry->nouts, const char *);
    if (!p->in_types || !p->out_types)
        return false;
    p->nins = entry->nins;
    p->nouts = entry->nouts;
    for (int i = 0; i < p->nins; i++) {
        const jx_aval *aval = entry->vars[entry->nconsts + i]->aval;
        p->in_types[i] = type_text(p->ctx, aval);
        if (!p->in_types[i])
            return false;
    }
    for (int i = 0; i < p->nouts; i++) {
        p->out_types[i] = type_text(p->ctx, jx_atom_aval(entry->outs[i]));
        if (!p->out_types[i])
            return false;
    }
    p->sizes = jx_input_vars(p->program, &p->nsizes);
    return p->sizes != NULL;
}

static jaxvet_program *new_program(size_t budget, jaxvet_error *error)
{
    enum { DEFAULT_GIB = 4 };
    jaxvet_program *p = calloc(1, sizeof *p);

    if (p)
        p->ctx = jx_ctx_new(budget ? budget : (size_t)DEFAULT_GIB << 30);
    if (p && p->ctx) {
        p->report = p->info = p->module = jx_ctx_text(p->ctx);
        return p;
    }
    free(p);
    jx_api_starved(error);
    return NULL;
}

bool jx_api_limits(const jaxvet_limits *limits, jx_limits *to,
                   jaxvet_error *error)
{
    *to = (jx_limits){0};
    if (limits && limits->size < sizeof *limits) {
        jx_api_error(error, JAXVET_USAGE, NULL, NULL,
                     "expected limits with their size: "
                     "jaxvet_limits limits = {sizeof limits}");
        return false;
    }
    if (limits)
        *to = (jx_limits){limits->bytes, limits->seconds, limits->cancel};
    return true;
}

jaxvet_status jaxvet_program_limits(jaxvet_program *program,
                                    const jaxvet_limits *limits,
                                    jaxvet_error *error)
{
    if (!jx_api_given(program, "a program", error) ||
        !jx_api_limits(limits, &program->ctx->budget.limits, error))
        return JAXVET_USAGE;
    jx_budget_restart(&program->ctx->budget);
    return JAXVET_OK;
}

void jx_api_begin(const jaxvet_program *program)
{
    jx_budget_restart(&program->ctx->budget);
}

jaxvet_program *jx_api_opened(jaxvet_program *p, jx_program *program,
                              jaxvet_error *error)
{
    p->program = program;
    if (program && jx_api_read_signature(p))
        return p;
    jx_api_hand_over(p->ctx, error);
    jaxvet_close(p);
    return NULL;
}

jaxvet_program *jaxvet_open(const char *path, size_t budget,
                            jaxvet_error *error)
{
    jaxvet_program *p =
        jx_api_given(path, "a path", error) ? new_program(budget, error) : NULL;

    return p ? jx_api_opened(p, jx_input_open(p->ctx, path), error) : NULL;
}

jaxvet_program *jaxvet_open_memory(const void *bytes, size_t size,
                                   const char *name, size_t budget,
                                   jaxvet_error *error)
{
    const char *shown = name ? name : "<memory>";
    jaxvet_program *p = !size || jx_api_given(bytes, "bytes", error)
                            ? new_program(budget, error)
                            : NULL;
    /* Constants of a module stay where they are, so that must outlive it. */
    const void *kept =
        p ? jx_arena_copy(p->ctx->arena, size ? bytes : "", size) : NULL;

    return p ? jx_api_opened(
                   p, kept ? jx_input_read(p->ctx, shown, kept, size) : NULL,
                   error)
             : NULL;
}

void jaxvet_close(jaxvet_program *program)
{
    if (!program)
        return;
    jx_buffer_free(&program->report);
    jx_buffer_free(&program->info);
    jx_buffer_free(&program->module);
    if (!program->is_guest)
        jx_ctx_free(program->ctx);
    free(program);
}

/* ---- the signature */

static const char *pick(const char *const *texts, int count, int i)
{
    return i >= 0 && i < count ? texts[i] : NULL;
}

static const char *pick_path(const char *const *paths, int count, int i)
{
    if (i < 0 || i >= count)
        return NULL;
    return paths && paths[i] ? paths[i] : "";
}

int jaxvet_input_count(const jaxvet_program *program)
{
    return program ? program->nins : 0;
}

int jaxvet_output_count(const jaxvet_program *program)
{
    return program ? program->nouts : 0;
}

int jaxvet_size_count(const jaxvet_program *program)
{
    return program ? program->nsizes : 0;
}

const char *jaxvet_input_type(const jaxvet_program *program, int i)
{
    return program ? pick(program->in_types, program->nins, i) : NULL;
}

const char *jaxvet_output_type(const jaxvet_program *program, int i)
{
    return program ? pick(program->out_types, program->nouts, i) : NULL;
}

const char *jaxvet_input_path(const jaxvet_program *program, int i)
{
    return program ? pick_path(program->program->in_paths, program->nins, i)
                   : NULL;
}

const char *jaxvet_output_path(const jaxvet_program *program, int i)
{
    return program ? pick_path(program->program->out_paths, program->nouts, i)
                   : NULL;
}

const char *jaxvet_size_name(const jaxvet_program *program, int i)
{
    return i >= 0 && i < jaxvet_size_count(program) ? program->sizes[i]->name
                                                    : NULL;
}

/* Of a file of jax.export, what stands around its module, too. */
static bool put_info(jaxvet_program *p)
{
    const jx_exported *x = p->is_guest ? NULL : p->program->exported;
    jx_exported_info info;

    if (!x)
        return jx_program_info(p->program, true, &p->info);
    if (!jx_exported_info_of(p->ctx, p->program->path, x->file, x->size, true,
                             &info))
        return false;
    jx_exported_json(&info, &p->info);
    return true;
}

jaxvet_status jaxvet_info(jaxvet_program *program, const char **info,
                          jaxvet_error *error)
{
    if (!jx_api_given(program, "a program", error) ||
        !jx_api_given(info, "where to put the information", error))
        return JAXVET_USAGE;
    *info = NULL;
    jx_api_begin(program);
    if ((!jx_buffer_text(&program->info)[0] && !put_info(program)) ||
        !jx_ok(program->ctx)) {
        jx_buffer_clear(&program->info);
        return jx_api_hand_over(program->ctx, error);
    }
    *info = jx_buffer_text(&program->info);
    return JAXVET_OK;
}

/* ---- checking */

static jaxvet_status status_of_report(const jx_report *report)
{
    for (size_t i = 0; i < report->findings.count; i++)
        if (report->findings.at[i].level == JX_ERROR)
            return JAXVET_FINDINGS;
    return report->undecided.count ? JAXVET_UNDECIDED : JAXVET_OK;
}

void jaxvet_trust_embedded(jaxvet_program *program)
{
    if (program)
        program->trusts_embedded = true;
}

/* The report of one program; comments that suppress are those that it embeds,
 * if they are trusted.  Nothing is read from disk. */
static bool report_on(jx_ctx *keep, jx_report *report, jx_program *program,
                      bool trusts_embedded)
{
    const jx_check_options options = {.settle = {.suggest = true}};
    jx_suppressions *comments =
        jx_suppressions_new(keep, NULL, &options.selection);

    if (!comments)
        return false;
    if (trusts_embedded)
        jx_suppressions_trust_embedded(comments);
    return jx_check_report(keep, report, program, &options) &&
           jx_check_finish(keep, report, false, comments) &&
           jx_suppressions_unused(comments, report, 1);
}

jaxvet_status jaxvet_check(jaxvet_program *program, const char **report,
                           jaxvet_error *error)
{
    jx_report found = {0};
    jaxvet_status status;
    jx_ctx *keep;
    bool done;

    if (!jx_api_given(program, "a program", error) ||
        !jx_api_given(report, "where to put the report", error))
        return JAXVET_USAGE;
    found.path = program->program->path;
    jx_api_begin(program);
    keep = jx_ctx_below(program->ctx, 0);
    *report = NULL;
    jx_buffer_clear(&program->report);
    if (!keep)
        return jx_api_hand_over(program->ctx, error);
    done = report_on(keep, &found, program->program, program->trusts_embedded);
    if (done)
        jx_report_json(&(jx_report_list){1, &found, 0, NULL}, NULL,
                       &program->report);
    if (!done || !jx_ok(program->ctx)) {
        bool theirs = jx_ok(program->ctx) && !jx_ok(keep);
        status = jx_api_hand_over(theirs ? keep : program->ctx, error);
    } else {
        status = status_of_report(&found);
        *report = jx_buffer_text(&program->report);
    }
    jx_ctx_free(keep);
    return status;
}
