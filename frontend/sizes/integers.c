/* integers.c - the integers that an equation gives, from those of its operands.
 *
 * Only small tensors of 32 and 64 bit integers, and truth values, are
 * followed; the numbers of the program itself are followed as far as they
 * fit their type.  A primitive that is not in the table gives values that
 * are not known. */
#include "frontend/ir/params.h"
#include "frontend/sizes/sizes.h"

#include <string.h>

/* MOST_WORK: equations looked at; past it nothing more is known, however
 * functions call each other. */
enum {
    MOST_OPERANDS = 16,
    MOST_POWER = 16,
    MOST_SHIFT = 30,
    MOST_WORK = 250000
};

/* The integers of one equation. */
typedef struct reading {
    jx_sizes *s;
    const jx_eqn *eqn;
    const void *params;
    int nins;
    jx_sz_info ins[MOST_OPERANDS];
    const jx_aval *out;        /* of the result */
    int64_t shape[JX_SZ_RANK]; /* its sizes */
    int count;                 /* of its elements */
    jx_sz_elem *elems;
} reading;

static bool is_size(jx_dtype dtype)
{
    return jx_dtype_is_integer(dtype) && jx_dtype_of(dtype)->bits >= 32;
}

/* The sizes as numbers; false: they are none, or too many. */
static bool shape_of(const jx_aval *aval, int64_t *to)
{
    if (aval->kind != JX_AVAL_ARRAY || aval->rank > JX_SZ_RANK)
        return false;
    for (int i = 0; i < aval->rank; i++)
        if ((to[i] = jx_dim_value(aval->shape[i])) < 0)
            return false;
    return true;
}

static const jx_aval *in_aval(const reading *r, int operand)
{
    return jx_atom_aval(r->eqn->ins[operand]);
}

/* -- elementwise ----------------------------------------------------------- */

typedef jx_sz_elem elementwise(reading *r, const jx_sz_elem *in);

static jx_sz_elem of_dim(const jx_dim *dim)
{
    return (jx_sz_elem){dim, NULL};
}

static jx_sz_elem of_cond(const jx_sz_cond *cond)
{
    return (jx_sz_elem){NULL, cond};
}

static jx_sz_elem add(reading *r, const jx_sz_elem *in)
{
    return of_dim(jx_dim_add(r->s->dims, in[0].dim, in[1].dim));
}

static jx_sz_elem subtract(reading *r, const jx_sz_elem *in)
{
    return of_dim(jx_dim_sub(r->s->dims, in[0].dim, in[1].dim));
}

static jx_sz_elem multiply(reading *r, const jx_sz_elem *in)
{
    return of_dim(jx_dim_mul(r->s->dims, in[0].dim, in[1].dim));
}

static jx_sz_elem divide(reading *r, const jx_sz_elem *in)
{
    return of_dim(jx_sz_divide(r->s, in[0].dim, in[1].dim));
}

static jx_sz_elem rest(reading *r, const jx_sz_elem *in)
{
    return of_dim(jx_sz_remainder(r->s, in[0].dim, in[1].dim));
}

static jx_sz_elem maximum(reading *r, const jx_sz_elem *in)
{
    return of_dim(jx_dim_max(r->s->dims, in[0].dim, in[1].dim));
}

static jx_sz_elem minimum(reading *r, const jx_sz_elem *in)
{
    return of_dim(jx_dim_min(r->s->dims, in[0].dim, in[1].dim));
}

static jx_sz_elem clamp(reading *r, const jx_sz_elem *in)
{
    return of_dim(jx_dim_min(
        r->s->dims, jx_dim_max(r->s->dims, in[0].dim, in[1].dim), in[2].dim));
}

static jx_sz_elem negate(reading *r, const jx_sz_elem *in)
{
    return of_dim(jx_dim_neg(r->s->dims, in[0].dim));
}

static jx_sz_elem absolute(reading *r, const jx_sz_elem *in)
{
    return of_dim(jx_sz_abs(r->s, in[0].dim));
}

