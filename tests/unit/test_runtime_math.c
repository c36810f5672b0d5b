/* test_runtime_math.c - how accurate the elementwise functions are. */
#include "runtime/elementwise.h"
#include "runtime/kernels/special.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CHUNK = 4096 };

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

/* How far off y is, in units in the last place of the true value. */
static double units_off(float y, double want)
{
    int e;

    if (want != want)
        return y != y ? 0 : INFINITY;
    if ((double)(float)want == (double)y)
        return 0;
    if (isinf(want) || isinf(y))
        return fabs(want) < 3.4028236e38 || y != want ? INFINITY : 0;
    frexp(want, &e);
    return fabs((double)y - want) / ldexp(1, e - 24 < -149 ? -149 : e - 24);
}

/* One of 4,099 (a prime) of all floats, so that every binade is met. */
static double worst(jx_prim_id prim, double (*want)(double), float *at)
{
    static float x[CHUNK], y[CHUNK];
    jx_tile *tile = jx_tile_of(prim, JX_F32);
    double most = 0;
    uint64_t bits = 0;

    *at = 0;
    while (bits < (uint64_t)1 << 32) {
        const void *ins[] = {x};
        for (int i = 0; i < CHUNK; i++, bits += 4099) {
            uint32_t b = (uint32_t)bits;
            memcpy(&x[i], &b, sizeof b);
        }
        tile(y, ins, CHUNK, NULL);
        for (int i = 0; i < CHUNK; i++) {
            double off = units_off(y[i], want((double)x[i]));
            if (off > most) {
                most = off;
                *at = x[i];
            }
        }
    }
    return most;
}

static void f32_functions_keep_their_bounds(void **state)
{
    static const struct {
        const char *name;
        jx_prim_id prim;
        double (*want)(double);
        double bound;
    } rows[] = {
        {"exp", JX_PRIM_exp, exp, 1.5},
        {"log", JX_PRIM_log, log, 1.5},
        {"tanh", JX_PRIM_tanh, tanh, 2},
        {"sin", JX_PRIM_sin, sin, 0.51},
        {"cos", JX_PRIM_cos, cos, 0.51},
        {"erf", JX_PRIM_erf, erf, 0.55},
        {"log1p", JX_PRIM_log1p, log1p, 0.51},
        {"expm1", JX_PRIM_expm1, expm1, 0.51},
        {"logistic", JX_PRIM_logistic, logistic, 2.5},
        {"tan", JX_PRIM_tan, tan, 0.51},
        {"cbrt", JX_PRIM_cbrt, cbrt, 0.51},
    };
    float at;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double off = worst(rows[i].prim, rows[i].want, &at);
        if (off > rows[i].bound)
            fail_msg("%s(%a) is off by %.3g units", rows[i].name, (double)at,
                     off);
    }
}

/* Whether y is as good as a float64 result that rounds otherwise. */
static bool is_near(double y, double want)
{
    if (want != want || isinf(want) || want == 0)
        return (y != y && want != want) ||
               (y == want && !signbit(y) == !signbit(want));
    return fabs(y - want) <= 0x1p-49 * fabs(want) + 0x1p-1071;
}

static void brisk_functions_are_those_of_f64(void **state)
{
    static const jx_prim_id prims[] = {
        JX_PRIM_exp,   JX_PRIM_expm1, JX_PRIM_log,  JX_PRIM_log1p,
        JX_PRIM_tanh,  JX_PRIM_tan,   JX_PRIM_asin, JX_PRIM_acos,
        JX_PRIM_atan,  JX_PRIM_sinh,  JX_PRIM_cosh, JX_PRIM_asinh,
        JX_PRIM_acosh, JX_PRIM_atanh, JX_PRIM_cbrt, JX_PRIM_erf,
        JX_PRIM_erfc,  JX_PRIM_sin,   JX_PRIM_cos,  JX_PRIM_logistic,
    };
    static double x[CHUNK], y[CHUNK], want[CHUNK];

    (void)state;
    for (size_t p = 0; p < sizeof prims / sizeof *prims; p++) {
        jx_tile *tile = jx_tile_of(prims[p], JX_F64),
                *brisk = jx_tile_brisk(tile);
        for (uint64_t bits = 0; bits < (uint64_t)1 << 32;) {
            const void *ins[] = {x};
            for (int i = 0; i < CHUNK; i++, bits += 16381) {
                uint32_t b = (uint32_t)bits;
                float f;
                memcpy(&f, &b, sizeof f);
                x[i] = i == 0   ? -0.0
                       : i == 1 ? (double)INFINITY
                       : i == 2 ? 709.7
                                : (double)f;
            }
            tile(want, ins, CHUNK, NULL);
            brisk(y, ins, CHUNK, NULL);
            for (int i = 0; i < CHUNK; i++)
                if (!is_near(y[i], want[i]))
                    fail_msg("primitive %d of %a: %a, not %a", (int)prims[p],
                             x[i], y[i], want[i]);
        }
    }
}

static double trigamma(double x)
{
    return jx_sf_polygamma(1, x);
}

