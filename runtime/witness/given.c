/* given.c - see given.h. */
#include "runtime/witness/given.h"

#include "runtime/elementwise.h"
#include "runtime/host.h"
#include "runtime/witness/parts.h"

#include <math.h>
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
    jx_arena_free(given->hunt.scratch);
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

/* One finding of a code for what one expression does: a // b is a quotient
 * and a remainder. */
static bool is_told(const jx_given *g, const jx_eqn *eqn, jx_code code)
{
    for (size_t i = 0; i < g->found.found.count; i++) {
        const jx_witness *w = &g->found.found.at[i];
        if (w->code == code && w->slip.at.eqn &&
            jx_eqns_are_one(&g->hunt.origins, w->slip.at.eqn, eqn))
            return true;
    }
    return false;
}

static void keep_slips(jx_given *g)
{
    jx_hunt *h = &g->hunt;

    for (int i = 0; i < g->watch.nslips; i++) {
        const jx_slip *slip = &g->watch.slips[i];
        bool wraps = slip->kind == JX_OVERFLOWED || slip->kind == JX_NARROWED;
        jx_code code = wraps ? JX_CODE_DTY004 : JX_CODE_NUM001;
        if (is_told(g, slip->at.eqn, code))
            continue;
        JX_PUSH(h->program->ctx->arena, &g->found.found,
                ((jx_witness){.slip = *slip,
                              .code = code,
                              .level = JX_ERROR,
                              .stack =
                                  jx_origin_stack(&h->origins, slip->at.eqn)}));
    }
}

static bool is_outside(const jx_misuse *misuse)
{
    return misuse->kind == JX_BEYOND || misuse->kind == JX_FILLED ||
           misuse->kind == JX_DROPPED || misuse->kind == JX_CLAMPED;
}

/* -- NaN of what is not finite itself -------------------------------------- */

/* With all others excused: a NaN that is made of infinities which no other
 * equation made. */
static void weigh_infinities(jx_given *g, int nroots, const jx_unfinite *roots)
{
    jx_hunt *h = &g->hunt;
    const jx_eqn *others[JX_WATCHED_ROOTS];
    jx_unfinite nan;
    int out;

    for (int i = 0; i < nroots; i++)
        others[i] = roots[i].eqn;
    if (!nroots || !jx_hunt_run(h, false, nroots, others))
        return; /* without roots that was looked at */
    out = jx_hunt_bad_output(h);
    nan = g->watch.nan;
    if (out >= 0 && nan.eqn && !jx_hunt_knows(h, nan.eqn))
        jx_hunt_keep(h, &nan, out, nroots, others);
}

static bool is_nan(const jx_hunt *h, jx_atom atom)
{
    double value;

    return jx_origin_number(&h->origins, atom, &value) && isnan(value);
}

/* It gives a NaN that the program says. */
static bool says_nan(const jx_hunt *h, const jx_eqn *eqn)
{
    for (int i = 0; !jx_bodies_of(eqn) && i < eqn->nins; i++)
        if (is_nan(h, eqn->ins[i]))
            return !jx_eqn_moves(eqn);
    for (int k = 0; k < jx_bodies_of(eqn); k++) {
        const jx_jaxpr *body = jx_body_of(eqn, k)->jaxpr;
        for (int i = 0; body && i < body->nouts; i++)
            if (is_nan(h, body->outs[i]))
                return true;
    }
    return false;
}

/* A decomposition of a matrix, which gives NaN where it fails: what a module
 * has of it is a custom call and a choice. */
static bool is_of_a_call(const jx_hunt *h, const jx_jaxpr *jaxpr,
                         const jx_eqn *eqn)
{
    for (int i = 0; i < jaxpr->neqns; i++)
        if (jaxpr->eqns[i].prim->id == JX_PRIM_stablehlo_custom_call &&
            jx_eqns_are_one(&h->origins, &jaxpr->eqns[i], eqn))
            return true;
    return false;
}

static void weigh_declared(jx_given *g, const jx_jaxpr *jaxpr, int out)
{
    jx_hunt *h = &g->hunt;

    for (int i = 0; jaxpr && i < jaxpr->neqns && !g->found.found.count; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        jx_witness w = {.made = {.eqn = eqn},
                        .code = JX_CODE_NUM009,
                        .out = out,
                        .stack = jx_origin_stack(&h->origins, eqn)};
        if (says_nan(h, eqn) && eqn->nouts && jx_hunt_follow(h, &w)) {
            w.made.value.dtype = eqn->outs[0]->aval->dtype;
            if (is_of_a_call(h, jaxpr, eqn))
                w.code = JX_CODE_NUM001;
            JX_PUSH(h->program->ctx->arena, &g->found.found, w);
        }
        for (int k = 0; k < jx_bodies_of(eqn); k++)
            weigh_declared(g, jx_body_of(eqn, k)->jaxpr, out);
    }
}

