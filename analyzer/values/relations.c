/* relations.c - what values are to each other, by their numbers.
 *
 * x - max(x) is at most 0, and 0 somewhere along the maximum's axes; e / sum(e)
 * is at most 1 where nothing is negative; sum(x) / n lies where x does.  These
 * hold as written.  XLA may compute an operand twice, once with its product
 * unrounded: what is the same value here is then off by some ULPs, and so is
 * what is said of them. */
#include "analyzer/values/values_parts.h"

#include <math.h>

/* -- what repeats what ----------------------------------------------------- */

static bool is_one(const jx_dim *dim)
{
    int64_t size;

    return jx_dim_is_int(dim, &size) && size == 1;
}

/* The axes of a reshape that only adds or leaves out axes of size 1. */
static bool reshape_axes(const jx_aval *from, const jx_aval *to,
                         const int *axes, int *out)
{
    int k = 0;

    for (int i = 0; i < to->rank; i++) {
        out[i] = -1;
        if (is_one(to->shape[i]))
            continue;
        while (k < from->rank && is_one(from->shape[k]))
            k++;
        if (k >= from->rank || from->shape[k] != to->shape[i])
            return false;
        out[i] = axes[k++];
    }
    while (k < from->rank && is_one(from->shape[k]))
        k++;
    return k == from->rank;
}

static bool broadcast_axes(const jx_eqn *eqn, const int *axes, int *out)
{
    const jx_p_broadcast_in_dim *p = eqn->typed;
    const jx_aval *from = jx_atom_aval(eqn->ins[0]), *to = eqn->outs[0]->aval;

    for (int i = 0; i < to->rank; i++)
        out[i] = -1;
    for (int i = 0; i < from->rank && i < p->broadcast_dimensions.count; i++) {
        int64_t at = p->broadcast_dimensions.at[i];
        if (at < 0 || at >= to->rank)
            return false;
        if (from->shape[i] == to->shape[at])
            out[at] = axes[i];
    }
    return true;
}

/* Numbers of what is repeated are followed first, then the axes
 * on the way back. */
static int base_of(const jx_valuing *in, const jx_known *value, int *axes,
                   int depth)
{
    const jx_made *made = jx_valuing_made(in, value);
    const jx_eqn *eqn = made->eqn;
    int of[JX_MAX_AXES], base;
    bool through =
        eqn && depth > 0 && eqn->typed && made->aval->rank <= JX_MAX_AXES &&
        (eqn->prim->id == JX_PRIM_broadcast_in_dim ||
         eqn->prim->id == JX_PRIM_reshape || eqn->prim->id == JX_PRIM_squeeze ||
         eqn->prim->id == JX_PRIM_expand_dims) &&
        jx_atom_aval(eqn->ins[0])->rank <= JX_MAX_AXES;

    if (through) {
        base = base_of(in, &made->ins[0], of, depth - 1);
        if (eqn->prim->id == JX_PRIM_broadcast_in_dim
                ? broadcast_axes(eqn, of, axes)
                : reshape_axes(jx_atom_aval(eqn->ins[0]), made->aval, of, axes))
            return base;
    }
    for (int i = 0; i < made->aval->rank && i < JX_MAX_AXES; i++)
        axes[i] = i;
    return value->number;
}

int jx_relate_base(const jx_valuing *in, const jx_known *value, int *axes)
{
    return base_of(in, value, axes, 8);
}

/* What is at least as large as what it adds to, or is the greater of: *value
 * becomes that, and the axes those of that. */
