/* type_rules_dims.c - sizes that type rules make of sizes. */
#include "analyzer/type_rules.h"

const jx_dim *jx_const(jx_typing *t, int64_t value)
{
    return jx_dim_int(t->program->dims, value);
}

const jx_dim *jx_plus(jx_typing *t, const jx_dim *a, const jx_dim *b)
{
    return jx_dim_add(t->program->dims, a, b);
}

const jx_dim *jx_minus(jx_typing *t, const jx_dim *a, const jx_dim *b)
{
    return jx_dim_sub(t->program->dims, a, b);
}

/* A product of long sums can grow without bound; no program needs one. */
const jx_dim *jx_times(jx_typing *t, const jx_dim *a, const jx_dim *b)
{
    if (!a || !b || (int64_t)jx_dim_nterms(a) * jx_dim_nterms(b) > 4096)
        return NULL;
    return jx_dim_mul(t->program->dims, a, b);
}

bool jx_is_number(const jx_dim *dim, int64_t value)
{
    int64_t is;

    return dim && jx_dim_is_int(dim, &is) && is == value;
}

/* JAX folds the max away where its bounds decide it, so do we. */
static const jx_dim *at_least_zero(jx_typing *t, const jx_dim *dim)
{
    if (!dim)
        return NULL;
    jx_dim_range range = jx_dim_bounds(dim, t->program->base);
    if (range.has_low && range.low >= 0)
        return dim;
    if (range.has_high && range.high <= 0)
        return jx_const(t, 0);
    return jx_dim_max(t->program->dims, dim, jx_const(t, 0));
}

const jx_dim *jx_dilated(jx_typing *t, const jx_dim *dim,
                         const jx_dim *dilation)
{
    if (jx_is_number(dilation, 1))
        return dim;
    return at_least_zero(
        t, jx_plus(t, jx_const(t, 1),
                   jx_times(t, dilation, jx_minus(t, dim, jx_const(t, 1)))));
}

const jx_dim *jx_strided(jx_typing *t, const jx_dim *dim, const jx_dim *window,
                         const jx_dim *stride)
{
    const jx_dim *room = jx_minus(t, dim, window);

    return at_least_zero(
        t, jx_plus(t, jx_dim_floordiv(t->program->dims, room, stride),
                   jx_const(t, 1)));
}

const jx_dim *jx_smaller(jx_typing *t, const jx_dim *a, const jx_dim *b)
{
    if (!a || !b)
        return NULL;
    const jx_dim *difference = jx_minus(t, a, b);
    if (!difference)
        return NULL;
    jx_dim_range range = jx_dim_bounds(difference, t->program->base);
    if (range.has_low && range.low >= 0)
        return b;
    if (range.has_high && range.high <= 0)
        return a;
    return jx_dim_min(t->program->dims, a, b);
}

const jx_dim **jx_shape(jx_typing *t, int count)
{
    return JX_NEW_ARRAY(t->program->ctx->arena, count > 0 ? count : 0,
                        const jx_dim *);
}
