/* pool.h - a second thread for large operations.
 *
 * The caller always works; the helper takes chunks when it is awake in time,
 * and when nobody else has it: several runs may share one.  What is computed
 * never depends on who does it: chunks are fixed by sizes. */
#ifndef JX_POOL_H
#define JX_POOL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct jx_pool jx_pool;

/* Does chunk `i`; `worker` is 0 or 1, for memory of one's own. */
typedef void jx_chunk(const void *job, int64_t i, int worker);

/* Does things from .. to-1. */
typedef void jx_range(const void *job, int64_t from, int64_t to, int worker);

enum { JX_POOL_WORKERS = 2 };

/* The thread is started by the first job, if there is a second processor.  NULL
 * without memory. */
jx_pool *jx_pool_new(void);
void jx_pool_free(jx_pool *pool);
/* Chunks 0 .. n-1, in any order; returns when all are done.  `pool` may be
 * NULL: then one after the other. */
void jx_pool_run(jx_pool *pool, jx_chunk *chunk, const void *job, int64_t n);
/* Things 0 .. n-1, some at a time. */
void jx_pool_share(jx_pool *pool, jx_range *range, const void *job, int64_t n);

#endif
