/* test_pjrt_bad_input.c - what a host may do wrong with the plugin: each has an
 * error of the right code, and the process goes on. */
#include "tests/pjrt/calls.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const char add[] =
    "module @jit_add {\n"
    "  func.func public @main(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>)"
    " -> tensor<2x3xf32> {\n"
    "    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] :"
    " (tensor<f32>) -> tensor<2x3xf32>\n"
    "    %1 = stablehlo.add %arg0, %0 : tensor<2x3xf32>\n"
    "    return %1 : tensor<2x3xf32>\n"
    "  }\n"
    "}\n";
/* Takes both of its arguments. */
static const char donating[] =
    "module @jit_sum {\n"
    "  func.func public @main(%arg0: tensor<3xf32> {tf.aliasing_output = 0 : "
    "i32},"
    " %arg1: tensor<3xf32> {jax.buffer_donor = true}, %arg2: tensor<3xf32>)"
    " -> (tensor<3xf32>, tensor<3xf32>) {\n"
    "    %0 = stablehlo.add %arg0, %arg1 : tensor<3xf32>\n"
    "    %1 = stablehlo.add %0, %arg2 : tensor<3xf32>\n"
    "    return %1, %0 : tensor<3xf32>, tensor<3xf32>\n"
    "  }\n"
    "}\n";

static const float numbers[6] = {1, 2, 3, 4, 5, 6};
static const int64_t two_three[] = {2, 3}, three[] = {3}, six[] = {6};
static const PJRT_Buffer_Type f32 = PJRT_Buffer_Type_F32,
                              s32 = PJRT_Buffer_Type_S32;

static int make_client(void **state)
{
    *state = new_client();
    return 0;
}

static int end_client(void **state)
{
    free_client(*state);
    return 0;
}

/* ---- arguments of a run */

typedef struct call {
    PJRT_LoadedExecutable *executable;
    PJRT_ExecuteOptions options;
    size_t count, devices;
    PJRT_Buffer *args[4], *results[2];
} call;

static PJRT_Error *execute(call *c)
{
    PJRT_Buffer *const *lists[] = {c->args, c->args};
    PJRT_Buffer **results[] = {c->results, c->results};

    c->options.struct_size = sizeof c->options;
    return TRY(LoadedExecutable_Execute, .executable = c->executable,
               .options = &c->options, .argument_lists = lists,
               .num_devices = c->devices, .num_args = c->count,
               .output_lists = results);
}

#define EXECUTE_REFUSED(text, call)                                            \
    was_refused(PJRT_Error_Code_INVALID_ARGUMENT, text, execute(call),         \
                __FILE__, __LINE__)

static bool is_deleted(PJRT_Buffer *buffer)
{
    return CALL(Buffer_IsDeleted, .buffer = buffer).is_deleted;
}

static void arguments_must_be_as_many_as_the_module_takes(void **state)
{
    PJRT_Buffer *a = new_buffer(*state, f32, numbers, 2, two_three);
    PJRT_Buffer *b = new_buffer(*state, f32, numbers, 0, NULL);
    call c = {compiled(*state, add), .count = 2, .devices = 1,
              .args = {a, b, b, b}};
    float sum[6];

    for (c.count = 0; c.count <= 4; c.count++)
        if (c.count != 2)
            EXECUTE_REFUSED("expected 2 arguments", &c);
    c.count = SIZE_MAX;
    EXECUTE_REFUSED("expected 2 arguments", &c);
    c.count = 2;
    for (c.devices = 0; c.devices <= 2; c.devices += 2)
        EXECUTE_REFUSED("arguments of 1 device", &c);
    c.devices = 1;
    went_well(execute(&c));
    read_buffer(c.results[0], sum, sizeof sum);
    assert_true(sum[0] == 2 && sum[5] == 7);
    free_buffer(c.results[0]);
    free_executable(c.executable);
    free_buffer(a);
    free_buffer(b);
}

static void arguments_must_be_of_the_modules_types(void **state)
{
    PJRT_Buffer *right = new_buffer(*state, f32, numbers, 2, two_three);
    PJRT_Buffer *scalar = new_buffer(*state, f32, numbers, 0, NULL);
    PJRT_Buffer *integer = new_buffer(*state, s32, numbers, 2, two_three);
    PJRT_Buffer *flat = new_buffer(*state, f32, numbers, 1, six);
    PJRT_Buffer *turned =
        new_buffer(*state, f32, numbers, 2, (const int64_t[]){3, 2});
    PJRT_Buffer *wrong[] = {scalar, integer, flat, turned, NULL};
    call c = {compiled(*state, add), .count = 2, .devices = 1};

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        c.args[0] = wrong[i];
        c.args[1] = scalar;
        EXECUTE_REFUSED("input 0: expected f32[2,3]", &c);
        c.args[0] = right;
        c.args[1] = wrong[i];
        if (wrong[i] != scalar)
            EXECUTE_REFUSED("input 1: expected f32[]", &c);
    }
    free_executable(c.executable);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        free_buffer(wrong[i]);
    free_buffer(right);
}

