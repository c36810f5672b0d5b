/* type_rules_shape.c - the same elements in another shape,
 * arrays from nothing. */
#include "analyzer/type_rules.h"

/* Sizes given by parameters: none is negative. */
static void require_sizes(jx_typing *t, jx_dim_list sizes, const char *name)
{
    for (int i = 0; i < sizes.count; i++)
        jx_require_ge(t, sizes.at[i], jx_const(t, 0), "%s, axis %d", name, i);
}

void jx_type_broadcast_in_dim(jx_typing *t)
{
    const jx_p_broadcast_in_dim *p = t->params;
    const jx_aval *in;

    if (!jx_type_counts(t, 1, 1))
        return;
    in = t->ins[0];
    if (p->broadcast_dimensions.count != in->rank) {
        jx_type_wrong(t, "%d broadcast_dimensions for rank %d",
                      p->broadcast_dimensions.count, in->rank);
        return;
    }
    if (!jx_type_axes(t, "broadcast_dimensions", p->broadcast_dimensions,
                      p->shape.count))
        return;
    require_sizes(t, p->shape, "shape");
    for (int i = 0; i < in->rank; i++)
        if (!jx_is_number(in->shape[i], 1))
            jx_require_eq(t, in->shape[i],
                          p->shape.at[p->broadcast_dimensions.at[i]],
                          "operand 0, axis %d: the size that it takes", i);
    jx_type_out_like(t, 0, in, in->weak, p->shape.count, p->shape.at);
}

/* The product of the sizes of `a` that are not matched by one of `b`. */
static const jx_dim *rest_product(jx_typing *t, const jx_dim *const *a, int na,
                                  const bool *matched)
{
    const jx_dim *product = jx_const(t, 1);

    for (int i = 0; i < na; i++)
        if (!matched || !matched[i])
            product = jx_times(t, product, a[i]);
    return product;
}

/* Equal sizes on both sides are left out first: if the rest agrees, so do the
 * whole.  Else the whole is compared, for a size of 0 may make up for much. */
static void require_same_count(jx_typing *t, const jx_aval *in,
                               jx_dim_list sizes)
{
    jx_arena *arena = t->program->ctx->arena;
    bool *of_in = JX_NEW_ARRAY(arena, in->rank, bool);
    bool *of_out = JX_NEW_ARRAY(arena, sizes.count, bool);

    for (int i = 0; of_in && of_out && i < in->rank; i++)
        for (int k = 0; k < sizes.count && !of_in[i]; k++)
            if (!of_out[k] && in->shape[i] == sizes.at[k])
                of_in[i] = of_out[k] = true;
    const jx_dim *before = rest_product(t, in->shape, in->rank, of_in);
    const jx_dim *after = rest_product(t, sizes.at, sizes.count, of_out);
    if (!before || before != after) {
        before = rest_product(t, in->shape, in->rank, NULL);
        after = rest_product(t, sizes.at, sizes.count, NULL);
    }
    jx_require_eq(t, before, after, "the number of elements");
}

void jx_type_reshape(jx_typing *t)
{
    const jx_p_reshape *p = t->params;
    const jx_aval *in;

    if (!jx_type_counts(t, 1, 1))
        return;
    in = t->ins[0];
    if (p->dimensions.count &&
        (p->dimensions.count != in->rank ||
         !jx_type_axes(t, "dimensions", p->dimensions, in->rank))) {
        jx_type_wrong(t, "dimensions are no order of the operand's axes");
        return;
    }
    require_sizes(t, p->new_sizes, "new_sizes");
    require_same_count(t, in, p->new_sizes);
    jx_type_out_like(t, 0, in, in->weak, p->new_sizes.count, p->new_sizes.at);
}

void jx_type_squeeze(jx_typing *t)
{
    const jx_p_dimensions *p = t->params;
    const jx_aval *in = t->ins[0];
    const jx_dim **shape = jx_shape(t, in->rank);
    int rank = 0;

    if (!shape || !jx_type_axes(t, "dimensions", p->dimensions, in->rank))
        return;
    for (int i = 0; i < in->rank; i++)
        if (jx_has_axis(p->dimensions, i))
            jx_require_eq(t, in->shape[i], jx_const(t, 1),
                          "operand 0, axis %d: what is squeezed out", i);
        else
            shape[rank++] = in->shape[i];
    jx_type_out_like(t, 0, in, in->weak, rank, shape);
}

/* `dimensions` count in the result. */
void jx_type_expand_dims(jx_typing *t)
{
    const jx_p_dimensions *p = t->params;
    const jx_aval *in = t->ins[0];
    int rank = in->rank + p->dimensions.count, from = 0;
    const jx_dim **shape = jx_shape(t, rank);

    if (!shape || !jx_type_axes(t, "dimensions", p->dimensions, rank))
        return;
    for (int i = 0; i < rank; i++)
        shape[i] =
            jx_has_axis(p->dimensions, i) ? jx_const(t, 1) : in->shape[from++];
    jx_type_out_like(t, 0, in, in->weak, rank, shape);
}

