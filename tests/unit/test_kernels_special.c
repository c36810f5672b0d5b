/* test_kernels_special.c - special functions against JAX's values. */
#include "runtime/kernels/special.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct example {
    const char *name;
    int count;
    double in[3];
    double out; /* jax.jit(lax.<name>) in float64 */
} example;

static const example examples[] = {
    {"erf_inv", 1, {-1}, -INFINITY},
    {"erf_inv", 1, {-0.75}, -0.81341984759761865},
    {"erf_inv", 1, {0.25}, 0.22531205501217808},
    {"erf_inv", 1, {0.999}, 2.3267537655135273},
    {"erf_inv", 1, {1}, INFINITY},
    {"erf_inv", 1, {2}, NAN},
    {"lgamma", 1, {0}, INFINITY},
    {"lgamma", 1, {-1.5}, 0.86004701537648054},
    {"lgamma", 1, {0.5}, 0.57236494292470042},
    {"lgamma", 1, {10}, 12.801827480081473},
    {"digamma", 1, {0}, NAN},
    {"digamma", 1, {-1.5}, 0.70315664064524397},
    {"digamma", 1, {0.5}, -1.9635100260214255},
    {"digamma", 1, {10}, 2.2517525890667214},
    {"digamma", 1, {-2}, NAN},
    {"i0e", 1, {0}, 1},
    {"i0e", 1, {0.5}, 0.6450352704491501},
    {"i0e", 1, {-7}, 0.15373774467288123},
    {"i0e", 1, {30}, 0.073145946482237281},
    {"i1e", 1, {0}, 0},
    {"i1e", 1, {0.5}, 0.15642080318487173},
    {"i1e", 1, {-7}, -0.14228923470959859},
    {"i1e", 1, {30}, 0.071916330598647535},
    {"zeta", 2, {2, 1}, 1.6449340668482264},
    {"zeta", 2, {3, 2.5}, 0.11810202582086368},
    {"zeta", 2, {2, -1.5}, 9.3792466449891219},
    {"zeta", 2, {1, 3}, INFINITY},
    {"zeta", 2, {2.5, 4}, 0.10056053204432189},
    {"zeta", 2, {2, -1}, INFINITY},
    {"polygamma", 2, {0, 1.5}, 0.036489973978577117},
    {"polygamma", 2, {1, 2.5}, 0.49035775610023491},
    {"polygamma", 2, {2, 0.5}, -16.828796644234295},
    {"polygamma", 2, {3, -1.5}, 194.59427621918775},
    {"igamma", 2, {0.5, 0.25}, 0.52049987781304641},
    {"igamma", 2, {3, 5}, 0.87534798051691876},
    {"igamma", 2, {20, 10}, 0.0034543419758568824},
    {"igamma", 2, {0.5, 0}, 0},
    {"igamma", 2, {-1, 1}, NAN},
    {"igammac", 2, {0.5, 0.25}, 0.47950012218695359},
    {"igammac", 2, {3, 5}, 0.12465201948308124},
    {"igammac", 2, {20, 30}, 0.021873468441391222},
    {"igammac", 2, {0.5, 0}, 1},
    {"igammac", 2, {2, INFINITY}, 0},
    {"igamma_grad_a", 2, {0.5, 0.25}, -0.79794731678322295},
    {"igamma_grad_a", 2, {3, 5}, -0.113692838687786},
    {"igamma_grad_a", 2, {20, 10}, -0.002608218181247019},
    {"igamma_grad_a", 2, {50, 60}, -0.021284992786349568},
    {"random_gamma_grad", 2, {0.5, 0.25}, 0.90801449176411175},
    {"random_gamma_grad", 2, {3, 5}, 1.3498810685595155},
    {"random_gamma_grad", 2, {20, 10}, 0.69884901629980545},
    {"random_gamma_grad", 2, {50, 60}, 1.0975795857767303},
    {"betainc", 3, {0.5, 0.5, 0.25}, 0.33333333333333298},
    {"betainc", 3, {2, 3, 0.90000000000000002}, 0.99629999999999996},
    {"betainc", 3, {20, 30, 0.40000000000000002}, 0.50770019965774149},
    {"betainc", 3, {0, 1, 0.5}, 1},
};

