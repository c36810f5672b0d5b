/* test_mlir_text.c - MLIR text: what it says, and what is wrong with it.
 *
 * That every pretty form means what MLIR takes it for is tested against jaxlib
 * (tests/python/test_mlir_text.py), on the same files as here. */
#include "frontend/base/file.h"
#include "frontend/mlir/ops.h"
#include "frontend/mlir/print.h"
#include "frontend/mlir/text.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const jx_mlir_file *read(jx_ctx *ctx, const char *text)
{
    return jx_mlir_read_text(ctx, NULL, "t.mlir", text, strlen(text));
}

/* The ops of the only function of the only module. */
static const jx_mlir_block *body_of(const jx_mlir_file *file)
{
    assert_non_null(file);
    assert_int_equal(file->nmodules, 1);
    const jx_mlir_block *module = jx_mlir_body(file->modules[0], 0);
    assert_true(module->ops[0]->regions[0].nblocks > 0);
    return module->ops[0]->regions[0].blocks[0];
}

static jx_ctx *new_ctx(void)
{
    jx_ctx *ctx = jx_ctx_new(0);

    assert_non_null(ctx);
    return ctx;
}

/* Reading `text` fails at `place`, and says `message`. */
static void fails(const char *text, const char *place, const char *message)
{
    jx_ctx *ctx = new_ctx();

    assert_null(read(ctx, text));
    assert_int_equal(ctx->error.kind, JX_E_INPUT);
    assert_string_equal(ctx->error.file, "t.mlir");
    if (!strstr(ctx->error.message, message))
        print_message("%s\n", ctx->error.message);
    assert_non_null(strstr(ctx->error.message, message));
    assert_string_equal(ctx->error.place, place);
    jx_ctx_free(ctx);
}

static void fails_in_constant(const char *constant, const char *message)
{
    char text[512];
    jx_ctx *ctx = new_ctx();

    snprintf(text, sizeof text, "%%0 = stablehlo.constant %s", constant);
    assert_null(read(ctx, text));
    if (!strstr(ctx->error.message, message))
        print_message("%s\n", ctx->error.message);
    assert_non_null(strstr(ctx->error.message, message));
    jx_ctx_free(ctx);
}

/* ---- what it says */

static void a_program_has_its_parts(void **state)
{
    jx_ctx *ctx = new_ctx();
    const jx_mlir_file *file = read(
        ctx,
        "module @m {\n"
        "  func.func public @main(%arg0: tensor<2xf32> {a.b = \"x\"}) -> "
        "tensor<2xf32> {\n"
        "    %0:2 = \"test.two\"(%arg0) {k = 1 : i64} : (tensor<2xf32>) -> "
        "(tensor<2xf32>, i1)\n"
        "    %x = stablehlo.add %0#0, %arg0 {m.n} : tensor<2xf32> "
        "loc(\"f.py\":3:4)\n"
        "    return %x : tensor<2xf32>\n"
        "  }\n}\n");
    const jx_mlir_block *body = body_of(file);

    (void)state;
    assert_string_equal(file->modules[0]->name, "builtin.module");
    assert_string_equal(
        jx_mlir_text(ctx, jx_mlir_get(file->modules[0], "sym_name")), "m");
    assert_ptr_equal(jx_mlir_symbol(file->modules[0], "main"),
                     jx_mlir_body(file->modules[0], 0)->ops[0]);
    assert_int_equal(body->nops, 3);
    const jx_mlir_op *add = body->ops[1];
    assert_string_equal(add->name, "stablehlo.add");
    assert_ptr_equal(add->ins[0], body->ops[0]->outs[0]);
    assert_ptr_equal(add->ins[1], body->args[0]);
    assert_string_equal(add->outs[0]->name, "x");
    assert_string_equal(body->args[0]->name, "arg0");
    assert_int_equal(add->nattrs, 1);
    assert_int_equal(add->attrs[0].value->kind, JX_A_UNIT);
    assert_int_equal(add->loc->kind, JX_A_LOC_FILE);
    assert_int_equal(add->loc->integers[0], 3);
    assert_int_equal(add->place.line, 4);
    assert_int_equal(add->place.column, 5);
    assert_int_equal(body->ops[0]->loc->kind, JX_A_LOC_UNKNOWN);
    assert_int_equal(body->ops[0]->outs[1]->index, 1);
    jx_ctx_free(ctx);
}

