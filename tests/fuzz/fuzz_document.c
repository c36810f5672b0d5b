/* fuzz_document.c - documents, mutated as JSON.
 *
 * What the reader takes must be a program that the verifier passes; it must
 * print; written, it must read again and write the same bytes.  The mutator
 * knows JSON: it changes numbers, replaces, removes, repeats and swaps values,
 * so that most mutants get past the syntax. */
#include "frontend/ir/print.h"
#include "frontend/read/document.h"
#include "frontend/write/document.h"
#include "tests/fuzz/commands.h"

#include <ctype.h>
#include <stdio.h>

enum { BUDGET = 32 << 20 };

static jx_program *read_again(jx_ctx *ctx, const jx_buffer *text)
{
    jx_program *p = jx_read_document(ctx, "-", text->text, text->length);

    if (!p && ctx->error.kind != JX_E_LIMIT)
        fprintf(stderr, "%s: %s\n%s\n", ctx->error.place, ctx->error.message,
                text->text);
    check(p || ctx->error.kind == JX_E_LIMIT);
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
    char *copy = fuzz_copy(data, size);

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
    fuzz_commands(data, size);
    return 0;
}

/* ---- the mutator */

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
        if (depth == 0 && (at >= size || strchr(",:]}", data[at])))
            return at;
    }
    return size;
}

/* Some value of the document, each as likely as the other. */
static fuzz_part pick(const uint8_t *data, size_t size, unsigned *seed)
{
    fuzz_part found = {0, size};
    unsigned seen = 0;

    for (size_t at = 0; at < size;) {
        bool begins = at == 0 || strchr("[{,:", data[at - 1]);
        if (begins && !strchr("]},:", data[at]) &&
            (unsigned)rand_r(seed) % ++seen == 0)
            found.begin = at;
        at = data[at] == '"' ? skip_text(data, size, at) : at + 1;
    }
    found.end = value_end(data, size, found.begin);
    return found;
}

static const char *const words[] = {
    "null",
    "true",
    "false",
    "0",
    "-1",
    "1",
    "2",
    "3",
    "7",
    "2147483647",
    "-2147483648",
    "9007199254740993",
    "-9223372036854775808",
    "1e308",
    "0.1",
    "[]",
    "{}",
    "\"\"",
    "[null]",
    "[[]]",
    "\"f32\"",
    "\"key<fry>\"",
    "\"b\"",
    "\"2*b + mod(b, 3)\"",
    "\"0x7fc00000\"",
    "{\"$jaxpr\":0}",
    "{\"$dim\":\"b\"}",
    "{\"$mesh\":0}",
    "{\"$rule\":0}",
    "{\"$const\":0}",
    "{\"$aval\":0}",
    "{\"$dt\":\"float32\"}",
    "{\"$unspecified\":true}",
    "{\"$int\":\"18446744073709551615\"}",
    "{\"$np\":\"int64\",\"v\":1}",
    "{\"$rec\":\"R\",\"f\":{\"x\":1}}",
    "{\"$set\":[1,2]}",
    "{\"$map\":[[1,2]]}",
    "{\"$spec\":[\"x\",null,[\"x\",\"y\"]]}",
    "{\"$rec\":\"R\",\"f\":{\"x\":{\"$jaxpr\":0}},\"hi\":true}",
    "{\"$map\":[[\"name\",\"f\"],[\"x\",{\"$jaxpr\":0}]]}",
    "{\"$tree\":\"((), (None,), (None,))\"}",
    "\"Foo\"",
    "\"0.11.2\"",
    "{\"a\":0,\"v\":1}",
    "{\"a\":0,\"dim\":\"b\"}",
};

/* The value and one comma beside it. */
static fuzz_part with_comma(const uint8_t *data, size_t size, fuzz_part v)
{
    if (v.end < size && data[v.end] == ',')
        v.end++;
    else if (v.begin > 0 && data[v.begin - 1] == ',')
        v.begin--;
    return v;
}

static size_t nudge(uint8_t *data, size_t size, size_t max, fuzz_part v,
                    unsigned *seed)
{
    char text[32];
    size_t length = v.end - v.begin < 31 ? v.end - v.begin : 31;

    memcpy(text, data + v.begin, length);
    text[length] = '\0';
    unsigned long number = (unsigned long)strtol(text, NULL, 10);
    int n = snprintf(text, sizeof text, "%ld",
                     (long)(number + (unsigned long)(rand_r(seed) % 5) - 2));

    return fuzz_splice(data, size, max, v, text, (size_t)n);
}

/* A copy of `from`, and a comma, before `to`. */
static size_t insert(uint8_t *data, size_t size, size_t max, fuzz_part to,
                     fuzz_part from)
{
    fuzz_part gap = {to.begin, to.begin};
    size_t n = from.end - from.begin;
    size_t made = fuzz_splice(data, size, max, gap, data + from.begin, n);

    gap.begin = gap.end = to.begin + n;
    return made == size + n ? fuzz_splice(data, made, max, gap, ",", 1) : made;
}

static bool is_number(const uint8_t *data, size_t size, fuzz_part v)
{
    return v.begin < size && (data[v.begin] == '-' || isdigit(data[v.begin]));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed)
{
    const char *word =
        words[(unsigned)rand_r(&seed) % (sizeof words / sizeof *words)];

    if (size < 2 || rand_r(&seed) % 8 == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    fuzz_part v = pick(data, size, &seed), other = pick(data, size, &seed);
    switch (rand_r(&seed) % 6) {
    case 0: return fuzz_splice(data, size, max_size, v, word, strlen(word));
    case 1:
        return fuzz_splice(data, size, max_size, with_comma(data, size, v),
                           NULL, 0);
    case 2: return insert(data, size, max_size, v, v);
    case 3: return insert(data, size, max_size, v, other);
    case 4:
        if (is_number(data, size, v))
            return nudge(data, size, max_size, v, &seed);
        break;
    default: break;
    }
    return fuzz_splice(data, size, max_size, v, data + other.begin,
                       other.end - other.begin);
}
