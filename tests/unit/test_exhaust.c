/* test_exhaust.c - results counted against references: units, ranges,
 * what is unsure. */
#include "runtime/gradients/exhaust_count.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static jx_float_format format_of(jx_dtype dtype)
{
    jx_float_format format;

    assert_true(jx_float_format_of(dtype, &format));
    return format;
}

static void units_are_those_of_the_format(void **state)
{
    (void)state;

    jx_float_format f32 = format_of(JX_F32), f16 = format_of(JX_F16),
                    bf16 = format_of(JX_BF16);
    assert_true(jx_ulp(&f32, 1) == 0x1p-23 && jx_ulp(&f32, -1.5) == 0x1p-23);
    assert_true(jx_ulp(&f32, 2) == 0x1p-22 &&
                jx_ulp(&f32, nextafter(2, 0)) == 0x1p-23);
    assert_true(jx_ulp(&f32, 0) == 0x1p-149 &&
                jx_ulp(&f32, 0x1p-140) == 0x1p-149);
    assert_true(jx_ulp(&f32, 1e300) == 0x1p104);
    assert_true(jx_ulp(&f16, 1) == 0x1p-10 && jx_ulp(&f16, 0) == 0x1p-24);
    assert_true(jx_ulp(&bf16, 1) == 0x1p-7 && jx_ulp(&bf16, 0) == 0x1p-133);
    assert_true(f32.beyond == 0x1.ffffffp127 && f16.beyond == 65520);
    assert_false(jx_float_format_of(JX_F64, &f32));
}

enum { MARKED = 9 };

static void what_is_off_by_more_is_marked(void **state)
{
    (void)state;

    jx_float_format f = format_of(JX_F32);
    const double inf = (double)INFINITY, nan = (double)NAN;
    const double got[MARKED] = {1, 1, 0, 0x1p-149, 8, nan, inf, inf, nan};
    const double want[MARKED] = {1, 1 + 0x1p-24, 0,    0,  8 + 0x1p-18,
                                 1, 1,           1e39, nan};
    const double defined[MARKED] = {0};
    const unsigned char none[MARKED] = {0},
                        half[MARKED] = {0, 0, 0, 0, 1, 1, 1, 0, 0};
    const unsigned char less[MARKED] = {0, 1, 0, 1, 1, 1, 1, 0, 1};
    unsigned char mark[MARKED] = {0};

    assert_true(
        jx_exhaust_mark(&f, got, want, want, none, 0.5, 1, mark, MARKED));
    assert_memory_equal(mark, half, MARKED);
    assert_true(
        jx_exhaust_mark(&f, got, want, defined, none, 0.25, 0.5, mark, MARKED));
    assert_memory_equal(mark, less, MARKED);
    assert_false(jx_exhaust_mark(&f, got, want, want, none, 0.5, 1, mark, 4));
}

static void what_is_unsure_is_counted_where_it_looks_well(void **state)
{
    (void)state;

    jx_float_format f = format_of(JX_F32);
    const double want[] = {1, 1, 1, 1, (double)INFINITY};
    const double slack[] = {0x1p-26, 0x1p-25, 0x1p-25, 0x1p-25, 0x1p-25};
    const unsigned char marked[] = {0, 0, 1, 0, 0}, nan_in[] = {0, 0, 0, 1, 0};

    assert_int_equal(jx_exhaust_unsure(&f, want, slack, marked, nan_in, 5), 1);
}

static void a_rule_that_is_wrong_is_marked(void **state)
{
    (void)state;

    jx_float_format f = format_of(JX_F32);
    const double want[] = {1, 1, 1, 1}, none[] = {0, 0, 0, 0},
                 slack[] = {0, 0, 0x1p-20, 0};
    const double by_rule[] = {1, 1 + 0x1p-16, 1 + 0x1p-16, (double)NAN};
    const unsigned char nan_in[4] = {0};
    unsigned char mark[4] = {0};

    assert_true(
        jx_exhaust_mark_wrong(&f, want, slack, by_rule, none, nan_in, mark, 4));
    assert_memory_equal(mark, ((const unsigned char[]){0, 1, 0, 0}), 4);
    assert_false(
        jx_exhaust_mark_wrong(&f, want, slack, want, none, nan_in, mark, 4));
}