void jx_type_transpose(jx_typing *t)
{
    const jx_p_transpose *p = t->params;
    const jx_aval *in = t->ins[0];
    const jx_dim **shape = jx_shape(t, in->rank);

    if (!shape || !jx_type_axes(t, "permutation", p->permutation, in->rank))
        return;
    if (p->permutation.count != in->rank) {
        jx_type_wrong(t, "a permutation of %d axes for rank %d",
                      p->permutation.count, in->rank);
        return;
    }
    for (int i = 0; i < in->rank; i++)
        shape[i] = in->shape[p->permutation.at[i]];
    jx_type_out_like(t, 0, in, in->weak, in->rank, shape);
}

void jx_type_rev(jx_typing *t)
{
    const jx_p_dimensions *p = t->params;
    const jx_aval *in = t->ins[0];

    if (jx_type_axes(t, "dimensions", p->dimensions, in->rank))
        jx_type_out_like(t, 0, in, in->weak, in->rank, in->shape);
}

static const jx_dim *slice_axis(jx_typing *t, const jx_p_slice *p, int axis)
{
    const jx_dim *size = t->ins[0]->shape[axis];
    const jx_dim *start = p->start_indices.at[axis];
    const jx_dim *limit = p->limit_indices.at[axis];
    const jx_dim *extent = jx_minus(t, limit, start);

    jx_require_ge(t, start, jx_const(t, 0), "start_indices, axis %d", axis);
    jx_require_ge(t, limit, start,
                  "limit_indices against start_indices, "
                  "axis %d",
                  axis);
    jx_require_ge(t, size, limit, "operand 0 against limit_indices, axis %d",
                  axis);
    if (!p->strides.given)
        return extent;
    const jx_dim *stride = p->strides.at[axis];
    if (jx_is_number(stride, 1))
        return extent;
    jx_require_ge(t, stride, jx_const(t, 1), "strides, axis %d", axis);
    if (jx_dim_value(stride) == 0)
        return NULL;
    return jx_strided(t, extent, jx_const(t, 1), stride);
}

void jx_type_slice(jx_typing *t)
{
    const jx_p_slice *p = t->params;
    const jx_aval *in = t->ins[0];
    const jx_dim **shape = jx_shape(t, in->rank);

    if (!shape)
        return;
    if (p->start_indices.count != in->rank ||
        p->limit_indices.count != in->rank ||
        (p->strides.given && p->strides.count != in->rank)) {
        jx_type_wrong(t,
                      "start_indices, limit_indices and strides have %d, "
                      "%d and %d entries for rank %d",
                      p->start_indices.count, p->limit_indices.count,
                      p->strides.given ? p->strides.count : in->rank, in->rank);
        return;
    }
    for (int i = 0; i < in->rank; i++)
        shape[i] = slice_axis(t, p, i);
    jx_type_out_like(t, 0, in, in->weak, in->rank, shape);
}

void jx_type_pad(jx_typing *t)
{
    const jx_p_pad *p = t->params;
    const jx_aval *in = t->ins[0];
    const jx_dim **shape = jx_shape(t, in->rank);

    if (!shape || !jx_type_same_dtypes(t, 0, 2) || !jx_type_scalar(t, 1))
        return;
    if (p->padding_config.count != in->rank) {
        jx_type_wrong(t, "padding_config has %d entries for rank %d",
                      p->padding_config.count, in->rank);
        return;
    }
    for (int i = 0; i < in->rank; i++) {
        const jx_dim *const *edge = &p->padding_config.at[3 * i];
        jx_require_ge(t, edge[2], jx_const(t, 0), "interior padding, axis %d",
                      i);
        shape[i] = jx_plus(
            t, jx_plus(t, edge[0], edge[1]),
            jx_dilated(t, in->shape[i], jx_plus(t, edge[2], jx_const(t, 1))));
        jx_require_ge(t, shape[i], jx_const(t, 0), "the padded size, axis %d",
                      i);
    }
    jx_type_out_like(t, 0, in, jx_all_weak(t), in->rank, shape);
}

/* Operands of one rank and dtype whose axes agree, but perhaps for one. */
static bool fit_together(jx_typing *t, int64_t but)
{
    const jx_aval *first;

    if (t->nins == 0)
        return jx_type_wrong(t, "has no operands");
    first = t->ins[0];
    if (!jx_type_same_dtypes(t, 0, t->nins))
        return false;
    for (int i = 1; i < t->nins; i++) {
        if (t->ins[i]->rank != first->rank)
            return jx_type_wrong(t, "operand 0 has rank %d, operand %d has %d",
                                 first->rank, i, t->ins[i]->rank);
        for (int k = 0; k < first->rank; k++)
            if (k != but)
                jx_require_eq(t, first->shape[k], t->ins[i]->shape[k],
                              "operands 0 and %d, axis %d", i, k);
    }
    return true;
}

