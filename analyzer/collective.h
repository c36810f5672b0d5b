/* collective.h - what a collective does, in whichever words it is said: by JAX
 * over axes of a mesh, by StableHLO over groups of devices. */
#ifndef JX_COLLECTIVE_H
#define JX_COLLECTIVE_H

#include "frontend/ir/params.h"

typedef enum jx_collective_kind {
    JX_COLLECTIVE_REDUCE = 1,
    JX_COLLECTIVE_GATHER,
    JX_COLLECTIVE_SCATTER,
    JX_COLLECTIVE_EXCHANGE,
    JX_COLLECTIVE_PERMUTE,
    JX_COLLECTIVE_BROADCAST,
    JX_COLLECTIVE_NUMBER, /* of the device */
    JX_COLLECTIVE_RAGGED,
} jx_collective_kind;

typedef struct jx_collective {
    jx_collective_kind kind;
    jx_groups groups; /* of devices; of PERMUTE: pairs */
    bool all;         /* no groups: all devices together */
    /* of GATHER, SCATTER and EXCHANGE; of that: where parts are joined */
    int64_t axis, concat;
    /* the axis has one element for each device, and is gone then */
    bool untiled;
    jx_ints reduced; /* axes of each operand that are reduced, too */
    jx_prim_id op;   /* of REDUCE and SCATTER, or ... */
    const jx_value *computation; /* ... this */
    int64_t source;              /* of BROADCAST: its place in each group */
    int64_t split; /* of EXCHANGE: how many parts; 0: as many as devices */
} jx_collective;

typedef enum jx_collective_fault {
    JX_COLLECTIVE_FITS = 0,
    JX_COLLECTIVE_NO_MESH,
    JX_COLLECTIVE_NO_AXES, /* the mesh has not those of the collective */
} jx_collective_fault;

/* What the equation, a collective, does on this mesh (NULL: there is none);
 * groups are in the arena. */
jx_collective_fault jx_collective_of(jx_arena *arena, const jx_mesh *mesh,
                                     const jx_eqn *eqn, jx_collective *to);
/* The groups that a collective of StableHLO names (of
 * collective_permute: its pairs). */
jx_groups jx_collective_groups(const jx_eqn *eqn);
/* The mesh whose axes are bound around it; NULL: there is none. */
const jx_mesh *jx_collective_mesh(const jx_program *program, const jx_eqn *eqn);
/* Its kind alone; 0: it is none. */
jx_collective_kind jx_collective_kind_of(const jx_eqn *eqn);
/* Whether the equation goes over devices, or differs from one to another. */
bool jx_is_collective(const jx_eqn *eqn);

/* How many of `n` elements in a row are member `k`'s, of `count`: parts are as
 * equal as can be, and the first ones have one more. */
static inline int64_t jx_collective_share(int64_t n, int count, int k)
{
    return n / count + (k < n % count);
}

#endif
