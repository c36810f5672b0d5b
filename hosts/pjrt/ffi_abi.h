/* ffi_abi.h - the C interface of XLA's FFI, by which handlers of custom calls
 * are called and ask for what they need.
 *
 * The names are the interface's own; what lies where is fixed by it.
 * Structures grow at their ends, and say in `struct_size` how far their maker
 * knew them.  In comments, "out" is what whoever is called fills in.  Version
 * 0.5; what 0.3 lacks is marked. */
#ifndef JX_PJRT_FFI_ABI_H
#define JX_PJRT_FFI_ABI_H

#include <stddef.h>
#include <stdint.h>

enum { XLA_FFI_API_MAJOR = 0, XLA_FFI_API_MINOR = 5 };

typedef struct XLA_FFI_Api XLA_FFI_Api;
typedef struct XLA_FFI_InternalApi XLA_FFI_InternalApi;
typedef struct XLA_FFI_Error XLA_FFI_Error;
typedef struct XLA_FFI_Future XLA_FFI_Future;
typedef struct XLA_FFI_InvokeContext XLA_FFI_InvokeContext;

/* How much of a structure there is if `last` is its last field: there may be
 * padding behind, which does not count. */
#define XLA_FFI_SIZE(type, last)                                               \
    (offsetof(type, last) + sizeof(((type *)0)->last))

/* ---- extensions, versions, errors */

typedef enum XLA_FFI_InternalExtension_Type {
    XLA_FFI_Extension_Metadata = 1,
} XLA_FFI_InternalExtension_Type;

typedef struct XLA_FFI_InternalExtension {
    size_t struct_size;
    XLA_FFI_InternalExtension_Type type;
    struct XLA_FFI_InternalExtension *next;
} XLA_FFI_InternalExtension;

typedef struct XLA_FFI_Extension XLA_FFI_Extension; /* a run has none here */

typedef struct XLA_FFI_Api_Version {
    size_t struct_size;
    XLA_FFI_InternalExtension *extension_start;
    int major_version; /* out */
    int minor_version; /* out */
} XLA_FFI_Api_Version;

typedef enum XLA_FFI_Error_Code {
    XLA_FFI_Error_Code_OK = 0,
    XLA_FFI_Error_Code_CANCELLED = 1,
    XLA_FFI_Error_Code_UNKNOWN = 2,
    XLA_FFI_Error_Code_INVALID_ARGUMENT = 3,
    XLA_FFI_Error_Code_DEADLINE_EXCEEDED = 4,
    XLA_FFI_Error_Code_NOT_FOUND = 5,
    XLA_FFI_Error_Code_ALREADY_EXISTS = 6,
    XLA_FFI_Error_Code_PERMISSION_DENIED = 7,
    XLA_FFI_Error_Code_RESOURCE_EXHAUSTED = 8,
    XLA_FFI_Error_Code_FAILED_PRECONDITION = 9,
    XLA_FFI_Error_Code_ABORTED = 10,
    XLA_FFI_Error_Code_OUT_OF_RANGE = 11,
    XLA_FFI_Error_Code_UNIMPLEMENTED = 12,
    XLA_FFI_Error_Code_INTERNAL = 13,
    XLA_FFI_Error_Code_UNAVAILABLE = 14,
    XLA_FFI_Error_Code_DATA_LOSS = 15,
    XLA_FFI_Error_Code_UNAUTHENTICATED = 16,
} XLA_FFI_Error_Code;

/* ---- what a call is given */

