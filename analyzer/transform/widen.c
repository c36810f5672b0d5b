/* widen.c - see widen.h. */
#include "analyzer/transform/widen.h"

#include "analyzer/transform/batch.h"
#include "analyzer/transform/refine.h"
#include "analyzer/typing.h"

/* The symbol that is the size of the new axis. */
static const jx_dim_atom *new_size(const jx_program *program, const bool *has)
{
    const jx_jaxpr *entry = program->entry.jaxpr;
    const jx_dim_atom *const *vars;
    int first = 0, nvars;

    while (!has[first])
        first++;
    vars = jx_dim_vars(program->dims,
                       entry->vars[entry->nconsts + first]->aval->shape[0],
                       &nvars);
    return vars && nvars == 1 ? vars[0] : NULL;
}

jx_program *jx_program_widen(jx_program *program, const jx_closed *closed,
                             int nbindings, const jx_binding *bindings,
                             const bool *has, int64_t n)
{
    int nins = closed->jaxpr->nins,
        *axes = JX_NEW_ARRAY(program->ctx->arena, nins + 1, int);
    const jx_typed *typed;
    jx_binding size = {.value = n};

    for (int i = 0; axes && i < nins; i++)
        axes[i] = has[i] ? 0 : JX_NO_AXIS;
    program =
        axes ? jx_program_refine(program, closed, nbindings, bindings) : NULL;
    typed = program ? jx_typed_of(program) : NULL;
    program = typed ? jx_program_batch(typed, axes) : NULL;
    size.var = program ? new_size(program, has) : NULL;
    return size.var ? jx_program_refine(program, &program->entry, 1, &size)
                    : NULL;
}
