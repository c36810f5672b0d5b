/* gradown.c - see gradding.h: the function's own derivative, the third vote. */
#include "runtime/gradients/gradding.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Operands, then a tangent for each inexact one that is not closed over: those
 * that this pattern does not move are zero. */
bool jx_grad_derivative_along(jx_gradding *c, jx_callee *f, const double *d,
                              double *to)
{
    int next = c->primal.nins, span = 0;

    if (!f->plan || f->nouts != c->primal.nouts + c->out.count)
        return false;
    for (int i = 0; i < c->primal.nins; i++) {
        const jx_port *port = jx_plan_in(c->primal.plan, i);
        bool moves = span < c->in.count && c->in.port[span] == i;
        memcpy(f->in[i], c->primal.in[i], port->bytes);
        if (i < c->rule->nconsts || !jx_dtype_is_inexact(port->aval->dtype))
            continue;
        if (next == f->nins || jx_plan_in(f->plan, next)->bytes != port->bytes)
            return false;
        if (moves)
            memcpy(f->in[next], d + c->in.spans[span].at, port->bytes);
        else
            memset(f->in[next], 0, port->bytes);
        span += moves;
        next++;
    }
    if (next != f->nins || !jx_grad_call(c, f))
        return false;
    for (int s = 0; s < c->out.count; s++)
        memcpy(to + c->out.spans[s].at,
               jx_exec_out(f->exec, c->primal.nouts + s),
               (size_t)c->out.spans[s].count * sizeof *to);
    return true;
}

void jx_grad_own_along(jx_gradding *c, const double *d)
{
    c->has_along = jx_grad_derivative_along(c, &c->own, d, c->along);
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
    /* Both are sums of what may cancel to nothing. */
    slack = c->tolerance * scale + c->rounding / 16 + DBL_MIN;
    return fabs(sum - value) <= slack       ? JX_AGREE
           : fabs(sum - value) <= 8 * slack ? JX_UNCERTAIN
                                            : JX_DISAGREE;
}
