/* transpose_contract.c - transposes of products, convolutions, Fourier
 * transforms and solves.  The formulas are JAX's (jax/_src/lax). */
#include "analyzer/transform/transpose_parts.h"

#include "frontend/ir/build_matrix.h"

#include <string.h>

static const jx_atom nothing = {NULL, NULL};

static jx_params no_params(const jx_transpose *t)
{
    return (jx_params){.program = t->b->in->program};
}

static int64_t *room(jx_transpose *t, int count)
{
    return JX_NEW_ARRAY(jx_transpose_arena(t), count + 1, int64_t);
}

/* ---- products */

/* The axes up to `rank` that neither are contracted nor a batch. */
static jx_ints kept_of(jx_transpose *t, int rank, jx_ints contracted,
                       jx_ints batch)
{
    int64_t *at = room(t, rank);
    int count = 0;

    for (int i = 0; at && i < rank; i++)
        if (!jx_ints_hold(contracted, i) && !jx_ints_hold(batch, i))
            at[count++] = i;
    return (jx_ints){count, at};
}

static jx_ints range(jx_transpose *t, int from, int count)
{
    int64_t *at = room(t, count);

    for (int i = 0; at && i < count; i++)
        at[i] = from + i;
    return (jx_ints){count, at};
}

/* The place of each axis in a list of three, in which each is once. */
static jx_ints order_of(jx_transpose *t, jx_ints a, jx_ints b, jx_ints c)
{
    const jx_ints all[] = {a, b, c};
    int64_t *to = room(t, a.count + b.count + c.count);
    int next = 0;

    for (int i = 0; to && i < 3; i++)
        for (int k = 0; k < all[i].count; k++)
            to[all[i].at[k]] = next++;
    return (jx_ints){to ? next : 0, to};
}

/* The contracted axes of one operand in the order of those of the other. */
static jx_ints sorted_by(jx_transpose *t, jx_ints mine, jx_ints others)
{
    int64_t *to = room(t, mine.count);

    for (int i = 0; to && i < mine.count; i++) {
        int before = 0;
        for (int k = 0; k < others.count; k++)
            before += others.at[k] < others.at[i];
        to[before] = mine.at[i];
    }
    return (jx_ints){mine.count, to};
}

static jx_ints joined(jx_transpose *t, jx_ints a, jx_ints b)
{
    int64_t *to = room(t, a.count + b.count);

    for (int i = 0; to && i < a.count; i++)
        to[i] = a.at[i];
    for (int i = 0; to && i < b.count; i++)
        to[a.count + i] = b.at[i];
    return (jx_ints){to ? a.count + b.count : 0, to};
}

/* Of the linear operand `x`, whose kept axes come first in the result if it is
 * the first: the product of the cotangent with `y` along what only y has. */
bool jx_transpose_dot_general(jx_transpose *t)
{
    static const char *const without[] = {"dimension_numbers", NULL};
    const jx_dot_dims *d =
        &((const jx_p_dot_general *)t->eqn->typed)->dimension_numbers;
    int x = jx_is_linear(t, 0) ? 0 : 1, y = 1 - x;
    jx_ints mine = x ? d->rhs_contracting : d->lhs_contracting;
    jx_ints its = x ? d->lhs_contracting : d->rhs_contracting;
    jx_ints batch = x ? d->rhs_batch : d->lhs_batch,
            its_batch = x ? d->lhs_batch : d->rhs_batch;
    const jx_aval *to = jx_transpose_in(t, x);
    jx_params p = jx_transpose_others(t, without);
    jx_dot_dims dims;
    jx_ints kept, its_kept;
    jx_atom made;

    if (jx_is_linear(t, y))
        return jx_transpose_none(t);
    kept = kept_of(t, to->rank, mine, batch);
    its_kept = kept_of(t, jx_transpose_in(t, y)->rank, its, its_batch);
    dims = (jx_dot_dims){
        .lhs_contracting =
            range(t, batch.count + (x ? 0 : kept.count), its_kept.count),
        .rhs_contracting = its_kept,
        .lhs_batch = range(t, 0, batch.count),
        .rhs_batch = its_batch};
    jx_put_dot_dims(&p, &dims);
    made = jx_build(t->b, JX_PRIM_dot_general, &p, 2,
                    (const jx_atom[]){t->cts[0], t->ins[y]});
    if (!jx_is_made(made))
        return false;
    made = jx_build_transpose(
        t->b, made, order_of(t, batch, kept, sorted_by(t, mine, its)));
    return jx_transpose_give(t, x, jx_matrix_as(t->b, made, to->dtype));
}