static void inherent_attributes_are_told_from_others(void **state)
{
    jx_ctx *ctx = new_ctx();
    const jx_mlir_block *body = body_of(read(
        ctx, "func.func @f(%a: tensor<2xi32>) {\n"
             "  %0 = \"stablehlo.transpose\"(%a) {x.y = 2 : i64, permutation = "
             "array<i64: 0>} : (tensor<2xi32>) -> tensor<2xi32>\n"
             "  return\n}"));
    const jx_mlir_op *op = body->ops[0];

    (void)state;
    assert_int_equal(op->ninherent, 1);
    assert_string_equal(op->inherent[0].name, "permutation");
    assert_int_equal(op->inherent[0].value->kind, JX_A_DENSE_ARRAY);
    assert_int_equal(op->nattrs, 1);
    assert_string_equal(op->attrs[0].name, "x.y");
    jx_ctx_free(ctx);
}

/* The value of the constant `%0 = stablehlo.constant TEXT`. */
static const jx_mlir_attr *constant(jx_ctx *ctx, const char *text)
{
    char whole[512];

    snprintf(whole, sizeof whole, "%%0 = stablehlo.constant %s", text);
    const jx_mlir_file *file = read(ctx, whole);
    if (!file)
        print_message("%s\n", ctx->error.message);
    assert_non_null(file);
    return jx_mlir_get(jx_mlir_body(file->modules[0], 0)->ops[0], "value");
}

/* The reader rounds in long doubles, which valgrind computes as doubles. */
static bool has_extended(void)
{
    volatile long double one = 1;

    return one + LDBL_EPSILON != one;
}

static void constants_are_bytes(void **state)
{
    static const struct row {
        const char *text, *hex;
        bool splat;
    } rows[] = {
        {"dense<[1, -1]> : tensor<2xi16>", "0100ffff", false},
        {"dense<7> : tensor<3xui8>", "07", true},
        {"dense<7> : tensor<1xui8>", "07", false},
        {"dense<[true, false]> : tensor<2xi1>", "0100", false},
        {"dense<\"0x0D\"> : tensor<4xi1>", "01000101", false},
        {"dense<\"0xFF\"> : tensor<9xi1>", "01", true},
        {"dense<\"0x000102\"> : tensor<3xi8>", "000102", false},
        {"dense<\"0x0100\"> : tensor<3xi16>", "0100", true},
        {"dense<[3, 3]> : tensor<2xi8>", "03", true},
        {"dense<\"0x0303\"> : tensor<2xi8>", "03", true},
        {"dense<2> : tensor<0xi8>", "02", true},
        {"dense<1.5> : tensor<f32>", "0000c03f", false},
        {"dense<0x3FC0> : tensor<bf16>", "c03f", false},
        {"dense<0.1> : tensor<f16>", "662e", false},
        {"dense<448.0> : tensor<f8E4M3FN>", "7e", false},
        {"dense<465.0> : tensor<f8E4M3FN>", "7f", false},
        {"dense<-0.0> : tensor<f8E5M2FNUZ>", "00", false},
        {"dense<2.5> : tensor<f4E2M1FN>", "04", false},
        {"dense<-1> : tensor<i4>", "0f", false},
        {"dense<(1.0, -2.0)> : tensor<complex<f32>>", "0000803f000000c0",
         false},
        {"dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>", "01020304", false},
        {"dense<> : tensor<0x2xf32>", "", false},
        {"dense<0.1> : tensor<f64>", "9a9999999999b93f", false},
        {"dense<1.7976931348623157e+308> : tensor<f64>", "ffffffffffffef7f",
         false},
        {"dense<4.9e-324> : tensor<f64>", "0100000000000000", false},
        {"dense<9007199254740993.0> : tensor<f64>", "0000000000004043", false},
        {"dense<123456789012345678901234567890.0> : tensor<f64>",
         "3e376cff90eef845", false},
        /* The nearest double is the middle of two; the number is not. */
        {"dense<1.0000000596046447753> : tensor<f32>", "0000803f", false},
        {"dense<1.00000005960464477539062500> : tensor<f32>", "0000803f",
         false},
        {"dense<1.0000000596046447753906250000001e+0> : tensor<f32>",
         "0100803f", false},
        {"dense<-10.00000059604644776e-1> : tensor<f32>", "010080bf", false},
        {"dense<65519.99999999999999> : tensor<f16>", "ff7b", false},
        {"dense<2.9802322387695312500001e-8> : tensor<f16>", "0100", false},
        {"dense<2.9802322387695312499999e-8> : tensor<f16>", "0000", false},
        {"dense<0.000000298023223876953125e-1> : tensor<f16>", "0000", false},
        {"dense<5.00000000000000000000001> : tensor<f4E2M1FN>", "07", false},
        {"dense<0.99999999999999999999999e+1> : tensor<f8E3M4>", "64", false},
    };

    (void)state;
    if (!has_extended())
        skip();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        jx_ctx *ctx = new_ctx();
        const jx_mlir_attr *value = constant(ctx, rows[i].text);
        char hex[64] = "";
        for (size_t k = 0; k < value->size; k++)
            snprintf(hex + 2 * k, 3, "%02x",
                     ((const unsigned char *)value->bytes)[k]);
        if (strcmp(hex, rows[i].hex) != 0)
            print_message("%s\n", rows[i].text);
        assert_string_equal(hex, rows[i].hex);
        assert_int_equal(value->splat, rows[i].splat);
        jx_ctx_free(ctx);
    }
}

