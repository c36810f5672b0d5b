/* test_extent.c - extents hold what machines compute
 * (analyzer/values/extent.h): random intervals, with their ends, zeros,
 * infinities and NaN among what is tried. */
#include "analyzer/values/extent.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum { INTERVALS = 20000, POINTS = 12 };

static uint64_t state_of = 88172645463325252u;

static uint64_t draw(void)
{
    state_of ^= state_of << 13;
    state_of ^= state_of >> 7;
    state_of ^= state_of << 17;
    return state_of;
}

static double some_number(jx_dtype dtype)
{
    static const double often[] = {
        0,    -0.0,  1,     -1,   0.5,      2,         3,   1e-40, -1e-40,
        1e30, -1e30, 65504, 1e-7, INFINITY, -INFINITY, 0.1, 10};
    uint64_t how = draw();

    if (how % 3 == 0)
        return jx_round_to(dtype,
                           often[draw() % (sizeof often / sizeof *often)]);
    return jx_round_to(dtype, ldexp((double)(int64_t)draw() / 0x1p63,
                                    (int)(draw() % 40) - 20));
}

static jx_extent some_extent(jx_dtype dtype)
{
    double a = some_number(dtype), b = draw() % 5 ? some_number(dtype) : a;
    jx_extent is = jx_extent_between(fmin(a, b), fmax(a, b));

    is.nan = draw() % 8 == 0;
    return is;
}

static double some_point(jx_extent x, jx_dtype dtype)
{
    double part = (double)(draw() >> 11) / 0x1p53, at;

    switch (draw() % 6) {
    case 0: return x.lo;
    case 1: return x.hi;
    case 2: return x.nan ? NAN : x.lo;
    case 3: return jx_extent_holds(x, 0) ? 0 : x.hi;
    default: break;
    }
    if (isinf(x.lo) || isinf(x.hi))
        part = (double)(draw() % 2);
    at = part == 0 ? x.lo : part == 1 ? x.hi : x.lo + part * (x.hi - x.lo);
    return fmin(fmax(jx_round_to(dtype, at), x.lo), x.hi);
}

static void holds(jx_extent is, double value, const char *what, double a,
                  double b)
{
    if (isnan(value) ? is.nan : jx_extent_holds(is, value))
        return;
    fail_msg("%s of %.17g and %.17g is %.17g, not in [%.17g, %.17g]%s", what, a,
             b, value, is.lo, is.hi, is.nan ? " or NaN" : "");
}

/* What a machine computes in the dtype. */
static double rounded(jx_dtype dtype, double exact)
{
    return jx_round_to(dtype, exact);
}

static double flushed(double value)
{
    return fabs(value) < 0x1p-126 ? 0 : value;
}

static const jx_dtype floats[] = {JX_F16, JX_BF16, JX_F32, JX_F64};

static void arithmetic_stays_within(void **state)
{
    (void)state;
    for (int i = 0; i < INTERVALS; i++) {
        jx_dtype dtype = floats[draw() % 4];
        jx_extent a = some_extent(dtype), b = some_extent(dtype);
        jx_extenting how = {.dtype = dtype,
                            .semantics =
                                (jx_semantics)(draw() % JX_NSEMANTICS)};
        jx_extent sum = jx_extent_add(&how, a, b),
                  product = jx_extent_mul(&how, a, b);
        jx_extent quotient = jx_extent_div(&how, a, b),
                  difference = jx_extent_sub(&how, a, b);
        jx_extent rest = jx_extent_rem(&how, a, b),
                  square = jx_extent_square(&how, a);
        jx_extent cube = jx_extent_integer_power(&how, a, 3);
        jx_extent inverse = jx_extent_integer_power(&how, a, -2);

        for (int k = 0; k < POINTS; k++) {
            double x = some_point(a, dtype), y = some_point(b, dtype);
            double x2 = rounded(dtype, x * x);
            holds(sum, rounded(dtype, x + y), "sum", x, y);
            holds(difference, rounded(dtype, x - y), "difference", x, y);
            holds(product, rounded(dtype, x * y), "product", x, y);
            holds(quotient, rounded(dtype, x / y), "quotient", x, y);
            holds(rest, rounded(dtype, fmod(x, y)), "rest", x, y);
            holds(square, x2, "square", x, x);
            holds(cube, rounded(dtype, x2 * x), "cube", x, x);
            holds(inverse, rounded(dtype, 1 / x2), "inverse square", x, x);
            if (how.semantics != JX_IEEE && dtype == JX_F32) {
                holds(product, flushed(rounded(dtype, x * y)),
                      "flushed product", x, y);
                holds(sum, flushed(rounded(dtype, x + y)), "flushed sum", x, y);
            }
            if (how.semantics == JX_XLA && dtype != JX_F64)
                holds(product, x * y, "unrounded product", x, y);
        }
    }
}

