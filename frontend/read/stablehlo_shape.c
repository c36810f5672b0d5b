/* stablehlo_shape.c - the same elements in another shape, and tuples. */
#include "frontend/read/stablehlo_parts.h"

static const jx_aval *aval_in(jx_hlo_body *b, int index)
{
    jx_atom in = jx_hlo_in(b, index);

    return in.var || in.literal ? jx_atom_aval(in) : NULL;
}

/* ---- broadcasting */

static bool in_order(jx_ints axes)
{
    for (int i = 0; i < axes.count; i++)
        if (axes.at[i] != i)
            return false;
    return true;
}

/* `known`: the sizes of the result that an operand says, or NULL. */
static bool broadcast(jx_hlo_body *b, const jx_dim *const *known)
{
    const jx_aval *in = aval_in(b, 0), *out;
    jx_ints dims;

    if (!in || !jx_hlo_attr_ints(b, "broadcast_dimensions", &dims) ||
        !jx_hlo_rank_ok(b, 0))
        return false;
    int rank = b->op->outs[0]->type->rank;
    if (dims.count != in->rank ||
        !jx_hlo_axes_ok(b, "broadcast_dimensions", dims, rank))
        return jx_hlo_refuse(b,
                             "attribute 'broadcast_dimensions': expected "
                             "%d axes",
                             in->rank);
    out = jx_hlo_result(b, 0, known);
    if (out == in && in_order(dims))
        return jx_hlo_define1(b, jx_hlo_in(b, 0));
    return out &&
           jx_hlo_define1(b, jx_hlo_eqn_broadcast_dims(b, jx_hlo_in(b, 0), dims,
                                                       out->rank, out->shape));
}

bool jx_hlo_op_broadcast_in_dim(jx_hlo_body *b, const jx_mlir_op *op,
                                const jx_hlo_row *row)
{
    (void)op, (void)row;
    return broadcast(b, NULL);
}

bool jx_hlo_op_dynamic_broadcast_in_dim(jx_hlo_body *b, const jx_mlir_op *op,
                                        const jx_hlo_row *row)
{
    (void)op, (void)row;
    return broadcast(b, jx_hlo_shape_in(b, 1));
}

/* The older op: new axes come first. */
bool jx_hlo_op_broadcast(jx_hlo_body *b, const jx_mlir_op *op,
                         const jx_hlo_row *row)
{
    const jx_aval *in = aval_in(b, 0);
    const jx_dim *shape[JX_HLO_RANK];
    int64_t dims[JX_HLO_RANK];
    jx_ints sizes;

    (void)op, (void)row;
    if (!in || !jx_hlo_attr_ints(b, "broadcast_sizes", &sizes))
        return false;
    int rank = sizes.count + in->rank;
    if (rank > JX_HLO_RANK)
        return jx_hlo_refuse(b, "expected at most %d axes", JX_HLO_RANK);
    for (int i = 0; i < rank; i++)
        shape[i] = i < sizes.count ? jx_hlo_dim_int(b, sizes.at[i])
                                   : in->shape[i - sizes.count];
    for (int i = 0; i < in->rank; i++)
        dims[i] = sizes.count + i;
    return jx_hlo_define1(
        b, jx_hlo_eqn_broadcast_dims(b, jx_hlo_in(b, 0),
                                     (jx_ints){in->rank, dims}, rank, shape));
}

/* ---- reshaping */

static bool reshape(jx_hlo_body *b, const jx_dim *const *known)
{
    const jx_aval *in = aval_in(b, 0), *out;

    if (!in || !jx_hlo_rank_ok(b, 0))
        return false;
    out = jx_hlo_result(b, 0, known);
    if (out == in)
        return jx_hlo_define1(b, jx_hlo_in(b, 0));
    return out && jx_hlo_define1(b, jx_hlo_eqn_reshape(b, jx_hlo_in(b, 0),
                                                       out->rank, out->shape));
}

bool jx_hlo_op_reshape(jx_hlo_body *b, const jx_mlir_op *op,
                       const jx_hlo_row *row)
{
    (void)op, (void)row;
    return reshape(b, NULL);
}

bool jx_hlo_op_dynamic_reshape(jx_hlo_body *b, const jx_mlir_op *op,
                               const jx_hlo_row *row)
{
    (void)op, (void)row;
    return reshape(b, jx_hlo_shape_in(b, 1));
}

