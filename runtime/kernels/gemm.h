/* gemm.h - one matrix product, for every dtype that is computed with.
 *
 * Floats and complexes (F32, F64, C64, C128) go to BLAS, unless their terms are
 * to be added in order or there are few rows or terms (jx_gemm_is_few);
 * integers of 8 to 64 bits wrap, bools are "or of ands". Narrower dtypes are
 * converted by the caller while planning. */
#ifndef JX_GEMM_H
#define JX_GEMM_H

#include "runtime/blas.h"
#include "runtime/kernel.h"

typedef struct jx_gemm {
    jx_dtype dtype;
    bool own;         /* our own loops, terms in order */
    jx_gemm_fn *gemm; /* BLAS's; NULL: it is not needed */
    jx_gemv_fn *gemv;
} jx_gemm;

/* An operand: row-major with `ld` elements between rows, or its transpose
 * (our own loops of integers take no transpose). */
typedef struct jx_matrix {
    const void *data;
    int64_t ld;
    bool transposed;
} jx_matrix;

/* Whether sums of so few terms, in so few products, are added up from the first
 * to the last, each product and each sum rounded: the order that everybody
 * uses where there is no reason for another, so that terms which cancel leave
 * the same. */
bool jx_gemm_in_order(int64_t products, int64_t terms);

/* The dtype to compute a contraction in that gives `out` from `a` and `b`
 * (all as stored).  With few products that are not in order, what would be f32
 * is f64: it costs next to nothing there, and the result is the exact one,
 * rounded. */
jx_dtype jx_gemm_dtype(jx_dtype out, jx_dtype a, jx_dtype b, int64_t products,
                       bool in_order);

/* Whether it is computed by our own loops. */
bool jx_gemm_is_own(jx_dtype dtype, bool in_order);

/* `operands`: where all products have these sizes, what they are of, without
 * data; BLAS is looked for where it is needed alone, since loading it takes
 * some milliseconds.  NULL: not known.  Fails the plan when it is needed and
 * missing, or a size is beyond its int. */
bool jx_gemm_plan(jx_planner *p, jx_dtype dtype, int64_t m, int64_t n,
                  int64_t k, bool in_order, const jx_matrix *operands,
                  jx_gemm *gemm);

/* How far apart rows and columns are, in elements. */
static inline void jx_matrix_steps(jx_matrix m, int64_t *row, int64_t *column)
{
    *row = m.transposed ? 1 : m.ld;
    *column = m.transposed ? m.ld : 1;
}

/* c += a b of pairs of doubles (f64x2): gemm_pairs.c. */
void jx_gemm_pairs(int64_t m, int64_t n, int64_t k, jx_matrix a, jx_matrix b,
                   void *c, int64_t ldc);

/* Whether a product of f32 or f64 has so few rows, or terms, that it is
 * computed by jx_gemm_few(), which is faster than BLAS there: by its shape, and
 * what the processor can do. */
bool jx_gemm_is_few(jx_dtype dtype, int64_t m, int64_t n, int64_t k,
                    jx_matrix a, jx_matrix b);

/* c = a b, or c += a b, of F32 or F64, where one of a and b may be transposed,
 * on a processor that jx_gemm_is_few() takes: gemm_few.c.  What is in a row,
 * and in a column, does not depend on how many there are. */
void jx_gemm_few(jx_dtype dtype, int64_t m, int64_t n, int64_t k, jx_matrix a,
                 jx_matrix b, bool accumulate, void *c, int64_t ldc);

/* A product of so many multiplications is cut by its shape into chunks that the
 * run's helper may take some of. */
static const int64_t jx_gemm_shared = (int64_t)1 << 22;

/* c (m by n, row-major, ldc) = a b, or c += a b. */
void jx_gemm_run(jx_run *run, const jx_gemm *gemm, int64_t m, int64_t n,
                 int64_t k, jx_matrix a, jx_matrix b, bool accumulate, void *c,
                 int64_t ldc);

#endif
