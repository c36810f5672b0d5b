/* residues.c - what integers leave when they are divided by a number.
 *
 * 4 i + 2 leaves 2 by 4, whatever i is.  All that a value can be is r, or r and
 * a multiple of m; m = 0: it is r, m = 1: nothing is known. */
#include "analyzer/values/values_parts.h"

#include <math.h>

enum { MOST_DEEP = 12 };

#define MOST_MODULUS (INT64_C(1) << 30)

typedef struct residue {
    int64_t m, r;
} residue;

static int64_t divisor_of(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

static residue settled(int64_t m, int64_t r)
{
    const residue any = {1, 0};

    if (m > MOST_MODULUS || (!m && (r > MOST_MODULUS || r < -MOST_MODULUS)))
        return any;
    return (residue){m, m ? (r % m + m) % m : r};
}

static residue sum(residue a, residue b, int64_t sign)
{
    return settled(divisor_of(a.m, b.m), a.r + sign * b.r);
}

/* (r + m i) (s + n j) */
static residue product(residue a, residue b)
{
    int64_t m = divisor_of(a.m * b.m, divisor_of(a.m * b.r, b.m * a.r));

    return settled(m, a.r * b.r);
}

/* Whether sums and products of the equation are those of whole numbers. */
static bool is_exact(const jx_valuing *in, const jx_made *made)
{
    jx_extenting how = {.dtype = made->aval->dtype, .semantics = in->semantics};
    const jx_extent a = made->ins[0].is, b = made->ins[1].is;

    switch ((int)made->eqn->prim->id) {
    case JX_PRIM_add: jx_extent_add(&how, a, b); break;
    case JX_PRIM_sub: jx_extent_sub(&how, a, b); break;
    default: jx_extent_mul(&how, a, b); break;
    }
    return !how.wraps && !jx_extent_is_empty(a) && !jx_extent_is_empty(b);
}

static residue residue_of(const jx_valuing *in, const jx_known *value,
                          int depth)
{
    const jx_made *made = jx_valuing_made(in, value);
    const residue any = {1, 0};

    if (jx_extent_is_one(value->is) && fabs(value->is.lo) < 0x1p53)
        return settled(0, (int64_t)value->is.lo);
    if (!made->eqn || depth <= 0)
        return any;
    switch ((int)made->eqn->prim->id) {
    case JX_PRIM_broadcast_in_dim:
    case JX_PRIM_reshape:
    case JX_PRIM_squeeze:
    case JX_PRIM_transpose:
    case JX_PRIM_slice: return residue_of(in, &made->ins[0], depth - 1);
    case JX_PRIM_add:
    case JX_PRIM_sub:
    case JX_PRIM_mul: break;
    default: return any;
    }
    if (!jx_dtype_is_integer(made->aval->dtype) || !is_exact(in, made))
        return any;
    residue a = residue_of(in, &made->ins[0], depth - 1),
            b = residue_of(in, &made->ins[1], depth - 1);
    return made->eqn->prim->id == JX_PRIM_mul
               ? product(a, b)
               : sum(a, b, made->eqn->prim->id == JX_PRIM_add ? 1 : -1);
}

/* What a division of what is not negative leaves. */
void jx_relate_rem(const jx_bounding *t, jx_extent *is)
{
    jx_extent by = t->ins[1].is;
    residue of;
    double m, r;

    if (!jx_dtype_is_integer(t->eqn->outs[0]->aval->dtype) ||
        !jx_extent_is_one(by) || fabs(by.lo) > (double)MOST_MODULUS ||
        by.lo == 0 || t->ins[0].is.lo < 0 || is->lo > is->hi)
        return;
    of = residue_of(t->in, &t->ins[0], MOST_DEEP);
    m = (double)divisor_of(of.m, (int64_t)by.lo);
    r = (double)of.r - m * floor((double)of.r / m);
    if (r + m * ceil((is->lo - r) / m) <= is->hi) {
        is->lo = r + m * ceil((is->lo - r) / m);
        is->hi = r + m * floor((is->hi - r) / m);
    }
}
