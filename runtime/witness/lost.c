/* lost.c - see lost.h. */
#include "runtime/witness/lost.h"

#include "frontend/base/plain.h"
#include "runtime/elementwise.h"
#include "runtime/host.h"
#include "runtime/kernels/vector.h"
#include "runtime/witness/lost_parts.h"
#include "runtime/witness/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RECORDED = 1 << 30, SEEDS = 2 };

struct jx_shadow {
    jx_shadow_options options;
    jx_witness_options how;
    /* of which the path is found; its plan is the one that records */
    jx_hunt hunt;
    jx_watch watch;
    jx_lost_maps maps;
    jx_digits digits;
    /* it computes in double itself: with pairs of doubles beside it, ... */
    bool doubles;
    bool noisy; /* ... or, where it has complex numbers, with other roundings */
    /* what is as much smaller than what it is made of is none; ... */
    double zero;
    double unsure_zero; /* ... of results that know fewer digits */
    jx_noise noise;
    jx_callee wide, shown; /* alone; with what was recorded */
    /* per output: in the last run; when it was looked at closer */
    bool *differ, *cleared;
    int looks, wait; /* that found nothing new, in a row; runs until the next */
    int news;        /* looks that did */
    jx_map told;     /* equations that were found */
    jx_witnesses found; /* by the last look */
    jx_witnesses none;
};

void jx_shadow_free(jx_shadow *s)
{
    if (!s)
        return;
    jx_callee_close(&s->wide);
    jx_callee_close(&s->shown);
    jx_callee_close(&s->hunt.run);
    jx_arena_free(s->hunt.scratch);
    free(s->digits.bytes);
    if (s->digits.room)
        jx_budget_give(s->digits.budget, s->digits.room);
    free(s);
}

/* The distance of 1 and its neighbour below. */
static double unit_of(jx_dtype dtype)
{
    double one = 1, below;
    unsigned char bits[16] = {0};

    for (double off = 0.5;; off /= 2) {
        one = 1 - off;
        jx_convert(JX_F64, dtype, &one, bits, 1);
        jx_convert(dtype, JX_F64, bits, &below, 1);
        if (below != one || off < 0x1p-53)
            return 2 * off;
    }
}

/* -- the host -----------------------------------------------------------------
 *
 * It did what it does for the first run, and is not asked again: calls for
 * an effect alone are left out.  What gives results it knows in the
 * declared dtypes alone. */

static int knows(void *data, const char *target)
{
    (void)data;
    (void)target;
    return JAXVET_HANDLES;
}

static jaxvet_status run_idle(void *data, void *state,
                              const jaxvet_custom_call *call,
                              const void *const *inputs, void *const *outputs,
                              void *context, jaxvet_error *error)
{
    (void)data;
    (void)state;
    (void)inputs;
    (void)outputs;
    (void)context;
    for (int i = 0; i < call->output_count; i++)
        if (call->outputs[i].bytes) {
            jx_snprintf(
                error->message, sizeof error->message,
                "the sanitizer can't look at digits: the host gives results");
            return JAXVET_INPUT;
        }
    return JAXVET_OK;
}

static const jaxvet_handlers idle = {
    .size = sizeof idle, .knows = knows, .run = run_idle};

static bool calls_host(const jx_jaxpr *jaxpr)
{
    for (int i = 0; jaxpr && i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        if (jx_eqn_calls_back(eqn) && eqn->nouts)
            return true;
        for (int k = 0; k < jx_bodies_of(eqn); k++)
            if (calls_host(jx_body_of(eqn, k)->jaxpr))
                return true;
    }
    return false;
}

