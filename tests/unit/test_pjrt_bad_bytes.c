/* test_pjrt_bad_bytes.c - bytes that are not what the plugin has written, and
 * parts of arrays and events that are not there. */
#include "tests/pjrt/calls.h"

#include <pthread.h>
#include <stdio.h>

static const char negate[] =
    "module @jit_neg {\n"
    "  func.func public @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
    "    %0 = stablehlo.negate %arg0 : tensor<2x3xf32>\n"
    "    return %0 : tensor<2x3xf32>\n"
    "  }\n"
    "}\n";
/* CompileOptionsProto: a build of one replica, one partition, on device 0. */
static const unsigned char options[] = {0x1a, 0x0e, 0x20, 1, 0x28, 1, 0x4a, 8,
                                        8,    1,    0x10, 1, 0x1a, 2, 8,    0};

static const float numbers[6] = {1, 2, 3, 4, 5, 6};
static const int64_t two_three[] = {2, 3};
static const PJRT_Buffer_Type f32 = PJRT_Buffer_Type_F32;

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

/* The same numbers in every run (of Lehmer's kind). */
static unsigned draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*seed >> 33);
}

/* ---- compile options */

/* Copied, so that a sanitizer sees who reads on behind them. */
static bool compiles_with(PJRT_Client *client, const void *bytes, size_t size)
{
    char *copy = malloc(size ? size : 1);
    PJRT_Program program = program_of(negate, sizeof negate - 1);
    PJRT_Client_Compile_Args args =
        ARGS(Client_Compile, .client = client, .program = &program,
             .compile_options = copy, .compile_options_size = size);
    PJRT_Error *error;

    if (size)
        memcpy(copy, bytes, size);
    error = GetPjrtApi()->PJRT_Client_Compile(&args);
    free(copy);
    assert_true(!error != !args.executable);
    if (error)
        drop_error(error);
    else
        free_executable(args.executable);
    return !error;
}

