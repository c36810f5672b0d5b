/* test_text.c - jaxpr text: its traps, and what is refused where. */
#include "frontend/ir/params.h"
#include "frontend/ir/print.h"
#include "frontend/read/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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

static const jx_program *read_text(const char *text)
{
    const jx_program *p = jx_read_text(ctx, "f", text, strlen(text));

    if (!p)
        fail_msg("%s: %s", ctx->error.place, ctx->error.message);
    assert_true(jx_program_verify(p));
    return p;
}

static void prints_the_same(const char *text)
{
    jx_buffer got = {0};

    assert_true(jx_program_print(read_text(text), (jx_print_options){0}, &got));
    assert_string_equal(jx_buffer_text(&got), text);
    jx_buffer_free(&got);
}

static void a_variable_may_be_called_in(void **state)
{
    (void)state;
    const jx_program *p = read_text("{ lambda ; il:f32[3]. let\n"
                                    "    in:f32[3] = neg il\n"
                                    "    io:f32[3] = add in in\n"
                                    "  in (in, io) }");
    assert_int_equal(p->entry.jaxpr->neqns, 2);
    assert_ptr_equal(p->entry.jaxpr->outs[0].var,
                     p->entry.jaxpr->eqns[0].outs[0]);
    p = read_text("{ lambda ; in:f32[3]. let io:f32[3] = add in in in (io,) "
                  "}");
    assert_int_equal(p->entry.jaxpr->eqns[0].nins, 2);
}

static void hidden_parameters_come_back(void **state)
{
    (void)state;
    const jx_program *p = read_text(
        "{ lambda ; a:f32[b]. let\n"
        "    c:f32[b,3] = broadcast_in_dim[broadcast_dimensions=(0,)] a\n"
        "    d:f32[b,3] = jit[\n"
        "      name=f\n"
        "      jaxpr={ lambda ; c:f32[b,3]. let d:f32[b,3] = mul c "
        "2.0:f32[] in (d,) }\n"
        "    ] c\n"
        "  in (d,) }");
    const jx_p_broadcast_in_dim *b = p->entry.jaxpr->eqns[0].typed;
    assert_int_equal(b->shape.count, 2);
    assert_ptr_equal(b->shape.at[0], p->entry.jaxpr->vars[0]->aval->shape[0]);
    const jx_p_call *call = p->entry.jaxpr->eqns[1].typed;
    assert_int_equal(call->jaxpr.jaxpr->neqns, 1);
    const jx_value *donated =
        jx_eqn_param(&p->entry.jaxpr->eqns[1], "donated_invars");
    assert_int_equal(donated->count, 1);
    assert_true(p->from_text);
}

static void hoisted_jaxprs_may_come_after_their_users(void **state)
{
    (void)state;
    prints_the_same("let f = { lambda ; a:f32[]. let b:f32[] = jit[name=g "
                    "jaxpr=g] a in (b,) } in\n"
                    "let g = { lambda ; c:f32[]. let d:f32[] = neg c in (d,) "
                    "} in\n"
                    "{ lambda ; e:f32[]. let\n"
                    "    h:f32[] = jit[name=f jaxpr=f] e\n"
                    "    i:f32[] = jit[name=f jaxpr=f] h\n"
                    "  in (i,) }");
}

static void literals_of_each_kind_print_as_they_were_read(void **state)
{
    (void)state;
    prints_the_same("{ lambda ; a:i32[b]. let _:i32[] = add b:i32[] "
                    "-3:i32[] in (True:bool[],) }");
    prints_the_same("{ lambda ; . let  in (nan:f32[], inf:bf16[], "
                    "(1+2j):c64[], 2j:c128[]) }");
    prints_the_same("{ lambda ; . let  in (1e-05:f32[], 448.0:f8_e4m3fn[]) }");
    prints_the_same("{ lambda ; . let  in ("
                    "-8:i4[], 18446744073709551615:u64[]) }");
    prints_the_same("{ lambda a:f32[5]; . let b:f32[5] = neg [...]:f32[5] in "
                    "(a, b) }");
    prints_the_same("{ lambda ; . let  in ((b'',):float0[],) }");
}

