/* manual_call.c - see manual_call.h. */
#include "frontend/read/manual_call.h"

typedef struct made_op {
    jx_mlir_op manual, call, last;
    jx_mlir_region region;
    jx_mlir_block block;
    const jx_mlir_block *blocks[1];
    const jx_mlir_op *ops[2];
    jx_mlir_named attrs[3];
} made_op;

const jx_mlir_attr *jx_array_attr(jx_arena *arena, int count,
                                  const jx_mlir_attr *const *items)
{
    jx_mlir_attr *made = JX_NEW(arena, jx_mlir_attr);
    const jx_mlir_attr **kept =
        jx_arena_copy(arena, items, (size_t)count * sizeof *kept);

    if (!made || !kept)
        return NULL;
    *made = (jx_mlir_attr){.kind = JX_A_ARRAY, .count = count, .items = kept};
    return made;
}

/* The call and the return, with operands and results of their own. */
static bool fill_block(jx_arena *arena, made_op *to, const jx_mlir_op *call,
                       const jx_mlir_type *const *types)
{
    int n = call->nins, m = call->nouts;
    jx_mlir_value *values = JX_NEW_ARRAY(arena, n + m + 1, jx_mlir_value);
    const jx_mlir_value **at =
        JX_NEW_ARRAY(arena, n + m + 1, const jx_mlir_value *);

    if (!values || !at)
        return false;
    for (int i = 0; i < n + m; i++) {
        bool is_operand = i < n;
        values[i] = (jx_mlir_value){.type = types[i],
                                    .op = is_operand ? NULL : &to->call,
                                    .block = is_operand ? &to->block : NULL,
                                    .index = is_operand ? i : i - n};
        at[i] = &values[i];
    }
    to->call = *call;
    to->call.ins = at;
    to->call.outs = at + n;
    to->last = (jx_mlir_op){.id = JX_OP_sdy_return,
                            .name = "sdy.return",
                            .nins = m,
                            .ins = at + n,
                            .loc = call->loc,
                            .place = call->place};
    to->ops[0] = &to->call;
    to->ops[1] = &to->last;
    to->block = (jx_mlir_block){n, 2, at, to->ops};
    to->blocks[0] = &to->block;
    to->region = (jx_mlir_region){1, to->blocks};
    return true;
}

const jx_mlir_op *jx_manual_call_make(jx_arena *arena, const jx_mlir_op *call,
                                      const jx_manual_call *of)
{
    int n = call->nins, m = call->nouts;
    made_op *to = JX_NEW(arena, made_op);
    const jx_mlir_value **wholes =
        jx_arena_copy(arena, of->wholes, (size_t)(n + m) * sizeof *wholes);

    if (!to || !wholes || !fill_block(arena, to, call, of->types))
        return NULL;
    to->attrs[0] =
        (jx_mlir_named){"in_shardings", jx_array_attr(arena, n, of->shardings)};
    to->attrs[1] = (jx_mlir_named){"manual_axes", of->axes};
    to->attrs[2] = (jx_mlir_named){"out_shardings",
                                   jx_array_attr(arena, m, of->shardings + n)};
    to->manual = (jx_mlir_op){.id = JX_OP_sdy_manual_computation,
                              .name = "sdy.manual_computation",
                              .nins = n,
                              .nouts = m,
                              .ninherent = 3,
                              .nregions = 1,
                              .ins = wholes,
                              .outs = wholes + n,
                              .inherent = to->attrs,
                              .regions = &to->region,
                              .loc = call->loc,
                              .place = call->place};
    return to->attrs[0].value && to->attrs[2].value ? &to->manual : NULL;
}
