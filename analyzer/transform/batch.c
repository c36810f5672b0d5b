/* batch.c - see batch.h: the walk over equations. */
#include "analyzer/transform/batch_parts.h"

#include "analyzer/transform/making.h"
#include "frontend/base/map.h"
#include "frontend/ir/signature.h"

#include <stdio.h>
#include <string.h>

struct jx_batch_program {
    jx_making make; /* first: as of all that are in the making */
    const jx_typed *typed;
    const jx_dim *size;
    jx_intern made;  /* jx_batched, by what they are made of */
    jx_intern rules; /* jx_batched_rule, the same */
};

static jx_batch_rule *const rules[JX_NPRIMS] = {
#define PRIM(id, name, nins, nouts, params, type, plan, cost, jvp, transpose,  \
             batch, ...)                                                       \
    [JX_PRIM_##id] = jx_batch_##batch,
#include "frontend/ir/prims.def"
#undef PRIM
};

/* ---- equations */

/* A jaxpr on its way: what its variables are there, and whether they
 * have the axis. */
typedef struct walk {
    jx_batch_program *d;
    jx_body body;
    const jx_jaxpr *from;
    jx_atom *now; /* by variable */
    bool *has;
} walk;

static jx_arena *arena_of(const walk *w)
{
    return jx_making_arena(&w->d->make);
}

static bool begin_walk(jx_batch_program *d, const jx_jaxpr *from, walk *w)
{
    *w = (walk){.d = d, .from = from};
    w->body.in = &d->make.build;
    w->now = JX_NEW_ARRAY(arena_of(w), from->nvars + 1, jx_atom);
    w->has = JX_NEW_ARRAY(arena_of(w), from->nvars + 1, bool);
    return w->now && w->has;
}

/* What depends on nothing that has the axis is computed as it was. */
static bool keep(jx_batch *t)
{
    const jx_atom *made = jx_build_like(t->b, t->eqn, t->ins, NULL, NULL);

    for (int i = 0; made && i < t->eqn->nouts; i++)
        t->outs[i] = made[i];
    return made != NULL;
}

static bool take_eqn(walk *w, const jx_eqn *eqn)
{
    jx_atom *atoms =
        JX_NEW_ARRAY(arena_of(w), eqn->nins + eqn->nouts + 1, jx_atom);
    bool *has = JX_NEW_ARRAY(arena_of(w), eqn->nins + eqn->nouts + 1, bool);
    jx_batch t = {.of = w->d, .b = &w->body, .size = w->d->size, .eqn = eqn};
    bool any = false, ok;

    if (!atoms || !has)
        return false;
    t.ins = atoms;
    t.has = has;
    t.outs = atoms + eqn->nins;
    t.gets = has + eqn->nins;
    for (int i = 0; i < eqn->nins; i++) {
        const jx_var *var = eqn->ins[i].var;
        atoms[i] = var ? w->now[var->id] : eqn->ins[i];
        has[i] = var && w->has[var->id];
        any |= has[i];
    }
    w->d->make.eqn = eqn;
    if (any && !jx_typed_accepts(w->d->typed, w->from, eqn))
        return jx_making_fail(
            &w->d->make, "its operands, parameters and results do not fit");
    w->body.place = (jx_place){eqn->stack, eqn->name_stack, eqn->ctx};
    ok = any ? rules[eqn->prim->id] ? rules[eqn->prim->id](&t)
                                    : jx_batch_none(&t)
             : keep(&t);
    w->d->make.eqn = NULL;
    w->body.place = (jx_place){0};
    for (int i = 0; ok && i < eqn->nouts; i++) {
        if (!jx_is_made(t.outs[i]))
            return false;
        w->now[eqn->outs[i]->id] = t.outs[i];
        w->has[eqn->outs[i]->id] = t.gets[i];
    }
    return ok;
}

static const jx_aval *wider(const walk *w, const jx_aval *aval)
{
    return jx_aval_stack(&w->d->make.to->avals, aval, w->d->size);
}

