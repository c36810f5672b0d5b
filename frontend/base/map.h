/* map.h - from pointers to pointers.
 *
 * A key is the pointer itself: what it points to is never looked at, and
 * may change.  Neither keys nor values are owned.  The slots lie in the
 * arena, where growing leaves the old ones behind, which doubling bounds by
 * the final size. */
#ifndef JX_MAP_H
#define JX_MAP_H

#include "frontend/base/arena.h"

/* One that is all zero holds nothing, and may be asked. */
typedef struct jx_map {
    jx_arena *arena;
    struct jx_map_slot *slots;
    size_t capacity, count; /* slots; keys */
} jx_map;

void jx_map_init(jx_map *map, jx_arena *arena);
/* The key's value; NULL for one that is not there, and for no key. */
const void *jx_map_get(const jx_map *map, const void *key);
/* Whether the key is there, whose value may be NULL. */
bool jx_map_has(const jx_map *map, const void *key);
/* Gives the key the value, in place of one that it has.  False without memory:
 * the map is then as it was. */
bool jx_map_put(jx_map *map, const void *key, const void *value);
/* Of a set: puts a key that is its own value.  False if it was there, and
 * without memory. */
bool jx_map_add(jx_map *map, const void *key);

#endif
