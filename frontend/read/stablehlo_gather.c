/* stablehlo_gather.c - indexing: dynamic slices, gathers and scatters.
 *
 * JAX's gather and scatter have the coordinates of an index along the last axis
 * of the indices; StableHLO says along which.  Where a gather reaches beyond
 * its operand it is moved inside (CLIP); a scatter leaves such an update out
 * (FILL_OR_DROP). */
#include "frontend/read/stablehlo_parts.h"

/* ---- slices at indices */

bool jx_hlo_op_dynamic_slice(jx_hlo_body *b, const jx_mlir_op *op,
                             const jx_hlo_row *row)
{
    const jx_dim *sizes[JX_HLO_RANK];
    jx_params p = jx_hlo_no_params(b);
    jx_atoms ins = jx_hlo_ins(b, 0);
    jx_ints ints;

    (void)op;
    if (!ins.count || !jx_hlo_attr_ints(b, "slice_sizes", &ints))
        return false;
    const jx_aval *in = jx_atom_aval(ins.at[0]);
    if (ints.count != in->rank || ins.count != 1 + in->rank)
        return jx_hlo_refuse(
            b, "expected an index and a size for each of %d axes", in->rank);
    for (int i = 0; i < in->rank; i++)
        sizes[i] = jx_hlo_dim_int(b, ints.at[i]);
    jx_put_dims(&p, "slice_sizes", in->rank, sizes);
    return jx_hlo_define1(
        b, jx_hlo_eqn(b, row->prim, ins.count, ins.at, &p,
                      jx_hlo_array(b, in->dtype, in->rank, sizes)));
}

bool jx_hlo_op_dynamic_update_slice(jx_hlo_body *b, const jx_mlir_op *op,
                                    const jx_hlo_row *row)
{
    jx_atoms ins = jx_hlo_ins(b, 0);

    (void)op;
    if (ins.count < 2 || ins.count != 2 + jx_atom_aval(ins.at[0])->rank)
        return jx_hlo_refuse(b, "expected an index for each axis");
    return jx_hlo_define1(b, jx_hlo_eqn(b, row->prim, ins.count, ins.at, NULL,
                                        jx_atom_aval(ins.at[0])));
}

/* ---- indices */

/* The indices with their coordinates along the last axis. */
static jx_atom with_last_axis(jx_hlo_body *b, jx_atom indices, int64_t axis)
{
    const jx_dim *shape[JX_HLO_RANK + 1];
    int64_t order[JX_HLO_RANK];
    const jx_aval *aval;
    int n = 0;

    if (!indices.var && !indices.literal)
        return indices;
    aval = jx_atom_aval(indices);
    if (axis < 0 || axis > aval->rank || aval->rank >= JX_HLO_RANK) {
        jx_hlo_refuse(b, "index_vector_dim: expected an axis up to %d",
                      aval->rank);
        return (jx_atom){NULL, NULL};
    }
    if (axis == aval->rank) {
        for (int i = 0; i < aval->rank; i++)
            shape[i] = aval->shape[i];
        shape[aval->rank] = jx_hlo_dim_int(b, 1);
        return jx_hlo_eqn_reshape(b, indices, aval->rank + 1, shape);
    }
    if (axis == aval->rank - 1)
        return indices;
    for (int i = 0; i < aval->rank; i++)
        if (i != axis)
            order[n++] = i;
    order[n] = axis;
    return jx_hlo_eqn_transpose(b, indices, order);
}

/* Axes of the indices, after that of the coordinates has become the last. */
static jx_ints without_axis(jx_hlo_body *b, jx_ints axes, int64_t axis)
{
    int64_t *at = JX_NEW_ARRAY(b->s->ctx->arena, axes.count, int64_t);

    for (int i = 0; at && i < axes.count; i++)
        at[i] = axes.at[i] - (axes.at[i] > axis);
    return (jx_ints){at ? axes.count : 0, at};
}

/* A record of lists of integers, by our names for StableHLO's fields, the last
 * of which names axes of the indices; NULL after a failure. */
static const jx_value *record_of(jx_hlo_body *b, const jx_mlir_attr *from,
                                 const char *type, const char *const *ours,
                                 const char *const *theirs)
{
    const jx_value *items[5];
    int64_t axis = 0;
    jx_ints ints;

    if (!jx_hlo_field_int(b, from, "index_vector_dim", &axis))
        return NULL;
    for (int i = 0; i < 5; i++) {
        if (!jx_hlo_field_ints(b, from, theirs[i], &ints))
            return NULL;
        if (i == 4)
            ints = without_axis(b, ints, axis);
        items[i] = jx_value_of_ints(b->s->program, ints);
    }
    return jx_value_of_record(b->s->program, type, 5, ours, items);
}

