/* host.c - bytes from the host to buffers, and back. */
#include "hosts/pjrt/plugin.h"

#include <stdlib.h>
#include <string.h>

/* ---- layouts */

/* Whether an array with these strides (NULL: none) lies row by row.  Of one
 * without elements the sizes may be any: their product wraps around. */
static bool is_dense(jx_pjrt_shape shape, const int64_t *strides)
{
    uint64_t stride = jx_pjrt_type_bytes(shape.type);

    for (int i = shape.rank; strides && i-- > 0;
         stride *= (uint64_t)shape.dims[i])
        if (shape.dims[i] > 1 && strides[i] != (int64_t)stride)
            return false;
    return true;
}

static PJRT_Error *refuse(void)
{
    return jx_pjrt_error(PJRT_Error_Code_UNIMPLEMENTED,
                         "arrays lie row-major here, and in no other layout");
}

static PJRT_Error *refuse_layout(const PJRT_Buffer_MemoryLayout *layout,
                                 jx_pjrt_shape shape)
{
    size_t rank = (size_t)shape.rank;

    if (!layout)
        return NULL;
    if (layout->type == PJRT_Buffer_MemoryLayout_Type_Tiled) {
        if (layout->tiled.minor_to_major_size != rank ||
            layout->tiled.num_tiles)
            return refuse();
        for (size_t i = 0; i < rank; i++)
            if (layout->tiled.minor_to_major[i] != (int64_t)(rank - 1 - i))
                return refuse();
        return NULL;
    }
    if (layout->strides.num_byte_strides != rank ||
        !is_dense(shape, layout->strides.byte_strides))
        return refuse();
    return NULL;
}

PJRT_Error *jx_pjrt_shape_read(PJRT_Buffer_Type type, const int64_t *dims,
                               size_t ndims,
                               const PJRT_Buffer_MemoryLayout *layout,
                               jx_pjrt_shape *to, size_t *size)
{
    enum { MOST_AXES = 1 << 12 };

    if (ndims > MOST_AXES)
        return jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                             "expected at most %d axes, found %zu", MOST_AXES,
                             ndims);
    *to = (jx_pjrt_shape){type, (int)ndims, dims};
    if (!jx_pjrt_type_bytes(type))
        return jx_pjrt_error(PJRT_Error_Code_UNIMPLEMENTED,
                             "arrays of element type %s (%d)",
                             jx_pjrt_type_name(type), (int)type);
    if (!jx_pjrt_shape_size(*to, size))
        return jx_pjrt_error(
            PJRT_Error_Code_INVALID_ARGUMENT,
            "expected a shape of sizes from 0 whose bytes can be "
            "addressed");
    return refuse_layout(layout, *to);
}

/* ---- strides */

/* Copies an array between strides and dense rows; `inward` is
 * from the strides. */
typedef struct strided {
    jx_pjrt_shape shape;
    const int64_t *strides;
    size_t bytes; /* of an element */
    bool inward;
    char *dense;
} strided;

static void copy_element(strided *s, char *at)
{
    memcpy(s->inward ? s->dense : at, s->inward ? at : s->dense, s->bytes);
    s->dense += s->bytes;
}

static void copy_strided(strided *s, char *at, int axis)
{
    if (axis == s->shape.rank) {
        copy_element(s, at);
        return;
    }
    for (int64_t i = 0; i < s->shape.dims[axis]; i++)
        copy_strided(s, at + i * s->strides[axis], axis + 1);
}

/* ---- from the host */

/* If nobody says, it is the client's first one (NULL: somebody has to say). */
static PJRT_Error *where_of(PJRT_Client *client, PJRT_Device **device,
                            const PJRT_Memory *memory)
{
    if (!*device && !memory && client)
        *device = client->list[0];
    if (memory)
        *device = memory->device;
    return *device ? NULL
                   : jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                                   "expected a device or a memory");
}

static PJRT_Error *expect_bytes(const void *at, size_t size)
{
    return at || !size ? NULL
                       : jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                                       "expected %zu bytes, found none", size);
}

