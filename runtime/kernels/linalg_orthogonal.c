/* linalg_orthogonal.c - factorizations by Householder reflectors: qr (also
 * with column pivoting), geqrf, householder_product, ormqr, hessenberg,
 * tridiagonal. */
#include "runtime/kernels/lapack.h"

#include <string.h>

enum { TAU, WORK, RWORK };

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* ---- reflectors ---- */

static int call_geqrf(const jx_lapack *l, void *a, void *tau, void *work,
                      int lwork)
{
    int info = 0;

    ((jx_geqrf_fn *)l->fn)(&l->m, &l->n, a, &l->m, tau, work, &lwork, &info);
    return info;
}

static int call_geqp3(const jx_lapack *l, void *a, int *pivots, void *tau,
                      void *work, int lwork, void *rwork)
{
    int info = 0;

    if (l->is_complex)
        ((jx_geqp3_complex_fn *)l->fn)(&l->m, &l->n, a, &l->m, pivots, tau,
                                       work, &lwork, rwork, &info);
    else
        ((jx_geqp3_fn *)l->fn)(&l->m, &l->n, a, &l->m, pivots, tau, work,
                               &lwork, &info);
    return info;
}

/* What a reflector that is NaN is in, and what it was applied to: all below and
 * to the right.  The last one may have nothing to reflect. */
static void keep_nan(const jx_lapack *l, char *a, char *tau)
{
    int k = l->k < l->m - 1 ? l->k : l->m - 1;
    int j = jx_lapack_first_nan(l, tau, 1, k);

    if (j >= k)
        return;
    jx_lapack_nan_block(l, a, j + 1, l->m, j, j + 1);
    jx_lapack_nan_block(l, a, j, l->m, j + 1, l->n);
    jx_lapack_nan(l->dtype, tau + (size_t)j * l->item, k - j);
}

/* With columns exchanged if there are `pivots`. */
static void factor(const jx_lapack *l, char *a, int *pivots, char *tau,
                   char *work, char *rwork)
{
    if (pivots)
        call_geqp3(l, a, pivots, tau, work, l->lwork, rwork);
    else
        call_geqrf(l, a, tau, work, l->lwork);
    keep_nan(l, a, tau);
}

/* Q of m by n from its first k reflectors. */
static int call_orgqr(const jx_lapack *l, jx_blas_fn *fn, int n, int k, void *a,
                      const void *tau, void *work, int lwork)
{
    int info = 0;

    ((jx_orgqr_fn *)fn)(&l->m, &n, &k, a, &l->m, tau, work, &lwork, &info);
    return info;
}

/* The same, with the NaN of a reflector in all columns from its own on. */
static void product(const jx_lapack *l, jx_blas_fn *fn, int n, char *a,
                    const char *tau, char *work)
{
    int j = jx_lapack_first_nan(l, tau, 1, l->k);

    call_orgqr(l, fn, n, l->k, a, tau, work, l->lwork);
    if (j < l->k)
        jx_lapack_nan_block(l, a, 0, l->m, j, n);
}

/* ---- geqrf ---- */

static bool run_geqrf(jx_run *run, const void *data, const jx_view *ins,
                      const jx_view *outs, void *scratch)
{
    const jx_lapack *l = data;

    (void)ins;
    if (l->k == 0)
        return true;
    for (int64_t b = 0; b < l->batch && jx_run_lasts(run); b++)
        factor(l, jx_lapack_at(&outs[0], b, (int64_t)l->m * l->n), NULL,
               jx_lapack_at(&outs[1], b, l->k), scratch, NULL);
    return true;
}

bool jx_plan_geqrf(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                   jx_slot *outs)
{
    double dummy[64] = {0};
    jx_lapack l;

    if (!jx_lapack_begin(p, &ins[0], "geqrf", "geqrf", &l))
        return false;
    if (l.k > 0)
        call_geqrf(&l, dummy, dummy, dummy, -1);
    l.lwork = larger(jx_lapack_work(&l, dummy), l.n);
    jx_lapack_piece(&l, 0, (size_t)l.lwork * l.item);
    jx_slot slots[2] = {jx_lapack_copy(p, &l, &ins[0]),
                        jx_lapack_vector(p, l.dtype, &ins[0], l.k)};
    return jx_lapack_end(p, eqn, run_geqrf, &l, 0, NULL, 2, slots, 2, outs);
}

