/* extent_arithmetic.c - sums, products and the like of
 * extents; see extent.h. */
#include "analyzer/values/extent.h"

#include <math.h>

static bool is_infinite(jx_extent x)
{
    return x.lo == -INFINITY || x.hi == INFINITY;
}

static double most_of(jx_extent x)
{
    return fmax(fabs(x.lo), fabs(x.hi));
}

/* One of the operands has no number: neither has the result. */
static jx_extent nothing(jx_extent a, jx_extent b)
{
    jx_extent none = jx_extent_none();

    none.nan = a.nan || b.nan;
    return none;
}

jx_extent jx_extent_add(jx_extenting *how, jx_extent a, jx_extent b)
{
    jx_extent to = {a.lo + b.lo, a.hi + b.hi, a.nan || b.nan};

    if (jx_extent_is_empty(a) || jx_extent_is_empty(b))
        return nothing(a, b);
    if ((a.hi == INFINITY && b.lo == -INFINITY) ||
        (a.lo == -INFINITY && b.hi == INFINITY))
        to.nan = true;
    if (isnan(to.lo))
        to.lo = -INFINITY;
    if (isnan(to.hi))
        to.hi = INFINITY;
    return jx_extent_settle(how, to);
}

jx_extent jx_extent_sub(jx_extenting *how, jx_extent a, jx_extent b)
{
    return jx_extent_add(how, a, (jx_extent){-b.hi, -b.lo, b.nan});
}

static void reach(jx_extent *to, double value)
{
    to->lo = fmin(to->lo, value);
    to->hi = fmax(to->hi, value);
}

/* What the corners of two extents give, where 0 times infinity is what
 * lies beside it. */
static jx_extent products(jx_extent a, jx_extent b)
{
    const double x[2] = {a.lo, a.hi}, y[2] = {b.lo, b.hi};
    jx_extent to = nothing(a, b);

    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            reach(&to, x[i] == 0 || y[k] == 0 ? 0 : x[i] * y[k]);
    return to;
}

jx_extent jx_extent_mul(jx_extenting *how, jx_extent a, jx_extent b)
{
    jx_extent exact, to;

    if (jx_extent_is_empty(a) || jx_extent_is_empty(b))
        return nothing(a, b);
    exact = products(a, b);
    if ((jx_extent_holds(a, 0) && is_infinite(b)) ||
        (jx_extent_holds(b, 0) && is_infinite(a)))
        exact.nan = true;
    to = jx_extent_settle(how, exact);
    /* A product that goes into a sum is not rounded; of f32 it
     * is exact here. */
    if (how->semantics == JX_XLA && jx_dtype_is_float(how->dtype)) {
        to.lo =
            fmin(to.lo, how->dtype == JX_F64 ? nextafter(exact.lo, -INFINITY)
                                             : exact.lo);
        to.hi = fmax(to.hi, how->dtype == JX_F64 ? nextafter(exact.hi, INFINITY)
                                                 : exact.hi);
    }
    return to;
}

/* Quotients by a divisor of one sign. */
static jx_extent quotients(jx_extent a, double from, double to)
{
    const double x[2] = {a.lo, a.hi}, y[2] = {from, to};
    jx_extent q = jx_extent_none();

    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            if (!(isinf(x[i]) && isinf(y[k])))
                reach(&q, x[i] / y[k]);
            else /* what lies beside it reaches from 0 to there */
                reach(&q, 0),
                    reach(&q, copysign(1, x[i]) * copysign(INFINITY, y[k]));
    return q;
}

static jx_extent divide_integers(jx_extenting *how, jx_extent a, jx_extent b)
{
    jx_extent to = jx_extent_none();
    double least = jx_extent_least(how->dtype);

    /* The least integer divided by -1 is one too large. */
    if (least < 0 && a.lo <= least && jx_extent_holds(b, -1))
        how->wraps = true;
    if (jx_extent_holds(b, 0))
        return jx_extent_finite(how->dtype);
    to = quotients(a, b.lo, b.hi);
    to.lo = trunc(to.lo);
    to.hi = trunc(to.hi);
    return jx_extent_settle(how, to);
}

