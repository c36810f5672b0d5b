/* stablehlo_ops.c - the ops of the lowering's vocabulary
 * (stablehlo_build.h). */
#include "frontend/write/stablehlo_build.h"

#include <string.h>

/* ---- sizes as values */

static jx_hv dim_atom(jx_code *c, const jx_dim_atom *atom);

static jx_hv raise(jx_code *c, jx_hv x, int power)
{
    jx_hv product = x;

    for (int i = 1; i < power; i++)
        product = jx_hlo_mul(c, product, x);
    return product;
}

static jx_hv dim_term(jx_code *c, const jx_dim_term *t)
{
    jx_hv product = {0};

    for (int i = 0; i < t->nfactors; i++) {
        jx_hv x =
            raise(c, dim_atom(c, t->factors[i].atom), t->factors[i].power);
        product = i ? jx_hlo_mul(c, product, x) : x;
    }
    if (!t->nfactors)
        return jx_hlo_scalar_int(c, JX_I32, (int64_t)t->coefficient);
    return t->coefficient == 1
               ? product
               : jx_hlo_mul(
                     c, product,
                     jx_hlo_scalar_int(c, JX_I32, (int64_t)t->coefficient));
}

jx_hv jx_hlo_dim(jx_code *c, const jx_dim *dim)
{
    jx_hv sum = {0};

    if (!dim)
        return sum;
    if (!jx_dim_nterms(dim))
        return jx_hlo_scalar_int(c, JX_I32, 0);
    for (int i = 0; i < jx_dim_nterms(dim); i++) {
        jx_hv term = dim_term(c, &jx_dim_terms(dim)[i]);
        sum = i ? jx_hlo_add(c, sum, term) : term;
    }
    return sum;
}

/* Python's: the quotient's floor, a remainder with the divisor's sign. */
static jx_hv floored(jx_code *c, jx_hv x, jx_hv y, bool quotient)
{
    jx_hv zero = jx_hlo_scalar_int(c, JX_I32, 0);
    jx_hv q = jx_hlo_div(c, x, y);
    jx_hv r = jx_hlo_binary(c, "stablehlo.remainder", x, y);
    jx_hv signs = jx_hlo_compare(c, "NE", jx_hlo_unary(c, "stablehlo.sign", r),
                                 jx_hlo_unary(c, "stablehlo.sign", y));
    jx_hv off = jx_hlo_and(c, signs, jx_hlo_compare(c, "NE", r, zero));

    if (quotient)
        return jx_hlo_select(
            c, off, jx_hlo_sub(c, q, jx_hlo_scalar_int(c, JX_I32, 1)), q);
    return jx_hlo_select(c, off, jx_hlo_add(c, r, y), r);
}

static jx_hv dim_atom(jx_code *c, const jx_dim_atom *atom)
{
    jx_hv x, y;

    if (atom->kind == JX_ATOM_VAR) {
        for (int i = 0; c->sizes && i < c->in->nvars; i++)
            if (c->in->vars[i] == atom && c->sizes[i].value)
                return (jx_hv){c->sizes[i].value,
                               jx_hlo_scalar_aval(c->in, JX_I32)};
        return jx_hlo_fail(c, "the size `%s` is not known here", atom->name);
    }
    x = jx_hlo_dim(c, atom->a);
    y = jx_hlo_dim(c, atom->b);
    switch (atom->kind) {
    case JX_ATOM_MAX: return jx_hlo_binary(c, "stablehlo.maximum", x, y);
    case JX_ATOM_MIN: return jx_hlo_binary(c, "stablehlo.minimum", x, y);
    case JX_ATOM_FLOORDIV: return floored(c, x, y, true);
    default: return floored(c, x, y, false);
    }
}

static bool all_numbers(int count, const jx_dim *const *dims)
{
    int64_t value;

    for (int i = 0; i < count; i++)
        if (!jx_dim_is_int(dims[i], &value))
            return false;
    return true;
}

jx_hv jx_hlo_dims(jx_code *c, int count, const jx_dim *const *dims)
{
    jx_arena *arena = c->in->ctx->arena;
    int64_t *values = JX_NEW_ARRAY(arena, count + 1, int64_t);
    jx_hv *parts = JX_NEW_ARRAY(arena, count + 1, jx_hv);
    const jx_dim *one = jx_hlo_int(c->in, 1);

    if (!values || !parts)
        return (jx_hv){0};
    if (all_numbers(count, dims)) {
        for (int i = 0; i < count; i++)
            jx_dim_is_int(dims[i], &values[i]);
        return jx_hlo_vector(c, JX_I32, count, values);
    }
    for (int i = 0; i < count; i++)
        parts[i] = jx_hlo_reshape(c, jx_hlo_dim(c, dims[i]), 1, &one);
    return jx_hlo_concatenate(c, count, parts, 0);
}

