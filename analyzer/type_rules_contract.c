/* type_rules_contract.c - dot_general, convolutions, Fourier transforms. */
#include "analyzer/type_rules.h"
#include "frontend/ir/dot_algorithm.h"

/* What decides which of two dtypes a product has: XLA's order, larger range
 * and precision first. */
typedef struct weight {
    bool complex;
    int range, precision, bits;
    bool is_signed;
} weight;

/* Of floats: the exponent of the largest number, and the mantissa's bits. */
typedef struct float_size {
    jx_dtype dtype;
    int range, precision;
} float_size;

static const float_size floats[] = {
    {JX_F4_E2M1FN, 3, 1},      {JX_F8_E3M4, 4, 4},      {JX_F8_E4M3, 8, 3},
    {JX_F8_E4M3B11FNUZ, 5, 3}, {JX_F8_E4M3FN, 9, 3},    {JX_F8_E4M3FNUZ, 8, 3},
    {JX_F8_E5M2, 16, 2},       {JX_F8_E5M2FNUZ, 16, 2}, {JX_F8_E8M0FNU, 128, 0},
    {JX_BF16, 128, 7},         {JX_F16, 16, 10},        {JX_F32, 128, 23},
    {JX_F64, 1024, 52},
};

/* A bool counts as one bit. */
static int width(jx_dtype dtype)
{
    return dtype == JX_BOOL ? 1 : jx_dtype_of(jx_dtype_real(dtype))->bits;
}

static weight weigh(jx_dtype dtype)
{
    jx_dtype part = jx_dtype_real(dtype);
    weight w = {jx_dtype_is_complex(dtype), -1, -1, width(dtype),
                jx_dtype_of(part)->kind != JX_KIND_UINT};

    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
        if (floats[i].dtype == part) {
            w.range = floats[i].range;
            w.precision = floats[i].precision;
        }
    return w;
}

static int heavier(weight a, weight b)
{
    int by[] = {a.complex - b.complex, a.range - b.range,
                a.precision - b.precision, a.bits - b.bits,
                a.is_signed - b.is_signed};

    for (size_t i = 0; i < sizeof by / sizeof *by; i++)
        if (by[i])
            return by[i];
    return 0;
}

static bool product_dtype(jx_typing *t, jx_dtype *dtype)
{
    jx_dtype a = t->ins[0]->dtype, b = t->ins[1]->dtype;
    int order = heavier(weigh(a), weigh(b));

    *dtype = order >= 0 ? a : b;
    return (order == 0 && a != b) ? jx_type_same_dtypes(t, 0, 2) : true;
}

static bool check_dot_axes(jx_typing *t, const jx_dot_dims *d)
{
    int a = t->ins[0]->rank, b = t->ins[1]->rank;

    if (!jx_type_axes(t, "lhs_contracting", d->lhs_contracting, a) ||
        !jx_type_axes(t, "lhs_batch", d->lhs_batch, a) ||
        !jx_type_axes(t, "rhs_contracting", d->rhs_contracting, b) ||
        !jx_type_axes(t, "rhs_batch", d->rhs_batch, b))
        return false;
    if (d->lhs_batch.count != d->rhs_batch.count ||
        d->lhs_contracting.count != d->rhs_contracting.count)
        return jx_type_wrong(t,
                             "%d batch and %d contracting axes of operand "
                             "0, %d and %d of operand 1",
                             d->lhs_batch.count, d->lhs_contracting.count,
                             d->rhs_batch.count, d->rhs_contracting.count);
    for (int i = 0; i < d->lhs_batch.count; i++)
        if (jx_has_axis(d->lhs_contracting, d->lhs_batch.at[i]) ||
            jx_has_axis(d->rhs_contracting, d->rhs_batch.at[i]))
            return jx_type_wrong(t, "a batch axis is also contracted");
    return true;
}