static double least_positive(jx_dtype dtype)
{
    return jx_ulp_of(dtype, 0);
}

static bool is_power_of_two(double value)
{
    int e;

    return value != 0 && isfinite(value) && fabs(frexp(value, &e)) == 0.5;
}

jx_extent jx_extent_div(jx_extenting *how, jx_extent a, jx_extent b)
{
    jx_extent to = nothing(a, b);
    double tiny;

    if (jx_extent_is_empty(a) || jx_extent_is_empty(b))
        return to;
    if (!jx_dtype_is_float(how->dtype))
        return divide_integers(how, a, b);
    tiny = jx_extent_knows(how->dtype) ? least_positive(how->dtype) : 0;
    if (b.hi >= tiny)
        to = jx_extent_join(to, quotients(a, fmax(b.lo, tiny), b.hi));
    if (b.lo <= -tiny)
        to = jx_extent_join(to, quotients(a, b.lo, fmin(b.hi, -tiny)));
    if (jx_extent_holds(b, 0)) {
        to.nan |= jx_extent_holds(a, 0);
        if (a.lo < 0 || a.hi > 0) /* 0 has both signs */
            reach(&to, INFINITY), reach(&to, -INFINITY);
    }
    to.nan |= is_infinite(a) && is_infinite(b);
    /* By a constant: times its inverse. */
    if (how->semantics == JX_XLA && b.lo == b.hi && !is_power_of_two(b.lo))
        return jx_extent_loosen(how, to, 2);
    return jx_extent_settle(how, to);
}

jx_extent jx_extent_rem(jx_extenting *how, jx_extent a, jx_extent b)
{
    double most;
    jx_extent to;

    if (jx_extent_is_empty(a) || jx_extent_is_empty(b))
        return nothing(a, b);
    if (!jx_dtype_is_float(how->dtype)) {
        most = jx_extent_holds(b, 0) ? most_of(a)
                                     : fmin(most_of(a), most_of(b) - 1);
        to = jx_extent_between(a.lo < 0 ? -most : 0, a.hi > 0 ? most : 0);
        return jx_extent_settle(how, to);
    }
    most = fmin(most_of(a), most_of(b));
    to = jx_extent_between(a.lo < 0 ? -most : 0, a.hi > 0 ? most : 0);
    to.nan = a.nan || b.nan || is_infinite(a) || jx_extent_holds(b, 0);
    return jx_extent_settle(how, to);
}

jx_extent jx_extent_max(jx_extent a, jx_extent b)
{
    return jx_extent_is_empty(a) || jx_extent_is_empty(b)
               ? nothing(a, b)
               : (jx_extent){fmax(a.lo, b.lo), fmax(a.hi, b.hi),
                             a.nan || b.nan};
}

jx_extent jx_extent_min(jx_extent a, jx_extent b)
{
    return jx_extent_is_empty(a) || jx_extent_is_empty(b)
               ? nothing(a, b)
               : (jx_extent){fmin(a.lo, b.lo), fmin(a.hi, b.hi),
                             a.nan || b.nan};
}

jx_extent jx_extent_neg(jx_extenting *how, jx_extent a)
{
    return jx_extent_settle(how, (jx_extent){-a.hi, -a.lo, a.nan});
}

jx_extent jx_extent_abs(jx_extenting *how, jx_extent a)
{
    if (jx_extent_is_empty(a))
        return a;
    return jx_extent_settle(
        how,
        (jx_extent){jx_extent_holds(a, 0) ? 0 : fmin(fabs(a.lo), fabs(a.hi)),
                    most_of(a), a.nan});
}

