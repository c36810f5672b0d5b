/* batch_mesh.c - a shard_map over an axis more, which every device has whole;
 * and how arrays of that axis are to lie. */
#include "analyzer/transform/batch_parts.h"
#include "analyzer/transform/mesh_parts.h"

bool jx_batch_shard_map(jx_batch *t)
{
    const jx_jaxpr *body = ((const jx_p_shard_map *)t->eqn->typed)->jaxpr.jaxpr;
    jx_program *program = t->b->in->program;
    const jx_batched *made = jx_batch_jaxpr(t->of, body, t->has, NULL);
    int nins = t->eqn->nins, nouts = t->eqn->nouts;
    jx_specs ins = jx_specs_new(program, nins),
             outs = jx_specs_new(program, nouts);
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

/* ---- how an array is to lie: along the axis more it may lie in any way */

static const jx_value *shifted_set(jx_program *program, const jx_value *set)
{
    int n = set && set->tag == JX_V_SET ? set->count : 0;
    const jx_value **items =
        JX_NEW_ARRAY(program->ctx->arena, n + 1, const jx_value *);

    for (int i = 0; items && i <= n; i++)
        items[i] = jx_value_add(
            &program->values,
            &(jx_value){.tag = JX_V_INT,
                        .integer = i ? set->items[i - 1]->integer + 1 : 0});
    return items ? jx_value_add(&program->values, &(jx_value){.tag = JX_V_SET,
                                                              .count = n + 1,
                                                              .items = items})
                 : NULL;
}

bool jx_batch_constraint(jx_batch *t)
{
    bool asks = t->eqn->prim->id == JX_PRIM_sharding_constraint;
    const char *name = asks ? "sharding" : "dst_sharding";
    const char *const without[] = {name, asks ? "unconstrained_dims" : NULL,
                                   NULL};
    const jx_value *said = jx_eqn_param(t->eqn, name);
    jx_program *program = t->b->in->program;
    jx_params p = jx_batch_others(t, without);
    const jx_value *spec;
    jx_value how;

    if (!said || said->tag != JX_V_SHARDING || said->count != 1)
        return jx_batch_leading(t);
    spec = asks ? jx_spec_after(
                      program,
                      jx_value_add(&program->values,
                                   &(jx_value){.tag = JX_V_TEXT, .text = "?"}),
                      said->items[0])
                : jx_spec_behind(program, said->items[0]);
    if (!spec)
        return false;
    how = *said;
    how.items = &spec;
    jx_put(&p, name, jx_value_add(&program->values, &how));
    if (asks)
        jx_put(
            &p, "unconstrained_dims",
            shifted_set(program, jx_eqn_param(t->eqn, "unconstrained_dims")));
    return jx_batch_with(t, &p, t->eqn->nins, jx_batch_all(t));
}
