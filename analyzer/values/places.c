/* places.c - what elements are to each other along an axis.
 *
 * Of a one-hot array at most one place of an axis is not zero; sorted values,
 * running maxima and places themselves grow along it.  Sums and differences of
 * such are narrower than those of intervals. */
#include "analyzer/values/values_parts.h"

#include <math.h>

/* -- one place of an axis -------------------------------------------------- */

/* Whether it holds different integers at the places of an axis, and the same
 * whatever the others are: an iota along it. */
static bool is_place(const jx_valuing *in, const jx_known *value, int axis,
                     const jx_dim *size)
{
    int axes[JX_MAX_AXES];
    const jx_aval *aval = jx_valuing_made(in, value)->aval;
    const jx_made *base;
    const jx_p_iota *p;

    if (aval->rank > JX_MAX_AXES || axis >= aval->rank ||
        aval->shape[axis] != size)
        return false;
    base = &in->made.at[jx_relate_base(in, value, axes)];
    if (!base->eqn || base->eqn->prim->id != JX_PRIM_iota || !base->eqn->typed)
        return false;
    p = base->eqn->typed;
    /* Beyond its dtype's end it would repeat. */
    return p->dimension == axes[axis] && axes[axis] >= 0 &&
           jx_bound_size(in, aval->shape[axis]).hi - 1 <=
               jx_extent_most(base->aval->dtype);
}

/* It repeats what it has along the axis. */
static bool repeats(const jx_valuing *in, const jx_known *value, int axis)
{
    int axes[JX_MAX_AXES];
    const jx_aval *aval = jx_valuing_made(in, value)->aval;
    int64_t size;

    if (!aval->rank)
        return true;
    if (aval->rank > JX_MAX_AXES || axis >= aval->rank)
        return false;
    if (jx_dim_is_int(aval->shape[axis], &size) && size == 1)
        return true;
    jx_relate_base(in, value, axes);
    return axes[axis] < 0;
}

/* Whether at most one place of an axis is true, or not zero; *one: exactly
 * one. */
static bool is_one_hot(const jx_valuing *in, const jx_known *value, int axis,
                       bool *one)
{
    const jx_made *made = jx_valuing_made(in, value);
    const jx_known *at;
    int i;

    if (made->eqn && made->eqn->prim->id == JX_PRIM_convert_element_type) {
        value = &made->ins[0];
        made = jx_valuing_made(in, value);
    }
    if (!made->eqn || made->eqn->prim->id != JX_PRIM_eq || axis < 0 ||
        axis >= made->aval->rank ||
        !jx_dtype_is_integer(jx_atom_aval(made->eqn->ins[0])->dtype))
        return false;
    for (i = 0; i < 2; i++)
        if (is_place(in, &made->ins[i], axis, made->aval->shape[axis]) &&
            repeats(in, &made->ins[1 - i], axis))
            break;
    if (i == 2)
        return false;
    at = &made->ins[1 - i];
    *one = at->is.lo >= 0 && at->is.lo <= at->is.hi &&
           at->is.hi < jx_bound_size(in, made->aval->shape[axis]).lo;
    return true;
}

/* All but one number of a sum are zero. */
static void narrow_to_one(const jx_bounding *t, jx_extent each, bool one,
                          jx_extent *is)
{
    jx_extenting how = jx_bound_how(t);

    if (!one)
        each = jx_extent_join(each, jx_extent_of(0));
    each = jx_extent_settle(&how, each);
    is->lo = fmax(is->lo, each.lo);
    is->hi = fmin(is->hi, each.hi);
}

/* One place of a one-hot array is 1. */
static bool is_hot(const jx_valuing *in, const jx_known *value, int axis,
                   jx_extent *each)
{
    bool one;

    if (!is_one_hot(in, value, axis, &one) || value->is.nan)
        return false;
    *each = jx_extent_between(one ? 1 : 0, 1);
    return true;
}

/* A one-hot array, or the product of one and what is finite. */
static bool is_picked(const jx_valuing *in, const jx_known *value, int axis,
                      jx_extent *each)
{
    const jx_made *made = jx_valuing_made(in, value);
    bool one;

    if (is_hot(in, value, axis, each))
        return true;
    if (!made->eqn || made->eqn->prim->id != JX_PRIM_mul)
        return false;
    for (int i = 0; i < 2; i++)
        if (is_one_hot(in, &made->ins[i], axis, &one) &&
            jx_extent_is_finite(made->ins[1 - i].is)) {
            *each = made->ins[1 - i].is;
            if (!one)
                *each = jx_extent_join(*each, jx_extent_of(0));
            return true;
        }
    return false;
}

