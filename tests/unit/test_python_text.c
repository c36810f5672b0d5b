/* test_python_text.c - expressions of Python, looked at from outside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/base/python_text.h"

static jx_py_span all(const char *text)
{
    return (jx_py_span){0, strlen(text)};
}

static const char *part(const char *text, jx_py_span span)
{
    static char to[200];

    snprintf(to, sizeof to, "%.*s", (int)(span.end - span.begin),
             text + span.begin);
    return to;
}

static void calls_have_names_and_arguments(void **state)
{
    const char *text =
        "jnp.log( jax.nn.softmax(x @ w, (1, 2)), axis = -1,)  # why, not";
    jx_py_call call, inner;

    (void)state;
    assert_true(jx_py_call_of(text, all(text), &call));
    assert_string_equal(part(text, call.of), "jnp");
    assert_string_equal(part(text, call.name), "log");
    assert_int_equal(call.nargs, 2);
    assert_string_equal(part(text, call.args[1].name), "axis");
    assert_string_equal(part(text, call.args[1].value), "-1");
    assert_true(jx_py_call_of(text, call.args[0].value, &inner));
    assert_string_equal(part(text, inner.of), "jax.nn");
    assert_int_equal(inner.nargs, 2);
    assert_string_equal(part(text, inner.args[1].value), "(1, 2)");
}

static void methods_are_calls_of_what_comes_before(void **state)
{
    const char *text = "((a + b).T\n  .sum)(0)",
               *method = "(a + b)[0].sum('),(', k=')')";
    jx_py_call call;

    (void)state;
    assert_false(jx_py_call_of(text, all(text), &call));
    assert_true(jx_py_call_of(method, all(method), &call));
    assert_string_equal(part(method, call.of), "(a + b)[0]");
    assert_int_equal(call.nargs, 2);
    assert_string_equal(part(method, call.args[0].value), "'),('");
}

static void what_is_no_single_call_is_none(void **state)
{
    static const char *const texts[] = {"",
                                        "f",
                                        "f(x) + 1",
                                        "f(x)(y)",
                                        "f(*x)",
                                        "f(**x)",
                                        "f(x)[0]",
                                        "-f(x)",
                                        "f(x",
                                        "f)x(",
                                        "x, f(y)",
                                        "f(x) if c else g(x)",
                                        "lambda: f(x)",
                                        "not f(x)",
                                        "'f(x)'",
                                        "(f(x)",
                                        "f(1,2,3,4,5,6,7,8,9,10,11,12,13)"};
    jx_py_call call;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_false(jx_py_call_of(texts[i], all(texts[i]), &call));
}

static void sides_are_those_of_the_operator_that_is_applied_last(void **state)
{
    static const struct {
        const char *text, *op, *left, *right;
    } rows[] = {
        {"a / b", "/", "a", "b"},
        {"(a / b / c)", "/", "a / b", "c"},
        {"-a * b / f(c / d)", "/", "-a * b", "f(c / d)"},
        {"a / b * c", "*", "a / b", "c"},
        {"1. - x / y", "-", "1.", "x / y"},
        {"a / -b ** -c", "/", "a", "-b ** -c"},
        {"1e-3 + x", "+", "1e-3", "x"},
        {"a  # x / y\n / b", "/", "a", "b"},
        {"a[i / j] / 'b / c'", "/", "a[i / j]", "'b / c'"},
        {"f(a) ** -.5", "**", "f(a)", "-.5"},
        {"a ** b ** c", "**", "a", "b ** c"},
    };
    jx_py_span left, right;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(jx_py_sides_of(rows[i].text, all(rows[i].text), rows[i].op,
                                   &left, &right));
        assert_string_equal(part(rows[i].text, left), rows[i].left);
        assert_string_equal(part(rows[i].text, right), rows[i].right);
    }
    assert_false(
        jx_py_sides_of("a + b / c", all("a + b / c"), "/", &left, &right));
    assert_false(
        jx_py_sides_of("a / b < c", all("a / b < c"), "/", &left, &right));
    assert_false(jx_py_sides_of("a / b if c else d", all("a / b if c else d"),
                                "/", &left, &right));
    assert_false(
        jx_py_sides_of("-a ** b", all("-a ** b"), "**", &left, &right));
    assert_false(jx_py_sides_of("a // b", all("a // b"), "/", &left, &right));
    assert_false(jx_py_sides_of("a /", all("a /"), "/", &left, &right));
    assert_false(jx_py_sides_of("a / b)", all("a / b)"), "/", &left, &right));
    assert_false(
        jx_py_sides_of("x, a / b", all("x, a / b"), "/", &left, &right));
}

static void ranks_say_what_needs_brackets(void **state)
{
    static const struct {
        const char *text;
        jx_py_rank rank;
    } rows[] = {
        {"x", JX_PY_PRIMARY},
        {" f(a, b)[0].T ", JX_PY_PRIMARY},
        {"(a + b)", JX_PY_PRIMARY},
        {"1e-3", JX_PY_PRIMARY},
        {"-x", JX_PY_SIGNED},
        {"x ** 2", JX_PY_SIGNED},
        {"a @ b", JX_PY_PRODUCT},
        {"-a * b", JX_PY_PRODUCT},
        {"a + b * c", JX_PY_SUM},
        {"a < b", JX_PY_LOOSE},
        {"a if b else c", JX_PY_LOOSE},
        {"a | b", JX_PY_LOOSE},
        {"a, b", JX_PY_LOOSE},
        {"not a", JX_PY_LOOSE},
        {"", JX_PY_LOOSE},
        {"a +", JX_PY_LOOSE},
        {"(a", JX_PY_LOOSE},
        {"a)", JX_PY_LOOSE},
        {"x := y", JX_PY_LOOSE},
        {"\"open", JX_PY_PRIMARY}, /* a string to the end */
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(jx_py_rank_of(rows[i].text, all(rows[i].text)),
                         rows[i].rank);
}

