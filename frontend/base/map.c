/* map.c - see map.h.  Linear probing, at most two thirds full. */
#include "frontend/base/map.h"

#include "frontend/base/assert.h"
#include "frontend/base/intern.h"

/* Without a key it is free. */
typedef struct jx_map_slot {
    const void *key, *value;
} slot;

void jx_map_init(jx_map *map, jx_arena *arena)
{
    *map = (jx_map){.arena = arena};
}

/* Where the key is, or may be put; there are slots. */
static slot *slot_of(const jx_map *map, const void *key)
{
    size_t mask = map->capacity - 1;
    size_t i = jx_hash_mix(0, (uint64_t)(uintptr_t)key) & mask;

    JX_ASSERT(map->count < map->capacity);
    while (map->slots[i].key && map->slots[i].key != key)
        i = (i + 1) & mask;
    return &map->slots[i];
}

const void *jx_map_get(const jx_map *map, const void *key)
{
    return map->capacity ? slot_of(map, key)->value : NULL;
}

bool jx_map_has(const jx_map *map, const void *key)
{
    return map->capacity && slot_of(map, key)->key;
}

/* How many it holds, counted. */
static size_t holds(const jx_map *map)
{
    size_t count = 0;

    for (size_t i = 0; i < map->capacity; i++)
        count += map->slots[i].key != NULL;
    return count;
}

static bool grow(jx_map *map)
{
    jx_map old = *map;
    size_t capacity = old.capacity ? old.capacity * 2 : 32;
    slot *slots = JX_NEW_ARRAY(map->arena, capacity, slot);

    if (!slots)
        return false;
    map->slots = slots;
    map->capacity = capacity;
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i].key)
            *slot_of(map, old.slots[i].key) = old.slots[i];
    JX_ASSERT(holds(map) == map->count);
    return true;
}

/* Where the key is, or a slot for it; NULL without memory. */
static slot *slot_for(jx_map *map, const void *key)
{
    slot *found = map->capacity ? slot_of(map, key) : NULL;

    JX_ASSERT(map->arena && key);
    if ((found && found->key) || map->count * 3 < map->capacity * 2)
        return found;
    return grow(map) ? slot_of(map, key) : NULL;
}

bool jx_map_put(jx_map *map, const void *key, const void *value)
{
    slot *to = slot_for(map, key);

    if (!to)
        return false;
    map->count += !to->key;
    *to = (slot){key, value};
    return true;
}

bool jx_map_add(jx_map *map, const void *key)
{
    slot *to = slot_for(map, key);

    if (!to || to->key)
        return false;
    map->count++;
    *to = (slot){key, key};
    return true;
}