static void what_is_deleted_is_used_no_more(void **state)
{
    PJRT_Buffer *a = new_buffer(*state, f32, numbers, 2, two_three);
    PJRT_Buffer *b = new_buffer(*state, f32, numbers, 0, NULL);
    PJRT_Device *device = CALL(Buffer_Device, .buffer = a).device;
    PJRT_Memory *memory = CALL(Buffer_Memory, .buffer = a).memory;
    call c = {compiled(*state, add), .count = 2, .devices = 1, .args = {a, b}};
    float to[6];

    CALL(Buffer_Delete, .buffer = a);
    CALL(Buffer_Delete, .buffer = a); /* again is nothing new */
    assert_true(is_deleted(a) && !is_deleted(b));
    EXECUTE_REFUSED("deleted or donated", &c);
#define GONE(name, ...)                                                        \
    REFUSED(INVALID_ARGUMENT, "deleted or donated", name, __VA_ARGS__)
    GONE(Buffer_ToHostBuffer, .src = a, .dst = to, .dst_size = sizeof to);
    GONE(Buffer_CopyRawToHost, .buffer = a, .dst = to, .transfer_size = 1);
    GONE(Buffer_CopyRawToHostFuture, .buffer = a, .transfer_size = 1);
    GONE(Buffer_CopyToDevice, .buffer = a, .dst_device = device);
    GONE(Buffer_CopyToMemory, .buffer = a, .dst_memory = memory);
    GONE(Buffer_UnsafePointer, .buffer = a);
    GONE(Buffer_OpaqueDeviceMemoryDataPointer, .buffer = a);
    GONE(Buffer_IncreaseExternalReferenceCount, .buffer = a);
    GONE(Buffer_Bitcast, .buffer = a, .element_type = s32, .dims = six,
         .num_dims = 1);
    /* What it was is still known. */
    assert_int_equal(CALL(Buffer_Dimensions, .buffer = a).num_dims, 2);
    CALL(LoadedExecutable_Delete, .executable = c.executable);
    CALL(LoadedExecutable_Delete, .executable = c.executable);
    EXECUTE_REFUSED("executable has been deleted", &c);
    REFUSED(INVALID_ARGUMENT, "deleted", LoadedExecutable_GetExecutable,
            .loaded_executable = c.executable);
    REFUSED(INVALID_ARGUMENT, "deleted", LoadedExecutable_Fingerprint,
            .executable = c.executable);
    free_executable(c.executable);
    free_buffer(a);
    free_buffer(b);
}

static void what_is_donated_is_used_no_more(void **state)
{
    const int64_t kept[] = {1, 77, -1};
    PJRT_Buffer *a = new_buffer(*state, f32, numbers, 1, three);
    PJRT_Buffer *b = new_buffer(*state, f32, numbers, 1, three);
    PJRT_Buffer *c = new_buffer(*state, f32, numbers, 1, three);
    call run = {compiled(*state, donating), .count = 3, .devices = 1,
                .args = {a, b, c}};

    run.options.non_donatable_input_indices = kept;
    run.options.num_non_donatable_input_indices = 3;
    went_well(execute(&run));
    free_buffer(run.results[0]);
    free_buffer(run.results[1]);
    assert_true(is_deleted(a) && !is_deleted(b) && !is_deleted(c));
    EXECUTE_REFUSED("deleted or donated", &run);
    run.args[0] = c;
    run.options.num_non_donatable_input_indices = 0;
    EXECUTE_REFUSED("donated, and is used twice", &run);
    assert_true(!is_deleted(b) && !is_deleted(c)); /* nothing has run */
    run.args[0] = run.args[1] = b;
    EXECUTE_REFUSED("donated, and is used twice", &run);
    /* b is still given up, as 0 */
    run.options.num_non_donatable_input_indices = 1;
    EXECUTE_REFUSED("donated, and is used twice", &run);
    assert_true(!is_deleted(b));
    run.args[0] = new_buffer(*state, f32, numbers, 1, three);
    run.options.num_non_donatable_input_indices = 0;
    went_well(execute(&run));
    assert_true(is_deleted(run.args[0]) && is_deleted(b) && !is_deleted(c));
    free_buffer(run.results[0]);
    free_buffer(run.results[1]);
    free_buffer(run.args[0]);
    free_executable(run.executable);
    free_buffer(a);
    free_buffer(b);
    free_buffer(c);
}

/* One that may be given up for any result is kept where each has another's
 * memory, or another size. */
static void what_no_result_can_take_is_kept(void **state)
{
    static const char module[] =
        "func.func public @main(%arg0: tensor<3xf32> {jax.buffer_donor = true},\n"
        "    %arg1: tensor<3xf32> {jax.buffer_donor = true}, %arg2: tensor<f32>\n"
        "    {jax.buffer_donor = true}) -> tensor<3xf32> {\n"
        "  %0 = stablehlo.add %arg0, %arg1 : tensor<3xf32>\n"
        "  return %0 : tensor<3xf32>\n"
        "}\n";
    PJRT_Buffer *a = new_buffer(*state, f32, numbers, 1, three);
    PJRT_Buffer *b = new_buffer(*state, f32, numbers, 1, three);
    PJRT_Buffer *c = new_buffer(*state, f32, numbers, 0, NULL);
    call run = {compiled(*state, module), .count = 3, .devices = 1,
                .args = {a, b, c}};

    went_well(execute(&run));
    assert_true(is_deleted(a) && !is_deleted(b) && !is_deleted(c));
    free_buffer(run.results[0]);
    free_executable(run.executable);
    free_buffer(a);
    free_buffer(b);
    free_buffer(c);
}

