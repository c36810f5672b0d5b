/* turns.c - see turns.h. */
#include "analyzer/lint/turns.h"

#include "analyzer/lint/look.h"
#include "analyzer/lint/progression.h"
#include "frontend/ir/element.h"
#include "frontend/ir/params.h"

#include <stdlib.h>

/* Numbers beyond FAR are told by nobody, and operations on those within do not
 * wrap in 32 bits or more but for products. */
enum { FAR = 1 << 28, DEEP = 24, MOST_STEPS = 1 << 10 };

typedef struct counting {
    const jx_flat *flat;
    int of; /* the value that counts; -1: none was met */
    jx_progression counts;
    int64_t turn;
    int64_t element, elements; /* ... of arrays with so many; 0: of none */
    int steps;                 /* that may still be gone at this turn */
} counting;

static bool number_at(counting *c, int value, int depth, int64_t *to);

/* What a loop counts by itself: one number at each of its turns. */
static bool counted_at(counting *c, int value, int64_t *to)
{
    const jx_flat_value *v = &c->flat->values.at[value];
    const jx_flat_body *body =
        v->inside ? &c->flat->bodies.at[v->inside - 1] : NULL;
    const jx_flat_node *loop =
        body && body->node >= 0 ? &c->flat->nodes.at[body->node] : NULL;
    int64_t length;

    if (c->of == value) {
        *to = c->counts.first + c->turn * c->counts.step;
        return true;
    }
    if (!loop || loop->eqn->prim->id != JX_PRIM_scan ||
        !jx_dim_is_int(((const jx_p_scan *)loop->eqn->typed)->length,
                       &length) ||
        c->of >= 0 || !jx_progression_of(c->flat, value, &c->counts) ||
        c->counts.body != body->calls || c->counts.count != length)
        return false;
    c->of = value;
    *to = c->counts.first + c->turn * c->counts.step;
    return true;
}

static bool of_two(jx_prim_id id, int64_t a, int64_t b, int64_t *to)
{
    switch (id) {
    case JX_PRIM_add: *to = a + b; return true;
    case JX_PRIM_sub: *to = a - b; return true;
    case JX_PRIM_mul: return !__builtin_mul_overflow(a, b, to);
    case JX_PRIM_div: *to = b ? a / b : 0; return b != 0;
    case JX_PRIM_rem: *to = b ? a % b : 0; return b != 0;
    case JX_PRIM_min: *to = a < b ? a : b; return true;
    case JX_PRIM_max: *to = a > b ? a : b; return true;
    case JX_PRIM_lt: *to = a < b; return true;
    case JX_PRIM_le: *to = a <= b; return true;
    case JX_PRIM_gt: *to = a > b; return true;
    case JX_PRIM_ge: *to = a >= b; return true;
    case JX_PRIM_eq: *to = a == b; return true;
    case JX_PRIM_ne: *to = a != b; return true;
    case JX_PRIM_and: *to = a & b; return true;
    case JX_PRIM_or: *to = a | b; return true;
    case JX_PRIM_xor: *to = a ^ b; return true;
    case JX_PRIM_shift_right_logical:
    case JX_PRIM_shift_right_arithmetic:
        *to = b >= 0 && b < 32 ? a >> b : 0;
        return a >= 0 && b >= 0 && b < 32;
    default: return false;
    }
}

static bool has_one(const counting *c, int value)
{
    int64_t elements;

    return jx_aval_elements(c->flat->values.at[value].aval, &elements) &&
           elements == 1;
}

static bool has_all(const counting *c, int value)
{
    int64_t elements;

    return c->elements &&
           jx_aval_elements(c->flat->values.at[value].aval, &elements) &&
           elements == c->elements;
}

/* Its elements are those of its operand, in their order, or its one. */
static bool shows_in_order(const counting *c, const jx_flat_node *node)
{
    if (!jx_shows(node->eqn))
        return false;
    switch (node->eqn->prim->id) {
    case JX_PRIM_rev:
    case JX_PRIM_transpose:
    case JX_PRIM_tile: return has_one(c, node->ins[0]);
    default:
        return has_one(c, node->ins[0]) ||
               has_all(c, node->ins[0]) == has_all(c, node->outs[0]);
    }
}

