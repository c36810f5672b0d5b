/* flat_sizes.h - what the integers of a program are that follow from sizes.
 *
 * The evaluator of the readers (frontend/sizes) over the flat form: small
 * arrays of integers, with choices decided by cases.  Integers are those of
 * the mathematicians; what the program's own make of them is wrapping.c's
 * business.  What is not one integer whatever XLA does is not followed: a
 * division by what may be 0, the low word of a wider number. */
#ifndef JX_FLAT_SIZES_H
#define JX_FLAT_SIZES_H

#include "analyzer/lint/flat.h"

typedef struct jx_flat_sizes jx_flat_sizes;

/* Of all values, once; in the program's arena.  NULL without memory. */
jx_flat_sizes *jx_flat_follow(const jx_flat *flat);

/* The elements of a value, row-major, and how many; NULL where sizes alone do
 * not say them, or not as far as they are followed. */
const jx_dim *const *jx_flat_sizes_of(const jx_flat_sizes *f, int value,
                                      int *count);

/* The variables of the program's inputs; other scopes belong to exported
 * functions that it calls. */
int jx_flat_scope(const jx_flat *flat);

/* A conversion that keeps the low word of a wider number whose high word the
 * program takes as well, by a shift: it cuts on purpose, as counters of random
 * bits are cut. */
bool jx_flat_takes_a_word(const jx_flat *flat, const jx_flat_node *node);

#endif