static void locations_may_be_defined_at_the_end(void **state)
{
    jx_ctx *ctx = new_ctx();
    const jx_mlir_block *body = body_of(read(
        ctx, "func.func @f() {\n  return loc(#loc2)\n} loc(#loc1)\n"
             "#loc1 = loc(\"a.py\":1:2 to :5)\n#loc2 = loc(callsite(#loc1 at "
             "fused<1 : i64>[\"x\", unknown]))\n"));
    const jx_mlir_attr *loc = body->ops[0]->loc;

    (void)state;
    assert_int_equal(loc->kind, JX_A_LOC_CALL);
    assert_int_equal(loc->items[0]->kind, JX_A_LOC_FILE);
    assert_int_equal(loc->items[0]->count, 4);
    assert_int_equal(loc->items[0]->integers[2], 1);
    assert_int_equal(loc->items[0]->integers[3], 5);
    assert_int_equal(loc->items[1]->kind, JX_A_LOC_FUSED);
    assert_int_equal(loc->items[1]->extra->integer, 1);
    jx_ctx_free(ctx);
}

static void resources_get_their_bytes(void **state)
{
    jx_ctx *ctx = new_ctx();
    const jx_mlir_file *file =
        read(ctx, "%0 = stablehlo.constant dense_resource<b> : tensor<2xi8>\n"
                  "{-#\n  dialect_resources: {\n    builtin: {\n"
                  "      b: \"0x400000000102\", other: \"0x4000000003\"\n"
                  "    }\n  }, external_resources: { mlir_reproducer: { "
                  "disable_threading: true } }\n#-}\n");

    (void)state;
    assert_non_null(file);
    const jx_mlir_attr *value =
        jx_mlir_get(jx_mlir_body(file->modules[0], 0)->ops[0], "value");
    assert_int_equal(value->kind, JX_A_RESOURCE);
    assert_int_equal(value->size, 2);
    assert_memory_equal(value->bytes, "\1\2", 2);
    jx_ctx_free(ctx);
}

static void parts_of_a_text_are_modules_of_their_own(void **state)
{
    jx_ctx *ctx = new_ctx();
    const jx_mlir_file *file =
        read(ctx, "// -----\n#a = 1 : i64\nmodule @one {\n  // -----\n}\n"
                  "// ------ not one\n"
                  "  // -----  \n#a = 2 : i64\nfunc.func private @f()\n"
                  "func.func private @g()\n// -----\n");

    (void)state;
    assert_non_null(file);
    assert_int_equal(file->nmodules, 2);
    assert_int_equal(jx_mlir_body(file->modules[1], 0)->nops, 2);
    assert_int_equal(file->bytecode, -1);
    jx_ctx_free(ctx);
}

