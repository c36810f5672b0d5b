/* witness.c - see witness.h. */
#include "runtime/witness/witness.h"

#include "analyzer/cost.h"
#include "frontend/base/assert.h"
#include "frontend/ir/range.h"
#include "frontend/ir/signature.h"
#include "runtime/elementwise.h"
#include "runtime/tape.h"
#include "runtime/witness/implied.h"
#include "runtime/witness/parts.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where nothing is promised, a number is an ordinary one. */
static const double ordinary = 1, few = 4;

bool jx_hunt_knows(const jx_hunt *h, const jx_eqn *eqn)
{
    for (size_t i = 0; i < h->to->found.count; i++)
        if (h->to->found.at[i].made.eqn == eqn)
            return true;
    return false;
}

/* Runs with those equations excused; false: no operations are
 * left, or it fails. */
bool jx_hunt_run(jx_hunt *h, bool absorbing, int nexcused,
                 const jx_eqn *const *excused)
{
    jx_tracks *tracks = h->watch->tracks;

    if (h->operations <= 0 || (h->unwatched && !jx_hunt_watch(h)))
        return false;
    memset(h->watch, 0, sizeof *h->watch);
    h->watch->tracks = tracks;
    for (size_t i = 0; tracks && i < tracks->all.count; i++)
        memset(tracks->all.at[i].bad, 0, (size_t)tracks->all.at[i].eqn->nouts);
    for (size_t i = 0; tracks && i < tracks->runs.count; i++)
        *tracks->runs.at[i] = 0;
    h->watch->spoiled = h->spoiled;
    h->watch->spoiled_whole = h->spoiled_whole;
    for (int k = 0; k < 2; k++)
        h->watch->absorbing[k] = absorbing ? &h->absorbing[k] : NULL;
    h->watch->nexcused = nexcused;
    for (int i = 0; i < nexcused; i++)
        h->watch->excused[i] = excused[i];
    h->to->runs++;
    h->glanced = false;
    if (h->tape)
        jx_tape_rewind(h->tape);
    if (jx_hunt_spend(h, &h->run)) {
        if (h->unseen && jx_hunt_bad_output(h) >= 0)
            h->shown = INT_MAX; /* and the first at that */
        h->unseen = false;
        return true;
    }
    /* What is not looked at is not found well; but without its NaN a loop
     * may have no end. */
    if (h->options->given && h->operations > 0)
        jx_fail(h->program->ctx,
                jx_exec_gave_up(h->run.exec) ? JX_E_LIMIT : JX_E_INPUT,
                h->program->path, NULL, "%s", jx_exec_error(h->run.exec));
    return false;
}

int jx_callee_bad_output(const jx_callee *f)
{
    for (int i = 0; i < f->nouts; i++)
        if (!jx_port_is_finite(jx_plan_out(f->plan, i),
                               jx_exec_out(f->exec, i)))
            return i;
    return -1;
}

int jx_hunt_bad_output(const jx_hunt *h)
{
    int out = jx_callee_bad_output(&h->run);

    return out < 0 && h->watch->decided ? JX_OUT_OF_LOOP : out;
}

/* Elements of outputs that are not finite; those that are no
 * number count twice. */
int64_t jx_hunt_count_bad(const jx_hunt *h)
{
    int64_t count = 0;

    for (int i = 0; i < h->run.nouts; i++) {
        const jx_port *port = jx_plan_out(h->run.plan, i);
        const char *data = jx_exec_out(h->run.exec, i);
        bool complex = jx_dtype_is_complex(port->dtype);
        if (!jx_dtype_is_inexact(port->dtype) ||
            jx_finite_at_sight(port->dtype, data, port->count))
            continue;
        for (int64_t k = 0; k < port->count; k++) {
            double parts[2] = {0};
            jx_convert(port->dtype, complex ? JX_C128 : JX_F64,
                       data + (size_t)k * jx_dtype_of(port->dtype)->bytes,
                       parts, 1);
            count += !isfinite(parts[0]) || !isfinite(parts[1]);
            count += isnan(parts[0]) || isnan(parts[1]);
        }
    }
    return count;
}

