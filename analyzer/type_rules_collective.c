/* type_rules_collective.c - programs that several devices run: the computation
 * that is spread over a mesh, and how its devices speak to each other.
 *
 * Groups name devices by number.  All groups have one size, which is what an
 * all-gather multiplies by; no groups at all mean all devices in one. */
#include "analyzer/type_rules.h"
#include "frontend/ir/mesh.h"

#include <stdlib.h>
#include <string.h>

/* -- groups of devices --------------------------------------------------- */

/* Of the group size; NULL: it is not said. */
static const jx_dim *group_size(jx_typing *t, jx_groups groups)
{
    return groups.count ? jx_const(t, groups.at[0].count) : NULL;
}

/* Rows of one length of devices that there are, as far as the program says how
 * many; -1 at the end of a row stands for nobody. */
static bool check_rows(jx_typing *t, const char *name, jx_groups groups,
                       bool whole, jx_code code)
{
    int64_t devices = t->program->devices;

    t->code = code;
    for (int i = 0; i < groups.count; i++) {
        jx_ints group = groups.at[i];
        if (group.count == 0 || group.count != groups.at[0].count)
            return jx_type_wrong(t, "%s, row %d has %d devices, row 0 has %d",
                                 name, i, group.count, groups.at[0].count);
        for (int k = 0; k < group.count; k++)
            if (group.at[k] < (whole ? 0 : -1))
                return jx_type_wrong(t, "%s, row %d names device %lld", name, i,
                                     (long long)group.at[k]);
            else if (devices > 1 && group.at[k] >= devices)
                return jx_type_wrong(t, "%s, row %d names device %lld of %lld",
                                     name, i, (long long)group.at[k],
                                     (long long)devices);
    }
    t->code = JX_CODE_SHP010;
    return true;
}