jx_extent jx_extent_square(jx_extenting *how, jx_extent a)
{
    jx_extenting plain = *how;
    jx_extent size;

    if (jx_extent_is_empty(a))
        return a;
    plain.semantics = JX_IEEE;
    plain.dtype = jx_dtype_is_float(how->dtype) ? JX_F64 : how->dtype;
    size = jx_dtype_is_float(how->dtype)
               ? jx_extent_abs(&plain, a)
               : (jx_extent){
                     jx_extent_holds(a, 0) ? 0 : fmin(fabs(a.lo), fabs(a.hi)),
                     most_of(a), false};
    return jx_extent_mul(how, size, size);
}

/* Whether a power is what it is without rounding, as are all lower ones. */
static bool is_exact_power(double base, double power)
{
    return base == rint(base) && fabs(power) <= 0x1p8;
}

/* One over a power: the power may be rounded before, or not. */
static jx_extent inverse_power(jx_extenting *how, jx_extent a, int64_t power)
{
    jx_extent rounded = jx_extent_div(how, jx_extent_of(1),
                                      jx_extent_integer_power(how, a, -power));
    jx_extent whole = {pow(a.lo, (double)power), pow(a.hi, (double)power),
                       a.nan};

    if (!jx_dtype_is_float(how->dtype) || jx_extent_holds(a, 0))
        return jx_extent_loosen(how, rounded, 2);
    if (whole.lo > whole.hi)
        whole = (jx_extent){whole.hi, whole.lo, a.nan};
    return jx_extent_loosen(how, jx_extent_join(rounded, whole), 2);
}

jx_extent jx_extent_integer_power(jx_extenting *how, jx_extent a, int64_t power)
{
    double n = fabs((double)power);
    jx_extent to;
    bool exact;

    if (jx_extent_is_empty(a))
        return a;
    if (power == 0)
        return jx_extent_of(1);
    if (power < 0)
        return inverse_power(how, a, power);
    if (power == 1)
        return jx_extent_settle(how, a);
    if (power == 2)
        return jx_extent_square(how, a);
    to = (jx_extent){pow(a.lo, n), pow(a.hi, n), a.nan};
    if (power % 2 == 0)
        to = jx_extent_between(jx_extent_holds(a, 0) ? 0 : fmin(to.lo, to.hi),
                               fmax(to.lo, to.hi));
    to.nan = a.nan;
    exact = is_exact_power(a.lo, to.lo) && is_exact_power(a.hi, to.hi);
    return exact || !jx_dtype_is_float(how->dtype)
               ? jx_extent_settle(how, to)
               : jx_extent_loosen(how, to, n);
}

static jx_extent power_of_numbers(jx_extenting *how, jx_extent a, jx_extent b)
{
    jx_extent to = nothing(a, b);
    /* An end that is 0 is the positive one; of the other, below. */
    const double x[2] = {a.lo == 0 ? 0 : a.lo, a.hi == 0 ? 0 : a.hi},
                 y[2] = {b.lo, b.hi};

    if (jx_extent_is_empty(a) || jx_extent_is_empty(b))
        return to;
    if (!jx_dtype_is_float(how->dtype))
        return jx_extent_finite(how->dtype);
    if (a.lo < 0) {
        if (!jx_extent_is_one(b) || b.lo != rint(b.lo) || fabs(b.lo) > 64)
            return jx_extent_whole(how->dtype);
        to = jx_extent_integer_power(how, a, (int64_t)b.lo);
        return jx_extent_loosen(how, to, 64);
    }
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            reach(&to, pow(x[i], y[k]));
    if (a.lo == 0 && b.lo < 0)
        reach(&to, -INFINITY); /* -0 to an odd power */
    to = jx_extent_loosen(how, to, 64);
    return a.lo == 0 && b.lo < 0
               ? to
               : jx_extent_meet(to, jx_extent_between(0, INFINITY));
}

