/* refine.h - a program at some sizes.
 *
 * Every dim of the program is evaluated with the given values of variables:
 * shapes and parameters become numbers, sizes used as values become literals
 * of the same dtype and weak type (computed as the program computes them, in
 * integers that wrap), constraints that hold are dropped.  Variables that get
 * no value stay symbolic, and what depends on them stays as it is. */
#ifndef JX_REFINE_H
#define JX_REFINE_H

#include "frontend/ir/build.h"
#include "frontend/ir/claim.h"

/* A new program in the same context, which shares dims, sources and data with
 * `from`.  With `entry`, that jaxpr of `from` is its entry, and nothing is kept
 * that running it does not need: no rules, no comparisons.  Retraces are never
 * kept.  NULL with an error that names the constraint that the sizes break, or
 * the place where they give a negative size, a divisor of 0 or an overflow. */
jx_program *jx_program_refine(jx_program *from, const jx_closed *entry,
                              int nsizes, const jx_binding *sizes);
/* The entry alone with shapes and parameters as the program computes them, too:
 * in integers that wrap, of which an axis gets the low 32 bits.  That is the
 * program that XLA compiles; it may make no sense any more. */
jx_program *jx_program_refine_wrapping(jx_program *from, int nsizes,
                                       const jx_binding *sizes);
/* The entry alone with its dims and meshes in the tables of a program that it
 * is to be compared with: `put` says what (of the dims of `beside`) each
 * variable becomes.  Both programs share a context. */
jx_program *jx_program_import(jx_program *from, const jx_program *beside,
                              jx_dim_putting *put, void *env);

/* A jaxpr of a program in the making, and all in it, with one variable's dim
 * put in its place: what a jaxpr that was traced at any size is at this one.
 * NULL, told: also of one that holds a call of a function with rules of its
 * own, which have sizes, too. */
const jx_jaxpr *jx_refine_jaxpr(jx_builder *in, const jx_jaxpr *from,
                                const jx_dim *var, const jx_dim *size);

#endif