static bool any_bad_input(const jx_hunt *h)
{
    for (int i = 0; i < h->run.nins; i++)
        if (!jx_port_is_finite(jx_plan_in(h->run.plan, i), h->run.in[i]))
            return true;
    return false;
}

/* A loop that a NaN ends is one more. */
static int64_t count_wrong(const jx_hunt *h)
{
    return jx_hunt_count_bad(h) + (h->watch->decided != NULL);
}

/* Where inputs are not finite themselves, outputs may be so for them alone:
 * less is once the equation's are excused. */
static bool is_to_blame(jx_hunt *h, const jx_eqn *eqn, int nothers,
                        const jx_eqn *const *others)
{
    const jx_eqn *all[JX_EXCUSED];
    int64_t before = count_wrong(h);

    if (!any_bad_input(h) || nothers >= JX_EXCUSED)
        return true;
    memcpy(all, others, (size_t)nothers * sizeof *all);
    all[nothers] = eqn;
    return jx_hunt_run(h, false, nothers + 1, all) && count_wrong(h) < before;
}

const void *const *jx_hunt_inputs(jx_hunt *h)
{
    if (h->options->given)
        return (const void *const *)h->run.in; /* whoever gave them has them */
    jx_arena *arena = h->program->ctx->arena;
    const void **to = JX_NEW_ARRAY(arena, h->run.nins + 1, const void *);

    for (int i = 0; to && i < h->run.nins; i++) {
        to[i] = jx_arena_copy(arena, h->run.in[i],
                              jx_plan_in(h->run.plan, i)->bytes + 1);
        if (!to[i])
            return NULL;
    }
    return to;
}

/* One finding for what one expression does. */
static bool is_told(const jx_hunt *h, const jx_eqn *eqn, jx_code code)
{
    for (size_t i = 0; i < h->to->found.count; i++)
        if (h->to->found.at[i].code == code &&
            (h->to->found.at[i].made.eqn == eqn ||
             jx_eqns_are_one(&h->origins, h->to->found.at[i].made.eqn, eqn)))
            return true;
    return false;
}

/* An exponential that overflows makes others of what comes of it, and so does a
 * difference without digits. */
static bool follows(const jx_hunt *h, const jx_eqn *eqn)
{
    for (size_t i = 0; i < h->to->found.count; i++) {
        const jx_witness *w = &h->to->found.at[i];
        if (w->code != JX_CODE_NUM004 && w->code != JX_CODE_NUM005)
            continue;
        for (int k = 0; k < eqn->nins; k++)
            if (jx_origin_reaches(&h->origins, eqn->ins[k], w->made.eqn))
                return true;
    }
    return false;
}

/* Without ranges: it is made in a loop of a library's own (an integrator, a
 * solver), which one expression of the user's calls.  What inputs that is for,
 * nobody has said. */
static bool is_of_library_loop(const jx_hunt *h, const jx_eqn *eqn)
{
    const jx_jaxpr *entry = h->program->entry.jaxpr;
    bool inside = eqn < entry->eqns || eqn >= entry->eqns + entry->neqns,
         one = false;

    if (jx_eqn_is_of_matrices(eqn))
        return false; /* a step of a solution, not a loop toward it */

    for (int i = 0; inside && !one && i < entry->neqns; i++)
        one = jx_bodies_of(&entry->eqns[i]) &&
              jx_eqns_are_one(&h->origins, &entry->eqns[i], eqn);
    return one;
}

/* Without ranges: what a library's function makes of inputs that it may not be
 * for is at most a warning, which reports leave to who keeps that library. */
static jx_level level_of(const jx_hunt *h, const jx_eqn *eqn, jx_code code)
{
    const jx_frame *at = jx_outside_frame(jx_origin_stack(&h->origins, eqn));
    jx_level level = jx_code_of(code)->level;

    if (h->options->unasked || (h->plain.any && is_of_library_loop(h, eqn)))
        return JX_NOTE;
    return h->plain.any && at && at->file->kind == JX_FILE_LIBRARY &&
                   level > JX_WARNING
               ? JX_WARNING
               : level;
}

enum { MOST_THEN = 4 };

