/* transpose_index.c - transposes of what reads and writes at numbers that are
 * computed, and of windows. */
#include "analyzer/transform/transpose_parts.h"

#include "frontend/ir/build_index.h"

#include <math.h>
#include <string.h>

static jx_params no_params(const jx_transpose *t)
{
    return (jx_params){.program = t->b->in->program};
}

bool jx_transpose_gather(jx_transpose *t)
{
    return jx_transpose_give(
        t, 0, jx_build_scatter_back(t->b, t->eqn, t->ins[1], t->cts[0]));
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

/* Itself, of the cotangent. */
bool jx_transpose_scatter_mul(jx_transpose *t)
{
    const jx_atom ins[] = {t->cts[0], t->ins[1], t->ins[2]};
    const jx_atom *made = jx_is_linear(t, 2)
                              ? NULL
                              : jx_build_like(t->b, t->eqn, ins, NULL, NULL);

    if (jx_is_linear(t, 2))
        return jx_transpose_none(t);
    return made && jx_transpose_give(t, 0, *made);
}

/* The same scatter of other operands. */
static jx_atom scattered(jx_transpose *t, jx_atom to, jx_atom updates)
{
    static const char *const without[] = {"update_jaxpr", "update_consts",
                                          NULL};
    jx_params p = jx_transpose_others(t, without);
    const jx_atom ins[] = {to, t->ins[1], updates};

    jx_put_none(&p, "update_jaxpr");
    jx_put(&p, "update_consts", jx_value_of_tuple(p.program, 0, NULL));
    return jx_is_made(to) && jx_is_made(updates)
               ? jx_build_one(t->b, JX_PRIM_scatter, &p, 3, ins,
                              jx_atom_aval(to))
               : (jx_atom){NULL, NULL};
}

/* 1, 2, ... in that shape. */
static jx_atom numbered(jx_transpose *t, const jx_aval *like)
{
    const jx_dim *count = jx_body_int(t->b, 1);
    jx_params p = no_params(t);
    jx_atom all;

    for (int i = 0; i < like->rank; i++)
        count = jx_dim_mul(t->b->in->program->dims, count, like->shape[i]);
    jx_put_dtype(&p, "dtype", JX_I32);
    jx_put_dims(&p, "shape", 1, &count);
    jx_put_int(&p, "dimension", 0);
    jx_put_none(&p, "sharding");
    all = jx_math_plus(t->b, jx_build(t->b, JX_PRIM_iota, &p, 0, NULL), 1);
    return jx_is_made(all)
               ? jx_build_reshape(t->b, all, like->rank, like->shape)
               : all;
}

/* Of updates that write the same element, the last has its cotangent: whose
 * number is there when numbers are written. */
static jx_atom of_updates(jx_transpose *t)
{
    const jx_p_scatter *s = t->eqn->typed;
    const jx_aval *to = jx_transpose_in(t, 0), *updates = jx_transpose_in(t, 2);
    jx_atom ct = jx_build_gather_back(t->b, t->eqn, t->cts[0], t->ins[1]), own,
            there;

    if (s->unique_indices || !jx_is_made(ct))
        return ct;
    own = numbered(t, updates);
    there = scattered(t,
                      jx_build_zeros(t->b, jx_body_aval(t->b, to, JX_I32,
                                                        to->rank, to->shape)),
                      own);
    there = jx_is_made(there)
                ? jx_build_gather_back(t->b, t->eqn, there, t->ins[1])
                : there;
    return jx_math_where(t->b, jx_math_2(t->b, JX_PRIM_eq, there, own), ct,
                         jx_math_all(t->b, ct, 0));
}

bool jx_transpose_scatter(jx_transpose *t)
{
    return (!jx_is_linear(t, 0) ||
            jx_transpose_give(
                t, 0,
                scattered(t, t->cts[0],
                          jx_build_zeros(t->b, jx_transpose_in(t, 2))))) &&
           (!jx_is_linear(t, 2) || jx_transpose_give(t, 2, of_updates(t)));
}

/* Where the indices begin, of the equation's operands. */
static jx_atom *with_indices(jx_transpose *t, int first, int before)
{
    jx_atom *ins =
        JX_NEW_ARRAY(jx_transpose_arena(t), t->eqn->nins + 2, jx_atom);

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
    return jx_transpose_give(t, 0,
                             jx_build_one(t->b, JX_PRIM_dynamic_update_slice,
                                          NULL, t->eqn->nins + 1, ins,
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
        if (!jx_transpose_give(t, 1,
                               jx_build_one(t->b, JX_PRIM_dynamic_slice, &p,
                                            t->eqn->nins - 1, at, update)))
            return false;
    }
    ins[0] = t->cts[0];
    ins[1] = jx_build_zeros(t->b, update);
    return !jx_is_linear(t, 0) ||
           jx_transpose_give(t, 0,
                             jx_build_one(t->b, JX_PRIM_dynamic_update_slice,
                                          NULL, t->eqn->nins, ins,
                                          jx_transpose_in(t, 0)));
}

/* ---- windows */

static const jx_dim *dilated(jx_transpose *t, const jx_dim *size, int64_t by)
{
    jx_dims *dims = t->b->in->program->dims;
    const jx_dim *one = jx_body_int(t->b, 1);

    return jx_dim_add(
        dims, one,
        jx_dim_mul(dims, jx_body_int(t->b, by), jx_dim_sub(dims, size, one)));
}

static int64_t or_one(jx_ints ints, int i)
{
    return ints.count ? ints.at[i] : 1;
}

/* Strides and dilation of what is summed change places; its edges are those of
 * the windows that reach each element. */
bool jx_transpose_reduce_window_sum(jx_transpose *t)
{
    static const char *const without[] = {"window_strides", "padding",
                                          "base_dilation", NULL};
    const jx_p_window *w = t->eqn->typed;
    const jx_aval *to = jx_transpose_in(t, 0), *from = t->eqn->outs[0]->aval;
    const jx_dim **pads =
        JX_NEW_ARRAY(jx_transpose_arena(t), 2 * to->rank + 1, const jx_dim *);
    int64_t *strides =
        JX_NEW_ARRAY(jx_transpose_arena(t), to->rank + 1, int64_t);
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
            jx_dim_add(dims,
                       dilated(t, from->shape[i], w->window_strides.at[i]),
                       pads[2 * i]));
    }
    if (!pads || !strides)
        return false;
    jx_put_ints(&p, "window_strides", (jx_ints){to->rank, strides});
    jx_put_ints(&p, "base_dilation", w->window_strides);
    jx_put_tuples(&p, "padding", to->rank, 2, pads);
    return jx_transpose_give(
        t, 0, jx_build(t->b, JX_PRIM_reduce_window_sum, &p, 1, t->cts));
}

