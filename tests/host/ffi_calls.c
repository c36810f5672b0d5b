/* ffi_calls.c - handlers of the FFI called by modules, without PJRT and Python:
 * what is registered, states, futures, what fails, elements that share a byte,
 * and calls of eight threads.  Built with sanitizers by
 * tests/pjrt/test_ffi_calls.py. */
#include "hosts/pjrt/ffi.h"
#include "jaxvet.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(condition)                                                      \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "ffi_calls.c:%d: not so: %s\n", __LINE__,          \
                    #condition);                                               \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

/* ---- handlers */

static XLA_FFI_Error *error(const XLA_FFI_CallFrame *frame,
                            XLA_FFI_Error_Code code, const char *text)
{
    XLA_FFI_Error_Create_Args args = {sizeof args, NULL, text, code};

    return frame->api->XLA_FFI_Error_Create(&args);
}

/* Says what it is, if that is asked. */
static bool is_asked(XLA_FFI_CallFrame *frame)
{
    XLA_FFI_Metadata_Extension *asks = (void *)frame->extension_start;

    if (asks)
        asks->metadata->api_version = (XLA_FFI_Api_Version){
            sizeof asks->metadata->api_version, NULL, 0, XLA_FFI_API_MINOR};
    return asks;
}

static const XLA_FFI_Buffer *in(const XLA_FFI_CallFrame *frame, int i)
{
    return frame->args.args[i];
}

static const XLA_FFI_Buffer *out(const XLA_FFI_CallFrame *frame, int i)
{
    return frame->rets.rets[i];
}

static XLA_FFI_TypeId counter_id;
static atomic_int counters, prepared, initialized;

static void end_counter(void *counter)
{
    atomic_fetch_sub(&counters, 1);
    free(counter);
}

static XLA_FFI_Error *count_from(XLA_FFI_CallFrame *frame)
{
    XLA_FFI_State_Set_Args set = {
        sizeof set,  NULL,
        frame->ctx,  XLA_FFI_ExecutionStage_INSTANTIATE,
        &counter_id, calloc(1, sizeof(atomic_int))};
    const XLA_FFI_Scalar *start = frame->attrs.attrs[0];

    EXPECT(frame->attrs.size == 1 &&
           !strcmp(frame->attrs.names[0]->ptr, "start"));
    atomic_init((atomic_int *)set.state, *(const int *)start->value);
    atomic_fetch_add(&counters, 1);
    EXPECT(!frame->api->XLA_FFI_State_Set(&set));
    return NULL;
}

static XLA_FFI_Error *prepare(XLA_FFI_CallFrame *frame)
{
    atomic_fetch_add(&prepared, 1);
    EXPECT(frame->args.size == 1);
    return NULL;
}

static XLA_FFI_Error *initialize(XLA_FFI_CallFrame *frame)
{
    atomic_fetch_add(&initialized, 1);
    return frame->ctx ? NULL : error(frame, XLA_FFI_Error_Code_INTERNAL, "");
}

static XLA_FFI_Error *count(XLA_FFI_CallFrame *frame)
{
    XLA_FFI_State_Get_Args get = {
        sizeof get,  NULL, frame->ctx, XLA_FFI_ExecutionStage_INSTANTIATE,
        &counter_id, NULL};
    XLA_FFI_State_Get_Args other;
    XLA_FFI_Error *missing;
    XLA_FFI_Error_GetDetails_Args details = {sizeof details, NULL, NULL, NULL,
                                             0};
    XLA_FFI_Error_Destroy_Args destroy = {sizeof destroy, NULL, NULL};

    if (is_asked(frame))
        return NULL;
    EXPECT(!frame->api->XLA_FFI_State_Get(&get));
    other = get;
    other.stage = XLA_FFI_ExecutionStage_PREPARE;
    missing = frame->api->XLA_FFI_State_Get(&other);
    EXPECT(missing);
    details.error = destroy.error = missing;
    frame->api->XLA_FFI_Error_GetDetails(&details);
    EXPECT(details.errc == XLA_FFI_Error_Code_NOT_FOUND && details.message[0]);
    frame->api->XLA_FFI_Error_Destroy(&destroy);
    *(float *)out(frame, 0)->data =
        *(const float *)in(frame, 0)->data +
        (float)atomic_fetch_add((atomic_int *)get.state, 1);
    return NULL;
}

typedef struct later {
    const XLA_FFI_Api *api;
    XLA_FFI_Future *future;
    float x, *to;
} later;

