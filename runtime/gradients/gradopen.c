/* gradopen.c - the plans and vectors of a check; see gradding.h. */
#include "runtime/gradients/gradding.h"

#include <stdlib.h>

bool jx_grad_allocate(jx_gradding *c)
{
    size_t n = (size_t)c->in.size, m = (size_t)c->out.size;
    size_t both = (n > m ? n : m) + 2;

    c->x = calloc(both, sizeof *c->x);
    c->samples = calloc((JX_RIDDERS_SAMPLES + 1) * (m + 1), sizeof(double));
    c->tangent = calloc(both, sizeof *c->tangent);
    c->cotangent = calloc(both, sizeof *c->cotangent);
    c->moved = calloc(both, sizeof *c->moved);
    c->directions = calloc(JX_MOST_DIRECTIONS * (n + 1), sizeof(double));
    c->slopes = calloc(m + 1, sizeof *c->slopes);
    c->again = calloc(m + 1, sizeof *c->again);
    c->slopes_at_rest = calloc(m + 1, sizeof *c->slopes_at_rest);
    c->tangent_at_rest = calloc(m + 1, sizeof *c->tangent_at_rest);
    c->along = calloc(m + 1, sizeof *c->along);
    c->agreed = calloc(m + 1, sizeof *c->agreed);
    c->opposed = calloc(m + 1, sizeof *c->opposed);
    c->last_agreed = calloc(m + 1, sizeof *c->last_agreed);
    c->excused = calloc(m + 2, sizeof *c->excused);
    c->lost = calloc(m + 2, sizeof *c->lost);
    c->is_looked = calloc(m + 1, sizeof *c->is_looked);
    c->given_value = calloc(m + 1, sizeof *c->given_value);
    c->given_at = 0;
    c->nlooked = 0;
    return (c->x && c->along && c->agreed && c->opposed && c->last_agreed &&
            c->excused && c->lost && c->is_looked && c->given_value &&
            c->samples && c->tangent && c->cotangent && c->moved &&
            c->directions && c->slopes && c->again && c->slopes_at_rest &&
            c->tangent_at_rest) ||
           jx_starved(c->program->ctx);
}

void jx_grad_release(jx_gradding *c)
{
    void *all[] = {c->x,           c->samples,        c->tangent,
                   c->cotangent,   c->moved,          c->directions,
                   c->slopes,      c->again,          c->along,
                   c->agreed,      c->opposed,        c->last_agreed,
                   c->excused,     c->lost,           c->is_looked,
                   c->given_value, c->slopes_at_rest, c->tangent_at_rest};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    jx_grad_forget_around(c);
    jx_callee_close(&c->primal);
    jx_callee_close(&c->line);
    jx_callee_close(&c->own);
    jx_callee_close(&c->kept);
    jx_callee_close(&c->guard);
    jx_callee_close(&c->jvp);
    jx_callee_close(&c->fwd);
    jx_callee_close(&c->bwd);
}

/* The size variables of another program go by their names. */
static bool open_bwd(jx_gradding *c, const jx_plan_options *how)
{
    const jx_closed *bwd = &c->pattern->bwd;
    jx_plan_options there = *how;

    if (!c->pulling)
        return jx_callee_open(&c->bwd, c->typed, bwd, how);
    there.bindings =
        jx_sizes_of(c->pulling->program, how->nbindings, how->bindings);
    return there.bindings && jx_callee_open(&c->bwd, c->pulling, bwd, &there);
}

bool jx_grad_open_rule(jx_gradding *c, const jx_plan_options *how)
{
    const jx_rule_pattern *p = c->pattern;
    jx_plan_options rule = *how;

    /* A rule that rounds to less than its function ever does is
     * off by that much. */
    rule.rounds_below = jx_points_narrowest(c->rule->primal.jaxpr);
    if (!c->rule->vjp)
        return jx_callee_open(&c->jvp, c->typed, &p->jvp, &rule);
    return jx_callee_open(&c->fwd, c->typed, &p->fwd, &rule) &&
           open_bwd(c, &rule);
}

bool jx_grad_open(jx_gradding *c, const jx_plan_options *how)
{
    if (!jx_callee_open(&c->primal, c->typed, &c->rule->primal, how))
        return false;
    if (c->derivative &&
        !jx_callee_open(&c->own, c->typed, c->derivative, how)) {
        if (c->program->ctx->error.kind == JX_E_LIMIT)
            return false;
        jx_error_clear(c->program->ctx); /* one vote less */
    }
    if (c->guarded && !jx_callee_open(&c->guard, c->typed, c->guarded, how))
        return false;
    return jx_grad_open_rule(c, how);
}
