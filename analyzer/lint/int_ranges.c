/* int_ranges.c - see int_ranges.h. */
#include "analyzer/lint/int_ranges.h"
#include "analyzer/lint/look.h"
#include "frontend/ir/element.h"
#include "frontend/ir/params.h"
#include "frontend/ir/range.h"

#include <math.h>

/* Beyond it nothing is told apart. */
static const jx_int FAR = (jx_int)1 << 100;

enum { MOST_ELEMENTS = 1 << 20 }; /* of a constant that is looked at */
enum { MOST_FACTORS = 128 };      /* more than the digits of FAR */

/* What a number is made of. */
typedef enum origin { ANYTHING = 0, CONSTANTS, DECLARED } origin;

typedef struct follower {
    const jx_flat *flat;
    jx_int_range *of;
    bool *left; /* by value: it wrapped, or what it is made of did */
    /* ... how it is made of that, or of constants, is not followed: it may be
     * far from all that its dtype holds */
    bool *lost;
    /* ... it is a number: what narrow types hold or ranges
     * declare, counted with */
    bool *meant;
    origin *origins;
} follower;

static jx_int_range whole(jx_dtype dtype)
{
    const jx_dtype_info *info = jx_dtype_of(dtype);

    switch (info->kind) {
    case JX_KIND_BOOL:
        return (jx_int_range){.low = 0, .high = 1, .known = true};
    case JX_KIND_UINT:
        return (jx_int_range){
            .low = 0, .high = ((jx_int)1 << info->bits) - 1, .known = true};
    case JX_KIND_INT:
        return (jx_int_range){.low = -((jx_int)1 << (info->bits - 1)),
                              .high = ((jx_int)1 << (info->bits - 1)) - 1,
                              .known = true};
    default: return (jx_int_range){0};
    }
}

static jx_int_range between(jx_int low, jx_int high)
{
    return (jx_int_range){.low = low, .high = high, .known = true};
}

static jx_int nearer(jx_int value)
{
    return value > FAR ? FAR : value < -FAR ? -FAR : value;
}

static jx_int times(jx_int a, jx_int b)
{
    jx_int product;

    if (__builtin_mul_overflow(a, b, &product))
        return (a < 0) == (b < 0) ? FAR : -FAR;
    return nearer(product);
}

static void widen(jx_int_range *to, jx_int value)
{
    to->low = value < to->low ? value : to->low;
    to->high = value > to->high ? value : to->high;
}

static jx_int_range product(jx_int_range a, jx_int_range b)
{
    jx_int_range r = between(times(a.low, b.low), times(a.low, b.low));

    widen(&r, times(a.low, b.high));
    widen(&r, times(a.high, b.low));
    widen(&r, times(a.high, b.high));
    return r;
}

static jx_int_range both(jx_int_range a, jx_int_range b)
{
    if (!a.known || !b.known)
        return (jx_int_range){0};
    widen(&a, b.low);
    widen(&a, b.high);
    return a;
}

/* -- what comes from outside ----------------------------------------------- */

static jx_int_range of_array(const jx_array *array)
{
    size_t size = jx_dtype_of(array->aval->dtype)->bytes;
    const unsigned char *data = array->data;
    bool is_signed = jx_dtype_of(array->aval->dtype)->kind == JX_KIND_INT;
    jx_int_range r = {0};

    if (!data || !size || array->bytes / size > MOST_ELEMENTS)
        return whole(array->aval->dtype);
    for (size_t i = 0; i + size <= array->bytes; i += size) {
        uint64_t bits = jx_element_integer(array->aval->dtype, data + i);
        jx_int value = is_signed ? (jx_int)(int64_t)bits : (jx_int)bits;
        if (i == 0)
            r = between(value, value);
        widen(&r, value);
    }
    return r.known ? r : whole(array->aval->dtype);
}

static jx_int_range of_input(const jx_flat *flat, const jx_flat_value *v)
{
    jx_int_range all = whole(v->aval->dtype);
    double low, high;

    if (!all.known || v->level || v->inside || v->input < 0 ||
        !jx_range_at(flat->program, v->input, 0, NULL, &low, &high))
        return all;
    if (low > (double)all.low && low < 0x1p62)
        all.low = (jx_int)ceil(low);
    if (high < (double)all.high && high > -0x1p62)
        all.high = (jx_int)floor(high);
    return all;
}

