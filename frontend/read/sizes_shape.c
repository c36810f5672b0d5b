/* sizes_shape.c - the sizes of what an op gives, where its type leaves them
 * open.
 *
 * One small function per family of ops.  They say what the op's definition
 * says, in the form in which JAX's own shape rules write it, so that the
 * type rules of the analyzer find the same dims. */
#include "frontend/read/replica_groups.h"
#include "frontend/read/sizes_parts.h"

#include <string.h>

typedef struct inferring {
    jx_sizes *s;
    jx_dims *dims;
    jx_sizes_env *env;
    const jx_mlir_op *op;
    int result;
    const jx_mlir_type *type; /* of the result */
    int rank;
    const jx_dim **to;
} inferring;

typedef void infer_rule(inferring *in);

static const jx_mlir_type *type_of(const inferring *in, int operand)
{
    return operand < in->op->nins ? in->op->ins[operand]->type : NULL;
}

/* The operand's rank, -1 if it is no ranked tensor or missing. */
static int rank_of(const inferring *in, int operand)
{
    const jx_mlir_type *type = type_of(in, operand);

    return type && type->kind == JX_T_TENSOR ? type->rank : -1;
}

static const jx_dim *size(const inferring *in, int operand, int64_t axis)
{
    const jx_dim *const *shape;

    if (axis < 0 || axis >= rank_of(in, operand))
        return NULL;
    shape = jx_sz_shape_of(in->env, in->op->ins[operand]);
    return shape ? shape[axis] : NULL;
}

static const jx_dim *number(const inferring *in, int64_t value)
{
    return jx_dim_int(in->dims, value);
}

static bool ints(const inferring *in, const char *name, int *count,
                 const int64_t **at)
{
    return jx_sz_ints(in->s, jx_mlir_get(in->op, name), count, at);
}

static int64_t attr_int(const inferring *in, const char *name)
{
    const jx_mlir_attr *attr = jx_mlir_get(in->op, name);

    return attr && attr->kind == JX_A_INTEGER ? attr->integer : -1;
}

static int64_t field_int(const jx_mlir_attr *record, const char *name,
                         int64_t otherwise)
{
    const jx_mlir_attr *attr = record ? jx_mlir_field(record, name) : NULL;

    return attr && attr->kind == JX_A_INTEGER ? attr->integer : otherwise;
}

static bool field_ints(const inferring *in, const jx_mlir_attr *record,
                       const char *name, int *count, const int64_t **at)
{
    const jx_mlir_attr *attr = record ? jx_mlir_field(record, name) : NULL;

    *count = 0;
    *at = NULL;
    return record && (!attr || jx_sz_ints(in->s, attr, count, at));
}

static bool has(int count, const int64_t *at, int64_t value)
{
    for (int i = 0; i < count; i++)
        if (at[i] == value)
            return true;
    return false;
}

static void put(inferring *in, int64_t axis, const jx_dim *dim)
{
    if (axis >= 0 && axis < in->rank && dim &&
        jx_dim_nodes(dim) <= JX_SZ_NODES && (dim = jx_sz_public(in->s, dim)))
        in->to[axis] = dim;
}

/* -- results shaped as operands -------------------------------------------- */

static void as_operand(inferring *in, int operand)
{
    if (rank_of(in, operand) != in->rank)
        return;
    for (int i = 0; i < in->rank; i++)
        put(in, i, size(in, operand, i));
}

static bool is_number(const jx_dim *dim)
{
    jx_int value;

    return jx_dim_is_wide(dim, &value);
}

/* All operands of that rank have one shape but for the axis `apart` (-1: none):
 * it is known from any of them, best from one that says a number, else from the
 * first. */
static void alike(inferring *in, int64_t apart)
{
    for (int i = 0; i < in->op->nins; i++) {
        if (rank_of(in, i) != in->rank)
            continue;
        for (int k = 0; k < in->rank; k++) {
            const jx_dim *dim = size(in, i, k);
            if (!dim || k == apart)
                continue;
            if (in->to[k])
                jx_sz_same(in->s, in->to[k], dim);
            if (!in->to[k] || (is_number(dim) && !is_number(in->to[k])))
                put(in, k, dim);
        }
    }
}

static void elementwise(inferring *in)
{
    alike(in, -1);
}