static jx_sz_elem sign(reading *r, const jx_sz_elem *in)
{
    return of_dim(jx_sz_sign(r->s, in[0].dim));
}

static jx_sz_elem power(reading *r, const jx_sz_elem *in)
{
    int64_t exponent;

    if (!in[0].dim || !in[1].dim || !jx_dim_is_int(in[1].dim, &exponent) ||
        exponent < 0 || exponent > MOST_POWER)
        return of_dim(NULL);
    return of_dim(jx_dim_pow(r->s->dims, in[0].dim, exponent));
}

static jx_sz_elem integer_power(reading *r, const jx_sz_elem *in)
{
    const jx_p_integer_pow *p = r->params;

    return power(r,
                 (jx_sz_elem[]){in[0], of_dim(jx_dim_int(r->s->dims, p->y))});
}

static jx_sz_elem square(reading *r, const jx_sz_elem *in)
{
    return multiply(r, (jx_sz_elem[]){in[0], in[0]});
}

/* 2^n for a number n; NULL for what is none. */
static const jx_dim *power_of_two(reading *r, const jx_dim *n)
{
    int64_t shift;

    if (!n || !jx_dim_is_int(n, &shift) || shift < 0 || shift > MOST_SHIFT)
        return NULL;
    return jx_dim_int(r->s->dims, (int64_t)1 << shift);
}

static jx_sz_elem shift_left(reading *r, const jx_sz_elem *in)
{
    return of_dim(
        jx_dim_mul(r->s->dims, in[0].dim, power_of_two(r, in[1].dim)));
}

static jx_sz_elem shift_right(reading *r, const jx_sz_elem *in)
{
    return of_dim(
        jx_dim_floordiv(r->s->dims, in[0].dim, power_of_two(r, in[1].dim)));
}

static bool is_negative_somewhere(const reading *r, const jx_dim *dim)
{
    jx_dim_range range = jx_sz_bounds(r->s, dim);

    return !range.has_low || range.low < 0;
}

static jx_sz_elem shift_right_logical(reading *r, const jx_sz_elem *in)
{
    if (!in[0].dim || is_negative_somewhere(r, in[0].dim))
        return of_dim(NULL);
    return shift_right(r, in);
}

static jx_sz_elem and (reading * r, const jx_sz_elem *in)
{
    return of_cond(jx_sz_and(r->s, in[0].cond, in[1].cond));
}

static jx_sz_elem or (reading * r, const jx_sz_elem *in)
{
    return of_cond(jx_sz_or(r->s, in[0].cond, in[1].cond));
}

static jx_sz_elem not(reading * r, const jx_sz_elem *in)
{
    return of_cond(jx_sz_not(r->s, in[0].cond));
}

static const jx_sz_cond *differ(reading *r, const jx_sz_cond *a,
                                const jx_sz_cond *b)
{
    return jx_sz_or(r->s, jx_sz_and(r->s, a, jx_sz_not(r->s, b)),
                    jx_sz_and(r->s, jx_sz_not(r->s, a), b));
}

static jx_sz_elem xor
    (reading * r, const jx_sz_elem *in) {
        return of_cond(differ(r, in[0].cond, in[1].cond));
    }

    static jx_sz_elem compare(reading *r, const jx_sz_elem *in)
{
    jx_prim_id prim = r->eqn->prim->id;
    const jx_sz_cond *other;

    if (in[0].dim && in[1].dim)
        return of_cond(jx_sz_compare(r->s, prim, in[0].dim, in[1].dim));
    other = differ(r, in[0].cond, in[1].cond);
    if (prim == JX_PRIM_ne)
        return of_cond(other);
    return of_cond(prim == JX_PRIM_eq ? jx_sz_not(r->s, other) : NULL);
}

/* The case of what is false comes first. */
static jx_sz_elem choose(reading *r, const jx_sz_elem *in)
{
    const jx_sz_cond *c = in[0].cond;

    if (in[1].dim || in[2].dim)
        return of_dim(jx_sz_select(r->s, c, in[2].dim, in[1].dim));
    return of_cond(jx_sz_or(r->s, jx_sz_and(r->s, c, in[2].cond),
                            jx_sz_and(r->s, jx_sz_not(r->s, c), in[1].cond)));
}

