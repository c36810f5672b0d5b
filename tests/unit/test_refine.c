/* test_refine.c - programs at sizes. */
#include "analyzer/transform/refine.h"
#include "analyzer/typing.h"
#include "frontend/ir/print.h"
#include "frontend/read/document.h"
#include "frontend/read/text.h"
#include "frontend/write/document.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static jx_program *read_text(jx_ctx *ctx, const char *text)
{
    jx_program *p = jx_read_text(ctx, "-", text, strlen(text));

    if (!p)
        print_error("%s: %s\n", ctx->error.place, ctx->error.message);
    assert_non_null(p);
    return p;
}

static jx_program *refine(jx_program *p, int b, int t)
{
    const jx_binding sizes[] = {
        {jx_dim_var_atom(p->dims, "b", 0), b},
        {jx_dim_var_atom(p->dims, "t", 0), t},
    };

    return jx_program_refine(p, NULL, t ? 2 : 1, sizes);
}

static void becomes(const char *from, int b, int t, const char *to)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_program *p = refine(read_text(ctx, from), b, t);
    jx_buffer text = {0};

    if (!p)
        print_error("%s: %s\n", ctx->error.place, ctx->error.message);
    assert_non_null(p);
    assert_true(jx_program_print(p, (jx_print_options){0}, &text));
    assert_string_equal(jx_buffer_text(&text), to);
    jx_analysis *analysis = jx_analysis_new(p);
    assert_true(jx_type_program(analysis));
    for (size_t i = 0; i < analysis->claims.count; i++)
        assert_int_not_equal(analysis->claims.at[i]->verdict, JX_REFUTED);
    jx_buffer_free(&text);
    jx_ctx_free(ctx);
}

static void refuses(const char *from, int b, int t, const char *place,
                    const char *why)
{
    jx_ctx *ctx = jx_ctx_new(0);

    assert_null(refine(read_text(ctx, from), b, t));
    assert_int_equal(ctx->error.kind, JX_E_INPUT);
    if (place)
        assert_non_null(strstr(ctx->error.place, place));
    if (!strstr(ctx->error.message, why))
        print_error("'%s' has no '%s'\n", ctx->error.message, why);
    assert_non_null(strstr(ctx->error.message, why));
    jx_ctx_free(ctx);
}

static void shapes_and_parameters_become_numbers(void **state)
{
    (void)state;
    becomes("{ lambda ; a:f32[b,t]. let\n"
            "    c:f32[b*t] = reshape[dimensions=None new_sizes=(b*t,) "
            "sharding=None] a\n"
            "    d:f32[b] = slice[limit_indices=(b,) start_indices=(0,) "
            "strides=None] c\n"
            "  in (d,) }",
            2, 3,
            "{ lambda ; a:f32[2,3]. let\n"
            "    b:f32[6] = reshape[dimensions=None new_sizes=(6,) "
            "sharding=None] a\n"
            "    c:f32[2] = slice[limit_indices=(2,) start_indices=(0,) "
            "strides=None] b\n"
            "  in (c,) }");
}

static void sizes_as_values_become_literals(void **state)
{
    (void)state;
    becomes("{ lambda ; a:f32[b]. let\n"
            "    c:i32[] = dim_as_value[dim=2*b + 1] \n"
            "    d:f32[] = convert_element_type[new_dtype=float32 "
            "weak_type=False] c\n"
            "    e:f32[b] = mul a d\n"
            "  in (e, c) }",
            4, 0,
            "{ lambda ; a:f32[4]. let\n"
            "    b:f32[] = convert_element_type[new_dtype=float32 "
            "weak_type=False] 9:i32[]\n"
            "    c:f32[4] = mul a b\n"
            "  in (c, 9:i32[]) }");
}

static void their_arithmetic_wraps_as_the_program_does(void **state)
{
    (void)state;
    becomes("{ lambda ; a:f32[b]. let\n"
            "    c:i32[] = dim_as_value[dim=floordiv(b^2, 70000)] \n"
            "  in (c,) }",
            70000, 0, "{ lambda ; a:f32[70000]. let  in (8643:i32[],) }");
}

