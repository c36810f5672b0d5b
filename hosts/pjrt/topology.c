/* topology.c - descriptions of devices that need not be there. */
#include "hosts/pjrt/plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void free_topology(PJRT_TopologyDescription *topology)
{
    free(topology->descriptions);
    free(topology->list);
    free(topology);
}

static PJRT_Error *make(int64_t count, PJRT_TopologyDescription **to)
{
    PJRT_TopologyDescription *t;

    if (count < 1 || count > JX_PJRT_MOST_DEVICES)
        return jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                             "a topology: expected 1 to %d devices, found %lld",
                             JX_PJRT_MOST_DEVICES, (long long)count);
    t = calloc(1, sizeof *t);
    if (!t)
        return jx_pjrt_starved();
    t->count = (int)count;
    t->descriptions = calloc((size_t)count, sizeof *t->descriptions);
    t->list = calloc((size_t)count, sizeof *t->list);
    if (!t->descriptions || !t->list) {
        free_topology(t);
        return jx_pjrt_starved();
    }
    for (int i = 0; i < t->count; i++) {
        t->descriptions[i].id = i;
        snprintf(t->descriptions[i].text, sizeof t->descriptions[i].text,
                 "JaxvetDevice(id=%d)", i);
        t->list[i] = &t->descriptions[i];
    }
    *to = t;
    return NULL;
}

/* Its name is how many devices it has; of another one ("cpu:..."): one. */
PJRT_Error *
jx_pjrt_TopologyDescription_Create(PJRT_TopologyDescription_Create_Args *args)
{
    char name[24] = "", *end;
    long long count;

    if (args->topology_name_size < sizeof name && args->topology_name_size)
        memcpy(name, args->topology_name, args->topology_name_size);
    count = strtoll(name, &end, 10);
    return make(*name && !*end ? count : 1, &args->topology);
}

PJRT_Error *
jx_pjrt_TopologyDescription_Destroy(PJRT_TopologyDescription_Destroy_Args *args)
{
    if (args->topology)
        free_topology(args->topology);
    return NULL;
}

PJRT_Error *jx_pjrt_TopologyDescription_PlatformName(
    PJRT_TopologyDescription_PlatformName_Args *args)
{
    PJRT_Client_PlatformName_Args same = {0};

    jx_pjrt_Client_PlatformName(&same);
    args->platform_name = same.platform_name;
    args->platform_name_size = same.platform_name_size;
    return NULL;
}

PJRT_Error *jx_pjrt_TopologyDescription_PlatformVersion(
    PJRT_TopologyDescription_PlatformVersion_Args *args)
{
    PJRT_Client_PlatformVersion_Args same = {0};

    jx_pjrt_Client_PlatformVersion(&same);
    args->platform_version = same.platform_version;
    args->platform_version_size = same.platform_version_size;
    return NULL;
}

PJRT_Error *jx_pjrt_TopologyDescription_GetDeviceDescriptions(
    PJRT_TopologyDescription_GetDeviceDescriptions_Args *args)
{
    args->descriptions = args->topology->list;
    args->num_descriptions = (size_t)args->topology->count;
    return NULL;
}

PJRT_Error *jx_pjrt_TopologyDescription_Attributes(
    PJRT_TopologyDescription_Attributes_Args *args)
{
    args->attributes = NULL;
    args->num_attributes = 0;
    return NULL;
}

PJRT_Error *jx_pjrt_TopologyDescription_Fingerprint(
    PJRT_TopologyDescription_Fingerprint_Args *args)
{
    args->fingerprint = (size_t)args->topology->count;
    return NULL;
}

/* ---- as bytes: "jaxvet topology 8" */

static const char before[] = "jaxvet topology ";

struct PJRT_SerializedTopology {
    char text[48];
};

static void free_serialized(PJRT_SerializedTopology *serialized)
{
    free(serialized);
}

PJRT_Error *jx_pjrt_TopologyDescription_Serialize(
    PJRT_TopologyDescription_Serialize_Args *args)
{
    PJRT_SerializedTopology *s = malloc(sizeof *s);

    if (!s)
        return jx_pjrt_starved();
    snprintf(s->text, sizeof s->text, "%s%d", before, args->topology->count);
    args->serialized_bytes = s->text;
    args->serialized_bytes_size = strlen(s->text);
    args->serialized_topology = s;
    args->serialized_topology_deleter = free_serialized;
    return NULL;
}

PJRT_Error *jx_pjrt_TopologyDescription_Deserialize(
    PJRT_TopologyDescription_Deserialize_Args *args)
{
    PJRT_SerializedTopology s = {{0}};
    long long count;
    char *end;

    if (args->serialized_topology_size >= sizeof s.text ||
        args->serialized_topology_size < sizeof before ||
        memcmp(args->serialized_topology, before, sizeof before - 1))
        return jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                             "expected a topology that jaxvet has written");
    memcpy(s.text, args->serialized_topology, args->serialized_topology_size);
    count = strtoll(s.text + sizeof before - 1, &end, 10);
    return make(*end ? 0 : count, &args->topology);
}

/* ---- the memories of devices that need not be there: the same everywhere */

struct PJRT_MemoryDescription {
    int kind;
};

static const PJRT_MemoryDescription memories[JX_PJRT_KINDS] = {{0}, {1}, {2}};
static const PJRT_MemoryDescription *const memory_list[JX_PJRT_KINDS] = {
    &memories[0], &memories[1], &memories[2]};

static PJRT_Error *
list_memories(PJRT_DeviceDescription_MemoryDescriptions_Args *args)
{
    args->memory_descriptions = memory_list;
    args->num_memory_descriptions = JX_PJRT_KINDS;
    args->default_memory_index = 0;
    return NULL;
}

static PJRT_Error *say_kind(PJRT_MemoryDescription_Kind_Args *args)
{
    args->kind = jx_pjrt_memory_kinds[args->memory_description->kind];
    args->kind_size = strlen(args->kind);
    args->kind_id = args->memory_description->kind;
    return NULL;
}

JX_PJRT_ENTER(list_memories, PJRT_DeviceDescription_MemoryDescriptions_Args,
              default_memory_index)
JX_PJRT_ENTER(say_kind, PJRT_MemoryDescription_Kind_Args, kind_id)

const PJRT_MemoryDescriptions_Extension jx_pjrt_memories_extension = {
    .base = {.struct_size = sizeof jx_pjrt_memories_extension,
             .type = PJRT_Extension_Type_MemoryDescriptions},
    .PJRT_DeviceDescription_MemoryDescriptions = enter_list_memories,
    .PJRT_MemoryDescription_Kind = enter_say_kind,
};
