/* test_host_calls.c - custom calls that a host runs, through jaxvet.h. */
#include "jaxvet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_TOLD = 64 };

/* What a host notes. */
typedef struct noted {
    const char *target; /* that it knows; NULL: all but those of LAPACK */
    bool insists, refuses, fails, endless, silent;
    jaxvet_status status; /* that it fails with */
    int asked, began, ended, ran, states;
    double told[MOST_TOLD]; /* first elements of first inputs */
    int devices[MOST_TOLD];
    void *context;
    void (*look)(const jaxvet_custom_call *call, const void *const *inputs,
                 void *const *outputs);
} noted;

static int knows(void *data, const char *target)
{
    noted *n = data;

    n->asked++;
    if (n->target ? strcmp(n->target, target) : !strncmp(target, "lapack", 6))
        return 0;
    return n->insists ? JAXVET_INSISTS : JAXVET_HANDLES;
}

static jaxvet_status begin(void *data, const jaxvet_custom_call *call,
                           void **state, jaxvet_error *error)
{
    noted *n = data;

    assert_int_equal(call->size, sizeof *call);
    if (n->refuses) {
        snprintf(error->message, sizeof error->message, "not today");
        return JAXVET_INPUT;
    }
    n->began++;
    *state = malloc(1);
    return JAXVET_OK;
}

static void end(void *data, void *state)
{
    free(state);
    ((noted *)data)->ended++;
}

static double first_of(const jaxvet_layout *array, const void *at)
{
    if (!array->bytes)
        return -1;
    if (!strcmp(array->dtype, "f32"))
        return (double)*(const float *)at;
    return !strcmp(array->dtype, "i32") ? *(const int32_t *)at : -1;
}

/* Hands all bytes on, cut or repeated to fit, and adds one to floats. */
static jaxvet_status run(void *data, void *state,
                         const jaxvet_custom_call *call,
                         const void *const *inputs, void *const *outputs,
                         void *context, jaxvet_error *error)
{
    noted *n = data;

    assert_non_null(state);
    n->context = context;
    if (n->fails && (n->endless || n->silent)) {
        memset(error, n->endless ? 'x' : 0, sizeof *error);
        return n->status;
    }
    if (n->fails) {
        snprintf(error->message, sizeof error->message, "no more than %d",
                 n->ran);
        return n->status;
    }
    for (int i = 0; i < call->input_count; i++)
        assert_int_equal((uintptr_t)inputs[i] % 64, 0);
    for (int i = 0; i < call->output_count; i++)
        assert_int_equal((uintptr_t)outputs[i] % 64, 0);
    if (n->ran < MOST_TOLD) {
        n->devices[n->ran] = call->device;
        n->told[n->ran] = call->input_count
                              ? first_of(&call->inputs[call->input_count - 1],
                                         inputs[call->input_count - 1])
                              : -2;
    }
    n->ran++;
    if (n->look)
        n->look(call, inputs, outputs);
    for (int i = 0; i < call->output_count && !n->look; i++) {
        size_t bytes = call->outputs[i].bytes;
        const jaxvet_layout *in = &call->inputs[call->input_count - 1];
        if (!call->input_count || in->bytes < bytes)
            continue;
        memmove(outputs[i], inputs[call->input_count - 1], bytes);
        for (size_t k = 0; !strcmp(in->dtype, "f32") && k < bytes / 4; k++)
            ((float *)outputs[i])[k] += 1;
    }
    return JAXVET_OK;
}

typedef struct opened {
    jaxvet_program *program;
    jaxvet_call *call;
    jaxvet_error error;
} opened;

static opened open_with(const char *text, noted *n)
{
    const jaxvet_handlers handlers = {sizeof handlers, n,   knows,
                                      begin,           run, end};
    opened o = {0};

    o.program = jaxvet_open_memory(text, strlen(text), "text", 0, &o.error);
    if (!o.program)
        fail_msg("%s: %s", o.error.place, o.error.message);
    if (n)
        assert_int_equal(
            jaxvet_program_handlers(o.program, &handlers, &o.error), JAXVET_OK);
    o.call = jaxvet_prepare(o.program, NULL, 0, &o.error);
    return o;
}

static opened prepared(const char *text, noted *n)
{
    opened o = open_with(text, n);

    if (!o.call)
        fail_msg("%s: %s", o.error.place, o.error.message);
    return o;
}

static void close_all(opened *o, const noted *n)
{
    jaxvet_call_free(o->call);
    jaxvet_close(o->program);
    if (n)
        assert_int_equal(n->began, n->ended);
}

