/* sharding_cut.c - see sharding_cut.h. */
#include "frontend/read/sharding_cut.h"

#include "frontend/read/meshes.h"

jx_cut *jx_cut_new(jx_cuts *in, const jx_mlir_type *type)
{
    int rank = type->kind == JX_T_TENSOR ? type->rank : 0;
    jx_cut *cut = JX_NEW(in->arena, jx_cut);
    jx_cut_axis *axes = JX_NEW_ARRAY(in->arena, rank + 1, jx_cut_axis);

    in->starved |= !cut || !axes;
    if (!cut || !axes)
        return NULL;
    *cut = (jx_cut){NULL, rank, axes};
    return cut;
}

/* It cuts an axis of the array already. */
static bool is_used(jx_cuts *in, const jx_cut *cut, int but,
                    const jx_mlir_attr *by)
{
    for (int k = 0; k < cut->rank; k++)
        for (int i = 0; k != but && i < cut->axes[k].count; i++)
            if (jx_mesh_is_one_axis(in->ctx, cut->axes[k].by[i], by))
                return true;
    return false;
}

/* How many of the first of these axes fit. */
static int fitting(jx_cuts *in, const jx_cut *to, int axis, int64_t size,
                   const jx_mlir_attr *mesh, jx_cut_axis from)
{
    int n = 0;

    for (; n < from.count; n++) {
        int64_t parts =
            jx_mesh_axis_size(in->ctx, in->module, mesh, from.by[n]);
        if (parts < 1 || size % parts || is_used(in, to, axis, from.by[n]))
            break;
        size /= parts;
    }
    return n;
}

static int in_common(jx_cut_axis a, jx_cut_axis b)
{
    int n = 0;

    while (n < a.count && n < b.count && jx_mlir_attr_same(a.by[n], b.by[n]))
        n++;
    return n;
}

void jx_cut_join(jx_cuts *in, jx_cut *to, const jx_mlir_type *type, int axis,
                 const jx_mlir_attr *mesh, jx_cut_axis from)
{
    jx_cut_axis *now = &to->axes[axis];
    int common;

    if (!from.count || !mesh || axis < 0 || axis >= to->rank ||
        type->shape[axis] < 1 ||
        (to->mesh && to->mesh != mesh && !jx_mlir_attr_same(to->mesh, mesh)))
        return;
    from.count = fitting(in, to, axis, type->shape[axis], mesh, from);
    if (!from.count)
        return;
    common = in_common(*now, from);
    if (common == now->count)
        *now = from;
    else if (common < from.count)
        now->count = common;
    to->mesh = mesh;
}

const jx_cut *jx_cut_said(jx_cuts *in, const jx_mlir_type *type,
                          const jx_mlir_attr *said, const jx_cut *before)
{
    const jx_mlir_attr *dims = said ? jx_mesh_axes_of(said) : NULL;
    const jx_mlir_attr *mesh = said && said->kind == JX_A_RECORD
                                   ? jx_mlir_field(said, "mesh_or_ref")
                                   : NULL;
    jx_cut *cut = dims && mesh ? jx_cut_new(in, type) : NULL;

    if (!cut || dims->count != cut->rank)
        return said ? NULL : before;
    for (int k = 0; k < cut->rank; k++) {
        const jx_mlir_attr *by = jx_mesh_cut_by(dims->items[k]);
        if (by)
            jx_cut_join(in, cut, type, k, mesh,
                        (jx_cut_axis){by->count, by->items});
    }
    for (int k = 0; before && k < cut->rank && k < before->rank; k++)
        if (!cut->axes[k].count && jx_mesh_is_open(dims->items[k]))
            jx_cut_join(in, cut, type, k, before->mesh, before->axes[k]);
    return cut;
}

const jx_cut *jx_cut_joined(jx_cuts *in, const jx_mlir_type *type,
                            const jx_cut *a, const jx_cut *b)
{
    jx_cut *cut = a && b ? jx_cut_new(in, type) : NULL;

    if (!cut)
        return a ? a : b;
    for (int k = 0; k < cut->rank && k < a->rank; k++)
        jx_cut_join(in, cut, type, k, a->mesh, a->axes[k]);
    for (int k = 0; k < cut->rank && k < b->rank; k++)
        if (!cut->axes[k].count)
            jx_cut_join(in, cut, type, k, b->mesh, b->axes[k]);
    return cut;
}

const jx_mlir_attr *jx_cut_sharding(jx_ctx *ctx, const jx_cut *cut)
{
    static const char *const names[] = {"mesh_or_ref", "dim_shardings"};
    static const char *const inner[] = {"axes"};
    jx_arena *arena = ctx->arena;
    jx_mlir_attr *attrs = JX_NEW_ARRAY(arena, 2 * cut->rank + 2, jx_mlir_attr);
    const jx_mlir_attr **items =
        JX_NEW_ARRAY(arena, 2 * cut->rank + 2, const jx_mlir_attr *);
    const jx_mlir_attr **fields = items ? items + 2 * cut->rank : NULL;

    if (!attrs || !items)
        return NULL;
    for (int k = 0; k < cut->rank; k++) {
        int n = cut->axes[k].count;
        jx_mlir_attr *list = &attrs[cut->rank + k];
        const jx_mlir_attr **by =
            JX_NEW_ARRAY(arena, n + 1, const jx_mlir_attr *);
        if (!by)
            return NULL;
        for (int i = 0; i < n; i++)
            by[i] = cut->axes[k].by[i];
        *list = (jx_mlir_attr){.kind = JX_A_ARRAY, .count = n, .items = by};
        items[cut->rank + k] = list;
        attrs[k] = (jx_mlir_attr){.kind = JX_A_RECORD,
                                  .name = "sdy.dimension_sharding",
                                  .count = 1,
                                  .names = inner,
                                  .items = &items[cut->rank + k]};
        items[k] = &attrs[k];
    }
    attrs[2 * cut->rank] =
        (jx_mlir_attr){.kind = JX_A_ARRAY, .count = cut->rank, .items = items};
    fields[0] = cut->mesh;
    fields[1] = &attrs[2 * cut->rank];
    attrs[2 * cut->rank + 1] = (jx_mlir_attr){.kind = JX_A_RECORD,
                                              .name = "sdy.sharding",
                                              .count = 2,
                                              .names = names,
                                              .items = fields};
    return &attrs[2 * cut->rank + 1];
}

const jx_mlir_attr *jx_sharding_whole(jx_ctx *ctx, const jx_mlir_attr *mesh,
                                      int rank)
{
    jx_cut_axis *axes = JX_NEW_ARRAY(ctx->arena, rank + 1, jx_cut_axis);

    return axes ? jx_cut_sharding(ctx, &(jx_cut){mesh, rank, axes}) : NULL;
}
