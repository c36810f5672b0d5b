/* jvp.c - see jvp.h: the walk over equations. */
#include "analyzer/transform/jvp_parts.h"

#include "analyzer/transform/making.h"
#include "frontend/base/map.h"

#include <string.h>

static jx_jvp_rule *const rules[JX_NPRIMS] = {
#define PRIM(id, name, nins, nouts, params, type, plan, cost, jvp, ...)        \
    [JX_PRIM_##id] = jx_jvp_##jvp,
#include "frontend/ir/prims.def"
#undef PRIM
};

/* ---- equations */

/* A jaxpr on its way: what its variables are there. */
typedef struct walk {
    jx_differentiator *d;
    jx_body body;
    const jx_jaxpr *from;
    jx_atom *now, *tangents; /* by variable */
} walk;

static const jx_atom nothing = {NULL, NULL};

static jx_arena *arena_of(const walk *w)
{
    return jx_making_arena(w->d->make);
}

static bool begin_walk(jx_differentiator *d, const jx_jaxpr *from, walk *w)
{
    *w = (walk){.d = d, .from = from};
    w->body.in = &d->make->build;
    jx_body_reserve(&w->body, 2 * from->neqns); /* with tangents */
    w->now = JX_NEW_ARRAY(arena_of(w), from->nvars + 1, jx_atom);
    w->tangents = JX_NEW_ARRAY(arena_of(w), from->nvars + 1, jx_atom);
    return w->now && w->tangents;
}

static bool take_eqn(walk *w, const jx_eqn *eqn)
{
    jx_atom *all =
        JX_NEW_ARRAY(arena_of(w), 2 * (eqn->nins + eqn->nouts) + 1, jx_atom);
    jx_jvp t = {.of = w->d, .b = &w->body, .eqn = eqn};
    bool any = false, ok;

    if (!all)
        return false;
    t.ins = all;
    t.tins = all + eqn->nins;
    t.outs = all + 2 * eqn->nins;
    t.touts = t.outs + eqn->nouts;
    for (int i = 0; i < eqn->nins; i++) {
        const jx_var *var = eqn->ins[i].var;
        all[i] = var ? w->now[var->id] : eqn->ins[i];
        all[eqn->nins + i] = var ? w->tangents[var->id] : nothing;
        any |= jx_is_made(all[eqn->nins + i]);
    }
    w->d->make->eqn = eqn;
    if (any && !jx_typed_accepts(w->d->typed, w->from, eqn))
        return jx_making_fail(
            w->d->make, "its operands, parameters and results do not fit");
    w->body.place = (jx_place){eqn->stack, eqn->name_stack, eqn->ctx};
    ok = any ? rules[eqn->prim->id] ? rules[eqn->prim->id](&t) : jx_jvp_none(&t)
             : jx_jvp_primal(&t);
    w->d->make->eqn = NULL;
    w->body.place = (jx_place){0};
    for (int i = 0; ok && i < eqn->nouts; i++) {
        if (!jx_is_made(t.outs[i]))
            return false;
        w->now[eqn->outs[i]->id] = t.outs[i];
        w->tangents[eqn->outs[i]->id] = t.touts[i];
    }
    return ok;
}

static bool take_eqns(walk *w)
{
    for (int i = 0; i < w->from->neqns; i++)
        if (!take_eqn(w, &w->from->eqns[i]))
            return false;
    return true;
}

/* Constants; then, group by group, inputs and the tangents of those
 * that have one. */
static bool take_inputs(walk *w, const int *ends, const bool *ins)
{
    const jx_jaxpr *from = w->from;
    int first = 0;

    for (int i = 0; i < from->nconsts; i++)
        w->now[i] = jx_body_const(&w->body, from->vars[i]->aval);
    for (int g = 0; g < 3; first = ends[g++]) {
        for (int i = first; i < ends[g]; i++)
            w->now[from->nconsts + i] =
                jx_body_input(&w->body, from->vars[from->nconsts + i]->aval);
        for (int i = first; i < ends[g]; i++)
            if (ins[i])
                w->tangents[from->nconsts + i] = jx_body_input(
                    &w->body, from->vars[from->nconsts + i]->aval);
    }
    return jx_ok(w->d->make->to->ctx);
}

static jx_atom of_atom(const jx_atom *by, jx_atom atom, jx_atom otherwise)
{
    return atom.var ? by[atom.var->id] : otherwise;
}

/* Group by group the results, then the tangents of those that `wanted` says or
 * that have one. */
static bool give_results(walk *w, const int *ends, const bool *wanted,
                         bool *outs)
{
    const jx_jaxpr *from = w->from;
    int first = 0;

    for (int g = 0; g < 2; first = ends[g++]) {
        for (int i = first; i < ends[g]; i++)
            jx_body_result(&w->body,
                           of_atom(w->now, from->outs[i], from->outs[i]));
        for (int i = first; i < ends[g]; i++) {
            jx_atom tangent = of_atom(w->tangents, from->outs[i], nothing);
            outs[i] = jx_is_made(tangent) || (wanted && wanted[i]);
            if (outs[i] && !jx_is_made(tangent))
                tangent = jx_build_zeros(&w->body, jx_atom_aval(from->outs[i]));
            if (outs[i])
                jx_body_result(&w->body, tangent);
        }
    }
    return jx_ok(w->d->make->to->ctx);
}

/* ---- jaxprs */

typedef struct recipe {
    jx_jvped made;
    const jx_jaxpr *from;
    jx_jvp_groups groups;
    const bool *ins, *wanted; /* what was asked for */
} recipe;

static bool same_recipe(const void *kept, const void *key)
{
    const recipe *a = kept, *c = key;

    return a->from == c->from &&
           !memcmp(&a->groups, &c->groups, sizeof a->groups) &&
           jx_same_masks(a->from->nins, a->ins, c->ins) &&
           jx_same_masks(a->from->nouts, a->wanted, c->wanted);
}

static uint64_t hash_of(const recipe *r)
{
    uint64_t hash = jx_hash_mix(0, (uint64_t)(uintptr_t)r->from);

    for (int i = 0; i < r->from->nins; i++)
        hash = jx_hash_mix(hash, r->ins[i]);
    for (int i = 0; i < r->from->nouts; i++)
        hash = jx_hash_mix(hash, r->wanted && r->wanted[i]);
    return hash;
}

static const jx_jaxpr *transformed(walk *w, const recipe *r, bool *outs)
{
    if (!take_inputs(w, r->groups.ins, r->ins) || !take_eqns(w) ||
        !give_results(w, r->groups.outs, r->wanted, outs))
        return NULL;
    return jx_body_finish(&w->body, jx_no_atoms, r->from->function);
}

const jx_jvped *jx_jvp_jaxpr(jx_differentiator *d, const jx_jaxpr *from,
                             jx_jvp_groups groups, const bool *ins,
                             const bool *outs)
{
    recipe like = {.from = from, .groups = groups, .ins = ins, .wanted = outs};
    uint64_t hash = hash_of(&like);
    recipe *r =
        (recipe *)(uintptr_t)jx_intern_find(&d->made, hash, &like, same_recipe);
    const jx_eqn *around = d->make->eqn;
    bool *given;
    walk w;

    if (r)
        return &r->made;
    r = JX_NEW(jx_making_arena(d->make), recipe);
    given = JX_NEW_ARRAY(jx_making_arena(d->make), from->nouts + 1, bool);
    if (!r || !given || !begin_walk(d, from, &w))
        return NULL;
    r->from = from;
    r->groups = groups;
    r->ins = jx_making_mask(d->make, from->nins, ins);
    r->wanted = jx_making_mask(d->make, from->nouts, outs);
    r->made = (jx_jvped){transformed(&w, r, given), r->ins, given};
    d->make->eqn = around;
    return r->made.jaxpr && jx_intern_add(&d->made, hash, r) ? &r->made : NULL;
}

const jx_jaxpr *jx_jvp_widened(jx_jvp *t, const jx_jaxpr *from, int count,
                               const jx_aval *const *more)
{
    const jx_eqn *around = t->of->make->eqn;
    bool *none =
        JX_NEW_ARRAY(jx_jvp_arena(t), from->nins + from->nouts + 1, bool);
    const jx_jvp_groups groups = jx_jvp_one_group(from);
    walk w;

    if (!none || !begin_walk(t->of, from, &w) ||
        !take_inputs(&w, groups.ins, none))
        return NULL;
    for (int i = 0; i < count; i++)
        jx_body_input(&w.body, more[i]);
    if (!take_eqns(&w) ||
        !give_results(&w, groups.outs, NULL, none + from->nins))
        return NULL;
    t->of->make->eqn = around;
    return jx_body_finish(&w.body, jx_no_atoms, from->function);
}

/* ---- the program */

/* The paths of inputs, or outputs, and of their tangents. */
static const char *const *new_paths(const walk *w, int n,
                                    const char *const *paths, const bool *have)
{
    const char **to = JX_NEW_ARRAY(arena_of(w), 2 * n + 1, const char *);
    int count = n;

    for (int i = 0; to && i < n; i++) {
        to[i] = paths[i];
        if (have[i])
            to[count++] =
                jx_arena_printf(arena_of(w), "tangent of %s", paths[i]);
    }
    return to;
}

static const jx_jaxpr *enter(jx_differentiator *d, const jx_program *from)
{
    const jx_jaxpr *entry = from->entry.jaxpr;
    bool *ins = JX_NEW_ARRAY(jx_making_arena(d->make), entry->nins + 1, bool);
    bool *outs = JX_NEW_ARRAY(jx_making_arena(d->make), entry->nouts + 1, bool);
    recipe r = {.from = entry,
                .groups = jx_jvp_one_group(entry),
                .ins = ins,
                .wanted = outs};
    const jx_jaxpr *made;
    walk w;

    if (!ins || !outs || !begin_walk(d, entry, &w))
        return NULL;
    for (int i = 0; i < entry->nins; i++)
        ins[i] = jx_has_tangent(entry->vars[entry->nconsts + i]->aval);
    for (int i = 0; i < entry->nouts; i++)
        outs[i] = jx_has_tangent(jx_atom_aval(entry->outs[i]));
    made = transformed(&w, &r, outs);
    if (from->in_paths)
        d->make->to->in_paths = new_paths(&w, entry->nins, from->in_paths, ins);
    if (from->out_paths)
        d->make->to->out_paths =
            new_paths(&w, entry->nouts, from->out_paths, outs);
    return made;
}

void jx_differentiator_begin(jx_differentiator *d, jx_making *make,
                             const jx_typed *typed, bool stripped)
{
    *d =
        (jx_differentiator){.make = make, .typed = typed, .stripped = stripped};
    jx_intern_init(&d->made, jx_making_arena(make));
}

jx_program *jx_program_jvp(const jx_typed *typed)
{
    jx_making make;
    jx_differentiator d;

    if (!jx_typed_all(typed) || !jx_making_begin(&make, typed->program))
        return NULL;
    jx_differentiator_begin(&d, &make, typed, false);
    return jx_making_end(&make,
                         jx_making_named(&make, enter(&d, typed->program),
                                         typed->program->entry.jaxpr));
}
