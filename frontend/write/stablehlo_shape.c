/* stablehlo_shape.c - movement (stablehlo_rules.h).
 *
 * Keys are arrays of numbers with one more axis than JAX says, at the end. */
#include "frontend/write/stablehlo_rules.h"

static bool is_key(const jx_hlo_eqn *e, int operand)
{
    return jx_atom_aval(e->eqn->ins[operand])->dtype == JX_KEY;
}

static const jx_dim *number(jx_hlo_eqn *e, int64_t value)
{
    return jx_hlo_int(e->code->in, value);
}

/* The list, and `last` behind it for a key. */
static const int64_t *with_last(jx_hlo_eqn *e, jx_ints list, int64_t last)
{
    int64_t *all =
        JX_NEW_ARRAY(e->code->in->ctx->arena, list.count + 1, int64_t);

    if (!all)
        return NULL;
    for (int i = 0; i < list.count; i++)
        all[i] = list.at[i];
    all[list.count] = last;
    return all;
}

static const jx_dim *const *with_last_dim(jx_hlo_eqn *e, int count,
                                          const jx_dim *const *list,
                                          const jx_dim *last)
{
    const jx_dim **all =
        JX_NEW_ARRAY(e->code->in->ctx->arena, count + 1, const jx_dim *);

    if (!all)
        return NULL;
    for (int i = 0; i < count; i++)
        all[i] = list[i];
    all[count] = last;
    return all;
}

void jx_lowering_rule_broadcast_in_dim(jx_hlo_eqn *e)
{
    const jx_p_broadcast_in_dim *p = e->eqn->typed;
    const int64_t *dims =
        with_last(e, p->broadcast_dimensions, e->avals[0]->rank - 1);

    if (dims)
        jx_hlo_fill(e, jx_hlo_broadcast(e->code, e->ins[0], e->avals[0], dims));
}

void jx_lowering_rule_reshape(jx_hlo_eqn *e)
{
    const jx_p_reshape *p = e->eqn->typed;
    jx_hv x = e->ins[0];

    if (p->dimensions.count && p->dimensions.count == x.aval->rank)
        x = jx_hlo_transpose(e->code, x, p->dimensions.at);
    jx_hlo_fill(
        e, jx_hlo_reshape(e->code, x, e->avals[0]->rank, e->avals[0]->shape));
}

/* Axes of size 1 that come or go. */
void jx_lowering_rule_squeeze(jx_hlo_eqn *e)
{
    jx_hlo_fill(e, jx_hlo_reshape(e->code, e->ins[0], e->avals[0]->rank,
                                  e->avals[0]->shape));
}

void jx_lowering_rule_transpose(jx_hlo_eqn *e)
{
    const jx_p_transpose *p = e->eqn->typed;
    const int64_t *axes = with_last(e, p->permutation, p->permutation.count);

    if (axes)
        jx_hlo_fill(e, jx_hlo_transpose(e->code, e->ins[0], axes));
}

void jx_lowering_rule_reverse(jx_hlo_eqn *e)
{
    const jx_p_dimensions *p = e->eqn->typed;

    jx_hlo_fill(e, jx_hlo_reverse(e->code, e->ins[0], p->dimensions.count,
                                  p->dimensions.at));
}

void jx_lowering_rule_slice(jx_hlo_eqn *e)
{
    const jx_p_slice *p = e->eqn->typed;
    const jx_aval *in = e->ins[0].aval;
    int n = p->start_indices.count;
    const jx_dim *const *from, *const *to, *const *steps = NULL;

    if (!in)
        return;
    from = with_last_dim(e, n, p->start_indices.at, number(e, 0));
    to = with_last_dim(e, n, p->limit_indices.at, in->shape[in->rank - 1]);
    if (p->strides.given)
        steps = with_last_dim(e, n, p->strides.at, number(e, 1));
    if (from && to)
        jx_hlo_fill(e, jx_hlo_slice(e->code, e->ins[0], from, to, steps));
}

