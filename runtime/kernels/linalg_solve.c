/* linalg_solve.c - cholesky, lu, triangular and tridiagonal systems. */
#include "runtime/kernels/lapack.h"

#include <string.h>

/* ---- cholesky ----
 *
 * The lower triangle of a row-major matrix is the upper one of LAPACK's; with
 * A' = U^H U there, L = U^T.  So nothing is transposed.  As in JAX the other
 * triangle is left as it was. */
static bool run_cholesky(jx_run *run, const void *data, const jx_view *ins,
                         const jx_view *outs, void *scratch)
{
    const jx_lapack *l = data;
    int64_t size = (int64_t)l->n * l->n;

    (void)ins, (void)scratch;
    for (int64_t b = 0; b < l->batch && jx_run_lasts(run); b++) {
        char *a = jx_lapack_at(&outs[0], b, size);
        int info = 0;
        if (l->n > 0) /* or it complains on the terminal */
            ((jx_potrf_fn *)l->fn)(l->lower ? "U" : "L", &l->n, a, &l->n, &info,
                                   1);
        if (!jx_lapack_tell(l, outs, b, info) && info != 0)
            jx_lapack_nan(l->dtype, a, size);
    }
    return true;
}

static bool plan_cholesky(jx_planner *p, const jx_eqn *eqn, const jx_slot *in,
                          bool lower, int info, jx_slot *outs)
{
    jx_slot slots[2];
    jx_lapack l;

    if (!jx_lapack_begin(p, in, "potrf", "potrf", &l))
        return false;
    if (l.m != l.n)
        return jx_plan_fail(p, "a square matrix is expected");
    l.lower = lower, l.info = info;
    jx_slot from = jx_plan_convert(p, in, l.dtype);
    slots[0] = jx_plan_new(p, l.dtype, from.rank, from.shape);
    slots[1] = jx_lapack_infos(p, in);
    jx_plan_copy(p, &from, &slots[0]);
    return jx_lapack_end(p, eqn, run_cholesky, &l, 0, NULL, 1 + (info > 0),
                         slots, 1 + (info > 0), outs);
}

bool jx_plan_cholesky(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                      jx_slot *outs)
{
    return plan_cholesky(p, eqn, &ins[0], true, 0, outs);
}

bool jx_lapack_potrf(jx_planner *p, const jx_eqn *eqn, const jx_slot *in,
                     bool lower, jx_slot *outs)
{
    return plan_cholesky(p, eqn, in, lower, 1, outs);
}

/* ---- lu ---- */

/* From row exchanges, one after the other, to the order of the rows. */
static void exchange(int32_t *order, int64_t n, const int32_t *pivots,
                     int64_t k)
{
    for (int64_t i = 0; i < n; i++)
        order[i] = (int32_t)i;
    for (int64_t i = 0; i < k && i < n; i++) {
        int32_t with = pivots[i];
        if (with < 0 || with >= n)
            continue;
        int32_t t = order[i];
        order[i] = order[with], order[with] = t;
    }
}

static bool run_lu(jx_run *run, const void *data, const jx_view *ins,
                   const jx_view *outs, void *scratch)
{
    const jx_lapack *l = data;
    int64_t size = (int64_t)l->m * l->n;

    (void)ins, (void)scratch;
    for (int64_t b = 0; b < l->batch && jx_run_lasts(run); b++) {
        char *a = jx_lapack_at(&outs[0], b, size);
        int32_t *pivots = (int32_t *)(void *)jx_lapack_at(&outs[1], b, l->k);
        int32_t *order =
            l->info ? NULL : (int32_t *)(void *)jx_lapack_at(&outs[2], b, l->m);
        int info = 0;
        if (l->k > 0)
            ((jx_getrf_fn *)l->fn)(&l->m, &l->n, a, &l->m, pivots, &info);
        if (jx_lapack_tell(l, outs, b, info))
            continue;
        if (info < 0)
            jx_lapack_nan(l->dtype, a, size);
        for (int i = 0; i < l->k; i++)
            pivots[i]--;
        exchange(order, l->m, pivots, l->k);
    }
    return true;
}

/* Pivots count from 1. */
bool jx_lapack_getrf(jx_planner *p, const jx_eqn *eqn, const jx_slot *in,
                     jx_slot *outs)
{
    jx_lapack l;

    if (!jx_lapack_begin(p, in, "getrf", "getrf", &l))
        return false;
    l.info = 2;
    jx_slot slots[3] = {jx_lapack_copy(p, &l, in),
                        jx_lapack_vector(p, JX_I32, in, l.k),
                        jx_lapack_infos(p, in)};
    return jx_lapack_end(p, eqn, run_lu, &l, 0, NULL, 3, slots, 3, outs);
}