static void *finish(void *data)
{
    later *l = data;
    XLA_FFI_Future_SetAvailable_Args done = {sizeof done, NULL, l->future};
    XLA_FFI_Error_Create_Args create = {sizeof create, NULL, "below 0",
                                        XLA_FFI_Error_Code_OUT_OF_RANGE};

    *l->to = l->x * 2;
    if (l->x < 0) {
        XLA_FFI_Future_SetError_Args failed = {
            sizeof failed, NULL, l->future,
            l->api->XLA_FFI_Error_Create(&create)};
        EXPECT(!l->api->XLA_FFI_Future_SetError(&failed));
    } else {
        EXPECT(!l->api->XLA_FFI_Future_SetAvailable(&done));
    }
    free(l);
    return NULL;
}

static XLA_FFI_Error *double_later(XLA_FFI_CallFrame *frame)
{
    XLA_FFI_Future_Create_Args create = {sizeof create, NULL, NULL};
    later *l = malloc(sizeof *l);
    pthread_t thread;

    if (is_asked(frame)) {
        free(l);
        return NULL;
    }
    EXPECT(!frame->api->XLA_FFI_Future_Create(&create));
    frame->future = create.future;
    *l = (later){frame->api, create.future, *(const float *)in(frame, 0)->data,
                 out(frame, 0)->data};
    EXPECT(!pthread_create(&thread, NULL, finish, l));
    pthread_detach(thread);
    return NULL;
}

/* Negative nibbles, as they come and go. */
static XLA_FFI_Error *negate(XLA_FFI_CallFrame *frame)
{
    const unsigned char *from;
    unsigned char *to;

    if (is_asked(frame))
        return NULL;
    from = in(frame, 0)->data;
    to = out(frame, 0)->data;
    EXPECT(in(frame, 0)->dtype == XLA_FFI_DataType_S4 &&
           in(frame, 0)->dims[0] == 3);
    EXPECT(from[0] == 0x21 && from[1] == 0x0f); /* 1, 2, -1 */
    to[0] = 0xef;
    to[1] = 0x01;
    return NULL;
}

/* Leaves memory behind, and fails. */
static XLA_FFI_Error *leave(XLA_FFI_CallFrame *frame)
{
    XLA_FFI_DeviceMemory_Allocate_Args args = {sizeof args, NULL, frame->ctx,
                                               100,         256,  NULL};

    if (is_asked(frame))
        return NULL;
    EXPECT(!frame->api->XLA_FFI_DeviceMemory_Allocate(&args));
    EXPECT((uintptr_t)args.data % 256 == 0);
    memset(args.data, 1, 100);
    return error(frame, XLA_FFI_Error_Code_RESOURCE_EXHAUSTED, "left");
}

/* ---- modules */

static XLA_FFI_Error *nothing(XLA_FFI_CallFrame *frame)
{
    is_asked(frame);
    return NULL;
}

static void put(const char *name, XLA_FFI_Handler_Bundle bundle)
{
    jx_ffi_error why = {XLA_FFI_Error_Code_OK, NULL};

    EXPECT(jx_ffi_register(name, strlen(name), 1, &bundle, &why));
    /* the same */
    EXPECT(jx_ffi_register(name, strlen(name), 1, &bundle, &why));
    bundle.execute = nothing;
    EXPECT(!jx_ffi_register(name, strlen(name), 1, &bundle, &why));
    EXPECT(why.code == XLA_FFI_Error_Code_ALREADY_EXISTS && why.message);
    jx_ffi_error_clear(&why);
}

static jaxvet_program *opened(const char *text, jaxvet_call **call)
{
    jaxvet_error said;
    jaxvet_program *program =
        jaxvet_open_memory(text, strlen(text), "text", 0, &said);

    EXPECT(program);
    EXPECT(!jaxvet_program_handlers(program, &jx_ffi_handlers, &said));
    *call = jaxvet_prepare(program, NULL, 0, &said);
    if (!*call)
        printf("%s\n", said.message);
    return program;
}

#define MODULE(type, call)                                                     \
    "func.func @main(%arg0: tensor<" type ">) -> tensor<" type "> {\n"         \
    "  %0 = stablehlo.custom_call " call " : (tensor<" type                    \
    ">) -> tensor<" type ">\n"                                                 \
    "  return %0 : tensor<" type ">\n}\n"

static jaxvet_status run_floats(jaxvet_call *call, float x, float *y,
                                jx_ffi_run *run)
{
    const void *ins[] = {&x};
    void *outs[] = {y};
    jaxvet_error said;

    return jaxvet_run_with(call, ins, outs, run, &said);
}

