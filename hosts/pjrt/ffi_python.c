/* ffi_python.c - functions of Python: JAX calls them by a handler of its
 * own (pure_callback, io_callback, debug.print), which is told by a
 * number which one.
 *
 * The functions themselves are in what JAX gives each run: XLA's
 * FfiLoadedHostCallbacks. JAX's handler keeps a state that only its own
 * `instantiate` makes, and JAX shows nobody that one; so we do what it does, by
 * a function of our Python package.  Which type's value holds the functions is
 * what JAX's handler asks for first. */
#include "hosts/pjrt/ffi_parts.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* XLA's structure. */
typedef struct loaded_callbacks {
    void **callbacks; /* Python objects */
    uint32_t num_callbacks;
} loaded_callbacks;

static _Atomic(jx_ffi_python *) call_python;
static atomic_llong type_of_callbacks; /* 0: not known */

bool jx_ffi_is_python(const char *target)
{
    return (!strcmp(target, "xla_ffi_python_cpu_callback") ||
            !strcmp(target, "xla_ffi_partitioned_python_cpu_callback")) &&
           atomic_load(&call_python);
}

/* The type that a handler asks for first. */
static int64_t type_asked_by(XLA_FFI_Handler *handler)
{
    static const uint64_t zero = 0;
    static const jaxvet_attribute index = {
        "index", JAXVET_ATTRIBUTE_INTEGER, "u64", 1, &zero, NULL};
    int64_t asked = 0;
    XLA_FFI_InvokeContext ctx = {.asked = &asked};
    XLA_FFI_CallFrame frame = {
        .struct_size = XLA_FFI_SIZE(XLA_FFI_CallFrame, attrs),
        .api = &jx_ffi_api,
        .ctx = &ctx,
        .stage = XLA_FFI_ExecutionStage_EXECUTE,
        .args = {.struct_size = XLA_FFI_SIZE(XLA_FFI_Args, args)},
        .rets = {.struct_size = XLA_FFI_SIZE(XLA_FFI_Rets, rets)}};
    jx_ffi_error error = {XLA_FFI_Error_Code_OK, NULL};
    jx_ffi_pool pool = {NULL, false};

    if (jx_ffi_attributes(&pool, 1, &index, &frame.attrs, &error))
        jx_ffi_invoke(handler, &frame, &error); /* it fails: there is no run */
    jx_ffi_error_clear(&error);
    jx_ffi_pool_free(&pool);
    return asked;
}

/* The Python object of the call's number. */
static bool find_callable(const jx_ffi_site *site, const jx_ffi_run *run,
                          void **callable, jx_ffi_error *error)
{
    const uint64_t *index =
        jx_ffi_scalar(&site->attributes, "index", XLA_FFI_DataType_U64);
    const loaded_callbacks *all;
    void *data;

    if (!index)
        return jx_ffi_fail(error, XLA_FFI_Error_Code_INVALID_ARGUMENT,
                           "a call of a Python function does not say of which");
    if (!jx_ffi_context_get(run->context, atomic_load(&type_of_callbacks),
                            &data))
        return jx_ffi_fail(error, XLA_FFI_Error_Code_FAILED_PRECONDITION,
                           "the run was given no Python functions");
    all = data;
    if (*index >= all->num_callbacks)
        return jx_ffi_fail(error, XLA_FFI_Error_Code_OUT_OF_RANGE,
                           "there are %u Python functions, not number %llu",
                           all->num_callbacks, (unsigned long long)*index);
    *callable = all->callbacks[*index];
    return true;
}

static jx_ffi_array array_of(const jaxvet_layout *layout, void *data)
{
    return (jx_ffi_array){data, layout->dtype, layout->rank, layout->shape,
                          (int64_t)layout->bytes};
}

