/* ctx.c - see ctx.h. */
#include "frontend/base/ctx.h"

#include "frontend/base/plain.h"
#include "frontend/base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jx_ctx *new_ctx(jx_limits limits, jx_budget *above)
{
    jx_ctx *ctx = calloc(1, sizeof *ctx);

    if (!ctx)
        return NULL;
    jx_budget_init(&ctx->budget, limits, above);
    ctx->arena = jx_arena_new(&ctx->budget);
    if (!ctx->arena) {
        free(ctx);
        return NULL;
    }
    jx_strings_init(&ctx->strings, ctx->arena);
    return ctx;
}

jx_ctx *jx_ctx_limited(jx_limits limits)
{
    return new_ctx(limits, NULL);
}

jx_ctx *jx_ctx_new(size_t bytes)
{
    return new_ctx((jx_limits){.bytes = bytes}, NULL);
}

jx_ctx *jx_ctx_below(jx_ctx *above, size_t bytes)
{
    jx_ctx *ctx =
        new_ctx((jx_limits){.bytes = bytes}, above ? &above->budget : NULL);

    if (!ctx && above)
        jx_budget_starved(&above->budget);
    return ctx;
}

void jx_ctx_free(jx_ctx *ctx)
{
    if (!ctx)
        return;
    jx_arena_free(ctx->arena);
    free(ctx);
}

void jx_ctx_draw_on(jx_ctx *ctx, jx_ctx *above)
{
    ctx->budget.above = above ? &above->budget : NULL;
    if (above)
        return;
    jx_budget_fed(&ctx->budget);
    jx_arena_recover(ctx->arena);
}

void jx_ctx_concerns(jx_ctx *ctx, const char *file)
{
    ctx->file = jx_arena_string(ctx->arena, file, strlen(file));
}

void jx_ctx_stage(jx_ctx *ctx, const char *stage)
{
    ctx->stage = stage;
}

bool jx_ctx_lasts(jx_ctx *ctx)
{
    return jx_budget_lasts(&ctx->budget) || jx_ok(ctx);
}

bool jx_starved(jx_ctx *ctx)
{
    jx_budget_starved(&ctx->budget);
    return jx_ok(ctx);
}

jx_buffer jx_ctx_text(jx_ctx *ctx)
{
    return (jx_buffer){.budget = &ctx->budget};
}

static const char *keep(jx_ctx *ctx, const char *text)
{
    return text ? jx_arena_string(ctx->arena, text, strlen(text)) : NULL;
}

/* Whose limit it is that was reached. */
static const jx_budget *spent_one(const jx_budget *budget)
{
    while (budget->above && atomic_load(&budget->spent) == JX_SPENT_NOTHING)
        budget = budget->above;
    return budget;
}

/* "gave up at 95 MiB of memory while reading". */
static void give_up(jx_ctx *ctx)
{
    const jx_budget *budget = spent_one(&ctx->budget);
    jx_buffer amount = {0};
    const char *at = "the end of the system's memory";

    if (jx_budget_spent(budget) == JX_SPENT_BYTES) {
        jx_buffer_amount(&amount, (double)budget->limits.bytes);
        jx_buffer_puts(&amount, " of memory, the limit");
    } else if (jx_budget_spent(budget) == JX_SPENT_SECONDS) {
        jx_buffer_printf(&amount, "%g s, the limit", budget->limits.seconds);
    } else if (jx_budget_spent(budget) == JX_SPENT_PATIENCE) {
        jx_buffer_puts(&amount, "its caller's wish");
    }
    if (amount.length && jx_buffer_ok(&amount))
        at = amount.text;
    snprintf(ctx->gave_up, sizeof ctx->gave_up, "gave up at %s%s%s", at,
             ctx->stage ? ", while " : "", ctx->stage ? ctx->stage : "");
    ctx->error = (jx_error){
        .kind = JX_E_LIMIT, .file = ctx->file, .message = ctx->gave_up};
    jx_buffer_free(&amount);
}

bool jx_fail(jx_ctx *ctx, jx_error_kind kind, const char *file,
             const char *place, const char *format, ...)
{
    char message[1024];
    va_list args;

    if (!jx_ok(ctx)) /* what failed may be the echo of a limit */
        return false;
    va_start(args, format);
    jx_vsnprintf(message, sizeof message, format, args);
    va_end(args);
    jx_utf8_clean(message);
    ctx->error.kind = kind;
    ctx->error.file = keep(ctx, file);
    ctx->error.place = keep(ctx, place);
    ctx->error.message = keep(ctx, message);
    if (!ctx->error.message)
        give_up(ctx);
    return false;
}

bool jx_ok(jx_ctx *ctx)
{
    if (ctx->error.kind == JX_E_NONE && jx_arena_failed(ctx->arena))
        give_up(ctx);
    return ctx->error.kind == JX_E_NONE;
}

void jx_error_clear(jx_ctx *ctx)
{
    ctx->error = (jx_error){0};
}

const char *jx_intern_text(jx_ctx *ctx, const char *text)
{
    return text ? jx_strings_add(&ctx->strings, text, strlen(text)) : NULL;
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
