/* ranks.c - see ranks.h. */
#include "reports/commands/ranks.h"

#include "frontend/base/plain.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int number_of(const char *variable, int otherwise)
{
    const char *given = getenv(variable);
    char *end;
    long n = given ? strtol(given, &end, 10) : -1;

    return given && *given && !*end && n >= 0 && n < 1 << 20 ? (int)n
                                                             : otherwise;
}

/* Open MPI says it in one way, what speaks PMI (MPICH) in another. */
jx_rank jx_rank_here(void)
{
    jx_rank open = {
        getenv("OMPI_COMM_WORLD_RANK"), number_of("OMPI_COMM_WORLD_RANK", 0),
        number_of("OMPI_COMM_WORLD_SIZE", 0),
        number_of("OMPI_COMM_WORLD_LOCAL_SIZE", 1), getenv("PMIX_NAMESPACE")};
    jx_rank pmi = {getenv("PMI_RANK"), number_of("PMI_RANK", 0),
                   number_of("PMI_SIZE", 1), number_of("MPI_LOCALNRANKS", 1),
                   getenv("PMI_ID")};
    jx_rank rank = open.started ? open : pmi;

    if (rank.number >= rank.count || rank.here < 1)
        return (jx_rank){rank.started, 0, 1, 1, NULL};
    return rank;
}

static bool own_path(char path[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);

    path[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* Open MPI 4 asks root to say twice that it means it, and runs no more ranks
 * than there are processors without being told. */
bool jx_ranks_start(jx_ctx *ctx, int count, int argc, char **argv)
{
    char self[PATH_MAX], number[24];
    const char **words = JX_NEW_ARRAY(ctx->arena, argc + 8, const char *);
    int n = 0;

    if (!words)
        return false;
    if (!own_path(self))
        return jx_fail(ctx, JX_E_SYSTEM, NULL, NULL,
                       "can't find this executable again");
    snprintf(number, sizeof number, "%d", count);
    words[n++] = "mpirun";
    words[n++] = "-n";
    words[n++] = number;
    words[n++] = "--oversubscribe";
    if (geteuid() == 0)
        words[n++] = "--allow-run-as-root";
    words[n++] = self;
    words[n++] = "run";
    for (int i = 0; i < argc; i++)
        words[n++] = argv[i];
    /* which changes none of them */
    execvp("mpirun", (char **)(uintptr_t)words);
    return jx_fail(ctx, JX_E_SYSTEM, "mpirun", NULL,
                   "can't be started: %s (Debian's package openmpi-bin has it)",
                   jx_strerror(errno));
}

/* Beside the executable, or where `make install` puts libraries. */
static bool find_library(char path[PATH_MAX + 40])
{
    static const char *const places[] = {".", "../lib", "../lib/jaxvet"};
    char self[PATH_MAX], *slash;

    if (!own_path(self) || !(slash = strrchr(self, '/')))
        return false;
    *slash = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, PATH_MAX + 40, "%s/%s/libjaxvet_mpi.so", self,
                 places[i]);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

bool jx_ranks_open(jx_ctx *ctx, double seconds, jx_ranks *to)
{
    char path[PATH_MAX + 40];
    const char *why;

    *to = (jx_ranks){NULL, NULL, NULL};
    if (!jx_rank_here().started)
        return jx_fail(ctx, JX_E_USAGE, NULL, NULL,
                       "--mpi: mpirun has not started this process; expected "
                       "mpirun -n N jaxvet run --mpi ..., or --ranks N");
    if (!find_library(path))
        return jx_fail(
            ctx, JX_E_SYSTEM, NULL, NULL,
            "libjaxvet_mpi.so is not beside the command: it is built where "
            "mpicc is installed (Debian's package libopenmpi-dev)");
    /* Open MPI looks for its own parts among global names. */
    to->library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    to->mpi = to->library ? dlsym(to->library, JX_COMM_NAME) : NULL;
    if (!to->mpi)
        return jx_fail(ctx, JX_E_SYSTEM, path, NULL, "can't be loaded: %s",
                       dlerror());
    to->comm = to->mpi->open(jx_rank_here().number, seconds, &why);
    return to->comm || jx_fail(ctx, JX_E_SYSTEM, NULL, NULL, "%s", why);
}

bool jx_ranks_first(const jx_ranks *ranks)
{
    return !ranks->comm || ranks->comm->rank == 0;
}

/* The library stays: MPI does not come back in a process that it has left. */
void jx_ranks_close(jx_ranks *ranks)
{
    if (ranks->comm)
        ranks->mpi->close(ranks->comm);
    ranks->comm = NULL;
}