static void what_the_host_still_reads_outlives_its_donation(void **state)
{
    PJRT_Buffer *a = new_buffer(*state, f32, numbers, 1, three);
    const float *seen;

    REFUSED(INVALID_ARGUMENT, "external reference",
            Buffer_DecreaseExternalReferenceCount, .buffer = a);
    CALL(Buffer_IncreaseExternalReferenceCount, .buffer = a);
    CALL(Buffer_IncreaseExternalReferenceCount, .buffer = a);
    seen =
        (const float *)CALL(Buffer_UnsafePointer, .buffer = a).buffer_pointer;
    CALL(Buffer_Delete, .buffer = a);
    CALL(Buffer_DecreaseExternalReferenceCount, .buffer = a);
    assert_true(seen[0] == 1 && seen[2] == 3);
    CALL(Buffer_DecreaseExternalReferenceCount, .buffer = a);
    REFUSED(INVALID_ARGUMENT, "external reference",
            Buffer_DecreaseExternalReferenceCount, .buffer = a);
    free_buffer(a);
}

/* ---- other versions */

static void smaller_structures_are_refused_by_name(void **state)
{
    const PJRT_Api *api = GetPjrtApi();

    (void)state;
#define SMALL(name, least)                                                     \
    was_refused(                                                               \
        PJRT_Error_Code_INVALID_ARGUMENT, "PJRT_" #name ": expected",          \
        api->PJRT_##name(&(PJRT_##name##_Args){.struct_size = (least)-1}),     \
        __FILE__, __LINE__);
#define FUNCTION(name, ...) SMALL(name, offsetof(PJRT_##name##_Args, end))
#define GROWN(name, first, ...) SMALL(name, offsetof(PJRT_##name##_Args, first))
#define LACKING(name, ...) REFUSED(UNIMPLEMENTED, "PJRT_" #name, name);
#include "hosts/pjrt/functions.def"
#undef FUNCTION
#undef GROWN
#undef LACKING
    assert_int_equal(api->struct_size, sizeof *api);
}

/* Those of the extensions are, too: each is a list of functions. */
static void smaller_structures_of_extensions_are_refused(void **state)
{
    typedef PJRT_Error *any(void *args);
    int count = 0;

    (void)state;
    for (const PJRT_Extension_Base *e = GetPjrtApi()->extension_start; e;
         e = e->next)
        for (size_t at = sizeof *e; at < e->struct_size; at += sizeof(any *)) {
            char nothing[128] = {0};
            any *function;
            memcpy(&function, (const char *)e + at, sizeof function);
            was_refused(PJRT_Error_Code_INVALID_ARGUMENT, "_Args: expected",
                        function(nothing), __FILE__, __LINE__);
            count++;
        }
    assert_int_equal(count, 14);
}

static void callers_of_another_version_are_served(void **state)
{
    /* A newer one gives more than we look at; an older one less, and nothing is
     * written behind its end. */
    enum { MORE = 64 };
    size_t known = sizeof(PJRT_Client_Devices_Args);
    char *newer = malloc(known + MORE);
    PJRT_Client_Devices_Args *devices = (void *)newer;
    PJRT_LoadedExecutable *x = compiled(*state, add);
    PJRT_Executable *e =
        CALL(LoadedExecutable_GetExecutable, .loaded_executable = x).executable;
    PJRT_Executable_GetCompiledMemoryStats_Args older;
    PJRT_Device_MemoryStats_Args stats;
    PJRT_Client_CreateViewOfDeviceBuffer_Args view;

    assert_non_null(newer);
    memset(newer, 77, known + MORE);
    *devices = ARGS(Client_Devices, .client = *state);
    devices->struct_size = known + MORE;
    went_well(GetPjrtApi()->PJRT_Client_Devices(devices));
    assert_int_equal(devices->num_devices, 1);
    for (size_t i = known; i < known + MORE; i++)
        assert_int_equal(newer[i], 77);
    free(newer);
    memset(&older, 77, sizeof older);
    older.struct_size = offsetof(PJRT_Executable_GetCompiledMemoryStats_Args,
                                 peak_memory_in_bytes);
    older.executable = e;
    went_well(GetPjrtApi()->PJRT_Executable_GetCompiledMemoryStats(&older));
    assert_int_equal(older.output_size_in_bytes, 24);
    assert_int_equal(*(char *)&older.peak_memory_in_bytes, 77);
    memset(&stats, 77, sizeof stats);
    stats.struct_size = offsetof(PJRT_Device_MemoryStats_Args, pool_bytes);
    stats.device = CALL(Client_LookupDevice, .client = *state).device;
    went_well(GetPjrtApi()->PJRT_Device_MemoryStats(&stats));
    assert_true(stats.bytes_limit_is_set && stats.bytes_limit > 0);
    assert_int_equal(*(char *)&stats.pool_bytes, 77);
    memset(&view, 77, sizeof view); /* there may be anything behind its end */
    view = ARGS(Client_CreateViewOfDeviceBuffer, .client = *state,
                .device_buffer_ptr = (void *)(uintptr_t)numbers, .dims = six,
                .num_dims = 1, .element_type = f32, .device = stats.device,
                .memory = (void *)1);
    view.struct_size =
        offsetof(PJRT_Client_CreateViewOfDeviceBuffer_Args, memory);
    went_well(GetPjrtApi()->PJRT_Client_CreateViewOfDeviceBuffer(&view));
    free_buffer(view.buffer);
    CALL(Executable_Destroy, .executable = e);
    free_executable(x);
}

