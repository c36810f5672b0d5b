/* host.c - what a program in C does with libjaxvet: opens a document (x * s and
 * the sum of x over its first axis), asks for its signature, has it checked,
 * runs it at a size of its own, and refined to one, is told what is wrong when
 * it asks wrongly, runs the derivative that an exported file holds, and asks
 * about sizes.
 *
 * usage: host scale.json vjp2.jaxexport */
#include <jaxvet.h>

#include <stdio.h>
#include <string.h>

#define EXPECT(condition)                                                      \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "host.c:%d: not so: %s\n", __LINE__, #condition);  \
            return 1;                                                          \
        }                                                                      \
    } while (0)

static int ask_signature(const jaxvet_program *program)
{
    EXPECT(jaxvet_input_count(program) == 2);
    EXPECT(jaxvet_output_count(program) == 2);
    EXPECT(jaxvet_size_count(program) == 1);
    EXPECT(!strcmp(jaxvet_size_name(program, 0), "b"));
    EXPECT(!strcmp(jaxvet_input_type(program, 0), "f32[b,3]"));
    EXPECT(!strcmp(jaxvet_input_type(program, 1), "f32[]"));
    EXPECT(!strcmp(jaxvet_output_type(program, 1), "f32[3]"));
    EXPECT(!strcmp(jaxvet_input_path(program, 1), "[1]"));
    EXPECT(!jaxvet_input_type(program, 2));
    EXPECT(!jaxvet_output_path(program, -1));
    return 0;
}

static int ask_for_a_check(jaxvet_program *program)
{
    const char *report = NULL;
    jaxvet_error error;

    EXPECT(jaxvet_check(program, &report, &error) == JAXVET_OK);
    EXPECT(report && strstr(report, "\"status\":\"ok\""));
    return 0;
}

static int ask_whether_equal(jaxvet_program *program)
{
    const char *report = NULL;
    jaxvet_error error;

    EXPECT(jaxvet_equal(program, program, 0, &report, &error) == JAXVET_OK);
    EXPECT(
        report &&
        strstr(report, "\"equal\":[{\"verdict\":\"terms\",\"of\":\"values\""));
    return 0;
}

static int ask_for_info(jaxvet_program *program, const char *what)
{
    const char *info = NULL, *again = NULL;
    jaxvet_error error;

    EXPECT(jaxvet_info(program, &info, &error) == JAXVET_OK);
    EXPECT(info && strstr(info, what));
    EXPECT(jaxvet_info(program, &again, &error) == JAXVET_OK && again == info);
    return 0;
}

static int run(jaxvet_program *program)
{
    const float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, s = 10;
    float scaled[2][3], sum[3];
    const void *const inputs[] = {x, &s};
    void *const outputs[] = {scaled, sum};
    const jaxvet_size sizes[] = {{"b", 2}};
    jaxvet_error error;
    jaxvet_call *call = jaxvet_prepare(program, sizes, 1, &error);
    jaxvet_helper *helper;

    EXPECT(call);
    EXPECT(jaxvet_call_input(call, 0)->bytes == sizeof x);
    EXPECT(!strcmp(jaxvet_call_input(call, 0)->dtype, "f32"));
    EXPECT(jaxvet_call_output(call, 0)->rank == 2);
    EXPECT(jaxvet_call_output(call, 0)->shape[0] == 2);
    EXPECT(!jaxvet_call_output(call, 2));
    EXPECT(jaxvet_run(call, inputs, outputs, &error) == JAXVET_OK);
    EXPECT(scaled[1][2] == 60 && sum[0] == 5 && sum[2] == 9);
    helper = jaxvet_helper_new(&error);
    EXPECT(helper);
    jaxvet_call_help(call, helper);
    scaled[1][2] = 0;
    EXPECT(jaxvet_run(call, inputs, outputs, &error) == JAXVET_OK);
    EXPECT(scaled[1][2] == 60);
    jaxvet_call_help(call, NULL);
    jaxvet_helper_free(helper);
    EXPECT(jaxvet_run(call, inputs, outputs, &error) == JAXVET_OK);
    jaxvet_call_help(NULL, NULL);
    jaxvet_helper_free(NULL);
    jaxvet_call_free(call);
    return 0;
}