static void sizes_in_parameters_may_begin_with_a_minus(void **state)
{
    (void)state;
    prints_the_same("{ lambda ; a:f32[b]. let\n"
                    "    b:f32[- min(3, b) + b,- b + 9] = odd[\n"
                    "      shape=(- min(3, b) + b, - b + 9)\n"
                    "      size=- b + 9\n"
                    "    ] a\n"
                    "  in (b,) }");
}

static void types_of_each_kind_print_as_they_were_read(void **state)
{
    (void)state;
    prints_the_same("{ lambda ; a:f32[2*b + 1,mod(b, 3),3] b:key<fry>[] "
                    "c:float0[4]. let  in () }");
    prints_the_same("{ lambda ; a:f32[4@x,8@(x,y)] b:f32[4]{V:x} "
                    "c:Ref{i32[]}. let  in () }");
    prints_the_same(
        "{ lambda ; a:f32[2]{V:(x,y), U:z} b:f32<host>[2]. let  in () }");
}

/* What an outer result lends an inner one is its name, even if that is `_`. */
static void a_blank_may_be_used_more_than_once(void **state)
{
    (void)state;
    prints_the_same("{ lambda ; a:f32[]. let\n"
                    "    b:f32[] _:f32[] = jit[\n"
                    "      name=f\n"
                    "      jaxpr={ lambda ; a:f32[]. let\n"
                    "          _:f32[] = sin a\n"
                    "          b:f32[] = add _ _\n"
                    "        in (b, _) }\n"
                    "    ] a\n"
                    "  in (b,) }");
}

static void sets_may_be_empty(void **state)
{
    (void)state;
    prints_the_same("{ lambda ; a:f32[]. let\n"
                    "    b:f32[] = odd[s=frozenset({}) t=(frozenset(), "
                    "frozenset({'x'}))] a\n"
                    "  in (b,) }");
}

static void text_in_parameters_needs_no_quotes(void **state)
{
    (void)state;
    const jx_program *p =
        read_text("{ lambda ; a:f32[]. let odd[fmt=x is {} (y) name=<lambda> "
                  "sizes=(np.int64(1), 2) what=Some.THING] a in () }");
    const jx_eqn *eqn = p->entry.jaxpr->eqns;
    assert_string_equal(jx_eqn_param(eqn, "fmt")->text, "x is {} (y)");
    assert_string_equal(jx_eqn_param(eqn, "name")->text, "<lambda>");
    assert_int_equal(jx_eqn_param(eqn, "sizes")->items[0]->integer, 1);
    assert_int_equal(jx_eqn_param(eqn, "what")->tag, JX_V_ENUM);
}

/* A scan with so many operands and results, and these trees. */
static const char *scan_text(int nins, int nouts, const char *ft_in,
                             const char *ft_out)
{
    jx_buffer ins = {0}, outs = {0}, operands = {0}, names = {0};
    const char *text;

    for (int i = 0; i < nins; i++) {
        jx_buffer_printf(&ins, "i%d:f32[] ", i);
        jx_buffer_printf(&operands, " a");
    }
    for (int i = 0; i < nouts; i++) {
        jx_buffer_printf(&outs, "1.0:f32[],");
        jx_buffer_printf(&names, "o%d:f32[] %s", i, i + 1 < nouts ? "" : "= ");
    }
    text = jx_arena_printf(
        ctx->arena,
        "{ lambda ; a:f32[]. let\n    %sscan[\n      ft_in=%s\n"
        "      ft_out=%s\n      jaxpr={ lambda ; %s. let  in (%s) }\n"
        "      length=5\n      reverse=False\n      unroll=1\n    ]%s\n"
        "  in () }",
        jx_buffer_text(&names), ft_in, ft_out, jx_buffer_text(&ins),
        jx_buffer_text(&outs), jx_buffer_text(&operands));
    jx_buffer_free(&ins);
    jx_buffer_free(&outs);
    jx_buffer_free(&operands);
    jx_buffer_free(&names);
    return text;
}

