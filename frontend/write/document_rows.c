/* document_rows.c - the rows of a document's tables, by what they are of, and
 * keys. */
#include "frontend/write/document_parts.h"

#include "frontend/base/assert.h"

int jx_rows_find(const jx_rows *rows, const void *key)
{
    return (int)(uintptr_t)jx_map_get(&rows->index, key) - 1;
}

int jx_rows_add(jx_emit *e, jx_rows *rows, const void *key)
{
    int row = rows->count++;

    JX_ASSERT(jx_rows_find(rows, key) < 0);
    if (!jx_map_put(&rows->index, key, (const void *)(uintptr_t)rows->count))
        e->failed = true;
    return row;
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