void jx_relate_sum(const jx_bounding *t, jx_ints axes, jx_extent *is)
{
    jx_extent each;

    if (axes.count == 1 && axes.at[0] >= 0 && is->lo <= is->hi &&
        is_picked(t->in, &t->ins[0], (int)axes.at[0], &each))
        narrow_to_one(t, each, true, is);
}

/* A product of matrices that picks rows of one: other terms are zeros. */
void jx_relate_dot(const jx_bounding *t, jx_dot_dims dims, jx_extent *is)
{
    bool one;

    if (dims.lhs_contracting.count != 1 || is->lo > is->hi)
        return;
    for (int i = 0; i < 2; i++) {
        int axis = (int)(i ? dims.rhs_contracting : dims.lhs_contracting).at[0];
        jx_extent other = t->ins[1 - i].is;
        if (jx_extent_is_finite(other) &&
            is_one_hot(t->in, &t->ins[i], axis, &one)) {
            narrow_to_one(t, other, one, is);
            return;
        }
    }
}

/* -- what grows along an axis ---------------------------------------------- */

/* No element is less than the one before it along the axis. */
static bool grows(const jx_made *made, int axis)
{
    const jx_p_cumulative *c;

    if (!made->eqn || !made->eqn->typed)
        return false;
    switch ((int)made->eqn->prim->id) {
    case JX_PRIM_sort:
        return !made->out &&
               ((const jx_p_sort *)made->eqn->typed)->dimension == axis;
    case JX_PRIM_cummax:
    case JX_PRIM_cummin:
        c = made->eqn->typed;
        return c->axis == axis &&
               !!c->reverse == (made->eqn->prim->id == JX_PRIM_cummin);
    default: return false;
    }
}

/* What a slice is of, without axes of size 1 that it had. */
static const jx_made *slice_of(const jx_valuing *in, const jx_known *value)
{
    const jx_made *made = jx_valuing_made(in, value);

    while (made->eqn && (made->eqn->prim->id == JX_PRIM_squeeze ||
                         made->eqn->prim->id == JX_PRIM_reshape))
        made = jx_valuing_made(in, &made->ins[0]);
    return made->eqn && made->eqn->prim->id == JX_PRIM_slice && made->eqn->typed
               ? made
               : NULL;
}

static bool begins_later(const jx_valuing *in, const jx_dim *a, const jx_dim *b)
{
    const jx_dim *by = jx_dim_sub(in->program->dims, a, b);

    return by && jx_bound_size(in, by).lo >= 0;
}

static bool same_strides(const jx_dim_list *a, const jx_dim_list *b)
{
    bool same = a->given == b->given && a->count == b->count;

    for (int i = 0; same && i < a->count; i++)
        same = a->at[i] == b->at[i];
    return same;
}

static bool is_later(const jx_valuing *in, const jx_known *later,
                     const jx_known *earlier)
{
    const jx_made *a = slice_of(in, later), *b = slice_of(in, earlier);
    const jx_p_slice *p, *q;
    int axis = -1;

    if (!a || !b || a->ins[0].number != b->ins[0].number ||
        !jx_aval_same_shape(a->aval, b->aval) ||
        !jx_aval_same_shape(jx_valuing_made(in, later)->aval,
                            jx_valuing_made(in, earlier)->aval))
        return false;
    p = a->eqn->typed;
    q = b->eqn->typed;
    for (int i = 0; i < a->aval->rank; i++)
        if (p->start_indices.at[i] != q->start_indices.at[i]) {
            if (axis >= 0)
                return false;
            axis = i;
        }
    return axis >= 0 && same_strides(&p->strides, &q->strides) &&
           grows(jx_valuing_made(in, &a->ins[0]), axis) &&
           begins_later(in, p->start_indices.at[axis],
                        q->start_indices.at[axis]);
}

void jx_relate_difference(const jx_bounding *t, const jx_extenting *how,
                          jx_extent *is)
{
    const jx_known *x = &t->ins[0], *y = &t->ins[1];

    if (how->wraps || is->lo > is->hi)
        return;
    if (is_later(t->in, x, y))
        is->lo = fmax(is->lo, -jx_relate_slack(t, x));
    else if (is_later(t->in, y, x))
        is->hi = fmin(is->hi, jx_relate_slack(t, x));
}
