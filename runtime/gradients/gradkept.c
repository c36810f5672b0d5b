/* gradkept.c - see gradding.h: the derivative that JAX makes of the
 * function, by the rules of what it calls.
 *
 * The function's own derivative looks at no rule.  Where what it calls has a
 * rule with a convention (relu at 0), a rule that was made of the function's
 * text has it, too. */
#include "runtime/fits.h"
#include "runtime/gradients/gradding.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static void open_kept(jx_gradding *c)
{
    const jx_plan_options *how = c->how;
    const jx_typed *typed = NULL;
    jx_derived_kept kept;
    jx_program *program;

    c->kept_tried = true;
    if (!jx_points_calls_rules(c->rule->primal.jaxpr))
        return;
    program = jx_program_derive_kept(c->typed, c->rule, &kept);
    if (program)
        typed = jx_program_at(program, how->nbindings, how->bindings);
    if (typed)
        jx_callee_open(&c->kept, typed, &kept.own, how);
    if (c->program->ctx->error.kind != JX_E_LIMIT)
        jx_error_clear(c->program->ctx);
}

bool jx_grad_is_kept_alike(jx_gradding *c, const double *d, jx_functional f,
                           double value)
{
    double *along, sum = 0, scale = fabs(value);
    bool alike;

    if (c->most_work || c->second || !isfinite(value))
        return false;
    if (!c->kept_tried)
        open_kept(c);
    along = c->kept.plan
                ? jx_grad_room(c, (size_t)c->out.size + 1, sizeof *along)
                : NULL;
    alike = along && jx_grad_derivative_along(c, &c->kept, d, along);
    for (int j = 0; alike && j < c->out.size; j++) {
        double weight = f.weights ? f.weights[j] : j == f.only;
        double term = weight == 0 ? 0 : weight * along[j];
        sum += term;
        scale += fabs(term);
    }
    free(along);
    return alike && fabs(sum - value) <= c->tolerance * scale + DBL_MIN &&
           jx_grad_is_isolated(c, d, f);
}
