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