/* Runs `text` on one array of floats, and gives one. */
static void run_floats(const char *text, noted *n, const float *in, float *out)
{
    opened o = prepared(text, n);
    const void *ins[] = {in};
    void *outs[] = {out};
    int here;

    assert_int_equal(jaxvet_run_with(o.call, ins, outs, &here, &o.error),
                     JAXVET_OK);
    if (n->ran)
        assert_ptr_equal(n->context, &here);
    close_all(&o, n);
}

/* ---- what a host is told */

static const jaxvet_attribute *named(const jaxvet_attribute *all, int64_t count,
                                     const char *name)
{
    for (int64_t i = 0; i < count; i++) {
        if (i)
            assert_true(strcmp(all[i - 1].name, all[i].name) < 0);
        if (!strcmp(all[i].name, name))
            return &all[i];
    }
    fail_msg("no attribute %s", name);
    return NULL;
}

static void holds(const jaxvet_custom_call *call, const char *name,
                  jaxvet_attribute_kind kind, const char *dtype, int64_t count,
                  const void *data, size_t bytes)
{
    const jaxvet_attribute *a =
        named(call->attributes, call->attribute_count, name);

    assert_int_equal(a->kind, kind);
    if (dtype)
        assert_string_equal(a->dtype, dtype);
    else
        assert_null(a->dtype);
    assert_int_equal(a->count, count);
    assert_memory_equal(a->data, data, bytes);
}

static void look_at_attributes(const jaxvet_custom_call *call,
                               const void *const *inputs, void *const *outputs)
{
    const double d = 2.5;
    const float f[] = {0, 1, 2}, same[] = {7, 7};
    const int32_t i = -3, list[] = {1, -2};
    const uint64_t u = UINT64_MAX;
    const uint8_t b = 1, truths[] = {1, 0, 1};
    const jaxvet_attribute *inner;

    (void)inputs, (void)outputs;
    assert_string_equal(call->target, "mine");
    assert_int_equal(call->api_version, 4);
    assert_false(call->has_side_effect);
    assert_int_equal(call->attribute_count, 11);
    holds(call, "a", JAXVET_ATTRIBUTE_INTEGER, "i32", 1, &i, sizeof i);
    holds(call, "b", JAXVET_ATTRIBUTE_FLOAT, "f64", 1, &d, sizeof d);
    holds(call, "c", JAXVET_ATTRIBUTE_STRING, NULL, 7, "hello\0x", 8);
    holds(call, "d", JAXVET_ATTRIBUTE_ARRAY, "f32", 3, f, sizeof f);
    holds(call, "e", JAXVET_ATTRIBUTE_BOOL, "bool", 1, &b, 1);
    holds(call, "g", JAXVET_ATTRIBUTE_INTEGER, "u64", 1, &u, sizeof u);
    holds(call, "h", JAXVET_ATTRIBUTE_ARRAY, "f32", 2, same, sizeof same);
    holds(call, "i", JAXVET_ATTRIBUTE_ARRAY, "i32", 2, list, sizeof list);
    holds(call, "j", JAXVET_ATTRIBUTE_ARRAY, "bool", 3, truths, 3);
    assert_int_equal(named(call->attributes, call->attribute_count, "l")->kind,
                     JAXVET_ATTRIBUTE_OTHER);
    inner = named(call->attributes, call->attribute_count, "k");
    assert_int_equal(inner->kind, JAXVET_ATTRIBUTE_DICTIONARY);
    inner = named(inner->entries, inner->count, "x");
    assert_int_equal(*(const int64_t *)inner->data, 1);
}

static void all_attributes_come_with_their_types(void **state)
{
    static const char text[] =
        "func.func @main(%arg0: tensor<f32>) -> tensor<f32> {\n"
        "  %0 = stablehlo.custom_call @mine(%arg0) {mhlo.backend_config = {\n"
        "    a = -3 : i32, b = 2.5 : f64, c = \"hello\\00x\",\n"
        "    d = dense<[0.0, 1.0, 2.0]> : tensor<3xf32>, e = true,\n"
        "    g = 18446744073709551615 : ui64, h = dense<7.0> : tensor<2xf32>,\n"
        "    i = array<i32: 1, -2>, j = dense<[true, false, true]> : tensor<3xi1>,\n"
        "    k = {x = 1 : i64, y = \"z\"}, l = f32}}\n"
        "    : (tensor<f32>) -> tensor<f32>\n"
        "  return %0 : tensor<f32>\n}\n";
    noted n = {.look = look_at_attributes};
    float x = 1, y;

    (void)state;
    run_floats(text, &n, &x, &y);
    assert_int_equal(n.ran, 1);
}

