/* pool.c - see pool.h. */
#include "runtime/pool.h"

#include "frontend/base/machine.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

struct jx_pool {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake, idle;
    jx_chunk *chunk;
    const void *job;
    int64_t count;
    atomic_int_least64_t next;
    unsigned asked;    /* jobs so far */
    bool tried, there; /* to start the thread; it is */
    bool taken;        /* somebody has a job for it */
    bool open;         /* the helper may still join the job */
    bool running, quit;
};

static void work(jx_pool *pool, int worker)
{
    for (;;) {
        int64_t i = atomic_fetch_add(&pool->next, 1);
        if (i >= pool->count)
            return;
        pool->chunk(pool->job, i, worker);
    }
}

static void *help(void *argument)
{
    jx_pool *pool = argument;
    unsigned seen = 0;

    pthread_mutex_lock(&pool->lock);
    while (!pool->quit) {
        if (seen == pool->asked || !pool->open) {
            seen = pool->asked;
            pthread_cond_wait(&pool->wake, &pool->lock);
            continue;
        }
        seen = pool->asked;
        pool->running = true;
        pthread_mutex_unlock(&pool->lock);
        work(pool, 1);
        pthread_mutex_lock(&pool->lock);
        pool->running = false;
        pthread_cond_signal(&pool->idle);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* The host's signals are not for this thread. */
static bool start(jx_pool *pool)
{
    sigset_t all, old;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    bool ok = pthread_create(&pool->thread, NULL, help, pool) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return ok;
}

jx_pool *jx_pool_new(void)
{
    jx_pool *pool = calloc(1, sizeof *pool);

    if (!pool)
        return NULL;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->idle, NULL);
    return pool;
}

void jx_pool_free(jx_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->quit = true;
    pthread_cond_signal(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    if (pool->there)
        pthread_join(pool->thread, NULL);
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->wake);
    pthread_cond_destroy(&pool->idle);
    free(pool);
}

/* Whether the helper is there, and the caller's from now on. */
static bool borrow(jx_pool *pool)
{
    bool ok;

    pthread_mutex_lock(&pool->lock);
    if (!pool->tried)
        pool->there = jx_machine_cores() > 1 && start(pool);
    pool->tried = true;
    ok = pool->there && !pool->taken;
    pool->taken |= ok;
    pthread_mutex_unlock(&pool->lock);
    return ok;
}

void jx_pool_run(jx_pool *pool, jx_chunk *chunk, const void *job, int64_t n)
{
    if (!pool || n < 2 || !borrow(pool)) {
        for (int64_t i = 0; i < n; i++)
            chunk(job, i, 0);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->chunk = chunk;
    pool->job = job;
    pool->count = n;
    atomic_store(&pool->next, 0);
    pool->asked++;
    pool->open = true;
    pthread_cond_signal(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    work(pool, 0);
    pthread_mutex_lock(&pool->lock);
    pool->open = false;
    while (pool->running)
        pthread_cond_wait(&pool->idle, &pool->lock);
    pool->taken = false;
    pthread_mutex_unlock(&pool->lock);
}

/* Things in ranges that differ by one at most. */
enum { RANGES = 16 };

typedef struct ranges {
    jx_range *range;
    const void *job;
    int64_t n, count; /* things, ranges */
} ranges;

static void do_range(const void *data, int64_t i, int worker)
{
    const ranges *r = data;
    int64_t each = r->n / r->count, more = r->n % r->count;
    int64_t from = i * each + (i < more ? i : more);

    r->range(r->job, from, from + each + (i < more), worker);
}

void jx_pool_share(jx_pool *pool, jx_range *range, const void *job, int64_t n)
{
    ranges r = {range, job, n, n < RANGES ? n : RANGES};

    if (pool)
        jx_pool_run(pool, do_range, &r, r.count);
    else if (n > 0)
        range(job, 0, n, 0);
}
