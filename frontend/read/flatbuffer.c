/* flatbuffer.c - see flatbuffer.h. */
#include "frontend/read/flatbuffer.h"

#include "frontend/base/buffer.h"
#include "frontend/base/plain.h"
#include "frontend/base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Little endian; the bytes are there. */
static uint64_t load(const jx_flat *flat, size_t at, unsigned width)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < width; i++)
        value |= (uint64_t)flat->bytes[at + i] << (8 * i);
    return value;
}

static bool fits(const jx_flat *flat, size_t at, size_t size)
{
    return at <= flat->size && size <= flat->size - at;
}

/* "Exported.in_avals[2].shape" */
static void put_way(const jx_flat *flat, const char *field, jx_buffer *to)
{
    for (int i = 0; i < flat->depth; i++) {
        if (i)
            jx_buffer_putc(to, '.');
        jx_buffer_puts(to, flat->steps[i].field);
        if (flat->steps[i].item >= 0)
            jx_buffer_printf(to, "[%lld]", (long long)flat->steps[i].item);
    }
    if (field)
        jx_buffer_printf(to, ".%s", field);
}

bool jx_flat_fail(jx_flat *flat, size_t at, const char *field,
                  const char *format, ...)
{
    jx_buffer way = jx_ctx_text(flat->ctx);
    char place[32], message[512];
    va_list args;

    if (flat->failed)
        return false;
    flat->failed = true;
    va_start(args, format);
    jx_vsnprintf(message, sizeof message, format, args);
    va_end(args);
    snprintf(place, sizeof place, "byte %zu", at);
    put_way(flat, field, &way);
    /* The way of a deep place is long, its beginning says enough. */
    jx_fail(flat->ctx, JX_E_INPUT, flat->path, place, "%.300s%s: %s",
            jx_buffer_text(&way), way.length > 300 ? "..." : "", message);
    jx_buffer_free(&way);
    return false;
}

bool jx_flat_enter(jx_flat *flat, const char *field, int64_t item)
{
    if (flat->failed)
        return false;
    if (flat->depth == JX_FLAT_DEPTH)
        return jx_flat_fail(flat, 0, field, "nested deeper than %d",
                            JX_FLAT_DEPTH);
    flat->steps[flat->depth++] = (jx_flat_step){field, item};
    return true;
}

void jx_flat_leave(jx_flat *flat)
{
    flat->depth--;
}

/* Counts bytes that are looked at. */
static bool charge(jx_flat *flat, size_t at, const char *field, size_t bytes)
{
    if (bytes > flat->work)
        return jx_flat_fail(
            flat, at, field,
            "the tables share so much that they are more than %d times the "
            "file",
            JX_FLAT_SHARING);
    flat->work -= bytes;
    return true;
}

static bool open_table(jx_flat *flat, size_t at, const char *field,
                       jx_flat_table *to)
{
    int64_t vtable;
    size_t bytes;

    if (!fits(flat, at, 4))
        return jx_flat_fail(flat, at, field,
                            "expected a table, the file ends at byte %zu",
                            flat->size);
    vtable = (int64_t)at - (int32_t)load(flat, at, 4);
    if (vtable < 0 || !fits(flat, (size_t)vtable, 4))
        return jx_flat_fail(flat, at, field,
                            "its vtable lies outside of the file, at byte %lld",
                            (long long)vtable);
    bytes = load(flat, (size_t)vtable, 2);
    if (bytes < 4 || bytes % 2 || !fits(flat, (size_t)vtable, bytes))
        return jx_flat_fail(flat, (size_t)vtable, field,
                            "expected a vtable, its size can't be %zu", bytes);
    *to = (jx_flat_table){.at = at,
                          .size = load(flat, (size_t)vtable + 2, 2),
                          .vtable = (size_t)vtable,
                          .slots = (unsigned)(bytes - 4) / 2};
    if (to->size < 4 || !fits(flat, at, to->size))
        return jx_flat_fail(flat, (size_t)vtable + 2, field,
                            "expected the size of the table at byte %zu, "
                            "found %zu",
                            at, to->size);
    return charge(flat, at, field, to->size);
}

bool jx_flat_open(jx_flat *flat, jx_ctx *ctx, const char *path,
                  const void *bytes, size_t size, const char *root,
                  jx_flat_table *table)
{
    *flat = (jx_flat){.ctx = ctx, .path = path, .bytes = bytes, .size = size};
    if (__builtin_mul_overflow(size, (size_t)JX_FLAT_SHARING, &flat->work))
        flat->work = SIZE_MAX;
    flat->steps[flat->depth++] = (jx_flat_step){root, -1};
    if (size < 4)
        return jx_flat_fail(flat, 0, NULL,
                            "expected a flatbuffer, found %zu byte%s", size,
                            size == 1 ? "" : "s");
    return open_table(flat, load(flat, 0, 4), NULL, table);
}

/* The field's offset within the table, 0 if it is absent. */
static size_t offset_of(const jx_flat *flat, const jx_flat_table *table,
                        unsigned slot)
{
    if (flat->failed || slot >= table->slots)
        return 0;
    return load(flat, table->vtable + 4 + 2 * (size_t)slot, 2);
}

bool jx_flat_has(const jx_flat *flat, const jx_flat_table *table, unsigned slot)
{
    return offset_of(flat, table, slot) != 0;
}

