/* mesh.h - axes of meshes: where they are bound, and whom a collective joins.
 *
 * A shard_map binds axes of its mesh for all that its body runs.  What a
 * collective over these axes does depends on them, and its equation alone does
 * not say them: so each equation inside has them in its context, from where
 * they travel with it. */
#ifndef JX_MESH_H
#define JX_MESH_H

#include "frontend/ir/params.h"

typedef struct jx_bound_axes {
    int mesh;            /* index in the program's meshes */
    jx_axis_names names; /* of this shard_map and of those around it */
    bool checked;        /* check_vma: types say over which axes values vary */
} jx_bound_axes;

/* Puts them into the contexts of a program that has just been read.  What a
 * jaxpr does that stands in two places which bind other axes is not known, and
 * stays without.  False without memory. */
bool jx_program_bind_axes(jx_program *program);

/* The context of equations that a shard_map's body gets. */
const jx_eqn_ctx *jx_context_inside(jx_program *program, const jx_eqn *eqn);

/* The axes that a shard_map binds. */
jx_axis_names jx_newly_manual(const jx_program *program, const jx_eqn *eqn);
/* The mesh of a shard_map, or of a sdy.manual_computation; NULL:
 * there is none. */
const jx_mesh *jx_eqn_mesh(const jx_program *program, const jx_eqn *eqn);

/* The same axes, of the same sizes. */
bool jx_mesh_alike(const jx_mesh *a, const jx_mesh *b);
/* An axis by its name; -1: there is none. */
int jx_mesh_axis(const jx_mesh *mesh, const char *name);
bool jx_axis_is_among(jx_axis_names names, const char *name);

/* How many devices a mesh has; 0: none, or more than `most`. */
int64_t jx_mesh_devices(const jx_mesh *mesh, int64_t most);
/* Where a device stands along an axis; the last axis is the fastest. */
int64_t jx_mesh_stand(const jx_mesh *mesh, int64_t device, int axis);

/* The devices that a collective over these axes joins, group by group, the
 * first axis being the slowest in each; `within` (axis_index_groups, none if
 * empty) cuts each group by places in it.  A group in which there are more
 * than in others, or that names a place that there is not, is the caller's
 * to refuse: such places are -1.  No groups without memory, or if the mesh
 * has not the axes. */
jx_groups jx_mesh_groups(jx_arena *arena, const jx_mesh *mesh,
                         jx_axis_names axes, jx_groups within);
/* What a ppermute sends, from device to device.  Its places count the devices
 * of a group by their numbers, whatever the order of the axes, and from the end
 * if they are negative, as JAX does. */
jx_groups jx_mesh_pairs(jx_arena *arena, const jx_mesh *mesh,
                        jx_axis_names axes, jx_groups places);

#endif
