/* extent_functions.c - functions of one operand on extents; see extent.h. */
#include "analyzer/values/extent.h"

#include <math.h>

/* What kernels may be off, ours and XLA's: no more is claimed of them than
 * that they are this near, and that they keep within their function's range
 * and to its sign. */
enum { KERNEL_ULPS = 16 };

/* A function that rises, of an operand within its domain. */
typedef struct rising {
    jx_prim_id id;
    double (*of)(double);
    double from, to;    /* its domain; beyond it is NaN */
    double least, most; /* its range */
    double unit;        /* where it is 0, and changes its sign */
} rising;

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

static double falling_erfc(double x)
{
    return -erfc(x);
}

static double falling_rsqrt(double x)
{
    return x == 0 ? -INFINITY : -1 / sqrt(x);
}

static double falling_acos(double x)
{
    return -acos(x);
}

static const rising *rising_of(jx_prim_id id)
{
    static const rising table[] = {
        {JX_PRIM_exp, exp, -INFINITY, INFINITY, 0, INFINITY, -INFINITY},
        {JX_PRIM_expm1, expm1, -INFINITY, INFINITY, -1, INFINITY, 0},
        {JX_PRIM_log, log, 0, INFINITY, -INFINITY, INFINITY, 1},
        {JX_PRIM_log2, log2, 0, INFINITY, -INFINITY, INFINITY, 1},
        {JX_PRIM_log1p, log1p, -1, INFINITY, -INFINITY, INFINITY, 0},
        {JX_PRIM_logistic, logistic, -INFINITY, INFINITY, 0, 1, -INFINITY},
        {JX_PRIM_asin, asin, -1, 1, -1.5707964, 1.5707964, 0},
        {JX_PRIM_atan, atan, -INFINITY, INFINITY, -1.5707964, 1.5707964, 0},
        {JX_PRIM_tanh, tanh, -INFINITY, INFINITY, -1, 1, 0},
        {JX_PRIM_asinh, asinh, -INFINITY, INFINITY, -INFINITY, INFINITY, 0},
        {JX_PRIM_acosh, acosh, 1, INFINITY, 0, INFINITY, 1},
        {JX_PRIM_atanh, atanh, -1, 1, -INFINITY, INFINITY, 0},
        {JX_PRIM_cbrt, cbrt, -INFINITY, INFINITY, -INFINITY, INFINITY, 0},
        {JX_PRIM_erf, erf, -INFINITY, INFINITY, -1, 1, 0},
        /* These fall: with the other sign they rise. */
        {JX_PRIM_erfc, falling_erfc, -INFINITY, INFINITY, -2, 0, -INFINITY},
        {JX_PRIM_rsqrt, falling_rsqrt, 0, INFINITY, -INFINITY, 0, -INFINITY},
        {JX_PRIM_acos, falling_acos, -1, 1, -3.1415928, 0, -INFINITY},
    };

    for (int i = 0; i < (int)(sizeof table / sizeof *table); i++)
        if (table[i].id == id)
            return &table[i];
    return NULL;
}

/* What kernels of functions with a range of their own may not leave. */
static jx_extent kept(jx_extent to, double least, double most)
{
    if (jx_extent_is_empty(to))
        return to;
    to.lo = fmin(fmax(to.lo, least), most);
    to.hi = fmax(fmin(to.hi, most), least);
    return to;
}

static jx_extent rise(jx_extenting *how, const rising *f, jx_extent a)
{
    jx_extent within = jx_extent_meet(a, jx_extent_between(f->from, f->to)), to;

    within.nan |= a.lo < f->from || a.hi > f->to;
    if (jx_extent_is_empty(within)) {
        within = jx_extent_none();
        within.nan = true;
        return within;
    }
    to = (jx_extent){f->of(within.lo), f->of(within.hi), within.nan};
    to = kept(jx_extent_loosen(how, to, KERNEL_ULPS), f->least, f->most);
    if (isfinite(f->unit) && within.lo >= f->unit)
        to = kept(to, 0, INFINITY);
    if (isfinite(f->unit) && within.hi <= f->unit)
        to = kept(to, -INFINITY, 0);
    return to;
}

static jx_extent negated(jx_extent a)
{
    return (jx_extent){-a.hi, -a.lo, a.nan};
}

/* Kernels that are exp of something rounded first are off by a part of that,
 * too: `parts` ULPs for each unit of the operand, at each end by itself. */
