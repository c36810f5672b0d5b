/* limits.c - which integers are at most, or at least, a size.
 *
 * An interval has numbers as its ends, which say little of an index that is
 * less than n.  Whether one is, is asked of what it is computed of, backwards:
 * i + 1 is at most n if i is at most n - 1, a choice if both of its arms are
 * where they are chosen.  Differences of sizes are left to the bounds of
 * polynomials, and to what quotients and remainders by numbers are.  A size is
 * taken to fit the dtype that it is computed in: that it does is another claim
 * (IDX004). */
#include "analyzer/values/values_parts.h"

#include "frontend/ir/scope.h"

#include <math.h>

enum { MOST_STEPS = 128, MOST_DEEP = 16, MOST_ASKED = 100000 };

/* What is asked of one value: that it is at least (low) or at most a size. */
typedef struct limit {
    const jx_dim *size;
    bool low;
} limit;

typedef struct asking {
    jx_valuing *in;
    int steps, depth;
    size_t seen; /* of `in->assumed`, what is true of other elements */
} asking;

static bool is_within(asking *q, const jx_known *value, limit at);

static const jx_dim *number(const asking *q, double value)
{
    return fabs(value) < 0x1p53
               ? jx_dim_int(q->in->program->dims, (int64_t)value)
               : NULL;
}

static limit moved(const asking *q, limit at, const jx_dim *by, bool up)
{
    jx_dims *dims = q->in->program->dims;

    at.size = !at.size || !by ? NULL
              : up            ? jx_dim_add(dims, at.size, by)
                              : jx_dim_sub(dims, at.size, by);
    return at;
}

/* -- differences of sizes -------------------------------------------------- */

/* An atom that stands alone in a term. */
static const jx_dim_term *lone_atom(const jx_dim *dim, jx_atom_kind kind)
{
    for (int i = 0; i < jx_dim_nterms(dim); i++) {
        const jx_dim_term *term = &jx_dim_terms(dim)[i];
        if (term->nfactors == 1 && term->factors[0].power == 1 &&
            term->factors[0].atom->kind == kind)
            return term;
    }
    return NULL;
}

/* Other terms times c, and so many of `instead`. */
static const jx_dim *replaced(const asking *q, const jx_dim *dim,
                              const jx_dim_term *term, int64_t c,
                              const jx_dim *instead)
{
    jx_dims *dims = q->in->program->dims;
    const jx_dim *times = jx_dim_wide(dims, term->coefficient),
                 *atom = jx_dim_of_atom(dims, term->factors[0].atom),
                 *rest = jx_dim_sub(dims, dim, jx_dim_mul(dims, times, atom));

    return jx_dim_add(dims, jx_dim_mul(dims, jx_dim_int(dims, c), rest),
                      jx_dim_mul(dims, times, instead));
}

static bool is_at_least(const asking *q, const jx_dim *dim, jx_int least,
                        int depth);

/* A quotient a // c lies between (a - c + 1) / c and a / c: all is asked of c
 * times as much, where whole numbers need not be met. */
static bool quotient_is_at_least(const asking *q, const jx_dim *dim,
                                 jx_int least, int depth)
{
    const jx_dim_term *term = lone_atom(dim, JX_ATOM_FLOORDIV);
    jx_dims *dims = q->in->program->dims;
    const jx_dim *end;
    int64_t c;

    if (!term || !jx_dim_is_int(term->factors[0].atom->b, &c) || c < 2 ||
        c > INT32_MAX)
        return false;
    end = term->factors[0].atom->a;
    if (term->coefficient > 0)
        end = jx_dim_sub(dims, end, jx_dim_int(dims, c - 1));
    return is_at_least(q, replaced(q, dim, term, c, end), c * (least - 1) + 1,
                       depth);
}

/* A remainder by b lies between 0 and b - 1. */
static bool remainder_is_at_least(const asking *q, const jx_dim *dim,
                                  jx_int least, int depth)
{
    const jx_dim_term *term = lone_atom(dim, JX_ATOM_MOD);
    jx_dims *dims = q->in->program->dims;
    const jx_dim *end;

    if (!term || !is_at_least(q, term->factors[0].atom->b, 1, 0))
        return false;
    end = term->coefficient > 0
              ? jx_dim_int(dims, 0)
              : jx_dim_sub(dims, term->factors[0].atom->b, jx_dim_int(dims, 1));
    return is_at_least(q, replaced(q, dim, term, 1, end), least, depth);
}

