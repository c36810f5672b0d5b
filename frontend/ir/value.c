/* value.c - see value.h. */
#include "frontend/ir/value.h"

#include <string.h>

void jx_values_init(jx_values *in, jx_ctx *ctx)
{
    in->ctx = ctx;
    jx_intern_init(&in->table, ctx->arena);
}

static uint64_t mix_pointer(uint64_t hash, const void *pointer)
{
    return jx_hash_mix(hash, (uint64_t)(uintptr_t)pointer);
}

static uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t hash_value(const jx_value *v)
{
    uint64_t h = jx_hash_mix((uint64_t)v->tag * 4 + v->boolean * 2u + v->open,
                             (uint64_t)v->dtype);

    h = jx_hash_mix(h, (uint64_t)v->integer);
    h = jx_hash_mix(h, bits_of(v->real) + 3 * bits_of(v->imag));
    /* No tag has more than two of these. */
    h = jx_hash_mix(
        h, (uintptr_t)v->text * 3 + (uintptr_t)v->detail * 5 +
               (uintptr_t)v->dim * 7 + (uintptr_t)v->aval * 11 +
               (uintptr_t)v->jaxpr * 13 + (uintptr_t)v->rule * 17 +
               (uintptr_t)v->array * 19 + (uintptr_t)v->unreduced * 23 +
               (uintptr_t)v->reduced * 29 + (uintptr_t)v->shown * 31 +
               (uintptr_t)v->call * 37 + (uintptr_t)v->definition * 41);
    for (int i = 0; i < v->count; i++)
        h = mix_pointer(h, v->items ? (const void *)v->items[i]
                                    : (const void *)v->keys[i]);
    return h;
}

static bool same_pointers(const void *a, const void *b, int count)
{
    if (!a || !b || !count)
        return (!a == !b) || !count;
    return memcmp(a, b, (size_t)count * sizeof(void *)) == 0;
}

static bool same_value(const void *kept, const void *key)
{
    const jx_value *a = kept, *b = key;

    return a->tag == b->tag && a->boolean == b->boolean && a->open == b->open &&
           a->dtype == b->dtype && a->integer == b->integer &&
           bits_of(a->real) == bits_of(b->real) &&
           bits_of(a->imag) == bits_of(b->imag) && a->text == b->text &&
           a->detail == b->detail && a->dim == b->dim && a->aval == b->aval &&
           a->jaxpr == b->jaxpr && a->rule == b->rule &&
           a->definition == b->definition && a->array == b->array &&
           a->unreduced == b->unreduced && a->reduced == b->reduced &&
           a->shown == b->shown && a->call == b->call && a->count == b->count &&
           same_pointers(a->items, b->items, a->count) &&
           same_pointers(a->keys, b->keys, a->count);
}

const jx_value *jx_value_add(jx_values *in, const jx_value *like)
{
    jx_arena *arena = in->ctx->arena;
    uint64_t hash = hash_value(like);
    const jx_value *found = jx_intern_find(&in->table, hash, like, same_value);

    if (found)
        return found;
    jx_value *v = jx_arena_copy(arena, like, sizeof *like);
    if (!v)
        return NULL;
    size_t size = (size_t)like->count * sizeof(void *);
    if (like->items)
        v->items = jx_arena_copy(arena, like->items, size);
    if (like->keys)
        v->keys = jx_arena_copy(arena, like->keys, size);
    if ((like->items && !v->items) || (like->keys && !v->keys))
        return NULL;
    return jx_intern_add(&in->table, hash, v) ? v : NULL;
}

const jx_value *jx_value_field(const jx_value *record, const char *name)
{
    for (int i = 0; record->keys && i < record->count; i++)
        if (!strcmp(record->keys[i], name))
            return record->items[i];
    return NULL;
}