static bool open_wide(jx_shadow *s, jx_callee *to, jx_digits *digits)
{
    const jx_plan_options how = {
        .domain = s->maps.pairs ? JX_DOUBLED : JX_WIDE,
        .rounds_below = JX_F32,
        .brisk = !s->doubles && !s->maps.pairs,
        .takes_declared = true,
        .noise = s->doubles || s->maps.pairs ? &s->noise : NULL,
        .digits = digits,
        .handlers = &idle,
        .memory = s->options.memory};

    if (!jx_callee_open(to, s->hunt.typed, &s->hunt.program->entry, &how))
        return false;
    jx_exec_seed(to->exec, s->options.seed);
    return true;
}

static bool make(jx_shadow *s, const jx_typed *typed)
{
    jx_program *program = typed->program;

    s->how = (jx_witness_options){.given = true, .memory = s->options.memory};
    s->hunt = (jx_hunt){.program = program,
                        .typed = typed,
                        .options = &s->how,
                        .watch = &s->watch,
                        .to = &s->found};
    if (calls_host(program->entry.jaxpr))
        return jx_fail(program->ctx, JX_E_INPUT, program->path, NULL,
                       "the sanitizer can't look at digits: the program "
                       "computes with what a "
                       "callback gives, which knows the declared dtypes alone");
    s->maps = (jx_lost_maps){.arena = program->ctx->arena,
                             .origins = &s->hunt.origins};
    if (!jx_origins_make(&s->hunt.origins, program) ||
        !jx_lost_maps_make(&s->maps, program->entry.jaxpr))
        return false;
    s->watch.tracks = &s->maps.tracks;
    s->doubles = !s->maps.narrowest || s->maps.narrowest == JX_F64;
    s->noisy = s->doubles && !s->maps.pairs;
    s->zero = !s->doubles ? 0x1p-40 : s->noisy ? 0x1p-49 : 0x1p-90;
    s->unsure_zero = fmax(s->zero, 0x1p-49);
    s->noise.by = 1;
    s->digits = (jx_digits){
        .tolerance = sqrt(unit_of(s->doubles ? JX_F64 : s->maps.narrowest)),
        .zero = s->zero,
        .unsure_zero = s->unsure_zero,
        .unsure = &s->maps.unsure,
        .most = MOST_RECORDED,
        .budget = &program->ctx->budget,
        .sources = &s->maps.sources,
        .lost = &s->maps.lost,
        .passed = &s->maps.passed,
        .rounds = &s->maps.rounds};
    s->differ = JX_NEW_ARRAY(program->ctx->arena,
                             program->entry.jaxpr->nouts + 1, bool);
    s->cleared = JX_NEW_ARRAY(program->ctx->arena,
                              program->entry.jaxpr->nouts + 1, bool);
    jx_map_init(&s->told, program->ctx->arena);
    return s->differ && s->cleared && open_wide(s, &s->wide, NULL);
}

jx_shadow *jx_shadow_new(const jx_typed *typed,
                         const jx_shadow_options *options)
{
    jx_shadow *s = calloc(1, sizeof *s);

    if (!s) {
        jx_starved(typed->program->ctx);
        return NULL;
    }
    s->options = *options;
    if (make(s, typed))
        return s;
    jx_shadow_free(s);
    return NULL;
}

/* ---- outputs */

enum { PIECE = 128 };

/* So many elements from that one on, as doubles, in place or in `room`; how
 * many numbers these are. */
static int64_t numbers_of(const jx_port *port, const void *data, int64_t from,
                          double *room, const double **to)
{
    int64_t n = port->count - from < PIECE ? port->count - from : PIECE;
    bool complex = jx_dtype_is_complex(port->dtype);
    const char *at =
        (const char *)data + (size_t)from * jx_dtype_of(port->dtype)->bytes;

    *to = room;
    if (port->dtype == JX_F64 || port->dtype == JX_C128)
        *to = (const double *)(const void *)at;
    else
        jx_convert(port->dtype, complex ? JX_C128 : JX_F64, at, room, n);
    return complex ? 2 * n : n;
}

/* How far numbers are apart where both are finite, and how large the second are
 * there; the bits of numbers that are not negative are in their order. */