static void forget(void *bytes, void *event)
{
    (void)bytes;
    jx_pjrt_event_set(event, NULL);
    jx_pjrt_event_drop(event);
}

/* The host's own bytes, until the buffer is gone; its event then says so. */
static PJRT_Error *look_at(PJRT_Client_BufferFromHostBuffer_Args *args,
                           jx_pjrt_shape shape, size_t size)
{
    PJRT_Event *done = jx_pjrt_event_new();
    /* Nothing is written there: only donated memory is, and none
     * of the host's. */
    void *bytes = (void *)(uintptr_t)args->data;
    jx_pjrt_storage *storage =
        done ? jx_pjrt_storage_view(bytes, size, forget, done) : NULL;
    PJRT_Error *error;

    if (!storage) {
        jx_pjrt_event_drop(done);
        return jx_pjrt_starved();
    }
    args->done_with_host_buffer = jx_pjrt_event_share(done);
    error = jx_pjrt_buffer_on(shape, args->device, args->memory, storage,
                              &args->buffer);
    if (error)
        jx_pjrt_event_drop(done);
    return error;
}

static PJRT_Error *copy_in(PJRT_Client_BufferFromHostBuffer_Args *args,
                           jx_pjrt_shape shape, const int64_t *strides)
{
    PJRT_Error *error =
        jx_pjrt_buffer_new(shape, args->device, args->memory, &args->buffer);
    strided s = {shape, strides, jx_pjrt_type_bytes(shape.type), true, NULL};

    if (error)
        return error;
    if (is_dense(shape, strides)) {
        if (args->buffer->size)
            memcpy(args->buffer->storage->bytes, args->data,
                   args->buffer->size);
    } else if (args->buffer->size) {
        s.dense = args->buffer->storage->bytes;
        copy_strided(&s, (char *)(uintptr_t)args->data, 0);
    }
    args->done_with_host_buffer = jx_pjrt_event_ready();
    return NULL;
}

PJRT_Error *
jx_pjrt_Client_BufferFromHostBuffer(PJRT_Client_BufferFromHostBuffer_Args *args)
{
    enum { ALIGNED = 64 };
    const int64_t *strides = args->num_byte_strides ? args->byte_strides : NULL;
    jx_pjrt_shape shape;
    size_t size;
    PJRT_Error *error = where_of(args->client, &args->device, args->memory);

    if (!error)
        error = jx_pjrt_shape_read(args->type, args->dims, args->num_dims,
                                   args->device_layout, &shape, &size);
    if (!error)
        error = expect_bytes(args->data, size);
    if (!error && args->num_byte_strides &&
        args->num_byte_strides != args->num_dims)
        error =
            jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                          "expected a stride for each of %zu axes, found %zu",
                          args->num_dims, args->num_byte_strides);
    if (error)
        return error;
    if (args->host_buffer_semantics >=
            PJRT_HostBufferSemantics_kImmutableZeroCopy &&
        size && is_dense(shape, strides) &&
        (uintptr_t)args->data % ALIGNED == 0)
        return look_at(args, shape, size);
    return copy_in(args, shape, strides);
}

PJRT_Error *jx_pjrt_Client_CreateUninitializedBuffer(
    PJRT_Client_CreateUninitializedBuffer_Args *args)
{
    jx_pjrt_shape shape;
    size_t size;
    PJRT_Error *error = where_of(args->client, &args->device, args->memory);

    if (!error)
        error = jx_pjrt_shape_read(args->shape_element_type, args->shape_dims,
                                   args->shape_num_dims, args->shape_layout,
                                   &shape, &size);
    return error ? error
                 : jx_pjrt_buffer_new(shape, args->device, args->memory,
                                      &args->buffer);
}

