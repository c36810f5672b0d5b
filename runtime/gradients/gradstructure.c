/* gradstructure.c - see gradding.h: what the code of a rule shows
 * without running it. */
#include "runtime/gradients/gradding.h"

#include <stdlib.h>

/* Whether an equation is a loop, or runs one. */
static bool loops(const jx_eqn *eqn)
{
    bool any = eqn->prim->id == JX_PRIM_scan || eqn->prim->id == JX_PRIM_while;

    for (int i = 0; i < eqn->nparams && !any; i++)
        any = eqn->params[i].value->tag == JX_V_JAXPR &&
              jx_points_has_loop(eqn->params[i].value->jaxpr);
    return any;
}

static bool is_reached(const bool *reached, jx_atom atom)
{
    return atom.var && reached[atom.var->id];
}

static bool takes_any(const jx_eqn *eqn, const bool *reached)
{
    for (int i = 0; i < eqn->nins; i++)
        if (is_reached(reached, eqn->ins[i]))
            return true;
    return false;
}

/* Marks what depends on what is marked, by the equations, each of which takes
 * all of its operands to all of its results. */
static void spread(const jx_jaxpr *jaxpr, bool *reached)
{
    for (int e = 0; e < jaxpr->neqns; e++) {
        const jx_eqn *eqn = &jaxpr->eqns[e];
        bool takes = takes_any(eqn, reached);
        for (int i = 0; takes && i < eqn->nouts; i++)
            reached[eqn->outs[i]->id] = true;
    }
}

/* By variable: whether it may depend on any of these inputs.  To be freed; NULL
 * without memory. */
static bool *reached_from(const jx_jaxpr *jaxpr, int first, int count)
{
    bool *reached = calloc((size_t)jaxpr->nvars + 1, sizeof *reached);

    for (int i = first; reached && i < first + count && i < jaxpr->nins; i++)
        reached[jaxpr->vars[jaxpr->nconsts + i]->id] = true;
    if (reached)
        spread(jaxpr, reached);
    return reached;
}

/* Whether a result may depend on any of these inputs.  Without
 * memory it may. */
