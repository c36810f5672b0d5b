/* stablehlo_partitioned.c - calls that each device makes with its parts of the operands:
 * read as the manual computation that makes them. */
#include "frontend/read/meshes.h"
#include "frontend/read/sharding_cut.h"
#include "frontend/read/sharding_flow.h"
#include "frontend/read/stablehlo_parts.h"

/* ---- how operands lie */

/* What is known last counts: of a loop more each time. */
static bool see(void *data, const jx_mlir_op *op,
                const jx_mlir_attr *const *ins)
{
    jx_map *cuts = data;
    const jx_mlir_attr **to =
        (const jx_mlir_attr **)(uintptr_t)jx_map_get(cuts, op);

    if (!to) {
        to = JX_NEW_ARRAY(cuts->arena, op->nins + 1, const jx_mlir_attr *);
        if (!to || !jx_map_put(cuts, op, to))
            return false;
    }
    for (int i = 0; i < op->nins; i++)
        to[i] = ins[i];
    return true;
}

/* How the operands of a call lie, or NULL: it was not met. */
static const jx_mlir_attr *const *find_call(jx_hlo_body *b,
                                            const jx_mlir_op *op)
{
    jx_hlo_reader *s = b->s;

    if (!s->cuts && s->entry) {
        s->cuts = JX_NEW(s->ctx->arena, jx_map);
        if (!s->cuts)
            return NULL;
        jx_map_init(s->cuts, s->ctx->arena);
        if (!jx_sharding_flow(s->ctx, s->module, s->entry, 0, see, s->cuts))
            return NULL;
    }
    return s->cuts ? jx_map_get(s->cuts, op) : NULL;
}

static const jx_mlir_attr *axes_of(const jx_hlo_reader *s,
                                   const jx_mlir_attr *mesh)
{
    const jx_mlir_attr *found = jx_mesh_of_ref(s->module, mesh);
    const jx_mlir_attr *axes = found ? jx_mlir_field(found, "axes") : NULL;

    return axes && axes->kind == JX_A_ARRAY ? axes : NULL;
}

/* The mesh that operands are cut by, else the module's first. */
static const jx_mlir_attr *mesh_of(const jx_hlo_reader *s,
                                   const jx_mlir_op *call,
                                   const jx_mlir_attr *const *shardings)
{
    const jx_mlir_block *body = jx_mlir_body(s->module, 0);

    for (int i = 0; i < call->nins; i++)
        if (shardings[i])
            return jx_mlir_field(shardings[i], "mesh_or_ref");
    for (int i = 0; body && i < body->nops; i++)
        if (body->ops[i]->id == JX_OP_sdy_mesh) {
            const jx_mlir_attr *mesh = jx_mlir_get(body->ops[i], "mesh");
            const jx_mlir_attr *axes = mesh ? axes_of(s, mesh) : NULL;
            if (axes && axes->count)
                return mesh;
        }
    return NULL;
}

/* ---- the computation */

static const jx_mlir_attr *array_of(jx_hlo_reader *s, int count,
                                    const jx_mlir_attr **items)
{
    jx_mlir_attr *made = JX_NEW(s->ctx->arena, jx_mlir_attr);

    if (made)
        *made =
            (jx_mlir_attr){.kind = JX_A_ARRAY, .count = count, .items = items};
    return made;
}

/* The type of a part; what lies on another mesh is taken whole. */
static const jx_mlir_type *part_type(jx_hlo_reader *s, const jx_mlir_type *type,
                                     const jx_mlir_attr *mesh,
                                     const jx_mlir_attr **sharding)
{
    int64_t shape[JX_HLO_RANK];

    if (type->kind != JX_T_TENSOR || type->rank < 0 || type->rank > JX_HLO_RANK)
        return NULL;
    if (!*sharding ||
        !jx_mlir_attr_same(jx_mlir_field(*sharding, "mesh_or_ref"), mesh))
        *sharding = jx_sharding_whole(s->ctx, mesh, type->rank);
    if (!*sharding)
        return NULL;
    for (int k = 0; k < type->rank; k++) {
        const jx_mlir_attr *by =
            jx_mesh_cut_by(jx_mesh_axes_of(*sharding)->items[k]);
        shape[k] = type->shape[k];
        for (int i = 0; i < by->count; i++)
            shape[k] /=
                jx_mesh_axis_size(s->ctx, s->module, mesh, by->items[i]);
    }
    return jx_mlir_tensor(s->file->types, type->rank, shape, type->items[0]);
}

