/* sizes_ops.c - the integers that an op computes, from those of its operands.
 *
 * Only small tensors of 32 and 64 bit integers, and truth values, are followed;
 * the numbers of the program itself are followed as far as they fit their
 * type.  An op that is not in the table gives values that are not known. */
#include "frontend/read/sizes_parts.h"

#include <string.h>

enum { MOST_OPERANDS = 16, MOST_POWER = 16, MOST_SHIFT = 30, MOST_OPAQUE = 16 };

/* The integers of one op. */
typedef struct reading {
    jx_sizes *s;
    jx_sizes_env *env;
    const jx_mlir_op *op;
    int nins;
    jx_sz_info ins[MOST_OPERANDS];
    const jx_mlir_type *out; /* of the result */
    int count;               /* of its elements */
    jx_sz_elem *elems;
} reading;

static const jx_mlir_type *element_type(const jx_mlir_type *type)
{
    return type->kind == JX_T_TENSOR ? type->items[0] : NULL;
}

static bool is_bool(const jx_mlir_type *element)
{
    return element && element->kind == JX_T_INTEGER && element->width == 1;
}

static bool is_size(const jx_mlir_type *element)
{
    return element && (element->kind == JX_T_INDEX ||
                       (element->kind == JX_T_INTEGER &&
                        (element->width == 32 || element->width == 64)));
}

int64_t jx_sz_elements_of(const jx_mlir_type *type)
{
    int64_t count = 1;

    if (type->kind != JX_T_TENSOR)
        return -1;
    for (int i = 0; i < type->rank; i++)
        if (type->shape[i] < 0 ||
            __builtin_mul_overflow(count, type->shape[i], &count))
            return -1;
    return count;
}

/* -- attributes ------------------------------------------------------------ */

int64_t jx_sz_dense_int(const jx_mlir_attr *attr, int64_t index, bool *ok)
{
    const jx_mlir_type *element =
        attr && attr->type && attr->kind == JX_A_DENSE
            ? element_type(attr->type)
            : NULL;
    const unsigned char *bytes = attr ? attr->bytes : NULL;
    size_t width = 8;
    uint64_t bits = 0;

    *ok = false;
    if (!element ||
        (element->kind != JX_T_INTEGER && element->kind != JX_T_INDEX))
        return 0;
    if (element->kind == JX_T_INTEGER)
        width = element->width <= 8 ? 1 : element->width / 8;
    if (attr->splat)
        index = 0;
    if (!bytes || width > 8 || index < 0 ||
        (uint64_t)index >= attr->size / width)
        return 0;
    for (size_t i = 0; i < width; i++)
        bits |= (uint64_t)bytes[(size_t)index * width + i] << (8 * i);
    *ok = true;
    if (width < 8 && element->sign != JX_UNSIGNED && element->width != 1 &&
        bits >> (8 * width - 1) & 1)
        bits |= ~(uint64_t)0 << (8 * width);
    return (int64_t)bits;
}

bool jx_sz_ints(const jx_sizes *s, const jx_mlir_attr *attr, int *count,
                const int64_t **at)
{
    int64_t total, *made;
    bool ok = true;

    *count = 0;
    if (!attr)
        return false;
    if (attr->kind == JX_A_DENSE_ARRAY && (attr->integers || !attr->count)) {
        *count = attr->count;
        *at = attr->integers;
        return true;
    }
    total = attr->kind == JX_A_DENSE ? jx_sz_elements_of(attr->type) : -1;
    if (total < 0 || total > 4 * JX_SZ_RANK ||
        !(made = JX_NEW_ARRAY(s->ctx->arena, total, int64_t)))
        return false;
    for (int64_t i = 0; i < total && ok; i++)
        made[i] = jx_sz_dense_int(attr, i, &ok);
    *count = (int)total;
    *at = made;
    return ok;
}

static bool attr_ints(const reading *r, const char *name, int *count,
                      const int64_t **at)
{
    return jx_sz_ints(r->s, jx_mlir_get(r->op, name), count, at);
}

