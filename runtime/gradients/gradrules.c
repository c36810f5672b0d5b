/* gradrules.c - see gradding.h. */
#include "runtime/gradients/gradding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* -- signatures ------------------------------------------------------------ */

static bool mask_fits(const char *zeros, int count)
{
    return !zeros || (int)strlen(zeros) == count;
}

bool jx_grad_masks_fit(const jx_rule *rule, const jx_rule_pattern *p)
{
    int operands = rule->nins - rule->nconsts;

    for (int r = 0; p->fwds && r < p->nres; r++)
        if (p->fwds[r] >= rule->nins)
            return false;
    return operands >= 0 && mask_fits(p->zeros, operands) &&
           mask_fits(p->ct_zeros, operands) &&
           mask_fits(p->out_zeros, rule->nouts);
}

/* Two values that one is copied to the other of. */
static bool same_port(const jx_port *a, const jx_port *b)
{
    return a->dtype == b->dtype && a->bytes == b->bytes;
}

static bool span_fits(const jx_space *s, int span, const jx_port *port)
{
    size_t bytes = (size_t)s->spans[span].count * sizeof(double);

    return port->bytes == bytes && jx_dtype_is_inexact(port->dtype);
}

static bool takes_primals(const jx_gradding *c, const jx_callee *f)
{
    for (int i = c->rule->nconsts; i < c->primal.nins; i++)
        if (!same_port(jx_plan_in(c->primal.plan, i),
                       jx_plan_in(f->plan, i - c->rule->nconsts)))
            return false;
    return true;
}

static bool gives_primals(const jx_gradding *c, const jx_callee *f, int first)
{
    for (int i = 0; i < c->primal.nouts; i++)
        if (!same_port(jx_plan_out(c->primal.plan, i),
                       jx_plan_out(f->plan, first + i)))
            return false;
    return true;
}

static bool jvp_fits(const jx_gradding *c)
{
    int nprimals = c->primal.nins - c->rule->nconsts;
    int next = c->rule->nouts;

    if (c->jvp.nins != nprimals + c->in.count || c->jvp.nouts < next ||
        !takes_primals(c, &c->jvp) || !gives_primals(c, &c->jvp, 0))
        return false;
    for (int i = 0; i < c->in.count; i++)
        if (!span_fits(&c->in, i, jx_plan_in(c->jvp.plan, nprimals + i)))
            return false;
    for (int i = 0, port = 0; port < c->rule->nouts; port++) {
        bool zero = c->pattern->out_zeros && c->pattern->out_zeros[port] == '1';
        bool active = i < c->out.count && c->out.port[i] == port;
        if (!zero && next >= c->jvp.nouts)
            return false;
        if (active && !zero &&
            !span_fits(&c->out, i, jx_plan_out(c->jvp.plan, next)))
            return false;
        i += active;
        next += !zero;
    }
    return next == c->jvp.nouts;
}

static bool residuals_fit(const jx_gradding *c)
{
    const jx_rule_pattern *p = c->pattern;

    for (int r = 0, next = 0; r < p->nres; r++) {
        const jx_port *from = p->fwds && p->fwds[r] >= 0
                                  ? jx_plan_in(c->primal.plan, p->fwds[r])
                                  : jx_plan_out(c->fwd.plan, next++);
        if (!same_port(from, jx_plan_in(c->bwd.plan, r)))
            return false;
    }
    return true;
}

static bool vjp_fits(const jx_gradding *c)
{
    const jx_rule_pattern *p = c->pattern;
    int operands = c->primal.nins - c->rule->nconsts, next = 0;
    int computed = jx_grad_computed_residuals(p);

    if (c->fwd.nins != operands || c->fwd.nouts != computed + c->primal.nouts ||
        c->bwd.nins != p->nres + c->out.count || !takes_primals(c, &c->fwd) ||
        !gives_primals(c, &c->fwd, computed) || !residuals_fit(c))
        return false;
    for (int i = 0; i < c->out.count; i++)
        if (!span_fits(&c->out, i, jx_plan_in(c->bwd.plan, p->nres + i)))
            return false;
    for (int i = 0, span = 0; i < operands; i++) {
        bool zero = p->ct_zeros && p->ct_zeros[i] == '1';
        bool active =
            span < c->in.count && c->in.port[span] == i + c->rule->nconsts;
        if (!zero && next >= c->bwd.nouts)
            return false;
        if (active && !zero &&
            !span_fits(&c->in, span, jx_plan_out(c->bwd.plan, next)))
            return false;
        span += active;
        next += !zero;
    }
    return next == c->bwd.nouts;
}

bool jx_grad_signature_fits(const jx_gradding *c)
{
    if (c->primal.nins != c->rule->nins || c->primal.nouts != c->rule->nouts)
        return false;
    return c->rule->vjp ? vjp_fits(c) : jvp_fits(c);
}

/* -- jvp ------------------------------------------------------------------ */

static void copy_primals(const jx_gradding *c, jx_callee *to)
{
    for (int i = c->rule->nconsts; i < c->primal.nins; i++)
        memcpy(to->in[i - c->rule->nconsts], c->primal.in[i],
               jx_plan_in(c->primal.plan, i)->bytes);
}

/* Runs the jvp rule along d; the tangents go after the primals, one per input
 * whose tangent is not zero. */
