/* fuzz_text.c - jaxpr text, mutated by tokens.
 *
 * What the reader takes must be a program that the verifier passes; printed,
 * it must read again, and print the same from then on. */
#include "frontend/ir/print.h"
#include "frontend/read/text.h"
#include "frontend/write/document.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUDGET = 32 << 20, MOST = 1 << 14 };

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
    jx_buffer text = {0}, document = {0};

    check(jx_program_verify(program));
    jx_program_print(program, (jx_print_options){0}, &text);
    jx_program_print(program,
                     (jx_print_options){.width = 30, .all_params = true},
                     &text);
    jx_write_document(program, &document);
    jx_buffer_free(&text);
    jx_buffer_free(&document);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jx_ctx *ctx = jx_ctx_new(BUDGET);
    char *copy = malloc(size ? size : 1);

    if (size)
        memcpy(copy, data, size);
    jx_program *program = jx_read_text(ctx, "-", copy, size);
    free(copy);
    check(program || (ctx->error.kind != JX_E_NONE && ctx->error.message));
    check(ctx->error.kind != JX_E_INTERNAL);
    if (program)
        check_program(program);
    jx_ctx_free(ctx);
    return 0;
}

/* ---- the mutator */

typedef struct token {
    size_t begin, end;
} token;

static token pick(const uint8_t *data, size_t size, unsigned *seed)
{
    token found = {0, size};
    unsigned seen = 0;

    for (size_t at = 0; at < size;) {
        size_t end = at + 1;
        if (isalnum(data[at]) || data[at] == '_')
            while (end < size && (isalnum(data[end]) || data[end] == '_' ||
                                  data[end] == '.'))
                end++;
        if (!isspace(data[at]) && rand_r(seed) % ++seen == 0)
            found = (token){at, end};
        at = end;
    }
    return found;
}

/* From the token's line on, some lines. */
static token lines_of(const uint8_t *data, size_t size, token t,
                      unsigned count)
{
    while (t.begin > 0 && data[t.begin - 1] != '\n')
        t.begin--;
    for (t.end = t.begin; t.end < size && count; t.end++)
        count -= data[t.end] == '\n';
    return t;
}

static const char *const words[] = {
    "a", "b", "in", "let", "lambda", "_", "{", "}", "[", "]", "(", ")", ";",
    ":", ".", "=", " ", "\n", ",", "f32[]", "i32[b]", "f32[2*b + 1,3]{V:i}",
    "key<fry>[]", "0", "-1", "1.0:f32[]", "True:bool[]", "2j:c64[]",
    "[...]:f32[3]", "None", "jaxpr", "name=", "{ lambda ; . let in () }",
    "P('x', None)", "Mesh('x': 2, axis_types=(Auto,))", "np.int64(1)",
    "frozenset({'i'})", "<function f at 0xX>", "GatherScatterMode.CLIP",
    "9223372036854775808", "mod(b, 3)", "#",
};

static size_t splice(uint8_t *data, size_t size, size_t max, token t,
                     const uint8_t *with, size_t length)
{
    static uint8_t copy[MOST];
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
    const char *word = words[rand_r(&seed) % (sizeof words / sizeof *words)];

    if (size < 2 || rand_r(&seed) % 6 == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    token t = pick(data, size, &seed), other = pick(data, size, &seed);
    token gap = {t.begin, t.begin};
    switch (rand_r(&seed) % 6) {
    case 0:
        return splice(data, size, max_size, t, (const uint8_t *)word,
                      strlen(word));
    case 1:
        return splice(data, size, max_size, gap, (const uint8_t *)word,
                      strlen(word));
    case 2:
        return splice(data, size, max_size, t, data, 0);
    case 3:
        return splice(data, size, max_size, t, data + other.begin,
                      other.end - other.begin);
    case 4:
        t = lines_of(data, size, t, 1 + (unsigned)rand_r(&seed) % 3);
        return splice(data, size, max_size, t, data, 0);
    default:
        other = lines_of(data, size, other, 1 + (unsigned)rand_r(&seed) % 3);
        gap.begin = gap.end = lines_of(data, size, t, 0).begin;
        return splice(data, size, max_size, gap, data + other.begin,
                      other.end - other.begin);
    }
}