bool jx_plan_lu(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                jx_slot *outs)
{
    jx_lapack l;

    if (!jx_lapack_begin(p, &ins[0], "getrf", "getrf", &l))
        return false;
    jx_slot slots[3] = {jx_lapack_copy(p, &l, &ins[0]),
                        jx_lapack_vector(p, JX_I32, &ins[0], l.k),
                        jx_lapack_vector(p, JX_I32, &ins[0], l.m)};
    return jx_lapack_end(p, eqn, run_lu, &l, 0, NULL, 3, slots, 3, outs);
}

static bool run_lu_pivots(jx_run *run, const void *data, const jx_view *ins,
                          const jx_view *outs, void *scratch)
{
    int64_t k = ins[0].shape[ins[0].rank - 1];
    int64_t n = outs[0].shape[outs[0].rank - 1];
    const int32_t *pivots = (const int32_t *)(const void *)ins[0].data;
    int32_t *order = (int32_t *)(void *)outs[0].data;

    (void)run, (void)data, (void)scratch;
    for (int64_t done = 0; done < outs[0].count; done += n) {
        exchange(order, n, pivots, k);
        order += n, pivots += k;
    }
    return true;
}

bool jx_plan_lu_pivots(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                       jx_slot *outs)
{
    jx_slot pivots = jx_plan_convert(p, &ins[0], JX_I32);

    pivots = jx_plan_dense(p, &pivots);
    outs[0] = jx_plan_output(p, eqn, 0);
    if (pivots.rank < 1 || outs[0].dtype != JX_I32 ||
        outs[0].rank != pivots.rank ||
        memcmp(outs[0].shape, pivots.shape,
               (size_t)(pivots.rank - 1) * sizeof(int64_t)))
        return jx_plan_fail(p, "pivots in int32 are expected");
    if (jx_slot_count(&outs[0]) > 0)
        jx_plan_op(p, run_lu_pivots, NULL, 0, 1, &pivots, 1, outs, 0);
    return true;
}

/* ---- triangular_solve ----
 *
 * Both arrays stay row-major.  Read as column-major they are transposed, and
 * op(A) X = B becomes X' op(A') = B': the side and the triangle change, the
 * operation does not. */
static void conjugate(jx_dtype dtype, void *data, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (dtype == JX_C64)
            ((float *)data)[2 * i + 1] *= -1;
        else
            ((double *)data)[2 * i + 1] *= -1;
}

static bool run_triangular(jx_run *run, const void *data, const jx_view *ins,
                           const jx_view *outs, void *scratch)
{
    static const double one64[2] = {1, 0};
    static const float one32[2] = {1, 0};
    const jx_lapack *l = data;
    const void *one = l->real == 8 ? (const void *)one64 : one32;
    int order = l->left ? l->m : l->n; /* of A; B is m by n */
    int64_t size = (int64_t)order * order;
    bool plain = l->conjugated && !l->transposed && l->is_complex;
    const char *trans = !l->transposed ? "N" : l->conjugated ? "C" : "T";

    for (int64_t b = 0; b < l->batch && jx_run_lasts(run); b++) {
        const void *a = jx_lapack_at(&ins[0], b, size);
        if (plain) {
            memcpy(scratch, a, (size_t)size * l->item);
            conjugate(l->dtype, scratch, size);
            a = scratch;
        }
        ((jx_trsm_fn *)l->fn)(l->left ? "R" : "L", l->lower ? "U" : "L", trans,
                              l->unit ? "U" : "N", &l->n, &l->m, one, a, &order,
                              jx_lapack_at(&outs[0], b, (int64_t)l->m * l->n),
                              &l->n, 1, 1, 1, 1);
    }
    return true;
}

bool jx_lapack_trsm(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                    const jx_p_triangular_solve *params, jx_slot *outs)
{
    jx_lapack l;

    if (!jx_lapack_begin(p, &ins[1], "trsm", "trsm", &l))
        return false;
    l.left = params->left_side, l.lower = params->lower;
    l.transposed = params->transpose_a, l.conjugated = params->conjugate_a;
    l.unit = params->unit_diagonal;
    int64_t order = l.left ? l.m : l.n;
    const jx_slot *a = &ins[0];
    if (a->rank != ins[1].rank || jx_slot_count(a) != l.batch * order * order ||
        a->shape[a->rank - 1] != order || a->shape[a->rank - 2] != order)
        return jx_plan_fail(p,
                            "the matrix has to be %lld by %lld, one for "
                            "each right-hand side",
                            (long long)order, (long long)order);
    if (l.is_complex)
        jx_lapack_piece(&l, 0, (size_t)(order * order) * l.item);
    jx_slot matrix = jx_plan_convert(p, a, l.dtype);
    matrix = jx_plan_dense(p, &matrix);
    jx_slot from = jx_plan_convert(p, &ins[1], l.dtype);
    jx_slot to = jx_plan_new(p, l.dtype, from.rank, from.shape);
    jx_plan_copy(p, &from, &to);
    return jx_lapack_end(p, eqn, run_triangular, &l, 1, &matrix, 1, &to, 1,
                         outs);
}