static void the_trees_of_a_scan_have_its_counts(void **state)
{
#define PYTREE                                                                 \
    "Pytree(vals=[None, None, None, None, None, None], tree="                  \
    "PyTreeDef((([*], []), ([*], {'a': *}), ([], [*], "                        \
    "CustomNode(P[('*', [')'])], [*, None, *])))))"
#define RIGHTS                                                                 \
    "RightsOnly(Pytree(vals=[Right(None), Left((1, 2)), "                      \
    "Left(None), Right(None)], tree=PyTreeDef(((*,), [*], {2: "                \
    "(*, *)}))))"
    static const struct {
        const char *in, *out;
        int nins, nouts, consts, carry;
    } cases[] = {
        {"((), (None,), (None,))",
         "((None,), (RightsOnly(Right(None)), RightsOnly(Left(None))))", 2, 2,
         0, 1},
        {"((), (), ())", "((), ())", 0, 0, 0, 0},
        {"(((None,), (RightsOnly(Left(None)),)), ((None, None), (RightsOnly("
         "RightsOnly(Right(Right(None)))), RightsOnly(RightsOnly(Right(Left("
         "None)))))), (None,))",
         "({'a': None, (1, ']'): (None, None)}, ())", 5, 3, 1, 3},
        {"((None, Static({'k)': (1, 2)})), (Static(f), None), {})",
         "((None,), (None, None))", 2, 3, 1, 1},
        {PYTREE, "(Pytree(vals=[None, None], tree=PyTreeDef([*, *])), ())", 6,
         2, 1, 2},
        {RIGHTS, "((), RightsOnly(Pytree(vals=[], tree=PyTreeDef(None))))", 2,
         0, 1, 0},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const jx_program *p = read_text(scan_text(cases[i].nins, cases[i].nouts,
                                                  cases[i].in, cases[i].out));
        const jx_eqn *eqn = p->entry.jaxpr->eqns;
        const jx_p_scan *scan = eqn->typed;
        assert_int_equal(scan->num_consts, cases[i].consts);
        assert_int_equal(scan->num_carry, cases[i].carry);
        assert_int_equal(jx_eqn_param(eqn, "ft_in")->tag, JX_V_TREE);
        assert_string_equal(jx_eqn_param(eqn, "ft_in")->text, cases[i].in);
        assert_string_equal(jx_eqn_param(eqn, "ft_out")->text, cases[i].out);
    }
}

static void a_scan_of_trees_prints_as_it_was_read(void **state)
{
    (void)state;
    prints_the_same("{ lambda ; a:f32[] b:f32[5]. let\n"
                    "    c:f32[] = scan[\n"
                    "      ft_in=((), (None,), (None,))\n"
                    "      ft_out=((None,), (RightsOnly(Left(None)),))\n"
                    "      jaxpr={ lambda ; d:f32[] e:f32[]. let f:f32[] = "
                    "add d e in (f,) }\n"
                    "      length=5\n"
                    "      reverse=False\n"
                    "      unroll=1\n"
                    "    ] a b\n"
                    "  in (c,) }");
}

