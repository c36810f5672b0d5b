/* jvp_base.c - what the rules of jvp_parts.h stand on. */
#include "analyzer/transform/jvp_parts.h"

#include "analyzer/transform/making.h"

bool jx_jvp_refuse(jx_jvp *t, const char *why)
{
    return t->b->in->fail(t->b, why);
}

bool jx_jvp_none(jx_jvp *t)
{
    return jx_jvp_refuse(t, "no differentiation rule is known for it (PRM002)");
}

bool jx_jvp_primal(jx_jvp *t)
{
    const jx_atom *made = jx_build_like(t->b, t->eqn, t->ins, NULL, NULL);

    for (int i = 0; made && i < t->eqn->nouts; i++)
        t->outs[i] = made[i];
    return made != NULL;
}

const jx_atom *jx_jvp_again(jx_jvp *t, const jx_atom *ins)
{
    return jx_build_like(t->b, t->eqn, ins, NULL, NULL);
}

bool jx_jvp_zero(jx_jvp *t)
{
    return jx_jvp_primal(t);
}

jx_atom jx_jvp_full(jx_jvp *t, int i)
{
    return jx_is_made(t->tins[i])
               ? t->tins[i]
               : jx_build_zeros(t->b, jx_atom_aval(t->ins[i]));
}

jx_arena *jx_jvp_arena(const jx_jvp *t)
{
    return t->b->in->program->ctx->arena;
}

const jx_value *jx_jvp_closed(jx_jvp *t, const jx_jaxpr *jaxpr,
                              const jx_closed *like)
{
    return jx_making_closed((jx_making *)(void *)t->b->in, jaxpr, like);
}

jx_params jx_jvp_others(jx_jvp *t, const char *const *without)
{
    jx_params p = {.program = t->b->in->program};

    jx_put_others(&p, t->eqn, without);
    return p;
}
