/* predict.c - see predict.h: the walks over the program itself. */
#include "analyzer/predict_parts.h"

#include "analyzer/transform/jvp.h"
#include "frontend/ir/effects.h"

#include <string.h>

enum { DEPTH = 400 };

struct jx_memo {
    jx_memo *next;
    const bool *ins;
    const bool *outs;
};

bool jx_prediction_named(const char *word, jx_prediction *to)
{
    static const char *const platforms[] = {"cpu", "cuda", "rocm", "tpu"};

    *to = (jx_prediction){0};
    if (!strcmp(word, "grad") || !strcmp(word, "vmap")) {
        to->kind = *word == 'g' ? JX_PREDICT_GRAD : JX_PREDICT_VMAP;
        return true;
    }
    if (strncmp(word, "lower:", 6))
        return false;
    for (size_t i = 0; i < sizeof platforms / sizeof *platforms; i++)
        if (!strcmp(word + 6, platforms[i])) {
            *to = (jx_prediction){JX_PREDICT_LOWER, platforms[i]};
            return true;
        }
    return false;
}

/* ---- claims */

static jx_arena *arena_of(const jx_predictor *s)
{
    return s->program->ctx->arena;
}

bool *jx_predict_mask(jx_predictor *s, int count)
{
    return JX_NEW_ARRAY(arena_of(s), count + 1, bool);
}

static const char *asked_as(const jx_predictor *s)
{
    if (s->asked.kind == JX_PREDICT_LOWER)
        return jx_arena_printf(arena_of(s), "lower:%s", s->asked.platform);
    return s->asked.kind == JX_PREDICT_GRAD ? "grad" : "vmap";
}

/* Equations of a program that was made of this one are known by their lines. */
static jx_claim *claim(jx_predictor *s, const char *what)
{
    jx_claim *made =
        jx_claim_add(s->program->ctx, &s->to->claims, JX_CODE_PRM002);

    if (!made)
        return NULL;
    if (s->program == s->to->program) {
        made->jaxpr = s->jaxpr;
        made->eqn = s->eqn;
        made->calls = s->calls;
    }
    made->stack = s->eqn ? s->eqn->stack : NULL;
    made->what = what;
    made->evidence.by =
        jx_arena_printf(arena_of(s), "the rules of JAX %s", s->release.version);
    return made;
}

void jx_predict_missing(jx_predictor *s, const char *says)
{
    jx_claim *made;

    if (jx_map_get(&s->told, s->eqn))
        return;
    jx_map_put(&s->told, s->eqn, s->eqn);
    s->found++;
    made = claim(s, jx_arena_printf(arena_of(s), "%s: %s", asked_as(s), says));
    if (!made)
        return;
    made->goal.kind = JX_GOAL_FALSE;
    made->verdict = JX_REFUTED;
    made->help =
        jx_eqn_definition(s->eqn)
            ? "register that rule of the primitive (jaxvet explain PRM002)"
            : NULL;
}

void jx_predict_unsure(jx_predictor *s, const char *key, const char *why)
{
    jx_claim *made;

    if (key && jx_map_get(&s->told, key))
        return;
    if (key)
        jx_map_put(&s->told, key, key);
    made =
        claim(s, jx_arena_printf(arena_of(s), "%s: %s", asked_as(s),
                                 s->eqn ? jx_eqn_name(s->eqn) : "the program"));
    if (made)
        made->evidence.why = why;
}

/* ---- rules */

bool jx_predict_defined(jx_predictor *s, jx_definition_kind kind,
                        const char *mask, const char *zeros,
                        const jx_definition_pattern **found)
{
    static const char *const names[] = {"differentiation", "transpose",
                                        "batching"};
    const jx_definition *of = jx_eqn_definition(s->eqn);

    *found = NULL;
    if (of->missing[kind]) {
        jx_predict_missing(
            s, jx_missing_rule(s->program->ctx, kind, of->name, NULL));
        return true;
    }
    if (of->nins == s->eqn->nins && of->nouts == s->eqn->nouts)
        *found = jx_definition_find(of, kind, mask, zeros);
    if (*found && (*found)->error)
        jx_predict_missing(s,
                           jx_arena_printf(arena_of(s), "its %s rule raises %s",
                                           names[kind], (*found)->error));
    else if (!*found)
        jx_predict_unsure(s, of->name,
                          "its rule is not in the document for these operands");
    return !*found || (*found)->error;
}

