/* collective.c - see collective.h. */
#include "analyzer/collective.h"

#include "frontend/ir/mesh.h"

jx_groups jx_collective_groups(const jx_eqn *eqn)
{
    const void *p = eqn->typed;

    switch (eqn->prim->id) {
    case JX_PRIM_stablehlo_all_reduce:
        return ((const jx_p_all_reduce *)p)->replica_groups;
    case JX_PRIM_stablehlo_all_gather:
        return ((const jx_p_all_gather *)p)->replica_groups;
    case JX_PRIM_stablehlo_reduce_scatter:
        return ((const jx_p_reduce_scatter *)p)->replica_groups;
    case JX_PRIM_stablehlo_all_to_all:
        return ((const jx_p_all_to_all *)p)->replica_groups;
    case JX_PRIM_stablehlo_collective_broadcast:
    case JX_PRIM_stablehlo_ragged_all_to_all:
        return ((const jx_p_collective_broadcast *)p)->replica_groups;
    default: return ((const jx_p_collective_permute *)p)->source_target_pairs;
    }
}

static bool of_stablehlo(const jx_eqn *eqn, jx_collective *to)
{
    const void *p = eqn->typed;

    to->computation = jx_eqn_param(eqn, "computation");
    switch (eqn->prim->id) {
    case JX_PRIM_stablehlo_all_reduce: to->kind = JX_COLLECTIVE_REDUCE; break;
    case JX_PRIM_stablehlo_all_gather:
        to->kind = JX_COLLECTIVE_GATHER;
        to->axis = ((const jx_p_all_gather *)p)->all_gather_dim;
        break;
    case JX_PRIM_stablehlo_reduce_scatter:
        to->kind = JX_COLLECTIVE_SCATTER;
        to->axis = ((const jx_p_reduce_scatter *)p)->scatter_dimension;
        break;
    case JX_PRIM_stablehlo_all_to_all:
        to->kind = JX_COLLECTIVE_EXCHANGE;
        to->axis = ((const jx_p_all_to_all *)p)->split_dimension;
        to->concat = ((const jx_p_all_to_all *)p)->concat_dimension;
        to->split = ((const jx_p_all_to_all *)p)->split_count;
        break;
    case JX_PRIM_stablehlo_collective_permute:
        to->kind = JX_COLLECTIVE_PERMUTE;
        break;
    case JX_PRIM_stablehlo_collective_broadcast:
        to->kind = JX_COLLECTIVE_BROADCAST;
        break;
    case JX_PRIM_stablehlo_ragged_all_to_all:
        to->kind = JX_COLLECTIVE_RAGGED;
        break;
    case JX_PRIM_stablehlo_partition_id:
    case JX_PRIM_stablehlo_replica_id:
        to->kind = JX_COLLECTIVE_NUMBER;
        return true;
    default: return false;
    }
    to->groups = jx_collective_groups(eqn);
    to->all = to->groups.count == 0;
    return true;
}