static void values_are_seen_where_they_may_be(void **state)
{
    jx_ctx *ctx = new_ctx();
    const jx_mlir_block *body = body_of(read(
        ctx, "func.func @f(%a: i1) {\n"
             "  \"test.r\"() ({\n    %x = \"test.v\"(%a) : (i1) -> i1\n"
             "    \"test.u\"(%x) : (i1) -> ()\n  }, {\n"
             "    %x = \"test.v\"(%a) : (i1) -> i1\n  }) : () -> ()\n"
             "  %x = \"test.v\"(%a) : (i1) -> i1\n"
             "  \"test.u\"(%x)[^next] : (i1) -> ()\n"
             "^next:\n  \"test.u\"(%late)[^last] : (i1) -> ()\n"
             "^last:\n  %late = \"test.v\"(%x) : (i1) -> i1\n  return\n}"));
    const jx_mlir_region *region = &body->ops[0]->regions[0];

    (void)state;
    assert_ptr_equal(region->blocks[0]->ops[1]->ins[0],
                     region->blocks[0]->ops[0]->outs[0]);
    assert_ptr_equal(body->ops[2]->ins[0], body->ops[1]->outs[0]);
    assert_int_equal(body->ops[2]->nsuccessors, 1);
    const jx_mlir_block *next = body->ops[2]->successors[0];
    const jx_mlir_block *last = next->ops[0]->successors[0];
    assert_ptr_equal(next->ops[0]->ins[0], last->ops[0]->outs[0]);
    assert_ptr_equal(last->ops[0]->outs[0]->op, last->ops[0]);
    jx_ctx_free(ctx);
}

static void defaults_are_left_out_of_records(void **state)
{
    jx_ctx *ctx = new_ctx();
    const jx_mlir_block *body = body_of(read(
        ctx,
        "#g = #stablehlo.gather<index_vector_dim = 0, collapsed_slice_dims = "
        "[], offset_dims = [1]>\n"
        "func.func @f() {\n  \"t.t\"() {a = #g, b = "
        "#stablehlo<gather<offset_dims = [1]>>} : () -> ()\n  return\n}"));
    const jx_mlir_attr *a = jx_mlir_get(body->ops[0], "a");

    (void)state;
    assert_int_equal(a->kind, JX_A_RECORD);
    assert_string_equal(a->name, "stablehlo.gather");
    assert_int_equal(a->count, 1);
    assert_non_null(jx_mlir_field(a, "offset_dims"));
    assert_true(jx_mlir_attr_same(a, jx_mlir_get(body->ops[0], "b")));
    jx_ctx_free(ctx);
}

static void what_is_not_known_is_kept(void **state)
{
    jx_ctx *ctx = new_ctx();
    const jx_mlir_block *body = body_of(read(
        ctx,
        "func.func @f(%a: !other.type<(x) -> {y = \">\"}>) {\n"
        "  \"other.op\"(%a) {a = #other.attr<[1, <2>]>, b = #other<x y>} : "
        "(!other.type<(x) -> {y = \">\"}>) -> ()\n  return\n}"));
    const jx_mlir_op *op = body->ops[0];

    (void)state;
    assert_int_equal(body->args[0]->type->kind, JX_T_OPAQUE);
    assert_string_equal(body->args[0]->type->text,
                        "!other.type<(x) -> {y = \">\"}>");
    assert_string_equal(jx_mlir_get(op, "a")->text, "#other.attr<[1, <2>]>");
    assert_string_equal(jx_mlir_get(op, "b")->text, "#other<x y>");
    jx_ctx_free(ctx);
}