/* So are the structures that are pointed to. */
static void smaller_structures_inside_are_refused(void **state)
{
    PJRT_Program program = program_of(add, sizeof add - 1);
    PJRT_Buffer *a = new_buffer(*state, f32, numbers, 2, two_three);
    PJRT_Buffer *b = new_buffer(*state, f32, numbers, 0, NULL);
    call c = {compiled(*state, add), .count = 2, .devices = 1, .args = {a, b}};
    PJRT_Executable *e =
        CALL(LoadedExecutable_GetExecutable, .loaded_executable = c.executable)
            .executable;
    PJRT_Buffer *const *lists[] = {c.args};
    PJRT_Buffer **results[] = {c.results};
    PJRT_NamedValue option = {.name = "devices",
                              .name_size = 7,
                              .type = PJRT_NamedValue_kInt64,
                              .int64_value = 1};
    PJRT_ShapeSpec spec = {.dims = six, .num_dims = 1, .element_type = f32};
    PJRT_Memory *memory = CALL(Buffer_Memory, .buffer = a).memory;

    program.struct_size = offsetof(PJRT_Program, format_size);
    REFUSED(INVALID_ARGUMENT, "PJRT_Program", Client_Compile, .client = *state,
            .program = &program);
    REFUSED(INVALID_ARGUMENT, "PJRT_Program", Compile, .program = &program);
    REFUSED(INVALID_ARGUMENT, "PJRT_Program", Executable_OptimizedProgram,
            .executable = e, .program = &program);
    c.options.struct_size = offsetof(PJRT_ExecuteOptions, launch_id);
    REFUSED(INVALID_ARGUMENT, "PJRT_ExecuteOptions", LoadedExecutable_Execute,
            .executable = c.executable, .options = &c.options,
            .argument_lists = lists, .num_devices = 1, .num_args = 2,
            .output_lists = results);
    REFUSED(INVALID_ARGUMENT, "PJRT_NamedValue", Client_Create,
            .create_options = &option, .num_options = 1);
    REFUSED(INVALID_ARGUMENT, "PJRT_ShapeSpec",
            Client_CreateBuffersForAsyncHostToDevice, .client = *state,
            .shape_specs = &spec, .num_shape_specs = 1, .memory = memory);
    CALL(Executable_Destroy, .executable = e);
    free_executable(c.executable);
    free_buffer(a);
    free_buffer(b);
}

/* Where something is expected and nothing is given. */
static void nothing_is_no_memory_and_no_bytes(void **state)
{
    PJRT_ShapeSpec spec = {.struct_size = sizeof spec,
                           .dims = six,
                           .num_dims = 1,
                           .element_type = f32};
    PJRT_Buffer *b = new_buffer(*state, f32, numbers, 1, six);
    PJRT_Memory *memory = CALL(Buffer_Memory, .buffer = b).memory;
    PJRT_AsyncHostToDeviceTransferManager *m =
        CALL(Client_CreateBuffersForAsyncHostToDevice, .client = *state,
             .shape_specs = &spec, .num_shape_specs = 1, .memory = memory)
            .transfer_manager;
    call c = {compiled(*state, add), .count = 2, .devices = 1};

    REFUSED(INVALID_ARGUMENT, "a memory",
            Client_CreateBuffersForAsyncHostToDevice, .client = *state,
            .shape_specs = &spec, .num_shape_specs = 1);
    REFUSED(INVALID_ARGUMENT, "found none",
            AsyncHostToDeviceTransferManager_TransferData,
            .transfer_manager = m, .transfer_size = 24);
    REFUSED(INVALID_ARGUMENT, "found none",
            AsyncHostToDeviceTransferManager_TransferLiteral,
            .transfer_manager = m, .shape_dims = six, .shape_num_dims = 1,
            .shape_element_type = f32);
    REFUSED(INVALID_ARGUMENT, "found none", Client_CreateViewOfDeviceBuffer,
            .client = *state, .dims = six, .num_dims = 1, .element_type = f32);
    REFUSED(INVALID_ARGUMENT, "found none", Buffer_CopyRawToHost, .buffer = b,
            .transfer_size = 24);
    REFUSED(INVALID_ARGUMENT, "a device or a memory", Buffer_CopyToDevice,
            .buffer = b);
    REFUSED(INVALID_ARGUMENT, "a device or a memory", Buffer_CopyToMemory,
            .buffer = b);
    REFUSED(INVALID_ARGUMENT, "found none", LoadedExecutable_Execute,
            .executable = c.executable, .num_devices = 1, .num_args = 2);
    CALL(AsyncHostToDeviceTransferManager_Destroy, .transfer_manager = m);
    free_executable(c.executable);
    free_buffer(b);
}

