/* executable.c - executables: what they say of themselves, and how
 * they are kept. */
#include "hosts/pjrt/plugin.h"

#include <stdlib.h>
#include <string.h>

/* ---- making them */

void jx_pjrt_executable_drop(PJRT_LoadedExecutable *x)
{
    if (!x || atomic_fetch_sub(&x->holders, 1) != 1)
        return;
    jx_pjrt_program_drop(x->program);
    jx_pjrt_client_drop(x->client);
    pthread_mutex_destroy(&x->lock);
    free(x->devices);
    free(x->ids);
    free(x);
}

/* Where it runs: on the devices that its options name, else on
 * the first ones. */
static PJRT_Error *place(PJRT_LoadedExecutable *x)
{
    const jx_pjrt_options *o = &x->program->options;
    int n = o->replicas * o->partitions;

    x->devices = calloc((size_t)n, sizeof(PJRT_Device *));
    x->ids = calloc((size_t)n, sizeof *x->ids);
    if (!x->devices || !x->ids)
        return jx_pjrt_starved();
    x->ndevices = n;
    for (int i = 0; i < n; i++) {
        int id = jx_pjrt_device_of(o, i);
        x->devices[i] = jx_pjrt_device(x->client, id);
        x->ids[i] =
            (PJRT_LogicalDeviceIds){i / o->partitions, i % o->partitions};
        if (!x->devices[i])
            return jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                                 "the program is to run on device %d, and the "
                                 "client has %d (JAXVET_DEVICES says how many)",
                                 id, x->client->count);
    }
    return NULL;
}

/* Takes the program. */
static PJRT_Error *load(PJRT_Client *client, jx_pjrt_program *program,
                        PJRT_LoadedExecutable **to)
{
    PJRT_LoadedExecutable *x = calloc(1, sizeof *x);
    PJRT_Error *error;

    if (!x) {
        jx_pjrt_program_drop(program);
        return jx_pjrt_starved();
    }
    atomic_init(&x->holders, 1);
    pthread_mutex_init(&x->lock, NULL);
    x->client = jx_pjrt_client_share(client);
    x->program = program;
    error = place(x);
    if (error)
        jx_pjrt_executable_drop(x);
    else
        *to = x;
    return error;
}

/* Takes the program. */
static PJRT_Error *describe(jx_pjrt_program *program, PJRT_Executable **to)
{
    PJRT_Executable *x = calloc(1, sizeof *x);

    if (!x) {
        jx_pjrt_program_drop(program);
        return jx_pjrt_starved();
    }
    pthread_mutex_init(&x->lock, NULL);
    x->program = program;
    x->ncosts = -1;
    *to = x;
    return NULL;
}

static PJRT_Error *compile(PJRT_Client *client, const PJRT_Program *program,
                           const char *options, size_t options_size,
                           jx_pjrt_program **to)
{
    PJRT_Error *error = JX_PJRT_CHECK(PJRT_Program, format_size, program);

    if (error)
        return error;
    if (program->format_size != 4 || memcmp(program->format, "mlir", 4))
        return jx_pjrt_error(PJRT_Error_Code_UNIMPLEMENTED,
                             "a program of format '%.*s': expected 'mlir', "
                             "StableHLO as bytecode or text",
                             (int)program->format_size, program->format);
    return jx_pjrt_program_new(client, program->code, program->code_size,
                               options, options_size, to);
}

PJRT_Error *jx_pjrt_Client_Compile(PJRT_Client_Compile_Args *args)
{
    jx_pjrt_program *program = NULL;
    PJRT_Error *error =
        compile(args->client, args->program, args->compile_options,
                args->compile_options_size, &program);

    return error ? error : load(args->client, program, &args->executable);
}

PJRT_Error *jx_pjrt_Compile(PJRT_Compile_Args *args)
{
    jx_pjrt_program *program = NULL;
    PJRT_Error *error =
        compile(args->client, args->program, args->compile_options,
                args->compile_options_size, &program);

    return error ? error : describe(program, &args->executable);
}

PJRT_Error *jx_pjrt_Client_Load(PJRT_Client_Load_Args *args)
{
    return load(args->client, jx_pjrt_program_share(args->executable->program),
                &args->loaded_executable);
}