/* A buffer that stands for a failure: whoever uses it fails with it. */
PJRT_Error *
jx_pjrt_Client_CreateErrorBuffer(PJRT_Client_CreateErrorBuffer_Args *args)
{
    jx_pjrt_shape shape;
    size_t size;
    PJRT_Device *device = NULL;
    jx_pjrt_storage *storage = NULL;
    PJRT_Event *failed = NULL;
    PJRT_Error *said = NULL,
               *error = where_of(args->client, &device, args->memory);

    if (!error)
        error = jx_pjrt_shape_read(args->shape_element_type, args->shape_dims,
                                   args->shape_num_dims, args->shape_layout,
                                   &shape, &size);
    if (!error)
        error = jx_pjrt_error_said(args->error_code, args->error_message,
                                   args->error_message_size, &said);
    if (error)
        return error;
    failed = jx_pjrt_event_new();
    /* nobody sees it */
    storage = failed ? jx_pjrt_storage_new(0, device) : NULL;
    error = storage ? jx_pjrt_buffer_on(shape, device, args->memory, storage,
                                        &args->buffer)
                    : jx_pjrt_starved();
    if (error) {
        jx_pjrt_event_drop(failed);
        jx_pjrt_error_free(said);
        return error;
    }
    jx_pjrt_event_set(failed, said);
    args->buffer->ready = failed;
    return NULL;
}

typedef struct lent {
    void (*release)(void *bytes, void *of);
    void *of;
} lent;

static void give_back(void *bytes, void *of)
{
    lent *l = of;

    if (l->release)
        l->release(bytes, l->of);
    free(l);
}

PJRT_Error *jx_pjrt_Client_CreateViewOfDeviceBuffer(
    PJRT_Client_CreateViewOfDeviceBuffer_Args *args)
{
    jx_pjrt_shape shape;
    PJRT_Memory *memory = PJRT_GIVES(args, memory) ? args->memory : NULL;
    PJRT_Error *error = where_of(args->client, &args->device, memory);
    jx_pjrt_storage *storage = NULL;
    size_t size = 0;
    lent *l;

    if (!error)
        error = jx_pjrt_shape_read(args->element_type, args->dims,
                                   args->num_dims, args->layout, &shape, &size);
    if (!error)
        error = expect_bytes(args->device_buffer_ptr, size);
    if (error)
        return error;
    l = malloc(sizeof *l);
    storage =
        l ? jx_pjrt_storage_view(args->device_buffer_ptr, size, give_back, l)
          : NULL;
    if (!storage) {
        free(l);
        return jx_pjrt_starved();
    }
    /* Until there is a buffer, the bytes are the caller's. */
    *l = (lent){NULL, NULL};
    error =
        jx_pjrt_buffer_on(shape, args->device, memory, storage, &args->buffer);
    if (!error)
        *l = (lent){args->on_delete_callback, args->on_delete_callback_arg};
    return error;
}

/* ---- to the host */

/* The strides that a layout of the host asks for; false where it fits no
 * array of that rank. */
static bool host_strides(const PJRT_Buffer *b,
                         const PJRT_Buffer_MemoryLayout *layout,
                         int64_t *strides)
{
    size_t rank = (size_t)b->rank;
    uint64_t stride = jx_pjrt_type_bytes(b->type);
    bool *seen;

    if (layout->type == PJRT_Buffer_MemoryLayout_Type_Strides) {
        if (layout->strides.num_byte_strides == rank && rank)
            memcpy(strides, layout->strides.byte_strides,
                   rank * sizeof *strides);
        return layout->strides.num_byte_strides == rank;
    }
    if (layout->tiled.minor_to_major_size != rank || layout->tiled.num_tiles)
        return false;
    seen = calloc(rank + 1, sizeof *seen);
    for (size_t i = 0; seen && i < rank; i++) {
        int64_t axis = layout->tiled.minor_to_major[i];
        if (axis < 0 || (size_t)axis >= rank || seen[axis]) {
            free(seen);
            return false;
        }
        seen[axis] = true;
        strides[axis] = (int64_t)stride;
        stride *= (uint64_t)b->dims[axis];
    }
    free(seen);
    return seen != NULL;
}

/* How far an array with these strides reaches; false where that is nowhere, or
 * before its first element. */
