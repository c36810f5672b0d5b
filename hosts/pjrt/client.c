/* client.c - clients, their devices and memories.
 *
 * A device is a number: all of them are this machine, and so is every kind
 * of memory. The platform calls itself `cpu`, for it is one: JAX then
 * lowers linear algebra, callbacks and whatever depends on the platform as
 * it does for its own. */
#include "hosts/pjrt/plugin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char platform[] = "cpu";
static const char device_kind[] = "jaxvet";

/* As XLA's CPU has them; the first is where buffers are if nobody says. */
const char *const jx_pjrt_memory_kinds[JX_PJRT_KINDS] = {
    "device", "pinned_host", "unpinned_host"};

int jx_pjrt_memory_kind(const char *name)
{
    for (int k = 0; k < JX_PJRT_KINDS; k++)
        if (!strcmp(name, jx_pjrt_memory_kinds[k]))
            return k;
    return -1;
}

PJRT_Device *jx_pjrt_device(PJRT_Client *client, int64_t id)
{
    return id >= 0 && id < client->count ? &client->devices[id] : NULL;
}

/* ---- how many devices, and how much memory */

typedef struct settings {
    int devices;
    int64_t limit;
} settings;

static PJRT_Error *count_of(int64_t said, const char *where, int *to)
{
    if (said < 1 || said > JX_PJRT_MOST_DEVICES)
        return jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                             "%s: expected 1 to %d devices, found %lld", where,
                             JX_PJRT_MOST_DEVICES, (long long)said);
    *to = (int)said;
    return NULL;
}

static PJRT_Error *limit_of(int64_t said, const char *where, int64_t *to)
{
    if (said < 1)
        return jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                             "%s: expected bytes, such as %s", where,
                             where[0] == 'J' ? "512MiB" : "536870912");
    *to = said;
    return NULL;
}

static PJRT_Error *limit_from_environment(int64_t *to)
{
    const char *text = getenv("JAXVET_MEMORY");

    return limit_of((int64_t)jaxvet_memory(text && *text ? text : NULL),
                    "JAXVET_MEMORY", to);
}

/* -1 for what is no number. */
static int64_t number_of(const char *text)
{
    char *end;
    long long value;

    errno = 0;
    value = strtoll(text, &end, 10);
    return end == text || *end || errno ? -1 : value;
}

static PJRT_Error *count_from_environment(int *to)
{
    const char *text = getenv("JAXVET_DEVICES");

    *to = 1;
    return text && *text ? count_of(number_of(text), "JAXVET_DEVICES", to)
                         : NULL;
}

static bool is_called(const PJRT_NamedValue *value, const char *name)
{
    return value->name_size == strlen(name) &&
           !memcmp(value->name, name, value->name_size);
}

/* An option that is unknown is refused: who gives it expects something of it.
 * What the user sets by jax_pjrt_client_create_options comes as text. */
static PJRT_Error *read_option(const PJRT_NamedValue *o, settings *to)
{
    bool devices, limit;
    char text[64] = "";
    int64_t value = 0;
    PJRT_Error *error = JX_PJRT_CHECK(PJRT_NamedValue, value_size, o);

    if (error)
        return error;
    devices = is_called(o, "devices");
    limit = is_called(o, "memory_limit_bytes");
    if (!devices && !limit)
        return jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                             "unknown option '%.*s' of the client; known are "
                             "'devices' and 'memory_limit_bytes', numbers",
                             (int)o->name_size, o->name);
    if (o->type == PJRT_NamedValue_kInt64)
        value = o->int64_value;
    else if (o->type != PJRT_NamedValue_kString)
        return jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                             "option '%.*s' of the client: expected an integer",
                             (int)o->name_size, o->name);
    /* more is no number */
    else if (o->string_value && o->value_size < sizeof text)
        memcpy(text, o->string_value, o->value_size);
    if (devices)
        return count_of(*text ? number_of(text) : value, "option 'devices'",
                        &to->devices);
    return limit_of(*text ? (int64_t)jaxvet_memory(text) : value,
                    "option 'memory_limit_bytes'", &to->limit);
}

