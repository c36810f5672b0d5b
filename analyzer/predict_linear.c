/* predict_linear.c - which transposes `grad` will miss: of the derivative that
 * we make ourselves, what is linear in the tangents and leads to a result.
 *
 * Of that derivative only what can't be otherwise is told: a primitive for
 * which neither JAX has a transpose nor we. */
#include "analyzer/predict_parts.h"

#include "analyzer/transform/jvp.h"
#include "analyzer/transform/split.h"

#include <string.h>

static bool walk_linear(jx_predictor *s, const jx_jaxpr *jaxpr, const bool *ins,
                        bool *outs);

/* ---- what depends on what is linear: a loop or remat is not taken apart, and
 * gives values beside tangents */

static bool walk_dependence(jx_predictor *s, const jx_jaxpr *jaxpr,
                            const bool *ins, bool *outs);

static bool depend_within(jx_predictor *s, const jx_jaxpr *jaxpr,
                          const bool *ins, int count, bool *outs)
{
    const bool *made = jx_predict_within(s, jaxpr, ins, walk_dependence);

    for (int i = 0; made && i < count; i++)
        outs[i] |= made[i];
    return made != NULL;
}

/* Of the equation's operands: which results do. */
static bool depend(jx_predictor *s, bool *ins, bool *outs)
{
    const jx_eqn *eqn = s->eqn;
    const jx_closed *callee =
        jx_eqn_definition(eqn) ? NULL : jx_eqn_callee(eqn);
    bool any = false;
    const jx_p_while *w = eqn->typed;
    const jx_p_scan *scan = eqn->typed;
    const jx_p_cond *cond = eqn->typed;

    for (int i = 0; i < eqn->nins; i++)
        any |= ins[i];
    if (!any)
        return true;
    if (callee)
        return depend_within(s, callee->jaxpr, ins, eqn->nouts, outs);
    if (eqn->prim->id == JX_PRIM_while)
        return jx_predict_loop(s, w->body_jaxpr.jaxpr, ins + w->cond_nconsts,
                               (int)w->body_nconsts, eqn->nouts, outs,
                               walk_dependence);
    if (eqn->prim->id == JX_PRIM_scan)
        return jx_predict_loop(s, scan->jaxpr.jaxpr, ins, (int)scan->num_consts,
                               (int)scan->num_carry, outs, walk_dependence);
    for (int i = 0; i < eqn->nouts && eqn->prim->id != JX_PRIM_cond; i++)
        outs[i] = true;
    for (int i = 0; eqn->prim->id == JX_PRIM_cond && i < cond->branches.count;
         i++)
        if (!depend_within(s, cond->branches.at[i].jaxpr, ins + 1, eqn->nouts,
                           outs))
            return false;
    return true;
}

static bool walk_dependence(jx_predictor *s, const jx_jaxpr *jaxpr,
                            const bool *ins, bool *outs)
{
    return jx_predict_flow_outs(s, jaxpr, ins, depend, outs);
}

/* ---- equations: `linear` of operands, `live` of results */

static char *mask_text(jx_predictor *s, const bool *mask, int count, bool what)
{
    char *text = jx_arena_alloc(s->program->ctx->arena, (size_t)count + 1);

    for (int i = 0; text && i < count; i++)
        text[i] = mask[i] == what ? '1' : '0';
    if (text)
        text[count] = '\0';
    return text;
}

static bool take_defined(jx_predictor *s, const bool *linear, const bool *live)
{
    const jx_definition_pattern *p;
    const char *mask = mask_text(s, linear, s->eqn->nins, true);
    const char *zeros = mask_text(s, live, s->eqn->nouts, false);

    if (mask && zeros)
        jx_predict_defined(s, JX_DEFINED_TRANSPOSE, mask, zeros, &p);
    return mask && zeros;
}

static bool take_plain(jx_predictor *s)
{
    const char *name = jx_eqn_name(s->eqn);
    const jx_jax_rules *rules = jx_jax_rules_of(&s->release, name);

    if (!rules || jx_jax_has(rules, 't')) /* what we make JAX need not have */
        return true;
    if (jx_jax_has(rules, 'r') && *rules->refusal)
        jx_predict_missing(s, rules->refusal);
    else
        jx_predict_missing(
            s,
            jx_missing_rule(s->program->ctx, JX_DEFINED_TRANSPOSE, name, NULL));
    return true;
}

/* The mask is of inputs, then of results. */
static bool within(jx_predictor *s, const jx_jaxpr *jaxpr, const bool *linear,
                   const bool *live)
{
    const jx_jaxpr *around = s->jaxpr;
    const jx_eqn *eqn = s->eqn;
    bool *outs = jx_predict_mask(s, jaxpr->nouts);
    bool ok;

    if (!outs)
        return false;
    memcpy(outs, live, (size_t)jaxpr->nouts * sizeof *outs);
    s->depth++;
    ok = s->depth < 400 && jx_ctx_lasts(s->program->ctx) &&
         walk_linear(s, jaxpr, linear, outs);
    s->depth--;
    s->jaxpr = around;
    s->eqn = eqn;
    return ok;
}

