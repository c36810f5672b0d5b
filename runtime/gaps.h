/* gaps.h - where buffers lie in memory that is yet to be had: each takes the
 * smallest gap that is wide enough, of those the lowest, or lies behind all
 * others.  A buffer is taken and given back in the time of a logarithm of how
 * many there are. */
#ifndef JX_GAPS_H
#define JX_GAPS_H

#include "frontend/base/arena.h"

#include <stdint.h>

typedef struct jx_gap jx_gap;

typedef struct jx_gaps {
    jx_gap *at; /* gaps, and what is in use; [0] is none of them */
    int count;  /* of these */
    int spare;  /* the first that is neither */
    int root;   /* of the tree of gaps */
    int last;   /* in use, the highest */
} jx_gaps;

/* For so many buffers, in the arena; false without memory. */
bool jx_gaps_open(jx_arena *arena, int buffers, jx_gaps *to);
/* Takes so many bytes (at least one); gives the number by which they
 * are given back. */
int jx_gaps_take(jx_gaps *gaps, int64_t bytes, int64_t *offset);
void jx_gaps_give(jx_gaps *gaps, int number);
/* The end of the highest that is in use; 0: nothing is. */
int64_t jx_gaps_end(const jx_gaps *gaps);

#endif
