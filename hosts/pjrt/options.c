/* options.c - what a compilation is told, as Protocol Buffers write it.
 *
 * Of CompileOptionsProto: executable_build_options (3), compile_portable_executable
 * (4); of the former num_replicas (4), num_partitions (5), device_assignment (9); of
 * DeviceAssignmentProto replica_count (1), computation_count (2) and, for each
 * computation, computation_devices (3), whose replica_device_ids (1) are numbers. */
#include "hosts/pjrt/plugin.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading the wire */

typedef struct wire {
    const unsigned char *at, *end;
} wire;

typedef struct field {
    int number;
    enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 } kind;
    uint64_t value; /* of VARINT */
    wire bytes;     /* of BYTES */
} field;

static bool read_varint(wire *from, uint64_t *to)
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

static bool skip(wire *from, uint64_t size)
{
    if (size > (uint64_t)(from->end - from->at))
        return false;
    from->at += size;
    return true;
}

/* The next field; false where the bytes are not well formed. */
static bool read_field(wire *from, field *to)
{
    uint64_t tag;

    if (!read_varint(from, &tag) || tag >> 3 > INT32_MAX || !(tag >> 3))
        return false;
    to->number = (int)(tag >> 3);
    switch (tag & 7) {
    case VARINT:
        to->kind = VARINT;
        return read_varint(from, &to->value);
    case FIXED64:
        to->kind = FIXED64;
        return skip(from, 8);
    case FIXED32:
        to->kind = FIXED32;
        return skip(from, 4);
    case BYTES:
        to->kind = BYTES;
        if (!read_varint(from, &to->value))
            return false;
        to->bytes.at = from->at;
        if (!skip(from, to->value))
            return false;
        to->bytes.end = from->at;
        return true;
    default:
        return false;
    }
}

/* ---- the messages */

typedef struct assignment {
    int64_t replicas, partitions;
    int count, room;
    int *ids; /* [partition][replica], as they are written */
} assignment;

static bool put_id(assignment *a, uint64_t id)
{
    if (a->count == a->room) {
        int room = a->room ? 2 * a->room : 8;
        int *ids = room <= JX_PJRT_MOST_DEVICES * 2
                       ? realloc(a->ids, (size_t)room * sizeof *ids)
                       : NULL;
        if (!ids)
            return false;
        a->ids = ids;
        a->room = room;
    }
    a->ids[a->count++] = id < JX_PJRT_MOST_DEVICES ? (int)id : -1;
    return true;
}

static bool read_computation(wire from, assignment *to)
{
    uint64_t id;
    field f;

    while (from.at < from.end) {
        if (!read_field(&from, &f))
            return false;
        if (f.number != 1)
            continue;
        if (f.kind == VARINT && !put_id(to, f.value))
            return false;
        while (f.kind == BYTES && f.bytes.at < f.bytes.end)
            if (!read_varint(&f.bytes, &id) || !put_id(to, id))
                return false;
    }
    return true;
}

static bool read_assignment(wire from, assignment *to)
{
    field f;

    while (from.at < from.end) {
        if (!read_field(&from, &f))
            return false;
        if (f.number == 1 && f.kind == VARINT)
            to->replicas = (int64_t)f.value;
        else if (f.number == 2 && f.kind == VARINT)
            to->partitions = (int64_t)f.value;
        else if (f.number == 3 && f.kind == BYTES &&
                 !read_computation(f.bytes, to))
            return false;
    }
    return true;
}

static int count_of(uint64_t value)
{
    return value >= 1 && value <= JX_PJRT_MOST_DEVICES ? (int)value : -1;
}

static bool read_build(wire from, jx_pjrt_options *to, assignment *devices)
{
    field f;

    while (from.at < from.end) {
        if (!read_field(&from, &f))
            return false;
        if (f.number == 4 && f.kind == VARINT)
            to->replicas = count_of(f.value);
        else if (f.number == 5 && f.kind == VARINT)
            to->partitions = count_of(f.value);
        else if (f.number == 9 && f.kind == BYTES &&
                 !read_assignment(f.bytes, devices))
            return false;
    }
    return true;
}

