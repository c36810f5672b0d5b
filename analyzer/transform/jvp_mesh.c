/* jvp_mesh.c - the derivative of a shard_map: tangents lie on the mesh as what
 * they are tangents of. */
#include "analyzer/transform/jvp_parts.h"
#include "analyzer/transform/mesh_parts.h"

/* Operands, and results, behind which those stand that have a tangent. */
typedef struct twice {
    const bool *ins;
    jx_atom *atoms;
    const jx_aval **avals;
    jx_specs in_specs, out_specs;
    int nins, nouts;
} twice;

static bool begin(jx_jvp *t, twice *w)
{
    jx_arena *arena = jx_jvp_arena(t);
    int nins = t->eqn->nins, nouts = t->eqn->nouts;
    bool *mask = JX_NEW_ARRAY(arena, nins + 1, bool);

    *w = (twice){.ins = mask,
                 .atoms = JX_NEW_ARRAY(arena, 2 * nins + 1, jx_atom),
                 .avals = JX_NEW_ARRAY(arena, 2 * nouts + 1, const jx_aval *),
                 .in_specs = jx_specs_new(t->b->in->program, 2 * nins),
                 .out_specs = jx_specs_new(t->b->in->program, 2 * nouts)};
    for (int i = 0; mask && i < nins; i++)
        mask[i] = jx_is_made(t->tins[i]);
    return mask && w->atoms && w->avals && w->in_specs.at && w->out_specs.at;
}

bool jx_jvp_shard_map(jx_jvp *t)
{
    const jx_jaxpr *body = ((const jx_p_shard_map *)t->eqn->typed)->jaxpr.jaxpr;
    const jx_eqn *eqn = t->eqn;
    const jx_jvped *made;
    const jx_atom *results;
    jx_params p;
    twice w;
    int next = 0;

    if (!begin(t, &w) ||
        !(made =
              jx_jvp_jaxpr(t->of, body, jx_jvp_one_group(body), w.ins, NULL)))
        return false;
    for (int last = 0; last < 2; last++)
        for (int i = 0; i < eqn->nins; i++)
            if (!last || w.ins[i]) {
                w.atoms[w.nins++] = last ? jx_jvp_full(t, i) : t->ins[i];
                jx_specs_add(&w.in_specs, jx_spec_in(eqn, i));
            }
    for (int last = 0; last < 2; last++)
        for (int i = 0; i < eqn->nouts; i++)
            if (!last || made->outs[i]) {
                w.avals[w.nouts++] = eqn->outs[i]->aval;
                jx_specs_add(&w.out_specs, jx_spec_out(eqn, i));
            }
    p = jx_shard_map_like(t->b->in->program, eqn, made->jaxpr, &w.in_specs,
                          &w.out_specs);
    results =
        jx_build_as(t->b, eqn->prim, &p, w.nins, w.atoms, w.nouts, w.avals);
    for (int i = 0; results && i < eqn->nouts; i++)
        t->outs[i] = results[next++];
    for (int i = 0; results && i < eqn->nouts; i++)
        if (made->outs[i])
            t->touts[i] = results[next++];
    return results != NULL;
}