static bool reach_of(jx_pjrt_shape shape, const int64_t *strides, size_t *to)
{
    size_t last = 0, far;

    *to = 0;
    for (int i = 0; i < shape.rank; i++)
        if (!shape.dims[i])
            return true;
    for (int i = 0; i < shape.rank; i++)
        if (shape.dims[i] > 1 &&
            (strides[i] < 0 ||
             __builtin_mul_overflow((size_t)shape.dims[i] - 1,
                                    (size_t)strides[i], &far) ||
             __builtin_add_overflow(last, far, &last)))
            return false;
    return !__builtin_add_overflow(last, jx_pjrt_type_bytes(shape.type), to);
}

/* What the host has room for, and how its elements lie there: *strides is the
 * caller's to free, or NULL for rows. */
static PJRT_Error *read_host_layout(const PJRT_Buffer *b,
                                    const PJRT_Buffer_MemoryLayout *layout,
                                    int64_t **strides, size_t *room)
{
    jx_pjrt_shape shape = {b->type, b->rank, b->dims};

    *strides = NULL;
    *room = b->size;
    if (!layout)
        return NULL;
    *strides = calloc((size_t)b->rank + 1, sizeof **strides);
    if (!*strides)
        return jx_pjrt_starved();
    if (!host_strides(b, layout, *strides))
        return jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                             "expected a layout of %d axes without tiles",
                             b->rank);
    if (!reach_of(shape, *strides, room))
        return jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                             "expected strides from 0 that can be addressed");
    return NULL;
}

static void copy_out(const PJRT_Buffer *b, const void *from, void *to,
                     const int64_t *strides)
{
    jx_pjrt_shape shape = {b->type, b->rank, b->dims};
    strided s = {shape, strides, jx_pjrt_type_bytes(b->type), false,
                 (char *)(uintptr_t)from};

    if (!b->size)
        return;
    if (is_dense(shape, strides))
        memcpy(to, from, b->size);
    else
        copy_strided(&s, to, 0);
}

PJRT_Error *jx_pjrt_Buffer_ToHostBuffer(PJRT_Buffer_ToHostBuffer_Args *args)
{
    PJRT_Buffer *b = args->src;
    jx_pjrt_storage *storage = NULL;
    int64_t *strides;
    size_t room;
    PJRT_Error *error = read_host_layout(b, args->host_layout, &strides, &room);

    if (!error)
        error = jx_pjrt_buffer_hold(b, &storage);
    if (!error && args->dst && args->dst_size < room)
        error = jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                              "expected room for %zu bytes, found %zu", room,
                              args->dst_size);
    else if (!error && args->dst)
        copy_out(b, storage->bytes, args->dst, strides);
    else if (!error)
        args->dst_size = room;
    jx_pjrt_storage_drop(storage);
    free(strides);
    args->event = jx_pjrt_event_ready();
    return error;
}

static PJRT_Error *copy_part(PJRT_Buffer *b, void *to, int64_t offset,
                             int64_t size)
{
    jx_pjrt_storage *storage = NULL;
    PJRT_Error *error = jx_pjrt_buffer_hold(b, &storage);

    if (error)
        return error;
    if (offset < 0 || size < 0 || offset > (int64_t)b->size ||
        size > (int64_t)b->size - offset)
        error =
            jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                          "expected a part of %zu bytes, found %lld from %lld",
                          b->size, (long long)size, (long long)offset);
    else
        error = expect_bytes(to, (size_t)size);
    if (!error && size)
        memcpy(to, (const char *)storage->bytes + offset, (size_t)size);
    jx_pjrt_storage_drop(storage);
    return error;
}

PJRT_Error *jx_pjrt_Buffer_CopyRawToHost(PJRT_Buffer_CopyRawToHost_Args *args)
{
    args->event = jx_pjrt_event_ready();
    return copy_part(args->buffer, args->dst, args->offset,
                     args->transfer_size);
}

/* Where the bytes go is known only later, when the host calls back what it is
 * given here: with an address, or with an error. */