/* ---- gather */

static const char *const gather_ours[] = {
    "offset_dims", "collapsed_slice_dims", "start_index_map",
    "operand_batching_dims", "start_indices_batching_dims"};

static bool gather_axes_ok(jx_hlo_body *b, const jx_mlir_attr *dims, int rank,
                           int nsizes)
{
    jx_ints offset, collapsed, batching;

    return jx_hlo_field_ints(b, dims, "offset_dims", &offset) &&
           jx_hlo_field_ints(b, dims, "collapsed_slice_dims", &collapsed) &&
           jx_hlo_field_ints(b, dims, "operand_batching_dims", &batching) &&
           jx_hlo_axes_ok(b, "offset_dims", offset, rank) &&
           jx_hlo_axes_ok(b, "collapsed_slice_dims", collapsed, nsizes) &&
           jx_hlo_axes_ok(b, "operand_batching_dims", batching, nsizes);
}

static bool gather(jx_hlo_body *b, int nsizes, const jx_dim *const *sizes)
{
    static const char *const theirs[] = {
        "offset_dims", "collapsed_slice_dims", "start_index_map",
        "operand_batching_dims", "start_indices_batching_dims"};
    const jx_mlir_attr *dims = jx_hlo_attr(b, "dimension_numbers");
    jx_params p = jx_hlo_no_params(b);
    const jx_aval *out;
    jx_atom ins[2];
    int64_t axis = 0;

    if (!dims || !jx_hlo_rank_ok(b, 0) ||
        !jx_hlo_field_int(b, dims, "index_vector_dim", &axis))
        return false;
    ins[0] = jx_hlo_in(b, 0);
    ins[1] = with_last_axis(b, jx_hlo_in(b, 1), axis);
    if ((!ins[0].var && !ins[0].literal) || (!ins[1].var && !ins[1].literal))
        return false;
    if (!gather_axes_ok(b, dims, b->op->outs[0]->type->rank, nsizes))
        return false;
    out = jx_hlo_result(b, 0, NULL);
    jx_put(&p, "dimension_numbers",
           record_of(b, dims, "GatherDimensionNumbers", gather_ours, theirs));
    jx_put_dims(&p, "slice_sizes", nsizes, sizes);
    jx_put_enum(&p, "mode", "GatherScatterMode.CLIP");
    jx_put_none(&p, "fill_value");
    jx_put_bool(&p, "unique_indices", false);
    jx_put_bool(&p, "indices_are_sorted",
                jx_hlo_attr_bool_or(b, "indices_are_sorted", false));
    return out &&
           jx_hlo_define1(b, jx_hlo_eqn(b, JX_PRIM_gather, 2, ins, &p, out));
}

bool jx_hlo_op_gather(jx_hlo_body *b, const jx_mlir_op *op,
                      const jx_hlo_row *row)
{
    const jx_dim *sizes[JX_HLO_RANK];
    jx_ints ints;

    (void)op, (void)row;
    if (!jx_hlo_attr_ints(b, "slice_sizes", &ints))
        return false;
    if (ints.count > JX_HLO_RANK)
        return jx_hlo_refuse(b, "expected at most %d axes", JX_HLO_RANK);
    for (int i = 0; i < ints.count; i++)
        sizes[i] = jx_hlo_dim_int(b, ints.at[i]);
    return gather(b, ints.count, sizes);
}

bool jx_hlo_op_dynamic_gather(jx_hlo_body *b, const jx_mlir_op *op,
                              const jx_hlo_row *row)
{
    jx_atom in = jx_hlo_in(b, 0);
    const jx_dim *const *sizes;

    (void)row;
    if (!in.var && !in.literal)
        return false;
    sizes = jx_hlo_sizes_in(b, 2, jx_atom_aval(in)->rank);
    return sizes ? gather(b, jx_atom_aval(in)->rank, sizes)
                 : jx_hlo_unknown(b, op);
}

/* ---- scatter */

static const jx_value *scatter_dims(jx_hlo_body *b, const jx_mlir_attr *dims)
{
    static const char *const ours[] = {
        "update_window_dims", "inserted_window_dims",
        "scatter_dims_to_operand_dims", "operand_batching_dims",
        "scatter_indices_batching_dims"};
    static const char *const theirs[] = {
        "update_window_dims", "inserted_window_dims",
        "scatter_dims_to_operand_dims", "input_batching_dims",
        "scatter_indices_batching_dims"};

    return record_of(b, dims, "ScatterDimensionNumbers", ours, theirs);
}

