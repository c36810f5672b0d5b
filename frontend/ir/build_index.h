/* build_index.h - gathers and scatters in the making (build.h) that
 * undo each other. */
#ifndef JX_BUILD_INDEX_H
#define JX_BUILD_INDEX_H

#include "frontend/ir/build.h"

/* Of `from`, what lies where a scatter writes. */
jx_atom jx_build_gather_back(jx_body *b, const jx_eqn *scatter, jx_atom from,
                             jx_atom indices);
/* Zeros, to which the updates are added where a gather reads. */
jx_atom jx_build_scatter_back(jx_body *b, const jx_eqn *gather, jx_atom indices,
                              jx_atom updates);

#endif
