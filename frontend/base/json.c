/* json.c - the tree, by json-c.  See json.h. */
#include "frontend/base/json.h"

#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool fail_at(jx_ctx *ctx, const char *path, size_t at,
                    const char *expected)
{
    char place[48];

    snprintf(place, sizeof place, "byte %zu", at);
    return jx_fail(ctx, JX_E_INPUT, path, place, "expected %s", expected);
}

/* The tree of a text in which the scan found no fault. */
static bool make_tree(jx_ctx *ctx, const char *path, const char *text,
                      size_t length, jx_json **json)
{
    size_t at;

    /* The scan is the only judge.  What JSON_TOKENER_STRICT refuses beyond it
     * changes with json-c: in 0.18 every text that is not ASCII. */
    struct json_tokener *tokener = json_tokener_new_ex(JX_JSON_DEPTH + 2);
    if (!tokener)
        return jx_fail(ctx, JX_E_MEMORY, path, NULL, "out of memory");
    *json = json_tokener_parse_ex(tokener, text, (int)length);
    enum json_tokener_error error = json_tokener_get_error(tokener);
    at = json_tokener_get_parse_end(tokener);
    json_tokener_free(tokener);
    /* A number at the top waits for more; the scan has seen its end. */
    if (error == json_tokener_continue)
        return fail_at(ctx, path, at, "an object or an array");
    if (error != json_tokener_success)
        return fail_at(ctx, path, at, json_tokener_error_desc(error));
    return true;
}

bool jx_json_read(jx_ctx *ctx, const char *path, const char *text,
                  size_t length, jx_json **json)
{
    size_t at = 0;
    const char *expected;

    *json = NULL;
    if (length > INT_MAX - 1)
        return fail_at(ctx, path, INT_MAX, "less than 2 GiB of JSON");
    if (!jx_json_scan(text, length, &at, &expected))
        return fail_at(ctx, path, at, expected);
    return make_tree(ctx, path, text, length, json);
}

/* Where the text at `from` ends. */
static size_t past_text(const char *text, size_t length, size_t from)
{
    for (from++; from < length && text[from] != '"'; from++)
        from += text[from] == '\\';
    return from + 1;
}

/* The number at `from`: where it ends, and whether it is an integer that is
 * more than 64 bits. */
static size_t past_number(const char *text, size_t length, size_t from,
                          bool *wide)
{
    size_t to = from;
    char copy[24];

    while (to < length && strchr("+-.eE0123456789", text[to]))
        to++;
    *wide = !memchr(text + from, '.', to - from) &&
            !memchr(text + from, 'e', to - from) &&
            !memchr(text + from, 'E', to - from);
    if (*wide && to - from < sizeof copy) {
        memcpy(copy, text + from, to - from);
        copy[to - from] = '\0';
        errno = 0;
        strtoll(copy, NULL, 10);
        *wide = errno != 0;
    }
    return to;
}

/* Wide integers as texts that begin with NUL, which none that the scan lets
 * through has. */
static void mark_wide(const char *text, size_t length, jx_buffer *to)
{
    for (size_t at = 0, end; at < length; at = end) {
        bool wide = false;

        end = at + 1;
        if (text[at] == '"')
            end = past_text(text, length, at);
        else if (text[at] == '-' || (text[at] >= '0' && text[at] <= '9'))
            end = past_number(text, length, at, &wide);
        if (wide)
            jx_buffer_puts(to, "\"\\u0000");
        jx_buffer_bytes(to, text + at, end - at);
        if (wide)
            jx_buffer_putc(to, '"');
    }
}

bool jx_json_read_wide(jx_ctx *ctx, const char *text, size_t length,
                       jx_json **json)
{
    size_t at = 0;
    const char *expected;
    jx_buffer marked = {0};
    bool ok;

    *json = NULL;
    if (length > INT_MAX / 16)
        return fail_at(ctx, NULL, INT_MAX / 16, "less than 128 MiB of JSON");
    if (!jx_json_scan_wide(text, length, &at, &expected))
        return fail_at(ctx, NULL, at, expected);
    mark_wide(text, length, &marked);
    ok = jx_buffer_ok(&marked)
             ? make_tree(ctx, NULL, jx_buffer_text(&marked), marked.length, json)
             : jx_fail(ctx, JX_E_MEMORY, NULL, NULL, "out of memory");
    jx_buffer_free(&marked);
    return ok;
}

void jx_json_free(jx_json *json)
{
    json_object_put(json);
}

jx_json_kind jx_json_kind_of(const jx_json *json)
{
    switch (json_object_get_type(json)) {
    case json_type_null:
        return JX_JSON_NULL;
    case json_type_boolean:
        return JX_JSON_BOOL;
    case json_type_int:
        return JX_JSON_INT;
    case json_type_double:
        return JX_JSON_REAL;
    case json_type_string:
        return json_object_get_string_len(json) > 1 &&
                       !*json_object_get_string((jx_json *)json)
                   ? JX_JSON_WIDE
                   : JX_JSON_TEXT;
    case json_type_array:
        return JX_JSON_ARRAY;
    case json_type_object:
        return JX_JSON_OBJECT;
    }
    return JX_JSON_NULL;
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
    return json_object_get_boolean(json);
}

int64_t jx_json_int(const jx_json *json)
{
    return json_object_get_int64(json);
}

double jx_json_real(const jx_json *json)
{
    return json_object_get_double(json);
}

/* json-c wants no const here, but only reads a string. */
const char *jx_json_text(const jx_json *json, size_t *length)
{
    *length = (size_t)json_object_get_string_len(json);
    return json_object_get_string((jx_json *)json);
}

const char *jx_json_wide(const jx_json *json)
{
    return json_object_get_string((jx_json *)json) + 1;
}

size_t jx_json_count(const jx_json *json)
{
    if (json_object_is_type(json, json_type_array))
        return json_object_array_length(json);
    return (size_t)json_object_object_length(json);
}

const jx_json *jx_json_item(const jx_json *json, size_t index)
{
    return json_object_array_get_idx(json, index);
}

bool jx_json_get(const jx_json *json, const char *key, const jx_json **value)
{
    jx_json *found = NULL;
    bool there = json_object_object_get_ex(json, key, &found);

    *value = found;
    return there;
}

bool jx_json_next(const jx_json *json, void **state, const char **key,
                  const jx_json **value)
{
    struct lh_entry *entry =
        *state ? lh_entry_next(*state)
               : json_object_get_object(json)->head;

    *state = entry;
    if (!entry)
        return false;
    *key = lh_entry_k(entry);
    *value = lh_entry_v(entry);
    return true;
}

const char *jx_json_version(void)
{
    return json_c_version();
}