static void options_that_are_none_are_refused(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
    } wrong[] = {
        {"\x1a", 1},         /* no length */
        {"\x1a\x05\x20", 3}, /* longer than there is */
        {"\x00\x00", 2},     /* field 0 */
        {"\x0b", 1},         /* a group */
        /* never ends */
        {"\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12},
        {"\x1a\x02\x20\x00", 4},                 /* no replica */
        {"\x1a\x06\x20\x80\x20\x28\x80\x20", 8}, /* 4096 of 4096 */
        {"\x1a\x0b\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13}, /* -1 */
        {"\x1a\x06\x4a\x04\x1a\x02\x08\x01", 8}, /* devices of nothing */
    };

    assert_true(compiles_with(*state, "", 0));
    assert_true(compiles_with(*state, options, sizeof options));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(compiles_with(*state, wrong[i].bytes, wrong[i].size));
    for (size_t i = 1; i < sizeof options; i++)
        assert_false(compiles_with(*state, options, i));
}

static void options_may_be_any_bytes(void **state)
{
    enum { ROUNDS = 5000 };
    unsigned char bytes[sizeof options + 8];
    uint64_t seed = 1;
    int taken = 0;

    for (int n = 0; n < ROUNDS; n++) {
        size_t size = sizeof options + draw(&seed) % 8;
        memset(bytes, (int)draw(&seed), sizeof bytes);
        memcpy(bytes, options, sizeof options);
        for (unsigned k = draw(&seed) % 4 + 1; k-- > 0;)
            bytes[draw(&seed) % size] = (unsigned char)draw(&seed);
        taken += compiles_with(*state, bytes, size);
    }
    assert_in_range(taken, 1, ROUNDS - 1);
}

/* CompileOptionsProto: a build of four partitions, on devices
 * that nobody names. */
static void programs_say_on_which_devices_they_run(void **state)
{
    static const char four[] = {0x1a, 4, 0x20, 1, 0x28, 4};
    static const char said[] = {8, 1, 0x10, 4, 0x1a, 2, 8,    0, 0x1a, 2,
                                8, 1, 0x1a, 2, 8,    2, 0x1a, 2, 8,    3};
    PJRT_NamedValue devices = {.struct_size = sizeof devices,
                               .name = "devices",
                               .name_size = 7,
                               .type = PJRT_NamedValue_kInt64,
                               .int64_value = 4,
                               .value_size = 1};
    PJRT_Client *client =
        CALL(Client_Create, .create_options = &devices, .num_options = 1)
            .client;
    PJRT_Program program = program_of(negate, sizeof negate - 1);
    PJRT_LoadedExecutable *x =
        CALL(Client_Compile, .client = client, .program = &program,
             .compile_options = four, .compile_options_size = sizeof four)
            .executable;
    PJRT_LoadedExecutable_GetDeviceAssignment_Args a =
        CALL(LoadedExecutable_GetDeviceAssignment, .executable = x);

    (void)state;
    assert_int_equal(a.serialized_bytes_size, sizeof said);
    assert_memory_equal(a.serialized_bytes, said, sizeof said);
    a.serialized_device_assignment_deleter(a.serialized_device_assignment);
    free_executable(x);
    free_client(client);
}

/* ---- serialized executables */

static bool loads(PJRT_Client *client, const char *bytes, size_t size)
{
    char *copy = malloc(size ? size : 1);
    PJRT_Executable_DeserializeAndLoad_Args args =
        ARGS(Executable_DeserializeAndLoad, .client = client,
             .serialized_executable = copy, .serialized_executable_size = size);
    PJRT_Error *error;

    memcpy(copy, bytes, size);
    error = GetPjrtApi()->PJRT_Executable_DeserializeAndLoad(&args);
    free(copy);
    assert_true(!error != !args.loaded_executable);
    if (error)
        drop_error(error);
    else
        free_executable(args.loaded_executable);
    return !error;
}

static void executables_that_are_damaged_are_refused(void **state)
{
    PJRT_LoadedExecutable *x = compiled(*state, negate);
    PJRT_Executable *e =
        CALL(LoadedExecutable_GetExecutable, .loaded_executable = x).executable;
    PJRT_Executable_Serialize_Args s =
        CALL(Executable_Serialize, .executable = e);
    size_t size = s.serialized_bytes_size;
    char *bytes = malloc(size + 1);

    memcpy(bytes, s.serialized_bytes, size);
    bytes[size] = 0;
    s.serialized_executable_deleter(s.serialized_executable);
    CALL(Executable_Destroy, .executable = e);
    free_executable(x);
    assert_true(loads(*state, bytes, size));
    assert_false(loads(*state, bytes, size + 1));
    for (size_t i = 0; i < size; i++)
        assert_false(loads(*state, bytes, i));
    for (size_t i = 0; i < size; i++)
        for (int bit = 0; bit < 8; bit++) {
            bytes[i] ^= (char)(1 << bit);
            assert_false(loads(*state, bytes, size));
            bytes[i] ^= (char)(1 << bit);
        }
    /* Lengths whose sum wraps around to the right one. */
    memset(bytes + 16, 0xff, 8);
    memset(bytes + 24, 0, 8);
    assert_false(loads(*state, bytes, size));
    free(bytes);
}

/* ---- topologies */

static void topologies_that_are_none_are_refused(void **state)
{
    static const char *const wrong[] = {
        "",
        "jaxvet topology ",
        "jaxvet topology 0",
        "jaxvet topology -1",
        "jaxvet topology 4097",
        "jaxvet topology 3 devices",
        "jaxvet topologie 3",
        "jaxvet topology 99999999999999999999999999999999999999999999",
        "jaxvet topology 18446744073709551617",
        "topology"};
    PJRT_TopologyDescription_Serialize_Args s;
    PJRT_TopologyDescription *t;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        REFUSED(INVALID_ARGUMENT, "topology", TopologyDescription_Deserialize,
                .serialized_topology = wrong[i],
                .serialized_topology_size = strlen(wrong[i]));
    REFUSED(INVALID_ARGUMENT, "1 to 4096", TopologyDescription_Create,
            .topology_name = "0", .topology_name_size = 1);
    t = CALL(TopologyDescription_Create, .topology_name = "8",
             .topology_name_size = 1)
            .topology;
    s = CALL(TopologyDescription_Serialize, .topology = t);
    CALL(TopologyDescription_Destroy, .topology = t);
    t = CALL(TopologyDescription_Deserialize,
             .serialized_topology = s.serialized_bytes,
             .serialized_topology_size = s.serialized_bytes_size)
            .topology;
    s.serialized_topology_deleter(s.serialized_topology);
    assert_int_equal(
        CALL(TopologyDescription_GetDeviceDescriptions, .topology = t)
            .num_descriptions,
        8);
    CALL(TopologyDescription_Destroy, .topology = t);
}

/* ---- arrays of the host */

static void shapes_that_are_none_are_refused(void **state)
{
    enum { MANY = 3 };
    static const int64_t wrong[][MANY] = {{-1, 2, 3},
                                          {INT64_MIN, 1, 1},
                                          {1LL << 62, 1LL << 62, 1},
                                          {1LL << 31, 1LL << 31, 1 << 10},
                                          {0, -1, 2}};
    static const int64_t rows[] = {2, 1, 0}, strides[] = {24, 12, 4};
    PJRT_Buffer_MemoryLayout layout = {
        .struct_size = sizeof layout,
        .tiled = {.minor_to_major = rows, .minor_to_major_size = MANY}};
    char bytes[64];

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        for (int with = 0; with < 2; with++) {
            layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
            REFUSED(INVALID_ARGUMENT, "shape", Client_BufferFromHostBuffer,
                    .client = *state, .data = bytes, .type = f32,
                    .dims = wrong[i], .num_dims = MANY,
                    .device_layout = with ? &layout : NULL);
            REFUSED(
                INVALID_ARGUMENT, "shape", Client_BufferFromHostBuffer,
                .client = *state, .data = bytes, .type = f32, .dims = wrong[i],
                .num_dims = MANY, .byte_strides = strides,
                .num_byte_strides = MANY,
                .host_buffer_semantics =
                    with ? PJRT_HostBufferSemantics_kImmutableZeroCopy
                         : PJRT_HostBufferSemantics_kImmutableOnlyDuringCall);
            REFUSED(INVALID_ARGUMENT, "shape", Client_CreateUninitializedBuffer,
                    .client = *state, .shape_dims = wrong[i],
                    .shape_num_dims = MANY, .shape_element_type = f32,
                    .shape_layout = with ? &layout : NULL);
            REFUSED(INVALID_ARGUMENT, "shape", Client_CreateViewOfDeviceBuffer,
                    .client = *state, .device_buffer_ptr = bytes,
                    .dims = wrong[i], .num_dims = MANY, .element_type = f32,
                    .layout = with ? &layout : NULL);
        }
    REFUSED(INVALID_ARGUMENT, "axes", Client_BufferFromHostBuffer,
            .client = *state, .data = bytes, .type = f32, .dims = wrong[0],
            .num_dims = (size_t)1 << 32);
    REFUSED(INVALID_ARGUMENT, "stride for each", Client_BufferFromHostBuffer,
            .client = *state, .data = bytes, .type = f32, .dims = two_three,
            .num_dims = 2, .byte_strides = strides, .num_byte_strides = 1);
    REFUSED(INVALID_ARGUMENT, "bytes", Client_BufferFromHostBuffer,
            .client = *state, .type = f32, .dims = two_three, .num_dims = 2);
    for (int type = -1; type < 64; type++)
        if (type <= 0 || type > 29)
            REFUSED(UNIMPLEMENTED, "element type", Client_BufferFromHostBuffer,
                    .client = *state, .data = bytes,
                    .type = (PJRT_Buffer_Type)type, .dims = two_three,
                    .num_dims = 2);
}

/* Of an array without elements the other sizes may be any. */
static void empty_arrays_may_be_long(void **state)
{
    static const int64_t dims[] = {1LL << 62, 0, 1LL << 62}, rows[] = {0, 1, 2},
                         strides[] = {1, 2, 3};
    PJRT_Buffer_MemoryLayout layout = {
        .struct_size = sizeof layout,
        .tiled = {.minor_to_major = rows, .minor_to_major_size = 3}};
    PJRT_Buffer *b = CALL(Client_BufferFromHostBuffer, .client = *state,
                          .type = f32, .dims = dims, .num_dims = 3,
                          .byte_strides = strides, .num_byte_strides = 3)
                         .buffer;
    char to[1];

    CALL(Buffer_ToHostBuffer, .src = b, .dst = to, .host_layout = &layout);
    assert_int_equal(
        CALL(Buffer_OnDeviceSizeInBytes, .buffer = b).on_device_size_in_bytes,
        0);
    free_buffer(b);
}

static void parts_must_be_inside(void **state)
{
    static const int64_t parts[][2] = {{-1, 1},        {0, 25},
                                       {24, 1},        {25, 0},
                                       {0, -1},        {INT64_MAX, INT64_MAX},
                                       {INT64_MIN, 1}, {1, INT64_MAX}};
    PJRT_Buffer *b = new_buffer(*state, f32, numbers, 2, two_three);
    const int64_t twice[] = {0, 0}, few[] = {0}, far[] = {0, 2};
    const int64_t *const orders[] = {twice, few, far};
    float to[6];
    PJRT_Buffer_CopyRawToHostFuture_Args promise;
    PJRT_Buffer_CopyRawToHostFuture_Callback_Args there = {.struct_size =
                                                               sizeof there};

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        REFUSED(INVALID_ARGUMENT, "expected a part", Buffer_CopyRawToHost,
                .buffer = b, .dst = to, .offset = parts[i][0],
                .transfer_size = parts[i][1]);
        REFUSED(INVALID_ARGUMENT, "expected a part", Buffer_CopyRawToHostFuture,
                .buffer = b, .offset = parts[i][0],
                .transfer_size = parts[i][1]);
    }
    REFUSED(INVALID_ARGUMENT, "room for 24", Buffer_ToHostBuffer, .src = b,
            .dst = to, .dst_size = 23);
    for (size_t i = 0; i < 3; i++) {
        PJRT_Buffer_MemoryLayout layout = {
            .tiled = {.minor_to_major = orders[i],
                      .minor_to_major_size = i == 1 ? 1 : 2}};
        REFUSED(INVALID_ARGUMENT, "layout of 2 axes", Buffer_ToHostBuffer,
                .src = b, .dst = to, .dst_size = sizeof to,
                .host_layout = &layout);
    }
    /* Rows that lie further from each other take more room than the array has;
     * some lie before its beginning. */
    const int64_t wide[] = {48, 8}, backwards[] = {-12, 4};
    PJRT_Buffer_MemoryLayout rows = {
        .type = PJRT_Buffer_MemoryLayout_Type_Strides,
        .strides = {.byte_strides = wide, .num_byte_strides = 2}};
    float far_apart[17];
    REFUSED(INVALID_ARGUMENT, "room for 68 bytes", Buffer_ToHostBuffer,
            .src = b, .dst = far_apart, .dst_size = 67, .host_layout = &rows);
    assert_int_equal(
        CALL(Buffer_ToHostBuffer, .src = b, .host_layout = &rows).dst_size, 68);
    CALL(Buffer_ToHostBuffer, .src = b, .dst = far_apart, .dst_size = 68,
         .host_layout = &rows);
    assert_true(far_apart[2] == 2 && far_apart[16] == 6);
    rows.strides.byte_strides = backwards;
    REFUSED(INVALID_ARGUMENT, "strides", Buffer_ToHostBuffer, .src = b,
            .dst = to, .dst_size = sizeof to, .host_layout = &rows);
    /* A promise that is kept, one that nothing is wanted of, one that fails. */
    for (int i = 0; i < 3; i++) {
        promise = CALL(Buffer_CopyRawToHostFuture, .buffer = b, .offset = 4,
                       .transfer_size = 8);
        there.callback_data = promise.callback_data;
        there.dst = i == 0 ? to : NULL;
        there.error_code =
            i == 2 ? PJRT_Error_Code_ABORTED : PJRT_Error_Code_OK;
        there.error_message = "no room";
        there.error_message_size = 7;
        promise.future_ready_callback(&there);
        if (i == 2)
            REFUSED(ABORTED, "no room", Event_Await, .event = promise.event);
        else
            CALL(Event_Await, .event = promise.event);
        CALL(Event_Destroy, .event = promise.event);
    }
    assert_true(to[0] == 2 && to[1] == 3);
    free_buffer(b);
}

