/* test_pjrt_threads.c - what several threads of a host do with the plugin at
 * once, and what is left of many calls. */
#include "tests/pjrt/calls.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { THREADS = 8, ELEMENTS = 1 << 17 };

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SLOW = 4, COUNTS_MEMORY = 0 }; /* what is freed is kept for a while */
#else
enum { SLOW = 1, COUNTS_MEMORY = 1 };
#endif

/* Large enough for a second thread. */
static const char large[] =
    "module @jit_large {\n"
    "  func.func public @main(%arg0: tensor<131072xf32>) -> tensor<131072xf32> {\n"
    "    %0 = stablehlo.multiply %arg0, %arg0 : tensor<131072xf32>\n"
    "    %1 = stablehlo.add %0, %arg0 : tensor<131072xf32>\n"
    "    return %1 : tensor<131072xf32>\n"
    "  }\n"
    "}\n";
/* x * factor. */
static const char small[] =
    "module @jit_small {\n"
    "  func.func public @main(%%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
    "    %%0 = stablehlo.constant dense<%d.0> : tensor<4xf32>\n"
    "    %%1 = stablehlo.multiply %%arg0, %%0 : tensor<4xf32>\n"
    "    return %%1 : tensor<4xf32>\n"
    "  }\n"
    "}\n";

static const float four[] = {1, 2, 3, 4};

static PJRT_Buffer *execute(PJRT_LoadedExecutable *executable, PJRT_Buffer *arg)
{
    PJRT_Buffer *result;
    PJRT_Event *done;

    MUST(!run_one(executable, arg, &result, &done));
    MUST(!TRY(Event_Await, .event = done));
    MUST(!TRY(Event_Destroy, .event = done));
    return result;
}

static void get(PJRT_Buffer *buffer, float *to, size_t count)
{
    MUST(!TRY(Buffer_ToHostBuffer, .src = buffer, .dst = to,
              .dst_size = count * sizeof *to));
    MUST(!TRY(Buffer_Destroy, .buffer = buffer));
}

/* ---- at once */

typedef struct shared {
    PJRT_Client *client;
    PJRT_LoadedExecutable *large, *small;
    PJRT_Buffer *numbers, *four;
    atomic_int next;
} shared;

/* The same executables on the same buffers, as everybody. */
static void run_shared(shared *s)
{
    float *found = malloc(ELEMENTS * sizeof *found), few[4];

    get(execute(s->large, s->numbers), found, ELEMENTS);
    for (int i = 0; i < ELEMENTS; i++) {
        float x = (float)(i % 1000);
        MUST(found[i] == x * x + x);
    }
    free(found);
    get(execute(s->small, s->four), few, 4);
    MUST(few[0] == 2 && few[3] == 8);
}

/* An executable and a buffer of one's own, which come and go. */
static void run_own(shared *s, int factor)
{
    char module[sizeof small + 16];
    int size = snprintf(module, sizeof module, small, factor);
    PJRT_Program program = program_of(module, (size_t)size);
    PJRT_Client_Compile_Args args =
        ARGS(Client_Compile, .client = s->client, .program = &program);
    PJRT_Buffer *b = put_floats(s->client, four, 4);
    float found[4];

    MUST(!GetPjrtApi()->PJRT_Client_Compile(&args));
    get(execute(args.executable, b), found, 4);
    MUST(found[1] == 2 * (float)factor);
    if (factor % 2)
        MUST(!TRY(LoadedExecutable_Delete, .executable = args.executable));
    MUST(!TRY(LoadedExecutable_Destroy, .executable = args.executable));
    MUST(!TRY(Buffer_Delete, .buffer = b));
    MUST(!TRY(Buffer_Destroy, .buffer = b));
}

/* What others ask about what is running. */
static void ask(shared *s)
{
    PJRT_LoadedExecutable_GetExecutable_Args got =
        ARGS(LoadedExecutable_GetExecutable, .loaded_executable = s->large);
    PJRT_Executable_Serialize_Args kept;
    PJRT_Device *device;

    MUST(!GetPjrtApi()->PJRT_LoadedExecutable_GetExecutable(&got));
    MUST(!TRY(Executable_GetCostAnalysis, .executable = got.executable));
    MUST(!TRY(Executable_GetCompiledMemoryStats, .executable = got.executable));
    kept = ARGS(Executable_Serialize, .executable = got.executable);
    MUST(!GetPjrtApi()->PJRT_Executable_Serialize(&kept));
    kept.serialized_executable_deleter(kept.serialized_executable);
    PJRT_Program program = {.struct_size = sizeof program};
    MUST(!TRY(Executable_OptimizedProgram, .executable = got.executable,
              .program = &program));
    MUST(!TRY(Executable_Destroy, .executable = got.executable));
    PJRT_Client_Devices_Args devices =
        ARGS(Client_Devices, .client = s->client);
    MUST(!GetPjrtApi()->PJRT_Client_Devices(&devices));
    device = devices.devices[0];
    MUST(!TRY(Device_MemoryStats, .device = device));
    MUST(!TRY(Buffer_IncreaseExternalReferenceCount, .buffer = s->four));
    MUST(!TRY(Buffer_DecreaseExternalReferenceCount, .buffer = s->four));
    PJRT_Buffer *wrong[] = {s->four};
    PJRT_Buffer *const *lists[] = {wrong};
    PJRT_Buffer **none[] = {NULL};
    PJRT_Error *error = TRY(LoadedExecutable_Execute, .executable = s->large,
                            .argument_lists = lists, .num_devices = 1,
                            .num_args = 1, .output_lists = none);
    MUST(error);
    drop_error(error);
}

