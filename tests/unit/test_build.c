/* test_build.c - jaxprs made equation by equation (frontend/ir/build.h). */
#include "analyzer/infer.h"
#include "frontend/ir/build.h"
#include "frontend/read/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static char told[200]; /* by the builder that is tested, first thing first */
static int ntold;

static bool keep_why(jx_body *b, const char *why)
{
    (void)b;
    if (!ntold++)
        snprintf(told, sizeof told, "%s", why);
    return false;
}

typedef struct making {
    jx_ctx *ctx;
    jx_builder in;
    const jx_aval *f32[3]; /* f32[], f32[3], f32[3,n] */
} making;

/* A builder of an empty program's jaxprs. */
static making begin(void)
{
    static const char text[] = "{ lambda ; . let in () }";
    making m = {.ctx = jx_ctx_new(0)};
    jx_program *p = jx_read_text(m.ctx, "-", text, strlen(text));

    assert_non_null(p);
    ntold = 0;
    m.in = (jx_builder){.program = p,
                        .fail = keep_why,
                        .infer = jx_infer_results,
                        .with = jx_inferrer_new(p)};
    const jx_dim *shape[] = {
        jx_dim_int(p->dims, 3),
        jx_dim_of_atom(
            p->dims, jx_dim_var_atom(p->dims, jx_intern_text(m.ctx, "n"), 0))};
    for (int i = 0; i < 3; i++)
        m.f32[i] = jx_aval_array(&p->avals, JX_F32, false, i, shape);
    return m;
}

static jx_atom number(jx_body *b, jx_dtype dtype, int64_t value)
{
    jx_literal like = {
        .aval = jx_aval_array(&b->in->program->avals, dtype, false, 0, NULL)};

    memcpy(like.bits, &value, jx_dtype_of(dtype)->bytes);
    return jx_build_literal(b, &like);
}

static void results_have_the_types_of_the_rules(void **state)
{
    making m = begin();
    jx_body *b = jx_body_new(&m.in, NULL);
    jx_atom x = jx_body_input(b, m.f32[2]);

    (void)state;
    jx_atom y = jx_build(b, JX_PRIM_sin, NULL, 1, &x);
    assert_ptr_equal(jx_atom_aval(y), m.f32[2]);
    y = jx_build_transpose(b, y, (jx_ints){2, (int64_t[]){1, 0}});
    assert_ptr_equal(jx_atom_aval(y)->shape[1], m.f32[2]->shape[0]);
    y = jx_build_slice(b, x, 0, jx_body_int(b, 1), jx_body_int(b, 3));
    assert_int_equal(jx_dim_value(jx_atom_aval(y)->shape[0]), 2);
    y = jx_build_concatenate(b, 2, (jx_atom[]){x, y}, 0);
    assert_int_equal(jx_dim_value(jx_atom_aval(y)->shape[0]), 5);
    y = jx_build_convert(b, y, JX_BF16, false);
    assert_int_equal(jx_atom_aval(y)->dtype, JX_BF16);
    jx_body_result(b, y);
    jx_body_result(b, jx_build_zeros(b, m.f32[2]));
    const jx_jaxpr *made = jx_body_finish(b, jx_no_atoms, NULL);
    assert_non_null(made);
    assert_int_equal(made->neqns, 6);
    assert_int_equal(ntold, 0);
    assert_null(jx_jaxpr_fault(m.in.program, made));
    jx_ctx_free(m.ctx);
}

static void what_fits_nowhere_is_refused_in_the_rules_words(void **state)
{
    making m = begin();
    jx_body *b = jx_body_new(&m.in, NULL);
    jx_atom x[] = {jx_body_input(b, m.f32[1]), jx_body_input(b, m.f32[2])};
    jx_atom none;

    (void)state;
    none = jx_build(b, JX_PRIM_add, NULL, 2, x);
    assert_false(jx_is_made(none));
    assert_string_equal(told, "add: operands have ranks 1 and 2");
    ntold = 0;
    none = jx_build(b, JX_PRIM_sin, NULL, 2, x);
    assert_string_equal(told, "sin: takes 1 operands, has 2");
    ntold = 0; /* who takes nothing gives nothing, without a word */
    none = jx_build(b, JX_PRIM_sin, NULL, 1, &none);
    none = jx_build_reshape(b, none, 0, NULL);
    assert_false(jx_is_made(none));
    assert_int_equal(ntold, 0);
    assert_false(jx_is_made(jx_build(b, JX_PRIM_transpose, NULL, 1, x)));
    assert_non_null(strstr(told, "permutation"));
    assert_int_equal(b->eqns.count, 0);
    jx_ctx_free(m.ctx);
}

static int64_t folded(making *m, jx_prim_id prim, jx_dtype dtype, int64_t a,
                      int64_t c)
{
    jx_body *b = jx_body_new(&m->in, NULL);
    jx_atom ins[] = {number(b, dtype, a), number(b, dtype, c)};
    jx_atom made = jx_build(b, prim, NULL, 2, ins);
    int64_t bits = 0;

    assert_non_null(made.literal);
    assert_int_equal(b->eqns.count, 0);
    memcpy(&bits, made.literal->bits, sizeof bits);
    return bits;
}

