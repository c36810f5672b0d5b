/* effects.c - see effects.h. */
#include "frontend/ir/effects.h"

#include "frontend/ir/params.h"

#include <string.h>

enum { MOST_EFFECTS = 8, MOST_NESTING = 8 };

typedef struct effect_list {
    int count;
    jx_effect at[MOST_EFFECTS];
} effect_list;

/* In the order of their names, each once. */
static void add_effect(effect_list *to, const char *type)
{
    int at = 0;

    while (at < to->count && strcmp(to->at[at].type, type) < 0)
        at++;
    if (at == MOST_EFFECTS ||
        (at < to->count && !strcmp(to->at[at].type, type)))
        return;
    to->count += to->count < MOST_EFFECTS;
    for (int i = to->count - 1; i > at; i--)
        to->at[i] = to->at[i - 1];
    to->at[at] = (jx_effect){.type = type, .input = -1};
}

static void add_effects(effect_list *to, jx_effects from)
{
    for (int i = 0; i < from.count; i++)
        add_effect(to, from.at[i].type);
}

/* Those of the jaxprs that a parameter holds. */
static void add_held(effect_list *to, const jx_value *value, int depth)
{
    if (value->tag == JX_V_JAXPR && value->jaxpr)
        add_effects(to, value->jaxpr->effects);
    for (int i = 0; value->items && i < value->count && depth < MOST_NESTING;
         i++)
        add_held(to, value->items[i], depth + 1);
}

/* What the equation itself does, as JAX calls it; or NULL. */
static const char *own_effect(const jx_eqn *eqn)
{
    const jx_p_custom_call *call = eqn->typed;

    switch (eqn->prim->id) {
    case JX_PRIM_shape_assertion: return "ShapeAssertionEffect";
    case JX_PRIM_stablehlo_custom_call:
        return !eqn->nouts || (call && call->has_side_effect) ? "FfiEffect"
                                                              : NULL;
    case JX_PRIM_unknown: return eqn->nouts ? NULL : "UnknownEffect";
    default: return NULL;
    }
}

static jx_effects kept_effects(jx_ctx *ctx, const effect_list *list)
{
    const jx_effect *at =
        list->count ? jx_arena_copy(ctx->arena, list->at,
                                    (size_t)list->count * sizeof *list->at)
                    : NULL;

    return (jx_effects){at ? list->count : 0, at};
}

jx_effects jx_eqn_effects(jx_ctx *ctx, const jx_eqn *eqn)
{
    const char *own = own_effect(eqn);
    effect_list list = {0};

    if (own)
        add_effect(&list, own);
    for (int i = 0; i < eqn->nparams; i++)
        add_held(&list, eqn->params[i].value, 0);
    return kept_effects(ctx, &list);
}

jx_effects jx_effects_of(jx_ctx *ctx, int count, const jx_eqn *eqns)
{
    effect_list list = {0};

    for (int i = 0; i < count; i++)
        add_effects(&list, eqns[i].effects);
    return kept_effects(ctx, &list);
}

bool jx_eqn_acts(const jx_eqn *eqn)
{
    for (int i = 0; i < eqn->effects.count; i++)
        if (strcmp(eqn->effects.at[i].type, "NamedAxisEffect") != 0)
            return true;
    return false;
}
