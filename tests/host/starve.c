/* starve.c - a host whose memory ends, at every allocation of the library.
 *
 *     starve EVERY PROGRAM...
 *
 * Opens each program and asks all that can be asked of it, with the N-th
 * allocation failing, and with all from the N-th on, for every EVERY-th N.
 * Each function has to do what it does otherwise or to give JAXVET_LIMIT, and
 * in the end all memory has to be given back.  Linked with
 * tests/starve/fail_malloc.c; GLIBC_TUNABLES has to be
 * glibc.malloc.tcache_count=0, so that the count of what is in use is exact. */
#include "jaxvet.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 1 << 20, PORTS = 8, ELEMENTS = 4096 };

long fail_malloc(long at, bool on); /* tests/starve/fail_malloc.c */

/* What the functions gave while nothing failed, one after another. */
static struct {
    char text[TEXT];
    size_t length, at;
    bool learning;
} right;

static const char *program;
static long number;
static bool goes_on;
static int wrong;

static void complain(const char *what, const char *why)
{
    fprintf(stderr, "%s, %s the allocation %ld failing: %s: %s\n", program,
            goes_on ? "from" : "with", number, what, why);
    wrong++;
}

/* Learns what came, or holds it against what came then. */
static void compare(const char *what, const void *bytes, size_t size)
{
    if (right.learning && right.length + size <= TEXT) {
        memcpy(right.text + right.length, bytes, size);
        right.length += size;
    } else if (right.at + size > right.length ||
               memcmp(right.text + right.at, bytes, size) != 0) {
        complain(what, "another answer");
    }
    right.at += size;
}

static void compare_text(const char *what, const char *text)
{
    compare(what, text, strlen(text) + 1);
}

/* That it failed; true if that was due. */
static void expect_limit(const char *what, jaxvet_status status,
                         const jaxvet_error *error)
{
    if (right.learning)
        complain(what, error->message);
    else if (status != JAXVET_LIMIT || error->status != JAXVET_LIMIT)
        complain(what, error->message[0] ? error->message : "no word");
    else if (!strstr(error->message, "gave up"))
        complain(what, error->message);
}

static bool run(jaxvet_program *p, jaxvet_call *call)
{
    static double in[PORTS][ELEMENTS], out[PORTS][ELEMENTS];
    const void *ins[PORTS];
    void *outs[PORTS];
    jaxvet_error error = {0};
    jaxvet_status status;

    memset(in, 0, sizeof in);
    memset(out, 0, sizeof out);
    for (int i = 0; i < PORTS; i++) {
        ins[i] = in[i];
        outs[i] = out[i];
    }
    status = jaxvet_run(call, ins, outs, &error);
    if (status == JAXVET_OK)
        for (int i = 0; i < jaxvet_output_count(p); i++)
            compare("run", out[i], jaxvet_call_output(call, i)->bytes);
    else
        expect_limit("run", status, &error);
    return status == JAXVET_OK;
}

/* Each gives whether the program is still of use. */
static bool ask_info(jaxvet_program *p)
{
    jaxvet_error error = {0};
    const char *text;
    jaxvet_status status = jaxvet_info(p, &text, &error);

    if (status == JAXVET_OK)
        compare_text("info", text);
    else
        expect_limit("info", status, &error);
    return status == JAXVET_OK;
}

static bool ask_check(jaxvet_program *p)
{
    jaxvet_error error = {0};
    const char *text;
    jaxvet_status status = jaxvet_check(p, &text, &error);

    if (text) {
        compare("check", &status, sizeof status);
        compare_text("check", text);
    } else {
        expect_limit("check", status, &error);
    }
    return text != NULL;
}

static bool ask_sizes(jaxvet_program *p, jaxvet_size *sizes)
{
    jaxvet_error error = {0};
    const int64_t *values;
    int count = jaxvet_sizes(p, 4, &values, &error);

    if (count < 0) {
        expect_limit("sizes", error.status, &error);
        return false;
    }
    for (int i = 0; i < jaxvet_size_count(p); i++) {
        compare("sizes", &values[i], sizeof values[i]);
        sizes[i] = (jaxvet_size){jaxvet_size_name(p, i), values[i]};
    }
    return true;
}