static int64_t attr_int(const reading *r, const char *name, int64_t otherwise)
{
    const jx_mlir_attr *attr = jx_mlir_get(r->op, name);

    return attr && attr->kind == JX_A_INTEGER ? attr->integer : otherwise;
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
    if (in[0].cond || in[1].cond)
        return of_cond(jx_sz_or(r->s, in[0].cond, in[1].cond));
    return of_dim(jx_dim_max(r->s->dims, in[0].dim, in[1].dim));
}

static jx_sz_elem minimum(reading *r, const jx_sz_elem *in)
{
    if (in[0].cond || in[1].cond)
        return of_cond(jx_sz_and(r->s, in[0].cond, in[1].cond));
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

static jx_sz_elem and(reading *r, const jx_sz_elem *in)
{
    return of_cond(jx_sz_and(r->s, in[0].cond, in[1].cond));
}

static jx_sz_elem or(reading *r, const jx_sz_elem *in)
{
    return of_cond(jx_sz_or(r->s, in[0].cond, in[1].cond));
}

static jx_sz_elem not(reading *r, const jx_sz_elem *in)
{
    return of_cond(jx_sz_not(r->s, in[0].cond));
}

static const jx_sz_cond *differ(reading *r, const jx_sz_cond *a,
                                const jx_sz_cond *b)
{
    return jx_sz_or(r->s, jx_sz_and(r->s, a, jx_sz_not(r->s, b)),
                    jx_sz_and(r->s, jx_sz_not(r->s, a), b));
}

static jx_sz_elem xor(reading *r, const jx_sz_elem *in)
{
    return of_cond(differ(r, in[0].cond, in[1].cond));
}

static jx_sz_elem compare(reading *r, const jx_sz_elem *in)
{
    const jx_mlir_attr *attr = jx_mlir_get(r->op, "comparison_direction");
    const char *direction = attr ? attr->text : NULL;
    const jx_sz_cond *other;

    if (!direction)
        return of_cond(NULL);
    if (in[0].dim && in[1].dim)
        return of_cond(jx_sz_compare(r->s, direction, in[0].dim, in[1].dim));
    other = differ(r, in[0].cond, in[1].cond);
    if (!strcmp(direction, "NE"))
        return of_cond(other);
    return of_cond(!strcmp(direction, "EQ") ? jx_sz_not(r->s, other) : NULL);
}

static jx_sz_elem choose(reading *r, const jx_sz_elem *in)
{
    const jx_sz_cond *c = in[0].cond;

    if (in[1].dim || in[2].dim)
        return of_dim(jx_sz_select(r->s, c, in[1].dim, in[2].dim));
    return of_cond(
        jx_sz_or(r->s, jx_sz_and(r->s, c, in[1].cond),
                 jx_sz_and(r->s, jx_sz_not(r->s, c), in[2].cond)));
}

static jx_sz_elem convert(reading *r, const jx_sz_elem *in)
{
    bool to_bool = is_bool(element_type(r->out));

    if (to_bool && in[0].dim)
        return of_cond(jx_sz_compare(r->s, "NE", in[0].dim,
                                     jx_dim_int(r->s->dims, 0)));
    if (!to_bool && in[0].cond)
        return of_dim(jx_sz_indicator(r->s, in[0].cond));
    return in[0];
}

static jx_sz_elem same(reading *r, const jx_sz_elem *in)
{
    (void)r;
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

static const jx_mlir_type *in_type(const reading *r, int operand)
{
    return r->op->ins[operand]->type;
}

static bool moved(reading *r, int from, int operand, int64_t index)
{
    if (!r->ins[operand].elems || index < 0 ||
        index >= r->ins[operand].count)
        return false;
    r->elems[from] = r->ins[operand].elems[index];
    return true;
}

static bool constant(reading *r)
{
    const jx_mlir_attr *value = jx_mlir_get(r->op, "value");
    bool ok = true;

    for (int i = 0; i < r->count && ok; i++) {
        int64_t number = jx_sz_dense_int(value, i, &ok);
        if (is_bool(element_type(r->out)))
            r->elems[i].cond = number ? r->s->yes : r->s->no;
        else
            r->elems[i].dim = jx_dim_int(r->s->dims, number);
    }
    return ok;
}

static bool dimension_size(reading *r)
{
    int64_t axis = attr_int(r, "dimension", -1);
    const jx_mlir_type *type = in_type(r, 0);
    const jx_dim *const *shape;

    if (type->kind != JX_T_TENSOR || axis < 0 || axis >= type->rank)
        return false;
    shape = jx_sz_shape_of(r->env, r->op->ins[0]);
    if (shape)
        r->elems[0].dim = shape[axis];
    return shape != NULL;
}

static bool reshape(reading *r)
{
    for (int i = 0; i < r->count; i++)
        if (!moved(r, i, 0, i))
            return false;
    return true;
}

static bool broadcast(reading *r)
{
    const jx_mlir_type *in = in_type(r, 0);
    const int64_t *dims = NULL;
    int64_t to[JX_SZ_RANK], from[JX_SZ_RANK];
    int ndims;

    if (!attr_ints(r, "broadcast_dimensions", &ndims, &dims) ||
        in->kind != JX_T_TENSOR || ndims != in->rank || ndims > JX_SZ_RANK ||
        !r->ins[0].elems)
        return false;
    for (int i = 0; i < r->count; i++) {
        coordinates(r->out->rank, r->out->shape, i, to);
        for (int k = 0; k < ndims; k++) {
            if (dims[k] < 0 || dims[k] >= r->out->rank)
                return false;
            from[k] = in->shape[k] == 1 ? 0 : to[dims[k]];
        }
        if (!moved(r, i, 0, position(in->rank, in->shape, from)))
            return false;
    }
    return true;
}

static bool transpose(reading *r)
{
    const jx_mlir_type *in = in_type(r, 0);
    const int64_t *order = NULL;
    int64_t to[JX_SZ_RANK], from[JX_SZ_RANK];
    int count;

    if (!attr_ints(r, "permutation", &count, &order) ||
        in->kind != JX_T_TENSOR || count != in->rank ||
        count != r->out->rank || !r->ins[0].elems)
        return false;
    for (int i = 0; i < r->count; i++) {
        coordinates(count, r->out->shape, i, to);
        for (int k = 0; k < count; k++) {
            if (order[k] < 0 || order[k] >= count)
                return false;
            from[order[k]] = to[k];
        }
        if (!moved(r, i, 0, position(count, in->shape, from)))
            return false;
    }
    return true;
}

static bool concatenate(reading *r)
{
    int64_t axis = attr_int(r, "dimension", -1), to[JX_SZ_RANK];

    if (axis < 0 || axis >= r->out->rank || r->nins != r->op->nins)
        return false;
    for (int i = 0; i < r->count; i++) {
        int operand = 0;
        coordinates(r->out->rank, r->out->shape, i, to);
        for (; operand < r->nins; operand++) {
            const jx_mlir_type *in = in_type(r, operand);
            if (in->kind != JX_T_TENSOR || in->rank != r->out->rank ||
                in->shape[axis] < 0)
                return false;
            if (to[axis] < in->shape[axis])
                break;
            to[axis] -= in->shape[axis];
        }
        if (operand == r->nins)
            return false;
        /* An operand that is not known leaves its part open. */
        if (r->ins[operand].elems)
            moved(r, i, operand,
                  position(r->out->rank, in_type(r, operand)->shape, to));
    }
    return true;
}

static bool sliced(reading *r, const int64_t *start, const int64_t *strides)
{
    const jx_mlir_type *in = in_type(r, 0);
    int64_t at[JX_SZ_RANK];

    if (in->kind != JX_T_TENSOR || in->rank != r->out->rank)
        return false;
    for (int i = 0; i < r->count; i++) {
        coordinates(in->rank, r->out->shape, i, at);
        for (int k = 0; k < in->rank; k++) {
            if (__builtin_mul_overflow(at[k], strides ? strides[k] : 1,
                                       &at[k]) ||
                __builtin_add_overflow(at[k], start[k], &at[k]) || at[k] < 0 ||
                at[k] >= in->shape[k])
                return false;
        }
        if (!moved(r, i, 0, position(in->rank, in->shape, at)))
            return false;
    }
    return true;
}

static bool slice(reading *r)
{
    const int64_t *start = NULL, *strides = NULL;
    int nstart, nstrides;

    return attr_ints(r, "start_indices", &nstart, &start) &&
           attr_ints(r, "strides", &nstrides, &strides) &&
           nstart == r->out->rank && nstrides == nstart &&
           sliced(r, start, strides);
}

/* Numbers of small tensors, as far as they are known. */
static bool number_at(const reading *r, int operand, int index, int64_t *to)
{
    const jx_sz_info *in = &r->ins[operand];

    return in->elems && index < in->count && in->elems[index].dim &&
           jx_dim_is_int(in->elems[index].dim, to);
}

static bool dynamic_slice(reading *r)
{
    const jx_mlir_type *in = in_type(r, 0);
    int64_t start[JX_SZ_RANK];

    if (in->kind != JX_T_TENSOR || !r->ins[0].elems ||
        r->nins != 1 + in->rank || in->rank != r->out->rank)
        return false;
    for (int i = 0; i < in->rank; i++) {
        int64_t most = in->shape[i] - r->out->shape[i];
        if (!number_at(r, 1 + i, 0, &start[i]))
            return false;
        start[i] = start[i] > most ? most : start[i] < 0 ? 0 : start[i];
    }
    return sliced(r, start, NULL);
}

static bool real_dynamic_slice(reading *r)
{
    int64_t start[JX_SZ_RANK], strides[JX_SZ_RANK];

    if (r->nins != 4)
        return false;
    for (int i = 0; i < r->out->rank; i++)
        if (!number_at(r, 1, i, &start[i]) || !number_at(r, 3, i, &strides[i]))
            return false;
    return sliced(r, start, strides);
}

static bool iota(reading *r)
{
    int64_t axis = attr_int(r, "iota_dimension", -1), at[JX_SZ_RANK];

    if (axis < 0 || axis >= r->out->rank || is_bool(element_type(r->out)))
        return false;
    for (int i = 0; i < r->count; i++) {
        coordinates(r->out->rank, r->out->shape, i, at);
        r->elems[i].dim = jx_dim_int(r->s->dims, at[axis]);
    }
    return true;
}

/* The only op of a reducer, which takes its two arguments. */
static const char *reducer_of(const jx_mlir_op *op)
{
    const jx_mlir_block *body = jx_mlir_body(op, 0);
    const jx_mlir_op *only = body && body->nops == 2 ? body->ops[0] : NULL;
    const jx_mlir_op *end = only ? body->ops[1] : NULL;

    if (!only || body->nargs != 2 || only->nins != 2 || only->nouts != 1 ||
        end->nins != 1 || end->ins[0] != only->outs[0])
        return NULL;
    return (only->ins[0] == body->args[0] && only->ins[1] == body->args[1]) ||
                   (only->ins[1] == body->args[0] &&
                    only->ins[0] == body->args[1])
               ? only->name
               : NULL;
}

static elementwise *reducing(const char *name)
{
    static const struct {
        const char *name;
        elementwise *rule;
    } known[] = {
        {"stablehlo.add", add},         {"stablehlo.multiply", multiply},
        {"stablehlo.maximum", maximum}, {"stablehlo.minimum", minimum},
        {"stablehlo.and", and},         {"stablehlo.or", or},
    };

    for (size_t i = 0; name && i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].name, name))
            return known[i].rule;
    return NULL;
}

