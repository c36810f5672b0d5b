/* guards.c - what a predicate says of the values that it was made of.
 *
 * Where `x > 0` chooses between elements, x is positive in those that it
 * takes; so is what is computed of x, element by element.  Of a predicate
 * that is a scalar, or that is the conjunction of all its elements, that
 * is true of all. */
#include "analyzer/values/values_parts.h"

#include <math.h>

enum { MOST_FACTS = 16, MOST_DEPTH = 12, MOST_VISITS = 80 };

typedef struct fact {
    int number;
    jx_extent is;     /* meets it */
    bool number_only; /* and no NaN */
} fact;

typedef struct guard {
    jx_valuing *in;
    int count, visits;
    fact facts[MOST_FACTS];
    const jx_made
        *repeat; /* the broadcast under which all this holds, or NULL */
} guard;

static void learn(guard *g, const jx_known *value, jx_extent is,
                  bool number_only)
{
    const jx_made *made = jx_valuing_made(g->in, value);
    jx_prim_id id = made->eqn ? made->eqn->prim->id : JX_PRIM_unknown;

    if (g->count == MOST_FACTS)
        return;
    g->facts[g->count++] = (fact){value->number, is, number_only};
    if (id == JX_PRIM_neg && jx_dtype_is_float(made->aval->dtype))
        learn(g, &made->ins[0], jx_extent_between(-is.hi, -is.lo), number_only);
    /* Of integers the least one has no size. */
    if (id == JX_PRIM_abs && jx_dtype_is_float(made->aval->dtype) && is.hi >= 0)
        learn(g, &made->ins[0], jx_extent_between(-is.hi, is.hi), number_only);
}

/* What is compared, and XLA may compute again where that is used, with a product
 * or in 16 bits unrounded: it is off by half a step there. */
static bool is_loose(const guard *g, const jx_known *value)
{
    const jx_bounding t = {.in = g->in};
    jx_dtype dtype = jx_valuing_made(g->in, value)->aval->dtype;

    return jx_dtype_is_float(dtype) && jx_relate_slack(&t, value) > 0;
}

/* What is less than a number: by half of a step, since no number lies between;
 * but for what is not rounded. */
static double below(const guard *g, const jx_known *value, double end)
{
    jx_dtype dtype = jx_valuing_made(g->in, value)->aval->dtype;
    bool narrow = jx_dtype_of(dtype)->bits < 32;

    if (!jx_dtype_is_float(dtype))
        return ceil(end) - 1;
    if (!isfinite(end))
        return end;
    return is_loose(g, value)
               ? end - jx_ulp_of(narrow ? JX_F32 : dtype, end) / 8
               : end - jx_ulp_of(dtype, end) / 2;
}

static double above(const guard *g, const jx_known *value, double end)
{
    return -below(g, value, -end);
}

/* What compares as equal to numbers up to, or from, an end: where subnormal
 * numbers are taken for zeros, these do. */
static double up_to(const guard *g, const jx_known *value, double end)
{
    jx_dtype dtype = jx_valuing_made(g->in, value)->aval->dtype;
    double least = jx_extent_normal(dtype);

    if (g->in->semantics != JX_IEEE && jx_dtype_is_float(dtype) &&
        fabs(end) < least)
        return least;
    return isfinite(end) && is_loose(g, value) ? end + jx_ulp_of(dtype, end) / 2
                                               : end;
}

static double down_to(const guard *g, const jx_known *value, double end)
{
    return -up_to(g, value, -end);
}

static void learn_order(guard *g, const jx_made *made, bool strict,
                        bool swapped, bool sure)
{
    const jx_known *less = &made->ins[swapped ? 1 : 0],
                   *more = &made->ins[swapped ? 0 : 1];
    jx_extent lo = less->is, hi = more->is;

    if (lo.lo > lo.hi || hi.lo > hi.hi)
        return;
    /* Where a comparison fails, NaN may be why, and then nothing is
     * known of the other. */
    if (sure || !hi.nan)
        learn(g, less,
              jx_extent_between(-INFINITY, strict ? below(g, less, hi.hi)
                                                  : up_to(g, less, hi.hi)),
              sure);
    if (sure || !lo.nan)
        learn(g, more,
              jx_extent_between(strict ? above(g, more, lo.lo)
                                       : down_to(g, more, lo.lo),
                                INFINITY),
              sure);
}

static void learn_equal(guard *g, const jx_made *made)
{
    for (int i = 0; i < 2; i++) {
        const jx_known *value = &made->ins[i];
        jx_extent is = made->ins[1 - i].is;
        if (!jx_extent_is_empty(is))
            is = (jx_extent){down_to(g, value, is.lo), up_to(g, value, is.hi),
                             is.nan};
        learn(g, &made->ins[i], is, true);
    }
}

