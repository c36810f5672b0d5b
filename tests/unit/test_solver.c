/* test_solver.c - helpers that are missing, die, hang, lie or are no helpers:
 * each is an unknown answer with its reason, never a hang, and never kept. */
#include "prover/prover.h"
#include "prover/solver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* What case splits leave to the solver. */
static const char hard[] = "a*a + b*b + c*c + d*d >= a*b + b*c + c*d + d*a";

typedef struct place {
    char folder[64], script[96];
} place;

static int make_place(void **state)
{
    place *p = calloc(1, sizeof *p);

    strcpy(p->folder, "/tmp/jaxvet-solver-XXXXXX");
    if (!mkdtemp(p->folder))
        return -1;
    snprintf(p->script, sizeof p->script, "%s/helper", p->folder);
    *state = p;
    return 0;
}

static int clear_place(void **state)
{
    place *p = *state;
    char command[128];
    int failed;

    snprintf(command, sizeof command, "rm -rf %s", p->folder);
    failed = system(command);
    free(p);
    return failed;
}

/* A helper with this body; `%s` in it is the folder. */
static void write_helper(const place *p, const char *body)
{
    FILE *f = fopen(p->script, "w");

    assert_non_null(f);
    fputs("#!/bin/sh\n", f);
    for (const char *c = body; *c; c++)
        if (c[0] == '%' && c[1] == 's')
            fputs(p->folder, f), c++;
        else
            fputc(*c, f);
    fclose(f);
    chmod(p->script, 0755);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct asked {
    jx_ctx *ctx;
    jx_prover *prover;
    jx_constraint question;
    jx_answer answer;
} asked;

static void ask_again(asked *q)
{
    q->answer = jx_prove_compare(q->prover, q->question.lhs,
                                 q->question.relation, q->question.rhs);
}

static asked ask(const char *text, jx_solver *solver)
{
    jx_prover_options o = {.solver = solver};
    asked q = {.ctx = jx_ctx_new(0)};
    jx_dims *dims = jx_dims_new(q.ctx);
    const char *expected;
    size_t at;

    assert_true(jx_constraint_parse(dims, text, strlen(text), 0, &q.question,
                                    &at, &expected));
    q.prover = jx_prover_new(q.ctx, dims, NULL, 0, &o);
    ask_again(&q);
    return q;
}

static void done(asked *q)
{
    jx_prover_free(q->prover);
    jx_ctx_free(q->ctx);
}

static void expect_why(const asked *q, const char *why)
{
    assert_int_equal(q->answer.truth, JX_UNKNOWN);
    assert_true(q->answer.passing);
    assert_non_null(q->answer.why);
    if (!strstr(q->answer.why, why))
        fail_msg("why is \"%s\", without \"%s\"", q->answer.why, why);
}

/* Every question is answered, with this reason, in bounded time. */
static void expect_unknown(const place *p, const char *body, const char *why)
{
    double start = now();
    jx_solver *solver;
    asked q;

    write_helper(p, body);
    solver = jx_solver_new(p->script);
    q = ask(hard, solver);
    expect_why(&q, why);
    for (int i = 0; i < 3; i++)
        ask_again(&q);
    expect_why(&q, why);
    done(&q);
    jx_solver_free(solver);
    assert_true(now() - start < 60);
}

#define GREET "echo jaxvet-solver 4.8.12\n"
#define TAKE "read request\n"

/* There, a program that can't be run is one that ended at once. */
static bool is_valgrind(void)
{
    const char *before = getenv("LD_PRELOAD");

    return before && strstr(before, "vgpreload");
}

static void one_that_is_missing_is_named(void **state)
{
    const place *p = *state;
    jx_solver *solver;
    asked q;

    if (is_valgrind())
        skip();
    solver = jx_solver_new("/nonexistent/solver");
    q = ask(hard, solver);
    expect_why(&q, "no solver: /nonexistent/solver: No such file");
    done(&q);
    jx_solver_free(solver);

    /* There, but no program. */
    write_helper(p, "exit\n");
    chmod(p->script, 0644);
    solver = jx_solver_new(p->script);
    q = ask(hard, solver);
    expect_why(&q, "Permission denied");
    done(&q);
    jx_solver_free(solver);
}

static void one_that_ends_at_once_is_given_up(void **state)
{
    expect_unknown(*state, "exit 3\n", "exit code 3");
    expect_unknown(*state, "kill -SEGV $$\n", "killed (by signal 11)");
}

static void one_that_is_something_else_is_given_up(void **state)
{
    expect_unknown(*state, "echo hello\nsleep 100\n", "no jaxvet-solver");
    expect_unknown(*state, "echo jaxvet-solver\nsleep 100\n",
                   "no jaxvet-solver");
    expect_unknown(*state, "cat /dev/zero\n", "no answer");
    expect_unknown(*state, GREET "echo more\nsleep 100\n", "no answer");
}

static void one_that_dies_over_a_question_gives_its_signal(void **state)
{
    expect_unknown(*state, GREET TAKE "kill -9 $$\n", "killed (by signal 9)");
    expect_unknown(*state, GREET "exec 0<&-\nexit 1\n", "exit code 1");
    expect_unknown(*state, GREET TAKE "printf uns\nexit 0\n", "exit code 0");
}

static void one_that_talks_nonsense_is_not_believed(void **state)
{
    expect_unknown(*state, GREET TAKE "echo unsatisfactory\nsleep 100\n",
                   "what is no answer");
    expect_unknown(*state, GREET TAKE "printf 'unsat\\nunsat\\n'\nsleep 100\n",
                   "what is no answer");
    expect_unknown(*state, GREET TAKE "tr '\\0' x </dev/zero 2>/dev/null\n",
                   "what is no answer");
}

static void a_model_is_evaluated(void **state)
{
    static const char *const lies[] = {
        "sat a=1 b=1 c=1 d=1",
        "sat a=-5",
        "sat a=99999999999999999999999999999999 b=x =3 c",
        "sat = = =",
    };
    const place *p = *state;

    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        char body[200];
        jx_solver *solver;
        asked q;

        snprintf(body, sizeof body,
                 GREET "while true; do " TAKE "echo '%s'; done\n", lies[i]);
        write_helper(p, body);
        solver = jx_solver_new(p->script);
        q = ask(hard, solver);
        assert_int_equal(q.answer.truth, JX_UNKNOWN);
        assert_non_null(q.answer.why);
        done(&q);
        jx_solver_free(solver);
    }
}

