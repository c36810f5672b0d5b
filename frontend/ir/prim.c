/* prim.c - see prim.h. */
#include "frontend/ir/prim.h"

#include <stdlib.h>
#include <string.h>

#define N JX_ANY_COUNT
static const jx_prim prims[JX_NPRIMS] = {
    [JX_PRIM_unknown] = {JX_PRIM_unknown, "unknown", N, N},
#define PRIM(id, name, nins, nouts, params, type, plan, ...)                   \
    [JX_PRIM_##id] = {JX_PRIM_##id, name, nins, nouts},
#include "frontend/ir/prims.def"
#undef PRIM
};

/* A perfect hash is not worth it: a reader looks each name up once. */
const jx_prim *jx_prim_named(jx_ctx *ctx, const char *name)
{
    for (int i = 1; i < JX_NPRIMS; i++)
        if (strcmp(prims[i].name, name) == 0)
            return &prims[i];
    return jx_prim_unknown(ctx, name);
}

const jx_prim *jx_prim_unknown(jx_ctx *ctx, const char *name)
{
    jx_prim *prim = JX_NEW(ctx->arena, jx_prim);

    if (prim)
        *prim = (jx_prim){JX_PRIM_unknown, jx_intern_text(ctx, name), N, N};
    return prim;
}

const jx_prim *jx_prim_of(jx_prim_id id)
{
    return &prims[id < JX_NPRIMS ? id : JX_PRIM_unknown];
}

bool jx_prim_in_family(jx_prim_id id, const char *family)
{
    static const char *const families[JX_NPRIMS] = {
        [JX_PRIM_unknown] = "",
#define PRIM(id, name, nins, nouts, params, type, plan, ...)                   \
    [JX_PRIM_##id] = #plan,
#include "frontend/ir/prims.def"
#undef PRIM
    };

    return strcmp(families[id], family) == 0;
}

bool jx_prim_rearranges(jx_prim_id id)
{
    switch (id) {
    case JX_PRIM_broadcast_in_dim:
    case JX_PRIM_reshape:
    case JX_PRIM_squeeze:
    case JX_PRIM_expand_dims:
    case JX_PRIM_transpose:
    case JX_PRIM_rev:
    case JX_PRIM_slice: return true;
    default: return false;
    }
}

bool jx_prim_decomposes(jx_prim_id id)
{
    switch (id) {
    case JX_PRIM_cholesky:
    case JX_PRIM_lu:
    case JX_PRIM_qr:
    case JX_PRIM_geqrf:
    case JX_PRIM_svd:
    case JX_PRIM_eigh:
    case JX_PRIM_eig:
    case JX_PRIM_schur:
    case JX_PRIM_hessenberg:
    case JX_PRIM_tridiagonal: return true;
    default: return false;
    }
}

bool jx_prim_solves(jx_prim_id id)
{
    switch (id) {
    case JX_PRIM_triangular_solve:
    case JX_PRIM_tridiagonal_solve:
    case JX_PRIM_custom_linear_solve: return true;
    default: return false;
    }
}

bool jx_prim_is_remat(jx_prim_id id)
{
    return id == JX_PRIM_checkpoint || id == JX_PRIM_remat2;
}