bool jx_plan_triangular_solve(jx_planner *p, const jx_eqn *eqn,
                              const jx_slot *ins, jx_slot *outs)
{
    return jx_lapack_trsm(p, eqn, ins, eqn->typed, outs);
}

/* ---- tridiagonal_solve ---- */

static bool run_tridiagonal(jx_run *run, const void *data, const jx_view *ins,
                            const jx_view *outs, void *scratch)
{
    const jx_lapack *l = data;
    size_t bytes = (size_t)l->m * l->item;
    char *s = scratch;

    for (int64_t b = 0; b < l->batch && jx_run_lasts(run); b++) {
        char *x = jx_lapack_at(&outs[0], b, (int64_t)l->m * l->n);
        int info = 0;
        for (int i = 0; i < 3; i++)
            memcpy(s + l->at[i], jx_lapack_at(&ins[i], b, l->m), bytes);
        /* The lower diagonal begins with an element that is none. */
        ((jx_gtsv_fn *)l->fn)(&l->m, &l->n, s + l->at[0] + l->item,
                              s + l->at[1], s + l->at[2], x, &l->m, &info);
        if (info != 0)
            jx_lapack_nan(l->dtype, x, (int64_t)l->m * l->n);
    }
    return true;
}

bool jx_plan_tridiagonal_solve(jx_planner *p, const jx_eqn *eqn,
                               const jx_slot *ins, jx_slot *outs)
{
    const jx_p_tridiagonal_solve *params = eqn->typed;
    jx_slot diagonals[3];
    jx_lapack l;

    if (!jx_lapack_begin(p, &ins[3], "gtsv", "gtsv", &l))
        return false;
    if (params->perturb_singular)
        return jx_plan_fail(p, "perturb_singular can't be run");
    for (int i = 0; i < 3; i++) {
        if (ins[i].rank != ins[3].rank - 1 ||
            jx_slot_count(&ins[i]) != l.batch * l.m)
            return jx_plan_fail(p, "each diagonal has %d elements", l.m);
        diagonals[i] = jx_plan_convert(p, &ins[i], l.dtype);
        diagonals[i] = jx_plan_dense(p, &diagonals[i]);
        /* One more, so that the lower one may begin one further on. */
        jx_lapack_piece(&l, i, (size_t)(l.m + 1) * l.item);
    }
    jx_slot to = jx_lapack_copy(p, &l, &ins[3]);
    return jx_lapack_end(p, eqn, run_tridiagonal, &l, 3, diagonals, 1, &to, 1,
                         outs);
}

/* Everything in place: the diagonals become the factors. */
static bool run_gtsv(jx_run *run, const void *data, const jx_view *ins,
                     const jx_view *outs, void *scratch)
{
    const jx_lapack *l = data;

    (void)ins, (void)scratch;
    for (int64_t b = 0; b < l->batch && jx_run_lasts(run); b++) {
        char *d[3], *x = jx_lapack_at(&outs[3], b, (int64_t)l->m * l->n);
        int info = 0;
        for (int i = 0; i < 3; i++)
            d[i] = jx_lapack_at(&outs[i], b, l->m);
        if (l->m > 0)
            ((jx_gtsv_fn *)l->fn)(&l->m, &l->n,
                                  l->m > 1 ? d[0] + l->item : d[0], d[1], d[2],
                                  x, &l->m, &info);
        if (!jx_lapack_tell(l, outs, b, info) && info != 0)
            jx_lapack_nan(l->dtype, x, (int64_t)l->m * l->n);
    }
    return true;
}

bool jx_lapack_gtsv(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                    bool alone, jx_slot *outs)
{
    jx_slot slots[5];
    jx_lapack l;

    if (!jx_lapack_begin(p, &ins[3], "gtsv", "gtsv", &l))
        return false;
    if (eqn->nouts != (alone ? 1 : 5))
        return jx_plan_fail(p, "%d results are expected, not %d", alone ? 1 : 5,
                            eqn->nouts);
    l.info = alone ? 0 : 4;
    for (int i = 0; i < 3; i++) {
        if (ins[i].rank != ins[3].rank - 1 ||
            jx_slot_count(&ins[i]) != l.batch * l.m)
            return jx_plan_fail(p, "each diagonal has %d elements", l.m);
        jx_slot from = jx_plan_convert(p, &ins[i], l.dtype);
        slots[i] = jx_plan_new(p, l.dtype, from.rank, from.shape);
        jx_plan_copy(p, &from, &slots[i]);
    }
    slots[3] = jx_lapack_copy(p, &l, &ins[3]);
    slots[4] = jx_lapack_infos(p, &ins[3]);
    jx_plan_op(p, run_gtsv, &l, sizeof l, 0, NULL, alone ? 4 : 5, slots, 0);
    return jx_lapack_give(p, eqn, eqn->nouts, alone ? &slots[3] : slots, outs);
}
