/* test_gemm.c - products of few terms add them up from the first to the last;
 * what is in a row of a product of few rows is the same as if it were alone. */
#include "runtime/kernels/gemm.h"

#include <math.h>
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
    const jx_gemm own = {.dtype = dtype, .own = true};

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

/* ---- few rows ---- */

enum { FEW_ROWS = 17, FEW_TERMS = 600, FEW_COLUMNS = 60 };

static size_t bytes_of(jx_dtype dtype)
{
    return dtype == JX_F64 ? 8 : 4;
}

/* Whether they are one number: any NaN is, and 0 is not -0. */
static bool same(double x, double y)
{
    return isnan(x) ? isnan(y) : x == y && !signbit(x) == !signbit(y);
}

static void fill(jx_dtype dtype, void *data, int64_t count, bool odd)
{
    for (int64_t i = 0; i < count; i++)
        put(dtype, data, i, (rand() % 2001 - 1000) / 77.0);
    for (int64_t i = 0; odd && i < count; i += 1 + rand() % 997)
        put(dtype, data, i,
            rand() % 3 == 0 ? NAN
            : rand() % 2    ? -INFINITY
                            : -0.0);
}

/* As its terms say with more digits, within what k sums may be off by. */
static void check_sum(jx_dtype dtype, double given, jx_matrix a, jx_matrix b,
                      int64_t i, int64_t j, int64_t k, double before)
{
    long double sum = before, size = fabs(before);

    for (int64_t l = 0; l < k; l++) {
        long double x = at(dtype, a, i, l), y = at(dtype, b, l, j);
        sum += x * y, size += fabsl(x * y);
    }
    if (isnan((double)sum) || isinf((double)sum))
        assert_true(same((double)sum, given));
    else
        assert_true(fabsl(sum - given) <=
                    size * (long double)(k + 1) *
                        (dtype == JX_F64 ? 0x1p-53L : 0x1p-24L));
}

static void check_few(jx_dtype dtype, int64_t m, int64_t n, int64_t k,
                      jx_matrix a, jx_matrix b, bool accumulate)
{
    static double room[FEW_ROWS * (FEW_COLUMNS + 3)], alone[FEW_COLUMNS + 3];
    const int64_t apart = FEW_COLUMNS + 3;
    size_t size = bytes_of(dtype);

    for (int64_t i = 0; i < m * apart; i++)
        put(dtype, room, i, 77);
    jx_gemm_few(dtype, m, n, k, a, b, accumulate, room, apart);
    for (int64_t i = 0; i < m; i++) {
        jx_matrix row = {(const char *)a.data +
                             (size_t)(i * (a.transposed ? 1 : a.ld)) * size,
                         a.ld, a.transposed};
        for (int64_t j = 0; j < apart; j++)
            put(dtype, alone, j, 77);
        jx_gemm_few(dtype, 1, n, k, row, b, accumulate, alone, apart);
        for (int64_t j = 0; j < apart; j++) /* what lies beside stays, too */
            assert_true(same(element(dtype, alone, j),
                             element(dtype, room, i * apart + j)));
        for (int64_t j = 0; j < n; j += 1 + n / 5)
            check_sum(dtype, element(dtype, alone, j), row, b, 0, j, k,
                      accumulate ? 77 : 0);
        assert_true(element(dtype, alone, n) == 77);
    }
    /* A column alone, too: large products are cut along them. */
    jx_matrix last = {(const char *)b.data +
                          (size_t)((n - 1) * (b.transposed ? b.ld : 1)) * size,
                      b.ld, b.transposed};
    for (int64_t i = 0; i < m; i++)
        put(dtype, alone, i, 77);
    jx_gemm_few(dtype, m, 1, k, a, last, accumulate, alone, 1);
    for (int64_t i = 0; i < m; i++)
        assert_true(same(element(dtype, alone, i),
                         element(dtype, room, i * apart + n - 1)));
}

static const jx_matrix near = {NULL, 128, false}, turned = {NULL, 128, true};