/* An array that there is not takes no room, and whoever uses it
 * has its error. */
static void arrays_may_stand_for_errors(void **state)
{
    static const int64_t large[] = {1LL << 50};
    PJRT_Buffer *b;
    char to[1];

    REFUSED(INVALID_ARGUMENT, "code of an error", Client_CreateErrorBuffer,
            .client = *state, .shape_dims = two_three, .shape_num_dims = 2,
            .shape_element_type = f32);
    b = CALL(Client_CreateErrorBuffer, .client = *state,
             .error_code = PJRT_Error_Code_DATA_LOSS,
             .error_message = "a cable", .error_message_size = 7,
             .shape_dims = large, .shape_num_dims = 1,
             .shape_element_type = f32)
            .buffer;
    REFUSED(DATA_LOSS, "a cable", Buffer_ToHostBuffer, .src = b, .dst = to,
            .dst_size = 1);
    REFUSED(DATA_LOSS, "a cable", Buffer_UnsafePointer, .buffer = b);
    REFUSED(DATA_LOSS, "a cable", Buffer_Bitcast, .buffer = b,
            .element_type = PJRT_Buffer_Type_S32, .dims = large, .num_dims = 1);
    free_buffer(b);
}

/* ---- transfers piece by piece */

static PJRT_AsyncHostToDeviceTransferManager *begin(PJRT_Client *client)
{
    PJRT_ShapeSpec specs[] = {
        {.struct_size = sizeof specs[0],
         .dims = two_three,
         .num_dims = 2,
         .element_type = f32},
        {.struct_size = sizeof specs[0], .element_type = f32}};
    PJRT_Memory *const *memories =
        CALL(Client_AddressableMemories, .client = client).addressable_memories;

    return CALL(Client_CreateBuffersForAsyncHostToDevice, .client = client,
                .shape_specs = specs, .num_shape_specs = 2,
                .memory = memories[0])
        .transfer_manager;
}

