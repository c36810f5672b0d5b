/* idle.c - see idle.h: forth over a field, where each element has a
 * number, and back. */
#include "runtime/idle.h"

#include "frontend/ir/params.h"
#include "frontend/ir/signature.h"
#include "runtime/field/field.h"

static const uint32_t MOST_NUMBERS = 1u << 27;
static const int64_t MOST_ELEMENTS = 1 << 20, WORK = (int64_t)1 << 26;
static const size_t MEMORY = (size_t)1 << 30;

/* Numbers of an operand's elements; 0: an input, a constant, or no number. */
typedef struct operand {
    int64_t count;
    const uint32_t *numbers;
} operand;

/* A result that is new: its elements have numbers from `first` on. */
typedef struct event {
    const jx_eqn *eqn;
    uint32_t first;
    int64_t count;
    bool each;          /* an element is made of those at its own place */
    jx_contraction *of; /* of a product, or NULL */
    operand *ins;
} event;

typedef struct looking {
    jx_ctx *ctx;
    jx_field f;
    JX_VEC(event) events;
    uint32_t next; /* number */
    bool spent;
    uint8_t *needed;
} looking;

/* ---- forth */

static operand numbers_of(looking *l, const jx_field_value *of)
{
    uint32_t *to =
        of->cells ? JX_NEW_ARRAY(l->ctx->arena, of->count + 1, uint32_t) : NULL;

    l->spent |= of->cells && !to;
    for (int64_t i = 0; to && i < of->count; i++)
        to[i] = of->cells[i].sum;
    return (operand){to ? of->count : 0, to};
}

/* What runs other equations, or hands on what it has: its elements have
 * their numbers. */
static bool hands_on(const jx_eqn *eqn)
{
    switch (eqn->prim->id) {
    case JX_PRIM_cond:
    case JX_PRIM_scan:
    case JX_PRIM_while: return true;
    default:
        return jx_prim_in_family(eqn->prim->id, "identity") ||
               jx_field_is_move(eqn) || (eqn->typed && jx_eqn_callee(eqn));
    }
}

/* An element of a choice by what is known is what was chosen. */
static bool is_chosen(const jx_eqn *eqn, const jx_field_value *ins, int64_t i)
{
    const jx_field_value *which = &ins[0];

    if (eqn->prim->id != JX_PRIM_select_n)
        return false;
    if (!which->cells)
        return !which->unknown;
    const jx_cell *cell = &which->cells[which->count == 1 ? 0 : i];
    return !cell->kind && !cell->blended;
}

static bool is_same_place(const jx_field_value *out, int nins,
                          const jx_field_value *ins)
{
    for (int i = 0; i < nins; i++)
        if (ins[i].count != out->count && ins[i].count != 1)
            return false;
    return true;
}

static bool is_elementwise(const jx_eqn *eqn, const jx_field_value *ins,
                           const jx_field_value *out)
{
    return eqn->nouts == 1 && !hands_on(eqn) &&
           !jx_field_is_sum(eqn->prim->id) &&
           (eqn->prim->id == JX_PRIM_select_n ||
            jx_prim_in_family(eqn->prim->id, "elementwise")) &&
           is_same_place(out, eqn->nins, ins);
}

static void note(looking *l, const jx_eqn *eqn, const jx_field_value *ins,
                 const jx_field_value *out)
{
    bool keeps = hands_on(eqn), any = false;
    event e = {.eqn = eqn, .first = l->next, .count = out->count};

    if (!out->cells || l->spent)
        return;
    e.each = is_elementwise(eqn, ins, out);
    e.ins = JX_NEW_ARRAY(l->ctx->arena, eqn->nins + 1, operand);
    for (int i = 0; e.ins && i < eqn->nins; i++)
        e.ins[i] = numbers_of(l, &ins[i]);
    if (eqn->prim->id == JX_PRIM_dot_general && ins[0].cells && ins[1].cells &&
        (e.of = JX_NEW(l->ctx->arena, jx_contraction)) &&
        !jx_contraction_of(eqn, ins, e.of))
        e.of = NULL;
    l->spent |= !e.ins || out->count > MOST_NUMBERS - l->next;
    for (int64_t i = 0; !l->spent && i < out->count; i++) {
        if ((keeps || is_chosen(eqn, ins, i)) && out->cells[i].sum)
            continue;
        out->cells[i].sum = e.first + (uint32_t)i;
        any = true;
    }
    if (!any || l->spent)
        return;
    l->next += (uint32_t)out->count;
    JX_PUSH(l->ctx->arena, &l->events, e);
}

