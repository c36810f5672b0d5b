/* stablehlo_dynamic.c - ops whose sizes are operands: the primitive with these
 * sizes in its parameters, where it is known which sizes they are. */
#include "frontend/read/stablehlo_parts.h"

static bool is_atom(jx_atom a)
{
    return a.var || a.literal;
}

/* ---- sizes */

bool jx_shlo_op_get_dimension_size(jx_shlo_body *b, const jx_mlir_op *op,
                                   const jx_shlo_row *row)
{
    jx_shlo_params p = jx_shlo_no_params(b);
    jx_atom in = jx_shlo_in(b, 0);
    const jx_aval *out = jx_shlo_result(b, 0, NULL);
    int64_t axis = 0;

    (void)op;
    if (!is_atom(in) || !out || !jx_shlo_attr_int(b, "dimension", &axis))
        return false;
    const jx_aval *aval = jx_atom_aval(in);
    if (axis < 0 || axis >= aval->rank)
        return jx_shlo_fail(b, "attribute 'dimension': expected an axis "
                            "below %d", aval->rank);
    int64_t size = jx_dim_value(aval->shape[axis]);
    if (size >= 0)
        return jx_shlo_define1(b, jx_shlo_scalar(b, out->dtype,
                                                 (double)size));
    jx_shlo_put_int(&p, "dimension", axis);
    return jx_shlo_define1(b, jx_shlo_emit(b, row->prim, 1, &in, &p, out));
}

/* Sizes of operand `index`, one for each axis of the first. */
static const jx_dim *const *sizes_for(jx_shlo_body *b, int index)
{
    return jx_shlo_sizes_in(b, index);
}

/* Element `index` of a vector, as a scalar. */
static jx_atom element(jx_shlo_body *b, jx_atom vector, int index)
{
    const jx_dim *start = jx_shlo_int(b, index);
    const jx_dim *limit = jx_shlo_int(b, index + 1);
    const jx_dim *one = jx_shlo_int(b, 1);
    jx_shlo_params p = jx_shlo_no_params(b);
    const jx_aval *aval;

    if (!is_atom(vector))
        return vector;
    aval = jx_atom_aval(vector);
    jx_shlo_put_dims(&p, "start_indices", 1, &start);
    jx_shlo_put_dims(&p, "limit_indices", 1, &limit);
    jx_shlo_put_none(&p, "strides");
    vector = jx_shlo_emit(b, JX_PRIM_slice, 1, &vector, &p,
                          jx_shlo_array(b, aval->dtype, 1, &one));
    return jx_shlo_reshape(b, vector, 0, NULL);
}

static bool all_ones(const jx_dim *const *dims, int count)
{
    for (int i = 0; dims && i < count; i++)
        if (jx_dim_value(dims[i]) != 1)
            return false;
    return dims != NULL;
}

/* A slice of a known size that begins somewhere: JAX writes dynamic slices so
 * where sizes are open. */
static bool slice_from(jx_shlo_body *b, const jx_mlir_op *op)
{
    jx_atom *ins, in = jx_shlo_in(b, 0), start = jx_shlo_in(b, 1);
    jx_shlo_params p = jx_shlo_no_params(b);
    const jx_aval *out = jx_shlo_result(b, 0, NULL);

    if (!is_atom(in) || !is_atom(start) || !out)
        return false;
    int rank = jx_atom_aval(in)->rank;
    if (out->rank != rank || jx_atom_aval(start)->rank != 1 ||
        jx_dim_value(jx_atom_aval(start)->shape[0]) != rank ||
        !all_ones(jx_shlo_sizes_in(b, 3), rank))
        return jx_shlo_unknown(b, op);
    ins = JX_NEW_ARRAY(b->s->ctx->arena, 1 + rank, jx_atom);
    if (!ins)
        return false;
    ins[0] = in;
    for (int i = 0; i < rank; i++)
        ins[1 + i] = element(b, start, i);
    jx_shlo_put_dims(&p, "slice_sizes", rank, out->shape);
    return jx_shlo_define1(b, jx_shlo_emit(b, JX_PRIM_dynamic_slice, 1 + rank,
                                           ins, &p, out));
}

bool jx_shlo_op_real_dynamic_slice(jx_shlo_body *b, const jx_mlir_op *op,
                                   const jx_shlo_row *row)
{
    const jx_dim *const *start = sizes_for(b, 1), *const *limit;
    const jx_dim *const *stride = sizes_for(b, 3);

    (void)row;
    limit = sizes_for(b, 2);
    if (!start || !limit || !stride)
        return slice_from(b, op);
    return jx_shlo_slice(b, start, limit, stride);
}

bool jx_shlo_op_dynamic_pad(jx_shlo_body *b, const jx_mlir_op *op,
                            const jx_shlo_row *row)
{
    const jx_dim *const *low = sizes_for(b, 2), *const *high;
    const jx_dim *const *interior = sizes_for(b, 4);

    (void)row;
    high = sizes_for(b, 3);
    if (!low || !high || !interior)
        return jx_shlo_unknown(b, op);
    return jx_shlo_pad(b, low, high, interior);
}
