/* test_number.c - the arithmetic of the checker of certificates, at 8 bits for
 * all numbers that there are (at 128 it is the same code). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define JX_NUM_BITS 8
typedef int8_t num;
typedef uint8_t unum;
#include "checker/number.h"

static void sums_and_products_are_right_or_refused(void **state)
{
    (void)state;
    for (int a = -127; a <= 127; a++)
        for (int b = -127; b <= 127; b++) {
            num result = 0;

            assert_int_equal(num_add((num)a, (num)b, &result),
                             a + b >= -127 && a + b <= 127);
            if (a + b >= -127 && a + b <= 127)
                assert_int_equal(result, a + b);
            assert_int_equal(num_mul((num)a, (num)b, &result),
                             a * b >= -127 && a * b <= 127);
            if (a * b >= -127 && a * b <= 127)
                assert_int_equal(result, a * b);
        }
}

static void quotients_round_down(void **state)
{
    (void)state;
    for (int a = -127; a <= 127; a++)
        for (int b = -127; b <= 127; b++) {
            int q, rest;

            if (!b)
                continue;
            q = num_floordiv((num)a, (num)b);
            rest = a - q * b;
            assert_true(b > 0 ? rest >= 0 && rest < b : rest <= 0 && rest > b);
        }
}

static void comparisons_are_in_the_order_of_their_table(void **state)
{
    (void)state;
    for (int a = -127; a <= 127; a++)
        for (int b = -127; b <= 127; b++) {
            const bool said[] = {a == b, a != b, a >= b, a <= b, a > b, a < b};

            for (int op = 0; op < 6; op++)
                assert_int_equal(num_compare((num)a, op, (num)b), said[op]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_products_are_right_or_refused),
        cmocka_unit_test(quotients_round_down),
        cmocka_unit_test(comparisons_are_in_the_order_of_their_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