static void powers_stay_within(void **state)
{
    (void)state;
    for (int i = 0; i < INTERVALS; i++) {
        jx_extent a = some_extent(JX_F32), b = some_extent(JX_F32);
        jx_extenting how = {.dtype = JX_F32};
        jx_extent power = jx_extent_power(&how, a, b);

        for (int k = 0; k < POINTS; k++) {
            double x = some_point(a, JX_F32), y = some_point(b, JX_F32);
            holds(power, rounded(JX_F32, pow(x, y)), "power", x, y);
        }
    }
}

/* Sums one after the other, from both sides, and by halves. */
static double sum_up(jx_dtype dtype, const double *x, int n, int way)
{
    double sum = 0;

    if (n == 1)
        return x[0];
    if (way == 2)
        return rounded(dtype, sum_up(dtype, x, n / 2, 2) +
                                  sum_up(dtype, x + n / 2, n - n / 2, 2));
    for (int i = 0; i < n; i++)
        sum = rounded(dtype, sum + x[way ? n - 1 - i : i]);
    return sum;
}

static void sums_stay_within_in_any_order(void **state)
{
    static double x[3000];

    (void)state;
    for (int i = 0; i < 600; i++) {
        jx_dtype dtype = floats[draw() % 4];
        jx_extent each = some_extent(dtype);
        int most = 1 + (int)(draw() % (i % 10 ? 40 : 3000)),
            least = (int)(draw() % (unsigned)(most + 1));
        jx_extenting how = {.dtype = dtype};
        jx_extent is = jx_extent_sum(&how, each, least, most);

        for (int k = 0; k < POINTS; k++) {
            int n = k % 2 ? most : least;
            double same = some_point(each, dtype);
            for (int j = 0; j < n; j++)
                x[j] = k % 3 ? some_point(each, dtype) : same;
            for (int way = 0; way < 3; way++)
                holds(is, n ? sum_up(dtype, x, n, way) : 0, "sum of many", n,
                      way);
        }
    }
}

static double unary(jx_prim_id id, double x)
{
    switch ((int)id) {
    case JX_PRIM_exp: return exp(x);
    case JX_PRIM_log: return log(x);
    case JX_PRIM_log1p: return log1p(x);
    case JX_PRIM_expm1: return expm1(x);
    case JX_PRIM_tanh: return tanh(x);
    case JX_PRIM_logistic: return 1 / (1 + exp(-x));
    case JX_PRIM_sqrt: return sqrt(x);
    case JX_PRIM_rsqrt: return 1 / sqrt(x);
    case JX_PRIM_acos: return acos(x);
    case JX_PRIM_acosh: return acosh(x);
    case JX_PRIM_atanh: return atanh(x);
    case JX_PRIM_erfc: return erfc(x);
    case JX_PRIM_lgamma: return lgamma(x);
    case JX_PRIM_tan: return tan(x);
    case JX_PRIM_floor: return floor(x);
    case JX_PRIM_abs: return fabs(x);
    default: return sin(x);
    }
}

