/* gradcallers.c - see gradcallers.h: from each jaxpr, and from each rule,
 * to who calls it. */
#include "runtime/gradients/gradcallers.h"

#include "frontend/base/assert.h"
#include "frontend/base/vec.h"

enum { NONE = -1 };

/* One of those that call the same; `next` is another. */
typedef struct caller {
    int jaxpr, next;
    bool by_rule; /* the code of a rule is what is called */
} caller;

struct jx_call_graph {
    const jx_program *program;
    /* by number: the first of their callers, or NONE */
    int *of_jaxpr, *of_rule;
    JX_VEC(caller) callers;
};

static int *no_callers(jx_arena *arena, int count)
{
    int *first = JX_NEW_ARRAY(arena, count + 1, int);

    for (int i = 0; first && i < count; i++)
        first[i] = NONE;
    return first;
}

static void add(jx_call_graph *g, int *first, int jaxpr, bool by_rule)
{
    const caller one = {jaxpr, *first, by_rule};

    JX_PUSH(g->program->ctx->arena, &g->callers, one);
    *first = (int)g->callers.count - 1;
}

/* The code of a rule that is run where tangents or cotangents are. */
static void add_rule(jx_call_graph *g, const jx_rule *rule, int by)
{
    for (int i = 0; i < rule->npatterns; i++) {
        const jx_rule_pattern *p = &rule->patterns[i];
        if (p->error)
            continue;
        add(g, &g->of_jaxpr[rule->vjp ? p->fwd.jaxpr->id : p->jvp.jaxpr->id],
            by, true);
        if (rule->vjp)
            add(g, &g->of_jaxpr[p->bwd.jaxpr->id], by, true);
    }
}

static void add_value(jx_call_graph *g, const jx_value *value, int by)
{
    if (value->tag == JX_V_JAXPR)
        add(g, &g->of_jaxpr[value->jaxpr->id], by, false);
    if (value->tag == JX_V_RULE)
        add_rule(g, value->rule, by);
    for (int i = 0; value->items && i < value->count; i++)
        add_value(g, value->items[i], by);
}

static void add_eqn(jx_call_graph *g, const jx_eqn *eqn, int by)
{
    for (int n = 0; n < eqn->nparams; n++) {
        const jx_value *value = eqn->params[n].value;
        if (value->tag == JX_V_RULE)
            add(g, &g->of_rule[value->rule->id], by, false);
        add_value(g, value, by);
    }
}

jx_call_graph *jx_call_graph_make(const jx_program *program)
{
    jx_arena *arena = program->ctx->arena;
    jx_call_graph *g = JX_NEW(arena, jx_call_graph);

    if (!g)
        return NULL;
    g->program = program;
    g->of_jaxpr = no_callers(arena, program->njaxprs);
    g->of_rule = no_callers(arena, program->nrules);
    for (int i = 0; g->of_jaxpr && g->of_rule && i < program->njaxprs; i++)
        for (int k = 0; k < program->jaxprs[i]->neqns; k++)
            add_eqn(g, &program->jaxprs[i]->eqns[k], i);
    return jx_arena_failed(arena) ? NULL : g;
}

const jx_program *jx_call_graph_program(const jx_call_graph *graph)
{
    return graph->program;
}

/* Those that call `first` and have not been met before are so now, and wait
 * for their turn. */
static int meet(const jx_call_graph *g, int first, bool in_rules, bool *holds,
                int *waiting, int count)
{
    for (int at = first; at != NONE; at = g->callers.at[at].next) {
        const caller *by = &g->callers.at[at];
        if (holds[by->jaxpr] || (by->by_rule && !in_rules))
            continue;
        holds[by->jaxpr] = true;
        waiting[count++] = by->jaxpr;
    }
    return count;
}

const bool *jx_call_graph_holders(const jx_call_graph *graph,
                                  const jx_rule *rule, bool in_rules)
{
    const jx_program *program = graph->program;
    bool *holds = JX_NEW_ARRAY(program->ctx->arena, program->njaxprs + 1, bool);
    int *waiting = JX_NEW_ARRAY(program->ctx->arena, program->njaxprs + 1, int);
    int count;

    JX_ASSERT(rule->id >= 0 && rule->id < program->nrules);
    if (!holds || !waiting)
        return NULL;
    count = meet(graph, graph->of_rule[rule->id], in_rules, holds, waiting, 0);
    for (int i = 0; i < count; i++)
        count = meet(graph, graph->of_jaxpr[waiting[i]], in_rules, holds,
                     waiting, count);
    return holds;
}
