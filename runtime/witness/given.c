/* given.c - see given.h. */
#include "runtime/witness/given.h"

#include "runtime/host.h"
#include "runtime/witness/parts.h"

#include <stdlib.h>
#include <string.h>

struct jx_given {
    jx_given_options options;
    jx_witness_options how;
    jx_hunt hunt;
    jx_watch watch;
    jx_tracks tracks;
    jx_witnesses found;
    jx_map quiet;
};

void jx_given_free(jx_given *given)
{
    if (!given)
        return;
    jx_callee_close(&given->hunt.run);
    free(given);
}

static bool make(jx_given *g, const jx_typed *typed)
{
    jx_hunt *h = &g->hunt;
    jx_plan_options how = {.domain = JX_DECLARED,
                           .watch = &g->watch,
                           .probes = {g->options.kinds, &g->quiet},
                           .handlers = g->options.handlers,
                           .memory = g->options.memory};

    g->tracks.arena = typed->program->ctx->arena;
    g->watch.tracks = &g->tracks;
    g->how = (jx_witness_options){.given = true, .memory = g->options.memory};
    *h = (jx_hunt){.program = typed->program,
                   .typed = typed,
                   .options = &g->how,
                   .watch = &g->watch,
                   .to = &g->found};
    jx_map_init(&g->quiet, typed->program->ctx->arena);
    if (!jx_origins_make(&h->origins, typed->program))
        return false;
    jx_hunt_find_quiet(h, &g->quiet);
    if (!jx_callee_open(&h->run, typed, &typed->program->entry, &how))
        return false;
    jx_exec_seed(h->run.exec, g->options.seed);
    jx_hunt_look_backward(h);
    return jx_ok(typed->program->ctx);
}

jx_given *jx_given_new(const jx_typed *typed, const jx_given_options *options)
{
    jx_given *g = calloc(1, sizeof *g);

    if (!g) {
        jx_starved(typed->program->ctx);
        return NULL;
    }
    g->options = *options;
    if (make(g, typed))
        return g;
    jx_given_free(g);
    return NULL;
}

const jx_map *jx_given_quiet(const jx_given *given)
{
    return &given->quiet;
}

static void keep_slips(jx_given *g)
{
    jx_hunt *h = &g->hunt;

    for (int i = 0; i < g->watch.nslips; i++) {
        const jx_slip *slip = &g->watch.slips[i];
        bool wraps = slip->kind == JX_OVERFLOWED || slip->kind == JX_NARROWED;
        JX_PUSH(h->program->ctx->arena, &g->found.found,
                ((jx_witness){.slip = *slip,
                              .code = wraps ? JX_CODE_DTY004 : JX_CODE_NUM001,
                              .level = JX_ERROR,
                              .stack = jx_origin_stack(&h->origins, slip->at.eqn)}));
    }
}

static bool is_outside(const jx_misuse *misuse)
{
    return misuse->kind == JX_BEYOND || misuse->kind == JX_FILLED ||
           misuse->kind == JX_DROPPED || misuse->kind == JX_CLAMPED;
}

/* Runs the program again for each that is to be weighed. */
static void weigh(jx_given *g)
{
    jx_misuse misuses[JX_WATCHED_ROOTS];
    int n = 0;

    for (int i = 0; i < g->watch.nmisuses; i++)
        if (is_outside(&g->watch.misuses[i]) &&
            !jx_map_has(&g->quiet, g->watch.misuses[i].eqn))
            misuses[n++] = g->watch.misuses[i];
    keep_slips(g);
    if (g->options.kinds & JX_PROBE_NAN)
        jx_hunt_weigh_numbers(&g->hunt);
    if (g->options.kinds & JX_PROBE_OOB)
        jx_hunt_weigh_indices(&g->hunt, n, misuses);
}

/* All that a search may spend, which a run has no need of. */
static const int64_t plenty = INT64_MAX / 4;

const jx_witnesses *jx_given_look(jx_given *g, const void *const *inputs, jx_tape *tape)
{
    jx_hunt *h = &g->hunt;
    jx_ctx *ctx = h->program->ctx;

    g->found.found.count = 0;
    for (int i = 0; i < h->run.nins; i++)
        memcpy(h->run.in[i], inputs[i], jx_plan_in(h->run.plan, i)->bytes);
    jx_exec_tape(h->run.exec, tape);
    h->tape = tape;
    h->operations = plenty;
    if (!jx_hunt_run(h, false, 0, NULL)) {
        jx_fail(ctx, jx_exec_gave_up(h->run.exec) ? JX_E_LIMIT : JX_E_INPUT,
                h->program->path, NULL, "%s", jx_exec_error(h->run.exec));
        return NULL;
    }
    weigh(g);
    for (size_t i = 0; i < g->found.found.count; i++)
        g->found.found.at[i].level = JX_ERROR; /* it did happen */
    return jx_ok(ctx) ? &g->found : NULL;
}