static jx_int_range of_source(const jx_flat *flat, const jx_flat_value *v)
{
    if (!whole(v->aval->dtype).known)
        return (jx_int_range){0};
    if (v->array)
        return of_array(v->array);
    if (v->literal && !v->literal->dim && !v->literal->array) {
        const jx_array one = {.aval = v->aval,
                              .bytes = jx_dtype_of(v->aval->dtype)->bytes,
                              .data = v->literal->bits};
        return of_array(&one);
    }
    return v->literal ? whole(v->aval->dtype) : of_input(flat, v);
}

/* -- what nodes make ------------------------------------------------------- */

/* How many elements of the first operand are added up or multiplied to one
 * of the result; FAR where that has no bound. */
static jx_int terms_of(const follower *f, const jx_flat_node *node)
{
    const jx_aval *aval = f->flat->values.at[node->ins[0]].aval;
    const void *p = node->eqn->typed;
    bool symbolic = false;
    jx_int terms = 1;

    switch (p ? node->eqn->prim->id : JX_PRIM_unknown) {
    case JX_PRIM_reduce_sum:
    case JX_PRIM_reduce_prod:
        terms = jx_reduced(f->flat, aval, ((const jx_p_axes *)p)->axes.count,
                           ((const jx_p_axes *)p)->axes.at, &symbolic);
        break;
    case JX_PRIM_cumsum:
    case JX_PRIM_cumprod:
        terms = jx_reduced(f->flat, aval, 1,
                           &((const jx_p_cumulative *)p)->axis, &symbolic);
        break;
    case JX_PRIM_dot_general: {
        const jx_p_dot_general *dot = p;
        terms = jx_reduced(
            f->flat, aval, dot->dimension_numbers.lhs_contracting.count,
            dot->dimension_numbers.lhs_contracting.at, &symbolic);
        break;
    }
    default: break;
    }
    return symbolic ? FAR : terms;
}

static jx_int_range sum(jx_int_range a, jx_int terms, bool part)
{
    jx_int_range r = between(times(a.low, terms), times(a.high, terms));

    if (part || terms == 0) /* some of the terms */
        r = both(r, a);
    return r;
}

/* Of factors of which each is anything within `a`: so many of them that more
 * get no farther than FAR, or stay within -1 and 1. */
static jx_int_range factors(jx_int_range a, jx_int count, bool part)
{
    jx_int_range r = between(1, 1), all;

    if (count > 0)
        r = a;
    all = r;
    for (jx_int i = 1; i < count && i < MOST_FACTORS; i++) {
        r = product(r, a);
        all = both(all, r);
    }
    if (count == FAR) /* there may be none */
        all = both(all, between(1, 1));
    return part || count > MOST_FACTORS ? all : r;
}

/* The case that a select takes, if it can take one only. */
static int taken(const follower *f, int value)
{
    const jx_flat_node *node =
        jx_maker(f->flat, value = jx_plain(f->flat, value));

    while (node && node->eqn->prim->id == JX_PRIM_select_n) {
        jx_int_range which = f->of[node->ins[0]];
        if (!which.known || which.low != which.high || which.low < 0 ||
            which.low + 1 >= node->nins)
            break;
        value = jx_plain(f->flat, node->ins[which.low + 1]);
        node = jx_maker(f->flat, value);
    }
    return value;
}

/* x - (what is left of x, or less): not negative where x is not. */
static bool is_part(const follower *f, int part, int of, int depth)
{
    const jx_flat_node *node;

    part = taken(f, part);
    if (part == jx_plain(f->flat, of))
        return true;
    /* what a mask takes of a number below zero may be anything */
    if (depth > 0 && f->of[part].low < 0)
        return false;
    node = jx_maker(f->flat, part);
    switch (node && node->nins == 2 && depth < 4 ? node->eqn->prim->id
                                                 : JX_PRIM_unknown) {
    case JX_PRIM_min:
    case JX_PRIM_and:
        return is_part(f, node->ins[0], of, depth + 1) ||
               is_part(f, node->ins[1], of, depth + 1);
    case JX_PRIM_rem:
    case JX_PRIM_div:
    case JX_PRIM_shift_right_logical:
    case JX_PRIM_shift_right_arithmetic:
        return f->of[node->ins[1]].low >= 0 &&
               is_part(f, node->ins[0], of, depth + 1);
    default: return false;
    }
}