static void as_first(inferring *in)
{
    as_operand(in, 0);
}

static void as_second(inferring *in)
{
    as_operand(in, 1);
}

/* The operand with the result's number. */
static void as_counterpart(inferring *in)
{
    as_operand(in, in->result);
}

/* An operand per device; all results are alike. */
static void as_any(inferring *in)
{
    as_operand(in, in->op->nins == in->op->nouts ? in->result : 0);
}

/* -- moving data ----------------------------------------------------------- */

static void transpose(inferring *in)
{
    const int64_t *order = NULL;
    int count;

    if (!ints(in, "permutation", &count, &order) || count != in->rank)
        return;
    for (int i = 0; i < count; i++)
        put(in, i, size(in, 0, order[i]));
}

static void broadcast(inferring *in)
{
    const int64_t *dims = NULL;
    int count;

    if (!ints(in, "broadcast_dimensions", &count, &dims))
        return;
    for (int i = 0; i < count; i++)
        put(in, dims[i], size(in, 0, i));
}

static void concatenate(inferring *in)
{
    int64_t axis = attr_int(in, "dimension");
    const jx_dim *total = number(in, 0);

    alike(in, axis);
    for (int i = 0; i < in->op->nins; i++)
        total = jx_dim_add(in->dims, total, size(in, i, axis));
    put(in, axis, total);
}

/* How many steps of `stride` fit: 1 + floordiv(length - 1, stride), in the
 * form that JAX prefers for a stride of 1. */
static const jx_dim *steps(const inferring *in, const jx_dim *length,
                           const jx_dim *stride)
{
    jx_int one;

    if (stride && jx_dim_is_wide(stride, &one) && one == 1)
        return length;
    return jx_dim_floordiv(
        in->dims,
        jx_dim_sub(in->dims, jx_dim_add(in->dims, length, stride),
                   number(in, 1)),
        stride);
}

static bool is_at_least(const inferring *in, const jx_dim *dim, jx_int least)
{
    jx_dim_range range = jx_sz_bounds(in->s, dim);

    return range.has_low && range.low >= least;
}

/* 0 where it is less: no size is negative. */
static const jx_dim *at_least_zero(const inferring *in, const jx_dim *dim)
{
    return !dim || is_at_least(in, dim, 0)
               ? dim
               : jx_dim_max(in->dims, dim, number(in, 0));
}

/* `length` elements that stand `apart` from each other: an axis without
 * elements stays one. */
static const jx_dim *dilated(const inferring *in, const jx_dim *length,
                             const jx_dim *apart)
{
    const jx_dim *one = number(in, 1);

    if (!length || apart == one)
        return length;
    return at_least_zero(
        in, jx_dim_add(in->dims, one,
                       jx_dim_mul(in->dims, apart,
                                  jx_dim_sub(in->dims, length, one))));
}

/* low + high around the operand, with `interior` between its elements. */
static const jx_dim *padded(const inferring *in, const jx_dim *length,
                            const jx_dim *low, const jx_dim *high,
                            const jx_dim *interior)
{
    const jx_dim *apart = jx_dim_add(in->dims, interior, number(in, 1));

    return jx_dim_add(in->dims, dilated(in, length, apart),
                      jx_dim_add(in->dims, low, high));
}

static void pad(inferring *in)
{
    const int64_t *low = NULL, *high = NULL, *interior = NULL;
    int nlow, nhigh, ninterior;

    if (!ints(in, "edge_padding_low", &nlow, &low) ||
        !ints(in, "edge_padding_high", &nhigh, &high) ||
        !ints(in, "interior_padding", &ninterior, &interior) ||
        nlow != in->rank || nhigh != in->rank || ninterior != in->rank)
        return;
    for (int i = 0; i < in->rank; i++)
        put(in, i,
            padded(in, size(in, 0, i), number(in, low[i]),
                   number(in, high[i]), number(in, interior[i])));
}

static void slice(inferring *in)
{
    const int64_t *start = NULL, *limit = NULL, *stride = NULL;
    int nstart, nlimit, nstride;

    if (!ints(in, "start_indices", &nstart, &start) ||
        !ints(in, "limit_indices", &nlimit, &limit) ||
        !ints(in, "strides", &nstride, &stride) || nstart != in->rank ||
        nlimit != in->rank || nstride != in->rank)
        return;
    for (int i = 0; i < in->rank; i++)
        put(in, i,
            steps(in,
                  jx_dim_sub(in->dims, number(in, limit[i]),
                             number(in, start[i])),
                  number(in, stride[i])));
}

