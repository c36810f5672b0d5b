/* limits.c - a host that bounds what programs of others may take. */
#include "jaxvet.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPECT(what)                                                           \
    do {                                                                       \
        if (!(what)) {                                                         \
            printf("limits.c:%d: not so: %s (%s)\n", __LINE__, #what,          \
                   error.message);                                             \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

/* Never ends, unless its input is NaN: then at once. */
static const char endless[] =
    "{ lambda ; a:f32[4]. let\n"
    "    b:f32[4] = while[\n"
    "      body_jaxpr={ lambda ; c:f32[4]. let d:f32[4] = sin c in (d,) }\n"
    "      body_nconsts=0\n"
    "      cond_jaxpr={ lambda ; e:f32[4]. let\n"
    "          f:f32[] = reduce_sum[axes=(0,)] e\n"
    "          g:bool[] = eq f f\n"
    "        in (g,) }\n"
    "      cond_nconsts=0\n"
    "    ] a\n"
    "  in (b,) }\n";

static jaxvet_error error;
static volatile int cancelled;

static double now(void)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static jaxvet_program *open_text(const char *text)
{
    jaxvet_program *program =
        jaxvet_open_memory(text, strlen(text), "endless", 0, &error);

    EXPECT(program);
    return program;
}

static void *cancel_soon(void *unused)
{
    (void)unused;
    usleep(200000);
    cancelled = 1;
    return NULL;
}

static void runs_end(void)
{
    jaxvet_limits limits = {sizeof limits, 0, 0.2, &cancelled};
    jaxvet_program *program = open_text(endless);
    jaxvet_call *call = jaxvet_prepare(program, NULL, 0, &error);
    float in[4] = {1, 2, 3, 4}, out[4];
    const void *ins[] = {in};
    void *outs[] = {out};
    pthread_t thread;
    double began;

    EXPECT(call);
    EXPECT(jaxvet_program_limits(program, &limits, &error) == JAXVET_OK);
    for (int i = 0; i < 2; i++) { /* each call has its own time */
        began = now();
        EXPECT(jaxvet_run(call, ins, outs, &error) == JAXVET_LIMIT);
        EXPECT(now() - began >= 0.2 && now() - began < 5);
        EXPECT(error.status == JAXVET_LIMIT);
        EXPECT(strstr(error.message, "gave up at 0.2 s"));
    }
    limits.seconds = 0;
    EXPECT(jaxvet_program_limits(program, &limits, &error) == JAXVET_OK);
    EXPECT(!pthread_create(&thread, NULL, cancel_soon, NULL));
    EXPECT(jaxvet_run(call, ins, outs, &error) == JAXVET_LIMIT);
    EXPECT(strstr(error.message, "its caller's wish"));
    pthread_join(thread, NULL);
    cancelled = 0;
    in[0] = NAN;
    EXPECT(jaxvet_run(call, ins, outs, &error) == JAXVET_OK);
    EXPECT(isnan(out[0]) && out[1] == 2);
    jaxvet_call_free(call);
    jaxvet_close(program);
}

/* A wide matrix takes more than the program may. */
static void memory_ends(void)
{
    static const char large[] =
        "{ lambda ; a:f32[]. let\n"
        "    b:f32[20000,20000] = broadcast_in_dim[broadcast_dimensions=() "
        "shape=(20000, 20000) sharding=None] a\n"
        "    c:f32[20000,20000] = sin b\n"
        "  in (c,) }\n";
    jaxvet_limits limits = {sizeof limits, 64 << 20, 0, NULL};
    jaxvet_program *program = open_text(large);

    EXPECT(jaxvet_program_limits(program, &limits, &error) == JAXVET_OK);
    EXPECT(!jaxvet_prepare(program, NULL, 0, &error));
    EXPECT(error.status == JAXVET_LIMIT);
    EXPECT(strstr(error.message, "gave up"));
    jaxvet_close(program);
}

/* A program that was cancelled while it was checked gives no report, then or
 * later. */
static void checks_end(void)
{
    jaxvet_limits limits = {sizeof limits, 0, 0, &cancelled};
    jaxvet_program *program = open_text(endless);
    const char *report = "";

    cancelled = 1;
    EXPECT(jaxvet_program_limits(program, &limits, &error) == JAXVET_OK);
    EXPECT(jaxvet_check(program, &report, &error) == JAXVET_LIMIT && !report);
    cancelled = 0;
    EXPECT(jaxvet_check(program, &report, &error) == JAXVET_LIMIT && !report);
    jaxvet_close(program);
}

static void questions_end(void)
{
    static const char *const where[] = {"a >= 2"};
    jaxvet_limits limits = {sizeof limits, 0, 0, &cancelled};
    jaxvet_prover *prover = jaxvet_prover_new(where, 1, 1, NULL, &error);
    jaxvet_verdict verdict;
    const char *answer;

    EXPECT(prover);
    EXPECT(jaxvet_prover_limits(prover, &limits, &error) == JAXVET_OK);
    cancelled = 1;
    EXPECT(jaxvet_prove(prover, "a*a*b + 7*c*b", "!=", "c*c*a*b + 11", 0,
                        &verdict, &answer, &error) == JAXVET_OK);
    EXPECT(verdict == JAXVET_UNKNOWN);
    EXPECT(strstr(answer, "\"unknown\"") && strstr(answer, "gave up"));
    cancelled = 0;
    EXPECT(jaxvet_prove(prover, "a*b", ">=", "a", 0, &verdict, &answer,
                        &error) == JAXVET_OK);
    EXPECT(verdict == JAXVET_TRUE);
    limits.size = 4;
    EXPECT(jaxvet_prover_limits(prover, &limits, &error) == JAXVET_USAGE);
    jaxvet_prover_free(prover);
}

int main(void)
{
    runs_end();
    memory_ends();
    checks_end();
    questions_end();
    printf("limits: 12 calls of a host ended where they had to\n");
    return 0;
}