static int ask_wrongly(jaxvet_program *program)
{
    const jaxvet_size unknown[] = {{"n", 2}}, small[] = {{"b", 1}};
    char name[401] = "";
    jaxvet_error error;

    EXPECT(!jaxvet_open("no/such/file", 0, &error));
    EXPECT(error.status == JAXVET_INPUT && !strcmp(error.file, "no/such/file"));
    EXPECT(!jaxvet_open("no/such/file", 0, NULL));
    EXPECT(!jaxvet_open_memory("{\"a\":", 5, "bad", 0, &error));
    EXPECT(error.status == JAXVET_INPUT && error.message[0] && error.place[0]);
    for (size_t i = 0; i + 1 < sizeof name; i++)
        name[i] = "\xc3\xa9"[i % 2]; /* is not cut within a character */
    EXPECT(!jaxvet_open_memory("{", 1, name, 0, &error));
    EXPECT(strlen(error.file) == sizeof error.file - 2);
    EXPECT(!jaxvet_prepare(program, unknown, 1, &error));
    EXPECT(error.status == JAXVET_USAGE && strstr(error.message, "'n'"));
    EXPECT(!jaxvet_prepare(program, NULL, 0, &error));
    EXPECT(error.status == JAXVET_USAGE && strstr(error.message, "'b'"));
    EXPECT(!jaxvet_prepare(program, small, 1, &error)); /* b >= 2 */
    EXPECT(error.status == JAXVET_INPUT && strstr(error.message, "b >= 2"));
    return 0;
}

/* What a host leaves out, or has not got, is told and never read. */
static int leave_out(jaxvet_program *program)
{
    const jaxvet_size b[] = {{"b", 2}, {"b", 3}}, nameless[] = {{NULL, 2}};
    const char *const none[] = {"a >= 2", NULL};
    const void *const no_inputs[] = {NULL, NULL};
    void *const no_outputs[] = {NULL, NULL};
    const float x[2][3] = {{1}}, s = 1;
    const void *const inputs[] = {x, &s};
    jaxvet_limits limits = {sizeof limits, 0, 0, NULL};
    jaxvet_prover *prover = jaxvet_prover_new(NULL, 0, 1, NULL, NULL);
    jaxvet_call *call = jaxvet_prepare(program, b, 1, NULL);
    jaxvet_verdict verdict;
    const int64_t *values;
    const char *text;
    jaxvet_error error;

#define LEFT_OUT(call)                                                         \
    error.status = JAXVET_OK;                                                  \
    EXPECT(call);                                                              \
    EXPECT(error.status == JAXVET_USAGE && error.message[0])
    EXPECT(prover && call);
    LEFT_OUT(!jaxvet_open(NULL, 0, &error));
    LEFT_OUT(!jaxvet_open_memory(NULL, 3, NULL, 0, &error));
    EXPECT(!jaxvet_open_memory(NULL, 0, NULL, 0, &error));
    EXPECT(error.status == JAXVET_INPUT && !strcmp(error.file, "<memory>"));
    LEFT_OUT(jaxvet_program_limits(NULL, &limits, &error));
    EXPECT(jaxvet_input_count(NULL) == 0 && jaxvet_output_count(NULL) == 0);
    EXPECT(jaxvet_size_count(NULL) == 0 && !jaxvet_size_name(NULL, 0));
    EXPECT(!jaxvet_input_type(NULL, 0) && !jaxvet_output_type(NULL, 0));
    EXPECT(!jaxvet_input_path(NULL, 0) && !jaxvet_output_path(NULL, 0));
    jaxvet_trust_embedded(NULL);
    LEFT_OUT(jaxvet_info(NULL, &text, &error));
    LEFT_OUT(jaxvet_info(program, NULL, &error));
    LEFT_OUT(jaxvet_check(NULL, &text, &error));
    LEFT_OUT(jaxvet_check(program, NULL, &error));
    LEFT_OUT(jaxvet_equal(NULL, program, 0, &text, &error));
    LEFT_OUT(jaxvet_equal(program, NULL, 0, &text, &error));
    LEFT_OUT(jaxvet_equal(program, program, 0, NULL, &error));
    LEFT_OUT(!jaxvet_vjp(NULL, 1, &error));
    LEFT_OUT(jaxvet_sizes(NULL, 3, &values, &error) < 0);
    LEFT_OUT(jaxvet_sizes(program, 3, NULL, &error) < 0);
    LEFT_OUT(!jaxvet_refine(NULL, b, 1, &error));
    LEFT_OUT(!jaxvet_refine(program, NULL, 1, &error));
    LEFT_OUT(!jaxvet_refine(program, nameless, 1, &error));
    LEFT_OUT(!jaxvet_prepare(NULL, b, 1, &error));
    LEFT_OUT(!jaxvet_prepare(program, NULL, 1, &error));
    LEFT_OUT(!jaxvet_prepare(program, nameless, 1, &error));
    LEFT_OUT(!jaxvet_prepare(program, b, 2, &error)); /* which one? */
    EXPECT(!jaxvet_call_input(NULL, 0) && !jaxvet_call_output(NULL, 0));
    LEFT_OUT(jaxvet_run(NULL, inputs, no_outputs, &error));
    LEFT_OUT(jaxvet_run(call, NULL, NULL, &error));
    LEFT_OUT(jaxvet_run(call, no_inputs, no_outputs, &error));
    LEFT_OUT(jaxvet_run(call, inputs, no_outputs, &error));
    LEFT_OUT(!jaxvet_prover_new(NULL, 1, 1, NULL, &error));
    LEFT_OUT(!jaxvet_prover_new(none, 2, 1, NULL, &error));
    LEFT_OUT(jaxvet_prover_limits(NULL, &limits, &error));
    LEFT_OUT(jaxvet_prove(NULL, "a", ">=", "1", 0, &verdict, &text, &error));
    LEFT_OUT(jaxvet_prove(prover, NULL, ">=", "1", 0, &verdict, &text, &error));
    LEFT_OUT(jaxvet_prove(prover, "a", NULL, "1", 0, &verdict, &text, &error));
    LEFT_OUT(jaxvet_prove(prover, "a", ">=", NULL, 0, &verdict, &text, &error));
    LEFT_OUT(jaxvet_prove(prover, "a", ">=", "1", 0, NULL, &text, &error));
    LEFT_OUT(jaxvet_prove(prover, "a", ">=", "1", 0, &verdict, NULL, &error));
    jaxvet_call_free(call);
    jaxvet_call_free(NULL);
    jaxvet_prover_free(prover);
    jaxvet_prover_free(NULL);
    jaxvet_close(NULL);
    return 0;
}