static void transfers_keep_to_their_arrays(void **state)
{
    static const int64_t parts[][2] = {
        {-1, 1}, {0, 25}, {24, 1}, {0, -1}, {INT64_MAX, INT64_MAX}};
    PJRT_AsyncHostToDeviceTransferManager *m = begin(*state);
    PJRT_Buffer *b, *other;
    float to[6];

#define SEND(...)                                                              \
    AsyncHostToDeviceTransferManager_TransferData,                             \
        .transfer_manager = m, .data = numbers, __VA_ARGS__
#define OF(name, index)                                                        \
    AsyncHostToDeviceTransferManager_##name, .transfer_manager = m,            \
                                             .buffer_index = index
    for (int i = -1; i < 3; i += 3) {
        REFUSED(INVALID_ARGUMENT, "no buffer", OF(BufferSize, i));
        REFUSED(INVALID_ARGUMENT, "no buffer", OF(RetrieveBuffer, i));
        REFUSED(INVALID_ARGUMENT, "no buffer", OF(SetBufferError, i));
        REFUSED(INVALID_ARGUMENT, "no buffer", OF(TransferLiteral, i));
        REFUSED(INVALID_ARGUMENT, "no buffer", SEND(.buffer_index = i));
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        REFUSED(INVALID_ARGUMENT, "expected a part",
                SEND(.offset = parts[i][0], .transfer_size = parts[i][1]));
    b = CALL(OF(RetrieveBuffer, 0)).buffer_out;
    REFUSED(FAILED_PRECONDITION, "fetched before", OF(RetrieveBuffer, 0));
    CALL(SEND(.transfer_size = 24, .is_last_transfer = true));
    read_buffer(b, to, sizeof to);
    assert_memory_equal(to, numbers, sizeof to);
    REFUSED(FAILED_PRECONDITION, "sent before", SEND(.transfer_size = 1));
    assert_int_equal(CALL(OF(BufferSize, 0)).buffer_size, 24);
    REFUSED(FAILED_PRECONDITION, "sent before", OF(SetBufferError, 0),
            .error_code = PJRT_Error_Code_ABORTED, .error_message = "no",
            .error_message_size = 2);
    /* The other one never comes. */
    other = CALL(OF(RetrieveBuffer, 1)).buffer_out;
    CALL(AsyncHostToDeviceTransferManager_Destroy, .transfer_manager = m);
    REFUSED(CANCELLED, "given up", Buffer_ToHostBuffer, .src = other, .dst = to,
            .dst_size = 4);
    free_buffer(other);
    free_buffer(b);
}

typedef struct sender {
    PJRT_AsyncHostToDeviceTransferManager *m;
    bool was_last;
} sender;

static void *send_all(void *data)
{
    sender *s = data;
    PJRT_Error *error = TRY(AsyncHostToDeviceTransferManager_TransferData,
                            .transfer_manager = s->m, .data = numbers,
                            .transfer_size = 24, .is_last_transfer = true);

    s->was_last = !error;
    if (error)
        drop_error(error);
    return NULL;
}

static void one_of_many_ends_a_transfer(void **state)
{
    enum { THREADS = 4, ROUNDS = 50 };

    for (int n = 0; n < ROUNDS; n++) {
        PJRT_AsyncHostToDeviceTransferManager *m = begin(*state);
        PJRT_Buffer *b = CALL(OF(RetrieveBuffer, 0)).buffer_out;
        sender senders[THREADS];
        pthread_t threads[THREADS];
        float to[6];
        int ends = 0;
        for (int i = 0; i < THREADS; i++) {
            senders[i] = (sender){.m = m};
            assert_int_equal(
                pthread_create(&threads[i], NULL, send_all, &senders[i]), 0);
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
            ends += senders[i].was_last;
        }
        assert_int_equal(ends, 1);
        read_buffer(b, to, sizeof to);
        assert_memory_equal(to, numbers, sizeof to);
        free_buffer(b);
        CALL(AsyncHostToDeviceTransferManager_Destroy, .transfer_manager = m);
    }
}

static void a_transfer_may_fail(void **state)
{
    PJRT_AsyncHostToDeviceTransferManager *m = begin(*state);
    PJRT_Buffer *b = CALL(OF(RetrieveBuffer, 0)).buffer_out;
    float to[6];

    REFUSED(INVALID_ARGUMENT, "code of an error", OF(SetBufferError, 0));
    CALL(OF(SetBufferError, 0), .error_code = PJRT_Error_Code_DATA_LOSS,
         .error_message = "a cable", .error_message_size = 7);
    REFUSED(DATA_LOSS, "a cable", Buffer_ToHostBuffer, .src = b, .dst = to,
            .dst_size = sizeof to);
    REFUSED(DATA_LOSS, "a cable", Buffer_ToHostBuffer, .src = b, .dst = to,
            .dst_size = sizeof to);
    free_buffer(b);
    CALL(AsyncHostToDeviceTransferManager_Destroy, .transfer_manager = m);
}

/* ---- events */

static void *await(void *event)
{
    return TRY(Event_Await, .event = event);
}

static void note(PJRT_Error *error, void *to)
{
    *(PJRT_Error **)to = error;
}

static void events_happen_once_and_for_all_who_wait(void **state)
{
    enum { THREADS = 8 };
    PJRT_Event *event = CALL(Event_Create).event;
    PJRT_Error *noted[2] = {NULL, NULL};
    pthread_t threads[THREADS];
    void *error;

    (void)state;
    assert_false(CALL(Event_IsReady, .event = event).is_ready);
    REFUSED(FAILED_PRECONDITION, "has happened", Event_Error, .event = event);
    CALL(Event_OnReady, .event = event, .callback = note,
         .user_arg = &noted[0]);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, await, event), 0);
    CALL(Event_Set, .event = event, .error_code = PJRT_Error_Code_ABORTED,
         .error_message = "a reason", .error_message_size = 8);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &error);
        was_refused(PJRT_Error_Code_ABORTED, "a reason", error, __FILE__,
                    __LINE__);
    }
    REFUSED(FAILED_PRECONDITION, "nobody has set", Event_Set, .event = event);
    CALL(Event_OnReady, .event = event, .callback = note,
         .user_arg = &noted[1]);
    for (int i = 0; i < 2; i++)
        was_refused(PJRT_Error_Code_ABORTED, "a reason", noted[i], __FILE__,
                    __LINE__);
    REFUSED(ABORTED, "a reason", Event_Error, .event = event);
    CALL(Event_Destroy, .event = event);
}