static jx_sz_elem convert(reading *r, const jx_sz_elem *in)
{
    bool to_bool = r->out->dtype == JX_BOOL;

    if (to_bool && in[0].dim)
        return of_cond(jx_sz_compare(r->s, JX_PRIM_ne, in[0].dim,
                                     jx_dim_int(r->s->dims, 0)));
    if (!to_bool && in[0].cond)
        return of_dim(jx_sz_indicator(r->s, in[0].cond));
    return in[0];
}

/* An operand's element for the `index`th of the result: its only one if it is
 * a scalar (a predicate, the ends of clamp). */
static jx_sz_elem element_at(const jx_sz_info *in, int index)
{
    if (!in->elems || (in->count != 1 && index >= in->count))
        return (jx_sz_elem){0};
    return in->elems[in->count == 1 ? 0 : index];
}

static bool each(reading *r, elementwise *rule, int nins)
{
    jx_sz_elem in[3];

    if (r->nins != nins)
        return false;
    for (int i = 0; i < r->count; i++) {
        for (int k = 0; k < nins; k++)
            in[k] = element_at(&r->ins[k], i);
        r->elems[i] = rule(r, in);
    }
    return true;
}

/* -- moving elements ------------------------------------------------------- */

/* Row-major coordinates of the `index`th element. */
static void coordinates(int rank, const int64_t *shape, int64_t index,
                        int64_t *to)
{
    for (int i = rank - 1; i >= 0; i--) {
        to[i] = shape[i] ? index % shape[i] : 0;
        index = shape[i] ? index / shape[i] : 0;
    }
}

static int64_t position(int rank, const int64_t *shape, const int64_t *at)
{
    int64_t index = 0;

    for (int i = 0; i < rank; i++)
        index = index * shape[i] + at[i];
    return index;
}

static bool moved(reading *r, int to, int operand, int64_t index)
{
    if (!r->ins[operand].elems || index < 0 || index >= r->ins[operand].count)
        return false;
    r->elems[to] = r->ins[operand].elems[index];
    return true;
}

/* Coordinates of the operand for those of the result; false: none. */
typedef bool source(const reading *r, const int64_t *to, const int64_t *shape,
                    int64_t *from);

static bool moved_by(reading *r, source *rule)
{
    const jx_aval *in = in_aval(r, 0);
    int64_t shape[JX_SZ_RANK], to[JX_SZ_RANK], from[JX_SZ_RANK];

    if (!r->ins[0].elems || !shape_of(in, shape))
        return false;
    for (int i = 0; i < r->count; i++) {
        coordinates(r->out->rank, r->shape, i, to);
        if (!rule(r, to, shape, from) ||
            !moved(r, i, 0, position(in->rank, shape, from)))
            return false;
    }
    return true;
}

/* Of a reshape, and of what only hands its operand on. */
static bool same_order(reading *r)
{
    for (int i = 0; i < r->count; i++)
        if (!moved(r, i, 0, i))
            return false;
    return true;
}

static bool has_axes(jx_ints axes, int count, int rank)
{
    for (int i = 0; i < axes.count; i++)
        if (axes.at[i] < 0 || axes.at[i] >= rank)
            return false;
    return axes.count == count;
}

static bool broadcast_from(const reading *r, const int64_t *to,
                           const int64_t *shape, int64_t *from)
{
    const jx_p_broadcast_in_dim *p = r->params;

    for (int k = 0; k < p->broadcast_dimensions.count; k++)
        from[k] = shape[k] == 1 ? 0 : to[p->broadcast_dimensions.at[k]];
    return true;
}

static bool broadcast(reading *r)
{
    const jx_p_broadcast_in_dim *p = r->params;

    return has_axes(p->broadcast_dimensions, in_aval(r, 0)->rank,
                    r->out->rank) &&
           moved_by(r, broadcast_from);
}

