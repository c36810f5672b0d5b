/* test_infer.c - type rules asked about one equation (infer.h). */
#include "analyzer/infer.h"
#include "frontend/read/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef struct asked {
    jx_ctx *ctx;
    jx_program *program;
    jx_inferrer *in;
    const jx_eqn *eqn; /* the entry's last */
    const jx_aval *ins[8], *outs[8];
    const char *why;
} asked;

static asked ask(const char *text)
{
    asked a = {.ctx = jx_ctx_new(0)};

    a.program = jx_read_text(a.ctx, "-", text, strlen(text));
    assert_non_null(a.program);
    const jx_jaxpr *entry = a.program->entry.jaxpr;
    a.eqn = &entry->eqns[entry->neqns - 1];
    for (int i = 0; i < a.eqn->nins; i++)
        a.ins[i] = jx_atom_aval(a.eqn->ins[i]);
    a.in = jx_inferrer_new(a.program);
    return a;
}

static jx_inferred answer(asked *a, bool declared)
{
    jx_eqn eqn = *a->eqn;

    if (!declared)
        eqn.outs = NULL;
    return jx_infer_equation(a->in, &eqn, a->ins, a->outs, &a->why);
}

static void results_need_no_declaration(void **state)
{
    asked a = ask("{ lambda ; a:f32[n,3] b:f32[n,3]. let c:f32[n,3] = add a b "
                  "in (c,) }");

    (void)state;
    assert_int_equal(answer(&a, false), JX_INFER_TYPES);
    assert_ptr_equal(a.outs[0], a.ins[0]);
    a.ins[0] = a.ins[1] =
        jx_aval_array(&a.program->avals, JX_I8, false, 0, NULL);
    assert_int_equal(answer(&a, true), JX_INFER_TYPES);
    assert_ptr_equal(a.outs[0], a.ins[0]); /* not as declared */
    jx_ctx_free(a.ctx);
}

static void a_refusal_has_the_words_of_the_rule(void **state)
{
    asked a = ask("{ lambda ; a:f32[3] b:f32[4]. let c:f32[3] = add a b in "
                  "(c,) }");

    (void)state;
    assert_int_equal(answer(&a, false), JX_INFER_REFUSED);
    assert_string_equal(a.why, "operands 0 and 1, axis 0: 3 is not 4");
    a.ins[1] = jx_aval_array(&a.program->avals, JX_BOOL, false, 0, NULL);
    assert_int_equal(answer(&a, false), JX_INFER_REFUSED);
    assert_string_equal(a.why, "operand 1 is bool, which add does not take");
    a.ins[1] = a.ins[0];
    assert_int_equal(answer(&a, false), JX_INFER_TYPES);
    assert_null(a.why);
    jx_ctx_free(a.ctx);
}

static void keep_sizes(void *whom, const jx_dim *a, const jx_dim *b)
{
    const jx_dim **to = whom;

    to[0] = a;
    to[1] = b;
}

static void sizes_that_must_be_equal_are_told(void **state)
{
    asked a = ask("{ lambda ; a:f32[n] b:f32[m]. let c:f32[n] = add a b in "
                  "(c,) }");
    const jx_dim *told[2] = {NULL, NULL};

    (void)state;
    assert_int_equal(answer(&a, false), JX_INFER_TYPES);
    jx_inferrer_tell(a.in, keep_sizes, told);
    assert_int_equal(answer(&a, false), JX_INFER_TYPES);
    assert_ptr_equal(told[0], a.ins[0]->shape[0]);
    assert_ptr_equal(told[1], a.ins[1]->shape[0]);
    jx_ctx_free(a.ctx);
}

static void a_callee_gives_what_it_declares(void **state)
{
    asked a = ask("let f = { lambda ; a:f32[3]. let b:f32[3] = sin a in (b,) } "
                  "in { lambda ; c:f32[3]. let d:f32[3] = jit[name=f jaxpr=f] "
                  "c in (d,) }");

    (void)state;
    assert_int_equal(answer(&a, false), JX_INFER_TYPES);
    assert_ptr_equal(a.outs[0], a.ins[0]);
    a.ins[0] = jx_aval_array(&a.program->avals, JX_F32, false, 0, NULL);
    assert_int_equal(answer(&a, false), JX_INFER_REFUSED);
    assert_string_equal(a.why, "the function called, input 0: it gets f32[], "
                               "it takes f32[3]");
    jx_ctx_free(a.ctx);
}

static void what_nobody_knows_has_no_types(void **state)
{
    asked a = ask("{ lambda ; a:f32[3]. let b:f32[3] = no_such_thing a in "
                  "(b,) }");

    (void)state;
    assert_int_equal(answer(&a, true), JX_INFER_NOTHING);
    assert_null(a.outs[0]);
    jx_ctx_free(a.ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_need_no_declaration),
        cmocka_unit_test(a_refusal_has_the_words_of_the_rule),
        cmocka_unit_test(sizes_that_must_be_equal_are_told),
        cmocka_unit_test(a_callee_gives_what_it_declares),
        cmocka_unit_test(what_nobody_knows_has_no_types),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