static void require_pairs(jx_typing *t, jx_ints a, jx_ints b, const char *name)
{
    for (int i = 0; i < a.count; i++)
        jx_require_eq(t, t->ins[0]->shape[a.at[i]], t->ins[1]->shape[b.at[i]],
                      "%s axes %lld of operand 0 and %lld of operand 1", name,
                      (long long)a.at[i], (long long)b.at[i]);
}

/* The dtype of the product, or the preferred one. */
static bool dot_dtype(jx_typing *t, jx_dtype wanted, const jx_value *precision,
                      jx_dtype *dtype)
{
    if (!product_dtype(t, dtype))
        return false;
    if (wanted == JX_DT_NONE || wanted == *dtype)
        return true;
    /* An algorithm may narrow. */
    if (!jx_names_algorithm(precision) && !jx_dtype_is_float(*dtype) &&
        width(wanted) < width(*dtype))
        return jx_type_wrong(t, "preferred_element_type %s is narrower than %s",
                             jx_dtype_of(wanted)->short_name,
                             jx_dtype_of(*dtype)->short_name);
    *dtype = wanted;
    return true;
}

/* Batch axes, then what is left of operand 0, then of operand 1 (but for
 * `groups`). */
static int dot_shape(jx_typing *t, const jx_dot_dims *d, jx_ints groups,
                     const jx_dim **shape)
{
    const jx_aval *lhs = t->ins[0], *rhs = t->ins[1];
    int rank = 0;

    require_pairs(t, d->lhs_batch, d->rhs_batch, "batch");
    require_pairs(t, d->lhs_contracting, d->rhs_contracting, "contracting");
    for (int i = 0; i < d->lhs_batch.count; i++)
        shape[rank++] = lhs->shape[d->lhs_batch.at[i]];
    for (int i = 0; i < lhs->rank; i++)
        if (!jx_has_axis(d->lhs_batch, i) &&
            !jx_has_axis(d->lhs_contracting, i))
            shape[rank++] = lhs->shape[i];
    for (int i = 0; i < rhs->rank; i++)
        if (!jx_has_axis(d->rhs_batch, i) &&
            !jx_has_axis(d->rhs_contracting, i) && !jx_has_axis(groups, i))
            shape[rank++] = rhs->shape[i];
    return rank;
}

void jx_type_dot_general(jx_typing *t)
{
    const jx_p_dot_general *p = t->params;
    const jx_dim **shape = jx_shape(t, t->ins[0]->rank + t->ins[1]->rank);
    jx_dtype dtype;

    if (!shape || !check_dot_axes(t, &p->dimension_numbers) ||
        !dot_dtype(t, p->preferred_element_type, p->precision, &dtype))
        return;
    int rank = dot_shape(t, &p->dimension_numbers, (jx_ints){0}, shape);
    jx_type_out(t, 0, dtype, jx_all_weak(t), rank, shape);
}

/* -- dot_general over groups of rows ------------------------------------- */

/* group_sizes is a list, or one per item of the axes before the ragged one. */
static bool check_group_sizes(jx_typing *t, const jx_ragged_dims *r,
                              jx_ints among)
{
    const jx_aval *lhs = t->ins[0], *sizes = t->ins[2];
    int axis = 0;

    if (sizes->rank < 1)
        return jx_type_wrong(t, "operand 2 is a scalar");
    if (sizes->rank == 1)
        return true;
    for (int i = 0; i < r->dot.lhs_batch.count &&
                    r->dot.lhs_batch.at[i] != r->of_lhs.at[0];
         i++, axis++)
        if (axis < sizes->rank - 1)
            jx_require_eq(t, sizes->shape[axis],
                          lhs->shape[r->dot.lhs_batch.at[i]],
                          "operand 2, axis %d: a batch axis", axis);
    for (int i = 0; i < among.count && among.at[i] != r->of_lhs.at[0];
         i++, axis++)
        if (axis < sizes->rank - 1)
            jx_require_eq(t, sizes->shape[axis], lhs->shape[among.at[i]],
                          "operand 2, axis %d: an axis before the ragged one",
                          axis);
    return axis == sizes->rank - 1 ||
           jx_type_wrong(t, "operand 2 has rank %d, expected 1 or %d",
                         sizes->rank, axis + 1);
}

