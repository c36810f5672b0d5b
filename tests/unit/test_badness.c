/* test_badness.c - what is not finite in arrays of any strides, against a look
 * at each element. */
#include "runtime/badness.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { ROOM = 4096 };

typedef struct array {
    _Alignas(16) char memory[ROOM * sizeof(double)];
    int64_t shape[3], strides[3];
    jx_view view;
} array;

/* A view of memory of ones; strides in elements. */
static void begin(array *a, jx_dtype dtype, int rank, const int64_t *shape,
                  const int64_t *strides)
{
    int64_t size = (int64_t)jx_dtype_of(dtype)->bytes, step = size;

    a->view = (jx_view){a->memory, dtype, rank, a->shape, a->strides, 1, true};
    for (int k = rank - 1; k >= 0; k--) {
        a->shape[k] = shape[k];
        a->strides[k] = strides[k] * size;
        a->view.dense &= shape[k] == 1 || a->strides[k] == step;
        step *= shape[k];
        a->view.count *= shape[k];
    }
    for (int i = 0; i < ROOM; i++)
        if (dtype == JX_F32)
            memcpy(a->memory + (size_t)i * 4, &(float){1}, 4);
        else
            memcpy(a->memory + (size_t)i * 8, &(double){1}, 8);
}

static void put(array *a, int64_t at, double value)
{
    if (a->view.dtype == JX_F32)
        memcpy(a->memory + at * 4, &(float){(float)value}, 4);
    else
        memcpy(a->memory + at * 8, &value, 8);
}

static double at_index(const array *a, const int64_t *index)
{
    const char *at = a->view.data;
    float single;
    double value;

    for (int k = 0; k < a->view.rank; k++)
        at += index[k] * a->strides[k];
    if (a->view.dtype != JX_F32) {
        memcpy(&value, at, sizeof value);
        return value;
    }
    memcpy(&single, at, sizeof single);
    return single;
}

/* Each element by itself, those along axes of stride 0 once. */
static void hold_against_each(const array *a)
{
    int64_t index[3] = {0}, count[JX_NO_NUMBER + 1] = {0},
            first[JX_NO_NUMBER + 1][3] = {{0}};
    jx_badness worst = JX_FINITE;
    jx_look look;
    int axis = a->view.count ? 0 : -1;

    while (axis >= 0) {
        double value = at_index(a, index);
        jx_badness is = isnan(value)   ? JX_NO_NUMBER
                        : isinf(value) ? JX_INFINITE
                                       : JX_FINITE;
        worst = is > worst ? is : worst;
        if (!count[is]++)
            memcpy(first[is], index, sizeof index);
        for (axis = a->view.rank - 1;
             axis >= 0 && ++index[axis] >= jx_steps_along(&a->view, axis);
             axis--)
            index[axis] = 0;
    }
    assert_int_equal(jx_worst_of(&a->view), worst);
    assert_int_equal(jx_look_at(&look, &a->view), worst);
    for (jx_badness is = JX_INFINITE; is <= JX_NO_NUMBER; is++) {
        assert_int_equal(look.found[is].count, count[is]);
        for (int k = 0; count[is] && k < a->view.rank; k++)
            assert_int_equal(look.found[is].first[k], first[is][k]);
    }
}

static const struct {
    int rank;
    int64_t shape[3], strides[3];
    bool fills;
    int64_t count; /* of elements in memory, if it does */
} views[] = {
    {0, {0}, {0}, true, 1},
    {1, {700}, {1}, true, 700},
    {2, {30, 20}, {20, 1}, true, 600},
    {2, {30, 20}, {1, 30}, true, 600},       /* transposed */
    {3, {5, 30, 20}, {0, 1, 30}, true, 600}, /* and repeated */
    {3, {7, 5, 11}, {5, 1, 35}, true, 385},  /* axes in another order */
    {3, {7, 1, 11}, {1, 999, 7}, true, 77},
    {1, {40}, {2}, false, 0}, /* with gaps */
    {2, {30, 20}, {25, 1}, false, 0},
    {2, {3, 3}, {1, 1}, false, 0}, /* one over the other */
    {2, {4, 600}, {600, 1}, true, 2400},
    {2, {2, 0}, {1, 1}, false, 0}, /* empty */
};

enum { VIEWS = sizeof views / sizeof *views };

static void a_view_says_whether_it_fills_its_memory(void **state)
{
    static array a;
    int64_t count;

    (void)state;
    for (int i = 0; i < VIEWS; i++) {
        begin(&a, JX_F64, views[i].rank, views[i].shape, views[i].strides);
        assert_int_equal(jx_view_fills(&a.view, &count), views[i].fills);
        if (views[i].fills)
            assert_int_equal(count, views[i].count);
    }
}

static void elements_are_counted_and_the_first_is_named(void **state)
{
    static const double values[] = {INFINITY, -INFINITY, NAN};
    static array a;
    uint32_t draw = 1;

    (void)state;
    for (int i = 0; i < VIEWS; i++)
        for (int turn = 0; turn < 40; turn++) {
            begin(&a, turn % 2 ? JX_F32 : JX_F64, views[i].rank, views[i].shape,
                  views[i].strides);
            for (int k = 0; k < turn / 2 * turn; k++) {
                draw = draw * 1664525 + 1013904223;
                put(&a, draw >> 20, values[(draw >> 8) % 3]);
            }
            hold_against_each(&a);
        }
}

/* Of many elements not all are looked at together. */
static void what_stands_further_on_counts(void **state)
{
    static const int64_t size = 4096, one = 1, at[] = {0, 2047, 2048, 4095};
    static array a;

    (void)state;
    for (int i = 0; i < 16; i++) {
        begin(&a, i & 8 ? JX_F32 : JX_F64, 1, &size, &one);
        put(&a, at[i % 4], -INFINITY);
        hold_against_each(&a);
        put(&a, at[3 - i / 2 % 4], NAN);
        hold_against_each(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_view_says_whether_it_fills_its_memory),
        cmocka_unit_test(elements_are_counted_and_the_first_is_named),
        cmocka_unit_test(what_stands_further_on_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
