/* wraps.h - of integers that can wrap, whether that is meant or prevented. */
#ifndef JX_WRAPS_H
#define JX_WRAPS_H

#include "analyzer/lint/int_ranges.h"
#include "analyzer/lint/lint.h"

/* What the node computes is a pattern of bits, as hashes and generators of
 * random numbers make them: who wraps it gets what he wants. */
bool jx_wraps_as_meant(const jx_linter *lint, const jx_int_range *ranges,
                       const jx_flat_node *node);

/* It is taken only where a comparison says that it did not wrap, or what it is
 * made of leaves room. */
bool jx_wraps_in_vain(const jx_linter *lint, const jx_int_range *ranges,
                      const jx_flat_node *node);

#endif
