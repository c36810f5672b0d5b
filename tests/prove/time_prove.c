/* time_prove.c - how long the prover takes for each question of a file.
 *
 *     build/tests/time_prove [--slow N] [--repeat N] [--no-solver] FILE.jsonl
 *
 * Every question gets a prover of its own, made when the clock runs: nothing is
 * left from the one before but the solver's process.  What is read from the
 * file (dims interned) is not counted, nor are suggestions unless --suggest
 * asks for them.  Of the repetitions the median counts. */
#include "frontend/base/file.h"
#include "frontend/base/json.h"
#include "prover/linear.h"
#include "prover/prover.h"
#include "prover/solver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_CONSTRAINTS = 256, MAX_REPEAT = 99 };

typedef struct settings {
    int slow, repeat;
    bool suggest, no_solver;
    const char *path;
} settings;

typedef struct timed {
    double microseconds;
    bool linear, inequality;
    char name[160];
} timed;

typedef struct question {
    jx_ctx *ctx;
    jx_dims *dims;
    jx_constraint constraints[MAX_CONSTRAINTS], asked;
    int n;
} question;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static const char *text_of(const jx_json *object, const char *key)
{
    const jx_json *value;
    size_t length;

    return jx_json_get(object, key, &value) &&
                   jx_json_kind_of(value) == JX_JSON_TEXT
               ? jx_json_text(value, &length)
               : "";
}

static bool parse(jx_dims *in, const char *text, jx_constraint *to)
{
    const char *expected;
    size_t at;

    return jx_constraint_parse(in, text, strlen(text), 0, to, &at, &expected);
}

static bool read_question(question *q, const jx_json *object)
{
    const jx_json *list;
    size_t length;
    char *text;

    q->n = 0;
    if (jx_json_get(object, "constraints", &list))
        for (size_t i = 0; i < jx_json_count(list) && q->n < MAX_CONSTRAINTS;
             i++)
            if (!parse(q->dims, jx_json_text(jx_json_item(list, i), &length),
                       &q->constraints[q->n++]))
                return false;
    text = jx_arena_printf(q->ctx->arena, "%s %s %s", text_of(object, "lhs"),
                           text_of(object, "op"), text_of(object, "rhs"));
    return text && parse(q->dims, text, &q->asked);
}

static bool is_linear(const question *q)
{
    bool linear = jx_is_linear(q->asked.lhs) && jx_is_linear(q->asked.rhs);

    for (int i = 0; i < q->n; i++)
        linear = linear && jx_is_linear(q->constraints[i].lhs) &&
                 jx_is_linear(q->constraints[i].rhs);
    return linear;
}

/* One answer from nothing, in microseconds; 0 for what can't be read. */
static double time_once(const settings *s, const char *line, size_t length,
                        jx_solver *solver, timed *to)
{
    jx_prover_options o = {
        .suggest = s->suggest, .no_solver = s->no_solver, .solver = solver};
    question q = {.ctx = jx_ctx_new(0)};
    jx_json *object = NULL;
    double start, spent = 0;

    q.dims = jx_dims_new(q.ctx);
    if (jx_json_read(q.ctx, NULL, line, length, &object) &&
        read_question(&q, object)) {
        start = now();
        jx_prover *p = jx_prover_new(q.ctx, q.dims, q.constraints, q.n, &o);
        jx_answer a =
            jx_prove_compare(p, q.asked.lhs, q.asked.relation, q.asked.rhs);
        jx_prover_free(p);
        spent = now() - start;
        to->linear = is_linear(&q);
        to->inequality =
            q.asked.relation != JX_REL_EQ && q.asked.relation != JX_REL_NE;
        snprintf(to->name, sizeof to->name, "%s by %s: %s %s %s",
                 jx_truth_text(a.truth), a.by ? a.by : "nobody",
                 text_of(object, "lhs"), text_of(object, "op"),
                 text_of(object, "rhs"));
    }
    if (object)
        jx_json_free(object);
    jx_ctx_free(q.ctx);
    return spent;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static int slowest_first(const void *a, const void *b)
{
    return by_value(&((const timed *)b)->microseconds,
                    &((const timed *)a)->microseconds);
}

static void print_row(const char *what, const timed *all, size_t n,
                      bool linear_only)
{
    double *of = calloc(n + 1, sizeof *of);
    size_t m = 0;

    for (size_t i = 0; of && i < n; i++)
        if (!linear_only || all[i].linear)
            of[m++] = all[i].microseconds;
    if (of && m) {
        qsort(of, m, sizeof *of, by_value);
        printf("%-14s %6zu %10.2f %10.2f %10.2f %12.2f\n", what, m, of[m / 2],
               of[m * 9 / 10], of[m * 99 / 100], of[m - 1]);
    }
    free(of);
}

static void run(const settings *s, const char *text, size_t size)
{
    jx_solver *solver = jx_solver_new(NULL);
    timed *all = NULL;
    size_t n = 0, room = 0;
    jx_buffer warm = {0};

    jx_solver_check(solver, "", 1, NULL, &warm); /* the process runs already */
    jx_buffer_free(&warm);
    for (const char *line = text, *end; line < text + size; line = end + 1) {
        double times[MAX_REPEAT];

        end = memchr(line, '\n', (size_t)(text + size - line));
        if (!end)
            end = text + size;
        if (n == room) {
            room = room * 2 + 64;
            all = realloc(all, room * sizeof *all);
            if (!all)
                break;
        }
        for (int i = 0; i < s->repeat; i++)
            times[i] =
                time_once(s, line, (size_t)(end - line), solver, &all[n]);
        qsort(times, (size_t)s->repeat, sizeof *times, by_value);
        all[n].microseconds = times[s->repeat / 2];
        n += all[n].microseconds > 0;
    }
    if (n) {
        qsort(all, n, sizeof *all, slowest_first);
        printf("%-14s %6s %10s %10s %10s %12s\n", "microseconds", "n", "median",
               "p90", "p99", "worst");
        print_row("linear", all, n, true);
        print_row("all", all, n, false);
    }
    for (size_t i = 0; i < n && i < (size_t)s->slow; i++)
        printf("%12.1f  %s\n", all[i].microseconds, all[i].name);
    printf("solver asked %d times\n", jx_solver_count(solver) - 1);
    jx_solver_free(solver);
    free(all);
}

int main(int argc, char **argv)
{
    settings s = {.repeat = 5};
    jx_ctx *ctx = jx_ctx_new(0);
    const char *text;
    size_t size;

    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--slow") && i + 1 < argc)
            s.slow = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--repeat") && i + 1 < argc)
            s.repeat = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--suggest"))
            s.suggest = true;
        else if (!strcmp(argv[i], "--no-solver"))
            s.no_solver = true;
        else
            s.path = argv[i];
    }
    if (!s.path || s.repeat < 1 || s.repeat > MAX_REPEAT)
        return 2;
    text = jx_file_read(ctx, s.path, &size);
    if (text)
        run(&s, text, size);
    else
        fprintf(stderr, "%s: %s\n", s.path, ctx->error.message);
    jx_ctx_free(ctx);
    return text ? 0 : 3;
}