static void a_number_is_tallied_as_an_item_is_counted(void **state)
{
    (void)state;

    jx_float_format f = format_of(JX_F32);
    const double got[] = {1, 1, 1, 1, 0x1p-140, 0, 2};
    const double want[] = {1 + 0x1p-20, 1 + 0x1p-22, 1, 1 + 0x1p-23,
                           0x1p-139,    0x1p-149,    1};
    const double slack[] = {0, 0x1p-30, 0x1p-25, 0x1p-30, 0, 0, 0};
    jx_exhaust_column tallied = {0}, counted = {0};

    for (int i = 0; i < 7; i++) {
        const jx_exhaust_item item = {.index = i,
                                      .step = 1,
                                      .times = 1,
                                      .got = got[i],
                                      .want = want[i],
                                      .slack = slack[i],
                                      .by_rule = (double)NAN,
                                      .finite = true};
        if (!jx_exhaust_tally(&tallied, &f, got[i], want[i], slack[i]))
            jx_exhaust_count(&tallied, &f, &item);
        jx_exhaust_count(&counted, &f, &item);
    }
    assert_memory_equal(&tallied, &counted, sizeof counted);
    assert_true(tallied.off == 5 && tallied.normal.off == 0x1p23);
    assert_int_equal(tallied.unsure, 1);
}

static jx_exhaust_item item_at(int64_t index, double got, double want)
{
    return (jx_exhaust_item){.index = index,
                             .step = 1,
                             .times = 1,
                             .x = {(uint32_t)index, 0},
                             .last = {(uint32_t)index, 0},
                             .got = got,
                             .want = want,
                             .by_rule = (double)NAN};
}

static void many_numbers_are_tallied_as_each_is(void **state)
{
    (void)state;

    enum { MANY = 200 };
    jx_float_format f = format_of(JX_F32);
    double got[MANY], want[MANY], value[MANY], slack[MANY], off[MANY];
    unsigned char which[MANY];
    jx_exhaust_column each = {0}, many = {0};
    jx_exhaust_tallied tallied;
    jx_exhaust_nearness near = {0, (double)INFINITY, 1000};

    for (int i = 0; i < MANY; i++) {
        want[i] = ldexp(1 + i / 256.0, i % 7 * 30 - 140) * (i % 2 ? -1 : 1);
        slack[i] = i % 5 ? 0 : 0.2 * jx_ulp(&f, want[i]);
        got[i] = want[i] + ldexp(1, i % 13 - 1) * 1.25 * jx_ulp(&f, want[i]);
        which[i] = i % 3 != 0;
        value[i] = i == 5 ? (double)NAN : 0;
    }
    /* 5 is undefined */
    got[1] = got[4] = got[5] = want[4] = want[5] = (double)NAN;
    want[2] = 1e39;
    want[7] = -1e39;
    got[7] = -(double)INFINITY; /* right */
    jx_exhaust_keep_plain(&f, got, want, value, &near, which, MANY);
    jx_exhaust_tally_many(&many, &f, got, want, slack, which, off, MANY,
                          &tallied);
    jx_exhaust_add_tallied(&many, &tallied);
    for (int i = 0; i < MANY; i++) {
        bool plain = i % 3 && i > 7 &&
                     fabs(got[i] - want[i]) <= 1000 * jx_ulp(&f, want[i]);
        jx_exhaust_item item = item_at(i, got[i], want[i]);
        item.slack = slack[i];
        assert_true(which[i] == (plain || i == 5 || i == 7));
        if (which[i])
            jx_exhaust_count(&each, &f, &item);
        if (i == tallied.worst[0] || i == tallied.worst[1])
            jx_exhaust_keep_worst(&many, &f, &item);
    }
    assert_true(each.off > 50 && each.unsure > 10 && each.bars[9] > 0 &&
                each.undefined == 1);
    assert_true(each.normal.there && each.subnormal.there);
    assert_memory_equal(&each, &many, sizeof each);
    jx_exhaust_tally_many(&many, &f, got, want, slack, which, off, MANY,
                          &tallied);
    assert_true(tallied.worst[0] == -1 && tallied.worst[1] == -1);
}

static void bits_are_numbers(void **state)
{
    (void)state;

    assert_true(jx_exhaust_number(JX_F32, 0x3f800000) == 1);
    assert_true(jx_exhaust_number(JX_BF16, 0xbf80) == -1);
    assert_true(jx_exhaust_number(JX_F16, 0x3c00) == 1);
    assert_true(jx_exhaust_number(JX_F16, 0x0001) == 0x1p-24);
    assert_true(jx_exhaust_number(JX_F16, 0x7bff) == 65504);
    assert_true(isinf(jx_exhaust_number(JX_F16, 0xfc00)));
    assert_true(isnan(jx_exhaust_number(JX_F16, 0x7e00)));
}

static void
a_result_is_never_accused_of_what_the_reference_may_be_off(void **state)
{
    (void)state;

    jx_float_format f = format_of(JX_F32);
    jx_exhaust_column column = {0};
    jx_exhaust_item item = item_at(1, 0, 0x1p-20);

    item.slack = 0x1p-20;
    jx_exhaust_count(&column, &f, &item);
    assert_int_equal(column.unsure, 1);
    assert_int_equal(column.off, 0);
    assert_true(column.normal.off == 0);
    item.slack = 0;
    jx_exhaust_count(&column, &f, &item);
    assert_int_equal(column.unsure, 1);
    assert_int_equal(column.off, 1);
    assert_true(column.normal.off == 0x1p23);
}