/* Those of the roots that are none once this one's results are finite. */
static void find_consequences(jx_hunt *h, jx_witness *to)
{
    jx_arena *arena = h->program->ctx->arena;
    jx_unfinite *then = JX_NEW_ARRAY(arena, MOST_THEN, jx_unfinite);
    const jx_stack **at = JX_NEW_ARRAY(arena, MOST_THEN, const jx_stack *);

    if (h->nroots < 2 || !then || !at ||
        !jx_hunt_run(h, false, 1, &to->made.eqn))
        return;
    for (int i = 0; i < h->nroots; i++) {
        bool still = h->roots[i].eqn == to->made.eqn;
        for (int k = 0; k < h->watch->nroots && !still; k++)
            still = h->watch->roots[k].eqn == h->roots[i].eqn;
        if (still || to->nthen == MOST_THEN)
            continue;
        then[to->nthen] = h->roots[i];
        at[to->nthen++] = jx_origin_stack(&h->origins, h->roots[i].eqn);
    }
    to->then = then;
    to->then_at = at;
}

/* What the last run showed, if it is worth it. */
void jx_hunt_keep(jx_hunt *h, const jx_unfinite *root, int out, int nothers,
                  const jx_eqn *const *others)
{
    const void *const *inputs;
    jx_witness w;
    jx_code code;

    if (h->plain.any && follows(h, root->eqn))
        return;
    /* What a gather fills in is told of its index. */
    if (!h->options->given && root->eqn->prim->id == JX_PRIM_gather)
        return;
    code = jx_hunt_code(h, root, out, nothers, others);
    if (h->options->given && is_told(h, root->eqn, code))
        return;
    if (h->plain.any && (is_told(h, root->eqn, code) ||
                         !jx_hunt_is_news(h, root, code, out, nothers, others)))
        return;
    inputs = jx_hunt_inputs(h);
    w = (jx_witness){.made = *root,
                     .code = code,
                     .level = level_of(h, root->eqn, code),
                     .stack = jx_origin_stack(&h->origins, root->eqn),
                     .flushed = h->flushed,
                     .compiled = h->options->compiled,
                     .out = out,
                     .ninputs = h->run.nins,
                     .inputs = inputs};
    if (!inputs ||
        (h->watch->tracks && !(jx_hunt_follow(h, &w) &&
                               is_to_blame(h, root->eqn, nothers, others))))
        return;
    if (!h->watch->tracks)
        find_consequences(h, &w);
    JX_PUSH(h->program->ctx->arena, &h->to->found, w);
}

/* What one expression makes is its own matter, and finite in the end: 1 / (1 +
 * exp(-x)).  What comes of that elsewhere, the logarithm of a 0, is not. */
static void keep_next(jx_hunt *h, int first)
{
    const jx_eqn *eqn = h->roots[first].eqn;

    if (!h->plain.any || !jx_expression_is_alone(&h->origins, eqn))
        return;
    for (int i = first + 1; i < h->nroots; i++)
        if (!jx_eqns_are_one(&h->origins, eqn, h->roots[i].eqn)) {
            if (!jx_hunt_knows(h, h->roots[i].eqn))
                jx_hunt_keep(h, &h->roots[i], jx_hunt_bad_output(h), 0, NULL);
            return;
        }
}

/* None of several is enough alone, since a later one comes of the first: the
 * first without which all is finite is the cause. */
static bool weigh_first(jx_hunt *h)
{
    for (int i = 0; i < h->nroots; i++) {
        if (jx_hunt_knows(h, h->roots[i].eqn))
            return true;
        if (!jx_hunt_run(h, false, 1, &h->roots[i].eqn))
            return h->operations > 0;
        if (jx_hunt_bad_output(h) >= 0)
            continue;
        if (jx_hunt_run(h, false, 0, NULL)) {
            size_t before = h->to->found.count;
            jx_hunt_keep(h, &h->roots[i], jx_hunt_bad_output(h), 0, NULL);
            if (h->to->found.count == before)
                keep_next(h, i);
        }
        return h->operations > 0;
    }
    return true;
}

