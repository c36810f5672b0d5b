/* ffi_old.c - handlers of custom calls as they were before the FFI: functions
 * of pointers, in three forms (`api_version` 1 to 3 of the call).
 *
 *     1  void (void *out, const void **ins)
 *     2  void (void *out, const void **ins, status)
 *     3  void (void *out, const void **ins, const char *, size_t, status)
 *
 * `out` is the result, or the list of them if there are several or none.  The
 * status is written by functions that the handler was linked with: a text, and
 * a flag behind it that says that there is one. */
#include "hosts/pjrt/ffi_parts.h"

#include <stdlib.h>
#include <string.h>

/* C++'s std::optional<std::string>, as gcc lays it out; a long text has memory
 * of its own, which is its maker's to free and is not. */
typedef struct status {
    const char *text;
    size_t length;
    char near[16];
    bool is_set;
} status;

typedef void original(void *out, const void **ins);
typedef void returning(void *out, const void **ins, status *to);
typedef void unified(void *out, const void **ins, const char *options,
                     size_t size, status *to);

/* Of any function. */
typedef union any_form {
    XLA_FFI_Handler *handler;
    original *original;
    returning *returning;
    unified *unified;
} any_form;

bool jx_ffi_old_call(const jx_ffi_handler *handler,
                     const jaxvet_custom_call *call, const void *const *inputs,
                     void *const *outputs, jx_ffi_error *error)
{
    any_form f = {handler->bundle.execute};
    const void **ins = (const void **)(uintptr_t)inputs;
    void *out =
        call->output_count == 1 ? outputs[0] : (void *)(uintptr_t)outputs;
    status said = {.is_set = false};

    switch (call->api_version) {
    case 1: f.original(out, ins); break;
    case 2: f.returning(out, ins, &said); break;
    default:
        f.unified(out, ins, call->config ? call->config : "", call->config_size,
                  &said);
        break;
    }
    return !said.is_set || jx_ffi_fail(error, XLA_FFI_Error_Code_INTERNAL,
                                       "%.*s", (int)said.length, said.text);
}
