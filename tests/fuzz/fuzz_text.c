/* fuzz_text.c - jaxpr text, mutated by tokens.
 *
 * What the reader takes must be a program that the verifier passes; printed,
 * it must read again, and print the same from then on. */
#include "frontend/ir/print.h"
#include "frontend/read/text.h"
#include "frontend/write/document.h"
#include "tests/fuzz/commands.h"
#include "tests/fuzz/fuzz_tokens.h"

enum { BUDGET = 32 << 20 };

static void check_program(const jx_program *program)
{
    jx_buffer text = {0}, document = {0};

    check(jx_program_verify(program));
    jx_program_print(program, (jx_print_options){0}, &text);
    jx_program_print(
        program, (jx_print_options){.width = 30, .all_params = true}, &text);
    jx_write_document(program, &document);
    jx_buffer_free(&text);
    jx_buffer_free(&document);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jx_ctx *ctx = jx_ctx_new(BUDGET);
    char *copy = fuzz_copy(data, size);

    jx_program *program = jx_read_text(ctx, "-", copy, size);
    free(copy);
    check(program || (ctx->error.kind != JX_E_NONE && ctx->error.message));
    check(ctx->error.kind != JX_E_INTERNAL);
    if (program)
        check_program(program);
    jx_ctx_free(ctx);
    fuzz_commands(data, size);
    return 0;
}

/* ---- the mutator */

static size_t token_end(const uint8_t *data, size_t size, size_t at)
{
    size_t end = at + 1;

    if (isalnum(data[at]) || data[at] == '_')
        while (end < size &&
               (isalnum(data[end]) || data[end] == '_' || data[end] == '.'))
            end++;
    return end;
}

static const char *const words[] = {
    "a",
    "b",
    "in",
    "let",
    "lambda",
    "_",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ";",
    ":",
    ".",
    "=",
    " ",
    "\n",
    ",",
    "f32[]",
    "i32[b]",
    "f32[2*b + 1,3]{V:i}",
    "key<fry>[]",
    "0",
    "-1",
    "1.0:f32[]",
    "True:bool[]",
    "2j:c64[]",
    "[...]:f32[3]",
    "None",
    "jaxpr",
    "name=",
    "{ lambda ; . let in () }",
    "P('x', None)",
    "Mesh('x': 2, axis_types=(Auto,))",
    "np.int64(1)",
    "frozenset({'i'})",
    "<function f at 0xX>",
    "GatherScatterMode.CLIP",
    "9223372036854775808",
    "mod(b, 3)",
    "#",
    "ft_in=((None,), (None,), ())",
    "Foo",
    "_Foo[",
    "Foo[a=1 name=f]",
    "Foo.linearized",
    "call_hi_primitive",
    "params={'a': 1}",
    "_prim=Foo[{'a': 1}]",
    "x=Foo[y=",
    "(\n jaxpr\n)",
    "RightsOnly(Right(None))",
    "Left(None)",
    "Static(x)",
    "Pytree(vals=[None, Left(None)], tree=PyTreeDef(([*], {'a': *})))",
};

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed)
{
    static const fuzz_language jaxpr = {words, sizeof words / sizeof *words,
                                        token_end};

    return fuzz_mutate_tokens(&jaxpr, data, size, max_size, seed);
}
