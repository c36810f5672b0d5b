/* equal_reach.c - see jx_equal_reach() in equal.h.  A NaN in a part of an input
 * reaches what depends on it. */
#include "runtime/elementwise.h"
#include "runtime/equal/equal.h"
#include "runtime/equal/points.h"
#include "runtime/exec.h"

#include <math.h>

enum {
    PARTS = 8, /* of an array, that lie together, beside its blocks */
    MOST_BLOCKS = 16,
    MOST_INPUTS = 16,
    MOST_ELEMENTS = 1 << 16
};

typedef struct reaching {
    const jx_equal_question *question;
    const jx_equal_blocks *blocks;
    jx_exec *execs[2];
    void **ins; /* of both */
} reaching;

static bool open_both(reaching *r)
{
    const jx_plan *plan = r->question->plans[0];
    jx_arena *arena = r->question->a.typed->program->ctx->arena;
    int n = jx_plan_nins(plan);
    int64_t elements = 0;

    r->ins = JX_NEW_ARRAY(arena, n + 1, void *);
    for (int i = 0; r->ins && i < n; i++) {
        elements += jx_plan_in(plan, i)->count;
        r->ins[i] = jx_arena_alloc(arena, jx_plan_in(plan, i)->bytes + 16);
        if (!r->ins[i] || n > MOST_INPUTS || elements > MOST_ELEMENTS)
            return false;
    }
    for (int s = 0; s < 2; s++)
        if (!(r->execs[s] = jx_exec_new(r->question->plans[s])))
            return false;
    return r->ins != NULL;
}

/* A part is a block of a device, or behind these some that lie together. */
typedef struct part {
    int input, number, blocks;
} part;

static bool is_in_part(const reaching *r, const part *p, int64_t k,
                       int64_t count)
{
    return p->number < p->blocks
               ? r->blocks->of(r->blocks->with, p->input, k) == p->number
               : k * PARTS / count == p->number - p->blocks;
}

/* Both run where one part of an input is NaN, and all else ordinary;
 * false: one fails. */
static bool run_with(reaching *r, const part *p)
{
    static const double nan = NAN;
    const jx_plan *plan = r->question->plans[0];
    const jx_port *port = jx_plan_in(plan, p->input);
    size_t bytes = jx_dtype_of(port->dtype)->bytes;

    for (int i = 0; i < jx_plan_nins(plan); i++)
        jx_equal_fill(0, i, jx_plan_in(plan, i), r->question->domains,
                      r->ins[i]);
    for (int64_t k = 0; k < port->count; k++)
        if (is_in_part(r, p, k, port->count))
            jx_convert(JX_F64, port->dtype, &nan,
                       (char *)r->ins[p->input] + (size_t)k * bytes, 1);
    for (int s = 0; s < 2; s++) {
        jx_exec_restart(r->execs[s]);
        if (!jx_exec_run(r->execs[s], (const void *const *)r->ins, NULL))
            return false;
    }
    return true;
}

static bool is_nan(const jx_port *port, const void *all, int64_t k)
{
    double value;

    jx_convert(port->dtype, JX_F64,
               (const char *)all + (size_t)k * jx_dtype_of(port->dtype)->bytes,
               &value, 1);
    return isnan(value);
}

/* Of an input. */
typedef struct reach {
    bool less, a, b; /* whether anything of a, of b depends on it */
    uint8_t *times;  /* how many blocks get into each element of b's results */
} reach;

static void compare(const reaching *r, bool block, reach *of,
                    jx_equal_reached *to)
{
    uint8_t *times = of->times;

    for (int i = 0; i < r->question->nouts; i++) {
        const jx_port *port = jx_plan_out(r->question->plans[0], i);
        for (int64_t k = 0; jx_dtype_is_float(port->dtype) && k < port->count;
             k++, times++) {
            bool a = is_nan(port, jx_exec_out(r->execs[0], i), k);
            bool b = is_nan(port, jx_exec_out(r->execs[1], i), k);
            of->less |= b && !a;
            to->more |= a && !b;
            of->a |= a;
            of->b |= b;
            *times = (uint8_t)(*times + (block && b));
        }
    }
}

static int64_t count_results(const jx_equal_question *question)
{
    int64_t count = 0;

    for (int i = 0; i < question->nouts; i++) {
        const jx_port *port = jx_plan_out(question->plans[0], i);
        count += jx_dtype_is_float(port->dtype) ? port->count : 0;
    }
    return count;
}

static bool reach_of(reaching *r, int input, jx_equal_reached *to)
{
    const jx_port *port = jx_plan_in(r->question->plans[0], input);
    int64_t count = count_results(r->question);
    jx_arena *arena = r->question->a.typed->program->ctx->arena;
    part p = {.input = input,
              .blocks = r->blocks->count(r->blocks->with, input)};
    reach of = {.times = JX_NEW_ARRAY(arena, count + 1, uint8_t)};
    bool known = of.times != NULL;

    if (!jx_dtype_is_float(port->dtype))
        return known;
    p.blocks = p.blocks > MOST_BLOCKS ? 0 : p.blocks;
    for (; known && p.number < p.blocks + PARTS; p.number++) {
        known = run_with(r, &p);
        if (known)
            compare(r, p.number < p.blocks, &of, to);
    }
    to->less |= of.less;
    to->without |= of.b && !of.a;
    for (int64_t k = 0; known && k < count; k++)
        to->mixed |= of.times[k] > 1 && !of.less;
    return known;
}

bool jx_equal_reach(const jx_equal_question *question,
                    const jx_equal_blocks *blocks, jx_equal_reached *to)
{
    reaching r = {.question = question, .blocks = blocks};
    bool known = open_both(&r);

    *to = (jx_equal_reached){0};
    for (int i = 0; known && i < jx_plan_nins(question->plans[0]); i++)
        known = reach_of(&r, i, to);
    for (int s = 0; s < 2; s++)
        if (r.execs[s])
            jx_exec_free(r.execs[s]);
    return known;
}
