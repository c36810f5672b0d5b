/* exported_parts.c - what the tables of exported files have in common: vectors
 * of numbers, texts, bytes and tables. */
#include "frontend/read/exported_parts.h"

#include <limits.h>

bool jx_exported_vector(jx_flat *flat, const jx_flat_table *table,
                        unsigned slot, const char *field, unsigned width,
                        jx_flat_vector *to)
{
    if (!jx_flat_vector_of(flat, table, slot, field, width, to))
        return !flat->failed;
    return to->count <= INT_MAX ||
           jx_flat_fail(flat, to->at - 4, field,
                        "expected at most %d items, found %u", INT_MAX,
                        to->count);
}

bool jx_exported_item(jx_flat *flat, const jx_flat_vector *vector,
                      const char *field, uint32_t i, jx_flat_table *to)
{
    if (!jx_flat_enter(flat, field, i))
        return false;
    if (jx_flat_item_table(flat, vector, i, NULL, to))
        return true;
    jx_flat_leave(flat);
    return false;
}

jx_exported_texts jx_exported_texts_of(jx_flat *flat,
                                       const jx_flat_table *table,
                                       unsigned slot, const char *field)
{
    jx_flat_vector vector;
    const char **at;

    if (!jx_exported_vector(flat, table, slot, field, 4, &vector) ||
        !vector.count)
        return (jx_exported_texts){0};
    at = JX_NEW_ARRAY(flat->ctx->arena, vector.count, const char *);
    for (uint32_t i = 0; at && i < vector.count; i++) {
        if (!jx_flat_enter(flat, field, i))
            break;
        at[i] = jx_flat_item_text(flat, &vector, i, NULL);
        jx_flat_leave(flat);
    }
    return (jx_exported_texts){(int)vector.count, at};
}

jx_exported_bytes jx_exported_bytes_of(jx_flat *flat,
                                       const jx_flat_table *table,
                                       unsigned slot, const char *field)
{
    jx_flat_vector vector;

    if (!jx_flat_vector_of(flat, table, slot, field, 1, &vector))
        return (jx_exported_bytes){0};
    return (jx_exported_bytes){flat->bytes + vector.at, vector.count};
}

jx_exported_indexes jx_exported_indexes_of(jx_flat *flat,
                                           const jx_flat_table *table,
                                           unsigned slot, const char *field)
{
    jx_flat_vector vector;
    uint32_t *at;

    if (!jx_exported_vector(flat, table, slot, field, 4, &vector))
        return (jx_exported_indexes){0};
    at = JX_NEW_ARRAY(flat->ctx->arena, vector.count, uint32_t);
    for (uint32_t i = 0; at && i < vector.count; i++)
        at[i] = (uint32_t)jx_flat_item(flat, &vector, i);
    return (jx_exported_indexes){(int)vector.count, at};
}
