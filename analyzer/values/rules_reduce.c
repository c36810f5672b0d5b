/* rules_reduce.c - sums over axes, windows and contractions. */
#include "analyzer/values/values_parts.h"

#include "frontend/ir/dot_algorithm.h"

#include <math.h>

/* How many elements a reduction takes for each that it gives. */
static jx_extent reduced(const jx_bounding *t, jx_ints axes)
{
    const jx_aval *aval = jx_atom_aval(t->eqn->ins[0]);
    jx_extent all = jx_extent_of(1);

    for (int i = 0; i < axes.count; i++) {
        jx_extent size =
            axes.at[i] < 0 || axes.at[i] >= aval->rank
                ? jx_extent_between(0, INFINITY)
                : jx_bound_count(t->in, &aval->shape[axes.at[i]], 1);
        all.lo *= size.lo;
        all.hi *= size.hi;
    }
    return all;
}

static uint64_t axes_of(jx_ints axes)
{
    uint64_t mask = 0;

    for (int i = 0; i < axes.count; i++)
        if (axes.at[i] >= 0 && axes.at[i] < JX_MAX_AXES)
            mask |= (uint64_t)1 << axes.at[i];
    return mask;
}

/* What a peak of the operand along the axes that go says of the result. */
static bool keeps_peak(const jx_bounding *t, jx_ints axes, double *at)
{
    const jx_made *operand = jx_valuing_made(t->in, &t->ins[0]);
    uint64_t mask = axes_of(axes);

    *at = operand->peak.at;
    return operand->peak.axes && (operand->peak.axes & ~mask) == 0;
}

bool jx_bound_reduce_sum(jx_bounding *t)
{
    const jx_p_axes *p = t->eqn->typed;
    jx_extenting how = jx_bound_how(t);
    jx_extent count = reduced(t, p->axes), is;
    double peak;

    if (!jx_extent_knows(how.dtype))
        return true;
    is = jx_extent_sum(&how, t->ins[0].is, count.lo, count.hi);
    /* Sums of what is not negative only grow. */
    if (t->ins[0].is.lo >= 0 && !t->ins[0].is.nan && !how.wraps &&
        keeps_peak(t, p->axes, &peak))
        is.lo = fmax(is.lo, peak);
    jx_relate_sum(t, p->axes, &is);
    jx_relate_shares(t, p->axes, &is);
    return jx_bound_give(t, &how, is);
}

/* A product of up to so many integers. */
static jx_extent integer_product(jx_extenting *how, jx_extent each,
                                 double count)
{
    const double exact = 0x1p53;
    double most = pow(fmax(fmax(fabs(each.lo), fabs(each.hi)), 1), count);

    if (most >= exact)
        most = nextafter(most, INFINITY); /* a power is rounded */
    return jx_extent_settle(
        how, jx_extent_between(
                 each.lo >= 0 ? pow(fmin(each.lo, 1), count) : -most, most));
}

/* The same of floats, in any order. */
static jx_extent product(jx_extenting *how, jx_extent each, double count)
{
    double most = fmax(fabs(each.lo), fabs(each.hi));
    jx_extent is = jx_extent_between(each.lo >= 0 ? pow(fmin(each.lo, 1), count)
                                                  : -pow(fmax(most, 1), count),
                                     pow(fmax(most, 1), count));

    is = count < 0x1p20 ? jx_extent_loosen(how, is, count)
                        : jx_extent_whole(how->dtype);
    if (each.lo >= 0)
        is.lo = fmax(is.lo, 0);
    if (most <= 1) /* no product is larger than its operands */
        return jx_extent_between(fmax(is.lo, -1), fmin(is.hi, 1));
    /* What overflows may meet what vanishes, in whatever order. */
    is.nan |= (is.hi == INFINITY || is.lo == -INFINITY) &&
              !(each.lo > 0 && pow(fmin(each.lo, 1), count) > 1e-30);
    return is;
}

static bool give_product(jx_bounding *t, double count)
{
    jx_extenting how = jx_bound_how(t);
    jx_extent each = t->ins[0].is;

    if (!jx_extent_knows(how.dtype) || jx_extent_is_empty(each) ||
        !jx_extent_is_finite(each))
        return true;
    return jx_bound_give(t, &how,
                         jx_dtype_is_float(how.dtype)
                             ? product(&how, each, count)
                             : integer_product(&how, each, count));
}

bool jx_bound_reduce_prod(jx_bounding *t)
{
    return give_product(
        t, reduced(t, ((const jx_p_axes *)t->eqn->typed)->axes).hi);
}

