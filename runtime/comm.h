/* comm.h - how the ranks of a program reach each other: what a plan for one of them
 * (jx_plan_options) does instead of computing what all devices do.
 *
 * Two things are all that is asked for: every member of a group gets what each of them
 * has, in the order of the group; and an array goes from one rank to another.  What is
 * made of it (sums, parts) is computed by each rank, in the order of the members, so
 * that it has the bits of a run in which one process is all devices. */
#ifndef JX_COMM_H
#define JX_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A collective that ranks meet in. */
typedef struct jx_meeting {
    const char *what;  /* "all_gather f32[4,2]" */
    const char *place; /* where it stands in the user's source; or "" */
    int count;
    const int *members; /* ranks, in order; this one among them */
} jx_meeting;

typedef struct jx_comm {
    void *data;
    int rank, count;
    /* `all` gets `bytes` of each member in turn.  False, with *why (ours until the next
     * call) saying what the members do instead. */
    bool (*gather)(void *data, const jx_meeting *at, const void *mine, void *all, size_t bytes,
                   const char **why);
    /* Sends `mine` to `target`, gets `theirs` from `source`; -1: nobody, and zeros. */
    bool (*permute)(void *data, const jx_meeting *at, int source, int target, const void *mine,
                    void *theirs, size_t bytes, const char **why);
} jx_comm;

#endif
