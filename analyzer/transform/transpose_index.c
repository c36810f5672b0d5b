/* transpose_index.c - transposes of what reads and writes at numbers that are computed,
 * and of windows. */
#include "analyzer/transform/transpose_parts.h"

#include "frontend/ir/build_index.h"

static jx_params no_params(const jx_transpose *t)
{
    return (jx_params){.program = t->b->in->program};
}

bool jx_transpose_gather(jx_transpose *t)
{
    return jx_transpose_give(t, 0,
                             jx_build_scatter_back(t->b, t->eqn, t->ins[1], t->cts[0]));
}

/* Also of one that subtracts. */
bool jx_transpose_scatter_add(jx_transpose *t)
{
    jx_atom updates;

    if (!jx_transpose_give(t, 0, t->cts[0]))
        return false;
    if (!jx_is_linear(t, 2))
        return true;
    updates = jx_build_gather_back(t->b, t->eqn, t->cts[0], t->ins[1]);
    if (t->eqn->prim->id == JX_PRIM_scatter_sub)
        updates = jx_math_1(t->b, JX_PRIM_neg, updates);
    return jx_transpose_give(t, 2, updates);
}

/* Where the indices begin, of the equation's operands. */
static jx_atom *with_indices(jx_transpose *t, int first, int before)
{
    jx_atom *ins = JX_NEW_ARRAY(jx_transpose_arena(t), t->eqn->nins + 2, jx_atom);

    for (int i = first; ins && i < t->eqn->nins; i++)
        ins[before + i - first] = t->ins[i];
    return ins;
}

bool jx_transpose_dynamic_slice(jx_transpose *t)
{
    jx_atom *ins = with_indices(t, 1, 2);

    if (!ins)
        return false;
    ins[0] = jx_build_zeros(t->b, jx_transpose_in(t, 0));
    ins[1] = t->cts[0];
    return jx_transpose_give(t, 0, jx_build_one(t->b, JX_PRIM_dynamic_update_slice, NULL,
                                                t->eqn->nins + 1, ins,
                                                jx_transpose_in(t, 0)));
}

bool jx_transpose_dynamic_update_slice(jx_transpose *t)
{
    const jx_aval *update = jx_transpose_in(t, 1);
    jx_atom *ins = with_indices(t, 2, 2), *at = with_indices(t, 2, 1);
    jx_params p = no_params(t);

    if (!ins || !at)
        return false;
    if (jx_is_linear(t, 1)) {
        at[0] = t->cts[0];
        jx_put_dims(&p, "slice_sizes", update->rank, update->shape);
        if (!jx_transpose_give(t, 1, jx_build_one(t->b, JX_PRIM_dynamic_slice, &p,
                                                  t->eqn->nins - 1, at, update)))
            return false;
    }
    ins[0] = t->cts[0];
    ins[1] = jx_build_zeros(t->b, update);
    return !jx_is_linear(t, 0) ||
           jx_transpose_give(t, 0, jx_build_one(t->b, JX_PRIM_dynamic_update_slice, NULL,
                                                t->eqn->nins, ins, jx_transpose_in(t, 0)));
}

/* ---- windows */

static const jx_dim *dilated(jx_transpose *t, const jx_dim *size, int64_t by)
{
    jx_dims *dims = t->b->in->program->dims;
    const jx_dim *one = jx_body_int(t->b, 1);

    return jx_dim_add(dims, one,
                      jx_dim_mul(dims, jx_body_int(t->b, by), jx_dim_sub(dims, size, one)));
}

static int64_t or_one(jx_ints ints, int i)
{
    return ints.count ? ints.at[i] : 1;
}

/* Strides and dilation of what is summed change places; its edges are those of the
 * windows that reach each element. */
bool jx_transpose_reduce_window_sum(jx_transpose *t)
{
    static const char *const without[] = {"window_strides", "padding", "base_dilation", NULL};
    const jx_p_window *w = t->eqn->typed;
    const jx_aval *to = jx_transpose_in(t, 0), *from = t->eqn->outs[0]->aval;
    const jx_dim **pads = JX_NEW_ARRAY(jx_transpose_arena(t), 2 * to->rank + 1,
                                       const jx_dim *);
    int64_t *strides = JX_NEW_ARRAY(jx_transpose_arena(t), to->rank + 1, int64_t);
    jx_dims *dims = t->b->in->program->dims;
    jx_params p = jx_transpose_others(t, without);

    for (int i = 0; pads && strides && i < to->rank; i++) {
        const jx_dim *window = dilated(t, w->window_dimensions.at[i],
                                       or_one(w->window_dilation, i));
        const jx_dim *less = jx_dim_sub(dims, window, jx_body_int(t->b, 1));
        strides[i] = or_one(w->base_dilation, i);
        pads[2 * i] = jx_dim_sub(dims, less, w->padding.at[2 * i]);
        pads[2 * i + 1] = jx_dim_sub(
            dims, jx_dim_add(dims, dilated(t, to->shape[i], strides[i]), less),
            jx_dim_add(dims, dilated(t, from->shape[i], w->window_strides.at[i]),
                       pads[2 * i]));
    }
    if (!pads || !strides)
        return false;
    jx_put_ints(&p, "window_strides", (jx_ints){to->rank, strides});
    jx_put_ints(&p, "base_dilation", w->window_strides);
    jx_put_tuples(&p, "padding", to->rank, 2, pads);
    return jx_transpose_give(t, 0,
                             jx_build(t->b, JX_PRIM_reduce_window_sum, &p, 1, t->cts));
}

/* What each window chose gets its cotangent. */
bool jx_transpose_select_and_gather_add(jx_transpose *t)
{
    static const char *const without[] = {"base_dilation", "window_dilation", NULL};
    const jx_p_select_window *w = t->eqn->typed;
    jx_params p = jx_transpose_others(t, without);
    const jx_atom ins[] = {t->cts[0], t->ins[1]};

    for (int i = 0; i < t->eqn->outs[0]->aval->rank; i++)
        if (or_one(w->base_dilation, i) != 1 || or_one(w->window_dilation, i) != 1)
            return jx_transpose_refuse(t, "its transpose is not known with dilations "
                                          "(PRM002)");
    return jx_transpose_give(t, 0, jx_build_one(t->b, JX_PRIM_select_and_scatter_add, &p, 2,
                                                ins, jx_transpose_in(t, 0)));
}

bool jx_transpose_select_and_scatter_add(jx_transpose *t)
{
    static const char *const none[] = {NULL};
    jx_params p = jx_transpose_others(t, none);
    const jx_aval *to = jx_transpose_in(t, 0);
    int64_t *ones = JX_NEW_ARRAY(jx_transpose_arena(t), to->rank + 1, int64_t);
    const jx_atom ins[] = {t->cts[0], t->ins[1]};

    for (int i = 0; ones && i < to->rank; i++)
        ones[i] = 1;
    if (!ones)
        return false;
    jx_put_ints(&p, "base_dilation", (jx_ints){to->rank, ones});
    jx_put_ints(&p, "window_dilation", (jx_ints){to->rank, ones});
    return jx_transpose_give(t, 0, jx_build_one(t->b, JX_PRIM_select_and_gather_add, &p, 2,
                                                ins, to));
}