static bool at_least(const jx_valuing *in, jx_known *value, int *axes, int rank)
{
    const jx_made *made = jx_valuing_made(in, value);
    int within[JX_MAX_AXES];

    if (!made->eqn || (made->eqn->prim->id != JX_PRIM_add &&
                       made->eqn->prim->id != JX_PRIM_max))
        return false;
    for (int i = 0; i < 2; i++) {
        const jx_extent other = made->ins[1 - i].is;
        jx_known base = made->ins[i];
        if (made->eqn->prim->id == JX_PRIM_add &&
            !(other.lo >= 0 && !other.nan))
            continue;
        base.number = jx_relate_base(in, &made->ins[i], within);
        made = jx_valuing_made(in, &base);
        if (!made->eqn || made->eqn->prim->id != JX_PRIM_reduce_sum) {
            made = jx_valuing_made(in, value);
            continue;
        }
        for (int k = 0; k < rank; k++)
            axes[k] = axes[k] < 0 ? -1 : within[axes[k]];
        *value = base;
        return true;
    }
    return false;
}

/* Whether a value repeats the reduction of x over axes (a bit each) along
 * these; or, of a sum, is no less. */
static bool repeats_reduction(const jx_bounding *t, const jx_known *x,
                              const jx_known *y, jx_prim_id reduction,
                              jx_known *operand, uint64_t *over)
{
    const jx_aval *aval = jx_valuing_made(t->in, x)->aval;
    int axes[JX_MAX_AXES], kept[JX_MAX_AXES], nkept = 0;
    jx_known over_y = *y;
    const jx_made *base;
    const jx_p_axes *p;

    if (aval->rank > JX_MAX_AXES)
        return false;
    if (jx_valuing_made(t->in, y)->aval->rank == 0) {
        int none[JX_MAX_AXES];
        over_y.number = jx_relate_base(t->in, y, none);
        for (int i = 0; i < aval->rank; i++)
            axes[i] = -1; /* one number beside all elements */
    } else if (jx_valuing_made(t->in, y)->aval->rank != aval->rank) {
        return false;
    } else {
        over_y.number = jx_relate_base(t->in, y, axes);
    }
    if (reduction == JX_PRIM_reduce_sum)
        at_least(t->in, &over_y, axes, aval->rank);
    base = jx_valuing_made(t->in, &over_y);
    if (!base->eqn || base->eqn->prim->id != reduction || !base->eqn->typed)
        return false;
    *operand = base->ins[0];
    if (!jx_aval_same_shape(jx_valuing_made(t->in, operand)->aval, aval))
        return false;
    p = base->eqn->typed;
    *over = 0;
    for (int i = 0; i < aval->rank; i++)
        if (jx_ints_hold(p->axes, i))
            *over |= (uint64_t)1 << i;
        else
            kept[nkept++] = i;
    for (int i = 0; i < aval->rank; i++) {
        bool reduced = *over >> i & 1;
        if (axes[i] < 0 ? !reduced && !is_one(aval->shape[i])
                        : axes[i] >= nkept || kept[axes[i]] != i)
            return false;
    }
    return true;
}

/* Whether a value is the same bits wherever XLA computes it: it comes from
 * outside, from where it is kept (a product of matrices), or by what rounds
 * alike in every fusion. */
static bool is_steady(const jx_valuing *in, const jx_known *value, int depth)
{
    const jx_made *made = jx_valuing_made(in, value);

    if (!made->eqn)
        return true;
    switch ((int)made->eqn->prim->id) {
    case JX_PRIM_dot_general:
    case JX_PRIM_conv_general_dilated:
    case JX_PRIM_sort: return true;
    case JX_PRIM_cummax:
    case JX_PRIM_cummin:
    case JX_PRIM_add:
    case JX_PRIM_sub:
    case JX_PRIM_max:
    case JX_PRIM_min:
    case JX_PRIM_neg:
    case JX_PRIM_abs:
    case JX_PRIM_select_n:
    case JX_PRIM_clamp:
    case JX_PRIM_concatenate:
    case JX_PRIM_pad:
    case JX_PRIM_broadcast_in_dim:
    case JX_PRIM_reshape:
    case JX_PRIM_transpose:
    case JX_PRIM_squeeze:
    case JX_PRIM_expand_dims:
    case JX_PRIM_slice:
    case JX_PRIM_rev:
    case JX_PRIM_reduce_max:
    case JX_PRIM_reduce_min:
    case JX_PRIM_eq:
    case JX_PRIM_ne:
    case JX_PRIM_lt:
    case JX_PRIM_le:
    case JX_PRIM_gt:
    case JX_PRIM_ge:
    case JX_PRIM_and:
    case JX_PRIM_or:
    case JX_PRIM_not:
    case JX_PRIM_iota: break;
    case JX_PRIM_convert_element_type:
        if (jx_dtype_is_float(made->aval->dtype) &&
            jx_dtype_is_float(jx_atom_aval(made->eqn->ins[0])->dtype))
            return false; /* 16 bits may stay 32 */
        break;
    default: return false;
    }
    for (int i = 0; i < made->eqn->nins; i++)
        if (depth <= 0 || !is_steady(in, &made->ins[i], depth - 1))
            return false;
    return true;
}

