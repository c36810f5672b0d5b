/* test_stablehlo.c - StableHLO as programs: what ops become, where equations
 * come from, and what is refused. */
#include "analyzer/infer.h"
#include "frontend/ir/params.h"
#include "frontend/ir/print.h"
#include "frontend/mlir/ops.h"
#include "frontend/mlir/text.h"
#include "frontend/read/stablehlo.h"

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

static jx_program *try_read(const char *text)
{
    jx_mlir_file *file = jx_mlir_read_text(ctx, NULL, "f", text, strlen(text));

    if (!file)
        fail_msg("%s: %s", ctx->error.place, ctx->error.message);
    return jx_read_stablehlo(file, jx_infer_reading);
}

static const jx_program *read(const char *text)
{
    jx_program *p = try_read(text);

    if (!p)
        fail_msg("%s: %s", ctx->error.place, ctx->error.message);
    assert_true(jx_program_verify(p));
    return p;
}

static void refuses(const char *text, const char *place, const char *message)
{
    assert_null(try_read(text));
    assert_int_equal(ctx->error.kind, JX_E_INPUT);
    if (place)
        assert_string_equal(ctx->error.place, place);
    else
        assert_null(ctx->error.place);
    assert_non_null(strstr(ctx->error.message, message));
    jx_error_clear(ctx);
}

static const jx_eqn *eqn(const jx_program *p, int index)
{
    assert_in_range(index, 0, p->entry.jaxpr->neqns - 1);
    return &p->entry.jaxpr->eqns[index];
}

static void constants_are_literals(void **state)
{
    (void)state;
    const jx_program *p =
        read("func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
             "  %c = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>\n"
             "  %0 = stablehlo.add %a, %c : tensor<2xf32>\n"
             "  return %0 : tensor<2xf32>\n"
             "}\n");
    float values[2];

    assert_int_equal(p->entry.jaxpr->neqns, 1);
    assert_int_equal(eqn(p, 0)->prim->id, JX_PRIM_add);
    const jx_literal *l = eqn(p, 0)->ins[1].literal;
    assert_non_null(l);
    assert_int_equal(l->array->bytes, sizeof values);
    memcpy(values, l->array->data, sizeof values);
    assert_true(values[0] == 1 && values[1] == 2);
    assert_int_equal(p->narrays, 1);
}

static void one_function_is_read_once_for_each_list_of_types(void **state)
{
    (void)state;
    const jx_program *p =
        read("func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
             "  %0 = func.call @g(%a) : (tensor<2xf32>) -> tensor<2xf32>\n"
             "  %1 = func.call @g(%0) : (tensor<2xf32>) -> tensor<2xf32>\n"
             "  return %1 : tensor<2xf32>\n"
             "}\n"
             "func.func private @g(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
             "  %0 = stablehlo.negate %a : tensor<2xf32>\n"
             "  return %0 : tensor<2xf32>\n"
             "}\n");
    const jx_p_call *first = eqn(p, 0)->typed, *second = eqn(p, 1)->typed;

    assert_int_equal(eqn(p, 0)->prim->id, JX_PRIM_jit);
    assert_string_equal(first->name, "g");
    assert_ptr_equal(first->jaxpr.jaxpr, second->jaxpr.jaxpr);
    assert_int_equal(p->njaxprs, 2);
}

static void captures_become_the_first_operands(void **state)
{
    (void)state;
    const jx_program *p = read(
        "func.func @main(%n: tensor<i32>, %s: tensor<i32>) -> tensor<i32> {\n"
        "  %z = stablehlo.constant dense<0> : tensor<i32>\n"
        "  %0 = stablehlo.while(%i = %z) : tensor<i32>\n"
        "  cond {\n"
        "    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) "
        "-> tensor<i1>\n"
        "    stablehlo.return %1 : tensor<i1>\n"
        "  } do {\n"
        "    %2 = stablehlo.add %i, %s : tensor<i32>\n"
        "    stablehlo.return %2 : tensor<i32>\n"
        "  }\n"
        "  return %0 : tensor<i32>\n"
        "}\n");
    const jx_p_while *w = eqn(p, 0)->typed;

    assert_int_equal(w->cond_nconsts, 1);
    assert_int_equal(w->body_nconsts, 1);
    assert_ptr_equal(eqn(p, 0)->ins[0].var, p->entry.jaxpr->vars[0]);
    assert_ptr_equal(eqn(p, 0)->ins[1].var, p->entry.jaxpr->vars[1]);
    assert_non_null(eqn(p, 0)->ins[2].literal);
}