/* Where each row of x has a matrix of y: x's cotangent is a product of such
 * rows again, y's has one result per group.  JAX has no other. */
bool jx_transpose_ragged_dot(jx_transpose *t)
{
    static const char *const without[] = {"ragged_dot_dimension_numbers", NULL};
    const jx_p_ragged_dot *typed = t->eqn->typed;
    const jx_ragged_dims *r = &typed->ragged_dot_dimension_numbers;
    const jx_dot_dims *d = &r->dot;
    int x = jx_is_linear(t, 0) ? 0 : 1, batches = d->lhs_batch.count;
    jx_ints x_kept = kept_of(t, jx_transpose_in(t, 0)->rank, d->lhs_contracting,
                             d->lhs_batch);
    jx_ints y_other = joined(t, d->rhs_batch, r->groups);
    jx_ints y_kept =
        kept_of(t, jx_transpose_in(t, 1)->rank, d->rhs_contracting, y_other);
    jx_params p = jx_transpose_others(t, without);
    jx_ragged_dims dims = {.of_lhs = r->of_lhs};
    jx_atom made;

    if (jx_is_linear(t, 1 - x) || jx_is_linear(t, 2))
        return jx_transpose_none(t);
    if (jx_ints_hold(d->lhs_contracting, r->of_lhs.at[0]) ||
        jx_ints_hold(d->lhs_batch, r->of_lhs.at[0]))
        return jx_transpose_refuse(
            t, "it is transposed where the axis of groups is none "
               "that is contracted, and no batch (PRM002)");
    if (x == 0) {
        int64_t *at = room(t, 1);
        for (int i = 0; at && i < x_kept.count; i++)
            if (x_kept.at[i] == r->of_lhs.at[0])
                at[0] = batches + i;
        dims = (jx_ragged_dims){
            .dot = {.lhs_contracting =
                        range(t, batches + x_kept.count, y_kept.count),
                    .rhs_contracting = y_kept,
                    .lhs_batch = range(t, 0, batches),
                    .rhs_batch = d->rhs_batch},
            .of_lhs = {at ? 1 : 0, at},
            .groups = r->groups};
    } else {
        dims.dot =
            (jx_dot_dims){.lhs_contracting = x_kept,
                          .rhs_contracting = range(t, batches, x_kept.count),
                          .lhs_batch = d->lhs_batch,
                          .rhs_batch = range(t, 0, batches)};
    }
    jx_put_ragged_dims(&p, &dims);
    made = jx_build(t->b, JX_PRIM_ragged_dot_general, &p, 3,
                    (const jx_atom[]){x ? t->ins[0] : t->cts[0],
                                      x ? t->cts[0] : t->ins[1], t->ins[2]});
    if (!jx_is_made(made))
        return false;
    made = jx_build_transpose(
        t->b, made,
        x ? order_of(t, joined(t, r->groups, d->rhs_batch),
                     sorted_by(t, d->rhs_contracting, d->lhs_contracting),
                     y_kept)
          : order_of(t, d->lhs_batch, x_kept,
                     sorted_by(t, d->lhs_contracting, d->rhs_contracting)));
    return jx_transpose_give(
        t, x, jx_matrix_as(t->b, made, jx_transpose_in(t, x)->dtype));
}

/* ---- convolutions */

typedef struct conv {
    const jx_p_conv *p;
    const jx_aval *lhs, *rhs, *out;
    int spatial;
} conv;

/* A size with that many between elements of the axis that stands
 * there in the spec. */
static const jx_dim *dilated(jx_transpose *t, const jx_aval *of, jx_ints spec,
                             int i, int64_t by)
{
    jx_dims *dims = t->b->in->program->dims;
    const jx_dim *one = jx_body_int(t->b, 1), *size = of->shape[spec.at[2 + i]];

    return jx_dim_add(
        dims, one,
        jx_dim_mul(dims, jx_body_int(t->b, by), jx_dim_sub(dims, size, one)));
}

static jx_ints swapped(jx_transpose *t, jx_ints spec)
{
    int64_t *to = room(t, spec.count);

    if (!to)
        return spec;
    memcpy(to, spec.at, (size_t)spec.count * sizeof *to);
    to[0] = spec.at[1];
    to[1] = spec.at[0];
    return (jx_ints){spec.count, to};
}