/* Of JAX's, but for the groups; `within`: what of each group goes together. */
static void of_jax(const jx_eqn *eqn, jx_collective *to, jx_groups *within)
{
    const void *p = eqn->typed;

    switch (eqn->prim->id) {
    case JX_PRIM_all_gather:
    case JX_PRIM_all_gather_invariant:
        to->kind = JX_COLLECTIVE_GATHER;
        to->axis = ((const jx_p_mesh_gather *)p)->all_gather_dimension;
        to->untiled = !((const jx_p_mesh_gather *)p)->tiled;
        *within = ((const jx_p_mesh_gather *)p)->axis_index_groups;
        break;
    case JX_PRIM_reduce_scatter:
        to->kind = JX_COLLECTIVE_SCATTER;
        to->op = JX_PRIM_add;
        to->axis = ((const jx_p_mesh_scatter *)p)->scatter_dimension;
        to->untiled = !((const jx_p_mesh_scatter *)p)->tiled;
        *within = ((const jx_p_mesh_scatter *)p)->axis_index_groups;
        break;
    case JX_PRIM_all_to_all:
        to->kind = JX_COLLECTIVE_EXCHANGE;
        to->axis = ((const jx_p_mesh_exchange *)p)->split_axis;
        to->concat = ((const jx_p_mesh_exchange *)p)->concat_axis;
        *within = ((const jx_p_mesh_exchange *)p)->axis_index_groups;
        break;
    case JX_PRIM_ppermute: to->kind = JX_COLLECTIVE_PERMUTE; break;
    case JX_PRIM_pbroadcast:
        to->kind = JX_COLLECTIVE_BROADCAST;
        to->source = ((const jx_p_pbroadcast *)p)->source;
        break;
    case JX_PRIM_axis_index: to->kind = JX_COLLECTIVE_NUMBER; break;
    case JX_PRIM_ragged_all_to_all:
        to->kind = JX_COLLECTIVE_RAGGED;
        *within = ((const jx_p_mesh_ragged *)p)->axis_index_groups;
        break;
    default:
        to->kind = JX_COLLECTIVE_REDUCE;
        to->op = eqn->prim->id == JX_PRIM_pmax   ? JX_PRIM_max
                 : eqn->prim->id == JX_PRIM_pmin ? JX_PRIM_min
                                                 : JX_PRIM_add;
        if (eqn->prim->id != JX_PRIM_psum_invariant) {
            to->reduced = ((const jx_p_allreduce *)p)->axes.at;
            *within = ((const jx_p_allreduce *)p)->axis_index_groups;
        }
    }
}

jx_collective_fault jx_collective_of(jx_arena *arena, const jx_mesh *mesh,
                                     const jx_eqn *eqn, jx_collective *to)
{
    jx_axis_names axes = jx_eqn_mesh_axes(eqn);
    jx_groups within = {0, NULL};

    *to = (jx_collective){0};
    if (of_stablehlo(eqn, to))
        return JX_COLLECTIVE_FITS;
    of_jax(eqn, to, &within);
    if (!mesh)
        return JX_COLLECTIVE_NO_MESH;
    to->groups = to->kind == JX_COLLECTIVE_PERMUTE
                     ? jx_mesh_pairs(arena, mesh, axes,
                                     ((const jx_p_ppermute *)eqn->typed)->perm)
                     : jx_mesh_groups(arena, mesh, axes, within);
    return to->groups.count || to->kind == JX_COLLECTIVE_PERMUTE
               ? JX_COLLECTIVE_FITS
               : JX_COLLECTIVE_NO_AXES;
}

const jx_mesh *jx_collective_mesh(const jx_program *program, const jx_eqn *eqn)
{
    const jx_bound_axes *axes = eqn->ctx ? eqn->ctx->axes : NULL;

    return axes && axes->mesh >= 0 && axes->mesh < program->nmeshes
               ? &program->meshes[axes->mesh]
               : NULL;
}

jx_collective_kind jx_collective_kind_of(const jx_eqn *eqn)
{
    jx_groups within;
    jx_collective is = {0};

    if (!jx_is_collective(eqn) || (!eqn->typed && eqn->nins))
        return 0; /* none, or one that typing refused */
    if (!of_stablehlo(eqn, &is))
        of_jax(eqn, &is, &within);
    return is.kind;
}

bool jx_is_collective(const jx_eqn *eqn)
{
    switch (eqn->prim->id) {
    case JX_PRIM_stablehlo_all_reduce:
    case JX_PRIM_stablehlo_all_gather:
    case JX_PRIM_stablehlo_reduce_scatter:
    case JX_PRIM_stablehlo_all_to_all:
    case JX_PRIM_stablehlo_collective_permute:
    case JX_PRIM_stablehlo_collective_broadcast:
    case JX_PRIM_stablehlo_ragged_all_to_all:
    case JX_PRIM_stablehlo_partition_id:
    case JX_PRIM_stablehlo_replica_id: return true;
    case JX_PRIM_pvary: return false;
    default: return jx_eqn_mesh_axes(eqn).count > 0;
    }
}