/* How much two computations of one value may be apart, element by element: a
 * constant that a mask fills in is the same in both, however large. */
static double apart(const jx_bounding *t, const jx_known *x, int depth)
{
    const jx_made *made = jx_valuing_made(t->in, x);
    double most = fmax(fabs(x->is.lo), fabs(x->is.hi)), off = 0;

    if (is_steady(t->in, x, 12))
        return 0;
    switch (made->eqn && depth > 0 ? (int)made->eqn->prim->id : -1) {
    case JX_PRIM_select_n:
        if (!is_steady(t->in, &made->ins[0], 12))
            break;
        for (int i = 1; i < made->eqn->nins; i++)
            off = fmax(off, apart(t, &made->ins[i], depth - 1));
        return off;
    case JX_PRIM_broadcast_in_dim:
    case JX_PRIM_reshape:
    case JX_PRIM_transpose:
    case JX_PRIM_squeeze:
    case JX_PRIM_expand_dims: return apart(t, &made->ins[0], depth - 1);
    default: break;
    }
    return 8 * jx_ulp_of(made->aval->dtype, most);
}

double jx_relate_slack(const jx_bounding *t, const jx_known *x)
{
    double most = fmax(fabs(x->is.lo), fabs(x->is.hi));

    return t->in->semantics == JX_XLA && isfinite(most) ? apart(t, x, 8) : 0;
}

/* -- products -------------------------------------------------------------- */

enum { MOST_FACTORS = 8 };

/* The factors of a product whose sign is not known, by number; those that are
 * there twice cancel. */
typedef struct signs {
    int open[MOST_FACTORS], count;
    bool negative, lost;
} signs;

static void take_factor(const jx_valuing *in, signs *s, const jx_known *value,
                        int depth)
{
    const jx_made *made = jx_valuing_made(in, value);
    const jx_eqn *eqn = made->eqn;

    if (value->is.lo >= 0 || value->is.hi <= 0) {
        s->negative ^= value->is.lo < 0;
        return;
    }
    if (eqn && depth > 0 && eqn->prim->id == JX_PRIM_mul) {
        take_factor(in, s, &made->ins[0], depth - 1);
        take_factor(in, s, &made->ins[1], depth - 1);
        return;
    }
    if (eqn && depth > 0 && eqn->prim->id == JX_PRIM_neg) {
        s->negative = !s->negative;
        take_factor(in, s, &made->ins[0], depth - 1);
        return;
    }
    for (int i = 0; i < s->count; i++)
        if (s->open[i] == value->number &&
            (in->semantics != JX_XLA || is_steady(in, value, 12))) {
            s->open[i] = s->open[--s->count];
            return;
        }
    if (s->count == MOST_FACTORS)
        s->lost = true;
    else
        s->open[s->count++] = value->number;
}

/* c g g has the sign of c, however it is rounded and in whatever
 * order multiplied. */
