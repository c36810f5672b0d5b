/* stablehlo_mesh.c - a shard_map, what its devices say to each other, and how
 * arrays are to lie: the first is a sdy.manual_computation, the second
 * collectives of StableHLO, whose groups are of devices by their numbers, the
 * third a sdy.sharding_constraint. */
#include "frontend/ir/mesh.h"
#include "frontend/write/stablehlo_rules.h"

static const jx_mesh *mesh_of(const jx_hlo_eqn *e)
{
    const jx_bound_axes *axes = e->eqn->ctx ? e->eqn->ctx->axes : NULL;

    return axes ? &e->code->in->program->meshes[axes->mesh] : NULL;
}

static jx_arena *arena_of(const jx_hlo_eqn *e)
{
    return e->code->in->ctx->arena;
}

/* ---- groups */

/* Rows of one length, filled up with -1. */
static const jx_mlir_attr *table_of(const jx_hlo_eqn *e, jx_groups groups)
{
    int most = 0;

    for (int i = 0; i < groups.count; i++)
        most = groups.at[i].count > most ? groups.at[i].count : most;
    int64_t *all = JX_NEW_ARRAY(arena_of(e), groups.count * most, int64_t);
    for (int i = 0; all && i < groups.count; i++)
        for (int k = 0; k < most; k++)
            all[i * most + k] =
                k < groups.at[i].count ? groups.at[i].at[k] : -1;
    return all ? jx_hlo_table(e->code->in, groups.count, most, all) : NULL;
}

static jx_groups groups_of(jx_hlo_eqn *e, jx_groups within)
{
    const jx_mesh *mesh = mesh_of(e);
    jx_groups groups = {0, NULL};

    if (mesh)
        groups =
            jx_mesh_groups(arena_of(e), mesh, jx_eqn_mesh_axes(e->eqn), within);
    if (!groups.count)
        jx_hlo_fail(e->code, "the devices of its axes are not known");
    return groups;
}

static const jx_mlir_attr *channel(jx_hlo *in)
{
    static const char *const names[] = {"handle", "type"};
    const jx_mlir_attr *items[] = {jx_hlo_i64(in, 1), jx_hlo_i64(in, 0)};

    return jx_hlo_record(in, "stablehlo.channel_handle", 2, names, items);
}

/* The op of one operand, in groups; `more` are its own attributes. */
static jx_hv emit(jx_hlo_eqn *e, const char *name, jx_hv x, const jx_aval *out,
                  const char *groups, const jx_mlir_attr *table, bool global,
                  int nmore, const jx_mlir_named *more,
                  const jx_mlir_region *body)
{
    jx_hlo *in = e->code->in;
    jx_mlir_named attrs[8] = {{"channel_handle", channel(in)}, {groups, table}};
    int n = 2;

    if (!x.value || !table)
        return (jx_hv){0};
    if (global)
        attrs[n++] = (jx_mlir_named){"use_global_device_ids", jx_hlo_unit(in)};
    for (int i = 0; i < nmore; i++)
        attrs[n++] = more[i];
    return jx_hlo_emit1(e->code, &(jx_hlo_op){.name = name,
                                              .nins = 1,
                                              .ins = &x,
                                              .nouts = 1,
                                              .outs = &out,
                                              .nattrs = n,
                                              .attrs = attrs,
                                              .nregions = body ? 1 : 0,
                                              .regions = body});
}

/* ---- reductions */

static const char *reducer_of(jx_prim_id id)
{
    return id == JX_PRIM_pmax   ? "stablehlo.maximum"
           : id == JX_PRIM_pmin ? "stablehlo.minimum"
                                : "stablehlo.add";
}

jx_hv jx_hlo_all_reduce(jx_hlo_eqn *e, jx_hv x, jx_groups within)
{
    jx_groups groups = groups_of(e, within);
    jx_mlir_region body;

    if (!x.value || !groups.count)
        return (jx_hv){0};
    body = jx_hlo_reducer(e->code, reducer_of(e->eqn->prim->id), x.aval->dtype);
    return emit(e, "stablehlo.all_reduce", x, x.aval, "replica_groups",
                table_of(e, groups), true, 0, NULL, &body);
}

void jx_lowering_rule_psum_invariant(jx_hlo_eqn *e)
{
    e->outs[0] = jx_hlo_all_reduce(e, e->ins[0], (jx_groups){0, NULL});
}

