/* exhaust_eval.c - see exhaust_eval.h. */
#include "runtime/gradients/exhaust_eval.h"

#include "runtime/elementwise.h"

#include <stdlib.h>
#include <string.h>

static const jx_plan *plan_of(const jx_exhaust_plans *p, int role)
{
    const jx_plan *all[JX_EX_ROLES] = {
        p->value,           p->says,           p->wide,
        p->jitters[0],      p->jitters[1],     p->rule,
        p->rule_jitters[0], p->rule_jitters[1]};

    return all[role];
}

/* So many numbers, all the same. */
static void *filled(jx_dtype dtype, int64_t count, double value)
{
    double *numbers = malloc((size_t)(count + 1) * sizeof *numbers);
    void *to = malloc((size_t)(count + 1) * sizeof *numbers);

    for (int64_t i = 0; numbers && i < count; i++)
        numbers[i] = value;
    if (numbers && to)
        jx_convert(JX_F64, dtype, numbers, to, count);
    free(numbers);
    return numbers ? to : NULL;
}

bool jx_exhaust_open(jx_ctx *ctx, const jx_exhaust_plans *plans,
                     jx_exhaust_eval *to)
{
    size_t n = (size_t)plans->each;
    bool ok = true;

    *to = (jx_exhaust_eval){.plans = plans};
    for (int i = 0; i < plans->narguments; i++) {
        to->x[i] = calloc(n, sizeof *to->x[i]);
        to->declared[i] = calloc(n, sizeof(uint32_t));
        to->wide[i] = calloc(n, sizeof(double));
        ok = ok && to->x[i] && to->declared[i] && to->wide[i];
    }
    for (int k = 0; k < 2; k++) {
        to->unit[0][k] = filled(plans->dtype, plans->each, k);
        to->unit[1][k] = filled(JX_F64, plans->each, k);
        ok = ok && to->unit[0][k] && to->unit[1][k];
    }
    for (int i = 0; ok && i < JX_EX_ROLES; i++) {
        const jx_plan *plan = plan_of(plans, i);
        if (!plan)
            continue;
        to->execs[i] = jx_exec_new(plan);
        ok = to->execs[i] != NULL;
    }
    return ok || jx_starved(ctx);
}

void jx_exhaust_close(jx_exhaust_eval *e)
{
    for (int i = 0; i < JX_EX_ROLES; i++)
        jx_exec_free(e->execs[i]);
    for (int i = 0; i < 2; i++) {
        free(e->x[i]);
        free(e->declared[i]);
        free(e->wide[i]);
        free(e->unit[0][i]);
        free(e->unit[1][i]);
    }
    *e = (jx_exhaust_eval){0};
}

void jx_exhaust_load(jx_exhaust_eval *e)
{
    int64_t n = e->plans->each;
    jx_dtype dtype = e->plans->dtype;

    for (int i = 0; i < e->plans->narguments; i++) {
        if (dtype == JX_F32) {
            memcpy(e->declared[i], e->x[i], (size_t)n * sizeof(uint32_t));
        } else {
            uint16_t *to = e->declared[i];
            for (int64_t k = 0; k < n; k++)
                to[k] = (uint16_t)e->x[i][k];
        }
        jx_convert(dtype, JX_F64, e->declared[i], e->wide[i], n);
    }
}

/* What a derivative takes beside the arguments: ones along one of them, or
 * for its result. */
static int add_tangents(const jx_exhaust_eval *e, jx_slope_form form, bool wide,
                        int argument, const void **ins, int nins)
{
    if (form == JX_SLOPE_BACKWARD)
        ins[nins++] = e->unit[wide][1];
    for (int i = 0; form == JX_SLOPE_FORWARD && i < e->plans->narguments; i++)
        ins[nins++] = e->unit[wide][i == argument];
    return nins;
}

static void give(const jx_exhaust_eval *e, jx_exhaust_role role, int out,
                 double *to)
{
    const jx_plan *plan = plan_of(e->plans, role);

    if (!to)
        return;
    if (out < jx_plan_nouts(plan))
        jx_convert(jx_plan_out(plan, out)->dtype, JX_F64,
                   jx_exec_out(e->execs[role], out), to, e->plans->each);
    else /* a tangent that the rule leaves out is zero */
        memset(to, 0, (size_t)e->plans->each * sizeof *to);
}

bool jx_exhaust_eval_run(jx_exhaust_eval *e, jx_exhaust_role role, int argument,
                         double *value, double *slope)
{
    const jx_exhaust_plans *p = e->plans;
    bool wide = role >= JX_EX_WIDE;
    bool is_rule = role == JX_EX_SAYS || role >= JX_EX_RULE;
    jx_slope_form form = is_rule ? p->form
                         : role != JX_EX_VALUE && p->has_slope
                             ? JX_SLOPE_FORWARD
                             : JX_SLOPE_NONE;
    const void *ins[6];
    int nins = 0;

    for (int i = 0; i < p->narguments; i++)
        ins[nins++] = wide ? e->wide[i] : e->declared[i];
    nins = add_tangents(e, form, wide, argument, ins, nins);
    if (!jx_exec_run(e->execs[role], ins, NULL))
        return false;
    if (form == JX_SLOPE_BACKWARD) {
        give(e, role, argument, slope);
        return true;
    }
    give(e, role, 0, value);
    if (form)
        give(e, role, 1, slope);
    return true;
}