static bool reduce(reading *r)
{
    const jx_mlir_type *in = in_type(r, 0);
    elementwise *rule = reducing(reducer_of(r->op));
    const int64_t *axes = NULL;
    int64_t at[JX_SZ_RANK], to[JX_SZ_RANK];
    int naxes;

    if (!rule || r->nins != 2 || !r->ins[0].elems || !r->ins[1].elems ||
        in->kind != JX_T_TENSOR || in->rank > JX_SZ_RANK ||
        !attr_ints(r, "dimensions", &naxes, &axes) ||
        r->out->rank + naxes != in->rank)
        return false;
    for (int i = 0; i < r->count; i++)
        r->elems[i] = r->ins[1].elems[0];
    for (int i = 0; i < r->ins[0].count; i++) {
        int rank = 0, index;
        coordinates(in->rank, in->shape, i, at);
        for (int k = 0; k < in->rank; k++) {
            bool reduced = false;
            for (int j = 0; j < naxes; j++)
                reduced = reduced || axes[j] == k;
            if (!reduced && rank < r->out->rank)
                to[rank++] = at[k];
        }
        index = (int)position(r->out->rank, r->out->shape, to);
        if (rank != r->out->rank || index >= r->count)
            return false;
        r->elems[index] =
            rule(r, (jx_sz_elem[]){r->elems[index], r->ins[0].elems[i]});
    }
    return true;
}