/* ---- what can be executed */

PJRT_Error *jx_pjrt_executable_hold(PJRT_LoadedExecutable *x,
                                    jx_pjrt_program **to)
{
    *to = NULL;
    pthread_mutex_lock(&x->lock);
    if (x->program)
        *to = jx_pjrt_program_share(x->program);
    pthread_mutex_unlock(&x->lock);
    return *to ? NULL
               : jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                               "the executable has been deleted");
}

PJRT_Error *
jx_pjrt_LoadedExecutable_Destroy(PJRT_LoadedExecutable_Destroy_Args *args)
{
    jx_pjrt_executable_drop(args->executable);
    return NULL;
}

PJRT_Error *
jx_pjrt_LoadedExecutable_Delete(PJRT_LoadedExecutable_Delete_Args *args)
{
    PJRT_LoadedExecutable *x = args->executable;
    jx_pjrt_program *program = NULL;

    pthread_mutex_lock(&x->lock);
    program = x->program;
    x->program = NULL;
    pthread_mutex_unlock(&x->lock);
    jx_pjrt_program_drop(program);
    return NULL;
}

PJRT_Error *
jx_pjrt_LoadedExecutable_IsDeleted(PJRT_LoadedExecutable_IsDeleted_Args *args)
{
    pthread_mutex_lock(&args->executable->lock);
    args->is_deleted = !args->executable->program;
    pthread_mutex_unlock(&args->executable->lock);
    return NULL;
}

PJRT_Error *jx_pjrt_LoadedExecutable_GetExecutable(
    PJRT_LoadedExecutable_GetExecutable_Args *args)
{
    jx_pjrt_program *program = NULL;
    PJRT_Error *error =
        jx_pjrt_executable_hold(args->loaded_executable, &program);

    return error ? error : describe(program, &args->executable);
}

PJRT_Error *jx_pjrt_LoadedExecutable_AddressableDevices(
    PJRT_LoadedExecutable_AddressableDevices_Args *args)
{
    args->addressable_devices = args->executable->devices;
    args->num_addressable_devices = (size_t)args->executable->ndevices;
    return NULL;
}

PJRT_Error *jx_pjrt_LoadedExecutable_AddressableDeviceLogicalIds(
    PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args *args)
{
    args->addressable_device_logical_ids = args->executable->ids;
    args->num_addressable_device_logical_ids =
        (size_t)args->executable->ndevices;
    return NULL;
}

PJRT_Error *jx_pjrt_LoadedExecutable_Fingerprint(
    PJRT_LoadedExecutable_Fingerprint_Args *args)
{
    jx_pjrt_program *program = NULL;
    PJRT_Error *error = jx_pjrt_executable_hold(args->executable, &program);

    if (error)
        return error;
    /* It lives as long as the executable, which holds the program itself. */
    args->executable_fingerprint = program->fingerprint;
    args->executable_fingerprint_size = strlen(program->fingerprint);
    jx_pjrt_program_drop(program);
    return NULL;
}

struct PJRT_DeviceAssignmentSerialized {
    jx_wire_out bytes;
};

static void free_assignment(PJRT_DeviceAssignmentSerialized *s)
{
    free(s->bytes.at);
    free(s);
}

PJRT_Error *jx_pjrt_LoadedExecutable_GetDeviceAssignment(
    PJRT_LoadedExecutable_GetDeviceAssignment_Args *args)
{
    jx_pjrt_program *program = NULL;
    PJRT_Error *error = jx_pjrt_executable_hold(args->executable, &program);
    PJRT_DeviceAssignmentSerialized *s;

    if (error)
        return error;
    s = calloc(1, sizeof *s);
    if (!s || !jx_pjrt_assignment_write(&program->options, &s->bytes)) {
        if (s)
            free_assignment(s);
        jx_pjrt_program_drop(program);
        return jx_pjrt_starved();
    }
    jx_pjrt_program_drop(program);
    args->serialized_bytes = s->bytes.at;
    args->serialized_bytes_size = s->bytes.size;
    args->serialized_device_assignment = s;
    args->serialized_device_assignment_deleter = free_assignment;
    return NULL;
}