/* ---- householder_product ---- */

static bool run_product(jx_run *run, const void *data, const jx_view *ins,
                        const jx_view *outs, void *scratch)
{
    const jx_lapack *l = data;

    for (int64_t b = 0; b < l->batch && jx_run_lasts(run); b++)
        product(l, l->fn, l->n, jx_lapack_at(&outs[0], b, (int64_t)l->m * l->n),
                jx_lapack_at(&ins[0], b, l->k), scratch);
    return true;
}

bool jx_plan_householder_product(jx_planner *p, const jx_eqn *eqn,
                                 const jx_slot *ins, jx_slot *outs)
{
    double dummy[64] = {0};
    jx_lapack l;

    if (!jx_lapack_begin(p, &ins[0], "orgqr", "ungqr", &l))
        return false;
    int64_t k = ins[1].rank ? ins[1].shape[ins[1].rank - 1] : 0;
    if (l.m < l.n || ins[1].rank != ins[0].rank - 1 || k > l.n ||
        jx_slot_count(&ins[1]) != l.batch * k)
        return jx_plan_fail(p, "at least as many rows as columns, and as many "
                               "columns as reflectors, are expected");
    l.k = (int)k;
    jx_slot taus = jx_plan_convert(p, &ins[1], l.dtype);
    taus = jx_plan_dense(p, &taus);
    if (l.m > 0)
        call_orgqr(&l, l.fn, l.n, l.k, dummy, dummy, dummy, -1);
    l.lwork = larger(jx_lapack_work(&l, dummy), l.n);
    jx_lapack_piece(&l, 0, (size_t)l.lwork * l.item);
    jx_slot to = jx_lapack_copy(p, &l, &ins[0]);
    return jx_lapack_end(p, eqn, run_product, &l, 1, &taus, 1, &to, 1, outs);
}

/* ---- ormqr ---- */

/* `rows` of a. */
static void call_ormqr(const jx_lapack *l, int rows, void *a, const void *tau,
                       void *c, void *work, int lwork)
{
    const char *adjoint = l->is_complex ? "C" : "T";
    int info = 0;

    ((jx_ormqr_fn *)l->fn)(l->left ? "L" : "R", l->transposed ? adjoint : "N",
                           &l->m, &l->n, &l->k, a, &rows, tau, c, &l->m, work,
                           &lwork, &info, 1, 1);
}

/* A reflector that is NaN leaves what those before it have done, where it is
 * not among the first; all that comes later is NaN. */
static bool run_ormqr(jx_run *run, const void *data, const jx_view *ins,
                      const jx_view *outs, void *scratch)
{
    const jx_lapack *l = data;
    int rows = l->left ? l->m : l->n;
    int64_t columns = outs[1].shape[outs[1].rank - 1];

    for (int64_t b = 0; l->k > 0 && b < l->batch && jx_run_lasts(run); b++) {
        char *c = jx_lapack_at(&outs[0], b, (int64_t)l->m * l->n);
        const char *tau = jx_lapack_at(&ins[0], b, l->k);
        int j = jx_lapack_first_nan(l, tau, 1, l->k);
        int from = l->left == l->transposed ? j : 0;
        call_ormqr(l, rows, jx_lapack_at(&outs[1], b, rows * columns), tau, c,
                   scratch, l->lwork);
        if (j < l->k)
            jx_lapack_nan_block(l, c, l->left ? from : 0, l->m,
                                l->left ? 0 : from, l->n);
    }
    return true;
}

