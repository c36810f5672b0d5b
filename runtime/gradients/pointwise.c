/* pointwise.c - see pointwise.h: a walk that knows which values depend
 * on the inputs. */
#include "runtime/gradients/pointwise.h"

#include "frontend/ir/params.h"

typedef struct walk {
    jx_ctx *ctx;
    const jx_aval *shape; /* of the inputs */
    jx_pointwise_fault *fault;
} walk;

/* What becomes one operation for each element of its result is an
 * elementwise kernel. */
static bool is_elementwise(jx_prim_id prim)
{
    return jx_prim_in_family(prim, "elementwise");
}

static bool has_shape(const walk *w, const jx_aval *aval)
{
    if (aval->kind != JX_AVAL_ARRAY || aval->rank != w->shape->rank)
        return false;
    for (int i = 0; i < aval->rank; i++)
        if (aval->shape[i] != w->shape->shape[i])
            return false;
    return true;
}

static bool refuse(walk *w, const jx_eqn *eqn, const char *why)
{
    if (!w->fault->why)
        *w->fault = (jx_pointwise_fault){eqn, why};
    return false;
}

static bool take_jaxpr(walk *w, const jx_jaxpr *jaxpr, const bool *ins,
                       bool *outs);

/* A jaxpr that is run again on the first `n` values that it gave, which are its
 * inputs from number `at` on, until no more of these depend on the inputs. */
static bool take_loop(walk *w, const jx_jaxpr *body, bool *ins, int at, int n,
                      bool *outs)
{
    for (bool changed = true; changed;) {
        if (!take_jaxpr(w, body, ins, outs))
            return false;
        changed = false;
        for (int i = 0; i < n; i++) {
            changed |= outs[i] && !ins[at + i];
            ins[at + i] |= outs[i];
        }
    }
    return true;
}

static bool *mask(walk *w, int n, const bool *from, int count)
{
    bool *to = JX_NEW_ARRAY(w->ctx->arena, n + 1, bool);

    for (int i = 0; to && i < count; i++)
        to[i] = from[i];
    return to;
}

/* What is carried may depend on the inputs; what it is made from in
 * turns may not. */
static bool take_scan(walk *w, const jx_eqn *eqn, const bool *ins, bool *outs)
{
    const jx_p_scan *p = eqn->typed;
    const jx_jaxpr *body = p->jaxpr.jaxpr;
    int nc = (int)p->num_consts, n = (int)p->num_carry;
    bool *now = mask(w, body->nins, ins, nc + n);

    for (int i = nc + n; i < eqn->nins; i++)
        if (ins[i])
            return refuse(w, eqn, "goes along the elements of an input");
    if (!now || !take_loop(w, body, now, nc, n, outs))
        return false;
    for (int i = n; i < eqn->nouts; i++)
        if (outs[i])
            return refuse(w, eqn, "stacks what depends on an input");
    return true;
}

static bool take_while(walk *w, const jx_eqn *eqn, const bool *ins, bool *outs)
{
    const jx_p_while *p = eqn->typed;
    const jx_jaxpr *cond = p->cond_jaxpr.jaxpr, *body = p->body_jaxpr.jaxpr;
    int nc = (int)p->cond_nconsts, n = eqn->nouts;
    bool *now = mask(w, body->nins, ins + nc, body->nins), *asks;
    bool goes_on = false;

    if (!now || !take_loop(w, body, now, body->nins - n, n, outs))
        return false;
    asks = mask(w, cond->nins, ins, nc);
    for (int i = 0; asks && i < n; i++)
        asks[nc + i] = now[body->nins - n + i];
    if (!asks || !take_jaxpr(w, cond, asks, &goes_on))
        return false;
    return !goes_on ||
           refuse(w, eqn, "goes on for all elements while one says so");
}

static bool take_cond(walk *w, const jx_eqn *eqn, const bool *ins, bool *outs)
{
    const jx_p_cond *p = eqn->typed;
    bool *gives = mask(w, eqn->nouts, NULL, 0);

    if (ins[0])
        return refuse(w, eqn, "takes one branch for all elements");
    for (int i = 0; gives && i < p->branches.count; i++) {
        if (!take_jaxpr(w, p->branches.at[i].jaxpr, ins + 1, gives))
            return false;
        for (int k = 0; k < eqn->nouts; k++)
            outs[k] |= gives[k];
    }
    return gives != NULL;
}

/* A value seen in its own shape. */
static bool is_same(const walk *w, const jx_eqn *eqn)
{
    switch (eqn->prim->id) {
    case JX_PRIM_broadcast_in_dim:
    case JX_PRIM_reshape:
    case JX_PRIM_copy:
    case JX_PRIM_stop_gradient:
    case JX_PRIM_optimization_barrier:
    case JX_PRIM_pvary:
    case JX_PRIM_bitcast_convert_type:
        return has_shape(w, jx_atom_aval(eqn->ins[0]));
    default: return false;
    }
}

