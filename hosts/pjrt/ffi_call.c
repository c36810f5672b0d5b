/* ffi_call.c - calls of handlers, stage by stage: the handlers that
 * jaxvet is given. */
#include "hosts/pjrt/ffi_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Puts what went wrong where jaxvet looks. */
static jaxvet_status tell(const jx_ffi_error *from, jaxvet_error *to)
{
    snprintf(to->message, sizeof to->message, "%s",
             from->message ? from->message : "no reason is given");
    return from->code == XLA_FFI_Error_Code_RESOURCE_EXHAUSTED ? JAXVET_LIMIT
                                                               : JAXVET_INPUT;
}

static int knows(void *data, const char *target)
{
    (void)data;
    return jx_ffi_is_python(target) || jx_ffi_handler_of(target)
               ? JAXVET_HANDLES
               : 0;
}

/* ---- arguments and results, of one run */

/* A run's frame, in one piece of memory. */
typedef struct framed {
    XLA_FFI_CallFrame frame;
    XLA_FFI_Buffer *buffers; /* arguments, then results */
    void **at;
    void **packed; /* per buffer: memory instead of the array's, or NULL */
    XLA_FFI_ArgType *arg_types;
    XLA_FFI_RetType *ret_types;
    void *memory;
} framed;

static bool make_room(framed *f, size_t nins, size_t nouts)
{
    size_t n = nins + nouts + 1;
    char *memory =
        calloc(n, sizeof *f->buffers + sizeof *f->at + sizeof *f->packed +
                      sizeof *f->arg_types + sizeof *f->ret_types);

    f->memory = memory;
    if (!memory)
        return false;
    f->buffers = (XLA_FFI_Buffer *)(void *)memory;
    f->at = (void **)(void *)(f->buffers + n);
    f->packed = f->at + n;
    f->arg_types = (XLA_FFI_ArgType *)(void *)(f->packed + n);
    f->ret_types = (XLA_FFI_RetType *)(void *)(f->arg_types + n);
    return true;
}

static int64_t count_of(const jaxvet_layout *array)
{
    int64_t count = 1;

    for (int i = 0; i < array->rank; i++)
        count *= array->shape[i];
    return count;
}

/* Array `i`, packed if several of its elements share a byte. */
static bool put_buffer(framed *f, size_t i, const jaxvet_layout *array,
                       void *data, bool holds)
{
    XLA_FFI_DataType dtype = jx_ffi_dtype(array->dtype);
    int bits = jx_ffi_packed_bits(dtype);
    size_t room = (array->bytes + 64) / 64 * 64;

    f->buffers[i] =
        (XLA_FFI_Buffer){.struct_size = XLA_FFI_SIZE(XLA_FFI_Buffer, dims),
                         .dtype = dtype,
                         .data = data,
                         .rank = array->rank,
                         .dims = (int64_t *)(uintptr_t)array->shape};
    f->at[i] = &f->buffers[i];
    if (!bits)
        return true;
    f->buffers[i].data = f->packed[i] = aligned_alloc(64, room);
    if (f->packed[i]) /* handlers may think that there are as many bytes */
        memset(f->packed[i], 0, room);
    if (f->packed[i] && holds)
        jx_ffi_pack(bits, count_of(array), data, f->packed[i]);
    return f->packed[i] != NULL;
}

