/* transpose.c - see transpose.h: the walk back over equations. */
#include "analyzer/transform/transpose_parts.h"

#include "frontend/base/map.h"

static const jx_atom nothing = {NULL, NULL};

static jx_transpose_rule *const rules[JX_NPRIMS] = {
#define PRIM(id, name, nins, nouts, params, type, plan, cost, jvp, transpose,  \
             ...)                                                              \
    [JX_PRIM_##id] = jx_transpose_##transpose,
#include "frontend/ir/prims.def"
#undef PRIM
};

void jx_transposer_begin(jx_transposer *s, jx_making *make)
{
    *s = (jx_transposer){.make = make};
    jx_intern_init(&s->made, jx_making_arena(make));
}

/* A jaxpr on its way. */
typedef struct walk {
    jx_transposer *of;
    const jx_jaxpr *from;
    jx_body body;
    bool *linear; /* by variable */
    /* by variable: what is not linear; cotangents so far */
    jx_atom *there, *ct;
} walk;

static jx_arena *arena_of(const walk *w)
{
    return jx_making_arena(w->of->make);
}

static bool is_linear(const walk *w, jx_atom atom)
{
    return atom.var && w->linear[atom.var->id];
}

static void stand_at(walk *w, const jx_eqn *eqn)
{
    w->of->make->eqn = eqn;
    w->body.place =
        eqn ? (jx_place){eqn->stack, eqn->name_stack, eqn->ctx} : (jx_place){0};
}

static jx_atom *ins_of(walk *w, const jx_eqn *eqn)
{
    jx_atom *ins = JX_NEW_ARRAY(arena_of(w), eqn->nins + 1, jx_atom);

    for (int i = 0; ins && i < eqn->nins; i++)
        ins[i] = is_linear(w, eqn->ins[i]) ? nothing
                 : eqn->ins[i].var         ? w->there[eqn->ins[i].var->id]
                                           : eqn->ins[i];
    return ins;
}

/* Computes it now, or finds it linear. */
static bool go_forth(walk *w, const jx_eqn *eqn)
{
    const jx_atom *ins, *made;
    bool any = false;

    for (int i = 0; i < eqn->nins; i++)
        any |= is_linear(w, eqn->ins[i]);
    for (int i = 0; any && i < eqn->nouts; i++)
        w->linear[eqn->outs[i]->id] = true;
    if (any)
        return true;
    stand_at(w, eqn);
    ins = ins_of(w, eqn);
    made = ins ? jx_build_like(&w->body, eqn, ins, NULL, NULL) : NULL;
    for (int i = 0; made && i < eqn->nouts; i++)
        w->there[eqn->outs[i]->id] = made[i];
    return made != NULL;
}

static void add_ct(walk *w, jx_atom to, jx_atom ct)
{
    if (is_linear(w, to))
        w->ct[to.var->id] = jx_math_sum(&w->body, w->ct[to.var->id], ct);
}

static bool go_back(walk *w, const jx_eqn *eqn)
{
    jx_atom *cts =
        JX_NEW_ARRAY(arena_of(w), eqn->nins + eqn->nouts + 1, jx_atom);
    jx_transpose t = {.of = w->of, .b = &w->body, .eqn = eqn};
    jx_transpose_rule *rule = rules[eqn->prim->id];
    bool any = false;

    if (!cts)
        return false;
    for (int i = 0; i < eqn->nouts; i++) {
        const jx_var *out = eqn->outs[i];
        cts[i] = w->linear[out->id] ? w->ct[out->id] : nothing;
        any |= jx_is_made(cts[i]);
    }
    if (!any)
        return true;
    t.cts = cts;
    t.gives = cts + eqn->nouts;
    stand_at(w, eqn);
    if (!(t.ins = ins_of(w, eqn)) || !(rule ? rule : jx_transpose_none)(&t))
        return false;
    for (int i = 0; i < eqn->nins; i++)
        if (jx_is_made(t.gives[i]))
            add_ct(w, eqn->ins[i], t.gives[i]);
    return jx_ok(w->of->make->to->ctx);
}

/* ---- jaxprs */

typedef struct recipe {
    jx_transposed made;
    const jx_jaxpr *from;
    const bool *linear, *outs, *wanted;
} recipe;