jx_hv jx_hlo_size_of(jx_code *c, jx_hv array, int64_t axis)
{
    jx_mlir_named attr = {"dimension", jx_hlo_i64(c->in, axis)};

    return jx_hlo_simple(c, "stablehlo.get_dimension_size", 1, &array,
                         jx_hlo_scalar_aval(c->in, JX_I32), 1, &attr);
}

/* ---- elementwise */

jx_hv jx_hlo_unary_to(jx_code *c, const char *name, jx_hv x, jx_dtype dtype)
{
    const jx_aval *out;

    if (!x.value)
        return x;
    out = jx_hlo_with_dtype(c->in, x.aval, dtype);
    return jx_hlo_simple(c, name, 1, &x, out, 0, NULL);
}

jx_hv jx_hlo_unary(jx_code *c, const char *name, jx_hv x)
{
    return x.value ? jx_hlo_unary_to(c, name, x, x.aval->dtype) : x;
}

jx_hv jx_hlo_binary(jx_code *c, const char *name, jx_hv x, jx_hv y)
{
    jx_hv ins[2] = {x, y};

    return x.value ? jx_hlo_simple(c, name, 2, ins, x.aval, 0, NULL) : x;
}

jx_hv jx_hlo_compare_as(jx_code *c, const char *direction, const char *type,
                        jx_hv x, jx_hv y)
{
    jx_hv ins[2] = {x, y};
    jx_mlir_named attrs[2] = {
        {"comparison_direction",
         jx_hlo_enum(c->in, "stablehlo.comparison_direction", direction)},
        {"compare_type",
         jx_hlo_enum(c->in, "stablehlo.comparison_type", type)}};
    const jx_aval *out;

    if (!x.value)
        return x;
    out = jx_hlo_with_dtype(c->in, x.aval, JX_BOOL);
    return jx_hlo_simple(c, "stablehlo.compare", 2, ins, out, 2, attrs);
}

jx_hv jx_hlo_compare(jx_code *c, const char *direction, jx_hv x, jx_hv y)
{
    const char *type = "UNSIGNED";

    if (!x.value)
        return x;
    if (jx_dtype_is_inexact(x.aval->dtype))
        type = "FLOAT";
    else if (jx_dtype_of(x.aval->dtype)->kind == JX_KIND_INT)
        type = "SIGNED";
    return jx_hlo_compare_as(c, direction, type, x, y);
}

jx_hv jx_hlo_select(jx_code *c, jx_hv which, jx_hv yes, jx_hv no)
{
    jx_hv ins[3] = {which, yes, no};

    return yes.value
               ? jx_hlo_simple(c, "stablehlo.select", 3, ins, yes.aval, 0, NULL)
               : yes;
}

jx_hv jx_hlo_convert(jx_code *c, jx_hv x, jx_dtype dtype)
{
    if (!x.value)
        return x;
    if (jx_dtype_is_complex(x.aval->dtype) && !jx_dtype_is_complex(dtype))
        x = jx_hlo_unary_to(c, "stablehlo.real", x,
                            jx_dtype_real(x.aval->dtype));
    if (x.value && dtype == JX_BOOL)
        x = jx_hlo_compare(c, "NE", x, jx_hlo_like(c, x, 0));
    return jx_hlo_unary_to(c, "stablehlo.convert", x, dtype);
}

jx_hv jx_hlo_complex(jx_code *c, jx_hv real, jx_hv imag)
{
    jx_hv ins[2] = {real, imag};
    const jx_aval *out;

    if (!real.value)
        return real;
    out =
        jx_hlo_with_dtype(c->in, real.aval, jx_dtype_complex(real.aval->dtype));
    return jx_hlo_simple(c, "stablehlo.complex", 2, ins, out, 0, NULL);
}