/* Each of several equations alone: the others are excused. */
static bool weigh(jx_hunt *h, int nroots, const jx_unfinite *roots)
{
    bool any = false;

    for (int i = 0; i < nroots; i++) {
        const jx_eqn *others[JX_WATCHED_ROOTS];
        int n = 0, out;
        if (jx_hunt_knows(h, roots[i].eqn)) {
            any = true;
            continue;
        }
        for (int k = 0; k < nroots; k++)
            if (k != i)
                others[n++] = roots[k].eqn;
        if (!jx_hunt_run(h, false, n, others))
            return h->operations > 0;
        out = jx_hunt_bad_output(h);
        if (out >= 0)
            jx_hunt_keep(h, &roots[i], out, n, others);
        any |= out >= 0;
    }
    return any || weigh_first(h);
}

bool jx_hunt_weigh_numbers(jx_hunt *h)
{
    jx_unfinite roots[JX_WATCHED_ROOTS];
    int nroots = h->watch->nroots, out = jx_hunt_bad_output(h);

    if (out < 0)
        return true;
    if (!nroots) {
        h->watch->roots[0] = h->watch->nan; /* declared infinities that meet */
        nroots = h->watch->nan.eqn != NULL;
    }
    if (!nroots)
        return true;
    memcpy(roots, h->watch->roots, sizeof roots);
    memcpy(h->roots, roots, sizeof roots);
    h->nroots = nroots;
    if (nroots > 1 && h->plain.any && !jx_hunt_may_be_news(h, nroots, roots))
        return h->operations > 0;
    if (nroots > 1)
        return weigh(h, nroots, roots);
    if (!jx_hunt_knows(h, roots[0].eqn))
        jx_hunt_keep(h, &roots[0], out, 0, NULL);
    return true;
}

bool jx_hunt_try(jx_hunt *h)
{
    jx_misuse misuses[JX_WATCHED_ROOTS];
    int nmisuses;
    bool hidden;

    if (jx_hunt_is_finite_at_a_glance(h))
        return true;
    if (!jx_hunt_run(h, false, 0, NULL))
        return h->operations > 0;
    nmisuses = h->watch->nmisuses;
    memcpy(misuses, h->watch->misuses, sizeof misuses);
    hidden =
        jx_hunt_may_hide(h) && h->watch->nroots && jx_hunt_bad_output(h) < 0;
    if (hidden)
        jx_hunt_weigh_hidden(h);
    return (hidden || h->plain.outside || h->plain.ordered ||
            jx_hunt_weigh_numbers(h)) &&
           (h->options->nseeds || jx_hunt_weigh_indices(h, nmisuses, misuses));
}

/* -- the search ------------------------------------------------------------ */

static bool hold(jx_hunt *h)
{
    h->held = JX_NEW_ARRAY(h->program->ctx->arena, h->run.nins + 1, jx_held);
    for (int i = 0; h->held && i < h->run.nins; i++) {
        const jx_aval *aval = jx_input_aval(h->program, i);
        jx_dtype_kind kind = jx_dtype_of(aval->dtype)->kind;
        jx_held *held = &h->held[i];
        bool declared =
            jx_range_at(h->program, i, 0, NULL, &held->lo, &held->hi);
        held->whole =
            kind == JX_KIND_INT || kind == JX_KIND_UINT || kind == JX_KIND_BOOL;
        held->open =
            !(held->whole || kind == JX_KIND_FLOAT) || held->lo > held->hi;
        held->declared = declared;
        if (!declared && kind != JX_KIND_BOOL) {
            held->lo = held->whole         ? 0
                       : h->options->plain ? -INFINITY
                                           : -ordinary;
            held->hi = held->whole && h->options->plain ? few
                       : h->options->plain              ? INFINITY
                                                        : ordinary;
        }
        if (i >= h->run.nins - h->options->nseeds) {
            held->lo = held->hi = 1;
            held->declared = true;
        }
        /* Infinities are no inputs to blame a program for. */
        held->lo =
            declared && isfinite(held->lo) ? held->lo : fmax(held->lo, -1e6);
        held->hi =
            declared && isfinite(held->hi) ? held->hi : fmin(held->hi, 1e6);
        if (!held->whole && !held->open)
            jx_held_fit(held, jx_plan_in(h->run.plan, i)->dtype);
    }
    if (h->held && h->options->plain)
        jx_hunt_look_at_uses(h);
    return h->held != NULL;
}

