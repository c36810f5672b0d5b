/* rules_shape.c - what moves elements, and takes them by index. */
#include "analyzer/values/values_parts.h"

#include <math.h>

bool jx_bound_moves(jx_bounding *t)
{
    for (int i = 0; i < t->eqn->nouts && t->eqn->nins; i++)
        t->outs[i].is = t->ins[0].is;
    return true;
}

bool jx_bound_any_of(jx_bounding *t)
{
    jx_extent is = jx_extent_none();

    for (int i = 0; i < t->eqn->nins; i++)
        is = jx_extent_join(is, t->ins[i].is);
    return jx_bound_give(t, NULL, is);
}

bool jx_bound_iota(jx_bounding *t)
{
    const jx_p_iota *p = t->eqn->typed;
    const jx_aval *aval = t->eqn->outs[0]->aval;
    jx_extenting how = jx_bound_how(t);
    jx_extent is;

    if (!jx_extent_knows(aval->dtype) || p->dimension < 0 ||
        p->dimension >= aval->rank)
        return true;
    is = jx_extent_between(
        0, fmax(jx_bound_size(t->in, aval->shape[p->dimension]).hi - 1, 0));
    is = jx_bound_places(aval->dtype, aval->shape[p->dimension], is);
    return jx_bound_give(t, &how, jx_extent_settle(&how, is));
}

jx_extent jx_bound_places(jx_dtype dtype, const jx_dim *size, jx_extent is)
{
    double most = jx_extent_finite(dtype).hi - 1;

    return jx_dim_is_symbolic(size) && jx_dtype_is_integer(dtype) &&
                   jx_dtype_of(dtype)->bits >= 32
               ? jx_extent_meet(is, jx_extent_between(-most, most))
               : is;
}

/* A size as a number.  That it fits is another claim (IDX004). */
static bool give_size(jx_bounding *t, const jx_dim *dim)
{
    jx_extent is = jx_bound_size(t->in, dim);

    return jx_bound_give(
        t, NULL,
        jx_extent_meet(is, jx_extent_finite(t->eqn->outs[0]->aval->dtype)));
}

bool jx_bound_dim_as_value(jx_bounding *t)
{
    return give_size(t, ((const jx_p_dim_as_value *)t->eqn->typed)->dim);
}

bool jx_bound_dimension_size(jx_bounding *t)
{
    const jx_p_dimension_size *p = t->eqn->typed;
    const jx_aval *aval = jx_atom_aval(t->eqn->ins[0]);

    return p->dimension < 0 || p->dimension >= aval->rank ||
           give_size(t, aval->shape[p->dimension]);
}

/* Where along an axis a slice may begin. */
static jx_extent starts(const jx_valuing *in, const jx_dim *size,
                        const jx_dim *slice)
{
    const jx_dim *last = jx_dim_sub(in->program->dims, size, slice);

    return jx_extent_between(0, last ? jx_bound_size(in, last).lo : -1);
}

static bool lies_within(jx_extent is, jx_extent may)
{
    return is.lo >= may.lo && is.hi <= may.hi;
}

/* Whether an index lies where a slice may begin, for all sizes. */
static bool begins_within(const jx_bounding *t, const jx_known *index,
                          const jx_dim *size, const jx_dim *slice)
{
    jx_dims *dims = t->in->program->dims;

    return lies_within(index->is, starts(t->in, size, slice)) ||
           jx_lies_between(t->in, index, jx_dim_int(dims, 0),
                           jx_dim_sub(dims, size, slice));
}

/* The starts are the operands from `first` on. */
static void ask_starts(jx_bounding *t, int first, const jx_aval *operand,
                       const jx_dim *const *sizes)
{
    for (int i = 0; i < operand->rank && first + i < t->eqn->nins; i++) {
        jx_extent may = starts(t->in, operand->shape[i], sizes[i]);
        const jx_known *is = &t->ins[first + i];
        jx_bound_answer(t, JX_ASKED_IN_BOUNDS,
                        begins_within(t, is, operand->shape[i], sizes[i]),
                        is->is, may);
    }
}

bool jx_bound_dynamic_slice(jx_bounding *t)
{
    const jx_p_dynamic_slice *p = t->eqn->typed;
    const jx_aval *operand = jx_atom_aval(t->eqn->ins[0]);

    if (p->slice_sizes.count == operand->rank)
        ask_starts(t, 1, operand, p->slice_sizes.at);
    return jx_bound_moves(t);
}

bool jx_bound_dynamic_update_slice(jx_bounding *t)
{
    const jx_aval *operand = jx_atom_aval(t->eqn->ins[0]),
                  *update = jx_atom_aval(t->eqn->ins[1]);

    if (operand->rank == update->rank)
        ask_starts(t, 2, operand, update->shape);
    return jx_bound_give(t, NULL, jx_extent_join(t->ins[0].is, t->ins[1].is));
}

/* The indices of that axis, where they are put together of an
 * array for each. */