static void trees_that_lie_are_refused(void **state)
{
    static const struct {
        const char *in, *out;
        int nins, nouts;
        const char *message;
    } cases[] = {
        {"((None,), (None,), ())", "((None,), ())", 3, 1, "for 3 operands"},
        {"((), (None,), (None,))", "((), (None,))", 2, 1, "1 carried"},
        {"((), (None,), (None,))", "((None,), (None,))", 2, 1, "1 carried"},
        {"((), (None,), (None,))", "((None,), (), ())", 2, 1, "1 carried"},
        {"((), (None, None))", "((None,), ())", 2, 1, "three parts"},
        {"None", "((None,), ())", 2, 1, "three parts"},
        {"Pytree(vals=[None], tree=PyTreeDef(([], [*], [*])))", "((None,), ())",
         2, 1, "three parts"},
        {"Pytree(vals=[None, None], tree=PyTreeDef([[*], [*]]))",
         "((None,), ())", 2, 1, "three parts"},
        {"((), (None,), (Right(None,)))", "((None,), ())", 2, 1, "three parts"},
        {"((), (None,), (None,)", "((None,), ())", 2, 1, "']'"},
        {"((), (None,), ('None,))", "((None,), ())", 2, 1, "three parts"},
        {"Pytree(vals=[None, None], tree=PyTreeDef(([], [*], CustomNode(x, *)"
         ")))",
         "((None,), ())", 2, 1, "three parts"},
        {"((), (None,), (None,)) num_carry=2", "((None,), ())", 2, 1, "exceed"},
        {"((), (None,), (None,)) num_consts=1", "((None,), ())", 2, 1,
         "for 2 operands"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        jx_ctx *own = jx_ctx_new(0);
        const char *text =
            scan_text(cases[i].nins, cases[i].nouts, cases[i].in, cases[i].out);
        if (jx_read_text(own, "f", text, strlen(text)))
            fail_msg("%s was not refused", cases[i].in);
        if (!strstr(own->error.message, cases[i].message))
            fail_msg("%s: %s", cases[i].in, own->error.message);
        jx_ctx_free(own);
    }
}

static void trees_may_be_large_but_not_deep(void **state)
{
    jx_buffer in = {0}, deep = {0};
    const char *text;
    (void)state;

    jx_buffer_puts(&in, "((), (), (");
    for (int i = 0; i < 30000; i++)
        jx_buffer_puts(&in, "None, ");
    jx_buffer_puts(&in, "))");
    text = scan_text(2, 0, jx_buffer_text(&in), "((), ())");
    assert_null(jx_read_text(ctx, "f", text, strlen(text)));
    assert_non_null(strstr(ctx->error.message, "30000 items"));
    jx_error_clear(ctx);
    for (int i = 0; i < 100000; i++)
        jx_buffer_puts(&deep, i % 2 ? "RightsOnly(" : "(");
    text = scan_text(2, 0, jx_buffer_text(&deep), "((), ())");
    assert_null(jx_read_text(ctx, "f", text, strlen(text)));
    jx_error_clear(ctx);
    jx_buffer_free(&in);
    jx_buffer_free(&deep);
}

static void comments_are_skipped(void **state)
{
    (void)state;
    const jx_program *p = read_text("# a program\n"
                                    "{ lambda ; a:f32[]. let\n"
                                    "    b:f32[] = neg a  # f.py:3:1 (f)\n"
                                    "  in (b,) }\n# the end\n");
    assert_int_equal(p->entry.jaxpr->neqns, 1);
}

static void each_kind_of_wrong_is_refused_at_its_place(void **state)
{
    static const struct {
        const char *text, *place, *message;
    } cases[] = {
        {"", "line 1, column 1", "expected '{'"},
        {"{ lambda ; a:f32[]. let in (b,) }", "line 1, column 29",
         "no variable defined before"},
        {"{ lambda ; a:f32[] a:f32[]. let in () }", "line 1, column 20",
         "defined twice"},
        {"{ lambda ; a:f31[]. let in () }", "line 1, column 14",
         "expected a type"},
        {"{ lambda ; a:f32[2*]. let in () }", "line 1, column 20", "in a size"},
        {"{ lambda ; a:f32[3. let in () }", "line 1, column 19", "in a size"},
        {"{ lambda ; a:f32[]. let\n    b:f32[] = neg c\n  in (b,) }",
         "line 2, column 19", "'c' is no variable"},
        {"{ lambda ; a:f32[]. let\n    b:f32[] = neg b\n  in (b,) }",
         "line 2, column 19", "'b' is no variable"},
        {"{ lambda ; a:f32[]. let\n    b:f32[] = neg a a\n  in (b,) }",
         "line 2, column 5", "expected 1 operands, found 2"},
        {"{ lambda ; a:f32[]. let b:f32[] = neg[x] a in (b,) }",
         "line 1, column 39", "'name=value'"},
        {"{ lambda ; a:f32[]. let b:f32[] = neg[x=1 x=2] a in (b,) }",
         "line 1, column 47", "given twice"},
        {"{ lambda ; a:f32[]. let b:f32[] = reduce_sum[axes=x] a in (b,) }",
         "line 1, column 25", "'axes': expected a tuple of integers"},
        {"{ lambda ; a:f32[]. let b:i8[] = add a 300:i8[] in (b,) }",
         "line 1, column 40", "no value of that type"},
        {"{ lambda ; a:f32[]. let b:f32[] = jit[name=f jaxpr=f] a in (b,) }",
         "line 1, column 25", "expected a jaxpr"},
        {"let f = { lambda ; a:f32[]. let b:f32[] = jit[name=f jaxpr=f] a in "
         "(b,) } in\n{ lambda ; a:f32[]. let b:f32[] = jit[name=f jaxpr=f] a "
         "in (b,) }",
         "line 1, column 60", "calls itself"},
        {"{ lambda ; a:f32[]. let in (a,) } x", "line 1, column 35",
         "the end of the input"},
        {"{ lambda ; a:f32[]. let b:f32[] = composite[name=x] a in (b,) }",
         "line 1, column 25", "one of the parameters"},
        {"{ lambda ; a:f32[]. let b:f32[] = composite[jaxpr={ lambda ; "
         "c:f32[]. let in (c,) } call_jaxpr={ lambda ; d:f32[]. let in (d,) }] "
         "a in (b,) }",
         "line 1, column 25", "one of the parameters"},
        {"{ lambda ; a:f32[]. let b:f32[] = eval_jaxpr[call_jaxpr={ lambda ; "
         ". let in () }] a in (b,) }",
         "line 1, column 25", "'call_jaxpr' to have 1 inputs"},
        {"{ lambda ; a:f32[]. let b:f32[] <- a[...] in (b,) }",
         "line 1, column 36", "a reference defined before"},
        {"{ lambda ; a:Ref{f32[3]}. let b:f32[] <- a[1:2:3] in (b,) }",
         "line 1, column 47", "in an index"},
        {"{ lambda ; a:Ref{f32[3]}. let b:f32[] <- a[] in (b,) }",
         "line 1, column 44", "an index for each axis"},
        {"{ lambda ; a:Ref{f32[3]}. let b:f32[] <- a[1,2] in (b,) }",
         "line 1, column 45", "']'"},
        {"{ lambda ; a:Ref{f32[3]}. let b:f32[] <- a[c] in (b,) }",
         "line 1, column 44", "defined before"},
        {"{ lambda ; a:Ref{f32[3]} b:f32[]. let a[0] = b in () }",
         "line 1, column 44", "'<-'"},
        {"{ lambda ; a:Ref{f32[3]}. let b:f32[] <- a{turn([0])}[1] in () }",
         "line 1, column 43", "a part of a reference"},
        {"{ lambda ; a:Ref{f32[3]}. let b:f32[3] <- a{bitcast(f)} in () }",
         "line 1, column 53", "a dtype"},
        {"{ lambda ; a:Ref{f32[2,3]}. let b:f32[] <- a{transpose([2, 0])}[0,0] "
         "in () }",
         "line 1, column 64", "the order of 2 axes"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        jx_ctx *own = jx_ctx_new(0);
        if (jx_read_text(own, "f", cases[i].text, strlen(cases[i].text)))
            fail_msg("%s was not refused", cases[i].text);
        if (strcmp(own->error.place, cases[i].place) ||
            !strstr(own->error.message, cases[i].message))
            fail_msg("%s\n%s: %s, expected %s: %s", cases[i].text,
                     own->error.place, own->error.message, cases[i].place,
                     cases[i].message);
        jx_ctx_free(own);
    }
}

static void nesting_has_a_limit(void **state)
{
    jx_buffer text = {0};
    (void)state;

    for (int i = 0; i < 100000; i++)
        jx_buffer_puts(&text, "{ lambda ; . let jit[name=f jaxpr=");
    assert_null(jx_read_text(ctx, "f", text.text, text.length));
    assert_non_null(strstr(ctx->error.message, "200 deep"));
    jx_error_clear(ctx);
    jx_buffer_clear(&text);
    jx_buffer_puts(&text, "{ lambda ; . let odd[x=");
    for (int i = 0; i < 100000; i++)
        jx_buffer_puts(&text, "(");
    assert_null(jx_read_text(ctx, "f", text.text, text.length));
    jx_buffer_free(&text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_variable_may_be_called_in),
        TEST(hidden_parameters_come_back),
        TEST(hoisted_jaxprs_may_come_after_their_users),
        TEST(literals_of_each_kind_print_as_they_were_read),
        TEST(sizes_in_parameters_may_begin_with_a_minus),
        TEST(types_of_each_kind_print_as_they_were_read),
        TEST(a_blank_may_be_used_more_than_once),
        TEST(sets_may_be_empty),
        TEST(text_in_parameters_needs_no_quotes),
        TEST(the_trees_of_a_scan_have_its_counts),
        TEST(a_scan_of_trees_prints_as_it_was_read),
        TEST(trees_that_lie_are_refused),
        TEST(trees_may_be_large_but_not_deep),
        TEST(comments_are_skipped),
        TEST(each_kind_of_wrong_is_refused_at_its_place),
        TEST(nesting_has_a_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