static bool ask_refined(jaxvet_program *p, const jaxvet_size *sizes)
{
    jaxvet_error error = {0};
    jaxvet_program *refined =
        jaxvet_refine(p, sizes, jaxvet_size_count(p), &error);

    if (!refined) {
        expect_limit("refine", error.status, &error);
        return false;
    }
    for (int i = 0; i < jaxvet_output_count(refined); i++)
        compare_text("refine", jaxvet_output_type(refined, i));
    jaxvet_close(refined);
    return true;
}

static void ask_call(jaxvet_program *p, const jaxvet_size *sizes)
{
    jaxvet_error error = {0};
    jaxvet_call *call = jaxvet_prepare(p, sizes, jaxvet_size_count(p), &error);

    if (!call)
        expect_limit("prepare", error.status, &error);
    else if (!run(p, call) && !goes_on)
        run(p, call); /* which may be called again */
    jaxvet_call_free(call);
}

static void ask_program(void)
{
    jaxvet_error error = {0};
    jaxvet_program *p = jaxvet_open(program, 0, &error);
    jaxvet_size sizes[PORTS];

    if (!p)
        expect_limit("open", error.status, &error);
    else if (ask_info(p) && ask_check(p) && ask_sizes(p, sizes) &&
             ask_refined(p, sizes))
        ask_call(p, sizes);
    jaxvet_close(p);
}

/* Unknown is what an answer is that was given up. */
static void ask_prover(void)
{
    static const char *const constraints[] = {"a >= 2", "mod(b, 8) == 0"};
    static const char *const questions[][2] = {{"a*b", "2*b"},
                                               {"mod(a*b, 3)", "a"}};
    jaxvet_error error = {0};
    jaxvet_prover *prover = jaxvet_prover_new(constraints, 2, 1, NULL, &error);

    if (!prover)
        expect_limit("prover", error.status, &error);
    for (int i = 0; prover && i < 2; i++) {
        jaxvet_verdict verdict;
        const char *answer;
        jaxvet_status status =
            jaxvet_prove(prover, questions[i][0], ">=", questions[i][1],
                         JAXVET_PROVE_SUGGEST | JAXVET_PROVE_NO_SOLVER,
                         &verdict, &answer, &error);
        size_t at = right.at;

        if (status != JAXVET_OK)
            expect_limit("prove", status, &error);
        else if (right.learning || verdict != JAXVET_UNKNOWN ||
                 !strstr(answer, "gave up"))
            compare_text("prove", answer);
        if (right.at == at && !right.learning)
            right.at += strlen(right.text + at) + 1;
    }
    jaxvet_prover_free(prover);
}

/* Asks with this allocation failing; all memory has to come back. */
static void starve(void (*ask)(void), long at, bool on)
{
    size_t before = mallinfo2().uordblks, after;

    number = at;
    goes_on = on;
    right.at = 0;
    fail_malloc(at, on);
    ask();
    fail_malloc(0, false);
    after = mallinfo2().uordblks;
    if (after != before && !right.learning)
        complain("memory", "it is not all given back");
}

static long starve_all(void (*ask)(void), long every)
{
    long count, runs = 0;

    right.learning = true;
    right.length = 0;
    starve(ask, 0, false); /* what libraries keep, too */
    right.length = 0;
    fail_malloc(0, false);
    right.at = 0;
    ask();
    count = fail_malloc(0, false);
    right.learning = false;
    for (long at = 1; at <= count; at += every, runs += 2) {
        starve(ask, at, false);
        starve(ask, at, true);
    }
    return runs;
}

int main(int argc, char **argv)
{
    long runs = 0, every = argc > 1 ? atol(argv[1]) : 1;

    mallopt(M_MXFAST, 0); /* what was freed counts as free at once */
    for (int i = 2; i < argc; i++) {
        program = argv[i];
        runs += starve_all(ask_program, every);
    }
    program = "a prover";
    runs += starve_all(ask_prover, every);
    printf("starve: a host, %ld runs, %d wrong\n", runs, wrong);
    return wrong != 0;
}
