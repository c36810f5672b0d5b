/* program.c - see program.h. */
#include "frontend/ir/definition.h"

#include <stdlib.h>
#include <string.h>

jx_program *jx_program_new(jx_ctx *ctx, const char *path)
{
    jx_program *p = JX_NEW(ctx->arena, jx_program);

    if (!p)
        return NULL;
    p->ctx = ctx;
    p->path = jx_intern_text(ctx, path);
    p->dims = jx_dims_new(ctx);
    jx_avals_init(&p->avals, ctx);
    jx_values_init(&p->values, ctx);
    p->base = 1;
    return p->dims ? p : NULL;
}

const jx_frame *jx_user_frame(const jx_stack *stack)
{
    for (int i = 0; stack && i < stack->count; i++)
        if (stack->frames[i]->file->kind == JX_FILE_USER)
            return stack->frames[i];
    return NULL;
}

const jx_frame *jx_outside_frame(const jx_stack *stack)
{
    for (int i = 0; stack && i < stack->count; i++)
        if (stack->frames[i]->file->kind != JX_FILE_JAX)
            return stack->frames[i];
    return NULL;
}

bool jx_is_of_jax(const jx_jaxpr *jaxpr)
{
    static const char lies[] = " at jax/";

    return jaxpr && jaxpr->function && strstr(jaxpr->function, lies);
}

bool jx_frame_same(const jx_frame *a, const jx_frame *b)
{
    return a && b &&
           (a == b ||
            (a->line == b->line && a->column == b->column &&
             a->end_line == b->end_line && a->end_column == b->end_column &&
             strcmp(a->file->path, b->file->path) == 0));
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

enum { NOT_MET = 0, ONLY_SHOWN, BY_PRIMITIVE, MEANT };

typedef struct meaning {
    char *found; /* by id */
    int count;
} meaning;

/* Equations of a program that was cut short carry rules whose jaxprs are beyond
 * its end. */
static void meet(meaning *m, const jx_jaxpr *jaxpr, char how)
{
    if (jaxpr && jaxpr->id < m->count && m->found[jaxpr->id] < how)
        m->found[jaxpr->id] = how;
}

static void meet_in(meaning *m, const jx_value *value, char how)
{
    meet(m, value->jaxpr, how);
    for (int i = 0; value->items && i < value->count; i++)
        meet_in(m, value->items[i], how);
    if (value->shown)
        meet_in(m, value->shown, ONLY_SHOWN);
}

static void meet_rule(meaning *m, const jx_rule *rule)
{
    meet(m, rule->primal.jaxpr, MEANT);
    meet(m, rule->surrogate.jaxpr, MEANT);
    for (int i = 0; i < rule->npatterns; i++) {
        meet(m, rule->patterns[i].jvp.jaxpr, MEANT);
        meet(m, rule->patterns[i].fwd.jaxpr, MEANT);
        meet(m, rule->patterns[i].bwd.jaxpr, MEANT);
    }
}

static void meet_definition(meaning *m, const jx_definition *of)
{
    for (int kind = 0; kind < JX_DEFINED_PATTERNED; kind++)
        for (int i = 0; i < of->npatterns[kind]; i++)
            meet(m, of->patterns[kind][i].made.jaxpr, BY_PRIMITIVE);
}

/* Callers have larger ids: whoever holds a jaxpr has been looked at before it.
 * What nothing holds may be a reader's own. */
static const bool *met_as(const jx_program *program, char least)
{
    jx_arena *arena = program->ctx->arena;
    meaning m = {JX_NEW_ARRAY(arena, program->njaxprs, char), program->njaxprs};
    bool *meant = JX_NEW_ARRAY(arena, program->njaxprs, bool);

    if (!m.found || !meant)
        return NULL;
    meet(&m, program->entry.jaxpr, MEANT);
    if (program->linear)
        meet(&m, program->linear->closed.jaxpr, MEANT);
    for (int i = 0; i < program->nretraces; i++)
        meet(&m, program->retraces[i].closed.jaxpr, MEANT);
    for (int i = 0; i < program->nrules; i++)
        meet_rule(&m, program->rules[i]);
    for (int i = 0; i < program->ndefinitions; i++)
        meet_definition(&m, program->definitions[i]);
    for (int i = program->njaxprs; i-- > 0;) {
        const jx_jaxpr *jaxpr = program->jaxprs[i];
        char how = m.found[i] == NOT_MET ? MEANT : m.found[i];
        meant[i] = how >= least;
        for (int k = 0; k < jaxpr->neqns; k++)
            for (int n = 0; n < jaxpr->eqns[k].nparams; n++)
                meet_in(&m, jaxpr->eqns[k].params[n].value, how);
    }
    return meant;
}

const bool *jx_program_meant(const jx_program *program)
{
    return met_as(program, BY_PRIMITIVE);
}

const bool *jx_program_counted(const jx_program *program)
{
    return met_as(program, MEANT);
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
        a->abstract != b->abstract || !a->device != !b->device ||
        (a->device && strcmp(a->device, b->device) != 0) ||
        !same_texts(a->naxes, a->axes, b->axes) ||
        !same_texts(a->ntypes, a->types, b->types))
        return false;
    for (int i = 0; i < a->naxes; i++)
        if (a->sizes[i] != b->sizes[i])
            return false;
    return true;
}

static int by_address(const void *a, const void *b)
{
    uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

    return (x > y) - (x < y);
}

void jx_program_put_unsaid(jx_program *program, int count,
                           const jx_dim_atom **unsaid)
{
    if (count)
        qsort(unsaid, (size_t)count, sizeof *unsaid, by_address);
    program->nunsaid = count;
    program->unsaid = unsaid;
}

const jx_dim_atom *jx_program_unsaid(const jx_program *program,
                                     const jx_dim *dim)
{
    int count = 0;
    const jx_dim_atom *const *vars =
        program->nunsaid && dim ? jx_dim_vars(program->dims, dim, &count)
                                : NULL;

    for (int i = 0; vars && i < count; i++)
        if (bsearch(&vars[i], program->unsaid, (size_t)program->nunsaid,
                    sizeof *vars, by_address))
            return vars[i];
    return NULL;
}

static const char *const intents[] = {
    [JX_INTENT_NONE] = "",
    [JX_INTENT_STRAIGHT_THROUGH] = "straight-through",
    [JX_INTENT_CLIP] = "clip",
    [JX_INTENT_SCALED] = "scaled",
    [JX_INTENT_IMPLICIT] = "implicit",
    [JX_INTENT_SYMMETRIC] = "symmetric",
    [JX_INTENT_SURROGATE] = "surrogate",
};

const char *jx_intent_name(jx_intent intent)
{
    return intents[intent];
}

jx_intent jx_intent_of(const char *name)
{
    for (size_t i = 1; i < sizeof intents / sizeof *intents; i++)
        if (strcmp(name, intents[i]) == 0)
            return (jx_intent)i;
    return JX_INTENT_NONE;
}
