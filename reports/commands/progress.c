/* progress.c - see progress.h. */
#include "reports/commands/progress.h"

#include "reports/commands/commands.h"

#include <stdio.h>
#include <unistd.h>

static void tell(void *told, double done)
{
    (void)told;
    fprintf(stderr, "\r%5.1f %%", 100 * done);
    fflush(stderr);
}

void jx_command_progress(jx_exhaust_options *how)
{
    if (jx_command_terminal(STDERR_FILENO))
        how->progress = tell;
}

void jx_command_progress_end(const jx_exhaust_options *how)
{
    if (how->progress)
        fputs("\r        \r", stderr);
}

static void tell_stage(void *told, const char *doing, int64_t done, int64_t all)
{
    (void)told;
    fprintf(stderr, "\r%-60s", "");
    fprintf(stderr, "\r%s %lld/%lld", doing, (long long)done + 1,
            (long long)all);
    fflush(stderr);
}

void jx_command_doing(void (**progress)(void *to, const char *doing,
                                        int64_t done, int64_t all))
{
    if (isatty(STDERR_FILENO))
        *progress = tell_stage;
}

void jx_command_doing_end(void)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%-60s\r", "");
}
