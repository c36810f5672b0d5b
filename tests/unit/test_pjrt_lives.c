/* test_pjrt_lives.c - what a host destroys while something else
 * still needs it. */
#include "tests/pjrt/calls.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

/* ffi_python.c */
const char *jaxvet_ffi_register(const char *name, int api_version,
                                void *const *stages);

static const char add[] =
    "module @jit_add {\n"
    "  func.func public @main(%arg0: tensor<6xf32>) -> tensor<6xf32> {\n"
    "    %0 = stablehlo.add %arg0, %arg0 : tensor<6xf32>\n"
    "    return %0 : tensor<6xf32>\n"
    "  }\n"
    "}\n";
static const float numbers[6] = {1, 2, 3, 4, 5, 6};
static const int64_t six[] = {6};
static const PJRT_Buffer_Type f32 = PJRT_Buffer_Type_F32;

static PJRT_Buffer *run(PJRT_LoadedExecutable *executable, PJRT_Buffer *arg)
{
    PJRT_Buffer *result;

    went_well(run_one(executable, arg, &result, NULL));
    return result;
}

/* ---- the client goes first */

static void buffers_outlive_their_client(void **state)
{
    PJRT_Client *client = new_client();
    PJRT_Buffer *a = new_buffer(client, f32, numbers, 1, six), *b;
    PJRT_Device *device = CALL(Buffer_Device, .buffer = a).device;
    float to[6] = {0};

    (void)state;
    free_client(client);
    assert_ptr_equal(CALL(Buffer_Device, .buffer = a).device, device);
    b = CALL(Buffer_CopyToDevice, .buffer = a, .dst_device = device).dst_buffer;
    assert_int_equal(CALL(Device_MemoryStats, .device = device).bytes_in_use,
                     48);
    free_buffer(a);
    read_buffer(b, to, sizeof to);
    assert_true(to[5] == 6);
    free_buffer(b);
}

static void executables_outlive_their_client(void **state)
{
    PJRT_Client *client = new_client();
    PJRT_Buffer *a = new_buffer(client, f32, numbers, 1, six), *b;
    PJRT_LoadedExecutable *x = compiled(client, add);
    float to[6] = {0};

    (void)state;
    free_client(client);
    b = run(x, a);
    free_buffer(a);
    free_executable(x);
    read_buffer(b, to, sizeof to);
    assert_true(to[5] == 12);
    free_buffer(b);
}

static void transfers_outlive_their_client(void **state)
{
    PJRT_Client *client = new_client();
    PJRT_ShapeSpec spec = {.struct_size = sizeof spec,
                           .dims = six,
                           .num_dims = 1,
                           .element_type = f32};
    PJRT_Memory *const *memories =
        CALL(Client_AddressableMemories, .client = client).addressable_memories;
    PJRT_AsyncHostToDeviceTransferManager *m =
        CALL(Client_CreateBuffersForAsyncHostToDevice, .client = client,
             .shape_specs = &spec, .num_shape_specs = 1, .memory = memories[0])
            .transfer_manager;
    PJRT_Buffer *b = CALL(AsyncHostToDeviceTransferManager_RetrieveBuffer,
                          .transfer_manager = m)
                         .buffer_out;
    float to[6] = {0};

    (void)state;
    free_client(client);
    CALL(AsyncHostToDeviceTransferManager_TransferData, .transfer_manager = m,
         .data = numbers, .transfer_size = sizeof numbers,
         .is_last_transfer = true);
    CALL(AsyncHostToDeviceTransferManager_Device, .transfer_manager = m);
    CALL(AsyncHostToDeviceTransferManager_Destroy, .transfer_manager = m);
    read_buffer(b, to, sizeof to);
    assert_true(to[5] == 6);
    free_buffer(b);
}

/* Bytes that are promised stay, whatever becomes of their buffer
 * and its client. */
static void promises_outlive_their_client(void **state)
{
    PJRT_Client *client = new_client();
    PJRT_Buffer *b = new_buffer(client, f32, numbers, 1, six);
    PJRT_Buffer_CopyRawToHostFuture_Args promise =
        CALL(Buffer_CopyRawToHostFuture, .buffer = b, .transfer_size = 24);
    float to[6] = {0};
    PJRT_Buffer_CopyRawToHostFuture_Callback_Args there = {
        .struct_size = sizeof there,
        .callback_data = promise.callback_data,
        .dst = to};

    (void)state;
    free_buffer(b);
    free_client(client);
    promise.future_ready_callback(&there);
    CALL(Event_Await, .event = promise.event);
    CALL(Event_Destroy, .event = promise.event);
    assert_true(to[5] == 6);
}

/* ---- an executable goes while it runs */

/* A custom call that waits: the executable is destroyed meanwhile. */
static atomic_int steps;