void jx_relate_mul(jx_bounding *t, jx_extent *is)
{
    signs s = {0};

    if (is->lo > is->hi || !jx_dtype_is_float(t->eqn->outs[0]->aval->dtype))
        return;
    take_factor(t->in, &s, &t->ins[0], 4);
    take_factor(t->in, &s, &t->ins[1], 4);
    if (s.count || s.lost)
        return;
    if (s.negative)
        is->hi = fmin(is->hi, 0);
    else
        is->lo = fmax(is->lo, 0);
}

/* -- differences and quotients --------------------------------------------- */

/* y is the greatest, or least, of x. */
static bool is_extreme_of(const jx_bounding *t, const jx_known *x,
                          const jx_known *y, jx_prim_id reduction)
{
    jx_known operand;
    uint64_t over;

    return repeats_reduction(t, x, y, reduction, &operand, &over) &&
           operand.number == x->number;
}

/* A sum of integers that does not wrap; of floats any. */
static bool adds_up(const jx_valuing *in, const jx_made *made)
{
    jx_extenting how = {.dtype = made->aval->dtype, .semantics = in->semantics};

    if (jx_dtype_is_float(how.dtype))
        return true;
    jx_extent_add(&how, made->ins[0].is, made->ins[1].is);
    return !how.wraps;
}

static bool is_of(const jx_made *made, jx_prim_id id)
{
    return made->eqn && made->eqn->prim->id == id && made->eqn->typed;
}

/* The greatest and the least of the same elements, of which there are some. */
static bool is_range(const jx_valuing *in, const jx_made *most,
                     const jx_made *least)
{
    const jx_p_axes *p, *q;
    const jx_aval *of;

    if (!is_of(most, JX_PRIM_reduce_max) || !is_of(least, JX_PRIM_reduce_min) ||
        most->ins[0].number != least->ins[0].number)
        return false;
    p = most->eqn->typed;
    q = least->eqn->typed;
    of = jx_atom_aval(most->eqn->ins[0]);
    for (int i = 0; i < p->axes.count; i++)
        if (p->axes.count != q->axes.count || p->axes.at[i] != q->axes.at[i] ||
            p->axes.at[i] < 0 || p->axes.at[i] >= of->rank ||
            jx_bound_size(in, of->shape[p->axes.at[i]]).lo < 1)
            return false;
    return true;
}

/* Element by element y is no less than x: it is the greater of x and another,
 * or that with something added that is not negative (log(exp(x) + 1)), or x is
 * the lesser; so far along an axis, or of all elements. */
static bool is_no_less(const jx_valuing *in, const jx_known *y,
                       const jx_known *x, int depth)
{
    const jx_made *made = jx_valuing_made(in, y),
                  *less = jx_valuing_made(in, x);

    if (y->number == x->number || is_range(in, made, less))
        return true;
    if (depth <= 0)
        return false;
    if (is_of(made, JX_PRIM_cummax) &&
        is_no_less(in, &made->ins[0], x, depth - 1))
        return true;
    if ((is_of(less, JX_PRIM_cummin) || is_of(less, JX_PRIM_min)) &&
        is_no_less(in, y, &less->ins[0], depth - 1))
        return true;
    if (is_of(less, JX_PRIM_min) && is_no_less(in, y, &less->ins[1], depth - 1))
        return true;
    if (!made->eqn || (made->eqn->prim->id != JX_PRIM_max &&
                       made->eqn->prim->id != JX_PRIM_add))
        return false;
    for (int i = 0; i < 2; i++) {
        const jx_known *one = &made->ins[i], *other = &made->ins[1 - i];
        bool grows = made->eqn->prim->id == JX_PRIM_max ||
                     (other->is.lo >= 0 && !other->is.nan && adds_up(in, made));
        if (grows && is_no_less(in, one, x, depth - 1))
            return true;
    }
    return false;
}

