/* transpose.h - of a jaxpr that is linear in some of its inputs, the transpose.
 *
 *     others, linear inputs -> outputs
 *     becomes
 *     others, cotangents of outputs -> cotangents of linear inputs
 *
 * Equations that take nothing linear are computed first, as they stand; the
 * others backwards, each by the rule of its primitive (column `transpose` of
 * prims.def).  A cotangent that is zero is known as such. */
#ifndef JX_TRANSPOSE_H
#define JX_TRANSPOSE_H

#include "analyzer/transform/making.h"

typedef struct jx_transposed {
    const jx_jaxpr *jaxpr;
    const bool *ins; /* the inputs that have a cotangent */
} jx_transposed;

typedef struct jx_transposer {
    jx_making *make;
    jx_intern made; /* jx_transposed, by what they are of */
} jx_transposer;

void jx_transposer_begin(jx_transposer *s, jx_making *make);

/* Linear in these inputs; cotangents come of these outputs, in their order
 * behind the other inputs.  All of these inputs (NULL: those that get one) have
 * a cotangent in the results.  NULL, told. */
const jx_transposed *jx_transpose_jaxpr(jx_transposer *s, const jx_jaxpr *from,
                                        const bool *linear, const bool *outs,
                                        const bool *wanted);

#endif
