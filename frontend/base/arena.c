/* arena.c - see arena.h.
 *
 * Blocks grow from 4 KiB to 1 MiB by doubling, so that a small program
 * costs little and a large one few calls; an allocation larger than a block
 * gets a block of its own.  Once megabytes are in use, blocks are made of
 * huge pages, since the faults of small ones would cost more than what is
 * done with them. */
#include "frontend/base/arena.h"
#include "frontend/base/assert.h"
#include "frontend/base/pages.h"
#include "frontend/base/plain.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
#ifdef JX_LONE_BLOCKS /* each allocation is one of malloc's; see HACKING.md */
    FIRST_BLOCK = 16,
    LAST_BLOCK = 16,
    KEPT = false, /* when it is cleared */
#else
    FIRST_BLOCK = 4096,
    LAST_BLOCK = 1 << 20,
    KEPT = true,
#endif
    HUGE = JX_HUGE_PAGE, /* bytes of a block of one huge page */
    MANY = 1 << 20,      /* bytes in use from which on these are taken */
    ALIGN = 16,
};

/* What lies behind `used` is zero. */
typedef struct block {
    struct block *next;
    size_t used, size;
    bool mapped; /* a huge page: HUGE bytes, this header included */
    _Alignas(ALIGN) char data[];
} block;

struct jx_arena {
    block *blocks; /* the one being filled comes first */
    block *spare;  /* empty ones */
    jx_budget *budget;
    size_t used, next_size;
    bool failed;
};

jx_arena *jx_arena_new(jx_budget *budget)
{
    jx_arena *arena = calloc(1, sizeof *arena);

    if (!arena) {
        jx_budget_starved(budget);
        return NULL;
    }
    arena->budget = budget;
    arena->next_size = FIRST_BLOCK;
    return arena;
}

static size_t charge_of(const block *b)
{
    return b->mapped ? HUGE : sizeof *b + b->size;
}

static void free_blocks(jx_arena *arena, block *b)
{
    for (block *next; b; b = next) {
        next = b->next;
        jx_budget_give(arena->budget, charge_of(b));
        if (b->mapped)
            munmap(b, HUGE);
        else
            free(b);
    }
}

void jx_arena_free(jx_arena *arena)
{
    if (!arena)
        return;
    free_blocks(arena, arena->blocks);
    free_blocks(arena, arena->spare);
    free(arena);
}

void jx_arena_clear(jx_arena *arena)
{
    if (!KEPT)
        free_blocks(arena, arena->blocks);
    for (block *b = KEPT ? arena->blocks : NULL, *next; b; b = next) {
        next = b->next;
        memset(b->data, 0, b->used);
        b->used = 0;
        b->next = arena->spare;
        arena->spare = b;
    }
    arena->blocks = NULL;
    arena->used = 0;
    arena->next_size = KEPT ? arena->next_size : FIRST_BLOCK;
}

static void *fail(jx_arena *arena)
{
    arena->failed = true;
    return NULL;
}

static void *starve(jx_arena *arena)
{
    jx_budget_starved(arena->budget);
    return fail(arena);
}