static double call(const example *e)
{
    static const struct {
        const char *name;
        double (*one)(double), (*two)(double, double);
        double (*three)(double, double, double);
    } table[] = {
        {"erf_inv", jx_sf_erf_inv, NULL, NULL},
        {"lgamma", jx_sf_lgamma, NULL, NULL},
        {"digamma", jx_sf_digamma, NULL, NULL},
        {"i0e", jx_sf_bessel_i0e, NULL, NULL},
        {"i1e", jx_sf_bessel_i1e, NULL, NULL},
        {"zeta", NULL, jx_sf_zeta, NULL},
        {"polygamma", NULL, jx_sf_polygamma, NULL},
        {"igamma", NULL, jx_sf_igamma, NULL},
        {"igammac", NULL, jx_sf_igammac, NULL},
        {"igamma_grad_a", NULL, jx_sf_igamma_grad_a, NULL},
        {"random_gamma_grad", NULL, jx_sf_random_gamma_grad, NULL},
        {"betainc", NULL, NULL, jx_sf_betainc},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(table[i].name, e->name) == 0)
            return e->count == 1 ? table[i].one(e->in[0])
                   : e->count == 2
                       ? table[i].two(e->in[0], e->in[1])
                       : table[i].three(e->in[0], e->in[1], e->in[2]);
    fail_msg("no function %s", e->name);
    return NAN;
}

static void values_equal_those_of_jax(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        const example *e = &examples[i];
        double got = call(e);
        bool same = got == e->out || (isnan(got) && isnan(e->out)) ||
                    fabs(got - e->out) <= 1e-12 * fabs(e->out);
        if (!same)
            fail_msg("%s(%g, %g, %g) = %.17g, expected %.17g", e->name,
                     e->in[0], e->in[1], e->in[2], got, e->out);
    }
}

static void the_two_tails_of_gamma_add_up(void **state)
{
    (void)state;
    for (double a = 0.1; a < 1e9; a *= 1.7)
        for (double ratio = 0.2; ratio < 4; ratio *= 1.11) {
            double p = jx_sf_igamma(a, a * ratio);
            double q = jx_sf_igammac(a, a * ratio);
            assert_true(p >= 0 && p <= 1 && q >= 0 && q <= 1);
            assert_true(fabs(p + q - 1) < 1e-13);
        }
}

/* Central differences, where they are good to six digits. */
static void the_slope_of_igamma_is_its_derivative(void **state)
{
    (void)state;
    for (double a = 0.3; a < 1e7; a *= 2.3)
        for (double z = -2; z <= 2; z += 0.5) {
            double x = a + z * sqrt(a), h = 1e-4 * sqrt(a);
            if (x <= 0)
                continue;
            double slope =
                (jx_sf_igamma(a + h, x) - jx_sf_igamma(a - h, x)) / (2 * h);
            double ours = jx_sf_igamma_grad_a(a, x);
            if (fabs(ours - slope) > 1e-5 * fabs(slope) + 1e-9)
                fail_msg("a %g x %g: %g, differences %g", a, x, ours, slope);
        }
}

static void the_quick_erf_inv_agrees_within_an_ulp(void **state)
{
    float in[4096], out[4096];
    (void)state;

    for (int i = 0; i < 4096; i++)
        in[i] = (float)(-1 + i / 2048.0);
    in[1] = nextafterf(1, 0), in[2] = 2, in[3] = NAN, in[4] = 1e-30f;
    jx_sf_erf_inv_f32(4096, in, out);
    for (int i = 0; i < 4096; i++) {
        float want = (float)jx_sf_erf_inv(in[i]);
        assert_true(out[i] == want || (isnan(out[i]) && isnan(want)) ||
                    out[i] == nextafterf(want, 9) ||
                    out[i] == nextafterf(want, -9));
    }
}

static void nextafter_steps_through_zero_and_to_infinity(void **state)
{
    (void)state;
    assert_int_equal(jx_sf_nextafter16(0, 0x3c00, 0x7c00, 0x7e00), 1);
    assert_int_equal(jx_sf_nextafter16(0, 0xbc00, 0x7c00, 0x7e00), 0x8001);
    assert_int_equal(jx_sf_nextafter16(0x8001, 0x3c00, 0x7c00, 0x7e00), 0x8000);
    assert_int_equal(jx_sf_nextafter16(0x7bff, 0x7c00, 0x7c00, 0x7e00), 0x7c00);
    assert_int_equal(jx_sf_nextafter16(0x7c00, 0, 0x7c00, 0x7e00), 0x7bff);
    assert_int_equal(jx_sf_nextafter16(0x7c01, 0, 0x7c00, 0x7e00), 0x7e00);
    assert_int_equal(jx_sf_nextafter16(0, 0x8000, 0x7c00, 0x7e00), 0x8000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_equal_those_of_jax),
        cmocka_unit_test(the_two_tails_of_gamma_add_up),
        cmocka_unit_test(the_slope_of_igamma_is_its_derivative),
        cmocka_unit_test(the_quick_erf_inv_agrees_within_an_ulp),
        cmocka_unit_test(nextafter_steps_through_zero_and_to_infinity),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
