/* instantiate.c - a jaxpr of variable sizes, at those that something has.  What
 * it calls comes along, with the rules of custom derivatives, each once. */
#include "analyzer/transform/defined.h"
#include "frontend/base/map.h"

typedef struct instance {
    jx_making *m;
    const jx_bound *sizes;
    /* from jaxprs, values and rules to what they are at these sizes */
    jx_map done;
} instance;

static jx_arena *arena_of(const instance *s)
{
    return jx_making_arena(s->m);
}

/* ---- sizes and types */

static const jx_dim *new_dim(instance *s, const jx_dim *dim)
{
    const jx_dim *to = jx_dim_bound(s->m->to->dims, dim, s->sizes);

    if (!to)
        jx_making_fail(s->m, "a size in its rule does not fit in 128 bits");
    return to;
}

static const jx_aval *new_aval(instance *s, const jx_aval *aval)
{
    const jx_aval *to = jx_aval_bound(s->m->to, aval, s->sizes);

    if (!to)
        jx_making_fail(s->m, "a size in its rule does not fit in 128 bits");
    return to;
}

/* ---- parameters */

static const jx_jaxpr *new_jaxpr(instance *s, const jx_jaxpr *from);
static const jx_value *new_value(instance *s, const jx_value *value);

static bool new_closed(instance *s, jx_closed *closed)
{
    return !closed->jaxpr || (closed->jaxpr = new_jaxpr(s, closed->jaxpr));
}

/* A rule is met while it is in the making where it calls its own function. */
static const jx_value *new_rule(instance *s, const jx_value *value)
{
    const jx_rule *from = value->rule;
    const jx_value *to = jx_map_get(&s->done, from);
    const jx_aval **ins;
    jx_rule_pattern *patterns;
    jx_rule *rule;

    if (to)
        return to;
    ins = JX_NEW_ARRAY(arena_of(s), from->nins + 1, const jx_aval *);
    patterns = jx_arena_copy(arena_of(s), from->patterns,
                             (size_t)from->npatterns * sizeof *patterns);
    rule = jx_making_rule(s->m, value, &to);
    if (!ins || !patterns || !rule || !jx_map_put(&s->done, from, to))
        return NULL;
    for (int i = 0; i < from->nins; i++)
        if (!(ins[i] = new_aval(s, from->ins[i])))
            return NULL;
    for (int i = 0; i < from->npatterns; i++)
        if (!new_closed(s, &patterns[i].jvp) ||
            !new_closed(s, &patterns[i].fwd) ||
            !new_closed(s, &patterns[i].bwd))
            return NULL;
    rule->ins = ins;
    rule->patterns = patterns;
    return new_closed(s, &rule->primal) ? to : NULL;
}

static const jx_value *of_dim(instance *s, const jx_value *value)
{
    const jx_dim *dim = new_dim(s, value->dim);
    jx_value to = *value;
    int64_t number;

    if (!dim)
        return NULL;
    to.dim = dim;
    if (jx_dim_is_int(dim, &number))
        to = (jx_value){.tag = JX_V_INT, .integer = number};
    return jx_value_add(&s->m->to->values, &to);
}

static bool fill(instance *s, const jx_value *value, jx_value *to)
{
    const jx_value **items =
        JX_NEW_ARRAY(arena_of(s), value->count + 1, const jx_value *);

    for (int i = 0; items && value->items && i < value->count; i++)
        if (!(items[i] = new_value(s, value->items[i])))
            return false;
    if (value->items)
        to->items = items;
    if (value->aval && !(to->aval = new_aval(s, value->aval)))
        return false;
    return items && (!value->jaxpr || (to->jaxpr = new_jaxpr(s, value->jaxpr)));
}

