/* batch_base.c - what the rules of batch_parts.h stand on, and those that serve
 * many primitives. */
#include "analyzer/transform/batch_parts.h"

#include "analyzer/transform/making.h"

#include <string.h>

static const jx_atom nothing = {NULL, NULL};

bool jx_batch_refuse(jx_batch *t, const char *why)
{
    return t->b->in->fail(t->b, why);
}

bool jx_batch_none(jx_batch *t)
{
    return jx_batch_refuse(t, "no batching rule is known for it (PRM002)");
}

jx_arena *jx_batch_arena(const jx_batch *t)
{
    return t->b->in->program->ctx->arena;
}

int64_t *jx_batch_room(const jx_batch *t, int count)
{
    return JX_NEW_ARRAY(jx_batch_arena(t), count + 1, int64_t);
}

const jx_aval *jx_batch_in(const jx_batch *t, int i)
{
    return jx_atom_aval(t->eqn->ins[i]);
}

const jx_aval *jx_batch_out(const jx_batch *t, int i)
{
    return t->eqn->outs[i]->aval;
}

const jx_aval *jx_batch_aval(const jx_batch *t, const jx_aval *aval)
{
    return jx_aval_stack(&t->b->in->program->avals, aval, t->size);
}

/* ---- operands and results */

jx_atom jx_batch_spread(jx_batch *t, jx_atom a, bool has, const jx_aval *like)
{
    const jx_aval *of = jx_is_made(a) ? jx_atom_aval(a) : NULL;
    const jx_aval *to = jx_batch_aval(t, like);
    int rank = of ? of->rank - has : 0;
    int64_t *axes = jx_batch_room(t, rank + 1);
    int count = 0;

    if (!of || !to || !axes)
        return nothing;
    if (has && rank == like->rank)
        return a;
    if (has)
        axes[count++] = 0;
    for (int i = 0; i < rank; i++)
        axes[count++] = like->rank - rank + i + 1;
    return jx_build_broadcast(t->b, a, (jx_ints){count, axes}, to->rank,
                              to->shape);
}

jx_atom jx_batch_full(jx_batch *t, int i)
{
    return jx_batch_spread(t, t->ins[i], t->has[i], jx_batch_in(t, i));
}

const jx_atom *jx_batch_all(jx_batch *t)
{
    jx_atom *all = JX_NEW_ARRAY(jx_batch_arena(t), t->eqn->nins + 1, jx_atom);

    for (int i = 0; all && i < t->eqn->nins; i++)
        if (!jx_is_made(all[i] = jx_batch_full(t, i)))
            return NULL;
    return all;
}

static jx_atom moved(jx_batch *t, jx_atom a, int from, int to)
{
    int rank = jx_is_made(a) ? jx_atom_aval(a)->rank : 0, next = 0;
    int64_t *order = jx_batch_room(t, rank);

    if (!jx_is_made(a) || !order || from == to)
        return a;
    for (int i = 0; i < rank; i++) {
        next += next == from;
        order[i] = i == to ? from : next++;
    }
    return jx_build_transpose(t->b, a, (jx_ints){rank, order});
}

jx_atom jx_batch_to_front(jx_batch *t, jx_atom a, int from)
{
    return moved(t, a, from, 0);
}

jx_atom jx_batch_from_front(jx_batch *t, jx_atom a, int to)
{
    return moved(t, a, 0, to);
}

bool jx_batch_give(jx_batch *t, const jx_atom *made)
{
    for (int i = 0; made && i < t->eqn->nouts; i++) {
        t->outs[i] = made[i];
        t->gets[i] = true;
    }
    return made != NULL;
}

bool jx_batch_give_one(jx_batch *t, jx_atom made)
{
    return jx_is_made(made) && jx_batch_give(t, &made);
}

bool jx_batch_with(jx_batch *t, jx_params *p, int nins, const jx_atom *ins)
{
    static const char *const none[] = {NULL};
    jx_params own = {.program = t->b->in->program};

    if (!ins)
        return false;
    if (!p)
        own = jx_batch_others(t, none);
    return jx_batch_give(t, jx_build_all(t->b, t->eqn->prim, p ? p : &own, nins,
                                         ins, t->eqn->nouts));
}

