/* gradspend.c - see gradding.h: runs within what is left for a rule. */
#include "runtime/gradients/gradding.h"

#include <stdlib.h>

enum {
    CALL_OPERATIONS = 300000, /* one call may execute (loops count turns) */
    CALLS = 33,               /* so long that they are enough for one rule */
    /* Of a step from a point: times what is executed there, and so many in any
     * case. Where a loop ends at once and goes on and on right beside, no slope
     * is to be had. */
    BESIDE = 16,
    LEAST_BESIDE = 100000,
    /* of a program's buffers, that take as long as an operation */
    BYTES_OF_ONE = 16,
    /* of a rule's, of which more points are tried, but for ... */
    BYTES_OF_RULE = 256,
    /* ... so many, which take no longer than to start on them */
    FREE_BYTES = 1 << 16,
    /* of operands and results, that take as long as an operation: what counts
     * where there is so much time for all rules, and a loop may go over the
     * same few bytes for ever */
    ELEMENTS_OF_ONE = 32,
};

void *jx_grad_room(const jx_gradding *c, size_t count, size_t size)
{
    void *room = calloc(count, size);

    if (!room)
        jx_starved(c->program->ctx);
    return room;
}

static int64_t most_of_a_call(const jx_gradding *c)
{
    return c->most_work ? c->most_work : CALL_OPERATIONS;
}

int64_t jx_grad_cost(const jx_gradding *c, const jx_callee *f)
{
    size_t part = c->most_work ? BYTES_OF_ONE : BYTES_OF_RULE;
    size_t bytes = jx_plan_memory(f->plan);

    if (!c->most_work) {
        bytes += (size_t)(c->in.size + c->out.size) * sizeof(double);
        bytes = bytes > FREE_BYTES ? bytes - FREE_BYTES : 0;
    }
    if (c->options->in_passing)
        bytes += (size_t)(jx_exec_elements(f->exec) / ELEMENTS_OF_ONE) * part;
    return jx_exec_operations(f->exec) + (int64_t)(bytes / part);
}

bool jx_grad_is_spent(jx_gradding *c)
{
    c->spent = c->spent || c->work > most_of_a_call(c) * CALLS;
    return c->work > most_of_a_call(c) * CALLS;
}

static bool call_within(jx_gradding *c, jx_callee *f, int64_t most)
{
    if (jx_grad_is_spent(c))
        return false;
    jx_exec_limit(f->exec, most);
    if (c->noise)
        c->noise->seed++;
    bool ok = jx_callee_run(f);
    c->work += jx_grad_cost(c, f);
    if (!ok && !c->failed && jx_exec_operations(f->exec) < most &&
        !jx_exec_gave_up(f->exec))
        c->failed = jx_arena_printf(c->program->ctx->arena, "%s",
                                    jx_exec_error(f->exec));
    c->spent = c->spent || !ok;
    return ok;
}

bool jx_grad_call(jx_gradding *c, jx_callee *f)
{
    return call_within(c, f, most_of_a_call(c));
}

bool jx_grad_call_beside(jx_gradding *c)
{
    int64_t most = most_of_a_call(c), here = BESIDE * c->call_work;

    if (!c->limit.in && here < most)
        most = here > LEAST_BESIDE || most < LEAST_BESIDE ? here : LEAST_BESIDE;
    return call_within(c, &c->primal, most);
}