static bool is_at_least(const asking *q, const jx_dim *dim, jx_int least,
                        int depth)
{
    const jx_int most = (jx_int)1 << 80;
    jx_dim_range bounds;

    if (!dim || least > most || least < -most)
        return false;
    bounds = jx_program_bounds(q->in->program, dim);
    return (bounds.has_low && bounds.low >= least) ||
           (depth > 0 && (quotient_is_at_least(q, dim, least, depth - 1) ||
                          remainder_is_at_least(q, dim, least, depth - 1)));
}

/* What is no less than `size`, or no more. */
static bool size_is_within(const asking *q, const jx_dim *size, limit at)
{
    jx_dims *dims = q->in->program->dims;
    const jx_dim *left = !size || !at.size ? NULL
                         : at.low          ? jx_dim_sub(dims, size, at.size)
                                           : jx_dim_sub(dims, at.size, size);

    return is_at_least(q, left, 0, 4);
}

/* The size, or the number, that all elements are; NULL: neither. */
static const jx_dim *size_of(const asking *q, const jx_known *value)
{
    const jx_made *made = jx_valuing_made(q->in, value);

    if (made->dim)
        return made->dim;
    if (jx_extent_is_one(value->is))
        return number(q, value->is.lo);
    if (made->eqn && made->eqn->prim->id == JX_PRIM_dim_as_value &&
        made->eqn->typed)
        return ((const jx_p_dim_as_value *)made->eqn->typed)->dim;
    return NULL;
}

/* -- what is assumed ------------------------------------------------------- */

/* The one of two truths that is not known, where they are equal or differ:
 * what computes it, and whether it holds. */
static const jx_made *open_truth(const asking *q, const jx_made *made,
                                 bool *holds)
{
    for (int i = 0; i < 2; i++) {
        jx_extent is = made->ins[1 - i].is;
        if (!jx_extent_is_one(is))
            continue;
        *holds = (made->eqn->prim->id == JX_PRIM_eq) == (is.lo == 1) ? *holds
                                                                     : !*holds;
        return jx_valuing_made(q->in, &made->ins[i]);
    }
    return made;
}

/* A comparison of integers that is true, as less < more, or less <= more. */
static bool as_order(const asking *q, const jx_made *made, bool holds,
                     const jx_known **less, const jx_known **more, int *strict)
{
    bool swapped;

    if (made->eqn && made->eqn->nins == 2 &&
        (made->eqn->prim->id == JX_PRIM_eq ||
         made->eqn->prim->id == JX_PRIM_ne) &&
        jx_atom_aval(made->eqn->ins[0])->dtype == JX_BOOL)
        made = open_truth(q, made, &holds);

    if (!made->eqn || !made->eqn->nins ||
        !jx_dtype_is_integer(jx_atom_aval(made->eqn->ins[0])->dtype))
        return false;
    switch ((int)made->eqn->prim->id) {
    case JX_PRIM_lt: swapped = !holds, *strict = holds; break;
    case JX_PRIM_le: swapped = !holds, *strict = !holds; break;
    case JX_PRIM_gt: swapped = holds, *strict = holds; break;
    case JX_PRIM_ge: swapped = holds, *strict = !holds; break;
    default: return false;
    }
    *less = &made->ins[swapped];
    *more = &made->ins[!swapped];
    return true;
}

/* Of two that are equal. */
static bool says_equal(asking *q, const jx_made *made, const jx_known *value,
                       limit at)
{
    for (int i = 0; i < 2; i++)
        if (made->ins[i].number == value->number &&
            is_within(q, &made->ins[1 - i], at))
            return true;
    return false;
}

/* Whether what a predicate says of a value is enough. */
static bool says(asking *q, const jx_known *predicate, bool holds,
                 const jx_known *value, limit at, int depth)
{
    const jx_made made = *jx_valuing_made(q->in, predicate);
    const jx_known *less, *more;
    int strict;

    if (!made.eqn || depth <= 0)
        return false;
    if (made.aval->dtype == JX_BOOL &&
        made.eqn->prim->id == (holds ? JX_PRIM_and : JX_PRIM_or))
        return says(q, &made.ins[0], holds, value, at, depth - 1) ||
               says(q, &made.ins[1], holds, value, at, depth - 1);
    if (made.aval->dtype == JX_BOOL && made.eqn->prim->id == JX_PRIM_not)
        return says(q, &made.ins[0], !holds, value, at, depth - 1);
    if (made.eqn->prim->id == JX_PRIM_convert_element_type &&
        jx_atom_aval(made.eqn->ins[0])->dtype == JX_BOOL)
        return says(q, &made.ins[0], holds, value, at, depth - 1);
    if (made.eqn->prim->id == (holds ? JX_PRIM_eq : JX_PRIM_ne) &&
        jx_atom_aval(made.eqn->ins[0])->dtype != JX_BOOL)
        return says_equal(q, &made, value, at);
    if (!as_order(q, &made, holds, &less, &more, &strict))
        return false;
    if (!at.low && less->number == value->number)
        return is_within(q, more, moved(q, at, number(q, strict), true));
    return at.low && more->number == value->number &&
           is_within(q, less, moved(q, at, number(q, strict), false));
}