static bool transposed_from(const reading *r, const int64_t *to,
                            const int64_t *shape, int64_t *from)
{
    const jx_p_transpose *p = r->params;

    (void)shape;
    for (int k = 0; k < p->permutation.count; k++)
        from[p->permutation.at[k]] = to[k];
    return true;
}

static bool transpose(reading *r)
{
    const jx_p_transpose *p = r->params;

    return has_axes(p->permutation, in_aval(r, 0)->rank, r->out->rank) &&
           moved_by(r, transposed_from);
}

static bool reversed_from(const reading *r, const int64_t *to,
                          const int64_t *shape, int64_t *from)
{
    const jx_p_dimensions *p = r->params;

    for (int k = 0; k < r->out->rank; k++)
        from[k] = to[k];
    for (int k = 0; k < p->dimensions.count; k++) {
        int64_t axis = p->dimensions.at[k];
        from[axis] = shape[axis] - 1 - to[axis];
    }
    return true;
}

static bool reverse(reading *r)
{
    const jx_p_dimensions *p = r->params;

    return r->out->rank == in_aval(r, 0)->rank &&
           has_axes(p->dimensions, p->dimensions.count, r->out->rank) &&
           moved_by(r, reversed_from);
}

static bool concatenate(reading *r)
{
    const jx_p_concatenate *p = r->params;
    int64_t axis = p->dimension, to[JX_SZ_RANK], shape[JX_SZ_RANK];

    if (axis < 0 || axis >= r->out->rank || r->nins != r->eqn->nins)
        return false;
    for (int i = 0; i < r->count; i++) {
        int operand = 0;
        coordinates(r->out->rank, r->shape, i, to);
        for (; operand < r->nins; operand++) {
            if (in_aval(r, operand)->rank != r->out->rank ||
                !shape_of(in_aval(r, operand), shape))
                return false;
            if (to[axis] < shape[axis])
                break;
            to[axis] -= shape[axis];
        }
        if (operand == r->nins)
            return false;
        /* An operand that is not known leaves its part open. */
        if (r->ins[operand].elems)
            moved(r, i, operand, position(r->out->rank, shape, to));
    }
    return true;
}

static bool stack(reading *r)
{
    const jx_p_stack *p = r->params;
    int64_t to[JX_SZ_RANK], shape[JX_SZ_RANK];

    if (p->axis < 0 || p->axis >= r->out->rank || r->nins != r->eqn->nins)
        return false;
    for (int i = 0; i < r->count; i++) {
        coordinates(r->out->rank, r->shape, i, to);
        int operand = (int)to[p->axis];
        for (int k = (int)p->axis; k + 1 < r->out->rank; k++)
            to[k] = to[k + 1];
        if (operand >= r->nins ||
            in_aval(r, operand)->rank != r->out->rank - 1 ||
            !shape_of(in_aval(r, operand), shape))
            return false;
        if (r->ins[operand].elems)
            moved(r, i, operand, position(r->out->rank - 1, shape, to));
    }
    return true;
}

/* start + stride * to, inside the operand. */
static bool stepped(int rank, const int64_t *start, const int64_t *strides,
                    const int64_t *to, const int64_t *shape, int64_t *from)
{
    for (int k = 0; k < rank; k++)
        if (__builtin_mul_overflow(to[k], strides ? strides[k] : 1, &from[k]) ||
            __builtin_add_overflow(from[k], start[k], &from[k]) ||
            from[k] < 0 || from[k] >= shape[k])
            return false;
    return true;
}

static bool sliced_from(const reading *r, const int64_t *to,
                        const int64_t *shape, int64_t *from)
{
    const jx_p_slice *p = r->params;
    int64_t start[JX_SZ_RANK], strides[JX_SZ_RANK];
    int rank = in_aval(r, 0)->rank;

    for (int i = 0; i < rank; i++) {
        strides[i] = 1;
        if (!jx_dim_is_int(p->start_indices.at[i], &start[i]) ||
            (p->strides.given && !jx_dim_is_int(p->strides.at[i], &strides[i])))
            return false;
    }
    return stepped(rank, start, strides, to, shape, from);
}