static void one_that_computes_for_ever_is_killed(void **state)
{
    const place *p = *state;
    jx_solver *solver;
    asked q;

    write_helper(p, GREET TAKE "while :; do :; done\n");
    solver = jx_solver_new(p->script);
    q = ask(hard, solver);
    expect_why(&q, "processor time");
    done(&q);
    jx_solver_free(solver);
}

/* 4.8.12 overruns its own limit with this one, now and then. */
static void a_question_has_only_so_much_processor_time(void **state)
{
    jx_solver *solver = jx_solver_new(NULL);
    double start = now();
    asked q = ask("a*a*a + b*b*b != c*c*c", solver);
    (void)state;

    assert_true(q.answer.truth == JX_UNKNOWN || q.answer.truth == JX_TRUE);
    assert_true(now() - start < 30);
    done(&q);
    jx_solver_free(solver);
}

static void one_that_is_silent_is_not_waited_for(void **state)
{
    const place *p = *state;
    jx_solver *solver;
    jx_buffer text = {0}, large = {0};
    double start = now();

    write_helper(p, GREET "exec sleep 1000\n");
    solver = jx_solver_new(p->script);
    /* More than a socket holds. */
    for (int i = 0; i < 40000; i++)
        jx_buffer_puts(&large, "(declare-const a Int)\n");
    assert_int_equal(
        jx_solver_check(solver, jx_buffer_text(&large), 1000, NULL, &text),
        JX_SOLVER_FAILED);
    assert_non_null(strstr(jx_buffer_text(&text), "does not answer"));
    assert_true(now() - start < 30);
    jx_buffer_free(&text);
    jx_buffer_free(&large);
    jx_solver_free(solver);
}

