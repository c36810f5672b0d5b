/* buffer.c - buffers: arrays of the host's memory, dense and row-major. */
#include "hosts/pjrt/plugin.h"

#include <stdlib.h>
#include <string.h>

/* ---- element types */

static const struct {
    const char *dtype, *name;
    size_t bytes;
} types[] = {
#define TYPE(id, number, dtype, bytes) [number] = {dtype, #id, bytes},
#include "hosts/pjrt/types.def"
#undef TYPE
};

enum { NTYPES = sizeof types / sizeof *types };

size_t jx_pjrt_type_bytes(PJRT_Buffer_Type type)
{
    return (unsigned)type < NTYPES ? types[type].bytes : 0;
}

const char *jx_pjrt_type_name(PJRT_Buffer_Type type)
{
    return (unsigned)type < NTYPES ? types[type].name : "of another version";
}

PJRT_Buffer_Type jx_pjrt_type_of(const char *dtype)
{
    for (int i = 0; i < NTYPES; i++)
        if (types[i].dtype && !strcmp(types[i].dtype, dtype))
            return (PJRT_Buffer_Type)i;
    return PJRT_Buffer_Type_INVALID;
}

bool jx_pjrt_shape_size(jx_pjrt_shape shape, size_t *size)
{
    size_t total = jx_pjrt_type_bytes(shape.type);
    bool empty = false;

    for (int i = 0; i < shape.rank; i++)
        empty |= shape.dims[i] == 0;
    for (int i = 0; i < shape.rank; i++)
        if (shape.dims[i] < 0 ||
            (!empty &&
             __builtin_mul_overflow(total, (size_t)shape.dims[i], &total)))
            return false;
    *size = empty ? 0 : total;
    return total <= PTRDIFF_MAX;
}

/* ---- storage */

enum { ALIGNMENT = 64 }; /* what handlers of custom calls count on */

/* False where that is more than the client may take: it is then not counted,
 * not even for the moment in which others ask. */
static bool count_bytes(PJRT_Device *device, size_t size)
{
    PJRT_Client *client = device->client;
    int64_t now, seen = atomic_load(&client->bytes);

    do {
        if ((int64_t)size > client->limit - seen)
            return false;
    } while (!atomic_compare_exchange_weak(&client->bytes, &seen,
                                           seen + (int64_t)size));
    now = atomic_fetch_add(&device->bytes, (int64_t)size) + (int64_t)size;
    atomic_fetch_add(&device->count, 1);
    seen = atomic_load(&device->peak);
    while (now > seen &&
           !atomic_compare_exchange_weak(&device->peak, &seen, now))
        ;
    seen = atomic_load(&device->largest);
    while ((int64_t)size > seen && !atomic_compare_exchange_weak(
                                       &device->largest, &seen, (int64_t)size))
        ;
    return true;
}

static void count_off(PJRT_Device *device, size_t size)
{
    atomic_fetch_sub(&device->bytes, (int64_t)size);
    atomic_fetch_sub(&device->client->bytes, (int64_t)size);
}

PJRT_Error *jx_pjrt_out_of_memory(size_t size, const PJRT_Device *device)
{
    const PJRT_Client *client = device->client;

    return jx_pjrt_error(
        PJRT_Error_Code_RESOURCE_EXHAUSTED,
        "out of memory: an array takes %zu bytes; other arrays take "
        "%lld, and the limit is %lld",
        size, (long long)atomic_load(&client->bytes), (long long)client->limit);
}

jx_pjrt_storage *jx_pjrt_storage_new(size_t size, PJRT_Device *device)
{
    jx_pjrt_storage *s = malloc(sizeof *s);
    void *bytes;

    if (!s || size > PTRDIFF_MAX - ALIGNMENT || !count_bytes(device, size)) {
        free(s);
        return NULL;
    }
    bytes =
        aligned_alloc(ALIGNMENT, (size + ALIGNMENT) & ~(size_t)(ALIGNMENT - 1));
    if (!bytes) {
        count_off(device, size);
        free(s);
        return NULL;
    }
    *s = (jx_pjrt_storage){.bytes = bytes, .size = size, .device = device};
    atomic_init(&s->holders, 1);
    jx_pjrt_client_share(device->client);
    return s;
}

jx_pjrt_storage *jx_pjrt_storage_view(void *bytes, size_t size,
                                      void (*release)(void *, void *), void *of)
{
    jx_pjrt_storage *s = malloc(sizeof *s);

    if (!s)
        return NULL;
    *s = (jx_pjrt_storage){
        .bytes = bytes, .size = size, .release = release, .of = of};
    atomic_init(&s->holders, 1);
    return s;
}

void jx_pjrt_storage_drop(jx_pjrt_storage *storage)
{
    if (!storage || atomic_fetch_sub(&storage->holders, 1) != 1)
        return;
    if (storage->device) {
        count_off(storage->device, storage->size);
        jx_pjrt_client_drop(storage->device->client);
        free(storage->bytes);
    } else if (storage->release) {
        storage->release(storage->bytes, storage->of);
    }
    free(storage);
}