static void what_has_no_size_stays_symbolic(void **state)
{
    (void)state;
    becomes("{ lambda ; a:f32[b,t]. let\n"
            "    c:i32[] = dim_as_value[dim=b*t] \n"
            "    d:f32[b*t] = reshape[dimensions=None new_sizes=(b*t,) "
            "sharding=None] a\n"
            "  in (c, d) }",
            3, 0,
            "{ lambda ; a:f32[3,t]. let\n"
            "    b:i32[] = dim_as_value[dim=3*t] \n"
            "    c:f32[3*t] = reshape[dimensions=None new_sizes=(3*t,) "
            "sharding=None] a\n"
            "  in (b, c) }");
}

static void bodies_of_loops_too(void **state)
{
    (void)state;
    becomes("{ lambda ; a:f32[b]. let\n"
            "    c:f32[b] = scan[\n"
            "      _split_transpose=False\n"
            "      jaxpr={ lambda ; d:f32[b]. let e:f32[b] = sin d in (e,) }\n"
            "      length=b\n"
            "      linear=(False,)\n"
            "      num_carry=1\n"
            "      num_consts=0\n"
            "      reverse=False\n"
            "      unroll=1\n"
            "    ] a\n"
            "  in (c,) }",
            5, 0,
            "{ lambda ; a:f32[5]. let\n"
            "    b:f32[5] = scan[\n"
            "      _split_transpose=False\n"
            "      jaxpr={ lambda ; c:f32[5]. let d:f32[5] = sin c in (d,) }\n"
            "      length=5\n"
            "      linear=(False,)\n"
            "      num_carry=1\n"
            "      num_consts=0\n"
            "      reverse=False\n"
            "      unroll=1\n"
            "    ] a\n"
            "  in (b,) }");
}

static void sizes_that_can_not_be_are_refused(void **state)
{
    static const char cut[] =
        "{ lambda ; a:f32[b]. let\n"
        "    c:f32[b - 2] = slice[limit_indices=(b,) start_indices=(2,) "
        "strides=None] a\n"
        "  in (c,) }";
    static const char quotient[] =
        "{ lambda ; a:f32[b]. let\n"
        "    c:i32[] = dim_as_value[dim=floordiv(b, b - 1)] \n"
        "  in (c,) }";
    static const char power[] = "{ lambda ; a:f32[b]. let\n"
                                "    c:i32[] = dim_as_value[dim=b^5] \n"
                                "  in (c,) }";

    (void)state;
    refuses(cut, 1, 0, "equation 0 of jaxpr 0 (slice)",
            "the size b - 2 is -1 at b = 1");
    refuses(quotient, 1, 0, "(dim_as_value)", "the divisor b - 1 is 0");
    refuses(power, INT32_MAX, 0, NULL, "does not fit in 128 bits");
    refuses(cut, 0, 0, NULL, "b >= 1");
}

/* Of two constraints, with a comparison and a rule-less entry. */
static const char document[] =
    "{\"format\":\"jaxvet-jaxpr\",\"version\":1,\"producer\":{\"jaxvet\":"
    "\"0.1.0\",\"jax\":\"0.10.2\",\"python\":\"3.11.7\",\"x64\":false},"
    "\"entry\":{\"jaxpr\":0,\"name\":\"f\",\"in_paths\":[\"x\"],"
    "\"out_paths\":[\"\"]},"
    "\"scopes\":[{\"constraints\":[[\"geq\",\"b\",\"2\",\"b >= 2\"],"
    "[\"geq\",\"t\",\"b\",\"t >= b\"]]}],"
    "\"avals\":[{\"dt\":\"f32\",\"sh\":[\"b\",\"t\"]}],\"prims\":[\"sin\"],"
    "\"jaxprs\":[{\"in\":[0],\"eqns\":[[0,[0],[0],{\"accuracy\":null},-1,-1,"
    "-1]],\"out\":[1]}],"
    "\"comparisons\":[{\"op\":\">=\",\"lhs\":\"b\",\"rhs\":\"2\",\"verdict\":"
    "true,\"n\":1,\"site\":[\"a.py\",\"f\"]},{\"op\":\"==\",\"lhs\":\"b\","
    "\"rhs\":\"t\",\"verdict\":false,\"n\":1,\"site\":[\"a.py\",\"f\"]}]}\n";