/* With what no window chooses between the elements. */
static jx_atom spaced(jx_transpose *t, jx_atom a, const jx_p_select_window *w)
{
    int rank = jx_atom_aval(a)->rank;
    const jx_dim **config =
        JX_NEW_ARRAY(jx_transpose_arena(t), 3 * rank + 1, const jx_dim *);
    double least = strcmp(w->select_prim, "ge") == 0 ? -INFINITY : INFINITY;
    const jx_atom ins[] = {a, jx_math_number(t->b, a, least)};
    jx_params p = no_params(t);

    for (int i = 0; config && i < rank; i++) {
        config[3 * i] = config[3 * i + 1] = jx_body_int(t->b, 0);
        config[3 * i + 2] = jx_body_int(t->b, or_one(w->base_dilation, i) - 1);
    }
    if (!config)
        return (jx_atom){NULL, NULL};
    jx_put_tuples(&p, "padding_config", rank, 3, config);
    return jx_build(t->b, JX_PRIM_pad, &p, 2, ins);
}

/* The elements that these were put between. */
static jx_atom unspaced(jx_transpose *t, jx_atom a, const jx_p_select_window *w)
{
    const jx_aval *of = jx_is_made(a) ? jx_atom_aval(a) : NULL;
    int rank = of ? of->rank : 0;
    const jx_dim **both =
        JX_NEW_ARRAY(jx_transpose_arena(t), 2 * rank + 1, const jx_dim *);
    jx_params p = no_params(t);

    if (!of || !both)
        return (jx_atom){NULL, NULL};
    for (int i = 0; i < rank; i++) {
        both[i] = jx_body_int(t->b, 0);
        both[rank + i] = jx_body_int(t->b, or_one(w->base_dilation, i));
    }
    jx_put_dims(&p, "start_indices", rank, both);
    jx_put_dims(&p, "limit_indices", rank, of->shape);
    jx_put_dims(&p, "strides", rank, both + rank);
    return jx_build(t->b, JX_PRIM_slice, &p, 1, &a);
}

/* What each window chose gets its cotangent. */
bool jx_transpose_select_and_gather_add(jx_transpose *t)
{
    static const char *const without[] = {"base_dilation", "window_dilation",
                                          NULL};
    const jx_p_select_window *w = t->eqn->typed;
    jx_params p = jx_transpose_others(t, without);
    jx_atom ins[] = {t->cts[0], t->ins[1]}, made;
    bool apart = false;

    for (int i = 0; i < t->eqn->outs[0]->aval->rank; i++) {
        if (or_one(w->window_dilation, i) != 1)
            return jx_transpose_refuse(
                t, "its transpose is not known with a dilated "
                   "window (PRM002)");
        apart |= or_one(w->base_dilation, i) != 1;
    }
    if (apart)
        ins[1] = spaced(t, ins[1], w);
    if (!jx_is_made(ins[1]))
        return false;
    made = jx_build(t->b, JX_PRIM_select_and_scatter_add, &p, 2, ins);
    return jx_transpose_give(t, 0, apart ? unspaced(t, made, w) : made);
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
    return jx_transpose_give(
        t, 0,
        jx_build_one(t->b, JX_PRIM_select_and_gather_add, &p, 2, ins, to));
}