/* Killed over the first question, well at the second: the prover asks again. */
static void what_a_dead_helper_left_open_is_asked_again(void **state)
{
    const place *p = *state;
    char real[4096], body[8192];
    jx_solver *solver;
    asked q;
    ssize_t n = readlink("/proc/self/exe", real, sizeof real - 1);

    assert_true(n > 0);
    real[n] = '\0';
    *strrchr(real, '/') = '\0';
    strcat(real, "/../jaxvet-solver");
    if (getenv("JAXVET_SOLVER"))
        snprintf(real, sizeof real, "%s", getenv("JAXVET_SOLVER"));
    snprintf(body, sizeof body,
             "[ -f %%s/again ] && exec %s\ntouch %%s/again\n" GREET TAKE
             "kill -9 $$\n",
             real);
    write_helper(p, body);
    solver = jx_solver_new(p->script);
    q = ask(hard, solver);
    expect_why(&q, "killed (by signal 9)");
    ask_again(&q);
    assert_int_equal(q.answer.truth, JX_TRUE);
    assert_string_equal(q.answer.by, "z3");
    assert_false(q.answer.passing);
    assert_int_equal(strncmp(q.answer.solver, "z3 ", 3), 0);
    done(&q);
    jx_solver_free(solver);
}

/* The same for the question whether the constraints allow anything. */
static void the_state_of_the_constraints_is_asked_again_too(void **state)
{
    const place *p = *state;
    jx_solver *solver;
    jx_ctx *ctx = jx_ctx_new(0);
    jx_dims *dims = jx_dims_new(ctx);
    jx_constraint c;
    const char *expected, *text = "x^3 + y^3 == z^3 + 5000000";
    size_t at;

    write_helper(p, GREET TAKE "kill -9 $$\n");
    solver = jx_solver_new(p->script);
    jx_prover_options o = {.solver = solver};
    assert_true(
        jx_constraint_parse(dims, text, strlen(text), 0, &c, &at, &expected));
    jx_prover *prover = jx_prover_new(ctx, dims, &c, 1, &o);
    for (int i = 1; i <= 2; i++) {
        jx_answer a = jx_prove_consistent(prover);
        assert_int_equal(a.truth, JX_UNKNOWN);
        assert_true(a.passing);
        assert_int_equal(jx_solver_count(solver), i);
    }
    jx_prover_free(prover);
    jx_ctx_free(ctx);
    jx_solver_free(solver);
}

static void a_question_longer_than_any_is_not_sent(void **state)
{
    jx_solver *solver = jx_solver_new(NULL);
    jx_buffer text = {0};
    size_t n = 5u << 20;
    char *script = malloc(n + 1);
    (void)state;

    memset(script, ' ', n);
    script[n] = '\0';
    assert_int_equal(jx_solver_check(solver, script, 1000, NULL, &text),
                     JX_SOLVER_UNKNOWN);
    assert_non_null(strstr(jx_buffer_text(&text), "too long"));
    free(script);
    jx_buffer_free(&text);
    jx_solver_free(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_is_missing_is_named),
        cmocka_unit_test(one_that_ends_at_once_is_given_up),
        cmocka_unit_test(one_that_is_something_else_is_given_up),
        cmocka_unit_test(one_that_dies_over_a_question_gives_its_signal),
        cmocka_unit_test(one_that_talks_nonsense_is_not_believed),
        cmocka_unit_test(a_model_is_evaluated),
        cmocka_unit_test(one_that_computes_for_ever_is_killed),
        cmocka_unit_test(a_question_has_only_so_much_processor_time),
        cmocka_unit_test(one_that_is_silent_is_not_waited_for),
        cmocka_unit_test(what_a_dead_helper_left_open_is_asked_again),
        cmocka_unit_test(the_state_of_the_constraints_is_asked_again_too),
        cmocka_unit_test(a_question_longer_than_any_is_not_sent),
    };

    return cmocka_run_group_tests(tests, make_place, clear_place);
}