/* Predicates that are scalars are true of every element; others of those of
 * what is computed element by element alone. */
static bool holds_here(const asking *q, size_t i)
{
    const jx_assumed *a = &q->in->assumed.at[i];

    return i >= q->seen || !jx_valuing_made(q->in, &a->predicate)->aval->rank;
}

static bool is_assumed(asking *q, const jx_known *value, limit at)
{
    for (size_t i = q->in->assumed.count; i-- > 0;) {
        const jx_assumed a = q->in->assumed.at[i];
        if (holds_here(q, i) && says(q, &a.predicate, a.holds, value, at, 8))
            return true;
    }
    return false;
}

/* A value where all that is assumed is true. */
static jx_known narrowed(const asking *q, const jx_known *value)
{
    jx_known is = *value;

    for (size_t i = 0; i < q->in->assumed.count; i++) {
        const jx_assumed a = q->in->assumed.at[i];
        if (holds_here(q, i))
            is = jx_guarded(q->in, &a.predicate, a.holds, &is);
    }
    return is;
}

/* No element has it so: of less < more, less is at least as large as more. */
static bool never(asking *q, const jx_known *predicate, bool holds)
{
    const jx_made made = *jx_valuing_made(q->in, predicate);
    const jx_known *less, *more;
    const jx_dim *size;
    limit at;
    int strict;

    if (!as_order(q, &made, holds, &less, &more, &strict))
        return false;
    at = (limit){size_of(q, more), true};
    if (is_within(q, less, moved(q, at, number(q, !strict), true)))
        return true;
    size = size_of(q, less);
    at = (limit){size, false};
    return is_within(q, more, moved(q, at, number(q, !strict), false));
}

bool jx_suppose(jx_valuing *in, const jx_known *predicate, bool holds)
{
    jx_assumed a = {*predicate, holds};
    size_t count = in->assumed.count;

    JX_PUSH(jx_valuing_arena(in), &in->assumed, a);
    return in->assumed.count > count;
}

void jx_supposed(jx_valuing *in)
{
    in->assumed.count--;
}

/* -- equations ------------------------------------------------------------- */

/* Elements of the operand, at other places. */
static bool elsewhere(asking *q, const jx_known *value, limit at)
{
    size_t seen = q->seen;
    bool is;

    q->seen = q->in->assumed.count;
    is = is_within(q, value, at);
    q->seen = seen;
    return is;
}

/* Of a split predicate, in each of its cases. */
static bool arm_is_within(asking *q, const jx_known *predicate, bool holds,
                          const jx_known *arm, limit at, int splits)
{
    const jx_made made = *jx_valuing_made(q->in, predicate);
    bool is = never(q, predicate, holds);

    if (!is && splits > 0 && jx_guard_is_split(&made, holds))
        return arm_is_within(q, &made.ins[0], holds, arm, at, splits - 1) &&
               arm_is_within(q, &made.ins[1], holds, arm, at, splits - 1);
    if (!is && jx_suppose(q->in, predicate, holds)) {
        is = is_within(q, arm, at);
        jx_supposed(q->in);
    }
    return is;
}

/* a + b, or a - b, which does not wrap: either is asked of the other's size,
 * or of its end. */
