/* stablehlo_dynamic.c - ops whose sizes are operands: the primitive with these
 * sizes in its parameters, where it is known which sizes they are. */
#include "frontend/read/stablehlo_parts.h"

/* ---- sizes */

bool jx_hlo_op_get_dimension_size(jx_hlo_body *b, const jx_mlir_op *op,
                                  const jx_hlo_row *row)
{
    jx_params p = jx_hlo_no_params(b);
    jx_atom in = jx_hlo_in(b, 0);
    const jx_aval *out = jx_hlo_result(b, 0, NULL);
    int64_t axis = 0;

    (void)op;
    if (!jx_is_made(in) || !out || !jx_hlo_attr_int(b, "dimension", &axis))
        return false;
    const jx_aval *aval = jx_atom_aval(in);
    if (axis < 0 || axis >= aval->rank)
        return jx_hlo_refuse(
            b, "attribute 'dimension': expected an axis below %d", aval->rank);
    int64_t size = jx_dim_value(aval->shape[axis]);
    if (size >= 0)
        return jx_hlo_define1(
            b, jx_build_number(&b->body, out->dtype, (double)size));
    jx_put_int(&p, "dimension", axis);
    return jx_hlo_define1(b, jx_hlo_eqn(b, row->prim, 1, &in, &p, out));
}

/* What an axis has already; arrays of fewer elements than their type says are
 * not known here. */
bool jx_hlo_op_set_dimension_size(jx_hlo_body *b, const jx_mlir_op *op,
                                  const jx_hlo_row *row)
{
    const jx_dim *const *size = jx_hlo_sizes_in(b, 1, 1);
    jx_atom in = jx_hlo_in(b, 0);
    int64_t axis = 0;

    (void)row;
    if (!jx_is_made(in) || op->nins != 2 || op->nouts != 1 ||
        !jx_hlo_attr_int(b, "dimension", &axis))
        return jx_ok(b->s->ctx) && jx_hlo_refuse(b, "expected 2 operands");
    const jx_aval *aval = jx_atom_aval(in);
    if (axis < 0 || axis >= aval->rank)
        return jx_hlo_refuse(
            b, "attribute 'dimension': expected an axis below %d", aval->rank);
    return size && size[0] == aval->shape[axis] &&
                   op->outs[0]->type == op->ins[0]->type
               ? jx_hlo_define1(b, in)
               : jx_hlo_unknown(b, op);
}

/* Sizes of operand `index`, one for each axis of the first. */
static const jx_dim *const *sizes_for(jx_hlo_body *b, int index)
{
    return b->op->nins ? jx_hlo_sizes_in(b, index, b->op->ins[0]->type->rank)
                       : NULL;
}

/* The `index`th element of a vector of integers, as a scalar. */
static jx_atom element(jx_hlo_body *b, const jx_mlir_value *value, int index)
{
    const jx_dim *const *known;
    jx_atoms all = jx_hlo_atoms_of(b, value);
    jx_params p = jx_hlo_no_params(b);
    const jx_dim *one = jx_hlo_dim_int(b, 1), *start = jx_hlo_dim_int(b, index),
                 *limit = jx_hlo_dim_int(b, index + 1);
    const jx_aval *aval;
    jx_atom part;

    if (all.count != 1)
        return (jx_atom){NULL, NULL};
    aval = jx_atom_aval(all.at[0]);
    known = jx_sz_known(b->s->sizes, all.at[0]);
    if (known)
        return jx_hlo_size_atom(b, aval->dtype, known[index]);
    jx_put_dims(&p, "start_indices", 1, &start);
    jx_put_dims(&p, "limit_indices", 1, &limit);
    jx_put_none(&p, "strides");
    part = jx_hlo_eqn(b, JX_PRIM_slice, 1, all.at, &p,
                      jx_hlo_array(b, aval->dtype, 1, &one));
    return jx_is_made(part) ? jx_hlo_eqn_reshape(b, part, 0, NULL) : part;
}

static bool is_one(const jx_dim *dim)
{
    int64_t value;

    return jx_dim_is_int(dim, &value) && value == 1;
}

