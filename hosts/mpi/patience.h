/* patience.h - how long a rank waits for others where MPI has no limit of its
 * own: in MPI_Init for a process that never calls it (another program, one that
 * ended well, one that hangs), and later for one that was stopped. */
#ifndef JX_PATIENCE_H
#define JX_PATIENCE_H

#include <stdbool.h>

typedef struct jx_awaited {
    double seconds;   /* after which it is asked whether they will come */
    int rank;         /* who waits: the greater, the later it asks, so that the
                       first says it, and mpirun ends those that are left */
    const char *what; /* "all processes of mpirun to begin" */
    /* Whether one will not come, asked by a thread of its own, with a word on
     * it.  NULL: whoever has not come by then. */
    bool (*is_lost)(void *data, char why[100]);
    void *data;
} jx_awaited;

/* Seconds until it asks for the first time. */
double jx_patience_of(const jx_awaited *awaited);
/* Ends this process, saying that it has waited so long in vain. */
_Noreturn void jx_patience_lost(const jx_awaited *awaited, double waited,
                                const char *why);

typedef struct jx_patience jx_patience;

/* Ends this process, saying why, if others that are not there at the end of
 * that time, or as long again after it, will not come.  NULL: it can't be
 * watched. */
jx_patience *jx_patience_begin(const jx_awaited *awaited);

/* They have come. */
void jx_patience_end(jx_patience *patience);

#endif
