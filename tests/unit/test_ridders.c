/* test_ridders.c - slopes and their error bars against known derivatives. */
#include "runtime/ridders.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static jx_slope slope_of(double (*f)(double), double x, double first)
{
    double at[JX_RIDDERS_SAMPLES], h[JX_RIDDERS_STEPS];

    jx_ridders_steps(first, h);
    for (int k = 0; k < JX_RIDDERS_SAMPLES; k++)
        at[k] = f(x + jx_ridders_offset(h, k));
    jx_slope slope;
    jx_ridders(at, 1, NULL, 1, h, DBL_EPSILON, &slope);
    return slope;
}

static double wave(double x)
{
    return sin(3 * x) * exp(x);
}

static double wave_slope(double x)
{
    return exp(x) * (3 * cos(3 * x) + sin(3 * x));
}

static double offset_sine(double x)
{
    return 1e4 + sin(x);
}

static double ramp(double x)
{
    return x > 0 ? x : 0;
}

static double steps(double x)
{
    return floor(x * 1e4) / 1e4;
}

static double even(double x)
{
    return x * x;
}

static void the_error_bar_covers_the_error(void **state)
{
    (void)state;

    for (double x = -3; x < 3; x += 0.17) {
        jx_slope s = slope_of(wave, x, 0.01);
        assert_int_equal(s.kind, JX_SLOPE_SMOOTH);
        assert_true(fabs(s.value - wave_slope(x)) <= 4 * s.error);
        assert_true(s.error < 1e-7 * (1 + fabs(s.value)));
    }
}

static void an_offset_widens_the_bar_instead_of_lying(void **state)
{
    (void)state;

    jx_slope s = slope_of(offset_sine, 0.3, 0.01);
    assert_true(fabs(s.value - cos(0.3)) <= 4 * s.error);
    assert_true(s.error > 1e-13);
}

static void a_kink_is_told_from_a_smooth_even_function(void **state)
{
    (void)state;

    jx_slope s = slope_of(ramp, 0, 0.01);
    assert_int_equal(s.kind, JX_SLOPE_KINK);
    assert_true(s.left == 0 && fabs(s.right - 1) < 1e-12);
    assert_int_equal(slope_of(even, 0, 0.01).kind, JX_SLOPE_SMOOTH);
    assert_int_equal(slope_of(ramp, 1, 0.01).kind, JX_SLOPE_SMOOTH);
}

static void a_staircase_has_no_slope_to_trust(void **state)
{
    (void)state;

    assert_int_equal(slope_of(steps, 0.50005, 0.01).kind, JX_SLOPE_STAIR);
}

static double wild(double x)
{
    return x < 0 ? sin(1 / x) : x;
}

static void a_rough_function_has_no_slope(void **state)
{
    (void)state;

    assert_int_not_equal(slope_of(wild, 0, 0.01).kind, JX_SLOPE_SMOOTH);
    assert_int_not_equal(slope_of(wild, 0, 0.01).kind, JX_SLOPE_KINK);
}

static void what_is_not_finite_has_no_slope(void **state)
{
    (void)state;

    assert_int_equal(slope_of(sqrt, 0, 0.01).kind, JX_SLOPE_UNDEFINED);
    assert_int_equal(slope_of(log, 0, 0.01).kind, JX_SLOPE_UNDEFINED);
}

/* Some of eleven functions, sampled side by side. */
static void
functions_side_by_side_have_the_slopes_that_each_has_alone(void **state)
{
    enum { COUNT = 11, SOME = 3 };
    double (*const all[])(double) = {wave, offset_sine, ramp, steps,
                                     even, wild,        sqrt};
    static const int which[SOME] = {9, 0, 4};
    double at[JX_RIDDERS_SAMPLES * COUNT], h[JX_RIDDERS_STEPS];
    jx_slope slopes[COUNT], some[COUNT];

    (void)state;
    jx_ridders_steps(0.01, h);
    for (int k = 0; k < JX_RIDDERS_SAMPLES; k++)
        for (int j = 0; j < COUNT; j++)
            at[k * COUNT + j] =
                all[j % 7](jx_ridders_offset(h, k) + (j < 7 ? 0 : 0.3));
    jx_ridders(at, COUNT, NULL, COUNT, h, DBL_EPSILON, slopes);
    jx_ridders(at, COUNT, which, SOME, h, DBL_EPSILON, some);
    for (int j = 0; j < COUNT; j++) {
        jx_slope alone = slope_of(all[j % 7], j < 7 ? 0 : 0.3, 0.01);
        assert_int_equal(slopes[j].kind, alone.kind);
        assert_true(slopes[j].value == alone.value &&
                    slopes[j].error == alone.error);
    }
    for (int k = 0; k < SOME; k++) {
        assert_int_equal(some[which[k]].kind, slopes[which[k]].kind);
        assert_true(some[which[k]].value == slopes[which[k]].value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_error_bar_covers_the_error),
        cmocka_unit_test(an_offset_widens_the_bar_instead_of_lying),
        cmocka_unit_test(a_kink_is_told_from_a_smooth_even_function),
        cmocka_unit_test(a_staircase_has_no_slope_to_trust),
        cmocka_unit_test(a_rough_function_has_no_slope),
        cmocka_unit_test(what_is_not_finite_has_no_slope),
        cmocka_unit_test(
            functions_side_by_side_have_the_slopes_that_each_has_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
