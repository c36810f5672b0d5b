/* leftover.h - what derivatives leave over.
 *
 * jax.grad computes a function forward and back, and needs of the way forward
 * what goes into its derivative alone: the rest is dead, and nobody's to mend.
 * Neither that nor what goes into it is a result that nobody takes: that of an
 * unused variable, or beside the one that is differentiated (has_aux). */
#ifndef JX_LEFTOVER_H
#define JX_LEFTOVER_H

#include "analyzer/lint/lint.h"

/* By node, of those on the way forward that nothing needs: the derivative left
 * it over, or may have.  NULL without memory. */
const bool *jx_leftovers(const jx_linter *lint);

#endif