static void quantized_types_have_their_scales(void **state)
{
    jx_ctx *ctx = new_ctx();
    const jx_mlir_block *body = body_of(read(
        ctx,
        "func.func @f(%a: tensor<2x!quant.uniform<u8<1:200>:f32:0, {0.5:3, "
        "2.5e-1}>>) {\n  return\n}"));
    const jx_mlir_type *type = body->args[0]->type->items[0];

    (void)state;
    assert_int_equal(type->kind, JX_T_QUANTIZED);
    assert_int_equal(type->quant->flags, 0);
    assert_int_equal(type->quant->min, 1);
    assert_int_equal(type->quant->max, 200);
    assert_int_equal(type->quant->axis, 0);
    assert_int_equal(type->quant->count, 2);
    assert_true(type->quant->scales[1] == 0.25);
    assert_int_equal(type->quant->zeros[0], 3);
    jx_ctx_free(ctx);
}

static void reductions_get_their_body(void **state)
{
    jx_ctx *ctx = new_ctx();
    const jx_mlir_block *body = body_of(read(
        ctx, "func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {\n"
             "  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.maximum "
             "across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> "
             "tensor<f32> loc(\"here\")\n  return\n}"));
    const jx_mlir_op *op = body->ops[0];
    const jx_mlir_block *step = jx_mlir_body(op, 0);

    (void)state;
    assert_string_equal(op->loc->text, "here");
    assert_int_equal(step->nargs, 2);
    assert_int_equal(step->nops, 2);
    assert_string_equal(step->ops[0]->name, "stablehlo.maximum");
    assert_ptr_equal(step->ops[0]->ins[1], step->args[1]);
    assert_ptr_equal(step->ops[1]->ins[0], step->ops[0]->outs[0]);
    assert_ptr_equal(step->ops[0]->loc, op->loc);
    assert_int_equal(step->args[0]->type->rank, 0);
    jx_ctx_free(ctx);
}

/* ---- what is wrong with it */

static void errors_show_the_line(void **state)
{
    jx_ctx *ctx = new_ctx();

    (void)state;
    assert_null(read(ctx, "module {\n  %0 = stablehlo.iota dm = 0 : i32\n}"));
    assert_string_equal(ctx->error.place, "line 2, column 23");
    assert_string_equal(ctx->error.message,
                        "expected 'dim', found 'dm'\n"
                        "    %0 = stablehlo.iota dm = 0 : i32\n"
                        "                        ^");
    jx_ctx_free(ctx);
}

