/* type_rules_reduce.c - reductions, cumulative ones, and sorting. */
#include "analyzer/type_rules.h"

#include <math.h>

/* The shape without some axes, which are in range. */
static const jx_dim **without(jx_typing *t, const jx_aval *in, jx_ints axes,
                              int *rank)
{
    const jx_dim **shape = jx_shape(t, in->rank);

    *rank = 0;
    for (int i = 0; shape && i < in->rank; i++)
        if (!jx_has_axis(axes, i))
            shape[(*rank)++] = in->shape[i];
    return shape;
}

void jx_type_reduce(jx_typing *t)
{
    const jx_p_axes *p = t->params;
    const jx_aval *in = t->ins[0];
    jx_prim_id id = t->eqn->prim->id;
    bool strips = id == JX_PRIM_reduce_and || id == JX_PRIM_reduce_or ||
                  id == JX_PRIM_reduce_xor;
    int rank;

    if (!jx_type_axes(t, "axes", p->axes, in->rank))
        return;
    const jx_dim **shape = without(t, in, p->axes, &rank);
    if (shape)
        jx_type_out(t, 0, in->dtype, in->weak && !strips, rank, shape);
}

/* Over axes of the operands this is a reduction; what it is over axes of a
 * mesh, is in type_rules_mesh.c. */
void jx_type_allreduce(jx_typing *t)
{
    const jx_p_allreduce *p = t->params;
    int rank;

    if (jx_eqn_is_unknown(t->eqn)) {
        jx_type_unknown(t, jx_eqn_name(t->eqn));
        return;
    }
    if (!jx_type_counts(t, -1, t->nins))
        return;
    if (p->axis_index_groups.count && p->axes.at.count) {
        jx_type_wrong(t, "axis_index_groups, which axes of a mesh have alone");
        return;
    }
    for (int i = 0; i < t->nins; i++) {
        const jx_aval *in = t->ins[i];
        if (!jx_type_axes(t, "axes", p->axes.at, in->rank))
            return;
        const jx_dim **shape = without(t, in, p->axes.at, &rank);
        if (shape)
            jx_type_out(t, i, in->dtype, false, rank, shape);
    }
    if (p->axes.names.count)
        jx_type_across(t, p->axes.names, p->axis_index_groups);
}

void jx_type_arg_reduce(jx_typing *t)
{
    const jx_p_arg_reduce *p = t->params;
    const jx_aval *in = t->ins[0];
    int rank;

    if (p->axes.count != 1) {
        jx_type_wrong(t, "%d axes, takes one", p->axes.count);
        return;
    }
    if (!jx_type_axes(t, "axes", p->axes, in->rank))
        return;
    if (!jx_dtype_is_integer(p->index_dtype)) {
        jx_type_wrong(t, "index_dtype is %s",
                      jx_dtype_of(p->index_dtype)->short_name);
        return;
    }
    jx_require_ge(t, in->shape[p->axes.at[0]], jx_const(t, 1),
                  "operand 0, axis %lld: an element to choose",
                  (long long)p->axes.at[0]);
    const jx_dim **shape = without(t, in, p->axes, &rank);
    if (shape)
        jx_type_out(t, 0, p->index_dtype, false, rank, shape);
}

static bool check_operands(jx_typing *t, int n)
{
    if (n == 0 || t->nins != 2 * n)
        return jx_type_wrong(t, "%d operands, takes pairs", t->nins);
    return jx_type_starts(t, n);
}

void jx_type_reduce_general(jx_typing *t)
{
    const jx_p_reduce *p = t->params;
    int n = t->nins / 2, rank;

    if (!check_operands(t, n) || !jx_type_counts(t, -1, n) ||
        !jx_type_axes(t, "dimensions", p->dimensions, t->ins[0]->rank) ||
        !jx_type_reducer(t, &p->jaxpr, n))
        return;
    const jx_dim **shape = without(t, t->ins[0], p->dimensions, &rank);
    for (int i = 0; shape && i < n; i++)
        jx_type_out(t, i, t->ins[i]->dtype,
                    t->ins[i]->weak && t->ins[n + i]->weak, rank, shape);
}

void jx_type_cumulative(jx_typing *t)
{
    const jx_p_cumulative *p = t->params;
    const jx_aval *in = t->ins[0];

    if (jx_type_axis(t, "axis", p->axis, in->rank))
        jx_type_out(t, 0, in->dtype, in->weak, in->rank, in->shape);
}

/* Operands of one shape along an axis, as many results. */
static bool sorts(jx_typing *t, int64_t dimension)
{
    if (t->nins == 0)
        return jx_type_wrong(t, "has no operands");
    return jx_type_counts(t, -1, t->nins) &&
           jx_type_same_shapes(t, 0, t->nins) &&
           jx_type_axis(t, "dimension", dimension, t->ins[0]->rank);
}

static void out_sorted(jx_typing *t)
{
    for (int i = 0; i < t->nins; i++)
        jx_type_out_like(t, i, t->ins[i], t->ins[i]->weak, t->ins[i]->rank,
                         t->ins[i]->shape);
}