static bool slice(reading *r)
{
    const jx_p_slice *p = r->params;
    int rank = in_aval(r, 0)->rank;

    return rank == r->out->rank && p->start_indices.count == rank &&
           (!p->strides.given || p->strides.count == rank) &&
           moved_by(r, sliced_from);
}

/* Where the slice begins, inside the operand. */
static bool dynamically_from(const reading *r, const int64_t *to,
                             const int64_t *shape, int64_t *from)
{
    int64_t start[JX_SZ_RANK];

    for (int i = 0; i < r->out->rank; i++) {
        const jx_sz_info *in = &r->ins[1 + i];
        int64_t most = shape[i] - r->shape[i];
        if (!in->elems || in->count != 1 || !in->elems[0].dim ||
            !jx_dim_is_int(in->elems[0].dim, &start[i]))
            return false;
        start[i] = start[i] > most ? most : start[i] < 0 ? 0 : start[i];
    }
    return stepped(r->out->rank, start, NULL, to, shape, from);
}

static bool dynamic_slice(reading *r)
{
    int rank = in_aval(r, 0)->rank;

    return rank == r->out->rank && r->nins == 1 + rank &&
           moved_by(r, dynamically_from);
}

static bool iota(reading *r)
{
    const jx_p_iota *p = r->params;
    int64_t at[JX_SZ_RANK];

    if (p->dimension < 0 || p->dimension >= r->out->rank ||
        r->out->dtype == JX_BOOL)
        return false;
    for (int i = 0; i < r->count; i++) {
        coordinates(r->out->rank, r->shape, i, at);
        r->elems[i].dim = jx_dim_int(r->s->dims, at[p->dimension]);
    }
    return true;
}

static bool dimension_size(reading *r)
{
    const jx_p_dimension_size *p = r->params;
    const jx_aval *in = in_aval(r, 0);

    if (p->dimension < 0 || p->dimension >= in->rank)
        return false;
    r->elems[0].dim = in->shape[p->dimension];
    return true;
}

static bool dim_as_value(reading *r)
{
    r->elems[0].dim = ((const jx_p_dim_as_value *)r->params)->dim;
    return r->count == 1;
}

/* -- reducing -------------------------------------------------------------- */

static elementwise *reducing(jx_prim_id prim)
{
    switch (prim) {
    case JX_PRIM_cumsum:
    case JX_PRIM_reduce_sum: return add;
    case JX_PRIM_cumprod:
    case JX_PRIM_reduce_prod: return multiply;
    case JX_PRIM_cummax:
    case JX_PRIM_reduce_max: return maximum;
    case JX_PRIM_cummin:
    case JX_PRIM_reduce_min: return minimum;
    case JX_PRIM_reduce_and: return and;
    default: return or ;
    }
}

/* Which element of the result that at `at` goes to. */
static int target_of(const reading *r, jx_ints axes, int rank,
                     const int64_t *at)
{
    int64_t to[JX_SZ_RANK];
    int kept = 0;

    for (int k = 0; k < rank; k++) {
        bool reduced = false;
        for (int j = 0; j < axes.count; j++)
            reduced = reduced || axes.at[j] == k;
        if (!reduced && kept < r->out->rank)
            to[kept++] = at[k];
    }
    return kept == r->out->rank ? (int)position(kept, r->shape, to) : -1;
}

/* Elements are combined in order; what is reduced from none stays unknown. */
static bool reduce(reading *r)
{
    const jx_p_axes *p = r->params;
    const jx_aval *in = in_aval(r, 0);
    elementwise *rule = reducing(r->eqn->prim->id);
    int64_t shape[JX_SZ_RANK], at[JX_SZ_RANK];
    bool *begun = JX_NEW_ARRAY(r->s->ctx->arena, r->count + 1, bool);

    if (!begun || !r->ins[0].elems || !shape_of(in, shape))
        return false;
    for (int i = 0; i < r->ins[0].count; i++) {
        int index;
        coordinates(in->rank, shape, i, at);
        index = target_of(r, p->axes, in->rank, at);
        if (index < 0 || index >= r->count)
            return false;
        r->elems[index] =
            begun[index]
                ? rule(r, (jx_sz_elem[]){r->elems[index], r->ins[0].elems[i]})
                : r->ins[0].elems[i];
        begun[index] = true;
    }
    return true;
}

