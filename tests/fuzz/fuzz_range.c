/* fuzz_range.c - what callers promise of a program's inputs: a line each.
 *
 * What is taken prints as a text that is taken again, as the same; its ends at
 * sizes are no NaN, the smaller first where only one range is of an input. */
#include "frontend/ir/range.h"
#include "frontend/read/text.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>

enum { BUDGET = 16 << 20, LINES = 8 };

static const char of[] =
    "{ lambda ; x:f32[n,4] i:i32[n] b:bool[] h:f16[3] c:c64[] k:u8[2]. let\n"
    "    y:f32[n,4] = neg x\n"
    "  in (y, i, b, h, c, k) }\n";

static jx_program *program_of(jx_ctx *ctx)
{
    jx_program *program = jx_read_text(ctx, "-", of, sizeof of - 1);

    check(program != NULL);
    return program;
}

/* Of ends that the sizes say, NaN where there are none. */
static void look(const jx_program *program)
{
    double lo, hi;

    for (int i = 0; i < program->entry.jaxpr->nins; i++)
        if (jx_range_at(program, i, 0, NULL, &lo, &hi))
            check(!isnan(lo) && !isnan(hi) && lo <= hi);
}

static void read_again(const jx_program *program)
{
    jx_ctx *ctx = jx_ctx_new(BUDGET);
    jx_program *other = program_of(ctx);

    for (int i = 0; i < program->nranges; i++) {
        jx_buffer text = {0}, same = {0};

        jx_range_print(&program->ranges[i], &text);
        if (!jx_range_parse(other, jx_buffer_text(&text)))
            fprintf(stderr, "%s\n%s\n", jx_buffer_text(&text),
                    ctx->error.message);
        check(other->nranges == i + 1);
        jx_range_print(&other->ranges[i], &same);
        check(!strcmp(jx_buffer_text(&text), jx_buffer_text(&same)));
        jx_buffer_free(&text);
        jx_buffer_free(&same);
    }
    jx_ctx_free(ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jx_ctx *ctx = jx_ctx_new(BUDGET);
    jx_program *program = program_of(ctx);
    const uint8_t *at = data, *end = data + size;

    for (int i = 0; i < LINES && at < end; i++) {
        const uint8_t *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((stop ? stop : end) - at);
        char *line = calloc(1, length + 1);

        check(line != NULL);
        memcpy(line, at, length);
        if (!jx_range_parse(program, line)) {
            check(ctx->error.kind != JX_E_INTERNAL && ctx->error.message);
            free(line);
            break;
        }
        free(line);
        at += length + 1;
    }
    look(program);
    if (program->nranges)
        read_again(program);
    jx_ctx_free(ctx);
    return 0;
}
