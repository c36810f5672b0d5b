/* test_pjrt_races.c - what one thread of a host takes away, asks too much of or
 * has yet to send, while others use it. */
#include "tests/pjrt/calls.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

/* ffi_python.c */
const char *jaxvet_ffi_register(const char *name, int api_version,
                                void *const *stages);

enum { THREADS = 8, ELEMENTS = 1 << 15 };

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SLOW = 4 };
#else
enum { SLOW = 1 };
#endif

/* -x, where x lies. */
static const char negate[] =
    "module @jit_negate {\n"
    "  func.func public @main(%arg0: tensor<32768xf32>"
    " {tf.aliasing_output = 0 : i32}) -> tensor<32768xf32> {\n"
    "    %0 = stablehlo.negate %arg0 : tensor<32768xf32>\n"
    "    return %0 : tensor<32768xf32>\n"
    "  }\n"
    "}\n";
/* x + 1, by a function of ours. */
static const char one_more[] =
    "module @jit_one_more {\n"
    "  func.func public @main(%arg0: tensor<32768xf32>) -> tensor<32768xf32> {\n"
    "    %0 = stablehlo.custom_call @one_more(%arg0) {api_version = 1 : i32} :"
    " (tensor<32768xf32>) -> tensor<32768xf32>\n"
    "    return %0 : tensor<32768xf32>\n"
    "  }\n"
    "}\n";

static float numbers[ELEMENTS];
static const int64_t elements[] = {ELEMENTS};

static void call_one_more(void *out, const void **in)
{
    const float *from = in[0];
    float *to = out;

    for (int i = 0; i < ELEMENTS; i++)
        to[i] = from[i] + 1;
}

static int set_up(void **state)
{
    void *stages[4] = {NULL, NULL, NULL, (void *)(uintptr_t)call_one_more};

    (void)state;
    for (int i = 0; i < ELEMENTS; i++)
        numbers[i] = (float)(i % 1000 + 1);
    assert_null(jaxvet_ffi_register("one_more", 0, stages));
    return 0;
}

/* NULL where it fails. */
static PJRT_Buffer *execute(PJRT_LoadedExecutable *executable, PJRT_Buffer *arg)
{
    PJRT_Buffer *result;
    PJRT_Error *error = run_one(executable, arg, &result, NULL);

    if (error)
        drop_error(error);
    return result;
}

static PJRT_Buffer *put(PJRT_Client *client)
{
    return put_floats(client, numbers, ELEMENTS);
}

/* Whether there was something to read: then every element is factor *
 * number + term. */
static bool holds(PJRT_Buffer *b, float factor, float term)
{
    float *found = malloc(sizeof numbers);
    PJRT_Error *error = TRY(Buffer_ToHostBuffer, .src = b, .dst = found,
                            .dst_size = sizeof numbers);

    if (error)
        drop_error(error);
    for (int i = 0; !error && i < ELEMENTS; i++)
        MUST(found[i] == factor * numbers[i] + term);
    free(found);
    return !error;
}

static void destroy(PJRT_Buffer *b)
{
    MUST(!TRY(Buffer_Destroy, .buffer = b));
}

/* `count` threads run `work` with `data`, and end. */
static void run_threads(int count, void *(*work)(void *), void *data)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < count; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, data), 0);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

/* ---- taken away */

typedef struct taken {
    PJRT_Client *client;
    PJRT_LoadedExecutable *negate, *one_more;
    PJRT_Buffer *buffer;
    atomic_int turn, readers;
    bool is_deleted; /* not donated */
} taken;

static void take_away(taken *t)
{
    PJRT_Buffer *result;

    for (int i = 0; i < 100 && !atomic_load(&t->readers); i++)
        sched_yield();
    if (t->is_deleted) {
        MUST(!TRY(Buffer_Delete, .buffer = t->buffer));
        return;
    }
    result = execute(t->negate, t->buffer);
    MUST(result && holds(result, -1, 0));
    destroy(result);
}

/* Until it is gone, everybody finds what it was; nobody ever what it became. */
static void look(taken *t, int how)
{
    PJRT_Client_Devices_Args devices =
        ARGS(Client_Devices, .client = t->client);
    PJRT_Buffer_CopyToDevice_Args copy =
        ARGS(Buffer_CopyToDevice, .buffer = t->buffer);
    PJRT_Buffer *found = NULL;
    PJRT_Error *error;

    if (how % 3 == 0) {
        while (holds(t->buffer, 1, 0))
            atomic_fetch_add(&t->readers, 1);
        return;
    }
    MUST(!GetPjrtApi()->PJRT_Client_Devices(&devices));
    copy.dst_device = devices.devices[0];
    do {
        if (how % 3 == 1) {
            found = execute(t->one_more, t->buffer);
        } else {
            error = GetPjrtApi()->PJRT_Buffer_CopyToDevice(&copy);
            found = error ? NULL : copy.dst_buffer;
            if (error)
                drop_error(error);
        }
        if (found) {
            atomic_fetch_add(&t->readers, 1);
            MUST(holds(found, 1, how % 3 == 1));
            destroy(found);
        }
    } while (found);
}