/* Of no element: the neutral one. */
static jx_extent or_neutral(const jx_bounding *t, jx_extent is, double least,
                            bool greatest)
{
    jx_dtype dtype = t->eqn->outs[0]->aval->dtype;
    jx_extent all = jx_extent_whole(dtype);

    return least >= 1
               ? is
               : jx_extent_join(is, jx_extent_of(greatest ? all.lo : all.hi));
}

bool jx_bound_reduce_max(jx_bounding *t)
{
    const jx_p_axes *p = t->eqn->typed;
    bool greatest = t->eqn->prim->id == JX_PRIM_reduce_max;
    jx_extent is = t->ins[0].is;
    double peak;

    if (!jx_extent_knows(t->eqn->outs[0]->aval->dtype))
        return true;
    if (greatest && !is.nan && keeps_peak(t, p->axes, &peak))
        is.lo = fmax(is.lo, peak);
    return jx_bound_give(t, NULL,
                         or_neutral(t, is, reduced(t, p->axes).lo, greatest));
}

bool jx_bound_reduce_logic(jx_bounding *t)
{
    const jx_p_axes *p = t->eqn->typed;
    jx_extent is = t->ins[0].is;

    if (t->eqn->outs[0]->aval->dtype != JX_BOOL)
        return true;
    if (reduced(t, p->axes).lo < 1)
        is = jx_extent_join(
            is, jx_extent_of(t->eqn->prim->id == JX_PRIM_reduce_and));
    return jx_bound_give(t, NULL, is);
}

bool jx_bound_arg_reduce(jx_bounding *t)
{
    const jx_p_arg_reduce *p = t->eqn->typed;
    const jx_aval *of = jx_atom_aval(t->eqn->ins[0]);
    jx_extenting how = jx_bound_how(t);
    jx_extent is = jx_extent_between(0, fmax(reduced(t, p->axes).hi - 1, 0));

    for (int i = 0; i < p->axes.count; i++)
        if (p->axes.at[i] >= 0 && p->axes.at[i] < of->rank)
            is = jx_bound_places(how.dtype, of->shape[p->axes.at[i]], is);
    /* A narrow dtype may not hold the places of a long axis. */
    return jx_bound_give(t, &how, jx_extent_settle(&how, is));
}

static jx_extent along(const jx_bounding *t, int64_t axis)
{
    const jx_aval *aval = jx_atom_aval(t->eqn->ins[0]);

    return axis < 0 || axis >= aval->rank
               ? jx_extent_between(0, INFINITY)
               : jx_bound_count(t->in, &aval->shape[axis], 1);
}

bool jx_bound_cumsum(jx_bounding *t)
{
    const jx_p_cumulative *p = t->eqn->typed;
    jx_extenting how = jx_bound_how(t);

    if (!jx_extent_knows(how.dtype))
        return true;
    return jx_bound_give(
        t, &how,
        jx_extent_sum(&how, t->ins[0].is, 1, fmax(along(t, p->axis).hi, 1)));
}

bool jx_bound_cumprod(jx_bounding *t)
{
    const jx_p_cumulative *p = t->eqn->typed;

    return give_product(t, fmax(along(t, p->axis).hi, 1));
}

bool jx_bound_cumlogsumexp(jx_bounding *t)
{
    const jx_p_cumulative *p = t->eqn->typed;
    jx_extenting how = jx_bound_how(t);
    jx_extent is = t->ins[0].is;

    if (!jx_extent_knows(how.dtype) || is.lo > is.hi)
        return true;
    is.hi += log(fmax(along(t, p->axis).hi, 1));
    return jx_bound_give(t, &how, jx_extent_loosen(&how, is, 64));
}

bool jx_bound_top_k(jx_bounding *t)
{
    const jx_p_top_k *p = t->eqn->typed;
    const jx_aval *aval = jx_atom_aval(t->eqn->ins[0]);
    int64_t axis = p->axis < 0 ? aval->rank + p->axis : p->axis;

    if (t->eqn->nouts != 2)
        return true;
    t->outs[0].is = t->ins[0].is;
    /* Where no axis is given, it is the last. */
    t->outs[1].is = jx_extent_between(
        0, fmax(fmax(along(t, axis).hi, along(t, aval->rank - 1).hi) - 1, 0));
    return true;
}

/* -- windows --------------------------------------------------------------- */

/* Sums of the elements under a window, of which some may lie outside. */
static bool give_window_sums(jx_bounding *t, jx_dim_list dims)
{
    jx_extenting how = jx_bound_how(t);

    if (!jx_extent_knows(how.dtype))
        return true;
    return jx_bound_give(
        t, &how,
        jx_extent_sum(&how, t->ins[0].is, 0,
                      jx_bound_count(t->in, dims.at, dims.count).hi));
}