void jx_lowering_rule_mesh_scatter(jx_hlo_eqn *e)
{
    const jx_p_mesh_scatter *p = e->eqn->typed;
    jx_hlo *in = e->code->in;
    jx_groups groups = groups_of(e, p->axis_index_groups);
    const jx_aval *aval = e->ins[0].aval, *out = e->avals[0];
    jx_mlir_named dimension = {"scatter_dimension",
                               jx_hlo_i64(in, p->scatter_dimension)};
    const jx_dim **shape =
        JX_NEW_ARRAY(arena_of(e), aval->rank + 1, const jx_dim *);
    jx_mlir_region body;
    jx_hv made;

    if (!e->ins[0].value || !groups.count || !shape)
        return;
    for (int i = 0; i < aval->rank; i++)
        shape[i] =
            i == p->scatter_dimension ? jx_hlo_int(in, 1) : aval->shape[i];
    body = jx_hlo_reducer(e->code, "stablehlo.add", aval->dtype);
    made =
        emit(e, "stablehlo.reduce_scatter", e->ins[0],
             p->tiled ? out : jx_hlo_aval(in, aval->dtype, aval->rank, shape),
             "replica_groups", table_of(e, groups), true, 1, &dimension, &body);
    e->outs[0] =
        p->tiled ? made : jx_hlo_reshape(e->code, made, out->rank, out->shape);
}

/* ---- moves */

void jx_lowering_rule_mesh_gather(jx_hlo_eqn *e)
{
    const jx_p_mesh_gather *p = e->eqn->typed;
    jx_hlo *in = e->code->in;
    jx_groups groups = groups_of(e, p->axis_index_groups);
    const jx_aval *aval = e->ins[0].aval;
    jx_mlir_named dimension = {"all_gather_dim",
                               jx_hlo_i64(in, p->all_gather_dimension)};
    const jx_dim **shape =
        JX_NEW_ARRAY(arena_of(e), aval->rank + 1, const jx_dim *);
    jx_hv x = e->ins[0];

    if (!x.value || !groups.count || !shape)
        return;
    for (int i = 0; i < aval->rank + !p->tiled; i++)
        shape[i] =
            !p->tiled && i == p->all_gather_dimension
                ? jx_hlo_int(in, 1)
                : aval->shape[i - (!p->tiled && i > p->all_gather_dimension)];
    if (!p->tiled)
        x = jx_hlo_reshape(e->code, x, aval->rank + 1, shape);
    e->outs[0] =
        emit(e, "stablehlo.all_gather", x, e->avals[0], "replica_groups",
             table_of(e, groups), true, 1, &dimension, NULL);
}

void jx_lowering_rule_mesh_exchange(jx_hlo_eqn *e)
{
    const jx_p_mesh_exchange *p = e->eqn->typed;
    jx_hlo *in = e->code->in;
    jx_groups groups = groups_of(e, p->axis_index_groups);

    if (!groups.count)
        return;
    const jx_mlir_named more[] = {
        {"split_dimension", jx_hlo_i64(in, p->split_axis)},
        {"concat_dimension", jx_hlo_i64(in, p->concat_axis)},
        {"split_count", jx_hlo_i64(in, groups.at[0].count)}};
    e->outs[0] =
        groups.at[0].count == 1
            ? e->ins[0]
            : emit(e, "stablehlo.all_to_all", e->ins[0], e->avals[0],
                   "replica_groups", table_of(e, groups), false, 3, more, NULL);
}

/* There is no op for it: XLA knows a target. */
static void emit_ragged(jx_hlo_eqn *e, jx_groups groups)
{
    jx_hlo *in = e->code->in;
    const jx_mlir_named options[] = {{"channel_id", jx_hlo_i64(in, 1)},
                                     {"replica_groups", table_of(e, groups)}};
    const jx_mlir_named more = {"mhlo.backend_config",
                                jx_hlo_dict(in, 2, options)};
    const jx_mlir_named attrs[] = {
        {"call_target_name", jx_hlo_text(in, "ragged_all_to_all")},
        {"api_version", jx_hlo_integer(in, JX_SIGNLESS, 32, 4)}};

    if (options[1].value)
        jx_hlo_emit(e->code,
                    &(jx_hlo_op){.name = "stablehlo.custom_call",
                                 .nins = e->eqn->nins,
                                 .ins = e->ins,
                                 .nouts = 1,
                                 .outs = e->avals,
                                 .nattrs = 2,
                                 .attrs = attrs,
                                 .nmore = 1,
                                 .more = &more},
                    e->outs);
}

