/* document_rows.c - the rows of a document's tables, by what they are of, and
 * keys. */
#include "frontend/write/document_parts.h"

typedef struct place {
    const void *key;
    int row;
} place;

static bool same_key(const void *kept, const void *key)
{
    return ((const place *)kept)->key == key;
}

static uint64_t hash_key(const void *key)
{
    return jx_hash_mix(0, (uint64_t)(uintptr_t)key);
}

int jx_rows_find(const jx_rows *rows, const void *key)
{
    const place *found =
        jx_intern_find(&rows->index, hash_key(key), key, same_key);

    return found ? found->row : -1;
}

int jx_rows_add(jx_emit *e, jx_rows *rows, const void *key)
{
    place *p = JX_NEW(e->arena, place);

    if (!p) {
        e->failed = true;
        return 0;
    }
    *p = (place){key, rows->count++};
    if (!jx_intern_add(&rows->index, hash_key(key), p))
        e->failed = true;
    return p->row;
}

void jx_rows_begin(jx_rows *rows)
{
    if (rows->text.length)
        jx_buffer_putc(&rows->text, ',');
}

void jx_emit_key(jx_buffer *to, const char *key)
{
    if (to->length && to->text[to->length - 1] != '{')
        jx_buffer_putc(to, ',');
    jx_buffer_printf(to, "\"%s\":", key);
}

void jx_emit_texts(jx_buffer *to, const char *key, int count,
                   const char *const *texts)
{
    if (!texts || !count)
        return;
    jx_emit_key(to, key);
    for (int i = 0; i < count; i++) {
        jx_buffer_putc(to, i ? ',' : '[');
        jx_json_put_text(to, texts[i]);
    }
    jx_buffer_putc(to, ']');
}
