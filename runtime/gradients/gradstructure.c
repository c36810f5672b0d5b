/* gradstructure.c - see gradding.h: what the code of a rule shows without running it. */
#include "runtime/gradients/gradding.h"

#include <stdlib.h>

static bool *mark(bool *of, jx_atom atom)
{
    return atom.var ? &of[atom.var->id] : NULL;
}

/* Whether a result may depend on any of these inputs: by the equations, each of which
 * takes all of its operands to all of its results.  Without memory it may. */
static bool depends(const jx_jaxpr *jaxpr, int out, int first, int count)
{
    bool *reached = calloc((size_t)jaxpr->nvars + 1, sizeof *reached), any = true;
    const bool *result;

    if (!reached)
        return true;
    for (int i = first; i < first + count && i < jaxpr->nins; i++)
        reached[jaxpr->vars[jaxpr->nconsts + i]->id] = true;
    for (int e = 0; e < jaxpr->neqns; e++) {
        const jx_eqn *eqn = &jaxpr->eqns[e];
        bool takes = false;
        for (int i = 0; i < eqn->nins; i++) {
            const bool *in = mark(reached, eqn->ins[i]);
            takes = takes || (in && *in);
        }
        for (int i = 0; takes && i < eqn->nouts; i++)
            reached[eqn->outs[i]->id] = true;
    }
    result = mark(reached, jaxpr->outs[out]);
    any = result && *result;
    free(reached);
    return any;
}

/* Whether any tangent out of a jvp rule depends on that tangent. */
static bool uses_tangent(const jx_gradding *c, int tangent)
{
    const jx_jaxpr *jvp = c->pattern->jvp.jaxpr;

    for (int i = c->rule->nouts; i < jvp->nouts; i++)
        if (depends(jvp, i, tangent, 1))
            return true;
    return false;
}

/* Whether the cotangent of an operand depends on any cotangent. */
static bool has_cotangent(const jx_gradding *c, int operand)
{
    const jx_rule_pattern *p = c->pattern;
    const jx_jaxpr *bwd = p->bwd.jaxpr;
    int place = operand - c->rule->nconsts, out = 0;

    if (p->ct_zeros && p->ct_zeros[place] == '1')
        return false;
    for (int i = 0; i < place; i++)
        out += !(p->ct_zeros && p->ct_zeros[i] == '1');
    return out >= bwd->nouts || depends(bwd, out, p->nres, bwd->nins - p->nres);
}

int jx_grad_ignored(const jx_gradding *c)
{
    int tangent = c->rule->nins - c->rule->nconsts;

    for (int s = 0; s < c->in.count; s++)
        if (c->rule->vjp ? !c->pulling && !has_cotangent(c, c->in.port[s])
                         : !uses_tangent(c, tangent + s))
            return s;
    return -1;
}