/* The first output with a NaN where no input has one; else -1. */
static int nan_output(const jx_hunt *h)
{
    jx_unfinite found;
    double parts[2] = {0};

    for (int i = 0; i < h->run.nins; i++)
        if (jx_port_find_unfinite(jx_plan_in(h->run.plan, i), h->run.in[i],
                                  &found))
            return -1;
    for (int i = 0; i < h->run.nouts; i++) {
        bool bad = jx_port_find_unfinite(jx_plan_out(h->run.plan, i),
                                         jx_exec_out(h->run.exec, i), &found);
        bool complex = bad && jx_dtype_is_complex(found.value.dtype);
        if (bad)
            jx_convert(found.value.dtype, complex ? JX_C128 : JX_F64,
                       found.value.bits, parts, 1);
        if (bad && (isnan(parts[0]) || isnan(parts[1])))
            return i;
    }
    return -1;
}

/* -- several that need each other ------------------------------------------ */

static int count_outputs(const jx_hunt *h)
{
    jx_unfinite found;
    int count = 0;

    for (int i = 0; i < h->run.nouts; i++)
        count += jx_port_find_unfinite(jx_plan_out(h->run.plan, i),
                                       jx_exec_out(h->run.exec, i), &found);
    return count;
}

/* A sum that overflows, and the logarithm of what is divided by it: neither
 * alone is to blame, with the other excused.  Then whoever is excused, and more
 * outputs are finite. */
static void weigh_together(jx_given *g, int nroots, const jx_unfinite *roots)
{
    jx_hunt *h = &g->hunt;
    int out, before;

    if (nroots < 2 || !jx_hunt_run(h, false, 0, NULL))
        return;
    out = jx_hunt_bad_output(h);
    before = count_outputs(h);
    for (int i = 0; out >= 0 && i < nroots; i++) {
        jx_witness w = {.made = roots[i],
                        .out = out,
                        .stack = jx_origin_stack(&h->origins, roots[i].eqn)};
        if (!jx_hunt_run(h, false, 1, &roots[i].eqn))
            return;
        if (count_outputs(h) >= before || !jx_hunt_run(h, false, 0, NULL))
            continue;
        w.code = jx_hunt_code(h, &roots[i], out, 0, NULL);
        jx_hunt_follow(h, &w); /* it may vanish on its way */
        JX_PUSH(h->program->ctx->arena, &g->found.found, w);
    }
}

static void weigh_numbers(jx_given *g)
{
    jx_hunt *h = &g->hunt;
    jx_unfinite roots[JX_WATCHED_ROOTS];
    int nroots = g->watch.nroots;
    size_t before = g->found.found.count;

    memcpy(roots, g->watch.roots, sizeof roots);
    jx_hunt_weigh_numbers(h);
    if (g->found.found.count == before)
        weigh_together(g, nroots, roots);
    weigh_infinities(g, nroots, roots);
}

/* Runs the program again for each that is to be weighed. */
static void weigh(jx_given *g)
{
    jx_misuse misuses[JX_WATCHED_ROOTS];
    int n = 0, out;

    for (int i = 0; i < g->watch.nmisuses; i++)
        if (is_outside(&g->watch.misuses[i]) &&
            !jx_map_has(&g->quiet, g->watch.misuses[i].eqn))
            misuses[n++] = g->watch.misuses[i];
    keep_slips(g);
    if (g->options.kinds & JX_PROBE_NAN)
        weigh_numbers(g);
    if (g->options.kinds & JX_PROBE_OOB)
        jx_hunt_weigh_indices(&g->hunt, n, misuses);
    if ((g->options.kinds & JX_PROBE_NAN) && !g->found.found.count &&
        jx_hunt_run(&g->hunt, false, 0, NULL) &&
        (out = nan_output(&g->hunt)) >= 0)
        weigh_declared(g, g->hunt.program->entry.jaxpr, out);
}

/* All that a search may spend, which a run has no need of; and how many times
 * as much the runs that look closer may take as that one did, and more: what is
 * made finite may go on and on. */
static const int64_t plenty = INT64_MAX / 4;
enum { TIMES = 200, MORE = 10000 };

const jx_witnesses *jx_given_look(jx_given *g, const void *const *inputs,
                                  jx_tape *tape)
{
    jx_hunt *h = &g->hunt;
    jx_ctx *ctx = h->program->ctx;

    g->found.found.count = 0;
    if (!jx_hunt_scratch(&g->hunt))
        return NULL;
    for (int i = 0; i < h->run.nins; i++)
        memcpy(h->run.in[i], inputs[i], jx_plan_in(h->run.plan, i)->bytes);
    jx_exec_restart(h->run.exec);
    jx_exec_tape(h->run.exec, tape);
    h->tape = tape;
    h->operations = plenty;
    if (!jx_hunt_run(h, false, 0, NULL))
        return NULL;
    h->operations = (plenty - h->operations) * TIMES + MORE;
    weigh(g);
    for (size_t i = 0; i < g->found.found.count; i++)
        g->found.found.at[i].level = JX_ERROR; /* it did happen */
    return jx_ok(ctx) ? &g->found : NULL;
}
