/* plugin.h - the objects behind PJRT's opaque types.
 *
 * Everything is done when a function returns, so events are ready but those
 * that the host sets and those of buffers whose bytes it has yet to send.
 * Objects that several threads may let go of are counted.  A function that
 * returns a PJRT_Error returns NULL where all went well. */
#ifndef JX_PJRT_PLUGIN_H
#define JX_PJRT_PLUGIN_H

#include "hosts/pjrt/pjrt.h"
#include "hosts/pjrt/wire.h"
#include "jaxvet.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- errors (error.c) */

struct PJRT_Error {
    PJRT_Error_Code code;
    char message[];
};

/* Never NULL: without memory it is an error that lies ready for that. */
PJRT_Error *jx_pjrt_error(PJRT_Error_Code code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
PJRT_Error *jx_pjrt_starved(void);
/* What jaxvet said, with its place; `code` where its status says no better. */
PJRT_Error *jx_pjrt_error_of(const jaxvet_error *error, PJRT_Error_Code code);
void jx_pjrt_error_free(PJRT_Error *error); /* or NULL */
PJRT_Error *jx_pjrt_error_copy(const PJRT_Error *error);
/* What the host says that something failed with, in *to; refused where
 * that is no error. */
PJRT_Error *jx_pjrt_error_said(PJRT_Error_Code code, const char *message,
                               size_t size, PJRT_Error **to);
/* An error where a structure of the caller's, which is found to have that size,
 * ends before what is looked at (api.c). */
PJRT_Error *jx_pjrt_check_size(const char *name, size_t least, size_t found);
#define JX_PJRT_CHECK(structure, last, at)                                     \
    jx_pjrt_check_size(#structure,                                             \
                       offsetof(structure, last) + sizeof((at)->last),         \
                       (at)->struct_size)

/* enter_function(), by which hosts enter an extension's function: the structure
 * of its arguments reaches as far as `last`. */
#define JX_PJRT_ENTER(function, arguments, last)                               \
    static PJRT_Error *enter_##function(arguments *args)                       \
    {                                                                          \
        PJRT_Error *error = JX_PJRT_CHECK(arguments, last, args);              \
        return error ? error : function(args);                                 \
    }

/* ---- events (event.c) */

/* One that has happened, of which nothing is kept. */
PJRT_Event *jx_pjrt_event_ready(void);
/* One that is to be set; NULL without memory. */
PJRT_Event *jx_pjrt_event_new(void);
PJRT_Event *jx_pjrt_event_share(PJRT_Event *event);
void jx_pjrt_event_drop(PJRT_Event *event);
/* It has happened, or failed with `error`, which it takes; false if
 * it had before. */
bool jx_pjrt_event_set(PJRT_Event *event, PJRT_Error *error);
/* Waits; a copy of what it failed with, or NULL. */
PJRT_Error *jx_pjrt_event_await(PJRT_Event *event);

/* ---- clients and devices (client.c) */

enum { JX_PJRT_KINDS = 3, JX_PJRT_MOST_DEVICES = 4096 };

struct PJRT_Memory {
    PJRT_Device *device;
    int id, kind;
    char text[64];
};

struct PJRT_DeviceDescription {
    int id;
    char text[48];
};

struct PJRT_Device {
    PJRT_DeviceDescription description;
    PJRT_Client *client;
    PJRT_Memory memories[JX_PJRT_KINDS];
    PJRT_Memory *memory_list[JX_PJRT_KINDS];
    PJRT_Device *self; /* a list of one */
    /* What its buffers take, and took at most. */
    _Atomic int64_t bytes, peak, count, largest;
};

struct PJRT_TopologyDescription {
    int count;
    PJRT_DeviceDescription *descriptions;
    PJRT_DeviceDescription **list;
};

struct PJRT_Client {
    atomic_int holders; /* the host, and whatever has one of its devices */
    int count;
    PJRT_Device *devices;
    PJRT_Device **list;
    PJRT_Memory **memories;
    PJRT_TopologyDescription topology;
    int64_t limit; /* of bytes: of all arrays, and of what a program may take */
    _Atomic int64_t bytes; /* that arrays take now */
    jaxvet_helper *helper; /* of all that runs here */
};

extern const char *const jx_pjrt_memory_kinds[JX_PJRT_KINDS];

PJRT_Client *jx_pjrt_client_share(PJRT_Client *client);
void jx_pjrt_client_drop(PJRT_Client *client);
/* The number of a kind of memory, -1 for one that we don't have. */
int jx_pjrt_memory_kind(const char *name);
/* The device with that id, or NULL. */
PJRT_Device *jx_pjrt_device(PJRT_Client *client, int64_t id);

/* ---- buffers (buffer.c) */

/* Bytes that buffers, and what the host was shown of them, share. */
typedef struct jx_pjrt_storage {
    atomic_int holders;
    void *bytes;
    size_t size;
    PJRT_Device *device; /* that it is counted for, and holds; NULL: not ours */
    void (*release)(void *bytes, void *of); /* not 0: ends what is not ours */
    void *of;
} jx_pjrt_storage;

struct PJRT_Buffer {
    pthread_mutex_t lock; /* of storage, externals and what they say */
    PJRT_Buffer_Type type;
    int rank;
    int64_t *dims;
    int64_t *minor_to_major;
    size_t size;
    PJRT_Device *device; /* whose client it holds */
    PJRT_Memory *memory;
    jx_pjrt_storage *storage; /* NULL: deleted */
    int externals;            /* references of the host to its bytes */
    jx_pjrt_storage *shown;   /* for as long as there are some */
    bool is_given;            /* to a run, which ends with its deletion */
    PJRT_Event *ready;
};

typedef struct jx_pjrt_shape {
    PJRT_Buffer_Type type;
    int rank;
    const int64_t *dims;
} jx_pjrt_shape;

/* Bytes of an element; 0 for a type that we don't have. */
size_t jx_pjrt_type_bytes(PJRT_Buffer_Type type);
const char *jx_pjrt_type_name(PJRT_Buffer_Type type);
/* The type that jaxvet calls `dtype`; INVALID if there is none. */
PJRT_Buffer_Type jx_pjrt_type_of(const char *dtype);

/* A buffer of undefined bytes; not NULL: in *to.  `memory` may be NULL (the
 * device's own), or `device` (the memory's). */
PJRT_Error *jx_pjrt_buffer_new(jx_pjrt_shape shape, PJRT_Device *device,
                               PJRT_Memory *memory, PJRT_Buffer **to);
/* One with bytes from elsewhere; `storage` is taken, even on failure. */
PJRT_Error *jx_pjrt_buffer_on(jx_pjrt_shape shape, PJRT_Device *device,
                              PJRT_Memory *memory, jx_pjrt_storage *storage,
                              PJRT_Buffer **to);
void jx_pjrt_buffer_free(PJRT_Buffer *buffer);
/* Its bytes, which stay until they are dropped, once they are there. */
PJRT_Error *jx_pjrt_buffer_hold(PJRT_Buffer *buffer, jx_pjrt_storage **to);
/* Deletes one whose bytes are ours, are shown to nobody and are held by the
 * caller alone, who may write to them; else false. */
bool jx_pjrt_buffer_lend(PJRT_Buffer *buffer);
/* Nobody may use it any more, but for what was shown of it. */
void jx_pjrt_buffer_delete(PJRT_Buffer *buffer);
/* NULL: there is no memory, or no more of the client's. */
jx_pjrt_storage *jx_pjrt_storage_new(size_t size, PJRT_Device *device);
PJRT_Error *jx_pjrt_out_of_memory(size_t size, const PJRT_Device *device);
jx_pjrt_storage *jx_pjrt_storage_view(void *bytes, size_t size,
                                      void (*release)(void *, void *),
                                      void *of);
jx_pjrt_storage *jx_pjrt_storage_share(jx_pjrt_storage *storage);
void jx_pjrt_storage_drop(jx_pjrt_storage *storage);
/* The size of an array; false where it exceeds what can be addressed. */
bool jx_pjrt_shape_size(jx_pjrt_shape shape, size_t *size);
/* A shape that a caller gives, with its bytes; what is none, or what we don't
 * have, is refused, as are layouts other than row-major. */
PJRT_Error *jx_pjrt_shape_read(PJRT_Buffer_Type type, const int64_t *dims,
                               size_t ndims,
                               const PJRT_Buffer_MemoryLayout *layout,
                               jx_pjrt_shape *to, size_t *size);

/* ---- compile options (options.c) */

typedef struct jx_pjrt_options {
    int replicas, partitions;
    int ndevices;     /* replicas * partitions; 0: nobody says which */
    int *devices;     /* ids: [replica * partitions + partition] */
    bool is_portable; /* each run says on which device */
    /* the name of an option that nobody has; while it is read */
    jx_wire unknown;
} jx_pjrt_options;

/* Reads a CompileOptionsProto, or none; *to is freed with
 * jx_pjrt_options_free(). */
PJRT_Error *jx_pjrt_options_read(const char *bytes, size_t size,
                                 jx_pjrt_options *to);
void jx_pjrt_options_free(jx_pjrt_options *options);
/* The device that replica * partitions + partition is: the one that the options
 * name, else that of the same number. */
int jx_pjrt_device_of(const jx_pjrt_options *options, int i);
/* A DeviceAssignmentProto; false without memory, to->at is to be
 * freed even then. */
bool jx_pjrt_assignment_write(const jx_pjrt_options *options, jx_wire_out *to);

/* ---- programs and executables (program.c, executable.c) */

/* An input or output: a whole array, and the part of it that
 * each device has. */
typedef struct jx_pjrt_port {
    jx_pjrt_shape whole, part;
    const jaxvet_sharding *sharding; /* NULL: each device has all of it */
    int64_t *cut; /* a part's sizes along the whole's axes; NULL: not cut */
    int memory;   /* the kind where it lies */
    size_t size;
} jx_pjrt_port;

enum { JX_PJRT_FINGERPRINT = 32 }; /* characters */
enum { JX_PJRT_SANITIZES = 16 };   /* sums of JAXVET_SANITIZE_... */

/* A module that is ready to run; executables share it. */
typedef struct jx_pjrt_program {
    atomic_int holders;
    size_t code_size, options_size;
    char *code; /* the module as it came */
    char *raw;  /* its options as they came */
    jx_pjrt_options options;
    char fingerprint[JX_PJRT_FINGERPRINT + 1];
    jaxvet_program *program;
    pthread_mutex_t lock; /* of the program and of what follows */
    jaxvet_call *call;    /* the others are copies of it */
    int nidle, nroom;
    jaxvet_call **idle; /* nobody runs them now */
    /* by kinds: sanitize.h */
    struct jx_pjrt_sanitized *sanitized[JX_PJRT_SANITIZES];
    int ndevices; /* that run it together */
    /* Arguments and results of the module, tokens among them, with the
     * program's inputs and outputs that they are: -1 for a token. */
    int nargs, nresults, nins, nouts;
    int *arg_inputs, *result_outputs;
    jx_pjrt_port *ins, *outs;
    int *aliases; /* of inputs: jaxvet_input_alias() */
    /* of outputs: the argument whose memory they may take, or -1 */
    int *lenders;
    /* The results, as the interface gives them. */
    PJRT_Buffer_Type *out_types;
    size_t *out_ranks;
    int64_t *out_dims;
    struct jx_pjrt_kinds { /* names of kinds of memory */
        const char **names;
        size_t *sizes;
    } arg_kinds, result_kinds;
    PJRT_Layouts_MemoryLayout **arg_layouts, **result_layouts;
} jx_pjrt_program;

/* What the shardings extension gives (shardings.c). */
typedef struct jx_pjrt_shardings {
    int count;
    char **texts;
    size_t *sizes;
} jx_pjrt_shardings;

struct PJRT_Executable {
    jx_pjrt_program *program;
    /* of what follows, which is made when it is asked for */
    pthread_mutex_t lock;
    jx_pjrt_shardings inputs, outputs;
    char *optimized; /* text */
    int ncosts;      /* -1: not known yet */
    PJRT_NamedValue costs[3];
};

struct PJRT_LoadedExecutable {
    atomic_int holders;       /* the host, and each run */
    pthread_mutex_t lock;     /* of program */
    jx_pjrt_program *program; /* NULL: deleted */
    PJRT_Client *client;
    int ndevices;
    PJRT_Device **devices;
    PJRT_LogicalDeviceIds *ids;
};

extern const PJRT_Layouts_Extension jx_pjrt_layouts_extension; /* layouts.c */
/* How arrays of that rank lie in memory: row by row.  It is nobody's to free;
 * NULL: no array has so many axes. */
PJRT_Layouts_MemoryLayout *jx_pjrt_layout(int rank);

/* topology.c */
extern const PJRT_MemoryDescriptions_Extension jx_pjrt_memories_extension;

extern const PJRT_Shardings_Extension jx_pjrt_shardings_extension;
/* ffi_extension.c; first */
extern const PJRT_FFI_Extension jx_pjrt_ffi_extension;
void jx_pjrt_shardings_free(jx_pjrt_shardings *shardings);

/* What the host has for a token. */
extern const jx_pjrt_shape jx_pjrt_token;

/* Of a module and its options. */
void jx_pjrt_fingerprint(const char *code, size_t code_size,
                         const char *options, size_t options_size,
                         char to[JX_PJRT_FINGERPRINT + 1]);
/* Reads, types and plans a module for a client (NULL: for none yet); nothing is
 * kept of `code` and `options`. */
PJRT_Error *jx_pjrt_program_new(const PJRT_Client *client, const char *code,
                                size_t code_size, const char *options,
                                size_t options_size, jx_pjrt_program **to);
jx_pjrt_program *jx_pjrt_program_share(jx_pjrt_program *program);
void jx_pjrt_program_drop(jx_pjrt_program *program);
/* A call that nobody else runs, to be given back. */
PJRT_Error *jx_pjrt_program_take(jx_pjrt_program *program, jaxvet_call **to);
void jx_pjrt_program_give(jx_pjrt_program *program, jaxvet_call *call);
/* A part of an array to or from the array (shards.c). */
void jx_pjrt_part_put(const jx_pjrt_port *port, int device, const void *part,
                      void *whole);
void jx_pjrt_part_get(const jx_pjrt_port *port, int device, const void *whole,
                      void *part);
/* Whether an earlier device has the same part: its number, else
 * `device` itself. */
int jx_pjrt_part_first(const jx_pjrt_port *port, int device);

void jx_pjrt_executable_drop(PJRT_LoadedExecutable *executable);
/* The program of an executable, shared; an error where it has been deleted. */
PJRT_Error *jx_pjrt_executable_hold(PJRT_LoadedExecutable *executable,
                                    jx_pjrt_program **to);

#endif