static void nothing_can_be_destroyed(void **state)
{
    (void)state;
    CALL(Error_Destroy);
    CALL(Event_Destroy);
    CALL(Client_Destroy);
    CALL(Buffer_Destroy);
    CALL(Executable_Destroy);
    CALL(LoadedExecutable_Destroy);
    CALL(TopologyDescription_Destroy);
    CALL(ExecuteContext_Destroy);
    CALL(AsyncHostToDeviceTransferManager_Destroy);
}

/* ---- clients and devices */

static void clients_have_a_sensible_number_of_devices(void **state)
{
    static const int64_t wrong[] = {0,         -1,        4097,
                                    INT64_MIN, INT64_MAX, 1LL << 32};
    static const char *const texts[] = {
        "0", "-3", "4097", "2 devices", "x", "1e3", "99999999999999999999"};
    PJRT_NamedValue option = {.struct_size = sizeof option,
                              .name = "devices",
                              .name_size = 7,
                              .type = PJRT_NamedValue_kInt64,
                              .value_size = 1};
    PJRT_Client *client;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        option.int64_value = wrong[i];
        REFUSED(INVALID_ARGUMENT, "expected 1 to 4096 devices", Client_Create,
                .create_options = &option, .num_options = 1);
    }
    option.int64_value = 3;
    client =
        CALL(Client_Create, .create_options = &option, .num_options = 1).client;
    assert_int_equal(CALL(Client_Devices, .client = client).num_devices, 3);
    free_client(client);
    option.type = PJRT_NamedValue_kString;
    /* as JAX gives what the user sets, with no end */
    option.string_value = "32";
    client =
        CALL(Client_Create, .create_options = &option, .num_options = 1).client;
    assert_int_equal(CALL(Client_Devices, .client = client).num_devices, 3);
    free_client(client);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        option.string_value = texts[i];
        option.value_size = strlen(texts[i]);
        REFUSED(INVALID_ARGUMENT, "option 'devices': expected 1 to 4096",
                Client_Create, .create_options = &option, .num_options = 1);
    }
    option.type = PJRT_NamedValue_kFloat;
    REFUSED(INVALID_ARGUMENT, "expected an integer", Client_Create,
            .create_options = &option, .num_options = 1);
    option.name = "deviceses";
    option.name_size = 9;
    REFUSED(INVALID_ARGUMENT, "unknown option 'deviceses'", Client_Create,
            .create_options = &option, .num_options = 1);
    option.name_size = 0;
    REFUSED(INVALID_ARGUMENT, "unknown option ''", Client_Create,
            .create_options = &option, .num_options = 1);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        setenv("JAXVET_DEVICES", texts[i], 1);
        REFUSED(INVALID_ARGUMENT, "JAXVET_DEVICES: expected 1 to 4096",
                Client_Create);
    }
    unsetenv("JAXVET_DEVICES");
}

static void clients_keep_to_their_memory(void **state)
{
    enum { MEGABYTE = 1 << 20, LIMIT = 16 * MEGABYTE };
    static const int64_t most[] = {12 * MEGABYTE}, more[] = {6 * MEGABYTE};
    static const char *const texts[] = {"0", "-3", "lots", "1e99", "2 devices"};
    static const char large[] =
        "module @jit_f {\n"
        "func.func public @main(%arg0: tensor<f32>) -> tensor<1572864xf32> {\n"
        "%0 = stablehlo.broadcast_in_dim %arg0, dims = [] :"
        " (tensor<f32>) -> tensor<1572864xf32>\n"
        "return %0 : tensor<1572864xf32>\n}\n}\n";
    PJRT_NamedValue option = {.struct_size = sizeof option,
                              .name = "memory_limit_bytes",
                              .name_size = 18,
                              .type = PJRT_NamedValue_kInt64,
                              .value_size = 1};
    PJRT_Buffer *a, *scalar;
    PJRT_Client *client;
    PJRT_Device *device;
    call c = {.count = 1, .devices = 1};

    (void)state;
    for (option.int64_value = -1; option.int64_value < 1; option.int64_value++)
        REFUSED(INVALID_ARGUMENT, "expected bytes", Client_Create,
                .create_options = &option, .num_options = 1);
    option.type = PJRT_NamedValue_kString;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        setenv("JAXVET_MEMORY", texts[i], 1);
        REFUSED(INVALID_ARGUMENT, "JAXVET_MEMORY: expected bytes",
                Client_Create);
        unsetenv("JAXVET_MEMORY");
        option.string_value = texts[i];
        option.value_size = strlen(texts[i]);
        REFUSED(INVALID_ARGUMENT, "expected bytes", Client_Create,
                .create_options = &option, .num_options = 1);
    }
    setenv("JAXVET_MEMORY", "16 MiB", 1);
    client = new_client();
    unsetenv("JAXVET_MEMORY");