/* Each element with what came before it along the axis. */
static bool accumulate(reading *r)
{
    const jx_p_cumulative *p = r->params;
    elementwise *rule = reducing(r->eqn->prim->id);
    int64_t at[JX_SZ_RANK], step = 1;

    if (p->axis < 0 || p->axis >= r->out->rank || !r->ins[0].elems ||
        r->ins[0].count != r->count)
        return false;
    for (int k = (int)p->axis + 1; k < r->out->rank; k++)
        step *= r->shape[k];
    for (int n = 0; n < r->count; n++) {
        int i = p->reverse ? r->count - 1 - n : n;
        coordinates(r->out->rank, r->shape, i, at);
        bool first = at[p->axis] == (p->reverse ? r->shape[p->axis] - 1 : 0);
        const jx_sz_elem *in = &r->ins[0].elems[i];
        r->elems[i] =
            first
                ? *in
                : rule(r, (jx_sz_elem[]){
                              r->elems[p->reverse ? i + step : i - step], *in});
    }
    return true;
}

/* -- the table ------------------------------------------------------------- */

typedef struct prim_rule {
    elementwise *each;
    int nins;
    bool (*whole)(reading *r);
} prim_rule;

static const prim_rule rules[JX_NPRIMS] = {
    [JX_PRIM_add] = {add, 2, NULL},
    [JX_PRIM_sub] = {subtract, 2, NULL},
    [JX_PRIM_mul] = {multiply, 2, NULL},
    [JX_PRIM_div] = {divide, 2, NULL},
    [JX_PRIM_rem] = {rest, 2, NULL},
    [JX_PRIM_max] = {maximum, 2, NULL},
    [JX_PRIM_min] = {minimum, 2, NULL},
    [JX_PRIM_clamp] = {clamp, 3, NULL},
    [JX_PRIM_add_any] = {add, 2, NULL},
    [JX_PRIM_neg] = {negate, 1, NULL},
    [JX_PRIM_abs] = {absolute, 1, NULL},
    [JX_PRIM_sign] = {sign, 1, NULL},
    [JX_PRIM_pow] = {power, 2, NULL},
    [JX_PRIM_integer_pow] = {integer_power, 1, NULL},
    [JX_PRIM_square] = {square, 1, NULL},
    [JX_PRIM_shift_left] = {shift_left, 2, NULL},
    [JX_PRIM_shift_right_arithmetic] = {shift_right, 2, NULL},
    [JX_PRIM_shift_right_logical] = {shift_right_logical, 2, NULL},
    [JX_PRIM_and] = {and, 2, NULL},
    [JX_PRIM_or] = { or, 2, NULL},
    [JX_PRIM_xor] = {xor, 2, NULL},
    [JX_PRIM_not] = {not, 1, NULL},
    [JX_PRIM_eq] = {compare, 2, NULL},
    [JX_PRIM_ne] = {compare, 2, NULL},
    [JX_PRIM_lt] = {compare, 2, NULL},
    [JX_PRIM_le] = {compare, 2, NULL},
    [JX_PRIM_gt] = {compare, 2, NULL},
    [JX_PRIM_ge] = {compare, 2, NULL},
    [JX_PRIM_select_n] = {choose, 3, NULL},
    [JX_PRIM_convert_element_type] = {convert, 1, NULL},
    [JX_PRIM_dim_as_value] = {NULL, 0, dim_as_value},
    [JX_PRIM_dimension_size] = {NULL, 1, dimension_size},
    [JX_PRIM_reshape] = {NULL, 1, same_order},
    [JX_PRIM_squeeze] = {NULL, 1, same_order},
    [JX_PRIM_expand_dims] = {NULL, 1, same_order},
    [JX_PRIM_copy] = {NULL, 1, same_order},
    [JX_PRIM_copy_p] = {NULL, 1, same_order},
    [JX_PRIM_stop_gradient] = {NULL, 1, same_order},
    [JX_PRIM_sharding_constraint] = {NULL, 1, same_order},
    [JX_PRIM_reshard] = {NULL, 1, same_order},
    [JX_PRIM_rev] = {NULL, 1, reverse},
    [JX_PRIM_broadcast_in_dim] = {NULL, 1, broadcast},
    [JX_PRIM_transpose] = {NULL, 1, transpose},
    [JX_PRIM_concatenate] = {NULL, 1, concatenate},
    [JX_PRIM_stack] = {NULL, 1, stack},
    [JX_PRIM_slice] = {NULL, 1, slice},
    [JX_PRIM_dynamic_slice] = {NULL, 1, dynamic_slice},
    [JX_PRIM_iota] = {NULL, 0, iota},
    [JX_PRIM_cumsum] = {NULL, 1, accumulate},
    [JX_PRIM_cumprod] = {NULL, 1, accumulate},
    [JX_PRIM_cummax] = {NULL, 1, accumulate},
    [JX_PRIM_cummin] = {NULL, 1, accumulate},
    [JX_PRIM_reduce_sum] = {NULL, 1, reduce},
    [JX_PRIM_reduce_prod] = {NULL, 1, reduce},
    [JX_PRIM_reduce_max] = {NULL, 1, reduce},
    [JX_PRIM_reduce_min] = {NULL, 1, reduce},
    [JX_PRIM_reduce_and] = {NULL, 1, reduce},
    [JX_PRIM_reduce_or] = {NULL, 1, reduce},
};