void jx_lowering_rule_pad(jx_hlo_eqn *e)
{
    const jx_p_pad *p = e->eqn->typed;

    jx_hlo_fill(
        e, jx_hlo_pad(e->code, e->ins[0], e->ins[1], p->padding_config.at));
}

void jx_lowering_rule_concatenate(jx_hlo_eqn *e)
{
    const jx_p_concatenate *p = e->eqn->typed;

    jx_hlo_fill(e, jx_hlo_concatenate(e->code, e->eqn->nins, e->ins,
                                      (int)p->dimension));
}

void jx_lowering_rule_iota(jx_hlo_eqn *e)
{
    const jx_p_iota *p = e->eqn->typed;
    jx_code *c = e->code;
    const jx_aval *aval = e->avals[0];
    jx_dtype dtype = aval->dtype;
    jx_dtype made = dtype == JX_BOOL ? JX_I32 : dtype;

    jx_hv out =
        jx_hlo_iota(c, jx_hlo_with_dtype(c->in, aval, made), (int)p->dimension);
    jx_hlo_fill(e, made == dtype ? out : jx_hlo_convert(c, out, dtype));
}

void jx_lowering_rule_split(jx_hlo_eqn *e)
{
    const jx_p_split *p = e->eqn->typed;
    jx_dims *dims = e->code->in->program->dims;
    const jx_dim *at = number(e, 0);

    for (int i = 0; i < e->eqn->nouts && i < p->sizes.count; i++) {
        const jx_dim *end = jx_dim_add(dims, at, p->sizes.at[i]);
        e->outs[i] =
            jx_hlo_slice_axis(e->code, e->ins[0], (int)p->axis, at, end);
        at = end;
    }
}

/* Each operand with one more axis of size 1, put together along it. */
void jx_lowering_rule_stack(jx_hlo_eqn *e)
{
    const jx_p_stack *p = e->eqn->typed;
    jx_arena *arena = e->code->in->ctx->arena;
    int rank = e->avals[0]->rank, axis = (int)p->axis;
    const jx_dim **shape = JX_NEW_ARRAY(arena, rank + 1, const jx_dim *);
    jx_hv *parts = JX_NEW_ARRAY(arena, e->eqn->nins + 1, jx_hv);

    if (!shape || !parts)
        return;
    for (int i = 0; i < rank; i++)
        shape[i] = i == axis ? number(e, 1) : e->avals[0]->shape[i];
    for (int i = 0; i < e->eqn->nins; i++)
        parts[i] = jx_hlo_reshape(e->code, e->ins[i], rank, shape);
    jx_hlo_fill(e, jx_hlo_concatenate(e->code, e->eqn->nins, parts, axis));
}

void jx_lowering_rule_unstack(jx_hlo_eqn *e)
{
    const jx_p_stack *p = e->eqn->typed;

    for (int i = 0; i < e->eqn->nouts; i++)
        e->outs[i] =
            jx_hlo_reshape(e->code,
                           jx_hlo_slice_axis(e->code, e->ins[0], (int)p->axis,
                                             number(e, i), number(e, i + 1)),
                           e->avals[i]->rank, e->avals[i]->shape);
}

/* Every axis twice: the copies, and what is copied. */
void jx_lowering_rule_tile(jx_hlo_eqn *e)
{
    const jx_p_tile *p = e->eqn->typed;
    jx_arena *arena = e->code->in->ctx->arena;
    const jx_aval *in = e->ins[0].aval;
    int rank = in ? in->rank : 0;
    const jx_dim **shape = JX_NEW_ARRAY(arena, 2 * rank + 1, const jx_dim *);
    int64_t *axes = JX_NEW_ARRAY(arena, rank + 1, int64_t);

    if (!shape || !axes || !in || p->reps.count != rank)
        return;
    for (int i = 0; i < rank; i++) {
        shape[2 * i] = p->reps.at[i];
        shape[2 * i + 1] = in->shape[i];
        axes[i] = 2 * i + 1;
    }
    jx_hv wide = jx_hlo_broadcast(
        e->code, e->ins[0],
        jx_hlo_aval(e->code->in, in->dtype, 2 * rank, shape), axes);
    jx_hlo_fill(e, jx_hlo_reshape(e->code, wide, e->avals[0]->rank,
                                  e->avals[0]->shape));
}