static bool reflectors_fit(const jx_lapack *l, const jx_slot *ins)
{
    const jx_slot *a = &ins[0], *taus = &ins[1];
    int64_t rows = l->left ? l->m : l->n, k;

    if (a->rank < 2 || taus->rank != a->rank - 1 || a->rank != ins[2].rank)
        return false;
    k = taus->shape[taus->rank - 1];
    return a->shape[a->rank - 2] == rows && k <= rows &&
           k <= a->shape[a->rank - 1] && jx_slot_count(taus) == l->batch * k &&
           jx_slot_count(a) == l->batch * rows * a->shape[a->rank - 1];
}

bool jx_lapack_ormqr(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                     const jx_p_ormqr *how, jx_slot *outs)
{
    double dummy[64] = {0};
    jx_lapack l;

    if (!jx_lapack_begin(p, &ins[2], "ormqr", "unmqr", &l))
        return false;
    l.left = how->left;
    l.transposed = how->transpose;
    if (!reflectors_fit(&l, ins))
        return jx_plan_fail(p, "reflectors as long as what they are applied "
                               "to, and no more of them, are expected");
    l.k = (int)ins[1].shape[ins[1].rank - 1];
    jx_slot taus = jx_plan_convert(p, &ins[1], l.dtype);
    taus = jx_plan_dense(p, &taus);
    if (l.k > 0 && l.m > 0 && l.n > 0)
        call_ormqr(&l, l.left ? l.m : l.n, dummy, dummy, dummy, dummy, -1);
    l.lwork = larger(jx_lapack_work(&l, dummy), larger(l.m, l.n));
    jx_lapack_piece(&l, 0, (size_t)l.lwork * l.item);
    /* LAPACK writes into the reflectors, too, for a while. */
    jx_slot slots[2] = {jx_lapack_copy(p, &l, &ins[2]),
                        jx_lapack_copy(p, &l, &ins[0])};
    return jx_lapack_end(p, eqn, run_ormqr, &l, 1, &taus, 2, slots, 1, outs);
}

bool jx_plan_ormqr(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                   jx_slot *outs)
{
    return jx_lapack_ormqr(p, eqn, ins, eqn->typed, outs);
}

/* ---- qr ---- */

/* The upper triangle of a (m by n) as `rows` by n. */
static void upper(const jx_lapack *l, const char *a, char *r, int64_t rows)
{
    for (int64_t j = 0; j < l->n; j++) {
        int64_t keep = j + 1 < rows ? j + 1 : rows;
        char *column = r + (size_t)(j * rows) * l->item;
        memcpy(column, a + (size_t)(j * l->m) * l->item,
               (size_t)keep * l->item);
        memset(column + (size_t)keep * l->item, 0,
               (size_t)(rows - keep) * l->item);
    }
}

static void one_qr(const jx_lapack *l, char *a, char *q, char *r, int *pivots,
                   char *scratch)
{
    int columns = l->full ? l->m : l->k; /* of q */
    char *tau = scratch + l->at[TAU], *work = scratch + l->at[WORK];

    if (pivots) /* zero: every column may move */
        memset(pivots, 0, (size_t)l->n * sizeof *pivots);
    factor(l, a, pivots, tau, work, scratch + l->at[RWORK]);
    upper(l, a, r, columns);
    memcpy(q, a, (size_t)l->m * (size_t)l->k * l->item);
    memset(q + (size_t)l->m * (size_t)l->k * l->item, 0,
           (size_t)l->m * (size_t)(columns - l->k) * l->item);
    product(l, l->fn2, columns, q, tau, work);
    for (int i = 0; pivots && i < l->n; i++)
        pivots[i]--;
}