typedef enum XLA_FFI_DataType {
    XLA_FFI_DataType_INVALID = 0,
    XLA_FFI_DataType_PRED = 1,
    XLA_FFI_DataType_S8 = 2,
    XLA_FFI_DataType_S16 = 3,
    XLA_FFI_DataType_S32 = 4,
    XLA_FFI_DataType_S64 = 5,
    XLA_FFI_DataType_U8 = 6,
    XLA_FFI_DataType_U16 = 7,
    XLA_FFI_DataType_U32 = 8,
    XLA_FFI_DataType_U64 = 9,
    XLA_FFI_DataType_F16 = 10,
    XLA_FFI_DataType_F32 = 11,
    XLA_FFI_DataType_F64 = 12,
    XLA_FFI_DataType_C64 = 15,
    XLA_FFI_DataType_BF16 = 16,
    XLA_FFI_DataType_TOKEN = 17,
    XLA_FFI_DataType_C128 = 18,
    XLA_FFI_DataType_F8E5M2 = 19,
    XLA_FFI_DataType_F8E4M3FN = 20,
    XLA_FFI_DataType_S4 = 21,
    XLA_FFI_DataType_U4 = 22,
    XLA_FFI_DataType_F8E4M3B11FNUZ = 23,
    XLA_FFI_DataType_F8E5M2FNUZ = 24,
    XLA_FFI_DataType_F8E4M3FNUZ = 25,
    XLA_FFI_DataType_S2 = 26,
    XLA_FFI_DataType_U2 = 27,
    XLA_FFI_DataType_F8E4M3 = 28,
    XLA_FFI_DataType_F8E3M4 = 29,
    XLA_FFI_DataType_S1 = 30,
    XLA_FFI_DataType_U1 = 31,
    XLA_FFI_DataType_F4E2M1FN = 32,
    XLA_FFI_DataType_F8E8M0FNU = 33,
} XLA_FFI_DataType;

typedef struct XLA_FFI_Buffer {
    size_t struct_size;
    XLA_FFI_InternalExtension *extension_start;
    XLA_FFI_DataType dtype;
    void *data;
    int64_t rank;
    int64_t *dims;
} XLA_FFI_Buffer;

typedef enum XLA_FFI_ArgType { XLA_FFI_ArgType_BUFFER = 1 } XLA_FFI_ArgType;
typedef enum XLA_FFI_RetType { XLA_FFI_RetType_BUFFER = 1 } XLA_FFI_RetType;

typedef enum XLA_FFI_AttrType {
    XLA_FFI_AttrType_ARRAY = 1,
    XLA_FFI_AttrType_DICTIONARY = 2,
    XLA_FFI_AttrType_SCALAR = 3,
    XLA_FFI_AttrType_STRING = 4,
} XLA_FFI_AttrType;

typedef struct XLA_FFI_ByteSpan {
    const char *ptr;
    size_t len;
} XLA_FFI_ByteSpan;

typedef struct XLA_FFI_Scalar {
    XLA_FFI_DataType dtype;
    void *value;
} XLA_FFI_Scalar;

typedef struct XLA_FFI_Array {
    XLA_FFI_DataType dtype;
    size_t size;
    void *data;
} XLA_FFI_Array;

typedef struct XLA_FFI_Args {
    size_t struct_size;
    XLA_FFI_InternalExtension *extension_start;
    int64_t size;
    XLA_FFI_ArgType *types;
    void **args;
} XLA_FFI_Args;

typedef struct XLA_FFI_Rets {
    size_t struct_size;
    XLA_FFI_InternalExtension *extension_start;
    int64_t size;
    XLA_FFI_RetType *types;
    void **rets;
} XLA_FFI_Rets;

typedef struct XLA_FFI_Attrs { /* by name */
    size_t struct_size;
    XLA_FFI_InternalExtension *extension_start;
    int64_t size;
    XLA_FFI_AttrType *types;
    XLA_FFI_ByteSpan **names;
    void **attrs; /* scalars, arrays, spans, or these again */
} XLA_FFI_Attrs;

typedef enum XLA_FFI_ExecutionStage {
    XLA_FFI_ExecutionStage_INSTANTIATE = 0,
    XLA_FFI_ExecutionStage_PREPARE = 1,
    XLA_FFI_ExecutionStage_INITIALIZE = 2,
    XLA_FFI_ExecutionStage_EXECUTE = 3,
    XLA_FFI_ExecutionStage_RECORD = 4, /* not in 0.3 */
} XLA_FFI_ExecutionStage;

