/* test_hi.c - primitives that are objects: what they expand to counts, what
 * they show is printed. */
#include "analyzer/cost.h"
#include "analyzer/lint/flat.h"
#include "analyzer/typing.h"
#include "frontend/ir/params.h"
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

static jx_ctx *ctx;

static int set_up(void **state)
{
    (void)state;
    ctx = jx_ctx_new(0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    jx_ctx_free(ctx);
    return 0;
}

/* Jaxpr 0 is what it expands to; 1 and 2, which are not even well typed, are
 * only shown. */
#define EXPANSION "\"jaxpr\":{\"$jaxpr\":0}"
#define PARAMS                                                                 \
    "\"params\":{\"$map\":[[\"side\",\"left\"],[\"f\",{\"$fn\":\"g\"}],"       \
    "[\"solve\",{\"$jaxpr\":1}],[\"like\",{\"$aval\":0}],"                     \
    "[\"inner\",{\"$rec\":\"Bar\",\"f\":{\"body\":{\"$jaxpr\":2},\"n\":3},"    \
    "\"hi\":true}],[\"pair\",{\"$rec\":\"Pair\",\"f\":{\"a\":1}}]]}"
#define HI "{" EXPANSION ",\"name\":\"Foo\"," PARAMS "}"

static const char pattern[] =
    "{\"format\":\"jaxvet-jaxpr\",\"version\":1,"
    "\"producer\":{\"jaxvet\":\"0\",\"jax\":\"%s\",\"python\":\"3\","
    "\"x64\":false},\"entry\":{\"jaxpr\":3},"
    "\"avals\":[{\"dt\":\"f32\",\"sh\":[3]},{\"dt\":\"i32\",\"sh\":[3]}],"
    "\"prims\":[\"sin\",\"mul\",\"%s\"],"
    "\"jaxprs\":["
    "{\"in\":[0],\"eqns\":[[0,[0],[0],{\"accuracy\":null},-1,-1,-1]],"
    "\"out\":[1]},"
    "{\"in\":[0],\"eqns\":[[1,[0,0],[1],{\"out_dtype\":null},-1,-1,-1]],"
    "\"out\":[1]},"
    "{\"in\":[0],\"eqns\":[[1,[0,0],[1],{\"out_dtype\":null},-1,-1,-1]],"
    "\"out\":[]},"
    "{\"in\":[0],\"eqns\":[[2,[0],[0],%s,-1,-1,-1]],\"out\":[1]}]}\n";

static jx_program *read_hi(const char *jax, const char *prim,
                           const char *params)
{
    const char *text = jx_arena_printf(ctx->arena, pattern, jax, prim, params);

    return jx_read_document(ctx, "-", text, strlen(text));
}

static jx_program *good(const char *jax, const char *prim, const char *params)
{
    jx_program *p = read_hi(jax, prim, params);

    if (!p)
        fail_msg("%s: %s", ctx->error.place, ctx->error.message);
    assert_true(jx_program_verify(p));
    return p;
}

static void prints(const jx_program *p, jx_print_options options,
                   const char *expected)
{
    jx_buffer got = {0};

    assert_true(jx_program_print(p, options, &got));
    assert_string_equal(jx_buffer_text(&got), expected);
    jx_buffer_free(&got);
}

static void a_new_release_shows_it_by_its_name(void **state)
{
    (void)state;
    /* Variables of objects inside are named first. */
    prints(
        good("0.12.0.1", "call_hi_primitive", HI), (jx_print_options){0},
        "{ lambda ; a:f32[3]. let\n"
        "    b:f32[3] = Foo[\n"
        "      side=left\n"
        "      f=g\n"
        "      solve={ lambda ; e:f32[3]. let f:i32[3] = mul e e in (f,) }\n"
        "      like=f32[3]\n"
        "      inner=Bar[body={ lambda ; c:f32[3]. let d:i32[3] = mul c c in "
        "() } n=3]\n"
        "      pair=Pair(a=1)\n"
        "    ] a\n"
        "  in (b,) }");
    prints(good("0.12.0", "call_hi_primitive", "{\"name\":\"Foo\"}"),
           (jx_print_options){0},
           "{ lambda ; a:f32[3]. let b:f32[3] = Foo a in (b,) }");
    prints(good("1.0", "call_hi_primitive_linearized",
                "{\"name\":\"Foo.linearized\",\"params\":{\"$map\":[["
                "\"nz_in_flat\",[true]],[\"nz_out_flat\",[true]]]}}"),
           (jx_print_options){0},
           "{ lambda ; a:f32[3]. let\n"
           "    b:f32[3] = Foo.linearized[nz_in_flat=(True,) nz_out_flat="
           "(True,)] a\n"
           "  in (b,) }");
}

static void an_old_release_shows_it_as_a_parameter(void **state)
{
    (void)state;
    prints(good("0.11.2", "call_hi_primitive",
                "{\"name\":\"Foo\",\"params\":{\"$map\":[[\"side\",\"left\"],"
                "[\"f\",{\"$fn\":\"g\"}],[\"inner\",{\"$rec\":\"Bar\",\"f\":{"
                "\"n\":3},\"hi\":true}]]}}"),
           (jx_print_options){.width = 200},
           "{ lambda ; a:f32[3]. let b:f32[3] = call_hi_primitive[_prim=Foo["
           "{'side': 'left', 'f': <function g at 0xXXXXXXXXXXXX>, 'inner': "
           "Bar[{'n': 3}]}]] a in (b,) }");
    prints(good("0.11.2", "call_hi_primitive",
                "{\"name\":\"CustomVJPTraced\",\"params\":{\"$map\":[[\"a\","
                "1]]}}"),
           (jx_print_options){0},
           "{ lambda ; a:f32[3]. let\n"
           "    b:f32[3] = call_hi_primitive[_prim=CustomVJPTraced] a\n"
           "  in (b,) }");
    prints(good("0.11.0", "call_hi_primitive_linearized",
                "{\"name\":\"Foo.linearized\",\"params\":{\"$map\":[["
                "\"nz_in_flat\",[true]],[\"nz_out_flat\",[true]],[\"has_sres\","
                "true]]}}"),
           (jx_print_options){.width = 200},
           "{ lambda ; a:f32[3]. let b:f32[3] = "
           "call_hi_primitive_linearized[_prim=Foo has_sres=True nz_in_flat="
           "(True,) nz_out_flat=(True,) residuals_tree=...] a in (b,) }");
}

static void all_parameters_have_the_expansion(void **state)
{
    static const char params[] =
        "{" EXPANSION ",\"name\":\"Foo\",\"params\":{\"$map\":[[\"solve\","
        "{\"$jaxpr\":1}],[\"inner\",{\"$rec\":\"Bar\",\"f\":{\"n\":3},"
        "\"hi\":true}]]}}";
    (void)state;
    const jx_program *p = good("0.12.0", "call_hi_primitive", params);
    jx_buffer got = {0};

    assert_true(
        jx_program_print(p, (jx_print_options){.all_params = true}, &got));
    assert_non_null(
        strstr(jx_buffer_text(&got), "b:f32[3] = call_hi_primitive["));
    const jx_program *again =
        jx_read_text(ctx, "-", jx_buffer_text(&got), got.length);
    if (!again)
        fail_msg("%s: %s", ctx->error.place, ctx->error.message);
    const jx_eqn *eqn = again->entry.jaxpr->eqns;
    const jx_p_hi_call *call = eqn->typed;
    assert_non_null(jx_eqn_callee(eqn));
    assert_string_equal(call->name, "Foo");
    assert_int_equal(call->params->count, 4);
    assert_true(call->params->items[3]->boolean);
    jx_buffer_free(&got);
}

static void it_is_written_as_it_was(void **state)
{
    (void)state;
    const jx_program *p = good("0.12.0", "call_hi_primitive", HI);
    jx_buffer text = {0};

    assert_true(jx_write_document(p, &text));
    assert_non_null(strstr(jx_buffer_text(&text), PARAMS));
    assert_int_equal(text.length,
                     strlen(jx_arena_printf(ctx->arena, pattern, "0.12.0",
                                            "call_hi_primitive", HI)));
    jx_buffer_free(&text);
}

static void its_expansion_is_what_it_is(void **state)
{
    (void)state;
    jx_program *p = good("0.12.0", "call_hi_primitive", HI);
    jx_analysis *to = jx_analysis_new(p);
    jx_flat *flat = jx_flatten(jx_typed_of(p));
    const bool *meant = jx_program_meant(p);

    assert_false(jx_eqn_is_unknown(p->entry.jaxpr->eqns));
    assert_string_equal(jx_eqn_name(p->entry.jaxpr->eqns), "Foo");
    /* What is only shown would have two findings. */
    assert_true(meant[0] && !meant[1] && !meant[2] && meant[3]);
    assert_true(jx_type_program(to));
    assert_int_equal(to->claims.count, 0);
    assert_int_equal(to->unknowns.count, 0);
    assert_int_equal(flat->nodes.count, 1);
    assert_int_equal(flat->nodes.at[0].eqn->prim->id, JX_PRIM_sin);
    assert_string_equal(jx_eqn_name(flat->nodes.at[0].calls->eqn), "Foo");
    jx_cost cost;
    assert_true(jx_cost_of(jx_typed_of(p), &cost));
    assert_int_equal(cost.uncounted.count, 0);
}

static void without_one_it_is_an_unknown_primitive(void **state)
{
    (void)state;
    jx_program *p =
        good("0.12.0", "call_hi_primitive", "{\"name\":\"Foo\"," PARAMS "}");
    jx_analysis *to = jx_analysis_new(p);
    jx_cost cost;

    assert_true(jx_eqn_is_unknown(p->entry.jaxpr->eqns));
    assert_true(jx_type_program(to));
    assert_int_equal(to->unknowns.count, 1);
    assert_string_equal(to->unknowns.at[0].name, "Foo");
    assert_int_equal(to->claims.count, 1);
    assert_int_equal(to->claims.at[0]->code, JX_CODE_PRM001);
    assert_true(jx_cost_of(jx_typed_of(p), &cost));
    assert_string_equal(cost.uncounted.at[0].name, "Foo");
    assert_true(jx_flat_varies_by_itself(p->entry.jaxpr->eqns));
}

/* Documents from before had the object, and no name. */
static void one_without_a_name_is_shown_in_full(void **state)
{
    (void)state;
    const jx_program *p = good("0.10.2", "call_hi_primitive",
                               "{\"_prim\":{\"$opaque\":\"m.Foo\",\"repr\":"
                               "\"Foo[{}]\"}}");

    assert_string_equal(jx_eqn_name(p->entry.jaxpr->eqns), "call_hi_primitive");
    assert_true(jx_eqn_is_unknown(p->entry.jaxpr->eqns));
    prints(p, (jx_print_options){0},
           "{ lambda ; a:f32[3]. let b:f32[3] = call_hi_primitive[_prim=Foo["
           "{}]] a in (b,) }");
}

static void parameters_that_do_not_fit_are_refused(void **state)
{
    static const struct {
        const char *params, *message;
    } cases[] = {
        {"{\"jaxpr\":{\"$jaxpr\":2},\"name\":\"Foo\"}",
         "'jaxpr' to have 1 inputs, 1 outputs"},
        {"{\"jaxpr\":{\"$jaxpr\":3},\"name\":\"Foo\"}", "jaxprs"},
        {"{\"jaxpr\":3,\"name\":\"Foo\"}", "'jaxpr': expected a jaxpr"},
        {"{\"name\":3}", "'name': expected text"},
        {"{\"name\":\"Foo\",\"params\":[1,2]}", "a map from names"},
        {"{\"name\":\"Foo\",\"params\":{\"$map\":[[1,2]]}}",
         "a map from names"},
        {"{\"name\":\"Foo\",\"params\":{\"$map\":[[\"a\"]]}}", "expected"},
        {"{\"name\":\"Foo\",\"params\":{\"$map\":[[\"a\",{\"$jaxpr\":9}]]}}",
         "jaxprs"},
        {"{\"name\":\"Foo\",\"params\":{\"$map\":[[\"a\",{\"$rec\":\"B\","
         "\"f\":{},\"hi\":3}]]}}",
         "expected"},
        {"{\"name\":\"Foo\",\"jvp\":{\"$rule\":0}}", "rules"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (read_hi("0.12.0", "call_hi_primitive", cases[i].params))
            fail_msg("%s was not refused", cases[i].params);
        assert_int_equal(ctx->error.kind, JX_E_INPUT);
        if (!strstr(ctx->error.message, cases[i].message))
            fail_msg("%s: %s", cases[i].params, ctx->error.message);
        jx_error_clear(ctx);
    }
}

/* ---- rules of its own */

#define OF_ONE "\"in\":[0],\"nout\":1,\"primal\":{\"$jaxpr\":0}"
#define OF_TWO "\"in\":[0,0],\"nout\":2,\"primal\":{\"$jaxpr\":4}"

/* The document with a rule: of a kind, for a function of these. */
static jx_analysis *with_rule(const char *key, const char *kind, const char *of)
{
    const char *params =
        jx_arena_printf(ctx->arena,
                        "{" EXPANSION ",\"name\":\"Foo\"," PARAMS ",\"%s\":{"
                        "\"$rule\":0,\"fn\":\"g\"}}",
                        key);
    const char *text = jx_arena_printf(ctx->arena, pattern, "0.12.0",
                                       "call_hi_primitive", params);
    const char *pattern_of_rule =
        strcmp(kind, "custom_jvp_call")
            ? "{\"zeros\":\"0\",\"fwd\":{\"$jaxpr\":0},\"nres\":0,\"fwds\":"
              "[0],\"bwd\":{\"$jaxpr\":4}}"
        : strcmp(of, OF_ONE) ? "{\"zeros\":\"00\",\"error\":\"no\"}"
                             : "{\"zeros\":\"0\",\"jvp\":{\"$jaxpr\":4}}";

    /* Before the two brackets and the newline at its end. */
    text = jx_arena_printf(
        ctx->arena,
        "%.*s,{\"in\":[0,0],\"eqns\":[[2,[0],[0],%s,-1,-1,-1]],"
        "\"out\":[2%s]}],\"rules\":[{\"prim\":\"%s\",\"stack\":-1,"
        "%s,\"patterns\":[%s]}]}\n",
        (int)(strlen(text) - 3), text,
        "{\"jaxpr\":{\"$jaxpr\":0},\"name\":\"Bar\"}",
        strcmp(kind, "custom_jvp_call") ? "" : ",1", kind, of, pattern_of_rule);
    jx_program *p = jx_read_document(ctx, "-", text, strlen(text));
    if (!p)
        fail_msg("%s: %s", ctx->error.place, ctx->error.message);
    jx_analysis *to = jx_analysis_new(p);
    assert_true(jx_type_program(to));
    return to;
}

static void says(const jx_analysis *to, const char *what)
{
    for (size_t i = 0; i < to->claims.count; i++)
        if (strstr(to->claims.at[i]->what, what))
            return;
    fail_msg("not said: %s", what);
}

static void its_rules_are_held_against_it(void **state)
{
    static const char jvp[] = "custom_jvp_call", vjp[] = "custom_vjp_call";
    (void)state;

    assert_int_equal(with_rule("jvp", jvp, OF_ONE)->claims.count, 0);
    assert_int_equal(with_rule("vjp", vjp, OF_ONE)->claims.count, 0);
    says(with_rule("jvp", jvp, OF_TWO), "the rule is for 2 operands");
    says(with_rule("vjp", jvp, OF_ONE), "not of its kind");
    says(with_rule("jvp", vjp, OF_ONE), "not of its kind");
}

/* ---- text */

static void reads_and_prints(const char *text)
{
    const jx_program *p = jx_read_text(ctx, "-", text, strlen(text));

    if (!p)
        fail_msg("%s: %s\n%s", ctx->error.place, ctx->error.message, text);
    assert_true(jx_program_verify(p));
    prints(p, (jx_print_options){0}, text);
}

static void text_prints_as_it_was_read(void **state)
{
    (void)state;
    reads_and_prints("{ lambda ; a:f32[3]. let\n"
                     "    b:i32[3] = SearchSorted[\n"
                     "      side=left\n"
                     "      dimension=0\n"
                     "      batch_dims=0\n"
                     "      method=default\n"
                     "      out_dtype=int32\n"
                     "    ] a a\n"
                     "    c:i32[3] d:f32[3] = _RootLinearMap a\n"
                     "    e:f32[3] = Foo.linearized[nz_in_flat=(True,) "
                     "nz_out_flat=(True,)] a\n"
                     "    f:f32[3] = Ldexp[x1_aval=f32[3] x2_aval=i32[3]] d "
                     "c\n"
                     "  in (b, e, f) }");
    reads_and_prints("{ lambda ; a:f32[3]. let\n"
                     "    b:f32[3] = Outer[\n"
                     "      first={ lambda ; f:f32[3]. let g:f32[3] = neg f "
                     "in (g,) }\n"
                     "      inner=Inner[\n"
                     "        n=4\n"
                     "        jaxpr={ lambda ; c:f32[3]. let\n"
                     "            d:f32[3] = sin c\n"
                     "            e:f32[3] = add d 1.0:f32[]\n"
                     "          in (e,) }\n"
                     "      ]\n"
                     "      none=None\n"
                     "    ] a\n"
                     "  in (b,) }");
    reads_and_prints(
        "let f = { lambda ; a:f32[]. let b:f32[] = neg a in (b,) "
        "} in\n"
        "{ lambda ; c:f32[]. let\n"
        "    d:f32[] = Foo[name=f traced=f fwd=g] c\n"
        "    e:f32[] = Foo[name=f traced=f fwd=g] d\n"
        "    g:f32[] = Two[both=(f { lambda ; h:f32[]. let i:f32[] "
        "= sin h in (i,) })] e\n"
        "  in (g,) }");
    reads_and_prints("{ lambda ; a:f32[3]. let\n"
                     "    b:f32[3] = call_hi_primitive[_prim=Foo[{'n': 4, "
                     "'t': (1, 2)}]] a\n"
                     "  in (b,) }");
}

static void text_has_no_expansion(void **state)
{
    static const char text[] =
        "{ lambda ; a:f32[]. let b:f32[] = _Foo[z=1 a=2] a; c:f32[] = "
        "call_hi_primitive[_prim=Bar[{'k': 1}]] b; d:f32[] = "
        "call_hi_primitive_linearized[_prim=Bar nz=(True,)] c in (d,) }";
    (void)state;
    const jx_program *p = jx_read_text(ctx, "-", text, sizeof text - 1);

    assert_non_null(p);
    const jx_eqn *eqns = p->entry.jaxpr->eqns;
    const jx_p_hi_call *foo = eqns[0].typed;
    assert_int_equal(eqns[0].prim->id, JX_PRIM_call_hi_primitive);
    assert_string_equal(foo->params->items[0]->text, "z"); /* not sorted */
    for (int i = 0; i < 3; i++)
        assert_true(jx_eqn_is_unknown(&eqns[i]));
    assert_string_equal(jx_eqn_name(&eqns[0]), "_Foo");
    assert_string_equal(jx_eqn_name(&eqns[1]), "Bar");
    assert_string_equal(jx_eqn_name(&eqns[2]), "Bar.linearized");
}

static void wrong_text_is_refused(void **state)
{
    static const struct {
        const char *eqn, *message;
    } cases[] = {
        {"Foo[a=1 a=2] a", "'a' is given twice"},
        {"Foo[a] a", "'name=value'"},
        {"Foo[a=Bar[b={ lambda ; . let in (x,) }]] a", "no variable"},
        {"Foo[a=Bar[b=1 a", "']'"},
        {"call_hi_primitive[name=Foo params=3] a", "a map from names"},
        {"call_hi_primitive[name=Foo params={1: 2}] a", "a map from names"},
        {"call_hi_primitive[name=Foo jaxpr={ lambda ; . let in () }] a",
         "'jaxpr' to have 1 inputs"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = jx_arena_printf(
            ctx->arena, "{ lambda ; a:f32[]. let b:f32[] = %s in (b,) }",
            cases[i].eqn);
        if (jx_read_text(ctx, "-", text, strlen(text)))
            fail_msg("%s was not refused", cases[i].eqn);
        if (!strstr(ctx->error.message, cases[i].message))
            fail_msg("%s: %s", cases[i].eqn, ctx->error.message);
        jx_error_clear(ctx);
    }
}

/* Objects in objects are as deep as values may be. */
static void nesting_has_a_limit(void **state)
{
    jx_buffer text = {0};
    (void)state;

    jx_buffer_puts(&text, "{ lambda ; a:f32[]. let b:f32[] = Foo[");
    for (int i = 0; i < 100000; i++)
        jx_buffer_puts(&text, "a=Foo[");
    assert_null(jx_read_text(ctx, "-", text.text, text.length));
    jx_buffer_free(&text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_new_release_shows_it_by_its_name),
        TEST(an_old_release_shows_it_as_a_parameter),
        TEST(all_parameters_have_the_expansion),
        TEST(it_is_written_as_it_was),
        TEST(its_expansion_is_what_it_is),
        TEST(without_one_it_is_an_unknown_primitive),
        TEST(one_without_a_name_is_shown_in_full),
        TEST(parameters_that_do_not_fit_are_refused),
        TEST(its_rules_are_held_against_it),
        TEST(text_prints_as_it_was_read),
        TEST(text_has_no_expansion),
        TEST(wrong_text_is_refused),
        TEST(nesting_has_a_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