/* ---- what can be asked */

PJRT_Error *jx_pjrt_Executable_Destroy(PJRT_Executable_Destroy_Args *args)
{
    if (args->executable) {
        jx_pjrt_program_drop(args->executable->program);
        jx_pjrt_shardings_free(&args->executable->inputs);
        jx_pjrt_shardings_free(&args->executable->outputs);
        free(args->executable->optimized);
        pthread_mutex_destroy(&args->executable->lock);
        free(args->executable);
    }
    return NULL;
}

PJRT_Error *jx_pjrt_Executable_Name(PJRT_Executable_Name_Args *args)
{
    args->executable_name = jaxvet_name(args->executable->program->program);
    args->executable_name_size = strlen(args->executable_name);
    return NULL;
}

PJRT_Error *
jx_pjrt_Executable_NumReplicas(PJRT_Executable_NumReplicas_Args *args)
{
    args->num_replicas = (size_t)args->executable->program->options.replicas;
    return NULL;
}

PJRT_Error *
jx_pjrt_Executable_NumPartitions(PJRT_Executable_NumPartitions_Args *args)
{
    args->num_partitions =
        (size_t)args->executable->program->options.partitions;
    return NULL;
}

PJRT_Error *jx_pjrt_Executable_NumOutputs(PJRT_Executable_NumOutputs_Args *args)
{
    args->num_outputs = (size_t)args->executable->program->nresults;
    return NULL;
}

/* There is no machine code: the module is what is run. */
PJRT_Error *jx_pjrt_Executable_SizeOfGeneratedCodeInBytes(
    PJRT_Executable_SizeOfGeneratedCodeInBytes_Args *args)
{
    args->size_in_bytes = (int64_t)args->executable->program->code_size;
    return NULL;
}

PJRT_Error *jx_pjrt_Executable_OutputMemoryKinds(
    PJRT_Executable_OutputMemoryKinds_Args *args)
{
    const jx_pjrt_program *p = args->executable->program;

    args->num_outputs = (size_t)p->nresults;
    args->memory_kinds = p->result_kinds.names;
    args->memory_kind_sizes = p->result_kinds.sizes;
    return NULL;
}

PJRT_Error *jx_pjrt_Executable_ParameterMemoryKinds(
    PJRT_Executable_ParameterMemoryKinds_Args *args)
{
    const jx_pjrt_program *p = args->executable->program;

    args->num_parameters = (size_t)p->nargs;
    args->memory_kinds = p->arg_kinds.names;
    args->memory_kind_sizes = p->arg_kinds.sizes;
    return NULL;
}

PJRT_Error *jx_pjrt_Executable_OutputElementTypes(
    PJRT_Executable_OutputElementTypes_Args *args)
{
    args->output_types = args->executable->program->out_types;
    args->num_output_types = (size_t)args->executable->program->nresults;
    return NULL;
}

PJRT_Error *
jx_pjrt_Executable_OutputDimensions(PJRT_Executable_OutputDimensions_Args *args)
{
    args->num_outputs = (size_t)args->executable->program->nresults;
    args->dims = args->executable->program->out_dims;
    args->dim_sizes = args->executable->program->out_ranks;
    return NULL;
}

PJRT_Error *
jx_pjrt_Executable_Fingerprint(PJRT_Executable_Fingerprint_Args *args)
{
    args->executable_fingerprint = args->executable->program->fingerprint;
    args->executable_fingerprint_size = strlen(args->executable_fingerprint);
    return NULL;
}

/* Of one device. */
static int64_t bytes_of(const jx_pjrt_port *ports, int count)
{
    int64_t total = 0;

    for (int i = 0; i < count; i++) {
        size_t size = 0;
        jx_pjrt_shape_size(ports[i].part, &size);
        total += (int64_t)size;
    }
    return total;
}

