/* linalg_spectral.c - svd, eigh, eig, schur.
 *
 * A matrix with NaN or infinity is not handed to LAPACK (some of its loops do
 * not end on one): its results are NaN. */
#include "runtime/kernels/lapack.h"

#include <string.h>

/* Pieces of the scratch memory. */
enum { WORK, RWORK, IWORK, VALUES, LEFT, RIGHT };

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static void piece_at(const jx_lapack *l, char *scratch, int i, void **to)
{
    *to = scratch + l->at[i];
}

/* ---- svd ---- */

typedef struct svd_parts {
    void *a, *s, *u, *vt, *work, *rwork, *iwork;
    int lwork;
} svd_parts;

static int call_gesdd(const jx_lapack *l, const svd_parts *p)
{
    const char *job = !l->vectors ? "N" : l->full ? "A" : "S";
    int ldvt = l->full ? l->n : l->k, info = 0;

    if (l->is_complex)
        ((jx_gesdd_complex_fn *)l->fn)(job, &l->m, &l->n, p->a, &l->m, p->s,
                                       p->u, &l->m, p->vt, &ldvt, p->work,
                                       &p->lwork, p->rwork, p->iwork, &info, 1);
    else
        ((jx_gesdd_fn *)l->fn)(job, &l->m, &l->n, p->a, &l->m, p->s, p->u,
                               &l->m, p->vt, &ldvt, p->work, &p->lwork,
                               p->iwork, &info, 1);
    return info;
}

static bool run_svd(jx_run *run, const void *data, const jx_view *ins,
                    const jx_view *outs, void *scratch)
{
    const jx_lapack *l = data;
    int64_t left = l->full ? l->m : l->k, right = l->full ? l->n : l->k;
    const jx_view *copy = &outs[l->vectors ? 3 : 1];
    svd_parts p = {.lwork = l->lwork};

    (void)run, (void)ins;
    piece_at(l, scratch, WORK, &p.work);
    piece_at(l, scratch, RWORK, &p.rwork);
    piece_at(l, scratch, IWORK, &p.iwork);
    for (int64_t b = 0; b < l->batch; b++) {
        p.a = jx_lapack_at(copy, b, (int64_t)l->m * l->n);
        p.s = jx_lapack_at(&outs[0], b, l->k);
        p.u = l->vectors ? jx_lapack_at(&outs[1], b, l->m * left) : p.work;
        p.vt = l->vectors ? jx_lapack_at(&outs[2], b, right * l->n) : p.work;
        if (l->k == 0) {
            jx_lapack_eye(l->dtype, p.u, l->m, left);
            jx_lapack_eye(l->dtype, p.vt, right, l->n);
            continue;
        }
        if (jx_lapack_finite(l->dtype, p.a, (int64_t)l->m * l->n) &&
            call_gesdd(l, &p) == 0)
            continue;
        jx_lapack_nan(outs[0].dtype, p.s, l->k);
        if (l->vectors) {
            jx_lapack_nan(l->dtype, p.u, l->m * left);
            jx_lapack_nan(l->dtype, p.vt, right * l->n);
        }
    }
    return true;
}

static size_t svd_rwork(const jx_lapack *l)
{
    size_t small = (size_t)l->k, large = (size_t)larger(l->m, l->n);

    if (!l->vectors)
        return 7 * small;
    size_t a = 5 * small * small + 5 * small;
    size_t b = 2 * large * small + 2 * small * small + small;
    return a > b ? a : b;
}

/* A subset may be given if it is everything. */
static bool whole(const jx_value *subset, int64_t count)
{
    return !subset || subset->tag == JX_V_NONE ||
           (subset->tag == JX_V_TUPLE && subset->count == 2 &&
            subset->items[0]->tag == JX_V_INT &&
            subset->items[0]->integer == 0 &&
            subset->items[1]->tag == JX_V_INT &&
            subset->items[1]->integer == count);
}

