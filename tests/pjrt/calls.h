/* calls.h - calling the plugin through its table, for tests.
 *
 * CALL(Client_Create, .num_options = 1) is the arguments, with what came out;
 * what fails fails the test. */
#ifndef JX_TESTS_PJRT_CALLS_H
#define JX_TESTS_PJRT_CALLS_H

#include "hosts/pjrt/pjrt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

const PJRT_Api *GetPjrtApi(void);

#define ARGS(name, ...)                                                        \
    (PJRT_##name##_Args)                                                       \
    {                                                                          \
        .struct_size = sizeof(PJRT_##name##_Args), __VA_ARGS__                 \
    }
/* The error, or NULL.  (Arguments that are macros are expanded first.) */
#define TRY(...) TRY_(__VA_ARGS__)
#define TRY_(name, ...) (GetPjrtApi()->PJRT_##name(&ARGS(name, __VA_ARGS__)))
#define CALL(...) CALL_(__VA_ARGS__)
#define CALL_(name, ...)                                                       \
    ({                                                                         \
        PJRT_##name##_Args call_args = ARGS(name, __VA_ARGS__);                \
        went_well(GetPjrtApi()->PJRT_##name(&call_args));                      \
        call_args;                                                             \
    })
#define REFUSED(code, text, ...)                                               \
    was_refused(PJRT_Error_Code_##code, text, TRY(__VA_ARGS__), __FILE__,      \
                __LINE__)

static inline void drop_error(PJRT_Error *error)
{
    TRY(Error_Destroy, .error = error);
}

static inline void went_well(PJRT_Error *error)
{
    if (error) {
        PJRT_Error_Message_Args m = ARGS(Error_Message, .error = error);
        GetPjrtApi()->PJRT_Error_Message(&m);
        fail_msg("failed: %.*s", (int)m.message_size, m.message);
    }
}

/* An error of that code whose text has `text` in it; it is gone after this. */
static inline void was_refused(PJRT_Error_Code code, const char *text,
                               PJRT_Error *error, const char *file, int line)
{
    PJRT_Error_Message_Args m = ARGS(Error_Message, .error = error);
    PJRT_Error_GetCode_Args c = ARGS(Error_GetCode, .error = error);

    if (!error)
        fail_msg("%s:%d: nothing was refused, expected '%s'", file, line, text);
    GetPjrtApi()->PJRT_Error_Message(&m);
    GetPjrtApi()->PJRT_Error_GetCode(&c);
    if (c.code != code || !strstr(m.message, text))
        fail_msg("%s:%d: expected error %d with '%s', found %d: %s", file, line,
                 (int)code, text, (int)c.code, m.message);
    assert_int_equal(m.message_size, strlen(m.message));
    drop_error(error);
}

static inline PJRT_Client *new_client(void)
{
    return CALL(Client_Create).client;
}

static inline void free_client(PJRT_Client *client)
{
    CALL(Client_Destroy, .client = client);
}

static inline PJRT_Program program_of(const char *code, size_t size)
{
    return (PJRT_Program){.struct_size = sizeof(PJRT_Program),
                          .code = (char *)(uintptr_t)code,
                          .code_size = size,
                          .format = "mlir",
                          .format_size = 4};
}

static inline PJRT_LoadedExecutable *compiled(PJRT_Client *client,
                                              const char *module)
{
    PJRT_Program program = program_of(module, strlen(module));

    return CALL(Client_Compile, .client = client, .program = &program)
        .executable;
}

static inline void free_executable(PJRT_LoadedExecutable *executable)
{
    CALL(LoadedExecutable_Destroy, .executable = executable);
}

static inline PJRT_Buffer *new_buffer(PJRT_Client *client,
                                      PJRT_Buffer_Type type, const void *data,
                                      size_t rank, const int64_t *dims)
{
    return CALL(Client_BufferFromHostBuffer, .client = client, .data = data,
                .type = type, .dims = dims, .num_dims = rank)
        .buffer;
}

static inline void free_buffer(PJRT_Buffer *buffer)
{
    CALL(Buffer_Destroy, .buffer = buffer);
}

static inline void read_buffer(PJRT_Buffer *buffer, void *to, size_t size)
{
    CALL(Buffer_ToHostBuffer, .src = buffer, .dst = to, .dst_size = size);
}

/* Runs what takes one buffer and gives one; *done, unless NULL,
 * is the caller's. */
static inline PJRT_Error *run_one(PJRT_LoadedExecutable *executable,
                                  PJRT_Buffer *arg, PJRT_Buffer **result,
                                  PJRT_Event **done)
{
    PJRT_Buffer *const *arguments[] = {&arg};
    PJRT_Buffer **results[] = {result};

    *result = NULL;
    return TRY(LoadedExecutable_Execute, .executable = executable,
               .argument_lists = arguments, .num_devices = 1, .num_args = 1,
               .output_lists = results, .device_complete_events = done);
}

/* ---- on threads of the test's own, where cmocka can't end a test: what fails
 * ends the process */

static inline void must(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "not so: %s\n", what);
    abort();
}
#define MUST(...) must(__VA_ARGS__, #__VA_ARGS__)

/* `count` numbers as a buffer. */
static inline PJRT_Buffer *put_floats(PJRT_Client *client, const float *data,
                                      int64_t count)
{
    PJRT_Client_BufferFromHostBuffer_Args args =
        ARGS(Client_BufferFromHostBuffer, .client = client, .data = data,
             .type = PJRT_Buffer_Type_F32, .dims = &count, .num_dims = 1);

    MUST(!GetPjrtApi()->PJRT_Client_BufferFromHostBuffer(&args));
    MUST(!TRY(Event_Destroy, .event = args.done_with_host_buffer));
    return args.buffer;
}

#endif