/* The axes of operand 0 that are neither batch nor contracting. */
static jx_ints free_of_lhs(jx_typing *t, const jx_dot_dims *d)
{
    int rank = t->ins[0]->rank;
    int64_t *at = JX_NEW_ARRAY(t->program->ctx->arena, rank, int64_t);
    jx_ints axes = {0, at};

    for (int i = 0; at && i < rank; i++)
        if (!jx_has_axis(d->lhs_batch, i) &&
            !jx_has_axis(d->lhs_contracting, i))
            at[axes.count++] = i;
    return axes;
}

/* By the axis that is cut into groups: a free one takes one matrix of operand
 * 1 per group, a contracting one gives one result per group, a batch axis
 * neither. */
void jx_type_ragged_dot(jx_typing *t)
{
    const jx_p_ragged_dot *p = t->params;
    const jx_dim **shape = jx_shape(t, t->ins[0]->rank + t->ins[1]->rank + 1);
    const jx_ragged_dims *r = &p->ragged_dot_dimension_numbers;
    jx_dtype dtype;

    if (!shape || !jx_type_takes(t, 0, JX_TAKES_ANY) ||
        !jx_type_takes(t, 1, JX_TAKES_ANY) || !jx_type_integer(t, 2))
        return;
    if (!check_dot_axes(t, &r->dot) ||
        !jx_type_axis(t, "lhs_ragged_dimensions", r->of_lhs.at[0],
                      t->ins[0]->rank) ||
        !jx_type_axes(t, "rhs_group_dimensions", r->groups, t->ins[1]->rank) ||
        !dot_dtype(t, p->preferred_element_type, p->precision, &dtype))
        return;
    bool contracts = jx_has_axis(r->dot.lhs_contracting, r->of_lhs.at[0]);
    bool batches = jx_has_axis(r->dot.lhs_batch, r->of_lhs.at[0]);
    jx_ints among = {0};
    if (contracts)
        among = r->dot.lhs_contracting;
    else if (!batches)
        among = free_of_lhs(t, &r->dot);
    if (r->groups.count != (contracts || batches ? 0 : 1)) {
        jx_type_wrong(t, "operand 1 has %d group axes", r->groups.count);
        return;
    }
    if (!check_group_sizes(t, r, among))
        return;
    const jx_dim *groups = t->ins[2]->shape[t->ins[2]->rank - 1];
    if (r->groups.count)
        jx_require_eq(t, t->ins[1]->shape[r->groups.at[0]], groups,
                      "operand 1, group axis: the number of groups");
    shape[0] = groups;
    int rank = dot_shape(t, &r->dot, r->groups, shape + contracts);
    jx_type_out(t, 0, dtype, jx_all_weak(t), rank + contracts, shape);
}

/* -- convolution --------------------------------------------------------- */

static bool check_specs(jx_typing *t, const jx_conv_dims *d, int rank)
{
    if (d->lhs_spec.count != rank || d->rhs_spec.count != rank ||
        d->out_spec.count != rank)
        return jx_type_wrong(t,
                             "dimension_numbers name %d, %d and %d axes "
                             "for rank %d",
                             d->lhs_spec.count, d->rhs_spec.count,
                             d->out_spec.count, rank);
    return jx_type_axes(t, "lhs_spec", d->lhs_spec, rank) &&
           jx_type_axes(t, "rhs_spec", d->rhs_spec, rank) &&
           jx_type_axes(t, "out_spec", d->out_spec, rank);
}

static bool check_dilation(jx_typing *t, const char *name, jx_ints d, int count)
{
    if (d.count > count)
        return jx_type_wrong(t, "%s has %d entries for %d axes", name, d.count,
                             count);
    for (int i = 0; i < d.count; i++)
        if (d.at[i] < 1)
            return jx_type_wrong(t, "%s is %lld along axis %d", name,
                                 (long long)d.at[i], i);
    return true;
}