static bool begin_frame(framed *f, const jx_ffi_site *site,
                        const jaxvet_custom_call *call,
                        const void *const *inputs, void *const *outputs)
{
    size_t nins = (size_t)call->input_count, nouts = (size_t)call->output_count;

    if (!make_room(f, nins, nouts))
        return false;
    for (size_t i = 0; i < nins; i++) {
        f->arg_types[i] = XLA_FFI_ArgType_BUFFER;
        if (!put_buffer(f, i, &call->inputs[i], (void *)(uintptr_t)inputs[i],
                        true))
            return false;
    }
    for (size_t i = 0; i < nouts; i++) {
        f->ret_types[i] = XLA_FFI_RetType_BUFFER;
        if (!put_buffer(f, nins + i, &call->outputs[i], outputs[i],
                        call->aliases[i] >= 0))
            return false;
        if (call->aliases[i] >= 0) /* they share the copy, too */
            f->buffers[call->aliases[i]].data = f->buffers[nins + i].data;
    }
    f->frame = (XLA_FFI_CallFrame){
        .struct_size = XLA_FFI_SIZE(XLA_FFI_CallFrame, attrs),
        .api = &jx_ffi_api,
        .args = {.struct_size = XLA_FFI_SIZE(XLA_FFI_Args, args),
                 .size = (int64_t)nins,
                 .types = f->arg_types,
                 .args = f->at},
        .rets = {.struct_size = XLA_FFI_SIZE(XLA_FFI_Rets, rets),
                 .size = (int64_t)nouts,
                 .types = f->ret_types,
                 .rets = f->at + nins},
        .attrs = site->attributes};
    return true;
}

static void end_frame(framed *f, const jaxvet_custom_call *call,
                      void *const *outputs)
{
    size_t nins = (size_t)call->input_count,
           n = nins + (size_t)call->output_count;

    for (size_t i = 0; f->memory && i < n; i++) {
        if (i >= nins && f->packed[i])
            jx_ffi_unpack(f->buffers[i].dtype,
                          count_of(&call->outputs[i - nins]), f->packed[i],
                          outputs[i - nins]);
        free(f->packed[i]);
    }
    free(f->memory);
}

/* ---- running */

static bool run_stages(const jx_ffi_site *site, framed *f,
                       XLA_FFI_InvokeContext *ctx, jx_ffi_error *error)
{
    const XLA_FFI_Handler_Bundle *b = &site->handler->bundle;
    XLA_FFI_Handler *const stages[] = {NULL, b->prepare, b->initialize,
                                       b->execute};
    bool ok = true;

    for (int i = XLA_FFI_ExecutionStage_PREPARE;
         ok && i <= XLA_FFI_ExecutionStage_EXECUTE; i++) {
        f->frame.ctx = ctx;
        f->frame.stage = (XLA_FFI_ExecutionStage)i;
        ok = !stages[i] || jx_ffi_invoke(stages[i], &f->frame, error);
    }
    return ok;
}

static bool run_typed(const jx_ffi_site *site, const jaxvet_custom_call *call,
                      const void *const *inputs, void *const *outputs,
                      const jx_ffi_run *run, jx_ffi_error *error)
{
    jx_ffi_state state = site->state, prepared = {0, NULL},
                 initialized = {0, NULL};
    XLA_FFI_InvokeContext ctx = {.run = run,
                                 .device = run->device + call->device,
                                 .states = {&state, &prepared, &initialized},
                                 .is_jax = site->is_jax};
    framed f = {.memory = NULL};
    bool ok;

    if (!begin_frame(&f, site, call, inputs, outputs))
        ok = jx_ffi_starved(error);
    else
        ok = run_stages(site, &f, &ctx, error);
    end_frame(&f, call, outputs);
    jx_ffi_blocks_free(&ctx);
    jx_ffi_state_end(&initialized);
    jx_ffi_state_end(&prepared);
    if (!site->state.object)
        jx_ffi_state_end(&state);
    return ok;
}

static jaxvet_status run(void *data, void *state,
                         const jaxvet_custom_call *call,
                         const void *const *inputs, void *const *outputs,
                         void *context, jaxvet_error *error)
{
    const jx_ffi_site *site = state;
    jx_ffi_run none = {.device = 0}, *r = context ? context : &none;
    jaxvet_status status = JAXVET_OK;
    bool ok;

    (void)data;
    if (site->is_python)
        ok = jx_ffi_python_call(site, call, inputs, outputs, r, &r->error);
    else if (site->handler->api_version == 0)
        ok = jx_ffi_old_call(site->handler, call, inputs, outputs, &r->error);
    else
        ok = run_typed(site, call, inputs, outputs, r, &r->error);
    if (!ok)
        status = tell(&r->error, error);
    jx_ffi_error_clear(&none.error);
    return status;
}

