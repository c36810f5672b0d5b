/* where.c - see where.h. */
#include "reports/pipeline/where.h"

#include "frontend/ir/scope.h"
#include "frontend/ir/signature.h"

#include <string.h>

static bool wrong(const jx_program *program, const char *text,
                  const jx_scope_error *error)
{
    if (error->column)
        return jx_fail(program->ctx, JX_E_USAGE, NULL, text,
                       "column %zu: expected %s", error->column,
                       error->expected);
    return jx_fail(program->ctx, JX_E_USAGE, NULL, text, "expected %s",
                   error->expected);
}

/* Whether a variable of the program has that name, in any scope. */
static bool has_name(const jx_program *program, const char *name)
{
    int count = 0;
    const jx_dim_atom *const *vars = jx_program_vars(program, &count);

    for (int i = 0; vars && i < count; i++)
        if (!strcmp(vars[i]->name, name))
            return true;
    return false;
}

/* Reads the constraint in the first scope that has all its variables. */
static bool declare(const jx_program *program, const char *text, int *scope,
                    jx_scope_list *list)
{
    int nscopes = program->nscopes ? program->nscopes : 1;
    const char *missing = "", *elsewhere = NULL;

    for (int s = 0; s < nscopes; s++) {
        jx_scope_list one = {0};
        jx_scope_error error;
        bool all = true;

        if (!jx_scope_declare(program->dims, text, s, false, &one, &error))
            return wrong(program, text, &error);
        for (size_t i = 0; all && i < one.count; i++)
            all = jx_program_has_vars(program, one.at[i].lhs, &missing) &&
                  jx_program_has_vars(program, one.at[i].rhs, &missing);
        if (all) {
            *scope = s;
            *list = one;
            return true;
        }
        if (has_name(program, missing))
            elsewhere = missing;
    }
    if (elsewhere && nscopes > 1)
        return jx_fail(program->ctx, JX_E_USAGE, NULL, text,
                       "its variables belong to two symbolic scopes, which "
                       "never mix");
    return jx_fail(program->ctx, JX_E_USAGE, NULL, text,
                   "no size of the program has a variable `%s`", missing);
}

/* The scopes with one more constraint. */
static bool append(jx_program *program, int scope, const jx_scope_constraint *c)
{
    int nscopes = program->nscopes ? program->nscopes : 1;
    jx_arena *arena = program->ctx->arena;
    jx_scope *scopes = JX_NEW_ARRAY(arena, nscopes, jx_scope);
    const jx_scope *old;
    jx_scope_constraint *all;

    if (!scopes)
        return false;
    if (program->nscopes)
        memcpy(scopes, program->scopes, (size_t)nscopes * sizeof *scopes);
    old = &scopes[scope];
    all = JX_NEW_ARRAY(arena, old->nconstraints + 1, jx_scope_constraint);
    if (!all)
        return false;
    if (old->nconstraints)
        memcpy(all, old->constraints, (size_t)old->nconstraints * sizeof *all);
    all[old->nconstraints] = *c;
    scopes[scope].constraints = all;
    scopes[scope].nconstraints++;
    program->scopes = scopes;
    program->nscopes = nscopes;
    return true;
}

bool jx_program_where(jx_program *program, int count,
                      const char *const *constraints)
{
    for (int i = 0; i < count; i++) {
        jx_scope_list list = {0};
        int scope = 0;

        if (!declare(program, constraints[i], &scope, &list))
            return false;
        for (size_t k = 0; k < list.count; k++)
            if (!append(program, scope, &list.at[k]))
                return false;
    }
    return jx_ok(program->ctx);
}