bool jx_hlo_op_transpose(jx_hlo_body *b, const jx_mlir_op *op,
                         const jx_hlo_row *row)
{
    const jx_aval *in = aval_in(b, 0);
    jx_ints order;

    (void)op, (void)row;
    if (!in || !jx_hlo_attr_ints(b, "permutation", &order))
        return false;
    if (order.count != in->rank)
        return jx_hlo_refuse(b, "attribute 'permutation': expected %d axes",
                             in->rank);
    return jx_hlo_axes_ok(b, "permutation", order, in->rank) &&
           jx_hlo_define1(b,
                          jx_hlo_eqn_transpose(b, jx_hlo_in(b, 0), order.at));
}

bool jx_hlo_op_reverse(jx_hlo_body *b, const jx_mlir_op *op,
                       const jx_hlo_row *row)
{
    jx_params p = jx_hlo_no_params(b);
    const jx_aval *in = aval_in(b, 0);
    jx_atom atom = jx_hlo_in(b, 0);
    jx_ints dims;

    (void)op;
    if (!in || !jx_hlo_attr_ints(b, "dimensions", &dims) ||
        !jx_hlo_axes_ok(b, "dimensions", dims, in->rank))
        return false;
    jx_put_ints(&p, "dimensions", dims);
    return jx_hlo_define1(b, jx_hlo_eqn(b, row->prim, 1, &atom, &p, in));
}

/* ---- slices and padding */

bool jx_hlo_eqn_slice(jx_hlo_body *b, const jx_dim *const *start,
                      const jx_dim *const *limit, const jx_dim *const *stride)
{
    jx_params p = jx_hlo_no_params(b);
    const jx_aval *in = aval_in(b, 0), *out;
    jx_atom atom = jx_hlo_in(b, 0);
    bool plain = true;

    if (!in || !jx_hlo_rank_ok(b, 0))
        return false;
    for (int i = 0; i < in->rank; i++) {
        if (!start[i] || !limit[i] || !stride[i])
            return jx_hlo_refuse(b, "a size that is too large");
        if (!jx_dim_value(stride[i]))
            return jx_hlo_refuse(b, "expected a stride that is not 0");
        plain = plain && jx_dim_value(stride[i]) == 1;
    }
    if (b->op->outs[0]->type->rank != in->rank)
        return jx_hlo_refuse(b, "expected a result of %d axes", in->rank);
    out = jx_hlo_result(b, 0, NULL);
    jx_put_dims(&p, "start_indices", in->rank, start);
    jx_put_dims(&p, "limit_indices", in->rank, limit);
    if (plain)
        jx_put_none(&p, "strides");
    else
        jx_put_dims(&p, "strides", in->rank, stride);
    return out &&
           jx_hlo_define1(b, jx_hlo_eqn(b, JX_PRIM_slice, 1, &atom, &p, out));
}

static bool dims_of(jx_hlo_body *b, const char *name, int rank,
                    const jx_dim **to)
{
    jx_ints ints;

    if (!jx_hlo_attr_ints(b, name, &ints))
        return false;
    if (ints.count != rank)
        return jx_hlo_refuse(b, "attribute '%s': expected %d integers", name,
                             rank);
    for (int i = 0; i < rank; i++)
        to[i] = jx_hlo_dim_int(b, ints.at[i]);
    return true;
}

bool jx_hlo_op_slice(jx_hlo_body *b, const jx_mlir_op *op,
                     const jx_hlo_row *row)
{
    const jx_dim *start[JX_HLO_RANK], *limit[JX_HLO_RANK];
    const jx_dim *stride[JX_HLO_RANK];
    const jx_aval *in = aval_in(b, 0);

    (void)op, (void)row;
    return in && dims_of(b, "start_indices", in->rank, start) &&
           dims_of(b, "limit_indices", in->rank, limit) &&
           dims_of(b, "strides", in->rank, stride) &&
           jx_hlo_eqn_slice(b, start, limit, stride);
}

bool jx_hlo_eqn_pad(jx_hlo_body *b, const jx_dim *const *low,
                    const jx_dim *const *high, const jx_dim *const *interior)
{
    const jx_dim *config[3 * JX_HLO_RANK];
    jx_params p = jx_hlo_no_params(b);
    const jx_atom ins[] = {jx_hlo_in(b, 0), jx_hlo_in(b, 1)};
    const jx_aval *in = aval_in(b, 0), *out;

    if (!in || !jx_hlo_rank_ok(b, 0))
        return false;
    for (int i = 0; i < in->rank; i++) {
        config[3 * i] = low[i];
        config[3 * i + 1] = high[i];
        config[3 * i + 2] = interior[i];
        if (!low[i] || !high[i] || !interior[i])
            return jx_hlo_refuse(b, "a size that is too large");
    }
    if (b->op->outs[0]->type->rank != in->rank)
        return jx_hlo_refuse(b, "expected a result of %d axes", in->rank);
    jx_put_tuples(&p, "padding_config", in->rank, 3, config);
    out = jx_hlo_result(b, 0, NULL);
    return out &&
           jx_hlo_define1(b, jx_hlo_eqn(b, JX_PRIM_pad, 2, ins, &p, out));
}