bool jx_ffi_python_call(const jx_ffi_site *site, const jaxvet_custom_call *call,
                        const void *const *inputs, void *const *outputs,
                        const jx_ffi_run *run, jx_ffi_error *error)
{
    int nins = call->input_count, nouts = call->output_count;
    jx_ffi_python *function = atomic_load(&call_python);
    jx_ffi_array *arrays;
    void *callable = NULL;
    int failed;

    if (!find_callable(site, run, &callable, error))
        return false;
    arrays = malloc(((size_t)nins + (size_t)nouts + 1) * sizeof *arrays);
    if (!arrays)
        return jx_ffi_starved(error);
    for (int i = 0; i < nins; i++)
        arrays[i] = array_of(&call->inputs[i], (void *)(uintptr_t)inputs[i]);
    for (int i = 0; i < nouts; i++)
        arrays[nins + i] = array_of(&call->outputs[i], outputs[i]);
    failed = function(callable, nins, arrays, nouts, arrays + nins, error);
    free(arrays);
    return !failed || jx_ffi_fail(error, XLA_FFI_Error_Code_INTERNAL,
                                  "a Python function failed");
}

/* ---- for the Python package, which calls these by their names */

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void jaxvet_ffi_say(jx_ffi_error *error, const char *message);
EXPORTED int jaxvet_ffi_python(jx_ffi_python *function, XLA_FFI_Handler *jax);
EXPORTED const char *jaxvet_ffi_register(const char *name, int api_version,
                                         void *const *stages);
EXPORTED const char *jaxvet_ffi_type(const char *name, int64_t type_id,
                                     const XLA_FFI_TypeInfo *info);
EXPORTED void jaxvet_ffi_ask(void (*ask)(const char *target));
EXPORTED XLA_FFI_Handler jaxvet_ffi_meet;

/* What a function of Python failed with. */
void jaxvet_ffi_say(jx_ffi_error *error, const char *message)
{
    jx_ffi_fail(error, XLA_FFI_Error_Code_INTERNAL, "%s", message);
}

/* `function` calls Python objects; `jax` is JAX's handler of the same.  0 if
 * that asks for nothing that we know, so that there is no way to call them. */
int jaxvet_ffi_python(jx_ffi_python *function, XLA_FFI_Handler *jax)
{
    int64_t type_id = type_asked_by(jax);

    if (!type_id)
        return 0;
    atomic_store(&type_of_callbacks, type_id);
    atomic_store(&call_python, function);
    return 1;
}

/* Why something could not be registered, or NULL; kept until the thread's next
 * failure. */
static const char *reason(jx_ffi_error *error)
{
    static _Thread_local char text[512];

    strncpy(text, error->message ? error->message : "no memory",
            sizeof text - 1);
    jx_ffi_error_clear(error);
    return text;
}

/* `stages` are instantiate, prepare, initialize, execute, each
 * NULL or a handler. */
const char *jaxvet_ffi_register(const char *name, int api_version,
                                void *const *stages)
{
    XLA_FFI_Handler_Bundle bundle = {0};
    jx_ffi_error error = {XLA_FFI_Error_Code_OK, NULL};

    memcpy(&bundle, stages, 4 * sizeof *stages);
    return jx_ffi_register(name, strlen(name), api_version, &bundle, &error)
               ? NULL
               : reason(&error);
}

/* A type that JAX has given a number. */
const char *jaxvet_ffi_type(const char *name, int64_t type_id,
                            const XLA_FFI_TypeInfo *info)
{
    jx_ffi_error error = {XLA_FFI_Error_Code_OK, NULL};

    return jx_ffi_type(name, strlen(name), &type_id,
                       info ? info->deleter : NULL, &error)
               ? NULL
               : reason(&error);
}

/* `ask` is called for targets that nobody has registered. */
void jaxvet_ffi_ask(void (*ask)(const char *target))
{
    jx_ffi_ask(ask);
}

/* A handler that is never called but by XLA, which asks what it is when it is
 * registered there: so we learn of XLA's side of the interface. */
XLA_FFI_Error *jaxvet_ffi_meet(XLA_FFI_CallFrame *frame)
{
    const XLA_FFI_Metadata_Extension *extension =
        (void *)frame->extension_start;

    if (extension &&
        extension->extension_base.type == XLA_FFI_Extension_Metadata) {
        extension->metadata->api_version.major_version =
            frame->api->api_version.major_version;
        extension->metadata->api_version.minor_version =
            frame->api->api_version.minor_version;
        extension->metadata->traits = 0;
    }
    jx_ffi_use_xla(frame->api->XLA_FFI_Error_Create);
    return NULL;
}
