/* rules_elementwise.c - what is computed element by element. */
#include "analyzer/values/values_parts.h"

#include <math.h>
#include <stdlib.h>

bool jx_bound_unknown(jx_bounding *t)
{
    (void)t;
    return true;
}

bool jx_bound_same(jx_bounding *t)
{
    for (int i = 0; i < t->eqn->nouts && i < t->eqn->nins; i++)
        if (t->eqn->nouts == t->eqn->nins && t->eqn->prim->id != JX_PRIM_sort)
            jx_bound_again(t, i, &t->ins[i]);
        else
            t->outs[i].is = t->ins[i].is;
    return true;
}

/* That, and what XLA may make of the equation instead; of integers that is the
 * same. */
static jx_extent or_compiled(jx_bounding *t, jx_extenting *how, jx_extent is)
{
    jx_extent other;

    return how->semantics == JX_XLA && jx_dtype_is_float(how->dtype) &&
                   jx_bound_compiled(t, how, &other)
               ? jx_extent_join(is, other)
               : is;
}

static bool give(jx_bounding *t, jx_extenting *how, jx_extent is)
{
    return jx_bound_give(t, how, or_compiled(t, how, is));
}

bool jx_bound_function(jx_bounding *t)
{
    jx_extenting how = jx_bound_how(t);
    jx_extent is;

    if (jx_extent_knows(how.dtype) &&
        jx_extent_knows(jx_atom_aval(t->eqn->ins[0])->dtype) &&
        jx_extent_function(&how, t->eqn->prim->id, t->ins[0].is, &is))
        return give(t, &how, is);
    return true;
}

/* Ties go to the even number, or away from 0. */
bool jx_bound_round(jx_bounding *t)
{
    const jx_p_round *p = t->eqn->typed;
    jx_extenting how = jx_bound_how(t);
    jx_extent is = t->ins[0].is;
    double (*nearest)(double) =
        p->rounding_method == JX_ROUND_TO_NEAREST_EVEN ? rint : round;

    if (!jx_extent_knows(how.dtype))
        return true;
    if (!jx_extent_is_empty(is))
        is = (jx_extent){nearest(is.lo), nearest(is.hi), is.nan};
    return jx_bound_give(t, &how, jx_extent_settle(&how, is));
}

bool jx_bound_integer_pow(jx_bounding *t)
{
    jx_extenting how = jx_bound_how(t);
    const jx_p_integer_pow *p = t->eqn->typed;

    if (!jx_extent_knows(how.dtype) || llabs(p->y) > 1024)
        return true;
    return jx_bound_give(t, &how,
                         jx_extent_integer_power(&how, t->ins[0].is, p->y));
}

/* 1 - x * x of a number, as kernels have it: with the square rounded before, or
 * not at all, or as (1 - x) * (1 + x). */
static jx_extent one_minus_square_of(jx_dtype dtype, double x)
{
    jx_extent to = jx_extent_of(1 - jx_round_to(dtype, x * x));
    double factors = jx_round_to(dtype, 1 - x) * jx_round_to(dtype, 1 + x);

    to = jx_extent_join(to, jx_extent_of(fma(-x, x, 1)));
    return jx_extent_join(to, jx_extent_of(factors));
}

/* It falls with the size of x. */
bool jx_bound_one_minus_square(jx_bounding *t)
{
    jx_extenting how = jx_bound_how(t), plain = {.dtype = JX_F64};
    jx_extent size, is;

    if (!jx_extent_knows(how.dtype))
        return true;
    size = jx_extent_abs(&plain, t->ins[0].is);
    if (!jx_dtype_is_float(how.dtype) || !jx_extent_is_finite(size) ||
        jx_extent_is_empty(size))
        return jx_bound_give(
            t, &how,
            jx_extent_sub(&how, jx_extent_of(1),
                          jx_extent_square(&how, t->ins[0].is)));
    is = jx_extent_between(one_minus_square_of(how.dtype, size.hi).lo,
                           one_minus_square_of(how.dtype, size.lo).hi);
    return jx_bound_give(t, &how, jx_extent_loosen(&how, is, 4));
}

