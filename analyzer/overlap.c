/* overlap.c - see overlap.h. */
#include "analyzer/overlap.h"

#include <string.h>

/* A pass over equations for each collective: enough for 10,000 of both. */
static const int64_t most_steps = 200000000;

enum { NOT_KNOWN = 0, NONE, SOME };

bool jx_overlap_open(jx_arena *arena, const jx_program *program, int nvars,
                     jx_overlap *to)
{
    *to = (jx_overlap){program, JX_NEW_ARRAY(arena, nvars, char),
                       JX_NEW_ARRAY(arena, nvars, char),
                       JX_NEW_ARRAY(arena, program->njaxprs, char), most_steps};
    return to->after && to->before && to->products;
}

static bool holds_product(jx_overlap *o, const jx_jaxpr *jaxpr);

static bool value_holds(jx_overlap *o, const jx_value *value)
{
    if (value->tag == JX_V_JAXPR)
        return value->jaxpr && holds_product(o, value->jaxpr);
    for (int i = 0; value->items && i < value->count; i++)
        if (value_holds(o, value->items[i]))
            return true;
    return false;
}

static bool is_product(jx_overlap *o, const jx_eqn *eqn)
{
    if (eqn->prim->id == JX_PRIM_dot_general ||
        eqn->prim->id == JX_PRIM_conv_general_dilated)
        return true;
    for (int i = 0; i < eqn->nparams; i++)
        if (value_holds(o, eqn->params[i].value))
            return true;
    return false;
}

/* Callees come before their callers, so that this goes as deep as
 * jaxprs are read. */
static bool holds_product(jx_overlap *o, const jx_jaxpr *jaxpr)
{
    char *known = &o->products[jaxpr->id];

    for (int i = 0; *known == NOT_KNOWN && i < jaxpr->neqns; i++)
        if (is_product(o, &jaxpr->eqns[i]))
            *known = SOME;
    if (*known == NOT_KNOWN)
        *known = NONE;
    return *known == SOME;
}

static bool takes_marked(const jx_eqn *eqn, const char *marks)
{
    for (int i = 0; i < eqn->nins; i++)
        if (eqn->ins[i].var && marks[eqn->ins[i].var->id])
            return true;
    return false;
}

static bool gives_marked(const jx_eqn *eqn, const char *marks)
{
    for (int i = 0; i < eqn->nouts; i++)
        if (marks[eqn->outs[i]->id])
            return true;
    return false;
}

static void mark_outs(const jx_eqn *eqn, char *marks)
{
    for (int i = 0; i < eqn->nouts; i++)
        marks[eqn->outs[i]->id] = 1;
}

static void mark_ins(const jx_eqn *eqn, char *marks)
{
    for (int i = 0; i < eqn->nins; i++)
        if (eqn->ins[i].var)
            marks[eqn->ins[i].var->id] = 1;
}

bool jx_runs_beside_product(jx_overlap *o, const jx_jaxpr *jaxpr, int number)
{
    o->steps -= jaxpr->neqns;
    if (o->steps < 0)
        return false;
    memset(o->after, 0, (size_t)jaxpr->nvars);
    memset(o->before, 0, (size_t)jaxpr->nvars);
    mark_outs(&jaxpr->eqns[number], o->after);
    mark_ins(&jaxpr->eqns[number], o->before);
    for (int i = number + 1; i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];

        if (takes_marked(eqn, o->after))
            mark_outs(eqn, o->after);
        else if (is_product(o, eqn))
            return true;
    }
    for (int i = number - 1; i >= 0; i--) {
        const jx_eqn *eqn = &jaxpr->eqns[i];

        if (gives_marked(eqn, o->before))
            mark_ins(eqn, o->before);
        else if (is_product(o, eqn))
            return true;
    }
    return false;
}
