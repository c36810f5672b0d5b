/* transpose_linear.c - transposes of what computes element by element, and of
 * what moves elements. */
#include "analyzer/transform/transpose_parts.h"

static const jx_atom nothing = {NULL, NULL};

static jx_params no_params(const jx_transpose *t)
{
    return (jx_params){.program = t->b->in->program};
}

static jx_atom neg(jx_transpose *t, jx_atom a)
{
    return jx_math_1(t->b, JX_PRIM_neg, a);
}

/* ---- element by element */

bool jx_transpose_neg(jx_transpose *t)
{
    return jx_transpose_give(t, 0, neg(t, t->cts[0]));
}

/* Itself: it moves elements, or rounds them. */
bool jx_transpose_same(jx_transpose *t)
{
    const jx_atom *made = jx_build_like(t->b, t->eqn, t->cts, NULL, NULL);

    return made && jx_transpose_give(t, 0, *made);
}

/* Each operand is a result. */
bool jx_transpose_pass(jx_transpose *t)
{
    for (int i = 0; i < t->eqn->nins && i < t->eqn->nouts; i++)
        if (jx_is_made(t->cts[i]) && !jx_transpose_give(t, i, t->cts[i]))
            return false;
    return true;
}

bool jx_transpose_convert(jx_transpose *t)
{
    const jx_aval *to = jx_transpose_in(t, 0);
    jx_atom ct = t->cts[0];

    if (jx_dtype_is_complex(jx_atom_aval(ct)->dtype) &&
        !jx_dtype_is_complex(to->dtype))
        ct = jx_math_1(t->b, JX_PRIM_real, ct);
    if (jx_is_made(ct) && jx_atom_aval(ct)->dtype != to->dtype)
        ct = jx_build_convert(t->b, ct, to->dtype, false);
    return jx_transpose_give(t, 0, ct);
}

bool jx_transpose_real(jx_transpose *t)
{
    jx_atom zero = jx_math_all(t->b, t->cts[0], 0);

    return jx_transpose_give(t, 0,
                             jx_math_2(t->b, JX_PRIM_complex, t->cts[0], zero));
}

/* As JAX has it: the cotangent of a complex number is that of its conjugate. */
bool jx_transpose_imag(jx_transpose *t)
{
    jx_atom zero = jx_math_all(t->b, t->cts[0], 0);

    return jx_transpose_give(
        t, 0, jx_math_2(t->b, JX_PRIM_complex, zero, neg(t, t->cts[0])));
}

bool jx_transpose_conj(jx_transpose *t)
{
    jx_params p = no_params(t);
    jx_atom ct = t->cts[0];

    jx_put_dtype(&p, "input_dtype", jx_atom_aval(ct)->dtype);
    if (!jx_dtype_is_complex(jx_transpose_in(t, 0)->dtype))
        ct = jx_math_1(t->b, JX_PRIM_real, ct);
    else
        ct = jx_build(t->b, JX_PRIM_conj, &p, 1, &ct);
    return jx_transpose_give(t, 0, ct);
}

bool jx_transpose_complex(jx_transpose *t)
{
    jx_atom im = jx_math_1(t->b, JX_PRIM_imag, neg(t, t->cts[0]));

    return jx_transpose_give(t, 0, jx_math_1(t->b, JX_PRIM_real, t->cts[0])) &&
           jx_transpose_give(t, 1, im);
}

bool jx_transpose_add(jx_transpose *t)
{
    return jx_transpose_give(t, 0, t->cts[0]) &&
           jx_transpose_give(t, 1, t->cts[0]);
}

bool jx_transpose_sub(jx_transpose *t)
{
    return jx_transpose_give(t, 0, t->cts[0]) &&
           (!jx_is_linear(t, 1) || jx_transpose_give(t, 1, neg(t, t->cts[0])));
}

bool jx_transpose_mul(jx_transpose *t)
{
    int linear = jx_is_linear(t, 0) ? 0 : 1;

    if (jx_is_linear(t, 1 - linear))
        return jx_transpose_none(t);
    return jx_transpose_give(
        t, linear, jx_math_2(t->b, JX_PRIM_mul, t->cts[0], t->ins[1 - linear]));
}

bool jx_transpose_div(jx_transpose *t)
{
    return jx_is_linear(t, 1)
               ? jx_transpose_none(t)
               : jx_transpose_give(
                     t, 0, jx_math_2(t->b, JX_PRIM_div, t->cts[0], t->ins[1]));
}

/* Linear in its coefficients, each with the power that it is of. */
bool jx_transpose_polynomial(jx_transpose *t)
{
    jx_atom ct = t->cts[0];

    if (jx_is_linear(t, 0))
        return jx_transpose_none(t);
    for (int i = 1; i < t->eqn->nins; i++) {
        if (i > 1)
            ct = jx_math_2(t->b, JX_PRIM_mul, ct, t->ins[0]);
        if (!jx_transpose_give(t, i, ct))
            return false;
    }
    return true;
}

