/* ffi_parts.h - what the files of the FFI share. */
#ifndef JX_PJRT_FFI_PARTS_H
#define JX_PJRT_FFI_PARTS_H

#include "hosts/pjrt/ffi.h"

struct XLA_FFI_Error {
    jx_ffi_error error;
};

/* ---- the registry (ffi.c) */

typedef struct jx_ffi_handler {
    struct jx_ffi_handler *next;
    char *name;
    int api_version; /* 0 or 1 */
    XLA_FFI_Handler_Bundle bundle;
} jx_ffi_handler;

/* NULL: nobody has registered it. */
const jx_ffi_handler *jx_ffi_handler_of(const char *target);
/* Whether there is a type of that number, and how its objects end (NULL: they
 * need not). */
bool jx_ffi_type_known(int64_t type_id, void (**deleter)(void *));
/* What the context has of that type; false if it has none. */
bool jx_ffi_context_get(const jx_ffi_context *context, int64_t type_id,
                        void **data);

/* ---- what handlers see (ffi_api.c) */

extern const XLA_FFI_Api jx_ffi_api;

enum { JX_FFI_STAGES = XLA_FFI_ExecutionStage_RECORD + 1 };

/* What a handler left for later stages. */
typedef struct jx_ffi_state {
    int64_t type_id;
    void *object; /* NULL: nothing */
} jx_ffi_state;

/* Memory that a handler has asked for. */
typedef struct jx_ffi_block {
    struct jx_ffi_block *next;
    void *memory;
} jx_ffi_block;

struct XLA_FFI_InvokeContext {
    const jx_ffi_run *run; /* NULL: there is no run yet */
    int32_t device;
    jx_ffi_state *states[JX_FFI_STAGES]; /* NULL: of a stage that has none */
    jx_ffi_block *blocks;
    int64_t *asked; /* the type that it asks for first goes here; or NULL */
    /* it is JAX's buffer callback, which hands its errors to XLA */
    bool is_jax;
};

/* XLA's own errors are made by this function of its, once it is known. */
void jx_ffi_use_xla(XLA_FFI_Error_Create *create);

void jx_ffi_state_end(jx_ffi_state *state);
void jx_ffi_blocks_free(XLA_FFI_InvokeContext *ctx);

/* Done, or failed, when the future is, which ends; NULL: done. */
bool jx_ffi_future_wait(XLA_FFI_Future *future, jx_ffi_error *error);

/* ---- frames (ffi_frame.c) */

/* INVALID for a dtype that handlers have no word for. */
XLA_FFI_DataType jx_ffi_dtype(const char *dtype);
/* Bits of an element where several share a byte; else 0. */
int jx_ffi_packed_bits(XLA_FFI_DataType dtype);
/* Elements of a byte each, into and out of as few bytes as they fit in. */
void jx_ffi_pack(int bits, int64_t count, const void *from, void *to);
void jx_ffi_unpack(XLA_FFI_DataType dtype, int64_t count, const void *from,
                   void *to);

/* Memory that ends at once. */
typedef struct jx_ffi_pool {
    struct jx_ffi_block *blocks;
    bool failed;
} jx_ffi_pool;
/* zeros; or NULL */
void *jx_ffi_take(jx_ffi_pool *pool, size_t count, size_t size);
void jx_ffi_pool_free(jx_ffi_pool *pool);

/* False with an error: something that handlers can't be told. */
bool jx_ffi_attributes(jx_ffi_pool *pool, int count,
                       const jaxvet_attribute *attributes, XLA_FFI_Attrs *to,
                       jx_ffi_error *error);
/* The entry of that name that is a number of this type, or NULL. */
const void *jx_ffi_scalar(const XLA_FFI_Attrs *attributes, const char *name,
                          XLA_FFI_DataType dtype);

/* ---- calls (ffi_call.c) */

/* A custom call that is ready to run. */
typedef struct jx_ffi_site {
    const jx_ffi_handler *handler;
    bool is_python; /* by jx_ffi_python_call() */
    bool is_jax;    /* JAX's buffer callback */
    jx_ffi_pool pool;
    XLA_FFI_Attrs attributes;
    jx_ffi_state state; /* of `instantiate` */
} jx_ffi_site;

/* A handler, called; false with an error. */
bool jx_ffi_invoke(XLA_FFI_Handler *handler, XLA_FFI_CallFrame *frame,
                   jx_ffi_error *error);

/* One of before the FFI (ffi_old.c). */
bool jx_ffi_old_call(const jx_ffi_handler *handler,
                     const jaxvet_custom_call *call, const void *const *inputs,
                     void *const *outputs, jx_ffi_error *error);

/* Whether the target is JAX's handler of functions of Python, and these can be
 * called; one of them (ffi_python.c). */
bool jx_ffi_is_python(const char *target);
bool jx_ffi_python_call(const jx_ffi_site *site, const jaxvet_custom_call *call,
                        const void *const *inputs, void *const *outputs,
                        const jx_ffi_run *run, jx_ffi_error *error);

#endif