/* -- the table ------------------------------------------------------------- */

typedef struct op_rule {
    const char *name;
    elementwise *each;
    int nins;
    bool (*whole)(reading *r);
} op_rule;

static const op_rule rules[] = {
    {"add", add, 2, NULL},
    {"subtract", subtract, 2, NULL},
    {"multiply", multiply, 2, NULL},
    {"divide", divide, 2, NULL},
    {"remainder", rest, 2, NULL},
    {"maximum", maximum, 2, NULL},
    {"minimum", minimum, 2, NULL},
    {"clamp", clamp, 3, NULL},
    {"negate", negate, 1, NULL},
    {"abs", absolute, 1, NULL},
    {"sign", sign, 1, NULL},
    {"power", power, 2, NULL},
    {"shift_left", shift_left, 2, NULL},
    {"shift_right_arithmetic", shift_right, 2, NULL},
    {"shift_right_logical", shift_right_logical, 2, NULL},
    {"and", and, 2, NULL},
    {"or", or, 2, NULL},
    {"xor", xor, 2, NULL},
    {"not", not, 1, NULL},
    {"compare", compare, 2, NULL},
    {"select", choose, 3, NULL},
    {"convert", convert, 1, NULL},
    {"copy", same, 1, NULL},
    {"constant", NULL, 0, constant},
    {"get_dimension_size", NULL, 1, dimension_size},
    {"reshape", NULL, 1, reshape},
    {"dynamic_reshape", NULL, 2, reshape},
    {"broadcast_in_dim", NULL, 1, broadcast},
    {"dynamic_broadcast_in_dim", NULL, 2, broadcast},
    {"transpose", NULL, 1, transpose},
    {"concatenate", NULL, 1, concatenate},
    {"slice", NULL, 1, slice},
    {"dynamic_slice", NULL, 1, dynamic_slice},
    {"real_dynamic_slice", NULL, 4, real_dynamic_slice},
    {"iota", NULL, 0, iota},
    {"dynamic_iota", NULL, 1, iota},
    {"reduce", NULL, 2, reduce},
};

