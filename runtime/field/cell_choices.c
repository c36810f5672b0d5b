/* cell_choices.c - see cell.h: comparisons, and what is chosen by them. */
#include "runtime/field/cell.h"

#include <math.h>

/* ---- which way */

/* The colour of the equation at hand, which has so many ways to
 * go; -1: too many. */
static int colour_of(jx_field *f, int arity)
{
    if (f->colour < 0 || f->arity[f->colour] != arity) {
        if (f->ncolours == JX_COLOURS) {
            f->spent = true;
            return -1;
        }
        f->colour = f->ncolours++;
        f->arity[f->colour] = (uint8_t)arity;
        f->taken[f->colour] = f->colour < f->ndigits ? f->digits[f->colour] : 0;
    }
    return f->colour;
}

/* Whether an element of F_p is exactly that double. */
static bool is_exactly(const jx_field *f, double value, uint64_t v)
{
    int exponent;
    int64_t whole = (int64_t)ldexp(frexp(value, &exponent), 53);

    return jx_mod_dyadic(whole, exponent - 53, f->ring.p) == v;
}

/* Two numbers that differ by a constant cannot have all signs. */
static bool is_possible(const jx_field *f, const jx_choice *a,
                        const jx_choice *b)
{
    double gap = b->off - a->off;
    int low = a->state, high = b->state;

    if (a->base != b->base || !isfinite(gap) || gap == 0 ||
        !is_exactly(f, gap, jx_mod_sub(b->shift, a->shift, f->ring.p)))
        return true;
    if (gap < 0) {
        low = b->state;
        high = a->state;
    }
    return low <= high && !(low == 0 && high == 0);
}

static jx_choice *choice_of(jx_field *f, uint64_t key)
{
    for (size_t i = 0; i < f->choices.count; i++)
        if (f->choices.at[i].key == key)
            return &f->choices.at[i];
    return NULL;
}

static jx_choice *add_choice(jx_field *f, jx_choice like, int arity)
{
    static const int states[] = {1, -1, 0};
    int colour = colour_of(f, arity);

    if (colour < 0)
        return NULL;
    like.colour = colour;
    like.state = like.root ? f->taken[colour] : states[f->taken[colour]];
    for (size_t i = 0; !like.root && i < f->choices.count; i++)
        if (!f->choices.at[i].root && !is_possible(f, &f->choices.at[i], &like))
            JX_PUSH(
                f->ctx->arena, &f->conflicts,
                (jx_conflict){(uint32_t)i + 1, (uint32_t)f->choices.count + 1});
    JX_PUSH(f->ctx->arena, &f->choices, like);
    return f->choices.count ? &f->choices.at[f->choices.count - 1] : NULL;
}

static bool depends_on(const jx_field *f, const jx_cell *cell, uint32_t number)
{
    return cell->by[f->choices.at[number - 1].colour] == number;
}

bool jx_cell_is_impossible(const jx_field *f, const jx_cell *a,
                           const jx_cell *b)
{
    for (size_t i = 0; i < f->conflicts.count; i++) {
        const jx_conflict *no = &f->conflicts.at[i];
        if ((depends_on(f, a, no->one) || depends_on(f, b, no->one)) &&
            (depends_on(f, a, no->other) || depends_on(f, b, no->other)))
            return true;
    }
    return false;
}

static void depend(jx_field *f, const jx_choice *on, jx_cell *to)
{
    uint32_t number = (uint32_t)(on - f->choices.at) + 1,
             *by = &to->by[on->colour];

    to->mixed |= *by && *by != number;
    *by = number;
}

int jx_cell_root_choice(jx_field *f, uint64_t key, jx_cell *to)
{
    jx_choice *choice = choice_of(f, key);

    if (!choice)
        choice = add_choice(f, (jx_choice){.key = key, .root = true}, 2);
    if (!choice)
        return 0;
    depend(f, choice, to);
    return choice->state;
}

static bool is_sign_known(const jx_cell *d)
{
    return d->signs == JX_MAY_BE_NEGATIVE || d->signs == JX_MAY_BE_ZERO ||
           d->signs == JX_MAY_BE_POSITIVE;
}