/* -- shape operands -------------------------------------------------------- */

/* The element of an operand; put() names what nothing is known of. */
static const jx_dim *element(inferring *in, int operand, int64_t index)
{
    if (operand >= in->op->nins || index < 0 || index >= JX_SZ_RANK)
        return NULL;
    return jx_sz_size(in->env, in->op->ins[operand], (int)index);
}

static void shaped_by(inferring *in, int operand)
{
    for (int i = 0; i < in->rank; i++)
        put(in, i, element(in, operand, i));
}

static void shaped_by_first(inferring *in)
{
    shaped_by(in, 0);
}

static void shaped_by_second(inferring *in)
{
    shaped_by(in, 1);
}

/* An axis keeps its size, if that is not 1. */
static void dynamic_broadcast(inferring *in)
{
    const int64_t *dims = NULL;
    int count;

    shaped_by(in, 1);
    if (!ints(in, "broadcast_dimensions", &count, &dims))
        return;
    for (int i = 0; i < count; i++)
        if (dims[i] >= 0 && dims[i] < in->rank && size(in, 0, i) &&
            !is_number(size(in, 0, i)))
            jx_sz_same(in->s, size(in, 0, i), in->to[dims[i]]);
}

/* As many elements as before. */
static void dynamic_reshape(inferring *in)
{
    const jx_dim *before = number(in, 1), *after = number(in, 1);

    shaped_by(in, 1);
    for (int i = 0; i < rank_of(in, 0); i++)
        before = jx_dim_mul(in->dims, before, size(in, 0, i));
    for (int i = 0; i < in->rank; i++)
        after = jx_dim_mul(in->dims, after, in->to[i]);
    jx_sz_same(in->s, before, after);
}

static void dynamic_slice(inferring *in)
{
    const int64_t *sizes = NULL;
    int count;

    if (ints(in, "slice_sizes", &count, &sizes) && count == in->rank)
        for (int i = 0; i < count; i++)
            put(in, i, number(in, sizes[i]));
}

static void real_dynamic_slice(inferring *in)
{
    for (int i = 0; i < in->rank; i++)
        put(in, i,
            steps(in,
                  jx_dim_sub(in->dims, element(in, 2, i), element(in, 1, i)),
                  element(in, 3, i)));
}

static void dynamic_pad(inferring *in)
{
    for (int i = 0; i < in->rank; i++)
        put(in, i,
            padded(in, size(in, 0, i), element(in, 2, i), element(in, 3, i),
                   element(in, 4, i)));
}

static void set_dimension_size(inferring *in)
{
    as_operand(in, 0);
    put(in, attr_int(in, "dimension"), element(in, 1, 0));
}

/* -- contractions, windows, indexes ---------------------------------------- */

static void reduce(inferring *in)
{
    const int64_t *axes = NULL;
    int count, rank = rank_of(in, 0), next = 0;

    if (!ints(in, "dimensions", &count, &axes))
        return;
    for (int operand = 0; operand < in->op->nins / 2; operand++) {
        next = 0;
        for (int i = 0; i < rank; i++) {
            if (operand && rank_of(in, operand) == rank)
                jx_sz_same(in->s, size(in, 0, i), size(in, operand, i));
            if (!operand && !has(count, axes, i))
                put(in, next++, size(in, 0, i));
        }
    }
}