/* ---- parameters */

jx_params jx_batch_others(jx_batch *t, const char *const *without)
{
    jx_params p = {.program = t->b->in->program};

    jx_put_others(&p, t->eqn, without);
    return p;
}

jx_ints jx_batch_shifted(const jx_batch *t, jx_ints axes, bool with)
{
    int64_t *to = jx_batch_room(t, axes.count + 1);
    int count = 0;

    if (to && with)
        to[count++] = 0;
    for (int i = 0; to && i < axes.count; i++)
        to[count++] = axes.at[i] + 1;
    return (jx_ints){count, to};
}

jx_dim_list jx_batch_sizes(const jx_batch *t, const jx_dim *first,
                           jx_dim_list sizes)
{
    const jx_dim **to =
        JX_NEW_ARRAY(jx_batch_arena(t), sizes.count + 1, const jx_dim *);

    if (to)
        to[0] = first;
    for (int i = 0; to && i < sizes.count; i++)
        to[i + 1] = sizes.at[i];
    return (jx_dim_list){to ? sizes.count + 1 : 0, to, true};
}

/* ---- jaxprs */

const jx_value *jx_batch_closed(jx_batch *t, const jx_jaxpr *jaxpr,
                                const jx_closed *like)
{
    return jx_making_closed((jx_making *)(void *)t->b->in, jaxpr, like);
}

const jx_atom *jx_batch_call_of(jx_batch *t, jx_body *b, const char *name,
                                const jx_value *closed, int nins,
                                const jx_atom *ins)
{
    jx_params p = {.program = t->b->in->program};

    if (!closed)
        return NULL;
    jx_put_text(&p, "name", name);
    jx_put(&p, "jaxpr", closed);
    return jx_build_all(b, jx_prim_of(JX_PRIM_jit), &p, nins, ins,
                        closed->jaxpr->nouts);
}

/* ---- rules that serve many */

/* What works along the last axes, or on each element: leading axes are
 * carried along. */
bool jx_batch_leading(jx_batch *t)
{
    return jx_batch_with(t, NULL, t->eqn->nins, jx_batch_all(t));
}

/* On elements that stand beside each other: one for all may be a scalar. */
bool jx_batch_elementwise(jx_batch *t)
{
    const jx_aval *out = jx_batch_out(t, 0);
    jx_atom *ins = JX_NEW_ARRAY(jx_batch_arena(t), t->eqn->nins + 1, jx_atom);

    for (int i = 0; ins && i < t->eqn->nins; i++) {
        bool scalar = out->rank && !jx_batch_in(t, i)->rank && !t->has[i];
        ins[i] =
            scalar ? t->ins[i] : jx_batch_spread(t, t->ins[i], t->has[i], out);
        if (!jx_is_made(ins[i]))
            return false;
    }
    return jx_batch_with(t, NULL, t->eqn->nins, ins);
}

/* Each operand becomes one result. */
bool jx_batch_each(jx_batch *t)
{
    const jx_aval **outs =
        JX_NEW_ARRAY(jx_batch_arena(t), t->eqn->nouts + 1, const jx_aval *);
    const jx_atom *made;

    for (int i = 0; outs && i < t->eqn->nouts; i++) {
        outs[i] = jx_atom_aval(t->ins[i]);
        t->gets[i] = t->has[i];
    }
    made = outs ? jx_build_like(t->b, t->eqn, t->ins, NULL, outs) : NULL;
    for (int i = 0; made && i < t->eqn->nouts; i++)
        t->outs[i] = made[i];
    return made != NULL;
}

static bool shift(jx_batch *t, jx_params *p, const char *name,
                  const jx_value *value)
{
    jx_ints axes;

    if (value->tag == JX_V_INT) {
        jx_put_int(p, name, value->integer + (value->integer >= 0));
        return true;
    }
    axes = (jx_ints){value->count, jx_batch_room(t, value->count)};
    for (int i = 0; axes.at && i < axes.count; i++) {
        if (value->items[i]->tag != JX_V_INT)
            return false;
        ((int64_t *)(uintptr_t)axes.at)[i] = value->items[i]->integer;
    }
    jx_put_ints(p, name, jx_batch_shifted(t, axes, false));
    return axes.at != NULL;
}

