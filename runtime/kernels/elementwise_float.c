/* elementwise_float.c - f32 and f64.  (Smaller floats compute in f32.)
 *
 * f32 functions are f64 ones rounded once unless vector forms exist in
 * elementwise_f32.h. */
#include "runtime/kernels/elementwise.h"
#include "runtime/kernels/elementwise_f32.h"
#include "runtime/kernels/special.h"

#include <float.h>
#include <math.h>
#include <string.h>

JX_INLINE uint64_t bits64(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

JX_INLINE uint32_t bits32(float x)
{
    return jx_bits(x);
}

/* Integers in the total order -NaN < -inf < ... < -0 < +0 < ... < NaN. */
JX_INLINE int32_t order32(float x)
{
    int32_t b = (int32_t)bits32(x);
    return b ^ (int32_t)((uint32_t)(b >> 31) >> 1);
}

JX_INLINE int64_t order64(double x)
{
    int64_t b = (int64_t)bits64(x);
    return b ^ (int64_t)((uint64_t)(b >> 63) >> 1);
}

/* Powers by squaring, a negative exponent by the reciprocal at the end. */
JX_INLINE double ipow(double x, int64_t y)
{
    uint64_t n = y < 0 ? 0 - (uint64_t)y : (uint64_t)y;
    double r = 1;

    for (; n; n >>= 1, x *= x)
        if (n & 1)
            r *= x;
    return y < 0 ? 1 / r : r;
}

JX_INLINE double away(double x)
{
    double t = trunc(x);
    return copysign(fabs(x - t) >= 0.5 ? t + copysign(1, x) : t, x);
}

/* What fmod() gives, whose time grows with the digits of x / y; by a power of
 * two, of which quotient and product are exact, it is no division but one. */
JX_INLINE double rem64(double x, double y)
{
    const uint64_t fraction = ((uint64_t)1 << 52) - 1;
    double q, r;

    if (fabs(x) < fabs(y))
        return x;
    q = x / y;
    if ((bits64(y) & fraction) != 0 || !(fabs(q) <= DBL_MAX) ||
        fabs(y) < DBL_MIN)
        return fmod(x, y);
    r = fabs(q) < 0x1p52 ? x - (double)(int64_t)q * y : 0;
    return copysign(r, x);
}

static inline double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

/* Rounds to a format of fewer exponent and mantissa bits. */
static inline double reduce(double x, int exponent_bits, int mantissa_bits,
                            int own_exponent, int own_mantissa)
{
    int bias = (1 << (exponent_bits - 1)) - 1, e;
    double scale, a = fabs(x);

    if (x != x || a == (double)INFINITY || a == 0)
        return x;
    if (mantissa_bits < own_mantissa) {
        frexp(a, &e);
        scale = ldexp(1, e - 1 - mantissa_bits);
        /* Without a mantissa the exponent is what is even. */
        if (!mantissa_bits && a / scale == 1.5 && (e - 1) % 2)
            a = scale;
        if (e - 1 - mantissa_bits >= -1022)
            a = rint(a / scale) * scale;
        /* where subnormals are flushed it is 0 */
        else if (e - 1 - mantissa_bits >= -1074)
            a = ldexp(rint(ldexp(a, mantissa_bits + 1 - e)),
                      e - 1 - mantissa_bits);
    }
    if (exponent_bits < own_exponent) {
        if (a >= ldexp(1, bias + 1))
            a = (double)INFINITY;
        else if (a < ldexp(1, 1 - bias))
            a = 0; /* the format has no subnormals, as XLA has it */
    }
    return copysign(a, x);
}

#define V JX_VECTOR_CLONES

/* Operations that are the same text in both widths. */
#define BASIC(ID, T, L, bits, order, exp_bits, man_bits)                       \
    JX_BINARY(V, add_##ID, T, T, x + y)                                        \
    JX_BINARY(V, sub_##ID, T, T, x - y)                                        \
    JX_BINARY(V, mul_##ID, T, T, x *y)                                         \
    JX_BINARY(V, div_##ID, T, T, x / y)                                        \
    JX_BINARY(V, vmax_##ID, T, T, jx_max_##L(x, y))                            \
    JX_BINARY(V, vmin_##ID, T, T, jx_min_##L(x, y))                            \
    JX_TERNARY(V, clamp_##ID, T, T, jx_min_##L(jx_max_##L(y, x), z))           \
    JX_BINARY(V, eq_##ID, uint8_t, T, x == y)                                  \
    JX_BINARY(V, ne_##ID, uint8_t, T, x != y)                                  \
    JX_BINARY(V, lt_##ID, uint8_t, T, x < y)                                   \
    JX_BINARY(V, le_##ID, uint8_t, T, x <= y)                                  \
    JX_BINARY(V, gt_##ID, uint8_t, T, x > y)                                   \
    JX_BINARY(V, ge_##ID, uint8_t, T, x >= y)                                  \
    JX_BINARY(, eqto_##ID, uint8_t, T, bits(x) == bits(y))                     \
    JX_BINARY(, ltto_##ID, uint8_t, T, order(x) < order(y))                    \
    JX_BINARY(, leto_##ID, uint8_t, T, order(x) <= order(y))                   \
    JX_UNARY(V, neg_##ID, T, T, -x)                                            \
    JX_UNARY(V, square_##ID, T, T, x *x)                                       \
    JX_UNARY(V, sign_##ID, T, T, x > 0 ? 1 : x < 0 ? -1 : x)                   \
    JX_UNARY(V, isfinite_##ID, uint8_t, T, x - x == 0)                         \
    JX_UNARY(V, cube_##ID, T, T, x *x *x)                                      \
    JX_UNARY(V, fourth_##ID, T, T, (x * x) * (x * x))                          \
    JX_UNARY(V, inverse_##ID, T, T, 1 / x)                                     \
    JX_UNARY(V, inverse_square_##ID, T, T, 1 / (x * x))                        \
    JX_UNARY(, any_power_##ID, T, T,                                           \
             (T)ipow(x, ((const jx_p_integer_pow *)param)->y))                 \
    static void ipow_##ID(void *out, const void *const *ins, int64_t n,        \
                          const void *param)                                   \
    {                                                                          \
        int64_t y = ((const jx_p_integer_pow *)param)->y;                      \
        (y == 2    ? square_##ID                                               \
         : y == 3  ? cube_##ID                                                 \
         : y == 4  ? fourth_##ID                                               \
         : y == -1 ? inverse_##ID                                              \
         : y == -2 ? inverse_square_##ID                                       \
                   : any_power_##ID)(out, ins, n, param);                      \
    }                                                                          \
    JX_UNARY(V, round_##ID, T, T,                                              \
             (T)(((const jx_p_round *)param)->rounding_method ==               \
                         JX_ROUND_TO_NEAREST_EVEN                              \
                     ? roundeven(x)                                            \
                     : away(x)))                                               \
    JX_UNARY(                                                                  \
        , reduce_##ID, T, T,                                                   \
        (T)reduce(x,                                                           \
                  (int)((const jx_p_reduce_precision *)param)->exponent_bits,  \
                  (int)((const jx_p_reduce_precision *)param)->mantissa_bits,  \
                  exp_bits, man_bits))

BASIC(F32, float, f32, bits32, order32, 8, 23)
BASIC(F64, double, f64, bits64, order64, 11, 52)

JX_UNARY(V, abs_F32, float, float, fabsf(x))
JX_UNARY(V, abs_F64, double, double, fabs(x))
JX_UNARY(V, floor_F32, float, float, floorf(x))
JX_UNARY(V, floor_F64, double, double, floor(x))
JX_UNARY(V, ceil_F32, float, float, ceilf(x))
JX_UNARY(V, ceil_F64, double, double, ceil(x))
JX_UNARY(V, sqrt_F32, float, float, sqrtf(x))
JX_UNARY(V, sqrt_F64, double, double, sqrt(x))
JX_UNARY(V, rsqrt_F32, float, float, (float)(1 / sqrt((double)x)))
JX_UNARY(V, rsqrt_F64, double, double, 1 / sqrt(x))
JX_BINARY(, rem_F32, float, float, fmodf(x, y))
JX_BINARY(, rem_F64, double, double, rem64(x, y))
JX_BINARY(, nextafter_F32, float, float, nextafterf(x, y))
JX_BINARY(, nextafter_F64, double, double, nextafter(x, y))

/* Functions computed in f64. */
#define FUNCTION1(name, ...)                                                   \
    JX_UNARY(, name##_F64, double, double, __VA_ARGS__)                        \
    JX_UNARY(, name##_F32, float, float, (float)(__VA_ARGS__))
#define FUNCTION2(name, ...)                                                   \
    JX_BINARY(, name##_F64, double, double, __VA_ARGS__)                       \
    JX_BINARY(, name##_F32, float, float, (float)(__VA_ARGS__))
/* Those with a vector form in f32. */
#define FAST1(name, fast, ...)                                                 \
    JX_UNARY(, name##_F64, double, double, __VA_ARGS__)                        \
    JX_UNARY(V, name##_F32, float, float, fast(x))

FAST1(exp, jx_expf, exp(x))
FAST1(log, jx_logf, log(x))
FAST1(tanh, jx_tanhf, tanh(x))
FAST1(logistic, jx_logisticf, logistic(x))
FAST1(log1p, jx_log1pf, log1p(x))
FAST1(expm1, jx_expm1f, expm1(x))
FAST1(erf, jx_erff, erf(x))
FAST1(cbrt, jx_cbrtf, cbrt(x))

/* Those that come to `value` in f32 where it is `plain`: of most floats, since
 * these are tiny or huge, and beside each other are those of a size. */
#define MOSTLY(name, plain, value)                                             \
    JX_UNARY(, name##_F64, double, double, name(x))                            \
    JX_UNARY(, other_##name, float, float, (float)name((double)x))             \
    JX_UNARY(V, plain_##name, float, float, value)                             \
    V static int64_t count_##name(const float *at, int64_t n)                  \
    {                                                                          \
        int64_t count = 0;                                                     \
        for (int64_t i = 0; i < n; i++) {                                      \
            float x = at[i];                                                   \
            count += plain;                                                    \
        }                                                                      \
        return count;                                                          \
    }                                                                          \
    static void name##_F32(void *o, const void *const *ins, int64_t n,         \
                           const void *param)                                  \
    {                                                                          \
        (count_##name(ins[0], n) == n ? plain_##name                           \
                                      : other_##name)(o, ins, n, param);       \
    }
#define IS_TINY (fabsf(x) < 0x1p-13F)

MOSTLY(asin, IS_TINY | (fabsf(x) > 1), jx_pick(IS_TINY, x, NAN))
MOSTLY(acos, (fabsf(x) < 0x1p-27F) | (fabsf(x) > 1),
       jx_pick(IS_TINY, 0x1.921fb6p0F, NAN))
MOSTLY(atan, IS_TINY | (fabsf(x) > 0x1p27F),
       jx_pick(IS_TINY, x, copysignf(0x1.921fb6p0F, x)))
MOSTLY(asinh, IS_TINY, x)
MOSTLY(acosh, x < 1, jx_pick(x < 1, -NAN, x))
MOSTLY(atanh, IS_TINY | (fabsf(x) > 1), jx_pick(IS_TINY, x, -NAN))
MOSTLY(erfc, (fabsf(x) < 0x1p-27F) | (x > 10.25F) | (x < -4),
       jx_pick(IS_TINY, 1, jx_pick(x > 0, 0, 2)))
FUNCTION1(lgamma, jx_sf_lgamma(x))
FUNCTION2(pow, pow(x, y))
FUNCTION2(atan2, atan2(x, y))
FUNCTION2(igamma, jx_sf_igamma(x, y))
FUNCTION2(igammac, jx_sf_igammac(x, y))
FUNCTION2(igamma_grad_a, jx_sf_igamma_grad_a(x, y))
FUNCTION2(random_gamma_grad, jx_sf_random_gamma_grad(x, y))
FUNCTION2(zeta, jx_sf_zeta(x, y))
FUNCTION2(any_polygamma, jx_sf_polygamma(x, y))
JX_TERNARY(, betainc_F64, double, double, jx_sf_betainc(x, y, z))
JX_TERNARY(, betainc_F32, float, float, (float)jx_sf_betainc(x, y, z))
JX_TERNARY(V, fma_F64, double, double, fma(x, y, z))
JX_TERNARY(V, fma_F32, float, float, fmaf(x, y, z))
JX_TERNARY(V, mul_add_F64, double, double, x *y + z)
JX_TERNARY(V, mul_add_F32, float, float, x *y + z)
JX_UNARY(, sinh_F64, double, double, sinh(x))
JX_UNARY(, cosh_F64, double, double, cosh(x))

/* In f32 the steps that StableHLO takes for its chlo.sinh and chlo.cosh, so
 * that large results have its rounding of x - log 2. */
JX_INLINE float half_exp(float x)
{
    return jx_expf(x + -0.693147182F);
}

JX_INLINE float sinh_of(float x)
{
    float e = jx_expm1f(x);

    return fabsf(x) < 1 ? 0.5F * (e + e / (e + 1)) : half_exp(x) - half_exp(-x);
}

JX_UNARY(V, sinh_F32, float, float, sinh_of(x))
JX_UNARY(V, cosh_F32, float, float, half_exp(x) + half_exp(-x))

JX_UNARY(, erf_inv_F64, double, double, jx_sf_erf_inv(x))
JX_UNARY(, sin_F64, double, double, sin(x))
JX_UNARY(, tan_F64, double, double, tan(x))
JX_UNARY(, cos_F64, double, double, cos(x))

static void erf_inv_F32(void *out, const void *const *ins, int64_t n,
                        const void *param)
{
    (void)param;
    jx_sf_erf_inv_f32((size_t)n, ins[0], out);
}

/* Large arguments take longer; a tile rarely has any. */
#define PERIODIC(name)                                                         \
    JX_UNARY(V, near_##name, float, float, jx_##name##f(x))                    \
    JX_UNARY(V, any_##name, float, float, jx_any_##name##f(x))                 \
    static void name##_F32(void *o, const void *const *ins, int64_t n,         \
                           const void *param)                                  \
    {                                                                          \
        const float *x = ins[0];                                               \
        bool large = false;                                                    \
        for (int64_t i = 0; i < n; i++)                                        \
            large |= !(fabsf(x[i]) < JX_PERIODIC_LIMIT);                       \
        (large ? any_##name : near_##name)(o, ins, n, param);                  \
    }
PERIODIC(sin)
PERIODIC(cos)
PERIODIC(tan)

/* Functions that are made in vectors of f64 (special.h). */
#define MANY(name, ID, T, call)                                                \
    static void name##_##ID(void *o, const void *const *ins, int64_t n,        \
                            const void *param)                                 \
    {                                                                          \
        enum { MOST = 64 };                                                    \
        const T *from = ins[0];                                                \
        T *out = o;                                                            \
        (void)param;                                                           \
        for (int64_t at = 0; at < n; at += MOST) {                             \
            double x[MOST], y[MOST];                                           \
            int64_t few = n - at < MOST ? n - at : MOST;                       \
            for (int64_t i = 0; i < few; i++)                                  \
                x[i] = (double)from[at + i];                                   \
            call;                                                              \
            for (int64_t i = 0; i < few; i++)                                  \
                out[at + i] = (T)y[i];                                         \
        }                                                                      \
    }
#define MANIES(name, call)                                                     \
    MANY(name, F32, float, call) MANY(name, F64, double, call)
MANIES(bessel_i0e, jx_sf_bessel_scaled(0, x, y, few))
MANIES(bessel_i1e, jx_sf_bessel_scaled(1, x, y, few))
MANIES(digamma, jx_sf_digammas(x, y, few))
MANIES(trigamma, jx_sf_trigammas(x, y, few))

/* Of order 1, which the derivative of digamma takes, in vectors. */
#define POLYGAMMA(ID, T)                                                       \
    static void polygamma_##ID(void *o, const void *const *ins, int64_t n,     \
                               const void *param)                              \
    {                                                                          \
        const T *order = ins[0];                                               \
        bool is_one = true;                                                    \
        for (int64_t i = 0; i < n; i++)                                        \
            is_one &= order[i] == 1;                                           \
        (is_one ? trigamma_##ID : any_polygamma_##ID)(o, ins + is_one, n,      \
                                                      param);                  \
    }
POLYGAMMA(F32, float)
POLYGAMMA(F64, double)

static void nextafter_BF16(void *o, const void *const *ins, int64_t n,
                           const void *param)
{
    const uint16_t *x = ins[0], *y = ins[1];
    uint16_t *out = o;

    (void)param;
    for (int64_t i = 0; i < n; i++)
        out[i] = jx_sf_nextafter16(x[i], y[i], 0x7f80, 0x7fc0);
}

static void nextafter_F16(void *o, const void *const *ins, int64_t n,
                          const void *param)
{
    const uint16_t *x = ins[0], *y = ins[1];
    uint16_t *out = o;

    (void)param;
    for (int64_t i = 0; i < n; i++)
        out[i] = jx_sf_nextafter16(x[i], y[i], 0x7c00, 0x7e00);
}

jx_tile *jx_tile_nextafter16(jx_dtype dtype)
{
    return dtype == JX_BF16  ? nextafter_BF16
           : dtype == JX_F16 ? nextafter_F16
                             : NULL;
}

jx_tile *jx_tile_fma(jx_dtype dtype)
{
    return dtype == JX_F32 ? fma_F32 : dtype == JX_F64 ? fma_F64 : NULL;
}

jx_tile *jx_tile_mul_add(jx_dtype dtype)
{
    return dtype == JX_F32 ? mul_add_F32 : dtype == JX_F64 ? mul_add_F64 : NULL;
}

#define ROW(prim, op)                                                          \
    [JX_PRIM_##prim] = {[JX_F32] = op##_F32, [JX_F64] = op##_F64},
#define SAME(op) ROW(op, op)

jx_tile *jx_tile_float(jx_prim_id prim, jx_dtype dtype)
{
    static jx_tile *const tiles[JX_NPRIMS][JX_NDTYPES] = {
        /* As it stands: clang-format takes the rows for one expression. */
        /* clang-format off */
        SAME(add) ROW(add_any, add) SAME(sub) SAME(mul) SAME(div) SAME(rem)
        ROW(max, vmax) ROW(min, vmin) SAME(clamp) SAME(eq) SAME(ne) SAME(lt)
        SAME(le) SAME(gt) SAME(ge) ROW(eq_to, eqto) ROW(lt_to, ltto)
        ROW(le_to, leto) SAME(neg) SAME(abs) SAME(square) SAME(sign)
        ROW(is_finite, isfinite) ROW(integer_pow, ipow) SAME(round)
        ROW(reduce_precision, reduce) SAME(floor) SAME(ceil) SAME(sqrt)
        SAME(rsqrt) SAME(nextafter) SAME(exp) SAME(log) SAME(tanh)
        SAME(logistic) SAME(log1p) SAME(expm1) SAME(erf) SAME(tan)
        SAME(asin) SAME(acos) SAME(atan) SAME(sinh) SAME(cosh) SAME(asinh)
        SAME(acosh) SAME(atanh) SAME(cbrt) SAME(erfc) SAME(erf_inv)
        SAME(lgamma) SAME(digamma) SAME(bessel_i0e) SAME(bessel_i1e)
        SAME(pow) SAME(atan2) SAME(igamma) SAME(igammac) SAME(igamma_grad_a)
        SAME(random_gamma_grad) SAME(zeta) SAME(polygamma) SAME(sin)
        SAME(cos) ROW(regularized_incomplete_beta, betainc)
        /* clang-format on */
    };

    return tiles[prim][dtype];
}