bool jx_bound_reduce_precision(jx_bounding *t)
{
    jx_extenting how = jx_bound_how(t);
    const jx_p_reduce_precision *p = t->eqn->typed;
    jx_extent is = t->ins[0].is;
    double part = ldexp(1, -(int)p->mantissa_bits),
           least = ldexp(1, 2 - (1 << (p->exponent_bits - 1)));

    /* Exponents of its own may overflow or vanish. */
    if (!jx_extent_knows(how.dtype) || p->exponent_bits < 5 ||
        p->exponent_bits > 11 || is.lo > is.hi)
        return true;
    if (fmax(fabs(is.lo), fabs(is.hi)) >=
        ldexp(1, (1 << (p->exponent_bits - 1)) - 1))
        return true;
    is.lo -= fabs(is.lo) * part + least;
    is.hi += fabs(is.hi) * part + least;
    if (t->ins[0].is.lo >= 0)
        is.lo = 0;
    if (t->ins[0].is.hi <= 0)
        is.hi = 0;
    return jx_bound_give(t, &how, jx_extent_settle(&how, is));
}

bool jx_bound_convert(jx_bounding *t)
{
    jx_extenting how = jx_bound_how(t);
    const jx_aval *from = jx_atom_aval(t->eqn->ins[0]);

    if (from->dtype == how.dtype &&
        jx_aval_same_shape(from, t->eqn->outs[0]->aval)) {
        jx_bound_give(t, &how, t->ins[0].is);
        return jx_bound_again(t, 0, &t->ins[0]);
    }
    if (!jx_extent_knows(how.dtype) || !jx_extent_knows(from->dtype))
        return true;
    return jx_bound_give(t, &how,
                         jx_extent_convert(&how, from->dtype, t->ins[0].is));
}

/* -- two operands ---------------------------------------------------------- */

typedef jx_extent binary(jx_extenting *how, jx_extent a, jx_extent b);

static bool is_same(const jx_bounding *t)
{
    return t->ins[0].number == t->ins[1].number;
}

static bool compute(jx_bounding *t, binary *of)
{
    jx_extenting how = jx_bound_how(t);

    if (!jx_extent_knows(how.dtype))
        return true;
    return give(t, &how, of(&how, t->ins[0].is, t->ins[1].is));
}

bool jx_bound_add(jx_bounding *t)
{
    return compute(t, jx_extent_add);
}

bool jx_bound_sub(jx_bounding *t)
{
    jx_extenting how = jx_bound_how(t);
    jx_extent is;

    if (!jx_extent_knows(how.dtype))
        return true;
    is = jx_extent_sub(&how, t->ins[0].is, t->ins[1].is);
    jx_relate_sub(t, &how, &is);
    jx_relate_difference(t, &how, &is);
    return give(t, &how, is);
}

bool jx_bound_mul(jx_bounding *t)
{
    jx_extenting how = jx_bound_how(t);
    jx_extent is;

    if (!jx_extent_knows(how.dtype))
        return true;
    is = is_same(t) ? jx_extent_square(&how, t->ins[0].is)
                    : jx_extent_mul(&how, t->ins[0].is, t->ins[1].is);
    jx_relate_mul(t, &is);
    return give(t, &how, is);
}

bool jx_bound_div(jx_bounding *t)
{
    jx_extenting how = jx_bound_how(t);
    jx_extent is;

    if (!jx_extent_knows(how.dtype))
        return true;
    is = jx_extent_div(&how, t->ins[0].is, t->ins[1].is);
    jx_relate_div(t, &is);
    jx_bound_answer(t, JX_ASKED_NOT_BELOW, t->ins[1].is.lo >= 0, t->ins[1].is,
                    jx_extent_between(0, INFINITY));
    is = or_compiled(t, &how, is);
    jx_relate_mean(t, &is);
    return jx_bound_give(t, &how, is);
}

bool jx_bound_rem(jx_bounding *t)
{
    jx_extenting how = jx_bound_how(t);
    jx_extent is;

    if (!jx_extent_knows(how.dtype))
        return true;
    is = jx_extent_rem(&how, t->ins[0].is, t->ins[1].is);
    jx_relate_rem(t, &is);
    return give(t, &how, is);
}

bool jx_bound_pow(jx_bounding *t)
{
    jx_extenting how = jx_bound_how(t);

    /* An exponent that is an integer is the same number as a float. */
    if (!jx_extent_knows(how.dtype) ||
        !jx_extent_knows(jx_atom_aval(t->eqn->ins[1])->dtype))
        return true;
    return give(t, &how, jx_extent_power(&how, t->ins[0].is, t->ins[1].is));
}