static void *work(void *data)
{
    enum { ROUNDS = 960 };
    shared *s = data;
    int i;

    while ((i = atomic_fetch_add(&s->next, 1)) < ROUNDS / SLOW * 3) {
        if (i % 3 == 0)
            run_shared(s);
        else if (i % 3 == 1)
            run_own(s, i % 50 + 1);
        else
            ask(s);
    }
    return NULL;
}

static void threads_do_not_meet(void **state)
{
    static float numbers[ELEMENTS];
    char module[sizeof small + 16];
    shared s = {.client = new_client()};
    pthread_t threads[THREADS];

    (void)state;
    for (int i = 0; i < ELEMENTS; i++)
        numbers[i] = (float)(i % 1000);
    snprintf(module, sizeof module, small, 2);
    s.large = compiled(s.client, large);
    s.small = compiled(s.client, module);
    s.numbers = put_floats(s.client, numbers, ELEMENTS);
    s.four = put_floats(s.client, four, 4);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &s), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    free_executable(s.large);
    free_executable(s.small);
    free_buffer(s.numbers);
    free_buffer(s.four);
    free_client(s.client);
}

/* ---- donated by several */

typedef struct race {
    PJRT_LoadedExecutable *executable;
    PJRT_Buffer *buffer;
    atomic_int runs;
} race;

static void *donate(void *data)
{
    race *r = data;
    PJRT_Buffer *result;
    PJRT_Error *error = run_one(r->executable, r->buffer, &result, NULL);

    if (error) {
        drop_error(error);
        return NULL;
    }
    atomic_fetch_add(&r->runs, 1);
    MUST(!TRY(Buffer_Destroy, .buffer = result));
    return NULL;
}

static void a_buffer_is_donated_once(void **state)
{
    enum { ROUNDS = 200 };
    PJRT_Client *client = new_client();
    race r = {.executable = compiled(
                  client,
                  "module @jit_f {\n"
                  "func.func public @main(%arg0: tensor<4xf32>"
                  " {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {\n"
                  "%0 = stablehlo.negate %arg0 : tensor<4xf32>\n"
                  "return %0 : tensor<4xf32>\n}\n}\n")};
    pthread_t threads[4];

    (void)state;
    for (int n = 0; n < ROUNDS / SLOW; n++) {
        r.buffer = put_floats(client, four, 4);
        atomic_store(&r.runs, 0);
        for (int i = 0; i < 4; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, donate, &r), 0);
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
        assert_int_equal(r.runs, 1);
        free_buffer(r.buffer);
    }
    free_executable(r.executable);
    free_client(client);
}

/* ---- what is left */

static int count_entries(const char *folder)
{
    DIR *entries = opendir(folder);
    int count = 0;

    assert_non_null(entries);
    while (readdir(entries))
        count++;
    closedir(entries);
    return count - 2;
}

static int count_threads(void)
{
    return count_entries("/proc/self/task");
}

static void executables_share_a_helper(void **state)
{
    enum { MANY = 60 };
    static float numbers[ELEMENTS];
    PJRT_Client *client = new_client();
    PJRT_Buffer *b = put_floats(client, numbers, ELEMENTS);
    PJRT_LoadedExecutable *all[MANY];
    int before = count_threads();

    (void)state;
    for (int i = 0; i < MANY; i++) {
        all[i] = compiled(client, large);
        free_buffer(execute(all[i], b));
    }
    assert_in_range(count_threads(), before, before + 1);
    for (int i = 0; i < MANY; i++)
        free_executable(all[i]);
    free_buffer(b);
    free_client(client);
}

static long resident(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long all, pages;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &all, &pages), 2);
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE) / 1024;
}