void jx_relate_sub(jx_bounding *t, const jx_extenting *how, jx_extent *is)
{
    const jx_known *x = &t->ins[0], *y = &t->ins[1];

    if (is->lo > is->hi)
        return;
    if (x->number == y->number) {
        double off = jx_relate_slack(t, x);
        *is = jx_extent_meet(*is, jx_extent_between(-off, off));
    } else if (how->wraps) {
        return; /* it may have any sign */
    } else if (is_extreme_of(t, x, y, JX_PRIM_reduce_max) ||
               is_no_less(t->in, y, x, 4)) {
        is->hi = fmin(is->hi, jx_relate_slack(t, x));
    } else if (is_no_less(t->in, x, y, 4)) {
        is->lo = fmax(is->lo, -jx_relate_slack(t, y));
    } else if (is_extreme_of(t, x, y, JX_PRIM_reduce_min)) {
        is->lo = fmax(is->lo, -jx_relate_slack(t, x));
    } else if (is_extreme_of(t, y, x, JX_PRIM_reduce_max)) {
        is->lo = fmax(is->lo, -jx_relate_slack(t, y));
    } else if (is_extreme_of(t, y, x, JX_PRIM_reduce_min)) {
        is->hi = fmin(is->hi, jx_relate_slack(t, y));
    }
}

/* The size that a value is, the same for all elements; also where nothing is
 * added to it or taken from it. */
static const jx_dim *repeated_dim(const jx_bounding *t, const jx_known *value)
{
    int axes[JX_MAX_AXES];
    const jx_made *made = jx_valuing_made(t->in, value);

    if (made->aval->rank > JX_MAX_AXES)
        return NULL;
    for (int depth = 0; depth < 8; depth++) {
        made = &t->in->made.at[jx_relate_base(t->in, value, axes)];
        if (made->dim)
            return made->dim;
        if (!made->eqn)
            return NULL;
        if (made->eqn->prim->id == JX_PRIM_dim_as_value && made->eqn->typed)
            return ((const jx_p_dim_as_value *)made->eqn->typed)->dim;
        if (made->eqn->prim->id != JX_PRIM_convert_element_type &&
            !(made->eqn->prim->id == JX_PRIM_sub &&
              jx_extent_is_one(made->ins[1].is) && made->ins[1].is.lo == 0))
            return NULL;
        value = &made->ins[0];
    }
    return NULL;
}

/* A mean: a sum over its number of elements, of which there are no more than
 * that many. */
static bool is_mean(const jx_bounding *t, jx_extent *of, double *count)
{
    jx_dims *dims = t->in->program->dims;
    jx_dtype dtype = t->eqn->outs[0]->aval->dtype;
    const jx_dim *product = jx_dim_int(dims, 1);
    int axes[JX_MAX_AXES];
    const jx_made *sum;
    const jx_aval *aval;
    const jx_p_axes *p;
    int64_t size;

    if (t->eqn->outs[0]->aval->rank > JX_MAX_AXES)
        return false;
    sum = &t->in->made.at[jx_relate_base(t->in, &t->ins[0], axes)];
    if (!is_of(sum, JX_PRIM_reduce_sum) || sum->aval->dtype != dtype)
        return false;
    aval = jx_atom_aval(sum->eqn->ins[0]);
    p = sum->eqn->typed;
    for (int i = 0; i < p->axes.count; i++)
        product = p->axes.at[i] < 0 || p->axes.at[i] >= aval->rank
                      ? NULL
                      : jx_dim_mul(dims, product, aval->shape[p->axes.at[i]]);
    *of = sum->ins[0].is;
    *count = product ? jx_bound_size(t->in, product).hi : INFINITY;
    if (product && jx_dim_is_int(product, &size))
        return jx_extent_is_one(t->ins[1].is) &&
               t->ins[1].is.lo == (double)size;
    return product && repeated_dim(t, &t->ins[1]) == product;
}

/* How far a mean of multiples that are all exact may lie beyond an end:
 * compiled, it may be the sum times a rounded inverse, which a power of two
 * rounds to itself from above; what 16 bits hold may stay unrounded. */
