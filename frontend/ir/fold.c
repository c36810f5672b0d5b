/* fold.c - see fold.h. */
#include "frontend/ir/fold.h"

#include "frontend/ir/dim.h"
#include "frontend/ir/element.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct number {
    bool real;
    jx_int i;
    double f; /* an f32 exactly */
} number;

/* Not a subnormal: some machines are told to take those for 0, as operands and
 * as results. */
static bool is_normal(double value, double least)
{
    return isfinite(value) && (value == 0 || fabs(value) >= least);
}

static bool read_number(jx_scalar scalar, number *to)
{
    jx_dtype dtype = scalar.dtype;
    const jx_dtype_info *info = jx_dtype_of(dtype);
    float single;

    *to = (number){0};
    if (info->kind == JX_KIND_INT || info->kind == JX_KIND_UINT ||
        info->kind == JX_KIND_BOOL) {
        uint64_t bits = jx_element_integer(dtype, scalar.bits);
        to->i = info->kind == JX_KIND_INT ? (int64_t)bits : (jx_int)bits;
        return true;
    }
    to->real = true;
    if (dtype == JX_F64) {
        memcpy(&to->f, scalar.bits, sizeof to->f);
    } else if (dtype == JX_F32) {
        memcpy(&single, scalar.bits, sizeof single);
        to->f = (double)single;
    }
    return (dtype == JX_F32 || dtype == JX_F64) &&
           (!isfinite(to->f) ||
            is_normal(to->f, dtype == JX_F32 ? (double)FLT_MIN : DBL_MIN));
}

static bool write_real(jx_dtype dtype, double value, unsigned char *to)
{
    float single = (float)value;

    if (dtype == JX_F64 && is_normal(value, DBL_MIN)) {
        memcpy(to, &value, sizeof value);
        return true;
    }
    if (dtype != JX_F32 || !is_normal((double)single, (double)FLT_MIN))
        return false;
    memcpy(to, &single, sizeof single);
    return true;
}

static bool write_integer(jx_dtype dtype, jx_int value, unsigned char *to)
{
    return jx_element_from_integer(dtype, (uint64_t)value, to);
}

/* Sums, differences and products of two f32 are rounded once when made as
 * doubles only if they are exact there: so they are made as floats. */
static bool real_binary(jx_prim_id id, jx_dtype dtype, double a, double b,
                        double *to)
{
    bool single = dtype == JX_F32;
    float x = (float)a, y = (float)b;

    switch (id) {
    case JX_PRIM_add: *to = single ? (double)(x + y) : a + b; return true;
    case JX_PRIM_sub: *to = single ? (double)(x - y) : a - b; return true;
    case JX_PRIM_mul: *to = single ? (double)(x * y) : a * b; return true;
    case JX_PRIM_div:
        if (b == 0)
            return false;
        *to = single ? (double)(x / y) : a / b;
        return true;
    default: return false;
    }
}

static bool integer_binary(jx_prim_id id, jx_int a, jx_int b, jx_int *to)
{
    switch (id) {
    case JX_PRIM_add: *to = a + b; return true;
    case JX_PRIM_sub: *to = a - b; return true;
    case JX_PRIM_mul: return !__builtin_mul_overflow(a, b, to);
    case JX_PRIM_max: *to = a > b ? a : b; return true;
    case JX_PRIM_min: *to = a < b ? a : b; return true;
    case JX_PRIM_and: *to = a & b; return true;
    case JX_PRIM_or: *to = a | b; return true;
    case JX_PRIM_xor: *to = a ^ b; return true;
    case JX_PRIM_div: /* toward 0 */
    case JX_PRIM_rem:
        if (b == 0)
            return false;
        *to = id == JX_PRIM_div ? a / b : a % b;
        return true;
    default: return false;
    }
}

static bool compare(jx_prim_id id, const number *a, const number *b, jx_int *to)
{
    int order =
        a->real ? (a->f > b->f) - (a->f < b->f) : (a->i > b->i) - (a->i < b->i);

    if (a->real && (isnan(a->f) || isnan(b->f)))
        return false;
    switch (id) {
    case JX_PRIM_eq: *to = order == 0; return true;
    case JX_PRIM_ne: *to = order != 0; return true;
    case JX_PRIM_lt: *to = order < 0; return true;
    case JX_PRIM_le: *to = order <= 0; return true;
    case JX_PRIM_gt: *to = order > 0; return true;
    case JX_PRIM_ge: *to = order >= 0; return true;
    default: return false;
    }
}

static bool fold_binary(jx_prim_id id, jx_dtype from, jx_dtype out,
                        const number *a, const number *b, unsigned char *bits)
{
    jx_int integer;
    double real;

    if (a->real != b->real)
        return false;
    if (compare(id, a, b, &integer))
        return write_integer(out, integer, bits);
    if (from != out)
        return false;
    if (a->real)
        return isfinite(a->f) && isfinite(b->f) &&
               real_binary(id, out, a->f, b->f, &real) &&
               write_real(out, real, bits);
    return integer_binary(id, a->i, b->i, &integer) &&
           write_integer(out, integer, bits);
}

/* An integer as a float, rounded once. */
static bool write_rounded(jx_dtype dtype, jx_int value, unsigned char *bits)
{
    float single = (float)value;
    double real = (double)value;

    if (dtype == JX_F32)
        memcpy(bits, &single, sizeof single);
    else if (dtype == JX_F64)
        memcpy(bits, &real, sizeof real);
    return dtype == JX_F32 || dtype == JX_F64;
}

static bool fold_unary(jx_prim_id id, jx_dtype from, jx_dtype out,
                       const number *a, unsigned char *bits)
{
    switch (id) {
    case JX_PRIM_convert_element_type:
        if (a->real)
            return jx_dtype_is_float(out) && write_real(out, a->f, bits);
        return write_integer(out, a->i, bits) || write_rounded(out, a->i, bits);
    case JX_PRIM_neg:
        return a->real ? write_real(out, -a->f, bits)
                       : write_integer(out, -a->i, bits);
    case JX_PRIM_not:
        return !a->real &&
               write_integer(out, from == JX_BOOL ? !a->i : ~a->i, bits);
    case JX_PRIM_sign:
        return !a->real && write_integer(out, (a->i > 0) - (a->i < 0), bits);
    default: return false;
    }
}

/* All three of the result's dtype. */
static bool fold_clamp(jx_dtype out, const number *n, unsigned char *bits)
{
    jx_int x = n[1].i;

    if (n[0].real || n[1].real || n[2].real)
        return false;
    x = x < n[0].i ? n[0].i : x;
    return write_integer(out, x > n[2].i ? n[2].i : x, bits);
}

bool jx_fold(jx_prim_id id, int nins, const jx_scalar *ins, jx_dtype out,
             unsigned char bits[16])
{
    number n[3];

    memset(bits, 0, 16);
    if (out == JX_DT_NONE || nins < 1 || nins > 3)
        return false;
    for (int i = 0; i < nins; i++)
        if (!read_number(ins[i], &n[i]))
            return false;
    if (id == JX_PRIM_clamp)
        return nins == 3 && fold_clamp(out, n, bits);
    if (nins == 1)
        return fold_unary(id, ins[0].dtype, out, &n[0], bits);
    return nins == 2 && ins[0].dtype == ins[1].dtype &&
           fold_binary(id, ins[0].dtype, out, &n[0], &n[1], bits);
}