static void dot_general(inferring *in)
{
    const jx_mlir_attr *record = jx_mlir_get(in->op, "dot_dimension_numbers");
    const int64_t *batch[2] = {0}, *contracted[2] = {0};
    int nbatch[2], ncontracted[2], next = 0;

    if (!field_ints(in, record, "lhs_batching_dimensions", &nbatch[0],
                    &batch[0]) ||
        !field_ints(in, record, "rhs_batching_dimensions", &nbatch[1],
                    &batch[1]) ||
        !field_ints(in, record, "lhs_contracting_dimensions", &ncontracted[0],
                    &contracted[0]) ||
        !field_ints(in, record, "rhs_contracting_dimensions", &ncontracted[1],
                    &contracted[1]) ||
        nbatch[0] != nbatch[1] || ncontracted[0] != ncontracted[1])
        return;
    for (int i = 0; i < ncontracted[0]; i++)
        jx_sz_same(in->s, size(in, 0, contracted[0][i]),
                   size(in, 1, contracted[1][i]));
    for (int i = 0; i < nbatch[0]; i++) {
        jx_sz_same(in->s, size(in, 0, batch[0][i]), size(in, 1, batch[1][i]));
        put(in, next++, size(in, 0, batch[0][i]));
    }
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < rank_of(in, side); i++)
            if (!has(nbatch[side], batch[side], i) &&
                !has(ncontracted[side], contracted[side], i))
                put(in, next++, size(in, side, i));
}

static void dot(inferring *in)
{
    int left = rank_of(in, 0), right = rank_of(in, 1), next = 0;

    for (int i = 0; i + 1 < left; i++)
        put(in, next++, size(in, 0, i));
    for (int i = 1; i < right; i++)
        put(in, next++, size(in, 1, i));
}

typedef struct window {
    const jx_dim *length, *low, *high, *size;
    const jx_dim *stride, *base, *dilation;
} window;

/* Positions of a window along one axis.  Where its size is an input's there are
 * none of size 0, which no program may have. */
static const jx_dim *positions(const inferring *in, const window *w)
{
    const jx_dim *one = number(in, 1), *length;

    if (!w->base || !w->size || !w->dilation || !w->stride ||
        !is_at_least(in, w->size, is_number(w->size)) ||
        !is_at_least(in, w->stride, 1))
        return NULL;
    length = padded(in, w->length, w->low, w->high,
                    jx_dim_sub(in->dims, w->base, one));
    length = jx_dim_sub(in->dims, length, dilated(in, w->size, w->dilation));
    return at_least_zero(
        in, jx_dim_add(in->dims,
                       jx_dim_floordiv(in->dims, length, w->stride), one));
}

/* The list attribute's entry, or what it is where the attribute is absent. */
static const jx_dim *entry(const inferring *in, const char *name, int index,
                           int64_t otherwise)
{
    const int64_t *at = NULL;
    int count;

    if (!jx_mlir_get(in->op, name))
        return number(in, otherwise);
    return ints(in, name, &count, &at) && index < count ? number(in, at[index])
                                                        : NULL;
}

static void reduce_window(inferring *in)
{
    for (int i = 0; i < in->rank && rank_of(in, 0) == in->rank; i++) {
        window w = {size(in, 0, i),
                    entry(in, "padding", 2 * i, 0),
                    entry(in, "padding", 2 * i + 1, 0),
                    entry(in, "window_dimensions", i, 0),
                    entry(in, "window_strides", i, 1),
                    entry(in, "base_dilations", i, 1),
                    entry(in, "window_dilations", i, 1)};
        if (w.length)
            put(in, i, positions(in, &w));
    }
}

/* `padding`: the operand that holds it, or -1: the attribute. */
static void convolve(inferring *in, int padding)
{
    const jx_mlir_attr *record = jx_mlir_get(in->op, "dimension_numbers");
    const int64_t *input = NULL, *kernel = NULL, *output = NULL;
    int ninput, nkernel, noutput;
    int64_t groups = attr_int(in, "batch_group_count");
    const jx_dim *batch;

    if (!field_ints(in, record, "input_spatial_dimensions", &ninput, &input) ||
        !field_ints(in, record, "kernel_spatial_dimensions", &nkernel,
                    &kernel) ||
        !field_ints(in, record, "output_spatial_dimensions", &noutput,
                    &output) ||
        ninput != nkernel || nkernel != noutput)
        return;
    batch = size(in, 0, field_int(record, "input_batch_dimension", -1));
    put(in, field_int(record, "output_batch_dimension", -1),
        groups == 1 ? batch
                    : jx_dim_floordiv(in->dims, batch, number(in, groups)));
    put(in, field_int(record, "output_feature_dimension", -1),
        size(in, 1,
             field_int(record, "kernel_output_feature_dimension", -1)));
    for (int i = 0; i < noutput; i++) {
        window w = {size(in, 0, input[i]),
                    NULL,
                    NULL,
                    size(in, 1, kernel[i]),
                    entry(in, "window_strides", i, 1),
                    entry(in, "lhs_dilation", i, 1),
                    entry(in, "rhs_dilation", i, 1)};
        w.low = padding < 0 ? entry(in, "padding", 2 * i, 0)
                            : element(in, padding, 2 * i);
        w.high = padding < 0 ? entry(in, "padding", 2 * i + 1, 0)
                             : element(in, padding, 2 * i + 1);
        if (w.length && w.low && w.high)
            put(in, output[i], positions(in, &w));
    }
}

