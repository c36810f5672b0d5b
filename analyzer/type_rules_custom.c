/* type_rules_custom.c - the jaxprs of custom derivative rules against their
 * functions.
 *
 * The tangent of an input has its shape and dtype; one that has no tangent (an
 * integer, a bool, a key) is a zero in every pattern. */
#include "analyzer/type_rules.h"

#include <stdio.h>
#include <string.h>

static bool has_tangent(const jx_aval *aval)
{
    return aval->kind != JX_AVAL_ARRAY || jx_dtype_is_inexact(aval->dtype);
}

static int count_zeros(const char *mask, int length)
{
    int count = 0;

    for (int i = 0; mask && i < length && mask[i]; i++)
        count += mask[i] == '1';
    return count;
}

static bool is_zero(const char *mask, int i)
{
    return mask && (int)strlen(mask) > i && mask[i] == '1';
}

static const jx_aval *input(const jx_jaxpr *jaxpr, int i)
{
    return jaxpr->vars[jaxpr->nconsts + i]->aval;
}

typedef struct rule_check {
    jx_typing *t;
    const jx_rule *rule;
    const jx_rule_pattern *pattern;
    char name[96]; /* of the rule and its pattern, for messages */
    int n;         /* inputs that may have tangents */
    const jx_aval *const *ins;
} rule_check;

static void wrong_counts(rule_check *c, const char *part, const jx_jaxpr *jaxpr,
                         int nins, int nouts)
{
    jx_type_wrong(c->t,
                  "%s: %s takes %d values and gives %d, expected %d "
                  "and %d",
                  c->name, part, jaxpr->nins, jaxpr->nouts, nins, nouts);
}

static void agree(rule_check *c, const jx_aval *a, const jx_aval *b,
                  const char *part, int i)
{
    jx_type_agree(c->t, a, b, "%s: %s %d", c->name, part, i);
}

/* Primals and tangents in, primals and tangents out. */
static void check_jvp(rule_check *c)
{
    const jx_jaxpr *jaxpr = c->pattern->jvp.jaxpr;
    const char *zeros = c->pattern->zeros, *out_zeros = c->pattern->out_zeros;
    int nouts = c->rule->nouts, at = c->n;
    int tangents = c->n - count_zeros(zeros, c->n);
    int out_tangents = nouts - count_zeros(out_zeros, nouts);

    if (!jx_type_closed(c->t, &c->pattern->jvp, c->name))
        return;
    if (jaxpr->nins != c->n + tangents ||
        jaxpr->nouts != nouts + out_tangents) {
        wrong_counts(c, "the jvp", jaxpr, c->n + tangents,
                     nouts + out_tangents);
        return;
    }
    const jx_aval *const *outs = jx_callee_outs(c->t, jaxpr);
    for (int i = 0; i < c->n; i++) {
        agree(c, c->ins[i], input(jaxpr, i), "primal", i);
        if (is_zero(zeros, i))
            continue;
        if (has_tangent(c->ins[i]))
            agree(c, c->ins[i], input(jaxpr, at), "tangent", i);
        at++;
    }
    for (int i = 0, k = nouts; i < nouts; i++)
        if (!is_zero(out_zeros, i)) {
            if (has_tangent(outs[i]))
                agree(c, outs[i], outs[k], "tangent of output", i);
            k++;
        }
}

/* The type of residual i: an input, or an output of fwd. */
static const jx_aval *residual(rule_check *c, const jx_aval *const *outs, int i,
                               int *next)
{
    int from = c->pattern->fwds ? c->pattern->fwds[i] : -1;

    if (from >= 0)
        return from < c->rule->nins ? c->rule->ins[from] : NULL;
    return outs[(*next)++];
}

static int count_residuals(const rule_check *c)
{
    int count = 0;

    for (int i = 0; i < c->pattern->nres; i++)
        count += !c->pattern->fwds || c->pattern->fwds[i] < 0;
    return count;
}

static void check_bwd(rule_check *c, const jx_aval *const *fwd_outs, int own)
{
    const jx_jaxpr *bwd = c->pattern->bwd.jaxpr;
    int next = 0, at = c->pattern->nres, out = 0, nouts = c->rule->nouts;
    int cotangents = 0;
    int given = c->n - count_zeros(c->pattern->ct_zeros, c->n);

    for (int i = 0; i < nouts; i++)
        cotangents += has_tangent(fwd_outs[own + i]);
    if (bwd->nins != at + cotangents || bwd->nouts != given) {
        wrong_counts(c, "bwd", bwd, at + cotangents, given);
        return;
    }
    const jx_aval *const *outs = jx_callee_outs(c->t, bwd);
    for (int i = 0; i < c->pattern->nres; i++) {
        const jx_aval *is = residual(c, fwd_outs, i, &next);
        if (is)
            agree(c, is, input(bwd, i), "residual", i);
    }
    for (int i = 0; i < nouts; i++)
        if (has_tangent(fwd_outs[own + i]))
            agree(c, fwd_outs[own + i], input(bwd, at++), "cotangent of output",
                  i);
    for (int i = 0; i < c->n; i++)
        if (!is_zero(c->pattern->ct_zeros, i)) {
            if (has_tangent(c->ins[i]))
                agree(c, c->ins[i], outs[out], "cotangent of input", i);
            out++;
        }
}

static void check_vjp(rule_check *c)
{
    const jx_jaxpr *fwd = c->pattern->fwd.jaxpr;
    int own = count_residuals(c);

    if (!jx_type_closed(c->t, &c->pattern->fwd, c->name))
        return;
    if (fwd->nins != c->n || fwd->nouts != own + c->rule->nouts) {
        wrong_counts(c, "fwd", fwd, c->n, own + c->rule->nouts);
        return;
    }
    for (int i = 0; i < c->n; i++)
        agree(c, c->ins[i], input(fwd, i), "fwd, input", i);
    const jx_aval *const *outs = jx_callee_outs(c->t, fwd);
    if (c->pattern->bwd.jaxpr &&
        jx_type_closed(c->t, &c->pattern->bwd, c->name))
        check_bwd(c, outs, own);
}

void jx_type_custom_rule(jx_typing *t, const jx_rule *rule)
{
    for (int i = 0; i < rule->npatterns; i++) {
        rule_check c = {t,
                        rule,
                        &rule->patterns[i],
                        "",
                        rule->nins - rule->nconsts,
                        rule->ins + rule->nconsts};
        t->wrong = false;
        if (c.pattern->error || c.n < 0)
            continue;
        snprintf(c.name, sizeof c.name, "the %s rule of %.40s, zeros %.24s",
                 rule->vjp ? "vjp" : "jvp", rule->name ? rule->name : "?",
                 c.pattern->zeros ? c.pattern->zeros : "");
        if (!rule->vjp && c.pattern->jvp.jaxpr)
            check_jvp(&c);
        if (rule->vjp && c.pattern->fwd.jaxpr)
            check_vjp(&c);
    }
}