static void mistakes_are_found_where_they_are(void **state)
{
    (void)state;
    fails("", "line 1, column 1", "expected a module or ops, the text ends");
    fails("// only this\n", "line 2, column 1", "expected a module or ops");
    fails("module {", "line 1, column 9", "expected '}', the text ends");
    fails("module {\n  return %x : i32\n}", "line 2, column 3",
          "of builtin.return no pretty form is known");
    fails("func.func @f() {\n  return %x : i32\n}", "line 2, column 10",
          "%x is not defined");
    fails("func.func @f(%x: i32) {\n  return %x : i64\n}", "line 2, column 10",
          "%x is of type i32, here it is of type i64");
    fails("func.func @f(%x: i32) {\n  %x = \"a.b\"() : () -> i1\n}",
          "line 2, column 3", "%x is defined twice");
    fails("func.func @f() {\n  \"a.b\"(%x) : (i1) -> ()\n"
          "  %x = \"a.b\"() : () -> i1\n}",
          "line 2, column 9", "%x is used before it is defined");
    fails("%a:2 = \"a.b\"() : () -> i1", "line 1, column 1",
          "this binds 2 results, a.b has 1");
    fails("%a = \"a.b\"() : () -> i1\n\"a.b\"(%a#1) : (i1) -> ()",
          "line 2, column 7", "%a has 1 results, there is no %a#1");
    fails("\"a.b\"(%a, %b) : (i1) -> ()", "line 1, column 1",
          "a.b has 2 operands here, and types for 1");
    fails("\"a.b\"() {x = 1, x = 2} : () -> ()", "line 1, column 10",
          "the attribute 'x' is given twice");
    fails("\"a.b\"() {x = #y} : () -> ()", "line 1, column 14",
          "the alias #y is not defined");
    fails("\"a.b\"() : () -> !y", "line 1, column 17",
          "the alias !y is not defined");
    fails("\"a.b\"() : () -> () loc(#l)", "line 1, column 24",
          "the location #l is not defined anywhere");
    fails("#l = loc(\"x\"(#l))", "line 1, column 14",
          "the alias #l is not defined");
    fails("#l = 1\n#l = 2", "line 2, column 1", "defined twice");
    fails("\"a.b\"()[^x] : () -> ()", "line 1, column 9",
          "expected no block here");
    fails("\"a.b\"() ({ \"a.c\"()[^x] : () -> () }) : () -> ()",
          "line 1, column 20", "there is no block ^x");
    fails("\"a.b\"() ({\n^x:\n \"a.c\"()[^x] : () -> () }) : () -> ()",
          "line 3, column 10", "^x is the first block of its region");
    fails("stablehlo.gather %a", "line 1, column 1",
          "stablehlo.gather is only written in the generic form");
    fails("%0 = stablehlo.slice %a [1:b] : i32", "line 1, column 28",
          "expected an integer, found 'b'");
    fails("%0 = stablehlo.compare XX, %a, %a : i32", "line 1, column 24",
          "expected a case of stablehlo.comparison_direction, found 'XX'");
    fails("func.func @f(tensor<2>)", "line 1, column 22",
          "expected 'x' behind the size of an axis");
    fails("\"a.b\"() {x = \"abc} : () -> ()", "line 1, column 14",
          "this string has no end on its line");
    fails("\"a.b\"() {x = \"\\q\"} : () -> ()", "line 1, column 15",
          "expected an escape");
    fails("\"a.b\"() {x = 300 : i8} : () -> ()", "line 1, column 14",
          "this does not fit its type");
    fails("\"a.b\"() {x = 99999999999999999999} : () -> ()",
          "line 1, column 14", "this does not fit its type");
    fails("\"a.b\"() {x = 1.5 : i8} : () -> ()", "line 1, column 14",
          "a number with a point needs a float type");
    fails("\"a.b\"() {x = #sdy.sharding<@m, [{\"a\"}], foo={}>} : () -> ()",
          "line 1, column 41", "expected 'replicated=' or 'unreduced='");
    fails("\"a.b\"() {x = #stablehlo.dot<lhs = [1]>} : () -> ()",
          "line 1, column 29", "expected the name of a field, found 'lhs'");
    fails("\"a.b\"() : () -> () loc(\"\\FF.py\":1:2)", "line 1, column 24",
          "a name is UTF-8 without a NUL");
    fails("\"a.b\"() {x = @\"\\FF\"} : () -> ()", "line 1, column 20",
          "a name is UTF-8 without a NUL");
    fails("\"a.b\"() {x = !quant.uniform<i8:f32, 1.0e999>} : () -> ()",
          "line 1, column 37", "expected a scale, finite and above 0");
    fails("\"a.b\"() {x = !quant.uniform<i8:f32, 0.0>} : () -> ()",
          "line 1, column 37", "expected a scale, finite and above 0");
}

static void constants_must_fit_their_types(void **state)
{
    (void)state;
    fails_in_constant("dense<[1, 2]> : tensor<3xi32>",
                      "this list has 2 items, where the type says 3");
    fails_in_constant("dense<[1, 2, 3]> : tensor<2xi32>",
                      "more elements than the type has");
    fails_in_constant("dense<[[1]]> : tensor<1xi32>", "nest deeper");
    fails_in_constant("dense<[1]> : tensor<1x1xi32>", "expected '['");
    fails_in_constant("dense<1> : tensor<f32>", "a number with a point");
    fails_in_constant("dense<1.0> : tensor<i32>", "expected an integer");
    fails_in_constant("dense<256> : tensor<i8>", "expected a number that fits");
    fails_in_constant("dense<\"0x00\"> : tensor<2xi16>", "this has 1 bytes");
    fails_in_constant("dense<\"0x0\"> : tensor<i8>", "two hexadecimal digits");
    fails_in_constant("dense<\"0x0g\"> : tensor<i8>", "two hexadecimal digits");
    fails_in_constant("dense<\"00\"> : tensor<i8>", "expected '0x'");
    fails_in_constant("dense<> : tensor<2xi8>", "expected elements");
    fails_in_constant("dense<1", "this constant has no end");
    fails_in_constant("dense<1> : tensor<?xi8>", "shape must be known");
    fails_in_constant("dense<1> : i8", "expected a tensor's type");
    fails_in_constant("dense<[0]> : tensor<4611686018427387904x4xi8>",
                      "more than 2^63");
    fails_in_constant("dense<[0]> : tensor<1000000000000xi8>",
                      "fewer elements than the type");
    fails_in_constant("dense<0x1FF> : tensor<f8E5M2>", "expected the bits of");
    fails_in_constant("5", "expected a constant with a tensor's type");
}

