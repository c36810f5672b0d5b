/* intern.h - one pointer per value.
 *
 * A table keeps one copy of each distinct run of bytes, so that equality is
 * pointer equality from then on.  jx_strings is that table for text; the
 * typed tables (avals, dims, params) use jx_intern with a key of their own. */
#ifndef JX_INTERN_H
#define JX_INTERN_H

#include "frontend/base/arena.h"

#include <stdint.h>

uint64_t jx_hash_bytes(const void *data, size_t size);

/* In place, since interning does little else. */
static inline uint64_t jx_hash_mix(uint64_t seed, uint64_t value)
{
    uint64_t h =
        seed ^ (value + 0x9e3779b97f4a7c15u + (seed << 6) + (seed >> 2));

    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
    return h ^ (h >> 33);
}

/* An open-addressing set of pointers with a hash each; the caller compares. */
typedef struct jx_intern {
    jx_arena *arena;
    const void **slots;
    uint64_t *hashes;
    size_t capacity, count;
} jx_intern;

typedef bool jx_same(const void *kept, const void *key);

void jx_intern_init(jx_intern *table, jx_arena *arena);
/* A table of the same values, to which others may be added; false
 * without memory. */
bool jx_intern_copy(jx_intern *to, const jx_intern *from);
/* The kept value that equals `key`, or NULL. */
const void *jx_intern_find(const jx_intern *table, uint64_t hash,
                           const void *key, jx_same *same);
/* Keeps `value`, which must not be in the table yet; false without memory. */
bool jx_intern_add(jx_intern *table, uint64_t hash, const void *value);

/* Interned text.  The result is NUL-terminated and lives as long as the
 * arena; NULL without memory.  A NUL inside the text is kept but ends what a
 * C caller sees, so readers refuse it. */
typedef struct jx_strings {
    jx_intern table;
} jx_strings;

void jx_strings_init(jx_strings *strings, jx_arena *arena);
const char *jx_strings_add(jx_strings *strings, const char *text,
                           size_t length);

#endif
