/* dot.c - dot_general as a batch of matrix products.
 *
 * The axes of an operand fall into three groups: batch, free, contracting.  If
 * the free and the contracting group each have one stride and one of the two is
 * contiguous, the operand is used where it lies (BLAS takes a transpose);
 * otherwise it is copied once into that form. */
#include "frontend/ir/dot_algorithm.h"
#include "runtime/kernels/gemm.h"
#include "runtime/plan_rules.h"
#include "runtime/run.h"

#include <limits.h>
#include <string.h>

typedef struct dot {
    jx_gemm gemm;
    int64_t m, n, k, lda, ldb;
    bool ta, tb;
    int nbatch;
    int64_t sizes[JX_MAX_RANK];               /* of the batch */
    int64_t sa[JX_MAX_RANK], sb[JX_MAX_RANK]; /* in bytes */
    int64_t count;                            /* of the products */
    bool shared; /* each is done by one of the run's threads */
} dot;

/* Shared from so many multiplications on. */
enum { SHARED_WORK = 1 << 20 };

typedef struct job {
    jx_run *run;
    const dot *d;
    const char *a, *b;
    char *c;
} job;

static void run_products(const void *data, int64_t from, int64_t to, int worker)
{
    const job *j = data;
    const dot *d = j->d;
    int64_t at[JX_MAX_RANK] = {0}, rest = from;
    const char *a = j->a, *b = j->b;
    size_t size = (size_t)(d->m * d->n) * jx_dtype_of(d->gemm.dtype)->bytes;

    (void)worker;
    for (int i = d->nbatch - 1; i >= 0; i--) {
        at[i] = rest % d->sizes[i];
        a += d->sa[i] * at[i], b += d->sb[i] * at[i];
        rest /= d->sizes[i];
    }
    for (; from < to && jx_run_lasts(j->run); from++) {
        jx_gemm_run(j->run, &d->gemm, d->m, d->n, d->k,
                    (jx_matrix){a, d->lda, d->ta},
                    (jx_matrix){b, d->ldb, d->tb}, false,
                    j->c + (size_t)from * size, d->n);
        for (int i = d->nbatch - 1; i >= 0; i--) {
            a += d->sa[i], b += d->sb[i];
            if (++at[i] < d->sizes[i])
                break;
            a -= d->sa[i] * at[i], b -= d->sb[i] * at[i];
            at[i] = 0;
        }
    }
}

static bool run_dot(jx_run *run, const void *data, const jx_view *ins,
                    const jx_view *outs, void *scratch)
{
    const dot *d = data;
    job j = {run, d, ins[0].data, ins[1].data, outs[0].data};

    (void)scratch;
    jx_pool_share(d->shared ? jx_run_pool(run) : NULL, run_products, &j,
                  d->count);
    return true;
}

/* An operand with its axes in the order batch, then two groups. */
typedef struct operand {
    jx_slot slot;
    int nbatch, nrows, ncols;
    int64_t rows, cols;
    int64_t ld;
    bool transposed;
} operand;

/* The axes of `slot` in this order (a permutation). */
static jx_slot permuted(const jx_slot *slot, const int *axes)
{
    jx_slot to = *slot;

    for (int i = 0; i < slot->rank; i++) {
        to.shape[i] = slot->shape[axes[i]];
        to.strides[i] = slot->strides[axes[i]];
    }
    return to;
}

static int append(int *axes, int count, const jx_ints *more)
{
    for (int i = 0; i < more->count; i++)
        axes[count++] = (int)more->at[i];
    return count;
}

static int append_rest(int *axes, int count, int rank)
{
    int named = count;

    for (int axis = 0; axis < rank; axis++) {
        bool seen = false;
        for (int i = 0; i < named; i++)
            seen |= axes[i] == axis;
        if (!seen)
            axes[count++] = axis;
    }
    return count;
}

/* One stride for `count` axes from `first`; false if they have several. */
static bool one_stride(const jx_slot *slot, int first, int count, int64_t *size,
                       int64_t *stride)
{
    bool any = false, one = true;
    int64_t next = 0;

    *size = 1, *stride = 0;
    for (int i = first + count - 1; i >= first; i--) {
        int64_t n = slot->shape[i];
        *size *= n;
        if (n == 1)
            continue;
        if (!any)
            *stride = slot->strides[i];
        else if (slot->strides[i] != next)
            one = false;
        next = slot->strides[i] * n;
        any = true;
    }
    return one;
}

/* Whether BLAS can read it in place, and how. */
static bool in_place(operand *o)
{
    int64_t bytes = (int64_t)jx_dtype_of(o->slot.dtype)->bytes;
    int64_t row, col;
    bool one = one_stride(&o->slot, o->nbatch, o->nrows, &o->rows, &row);

    one &= one_stride(&o->slot, o->nbatch + o->nrows, o->ncols, &o->cols, &col);
    if (!one || o->rows == 0 || o->cols == 0)
        return false;
    if (o->rows == 1)
        row = o->cols * bytes;
    if (o->cols == 1)
        col = bytes;
    if (col == bytes && row % bytes == 0 && row >= o->cols * bytes) {
        o->ld = row / bytes;
        o->transposed = false;
        return o->ld <= INT_MAX;
    }
    if (o->cols == 1)
        col = o->rows * bytes;
    if (o->rows == 1)
        row = bytes;
    o->ld = col / bytes;
    o->transposed = true;
    return row == bytes && col % bytes == 0 && col >= o->rows * bytes &&
           o->ld <= INT_MAX && jx_dtype_is_inexact(o->slot.dtype);
}

