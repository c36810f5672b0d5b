/* count_sent.c - what a rank of `jaxvet run --mpi` gives to others, by MPI's
 * own profiling interface: preloaded, it stands before what hosts/mpi calls,
 * and leaves "rank bytes messages" in the file that $SENT names.  What goes to
 * each member of a group is a message each, whatever MPI makes of it.  No part
 * of the program is what ranks tell each other beforehand (tag 1), and that
 * results come together on one of them (MPI_Igather). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { GREETING = 1 };
static long long bytes, messages;

static void count(long long each, int to)
{
    bytes += each * to;
    messages += to;
}

static int others(MPI_Comm comm)
{
    int size;

    PMPI_Comm_size(comm, &size);
    return size - 1;
}

int MPI_Iallgather(const void *mine, int size, MPI_Datatype type, void *all,
                   int each, MPI_Datatype of, MPI_Comm comm, MPI_Request *on)
{
    count(size, others(comm));
    return PMPI_Iallgather(mine, size, type, all, each, of, comm, on);
}

int MPI_Ialltoall(const void *mine, int size, MPI_Datatype type, void *all,
                  int each, MPI_Datatype of, MPI_Comm comm, MPI_Request *on)
{
    count(size, others(comm));
    return PMPI_Ialltoall(mine, size, type, all, each, of, comm, on);
}

/* Parts that are not all as large, some of which may be empty: a message is one
 * all the same. */
int MPI_Iallgatherv(const void *mine, int size, MPI_Datatype type, void *all,
                    const int *each, const int *at, MPI_Datatype of,
                    MPI_Comm comm, MPI_Request *on)
{
    count(size, others(comm));
    return PMPI_Iallgatherv(mine, size, type, all, each, at, of, comm, on);
}

int MPI_Ialltoallv(const void *mine, const int *sizes, const int *at,
                   MPI_Datatype type, void *all, const int *each,
                   const int *from, MPI_Datatype of, MPI_Comm comm,
                   MPI_Request *on)
{
    int number, size;

    PMPI_Comm_rank(comm, &number);
    PMPI_Comm_size(comm, &size);
    for (int i = 0; i < size; i++)
        if (i != number)
            count(sizes[i], 1);
    return PMPI_Ialltoallv(mine, sizes, at, type, all, each, from, of, comm,
                           on);
}

int MPI_Isend(const void *mine, int size, MPI_Datatype type, int to, int tag,
              MPI_Comm comm, MPI_Request *on)
{
    if (tag != GREETING && to != MPI_PROC_NULL)
        count(size, 1);
    return PMPI_Isend(mine, size, type, to, tag, comm, on);
}

int MPI_Finalize(void)
{
    const char *path = getenv("SENT");
    FILE *file = path ? fopen(path, "a") : NULL;
    int rank;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (file) {
        fprintf(file, "%d %lld %lld\n", rank, bytes, messages);
        fclose(file);
    }
    return PMPI_Finalize();
}