jx_pjrt_storage *jx_pjrt_storage_share(jx_pjrt_storage *storage)
{
    atomic_fetch_add(&storage->holders, 1);
    return storage;
}

/* ---- buffers */

static PJRT_Error *check_shape(jx_pjrt_shape shape, size_t *size)
{
    if (!jx_pjrt_type_bytes(shape.type))
        return jx_pjrt_error(PJRT_Error_Code_UNIMPLEMENTED,
                             "arrays of element type %s (%d)",
                             jx_pjrt_type_name(shape.type), (int)shape.type);
    if (!jx_pjrt_shape_size(shape, size))
        return jx_pjrt_error(
            PJRT_Error_Code_INVALID_ARGUMENT,
            "expected a shape of sizes from 0 whose bytes can be "
            "addressed");
    return NULL;
}

PJRT_Error *jx_pjrt_buffer_on(jx_pjrt_shape shape, PJRT_Device *device,
                              PJRT_Memory *memory, jx_pjrt_storage *storage,
                              PJRT_Buffer **to)
{
    size_t rank = (size_t)shape.rank, size;
    PJRT_Error *error = check_shape(shape, &size);
    PJRT_Buffer *b =
        error ? NULL : calloc(1, sizeof *b + 2 * rank * sizeof(int64_t));

    if (!b) {
        jx_pjrt_storage_drop(storage);
        return error ? error : jx_pjrt_starved();
    }
    pthread_mutex_init(&b->lock, NULL);
    b->type = shape.type;
    b->rank = shape.rank;
    b->dims = (int64_t *)(b + 1);
    b->minor_to_major = b->dims + rank;
    if (rank)
        memcpy(b->dims, shape.dims, rank * sizeof *b->dims);
    for (size_t i = 0; i < rank; i++)
        b->minor_to_major[i] = (int64_t)(rank - 1 - i);
    b->size = size;
    b->device = memory ? memory->device : device;
    b->memory = memory ? memory : b->device->memory_list[0];
    jx_pjrt_client_share(b->device->client);
    b->storage = storage;
    b->ready = jx_pjrt_event_ready();
    *to = b;
    return NULL;
}

PJRT_Error *jx_pjrt_buffer_new(jx_pjrt_shape shape, PJRT_Device *device,
                               PJRT_Memory *memory, PJRT_Buffer **to)
{
    size_t size;
    PJRT_Error *error = check_shape(shape, &size);
    jx_pjrt_storage *storage;

    if (error)
        return error;
    storage = jx_pjrt_storage_new(size, memory ? memory->device : device);
    if (!storage)
        return jx_pjrt_out_of_memory(size, memory ? memory->device : device);
    return jx_pjrt_buffer_on(shape, device, memory, storage, to);
}

void jx_pjrt_buffer_free(PJRT_Buffer *buffer)
{
    if (!buffer)
        return;
    jx_pjrt_storage_drop(buffer->storage);
    jx_pjrt_storage_drop(buffer->shown);
    jx_pjrt_event_drop(buffer->ready);
    jx_pjrt_client_drop(buffer->device->client);
    pthread_mutex_destroy(&buffer->lock);
    free(buffer);
}

void jx_pjrt_buffer_delete(PJRT_Buffer *buffer)
{
    jx_pjrt_storage *storage;

    pthread_mutex_lock(&buffer->lock);
    storage = buffer->storage;
    buffer->storage = NULL;
    pthread_mutex_unlock(&buffer->lock);
    jx_pjrt_storage_drop(storage);
}

bool jx_pjrt_buffer_lend(PJRT_Buffer *buffer)
{
    jx_pjrt_storage *storage;
    bool lends;

    pthread_mutex_lock(&buffer->lock);
    storage = buffer->storage;
    lends = storage && storage->device && !buffer->externals &&
            !buffer->shown &&
            atomic_load(&storage->holders) == 2; /* the buffer and the caller */
    if (lends)
        buffer->storage = NULL;
    pthread_mutex_unlock(&buffer->lock);
    if (lends)
        jx_pjrt_storage_drop(storage);
    return lends;
}

PJRT_Error *jx_pjrt_buffer_hold(PJRT_Buffer *buffer, jx_pjrt_storage **to)
{
    jx_pjrt_storage *storage = NULL;
    PJRT_Error *error = jx_pjrt_event_await(buffer->ready);

    *to = NULL;
    if (error)
        return error;
    pthread_mutex_lock(&buffer->lock);
    if (buffer->storage)
        storage = jx_pjrt_storage_share(buffer->storage);
    pthread_mutex_unlock(&buffer->lock);
    if (!storage)
        return jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                             "the buffer has been deleted or donated");
    *to = storage;
    return NULL;
}

PJRT_Error *jx_pjrt_Buffer_Destroy(PJRT_Buffer_Destroy_Args *args)
{
    jx_pjrt_buffer_free(args->buffer);
    return NULL;
}

PJRT_Error *jx_pjrt_Buffer_Delete(PJRT_Buffer_Delete_Args *args)
{
    jx_pjrt_buffer_delete(args->buffer);
    return NULL;
}