/* Half of the time with odd numbers among them, and added to what is there. */
static void check_all_few(bool transposed)
{
    static double a[FEW_TERMS * (FEW_TERMS + 1)],
        b[FEW_TERMS * (FEW_TERMS + 1)];
    static const jx_dtype dtypes[] = {JX_F32, JX_F64};
    static const int64_t terms[] = {1, 7, 8, 17, 256, 257, 599};
    static const int64_t columns[] = {1,  3,  4,  7,  8,  9,  12, 16,
                                      23, 24, 31, 32, 47, 49, 55};
    const int64_t apart = transposed ? FEW_TERMS + 1 : FEW_COLUMNS + 1;

    srand(7);
    for (int round = 0; round < 8; round++) {
        jx_dtype dtype = dtypes[round & 1];
        fill(dtype, a, FEW_TERMS * (FEW_TERMS + 1), round & 4);
        fill(dtype, b, FEW_TERMS * (FEW_TERMS + 1), round & 4);
        for (int64_t m = 1; m < FEW_ROWS; m++)
            for (size_t t = 0; t < sizeof terms / sizeof terms[0]; t++)
                for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++)
                    check_few(
                        dtype, m, columns[c], terms[t],
                        (jx_matrix){a, FEW_TERMS + 1,
                                    !transposed && ((m + (int64_t)c) & 1)},
                        (jx_matrix){b, apart, transposed}, round & 2);
    }
}

static void a_row_is_the_same_among_any_number_of_rows(void **state)
{
    (void)state;
    if (!jx_gemm_is_few(JX_F32, 4, 128, 128, near, near))
        skip(); /* no fused multiply-add */
    check_all_few(false);
}

static void so_it_is_where_b_is_transposed(void **state)
{
    (void)state;
    if (!jx_gemm_is_few(JX_F32, 4, 128, 128, near, turned))
        skip(); /* no AVX-512 */
    check_all_few(true);
}

static void few_rows_are_told_by_shape_alone(void **state)
{
    const jx_matrix apart = {NULL, INT64_MAX, false};

    (void)state;
    for (int64_t m = 0; m < 100; m++) {
        assert_false(jx_gemm_is_few(JX_F32, m, 128, 128, near, apart));
        assert_false(jx_gemm_is_few(JX_F32, m, 128, 128, turned, turned));
        assert_false(jx_gemm_is_few(JX_F32, m, 128, 8, near, turned));
        assert_false(jx_gemm_is_few(JX_C64, m, 128, 128, near, near));
        assert_false(jx_gemm_is_few(JX_F32, m, 1, 128, near, near));
        bool some = m >= 2 && m <= 32;
        assert_true(jx_gemm_is_few(JX_F64, m, 128, 128, near, near) ==
                    (some && jx_gemm_is_few(JX_F64, 2, 128, 128, near, near)));
        some = m >= 2 && m <= 16;
        assert_true(
            jx_gemm_is_few(JX_F32, m, 128, 128, near, turned) ==
            (some && jx_gemm_is_few(JX_F32, 2, 128, 128, near, turned)));
    }
}

static void so_are_few_terms(void **state)
{
    const jx_matrix columns = {NULL, 1 << 16, true};

    (void)state;
    for (int64_t m = 2; m < 1 << 16; m *= 2)
        for (int64_t k = 1; k <= 32; k++) {
            bool few = m <= 32 || (k <= 16 && m <= 1 << 13);
            assert_true(jx_gemm_is_few(JX_F32, m, 128, k, columns, near) ==
                        (few && jx_gemm_is_few(JX_F32, 2, 128, 1, near, near)));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_is_the_same_among_any_number_of_rows),
        cmocka_unit_test(so_it_is_where_b_is_transposed),
        cmocka_unit_test(few_rows_are_told_by_shape_alone),
        cmocka_unit_test(so_are_few_terms),
        cmocka_unit_test(terms_are_added_in_order_at_any_width),
    };

    return cmocka_run_group_tests_name("gemm", tests, NULL, NULL);
}