bool jx_plan_svd(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                 jx_slot *outs)
{
    const jx_p_svd *params = eqn->typed;
    double dummy[64] = {0};
    int idummy[64];
    jx_slot slots[4];
    jx_lapack l;

    if (!jx_lapack_begin(p, &ins[0], "gesdd", "gesdd", &l))
        return false;
    if (!whole(params->subset_by_index, l.k))
        return jx_plan_fail(p, "a subset of the singular values can't be had "
                               "on a CPU, in JAX neither");
    l.vectors = params->compute_uv;
    l.full = params->full_matrices;
    svd_parts parts = {dummy, dummy, dummy, dummy, dummy, dummy, idummy, -1};
    if (l.k > 0)
        call_gesdd(&l, &parts);
    l.lwork = larger(jx_lapack_work(&l, dummy), 1);
    jx_lapack_piece(&l, WORK, (size_t)l.lwork * l.item);
    jx_lapack_piece(&l, RWORK, svd_rwork(&l) * l.real);
    jx_lapack_piece(&l, IWORK, 8 * (size_t)l.k * sizeof(int));
    int count = l.vectors ? 3 : 1;
    slots[0] = jx_lapack_vector(p, jx_dtype_real(l.dtype), &ins[0], l.k);
    if (l.vectors) {
        slots[1] = jx_lapack_matrix(p, &l, &ins[0], l.m, l.full ? l.m : l.k);
        slots[2] = jx_lapack_matrix(p, &l, &ins[0], l.full ? l.n : l.k, l.n);
    }
    slots[count] = jx_lapack_copy(p, &l, &ins[0]);
    return jx_lapack_end(p, eqn, run_svd, &l, 0, NULL, count + 1, slots, count,
                         outs);
}

/* ---- eigh ---- */

static int call_syevd(const jx_lapack *l, void *a, void *w, void *work,
                      int lwork, void *rwork, int lrwork, int *iwork,
                      int liwork)
{
    const char *triangle = l->lower ? "L" : "U";
    int info = 0;

    if (l->is_complex)
        ((jx_heevd_fn *)l->fn)("V", triangle, &l->n, a, &l->n, w, work, &lwork,
                               rwork, &lrwork, iwork, &liwork, &info, 1, 1);
    else
        ((jx_syevd_fn *)l->fn)("V", triangle, &l->n, a, &l->n, w, work, &lwork,
                               iwork, &liwork, &info, 1, 1);
    return info;
}

static bool run_eigh(jx_run *run, const void *data, const jx_view *ins,
                     const jx_view *outs, void *scratch)
{
    const jx_lapack *l = data;
    int64_t size = (int64_t)l->n * l->n;
    void *work, *rwork, *iwork;

    (void)run, (void)ins;
    piece_at(l, scratch, WORK, &work);
    piece_at(l, scratch, RWORK, &rwork);
    piece_at(l, scratch, IWORK, &iwork);
    for (int64_t b = 0; b < l->batch; b++) {
        char *a = jx_lapack_at(&outs[0], b, size);
        char *w = jx_lapack_at(&outs[1], b, l->n);
        if (jx_lapack_finite(l->dtype, a, size) &&
            call_syevd(l, a, w, work, l->lwork, rwork, l->lrwork, iwork,
                       l->liwork) == 0)
            continue;
        jx_lapack_nan(l->dtype, a, size);
        jx_lapack_nan(outs[1].dtype, w, l->n);
    }
    return true;
}

bool jx_plan_eigh(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                  jx_slot *outs)
{
    const jx_p_eigh *params = eqn->typed;
    double dummy[64] = {0}, rdummy[64] = {0};
    int idummy[64] = {0};
    jx_lapack l;

    if (!jx_lapack_begin(p, &ins[0], "syevd", "heevd", &l))
        return false;
    if (l.m != l.n)
        return jx_plan_fail(p, "a square matrix is expected");
    if (!whole(params->subset_by_index, l.n))
        return jx_plan_fail(p, "a subset of the eigenvalues can't be had on a "
                               "CPU, in JAX neither");
    l.lower = params->lower;
    if (l.n > 0)
        call_syevd(&l, dummy, dummy, dummy, -1, rdummy, -1, idummy, -1);
    l.lwork = larger(jx_lapack_work(&l, dummy), 1);
    l.lrwork = larger(jx_lapack_work(&l, rdummy), 1);
    l.liwork = larger(idummy[0], 1);
    jx_lapack_piece(&l, WORK, (size_t)l.lwork * l.item);
    jx_lapack_piece(&l, RWORK, l.is_complex ? (size_t)l.lrwork * l.real : 1);
    jx_lapack_piece(&l, IWORK, (size_t)l.liwork * sizeof(int));
    jx_slot slots[2] = {
        jx_lapack_copy(p, &l, &ins[0]),
        jx_lapack_vector(p, jx_dtype_real(l.dtype), &ins[0], l.n)};
    return jx_lapack_end(p, eqn, run_eigh, &l, 0, NULL, 2, slots, 2, outs);
}

/* ---- eig ---- */

typedef struct eig_parts {
    void *a, *w, *wi, *left, *right, *work, *rwork;
    int lwork;
} eig_parts;

