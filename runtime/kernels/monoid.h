/* monoid.h - the operations that fold many elements into one. */
#ifndef JX_MONOID_H
#define JX_MONOID_H

#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* glibc shows C11's macros only to compilers that say they are a recent GCC,
 * which clang does not, though it has the builtin. */
#ifndef CMPLX
#define CMPLX(x, y) __builtin_complex((double)(x), (double)(y))
#define CMPLXF(x, y) __builtin_complex((float)(x), (float)(y))
#endif

#define JX_ADD(a, x) ((a) + (x))
#define JX_MUL(a, x) ((a) * (x))
#define JX_GREATER(a, x) ((x) > (a) ? (x) : (a))
#define JX_LESS(a, x) ((x) < (a) ? (x) : (a))

/* The least element of signed integers of few bits, or the largest: they are
 * compared as bytes, whose own is another one in their bits. */
static inline unsigned char jx_narrow_end(int bits, bool least)
{
    return (unsigned char)(least ? 1 << (bits - 1) : (1 << (bits - 1)) - 1);
}

/* C multiplies complexes with care for infinities that XLA does not take. */
static inline double complex jx_times(double complex a, double complex b)
{
    double ar = creal(a), ai = cimag(a), br = creal(b), bi = cimag(b);

    return CMPLX(ar * br - ai * bi, ar * bi + ai * br);
}

/* NaN wins; +0 is above -0. */
static inline double jx_max_float(double a, double x)
{
    if (isnan(a) || isnan(x))
        return isnan(a) ? a : x;
    return a > x || (a == x && !signbit(a)) ? a : x;
}

static inline double jx_min_float(double a, double x)
{
    if (isnan(a) || isnan(x))
        return isnan(a) ? a : x;
    return a < x || (a == x && signbit(a)) ? a : x;
}

/* By the real part, then the imaginary one. */
static inline bool jx_above(double complex a, double complex b)
{
    return creal(a) == creal(b) ? cimag(a) > cimag(b) : creal(a) > creal(b);
}

static inline double complex jx_max_complex(double complex a, double complex x)
{
    return jx_above(a, x) ? a : x;
}

static inline double complex jx_min_complex(double complex a, double complex x)
{
    return jx_above(x, a) ? a : x;
}

/* Tables by dtype of functions whose names end in one. */
#define JX_WRAPPING(f)                                                         \
    [JX_BOOL] = f##_8, [JX_I8] = f##_8, [JX_U8] = f##_8, [JX_I16] = f##_16,    \
    [JX_U16] = f##_16, [JX_I32] = f##_32, [JX_U32] = f##_32,                   \
    [JX_I64] = f##_64, [JX_U64] = f##_64
#define JX_COMPARING(f)                                                        \
    [JX_BOOL] = f##_u8, [JX_I8] = f##_i8, [JX_U8] = f##_u8,                    \
    [JX_I16] = f##_i16, [JX_U16] = f##_u16, [JX_I32] = f##_i32,                \
    [JX_U32] = f##_u32, [JX_I64] = f##_i64, [JX_U64] = f##_u64
#define JX_INEXACT(f)                                                          \
    [JX_F32] = f##_f32, [JX_F64] = f##_f64, [JX_C64] = f##_c64,                \
    [JX_C128] = f##_c128

#endif