static bool run_qr(jx_run *run, const void *data, const jx_view *ins,
                   const jx_view *outs, void *scratch)
{
    const jx_lapack *l = data;
    int64_t columns = l->full ? l->m : l->k;
    const jx_view *work = &outs[l->vectors ? 3 : 2];

    (void)ins;
    for (int64_t b = 0; b < l->batch && jx_run_lasts(run); b++) {
        char *q = jx_lapack_at(&outs[0], b, l->m * columns);
        char *r = jx_lapack_at(&outs[1], b, columns * l->n);
        char *pivots = l->vectors ? jx_lapack_at(&outs[2], b, l->n) : NULL;
        if (l->k > 0) {
            one_qr(l, jx_lapack_at(work, b, (int64_t)l->m * l->n), q, r,
                   (int *)(void *)pivots, scratch);
            continue;
        }
        jx_lapack_eye(l->dtype, q, l->m, columns);
        memset(r, 0, (size_t)(columns * l->n) * l->item);
        if (pivots)
            memset(pivots, 0, (size_t)l->n * 4);
    }
    return true;
}

/* What either of the two steps wants. */
static int qr_work(const jx_lapack *l)
{
    double dummy[64] = {0};
    int columns = l->full ? l->m : l->k, size, pivots[4] = {0};

    if (l->k == 0)
        return 1;
    if (l->vectors)
        call_geqp3(l, dummy, pivots, dummy, dummy, -1, dummy);
    else
        call_geqrf(l, dummy, dummy, dummy, -1);
    size = larger(jx_lapack_work(l, dummy), 3 * l->n + 1);
    call_orgqr(l, l->fn2, columns, l->k, dummy, dummy, dummy, -1);
    return larger(size, larger(jx_lapack_work(l, dummy), columns));
}

bool jx_plan_qr(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                jx_slot *outs)
{
    const jx_p_qr *params = eqn->typed;
    const char *name = params->pivoting ? "geqp3" : "geqrf";
    int count = params->pivoting ? 3 : 2;
    jx_slot slots[4];
    jx_lapack l;

    if (!jx_lapack_begin(p, &ins[0], name, name, &l) ||
        !jx_lapack_find(p, &l, "orgqr", "ungqr", &l.fn2))
        return false;
    l.full = params->full_matrices;
    l.vectors = params->pivoting; /* the third result */
    int64_t columns = l.full ? l.m : l.k;
    slots[0] = jx_lapack_matrix(p, &l, &ins[0], l.m, columns);
    slots[1] = jx_lapack_matrix(p, &l, &ins[0], columns, l.n);
    if (l.vectors)
        slots[2] = jx_lapack_vector(p, JX_I32, &ins[0], l.n);
    slots[count] = jx_lapack_copy(p, &l, &ins[0]);
    jx_lapack_piece(&l, RWORK, 2 * (size_t)l.n * l.real);
    jx_lapack_piece(&l, TAU, (size_t)l.k * l.item);
    l.lwork = qr_work(&l);
    jx_lapack_piece(&l, WORK, (size_t)l.lwork * l.item);
    return jx_lapack_end(p, eqn, run_qr, &l, 0, NULL, count + 1, slots, count,
                         outs);
}

/* ---- geqp3 ----
 *
 * Columns whose entry in `jpvt` is not zero go first; it becomes the order of
 * the columns, from 1. */
static bool run_geqp3(jx_run *run, const void *data, const jx_view *ins,
                      const jx_view *outs, void *scratch)
{
    const jx_lapack *l = data;
    char *s = scratch;

    (void)ins;
    if (l->k == 0)
        return true;
    for (int64_t b = 0; b < l->batch && jx_run_lasts(run); b++)
        factor(l, jx_lapack_at(&outs[0], b, (int64_t)l->m * l->n),
               (int *)(void *)jx_lapack_at(&outs[1], b, l->n),
               jx_lapack_at(&outs[2], b, l->k), s + l->at[WORK],
               s + l->at[RWORK]);
    return true;
}

