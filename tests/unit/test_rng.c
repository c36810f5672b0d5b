/* test_rng.c - numbers that are drawn. */
#include "runtime/gradients/gradpoints.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MANY = 1021 };

static void several_are_those_that_are_drawn_one_by_one(void **state)
{
    (void)state;
    for (int count = 0; count < MANY; count += 1 + count / 2) {
        jx_rng one = {7}, all = {7}, none = {7};
        double numbers[MANY + 1] = {[MANY] = 77};
        numbers[count] = 77;
        jx_rng_normals(&all, count, numbers);
        assert_true(numbers[count] == 77);
        for (int i = 0; i < count; i++)
            assert_true(numbers[i] == jx_rng_normal(&one));
        jx_rng_skip(&none, JX_DRAWS_OF_NORMAL * count);
        assert_true(all.state == one.state && all.state == none.state);
    }
}

/* As by the C library, but for the last digit. */
static void they_are_normal_numbers(void **state)
{
    jx_rng rng = {1}, same = {1};
    double sum = 0, squares = 0;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        double u = jx_rng_uniform(&same) + 0x1p-54, v = jx_rng_uniform(&same);
        double is = jx_rng_normal(&rng);
        double want = sqrt(-2 * log(u)) * cos(2 * M_PI * v);
        assert_true(u > 0 && u <= 1 && v >= 0 && v < 1);
        assert_true(fabs(is - want) <= 0x1p-50 * fabs(want));
        sum += is;
        squares += is * is;
    }
    assert_true(fabs(sum) < 1000 && fabs(squares - 100000) < 1500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_are_those_that_are_drawn_one_by_one),
        cmocka_unit_test(they_are_normal_numbers),
    };

    return cmocka_run_group_tests_name("rng", tests, NULL, NULL);
}
