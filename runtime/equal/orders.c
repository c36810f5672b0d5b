/* orders.c - see orders.h. */
#include "runtime/equal/orders.h"

#include "frontend/ir/signature.h"
#include "runtime/equal/evaluating.h"
#include "runtime/field/products.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TERMS = 1 << 12, MOST_NUMBERS = 1 << 22 };

typedef struct ordering {
    const jx_equal_question *question;
    jx_ctx *above, *ctx; /* the first program's; of this evaluation */
    jx_field f;
    int nins;
    jx_field_value *ins;
    const char *why;
    /* Of one element: */
    struct numbered *all;
    int32_t *numbers, *renumbered;
    int64_t terms; /* with a number, of each element */
} ordering;

static bool give_up(ordering *o, const char *why)
{
    if (!o->why)
        o->why = why;
    return false;
}

/* ---- evaluating */

static bool draw(ordering *o, const jx_field_program *program,
                 const jx_aval *aval, int number)
{
    jx_field_value *to = &o->ins[number];

    if (aval->kind != JX_AVAL_ARRAY || !jx_dtype_is_float(aval->dtype))
        return give_up(o, "an input holds no real numbers");
    if (!jx_field_room(&o->f, program, aval, to))
        return give_up(
            o, "an input is too large to be followed element by element");
    for (int64_t i = 0; i < to->count; i++) {
        to->cells[i] =
            jx_cell_any(&o->f, jx_hash_mix((uint64_t)number + 1, (uint64_t)i));
        to->cells[i].sum = jx_products_input(o->f.products, number, i);
    }
    return true;
}

static uint64_t value_of(const void *from, uint64_t factor)
{
    const jx_field_value *ins = from;

    return ins[JX_FACTOR_INPUT(factor)].cells[JX_FACTOR_ELEMENT(factor)].v;
}

static bool evaluate(ordering *o, const jx_equal_side *side,
                     jx_field_value *outs)
{
    const jx_program *program = side->typed->program;
    jx_field_program run;
    bool done = true;

    jx_field_open(&run, side->typed, side->nbindings, side->bindings,
                  jx_evaluating_memory(o->question));
    for (int i = 0; done && !o->ins[i].cells && i < o->nins; i++)
        done = draw(o, &run, jx_input_aval(program, i), i);
    done = done &&
           (jx_field_run(&o->f, &run, &program->entry, o->ins, outs) ||
            give_up(o, "it is too large to be followed element by element"));
    jx_field_close(&run);
    return done;
}

/* ---- one result */

typedef struct numbered {
    jx_product product;
    int32_t number;
} numbered;

static int by_factors(const void *left, const void *right)
{
    const jx_product *a = left, *b = right; /* they come first */

    if (a->count != b->count)
        return a->count - b->count;
    for (int i = 0; i < a->count; i++)
        if (a->factors[i] != b->factors[i])
            return a->factors[i] < b->factors[i] ? -1 : 1;
    return 0;
}

static int64_t products_of(const ordering *o, const jx_cell *cell,
                           jx_product *to)
{
    return jx_products_of(&o->f, cell, value_of, o->ins, MOST_TERMS, to);
}

/* The numbers in `all` of what an element adds up: each is there, and once. */
static bool number_terms(int64_t terms, const jx_product *of, numbered *all,
                         int32_t *to)
{
    qsort(all, (size_t)terms, sizeof *all, by_factors);
    for (int64_t i = 1; i < terms; i++)
        if (by_factors(&all[i - 1], &all[i]) == 0)
            return false;
    for (int64_t i = 0; i < terms; i++) {
        const numbered *found =
            bsearch(&of[i], all, (size_t)terms, sizeof *all, by_factors);
        if (!found)
            return false;
        to[i] = found->number;
    }
    for (int64_t i = 0; i < terms; i++) { /* each once */
        numbered *found =
            bsearch(&of[i], all, (size_t)terms, sizeof *all, by_factors);
        if (found->number < 0)
            return false;
        found->number = -1;
    }
    return true;
}

static int axis_between(const jx_field_value *in, int64_t a, int64_t b)
{
    int64_t step = 1;
    int axis = in->rank - 1;

    for (; axis >= 0 && b - a != step; axis--)
        step *= in->shape[axis];
    return axis;
}

/* What changes from the first numbered product to the second. */
static void look_along(const ordering *o, int64_t n, const jx_product *of,
                       jx_order *to)
{
    const jx_product *two[2] = {NULL, NULL};

    for (int64_t i = 0; i < n; i++)
        if (o->renumbered[i] >= 0 && o->renumbered[i] < 2)
            two[o->renumbered[i]] = &of[i];
    for (int i = 0; two[0] && two[1] && i < two[0]->count && i < two[1]->count;
         i++) {
        uint64_t a = two[0]->factors[i], b = two[1]->factors[i];
        int input = JX_FACTOR_INPUT(a), axis;
        if (input != JX_FACTOR_INPUT(b) || a >= b ||
            to->nsummed == JX_MOST_SUMMED)
            continue;
        axis = axis_between(&o->ins[input], JX_FACTOR_ELEMENT(a),
                            JX_FACTOR_ELEMENT(b));
        if (axis >= 0 && o->ins[input].shape[axis] == to->terms)
            to->summed[to->nsummed++] = (struct jx_summed){input, axis};
    }
}

static bool is_of_kind(const jx_product *a, const jx_product *b)
{
    bool same = a->count == b->count;

    for (int i = 0; same && i < a->count; i++)
        same = JX_FACTOR_INPUT(a->factors[i]) == JX_FACTOR_INPUT(b->factors[i]);
    return same;
}

/* New numbers without what is the only one of its kind, which is -1 then; how
 * many are left. Where nothing would be left all keep theirs. */
