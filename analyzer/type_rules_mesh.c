/* type_rules_mesh.c - how the devices of a shard_map speak to each other along
 * axes of its mesh.
 *
 * The axes are bound by the shard_maps around (frontend/ir/mesh.h).  Where
 * these check varying types, a value that differs from device to device along
 * an axis varies over it by its type, and collectives take no other. */
#include "analyzer/type_rules.h"
#include "frontend/ir/mesh.h"

#include <stdlib.h>
#include <string.h>

/* -- axes and groups ------------------------------------------------------ */

static const jx_bound_axes *bound(const jx_typing *t)
{
    return t->eqn->ctx ? t->eqn->ctx->axes : NULL;
}

/* How many devices go together over these axes; 0: that was wrong. */
static int64_t count_devices(jx_typing *t, jx_axis_names axes)
{
    const jx_bound_axes *to = bound(t);
    const jx_mesh *mesh = to ? &t->program->meshes[to->mesh] : NULL;
    int64_t count = 1;

    for (int i = 0; i < axes.count; i++) {
        int axis = mesh && jx_axis_is_among(to->names, axes.at[i])
                       ? jx_mesh_axis(mesh, axes.at[i])
                       : -1;
        if (axis < 0) {
            t->code = JX_CODE_MSH011;
            jx_type_wrong(t, "no shard_map around it binds the axis '%s'",
                          axes.at[i]);
            return 0;
        }
        for (int k = 0; k < i; k++)
            if (!strcmp(axes.at[i], axes.at[k])) {
                jx_type_wrong(t, "it names the axis '%s' twice", axes.at[i]);
                return 0;
            }
        if (mesh->sizes[axis] < 1 ||
            __builtin_mul_overflow(count, mesh->sizes[axis], &count)) {
            jx_type_wrong(t, "the mesh is too large, or has nobody");
            return 0;
        }
    }
    return count;
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Each of `count` places stands in one group. */
static bool check_places(jx_typing *t, jx_groups groups, int64_t count)
{
    int64_t *all, n = 0, total = 0;

    for (int i = 0; i < groups.count; i++)
        total += groups.at[i].count;
    all = JX_NEW_ARRAY(t->program->ctx->arena, total, int64_t);
    for (int i = 0; all && i < groups.count; i++)
        for (int k = 0; k < groups.at[i].count; k++)
            all[n++] = groups.at[i].at[k];
    if (!all || !total)
        return false;
    t->code = JX_CODE_MSH026;
    qsort(all, (size_t)total, sizeof *all, by_number);
    for (int64_t i = 0; i < total; i++) {
        if (all[i] < 0 || all[i] >= count)
            return jx_type_wrong(t,
                                 "axis_index_groups names place %lld of %lld",
                                 (long long)all[i], (long long)count);
        if (i && all[i] == all[i - 1])
            return jx_type_wrong(t, "axis_index_groups names place %lld twice",
                                 (long long)all[i]);
    }
    if (total == count)
        t->code = JX_CODE_SHP010;
    return total == count ||
           jx_type_wrong(t, "axis_index_groups leaves out %lld of %lld places",
                         (long long)(count - total), (long long)count);
}

/* How many each group has; 0: that was wrong. */
static int64_t group_size(jx_typing *t, jx_axis_names axes, jx_groups groups,
                          bool equal)
{
    int64_t count = count_devices(t, axes);

    if (!count || !groups.count)
        return count;
    if (!check_places(t, groups, count))
        return 0;
    for (int i = 0; equal && i < groups.count; i++)
        if (groups.at[i].count != groups.at[0].count) {
            t->code = JX_CODE_MSH026;
            jx_type_wrong(
                t, "axis_index_groups, row %d has %d places, row 0 has %d", i,
                groups.at[i].count, groups.at[0].count);
            return 0;
        }
    return groups.at[0].count;
}

static bool varies_over(const jx_aval *aval, const char *name)
{
    return jx_axis_is_among(
        (jx_axis_names){aval->varying.count, aval->varying.at}, name);
}

/* Where types say over what values vary, an operand varies over
 * all of the axes. */
static bool check_varies(jx_typing *t, int operand, jx_axis_names axes)
{
    for (int i = 0; bound(t)->checked && i < axes.count; i++)
        if (!varies_over(t->ins[operand], axes.at[i]))
            return jx_type_wrong(t, "operand %d does not vary over '%s'",
                                 operand, axes.at[i]);
    return true;
}

/* -- collectives ---------------------------------------------------------- */

static void out_without(jx_typing *t, int i, const jx_aval *aval,
                        jx_axis_names axes)
{
    if (aval)
        jx_type_is(
            t, i,
            jx_aval_varying(t, aval, jx_names_without(t, aval->varying, axes)));
}

void jx_type_across(jx_typing *t, jx_axis_names axes, jx_groups groups)
{
    if (!group_size(t, axes, groups, false))
        return;
    for (int i = 0; i < t->nouts && t->eqn->prim->id != JX_PRIM_psum; i++)
        out_without(t, i, t->outs[i], axes);
}

static bool is_bound(jx_typing *t)
{
    if (!jx_eqn_is_unknown(t->eqn))
        return true;
    jx_type_unknown(t, jx_eqn_name(t->eqn));
    return false;
}

void jx_type_psum_invariant(jx_typing *t)
{
    jx_axis_names axes = jx_eqn_mesh_axes(t->eqn);
    bool varies = false;

    if (!is_bound(t) || !count_devices(t, axes))
        return;
    for (int i = 0; i < axes.count; i++)
        varies |= varies_over(t->ins[0], axes.at[i]);
    if (bound(t)->checked && !varies) {
        jx_type_wrong(t, "operand 0 varies over none of the axes");
        return;
    }
    out_without(t, 0, t->ins[0], axes);
}

void jx_type_pvary(jx_typing *t)
{
    jx_axis_names axes = jx_eqn_mesh_axes(t->eqn);

    if (!is_bound(t) || !count_devices(t, axes))
        return;
    for (int i = 0; i < axes.count; i++)
        if (varies_over(t->ins[0], axes.at[i])) {
            jx_type_wrong(t, "operand 0 varies over '%s' already", axes.at[i]);
            return;
        }
    jx_type_is(t, 0,
               jx_aval_varying(t, t->ins[0],
                               jx_names_with(t, t->ins[0]->varying, axes)));
}

void jx_type_axis_index(jx_typing *t)
{
    jx_axis_names axes = jx_eqn_mesh_axes(t->eqn);

    if (!is_bound(t) || !count_devices(t, axes))
        return;
    jx_type_out(t, 0, JX_I32, false, 0, NULL);
    if (t->outs[0] && bound(t)->checked)
        jx_type_is(
            t, 0,
            jx_aval_varying(t, t->outs[0],
                            jx_names_with(t, t->outs[0]->varying, axes)));
}

static int64_t wrapped(int64_t place, int64_t count)
{
    return place < 0 ? place + count : place;
}

/* Nobody sends twice, nobody receives twice. */
static bool check_perm(jx_typing *t, jx_groups perm, int64_t count)
{
    jx_arena *arena = t->program->ctx->arena;
    char *seen = JX_NEW_ARRAY(arena, 2 * count, char);

    for (int i = 0; seen && i < perm.count; i++) {
        if (perm.at[i].count != 2)
            return jx_type_wrong(t, "perm, row %d is no pair", i);
        for (int side = 0; side < 2; side++) {
            int64_t place = perm.at[i].at[side];
            int64_t at = wrapped(place, count);
            t->code = JX_CODE_MSH004;
            if (at < 0 || at >= count)
                return jx_type_wrong(t,
                                     "perm: %s %lld is outside of the axis, "
                                     "which has %lld devices",
                                     side ? "target" : "source",
                                     (long long)place, (long long)count);
            t->code = JX_CODE_MSH003;
            if (seen[side * count + at]++)
                return jx_type_wrong(t, "perm: %s %lld stands there twice",
                                     side ? "target" : "source",
                                     (long long)place);
        }
    }
    t->code = JX_CODE_SHP010;
    return seen != NULL;
}

enum { MOST_DEVICES = 1 << 20 };

void jx_type_ppermute(jx_typing *t)
{
    const jx_p_ppermute *p = t->params;
    int64_t count = is_bound(t) ? count_devices(t, p->axis_name) : 0;

    if (count > MOST_DEVICES) {
        jx_type_wrong(t, "the mesh is too large");
        return;
    }
    if (count && check_perm(t, p->perm, count) &&
        check_varies(t, 0, p->axis_name))
        jx_type_is(t, 0, t->ins[0]);
}

void jx_type_pbroadcast(jx_typing *t)
{
    const jx_p_pbroadcast *p = t->params;
    int64_t count = is_bound(t) ? count_devices(t, p->axis_name) : 0;

    if (!count)
        return;
    if (p->source < 0 || p->source >= count)
        jx_type_wrong(t, "source is %lld, of %lld devices",
                      (long long)p->source, (long long)count);
    else if (check_varies(t, 0, p->axis_name))
        jx_type_is(t, 0, t->ins[0]);
}

static bool check_size(jx_typing *t, int64_t says, int64_t size)
{
    return says == size ||
           jx_type_wrong(t, "axis_size is %lld, in groups of %lld devices",
                         (long long)says, (long long)size);
}

/* The operand's type with an axis of that size in the place of one, or beside
 * it, or without it (`size` is NULL). */
static const jx_aval *reshaped(jx_typing *t, int64_t axis, const jx_dim *size,
                               int more)
{
    jx_aval aval = *t->ins[0];
    const jx_dim **shape = jx_shape(t, aval.rank + 1);
    int n = 0;

    for (int i = 0; shape && i < aval.rank + (more > 0); i++) {
        if (i != axis)
            shape[n++] = aval.shape[i - (more > 0 && i > axis)];
        else if (more >= 0)
            shape[n++] = size;
    }
    for (int i = 0; i < n; i++)
        if (!shape[i])
            return NULL;
    aval.rank = n;
    aval.shape = shape;
    aval.spec = NULL;
    return shape ? jx_aval_add(&t->program->avals, &aval) : NULL;
}

void jx_type_mesh_gather(jx_typing *t)
{
    const jx_p_mesh_gather *p = t->params;
    bool invariant = t->eqn->prim->id == JX_PRIM_all_gather_invariant;
    int64_t size = is_bound(t)
                       ? group_size(t, p->axis_name, p->axis_index_groups, true)
                       : 0;
    int64_t axis = p->all_gather_dimension;
    const jx_dim *count;

    if (!size || !check_size(t, p->axis_size, size) ||
        (!invariant && !check_varies(t, 0, p->axis_name)) ||
        !jx_type_axis(t, "all_gather_dimension", axis,
                      t->ins[0]->rank + !p->tiled))
        return;
    count = jx_const(t, size);
    const jx_aval *out =
        p->tiled
            ? reshaped(t, axis, jx_times(t, t->ins[0]->shape[axis], count), 0)
            : reshaped(t, axis, count, 1);
    out_without(t, 0, out, invariant ? p->axis_name : (jx_axis_names){0, NULL});
}

void jx_type_mesh_scatter(jx_typing *t)
{
    const jx_p_mesh_scatter *p = t->params;
    int64_t size = is_bound(t)
                       ? group_size(t, p->axis_name, p->axis_index_groups, true)
                       : 0;
    int64_t axis = p->scatter_dimension;
    const jx_dim *count, *whole;

    if (!size || !check_size(t, p->axis_size, size) ||
        !check_varies(t, 0, p->axis_name) ||
        !jx_type_axis(t, "scatter_dimension", axis, t->ins[0]->rank))
        return;
    count = jx_const(t, size);
    whole = t->ins[0]->shape[axis];
    if (p->tiled)
        jx_require_divides(t, count, whole,
                           "operand 0, axis %lld: the devices of "
                           "a group",
                           (long long)axis);
    else
        jx_require_eq(t, count, whole,
                      "operand 0, axis %lld: the devices of a "
                      "group",
                      (long long)axis);
    jx_type_is(
        t, 0,
        p->tiled ? reshaped(t, axis,
                            jx_dim_floordiv(t->program->dims, whole, count), 0)
                 : reshaped(t, axis, NULL, -1));
}

void jx_type_mesh_exchange(jx_typing *t)
{
    const jx_p_mesh_exchange *p = t->params;
    int64_t size = is_bound(t)
                       ? group_size(t, p->axis_name, p->axis_index_groups, true)
                       : 0;
    const jx_dim **shape = jx_shape(t, t->ins[0]->rank);
    const jx_aval *in = t->ins[0];

    if (!size || !shape || !check_varies(t, 0, p->axis_name) ||
        !jx_type_axis(t, "split_axis", p->split_axis, in->rank) ||
        !jx_type_axis(t, "concat_axis", p->concat_axis, in->rank))
        return;
    const jx_dim *count = jx_const(t, size);
    for (int i = 0; i < in->rank; i++)
        shape[i] = in->shape[i];
    jx_require_divides(t, count, shape[p->split_axis],
                       "operand 0, axis %lld: the devices of a group",
                       (long long)p->split_axis);
    shape[p->split_axis] =
        jx_dim_floordiv(t->program->dims, shape[p->split_axis], count);
    shape[p->concat_axis] = jx_times(t, shape[p->concat_axis], count);
    jx_type_out_like(t, 0, in, false, in->rank, shape);
}

/* Offsets and sizes are one row of integers each, with a place
 * for every device. */
void jx_type_ragged_rows(jx_typing *t)
{
    if (!jx_type_same_dtypes(t, 0, 1))
        return;
    for (int i = 2; i < 6; i++) {
        if (!jx_type_integer(t, i))
            return;
        if (t->ins[i]->rank != 1) {
            jx_type_wrong(t, "operand %d has rank %d, takes one axis", i,
                          t->ins[i]->rank);
            return;
        }
    }
    if (t->ins[0]->rank < 1 || t->ins[0]->rank != t->ins[1]->rank) {
        jx_type_wrong(t, "operands of rank %d and %d", t->ins[0]->rank,
                      t->ins[1]->rank);
        return;
    }
    for (int i = 1; i < t->ins[0]->rank; i++)
        jx_require_eq(t, t->ins[0]->shape[i], t->ins[1]->shape[i],
                      "operands 0 and 1, axis %d", i);
    jx_type_is(t, 0, jx_aval_weak(t, t->ins[1], false));
}

void jx_type_mesh_ragged(jx_typing *t)
{
    const jx_p_mesh_ragged *p = t->params;

    if (is_bound(t) && group_size(t, p->axis_name, p->axis_index_groups, true))
        jx_type_ragged_rows(t);
}