static void what_is_missing_has_a_kind(void **state)
{
    (void)state;

    jx_float_format f = format_of(JX_F16);
    jx_exhaust_column c = {0};
    const double nan = (double)NAN, infinity = (double)INFINITY;
    const jx_exhaust_item items[] = {
        item_at(1, nan, 1),          item_at(2, infinity, 1),
        item_at(3, infinity, 65519), item_at(4, nan, 1e9),
        item_at(5, 1, nan),          item_at(6, nan, nan),
        item_at(7, 1, infinity),     item_at(8, infinity, 1e9),
        item_at(9, -infinity, 1e9),
    };

    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        jx_exhaust_count(&c, &f, &items[i]);
    assert_int_equal(c.not_finite.count, 3); /* 1, 2, 3 */
    assert_int_equal(c.not_finite.kept, 1);
    assert_int_equal(c.not_finite.at[0].to, 3);
    assert_int_equal(c.nan.count, 2); /* 1, 4 */
    assert_int_equal(c.nan.kept, 2);
    assert_int_equal(c.beyond.count, 3); /* 5, 7, 9 */
    assert_int_equal(c.undefined, 1);
}

static void inputs_in_a_row_count_as_so_many(void **state)
{
    (void)state;

    jx_float_format f = format_of(JX_F32);
    jx_exhaust_column row = {0}, each = {0};
    const double got[] = {(double)NAN, (double)INFINITY, 1 + 0x1p-20};

    for (int k = 0; k < 3; k++) {
        jx_exhaust_item item = item_at(100 * k, got[k], 1);
        item.times = 50;
        item.last[0] += 49;
        jx_exhaust_count(&row, &f, &item);
        for (int i = 0; i < 50; i++) {
            jx_exhaust_item one = item_at(100 * k + i, got[k], 1);
            jx_exhaust_column more = {0};
            jx_exhaust_count(&more, &f, &one);
            jx_exhaust_join(&each, &more, 1);
        }
    }
    assert_int_equal(row.off, 50);
    assert_int_equal(row.nan.count, 50);
    assert_int_equal(row.not_finite.count, 100);
    assert_int_equal(row.not_finite.kept, 2);
    assert_memory_equal(&row, &each, sizeof row);
}

static void ranges_of_parts_join_where_they_meet(void **state)
{
    (void)state;

    jx_float_format f = format_of(JX_F32);
    jx_exhaust_column all = {0}, parts[4] = {{.off = 0}};

    for (int p = 0; p < 4; p++)
        for (int64_t i = 10 * p; i < 10 * p + (p == 2 ? 5 : 10); i++) {
            jx_exhaust_item item = item_at(i, (double)NAN, 1);
            jx_exhaust_count(&parts[p], &f, &item);
        }
    for (int p = 0; p < 4; p++)
        jx_exhaust_join(&all, &parts[p], 1);
    assert_int_equal(all.nan.count, 35);
    assert_int_equal(all.nan.kept, 2);
    assert_int_equal(all.nan.at[0].to, 24);
    assert_int_equal(all.nan.at[0].count, 25);
    assert_int_equal(all.nan.at[1].from, 30);
}

static void a_kink_is_no_error_and_a_wrong_rule_is(void **state)
{
    (void)state;

    jx_float_format f = format_of(JX_F32);
    jx_exhaust_column c = {0};
    jx_exhaust_item item = item_at(1, 0, 0.5);

    item.is_kink = true;
    jx_exhaust_count(&c, &f, &item);
    assert_int_equal(c.kinks, 1);
    assert_int_equal(c.off, 0);
    item.is_kink = false;
    item.by_rule = 0;
    jx_exhaust_count(&c, &f, &item);
    assert_int_equal(c.wrong, 1);
    item.by_rule = 0.5;
    jx_exhaust_count(&c, &f, &item);
    item.by_rule = 0;
    item.rule_slack = 1; /* its rounding explains it */
    jx_exhaust_count(&c, &f, &item);
    assert_int_equal(c.wrong, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_are_those_of_the_format),
        cmocka_unit_test(what_is_off_by_more_is_marked),
        cmocka_unit_test(what_is_unsure_is_counted_where_it_looks_well),
        cmocka_unit_test(a_rule_that_is_wrong_is_marked),
        cmocka_unit_test(a_number_is_tallied_as_an_item_is_counted),
        cmocka_unit_test(many_numbers_are_tallied_as_each_is),
        cmocka_unit_test(bits_are_numbers),
        cmocka_unit_test(
            a_result_is_never_accused_of_what_the_reference_may_be_off),
        cmocka_unit_test(what_is_missing_has_a_kind),
        cmocka_unit_test(inputs_in_a_row_count_as_so_many),
        cmocka_unit_test(ranges_of_parts_join_where_they_meet),
        cmocka_unit_test(a_kink_is_no_error_and_a_wrong_rule_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
