/* test_fold.c - scalars computed by frontend/ir/fold.h, at the edges. */
#include "frontend/ir/fold.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Integers of any width as they lie in memory: the low bytes. */
static bool integers(jx_prim_id id, jx_dtype dtype, int64_t a, int64_t b,
                     jx_dtype out, int64_t *to)
{
    unsigned char x[16] = {0}, y[16] = {0}, z[16];
    jx_scalar ins[] = {{dtype, x}, {dtype, y}};

    memcpy(x, &a, sizeof a);
    memcpy(y, &b, sizeof b);
    bool done = jx_fold(id, 2, ins, out, z);
    memcpy(to, z, sizeof *to);
    return done;
}

static void gives(jx_prim_id id, jx_dtype dtype, int64_t a, int64_t b,
                  int64_t expected)
{
    int64_t got;

    assert_true(integers(id, dtype, a, b, dtype, &got));
    assert_int_equal(got, expected);
}

static void integers_wrap_in_their_own_width(void **state)
{
    (void)state;
    gives(JX_PRIM_add, JX_I8, 127, 1, 0x80);
    gives(JX_PRIM_sub, JX_I8, 0x80, 1, 127);
    gives(JX_PRIM_mul, JX_I8, 0x80, 0xff, 0x80);
    gives(JX_PRIM_div, JX_I8, 0x80, 0xff, 0x80);
    gives(JX_PRIM_rem, JX_I8, 0x80, 0xff, 0);
    gives(JX_PRIM_add, JX_U8, 255, 1, 0);
    gives(JX_PRIM_sub, JX_U8, 0, 1, 255);
    gives(JX_PRIM_add, JX_I4, 7, 1, 8);
    gives(JX_PRIM_add, JX_U4, 15, 1, 0);
    gives(JX_PRIM_add, JX_U64, -1, 1, 0);
    gives(JX_PRIM_max, JX_U64, -1, 1, -1); /* the largest there is */
    gives(JX_PRIM_max, JX_I64, -1, 1, 1);
    gives(JX_PRIM_mul, JX_I64, INT64_MIN, -1, INT64_MIN);
    gives(JX_PRIM_div, JX_I64, INT64_MIN, -1, INT64_MIN);
    gives(JX_PRIM_div, JX_I32, (uint32_t)-7, 2, (uint32_t)-3);
    gives(JX_PRIM_rem, JX_I32, (uint32_t)-7, 2, (uint32_t)-1);
}

static void what_machines_differ_in_is_left(void **state)
{
    int64_t got;

    (void)state;
    assert_false(integers(JX_PRIM_div, JX_I32, 1, 0, JX_I32, &got));
    assert_false(integers(JX_PRIM_rem, JX_U8, 1, 0, JX_U8, &got));
    assert_false(integers(JX_PRIM_pow, JX_I32, 2, 2, JX_I32, &got));
    assert_false(integers(JX_PRIM_add, JX_BF16, 1, 1, JX_BF16, &got));
}

static void comparisons_give_truth(void **state)
{
    int64_t got;

    (void)state;
    assert_true(integers(JX_PRIM_lt, JX_I8, 0xff, 0, JX_BOOL, &got));
    assert_int_equal(got, 1);
    assert_true(integers(JX_PRIM_lt, JX_U8, 0xff, 0, JX_BOOL, &got));
    assert_int_equal(got, 0);
}

static bool singles(jx_prim_id id, float a, float b, float *to)
{
    unsigned char x[16] = {0}, y[16] = {0}, z[16];
    jx_scalar ins[] = {{JX_F32, x}, {JX_F32, y}};

    memcpy(x, &a, sizeof a);
    memcpy(y, &b, sizeof b);
    bool done = jx_fold(id, 2, ins, JX_F32, z);
    memcpy(to, z, sizeof *to);
    return done;
}

static void floats_round_once_and_subnormals_are_left(void **state)
{
    float got;

    (void)state;
    assert_true(singles(JX_PRIM_add, 16777216.0f, 1.0f, &got));
    assert_true(got == 16777216.0f);
    assert_true(singles(JX_PRIM_mul, 1.1f, 1.1f, &got));
    assert_true(got == 1.1f * 1.1f);
    assert_true(singles(JX_PRIM_div, 1.0f, 3.0f, &got));
    assert_true(got == 1.0f / 3.0f);
    assert_false(singles(JX_PRIM_div, 1.0f, 0.0f, &got));
    assert_false(singles(JX_PRIM_mul, FLT_MIN, 0.5f, &got));
    assert_false(singles(JX_PRIM_add, FLT_MIN / 2, 1.0f, &got));
    assert_false(singles(JX_PRIM_mul, FLT_MAX, 2.0f, &got));
    assert_true(singles(JX_PRIM_mul, -0.0f, 1.0f, &got));
    assert_true(1 / (double)got < 0);
}

static void conversions_round_once(void **state)
{
    unsigned char x[16] = {0}, z[16];
    jx_scalar in = {JX_U64, x};
    uint64_t most = UINT64_MAX;
    float single;

    (void)state;
    memcpy(x, &most, sizeof most);
    assert_true(jx_fold(JX_PRIM_convert_element_type, 1, &in, JX_F32, z));
    memcpy(&single, z, sizeof single);
    assert_true(single == 0x1p64f);
    assert_true(jx_fold(JX_PRIM_convert_element_type, 1, &in, JX_I8, z));
    assert_int_equal(z[0], 0xff);
    assert_false(jx_fold(JX_PRIM_clamp, 1, &in, JX_U64, z));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_wrap_in_their_own_width),
        cmocka_unit_test(what_machines_differ_in_is_left),
        cmocka_unit_test(comparisons_give_truth),
        cmocka_unit_test(floats_round_once_and_subnormals_are_left),
        cmocka_unit_test(conversions_round_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