const jx_jax_rules *jx_predict_jax(jx_predictor *s)
{
    const char *name = jx_eqn_name(s->eqn);
    const jx_jax_rules *rules = jx_jax_rules_of(&s->release, name);

    if (!rules)
        jx_predict_unsure(s, name,
                          jx_arena_printf(arena_of(s),
                                          "JAX %s has no primitive of "
                                          "that name",
                                          s->release.version));
    return rules;
}

/* ---- nested jaxprs */

static jx_memo *met(jx_predictor *s, const jx_jaxpr *jaxpr, const bool *ins)
{
    for (jx_memo *m = s->memos[jaxpr->id]; m; m = m->next)
        if (!memcmp(m->ins, ins, (size_t)jaxpr->nins * sizeof *ins))
            return m;
    return NULL;
}

const bool *jx_predict_within(jx_predictor *s, const jx_jaxpr *jaxpr,
                              const bool *ins, jx_met *walk)
{
    const jx_predictor outer = *s;
    jx_calls *calls = JX_NEW(arena_of(s), jx_calls);
    jx_memo *m = met(s, jaxpr, ins);
    bool *kept, *outs;

    if (m)
        return m->outs;
    m = JX_NEW(arena_of(s), jx_memo);
    kept = jx_predict_mask(s, jaxpr->nins);
    outs = jx_predict_mask(s, jaxpr->nouts);
    if (!m || !kept || !outs || !calls || s->depth >= DEPTH ||
        !jx_ctx_lasts(s->program->ctx))
        return NULL;
    memcpy(kept, ins, (size_t)jaxpr->nins * sizeof *ins);
    *m = (jx_memo){s->memos[jaxpr->id], kept, outs};
    s->memos[jaxpr->id] = m;
    *calls = (jx_calls){s->calls, s->jaxpr, s->eqn};
    s->calls = s->eqn ? calls : NULL;
    s->jaxpr = jaxpr;
    s->depth++;
    if (!walk(s, jaxpr, ins, outs))
        return NULL;
    s->calls = outer.calls;
    s->jaxpr = outer.jaxpr;
    s->eqn = outer.eqn;
    s->depth = outer.depth;
    return outs;
}

bool jx_predict_loop(jx_predictor *s, const jx_jaxpr *body, bool *ins,
                     int first, int count, bool *outs, jx_met *walk)
{
    for (bool more = true; more;) {
        const bool *made = jx_predict_within(s, body, ins, walk);
        more = false;
        if (!made)
            return false;
        for (int i = 0; i < count; i++) {
            more |= made[i] && !ins[first + i];
            ins[first + i] |= made[i];
        }
        for (int i = 0; i < body->nouts; i++)
            outs[i] |= made[i];
    }
    return true;
}

bool *jx_predict_flow(jx_predictor *s, const jx_jaxpr *jaxpr, const bool *ins,
                      jx_flow_step *step)
{
    bool *has = jx_predict_mask(s, jaxpr->nvars);

    for (int i = 0; has && i < jaxpr->nins; i++)
        has[jaxpr->nconsts + i] = ins[i];
    for (int i = 0; has && i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        bool *mask = jx_predict_mask(s, eqn->nins + eqn->nouts + 1);
        bool *outs = mask ? mask + eqn->nins + 1 : NULL;
        for (int k = 0; mask && k < eqn->nins; k++)
            mask[k] = eqn->ins[k].var && has[eqn->ins[k].var->id];
        s->eqn = eqn;
        if (!mask || !step(s, mask, outs))
            return NULL;
        for (int k = 0; k < eqn->nouts; k++)
            has[eqn->outs[k]->id] = outs[k];
    }
    return has;
}

bool jx_predict_flow_outs(jx_predictor *s, const jx_jaxpr *jaxpr,
                          const bool *ins, jx_flow_step *step, bool *outs)
{
    const bool *has = jx_predict_flow(s, jaxpr, ins, step);

    for (int i = 0; has && i < jaxpr->nouts; i++)
        outs[i] = jaxpr->outs[i].var && has[jaxpr->outs[i].var->id];
    return has != NULL;
}

/* ---- grad and vmap: what depends on the inputs */

static bool walk_values(jx_predictor *s, const jx_jaxpr *jaxpr, const bool *ins,
                        bool *outs);