static PJRT_Error *read_options(const PJRT_Client_Create_Args *args,
                                settings *to)
{
    PJRT_Error *error = count_from_environment(&to->devices);

    if (!error)
        error = limit_from_environment(&to->limit);

    for (size_t i = 0; !error && i < args->num_options; i++)
        error = read_option(&args->create_options[i], to);
    return error;
}

/* ---- making one */

static void make_device(PJRT_Client *client, int id)
{
    PJRT_Device *d = &client->devices[id];

    d->client = client;
    d->self = d;
    d->description.id = id;
    snprintf(d->description.text, sizeof d->description.text,
             "JaxvetDevice(id=%d)", id);
    for (int k = 0; k < JX_PJRT_KINDS; k++) {
        PJRT_Memory *m = &d->memories[k];
        *m =
            (PJRT_Memory){.device = d, .id = id * JX_PJRT_KINDS + k, .kind = k};
        snprintf(m->text, sizeof m->text, "JaxvetMemory(%s, device=%d)",
                 jx_pjrt_memory_kinds[k], id);
        d->memory_list[k] = m;
        client->memories[m->id] = m;
    }
    client->list[id] = d;
    client->topology.list[id] = &client->topology.descriptions[id];
    client->topology.descriptions[id] = d->description;
}

PJRT_Client *jx_pjrt_client_share(PJRT_Client *client)
{
    atomic_fetch_add(&client->holders, 1);
    return client;
}

void jx_pjrt_client_drop(PJRT_Client *client)
{
    if (!client || atomic_fetch_sub(&client->holders, 1) != 1)
        return;
    free(client->devices);
    free(client->list);
    free(client->memories);
    free(client->topology.descriptions);
    free(client->topology.list);
    jaxvet_helper_free(client->helper);
    free(client);
}

static PJRT_Client *new_client(const settings *wanted)
{
    PJRT_Client *c = calloc(1, sizeof *c);
    int count = wanted->devices;
    size_t n = (size_t)count;

    if (!c)
        return NULL;
    atomic_init(&c->holders, 1);
    c->count = c->topology.count = count;
    c->limit = wanted->limit;
    c->devices = calloc(n, sizeof *c->devices);
    c->list = calloc(n, sizeof *c->list);
    c->memories = calloc(n * JX_PJRT_KINDS, sizeof *c->memories);
    c->topology.descriptions = calloc(n, sizeof *c->topology.descriptions);
    c->topology.list = calloc(n, sizeof *c->topology.list);
    c->helper = jaxvet_helper_new(NULL);
    if (!c->devices || !c->list || !c->memories || !c->topology.descriptions ||
        !c->topology.list || !c->helper) {
        jx_pjrt_client_drop(c);
        return NULL;
    }
    for (int i = 0; i < count; i++)
        make_device(c, i);
    return c;
}

PJRT_Error *jx_pjrt_Client_Create(PJRT_Client_Create_Args *args)
{
    settings wanted = {1, 1};
    PJRT_Error *error = read_options(args, &wanted);

    if (error)
        return error;
    args->client = new_client(&wanted);
    return args->client ? NULL : jx_pjrt_starved();
}

PJRT_Error *jx_pjrt_Client_Destroy(PJRT_Client_Destroy_Args *args)
{
    jx_pjrt_client_drop(args->client);
    return NULL;
}

/* ---- what a client says of itself */

static void put_text(const char *text, const char **to, size_t *size)
{
    *to = text;
    *size = strlen(text);
}

PJRT_Error *jx_pjrt_Client_PlatformName(PJRT_Client_PlatformName_Args *args)
{
    put_text(platform, &args->platform_name, &args->platform_name_size);
    return NULL;
}

/* The cache of compiled programs takes it into its keys. */
PJRT_Error *
jx_pjrt_Client_PlatformVersion(PJRT_Client_PlatformVersion_Args *args)
{
    put_text(jaxvet_version(), &args->platform_version,
             &args->platform_version_size);
    return NULL;
}

PJRT_Error *jx_pjrt_Client_ProcessIndex(PJRT_Client_ProcessIndex_Args *args)
{
    args->process_index = 0;
    return NULL;
}