static void look_at_config(const jaxvet_custom_call *call,
                           const void *const *inputs, void *const *outputs)
{
    (void)inputs, (void)outputs;
    assert_int_equal(call->api_version, 2);
    assert_true(call->has_side_effect);
    assert_int_equal(call->config_size, 5);
    assert_memory_equal(call->config, "ab\0cd", 6);
    assert_int_equal(call->attribute_count, 0);
    assert_string_equal(call->place, "prog.py:12:9");
}

static void options_may_be_text(void **state)
{
    static const char text[] =
        "func.func @main(%arg0: tensor<f32>) -> tensor<f32> {\n"
        "  %0 = stablehlo.custom_call @mine(%arg0) {api_version = 2 : i32,\n"
        "    backend_config = \"ab\\00cd\", has_side_effect = true}\n"
        "    : (tensor<f32>) -> tensor<f32> loc(\"prog.py\":12:8)\n"
        "  return %0 : tensor<f32>\n}\n";
    noted n = {.look = look_at_config};
    float x = 1, y;

    (void)state;
    run_floats(text, &n, &x, &y);
    assert_int_equal(n.ran, 1);
}

static void look_at_arrays(const jaxvet_custom_call *call,
                           const void *const *inputs, void *const *outputs)
{
    static const char *const dtypes[] = {"bool", "i4", "bf16", "c64", "f32"};
    static const size_t bytes[] = {2, 3, 4, 8, 0};

    assert_int_equal(call->input_count, 5);
    assert_int_equal(call->output_count, 5);
    for (int i = 0; i < 5; i++) {
        assert_string_equal(call->inputs[i].dtype, dtypes[i]);
        assert_int_equal(call->inputs[i].bytes, bytes[i]);
        assert_int_equal(call->outputs[i].bytes, bytes[i]);
        assert_int_equal(call->aliases[i], -1);
        assert_non_null(inputs[i]);
        memcpy(outputs[i], inputs[i], bytes[i]);
    }
    assert_int_equal(call->inputs[3].rank, 0);
    assert_int_equal(call->inputs[4].rank, 2);
    assert_int_equal(call->inputs[4].shape[1], 3);
    assert_int_equal(((const int8_t *)inputs[1])[2], -8);
}

/* Buffers of the caller's that lie anywhere. */
static void arrays_of_all_kinds_are_handed_over(void **state)
{
    static const char text[] =
        "func.func @main(%0: tensor<2xi1>, %1: tensor<3xi4>, %2: tensor<2xbf16>,\n"
        "    %3: tensor<complex<f32>>, %4: tensor<0x3xf32>) -> (tensor<2xi1>,\n"
        "    tensor<3xi4>, tensor<2xbf16>, tensor<complex<f32>>, tensor<0x3xf32>) {\n"
        "  %5:5 = stablehlo.custom_call @mine(%0, %1, %2, %3, %4) :\n"
        "    (tensor<2xi1>, tensor<3xi4>, tensor<2xbf16>, tensor<complex<f32>>,\n"
        "    tensor<0x3xf32>) -> (tensor<2xi1>, tensor<3xi4>, tensor<2xbf16>,\n"
        "    tensor<complex<f32>>, tensor<0x3xf32>)\n"
        "  return %5#0, %5#1, %5#2, %5#3, %5#4 : tensor<2xi1>, tensor<3xi4>,\n"
        "    tensor<2xbf16>, tensor<complex<f32>>, tensor<0x3xf32>\n}\n";
    noted n = {.look = look_at_arrays};
    opened o = prepared(text, &n);
    _Alignas(64) char in[5][64] = {"\1\0\1", " \1\7\xf8", "  abcd",
                                   "    01234567"};
    _Alignas(64) char out[5][64] = {""};
    const void *ins[] = {in[0] + 1, in[1] + 1, in[2] + 2, in[3] + 4, NULL};
    void *outs[] = {out[0] + 1, out[1] + 1, out[2] + 2, out[3] + 4, NULL};

    (void)state;
    assert_int_equal(jaxvet_run(o.call, ins, outs, &o.error), JAXVET_OK);
    assert_null(n.context);
    assert_memory_equal(in[1] + 1, out[1] + 1, 3);
    assert_memory_equal(in[2] + 2, out[2] + 2, 4);
    assert_memory_equal(in[3] + 4, out[3] + 4, 8);
    assert_int_equal(out[3][12], 0);
    close_all(&o, &n);
}

