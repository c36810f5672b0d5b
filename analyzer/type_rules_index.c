/* type_rules_index.c - slices at computed places, gather and scatter. */
#include "analyzer/type_rules.h"

/* Operands first.. are the scalar start indices, one per axis, of one dtype. */
static bool check_starts(jx_typing *t, int first, int rank)
{
    if (t->nins - first != rank)
        return jx_type_wrong(t, "%d start indices for rank %d", t->nins - first,
                             rank);
    for (int i = first; i < t->nins; i++)
        if (!jx_type_scalar(t, i) || !jx_type_integer(t, i))
            return false;
    return t->nins == first || jx_type_same_dtypes(t, first, t->nins);
}

void jx_type_dynamic_slice(jx_typing *t)
{
    const jx_p_dynamic_slice *p = t->params;

    if (t->nins == 0) {
        jx_type_wrong(t, "has no operand");
        return;
    }
    const jx_aval *in = t->ins[0];
    if (!check_starts(t, 1, in->rank))
        return;
    if (p->slice_sizes.count != in->rank) {
        jx_type_wrong(t, "%d slice_sizes for rank %d", p->slice_sizes.count,
                      in->rank);
        return;
    }
    for (int k = 0; k < in->rank; k++) {
        jx_require_ge(t, p->slice_sizes.at[k], jx_const(t, 0),
                      "slice_sizes, axis %d", k);
        jx_require_ge(t, in->shape[k], p->slice_sizes.at[k],
                      "operand 0 against slice_sizes, axis %d", k);
    }
    jx_type_out_like(t, 0, in, in->weak, in->rank, p->slice_sizes.at);
}

void jx_type_dynamic_update_slice(jx_typing *t)
{
    if (t->nins < 2) {
        jx_type_wrong(t, "has %d operands, takes two and start indices",
                      t->nins);
        return;
    }
    const jx_aval *in = t->ins[0], *update = t->ins[1];
    if (update->rank != in->rank) {
        jx_type_wrong(t, "operand 1 has rank %d, operand 0 has %d",
                      update->rank, in->rank);
        return;
    }
    if (!jx_type_same_dtypes(t, 0, 2) || !check_starts(t, 2, in->rank))
        return;
    for (int k = 0; k < in->rank; k++)
        jx_require_ge(t, in->shape[k], update->shape[k],
                      "operand 0 against operand 1, axis %d", k);
    jx_type_out_like(t, 0, in, jx_all_weak(t), in->rank, in->shape);
}

static bool check_sorted(jx_typing *t, const char *name, jx_ints axes)
{
    for (int i = 1; i < axes.count; i++)
        if (axes.at[i] < axes.at[i - 1])
            return jx_type_wrong(t, "%s is not sorted", name);
    return true;
}

static bool check_disjoint(jx_typing *t, const char *a_name, jx_ints a,
                           const char *b_name, jx_ints b)
{
    for (int i = 0; i < a.count; i++)
        if (jx_has_axis(b, a.at[i]))
            return jx_type_wrong(t, "axis %lld is in %s and in %s",
                                 (long long)a.at[i], a_name, b_name);
    return true;
}

/* What gather and scatter have in common, by gather's words: which axes of the
 * operand have a size of one window element, and how indices reach them. */
typedef struct indexing {
    const char *collapsed_name, *map_name, *batch_name, *index_batch_name;
    jx_ints collapsed, map, batch, index_batch;
} indexing;

/* `array` and `by` are the numbers of the array and of the indices. */
static bool check_indexing(jx_typing *t, const indexing *x, int array, int by)
{
    const jx_aval *in = t->ins[array], *at = t->ins[by];

    if (!jx_type_integer(t, by))
        return false;
    if (at->rank < 1)
        return jx_type_wrong(t, "the indices are a scalar");
    if (!check_sorted(t, x->collapsed_name, x->collapsed) ||
        !jx_type_axes(t, x->collapsed_name, x->collapsed, in->rank) ||
        !check_sorted(t, x->batch_name, x->batch) ||
        !jx_type_axes(t, x->batch_name, x->batch, in->rank) ||
        !jx_type_axes(t, x->map_name, x->map, in->rank) ||
        !jx_type_axes(t, x->index_batch_name, x->index_batch, at->rank) ||
        !check_disjoint(t, x->collapsed_name, x->collapsed, x->batch_name,
                        x->batch) ||
        !check_disjoint(t, x->map_name, x->map, x->batch_name, x->batch))
        return false;
    if (jx_has_axis(x->index_batch, at->rank - 1))
        return jx_type_wrong(t, "%s has the axis of index vectors",
                             x->index_batch_name);
    if (x->batch.count != x->index_batch.count)
        return jx_type_wrong(t, "%s has %d axes, %s has %d", x->batch_name,
                             x->batch.count, x->index_batch_name,
                             x->index_batch.count);
    jx_require_eq(t, at->shape[at->rank - 1], jx_const(t, x->map.count),
                  "operand %d, last axis: the length of %s", by, x->map_name);
    for (int i = 0; i < x->batch.count; i++)
        jx_require_eq(
            t, in->shape[x->batch.at[i]], at->shape[x->index_batch.at[i]],
            "operands %d and %d, batching axes %lld and %lld", array, by,
            (long long)x->batch.at[i], (long long)x->index_batch.at[i]);
    return true;
}