void jx_lowering_rule_empty(jx_hlo_eqn *e)
{
    jx_hlo_fill(e, jx_hlo_full_int(e->code, e->avals[0], 0));
}

/* ---- slices at places that are values */

/* The starts, and a 0 for the axis of a key's numbers. */
static jx_hv *starts(jx_hlo_eqn *e, int first, int rank, bool key)
{
    jx_hv *all = JX_NEW_ARRAY(e->code->in->ctx->arena, rank + 1, jx_hv);

    for (int i = 0; all && i < rank; i++) {
        if (first + i < e->eqn->nins)
            all[i] = e->ins[first + i];
        else if (key && rank > 1)
            all[i] = jx_hlo_scalar_int(e->code, all[0].aval->dtype, 0);
        else
            all[i] = jx_hlo_scalar_int(e->code, JX_I32, 0);
    }
    return all;
}

void jx_lowering_rule_dynamic_slice(jx_hlo_eqn *e)
{
    jx_hv x = e->ins[0];
    jx_hv *at;

    if (!x.value)
        return;
    at = starts(e, 1, x.aval->rank, is_key(e, 0));
    if (at)
        jx_hlo_fill(e,
                    jx_hlo_dynamic_slice(e->code, x, at, e->avals[0]->shape));
}

void jx_lowering_rule_dynamic_update_slice(jx_hlo_eqn *e)
{
    jx_hv x = e->ins[0];
    jx_hv *at;

    if (!x.value)
        return;
    at = starts(e, 2, x.aval->rank, is_key(e, 0));
    if (at)
        jx_hlo_fill(e, jx_hlo_dynamic_update(e->code, x, e->ins[1], at));
}

/* ---- gather and scatter */

static bool is_empty(const jx_aval *aval)
{
    int64_t size;

    for (int i = 0; i < aval->rank; i++)
        if (jx_dim_is_int(aval->shape[i], &size) && !size)
            return true;
    return false;
}

static const jx_mlir_attr *gather_dims(jx_hlo_eqn *e, int index_rank)
{
    static const char *const names[] = {
        "offset_dims",           "collapsed_slice_dims",
        "operand_batching_dims", "start_indices_batching_dims",
        "start_index_map",       "index_vector_dim"};
    const jx_gather_dims *d =
        &((const jx_p_gather *)e->eqn->typed)->dimension_numbers;
    jx_hlo *in = e->code->in;
    bool key = is_key(e, 0);
    const int64_t *offsets =
        with_last(e, d->offset_dims, e->avals[0]->rank - 1);
    const jx_mlir_attr *items[] = {
        jx_hlo_some(in, d->offset_dims.count + key, offsets),
        jx_hlo_some(in, d->collapsed_slice_dims.count,
                    d->collapsed_slice_dims.at),
        jx_hlo_some(in, d->operand_batching_dims.count,
                    d->operand_batching_dims.at),
        jx_hlo_some(in, d->start_indices_batching_dims.count,
                    d->start_indices_batching_dims.at),
        jx_hlo_some(in, d->start_index_map.count, d->start_index_map.at),
        index_rank > 1 ? jx_hlo_i64(in, index_rank - 1) : NULL};

    return jx_hlo_record(in, "stablehlo.gather", 6, names, items);
}

