/* elementwise_brisk.c - functions of f64 by the C library's vectors (libmvec).
 *
 * They are off by some units, and their last bits depend on the processor: good
 * enough for what f32 is held against, and no kernels of programs.  The library
 * takes what it calls special (NaN, infinities, what is out of the domain,
 * large angles) one by one, and half of all floats are that: here they go in as
 * another number and are put right afterwards. */
#include "runtime/kernels/elementwise.h"
#include "runtime/kernels/elementwise_f32.h"

#include <float.h>
#include <math.h>

#if defined(__x86_64__) && defined(__GLIBC_PREREQ) && defined(__GNUC__) &&     \
    !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&                   \
    !defined(__SANITIZE_THREAD__)
#if __GLIBC_PREREQ(2, 35)
#define HAS_LIBRARY
#endif
#endif

#ifdef HAS_LIBRARY
/* The scalar function by another name, of which the compiler knows that
 * there are vectors; and itself outside of [low, high], where it is
 * `below` and `above`. */
#define LIBRARY(name, low, high, below, above)                                 \
    double many_##name(double) __asm__(#name)                                  \
        __attribute__((simd("notinbranch"), const, nothrow));                  \
    JX_INLINE double brisk_##name(double x)                                    \
    {                                                                          \
        int is_below = x<(low), is_above = x>(high);                           \
        int is_other = is_below | is_above | (x != x);                         \
        double y = many_##name(jx_pick64(is_other, 1, x));                     \
        y = jx_pick64(is_below, below, jx_pick64(is_above, above, y));         \
        return jx_pick64(x != x, x, y);                                        \
    }

#define INF ((double)INFINITY)
#define NONE ((double)NAN)
#define HALF_PI 0x1.921fb54442d18p0
LIBRARY(exp, -746, 709.79, 0, INF)
LIBRARY(expm1, -40, 709.79, -1, INF)
LIBRARY(log, DBL_TRUE_MIN, DBL_MAX, jx_pick64(x == 0, -INF, NONE), INF)
LIBRARY(log1p, -1 + DBL_EPSILON / 2, DBL_MAX, jx_pick64(x == -1, -INF, NONE),
        INF)
LIBRARY(tanh, -22, 22, -1, 1)
LIBRARY(tan, -DBL_MAX, DBL_MAX, NONE, NONE)
LIBRARY(asin, -1, 1, NONE, NONE)
LIBRARY(acos, -1, 1, NONE, NONE)
LIBRARY(atan, -DBL_MAX, DBL_MAX, -HALF_PI, HALF_PI)
LIBRARY(sinh, -711, 711, -INF, INF)
LIBRARY(cosh, -711, 711, INF, INF)
LIBRARY(asinh, -DBL_MAX, DBL_MAX, -INF, INF)
LIBRARY(acosh, 1, DBL_MAX, NONE, INF)
LIBRARY(atanh, -1, 1, NONE, NONE)
LIBRARY(cbrt, -DBL_MAX, DBL_MAX, -INF, INF)
LIBRARY(erf, -6.5, 6.5, -1, 1)
LIBRARY(erfc, -6.5, 28, 2, 0)
LIBRARY(sin, -DBL_MAX, DBL_MAX, NONE, NONE)
LIBRARY(cos, -DBL_MAX, DBL_MAX, NONE, NONE)

/* Of large angles the library has tan alone in vectors. */
JX_INLINE double sin_by_tan(double x)
{
    double t = brisk_tan(x / 2);

    return 2 / (t + 1 / t);
}

JX_INLINE double cos_by_tan(double x)
{
    double t = brisk_tan(x), half = brisk_tan(x / 2);

    return (1 - 2 * (fabs(half) > 1)) / sqrt(1 + t * t);
}

#define FUNCTION(name, ...)                                                    \
    JX_UNARY(JX_VECTOR_CLONES, name##_many, double, double, __VA_ARGS__)
#define BRISK(name) FUNCTION(name, brisk_##name(x))
BRISK(exp)
BRISK(expm1)
BRISK(log)
BRISK(log1p)
BRISK(tanh)
BRISK(tan)
BRISK(asin)
BRISK(acos)
BRISK(atan)
BRISK(sinh)
BRISK(cosh)
BRISK(asinh)
BRISK(acosh)
BRISK(atanh)
BRISK(cbrt)
BRISK(erf)
BRISK(erfc)
BRISK(sin)
BRISK(cos)
FUNCTION(logistic, 1 / (1 + brisk_exp(-x)))
FUNCTION(far_sin, sin_by_tan(x))
FUNCTION(far_cos, cos_by_tan(x))

/* Inputs come in the order of their size, so that a tile has seldom angles
 * of both kinds. */
enum { LARGE_ANGLE = 100000, FEW = 64 };

#define ANGLES(name)                                                           \
    static void any_##name(void *out, const void *const *ins, int64_t n,       \
                           const void *param)                                  \
    {                                                                          \
        for (int64_t i = 0, m; i < n; i += m) {                                \
            const double *x = (const double *)ins[0] + i;                      \
            const void *at = x;                                                \
            bool far = false;                                                  \
            m = n - i < FEW ? n - i : FEW;                                     \
            for (int64_t k = 0; k < m; k++)                                    \
                far |= fabs(x[k]) > LARGE_ANGLE;                               \
            (far ? far_##name##_many : name##_many)((double *)out + i, &at, m, \
                                                    param);                    \
        }                                                                      \
    }
ANGLES(sin)
ANGLES(cos)

#define ROW(prim, tile)                                                        \
    {                                                                          \
        JX_PRIM_##prim, tile                                                   \
    }
#define SAME(name) ROW(name, name##_many)

jx_tile *jx_tile_brisk(jx_tile *tile)
{
    static const struct {
        jx_prim_id prim;
        jx_tile *brisk;
    } rows[] = {
        SAME(exp),   SAME(expm1),    SAME(log),         SAME(log1p),
        SAME(tanh),  SAME(tan),      SAME(asin),        SAME(acos),
        SAME(atan),  SAME(sinh),     SAME(cosh),        SAME(asinh),
        SAME(acosh), SAME(atanh),    SAME(cbrt),        SAME(erf),
        SAME(erfc),  SAME(logistic), ROW(sin, any_sin), ROW(cos, any_cos),
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (tile == jx_tile_of(rows[i].prim, JX_F64))
            return rows[i].brisk;
    return tile;
}
#else
jx_tile *jx_tile_brisk(jx_tile *tile)
{
    return tile;
}
#endif
