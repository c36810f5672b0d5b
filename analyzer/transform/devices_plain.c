/* devices_plain.c - what one device of a shard_map does alone, in plain types.
 *
 * Inside of a shard_map types say over which axes values vary, and pvary says
 * that one may from there on.  Written out each device has variables of its
 * own, of which nobody asks that. */
#include "analyzer/transform/devices_parts.h"

const jx_aval *jx_devices_plain_aval(jx_devices *s, const jx_aval *aval)
{
    jx_aval plain = *aval;

    if (!aval->varying.count && !aval->unreduced.count &&
        !aval->reduced.count && !aval->mesh)
        return aval;
    plain.varying = plain.unreduced = plain.reduced = (jx_names){0, NULL};
    plain.mesh = 0;
    plain.spec = NULL;
    return jx_aval_add(&s->build.program->avals, &plain);
}

const jx_value *jx_devices_value(jx_devices *s, const jx_value *value,
                                 jx_devices_other *other)
{
    jx_value to = *value;
    const jx_value **items;
    bool changed = false;

    if (value->tag == JX_V_JAXPR && value->jaxpr)
        changed = (to.jaxpr = other(s, value->jaxpr)) != value->jaxpr;
    items = value->items ? JX_NEW_ARRAY(s->from->ctx->arena, value->count,
                                        const jx_value *)
                         : NULL;
    for (int i = 0; items && i < value->count; i++) {
        items[i] = jx_devices_value(s, value->items[i], other);
        changed |= items[i] != value->items[i];
    }
    if (s->failed || (value->items && !items))
        return NULL;
    to.items = items;
    return changed ? jx_value_add(&s->build.program->values, &to) : value;
}

jx_param *jx_devices_params(jx_devices *s, const jx_eqn *eqn,
                            jx_devices_other *other)
{
    jx_param *to = JX_NEW_ARRAY(s->from->ctx->arena, eqn->nparams, jx_param);

    for (int i = 0; to && i < eqn->nparams; i++) {
        to[i] = eqn->params[i];
        to[i].value = jx_devices_value(s, to[i].value, other);
        if (!to[i].value)
            return NULL;
    }
    return to;
}

/* ---- jaxprs */

static bool value_is_plain(jx_devices *s, const jx_value *value)
{
    if (value->tag == JX_V_JAXPR && value->jaxpr &&
        jx_devices_plain(s, value->jaxpr) != value->jaxpr)
        return false;
    for (int i = 0; value->items && i < value->count; i++)
        if (!value_is_plain(s, value->items[i]))
            return false;
    return true;
}

static bool is_plain(jx_devices *s, const jx_jaxpr *jaxpr)
{
    for (int i = 0; i < jaxpr->nvars; i++)
        if (jx_devices_plain_aval(s, jaxpr->vars[i]->aval) !=
            jaxpr->vars[i]->aval)
            return false;
    for (int i = 0; i < jaxpr->neqns && !s->failed; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        if (eqn->prim->id == JX_PRIM_pvary)
            return false;
        for (int k = 0; k < eqn->nparams; k++)
            if (!value_is_plain(s, eqn->params[k].value))
                return false;
    }
    return true;
}

static jx_atom plain_atom(jx_devices_body *m, const jx_atom *now, jx_atom atom)
{
    jx_literal literal;

    if (atom.var)
        return now[atom.var->id];
    literal = *atom.literal;
    literal.aval = jx_devices_plain_aval(m->s, literal.aval);
    return literal.aval == atom.literal->aval
               ? atom
               : jx_build_literal(&m->body, &literal);
}

static bool has_rule(const jx_eqn *eqn)
{
    for (int i = 0; i < eqn->nparams; i++)
        if (eqn->params[i].value->tag == JX_V_RULE)
            return true;
    return false;
}

/* A call that carries rules, which are for types as they were, is a call of its
 * function. */
static const jx_atom *plain_call(jx_devices_body *m, const jx_eqn *eqn,
                                 const jx_atom *ins)
{
    const jx_closed *callee = jx_eqn_callee(eqn);
    jx_params call = {.program = m->s->build.program};
    const jx_aval **avals =
        JX_NEW_ARRAY(m->s->scratch, eqn->nouts + 1, const jx_aval *);
    const jx_value *value = NULL;

    for (int i = 0; i < eqn->nparams && !value; i++)
        if (eqn->params[i].value->tag == JX_V_JAXPR &&
            eqn->params[i].value->jaxpr == callee->jaxpr)
            value =
                jx_devices_value(m->s, eqn->params[i].value, jx_devices_plain);
    for (int i = 0; avals && i < eqn->nouts; i++)
        avals[i] = jx_devices_plain_aval(m->s, eqn->outs[i]->aval);
    if (!avals)
        return NULL;
    jx_put(&call, "call_jaxpr", value);
    return jx_build_as(&m->body, jx_prim_of(JX_PRIM_closed_call), &call,
                       eqn->nins, ins, eqn->nouts, avals);
}