jx_hv jx_hlo_extreme(jx_code *c, const char *name, jx_hv x, jx_hv y)
{
    jx_op_id op = jx_mlir_op_id(name);
    bool extreme =
        op == JX_OP_stablehlo_maximum || op == JX_OP_stablehlo_minimum;
    const char *direction = op == JX_OP_stablehlo_maximum ? "GT" : "LT";
    jx_dtype part;
    jx_hv rx, ry, which;

    if (!x.value || !extreme || !jx_dtype_is_complex(x.aval->dtype))
        return jx_hlo_binary(c, name, x, y);
    part = jx_dtype_real(x.aval->dtype);
    rx = jx_hlo_unary_to(c, "stablehlo.real", x, part);
    ry = jx_hlo_unary_to(c, "stablehlo.real", y, part);
    which = jx_hlo_select(
        c, jx_hlo_compare(c, "EQ", rx, ry),
        jx_hlo_compare(c, direction,
                       jx_hlo_unary_to(c, "stablehlo.imag", x, part),
                       jx_hlo_unary_to(c, "stablehlo.imag", y, part)),
        jx_hlo_compare(c, direction, rx, ry));
    return jx_hlo_select(c, which, x, y);
}

jx_mlir_region jx_hlo_reducer(jx_code *c, const char *name, jx_dtype dtype)
{
    jx_dtype dtypes[2] = {dtype, dtype};
    jx_hv x[2], out;
    jx_code *inner = jx_hlo_begin_scalars(c, 2, dtypes, x);

    if (!inner)
        return (jx_mlir_region){0};
    out = jx_hlo_extreme(inner, name, x[0], x[1]);
    return jx_hlo_finish(inner, 1, &out);
}

jx_hv jx_hlo_bitcast(jx_code *c, jx_hv x, const jx_aval *to)
{
    return jx_hlo_simple(c, "stablehlo.bitcast_convert", 1, &x, to, 0, NULL);
}

/* ---- movement */

static bool is_static(const jx_aval *aval)
{
    return aval && all_numbers(aval->rank, aval->shape);
}

jx_hv jx_hlo_broadcast(jx_code *c, jx_hv x, const jx_aval *to,
                       const int64_t *dims)
{
    jx_mlir_named attr = {"broadcast_dimensions", NULL};
    jx_hv ins[2] = {x};

    if (!x.value || !to)
        return (jx_hv){0};
    to = jx_hlo_with_dtype(c->in, to, x.aval->dtype);
    attr.value = jx_hlo_i64s(c->in, x.aval->rank, dims);
    if (is_static(to))
        return jx_hlo_simple(c, "stablehlo.broadcast_in_dim", 1, ins, to, 1,
                             &attr);
    ins[1] = jx_hlo_dims(c, to->rank, to->shape);
    return jx_hlo_simple(c, "stablehlo.dynamic_broadcast_in_dim", 2, ins, to, 1,
                         &attr);
}

/* first, first + 1, ... */
static const int64_t *axes_from(jx_code *c, int first, int count)
{
    int64_t *axes = JX_NEW_ARRAY(c->in->ctx->arena, count + 1, int64_t);

    for (int i = 0; axes && i < count; i++)
        axes[i] = first + i;
    return axes;
}

jx_hv jx_hlo_along(jx_code *c, jx_hv x, const jx_aval *to, int first)
{
    const int64_t *axes = x.value ? axes_from(c, first, x.aval->rank) : NULL;

    return axes ? jx_hlo_broadcast(c, x, to, axes) : (jx_hv){0};
}

jx_hv jx_hlo_spread(jx_code *c, jx_hv scalar, const jx_aval *like)
{
    if (!scalar.value || !like)
        return (jx_hv){0};
    return like->rank ? jx_hlo_broadcast(c, scalar, like, NULL) : scalar;
}

jx_hv jx_hlo_full(jx_code *c, const jx_aval *aval, double value)
{
    return aval ? jx_hlo_spread(c, jx_hlo_scalar(c, aval->dtype, value), aval)
                : (jx_hv){0};
}

jx_hv jx_hlo_full_int(jx_code *c, const jx_aval *aval, int64_t value)
{
    return aval ? jx_hlo_spread(c, jx_hlo_scalar_int(c, aval->dtype, value),
                                aval)
                : (jx_hv){0};
}

jx_hv jx_hlo_like(jx_code *c, jx_hv x, double value)
{
    return jx_hlo_full(c, x.aval, value);
}

