/* rings.h - a rule for all sizes of a mesh, read from what a program adds up
 * at some of them.
 *
 * On S devices a ring adds up, step by step, what lies in one of S chunks:
 *
 *     result, block (d, p)  =  sum over steps i < S and parts g < H of the
 *                              products of part h of chunk
 *                              (a d + k i + c) mod S
 *
 * d is the device that a block of a result belongs to, p which of its blocks
 * (`parts`), and a chunk of the products has H parts (`shares`); h, a, k and c
 * depend on p and g.  Such a rule is looked for that gives the orders
 * (orders.h) at all sizes that are known.  Of several rules those count that
 * have the least numbers, all of them.
 *
 * A rule says what sums at other sizes of the mesh and of arrays are, as far as
 * it goes on: an assumption, which whoever tells it has to tell.  That it then
 * adds up all products, each once, whatever S is, is for the prover: for all d
 * the map from i to (a d + k i + c) mod S takes each value below S. */
#ifndef JX_RINGS_H
#define JX_RINGS_H

#include "runtime/equal/orders.h"

enum { JX_MOST_PARTS = 4, JX_MOST_TIES = 8 };

/* chunk (device d + step i + offset) mod S */
typedef struct jx_ring_step {
    int device, step, offset;
} jx_ring_step;

typedef struct jx_ring_sum {
    int nties; /* as simple as each other */
    jx_ring_step ties[JX_MOST_TIES];
    int share; /* which part of the chunk */
} jx_ring_sum;

typedef struct jx_ring {
    /* of the result, which is cut into S * parts blocks; -1: all
     * elements are alike */
    int axis;
    int parts;
    /* of a chunk: as many sums as a block has at each step; 0: all elements add
     * up their products as the second program does, and there are no chunks */
    int shares;
    bool apart; /* one sum after another, not side by side at each step */
    bool outer; /* the parts of chunks: all that are the first come first */
    /* of a block, which of them */
    jx_ring_sum sums[JX_MOST_PARTS][JX_MOST_PARTS];
} jx_ring;

/* The rule of result `out`; false: none is known. */
bool jx_ring_find(jx_ctx *ctx, int n, const jx_orders *at, int out,
                  jx_ring *to);

/* Whether each of the rule's sums has each chunk once, for all S >= 1.  NULL,
 * or why it is not so or not known, as text of the context's arena; `by` says
 * how it was proved, if anything had to be. */
const char *jx_ring_prove(jx_ctx *ctx, const jx_ring *ring, const char **by);

/* "(d - i - 1) mod S" */
void jx_ring_step_print(const jx_ring_step *step, jx_buffer *to);

#endif