bool jx_grad_run_jvp(jx_gradding *c, const double *d, double factor)
{
    int nprimals = c->primal.nins - c->rule->nconsts;

    copy_primals(c, &c->jvp);
    for (int i = 0; i < c->in.count; i++) {
        double *to = c->jvp.in[nprimals + i];
        const jx_span_of *span = &c->in.spans[i];
        for (int k = 0; k < span->count; k++)
            to[k] = factor * d[span->at + k];
    }
    return jx_grad_call(c, &c->jvp);
}

/* The tangents out, zeros where the rule says so. */
void jx_grad_take_tangents(jx_gradding *c, double *tangent)
{
    int next = c->rule->nouts;

    for (int i = 0, port = 0; port < c->rule->nouts; port++) {
        bool zero = c->pattern->out_zeros && c->pattern->out_zeros[port] == '1';
        bool active = i < c->out.count && c->out.port[i] == port;
        if (active) {
            const jx_span_of *span = &c->out.spans[i++];
            size_t bytes = (size_t)span->count * sizeof *tangent;
            if (zero)
                memset(tangent + span->at, 0, bytes);
            else
                memcpy(tangent + span->at, jx_exec_out(c->jvp.exec, next),
                       bytes);
        }
        next += !zero;
    }
}

static bool jvp_says(jx_gradding *c, const double *d, int component,
                     double *value)
{
    if (!jx_grad_run_jvp(c, d, 1))
        return false;
    jx_grad_take_tangents(c, c->tangent);
    *value = c->tangent[component];
    return true;
}

double jx_grad_parts(jx_gradding *c, const double *d, int component)
{
    size_t n = (size_t)c->in.size, m = (size_t)c->out.size;
    double *alone = c->in.count > 1 && c->in.count <= 16
                        ? jx_grad_room(c, n + m + 2, sizeof *alone)
                        : NULL;
    double *tangent = alone ? alone + n : NULL, sum = 0;

    for (int s = 0; alone && s < c->in.count; s++) {
        const jx_span_of *span = &c->in.spans[s];
        memset(alone, 0, n * sizeof *alone);
        memcpy(alone + span->at, d + span->at, (size_t)span->count * sizeof *d);
        if (span->tied || !jx_grad_run_jvp(c, alone, 1))
            continue;
        jx_grad_take_tangents(c, tangent);
        sum += isfinite(tangent[component]) ? fabs(tangent[component]) : 0;
    }
    free(alone);
    return sum;
}

/* -- vjp ------------------------------------------------------------------ */

/* Copies residual `r` to bwd: a forwarded input, or the next output of fwd. */
static void pass_residuals(jx_gradding *c)
{
    const jx_rule_pattern *p = c->pattern;

    for (int r = 0, next = 0; r < p->nres; r++) {
        size_t bytes = jx_plan_in(c->bwd.plan, r)->bytes;
        const void *from = p->fwds && p->fwds[r] >= 0
                               ? c->primal.in[p->fwds[r]]
                               : jx_exec_out(c->fwd.exec, next++);
        memcpy(c->bwd.in[r], from, bytes);
    }
}

/* Residuals that fwd computes, before its primal outputs. */
int jx_grad_computed_residuals(const jx_rule_pattern *p)
{
    int n = 0;

    for (int r = 0; r < p->nres; r++)
        n += !(p->fwds && p->fwds[r] >= 0);
    return n;
}

static bool run_bwd(jx_gradding *c, const double *cotangent, double *pullback)
{
    for (int i = 0; i < c->out.count; i++)
        memcpy(c->bwd.in[c->pattern->nres + i], cotangent + c->out.spans[i].at,
               (size_t)c->out.spans[i].count * sizeof *cotangent);
    if (!jx_grad_call(c, &c->bwd))
        return false;
    memset(pullback, 0, (size_t)c->in.size * sizeof *pullback);
    jx_space_add(&c->in, &c->bwd, c->rule->nconsts,
                 c->primal.nins - c->rule->nconsts, c->pattern->ct_zeros,
                 pullback);
    return true;
}

/* <bwd(cotangent), d>, summed from terms of magnitude `scale`. */
bool jx_grad_pulled_back(jx_gradding *c, const double *cotangent,
                         const double *d, double *value, double *scale)
{
    double *g = c->tangent; /* a vjp check has no other use for it */

    if (!run_bwd(c, cotangent, g))
        return false;
    jx_space_conjugate(&c->in, g);
    *value = *scale = 0;
    for (int i = 0; i < c->in.size; i++) {
        if (d[i] == 0)
            continue; /* keeps 0 * inf out */
        *value += g[i] * d[i];
        *scale += fabs(g[i] * d[i]);
    }
    return true;
}

bool jx_grad_prepare_fwd(jx_gradding *c)
{
    copy_primals(c, &c->fwd);
    if (!jx_grad_call(c, &c->fwd))
        return false;
    pass_residuals(c);
    return true;
}

bool jx_grad_says(jx_gradding *c, const double *d, jx_functional f,
                  double *value)
{
    double scale;
    bool good;

    if (!f.weights)
        return jvp_says(c, d, f.only, value);
    if (f.weights != c->cotangent)
        memcpy(c->cotangent, f.weights, (size_t)c->out.size * sizeof(double));
    jx_space_conjugate(&c->out, c->cotangent);
    good = jx_grad_prepare_fwd(c) &&
           jx_grad_pulled_back(c, c->cotangent, d, value, &scale);
    jx_space_conjugate(&c->out, c->cotangent); /* they may be the weights */
    return good;
}