PJRT_Error *jx_pjrt_Buffer_IsDeleted(PJRT_Buffer_IsDeleted_Args *args)
{
    pthread_mutex_lock(&args->buffer->lock);
    args->is_deleted = !args->buffer->storage;
    pthread_mutex_unlock(&args->buffer->lock);
    return NULL;
}

PJRT_Error *jx_pjrt_Buffer_ElementType(PJRT_Buffer_ElementType_Args *args)
{
    args->type = args->buffer->type;
    return NULL;
}

PJRT_Error *jx_pjrt_Buffer_Dimensions(PJRT_Buffer_Dimensions_Args *args)
{
    args->dims = args->buffer->dims;
    args->num_dims = (size_t)args->buffer->rank;
    return NULL;
}

PJRT_Error *
jx_pjrt_Buffer_UnpaddedDimensions(PJRT_Buffer_UnpaddedDimensions_Args *args)
{
    args->unpadded_dims = args->buffer->dims;
    args->num_dims = (size_t)args->buffer->rank;
    return NULL;
}

PJRT_Error *jx_pjrt_Buffer_DynamicDimensionIndices(
    PJRT_Buffer_DynamicDimensionIndices_Args *args)
{
    args->dynamic_dim_indices = NULL;
    args->num_dynamic_dims = 0;
    return NULL;
}

PJRT_Error *
jx_pjrt_Buffer_GetMemoryLayout(PJRT_Buffer_GetMemoryLayout_Args *args)
{
    args->layout = (PJRT_Buffer_MemoryLayout){
        .struct_size = sizeof args->layout,
        .tiled = {.struct_size = sizeof args->layout.tiled,
                  .minor_to_major = args->buffer->minor_to_major,
                  .minor_to_major_size = (size_t)args->buffer->rank},
        .type = PJRT_Buffer_MemoryLayout_Type_Tiled,
    };
    return NULL;
}

PJRT_Error *
jx_pjrt_Buffer_OnDeviceSizeInBytes(PJRT_Buffer_OnDeviceSizeInBytes_Args *args)
{
    args->on_device_size_in_bytes = args->buffer->size;
    return NULL;
}

PJRT_Error *jx_pjrt_Buffer_Device(PJRT_Buffer_Device_Args *args)
{
    args->device = args->buffer->device;
    return NULL;
}

PJRT_Error *jx_pjrt_Buffer_Memory(PJRT_Buffer_Memory_Args *args)
{
    args->memory = args->buffer->memory;
    return NULL;
}

/* It is: the host may read it where it lies. */
PJRT_Error *jx_pjrt_Buffer_IsOnCpu(PJRT_Buffer_IsOnCpu_Args *args)
{
    args->is_on_cpu = true;
    return NULL;
}

PJRT_Error *jx_pjrt_Buffer_ReadyEvent(PJRT_Buffer_ReadyEvent_Args *args)
{
    args->event = jx_pjrt_event_share(args->buffer->ready);
    return NULL;
}

/* ---- what the host sees of its bytes */

static PJRT_Error *address(PJRT_Buffer *buffer, void **to)
{
    jx_pjrt_storage *storage;
    PJRT_Error *error = jx_pjrt_buffer_hold(buffer, &storage);

    if (!storage)
        return error;
    *to = storage->bytes;
    jx_pjrt_storage_drop(storage);
    return NULL;
}

PJRT_Error *jx_pjrt_Buffer_UnsafePointer(PJRT_Buffer_UnsafePointer_Args *args)
{
    void *bytes = NULL;
    PJRT_Error *error = address(args->buffer, &bytes);

    args->buffer_pointer = (uintptr_t)bytes;
    return error;
}

PJRT_Error *jx_pjrt_Buffer_OpaqueDeviceMemoryDataPointer(
    PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args *args)
{
    return address(args->buffer, &args->device_memory_ptr);
}

/* What is shown stays where it is, even when the buffer is
 * deleted or donated. */
PJRT_Error *jx_pjrt_Buffer_IncreaseExternalReferenceCount(
    PJRT_Buffer_IncreaseExternalReferenceCount_Args *args)
{
    PJRT_Buffer *b = args->buffer;
    jx_pjrt_storage *storage;
    PJRT_Error *error = jx_pjrt_buffer_hold(b, &storage);

    if (!storage)
        return error;
    pthread_mutex_lock(&b->lock);
    if (!b->externals++) {
        b->shown = storage;
        storage = NULL;
    }
    pthread_mutex_unlock(&b->lock);
    jx_pjrt_storage_drop(storage);
    return NULL;
}

PJRT_Error *jx_pjrt_Buffer_DecreaseExternalReferenceCount(
    PJRT_Buffer_DecreaseExternalReferenceCount_Args *args)
{
    PJRT_Buffer *b = args->buffer;
    jx_pjrt_storage *shown = NULL;
    bool any;

    pthread_mutex_lock(&b->lock);
    any = b->externals > 0;
    if (any && !--b->externals) {
        shown = b->shown;
        b->shown = NULL;
    }
    pthread_mutex_unlock(&b->lock);
    jx_pjrt_storage_drop(shown);
    return any ? NULL
               : jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                               "expected a buffer with an external reference");
}