static bool is_most(const follower *f, int most, int of)
{
    const jx_flat_node *node = jx_maker(f->flat, jx_plain(f->flat, most));

    for (int i = 0; node && node->eqn->prim->id == JX_PRIM_max && i < 2; i++)
        if (is_part(f, of, node->ins[i], f->of[node->ins[i]].low < 0))
            return true;
    /* Of all elements, wherever they stand. */
    node = jx_maker(f->flat, jx_shown(f->flat, most));
    return node && node->eqn->prim->id == JX_PRIM_reduce_max &&
           node->eqn->outs[0]->aval->rank == 0 &&
           jx_shown(f->flat, node->ins[0]) == jx_shown(f->flat, of);
}

static jx_int_range difference(const follower *f, const jx_flat_node *node,
                               jx_int_range a, jx_int_range b)
{
    jx_int_range r = between(a.low - b.high, a.high - b.low);

    if (r.low < 0 && a.low >= 0 &&
        (is_part(f, node->ins[1], node->ins[0], 0) ||
         is_most(f, node->ins[0], node->ins[1])))
        r.low = 0;
    return r;
}

static jx_int_range power(jx_int_range a, int64_t exponent)
{
    jx_int_range r = between(1, 1);

    if (exponent < 0 || exponent > 64)
        return (jx_int_range){0};
    for (int64_t i = 0; i < exponent; i++)
        r = product(r, a);
    if (exponent > 0 && exponent % 2 == 0 && r.low < 0)
        r.low = 0;
    return r;
}

static jx_int magnitude(jx_int value)
{
    return value < 0 ? -value : value;
}

static jx_int_range quotient(jx_int_range a, jx_int_range b)
{
    jx_int most = magnitude(a.low) > magnitude(a.high) ? magnitude(a.low)
                                                       : magnitude(a.high);

    if (b.low > 0)
        return between(a.low < 0 ? a.low / b.low : a.low / b.high,
                       a.high < 0 ? a.high / b.high : a.high / b.low);
    return between(-most, most);
}

static jx_int_range remainder_of(jx_int_range a, jx_int_range b)
{
    jx_int most = magnitude(b.low) > magnitude(b.high) ? magnitude(b.low)
                                                       : magnitude(b.high);

    jx_int own = magnitude(a.low) > magnitude(a.high) ? magnitude(a.low)
                                                      : magnitude(a.high);
    most = most > 0 ? most - 1 : 0;
    most = own < most ? own : most;
    if (b.low <= 0 && b.high >= 0)
        return (jx_int_range){0};
    return between(a.low < 0 ? -most : 0, a.high > 0 ? most : 0);
}

static jx_int_range all_operands(const follower *f, const jx_flat_node *node,
                                 int first)
{
    jx_int_range r = f->of[node->ins[first]];

    for (int i = first + 1; i < node->nins; i++)
        r = both(r, f->of[node->ins[i]]);
    return r;
}

static jx_int_range converted(const follower *f, const jx_flat_node *node)
{
    jx_int_range to = whole(node->eqn->outs[0]->aval->dtype);
    jx_int_range from = f->of[node->ins[0]];

    if (!from.known || !to.known)
        return to;
    if ((from.low < to.low || from.high > to.high) && !f->meant[node->ins[0]])
        return to; /* it is cut on purpose */
    return from;
}

/* -- what is a number ---------------------------------------------------------
 *
 * A conversion to fewer bits cuts on purpose what bits are (hashes, packed
 * fields, whatever a wide type holds).  Of a number of which more is known than
 * its type it is not. */

static bool is_source_meant(const jx_flat *flat, const jx_flat_value *v)
{
    const jx_dtype_info *info = jx_dtype_of(v->aval->dtype);
    double low, high;

    if (v->array || v->literal)
        return true;
    return !v->level && !v->inside && v->input >= 0 &&
           (info->bits <= 16 ||
            jx_range_at(flat->program, v->input, 0, NULL, &low, &high));
}