/* Bodies that operand.c knows how to enter. */
static bool runs_body(const jx_eqn *eqn)
{
    return eqn->prim->id != JX_PRIM_custom_linear_solve;
}

/* What is done at each equation of a jaxpr and of what it runs. */
typedef void visit(jx_hunt *h, const jx_site *site);

static void visit_all(jx_hunt *h, const jx_jaxpr *jaxpr, jx_site *site,
                      visit *at)
{
    for (int i = 0; i < jaxpr->neqns && h->operations > 0; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        site->eqn = eqn;
        at(h, site);
        if (site->depth == JX_SITE_DEPTH)
            continue;
        for (int k = 0; k < jx_bodies_of(eqn) && runs_body(eqn); k++) {
            site->around[site->depth] = eqn;
            site->bodies[site->depth] = jx_body_of(eqn, k);
            site->depth++;
            visit_all(h, site->bodies[site->depth - 1]->jaxpr, site, at);
            site->depth--;
        }
    }
}

static void go_toward(jx_hunt *h, const jx_site *site)
{
    if (jx_hunt_has_goal(site->eqn) && !jx_hunt_knows(h, site->eqn))
        jx_hunt_toward(h, site);
}

static void see_digits(jx_hunt *h, const jx_site *site)
{
    jx_hunt_look_at_hiding(h, site->eqn);
    h->cancels |= !h->options->unasked && jx_hunt_cancels(h, site->eqn);
}

static void weigh_difference(jx_hunt *h, const jx_site *site)
{
    if (jx_hunt_cancels(h, site->eqn))
        jx_hunt_weigh_difference(h, site);
}

/* An input that indexes as it is was at both of its ends. */
static void keep_indices(jx_hunt *h, const jx_site *site)
{
    int count, first = jx_watched_indices(site->eqn, &count);

    for (int i = 0; i < count && site->eqn->prim->id != JX_PRIM_select_n; i++) {
        jx_atom index = site->eqn->ins[first + i];
        if (!jx_index_is_implied(&h->origins, index))
            JX_PUSH(h->program->ctx->arena, &h->indices, index);
    }
}

/* An index is computed of an integer whose range is declared. */
static bool are_indices_declared(jx_hunt *h)
{
    jx_origin_walk w;
    const jx_origin *origin;
    jx_site site = {0};

    visit_all(h, h->program->entry.jaxpr, &site, keep_indices);
    jx_origin_walk_from(&w, &h->origins, (int)h->indices.count, h->indices.at);
    while ((origin = jx_origin_walk_on(&w)))
        if (!origin->eqn && !origin->owner && !origin->constant &&
            h->held[origin->number].whole && h->held[origin->number].declared)
            return true;
    return false;
}

/* Where an index is (t % n), the largest is that of some t between the ends of
 * its range. */
static void draw_indices(jx_hunt *h)
{
    enum { DRAWS = 200 };
    bool any = are_indices_declared(h);

    for (int i = 0;
         any && i < DRAWS && h->operations > h->options->operations / 4; i++) {
        jx_hunt_fill_anywhere(h);
        if (!jx_hunt_try(h))
            return;
    }
}

/* What is known of the equation, but as a trap, is told as that. */
static void replace_by_trap(jx_hunt *h, const jx_witness *trap)
{
    jx_witnesses *to = h->to;
    size_t kept = 0;

    for (size_t i = 0; i < to->found.count; i++)
        if (to->found.at[i].made.eqn != trap->made.eqn)
            to->found.at[kept++] = to->found.at[i];
    to->found.count = kept;
    JX_PUSH(h->program->ctx->arena, &to->found, *trap);
}

/* At the ends of ranges elements are alike, and what a choice leaves out of a
 * gradient is there in what it keeps, too (the distance of an atom to itself,
 * and to all others).  Where they differ it is a trap, and that is worse: it
 * is there for nearly all inputs. */
