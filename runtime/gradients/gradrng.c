/* gradrng.c - see gradpoints.h: numbers that are drawn.
 *
 * Points of large arrays are made of many normal numbers, so these are drawn
 * several at a time.  Logarithm and cosine are FDLIBM's, without branches for
 * arguments that never come: within an ULP, and the same bits everywhere,
 * whatever C library and processor there is. */
#include "runtime/gradients/gradpoints.h"

#include "runtime/kernels/vector.h"

#include <math.h>

#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

static const uint64_t apart = 0x9e3779b97f4a7c15u; /* states of two numbers */

typedef union bits {
    uint64_t whole;
    double number;
} bits;

INLINE uint64_t mixed(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* The upper 53 bits, as part of 2^53: converted in halves, for which there are
 * vectors everywhere. */
INLINE double part_of_one(uint64_t z)
{
    bits low = {(z >> 11 & 0xffffffffu) | 0x4330000000000000u};
    bits high = {z >> 43 | 0x4530000000000000u};

    return (high.number - (0x1p84 + 0x1p52) + low.number) * 0x1p-53;
}

/* Of a normal number above 0: k log(2) and the logarithm of what is left, which
 * lies around 1. */
INLINE double log_of(double x)
{
    const uint64_t one = 0x3ff0000000000000u, root_of_half = 0x3fe6a09e00000000;
    bits from = {.number = x};
    uint64_t shifted = from.whole + (one - root_of_half);
    bits power = {(shifted >> 52) | 0x4330000000000000u};
    bits left = {(shifted & 0xfffffffffffffu) + root_of_half};
    double k = power.number - (0x1p52 + 1023), f = left.number - 1;
    double s = f / (2 + f), z = s * s, w = z * z, half = 0.5 * f * f;
    double odd =
        w * (3.999999999940941908e-01 +
             w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
    double even =
        z *
        (6.666666666666735130e-01 +
         w * (2.857142874366239149e-01 +
              w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));

    return k * 6.93147180369123816490e-01 -
           ((half -
             (s * (half + (even + odd)) + k * 1.90821492927058770002e-10)) -
            f);
}

/* For 0 <= x <= 2 pi: `turned` quarters of a turn are taken off, and the cosine
 * or the sine of what is left, in two parts, is it but for its sign. */
INLINE double cos_of(double x)
{
    bits turned = {.number = x * 6.36619772367581382433e-01 + 0x1.8p52}, to;
    double n = turned.number - 0x1.8p52;
    double far = x - n * 1.57079632673412561417e+00,
           off = n * 6.07710050650619224932e-11;
    double y = far - off, rest = far - y - off, z = y * y, half = 0.5 * z;
    double even = z * (4.16666666666666019037e-02 +
                       z * (-1.38888888888741095749e-03 +
                            z * (2.48015872894767294178e-05 +
                                 z * (-2.75573143513906633035e-07 +
                                      z * (2.08757232129817482790e-09 +
                                           z * -1.13596475577881948265e-11)))));
    double cosine = 1 - half + (1 - (1 - half) - half + (z * even - y * rest));
    double odd = 8.33333333332248946124e-03 +
                 z * (-1.98412698298579493134e-04 +
                      z * (2.75573137070700676789e-06 +
                           z * (-2.50507602534068634195e-08 +
                                z * 1.58969099521155010221e-10)));
    double sine = y - (z * (0.5 * rest - z * y * odd) - rest +
                       z * y * 1.66666666666666324348e-01);

    to.number = turned.whole & 1 ? sine : cosine;
    to.whole ^= ((turned.whole + 1) & 2) << 62;
    return to.number;
}

INLINE double normal_of(uint64_t first, uint64_t second)
{
    double u = part_of_one(first) + 0x1p-54, v = part_of_one(second);

    return sqrt(-2 * log_of(u)) * cos_of(2 * M_PI * v);
}

JX_VECTOR_CLONES
static void draw_normals(uint64_t state, int64_t count, double *to)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = normal_of(mixed(state + (2 * (uint64_t)i + 1) * apart),
                          mixed(state + (2 * (uint64_t)i + 2) * apart));
}

uint64_t jx_rng_next(jx_rng *rng)
{
    return mixed(rng->state += apart);
}

void jx_rng_skip(jx_rng *rng, int64_t count)
{
    rng->state += apart * (uint64_t)count;
}

double jx_rng_uniform(jx_rng *rng)
{
    return part_of_one(jx_rng_next(rng));
}

double jx_rng_normal(jx_rng *rng)
{
    uint64_t first = jx_rng_next(rng);

    return normal_of(first, jx_rng_next(rng));
}

void jx_rng_normals(jx_rng *rng, int64_t count, double *to)
{
    draw_normals(rng->state, count, to);
    jx_rng_skip(rng, JX_DRAWS_OF_NORMAL * count);
}
