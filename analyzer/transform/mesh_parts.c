/* mesh_parts.c - see mesh_parts.h. */
#include "analyzer/transform/mesh_parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- specs */

jx_specs jx_specs_new(jx_program *program, int most)
{
    return (jx_specs){
        program, 0,
        JX_NEW_ARRAY(program->ctx->arena, most + 1, const jx_value *)};
}

static const jx_value *spec_of(const jx_eqn *eqn, const char *name, int i)
{
    return jx_eqn_param(eqn, name)->items[i];
}

const jx_value *jx_spec_in(const jx_eqn *eqn, int i)
{
    return spec_of(eqn, "in_specs", i);
}

const jx_value *jx_spec_out(const jx_eqn *eqn, int i)
{
    return spec_of(eqn, "out_specs", i);
}

static const jx_value *none_of(jx_program *program)
{
    return jx_value_add(&program->values, &(jx_value){.tag = JX_V_NONE});
}

const jx_value *jx_spec_after(jx_program *program, const jx_value *first,
                              const jx_value *spec)
{
    const jx_value **items =
        JX_NEW_ARRAY(program->ctx->arena, spec->count + 1, const jx_value *);
    jx_value to = *spec;

    if (!items || !first)
        return NULL;
    items[0] = first;
    for (int i = 0; i < spec->count; i++)
        items[i + 1] = spec->items[i];
    to.items = items;
    to.count++;
    return jx_value_add(&program->values, &to);
}

const jx_value *jx_spec_behind(jx_program *program, const jx_value *spec)
{
    return jx_spec_after(program, none_of(program), spec);
}

static const jx_value *names_of(jx_program *program, jx_axis_names axes)
{
    const jx_value **items =
        JX_NEW_ARRAY(program->ctx->arena, axes.count, const jx_value *);

    for (int i = 0; items && i < axes.count; i++)
        items[i] = jx_value_add(
            &program->values,
            &(jx_value){.tag = JX_V_TEXT,
                        .text = jx_intern_text(program->ctx, axes.at[i])});
    return items ? jx_value_of_tuple(program, axes.count, items) : NULL;
}

const jx_value *jx_spec_along(jx_program *program, jx_axis_names axes)
{
    const jx_value *names = names_of(program, axes);
    const jx_value *entry[1] = {names && axes.count == 1 ? names->items[0]
                                                         : names};

    return names ? jx_value_add(&program->values,
                                &(jx_value){.tag = JX_V_SPEC,
                                            .count = axes.count > 0,
                                            .items = entry})
                 : NULL;
}

jx_params jx_shard_map_like(jx_program *program, const jx_eqn *eqn,
                            const jx_jaxpr *body, const jx_specs *ins,
                            const jx_specs *outs)
{
    static const char *const without[] = {"jaxpr", "in_specs", "out_specs",
                                          NULL};
    jx_value like = *jx_eqn_param(eqn, "jaxpr");
    jx_params p = {.program = program};

    like.jaxpr = body;
    jx_put_others(&p, eqn, without);
    jx_put(&p, "jaxpr", body ? jx_value_add(&program->values, &like) : NULL);
    jx_put(&p, "in_specs", jx_value_of_tuple(program, ins->count, ins->at));
    jx_put(&p, "out_specs", jx_value_of_tuple(program, outs->count, outs->at));
    return p;
}

/* ---- axes */

static bool mentions(const jx_sharding *spec, const char *name)
{
    for (int i = 0; i < spec->rank; i++)
        if (jx_axis_is_among(spec->axes[i], name))
            return true;
    return false;
}

jx_axis_names jx_unmentioned(const jx_program *program, const jx_eqn *eqn,
                             const jx_sharding *spec, int64_t *devices)
{
    const jx_mesh *mesh = jx_eqn_mesh(program, eqn);
    jx_axis_names bound = jx_newly_manual(program, eqn);
    const char **at =
        JX_NEW_ARRAY(program->ctx->arena, mesh->naxes, const char *);
    int count = 0;

    *devices = 1;
    for (int i = 0; at && i < mesh->naxes; i++)
        if (jx_axis_is_among(bound, mesh->axes[i]) &&
            !mentions(spec, mesh->axes[i])) {
            at[count++] = mesh->axes[i];
            *devices *= mesh->sizes[i];
        }
    return (jx_axis_names){count, at};
}

jx_axis_names jx_names_missing(jx_program *program, jx_names of,
                               const jx_aval *aval)
{
    const char **at = JX_NEW_ARRAY(program->ctx->arena, of.count, const char *);
    jx_axis_names has = {aval->varying.count, aval->varying.at};
    int count = 0;

    for (int i = 0; at && i < of.count; i++)
        if (!jx_axis_is_among(has, of.at[i]))
            at[count++] = of.at[i];
    return (jx_axis_names){count, at};
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const jx_aval *jx_aval_over(jx_program *program, const jx_aval *aval,
                            jx_axis_names more)
{
    const char **at = JX_NEW_ARRAY(
        program->ctx->arena, aval->varying.count + more.count, const char *);
    jx_aval to = *aval;
    int count = 0;

    if (!at)
        return NULL;
    for (int i = 0; i < aval->varying.count; i++)
        at[count++] = aval->varying.at[i];
    for (int i = 0; i < more.count; i++)
        at[count++] = jx_intern_text(program->ctx, more.at[i]);
    if (count)
        qsort(at, (size_t)count, sizeof *at, by_name);
    to.varying = (jx_names){count, at};
    return jx_aval_add(&program->avals, &to);
}

/* ---- collectives */

void jx_put_axes(jx_params *p, const char *name, jx_axis_names axes)
{
    jx_put(p, name, names_of(p->program, axes));
}

static jx_atom over_axes(jx_body *b, jx_prim_id prim, jx_atom a,
                         jx_axis_names axes)
{
    jx_params p = {.program = b->in->program};

    if (!axes.count || !jx_is_made(a))
        return a;
    jx_put_axes(&p, "axes", axes);
    if (prim == JX_PRIM_psum)
        jx_put_none(&p, "axis_index_groups");
    return jx_build(b, prim, &p, 1, &a);
}

jx_atom jx_mesh_psum(jx_body *b, jx_atom a, jx_axis_names axes)
{
    return over_axes(b, JX_PRIM_psum, a, axes);
}

jx_atom jx_mesh_psum_invariant(jx_body *b, jx_atom a, jx_axis_names axes)
{
    return over_axes(b, JX_PRIM_psum_invariant, a, axes);
}

jx_atom jx_mesh_pvary(jx_body *b, jx_atom a, jx_axis_names axes)
{
    return over_axes(b, JX_PRIM_pvary, a, axes);
}
