/* error.c - errors of PJRT. */
#include "hosts/pjrt/plugin.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Given where there is no memory for another one; never freed. */
static PJRT_Error starved = {PJRT_Error_Code_RESOURCE_EXHAUSTED,
                             {"the system has no memory left"}};

PJRT_Error *jx_pjrt_starved(void)
{
    return &starved;
}

PJRT_Error *jx_pjrt_error(PJRT_Error_Code code, const char *format, ...)
{
    PJRT_Error *error;
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    error = length < 0 ? NULL : malloc(sizeof *error + (size_t)length + 1);
    if (!error)
        return &starved;
    error->code = code;
    va_start(args, format);
    vsnprintf(error->message, (size_t)length + 1, format, args);
    va_end(args);
    return error;
}

static PJRT_Error_Code code_of(jaxvet_status status, PJRT_Error_Code code)
{
    switch (status) {
    case JAXVET_LIMIT: return PJRT_Error_Code_RESOURCE_EXHAUSTED;
    case JAXVET_INTERNAL: return PJRT_Error_Code_INTERNAL;
    default: return code;
    }
}

PJRT_Error *jx_pjrt_error_of(const jaxvet_error *error, PJRT_Error_Code code)
{
    return jx_pjrt_error(code_of(error->status, code), "%s%s%s", error->place,
                         error->place[0] ? ": " : "", error->message);
}

void jx_pjrt_error_free(PJRT_Error *error)
{
    if (error != &starved)
        free(error);
}

PJRT_Error *jx_pjrt_error_copy(const PJRT_Error *error)
{
    return error ? jx_pjrt_error(error->code, "%s", error->message) : NULL;
}

PJRT_Error *jx_pjrt_error_said(PJRT_Error_Code code, const char *message,
                               size_t size, PJRT_Error **to)
{
    if (code == PJRT_Error_Code_OK)
        return jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                             "expected the code of an error, found 0");
    *to = jx_pjrt_error(code, "%.*s", (int)size, message ? message : "");
    return NULL;
}

PJRT_Error *jx_pjrt_Error_Destroy(PJRT_Error_Destroy_Args *args)
{
    jx_pjrt_error_free(args->error);
    return NULL;
}

PJRT_Error *jx_pjrt_Error_Message(PJRT_Error_Message_Args *args)
{
    args->message = args->error->message;
    args->message_size = strlen(args->error->message);
    return NULL;
}

PJRT_Error *jx_pjrt_Error_GetCode(PJRT_Error_GetCode_Args *args)
{
    args->code = args->error->code;
    return NULL;
}

/* An error has none.  One from here would be asked for its own, without end. */
PJRT_Error *jx_pjrt_Error_ForEachPayload(PJRT_Error_ForEachPayload_Args *args)
{
    (void)args;
    return NULL;
}
