/* flat_uses.h - who needs the values of a flat form. */
#ifndef JX_FLAT_USES_H
#define JX_FLAT_USES_H

#include "analyzer/lint/flat.h"

/* The nodes that take value v as an operand, one for each such operand, are
 * nodes[first[v]] up to nodes[first[v + 1]], in order. */
typedef struct jx_flat_uses {
    const int *first;
    const int *nodes;
    /* by value: a result of the program, of a body, or of what is met once */
    const bool *kept;
} jx_flat_uses;

/* In the program's arena; false without memory. */
bool jx_flat_uses_of(const jx_flat *flat, jx_flat_uses *to);

/* By value: 1 + the innermost body (of jx_flat.bodies) with whose steps it
 * changes; 0: with none.  In the program's arena; NULL without memory. */
const int *jx_flat_frames(const jx_flat *flat);

/* The only live node that takes the value, which nothing else needs; NULL if
 * there is no such. */
const jx_flat_node *jx_flat_sole_use(const jx_flat *flat,
                                     const jx_flat_uses *uses, int value);

#endif