static void take_inputs(walk *w, const bool *ins)
{
    const jx_jaxpr *from = w->from;

    for (int i = 0; i < from->nconsts; i++)
        w->now[i] = jx_body_const(&w->body, from->vars[i]->aval);
    for (int i = 0; i < from->nins; i++) {
        const jx_aval *aval = from->vars[from->nconsts + i]->aval;
        w->now[from->nconsts + i] =
            jx_body_input(&w->body, ins[i] ? wider(w, aval) : aval);
        w->has[from->nconsts + i] = ins[i];
    }
}

/* The same value for each index. */
static jx_atom repeated(walk *w, jx_atom atom)
{
    const jx_aval *of = jx_atom_aval(atom), *to = wider(w, of);
    int64_t *axes = JX_NEW_ARRAY(arena_of(w), of->rank + 1, int64_t);

    for (int i = 0; axes && i < of->rank; i++)
        axes[i] = i + 1;
    return axes && to
               ? jx_build_broadcast(&w->body, atom, (jx_ints){of->rank, axes},
                                    to->rank, to->shape)
               : (jx_atom){NULL, NULL};
}

static bool give_results(walk *w, const bool *wanted, bool *outs)
{
    const jx_jaxpr *from = w->from;

    for (int i = 0; i < from->nouts; i++) {
        const jx_var *var = from->outs[i].var;
        jx_atom atom = var ? w->now[var->id] : from->outs[i];
        bool has = var && w->has[var->id];
        outs[i] = has || (wanted && wanted[i]);
        if (outs[i] && !has)
            atom = repeated(w, atom);
        if (!jx_is_made(atom))
            return false;
        jx_body_result(&w->body, atom);
    }
    return jx_ok(w->d->make.to->ctx);
}

/* ---- jaxprs */

typedef struct recipe {
    jx_batched made;
    const jx_jaxpr *from;
    const bool *ins, *wanted; /* what was asked for */
} recipe;