/* Of NaN, too: pow(NaN, 0) and pow(1, NaN) are 1. */
jx_extent jx_extent_power(jx_extenting *how, jx_extent a, jx_extent b)
{
    jx_extent to = power_of_numbers(how, a, b);

    return jx_dtype_is_float(how->dtype) && ((a.nan && jx_extent_holds(b, 0)) ||
                                             (b.nan && jx_extent_holds(a, 1)))
               ? jx_extent_join(to, jx_extent_of(1))
               : to;
}

bool jx_extent_multiples_are_exact(jx_dtype dtype, double value, double n)
{
    int e, bits = dtype == JX_F64   ? 53
                  : dtype == JX_F32 ? 24
                  : dtype == JX_F16 ? 11
                                    : 8;
    double m = frexp(value, &e);

    if (value == 0)
        return true;
    for (int i = 0; i < 53 && m != rint(m); i++)
        m *= 2;
    return isfinite(value) && fabs(m) * n <= ldexp(1, bits) &&
           fabs(value) * n <= jx_extent_most(dtype);
}

/* The relative error of n additions; infinite where that says nothing. */
static double parts_of(jx_dtype dtype, double n)
{
    double unit = ldexp(1, dtype == JX_F64   ? -53
                           : dtype == JX_F32 ? -24
                           : dtype == JX_F16 ? -11
                                             : -8);

    return n <= 1 ? 1 : (n - 1) * unit < 0.5 ? exp((n - 1) * unit) : INFINITY;
}

/* The largest and the smallest size that the sum of n equal numbers may have,
 * in any order: each addition is off by a part of the sum, and by no more than
 * its smaller operand.  The latter makes a factor 3/2 of each doubling in the
 * worst tree, and no sum smaller than what is summed. */
static double most_sum(jx_dtype dtype, double value, double n)
{
    if (n == 0 || value == 0)
        return 0;
    return jx_extent_multiples_are_exact(dtype, value, n)
               ? n * value
               : n * value * fmin(parts_of(dtype, n), pow(n, 0.585));
}

static double least_sum(jx_dtype dtype, double value, double n)
{
    if (n == 0 || value == 0)
        return 0;
    return jx_extent_multiples_are_exact(dtype, value, n) ? n * value
           : isfinite(parts_of(dtype, n)) ? n * value / parts_of(dtype, n)
                                          : value;
}

/* Rounding is monotone, so that no sum lies beyond that of as many ends. */
jx_extent jx_extent_sum(jx_extenting *how, jx_extent each, double least,
                        double most)
{
    jx_extent to = {each.lo * (each.lo < 0 ? most : least),
                    each.hi * (each.hi > 0 ? most : least), each.nan};
    jx_dtype dtype = how->dtype;

    if (most == 0)
        return jx_extent_of(0);
    if (jx_extent_is_empty(each))
        return least == 0 ? (jx_extent){0, 0, each.nan} : each;
    if (jx_dtype_is_float(dtype)) {
        to.lo = each.lo < 0 ? most_sum(dtype, each.lo, most)
                            : least_sum(dtype, each.lo, least);
        to.hi = each.hi > 0 ? most_sum(dtype, each.hi, most)
                            : least_sum(dtype, each.hi, least);
    }
    to.nan |= each.lo == -INFINITY && each.hi == INFINITY && most > 1;
    to = jx_dtype_is_float(dtype) &&
                 !(jx_extent_multiples_are_exact(dtype, each.lo, most) &&
                   jx_extent_multiples_are_exact(dtype, each.hi, most))
             ? jx_extent_loosen(how, to, 1)
             : jx_extent_settle(how, to);
    if (!jx_dtype_is_float(dtype))
        return to; /* which may have wrapped */
    /* Rounding changes no sign. */
    if (each.lo >= 0)
        to.lo = fmax(to.lo, 0);
    if (each.hi <= 0)
        to.hi = fmin(to.hi, 0);
    /* Partial sums beyond both ends of the dtype cancel to NaN. */
    if (to.lo == -INFINITY && to.hi == INFINITY)
        to.nan = true;
    return to;
}
