/* meshes.c - see meshes.h. */
#include "frontend/read/meshes.h"

#include <string.h>

const jx_mlir_attr *jx_mesh_of_ref(const jx_mlir_op *module,
                                   const jx_mlir_attr *ref)
{
    const jx_mlir_op *op;

    if (!ref || ref->kind != JX_A_SYMBOL || !ref->text)
        return ref;
    op = jx_mlir_symbol(module, ref->text);
    return op ? jx_mlir_get(op, "mesh") : NULL;
}

/* A list, or the record around one. */
static const jx_mlir_attr *list_of(const jx_mlir_attr *attr, const char *field)
{
    if (attr && attr->kind == JX_A_RECORD)
        attr = jx_mlir_field(attr, field);
    return attr && attr->kind == JX_A_ARRAY ? attr : NULL;
}

const jx_mlir_attr *jx_mesh_shardings(const jx_mlir_op *op, const char *name)
{
    return list_of(jx_mlir_get(op, name), "shardings");
}

/* An axis is a name, or a record that has one. */
static const char *name_of(jx_ctx *ctx, const jx_mlir_attr *axis)
{
    if (axis->kind == JX_A_RECORD)
        axis = jx_mlir_field(axis, "name");
    return axis ? jx_mlir_text(ctx, axis) : NULL;
}

static const jx_mlir_attr *find(jx_ctx *ctx, const jx_mlir_attr *axes,
                                const char *name)
{
    for (int i = 0; axes && i < axes->count; i++) {
        const char *other = name_of(ctx, axes->items[i]);
        if (other && strcmp(other, name) == 0)
            return axes->items[i];
    }
    return NULL;
}

static int64_t size_of(const jx_mlir_attr *axis)
{
    const jx_mlir_attr *size = axis && axis->kind == JX_A_RECORD
                                   ? jx_mlir_field(axis, "size")
                                   : NULL;

    return size && size->kind == JX_A_INTEGER && size->integer > 0
               ? size->integer
               : 0;
}

int64_t jx_mesh_parts(jx_ctx *ctx, const jx_mlir_op *module,
                      const jx_mlir_op *op, const char *shardings, int i,
                      int axis)
{
    const jx_mlir_attr *all = jx_mesh_shardings(op, shardings);
    const jx_mlir_attr *manual = list_of(jx_mlir_get(op, "manual_axes"), "value");
    const jx_mlir_attr *how = all && i < all->count ? all->items[i] : NULL;
    const jx_mlir_attr *dims =
        how ? list_of(jx_mlir_field(how, "dim_shardings"), "value") : NULL;
    const jx_mlir_attr *mesh =
        how ? jx_mesh_of_ref(module, jx_mlir_field(how, "mesh_or_ref")) : NULL;
    const jx_mlir_attr *by =
        dims && axis < dims->count
            ? list_of(jx_mlir_field(dims->items[axis], "axes"), "value")
            : NULL;
    const jx_mlir_attr *axes = list_of(mesh, "axes");
    int64_t parts = 1;

    if (!by || !axes)
        return 0;
    for (int k = 0; k < by->count && parts; k++) {
        const jx_mlir_attr *ref = by->items[k];
        const char *name = name_of(ctx, ref);
        if (!name || (ref->kind == JX_A_RECORD &&
                      jx_mlir_field(ref, "sub_axis_info")))
            return 0;
        if (find(ctx, manual, name) &&
            __builtin_mul_overflow(parts, size_of(find(ctx, axes, name)),
                                   &parts))
            return 0;
    }
    return parts;
}