/* `count` times `open`, then `middle`, then as often `close`. */
static char *nested(const char *before, const char *open, size_t count,
                    const char *middle, const char *close, const char *after)
{
    size_t size = strlen(before) + strlen(after) + strlen(middle) +
                  count * (strlen(open) + strlen(close)) + 1;
    char *text = malloc(size), *to = text;

    assert_non_null(text);
    to = stpcpy(to, before);
    for (size_t i = 0; i < count; i++)
        to = stpcpy(to, open);
    to = stpcpy(to, middle);
    for (size_t i = 0; i < count; i++)
        to = stpcpy(to, close);
    stpcpy(to, after);
    return text;
}

static void fails_nested(const char *before, const char *open,
                         const char *middle, const char *close,
                         const char *after)
{
    char *text = nested(before, open, 100000, middle, close, after);
    jx_ctx *ctx = new_ctx();

    assert_null(read(ctx, text));
    assert_non_null(strstr(ctx->error.message, " deep"));
    jx_ctx_free(ctx);
    free(text);
}

static void nesting_has_a_limit(void **state)
{
    (void)state;
    fails_nested("\"a.b\"() {x = ", "[", "1", "]", "} : () -> ()");
    fails_nested("\"a.b\"() : () -> ", "tuple<", "i1", ">", "");
    fails_nested("\"a.b\"() : () -> () loc(", "\"x\"(", "unknown", ")", ")");
    fails_nested("", "\"a.b\"() ({", "", "}) : () -> ()", "");
    fails_nested("\"a.b\"() {x = #o.p", "<", "", ">", "} : () -> ()");
    fails_nested("", "module {", "", "}", "");
}

/* Aliases that double what they stand for, or that nest without end. */
static void aliases_have_a_limit(void **state)
{
    jx_ctx *ctx = new_ctx();
    char text[100000], *to = text;

    (void)state;
    to += sprintf(to, "#a0 = [1, 2]\n");
    for (int i = 1; i < 60; i++)
        to += sprintf(to, "#a%d = [#a%d, #a%d]\n", i, i - 1, i - 1);
    sprintf(to, "module {}\n");
    assert_null(read(ctx, text));
    assert_non_null(strstr(ctx->error.message, "too much"));
    jx_ctx_free(ctx);

    ctx = new_ctx();
    to = text;
    to += sprintf(to, "#l0 = loc(unknown)\n");
    for (int i = 1; i < 2000; i++)
        to += sprintf(to, "#l%d = loc(\"x\"(#l%d))\n", i, i - 1);
    sprintf(to, "module {}\n");
    assert_null(read(ctx, text));
    assert_non_null(strstr(ctx->error.message, " deep"));
    jx_ctx_free(ctx);
}