/* The sign of a number: known, or one of three ways (on which `to`
 * then depends). */
static int sign_of(jx_field *f, const jx_cell *d, bool equality, jx_cell *to)
{
    bool flipped, turned;
    jx_choice *choice, like = {0};

    if (is_sign_known(d))
        return d->signs == JX_MAY_BE_NEGATIVE ? -1
                                              : d->signs == JX_MAY_BE_POSITIVE;
    like.key = jx_cell_key(f, JX_KIND_CHOICE, d, &flipped);
    choice = choice_of(f, like.key);
    if (!choice) {
        jx_cell base = {.v = d->w ? d->v : d->base};
        jx_cell_key(f, JX_KIND_CHOICE, &base, &turned);
        like.base = turned ? jx_mod_sub(0, base.v, f->ring.p) : base.v;
        like.base = d->w ? like.key : like.base;
        like.off = d->w ? 0 : turned ? -d->off : d->off;
        like.shift = jx_mod_sub(turned ? jx_mod_sub(0, d->v, f->ring.p) : d->v,
                                like.base, f->ring.p);
        like.zero = jx_cell_zero_key(f, d);
        /* The state is that of the number whose base is not turned, the key
         * that of the number that is not flipped. */
        like.flipped = flipped != turned;
        choice = add_choice(f, like, 3);
        if (!choice)
            return 1;
    }
    choice->equality |= equality;
    depend(f, choice, to);
    int state = choice->flipped ? -choice->state : choice->state;
    return flipped ? -state : state;
}

bool jx_cell_needs_zero(const jx_field *f, const jx_keys *needs)
{
    for (size_t i = 0; i < f->choices.count; i++)
        if (!f->choices.at[i].root && f->choices.at[i].state == 0 &&
            jx_keys_hold(needs, f->choices.at[i].zero))
            return true;
    return false;
}

/* ---- blended: the chance of each sign, which sum up to 1 */

typedef struct chances {
    uint64_t less, zero, more;
} chances;

static chances chances_of(const jx_field *f, const jx_cell *d)
{
    bool flipped;
    uint64_t p = f->ring.p, key = jx_cell_key(f, JX_KIND_HEADS, d, &flipped);
    uint64_t one = key % p, other = jx_ring_mix(key) % p;
    uint64_t less = flipped ? other : one, more = flipped ? one : other;

    if (is_sign_known(d))
        return (chances){d->signs == JX_MAY_BE_NEGATIVE,
                         d->signs == JX_MAY_BE_ZERO,
                         d->signs == JX_MAY_BE_POSITIVE};
    if (!(d->signs & JX_MAY_BE_NEGATIVE))
        less = 0;
    if (!(d->signs & JX_MAY_BE_POSITIVE))
        more = 0;
    if (!(d->signs & JX_MAY_BE_ZERO))
        less = jx_mod_sub(1, more, p);
    return (chances){less, jx_mod_sub(1, jx_mod_add(less, more, p), p), more};
}

static jx_cell chance(const jx_field *f, uint64_t v, const jx_cell *of)
{
    return (jx_cell){.v = v,
                     .e = jx_ring_mix(f->salt ^ v) % f->ring.q,
                     .blended = v > 1,
                     .over = v > 1,
                     .signs = v == 0   ? JX_MAY_BE_ZERO
                              : v == 1 ? JX_MAY_BE_POSITIVE
                                       : JX_MAY_BE_ZERO | JX_MAY_BE_POSITIVE,
                     .about = v > 1 ? NAN : (double)v,
                     .needs = of->needs,
                     .base = v > 1 ? v : 0,
                     .off = v > 1 ? 0 : (double)v};
}

/* ---- booleans */

jx_cell jx_cell_bool(bool value)
{
    return (jx_cell){.v = value,
                     .e = value,
                     .signs = value ? JX_MAY_BE_POSITIVE : JX_MAY_BE_ZERO,
                     .about = value,
                     .off = value};
}

