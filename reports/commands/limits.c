/* limits.c - see limits.h. */
#include "reports/commands/limits.h"

#include "frontend/base/file.h"
#include "reports/formats/costs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_GIB = 4 };

/* The number a file of the system holds; 0 if it holds none ("max"). */
static unsigned long long number_in(const char *path)
{
    FILE *file = fopen(path, "re");
    unsigned long long value = 0;

    if (file && fscanf(file, "%llu", &value) != 1)
        value = 0;
    if (file)
        fclose(file);
    return value;
}

/* Of the control groups that we are in, the least that one allows; 0: none.
 * Containers see their own group at the root. */
static unsigned long long group_bytes(void)
{
    FILE *groups = fopen("/proc/self/cgroup", "re");
    unsigned long long least = number_in("/sys/fs/cgroup/memory.max");
    unsigned long long old =
        number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes");
    char line[1024], path[1200];

    if (old && (!least || old < least))
        least = old;
    while (groups && fgets(line, sizeof line, groups)) {
        unsigned long long bytes;
        if (strncmp(line, "0::/", 4))
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", line + 3);
        bytes = number_in(path);
        if (bytes && (!least || bytes < least))
            least = bytes;
    }
    if (groups)
        fclose(groups);
    return least;
}

size_t jx_default_bytes(void)
{
    unsigned long long most = (unsigned long long)MOST_GIB << 30;
    unsigned long long machine =
        (unsigned long long)sysconf(_SC_PHYS_PAGES) *
        (unsigned long long)sysconf(_SC_PAGESIZE);
    unsigned long long group = group_bytes();

    if (group && group < machine)
        machine = group;
    return (size_t)(machine / 2 < most ? machine / 2 : most);
}

bool jx_command_limits(const jx_command *command,
                       const jx_limit_settings *settings, jx_limits *limits)
{
    int64_t bytes;

    *limits = (jx_limits){.bytes = jx_default_bytes(),
                          .seconds = settings->seconds};
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
        jx_fail(ctx, JX_E_LIMIT, path, NULL, "gave up: there is no memory "
                                             "for answers (see --memory)");
    return jx_ok(ctx) ? text : NULL;
}