/* Element number `element` of a constant, or of an iota. */
static bool element_at(const counting *c, const jx_flat_value *v,
                       const jx_flat_node *node, int64_t *to)
{
    const jx_p_iota *iota = node ? node->eqn->typed : NULL;
    const jx_array *array = v->array;
    size_t size = jx_dtype_of(v->aval->dtype)->bytes;

    if (node) {
        *to = c->element;
        return node->eqn->prim->id == JX_PRIM_iota && iota &&
               jx_dim_value(v->aval->shape[iota->dimension]) == c->elements;
    }
    if (!array || !array->data || array->splat ||
        array->bytes != (size_t)c->elements * size)
        return false;
    *to = (int64_t)jx_element_integer(
        v->aval->dtype, (const char *)array->data + (size_t)c->element * size);
    return true;
}

static bool computed_at(counting *c, const jx_flat_node *node, int depth,
                        int64_t *to)
{
    jx_prim_id id = node->eqn->prim->id;
    int64_t a, b;

    if (!node->nins || !number_at(c, node->ins[0], depth, &a))
        return false;
    if (id == JX_PRIM_select_n)
        return a >= 0 && a + 1 < node->nins &&
               number_at(c, node->ins[a + 1], depth, to);
    if (node->nins == 2)
        return number_at(c, node->ins[1], depth, &b) && of_two(id, a, b, to);
    *to = id == JX_PRIM_neg ? -a : id == JX_PRIM_sign ? (a > 0) - (a < 0) : a;
    return id == JX_PRIM_neg || id == JX_PRIM_sign ||
           id == JX_PRIM_convert_element_type || shows_in_order(c, node);
}

static bool holds_numbers(jx_dtype dtype)
{
    return dtype == JX_BOOL || dtype == JX_I32 || dtype == JX_I64 ||
           dtype == JX_U32 || dtype == JX_U64;
}

static bool is_unsigned(jx_dtype dtype)
{
    return dtype == JX_U32 || dtype == JX_U64;
}

static bool number_at(counting *c, int value, int depth, int64_t *to)
{
    const jx_flat_value *v = &c->flat->values.at[value];
    const jx_flat_node *node = jx_maker(c->flat, value);
    double number;

    if (depth > DEEP || c->steps-- <= 0 || !holds_numbers(v->aval->dtype) ||
        !(has_one(c, value) || has_all(c, value)))
        return false;
    if (jx_number_of(c->flat, value, &number)) {
        if (!(number >= -FAR && number <= FAR))
            return false;
        *to = (int64_t)number;
        return true;
    }
    return ((!has_one(c, value) && element_at(c, v, node, to)) ||
            (node ? computed_at(c, node, depth + 1, to)
                  : counted_at(c, value, to))) &&
           *to >= (is_unsigned(v->aval->dtype) ? 0 : -FAR) && *to <= FAR;
}

bool jx_turns_of(const jx_flat *flat, int value, jx_turns *to)
{
    counting c = {.flat = flat, .of = -1, .counts.count = 1};

    for (; c.turn < c.counts.count; c.turn++) {
        c.steps = MOST_STEPS;
        if (c.turn >= JX_TURNS_MOST ||
            !number_at(&c, value, 0, &to->at[c.turn]))
            return false;
    }
    to->count = (int)c.counts.count;
    to->body = c.counts.body;
    return c.of >= 0;
}

bool jx_first_index_of(const jx_flat *flat, int indices, int64_t row,
                       int64_t rows, int64_t *to)
{
    counting c = {.flat = flat,
                  .of = -1,
                  .element = row,
                  .elements = rows,
                  .steps = MOST_STEPS};
    const jx_flat_node *node = jx_maker(flat, indices);
    const jx_p_concatenate *p = node ? node->eqn->typed : NULL;

    if (node && node->eqn->prim->id == JX_PRIM_concatenate && p &&
        p->dimension == flat->values.at[indices].aval->rank - 1)
        indices = node->ins[0];
    return number_at(&c, indices, 0, to) && c.of < 0;
}

bool jx_turns_meet(const jx_turns *turns)
{
    for (int i = 0; i < turns->count; i++)
        for (int k = 0; k < i; k++)
            if (turns->at[k] == turns->at[i])
                return true;
    return false;
}
