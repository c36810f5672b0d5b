/* bytecode_write_parts.c - what the files of the bytecode writer stand on: its
 * failure, maps, numbers as bytes, tables, attributes that it makes. */
#include "frontend/mlir/bytecode_write_parts.h"
#include "frontend/base/plain.h"

#include <stdarg.h>
#include <string.h>

bool jx_bw_fail(jx_bw *w, const char *format, ...)
{
    char what[300];
    va_list args;

    if (w->failed)
        return false;
    w->failed = true;
    va_start(args, format);
    jx_vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return jx_fail(w->ctx, JX_E_INPUT, w->file->path, NULL, "bytecode: %s",
                   what);
}

bool jx_bw_ok(jx_bw *w)
{
    if (!w->failed && jx_arena_failed(w->arena)) {
        w->failed = true;
        jx_starved(w->ctx);
    }
    return !w->failed;
}

static size_t slot_of(const jx_bw_map *map, const void *key, const void *other)
{
    size_t mask = map->capacity - 1;
    uint64_t hash =
        jx_hash_mix((uint64_t)(uintptr_t)other, (uint64_t)(uintptr_t)key);
    size_t i = (size_t)hash & mask;

    while (map->slots[i].key &&
           (map->slots[i].key != key || map->slots[i].other != other))
        i = (i + 1) & mask;
    return i;
}

jx_bw_slot *jx_bw_find(const jx_bw_map *map, const void *key, const void *other)
{
    size_t i = map->capacity ? slot_of(map, key, other) : 0;

    return map->capacity && map->slots[i].key ? &map->slots[i] : NULL;
}

jx_bw_slot *jx_bw_put(jx_bw *w, jx_bw_map *map, const void *key,
                      const void *other)
{
    if (map->count * 2 >= map->capacity) {
        jx_bw_map old = *map;
        map->capacity = old.capacity ? old.capacity * 2 : 64;
        map->slots = JX_NEW_ARRAY(w->arena, map->capacity, jx_bw_slot);
        if (!map->slots) {
            *map = old;
            jx_bw_ok(w);
            return NULL;
        }
        for (size_t i = 0; i < old.capacity; i++)
            if (old.slots[i].key)
                map->slots[slot_of(map, old.slots[i].key, old.slots[i].other)] =
                    old.slots[i];
    }
    jx_bw_slot *slot = &map->slots[slot_of(map, key, other)];
    map->count += !slot->key;
    slot->key = key;
    slot->other = other;
    return slot;
}

void jx_bw_varint(jx_buffer *to, uint64_t value)
{
    unsigned size = 1;

    while (size < 9 && value >> (7 * size))
        size++;
    if (size == 9) {
        jx_buffer_putc(to, 0);
        size = 8;
    } else {
        value = (value << 1 | 1) << (size - 1);
    }
    for (unsigned i = 0; i < size; i++)
        jx_buffer_putc(to, (char)(value >> (8 * i)));
}

void jx_bw_flagged(jx_buffer *to, uint64_t value, bool flag)
{
    jx_bw_varint(to, value << 1 | flag);
}

void jx_bw_signed(jx_buffer *to, int64_t value)
{
    jx_bw_varint(to, (uint64_t)value << 1 ^ -(uint64_t)(value < 0));
}

static bool same_bytes(const void *kept, const void *key)
{
    const jx_bw_bytes *a = kept, *b = key;

    return a->size == b->size &&
           (!a->size || memcmp(a->bytes, b->bytes, a->size) == 0);
}

uint64_t jx_bw_keep(jx_bw *w, jx_bw_table *in, const void *bytes, size_t size)
{
    jx_bw_bytes like = {size ? bytes : "", size, in->list.count};
    uint64_t hash = jx_hash_bytes(like.bytes, size);
    const jx_bw_bytes *found =
        jx_intern_find(&in->known, hash, &like, same_bytes);

    if (found)
        return found->index;
    like.bytes = jx_arena_copy(w->arena, like.bytes, size);
    jx_bw_bytes *one = jx_arena_copy(w->arena, &like, sizeof like);
    if (one && jx_intern_add(&in->known, hash, one))
        JX_PUSH(w->arena, &in->list, one);
    return like.index;
}

static jx_mlir_attr *new_attr(jx_bw *w, jx_mlir_attr_kind kind)
{
    jx_mlir_attr *a = JX_NEW(w->arena, jx_mlir_attr);

    if (a)
        a->kind = kind;
    else
        jx_bw_ok(w);
    return a;
}

const jx_mlir_attr *jx_bw_text(jx_bw *w, const char *text, bool vhlo)
{
    jx_bw_slot *slot =
        jx_bw_put(w, &w->text_map, text, vhlo ? (const void *)w : NULL);
    jx_mlir_attr *a;

    if (!slot || slot->value.pointer)
        return slot ? slot->value.pointer : NULL;
    a = new_attr(w, JX_A_STRING);
    if (!a)
        return NULL;
    a->vhlo = vhlo;
    a->bytes = text;
    a->size = strlen(text);
    slot->value.pointer = a;
    return a;
}

const jx_mlir_attr *jx_bw_unknown(jx_bw *w)
{
    if (!w->unknown)
        w->unknown = new_attr(w, JX_A_LOC_UNKNOWN);
    return w->unknown;
}

static void insert(const char **names, const jx_mlir_attr **items, int *count,
                   const jx_mlir_named *one)
{
    int k = *count;

    for (; k && strcmp(names[k - 1], one->name) > 0; k--) {
        names[k] = names[k - 1];
        items[k] = items[k - 1];
    }
    names[k] = one->name;
    items[k] = one->value;
    ++*count;
}

const jx_mlir_attr *jx_bw_dictionary(jx_bw *w, const jx_mlir_op *op)
{
    bool merged = w->version < JX_BC_HAS_PROPERTIES;
    int most = op->nattrs + (merged ? op->ninherent : 0), count = 0;
    jx_bw_slot *slot;

    if (!most)
        return NULL;
    slot = jx_bw_put(w, &w->dict_map, op->nattrs ? op->attrs : op->inherent,
                     merged && op->ninherent ? op->inherent : NULL);
    if (!slot || slot->value.pointer)
        return slot ? slot->value.pointer : NULL;
    jx_mlir_attr *a = new_attr(w, JX_A_DICT);
    const char **names = JX_NEW_ARRAY(w->arena, most, const char *);
    const jx_mlir_attr **items =
        JX_NEW_ARRAY(w->arena, most, const jx_mlir_attr *);
    if (!a || !names || !items) {
        jx_bw_ok(w);
        return NULL;
    }
    for (int i = 0; merged && i < op->ninherent; i++)
        insert(names, items, &count, &op->inherent[i]);
    for (int i = 0; i < op->nattrs; i++)
        insert(names, items, &count, &op->attrs[i]);
    a->names = names;
    a->items = items;
    a->count = count;
    slot->value.pointer = a;
    return a;
}
