/* extent.c - see extent.h: extents as sets, and what rounds them. */
#include "analyzer/values/extent.h"

#include "frontend/base/assert.h"

#include <math.h>

/* Binary formats: bits of the significand with the leading one, and the
 * exponent of the least normal number. */
typedef struct format {
    jx_dtype dtype;
    int precision, least;
    double most;
} format;

static const format *format_of(jx_dtype dtype)
{
    static const format formats[] = {
        {JX_F16, 11, -14, 65504},
        {JX_BF16, 8, -126, 0x1.fep127},
        {JX_F32, 24, -126, 0x1.fffffep127},
        {JX_F64, 53, -1022, 0x1.fffffffffffffp1023},
    };

    for (int i = 0; i < (int)(sizeof formats / sizeof *formats); i++)
        if (formats[i].dtype == dtype)
            return &formats[i];
    return NULL;
}

const char *jx_semantics_name(jx_semantics semantics)
{
    static const char *const names[JX_NSEMANTICS] = {"ieee", "ftz", "xla"};

    return names[semantics];
}

bool jx_extent_knows(jx_dtype dtype)
{
    return format_of(dtype) || dtype == JX_BOOL ||
           (jx_dtype_is_integer(dtype) && jx_dtype_of(dtype)->bits <= 64);
}

double jx_extent_most(jx_dtype dtype)
{
    const format *f = format_of(dtype);
    int bits = jx_dtype_of(dtype)->bits;

    if (f)
        return f->most;
    if (dtype == JX_BOOL)
        return 1;
    /* The next double for 64 bits, which is outward. */
    return ldexp(1, bits - (jx_dtype_of(dtype)->kind == JX_KIND_INT)) -
           (bits <= 53);
}

double jx_extent_least(jx_dtype dtype)
{
    const format *f = format_of(dtype);

    if (f)
        return -f->most;
    return jx_dtype_of(dtype)->kind == JX_KIND_INT
               ? -ldexp(1, jx_dtype_of(dtype)->bits - 1)
               : 0;
}

double jx_extent_normal(jx_dtype dtype)
{
    const format *f = format_of(dtype);

    return f ? ldexp(1, f->least) : 1;
}

jx_extent jx_extent_whole(jx_dtype dtype)
{
    if (!jx_extent_knows(dtype))
        return (jx_extent){-INFINITY, INFINITY, true};
    return format_of(dtype) ? (jx_extent){-INFINITY, INFINITY, true}
                            : jx_extent_finite(dtype);
}

jx_extent jx_extent_finite(jx_dtype dtype)
{
    if (!jx_extent_knows(dtype))
        return jx_extent_whole(dtype);
    return jx_extent_between(jx_extent_least(dtype), jx_extent_most(dtype));
}

jx_extent jx_extent_none(void)
{
    return (jx_extent){INFINITY, -INFINITY, false};
}

jx_extent jx_extent_between(double lo, double hi)
{
    return (jx_extent){lo, hi, false};
}

jx_extent jx_extent_of(double value)
{
    jx_extent none = jx_extent_none();

    none.nan = true;
    return isnan(value) ? none : jx_extent_between(value, value);
}

bool jx_extent_is_empty(jx_extent x)
{
    return x.lo > x.hi;
}

bool jx_extent_is_finite(jx_extent x)
{
    return !x.nan && x.lo > -INFINITY && x.hi < INFINITY;
}

bool jx_extent_is_one(jx_extent x)
{
    return !x.nan && x.lo == x.hi;
}

bool jx_extent_holds(jx_extent x, double value)
{
    return x.lo <= value && value <= x.hi;
}

bool jx_extent_same(jx_extent a, jx_extent b)
{
    return a.lo == b.lo && a.hi == b.hi && a.nan == b.nan;
}

jx_extent jx_extent_join(jx_extent a, jx_extent b)
{
    return (jx_extent){fmin(a.lo, b.lo), fmax(a.hi, b.hi), a.nan || b.nan};
}

jx_extent jx_extent_meet(jx_extent a, jx_extent b)
{
    return (jx_extent){fmax(a.lo, b.lo), fmin(a.hi, b.hi), a.nan};
}

/* The least landmark that is not below a number. */
static double landmark_above(double value, jx_dtype dtype)
{
    double at;

    if (value <= -1e30 || !(value <= 1e30))
        return value <= -1e30                   ? -1e30
               : value <= jx_extent_most(dtype) ? jx_extent_most(dtype)
                                                : INFINITY;
    if (value <= 0) {
        for (at = -1e30; at < value; at /= 1000)
            if (at > -1e-12)
                return 0;
        return at;
    }
    for (at = 1e-12; at < value; at *= 1000)
        continue;
    return at > 0.9 && at < 1.1 ? 1 : at;
}

