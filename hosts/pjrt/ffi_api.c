/* ffi_api.c - what handlers of the FFI may ask for. */
#include "hosts/pjrt/ffi_parts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors: a handler's are its caller's, and these are a handler's */

static char no_memory[] = "the system has no memory left";
static XLA_FFI_Error starved = {
    {XLA_FFI_Error_Code_RESOURCE_EXHAUSTED, no_memory}};

static XLA_FFI_Error *new_error(XLA_FFI_Error_Code code, const char *message)
{
    XLA_FFI_Error *made = calloc(1, sizeof *made);

    if (!made)
        return &starved;
    jx_ffi_fail(&made->error, code, "%s", message ? message : "");
    return made;
}

static XLA_FFI_Error *error_create(XLA_FFI_Error_Create_Args *args)
{
    return new_error(args->errc == XLA_FFI_Error_Code_OK
                         ? XLA_FFI_Error_Code_UNKNOWN
                         : args->errc,
                     args->message);
}

static void error_get_details(XLA_FFI_Error_GetDetails_Args *args)
{
    const jx_ffi_error *error = &args->error->error;

    args->message = error->message ? error->message : "";
    if (args->struct_size >= XLA_FFI_SIZE(XLA_FFI_Error_GetDetails_Args, errc))
        args->errc = error->code;
}

static void destroy(XLA_FFI_Error *error)
{
    if (!error || error == &starved)
        return;
    jx_ffi_error_clear(&error->error);
    free(error);
}

static void error_destroy(XLA_FFI_Error_Destroy_Args *args)
{
    destroy(args->error);
}

/* Hands a handler's error over. */
static bool take_error(XLA_FFI_Error *from, jx_ffi_error *to)
{
    if (!from)
        return true;
    jx_ffi_fail(to, from->error.code, "%s",
                from->error.message ? from->error.message : "");
    destroy(from);
    return false;
}

/* ... or ours, to a handler. */
static XLA_FFI_Error *give_error(jx_ffi_error *error)
{
    XLA_FFI_Error *made = new_error(error->code, error->message);

    jx_ffi_error_clear(error);
    return made;
}

/* ---- registering, by a handler that is running */

static XLA_FFI_Error *handler_register(XLA_FFI_Handler_Register_Args *args)
{
    XLA_FFI_Handler_Bundle bundle = args->bundle;
    jx_ffi_error error = {XLA_FFI_Error_Code_OK, NULL};

    if (args->struct_size < XLA_FFI_SIZE(XLA_FFI_Handler_Register_Args, traits))
        bundle.record = NULL; /* that is where 0.3 has its traits */
    return jx_ffi_register(args->name.ptr, args->name.len, 1, &bundle, &error)
               ? NULL
               : give_error(&error);
}

static XLA_FFI_Error *type_register(XLA_FFI_Type_Register_Args *args)
{
    jx_ffi_error error = {XLA_FFI_Error_Code_OK, NULL};

    return jx_ffi_type(args->name.ptr, args->name.len, &args->type_id->type_id,
                       args->type_info ? args->type_info->deleter : NULL,
                       &error)
               ? NULL
               : give_error(&error);
}

/* ---- the run */

static XLA_FFI_Error *context_get(XLA_FFI_InvokeContext_Get_Args *args)
{
    if (args->ctx->asked && !*args->ctx->asked)
        *args->ctx->asked = args->type_id->type_id;
    return args->ctx->run &&
                   jx_ffi_context_get(args->ctx->run->context,
                                      args->type_id->type_id, &args->data)
               ? NULL
               : new_error(XLA_FFI_Error_Code_NOT_FOUND,
                           "the run was given no value of this type");
}

static XLA_FFI_Error *run_id_get(XLA_FFI_RunId_Get_Args *args)
{
    if (!args->ctx->run)
        return new_error(XLA_FFI_Error_Code_FAILED_PRECONDITION,
                         "there is no run yet");
    args->run_id = args->ctx->run->run_id;
    return NULL;
}

static XLA_FFI_Error *device_ordinal_get(XLA_FFI_DeviceOrdinal_Get_Args *args)
{
    if (!args->ctx->run)
        return new_error(XLA_FFI_Error_Code_FAILED_PRECONDITION,
                         "there is no run yet, so there is no device");
    args->device_ordinal = args->ctx->device;
    return NULL;
}

static _Atomic(XLA_FFI_Error_Create *) xla_create;

void jx_ffi_use_xla(XLA_FFI_Error_Create *create)
{
    atomic_store(&xla_create, create);
}