#define ARRAY(sizes)                                                           \
    Client_CreateUninitializedBuffer,                                          \
        .client = client, .shape_dims = sizes, .shape_num_dims = 1,            \
        .shape_element_type = PJRT_Buffer_Type_S8
    device = CALL(Client_LookupDevice, .client = client).device;
    assert_int_equal(CALL(Device_MemoryStats, .device = device).bytes_limit,
                     LIMIT);
    c.executable = compiled(client, large);
    c.args[0] = scalar = new_buffer(client, f32, numbers, 0, NULL);
    a = CALL(ARRAY(most)).buffer;
    REFUSED(RESOURCE_EXHAUSTED, "the limit is 16777216", ARRAY(more));
    was_refused(PJRT_Error_Code_RESOURCE_EXHAUSTED, "the limit is 16777216",
                execute(&c), __FILE__, __LINE__);
    CALL(Buffer_Delete, .buffer = a);
    went_well(execute(&c));
    free_buffer(c.results[0]);
    free_buffer(a);
    a = CALL(ARRAY(more)).buffer;
    free_buffer(a);
    free_buffer(scalar);
    free_executable(c.executable);
    free_client(client);
}

/* What is given up for a result is still there where another result has no
 * room: nothing has been computed. */
static void what_has_no_room_takes_nothing(void **state)
{
    enum { MEGABYTE = 1 << 20 };
    static const int64_t most[] = {12 * MEGABYTE};
    static const char two[] =
        "module @jit_f {\n"
        "func.func public @main(%arg0: tensor<6xf32> {tf.aliasing_output = 0 : "
        "i32}) ->"
        " (tensor<6xf32>, tensor<262144x6xf32>) {\n"
        "%0 = stablehlo.negate %arg0 : tensor<6xf32>\n"
        "%1 = stablehlo.iota dim = 0 : tensor<262144x6xf32>\n"
        "return %0, %1 : tensor<6xf32>, tensor<262144x6xf32>\n}\n}\n";
    PJRT_Buffer *a, *args[1], *results[2];
    PJRT_Buffer *const *lists[] = {args};
    PJRT_Buffer **result_lists[] = {results};
    PJRT_LoadedExecutable *x;
    PJRT_Client *client;
    float found[6];

    (void)state;
    setenv("JAXVET_MEMORY", "16 MiB", 1);
    client = new_client();
    unsetenv("JAXVET_MEMORY");
    a = CALL(ARRAY(most)).buffer;
    args[0] = new_buffer(client, f32, numbers, 1, six);
    x = compiled(client, two);
    REFUSED(RESOURCE_EXHAUSTED, "the limit is 16777216",
            LoadedExecutable_Execute, .executable = x, .argument_lists = lists,
            .num_devices = 1, .num_args = 1, .output_lists = result_lists);
    assert_false(is_deleted(args[0]));
    free_buffer(a);
    CALL(LoadedExecutable_Execute, .executable = x, .argument_lists = lists,
         .num_devices = 1, .num_args = 1, .output_lists = result_lists);
    assert_true(is_deleted(args[0]));
    read_buffer(results[0], found, sizeof found);
    assert_true(found[5] == -numbers[5]);
    free_buffer(args[0]);
    free_buffer(results[0]);
    free_buffer(results[1]);
    free_executable(x);
    free_client(client);
}

static void devices_that_are_not_there_are_not_found(void **state)
{
    static const int ids[] = {-1, 1, 4096, INT32_MAX, INT32_MIN};
    int assignment[4];
    /* CompileOptionsProto: one replica on device 5. */
    static const char far[] = {0x1a, 0x0e, 0x20, 1, 0x28, 1, 0x4a, 8,
                               8,    1,    0x10, 1, 0x1a, 2, 8,    5};
    PJRT_Program program = program_of(add, sizeof add - 1);

    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        REFUSED(INVALID_ARGUMENT, "there is no device", Client_LookupDevice,
                .client = *state, .id = ids[i]);
        REFUSED(INVALID_ARGUMENT, "there is no device",
                Client_LookupAddressableDevice, .client = *state,
                .local_hardware_id = ids[i]);
        if (ids[i] != 1)
            REFUSED(INVALID_ARGUMENT, "devices", Client_DefaultDeviceAssignment,
                    .client = *state, .num_replicas = ids[i],
                    .num_partitions = ids[i], .default_assignment_size = 4,
                    .default_assignment = assignment);
    }
    REFUSED(INVALID_ARGUMENT, "room for 1 devices",
            Client_DefaultDeviceAssignment, .client = *state, .num_replicas = 1,
            .num_partitions = 1, .default_assignment = assignment);
    REFUSED(INVALID_ARGUMENT, "device 5", Client_Compile, .client = *state,
            .program = &program, .compile_options = far,
            .compile_options_size = sizeof far);
}

/* ---- modules */

static void modules_that_are_none_are_refused(void **state)
{
    static const char *const formats[] = {"hlo", "", "mlirr", "mli", "MLIR"};
    static const struct {
        const char *code;
        size_t size;
    } wrong[] = {{"", 0},
                 {"\0", 1},
                 {"ML\xefR", 4},
                 {"MZ", 2},
                 {"module {", 8},
                 {"\x7f"
                  "ELF",
                  4},
                 {"module @f {}", 12},
                 {"\xff\xfe\xfd", 3}};
    PJRT_Program program = program_of(add, sizeof add - 1);

    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        program.format = formats[i];
        program.format_size = strlen(formats[i]);
        REFUSED(UNIMPLEMENTED, "expected 'mlir'", Client_Compile,
                .client = *state, .program = &program);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        program = program_of(wrong[i].code, wrong[i].size);
        REFUSED(INVALID_ARGUMENT, "", Client_Compile, .client = *state,
                .program = &program);
        REFUSED(INVALID_ARGUMENT, "", Compile, .program = &program);
    }
}