/* A block of one huge page, or NULL where the system gives none. */
static block *new_huge(void)
{
    char *at = mmap(NULL, 2 * (size_t)HUGE, PROT_READ | PROT_WRITE,
                    /* cppcheck-suppress invalidFunctionArg; -1: no file */
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t before;
    block *b;

    if (at == MAP_FAILED)
        return NULL;
    before = (HUGE - (uintptr_t)at % HUGE) % HUGE;
    if (before)
        munmap(at, before);
    if (HUGE - before)
        munmap(at + before + HUGE, HUGE - before);
    b = (block *)(at + before);
    jx_pages_advise(b, HUGE);
    b->size = HUGE - sizeof *b;
    b->mapped = true;
    return b;
}

static block *new_block(size_t size)
{
    block *b = calloc(1, sizeof *b + size);

    if (!b)
        return NULL;
    b->size = size;
    jx_pages_advise(b, sizeof *b + size);
    return b;
}

/* How large the next block is, for an allocation of `need` bytes; less than
 * usual where the budget has not as much. */
static size_t next_size(const jx_arena *arena, size_t need)
{
    size_t size = need > arena->next_size ? need : arena->next_size;
    size_t left = jx_budget_left(arena->budget);

    if (left < sizeof(block) + size)
        size = left > sizeof(block) + need ? left - sizeof(block) : need;
    return size;
}

static block *new_charged(jx_arena *arena, size_t need)
{
    bool huge = arena->used >= MANY && need <= HUGE - sizeof(block) &&
                jx_budget_left(arena->budget) >= HUGE;
    size_t size = next_size(arena, need);
    size_t charge = huge ? HUGE : sizeof(block) + size;
    block *b;

    if (!jx_budget_lasts(arena->budget) ||
        !jx_budget_take(arena->budget, charge))
        return NULL;
    b = huge ? new_huge() : new_block(size);
    if (!b) {
        jx_budget_give(arena->budget, charge);
        starve(arena);
    }
    return b;
}

/* A spare block of that size at least, or NULL. */
static block *take_spare(jx_arena *arena, size_t need)
{
    block **at = &arena->spare, *b;

    while (*at && (*at)->size < need)
        at = &(*at)->next;
    if ((b = *at))
        *at = b->next;
    return b;
}

static block *add_block(jx_arena *arena, size_t need)
{
    block *b = take_spare(arena, need);

    if (b) {
        b->next = arena->blocks;
        arena->blocks = b;
        return b;
    }
    b = new_charged(arena, need);

    if (!b)
        return NULL;
    if (!b->mapped && need > arena->next_size && arena->blocks) {
        /* A block of its own goes behind the one being filled. */
        b->next = arena->blocks->next;
        arena->blocks->next = b;
    } else {
        b->next = arena->blocks;
        arena->blocks = b;
    }
    if (arena->next_size < LAST_BLOCK)
        arena->next_size *= 2;
    return b;
}

void *jx_arena_alloc(jx_arena *arena, size_t size)
{
    block *b = arena->blocks;

    if (arena->failed || size > SIZE_MAX / 2)
        return fail(arena);
    size = size ? (size + ALIGN - 1) & ~(size_t)(ALIGN - 1) : ALIGN;
    if (!b || b->size - b->used < size)
        b = add_block(arena, size);
    if (!b)
        return fail(arena);
    void *at = b->data + b->used;
    JX_ASSERT((uintptr_t)at % ALIGN == 0 && size <= b->size - b->used);
    b->used += size;
    arena->used += size;
    return at;
}

void *jx_arena_array(jx_arena *arena, size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes))
        return fail(arena);
    return jx_arena_alloc(arena, bytes);
}

void *jx_arena_copy(jx_arena *arena, const void *from, size_t size)
{
    void *to = jx_arena_alloc(arena, size);

    if (to && size)
        memcpy(to, from, size);
    return to;
}

char *jx_arena_string(jx_arena *arena, const char *text, size_t length)
{
    char *to = jx_arena_alloc(arena, length + 1);

    if (to)
        memcpy(to, text, length);
    return to;
}

char *jx_arena_take(jx_arena *arena, jx_buffer *text)
{
    char *taken =
        jx_buffer_ok(text)
            ? jx_arena_string(arena, jx_buffer_text(text), text->length)
            : starve(arena);

    jx_buffer_free(text);
    return taken;
}

char *jx_arena_printf(jx_arena *arena, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int length = jx_vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *to = length < 0 ? NULL : jx_arena_alloc(arena, (size_t)length + 1);
    if (!to)
        return fail(arena);
    va_start(args, format);
    jx_vsnprintf(to, (size_t)length + 1, format, args);
    va_end(args);
    return to;
}

bool jx_arena_failed(const jx_arena *arena)
{
    return arena->failed || jx_budget_spent(arena->budget) != JX_SPENT_NOTHING;
}

void jx_arena_recover(jx_arena *arena)
{
    arena->failed = false;
}

size_t jx_arena_used(const jx_arena *arena)
{
    return arena->used;
}