jx_hv jx_hlo_reshape(jx_code *c, jx_hv x, int rank, const jx_dim *const *shape)
{
    jx_hv ins[2] = {x};
    const jx_aval *to;

    if (!x.value)
        return x;
    to = jx_hlo_aval(c->in, x.aval->dtype, rank, shape);
    if (is_static(to))
        return jx_hlo_simple(c, "stablehlo.reshape", 1, ins, to, 0, NULL);
    ins[1] = jx_hlo_dims(c, rank, shape);
    return jx_hlo_simple(c, "stablehlo.dynamic_reshape", 2, ins, to, 0, NULL);
}

jx_hv jx_hlo_transpose(jx_code *c, jx_hv x, const int64_t *permutation)
{
    const jx_dim **shape;
    const jx_aval *to;
    jx_mlir_named attr;

    if (!x.value)
        return x;
    shape = JX_NEW_ARRAY(c->in->ctx->arena, x.aval->rank + 1, const jx_dim *);
    if (!shape)
        return (jx_hv){0};
    for (int i = 0; i < x.aval->rank; i++)
        shape[i] = x.aval->shape[permutation[i]];
    to = jx_hlo_aval(c->in, x.aval->dtype, x.aval->rank, shape);
    attr = (jx_mlir_named){"permutation",
                           jx_hlo_i64s(c->in, x.aval->rank, permutation)};
    return jx_hlo_simple(c, "stablehlo.transpose", 1, &x, to, 1, &attr);
}

jx_hv jx_hlo_iota(jx_code *c, const jx_aval *to, int axis)
{
    jx_mlir_named attr = {"iota_dimension", jx_hlo_i64(c->in, axis)};
    jx_hv shape;

    if (!to)
        return (jx_hv){0};
    if (is_static(to))
        return jx_hlo_simple(c, "stablehlo.iota", 0, NULL, to, 1, &attr);
    shape = jx_hlo_dims(c, to->rank, to->shape);
    return jx_hlo_simple(c, "stablehlo.dynamic_iota", 1, &shape, to, 1, &attr);
}

/* ceil((to - from) / step) */
static const jx_dim *extent(jx_hlo *in, const jx_dim *from, const jx_dim *to,
                            const jx_dim *step)
{
    jx_dims *dims = in->program->dims;
    const jx_dim *length = jx_dim_sub(dims, to, from);
    const jx_dim *one = jx_dim_int(dims, 1);

    if (step == one)
        return length;
    return jx_dim_floordiv(
        dims, jx_dim_add(dims, length, jx_dim_sub(dims, step, one)), step);
}

static jx_hv slice_dynamic(jx_code *c, jx_hv x, const jx_aval *out,
                           const jx_dim *const *from, const jx_dim *const *to,
                           const jx_dim *const *steps)
{
    jx_hv ins[4] = {x, jx_hlo_dims(c, out->rank, from),
                    jx_hlo_dims(c, out->rank, to),
                    jx_hlo_dims(c, out->rank, steps)};

    return jx_hlo_simple(c, "stablehlo.real_dynamic_slice", 4, ins, out, 0,
                         NULL);
}

jx_hv jx_hlo_slice(jx_code *c, jx_hv x, const jx_dim *const *from,
                   const jx_dim *const *to, const jx_dim *const *steps)
{
    jx_arena *arena = c->in->ctx->arena;
    int rank = x.value ? x.aval->rank : 0;
    const jx_dim **shape = JX_NEW_ARRAY(arena, rank + 1, const jx_dim *);
    const jx_dim **ones = JX_NEW_ARRAY(arena, rank + 1, const jx_dim *);
    const jx_aval *out;

    if (!x.value || !shape || !ones)
        return (jx_hv){0};
    for (int i = 0; i < rank; i++) {
        ones[i] = steps ? steps[i] : jx_hlo_int(c->in, 1);
        shape[i] = extent(c->in, from[i], to[i], ones[i]);
    }
    out = jx_hlo_aval(c->in, x.aval->dtype, rank, shape);
    if (!all_numbers(rank, from) || !all_numbers(rank, to) ||
        !all_numbers(rank, ones))
        return slice_dynamic(c, x, out, from, to, ones);
    jx_mlir_named attrs[3] = {
        {"start_indices", jx_hlo_dims_attr(c, rank, from, "starts")},
        {"limit_indices", jx_hlo_dims_attr(c, rank, to, "limits")},
        {"strides", jx_hlo_dims_attr(c, rank, ones, "strides")}};
    return jx_hlo_simple(c, "stablehlo.slice", 1, &x, out, 3, attrs);
}