/* Each case has the cotangent where it is chosen. */
bool jx_transpose_select_n(jx_transpose *t)
{
    int n = t->eqn->nins;
    jx_atom *ins = JX_NEW_ARRAY(jx_transpose_arena(t), n + 1, jx_atom);
    jx_atom zeros = jx_build_zeros(t->b, t->eqn->outs[0]->aval);

    if (!ins || !jx_is_made(zeros))
        return false;
    ins[0] = t->ins[0];
    for (int i = 1; i < n; i++) {
        for (int k = 1; k < n; k++)
            ins[k] = k == i ? t->cts[0] : zeros;
        if (jx_is_linear(t, i) &&
            !jx_transpose_give(t, i,
                               jx_build(t->b, JX_PRIM_select_n, NULL, n, ins)))
            return false;
    }
    return true;
}

/* ---- shapes */

/* The axes up to `rank` that are not among these. */
static jx_ints others(jx_transpose *t, int rank, jx_ints axes)
{
    int64_t *at = JX_NEW_ARRAY(jx_transpose_arena(t), rank + 1, int64_t);
    int count = 0;

    for (int i = 0; at && i < rank; i++)
        if (!jx_ints_hold(axes, i))
            at[count++] = i;
    return (jx_ints){count, at};
}

static jx_atom summed(jx_transpose *t, jx_atom a, jx_ints axes)
{
    jx_params p = no_params(t);

    if (!axes.count || !jx_is_made(a))
        return a;
    jx_put_ints(&p, "axes", axes);
    return jx_build(t->b, JX_PRIM_reduce_sum, &p, 1, &a);
}

bool jx_transpose_reduce_sum(jx_transpose *t)
{
    const jx_aval *to = jx_transpose_in(t, 0);
    jx_ints axes = ((const jx_p_axes *)t->eqn->typed)->axes;

    return jx_transpose_give(t, 0,
                             jx_build_broadcast(t->b, t->cts[0],
                                                others(t, to->rank, axes),
                                                to->rank, to->shape));
}

/* Over axes of its operands, which is what a mapped axis becomes; over axes
 * of a mesh the cotangents of all are added up, as if it were a sum and gave
 * each a copy of it. */
bool jx_transpose_psum(jx_transpose *t)
{
    static const char *const keep_all[] = {NULL};
    const jx_p_allreduce *p = t->eqn->typed;

    if (p->axes.names.count && p->axes.at.count)
        return jx_transpose_none(t);
    for (int i = 0; i < t->eqn->nins && p->axes.names.count; i++)
        if (jx_is_linear(t, i) && jx_is_made(t->cts[i])) {
            jx_params again = jx_transpose_others(t, keep_all);
            if (!jx_transpose_give(
                    t, i, jx_build(t->b, JX_PRIM_psum, &again, 1, &t->cts[i])))
                return false;
        }
    if (p->axes.names.count)
        return true;
    for (int i = 0; i < t->eqn->nins; i++) {
        const jx_aval *to = jx_transpose_in(t, i);
        if (jx_is_linear(t, i) && jx_is_made(t->cts[i]) &&
            !jx_transpose_give(
                t, i,
                jx_build_broadcast(t->b, t->cts[i],
                                   others(t, to->rank, p->axes.at), to->rank,
                                   to->shape)))
            return false;
    }
    return true;
}

/* The sum along what is new, and along what was stretched. */
bool jx_transpose_broadcast_in_dim(jx_transpose *t)
{
    const jx_p_broadcast_in_dim *p = t->eqn->typed;
    const jx_aval *to = jx_transpose_in(t, 0), *from = t->eqn->outs[0]->aval;
    int64_t *same = JX_NEW_ARRAY(jx_transpose_arena(t), to->rank + 1, int64_t);
    jx_atom ct;
    int count = 0;

    for (int i = 0; same && i < to->rank; i++) {
        int64_t at = p->broadcast_dimensions.at[i];
        if (to->shape[i] == from->shape[at])
            same[count++] = at;
    }
    if (!same)
        return false;
    ct = summed(t, t->cts[0], others(t, from->rank, (jx_ints){count, same}));
    if (count < to->rank && jx_is_made(ct))
        ct = jx_build_reshape(t->b, ct, to->rank, to->shape);
    return jx_transpose_give(t, 0, ct);
}

