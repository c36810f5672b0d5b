/* intern.c - see intern.h.  Linear probing, at most two thirds full. */
#include "frontend/base/intern.h"

#include "frontend/base/assert.h"

#include <string.h>

/* The last bytes of a run as a word, which may hold some of those before them;
 * all that matters is that the size and the words say what the bytes are. */
static uint64_t tail_of(const unsigned char *end, size_t size)
{
    uint32_t low, high;
    uint64_t word;

    if (size >= 8)
        return memcpy(&word, end - 8, 8), word;
    if (size >= 4) {
        memcpy(&low, end - size, 4);
        memcpy(&high, end - 4, 4);
        return low | (uint64_t)high << 32;
    }
    return size ? end[-(ptrdiff_t)size] | (uint64_t)end[-1] << 8 |
                      (uint64_t)end[-(ptrdiff_t)(size / 2) - 1] << 16
                : 0;
}

uint64_t jx_hash_bytes(const void *data, size_t size)
{
    const unsigned char *p = data;
    uint64_t hash = 14695981039346656037u, word;

    for (size_t at = 0; at + 8 < size; at += 8) {
        memcpy(&word, p + at, 8);
        hash = (hash ^ word) * 0x9fb21c651e98df25u;
        hash ^= hash >> 32;
    }
    return size ? jx_hash_mix(hash ^ tail_of(p + size, size), size)
                : jx_hash_mix(hash, 0);
}

void jx_intern_init(jx_intern *table, jx_arena *arena)
{
    memset(table, 0, sizeof *table);
    table->arena = arena;
}

bool jx_intern_copy(jx_intern *to, const jx_intern *from)
{
    *to = *from;
    if (!from->capacity)
        return true;
    to->slots = jx_arena_copy(from->arena, from->slots,
                              from->capacity * sizeof *from->slots);
    to->hashes = jx_arena_copy(from->arena, from->hashes,
                               from->capacity * sizeof *from->hashes);
    return to->slots && to->hashes;
}

const void *jx_intern_find(const jx_intern *table, uint64_t hash,
                           const void *key, jx_same *same)
{
    size_t mask = table->capacity - 1;

    if (!table->capacity)
        return NULL;
    for (size_t i = hash & mask; table->slots[i]; i = (i + 1) & mask)
        if (table->hashes[i] == hash && same(table->slots[i], key))
            return table->slots[i];
    return NULL;
}

static void put(jx_intern *table, uint64_t hash, const void *value)
{
    size_t mask = table->capacity - 1, i = hash & mask;

    while (table->slots[i])
        i = (i + 1) & mask;
    table->slots[i] = value;
    table->hashes[i] = hash;
}

/* How many it holds, counted. */
static size_t holds(const jx_intern *table)
{
    size_t count = 0;

    for (size_t i = 0; i < table->capacity; i++)
        count += table->slots[i] != NULL;
    return count;
}

static bool grow(jx_intern *table)
{
    jx_intern old = *table;

    table->capacity = old.capacity ? old.capacity * 2 : 32;
    table->slots = JX_NEW_ARRAY(table->arena, table->capacity, const void *);
    table->hashes = JX_NEW_ARRAY(table->arena, table->capacity, uint64_t);
    if (!table->slots || !table->hashes) {
        *table = old;
        return false;
    }
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i])
            put(table, old.hashes[i], old.slots[i]);
    JX_ASSERT(holds(table) == old.count);
    return true;
}

bool jx_intern_add(jx_intern *table, uint64_t hash, const void *value)
{
    JX_ASSERT(value);
    if (table->count * 3 >= table->capacity * 2 && !grow(table))
        return false;
    put(table, hash, value);
    table->count++;
    return true;
}

typedef struct text {
    const char *at;
    size_t length;
} text;

typedef struct kept_text {
    size_t length;
    char at[];
} kept_text;

static bool same_text(const void *kept, const void *key)
{
    const kept_text *a = kept;
    const text *b = key;

    return a->length == b->length && memcmp(a->at, b->at, b->length) == 0;
}

void jx_strings_init(jx_strings *strings, jx_arena *arena)
{
    jx_intern_init(&strings->table, arena);
}

const char *jx_strings_add(jx_strings *strings, const char *at, size_t length)
{
    text key = {at, length};
    uint64_t hash = jx_hash_bytes(at, length);
    const kept_text *found =
        jx_intern_find(&strings->table, hash, &key, same_text);

    if (found)
        return found->at;
    kept_text *kept =
        jx_arena_alloc(strings->table.arena, sizeof *kept + length + 1);
    if (!kept)
        return NULL;
    kept->length = length;
    memcpy(kept->at, at, length);
    /* The hash is of the bytes, wherever they lie. */
    JX_ASSERT(jx_hash_bytes(kept->at, length) == hash);
    return jx_intern_add(&strings->table, hash, kept) ? kept->at : NULL;
}