static bool same_recipe(const void *kept, const void *key)
{
    const recipe *a = kept, *c = key;

    return a->from == c->from && jx_same_masks(a->from->nins, a->ins, c->ins) &&
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

static bool take_eqns(walk *w)
{
    for (int i = 0; i < w->from->neqns; i++)
        if (!take_eqn(w, &w->from->eqns[i]))
            return false;
    return jx_ok(w->d->make.to->ctx);
}

const jx_batched *jx_batch_jaxpr(jx_batch_program *d, const jx_jaxpr *from,
                                 const bool *ins, const bool *outs)
{
    recipe like = {.from = from, .ins = ins, .wanted = outs};
    uint64_t hash = hash_of(&like);
    recipe *r =
        (recipe *)(uintptr_t)jx_intern_find(&d->made, hash, &like, same_recipe);
    const jx_eqn *around = d->make.eqn;
    bool *given;
    walk w;

    if (r)
        return &r->made;
    r = JX_NEW(jx_making_arena(&d->make), recipe);
    given = JX_NEW_ARRAY(jx_making_arena(&d->make), from->nouts + 1, bool);
    if (!r || !given || !begin_walk(d, from, &w))
        return NULL;
    r->from = from;
    r->ins = jx_making_mask(&d->make, from->nins, ins);
    r->wanted = jx_making_mask(&d->make, from->nouts, outs);
    take_inputs(&w, ins);
    if (!take_eqns(&w) || !give_results(&w, outs, given))
        return NULL;
    r->made = (jx_batched){jx_body_finish(&w.body, jx_no_atoms, from->function),
                           r->ins, given};
    d->make.eqn = around;
    return r->made.jaxpr && jx_intern_add(&d->made, hash, r) ? &r->made : NULL;
}

/* ---- rules */

static bool same_rule(const void *kept, const void *key)
{
    const jx_batched_rule *a = kept, *c = key;

    return a->from == c->from && jx_same_masks(a->from->nins, a->ins, c->ins);
}

jx_batched_rule *jx_batch_rule_of(jx_batch_program *d, const jx_value *value,
                                  const bool *ins, bool *met)
{
    const jx_rule *rule = value->rule;
    jx_batched_rule like = {.from = rule, .ins = ins}, *r;
    uint64_t hash = jx_hash_mix(0, (uint64_t)(uintptr_t)rule);

    for (int i = 0; i < rule->nins; i++)
        hash = jx_hash_mix(hash, ins[i]);
    r = (jx_batched_rule *)(uintptr_t)jx_intern_find(&d->rules, hash, &like,
                                                     same_rule);
    *met = r != NULL;
    if (r)
        return r;
    r = JX_NEW(jx_making_arena(&d->make), jx_batched_rule);
    if (!r || !(like.to = jx_making_rule(&d->make, value, &like.value)))
        return NULL;
    *r = like;
    r->ins = jx_making_mask(&d->make, rule->nins, ins);
    return jx_intern_add(&d->rules, hash, r) ? r : NULL;
}

/* ---- the program */

/* A symbol that the program has not. */
static const jx_dim *new_size(jx_program *program)
{
    int count;
    const jx_dim_atom *const *vars = jx_program_vars(program, &count);
    char name[32] = "b";

    for (int n = 1, k = 0; vars && k < count; k++)
        if (!strcmp(vars[k]->name, name)) {
            snprintf(name, sizeof name, "b%d", n++);
            k = -1; /* all of them again */
        }
    return vars ? jx_dim_var(program->dims, jx_intern_text(program->ctx, name),
                             0)
                : NULL;
}

/* An input whose new axis is where it was asked for, moved to the front. */
static jx_atom take_entry_input(walk *w, const jx_aval *aval, int axis)
{
    const jx_aval *wide = wider(w, aval);
    const jx_dim **shape =
        JX_NEW_ARRAY(arena_of(w), aval->rank + 2, const jx_dim *);
    int64_t *order = JX_NEW_ARRAY(arena_of(w), aval->rank + 2, int64_t);
    jx_aval moved;
    jx_atom input;

    if (!wide || !shape || !order)
        return (jx_atom){NULL, NULL};
    for (int i = 0, k = 1; i <= aval->rank; i++)
        shape[i] = i == axis ? wide->shape[0] : wide->shape[k++];
    order[0] = axis;
    for (int i = 0, k = 1; i <= aval->rank; i++)
        if (i != axis)
            order[k++] = i;
    moved = *wide;
    moved.shape = shape;
    input = jx_body_input(&w->body, jx_aval_add(&w->d->make.to->avals, &moved));
    return axis && jx_is_made(input)
               ? jx_build_transpose(&w->body, input,
                                    (jx_ints){wide->rank, order})
               : input;
}

static const jx_jaxpr *enter(jx_batch_program *d, const jx_program *from,
                             const int *axes)
{
    const jx_jaxpr *entry = from->entry.jaxpr;
    bool *all = JX_NEW_ARRAY(jx_making_arena(&d->make), entry->nouts + 1, bool);
    walk w;

    if (!all || !begin_walk(d, entry, &w))
        return NULL;
    for (int i = 0; i < entry->nouts; i++)
        all[i] = true;
    for (int i = 0; i < entry->nconsts; i++)
        w.now[i] = jx_body_const(&w.body, entry->vars[i]->aval);
    for (int i = 0; i < entry->nins; i++) {
        const jx_aval *aval = entry->vars[entry->nconsts + i]->aval;
        bool has = axes[i] != JX_NO_AXIS;
        w.has[entry->nconsts + i] = has;
        w.now[entry->nconsts + i] = has ? take_entry_input(&w, aval, axes[i])
                                        : jx_body_input(&w.body, aval);
        if (!jx_is_made(w.now[entry->nconsts + i]))
            return NULL;
    }
    return take_eqns(&w) && give_results(&w, all, all)
               ? jx_body_finish_like(&w.body, entry)
               : NULL;
}

jx_program *jx_program_batch(const jx_typed *typed, const int *axes)
{
    jx_batch_program d = {.typed = typed};

    if (!jx_typed_all(typed) || !jx_making_begin(&d.make, typed->program))
        return NULL;
    d.size = new_size(typed->program);
    jx_intern_init(&d.made, jx_making_arena(&d.make));
    jx_intern_init(&d.rules, jx_making_arena(&d.make));
    return d.size ? jx_making_end(&d.make, enter(&d, typed->program, axes))
                  : NULL;
}
