/* elementwise_complex.c - c64 and c128.
 *
 * c64 functions are computed in c128 and rounded.  Products follow the plain
 * formula, as XLA's do: no special care for infinities.  Where C99 goes by the
 * sign of a zero, on the cuts of branches, or gives an infinity beside a NaN,
 * JAX does not, and no more do we. */
#include "runtime/kernels/elementwise.h"

#include <complex.h>
#include <math.h>
#include <string.h>

typedef double complex z128;

typedef struct c64 {
    float re, im;
} c64;
typedef struct c128 {
    double re, im;
} c128;

static inline z128 wide(double re, double im)
{
    double parts[2] = {re, im};
    z128 z;
    memcpy(&z, parts, sizeof z);
    return z;
}

static inline __attribute__((always_inline)) c128 mul(c128 x, c128 y)
{
    return (c128){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

/* Smith's division, and XLA's answers where the divisor is 0 or infinite. */
static inline c128 quotient(c128 x, c128 y)
{
    if (y.re == 0 && y.im == 0 && !(x.re != x.re || x.im != x.im))
        return (c128){copysign((double)INFINITY, y.re) * x.re,
                      copysign((double)INFINITY, y.re) * x.im};
    if ((isinf(x.re) || isinf(x.im)) && isfinite(y.re) && isfinite(y.im)) {
        double a = copysign(isinf(x.re) ? 1 : 0, x.re);
        double b = copysign(isinf(x.im) ? 1 : 0, x.im);
        return (c128){(double)INFINITY * (a * y.re + b * y.im),
                      (double)INFINITY * (b * y.re - a * y.im)};
    }
    if ((isinf(y.re) || isinf(y.im)) && isfinite(x.re) && isfinite(x.im)) {
        double a = copysign(isinf(y.re) ? 1 : 0, y.re);
        double b = copysign(isinf(y.im) ? 1 : 0, y.im);
        return (c128){0 * (x.re * a + x.im * b), 0 * (x.im * a - x.re * b)};
    }
    if (fabs(y.re) >= fabs(y.im)) {
        double r = y.im / y.re, d = y.re + y.im * r;
        return (c128){(x.re + x.im * r) / d, (x.im - x.re * r) / d};
    }
    double r = y.re / y.im, d = y.re * r + y.im;
    return (c128){(x.re * r + x.im) / d, (x.im * r - x.re) / d};
}

static inline c128 of(z128 z)
{
    return (c128){creal(z), cimag(z)};
}

#define LIBRARY(prefix, name)                                                  \
    static inline c128 prefix##_##name(c128 x)                                 \
    {                                                                          \
        return of(c##name(wide(x.re, x.im)));                                  \
    }
LIBRARY(c, tan)
LIBRARY(c, tanh)
LIBRARY(c, asin)
LIBRARY(c, acos)
LIBRARY(c, asinh)
LIBRARY(c, acosh)
LIBRARY(c, sqrt)
LIBRARY(z, atan)
LIBRARY(z, atanh)

static inline bool has_nan(c128 x)
{
    return isnan(x.re) || isnan(x.im);
}

static inline c128 no_number(void)
{
    return (c128){(double)NAN, (double)NAN};
}

static inline c128 z_sqrt(c128 x)
{
    return has_nan(x) ? no_number() : c_sqrt((c128){x.re, x.im + 0.0});
}

/* Adding 0 to a part makes -0 of it 0. */
#define ON_CUT(name, more_re, more_im)                                         \
    static inline c128 z_##name(c128 x)                                        \
    {                                                                          \
        return (x.re == 0 && isnan(x.im)) || (x.im == 0 && isnan(x.re))        \
                   ? no_number()                                               \
                   : c_##name((c128){x.re more_re, x.im more_im});             \
    }
ON_CUT(asin, , +0.0)
ON_CUT(acos, , +0.0)
ON_CUT(acosh, , +0.0)
ON_CUT(asinh, +0.0, )

/* In two factors, for one may be too large where the result is not. */
static inline c128 z_exp(c128 x)
{
    double half = exp(x.re / 2);

    return (c128){half * cos(x.im) * half,
                  x.im == 0 ? x.im : half * sin(x.im) * half};
}

static inline c128 z_log(c128 x)
{
    return has_nan(x) ? no_number() : of(clog(wide(x.re, x.im)));
}

static inline c128 z_sin(c128 x)
{
    return isfinite(x.re) && isfinite(x.im)
               ? of(csin(wide(x.re, x.im)))
               : (c128){x.re == 0 ? x.re : sin(x.re) * cosh(x.im),
                        cos(x.re) * sinh(x.im)};
}

static inline c128 z_cos(c128 x)
{
    return isfinite(x.re) && isfinite(x.im)
               ? of(ccos(wide(x.re, x.im)))
               : (c128){cos(x.re) * cosh(x.im),
                        x.re == 0 ? 0 : -sin(x.re) * sinh(x.im)};
}

static inline c128 z_sinh(c128 x)
{
    return isfinite(x.re) && isfinite(x.im)
               ? of(csinh(wide(x.re, x.im)))
               : (c128){sinh(x.re) * cos(x.im),
                        x.im == 0 ? x.im : cosh(x.re) * sin(x.im)};
}

static inline c128 z_cosh(c128 x)
{
    return isfinite(x.re) && isfinite(x.im)
               ? of(ccosh(wide(x.re, x.im)))
               : (c128){cosh(x.re) * cos(x.im),
                        x.im == 0 ? 0 : sinh(x.re) * sin(x.im)};
}

static inline c128 z_tan(c128 x)
{
    return x.im == 0 && !isfinite(x.re) ? no_number() : c_tan(x);
}

static inline c128 z_tanh(c128 x)
{
    return x.re == 0 && !isfinite(x.im) ? no_number() : c_tanh(x);
}

static inline c128 z_rsqrt(c128 x)
{
    c128 root = c_sqrt(x); /* on the cut by the sign, in JAX, too */
    return quotient((c128){1, 0}, root);
}

static inline c128 z_expm1(c128 x)
{
    double s = sin(x.im / 2);
    return (c128){expm1(x.re) * cos(x.im) - 2 * s * s,
                  x.im == 0 ? x.im : exp(x.re) * sin(x.im)};
}

/* a + b, and what that lost. */
static inline double two_sum(double a, double b, double *lost)
{
    double sum = a + b, other = sum - a;

    *lost += (a - (sum - other)) + (b - other);
    return sum;
}

/* |1 + x|^2 - 1 = 2 re + re^2 + im^2, of which little may be left. */
static double beyond_one(c128 x)
{
    double re2 = x.re * x.re, im2 = x.im * x.im;
    double lost = fma(x.re, x.re, -re2) + fma(x.im, x.im, -im2);
    double sum = two_sum(two_sum(2 * x.re, re2, &lost), im2, &lost);

    return sum + lost;
}

/* log |1 + x| is that of the distance, but near 1. */
static inline c128 z_log1p(c128 x)
{
    double distance = hypot(1 + x.re, x.im), re;

    if (has_nan(x))
        return no_number();
    if (distance > 0.5 && distance < 2)
        re = 0.5 * log1p(beyond_one(x));
    else if (isinf(distance) && isfinite(x.re) && isfinite(x.im))
        re = log(hypot(x.re / 4, x.im / 4)) + log(4);
    else
        re = log(distance);
    return (c128){re, atan2(x.im, 1 + x.re)};
}

static inline c128 z_logistic(c128 x)
{
    c128 e = z_exp((c128){-x.re, -x.im});
    return quotient((c128){1, 0}, (c128){1 + e.re, e.im});
}

static inline c128 z_pow(c128 x, c128 y)
{
    if (x.re == 0 && x.im == 0) {
        if (y.re == 0 && y.im == 0)
            return (c128){1, 0};
        if (y.im == 0 && y.re > 0)
            return (c128){0, 0};
    }
    if (y.re == 0 && y.im == 0)
        return (c128){1, 0};
    return of(cpow(wide(x.re, x.im), wide(y.re, y.im)));
}

static inline c128 z_cbrt(c128 x)
{
    if (x.im == 0)
        return (c128){cbrt(x.re), x.im};
    return z_pow(x, (c128){1.0 / 3, 0});
}

/* -i log((x + iy) / sqrt(x^2 + y^2)).  The square under the root is that of
 * |x + iy| |x - iy|, so the imaginary part is a quarter of the logarithm of the
 * quotient of their squares, which loses nothing where they
 * are nearly equal. */
static inline c128 z_atan2(c128 y, c128 x)
{
    z128 length = csqrt(wide(x.re, x.im) * wide(x.re, x.im) +
                        wide(y.re, y.im) * wide(y.re, y.im));
    c128 sum = {x.re - y.im, x.im + y.re}, z = quotient(sum, of(length));
    double more =
        4 * (x.re * y.im - x.im * y.re) / (sum.re * sum.re + sum.im * sum.im);

    return (c128){atan2(z.im, z.re), fabs(more) < 0.5
                                         ? 0.25 * log1p(more)
                                         : -log(hypot(z.re, z.im))};
}

static inline c128 z_sign(c128 x)
{
    double r = hypot(x.re, x.im);

    if (r == 0)
        return (c128){0, 0};
    return (c128){x.re / r, x.im / r};
}

static inline c128 z_ipow(c128 x, int64_t y)
{
    uint64_t n = y < 0 ? 0 - (uint64_t)y : (uint64_t)y;
    c128 r = {1, 0};

    for (; n; n >>= 1, x = mul(x, x))
        if (n & 1)
            r = mul(r, x);
    return y < 0 ? quotient((c128){1, 0}, r) : r;
}

#define UP(x) ((c128){x.re, x.im})
static inline c64 down(c128 x)
{
    return (c64){(float)x.re, (float)x.im};
}

#define FUNCTION1(name)                                                        \
    JX_UNARY(, name##_C64, c64, c64, down(z_##name(UP(x))))                    \
    JX_UNARY(, name##_C128, c128, c128, z_##name(x))

FUNCTION1(exp)
FUNCTION1(expm1)
FUNCTION1(log)
FUNCTION1(log1p)
FUNCTION1(logistic)
FUNCTION1(sin)
FUNCTION1(cos)
FUNCTION1(tan)
FUNCTION1(asin)
FUNCTION1(acos)
FUNCTION1(atan)
FUNCTION1(sinh)
FUNCTION1(cosh)
FUNCTION1(tanh)
FUNCTION1(asinh)
FUNCTION1(acosh)
FUNCTION1(atanh)
FUNCTION1(sqrt)
FUNCTION1(rsqrt)
FUNCTION1(cbrt)
FUNCTION1(sign)

/* A product that is rounded: GCC makes vectors of both parts contract
 * to one operation (fmaddsub) against -ffp-contract=off, and scalars
 * beside them not. */
#if defined(__has_builtin) && __has_builtin(__builtin_assoc_barrier)
#define SURE(product) __builtin_assoc_barrier(product)
#else
#define SURE(product) (product)
#endif

#define V JX_VECTOR_CLONES
#define BASIC(ID, T, R)                                                        \
    JX_BINARY(V, add_##ID, T, T, (T){x.re + y.re, x.im + y.im})                \
    JX_BINARY(V, sub_##ID, T, T, (T){x.re - y.re, x.im - y.im})                \
    JX_BINARY(V, mul_##ID, T, T,                                               \
              (T){SURE(x.re * y.re) - SURE(x.im * y.im),                       \
                  SURE(x.re * y.im) + SURE(x.im * y.re)})                      \
    JX_UNARY(V, square_##ID, T, T,                                             \
             (T){(x.re - x.im) * (x.re + x.im), x.re * x.im + x.im * x.re})    \
    JX_UNARY(V, neg_##ID, T, T, (T){-x.re, -x.im})                             \
    JX_UNARY(V, conj_##ID, T, T, (T){x.re, -x.im})                             \
    JX_UNARY(V, real_##ID, R, T, x.re)                                         \
    JX_UNARY(V, imag_##ID, R, T, x.im)                                         \
    JX_BINARY(V, make_##ID, T, R, (T){x, y})                                   \
    JX_UNARY(V, conj_real_##ID, T, R, (T){x, -(R)0})                           \
    JX_UNARY(, abs_##ID, R, T, (R)hypot((double)x.re, (double)x.im))           \
    JX_BINARY(, eq_##ID, uint8_t, T, x.re == y.re && x.im == y.im)             \
    JX_BINARY(, ne_##ID, uint8_t, T, !(x.re == y.re && x.im == y.im))          \
    JX_UNARY(, isfinite_##ID, uint8_t, T,                                      \
             x.re - x.re == 0 && x.im - x.im == 0)                             \
    /* by the real part, then the imaginary one; a NaN compares false */       \
    JX_BINARY(, max_##ID, T, T,                                                \
              x.re > y.re || (x.re == y.re && x.im > y.im) ? x : y)            \
    JX_BINARY(, min_##ID, T, T,                                                \
              x.re < y.re || (x.re == y.re && x.im < y.im) ? x : y)
BASIC(C64, c64, float)
BASIC(C128, c128, double)

JX_BINARY(, div_C64, c64, c64, down(quotient(UP(x), UP(y))))
JX_BINARY(, div_C128, c128, c128, quotient(x, y))
JX_BINARY(, pow_C64, c64, c64, down(z_pow(UP(x), UP(y))))
JX_BINARY(, pow_C128, c128, c128, z_pow(x, y))
JX_BINARY(, atan2_C64, c64, c64, down(z_atan2(UP(x), UP(y))))
JX_BINARY(, atan2_C128, c128, c128, z_atan2(x, y))
JX_UNARY(, ipow_C64, c64, c64,
         down(z_ipow(UP(x), ((const jx_p_integer_pow *)param)->y)))
JX_UNARY(, ipow_C128, c128, c128,
         z_ipow(x, ((const jx_p_integer_pow *)param)->y))

#define ROW(prim, op)                                                          \
    [JX_PRIM_##prim] = {[JX_C64] = op##_C64, [JX_C128] = op##_C128},
#define SAME(op) ROW(op, op)

jx_tile *jx_tile_complex(jx_prim_id prim, jx_dtype dtype)
{
    static jx_tile *const tiles[JX_NPRIMS][JX_NDTYPES] = {
        /* As it stands: clang-format takes the rows for one expression. */
        /* clang-format off */
        SAME(add) ROW(add_any, add) SAME(sub) SAME(mul) SAME(div) SAME(square)
        SAME(neg) SAME(real) SAME(imag) SAME(abs) SAME(eq) SAME(ne)
        ROW(is_finite, isfinite) SAME(max) SAME(min) SAME(pow) SAME(atan2)
        ROW(integer_pow, ipow) SAME(exp) SAME(expm1) SAME(log)
        SAME(log1p) SAME(logistic) SAME(sin) SAME(cos) SAME(tan) SAME(asin)
        SAME(acos) SAME(atan) SAME(sinh) SAME(cosh) SAME(tanh) SAME(asinh)
        SAME(acosh) SAME(atanh) SAME(sqrt) SAME(rsqrt) SAME(cbrt) SAME(sign)
        /* by the dtype of their operands: */
        [JX_PRIM_conj] = {[JX_C64] = conj_C64, [JX_C128] = conj_C128,
                          [JX_F32] = conj_real_C64,
                          [JX_F64] = conj_real_C128},
        [JX_PRIM_complex] = {[JX_F32] = make_C64, [JX_F64] = make_C128},
        /* clang-format on */
    };

    return tiles[prim][dtype];
}