static bool check_conv(jx_typing *t, const jx_p_conv *p)
{
    int rank = t->ins[0]->rank, spatial = rank - 2;

    if (rank < 2 || t->ins[1]->rank != rank)
        return jx_type_wrong(t, "operands of ranks %d and %d", rank,
                             t->ins[1]->rank);
    if (!jx_type_same_dtypes(t, 0, 2) ||
        !check_specs(t, &p->dimension_numbers, rank))
        return false;
    if (p->window_strides.count != spatial || p->padding.count != spatial)
        return jx_type_wrong(t,
                             "%d window_strides and %d paddings for %d "
                             "spatial axes",
                             p->window_strides.count, p->padding.count,
                             spatial);
    if (!jx_is_number(p->feature_group_count, 1) &&
        !jx_is_number(p->batch_group_count, 1))
        return jx_type_wrong(t, "feature groups and batch groups at once");
    return check_dilation(t, "window_strides", p->window_strides, spatial) &&
           check_dilation(t, "lhs_dilation", p->lhs_dilation, rank) &&
           check_dilation(t, "rhs_dilation", p->rhs_dilation, rank);
}

static void require_groups(jx_typing *t, const jx_p_conv *p)
{
    const jx_conv_dims *d = &p->dimension_numbers;
    const jx_aval *lhs = t->ins[0], *rhs = t->ins[1];
    const jx_dim *groups = p->feature_group_count;
    const jx_dim *batches = p->batch_group_count;
    const jx_dim *features = lhs->shape[d->lhs_spec.at[1]];
    const jx_dim *out_features = rhs->shape[d->rhs_spec.at[0]];

    jx_require_ge(t, groups, jx_const(t, 1), "feature_group_count");
    jx_require_ge(t, batches, jx_const(t, 1), "batch_group_count");
    jx_require_divides(t, groups, features,
                       "operand 0, feature axis: feature_group_count");
    jx_require_eq(t, jx_dim_floordiv(t->program->dims, features, groups),
                  rhs->shape[d->rhs_spec.at[1]],
                  "features per group of operand 0 and of operand 1");
    jx_require_divides(t, groups, out_features,
                       "operand 1, out feature axis: feature_group_count");
    jx_require_divides(t, batches, lhs->shape[d->lhs_spec.at[0]],
                       "operand 0, batch axis: batch_group_count");
    jx_require_divides(t, batches, out_features,
                       "operand 1, out feature axis: batch_group_count");
}

/* A list shorter than the spatial axes is padded with ones on the left. */
static const jx_dim *dilation_at(jx_typing *t, jx_ints d, int spatial, int axis)
{
    int missing = spatial - d.count;

    return jx_const(t, axis < missing ? 1 : d.at[axis - missing]);
}

static const jx_dim *conv_axis(jx_typing *t, const jx_p_conv *p, int axis)
{
    const jx_conv_dims *d = &p->dimension_numbers;
    const jx_aval *lhs = t->ins[0], *rhs = t->ins[1];
    int spatial = lhs->rank - 2;
    const jx_dim *base =
        jx_dilated(t, lhs->shape[d->lhs_spec.at[axis + 2]],
                   dilation_at(t, p->lhs_dilation, spatial, axis));
    const jx_dim *size =
        jx_dilated(t, rhs->shape[d->rhs_spec.at[axis + 2]],
                   dilation_at(t, p->rhs_dilation, spatial, axis));
    const jx_dim *padded = jx_plus(t, jx_plus(t, base, p->padding.at[2 * axis]),
                                   p->padding.at[2 * axis + 1]);

    jx_require_ge(t, padded, jx_const(t, 0),
                  "the padded size of operand 0, spatial axis %d", axis);
    return jx_strided(t, padded, size, jx_const(t, p->window_strides.at[axis]));
}

