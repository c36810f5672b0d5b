/* wire.c - see wire.h. */
#include "hosts/pjrt/wire.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading */

bool jx_wire_varint(jx_wire *from, uint64_t *to)
{
    *to = 0;
    for (int shift = 0; shift < 64 && from->at < from->end; shift += 7) {
        unsigned char byte = *from->at++;
        *to |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

static bool skip(jx_wire *from, uint64_t size)
{
    if (size > (uint64_t)(from->end - from->at))
        return false;
    from->at += size;
    return true;
}

bool jx_wire_next(jx_wire *from, jx_wire_field *to)
{
    uint64_t tag;

    if (!jx_wire_varint(from, &tag) || tag >> 3 > INT32_MAX || !(tag >> 3))
        return false;
    to->number = (int)(tag >> 3);
    to->kind = (jx_wire_kind)(tag & 7);
    switch (to->kind) {
    case JX_WIRE_VARINT: return jx_wire_varint(from, &to->value);
    case JX_WIRE_FIXED64: return skip(from, 8);
    case JX_WIRE_FIXED32: return skip(from, 4);
    case JX_WIRE_BYTES:
        if (!jx_wire_varint(from, &to->value))
            return false;
        to->bytes.at = from->at;
        if (!skip(from, to->value))
            return false;
        to->bytes.end = from->at;
        return true;
    }
    return false;
}

/* ---- writing */

static void put(jx_wire_out *to, const void *bytes, size_t size)
{
    if (!to->failed && to->size + size > to->room) {
        size_t room = 2 * (to->size + size) + 32;
        char *at = realloc(to->at, room);
        to->failed = !at;
        if (at) {
            to->at = at;
            to->room = room;
        }
    }
    if (to->failed || !size)
        return;
    memcpy(to->at + to->size, bytes, size);
    to->size += size;
}

static void put_number(jx_wire_out *to, uint64_t value)
{
    unsigned char bytes[10];
    size_t n = 0;

    for (; value > 0x7f; value >>= 7)
        bytes[n++] = (unsigned char)(value | 0x80);
    bytes[n++] = (unsigned char)value;
    put(to, bytes, n);
}

void jx_wire_put_varint(jx_wire_out *to, int number, uint64_t value)
{
    put_number(to, (uint64_t)number << 3 | JX_WIRE_VARINT);
    put_number(to, value);
}

void jx_wire_put_bytes(jx_wire_out *to, int number, const void *bytes,
                       size_t size)
{
    put_number(to, (uint64_t)number << 3 | JX_WIRE_BYTES);
    put_number(to, size);
    put(to, bytes, size);
}