static void scalars_are_computed_if_asked(void **state)
{
    making m = begin();

    (void)state;
    m.in.folds = true;
    assert_int_equal(folded(&m, JX_PRIM_add, JX_I8, 127, 1), 0x80);
    assert_int_equal(folded(&m, JX_PRIM_sub, JX_U8, 0, 1), 0xff);
    assert_int_equal(folded(&m, JX_PRIM_add, JX_U64, -1, 2), 1);
    assert_int_equal(folded(&m, JX_PRIM_lt, JX_I16, 0xffff, 0), 1);
    jx_body *b = jx_body_new(&m.in, NULL);
    jx_atom half[] = {number(b, JX_F32, 0x00800000), /* the least normal one */
                      jx_build_number(b, JX_F32, 0.5)};
    assert_non_null(jx_build(b, JX_PRIM_mul, NULL, 2, half).var);
    jx_atom zero[] = {number(b, JX_I32, 1), number(b, JX_I32, 0)};
    assert_non_null(jx_build(b, JX_PRIM_div, NULL, 2, zero).var);
    m.in.folds = false;
    assert_non_null(jx_build(b, JX_PRIM_add, NULL, 2, zero).var);
    assert_int_equal(b->eqns.count, 3);
    jx_ctx_free(m.ctx);
}

static void values_are_captured_two_levels_deep(void **state)
{
    making m = begin();
    jx_body *b = jx_body_new(&m.in, NULL), *mid = jx_body_new(&m.in, b),
            *in = jx_body_new(&m.in, mid);
    jx_atom x = jx_body_input(b, m.f32[1]), y = jx_body_input(b, m.f32[1]),
            own = jx_body_input(in, m.f32[1]);

    (void)state;
    jx_atom sum = jx_build(in, JX_PRIM_add, NULL, 2, (jx_atom[]){x, own});
    jx_body_result(in, jx_build(in, JX_PRIM_add, NULL, 2, (jx_atom[]){sum, y}));
    jx_body_result(in, x); /* once more, which is the same input */
    jx_atoms taken = jx_body_captured(mid, 1, &in);
    assert_int_equal(taken.count, 2);
    jx_jaxpr *inner = jx_body_finish(in, taken, NULL);
    assert_int_equal(inner->nins, 3);
    assert_ptr_equal(inner->outs[1].var, inner->vars[0]);

    jx_params p = {.program = m.in.program};
    jx_put_jaxpr(&p, "jaxpr", inner);
    jx_put_text(&p, "name", "inner");
    jx_atom ins[] = {taken.at[0], taken.at[1], taken.at[0]};
    const jx_atom *outs =
        jx_build_all(mid, jx_prim_of(JX_PRIM_jit), &p, 3, ins, 2);
    jx_body_result(mid, outs[0]);
    jx_atoms from_b = jx_body_captured(b, 1, &mid);
    assert_int_equal(from_b.count, 2);
    assert_ptr_equal(from_b.at[0].var, x.var);
    assert_ptr_equal(from_b.at[1].var, y.var);
    const jx_jaxpr *middle = jx_body_finish(mid, from_b, NULL);
    assert_int_equal(middle->nins, 2);
    assert_int_equal(middle->id, 1);
    assert_null(jx_jaxpr_fault(m.in.program, inner));
    assert_null(jx_jaxpr_fault(m.in.program, middle));
    jx_ctx_free(m.ctx);
}

static void parameters_are_as_many_as_they_are(void **state)
{
    making m = begin();
    jx_body *b = jx_body_new(&m.in, NULL);
    jx_params p = {.program = m.in.program};
    const jx_stack stack = {0};
    char name[16];

    (void)state;
    for (int i = 39; i >= 0; i--) {
        snprintf(name, sizeof name, "p%02d", i);
        jx_put_int(&p, name, i);
    }
    b->place = (jx_place){.stack = &stack, .name_stack = "here"};
    assert_non_null(jx_build_as(b, jx_prim_unknown(m.ctx, "thing"), &p, 0, NULL,
                                1, &m.f32[0]));
    const jx_eqn *eqn = &b->eqns.at[0];
    assert_int_equal(eqn->nparams, 40);
    for (int i = 0; i < 40; i++)
        assert_int_equal(eqn->params[i].value->integer, i);
    assert_ptr_equal(eqn->stack, &stack);
    assert_string_equal(eqn->name_stack, "here");
    jx_ctx_free(m.ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_have_the_types_of_the_rules),
        cmocka_unit_test(what_fits_nowhere_is_refused_in_the_rules_words),
        cmocka_unit_test(scalars_are_computed_if_asked),
        cmocka_unit_test(values_are_captured_two_levels_deep),
        cmocka_unit_test(parameters_are_as_many_as_they_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
