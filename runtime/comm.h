/* comm.h - how the ranks of a program reach each other: what a plan for one of
 * them (jx_plan_options) does instead of computing what all devices do.
 *
 * Four things are all that is asked for: every member of a group gets what
 * each of them has, in the order of the group; or the first alone does; or each
 * its part of that; and an array goes from one rank to another.  What is made
 * of it (sums, parts) is computed by each rank, in the order of the members, so
 * that it has the bits of a run in which one process is all devices. */
#ifndef JX_COMM_H
#define JX_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The turn of a loop, from 0 on. */
typedef struct jx_turn {
    const struct jx_turn
        *around; /* of the loop that this one lies in; or NULL */
    int64_t number;
} jx_turn;

/* A collective that ranks meet in. */
typedef struct jx_meeting {
    /* "a collective of f32[1,4,2]": with an axis more in front */
    const char *what;
    const char *place; /* where it stands in the user's source; or "" */
    /* of the program's collectives, on all ranks the same; 0: of none, it is of
     * results */
    int64_t number;
    const jx_turn *turn; /* in which it is met; or NULL */
    int count;
    const int *members; /* ranks, in order; this one among them */
    /* of an array that is cut in parts of the members: the bytes of each, where
     * these differ; else NULL */
    const size_t *parts;
} jx_meeting;

typedef struct jx_comm {
    void *data;
    int rank, count;
    /* `all` gets `bytes` of each member in turn, or of each its part.  After a
     * swap of the same number all go on with it, and nobody is asked.  False,
     * with *why (ours until the next call) saying what the members do
     * instead. */
    bool (*gather)(void *data, const jx_meeting *at, const void *mine,
                   void *all, size_t bytes, const char **why);
    /* The same for the first member; others get zeros. */
    bool (*collect)(void *data, const jx_meeting *at, const void *mine,
                    void *all, size_t bytes, const char **why);
    /* `mine` is a part for each member, of `bytes`; so is `theirs`, from each.
     * Or the parts are as large as the members', and all that come as the own
     * one. */
    bool (*swap)(void *data, const jx_meeting *at, const void *mine,
                 void *theirs, size_t bytes, const char **why);
    /* Sends `mine` to `target`, gets `theirs` from `source`; -1:
     * nobody, and zeros. */
    bool (*permute)(void *data, const jx_meeting *at, int source, int target,
                    const void *mine, void *theirs, size_t bytes,
                    const char **why);
} jx_comm;

/* What a library holds that fills this in (hosts/mpi): as `JX_COMM_NAME`. */
typedef struct jx_comm_library {
    /* Starts it as this rank; `seconds` is how long it waits for another one in
     * a collective (0: for ever, and unchecked), and a tenth of how long for
     * all to begin.  NULL, with *why. */
    jx_comm *(*open)(int rank, double seconds, const char **why);
    /* Whether `ok` holds on all ranks, and `print` is the same on all.  False,
     * with *first the least rank where it is not. */
    bool (*agree)(jx_comm *comm, bool ok, uint64_t print, int *first);
    /* All ranks together. */
    void (*close)(jx_comm *comm);
    /* Where this rank alone has failed: returns on the first that calls it,
     * which says why, and aborts. */
    void (*speaks)(jx_comm *comm);
    /* Ends all of them at once, with an exit code. */
    void (*abort)(jx_comm *comm, int code);
} jx_comm_library;

#define JX_COMM_NAME "jx_mpi"

#endif
