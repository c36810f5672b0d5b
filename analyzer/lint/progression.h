/* progression.h - whole numbers that follow one another at one distance: a
 * literal, what jnp.arange makes, what a loop counts. */
#ifndef JX_PROGRESSION_H
#define JX_PROGRESSION_H

#include "analyzer/lint/flat.h"

typedef struct jx_progression {
    int64_t first, step;
    int64_t count;        /* 0: nobody knows */
    int of;               /* the value that counts; -1 of a literal */
    const jx_calls *body; /* of the loop that goes over it, or NULL */
} jx_progression;

/* All numbers that a value is or holds while the program runs once; false
 * where they are not known to be such. */
bool jx_progression_of(const jx_flat *flat, int value, jx_progression *to);
/* Some number is in both. */
bool jx_progressions_meet(const jx_progression *a, const jx_progression *b);

#endif