static jx_params conv_params(jx_transpose *t, const conv *c, jx_conv_dims dims,
                             jx_ints strides, jx_ints lhs_dilation,
                             jx_ints rhs_dilation, const jx_dim *const *padding)
{
    static const char *const without[] = {
        "dimension_numbers", "window_strides",
        "padding",           "lhs_dilation",
        "rhs_dilation",      "feature_group_count",
        "batch_group_count", NULL};
    jx_params p = jx_transpose_others(t, without);

    jx_put_conv_dims(&p, &dims);
    jx_put_ints(&p, "window_strides", strides);
    jx_put_ints(&p, "lhs_dilation", lhs_dilation);
    jx_put_ints(&p, "rhs_dilation", rhs_dilation);
    jx_put_tuples(&p, "padding", c->spatial, 2, padding);
    return p;
}

/* The axis as one of `groups` and the rest of it, of which the groups become
 * the slow part of another axis. */
static jx_atom regrouped(jx_transpose *t, jx_atom a, int64_t from, int64_t into,
                         const jx_dim *groups)
{
    jx_dims *dims = t->b->in->program->dims;
    const jx_aval *of = jx_is_made(a) ? jx_atom_aval(a) : NULL;
    int rank = of ? of->rank : 0, n = 0;
    const jx_dim **shape =
        JX_NEW_ARRAY(jx_transpose_arena(t), rank + 2, const jx_dim *);
    int64_t *order = room(t, rank + 1);

    if (!of || !shape || !order)
        return nothing;
    for (int i = 0; i < rank; i++) {
        if (i == from)
            shape[n++] = groups;
        shape[n++] = i == from
                         ? jx_dim_divide_exactly(dims, of->shape[i], groups)
                         : of->shape[i];
    }
    n = 0;
    /* the groups in front of the axis that takes them */
    for (int i = 0; i < rank; i++) {
        if (i == into)
            order[n++] = from;
        order[n++] = i < from ? i : i + 1;
    }
    a = jx_build_reshape(t->b, a, rank + 1, shape);
    a = jx_is_made(a) ? jx_build_transpose(t->b, a, (jx_ints){rank + 1, order})
                      : a;
    for (int i = 0; i < rank; i++) {
        shape[i] = of->shape[i];
        if (i == from)
            shape[i] = jx_dim_divide_exactly(dims, shape[i], groups);
        if (i == into)
            shape[i] = jx_dim_mul(dims, shape[i], groups);
    }
    return jx_is_made(a) ? jx_build_reshape(t->b, a, rank, shape) : a;
}

static bool conv_lhs(jx_transpose *t, const conv *c)
{
    const jx_p_conv *p = c->p;
    const jx_conv_dims *d = &p->dimension_numbers;
    const jx_dim *one = jx_body_int(t->b, 1), *groups = p->feature_group_count;
    const jx_dim **pads =
        JX_NEW_ARRAY(jx_transpose_arena(t), 2 * c->spatial + 1, const jx_dim *);
    jx_dims *dims = t->b->in->program->dims;
    jx_atom rhs = t->ins[1], made;
    jx_params q, rev = no_params(t);

    if (groups == one)
        groups = p->batch_group_count;
    if (groups != one)
        rhs = regrouped(t, rhs, d->rhs_spec.at[0], d->rhs_spec.at[1], groups);
    for (int i = 0; pads && i < c->spatial; i++) {
        const jx_dim *window =
            dilated(t, c->rhs, d->rhs_spec, i, p->rhs_dilation.at[i]);
        const jx_dim *less = jx_dim_sub(dims, window, one);
        pads[2 * i] = jx_dim_sub(dims, less, p->padding.at[2 * i]);
        pads[2 * i + 1] = jx_dim_sub(
            dims,
            jx_dim_add(
                dims, dilated(t, c->lhs, d->lhs_spec, i, p->lhs_dilation.at[i]),
                less),
            jx_dim_add(
                dims,
                dilated(t, c->out, d->out_spec, i, p->window_strides.at[i]),
                pads[2 * i]));
    }
    jx_put_ints(&rev, "dimensions", (jx_ints){c->spatial, d->rhs_spec.at + 2});
    rhs = jx_is_made(rhs) ? jx_build(t->b, JX_PRIM_rev, &rev, 1, &rhs) : rhs;
    if (!pads || !jx_is_made(rhs))
        return false;
    rhs = jx_matrix_as(t->b, rhs, jx_atom_aval(t->cts[0])->dtype);
    q = conv_params(
        t, c, (jx_conv_dims){d->out_spec, swapped(t, d->rhs_spec), d->lhs_spec},
        p->lhs_dilation, p->window_strides, p->rhs_dilation, pads);
    jx_put_dim(&q, "feature_group_count", groups);
    jx_put_int(&q, "batch_group_count", 1);
    made = jx_build(t->b, JX_PRIM_conv_general_dilated, &q, 2,
                    (const jx_atom[]){t->cts[0], rhs});
    if (p->batch_group_count != one)
        made = regrouped(t, made, d->lhs_spec.at[1], d->lhs_spec.at[0], groups);
    return jx_transpose_give(t, 0, jx_matrix_as(t->b, made, c->lhs->dtype));
}

