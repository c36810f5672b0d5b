/* ctx.c - see ctx.h. */
#include "frontend/base/ctx.h"

#include "frontend/base/plain.h"
#include "frontend/base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

jx_ctx *jx_ctx_new(size_t budget)
{
    jx_ctx *ctx = calloc(1, sizeof *ctx);

    if (!ctx)
        return NULL;
    ctx->arena = jx_arena_new(budget);
    if (!ctx->arena) {
        free(ctx);
        return NULL;
    }
    jx_strings_init(&ctx->strings, ctx->arena);
    return ctx;
}

void jx_ctx_free(jx_ctx *ctx)
{
    if (!ctx)
        return;
    jx_arena_free(ctx->arena);
    free(ctx);
}

static const char *keep(jx_ctx *ctx, const char *text)
{
    return text ? jx_arena_string(ctx->arena, text, strlen(text)) : NULL;
}

bool jx_fail(jx_ctx *ctx, jx_error_kind kind, const char *file,
             const char *place, const char *format, ...)
{
    char message[1024];
    va_list args;

    if (ctx->error.kind != JX_E_NONE)
        return false;
    va_start(args, format);
    jx_vsnprintf(message, sizeof message, format, args);
    va_end(args);
    jx_utf8_clean(message);
    ctx->error.kind = kind;
    ctx->error.file = keep(ctx, file);
    ctx->error.place = keep(ctx, place);
    ctx->error.message = keep(ctx, message);
    if (!ctx->error.message) {
        ctx->error.kind = JX_E_MEMORY;
        ctx->error.message = "out of memory (the budget is spent)";
    }
    return false;
}

bool jx_ok(jx_ctx *ctx)
{
    if (ctx->error.kind == JX_E_NONE && jx_arena_failed(ctx->arena)) {
        ctx->error.kind = JX_E_MEMORY;
        ctx->error.message = "out of memory (the budget is spent)";
    }
    return ctx->error.kind == JX_E_NONE;
}

void jx_error_clear(jx_ctx *ctx)
{
    ctx->error = (jx_error){0};
}

const char *jx_intern_text(jx_ctx *ctx, const char *text)
{
    return jx_strings_add(&ctx->strings, text, strlen(text));
}

static void print_lines(const char *text, jx_buffer *to)
{
    for (const char *line = text; *line;) {
        size_t n = strcspn(line, "\n");
        if (line > text)
            jx_buffer_puts(to, "\n  |");
        jx_utf8_show_bytes(line, n, to);
        line += n + (line[n] == '\n');
    }
}

void jx_error_print(const jx_error *error, jx_buffer *to)
{
    const char *parts[] = {error->file, error->place};

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i]) {
            jx_utf8_show(parts[i], to);
            jx_buffer_puts(to, ": ");
        }
    print_lines(error->message ? error->message : "", to);
}