jx_hv jx_hlo_slice_axis(jx_code *c, jx_hv x, int axis, const jx_dim *from,
                        const jx_dim *to)
{
    jx_arena *arena = c->in->ctx->arena;
    int rank = x.value ? x.aval->rank : 0;
    const jx_dim **begin = JX_NEW_ARRAY(arena, rank + 1, const jx_dim *);
    const jx_dim **end = JX_NEW_ARRAY(arena, rank + 1, const jx_dim *);

    if (!x.value || !begin || !end)
        return (jx_hv){0};
    for (int i = 0; i < rank; i++) {
        begin[i] = i == axis ? from : jx_hlo_int(c->in, 0);
        end[i] = i == axis ? to : x.aval->shape[i];
    }
    return jx_hlo_slice(c, x, begin, end, NULL);
}

jx_hv jx_hlo_concatenate(jx_code *c, int count, const jx_hv *parts, int axis)
{
    const jx_aval *first = count ? parts[0].aval : NULL;
    const jx_dim **shape, *total;
    const jx_aval *out;
    jx_mlir_named attr = {"dimension", jx_hlo_i64(c->in, axis)};

    if (!first)
        return (jx_hv){0};
    shape = JX_NEW_ARRAY(c->in->ctx->arena, first->rank + 1, const jx_dim *);
    if (!shape)
        return (jx_hv){0};
    total = jx_hlo_int(c->in, 0);
    for (int i = 0; i < count; i++) {
        if (!parts[i].value)
            return (jx_hv){0};
        total =
            jx_dim_add(c->in->program->dims, total, parts[i].aval->shape[axis]);
    }
    for (int i = 0; i < first->rank; i++)
        shape[i] = i == axis ? total : first->shape[i];
    out = jx_hlo_aval(c->in, first->dtype, first->rank, shape);
    return jx_hlo_simple(c, "stablehlo.concatenate", count, parts, out, 1,
                         &attr);
}

/* low + high + size + interior * max(size - 1, 0) */
static const jx_dim *padded(jx_hlo *in, const jx_dim *size,
                            const jx_dim *const *p)
{
    jx_dims *d = in->program->dims;
    const jx_dim *zero = jx_dim_int(d, 0);
    const jx_dim *total = jx_dim_add(d, jx_dim_add(d, size, p[0]), p[1]);

    if (p[2] == zero)
        return total;
    const jx_dim *gaps =
        jx_dim_max(d, jx_dim_sub(d, size, jx_dim_int(d, 1)), zero);
    return jx_dim_add(d, total, jx_dim_mul(d, p[2], gaps));
}

static jx_hv pad_static(jx_code *c, const jx_hv *ins, const jx_aval *out,
                        const jx_dim *const *const *parts)
{
    int rank = out->rank;
    jx_mlir_named attrs[3] = {
        {"edge_padding_low", jx_hlo_dims_attr(c, rank, parts[0], "padding")},
        {"edge_padding_high", jx_hlo_dims_attr(c, rank, parts[1], "padding")},
        {"interior_padding", jx_hlo_dims_attr(c, rank, parts[2], "padding")}};

    return jx_hlo_simple(c, "stablehlo.pad", 2, ins, out, 3, attrs);
}

jx_hv jx_hlo_pad(jx_code *c, jx_hv x, jx_hv with, const jx_dim *const *padding)
{
    jx_arena *arena = c->in->ctx->arena;
    int rank = x.value ? x.aval->rank : 0;
    const jx_dim **shape = JX_NEW_ARRAY(arena, rank + 1, const jx_dim *);
    const jx_dim *const *parts[3];
    jx_hv ins[5] = {x, with};

    if (!x.value || !with.value || !shape)
        return (jx_hv){0};
    for (int i = 0; i < rank; i++)
        shape[i] = padded(c->in, x.aval->shape[i], padding + 3 * i);
    const jx_aval *out = jx_hlo_aval(c->in, x.aval->dtype, rank, shape);
    for (int k = 0; k < 3; k++) {
        const jx_dim **list = JX_NEW_ARRAY(arena, rank + 1, const jx_dim *);
        if (!list)
            return (jx_hv){0};
        for (int i = 0; i < rank; i++)
            list[i] = padding[3 * i + k];
        parts[k] = list;
    }
    if (all_numbers(3 * rank, padding))
        return pad_static(c, ins, out, parts);
    for (int k = 0; k < 3; k++)
        ins[2 + k] = jx_hlo_dims(c, rank, parts[k]);
    return jx_hlo_simple(c, "stablehlo.dynamic_pad", 5, ins, out, 0, NULL);
}