static void convolution(inferring *in)
{
    convolve(in, -1);
}

static void dynamic_conv(inferring *in)
{
    convolve(in, 2);
}

/* `sizes`: the operand that holds the slice's sizes, or -1: the attribute. */
static void gathered(inferring *in, int sizes)
{
    const jx_mlir_attr *record = jx_mlir_get(in->op, "dimension_numbers");
    const int64_t *offset = NULL, *collapsed = NULL, *batching = NULL,
                  *at = NULL;
    int noffset, ncollapsed, nbatching, nsizes = rank_of(in, 0), next = 0;
    int64_t vector = field_int(record, "index_vector_dim", 0);

    if (!field_ints(in, record, "offset_dims", &noffset, &offset) ||
        !field_ints(in, record, "collapsed_slice_dims", &ncollapsed,
                    &collapsed) ||
        !field_ints(in, record, "operand_batching_dims", &nbatching,
                    &batching) ||
        (sizes < 0 && !ints(in, "slice_sizes", &nsizes, &at)))
        return;
    for (int i = 0; i < nsizes && i < JX_SZ_RANK; i++) {
        if (has(ncollapsed, collapsed, i) || has(nbatching, batching, i))
            continue;
        if (next < noffset)
            put(in, offset[next++],
                at ? number(in, at[i]) : element(in, sizes, i));
    }
    next = 0;
    for (int i = 0; i < rank_of(in, 1); i++) {
        if (i == vector)
            continue;
        while (has(noffset, offset, next))
            next++;
        put(in, next++, size(in, 1, i));
    }
}

static void gather(inferring *in)
{
    gathered(in, -1);
}

static void dynamic_gather(inferring *in)
{
    gathered(in, 2);
}

static void torch_index_select(inferring *in)
{
    int64_t axis = attr_int(in, "dim"), batch = attr_int(in, "batch_dims");
    int next = 0;

    for (int i = 0; i < rank_of(in, 0); i++) {
        if (i != axis) {
            put(in, next++, size(in, 0, i));
            continue;
        }
        for (int64_t k = batch < 0 ? 0 : batch; k < rank_of(in, 1); k++)
            put(in, next++, size(in, 1, k));
    }
}

static void fft(inferring *in)
{
    const jx_mlir_attr *kind = jx_mlir_get(in->op, "fft_type");
    const int64_t *length = NULL;
    int count;

    as_operand(in, 0);
    if (!kind || !kind->text || !ints(in, "fft_length", &count, &length) ||
        count < 1 || in->rank < count)
        return;
    if (!strcmp(kind->text, "RFFT"))
        put(in, in->rank - 1, number(in, length[count - 1] / 2 + 1));
    else if (!strcmp(kind->text, "IRFFT"))
        put(in, in->rank - 1, number(in, length[count - 1]));
}

/* As many devices as a group has; 0: not known. */
static int64_t group_size(const inferring *in)
{
    const jx_mlir_attr *groups = jx_mlir_get(in->op, "replica_groups");
    jx_replica_groups of_mesh;
    const char *expected;

    if (jx_is_replica_groups_of_mesh(groups))
        return jx_replica_groups_of_mesh(in->s->ctx, in->s->options.module,
                                         groups, &of_mesh, &expected)
                   ? of_mesh.width
                   : 0;
    return groups && groups->kind == JX_A_DENSE && groups->type->rank == 2
               ? groups->type->shape[1]
               : 0;
}

