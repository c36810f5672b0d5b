/* glance.c - see parts.h: what shows without a run that is watched. */
#include "runtime/witness/parts.h"

#include "analyzer/values/values.h"
#include "runtime/watch.h"

/* ---- what a run may show beside outputs */

/* Indices that a run may change, among the equations' operands. */
static bool indices_vary(const jx_hunt *h, const jx_jaxpr *jaxpr, bool chosen)
{
    bool any = false;

    for (int i = 0; i < jaxpr->neqns && !any; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        int count = 0, first = jx_watched_indices(eqn, &count);
        any = chosen && count > 0;
        for (int k = 0; k < count && !any; k++)
            any = jx_origin_varies(&h->origins, eqn->ins[first + k]);
        for (int k = 0; k < jx_bodies_of(eqn) && !any; k++)
            any = jx_body_of(eqn, k)->jaxpr &&
                  indices_vary(h, jx_body_of(eqn, k)->jaxpr,
                               chosen || eqn->prim->id != JX_PRIM_scan);
    }
    return any;
}

void jx_hunt_look_at_glances(jx_hunt *h)
{
    enum { MOST_MEMORY = 1 << 26 };

    h->unseen = h->watch->indexed && !h->options->nseeds;
    h->glances =
        (h->unwatched || h->weight > jx_plan_nops(h->run.plan)) &&
        jx_plan_memory(h->run.plan) <= MOST_MEMORY &&
        !(h->unseen && indices_vary(h, h->program->entry.jaxpr, false));
}

/* Where runs show something again and again, they are watched at once. */
static bool is_worth_a_glance(const jx_hunt *h)
{
    enum { FEW = 2 };

    return h->glances && !h->unseen && h->operations > 0 &&
           h->shown <= FEW * (1 + h->clear);
}

/* ---- what is proved of small numbers */

/* Magnitudes for which it is asked: of ordinary numbers, and of parts of 1. */
static const double tame[JX_TAME] = {4.5, 1};

/* A walk takes some microseconds per equation; loops, of which nobody knows how
 * often it goes through them, are run. */
static bool is_worth_it(const jx_hunt *h)
{
    const jx_jaxpr *entry = h->program->entry.jaxpr;

    for (int i = 0; i < entry->neqns; i++)
        if (jx_bodies_of(&entry->eqns[i]) || jx_eqn_callee(&entry->eqns[i]))
            return false;
    return h->weight > (int64_t)JX_TAME * 8 * entry->neqns;
}

static bool all_finite(jx_hunt *h, double largest)
{
    const jx_extents *to =
        jx_program_extents_within(h->program, JX_IEEE, largest);
    bool all = to && !to->ended;

    for (int i = 0; all && i < to->nouts; i++)
        all = !jx_dtype_is_inexact(
                  jx_atom_aval(h->program->entry.jaxpr->outs[i])->dtype) ||
              jx_extent_is_finite(to->outs[i]);
    if (!to)
        jx_error_clear(h->program->ctx);
    return all;
}

/* Whether outputs are finite where no float of the inputs is
 * larger in magnitude. */
static bool is_tame(jx_hunt *h, double largest)
{
    for (int i = 0; i < JX_TAME && !h->flushed && !h->options->compiled; i++) {
        if (!(largest <= tame[i]))
            continue;
        if (h->tame[i] == JX_TAME_NOT_ASKED)
            h->tame[i] = is_worth_it(h) && all_finite(h, tame[i]) ? JX_TAME_YES
                                                                  : JX_TAME_NO;
        if (h->tame[i] == JX_TAME_YES)
            return true;
    }
    return false;
}

/* ---- plans */

/* `bare`: it takes the inputs of another. */
static bool open_callee(jx_hunt *h, jx_callee *to, jx_watch *watch, bool bare)
{
    const jx_plan_options how = {
        .domain = JX_DECLARED, .watch = watch, .memory = h->options->memory};

    if ((bare ? jx_callee_open_bare : jx_callee_open)(to, h->typed,
                                                      &h->program->entry, &how))
        return true;
    jx_error_clear(h->program->ctx);
    return false;
}

static bool takes_indices(const jx_jaxpr *jaxpr)
{
    bool any = false;

    for (int i = 0; i < jaxpr->neqns && !any; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        int count = 0;
        jx_watched_indices(eqn, &count);
        any = count > 0;
        for (int k = 0; k < jx_bodies_of(eqn) && !any; k++)
            any = jx_body_of(eqn, k)->jaxpr &&
                  takes_indices(jx_body_of(eqn, k)->jaxpr);
    }
    return any;
}

/* A watch at each equation makes some four times as much of a plan. */
bool jx_hunt_open(jx_hunt *h, bool watched)
{
    enum { MANY = 1024 };
    const jx_jaxpr *entry = h->program->entry.jaxpr;

    h->unwatched = !watched && entry->neqns >= MANY &&
                   (h->options->nseeds || !takes_indices(entry));
    return open_callee(h, &h->run, h->unwatched ? NULL : h->watch, false);
}

bool jx_hunt_watch(jx_hunt *h)
{
    jx_callee watched;
    void **in = h->run.in;

    if (!open_callee(h, &watched, h->watch, true) ||
        !jx_exec_flush(watched.exec, h->flushed)) {
        jx_callee_close(&watched);
        h->operations = 0;
        return false;
    }
    h->glance = h->run;
    h->glance.in = NULL;
    h->run = watched;
    h->run.in = in;
    h->unwatched = false;
    return true;
}

/* ---- runs */

static bool open_glance(jx_hunt *h)
{
    if (h->glance.plan || open_callee(h, &h->glance, NULL, true))
        return true;
    h->glances = false;
    return false;
}

static bool shows_nothing(jx_hunt *h)
{
    jx_callee *f = h->unwatched ? &h->run : &h->glance;
    bool ran, clear;

    jx_exec_limit(f->exec, h->operations);
    ran = jx_exec_run(f->exec, (const void *const *)h->run.in, NULL);
    clear = ran && jx_callee_bad_output(f) < 0;
    if (clear || !ran) /* with a watch it takes more */
        h->operations -= jx_exec_operations(f->exec) + 1 + h->weight;
    h->clear += clear;
    h->shown += !clear;
    return clear;
}

bool jx_hunt_is_finite_at_a_glance(jx_hunt *h)
{
    h->glanced = !jx_hunt_may_hide(h) && is_worth_a_glance(h) &&
                 ((h->plain.any && is_tame(h, h->largest)) ||
                  ((h->unwatched || open_glance(h)) && shows_nothing(h)));
    h->to->runs += h->glanced;
    return h->glanced;
}