static void look_at_order(const jaxvet_custom_call *call,
                          const void *const *inputs, void *const *outputs)
{
    const float *in = inputs[0];
    float *out = outputs[0];

    assert_int_equal(call->inputs[0].shape[0], 2);
    assert_int_equal(call->inputs[0].shape[1], 3);
    for (int i = 0; i < 6; i++) {
        assert_true(in[i] == (float)(i % 2 * 3 + i / 2));
        out[i] = (float)i; /* of a row-major one */
    }
}

static void axes_lie_as_the_module_says(void **state)
{
    static const char text[] =
        "func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
        "  %0 = stablehlo.custom_call @mine(%arg0) {\n"
        "    operand_layouts = [dense<[0, 1]> : tensor<2xindex>],\n"
        "    result_layouts = [dense<[1, 0]> : tensor<2xindex>]}\n"
        "    : (tensor<2x3xf32>) -> tensor<2x3xf32>\n"
        "  %1 = stablehlo.custom_call @mine(%0) {\n"
        "    operand_layouts = [dense<[0, 1]> : tensor<2xindex>],\n"
        "    result_layouts = [dense<[0, 1]> : tensor<2xindex>]}\n"
        "    : (tensor<2x3xf32>) -> tensor<2x3xf32>\n"
        "  return %1 : tensor<2x3xf32>\n}\n";
    noted n = {.look = look_at_order};
    const float x[] = {0, 1, 2, 3, 4, 5};
    float y[6];

    (void)state;
    run_floats(text, &n, x, y);
    assert_int_equal(n.ran, 2);
    for (int i = 0; i < 6; i++)
        assert_true(y[i] == (float)(i % 3 * 2 + i / 3));
}

static void look_at_alias(const jaxvet_custom_call *call,
                          const void *const *inputs, void *const *outputs)
{
    assert_int_equal(call->aliases[0], 1);
    assert_ptr_equal(inputs[1], outputs[0]);
    ((float *)outputs[0])[1] += *(const float *)inputs[0];
}

static void a_result_may_lie_in_an_operands_memory(void **state)
{
    static const char text[] =
        "func.func @main(%arg0: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {\n"
        "  %c = stablehlo.constant dense<10.0> : tensor<f32>\n"
        "  %0 = stablehlo.custom_call @mine(%c, %arg0) {output_operand_aliases = [\n"
        "    #stablehlo.output_operand_alias<output_tuple_indices = [],\n"
        "    operand_index = 1, operand_tuple_indices = []>]}\n"
        "    : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>\n"
        "  return %0, %arg0 : tensor<2xf32>, tensor<2xf32>\n}\n";
    noted n = {.look = look_at_alias};
    opened o = prepared(text, &n);
    const float x[] = {1, 2};
    float y[2], z[2];
    const void *ins[] = {x};
    void *outs[] = {y, z};

    (void)state;
    assert_int_equal(jaxvet_run(o.call, ins, outs, &o.error), JAXVET_OK);
    assert_true(y[0] == 1 && y[1] == 12 && z[1] == 2 && x[1] == 2);
    close_all(&o, &n);
}

/* ---- effects */

#define CALL(result, operand, effect)                                          \
    "  " result " = stablehlo.custom_call @mine(" operand ") {"                \
    "has_side_effect = " effect "} : (tensor<f32>) -> tensor<f32>\n"

static void only_what_is_needed_or_acts_runs(void **state)
{
    static const char text[] =
        "func.func @main(%arg0: tensor<f32>) -> tensor<f32> {\n" CALL(
            "%0", "%arg0", "true") CALL("%1", "%arg0", "true")
            CALL("%2", "%arg0", "false") CALL("%3", "%2", "false")
                CALL("%4", "%1",
                     "true") "  %5 = stablehlo.add %arg0, %arg0 : "
                             "tensor<f32>\n" CALL("%6", "%5", "false")
                                 CALL("%7", "%5",
                                      "true") "  return %6 : tensor<f32>\n}\n";
    noted n = {0};
    float x = 1, y = 0;

    (void)state;
    run_floats(text, &n, &x, &y);
    assert_true(y == 3);
    assert_int_equal(n.ran, 5);
    assert_true(n.told[0] == 1 && n.told[1] == 1 && n.told[2] == 2);
    assert_true(n.told[3] == 2 && n.told[4] == 2);
}