/* What differs from an end lies beyond it. */
static void learn_different(guard *g, const jx_made *made, int which)
{
    const jx_known *value = &made->ins[which];
    jx_extent x = value->is, other = made->ins[1 - which].is;

    if (!jx_extent_is_one(other))
        return;
    if (x.lo == other.lo)
        learn(g, value, jx_extent_between(above(g, value, x.lo), INFINITY),
              false);
    if (x.hi == other.lo)
        learn(g, value, jx_extent_between(-INFINITY, below(g, value, x.hi)),
              false);
}

static void collect(guard *g, const jx_known *predicate, bool holds, int depth);

/* Of two truths that are equal, or differ, where one is known, the other. */
static void collect_truths(guard *g, const jx_made *made, bool equal, int depth)
{
    for (int i = 0; i < 2; i++) {
        jx_extent is = made->ins[1 - i].is;
        if (jx_extent_is_one(is))
            collect(g, &made->ins[i], equal == (is.lo == 1), depth + 1);
    }
}

static void collect(guard *g, const jx_known *predicate, bool holds, int depth)
{
    const jx_made *made = jx_valuing_made(g->in, predicate);
    jx_prim_id id = made->eqn ? made->eqn->prim->id : JX_PRIM_unknown;

    learn(g, predicate, jx_extent_of(holds), true);
    if (!made->eqn || depth > MOST_DEPTH || made->out)
        return;
    switch ((int)id) {
    case JX_PRIM_lt: learn_order(g, made, holds, !holds, holds); return;
    case JX_PRIM_le: learn_order(g, made, !holds, !holds, holds); return;
    case JX_PRIM_gt: learn_order(g, made, holds, holds, holds); return;
    case JX_PRIM_ge: learn_order(g, made, !holds, holds, holds); return;
    case JX_PRIM_eq:
    case JX_PRIM_ne:
        if (jx_atom_aval(made->eqn->ins[0])->dtype == JX_BOOL)
            collect_truths(g, made, holds == (id == JX_PRIM_eq), depth);
        if (holds == (id == JX_PRIM_eq)) {
            learn_equal(g, made);
        } else {
            learn_different(g, made, 0);
            learn_different(g, made, 1);
        }
        return;
    case JX_PRIM_is_finite:
        if (holds)
            learn(g, &made->ins[0],
                  jx_extent_finite(jx_atom_aval(made->eqn->ins[0])->dtype),
                  true);
        return;
    case JX_PRIM_and:
    case JX_PRIM_or:
        if (holds == (id == JX_PRIM_and) && made->aval->dtype == JX_BOOL)
            for (int i = 0; i < 2; i++)
                collect(g, &made->ins[i], holds, depth + 1);
        return;
    case JX_PRIM_not:
        if (made->aval->dtype == JX_BOOL)
            collect(g, &made->ins[0], !holds, depth + 1);
        return;
    case JX_PRIM_convert_element_type:
        if (jx_atom_aval(made->eqn->ins[0])->dtype == JX_BOOL)
            collect(g, &made->ins[0], holds, depth + 1);
        return;
    default: return;
    }
}

static jx_extent met(jx_extent is, const fact *f)
{
    is = jx_extent_meet(is, f->is);
    is.nan = is.nan && !f->number_only;
    return is;
}

static jx_known within(guard *g, const jx_known *value, int depth);

/* An equation again, on operands that are narrower. */
static bool again(guard *g, const jx_made *made, jx_extent *is, int depth)
{
    jx_known few[4], *ins = few;
    jx_known out = {jx_extent_whole(made->aval->dtype), -1, NULL};
    jx_valuing *in = g->in;
    jx_bounding t = {.in = in, .eqn = made->eqn, .outs = &out};
    bool narrower = false, recording = in->recording, done;

    if (made->eqn->nins > (int)(sizeof few / sizeof *few))
        ins = JX_NEW_ARRAY(jx_valuing_arena(in), made->eqn->nins, jx_known);
    t.ins = ins;
    for (int i = 0; ins && i < made->eqn->nins; i++) {
        ins[i] = within(g, &made->ins[i], depth + 1);
        narrower |= !jx_extent_same(ins[i].is, made->ins[i].is);
    }
    if (!ins || !narrower)
        return false;
    in->recording = false;
    done = jx_bound_rule_of(made->eqn->prim->id)(&t);
    in->recording = recording;
    *is = out.is;
    return done;
}

static bool is_elementwise(const jx_made *made)
{
    if (!made->eqn || made->eqn->nouts != 1 || !made->eqn->typed ||
        !jx_prim_in_family(made->eqn->prim->id, "elementwise"))
        return false;
    /* A scalar stands for as many elements as the others have. */
    for (int i = 0; i < made->eqn->nins; i++) {
        const jx_aval *of = jx_atom_aval(made->eqn->ins[i]);
        if (of->rank && !jx_aval_same_shape(of, made->aval))
            return false;
    }
    return true;
}