/* A number that its type cannot hold wraps there; a size that an unsigned
 * type would take for a large one, too; and what is too long is let go. */
static bool fits(const reading *r, const jx_dim *dim)
{
    const jx_dtype_info *info = jx_dtype_of(r->out->dtype);
    bool is_unsigned = info->kind == JX_KIND_UINT;
    jx_int number,
        most = ((jx_int)1 << (is_unsigned ? info->bits : info->bits - 1)) - 1;

    if (jx_dim_nodes(dim) > JX_SZ_NODES ||
        (is_unsigned && is_negative_somewhere(r, dim)))
        return false;
    return !jx_dim_is_wide(dim, &number) ||
           (number <= most && number >= (is_unsigned ? 0 : -most - 1));
}

/* What the program's own integers make of a number. */
static const jx_dim *wrapped(const reading *r, const jx_dim *dim)
{
    const jx_dtype_info *info = jx_dtype_of(r->out->dtype);
    bool is_unsigned = info->kind == JX_KIND_UINT;
    jx_int number;

    if (!jx_dim_is_wide(dim, &number))
        return dim;
    if (info->bits == 32)
        number = is_unsigned ? (jx_int)(uint32_t)number
                             : (jx_int)(int32_t)(uint32_t)number;
    else
        number = is_unsigned ? (jx_int)(uint64_t)number
                             : (jx_int)(int64_t)(uint64_t)number;
    return jx_dim_wide(r->s->dims, number);
}

static void check(reading *r)
{
    bool truth = r->out->dtype == JX_BOOL;

    for (int i = 0; i < r->count; i++) {
        if (r->elems[i].dim && !truth && r->s->wrapping)
            r->elems[i].dim = wrapped(r, r->elems[i].dim);
        if (truth || (r->elems[i].dim && !fits(r, r->elems[i].dim)))
            r->elems[i].dim = NULL;
        if (!truth)
            r->elems[i].cond = NULL;
    }
}

/* Numbers that nobody follows need no memory. */
static bool begin(reading *r, const prim_rule *rule)
{
    const jx_aval *out = r->eqn->outs[0]->aval;
    int64_t count = jx_sz_count(out);

    if (count < 0 || count > JX_SZ_ELEMENTS ||
        (out->dtype != JX_BOOL && !is_size(out->dtype)) ||
        r->eqn->nins < rule->nins || !shape_of(out, r->shape))
        return false;
    r->params = r->eqn->typed;
    r->out = out;
    r->count = (int)count;
    for (; r->nins < r->eqn->nins && r->nins < MOST_OPERANDS; r->nins++)
        r->ins[r->nins] = jx_sz_operand(r->s, r->eqn->ins[r->nins]);
    r->elems = JX_NEW_ARRAY(r->s->ctx->arena, r->count + 1, jx_sz_elem);
    return r->elems != NULL;
}

