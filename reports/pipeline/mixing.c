/* mixing.c - see mixing.h. */
#include "reports/pipeline/mixing.h"

#include "frontend/ir/scope.h"

/* The first variable whose scope is not that of `than`; of any, if NULL. */
static const jx_dim_atom *other(const jx_program *program, const jx_dim *dim,
                                const jx_dim_atom *than)
{
    int count = 0;
    const jx_dim_atom *const *vars = jx_dim_vars(program->dims, dim, &count);

    for (int i = 0; vars && i < count; i++)
        if (!than || vars[i]->scope != than->scope)
            return vars[i];
    return NULL;
}

/* A variable of each of two scopes; false if there is one scope only. */
static bool two(const jx_program *program, const jx_dim *a, const jx_dim *b,
                const jx_dim_atom *found[2])
{
    found[0] = other(program, a, NULL);
    if (!found[0])
        found[0] = other(program, b, NULL);
    if (!found[0])
        return false;
    found[1] = other(program, a, found[0]);
    if (!found[1])
        found[1] = other(program, b, found[0]);
    return found[1] != NULL;
}

bool jx_mixes_scopes(const jx_program *program, const jx_dim *a,
                     const jx_dim *b)
{
    const jx_dim_atom *found[2];

    return program->nscopes > 1 && a && b && two(program, a, b, found);
}

static void put_scope(const jx_program *program, const jx_dim_atom *var,
                      jx_buffer *to)
{
    const jx_scope *scope =
        var->scope < program->nscopes ? &program->scopes[var->scope] : NULL;
    const jx_frame *frame = scope && scope->stack && scope->stack->count
                                ? scope->stack->frames[0]
                                : NULL;

    jx_buffer_printf(to, "`%s` of scope %d", var->name, var->scope);
    if (frame)
        jx_buffer_printf(to, " made at %s:%d", frame->file->path, frame->line);
    for (int i = 0; scope && i < scope->nconstraints; i++) {
        jx_buffer_puts(to, i ? ", " : " with ");
        jx_scope_print(&scope->constraints[i], to);
    }
}

const char *jx_mixing_note(const jx_program *program, const jx_dim *a,
                           const jx_dim *b)
{
    const jx_dim_atom *found[2];
    jx_buffer text = jx_ctx_text(program->ctx);

    if (!two(program, a, b, found))
        return NULL;
    jx_buffer_puts(&text, "symbolic scopes never mix: ");
    put_scope(program, found[0], &text);
    jx_buffer_puts(&text, "; ");
    put_scope(program, found[1], &text);
    return jx_arena_take(program->ctx->arena, &text);
}