jx_extent jx_extent_widen(jx_extent a, jx_extent b, jx_dtype dtype)
{
    jx_extent to = jx_extent_join(a, b);

    if (to.hi > a.hi)
        to.hi = fmax(to.hi, landmark_above(to.hi, dtype));
    if (to.lo < a.lo)
        to.lo = fmin(to.lo, -landmark_above(-to.lo, dtype));
    if (!format_of(dtype) && jx_extent_knows(dtype))
        to = jx_extent_meet(to, jx_extent_finite(dtype));
    return to;
}

void jx_extent_print(jx_extent x, jx_buffer *to)
{
    if (jx_extent_is_empty(x)) {
        jx_buffer_puts(to, x.nan ? "NaN" : "nothing");
        return;
    }
    jx_buffer_printf(to, x.lo == x.hi ? "%.9g" : "[%.9g, ", x.lo);
    if (x.lo != x.hi)
        jx_buffer_printf(to, "%.9g]", x.hi);
    if (x.nan)
        jx_buffer_puts(to, " or NaN");
}

/* -- rounding -------------------------------------------------------------- */

/* The distance between neighbours of that size in a format. */
static double quantum(const format *f, double value)
{
    int e = value == 0 || !isfinite(value) ? f->least : ilogb(value);

    return ldexp(1, (e > f->least ? e : f->least) - f->precision + 1);
}

double jx_round_to(jx_dtype dtype, double value)
{
    const format *f = format_of(dtype);
    double q, rounded;

    if (!f || dtype == JX_F64 || value == 0 || !isfinite(value))
        return value;
    if (dtype == JX_F32)
        return (double)(float)value;
    q = quantum(f, value);
    rounded = rint(value / q) * q;
    return fabs(rounded) > f->most ? copysign(INFINITY, value) : rounded;
}

double jx_ulp_of(jx_dtype dtype, double value)
{
    const format *f = format_of(dtype);

    return f ? quantum(f, value) : 1;
}

static jx_extent flush(const format *f, jx_extent x)
{
    double normal = ldexp(1, f->least);

    if (x.lo > 0 && x.lo < normal)
        x.lo = 0;
    if (x.hi < 0 && x.hi > -normal)
        x.hi = 0;
    return x;
}

/* Of 64 bits, what is rounded to an end may lie beyond it. */
static bool is_beyond(jx_dtype dtype, jx_extent x)
{
    double least = jx_extent_least(dtype), most = jx_extent_most(dtype);

    if (most < 0x1p53)
        return !(x.lo >= least && x.hi <= most);
    return !((least < 0 ? x.lo > least : x.lo >= 0) && x.hi < most);
}

static jx_extent settle_integer(jx_extenting *how, jx_extent x)
{
    const double exact = 0x1p53;

    if (jx_extent_is_empty(x))
        return x;
    if (is_beyond(how->dtype, x)) {
        how->wraps = how->dtype != JX_BOOL;
        return jx_extent_finite(how->dtype);
    }
    x.lo = fabs(x.lo) >= exact
               ? fmax(nextafter(x.lo, -INFINITY), jx_extent_least(how->dtype))
               : floor(x.lo);
    x.hi = fabs(x.hi) >= exact
               ? fmin(nextafter(x.hi, INFINITY), jx_extent_most(how->dtype))
               : ceil(x.hi);
    return x;
}

jx_extent jx_extent_settle(jx_extenting *how, jx_extent exact)
{
    const format *f = format_of(how->dtype);
    jx_extent to;

    if (!jx_extent_knows(how->dtype))
        return jx_extent_whole(how->dtype);
    if (!f)
        return settle_integer(how, exact);
    if (jx_extent_is_empty(exact))
        return exact;
    to = (jx_extent){jx_round_to(how->dtype, exact.lo),
                     jx_round_to(how->dtype, exact.hi), exact.nan};
    /* Chains of 16-bit operations are computed in f32. */
    if (how->semantics == JX_XLA && f->precision < 24) {
        to.lo = fmin(to.lo, jx_round_to(JX_F32, exact.lo));
        to.hi = fmax(to.hi, jx_round_to(JX_F32, exact.hi));
    }
    return how->semantics == JX_IEEE ? to : flush(f, to);
}

jx_extent jx_extent_loosen(jx_extenting *how, jx_extent exact, double ulps)
{
    if (exact.lo > exact.hi || !format_of(how->dtype))
        return jx_extent_settle(how, exact);
    /* What is beyond all doubles may be beyond them by less than that. */
    if (how->dtype == JX_F64) {
        exact.lo = fmin(exact.lo, jx_extent_most(JX_F64));
        exact.hi = fmax(exact.hi, jx_extent_least(JX_F64));
    }
    if (isfinite(exact.lo))
        exact.lo -= ulps * jx_ulp_of(how->dtype, exact.lo);
    if (isfinite(exact.hi))
        exact.hi += ulps * jx_ulp_of(how->dtype, exact.hi);
    return jx_extent_settle(how, exact);
}