static jx_extent loosen_by_size(jx_extenting *how, jx_extent to, jx_extent a,
                                double parts)
{
    const double most = 1100; /* beyond, it is 0 or infinite */
    jx_extent low =
        jx_extent_loosen(how, to, KERNEL_ULPS + parts * fmin(fabs(a.lo), most));
    jx_extent high =
        jx_extent_loosen(how, to, KERNEL_ULPS + parts * fmin(fabs(a.hi), most));

    return (jx_extent){low.lo, high.hi, to.nan};
}

/* exp2(x) is exp(x log 2): that product is rounded, and log 2 is. */
static jx_extent exp2_of(jx_extenting *how, jx_extent a)
{
    jx_extent to = {exp2(a.lo), exp2(a.hi), a.nan};

    return kept(loosen_by_size(how, to, a, 1.5), 0, INFINITY);
}

/* Half of exp(x): exp(x - log 2), of which the difference is rounded. */
static jx_extent sinh_of(jx_extenting *how, jx_extent a)
{
    jx_extent to = {sinh(a.lo), sinh(a.hi), a.nan};

    to = loosen_by_size(how, to, a, 1);
    if (a.lo >= 0)
        to = kept(to, 0, INFINITY);
    return a.hi <= 0 ? kept(to, -INFINITY, 0) : to;
}

static jx_extent exp_of(jx_extenting *how, jx_prim_id id, jx_extent a)
{
    jx_extent to =
        id == JX_PRIM_exp2 ? exp2_of(how, a) : rise(how, rising_of(id), a);

    if (a.hi <= 0)
        to = kept(to, 0, 1);
    if (a.lo >= 0)
        to = kept(to, 1, INFINITY);
    return to;
}

static jx_extent rsqrt_of(jx_extenting *how, jx_extent a)
{
    jx_extent to = negated(rise(how, rising_of(JX_PRIM_rsqrt), a));

    if (jx_extent_holds(a, 0))
        to.lo = -INFINITY; /* of -0 */
    return to;
}

static jx_extent sqrt_of(jx_extenting *how, jx_extent a)
{
    jx_extent to = {sqrt(fmax(a.lo, 0)), sqrt(fmax(a.hi, 0)),
                    a.nan || a.lo < 0};

    if (a.hi < 0) {
        to = jx_extent_none();
        to.nan = true;
        return to;
    }
    return jx_extent_settle(how, to);
}

/* XLA's is off, to the wrong side of 0 even, where its operand is subnormal. */
static jx_extent cbrt_of(jx_extenting *how, jx_extent a)
{
    const double tiny = 1e-12;
    jx_extent to = rise(how, rising_of(JX_PRIM_cbrt), a);

    if (how->semantics == JX_XLA && to.lo <= tiny && to.hi >= -tiny) {
        to.lo = fmin(to.lo, -tiny);
        to.hi = fmax(to.hi, tiny);
    }
    return to;
}

/* Even functions that rise with the size of their operand. */
static jx_extent cosh_of(jx_extenting *how, jx_extent a)
{
    jx_extenting plain = {.dtype = JX_F64};
    jx_extent size = jx_extent_abs(&plain, a);

    return kept(loosen_by_size(how,
                               (jx_extent){cosh(size.lo), cosh(size.hi), a.nan},
                               size, 1),
                1, INFINITY);
}

static jx_extent circular(jx_extenting *how, jx_extent a)
{
    jx_extent to = {-1, 1, a.nan || a.lo == -INFINITY || a.hi == INFINITY};

    return jx_extent_settle(how, to);
}

/* Between its poles the tangent rises. */
static jx_extent tan_of(jx_extenting *how, jx_extent a)
{
    if (!(a.lo > -1.57 && a.hi < 1.57))
        return jx_extent_whole(how->dtype);
    return jx_extent_loosen(how, (jx_extent){tan(a.lo), tan(a.hi), a.nan},
                            KERNEL_ULPS);
}

/* Of positive numbers: it falls to -0.1214863 at 1.4616321, then rises.  Near
 * its zeros kernels are off by parts of 1 rather than of the result. */
static jx_extent lgamma_of(jx_extenting *how, jx_extent a)
{
    jx_extent to;

    if (!(a.lo >= 0))
        return jx_extent_whole(how->dtype);
    to = (jx_extent){fmin(lgamma(a.lo), lgamma(a.hi)),
                     fmax(lgamma(a.lo), lgamma(a.hi)), a.nan};
    if (jx_extent_holds(a, 1.4616321))
        to.lo = -0.1214863;
    to.lo -= 64 * jx_ulp_of(how->dtype, 1);
    to.hi += 64 * jx_ulp_of(how->dtype, 1);
    return jx_extent_loosen(how, to, KERNEL_ULPS);
}

