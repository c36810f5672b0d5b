/* batch_mesh.c - a shard_map over an axis more, which every device has whole. */
#include "analyzer/transform/batch_parts.h"
#include "analyzer/transform/mesh_parts.h"

bool jx_batch_shard_map(jx_batch *t)
{
    const jx_jaxpr *body = ((const jx_p_shard_map *)t->eqn->typed)->jaxpr.jaxpr;
    jx_program *program = t->b->in->program;
    const jx_batched *made = jx_batch_jaxpr(t->of, body, t->has, NULL);
    int nins = t->eqn->nins, nouts = t->eqn->nouts;
    jx_specs ins = jx_specs_new(program, nins), outs = jx_specs_new(program, nouts);
    const jx_aval **avals =
        JX_NEW_ARRAY(jx_batch_arena(t), nouts + 1, const jx_aval *);
    const jx_atom *results;
    jx_params p;

    if (!made || !ins.at || !outs.at || !avals)
        return false;
    for (int i = 0; i < nins; i++) {
        const jx_value *spec = jx_spec_in(t->eqn, i);
        jx_specs_add(&ins, t->has[i] ? jx_spec_behind(program, spec) : spec);
    }
    for (int i = 0; i < nouts; i++) {
        const jx_value *spec = jx_spec_out(t->eqn, i);
        t->gets[i] = made->outs[i];
        avals[i] = t->gets[i] ? jx_batch_aval(t, jx_batch_out(t, i))
                              : jx_batch_out(t, i);
        jx_specs_add(&outs, t->gets[i] ? jx_spec_behind(program, spec) : spec);
    }
    p = jx_shard_map_like(program, t->eqn, made->jaxpr, &ins, &outs);
    results = jx_build_as(t->b, t->eqn->prim, &p, nins, t->ins, nouts, avals);
    for (int i = 0; results && i < nouts; i++)
        t->outs[i] = results[i];
    return results != NULL;
}
