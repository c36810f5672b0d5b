/* blas.h - OpenBLAS and its LAPACK, found at run time.
 *
 * The one place that knows the library.  Nothing is linked: loading OpenBLAS
 * costs milliseconds, and most programs never need it.  Plan rules look up the
 * routines they need by Fortran name and keep the pointers in their operation,
 * so there is no table of state.
 *
 * When this process loads the library itself, it is set to one thread: the
 * results must not depend on a count of threads, and the runtime splits
 * work on its own.  Where the processor is newer than the library it gets
 * the kernels of the newest one that can do the same, unless
 * $OPENBLAS_CORETYPE says which. */
#ifndef JX_BLAS_H
#define JX_BLAS_H

#include <stddef.h>

typedef void jx_blas_fn(void);

/* For a process that has no other thread yet, and will load the library itself:
 * none is started then, each of which would look out for work for some 20 ms of
 * processor time. */
void jx_blas_without_threads(void);

/* The routine of that Fortran name ("sgemm_"), or NULL with *why (static
 * text). */
jx_blas_fn *jx_blas_find(const char *name, const char **why);

/* Fortran's calling convention: everything by address; the lengths of the
 * text arguments follow, by value. */
typedef void jx_gemm_fn(const char *transa, const char *transb, const int *m,
                        const int *n, const int *k, const void *alpha,
                        const void *a, const int *lda, const void *b,
                        const int *ldb, const void *beta, void *c,
                        const int *ldc, size_t, size_t);
typedef void jx_gemv_fn(const char *trans, const int *m, const int *n,
                        const void *alpha, const void *a, const int *lda,
                        const void *x, const int *incx, const void *beta,
                        void *y, const int *incy, size_t);
typedef void jx_trsm_fn(const char *side, const char *uplo, const char *trans,
                        const char *diag, const int *m, const int *n,
                        const void *alpha, const void *a, const int *lda,
                        void *b, const int *ldb, size_t, size_t, size_t,
                        size_t);
typedef void jx_potrf_fn(const char *uplo, const int *n, void *a,
                         const int *lda, int *info, size_t);
typedef void jx_getrf_fn(const int *m, const int *n, void *a, const int *lda,
                         int *pivots, int *info);
typedef void jx_geqrf_fn(const int *m, const int *n, void *a, const int *lda,
                         void *tau, void *work, const int *lwork, int *info);
typedef void jx_orgqr_fn(const int *m, const int *n, const int *k, void *a,
                         const int *lda, const void *tau, void *work,
                         const int *lwork, int *info);
typedef void jx_ormqr_fn(const char *side, const char *trans, const int *m,
                         const int *n, const int *k, void *a, const int *lda,
                         const void *tau, void *c, const int *ldc, void *work,
                         const int *lwork, int *info, size_t, size_t);
/* Real: without rwork. */
typedef void jx_geqp3_fn(const int *m, const int *n, void *a, const int *lda,
                         int *pivots, void *tau, void *work, const int *lwork,
                         int *info);
typedef void jx_geqp3_complex_fn(const int *m, const int *n, void *a,
                                 const int *lda, int *pivots, void *tau,
                                 void *work, const int *lwork, void *rwork,
                                 int *info);
typedef void jx_gesdd_fn(const char *job, const int *m, const int *n, void *a,
                         const int *lda, void *s, void *u, const int *ldu,
                         void *vt, const int *ldvt, void *work,
                         const int *lwork, int *iwork, int *info, size_t);
typedef void jx_gesdd_complex_fn(const char *job, const int *m, const int *n,
                                 void *a, const int *lda, void *s, void *u,
                                 const int *ldu, void *vt, const int *ldvt,
                                 void *work, const int *lwork, void *rwork,
                                 int *iwork, int *info, size_t);
typedef void jx_syevd_fn(const char *job, const char *uplo, const int *n,
                         void *a, const int *lda, void *w, void *work,
                         const int *lwork, int *iwork, const int *liwork,
                         int *info, size_t, size_t);
typedef void jx_heevd_fn(const char *job, const char *uplo, const int *n,
                         void *a, const int *lda, void *w, void *work,
                         const int *lwork, void *rwork, const int *lrwork,
                         int *iwork, const int *liwork, int *info, size_t,
                         size_t);
typedef void jx_geev_fn(const char *jobvl, const char *jobvr, const int *n,
                        void *a, const int *lda, void *wr, void *wi, void *vl,
                        const int *ldvl, void *vr, const int *ldvr, void *work,
                        const int *lwork, int *info, size_t, size_t);
typedef void jx_geev_complex_fn(const char *jobvl, const char *jobvr,
                                const int *n, void *a, const int *lda, void *w,
                                void *vl, const int *ldvl, void *vr,
                                const int *ldvr, void *work, const int *lwork,
                                void *rwork, int *info, size_t, size_t);
typedef void jx_gees_fn(const char *jobvs, const char *sort, void *select,
                        const int *n, void *a, const int *lda, int *sdim,
                        void *wr, void *wi, void *vs, const int *ldvs,
                        void *work, const int *lwork, int *bwork, int *info,
                        size_t, size_t);
typedef void jx_gees_complex_fn(const char *jobvs, const char *sort,
                                void *select, const int *n, void *a,
                                const int *lda, int *sdim, void *w, void *vs,
                                const int *ldvs, void *work, const int *lwork,
                                void *rwork, int *bwork, int *info, size_t,
                                size_t);
typedef void jx_gehrd_fn(const int *n, const int *ilo, const int *ihi, void *a,
                         const int *lda, void *tau, void *work,
                         const int *lwork, int *info);
typedef void jx_sytrd_fn(const char *uplo, const int *n, void *a,
                         const int *lda, void *d, void *e, void *tau,
                         void *work, const int *lwork, int *info, size_t);
typedef void jx_gtsv_fn(const int *n, const int *nrhs, void *dl, void *d,
                        void *du, void *b, const int *ldb, int *info);

#endif