static void functions_stay_within(void **state)
{
    static const jx_prim_id ids[] = {
        JX_PRIM_exp,    JX_PRIM_log,      JX_PRIM_log1p, JX_PRIM_expm1,
        JX_PRIM_tanh,   JX_PRIM_logistic, JX_PRIM_sqrt,  JX_PRIM_rsqrt,
        JX_PRIM_acos,   JX_PRIM_acosh,    JX_PRIM_atanh, JX_PRIM_erfc,
        JX_PRIM_lgamma, JX_PRIM_tan,      JX_PRIM_floor, JX_PRIM_abs,
        JX_PRIM_sin};

    (void)state;
    for (int i = 0; i < INTERVALS; i++) {
        jx_dtype dtype = floats[draw() % 4];
        jx_prim_id id = ids[draw() % (sizeof ids / sizeof *ids)];
        jx_extent a = some_extent(dtype), is;
        jx_extenting how = {.dtype = dtype,
                            .semantics =
                                (jx_semantics)(draw() % JX_NSEMANTICS)};

        assert_true(jx_extent_function(&how, id, a, &is));
        for (int k = 0; k < POINTS; k++) {
            double x = some_point(a, dtype);
            holds(is, rounded(dtype, unary(id, x)), jx_prim_of(id)->name, x, x);
        }
    }
}

static void integers_say_where_they_wrap(void **state)
{
    jx_extenting how = {.dtype = JX_I8};
    jx_extent is = jx_extent_add(&how, jx_extent_between(0, 100),
                                 jx_extent_between(0, 27));

    (void)state;
    assert_false(how.wraps);
    assert_true(jx_extent_same(is, jx_extent_between(0, 127)));
    is = jx_extent_add(&how, jx_extent_between(0, 100),
                       jx_extent_between(0, 28));
    assert_true(how.wraps);
    assert_true(jx_extent_same(is, jx_extent_between(-128, 127)));
    how = (jx_extenting){.dtype = JX_I32};
    is = jx_extent_div(&how, jx_extent_between(-7, 7), jx_extent_of(2));
    assert_true(jx_extent_same(is, jx_extent_between(-3, 3)) && !how.wraps);
    is = jx_extent_div(&how, jx_extent_of(1), jx_extent_between(-1, 1));
    assert_true(jx_extent_same(is, jx_extent_finite(JX_I32)));
    is = jx_extent_rem(&how, jx_extent_between(-7, 100), jx_extent_of(3));
    assert_true(jx_extent_same(is, jx_extent_between(-2, 2)));
    is = jx_extent_convert(&how, JX_F32, jx_extent_between(-1.5, 2.9));
    assert_true(jx_extent_same(is, jx_extent_between(-1, 2)) && !how.wraps);
    is = jx_extent_convert(&how, JX_F32, jx_extent_between(0, 1e10));
    assert_true(how.wraps);
}

static void widening_ends(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        jx_extent is = some_extent(JX_F32);
        int steps = 0;

        if (isinf(is.lo) || isinf(is.hi))
            continue;
        for (bool grown = true; grown && steps < 100; steps++) {
            jx_extent more = {is.lo - 1 - fabs(is.lo), is.hi + 1 + fabs(is.hi),
                              is.nan},
                      next;
            next = jx_extent_widen(is, more, JX_F32);
            assert_true(next.lo <= fmax(more.lo, -INFINITY) &&
                        next.hi >= more.hi);
            grown = !jx_extent_same(is, next);
            is = next;
        }
        assert_true(steps < 60);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_stays_within),
        cmocka_unit_test(powers_stay_within),
        cmocka_unit_test(sums_stay_within_in_any_order),
        cmocka_unit_test(functions_stay_within),
        cmocka_unit_test(integers_say_where_they_wrap),
        cmocka_unit_test(widening_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