static void *take_or_look(void *data)
{
    taken *t = data;
    int turn = atomic_fetch_add(&t->turn, 1);

    if (turn == 0)
        take_away(t);
    else
        look(t, turn);
    return NULL;
}

static void what_is_taken_away_is_whole_until_then(void **state)
{
    enum { ROUNDS = 120 };
    taken t = {.client = new_client()};
    int readers = 0;

    (void)state;
    t.negate = compiled(t.client, negate);
    t.one_more = compiled(t.client, one_more);
    for (int n = 0; n < ROUNDS / SLOW; n++) {
        t.buffer = put(t.client);
        t.is_deleted = n % 3 == 0;
        atomic_store(&t.turn, 0);
        atomic_store(&t.readers, 0);
        run_threads(4, take_or_look, &t);
        readers += atomic_load(&t.readers) > 0;
        free_buffer(t.buffer);
    }
    assert_in_range(readers, 1, ROUNDS);
    free_executable(t.negate);
    free_executable(t.one_more);
    free_client(t.client);
}

/* A result that lies where its argument lay is given up in turn. */
static void *give_up_again(void *data)
{
    taken *t = data;

    for (int n = 0; n < 20 / SLOW + 1; n++) {
        PJRT_Buffer *b = put(t->client);
        for (int i = 0; i < 4; i++) {
            PJRT_Buffer *next = execute(t->negate, b);
            MUST(next && !holds(b, 1, 0));
            destroy(b);
            b = next;
        }
        MUST(holds(b, 1, 0));
        destroy(b);
    }
    return NULL;
}

static void threads_give_up_their_own(void **state)
{
    taken t = {.client = new_client()};

    (void)state;
    t.negate = compiled(t.client, negate);
    run_threads(THREADS, give_up_again, &t);
    free_executable(t.negate);
    free_client(t.client);
}

/* ---- yet to come */

typedef struct sent {
    PJRT_LoadedExecutable *one_more;
    PJRT_AsyncHostToDeviceTransferManager *manager;
    PJRT_Buffer *buffer;
    atomic_int turn, told;
} sent;

static void count_told(PJRT_Error *error, void *to)
{
    MUST(!error);
    atomic_fetch_add((atomic_int *)to, 1);
}

static void send(sent *s)
{
    enum { PARTS = 8, PART = sizeof numbers / PARTS };

    for (int i = PARTS; i-- > 0;) {
        MUST(!TRY(AsyncHostToDeviceTransferManager_TransferData,
                  .transfer_manager = s->manager,
                  .data = (const char *)numbers + i * PART, .offset = i * PART,
                  .transfer_size = PART, .is_last_transfer = i == 0));
        sched_yield();
    }
}

static void wait_for(sent *s, int how)
{
    PJRT_Buffer_ReadyEvent_Args ready =
        ARGS(Buffer_ReadyEvent, .buffer = s->buffer);
    PJRT_Buffer *found;

    MUST(!GetPjrtApi()->PJRT_Buffer_ReadyEvent(&ready));
    MUST(!TRY(Event_OnReady, .event = ready.event, .callback = count_told,
              .user_arg = &s->told));
    if (how % 3 == 0) {
        MUST(!TRY(Event_Await, .event = ready.event));
        MUST(atomic_load(&s->told) >= 0 && holds(s->buffer, 1, 0));
    } else if (how % 3 == 1) {
        found = execute(s->one_more, s->buffer);
        MUST(found && holds(found, 1, 1));
        destroy(found);
    } else {
        MUST(holds(s->buffer, 1, 0));
    }
    MUST(!TRY(Event_Destroy, .event = ready.event));
}

static void *send_or_wait(void *data)
{
    sent *s = data;
    int turn = atomic_fetch_add(&s->turn, 1);

    if (turn == 0)
        send(s);
    else
        wait_for(s, turn);
    return NULL;
}

static void what_is_sent_is_waited_for(void **state)
{
    enum { ROUNDS = 100, AT_ONCE = 5 };
    PJRT_Client *client = new_client();
    PJRT_ShapeSpec spec = {.struct_size = sizeof spec,
                           .dims = elements,
                           .num_dims = 1,
                           .element_type = PJRT_Buffer_Type_F32};
    PJRT_Memory *const *memories =
        CALL(Client_AddressableMemories, .client = client).addressable_memories;
    sent s = {.one_more = compiled(client, one_more)};

    (void)state;
    for (int n = 0; n < ROUNDS / SLOW; n++) {
        s.manager = CALL(Client_CreateBuffersForAsyncHostToDevice,
                         .client = client, .shape_specs = &spec,
                         .num_shape_specs = 1, .memory = memories[n % 3])
                        .transfer_manager;
        s.buffer = CALL(AsyncHostToDeviceTransferManager_RetrieveBuffer,
                        .transfer_manager = s.manager)
                       .buffer_out;
        atomic_store(&s.turn, 0);
        atomic_store(&s.told, 0);
        run_threads(AT_ONCE, send_or_wait, &s);
        assert_int_equal(s.told, AT_ONCE - 1);
        CALL(AsyncHostToDeviceTransferManager_Destroy,
             .transfer_manager = s.manager);
        free_buffer(s.buffer);
    }
    free_executable(s.one_more);
    free_client(client);
}