static int compare_devices(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Whether the devices of groups are numbered as the program's: else they are
 * its replicas or its partitions, of which there may be fewer. */
static bool is_global(const jx_typing *t)
{
    if (t->program->replicas > 1 && t->program->replicas < t->program->devices)
        return false;
    switch (t->eqn->prim->id) {
    case JX_PRIM_stablehlo_all_reduce: {
        const jx_p_all_reduce *p = t->params;
        return p->channel_id > 0 || p->use_global_device_ids;
    }
    case JX_PRIM_stablehlo_all_gather: {
        const jx_p_all_gather *p = t->params;
        return p->channel_id > 0 || p->use_global_device_ids;
    }
    case JX_PRIM_stablehlo_reduce_scatter: {
        const jx_p_reduce_scatter *p = t->params;
        return p->channel_id > 0 || p->use_global_device_ids;
    }
    case JX_PRIM_stablehlo_all_to_all:
        return ((const jx_p_all_to_all *)t->params)->channel_id > 0;
    case JX_PRIM_stablehlo_ragged_all_to_all:
        return ((const jx_p_collective_broadcast *)t->params)->channel_id > 0;
    default: return false; /* who is in no group of a broadcast has zeros */
    }
}

/* The same, and each device is in one group, once. */
static bool check_groups(jx_typing *t, jx_groups groups, bool whole)
{
    static const char name[] = "replica_groups";
    int64_t devices = t->program->devices, *all;
    int count = 0;

    if (!check_rows(t, name, groups, whole, JX_CODE_MSH026) || !groups.count)
        return !t->wrong;
    t->code = JX_CODE_MSH026;
    all = JX_NEW_ARRAY(t->program->ctx->arena,
                       (size_t)groups.count * (size_t)groups.at[0].count,
                       int64_t);
    for (int i = 0; all && i < groups.count; i++)
        for (int k = 0; k < groups.at[i].count; k++)
            if (groups.at[i].at[k] >= 0)
                all[count++] = groups.at[i].at[k];
    if (count)
        qsort(all, (size_t)count, sizeof *all, compare_devices);
    for (int i = 1; i < count; i++)
        if (all[i] == all[i - 1])
            return jx_type_wrong(t, "%s names device %lld twice", name,
                                 (long long)all[i]);
    if (all && devices > 1 && count < devices && is_global(t))
        return jx_type_wrong(t, "%s leaves out %lld of %lld devices", name,
                             (long long)(devices - count), (long long)devices);
    t->code = JX_CODE_SHP010;
    return true;
}

static void out_as_in(jx_typing *t, int i)
{
    jx_type_out_like(t, i, t->ins[i], t->ins[i]->weak, t->ins[i]->rank,
                     t->ins[i]->shape);
}

/* With one axis changed. */
static void out_along(jx_typing *t, int i, int64_t axis, const jx_dim *size)
{
    const jx_aval *in = t->ins[i];
    const jx_dim **shape = jx_shape(t, in->rank);

    for (int k = 0; shape && k < in->rank; k++)
        shape[k] = k == axis ? size : in->shape[k];
    if (shape && size)
        jx_type_out_like(t, i, in, in->weak, in->rank, shape);
}

static bool check_pairs(jx_typing *t)
{
    if (t->nins == 0)
        return jx_type_wrong(t, "has no operands");
    return jx_type_counts(t, -1, t->nins);
}

static bool check_computation(jx_typing *t, const jx_closed *computation, int i)
{
    jx_dtype dtypes[2] = {t->ins[i]->dtype, t->ins[i]->dtype};

    return jx_type_computation(t, computation, "computation", 2, dtypes, 1,
                               dtypes);
}

/* -- collectives --------------------------------------------------------- */

void jx_type_all_reduce(jx_typing *t)
{
    const jx_p_all_reduce *p = t->params;

    if (!check_pairs(t) || !check_groups(t, p->replica_groups, false))
        return;
    for (int i = 0; i < t->nins; i++)
        if (!check_computation(t, &p->computation, i))
            return;
    for (int i = 0; i < t->nins; i++)
        out_as_in(t, i);
}

static bool need_size(jx_typing *t, const jx_dim *size)
{
    return size || jx_type_wrong(t, "replica_groups is empty: how many devices "
                                    "there are is not known here");
}

void jx_type_all_gather(jx_typing *t)
{
    const jx_p_all_gather *p = t->params;
    const jx_dim *size = group_size(t, p->replica_groups);

    if (!check_pairs(t) || !check_groups(t, p->replica_groups, true) ||
        !need_size(t, size))
        return;
    for (int i = 0; i < t->nins; i++) {
        const jx_aval *in = t->ins[i];
        if (!jx_type_axis(t, "all_gather_dim", p->all_gather_dim, in->rank))
            return;
        out_along(t, i, p->all_gather_dim,
                  jx_times(t, in->shape[p->all_gather_dim], size));
    }
}

void jx_type_reduce_scatter(jx_typing *t)
{
    const jx_p_reduce_scatter *p = t->params;
    const jx_dim *size = group_size(t, p->replica_groups);
    const jx_aval *in = t->ins[0];

    if (!check_groups(t, p->replica_groups, true) || !need_size(t, size) ||
        !jx_type_axis(t, "scatter_dimension", p->scatter_dimension, in->rank) ||
        !check_computation(t, &p->computation, 0))
        return;
    const jx_dim *whole = in->shape[p->scatter_dimension];
    jx_require_divides(t, size, whole,
                       "operand 0, axis %lld: the devices of a group",
                       (long long)p->scatter_dimension);
    out_along(t, 0, p->scatter_dimension,
              jx_dim_floordiv(t->program->dims, whole, size));
}

static void exchange(jx_typing *t, const jx_p_all_to_all *p, int i)
{
    const jx_aval *in = t->ins[i];
    const jx_dim *count = jx_const(t, p->split_count);
    const jx_dim **shape = jx_shape(t, in->rank);

    for (int k = 0; shape && k < in->rank; k++)
        shape[k] = in->shape[k];
    if (!shape)
        return;
    jx_require_divides(t, count, shape[p->split_dimension],
                       "operand %d, axis %lld: split_count", i,
                       (long long)p->split_dimension);
    shape[p->split_dimension] =
        jx_dim_floordiv(t->program->dims, shape[p->split_dimension], count);
    shape[p->concat_dimension] = jx_times(t, shape[p->concat_dimension], count);
    jx_type_out_like(t, i, in, in->weak, in->rank, shape);
}

void jx_type_all_to_all(jx_typing *t)
{
    const jx_p_all_to_all *p = t->params;
    jx_groups groups = p->replica_groups;

    if (!check_pairs(t) || !check_groups(t, groups, true))
        return;
    if (p->split_count < 1 ||
        (groups.count && groups.at[0].count != p->split_count)) {
        jx_type_wrong(t, "split_count is %lld, in groups of %d devices",
                      (long long)p->split_count,
                      groups.count ? groups.at[0].count : 0);
        return;
    }
    for (int i = 0; i < t->nins; i++) {
        int rank = t->ins[i]->rank;
        if (!jx_type_axis(t, "split_dimension", p->split_dimension, rank) ||
            !jx_type_axis(t, "concat_dimension", p->concat_dimension, rank))
            return;
        exchange(t, p, i);
    }
}

/* Nobody sends twice, nobody receives twice. */
void jx_type_collective_permute(jx_typing *t)
{
    jx_groups pairs =
        ((const jx_p_collective_permute *)t->params)->source_target_pairs;

    if (!check_rows(t, "source_target_pairs", pairs, true, JX_CODE_MSH004))
        return;
    if (pairs.count && pairs.at[0].count != 2) {
        jx_type_wrong(t, "source_target_pairs has rows of %d",
                      pairs.at[0].count);
        return;
    }
    for (int i = 0; i < pairs.count; i++)
        for (int k = 0; k < i; k++)
            for (int side = 0; side < 2; side++)
                if (pairs.at[i].at[side] == pairs.at[k].at[side]) {
                    t->code = JX_CODE_MSH003;
                    jx_type_wrong(t, "source_target_pairs names %s %lld twice",
                                  side ? "target" : "source",
                                  (long long)pairs.at[i].at[side]);
                    return;
                }
    out_as_in(t, 0);
}

void jx_type_collective_broadcast(jx_typing *t)
{
    const jx_p_collective_broadcast *p = t->params;

    if (check_groups(t, p->replica_groups, false))
        out_as_in(t, 0);
}

void jx_type_ragged(jx_typing *t)
{
    const jx_p_collective_broadcast *p = t->params;

    if (check_groups(t, p->replica_groups, true) &&
        need_size(t, group_size(t, p->replica_groups)))
        jx_type_ragged_rows(t);
}

void jx_type_device_id(jx_typing *t)
{
    jx_type_out(t, 0, JX_U32, false, 0, NULL);
}

/* -- a computation spread over a mesh ------------------------------------ */

typedef struct spread {
    const jx_mesh *mesh;
    jx_axis_names manual;
} spread;

static int64_t axis_size(const spread *s, const char *name)
{
    int axis = jx_mesh_axis(s->mesh, name);

    return axis < 0 ? -1 : s->mesh->sizes[axis];
}

/* Into how many parts the manual axes cut an axis. */
static bool parts_of(jx_typing *t, const spread *s, const jx_axis_names *axes,
                     int64_t *parts)
{
    *parts = 1;
    for (int i = 0; i < axes->count; i++) {
        int64_t size = axis_size(s, axes->at[i]);
        if (size < 1)
            return jx_type_wrong(t, "the mesh has no axis '%s'", axes->at[i]);
        if (jx_axis_is_among(s->manual, axes->at[i]) &&
            __builtin_mul_overflow(*parts, size, parts))
            return jx_type_wrong(t, "the mesh is too large");
    }
    return true;
}

static bool names_once(jx_typing *t, const jx_sharding *how, const char *what)
{
    JX_VEC(const char *) seen = {0};

    for (int k = 0; k < how->rank; k++)
        for (int i = 0; i < how->axes[k].count; i++) {
            const char *name = how->axes[k].at[i];
            if (jx_axis_is_among((jx_axis_names){(int)seen.count, seen.at},
                                 name))
                return jx_type_wrong(t, "%s: its spec names '%s' twice", what,
                                     name);
            JX_PUSH(t->program->ctx->arena, &seen, name);
        }
    return true;
}

/* The part of an array that one device has, and back; axes that nothing is
 * said of are whole. */
static const jx_aval *part(jx_typing *t, const spread *s, const jx_aval *aval,
                           const jx_sharding *how, bool whole, const char *what)
{
    const jx_dim **shape = jx_shape(t, aval->rank);
    jx_aval made = *aval;

    if (aval->kind != JX_AVAL_ARRAY || how->rank > aval->rank) {
        jx_type_wrong(t, "%s: a sharding of rank %d for rank %d", what,
                      how->rank, aval->rank);
        return NULL;
    }
    if (!names_once(t, how, what))
        return NULL;
    for (int k = 0; shape && k < aval->rank; k++) {
        int64_t parts = 1;
        if (k < how->rank && !parts_of(t, s, &how->axes[k], &parts))
            return NULL;
        const jx_dim *count = jx_const(t, parts);
        t->code = JX_CODE_MSH001;
        if (!whole)
            jx_require_divides(t, count, aval->shape[k],
                               "%s, axis %d: the parts of its sharding", what,
                               k);
        t->code = JX_CODE_SHP010;
        shape[k] =
            whole ? jx_times(t, aval->shape[k], count)
                  : jx_dim_floordiv(t->program->dims, aval->shape[k], count);
        if (!shape[k])
            return NULL;
    }
    made.shape = shape;
    made.spec = NULL;
    return shape ? jx_aval_add(&t->program->avals, &made) : NULL;
}

static bool check_spread(jx_typing *t, jx_axis_names manual, jx_shardings ins,
                         jx_shardings outs, spread *s)
{
    const jx_mesh *mesh = jx_eqn_mesh(t->program, t->eqn);

    if (!mesh)
        return jx_type_wrong(t, "has no mesh");
    *s = (spread){mesh, manual};
    for (int i = 0; i < mesh->naxes; i++) {
        if (mesh->sizes[i] < 1)
            return jx_type_wrong(t,
                                 "the axis '%s' of the mesh has the size %lld",
                                 mesh->axes[i], (long long)mesh->sizes[i]);
        if (jx_mesh_axis(mesh, mesh->axes[i]) != i)
            return jx_type_wrong(t, "the mesh names '%s' twice", mesh->axes[i]);
    }
    for (int i = 0; i < manual.count; i++)
        if (axis_size(s, manual.at[i]) < 1)
            return jx_type_wrong(t, "the mesh has no axis '%s'", manual.at[i]);
    if (ins.count != t->nins || outs.count != t->nouts)
        return jx_type_wrong(t,
                             "%d and %d shardings for %d operands and %d "
                             "results",
                             ins.count, outs.count, t->nins, t->nouts);
    return true;
}

void jx_type_manual_computation(jx_typing *t)
{
    const jx_p_manual_computation *p = t->params;
    const jx_jaxpr *body = p->jaxpr.jaxpr;
    jx_arena *arena = t->program->ctx->arena;
    spread s;

    if (!check_spread(t, p->manual_axes, p->in_shardings, p->out_shardings,
                      &s) ||
        !jx_type_closed(t, &p->jaxpr, "jaxpr"))
        return;
    for (int i = 0; i < t->nins; i++)
        if (p->in_shardings.at[i].rank != t->ins[i]->rank) {
            jx_type_wrong(t, "operand %d: a sharding of rank %d for rank %d", i,
                          p->in_shardings.at[i].rank, t->ins[i]->rank);
            return;
        }
    for (int i = 0; i < t->nins; i++)
        jx_type_pass(t, body, i,
                     part(t, &s, t->ins[i], &p->in_shardings.at[i], false,
                          jx_arena_printf(arena, "operand %d", i)),
                     "jaxpr");
    const jx_aval *const *outs = jx_callee_outs(t, body);
    for (int i = 0; i < t->nouts && !t->wrong; i++)
        jx_type_is(t, i,
                   part(t, &s, outs[i], &p->out_shardings.at[i], true,
                        jx_arena_printf(arena, "result %d", i)));
}

/* -- the same as JAX says it ---------------------------------------------- */

/* The axes of a spec are manual here. */
static bool check_spec(jx_typing *t, const spread *s, const jx_sharding *how,
                       const char *what)
{
    for (int k = 0; k < how->rank; k++)
        for (int i = 0; i < how->axes[k].count; i++) {
            const char *name = how->axes[k].at[i];
            if (!jx_axis_is_among(s->manual, name))
                return jx_type_wrong(
                    t,
                    "%s: its spec names '%s', which is no axis "
                    "that the shard_map binds",
                    what, name);
        }
    return true;
}

/* The axes that a spec names, as types have them. */
static jx_names axes_of_spec(jx_typing *t, const jx_sharding *how)
{
    jx_axis_names all = {0, NULL};
    JX_VEC(const char *) names = {0};

    for (int k = 0; k < how->rank; k++)
        for (int i = 0; i < how->axes[k].count; i++)
            JX_PUSH(t->program->ctx->arena, &names, how->axes[k].at[i]);
    all = (jx_axis_names){(int)names.count, names.at};
    return jx_names_with(t, (jx_names){0, NULL}, all);
}

/* Over all axes of the mesh that its spec leaves out, and that are bound here,
 * a result is the same: its type says so. */
static bool is_replicated(jx_typing *t, const spread *s, const jx_aval *aval,
                          const jx_sharding *how, int i)
{
    jx_names named = axes_of_spec(t, how);

    for (int k = 0; k < aval->varying.count; k++) {
        const char *name = aval->varying.at[k];
        if (jx_axis_is_among(s->manual, name) &&
            !jx_axis_is_among((jx_axis_names){named.count, named.at}, name)) {
            t->code = JX_CODE_MSH002;
            return jx_type_wrong(t,
                                 "result %d varies over '%s', which its spec "
                                 "leaves out",
                                 i, name);
        }
    }
    return true;
}

/* The axes that a spec names.  Over one of a single device nothing differs: JAX
 * can be told (remove_size_one_mesh_axis_from_type) to leave these out of
 * types, as `declared` does then. */
static jx_axis_names varied_by(jx_typing *t, const jx_sharding *how,
                               const jx_aval *declared)
{
    jx_names spec = axes_of_spec(t, how);
    const jx_mesh *mesh = jx_eqn_mesh(t->program, t->eqn);
    const char **names =
        JX_NEW_ARRAY(t->program->ctx->arena, spec.count + 1, const char *);
    int count = 0;

    for (int k = 0; names && k < spec.count; k++) {
        int axis = jx_mesh_axis(mesh, spec.at[k]);
        if (axis < 0 || mesh->sizes[axis] != 1 ||
            jx_axis_is_among(
                (jx_axis_names){declared->varying.count, declared->varying.at},
                spec.at[k]))
            names[count++] = spec.at[k];
    }
    return (jx_axis_names){count, names};
}

/* What one device takes: it varies over what its spec names, too. */
static const jx_aval *taken(jx_typing *t, const spread *s, int i)
{
    const jx_p_shard_map *p = t->params;
    const jx_sharding *how = &p->in_specs.at[i];
    const char *what = jx_arena_printf(t->program->ctx->arena, "operand %d", i);
    const jx_aval *made = check_spec(t, s, how, what)
                              ? part(t, s, t->ins[i], how, false, what)
                              : NULL;
    const jx_jaxpr *body = p->jaxpr.jaxpr;

    return made && p->check_vma && i < body->nins
               ? jx_aval_varying(
                     t, made,
                     jx_names_with(
                         t, made->varying,
                         varied_by(t, how,
                                   body->vars[body->nconsts + i]->aval)))
               : made;
}

/* What is given, which varies over nothing that the shard_map itself binds. */
static const jx_aval *given(jx_typing *t, const spread *s, const jx_aval *aval,
                            int i)
{
    const jx_p_shard_map *p = t->params;
    const jx_sharding *how = &p->out_specs.at[i];
    const char *what = jx_arena_printf(t->program->ctx->arena, "result %d", i);

    if (!check_spec(t, s, how, what) ||
        (p->check_vma && !is_replicated(t, s, aval, how, i)))
        return NULL;
    aval = part(t, s, aval, how, true, what);
    return aval ? jx_aval_varying(t, aval,
                                  jx_names_without(t, aval->varying, s->manual))
                : NULL;
}

void jx_type_shard_map(jx_typing *t)
{
    const jx_p_shard_map *p = t->params;
    const jx_jaxpr *body = p->jaxpr.jaxpr;
    spread s;

    if (jx_eqn_is_unknown(t->eqn)) {
        jx_type_unknown(t, jx_eqn_name(t->eqn));
        return;
    }
    if (!jx_eqn_mesh(t->program, t->eqn)) {
        jx_type_wrong(t, "has no mesh");
        return;
    }
    if (!check_spread(t, jx_newly_manual(t->program, t->eqn), p->in_specs,
                      p->out_specs, &s) ||
        !jx_type_closed(t, &p->jaxpr, "jaxpr"))
        return;
    for (int i = 0; i < t->nins && !t->wrong; i++)
        jx_type_pass(t, body, i, taken(t, &s, i), "jaxpr");
    const jx_aval *const *outs = jx_callee_outs(t, body);
    for (int i = 0; i < t->nouts && !t->wrong; i++)
        jx_type_is(t, i, given(t, &s, outs[i], i));
}
