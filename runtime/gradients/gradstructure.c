/* gradstructure.c - see gradding.h: what the code of a rule shows
 * without running it. */
#include "runtime/gradients/gradding.h"

#include <stdlib.h>

static bool *mark(bool *of, jx_atom atom)
{
    return atom.var ? &of[atom.var->id] : NULL;
}

/* Whether an equation is a loop, or runs one. */
static bool loops(const jx_eqn *eqn)
{
    bool any = eqn->prim->id == JX_PRIM_scan || eqn->prim->id == JX_PRIM_while;

    for (int i = 0; i < eqn->nparams && !any; i++)
        any = eqn->params[i].value->tag == JX_V_JAXPR &&
              jx_points_has_loop(eqn->params[i].value->jaxpr);
    return any;
}

/* By variable: whether it may depend on any of these inputs, by the
 * equations, each of which takes all of its operands to all of its results;
 * *loop, unless nobody asks (NULL): one of them is a loop.  To be freed; NULL
 * without memory. */
static bool *reached_from(const jx_jaxpr *jaxpr, int first, int count,
                          bool *loop)
{
    bool *reached = calloc((size_t)jaxpr->nvars + 1, sizeof *reached);

    for (int i = first; reached && i < first + count && i < jaxpr->nins; i++)
        reached[jaxpr->vars[jaxpr->nconsts + i]->id] = true;
    for (int e = 0; reached && e < jaxpr->neqns; e++) {
        const jx_eqn *eqn = &jaxpr->eqns[e];
        bool takes = false;
        for (int i = 0; i < eqn->nins; i++) {
            const bool *in = mark(reached, eqn->ins[i]);
            takes = takes || (in && *in);
        }
        for (int i = 0; takes && i < eqn->nouts; i++)
            reached[eqn->outs[i]->id] = true;
        if (loop && takes && !*loop)
            *loop = loops(eqn);
    }
    return reached;
}

/* Whether a result may depend on any of these inputs.  Without
 * memory it may. */
static bool depends(const jx_jaxpr *jaxpr, int out, int first, int count)
{
    bool any, *reached = reached_from(jaxpr, first, count, NULL);
    const bool *result;

    if (!reached)
        return true;
    result = mark(reached, jaxpr->outs[out]);
    any = result && *result;
    free(reached);
    return any;
}