/* What JAX's buffer callback gets here it takes for an error of XLA's making,
 * as it is of the same library; and it expects these words. */
static XLA_FFI_Error *stream_get(XLA_FFI_Stream_Get_Args *args)
{
    XLA_FFI_Error_Create_Args made = {
        .struct_size = XLA_FFI_SIZE(XLA_FFI_Error_Create_Args, errc),
        .message = "XLA FFI GPU context is not available",
        .errc = XLA_FFI_Error_Code_UNIMPLEMENTED};
    XLA_FFI_Error_Create *xla = atomic_load(&xla_create);

    args->stream = NULL;
    return args->ctx->is_jax && xla ? xla(&made) : error_create(&made);
}

static XLA_FFI_Error *
find_extension(XLA_FFI_InvokeContext_FindExtension_Args *args)
{
    args->extension = NULL;
    return NULL;
}

static XLA_FFI_Error *custom_options_get(XLA_FFI_CustomOptions_Get_Args *args)
{
    static const XLA_FFI_Attrs none = {.struct_size =
                                           XLA_FFI_SIZE(XLA_FFI_Attrs, attrs)};

    args->attrs = &none;
    return NULL;
}

/* ---- states */

void jx_ffi_state_end(jx_ffi_state *state)
{
    void (*deleter)(void *) = NULL;

    if (state->object && jx_ffi_type_known(state->type_id, &deleter) && deleter)
        deleter(state->object);
    *state = (jx_ffi_state){0, NULL};
}

static jx_ffi_state *state_of(XLA_FFI_InvokeContext *ctx,
                              XLA_FFI_ExecutionStage stage)
{
    return (unsigned)stage < JX_FFI_STAGES ? ctx->states[stage] : NULL;
}

static XLA_FFI_Error *state_set(XLA_FFI_State_Set_Args *args)
{
    jx_ffi_state *state = state_of(args->ctx, args->stage);
    void (*deleter)(void *);

    if (!state)
        return new_error(XLA_FFI_Error_Code_FAILED_PRECONDITION,
                         "a state can't be set in this stage");
    if (state->object)
        return new_error(XLA_FFI_Error_Code_ALREADY_EXISTS,
                         "the state is set already");
    if (!jx_ffi_type_known(args->type_id->type_id, &deleter))
        return new_error(XLA_FFI_Error_Code_NOT_FOUND,
                         "the type of the state is not registered");
    *state = (jx_ffi_state){args->type_id->type_id, args->state};
    return NULL;
}

static XLA_FFI_Error *state_get(XLA_FFI_State_Get_Args *args)
{
    const jx_ffi_state *state = state_of(args->ctx, args->stage);

    if (!state || !state->object)
        return new_error(XLA_FFI_Error_Code_NOT_FOUND, "the state is not set");
    if (state->type_id != args->type_id->type_id)
        return new_error(XLA_FFI_Error_Code_INVALID_ARGUMENT,
                         "the state has another type");
    args->state = state->object;
    return NULL;
}

/* ---- memory, threads */

static XLA_FFI_Error *memory_allocate(XLA_FFI_DeviceMemory_Allocate_Args *args)
{
    enum { LEAST = 64 };
    size_t align = args->alignment > LEAST ? args->alignment : LEAST;
    jx_ffi_block *block;

    args->data = NULL;
    if (align & (align - 1))
        return new_error(XLA_FFI_Error_Code_INVALID_ARGUMENT,
                         "expected a power of two as the alignment");
    if (args->size > SIZE_MAX / 2 - align)
        return &starved;
    block = malloc(sizeof *block);
    if (!block)
        return &starved;
    block->memory = aligned_alloc(align, (args->size + align) / align * align);
    if (!block->memory) {
        free(block);
        return &starved;
    }
    block->next = args->ctx->blocks;
    args->ctx->blocks = block;
    args->data = block->memory;
    return NULL;
}

static XLA_FFI_Error *memory_free(XLA_FFI_DeviceMemory_Free_Args *args)
{
    jx_ffi_block **at = &args->ctx->blocks, *block;

    while (*at && (*at)->memory != args->data)
        at = &(*at)->next;
    block = *at;
    if (!block)
        return args->data ? new_error(XLA_FFI_Error_Code_INVALID_ARGUMENT,
                                      "this memory was not allocated here")
                          : NULL;
    *at = block->next;
    free(block->memory);
    free(block);
    return NULL;
}