bool jx_devices_plain_parts(jx_devices *s, const jx_eqn *eqn, jx_param **params,
                            const jx_aval ***avals)
{
    bool plain = true;

    *params = NULL;
    *avals = NULL;
    for (int i = 0; i < eqn->nparams && plain; i++)
        plain = value_is_plain(s, eqn->params[i].value);
    if (!plain && !(*params = jx_devices_params(s, eqn, jx_devices_plain)))
        return s->failed ? false : jx_devices_starved(s);
    plain = true;
    for (int i = 0; i < eqn->nouts; i++)
        plain &=
            jx_devices_plain_aval(s, eqn->outs[i]->aval) == eqn->outs[i]->aval;
    if (plain)
        return !s->failed;
    *avals = JX_NEW_ARRAY(s->scratch, eqn->nouts, const jx_aval *);
    for (int i = 0; *avals && i < eqn->nouts; i++)
        (*avals)[i] = jx_devices_plain_aval(s, eqn->outs[i]->aval);
    return *avals || jx_devices_starved(s);
}

bool jx_devices_outlives(jx_devices *s, const jx_eqn *eqn)
{
    const jx_closed *callee = jx_eqn_callee(eqn);

    return callee && has_rule(eqn) &&
           jx_devices_plain(s, callee->jaxpr) != callee->jaxpr;
}

static bool plain_eqn(jx_devices_body *m, const jx_eqn *eqn, jx_atom *now)
{
    jx_devices *s = m->s;
    jx_atom *ins = JX_NEW_ARRAY(s->scratch, eqn->nins + 1, jx_atom);
    const jx_aval **avals;
    jx_param *params;
    const jx_atom *made = ins;

    if (!ins)
        return jx_devices_starved(s);
    if (!jx_devices_plain_parts(s, eqn, &params, &avals))
        return false;
    for (int i = 0; i < eqn->nins; i++)
        ins[i] = plain_atom(m, now, eqn->ins[i]);
    m->body.place = (jx_place){eqn->stack, eqn->name_stack, eqn->ctx};
    if (eqn->prim->id != JX_PRIM_pvary)
        made = jx_devices_outlives(s, eqn)
                   ? plain_call(m, eqn, ins)
                   : jx_build_like(&m->body, eqn, ins, params, avals);
    for (int i = 0; made && i < eqn->nouts; i++)
        now[eqn->outs[i]->id] = made[i];
    return made || s->failed || jx_devices_starved(s);
}

static const jx_jaxpr *made_plain(jx_devices *s, const jx_jaxpr *from)
{
    jx_devices_body m = jx_devices_begin(s);
    jx_atom *now = JX_NEW_ARRAY(s->scratch, from->nvars, jx_atom);
    jx_jaxpr *to;

    for (int i = 0; now && i < from->nconsts + from->nins; i++)
        now[i] = (i < from->nconsts ? jx_body_const : jx_body_input)(
            &m.body, jx_devices_plain_aval(s, from->vars[i]->aval));
    for (int i = 0; now && i < from->neqns && !s->failed; i++)
        if (!plain_eqn(&m, &from->eqns[i], now))
            return NULL;
    for (int i = 0; now && i < from->nouts && !s->failed; i++)
        jx_body_result(&m.body, plain_atom(&m, now, from->outs[i]));
    to = now && !s->failed ? jx_body_finish_like(&m.body, from) : NULL;
    if (!to && !s->failed)
        jx_devices_starved(s);
    return to;
}

const jx_jaxpr *jx_devices_plain(jx_devices *s, const jx_jaxpr *jaxpr)
{
    if (s->failed || jaxpr->id < 0 || jaxpr->id >= s->from->njaxprs ||
        s->from->jaxprs[jaxpr->id] != jaxpr)
        return jaxpr;
    if (!s->plain[jaxpr->id])
        s->plain[jaxpr->id] = is_plain(s, jaxpr) ? jaxpr : made_plain(s, jaxpr);
    return s->plain[jaxpr->id] ? s->plain[jaxpr->id] : jaxpr;
}