static jx_atom put_back(jx_transpose *t, jx_atom a, jx_ints order)
{
    int64_t *back =
        JX_NEW_ARRAY(jx_transpose_arena(t), order.count + 1, int64_t);

    for (int i = 0; back && i < order.count; i++)
        back[order.at[i]] = i;
    return back && jx_is_made(a)
               ? jx_build_transpose(t->b, a, (jx_ints){order.count, back})
               : nothing;
}

/* Also of a squeeze, and of a reshape that takes the axes in another order. */
bool jx_transpose_reshape(jx_transpose *t)
{
    const jx_aval *to = jx_transpose_in(t, 0);
    const jx_p_reshape *p =
        t->eqn->prim->id == JX_PRIM_reshape ? t->eqn->typed : NULL;
    const jx_dim **shape =
        JX_NEW_ARRAY(jx_transpose_arena(t), to->rank + 1, const jx_dim *);

    if (!p || !p->dimensions.count)
        return jx_transpose_give(
            t, 0, jx_build_reshape(t->b, t->cts[0], to->rank, to->shape));
    for (int i = 0; shape && i < to->rank; i++)
        shape[i] = to->shape[p->dimensions.at[i]];
    return shape &&
           jx_transpose_give(
               t, 0,
               put_back(t, jx_build_reshape(t->b, t->cts[0], to->rank, shape),
                        p->dimensions));
}

bool jx_transpose_transpose(jx_transpose *t)
{
    jx_ints order = ((const jx_p_transpose *)t->eqn->typed)->permutation;

    return jx_transpose_give(t, 0, put_back(t, t->cts[0], order));
}

static jx_dims *dims_of(const jx_transpose *t)
{
    return t->b->in->program->dims;
}

/* With zeros before, behind and between the elements: three for each axis. */
static jx_atom padded(jx_transpose *t, jx_atom a, int rank,
                      const jx_dim *const *config)
{
    jx_params p = no_params(t);
    const jx_atom ins[] = {a, jx_math_number(t->b, a, 0)};

    jx_put_tuples(&p, "padding_config", rank, 3, config);
    return jx_is_made(a) ? jx_build(t->b, JX_PRIM_pad, &p, 2, ins) : a;
}

bool jx_transpose_slice(jx_transpose *t)
{
    const jx_p_slice *p = t->eqn->typed;
    const jx_aval *to = jx_transpose_in(t, 0), *from = t->eqn->outs[0]->aval;
    const jx_dim **config =
        JX_NEW_ARRAY(jx_transpose_arena(t), 3 * to->rank + 1, const jx_dim *);
    jx_dims *dims = dims_of(t);

    for (int i = 0; config && i < to->rank; i++) {
        const jx_dim *start = p->start_indices.at[i],
                     *one = jx_body_int(t->b, 1);
        const jx_dim *step = p->strides.given ? p->strides.at[i] : one;
        const jx_dim *last =
            jx_dim_mul(dims, step, jx_dim_sub(dims, from->shape[i], one));
        const jx_dim *end =
            jx_dim_add(dims, start, jx_dim_add(dims, last, one));
        if (from->shape[i] == jx_body_int(t->b, 0))
            end = start; /* nothing is between nothing, where padding has -1 */
        config[3 * i] = start;
        config[3 * i + 1] = jx_dim_sub(dims, to->shape[i], end);
        config[3 * i + 2] = jx_dim_sub(dims, step, one);
    }
    return config &&
           jx_transpose_give(t, 0, padded(t, t->cts[0], to->rank, config));
}

/* What is neither before, behind nor between. */
static jx_atom unpadded(jx_transpose *t, const jx_p_pad *p, const jx_aval *to)
{
    const jx_dim **config =
        JX_NEW_ARRAY(jx_transpose_arena(t), 3 * to->rank + 1, const jx_dim *);
    const jx_dim **start =
        JX_NEW_ARRAY(jx_transpose_arena(t), to->rank + 1, const jx_dim *);
    const jx_dim **step =
        JX_NEW_ARRAY(jx_transpose_arena(t), to->rank + 1, const jx_dim *);
    jx_dims *dims = dims_of(t);
    jx_params q = no_params(t);
    jx_atom ct;

    if (!config || !start || !step)
        return nothing;
    for (int i = 0; i < to->rank; i++) {
        const jx_dim *const *from = &p->padding_config.at[3 * i];
        config[3 * i] = jx_dim_neg(dims, from[0]);
        config[3 * i + 1] = jx_dim_neg(dims, from[1]);
        config[3 * i + 2] = start[i] = jx_body_int(t->b, 0);
        step[i] = jx_dim_add(dims, from[2], jx_body_int(t->b, 1));
    }
    ct = padded(t, t->cts[0], to->rank, config);
    if (!jx_is_made(ct))
        return ct;
    jx_put_dims(&q, "start_indices", to->rank, start);
    jx_put_dims(&q, "limit_indices", to->rank, jx_atom_aval(ct)->shape);
    jx_put_dims(&q, "strides", to->rank, step);
    return jx_build(t->b, JX_PRIM_slice, &q, 1, &ct);
}