/* A loop of five turns, a branch in it, and a function that both call. */
static void calls_run_in_loops_branches_and_functions(void **state)
{
    static const char text[] =
        "func.func private @told(%x: tensor<f32>) -> tensor<f32> {\n" CALL(
            "%0", "%x",
            "true") "  return %0 : tensor<f32>\n}\n"
                    "func.func @main(%arg0: tensor<f32>) -> tensor<f32> {\n"
                    "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
                    "  %r:2 = stablehlo.while(%i = %zero, %x = %arg0)\n"
                    "      : tensor<i32>, tensor<f32>\n"
                    "  cond {\n"
                    "    %n = stablehlo.constant dense<5> : tensor<i32>\n"
                    "    %c = stablehlo.compare LT, %i, %n\n"
                    "      : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
                    "    stablehlo.return %c : tensor<i1>\n"
                    "  } do {\n"
                    "    %one = stablehlo.constant dense<1> : tensor<i32>\n"
                    "    %j = stablehlo.add %i, %one : tensor<i32>\n"
                    "    %two = stablehlo.constant dense<2> : tensor<i32>\n"
                    "    %odd = stablehlo.remainder %i, %two : tensor<i32>\n"
                    "    %b = \"stablehlo.case\"(%odd) ({\n"
                    "      stablehlo.return %x : tensor<f32>\n"
                    "    }, {\n"
                    "      %t = func.call @told(%x) : (tensor<f32>) -> tensor<f32>\n"
                    "      %h = stablehlo.constant dense<100.0> : tensor<f32>\n"
                    "      %u = func.call @told(%h) : (tensor<f32>) -> tensor<f32>\n"
                    "      stablehlo.return %t : tensor<f32>\n"
                    "    }) : (tensor<i32>) -> tensor<f32>\n" CALL(
                        "%d", "%b", "false") "    stablehlo.return %j, %d : "
                                             "tensor<i32>, tensor<f32>\n"
                                             "  }\n"
                                             "  return %r#1 : tensor<f32>\n}\n";
    static const double told[] = {0, 1, 100, 2, 3, 4, 100, 5, 6};
    noted n = {0};
    float x = 0, y = 0;

    (void)state;
    run_floats(text, &n, &x, &y);
    assert_true(y == 7);
    assert_int_equal(n.ran, 9);
    for (int i = 0; i < 9; i++)
        assert_true(n.told[i] == told[i]);
}

static char callbacks[] = "{ lambda ; a:f32[]. let\n"
                          "    b:f32[] = pure_callback[callback=_FlatCallback("
                          "callback_func=<function f at 0x1>)\n"
                          "      result_avals=(ShapedArray(float32[]),)] a\n"
                          "    debug_print[fmt=it is {}] b\n"
                          "    c:f32[] = pure_callback[callback=_FlatCallback("
                          "callback_func=<function g at 0x1>)\n"
                          "      result_avals=(ShapedArray(float32[]),)] a\n"
                          "    d:f32[] = io_callback[callback=_FlatCallback("
                          "callback_func=<function h at 0x1>)\n"
                          "      result_avals=(ShapedArray(float32[]),)] b\n"
                          "  in (b,) }\n";
static char called[256];

static void look_at_callback(const jaxvet_custom_call *call,
                             const void *const *inputs, void *const *outputs)
{
    assert_int_equal(call->api_version, 0);
    assert_int_equal(call->attribute_count, 0);
    assert_int_equal(call->input_count, 1);
    assert_int_equal(call->inputs->bytes, 4);
    assert_int_equal(call->config_size,
                     call->config ? strlen(call->config) : 0);
    assert_int_equal(call->has_side_effect,
                     !!strcmp(call->target, "pure_callback"));
    snprintf(called + strlen(called), sizeof called - strlen(called),
             "%s %s %g; ", call->target, call->config ? call->config : "?",
             (double)*(const float *)inputs[0]);
    if (call->output_count)
        *(float *)outputs[0] = *(const float *)inputs[0] + 1;
}

/* By the names of their primitives; what is pure and not needed
 * is not called. */
static void callbacks_of_a_jaxpr_are_a_hosts_to_run(void **state)
{
    noted n = {.look = look_at_callback};
    float x = 1, y = 0;

    (void)state;
    called[0] = 0;
    run_floats(callbacks, &n, &x, &y);
    assert_true(y == 2);
    assert_string_equal(called, "pure_callback f 1; debug_print it is {} 2; "
                                "io_callback h 2; ");
}

