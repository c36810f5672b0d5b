/* mesh_parts.h - a shard_map in the making; shared by the
 * transformations of one. */
#ifndef JX_MESH_PARTS_H
#define JX_MESH_PARTS_H

#include "frontend/ir/build.h"
#include "frontend/ir/mesh.h"

/* Specs in the making. */
typedef struct jx_specs {
    jx_program *program;
    int count;
    const jx_value **at;
} jx_specs;

/* Room for that many; `at` is NULL without memory. */
jx_specs jx_specs_new(jx_program *program, int most);
/* The spec of operand, or result, `i` of an equation. */
const jx_value *jx_spec_in(const jx_eqn *eqn, int i);
const jx_value *jx_spec_out(const jx_eqn *eqn, int i);
static inline void jx_specs_add(jx_specs *to, const jx_value *spec)
{
    to->at[to->count++] = spec;
}

/* The spec with a new axis in front, which is whole. */
const jx_value *jx_spec_behind(jx_program *program, const jx_value *spec);
/* ... with that entry for it. */
const jx_value *jx_spec_after(jx_program *program, const jx_value *first,
                              const jx_value *spec);
/* That cuts the first axis by these; by none, if there are none. */
const jx_value *jx_spec_along(jx_program *program, jx_axis_names axes);

/* The parameters of a shard_map like this, of another body and other specs. */
jx_params jx_shard_map_like(jx_program *program, const jx_eqn *eqn,
                            const jx_jaxpr *body, const jx_specs *ins,
                            const jx_specs *outs);

/* The axes that a shard_map binds and a spec leaves out, in the order of the
 * mesh, and how many devices they have together. */
jx_axis_names jx_unmentioned(const jx_program *program, const jx_eqn *eqn,
                             const jx_sharding *spec, int64_t *devices);

/* ---- collectives, at the body's place */

/* The axes as a parameter. */
void jx_put_axes(jx_params *p, const char *name, jx_axis_names axes);
/* A sum over these axes where types say nothing of them, and where they do. */
jx_atom jx_mesh_psum(jx_body *b, jx_atom a, jx_axis_names axes);
jx_atom jx_mesh_psum_invariant(jx_body *b, jx_atom a, jx_axis_names axes);
/* The same value, that varies over these axes from there on; as it is if
 * there are none. */
jx_atom jx_mesh_pvary(jx_body *b, jx_atom a, jx_axis_names axes);
/* The axes of `of` over which a type does not vary. */
jx_axis_names jx_names_missing(jx_program *program, jx_names of,
                               const jx_aval *aval);

/* The same type, that varies over these axes, too. */
const jx_aval *jx_aval_over(jx_program *program, const jx_aval *aval,
                            jx_axis_names more);

#endif