typedef struct promised {
    PJRT_Buffer *buffer;
    jx_pjrt_storage *storage;
    int64_t offset, size;
    PJRT_Event *done;
} promised;

static void keep_promise(PJRT_Buffer_CopyRawToHostFuture_Callback_Args *args)
{
    promised *p = args->callback_data;
    PJRT_Error *error = NULL;

    if (args->error_code != PJRT_Error_Code_OK)
        error =
            jx_pjrt_error(args->error_code, "%.*s",
                          (int)args->error_message_size, args->error_message);
    else if (p->size && args->dst)
        memcpy(args->dst, (const char *)p->storage->bytes + p->offset,
               (size_t)p->size);
    jx_pjrt_event_set(p->done, error);
    jx_pjrt_event_drop(p->done);
    jx_pjrt_storage_drop(p->storage);
    free(p);
}

PJRT_Error *
jx_pjrt_Buffer_CopyRawToHostFuture(PJRT_Buffer_CopyRawToHostFuture_Args *args)
{
    PJRT_Buffer *b = args->buffer;
    promised *p;
    PJRT_Error *error;

    if (args->offset < 0 || args->transfer_size < 0 ||
        args->offset > (int64_t)b->size ||
        args->transfer_size > (int64_t)b->size - args->offset)
        return jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                             "expected a part of %zu bytes", b->size);
    p = calloc(1, sizeof *p);
    if (!p)
        return jx_pjrt_starved();
    *p = (promised){.offset = args->offset, .size = args->transfer_size};
    error = jx_pjrt_buffer_hold(b, &p->storage);
    if (!error && !(p->done = jx_pjrt_event_new()))
        error = jx_pjrt_starved();
    if (error) {
        jx_pjrt_storage_drop(p->storage);
        free(p);
        return error;
    }
    args->event = jx_pjrt_event_share(p->done);
    args->callback_data = p;
    args->future_ready_callback = keep_promise;
    return NULL;
}

/* ---- from device to device */

static PJRT_Error *copy_buffer(PJRT_Buffer *from, PJRT_Device *device,
                               PJRT_Memory *memory, PJRT_Buffer **to)
{
    jx_pjrt_shape shape = {from->type, from->rank, from->dims};
    jx_pjrt_storage *storage = NULL;
    PJRT_Error *error = jx_pjrt_buffer_hold(from, &storage);

    if (error)
        return error;
    error = where_of(NULL, &device, memory);
    if (!error)
        error = jx_pjrt_buffer_new(shape, device, memory, to);
    if (!error && from->size)
        memcpy((*to)->storage->bytes, storage->bytes, from->size);
    jx_pjrt_storage_drop(storage);
    return error;
}

PJRT_Error *jx_pjrt_Buffer_CopyToDevice(PJRT_Buffer_CopyToDevice_Args *args)
{
    return copy_buffer(args->buffer, args->dst_device, NULL, &args->dst_buffer);
}

PJRT_Error *jx_pjrt_Buffer_CopyToMemory(PJRT_Buffer_CopyToMemory_Args *args)
{
    return copy_buffer(args->buffer, NULL, args->dst_memory, &args->dst_buffer);
}

/* The same bytes as another array of as many. */
PJRT_Error *jx_pjrt_Buffer_Bitcast(PJRT_Buffer_Bitcast_Args *args)
{
    jx_pjrt_shape shape;
    PJRT_Buffer *b = args->buffer;
    jx_pjrt_storage *storage = NULL;
    size_t size;
    PJRT_Error *error =
        jx_pjrt_shape_read(args->element_type, args->dims, args->num_dims,
                           args->device_layout, &shape, &size);

    if (!error && size != b->size)
        error = jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                              "expected an array of %zu bytes", b->size);
    if (!error)
        error = jx_pjrt_buffer_hold(b, &storage);
    return error ? error
                 : jx_pjrt_buffer_on(shape, b->device, b->memory, storage,
                                     &args->out_buffer);
}