static origin origin_of_source(const jx_flat *flat, const jx_flat_value *v)
{
    double low, high;

    if (v->array || v->literal)
        return CONSTANTS;
    return !v->level && !v->inside && v->input >= 0 &&
                   jx_range_at(flat->program, v->input, 0, NULL, &low, &high)
               ? DECLARED
               : ANYTHING;
}

static origin origin_of(const follower *f, const jx_flat_node *node)
{
    origin all = CONSTANTS;

    for (int i = 0; i < node->nins && all; i++) {
        origin one = f->origins[node->ins[i]];
        all = one > all || !one ? one : all;
    }
    return f->meant[node->outs[0]] ? all : ANYTHING;
}

static bool is_meant(const follower *f, const jx_flat_node *node)
{
    const jx_aval *out = node->eqn->outs[0]->aval;
    int64_t size;

    switch (node->eqn->prim->id) {
    case JX_PRIM_iota:
        return jx_dim_is_int(
            out->shape[((const jx_p_iota *)node->eqn->typed)->dimension],
            &size);
    case JX_PRIM_convert_element_type:
        return out->dtype != JX_BOOL &&
               (f->meant[node->ins[0]] ||
                jx_dtype_of(f->flat->values.at[node->ins[0]].aval->dtype)
                        ->kind == JX_KIND_BOOL);
    case JX_PRIM_add:
    case JX_PRIM_sub:
    case JX_PRIM_mul:
    case JX_PRIM_neg:
    case JX_PRIM_abs:
    case JX_PRIM_square:
    case JX_PRIM_integer_pow:
    case JX_PRIM_max:
    case JX_PRIM_min:
    case JX_PRIM_reduce_sum:
    case JX_PRIM_reduce_max:
    case JX_PRIM_cumsum:
    case JX_PRIM_dot_general: break;
    default:
        if (!jx_shows(node->eqn))
            return false;
    }
    for (int i = 0; i < node->nins; i++)
        if (!f->meant[node->ins[i]])
            return false;
    return true;
}

/* What a comparison is bound to be. */
static jx_int_range compared(jx_prim_id id, jx_int_range a, jx_int_range b)
{
    bool less, more, same;

    if (!a.known || !b.known)
        return between(0, 1);
    less = a.high < b.low;
    more = a.low > b.high;
    same = a.low == a.high && b.low == b.high && a.low == b.low;
    switch (id) {
    case JX_PRIM_eq: return between(same, !(less || more));
    case JX_PRIM_ne: return between(less || more, !same);
    case JX_PRIM_lt: return between(less, a.low < b.high);
    case JX_PRIM_le: return between(a.high <= b.low, !more);
    case JX_PRIM_gt: return between(more, a.high > b.low);
    default: return between(a.low >= b.high, !less);
    }
}

static bool is_zero(const follower *f, int value)
{
    jx_int_range r = f->of[value];

    return r.known && r.low == 0 && r.high == 0;
}

/* A predicate that is `of < 0`, or that and `of != 0`. */
static bool says_negative(const follower *f, int predicate, int of, int depth)
{
    const jx_flat_node *node = jx_maker(f->flat, jx_plain(f->flat, predicate));

    if (!node || node->nins != 2 || depth > 4)
        return false;
    for (int i = 0; i < 2; i++) {
        const jx_flat_node *other =
            jx_maker(f->flat, jx_plain(f->flat, node->ins[1 - i]));
        switch (node->eqn->prim->id) {
        case JX_PRIM_lt:
            return jx_plain(f->flat, node->ins[0]) == of &&
                   is_zero(f, node->ins[1]);
        case JX_PRIM_ne: /* the divisor is not negative, so that signs differ */
            if (is_zero(f, node->ins[1 - i]) &&
                says_negative(f, node->ins[i], of, depth + 1))
                return true;
            break;
        case JX_PRIM_and:
            if (other && other->eqn->prim->id == JX_PRIM_ne &&
                other->nins == 2 && jx_plain(f->flat, other->ins[0]) == of &&
                is_zero(f, other->ins[1]) &&
                says_negative(f, node->ins[i], of, depth + 1))
                return true;
            break;
        default: return false;
        }
    }
    return false;
}

/* select(r < 0, r, r + n) of r = rem(x, n) is x % n as Python has it: of n > 0
 * it lies between 0 and n - 1. */
