/* test_turns.c - loops that go on where they have come to an end. */
#include "runtime/turns.h"

#include "analyzer/typing.h"
#include "frontend/read/text.h"
#include "runtime/exec.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef struct fixture {
    jx_ctx *ctx;
    jx_plan *plan;
    jx_exec *exec;
    jx_turns turns;
} fixture;

static void plan(fixture *f, const char *text)
{
    jx_plan_options options = {.domain = JX_WIDE, .turns = &f->turns};
    jx_program *program;

    *f = (fixture){.ctx = jx_ctx_new(0), .turns = {.least = INT64_MAX}};
    program = jx_read_text(f->ctx, "-", text, strlen(text));
    if (!program)
        fail_msg("%s: %s", f->ctx->error.place, f->ctx->error.message);
    f->plan = jx_plan_make(jx_typed_of(program), &program->entry, &options);
    if (!f->plan)
        fail_msg("%s: %s", f->ctx->error.place, f->ctx->error.message);
    f->exec = jx_exec_new(f->plan);
    assert_non_null(f->exec);
}

static void run(fixture *f, double x)
{
    const void *ins[] = {&x};

    assert_true(jx_exec_run(f->exec, ins, NULL));
    assert_int_equal(f->turns.within, 0);
}

static double float_out(const fixture *f, int i)
{
    return *(const double *)jx_exec_out(f->exec, i);
}

static int int_out(const fixture *f, int i)
{
    return *(const int32_t *)jx_exec_out(f->exec, i);
}

static void close_all(fixture *f)
{
    jx_exec_free(f->exec);
    jx_plan_free(f->plan);
    jx_ctx_free(f->ctx);
}

/* Heron's root, to a tenth; how many turns that took. */
#define HERON                                                                  \
    "{ lambda ; a:f32[]. let\n"                                                \
    "    b:i32[] c:f32[] d:f32[] = while[\n"                                   \
    "      body_jaxpr={ lambda ; e:f32[] f:i32[] g:f32[] h:f32[]. let\n"       \
    "          i:i32[] = add f 1:i32[]\n"                                      \
    "          j:f32[] = div e g\n"                                            \
    "          k:f32[] = add g j\n"                                            \
    "          l:f32[] = mul k 0.5:f32[]\n"                                    \
    "        in (i, l, g) }\n"                                                 \
    "      body_nconsts=1\n"                                                   \
    "      cond_jaxpr={ lambda ; m:i32[] n:f32[] o:f32[]. let\n"               \
    "          p:f32[] = sub n o\n"                                            \
    "          q:f32[] = abs p\n"                                              \
    "          r:bool[] = gt q 0.1:f32[]\n"                                    \
    "        in (r,) }\n"                                                      \
    "      cond_nconsts=0\n"                                                   \
    "    ] a 0:i32[] a 0.0:f32[]\n"                                            \
    "  in (b, c) }\n"

static void what_converges_goes_on_and_counts_stay(void **state)
{
    fixture f;
    int turns;

    (void)state;
    plan(&f, HERON);
    assert_int_equal(f.turns.again, 1);
    run(&f, 2);
    turns = int_out(&f, 0);
    assert_true(fabs(float_out(&f, 1) - sqrt(2)) > 1e-12);
    for (f.turns.which = 0; f.turns.which < JX_TURNINGS; f.turns.which++) {
        f.turns.times = 1;
        run(&f, 2);
        assert_true(fabs(float_out(&f, 1) - sqrt(2)) < 1e-15);
        assert_int_equal(int_out(&f, 0), turns);
    }
    assert_true(f.turns.least == INT64_MAX);
    f.turns.which = JX_TURN_OUTERMOST;
    f.turns.times = 0;
    run(&f, 2);
    assert_true(fabs(float_out(&f, 1) - sqrt(2)) > 1e-12);
    close_all(&f);
}

static void a_turn_that_loses_a_number_is_taken_back(void **state)
{
    fixture f;
    double last;

    (void)state;
    /* 0 / 0 as soon as nothing moves any more. */
    plan(&f, "{ lambda ; a:f32[]. let\n"
             "    b:f32[] c:f32[] = while[\n"
             "      body_jaxpr={ lambda ; e:f32[] g:f32[] h:f32[]. let\n"
             "          j:f32[] = div e g\n"
             "          k:f32[] = add g j\n"
             "          l:f32[] = mul k 0.5:f32[]\n"
             "          s:f32[] = sub l g\n"
             "          t:f32[] = div s s\n"
             "          u:f32[] = mul l t\n"
             "        in (u, g) }\n"
             "      body_nconsts=1\n"
             "      cond_jaxpr={ lambda ; n:f32[] o:f32[]. let\n"
             "          p:f32[] = sub n o\n"
             "          q:f32[] = abs p\n"
             "          r:bool[] = gt q 0.1:f32[]\n"
             "        in (r,) }\n"
             "      cond_nconsts=0\n"
             "    ] a a 0.0:f32[]\n"
             "  in (b,) }\n");
    f.turns.times = 4;
    run(&f, 2);
    last = float_out(&f, 0);
    assert_true(fabs(last - sqrt(2)) < 1e-15);
    assert_true(f.turns.least > 1 && f.turns.least < INT64_MAX);
    f.turns.most = f.turns.least - 1;
    f.turns.least = INT64_MAX;
    run(&f, 2);
    assert_true(float_out(&f, 0) == last);
    assert_true(f.turns.least == INT64_MAX);
    close_all(&f);
}

static void what_is_nudged_comes_back_if_something_draws_it(void **state)
{
    fixture f;

    (void)state;
    plan(&f, HERON);
    f.turns.nudge = 1;
    f.turns.part = 1e-2;
    run(&f, 2);
    assert_true(fabs(float_out(&f, 1) - sqrt(2)) > 1e-4);
    f.turns.times = 1;
    run(&f, 2);
    assert_true(fabs(float_out(&f, 1) - sqrt(2)) < 1e-15);
    close_all(&f);
}

/* Under vmap: rows that have ended stay, until all go on. */
static void rows_go_on_together(void **state)
{
    const double x[] = {2, 9};
    const void *ins[] = {x};
    fixture f;

    (void)state;
    plan(&f, "{ lambda ; a:f32[2]. let\n"
             "    b:f32[2] = mul a 2.0:f32[]\n"
             "    c:f32[2] d:f32[2] = while[\n"
             "      body_jaxpr={ lambda ; e:f32[2] g:f32[2] h:f32[2]. let\n"
             "          j:f32[2] = div e g\n"
             "          k:f32[2] = add g j\n"
             "          l:f32[2] = mul k 0.5:f32[]\n"
             "        in (l, g) }\n"
             "      body_nconsts=1\n"
             "      cond_jaxpr={ lambda ; n:f32[2] o:f32[2]. let\n"
             "          p:f32[2] = sub n o\n"
             "          q:f32[2] = abs p\n"
             "          r:bool[2] = gt q 0.1:f32[]\n"
             "        in (r,) }\n"
             "      cond_nconsts=0\n"
             "    ] a a b\n"
             "  in (c,) }\n");
    f.turns.times = 1;
    assert_true(jx_exec_run(f.exec, ins, NULL));
    const double *out = jx_exec_out(f.exec, 0);
    assert_true(fabs(out[0] - sqrt(2)) < 1e-15 && fabs(out[1] - 3) < 1e-15);
    close_all(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_converges_goes_on_and_counts_stay),
        cmocka_unit_test(a_turn_that_loses_a_number_is_taken_back),
        cmocka_unit_test(what_is_nudged_comes_back_if_something_draws_it),
        cmocka_unit_test(rows_go_on_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
