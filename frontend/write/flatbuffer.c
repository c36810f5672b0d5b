/* flatbuffer.c - see flatbuffer.h. */
#include "frontend/write/flatbuffer.h"

#include "frontend/base/assert.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST = 4096, MOST = INT32_MAX };

void jx_flat_write_free(jx_flat_writer *to)
{
    free(to->bytes);
    free(to->vtables);
    *to = (jx_flat_writer){0};
}

void jx_flat_starve(jx_flat_writer *to)
{
    to->failed = to->starved = true;
}

static bool grow(jx_flat_writer *to, size_t need)
{
    size_t capacity = to->capacity ? to->capacity : FIRST;
    unsigned char *bytes;

    if (to->failed || need > MOST - to->used) {
        to->failed = true;
        return false;
    }
    while (capacity - to->used < need)
        capacity *= 2;
    if (capacity == to->capacity)
        return true;
    bytes = malloc(capacity);
    if (!bytes) {
        jx_flat_starve(to);
        return false;
    }
    if (to->used)
        memcpy(bytes + capacity - to->used, to->bytes + to->capacity - to->used,
               to->used);
    free(to->bytes);
    to->bytes = bytes;
    to->capacity = capacity;
    return true;
}

/* Puts bytes before what is there. */
static void place(jx_flat_writer *to, const void *bytes, size_t size)
{
    if (!size || !grow(to, size))
        return;
    to->used += size;
    memcpy(to->bytes + to->capacity - to->used, bytes, size);
}

static void place_number(jx_flat_writer *to, uint64_t value, unsigned width)
{
    unsigned char bytes[8];

    for (unsigned i = 0; i < width; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
    place(to, bytes, width);
}

/* Pads so that what comes next is aligned once `more` bytes are before it. */
static void align(jx_flat_writer *to, size_t alignment, size_t more)
{
    static const unsigned char zeros[8];

    if (alignment > to->alignment)
        to->alignment = alignment;
    place(to, zeros, (0 - (to->used + more)) & (alignment - 1));
}

static uint32_t here(const jx_flat_writer *to)
{
    return (uint32_t)to->used;
}

uint32_t jx_flat_write_text(jx_flat_writer *to, const char *text)
{
    size_t length = strlen(text);

    align(to, 4, length + 1);
    place(to, text, length + 1);
    place_number(to, length, 4);
    return here(to);
}

uint32_t jx_flat_write_bytes(jx_flat_writer *to, const void *bytes, size_t size)
{
    return jx_flat_write_vector(to, bytes, size, 1);
}

uint32_t jx_flat_write_vector(jx_flat_writer *to, const void *items,
                              size_t count, unsigned width)
{
    size_t size;

    if (count > UINT32_MAX ||
        __builtin_mul_overflow(count, (size_t)width, &size)) {
        to->failed = true;
        return 0;
    }
    align(to, 4, size);
    align(to, width, size);
    place(to, items, size);
    place_number(to, count, 4);
    return here(to);
}

uint32_t jx_flat_write_offsets(jx_flat_writer *to, const uint32_t *offsets,
                               size_t count)
{
    align(to, 4, count * 4);
    for (size_t i = count; i-- > 0;)
        place_number(to, here(to) + 4 - offsets[i], 4);
    place_number(to, count, 4);
    return here(to);
}

/* ---- tables */

void jx_flat_write_begin(jx_flat_writer *to)
{
    memset(to->slots, 0, sizeof to->slots);
    to->table = here(to);
}

void jx_flat_write_always(jx_flat_writer *to, unsigned slot, unsigned width,
                          uint64_t value)
{
    align(to, width, 0);
    place_number(to, value, width);
    JX_ASSERT(to->failed || to->used % width == 0);
    to->slots[slot] = here(to);
}

void jx_flat_write_scalar(jx_flat_writer *to, unsigned slot, unsigned width,
                          uint64_t value, uint64_t otherwise)
{
    if (value != otherwise)
        jx_flat_write_always(to, slot, width, value);
}

void jx_flat_write_offset(jx_flat_writer *to, unsigned slot, uint32_t offset)
{
    if (!offset)
        return;
    align(to, 4, 0);
    place_number(to, here(to) + 4 - offset, 4);
    to->slots[slot] = here(to);
}

static unsigned char *at(const jx_flat_writer *to, uint32_t offset)
{
    return to->bytes + to->capacity - offset;
}

static void keep_vtable(jx_flat_writer *to, uint32_t offset)
{
    if (to->nvtables == to->vtables_room) {
        size_t room = to->vtables_room ? to->vtables_room * 2 : 16;
        uint32_t *more = realloc(to->vtables, room * sizeof *more);
        if (!more) {
            jx_flat_starve(to);
            return;
        }
        to->vtables = more;
        to->vtables_room = room;
    }
    to->vtables[to->nvtables++] = offset;
}

/* The vtable of these bytes, written now if it was not before. */
static uint32_t vtable(jx_flat_writer *to, const unsigned char *bytes,
                       size_t size)
{
    for (size_t i = 0; i < to->nvtables; i++) {
        const unsigned char *kept = at(to, to->vtables[i]);
        if (memcmp(kept, bytes, 2) == 0 &&
            (to->loose || memcmp(kept + 2, bytes + 2, 2) == 0) &&
            memcmp(kept + 4, bytes + 4, size - 4) == 0)
            return to->vtables[i];
    }
    place(to, bytes, size);
    keep_vtable(to, here(to));
    return here(to);
}

static void put_half(unsigned char *to, size_t value)
{
    to[0] = (unsigned char)value;
    to[1] = (unsigned char)(value >> 8);
}

uint32_t jx_flat_write_end(jx_flat_writer *to)
{
    unsigned char bytes[4 + 2 * JX_FLAT_WRITE_SLOTS];
    uint32_t table, distance;
    size_t count = JX_FLAT_WRITE_SLOTS;

    align(to, 4, 0);
    place_number(to, 0, 4);
    table = here(to);
    while (count && !to->slots[count - 1])
        count--;
    put_half(bytes, 4 + 2 * count);
    put_half(bytes + 2, table - to->table);
    for (size_t i = 0; i < count; i++)
        put_half(bytes + 4 + 2 * i, to->slots[i] ? table - to->slots[i] : 0);
    if (to->failed)
        return 0;
    distance = vtable(to, bytes, 4 + 2 * count) - table;
    if (to->failed)
        return 0;
    for (int i = 0; i < 4; i++)
        at(to, table)[i] = (unsigned char)(distance >> (8 * i));
    return table;
}

bool jx_flat_write_finish(jx_flat_writer *to, uint32_t root, jx_buffer *file)
{
    align(to, to->alignment > 4 ? to->alignment : 4, 4);
    place_number(to, here(to) + 4 - root, 4);
    if (to->starved)
        jx_budget_starved(file->budget);
    if (to->failed)
        return false;
    jx_buffer_bytes(file, at(to, here(to)), to->used);
    return jx_buffer_ok(file);
}
