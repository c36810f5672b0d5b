/* type_rules_window.c - windows that slide over an array. */
#include "analyzer/type_rules.h"

typedef struct window {
    const jx_dim_list *size;
    jx_ints strides, base, dilation; /* the last two may be empty: all 1 */
    const jx_dim_tuples *padding;
} window;

static bool check_positive(jx_typing *t, const char *name, jx_ints numbers)
{
    for (int i = 0; i < numbers.count; i++)
        if (numbers.at[i] < 1)
            return jx_type_wrong(t, "%s is %lld along axis %d", name,
                                 (long long)numbers.at[i], i);
    return true;
}

static bool check_window(jx_typing *t, const window *w, int rank)
{
    if (w->size->count != rank || w->strides.count != rank ||
        w->padding->count != rank || (w->base.count && w->base.count != rank) ||
        (w->dilation.count && w->dilation.count != rank))
        return jx_type_wrong(t,
                             "the window has %d sizes, %d strides, %d "
                             "paddings, %d and %d dilations for rank %d",
                             w->size->count, w->strides.count,
                             w->padding->count, w->base.count,
                             w->dilation.count, rank);
    return check_positive(t, "window_strides", w->strides) &&
           check_positive(t, "base_dilation", w->base) &&
           check_positive(t, "window_dilation", w->dilation);
}

static const jx_dim *one_or(jx_typing *t, jx_ints numbers, int axis)
{
    return jx_const(t, numbers.count ? numbers.at[axis] : 1);
}

/* The shape of `in` seen through the window. */
static const jx_dim **through(jx_typing *t, const window *w, const jx_aval *in)
{
    const jx_dim **shape = jx_shape(t, in->rank);

    for (int i = 0; shape && i < in->rank; i++) {
        const jx_dim *const *edge = &w->padding->at[2 * i];
        const jx_dim *base = jx_dilated(t, in->shape[i], one_or(t, w->base, i));
        const jx_dim *size =
            jx_dilated(t, w->size->at[i], one_or(t, w->dilation, i));
        jx_require_ge(t, w->size->at[i], jx_const(t, 1),
                      "window_dimensions, axis %d", i);
        shape[i] = jx_strided(t, jx_plus(t, jx_plus(t, base, edge[0]), edge[1]),
                              size, jx_const(t, w->strides.at[i]));
    }
    return shape;
}

void jx_type_reduce_window_monoid(jx_typing *t)
{
    const jx_p_window *p = t->params;
    window w = {&p->window_dimensions, p->window_strides, p->base_dilation,
                p->window_dilation, &p->padding};
    const jx_aval *in = t->ins[0];

    if (!check_window(t, &w, in->rank))
        return;
    const jx_dim **shape = through(t, &w, in);
    if (shape)
        jx_type_out(t, 0, in->dtype, in->weak, in->rank, shape);
}

void jx_type_reduce_window(jx_typing *t)
{
    const jx_p_reduce_window *p = t->params;
    window w = {&p->window_dimensions, p->window_strides, p->base_dilation,
                p->window_dilation, &p->padding};
    int n = t->nins / 2;

    if (n == 0 || t->nins != 2 * n) {
        jx_type_wrong(t, "%d operands, takes pairs", t->nins);
        return;
    }
    if (!jx_type_counts(t, -1, n) || !jx_type_starts(t, n) ||
        !check_window(t, &w, t->ins[0]->rank) ||
        !jx_type_reducer(t, &p->jaxpr, n))
        return;
    const jx_dim **shape = through(t, &w, t->ins[0]);
    for (int i = 0; shape && i < n; i++)
        jx_type_out(t, i, t->ins[i]->dtype, false, t->ins[0]->rank, shape);
}

/* Operand 0 has an element per window over operand 1. */
void jx_type_select_and_scatter_add(jx_typing *t)
{
    const jx_p_select_window *p = t->params;
    window w = {&p->window_dimensions, p->window_strides, p->base_dilation,
                p->window_dilation, &p->padding};
    const jx_aval *source = t->ins[0], *in = t->ins[1];

    if (!jx_type_same_dtypes(t, 0, 2))
        return;
    if (source->rank != in->rank) {
        jx_type_wrong(t, "operand 0 has rank %d, operand 1 has %d",
                      source->rank, in->rank);
        return;
    }
    if (!check_window(t, &w, in->rank))
        return;
    const jx_dim **windows = through(t, &w, in);
    for (int i = 0; windows && i < in->rank; i++)
        jx_require_eq(t, source->shape[i], windows[i],
                      "operand 0, axis %d: the windows of operand 1", i);
    jx_type_out(t, 0, source->dtype, jx_all_weak(t), in->rank, in->shape);
}

/* operand, source (an element per window), initial value */
void jx_type_stablehlo_select_and_scatter(jx_typing *t)
{
    const jx_p_select_and_scatter *p = t->params;
    window w = {
        &p->window_dimensions, p->window_strides, {0}, {0}, &p->padding};
    const jx_aval *in = t->ins[0], *source = t->ins[1];
    jx_dtype pair[2] = {in->dtype, in->dtype}, test = JX_BOOL;

    if (!jx_type_same_dtypes(t, 0, 3) || !jx_type_scalar(t, 2) ||
        !check_window(t, &w, in->rank))
        return;
    if (source->rank != in->rank) {
        jx_type_wrong(t, "operand 0 has rank %d, operand 1 has %d", in->rank,
                      source->rank);
        return;
    }
    const jx_dim **windows = through(t, &w, in);
    for (int i = 0; windows && i < in->rank; i++)
        jx_require_eq(t, source->shape[i], windows[i],
                      "operand 1, axis %d: the windows of operand 0", i);
    if (jx_type_computation(t, &p->select, "select", 2, pair, 1, &test) &&
        jx_type_computation(t, &p->scatter, "scatter", 2, pair, 1, pair))
        jx_type_out(t, 0, in->dtype, in->weak, in->rank, in->shape);
}

void jx_type_select_and_gather_add(jx_typing *t)
{
    const jx_p_select_window *p = t->params;
    window w = {&p->window_dimensions, p->window_strides, p->base_dilation,
                p->window_dilation, &p->padding};

    if (!jx_type_same_dtypes(t, 0, 2) || !jx_type_same_shapes(t, 0, 2) ||
        !check_window(t, &w, t->ins[1]->rank))
        return;
    const jx_dim **shape = through(t, &w, t->ins[1]);
    if (shape)
        jx_type_out(t, 0, t->ins[0]->dtype, jx_all_weak(t), t->ins[1]->rank,
                    shape);
}