static bool depends(const jx_jaxpr *jaxpr, int out, int first, int count)
{
    bool any, *reached = reached_from(jaxpr, first, count);

    if (!reached)
        return true;
    any = is_reached(reached, jaxpr->outs[out]);
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

/* ---- loops that a derivative goes through */

/* A loop's body, with its operands: constants, what is carried, rows; what a
 * while asks, or NULL. */
typedef struct loop {
    const jx_jaxpr *body, *cond;
    int first, nconsts, ncarry, cond_nconsts;
} loop;

static bool loop_of(const jx_eqn *eqn, loop *to)
{
    if (eqn->typed && eqn->prim->id == JX_PRIM_scan) {
        const jx_p_scan *p = eqn->typed;
        *to = (loop){.body = p->jaxpr.jaxpr,
                     .nconsts = (int)p->num_consts,
                     .ncarry = (int)p->num_carry};
        return true;
    }
    if (eqn->typed && eqn->prim->id == JX_PRIM_while) {
        const jx_p_while *p = eqn->typed;
        *to = (loop){.body = p->body_jaxpr.jaxpr,
                     .cond = p->cond_jaxpr.jaxpr,
                     .first = (int)p->cond_nconsts,
                     .nconsts = (int)p->body_nconsts,
                     .cond_nconsts = (int)p->cond_nconsts};
        to->ncarry = eqn->nins - to->first - to->nconsts;
        return true;
    }
    return false;
}

static const jx_var *input_of(const jx_jaxpr *jaxpr, int i)
{
    return jaxpr->vars[jaxpr->nconsts + i];
}

static bool moves(const jx_var *var)
{
    return jx_dtype_is_inexact(var->aval->dtype);
}

/* Marks what of a body depends on what is marked, over all turns. */
static void spread_over_turns(const loop *l, bool *in)
{
    for (bool more = true; more;) {
        more = false;
        spread(l->body, in);
        for (int k = 0; k < l->ncarry; k++) {
            bool *carried = &in[input_of(l->body, l->nconsts + k)->id];
            if (!*carried && is_reached(in, l->body->outs[k]))
                *carried = more = true;
        }
    }
}

/* Whether a body carries numbers that change and do not depend on what is
 * marked: the turns of something else, which it follows. */
static bool carries_others(const loop *l, const bool *in)
{
    for (int k = 0; k < l->ncarry; k++) {
        const jx_var *var = input_of(l->body, l->nconsts + k);
        if (moves(var) && !in[var->id] && l->body->outs[k].var != var)
            return true;
    }
    return false;
}

static bool asks_carry(const loop *l, const bool *in)
{
    bool asks = false, *reached;

    if (!l->cond)
        return false;
    reached = calloc((size_t)l->cond->nvars + 1, sizeof *reached);
    for (int k = 0; reached && k < l->ncarry; k++)
        reached[input_of(l->cond, l->cond_nconsts + k)->id] =
            in[input_of(l->body, l->nconsts + k)->id];
    if (reached) {
        spread(l->cond, reached);
        asks = is_reached(reached, l->cond->outs[0]);
    }
    free(reached);
    return asks;
}

/* Whether a loop that takes what is marked solves something for it: each turn
 * does the same, to nothing but what depends on it, and adds it again, or ends
 * by what has become of it.  It follows no other loop's turns then, which would
 * be there as rows, by their numbers, or computed once more. */
static bool is_solve(const jx_eqn *eqn, const bool *reached)
{
    bool *in, solves = false, again = false;
    loop l;

    if (!loop_of(eqn, &l) || jx_points_looks_up(l.body))
        return false;
    in = calloc((size_t)l.body->nvars + 1, sizeof *in);
    for (int i = l.first; in && i < eqn->nins; i++) {
        const jx_var *var = input_of(l.body, i - l.first);
        in[var->id] = is_reached(reached, eqn->ins[i]);
        again = again || (in[var->id] && i < l.first + l.nconsts);
        if (i >= l.first + l.nconsts + l.ncarry && moves(var)) {
            free(in);
            return false;
        }
    }
    if (in) {
        spread_over_turns(&l, in);
        solves = !carries_others(&l, in) && (again || asks_carry(&l, in));
    }
    free(in);
    return solves;
}

/* Whether anything that depends on what is marked goes through a loop that may
 * follow the turns of another.  Without memory it is taken to. */
static bool goes_through_loop(const jx_jaxpr *jaxpr, bool *reached)
{
    spread(jaxpr, reached);
    for (int e = 0; e < jaxpr->neqns; e++) {
        const jx_eqn *eqn = &jaxpr->eqns[e];
        const jx_closed *callee = jx_eqn_callee(eqn);
        const jx_jaxpr *inner = callee ? callee->jaxpr : NULL;
        if (!takes_any(eqn, reached) || !loops(eqn) || is_solve(eqn, reached))
            continue;
        if (!inner || inner->nins != eqn->nins)
            return true;
        bool *in = calloc((size_t)inner->nvars + 1, sizeof *in);
        for (int i = 0; in && i < inner->nins; i++)
            in[input_of(inner, i)->id] = is_reached(reached, eqn->ins[i]);
        const bool goes = !in || goes_through_loop(inner, in);
        free(in);
        if (goes)
            return true;
    }
    return false;
}

bool jx_grad_loops_itself(const jx_gradding *c)
{
    const jx_rule_pattern *p = c->pattern;
    const jx_jaxpr *says = c->rule->vjp ? p->bwd.jaxpr : p->jvp.jaxpr;
    const int first = c->rule->vjp ? p->nres : c->rule->nins - c->rule->nconsts;
    bool *reached =
        says ? calloc((size_t)says->nvars + 1, sizeof *reached) : NULL;
    bool goes;

    for (int i = first; reached && i < says->nins; i++)
        reached[input_of(says, i)->id] = true;
    goes = says && (!reached || goes_through_loop(says, reached));
    free(reached);
    return goes;
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
    bool *reached = reached_from(jaxpr, 0, jaxpr->nins);
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