/* Parameters name axes by their numbers. */
bool jx_batch_numbered(jx_batch *t)
{
    static const char *const names[] = {"axes",
                                        "axis",
                                        "dimension",
                                        "dimensions",
                                        "reduction_dimension",
                                        "all_gather_dimension",
                                        "scatter_dimension",
                                        "split_axis",
                                        "concat_axis",
                                        NULL};
    jx_params p = jx_batch_others(t, names);
    bool any = false;

    for (int k = 0; names[k]; k++) {
        const jx_value *value = jx_eqn_param(t->eqn, names[k]);
        if (!value || value->tag == JX_V_NONE)
            continue;
        any = true;
        if ((value->tag != JX_V_INT && value->tag != JX_V_TUPLE) ||
            !shift(t, &p, names[k], value))
            return jx_batch_none(t);
    }
    if (!any && (t->eqn->prim->id == JX_PRIM_stack ||
                 t->eqn->prim->id == JX_PRIM_unstack))
        jx_put_int(&p, "axis", 1);
    return jx_batch_with(t, &p, t->eqn->nins, jx_batch_all(t));
}

/* The size of an axis is the same for all. */
bool jx_batch_dimension_size(jx_batch *t)
{
    const jx_p_dimension_size *d = t->eqn->typed;
    jx_params p = {.program = t->b->in->program};
    const jx_atom *made;

    jx_put_int(&p, "dimension", d->dimension + 1);
    made = jx_build_all(t->b, t->eqn->prim, &p, 1, t->ins, 1);
    if (made)
        t->outs[0] = *made;
    return made != NULL;
}

/* ---- one after the other */

bool jx_batch_map(jx_batch *t)
{
    int nins = t->eqn->nins, nouts = t->eqn->nouts, nconsts = 0, count = 0;
    jx_atom *ins = JX_NEW_ARRAY(jx_batch_arena(t), nins + 1, jx_atom);
    jx_atom *inner = JX_NEW_ARRAY(jx_batch_arena(t), nins + 1, jx_atom);
    const jx_value **linear =
        JX_NEW_ARRAY(jx_batch_arena(t), nins + 1, const jx_value *);
    jx_body *body = jx_body_new(t->b->in, NULL);
    jx_program *program = t->b->in->program;
    jx_params p = {.program = program};
    const jx_jaxpr *made;
    const jx_atom *results;

    if (!ins || !inner || !linear || !body)
        return false;
    /* what all take, then what each takes */
    for (int first = 1; first >= 0; first--)
        for (int i = 0; i < nins; i++) {
            if (!t->ins[i].var) {
                inner[i] = t->ins[i];
                continue;
            }
            if (t->has[i] == (bool)first)
                continue;
            inner[i] = jx_body_input(body, t->has[i] ? jx_batch_in(t, i)
                                                     : jx_atom_aval(t->ins[i]));
            linear[count] =
                jx_value_add(&program->values,
                             &(jx_value){.tag = JX_V_BOOL, .boolean = false});
            ins[count++] = t->ins[i];
            nconsts += first;
        }
    body->place = t->b->place;
    results = jx_build_like(body, t->eqn, inner, NULL, NULL);
    for (int i = 0; results && i < nouts; i++)
        jx_body_result(body, results[i]);
    made = results ? jx_body_finish(body, jx_no_atoms, NULL) : NULL;
    if (!made)
        return false;
    jx_put_jaxpr(&p, "jaxpr", made);
    jx_put_dim(&p, "length", t->size);
    jx_put_int(&p, "num_consts", nconsts);
    jx_put_int(&p, "num_carry", 0);
    jx_put_bool(&p, "reverse", false);
    jx_put(&p, "linear", jx_value_of_tuple(program, count, linear));
    jx_put_int(&p, "unroll", 1);
    jx_put_bool(&p, "_split_transpose", false);
    return jx_batch_give(
        t, jx_build_all(t->b, jx_prim_of(JX_PRIM_scan), &p, count, ins, nouts));
}