static bool is_empty(const jx_aval *aval)
{
    for (int i = 0; i < aval->rank; i++)
        if (jx_is_number(aval->shape[i], 0))
            return true;
    return false;
}

static void require_slice_sizes(jx_typing *t, const jx_p_gather *p)
{
    const jx_aval *in = t->ins[0];
    const jx_gather_dims *d = &p->dimension_numbers;

    for (int k = 0; k < in->rank; k++) {
        const jx_dim *size = p->slice_sizes.at[k];
        if (!is_empty(t->ins[1])) {
            jx_require_ge(t, size, jx_const(t, 0), "slice_sizes, axis %d", k);
            jx_require_ge(t, in->shape[k], size,
                          "operand 0 against slice_sizes, axis %d", k);
        }
        if (jx_has_axis(d->collapsed_slice_dims, k))
            jx_require_eq(t, size, jx_const(t, 1),
                          "slice_sizes, collapsed axis %d", k);
        if (jx_has_axis(d->operand_batching_dims, k))
            jx_require_ge(t, jx_const(t, 1), size,
                          "slice_sizes, batching axis %d", k);
    }
}

static void gather_out(jx_typing *t, const jx_p_gather *p, int rank)
{
    const jx_gather_dims *d = &p->dimension_numbers;
    const jx_aval *in = t->ins[0], *at = t->ins[1];
    const jx_dim **shape = jx_shape(t, rank);
    int index = 0, axis = 0;

    if (!shape)
        return;
    for (int k = 0; k < rank; k++) {
        if (!jx_has_axis(d->offset_dims, k)) {
            shape[k] = at->shape[index++];
            continue;
        }
        while (jx_has_axis(d->collapsed_slice_dims, axis) ||
               jx_has_axis(d->operand_batching_dims, axis))
            axis++;
        shape[k] = p->slice_sizes.at[axis++];
    }
    jx_type_out_like(t, 0, in, in->weak, rank, shape);
}

void jx_type_gather(jx_typing *t)
{
    const jx_p_gather *p = t->params;
    const jx_gather_dims *d = &p->dimension_numbers;
    const jx_aval *in = t->ins[0], *at = t->ins[1];
    indexing x = {"collapsed_slice_dims",   "start_index_map",
                  "operand_batching_dims",  "start_indices_batching_dims",
                  d->collapsed_slice_dims,  d->start_index_map,
                  d->operand_batching_dims, d->start_indices_batching_dims};

    if (!check_indexing(t, &x, 0, 1))
        return;
    int rank = at->rank - 1 + d->offset_dims.count;
    if (!check_sorted(t, "offset_dims", d->offset_dims) ||
        !jx_type_axes(t, "offset_dims", d->offset_dims, rank))
        return;
    if (p->slice_sizes.count != in->rank ||
        in->rank != d->offset_dims.count + d->collapsed_slice_dims.count +
                        d->operand_batching_dims.count) {
        jx_type_wrong(t,
                      "rank %d has %d slice_sizes, %d offset, %d collapsed "
                      "and %d batching axes",
                      in->rank, p->slice_sizes.count, d->offset_dims.count,
                      d->collapsed_slice_dims.count,
                      d->operand_batching_dims.count);
        return;
    }
    require_slice_sizes(t, p);
    gather_out(t, p, rank);
}

/* The combining function takes and gives scalars of the operand's dtype. */
static void check_update(jx_typing *t, const jx_p_scatter *p)
{
    const jx_jaxpr *update = p->update_jaxpr.jaxpr;

    if (!update || !jx_type_closed(t, &p->update_jaxpr, "update_jaxpr"))
        return;
    if (update->nins != 2 || update->nouts != 1) {
        jx_type_wrong(t, "update_jaxpr takes %d values and gives %d",
                      update->nins, update->nouts);
        return;
    }
    const jx_aval *scalar =
        jx_aval_array(&t->program->avals, t->ins[0]->dtype, false, 0, NULL);
    if (!scalar)
        return;
    for (int i = 0; i < 2; i++)
        jx_type_pass(t, update, i, scalar, "update_jaxpr");
    jx_type_agree(t, jx_callee_outs(t, update)[0], scalar,
                  "update_jaxpr, its output");
}

