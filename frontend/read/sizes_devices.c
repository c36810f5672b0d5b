/* sizes_devices.c - the sizes of what each device has of an array:
 * sdy.manual_computation, whose manual axes cut operands into parts, and put the
 * parts of its results together. */
#include "frontend/read/meshes.h"
#include "frontend/read/sizes_parts.h"

/* One axis of operand (or result) `i`, as a part or put together. */
static const jx_dim *cut(jx_sizes_env *env, const jx_mlir_op *op,
                         const char *shardings, int i, int axis,
                         const jx_dim *dim, bool part)
{
    jx_sizes *s = env->of;
    int64_t parts =
        jx_mesh_parts(s->ctx, s->options.module, op, shardings, i, axis);
    const jx_dim *count = parts ? jx_dim_int(s->dims, parts) : NULL;

    if (!dim || !count)
        return NULL;
    dim = part ? jx_dim_floordiv(s->dims, dim, count)
               : jx_dim_mul(s->dims, dim, count);
    return dim && jx_dim_nodes(dim) <= JX_SZ_NODES ? jx_sz_public(s, dim) : NULL;
}

/* False where something is not known. */
static bool cut_all(jx_sizes_env *env, const jx_mlir_op *op,
                    const char *shardings, int i, const jx_mlir_value *from,
                    bool part, const jx_dim **to)
{
    const jx_dim *const *shape = jx_sz_shape_of(env, from);
    bool known = shape != NULL;

    for (int k = 0; shape && k < from->type->rank; k++) {
        to[k] = cut(env, op, shardings, i, k, shape[k], part);
        known &= to[k] != NULL;
    }
    return known;
}

/* The integers stay what they are where every device has all of them. */
static bool is_whole(jx_sizes_env *env, const jx_mlir_op *op, int i)
{
    jx_sizes *s = env->of;

    for (int k = 0; k < op->ins[i]->type->rank; k++)
        if (jx_mesh_parts(s->ctx, s->options.module, op, "in_shardings", i,
                          k) != 1)
            return false;
    return jx_mesh_shardings(op, "in_shardings") != NULL;
}

void jx_sz_enter_manual(jx_sizes_env *env, const jx_mlir_op *op)
{
    const jx_mlir_block *body =
        op->nregions == 1 ? jx_mlir_body(op, 0) : NULL;

    for (int i = 0; body && i < body->nargs && i < op->nins; i++) {
        const jx_mlir_type *type = body->args[i]->type;
        const jx_mlir_type *whole = op->ins[i]->type;
        jx_sz_info info = {0};
        if (whole->kind != JX_T_TENSOR || type->kind != JX_T_TENSOR ||
            whole->rank != type->rank || type->rank > JX_SZ_RANK)
            continue;
        if (is_whole(env, op, i))
            info = jx_sz_info_of(env, op->ins[i]);
        info.shape = NULL;
        if (jx_sz_is_open(type)) {
            const jx_dim **shape = JX_NEW_ARRAY(env->of->ctx->arena,
                                                type->rank + 1, const jx_dim *);
            if (shape && cut_all(env, op, "in_shardings", i, op->ins[i], true,
                                 shape)) {
                info.shape = shape;
                info.rank = type->rank;
            }
        }
        if (info.elems || info.shape)
            jx_sz_set(env, body->args[i], info);
    }
}

void jx_sz_infer_manual(jx_sizes_env *env, const jx_mlir_op *op, int result,
                        const jx_dim **to)
{
    const jx_mlir_op *end = jx_sz_terminator(op, 0);
    const jx_mlir_value *from =
        end && result < end->nins ? end->ins[result] : NULL;

    if (from && from->type->kind == JX_T_TENSOR &&
        from->type->rank == op->outs[result]->type->rank &&
        from->type->rank <= JX_SZ_RANK)
        cut_all(env, op, "out_shardings", result, from, false, to);
}