static int refine(jaxvet_program *program)
{
    const jaxvet_size four[] = {{"b", 4}, {"b", 4}}, small[] = {{"b", 1}};
    const float x[4][3] = {{1}, {2}, {3}, {4}}, s = 10;
    float scaled[4][3], sum[3];
    const void *const inputs[] = {x, &s};
    void *const outputs[] = {scaled, sum};
    jaxvet_error error;
    jaxvet_program *at = jaxvet_refine(program, four, 1, &error);
    jaxvet_call *call = at ? jaxvet_prepare(at, NULL, 0, &error) : NULL;

    EXPECT(at && jaxvet_size_count(at) == 0);
    EXPECT(!strcmp(jaxvet_input_type(at, 0), "f32[4,3]"));
    EXPECT(!strcmp(jaxvet_input_type(program, 0), "f32[b,3]"));
    EXPECT(call && jaxvet_run(call, inputs, outputs, &error) == JAXVET_OK);
    EXPECT(scaled[3][0] == 40 && sum[0] == 10 && sum[1] == 0);
    jaxvet_call_free(call);
    EXPECT(!jaxvet_refine(at, four, 1, &error));
    EXPECT(error.status == JAXVET_USAGE && strstr(error.message, "'b'"));
    EXPECT(!ask_for_a_check(at));
    jaxvet_close(at);
    EXPECT(!jaxvet_refine(program, four, 2, &error));
    EXPECT(error.status == JAXVET_USAGE && strstr(error.message, "twice"));
    EXPECT(!jaxvet_refine(program, small, 1, &error)); /* b >= 2 */
    EXPECT(error.status == JAXVET_INPUT && strstr(error.message, "b >= 2"));
    EXPECT(!jaxvet_refine(program, small, 1, NULL));
    at = jaxvet_refine(program, NULL, 0, &error); /* as it is */
    EXPECT(at && jaxvet_size_count(at) == 1);
    jaxvet_close(at);
    return 0;
}

