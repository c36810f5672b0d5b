/* communication.h - what a collective sends, for each device of its group.
 *
 * Counted as rings of devices send it, which is least: of g devices that hold b
 * bytes each, an all-gather takes (g - 1) b bytes in g - 1 messages, a
 * reduce-scatter or an all-to-all (g - 1)/g b in as many, an all-reduce both of
 * these, 2 (g - 1)/g b in 2 (g - 1); a permutation sends b once, and so does a
 * broadcast (Thakur, Rabenseifner and Gropp, Optimization of Collective
 * Communication Operations in MPICH, 2005). */
#ifndef JX_COMMUNICATION_H
#define JX_COMMUNICATION_H

#include "analyzer/collective.h"

/* By jx_collective_kind. */
enum { JX_COLLECTIVE_KINDS = JX_COLLECTIVE_RAGGED + 1 };

const char *jx_collective_name(jx_collective_kind kind); /* "all_gather" */

typedef struct jx_communication {
    jx_collective_kind kind;
    const jx_dim *bytes; /* NULL beyond 128 bits */
    int64_t messages;
    /* of a permutation: most devices send to one of a lower number */
    bool down;
} jx_communication;

/* False where the equation sends nothing: a group of one, a
 * device's own number. */
bool jx_communication_of(jx_program *program, const jx_eqn *eqn,
                         jx_communication *to);

#endif
