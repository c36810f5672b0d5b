/* verify.c - the rules of the representation. */
#include "frontend/ir/params.h"

/* ---- counts, by primitive */

static const char *counts(jx_ctx *ctx, const jx_eqn *eqn, const char *what,
                          int64_t expected, int64_t found)
{
    if (expected == found)
        return NULL;
    return jx_arena_printf(ctx->arena, "%s: expected %lld %s, found %lld",
                           eqn->prim->name, (long long)expected, what,
                           (long long)found);
}

static const char *first(const char *a, const char *b)
{
    return a ? a : b;
}

static const char *fits(jx_ctx *ctx, const jx_eqn *eqn, const char *name,
                        const jx_closed *closed, int64_t nins, int64_t nouts)
{
    const jx_jaxpr *jaxpr = closed->jaxpr;

    if (!jaxpr)
        return NULL;
    if (jaxpr->nins == nins && jaxpr->nouts == nouts &&
        jaxpr->nconsts == closed->nconsts)
        return NULL;
    return jx_arena_printf(
        ctx->arena,
        "%s: expected '%s' to have %lld inputs, %lld outputs and %d "
        "constants, found %d, %d and %d", eqn->prim->name, name,
        (long long)nins, (long long)nouts, closed->nconsts, jaxpr->nins,
        jaxpr->nouts, jaxpr->nconsts);
}

static const char *misfit_of_scan(jx_ctx *ctx, const jx_eqn *eqn,
                                  const jx_p_scan *p)
{
    if (p->num_consts < 0 || p->num_carry < 0 || p->num_consts > eqn->nins ||
        p->num_carry > eqn->nins - p->num_consts ||
        p->num_carry > eqn->nouts)
        return "scan: num_consts and num_carry exceed the operands";
    return fits(ctx, eqn, "jaxpr", &p->jaxpr, eqn->nins, eqn->nouts);
}

static const char *misfit_of_while(jx_ctx *ctx, const jx_eqn *eqn,
                                   const jx_p_while *p)
{
    if (p->cond_nconsts < 0 || p->body_nconsts < 0 ||
        p->cond_nconsts > eqn->nins ||
        p->body_nconsts > eqn->nins - p->cond_nconsts)
        return "while: cond_nconsts and body_nconsts exceed the operands";
    int64_t carry = eqn->nins - p->cond_nconsts - p->body_nconsts;
    const char *cond = fits(ctx, eqn, "cond_jaxpr", &p->cond_jaxpr,
                            p->cond_nconsts + carry, 1);
    const char *body = fits(ctx, eqn, "body_jaxpr", &p->body_jaxpr,
                            p->body_nconsts + carry, carry);
    return first(first(cond, body),
                 counts(ctx, eqn, "results", carry, eqn->nouts));
}

static const char *misfit_of_cond(jx_ctx *ctx, const jx_eqn *eqn,
                                  const jx_p_cond *p)
{
    const char *why = NULL;

    if (eqn->nins < 1)
        return "cond: expected an operand that chooses the branch";
    for (int i = 0; i < p->branches.count && !why; i++)
        why = fits(ctx, eqn, "branches", &p->branches.at[i], eqn->nins - 1,
                   eqn->nouts);
    return why;
}

/* Operands and initial values, as many of each as results. */
static const char *misfit_of_reduce(jx_ctx *ctx, const jx_eqn *eqn,
                                    const jx_closed *jaxpr)
{
    return first(counts(ctx, eqn, "operands (two per result)",
                        2 * (int64_t)eqn->nouts, eqn->nins),
                 fits(ctx, eqn, "jaxpr", jaxpr, eqn->nins, eqn->nouts));
}

/* By the nested jaxprs that it carries. */
static const char *misfit_of_bodies(jx_ctx *ctx, const jx_eqn *eqn)
{
    const void *p = eqn->typed;
    int nins = eqn->nins, nouts = eqn->nouts;

    switch (eqn->prim->id) {
    case JX_PRIM_jit:
    case JX_PRIM_pjit:
    case JX_PRIM_remat2:
    case JX_PRIM_checkpoint:
        return fits(ctx, eqn, "jaxpr", &((const jx_p_call *)p)->jaxpr, nins,
                    nouts);
    case JX_PRIM_closed_call:
    case JX_PRIM_core_call:
        return fits(ctx, eqn, "call_jaxpr",
                    &((const jx_p_closed_call *)p)->call_jaxpr, nins, nouts);
    case JX_PRIM_custom_jvp_call:
        return fits(ctx, eqn, "call_jaxpr",
                    &((const jx_p_custom_jvp *)p)->call_jaxpr, nins, nouts);
    case JX_PRIM_custom_vjp_call:
        return fits(ctx, eqn, "call_jaxpr",
                    &((const jx_p_custom_vjp *)p)->call_jaxpr, nins, nouts);
    case JX_PRIM_scan:
        return misfit_of_scan(ctx, eqn, p);
    case JX_PRIM_while:
        return misfit_of_while(ctx, eqn, p);
    case JX_PRIM_cond:
        return misfit_of_cond(ctx, eqn, p);
    case JX_PRIM_reduce:
        return misfit_of_reduce(ctx, eqn, &((const jx_p_reduce *)p)->jaxpr);
    case JX_PRIM_reduce_window:
        return misfit_of_reduce(ctx, eqn,
                                &((const jx_p_reduce_window *)p)->jaxpr);
    default:
        return NULL;
    }
}

const char *jx_eqn_misfit(jx_ctx *ctx, const jx_eqn *eqn)
{
    const jx_prim *prim = eqn->prim;
    const char *why = NULL;

    if (prim->nins != JX_ANY_COUNT)
        why = counts(ctx, eqn, "operands", prim->nins, eqn->nins);
    if (!why && prim->nouts != JX_ANY_COUNT)
        why = counts(ctx, eqn, "results", prim->nouts, eqn->nouts);
    if (!why && eqn->typed)
        why = misfit_of_bodies(ctx, eqn);
    return why;
}