/* (So does valgrind.) */
static bool counts_memory(void)
{
    const char *preloaded = getenv("LD_PRELOAD");

    return COUNTS_MEMORY && !(preloaded && strstr(preloaded, "vgpreload"));
}

/* What is left by a call, or by a compilation, takes more than the
 * system's allocator may keep for itself: 16 bytes of each of 10^5, 160
 * of each of 10^4. */
enum { CALLS = 100000, COMPILATIONS = 10000, FIRST = 1000, KEPT = 1500 };

/* `once` is done so often, with numbers from 0. */
static void leaves_nothing(int times, void (*once)(void *, int), void *data)
{
    int threads = 0, files = 0;
    long before = 0;

    times /= counts_memory() ? 1 : 5;
    for (int i = 0; i < times; i++) {
        once(data, i);
        if (i == FIRST) {
            before = resident();
            threads = count_threads();
            files = count_entries("/proc/self/fd");
        }
    }
    assert_int_equal(count_threads(), threads);
    assert_int_equal(count_entries("/proc/self/fd"), files);
    if (counts_memory())
        assert_in_range(resident(), 0, before + KEPT);
}

typedef struct many {
    PJRT_Client *client;
    PJRT_LoadedExecutable *executable;
    PJRT_Buffer *weights, *numbers;
} many;

static void call_once(void *data, int i)
{
    many *m = data;
    PJRT_Buffer *b = put_floats(m->client, four, 4);
    float found[4];

    (void)i;
    get(execute(m->executable, b), found, 4);
    MUST(found[3] == 12);
    free_buffer(b);
}

static void many_calls_leave_nothing(void **state)
{
    many m = {.client = new_client()};
    char module[sizeof small + 16];

    (void)state;
    snprintf(module, sizeof module, small, 3);
    m.executable = compiled(m.client, module);
    leaves_nothing(CALLS, call_once, &m);
    free_executable(m.executable);
    free_client(m.client);
}

/* Weights that are given up for new ones, and a loss. */
static const char step[] =
    "module @jit_step {\n"
    "  func.func public @main(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : "
    "i32},"
    " %arg1: tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) {\n"
    "    %c = stablehlo.constant dense<0.5> : tensor<4xf32>\n"
    "    %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "    %0 = stablehlo.subtract %arg0, %arg1 : tensor<4xf32>\n"
    "    %1 = stablehlo.multiply %0, %c : tensor<4xf32>\n"
    "    %2 = stablehlo.subtract %arg0, %1 : tensor<4xf32>\n"
    "    %3 = stablehlo.multiply %0, %0 : tensor<4xf32>\n"
    "    %4 = stablehlo.reduce(%3 init: %z) applies stablehlo.add across"
    " dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>\n"
    "    return %2, %4 : tensor<4xf32>, tensor<f32>\n"
    "  }\n"
    "}\n";

static void step_once(void *data, int i)
{
    many *m = data;
    PJRT_Buffer *args[] = {m->weights, m->numbers}, *results[2];
    PJRT_Buffer *const *lists[] = {args};
    PJRT_Buffer **result_lists[] = {results};
    float loss;

    MUST(!TRY(LoadedExecutable_Execute, .executable = m->executable,
              .argument_lists = lists, .num_devices = 1, .num_args = 2,
              .output_lists = result_lists));
    free_buffer(m->weights);
    m->weights = results[0];
    get(results[1], &loss, 1);
    MUST(i < 200 || loss < 1e-9f);
}

static void many_steps_leave_nothing(void **state)
{
    static const float zeros[4];
    many m = {.client = new_client()};
    PJRT_Device *device = CALL(Client_Devices, .client = m.client).devices[0];

    (void)state;
    m.executable = compiled(m.client, step);
    m.weights = put_floats(m.client, zeros, 4);
    m.numbers = put_floats(m.client, four, 4);
    leaves_nothing(CALLS, step_once, &m);
    assert_int_equal(CALL(Device_MemoryStats, .device = device).bytes_in_use,
                     32);
    free_buffer(m.weights);
    free_buffer(m.numbers);
    free_executable(m.executable);
    free_client(m.client);
}

static void compile_once(void *data, int i)
{
    many *m = data;
    char module[sizeof small + 16];

    snprintf(module, sizeof module, small, i);
    free_executable(compiled(m->client, module));
}

static void many_compilations_leave_nothing(void **state)
{
    many m = {.client = new_client()};

    (void)state;
    leaves_nothing(COMPILATIONS, compile_once, &m);
    free_client(m.client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_meet),
        cmocka_unit_test(a_buffer_is_donated_once),
        cmocka_unit_test(executables_share_a_helper),
        cmocka_unit_test(many_calls_leave_nothing),
        cmocka_unit_test(many_steps_leave_nothing),
        cmocka_unit_test(many_compilations_leave_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