bool jx_grad_is_unread(const jx_gradding *c, int operand)
{
    const jx_jaxpr *primal = c->rule->primal.jaxpr;

    for (int i = 0; i < primal->nouts; i++)
        if (depends(primal, i, operand, 1))
            return false;
    return true;
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

/* Whether the rule makes something of a span. */
static bool is_used(const jx_gradding *c, int s)
{
    return c->rule->vjp ? c->pulling || has_cotangent(c, c->in.port[s])
                        : uses_tangent(c, c->rule->nins - c->rule->nconsts + s);
}

int jx_grad_ignored(const jx_gradding *c)
{
    for (int s = 0; s < c->in.count; s++) {
        bool used = false; /* or of another one that is the same value */
        for (int k = 0; k < c->in.count && !used; k++)
            used = c->in.spans[k].at == c->in.spans[s].at && is_used(c, k);
        if (!used)
            return s;
    }
    return -1;
}

/* Whether anything that depends on these inputs goes through a loop. */
static bool goes_through_loop(const jx_jaxpr *jaxpr, int first)
{
    bool any = false,
         *reached = reached_from(jaxpr, first, jaxpr->nins - first, &any);

    free(reached);
    return any;
}

bool jx_grad_loops_itself(const jx_gradding *c)
{
    const jx_rule_pattern *p = c->pattern;

    return c->rule->vjp
               ? p->bwd.jaxpr && jx_points_has_loop(p->bwd.jaxpr)
               : p->jvp.jaxpr &&
                     goes_through_loop(p->jvp.jaxpr,
                                       c->rule->nins - c->rule->nconsts);
}

/* Whether one of the rows that a scan takes depends on an input, and is no
 * count of its turns. */
static bool takes_rows(const jx_eqn *eqn, const bool *reached)
{
    const jx_p_scan *scan = eqn->typed;

    if (eqn->prim->id != JX_PRIM_scan || !scan)
        return false;
    for (int64_t i = scan->num_consts + scan->num_carry; i < eqn->nins; i++)
        if (eqn->ins[i].var && reached[eqn->ins[i].var->id] &&
            jx_dtype_is_inexact(eqn->ins[i].var->aval->dtype))
            return true;
    return false;
}

bool jx_grad_takes_rows(const jx_jaxpr *jaxpr)
{
    bool *reached = reached_from(jaxpr, 0, jaxpr->nins, NULL);
    bool any = false, all = reached;

    for (int e = 0; all && e < jaxpr->neqns; e++)
        if (loops(&jaxpr->eqns[e])) {
            any = true;
            all = takes_rows(&jaxpr->eqns[e], reached);
        }
    free(reached);
    return any && all;
}

/* ---- residuals */

/* Marks what the results of a jaxpr need. */
static void mark_needed(const jx_jaxpr *jaxpr, bool *needed)
{
    for (int i = 0; i < jaxpr->nouts; i++)
        if (jaxpr->outs[i].var)
            needed[jaxpr->outs[i].var->id] = true;
    for (int e = jaxpr->neqns - 1; e >= 0; e--) {
        const jx_eqn *eqn = &jaxpr->eqns[e];
        bool any = eqn->nouts == 0;
        for (int i = 0; i < eqn->nouts; i++)
            any = any || needed[eqn->outs[i]->id];
        for (int i = 0; any && i < eqn->nins; i++)
            if (eqn->ins[i].var)
                needed[eqn->ins[i].var->id] = true;
    }
}

/* The bytes of a value of known sizes, else -1. */
static int64_t bytes_of(const jx_aval *aval)
{
    int64_t bytes = (int64_t)jx_dtype_of(aval->dtype)->bytes, size;

    for (int k = 0; k < aval->rank; k++)
        if (!jx_dim_is_int(aval->shape[k], &size) ||
            __builtin_mul_overflow(bytes, size, &bytes))
            return -1;
    return bytes;
}

const char *jx_grad_unused_residuals(jx_ctx *ctx, const jx_rule *rule)
{
    const jx_rule_pattern *p = rule->npatterns ? &rule->patterns[0] : NULL;
    const jx_jaxpr *bwd = rule->vjp && p && !p->error ? p->bwd.jaxpr : NULL;
    bool *needed = bwd ? calloc((size_t)bwd->nvars + 1, sizeof *needed) : NULL;
    jx_buffer text = jx_ctx_text(ctx);
    int count = 0, next = 0;

    if (!needed) {
        if (bwd)
            jx_starved(ctx);
        return NULL;
    }
    mark_needed(bwd, needed);
    for (int r = 0; r < p->nres && r < bwd->nins; r++) {
        const jx_var *var = bwd->vars[bwd->nconsts + r];
        bool is_input = p->fwds && p->fwds[r] >= 0;
        /* What is a number in the code is there without being saved. */
        bool is_known = !is_input && next < p->fwd.jaxpr->nouts &&
                        !p->fwd.jaxpr->outs[next].var;
        next += !is_input;
        if (is_input || is_known || needed[var->id])
            continue;
        int64_t bytes = bytes_of(var->aval);
        jx_buffer_printf(&text, "%snumber %d", count++ ? ", " : "", r);
        if (bytes >= 0)
            jx_buffer_printf(&text, " (%lld bytes)", (long long)bytes);
        else
            jx_buffer_puts(&text, " (as many bytes as its sizes make)");
    }
    free(needed);
    const char *list = jx_arena_take(ctx->arena, &text);
    return count ? list : NULL;
}
