/* transfer.c - buffers whose bytes the host sends piece by piece. */
#include "hosts/pjrt/plugin.h"

#include <stdlib.h>
#include <string.h>

struct PJRT_AsyncHostToDeviceTransferManager {
    PJRT_Device *device;
    pthread_mutex_t lock; /* of arrivals */
    size_t count;
    struct arrival {
        PJRT_Buffer *buffer;      /* until it is fetched */
        jx_pjrt_storage *storage; /* until all is there */
        PJRT_Event *ready;
        size_t size;
    } * arrivals;
};

typedef PJRT_AsyncHostToDeviceTransferManager manager;

static void free_manager(manager *m)
{
    for (size_t i = 0; i < m->count; i++) {
        jx_pjrt_buffer_free(m->arrivals[i].buffer);
        jx_pjrt_storage_drop(m->arrivals[i].storage);
        if (m->arrivals[i].ready)
            jx_pjrt_event_set(
                m->arrivals[i].ready,
                jx_pjrt_error(
                    PJRT_Error_Code_CANCELLED,
                    "the transfer was given up before all was there"));
        jx_pjrt_event_drop(m->arrivals[i].ready);
    }
    jx_pjrt_client_drop(m->device->client);
    pthread_mutex_destroy(&m->lock);
    free(m->arrivals);
    free(m);
}

static PJRT_Error *expect(manager *m, size_t i, const PJRT_ShapeSpec *spec,
                          const PJRT_Buffer_MemoryLayout *layout,
                          PJRT_Memory *memory)
{
    jx_pjrt_shape shape;
    size_t size;
    struct arrival *a = &m->arrivals[i];
    PJRT_Error *error = JX_PJRT_CHECK(PJRT_ShapeSpec, element_type, spec);

    if (!error)
        error = jx_pjrt_shape_read(spec->element_type, spec->dims,
                                   spec->num_dims, layout, &shape, &size);
    if (!error)
        error = jx_pjrt_buffer_new(shape, NULL, memory, &a->buffer);
    if (error)
        return error;
    a->size = size;
    a->ready = jx_pjrt_event_new();
    if (!a->ready)
        return jx_pjrt_starved();
    error = jx_pjrt_buffer_hold(a->buffer, &a->storage);
    a->buffer->ready = jx_pjrt_event_share(a->ready);
    return error;
}

PJRT_Error *jx_pjrt_Client_CreateBuffersForAsyncHostToDevice(
    PJRT_Client_CreateBuffersForAsyncHostToDevice_Args *args)
{
    manager *m;
    PJRT_Error *error = NULL;

    if (!args->memory)
        return jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                             "expected a memory");
    m = calloc(1, sizeof *m);
    if (!m)
        return jx_pjrt_starved();
    m->device = args->memory->device;
    m->count = args->num_shape_specs;
    m->arrivals = calloc(m->count + 1, sizeof *m->arrivals);
    if (!m->arrivals) {
        free(m);
        return jx_pjrt_starved();
    }
    pthread_mutex_init(&m->lock, NULL);
    jx_pjrt_client_share(m->device->client);
    for (size_t i = 0; !error && i < m->count; i++)
        error = expect(m, i, &args->shape_specs[i],
                       i < args->num_device_layouts ? args->device_layouts[i]
                                                    : NULL,
                       args->memory);
    if (error)
        free_manager(m);
    else
        args->transfer_manager = m;
    return error;
}

PJRT_Error *jx_pjrt_AsyncHostToDeviceTransferManager_Destroy(
    PJRT_AsyncHostToDeviceTransferManager_Destroy_Args *args)
{
    if (args->transfer_manager)
        free_manager(args->transfer_manager);
    return NULL;
}

/* ---- what arrives */

static PJRT_Error *arrival_of(manager *m, int index, struct arrival **to)
{
    if (index < 0 || (size_t)index >= m->count)
        return jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                             "there is no buffer %d: the transfer has %zu",
                             index, m->count);
    *to = &m->arrivals[index];
    return NULL;
}

/* All is there, or won't come: nobody else sends or waits for it.  Called with
 * the lock, for what finish() gets without it: who waits may come back here. */
static struct arrival take_arrival(struct arrival *a)
{
    struct arrival taken = *a;

    a->storage = NULL;
    a->ready = NULL;
    return taken;
}

static void finish(struct arrival taken, PJRT_Error *error)
{
    jx_pjrt_storage_drop(taken.storage);
    if (taken.ready)
        jx_pjrt_event_set(taken.ready, error);
    jx_pjrt_event_drop(taken.ready);
}

static PJRT_Error *sent_before(int index)
{
    return jx_pjrt_error(PJRT_Error_Code_FAILED_PRECONDITION,
                         "all of buffer %d has been sent before", index);
}

