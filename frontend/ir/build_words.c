/* build_words.c - the small vocabulary of build.h: equations that every
 * transformation needs. */
#include "frontend/ir/build.h"

static const jx_atom nothing = {NULL, NULL};

const jx_dim *jx_body_int(const jx_body *b, int64_t value)
{
    return jx_dim_int(b->in->program->dims, value);
}

const jx_aval *jx_body_aval(jx_body *b, const jx_aval *like, jx_dtype dtype,
                            int rank, const jx_dim *const *shape)
{
    jx_aval aval = *like;

    for (int i = 0; i < rank; i++)
        if (!shape[i]) {
            b->in->fail(b, "a size that is too large");
            return NULL;
        }
    if (rank != like->rank)
        aval.spec = NULL;
    aval.dtype = dtype;
    aval.weak = false;
    aval.impl = dtype == JX_KEY ? like->impl : NULL;
    aval.rank = rank;
    aval.shape = shape;
    return jx_aval_add(&b->in->program->avals, &aval);
}

static jx_params no_params(const jx_body *b)
{
    return (jx_params){.program = b->in->program};
}

jx_atom jx_build_two(jx_body *b, jx_prim_id prim, jx_atom a, jx_atom c,
                     const jx_aval *out)
{
    return jx_build_one(b, prim, NULL, 2, (const jx_atom[]){a, c}, out);
}

jx_atom jx_build_broadcast(jx_body *b, jx_atom a, jx_ints dims, int rank,
                           const jx_dim *const *shape)
{
    jx_params p = no_params(b);

    if (!jx_is_made(a))
        return a;
    jx_put_dims(&p, "shape", rank, shape);
    jx_put_ints(&p, "broadcast_dimensions", dims);
    jx_put_none(&p, "sharding");
    return jx_build_one(
        b, JX_PRIM_broadcast_in_dim, &p, 1, &a,
        jx_body_aval(b, jx_atom_aval(a), jx_atom_aval(a)->dtype, rank, shape));
}

jx_atom jx_build_reshape(jx_body *b, jx_atom a, int rank,
                         const jx_dim *const *shape)
{
    jx_params p = no_params(b);

    if (!jx_is_made(a))
        return a;
    jx_put_dims(&p, "new_sizes", rank, shape);
    jx_put_none(&p, "dimensions");
    jx_put_none(&p, "sharding");
    return jx_build_one(
        b, JX_PRIM_reshape, &p, 1, &a,
        jx_body_aval(b, jx_atom_aval(a), jx_atom_aval(a)->dtype, rank, shape));
}

jx_atom jx_build_transpose(jx_body *b, jx_atom a, jx_ints order)
{
    const jx_dim **shape =
        JX_NEW_ARRAY(b->in->program->ctx->arena, order.count, const jx_dim *);
    jx_params p = no_params(b);

    if (!jx_is_made(a) || !shape)
        return nothing;
    for (int i = 0; i < order.count; i++)
        shape[i] = jx_atom_aval(a)->shape[order.at[i]];
    jx_put_ints(&p, "permutation", order);
    return jx_build_one(b, JX_PRIM_transpose, &p, 1, &a,
                        jx_body_aval(b, jx_atom_aval(a), jx_atom_aval(a)->dtype,
                                     order.count, shape));
}

jx_atom jx_build_convert(jx_body *b, jx_atom a, jx_dtype dtype, bool weak)
{
    jx_params p = no_params(b);
    jx_aval out;

    if (!jx_is_made(a) ||
        (jx_atom_aval(a)->dtype == dtype && jx_atom_aval(a)->weak == weak))
        return a;
    out = *jx_atom_aval(a);
    out.dtype = dtype;
    out.weak = weak;
    jx_put_dtype(&p, "new_dtype", dtype);
    jx_put_bool(&p, "weak_type", weak);
    jx_put_none(&p, "sharding");
    return jx_build_one(b, JX_PRIM_convert_element_type, &p, 1, &a,
                        jx_aval_add(&b->in->program->avals, &out));
}

/* The same with another size of one axis. */
static const jx_aval *resized(jx_body *b, const jx_aval *aval, int axis,
                              const jx_dim *size)
{
    const jx_dim **shape =
        JX_NEW_ARRAY(b->in->program->ctx->arena, aval->rank, const jx_dim *);
    jx_aval like = *aval;

    if (!shape)
        return NULL;
    for (int i = 0; i < aval->rank; i++)
        shape[i] = i == axis ? size : aval->shape[i];
    like.spec = NULL;
    return jx_body_aval(b, &like, aval->dtype, aval->rank, shape);
}

jx_atom jx_build_slice(jx_body *b, jx_atom a, int axis, const jx_dim *start,
                       const jx_dim *limit)
{
    jx_params p = no_params(b);

    if (!jx_is_made(a))
        return a;
    const jx_aval *in = jx_atom_aval(a);
    const jx_dim **ends =
        JX_NEW_ARRAY(b->in->program->ctx->arena, 2 * in->rank, const jx_dim *);
    for (int i = 0; ends && i < in->rank; i++) {
        ends[i] = i == axis ? start : jx_body_int(b, 0);
        ends[in->rank + i] = i == axis ? limit : in->shape[i];
    }
    if (!ends)
        return nothing;
    jx_put_dims(&p, "start_indices", in->rank, ends);
    jx_put_dims(&p, "limit_indices", in->rank, ends + in->rank);
    jx_put_none(&p, "strides");
    return jx_build_one(
        b, JX_PRIM_slice, &p, 1, &a,
        resized(b, in, axis, jx_dim_sub(b->in->program->dims, limit, start)));
}

jx_atom jx_build_concatenate(jx_body *b, int count, const jx_atom *parts,
                             int axis)
{
    const jx_dim *size = jx_body_int(b, 0);
    jx_params p = no_params(b);

    for (int i = 0; i < count; i++) {
        if (!jx_is_made(parts[i]))
            return nothing;
        size = jx_dim_add(b->in->program->dims, size,
                          jx_atom_aval(parts[i])->shape[axis]);
    }
    if (count == 1)
        return parts[0];
    jx_put_int(&p, "dimension", axis);
    return jx_build_one(b, JX_PRIM_concatenate, &p, count, parts,
                        resized(b, jx_atom_aval(parts[0]), axis, size));
}

/* What is the same on all devices, as a value that its type lets
 * vary over axes. */
static jx_atom varying(jx_body *b, jx_atom a, jx_names axes)
{
    jx_params p = no_params(b);
    const jx_value **names =
        JX_NEW_ARRAY(b->in->program->ctx->arena, axes.count, const jx_value *);
    jx_aval aval;

    if (!jx_is_made(a) || !names)
        return a;
    for (int i = 0; i < axes.count; i++)
        names[i] =
            jx_value_add(&p.program->values,
                         &(jx_value){.tag = JX_V_TEXT, .text = axes.at[i]});
    jx_put(&p, "axes", jx_value_of_tuple(p.program, axes.count, names));
    aval = *jx_atom_aval(a);
    aval.varying = axes;
    return jx_build_one(b, JX_PRIM_pvary, &p, 1, &a,
                        jx_aval_add(&p.program->avals, &aval));
}

jx_atom jx_build_zeros(jx_body *b, const jx_aval *aval)
{
    jx_atom zero = jx_build_number(b, aval->dtype, 0);

    if (aval->rank)
        zero = jx_build_broadcast(b, zero, (jx_ints){0, NULL}, aval->rank,
                                  aval->shape);
    return aval->varying.count ? varying(b, zero, aval->varying) : zero;
}