/* A slice of known sizes from a place that only running tells. */
static bool slice_somewhere(jx_hlo_body *b, const jx_mlir_op *op,
                            const jx_dim *const *sizes)
{
    const jx_dim *const *stride = sizes_for(b, 3);
    jx_params p = jx_hlo_no_params(b);
    jx_atom ins[JX_HLO_RANK + 1];
    int rank = op->ins[0]->type->rank;

    if (!stride || !jx_hlo_rank_ok(b, 0))
        return jx_ok(b->s->ctx) && jx_hlo_unknown(b, op);
    ins[0] = jx_hlo_in(b, 0);
    if (!jx_is_made(ins[0]) || jx_atom_aval(ins[0])->rank != rank ||
        jx_sz_count(jx_atom_aval(jx_hlo_in(b, 1))) != rank)
        return jx_hlo_refuse(b, "expected a start for each axis");
    for (int i = 0; i < rank; i++) {
        if (!is_one(stride[i]))
            return jx_hlo_unknown(b, op);
        ins[1 + i] = element(b, op->ins[1], i);
        if (!jx_is_made(ins[1 + i]))
            return false;
    }
    jx_put_dims(&p, "slice_sizes", rank, sizes);
    return jx_hlo_define1(b, jx_hlo_eqn(b, JX_PRIM_dynamic_slice, 1 + rank, ins,
                                        &p, jx_hlo_result(b, 0, sizes)));
}

/* How long the slice is, where that is known and where it begins is no size. */
static const jx_dim *const *length_of(jx_hlo_body *b)
{
    jx_atom start = jx_hlo_in(b, 1), limit = jx_hlo_in(b, 2);

    if (!jx_is_made(start) || !jx_is_made(limit) ||
        jx_sz_known(b->s->sizes, start) ||
        jx_sz_count(jx_atom_aval(start)) != b->op->ins[0]->type->rank)
        return NULL;
    return jx_sz_slice(b->s->sizes, start, limit);
}

bool jx_hlo_op_real_dynamic_slice(jx_hlo_body *b, const jx_mlir_op *op,
                                  const jx_hlo_row *row)
{
    const jx_dim *const *start, *const *limit, *const *stride, *const *length;

    (void)row;
    if (op->nins != 4 || op->nouts != 1)
        return jx_hlo_refuse(b, "expected 4 operands");
    if ((length = length_of(b)))
        return slice_somewhere(b, op, length);
    start = sizes_for(b, 1);
    limit = sizes_for(b, 2);
    stride = sizes_for(b, 3);
    return start && limit && stride ? jx_hlo_eqn_slice(b, start, limit, stride)
                                    : jx_hlo_unknown(b, op);
}

bool jx_hlo_op_dynamic_pad(jx_hlo_body *b, const jx_mlir_op *op,
                           const jx_hlo_row *row)
{
    const jx_dim *const *low = sizes_for(b, 2), *const * high;
    const jx_dim *const *interior = sizes_for(b, 4);

    (void)row;
    high = sizes_for(b, 3);
    if (!low || !high || !interior)
        return jx_hlo_unknown(b, op);
    return jx_hlo_eqn_pad(b, low, high, interior);
}

/* ---- custom calls whose sizes are operands */

/* The largest `k` along the last axis, where `k` is a size. */
bool jx_hlo_op_dynamic_top_k(jx_hlo_body *b, const jx_mlir_op *op,
                             const jx_hlo_row *row)
{
    jx_params p = jx_hlo_no_params(b);
    jx_atom in = jx_hlo_in(b, 0);
    const jx_dim *const *k = op->nins == 2 ? jx_hlo_sizes_in(b, 1, 1) : NULL;
    const jx_aval *outs[2];
    const jx_atom *made;

    if (!k || !jx_is_made(in) || op->nouts != 2 || !jx_atom_aval(in)->rank)
        return jx_ok(b->s->ctx) && jx_hlo_unknown(b, op);
    outs[0] = jx_hlo_result(b, 0, NULL);
    outs[1] = jx_hlo_result(b, 1, NULL);
    if (!outs[0] || !outs[1])
        return false;
    jx_put_dim(&p, "k", k[0]);
    jx_put_int(&p, "axis", jx_atom_aval(in)->rank - 1);
    made = jx_hlo_eqn_all(b, jx_prim_of(row->prim), 1, &in, &p, 2, outs);
    return made && jx_hlo_define(b, 2, made);
}

bool jx_hlo_op_dynamic_rng(jx_hlo_body *b, const jx_mlir_op *op,
                           const jx_hlo_row *row)
{
    return jx_hlo_op_rng_bit_generator(b, op, row);
}
