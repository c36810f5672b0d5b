/* pjrt.h - PJRT's C interface, as far as a plugin for the CPU needs it.
 *
 * The names are the interface's own.  What a structure holds at which place is
 * fixed by it; callers and plugins of other versions know a shorter or longer
 * one, and say in `struct_size` how much of it there is.  In comments below,
 * "out" is what the plugin fills in. */
#ifndef JX_PJRT_H
#define JX_PJRT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PJRT_API_MAJOR = 0, PJRT_API_MINOR = 114 };

typedef struct PJRT_Error PJRT_Error;
typedef struct PJRT_Event PJRT_Event;
typedef struct PJRT_Client PJRT_Client;
typedef struct PJRT_Device PJRT_Device;
typedef struct PJRT_DeviceDescription PJRT_DeviceDescription;
typedef struct PJRT_TopologyDescription PJRT_TopologyDescription;
typedef struct PJRT_Memory PJRT_Memory;
typedef struct PJRT_Buffer PJRT_Buffer;
typedef struct PJRT_Executable PJRT_Executable;
typedef struct PJRT_LoadedExecutable PJRT_LoadedExecutable;
typedef struct PJRT_ExecuteContext PJRT_ExecuteContext;
typedef struct PJRT_SerializedExecutable PJRT_SerializedExecutable;
typedef struct PJRT_SerializedTopology PJRT_SerializedTopology;
typedef struct PJRT_SerializedCompileOptions PJRT_SerializedCompileOptions;
typedef struct PJRT_DeviceAssignmentSerialized PJRT_DeviceAssignmentSerialized;
typedef struct PJRT_Device_Attributes PJRT_Device_Attributes;
typedef struct PJRT_CopyToDeviceStream PJRT_CopyToDeviceStream;
typedef struct PJRT_AsyncTrackingEvent PJRT_AsyncTrackingEvent;
typedef struct PJRT_FulfillAliasBufferCallback PJRT_FulfillAliasBufferCallback;
typedef struct PJRT_AsyncHostToDeviceTransferManager
    PJRT_AsyncHostToDeviceTransferManager;

typedef enum PJRT_Error_Code {
    PJRT_Error_Code_OK = 0,
    PJRT_Error_Code_CANCELLED = 1,
    PJRT_Error_Code_UNKNOWN = 2,
    PJRT_Error_Code_INVALID_ARGUMENT = 3,
    PJRT_Error_Code_DEADLINE_EXCEEDED = 4,
    PJRT_Error_Code_NOT_FOUND = 5,
    PJRT_Error_Code_ALREADY_EXISTS = 6,
    PJRT_Error_Code_PERMISSION_DENIED = 7,
    PJRT_Error_Code_RESOURCE_EXHAUSTED = 8,
    PJRT_Error_Code_FAILED_PRECONDITION = 9,
    PJRT_Error_Code_ABORTED = 10,
    PJRT_Error_Code_OUT_OF_RANGE = 11,
    PJRT_Error_Code_UNIMPLEMENTED = 12,
    PJRT_Error_Code_INTERNAL = 13,
    PJRT_Error_Code_UNAVAILABLE = 14,
    PJRT_Error_Code_DATA_LOSS = 15,
    PJRT_Error_Code_UNAUTHENTICATED = 16,
} PJRT_Error_Code;

/* Element types: the interface's name and number, and jaxvet's name for the
 * same (NULL: it has none). */
typedef enum PJRT_Buffer_Type {
#define TYPE(name, number, dtype, bytes) PJRT_Buffer_Type_##name = number,
#include "hosts/pjrt/types.def"
#undef TYPE
} PJRT_Buffer_Type;

typedef enum PJRT_HostBufferSemantics {
    PJRT_HostBufferSemantics_kImmutableOnlyDuringCall = 0,
    PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes = 1,
    PJRT_HostBufferSemantics_kImmutableZeroCopy = 2,
    PJRT_HostBufferSemantics_kMutableZeroCopy = 3,
} PJRT_HostBufferSemantics;

typedef enum PJRT_Extension_Type {
    PJRT_Extension_Type_Layouts = 4,
    PJRT_Extension_Type_FFI = 5,
    PJRT_Extension_Type_MemoryDescriptions = 6,
    PJRT_Extension_Type_Shardings = 19,
} PJRT_Extension_Type;