/* JAX's rule for the dtype that the user prefers. */
static bool check_preferred(jx_typing *t, jx_dtype dtype, jx_dtype wanted)
{
    jx_dtype_kind from = jx_dtype_of(dtype)->kind,
                  to = jx_dtype_of(wanted)->kind;
    bool integer = jx_dtype_is_integer(dtype);

    if (!(integer && to == JX_KIND_FLOAT) &&
        ((integer && !jx_dtype_is_integer(wanted)) ||
         (from == JX_KIND_FLOAT && to != JX_KIND_FLOAT) ||
         (from == JX_KIND_COMPLEX && to != JX_KIND_COMPLEX) ||
         (from == JX_KIND_INT && to != JX_KIND_INT)))
        return jx_type_wrong(t, "preferred_element_type %s for %s",
                             jx_dtype_of(wanted)->short_name,
                             jx_dtype_of(dtype)->short_name);
    if (jx_dtype_of(wanted)->bytes < jx_dtype_of(dtype)->bytes)
        return jx_type_wrong(t, "preferred_element_type %s is narrower than %s",
                             jx_dtype_of(wanted)->short_name,
                             jx_dtype_of(dtype)->short_name);
    return true;
}

void jx_type_conv(jx_typing *t)
{
    const jx_p_conv *p = t->params;
    const jx_conv_dims *d = &p->dimension_numbers;
    jx_dtype dtype = t->ins[0]->dtype, wanted = p->preferred_element_type;
    int rank = t->ins[0]->rank;
    const jx_dim **shape = jx_shape(t, rank);

    if (!shape || !check_conv(t, p))
        return;
    if (wanted != JX_DT_NONE && !check_preferred(t, dtype, wanted))
        return;
    require_groups(t, p);
    shape[d->out_spec.at[0]] =
        jx_dim_floordiv(t->program->dims, t->ins[0]->shape[d->lhs_spec.at[0]],
                        p->batch_group_count);
    shape[d->out_spec.at[1]] = t->ins[1]->shape[d->rhs_spec.at[0]];
    for (int i = 0; i < rank - 2; i++)
        shape[d->out_spec.at[i + 2]] = conv_axis(t, p, i);
    jx_type_out(t, 0, wanted != JX_DT_NONE ? wanted : dtype, jx_all_weak(t),
                rank, shape);
}

/* -- Fourier transforms -------------------------------------------------- */

/* The dtype that comes out; JX_DT_NONE if that kind can't take this one. */
static jx_dtype fft_dtype(jx_fft_kind kind, jx_dtype in)
{
    if (kind == JX_RFFT)
        return jx_dtype_complex(in);
    if (!jx_dtype_is_complex(in))
        return JX_DT_NONE;
    return kind == JX_IRFFT ? jx_dtype_real(in) : in;
}

void jx_type_fft(jx_typing *t)
{
    const jx_p_fft *p = t->params;
    const jx_aval *in = t->ins[0];
    int count = p->fft_lengths.count, first = in->rank - count;
    jx_dtype dtype = fft_dtype(p->fft_type, in->dtype);
    const jx_dim **shape = jx_shape(t, in->rank);

    if (dtype == JX_DT_NONE) {
        jx_type_takes(t, 0, 0);
        return;
    }
    if (first < 0 || count == 0) {
        jx_type_wrong(t, "%d fft_lengths for rank %d", count, in->rank);
        return;
    }
    for (int i = 0; shape && i < in->rank; i++)
        shape[i] = in->shape[i];
    for (int i = 0; shape && i < count; i++) {
        const jx_dim *length = p->fft_lengths.at[i];
        bool last = i == count - 1;
        if (!last || p->fft_type != JX_IRFFT)
            jx_require_eq(t, in->shape[first + i], length,
                          "operand 0, axis %d against fft_lengths", first + i);
        if (last && p->fft_type == JX_RFFT)
            length = jx_plus(
                t, jx_dim_floordiv(t->program->dims, length, jx_const(t, 2)),
                jx_const(t, 1));
        shape[first + i] = length;
    }
    if (shape)
        jx_type_out(t, 0, dtype, in->weak, in->rank, shape);
}