PJRT_Error *jx_pjrt_Executable_GetCompiledMemoryStats(
    PJRT_Executable_GetCompiledMemoryStats_Args *args)
{
    const jx_pjrt_program *p = args->executable->program;
    int64_t arguments = bytes_of(p->ins, p->nins);
    int64_t results = bytes_of(p->outs, p->nouts);
    int64_t working = (int64_t)jaxvet_call_memory(p->call), lent = 0;

    for (int i = 0; i < p->nouts; i++)
        lent += p->lenders[i] >= 0 ? (int64_t)p->outs[i].size : 0;
    PJRT_ZERO_FROM(args, generated_code_size_in_bytes);
    args->generated_code_size_in_bytes = (int64_t)p->code_size;
    args->argument_size_in_bytes = arguments;
    args->output_size_in_bytes = results;
    args->alias_size_in_bytes = lent;
    args->temp_size_in_bytes = working;
    if (PJRT_GIVES(args, peak_memory_in_bytes))
        args->peak_memory_in_bytes = arguments + results - lent + working;
    return NULL;
}

/* Names as XLA has them.  With the lock. */
static PJRT_Error *estimate(PJRT_Executable *x)
{
    static const char *const names[] = {"flops", "transcendentals",
                                        "bytes accessed"};
    jaxvet_cost cost = {.size = sizeof cost};
    jaxvet_error error;
    jaxvet_status status;
    float values[3];

    pthread_mutex_lock(&x->program->lock);
    status = jaxvet_costs(x->program->program, &cost, &error);
    pthread_mutex_unlock(&x->program->lock);
    if (status != JAXVET_OK)
        return jx_pjrt_error_of(&error, PJRT_Error_Code_INTERNAL);
    values[0] = (float)cost.flops;
    values[1] = (float)cost.transcendentals;
    values[2] = (float)cost.bytes;
    x->ncosts = 0;
    for (int i = 0; i < 3; i++)
        if (values[i] >= 0)
            x->costs[x->ncosts++] = (PJRT_NamedValue){
                .struct_size = sizeof *x->costs,
                .name = names[i],
                .name_size = strlen(names[i]),
                .type = PJRT_NamedValue_kFloat,
                .float_value = values[i],
                .value_size = 1,
            };
    return NULL;
}

PJRT_Error *
jx_pjrt_Executable_GetCostAnalysis(PJRT_Executable_GetCostAnalysis_Args *args)
{
    PJRT_Executable *x = args->executable;
    PJRT_Error *error = NULL;

    pthread_mutex_lock(&x->lock);
    if (x->ncosts < 0)
        error = estimate(x);
    pthread_mutex_unlock(&x->lock);
    if (error)
        return error;
    args->num_properties = (size_t)x->ncosts;
    args->properties = x->costs;
    return NULL;
}

/* The module, as text: nothing else is run.  With the lock. */
static PJRT_Error *print(PJRT_Executable *x)
{
    jaxvet_error error;
    jaxvet_status status;
    const char *text;

    pthread_mutex_lock(&x->program->lock);
    status = jaxvet_module(x->program->program, 1, &text, &error);
    if (status == JAXVET_OK)
        x->optimized = strdup(text);
    pthread_mutex_unlock(&x->program->lock);
    if (status != JAXVET_OK)
        return jx_pjrt_error_of(&error, PJRT_Error_Code_INTERNAL);
    return x->optimized ? NULL : jx_pjrt_starved();
}

PJRT_Error *
jx_pjrt_Executable_OptimizedProgram(PJRT_Executable_OptimizedProgram_Args *args)
{
    PJRT_Executable *x = args->executable;
    PJRT_Error *error = JX_PJRT_CHECK(PJRT_Program, format_size, args->program);
    size_t size;

    pthread_mutex_lock(&x->lock);
    if (!error && !x->optimized)
        error = print(x);
    pthread_mutex_unlock(&x->lock);
    if (error)
        return error;
    size = strlen(x->optimized);
    args->program->format = "mlir";
    args->program->format_size = 4;
    if (args->program->code && args->program->code_size < size)
        return jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                             "expected room for %zu bytes, found %zu", size,
                             args->program->code_size);
    if (args->program->code)
        memcpy(args->program->code, x->optimized, size);
    args->program->code_size = size;
    return NULL;
}

/* ---- keeping them */

struct PJRT_SerializedExecutable {
    char *bytes;
};

