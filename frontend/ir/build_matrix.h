/* build_matrix.h - matrices in the making (build.h): the last two axes are rows
 * and columns, the others a batch.  `from_last` numbers axes from the last,
 * which is 1. Whoever takes nothing gives nothing. */
#ifndef JX_BUILD_MATRIX_H
#define JX_BUILD_MATRIX_H

#include "frontend/ir/build_math.h"

/* How many rows and columns it has. */
const jx_dim *jx_matrix_rows(jx_atom a);
const jx_dim *jx_matrix_columns(jx_atom a);

jx_atom jx_matrix_as(jx_body *b, jx_atom a, jx_dtype dtype);
jx_atom jx_matrix_real(jx_body *b, jx_atom a);
jx_atom jx_matrix_conjugate(jx_body *b, jx_atom a);
jx_atom jx_matrix_transpose(jx_body *b, jx_atom a);
jx_atom jx_matrix_adjoint(jx_body *b, jx_atom a); /* the conjugate of that */
/* The product, summed as precisely as the dtype can. */
jx_atom jx_matrix_dot(jx_body *b, jx_atom a, jx_atom c);

/* What lies on the diagonal that many above the main one and below it, or above
 * it; 0 elsewhere. */
jx_atom jx_matrix_lower(jx_body *b, jx_atom a, int above);
jx_atom jx_matrix_upper(jx_body *b, jx_atom a, int above);
jx_atom jx_matrix_eye(jx_body *b, jx_atom like);
jx_atom jx_matrix_diagonal(jx_body *b, jx_atom a);
/* A vector as each row of a matrix of that shape, or as each column. */
jx_atom jx_matrix_of_rows(jx_body *b, jx_atom row, jx_atom like);
jx_atom jx_matrix_of_columns(jx_body *b, jx_atom column, jx_atom like);
/* 1 in each column at the row of that number, 0 elsewhere. */
jx_atom jx_matrix_one_hot(jx_body *b, jx_atom rows, jx_atom like);
/* The sum over an axis. */
jx_atom jx_matrix_sum(jx_body *b, jx_atom a, int from_last);

/* Solves by the triangle of `a`. */
enum {
    JX_MATRIX_LEFT = 1,
    JX_MATRIX_LOWER = 2,
    JX_MATRIX_TRANSPOSED = 4,
    JX_MATRIX_CONJUGATED = 8,
    JX_MATRIX_UNIT = 16
};
jx_atom jx_matrix_solve(jx_body *b, jx_atom a, jx_atom c, unsigned bits);

/* The first `end` along an axis; what follows the first `start`. */
jx_atom jx_matrix_first(jx_body *b, jx_atom a, int from_last,
                        const jx_dim *end);
jx_atom jx_matrix_after(jx_body *b, jx_atom a, int from_last,
                        const jx_dim *start);
/* With that many zeros before and behind it, along an axis. */
jx_atom jx_matrix_pad(jx_body *b, jx_atom a, int from_last,
                      const jx_dim *before, const jx_dim *behind);
/* What lies along an axis at the numbers `order`, each of which counts for all
 * that lies along another axis (`whole`, from the last; 0: there is none, and
 * `order` has as many axes as `a`).  The numbers are in range. */
jx_atom jx_matrix_take(jx_body *b, jx_atom a, int from_last, int whole,
                       jx_atom order);

#endif
