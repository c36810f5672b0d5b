/* host.c - what a program in C does with libjaxvet: opens a document (x * s and
 * the sum of x over its first axis), asks for its signature, has it checked,
 * runs it at a size of its own, and is told what is wrong when it asks wrongly.
 *
 * usage: host scale.json */
#include <jaxvet.h>

#include <stdio.h>
#include <string.h>

#define EXPECT(condition)                                                     \
    do {                                                                      \
        if (!(condition)) {                                                   \
            fprintf(stderr, "host.c:%d: not so: %s\n", __LINE__, #condition); \
            return 1;                                                         \
        }                                                                     \
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

static int run(jaxvet_program *program)
{
    const float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, s = 10;
    float scaled[2][3], sum[3];
    const void *const inputs[] = {x, &s};
    void *const outputs[] = {scaled, sum};
    const jaxvet_size sizes[] = {{"b", 2}};
    jaxvet_error error;
    jaxvet_call *call = jaxvet_prepare(program, sizes, 1, &error);

    EXPECT(call);
    EXPECT(jaxvet_call_input(call, 0)->bytes == sizeof x);
    EXPECT(!strcmp(jaxvet_call_input(call, 0)->dtype, "f32"));
    EXPECT(jaxvet_call_output(call, 0)->rank == 2);
    EXPECT(jaxvet_call_output(call, 0)->shape[0] == 2);
    EXPECT(!jaxvet_call_output(call, 2));
    EXPECT(jaxvet_run(call, inputs, outputs, &error) == JAXVET_OK);
    EXPECT(scaled[1][2] == 60 && sum[0] == 5 && sum[2] == 9);
    jaxvet_call_free(call);
    return 0;
}

static int ask_wrongly(jaxvet_program *program)
{
    const jaxvet_size unknown[] = {{"n", 2}}, small[] = {{"b", 1}};
    jaxvet_error error;

    EXPECT(!jaxvet_open("no/such/file", 0, &error));
    EXPECT(error.status == JAXVET_INPUT && !strcmp(error.file, "no/such/file"));
    EXPECT(!jaxvet_open("no/such/file", 0, NULL));
    EXPECT(!jaxvet_open_memory("{\"a\":", 5, "bad", 0, &error));
    EXPECT(error.status == JAXVET_INPUT && error.message[0] && error.place[0]);
    EXPECT(!jaxvet_prepare(program, unknown, 1, &error));
    EXPECT(error.status == JAXVET_USAGE && strstr(error.message, "'n'"));
    EXPECT(!jaxvet_prepare(program, NULL, 0, &error));
    EXPECT(error.status == JAXVET_USAGE && strstr(error.message, "'b'"));
    EXPECT(!jaxvet_prepare(program, small, 1, &error)); /* b >= 2 */
    EXPECT(error.status == JAXVET_INPUT && strstr(error.message, "b >= 2"));
    return 0;
}

int main(int argc, char **argv)
{
    jaxvet_error error;
    jaxvet_program *program;
    int bad;

    EXPECT(argc == 2);
    EXPECT(jaxvet_abi_version() == JAXVET_ABI_VERSION);
    program = jaxvet_open(argv[1], 0, &error);
    if (!program) {
        fprintf(stderr, "host: %s: %s: %s\n", error.file, error.place,
                error.message);
        return 1;
    }
    bad = ask_signature(program) || ask_for_a_check(program) ||
          run(program) || ask_wrongly(program) || run(program);
    jaxvet_close(program);
    if (!bad)
        printf("jaxvet %s\n", jaxvet_version());
    return bad;
}