void jx_type_concatenate(jx_typing *t)
{
    const jx_p_concatenate *p = t->params;
    const jx_dim *total = jx_const(t, 0);

    if (!fit_together(t, p->dimension) ||
        !jx_type_axis(t, "dimension", p->dimension, t->ins[0]->rank))
        return;
    const jx_aval *first = t->ins[0];
    const jx_dim **shape = jx_shape(t, first->rank);
    for (int k = 0; shape && k < first->rank; k++)
        shape[k] = first->shape[k];
    for (int i = 0; i < t->nins; i++)
        total = jx_plus(t, total, t->ins[i]->shape[p->dimension]);
    if (!shape)
        return;
    shape[p->dimension] = total;
    jx_type_out_like(t, 0, first, jx_all_weak(t), first->rank, shape);
}

void jx_type_stack(jx_typing *t)
{
    const jx_p_stack *p = t->params;

    if (!fit_together(t, -1) ||
        !jx_type_axis(t, "axis", p->axis, t->ins[0]->rank + 1))
        return;
    const jx_aval *first = t->ins[0];
    const jx_dim **shape = jx_shape(t, first->rank + 1);
    for (int k = 0; shape && k <= first->rank; k++)
        shape[k] = k == p->axis  ? jx_const(t, t->nins)
                   : k < p->axis ? first->shape[k]
                                 : first->shape[k - 1];
    if (shape)
        jx_type_out_like(t, 0, first, jx_all_weak(t), first->rank + 1, shape);
}

void jx_type_unstack(jx_typing *t)
{
    const jx_p_stack *p = t->params;
    const jx_aval *in = t->ins[0];
    const jx_dim **shape = jx_shape(t, in->rank);
    int rank = 0;

    if (!shape || !jx_type_axis(t, "axis", p->axis, in->rank))
        return;
    jx_require_eq(t, in->shape[p->axis], jx_const(t, t->nouts),
                  "operand 0, axis %lld: one result per item",
                  (long long)p->axis);
    for (int k = 0; k < in->rank; k++)
        if (k != p->axis)
            shape[rank++] = in->shape[k];
    for (int i = 0; i < t->nouts; i++)
        jx_type_out_like(t, i, in, in->weak, rank, shape);
}

void jx_type_split(jx_typing *t)
{
    const jx_p_split *p = t->params;
    const jx_aval *in = t->ins[0];
    const jx_dim **shape = jx_shape(t, in->rank), *total = jx_const(t, 0);

    if (!shape || !jx_type_axis(t, "axis", p->axis, in->rank) ||
        !jx_type_counts(t, 1, p->sizes.count))
        return;
    for (int k = 0; k < in->rank; k++)
        shape[k] = in->shape[k];
    for (int i = 0; i < p->sizes.count; i++) {
        jx_require_ge(t, p->sizes.at[i], jx_const(t, 0), "sizes, part %d", i);
        total = jx_plus(t, total, p->sizes.at[i]);
        shape[p->axis] = p->sizes.at[i];
        jx_type_out_like(t, i, in, in->weak, in->rank, shape);
    }
    jx_require_eq(t, in->shape[p->axis], total,
                  "operand 0, axis %lld: the sum of sizes", (long long)p->axis);
}

void jx_type_tile(jx_typing *t)
{
    const jx_p_tile *p = t->params;
    const jx_aval *in = t->ins[0];
    const jx_dim **shape = jx_shape(t, in->rank);

    if (p->reps.count != in->rank) {
        jx_type_wrong(t, "%d reps for rank %d", p->reps.count, in->rank);
        return;
    }
    for (int k = 0; shape && k < in->rank; k++) {
        jx_require_ge(t, p->reps.at[k], jx_const(t, 0), "reps, axis %d", k);
        shape[k] = jx_times(t, in->shape[k], p->reps.at[k]);
    }
    if (shape)
        jx_type_out_like(t, 0, in, in->weak, in->rank, shape);
}

void jx_type_iota(jx_typing *t)
{
    const jx_p_iota *p = t->params;
    const jx_dtype_info *info = jx_dtype_of(p->dtype);

    if (!(JX_TAKES_NUMBER & 1u << info->kind)) {
        jx_type_wrong(t, "counts in %s", info->short_name);
        return;
    }
    if (!jx_type_axis(t, "dimension", p->dimension, p->shape.count))
        return;
    require_sizes(t, p->shape, "shape");
    jx_type_out(t, 0, p->dtype, false, p->shape.count, p->shape.at);
}

void jx_type_iota_2x32(jx_typing *t)
{
    const jx_p_shape *p = t->params;

    require_sizes(t, p->shape, "shape");
    jx_type_out(t, 0, JX_U32, false, p->shape.count, p->shape.at);
    jx_type_out(t, 1, JX_U32, false, p->shape.count, p->shape.at);
}

void jx_type_empty(jx_typing *t)
{
    const jx_p_empty *p = t->params;

    require_sizes(t, p->shape, "shape");
    jx_type_out(t, 0, p->dtype, false, p->shape.count, p->shape.at);
}
