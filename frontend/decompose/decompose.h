/* decompose.h - primitives as programs: what one is made of, as a jaxpr.
 *
 * frontend/decompose/NAME.jaxpr is such a program with variables, `$NAME`, and
 * a header of comments `#:` that says what they may be:
 *
 *     #: P = igamma igammac          the primitives that it defines
 *     #: T = f32 f64                 ... for these values, in all combinations
 *     #: eps[T] = 1.2e-07 2.2e-16    what another variable is for each of them
 *     #: within[T] = 9 20            ... such as how far it is from its kernel
 *     #: let V = $T[$S]              what is written in full where `$V` stands
 *     #: size half = floordiv($n, 2)  ... a size, which is worked out
 *     #: example { lambda ; ...      a program of one such equation: what is
 *                                    checked when the library is built, and run
 *                                    by the tests
 *
 * An equation gives: P, its primitive; T and R, the dtypes of its last operand
 * and of its first result (`dtype`: T as numpy calls it); S, K and D, the
 * shapes of its first result, its first and its last operand ("2*b,3"), M, what
 * S has behind K; n, k, d and m, how many elements these have; `rows` and p,
 * how many S has but for its last axis, and along that; `last`, how many D has
 * along its last axis; `rank`, of S; `axes`, axes_K and axes_D, the last axes
 * of S, as many as S, K and D have ("0,1"); `impl` of keys; `partitionable`, 1
 * or 0, how threefry counts; and each parameter that is a number, a truth or a
 * word, by its name.  A shape without axes takes the comma behind it along, and
 * `($S)` is a tuple of any length.
 *
 * The text is compiled in (frontend/decompose/table.c). */
#ifndef JX_DECOMPOSE_H
#define JX_DECOMPOSE_H

#include "frontend/base/vec.h"
#include "frontend/ir/program.h"

typedef struct jx_decomposition {
    const char *path, *text;
} jx_decomposition;

extern const jx_decomposition jx_decomposition_table[]; /* ends in NULLs */

/* One with its variables put in, in the words of a program. */
typedef struct jx_decomposed {
    const jx_decomposition *row;
    const char *text;
    int scope;          /* of the sizes in it */
    bool partitionable; /* as the equation is, all that it is made of are */
    const char *within; /* how many units in the last place it may be from the
                           primitive's kernel; NULL: it has the same bits */
    const char *off; /* the share of elements that may be farther; NULL: none */
    jx_closed closed;
} jx_decomposed;

/* Those that a program has needed so far. */
typedef struct jx_decompositions {
    jx_program *program;
    const jx_decomposition *table; /* NULL: jx_decomposition_table */
    JX_VEC(jx_decomposed *) made;
} jx_decompositions;

/* What the equation is made of, the same for the same; NULL: no row is about
 * such an equation, or, with an error, its text is wrong.  The inputs are the
 * operands, of the types that they have there: smaller ones of an elementwise
 * primitive are spread. */
const jx_decomposed *jx_decomposed_of(jx_decompositions *in, const jx_eqn *eqn);
const jx_closed *jx_decomposition_of(jx_decompositions *in, const jx_eqn *eqn);

/* The example programs of a row, one for each value of each variable with a
 * list, in turn: the text of number `index`, or NULL: behind the last one, or
 * with an error.  `partitionable` is what its equation's context has to say. */
const char *jx_decomposition_example(jx_ctx *ctx, const jx_decomposition *row,
                                     int index, bool *partitionable);

#endif