static void *set(void *event)
{
    PJRT_Error *error = TRY(Event_Set, .event = event);

    if (error)
        drop_error(error);
    return error ? event : NULL;
}

static void one_of_many_sets_an_event(void **state)
{
    enum { THREADS = 4, ROUNDS = 50 };

    (void)state;
    for (int n = 0; n < ROUNDS; n++) {
        PJRT_Event *event = CALL(Event_Create).event;
        pthread_t threads[THREADS];
        int refused = 0;
        void *error;
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, set, event), 0);
        for (int i = 0; i < THREADS; i++) {
            pthread_join(threads[i], &error);
            refused += error != NULL;
        }
        assert_int_equal(refused, THREADS - 1);
        CALL(Event_Await, .event = event);
        CALL(Event_Destroy, .event = event);
    }
}

static void an_event_that_nobody_can_set_is_given_up(void **state)
{
    PJRT_Event *event = CALL(Event_Create).event;
    PJRT_Error *noted = NULL;

    (void)state;
    CALL(Event_OnReady, .event = event, .callback = note, .user_arg = &noted);
    CALL(Event_Destroy, .event = event);
    was_refused(PJRT_Error_Code_CANCELLED, "given up", noted, __FILE__,
                __LINE__);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_that_are_none_are_refused),
        cmocka_unit_test(options_may_be_any_bytes),
        cmocka_unit_test(programs_say_on_which_devices_they_run),
        cmocka_unit_test(executables_that_are_damaged_are_refused),
        cmocka_unit_test(topologies_that_are_none_are_refused),
        cmocka_unit_test(shapes_that_are_none_are_refused),
        cmocka_unit_test(empty_arrays_may_be_long),
        cmocka_unit_test(parts_must_be_inside),
        cmocka_unit_test(arrays_may_stand_for_errors),
        cmocka_unit_test(transfers_keep_to_their_arrays),
        cmocka_unit_test(a_transfer_may_fail),
        cmocka_unit_test(one_of_many_ends_a_transfer),
        cmocka_unit_test(events_happen_once_and_for_all_who_wait),
        cmocka_unit_test(one_of_many_sets_an_event),
        cmocka_unit_test(an_event_that_nobody_can_set_is_given_up),
    };

    return cmocka_run_group_tests(tests, make_client, end_client);
}