static void look_for_traps(jx_hunt *h)
{
    enum { DRAWS = 2 };
    jx_witnesses *to = h->to, traps = {0};

    for (int i = 0; i < DRAWS && to->found.count && jx_hunt_absorbs(h); i++) {
        jx_hunt_fill_anywhere(h);
        h->to = &traps; /* where none is known yet */
        bool on = jx_hunt_run(h, false, 0, NULL) && jx_hunt_weigh_numbers(h);
        h->to = to;
        for (size_t k = 0; k < traps.found.count; k++)
            if (traps.found.at[k].code == JX_CODE_NUM002 &&
                jx_hunt_knows(h, traps.found.at[k].made.eqn))
                replace_by_trap(h, &traps.found.at[k]);
        traps.found.count = 0;
        if (!on)
            return;
    }
}

/* Outputs are finite, which is proved; an infinity on the way to them may have
 * made them others. */
static void look_behind_finite(jx_hunt *h)
{
    for (int number = 0; jx_hunt_fill(h, number); number++) {
        if (!jx_hunt_run(h, false, 0, NULL))
            return;
        if (h->watch->nroots && jx_hunt_bad_output(h) < 0)
            jx_hunt_weigh_hidden(h);
    }
}

/* As written, then with subnormal numbers flushed: what is found as written is
 * the better witness. */
static void search(jx_hunt *h, bool flushed)
{
    jx_site site = {0};

    if (!jx_exec_flush(h->run.exec, flushed) ||
        (h->glance.exec && !jx_exec_flush(h->glance.exec, flushed)))
        return;
    h->flushed = flushed;
    h->operations = h->options->operations / 2;

    if (!flushed && h->cancels)
        visit_all(h, h->program->entry.jaxpr, &site, weigh_difference);
    if (h->options->finite) {
        if (!flushed && h->halves)
            look_behind_finite(h);
        return;
    }
    for (int number = 0; jx_hunt_fill(h, number); number++)
        if (!jx_hunt_try(h))
            return;
    if (!flushed)
        look_for_traps(h);
    if (!flushed && !h->options->nseeds)
        draw_indices(h);
    visit_all(h, h->program->entry.jaxpr, &site, go_toward);
}

/* So many elements, and so many products, are as much work as an
 * operation on few. */
enum { ELEMENTS = 32, PRODUCTS = 512 };

static void look_at_cost(jx_hunt *h)
{
    double weight = (double)jx_plan_memory(h->run.plan) / 4 / ELEMENTS;
    int64_t flops;

    for (int i = 0; i < h->run.nins; i++)
        weight += (double)jx_plan_in(h->run.plan, i)->count / ELEMENTS;
    if (jx_cost_flops(h->typed, &flops))
        weight += (double)flops / PRODUCTS;
    h->weight = weight < (double)h->options->operations
                    ? (int64_t)weight
                    : h->options->operations;
}

/* In the same body, and before it. */
static bool comes_before(const jx_hunt *h, const jx_eqn *a, const jx_eqn *b)
{
    const jx_origin *of_a, *of_b;

    if (!a->nouts || !b->nouts)
        return false;
    of_a = jx_map_get(&h->origins.of, a->outs[0]);
    of_b = jx_map_get(&h->origins.of, b->outs[0]);
    return of_a && of_b && of_a->jaxpr == of_b->jaxpr && a < b;
}

/* One is told of a where that leaves something out, the other of what comes of
 * it in the same expression, as its derivative does; or the other way round. */
static bool is_of_same_cause(const jx_hunt *h, const jx_witness *first,
                             const jx_witness *then)
{
    return first->made.eqn && then->made.eqn && first->code != then->code &&
           (first->code == JX_CODE_NUM002 || then->code == JX_CODE_NUM002) &&
           first->level >= then->level &&
           comes_before(h, first->made.eqn, then->made.eqn) &&
           jx_eqns_are_one(&h->origins, first->made.eqn, then->made.eqn);
}