static void copy_dense(jx_planner *p, operand *o)
{
    o->slot = jx_plan_dense(p, &o->slot);
    o->ld = o->cols > 0 ? o->cols : 1;
    o->transposed = false;
}

static operand prepare(jx_planner *p, const jx_slot *in, jx_dtype dtype,
                       const jx_ints *batch, const jx_ints *contracting,
                       bool contracting_last)
{
    operand o = {0};
    int axes[JX_MAX_RANK], order[JX_MAX_RANK], n;
    jx_slot slot = jx_plan_converted(p, in, dtype);
    int nfree = slot.rank - batch->count - contracting->count;

    o.nbatch = batch->count;
    o.nrows = contracting_last ? nfree : contracting->count;
    o.ncols = contracting_last ? contracting->count : nfree;
    n = append(axes, 0, batch);
    n = append(axes, n, contracting);
    append_rest(axes, n, slot.rank);
    memcpy(order, axes, sizeof order);
    if (contracting_last)
        for (int i = 0; i < nfree + contracting->count; i++)
            order[o.nbatch + i] =
                axes[o.nbatch +
                     (i < nfree ? contracting->count + i : i - nfree)];
    o.slot = permuted(&slot, order);
    if (!in_place(&o))
        copy_dense(p, &o);
    return o;
}

/* Products that are summed up to `count` sums. */
static int64_t products(int64_t count, const jx_slot *lhs,
                        const jx_dot_dims *dims)
{
    int64_t n = count;

    for (int i = 0; i < dims->lhs_contracting.count; i++)
        if (__builtin_mul_overflow(n, lhs->shape[dims->lhs_contracting.at[i]],
                                   &n))
            return INT64_MAX;
    return n;
}

/* Axes that exist, each named once. */
static bool named_once(const jx_slot *slot, const jx_ints *batch,
                       const jx_ints *contracting)
{
    uint64_t seen = 0;

    for (int i = 0; i < batch->count + contracting->count; i++) {
        int64_t axis =
            i < batch->count ? batch->at[i] : contracting->at[i - batch->count];
        if (axis < 0 || axis >= slot->rank || seen >> axis & 1)
            return false;
        seen |= (uint64_t)1 << axis;
    }
    return true;
}

static bool same_sizes(const jx_slot *a, const jx_ints *as, const jx_slot *b,
                       const jx_ints *bs)
{
    if (as->count != bs->count)
        return false;
    for (int i = 0; i < as->count; i++)
        if (a->shape[as->at[i]] != b->shape[bs->at[i]])
            return false;
    return true;
}

static bool fit(const jx_slot *a, const jx_slot *b, const jx_dot_dims *dims)
{
    return named_once(a, &dims->lhs_batch, &dims->lhs_contracting) &&
           named_once(b, &dims->rhs_batch, &dims->rhs_contracting) &&
           same_sizes(a, &dims->lhs_batch, b, &dims->rhs_batch) &&
           same_sizes(a, &dims->lhs_contracting, b, &dims->rhs_contracting);
}

/* What an algorithm makes of the operands, and the dtype of their product.  XLA
 * computes the same for all of them on a CPU, and JAX refuses those that it
 * would compute as something else. */
static bool apply_algorithm(jx_planner *p, const jx_value *precision,
                            jx_slot *ins, jx_dtype *product)
{
    jx_dot_algorithm a;

    if (!jx_names_algorithm(precision) || jx_plan_domain(p) != JX_DECLARED)
        return true;
    if (!jx_dot_algorithm_of(precision, ins[0].dtype, ins[1].dtype, *product,
                             &a))
        return jx_plan_fail(p, "the algorithm is not one that JAX has for "
                               "these operands");
    if (!a.on_cpu)
        return jx_plan_fail(p,
                            "the algorithm %s is not one that JAX has on a "
                            "CPU",
                            a.name);
    if (ins[0].dtype != a.lhs)
        ins[0] = jx_plan_convert(p, &ins[0], a.lhs);
    if (ins[1].dtype != a.rhs)
        ins[1] = jx_plan_convert(p, &ins[1], a.rhs);
    *product = a.product;
    return true;
}

/* A slot whose axes are batch, first, second: batch, second, first. */
static jx_slot exchanged(const jx_slot *slot, int nbatch, int nfirst,
                         int nsecond)
{
    int axes[JX_MAX_RANK];

    for (int i = 0; i < nbatch; i++)
        axes[i] = i;
    for (int i = 0; i < nsecond; i++)
        axes[nbatch + i] = nbatch + nfirst + i;
    for (int i = 0; i < nfirst; i++)
        axes[nbatch + nsecond + i] = nbatch + i;
    return permuted(slot, axes);
}