jx_hv jx_hlo_reverse(jx_code *c, jx_hv x, int count, const int64_t *axes)
{
    jx_mlir_named attr = {"dimensions", jx_hlo_i64s(c->in, count, axes)};

    return x.value
               ? jx_hlo_simple(c, "stablehlo.reverse", 1, &x, x.aval, 1, &attr)
               : x;
}

static bool among(int count, const int64_t *axes, int64_t axis)
{
    for (int i = 0; i < count; i++)
        if (axes[i] == axis)
            return true;
    return false;
}

jx_hv jx_hlo_reduce(jx_code *c, const char *name, jx_hv x, jx_hv init,
                    int naxes, const int64_t *axes)
{
    jx_hv ins[2] = {x, init};
    const jx_dim **shape;
    const jx_aval *out;
    int n = 0;

    if (!x.value)
        return x;
    shape = JX_NEW_ARRAY(c->in->ctx->arena, x.aval->rank + 1, const jx_dim *);
    if (!shape)
        return (jx_hv){0};
    for (int i = 0; i < x.aval->rank; i++)
        if (!among(naxes, axes, i))
            shape[n++] = x.aval->shape[i];
    out = jx_hlo_aval(c->in, x.aval->dtype, n, shape);
    jx_mlir_named attr = {"dimensions", jx_hlo_i64s(c->in, naxes, axes)};
    jx_mlir_region body = jx_hlo_reducer(c, name, x.aval->dtype);
    return jx_hlo_emit1(c, &(jx_hlo_op){.name = "stablehlo.reduce",
                                        .nins = 2,
                                        .ins = ins,
                                        .nouts = 1,
                                        .outs = &out,
                                        .nattrs = 1,
                                        .attrs = &attr,
                                        .nregions = 1,
                                        .regions = &body});
}

jx_hv jx_hlo_any(jx_code *c, jx_hv x)
{
    const int64_t *axes = x.value ? axes_from(c, 0, x.aval->rank) : NULL;

    if (!axes || !x.aval->rank)
        return axes ? x : (jx_hv){0};
    return jx_hlo_reduce(c, "stablehlo.or", x, jx_hlo_scalar_int(c, JX_BOOL, 0),
                         x.aval->rank, axes);
}

/* Starts as one vector of i32, pulled in to where the slice fits; the slice
 * from there. */
static jx_hv slice_clamped(jx_code *c, jx_hv x, const jx_aval *out,
                           const jx_hv *starts)
{
    jx_arena *arena = c->in->ctx->arena;
    int rank = out->rank;
    jx_hv *parts = JX_NEW_ARRAY(arena, rank + 1, jx_hv);
    const jx_dim *one = jx_hlo_int(c->in, 1);
    jx_hv sizes, ins[4], clamp[3];

    if (!parts)
        return (jx_hv){0};
    for (int i = 0; i < rank; i++)
        parts[i] =
            jx_hlo_reshape(c, jx_hlo_convert(c, starts[i], JX_I32), 1, &one);
    sizes = jx_hlo_dims(c, rank, out->shape);
    clamp[0] = jx_hlo_like(c, sizes, 0);
    clamp[1] = jx_hlo_concatenate(c, rank, parts, 0);
    clamp[2] = jx_hlo_sub(c, jx_hlo_dims(c, rank, x.aval->shape), sizes);
    ins[0] = x;
    ins[1] = jx_hlo_simple(c, "stablehlo.clamp", 3, clamp, sizes.aval, 0, NULL);
    ins[2] = jx_hlo_add(c, ins[1], sizes);
    ins[3] = jx_hlo_like(c, sizes, 1);
    return jx_hlo_simple(c, "stablehlo.real_dynamic_slice", 4, ins, out, 0,
                         NULL);
}