static int call_geev(const jx_lapack *l, const eig_parts *p)
{
    const char *left = l->left ? "V" : "N", *right = l->right ? "V" : "N";
    int info = 0;

    if (l->is_complex)
        ((jx_geev_complex_fn *)l->fn)(left, right, &l->n, p->a, &l->n, p->w,
                                      p->left, &l->n, p->right, &l->n, p->work,
                                      &p->lwork, p->rwork, &info, 1, 1);
    else
        ((jx_geev_fn *)l->fn)(left, right, &l->n, p->a, &l->n, p->w, p->wi,
                              p->left, &l->n, p->right, &l->n, p->work,
                              &p->lwork, &info, 1, 1);
    return info;
}

/* geev packs a conjugate pair's vectors into two real columns: the real and
 * the imaginary part of the first; the second is its conjugate. */
#define UNPACK(name, real)                                                    \
    static void name(const real *w, const real *wi, const real *v, int n,     \
                     real *values, real *vectors)                             \
    {                                                                         \
        for (int j = 0; values && j < n; j++)                                 \
            values[2 * j] = w[j], values[2 * j + 1] = wi[j];                  \
        for (int j = 0; vectors && j < n; j++) {                              \
            bool first = wi[j] > 0 && j + 1 < n;                              \
            bool second = wi[j] < 0 && j > 0;                                 \
            const real *re = v + (ptrdiff_t)(second ? j - 1 : j) * n;         \
            for (int i = 0; i < n; i++) {                                     \
                real im = first || second ? re[n + i] : 0;                    \
                *vectors++ = re[i];                                           \
                *vectors++ = second ? -im : im;                               \
            }                                                                 \
        }                                                                     \
    }

UNPACK(unpack32, float)
UNPACK(unpack64, double)

static void unpack(const jx_lapack *l, const eig_parts *p, const void *v,
                   void *values, void *vectors)
{
    if (l->real == 4)
        unpack32(p->w, p->wi, v, l->n, values, vectors);
    else
        unpack64(p->w, p->wi, v, l->n, values, vectors);
}

/* The outputs are values, left and right vectors (those that are wanted), and
 * last the copy that geev destroys. */
static void one_eig(const jx_lapack *l, eig_parts *p, const jx_view *outs,
                    int64_t b)
{
    int64_t size = (int64_t)l->n * l->n;
    int count = 1 + l->left + l->right;
    char *values = jx_lapack_at(&outs[0], b, l->n);
    char *left = l->left ? jx_lapack_at(&outs[1], b, size) : NULL;
    char *right = l->right ? jx_lapack_at(&outs[1 + l->left], b, size) : NULL;
    eig_parts here = *p;

    here.a = jx_lapack_at(&outs[count], b, size);
    if (l->is_complex) {
        here.w = values;
        here.left = l->left ? left : p->work;
        here.right = l->right ? right : p->work;
    }
    if (!jx_lapack_finite(l->dtype, here.a, size) || call_geev(l, &here) != 0) {
        for (int i = 0; i < count; i++)
            jx_lapack_nan(outs[i].dtype,
                          jx_lapack_at(&outs[i], b, i ? size : l->n),
                          i ? size : l->n);
        return;
    }
    if (l->is_complex)
        return;
    unpack(l, p, NULL, values, NULL);
    unpack(l, p, p->left, NULL, left);
    unpack(l, p, p->right, NULL, right);
}

static bool run_eig(jx_run *run, const void *data, const jx_view *ins,
                    const jx_view *outs, void *scratch)
{
    const jx_lapack *l = data;
    eig_parts p = {.lwork = l->lwork};

    (void)run, (void)ins;
    piece_at(l, scratch, WORK, &p.work);
    piece_at(l, scratch, RWORK, &p.rwork);
    piece_at(l, scratch, VALUES, &p.w);
    p.wi = (char *)p.w + (size_t)l->n * l->real;
    piece_at(l, scratch, LEFT, &p.left);
    piece_at(l, scratch, RIGHT, &p.right);
    for (int64_t b = 0; b < l->batch; b++)
        one_eig(l, &p, outs, b);
    return true;
}

