/* json.c - what is in a tree of JSON.  See json.h. */
#include "frontend/base/json_tree.h"

#include <stdlib.h>
#include <string.h>

enum { FEW = 12 }; /* members that are looked through */

void jx_json_free(jx_json *json)
{
    if (json)
        jx_arena_free(((jx_json_document *)(void *)json)->arena);
}

jx_json_kind jx_json_kind_of(const jx_json *json)
{
    return json ? (jx_json_kind)json->kind : JX_JSON_NULL;
}

const char *jx_json_kind_name(jx_json_kind kind)
{
    static const char *const names[] = {
        [JX_JSON_NULL] = "null",        [JX_JSON_BOOL] = "true or false",
        [JX_JSON_INT] = "an integer",   [JX_JSON_REAL] = "a number",
        [JX_JSON_TEXT] = "text",        [JX_JSON_ARRAY] = "an array",
        [JX_JSON_OBJECT] = "an object", [JX_JSON_WIDE] = "an integer",
    };

    return names[kind];
}

bool jx_json_bool(const jx_json *json)
{
    return json->of.integer != 0;
}

int64_t jx_json_int(const jx_json *json)
{
    return json->of.integer;
}

double jx_json_real(const jx_json *json)
{
    return json->kind == JX_JSON_INT ? (double)json->of.integer : json->of.real;
}

const char *jx_json_text(const jx_json *json, size_t *length)
{
    *length = json->count;
    return json->of.text;
}

const char *jx_json_wide(const jx_json *json)
{
    return json->of.text;
}

size_t jx_json_count(const jx_json *json)
{
    return json->count;
}

const jx_json *jx_json_item(const jx_json *json, size_t index)
{
    return index < json->count ? &json->of.items[index] : NULL;
}

static const jx_json *key_at(const jx_json *object, uint32_t member)
{
    return &object->of.items[2 * (size_t)member];
}

/* By length, then by bytes. */
static int compare(const jx_json *key, const char *text, size_t length)
{
    if (key->count != length)
        return key->count < length ? -1 : 1;
    return memcmp(key->of.text, text, length);
}

static int by_key(const void *a, const void *b, void *object)
{
    const jx_json *x = key_at(object, *(const uint32_t *)a);
    const jx_json *y = key_at(object, *(const uint32_t *)b);

    return compare(x, y->of.text, y->count);
}

size_t jx_json_order_size(uint32_t count)
{
    return count > FEW ? count * sizeof(uint32_t) : 0;
}

/* NULL where there are few members, whose order nobody needs. */
static uint32_t *order_of(const jx_json *object)
{
    if (object->count <= FEW)
        return NULL;
    return (uint32_t *)(uintptr_t)(object->of.items +
                                   2 * (size_t)object->count);
}

void jx_json_order_keys(jx_json *object)
{
    uint32_t *order = order_of(object);

    if (!order)
        return;
    for (uint32_t i = 0; i < object->count; i++)
        order[i] = i;
    qsort_r(order, object->count, sizeof *order, by_key, object);
}

/* The same text, of two members. */
static const char *again(const jx_json *object, uint32_t a, uint32_t b)
{
    const jx_json *x = key_at(object, a), *y = key_at(object, b);

    if (compare(x, y->of.text, y->count) != 0)
        return NULL;
    return a > b ? x->of.text : y->of.text;
}

const char *jx_json_key_again(const jx_json *object)
{
    const uint32_t *order = order_of(object);
    const char *found = NULL;

    for (uint32_t i = 1; i < object->count && !found; i++) {
        if (object->count > FEW)
            found = again(object, order[i - 1], order[i]);
        for (uint32_t k = 0; object->count <= FEW && k < i && !found; k++)
            found = again(object, k, i);
    }
    return found;
}

/* The member's number, or -1. */
static int64_t find(const jx_json *object, const char *key, size_t length)
{
    const uint32_t *order = order_of(object);
    int64_t low = 0, high = object->count;

    if (object->count <= FEW) {
        for (uint32_t i = 0; i < object->count; i++)
            if (compare(key_at(object, i), key, length) == 0)
                return i;
        return -1;
    }
    while (low < high) {
        int64_t middle = (low + high) / 2;
        int sign = compare(key_at(object, order[middle]), key, length);
        if (sign == 0)
            return order[middle];
        if (sign < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

bool jx_json_get(const jx_json *json, const char *key, const jx_json **value)
{
    int64_t member = find(json, key, strlen(key));

    *value = member < 0 ? NULL : key_at(json, (uint32_t)member) + 1;
    return member >= 0;
}

bool jx_json_next(const jx_json *json, size_t *state, const char **key,
                  const jx_json **value)
{
    if (*state >= json->count)
        return false;
    *key = key_at(json, (uint32_t)*state)->of.text;
    *value = key_at(json, (uint32_t)*state) + 1;
    ++*state;
    return true;
}
