/* test_pool.c - a helper thread, and several who want it. */
#include "runtime/pool.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CHUNKS = 64, THREADS = 6, JOBS = 300 };

typedef struct job {
    jx_pool *inner; /* run something else on it from within, or NULL */
    atomic_int done[CHUNKS];
    atomic_int others; /* chunks that the helper did */
} job;

static void do_chunk(const void *data, int64_t i, int worker)
{
    job *j = (job *)(uintptr_t)data;

    atomic_fetch_add(&j->done[i], 1);
    atomic_fetch_add(&j->others, worker);
    if (j->inner) {
        job within = {0};
        jx_pool_run(j->inner, do_chunk, &within, CHUNKS);
        for (int k = 0; k < CHUNKS; k++)
            assert_int_equal(within.done[k], 1);
        assert_int_equal(within.others, 0);
    }
}

static void each_chunk_is_done_once(void **state)
{
    jx_pool *pool = jx_pool_new();

    (void)state;
    for (int n = 0; n < JOBS; n++) {
        job j = {0};
        jx_pool_run(n % 2 ? pool : NULL, do_chunk, &j, CHUNKS);
        for (int k = 0; k < CHUNKS; k++)
            assert_int_equal(j.done[k], 1);
    }
    jx_pool_free(pool);
}

static void who_finds_it_taken_works_alone(void **state)
{
    jx_pool *pool = jx_pool_new();
    job j = {.inner = pool};

    (void)state;
    jx_pool_run(pool, do_chunk, &j, 4);
    for (int k = 0; k < 4; k++)
        assert_int_equal(j.done[k], 1);
    jx_pool_free(pool);
}

static void wait_for_the_other(const void *data, int64_t i, int worker)
{
    job *j = (job *)(uintptr_t)data;

    (void)i;
    atomic_fetch_add(&j->done[worker], 1);
    while (!j->done[0] || !j->done[1])
        sched_yield();
}

/* Each of two chunks waits for the other worker: alone nobody would end. */
static void the_helper_comes_again_once_it_is_free(void **state)
{
    cpu_set_t set;
    jx_pool *pool = jx_pool_new();

    (void)state;
    if (sched_getaffinity(0, sizeof set, &set) || CPU_COUNT(&set) < 2) {
        jx_pool_free(pool);
        skip();
    }
    for (int n = 0; n < 20; n++) {
        job j = {0};
        jx_pool_run(pool, wait_for_the_other, &j, 2);
        assert_true(j.done[0] && j.done[1]);
    }
    jx_pool_free(pool);
}

static void *run_jobs(void *pool)
{
    for (int n = 0; n < JOBS; n++) {
        job j = {0};
        jx_pool_run(pool, do_chunk, &j, CHUNKS);
        for (int k = 0; k < CHUNKS; k++)
            if (j.done[k] != 1)
                return pool;
    }
    return NULL;
}

static void several_share_one(void **state)
{
    jx_pool *pool = jx_pool_new();
    pthread_t threads[THREADS];
    void *failed;

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_jobs, pool), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    jx_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_chunk_is_done_once),
        cmocka_unit_test(who_finds_it_taken_works_alone),
        cmocka_unit_test(the_helper_comes_again_once_it_is_free),
        cmocka_unit_test(several_share_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