static void look(void *to, const jx_eqn *eqn, const jx_field_value *ins,
                 const jx_field_value *outs)
{
    looking *l = to;

    for (int i = 0; i < eqn->nouts; i++)
        note(l, eqn, ins, &outs[i]);
    l->f.spent |= l->spent;
}

/* ---- back */

static void need(looking *l, const operand *of, int64_t i)
{
    if (of->count)
        l->needed[of->numbers[of->count == 1 ? 0 : i]] = 1;
}

static void need_all(looking *l, const event *e)
{
    for (int k = 0; k < e->eqn->nins; k++)
        for (int64_t i = 0; i < e->ins[k].count; i++)
            need(l, &e->ins[k], i);
}

static void need_factors(looking *l, const event *e, int64_t i)
{
    int64_t row, column;

    jx_contraction_row(e->of, i, &row, &column);
    for (int64_t k = 0; k < e->of->count; k++) {
        int64_t a = row, b = column;
        jx_contraction_factors(e->of, k, &a, &b);
        need(l, &e->ins[0], a);
        need(l, &e->ins[1], b);
    }
}

static void go_back(looking *l, const event *e, jx_idle *to)
{
    bool any = false;

    for (int64_t i = 0; i < e->count; i++) {
        if (!l->needed[e->first + (uint32_t)i])
            continue;
        if (e->of)
            need_factors(l, e, i);
        for (int k = 0; e->each && k < e->eqn->nins; k++)
            need(l, &e->ins[k], i);
        to->useful += e->of ? e->of->count : 0;
        any = true;
    }
    to->products += e->of ? e->of->count * e->count : 0;
    if (any && !e->of && !e->each)
        need_all(l, e);
}

/* ---- all of it */

static bool run(looking *l, const jx_typed *typed, jx_field_value *outs)
{
    const jx_program *program = typed->program;
    int n = program->entry.jaxpr->nins;
    jx_field_value *ins = JX_NEW_ARRAY(l->ctx->arena, n + 1, jx_field_value);
    jx_field_program ready;
    bool done = ins != NULL;

    jx_field_open(&ready, typed, 0, NULL, MEMORY);
    for (int i = 0; done && i < n; i++)
        done = jx_field_input(&l->f, &ready, jx_input_aval(program, i), i,
                              &ins[i]);
    done = done && jx_field_run(&l->f, &ready, &program->entry, ins, outs);
    jx_field_close(&ready);
    return done && !l->spent;
}

static const char *judge(looking *l, const jx_typed *typed, jx_idle *to)
{
    int nouts = typed->program->entry.jaxpr->nouts;
    jx_field_value *outs =
        JX_NEW_ARRAY(l->ctx->arena, nouts + 1, jx_field_value);

    if (!outs || !run(l, typed, outs))
        return "it is too large to be followed element by element, or takes "
               "what is no real number";
    l->needed = JX_NEW_ARRAY(l->ctx->arena, l->next + 1, uint8_t);
    if (!l->needed)
        return "it is too large to be followed element by element";
    for (int i = 0; i < nouts; i++)
        for (int64_t k = 0; outs[i].cells && k < outs[i].count; k++)
            l->needed[outs[i].cells[k].sum] = 1;
    for (size_t i = l->events.count; i-- > 0;)
        go_back(l, &l->events.at[i], to);
    return NULL;
}

bool jx_idle_of(const jx_typed *typed, jx_idle *to)
{
    jx_ctx *above = typed->program->ctx;
    looking l = {.ctx = jx_ctx_below(above, MEMORY), .next = 1};

    *to = (jx_idle){0};
    if (!l.ctx)
        return false;
    if (jx_field_begin(&l.f, l.ctx, l.ctx->arena, 1)) {
        l.f.blends = l.f.sketches = true;
        l.f.largest = MOST_ELEMENTS;
        l.f.work = -WORK;
        l.f.show = look;
        l.f.to = &l;
        to->why = judge(&l, typed, to);
    } else {
        to->why = "there is not enough memory";
    }
    jx_ctx_free(l.ctx);
    return jx_ok(above);
}