static void functions_in_vectors_have_the_same_bits(void **state)
{
    static const struct {
        jx_prim_id prim;
        double (*want)(double);
    } rows[] = {{JX_PRIM_bessel_i0e, jx_sf_bessel_i0e},
                {JX_PRIM_bessel_i1e, jx_sf_bessel_i1e},
                {JX_PRIM_digamma, jx_sf_digamma},
                {JX_PRIM_polygamma, trigamma}};
    enum { FEW = 64, ROWS = sizeof rows / sizeof *rows };

    (void)state;
    /* Far from each other, or beside each other here and there. */
    for (size_t r = 0; r < 2 * ROWS; r++)
        for (uint64_t bits = 0; bits < (uint64_t)1 << 32;
             bits += r / ROWS * 16381 * FEW) {
            double x[FEW], y[FEW], ones[FEW];
            bool second = rows[r % ROWS].prim == JX_PRIM_polygamma;
            const void *ins[] = {second ? ones : x, x};
            for (int i = 0; i < FEW; i++, bits += r / ROWS ? 1 : 16381) {
                uint32_t b = (uint32_t)bits;
                float f;
                memcpy(&f, &b, sizeof f);
                x[i] = (double)f;
                ones[i] = 1;
            }
            jx_tile_of(rows[r % ROWS].prim, JX_F64)(y, ins, FEW, NULL);
            for (int i = 0; i < FEW; i++) {
                double want = rows[r % ROWS].want(x[i]);
                if (memcmp(&y[i], &want, sizeof want) && y[i] == y[i])
                    fail_msg("function %d of %a: %a, not %a", (int)r % ROWS,
                             x[i], y[i], want);
            }
        }
}

static void functions_of_most_floats_are_what_f64_says(void **state)
{
    static const struct {
        jx_prim_id prim;
        double (*want)(double);
    } rows[] = {{JX_PRIM_asin, asin},   {JX_PRIM_acos, acos},
                {JX_PRIM_atan, atan},   {JX_PRIM_asinh, asinh},
                {JX_PRIM_acosh, acosh}, {JX_PRIM_atanh, atanh},
                {JX_PRIM_erfc, erfc}};
    enum { FEW = 64 };

    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (uint64_t bits = 0; bits < (uint64_t)1 << 32; bits += 16381) {
            float x[FEW], y[FEW];
            const void *ins[] = {x};
            for (int i = 0; i < FEW; i++, bits++) {
                uint32_t b = (uint32_t)bits;
                memcpy(&x[i], &b, sizeof b);
            }
            jx_tile_of(rows[r].prim, JX_F32)(y, ins, FEW, NULL);
            for (int i = 0; i < FEW; i++) {
                float want = (float)rows[r].want((double)x[i]);
                if (memcmp(&y[i], &want, sizeof want) &&
                    (y[i] == y[i] || want == want))
                    fail_msg("function %d of %a: %a, not %a", (int)r,
                             (double)x[i], (double)y[i], (double)want);
            }
        }
}

static void a_product_in_a_sum_is_rounded_twice(void **state)
{
    enum { FEW = 64 };
    double x[FEW], y[FEW], z[FEW], product[FEW], want[FEW], got[FEW];
    float fx[FEW], fy[FEW], fz[FEW], fproduct[FEW], fwant[FEW], fgot[FEW];
    const void *ins[] = {x, y, z}, *then[] = {product, z};
    const void *fins[] = {fx, fy, fz}, *fthen[] = {fproduct, fz};
    int once = 0;

    (void)state;
    for (int i = 0; i < FEW; i++) {
        x[i] = i == 0   ? (double)NAN
               : i == 1 ? (double)INFINITY
                        : 1 + i * 0x1.3p-20;
        y[i] = i == 2 ? 0 : 1 - i * 0x1.7p-30;
        z[i] = i == 3 ? -(double)INFINITY : -1;
        fx[i] = (float)x[i];
        fy[i] = (float)y[i] - (float)i * 0x1.3p-12f;
        fz[i] = (float)z[i];
    }
    jx_tile_of(JX_PRIM_mul, JX_F64)(product, ins, FEW, NULL);
    jx_tile_of(JX_PRIM_add, JX_F64)(want, then, FEW, NULL);
    jx_tile_mul_add(JX_F64)(got, ins, FEW, NULL);
    assert_memory_equal(got, want, sizeof want);
    jx_tile_of(JX_PRIM_mul, JX_F32)(fproduct, fins, FEW, NULL);
    jx_tile_of(JX_PRIM_add, JX_F32)(fwant, fthen, FEW, NULL);
    jx_tile_mul_add(JX_F32)(fgot, fins, FEW, NULL);
    assert_memory_equal(fgot, fwant, sizeof fwant);
    for (int i = 4; i < FEW; i++)
        once += fma(x[i], y[i], z[i]) != want[i] &&
                fmaf(fx[i], fy[i], fz[i]) != fwant[i];
    assert_true(once > FEW / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(f32_functions_keep_their_bounds),
        cmocka_unit_test(brisk_functions_are_those_of_f64),
        cmocka_unit_test(functions_in_vectors_have_the_same_bits),
        cmocka_unit_test(functions_of_most_floats_are_what_f64_says),
        cmocka_unit_test(a_product_in_a_sum_is_rounded_twice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