static void wait_in_call(void *out, const void **in)
{
    atomic_store(&steps, 1);
    while (atomic_load(&steps) < 2)
        sched_yield();
    memcpy(out, in[0], sizeof numbers);
}

typedef struct job {
    PJRT_LoadedExecutable *executable;
    PJRT_Buffer *arg;
} job;

static void *run_job(void *data)
{
    job *j = data;

    return run(j->executable, j->arg);
}

static void executables_may_be_destroyed_while_they_run(void **state)
{
    PJRT_Client *client = new_client();
    job j = {.arg = new_buffer(client, f32, numbers, 1, six)};
    void *stages[4] = {NULL, NULL, NULL, (void *)(uintptr_t)wait_in_call};
    pthread_t thread;
    void *result;
    float to[6] = {0};

    (void)state;
    assert_null(jaxvet_ffi_register("wait_in_call", 0, stages));
    j.executable = compiled(
        client,
        "module @jit_f {\n"
        "func.func public @main(%arg0: tensor<6xf32>) -> tensor<6xf32> {\n"
        "%0 = stablehlo.custom_call @wait_in_call(%arg0) {api_version = 1 : "
        "i32} :"
        " (tensor<6xf32>) -> tensor<6xf32>\n"
        "return %0 : tensor<6xf32>\n}\n}\n");
    atomic_store(&steps, 0);
    assert_int_equal(pthread_create(&thread, NULL, run_job, &j), 0);
    while (!atomic_load(&steps))
        sched_yield();
    free_executable(j.executable);
    free_buffer(j.arg);
    free_client(client);
    atomic_store(&steps, 2);
    pthread_join(thread, &result);
    read_buffer(result, to, sizeof to);
    assert_true(to[5] == 6);
    free_buffer(result);
}

/* ---- an event goes while it happens */

typedef struct ended {
    PJRT_Event *event;
    PJRT_Error *error;
} ended;

static void end(PJRT_Error *error, void *to)
{
    ended *e = to;

    e->error = error;
    CALL(Event_Destroy, .event = e->event);
}

static void note(PJRT_Error *error, void *to)
{
    *(PJRT_Error **)to = error;
}

static void who_is_told_may_end_the_event(void **state)
{
    ended first = {.event = CALL(Event_Create).event};
    PJRT_Error *second = NULL;

    (void)state;
    CALL(Event_OnReady, .event = first.event, .callback = end,
         .user_arg = &first);
    CALL(Event_OnReady, .event = first.event, .callback = note,
         .user_arg = &second);
    CALL(Event_Set, .event = first.event, .error_code = PJRT_Error_Code_ABORTED,
         .error_message = "a reason", .error_message_size = 8);
    was_refused(PJRT_Error_Code_ABORTED, "a reason", first.error, __FILE__,
                __LINE__);
    was_refused(PJRT_Error_Code_ABORTED, "a reason", second, __FILE__,
                __LINE__);
}

/* ---- what is asked by many */

enum { THREADS = 8 };

static void *ask(void *data)
{
    PJRT_Executable *x = data;
    char room[4096];
    PJRT_Program text = {.struct_size = sizeof text};
    PJRT_Executable_GetCostAnalysis_Args costs =
        ARGS(Executable_GetCostAnalysis, .executable = x);
    bool ok;

    ok = !GetPjrtApi()->PJRT_Executable_GetCostAnalysis(&costs) &&
         costs.num_properties == 3 && costs.properties[0].float_value == 6;
    ok &=
        !TRY(Executable_OptimizedProgram, .executable = x, .program = &text) &&
        text.code_size < sizeof room;
    text.code = room;
    ok &=
        !TRY(Executable_OptimizedProgram, .executable = x, .program = &text) &&
        memmem(room, text.code_size, "stablehlo.add", 13) != NULL;
    return ok ? data : NULL;
}

static void one_executable_answers_many_threads(void **state)
{
    enum { ROUNDS = 20 };
    PJRT_Client *client = new_client();
    PJRT_LoadedExecutable *x = compiled(client, add);

    (void)state;
    for (int n = 0; n < ROUNDS; n++) {
        PJRT_Executable *e =
            CALL(LoadedExecutable_GetExecutable, .loaded_executable = x)
                .executable;
        pthread_t threads[THREADS];
        void *ok;
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, ask, e), 0);
        for (int i = 0; i < THREADS; i++) {
            pthread_join(threads[i], &ok);
            assert_non_null(ok);
        }
        CALL(Executable_Destroy, .executable = e);
    }
    free_executable(x);
    free_client(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_outlive_their_client),
        cmocka_unit_test(executables_outlive_their_client),
        cmocka_unit_test(transfers_outlive_their_client),
        cmocka_unit_test(promises_outlive_their_client),
        cmocka_unit_test(executables_may_be_destroyed_while_they_run),
        cmocka_unit_test(who_is_told_may_end_the_event),
        cmocka_unit_test(one_executable_answers_many_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