static void a_location_is_a_stack_of_frames(void **state)
{
    (void)state;
    const jx_program *p =
        read("func.func @main(%a: tensor<f32>) -> tensor<f32> {\n"
             "  %0 = stablehlo.negate %a : tensor<f32> loc(#where)\n"
             "  return %0 : tensor<f32>\n"
             "}\n"
             "#user = loc(\"model.py\":12:5 to :20)\n"
             "#caller = loc(\"/home/me/train.py\":3:1)\n"
             "#jax = loc(\"/v/site-packages/jax/_src/lax.py\":30:1)\n"
             "#lib = loc(\"/v/site-packages/flax/core.py\":7:1)\n"
             "#a = loc(\"neg\"(#jax))\n"
             "#b = loc(\"f\"(#user))\n"
             "#c = loc(\"apply\"(#lib))\n"
             "#d = loc(\"<module>\"(#caller))\n"
             "#e = loc(callsite(#c at #d))\n"
             "#g = loc(callsite(#b at #e))\n"
             "#h = loc(callsite(#a at #g))\n"
             "#where = loc(\"jit(f)/while/body/neg\"(#h))\n");
    const jx_stack *stack = eqn(p, 0)->stack;

    assert_string_equal(eqn(p, 0)->name_stack, "jit(f)/while/body");
    assert_int_equal(stack->count, 4);
    assert_int_equal(stack->frames[0]->file->kind, JX_FILE_JAX);
    assert_string_equal(stack->frames[0]->file->path, "jax/_src/lax.py");
    assert_int_equal(stack->frames[1]->file->kind, JX_FILE_USER);
    assert_string_equal(stack->frames[1]->file->path, "model.py");
    assert_string_equal(stack->frames[1]->function, "f");
    assert_int_equal(stack->frames[1]->line, 12);
    assert_int_equal(stack->frames[1]->column, 5);
    assert_int_equal(stack->frames[1]->end_column, 20);
    assert_int_equal(stack->frames[2]->file->kind, JX_FILE_LIBRARY);
    assert_int_equal(stack->frames[3]->line, 3);
    assert_int_equal(p->nfiles, 4);
}

#define SORT(compare)                                                          \
    "func.func @main(%a: tensor<4xi32>, %b: tensor<4xf32>)"                    \
    " -> (tensor<4xi32>, tensor<4xf32>) {\n"                                   \
    "  %0:2 = \"stablehlo.sort\"(%a, %b) ({\n"                                 \
    "  ^bb0(%x: tensor<i32>, %y: tensor<i32>, %u: tensor<f32>,"                \
    " %v: tensor<f32>):\n" compare "    stablehlo.return %r : tensor<i1>\n"    \
    "  }) {dimension = 0 : i64, is_stable = true} :"                           \
    " (tensor<4xi32>, tensor<4xf32>) -> (tensor<4xi32>, tensor<4xf32>)\n"      \
    "  return %0#0, %0#1 : tensor<4xi32>, tensor<4xf32>\n"                     \
    "}\n"

static void comparators_of_jax_are_keys(void **state)
{
    (void)state;
    const jx_program *p =
        read(SORT("    %r = stablehlo.compare LT, %x, %y, SIGNED :"
                  " (tensor<i32>, tensor<i32>) -> tensor<i1>\n"));
    assert_int_equal(eqn(p, 0)->prim->id, JX_PRIM_sort);
    assert_int_equal(((const jx_p_sort *)eqn(p, 0)->typed)->num_keys, 1);
    /* The second of a pair first, floats that are not made alike: others. */
    p = read(SORT("    %r = stablehlo.compare LT, %y, %x, SIGNED :"
                  " (tensor<i32>, tensor<i32>) -> tensor<i1>\n"));
    assert_int_equal(eqn(p, 0)->prim->id, JX_PRIM_stablehlo_sort);
    p = read(SORT("    %r = stablehlo.compare LT, %u, %v, TOTALORDER :"
                  " (tensor<f32>, tensor<f32>) -> tensor<i1>\n"));
    assert_int_equal(eqn(p, 0)->prim->id, JX_PRIM_stablehlo_sort);
}

static void what_is_not_known_keeps_its_name_and_type(void **state)
{
    (void)state;
    const jx_program *p =
        read("func.func @main(%a: tensor<2xf32>) -> tensor<3xi8> {\n"
             "  %0 = \"my.op\"(%a) : (tensor<2xf32>) -> tensor<3xi8>\n"
             "  return %0 : tensor<3xi8>\n"
             "}\n");

    assert_int_equal(eqn(p, 0)->prim->id, JX_PRIM_unknown);
    assert_string_equal(eqn(p, 0)->prim->name, "my.op");
    assert_int_equal(eqn(p, 0)->outs[0]->aval->dtype, JX_I8);
    /* The name of a primitive in no dialect is not that primitive. */
    p = read("func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
             "  %0 = \"sin\"(%a) : (tensor<2xf32>) -> tensor<2xf32>\n"
             "  return %0 : tensor<2xf32>\n"
             "}\n");
    assert_int_equal(eqn(p, 0)->prim->id, JX_PRIM_unknown);
}