/* Both repeat in the same way what has one shape. */
static bool repeats_alike(const jx_made *a, const jx_made *b)
{
    const jx_p_broadcast_in_dim *p, *q;

    if (!a->eqn || !b->eqn || a->eqn->prim->id != JX_PRIM_broadcast_in_dim ||
        b->eqn->prim->id != JX_PRIM_broadcast_in_dim || !a->eqn->typed ||
        !b->eqn->typed)
        return false;
    p = a->eqn->typed;
    q = b->eqn->typed;
    if (!jx_aval_same_shape(a->aval, b->aval) ||
        !jx_aval_same_shape(jx_atom_aval(a->eqn->ins[0]),
                            jx_atom_aval(b->eqn->ins[0])) ||
        p->broadcast_dimensions.count != q->broadcast_dimensions.count)
        return false;
    for (int i = 0; i < p->broadcast_dimensions.count; i++)
        if (p->broadcast_dimensions.at[i] != q->broadcast_dimensions.at[i])
            return false;
    return true;
}

static jx_known within(guard *g, const jx_known *value, int depth)
{
    const jx_made made = *jx_valuing_made(g->in, value);
    jx_known to = *value;
    jx_extent is;

    if (!g->repeat)
        for (int i = 0; i < g->count; i++)
            if (g->facts[i].number == value->number)
                to.is = met(to.is, &g->facts[i]);
    if (depth > MOST_DEPTH || ++g->visits > MOST_VISITS)
        return to;
    if (g->repeat && repeats_alike(g->repeat, &made)) {
        const jx_made *repeat = g->repeat;
        g->repeat = NULL;
        is = within(g, &made.ins[0], depth + 1).is;
        g->repeat = repeat;
    } else if (!is_elementwise(&made) || !again(g, &made, &is, depth)) {
        is = to.is;
    }
    to.is = (jx_extent){fmax(to.is.lo, is.lo), fmin(to.is.hi, is.hi),
                        to.is.nan && is.nan};
    if (jx_extent_is_finite(to.is))
        to.lost = NULL;
    return to;
}

/* Of a and b one at least is so, and nobody says which. */
bool jx_guard_is_split(const jx_made *made, bool holds)
{
    return made->eqn && made->aval->dtype == JX_BOOL &&
           made->eqn->prim->id == (holds ? JX_PRIM_or : JX_PRIM_and);
}

/* Cases of cases multiply: they are not looked at. */
static bool is_split_again(const jx_valuing *in, const jx_made *made,
                           bool holds)
{
    return jx_guard_is_split(jx_valuing_made(in, &made->ins[0]), holds) &&
           jx_guard_is_split(jx_valuing_made(in, &made->ins[1]), holds);
}

static jx_known guarded_by_either(jx_valuing *in, const jx_made *made,
                                  bool holds, const jx_known *value)
{
    jx_known one = jx_guarded(in, &made->ins[0], holds, value),
             other = jx_guarded(in, &made->ins[1], holds, value);

    one.is = jx_extent_join(one.is, other.is);
    one.lost = one.lost ? one.lost : other.lost;
    return one;
}

jx_known jx_guarded(jx_valuing *in, const jx_known *predicate, bool holds,
                    const jx_known *value)
{
    guard g = {.in = in};
    const jx_made made = *jx_valuing_made(in, predicate);

    if (jx_guard_is_split(&made, holds) && !is_split_again(in, &made, holds))
        return guarded_by_either(in, &made, holds, value);
    if (made.eqn && made.eqn->prim->id == JX_PRIM_broadcast_in_dim &&
        made.eqn->typed) {
        g.repeat = &made;
        collect(&g, &made.ins[0], holds, 0);
    } else {
        collect(&g, predicate, holds, 0);
    }
    return within(&g, value, 0);
}

/* Of a scalar, or of all elements of what it is the conjunction of. */
void jx_guard_all(jx_valuing *in, const jx_known *predicate, bool holds,
                  jx_known *values, int count)
{
    guard g = {.in = in};
    const jx_made *made = jx_valuing_made(in, predicate);

    if (made->eqn && made->eqn->prim->id == JX_PRIM_convert_element_type &&
        jx_atom_aval(made->eqn->ins[0])->dtype == JX_BOOL) {
        predicate = &made->ins[0];
        made = jx_valuing_made(in, predicate);
    }
    if (made->eqn && made->eqn->typed &&
        made->eqn->prim->id ==
            (holds ? JX_PRIM_reduce_and : JX_PRIM_reduce_or) &&
        !made->aval->rank)
        predicate = &made->ins[0];
    collect(&g, predicate, holds, 0);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < g.count; k++)
            if (values[i].number == g.facts[k].number) {
                values[i].is = met(values[i].is, &g.facts[k]);
                if (jx_extent_is_finite(values[i].is))
                    values[i].lost = NULL;
            }
}