static void free_serialized(PJRT_SerializedExecutable *s)
{
    free(s->bytes);
    free(s);
}

/* The length of the module and that of its options, in eight bytes each,
 * the least first; the fingerprint of both, for a damaged constant is
 * one, too; both. */
static const char magic[16] = "jaxvet module 2";
enum { LENGTHS = 16, HEAD = sizeof magic + LENGTHS + JX_PJRT_FINGERPRINT };

static void put_length(char *to, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        to[i] = (char)(value >> 8 * i);
}

static uint64_t length_at(const char *from)
{
    uint64_t value = 0;

    for (int i = 0; i < 8; i++)
        value |= (uint64_t)(unsigned char)from[i] << 8 * i;
    return value;
}

PJRT_Error *jx_pjrt_Executable_Serialize(PJRT_Executable_Serialize_Args *args)
{
    const jx_pjrt_program *p = args->executable->program;
    size_t size = HEAD + p->code_size + p->options_size;
    PJRT_SerializedExecutable *s = malloc(sizeof *s);
    char *at = malloc(size);

    if (!s || !at) {
        free(s);
        free(at);
        return jx_pjrt_starved();
    }
    s->bytes = at;
    memcpy(at, magic, sizeof magic);
    put_length(at + sizeof magic, p->code_size);
    put_length(at + sizeof magic + 8, p->options_size);
    memcpy(at + sizeof magic + LENGTHS, p->fingerprint, JX_PJRT_FINGERPRINT);
    at += HEAD;
    memcpy(at, p->code, p->code_size);
    memcpy(at + p->code_size, p->raw, p->options_size);
    args->serialized_bytes = s->bytes;
    args->serialized_bytes_size = size;
    args->serialized_executable = s;
    args->serialized_executable_deleter = free_serialized;
    return NULL;
}

PJRT_Error *jx_pjrt_Executable_DeserializeAndLoad(
    PJRT_Executable_DeserializeAndLoad_Args *args)
{
    const char *bytes = args->serialized_executable, *options;
    size_t size = args->serialized_executable_size, left, code, noptions;
    char fingerprint[JX_PJRT_FINGERPRINT + 1];
    jx_pjrt_program *program = NULL;
    PJRT_Error *error;

    if (size < HEAD || memcmp(bytes, magic, sizeof magic))
        return jx_pjrt_error(
            PJRT_Error_Code_INVALID_ARGUMENT,
            "expected an executable that this version of jaxvet "
            "has written");
    left = size - HEAD;
    code = length_at(bytes + sizeof magic);
    noptions = length_at(bytes + sizeof magic + 8);
    if (code > left || noptions != left - code)
        return jx_pjrt_error(
            PJRT_Error_Code_INVALID_ARGUMENT,
            "an executable that jaxvet has written is cut off");
    bytes += HEAD;
    options = bytes + code;
    jx_pjrt_fingerprint(bytes, code, options, noptions, fingerprint);
    if (memcmp(bytes - JX_PJRT_FINGERPRINT, fingerprint, JX_PJRT_FINGERPRINT) !=
        0)
        return jx_pjrt_error(
            PJRT_Error_Code_DATA_LOSS,
            "an executable that jaxvet has written is damaged");
    if (PJRT_GIVES(args, overridden_serialized_compile_options_size) &&
        args->overridden_serialized_compile_options_size) {
        options = args->overridden_serialized_compile_options;
        noptions = args->overridden_serialized_compile_options_size;
    }
    error = jx_pjrt_program_new(args->client, bytes, code, options, noptions,
                                &program);
    return error ? error
                 : load(args->client, program, &args->loaded_executable);
}

static void keep_options(PJRT_SerializedCompileOptions *options)
{
    (void)options;
}

PJRT_Error *jx_pjrt_Executable_GetCompileOptions(
    PJRT_Executable_GetCompileOptions_Args *args)
{
    const jx_pjrt_program *p = args->executable->program;

    args->serialized_bytes = p->raw;
    args->serialized_bytes_size = p->options_size;
    args->serialized_compile_options = NULL;
    args->serialized_compile_options_deleter = keep_options;
    return NULL;
}