static void several_functions_are_called_in_order(void **state)
{
    (void)state;
    const jx_program *p =
        read("func.func @a(%x: tensor<f32>) -> tensor<f32> {\n"
             "  return %x : tensor<f32>\n"
             "}\n"
             "func.func @b() {\n"
             "  return\n"
             "}\n"
             "// -----\n"
             "func.func @c(%x: tensor<i8>) -> tensor<i8> {\n"
             "  return %x : tensor<i8>\n"
             "}\n");

    assert_int_equal(p->entry.jaxpr->neqns, 3);
    assert_int_equal(p->entry.jaxpr->nins, 2);
    assert_int_equal(p->entry.jaxpr->nouts, 2);
    assert_string_equal(((const jx_p_call *)eqn(p, 2)->typed)->name, "c");
}

static void what_is_wrong_is_said_at_its_op(void **state)
{
    (void)state;
    refuses("func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
            "  %0 = stablehlo.reverse %a, dims = [1] : tensor<2xf32>\n"
            "  return %0 : tensor<2xf32>\n"
            "}\n",
            "line 2, column 3", "expected distinct axes below 1");
    refuses("func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
            "  %0 = \"stablehlo.transpose\"(%a) : (tensor<2xf32>)"
            " -> tensor<2xf32>\n"
            "  return %0 : tensor<2xf32>\n"
            "}\n",
            "line 2, column 3", "expected the attribute 'permutation'");
    refuses("func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
            "  %0 = \"stablehlo.concatenate\"() {dimension = 0 : i64} : ()"
            " -> tensor<2xf32>\n"
            "  return %0 : tensor<2xf32>\n"
            "}\n",
            "line 2, column 3", "expected more than 0 operands");
    refuses("module {\n}\n", NULL, "expected a module with a function");
}

/* ---- attributes */

typedef struct read_attribute {
    jx_op_id op;
    const char *name;
    int uses;
} read_attribute;

static read_attribute *row_of(read_attribute *rows, size_t count, jx_op_id op,
                              const char *name, size_t length)
{
    read_attribute *any = NULL;

    for (size_t i = 0; i < count; i++) {
        if (!jx_mlir_is_name(rows[i].name, name, length))
            continue;
        if (rows[i].op == op)
            return &rows[i];
        any = rows[i].op ? any : &rows[i];
    }
    return any;
}

static void every_attribute_of_an_op_that_is_read_has_a_fate(void **state)
{
    (void)state;
    read_attribute rows[] = {
#define ATTRIBUTE(op, name, fate, why) {JX_OP_##op, name, 0},
#include "frontend/mlir/attributes.def"
#undef ATTRIBUTE
    };
    static const struct {
        jx_op_id op;
        const char *read;
    } ops[] = {
#define ADAPT(op, detail, prim, read, write) {JX_OP_##op, #read},
#include "frontend/mlir/adapter.def"
#undef ADAPT
    };
    size_t nrows = sizeof rows / sizeof *rows;

    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        const jx_mlir_op_info *info = jx_mlir_op_info_of(ops[i].op);
        const char *at = info ? info->attrs : "", *name;
        size_t length;
        char mark;
        if (!strcmp(ops[i].read, "none"))
            continue;
        if (!info)
            fail_msg("adapter.def: no op is read by %s", ops[i].read);
        while ((at = jx_mlir_next_name(at, &name, &length, &mark))) {
            read_attribute *row = row_of(rows, nrows, ops[i].op, name, length);
            if (!row)
                fail_msg("attributes.def: %s: no row for %.*s", info->name,
                         (int)length, name);
            row->uses++;
        }
    }
    for (size_t i = 0; i < nrows; i++)
        if (!rows[i].uses)
            fail_msg("attributes.def: no op that is read has '%s'",
                     rows[i].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(constants_are_literals),
        TEST(one_function_is_read_once_for_each_list_of_types),
        TEST(captures_become_the_first_operands),
        TEST(a_location_is_a_stack_of_frames),
        TEST(comparators_of_jax_are_keys),
        TEST(what_is_not_known_keeps_its_name_and_type),
        TEST(several_functions_are_called_in_order),
        TEST(what_is_wrong_is_said_at_its_op),
        TEST(every_attribute_of_an_op_that_is_read_has_a_fate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
