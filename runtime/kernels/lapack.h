/* lapack.h - what the factorizations have in common.
 *
 * A factorization works on a batch of matrices that lie one behind the other,
 * column-major (LAPACK's way; such a slot is a transposed view of a dense
 * one, so that no copy is needed to hand the result on).  It computes in f32,
 * f64, c64 or c128; smaller floats are converted.  Where LAPACK reports that
 * it failed, the results of that matrix are NaN, as in JAX. */
#ifndef JX_LAPACK_H
#define JX_LAPACK_H

#include "runtime/blas.h"
#include "runtime/plan_rules.h"

enum { JX_LAPACK_PIECES = 6 };

/* One operation: what its kernel needs. */
typedef struct jx_lapack {
    jx_dtype dtype;
    size_t item, real; /* bytes of an element, of its real part */
    bool is_complex;
    int m, n, k;
    int64_t batch;
    bool lower, full, left, right, vectors, transposed, conjugated, unit;
    int low, high; /* of gehrd */
    int lwork, lrwork, liwork;
    int info; /* which output gets LAPACK's answers; 0: none, and the results
                 of a matrix that it refused are NaN */
    size_t at[JX_LAPACK_PIECES]; /* offsets in the scratch memory */
    size_t scratch;
    jx_blas_fn *fn, *fn2;
} jx_lapack;

/* The dtype that matrices of this stored dtype are computed in. */
jx_dtype jx_lapack_dtype(jx_dtype stored);
/* Fills `l` for matrices like `a` (rank 2 or more; its last two axes are m and
 * n) and looks up a routine: its name is the dtype's letter and `real` or
 * `complex`. */
bool jx_lapack_begin(jx_planner *p, const jx_slot *a, const char *real_name,
                     const char *complex_name, jx_lapack *l);
bool jx_lapack_find(jx_planner *p, const jx_lapack *l, const char *real_name,
                    const char *complex_name, jx_blas_fn **fn);
/* Room for `bytes` of scratch memory as piece `i`. */
void jx_lapack_piece(jx_lapack *l, int i, size_t bytes);
/* The size that a work query left in `work`. */
int jx_lapack_work(const jx_lapack *l, const void *work);

/* New slots: column-major matrices, or vectors, in l's dtype or its real one;
 * the batch axes are those of `like`. */
jx_slot jx_lapack_matrix(jx_planner *p, const jx_lapack *l, const jx_slot *like,
                         int64_t rows, int64_t cols);
jx_slot jx_lapack_vector(jx_planner *p, jx_dtype dtype, const jx_slot *like,
                         int64_t size);
/* A column-major copy of `a` in l's dtype. */
jx_slot jx_lapack_copy(jx_planner *p, const jx_lapack *l, const jx_slot *a);
/* LAPACK's answers, one per matrix. */
jx_slot jx_lapack_infos(jx_planner *p, const jx_slot *like);
/* Appends the operation if any output has elements, and hands the outputs on
 * in the dtypes that the equation declares. */
bool jx_lapack_end(jx_planner *p, const jx_eqn *eqn, jx_kernel *kernel,
                   const jx_lapack *l, int nins, const jx_slot *ins, int nouts,
                   const jx_slot *slots, int ngiven, jx_slot *outs);

/* Hands slot by slot on as the results, in the dtypes that the equation
 * declares; the operation is there already. */
bool jx_lapack_give(jx_planner *p, const jx_eqn *eqn, int count,
                    const jx_slot *slots, jx_slot *outs);
/* Result `i` as declared, all zeros: what LAPACK leaves as it was. */
jx_slot jx_lapack_zeros(jx_planner *p, const jx_eqn *eqn, int i);

/* The factorizations as LAPACK has them: in its order of results, with its
 * answers, and without NaN where it failed (custom_lapack.c). */
bool jx_lapack_potrf(jx_planner *p, const jx_eqn *eqn, const jx_slot *in,
                     bool lower, jx_slot *outs);
bool jx_lapack_getrf(jx_planner *p, const jx_eqn *eqn, const jx_slot *in,
                     jx_slot *outs);
bool jx_lapack_trsm(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                    const jx_p_triangular_solve *how, jx_slot *outs);
/* dl, d, du, b -> what became of them, and the answers; or `alone` the last. */
bool jx_lapack_gtsv(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                    bool alone, jx_slot *outs);
bool jx_lapack_geqp3(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                     jx_slot *outs);
bool jx_lapack_ormqr(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                     const jx_p_ormqr *how, jx_slot *outs);
bool jx_lapack_gehrd(jx_planner *p, const jx_eqn *eqn, const jx_slot *in,
                     int64_t low, int64_t high, jx_slot *outs);
bool jx_lapack_sytrd(jx_planner *p, const jx_eqn *eqn, const jx_slot *in,
                     bool lower, jx_slot *outs);

/* Singular vectors: none, as many as there are values, or all.  `right` comes
 * as V^H, or as V; and before the left ones where `swapped`. */
typedef struct jx_svd_how {
    bool vectors, full, plain, swapped;
} jx_svd_how;

bool jx_lapack_gesdd(jx_planner *p, const jx_eqn *eqn, const jx_slot *in,
                     const jx_svd_how *how, jx_slot *outs);
bool jx_lapack_syevd(jx_planner *p, const jx_eqn *eqn, const jx_slot *in,
                     bool lower, bool vectors, jx_slot *outs);
/* As JAX's primitive has it: without an answer. */
bool jx_lapack_eigh(jx_planner *p, const jx_eqn *eqn, const jx_slot *in,
                    bool lower, jx_slot *outs);
bool jx_lapack_geev(jx_planner *p, const jx_eqn *eqn, const jx_slot *in,
                    bool left, bool right, jx_slot *outs);
bool jx_lapack_gees(jx_planner *p, const jx_eqn *eqn, const jx_slot *in,
                    bool vectors, jx_slot *outs);

/* Keeps LAPACK's answer; false: nobody wants to know. */
static inline bool jx_lapack_tell(const jx_lapack *l, const jx_view *outs,
                                  int64_t b, int info)
{
    if (l->info)
        ((int32_t *)(void *)outs[l->info].data)[b] = info;
    return l->info != 0;
}

/* Matrix `b` of a batch of `size` elements each. */
static inline char *jx_lapack_at(const jx_view *view, int64_t b, int64_t size)
{
    return view->data + (size_t)(b * size) * jx_dtype_of(view->dtype)->bytes;
}

void jx_lapack_nan(jx_dtype dtype, void *data, int64_t count);
/* OpenBLAS may scale a vector by NaN and get zeros (0.3.21 does in f32), so
 * that a NaN is lost on its way through a factorization.  Where it has to be is
 * known: in all that is computed with the first number that is NaN.  That one
 * of n numbers, `step` elements apart; n: there is none. */
int jx_lapack_first_nan(const jx_lapack *l, const char *at, int64_t step,
                        int n);
/* NaN in rows [row, end) of columns [column, past) of l's matrix. */
void jx_lapack_nan_block(const jx_lapack *l, char *a, int row, int end,
                         int column, int past);
bool jx_lapack_finite(jx_dtype dtype, const void *data, int64_t count);
/* Ones on the diagonal of a column-major matrix, zeros elsewhere. */
void jx_lapack_eye(jx_dtype dtype, void *data, int64_t rows, int64_t cols);

#endif