/* Each copy lies at the end of its memory, so that who reads on is seen. */
static void try_module(PJRT_Client *client, const char *code, size_t size)
{
    char *copy = memcpy(malloc(size ? size : 1), code, size);
    PJRT_Program program = program_of(copy, size);
    PJRT_Client_Compile_Args args =
        ARGS(Client_Compile, .client = client, .program = &program);
    PJRT_Error *error;

    error = GetPjrtApi()->PJRT_Client_Compile(&args);
    assert_true(!error != !args.executable);
    if (error)
        drop_error(error);
    else
        free_executable(args.executable);
    free(copy);
}

static char *read_module(size_t *size)
{
    int file = open("demo/hosts/transformer.jaxexport", O_RDONLY);
    static char bytes[1 << 16];
    ssize_t n = file < 0 ? -1 : read(file, bytes, sizeof bytes);
    char *at;

    assert_true(n > 0);
    close(file);
    at = memmem(bytes, (size_t)n, "ML\xefR", 4);
    assert_non_null(at);
    *size = (size_t)(bytes + n - at);
    return at;
}

static void modules_that_are_damaged_have_an_error(void **state)
{
    size_t size;
    char *module = read_module(&size);
    char text[sizeof add];

    memcpy(text, add, sizeof add);
    for (size_t i = 0; i < sizeof add - 1; i++) {
        try_module(*state, add, i);
        text[i] ^= 1 << i % 7;
        try_module(*state, text, sizeof add - 1);
        text[i] = add[i];
    }
    for (size_t i = 0; i < size; i += 97) {
        try_module(*state, module, i);
        module[i] ^= (char)(1 << i % 8);
        try_module(*state, module, size);
        module[i] ^= (char)(1 << i % 8);
    }
}

static void what_cant_be_run_is_said_with_the_users_line(void **state)
{
    static const char *const modules[] = {
        "%0 = stablehlo.custom_call @nobody(%arg0) :"
        " (tensor<2xf32>) -> tensor<2xf32>",
        "%t = stablehlo.create_token : !stablehlo.token\n"
        "%0, %1 = \"stablehlo.infeed\"(%t) <{infeed_config = \"\","
        " layout = [[0]]}> : (!stablehlo.token) -> (tensor<2xf32>,"
        " !stablehlo.token)"};
    static const char *const said[] = {"@nobody", "stablehlo.infeed"};
    char module[1024], where[64];

    for (int i = 0; i < 2; i++) {
        int size = snprintf(
            module, sizeof module,
            "module @jit_f {\n"
            "func.func public @main(%%arg0: tensor<2xf32>) -> tensor<2xf32> {\n"
            "%s loc(\"jit(f)/thing\"(\"/home/me/prog.py\":12:8))\n"
            "return %%0 : tensor<2xf32>\n}\n}\n",
            modules[i]);
        PJRT_Program program = program_of(module, (size_t)size);
        snprintf(where, sizeof where, "/home/me/prog.py:12:9 (stablehlo.%s)",
                 i ? "infeed" : "custom_call");
        REFUSED(UNIMPLEMENTED, where, Client_Compile, .client = *state,
                .program = &program);
        REFUSED(UNIMPLEMENTED, said[i], Compile, .program = &program);
    }
}

static void memories_that_are_not_there_are_refused(void **state)
{
    static const char module[] =
        "module @jit_f {\n"
        "func.func public @main(%arg0: tensor<f32>) ->"
        " (tensor<f32> {mhlo.memory_kind = \"far\"}) {\n"
        "return %arg0 : tensor<f32>\n}\n}\n";
    PJRT_Program program = program_of(module, sizeof module - 1);

    REFUSED(UNIMPLEMENTED, "memory of kind 'far'", Client_Compile,
            .client = *state, .program = &program);
}

static void what_takes_too_much_memory_has_an_error(void **state)
{
    static const int64_t huge[] = {1LL << 40, 1LL << 15};
    /* What is known beforehand, and a result. */
    static const char *const bodies[] = {
        "-> tensor<70368744177664xi32> {\n"
        "%0 = stablehlo.iota dim = 0 : tensor<70368744177664xi32>\n"
        "return %0 : tensor<70368744177664xi32>\n}\n",
        "-> tensor<70368744177664xf32> {\n"
        "%0 = stablehlo.broadcast_in_dim %arg0, dims = [] :"
        " (tensor<f32>) -> tensor<70368744177664xf32>\n"
        "return %0 : tensor<70368744177664xf32>\n}\n"};
    char module[1024];

    REFUSED(RESOURCE_EXHAUSTED, "out of memory",
            Client_CreateUninitializedBuffer, .client = *state,
            .shape_dims = huge, .shape_num_dims = 2, .shape_element_type = f32);
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        int size = snprintf(module, sizeof module,
                            "module @jit_f {\n"
                            "func.func public @main(%%arg0: tensor<f32>) %s}\n",
                            bodies[i]);
        PJRT_Program program = program_of(module, (size_t)size);
        REFUSED(RESOURCE_EXHAUSTED, "the limit of memory", Client_Compile,
                .client = *state, .program = &program);
    }
}

