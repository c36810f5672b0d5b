/* fuzz_stablehlo.c - StableHLO text as programs, mutated by tokens.
 *
 * Whatever the reader of text takes becomes a program that the verifier
 * passes, or is refused with a reason. */
#include "analyzer/infer.h"
#include "frontend/ir/print.h"
#include "frontend/mlir/text.h"
#include "frontend/read/stablehlo.h"
#include "tests/fuzz/commands.h"
#include "tests/fuzz/fuzz_tokens.h"

enum { BUDGET = 64 << 20 };

static void check_program(const jx_program *program)
{
    jx_buffer text = {0};

    check(jx_program_verify(program));
    jx_program_print(program, (jx_print_options){.all_params = true}, &text);
    jx_buffer_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jx_ctx *ctx = jx_ctx_new(BUDGET);
    char *copy = fuzz_copy(data, size);

    const jx_mlir_file *file = jx_mlir_read_text(ctx, NULL, "-", copy, size);
    const jx_program *program =
        file ? jx_read_stablehlo(file, jx_infer_reading) : NULL;
    check(program || (ctx->error.kind != JX_E_NONE && ctx->error.message));
    check(ctx->error.kind != JX_E_INTERNAL);
    if (program)
        check_program(program);
    free(copy);
    jx_ctx_free(ctx);
    fuzz_commands(data, size);
    return 0;
}

/* ---- the mutator: types are words, whole */

static const char *const words[] = {
    "-1",
    "0",
    "1",
    "2",
    "64",
    "9223372036854775807",
    "-9223372036854775808",
    "tensor<f32>",
    "tensor<?x?xf32>",
    "tensor<2x3xi8>",
    "tensor<i1>",
    "?",
    "tensor<0xf32>",
    "tensor<2xcomplex<f32>>",
    "!stablehlo.token",
    "tuple<tensor<f32>, tensor<i8>>",
    "tensor<2x!quant.uniform<i8:f32, 0.5>>",
    "i1",
    "i64",
    "f32",
    "bf16",
    "f6E2M3FN",
    "[]",
    "[0]",
    "[1, 0]",
    "[0, 0]",
    "array<i64>",
    "array<i64: -1, 7>",
    "dense<>",
    "dense<0>",
    "dense<[1, 2]>",
    "LT",
    "TOTALORDER",
    "stablehlo.add",
    "stablehlo.reduce",
    "func.call",
    "@main",
    "stablehlo.custom_call",
    "true",
    "",
};

static bool in_word(uint8_t c)
{
    return isalnum(c) || (c && strchr("_.#%@!<>:-", c));
}

static size_t token_end(const uint8_t *data, size_t size, size_t at)
{
    size_t end = at + 1;

    while (in_word(data[at]) && end < size && in_word(data[end]))
        end++;
    return end;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed)
{
    static const fuzz_language stablehlo = {words, sizeof words / sizeof *words,
                                            token_end};

    return fuzz_mutate_tokens(&stablehlo, data, size, max_size, seed);
}