/* An array, its indices and its updates, by the numbers of the operands. */
typedef struct scattering {
    int array, by, updates;
} scattering;

/* Axes of the updates that are no window axes follow the indices' axes. */
static void require_scatter_axes(jx_typing *t, const jx_scatter_dims *d,
                                 const scattering *s)
{
    const jx_aval *in = t->ins[s->array], *at = t->ins[s->by];
    const jx_aval *updates = t->ins[s->updates];
    int window = 0, axis = 0, index = 0;

    for (int k = 0; k < updates->rank; k++) {
        if (!jx_has_axis(d->update_window_dims, k)) {
            jx_require_eq(t, updates->shape[k], at->shape[index],
                          "operand %d, axis %d against operand %d, axis %d",
                          s->updates, k, s->by, index);
            index++;
            continue;
        }
        while (jx_has_axis(d->inserted_window_dims, axis) ||
               jx_has_axis(d->operand_batching_dims, axis))
            axis++;
        jx_require_ge(t, in->shape[axis], updates->shape[k],
                      "operand %d, axis %d against window axis %d", s->array,
                      axis, window++);
        axis++;
    }
}

/* The three fit each other. */
static bool check_scatter(jx_typing *t, const jx_scatter_dims *d,
                          const scattering *s)
{
    const jx_aval *in = t->ins[s->array], *at = t->ins[s->by];
    const jx_aval *updates = t->ins[s->updates];
    indexing x = {"inserted_window_dims",   "scatter_dims_to_operand_dims",
                  "operand_batching_dims",  "scatter_indices_batching_dims",
                  d->inserted_window_dims,  d->scatter_dims_to_operand_dims,
                  d->operand_batching_dims, d->scatter_indices_batching_dims};

    if (in->dtype != updates->dtype || in->impl != updates->impl)
        return jx_type_wrong(t, "operand %d is %s, operand %d is %s", s->array,
                             jx_dtype_of(in->dtype)->short_name, s->updates,
                             jx_dtype_of(updates->dtype)->short_name);
    if (!check_indexing(t, &x, s->array, s->by))
        return false;
    if (updates->rank != at->rank - 1 + d->update_window_dims.count ||
        in->rank != d->update_window_dims.count +
                        d->inserted_window_dims.count +
                        d->operand_batching_dims.count)
        return jx_type_wrong(
            t,
            "operands of ranks %d, %d and %d have %d window, %d "
            "inserted and %d batching axes",
            in->rank, at->rank, updates->rank, d->update_window_dims.count,
            d->inserted_window_dims.count, d->operand_batching_dims.count);
    if (!check_sorted(t, "update_window_dims", d->update_window_dims) ||
        !jx_type_axes(t, "update_window_dims", d->update_window_dims,
                      updates->rank))
        return false;
    require_scatter_axes(t, d, s);
    return true;
}

void jx_type_scatter(jx_typing *t)
{
    const jx_p_scatter *p = t->params;
    const jx_aval *in = t->ins[0];

    if (!check_scatter(t, &p->dimension_numbers, &(scattering){0, 1, 2}))
        return;
    check_update(t, p);
    jx_type_out_like(t, 0, in, in->weak, in->rank, in->shape);
}

/* n arrays, the indices, n updates. */
void jx_type_stablehlo_scatter(jx_typing *t)
{
    const jx_p_stablehlo_scatter *p = t->params;
    int n = (t->nins - 1) / 2;

    if (n < 1 || t->nins != 2 * n + 1) {
        jx_type_wrong(t,
                      "%d operands, takes arrays, indices and as many updates",
                      t->nins);
        return;
    }
    if (!jx_type_counts(t, -1, n) || !jx_type_same_shapes(t, 0, n) ||
        !jx_type_same_shapes(t, n + 1, t->nins))
        return;
    for (int i = 0; i < n; i++)
        if (!check_scatter(t, &p->dimension_numbers,
                           &(scattering){i, n, n + 1 + i}))
            return;
    jx_dtype *dtypes = JX_NEW_ARRAY(t->program->ctx->arena, 2 * n, jx_dtype);
    if (!dtypes)
        return;
    for (int i = 0; i < 2 * n; i++)
        dtypes[i] = t->ins[i % n]->dtype;
    if (!jx_type_computation(t, &p->update_computation, "update_computation",
                             2 * n, dtypes, n, dtypes))
        return;
    for (int i = 0; i < n; i++)
        jx_type_out_like(t, i, t->ins[i], t->ins[i]->weak, t->ins[i]->rank,
                         t->ins[i]->shape);
}