static int choose(jaxvet_program *program)
{
    const int64_t *values = NULL;
    jaxvet_error error;

    EXPECT(jaxvet_sizes(program, 4, &values, &error) == 4);
    EXPECT(values[0] == 2 && values[1] == 3); /* b >= 2 */
    EXPECT(jaxvet_sizes(program, 0, &values, &error) == -1);
    EXPECT(error.status == JAXVET_USAGE);
    return 0;
}

/* A file of jax.export: sin(x) * n, with its derivatives. */
static int differentiate(const char *path)
{
    const float x[3] = {0, 0, 0}, ct[3] = {1, 2, 3};
    const int32_t n = 5;
    float dx[3];
    unsigned char dn; /* float0 */
    const void *const inputs[] = {x, &n, ct};
    void *const outputs[] = {dx, &dn};
    jaxvet_error error;
    jaxvet_program *f = jaxvet_open(path, 0, &error), *vjp;
    jaxvet_call *call;

    EXPECT(f && !ask_for_info(f, "\"vjps\":[{\"inputs\":3,"));
    EXPECT((vjp = jaxvet_vjp(f, 1, &error)));
    EXPECT(!ask_for_info(vjp, "\"type\":\"f32[3]\""));
    EXPECT(jaxvet_input_count(vjp) == 3 && jaxvet_output_count(vjp) == 2);
    EXPECT((call = jaxvet_prepare(vjp, NULL, 0, &error)));
    EXPECT(jaxvet_run(call, inputs, outputs, &error) == JAXVET_OK);
    EXPECT(dx[0] == 5 && dx[1] == 10 && dx[2] == 15);
    jaxvet_call_free(call);
    jaxvet_close(vjp);
    EXPECT(!jaxvet_vjp(f, 3, &error));
    EXPECT(error.status == JAXVET_INPUT && strstr(error.message, "order 2"));
    EXPECT(!jaxvet_vjp(f, 0, &error) && error.status == JAXVET_USAGE);
    jaxvet_close(f);
    return 0;
}

/* iota of n elements, where n is the one element of an input. */
static const char counting[] =
    "func.func public @main(%n: tensor<1xi32>) -> tensor<?xi32> {\n"
    "  %0 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi32>) -> "
    "tensor<?xi32>\n"
    "  return %0 : tensor<?xi32>\n"
    "}\n";

/* The call was prepared for three. */
static int count_to_three(jaxvet_program *program, const jaxvet_size *sizes,
                          int count)
{
    const int32_t three = 3, four = 4;
    const void *input = &three, *other = &four;
    int32_t result[4] = {9, 9, 9, 9};
    void *output = result;
    jaxvet_error error;
    jaxvet_call *call = jaxvet_prepare(program, sizes, count, &error);

    EXPECT(call && jaxvet_call_output(call, 0)->shape[0] == 3);
    EXPECT(jaxvet_run(call, &input, &output, &error) == JAXVET_OK);
    EXPECT(result[2] == 2 && result[3] == 9);
    EXPECT(jaxvet_run(call, &other, &output, &error) == JAXVET_INPUT);
    EXPECT(strstr(error.message, "it is 4, and the call was prepared for 3"));
    jaxvet_call_free(call);
    return 0;
}

static int say_sizes_by_value(void)
{
    jaxvet_error error;
    jaxvet_program *program = jaxvet_open_memory(counting, sizeof counting - 1,
                                                 "counting.mlir", 0, &error);
    jaxvet_program *refined;
    jaxvet_size three = {NULL, 3};

    EXPECT(program && jaxvet_size_count(program) == 1);
    three.name = jaxvet_size_name(program, 0);
    EXPECT(!count_to_three(program, &three, 1));
    EXPECT((refined = jaxvet_refine(program, &three, 1, &error)));
    EXPECT(jaxvet_size_count(refined) == 0);
    EXPECT(!count_to_three(refined, NULL, 0));
    jaxvet_close(refined);
    jaxvet_close(program);
    return 0;
}