void jx_ffi_blocks_free(XLA_FFI_InvokeContext *ctx)
{
    while (ctx->blocks) {
        jx_ffi_block *next = ctx->blocks->next;
        free(ctx->blocks->memory);
        free(ctx->blocks);
        ctx->blocks = next;
    }
}

/* A task may be run by whoever schedules it: so it is, at once. */
static XLA_FFI_Error *
thread_pool_schedule(XLA_FFI_ThreadPool_Schedule_Args *args)
{
    args->task(args->data);
    return NULL;
}

static XLA_FFI_Error *
thread_pool_num_threads(XLA_FFI_ThreadPool_NumThreads_Args *args)
{
    *args->num_threads = 1;
    return NULL;
}

/* ---- futures: set once, by any thread, and waited for by the caller */

struct XLA_FFI_Future {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_done;
    XLA_FFI_Error *error;
};

static XLA_FFI_Error *future_create(XLA_FFI_Future_Create_Args *args)
{
    XLA_FFI_Future *made = calloc(1, sizeof *made);

    if (!made)
        return &starved;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->changed, NULL);
    args->future = made;
    return NULL;
}

static XLA_FFI_Error *settle(XLA_FFI_Future *future, XLA_FFI_Error *error)
{
    bool was_done;

    pthread_mutex_lock(&future->lock);
    was_done = future->is_done;
    if (!was_done) {
        future->is_done = true;
        future->error = error;
        pthread_cond_broadcast(&future->changed);
    }
    pthread_mutex_unlock(&future->lock);
    if (!was_done)
        return NULL;
    destroy(error);
    return new_error(XLA_FFI_Error_Code_FAILED_PRECONDITION,
                     "the future is set already");
}

static XLA_FFI_Error *
future_set_available(XLA_FFI_Future_SetAvailable_Args *args)
{
    return settle(args->future, NULL);
}

static XLA_FFI_Error *future_set_error(XLA_FFI_Future_SetError_Args *args)
{
    if (!args->error)
        return new_error(XLA_FFI_Error_Code_INVALID_ARGUMENT,
                         "expected an error");
    return settle(args->future, args->error);
}

bool jx_ffi_future_wait(XLA_FFI_Future *future, jx_ffi_error *error)
{
    bool ok;

    pthread_mutex_lock(&future->lock);
    while (!future->is_done)
        pthread_cond_wait(&future->changed, &future->lock);
    pthread_mutex_unlock(&future->lock);
    ok = take_error(future->error, error);
    pthread_cond_destroy(&future->changed);
    pthread_mutex_destroy(&future->lock);
    free(future);
    return ok;
}

bool jx_ffi_invoke(XLA_FFI_Handler *handler, XLA_FFI_CallFrame *frame,
                   jx_ffi_error *error)
{
    bool ok;

    frame->future = NULL;
    ok = take_error(handler(frame), error);
    return (!frame->future || jx_ffi_future_wait(frame->future, error)) && ok;
}

const XLA_FFI_Api jx_ffi_api = {
    .struct_size = sizeof jx_ffi_api,
    .api_version = {.struct_size =
                        XLA_FFI_SIZE(XLA_FFI_Api_Version, minor_version),
                    .major_version = XLA_FFI_API_MAJOR,
                    .minor_version = XLA_FFI_API_MINOR},
    .XLA_FFI_Error_Create = error_create,
    .XLA_FFI_Error_GetDetails = error_get_details,
    .XLA_FFI_Error_Destroy = error_destroy,
    .XLA_FFI_Handler_Register = handler_register,
    .XLA_FFI_Stream_Get = stream_get,
    .XLA_FFI_Type_Register = type_register,
    .XLA_FFI_InvokeContext_Get = context_get,
    .XLA_FFI_State_Set = state_set,
    .XLA_FFI_State_Get = state_get,
    .XLA_FFI_DeviceMemory_Allocate = memory_allocate,
    .XLA_FFI_DeviceMemory_Free = memory_free,
    .XLA_FFI_ThreadPool_Schedule = thread_pool_schedule,
    .XLA_FFI_ThreadPool_NumThreads = thread_pool_num_threads,
    .XLA_FFI_Future_Create = future_create,
    .XLA_FFI_Future_SetAvailable = future_set_available,
    .XLA_FFI_Future_SetError = future_set_error,
    .XLA_FFI_RunId_Get = run_id_get,
    .XLA_FFI_DeviceOrdinal_Get = device_ordinal_get,
    .XLA_FFI_InvokeContext_FindExtension = find_extension,
    .XLA_FFI_CustomOptions_Get = custom_options_get,
};
