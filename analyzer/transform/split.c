/* split.c - see split.h: the walk over equations. */
#include "analyzer/transform/split_parts.h"

#include "frontend/base/map.h"
#include "frontend/ir/definition.h"

#include <string.h>

void jx_splitter_begin(jx_splitter *s, jx_making *make)
{
    *s = (jx_splitter){.make = make};
    jx_intern_init(&s->made, jx_making_arena(make));
}

/* ---- atoms */

jx_atom jx_split_known(const jx_splitting *w, jx_atom atom)
{
    return atom.var ? w->there[atom.var->id] : atom;
}

/* The number of an input that the rest may take as it is, or -1. */
static int passed_as(const jx_splitting *w, const jx_var *var)
{
    int input = var->id - w->from->nconsts;

    return input >= 0 && input < w->from->nins && !(w->kept && w->kept[input])
               ? input
               : -1;
}

static jx_arena *arena_of(const jx_splitting *w)
{
    return jx_making_arena(w->of->make);
}

jx_atom jx_split_residual(jx_splitting *w, jx_atom known)
{
    jx_var *input =
        jx_is_made(known) ? jx_body_var(&w->rest, jx_atom_aval(known)) : NULL;

    JX_PUSH(arena_of(w), &w->residuals, known);
    JX_PUSH(arena_of(w), &w->residual_ins, input);
    return (jx_atom){input, NULL};
}

jx_atom jx_split_rest(jx_splitting *w, jx_atom atom)
{
    jx_atom *left = atom.var ? &w->left[atom.var->id] : &atom;
    int number;

    if (jx_is_made(*left))
        return *left;
    number = passed_as(w, atom.var);
    if (number < 0)
        return *left = jx_split_residual(w, w->there[atom.var->id]);
    left->var = jx_body_var(&w->rest, atom.var->aval);
    JX_PUSH(arena_of(w), &w->passed, number);
    JX_PUSH(arena_of(w), &w->passed_ins, (jx_var *)(uintptr_t)left->var);
    return *left;
}

void jx_split_give_known(jx_splitting *w, const jx_eqn *eqn, const bool *outs,
                         const jx_atom *made)
{
    for (int i = 0, k = 0; made && i < eqn->nouts; i++)
        if (!outs || !outs[i])
            w->there[eqn->outs[i]->id] = made[k++];
}

void jx_split_give_rest(jx_splitting *w, const jx_eqn *eqn, const bool *outs,
                        const jx_atom *made)
{
    for (int i = 0, k = 0; made && i < eqn->nouts; i++)
        if (!outs || outs[i]) {
            w->unknown[eqn->outs[i]->id] = true;
            w->left[eqn->outs[i]->id] = made[k++];
        }
}

/* ---- equations */

static jx_atom *ins_of(jx_splitting *w, const jx_eqn *eqn, bool rest)
{
    jx_atom *ins = JX_NEW_ARRAY(arena_of(w), eqn->nins + 1, jx_atom);

    for (int i = 0; ins && i < eqn->nins; i++) {
        ins[i] = rest ? jx_split_rest(w, eqn->ins[i])
                      : jx_split_known(w, eqn->ins[i]);
        if (!jx_is_made(ins[i]))
            return NULL;
    }
    return ins;
}

static bool keep(jx_splitting *w, const jx_eqn *eqn)
{
    const jx_atom *ins = ins_of(w, eqn, false);
    const jx_atom *made =
        ins ? jx_build_like(&w->known, eqn, ins, NULL, NULL) : NULL;

    jx_split_give_known(w, eqn, NULL, made);
    return made != NULL;
}

static bool leave(jx_splitting *w, const jx_eqn *eqn)
{
    const jx_atom *ins = ins_of(w, eqn, true);
    const jx_atom *made =
        ins ? jx_build_like(&w->rest, eqn, ins, NULL, NULL) : NULL;

    jx_split_give_rest(w, eqn, NULL, made);
    return made != NULL;
}

static bool take_eqn(jx_splitting *w, const jx_eqn *eqn)
{
    bool any = false, all = true, whole;

    for (int i = 0; i < eqn->nins; i++) {
        any |= jx_split_is_unknown(w, eqn->ins[i]);
        all &= jx_split_is_unknown(w, eqn->ins[i]);
    }
    w->of->make->eqn = eqn;
    w->known.place = w->rest.place =
        (jx_place){eqn->stack, eqn->name_stack, eqn->ctx};
    if (!any)
        return keep(w, eqn);
    if (eqn->prim->id == JX_PRIM_cond && !jx_split_is_unknown(w, eqn->ins[0]))
        return jx_split_cond(w, eqn);
    if (eqn->prim->id == JX_PRIM_scan)
        return jx_split_scan(w, eqn);
    if (eqn->prim->id == JX_PRIM_reduce)
        return jx_split_reduce(w, eqn);
    if (!all && eqn->prim->id == JX_PRIM_while)
        return jx_split_while(w, eqn, &whole) && (!whole || leave(w, eqn));
    if (!all && eqn->prim->id == JX_PRIM_shard_map && !jx_eqn_is_unknown(eqn))
        return jx_split_shard_map(w, eqn);
    if (!all && jx_prim_is_remat(eqn->prim->id))
        return jx_split_remat(w, eqn);
    if (!all && eqn->prim->id != JX_PRIM_custom_jvp_call &&
        eqn->prim->id != JX_PRIM_custom_vjp_call && jx_eqn_callee(eqn) &&
        !jx_eqn_definition(eqn)) /* whose rules are of all of it */
        return jx_split_call(w, eqn);
    return leave(w, eqn);
}

