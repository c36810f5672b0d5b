/* test_gemm.c - products of few terms add them up from the
 * first to the last. */
#include "runtime/kernels/gemm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 40, APART = MOST + 3 };

static double element(jx_dtype dtype, const void *data, int64_t i)
{
    return dtype == JX_F64 ? ((const double *)data)[i]
                           : (double)((const float *)data)[i];
}

static void put(jx_dtype dtype, void *data, int64_t i, double value)
{
    if (dtype == JX_F64)
        ((double *)data)[i] = value;
    else
        ((float *)data)[i] = (float)value;
}

static double at(jx_dtype dtype, jx_matrix m, int64_t row, int64_t column)
{
    return element(dtype, m.data,
                   m.transposed ? column * m.ld + row : row * m.ld + column);
}

/* Each product and each sum rounded, in order. */
static double in_order(jx_dtype dtype, jx_matrix a, jx_matrix b, int64_t i,
                       int64_t j, int64_t k)
{
    double sum = 0;
    float less = 0;

    for (int64_t l = 0; l < k; l++) {
        double x = at(dtype, a, i, l), y = at(dtype, b, l, j);
        sum += x * y;
        less += (float)x * (float)y;
    }
    return dtype == JX_F64 ? sum : (double)less;
}

static void check(jx_dtype dtype, int64_t m, int64_t n, int64_t k, jx_matrix a,
                  jx_matrix b)
{
    static double room[APART * APART];
    const jx_gemm own = {.dtype = dtype};

    for (int64_t i = 0; i < APART * APART; i++)
        put(dtype, room, i, 77);
    jx_gemm_run(NULL, &own, m, n, k, a, b, false, room, APART);
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++)
            assert_true(element(dtype, room, i * APART + j) ==
                        in_order(dtype, a, b, i, j, k));
        /* what lies beside stays */
        assert_true(element(dtype, room, i * APART + n) == 77);
    }
}

static void terms_are_added_in_order_at_any_width(void **state)
{
    static double a[2][APART * APART], b[2][APART * APART];
    static const jx_dtype dtypes[] = {JX_F32, JX_F64};
    static const int64_t rows[] = {1, 2, 7}, terms[] = {1, 3, 16, 40};

    (void)state;
    srand(5);
    for (int d = 0; d < 2; d++)
        for (int64_t i = 0; i < APART * APART; i++) {
            put(dtypes[d], a[d], i, (rand() % 2001 - 1000) / 7.0);
            put(dtypes[d], b[d], i, (rand() % 2001 - 1000) / 3e5);
        }
    for (int d = 0; d < 2; d++)
        for (int64_t n = 1; n <= MOST; n++)
            for (int way = 0; way < 4; way++)
                for (int r = 0; r < 3; r++)
                    for (int t = 0; t < 4; t++)
                        check(dtypes[d], rows[r], n, terms[t],
                              (jx_matrix){a[d], APART, way & 1},
                              (jx_matrix){b[d], APART, way & 2});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_are_added_in_order_at_any_width),
    };

    return cmocka_run_group_tests_name("gemm", tests, NULL, NULL);
}
