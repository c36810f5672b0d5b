/* test_sanitize.c - calls that look at what they compute, through jaxvet.h. */
#include "jaxvet.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char logarithm[] =
    "{ lambda ; a:f32[n]. let\n"
    "    b:f32[n] = log a\n"
    "    c:f32[] = reduce_sum[axes=(0,) out_sharding=None] b\n"
    "  in (b, c) }\n";

static const char slice[] =
    "{ lambda ; a:f32[4] i:i32[]. let\n"
    "    b:f32[2] = dynamic_slice[slice_sizes=(2,)] a i\n"
    "  in (b,) }\n";

static const char increment[] = "{ lambda ; a:i32[2]. let\n"
                                "    b:i32[2] = add a 1:i32[]\n"
                                "  in (b,) }\n";

typedef struct opened {
    jaxvet_program *program;
    jaxvet_call *call;
} opened;

static opened open_for(const char *text, unsigned kinds)
{
    static const jaxvet_size size = {"n", 3};
    jaxvet_error error;
    opened o = {0};

    o.program = jaxvet_open_memory(text, strlen(text), "p.jaxpr", 0, &error);
    assert_non_null(o.program);
    o.call = jaxvet_prepare_sanitized(
        o.program, &size, jaxvet_size_count(o.program), kinds, &error);
    assert_non_null(o.call);
    return o;
}

static void end(opened *o)
{
    jaxvet_call_free(o->call);
    jaxvet_close(o->program);
}

static void a_finding_comes_with_the_outputs(void **state)
{
    opened o = open_for(logarithm, JAXVET_SANITIZE_NAN);
    const float fine[] = {1, 2, 3}, bad[] = {1, 0, 3};
    float logs[3], sum;
    const void *in = bad;
    void *outs[] = {logs, &sum};
    const jaxvet_finding *found;
    jaxvet_error error;

    (void)state;
    assert_int_equal(jaxvet_run(o.call, &in, outs, &error), JAXVET_FINDINGS);
    assert_true(isinf(sum));
    assert_true(fabsf(logs[2] - 1.0986123f) < 1e-6f);
    assert_int_equal(jaxvet_call_findings(o.call, &found), 1);
    assert_string_equal(found->code, "NUM001");
    assert_string_equal(found->message, "log of 0 gives -inf");
    assert_int_equal(found->size, sizeof *found);
    assert_non_null(strstr(found->text, "error[NUM001]"));
    assert_null(strstr(found->text, "witnessed"));
    assert_non_null(strstr(jaxvet_call_report(o.call), "\"code\":\"NUM001\""));

    /* The next run has findings of its own, or none. */
    in = fine;
    assert_int_equal(jaxvet_run(o.call, &in, outs, &error), JAXVET_OK);
    assert_int_equal(jaxvet_call_findings(o.call, &found), 0);
    assert_null(found);
    assert_null(jaxvet_call_report(o.call));
    end(&o);
}

static void copies_have_findings_of_their_own(void **state)
{
    opened o = open_for(logarithm, JAXVET_SANITIZE_NAN | JAXVET_SANITIZE_OOB);
    const float fine[] = {1, 2, 3}, bad[] = {1, -1, 3};
    float logs[3], sum;
    void *outs[] = {logs, &sum};
    const void *in = bad;
    jaxvet_error error;
    jaxvet_call *copy = jaxvet_call_copy(o.call, &error);

    (void)state;
    assert_non_null(copy);
    assert_int_equal(jaxvet_run(copy, &in, outs, &error), JAXVET_FINDINGS);
    in = fine;
    assert_int_equal(jaxvet_run(o.call, &in, outs, &error), JAXVET_OK);
    assert_int_equal(jaxvet_call_findings(copy, NULL), 1);
    assert_int_equal(jaxvet_call_findings(o.call, NULL), 0);
    jaxvet_call_free(copy);
    end(&o);
}

static void kinds_are_looked_for_alone(void **state)
{
    opened o = open_for(slice, JAXVET_SANITIZE_NAN | JAXVET_SANITIZE_WRAP);
    const float a[] = {1, 2, 3, 4};
    const int32_t i = 3;
    const void *ins[] = {a, &i};
    float b[2];
    void *out = b;
    const jaxvet_finding *found;
    jaxvet_error error;

    (void)state;
    assert_int_equal(jaxvet_run(o.call, ins, &out, &error), JAXVET_OK);
    end(&o);
    o = open_for(slice, JAXVET_SANITIZE_OOB);
    assert_int_equal(jaxvet_run(o.call, ins, &out, &error), JAXVET_FINDINGS);
    assert_int_equal(jaxvet_call_findings(o.call, &found), 1);
    assert_string_equal(found->code, "IDX002");
    assert_true(b[0] == 3 && b[1] == 4);
    end(&o);
}

