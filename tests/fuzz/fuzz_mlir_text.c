/* fuzz_mlir_text.c - MLIR text, mutated by tokens.
 *
 * What the reader takes must print and read again, to the same tree; what it
 * refuses must be one error that names a place. */
#include "frontend/mlir/print.h"
#include "frontend/mlir/text.h"
#include "tests/fuzz/commands.h"
#include "tests/fuzz/fuzz_tokens.h"

#include <stdio.h>

enum { BUDGET = 64 << 20 };

/* Printed in the generic form and read again, it is the same; the pretty form
 * with locations must print. */
static void check_module(jx_ctx *ctx, const jx_mlir_file *file, int i)
{
    jx_buffer text = {0}, pretty = {0};

    bool printed =
        jx_mlir_print(ctx, file->modules[i],
                      (jx_mlir_print_how){.generic = true}, &text) &&
        jx_mlir_print(ctx, file->modules[i],
                      (jx_mlir_print_how){.locations = true}, &pretty);
    /* (The bytes of resources are not printed.) */
    if (printed && !strstr(text.text, "dense_resource")) {
        const jx_mlir_file *again = jx_mlir_read_text(ctx, file->types, "again",
                                                      text.text, text.length);
        if (!again)
            fprintf(stderr, "%s\n", ctx->error.message);
        check(again || ctx->error.kind == JX_E_LIMIT);
        if (again)
            check(
                jx_mlir_same(ctx, file->modules[i], again->modules[0], NULL) ||
                !jx_ok(ctx));
    }
    jx_buffer_free(&text);
    jx_buffer_free(&pretty);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jx_ctx *ctx = jx_ctx_new(BUDGET);
    char *copy = fuzz_copy(data, size);

    jx_is_mlir_text(copy, size);
    jx_mlir_file *file = jx_mlir_read_text(ctx, NULL, "-", copy, size);
    size_t used = jx_arena_used(ctx->arena);
    free(copy);
    check(file || (ctx->error.kind != JX_E_NONE && ctx->error.message));
    check(file || ctx->error.kind != JX_E_INPUT || ctx->error.place);
    check(ctx->error.kind != JX_E_INTERNAL);
    check(used < (1 << 16) + 64 * size);
    for (int i = 0; file && i < file->nmodules; i++)
        check_module(ctx, file, i);
    jx_ctx_free(ctx);
    fuzz_commands(data, size);
    return 0;
}

/* ---- the mutator */

static bool is_part(uint8_t c)
{
    return isalnum(c) || c == '_' || c == '.' || c == '$';
}

/* A word with the sign before it, a string, or one character. */
static size_t token_end(const uint8_t *data, size_t size, size_t at)
{
    size_t end = at + 1;

    if (data[at] == '"') {
        while (end < size && data[end] != '"' && data[end] != '\n')
            end++;
        return end < size ? end + 1 : end;
    }
    if (is_part(data[at]) || strchr("%#!^@", data[at]))
        while (end < size && is_part(data[end]))
            end++;
    return end;
}

static const char *const words[] = {
    "%0",
    "%0#1",
    "%0:2",
    "%arg0",
    "^bb0(%x: i32):",
    "@f",
    "#loc",
    "!t",
    "->",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ":",
    "=",
    ",",
    "::",
    "\n",
    "-",
    "tensor<2xf32>",
    "tensor<?x3xi1>",
    "tensor<*xf32>",
    "i32",
    "f8E4M3FN",
    "index",
    "complex<f32>",
    "tuple<>",
    "!quant.uniform<i8:f32, 0.5:3>",
    "!stablehlo.token",
    "dense<1.0>",
    "dense<[1, 2]>",
    "dense<\"0x00\">",
    "dense<>",
    "array<i64: 1>",
    "0x7FC00000",
    "1.0e400",
    "-1",
    "?",
    "9223372036854775808",
    "loc(unknown)",
    "loc(#loc)",
    "loc(\"x\"(#loc))",
    "loc(callsite(\"a\" at \"b\":1:2))",
    "loc(fused<1>[\"a\"])",
    "// -----\n",
    "#loc = loc(\"x\":1:2)\n",
    "{-# dialect_resources: {b: {c: \"0x00\"}} #-}",
    "stablehlo.add",
    "\"stablehlo.add\"(%0, %0) : (i32, i32) -> i32",
    "func.func @f() {",
    "module {",
    "return",
    "applies",
    "cond",
    "do",
    "#sdy.sharding<@m, [{\"a\":(1)2, ?}p1]>",
    "dense_resource<c> : tensor<1xi8>",
    "#stablehlo<precision HIGH>",
    "#stablehlo.gather<index_vector_dim = 1>",
    "{a.b = 1 : i64, c}",
    "<{value = true}>",
    "({})",
    "\"\\FF\"",
    "true",
};

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed)
{
    static const fuzz_language mlir = {words, sizeof words / sizeof *words,
                                       token_end};

    return fuzz_mutate_tokens(&mlir, data, size, max_size, seed);
}