static int64_t renumber(int64_t n, const jx_product *of, int32_t *to)
{
    int64_t left = 0;

    for (int64_t i = 0; i < n; i++) {
        bool any = false;
        for (int64_t k = 0; !any && k < n; k++)
            any = k != i && is_of_kind(&of[i], &of[k]);
        to[i] = any ? (int32_t)left++ : -1;
    }
    for (int64_t i = 0; !left && i < n; i++)
        to[i] = (int32_t)i;
    return left ? left : n;
}

/* The order of one element: its n products `got` among those
 * that are wanted. */
static bool order_element(ordering *o, int64_t n, const jx_product *got,
                          const jx_product *want, int32_t *to)
{
    int64_t left = renumber(n, want, o->renumbered), next = 0;

    for (int64_t k = 0; k < n; k++)
        o->all[k] = (numbered){want[k], (int32_t)k};
    if (left != o->terms || !number_terms(n, got, o->all, o->numbers))
        return false;
    for (int64_t k = 0; k < n; k++)
        if (o->renumbered[o->numbers[k]] >= 0)
            to[next++] = o->renumbered[o->numbers[k]];
    return true;
}

static bool order_result(ordering *o, const jx_field_value *a,
                         const jx_field_value *b, jx_order *to)
{
    jx_product *got = JX_NEW_ARRAY(o->ctx->arena, MOST_TERMS, jx_product);
    jx_product *want = JX_NEW_ARRAY(o->ctx->arena, MOST_TERMS, jx_product);
    int32_t *of = NULL;

    if (!got || !want || !a->cells || !b->cells || a->count != b->count ||
        !a->count)
        return give_up(o, "a result has no real numbers");
    *to = (jx_order){.rank = a->rank, .count = a->count};
    to->shape = jx_arena_copy(o->above->arena, a->shape,
                              (size_t)a->rank * sizeof *a->shape);
    for (int64_t i = 0; i < a->count; i++) {
        int64_t n = products_of(o, &b->cells[i], want);
        if (n <= 0)
            return give_up(o, "a result of the second program is no sum of "
                              "products of inputs");
        if (products_of(o, &a->cells[i], got) != n)
            return give_up(
                o,
                "a result of the first program is no sum of as many products");
        if (!i) {
            to->terms = o->terms = renumber(n, want, o->renumbered);
            to->beside = n - to->terms;
            look_along(o, n, want, to);
            if (n > MOST_NUMBERS / to->count)
                return give_up(o, "a result has too many products");
            to->of = of =
                JX_NEW_ARRAY(o->above->arena, to->terms * to->count, int32_t);
        }
        if (!of || n != to->terms + to->beside ||
            !order_element(o, n, got, want, of + i * to->terms))
            return give_up(o, "elements of a result do not add up the same "
                              "products, each once");
    }
    return true;
}

/* Each element was held against a number of a field above 2^59, of
 * both programs. */
static int bits_of(int nouts, const jx_order *outs)
{
    double elements = 0;

    for (int i = 0; i < nouts; i++)
        elements += (double)outs[i].count;
    return (int)floor(59 - log2(fmax(1, 2 * JX_MOST_FACTORS * elements)));
}

static bool order_all(ordering *o, jx_orders *to)
{
    const jx_equal_question *q = o->question;
    int nouts[] = {q->a.typed->program->entry.jaxpr->nouts,
                   q->b.typed->program->entry.jaxpr->nouts};
    jx_field_value *got =
        JX_NEW_ARRAY(o->ctx->arena, nouts[0] + 1, jx_field_value);
    jx_field_value *want =
        JX_NEW_ARRAY(o->ctx->arena, nouts[1] + 1, jx_field_value);
    jx_order *outs = JX_NEW_ARRAY(o->above->arena, q->nouts + 1, jx_order);

    o->nins = q->b.typed->program->entry.jaxpr->nins;
    o->ins = JX_NEW_ARRAY(o->ctx->arena, o->nins + 1, jx_field_value);
    o->all = JX_NEW_ARRAY(o->ctx->arena, MOST_TERMS, numbered);
    o->numbers = JX_NEW_ARRAY(o->ctx->arena, MOST_TERMS, int32_t);
    o->renumbered = JX_NEW_ARRAY(o->ctx->arena, MOST_TERMS, int32_t);
    if (!got || !want || !outs || !o->ins || !o->all || !o->numbers ||
        !o->renumbered)
        return give_up(o, "there is not enough memory");
    if (nouts[0] > q->nouts || nouts[1] > q->nouts)
        return give_up(
            o, "an array is declared to be the same on several devices");
    if (!evaluate(o, &q->b, want) || !evaluate(o, &q->a, got))
        return false;
    for (int i = 0; i < q->nouts; i++)
        if (!order_result(o, &got[i], &want[i], &outs[i]))
            return false;
    to->nouts = q->nouts;
    to->outs = outs;
    to->bits = bits_of(q->nouts, outs);
    return true;
}

const char *jx_equal_orders(const jx_equal_question *question, jx_orders *to)
{
    ordering o = {.question = question,
                  .above = question->a.typed->program->ctx};
    jx_products products = {0};

    o.ctx = jx_ctx_below(o.above, jx_evaluating_memory(question));
    if (!o.ctx)
        return "there is not enough memory";
    products.arena = o.ctx->arena;
    if (!jx_field_begin(&o.f, o.ctx, o.ctx->arena,
                        jx_evaluating_seed(question)))
        give_up(&o, "there is not enough memory");
    o.f.blends = true;
    o.f.products = &products;
    /* cells take longer than planes */
    o.f.work = -jx_evaluating_work(question) / 64;
    if (!o.why && !order_all(&o, to))
        give_up(&o, "it is not known");
    jx_ctx_free(o.ctx);
    return o.why;
}