static bool sum_is_within(asking *q, const jx_made *made, limit at, bool minus)
{
    jx_extenting how = {.dtype = made->aval->dtype,
                        .semantics = q->in->semantics};
    jx_known of[2] = {narrowed(q, &made->ins[0]), narrowed(q, &made->ins[1])};

    (minus ? jx_extent_sub : jx_extent_add)(&how, of[0].is, of[1].is);
    if (how.wraps || jx_extent_is_empty(of[0].is) ||
        jx_extent_is_empty(of[1].is))
        return false;
    for (int i = 0; i < 2; i++) {
        bool taken = minus && i == 0; /* what is left of b, of a - b */
        const jx_known *other = &of[i], *asked = &made->ins[1 - i];
        double end = at.low != (minus && i == 1) ? other->is.lo : other->is.hi;
        const jx_dim *sizes[2] = {size_of(q, other), number(q, end)};
        for (int k = 0; k < 2 && (!k || sizes[0] != sizes[1]); k++) {
            limit left = moved(q, at, sizes[k], minus && i == 1);
            if (taken) {
                left.size = left.size
                                ? jx_dim_neg(q->in->program->dims, left.size)
                                : NULL;
                left.low = !left.low;
            }
            if (is_within(q, asked, left))
                return true;
        }
    }
    return false;
}

/* Places along an axis: 0 to its size - 1. */
static bool place_is_within(const asking *q, const jx_made *made,
                            const jx_dim *size, limit at)
{
    jx_dims *dims = q->in->program->dims;

    if (jx_dtype_of(made->aval->dtype)->bits < 32)
        return false; /* which may not hold them */
    return size_is_within(q,
                          at.low ? jx_dim_int(dims, 0)
                                 : jx_dim_sub(dims, size, jx_dim_int(dims, 1)),
                          at);
}

static bool argument_is_within(const asking *q, const jx_made *made, limit at)
{
    const jx_p_arg_reduce *p = made->eqn->typed;
    const jx_aval *of = jx_atom_aval(made->eqn->ins[0]);

    return p->axes.count == 1 && p->axes.at[0] >= 0 &&
           p->axes.at[0] < of->rank &&
           place_is_within(q, made, of->shape[p->axes.at[0]], at);
}

/* Less than what it is divided by, and of the sign of the dividend. */
static bool remainder_is_within(asking *q, const jx_made *made, limit at)
{
    const jx_dim *by = size_of(q, &made->ins[1]);
    jx_dims *dims = q->in->program->dims;
    const jx_dim *most = by ? jx_dim_sub(dims, by, jx_dim_int(dims, 1)) : NULL;

    if (!most || !size_is_within(q, by, (limit){jx_dim_int(dims, 1), true}))
        return false;
    if (!at.low)
        return size_is_within(q, most, at);
    return size_is_within(q,
                          narrowed(q, &made->ins[0]).is.lo >= 0
                              ? jx_dim_int(dims, 0)
                              : jx_dim_neg(dims, most),
                          at);
}

/* a / b of a positive b, which rounds toward 0. */
static bool quotient_is_within(asking *q, const jx_made *made, limit at)
{
    const jx_dim *by = size_of(q, &made->ins[1]);
    jx_dims *dims = q->in->program->dims;
    bool whole = narrowed(q, &made->ins[0]).is.lo >= 0;

    if (!at.size || !size_is_within(q, by, (limit){jx_dim_int(dims, 1), true}))
        return false;
    if (!whole &&
        (at.low ||
         !size_is_within(q, at.size, (limit){jx_dim_int(dims, 0), true})))
        return false;
    at.size = at.low ? jx_dim_mul(dims, by, at.size)
                     : jx_dim_sub(dims,
                                  jx_dim_mul(dims, by,
                                             jx_dim_add(dims, at.size,
                                                        jx_dim_int(dims, 1))),
                                  jx_dim_int(dims, 1));
    return is_within(q, &made->ins[0], at);
}

/* A positive number times what does not wrap. */
static bool product_is_within(asking *q, const jx_made *made, limit at)
{
    jx_dims *dims = q->in->program->dims;
    jx_extenting how = {.dtype = made->aval->dtype,
                        .semantics = q->in->semantics};
    jx_known of[2] = {narrowed(q, &made->ins[0]), narrowed(q, &made->ins[1])};

    jx_extent_mul(&how, of[0].is, of[1].is);
    for (int i = 0; i < 2 && at.size; i++) {
        const jx_dim *by = jx_extent_is_one(of[i].is) && of[i].is.lo >= 1
                               ? number(q, of[i].is.lo)
                               : NULL;
        limit left = at;
        if (!by || (how.wraps && of[i].is.lo != 1))
            continue;
        if (at.low)
            left.size = jx_dim_add(dims, at.size,
                                   jx_dim_sub(dims, by, jx_dim_int(dims, 1)));
        left.size = jx_dim_floordiv(dims, left.size, by);
        if (is_within(q, &made->ins[1 - i], left))
            return true;
    }
    return false;
}

