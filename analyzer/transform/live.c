/* live.c - see live.h. */
#include "analyzer/transform/live.h"

#include "frontend/ir/definition.h"
#include "frontend/ir/effects.h"
#include "frontend/ir/params.h"

typedef struct walk {
    jx_live *to;
    jx_arena *arena;
} walk;

static void walk_jaxpr(walk *w, const jx_jaxpr *jaxpr, const bool *outs);

/* What is within: all of it, or nothing. */
static void walk_value(walk *w, const jx_value *value, bool live)
{
    bool *outs;

    for (int i = 0; value->items && i < value->count; i++)
        walk_value(w, value->items[i], live);
    if (value->tag != JX_V_JAXPR || !value->jaxpr)
        return;
    outs = JX_NEW_ARRAY(w->arena, value->jaxpr->nouts + 1, bool);
    for (int i = 0; outs && i < value->jaxpr->nouts; i++)
        outs[i] = live;
    if (outs)
        walk_jaxpr(w, value->jaxpr, outs);
}

/* Whether each derivative of the function that a call is of raises. */
static bool rule_refuses(const jx_rule *rule)
{
    bool all = rule->npatterns > 0;

    for (int i = 0; all && i < rule->npatterns; i++)
        all = rule->patterns[i].error != NULL;
    return all;
}

/* Whether nobody can go back through what an author defined: each
 * transpose raises. */
static bool definition_refuses(const jx_definition *of)
{
    bool all = of->npatterns[JX_DEFINED_TRANSPOSE] > 0;

    for (int i = 0; all && i < of->npatterns[JX_DEFINED_TRANSPOSE]; i++)
        all = of->patterns[JX_DEFINED_TRANSPOSE][i].error != NULL;
    return all;
}

static bool refuses(const jx_eqn *eqn)
{
    const jx_definition *definition = jx_eqn_definition(eqn);

    for (int i = 0; i < eqn->nparams; i++)
        if (eqn->params[i].value->tag == JX_V_RULE)
            return rule_refuses(eqn->params[i].value->rule);
    return definition && definition_refuses(definition);
}

/* Whether a result of an equation, which is needed, asks for its operands. */
static bool asks(const walk *w, const jx_eqn *eqn, const jx_var *out)
{
    return !w->to->derivatives ||
           (jx_dtype_is_inexact(out->aval->dtype) &&
            eqn->prim->id != JX_PRIM_stop_gradient && !refuses(eqn));
}

static void walk_eqn(walk *w, const jx_eqn *eqn, bool *needed)
{
    const jx_closed *callee = jx_eqn_callee(eqn);
    bool *outs = JX_NEW_ARRAY(w->arena, eqn->nouts + 1, bool),
         live = jx_eqn_acts(eqn);

    for (int i = 0; outs && i < eqn->nouts; i++)
        live |= outs[i] =
            needed[eqn->outs[i]->id] && asks(w, eqn, eqn->outs[i]);
    jx_map_add(&w->to->met, eqn);
    if (live || !outs)
        jx_map_add(&w->to->needed, eqn);
    for (int i = 0; live && i < eqn->nins; i++)
        if (eqn->ins[i].var)
            needed[eqn->ins[i].var->id] = true;
    if (outs && callee && callee->jaxpr->nouts == eqn->nouts &&
        !jx_eqn_acts(eqn)) {
        walk_jaxpr(w, callee->jaxpr, outs);
        return;
    }
    for (int i = 0; i < eqn->nparams; i++)
        walk_value(w, eqn->params[i].value, live || !outs);
}

/* Again where more is wanted than before. */
static void walk_jaxpr(walk *w, const jx_jaxpr *jaxpr, const bool *outs)
{
    bool *wanted = (bool *)(uintptr_t)jx_map_get(&w->to->wanted, jaxpr),
         more = !wanted;
    bool *needed = JX_NEW_ARRAY(w->arena, jaxpr->nvars + 1, bool);

    if (!wanted) {
        wanted = JX_NEW_ARRAY(w->arena, jaxpr->nouts + 1, bool);
        if (!wanted || !jx_map_put(&w->to->wanted, jaxpr, wanted))
            return;
    }
    for (int i = 0; i < jaxpr->nouts; i++) {
        more |= outs[i] && !wanted[i];
        wanted[i] |= outs[i];
    }
    if (!more || !needed)
        return;
    for (int i = 0; i < jaxpr->nouts; i++)
        if (wanted[i] && jaxpr->outs[i].var)
            needed[jaxpr->outs[i].var->id] = true;
    for (int i = jaxpr->neqns - 1; i >= 0; i--)
        walk_eqn(w, &jaxpr->eqns[i], needed);
}

bool jx_live_add_some(jx_live *to, jx_arena *arena, const jx_jaxpr *root,
                      const bool *wanted)
{
    walk w = {to, arena};

    if (!to->met.arena) {
        jx_map_init(&to->wanted, arena);
        jx_map_init(&to->met, arena);
        jx_map_init(&to->needed, arena);
    }
    walk_jaxpr(&w, root, wanted);
    return !jx_arena_failed(arena);
}

bool jx_live_add(jx_live *to, jx_arena *arena, const jx_jaxpr *root)
{
    bool *all = JX_NEW_ARRAY(arena, root->nouts + 1, bool);

    for (int i = 0; all && i < root->nouts; i++)
        all[i] = true;
    return all && jx_live_add_some(to, arena, root, all);
}

const bool *jx_live_wanted(const jx_live *of, const jx_jaxpr *jaxpr)
{
    return jx_map_get(&of->wanted, jaxpr);
}

bool jx_live_is_dead(const jx_live *of, const jx_eqn *eqn)
{
    return jx_map_has(&of->met, eqn) && !jx_map_has(&of->needed, eqn);
}
