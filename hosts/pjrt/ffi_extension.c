/* ffi_extension.c - the FFI as PJRT's hosts reach it: what runs are given, and
 * the extension that registers handlers and types. */
#include "hosts/pjrt/ffi.h"
#include "hosts/pjrt/plugin.h"

#include <string.h>

static PJRT_Error *told(jx_ffi_error *why)
{
    PJRT_Error *error = jx_pjrt_error((PJRT_Error_Code)why->code, "%s",
                                      why->message ? why->message : "");

    jx_ffi_error_clear(why);
    return error;
}

PJRT_Error *jx_pjrt_ExecuteContext_Create(PJRT_ExecuteContext_Create_Args *args)
{
    args->context = (PJRT_ExecuteContext *)jx_ffi_context_new();
    return args->context ? NULL : jx_pjrt_starved();
}

PJRT_Error *
jx_pjrt_ExecuteContext_Destroy(PJRT_ExecuteContext_Destroy_Args *args)
{
    jx_ffi_context_free((jx_ffi_context *)args->context);
    return NULL;
}

static PJRT_Error *type_register(PJRT_FFI_Type_Register_Args *args)
{
    jx_ffi_error why = {XLA_FFI_Error_Code_OK, NULL};
    bool has_info = PJRT_GIVES(args, type_info) && args->type_info;

    return jx_ffi_type(args->type_name, args->type_name_size, &args->type_id,
                       has_info ? args->type_info->deleter : NULL, &why)
               ? NULL
               : told(&why);
}

static PJRT_Error *user_data_add(PJRT_FFI_UserData_Add_Args *args)
{
    jx_ffi_error why = {XLA_FFI_Error_Code_OK, NULL};

    if (!args->context)
        return jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                             "expected the context of a run");
    return jx_ffi_context_add((jx_ffi_context *)args->context,
                              args->user_data.type_id, args->user_data.data,
                              NULL, &why)
               ? NULL
               : told(&why);
}

/* Handlers of other platforms are none of ours. */
static PJRT_Error *register_handler(PJRT_FFI_Register_Handler_Args *args)
{
    static const char *const ours[] = {"Host", "HOST", "host", "cpu"};
    XLA_FFI_Handler_Bundle bundle = {.execute = args->handler};
    jx_ffi_error why = {XLA_FFI_Error_Code_OK, NULL};
    bool is_ours = false;

    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        is_ours |=
            strlen(ours[i]) == args->platform_name_size &&
            !memcmp(ours[i], args->platform_name, args->platform_name_size);
    if (!is_ours)
        return jx_pjrt_error(PJRT_Error_Code_UNIMPLEMENTED,
                             "a handler for the platform %.*s, expected Host",
                             (int)args->platform_name_size,
                             args->platform_name);
    return jx_ffi_register(args->target_name, args->target_name_size, 1,
                           &bundle, &why)
               ? NULL
               : told(&why);
}

JX_PJRT_ENTER(type_register, PJRT_FFI_Type_Register_Args, type_id)
JX_PJRT_ENTER(user_data_add, PJRT_FFI_UserData_Add_Args, user_data)
JX_PJRT_ENTER(register_handler, PJRT_FFI_Register_Handler_Args,
              platform_name_size)

const PJRT_FFI_Extension jx_pjrt_ffi_extension = {
    .base = {.struct_size = sizeof jx_pjrt_ffi_extension,
             .type = PJRT_Extension_Type_FFI,
             /* Nobody writes there. */
             .next = (PJRT_Extension_Base
                          *)(uintptr_t)&jx_pjrt_shardings_extension},
    .type_register = enter_type_register,
    .user_data_add = enter_user_data_add,
    .register_handler = enter_register_handler,
};