PJRT_Error *jx_pjrt_Client_Devices(PJRT_Client_Devices_Args *args)
{
    args->devices = args->client->list;
    args->num_devices = (size_t)args->client->count;
    return NULL;
}

PJRT_Error *
jx_pjrt_Client_AddressableDevices(PJRT_Client_AddressableDevices_Args *args)
{
    args->addressable_devices = args->client->list;
    args->num_addressable_devices = (size_t)args->client->count;
    return NULL;
}

static PJRT_Error *look_up(PJRT_Client *client, int id, PJRT_Device **to)
{
    *to = jx_pjrt_device(client, id);
    return *to ? NULL
               : jx_pjrt_error(
                     PJRT_Error_Code_INVALID_ARGUMENT,
                     "there is no device %d: the client has %d, from 0", id,
                     client->count);
}

PJRT_Error *jx_pjrt_Client_LookupDevice(PJRT_Client_LookupDevice_Args *args)
{
    return look_up(args->client, args->id, &args->device);
}

PJRT_Error *jx_pjrt_Client_LookupAddressableDevice(
    PJRT_Client_LookupAddressableDevice_Args *args)
{
    return look_up(args->client, args->local_hardware_id,
                   &args->addressable_device);
}

PJRT_Error *
jx_pjrt_Client_AddressableMemories(PJRT_Client_AddressableMemories_Args *args)
{
    args->addressable_memories = args->client->memories;
    args->num_addressable_memories =
        (size_t)args->client->count * JX_PJRT_KINDS;
    return NULL;
}

PJRT_Error *
jx_pjrt_Client_TopologyDescription(PJRT_Client_TopologyDescription_Args *args)
{
    args->topology = &args->client->topology;
    return NULL;
}

/* Replica r of partition p runs on device r * partitions + p. */
PJRT_Error *jx_pjrt_Client_DefaultDeviceAssignment(
    PJRT_Client_DefaultDeviceAssignment_Args *args)
{
    int64_t wanted = (int64_t)args->num_replicas * args->num_partitions;

    if (args->num_replicas < 1 || args->num_partitions < 1 ||
        wanted > args->client->count)
        return jx_pjrt_error(
            PJRT_Error_Code_INVALID_ARGUMENT,
            "%d replicas of %d partitions want %lld devices; the "
            "client has %d (JAXVET_DEVICES says how many)",
            args->num_replicas, args->num_partitions, (long long)wanted,
            args->client->count);
    if (args->default_assignment_size < (size_t)wanted)
        return jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                             "expected room for %lld devices, found %zu",
                             (long long)wanted, args->default_assignment_size);
    for (int i = 0; i < wanted; i++)
        args->default_assignment[i] = i;
    return NULL;
}

/* All processes are this one. */
PJRT_Error *jx_pjrt_Client_DmaMap(PJRT_Client_DmaMap_Args *args)
{
    (void)args;
    return NULL;
}

PJRT_Error *jx_pjrt_Client_DmaUnmap(PJRT_Client_DmaUnmap_Args *args)
{
    (void)args;
    return NULL;
}

/* ---- devices */

PJRT_Error *jx_pjrt_DeviceDescription_Id(PJRT_DeviceDescription_Id_Args *args)
{
    args->id = args->device_description->id;
    return NULL;
}

PJRT_Error *jx_pjrt_DeviceDescription_ProcessIndex(
    PJRT_DeviceDescription_ProcessIndex_Args *args)
{
    args->process_index = 0;
    return NULL;
}

PJRT_Error *jx_pjrt_DeviceDescription_Attributes(
    PJRT_DeviceDescription_Attributes_Args *args)
{
    args->num_attributes = 0;
    args->attributes = NULL;
    return NULL;
}

PJRT_Error *
jx_pjrt_DeviceDescription_Kind(PJRT_DeviceDescription_Kind_Args *args)
{
    put_text(device_kind, &args->device_kind, &args->device_kind_size);
    return NULL;
}

PJRT_Error *jx_pjrt_DeviceDescription_DebugString(
    PJRT_DeviceDescription_DebugString_Args *args)
{
    put_text(args->device_description->text, &args->debug_string,
             &args->debug_string_size);
    return NULL;
}