static const char giving[] =
    "module @jit_give {\n"
    "  func.func public @main(%arg0: tensor<3xf32> {tf.aliasing_output = 0 : i32},\n"
    "      %arg1: tensor<3xf32> {mhlo.memory_kind = \"pinned_host\"})\n"
    "      -> (tensor<3xf32> {mhlo.memory_kind = \"far\"}) {\n"
    "    %0 = stablehlo.exponential %arg0 : tensor<3xf32>\n"
    "    %1 = stablehlo.add %0, %arg1 : tensor<3xf32>\n"
    "    return %1 : tensor<3xf32>\n"
    "  }\n"
    "}\n";

/* What a backend asks of a module that it runs from several threads. */
static int serve(void)
{
    static const float zeros[3] = {0}, ones[3] = {1, 1, 1};
    const void *ins[] = {zeros, ones};
    float first[3], second[3];
    void *to_first[] = {first}, *to_second[] = {second};
    jaxvet_cost cost = {.size = sizeof cost};
    jaxvet_error error;
    const char *text;
    jaxvet_program *p =
        jaxvet_open_memory(giving, sizeof giving - 1, "give", 0, &error);
    jaxvet_call *call, *copy;

    EXPECT(p);
    EXPECT(!strcmp(jaxvet_name(p), "give") && !strcmp(jaxvet_name(NULL), ""));
    EXPECT(jaxvet_input_alias(p, 0) == 0);
    call = jaxvet_prepare(p, NULL, 0, &error);
    EXPECT(jaxvet_call_lends(call, 0, 0) && !jaxvet_call_lends(call, 2, 0));
    jaxvet_call_free(call);
    EXPECT(jaxvet_input_alias(p, 1) == JAXVET_KEPT);
    EXPECT(jaxvet_input_alias(p, 2) == JAXVET_KEPT);
    EXPECT(jaxvet_memory("2KiB") == 2048 && !jaxvet_memory("many"));
    EXPECT(jaxvet_memory(NULL) > 1 << 20);
    EXPECT(jaxvet_input_memory(p, 0, &text, &error) == JAXVET_OK && !text);
    EXPECT(jaxvet_input_memory(p, 1, &text, &error) == JAXVET_OK);
    EXPECT(!strcmp(text, "pinned_host"));
    EXPECT(jaxvet_output_memory(p, 0, &text, &error) == JAXVET_OK);
    EXPECT(!strcmp(text, "far"));
    EXPECT(jaxvet_input_memory(p, 2, &text, &error) == JAXVET_USAGE);
    EXPECT(jaxvet_output_memory(p, -1, &text, &error) == JAXVET_USAGE);
    EXPECT(jaxvet_input_memory(NULL, 0, &text, &error) == JAXVET_USAGE);
    EXPECT(jaxvet_costs(p, &cost, &error) == JAXVET_OK);
    EXPECT(cost.flops == 3 && cost.transcendentals == 3 && cost.bytes == 60);
    EXPECT(jaxvet_module(p, 0, &text, &error) == JAXVET_OK);
    EXPECT(strstr(text, "stablehlo.exponential %arg0"));
    cost.size = 0;
    EXPECT(jaxvet_costs(p, &cost, &error) == JAXVET_USAGE);
    call = jaxvet_prepare(p, NULL, 0, &error);
    EXPECT(call);
    EXPECT(jaxvet_call_memory(call) < 1024 && !jaxvet_call_memory(NULL));
    copy = jaxvet_call_copy(call, &error);
    EXPECT(copy && !jaxvet_call_copy(NULL, &error));
    EXPECT(jaxvet_run(call, ins, to_first, &error) == JAXVET_OK);
    EXPECT(jaxvet_run(copy, ins, to_second, &error) == JAXVET_OK);
    EXPECT(first[0] == 2 && !memcmp(first, second, sizeof first));
    jaxvet_call_free(copy);
    jaxvet_call_free(call);
    jaxvet_close(p);
    return 0;
}