void jx_lowering_rule_own_ragged(jx_hlo_eqn *e)
{
    emit_ragged(
        e, ((const jx_p_collective_broadcast *)e->eqn->typed)->replica_groups);
}

void jx_lowering_rule_mesh_ragged(jx_hlo_eqn *e)
{
    jx_groups groups = groups_of(
        e, ((const jx_p_mesh_ragged *)e->eqn->typed)->axis_index_groups);

    if (groups.count)
        emit_ragged(e, groups);
}

void jx_lowering_rule_ppermute(jx_hlo_eqn *e)
{
    const jx_mesh *mesh = mesh_of(e);
    jx_groups pairs = {0, NULL};

    if (mesh)
        pairs = jx_mesh_pairs(arena_of(e), mesh, jx_eqn_mesh_axes(e->eqn),
                              ((const jx_p_ppermute *)e->eqn->typed)->perm);
    e->outs[0] =
        mesh ? emit(e, "stablehlo.collective_permute", e->ins[0], e->avals[0],
                    "source_target_pairs",
                    pairs.count ? table_of(e, pairs)
                                : jx_hlo_table(e->code->in, 0, 2, NULL),
                    false, 0, NULL, NULL)
             : jx_hlo_fail(e->code, "the devices of its axes are not known");
}

/* Whose place it is speaks first in its group. */
void jx_lowering_rule_pbroadcast(jx_hlo_eqn *e)
{
    int64_t source = ((const jx_p_pbroadcast *)e->eqn->typed)->source;
    jx_groups groups = groups_of(e, (jx_groups){0, NULL});

    for (int i = 0; i < groups.count; i++) {
        int64_t *at = (int64_t *)(uintptr_t)groups.at[i].at, first = at[source];
        for (int64_t k = source; k > 0; k--)
            at[k] = at[k - 1];
        at[0] = first;
    }
    if (groups.count)
        e->outs[0] =
            emit(e, "stablehlo.collective_broadcast", e->ins[0], e->avals[0],
                 "replica_groups", table_of(e, groups), false, 0, NULL, NULL);
}

/* The device's number, by how many have the same place, up to the
 * size of the axis. */
void jx_lowering_rule_axis_index(jx_hlo_eqn *e)
{
    const jx_mesh *mesh = mesh_of(e);
    jx_axis_names names = jx_eqn_mesh_axes(e->eqn);
    int axis = mesh && names.count == 1 ? jx_mesh_axis(mesh, names.at[0]) : -1;
    jx_code *c = e->code;
    const jx_aval *number = jx_hlo_scalar_aval(c->in, JX_U32);
    int64_t below = 1;
    jx_hv at;

    if (axis < 0) {
        jx_hlo_fail(c, "the devices of its axis are not known");
        return;
    }
    for (int i = axis + 1; i < mesh->naxes; i++)
        below *= mesh->sizes[i];
    at = jx_hlo_simple(c, "stablehlo.partition_id", 0, NULL, number, 0, NULL);
    at = jx_hlo_div(c, at, jx_hlo_scalar_int(c, JX_U32, below));
    at = jx_hlo_binary(c, "stablehlo.remainder", at,
                       jx_hlo_scalar_int(c, JX_U32, mesh->sizes[axis]));
    e->outs[0] = jx_hlo_convert(c, at, JX_I32);
}

/* ---- the map */

static const jx_mlir_attr *mesh_attr(jx_hlo *in, const jx_mesh *mesh)
{
    static const char *const fields[] = {"name", "size"}, *const axes[] = {
                                                              "axes"};
    const jx_mlir_attr **items =
        JX_NEW_ARRAY(in->ctx->arena, mesh->naxes + 1, const jx_mlir_attr *);

    for (int i = 0; items && i < mesh->naxes; i++) {
        const jx_mlir_attr *axis[] = {jx_hlo_text(in, mesh->axes[i]),
                                      jx_hlo_i64(in, mesh->sizes[i])};
        items[i] = jx_hlo_record(in, "sdy.mesh_axis", 2, fields, axis);
    }
    const jx_mlir_attr *list =
        items ? jx_hlo_list(in, mesh->naxes, items) : NULL;
    return list ? jx_hlo_record(in, "sdy.mesh", 1, axes, &list) : NULL;
}

