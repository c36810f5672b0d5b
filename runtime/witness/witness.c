/* witness.c - see witness.h. */
#include "runtime/witness/witness.h"

#include "frontend/ir/range.h"
#include "frontend/ir/signature.h"
#include "runtime/witness/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where nothing is promised, a number is an ordinary one. */
static const double ordinary = 1;

bool jx_hunt_knows(const jx_hunt *h, const jx_eqn *eqn)
{
    for (size_t i = 0; i < h->to->found.count; i++)
        if (h->to->found.at[i].made.eqn == eqn)
            return true;
    return false;
}

/* Runs with those equations excused; false: no operations are left, or it fails. */
static bool run(jx_hunt *h, int nexcused, const jx_eqn *const *excused)
{
    bool ok;

    memset(h->watch, 0, sizeof *h->watch);
    h->watch->nexcused = nexcused;
    for (int i = 0; i < nexcused; i++)
        h->watch->excused[i] = excused[i];
    if (h->operations <= 0)
        return false;
    jx_exec_limit(h->run.exec, h->operations);
    ok = jx_callee_run(&h->run);
    h->operations -= jx_exec_operations(h->run.exec) + 1;
    h->to->runs++;
    return ok;
}

/* The first output that is not finite, or -1. */
static int bad_output(const jx_hunt *h)
{
    jx_unfinite found;

    for (int i = 0; i < h->run.nouts; i++)
        if (jx_port_find_unfinite(jx_plan_out(h->run.plan, i), jx_exec_out(h->run.exec, i),
                                  &found))
            return i;
    return -1;
}

static const void *const *kept_inputs(jx_hunt *h)
{
    jx_arena *arena = h->program->ctx->arena;
    const void **to = JX_NEW_ARRAY(arena, h->run.nins + 1, const void *);

    for (int i = 0; to && i < h->run.nins; i++) {
        to[i] = jx_arena_copy(arena, h->run.in[i], jx_plan_in(h->run.plan, i)->bytes + 1);
        if (!to[i])
            return NULL;
    }
    return to;
}

static void keep(jx_hunt *h, const jx_unfinite *root, int out)
{
    const void *const *inputs = kept_inputs(h);

    if (inputs)
        JX_PUSH(h->program->ctx->arena, &h->to->found,
                ((jx_witness){.made = *root, .flushed = h->flushed, .out = out, .inputs = inputs}));
}

/* Each of several equations alone: the others are excused. */
static bool weigh(jx_hunt *h, int nroots, const jx_unfinite *roots)
{
    for (int i = 0; i < nroots; i++) {
        const jx_eqn *others[JX_WATCHED_ROOTS];
        int n = 0, out;
        if (jx_hunt_knows(h, roots[i].eqn))
            continue;
        for (int k = 0; k < nroots; k++)
            if (k != i)
                others[n++] = roots[k].eqn;
        if (!run(h, n, others))
            return h->operations > 0;
        out = bad_output(h);
        if (out >= 0)
            keep(h, &roots[i], out);
    }
    return true;
}

bool jx_hunt_try(jx_hunt *h)
{
    jx_unfinite roots[JX_WATCHED_ROOTS];
    int nroots, out;

    if (!run(h, 0, NULL))
        return h->operations > 0;
    out = bad_output(h);
    nroots = h->watch->nroots;
    if (out < 0 || !nroots)
        return true;
    memcpy(roots, h->watch->roots, sizeof roots);
    if (nroots == 1) {
        if (!jx_hunt_knows(h, roots[0].eqn))
            keep(h, &roots[0], out);
        return true;
    }
    return weigh(h, nroots, roots);
}

/* -- the search ----------------------------------------------------------------- */

static bool hold(jx_hunt *h)
{
    h->held = JX_NEW_ARRAY(h->program->ctx->arena, h->run.nins + 1, jx_held);
    for (int i = 0; h->held && i < h->run.nins; i++) {
        const jx_aval *aval = jx_input_aval(h->program, i);
        jx_dtype_kind kind = jx_dtype_of(aval->dtype)->kind;
        jx_held *held = &h->held[i];
        bool declared = jx_range_at(h->program, i, 0, NULL, &held->lo, &held->hi);
        held->whole = kind == JX_KIND_INT || kind == JX_KIND_UINT || kind == JX_KIND_BOOL;
        held->open = !(held->whole || kind == JX_KIND_FLOAT) || held->lo > held->hi;
        if (!declared && kind != JX_KIND_BOOL) {
            held->lo = held->whole ? 0 : -ordinary;
            held->hi = ordinary;
        }
        /* Infinities are no inputs to blame a program for. */
        held->lo = fmax(held->lo, -1e6);
        held->hi = fmin(held->hi, 1e6);
    }
    return h->held != NULL;
}

/* All equations of a jaxpr and of what it runs. */
static void go_on(jx_hunt *h, const jx_jaxpr *jaxpr, jx_site *site)
{
    for (int i = 0; i < jaxpr->neqns && h->operations > 0; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        if (jx_hunt_has_goal(eqn) && !jx_hunt_knows(h, eqn)) {
            site->eqn = eqn;
            jx_hunt_toward(h, site);
        }
        if (site->depth == JX_SITE_DEPTH)
            continue;
        for (int k = 0; k < jx_hunt_bodies(eqn); k++) {
            site->around[site->depth] = eqn;
            site->bodies[site->depth] = jx_hunt_body(eqn, k);
            site->depth++;
            go_on(h, site->bodies[site->depth - 1]->jaxpr, site);
            site->depth--;
        }
    }
}

/* As written, then with subnormal numbers flushed: what is found as written is the better
 * witness. */
static void search(jx_hunt *h, bool flushed)
{
    jx_site site = {0};

    if (!jx_exec_flush(h->run.exec, flushed))
        return;
    h->flushed = flushed;
    h->operations = h->options->operations / 2;

    for (int number = 0; jx_hunt_fill(h, number); number++)
        if (!jx_hunt_try(h))
            return;
    go_on(h, h->program->entry.jaxpr, &site);
}

bool jx_witness_search(const jx_typed *typed, const jx_witness_options *options,
                       jx_witnesses *to)
{
    jx_program *program = typed->program;
    jx_hunt h = {.program = program,
                 .typed = typed,
                 .options = options,
                 .watch = JX_NEW(program->ctx->arena, jx_watch),
                 .rng = {options->seed + 1},
                 .to = to};
    const jx_plan_options how = {.domain = JX_DECLARED,
                                 .watch = h.watch,
                                 .memory = options->memory};

    if (!h.watch)
        return false;
    if (!jx_callee_open(&h.run, typed, &program->entry, &how)) {
        jx_error_clear(program->ctx);
        return jx_ok(program->ctx);
    }
    bool held = hold(&h);
    for (int flushed = 0; held && flushed < 2; flushed++) {
        search(&h, flushed);
        to->spent |= h.operations <= 0;
    }
    jx_callee_close(&h.run);
    return jx_ok(program->ctx);
}