static bool is_floor_mod(const follower *f, const jx_flat_node *node,
                         jx_int_range *to)
{
    int rest = jx_plain(f->flat, node->ins[1]);
    const jx_flat_node *rem = jx_maker(f->flat, rest);
    const jx_flat_node *added =
        node->nins == 3 ? jx_maker(f->flat, jx_plain(f->flat, node->ins[2]))
                        : NULL;
    jx_int_range by;
    bool same = false;

    if (!rem || rem->eqn->prim->id != JX_PRIM_rem || !added ||
        added->nins != 2 || added->eqn->prim->id != JX_PRIM_add ||
        !says_negative(f, node->ins[0], rest, 0))
        return false;
    by = f->of[rem->ins[1]];
    for (int i = 0; i < 2; i++)
        same |= jx_plain(f->flat, added->ins[i]) == rest &&
                jx_shown(f->flat, added->ins[1 - i]) ==
                    jx_shown(f->flat, rem->ins[1]);
    if (!same || !by.known || by.low <= 0)
        return false;
    *to = between(0, by.high - 1);
    return true;
}

/* Of the cases that can be chosen. */
static jx_int_range chosen(const follower *f, const jx_flat_node *node)
{
    jx_int_range which = f->of[node->ins[0]], r = {0};

    if (is_floor_mod(f, node, &r))
        return r;

    for (int i = 1; i < node->nins; i++) {
        if (which.known && (i - 1 < which.low || i - 1 > which.high))
            continue;
        r = r.known ? both(r, f->of[node->ins[i]]) : f->of[node->ins[i]];
        if (!r.known)
            break;
    }
    return r;
}

/* Along the axis that argmax or argmin looks at. */
static jx_int_range position(const follower *f, const jx_flat_node *node)
{
    const jx_p_arg_reduce *p = node->eqn->typed;
    const jx_aval *aval = f->flat->values.at[node->ins[0]].aval;
    jx_int most = whole(node->eqn->outs[0]->aval->dtype).high;
    int64_t size;

    for (int i = 0; p && i < p->axes.count; i++)
        if (p->axes.at[i] >= 0 && p->axes.at[i] < aval->rank &&
            jx_dim_is_int(aval->shape[p->axes.at[i]], &size) && size > 0 &&
            size - 1 < most)
            most = size - 1;
    return between(0, most);
}

static jx_int_range higher_of(jx_int_range a, jx_int_range b)
{
    return between(a.low > b.low ? a.low : b.low,
                   a.high > b.high ? a.high : b.high);
}

static jx_int_range lower_of(jx_int_range a, jx_int_range b)
{
    return between(a.low < b.low ? a.low : b.low,
                   a.high < b.high ? a.high : b.high);
}

/* Of the largest or smallest along axes, one of which may be empty: that is the
 * dtype's end. */
static jx_int_range extreme(const follower *f, const jx_flat_node *node,
                            jx_int_range a)
{
    const jx_p_axes *p = node->eqn->typed;
    int64_t size;

    for (int i = 0; p && i < p->axes.count; i++) {
        const jx_dim *dim =
            f->flat->values.at[node->ins[0]].aval->shape[p->axes.at[i]];
        if (jx_dim_is_int(dim, &size) ? size == 0 : f->flat->program->base == 0)
            return (jx_int_range){0};
    }
    return a;
}

static jx_int_range clamped(const follower *f, const jx_flat_node *node)
{
    jx_int_range low = f->of[node->ins[0]], x = f->of[node->ins[1]],
                 high = f->of[node->ins[2]];

    if (!x.known || !high.known)
        return (jx_int_range){0};
    if (x.low < low.low)
        x.low = low.low;
    if (x.high > high.high)
        x.high = high.high;
    return x.low <= x.high ? x : whole(node->eqn->outs[0]->aval->dtype);
}

static jx_int_range anded(const jx_aval *out, jx_int_range a, jx_int_range b)
{
    if (out->dtype == JX_BOOL)
        return between(a.low && b.low, a.high && b.high);
    if (a.low >= 0 && b.low >= 0)
        return between(0, a.high < b.high ? a.high : b.high);
    return a.low >= 0   ? between(0, a.high)
           : b.low >= 0 ? between(0, b.high)
                        : (jx_int_range){0};
}

