/* vhlo_parts.c - the VHLO converter's maps, and its failure. */
#include "frontend/mlir/vhlo_parts.h"
#include "frontend/base/plain.h"

#include <stdarg.h>
#include <stdio.h>

static size_t slot_of(const jx_vhlo_map *map, const void *key)
{
    size_t mask = map->capacity - 1;
    size_t i = (size_t)jx_hash_mix(0, (uint64_t)(uintptr_t)key) & mask;

    while (map->keys[i] && map->keys[i] != key)
        i = (i + 1) & mask;
    return i;
}

const void *jx_vhlo_map_get(const jx_vhlo_map *map, const void *key)
{
    return map->capacity ? map->values[slot_of(map, key)] : NULL;
}

static bool grow(jx_vhlo *v, jx_vhlo_map *map)
{
    jx_vhlo_map old = *map;

    map->capacity = old.capacity ? old.capacity * 2 : 64;
    map->keys = JX_NEW_ARRAY(v->scratch, map->capacity, const void *);
    map->values = JX_NEW_ARRAY(v->scratch, map->capacity, const void *);
    if (!map->keys || !map->values)
        return false;
    for (size_t i = 0; i < old.capacity; i++)
        if (old.keys[i]) {
            size_t to = slot_of(map, old.keys[i]);
            map->keys[to] = old.keys[i];
            map->values[to] = old.values[i];
        }
    return true;
}

bool jx_vhlo_map_put(jx_vhlo *v, jx_vhlo_map *map, const void *key,
                     const void *value)
{
    if (map->count * 4 >= map->capacity * 3 && !grow(v, map))
        return false;
    size_t i = slot_of(map, key);
    map->count += !map->keys[i];
    map->keys[i] = key;
    map->values[i] = value;
    return true;
}

bool jx_vhlo_fail(jx_vhlo *v, const char *format, ...)
{
    char what[300], place[60];
    va_list args;

    if (v->failed)
        return false;
    v->failed = true;
    va_start(args, format);
    jx_vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (v->op && v->op->place.line)
        snprintf(place, sizeof place, "line %d, column %d",
                 v->op->place.line, v->op->place.column);
    else
        snprintf(place, sizeof place, "byte %zu",
                 v->op ? v->op->place.offset : 0);
    return jx_fail(v->ctx, JX_E_INPUT, v->path, v->op ? place : NULL,
                   "%s: %s", v->op ? v->op->name : "VHLO", what);
}