/* ---- jaxprs */

typedef struct recipe {
    jx_split made;
    const jx_jaxpr *from;
    const bool *wanted, *kept; /* what was asked for */
} recipe;

static bool same_recipe(const void *made, const void *key)
{
    const recipe *a = made, *c = key;

    return a->from == c->from &&
           jx_same_masks(a->from->nins, a->made.ins, c->made.ins) &&
           jx_same_masks(a->from->nins, a->kept, c->kept) &&
           jx_same_masks(a->from->nouts, a->wanted, c->wanted);
}

static uint64_t hash_of(const recipe *r)
{
    uint64_t hash = jx_hash_mix(0, (uint64_t)(uintptr_t)r->from);

    for (int i = 0; i < r->from->nins; i++)
        hash = jx_hash_mix(hash, r->made.ins[i] + 2u * (r->kept && r->kept[i]));
    for (int i = 0; i < r->from->nouts; i++)
        hash = jx_hash_mix(hash, r->wanted && r->wanted[i]);
    return hash;
}

static bool begin(jx_splitting *w, const recipe *r)
{
    const jx_jaxpr *from = w->from;

    w->known.in = w->rest.in = &w->of->make->build;
    jx_body_reserve(&w->known, from->neqns);
    w->kept = r->kept;
    w->unknown = JX_NEW_ARRAY(arena_of(w), from->nvars + 1, bool);
    w->there = JX_NEW_ARRAY(arena_of(w), 2 * from->nvars + 2, jx_atom);
    if (!w->unknown || !w->there)
        return false;
    w->left = w->there + from->nvars + 1;
    for (int i = 0; i < from->nconsts; i++) {
        w->there[i] = jx_body_const(&w->known, from->vars[i]->aval);
        w->left[i] = jx_body_const(&w->rest, from->vars[i]->aval);
    }
    for (int i = 0; i < from->nins; i++) {
        const jx_var *var = from->vars[from->nconsts + i];
        if (!r->made.ins[i]) {
            w->there[var->id] = jx_body_input(&w->known, var->aval);
            continue;
        }
        jx_var *input = jx_body_var(&w->rest, var->aval);
        w->unknown[var->id] = true;
        w->left[var->id] = (jx_atom){input, NULL};
        JX_PUSH(arena_of(w), &w->unknown_ins, input);
    }
    return jx_ok(w->of->make->to->ctx);
}

static void take_inputs(jx_splitting *w)
{
    for (size_t i = 0; i < w->residual_ins.count; i++)
        JX_PUSH(arena_of(w), &w->rest.ins, w->residual_ins.at[i]);
    for (size_t i = 0; i < w->passed_ins.count; i++)
        JX_PUSH(arena_of(w), &w->rest.ins, w->passed_ins.at[i]);
    for (size_t i = 0; i < w->unknown_ins.count; i++)
        JX_PUSH(arena_of(w), &w->rest.ins, w->unknown_ins.at[i]);
}

/* The results, of which `outs` becomes true where they are in the rest. */
static void give_results(jx_splitting *w, const bool *wanted, bool *outs)
{
    for (int i = 0; i < w->from->nouts; i++) {
        jx_atom out = w->from->outs[i];
        outs[i] = jx_split_is_unknown(w, out) || (wanted && wanted[i]);
        jx_body_result(outs[i] ? &w->rest : &w->known,
                       outs[i] ? jx_split_rest(w, out)
                               : jx_split_known(w, out));
    }
    for (size_t i = 0; i < w->residuals.count; i++)
        jx_body_result(&w->known, w->residuals.at[i]);
}

static bool split(jx_splitting *w, recipe *r, bool *outs)
{
    const jx_eqn *around = w->of->make->eqn;

    if (!begin(w, r))
        return false;
    for (int i = 0; i < w->from->neqns; i++)
        if (!take_eqn(w, &w->from->eqns[i]))
            return false;
    w->of->make->eqn = around;
    give_results(w, r->wanted, outs);
    take_inputs(w);
    r->made.outs = outs;
    r->made.nres = (int)w->residuals.count;
    r->made.npassed = (int)w->passed.count;
    r->made.passed = w->passed.at;
    r->made.known = jx_body_finish(&w->known, jx_no_atoms, w->from->function);
    r->made.rest = jx_body_finish(&w->rest, jx_no_atoms, w->from->function);
    return r->made.known && r->made.rest;
}

const jx_split *jx_split_jaxpr(jx_splitter *s, const jx_jaxpr *from,
                               const bool *ins, const bool *outs,
                               const bool *kept)
{
    recipe key = {
        .made = {.ins = ins}, .from = from, .wanted = outs, .kept = kept};
    uint64_t hash = hash_of(&key);
    recipe *r =
        (recipe *)(uintptr_t)jx_intern_find(&s->made, hash, &key, same_recipe);
    jx_splitting w = {.of = s, .from = from};
    bool *given;

    if (r)
        return &r->made;
    r = jx_arena_copy(jx_making_arena(s->make), &key, sizeof key);
    given = JX_NEW_ARRAY(jx_making_arena(s->make), from->nouts + 1, bool);
    if (!r || !given)
        return NULL;
    r->made.ins = jx_making_mask(s->make, from->nins, ins);
    r->wanted = jx_making_mask(s->make, from->nouts, outs);
    r->kept = jx_making_mask(s->make, from->nins, kept);
    return split(&w, r, given) && jx_intern_add(&s->made, hash, r) ? &r->made
                                                                   : NULL;
}