/* One that takes arrays of 1 MiB. */
static const char hungry[] =
    "module @jit_f {\n"
    "func.func public @main(%arg0: tensor<262144xf32>) -> tensor<262144xf32> {\n"
    "%0 = stablehlo.reverse %arg0, dims = [0] : tensor<262144xf32>\n"
    "%1 = stablehlo.add %0, %arg0 : tensor<262144xf32>\n"
    "%2 = stablehlo.reverse %1, dims = [0] : tensor<262144xf32>\n"
    "return %2 : tensor<262144xf32>\n}\n}\n";

/* In a process of its own: an error without memory is the only one. */
static bool only_starves(PJRT_Error *error)
{
    PJRT_Error_GetCode_Args c = ARGS(Error_GetCode, .error = error);

    if (!error)
        return true;
    GetPjrtApi()->PJRT_Error_GetCode(&c);
    if (c.code != PJRT_Error_Code_RESOURCE_EXHAUSTED) {
        PJRT_Error_Message_Args m = ARGS(Error_Message, .error = error);
        GetPjrtApi()->PJRT_Error_Message(&m);
        dprintf(2, "%d: %s\n", (int)c.code, m.message);
    }
    drop_error(error);
    return c.code == PJRT_Error_Code_RESOURCE_EXHAUSTED;
}

/* 0: all went well; 1: it starved; 2: it failed otherwise. */
static int run_with(size_t bytes)
{
    static const int64_t many[] = {262144};
    PJRT_Program program = program_of(hungry, sizeof hungry - 1);
    PJRT_Client_Create_Args made = ARGS(Client_Create);
    struct rlimit limit = {bytes, bytes};
    PJRT_Error *error;

    setrlimit(RLIMIT_AS, &limit);
    error = GetPjrtApi()->PJRT_Client_Create(&made);
    if (error)
        return only_starves(error) ? 1 : 2;
    PJRT_Client_Compile_Args c =
        ARGS(Client_Compile, .client = made.client, .program = &program);
    PJRT_Client_CreateUninitializedBuffer_Args a = ARGS(
        Client_CreateUninitializedBuffer, .client = made.client,
        .shape_dims = many, .shape_num_dims = 1, .shape_element_type = f32);
    error = GetPjrtApi()->PJRT_Client_Compile(&c);
    if (!error)
        error = GetPjrtApi()->PJRT_Client_CreateUninitializedBuffer(&a);
    if (error)
        return only_starves(error) ? 1 : 2;
    call run = {c.executable, .count = 1, .devices = 1, .args = {a.buffer}};
    error = execute(&run);
    return !error ? 0 : only_starves(error) ? 1 : 2;
}

static size_t address_space(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;

    if (file && fscanf(file, "%lu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void a_process_without_memory_goes_on(void **state)
{
    enum { STEPS = 150, STEP = 8192 };
    const char *preloaded = getenv("LD_PRELOAD");
    size_t now = address_space();
    int ended[3] = {0};

    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    now = 0; /* they want terabytes of it */
#endif
    if (!now || (preloaded && strstr(preloaded, "vgpreload")))
        skip();
    for (size_t i = 0; i < STEPS; i++) {
        pid_t child = fork();
        int status = 0;
        if (child == 0)
            _exit(run_with(now + i * i * STEP));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 3);
        ended[WEXITSTATUS(status)]++;
    }
    assert_true(ended[0] > 0 && ended[1] > 0);
    assert_int_equal(ended[2], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_must_be_as_many_as_the_module_takes),
        cmocka_unit_test(arguments_must_be_of_the_modules_types),
        cmocka_unit_test(what_is_deleted_is_used_no_more),
        cmocka_unit_test(what_is_donated_is_used_no_more),
        cmocka_unit_test(what_no_result_can_take_is_kept),
        cmocka_unit_test(what_the_host_still_reads_outlives_its_donation),
        cmocka_unit_test(smaller_structures_are_refused_by_name),
        cmocka_unit_test(smaller_structures_of_extensions_are_refused),
        cmocka_unit_test(callers_of_another_version_are_served),
        cmocka_unit_test(smaller_structures_inside_are_refused),
        cmocka_unit_test(nothing_is_no_memory_and_no_bytes),
        cmocka_unit_test(nothing_can_be_destroyed),
        cmocka_unit_test(clients_have_a_sensible_number_of_devices),
        cmocka_unit_test(devices_that_are_not_there_are_not_found),
        cmocka_unit_test(modules_that_are_none_are_refused),
        cmocka_unit_test(modules_that_are_damaged_have_an_error),
        cmocka_unit_test(what_cant_be_run_is_said_with_the_users_line),
        cmocka_unit_test(memories_that_are_not_there_are_refused),
        cmocka_unit_test(what_takes_too_much_memory_has_an_error),
        cmocka_unit_test(a_process_without_memory_goes_on),
        /* Last: it leaves the allocator more than the one
         * before has to spare. */
        cmocka_unit_test(clients_keep_to_their_memory),
        cmocka_unit_test(what_has_no_room_takes_nothing),
    };

    return cmocka_run_group_tests(tests, make_client, end_client);
}