bool jx_lapack_geqp3(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                     jx_slot *outs)
{
    double dummy[64] = {0};
    int pivots[4] = {0};
    jx_slot slots[3];
    jx_lapack l;

    if (!jx_lapack_begin(p, &ins[0], "geqp3", "geqp3", &l))
        return false;
    if (ins[1].dtype != JX_I32 || ins[1].rank != ins[0].rank - 1 ||
        jx_slot_count(&ins[1]) != l.batch * l.n)
        return jx_plan_fail(p, "an int32 for each column is expected");
    if (l.k > 0)
        call_geqp3(&l, dummy, pivots, dummy, dummy, -1, dummy);
    l.lwork = larger(jx_lapack_work(&l, dummy), 3 * l.n + 1);
    jx_lapack_piece(&l, WORK, (size_t)l.lwork * l.item);
    jx_lapack_piece(&l, RWORK, 2 * (size_t)l.n * l.real);
    slots[0] = jx_lapack_copy(p, &l, &ins[0]);
    slots[1] = jx_lapack_vector(p, JX_I32, &ins[0], l.n);
    slots[2] = jx_lapack_vector(p, l.dtype, &ins[0], l.k);
    jx_plan_copy(p, &ins[1], &slots[1]);
    return jx_lapack_end(p, eqn, run_geqp3, &l, 0, NULL, 3, slots, 3, outs);
}

/* ---- hessenberg ---- */

static int call_gehrd(const jx_lapack *l, void *a, void *tau, void *work,
                      int lwork)
{
    int info = 0;

    ((jx_gehrd_fn *)l->fn)(&l->n, &l->low, &l->high, a, &l->n, tau, work,
                           &lwork, &info);
    return info;
}

/* A reflector is applied from both sides: to all rows of what
 * is right of it. */
static void keep_nan_hessenberg(const jx_lapack *l, char *a, char *tau)
{
    int j = jx_lapack_first_nan(l, tau, 1, l->n - 2);

    if (j >= l->n - 2)
        return;
    jx_lapack_nan_block(l, a, j + 2, l->high, j, j + 1);
    jx_lapack_nan_block(l, a, 0, l->high, j + 1, l->n);
    jx_lapack_nan(l->dtype, tau + (size_t)j * l->item, l->high - 2 - j);
}

static bool run_hessenberg(jx_run *run, const void *data, const jx_view *ins,
                           const jx_view *outs, void *scratch)
{
    const jx_lapack *l = data;
    int64_t size = (int64_t)l->n * l->n;

    (void)ins;
    for (int64_t b = 0; b < l->batch && jx_run_lasts(run); b++) {
        char *a = jx_lapack_at(&outs[0], b, size);
        char *tau = jx_lapack_at(&outs[1], b, l->n - 1);
        int info = call_gehrd(l, a, tau, scratch, l->lwork);
        keep_nan_hessenberg(l, a, tau);
        if (!jx_lapack_tell(l, outs, b, info) && info != 0) {
            jx_lapack_nan(l->dtype, a, size);
            jx_lapack_nan(l->dtype, tau, l->n - 1);
        }
    }
    return true;
}

static bool plan_gehrd(jx_planner *p, const jx_eqn *eqn, const jx_slot *in,
                       int64_t low, int64_t high, int info, jx_slot *outs)
{
    double dummy[64] = {0};
    jx_lapack l;

    if (!jx_lapack_begin(p, in, "gehrd", "gehrd", &l))
        return false;
    if (l.m != l.n || l.n == 0)
        return jx_plan_fail(p, "a square matrix that is not empty is expected");
    if (low < 1 || high < low || high > l.n)
        return jx_plan_fail(p, "rows %lld to %lld of %d", (long long)low,
                            (long long)high, l.n);
    l.low = (int)low, l.high = (int)high, l.info = info;
    call_gehrd(&l, dummy, dummy, dummy, -1);
    l.lwork = larger(jx_lapack_work(&l, dummy), l.n);
    jx_lapack_piece(&l, 0, (size_t)l.lwork * l.item);
    jx_slot slots[3] = {jx_lapack_copy(p, &l, in),
                        jx_lapack_vector(p, l.dtype, in, l.n - 1),
                        jx_lapack_infos(p, in)};
    return jx_lapack_end(p, eqn, run_hessenberg, &l, 0, NULL, 2 + (info > 0),
                         slots, 2 + (info > 0), outs);
}