/* What is shown stays as it was. */
static const jx_value *new_value(instance *s, const jx_value *value)
{
    const jx_value *kept = jx_map_get(&s->done, value);
    jx_value to = *value;

    if (kept)
        return kept;
    if (value->tag == JX_V_DIM)
        kept = of_dim(s, value);
    else if (value->tag == JX_V_RULE)
        kept = new_rule(s, value);
    else
        kept =
            fill(s, value, &to) ? jx_value_add(&s->m->to->values, &to) : NULL;
    return kept && jx_map_put(&s->done, value, kept) ? kept : NULL;
}

/* ---- equations */

static jx_atom new_literal(instance *s, jx_body *b, const jx_literal *literal)
{
    const jx_atom nothing = {NULL, NULL};
    jx_literal to = *literal;
    int64_t number;

    if (!literal->dim)
        return (jx_atom){NULL, literal};
    if (!(to.dim = new_dim(s, literal->dim)))
        return nothing;
    if (jx_dim_is_int(to.dim, &number))
        return jx_build_number(b, literal->aval->dtype, (double)number);
    to.aval = literal->aval;
    return jx_build_literal(b, &to);
}

static jx_atom *new_atoms(instance *s, jx_body *b, int count,
                          const jx_atom *from, const jx_atom *now)
{
    jx_atom *to = JX_NEW_ARRAY(arena_of(s), count + 1, jx_atom);

    for (int i = 0; to && i < count; i++) {
        to[i] = from[i].var ? now[from[i].var->id]
                            : new_literal(s, b, from[i].literal);
        if (!jx_is_made(to[i]))
            return NULL;
    }
    return to;
}

static bool new_eqn(instance *s, jx_body *b, const jx_eqn *eqn, jx_atom *now)
{
    const jx_atom *ins = new_atoms(s, b, eqn->nins, eqn->ins, now), *made;
    jx_param *params = JX_NEW_ARRAY(arena_of(s), eqn->nparams + 1, jx_param);
    const jx_aval **outs =
        JX_NEW_ARRAY(arena_of(s), eqn->nouts + 1, const jx_aval *);

    if (!ins || !params || !outs)
        return false;
    for (int i = 0; i < eqn->nparams; i++) {
        params[i] = eqn->params[i];
        if (!(params[i].value = new_value(s, eqn->params[i].value)))
            return false;
    }
    for (int i = 0; i < eqn->nouts; i++)
        if (!(outs[i] = new_aval(s, eqn->outs[i]->aval)))
            return false;
    made = jx_build_like(b, eqn, ins, params, outs);
    for (int i = 0; made && i < eqn->nouts; i++)
        now[eqn->outs[i]->id] = made[i];
    return made != NULL;
}

static const jx_jaxpr *new_jaxpr(instance *s, const jx_jaxpr *from)
{
    const jx_jaxpr *kept = jx_map_get(&s->done, from);
    jx_body *b = kept ? NULL : jx_body_new(&s->m->build, NULL);
    jx_atom *now = JX_NEW_ARRAY(arena_of(s), from->nvars + 1, jx_atom), *outs;

    if (kept || !b || !now)
        return kept;
    for (int i = 0; i < from->nconsts + from->nins; i++) {
        const jx_aval *aval = new_aval(s, from->vars[i]->aval);
        if (!aval)
            return NULL;
        now[i] = (i < from->nconsts ? jx_body_const : jx_body_input)(b, aval);
    }
    for (int i = 0; i < from->neqns; i++)
        if (!new_eqn(s, b, &from->eqns[i], now))
            return NULL;
    outs = new_atoms(s, b, from->nouts, from->outs, now);
    for (int i = 0; outs && i < from->nouts; i++)
        jx_body_result(b, outs[i]);
    kept = outs ? jx_body_finish_like(b, from) : NULL;
    return kept && jx_map_put(&s->done, from, kept) ? kept : NULL;
}

const jx_jaxpr *jx_instantiated(jx_making *m, const jx_jaxpr *from,
                                const jx_bound *sizes)
{
    instance s = {.m = m, .sizes = sizes};

    jx_map_init(&s.done, jx_making_arena(m));
    return new_jaxpr(&s, from);
}