/* The name of the mesh in the module, which has an op that says it. */
static const jx_mlir_attr *mesh_symbol(jx_hlo *in, const jx_mesh *mesh)
{
    jx_code outer = {.in = in, .loc = in->main ? in->main->loc : NULL};
    size_t i = 0;

    while (i < in->meshes.count && !jx_mesh_alike(in->meshes.at[i], mesh))
        i++;
    const char *name =
        i ? jx_arena_printf(in->ctx->arena, "mesh_%zu", i - 1) : "mesh";
    if (i == in->meshes.count) {
        const jx_mlir_named attrs[] = {{"mesh", mesh_attr(in, mesh)},
                                       {"sym_name", jx_hlo_text(in, name)}};
        jx_hlo_emit(
            &outer,
            &(jx_hlo_op){.name = "sdy.mesh", .nattrs = 2, .attrs = attrs},
            NULL);
        JX_PUSH(in->ctx->arena, &in->meshes, mesh);
        if (outer.ops.count)
            JX_PUSH(in->ctx->arena, &in->mesh_ops, outer.ops.at[0]);
    }
    return jx_hlo_symbol(in, name);
}

static const jx_mlir_attr *axis_refs(jx_hlo *in, jx_axis_names axes)
{
    static const char *const fields[] = {"name"};
    const jx_mlir_attr **items =
        JX_NEW_ARRAY(in->ctx->arena, axes.count + 1, const jx_mlir_attr *);

    for (int i = 0; items && i < axes.count; i++) {
        const jx_mlir_attr *name = jx_hlo_text(in, axes.at[i]);
        items[i] = jx_hlo_record(in, "sdy.axis_ref", 1, fields, &name);
    }
    return items ? jx_hlo_list(in, axes.count, items) : NULL;
}

/* How the `rank` axes of an array lie; of a key's data those behind are whole.
 * `open`: per axis, whether others may cut it, too; or NULL. */
static const jx_mlir_attr *sharding_of(jx_hlo *in, const jx_mlir_attr *mesh,
                                       const jx_sharding *how, const bool *open,
                                       int rank)
{
    static const char *const of_axis[] = {"axes", "is_closed"};
    static const char *const fields[] = {"mesh_or_ref", "dim_shardings"};
    static const jx_axis_names whole = {0, NULL};
    const jx_mlir_attr **dims =
        JX_NEW_ARRAY(in->ctx->arena, rank + 1, const jx_mlir_attr *);

    for (int i = 0; dims && i < rank; i++) {
        const jx_mlir_attr *axis[] = {
            axis_refs(in, i < how->rank ? how->axes[i] : whole),
            jx_hlo_bool(in, !open || i >= how->rank || !open[i])};
        dims[i] = jx_hlo_record(in, "sdy.dimension_sharding", 2, of_axis, axis);
    }
    const jx_mlir_attr *items[] = {mesh,
                                   dims ? jx_hlo_list(in, rank, dims) : NULL};
    return jx_hlo_record(in, "sdy.sharding", 2, fields, items);
}

static const jx_mlir_attr *shardings_of(jx_hlo *in, const jx_mlir_attr *mesh,
                                        jx_shardings all,
                                        const jx_aval *const *avals)
{
    static const char *const field[] = {"shardings"};
    const jx_mlir_attr **items =
        JX_NEW_ARRAY(in->ctx->arena, all.count + 1, const jx_mlir_attr *);

    for (int i = 0; items && i < all.count; i++)
        items[i] = sharding_of(in, mesh, &all.at[i], NULL, avals[i]->rank);
    const jx_mlir_attr *list = items ? jx_hlo_list(in, all.count, items) : NULL;
    return jx_hlo_record(in, "sdy.sharding_per_value", 1, field, &list);
}

static const jx_mlir_attr *manual_axes(jx_hlo *in, jx_axis_names axes)
{
    static const char *const field[] = {"value"};
    const jx_mlir_attr **items =
        JX_NEW_ARRAY(in->ctx->arena, axes.count + 1, const jx_mlir_attr *);

    for (int i = 0; items && i < axes.count; i++)
        items[i] = jx_hlo_text(in, axes.at[i]);
    const jx_mlir_attr *list =
        items ? jx_hlo_list(in, axes.count, items) : NULL;
    return jx_hlo_record(in, "sdy.manual_axes", 1, field, &list);
}