static jx_hv gather(jx_hlo_eqn *e, jx_hv indices)
{
    const jx_p_gather *p = e->eqn->typed;
    jx_code *c = e->code;
    jx_hv ins[3] = {e->ins[0], indices};
    const jx_aval *in = e->ins[0].aval;
    const jx_dim *const *sizes = with_last_dim(
        e, p->slice_sizes.count, p->slice_sizes.at, in->shape[in->rank - 1]);
    int n = in->rank;
    bool numbers = true;
    int64_t size;

    if (!sizes)
        return (jx_hv){0};
    for (int i = 0; i < n; i++)
        numbers = numbers && jx_dim_is_int(sizes[i], &size);
    if (numbers && is_empty(e->avals[0]))
        return jx_hlo_full_int(c, e->avals[0], 0);
    jx_mlir_named attrs[] = {
        {"dimension_numbers", gather_dims(e, indices.aval->rank)},
        {"indices_are_sorted",
         p->indices_are_sorted ? jx_hlo_bool(c->in, true) : NULL},
        {"slice_sizes",
         numbers ? jx_hlo_dims_attr(c, n, sizes, "slice sizes") : NULL}};
    if (!numbers)
        ins[2] = jx_hlo_dims(c, n, sizes);
    return jx_hlo_simple(
        c, numbers ? "stablehlo.gather" : "stablehlo.dynamic_gather",
        numbers ? 2 : 3, ins, e->avals[0], 3, attrs);
}

/* An integer dtype, signed, for places in an array of this shape. */
static jx_dtype place_dtype(const jx_aval *aval)
{
    int64_t size;

    for (int i = 0; i < aval->rank; i++)
        if (jx_dim_is_int(aval->shape[i], &size) && size > INT32_MAX)
            return JX_I64;
    return JX_I32;
}

/* operand size - slice size, for each axis that an index has; no more than the
 * dtype of the indices holds. */
static jx_hv upper_bounds(jx_code *c, const jx_aval *operand, jx_ints axes,
                          const jx_dim *const *sizes, jx_dtype dtype)
{
    jx_hlo *in = c->in;
    const jx_dtype_info *info = jx_dtype_of(dtype);
    int bits = info->bits - (info->kind == JX_KIND_INT);
    int64_t most = bits > 62 ? INT64_MAX : ((int64_t)1 << bits) - 1;
    const jx_dim **bounds =
        JX_NEW_ARRAY(in->ctx->arena, axes.count + 1, const jx_dim *);
    int64_t *values = JX_NEW_ARRAY(in->ctx->arena, axes.count + 1, int64_t);
    bool numbers = true;
    jx_hv all;

    if (!bounds || !values)
        return (jx_hv){0};
    for (int i = 0; i < axes.count; i++) {
        bounds[i] = jx_dim_sub(in->program->dims, operand->shape[axes.at[i]],
                               sizes[axes.at[i]]);
        numbers = numbers && jx_dim_is_int(bounds[i], &values[i]);
    }
    if (numbers) {
        for (int i = 0; i < axes.count; i++)
            if (values[i] > most)
                values[i] = most;
        return jx_hlo_vector(c, dtype, axes.count, values);
    }
    all = jx_hlo_dims(c, axes.count, bounds);
    if (all.value && most < INT32_MAX)
        all = jx_hlo_binary(c, "stablehlo.minimum", all,
                            jx_hlo_full_int(c, all.aval, most));
    return jx_hlo_convert(c, all, dtype);
}

/* One truth value per index vector: all of it within bounds. */
static jx_hv within(jx_hlo_eqn *e, jx_hv indices)
{
    const jx_p_gather *p = e->eqn->typed;
    jx_code *c = e->code;
    int64_t last = indices.aval->rank - 1;
    jx_hv bound =
        upper_bounds(c, e->ins[0].aval, p->dimension_numbers.start_index_map,
                     p->slice_sizes.at, indices.aval->dtype);
    jx_hv fits = jx_hlo_and(
        c, jx_hlo_compare(c, "GE", indices, jx_hlo_like(c, indices, 0)),
        jx_hlo_compare(c, "LE", indices,
                       jx_hlo_along(c, bound, indices.aval, (int)last)));

    return jx_hlo_reduce(c, "stablehlo.and", fits,
                         jx_hlo_scalar_int(c, JX_BOOL, 1), 1, &last);
}