static const op_rule *rule_of(const char *name)
{
    static const char dialect[] = "stablehlo.";

    if (strncmp(name, dialect, sizeof dialect - 1) != 0)
        return NULL;
    name += sizeof dialect - 1;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (!strcmp(rules[i].name, name))
            return &rules[i];
    return NULL;
}

/* A number that its type cannot hold wraps there; a size that an unsigned
 * type would take for a large one, too; and what is too long is let go. */
static bool fits(const reading *r, const jx_dim *dim)
{
    const jx_mlir_type *element = element_type(r->out);
    bool is_unsigned = element->kind == JX_T_INTEGER &&
                       element->sign == JX_UNSIGNED;
    int bits = element->kind == JX_T_INTEGER ? (int)element->width : 64;
    jx_int number, most = ((jx_int)1 << (is_unsigned ? bits : bits - 1)) - 1;

    if (jx_dim_nodes(dim) > JX_SZ_NODES ||
        (is_unsigned && is_negative_somewhere(r, dim)))
        return false;
    return !jx_dim_is_wide(dim, &number) ||
           (number <= most && number >= (is_unsigned ? 0 : -most - 1));
}

/* What the program's own integers make of a number. */
static const jx_dim *wrapped(const reading *r, const jx_dim *dim)
{
    const jx_mlir_type *element = element_type(r->out);
    bool is_short = element->kind == JX_T_INTEGER && element->width == 32;
    bool is_unsigned = element->kind == JX_T_INTEGER &&
                       element->sign == JX_UNSIGNED;
    jx_int number;

    if (!jx_dim_is_wide(dim, &number))
        return dim;
    if (is_short)
        number = is_unsigned ? (jx_int)(uint32_t)number
                             : (jx_int)(int32_t)(uint32_t)number;
    else
        number = is_unsigned ? (jx_int)(uint64_t)number
                             : (jx_int)(int64_t)(uint64_t)number;
    return jx_dim_wide(r->s->dims, number);
}