/* The body takes parts, and nothing from around it: no sizes either. */
void jx_lowering_rule_shard_map(jx_hlo_eqn *e)
{
    const jx_p_shard_map *p = e->eqn->typed;
    const jx_jaxpr *body = p->jaxpr.jaxpr;
    jx_hlo *in = e->code->in;
    const jx_mesh *mesh = jx_eqn_mesh(in->program, e->eqn);
    const jx_aval **parts =
        JX_NEW_ARRAY(arena_of(e), body->nins + 1, const jx_aval *);
    const jx_aval *const *wholes =
        jx_hlo_avals_of(e->code, e->eqn->nins, e->ins);
    jx_hv *args = JX_NEW_ARRAY(arena_of(e), body->nins + 1, jx_hv);
    jx_hv *outs = JX_NEW_ARRAY(arena_of(e), body->nouts + 1, jx_hv);
    jx_code *inner;

    if (in->nvars) {
        jx_hlo_fail(
            e->code,
            "symbolic sizes inside of a shard_map have no StableHLO form");
        return;
    }
    for (int i = 0; parts && i < body->nins; i++)
        parts[i] = jx_hlo_physical(in, body->vars[body->nconsts + i]->aval);
    inner = mesh && parts && wholes && args && outs
                ? jx_hlo_begin(e->code, body->nins, parts, args)
                : NULL;
    if (!inner)
        return;
    jx_hlo_inline(inner, &p->jaxpr, args, outs);
    jx_mlir_region region =
        jx_hlo_finish_as(inner, "sdy.return", body->nouts, outs);
    const jx_mlir_attr *name = mesh_symbol(in, mesh);
    jx_mlir_named attrs[] = {
        {"in_shardings", shardings_of(in, name, p->in_specs, wholes)},
        {"manual_axes", manual_axes(in, jx_newly_manual(in->program, e->eqn))},
        {"out_shardings", shardings_of(in, name, p->out_specs, e->avals)}};
    jx_hlo_emit(e->code,
                &(jx_hlo_op){.name = "sdy.manual_computation",
                             .nins = e->eqn->nins,
                             .ins = e->ins,
                             .nouts = e->eqn->nouts,
                             .outs = e->avals,
                             .nattrs = 3,
                             .attrs = attrs,
                             .nregions = 1,
                             .regions = &region},
                e->outs);
}

/* ---- how an array is to lie */

/* The axes of an entry of a spec; `open`: it is "?", and any may. */
static jx_axis_names entry_axes(const jx_hlo_eqn *e, const jx_value *entry,
                                bool *open)
{
    int count = entry->tag == JX_V_TEXT    ? 1
                : entry->tag == JX_V_TUPLE ? entry->count
                                           : 0;
    const char **at = JX_NEW_ARRAY(arena_of(e), count + 1, const char *);

    *open = entry->tag == JX_V_TEXT && !strcmp(entry->text, "?");
    for (int i = 0; at && i < count; i++)
        at[i] = entry->tag == JX_V_TEXT ? entry->text : entry->items[i]->text;
    return (jx_axis_names){at && !*open ? count : 0, at};
}

/* The mesh of a sharding that an array is cut by; NULL: it says
 * nothing of that. */
static const jx_mesh *constraint_mesh(const jx_hlo_eqn *e, const jx_value *said)
{
    const jx_program *program = e->code->in->program;

    if (!said || said->tag != JX_V_SHARDING || said->count != 1 ||
        said->integer < 0 || said->integer >= program->nmeshes ||
        said->items[0]->unreduced ||
        said->items[0]->count > e->ins[0].aval->rank)
        return NULL;
    return program->meshes[said->integer].naxes
               ? &program->meshes[said->integer]
               : NULL;
}

void jx_lowering_rule_constraint(jx_hlo_eqn *e)
{
    const jx_value *said = jx_eqn_param(e->eqn, "sharding");
    jx_hlo *in = e->code->in;
    const jx_mesh *mesh = constraint_mesh(
        e, said = said ? said : jx_eqn_param(e->eqn, "dst_sharding"));
    int n = mesh ? said->items[0]->count : 0;
    jx_axis_names *axes = JX_NEW_ARRAY(arena_of(e), n + 1, jx_axis_names);
    bool *open = JX_NEW_ARRAY(arena_of(e), n + 1, bool);

    e->outs[0] = e->ins[0];
    if (in->unlaid || !mesh || !axes || !open)
        return;
    for (int i = 0; i < n; i++)
        axes[i] = entry_axes(e, said->items[0]->items[i], &open[i]);
    const jx_mlir_named how = {
        "sharding", sharding_of(in, mesh_symbol(in, mesh),
                                &(jx_sharding){.rank = n, .axes = axes}, open,
                                e->ins[0].aval->rank)};
    e->outs[0] = jx_hlo_simple(e->code, "sdy.sharding_constraint", 1, e->ins,
                               e->ins[0].aval, 1, &how);
}
