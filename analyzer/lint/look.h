/* look.h - small questions that lints ask about values of the flat form. */
#ifndef JX_LOOK_H
#define JX_LOOK_H

#include "analyzer/lint/lint.h"

/* What it computes is needed, or would be, if a derivative did
 * not leave it out. */
bool jx_looks_at(const jx_flat_node *node);

/* The node that makes a value; NULL for what comes from outside,
 * and constants. */
const jx_flat_node *jx_maker(const jx_flat *flat, int value);
jx_prim_id jx_maker_id(const jx_flat *flat,
                       int value); /* JX_PRIM_unknown: none */

/* Shows elements of its first operand and computes nothing; conversions to
 * another dtype excluded. */
bool jx_shows(const jx_eqn *eqn);
/* What it takes is more than in proportion to its operands' elements, or may
 * be: products of matrices, sorts, factorizations, loops. */
bool jx_is_heavy(const jx_eqn *eqn);
/* The value whose elements it shows, in whatever order or number. */
int jx_shown(const jx_flat *flat, int value);

/* The same value before it was merely copied: element by element the same. */
int jx_plain(const jx_flat *flat, int value);

/* An element of a dtype of numbers or booleans; false for others. */
bool jx_number_at(jx_dtype dtype, const void *bits, double *number);
/* The number that all elements of a value are, as written (conversions round
 * it); false where they are not known, or differ. */
bool jx_number_of(const jx_flat *flat, int value, double *number);

/* Somebody wrote the node; or it is part of a function that somebody called
 * and does to its operand `in` what it is to do: jnp.where is a call of
 * JAX's `_where`. */
bool jx_is_asked_for(const jx_program *program, const jx_flat_node *node,
                     int in);

/* The maker of `convert` has the same place in the source as `node`:
 * nobody wrote the conversion, the operation made it.  False where there
 * are no places. */
bool jx_is_implied(const jx_flat_node *convert, const jx_flat_node *node);

/* The elements that a reduction over these axes of an array adds up, or
 * the dim's value at its smallest where sizes are symbolic; *symbolic says
 * that it is that. */
int64_t jx_reduced(const jx_flat *flat, const jx_aval *aval, int naxes,
                   const int64_t *axes, bool *symbolic);

/* Significant bits of a float dtype: 24 for f32. */
int jx_digits(jx_dtype dtype);

/* A gather that takes all there is along an axis, one after the other. */
bool jx_takes_all_in_order(const jx_linter *lint, const jx_flat_node *node);

#endif