typedef struct apart {
    uint64_t off, largest;
} apart;

JX_VECTOR_CLONES static apart farther(apart so_far, const double *a,
                                      const double *b, int64_t count)
{
    const uint64_t number = UINT64_MAX >> 1, infinity = UINT64_C(0x7ff) << 52;

    for (int64_t i = 0; i < count; i++) {
        double difference = a[i] - b[i];
        uint64_t off, size;
        memcpy(&off, &difference, sizeof off);
        memcpy(&size, &b[i], sizeof size);
        size = (off & number) < infinity ? size & number : 0;
        off = (off & number) < infinity ? off & number : 0;
        so_far.off = off > so_far.off ? off : so_far.off;
        so_far.largest = size > so_far.largest ? size : so_far.largest;
    }
    return so_far;
}

static double of_bits(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static double largest_of(const jx_port *port, const void *data)
{
    double room[2 * PIECE];
    const double *numbers;
    apart from_itself = {0};

    for (int64_t at = 0; jx_dtype_is_inexact(port->dtype) && at < port->count;
         at += PIECE) {
        int64_t n = numbers_of(port, data, at, room, &numbers);
        from_itself = farther(from_itself, numbers, numbers, n);
    }
    return of_bits(from_itself.largest);
}

static apart distance(const jx_port *port, const void *was, const jx_port *wide,
                      const void *is)
{
    double room[2][2 * PIECE];
    const double *a, *b;
    apart all = {0};

    for (int64_t at = 0; jx_dtype_is_inexact(port->dtype) && at < port->count;
         at += PIECE) {
        int64_t n = numbers_of(port, was, at, room[0], &a);
        numbers_of(wide, is, at, room[1], &b);
        all = farther(all, a, b, n);
    }
    return all;
}

/* By more than half of the digits off. */
static bool is_far(const jx_shadow *s, apart d)
{
    return of_bits(d.off) > s->digits.tolerance * of_bits(d.largest);
}

/* Of numbers of that size. */
static bool is_zero(const jx_shadow *s, int out, apart d, double scale)
{
    double zero = s->maps.unsure_outs[out] ? s->unsure_zero : s->zero;

    return of_bits(d.largest) <= zero * scale;
}

/* The first output of which digits are lost, or -1. */
static int lost_output(const jx_shadow *s, const jx_callee *wide,
                       const void *const *outs, const jx_plan *plan,
                       double scale)
{
    for (int i = 0; i < wide->nouts; i++) {
        apart d =
            distance(jx_plan_out(plan, i), outs[i], jx_plan_out(wide->plan, i),
                     jx_exec_out(wide->exec, i));
        if (is_far(s, d) && !is_zero(s, i, d, scale))
            return i;
    }
    return -1;
}

static bool run_wide(jx_shadow *s, jx_callee *wide, const void *const *ins)
{
    jx_ctx *ctx = s->hunt.program->ctx;

    jx_exec_restart(wide->exec);
    return jx_exec_run(wide->exec, ins, NULL) ||
           jx_fail(ctx, jx_exec_gave_up(wide->exec) ? JX_E_LIMIT : JX_E_INPUT,
                   s->hunt.program->path, NULL, "%s",
                   jx_exec_error(wide->exec));
}

/* The largest number that the run took or gave. */
static double scale_of(const jx_shadow *s, const void *const *ins,
                       const void *const *outs, const jx_plan *plan)
{
    double scale = 0;

    for (int i = 0; i < s->wide.nins; i++)
        scale = fmax(scale, largest_of(jx_plan_in(plan, i), ins[i]));
    for (int i = 0; i < s->wide.nouts; i++)
        scale = fmax(scale, largest_of(jx_plan_out(plan, i), outs[i]));
    return scale;
}

/* Whether a closer look is worth it; -1 with an error.  *any:
 * outputs differ. */
static int differs(jx_shadow *s, const void *const *ins,
                   const void *const *outs, const jx_plan *plan, bool *any)
{
    bool open = false;
    double scale = -1; /* not known: few runs ask */

    for (int k = 0; k < (s->noisy ? SEEDS : 1); k++) {
        s->noise.seed = s->options.seed + (uint64_t)k;
        if (!run_wide(s, &s->wide, ins))
            return -1;
        for (int i = 0; i < s->wide.nouts; i++) {
            apart d = distance(jx_plan_out(plan, i), outs[i],
                               jx_plan_out(s->wide.plan, i),
                               jx_exec_out(s->wide.exec, i));
            s->differ[i] = is_far(s, d);
            if (!s->differ[i])
                continue;
            scale = scale < 0 ? scale_of(s, ins, outs, plan) : scale;
            s->differ[i] = !is_zero(s, i, d, scale);
            *any |= s->differ[i];
            open |= s->differ[i] && !s->cleared[i];
        }
        if (open)
            return 1;
    }
    return *any && s->wait-- <= 0;
}

/* Whether a look found what none before it did. */
static bool any_news(jx_shadow *s)
{
    bool any = false;

    for (size_t i = 0; i < s->found.found.count; i++)
        any |= jx_map_add(&s->told, s->found.found.at[i].made.eqn);
    return any;
}

/* After a closer look.  Where it found nothing, outputs that differ are zero
 * but for rounding, as is what a step of Adam makes of the gradient of a
 * bias that a softmax takes out, and most likely go on being so: after some
 * such looks they are left alone for ever more runs.  So are they at once
 * where what it found had been found before, and, since each look costs many
 * runs, in programs that have had much to tell: what the last look found is
 * said again, then. */
static void clear(jx_shadow *s)
{
    enum { EAGER = 4, LONGEST = 5, MOST_NEWS = 4 };
    bool news = any_news(s) && s->news++ < MOST_NEWS,
         open = news || s->digits.astray;
    int beyond;

    s->looks = open ? 0 : s->looks + 1;
    beyond = s->looks - (s->found.found.count ? 1 : EAGER);
    s->wait = beyond < 0 ? 0 : 1 << (beyond < LONGEST ? beyond : LONGEST);
    for (int i = 0; i < s->wide.nouts; i++)
        s->cleared[i] = !open && (s->cleared[i] || s->differ[i]);
}

/* ---- who lost them */

static bool open_recorded(jx_shadow *s)
{
    const jx_plan_options how = {.domain = JX_DECLARED,
                                 .digits = &s->digits,
                                 .handlers = &idle,
                                 .memory = s->options.memory};
    jx_hunt *h = &s->hunt;

    if (h->run.plan && s->shown.plan)
        return true;
    if (!jx_callee_open(&h->run, h->typed, &h->program->entry, &how))
        return false;
    jx_exec_seed(h->run.exec, s->options.seed);
    return open_wide(s, &s->shown, &s->digits);
}

static bool record(jx_shadow *s, const void *const *ins)
{
    jx_callee *run = &s->hunt.run;

    s->digits.size = 0;
    s->digits.plays = s->digits.astray = false;
    for (int i = 0; i < run->nins; i++)
        memcpy(run->in[i], ins[i], jx_plan_in(run->plan, i)->bytes);
    jx_exec_restart(run->exec);
    return jx_callee_run(run) ||
           jx_fail(s->hunt.program->ctx,
                   jx_exec_gave_up(run->exec) ? JX_E_LIMIT : JX_E_INPUT,
                   s->hunt.program->path, NULL, "%s", jx_exec_error(run->exec));
}

static bool compare(jx_shadow *s, const void *const *ins, int nexcused,
                    const jx_eqn *const *excused)
{
    s->digits.plays = true;
    s->digits.at = 0;
    s->digits.nlosses = 0;
    s->digits.nexcused = nexcused;
    for (int i = 0; i < nexcused; i++)
        s->digits.excused[i] = excused[i];
    for (size_t i = 0; i < s->maps.tracks.all.count; i++)
        memset(s->maps.tracks.all.at[i].bad, 0,
               (size_t)s->maps.tracks.all.at[i].eqn->nouts);
    if (!run_wide(s, &s->shown, ins))
        return false;
    jx_lost_maps_close(&s->maps, s->hunt.program->entry.jaxpr);
    return true;
}

static void keep(jx_shadow *s, const jx_loss *loss, int out)
{
    jx_hunt *h = &s->hunt;
    jx_witness w = {.made = loss->at,
                    .code = JX_CODE_NUM005,
                    .level = JX_ERROR,
                    .is = loss->is,
                    .stack = jx_origin_stack(&h->origins, loss->at.eqn),
                    .out = out};

    jx_convert(loss->at.value.dtype, JX_F64, loss->at.value.bits, &w.gave, 1);
    for (size_t i = 0; i < s->found.found.count; i++)
        if (jx_eqns_are_one(&h->origins, s->found.found.at[i].made.eqn,
                            loss->at.eqn))
            return;
    if (jx_hunt_follow(h, &w))
        JX_PUSH(h->program->ctx->arena, &s->found.found, w);
}

static void outs_of(const jx_shadow *s, const void **to)
{
    for (int i = 0; i < s->hunt.run.nouts; i++)
        to[i] = jx_exec_out(s->hunt.run.exec, i);
}

/* Each of them alone: what the others give is taken as it was computed. */
static bool weigh(jx_shadow *s, const void *const *ins, const void *const *outs)
{
    jx_loss losses[JX_WATCHED_ROOTS];
    int n = s->digits.nlosses, out;

    memcpy(losses, s->digits.losses, sizeof losses);
    for (int i = 0; i < n; i++) {
        const jx_eqn *others[JX_WATCHED_ROOTS];
        int count = 0;
        for (int k = 0; k < n; k++)
            if (k != i)
                others[count++] = losses[k].at.eqn;
        if (n > 1 && !compare(s, ins, count, others))
            return false;
        out =
            lost_output(s, &s->shown, outs, s->hunt.run.plan, losses[i].scale);
        if (out >= 0)
            keep(s, &losses[i], out);
    }
    return true;
}

const jx_witnesses *jx_shadow_look(jx_shadow *s, const jx_plan *plan,
                                   const void *const *ins,
                                   const void *const *outs)
{
    jx_ctx *ctx = s->hunt.program->ctx;
    const void **own;
    bool ok, any = false;
    int is;

    if (s->doubles && !s->maps.narrowest)
        return &s->none; /* without floats */
    is = differs(s, ins, outs, plan, &any);
    if (is <= 0)
        return is < 0 ? NULL : any ? &s->found : &s->none;
    s->found.found.count = 0;
    if (!jx_hunt_scratch(&s->hunt))
        return NULL;
    if (!open_recorded(s) || !record(s, ins) || !compare(s, ins, 0, NULL))
        return NULL;
    own = malloc(((size_t)s->hunt.run.nouts + 1) * sizeof *own);
    if (!own)
        return jx_starved(ctx) ? &s->none : NULL;
    outs_of(s, own);
    /* Zeros became what they were: often nothing is lost then. */
    ok = lost_output(s, &s->shown, own, s->hunt.run.plan, 0) < 0 ||
         weigh(s, ins, own);
    free(own);
    if (!ok)
        return NULL;
    clear(s);
    if (s->digits.astray && !s->found.found.count) {
        jx_fail(ctx, JX_E_LIMIT, s->hunt.program->path, NULL,
                "the sanitizer can't say where digits are lost: the run takes "
                "more than %d MiB to record, or does not go the same way twice",
                MOST_RECORDED >> 20);
        return NULL;
    }
    return jx_ok(ctx) ? &s->found : NULL;
}
