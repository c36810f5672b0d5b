/* ffi.h - XLA's FFI for custom calls that jaxvet has no kernel for: who handles
 * which target, and the calls of it (jaxvet_handlers of jaxvet.h).
 *
 *     ffi.c         handlers and types by name, what a run holds for handlers
 *     ffi_api.c     what handlers may ask for
 *     ffi_frame.c   attributes, arguments and results as handlers know them
 *     ffi_call.c    calls of handlers, stage by stage
 *     ffi_old.c     handlers of the interface before the FFI
 *     ffi_python.c  functions of Python, which JAX calls by its own handler
 *
 * Nothing here knows of PJRT: codes of errors are the same in both. */
#ifndef JX_PJRT_FFI_H
#define JX_PJRT_FFI_H

#include "hosts/pjrt/ffi_abi.h"
#include "jaxvet.h"

#include <stdbool.h>

/* Why something failed.  Starts as zeros; the text is
 * jx_ffi_error_clear()'s. */
typedef struct jx_ffi_error {
    XLA_FFI_Error_Code code;
    char *message; /* NULL: nothing failed, or there was no memory for it */
} jx_ffi_error;

/* The first failure stays; always false. */
bool jx_ffi_fail(jx_ffi_error *error, XLA_FFI_Error_Code code,
                 const char *format, ...) __attribute__((format(printf, 3, 4)));
bool jx_ffi_starved(jx_ffi_error *error);
void jx_ffi_error_clear(jx_ffi_error *error);

/* ---- handlers and types (ffi.c): of the process, from any thread */

/* Handlers of a target, for good; the same ones again are no error, others are.
 * `api_version` is 1, or 0 for a function of the interface before the FFI (then
 * `execute` alone, cast). */
bool jx_ffi_register(const char *name, size_t name_size, int api_version,
                     const XLA_FFI_Handler_Bundle *bundle, jx_ffi_error *error);
/* A type of states or of what runs are given: *type_id is its number, or 0 to
 * be made one.  `deleter` may be NULL. */
bool jx_ffi_type(const char *name, size_t name_size, int64_t *type_id,
                 void (*deleter)(void *), jx_ffi_error *error);
/* Asked for a target that nobody has registered, in the thread that compiles;
 * it may register it then. */
void jx_ffi_ask(void (*ask)(const char *target));

/* ---- runs */

/* What a host gives a run's handlers: one value of a type at most. */
typedef struct jx_ffi_context jx_ffi_context;
jx_ffi_context *jx_ffi_context_new(void); /* NULL without memory */
void jx_ffi_context_free(jx_ffi_context *context);
/* `deleter`, if there is one, is called when the context ends. */
bool jx_ffi_context_add(jx_ffi_context *context, int64_t type_id, void *data,
                        void (*deleter)(void *), jx_ffi_error *error);

/* One run: the `context` of jaxvet_run_with(). */
typedef struct jx_ffi_run {
    jx_ffi_context *context; /* or NULL */
    int64_t run_id;
    /* its number; of several that one run is for, the first one's */
    int32_t device;
    jx_ffi_error error; /* what a handler failed with, in full */
} jx_ffi_run;

/* For jaxvet_program_handlers().  A call begins with the stage `instantiate`;
 * each time that it runs come `prepare`, `initialize` and `execute`. */
extern const jaxvet_handlers jx_ffi_handlers;

/* ---- functions of Python (ffi_python.c) */

/* An operand or result, in jaxvet's words; of the dtype "token"
 * there is no data. */
typedef struct jx_ffi_array {
    void *data;
    const char *dtype;
    int64_t rank;
    const int64_t *dims;
    int64_t bytes;
} jx_ffi_array;

/* Calls a Python object; 0, or not and jaxvet_ffi_say() was called. */
typedef int jx_ffi_python(void *callable, int64_t nins, const jx_ffi_array *ins,
                          int64_t nouts, const jx_ffi_array *outs,
                          jx_ffi_error *error);

#endif