static void
callbacks_without_a_handler_end_a_run_that_comes_by_them(void **state)
{
    noted n = {.target = "debug_print", .look = look_at_callback};
    opened o = prepared(callbacks, &n);
    float x = 1, y = 0;
    const void *inputs[] = {&x};
    void *outputs[] = {&y};

    (void)state;
    assert_int_equal(jaxvet_run(o.call, inputs, outputs, &o.error),
                     JAXVET_INPUT);
    assert_non_null(strstr(o.error.message, "calls the Python function f"));
    assert_int_equal(n.ran, 0);
    close_all(&o, &n);
}

/* As JAX orders effects. */
static void tokens_are_counted_and_hold_nothing(void **state)
{
    static const char text[] =
        "func.func public @main(%arg0: !stablehlo.token, %arg1: tensor<f32>)\n"
        "    -> (tensor<f32>, !stablehlo.token, tensor<f32>) {\n"
        "  %0:2 = stablehlo.custom_call @mine(%arg0, %arg1) {has_side_effect = true,\n"
        "    operand_layouts = [dense<> : tensor<0xindex>, dense<> : tensor<0xindex>],\n"
        "    result_layouts = [dense<> : tensor<0xindex>, dense<> : tensor<0xindex>]}\n"
        "    : (!stablehlo.token, tensor<f32>) -> (!stablehlo.token, tensor<f32>)\n"
        "  %1 = stablehlo.custom_call @mine(%0#0, %0#1) {has_side_effect = true}\n"
        "    : (!stablehlo.token, tensor<f32>) -> !stablehlo.token\n"
        "  return %arg1, %1, %0#1 : tensor<f32>, !stablehlo.token, tensor<f32>\n}\n";
    noted n = {0};
    opened o = prepared(text, &n);
    float x = 3, y = 0, z = 0;
    const void *ins[] = {&x};
    void *outs[] = {&y, &z};

    (void)state;
    assert_int_equal(jaxvet_input_count(o.program), 1);
    assert_int_equal(jaxvet_argument_count(o.program), 2);
    assert_int_equal(jaxvet_argument_input(o.program, 0), -1);
    assert_int_equal(jaxvet_argument_input(o.program, 1), 0);
    assert_int_equal(jaxvet_argument_input(o.program, 2), -1);
    assert_int_equal(jaxvet_result_count(o.program), 3);
    assert_int_equal(jaxvet_result_output(o.program, 0), 0);
    assert_int_equal(jaxvet_result_output(o.program, 1), -1);
    assert_int_equal(jaxvet_result_output(o.program, 2), 1);
    assert_int_equal(jaxvet_run(o.call, ins, outs, &o.error), JAXVET_OK);
    assert_true(y == 3 && z == 4 && n.told[0] == 3 && n.told[1] == 4);
    assert_int_equal(n.ran, 2);
    close_all(&o, &n);
}

/* Each device, in a loop of its own. */
static void a_host_is_told_the_device(void **state)
{
    static const char text[] =
        "module @m attributes {mhlo.num_partitions = 2 : i32} {\n"
        "sdy.mesh @mesh = <[\"x\"=2]>\n"
        "func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {\n"
        "  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{\"x\"}]>]\n"
        "    out_shardings=[<@mesh, [{\"x\"}]>] manual_axes={\"x\"}\n"
        "    (%x0: tensor<1xf32>) {\n"
        "    %zero = stablehlo.constant dense<0> : tensor<i32>\n"
        "    %r:2 = stablehlo.while(%i = %zero, %x = %x0)\n"
        "        : tensor<i32>, tensor<1xf32>\n"
        "    cond {\n"
        "      %n = stablehlo.constant dense<2> : tensor<i32>\n"
        "      %c = stablehlo.compare LT, %i, %n\n"
        "        : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        "      stablehlo.return %c : tensor<i1>\n"
        "    } do {\n"
        "      %one = stablehlo.constant dense<1> : tensor<i32>\n"
        "      %j = stablehlo.add %i, %one : tensor<i32>\n"
        "      %y = stablehlo.custom_call @mine(%x) {has_side_effect = true}\n"
        "        : (tensor<1xf32>) -> tensor<1xf32>\n"
        "      stablehlo.return %j, %y : tensor<i32>, tensor<1xf32>\n"
        "    }\n"
        "    sdy.return %r#1 : tensor<1xf32>\n"
        "  } : (tensor<2xf32>) -> tensor<2xf32>\n"
        "  return %0 : tensor<2xf32>\n}\n}\n";
    static const double told[] = {10, 11, 20, 21};
    noted n = {0};
    const float x[] = {10, 20};
    float y[2];

    (void)state;
    run_floats(text, &n, x, y);
    assert_true(y[0] == 12 && y[1] == 22);
    assert_int_equal(n.ran, 4);
    for (int i = 0; i < 4; i++) {
        assert_true(n.told[i] == told[i]);
        assert_int_equal(n.devices[i], i / 2);
    }
}