static void no_input_is_lent(void **state)
{
    opened o = open_for(increment, JAXVET_SANITIZE_WRAP);
    const int32_t a[] = {INT32_MAX, 5};
    int32_t b[2];
    const void *in = a;
    void *out = b;
    jaxvet_error error;

    (void)state;
    assert_int_equal(jaxvet_call_lends(o.call, 0, 0), 0);
    assert_int_equal(jaxvet_run(o.call, &in, &out, &error), JAXVET_FINDINGS);
    assert_int_equal(b[0], INT32_MIN);
    assert_int_equal(b[1], 6);
    end(&o);
}

static void words_are_kinds(void **state)
{
    (void)state;
    assert_int_equal(jaxvet_sanitize_kinds("nan"), JAXVET_SANITIZE_NAN);
    assert_int_equal(jaxvet_sanitize_kinds("wrap,oob,digits"),
                     JAXVET_SANITIZE_WRAP | JAXVET_SANITIZE_OOB |
                         JAXVET_SANITIZE_DIGITS);
    assert_int_equal(jaxvet_sanitize_kinds(""), 0);
    assert_int_equal(jaxvet_sanitize_kinds("nan,"), 0);
    assert_int_equal(jaxvet_sanitize_kinds("na"), 0);
    assert_int_equal(jaxvet_sanitize_kinds(NULL), 0);
}

static void other_kinds_are_refused(void **state)
{
    jaxvet_error error;
    jaxvet_program *program =
        jaxvet_open_memory(increment, strlen(increment), "p.jaxpr", 0, &error);

    (void)state;
    assert_null(jaxvet_prepare_sanitized(program, NULL, 0, 0, &error));
    assert_int_equal(error.status, JAXVET_USAGE);
    assert_null(jaxvet_prepare_sanitized(program, NULL, 0, 1u << 10, &error));
    assert_int_equal(error.status, JAXVET_USAGE);
    assert_null(jaxvet_prepare_sanitized(NULL, NULL, 0, 1, &error));
    assert_int_equal(jaxvet_call_findings(NULL, NULL), 0);
    assert_null(jaxvet_call_report(NULL));
    jaxvet_close(program);
}

static void digits_that_are_lost_are_found(void **state)
{
    static const char text[] = "{ lambda ; a:f32[]. let\n"
                               "    b:f32[] = exp a\n"
                               "    c:f32[] = sub b 1.0:f32[]\n"
                               "    d:f32[] = expm1 a\n"
                               "  in (c, d) }\n";
    opened o = open_for(text, JAXVET_SANITIZE_DIGITS);
    float a = 1e-5f, c, d;
    const void *in = &a;
    void *outs[] = {&c, &d};
    const jaxvet_finding *found;
    jaxvet_error error;

    (void)state;
    assert_int_equal(jaxvet_run(o.call, &in, outs, &error), JAXVET_FINDINGS);
    assert_int_equal(jaxvet_call_findings(o.call, &found), 1);
    assert_string_equal(found->code, "NUM005");
    a = 0.5f;
    assert_int_equal(jaxvet_run(o.call, &in, outs, &error), JAXVET_OK);
    end(&o);
}

/* Not each of many runs is looked at closer, but each says what is known of its
 * outputs, and what is new in another one is found at once. */
static void digits_that_are_lost_are_told_of_each_run(void **state)
{
    static const char text[] = "{ lambda ; a:f32[] b:f32[]. let\n"
                               "    c:f32[] = exp a\n"
                               "    d:f32[] = sub c 1.0:f32[]\n"
                               "    e:f32[] = exp b\n"
                               "    f:f32[] = add e -1.0:f32[]\n"
                               "  in (d, f) }\n";
    opened o = open_for(text, JAXVET_SANITIZE_DIGITS);
    float a = 1e-5f, b = 0.5f, d, f;
    const void *in[] = {&a, &b};
    void *outs[] = {&d, &f};
    const jaxvet_finding *found;
    jaxvet_error error;

    (void)state;
    for (int i = 0; i < 50; i++) {
        assert_int_equal(jaxvet_run(o.call, in, outs, &error), JAXVET_FINDINGS);
        assert_int_equal(jaxvet_call_findings(o.call, &found), 1);
    }
    a = 0.5f;
    assert_int_equal(jaxvet_run(o.call, in, outs, &error), JAXVET_OK);
    assert_int_equal(jaxvet_call_findings(o.call, &found), 0);
    a = b = 1e-5f;
    assert_int_equal(jaxvet_run(o.call, in, outs, &error), JAXVET_FINDINGS);
    assert_int_equal(jaxvet_call_findings(o.call, &found), 2);
    end(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_finding_comes_with_the_outputs),
        cmocka_unit_test(copies_have_findings_of_their_own),
        cmocka_unit_test(kinds_are_looked_for_alone),
        cmocka_unit_test(no_input_is_lent),
        cmocka_unit_test(words_are_kinds),
        cmocka_unit_test(other_kinds_are_refused),
        cmocka_unit_test(digits_that_are_lost_are_found),
        cmocka_unit_test(digits_that_are_lost_are_told_of_each_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