bool jx_bound_window_sum(jx_bounding *t)
{
    return give_window_sums(
        t, ((const jx_p_window *)t->eqn->typed)->window_dimensions);
}

/* Each window has an element of the operand: what is padded is less
 * than a window. */
static bool windows_are_full(const jx_p_window *p)
{
    for (int i = 0; i < p->window_dimensions.count; i++) {
        int64_t size, low, high;
        if (i >= p->padding.count ||
            !jx_dim_is_int(p->window_dimensions.at[i], &size) ||
            !jx_dim_is_int(p->padding.at[2 * i], &low) ||
            !jx_dim_is_int(p->padding.at[2 * i + 1], &high) || low >= size ||
            high >= size)
            return false;
    }
    for (int i = 0; i < p->base_dilation.count; i++)
        if (p->base_dilation.at[i] != 1)
            return false;
    for (int i = 0; i < p->window_dilation.count; i++)
        if (p->window_dilation.at[i] != 1)
            return false;
    return true;
}

bool jx_bound_window_max(jx_bounding *t)
{
    const jx_p_window *p = t->eqn->typed;

    return jx_bound_give(
        t, NULL,
        or_neutral(t, t->ins[0].is, windows_are_full(p),
                   t->eqn->prim->id == JX_PRIM_reduce_window_max));
}

bool jx_bound_select_and_scatter_add(jx_bounding *t)
{
    return give_window_sums(
        t, ((const jx_p_select_window *)t->eqn->typed)->window_dimensions);
}

/* -- contractions ---------------------------------------------------------- */

/* Products in a wider dtype, since they may go unrounded into their sum. */
static jx_extent products(jx_extenting *how, const jx_known *a,
                          const jx_known *b, bool squares)
{
    jx_extenting each = *how;
    jx_extent is;

    each.semantics = JX_XLA;
    is = squares ? jx_extent_square(&each, a->is)
                 : jx_extent_mul(&each, a->is, b->is);
    how->wraps |= each.wraps;
    return is;
}

bool jx_bound_dot_general(jx_bounding *t)
{
    const jx_p_dot_general *p = t->eqn->typed;
    const jx_aval *a = jx_atom_aval(t->eqn->ins[0]);
    jx_dot_dims dims = p->dimension_numbers;
    jx_extenting how = jx_bound_how(t);
    jx_extent count = jx_extent_of(1), is;
    /* Of all of one array with itself. */
    bool squares = t->ins[0].number == t->ins[1].number &&
                   t->eqn->outs[0]->aval->rank == dims.lhs_batch.count;

    /* An algorithm may take its operands in another dtype, and sum in it. */
    if (!jx_extent_knows(how.dtype) || jx_names_algorithm(p->precision) ||
        dims.lhs_contracting.count != dims.rhs_contracting.count)
        return true;
    for (int i = 0; i < dims.lhs_contracting.count; i++) {
        int64_t axis = dims.lhs_contracting.at[i];
        jx_extent size;
        if (axis < 0 || axis >= a->rank)
            return true;
        size = jx_bound_count(t->in, &a->shape[axis], 1);
        count.lo *= size.lo;
        count.hi *= size.hi;
        squares &= axis == dims.rhs_contracting.at[i];
    }
    for (int i = 0; i < dims.lhs_batch.count && i < dims.rhs_batch.count; i++)
        squares &= dims.lhs_batch.at[i] == dims.rhs_batch.at[i];
    is = jx_extent_sum(&how, products(&how, &t->ins[0], &t->ins[1], squares),
                       count.lo, count.hi);
    jx_relate_dot(t, dims, &is);
    return jx_bound_give(t, &how, is);
}

bool jx_bound_conv(jx_bounding *t)
{
    const jx_p_conv *p = t->eqn->typed;
    const jx_aval *kernel = jx_atom_aval(t->eqn->ins[1]);
    jx_ints spec = p->dimension_numbers.rhs_spec;
    jx_extenting how = jx_bound_how(t);
    /* What is padded, or lies between, is 0, and multiplied: 0 times
     * infinity is NaN. */
    jx_known padded = t->ins[0];
    double count = 1;

    padded.is = jx_extent_join(padded.is, jx_extent_of(0));

    if (!jx_extent_knows(how.dtype) || spec.count != kernel->rank)
        return true;
    /* Its input features and its window; the first axis is the output's. */
    for (int i = 1; i < spec.count; i++) {
        if (spec.at[i] < 0 || spec.at[i] >= kernel->rank)
            return true;
        count *= jx_bound_count(t->in, &kernel->shape[spec.at[i]], 1).hi;
    }
    return jx_bound_give(
        t, &how,
        jx_extent_sum(&how, products(&how, &padded, &t->ins[1], false), 0,
                      count));
}