static void constraints_are_checked_dropped_or_kept(void **state)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_program *p = jx_read_document(ctx, "-", document, sizeof document - 1);
    jx_buffer text = {0};

    (void)state;
    assert_non_null(p);
    jx_program *some = refine(p, 3, 0);
    assert_non_null(some);
    assert_int_equal(some->scopes[0].nconstraints, 1);
    assert_string_equal(some->scopes[0].constraints[0].text, "t >= 3");
    assert_int_equal(some->ncomparisons, 1);
    jx_program *all = refine(p, 3, 4);
    assert_non_null(all);
    assert_int_equal(all->scopes[0].nconstraints, 0);
    assert_int_equal(all->ncomparisons, 0);
    assert_true(jx_write_document(all, &text));
    assert_non_null(strstr(jx_buffer_text(&text), "\"sh\":[3,4]"));
    jx_buffer_free(&text);
    assert_null(refine(p, 3, 2));
    assert_non_null(strstr(ctx->error.message, "the constraint t >= b"));
    jx_error_clear(ctx);
    assert_null(refine(p, 1, 0));
    assert_non_null(strstr(ctx->error.message, "the constraint b >= 2"));
    jx_ctx_free(ctx);
}

/* The same document with another table of constraints or comparisons. */
static jx_program *read_with(jx_ctx *ctx, const char *from, const char *to)
{
    const char *at = strstr(document, from);
    char *text;

    assert_non_null(at);
    text = jx_arena_printf(ctx->arena, "%.*s%s%s", (int)(at - document),
                           document, to, at + strlen(from));
    jx_program *p = jx_read_document(ctx, "-", text, strlen(text));
    if (!p)
        print_error("%s: %s\n", ctx->error.place, ctx->error.message);
    assert_non_null(p);
    return p;
}

static void constraints_that_become_trivial_are_dropped(void **state)
{
    static const char from[] = "[\"geq\",\"t\",\"b\",\"t >= b\"]";
    jx_ctx *ctx = jx_ctx_new(0);
    jx_program *p =
        read_with(ctx, from, "[\"geq\",\"t*b\",\"3*t\",\"t*b >= 3*t\"]");

    (void)state;
    jx_program *some = refine(p, 3, 0);
    assert_non_null(some);
    assert_int_equal(some->scopes[0].nconstraints, 0);
    assert_non_null(refine(p, 4, 0));
    p = read_with(ctx, from, "[\"geq\",\"t*b\",\"3*t + 1\",\"\"]");
    assert_null(refine(p, 3, 0));
    assert_non_null(strstr(ctx->error.message, "is broken: -1 >= 0 is false "
                                               "at b = 3"));
    jx_ctx_free(ctx);
}

static void a_comparison_without_a_value_refuses_nothing(void **state)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_program *p = read_with(ctx, "\"lhs\":\"b\",\"rhs\":\"t\"",
                              "\"lhs\":\"floordiv(t, b - 3)\",\"rhs\":\"1\"");

    (void)state;
    assert_non_null(refine(p, 3, 0));
    assert_int_equal(refine(p, 3, 0)->ncomparisons, 0);
    assert_int_equal(refine(p, 5, 0)->ncomparisons, 1);
    jx_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_and_parameters_become_numbers),
        cmocka_unit_test(sizes_as_values_become_literals),
        cmocka_unit_test(their_arithmetic_wraps_as_the_program_does),
        cmocka_unit_test(what_has_no_size_stays_symbolic),
        cmocka_unit_test(bodies_of_loops_too),
        cmocka_unit_test(sizes_that_can_not_be_are_refused),
        cmocka_unit_test(constraints_are_checked_dropped_or_kept),
        cmocka_unit_test(constraints_that_become_trivial_are_dropped),
        cmocka_unit_test(a_comparison_without_a_value_refuses_nothing),
    };

    return cmocka_run_group_tests_name("refine", tests, NULL, NULL);
}