static void run_states(void)
{
    jaxvet_call *call;
    jaxvet_program *program = opened(
        MODULE("f32",
               "@count(%arg0) {mhlo.backend_config = {start = 100 : i32}}"),
        &call);
    float y = 0;

    EXPECT(atomic_load(&counters) == 1);
    for (int i = 0; i < 3; i++) {
        EXPECT(!run_floats(call, 1, &y, NULL));
        EXPECT(y == 101.0F + (float)i);
    }
    EXPECT(atomic_load(&prepared) == 3 && atomic_load(&initialized) == 3);
    jaxvet_call_free(call);
    jaxvet_close(program);
    EXPECT(atomic_load(&counters) == 0);
}

static void run_failures(void)
{
    jaxvet_call *call;
    jaxvet_program *program = opened(
        MODULE("f32", "@later(%arg0) {mhlo.backend_config = {}}"), &call);
    jx_ffi_run run = {.run_id = 1};
    float y = 0;

    EXPECT(!run_floats(call, 4, &y, &run) && y == 8);
    EXPECT(run_floats(call, -4, &y, &run) == JAXVET_INPUT);
    EXPECT(run.error.code == XLA_FFI_Error_Code_OUT_OF_RANGE);
    EXPECT(!strcmp(run.error.message, "below 0"));
    jx_ffi_error_clear(&run.error);
    jaxvet_call_free(call);
    jaxvet_close(program);
    program = opened(MODULE("f32", "@leave(%arg0) {mhlo.backend_config = {}}"),
                     &call);
    EXPECT(run_floats(call, 4, &y, &run) == JAXVET_LIMIT);
    EXPECT(!strcmp(run.error.message, "left"));
    jx_ffi_error_clear(&run.error);
    EXPECT(run_floats(call, 4, &y, NULL) == JAXVET_LIMIT);
    jaxvet_call_free(call);
    jaxvet_close(program);
}

static void run_nibbles(void)
{
    jaxvet_call *call;
    jaxvet_program *program = opened(
        MODULE("3xi4", "@negate(%arg0) {mhlo.backend_config = {}}"), &call);
    const signed char x[] = {1, 2, -1};
    signed char y[3];
    const void *ins[] = {x};
    void *outs[] = {y};
    jaxvet_error said;

    EXPECT(!jaxvet_run(call, ins, outs, &said));
    EXPECT(y[0] == -1 && y[1] == -2 && y[2] == 1);
    jaxvet_call_free(call);
    jaxvet_close(program);
}

/* What can't be called is not prepared. */
static void refuse(void)
{
    static const char *const calls[] = {
        MODULE("f32", "@nobody(%arg0)"),
        MODULE("f32", "@later(%arg0)"), /* of the interface before */
        MODULE("f32", "@later(%arg0) {mhlo.backend_config = {a = f32}}"),
        MODULE("f32", "@old(%arg0) {mhlo.backend_config = {}}"),
    };

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        jaxvet_call *call;
        jaxvet_program *program = opened(calls[i], &call);
        EXPECT(!call);
        jaxvet_close(program);
    }
}

static void *run_often(void *data)
{
    float y = 0;

    for (int i = 0; i < 200; i++)
        EXPECT(!run_floats(data, 1, &y, NULL) && y > 0);
    return NULL;
}

/* One state, many calls. */
static void run_threads(void)
{
    enum { THREADS = 8 };
    jaxvet_call *calls[THREADS];
    jaxvet_program *program = opened(
        MODULE("f32",
               "@count(%arg0) {mhlo.backend_config = {start = 0 : i32}}"),
        &calls[0]);
    pthread_t threads[THREADS];
    float y = 0;

    for (int i = 1; i < THREADS; i++)
        EXPECT((calls[i] = jaxvet_call_copy(calls[0], NULL)));
    for (int i = 0; i < THREADS; i++)
        EXPECT(!pthread_create(&threads[i], NULL, run_often, calls[i]));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    EXPECT(!run_floats(calls[0], 0, &y, NULL) && y == THREADS * 200);
    for (int i = THREADS; i-- > 0;)
        jaxvet_call_free(calls[i]);
    jaxvet_close(program);
}

int main(void)
{
    jx_ffi_error why = {XLA_FFI_Error_Code_OK, NULL};

    EXPECT(jx_ffi_type("counter", 7, &counter_id.type_id, end_counter, &why));
    EXPECT(counter_id.type_id);
    put("count",
        (XLA_FFI_Handler_Bundle){count_from, prepare, initialize, count, NULL});
    put("later", (XLA_FFI_Handler_Bundle){.execute = double_later});
    put("negate", (XLA_FFI_Handler_Bundle){.execute = negate});
    put("leave", (XLA_FFI_Handler_Bundle){.execute = leave});
    EXPECT(jx_ffi_register(
        "old", 3, 0, &(XLA_FFI_Handler_Bundle){.execute = nothing}, &why));
    run_states();
    run_failures();
    run_nibbles();
    refuse();
    run_threads();
    return 0;
}
