/* jaxvet.c - the command: finds the subcommand and hands over. */
#include "frontend/base/pages.h"
#include "reports/commands/commands.h"
#include "reports/pipeline/versions.h"
#include "runtime/blas.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#include <unistd.h>
#endif

/* Whether help is asked for, before any `--`. */
static bool asks_for_help(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--"); i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
            return true;
    return false;
}

static int print_versions(void)
{
    jx_budget paper;
    jx_buffer text = {.budget = &paper};
    int code;

    jx_budget_init(&paper, (jx_limits){0}, NULL);
    jx_versions(&text);
    code = jx_command_write(NULL, &text);
    jx_buffer_free(&text);
    return code;
}

/* The helper that the environment names is the one seen from the folder that
 * the command was started in. */
static void fix_solver(void)
{
    const char *given = getenv("JAXVET_SOLVER");
    char path[PATH_MAX];

    if (given && *given && *given != '/' && realpath(given, path))
        setenv("JAXVET_SOLVER", path, 1);
}

/* What is freed is needed again soon: the system's pages are kept, as malloc
 * keeps them by itself once something large was freed.  Its first megabytes
 * are of huge ones, which nobody has who does not come to them. */
static void keep_pages(void)
{
#ifdef __GLIBC__
    enum { LARGE = 32 << 20 }; /* the most that malloc comes to by itself */
    enum { FIRST = 16 << 20, PAD = 128 << 10 /* as it is by itself */ };
    void *volatile first; /* as what is freed at once is not allocated */
    char *from = sbrk(0);

    mallopt(M_MMAP_THRESHOLD, LARGE);
    mallopt(M_TRIM_THRESHOLD, 2 * LARGE);
    mallopt(M_TOP_PAD, FIRST);
    first = malloc(PAD);
    free(first);
    mallopt(M_TOP_PAD, PAD);
    jx_pages_advise(from, (size_t)((char *)sbrk(0) - from));
#endif
}

int main(int argc, char **argv)
{
    const jx_command *help = jx_command_find("help");
    const jx_command *command;

    /* a file that may not grow is told like a full disk */
    signal(SIGXFSZ, SIG_IGN);
    keep_pages();
    fix_solver();
    jx_blas_without_threads();
    if (argc < 2) {
        help->run(0, NULL);
        return JX_EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--version"))
        return print_versions();
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return help->run(0, NULL);
    command = jx_command_find(argv[1]);
    if (!command)
        return jx_command_unknown(argv[1]);
    if (asks_for_help(argc - 2, argv + 2))
        return help->run(1, argv + 1);
    return command->run(argc - 2, argv + 2);
}