static double exact_mean(const jx_bounding *t, double end, bool outward)
{
    jx_dtype dtype = t->eqn->outs[0]->aval->dtype;
    int exponent;
    bool back = outward && jx_dtype_of(dtype)->bits >= 32 &&
                frexp(fabs(end), &exponent) == 0.5;

    return end == 0 || back || t->in->semantics != JX_XLA
               ? 0
               : jx_ulp_of(dtype, end);
}

/* The error of a sum of n numbers in any order is no more than n - 1 times the
 * unit of all their sizes (Jeannerod and Rump, 2013), for any n: a mean is off
 * by as much of the largest, and by its quotient. */
void jx_relate_mean(const jx_bounding *t, jx_extent *is)
{
    jx_extenting how = jx_bound_how(t);
    double count, unit, off, size;
    jx_extent of, to;

    if (is->lo > is->hi || !jx_dtype_is_float(how.dtype) ||
        !is_mean(t, &of, &count) || !(of.lo <= of.hi) ||
        !jx_extent_is_finite(of) || !jx_extent_is_finite(t->ins[0].is) ||
        !(t->ins[1].is.lo >= 1))
        return;
    unit = jx_ulp_of(how.dtype, 1) / 2;
    size = fmax(fabs(of.lo), fabs(of.hi));
    if (jx_extent_multiples_are_exact(how.dtype, of.lo, count) &&
        jx_extent_multiples_are_exact(how.dtype, of.hi, count) &&
        jx_extent_multiples_are_exact(how.dtype, 1, count)) {
        to = jx_extent_between(of.lo - exact_mean(t, of.lo, of.lo < 0),
                               of.hi + exact_mean(t, of.hi, of.hi > 0));
    } else {
        off = size * (count + 8) * unit * (1 + 16 * unit) +
              2 * jx_extent_normal(how.dtype);
        to = jx_extent_between(of.lo >= 0 ? fmax(of.lo - off, 0) : of.lo - off,
                               of.hi <= 0 ? fmin(of.hi + off, 0) : of.hi + off);
    }
    to = jx_extent_settle(&how, to);
    *is = (jx_extent){fmax(is->lo, to.lo), fmin(is->hi, to.hi), is->nan};
}

void jx_relate_div(jx_bounding *t, jx_extent *is)
{
    const jx_known *x = &t->ins[0], *y = &t->ins[1];
    jx_extenting how = jx_bound_how(t);
    jx_known operand;
    uint64_t over;

    if (is->lo > is->hi || !jx_dtype_is_float(how.dtype))
        return;
    if (repeats_reduction(t, x, y, JX_PRIM_reduce_sum, &operand, &over) &&
        operand.number == x->number && x->is.lo >= 0 && !x->is.nan &&
        y->is.lo > 0) {
        double most =
            t->in->semantics == JX_XLA && jx_valuing_made(t->in, x)->eqn
                ? 1 + 64 * jx_ulp_of(how.dtype, 1)
                : 1;
        *is = jx_extent_meet(*is, jx_extent_between(0, most));
    }
}

/* A softmax's sum is 1 but for rounding: n parts of a sum of n numbers, each
 * rounded.  What is below the least normal number may vanish. */