static bool same_recipe(const void *made, const void *key)
{
    const recipe *a = made, *c = key;

    return a->from == c->from && !a->wanted == !c->wanted &&
           jx_same_masks(a->from->nins, a->linear, c->linear) &&
           jx_same_masks(a->from->nins, a->wanted, c->wanted) &&
           jx_same_masks(a->from->nouts, a->outs, c->outs);
}

static uint64_t hash_of(const recipe *r)
{
    uint64_t hash = jx_hash_mix(0, (uint64_t)(uintptr_t)r->from);

    for (int i = 0; i < r->from->nins; i++)
        hash =
            jx_hash_mix(hash, r->linear[i] + 2u * (r->wanted && r->wanted[i]));
    for (int i = 0; i < r->from->nouts; i++)
        hash = jx_hash_mix(hash, r->outs[i]);
    return hash;
}

static bool begin(walk *w, const recipe *r)
{
    const jx_jaxpr *from = w->from;

    w->body.in = &w->of->make->build;
    jx_body_reserve(&w->body, from->neqns);
    w->linear = JX_NEW_ARRAY(arena_of(w), from->nvars + 1, bool);
    w->there = JX_NEW_ARRAY(arena_of(w), 2 * from->nvars + 2, jx_atom);
    if (!w->linear || !w->there)
        return false;
    w->ct = w->there + from->nvars + 1;
    for (int i = 0; i < from->nconsts; i++)
        w->there[i] = jx_body_const(&w->body, from->vars[i]->aval);
    for (int i = 0; i < from->nins; i++) {
        const jx_var *var = from->vars[from->nconsts + i];
        if (r->linear[i])
            w->linear[var->id] = true;
        else
            w->there[var->id] = jx_body_input(&w->body, var->aval);
    }
    return jx_ok(w->of->make->to->ctx);
}

/* Cotangents of inputs: those that are wanted, or that there are. */
static void give(walk *w, const recipe *r, bool *ins)
{
    for (int i = 0; i < w->from->nins; i++) {
        const jx_var *var = w->from->vars[w->from->nconsts + i];
        jx_atom ct = r->linear[i] ? w->ct[var->id] : nothing;
        ins[i] = r->linear[i] && (r->wanted ? r->wanted[i] : jx_is_made(ct));
        if (ins[i])
            jx_body_result(&w->body, jx_is_made(ct)
                                         ? ct
                                         : jx_build_zeros(&w->body, var->aval));
    }
}

static bool transpose(walk *w, recipe *r, bool *ins)
{
    const jx_eqn *around = w->of->make->eqn;
    const jx_jaxpr *from = w->from;

    if (!begin(w, r))
        return false;
    for (int i = 0; i < from->neqns; i++)
        if (!go_forth(w, &from->eqns[i]))
            return false;
    stand_at(w, NULL);
    for (int i = 0; i < from->nouts; i++)
        if (r->outs[i])
            add_ct(w, from->outs[i],
                   jx_body_input(&w->body, jx_atom_aval(from->outs[i])));
    for (int i = from->neqns - 1; i >= 0; i--)
        if (!go_back(w, &from->eqns[i]))
            return false;
    stand_at(w, NULL);
    w->of->make->eqn = around;
    give(w, r, ins);
    r->made.ins = ins;
    r->made.jaxpr = jx_body_finish(&w->body, jx_no_atoms, from->function);
    return r->made.jaxpr != NULL;
}

const jx_transposed *jx_transpose_jaxpr(jx_transposer *s, const jx_jaxpr *from,
                                        const bool *linear, const bool *outs,
                                        const bool *wanted)
{
    recipe key = {
        .from = from, .linear = linear, .outs = outs, .wanted = wanted};
    uint64_t hash = hash_of(&key);
    recipe *r =
        (recipe *)(uintptr_t)jx_intern_find(&s->made, hash, &key, same_recipe);
    walk w = {.of = s, .from = from};
    bool *given;

    if (r)
        return &r->made;
    r = jx_arena_copy(jx_making_arena(s->make), &key, sizeof key);
    given = JX_NEW_ARRAY(jx_making_arena(s->make), from->nins + 1, bool);
    if (!r || !given)
        return NULL;
    r->linear = jx_making_mask(s->make, from->nins, linear);
    r->outs = jx_making_mask(s->make, from->nouts, outs);
    r->wanted = jx_making_mask(s->make, from->nins, wanted);
    return transpose(&w, r, given) && jx_intern_add(&s->made, hash, r)
               ? &r->made
               : NULL;
}
