/* equal_reach.c - see jx_equal_reach() in equal.h.  A NaN in a part of an input
 * reaches what depends on it. */
#include "runtime/elementwise.h"
#include "runtime/equal/equal.h"
#include "runtime/equal/points.h"
#include "runtime/exec.h"

#include <math.h>

enum { PARTS = 8, MOST_INPUTS = 16, MOST_ELEMENTS = 1 << 16 };

typedef struct reaching {
    const jx_equal_question *question;
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

/* Both run where one part of an input is NaN, and all else ordinary;
 * false: one fails. */
static bool run_with(reaching *r, int input, int part)
{
    static const double nan = NAN;
    const jx_plan *plan = r->question->plans[0];
    const jx_port *port = jx_plan_in(plan, input);
    size_t bytes = jx_dtype_of(port->dtype)->bytes;

    for (int i = 0; i < jx_plan_nins(plan); i++)
        jx_equal_fill(0, i, jx_plan_in(plan, i), r->question->last, r->ins[i]);
    for (int64_t k = port->count * part / PARTS;
         k < port->count * (part + 1) / PARTS; k++)
        jx_convert(JX_F64, port->dtype, &nan,
                   (char *)r->ins[input] + (size_t)k * bytes, 1);
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

static void compare(const reaching *r, bool *less, bool *more, bool *seen)
{
    for (int i = 0; i < r->question->nouts; i++) {
        const jx_port *port = jx_plan_out(r->question->plans[0], i);
        for (int64_t k = 0; jx_dtype_is_float(port->dtype) && k < port->count;
             k++) {
            bool a = is_nan(port, jx_exec_out(r->execs[0], i), k);
            bool b = is_nan(port, jx_exec_out(r->execs[1], i), k);
            *less |= b && !a;
            *more |= a && !b;
            seen[0] |= a;
            seen[1] |= b;
        }
    }
}

bool jx_equal_reach(const jx_equal_question *question, bool *less, bool *more,
                    bool *without)
{
    reaching r = {.question = question};
    bool known = open_both(&r);

    *less = *more = *without = false;
    for (int i = 0; known && i < jx_plan_nins(question->plans[0]); i++) {
        const jx_port *port = jx_plan_in(question->plans[0], i);
        bool seen[2] = {false, false}; /* in a result of a, of b */
        for (int part = 0;
             known && jx_dtype_is_float(port->dtype) && part < PARTS; part++) {
            if (port->count * part / PARTS == port->count * (part + 1) / PARTS)
                continue; /* there is nothing in it */
            known = run_with(&r, i, part);
            if (known)
                compare(&r, less, more, seen);
        }
        *without |= seen[1] && !seen[0];
    }
    for (int s = 0; s < 2; s++)
        if (r.execs[s])
            jx_exec_free(r.execs[s]);
    return known;
}
