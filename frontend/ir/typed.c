/* typed.c - see typed.h. */
#include "frontend/ir/typed.h"

#include "frontend/ir/claim.h"
#include "frontend/ir/params.h"

const char *jx_claim_place(const jx_program *program, const jx_claim *claim)
{
    if (!claim->jaxpr || !claim->eqn)
        return "the program";
    return jx_arena_printf(program->ctx->arena, "equation %d of jaxpr %d (%s)",
                           (int)(claim->eqn - claim->jaxpr->eqns),
                           claim->jaxpr->id, jx_eqn_name(claim->eqn));
}

bool jx_typed_all(const jx_typed *typed)
{
    const jx_claim *claim = typed->refusal;
    const jx_program *program = typed->program;

    return !claim ||
           jx_fail(program->ctx, JX_E_INPUT, program->path,
                   jx_claim_place(program, claim),
                   "%s: %s (%s); jaxvet check says more",
                   jx_code_of(claim->code)->summary,
                   claim->what ? claim->what : "", jx_code_of(claim->code)->id);
}