bool jx_transpose_pad(jx_transpose *t)
{
    const jx_aval *to = jx_transpose_in(t, 0);
    const jx_ints none = {0, NULL};
    jx_atom ct = unpadded(t, t->eqn->typed, to), all, kept;

    if (!jx_is_made(ct))
        return false;
    if (jx_is_linear(t, 1)) {
        all = summed(t, t->cts[0], others(t, to->rank, none));
        kept = summed(t, ct, others(t, to->rank, none));
        if (!jx_transpose_give(t, 1, jx_math_2(t->b, JX_PRIM_sub, all, kept)))
            return false;
    }
    return jx_transpose_give(t, 0, ct);
}

bool jx_transpose_concatenate(jx_transpose *t)
{
    int axis = (int)((const jx_p_concatenate *)t->eqn->typed)->dimension;
    const jx_dim *start = jx_body_int(t->b, 0);

    for (int i = 0; i < t->eqn->nins; i++) {
        const jx_dim *end =
            jx_dim_add(dims_of(t), start, jx_transpose_in(t, i)->shape[axis]);
        if (jx_is_linear(t, i) &&
            !jx_transpose_give(
                t, i, jx_build_slice(t->b, t->cts[0], axis, start, end)))
            return false;
        start = end;
    }
    return true;
}

bool jx_transpose_split(jx_transpose *t)
{
    int axis = (int)((const jx_p_split *)t->eqn->typed)->axis,
        n = t->eqn->nouts;
    jx_atom *parts = JX_NEW_ARRAY(jx_transpose_arena(t), n + 1, jx_atom);

    for (int i = 0; parts && i < n; i++)
        parts[i] = jx_transpose_full(t, i);
    return parts &&
           jx_transpose_give(t, 0, jx_build_concatenate(t->b, n, parts, axis));
}

bool jx_transpose_cumsum(jx_transpose *t)
{
    const jx_p_cumulative *p = t->eqn->typed;
    jx_params q = no_params(t);

    jx_put_int(&q, "axis", p->axis);
    jx_put_bool(&q, "reverse", !p->reverse);
    return jx_transpose_give(t, 0,
                             jx_build(t->b, JX_PRIM_cumsum, &q, 1, t->cts));
}

bool jx_transpose_stack(jx_transpose *t)
{
    int axis = (int)((const jx_p_stack *)t->eqn->typed)->axis;

    for (int i = 0; i < t->eqn->nins; i++) {
        const jx_aval *to = jx_transpose_in(t, i);
        jx_atom part;
        if (!jx_is_linear(t, i))
            continue;
        part = jx_build_slice(t->b, t->cts[0], axis, jx_body_int(t->b, i),
                              jx_body_int(t->b, i + 1));
        if (!jx_is_made(part) ||
            !jx_transpose_give(
                t, i, jx_build_reshape(t->b, part, to->rank, to->shape)))
            return false;
    }
    return true;
}

bool jx_transpose_unstack(jx_transpose *t)
{
    int n = t->eqn->nouts;
    jx_atom *parts = JX_NEW_ARRAY(jx_transpose_arena(t), n + 1, jx_atom);
    jx_params p = no_params(t);

    for (int i = 0; parts && i < n; i++)
        if (!jx_is_made(parts[i] = jx_transpose_full(t, i)))
            return false;
    jx_put_int(&p, "axis", ((const jx_p_stack *)t->eqn->typed)->axis);
    return parts &&
           jx_transpose_give(t, 0, jx_build(t->b, JX_PRIM_stack, &p, n, parts));
}

/* The sum of the copies: each axis apart into which copy, and where in it. */
bool jx_transpose_tile(jx_transpose *t)
{
    const jx_p_tile *p = t->eqn->typed;
    const jx_aval *to = jx_transpose_in(t, 0);
    const jx_dim **shape =
        JX_NEW_ARRAY(jx_transpose_arena(t), 2 * to->rank + 1, const jx_dim *);
    int64_t *copies =
        JX_NEW_ARRAY(jx_transpose_arena(t), to->rank + 1, int64_t);

    for (int i = 0; shape && copies && i < to->rank; i++) {
        shape[2 * i] = p->reps.at[i];
        shape[2 * i + 1] = to->shape[i];
        copies[i] = 2 * i;
    }
    return shape && copies &&
           jx_transpose_give(
               t, 0,
               summed(t, jx_build_reshape(t->b, t->cts[0], 2 * to->rank, shape),
                      (jx_ints){to->rank, copies}));
}
