/* test_verify.c - each rule of the representation, broken once. */
#include "frontend/ir/params.h"
#include "frontend/read/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char text[] =
    "{ lambda a:f32[3]; b:f32[3]. let\n"
    "    c:f32[3] = jit[\n"
    "      name=f\n"
    "      jaxpr={ lambda ; b:f32[3]. let c:f32[3] = neg b in (c,) }\n"
    "    ] b\n"
    "    d:f32[3] = mul c 2.0:f32[]\n"
    "    _:f32[3] = add d a\n"
    "  in (d,) }";

typedef struct broken {
    jx_program *program;
    jx_jaxpr *entry, *inner;
    jx_eqn *eqns;  /* of the entry: jit, mul, add */
    jx_var **vars; /* a b c d _ */
} broken;

static void foreign_operand(broken *b)
{
    ((jx_atom *)(uintptr_t)b->eqns[1].ins)[0].var = b->inner->vars[0];
}

static void early_operand(broken *b)
{
    ((jx_atom *)(uintptr_t)b->eqns[0].ins)[0].var = b->vars[3];
}

static void dropped_operand(broken *b)
{
    ((jx_atom *)(uintptr_t)b->entry->outs)[0].var = b->vars[4];
}

static void no_operand(broken *b)
{
    ((jx_atom *)(uintptr_t)b->eqns[1].ins)[1].literal = NULL;
}

static void wrong_result(broken *b)
{
    ((const jx_var **)(uintptr_t)b->eqns[1].outs)[0] = b->vars[2];
}

static void wrong_number(broken *b)
{
    b->vars[2]->id = 3;
}

static void no_aval(broken *b)
{
    b->vars[1]->aval = NULL;
}

static void too_few_operands(broken *b)
{
    b->eqns[1].nins = 1;
}

static void unsorted_params(broken *b)
{
    jx_param *params = (jx_param *)(uintptr_t)b->eqns[0].params,
             first = params[0];

    params[0] = params[1];
    params[1] = first;
}

static void no_types(broken *b)
{
    b->eqns[1].typed = NULL;
}

static void caller_first(broken *b)
{
    b->inner->id = 5;
}

static void lost_constants(broken *b)
{
    b->program->entry.nconsts = 0;
}

static void unused_variable(broken *b)
{
    b->entry->neqns = 2;
}

static void wrong_call(broken *b)
{
    b->inner->nouts = 0;
}

static const struct {
    void (*break_it)(broken *);
    const char *place, *message;
} cases[] = {
    {foreign_operand, "jaxpr 1, equation 1 (mul)", "another jaxpr"},
    {early_operand, "jaxpr 1, equation 0 (jit)", "not yet defined"},
    {dropped_operand, "jaxpr 1", "was dropped"},
    {no_operand, "jaxpr 1, equation 1 (mul)", "neither"},
    {wrong_result, "jaxpr 1, equation 1 (mul)", "not the next variable"},
    {wrong_number, "jaxpr 1", "its number"},
    {no_aval, "jaxpr 1", "or aval"},
    {too_few_operands, "jaxpr 1, equation 1 (mul)", "expected 2 operands"},
    {unsorted_params, "jaxpr 1, equation 0 (jit)", "not sorted"},
    {no_types, "jaxpr 1, equation 1 (mul)", "typed parameters"},
    {caller_first, "jaxpr 5", "not at its place"},
    {lost_constants, "program", "without its constants"},
    {unused_variable, "jaxpr 1", "nothing defines"},
    {wrong_call, "jaxpr 1, equation 0 (jit)", "'jaxpr' to have"},
};

static void each_broken_rule_is_named_with_its_place(void **state)
{
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        jx_ctx *ctx = jx_ctx_new(0);
        broken b = {.program = jx_read_text(ctx, "f", text, sizeof text - 1)};
        assert_non_null(b.program);
        assert_true(jx_program_verify(b.program));
        b.entry = (jx_jaxpr *)(uintptr_t)b.program->entry.jaxpr;
        b.inner = (jx_jaxpr *)(uintptr_t)b.program->jaxprs[0];
        b.eqns = (jx_eqn *)(uintptr_t)b.entry->eqns;
        b.vars = (jx_var **)(uintptr_t)b.entry->vars;
        cases[i].break_it(&b);
        assert_false(jx_program_verify(b.program));
        assert_int_equal(ctx->error.kind, JX_E_INTERNAL);
        if (strcmp(ctx->error.place, cases[i].place) ||
            !strstr(ctx->error.message, cases[i].message))
            fail_msg("case %zu: %s: %s", i, ctx->error.place,
                     ctx->error.message);
        jx_ctx_free(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_broken_rule_is_named_with_its_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
