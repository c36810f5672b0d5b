/* options.c - what a compilation is told, as Protocol Buffers write it.
 *
 * Of CompileOptionsProto: executable_build_options (3),
 * compile_portable_executable (4), env_option_overrides (7), whose key (1) is
 * an option's name; of the first num_replicas (4), num_partitions (5),
 * device_assignment (9); of DeviceAssignmentProto replica_count (1),
 * computation_count (2) and, for each computation, computation_devices (3),
 * whose replica_device_ids (1) are numbers. */
#include "hosts/pjrt/plugin.h"

#include <stdlib.h>
#include <string.h>

/* ---- the messages */

/* XLA's own options mean nothing here, but whoever misspells one
 * wants to know. */
static bool is_option(jx_wire name)
{
    static const char *const known[] = {
        "exec_time_optimization_effort", "memory_fitting_effort",
        "optimization_level", "memory_fitting_level"};
    size_t size = (size_t)(name.end - name.at);

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (size == strlen(known[i]) && !memcmp(name.at, known[i], size))
            return true;
    return size > 4 && !memcmp(name.at, "xla_", 4);
}

static bool read_override(jx_wire from, jx_pjrt_options *to)
{
    jx_wire_field f;

    while (from.at < from.end) {
        if (!jx_wire_next(&from, &f))
            return false;
        if (f.number == 1 && f.kind == JX_WIRE_BYTES && !is_option(f.bytes))
            to->unknown = f.bytes;
    }
    return true;
}

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

static bool read_computation(jx_wire from, assignment *to)
{
    uint64_t id;
    jx_wire_field f;

    while (from.at < from.end) {
        if (!jx_wire_next(&from, &f))
            return false;
        if (f.number != 1)
            continue;
        if (f.kind == JX_WIRE_VARINT && !put_id(to, f.value))
            return false;
        while (f.kind == JX_WIRE_BYTES && f.bytes.at < f.bytes.end)
            if (!jx_wire_varint(&f.bytes, &id) || !put_id(to, id))
                return false;
    }
    return true;
}

static bool read_assignment(jx_wire from, assignment *to)
{
    jx_wire_field f;

    while (from.at < from.end) {
        if (!jx_wire_next(&from, &f))
            return false;
        if (f.number == 1 && f.kind == JX_WIRE_VARINT)
            to->replicas = (int64_t)f.value;
        else if (f.number == 2 && f.kind == JX_WIRE_VARINT)
            to->partitions = (int64_t)f.value;
        else if (f.number == 3 && f.kind == JX_WIRE_BYTES &&
                 !read_computation(f.bytes, to))
            return false;
    }
    return true;
}

static int count_of(uint64_t value)
{
    return value >= 1 && value <= JX_PJRT_MOST_DEVICES ? (int)value : -1;
}

static bool read_build(jx_wire from, jx_pjrt_options *to, assignment *devices)
{
    jx_wire_field f;

    while (from.at < from.end) {
        if (!jx_wire_next(&from, &f))
            return false;
        if (f.number == 4 && f.kind == JX_WIRE_VARINT)
            to->replicas = count_of(f.value);
        else if (f.number == 5 && f.kind == JX_WIRE_VARINT)
            to->partitions = count_of(f.value);
        else if (f.number == 9 && f.kind == JX_WIRE_BYTES &&
                 !read_assignment(f.bytes, devices))
            return false;
    }
    return true;
}

static bool read_options(jx_wire from, jx_pjrt_options *to, assignment *devices)
{
    jx_wire_field f;

    while (from.at < from.end) {
        if (!jx_wire_next(&from, &f))
            return false;
        if (f.number == 3 && f.kind == JX_WIRE_BYTES &&
            !read_build(f.bytes, to, devices))
            return false;
        if (f.number == 4 && f.kind == JX_WIRE_VARINT)
            to->is_portable = f.value != 0;
        if (f.number == 7 && f.kind == JX_WIRE_BYTES &&
            !read_override(f.bytes, to))
            return false;
    }
    return true;
}

/* ---- the whole */

static PJRT_Error *refuse(const char *what)
{
    return jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                         "compile options: %s", what);
}

static PJRT_Error *refuse_name(jx_wire name)
{
    size_t size = (size_t)(name.end - name.at), most = 200;

    return jx_pjrt_error(
        PJRT_Error_Code_INVALID_ARGUMENT, "No such compile option: '%.*s'",
        (int)(size < most ? size : most), (const char *)name.at);
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
    if (size && !read_options((jx_wire){at, at + size}, to, &devices))
        error = refuse("expected a CompileOptionsProto");
    else if (to->unknown.at)
        error = refuse_name(to->unknown);
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

int jx_pjrt_device_of(const jx_pjrt_options *options, int i)
{
    return options->devices ? options->devices[i] : i;
}

/* ---- writing an assignment */

bool jx_pjrt_assignment_write(const jx_pjrt_options *o, jx_wire_out *to)
{
    *to = (jx_wire_out){0};
    jx_wire_put_varint(to, 1, (uint64_t)o->replicas);
    jx_wire_put_varint(to, 2, (uint64_t)o->partitions);
    for (int p = 0; p < o->partitions; p++) {
        jx_wire_out ids = {0};
        for (int r = 0; r < o->replicas; r++)
            jx_wire_put_varint(
                &ids, 1, (uint64_t)jx_pjrt_device_of(o, r * o->partitions + p));
        jx_wire_put_bytes(to, 3, ids.at, ids.size);
        to->failed |= ids.failed;
        free(ids.at);
    }
    return !to->failed;
}