/* Of one operand within `a`. */
static jx_int_range of_one(const follower *f, const jx_flat_node *node,
                           jx_int_range a)
{
    const void *p = node->eqn->typed;
    const jx_aval *out = node->eqn->outs[0]->aval;

    switch (node->eqn->prim->id) {
    case JX_PRIM_reduce_max:
    case JX_PRIM_reduce_min: return extreme(f, node, a);
    case JX_PRIM_dynamic_slice:
    case JX_PRIM_sort:
    case JX_PRIM_cummax:
    case JX_PRIM_cummin: return a;
    case JX_PRIM_gather:
        return p && ((const jx_p_gather *)p)->mode == JX_MODE_FILL_OR_DROP
                   ? (jx_int_range){0}
                   : a;
    case JX_PRIM_reduce_sum: return sum(a, terms_of(f, node), false);
    case JX_PRIM_cumsum: return sum(a, terms_of(f, node), true);
    case JX_PRIM_reduce_prod:
    case JX_PRIM_cumprod:
        /* 10! is far from ten times ten: constants are what they are */
        return f->flat->values.at[node->outs[0]].varies
                   ? factors(a, terms_of(f, node),
                             node->eqn->prim->id == JX_PRIM_cumprod)
                   : (jx_int_range){0};
    case JX_PRIM_not:
        return out->dtype == JX_BOOL ? between(1 - a.high, 1 - a.low)
                                     : (jx_int_range){0};
    case JX_PRIM_neg: return between(-a.high, -a.low);
    case JX_PRIM_abs: {
        jx_int_range r = between(a.low > 0 ? a.low : 0, magnitude(a.low));
        widen(&r, magnitude(a.high));
        return r;
    }
    case JX_PRIM_sign: return between(a.low < 0 ? -1 : 0, a.high > 0 ? 1 : 0);
    case JX_PRIM_square: return power(a, 2);
    case JX_PRIM_population_count:
    case JX_PRIM_clz: return between(0, jx_dtype_of(out->dtype)->bits);
    case JX_PRIM_integer_pow:
        return p ? power(a, ((const jx_p_integer_pow *)p)->y)
                 : (jx_int_range){0};
    default: return (jx_int_range){0};
    }
}

/* Of two operands within `a` and `b`. */
static jx_int_range of_two(const follower *f, const jx_flat_node *node,
                           jx_int_range a, jx_int_range b)
{
    const jx_aval *out = node->eqn->outs[0]->aval;

    switch (node->eqn->prim->id) {
    case JX_PRIM_add:
    case JX_PRIM_add_any: return between(a.low + b.low, a.high + b.high);
    case JX_PRIM_sub: return difference(f, node, a, b);
    case JX_PRIM_mul: return product(a, b);
    case JX_PRIM_dot_general:
        return sum(product(a, b), terms_of(f, node), false);
    case JX_PRIM_max: return higher_of(a, b);
    case JX_PRIM_min: return lower_of(a, b);
    case JX_PRIM_or:
        return out->dtype == JX_BOOL ? higher_of(a, b) : (jx_int_range){0};
    case JX_PRIM_and: return anded(out, a, b);
    case JX_PRIM_rem: return remainder_of(a, b);
    case JX_PRIM_div: return quotient(a, b);
    case JX_PRIM_shift_right_logical:
    case JX_PRIM_shift_right_arithmetic:
        if (a.low < 0 || b.low < 0 || b.high > 63)
            return (jx_int_range){0};
        return between(a.low >> (int)b.high, a.high >> (int)b.low);
    default: return (jx_int_range){0};
    }
}