/* ---- who runs what */

static const char one_call[] =
    "func.func @main(%arg0: tensor<f32>) -> tensor<f32> {\n"
    "  %0 = stablehlo.custom_call @mine(%arg0) : (tensor<f32>) -> tensor<f32>\n"
    "    loc(\"prog.py\":12:8)\n"
    "  %1 = stablehlo.custom_call @other(%0) : (tensor<f32>) -> tensor<f32>\n"
    "    loc(\"prog.py\":14:8)\n"
    "  return %1 : tensor<f32>\n}\n";

static void a_target_that_nobody_knows_is_refused(void **state)
{
    noted n = {.target = "mine"};
    opened o = open_with(one_call, NULL);

    (void)state;
    assert_null(o.call);
    assert_int_equal(o.error.status, JAXVET_INPUT);
    assert_non_null(strstr(o.error.message, "custom call @mine"));
    assert_non_null(strstr(o.error.place, "prog.py:12:9"));
    close_all(&o, NULL);
    o = open_with(one_call, &n);
    assert_null(o.call);
    assert_non_null(strstr(o.error.message, "custom call @other"));
    assert_non_null(strstr(o.error.place, "prog.py:14:9"));
    assert_int_equal(n.began, 1);
    close_all(&o, &n);
}

static void a_host_may_refuse_a_call(void **state)
{
    noted n = {.refuses = true};
    opened o = open_with(one_call, &n);

    (void)state;
    assert_null(o.call);
    assert_int_equal(o.error.status, JAXVET_INPUT);
    assert_non_null(strstr(o.error.message, "not today"));
    assert_int_equal(n.began, 0);
    close_all(&o, &n);
}

static void a_handler_that_fails_ends_the_run(void **state)
{
    noted n = {0};
    opened o = prepared(one_call, &n);
    float x = 1, y = 0;
    const void *ins[] = {&x};
    void *outs[] = {&y};

    (void)state;
    n.fails = true;
    n.status = JAXVET_LIMIT;
    assert_int_equal(jaxvet_run(o.call, ins, outs, &o.error), JAXVET_LIMIT);
    assert_string_equal(o.error.message, "no more than 0");
    assert_string_equal(o.error.place, "prog.py:12:9");
    n.status = JAXVET_INPUT;
    assert_int_equal(jaxvet_run(o.call, ins, outs, &o.error), JAXVET_INPUT);
    n.silent = true;
    n.status = JAXVET_FINDINGS; /* which is no failure of a run */
    assert_int_equal(jaxvet_run(o.call, ins, outs, &o.error), JAXVET_INPUT);
    assert_non_null(strstr(o.error.message, "@mine failed"));
    n.status = (jaxvet_status)99;
    n.silent = !(n.endless = true);
    assert_int_equal(jaxvet_run(o.call, ins, outs, &o.error), JAXVET_INPUT);
    assert_int_equal(strlen(o.error.message), sizeof o.error.message - 1);
    n.fails = false; /* and then it may run again */
    assert_int_equal(jaxvet_run(o.call, ins, outs, &o.error), JAXVET_OK);
    assert_true(y == 3);
    close_all(&o, &n);
}

static void what_we_have_is_ours_unless_a_host_insists(void **state)
{
    static const char text[] =
        "func.func @main(%arg0: tensor<1x1xf32>) -> tensor<1x1xf32> {\n"
        "  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%arg0) {\n"
        "    mhlo.backend_config = {uplo = 76 : ui8},\n"
        "    operand_layouts = [dense<[0, 1]> : tensor<2xindex>],\n"
        "    result_layouts = [dense<[0, 1]> : tensor<2xindex>,\n"
        "      dense<> : tensor<0xindex>]}\n"
        "    : (tensor<1x1xf32>) -> (tensor<1x1xf32>, tensor<i32>)\n"
        "  return %0#0 : tensor<1x1xf32>\n}\n";
    noted n = {.target = "lapack_spotrf_ffi"};
    float x = 4, y = 0;

    (void)state;
    run_floats(text, &n, &x, &y);
    assert_true(y == 2 && n.ran == 0);
    n.insists = true;
    run_floats(text, &n, &x, &y);
    assert_true(y == 5 && n.ran == 1);
}

