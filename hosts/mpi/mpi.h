/* mpi.h - ranks of mpirun as the devices of a program.
 *
 * The one file over MPI, a library of its own: the command loads it when it is asked for
 * ranks, so that nobody else needs MPI. */
#ifndef JX_MPI_H
#define JX_MPI_H

#include "runtime/comm.h"

/* What the library holds; `jx_mpi` is its one name. */
typedef struct jx_mpi_library {
    /* Starts MPI; `seconds` is how long a rank waits for another one in a collective (0:
     * for ever, and unchecked).  NULL, with *why. */
    jx_comm *(*open)(double seconds, const char **why);
    /* Whether `ok` holds on all ranks, and `print` is the same on all.  False, with *first
     * the least rank where it is not. */
    bool (*agree)(jx_comm *comm, bool ok, uint64_t print, int *first);
    /* All ranks together. */
    void (*close)(jx_comm *comm);
    /* Where this rank alone has failed: returns on the first that calls it, which says
     * why, and aborts. */
    void (*speaks)(jx_comm *comm);
    /* Ends all of them at once, with an exit code. */
    void (*abort)(jx_comm *comm, int code);
} jx_mpi_library;

extern __attribute__((visibility("default"))) const jx_mpi_library jx_mpi;

#endif
