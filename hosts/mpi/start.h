/* start.h - how long a rank waits for others to begin.
 *
 * A process that mpirun starts and that never calls MPI_Init (another program,
 * one that ended well, one that hangs) is waited for by all the others inside
 * of MPI_Init, which has no limit of its own. */
#ifndef JX_MPI_START_H
#define JX_MPI_START_H

#include <stdbool.h>

typedef struct jx_start jx_start;

/* Ends this process, with a word why, if the start is not ended in so many
 * seconds.  The greater `rank`, the longer it waits: the first says it, and
 * mpirun ends those that are left.  NULL: it can't be watched. */
jx_start *jx_start_begin(double seconds, int rank);
void jx_start_end(jx_start *start);

#endif
