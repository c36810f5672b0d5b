/* field_sums.c - see field.h: reductions and contractions. */
#include "frontend/ir/params.h"
#include "runtime/field/field.h"

#include <stdlib.h>
#include <string.h>

/* ---- reductions along axes */

/* The number of the result that element i of an array goes to, its
 * axes `axes` gone. */
static int64_t result_of(const jx_field_value *x, const jx_ints *axes,
                         int64_t i)
{
    int64_t to = 0, step = 1;

    for (int a = x->rank - 1; a >= 0; a--) {
        int64_t at = x->shape[a] ? i % x->shape[a] : 0;
        i = x->shape[a] ? i / x->shape[a] : 0;
        if (jx_ints_hold(*axes, a))
            continue;
        to += at * step;
        step *= x->shape[a];
    }
    return to;
}

static int by_value(const void *left, const void *right)
{
    const jx_cell *a = left, *b = right;

    return a->v < b->v ? -1 : a->v > b->v ? 1 : a->w < b->w ? -1 : a->w > b->w;
}

/* The largest of some is a function of which nothing is known, but that it asks
 * for no order and for no number twice. */
static jx_cell largest(jx_field *f, jx_prim_id id, int64_t n, jx_cell *of)
{
    const jx_cell **each = JX_NEW_ARRAY(f->room, n + 1, const jx_cell *);
    jx_cell to;
    int64_t kept = 0;

    if (f->sets_of_most && each) {
        for (int64_t i = 0; i < n; i++)
            each[i] = &of[i];
        return jx_cell_most(f, id == JX_PRIM_reduce_max, n, each);
    }
    if (!each || n > 1 << 12)
        return jx_cell_unknown(f, "a maximum of too many");
    qsort(of, (size_t)n, sizeof *of, by_value);
    for (int64_t i = 0; i < n; i++)
        if (!kept || !jx_cell_same(each[kept - 1], &of[i]))
            each[kept++] = &of[i];
    to = kept == 1 ? *each[0]
                   : jx_cell_opaque(f, (uint64_t)id, false, (int)kept, each);
    for (int64_t i = 0; i < n; i++)
        to = jx_cell_depends(f, to, &of[i]);
    return to;
}

static bool reduce_largest(jx_field *f, jx_prim_id id, const jx_field_value *x,
                           const jx_ints *axes, jx_field_value *out)
{
    int64_t each = out->count ? x->count / out->count : 0;
    jx_cell *all = JX_NEW_ARRAY(f->room, x->count + 1, jx_cell);
    int64_t *filled = JX_NEW_ARRAY(f->room, out->count + 1, int64_t);

    if (!all || !filled || !each)
        return false;
    for (int64_t i = 0; i < x->count; i++) {
        int64_t to = result_of(x, axes, i);
        all[to * each + filled[to]++] = x->cells[i];
    }
    for (int64_t i = 0; i < out->count; i++)
        out->cells[i] = largest(f, id, each, all + i * each);
    return true;
}

static jx_cell join(jx_field *f, jx_prim_id id, const jx_cell *a,
                    const jx_cell *b)
{
    jx_cell na, nb;

    switch (id) {
    case JX_PRIM_reduce_sum: return jx_cell_add(f, a, b);
    case JX_PRIM_reduce_prod: return jx_cell_mul(f, a, b);
    case JX_PRIM_reduce_and: return jx_cell_and(f, a, b);
    default:
        na = jx_cell_not(f, a);
        nb = jx_cell_not(f, b);
        na = jx_cell_and(f, &na, &nb);
        return jx_cell_not(f, &na);
    }
}

static bool reduce(jx_field *f, jx_prim_id id, const jx_field_value *x,
                   const jx_ints *axes, jx_field_value *out)
{
    if (id == JX_PRIM_reduce_max || id == JX_PRIM_reduce_min)
        return reduce_largest(f, id, x, axes, out);
    for (int64_t i = 0; i < out->count; i++)
        out->cells[i] = out->dtype == JX_BOOL
                            ? jx_cell_bool(id == JX_PRIM_reduce_and)
                            : jx_cell_integer(f, id == JX_PRIM_reduce_prod);
    for (int64_t i = 0; i < x->count; i++) {
        jx_cell *to = &out->cells[result_of(x, axes, i)];
        *to = join(f, id, to, &x->cells[i]);
    }
    return true;
}

static bool accumulate(jx_field *f, const jx_eqn *eqn, const jx_field_value *x,
                       jx_field_value *out)
{
    const jx_p_cumulative *p = eqn->typed;
    int64_t inner = 1, length;

    if (p->axis < 0 || p->axis >= x->rank)
        return false;
    length = x->shape[p->axis];
    for (int a = (int)p->axis + 1; a < x->rank; a++)
        inner *= x->shape[a];
    for (int64_t i = 0; i < x->count; i++) {
        int64_t place = i / inner % length;
        int64_t at = p->reverse ? i + (length - 1 - 2 * place) * inner : i;
        out->cells[at] = x->cells[at];
        if (place)
            out->cells[at] = join(
                f,
                eqn->prim->id == JX_PRIM_cumsum ? JX_PRIM_reduce_sum
                                                : JX_PRIM_reduce_prod,
                &out->cells[at + (p->reverse ? inner : -inner)], &x->cells[at]);
    }
    return true;
}

