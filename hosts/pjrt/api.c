/* api.c - the table of functions, and what the plugin says of itself. */
#include "hosts/pjrt/plugin.h"

/* ---- the plugin */

PJRT_Error *jx_pjrt_Plugin_Initialize(PJRT_Plugin_Initialize_Args *args)
{
    (void)args;
    return NULL;
}

/* The versions of StableHLO that are read; JAX sends the newest one. */
static const int64_t oldest[] = {0, 9, 0}, newest[] = {1, 14, 0};

static const PJRT_NamedValue attributes[] = {
    {.struct_size = sizeof attributes[0],
     .name = "xla_version",
     .name_size = 11,
     .type = PJRT_NamedValue_kInt64,
     .int64_value = 2,
     .value_size = 1},
    {.struct_size = sizeof attributes[0],
     .name = "stablehlo_current_version",
     .name_size = 25,
     .type = PJRT_NamedValue_kInt64List,
     .int64_array_value = newest,
     .value_size = 3},
    {.struct_size = sizeof attributes[0],
     .name = "stablehlo_minimum_version",
     .name_size = 25,
     .type = PJRT_NamedValue_kInt64List,
     .int64_array_value = oldest,
     .value_size = 3},
};

PJRT_Error *jx_pjrt_Plugin_Attributes(PJRT_Plugin_Attributes_Args *args)
{
    args->attributes = attributes;
    args->num_attributes = sizeof attributes / sizeof *attributes;
    return NULL;
}

/* ---- the table: each function is entered by way of a check that the caller's
 * structure reaches as far as the fields that it stands for */

PJRT_Error *jx_pjrt_check_size(const char *name, size_t least, size_t found)
{
    if (found >= least)
        return NULL;
    return jx_pjrt_error(
        PJRT_Error_Code_INVALID_ARGUMENT,
        "%s: expected at least %zu bytes, found %zu: the caller "
        "speaks another version of the interface than %d.%d",
        name, least, found, PJRT_API_MAJOR, PJRT_API_MINOR);
}

#define ENTER(name, least)                                                     \
    static PJRT_Error *enter_##name(PJRT_##name##_Args *args)                  \
    {                                                                          \
        PJRT_Error *error =                                                    \
            jx_pjrt_check_size("PJRT_" #name, (least), args->struct_size);     \
        return error ? error : jx_pjrt_##name(args);                           \
    }
#define FUNCTION(name, ...) ENTER(name, offsetof(PJRT_##name##_Args, end))
#define GROWN(name, first, ...) ENTER(name, offsetof(PJRT_##name##_Args, first))
#define LACKING(name, ...)                                                     \
    static PJRT_Error *enter_##name(PJRT_##name##_Args *args)                  \
    {                                                                          \
        (void)args;                                                            \
        return jx_pjrt_error(PJRT_Error_Code_UNIMPLEMENTED,                    \
                             "PJRT_" #name " is nothing that jaxvet does");    \
    }
#include "hosts/pjrt/functions.def"
#undef FUNCTION
#undef GROWN
#undef LACKING

static const PJRT_Api api = {
    .struct_size = sizeof api,
    /* Nobody writes there. */
    .extension_start = (PJRT_Extension_Base *)(uintptr_t)&jx_pjrt_ffi_extension,
    .pjrt_api_version = {.struct_size = sizeof api.pjrt_api_version,
                         .major_version = PJRT_API_MAJOR,
                         .minor_version = PJRT_API_MINOR},
#define FUNCTION(name, ...) .PJRT_##name = enter_##name,
#define GROWN(name, first, ...) FUNCTION(name, __VA_ARGS__)
#define LACKING(name, ...) FUNCTION(name, __VA_ARGS__)
#include "hosts/pjrt/functions.def"
#undef FUNCTION
#undef GROWN
#undef LACKING
};

__attribute__((visibility("default"))) const PJRT_Api *GetPjrtApi(void);

const PJRT_Api *GetPjrtApi(void)
{
    return &api;
}