void jx_relate_shares(const jx_bounding *t, jx_ints axes, jx_extent *is)
{
    const jx_made *made = jx_valuing_made(t->in, &t->ins[0]);
    jx_extenting how = jx_bound_how(t);
    jx_known operand, x, y;
    int repeated[JX_MAX_AXES];
    uint64_t over, summed = 0;
    double ulp, n, gamma, part, vanished;

    if (!is_of(made, JX_PRIM_div) || !jx_dtype_is_float(how.dtype) ||
        is->lo > is->hi)
        return;
    x = made->ins[0], y = made->ins[1];
    if (!(x.is.lo >= 0) || !(y.is.lo > 0) || !jx_extent_is_finite(x.is) ||
        !jx_extent_is_finite(y.is) ||
        !repeats_reduction(t, &x, &y, JX_PRIM_reduce_sum, &operand, &over) ||
        operand.number != x.number)
        return;
    n = 1;
    for (int i = 0; i < axes.count; i++) {
        summed |= (uint64_t)1 << axes.at[i];
        n *= jx_bound_count(t->in, &made->aval->shape[axes.at[i]], 1).hi;
    }
    ulp = jx_ulp_of(how.dtype, 1);
    if (summed != over || n * ulp > 0.25)
        return;
    gamma = n * ulp / 2 / (1 - n * ulp / 2);
    part = (t->in->semantics == JX_XLA ? 64 : 1) * ulp;
    vanished = n * jx_extent_normal(how.dtype) * (1 + 1 / y.is.lo);
    is->hi = fmin(is->hi, (1 + part) * (1 + gamma) / (1 - gamma) + vanished);
    y.number = jx_relate_base(t->in, &y, repeated);
    if (is_of(jx_valuing_made(t->in, &y), JX_PRIM_reduce_sum))
        is->lo =
            fmax(is->lo, (1 - part) * (1 - gamma) / (1 + gamma) - vanished);
}

/* -- peaks ----------------------------------------------------------------- */

/* x is its own greatest, or least, along those axes, of which none is empty. */
static bool is_own_extreme(const jx_bounding *t, int x, bool greatest,
                           uint64_t *over)
{
    const jx_known *value = &t->ins[x], *other = &t->ins[1 - x];
    const jx_aval *aval = t->eqn->outs[0]->aval;
    jx_known operand;
    bool is =
        repeats_reduction(t, value, other,
                          greatest ? JX_PRIM_reduce_max : JX_PRIM_reduce_min,
                          &operand, over) &&
        operand.number == value->number && *over &&
        jx_extent_is_finite(value->is);

    for (int i = 0; is && i < aval->rank; i++)
        is = !(*over >> i & 1) || jx_bound_size(t->in, aval->shape[i]).lo >= 1;
    return is;
}

jx_peak jx_relate_peak(const jx_bounding *t)
{
    const jx_peak none = {0, 0};
    jx_extenting how;
    jx_extent at;
    jx_peak peak;
    uint64_t over;

    if (t->eqn->nouts != 1 || !t->eqn->typed || t->outs[0].number >= 0)
        return none;
    switch ((int)t->eqn->prim->id) {
    case JX_PRIM_sub:
        return is_own_extreme(t, 0, true, &over)
                   ? (jx_peak){over, -jx_relate_slack(t, &t->ins[0])}
                   : none;
    case JX_PRIM_eq:
        for (int x = 0; x < 2; x++)
            if ((is_own_extreme(t, x, true, &over) ||
                 is_own_extreme(t, x, false, &over)) &&
                jx_relate_slack(t, &t->ins[x]) == 0)
                return (jx_peak){over, 1};
        return none;
    case JX_PRIM_convert_element_type:
        peak = jx_valuing_made(t->in, &t->ins[0])->peak;
        how = jx_bound_how(t);
        at = jx_extent_convert(&how, jx_atom_aval(t->eqn->ins[0])->dtype,
                               jx_extent_of(peak.at));
        return peak.axes && !how.wraps && !at.nan ? (jx_peak){peak.axes, at.lo}
                                                  : none;
    case JX_PRIM_exp:
    case JX_PRIM_exp2:
    case JX_PRIM_logistic:
        peak = jx_valuing_made(t->in, &t->ins[0])->peak;
        how = jx_bound_how(t);
        if (!peak.axes || !jx_extent_function(&how, t->eqn->prim->id,
                                              jx_extent_of(peak.at), &at))
            return none;
        return (jx_peak){peak.axes, at.lo};
    default: return none;
    }
}