/* What stands where an index is out of bounds: as told, or NaN, the least of
 * signed and the greatest of unsigned integers, true. */
static jx_hv filling(jx_hlo_eqn *e)
{
    const jx_value *v = ((const jx_p_gather *)e->eqn->typed)->fill_value;
    jx_dtype dtype = e->avals[0]->dtype;
    jx_code *c = e->code;

    if (v && v->tag == JX_V_INT)
        return jx_hlo_scalar_int(c, dtype, v->integer);
    if (v && v->tag == JX_V_FLOAT)
        return jx_hlo_scalar(c, dtype, v->real);
    if (v && v->tag == JX_V_BOOL)
        return jx_hlo_scalar_int(c, dtype, v->boolean);
    if (jx_dtype_is_inexact(dtype))
        return jx_hlo_scalar(c, dtype, __builtin_nan(""));
    return jx_dtype_of(dtype)->kind == JX_KIND_INT ? jx_hlo_least(c, dtype)
                                                   : jx_hlo_greatest(c, dtype);
}

void jx_lowering_rule_gather(jx_hlo_eqn *e)
{
    const jx_p_gather *p = e->eqn->typed;
    jx_code *c = e->code;
    jx_hv indices = e->ins[1], mask, out;
    int64_t axes[64];
    int n = 0, rank = e->avals[0]->rank;

    if (!e->ins[0].value || !indices.value || rank > 64)
        return;
    if (p->mode != JX_MODE_FILL_OR_DROP) {
        jx_hlo_fill(e, gather(e, indices));
        return;
    }
    indices = jx_hlo_convert(c, indices, place_dtype(e->ins[0].aval));
    if (!indices.value)
        return;
    mask = within(e, indices);
    out = gather(e, indices);
    for (int i = 0; i < rank - is_key(e, 0); i++)
        if (!jx_ints_hold(p->dimension_numbers.offset_dims, i))
            axes[n++] = i;
    if (mask.value && out.value)
        jx_hlo_fill(e,
                    jx_hlo_select(c, jx_hlo_broadcast(c, mask, out.aval, axes),
                                  out, jx_hlo_spread(c, filling(e), out.aval)));
}

const jx_mlir_attr *jx_hlo_scatter_dims(jx_hlo *in, const jx_scatter_dims *d,
                                        int index_rank)
{
    static const char *const names[] = {
        "update_window_dims",           "inserted_window_dims",
        "input_batching_dims",          "scatter_indices_batching_dims",
        "scatter_dims_to_operand_dims", "index_vector_dim"};
    const jx_mlir_attr *items[] = {
        jx_hlo_some(in, d->update_window_dims.count, d->update_window_dims.at),
        jx_hlo_some(in, d->inserted_window_dims.count,
                    d->inserted_window_dims.at),
        jx_hlo_some(in, d->operand_batching_dims.count,
                    d->operand_batching_dims.at),
        jx_hlo_some(in, d->scatter_indices_batching_dims.count,
                    d->scatter_indices_batching_dims.at),
        jx_hlo_some(in, d->scatter_dims_to_operand_dims.count,
                    d->scatter_dims_to_operand_dims.at),
        index_rank > 1 ? jx_hlo_i64(in, index_rank - 1) : NULL};

    return jx_hlo_record(in, "stablehlo.scatter", 6, names, items);
}