/* Inputs, indices and updates by any computation. */
static bool scatter_generally(jx_hlo_body *b, jx_params *p, jx_atoms ins)
{
    int n = (ins.count - 1) / 2;
    const jx_aval **args =
        JX_NEW_ARRAY(b->s->ctx->arena, 2 * n, const jx_aval *);
    const jx_aval **outs;
    jx_atoms captured, everywhere[2];
    const jx_jaxpr *body;
    const jx_atom *made;

    for (int i = 0; args && i < n; i++)
        args[i] = args[n + i] =
            jx_hlo_array(b, jx_atom_aval(ins.at[i])->dtype, 0, NULL);
    body = args ? jx_hlo_lifted(b, b->op, 2 * n, args, JX_HLO_HALVES, &captured)
                : NULL;
    if (!body)
        return jx_ok(b->s->ctx) && jx_hlo_unknown(b, b->op);
    everywhere[0] = jx_hlo_eqn_spread(b, captured, jx_atom_aval(ins.at[0]));
    everywhere[1] = jx_hlo_eqn_spread(b, captured, jx_atom_aval(ins.at[n + 1]));
    ins = jx_hlo_joined(
        b, 4,
        (const jx_atoms[]){
            {n, ins.at}, everywhere[0], {n + 1, ins.at + n}, everywhere[1]});
    int all = n + captured.count;
    outs = JX_NEW_ARRAY(b->s->ctx->arena, all, const jx_aval *);
    for (int i = 0; outs && i < all; i++)
        outs[i] = jx_atom_aval(ins.at[i]);
    jx_put_jaxpr(p, "update_computation", body);
    made = outs ? jx_hlo_eqn_all(b, jx_prim_of(JX_PRIM_stablehlo_scatter),
                                 ins.count, ins.at, p, all, outs)
                : NULL;
    return made && jx_hlo_define(b, n, made);
}

/* Additions of booleans are `or`, which no primitive scatters. */
static const jx_hlo_row *scatter_row(jx_hlo_body *b, const jx_mlir_op *op,
                                     jx_atoms ins)
{
    jx_op_id one = ins.count == 3 ? jx_hlo_single_op(op, 0) : JX_OP_unknown;
    bool plain = one == JX_OP_stablehlo_return;
    const char *detail = plain ? "" : jx_mlir_op_name(one);
    jx_dtype dtype = jx_atom_aval(ins.at[0])->dtype;
    const jx_hlo_row *row = one ? jx_hlo_row_of(b->s, op->id, detail) : NULL;

    if (!row || strcmp(row->detail, detail) ||
        jx_atom_aval(ins.at[2])->dtype != dtype || (!plain && dtype == JX_BOOL))
        return NULL;
    return row;
}

bool jx_hlo_op_scatter(jx_hlo_body *b, const jx_mlir_op *op,
                       const jx_hlo_row *row)
{
    const jx_mlir_attr *dims = jx_hlo_attr(b, "scatter_dimension_numbers");
    jx_atoms ins = jx_hlo_ins(b, 0);
    jx_params p = jx_hlo_no_params(b);
    jx_atom *all;
    int64_t axis = 0;

    if (!dims || !jx_hlo_field_int(b, dims, "index_vector_dim", &axis))
        return false;
    if (ins.count < 3 || ins.count % 2 == 0 || ins.count != 2 * op->nouts + 1)
        return jx_hlo_refuse(b, "expected inputs, indices and updates");
    all = jx_arena_copy(b->s->ctx->arena, ins.at,
                        (size_t)ins.count * sizeof *all);
    if (!all)
        return false;
    ins.at = all;
    all[ins.count / 2] = with_last_axis(b, all[ins.count / 2], axis);
    if (!all[ins.count / 2].var && !all[ins.count / 2].literal)
        return false;
    jx_put(&p, "dimension_numbers", scatter_dims(b, dims));
    jx_put_bool(&p, "indices_are_sorted",
                jx_hlo_attr_bool_or(b, "indices_are_sorted", false));
    jx_put_bool(&p, "unique_indices",
                jx_hlo_attr_bool_or(b, "unique_indices", false));
    row = scatter_row(b, op, ins);
    if (!row)
        return scatter_generally(b, &p, ins);
    jx_put_enum(&p, "mode", "GatherScatterMode.FILL_OR_DROP");
    jx_put_none(&p, "update_jaxpr");
    return jx_hlo_define1(
        b, jx_hlo_eqn(b, row->prim, 3, all, &p, jx_atom_aval(all[0])));
}