static const jx_known *column_of(const jx_bounding *t, const jx_known *indices,
                                 int count, int number)
{
    const jx_made *made = jx_valuing_made(t->in, indices);
    const jx_p_concatenate *p;
    int64_t size;

    if (count == 1)
        return indices;
    if (!made->eqn || made->eqn->prim->id != JX_PRIM_concatenate ||
        !made->eqn->typed || made->eqn->nins != count)
        return NULL;
    p = made->eqn->typed;
    for (int i = 0; i < count; i++) {
        const jx_aval *part = jx_atom_aval(made->eqn->ins[i]);
        if (p->dimension != part->rank - 1 ||
            !jx_dim_is_int(part->shape[part->rank - 1], &size) || size != 1)
            return NULL;
    }
    return &made->ins[number];
}

/* Indices of all axes are elements of one array: each fits its axis, where they
 * can be told apart, else the tightest. */
static bool ask_indices(jx_bounding *t, const jx_known *indices,
                        const jx_aval *operand, jx_ints axes,
                        const jx_dim *const *slices)
{
    jx_extent may = jx_extent_between(0, INFINITY);
    bool each = true, holds;

    for (int i = 0; i < axes.count; i++) {
        int axis = (int)axes.at[i];
        const jx_known *column = column_of(t, indices, axes.count, i);
        jx_extent at;
        if (axis < 0 || axis >= operand->rank)
            return false;
        at = starts(t->in, operand->shape[axis], slices[axis]);
        each = each && column &&
               begins_within(t, column, operand->shape[axis], slices[axis]);
        may = jx_extent_meet(may, at);
    }
    holds = each || lies_within(indices->is, may);
    jx_bound_answer(t, JX_ASKED_IN_BOUNDS, holds, indices->is, may);
    return holds;
}

bool jx_bound_gather(jx_bounding *t)
{
    const jx_p_gather *p = t->eqn->typed;
    const jx_aval *operand = jx_atom_aval(t->eqn->ins[0]);
    bool within =
        p->slice_sizes.count == operand->rank &&
        ask_indices(t, &t->ins[1], operand,
                    p->dimension_numbers.start_index_map, p->slice_sizes.at);

    /* What lies outside is clamped to what is inside, or filled. */
    if (within || p->mode == JX_MODE_CLIP)
        return jx_bound_moves(t);
    return true;
}

/* A window begins where all of it fits. */
static bool ask_windows(jx_bounding *t, const jx_scatter_dims *dims,
                        int indices, int update)
{
    const jx_aval *operand = jx_atom_aval(t->eqn->ins[0]),
                  *updates = jx_atom_aval(t->eqn->ins[update]);
    const jx_dim **sizes = JX_NEW_ARRAY(jx_valuing_arena(t->in),
                                        operand->rank + 1, const jx_dim *);

    for (int i = 0; sizes && i < operand->rank; i++) {
        int axis = jx_scatter_window_axis(dims, i);
        sizes[i] = axis >= 0 && axis < updates->rank
                       ? updates->shape[axis]
                       : jx_dim_int(t->in->program->dims, 1);
    }
    if (sizes)
        ask_indices(t, &t->ins[indices], operand,
                    dims->scatter_dims_to_operand_dims, sizes);
    return sizes != NULL;
}

bool jx_bound_scatter(jx_bounding *t)
{
    const jx_p_scatter *p = t->eqn->typed;

    if (!ask_windows(t, &p->dimension_numbers, 1, 2))
        return false;
    return jx_scatter_applies(t->eqn) ||
           jx_bound_give(t, NULL, jx_extent_join(t->ins[0].is, t->ins[2].is));
}

/* What they are made of nobody looks at. */
bool jx_bound_scatter_mul(jx_bounding *t)
{
    return ask_windows(
        t, &((const jx_p_scatter *)t->eqn->typed)->dimension_numbers, 1, 2);
}

bool jx_bound_stablehlo_scatter(jx_bounding *t)
{
    const jx_p_stablehlo_scatter *p = t->eqn->typed;
    int n = t->eqn->nouts;

    return t->eqn->nins != 2 * n + 1 ||
           ask_windows(t, &p->dimension_numbers, n, n + 1);
}

/* An element gets any number of the updates. */
bool jx_bound_scatter_add(jx_bounding *t)
{
    const jx_p_scatter *p = t->eqn->typed;
    const jx_aval *indices = jx_atom_aval(t->eqn->ins[1]);
    jx_extenting how = jx_bound_how(t);
    jx_extent count, updates = t->ins[2].is;

    if (!ask_windows(t, &p->dimension_numbers, 1, 2))
        return false;
    if (!jx_extent_knows(how.dtype) || !indices->rank)
        return true;
    count = jx_bound_count(t->in, indices->shape, indices->rank - 1);
    if (t->eqn->prim->id == JX_PRIM_scatter_sub)
        updates = (jx_extent){-updates.hi, -updates.lo, updates.nan};
    /* In any order, the operand among them. */
    return jx_bound_give(t, &how,
                         jx_extent_sum(&how,
                                       jx_extent_join(updates, t->ins[0].is), 1,
                                       count.hi + 1));
}
