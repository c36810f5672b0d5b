/* stablehlo_effects.c - which ops are there for what they do, not only for what
 * they give: such an op is read even where its results are known. */
#include "frontend/read/stablehlo_parts.h"

static bool region_acts(jx_hlo_reader *s, const jx_mlir_op *op, int depth)
{
    for (int i = 0; i < op->nregions; i++)
        for (int k = 0; k < op->regions[i].nblocks; k++) {
            const jx_mlir_block *block = op->regions[i].blocks[k];
            for (int n = 0; n < block->nops; n++)
                if (jx_hlo_acts(s, block->ops[n], depth + 1))
                    return true;
        }
    return false;
}

/* One that is not there, or calls itself, is an error elsewhere. */
static bool function_acts(jx_hlo_reader *s, const jx_mlir_attr *name, int depth)
{
    const jx_mlir_op *func =
        name && name->kind == JX_A_SYMBOL && name->text
            ? jx_mlir_find(s->ctx, &s->symbols, s->module, name->text)
            : NULL;
    const bool *found = jx_map_get(&s->doing, func);
    bool *acts;

    if (found || !func)
        return !func || *found;
    acts = JX_NEW(s->ctx->arena, bool);
    if (!acts)
        return true;
    *acts = true;
    jx_map_put(&s->doing, func, acts);
    return *acts = region_acts(s, func, depth);
}

static bool call_acts(const jx_mlir_op *op)
{
    const jx_mlir_attr *effect = jx_mlir_get(op, "has_side_effect");

    return !op->nouts ||
           (effect && effect->kind == JX_A_BOOL && effect->boolean);
}

bool jx_hlo_acts(jx_hlo_reader *s, const jx_mlir_op *op, int depth)
{
    if (depth > JX_HLO_DEPTH)
        return true;
    if (jx_mlir_op_ends(op->id))
        return false;
    switch (op->id) {
    case JX_OP_func_call:
        return function_acts(s, jx_mlir_get(op, "callee"), depth);
    case JX_OP_stablehlo_composite:
        return function_acts(s, jx_mlir_get(op, "decomposition"), depth);
    case JX_OP_stablehlo_custom_call: return call_acts(op);
    default: return !op->nouts || !s->rows[op->id] || region_acts(s, op, depth);
    }
}
