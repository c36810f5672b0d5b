/* prim.h - primitives by id; the facts are in prims.def. */
#ifndef JX_PRIM_H
#define JX_PRIM_H

#include "frontend/base/ctx.h"

typedef enum jx_prim_id {
    JX_PRIM_unknown = 0, /* not in the table: known by its name alone */
#include "frontend/ir/prim_ids.h" /* made of prims.def: see Makefile */
    JX_NPRIMS,
} jx_prim_id;

enum { JX_ANY_COUNT = -1 };

typedef struct jx_prim {
    jx_prim_id id;
    const char *name; /* as JAX spells it */
    int nins, nouts;  /* or JX_ANY_COUNT */
} jx_prim;

/* Known primitives are static; an unknown name gets a jx_prim of its own in
 * the context's arena (id JX_PRIM_unknown).  NULL without memory. */
const jx_prim *jx_prim_named(jx_ctx *ctx, const char *name);
/* One of that name of which nothing is known; NULL without memory. */
const jx_prim *jx_prim_unknown(jx_ctx *ctx, const char *name);
const jx_prim *jx_prim_of(jx_prim_id id);

/* Whether prims.def plans it in this family ("elementwise"). */
bool jx_prim_in_family(jx_prim_id id, const char *family);
/* Whether its result has the elements of its first operand, each as it was and
 * none beside, in other places, some left out or repeated. */
bool jx_prim_rearranges(jx_prim_id id);
/* Whether it takes a matrix apart into factors: what it costs is cubic, and
 * what it gives can turn by much where the matrix changes a little. */
bool jx_prim_decomposes(jx_prim_id id);
/* Whether it solves linear systems. */
bool jx_prim_solves(jx_prim_id id);
/* Whether it is remat, which has two names: what it calls is computed again
 * for a gradient. */
bool jx_prim_is_remat(jx_prim_id id);

#endif
