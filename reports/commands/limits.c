/* limits.c - see limits.h. */
#include "reports/commands/limits.h"

#include "frontend/base/file.h"
#include "frontend/base/machine.h"
#include "reports/formats/costs.h"

#include <string.h>

enum { MOST_GIB = 4 };

size_t jx_default_bytes(void)
{
    uint64_t most = (uint64_t)MOST_GIB << 30, half = jx_machine_bytes() / 2;

    return (size_t)(half < most ? half : most);
}

bool jx_command_limits(const jx_command *command,
                       const jx_limit_settings *settings, jx_limits *limits)
{
    int64_t bytes;

    *limits =
        (jx_limits){.bytes = jx_default_bytes(), .seconds = settings->seconds};
    if (!settings->memory)
        return true;
    if (!jx_bytes_read(settings->memory, &bytes) || bytes < 1) {
        jx_command_usage(command, "--memory: expected a size such as 512MiB");
        return false;
    }
    limits->bytes = (size_t)bytes;
    return true;
}

jx_ctx *jx_command_ctx(const jx_command *command,
                       const jx_limit_settings *settings, int *code)
{
    jx_limits limits;
    jx_ctx *ctx;

    *code = JX_EXIT_USAGE;
    if (!jx_command_limits(command, settings, &limits))
        return NULL;
    ctx = jx_ctx_limited(limits);
    if (ctx)
        return ctx;
    *code = jx_command_starved();
    return NULL;
}

const char *jx_command_read(jx_ctx *ctx, const char *path, jx_budget *paper,
                            size_t *size)
{
    const char *text;

    if (!ctx)
        return NULL;
    jx_ctx_stage(ctx, "reading");
    jx_ctx_concerns(ctx, path);
    text = jx_file_read(ctx, path, size);
    if (text && !jx_budget_take(paper, jx_arena_used(ctx->arena)))
        jx_fail(ctx, JX_E_LIMIT, path, NULL,
                "gave up: there is no memory for answers (see --memory)");
    return jx_ok(ctx) ? text : NULL;
}
