/* node.c - see node.h. */
#include "frontend/read/node.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The pointer of a node; `~` and `/` in keys are escaped (RFC 6901). */
static void put_pointer(jx_buffer *to, const jx_node *at)
{
    if (!at->up)
        return;
    put_pointer(to, at->up);
    if (!at->key) {
        jx_buffer_printf(to, "/%zu", at->index);
        return;
    }
    jx_buffer_putc(to, '/');
    for (const char *c = at->key; *c; c++)
        if (*c == '~' || *c == '/')
            jx_buffer_puts(to, *c == '~' ? "~0" : "~1");
        else
            jx_buffer_putc(to, *c);
}

bool jx_node_fail(jx_walk *walk, const jx_node *at, const char *format, ...)
{
    jx_buffer pointer = jx_ctx_text(walk->ctx), why = jx_ctx_text(walk->ctx);
    va_list args;

    if (walk->failed)
        return false;
    walk->failed = true;
    put_pointer(&pointer, at);
    va_start(args, format);
    jx_buffer_vprintf(&why, format, args);
    va_end(args);
    jx_fail(walk->ctx, JX_E_INPUT, walk->path,
            pointer.length ? jx_buffer_text(&pointer) : "/", "%s",
            jx_buffer_text(&why));
    jx_buffer_free(&pointer);
    jx_buffer_free(&why);
    return false;
}

jx_json_kind jx_node_kind(const jx_node *at)
{
    return jx_json_kind_of(at->json);
}

jx_node jx_node_item(const jx_node *array, size_t index)
{
    return (jx_node){jx_json_item(array->json, index), true, array, NULL,
                     index};
}

jx_node jx_node_member(const jx_node *object, const char *key)
{
    jx_node member = {NULL, false, object, key, 0};

    if (object->json)
        member.there = jx_json_get(object->json, key, &member.json);
    return member;
}

jx_node jx_node_need(jx_walk *walk, const jx_node *object, const char *key)
{
    jx_node member = jx_node_member(object, key);

    if (!member.there)
        jx_node_fail(walk, object, "expected a key \"%s\"", key);
    return member;
}

static bool expect(jx_walk *walk, const jx_node *at, jx_json_kind kind)
{
    jx_json_kind found = jx_node_kind(at);

    return found == kind ||
           jx_node_fail(walk, at, "expected %s, found %s",
                        jx_json_kind_name(kind), jx_json_kind_name(found));
}

static bool is_word_of(const char *words, const char *word)
{
    size_t n = strlen(word);

    if (n == 0 || strchr(word, ' '))
        return false;
    for (const char *at = words; (at = strstr(at, word)); at++)
        if ((at == words || at[-1] == ' ') && (!at[n] || at[n] == ' '))
            return true;
    return false;
}

bool jx_node_object(jx_walk *walk, const jx_node *at, const char *keys)
{
    size_t state = 0;
    const char *key;
    const jx_json *value;

    if (!expect(walk, at, JX_JSON_OBJECT))
        return false;
    while (jx_json_next(at->json, &state, &key, &value))
        if (!is_word_of(keys, key))
            return jx_node_fail(walk, at, "unknown key \"%.60s\" (known: %s)",
                                key, keys);
    return true;
}

int jx_node_array(jx_walk *walk, const jx_node *at)
{
    if (!at->there || !expect(walk, at, JX_JSON_ARRAY))
        return 0;
    size_t count = jx_json_count(at->json);
    if (count > INT_MAX / 2) {
        jx_node_fail(walk, at, "more than %d items", INT_MAX / 2);
        return 0;
    }
    return (int)count;
}

bool jx_node_tuple(jx_walk *walk, const jx_node *at, size_t count)
{
    if (!expect(walk, at, JX_JSON_ARRAY))
        return false;
    return jx_json_count(at->json) == count ||
           jx_node_fail(walk, at, "expected %zu items, found %zu", count,
                        jx_json_count(at->json));
}

const char *jx_node_text(jx_walk *walk, const jx_node *at)
{
    size_t length;

    if (!at->there)
        return NULL;
    if (!expect(walk, at, JX_JSON_TEXT))
        return "";
    const char *text = jx_json_text(at->json, &length);
    const char *kept = jx_strings_add(&walk->ctx->strings, text, length);
    if (!kept)
        walk->failed = true;
    return kept ? kept : "";
}

bool jx_node_bool(jx_walk *walk, const jx_node *at)
{
    return at->there && expect(walk, at, JX_JSON_BOOL) &&
           jx_json_bool(at->json);
}

/* Integers beyond 2^53 come as text. */
static bool integer_of(const jx_node *at, int64_t *value)
{
    size_t length;
    char *end;

    if (jx_node_kind(at) == JX_JSON_INT) {
        *value = jx_json_int(at->json);
        return true;
    }
    if (jx_node_kind(at) != JX_JSON_TEXT)
        return false;
    const char *text = jx_json_text(at->json, &length);
    if (strspn(text, "-0123456789") != length || length == 0)
        return false;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return errno == 0 && end == text + length;
}

int64_t jx_node_int(jx_walk *walk, const jx_node *at, int64_t low, int64_t high)
{
    int64_t value;

    if (!integer_of(at, &value)) {
        jx_node_fail(walk, at, "expected an integer, found %s",
                     jx_json_kind_name(jx_node_kind(at)));
        return low;
    }
    if (value >= low && value <= high)
        return value;
    jx_node_fail(walk, at, "expected an integer from %lld to %lld, found %lld",
                 (long long)low, (long long)high, (long long)value);
    return low;
}

int jx_node_index(jx_walk *walk, const jx_node *at, int count,
                  const char *table)
{
    int64_t value;

    if (!integer_of(at, &value))
        jx_node_fail(walk, at, "expected an index into \"%s\", found %s", table,
                     jx_json_kind_name(jx_node_kind(at)));
    else if (value < 0 || value >= count)
        jx_node_fail(walk, at,
                     "expected an index into \"%s\" below %d, found %lld",
                     table, count, (long long)value);
    else
        return (int)value;
    return -1;
}

const char *const *jx_node_texts(jx_walk *walk, const jx_node *at, int count)
{
    if (!at->there)
        return NULL;
    if (!jx_node_tuple(walk, at, (size_t)count))
        return NULL;
    const char **texts = JX_NEW_ARRAY(walk->ctx->arena, count, const char *);
    for (int i = 0; texts && i < count; i++) {
        jx_node item = jx_node_item(at, (size_t)i);
        texts[i] = jx_node_text(walk, &item);
    }
    return texts;
}