jx_hv jx_hlo_dynamic_slice(jx_code *c, jx_hv x, const jx_hv *starts,
                           const jx_dim *const *sizes)
{
    int rank = x.value ? x.aval->rank : 0;
    jx_hv *ins = JX_NEW_ARRAY(c->in->ctx->arena, rank + 1, jx_hv);
    const jx_aval *out;

    if (!x.value || !ins)
        return (jx_hv){0};
    out = jx_hlo_aval(c->in, x.aval->dtype, rank, sizes);
    if (!out)
        return (jx_hv){0};
    if (!is_static(out))
        return slice_clamped(c, x, out, starts);
    ins[0] = x;
    for (int i = 0; i < rank; i++)
        ins[i + 1] = starts[i];
    jx_mlir_named attr = {"slice_sizes",
                          jx_hlo_dims_attr(c, rank, sizes, "slice sizes")};
    return jx_hlo_simple(c, "stablehlo.dynamic_slice", rank + 1, ins, out, 1,
                         &attr);
}

jx_hv jx_hlo_dynamic_update(jx_code *c, jx_hv x, jx_hv update,
                            const jx_hv *starts)
{
    int rank = x.value ? x.aval->rank : 0;
    jx_hv *ins = JX_NEW_ARRAY(c->in->ctx->arena, rank + 2, jx_hv);

    if (!x.value || !ins)
        return (jx_hv){0};
    ins[0] = x;
    ins[1] = update;
    for (int i = 0; i < rank; i++)
        ins[i + 2] = starts[i];
    return jx_hlo_simple(c, "stablehlo.dynamic_update_slice", rank + 2, ins,
                         x.aval, 0, NULL);
}

/* ---- loops and calls */

static jx_mlir_region loop_region(jx_code *c, int count,
                                  const jx_aval *const *avals,
                                  jx_hlo_step *step, void *env, int nresults)
{
    jx_arena *arena = c->in->ctx->arena;
    jx_hv *args = JX_NEW_ARRAY(arena, count + 1, jx_hv);
    jx_hv *next = JX_NEW_ARRAY(arena, count + 1, jx_hv);
    jx_code *inner;

    if (!args || !next)
        return (jx_mlir_region){0};
    inner = jx_hlo_begin(c, count, avals, args);
    if (!inner)
        return (jx_mlir_region){0};
    step(inner, env, args, next);
    return jx_hlo_finish(inner, nresults, next);
}

void jx_hlo_while(jx_code *c, int count, const jx_hv *init, jx_hlo_step *go_on,
                  jx_hlo_step *step, void *env, jx_hv *outs)
{
    const jx_aval **avals =
        JX_NEW_ARRAY(c->in->ctx->arena, count + 1, const jx_aval *);
    jx_mlir_region regions[2];

    for (int i = 0; i < count; i++)
        outs[i] = (jx_hv){0};
    if (!avals)
        return;
    for (int i = 0; i < count; i++) {
        if (!init[i].value)
            return;
        avals[i] = init[i].aval;
    }
    regions[0] = loop_region(c, count, avals, go_on, env, 1);
    regions[1] = loop_region(c, count, avals, step, env, count);
    jx_hlo_emit(c,
                &(jx_hlo_op){.name = "stablehlo.while",
                             .nins = count,
                             .ins = init,
                             .nouts = count,
                             .outs = avals,
                             .nregions = 2,
                             .regions = regions},
                outs);
}

void jx_hlo_assert(jx_code *c, int nins, const jx_hv *ins, const char *message)
{
    jx_hlo *in = c->in;
    jx_mlir_named attrs[] = {
        {"call_target_name", jx_hlo_text(in, "shape_assertion")},
        {"api_version", jx_hlo_integer(in, JX_SIGNLESS, 32, 2)},
        {"backend_config", jx_hlo_text(in, "")},
        {"has_side_effect", jx_hlo_bool(in, true)}};
    jx_mlir_named more = {"error_message", jx_hlo_text(in, message)};

    jx_hlo_emit(c,
                &(jx_hlo_op){.name = "stablehlo.custom_call",
                             .nins = nins,
                             .ins = ins,
                             .nattrs = 4,
                             .attrs = attrs,
                             .nmore = 1,
                             .more = &more},
                NULL);
}

/* Row-major, or with the last two axes swapped. */
static const jx_mlir_attr *layout(jx_hlo *in, int rank, bool column_major)
{
    int64_t *axes = JX_NEW_ARRAY(in->ctx->arena, rank + 1, int64_t);

    if (!axes)
        return NULL;
    for (int i = 0; i < rank; i++)
        axes[i] = rank - 1 - i;
    if (column_major && rank >= 2) {
        axes[0] = rank - 2;
        axes[1] = rank - 1;
    }
    return jx_hlo_axes(in, rank, axes);
}