static bool conv_rhs(jx_transpose *t, const conv *c)
{
    const jx_p_conv *p = c->p;
    const jx_conv_dims *d = &p->dimension_numbers;
    const jx_dim *one = jx_body_int(t->b, 1);
    const jx_dim **pads =
        JX_NEW_ARRAY(jx_transpose_arena(t), 2 * c->spatial + 1, const jx_dim *);
    jx_dims *dims = t->b->in->program->dims;
    jx_atom made;
    jx_params q;

    for (int i = 0; pads && i < c->spatial; i++) {
        const jx_dim *low = p->padding.at[2 * i];
        const jx_dim *window =
            dilated(t, c->rhs, d->rhs_spec, i, p->rhs_dilation.at[i]);
        const jx_dim *beyond = jx_dim_sub(
            dims, dilated(t, c->out, d->out_spec, i, p->window_strides.at[i]),
            dilated(t, c->lhs, d->lhs_spec, i, p->lhs_dilation.at[i]));
        pads[2 * i] = low;
        pads[2 * i + 1] = jx_dim_add(
            dims, beyond, jx_dim_sub(dims, jx_dim_sub(dims, window, low), one));
    }
    if (!pads)
        return false;
    q = conv_params(t, c,
                    (jx_conv_dims){swapped(t, d->lhs_spec),
                                   swapped(t, d->out_spec),
                                   swapped(t, d->rhs_spec)},
                    p->rhs_dilation, p->lhs_dilation, p->window_strides, pads);
    jx_put_dim(&q, "feature_group_count", p->batch_group_count);
    jx_put_dim(&q, "batch_group_count", p->feature_group_count);
    made =
        jx_build(t->b, JX_PRIM_conv_general_dilated, &q, 2,
                 (const jx_atom[]){jx_matrix_as(t->b, t->ins[0],
                                                jx_atom_aval(t->cts[0])->dtype),
                                   t->cts[0]});
    return jx_transpose_give(t, 1, jx_matrix_as(t->b, made, c->rhs->dtype));
}

bool jx_transpose_conv(jx_transpose *t)
{
    conv c = {.p = t->eqn->typed,
              .lhs = jx_transpose_in(t, 0),
              .rhs = jx_transpose_in(t, 1),
              .out = t->eqn->outs[0]->aval};

    c.spatial = c.lhs->rank - 2;
    if (jx_is_linear(t, 0) && jx_is_linear(t, 1))
        return jx_transpose_none(t);
    return jx_is_linear(t, 0) ? conv_lhs(t, &c) : conv_rhs(t, &c);
}

/* ---- solves */

bool jx_transpose_triangular_solve(jx_transpose *t)
{
    static const char *const without[] = {"transpose_a", NULL};
    const jx_p_triangular_solve *s = t->eqn->typed;
    jx_params p = jx_transpose_others(t, without);

    if (jx_is_linear(t, 0))
        return jx_transpose_none(t);
    jx_put_bool(&p, "transpose_a", !s->transpose_a);
    return jx_transpose_give(t, 1,
                             jx_build(t->b, t->eqn->prim->id, &p, 2,
                                      (const jx_atom[]){t->ins[0], t->cts[0]}));
}

/* A diagonal of the transpose: it begins one later, or ends one earlier. */
static jx_atom moved(jx_transpose *t, jx_atom diagonal, bool later)
{
    const jx_dim *one = jx_body_int(t->b, 1), *none = jx_body_int(t->b, 0),
                 *less;

    if (!jx_is_made(diagonal))
        return diagonal;
    less =
        jx_dim_sub(t->b->in->program->dims, jx_matrix_columns(diagonal), one);
    return later ? jx_matrix_pad(t->b, jx_matrix_first(t->b, diagonal, 1, less),
                                 1, one, none)
                 : jx_matrix_pad(t->b, jx_matrix_after(t->b, diagonal, 1, one),
                                 1, none, one);
}