static bool holds(jx_cell_order order, int sign)
{
    switch (order) {
    case JX_IS_LT: return sign < 0;
    case JX_IS_LE: return sign <= 0;
    case JX_IS_EQ: return sign == 0;
    case JX_IS_NE: return sign != 0;
    case JX_IS_GE: return sign >= 0;
    case JX_IS_GT: return sign > 0;
    }
    return false;
}

/* Where one side is infinite, or no number. */
static jx_cell compare_special(jx_field *f, jx_cell_order order,
                               const jx_cell *a, const jx_cell *b)
{
    jx_cell to;

    if (a->kind == JX_CELL_UNKNOWN || b->kind == JX_CELL_UNKNOWN)
        to = jx_cell_unknown(f, "a comparison of what is not known");
    else if (a->kind == JX_CELL_NAN || b->kind == JX_CELL_NAN)
        to = jx_cell_bool(order == JX_IS_NE);
    else {
        double x = a->kind ? a->about : 0, y = b->kind ? b->about : 0;
        to = jx_cell_bool(holds(order, x < y ? -1 : x > y));
    }
    to = jx_cell_depends(f, to, a);
    return jx_cell_depends(f, to, b);
}

/* Whether what is asked is which of two is the larger: min(x, c)
 * == x is x <= c. */
static bool asks_for_order(const jx_field *f, const jx_cell *a,
                           const jx_cell *b, const jx_cell *d)
{
    bool flipped;
    uint64_t key = jx_cell_key(f, JX_KIND_CHOICE, d, &flipped);

    return a->tie == key || b->tie == key;
}

jx_cell jx_cell_compare(jx_field *f, jx_cell_order order, const jx_cell *a,
                        const jx_cell *b)
{
    jx_cell d, to;

    if (a->kind || b->kind)
        return compare_special(f, order, a, b);
    d = jx_cell_sub(f, a, b);
    if (f->blends) {
        chances c = chances_of(f, &d);
        f->opaque++;
        f->degree = fmax(f->degree, jx_cell_degree(f, &d));
        uint64_t sum = 0;
        sum = jx_mod_add(sum, holds(order, -1) ? c.less : 0, f->ring.p);
        sum = jx_mod_add(sum, holds(order, 0) ? c.zero : 0, f->ring.p);
        sum = jx_mod_add(sum, holds(order, 1) ? c.more : 0, f->ring.p);
        to = chance(f, sum, &d);
        if (f->sets_of_most && to.blended && order != JX_IS_EQ &&
            order != JX_IS_NE)
            jx_cell_note_order(f, &to, holds(order, 1) ? a : b,
                               holds(order, 1) ? b : a);
        if (f->sets_of_most && to.blended && order == JX_IS_EQ)
            jx_cell_note_meeting(f, &to, a, b);
        return to;
    }
    to = jx_cell_depends(f, (jx_cell){0}, &d);
    bool equality = (order == JX_IS_EQ || order == JX_IS_NE) &&
                    !f->asks_nothing && !asks_for_order(f, a, b, &d);
    int sign = sign_of(f, &d, equality, &to);
    return jx_cell_depends(f, jx_cell_bool(holds(order, sign)), &to);
}

jx_cell jx_cell_not(jx_field *f, const jx_cell *a)
{
    if (a->kind)
        return *a;
    return jx_cell_depends(f,
                           a->blended
                               ? chance(f, jx_mod_sub(1, a->v, f->ring.p), a)
                               : jx_cell_bool(!a->v),
                           a);
}

jx_cell jx_cell_and(jx_field *f, const jx_cell *a, const jx_cell *b)
{
    jx_cell to;

    if (a->kind || b->kind)
        return a->kind ? *a : *b;
    if (a->v == b->v)
        to = *a;
    else if (!a->blended)
        to = a->v ? *b : *a;
    else if (!b->blended)
        to = b->v ? *a : *b;
    else
        to = chance(f, jx_mod_mul(a->v, b->v, f->ring.p), a);
    to = jx_cell_depends(f, to, a);
    return jx_cell_depends(f, to, b);
}