static void drop_consequences(jx_hunt *h)
{
    jx_witnesses *to = h->to;
    size_t kept = 0;

    for (size_t i = 0; i < to->found.count; i++) {
        bool told = false;
        for (size_t k = 0; k < to->found.count && !told; k++)
            told = is_of_same_cause(h, &to->found.at[k], &to->found.at[i]);
        if (!told)
            to->found.at[kept++] = to->found.at[i];
    }
    to->found.count = kept;
}

static void search_plainly(jx_hunt *h)
{
    jx_site site = {0};

    h->operations = h->options->operations;
    if (h->weight >= h->operations)
        return; /* one run would take as long as all may */
    if (h->cancels)
        visit_all(h, h->program->entry.jaxpr, &site, weigh_difference);
    for (int number = 0; jx_hunt_fill_plain(h, number); number++)
        if (!jx_hunt_try(h))
            return;
}

/* Finds where the program's values come from; false, with an error if memory
 * ends. */
static bool begin(jx_hunt *h, const jx_typed *typed,
                  const jx_witness_options *options, jx_witnesses *to)
{
    jx_program *program = typed->program;
    *h = (jx_hunt){.program = program,
                   .typed = typed,
                   .options = options,
                   .watch = JX_NEW(program->ctx->arena, jx_watch),
                   .rng = {options->seed + 1},
                   .operations = options->operations,
                   .to = to};

    return h->watch && jx_origins_make(&h->origins, program);
}

/* Where nothing can be found there is nothing to open. */
static bool may_find(jx_hunt *h)
{
    jx_site site = {0};

    visit_all(h, h->program->entry.jaxpr, &site, see_digits);
    return h->cancels || h->halves || !h->options->finite;
}

bool jx_witness_search(const jx_typed *typed, const jx_witness_options *options,
                       jx_witnesses *to)
{
    jx_hunt h;
    bool held = begin(&h, typed, options, to) && may_find(&h);

    if (held) {
        jx_hunt_look_backward(&h);
        held = jx_hunt_may_tell(&h) && jx_hunt_open(&h, false) && hold(&h);
    }
    if (held) {
        look_at_cost(&h);
        jx_hunt_look_at_glances(&h);
    }
    if (held && options->plain)
        search_plainly(&h);
    for (int flushed = 0; held && !options->plain && flushed < 2; flushed++) {
        search(&h, flushed);
        to->spent |= h.operations <= 0;
    }
    if (held && h.gradient)
        drop_consequences(&h);
    jx_callee_close(&h.run);
    jx_callee_close(&h.glance);
    jx_callee_close(&h.wide);
    return jx_ok(typed->program->ctx);
}

/* -- again ----------------------------------------------------------------- */

static bool is_there(const jx_hunt *h, const jx_eqn *eqn, const jx_stack *stack)
{
    return eqn &&
           jx_frame_same(jx_user_frame(jx_origin_stack(&h->origins, eqn)),
                         jx_user_frame(stack));
}

static jx_standing standing(jx_hunt *h, const jx_witness *witness)
{
    JX_ASSERT(h->run.nins == witness->ninputs);
    for (int i = 0; i < h->run.nins; i++)
        memcpy(h->run.in[i], witness->inputs[i],
               jx_plan_in(h->run.plan, i)->bytes);
    if (!jx_exec_flush(h->run.exec, witness->flushed) ||
        !jx_hunt_run(h, false, 0, NULL))
        return JX_NOT_RUN;
    if (!witness->hidden && jx_hunt_bad_output(h) < 0)
        return JX_GONE;
    for (int i = 0; i < h->watch->nroots; i++)
        if (is_there(h, h->watch->roots[i].eqn, witness->stack))
            return JX_STANDS;
    return is_there(h, h->watch->nan.eqn, witness->stack) ? JX_STANDS : JX_GONE;
}

jx_standing jx_witness_stands(const jx_typed *typed,
                              const jx_witness_options *options,
                              const jx_witness *witness)
{
    jx_witnesses unused = {0};
    jx_standing is = JX_NOT_RUN;
    jx_hunt h;

    if (begin(&h, typed, options, &unused) && jx_hunt_open(&h, true)) {
        h.operations = options->operations;
        is = standing(&h, witness);
    }
    jx_callee_close(&h.run);
    return is;
}
