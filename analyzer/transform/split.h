/* split.h - what of a jaxpr follows from some of its inputs, and the rest.
 *
 *     inputs -> outputs    becomes    known inputs -> known outputs, residuals
 *                                     residuals, known inputs that it reads,
 *                                         unknown inputs -> unknown outputs
 *
 * Partial evaluation, as JAX has it: of a derivative along a direction, with
 * the tangents unknown, the rest is linear in them.  Loops and branches are
 * split within; what a `while` knows is computed twice, since the rest has it
 * whole, as is what remat would compute again. */
#ifndef JX_SPLIT_H
#define JX_SPLIT_H

#include "analyzer/transform/making.h"

typedef struct jx_split {
    const jx_jaxpr *known, *rest;
    const bool *ins, *outs; /* of the whole: which are unknown */
    /* residuals: the last results of `known`, the first that `rest` takes */
    int nres;
    int npassed;
    const int *passed; /* the known inputs that `rest` takes behind these */
} jx_split;

typedef struct jx_splitter {
    jx_making *make;
    jx_intern made; /* jx_split, by what they are of */
} jx_splitter;

void jx_splitter_begin(jx_splitter *s, jx_making *make);

/* With these inputs unknown, and at least these outputs (NULL: those that
 * follow). Known inputs that are `kept` (NULL: none) change before the rest
 * sees them, and become residuals.  NULL, told. */
const jx_split *jx_split_jaxpr(jx_splitter *s, const jx_jaxpr *from,
                               const bool *ins, const bool *outs,
                               const bool *kept);

#endif