typedef struct XLA_FFI_CallFrame {
    size_t struct_size; /* up to `attrs` */
    XLA_FFI_InternalExtension *extension_start;
    const XLA_FFI_Api *api;
    XLA_FFI_InvokeContext *ctx;
    XLA_FFI_ExecutionStage stage;
    XLA_FFI_Args args;
    XLA_FFI_Rets rets;
    XLA_FFI_Attrs attrs;
    XLA_FFI_Future *future; /* out: done when that is; NULL: when it returns */
} XLA_FFI_CallFrame;

/* ---- handlers */

typedef XLA_FFI_Error *XLA_FFI_Handler(XLA_FFI_CallFrame *frame);

typedef struct XLA_FFI_Handler_Bundle {
    XLA_FFI_Handler *instantiate, *prepare, *initialize; /* may be NULL */
    XLA_FFI_Handler *execute;
    XLA_FFI_Handler *record; /* not in 0.3; may be NULL */
} XLA_FFI_Handler_Bundle;

typedef uint32_t XLA_FFI_Handler_Traits;

typedef struct XLA_FFI_Handler_Register_Args {
    size_t struct_size;
    XLA_FFI_InternalExtension *extension_start;
    XLA_FFI_ByteSpan name;
    XLA_FFI_ByteSpan platform;
    XLA_FFI_Handler_Bundle bundle; /* a pointer shorter in 0.3, ... */
    XLA_FFI_Handler_Traits traits; /* ... which has this one earlier */
} XLA_FFI_Handler_Register_Args;

typedef struct XLA_FFI_TypeId {
    int64_t type_id; /* 0: none so far */
} XLA_FFI_TypeId;

typedef struct XLA_FFI_TypeInfo {
    size_t struct_size;
    XLA_FFI_InternalExtension *extension_start;
    void (*deleter)(void *object);
} XLA_FFI_TypeInfo;

typedef struct XLA_FFI_Metadata {
    size_t struct_size; /* up to `traits`, though there is more */
    XLA_FFI_Api_Version api_version;
    XLA_FFI_Handler_Traits traits;
    XLA_FFI_TypeId state_type_id;
} XLA_FFI_Metadata;

typedef struct XLA_FFI_Metadata_Extension {
    XLA_FFI_InternalExtension extension_base;
    XLA_FFI_Metadata *metadata;
} XLA_FFI_Metadata_Extension;

/* ---- what a handler may ask for */

typedef void XLA_FFI_Task(void *data);

/* ASKS(function, fields): the arguments of a function that gives an
 * error or NULL. */
#define XLA_FFI_ASKS(F)                                                        \
    F(Error_Create, const char *message; XLA_FFI_Error_Code errc;)             \
    F(Stream_Get, XLA_FFI_InvokeContext *ctx; void *stream;)                   \
    F(Type_Register, XLA_FFI_ByteSpan name; XLA_FFI_TypeId * type_id;          \
      const XLA_FFI_TypeInfo *type_info;)                                      \
    F(InvokeContext_Get, XLA_FFI_InvokeContext *ctx; XLA_FFI_TypeId * type_id; \
      void *data;)                                                             \
    F(State_Set, XLA_FFI_InvokeContext *ctx; XLA_FFI_ExecutionStage stage;     \
      XLA_FFI_TypeId * type_id; void *state;)                                  \
    F(State_Get, XLA_FFI_InvokeContext *ctx; XLA_FFI_ExecutionStage stage;     \
      XLA_FFI_TypeId * type_id; void *state;)                                  \
    F(DeviceMemory_Allocate, XLA_FFI_InvokeContext *ctx; size_t size;          \
      size_t alignment; void *data;)                                           \
    F(DeviceMemory_Free, XLA_FFI_InvokeContext *ctx; size_t size; void *data;) \
    F(ThreadPool_Schedule, XLA_FFI_InvokeContext *ctx; XLA_FFI_Task * task;    \
      void *data;)                                                             \
    F(ThreadPool_NumThreads, XLA_FFI_InvokeContext *ctx;                       \
      int64_t * num_threads;)                                                  \
    F(Future_Create, XLA_FFI_Future *future;)                                  \
    F(Future_SetAvailable, XLA_FFI_Future *future;)                            \
    F(Future_SetError, XLA_FFI_Future *future; XLA_FFI_Error * error;)         \
    F(RunId_Get, XLA_FFI_InvokeContext *ctx; int64_t run_id;)                  \
    F(DeviceOrdinal_Get, XLA_FFI_InvokeContext *ctx; int32_t device_ordinal;)  \
    F(InvokeContext_FindExtension, XLA_FFI_InvokeContext *ctx;                 \
      int64_t extension_type; const XLA_FFI_Extension *extension;)             \
    F(CustomOptions_Get, XLA_FFI_InvokeContext *ctx;                           \
      const XLA_FFI_Attrs *attrs;)

