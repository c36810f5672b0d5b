/* fuzz_document.c - documents, mutated as JSON.
 *
 * What the reader takes must be a program that the verifier passes; it must
 * print; written, it must read again and write the same bytes.  The mutator
 * knows JSON: it changes numbers, replaces, removes, repeats and swaps values,
 * so that most mutants get past the syntax. */
#include "frontend/ir/print.h"
#include "frontend/read/document.h"
#include "frontend/write/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUDGET = 32 << 20, MOST = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

static void check(bool ok)
{
    if (!ok)
        abort();
}

static jx_program *read_again(jx_ctx *ctx, const jx_buffer *text)
{
    jx_program *p = jx_read_document(ctx, "-", text->text, text->length);

    if (!p && ctx->error.kind != JX_E_MEMORY)
        fprintf(stderr, "%s: %s\n%s\n", ctx->error.place, ctx->error.message,
                text->text);
    check(p || ctx->error.kind == JX_E_MEMORY);
    return p;
}

/* From the second time on nothing may change. */
static void check_round_trip(const jx_program *program)
{
    jx_buffer first = {0}, second = {0};
    jx_ctx *ctx = jx_ctx_new(BUDGET);

    if (jx_write_document(program, &first)) {
        const jx_program *again = read_again(ctx, &first);
        if (again && jx_write_document(again, &second))
            check(first.length == second.length &&
                  !memcmp(first.text, second.text, first.length));
    }
    jx_buffer_free(&first);
    jx_buffer_free(&second);
    jx_ctx_free(ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jx_ctx *ctx = jx_ctx_new(BUDGET);
    jx_buffer text = {0};
    /* A NUL after the end would hide a read beyond it. */
    char *copy = malloc(size ? size : 1);

    if (size)
        memcpy(copy, data, size);
    jx_program *program = jx_read_document(ctx, "-", copy, size);
    free(copy);
    check(program || (ctx->error.kind != JX_E_NONE && ctx->error.message));
    check(ctx->error.kind != JX_E_INTERNAL);
    if (program) {
        check(jx_program_verify(program));
        jx_program_print(program, (jx_print_options){0}, &text);
        jx_buffer_clear(&text);
        jx_program_print(program,
                         (jx_print_options){.width = 20, .all_params = true},
                         &text);
        check_round_trip(program);
    }
    jx_buffer_free(&text);
    jx_ctx_free(ctx);
    return 0;
}

/* ---- the mutator */

typedef struct value {
    size_t begin, end;
} value;

static size_t skip_text(const uint8_t *data, size_t size, size_t at)
{
    for (at++; at < size && data[at] != '"'; at++)
        at += data[at] == '\\';
    return at < size ? at + 1 : size;
}

static size_t value_end(const uint8_t *data, size_t size, size_t at)
{
    int depth = 0;

    while (at < size) {
        if (data[at] == '"') {
            at = skip_text(data, size, at);
        } else if (data[at] == '[' || data[at] == '{') {
            depth++;
            at++;
        } else if (data[at] == ']' || data[at] == '}') {
            if (depth-- == 0)
                return at;
            at++;
        } else if (depth == 0 && (data[at] == ',' || data[at] == ':')) {
            return at;
        } else {
            at++;
            if (depth == 0)
                continue;
        }
        if (depth == 0 &&
            (at >= size || strchr(",:]}", data[at])))
            return at;
    }
    return size;
}

/* Some value of the document, each as likely as the other. */
static value pick(const uint8_t *data, size_t size, unsigned *seed)
{
    value found = {0, size};
    unsigned seen = 0;

    for (size_t at = 0; at < size;) {
        bool begins = at == 0 || strchr("[{,:", data[at - 1]);
        if (begins && !strchr("]},:", data[at]) &&
            rand_r(seed) % ++seen == 0)
            found.begin = at;
        at = data[at] == '"' ? skip_text(data, size, at) : at + 1;
    }
    found.end = value_end(data, size, found.begin);
    return found;
}

static const char *const words[] = {
    "null", "true", "false", "0", "-1", "1", "2", "3", "7", "2147483647",
    "-2147483648", "9007199254740993", "-9223372036854775808", "1e308",
    "0.1", "[]", "{}", "\"\"", "[null]", "[[]]", "\"f32\"", "\"key<fry>\"",
    "\"b\"", "\"2*b + mod(b, 3)\"", "\"0x7fc00000\"", "{\"$jaxpr\":0}",
    "{\"$dim\":\"b\"}", "{\"$mesh\":0}", "{\"$rule\":0}", "{\"$const\":0}",
    "{\"$aval\":0}", "{\"$dt\":\"float32\"}", "{\"$unspecified\":true}",
    "{\"$int\":\"18446744073709551615\"}", "{\"$np\":\"int64\",\"v\":1}",
    "{\"$rec\":\"R\",\"f\":{\"x\":1}}", "{\"$set\":[1,2]}",
    "{\"$map\":[[1,2]]}", "{\"$spec\":[\"x\",null,[\"x\",\"y\"]]}",
    "{\"a\":0,\"v\":1}", "{\"a\":0,\"dim\":\"b\"}",
};

/* Replaces [v.begin, v.end) by `with`. */
static size_t splice(uint8_t *data, size_t size, size_t max, value v,
                     const uint8_t *with, size_t length)
{
    size_t rest = size - v.end;

    if (v.begin + length + rest > max)
        return size;
    memmove(data + v.begin + length, data + v.end, rest);
    if (length)
        memcpy(data + v.begin, with, length);
    return v.begin + length + rest;
}

/* The value and one comma beside it. */
static value with_comma(const uint8_t *data, size_t size, value v)
{
    if (v.end < size && data[v.end] == ',')
        v.end++;
    else if (v.begin > 0 && data[v.begin - 1] == ',')
        v.begin--;
    return v;
}

static size_t nudge(uint8_t *data, size_t size, size_t max, value v,
                    unsigned *seed)
{
    char text[32];
    size_t length = v.end - v.begin < 31 ? v.end - v.begin : 31;

    memcpy(text, data + v.begin, length);
    text[length] = '\0';
    unsigned long number = (unsigned long)strtol(text, NULL, 10);
    int n = snprintf(text, sizeof text, "%ld",
                     (long)(number + (unsigned long)(rand_r(seed) % 5) - 2));

    return splice(data, size, max, v, (const uint8_t *)text, (size_t)n);
}

static size_t copy_over(uint8_t *data, size_t size, size_t max, value to,
                        value from, bool beside)
{
    static uint8_t copy[MOST];
    size_t n = from.end - from.begin;

    if (n + 1 >= sizeof copy)
        return size;
    memcpy(copy, data + from.begin, n);
    if (beside) {
        copy[n++] = ',';
        to.end = to.begin;
    }
    return splice(data, size, max, to, copy, n);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed)
{
    const char *word = words[rand_r(&seed) % (sizeof words / sizeof *words)];

    if (size < 2 || rand_r(&seed) % 8 == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    value v = pick(data, size, &seed), other = pick(data, size, &seed);
    switch (rand_r(&seed) % 6) {
    case 0:
        return splice(data, size, max_size, v, (const uint8_t *)word,
                      strlen(word));
    case 1:
        return splice(data, size, max_size, with_comma(data, size, v), NULL,
                      0);
    case 2:
        return copy_over(data, size, max_size, v, v, true);
    case 3:
        return copy_over(data, size, max_size, v, other, true);
    case 4:
        if (v.begin < size && (data[v.begin] == '-' || (data[v.begin] >= '0' &&
                                                        data[v.begin] <= '9')))
            return nudge(data, size, max_size, v, &seed); /* fall through */
    default:
        return copy_over(data, size, max_size, v, other, false);
    }
}