typedef struct PJRT_Extension_Base {
    size_t struct_size;
    PJRT_Extension_Type type;
    struct PJRT_Extension_Base *next;
} PJRT_Extension_Base;

typedef struct PJRT_Api_Version {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    int major_version;
    int minor_version;
} PJRT_Api_Version;

typedef enum PJRT_NamedValue_Type {
    PJRT_NamedValue_kString = 0,
    PJRT_NamedValue_kInt64 = 1,
    PJRT_NamedValue_kInt64List = 2,
    PJRT_NamedValue_kFloat = 3,
    PJRT_NamedValue_kBool = 4,
} PJRT_NamedValue_Type;

typedef struct PJRT_NamedValue {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    const char *name;
    size_t name_size;
    PJRT_NamedValue_Type type;
    union {
        const char *string_value;
        int64_t int64_value;
        const int64_t *int64_array_value;
        float float_value;
        bool bool_value;
    };
    size_t value_size; /* of a string or list: elements; else 1 */
} PJRT_NamedValue;

typedef enum PJRT_Buffer_MemoryLayout_Type {
    PJRT_Buffer_MemoryLayout_Type_Tiled = 0,
    PJRT_Buffer_MemoryLayout_Type_Strides = 1,
} PJRT_Buffer_MemoryLayout_Type;

typedef struct PJRT_Buffer_MemoryLayout_Tiled {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    const int64_t *minor_to_major;
    size_t minor_to_major_size;
    const int64_t *tile_dims;
    const size_t *tile_dim_sizes;
    size_t num_tiles;
} PJRT_Buffer_MemoryLayout_Tiled;

typedef struct PJRT_Buffer_MemoryLayout_Strides {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    const int64_t *byte_strides;
    size_t num_byte_strides;
} PJRT_Buffer_MemoryLayout_Strides;

typedef struct PJRT_Buffer_MemoryLayout {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    union {
        PJRT_Buffer_MemoryLayout_Tiled tiled;
        PJRT_Buffer_MemoryLayout_Strides strides;
    };
    PJRT_Buffer_MemoryLayout_Type type;
} PJRT_Buffer_MemoryLayout;

typedef struct PJRT_ShapeSpec {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    const int64_t *dims;
    size_t num_dims;
    PJRT_Buffer_Type element_type;
} PJRT_ShapeSpec;

typedef struct PJRT_Program {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    char *code;
    size_t code_size;
    const char *format; /* "mlir": StableHLO as bytecode or text */
    size_t format_size;
} PJRT_Program;

typedef struct PJRT_LogicalDeviceIds {
    int replica;
    int partition;
} PJRT_LogicalDeviceIds;

/* Newer callers give more; what stands here is what is looked at. */
typedef struct PJRT_ExecuteOptions {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    void *send_callbacks;
    void *recv_callbacks;
    size_t num_send_ops;
    size_t num_recv_ops;
    int launch_id;
    const int64_t *non_donatable_input_indices;
    size_t num_non_donatable_input_indices;
    PJRT_ExecuteContext *context;
} PJRT_ExecuteOptions;

typedef struct PJRT_Buffer_CopyRawToHostFuture_Callback_Args {
    size_t struct_size;
    void *callback_data;
    PJRT_Error_Code error_code;
    const char *error_message;
    size_t error_message_size;
    void *dst; /* NULL: nothing is copied */
} PJRT_Buffer_CopyRawToHostFuture_Callback_Args;

/* Where the fields end is what a caller at least gives (its structure may end
 * there, before the padding). */
#define FUNCTION(name, ...)                                                    \
    typedef struct PJRT_##name##_Args {                                        \
        size_t struct_size;                                                    \
        PJRT_Extension_Base *extension_start;                                  \
        __VA_ARGS__                                                            \
        char end[];                                                            \
    } PJRT_##name##_Args;
#define GROWN(name, first, ...) FUNCTION(name, __VA_ARGS__)
#define LACKING(name, ...) FUNCTION(name, __VA_ARGS__)
#include "hosts/pjrt/functions.def"
#undef FUNCTION
#undef GROWN
#undef LACKING