bool jx_hlo_op_pad(jx_hlo_body *b, const jx_mlir_op *op, const jx_hlo_row *row)
{
    const jx_dim *low[JX_HLO_RANK], *high[JX_HLO_RANK];
    const jx_dim *interior[JX_HLO_RANK];
    const jx_aval *in = aval_in(b, 0);

    (void)op, (void)row;
    return in && dims_of(b, "edge_padding_low", in->rank, low) &&
           dims_of(b, "edge_padding_high", in->rank, high) &&
           dims_of(b, "interior_padding", in->rank, interior) &&
           jx_hlo_eqn_pad(b, low, high, interior);
}

bool jx_hlo_op_concatenate(jx_hlo_body *b, const jx_mlir_op *op,
                           const jx_hlo_row *row)
{
    jx_params p = jx_hlo_no_params(b);
    jx_atoms ins = jx_hlo_ins(b, 0);
    const jx_aval *first = aval_in(b, 0), *out;
    int64_t axis = 0;

    (void)op;
    if (!first || !jx_hlo_attr_int(b, "dimension", &axis) ||
        !jx_hlo_rank_ok(b, 0))
        return false;
    if (axis < 0 || axis >= first->rank ||
        b->op->outs[0]->type->rank != first->rank)
        return jx_hlo_refuse(
            b, "attribute 'dimension': expected an axis below %d", first->rank);
    jx_put_int(&p, "dimension", axis);
    if (ins.count == 1)
        return jx_hlo_define1(b, ins.at[0]);
    out = jx_hlo_result(b, 0, NULL);
    return out && jx_hlo_define1(
                      b, jx_hlo_eqn(b, row->prim, ins.count, ins.at, &p, out));
}

static bool iota(jx_hlo_body *b, const jx_dim *const *known)
{
    jx_params p = jx_hlo_no_params(b);
    int64_t axis = 0;
    const jx_aval *out;

    if (!jx_hlo_rank_ok(b, 0) || !jx_hlo_attr_int(b, "iota_dimension", &axis))
        return false;
    out = jx_hlo_result(b, 0, known);
    if (!out)
        return false;
    if (axis < 0 || axis >= out->rank)
        return jx_hlo_refuse(b,
                             "attribute 'iota_dimension': expected an axis "
                             "below %d",
                             out->rank);
    jx_put_dtype(&p, "dtype", out->dtype);
    jx_put_dims(&p, "shape", out->rank, out->shape);
    jx_put_int(&p, "dimension", axis);
    jx_put_none(&p, "sharding");
    return jx_hlo_define1(b, jx_hlo_eqn(b, JX_PRIM_iota, 0, NULL, &p, out));
}

bool jx_hlo_op_iota(jx_hlo_body *b, const jx_mlir_op *op, const jx_hlo_row *row)
{
    (void)op, (void)row;
    return iota(b, NULL);
}

bool jx_hlo_op_dynamic_iota(jx_hlo_body *b, const jx_mlir_op *op,
                            const jx_hlo_row *row)
{
    (void)op, (void)row;
    return iota(b, jx_hlo_shape_in(b, 0));
}

/* ---- tuples, tokens: gone once they are read */

bool jx_hlo_op_regroup(jx_hlo_body *b, const jx_mlir_op *op,
                       const jx_hlo_row *row)
{
    jx_atoms ins = jx_hlo_ins(b, 0);

    (void)op, (void)row;
    return jx_ok(b->s->ctx) && jx_hlo_define(b, ins.count, ins.at);
}

bool jx_hlo_op_get_tuple_element(jx_hlo_body *b, const jx_mlir_op *op,
                                 const jx_hlo_row *row)
{
    jx_atoms all =
        op->nins == 1 ? jx_hlo_atoms_of(b, op->ins[0]) : (jx_atoms){0, NULL};
    int64_t index = 0;
    int before = 0;

    (void)row;
    if (op->nins != 1 || !jx_hlo_attr_int(b, "index", &index))
        return jx_hlo_refuse(b, "expected 1 operand");
    const jx_mlir_type *type = op->ins[0]->type;
    if (type->kind != JX_T_TUPLE || index < 0 || index >= type->count)
        return jx_hlo_refuse(b, "attribute 'index': expected a place in the "
                                "tuple");
    for (int i = 0; i < index; i++)
        before += jx_hlo_width(type->items[i]);
    int width = jx_hlo_width(type->items[index]);
    if (before + width > all.count)
        return false;
    return jx_hlo_define(b, width, width ? all.at + before : NULL);
}