/* sdy.manual_computation of the call, over all axes of the mesh. */
static const jx_mlir_op *computation(jx_hlo_reader *s, const jx_mlir_op *from,
                                     const jx_mlir_attr *const *shardings,
                                     const jx_mlir_attr *mesh,
                                     const jx_mlir_attr *axes)
{
    struct made {
        jx_mlir_op manual, call, last;
        jx_mlir_region region;
        jx_mlir_block block;
        const jx_mlir_block *blocks[1];
        const jx_mlir_op *ops[2];
        jx_mlir_named attrs[3];
    } *to = JX_NEW(s->ctx->arena, struct made);
    int n = from->nins;
    jx_mlir_value *args = JX_NEW_ARRAY(s->ctx->arena, n + 1, jx_mlir_value);
    const jx_mlir_value **ins =
        JX_NEW_ARRAY(s->ctx->arena, n + 1, const jx_mlir_value *);
    const jx_mlir_attr **how =
        JX_NEW_ARRAY(s->ctx->arena, n + 1, const jx_mlir_attr *);

    if (!to || !args || !ins || !how)
        return NULL;
    for (int i = 0; i < n; i++) {
        how[i] = shardings[i];
        args[i] = (jx_mlir_value){
            .type = part_type(s, from->ins[i]->type, mesh, &how[i]),
            .block = &to->block,
            .index = i};
        if (!args[i].type)
            return NULL;
        ins[i] = &args[i];
    }
    to->attrs[0] = (jx_mlir_named){"in_shardings", array_of(s, n, how)};
    to->attrs[1] = (jx_mlir_named){"manual_axes", axes};
    to->attrs[2] = (jx_mlir_named){"out_shardings", array_of(s, 0, NULL)};
    if (!to->attrs[0].value || !to->attrs[2].value)
        return NULL;
    to->call = *from;
    to->call.ins = ins;
    to->last = (jx_mlir_op){.id = JX_OP_sdy_return,
                            .name = "sdy.return",
                            .loc = from->loc,
                            .place = from->place};
    to->ops[0] = &to->call;
    to->ops[1] = &to->last;
    to->block = (jx_mlir_block){n, 2, ins, to->ops};
    to->blocks[0] = &to->block;
    to->region = (jx_mlir_region){1, to->blocks};
    to->manual = (jx_mlir_op){.id = JX_OP_sdy_manual_computation,
                              .name = "sdy.manual_computation",
                              .nins = n,
                              .ninherent = 3,
                              .nregions = 1,
                              .ins = from->ins,
                              .inherent = to->attrs,
                              .regions = &to->region,
                              .loc = from->loc,
                              .place = from->place};
    return &to->manual;
}

bool jx_hlo_op_partitioned_call(jx_hlo_body *b, const jx_mlir_op *op,
                                const jx_hlo_row *row)
{
    const jx_mlir_attr *const *shardings =
        op->nouts || !op->nins ? NULL : find_call(b, op);
    const jx_mlir_attr *mesh = shardings ? mesh_of(b->s, op, shardings) : NULL;
    const jx_mlir_attr *axes = mesh ? axes_of(b->s, mesh) : NULL;
    const jx_mlir_op *made =
        axes && axes->count ? computation(b->s, op, shardings, mesh, axes)
                            : NULL;
    bool read;

    if (!made || !jx_hlo_are_plain(b, jx_mesh_shardings(made, "in_shardings")))
        return jx_ok(b->s->ctx) && jx_hlo_op_host_call(b, op, row);
    b->op = made;
    read = jx_hlo_op_manual_computation(b, made, row);
    b->op = op;
    return read;
}