static void bare_is_without_what_stands_around(void **state)
{
    static const struct {
        const char *text, *bare;
    } rows[] = {
        {" ((a + b)) # c", "a + b"},
        {"(a) + (b)", "(a) + (b)"},
        {"(a, b)", "(a, b)"},
        {"()", "()"},
        {"(a", "(a"},
        {"[a]", "[a]"},
        {"", ""},
        {"( f(x) )", "f(x)"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(
            part(rows[i].text, jx_py_bare(rows[i].text, all(rows[i].text))),
            rows[i].bare);
}

/* Any bytes are looked at without leaving them. */
static void any_text_is_borne(void **state)
{
    static const char letters[] = "ab1.e+-*/@(),[]{}'\"\\# \n=:%<\x80\xff";
    uint32_t seed = 1;

    (void)state;
    for (int n = 0; n < 200000; n++) {
        char text[24];
        size_t length;
        jx_py_call call;
        jx_py_span left, right;
        seed = seed * 1664525 + 1013904223;
        length = (seed >> 8) % sizeof text;
        for (size_t i = 0; i < length; i++) {
            seed = seed * 1664525 + 1013904223;
            text[i] = letters[(seed >> 8) % (sizeof letters - 1)];
        }
        jx_py_span span = {0, length};
        if (jx_py_call_of(text, span, &call))
            assert_true(call.all.end < length &&
                        call.name.end <= call.all.begin);
        if (jx_py_sides_of(text, span, "/", &left, &right))
            assert_true(left.end <= right.begin && right.end <= length);
        jx_py_rank_of(text, span);
        assert_true(jx_py_bare(text, span).end <= length);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_have_names_and_arguments),
        cmocka_unit_test(methods_are_calls_of_what_comes_before),
        cmocka_unit_test(what_is_no_single_call_is_none),
        cmocka_unit_test(sides_are_those_of_the_operator_that_is_applied_last),
        cmocka_unit_test(ranks_say_what_needs_brackets),
        cmocka_unit_test(bare_is_without_what_stands_around),
        cmocka_unit_test(any_text_is_borne),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