static jx_extent steps(jx_extenting *how, double (*of)(double), jx_extent a)
{
    return jx_extent_settle(how, (jx_extent){of(a.lo), of(a.hi), a.nan});
}

static double sign_of(double x)
{
    return (x > 0) - (x < 0);
}

static jx_extent is_finite_of(jx_extent a)
{
    bool never = jx_extent_is_empty(a) || (a.lo == a.hi && isinf(a.lo));

    return jx_extent_between(jx_extent_is_finite(a) ? 1 : 0, never ? 0 : 1);
}

static jx_extent not_of(jx_extenting *how, jx_extent a)
{
    double top = jx_dtype_of(how->dtype)->kind == JX_KIND_INT
                     ? -1
                     : jx_extent_most(how->dtype);

    return jx_extent_settle(how, (jx_extent){top - a.hi, top - a.lo, false});
}

bool jx_extent_function(jx_extenting *how, jx_prim_id id, jx_extent a,
                        jx_extent *to)
{
    const rising *f = rising_of(id);

    if (jx_extent_is_empty(a) && id != JX_PRIM_is_finite) {
        *to = a;
        return true;
    }
    switch ((int)id) {
    case JX_PRIM_exp:
    case JX_PRIM_exp2: *to = exp_of(how, id, a); return true;
    case JX_PRIM_rsqrt: *to = rsqrt_of(how, a); return true;
    case JX_PRIM_erfc:
    case JX_PRIM_acos: *to = negated(rise(how, f, a)); return true;
    case JX_PRIM_sqrt: *to = sqrt_of(how, a); return true;
    case JX_PRIM_cbrt: *to = cbrt_of(how, a); return true;
    case JX_PRIM_cosh: *to = cosh_of(how, a); return true;
    case JX_PRIM_sinh: *to = sinh_of(how, a); return true;
    case JX_PRIM_sin:
    case JX_PRIM_cos: *to = circular(how, a); return true;
    case JX_PRIM_tan: *to = tan_of(how, a); return true;
    case JX_PRIM_lgamma: *to = lgamma_of(how, a); return true;
    case JX_PRIM_bessel_i0e: *to = (jx_extent){0, 1, a.nan}; return true;
    case JX_PRIM_bessel_i1e: *to = (jx_extent){-0.22, 0.22, a.nan}; return true;
    case JX_PRIM_floor: *to = steps(how, floor, a); return true;
    case JX_PRIM_ceil: *to = steps(how, ceil, a); return true;
    case JX_PRIM_sign: *to = steps(how, sign_of, a); return true;
    case JX_PRIM_neg: *to = jx_extent_neg(how, a); return true;
    case JX_PRIM_abs: *to = jx_extent_abs(how, a); return true;
    case JX_PRIM_square: *to = jx_extent_square(how, a); return true;
    case JX_PRIM_is_finite: *to = is_finite_of(a); return true;
    case JX_PRIM_not: *to = not_of(how, a); return true;
    case JX_PRIM_population_count:
    case JX_PRIM_clz:
        *to = jx_extent_between(0, jx_dtype_of(how->dtype)->bits);
        return true;
    default: break;
    }
    if (f)
        *to = rise(how, f, a);
    return f != NULL;
}

/* Infinities and what is beyond an integer's range become numbers that
 * machines choose. */
static jx_extent to_integer(jx_extenting *how, jx_extent a)
{
    if (a.nan || !(trunc(a.lo) >= jx_extent_least(how->dtype) &&
                   trunc(a.hi) <= jx_extent_most(how->dtype))) {
        how->wraps = true;
        return jx_extent_finite(how->dtype);
    }
    return jx_extent_settle(how, (jx_extent){trunc(a.lo), trunc(a.hi), false});
}

jx_extent jx_extent_convert(jx_extenting *how, jx_dtype from, jx_extent a)
{
    if (!jx_extent_knows(from) || !jx_extent_knows(how->dtype))
        return jx_extent_whole(how->dtype);
    if (how->dtype == JX_BOOL) {
        bool zero = jx_extent_holds(a, 0);
        return jx_extent_between(zero ? 0 : 1,
                                 zero && a.lo == a.hi && !a.nan ? 0 : 1);
    }
    if (jx_extent_is_empty(a))
        return jx_dtype_is_float(how->dtype) ? a : jx_extent_finite(how->dtype);
    return jx_dtype_is_float(how->dtype) ? jx_extent_settle(how, a)
                                         : to_integer(how, a);
}
