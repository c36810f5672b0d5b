/* arena.h - storage that is given back all at once.
 *
 * An arena hands out zeroed memory from large blocks, which it charges to a
 * budget.  When that is spent (or the system has no more) it fails once and
 * for good: every later call returns NULL and jx_arena_failed() is true, so
 * that a reader may check at the end of a step and not after every node.
 * Nothing inside is freed alone.  Not thread-safe. */
#ifndef JX_ARENA_H
#define JX_ARENA_H

#include "frontend/base/budget.h"
#include "frontend/base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct jx_arena jx_arena;

/* A new arena that draws on a budget (NULL: on none), which outlives it; NULL
 * when the system has no memory. */
jx_arena *jx_arena_new(jx_budget *budget);
void jx_arena_free(jx_arena *arena);

/* `size` zeroed bytes aligned for any type, or NULL (see above).  A size of
 * zero gives a valid pointer. */
void *jx_arena_alloc(jx_arena *arena, size_t size);
/* The same for `count` elements of `size` bytes; overflow is a failure. */
void *jx_arena_array(jx_arena *arena, size_t count, size_t size);
/* A copy of `size` bytes, or of a string's first `length` bytes with a NUL. */
void *jx_arena_copy(jx_arena *arena, const void *from, size_t size);
char *jx_arena_string(jx_arena *arena, const char *text, size_t length);
char *jx_arena_printf(jx_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A copy of a buffer's text; the buffer is freed, with memory or without.  NULL
 * for one that is not whole. */
char *jx_arena_take(jx_arena *arena, jx_buffer *text);

/* Takes back all that was handed out; its blocks stay, charged, for
 * what comes next. */
void jx_arena_clear(jx_arena *arena);

bool jx_arena_failed(const jx_arena *arena); /* or its budget is spent */
/* What failed for a budget that it no longer lies below is forgotten. */
void jx_arena_recover(jx_arena *arena);
size_t jx_arena_used(const jx_arena *arena); /* bytes handed out */

#define JX_NEW(arena, type) ((type *)jx_arena_alloc((arena), sizeof(type)))
#define JX_NEW_ARRAY(arena, count, type)                                       \
    ((type *)jx_arena_array((arena), (size_t)(count), sizeof(type)))

#endif