static void check(reading *r)
{
    bool truth = is_bool(element_type(r->out));

    for (int i = 0; i < r->count; i++) {
        if (r->elems[i].dim && !truth && r->s->options.at_sizes)
            r->elems[i].dim = wrapped(r, r->elems[i].dim);
        if (truth || (r->elems[i].dim && !fits(r, r->elems[i].dim)))
            r->elems[i].dim = NULL;
        if (!truth)
            r->elems[i].cond = NULL;
    }
}

/* Numbers that nobody follows need no memory. */
static bool is_followed(const jx_mlir_type *type)
{
    int64_t count = jx_sz_elements_of(type);
    const jx_mlir_type *element = element_type(type);

    return count >= 0 && count <= JX_SZ_ELEMENTS &&
           type->rank <= JX_SZ_RANK && (is_size(element) || is_bool(element));
}

jx_sz_info jx_sz_operand(jx_sizes_env *env, const jx_mlir_value *value)
{
    jx_sz_info info = jx_sz_info_of(env, value);
    int64_t count = jx_sz_elements_of(value->type);
    jx_sz_elem *elems;

    if (info.elems || count < 0 || count > MOST_OPAQUE ||
        !is_size(element_type(value->type)) ||
        !(elems = JX_NEW_ARRAY(env->of->ctx->arena, count, jx_sz_elem)))
        return info;
    for (int i = 0; i < count; i++)
        elems[i].dim = jx_sz_opaque(
            env->of, jx_sz_is_input(env, value) ? NULL : env, value, i);
    info.count = (int)count;
    info.elems = elems;
    jx_sz_set(env, value, info);
    return info;
}

void jx_sz_elements(jx_sizes_env *env, const jx_mlir_op *op, jx_sz_info *to)
{
    const op_rule *rule = op->nouts == 1 ? rule_of(op->name) : NULL;
    bool any = false;
    reading r = {0};

    if (!rule || !is_followed(op->outs[0]->type) || op->nins < rule->nins)
        return;
    r.s = env->of;
    r.env = env;
    r.op = op;
    r.out = op->outs[0]->type;
    r.count = (int)jx_sz_elements_of(r.out);
    for (; r.nins < op->nins && r.nins < MOST_OPERANDS; r.nins++)
        r.ins[r.nins] = jx_sz_operand(env, op->ins[r.nins]);
    r.elems = JX_NEW_ARRAY(env->of->ctx->arena, r.count, jx_sz_elem);
    if (!r.elems ||
        !(rule->each ? each(&r, rule->each, rule->nins) : rule->whole(&r)))
        return;
    check(&r);
    for (int i = 0; i < r.count && !any; i++)
        any = r.elems[i].dim || r.elems[i].cond;
    if (any || !r.count) {
        to->count = r.count;
        to->elems = r.elems;
    }
}