/* ---- kept and loaded */

typedef struct kept {
    PJRT_Client *client;
    const char *bytes;
    size_t size;
} kept;

static void *load(void *data)
{
    kept *k = data;

    for (int n = 0; n < 40 / SLOW; n++) {
        PJRT_Executable_DeserializeAndLoad_Args args =
            ARGS(Executable_DeserializeAndLoad, .client = k->client,
                 .serialized_executable = k->bytes,
                 .serialized_executable_size = k->size);
        PJRT_Buffer *b = put(k->client), *result;
        MUST(!GetPjrtApi()->PJRT_Executable_DeserializeAndLoad(&args));
        result = execute(args.loaded_executable, b);
        MUST(result && holds(result, 1, 1));
        MUST(!TRY(LoadedExecutable_Destroy,
                  .executable = args.loaded_executable));
        destroy(result);
        destroy(b);
    }
    return NULL;
}

static void what_is_kept_is_loaded_by_many(void **state)
{
    kept k = {.client = new_client()};
    PJRT_LoadedExecutable *x = compiled(k.client, one_more);
    PJRT_Executable *e =
        CALL(LoadedExecutable_GetExecutable, .loaded_executable = x).executable;
    PJRT_Executable_Serialize_Args written =
        CALL(Executable_Serialize, .executable = e);

    (void)state;
    k.bytes = written.serialized_bytes;
    k.size = written.serialized_bytes_size;
    run_threads(THREADS, load, &k);
    written.serialized_executable_deleter(written.serialized_executable);
    CALL(Executable_Destroy, .executable = e);
    free_executable(x);
    free_client(k.client);
}

/* ---- too much */

typedef struct limited {
    PJRT_Client *client;
    atomic_int turn, left;
} limited;

/* One in four asks for more than there is; what others ask for is there. */
static void *ask(void *data)
{
    limited *l = data;
    bool too_much = atomic_fetch_add(&l->turn, 1) % 4 == 0;

    for (int n = 0; too_much ? atomic_load(&l->left) > 0 : n < 40000 / SLOW;
         n++) {
        const int64_t huge[] = {n % 2 ? INT64_MAX / 4 - 64 : ELEMENTS * 16};
        PJRT_Client_CreateUninitializedBuffer_Args args =
            ARGS(Client_CreateUninitializedBuffer, .client = l->client,
                 .shape_element_type = PJRT_Buffer_Type_F32,
                 .shape_num_dims = 1, .shape_dims = too_much ? huge : elements);
        PJRT_Error *error =
            GetPjrtApi()->PJRT_Client_CreateUninitializedBuffer(&args);
        MUST(!error == !too_much);
        if (error)
            drop_error(error);
        else
            destroy(args.buffer);
    }
    atomic_fetch_sub(&l->left, !too_much);
    return NULL;
}

static void what_is_refused_takes_nothing_of_others(void **state)
{
    enum { AT_ONCE = 4 };
    static const char name[] = "memory_limit_bytes";
    PJRT_NamedValue limit = {.struct_size = sizeof limit,
                             .name = name,
                             .name_size = sizeof name - 1,
                             .type = PJRT_NamedValue_kInt64,
                             .int64_value = sizeof numbers * AT_ONCE,
                             .value_size = 1};
    limited l = {.client = CALL(Client_Create, .create_options = &limit,
                                .num_options = 1)
                               .client};
    PJRT_Device *device = CALL(Client_Devices, .client = l.client).devices[0];

    (void)state;
    atomic_store(&l.left, AT_ONCE - 1);
    run_threads(AT_ONCE, ask, &l);
    assert_int_equal(CALL(Device_MemoryStats, .device = device).bytes_in_use,
                     0);
    assert_int_equal(
        CALL(Device_MemoryStats, .device = device).largest_alloc_size,
        sizeof numbers);
    free_client(l.client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_taken_away_is_whole_until_then),
        cmocka_unit_test(threads_give_up_their_own),
        cmocka_unit_test(what_is_sent_is_waited_for),
        cmocka_unit_test(what_is_kept_is_loaded_by_many),
        cmocka_unit_test(what_is_refused_takes_nothing_of_others),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