void jx_type_sort(jx_typing *t)
{
    const jx_p_sort *p = t->params;

    if (!sorts(t, p->dimension))
        return;
    if (p->num_keys < 1 || p->num_keys > t->nins) {
        jx_type_wrong(t, "num_keys %lld for %d operands",
                      (long long)p->num_keys, t->nins);
        return;
    }
    for (int i = 0; i < t->nins; i++)
        jx_type_is(t, i, t->ins[i]); /* whatever the keys vary over */
}

/* The comparator takes a pair of elements of each operand. */
void jx_type_stablehlo_sort(jx_typing *t)
{
    const jx_p_stablehlo_sort *p = t->params;
    jx_dtype *pairs, test = JX_BOOL;

    if (!sorts(t, p->dimension))
        return;
    pairs = JX_NEW_ARRAY(t->program->ctx->arena, 2 * t->nins, jx_dtype);
    for (int i = 0; pairs && i < 2 * t->nins; i++)
        pairs[i] = t->ins[i / 2]->dtype;
    if (!pairs || !jx_type_computation(t, &p->comparator, "comparator",
                                       2 * t->nins, pairs, 1, &test))
        return;
    out_sorted(t);
}

/* Values and their indices, with `size` in place of one axis. */
static void ranked_out(jx_typing *t, int64_t axis, const jx_dim *size)
{
    const jx_aval *in = t->ins[0];
    const jx_dim **shape = jx_shape(t, in->rank);

    if (!shape)
        return;
    for (int i = 0; i < in->rank; i++)
        shape[i] = i == axis ? size : in->shape[i];
    jx_type_out(t, 0, in->dtype, in->weak, in->rank, shape);
    jx_type_out(t, 1, JX_I32, in->weak, in->rank, shape);
}

static bool has_parameter(const jx_typing *t, const char *name)
{
    return jx_eqn_param(t->eqn, name) != NULL;
}

void jx_type_top_k(jx_typing *t)
{
    const jx_p_top_k *p = t->params;
    const jx_aval *in = t->ins[0];
    /* Older versions of JAX always take the last axis. */
    int64_t axis = has_parameter(t, "axis") ? p->axis : in->rank - 1;

    if (!jx_type_takes(t, 0, JX_TAKES_REAL) ||
        !jx_type_axis(t, "axis", axis, in->rank))
        return;
    jx_require_ge(t, p->k, jx_const(t, 0), "k");
    jx_require_ge(t, in->shape[axis], p->k, "operand 0, axis %lld: k",
                  (long long)axis);
    ranked_out(t, axis, p->k);
}

static int64_t ceil_ratio(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

static int floor_log2(int64_t value)
{
    int log = 0;

    while (value > 1) {
        value /= 2;
        log++;
    }
    return log;
}

/* How many candidates XLA keeps per row.  It cuts the row into windows, keeps
 * the best of each, and wants enough windows for the expected share of the best
 * k that do not meet in one, about exp((1 - k) / windows), to reach the recall;
 * the number of tiles is then halved as often as that allows. */
static int64_t approximate_size(const jx_p_approx_top_k *p, int64_t size,
                                int rank, int64_t k)
{
    int64_t tiling = rank == 1 ? 1024 : 128;
    int64_t logical = p->reduction_input_size_override >= 0
                          ? p->reduction_input_size_override
                          : size;
    int64_t windows = logical > 0 ? logical : 1;

    if (size <= tiling)
        return size;
    if (k == 1)
        return tiling;
    if (!(p->recall_target > 0.0 && p->recall_target < 1.0))
        return size;
    double wanted = (1.0 - (double)k) / log((double)(float)p->recall_target);
    if (wanted < (double)windows)
        windows = wanted < (double)tiling ? tiling : (int64_t)wanted;
    int halvings = floor_log2(logical / windows);
    int most = floor_log2(size / tiling * 2 - 1);
    if (halvings == 0)
        return size;
    halvings = halvings < most ? halvings : most;
    return ceil_ratio(ceil_ratio(size, tiling), INT64_C(1) << halvings) *
           tiling;
}

void jx_type_approx_top_k(jx_typing *t)
{
    const jx_p_approx_top_k *p = t->params;
    const jx_aval *in = t->ins[0];
    int64_t axis = p->reduction_dimension, size, k;

    /* JAX lets a negative axis stand here. */
    axis += axis < 0 ? in->rank : 0;
    if (!jx_type_takes(t, 0, JX_TAKES_FLOAT) ||
        !jx_type_axis(t, "reduction_dimension", axis, in->rank))
        return;
    jx_require_ge(t, p->k, jx_const(t, 1), "k");
    jx_require_ge(t, in->shape[axis], p->k, "operand 0, axis %lld: k",
                  (long long)axis);
    if (p->aggregate_to_topk)
        ranked_out(t, axis, p->k);
    else if (jx_dim_is_int(in->shape[axis], &size) && jx_dim_is_int(p->k, &k))
        ranked_out(t, axis,
                   jx_const(t, approximate_size(p, size, in->rank, k)));
    else
        jx_type_wrong(t, "how many candidates a symbolic size leaves is not "
                         "known");
}