bool jx_plan_eig(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                 jx_slot *outs)
{
    const jx_p_eig *params = eqn->typed;
    double dummy[64] = {0};
    jx_slot slots[4];
    jx_lapack l;
    int count = 1;

    if (!jx_lapack_begin(p, &ins[0], "geev", "geev", &l))
        return false;
    if (l.m != l.n)
        return jx_plan_fail(p, "a square matrix is expected");
    l.left = params->compute_left_eigenvectors;
    l.right = params->compute_right_eigenvectors;
    eig_parts parts = {dummy, dummy, dummy, dummy, dummy, dummy, dummy, -1};
    if (l.n > 0)
        call_geev(&l, &parts);
    l.lwork = larger(jx_lapack_work(&l, dummy), 4 * l.n + 1);
    size_t matrix = (size_t)l.n * (size_t)l.n * l.item;
    jx_lapack_piece(&l, WORK, (size_t)l.lwork * l.item);
    jx_lapack_piece(&l, RWORK, 2 * (size_t)l.n * l.real);
    jx_lapack_piece(&l, VALUES, 2 * (size_t)l.n * l.real);
    jx_lapack_piece(&l, LEFT, l.left && !l.is_complex ? matrix : 1);
    jx_lapack_piece(&l, RIGHT, l.right && !l.is_complex ? matrix : 1);
    jx_lapack wide = l;
    wide.dtype = l.real == 8 ? JX_C128 : JX_C64;
    slots[0] = jx_lapack_vector(p, wide.dtype, &ins[0], l.n);
    for (int i = 0; i < l.left + l.right; i++)
        slots[count++] = jx_lapack_matrix(p, &wide, &ins[0], l.n, l.n);
    slots[count] = jx_lapack_copy(p, &l, &ins[0]);
    return jx_lapack_end(p, eqn, run_eig, &l, 0, NULL, count + 1, slots, count,
                         outs);
}

/* ---- schur ---- */

static int call_gees(const jx_lapack *l, void *a, void *w, void *wi, void *v,
                     void *work, int lwork, void *rwork)
{
    const char *vectors = l->vectors ? "V" : "N";
    int info = 0, sdim = 0, unused = 0;

    if (l->is_complex)
        ((jx_gees_complex_fn *)l->fn)(vectors, "N", NULL, &l->n, a, &l->n,
                                      &sdim, w, v, &l->n, work, &lwork, rwork,
                                      &unused, &info, 1, 1);
    else
        ((jx_gees_fn *)l->fn)(vectors, "N", NULL, &l->n, a, &l->n, &sdim, w,
                              wi, v, &l->n, work, &lwork, &unused, &info, 1,
                              1);
    return info;
}

static bool run_schur(jx_run *run, const void *data, const jx_view *ins,
                      const jx_view *outs, void *scratch)
{
    const jx_lapack *l = data;
    int64_t size = (int64_t)l->n * l->n;
    char *s = scratch, *values = s + l->at[VALUES];

    (void)run, (void)ins;
    for (int64_t b = 0; b < l->batch; b++) {
        char *a = jx_lapack_at(&outs[0], b, size);
        char *v = l->vectors ? jx_lapack_at(&outs[1], b, size) : s;
        if (jx_lapack_finite(l->dtype, a, size) &&
            call_gees(l, a, values, values + (size_t)l->n * l->item, v,
                      s + l->at[WORK], l->lwork, s + l->at[RWORK]) == 0)
            continue;
        jx_lapack_nan(l->dtype, a, size);
        if (l->vectors)
            jx_lapack_nan(l->dtype, v, size);
    }
    return true;
}

bool jx_plan_schur(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                   jx_slot *outs)
{
    const jx_p_schur *params = eqn->typed;
    double dummy[64] = {0};
    jx_slot slots[2];
    jx_lapack l;

    if (!jx_lapack_begin(p, &ins[0], "gees", "gees", &l))
        return false;
    if (l.m != l.n)
        return jx_plan_fail(p, "a square matrix is expected");
    if (params->sort_eig_vals)
        return jx_plan_fail(p, "sorted Schur forms can't be had, in JAX "
                               "neither");
    l.vectors = params->compute_schur_vectors;
    if (l.n > 0)
        call_gees(&l, dummy, dummy, dummy, dummy, dummy, -1, dummy);
    l.lwork = larger(jx_lapack_work(&l, dummy), 3 * l.n + 1);
    jx_lapack_piece(&l, WORK, (size_t)l.lwork * l.item);
    jx_lapack_piece(&l, RWORK, (size_t)l.n * l.real);
    jx_lapack_piece(&l, VALUES, 2 * (size_t)l.n * l.item);
    slots[0] = jx_lapack_copy(p, &l, &ins[0]);
    int count = 1;
    if (l.vectors)
        slots[count++] = jx_lapack_matrix(p, &l, &ins[0], l.n, l.n);
    return jx_lapack_end(p, eqn, run_schur, &l, 0, NULL, count, slots, count,
                         outs);
}
