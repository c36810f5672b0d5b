/* stablehlo_partitioned.c - calls that each device makes with its parts of the
 * operands: read as the manual computation that makes them. */
#include "frontend/base/assert.h"
#include "frontend/read/manual_call.h"
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
    int n = from->nins;
    const jx_mlir_type **types =
        JX_NEW_ARRAY(s->ctx->arena, n + 1, const jx_mlir_type *);
    const jx_mlir_attr **how =
        JX_NEW_ARRAY(s->ctx->arena, n + 1, const jx_mlir_attr *);

    if (!types || !how)
        return NULL;
    for (int i = 0; i < n; i++) {
        how[i] = shardings[i];
        types[i] = part_type(s, from->ins[i]->type, mesh, &how[i]);
        if (!types[i])
            return NULL;
    }
    JX_ASSERT(from->nouts == 0);
    return jx_manual_call_make(s->ctx->arena, from,
                               &(jx_manual_call){from->ins, types, how, axes});
}

bool jx_hlo_op_partitioned_call(jx_hlo_body *b, const jx_mlir_op *op,
                                const jx_hlo_row *row)
{
    const jx_mlir_attr *const *shardings =
        op->nouts || !op->nins ? NULL : find_call(b, op);
    const jx_mlir_attr *mesh = shardings ? mesh_of(b->s, op, shardings) : NULL;
    const jx_mlir_attr *axes = mesh ? axes_of(b->s, mesh) : NULL;
    const jx_mlir_op *made = axes && axes->count
                                 ? computation(b->s, op, shardings, mesh, axes)
                                 : NULL;
    bool read;

    if (!made || !jx_hlo_are_plain(b, jx_mesh_shardings(made, "in_shardings")))
        return jx_ok(b->s->ctx) && jx_hlo_op_host_call(b, op, row);
    b->op = made;
    read = jx_hlo_op_manual_computation(b, made, row);
    b->op = op;
    return read;
}