const jx_hv *jx_hlo_with_shapes(jx_code *c, int *nins, const jx_hv *ins,
                                int nouts, const jx_aval *const *outs,
                                const jx_mlir_attr **indices)
{
    jx_arena *arena = c->in->ctx->arena;
    jx_hv *all = JX_NEW_ARRAY(arena, *nins + nouts + 1, jx_hv);
    int64_t *places = JX_NEW_ARRAY(arena, nouts + 1, int64_t);
    bool open = false;

    *indices = NULL;
    for (int i = 0; i < nouts; i++)
        open = open || !is_static(outs[i]);
    if (!open || !all || !places)
        return ins;
    memcpy(all, ins, (size_t)*nins * sizeof *all);
    for (int i = 0; i < nouts; i++) {
        places[i] = *nins + i;
        all[*nins + i] = jx_hlo_dims(c, outs[i]->rank, outs[i]->shape);
    }
    *nins += nouts;
    *indices = jx_hlo_i64_row(c->in, nouts, places);
    return all;
}

static const jx_mlir_attr *layouts(jx_hlo *in, int count,
                                   const jx_aval *const *avals, int most,
                                   bool column_major)
{
    const jx_mlir_attr **items =
        JX_NEW_ARRAY(in->ctx->arena, count + 1, const jx_mlir_attr *);

    if (!items)
        return NULL;
    for (int i = 0; i < count; i++)
        items[i] =
            layout(in, avals[i]->rank, column_major && avals[i]->rank == most);
    return jx_hlo_list(in, count, items);
}

static const jx_mlir_attr *alias(jx_hlo *in, int nouts, int result, int operand)
{
    static const char *const names[] = {"output_tuple_indices", "operand_index",
                                        "operand_tuple_indices"};
    int64_t index = result;
    const jx_mlir_attr *items[3] = {jx_hlo_i64s(in, nouts > 1, &index),
                                    jx_hlo_i64(in, operand),
                                    jx_hlo_i64s(in, 0, NULL)};

    return jx_hlo_record(in, "stablehlo.output_operand_alias", 3, names, items);
}

static const jx_mlir_attr *aliases(jx_hlo *in, const jx_hlo_ffi *call)
{
    const jx_mlir_attr **items =
        JX_NEW_ARRAY(in->ctx->arena, call->nouts + 1, const jx_mlir_attr *);
    int n = 0;

    if (!items || !call->aliases)
        return NULL;
    for (int i = 0; i < call->nouts; i++)
        if (call->aliases[i] >= 0)
            items[n++] = alias(in, call->nouts, i, call->aliases[i]);
    return n ? jx_hlo_list(in, n, items) : NULL;
}

void jx_hlo_call_ffi(jx_code *c, const jx_hlo_ffi *call, jx_hv *outs)
{
    jx_hlo *in = c->in;
    const jx_mlir_attr *indices;
    int nins = call->nins, most = 0;
    const jx_hv *ins = jx_hlo_with_shapes(c, &nins, call->ins, call->nouts,
                                          call->outs, &indices);
    const jx_aval **avals =
        JX_NEW_ARRAY(in->ctx->arena, nins + 1, const jx_aval *);

    for (int i = 0; i < call->nouts; i++)
        outs[i] = (jx_hv){0};
    if (!avals)
        return;
    for (int i = 0; i < nins; i++) {
        avals[i] = ins[i].aval;
        if (!ins[i].value)
            return;
        if (i < call->nins && avals[i]->rank > most)
            most = avals[i]->rank;
    }
    jx_mlir_named inherent[] = {
        {"call_target_name", jx_hlo_text(in, call->target)},
        {"backend_config", jx_hlo_text(in, "")},
        {"operand_layouts", layouts(in, nins, avals, most, call->column_major)},
        {"result_layouts",
         layouts(in, call->nouts, call->outs, most, call->column_major)},
        {"output_operand_aliases", aliases(in, call)}};
    jx_mlir_named more[] = {
        {"mhlo.backend_config", jx_hlo_dict(in, call->nconfig, call->config)},
        {"indices_of_shape_operands", indices}};
    jx_hlo_emit(c,
                &(jx_hlo_op){.name = "stablehlo.custom_call",
                             .nins = nins,
                             .ins = ins,
                             .nouts = call->nouts,
                             .outs = call->outs,
                             .nattrs = 5,
                             .attrs = inherent,
                             .nmore = 2,
                             .more = more},
                outs);
}
