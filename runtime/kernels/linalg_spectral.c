/* linalg_spectral.c - svd, eigh, eig, schur.
 *
 * A matrix with NaN or infinity is not handed to LAPACK (some of its loops do
 * not end on one): its results are NaN. */
#include "runtime/elementwise.h"
#include "runtime/kernels/lapack.h"

#include <string.h>

/* Pieces of the scratch memory. */
enum { WORK, RWORK, IWORK, VALUES, LEFT, RIGHT };

/* What LAPACK says of a matrix with a NaN. */
enum { REFUSED = -4 };

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

    (void)ins;
    piece_at(l, scratch, WORK, &p.work);
    piece_at(l, scratch, RWORK, &p.rwork);
    piece_at(l, scratch, IWORK, &p.iwork);
    for (int64_t b = 0; b < l->batch && jx_run_lasts(run); b++) {
        p.a = jx_lapack_at(copy, b, (int64_t)l->m * l->n);
        p.s = jx_lapack_at(&outs[0], b, l->k);
        p.u = l->vectors ? jx_lapack_at(&outs[1], b, l->m * left) : p.work;
        p.vt = l->vectors ? jx_lapack_at(&outs[2], b, right * l->n) : p.work;
        if (l->k == 0) {
            jx_lapack_eye(l->dtype, p.u, l->m, left);
            jx_lapack_eye(l->dtype, p.vt, right, l->n);
            jx_lapack_tell(l, outs, b, 0);
            continue;
        }
        bool finite = jx_lapack_finite(l->dtype, p.a, (int64_t)l->m * l->n);
        int info = finite ? call_gesdd(l, &p) : REFUSED;
        jx_lapack_tell(l, outs, b, info);
        if (info == 0 || (l->info && finite))
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

/* The values, perhaps the vectors, and the copy that gesdd destroys; where it
 * is wanted, its answer. */
static bool plan_gesdd(jx_planner *p, const jx_slot *in, bool vectors,
                       bool full, bool answer, jx_slot *slots, int *count)
{
    double dummy[64] = {0};
    int idummy[64];
    jx_lapack l;

    if (!jx_lapack_begin(p, in, "gesdd", "gesdd", &l))
        return false;
    l.vectors = vectors;
    l.full = full;
    svd_parts parts = {dummy, dummy, dummy, dummy, dummy, dummy, idummy, -1};
    if (l.k > 0)
        call_gesdd(&l, &parts);
    l.lwork = larger(jx_lapack_work(&l, dummy), 1);
    jx_lapack_piece(&l, WORK, (size_t)l.lwork * l.item);
    jx_lapack_piece(&l, RWORK, svd_rwork(&l) * l.real);
    jx_lapack_piece(&l, IWORK, 8 * (size_t)l.k * sizeof(int));
    *count = l.vectors ? 3 : 1;
    slots[0] = jx_lapack_vector(p, jx_dtype_real(l.dtype), in, l.k);
    if (l.vectors) {
        slots[1] = jx_lapack_matrix(p, &l, in, l.m, l.full ? l.m : l.k);
        slots[2] = jx_lapack_matrix(p, &l, in, l.full ? l.n : l.k, l.n);
    }
    slots[*count] = jx_lapack_copy(p, &l, in);
    l.info = answer ? *count + 1 : 0;
    if (answer)
        slots[l.info] = jx_lapack_infos(p, in);
    jx_plan_op(p, run_svd, &l, sizeof l, 0, NULL, *count + 1 + answer, slots,
               l.scratch);
    return true;
}

bool jx_plan_svd(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                 jx_slot *outs)
{
    const jx_p_svd *params = eqn->typed;
    const jx_slot *in = &ins[0];
    jx_slot slots[5];
    int count;

    if (in->rank >= 2) {
        int64_t m = in->shape[in->rank - 2], n = in->shape[in->rank - 1];
        if (!whole(params->subset_by_index, m < n ? m : n))
            return jx_plan_fail(p, "a subset of the singular values can't be "
                                   "had on a CPU, in JAX neither");
    }
    return plan_gesdd(p, in, params->compute_uv, params->full_matrices, false,
                      slots, &count) &&
           jx_lapack_give(p, eqn, count, slots, outs);
}

/* V from V^H: the same memory with rows and columns exchanged, conjugated. */
static jx_slot plain_vectors(jx_planner *p, const jx_slot *vt)
{
    jx_slot v = *vt;
    int a = v.rank - 2, b = v.rank - 1;
    int64_t size = v.shape[a], stride = v.strides[a];

    v.shape[a] = v.shape[b], v.strides[a] = v.strides[b];
    v.shape[b] = size, v.strides[b] = stride;
    return jx_dtype_is_complex(v.dtype) ? jx_plan_conjugate(p, &v) : v;
}

bool jx_lapack_gesdd(jx_planner *p, const jx_eqn *eqn, const jx_slot *in,
                     const jx_svd_how *how, jx_slot *outs)
{
    jx_slot slots[5], all[5];
    int count;

    if (eqn->nouts != 5)
        return jx_plan_fail(p, "5 results are expected, not %d", eqn->nouts);
    if (!plan_gesdd(p, in, how->vectors, how->full, true, slots, &count))
        return false;
    all[0] = slots[count], all[1] = slots[0], all[4] = slots[count + 1];
    for (int i = 2; i < 4; i++)
        all[i] = how->vectors ? slots[how->swapped ? 4 - i : i - 1]
                              : jx_lapack_zeros(p, eqn, i);
    if (how->vectors && how->plain)
        all[3] = plain_vectors(p, &all[3]);
    return jx_lapack_give(p, eqn, 5, all, outs);
}

/* ---- eigh ---- */

static int call_syevd(const jx_lapack *l, void *a, void *w, void *work,
                      int lwork, void *rwork, int lrwork, int *iwork,
                      int liwork)
{
    const char *triangle = l->lower ? "L" : "U";
    const char *job = l->vectors ? "V" : "N";
    int info = 0;

    if (l->is_complex)
        ((jx_heevd_fn *)l->fn)(job, triangle, &l->n, a, &l->n, w, work, &lwork,
                               rwork, &lrwork, iwork, &liwork, &info, 1, 1);
    else
        ((jx_syevd_fn *)l->fn)(job, triangle, &l->n, a, &l->n, w, work, &lwork,
                               iwork, &liwork, &info, 1, 1);
    return info;
}

/* Of the triangle that is given: what the other one holds is not read. */
static bool is_finite(const jx_lapack *l, const char *a)
{
    for (int64_t j = 0; j < l->n; j++)
        if (!jx_lapack_finite(
                l->dtype, a + (size_t)(j * l->n + (l->lower ? j : 0)) * l->item,
                l->lower ? l->n - j : j + 1))
            return false;
    return true;
}

static bool run_eigh(jx_run *run, const void *data, const jx_view *ins,
                     const jx_view *outs, void *scratch)
{
    const jx_lapack *l = data;
    int64_t size = (int64_t)l->n * l->n;
    void *work, *rwork, *iwork;

    (void)ins;
    piece_at(l, scratch, WORK, &work);
    piece_at(l, scratch, RWORK, &rwork);
    piece_at(l, scratch, IWORK, &iwork);
    for (int64_t b = 0; b < l->batch && jx_run_lasts(run); b++) {
        char *a = jx_lapack_at(&outs[0], b, size);
        char *w = jx_lapack_at(&outs[1], b, l->n);
        bool finite = is_finite(l, a);
        int info = l->n == 0 ? 0
                   : finite  ? call_syevd(l, a, w, work, l->lwork, rwork,
                                          l->lrwork, iwork, l->liwork)
                             : REFUSED;
        jx_lapack_tell(l, outs, b, info);
        if (info == 0 || (l->info && finite))
            continue;
        jx_lapack_nan(l->dtype, a, size);
        jx_lapack_nan(outs[1].dtype, w, l->n);
    }
    return true;
}

static bool plan_syevd(jx_planner *p, const jx_eqn *eqn, const jx_slot *in,
                       bool lower, bool vectors, int info, jx_slot *outs)
{
    double dummy[64] = {0}, rdummy[64] = {0};
    int idummy[64] = {0};
    jx_lapack l;

    if (!jx_lapack_begin(p, in, "syevd", "heevd", &l))
        return false;
    if (l.m != l.n)
        return jx_plan_fail(p, "a square matrix is expected");
    l.lower = lower, l.vectors = vectors, l.info = info;
    if (l.n > 0)
        call_syevd(&l, dummy, dummy, dummy, -1, rdummy, -1, idummy, -1);
    l.lwork = larger(jx_lapack_work(&l, dummy), 1);
    l.lrwork = larger(jx_lapack_work(&l, rdummy), 1);
    l.liwork = larger(idummy[0], 1);
    jx_lapack_piece(&l, WORK, (size_t)l.lwork * l.item);
    jx_lapack_piece(&l, RWORK, l.is_complex ? (size_t)l.lrwork * l.real : 1);
    jx_lapack_piece(&l, IWORK, (size_t)l.liwork * sizeof(int));
    jx_slot slots[3] = {jx_lapack_copy(p, &l, in),
                        jx_lapack_vector(p, jx_dtype_real(l.dtype), in, l.n),
                        jx_lapack_infos(p, in)};
    return jx_lapack_end(p, eqn, run_eigh, &l, 0, NULL, 2 + (info > 0), slots,
                         2 + (info > 0), outs);
}

bool jx_plan_eigh(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                  jx_slot *outs)
{
    const jx_p_eigh *params = eqn->typed;
    int64_t n = ins[0].rank ? ins[0].shape[ins[0].rank - 1] : 0;

    if (!whole(params->subset_by_index, n))
        return jx_plan_fail(p, "a subset of the eigenvalues can't be had on a "
                               "CPU, in JAX neither");
    return jx_lapack_eigh(p, eqn, &ins[0], params->lower, outs);
}

bool jx_lapack_eigh(jx_planner *p, const jx_eqn *eqn, const jx_slot *in,
                    bool lower, jx_slot *outs)
{
    return plan_syevd(p, eqn, in, lower, true, 0, outs);
}

bool jx_lapack_syevd(jx_planner *p, const jx_eqn *eqn, const jx_slot *in,
                     bool lower, bool vectors, jx_slot *outs)
{
    return plan_syevd(p, eqn, in, lower, vectors, 2, outs);
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
#define UNPACK(name, real)                                                     \
    static void name(const real *w, const real *wi, const real *v, int n,      \
                     real *values, real *vectors)                              \
    {                                                                          \
        for (int j = 0; values && j < n; j++)                                  \
            values[2 * j] = w[j], values[2 * j + 1] = wi[j];                   \
        for (int j = 0; vectors && j < n; j++) {                               \
            bool first = wi[j] > 0 && j + 1 < n;                               \
            bool second = wi[j] < 0 && j > 0;                                  \
            const real *re = v + (ptrdiff_t)(second ? j - 1 : j) * n;          \
            for (int i = 0; i < n; i++) {                                      \
                real im = first || second ? re[n + i] : 0;                     \
                *vectors++ = re[i];                                            \
                *vectors++ = second ? -im : im;                                \
            }                                                                  \
        }                                                                      \
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
    bool finite = jx_lapack_finite(l->dtype, here.a, size);
    int info = l->n == 0 ? 0 : finite ? call_geev(l, &here) : REFUSED;
    jx_lapack_tell(l, outs, b, info);
    if (info != 0 && !(l->info && finite)) {
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

    (void)ins;
    piece_at(l, scratch, WORK, &p.work);
    piece_at(l, scratch, RWORK, &p.rwork);
    piece_at(l, scratch, VALUES, &p.w);
    p.wi = (char *)p.w + (size_t)l->n * l->real;
    piece_at(l, scratch, LEFT, &p.left);
    piece_at(l, scratch, RIGHT, &p.right);
    for (int64_t b = 0; b < l->batch && jx_run_lasts(run); b++)
        one_eig(l, &p, outs, b);
    return true;
}

/* The values, the vectors that are wanted, and the copy that geev destroys;
 * where it is wanted, its answer. */
static bool plan_geev(jx_planner *p, const jx_slot *in, bool left, bool right,
                      bool answer, jx_slot *slots)
{
    double dummy[64] = {0};
    jx_lapack l;
    int count = 1;

    if (!jx_lapack_begin(p, in, "geev", "geev", &l))
        return false;
    if (l.m != l.n)
        return jx_plan_fail(p, "a square matrix is expected");
    l.left = left;
    l.right = right;
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
    slots[0] = jx_lapack_vector(p, wide.dtype, in, l.n);
    for (int i = 0; i < l.left + l.right; i++)
        slots[count++] = jx_lapack_matrix(p, &wide, in, l.n, l.n);
    slots[count++] = jx_lapack_copy(p, &l, in);
    l.info = answer ? count : 0;
    if (answer)
        slots[count++] = jx_lapack_infos(p, in);
    jx_plan_op(p, run_eig, &l, sizeof l, 0, NULL, count, slots, l.scratch);
    return true;
}

bool jx_plan_eig(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                 jx_slot *outs)
{
    const jx_p_eig *params = eqn->typed;
    bool left = params->compute_left_eigenvectors;
    bool right = params->compute_right_eigenvectors;
    jx_slot slots[4];

    return plan_geev(p, &ins[0], left, right, false, slots) &&
           jx_lapack_give(p, eqn, 1 + left + right, slots, outs);
}

/* Of real matrices, real and imaginary parts of the values apart. */
bool jx_lapack_geev(jx_planner *p, const jx_eqn *eqn, const jx_slot *in,
                    bool left, bool right, jx_slot *outs)
{
    bool apart = !jx_dtype_is_complex(in->dtype);
    int count = 4 + apart, n = 0;
    jx_slot slots[5], all[5];

    if (eqn->nouts != count)
        return jx_plan_fail(p, "%d results are expected, not %d", count,
                            eqn->nouts);
    if (!plan_geev(p, in, left, right, true, slots))
        return false;
    all[n++] = slots[0];
    if (apart) {
        all[0] = jx_plan_part(p, &slots[0], false);
        all[n++] = jx_plan_part(p, &slots[0], true);
    }
    all[n] = left ? slots[1] : jx_lapack_zeros(p, eqn, n);
    n++;
    all[n] = right ? slots[1 + left] : jx_lapack_zeros(p, eqn, n);
    n++;
    all[n] = slots[2 + left + right];
    return jx_lapack_give(p, eqn, count, all, outs);
}

/* ---- schur ---- */

static int call_gees(const jx_lapack *l, void *a, void *w, void *wi, void *v,
                     void *work, int lwork, void *rwork)
{
    const char *vectors = l->vectors ? "V" : "N";
    int info = 0, sdim = 0, unused = 0;

    if (l->n == 0)
        return 0;

    if (l->is_complex)
        ((jx_gees_complex_fn *)l->fn)(vectors, "N", NULL, &l->n, a, &l->n,
                                      &sdim, w, v, &l->n, work, &lwork, rwork,
                                      &unused, &info, 1, 1);
    else
        ((jx_gees_fn *)l->fn)(vectors, "N", NULL, &l->n, a, &l->n, &sdim, w, wi,
                              v, &l->n, work, &lwork, &unused, &info, 1, 1);
    return info;
}

static bool run_schur(jx_run *run, const void *data, const jx_view *ins,
                      const jx_view *outs, void *scratch)
{
    const jx_lapack *l = data;
    int64_t size = (int64_t)l->n * l->n;
    char *s = scratch, *values = s + l->at[VALUES];

    (void)ins;
    for (int64_t b = 0; b < l->batch && jx_run_lasts(run); b++) {
        char *a = jx_lapack_at(&outs[0], b, size);
        char *v = l->vectors ? jx_lapack_at(&outs[1], b, size) : s;
        char *w = values, *wi = values + (size_t)l->n * l->item;
        if (l->info) {
            w = jx_lapack_at(&outs[1 + l->vectors], b, l->n);
            wi = l->is_complex ? w
                               : jx_lapack_at(&outs[2 + l->vectors], b, l->n);
        }
        bool finite = jx_lapack_finite(l->dtype, a, size);
        int info = finite ? call_gees(l, a, w, wi, v, s + l->at[WORK], l->lwork,
                                      s + l->at[RWORK])
                          : REFUSED;
        jx_lapack_tell(l, outs, b, info);
        if (info == 0 || (l->info && finite))
            continue;
        jx_lapack_nan(l->dtype, a, size);
        if (l->vectors)
            jx_lapack_nan(l->dtype, v, size);
    }
    return true;
}

/* The form, perhaps the vectors; where they are wanted, the values and LAPACK's
 * answer. */
static bool plan_gees(jx_planner *p, const jx_slot *in, bool vectors,
                      bool answer, jx_slot *slots)
{
    double dummy[64] = {0};
    jx_lapack l;

    if (!jx_lapack_begin(p, in, "gees", "gees", &l))
        return false;
    if (l.m != l.n)
        return jx_plan_fail(p, "a square matrix is expected");
    l.vectors = vectors;
    if (l.n > 0)
        call_gees(&l, dummy, dummy, dummy, dummy, dummy, -1, dummy);
    l.lwork = larger(jx_lapack_work(&l, dummy), 3 * l.n + 1);
    jx_lapack_piece(&l, WORK, (size_t)l.lwork * l.item);
    jx_lapack_piece(&l, RWORK, (size_t)l.n * l.real);
    jx_lapack_piece(&l, VALUES, 2 * (size_t)l.n * l.item);
    slots[0] = jx_lapack_copy(p, &l, in);
    int count = 1;
    if (l.vectors)
        slots[count++] = jx_lapack_matrix(p, &l, in, l.n, l.n);
    for (int i = 0; answer && i < 2 - l.is_complex; i++)
        slots[count++] = jx_lapack_vector(p, l.dtype, in, l.n);
    l.info = answer ? count : 0;
    if (answer)
        slots[count++] = jx_lapack_infos(p, in);
    jx_plan_op(p, run_schur, &l, sizeof l, 0, NULL, count, slots, l.scratch);
    return true;
}

bool jx_plan_schur(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                   jx_slot *outs)
{
    const jx_p_schur *params = eqn->typed;
    jx_slot slots[2];

    if (params->sort_eig_vals)
        return jx_plan_fail(p, "sorted Schur forms can't be had, in JAX "
                               "neither");
    return plan_gees(p, &ins[0], params->compute_schur_vectors, false, slots) &&
           jx_lapack_give(p, eqn, 1 + params->compute_schur_vectors, slots,
                          outs);
}

/* Form, vectors, values (of real matrices their parts apart), how many of them
 * were chosen (none), and the answer. */
bool jx_lapack_gees(jx_planner *p, const jx_eqn *eqn, const jx_slot *in,
                    bool vectors, jx_slot *outs)
{
    int parts = 2 - jx_dtype_is_complex(in->dtype), count = 4 + parts;
    jx_slot slots[5], all[6];

    if (eqn->nouts != count)
        return jx_plan_fail(p, "%d results are expected, not %d", count,
                            eqn->nouts);
    if (!plan_gees(p, in, vectors, true, slots))
        return false;
    all[0] = slots[0];
    all[1] = vectors ? slots[1] : jx_lapack_zeros(p, eqn, 1);
    for (int i = 0; i < parts; i++)
        all[2 + i] = slots[1 + vectors + i];
    all[2 + parts] = jx_lapack_zeros(p, eqn, 2 + parts);
    all[3 + parts] = slots[1 + vectors + parts];
    return jx_lapack_give(p, eqn, count, all, outs);
}