/* Along one axis each device of a group adds its part, or keeps its own. */
static void by_group(inferring *in, const char *name, bool grows)
{
    int64_t axis = attr_int(in, name), group = group_size(in);
    const jx_dim *dim;

    as_any(in);
    if (axis < 0 || axis >= in->rank)
        return;
    dim = in->to[axis];
    in->to[axis] = NULL;
    if (group > 0)
        put(in, axis,
            grows ? jx_dim_mul(in->dims, dim, number(in, group))
                  : jx_dim_floordiv(in->dims, dim, number(in, group)));
}

static void all_gather(inferring *in)
{
    by_group(in, "all_gather_dim", true);
}

static void reduce_scatter(inferring *in)
{
    by_group(in, "scatter_dimension", false);
}

static void all_to_all(inferring *in)
{
    int64_t from = attr_int(in, "split_dimension"),
            to = attr_int(in, "concat_dimension"),
            count = attr_int(in, "split_count");

    as_any(in);
    if (from < 0 || from >= in->rank || to < 0 || to >= in->rank || count < 1 ||
        from == to)
        return;
    in->to[from] = jx_dim_floordiv(in->dims, in->to[from], number(in, count));
    in->to[to] = jx_dim_mul(in->dims, in->to[to], number(in, count));
}

/* The last axis gives its `k` largest. */
static void top_k(inferring *in)
{
    as_operand(in, 0);
    put(in, in->rank - 1, number(in, attr_int(in, "k")));
}

static void rng(inferring *in)
{
    shaped_by(in, 2);
}

/* Sizes of another type's elements: the last axis grows or goes. */
static void bitcast(inferring *in)
{
    int rank = rank_of(in, 0);

    for (int i = 0; i < in->rank && i < rank; i++)
        put(in, i, size(in, 0, i));
}

/* -- custom calls ----------------------------------------------------------- */

/* (inputs, initial values, window's sizes, strides, dilations of the inputs and
 * of the window, padding) */
static void dynamic_reduce_window(inferring *in)
{
    int first = in->op->nins - 5;

    for (int i = 0; i < in->rank && first >= 2 && rank_of(in, 0) == in->rank;
         i++) {
        window w = {size(in, 0, i),
                    element(in, first + 4, 2 * i),
                    element(in, first + 4, 2 * i + 1),
                    element(in, first, i),
                    element(in, first + 1, i),
                    element(in, first + 2, i),
                    element(in, first + 3, i)};
        if (w.length && w.low && w.high)
            put(in, i, positions(in, &w));
    }
}

static void dynamic_top_k(inferring *in)
{
    as_operand(in, 0);
    put(in, in->rank - 1, element(in, 1, 0));
}

static void dynamic_rng(inferring *in)
{
    if (in->result == 1)
        shaped_by(in, 1);
}

static void custom_call(inferring *in)
{
    static const struct {
        const char *target;
        infer_rule *rule;
    } known[] = {
        {"Sharding", as_first},
        {"annotate_device_placement", as_first},
        {"stablehlo.dynamic_reduce_window", dynamic_reduce_window},
        {"stablehlo.dynamic_top_k", dynamic_top_k},
        {"stablehlo.dynamic_rng_bit_generator", dynamic_rng},
    };
    const jx_mlir_attr *target = jx_mlir_get(in->op, "call_target_name");
    const char *name = target ? jx_mlir_text(in->s->ctx, target) : NULL;
    const int64_t *which = NULL;
    int count;

    /* Operands that hold the shapes of results, by their indexes. */
    if (ints(in, "indices_of_shape_operands", &count, &which) &&
        in->result < count && which[in->result] >= 0 &&
        which[in->result] < in->op->nins) {
        shaped_by(in, (int)which[in->result]);
        return;
    }
    for (size_t i = 0; name && i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].target, name))
            known[i].rule(in);
}

/* -- the table ------------------------------------------------------------- */

