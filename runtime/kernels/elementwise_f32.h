/* elementwise_f32.h - functions of f32 that the compiler can vectorize.
 *
 * No branches, no calls, no contraction to FMA: every instruction set gives
 * the same bits.  Those in f32 are within 2 ULP, those in f64 lanes within 1
 * (tests/unit/test_runtime_math.c tries them). */
#ifndef JX_ELEMENTWISE_F32_H
#define JX_ELEMENTWISE_F32_H

#include "runtime/kernels/two_over_pi.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Small enough to be inlined by choice, but for the clones it
 * has to be said. */
#define JX_INLINE static inline __attribute__((always_inline))

JX_INLINE uint32_t jx_bits(float x)
{
    uint32_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

JX_INLINE float jx_float(uint32_t b)
{
    float x;
    memcpy(&x, &b, sizeof x);
    return x;
}

JX_INLINE uint64_t jx_bits64(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

JX_INLINE double jx_double(uint64_t b)
{
    double x;
    memcpy(&x, &b, sizeof x);
    return x;
}

/* c ? a : b without a branch: the compiler gives up on loops with branches. */
JX_INLINE float jx_pick(int c, float a, float b)
{
    uint32_t mask = 0 - (uint32_t)c;

    return jx_float((jx_bits(a) & mask) | (jx_bits(b) & ~mask));
}

JX_INLINE double jx_pick64(int c, double a, double b)
{
    uint64_t mask = 0 - (uint64_t)c;

    return jx_double((jx_bits64(a) & mask) | (jx_bits64(b) & ~mask));
}

/* What numbers that are equal keep of their bits: of zeros the sign, of others
 * all.  Where subnormal numbers are taken for zeros, numbers that are not the
 * same are equal. */
JX_INLINE uint32_t jx_kept_f32(float x)
{
    return x == 0 ? 0x80000000u : ~0u;
}

JX_INLINE uint64_t jx_kept_f64(double x)
{
    return x == 0 ? (uint64_t)1 << 63 : ~(uint64_t)0;
}

/* Floats: max and min pass NaN on; of zeros the one with the sign of the
 * maximum is taken (equal operands differ in the sign of zero at most). */
JX_INLINE float jx_max_f32(float x, float y)
{
    float same = jx_float(jx_bits(x) & jx_bits(y) & jx_kept_f32(x));
    float r = jx_pick(x == y, same, jx_pick(x > y, x, y));

    return jx_pick(x != x, x, r);
}

JX_INLINE float jx_min_f32(float x, float y)
{
    float same = jx_float((jx_bits(x) | jx_bits(y)) & jx_kept_f32(x));
    float r = jx_pick(x == y, same, jx_pick(x < y, x, y));

    return jx_pick(x != x, x, r);
}

JX_INLINE double jx_max_f64(double x, double y)
{
    double same = jx_double(jx_bits64(x) & jx_bits64(y) & jx_kept_f64(x));
    double r = jx_pick64(x == y, same, jx_pick64(x > y, x, y));

    return jx_pick64(x != x, x, r);
}

JX_INLINE double jx_min_f64(double x, double y)
{
    double same = jx_double((jx_bits64(x) | jx_bits64(y)) & jx_kept_f64(x));
    double r = jx_pick64(x == y, same, jx_pick64(x < y, x, y));

    return jx_pick64(x != x, x, r);
}

/* exp: x = n ln 2 + r with |r| <= ln 2 / 2; a polynomial for exp(r), then 2^n
 * in two steps, so that subnormal results round once more at most. */
JX_INLINE float jx_expf(float x)
{
    float c = jx_pick(x > 89, 89, jx_pick(x < -105, -105, x));
    float k = c * 1.44269504f + 12582912.0f; /* rounds to an integer */
    float n = k - 12582912.0f;
    float r = c - n * 0.693359375f - n * -2.12194440e-4f;
    float p = 1.9875691500e-4f;

    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * (r * r) + r + 1;
    int32_t e = (int32_t)(jx_bits(k) - 0x4b400000), half = e >> 1;
    float y = p * jx_float((uint32_t)(half + 127) << 23) *
              jx_float((uint32_t)(e - half + 127) << 23);
    return jx_pick(x != x, x, y);
}

/* log: x = m 2^e with m in [sqrt(1/2), sqrt(2)). */
JX_INLINE float jx_logf(float x)
{
    int small = x < 0x1p-126f;
    float scaled = x * jx_pick(small, 0x1p23f, 1);
    uint32_t b = jx_bits(scaled) - 0x3f3504f3;
    float e = (float)((int32_t)b >> 23) - jx_pick(small, 23, 0);
    float f = jx_float((b & 0x7fffff) + 0x3f3504f3) - 1;
    float z = f * f, p = 7.0376836292e-2f;

    p = p * f - 1.1514610310e-1f;
    p = p * f + 1.1676998740e-1f;
    p = p * f - 1.2420140846e-1f;
    p = p * f + 1.4249322787e-1f;
    p = p * f - 1.6668057665e-1f;
    p = p * f + 2.0000714765e-1f;
    p = p * f - 2.4999993993e-1f;
    p = p * f + 3.3333331174e-1f;
    p = p * f * z + e * -2.12194440e-4f - 0.5f * z;
    float y = f + p + e * 0.693359375f;
    y = jx_pick(x == INFINITY, x, y);
    y = jx_pick(x == 0, -INFINITY, y);
    y = jx_pick(x < 0, NAN, y);
    return jx_pick(x != x, x, y);
}

JX_INLINE float jx_logisticf(float x)
{
    float e = jx_expf(-fabsf(x));

    return jx_pick(x < 0, e, 1) / (1 + e);
}

JX_INLINE float jx_tanhf(float x)
{
    float a = fabsf(x), z = x * x, p = -5.70498872745e-3f;

    p = p * z + 2.06390887954e-2f;
    p = p * z - 5.37397155531e-2f;
    p = p * z + 1.33314422036e-1f;
    p = p * z - 3.33332819422e-1f;
    float small = p * z * x + x;
    float large = 1 - 2 / (jx_expf(a + a) + 1);
    large = jx_float(jx_bits(large) | (jx_bits(x) & 0x80000000));
    return jx_pick(a < 0.625f, small, jx_pick(x != x, x, large));
}

/* exp(x) in f64, to about 1e-11, for |x| < 700. */
JX_INLINE double jx_exp_lane(double x)
{
    double k = x * 1.4426950408889634 + 0x1.8p52, n = k - 0x1.8p52;
    double r = x - n * 0x1.62e42fee00000p-1 - n * 0x1.a39ef35793c76p-33;
    double p = 1.0 / 362880;

    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1;
    p = p * r + 1;
    return p * jx_double((jx_bits64(k) + 1023) << 52);
}

JX_INLINE float jx_expm1f(float x)
{
    double c = jx_pick(x > 89, 89, jx_pick(x < -90, -90, x));
    double small = c * (1 + c * (0.5 + c * (1.0 / 6 + c * (1.0 / 24))));
    double y = jx_pick64(fabs(c) < 0.005, small, jx_exp_lane(c) - 1);

    return jx_pick((x == 0) | (x != x), x, (float)y);
}

/* log(1 + x) = 2 atanh(t): t = x / (2 + x) near 0, else by the
 * parts of 1 + x. */
JX_INLINE float jx_log1pf(float x)
{
    double u = 1 + (double)x;
    uint64_t b = jx_bits64(u) - 0x3fe6a09e667f3bcd;
    double e = (double)((int32_t)(b >> 32) >> 20);
    double m = jx_double((b & 0xfffffffffffff) + 0x3fe6a09e667f3bcd) - 1;
    double f = jx_pick64(e == 0, x, m), t = f / (2 + f), z = t * t,
           p = 2.0 / 13;

    p = p * z + 2.0 / 11;
    p = p * z + 2.0 / 9;
    p = p * z + 2.0 / 7;
    p = p * z + 2.0 / 5;
    p = p * z + 2.0 / 3;
    p = p * z + 2;
    float y = (float)(p * t + e * 0.69314718055994531);
    y = jx_pick((x == INFINITY) | (x == 0) | (x != x), x, y);
    y = jx_pick(x == -1, -INFINITY, y);
    return jx_pick(x < -1, NAN, y);
}

/* erf(x) = x P(x^2) up to 4, beyond which it rounds to 1. */
JX_INLINE float jx_erff(float x)
{
    double c = jx_pick(x > 4, 4, jx_pick(x < -4, -4, x)), s = c * c * 0.125 - 1;
    double p = -0.00023753037031484483;

    p = p * s + 0.0005955966019731325;
    p = p * s + -0.0003632393099653406;
    p = p * s + 0.0006199186372618386;
    p = p * s + -0.0028438426551057674;
    p = p * s + 0.005571999455494532;
    p = p * s + -0.008445061053000327;
    p = p * s + 0.013912674208032482;
    p = p * s + -0.022530381009129727;
    p = p * s + 0.03321488464797856;
    p = p * s + -0.04575393370165237;
    p = p * s + 0.05985653047584805;
    p = p * s + -0.07472896227762887;
    p = p * s + 0.09021197583928486;
    p = p * s + -0.10771040125265108;
    p = p * s + 0.13167500462293216;
    p = p * s + -0.17657623355636806;
    p = p * s + 0.35353099633699764;
    return (float)(p * c);
}

/* sin and cos: |x| below the limit, so that n pi/2 loses nothing. */
#define JX_PERIODIC_LIMIT 1e5f

JX_INLINE double jx_quadrant(float x, uint64_t *quadrant)
{
    double k = x * 0.63661977236758134 + 0x1.8p52, n = k - 0x1.8p52;

    *quadrant = jx_bits64(k);
    return x - n * 0x1.921fb54400000p0 - n * 0x1.0b4611a626331p-34;
}

JX_INLINE double jx_sin_lane(double r)
{
    double z = r * r, p = -1.0 / 39916800;

    p = p * z + 1.0 / 362880;
    p = p * z - 1.0 / 5040;
    p = p * z + 1.0 / 120;
    p = p * z - 1.0 / 6;
    return r + p * z * r;
}

JX_INLINE double jx_cos_lane(double r)
{
    double z = r * r, p = 1.0 / 479001600;

    p = p * z - 1.0 / 3628800;
    p = p * z + 1.0 / 40320;
    p = p * z - 1.0 / 720;
    p = p * z + 1.0 / 24;
    p = p * z - 0.5;
    return 1 + p * z;
}

/* The same of any |x| from 2^16 on: x = m 2^e with an integer m.  The parts of
 * m 2/pi 2^e are exact, and the integer goes before small ones come to it. */
JX_INLINE double jx_far_quadrant(float x, uint64_t *quadrant)
{
#define PART_A(a, b, c) a,
#define PART_B(a, b, c) b,
#define PART_C(a, b, c) c,
    static const double part_a[] = {JX_TWO_OVER_PI(PART_A)};
    static const double part_b[] = {JX_TWO_OVER_PI(PART_B)};
    static const double part_c[] = {JX_TWO_OVER_PI(PART_C)};
#undef PART_A
#undef PART_B
#undef PART_C
    int64_t row = (int64_t)(jx_bits(x) >> 23 & 0xff) - 143;
    double m = (double)(int32_t)((jx_bits(x) & 0x7fffff) | 0x800000);

    row = row < 0 ? 0 : row > 111 ? 111 : row;
    m = x < 0 ? -m : m;
    double a = m * part_a[row], b = m * part_b[row];
    double k = (a + b) + 0x1.8p52, n = k - 0x1.8p52;
    *quadrant = jx_bits64(k);
    return ((a - n + b) + m * part_c[row]) * 0x1.921fb54442d18p0;
}

JX_INLINE float jx_sinf(float x)
{
    uint64_t q;
    double r = jx_quadrant(x, &q);
    double y = jx_pick64(q & 1, jx_cos_lane(r), jx_sin_lane(r));

    y = jx_double(jx_bits64(y) ^ (q & 2) << 62);
    return jx_pick(x == 0, x, (float)y);
}

JX_INLINE float jx_cosf(float x)
{
    uint64_t q;
    double r = jx_quadrant(x, &q);
    double y = jx_pick64(q & 1, jx_sin_lane(r), jx_cos_lane(r));

    return (float)jx_double(jx_bits64(y) ^ ((q + 1) & 2) << 62);
}

/* Of numbers of any size. */
JX_INLINE float jx_any_sinf(float x)
{
    uint64_t q;
    double r = jx_far_quadrant(x, &q);
    double y = jx_pick64(q & 1, jx_cos_lane(r), jx_sin_lane(r));

    y = jx_double(jx_bits64(y) ^ (q & 2) << 62);
    return jx_pick(fabsf(x) < JX_PERIODIC_LIMIT, jx_sinf(x),
                   jx_pick(x - x == 0, (float)y, NAN));
}

JX_INLINE float jx_any_cosf(float x)
{
    uint64_t q;
    double r = jx_far_quadrant(x, &q);
    double y = jx_pick64(q & 1, jx_sin_lane(r), jx_cos_lane(r));

    y = jx_double(jx_bits64(y) ^ ((q + 1) & 2) << 62);
    return jx_pick(fabsf(x) < JX_PERIODIC_LIMIT, jx_cosf(x),
                   jx_pick(x - x == 0, (float)y, NAN));
}

/* The quotient of both; where it is small r itself is enough. */
JX_INLINE double jx_tan_lane(double r, uint64_t quadrant)
{
    double s = jx_sin_lane(r), c = jx_cos_lane(r);

    return jx_pick64(quadrant & 1, -c, s) / jx_pick64(quadrant & 1, s, c);
}

JX_INLINE float jx_tanf(float x)
{
    uint64_t q;
    double r = jx_quadrant(x, &q);

    return jx_pick(x == 0, x, (float)jx_tan_lane(r, q));
}

JX_INLINE float jx_any_tanf(float x)
{
    uint64_t q;
    double r = jx_far_quadrant(x, &q), y = jx_tan_lane(r, q);

    return jx_pick(fabsf(x) < JX_PERIODIC_LIMIT, jx_tanf(x),
                   jx_pick(x - x == 0, (float)y, NAN));
}

/* cbrt: a third of the exponent, to a few parts in a hundred, then Halley's
 * steps, each of which has three times the digits. */
JX_INLINE float jx_cbrtf(float x)
{
    double a = fabs((double)x);
    int32_t third =
        (int32_t)((double)(int32_t)(jx_bits64(a) >> 32) * (1.0 / 3));
    double y = jx_double((uint64_t)(third + 0x2a9f7893) << 32);

    for (int k = 0; k < 3; k++) {
        double cube = y * y * y;
        y = y * (cube + 2 * a) / (2 * cube + a);
    }
    float r = (float)y;
    r = jx_float(jx_bits(r) | (jx_bits(x) & 0x80000000));
    return jx_pick((x == 0) | (x - x != 0), x, r);
}

#endif
