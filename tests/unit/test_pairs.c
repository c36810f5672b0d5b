/* test_pairs.c - arithmetic and functions of pairs of doubles,
 * against mpmath. */
#include "runtime/elementwise.h"
#include "runtime/kernels/elementwise.h"
#include "runtime/kernels/gemm.h"
#include "runtime/kernels/pairs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* What a result may be off by, as a part of it: most lose less. */
static const double allowed = 0x1p-95;

static double off_by(jx_pair got, jx_pair want)
{
    jx_pair off = jx_pair_sub(got, want);

    return fabs(off.hi) / fabs(want.hi);
}

typedef struct one_case {
    const char *name;
    jx_prim_id prim;
    jx_pair x, y, want;
} one_case;

static const one_case cases[] = {
#define CASE(prim, xh, xl, yh, yl, rh, rl)                                     \
    {#prim, JX_PRIM_##prim, {xh, xl}, {yh, yl}, {rh, rl}},
#include "tests/unit/pairs_cases.def"
#undef CASE
};

/* Several at a time and alone, since loops become vectors. */
static void functions_are_right_to_95_bits(void **state)
{
    enum { MANY = 21 };
    int wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        jx_pair x[MANY], y[MANY], got[MANY];
        const void *ins[] = {x, y};
        for (int k = 0; k < MANY; k++) {
            x[k] = cases[i].x;
            y[k] = cases[i].y;
        }
        for (int count = 1; count <= MANY; count += MANY - 1) {
            jx_tile_pair(cases[i].prim)(got, ins, count, NULL);
            double off = off_by(got[count - 1], cases[i].want);
            if (!(off < allowed)) {
                print_error(
                    "%s(%a + %a) = %a + %a, not %a + %a: off by 2^%.1f\n",
                    cases[i].name, x->hi, x->lo, got->hi, got->lo,
                    cases[i].want.hi, cases[i].want.lo, log2(off));
                wrong++;
            }
        }
    }
    assert_int_equal(wrong, 0);
}

static void what_is_not_finite_is_as_in_double(void **state)
{
    static const double points[] = {0.0,       -0.0, 1,     -1,     INFINITY,
                                    -INFINITY, NAN,  1e300, -1e300, 1e-310};
    enum { COUNT = sizeof points / sizeof *points };
    int wrong = 0;

    (void)state;
    for (int prim = 0; prim < JX_NPRIMS; prim++) {
        jx_tile *pairs = jx_tile_pair((jx_prim_id)prim), *alone;
        if (!pairs || prim == JX_PRIM_clamp || prim == JX_PRIM_integer_pow)
            continue;
        alone = jx_tile_of((jx_prim_id)prim, JX_F64);
        assert_non_null(alone);
        for (int i = 0; i < COUNT * COUNT; i++) {
            double x = points[i % COUNT], y = points[i / COUNT], want[2] = {0};
            jx_pair px = {x, 0}, py = {y, 0}, got = {0, 0};
            alone(want, (const void *[]){&x, &y}, 1, NULL);
            pairs(&got, (const void *[]){&px, &py}, 1, NULL);
            if (want[0] - want[0] != 0 &&
                memcmp(&got.hi, want, sizeof *want) != 0 &&
                !(got.hi != got.hi && want[0] != want[0])) {
                print_error("primitive %d of %g, %g: %g and not %g\n", prim, x,
                            y, got.hi, want[0]);
                wrong++;
            }
            if ((want[0] - want[0] == 0 && got.hi - got.hi != 0) ||
                (got.hi - got.hi != 0 && got.lo != 0)) {
                print_error("primitive %d of %g, %g: %g + %g and not %g\n",
                            prim, x, y, got.hi, got.lo, want[0]);
                wrong++;
            }
        }
    }
    assert_int_equal(wrong, 0);
}

/* c += a b, where terms cancel to 2^-60 of the largest. */
static void sums_of_products_keep_what_cancels(void **state)
{
    enum { K = 300, N = 19, M = 3 };
    static jx_pair a[M * K], b[K * N], c[M * N];

    (void)state;
    for (int l = 0; l < K; l++) {
        for (int i = 0; i < M; i++)
            a[i * K + l] = jx_pair_joined(1 + l, (1 + l) * 0x1p-60);
        for (int j = 0; j < N; j++)
            b[l * N + j] = jx_pair_of(l % 2 ? -1.0 / 3 : 1.0 / 3);
    }
    for (int l = 0; l < K; l += 2)
        for (int i = 0; i < M; i++)
            a[i * K + l + 1] = jx_pair_of(1 + l);
    jx_gemm_pairs(M, N, K, (jx_matrix){a, K, false}, (jx_matrix){b, N, false},
                  c, N);
    /* Of each two terms (1 + l) 2^-60 / 3 is left: the sum of
     * 1, 3, ..., 299. */
    jx_pair want = jx_pair_of(1.0 / 3 * 150 * 150 * 0x1p-60);
    for (int i = 0; i < M * N; i++)
        assert_true(off_by(c[i], want) < 0x1p-40);
}

static void integers_of_64_bits_are_exact(void **state)
{
    const int64_t numbers[] = {INT64_MAX, INT64_MIN, -1, 0,
                               (int64_t)1 << 62 | 12345};

    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        jx_pair x;
        jx_convert(JX_I64, JX_F64X2, &numbers[i], &x, 1);
        assert_true((__int128)x.hi + (__int128)x.lo == numbers[i]);
    }
    jx_pair below = jx_pair_joined(3, -0x1p-70);
    int32_t whole;
    jx_convert(JX_F64X2, JX_I32, &below, &whole, 1);
    assert_int_equal(whole, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_right_to_95_bits),
        cmocka_unit_test(what_is_not_finite_is_as_in_double),
        cmocka_unit_test(sums_of_products_keep_what_cancels),
        cmocka_unit_test(integers_of_64_bits_are_exact),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
