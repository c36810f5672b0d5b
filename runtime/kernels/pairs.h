/* pairs.h - numbers of two doubles: hi + lo, where hi is that sum
 * rounded to nearest.
 *
 * Each operation is made of some whose rounding errors are doubles that can be
 * computed (Knuth, TAOCP 2, 4.2.2; Dekker, "A floating-point technique for
 * extending the available precision", 1971), and is right to about 2^-104 of
 * its result.  A product whose error is below the least double is right as a
 * double is.  What is not finite is in hi, with a lo of 0. Nothing here
 * branches, so that loops over such functions become vectors. */
#ifndef JX_PAIRS_H
#define JX_PAIRS_H

#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct jx_pair {
    double hi, lo;
} jx_pair;

#define JX_PAIR_FN static inline __attribute__((always_inline, unused))

JX_PAIR_FN jx_pair jx_pair_of(double x)
{
    return (jx_pair){x, 0};
}

/* high + low, where |low| <= |high| or high is 0. */
JX_PAIR_FN jx_pair jx_pair_joined(double high, double low)
{
    double hi = high + low, lo = low - (hi - high);
    bool finite = (hi - hi == 0) & (high - high == 0);

    return (jx_pair){high - high == 0 ? hi : high, finite ? lo : 0};
}

/* a + b = hi + lo, exactly. */
JX_PAIR_FN jx_pair jx_two_sum(double a, double b)
{
    double s = a + b, t = s - a;

    return (jx_pair){s, (a - (s - t)) + (b - t)};
}

/* a * b = hi + lo, exactly. */
JX_PAIR_FN jx_pair jx_two_product(double a, double b)
{
    double p = a * b;

    return (jx_pair){p, fma(a, b, -p)};
}

JX_PAIR_FN jx_pair jx_pair_neg(jx_pair a)
{
    return (jx_pair){-a.hi, -a.lo};
}

JX_PAIR_FN jx_pair jx_pair_add(jx_pair a, jx_pair b)
{
    jx_pair s = jx_two_sum(a.hi, b.hi), t = jx_two_sum(a.lo, b.lo), u;

    u = jx_pair_joined(s.hi, s.lo + t.hi);
    return jx_pair_joined(u.hi, u.lo + t.lo);
}

JX_PAIR_FN jx_pair jx_pair_sub(jx_pair a, jx_pair b)
{
    return jx_pair_add(a, jx_pair_neg(b));
}

/* The same where a is the larger one, or neither cancels the other. */
JX_PAIR_FN jx_pair jx_pair_plus(jx_pair a, jx_pair b)
{
    jx_pair s = jx_two_sum(a.hi, b.hi);

    return jx_pair_joined(s.hi, s.lo + (a.lo + b.lo));
}

JX_PAIR_FN jx_pair jx_pair_mul(jx_pair a, jx_pair b)
{
    jx_pair p = jx_two_product(a.hi, b.hi);

    return jx_pair_joined(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

/* By a power of two, or any number. */
JX_PAIR_FN jx_pair jx_pair_scaled(jx_pair a, double by)
{
    return (jx_pair){a.hi * by, a.hi * by - a.hi * by == 0 ? a.lo * by : 0};
}

JX_PAIR_FN jx_pair jx_pair_times(jx_pair a, double b)
{
    jx_pair p = jx_two_product(a.hi, b);

    return jx_pair_joined(p.hi, p.lo + a.lo * b);
}

JX_PAIR_FN jx_pair jx_pair_div(jx_pair a, jx_pair b)
{
    double q = a.hi / b.hi, r = fma(-q, b.hi, a.hi);
    double more = (r + a.lo - q * b.lo) / b.hi;
    jx_pair first = jx_pair_joined(q, more - more == 0 ? more : 0);

    /* Once more: the quotient of what is left. */
    jx_pair left = jx_pair_sub(a, jx_pair_mul(first, b));
    more = left.hi / b.hi;
    return jx_pair_joined(first.hi, first.lo + (more - more == 0 ? more : 0));
}

JX_PAIR_FN jx_pair jx_pair_sqrt(jx_pair a)
{
    double root = sqrt(a.hi);
    jx_pair left = jx_pair_sub(a, jx_two_product(root, root));
    double more = left.hi / (2 * root);

    return jx_pair_joined(root, more - more == 0 ? more : 0);
}

JX_PAIR_FN bool jx_pair_less(jx_pair a, jx_pair b)
{
    return (a.hi < b.hi) | ((a.hi == b.hi) & (a.lo < b.lo));
}

JX_PAIR_FN bool jx_pair_equal(jx_pair a, jx_pair b)
{
    return (a.hi == b.hi) & (a.lo == b.lo);
}

JX_PAIR_FN jx_pair jx_pair_choose(bool first, jx_pair a, jx_pair b)
{
    return (jx_pair){first ? a.hi : b.hi, first ? a.lo : b.lo};
}

/* A NaN if there is one. */
JX_PAIR_FN jx_pair jx_pair_max(jx_pair a, jx_pair b)
{
    return jx_pair_choose(jx_pair_less(a, b) | (b.hi != b.hi), b, a);
}

JX_PAIR_FN jx_pair jx_pair_min(jx_pair a, jx_pair b)
{
    return jx_pair_choose(jx_pair_less(b, a) | (b.hi != b.hi), b, a);
}

/* As the type of two doubles that C has: for what is written for any
 * arithmetic type. */
JX_PAIR_FN jx_pair jx_pair_in(double complex z)
{
    return (jx_pair){creal(z), cimag(z)};
}

JX_PAIR_FN double complex jx_pair_out(jx_pair a)
{
    return __builtin_complex(a.hi, a.lo);
}

#define JX_PAIR_ADD(a, x) jx_pair_out(jx_pair_add(jx_pair_in(a), jx_pair_in(x)))
#define JX_PAIR_MUL(a, x) jx_pair_out(jx_pair_mul(jx_pair_in(a), jx_pair_in(x)))
#define JX_PAIR_MAX(a, x) jx_pair_out(jx_pair_max(jx_pair_in(a), jx_pair_in(x)))
#define JX_PAIR_MIN(a, x) jx_pair_out(jx_pair_min(jx_pair_in(a), jx_pair_in(x)))

#endif