static bool take_scan(jx_predictor *s, const bool *linear)
{
    const jx_p_scan *p = s->eqn->typed;
    const jx_jaxpr *body = p->jaxpr.jaxpr;
    bool *ins = jx_predict_mask(s, body->nins),
         *live = jx_predict_mask(s, body->nouts);

    if (!ins || !live)
        return false;
    for (int i = 0; i < body->nins; i++)
        ins[i] = linear[i] ||
                 (i >= p->num_consts && i < p->num_consts + p->num_carry);
    for (int i = 0; i < body->nouts; i++)
        live[i] = true;
    return within(s, body, ins, live);
}

static bool take_eqn(jx_predictor *s, const bool *linear, const bool *live)
{
    const jx_closed *callee = jx_eqn_callee(s->eqn);
    const jx_p_cond *cond = s->eqn->typed;

    if (jx_eqn_definition(s->eqn))
        return take_defined(s, linear, live);
    switch (s->eqn->prim->id) {
    case JX_PRIM_custom_lin:
    case JX_PRIM_custom_linear_solve: return true;
    case JX_PRIM_scan: return take_scan(s, linear);
    case JX_PRIM_cond:
        for (int i = 0; i < cond->branches.count; i++)
            if (!within(s, cond->branches.at[i].jaxpr, linear + 1, live))
                return false;
        return true;
    /* Ours reduces pairs by a function of them, which has no transpose; JAX
     * halves what it reduces again and again, which may have one. */
    case JX_PRIM_reduce:
        jx_predict_unsure(
            s, jx_eqn_name(s->eqn),
            "JAX makes another derivative of a reduction by a function");
        return true;
    case JX_PRIM_custom_vjp_call: return take_plain(s);
    default:
        return callee ? within(s, callee->jaxpr, linear, live) : take_plain(s);
    }
}

/* ---- jaxprs */

/* `outs` is which results are needed. */
static bool walk_linear(jx_predictor *s, const jx_jaxpr *jaxpr, const bool *ins,
                        bool *outs)
{
    const bool *linear = jx_predict_flow(s, jaxpr, ins, depend);
    bool *live = linear ? jx_predict_mask(s, jaxpr->nvars) : NULL;

    s->jaxpr = jaxpr;
    if (!live)
        return false;
    for (int i = 0; linear && i < jaxpr->nouts; i++)
        if (outs[i] && jaxpr->outs[i].var)
            live[jaxpr->outs[i].var->id] = true;
    for (int i = jaxpr->neqns - 1; linear && i >= 0; i--) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        bool *mask = jx_predict_mask(s, eqn->nins + eqn->nouts + 1);
        bool *needs = mask ? mask + eqn->nins + 1 : NULL, any = false,
             is_live = false;
        for (int k = 0; mask && k < eqn->nins; k++)
            any |= mask[k] = eqn->ins[k].var && linear[eqn->ins[k].var->id];
        for (int k = 0; mask && k < eqn->nouts; k++)
            is_live |= needs[k] =
                live[eqn->outs[k]->id] && linear[eqn->outs[k]->id];
        s->eqn = eqn;
        if (!mask || (any && is_live && !take_eqn(s, mask, needs)))
            return false;
        for (int k = 0; any && is_live && k < eqn->nins; k++)
            if (mask[k])
                live[eqn->ins[k].var->id] = true;
    }
    return true;
}

/* ---- the derivative */

/* Why there is none of ours, as text that stays. */
static bool not_ours(jx_predictor *s)
{
    jx_ctx *ctx = s->program->ctx;
    const char *why =
        ctx->error.message ? ctx->error.message : "it could not be made";

    why =
        jx_arena_printf(ctx->arena,
                        "its transposes are not known: of the derivative that "
                        "jaxvet makes, %s",
                        why);
    if (ctx->error.kind != JX_E_INPUT && ctx->error.kind != JX_E_NONE)
        return false;
    jx_error_clear(ctx);
    s->eqn = NULL;
    s->jaxpr = NULL;
    jx_predict_unsure(s, NULL, why);
    return true;
}

bool jx_predict_transposes(jx_predictor *s)
{
    jx_program *forward =
        jx_typed_all(&s->to->typed) ? jx_program_jvp(&s->to->typed) : NULL;
    const jx_jaxpr *own = s->program->entry.jaxpr, *made;
    jx_splitter splitter;
    jx_making making;
    const jx_split *split;
    bool *ins, *outs;
    int first;

    if (!forward || !jx_making_begin(&making, forward))
        return not_ours(s);
    made = forward->entry.jaxpr;
    jx_splitter_begin(&splitter, &making);
    ins = jx_predict_mask(s, made->nins);
    outs = jx_predict_mask(s, made->nouts);
    for (int i = own->nins; ins && i < made->nins; i++)
        ins[i] = true;
    split =
        ins && outs ? jx_split_jaxpr(&splitter, made, ins, NULL, NULL) : NULL;
    if (!split)
        return not_ours(s);
    first = split->nres + split->npassed;
    ins = jx_predict_mask(s, split->rest->nins);
    outs = jx_predict_mask(s, split->rest->nouts);
    for (int i = first; ins && i < split->rest->nins; i++)
        ins[i] = true;
    for (int i = 0; outs && i < split->rest->nouts; i++)
        outs[i] = true;
    s->program = making.to;
    s->depth = 0;
    s->memos = JX_NEW_ARRAY(making.to->ctx->arena,
                            making.build.jaxprs.count + 1, jx_memo *);
    if (!s->memos)
        return false;
    return ins && outs && walk_linear(s, split->rest, ins, outs);
}