static void it_is_recognized_by_its_beginning(void **state)
{
    static const char *const good[] = {
        "module {",          "module @m",     "// x\n\n#loc = loc(unknown)",
        "!t = i32",          "func.func @f",  "\"builtin.module\"() ({",
        "builtin.module @x", "sdy.mesh @m = "};
    static const char *const bad[] = {"",
                                      "{ lambda ; a:f32[]. let",
                                      "let f = {",
                                      "{\"version\": 1}",
                                      "# a comment\n{ lambda",
                                      "modules",
                                      "\"a text\"",
                                      "import jax"};

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(jx_is_mlir_text(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(jx_is_mlir_text(bad[i], strlen(bad[i])));
}

/* ---- files */

static const char *const files[] = {
    "tests/mlir/text/forms.mlir", "tests/mlir/text/newer.mlir",
    "tests/mlir/text/ours.mlir", "tests/mlir/text/rest.mlir"};
enum { NFILES = sizeof files / sizeof *files };

static const char *contents(jx_ctx *ctx, const char *path, size_t *size)
{
    const char *text = jx_file_read(ctx, path, size);

    assert_non_null(text);
    return text;
}

static void every_pretty_form_has_a_test(void **state)
{
    jx_ctx *ctx = new_ctx();
    const char *texts[NFILES];
    size_t size;

    (void)state;
    for (size_t i = 0; i < NFILES; i++)
        texts[i] = contents(ctx, files[i], &size);
    for (jx_op_id id = JX_OP_unknown + 1; id < JX_OP_COUNT; id++) {
        const char *name = jx_mlir_op_info_of(id)->name;
        char word[64];
        bool found =
            !*jx_mlir_op_info_of(id)->form || id == JX_OP_builtin_module;
        snprintf(word, sizeof word, " %s", name);
        for (size_t k = 0; k < NFILES && !found; k++)
            for (const char *at = texts[k]; !found && at; at++) {
                at = strstr(at, word);
                if (!at)
                    break;
                found = strchr(" (<\n", at[strlen(word)]) != NULL;
            }
        if (!found && strstr(texts[0], name))
            found = strncmp(name, "func.", 5) == 0 ||
                    strncmp(name, "sdy.mesh", 8) == 0;
        if (!found)
            print_message("%s has no test\n", name);
        assert_true(found);
    }
    jx_ctx_free(ctx);
}

/* Cut off anywhere, or with a byte changed, a text is refused or read, in one
 * piece either way. */
static void texts_cut_off_are_errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < NFILES; i++) {
        jx_ctx *whole = new_ctx();
        size_t size;
        const char *text = contents(whole, files[i], &size);
        for (size_t cut = 0; cut < size; cut += 1 + cut % 37) {
            jx_ctx *ctx = new_ctx();
            char *copy = malloc(cut + 1);
            assert_non_null(copy);
            memcpy(copy, text, cut);
            bool ok = jx_mlir_read_text(ctx, NULL, "cut", copy, cut) != NULL;
            assert_true(ok == (ctx->error.kind == JX_E_NONE));
            free(copy);
            jx_ctx_free(ctx);
        }
        jx_ctx_free(whole);
    }
}

/* The budget of a context is no crash. */
static void memory_may_end(void **state)
{
    jx_ctx *whole = new_ctx();
    size_t size;
    const char *text = contents(whole, files[0], &size);

    (void)state;
    for (size_t budget = 1 << 10; budget < 1 << 20; budget += budget / 7) {
        jx_ctx *ctx = jx_ctx_new(budget);
        bool ok = jx_mlir_read_text(ctx, NULL, "x", text, size) != NULL;
        assert_true(ok == (ctx->error.kind == JX_E_NONE));
        assert_true(ok || ctx->error.kind == JX_E_LIMIT);
        jx_ctx_free(ctx);
    }
    jx_ctx_free(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_has_its_parts),
        cmocka_unit_test(inherent_attributes_are_told_from_others),
        cmocka_unit_test(constants_are_bytes),
        cmocka_unit_test(locations_may_be_defined_at_the_end),
        cmocka_unit_test(resources_get_their_bytes),
        cmocka_unit_test(parts_of_a_text_are_modules_of_their_own),
        cmocka_unit_test(values_are_seen_where_they_may_be),
        cmocka_unit_test(defaults_are_left_out_of_records),
        cmocka_unit_test(what_is_not_known_is_kept),
        cmocka_unit_test(quantized_types_have_their_scales),
        cmocka_unit_test(reductions_get_their_body),
        cmocka_unit_test(errors_show_the_line),
        cmocka_unit_test(mistakes_are_found_where_they_are),
        cmocka_unit_test(constants_must_fit_their_types),
        cmocka_unit_test(nesting_has_a_limit),
        cmocka_unit_test(aliases_have_a_limit),
        cmocka_unit_test(it_is_recognized_by_its_beginning),
        cmocka_unit_test(every_pretty_form_has_a_test),
        cmocka_unit_test(texts_cut_off_are_errors),
        cmocka_unit_test(memory_may_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
