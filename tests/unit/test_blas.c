/* test_blas.c - which of OpenBLAS's kernels are used. */
#include "runtime/blas.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *core(void)
{
    const char *why = "";
    char *(*name)(void) =
        (char *(*)(void))jx_blas_find("openblas_get_corename", &why);

    if (!name) {
        print_message("skipped: %s\n", why);
        skip();
    }
    return name();
}

static void new_processors_get_kernels_of_their_kind(void **state)
{
    (void)state;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        assert_string_not_equal(core(), "Prescott");
#endif
    assert_null(getenv("OPENBLAS_CORETYPE"));
}

static void products_are_right(void **state)
{
    enum { N = 300 };
    const char *why = "";
    jx_gemm_fn *gemm = (jx_gemm_fn *)jx_blas_find("sgemm_", &why);
    const int n = N;
    const float one = 1, zero = 0;
    float *a = calloc(3 * N * N, sizeof *a), *b = a + N * N, *c = b + N * N;

    (void)state;
    assert_non_null(a);
    for (int i = 0; i < N * N; i++) {
        a[i] = (float)(i % 7);
        b[i] = (float)(i % 5);
    }
    if (!gemm) {
        free(a);
        print_message("skipped: %s\n", why);
        skip();
    }
    gemm("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n, 1, 1);
    for (int i = 0; i < N; i += 13)
        for (int k = 0; k < N; k += 17) {
            float sum = 0; /* whole numbers below 2^24: exact in any order */
            for (int j = 0; j < N; j++)
                sum += a[i + j * N] * b[j + k * N];
            assert_true(c[i + k * N] == sum);
        }
    free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_processors_get_kernels_of_their_kind),
        cmocka_unit_test(products_are_right),
    };

    unsetenv("OPENBLAS_CORETYPE"); /* the user's, which would count */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