static const bool *within(jx_predictor *s, const jx_jaxpr *jaxpr,
                          const bool *ins)
{
    return jx_predict_within(s, jaxpr, ins, walk_values);
}

static bool any_of(const bool *mask, int count)
{
    bool any = false;

    for (int i = 0; i < count; i++)
        any |= mask[i];
    return any;
}

static bool take(const bool *from, int count, bool *outs)
{
    for (int i = 0; from && i < count; i++)
        outs[i] |= from[i];
    return from != NULL;
}

static bool take_while(jx_predictor *s, bool *ins, bool *outs)
{
    const jx_p_while *w = s->eqn->typed;
    int nc = (int)w->cond_nconsts, nb = (int)w->body_nconsts, n = s->eqn->nouts;
    bool *cond = jx_predict_mask(s, w->cond_jaxpr.jaxpr->nins);

    if (!cond || !jx_predict_loop(s, w->body_jaxpr.jaxpr, ins + nc, nb, n, outs,
                                  walk_values))
        return false;
    if (s->asked.kind == JX_PREDICT_GRAD)
        return true;
    for (int i = 0; i < nc; i++)
        cond[i] = ins[i];
    for (int i = 0; i < n; i++)
        cond[nc + i] = ins[nc + nb + i];
    const bool *made = within(s, w->cond_jaxpr.jaxpr, cond);
    if (!made || !made[0])
        return made != NULL;
    for (int i = 0; i < n; i++) /* each goes on for as long as it has to */
        ins[nc + nb + i] = true;
    return jx_predict_loop(s, w->body_jaxpr.jaxpr, ins + nc, nb, n, outs,
                           walk_values);
}

static bool take_cond(jx_predictor *s, bool *ins, bool *outs)
{
    const jx_closed_list branches =
        ((const jx_p_cond *)s->eqn->typed)->branches;
    bool all = s->asked.kind == JX_PREDICT_VMAP && ins[0];

    for (int i = 1; all && i < s->eqn->nins; i++)
        ins[i] = true; /* it becomes a choice among what all branches give */
    for (int i = 0; i < branches.count; i++)
        if (!take(within(s, branches.at[i].jaxpr, ins + 1), s->eqn->nouts,
                  outs))
            return false;
    for (int i = 0; all && i < s->eqn->nouts; i++)
        outs[i] = true;
    return true;
}

static char *text_of(jx_predictor *s, const bool *mask, int count, char yes,
                     char no)
{
    char *text = jx_arena_alloc(arena_of(s), (size_t)count + 1);

    for (int i = 0; text && i < count; i++)
        text[i] = mask[i] ? yes : no;
    if (text)
        text[count] = '\0';
    return text;
}

static bool take_defined(jx_predictor *s, const bool *ins, bool *outs)
{
    bool grad = s->asked.kind == JX_PREDICT_GRAD;
    const jx_definition_pattern *p;
    const char *mask =
        text_of(s, ins, s->eqn->nins, grad ? '0' : '1', grad ? '1' : '0');
    bool missing =
        !mask || jx_predict_defined(s, grad ? JX_DEFINED_JVP : JX_DEFINED_BATCH,
                                    mask, NULL, &p);

    for (int i = 0; i < s->eqn->nouts; i++)
        outs[i] = missing || (grad ? !p->gives || p->gives[i] != '1'
                                   : !p->axes || p->axes[i] >= 0);
    return mask != NULL;
}

/* One that JAX has rules for, or none. */
static bool take_plain(jx_predictor *s, bool *outs)
{
    const jx_jax_rules *rules = jx_predict_jax(s);
    bool grad = s->asked.kind == JX_PREDICT_GRAD,
         zero = rules && jx_jax_has(rules, 'z');
    const char *name = jx_eqn_name(s->eqn);

    if (rules && grad && jx_jax_has(rules, 'x'))
        jx_predict_missing(s, *rules->refusal ? rules->refusal
                                              : jx_missing_rule(s->program->ctx,
                                                                JX_DEFINED_JVP,
                                                                name, NULL));
    else if (rules && (grad ? !jx_jax_has(rules, 'j') && !zero
                            : !jx_jax_has(rules, 'b')))
        jx_predict_missing(
            s, jx_missing_rule(s->program->ctx,
                               grad ? JX_DEFINED_JVP : JX_DEFINED_BATCH, name,
                               NULL));
    for (int i = 0; i < s->eqn->nouts; i++)
        outs[i] = !(grad && zero);
    return true;
}