bool jx_transpose_tridiagonal_solve(jx_transpose *t)
{
    const jx_atom ins[] = {moved(t, t->ins[2], true), t->ins[1],
                           moved(t, t->ins[0], false), t->cts[0]};
    const jx_atom *made;

    if (jx_is_linear(t, 0) || jx_is_linear(t, 1) || jx_is_linear(t, 2))
        return jx_transpose_none(t);
    made = jx_is_made(ins[0]) && jx_is_made(ins[2])
               ? jx_build_like(t->b, t->eqn, ins, NULL, NULL)
               : NULL;
    return made && jx_transpose_give(t, 3, *made);
}

/* ---- Fourier transforms */

static jx_atom fft(jx_transpose *t, jx_atom a, const char *kind, int count,
                   const jx_dim *const *lengths)
{
    jx_params p = no_params(t);

    jx_put(&p, "fft_type",
           jx_value_add(&p.program->values,
                        &(jx_value){.tag = JX_V_ENUM, .text = kind}));
    jx_put_dims(&p, "fft_lengths", count, lengths);
    return jx_is_made(a) ? jx_build(t->b, JX_PRIM_fft, &p, 1, &a) : a;
}

/* Of the half that is kept of real numbers: with zeros for the other. */
static bool of_rfft(jx_transpose *t, const jx_p_fft *p)
{
    const jx_dim *n = p->fft_lengths.at[p->fft_lengths.count - 1];
    jx_atom ct = t->cts[0];
    const jx_dim *more =
        jx_dim_sub(t->b->in->program->dims, n, jx_matrix_columns(ct));

    ct = jx_matrix_pad(t->b, ct, 1, jx_body_int(t->b, 0), more);
    ct = fft(t, ct, "jax.lax.FftType.FFT", p->fft_lengths.count,
             p->fft_lengths.at);
    return jx_transpose_give(t, 0, jx_matrix_real(t->b, ct));
}

/* Of real numbers from a half: what stands for two counts twice. */
static bool of_irfft(jx_transpose *t, const jx_p_fft *p)
{
    jx_dims *dims = t->b->in->program->dims;
    const jx_dim *n = p->fft_lengths.at[p->fft_lengths.count - 1],
                 *all = jx_body_int(t->b, 1);
    const jx_aval *to = jx_transpose_in(t, 0);
    int64_t count;
    jx_atom ct = fft(t, t->cts[0], "jax.lax.FftType.RFFT", p->fft_lengths.count,
                     p->fft_lengths.at),
            at, twice, once;
    jx_params q = no_params(t);

    for (int i = 0; i < p->fft_lengths.count; i++)
        all = jx_dim_mul(dims, all, p->fft_lengths.at[i]);
    if (!jx_dim_is_int(n, &count) || !jx_is_made(ct))
        return jx_transpose_refuse(
            t, "its transpose at a size that is not known is not "
               "known (PRM002)");
    jx_put_dtype(&q, "dtype", JX_I32);
    jx_put_dims(&q, "shape", to->rank, to->shape);
    jx_put_int(&q, "dimension", to->rank - 1);
    jx_put_none(&q, "sharding");
    at = jx_build(t->b, JX_PRIM_iota, &q, 0, NULL);
    once = jx_math_2(t->b, JX_PRIM_eq, at, jx_math_number(t->b, at, 0));
    if (count % 2 == 0)
        once =
            jx_math_2(t->b, JX_PRIM_or, once,
                      jx_math_2(t->b, JX_PRIM_eq, at,
                                jx_math_number(t->b, at, (double)(count / 2))));
    twice = jx_math_times(t->b, ct, 2);
    ct = jx_matrix_conjugate(t->b, jx_math_where(t->b, once, ct, twice));
    if (!jx_dim_is_int(all, &count))
        return jx_transpose_refuse(
            t, "its transpose at a size that is not known is not "
               "known (PRM002)");
    return jx_transpose_give(t, 0, jx_math_times(t->b, ct, 1 / (double)count));
}

bool jx_transpose_fft(jx_transpose *t)
{
    const jx_p_fft *p = t->eqn->typed;
    const jx_atom *made;

    if (p->fft_type == JX_RFFT)
        return of_rfft(t, p);
    if (p->fft_type == JX_IRFFT)
        return of_irfft(t, p);
    made = jx_build_like(t->b, t->eqn, t->cts, NULL, NULL);
    return made && jx_transpose_give(t, 0, *made);
}