/* With the lock. */
static PJRT_Error *put_bytes(struct arrival *a, int index, const void *data,
                             int64_t offset, int64_t size)
{
    if (!a->storage)
        return sent_before(index);
    if (offset < 0 || size < 0 || offset > (int64_t)a->storage->size ||
        size > (int64_t)a->storage->size - offset)
        return jx_pjrt_error(
            PJRT_Error_Code_INVALID_ARGUMENT,
            "expected a part of %zu bytes, found %lld from %lld",
            a->storage->size, (long long)size, (long long)offset);
    if (size && !data)
        return jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                             "expected %lld bytes, found none",
                             (long long)size);
    if (size)
        memcpy((char *)a->storage->bytes + offset, data, (size_t)size);
    return NULL;
}

static PJRT_Error *put(manager *m, int index, const void *data, int64_t offset,
                       int64_t size, bool last)
{
    struct arrival *a = NULL, taken = {0};
    PJRT_Error *error = arrival_of(m, index, &a);

    if (error)
        return error;
    pthread_mutex_lock(&m->lock);
    error = put_bytes(a, index, data, offset, size);
    if (!error && last)
        taken = take_arrival(a);
    pthread_mutex_unlock(&m->lock);
    finish(taken, NULL);
    return error;
}

PJRT_Error *jx_pjrt_AsyncHostToDeviceTransferManager_TransferData(
    PJRT_AsyncHostToDeviceTransferManager_TransferData_Args *args)
{
    args->done_with_h2d_transfer = jx_pjrt_event_ready();
    return put(args->transfer_manager, args->buffer_index, args->data,
               args->offset, args->transfer_size, args->is_last_transfer);
}

PJRT_Error *jx_pjrt_AsyncHostToDeviceTransferManager_TransferLiteral(
    PJRT_AsyncHostToDeviceTransferManager_TransferLiteral_Args *args)
{
    jx_pjrt_shape shape;
    struct arrival *a = NULL;
    PJRT_Error *error =
        arrival_of(args->transfer_manager, args->buffer_index, &a);
    size_t size = 0;

    if (!error)
        error = jx_pjrt_shape_read(args->shape_element_type, args->shape_dims,
                                   args->shape_num_dims, args->shape_layout,
                                   &shape, &size);
    if (!error && size != a->size)
        error =
            jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                          "expected an array of as many bytes as buffer %d has",
                          args->buffer_index);
    args->done_with_h2d_transfer = jx_pjrt_event_ready();
    return error ? error
                 : put(args->transfer_manager, args->buffer_index, args->data,
                       0, (int64_t)size, true);
}

PJRT_Error *jx_pjrt_AsyncHostToDeviceTransferManager_RetrieveBuffer(
    PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args *args)
{
    manager *m = args->transfer_manager;
    struct arrival *a = NULL;
    PJRT_Error *error = arrival_of(m, args->buffer_index, &a);

    if (error)
        return error;
    pthread_mutex_lock(&m->lock);
    args->buffer_out = a->buffer;
    a->buffer = NULL;
    pthread_mutex_unlock(&m->lock);
    return args->buffer_out ? NULL
                            : jx_pjrt_error(PJRT_Error_Code_FAILED_PRECONDITION,
                                            "buffer %d has been fetched before",
                                            args->buffer_index);
}

PJRT_Error *jx_pjrt_AsyncHostToDeviceTransferManager_Device(
    PJRT_AsyncHostToDeviceTransferManager_Device_Args *args)
{
    args->device_out = args->transfer_manager->device;
    return NULL;
}

PJRT_Error *jx_pjrt_AsyncHostToDeviceTransferManager_BufferCount(
    PJRT_AsyncHostToDeviceTransferManager_BufferCount_Args *args)
{
    args->buffer_count = args->transfer_manager->count;
    return NULL;
}

PJRT_Error *jx_pjrt_AsyncHostToDeviceTransferManager_BufferSize(
    PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args *args)
{
    struct arrival *a = NULL;
    PJRT_Error *error =
        arrival_of(args->transfer_manager, args->buffer_index, &a);

    if (!error)
        args->buffer_size = a->size;
    return error;
}

PJRT_Error *jx_pjrt_AsyncHostToDeviceTransferManager_SetBufferError(
    PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args *args)
{
    manager *m = args->transfer_manager;
    struct arrival *a = NULL, taken;
    PJRT_Error *said, *error = arrival_of(m, args->buffer_index, &a);

    if (!error)
        error = jx_pjrt_error_said(args->error_code, args->error_message,
                                   args->error_message_size, &said);
    if (error)
        return error;
    pthread_mutex_lock(&m->lock);
    taken = take_arrival(a);
    pthread_mutex_unlock(&m->lock);
    if (!taken.ready) {
        jx_pjrt_error_free(said);
        return sent_before(args->buffer_index);
    }
    finish(taken, said);
    return NULL;
}