typedef struct PJRT_Api {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    PJRT_Api_Version pjrt_api_version;
#define FUNCTION(name, ...)                                                    \
    PJRT_Error *(*PJRT_##name)(PJRT_##name##_Args * args);
#define GROWN(name, first, ...) FUNCTION(name, __VA_ARGS__)
#define LACKING(name, ...) FUNCTION(name, __VA_ARGS__)
#include "hosts/pjrt/functions.def"
#undef FUNCTION
#undef GROWN
#undef LACKING
} PJRT_Api;

/* Whether the caller's structure reaches as far as that field. */
#define PJRT_GIVES(args, field)                                                \
    ((args)->struct_size >=                                                    \
     (size_t)((const char *)&(args)->field - (const char *)(args)) +           \
         sizeof(args)->field)

/* What is given out from that field on becomes zeros, as far as the
 * caller has it. */
#define PJRT_ZERO_FROM(args, field)                                            \
    memset(&(args)->field, 0,                                                  \
           ((args)->struct_size < sizeof *(args) ? (args)->struct_size         \
                                                 : sizeof *(args)) -           \
               (size_t)((char *)&(args)->field - (char *)(args)))

/* ---- extensions: a list that begins in the table */

typedef struct PJRT_Shardings_PJRT_Executable_ParameterShardings_Args {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    PJRT_Executable *executable;
    size_t num_parameters; /* out, as what follows: OpShardingProtos, which */
    /* live as long as the executable; NULL: none are */
    const char *const *shardings;
    const size_t *sharding_sizes; /* said */
} PJRT_Shardings_PJRT_Executable_ParameterShardings_Args;

typedef struct PJRT_Shardings_PJRT_Executable_OutputShardings_Args {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    PJRT_Executable *executable;
    size_t num_outputs;
    const char *const *shardings;
    const size_t *sharding_sizes;
} PJRT_Shardings_PJRT_Executable_OutputShardings_Args;

typedef struct PJRT_Shardings_Extension {
    PJRT_Extension_Base base;
    PJRT_Error *(*PJRT_Shardings_PJRT_Executable_ParameterShardings)(
        PJRT_Shardings_PJRT_Executable_ParameterShardings_Args *args);
    PJRT_Error *(*PJRT_Shardings_PJRT_Executable_OutputShardings)(
        PJRT_Shardings_PJRT_Executable_OutputShardings_Args *args);
} PJRT_Shardings_Extension;

typedef struct PJRT_Layouts_MemoryLayout PJRT_Layouts_MemoryLayout;
typedef struct PJRT_Layouts_SerializedLayout PJRT_Layouts_SerializedLayout;

typedef struct PJRT_Layouts_MemoryLayout_Destroy_Args {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    PJRT_Layouts_MemoryLayout *layout;
} PJRT_Layouts_MemoryLayout_Destroy_Args;

typedef struct PJRT_Layouts_MemoryLayout_Serialize_Args {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    PJRT_Layouts_MemoryLayout *layout;
    const char *serialized_bytes; /* out, as what follows: "{1,0}" */
    size_t serialized_bytes_size;
    PJRT_Layouts_SerializedLayout *serialized_layout;
    void (*serialized_layout_deleter)(PJRT_Layouts_SerializedLayout *layout);
} PJRT_Layouts_MemoryLayout_Serialize_Args;

typedef struct PJRT_Layouts_PJRT_Client_GetDefaultLayout_Args {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    PJRT_Client *client;
    PJRT_Buffer_Type type;
    const int64_t *dims;
    size_t num_dims;
    PJRT_Layouts_MemoryLayout *layout; /* out */
} PJRT_Layouts_PJRT_Client_GetDefaultLayout_Args;

typedef struct PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    PJRT_Buffer *buffer;
    PJRT_Layouts_MemoryLayout *layout; /* out */
} PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args;

typedef struct PJRT_Layouts_PJRT_Topology_GetDefaultLayout_Args {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    PJRT_TopologyDescription *topology_description;
    PJRT_Buffer_Type type;
    const int64_t *dims;
    size_t num_dims;
    PJRT_Layouts_MemoryLayout *layout; /* out */
} PJRT_Layouts_PJRT_Topology_GetDefaultLayout_Args;