static const struct {
    const char *name;
    infer_rule *rule;
} rules[] = {
    {"stablehlo.transpose", transpose},
    {"stablehlo.broadcast_in_dim", broadcast},
    {"stablehlo.concatenate", concatenate},
    {"stablehlo.pad", pad},
    {"stablehlo.slice", slice},
    {"stablehlo.dynamic_broadcast_in_dim", dynamic_broadcast},
    {"chlo.broadcast_in_dim", broadcast},
    {"stablehlo.dynamic_reshape", dynamic_reshape},
    {"stablehlo.dynamic_iota", shaped_by_first},
    {"stablehlo.dynamic_slice", dynamic_slice},
    {"stablehlo.real_dynamic_slice", real_dynamic_slice},
    {"stablehlo.dynamic_pad", dynamic_pad},
    {"stablehlo.set_dimension_size", set_dimension_size},
    {"stablehlo.custom_call", custom_call},
    {"stablehlo.dynamic_update_slice", as_first},
    {"stablehlo.reduce", reduce},
    {"stablehlo.dot_general", dot_general},
    {"stablehlo.dot", dot},
    {"stablehlo.reduce_window", reduce_window},
    {"stablehlo.select_and_scatter", as_first},
    {"stablehlo.convolution", convolution},
    {"stablehlo.dynamic_conv", dynamic_conv},
    {"stablehlo.gather", gather},
    {"stablehlo.dynamic_gather", dynamic_gather},
    {"stablehlo.torch_index_select", torch_index_select},
    {"stablehlo.scatter", as_counterpart},
    {"stablehlo.sort", as_counterpart},
    {"stablehlo.while", as_counterpart},
    {"stablehlo.optimization_barrier", as_counterpart},
    {"stablehlo.all_reduce", as_any},
    {"stablehlo.collective_permute", as_any},
    {"stablehlo.collective_broadcast", as_any},
    {"stablehlo.all_gather", all_gather},
    {"stablehlo.reduce_scatter", reduce_scatter},
    {"stablehlo.all_to_all", all_to_all},
    {"stablehlo.triangular_solve", as_second},
    {"stablehlo.cholesky", as_first},
    {"stablehlo.reverse", as_first},
    {"stablehlo.reduce_precision", as_first},
    {"stablehlo.bitcast_convert", bitcast},
    {"stablehlo.fft", fft},
    {"stablehlo.rng", rng},
    {"stablehlo.batch_norm_training", as_first},
    {"stablehlo.batch_norm_grad", as_first},
    {"chlo.top_k", top_k},
    {"chlo.dynamic_reshape", shaped_by_second},
    {"sdy.sharding_constraint", as_first},
};

/* Ops whose results have the shape of operands of their rank; every op of CHLO
 * that is not above is one, as far as its operands' ranks agree. */
static bool is_elementwise(const char *name)
{
    static const char *const others[] = {
        "reshape",      "iota",      "constant", "composite", "if",
        "case",         "create_token", "rng_bit_generator", "tuple",
        "get_tuple_element", "infeed", "outfeed", "send", "recv",
        "partition_id", "replica_id", "get_dimension_size",
        "einsum",       "unary_einsum", "ragged_dot", "scan",
        "minimum_broadcast_shapes", "async_start", "async_done",
    };
    const char *dot = strchr(name, '.');

    if (!dot || (strncmp(name, "chlo.", 5) != 0 &&
                 strncmp(name, "stablehlo.", 10) != 0))
        return false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(dot + 1, others[i]))
            return false;
    return true;
}

/* numpy's broadcasting, as far as it is decided: an axis of 1 gives way. */
static void implicit_broadcast(inferring *in)
{
    for (int i = 0; i < in->op->nins; i++) {
        int rank = rank_of(in, i), before = in->rank - rank;
        for (int k = 0; k < rank && before >= 0; k++) {
            const jx_dim *dim = size(in, i, k), *kept = in->to[before + k];
            jx_int number;
            if (!kept || (jx_dim_is_wide(kept, &number) && number == 1))
                put(in, before + k, dim);
            else if (dim && jx_dim_is_wide(dim, &number) && number > 1)
                put(in, before + k, dim);
        }
    }
}

void jx_sz_infer(jx_sizes_env *env, const jx_mlir_op *op, int result,
                 const jx_dim **to)
{
    inferring in = {env->of,       env->of->dims,
                    env,           op,
                    result,        op->outs[result]->type,
                    op->outs[result]->type->rank, to};

    if (in.rank > JX_SZ_RANK)
        return;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (!strcmp(rules[i].name, op->name)) {
            rules[i].rule(&in);
            return;
        }
    if (!strncmp(op->name, "chlo.broadcast_", 15))
        implicit_broadcast(&in);
    else if (is_elementwise(op->name))
        elementwise(&in);
}