static void handlers_are_given_whole(void **state)
{
    noted n = {0};
    jaxvet_handlers handlers = {sizeof handlers, &n, knows, begin, run, end};
    opened o = open_with(one_call, NULL);

    (void)state;
    assert_int_equal(jaxvet_program_handlers(NULL, &handlers, &o.error),
                     JAXVET_USAGE);
    handlers.size--;
    assert_int_equal(jaxvet_program_handlers(o.program, &handlers, &o.error),
                     JAXVET_USAGE);
    handlers.size++;
    handlers.run = NULL;
    assert_int_equal(jaxvet_program_handlers(o.program, &handlers, &o.error),
                     JAXVET_USAGE);
    assert_int_equal(jaxvet_program_handlers(o.program, NULL, &o.error),
                     JAXVET_OK);
    assert_int_equal(jaxvet_argument_count(NULL), 0);
    assert_int_equal(jaxvet_result_output(NULL, 0), -1);
    close_all(&o, &n);
}

/* ---- modules that are wrong */

static void refuses(const char *text, const char *why)
{
    noted n = {0};
    jaxvet_error error = {JAXVET_OK, "", "", ""};
    jaxvet_program *program =
        jaxvet_open_memory(text, strlen(text), "text", 64u << 20, &error);
    const jaxvet_handlers handlers = {sizeof handlers, &n,  knows,
                                      begin,           run, end};
    jaxvet_call *call = NULL;

    if (program) {
        jaxvet_program_handlers(program, &handlers, NULL);
        call = jaxvet_prepare(program, NULL, 0, &error);
    }
    assert_null(call);
    if (!strstr(error.message, why))
        fail_msg("expected '%s', found '%s'", why, error.message);
    jaxvet_close(program);
    assert_int_equal(n.began, n.ended);
}

#define WRONG(rest)                                                            \
    "func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"           \
    "  %0 = stablehlo.custom_call @mine(%arg0) {" rest "}\n"                   \
    "    : (tensor<2x3xf32>) -> tensor<2x3xf32>\n"                             \
    "  return %0 : tensor<2x3xf32>\n}\n"
#define ALIAS(result, operand)                                                 \
    "output_operand_aliases = [#stablehlo.output_operand_alias<"               \
    "output_tuple_indices = [" result "], operand_index = " operand ", "       \
    "operand_tuple_indices = []>]"

static void what_a_module_says_of_a_call_is_checked(void **state)
{
    (void)state;
    refuses(WRONG(ALIAS("", "1")), "results and operands that there are");
    refuses(WRONG(ALIAS("1", "0")), "results and operands that there are");
    refuses(WRONG(ALIAS("", "-1")), "results and operands that there are");
    refuses(WRONG("operand_layouts = [dense<[0, 2]> : tensor<2xindex>]"),
            "each axis once");
    refuses(WRONG("operand_layouts = [dense<[1, 1]> : tensor<2xindex>]"),
            "each axis once");
    refuses(WRONG("operand_layouts = [dense<0> : tensor<1xindex>]"),
            "do not fit");
    refuses(WRONG("operand_layouts = []"), "do not fit");
    refuses(WRONG("mhlo.backend_config = {a = dense<1> : "
                  "tensor<1073741824xi64>}"),
            "gave up");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_attributes_come_with_their_types),
        cmocka_unit_test(options_may_be_text),
        cmocka_unit_test(arrays_of_all_kinds_are_handed_over),
        cmocka_unit_test(axes_lie_as_the_module_says),
        cmocka_unit_test(a_result_may_lie_in_an_operands_memory),
        cmocka_unit_test(only_what_is_needed_or_acts_runs),
        cmocka_unit_test(calls_run_in_loops_branches_and_functions),
        cmocka_unit_test(callbacks_of_a_jaxpr_are_a_hosts_to_run),
        cmocka_unit_test(
            callbacks_without_a_handler_end_a_run_that_comes_by_them),
        cmocka_unit_test(tokens_are_counted_and_hold_nothing),
        cmocka_unit_test(a_host_is_told_the_device),
        cmocka_unit_test(a_target_that_nobody_knows_is_refused),
        cmocka_unit_test(a_host_may_refuse_a_call),
        cmocka_unit_test(a_handler_that_fails_ends_the_run),
        cmocka_unit_test(what_we_have_is_ours_unless_a_host_insists),
        cmocka_unit_test(handlers_are_given_whole),
        cmocka_unit_test(what_a_module_says_of_a_call_is_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