static bool all_are_within(asking *q, const jx_made *made, limit at)
{
    for (int i = 0; i < made->eqn->nins; i++)
        if (!elsewhere(q, &made->ins[i], at))
            return false;
    return true;
}

/* min(max(x, lo), hi) of (lo, x, hi). */
static bool clamp_is_within(asking *q, const jx_made *made, limit at)
{
    const jx_known *lo = &made->ins[0], *x = &made->ins[1], *hi = &made->ins[2];

    return at.low ? is_within(q, hi, at) &&
                        (is_within(q, lo, at) || is_within(q, x, at))
                  : is_within(q, hi, at) ||
                        (is_within(q, lo, at) && is_within(q, x, at));
}

static bool convert_is_within(asking *q, const jx_made *made, limit at)
{
    jx_dtype from = jx_atom_aval(made->eqn->ins[0])->dtype;
    jx_extenting how = {.dtype = made->aval->dtype,
                        .semantics = q->in->semantics};

    if (!jx_dtype_is_integer(from))
        return false;
    jx_extent_convert(&how, from, narrowed(q, &made->ins[0]).is);
    return !how.wraps && is_within(q, &made->ins[0], at);
}

static bool eqn_is_within(asking *q, const jx_made *made, limit at)
{
    bool one, other;

    switch ((int)made->eqn->prim->id) {
    case JX_PRIM_iota: {
        const jx_p_iota *p = made->eqn->typed;
        return p->dimension >= 0 && p->dimension < made->aval->rank &&
               place_is_within(q, made, made->aval->shape[p->dimension], at);
    }
    case JX_PRIM_argmax:
    case JX_PRIM_argmin: return argument_is_within(q, made, at);
    case JX_PRIM_sort: return elsewhere(q, &made->ins[made->out], at);
    case JX_PRIM_broadcast_in_dim:
    case JX_PRIM_reshape:
    case JX_PRIM_squeeze:
    case JX_PRIM_expand_dims:
    case JX_PRIM_transpose:
    case JX_PRIM_slice:
    case JX_PRIM_dynamic_slice:
    case JX_PRIM_rev: return elsewhere(q, &made->ins[0], at);
    case JX_PRIM_concatenate: return all_are_within(q, made, at);
    case JX_PRIM_convert_element_type: return convert_is_within(q, made, at);
    case JX_PRIM_add: return sum_is_within(q, made, at, false);
    case JX_PRIM_sub: return sum_is_within(q, made, at, true);
    case JX_PRIM_mul: return product_is_within(q, made, at);
    case JX_PRIM_div: return quotient_is_within(q, made, at);
    case JX_PRIM_rem: return remainder_is_within(q, made, at);
    case JX_PRIM_max:
    case JX_PRIM_min:
        one = is_within(q, &made->ins[0], at);
        if (at.low == (made->eqn->prim->id == JX_PRIM_max))
            return one || is_within(q, &made->ins[1], at);
        other = one && is_within(q, &made->ins[1], at);
        return other;
    case JX_PRIM_clamp: return clamp_is_within(q, made, at);
    case JX_PRIM_select_n:
        return made->eqn->nins == 3 &&
               jx_atom_aval(made->eqn->ins[0])->dtype == JX_BOOL &&
               arm_is_within(q, &made->ins[0], false, &made->ins[1], at, 2) &&
               arm_is_within(q, &made->ins[0], true, &made->ins[2], at, 2);
    default: return false;
    }
}

static bool is_within(asking *q, const jx_known *value, limit at)
{
    const jx_made made = *jx_valuing_made(q->in, value);
    double end = at.low ? value->is.lo : value->is.hi;
    bool is;

    if (!at.size || !jx_dtype_is_integer(made.aval->dtype) ||
        jx_extent_is_empty(value->is) || q->depth >= MOST_DEEP ||
        ++q->steps > MOST_STEPS || ++q->in->asked > MOST_ASKED)
        return false;
    q->depth++;
    is = size_is_within(q, number(q, end), at) ||
         size_is_within(q, size_of(q, value), at) ||
         size_is_within(q, at.low ? made.least : made.most, at) ||
         is_assumed(q, value, at) ||
         (made.among && elsewhere(q, made.among, at)) ||
         (made.eqn && made.eqn->typed && eqn_is_within(q, &made, at));
    q->depth--;
    return is;
}

bool jx_lies_between(jx_valuing *in, const jx_known *value, const jx_dim *least,
                     const jx_dim *most)
{
    asking q = {.in = in};

    return is_within(&q, value, (limit){least, true}) &&
           is_within(&q, value, (limit){most, false});
}