/* ---- before and after */

static bool instantiate(jx_ffi_site *site, jx_ffi_error *error)
{
    XLA_FFI_Handler *handler = site->handler->bundle.instantiate;
    XLA_FFI_InvokeContext ctx = {.states = {&site->state}};
    XLA_FFI_CallFrame frame = {
        .struct_size = XLA_FFI_SIZE(XLA_FFI_CallFrame, attrs),
        .api = &jx_ffi_api,
        .ctx = &ctx,
        .stage = XLA_FFI_ExecutionStage_INSTANTIATE,
        .args = {.struct_size = XLA_FFI_SIZE(XLA_FFI_Args, args)},
        .rets = {.struct_size = XLA_FFI_SIZE(XLA_FFI_Rets, rets)},
        .attrs = site->attributes};
    bool ok = !handler || jx_ffi_invoke(handler, &frame, error);

    jx_ffi_blocks_free(&ctx);
    return ok;
}

static bool check_arrays(int count, const jaxvet_layout *arrays,
                         jx_ffi_error *error)
{
    for (int i = 0; i < count; i++)
        if (jx_ffi_dtype(arrays[i].dtype) == XLA_FFI_DataType_INVALID)
            return jx_ffi_fail(error, XLA_FFI_Error_Code_UNIMPLEMENTED,
                               "handlers know no arrays of %s",
                               arrays[i].dtype);
    return true;
}

static bool make_site(jx_ffi_site *site, const jaxvet_custom_call *call,
                      jx_ffi_error *error)
{
    site->is_python = jx_ffi_is_python(call->target);
    site->is_jax = !strcmp(call->target, "xla_buffer_python_cpu_callback");
    site->handler = site->is_python ? NULL : jx_ffi_handler_of(call->target);
    if (!site->handler && !site->is_python)
        return jx_ffi_fail(error, XLA_FFI_Error_Code_UNIMPLEMENTED,
                           "it has no handler any more");
    if (site->is_python || site->handler->api_version == 1) {
        if (call->api_version != 4)
            return jx_ffi_fail(error, XLA_FFI_Error_Code_UNIMPLEMENTED,
                               "the call is of api_version %d, and its handler "
                               "takes calls of 4",
                               call->api_version);
        if (!check_arrays(call->input_count, call->inputs, error) ||
            !check_arrays(call->output_count, call->outputs, error) ||
            !jx_ffi_attributes(&site->pool, call->attribute_count,
                               call->attributes, &site->attributes, error))
            return false;
        return site->is_python || instantiate(site, error);
    }
    return call->api_version != 4 ||
           jx_ffi_fail(
               error, XLA_FFI_Error_Code_UNIMPLEMENTED,
               "the call is of api_version 4, and its handler is of the "
               "interface before");
}

static void end(void *data, void *state)
{
    jx_ffi_site *site = state;

    (void)data;
    jx_ffi_state_end(&site->state);
    jx_ffi_pool_free(&site->pool);
    free(site);
}

static jaxvet_status begin(void *data, const jaxvet_custom_call *call,
                           void **state, jaxvet_error *error)
{
    jx_ffi_site *site = calloc(1, sizeof *site);
    jx_ffi_error why = {XLA_FFI_Error_Code_OK, NULL};
    jaxvet_status status = JAXVET_OK;

    if (site ? !make_site(site, call, &why) : !jx_ffi_starved(&why)) {
        status = tell(&why, error);
        if (site)
            end(data, site);
    }
    jx_ffi_error_clear(&why);
    *state = status == JAXVET_OK ? site : NULL;
    return status;
}

const jaxvet_handlers jx_ffi_handlers = {
    sizeof jx_ffi_handlers, NULL, knows, begin, run, end};
