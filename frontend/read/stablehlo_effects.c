/* stablehlo_effects.c - which ops are there for what they do, not only for what
 * they give: such an op is read even where its results are known. */
#include "frontend/read/stablehlo_parts.h"

/* A function, and whether it does something. */
typedef struct doing {
    const jx_mlir_op *func;
    bool acts;
} doing;

static bool same_func(const void *kept, const void *key)
{
    return ((const doing *)kept)->func == key;
}

static bool region_acts(jx_shlo *s, const jx_mlir_op *op, int depth)
{
    for (int i = 0; i < op->nregions; i++)
        for (int k = 0; k < op->regions[i].nblocks; k++) {
            const jx_mlir_block *block = op->regions[i].blocks[k];
            for (int n = 0; n < block->nops; n++)
                if (jx_shlo_acts(s, block->ops[n], depth + 1))
                    return true;
        }
    return false;
}

/* One that is not there, or calls itself, is an error elsewhere. */
static bool function_acts(jx_shlo *s, const jx_mlir_attr *name, int depth)
{
    const jx_mlir_op *func = name && name->kind == JX_A_SYMBOL && name->text
                                 ? jx_mlir_find(s->ctx, &s->symbols,
                                                s->module, name->text)
                                 : NULL;
    uint64_t hash = jx_hash_mix(11, (uint64_t)(uintptr_t)func);
    const doing *found = func ? jx_intern_find(&s->doing, hash, func, same_func)
                              : NULL;
    doing *made;

    if (found || !func)
        return !func || found->acts;
    made = JX_NEW(s->ctx->arena, doing);
    if (!made)
        return true;
    *made = (doing){func, true};
    jx_intern_add(&s->doing, hash, made);
    return made->acts = region_acts(s, func, depth);
}

static bool call_acts(const jx_mlir_op *op)
{
    const jx_mlir_attr *effect = jx_mlir_get(op, "has_side_effect");

    return !op->nouts || (effect && effect->kind == JX_A_BOOL &&
                          effect->boolean);
}

bool jx_shlo_acts(jx_shlo *s, const jx_mlir_op *op, int depth)
{
    if (depth > JX_SHLO_DEPTH)
        return true;
    if (jx_mlir_op_ends(op->id))
        return false;
    switch (op->id) {
    case JX_OP_func_call:
        return function_acts(s, jx_mlir_get(op, "callee"), depth);
    case JX_OP_stablehlo_composite:
        return function_acts(s, jx_mlir_get(op, "decomposition"), depth);
    case JX_OP_stablehlo_custom_call: return call_acts(op);
    default:
        return !op->nouts || !s->rows[op->id] || region_acts(s, op, depth);
    }
}

/* ---- effects of equations: what nobody may leave out, or take for equal */

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
    case JX_PRIM_shape_assertion:
        return "ShapeAssertionEffect";
    case JX_PRIM_stablehlo_custom_call:
        return !eqn->nouts || (call && call->has_side_effect) ? "FfiEffect"
                                                              : NULL;
    case JX_PRIM_unknown:
        return eqn->nouts ? NULL : "UnknownEffect";
    default:
        return NULL;
    }
}

static jx_effects kept(jx_shlo *s, const effect_list *list)
{
    const jx_effect *at =
        list->count ? jx_arena_copy(s->ctx->arena, list->at,
                                    (size_t)list->count * sizeof *list->at)
                    : NULL;

    return (jx_effects){at ? list->count : 0, at};
}

jx_effects jx_shlo_effects(jx_shlo *s, const jx_eqn *eqn)
{
    const char *own = own_effect(eqn);
    effect_list list = {0};

    if (own)
        add_effect(&list, own);
    for (int i = 0; i < eqn->nparams; i++)
        add_held(&list, eqn->params[i].value, 0);
    return kept(s, &list);
}

jx_effects jx_shlo_effects_of(jx_shlo *s, int count, const jx_eqn *eqns)
{
    effect_list list = {0};

    for (int i = 0; i < count; i++)
        add_effects(&list, eqns[i].effects);
    return kept(s, &list);
}
