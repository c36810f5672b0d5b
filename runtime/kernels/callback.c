/* callback.c - functions of the Python process that traced the program.
 *
 * There is no such process here.  A host may have handlers for them.  Without
 * one, a program that may call one (equinox.error_if does, where a check
 * fails) is planned and runs, and fails where it calls it; what only prints or
 * looks is left out. */
#include "runtime/host.h"
#include "runtime/kernel.h"
#include "runtime/kernels/custom_host.h"
#include "runtime/plan_impl.h"
#include "runtime/plan_rules.h"

static const char *function_in(const jx_value *value)
{
    const char *name = NULL;

    if (!value || value->tag == JX_V_FUNCTION)
        return value ? value->text : NULL;
    for (int i = 0; !name && value->items && i < value->count; i++)
        name = function_in(value->items[i]);
    return name;
}

static bool is_handled(const jx_planner *p, const jx_eqn *eqn)
{
    const jaxvet_handlers *host = p->options->handlers;

    return host && host->knows(host->data, eqn->prim->name);
}

/* What is called where nobody can. */
typedef struct called {
    const char *name, *prim, *place;
} called;

static bool run_callback(jx_run *run, const void *data, const jx_view *ins,
                         const jx_view *outs, void *scratch)
{
    const called *c = data;

    (void)ins;
    (void)outs;
    (void)scratch;
    return jx_run_fail(
        run,
        "%s%s(%s): the program calls the Python function %s, which is not here",
        c->place, *c->place ? " " : "", c->prim,
        c->name ? c->name : "(no name)");
}

bool jx_plan_callback(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                      jx_slot *outs)
{
    const jx_p_callback *params = eqn->typed;
    const char *name = function_in(params->callback);

    if (is_handled(p, eqn))
        return jx_plan_host_callback(p, eqn, name, ins, outs);
    const called c = {name, eqn->prim->name, jx_plan_user_place(p)};
    for (int i = 0; i < eqn->nouts; i++)
        outs[i] = jx_plan_output(p, eqn, i);
    jx_plan_op(p, run_callback, &c, sizeof c, eqn->nins, ins, eqn->nouts, outs,
               0);
    if (eqn->prim->id == JX_PRIM_io_callback)
        jx_plan_acts(p);
    return true;
}

bool jx_plan_observed(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                      jx_slot *outs)
{
    const jx_value *text = jx_eqn_param(eqn, "fmt");

    if (!is_handled(p, eqn))
        return true;
    return jx_plan_host_callback(
        p, eqn,
        text && text->tag == JX_V_TEXT
            ? text->text
            : function_in(jx_eqn_param(eqn, "callback")),
        ins, outs);
}
