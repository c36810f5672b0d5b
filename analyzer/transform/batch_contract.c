/* batch_contract.c - batching of products and convolutions. */
#include "analyzer/transform/batch_parts.h"

static const jx_atom nothing = {NULL, NULL};

/* ---- products */

/* The axis is one more of the batch, or is kept: then it stands in the result
 * where the kept axes of its operand begin. */
bool jx_batch_dot_general(jx_batch *t)
{
    static const char *const without[] = {"dimension_numbers", NULL};
    jx_dot_dims d =
        ((const jx_p_dot_general *)t->eqn->typed)->dimension_numbers;
    jx_params p = jx_batch_others(t, without);
    bool both = t->has[0] && t->has[1];
    int at = d.lhs_batch.count;

    if (t->has[1] && !both)
        at = jx_batch_in(t, 0)->rank - d.lhs_contracting.count;
    if (t->has[0]) {
        d.lhs_contracting = jx_batch_shifted(t, d.lhs_contracting, false);
        d.lhs_batch = jx_batch_shifted(t, d.lhs_batch, both);
    }
    if (t->has[1]) {
        d.rhs_contracting = jx_batch_shifted(t, d.rhs_contracting, false);
        d.rhs_batch = jx_batch_shifted(t, d.rhs_batch, both);
    }
    jx_put_dot_dims(&p, &d);
    return jx_batch_give_one(
        t,
        jx_batch_to_front(t, jx_build(t->b, JX_PRIM_dot_general, &p, 2, t->ins),
                          both ? 0 : at));
}

/* ---- convolutions: the axis becomes a part of another */

/* The leading axis put into another (numbered without it), between so many
 * groups of it and what each has. */
static jx_atom into(jx_batch *t, jx_atom a, int64_t axis, const jx_dim *groups)
{
    const jx_aval *of = jx_is_made(a) ? jx_atom_aval(a) : NULL;
    int rank = of ? of->rank - 1 : 0;
    jx_dims *dims = t->b->in->program->dims;
    const jx_dim **shape =
        JX_NEW_ARRAY(jx_batch_arena(t), rank + 3, const jx_dim *);
    int n = 0;

    if (!of || !shape)
        return nothing;
    for (int i = 0; i <= rank; i++) {
        bool parted = i == axis + 1;
        if (parted)
            shape[n++] = groups;
        shape[n++] =
            parted ? jx_dim_floordiv(dims, of->shape[i], groups) : of->shape[i];
    }
    a = jx_build_reshape(t->b, a, n, shape);
    a = jx_batch_from_front(t, a, (int)axis + 1);
    for (int i = 0; i < rank; i++)
        shape[i] = i == axis ? jx_dim_mul(dims, of->shape[0], of->shape[i + 1])
                             : of->shape[i + 1];
    return jx_is_made(a) ? jx_build_reshape(t->b, a, rank, shape) : nothing;
}

/* The same back. */
static jx_atom out_of(jx_batch *t, jx_atom a, int64_t axis,
                      const jx_dim *groups, const jx_aval *like)
{
    int rank = like->rank, n = 0;
    jx_dims *dims = t->b->in->program->dims;
    const jx_dim **shape =
        JX_NEW_ARRAY(jx_batch_arena(t), rank + 3, const jx_dim *);
    const jx_aval *to = jx_batch_aval(t, like);

    if (!jx_is_made(a) || !shape || !to)
        return nothing;
    for (int i = 0; i < rank; i++) {
        if (i == axis) {
            shape[n++] = groups;
            shape[n++] = t->size;
        }
        shape[n++] = i == axis ? jx_dim_floordiv(dims, like->shape[i], groups)
                               : like->shape[i];
    }
    a = jx_batch_to_front(t, jx_build_reshape(t->b, a, n, shape),
                          (int)axis + 1);
    return jx_is_made(a) ? jx_build_reshape(t->b, a, to->rank, to->shape)
                         : nothing;
}

bool jx_batch_conv(jx_batch *t)
{
    static const char *const without[] = {"feature_group_count",
                                          "batch_group_count", NULL};
    const jx_p_conv *s = t->eqn->typed;
    const jx_conv_dims *d = &s->dimension_numbers;
    jx_dims *dims = t->b->in->program->dims;
    const jx_dim *one = jx_body_int(t->b, 1),
                 *features = s->feature_group_count,
                 *batches = s->batch_group_count, *groups = batches;
    bool both = t->has[0] && t->has[1], by_batch = batches != one;
    int64_t out = d->out_spec.at[t->has[1]]; /* images, or features */
    jx_atom ins[] = {t->ins[0], t->ins[1]};
    jx_params p = jx_batch_others(t, without);

    if (both) { /* each is a group of its own */
        ins[0] = into(t, ins[0], d->lhs_spec.at[!by_batch], one);
        ins[1] = into(t, ins[1], d->rhs_spec.at[0], one);
        *(by_batch ? &batches : &features) =
            jx_dim_mul(dims, t->size, by_batch ? batches : features);
        groups = one;
    } else if (t->has[0]) {
        ins[0] = into(t, ins[0], d->lhs_spec.at[0], groups);
        groups = one;
    } else {
        groups = by_batch ? batches : features;
        ins[1] = into(t, ins[1], d->rhs_spec.at[0], groups);
    }
    if (!jx_is_made(ins[0]) || !jx_is_made(ins[1]))
        return false;
    jx_put_dim(&p, "feature_group_count", features);
    jx_put_dim(&p, "batch_group_count", batches);
    return jx_batch_give_one(
        t, out_of(t, jx_build(t->b, JX_PRIM_conv_general_dilated, &p, 2, ins),
                  out, groups, jx_batch_out(t, 0)));
}