/* ---- dot_general */

static void take_side(const jx_field_value *x, const jx_ints *batch,
                      const jx_ints *inner, jx_contracted *to)
{
    int64_t steps[33] = {0};

    for (int64_t a = x->rank - 1, step = 1; a >= 0; step *= x->shape[a--])
        steps[a] = step;
    to->nfree = 0;
    for (int i = 0; i < batch->count; i++)
        to->batch[i] = steps[batch->at[i]];
    for (int i = 0; i < inner->count; i++)
        to->inner[i] = steps[inner->at[i]];
    for (int a = 0; a < x->rank; a++) {
        if (jx_ints_hold(*batch, a) || jx_ints_hold(*inner, a))
            continue;
        to->sizes[to->nfree] = x->shape[a];
        to->free[to->nfree++] = steps[a];
    }
}

/* Where the n-th combination of indices lies, and the next number. */
static int64_t place(int rank, const int64_t *sizes, const int64_t *steps,
                     int64_t *n)
{
    int64_t to = 0;

    for (int a = rank - 1; a >= 0; a--) {
        to += *n % sizes[a] * steps[a];
        *n /= sizes[a];
    }
    return to;
}

bool jx_contraction_of(const jx_eqn *eqn, const jx_field_value *ins,
                       jx_contraction *to)
{
    const jx_dot_dims *d =
        &((const jx_p_dot_general *)eqn->typed)->dimension_numbers;

    if (ins[0].rank > 31 || ins[1].rank > 31)
        return false;
    take_side(&ins[0], &d->lhs_batch, &d->lhs_contracting, &to->left);
    take_side(&ins[1], &d->rhs_batch, &d->rhs_contracting, &to->right);
    to->nbatches = d->lhs_batch.count;
    to->ninners = d->lhs_contracting.count;
    to->count = 1;
    for (int i = 0; i < to->nbatches; i++)
        to->batches[i] = ins[0].shape[d->lhs_batch.at[i]];
    for (int i = 0; i < to->ninners; i++)
        to->count *= to->inners[i] = ins[0].shape[d->lhs_contracting.at[i]];
    return true;
}

void jx_contraction_row(const jx_contraction *c, int64_t i, int64_t *a,
                        int64_t *b)
{
    int64_t n = i, m;

    *b = place(c->right.nfree, c->right.sizes, c->right.free, &n);
    *a = place(c->left.nfree, c->left.sizes, c->left.free, &n);
    m = n;
    *a += place(c->nbatches, c->batches, c->left.batch, &n);
    *b += place(c->nbatches, c->batches, c->right.batch, &m);
}

void jx_contraction_factors(const jx_contraction *c, int64_t k, int64_t *a,
                            int64_t *b)
{
    int64_t r = k, s = k;

    *a += place(c->ninners, c->inners, c->left.inner, &r);
    *b += place(c->ninners, c->inners, c->right.inner, &s);
}

static bool contract(jx_field *f, const jx_eqn *eqn, const jx_field_value *ins,
                     jx_field_value *out)
{
    jx_contraction c;

    if (!jx_contraction_of(eqn, ins, &c))
        return false;
    for (int64_t i = 0; f->sketches && i < out->count; i++)
        out->cells[i] = jx_cell_any(f, (uint64_t)f->work++);
    for (int64_t i = 0; !f->sketches && i < out->count && !f->spent; i++) {
        int64_t row, column;
        jx_cell sum = jx_cell_integer(f, 0);
        jx_contraction_row(&c, i, &row, &column);
        for (int64_t k = 0; k < c.count; k++) {
            int64_t a = row, b = column;
            jx_contraction_factors(&c, k, &a, &b);
            jx_cell product =
                jx_cell_mul(f, &ins[0].cells[a], &ins[1].cells[b]);
            sum = jx_cell_add(f, &sum, &product);
        }
        out->cells[i] = sum;
    }
    return true;
}

bool jx_field_is_sum(jx_prim_id id)
{
    switch (id) {
    case JX_PRIM_reduce_sum:
    case JX_PRIM_reduce_prod:
    case JX_PRIM_reduce_max:
    case JX_PRIM_reduce_min:
    case JX_PRIM_reduce_and:
    case JX_PRIM_reduce_or:
    case JX_PRIM_cumsum:
    case JX_PRIM_cumprod:
    case JX_PRIM_dot_general: return true;
    default: return false;
    }
}

bool jx_field_sums(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                   const jx_field_value *ins, jx_field_value *outs)
{
    jx_prim_id id = eqn->prim->id;

    if (!jx_field_is_sum(id) || !ins[0].cells)
        return false;
    if (id == JX_PRIM_dot_general)
        return ins[1].cells && ins[0].dtype != JX_BOOL &&
               ins[1].dtype != JX_BOOL &&
               jx_field_room(f, program, eqn->outs[0]->aval, &outs[0]) &&
               outs[0].cells && contract(f, eqn, ins, &outs[0]);
    if (!jx_field_room(f, program, eqn->outs[0]->aval, &outs[0]) ||
        !outs[0].cells)
        return false;
    return id == JX_PRIM_cumsum || id == JX_PRIM_cumprod
               ? accumulate(f, eqn, &ins[0], &outs[0])
               : reduce(f, id, &ins[0], &((const jx_p_axes *)eqn->typed)->axes,
                        &outs[0]);
}
