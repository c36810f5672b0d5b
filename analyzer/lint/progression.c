/* progression.c - see progression.h. */
#include "analyzer/lint/progression.h"

#include "analyzer/lint/look.h"
#include "frontend/ir/params.h"

#include <math.h>
#include <stdlib.h>

/* Numbers beyond it are told by nobody, and would not fit when added. */
enum { FAR = 1 << 30, DEEP = 16, MOST = 1 << 16 };

static bool follow(const jx_flat *flat, int value, int depth,
                   jx_progression *to);

static bool is_whole(double number, int64_t *to)
{
    if (!(fabs(number) <= FAR) || number != floor(number))
        return false;
    *to = (int64_t)number;
    return true;
}

static bool literal(const jx_flat *flat, int value, int64_t *to)
{
    double number;

    return jx_number_of(flat, value, &number) && is_whole(number, to);
}

/* Times and plus literals. */
static bool scaled(const jx_flat *flat, const jx_flat_node *node, int depth,
                   jx_progression *to)
{
    int64_t by;

    for (int i = 0; i < 2; i++) {
        bool less = node->eqn->prim->id == JX_PRIM_sub;
        if ((less && i == 0) || !literal(flat, node->ins[i], &by) ||
            !follow(flat, node->ins[1 - i], depth, to))
            continue;
        if (node->eqn->prim->id == JX_PRIM_mul) {
            to->first *= by;
            to->step *= by;
        } else {
            to->first += less ? -by : by;
        }
        return llabs(to->first) <= FAR && llabs(to->step) <= FAR;
    }
    return false;
}

/* What a loop carries and adds a literal to, or one element after the other of
 * what it goes over. */
static bool counted(const jx_flat *flat, int value, int depth,
                    jx_progression *to)
{
    const jx_flat_value *v = &flat->values.at[value];
    const jx_flat_body *body =
        v->inside ? &flat->bodies.at[v->inside - 1] : NULL;
    const jx_flat_node *loop =
        body && body->node >= 0 ? &flat->nodes.at[body->node] : NULL;
    const jx_flat_node *next;
    int operand, result, step = -1;

    if (!loop || v->input < 0)
        return false;
    *to = (jx_progression){.of = value, .body = body->calls};
    if (loop->eqn->prim->id == JX_PRIM_scan) {
        const jx_p_scan *scan = loop->eqn->typed;
        operand = body->ins[scan->num_consts + v->input];
        if (v->input >= scan->num_carry) {
            bool known = follow(flat, operand, depth, to) && !to->body;
            to->body = body->calls;
            return known;
        }
        result = loop->results[v->input];
        if (!jx_dim_is_int(scan->length, &to->count))
            to->count = 0;
    } else if (loop->eqn->prim->id == JX_PRIM_while && body->which == 1) {
        const jx_p_while *p = loop->eqn->typed;
        operand = body->ins[p->cond_nconsts + p->body_nconsts + v->input];
        result = loop->results[p->cond_jaxpr.jaxpr->nouts + v->input];
    } else {
        return false;
    }
    next = jx_maker(flat, result);
    for (int i = 0; next && i < 2; i++)
        if (next->eqn->prim->id == JX_PRIM_add && next->ins[i] == value)
            step = next->ins[1 - i];
    /* From a number that nobody knows it counts all the same: two that count
     * with it are so far apart. */
    if (!literal(flat, operand, &to->first))
        to->count = to->first = 0;
    return step >= 0 && literal(flat, step, &to->step);
}

static bool follow(const jx_flat *flat, int value, int depth,
                   jx_progression *to)
{
    const jx_flat_node *node;

    *to = (jx_progression){.step = 1, .count = 1, .of = -1};
    if (depth > DEEP)
        return false;
    if (literal(flat, value, &to->first))
        return true;
    value = jx_shown(flat, value);
    node = jx_maker(flat, value);
    if (!node)
        return counted(flat, value, depth + 1, to);
    switch (node->eqn->prim->id) {
    case JX_PRIM_iota: {
        const jx_p_iota *iota = node->eqn->typed;
        to->of = value;
        if (iota &&
            !jx_dim_is_int(node->eqn->outs[0]->aval->shape[iota->dimension],
                           &to->count))
            to->count = 0;
        return iota != NULL;
    }
    case JX_PRIM_convert_element_type:
        return follow(flat, node->ins[0], depth + 1, to);
    case JX_PRIM_add:
    case JX_PRIM_sub:
    case JX_PRIM_mul: return scaled(flat, node, depth + 1, to);
    default: return false;
    }
}

bool jx_progression_of(const jx_flat *flat, int value, jx_progression *to)
{
    return follow(flat, value, 0, to);
}

static bool holds(const jx_progression *p, int64_t number)
{
    int64_t apart = number - p->first;

    if (!p->step)
        return !apart;
    return apart % p->step == 0 && apart / p->step >= 0 &&
           apart / p->step < p->count;
}

bool jx_progressions_meet(const jx_progression *a, const jx_progression *b)
{
    if (!a->count || !b->count) /* one step of the loop later */
        return a->of >= 0 && a->of == b->of && a->step && a->step == b->step &&
               (a->first - b->first) % a->step == 0;
    if (a->count > b->count)
        return jx_progressions_meet(b, a);
    for (int64_t i = 0; i < a->count && i < MOST; i++)
        if (holds(b, a->first + i * a->step))
            return true;
    return false;
}