jx_cell jx_cell_number(jx_field *f, const jx_cell *of)
{
    jx_cell to = *of;

    (void)f;
    to.blended = false;
    return to;
}

jx_cell jx_cell_select(jx_field *f, const jx_cell *which, const jx_cell *no,
                       const jx_cell *yes)
{
    jx_cell h, rest, to;

    if (which->kind)
        return *which;
    if (!which->blended)
        return jx_cell_depends(f, which->v ? *yes : *no, which);
    if (no->kind == yes->kind && no->v == yes->v && no->w == yes->w &&
        no->about == yes->about) {
        to = jx_cell_depends(f, *no, yes);
        return jx_cell_depends(f, to, which);
    }
    if (no->kind || yes->kind)
        return jx_cell_unknown(
            f, "a branch that is not a number, chosen by numbers");
    if (f->sets_of_most && jx_cell_selects_most(f, which, no, yes, &to))
        return to;
    h = jx_cell_number(f, which);
    rest = chance(f, jx_mod_sub(1, h.v, f->ring.p), &h);
    rest.blended = false;
    to = jx_cell_mul(f, &h, yes);
    rest = jx_cell_mul(f, &rest, no);
    to = jx_cell_add(f, &to, &rest);
    to.blended = no->blended || yes->blended;
    to.signs = no->signs | yes->signs; /* it is one of both */
    return to;
}

jx_cell jx_cell_larger(jx_field *f, bool larger, const jx_cell *a,
                       const jx_cell *b)
{
    jx_cell first = jx_cell_compare(f, larger ? JX_IS_GT : JX_IS_LT, a, b);
    jx_cell to = jx_cell_select(f, &first, b, a);
    bool flipped;

    if (f->blends || a->kind || b->kind)
        return to;
    jx_cell d = jx_cell_sub(f, a, b);
    to.tie =
        is_sign_known(&d) ? 0 : jx_cell_key(f, JX_KIND_CHOICE, &d, &flipped);
    return to;
}

jx_cell jx_cell_as_bool(jx_cell of)
{
    of.blended = of.kind == JX_CELL_NUMBER && of.v > 1;
    if (of.kind == JX_CELL_NUMBER)
        of.signs = of.v > 1 ? JX_MAY_BE_ZERO | JX_MAY_BE_POSITIVE
                   : of.v   ? JX_MAY_BE_POSITIVE
                            : JX_MAY_BE_ZERO;
    return of;
}

/* ---- signs as numbers */

jx_cell jx_cell_sign(jx_field *f, const jx_cell *x)
{
    jx_cell zero = jx_cell_integer(f, 0), more, less;

    if (x->kind == JX_CELL_NAN || x->kind == JX_CELL_UNKNOWN)
        return *x;
    more = jx_cell_compare(f, JX_IS_GT, x, &zero);
    less = jx_cell_compare(f, JX_IS_LT, x, &zero);
    more = jx_cell_number(f, &more);
    less = jx_cell_number(f, &less);
    return jx_cell_sub(f, &more, &less);
}

jx_cell jx_cell_abs(jx_field *f, const jx_cell *x)
{
    jx_cell sign = jx_cell_sign(f, x), to;

    if (x->kind == JX_CELL_INFINITE) {
        to = *x;
        to.about = INFINITY;
        to.signs = JX_MAY_BE_POSITIVE;
        return to;
    }
    if (x->kind)
        return *x;
    to = f->blends || sign.v == 0 ? jx_cell_mul(f, &sign, x)
         : sign.v == 1            ? *x
                                  : jx_cell_neg(f, x);
    /* the sign counts as 0; a maximum, too, is its second operand then */
    if (!f->blends && sign.v == 0 && !jx_cell_is_zero(x))
        to = jx_cell_neg(f, x);
    to.signs = x->signs & JX_MAY_BE_ZERO ? JX_MAY_BE_ZERO | JX_MAY_BE_POSITIVE
                                         : JX_MAY_BE_POSITIVE;
    to.zeros = jx_cell_zeros(f, x);
    return jx_cell_depends(f, to, &sign);
}
