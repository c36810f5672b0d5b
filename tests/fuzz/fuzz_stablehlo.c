/* fuzz_stablehlo.c - StableHLO text as programs, mutated by tokens.
 *
 * Whatever the reader of text takes becomes a program that the verifier
 * passes, or is refused with a reason. */
#include "frontend/ir/print.h"
#include "frontend/mlir/text.h"
#include "frontend/read/stablehlo.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { BUDGET = 64 << 20, MOST = 1 << 14 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

static void check(bool ok)
{
    if (!ok)
        abort();
}

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
    char *copy = malloc(size + 1);

    memcpy(copy, data, size);
    copy[size] = '\0';
    const jx_mlir_file *file = jx_mlir_read_text(ctx, NULL, "-", copy, size);
    const jx_program *program = file ? jx_read_stablehlo(file) : NULL;
    check(program || (ctx->error.kind != JX_E_NONE && ctx->error.message));
    check(ctx->error.kind != JX_E_INTERNAL);
    if (program)
        check_program(program);
    free(copy);
    jx_ctx_free(ctx);
    return 0;
}

/* ---- the mutator: a word is replaced by another one of the text, or by one
 * of these */

static const char *const words[] = {
    "-1", "0", "1", "2", "64", "9223372036854775807", "-9223372036854775808",
    "tensor<f32>", "tensor<?x?xf32>", "tensor<2x3xi8>", "tensor<i1>", "?",
    "tensor<0xf32>", "tensor<2xcomplex<f32>>", "!stablehlo.token",
    "tuple<tensor<f32>, tensor<i8>>", "tensor<2x!quant.uniform<i8:f32, 0.5>>",
    "i1", "i64", "f32", "bf16", "f6E2M3FN", "[]", "[0]", "[1, 0]", "[0, 0]",
    "array<i64>", "array<i64: -1, 7>", "dense<>", "dense<0>", "dense<[1, 2]>",
    "LT", "TOTALORDER", "stablehlo.add", "stablehlo.reduce", "func.call",
    "@main", "stablehlo.custom_call", "true", "",
};

typedef struct token {
    size_t begin, end;
} token;

static bool in_word(uint8_t c)
{
    return isalnum(c) || (c && strchr("_.#%@!<>:-", c));
}

static token pick(const uint8_t *data, size_t size, unsigned *seed)
{
    token found = {0, size};
    unsigned seen = 0;

    for (size_t at = 0; at < size;) {
        size_t end = at + 1;
        while (in_word(data[at]) && end < size && in_word(data[end]))
            end++;
        if (!isspace(data[at]) && (unsigned)rand_r(seed) % ++seen == 0)
            found = (token){at, end};
        at = end;
    }
    return found;
}

static size_t splice(uint8_t *data, size_t size, size_t max, token t,
                     const void *with, size_t length)
{
    uint8_t copy[MOST];
    size_t rest = size - t.end;

    if (length > sizeof copy || t.begin + length + rest > max)
        return size;
    memcpy(copy, with, length);
    memmove(data + t.begin + length, data + t.end, rest);
    memcpy(data + t.begin, copy, length);
    return t.begin + length + rest;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed)
{
    const char *word = words[(unsigned)rand_r(&seed) %
                             (sizeof words / sizeof *words)];

    if (size < 2 || rand_r(&seed) % 8 == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    token t = pick(data, size, &seed), other = pick(data, size, &seed);
    if (rand_r(&seed) % 2)
        return splice(data, size, max_size, t, word, strlen(word));
    return splice(data, size, max_size, t, data + other.begin,
                  other.end - other.begin);
}