/* A key's numbers are one more axis of the windows. */
static const jx_mlir_attr *scatter_dims(jx_hlo_eqn *e, int index_rank)
{
    jx_scatter_dims d =
        ((const jx_p_scatter *)e->eqn->typed)->dimension_numbers;

    if (is_key(e, 0)) {
        d.update_window_dims.at =
            with_last(e, d.update_window_dims, e->ins[2].aval->rank - 1);
        if (!d.update_window_dims.at)
            return NULL;
        d.update_window_dims.count++;
    }
    return jx_hlo_scatter_dims(e->code->in, &d, index_rank);
}

/* Indices pulled in to where the windows fit. */
static jx_hv clipped(jx_hlo_eqn *e, jx_hv indices)
{
    const jx_scatter_dims *d =
        &((const jx_p_scatter *)e->eqn->typed)->dimension_numbers;
    jx_code *c = e->code;
    const jx_aval *operand = e->ins[0].aval, *updates = e->ins[2].aval;
    const jx_dim **sizes =
        JX_NEW_ARRAY(c->in->ctx->arena, operand->rank + 1, const jx_dim *);
    jx_hv ins[3];
    int at = 0;

    if (!sizes)
        return (jx_hv){0};
    for (int i = 0; i < operand->rank; i++) {
        bool one = jx_ints_hold(d->inserted_window_dims, i) ||
                   jx_ints_hold(d->operand_batching_dims, i);
        sizes[i] = one || at >= d->update_window_dims.count
                       ? number(e, 1)
                       : updates->shape[d->update_window_dims.at[at++]];
    }
    ins[0] = jx_hlo_scalar_int(c, indices.aval->dtype, 0);
    ins[1] = indices;
    ins[2] =
        jx_hlo_along(c,
                     upper_bounds(c, operand, d->scatter_dims_to_operand_dims,
                                  sizes, indices.aval->dtype),
                     indices.aval, indices.aval->rank - 1);
    return jx_hlo_simple(c, "stablehlo.clamp", 3, ins, indices.aval, 0, NULL);
}

/* What becomes of an element and its update: `detail`, or the update. */
static jx_mlir_region combiner(jx_hlo_eqn *e)
{
    const jx_p_scatter *p = e->eqn->typed;
    jx_code *c = e->code;
    jx_dtype dtype = e->avals[0]->dtype, dtypes[2] = {dtype, dtype};
    jx_hv x[2], out;
    jx_code *inner = jx_hlo_begin_scalars(c, 2, dtypes, x);

    if (!inner)
        return (jx_mlir_region){0};
    if (*e->detail)
        out = jx_hlo_extreme(inner, e->detail, x[0], x[1]);
    else if (p->update_jaxpr.jaxpr && p->update_jaxpr.jaxpr->nins == 2)
        jx_hlo_inline(inner, &p->update_jaxpr, x, &out);
    else
        out = x[1];
    return jx_hlo_finish(inner, 1, &out);
}

void jx_lowering_rule_scatter(jx_hlo_eqn *e)
{
    const jx_p_scatter *p = e->eqn->typed;
    jx_code *c = e->code;
    jx_hv ins[3] = {e->ins[0], e->ins[1], e->ins[2]};

    if (!ins[0].value || !ins[1].value || !ins[2].value)
        return;
    if (p->mode == JX_MODE_CLIP)
        ins[1] = clipped(e, ins[1]);
    jx_mlir_named attrs[] = {
        {"scatter_dimension_numbers", scatter_dims(e, e->ins[1].aval->rank)},
        {"indices_are_sorted",
         p->indices_are_sorted ? jx_hlo_bool(c->in, true) : NULL},
        {"unique_indices",
         p->unique_indices ? jx_hlo_bool(c->in, true) : NULL}};
    jx_mlir_region body = combiner(e);
    jx_hlo_fill(e, jx_hlo_emit1(c, &(jx_hlo_op){.name = "stablehlo.scatter",
                                                .nins = 3,
                                                .ins = ins,
                                                .nouts = 1,
                                                .outs = e->avals,
                                                .nattrs = 3,
                                                .attrs = attrs,
                                                .nregions = 1,
                                                .regions = &body}));
}