bool jx_plan_hessenberg(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                        jx_slot *outs)
{
    int64_t n = ins[0].rank ? ins[0].shape[ins[0].rank - 1] : 0;

    return plan_gehrd(p, eqn, &ins[0], 1, n, 0, outs);
}

bool jx_lapack_gehrd(jx_planner *p, const jx_eqn *eqn, const jx_slot *in,
                     int64_t low, int64_t high, jx_slot *outs)
{
    return plan_gehrd(p, eqn, in, low, high, 2, outs);
}

/* ---- tridiagonal ---- */

static int call_sytrd(const jx_lapack *l, void *a, void *d, void *e, void *tau,
                      void *work, int lwork)
{
    int info = 0;

    ((jx_sytrd_fn *)l->fn)(l->lower ? "L" : "U", &l->n, a, &l->n, d, e, tau,
                           work, &lwork, &info, 1);
    return info;
}

/* What reflectors were applied to is NaN all the same, they are not. */
static void keep_nan_tridiagonal(const jx_lapack *l, char *a, const char *tau)
{
    for (int j = 0; j < l->n - 1; j++) {
        if (jx_lapack_first_nan(l, tau + (size_t)j * l->item, 1, 1))
            continue;
        if (l->lower)
            jx_lapack_nan_block(l, a, j + 2, l->n, j, j + 1);
        else
            jx_lapack_nan_block(l, a, 0, j, j + 1, j + 2);
    }
}

static bool run_tridiagonal(jx_run *run, const void *data, const jx_view *ins,
                            const jx_view *outs, void *scratch)
{
    const jx_lapack *l = data;

    (void)ins;
    for (int64_t b = 0; b < l->batch && jx_run_lasts(run); b++) {
        int64_t sizes[4] = {(int64_t)l->n * l->n, l->n, l->n - 1, l->n - 1};
        char *at[4];
        for (int i = 0; i < 4; i++)
            at[i] = jx_lapack_at(&outs[i], b, sizes[i]);
        int info = call_sytrd(l, at[0], at[1], at[2], at[3], scratch, l->lwork);
        keep_nan_tridiagonal(l, at[0], at[3]);
        if (jx_lapack_tell(l, outs, b, info) || info == 0)
            continue;
        for (int i = 0; i < 4; i++)
            jx_lapack_nan(outs[i].dtype, at[i], sizes[i]);
    }
    return true;
}

static bool plan_sytrd(jx_planner *p, const jx_eqn *eqn, const jx_slot *in,
                       bool lower, int info, jx_slot *outs)
{
    double dummy[64] = {0};
    jx_lapack l;

    if (!jx_lapack_begin(p, in, "sytrd", "hetrd", &l))
        return false;
    if (l.m != l.n || l.n == 0)
        return jx_plan_fail(p, "a square matrix that is not empty is expected");
    l.lower = lower, l.info = info;
    call_sytrd(&l, dummy, dummy, dummy, dummy, dummy, -1);
    l.lwork = larger(jx_lapack_work(&l, dummy), l.n);
    jx_lapack_piece(&l, 0, (size_t)l.lwork * l.item);
    jx_dtype real = jx_dtype_real(l.dtype);
    jx_slot slots[5] = {
        jx_lapack_copy(p, &l, in), jx_lapack_vector(p, real, in, l.n),
        jx_lapack_vector(p, real, in, l.n - 1),
        jx_lapack_vector(p, l.dtype, in, l.n - 1), jx_lapack_infos(p, in)};
    return jx_lapack_end(p, eqn, run_tridiagonal, &l, 0, NULL, 4 + (info > 0),
                         slots, 4 + (info > 0), outs);
}

bool jx_plan_tridiagonal(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                         jx_slot *outs)
{
    const jx_p_tridiagonal *params = eqn->typed;

    return plan_sytrd(p, eqn, &ins[0], params->lower, 0, outs);
}

bool jx_lapack_sytrd(jx_planner *p, const jx_eqn *eqn, const jx_slot *in,
                     bool lower, jx_slot *outs)
{
    return plan_sytrd(p, eqn, in, lower, 4, outs);
}