/* Whether the result is only there to be transposed, as that of the derivative
 * by a matrix of weights is: then it is made as it is read, or what reads it,
 * element by element, jumps from row to row. */
static bool is_turned(const jx_planner *p, const jx_eqn *eqn, int nbatch,
                      int nrows, int ncols)
{
    const jx_eqn *user = jx_plan_only_user(p, eqn);
    const jx_p_transpose *params =
        user && user->prim->id == JX_PRIM_transpose ? user->typed : NULL;

    if (!params || params->permutation.count != nbatch + nrows + ncols)
        return false;
    for (int i = 0; i < params->permutation.count; i++) {
        int from = i < nbatch ? i : i < nbatch + ncols ? i + nrows : i - ncols;
        if (params->permutation.at[i] != from)
            return false;
    }
    return nrows > 0 && ncols > 0;
}

/* (a b)' = b' a'; `out` is in the order in which it is then written. */
static void turn(dot *d, operand *a, operand *b, jx_slot *out)
{
    dot from = *d;
    operand left = *b, right = *a;

    d->m = from.n, d->n = from.m;
    d->lda = from.ldb, d->ldb = from.lda;
    d->ta = !from.tb, d->tb = !from.ta;
    memcpy(d->sa, from.sb, sizeof d->sa);
    memcpy(d->sb, from.sa, sizeof d->sb);
    *out = exchanged(out, a->nbatch, a->nrows, b->ncols);
    *a = left, *b = right;
}

bool jx_plan_dot_general(jx_planner *p, const jx_eqn *eqn,
                         const jx_slot *operands, jx_slot *outs)
{
    const jx_p_dot_general *params = eqn->typed;
    const jx_dot_dims *dims = &params->dimension_numbers;
    jx_slot declared = jx_plan_output(p, eqn, 0), out = declared;
    jx_slot ins[2] = {operands[0], operands[1]};

    if (!apply_algorithm(p, params->precision, ins, &out.dtype))
        return false;
    if (out.dtype != declared.dtype)
        out = jx_plan_new(p, out.dtype, out.rank, out.shape);
    if (!fit(&ins[0], &ins[1], dims))
        return jx_plan_fail(p, "the operands do not have the axes that the "
                               "dimension numbers say");
    int64_t all = products(jx_slot_count(&out), &ins[0], dims);
    bool in_order = jx_gemm_in_order(all, products(1, &ins[0], dims));
    jx_dtype dtype =
        jx_gemm_dtype(out.dtype, ins[0].dtype, ins[1].dtype, all, in_order);
    operand a = prepare(p, &ins[0], dtype, &dims->lhs_batch,
                        &dims->lhs_contracting, true);
    operand b = prepare(p, &ins[1], dtype, &dims->rhs_batch,
                        &dims->rhs_contracting, false);
    dot d = {.m = a.rows,
             .n = b.cols,
             .k = a.cols,
             .lda = a.ld,
             .ldb = b.ld,
             .ta = a.transposed,
             .tb = b.transposed,
             .nbatch = a.nbatch};

    for (int i = 0; i < a.nbatch; i++) {
        d.sizes[i] = a.slot.shape[i];
        d.sa[i] = a.slot.strides[i];
        d.sb[i] = b.slot.strides[i];
    }
    d.count = 1;
    for (int i = 0; i < d.nbatch; i++)
        d.count *= d.sizes[i];
    if (jx_slot_count(&out) != d.count * d.m * d.n)
        return jx_plan_fail(p, "the result is declared in another shape");
    /* A few large products share their rows. */
    d.shared = d.count > 1 && all >= SHARED_WORK &&
               (d.count >= 8 || all / d.count < jx_gemm_shared);
    bool turned = !jx_gemm_is_own(dtype, in_order) &&
                  is_turned(p, eqn, a.nbatch, a.nrows, b.ncols);
    if (turned)
        turn(&d, &a, &b, &out);
    const jx_matrix of[] = {{NULL, d.lda, d.ta}, {NULL, d.ldb, d.tb}};
    if (!jx_gemm_plan(p, dtype, d.m, d.n, d.k, in_order, of, &d.gemm))
        return false;
    jx_slot wide = turned || out.dtype != dtype
                       ? jx_plan_new(p, dtype, out.rank, out.shape)
                       : out;
    if (jx_slot_count(&out) > 0)
        jx_plan_op(p, run_dot, &d, sizeof d, 2, (jx_slot[]){a.slot, b.slot}, 1,
                   &wide, 0);
    out = out.dtype == dtype ? wide : jx_plan_convert(p, &wide, out.dtype);
    outs[0] = out.dtype == declared.dtype
                  ? out
                  : jx_plan_convert(p, &out, declared.dtype);
    if (turned) /* a is what b was */
        outs[0] = exchanged(&outs[0], a.nbatch, a.ncols, b.nrows);
    return true;
}