static int prove(void)
{
    const char *const constraints[] = {"b >= 2", "mod(b, 8) == 0"};
    const char *const broken[] = {"b >= 2", "b >>= 2"};
    const char *const clash[] = {"b >= 2", "b <= 1", "a >= 7"};
    const char *answer;
    jaxvet_verdict verdict;
    jaxvet_error error;
    jaxvet_prover *p = jaxvet_prover_new(constraints, 2, 1, NULL, &error);
    jaxvet_prover *q = jaxvet_prover_new(clash, 3, 1, p, &error);

    EXPECT(p && q);
    EXPECT(jaxvet_prove(p, "a*b", ">=", "2*a", 0, &verdict, &answer, &error) ==
           JAXVET_OK);
    EXPECT(verdict == JAXVET_TRUE && strstr(answer, "\"verdict\":\"true\""));
    EXPECT(jaxvet_prove(p, "mod(b, 4)", "!=", "0", JAXVET_PROVE_NO_SOLVER,
                        &verdict, &answer, &error) == JAXVET_OK);
    EXPECT(verdict == JAXVET_FALSE);
    EXPECT(jaxvet_prove(p, "b", "==", "a", 0, &verdict, &answer, NULL) ==
           JAXVET_OK);
    EXPECT(verdict == JAXVET_DEPENDS && strstr(answer, "\"witness_true\":{"));
    EXPECT(strstr(answer, "\"witness_false\":{") && !strstr(answer, "suggest"));
    EXPECT(jaxvet_prove(p, "b", ">=", "16", JAXVET_PROVE_SUGGEST, &verdict,
                        &answer, &error) == JAXVET_OK);
    EXPECT(verdict == JAXVET_DEPENDS && strstr(answer, "\"suggest\":["));
    EXPECT(jaxvet_prove(q, "a", "==", "b", 0, &verdict, &answer, &error) ==
           JAXVET_OK);
    EXPECT(verdict == JAXVET_CONTRADICTION && strstr(answer, "b <= 1"));
    EXPECT(!strstr(answer, "a >= 7")); /* not of the core */
    EXPECT(jaxvet_prove(p, "b +", "==", "a", 0, &verdict, &answer, &error) ==
           JAXVET_INPUT);
    EXPECT(!answer && !strcmp(error.place, "lhs, column 4"));
    EXPECT(jaxvet_prove(p, "b", "<=", "(a + b)^2000", 0, &verdict, &answer,
                        &error) == JAXVET_OK);
    EXPECT(verdict == JAXVET_UNKNOWN && strstr(answer, "too large (rhs"));
    EXPECT(jaxvet_prove(p, "b", "=", "a", 0, &verdict, &answer, &error) ==
           JAXVET_USAGE);
    EXPECT(!jaxvet_prover_new(broken, 2, 1, p, &error));
    EXPECT(!strncmp(error.place, "constraint 1, column 4", 22));
    EXPECT(!jaxvet_prover_new(broken, -1, 1, NULL, NULL));
    jaxvet_prover_free(p); /* its helper stays with the other */
    EXPECT(jaxvet_prove(q, "a", "==", "b", 0, &verdict, &answer, &error) ==
           JAXVET_OK);
    jaxvet_prover_free(q);
    jaxvet_prover_free(NULL);
    return 0;
}

int main(int argc, char **argv)
{
    jaxvet_error error;
    jaxvet_program *program;
    int bad;

    EXPECT(argc == 3);
    EXPECT(jaxvet_abi_version() == JAXVET_ABI_VERSION);
    program = jaxvet_open(argv[1], 0, &error);
    if (!program) {
        fprintf(stderr, "host: %s: %s: %s\n", error.file, error.place,
                error.message);
        return 1;
    }
    bad = ask_signature(program) || ask_for_a_check(program) ||
          ask_whether_equal(program) ||
          ask_for_info(program, "\"constraints\":[{\"scope\":0,") ||
          run(program) || ask_wrongly(program) || leave_out(program) ||
          run(program) || refine(program) || choose(program) || run(program) ||
          differentiate(argv[2]) || say_sizes_by_value() || serve() || prove();
    jaxvet_close(program);
    if (!bad)
        printf("jaxvet %s\n", jaxvet_version());
    return bad;
}
