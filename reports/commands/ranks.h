/* ranks.h - a command as one of many processes that mpirun started.
 *
 * MPI is in a library of its own (hosts/mpi), which is loaded when
 * it is asked for. */
#ifndef JX_RANKS_H
#define JX_RANKS_H

#include "frontend/base/ctx.h"
#include "runtime/comm.h"

/* Which of the processes that mpirun started this is; one of one without it. */
typedef struct jx_rank {
    bool started; /* by mpirun */
    int number, count;
    int here;        /* how many of them share this machine */
    const char *run; /* what mpirun calls the run, or NULL */
} jx_rank;

jx_rank jx_rank_here(void);

typedef struct jx_ranks {
    void *library;
    const jx_comm_library *mpi;
    jx_comm *comm; /* NULL: this process is alone */
} jx_ranks;

/* Becomes mpirun, which starts the command with these words `count` times;
 * returns only with an error. */
bool jx_ranks_start(jx_ctx *ctx, int count, int argc, char **argv);
/* Meets the others; one that waits longer than `seconds` for another in a
 * collective says so (0: waits for ever).  False with an error. */
bool jx_ranks_open(jx_ctx *ctx, double seconds, jx_ranks *to);
/* Whether this rank speaks for all. */
bool jx_ranks_first(const jx_ranks *ranks);
void jx_ranks_close(jx_ranks *ranks);

#endif