/* -- what is looked at ----------------------------------------------------- */

/* What it gives depends on what its operands are, and not only
 * modulo 2^bits. */
static bool looks(const reading *r)
{
    switch (r->eqn->prim->id) {
    case JX_PRIM_convert_element_type:
        return in_aval(r, 0)->dtype != r->out->dtype;
    case JX_PRIM_div:
    case JX_PRIM_rem:
    case JX_PRIM_max:
    case JX_PRIM_min:
    case JX_PRIM_clamp:
    case JX_PRIM_abs:
    case JX_PRIM_sign:
    case JX_PRIM_shift_right_arithmetic:
    case JX_PRIM_shift_right_logical:
    case JX_PRIM_eq:
    case JX_PRIM_ne:
    case JX_PRIM_lt:
    case JX_PRIM_le:
    case JX_PRIM_gt:
    case JX_PRIM_ge:
    case JX_PRIM_reduce_max:
    case JX_PRIM_reduce_min: return true;
    default: return false;
    }
}

static bool same_look(const void *kept, const void *key)
{
    const jx_looked *a = kept, *b = key;

    return a->dim == b->dim && a->dtype == b->dtype;
}

static void keep_look(jx_sizes *s, jx_looked look)
{
    uint64_t hash = jx_hash_mix((uintptr_t)look.dim, look.dtype);
    const jx_looked *kept;

    if (jx_intern_find(&s->looks, hash, &look, same_look))
        return;
    kept = jx_arena_copy(s->ctx->arena, &look, sizeof look);
    if (kept && jx_intern_add(&s->looks, hash, kept))
        JX_PUSH(s->ctx->arena, &s->looked, look);
}

/* Sizes that are variables do not wrap. */
static void keep_looks(reading *r)
{
    for (int i = 0; i < r->nins; i++)
        for (int k = 0; k < r->ins[i].count; k++) {
            const jx_dim *dim = r->ins[i].elems[k].dim;
            if (dim && jx_dim_is_symbolic(dim) && jx_dim_nodes(dim) > 1 &&
                !jx_sz_is_opaque(r->s, dim, true) &&
                (dim = jx_sz_public(r->s, dim)) && jx_sz_is_given(r->s, dim))
                keep_look(r->s, (jx_looked){dim, in_aval(r, i)->dtype});
        }
}

bool jx_sz_follows(const jx_sizes *s)
{
    return !s->plain && s->work <= MOST_WORK;
}

void jx_sz_follow_as(jx_sizes *s, const jx_prim *prim, jx_atom a, jx_atom b,
                     const jx_var *to)
{
    const jx_atom ins[] = {a, b};

    jx_sz_follow(
        s, &(jx_eqn){
               .prim = prim, .nins = 2, .nouts = 1, .ins = ins, .outs = &to});
}

void jx_sz_follow(jx_sizes *s, const jx_eqn *eqn)
{
    const prim_rule *rule = &rules[eqn->prim->id];
    reading r = {.s = s, .eqn = eqn};
    bool any = false;

    s->work++;
    if (!jx_sz_follows(s) || eqn->nouts != 1 || (eqn->nparams && !eqn->typed) ||
        (!rule->each && !rule->whole) || !begin(&r, rule) ||
        !(rule->each ? each(&r, rule->each, rule->nins) : rule->whole(&r)))
        return;
    check(&r);
    if (s->looking && looks(&r))
        keep_looks(&r);
    for (int i = 0; i < r.count && !any; i++)
        any = r.elems[i].dim || r.elems[i].cond;
    if (any || !r.count)
        jx_sz_set(s, (jx_atom){eqn->outs[0], NULL},
                  (jx_sz_info){r.count, r.elems});
}