/* Whether a rule that somebody wrote, or none of its parts, is asked. */
static bool has_own_rule(const jx_predictor *s)
{
    const jx_p_hi_call *hi = jx_prim_is_hi(s->eqn->prim) ? s->eqn->typed : NULL;

    switch (s->eqn->prim->id) {
    case JX_PRIM_custom_vmap_call:
    case JX_PRIM_custom_linear_solve:
    case JX_PRIM_custom_lin: return true;
    case JX_PRIM_custom_jvp_call:
    case JX_PRIM_custom_vjp_call: return s->asked.kind == JX_PREDICT_GRAD;
    default:
        return hi && s->asked.kind == JX_PREDICT_GRAD && (hi->jvp || hi->vjp);
    }
}

static bool take_eqn(jx_predictor *s, bool *ins, bool *outs)
{
    const jx_eqn *eqn = s->eqn;
    const jx_closed *callee = jx_eqn_callee(eqn);
    const jx_p_scan *scan = eqn->typed;

    if (!any_of(ins, eqn->nins))
        return true;
    if (!jx_typed_accepts(&s->to->typed, s->jaxpr,
                          eqn)) { /* which is told elsewhere */
        for (int i = 0; i < eqn->nouts; i++)
            outs[i] = true;
        return true;
    }
    if (jx_eqn_definition(eqn))
        return take_defined(s, ins, outs);
    if (has_own_rule(s)) {
        for (int i = 0; i < eqn->nouts; i++)
            outs[i] = true;
        return true;
    }
    if (callee && eqn->prim->id != JX_PRIM_composite)
        return take(within(s, callee->jaxpr, ins), eqn->nouts, outs);
    switch (eqn->prim->id) {
    case JX_PRIM_cond: return take_cond(s, ins, outs);
    case JX_PRIM_while: return take_while(s, ins, outs);
    case JX_PRIM_scan:
        return jx_predict_loop(s, scan->jaxpr.jaxpr, ins, (int)scan->num_consts,
                               (int)scan->num_carry, outs, walk_values);
    default: return take_plain(s, outs);
    }
}

static bool flow(jx_predictor *s, bool *ins, bool *outs)
{
    const jx_eqn *eqn = s->eqn;

    if (!take_eqn(s, ins, outs))
        return false;
    for (int k = 0; k < eqn->nouts; k++)
        outs[k] &= s->asked.kind == JX_PREDICT_VMAP ||
                   jx_has_tangent(eqn->outs[k]->aval);
    s->to->settled++;
    return true;
}

static bool walk_values(jx_predictor *s, const jx_jaxpr *jaxpr, const bool *ins,
                        bool *outs)
{
    return jx_predict_flow_outs(s, jaxpr, ins, flow, outs);
}

/* ---- lowering: all that is run */

static bool walk_code(jx_predictor *s, const jx_jaxpr *jaxpr, const bool *ins,
                      bool *outs);

static bool lower_within(jx_predictor *s, const jx_jaxpr *jaxpr)
{
    const bool *ins = jaxpr ? jx_predict_mask(s, jaxpr->nins) : NULL;

    return !jaxpr || (ins && jx_predict_within(s, jaxpr, ins, walk_code));
}

/* A branch that is there for other platforms is not lowered. */
static bool is_for(const jx_predictor *s, int branch)
{
    const jx_value *all = jx_eqn_param(s->eqn, "branches_platforms"), *own;

    if (!all || all->tag != JX_V_TUPLE || branch >= all->count)
        return true;
    own = all->items[branch];
    if (own->tag != JX_V_TUPLE) { /* the others' */
        for (int i = 0; i < all->count; i++)
            for (int k = 0;
                 all->items[i]->tag == JX_V_TUPLE && k < all->items[i]->count;
                 k++)
                if (!strcmp(all->items[i]->items[k]->text, s->asked.platform))
                    return false;
        return true;
    }
    for (int k = 0; k < own->count; k++)
        if (own->items[k]->tag == JX_V_TEXT &&
            !strcmp(own->items[k]->text, s->asked.platform))
            return true;
    return false;
}