PJRT_Error *
jx_pjrt_DeviceDescription_ToString(PJRT_DeviceDescription_ToString_Args *args)
{
    put_text(args->device_description->text, &args->to_string,
             &args->to_string_size);
    return NULL;
}

PJRT_Error *jx_pjrt_Device_GetDescription(PJRT_Device_GetDescription_Args *args)
{
    args->device_description = &args->device->description;
    return NULL;
}

PJRT_Error *jx_pjrt_Device_IsAddressable(PJRT_Device_IsAddressable_Args *args)
{
    args->is_addressable = true;
    return NULL;
}

PJRT_Error *
jx_pjrt_Device_LocalHardwareId(PJRT_Device_LocalHardwareId_Args *args)
{
    args->local_hardware_id = args->device->description.id;
    return NULL;
}

PJRT_Error *
jx_pjrt_Device_AddressableMemories(PJRT_Device_AddressableMemories_Args *args)
{
    args->memories = args->device->memory_list;
    args->num_memories = JX_PJRT_KINDS;
    return NULL;
}

PJRT_Error *jx_pjrt_Device_DefaultMemory(PJRT_Device_DefaultMemory_Args *args)
{
    args->memory = args->device->memory_list[0];
    return NULL;
}

/* jaxlib ends the process where there is no deleter. */
static void keep_attributes(PJRT_Device_Attributes *attributes)
{
    (void)attributes;
}

PJRT_Error *jx_pjrt_Device_GetAttributes(PJRT_Device_GetAttributes_Args *args)
{
    args->attributes = NULL;
    args->num_attributes = 0;
    args->device_attributes = NULL;
    args->attributes_deleter = keep_attributes;
    return NULL;
}

PJRT_Error *jx_pjrt_Device_MemoryStats(PJRT_Device_MemoryStats_Args *args)
{
    PJRT_Device *d = args->device;

    PJRT_ZERO_FROM(args, bytes_in_use);
    args->bytes_in_use = atomic_load(&d->bytes);
    args->peak_bytes_in_use = atomic_load(&d->peak);
    args->peak_bytes_in_use_is_set = true;
    args->num_allocs = atomic_load(&d->count);
    args->num_allocs_is_set = true;
    args->largest_alloc_size = atomic_load(&d->largest);
    args->largest_alloc_size_is_set = true;
    args->bytes_limit = d->client->limit;
    args->bytes_limit_is_set = true;
    return NULL;
}

PJRT_Error *
jx_pjrt_Device_ClearMemoryStats(PJRT_Device_ClearMemoryStats_Args *args)
{
    PJRT_Device *d = args->device;

    atomic_store(&d->peak, atomic_load(&d->bytes));
    atomic_store(&d->count, 0);
    atomic_store(&d->largest, 0);
    return NULL;
}

/* ---- memories */

PJRT_Error *jx_pjrt_Memory_Id(PJRT_Memory_Id_Args *args)
{
    args->id = args->memory->id;
    return NULL;
}

PJRT_Error *jx_pjrt_Memory_Kind(PJRT_Memory_Kind_Args *args)
{
    put_text(jx_pjrt_memory_kinds[args->memory->kind], &args->kind,
             &args->kind_size);
    return NULL;
}

PJRT_Error *jx_pjrt_Memory_Kind_Id(PJRT_Memory_Kind_Id_Args *args)
{
    args->kind_id = args->memory->kind;
    return NULL;
}

PJRT_Error *jx_pjrt_Memory_DebugString(PJRT_Memory_DebugString_Args *args)
{
    put_text(args->memory->text, &args->debug_string, &args->debug_string_size);
    return NULL;
}

PJRT_Error *jx_pjrt_Memory_ToString(PJRT_Memory_ToString_Args *args)
{
    put_text(args->memory->text, &args->to_string, &args->to_string_size);
    return NULL;
}

PJRT_Error *
jx_pjrt_Memory_AddressableByDevices(PJRT_Memory_AddressableByDevices_Args *args)
{
    args->devices = &args->memory->device->self;
    args->num_devices = 1;
    return NULL;
}
