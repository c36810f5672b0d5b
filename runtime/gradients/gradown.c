/* gradown.c - see gradding.h: the function's own derivative, the third vote. */
#include "runtime/gradients/gradding.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Operands, then a tangent for each inexact one that is not closed over: those
 * that this pattern does not move are zero. */
void jx_grad_own_along(jx_gradding *c, const double *d)
{
    int next = c->primal.nins, span = 0;

    c->has_along = false;
    if (!c->own.plan || c->own.nouts != c->primal.nouts + c->out.count)
        return;
    for (int i = 0; i < c->primal.nins; i++) {
        const jx_port *port = jx_plan_in(c->primal.plan, i);
        bool moves = span < c->in.count && c->in.port[span] == i;
        memcpy(c->own.in[i], c->primal.in[i], port->bytes);
        if (i < c->rule->nconsts || !jx_dtype_is_inexact(port->aval->dtype))
            continue;
        if (next == c->own.nins ||
            jx_plan_in(c->own.plan, next)->bytes != port->bytes)
            return;
        if (moves)
            memcpy(c->own.in[next], d + c->in.spans[span].at, port->bytes);
        else
            memset(c->own.in[next], 0, port->bytes);
        span += moves;
        next++;
    }
    if (next != c->own.nins || !jx_grad_call(c, &c->own))
        return;
    for (int s = 0; s < c->out.count; s++)
        memcpy(c->along + c->out.spans[s].at,
               jx_exec_out(c->own.exec, c->primal.nouts + s),
               (size_t)c->out.spans[s].count * sizeof *c->along);
    c->has_along = true;
}

jx_opinion jx_grad_own_says(const jx_gradding *c, jx_functional f, double value,
                            double scale)
{
    double sum = 0, slack;

    if (!c->has_along)
        return JX_SKIP;
    if (!f.weights) {
        sum = c->along[f.only];
        scale += fabs(sum);
    }
    for (int j = 0; f.weights && j < c->out.size; j++) {
        double term = f.weights[j] * c->along[j];
        sum += f.weights[j] == 0 ? 0 : term;
        scale += fabs(term);
    }
    if (!isfinite(sum) || !isfinite(value))
        return JX_SKIP;
    slack = c->tolerance * scale + DBL_MIN;
    return fabs(sum - value) <= slack       ? JX_AGREE
           : fabs(sum - value) <= 8 * slack ? JX_UNCERTAIN
                                            : JX_DISAGREE;
}
