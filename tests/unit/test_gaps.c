/* test_gaps.c - buffers lie where the best fit among all gaps is. */
#include "runtime/gaps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BUFFERS = 3000, MOST = 200000 };

typedef struct buffer {
    int64_t offset, bytes;
    int number;
} buffer;

/* What is in use by its offset, as it would be without any tree. */
typedef struct plain {
    buffer at[BUFFERS];
    int count;
} plain;

static int64_t plain_end(const plain *p)
{
    int last = p->count - 1;

    return last < 0 ? 0 : p->at[last].offset + p->at[last].bytes;
}

static int64_t plain_take(plain *p, int64_t bytes)
{
    int64_t end = 0, best = -1, narrowest = 0;
    int at = p->count;

    for (int i = 0; i < p->count; i++) {
        int64_t gap = p->at[i].offset - end;
        if (gap >= bytes && (best < 0 || gap < narrowest)) {
            best = end;
            narrowest = gap;
            at = i;
        }
        end = p->at[i].offset + p->at[i].bytes;
    }
    memmove(&p->at[at + 1], &p->at[at],
            (size_t)(p->count - at) * sizeof *p->at);
    p->at[at] = (buffer){best < 0 ? end : best, bytes, 0};
    p->count++;
    return p->at[at].offset;
}

static buffer plain_give(plain *p, int which)
{
    buffer gone = p->at[which];

    p->count--;
    memmove(&p->at[which], &p->at[which + 1],
            (size_t)(p->count - which) * sizeof *p->at);
    return gone;
}

static void each_lies_in_the_smallest_gap(void **state)
{
    jx_arena *arena = jx_arena_new(NULL);
    plain *p = calloc(1, sizeof *p);
    uint32_t random = 1;
    jx_gaps gaps;

    (void)state;
    assert_non_null(p);
    assert_true(jx_gaps_open(arena, BUFFERS, &gaps));
    for (int step = 0; step < 40000; step++) {
        random = random * 1664525 + 1013904223;
        /* Now more, now fewer are in use; sizes are few or many. */
        bool takes = (random >> 8) % 100 < (step / 4000 % 2 ? 40U : 60U);
        if ((takes && p->count < BUFFERS) || !p->count) {
            int64_t bytes =
                64 * (1 + (random >> 16) % (step / 1000 % 2 ? 4 : 1000));
            int64_t offset, expected = plain_take(p, bytes);
            int number = jx_gaps_take(&gaps, bytes, &offset);
            assert_int_equal(offset, expected);
            for (int i = 0; i < p->count; i++)
                if (p->at[i].offset == offset)
                    p->at[i].number = number;
        } else {
            jx_gaps_give(
                &gaps, plain_give(p, (int)((random >> 16) % (uint32_t)p->count))
                           .number);
        }
        assert_int_equal(jx_gaps_end(&gaps), plain_end(p));
    }
    while (p->count)
        jx_gaps_give(&gaps, plain_give(p, p->count / 2).number);
    assert_int_equal(jx_gaps_end(&gaps), 0);
    free(p);
    jx_arena_free(arena);
}

/* What a derivative keeps: all at once, and then the one after the other; with
 * a look at each of the others it would be 10^10 steps. */
static void many_at_once_take_no_time(void **state)
{
    jx_arena *arena = jx_arena_new(NULL);
    int *numbers = calloc(MOST, sizeof *numbers);
    int64_t offset;
    jx_gaps gaps;

    (void)state;
    assert_non_null(numbers);
    assert_true(jx_gaps_open(arena, MOST, &gaps));
    for (int i = 0; i < MOST; i++) {
        numbers[i] = jx_gaps_take(&gaps, 64 + i % 7 * 64, &offset);
        if (i % 3 == 2) { /* a gap that nothing fits into but its like */
            jx_gaps_give(&gaps, numbers[i - 1]);
            numbers[i - 1] = 0;
        }
    }
    for (int i = MOST - 1; i >= 0; i--)
        if (numbers[i])
            jx_gaps_give(&gaps, numbers[i]);
    assert_int_equal(jx_gaps_end(&gaps), 0);
    free(numbers);
    jx_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_lies_in_the_smallest_gap),
        cmocka_unit_test(many_at_once_take_no_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