size_t jx_flat_where(const jx_flat *flat, const jx_flat_table *table,
                     unsigned slot)
{
    return table->at + offset_of(flat, table, slot);
}

/* Sets *at to where the field's `width` bytes lie; false if it is absent. */
static bool find_field(jx_flat *flat, const jx_flat_table *table, unsigned slot,
                       const char *field, unsigned width, size_t *at)
{
    size_t offset = offset_of(flat, table, slot);

    if (!offset)
        return false;
    if (offset < 4 || offset > table->size || width > table->size - offset)
        return jx_flat_fail(flat, table->vtable + 4 + 2 * (size_t)slot, field,
                            "expected %u bytes within the table's %zu, found "
                            "them at %zu",
                            width, table->size, offset);
    *at = table->at + offset;
    return true;
}

uint64_t jx_flat_scalar(jx_flat *flat, const jx_flat_table *table,
                        unsigned slot, const char *field, unsigned width,
                        uint64_t otherwise)
{
    size_t at;

    return find_field(flat, table, slot, field, width, &at)
               ? load(flat, at, width)
               : otherwise;
}

/* Follows the offset at `at`, which lies within the file. */
static bool follow(jx_flat *flat, size_t at, const char *field, size_t *to)
{
    size_t offset = load(flat, at, 4);

    if (!offset || !fits(flat, at, offset) || at + offset == flat->size)
        return jx_flat_fail(flat, at, field,
                            "expected an offset to what lies behind it, found "
                            "%zu with %zu bytes left",
                            offset, flat->size - at);
    *to = at + offset;
    return true;
}

static bool open_vector(jx_flat *flat, size_t at, const char *field,
                        unsigned width, jx_flat_vector *to)
{
    size_t room, bytes;

    if (!fits(flat, at, 4))
        return jx_flat_fail(flat, at, field,
                            "expected a count, the file ends at byte %zu",
                            flat->size);
    *to = (jx_flat_vector){at + 4, (uint32_t)load(flat, at, 4), width};
    room = flat->size - to->at;
    if (__builtin_mul_overflow((size_t)to->count, (size_t)width, &bytes) ||
        bytes > room)
        return jx_flat_fail(flat, at, field,
                            "expected a count, %u items of %u byte%s don't "
                            "fit into the %zu bytes left",
                            to->count, width, width == 1 ? "" : "s", room);
    return charge(flat, at, field, 4 + bytes);
}

static const char *open_text(jx_flat *flat, size_t at, const char *field)
{
    jx_flat_vector bytes;
    const char *text;
    size_t wrong;

    if (!open_vector(flat, at, field, 1, &bytes))
        return NULL;
    text = (const char *)flat->bytes + bytes.at;
    if (bytes.at + bytes.count == flat->size || text[bytes.count]) {
        jx_flat_fail(flat, bytes.at + bytes.count, field,
                     "expected the NUL that ends a string");
        return NULL;
    }
    if (memchr(text, 0, bytes.count)) {
        jx_flat_fail(flat, bytes.at + strlen(text), field,
                     "expected text, found a NUL in it");
        return NULL;
    }
    if (!jx_utf8_valid(text, bytes.count, &wrong)) {
        jx_flat_fail(flat, bytes.at + wrong, field, "expected UTF-8");
        return NULL;
    }
    return text;
}

bool jx_flat_table_of(jx_flat *flat, const jx_flat_table *table, unsigned slot,
                      const char *field, jx_flat_table *to)
{
    size_t at;

    return find_field(flat, table, slot, field, 4, &at) &&
           follow(flat, at, field, &at) && open_table(flat, at, field, to);
}

bool jx_flat_vector_of(jx_flat *flat, const jx_flat_table *table, unsigned slot,
                       const char *field, unsigned width, jx_flat_vector *to)
{
    size_t at;

    *to = (jx_flat_vector){0};
    if (!find_field(flat, table, slot, field, 4, &at) ||
        !follow(flat, at, field, &at))
        return false;
    if (open_vector(flat, at, field, width, to))
        return true;
    *to = (jx_flat_vector){0};
    return false;
}

const char *jx_flat_text(jx_flat *flat, const jx_flat_table *table,
                         unsigned slot, const char *field)
{
    size_t at;

    return find_field(flat, table, slot, field, 4, &at) &&
                   follow(flat, at, field, &at)
               ? open_text(flat, at, field)
               : NULL;
}

uint64_t jx_flat_item(const jx_flat *flat, const jx_flat_vector *vector,
                      uint32_t index)
{
    return load(flat, vector->at + (size_t)index * vector->width,
                vector->width);
}

bool jx_flat_item_table(jx_flat *flat, const jx_flat_vector *vector,
                        uint32_t index, const char *field, jx_flat_table *to)
{
    size_t at = vector->at + (size_t)index * 4;

    return !flat->failed && follow(flat, at, field, &at) &&
           open_table(flat, at, field, to);
}

const char *jx_flat_item_text(jx_flat *flat, const jx_flat_vector *vector,
                              uint32_t index, const char *field)
{
    size_t at = vector->at + (size_t)index * 4;

    return !flat->failed && follow(flat, at, field, &at)
               ? open_text(flat, at, field)
               : NULL;
}
