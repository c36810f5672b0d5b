/* stop_rank.c - a rank that is stopped where all others have ended: preloaded,
 * it sends SIGSTOP to the process that is rank N, where $STOP is "N before" or
 * "N behind" MPI_Finalize. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int MPI_Finalize(void)
{
    const char *given = getenv("STOP");
    int rank, which = -1, result;
    char where[8] = "";

    if (given)
        sscanf(given, "%d %7s", &which, where);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == which && !strcmp(where, "before"))
        raise(SIGSTOP);
    result = PMPI_Finalize();
    if (rank == which && !strcmp(where, "behind"))
        raise(SIGSTOP);
    return result;
}