static bool lower_eqn(jx_predictor *s)
{
    const jx_definition *defined = jx_eqn_definition(s->eqn);
    const jx_closed *callee = jx_eqn_callee(s->eqn);
    const jx_jax_rules *rules;

    if (defined) {
        if (!jx_definition_lowers(defined, s->asked.platform))
            jx_predict_missing(
                s, jx_missing_rule(s->program->ctx, JX_DEFINED_LOWERING,
                                   defined->name, s->asked.platform));
        return true;
    }
    if (s->eqn->prim->id == JX_PRIM_cond) {
        const jx_closed_list branches =
            ((const jx_p_cond *)s->eqn->typed)->branches;
        for (int i = 0; i < branches.count; i++)
            if (is_for(s, i) && !lower_within(s, branches.at[i].jaxpr))
                return false;
    } else if (s->eqn->prim->id == JX_PRIM_while) {
        const jx_p_while *w = s->eqn->typed;
        if (!lower_within(s, w->cond_jaxpr.jaxpr) ||
            !lower_within(s, w->body_jaxpr.jaxpr))
            return false;
    } else if (s->eqn->prim->id == JX_PRIM_scan) {
        if (!lower_within(s, ((const jx_p_scan *)s->eqn->typed)->jaxpr.jaxpr))
            return false;
    } else if (s->eqn->prim->id == JX_PRIM_custom_linear_solve) {
        const jx_p_custom_linear_solve *p = s->eqn->typed;
        if (!lower_within(s, p->jaxprs.part[JX_SOLVE].jaxpr))
            return false;
    } else if (callee) {
        return lower_within(s, callee->jaxpr);
    }
    rules = jx_predict_jax(s);
    if (rules && !jx_jax_lowers(rules, s->asked.platform))
        jx_predict_missing(
            s, jx_missing_rule(s->program->ctx, JX_DEFINED_LOWERING,
                               jx_eqn_name(s->eqn), s->asked.platform));
    return true;
}

/* What no result needs is gone before JAX lowers it, unless it acts. */
static bool *needed_of(jx_predictor *s, const jx_jaxpr *jaxpr)
{
    bool *needed = jx_predict_mask(s, jaxpr->nvars);

    for (int i = 0; needed && i < jaxpr->nouts; i++)
        if (jaxpr->outs[i].var)
            needed[jaxpr->outs[i].var->id] = true;
    for (int i = jaxpr->neqns - 1; needed && i >= 0; i--) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        bool any = jx_eqn_acts(eqn);
        for (int k = 0; k < eqn->nouts; k++)
            any |= needed[eqn->outs[k]->id];
        for (int k = 0; any && k < eqn->nins; k++)
            if (eqn->ins[k].var)
                needed[eqn->ins[k].var->id] = true;
    }
    return needed;
}

static bool walk_code(jx_predictor *s, const jx_jaxpr *jaxpr, const bool *ins,
                      bool *outs)
{
    const bool *needed = needed_of(s, jaxpr);

    (void)ins;
    (void)outs;
    for (int i = 0; needed && i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        bool any = jx_eqn_acts(eqn);
        for (int k = 0; k < eqn->nouts; k++)
            any |= needed[eqn->outs[k]->id];
        s->eqn = eqn;
        any = any && jx_typed_accepts(&s->to->typed, jaxpr, eqn);
        if (any && !lower_eqn(s))
            return false;
        s->to->settled += any;
    }
    return needed != NULL;
}

/* ---- all of it */

bool jx_predict(jx_analysis *to, jx_prediction asked)
{
    jx_predictor s = {.to = to,
                      .program = to->program,
                      .asked = asked,
                      .release = jx_jax_release_of(to->program->jax_version)};
    const jx_jaxpr *entry = to->program->entry.jaxpr;
    bool *ins = jx_predict_mask(&s, entry->nins);

    jx_map_init(&s.told, arena_of(&s));
    s.memos = JX_NEW_ARRAY(arena_of(&s), to->program->njaxprs + 1, jx_memo *);
    if (!ins || !s.memos)
        return false;
    for (int i = 0; i < entry->nins; i++)
        ins[i] = asked.kind == JX_PREDICT_VMAP ||
                 jx_has_tangent(entry->vars[entry->nconsts + i]->aval);
    if (!jx_predict_within(&s, entry, ins,
                           asked.kind == JX_PREDICT_LOWER ? walk_code
                                                          : walk_values))
        return jx_ok(to->program->ctx) && s.depth >= DEPTH;
    if (asked.kind == JX_PREDICT_GRAD && !s.found && any_of(ins, entry->nins))
        return jx_predict_transposes(&s);
    return jx_ok(to->program->ctx);
}