bool jx_bound_atan2(jx_bounding *t)
{
    jx_extenting how = jx_bound_how(t);
    jx_extent a = t->ins[0].is, b = t->ins[1].is;

    if (!jx_extent_knows(how.dtype))
        return true;
    return jx_bound_give(t, &how,
                         (jx_extent){-3.1415928, 3.1415928, a.nan || b.nan});
}

/* One of the operands surely: it is that. */
static bool choose(jx_bounding *t, bool greater)
{
    jx_extent a = t->ins[0].is, b = t->ins[1].is;

    if (!jx_extent_knows(t->eqn->outs[0]->aval->dtype))
        return true;
    if (!a.nan && !b.nan && (greater ? a.lo >= b.hi : a.hi <= b.lo) &&
        a.lo <= a.hi)
        return jx_bound_again(t, 0, &t->ins[0]);
    if (!a.nan && !b.nan && (greater ? b.lo >= a.hi : b.hi <= a.lo) &&
        b.lo <= b.hi)
        return jx_bound_again(t, 0, &t->ins[1]);
    return jx_bound_give(t, NULL,
                         greater ? jx_extent_max(a, b) : jx_extent_min(a, b));
}

bool jx_bound_max(jx_bounding *t)
{
    return choose(t, true);
}

bool jx_bound_min(jx_bounding *t)
{
    return choose(t, false);
}

bool jx_bound_clamp(jx_bounding *t)
{
    jx_extent is;

    if (!jx_extent_knows(t->eqn->outs[0]->aval->dtype))
        return true;
    is = jx_extent_min(jx_extent_max(t->ins[1].is, t->ins[0].is), t->ins[2].is);
    return jx_bound_give(t, NULL, is);
}

/* -- predicates ------------------------------------------------------------ */

static bool give_truth(jx_bounding *t, bool always, bool never)
{
    return jx_bound_give(t, NULL,
                         jx_extent_between(always ? 1 : 0, never ? 0 : 1));
}

bool jx_bound_compare(jx_bounding *t)
{
    jx_extent a = t->ins[0].is, b = t->ins[1].is;
    bool nan = a.nan || b.nan, empty = a.lo > a.hi || b.lo > b.hi,
         same = is_same(t) && !nan;
    bool one = jx_extent_is_one(a) && jx_extent_is_one(b);

    if (!jx_extent_knows(jx_atom_aval(t->eqn->ins[0])->dtype) || empty)
        return true;
    switch ((int)t->eqn->prim->id) {
    case JX_PRIM_lt:
        return give_truth(t, !nan && a.hi < b.lo, a.lo >= b.hi || is_same(t));
    case JX_PRIM_le:
        return give_truth(t, same || (!nan && a.hi <= b.lo), a.lo > b.hi);
    case JX_PRIM_gt:
        return give_truth(t, !nan && a.lo > b.hi, a.hi <= b.lo || is_same(t));
    case JX_PRIM_ge:
        return give_truth(t, same || (!nan && a.lo >= b.hi), a.hi < b.lo);
    case JX_PRIM_eq:
        return give_truth(t, same || (one && a.lo == b.lo),
                          a.hi < b.lo || a.lo > b.hi);
    default:
        return give_truth(t, a.hi < b.lo || a.lo > b.hi,
                          same || (one && a.lo == b.lo));
    }
}

/* The least number of the form 2^k - 1 that is not less. */
static double mask_above(double value)
{
    double at = 0;

    while (at < value && at < 0x1p64)
        at = at * 2 + 1;
    return at;
}

bool jx_bound_logic(jx_bounding *t)
{
    jx_extenting how = jx_bound_how(t);
    jx_extent a = t->ins[0].is, b = t->ins[1].is;
    jx_prim_id id = t->eqn->prim->id;

    if (how.dtype == JX_BOOL && id != JX_PRIM_xor)
        return jx_bound_give(t, NULL,
                             id == JX_PRIM_and ? jx_extent_min(a, b)
                                               : jx_extent_max(a, b));
    if (how.dtype == JX_BOOL)
        return give_truth(
            t, jx_extent_is_one(a) && jx_extent_is_one(b) && a.lo != b.lo,
            (jx_extent_is_one(a) && jx_extent_is_one(b) && a.lo == b.lo) ||
                is_same(t));
    if (!jx_extent_knows(how.dtype) || (a.lo < 0 && b.lo < 0))
        return true;
    if (id == JX_PRIM_and)
        return jx_bound_give(t, NULL,
                             jx_extent_between(0, a.lo < 0 ? b.hi
                                                  : b.lo < 0
                                                      ? a.hi
                                                      : fmin(a.hi, b.hi)));
    if (a.lo < 0 || b.lo < 0)
        return true;
    return jx_bound_give(
        t, NULL,
        jx_extent_meet(jx_extent_between(0, mask_above(fmax(a.hi, b.hi))),
                       jx_extent_finite(how.dtype)));
}

