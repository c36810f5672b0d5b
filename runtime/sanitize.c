/* sanitize.c - see sanitize.h. */
#include "runtime/sanitize.h"

#include "analyzer/transform/devices.h"
#include "analyzer/transform/inline.h"
#include "analyzer/transform/refine.h"
#include "runtime/fits.h"
#include "runtime/host.h"
#include "runtime/witness/lost.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct jx_sanitizer {
    jx_sanitize_options options;
    const jx_typed *typed; /* without calls, at its sizes */
    jx_plan *plan;
    pthread_mutex_t lock; /* of the closer look */
    jx_given *given;
    jx_shadow *shadow; /* if digits are asked for */
    jx_map quiet;
    jx_witnesses all; /* of the last run */
};

static const struct {
    const char *word;
    unsigned kind;
} kinds[] = {
    {"nan", JX_PROBE_NAN},
    {"oob", JX_PROBE_OOB},
    {"wrap", JX_PROBE_WRAP},
    {"digits", JX_PROBE_DIGITS},
};

unsigned jx_sanitize_kinds(const char *text, const char **wrong)
{
    unsigned found = 0;

    *wrong = text;
    for (;;) {
        size_t n = strcspn(text, ","), k = 0;
        while (k < sizeof kinds / sizeof *kinds &&
               (strlen(kinds[k].word) != n ||
                strncmp(kinds[k].word, text, n) != 0))
            k++;
        if (k == sizeof kinds / sizeof *kinds) {
            *wrong = text;
            return 0;
        }
        found |= kinds[k].kind;
        if (!text[n])
            return found;
        text += n + 1;
    }
}

void jx_sanitizer_free(jx_sanitizer *s)
{
    if (!s)
        return;
    jx_given_free(s->given);
    jx_shadow_free(s->shadow);
    jx_plan_free(s->plan);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* Each equation at one place, and at numbers. */
static const jx_typed *prepared(jx_program *program, int nbindings,
                                const jx_binding *bindings)
{
    const jx_typed *typed = jx_program_at(program, nbindings, bindings);
    const jx_closed *entry;

    if (!typed)
        return NULL;
    entry = &typed->program->entry;
    if (!jx_devices_write_out(&typed, &entry,
                              (jx_assignment){nbindings, bindings},
                              JX_ALL_DEVICES, 1, false))
        return NULL;
    program = jx_program_refine(typed->program, entry, nbindings, bindings);
    program = program ? jx_program_inline(program) : NULL;
    program = program ? jx_program_refine(program, NULL, 0, NULL) : NULL;
    return program ? jx_program_fits(program, false, 0, NULL) : NULL;
}

static bool make(jx_sanitizer *s, jx_program *program, int nbindings,
                 const jx_binding *bindings)
{
    const jx_given_options how = {s->options.kinds, s->options.handlers,
                                  s->options.memory, s->options.seed};
    jx_plan_options plan = {.domain = JX_DECLARED,
                            .probes = {s->options.kinds, &s->quiet},
                            .handlers = s->options.handlers,
                            .memory = s->options.memory};

    s->typed = prepared(program, nbindings, bindings);
    s->given = s->typed ? jx_given_new(s->typed, &how) : NULL;
    if (!s->given)
        return false;
    s->quiet = *jx_given_quiet(s->given);
    s->plan = jx_plan_make(s->typed, &s->typed->program->entry, &plan);
    if (s->plan && s->options.kinds & JX_PROBE_DIGITS)
        s->shadow = jx_shadow_new(
            s->typed, &(jx_shadow_options){s->options.memory, s->options.seed});
    return s->plan && (s->shadow || !(s->options.kinds & JX_PROBE_DIGITS));
}

jx_sanitizer *jx_sanitizer_new(jx_program *program, int nbindings,
                               const jx_binding *bindings,
                               const jx_sanitize_options *options)
{
    jx_sanitizer *s = calloc(1, sizeof *s);

    if (!s) {
        jx_starved(program->ctx);
        return NULL;
    }
    s->options = *options;
    pthread_mutex_init(&s->lock, NULL);
    if (make(s, program, nbindings, bindings))
        return s;
    jx_sanitizer_free(s);
    return NULL;
}

jx_program *jx_sanitizer_program(const jx_sanitizer *s)
{
    return s->typed->program;
}

const jx_plan *jx_sanitizer_plan(const jx_sanitizer *s)
{
    return s->plan;
}

/* Something that a closer look may know the cause of. */
static bool is_suspect(const jx_sanitizer *s, const jx_exec *exec)
{
    jx_unfinite found;

    if (jx_exec_noticed(exec))
        return true;
    for (int i = 0;
         (s->options.kinds & JX_PROBE_NAN) && i < jx_plan_nouts(s->plan); i++)
        if (jx_port_find_unfinite(jx_plan_out(s->plan, i), jx_exec_out(exec, i),
                                  &found))
            return true;
    return false;
}

static bool add(jx_ctx *ctx, const jx_witnesses *from, jx_witnesses *to)
{
    for (size_t i = 0; from && i < from->found.count; i++)
        JX_PUSH(ctx->arena, &to->found, from->found.at[i]);
    return from && jx_ok(ctx);
}

static bool look_at_digits(jx_sanitizer *s, const jx_exec *exec,
                           const void *const *ins, jx_witnesses *to)
{
    jx_ctx *ctx = s->typed->program->ctx;
    int n = jx_plan_nouts(s->plan);
    const void **outs = malloc(((size_t)n + 1) * sizeof *outs);
    bool ok;

    if (!outs)
        return jx_starved(ctx);
    for (int i = 0; i < n; i++)
        outs[i] = jx_exec_out(exec, i);
    ok = add(ctx, jx_shadow_look(s->shadow, s->plan, ins, outs), to);
    free(outs);
    return ok;
}

/* What a run showed, and what closer looks do. */
static bool look(jx_sanitizer *s, const jx_exec *exec, const void *const *ins,
                 jx_tape *tape, jx_sanitized *hear, void *env)
{
    jx_ctx *ctx = s->typed->program->ctx;
    bool ok = true;

    s->all.found.count = 0; /* its room is used again */
    if (is_suspect(s, exec))
        ok = add(ctx, jx_given_look(s->given, ins, tape), &s->all);
    if (ok && s->shadow)
        ok = look_at_digits(s, exec, ins, &s->all);
    return ok && (!s->all.found.count || hear(env, &s->all));
}

bool jx_sanitizer_run(jx_sanitizer *s, jx_exec *exec, const void *const *ins,
                      void *const *outs, void *context, jx_sanitized *hear,
                      void *env)
{
    jx_tape *tape = s->options.handlers ? jx_tape_new() : NULL;
    bool ok;

    if (s->options.handlers && !tape)
        return jx_starved(s->typed->program->ctx);
    jx_exec_context(exec, context);
    jx_exec_tape(exec, tape);
    ok = jx_exec_run(exec, ins, outs);
    jx_exec_tape(exec, NULL);
    if (ok && (s->shadow || is_suspect(s, exec))) {
        pthread_mutex_lock(&s->lock);
        ok = !tape || jx_tape_is_whole(tape) ||
             jx_starved(s->typed->program->ctx);
        ok = ok && look(s, exec, ins, tape, hear, env);
        pthread_mutex_unlock(&s->lock);
    }
    jx_tape_free(tape);
    return ok;
}
