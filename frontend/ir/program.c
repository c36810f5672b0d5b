/* program.c - see program.h. */
#include "frontend/ir/program.h"

#include <string.h>

const jx_frame *jx_user_frame(const jx_stack *stack)
{
    for (int i = 0; stack && i < stack->count; i++)
        if (stack->frames[i]->file->kind == JX_FILE_USER)
            return stack->frames[i];
    return NULL;
}

const jx_value *jx_eqn_param(const jx_eqn *eqn, const char *name)
{
    int low = 0, high = eqn->nparams;

    while (low < high) {
        int middle = low + (high - low) / 2;
        int order = strcmp(name, eqn->params[middle].name);
        if (order == 0)
            return eqn->params[middle].value;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

enum { NOT_MET = 0, ONLY_SHOWN, MEANT };

static void mean(const jx_closed *closed, char *found)
{
    if (closed->jaxpr)
        found[closed->jaxpr->id] = MEANT;
}

static void mean_value(const jx_value *value, char how, char *found)
{
    if (value->tag == JX_V_JAXPR && found[value->jaxpr->id] < how)
        found[value->jaxpr->id] = how;
    for (int i = 0; value->items && i < value->count; i++)
        mean_value(value->items[i], how, found);
    if (value->shown)
        mean_value(value->shown, ONLY_SHOWN, found);
}

static void mean_rule(const jx_rule *rule, char *found)
{
    mean(&rule->primal, found);
    for (int i = 0; i < rule->npatterns; i++) {
        mean(&rule->patterns[i].jvp, found);
        mean(&rule->patterns[i].fwd, found);
        mean(&rule->patterns[i].bwd, found);
    }
}

/* Callers have larger ids: whoever holds a jaxpr has been looked at before it.
 * What nothing holds may be a reader's own. */
const bool *jx_program_meant(const jx_program *program)
{
    jx_arena *arena = program->ctx->arena;
    char *found = JX_NEW_ARRAY(arena, program->njaxprs, char);
    bool *meant = JX_NEW_ARRAY(arena, program->njaxprs, bool);

    if (!found || !meant)
        return NULL;
    mean(&program->entry, found);
    for (int i = 0; i < program->nretraces; i++)
        mean(&program->retraces[i].closed, found);
    for (int i = 0; i < program->nrules; i++)
        mean_rule(program->rules[i], found);
    for (int i = program->njaxprs; i-- > 0;) {
        const jx_jaxpr *jaxpr = program->jaxprs[i];
        meant[i] = found[i] != ONLY_SHOWN;
        for (int k = 0; k < jaxpr->neqns; k++)
            for (int n = 0; n < jaxpr->eqns[k].nparams; n++)
                mean_value(jaxpr->eqns[k].params[n].value,
                           meant[i] ? MEANT : ONLY_SHOWN, found);
    }
    return meant;
}

static bool same_texts(int count, const char *const *a, const char *const *b)
{
    for (int i = 0; i < count; i++)
        if (strcmp(a[i], b[i]) != 0)
            return false;
    return true;
}

bool jx_mesh_same(const jx_mesh *a, const jx_mesh *b)
{
    if (a->naxes != b->naxes || a->ntypes != b->ntypes ||
        a->abstract != b->abstract ||
        !same_texts(a->naxes, a->axes, b->axes) ||
        !same_texts(a->ntypes, a->types, b->types))
        return false;
    for (int i = 0; i < a->naxes; i++)
        if (a->sizes[i] != b->sizes[i])
            return false;
    return true;
}