static bool take_eqn(walk *w, const jx_eqn *eqn, const bool *ins, bool *outs)
{
    const jx_closed *callee = eqn->typed ? jx_eqn_callee(eqn) : NULL;

    if (callee)
        return take_jaxpr(w, callee->jaxpr, ins, outs);
    if (eqn->typed && eqn->prim->id == JX_PRIM_scan)
        return take_scan(w, eqn, ins, outs);
    if (eqn->typed && eqn->prim->id == JX_PRIM_while)
        return take_while(w, eqn, ins, outs);
    if (eqn->typed && eqn->prim->id == JX_PRIM_cond)
        return take_cond(w, eqn, ins, outs);
    for (int i = 0; i < eqn->nouts; i++) {
        outs[i] = true;
        if ((!is_elementwise(eqn->prim->id) && !is_same(w, eqn)) ||
            !has_shape(w, eqn->outs[i]->aval))
            return refuse(w, eqn, "is not elementwise");
    }
    return true;
}

static bool take_jaxpr(walk *w, const jx_jaxpr *jaxpr, const bool *ins,
                       bool *outs)
{
    bool *depends = mask(w, jaxpr->nvars, NULL, 0);

    if (!depends)
        return false;
    for (int i = 0; i < jaxpr->nins; i++)
        depends[jaxpr->nconsts + i] = ins[i];
    for (int i = 0; i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        bool *takes = mask(w, eqn->nins, NULL, 0),
             *gives = mask(w, eqn->nouts, NULL, 0);
        bool any = false;
        if (!takes || !gives)
            return false;
        for (int k = 0; k < eqn->nins; k++)
            any |= takes[k] = eqn->ins[k].var && depends[eqn->ins[k].var->id];
        if (any && !take_eqn(w, eqn, takes, gives))
            return false;
        for (int k = 0; k < eqn->nouts; k++)
            depends[eqn->outs[k]->id] = gives[k];
    }
    for (int i = 0; i < jaxpr->nouts; i++)
        outs[i] = jaxpr->outs[i].var && depends[jaxpr->outs[i].var->id];
    return true;
}

static bool is_float(const jx_aval *aval)
{
    return aval->kind == JX_AVAL_ARRAY && jx_dtype_is_float(aval->dtype);
}

bool jx_is_pointwise(jx_ctx *ctx, const jx_jaxpr *jaxpr,
                     jx_pointwise_fault *fault)
{
    walk w = {.ctx = ctx, .fault = fault};
    const bool all[] = {true, true};
    bool depends = false;

    *fault = (jx_pointwise_fault){0};
    if (jaxpr->nins < 1 || jaxpr->nins > 2)
        return refuse(&w, NULL,
                      jx_arena_printf(ctx->arena,
                                      "it takes %d arguments, not "
                                      "one float, or two",
                                      jaxpr->nins));
    if (jaxpr->nouts != 1)
        return refuse(&w, NULL,
                      jx_arena_printf(ctx->arena,
                                      "it gives %d results, not one",
                                      jaxpr->nouts));
    w.shape = jaxpr->vars[jaxpr->nconsts]->aval;
    for (int i = 0; i < jaxpr->nins; i++) {
        const jx_aval *in = jaxpr->vars[jaxpr->nconsts + i]->aval;
        if (!is_float(in) || in->dtype != w.shape->dtype || !has_shape(&w, in))
            return refuse(&w, NULL,
                          jaxpr->nins == 1
                              ? "its argument is no float"
                              : "its arguments are not two floats of "
                                "one dtype and shape");
    }
    if (!is_float(jx_atom_aval(jaxpr->outs[0])) ||
        !has_shape(&w, jx_atom_aval(jaxpr->outs[0])))
        return (w.shape->rank == 0 || take_jaxpr(&w, jaxpr, all, &depends)) &&
               refuse(&w, NULL,
                      "its result is no float of its argument's shape");
    return w.shape->rank == 0 || take_jaxpr(&w, jaxpr, all, &depends);
}

bool jx_code_is_pointwise(jx_ctx *ctx, const jx_jaxpr *jaxpr)
{
    jx_pointwise_fault fault = {0};
    walk w = {.ctx = ctx, .fault = &fault};
    bool *ins = mask(&w, jaxpr->nins, NULL, 0),
         *outs = mask(&w, jaxpr->nouts, NULL, 0);

    if (!ins || !outs || !jaxpr->nins)
        return false;
    w.shape = jaxpr->vars[jaxpr->nconsts]->aval;
    for (int i = 0; i < jaxpr->nins; i++) {
        const jx_aval *in = jaxpr->vars[jaxpr->nconsts + i]->aval;
        if (in->kind != JX_AVAL_ARRAY || !has_shape(&w, in))
            return false;
        ins[i] = true;
    }
    return take_jaxpr(&w, jaxpr, ins, outs);
}