/* As computed, without wrapping. */
static jx_int_range computed(const follower *f, const jx_flat_node *node)
{
    const void *p = node->eqn->typed;
    jx_int_range a = node->nins ? f->of[node->ins[0]] : (jx_int_range){0};
    jx_int_range b = node->nins > 1 ? f->of[node->ins[1]] : (jx_int_range){0};
    const jx_aval *out = node->eqn->outs[0]->aval;
    jx_int_range one;
    int64_t size;

    switch (node->eqn->prim->id) {
    case JX_PRIM_eq:
    case JX_PRIM_ne:
    case JX_PRIM_lt:
    case JX_PRIM_le:
    case JX_PRIM_gt:
    case JX_PRIM_ge: return compared(node->eqn->prim->id, a, b);
    case JX_PRIM_convert_element_type: return converted(f, node);
    case JX_PRIM_iota:
        if (p && ((const jx_p_iota *)p)->dimension < out->rank &&
            jx_dim_is_int(out->shape[((const jx_p_iota *)p)->dimension], &size))
            return between(0, size > 0 ? size - 1 : 0);
        return (jx_int_range){.high = whole(out->dtype).high, .known = true};
    case JX_PRIM_argmax:
    case JX_PRIM_argmin: return position(f, node);
    case JX_PRIM_select_n: return chosen(f, node);
    default: break;
    }
    if (!node->nins || !a.known)
        return (jx_int_range){0};
    if (jx_shows(node->eqn))
        return a;
    switch (node->eqn->prim->id) {
    case JX_PRIM_concatenate:
    case JX_PRIM_pad:
    case JX_PRIM_stack: return all_operands(f, node, 0);
    case JX_PRIM_clamp: return clamped(f, node);
    default: break;
    }
    one = of_one(f, node, a);
    return one.known || !b.known ? one : of_two(f, node, a, b);
}

/* What several arrays are sorted to: each to its own elements. */
static bool is_sort(const jx_flat_node *node)
{
    return node->eqn->prim->id == JX_PRIM_sort && node->nouts == node->nins;
}

static void follow_node(follower *f, const jx_flat_node *node)
{
    jx_int_range r;
    bool left = false, lost = false;

    for (int i = 0; i < node->nins; i++) {
        left |= f->left[node->ins[i]];
        lost |= f->lost[node->ins[i]];
    }
    for (int i = 0; i < node->nouts; i++) {
        jx_int_range all = whole(f->flat->values.at[node->outs[i]].aval->dtype);
        if (is_sort(node) && f->of[node->ins[i]].known)
            all = between(f->of[node->ins[i]].low, f->of[node->ins[i]].high);
        f->of[node->outs[i]] = all;
        f->left[node->outs[i]] = left && all.known;
        f->lost[node->outs[i]] = left || lost;
    }
    if (node->nouts != 1 || node->nresults)
        return;
    f->meant[node->outs[0]] = node->eqn->typed && is_meant(f, node);
    f->origins[node->outs[0]] = origin_of(f, node);
    r = whole(node->eqn->outs[0]->aval->dtype);
    jx_int_range made = r.known ? computed(f, node) : (jx_int_range){0};
    f->lost[node->outs[0]] =
        lost ||
        (!made.known && (left || !f->flat->values.at[node->outs[0]].varies));
    if (made.known && made.low >= r.low && made.high <= r.high) {
        f->of[node->outs[0]] = between(made.low, made.high);
    } else if (made.known) {
        f->of[node->outs[0]].leaves = !lost;
        f->of[node->outs[0]].wraps = !left;
        f->of[node->outs[0]].least = made.low;
        f->of[node->outs[0]].most = made.high;
        f->of[node->outs[0]].declared = f->origins[node->outs[0]] == DECLARED;
        f->left[node->outs[0]] = true;
    }
}

const jx_int_range *jx_int_ranges(const jx_flat *flat)
{
    jx_arena *arena = flat->program->ctx->arena;
    size_t count = flat->values.count;
    follower f = {flat,
                  JX_NEW_ARRAY(arena, count, jx_int_range),
                  JX_NEW_ARRAY(arena, count, bool),
                  JX_NEW_ARRAY(arena, count, bool),
                  JX_NEW_ARRAY(arena, count, bool),
                  JX_NEW_ARRAY(arena, count, origin)};

    if (!f.of || !f.left || !f.lost || !f.meant || !f.origins)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (flat->values.at[i].node < 0) {
            f.of[i] = of_source(flat, &flat->values.at[i]);
            f.meant[i] =
                f.of[i].known && is_source_meant(flat, &flat->values.at[i]);
            f.origins[i] = origin_of_source(flat, &flat->values.at[i]);
        }
    for (size_t n = 0; n < flat->nodes.count; n++)
        follow_node(&f, &flat->nodes.at[n]);
    return f.of;
}