static bool read_options(wire from, jx_pjrt_options *to, assignment *devices)
{
    field f;

    while (from.at < from.end) {
        if (!read_field(&from, &f))
            return false;
        if (f.number == 3 && f.kind == BYTES &&
            !read_build(f.bytes, to, devices))
            return false;
        if (f.number == 4 && f.kind == VARINT)
            to->is_portable = f.value != 0;
    }
    return true;
}

/* ---- the whole */

static PJRT_Error *refuse(const char *what)
{
    return jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT, "compile options: %s",
                         what);
}

/* From [partition][replica] to [replica][partition]. */
static PJRT_Error *take_devices(const assignment *from, jx_pjrt_options *to)
{
    int n = to->replicas * to->partitions;

    if (!from->count)
        return NULL;
    if (from->count != n || from->replicas != to->replicas ||
        from->partitions != to->partitions)
        return refuse("expected a device for each replica of each partition");
    to->devices = malloc((size_t)n * sizeof *to->devices);
    if (!to->devices)
        return jx_pjrt_starved();
    to->ndevices = n;
    for (int p = 0; p < to->partitions; p++)
        for (int r = 0; r < to->replicas; r++) {
            int id = from->ids[p * to->replicas + r];
            if (id < 0)
                return refuse("a device id is out of range");
            to->devices[r * to->partitions + p] = id;
        }
    return NULL;
}

PJRT_Error *jx_pjrt_options_read(const char *bytes, size_t size,
                                 jx_pjrt_options *to)
{
    const unsigned char *at = (const unsigned char *)bytes;
    assignment devices = {0};
    PJRT_Error *error = NULL;

    *to = (jx_pjrt_options){.replicas = 1, .partitions = 1};
    if (size && !read_options((wire){at, at + size}, to, &devices))
        error = refuse("expected a CompileOptionsProto");
    else if (to->replicas < 1 || to->partitions < 1 ||
             to->replicas * to->partitions > JX_PJRT_MOST_DEVICES)
        error = refuse("the number of replicas or partitions is out of range");
    else
        error = take_devices(&devices, to);
    free(devices.ids);
    if (error)
        jx_pjrt_options_free(to);
    return error;
}

void jx_pjrt_options_free(jx_pjrt_options *options)
{
    free(options->devices);
    *options = (jx_pjrt_options){0};
}

/* ---- writing an assignment */

static size_t put_varint(char *to, uint64_t value)
{
    size_t n = 0;

    for (; value > 0x7f; value >>= 7)
        to[n++] = (char)(value | 0x80);
    to[n++] = (char)value;
    return n;
}

bool jx_pjrt_assignment_write(const jx_pjrt_options *o, jx_pjrt_bytes *to)
{
    enum { WIDEST = 5, HEADS = 16 }; /* bytes of a number, and of what is around */
    size_t replicas = (size_t)o->replicas, partitions = (size_t)o->partitions;
    size_t room = HEADS + partitions * (HEADS + replicas * (1 + WIDEST)), n = 0;
    char *inner = malloc(room);

    to->at = malloc(room);
    if (!inner || !to->at) {
        free(inner);
        free(to->at);
        return false;
    }
    to->at[n++] = 1 << 3;
    n += put_varint(to->at + n, replicas);
    to->at[n++] = 2 << 3;
    n += put_varint(to->at + n, partitions);
    for (size_t p = 0; p < partitions; p++) {
        size_t length = 0;
        for (size_t r = 0; r < replicas; r++) {
            inner[length++] = 1 << 3;
            length += put_varint(
                inner + length,
                (uint64_t)(o->devices ? o->devices[r * partitions + p] : 0));
        }
        to->at[n++] = 3 << 3 | BYTES;
        n += put_varint(to->at + n, length);
        memcpy(to->at + n, inner, length);
        n += length;
    }
    free(inner);
    to->size = n;
    return true;
}