#define XLA_FFI_DECLARE(name, fields)                                          \
    typedef struct XLA_FFI_##name##_Args {                                     \
        size_t struct_size;                                                    \
        XLA_FFI_InternalExtension *extension_start;                            \
        fields                                                                 \
    } XLA_FFI_##name##_Args;                                                   \
    typedef XLA_FFI_Error *XLA_FFI_##name(XLA_FFI_##name##_Args *);
XLA_FFI_ASKS(XLA_FFI_DECLARE)
#undef XLA_FFI_DECLARE

typedef struct XLA_FFI_Error_GetDetails_Args { /* Error_GetMessage in 0.3 */
    size_t struct_size;
    XLA_FFI_InternalExtension *extension_start;
    XLA_FFI_Error *error;
    const char *message;     /* out */
    XLA_FFI_Error_Code errc; /* out; not in 0.3 */
} XLA_FFI_Error_GetDetails_Args;
typedef void XLA_FFI_Error_GetDetails(XLA_FFI_Error_GetDetails_Args *);

typedef struct XLA_FFI_Error_Destroy_Args {
    size_t struct_size;
    XLA_FFI_InternalExtension *extension_start;
    XLA_FFI_Error *error;
} XLA_FFI_Error_Destroy_Args;
typedef void XLA_FFI_Error_Destroy(XLA_FFI_Error_Destroy_Args *);

typedef XLA_FFI_Error *
XLA_FFI_Handler_Register(XLA_FFI_Handler_Register_Args *);

/* All of it; each field is called as its function. */
#define XLA_FFI_TABLE(F)                                                       \
    F(Error_Create)                                                            \
    F(Error_GetDetails)                                                        \
    F(Error_Destroy)                                                           \
    F(Handler_Register)                                                        \
    F(Stream_Get)                                                              \
    F(Type_Register)                                                           \
    F(InvokeContext_Get)                                                       \
    F(State_Set)                                                               \
    F(State_Get)                                                               \
    F(DeviceMemory_Allocate)                                                   \
    F(DeviceMemory_Free)                                                       \
    F(ThreadPool_Schedule)                                                     \
    F(ThreadPool_NumThreads)                                                   \
    F(Future_Create)                                                           \
    F(Future_SetAvailable)                                                     \
    F(Future_SetError)                                                         \
    F(RunId_Get)                                                               \
    F(DeviceOrdinal_Get)                                                       \
    F(InvokeContext_FindExtension)                                             \
    F(CustomOptions_Get)

struct XLA_FFI_Api {
    size_t struct_size;
    XLA_FFI_InternalExtension *extension_start;
    XLA_FFI_Api_Version api_version;
    const XLA_FFI_InternalApi *internal_api;
#define XLA_FFI_FIELD(name) XLA_FFI_##name *XLA_FFI_##name;
    XLA_FFI_TABLE(XLA_FFI_FIELD)
#undef XLA_FFI_FIELD
};

#endif