/* -- shifts ---------------------------------------------------------------- */

static void reach_by(jx_extent *to, double x, double by)
{
    double is = floor(ldexp(x, (int)-by));

    *to = jx_extent_join(*to, jx_extent_between(is, is));
}

/* Of what has a sign, or could not have one: by so many bits at least and at
 * most. */
static jx_extent shifted_right(jx_extent x, jx_extent by)
{
    jx_extent to = jx_extent_none();

    reach_by(&to, x.lo, by.lo);
    reach_by(&to, x.lo, by.hi);
    reach_by(&to, x.hi, by.lo);
    reach_by(&to, x.hi, by.hi);
    return to;
}

/* By as many bits as there are, or by fewer than none, is by all of them. */
bool jx_bound_shift(jx_bounding *t)
{
    jx_extenting how = jx_bound_how(t);
    jx_extent x = t->ins[0].is, by = t->ins[1].is;
    int bits = jx_dtype_of(how.dtype)->bits;
    double half = ldexp(1, bits - 1);

    if (!jx_extent_knows(how.dtype) || jx_extent_is_empty(x) ||
        !(by.lo >= 0 && by.hi < bits))
        return true;
    switch ((int)t->eqn->prim->id) {
    case JX_PRIM_shift_left:
        return jx_bound_give(
            t, &how,
            jx_extent_mul(
                &how, x,
                jx_extent_between(ldexp(1, (int)by.lo), ldexp(1, (int)by.hi))));
    case JX_PRIM_shift_right_arithmetic:
        /* The upper half of unsigned integers is taken for those below 0. */
        if (jx_dtype_of(how.dtype)->kind == JX_KIND_UINT && x.hi >= half)
            return true;
        return jx_bound_give(t, &how, shifted_right(x, by));
    default:
        if (x.lo >= 0)
            return jx_bound_give(t, &how, shifted_right(x, by));
        return by.lo < 1 ||
               jx_bound_give(
                   t, &how,
                   jx_extent_between(0, ldexp(2 * half, (int)-by.lo) - 1));
    }
}

/* Of a choice that is always the same: that operand; else what the
 * predicate leaves. */
bool jx_bound_select_n(jx_bounding *t)
{
    jx_extent which = t->ins[0].is;
    const jx_lost *lost = NULL;
    jx_extent is = jx_extent_none();
    int cases = t->eqn->nins - 1;
    bool boolean = jx_atom_aval(t->eqn->ins[0])->dtype == JX_BOOL;

    if (jx_extent_is_one(which) && which.lo >= 0 && which.lo < cases)
        return jx_bound_again(t, 0, &t->ins[1 + (int)which.lo]);
    if (cases == 2 && t->ins[1].number == t->ins[2].number)
        return jx_bound_again(t, 0, &t->ins[1]);
    for (int i = 0; i < cases; i++) {
        jx_known arm = t->ins[1 + i];
        /* A number beyond the cases is that of the nearest. */
        if ((i < which.lo && i + 1 < cases) || (i > which.hi && i > 0))
            continue;
        if (boolean)
            arm = jx_guarded(t->in, &t->ins[0], i == 1, &arm);
        if (!lost && !jx_extent_is_finite(arm.is))
            lost = arm.lost;
        is = jx_extent_join(is, arm.is);
    }
    t->outs[0].lost = jx_extent_is_finite(is) ? NULL : lost;
    return jx_bound_give(t, NULL, is);
}

/* low + u * (high - low), rounded; of integers low has to be less than high. */
bool jx_bound_rng_uniform(jx_bounding *t)
{
    jx_extenting how = jx_bound_how(t);
    jx_extent low = t->ins[0].is, high = t->ins[1].is;

    if (!jx_extent_knows(how.dtype))
        return true;
    if (!jx_dtype_is_float(how.dtype))
        return low.hi >= high.lo ||
               jx_bound_give(t, NULL, jx_extent_join(low, high));
    return !jx_extent_is_finite(jx_extent_sub(&how, high, low)) ||
           jx_bound_give(t, NULL,
                         jx_extent_loosen(&how, jx_extent_join(low, high), 2));
}