typedef struct PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    PJRT_Executable *executable;
    size_t num_outputs; /* out; the layouts are the executable's */
    PJRT_Layouts_MemoryLayout **layouts;
} PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args;

typedef struct PJRT_Layouts_PJRT_Executable_GetParameterLayouts_Args {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    PJRT_Executable *executable;
    size_t num_parameters;
    PJRT_Layouts_MemoryLayout **layouts;
} PJRT_Layouts_PJRT_Executable_GetParameterLayouts_Args;

#define ENTRY(name)                                                            \
    PJRT_Error *(*PJRT_Layouts_##name)(PJRT_Layouts_##name##_Args *)
typedef struct PJRT_Layouts_Extension {
    PJRT_Extension_Base base;
    ENTRY(MemoryLayout_Destroy);
    ENTRY(MemoryLayout_Serialize);
    ENTRY(PJRT_Client_GetDefaultLayout);
    ENTRY(PJRT_Buffer_MemoryLayout);
    ENTRY(PJRT_Topology_GetDefaultLayout);
    ENTRY(PJRT_Executable_GetOutputLayouts);
    ENTRY(PJRT_Executable_GetParameterLayouts);
} PJRT_Layouts_Extension;
#undef ENTRY

typedef struct PJRT_MemoryDescription PJRT_MemoryDescription;

typedef struct PJRT_DeviceDescription_MemoryDescriptions_Args {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    PJRT_DeviceDescription *device_description;
    /* out, as the rest */
    const PJRT_MemoryDescription *const *memory_descriptions;
    size_t num_memory_descriptions;
    size_t default_memory_index;
} PJRT_DeviceDescription_MemoryDescriptions_Args;

typedef struct PJRT_MemoryDescription_Kind_Args {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    const PJRT_MemoryDescription *memory_description;
    const char *kind; /* out, as the rest */
    size_t kind_size;
    int kind_id;
} PJRT_MemoryDescription_Kind_Args;

typedef struct PJRT_MemoryDescriptions_Extension {
    PJRT_Extension_Base base;
    PJRT_Error *(*PJRT_DeviceDescription_MemoryDescriptions)(
        PJRT_DeviceDescription_MemoryDescriptions_Args *args);
    PJRT_Error *(*PJRT_MemoryDescription_Kind)(
        PJRT_MemoryDescription_Kind_Args *args);
} PJRT_MemoryDescriptions_Extension;

/* What the functions are here; those of LACKING have none. */
#define FUNCTION(name, ...)                                                    \
    PJRT_Error *jx_pjrt_##name(PJRT_##name##_Args *args);
#define GROWN(name, first, ...) FUNCTION(name, __VA_ARGS__)
#define LACKING(name, ...)
#include "hosts/pjrt/functions.def"
#undef FUNCTION
#undef GROWN
#undef LACKING

typedef struct PJRT_FFI_Type_Info {
    void (*deleter)(void *object);
    void *serialize;
    void *deserialize;
} PJRT_FFI_Type_Info;

typedef struct PJRT_FFI_Type_Register_Args {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    const char *type_name;
    size_t type_name_size;
    int64_t type_id; /* 0: out */
    const PJRT_FFI_Type_Info *type_info;
} PJRT_FFI_Type_Register_Args;

typedef struct PJRT_FFI_UserData {
    int64_t type_id;
    void *data;
} PJRT_FFI_UserData;

typedef struct PJRT_FFI_UserData_Add_Args {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    PJRT_ExecuteContext *context;
    PJRT_FFI_UserData user_data;
} PJRT_FFI_UserData_Add_Args;

typedef struct PJRT_FFI_Register_Handler_Args {
    size_t struct_size;
    const char *target_name;
    size_t target_name_size;
    void *handler;
    const char *platform_name;
    size_t platform_name_size;
    uint32_t traits;
} PJRT_FFI_Register_Handler_Args;

typedef struct PJRT_FFI_Extension {
    PJRT_Extension_Base base;
    PJRT_Error *(*type_register)(PJRT_FFI_Type_Register_Args *args);
    PJRT_Error *(*user_data_add)(PJRT_FFI_UserData_Add_Args *args);
    PJRT_Error *(*register_handler)(PJRT_FFI_Register_Handler_Args *args);
} PJRT_FFI_Extension;

#endif
