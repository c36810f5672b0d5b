/* batch_custom.c - batching of what has rules of its own: function and
 * rule alike, so that the derivative of the batched function is the
 * batched derivative. */
#include "analyzer/transform/batch_parts.h"

#include "analyzer/transform/making.h"
#include "analyzer/transform/refine.h"

#include <string.h>

/* A call by a rule on its way.  All its results have the axis, of the function
 * and of its rule. */
typedef struct call {
    jx_batch *t;
    /* of the operands that the rule takes, its constants left out */
    const bool *has;
    int nins, nouts; /* of these operands, and results */
} call;

static bool *no_mask(jx_batch *t, int n)
{
    return JX_NEW_ARRAY(jx_batch_arena(t), n + 1, bool);
}

/* All from `first` on. */
static bool *all_from(jx_batch *t, int first, int n)
{
    bool *mask = no_mask(t, n);

    for (int i = first; mask && i < n; i++)
        mask[i] = true;
    return mask;
}

static bool is_one(const char *zeros, int i)
{
    return zeros && zeros[i] == '1';
}

/* ---- custom_jvp */

/* A rule's jvp takes primals and the tangents that are not zero,
 * and gives both. */
static bool batch_jvp(call *c, const jx_rule_pattern *from, jx_rule_pattern *to)
{
    const jx_jaxpr *jaxpr = from->jvp.jaxpr;
    bool *ins = no_mask(c->t, jaxpr->nins);
    int n = c->nins;
    const jx_batched *made;

    for (int i = 0; ins && i < c->nins && i < jaxpr->nins; i++) {
        ins[i] = c->has[i];
        if (!is_one(from->zeros, i) && n < jaxpr->nins)
            ins[n++] = c->has[i];
    }
    made = ins ? jx_batch_jaxpr(c->t->of, jaxpr, ins,
                                all_from(c->t, 0, jaxpr->nouts))
               : NULL;
    if (made)
        to->jvp = jx_making_closed_like(made->jaxpr, &from->jvp);
    return made != NULL;
}

/* ---- custom_vjp */

/* What a bwd gives for an operand without the axis is the sum over it. */
static const jx_jaxpr *summed(jx_batch *t, const jx_batched *bwd,
                              const bool *sums)
{
    static const int64_t front = 0;
    const jx_jaxpr *from = bwd->jaxpr;
    jx_body *body = jx_body_new(t->b->in, NULL);
    jx_atom *atoms =
        JX_NEW_ARRAY(jx_batch_arena(t), from->nins + from->nouts + 1, jx_atom);
    jx_atom *outs = atoms ? atoms + from->nins : NULL;

    if (!body || !atoms)
        return NULL;
    for (int i = 0; i < from->nins; i++)
        atoms[i] = jx_body_input(body, from->vars[from->nconsts + i]->aval);
    if (!jx_making_enclose((jx_making *)(void *)t->b->in, body, from, atoms,
                           outs))
        return NULL;
    for (int i = 0; i < from->nouts; i++) {
        jx_params p = {.program = t->b->in->program};
        jx_put_ints(&p, "axes", (jx_ints){1, &front});
        jx_put_none(&p, "out_sharding");
        jx_body_result(
            body, sums[i] ? jx_build(body, JX_PRIM_reduce_sum, &p, 1, &outs[i])
                          : outs[i]);
    }
    return jx_body_finish(body, jx_no_atoms, from->function);
}

/* A bwd of residuals and cotangents that have the axis as `ins` says; what it
 * gives for operand i has it if `has` says so, is a sum if not, and for
 * `unused` ones anything. */
static const jx_jaxpr *batch_bwd(jx_batch *t, const jx_jaxpr *from,
                                 const bool *ins, int n, const bool *has,
                                 const bool *unused, const char *ct_zeros)
{
    bool *wanted = no_mask(t, from->nouts), *sums = no_mask(t, from->nouts);
    const jx_batched *made;
    bool any = false;
    int next = 0;

    for (int i = 0; wanted && i < n && next < from->nouts; i++)
        if (!is_one(ct_zeros, i))
            wanted[next++] = has[i];
    made = wanted && sums ? jx_batch_jaxpr(t->of, from, ins, wanted) : NULL;
    if (!made)
        return NULL;
    next = 0;
    for (int i = 0; i < n && next < from->nouts; i++)
        if (!is_one(ct_zeros, i)) {
            sums[next] = made->outs[next] && !has[i] && !(unused && unused[i]);
            any |= sums[next++];
        }
    return any ? summed(t, made, sums) : made->jaxpr;
}

/* A fwd gives residuals, but for those that are operands, and
 * then the results. */
static bool batch_vjp(call *c, const jx_rule_pattern *from, jx_rule_pattern *to)
{
    jx_batch *t = c->t;
    const jx_jaxpr *fwd = from->fwd.jaxpr, *bwd = from->bwd.jaxpr;
    int own = fwd->nouts - c->nouts, next = 0;
    const jx_batched *made;
    bool *ins;

    if (fwd->nins != c->nins || own < 0 || from->nres > bwd->nins)
        return jx_batch_refuse(t, "its rule does not fit it");
    ins = all_from(t, from->nres, bwd->nins);
    made = jx_batch_jaxpr(t->of, fwd, c->has, all_from(t, own, fwd->nouts));
    if (!ins || !made)
        return false;
    for (int i = 0; i < from->nres; i++) {
        int operand = from->fwds ? from->fwds[i] : -1;
        if (operand < 0 ? next >= own : operand >= t->eqn->nins)
            return jx_batch_refuse(t,
                                   "its residuals are not what its fwd gives");
        ins[i] = operand < 0 ? made->outs[next++] : t->has[operand];
    }
    bwd = batch_bwd(t, bwd, ins, c->nins, c->has, NULL, from->ct_zeros);
    to->fwd = jx_making_closed_like(made->jaxpr, &from->fwd);
    if (bwd)
        to->bwd = jx_making_closed_like(bwd, &from->bwd);
    return bwd != NULL;
}

/* ---- both */

static bool batch_patterns(call *c, const jx_rule *from, jx_rule *to)
{
    jx_rule_pattern *patterns = JX_NEW_ARRAY(
        jx_batch_arena(c->t), from->npatterns + 1, jx_rule_pattern);

    for (int i = 0; patterns && i < from->npatterns; i++) {
        const jx_rule_pattern *p = &from->patterns[i];
        patterns[i] = *p;
        if (p->error)
            continue;
        if (p->jvp.jaxpr && !batch_jvp(c, p, &patterns[i]))
            return false;
        if (p->fwd.jaxpr && p->bwd.jaxpr && !batch_vjp(c, p, &patterns[i]))
            return false;
    }
    to->patterns = patterns;
    return patterns != NULL;
}

/* The parameter that is the rule over the axis. */
static const jx_value *new_rule(jx_batch *t, const jx_value *rule,
                                const jx_batched *primal)
{
    const jx_rule *from = rule->rule;
    const jx_aval **ins =
        JX_NEW_ARRAY(jx_batch_arena(t), from->nins + 1, const jx_aval *);
    call c = {.t = t,
              .has = t->has + from->nconsts,
              .nins = t->eqn->nins - from->nconsts,
              .nouts = t->eqn->nouts};
    jx_batched_rule *made;
    bool met;

    made = ins ? jx_batch_rule_of(t->of, rule, t->has, &met) : NULL;
    if (!made || met)
        return made ? made->value : NULL;
    for (int i = 0; i < from->nins; i++)
        ins[i] = t->has[i] ? jx_batch_aval(t, from->ins[i]) : from->ins[i];
    made->to->ins = ins;
    made->to->primal = jx_making_closed_like(primal->jaxpr, &from->primal);
    return batch_patterns(&c, from, made->to) ? made->value : NULL;
}

static bool batch_rule(jx_batch *t, const jx_closed *primal,
                       const jx_rule *rule, const char *parameter)
{
    const char *const without[] = {"call_jaxpr", rule ? parameter : NULL, NULL};
    int nouts = t->eqn->nouts;
    const jx_aval **outs =
        JX_NEW_ARRAY(jx_batch_arena(t), nouts + 1, const jx_aval *);
    const jx_batched *made =
        jx_batch_jaxpr(t->of, primal->jaxpr, t->has, all_from(t, 0, nouts));
    jx_params p = jx_batch_others(t, without);

    if (!made || !outs)
        return false;
    if (rule && rule->nins != t->eqn->nins)
        return jx_batch_refuse(t, "its rule does not fit it");
    jx_put(&p, "call_jaxpr", jx_batch_closed(t, made->jaxpr, primal));
    if (rule)
        jx_put(&p, parameter,
               new_rule(t, jx_eqn_param(t->eqn, parameter), made));
    for (int i = 0; i < nouts; i++)
        outs[i] = jx_batch_aval(t, jx_batch_out(t, i));
    return jx_batch_give(t, jx_build_as(t->b, t->eqn->prim, &p, t->eqn->nins,
                                        t->ins, nouts, outs));
}

bool jx_batch_custom_jvp_call(jx_batch *t)
{
    const jx_p_custom_jvp *s = t->eqn->typed;

    return batch_rule(t, &s->call_jaxpr, s->jvp_jaxpr_fun, "jvp_jaxpr_fun");
}

bool jx_batch_custom_vjp_call(jx_batch *t)
{
    const jx_p_custom_vjp *s = t->eqn->typed;

    return batch_rule(t, &s->call_jaxpr, s->fwd_jaxpr_thunk, "fwd_jaxpr_thunk");
}

static bool is_true(const jx_value *list, int i)
{
    return list && list->tag == JX_V_TUPLE && i < list->count &&
           list->items[i]->tag == JX_V_BOOL && list->items[i]->boolean;
}

bool jx_batch_custom_lin(jx_batch *t)
{
    static const char *const without[] = {"bwd", "out_avals", NULL};
    const jx_p_custom_lin *s = t->eqn->typed;
    int nres = (int)s->num_res, nouts = t->eqn->nouts, next = nres;
    int n = s->in_zeros ? s->in_zeros->count : 0;
    const jx_jaxpr *from = s->bwd && s->bwd->tag == JX_V_JAXPR ? s->bwd->jaxpr
                                                               : NULL,
                   *bwd;
    bool *ins = from ? no_mask(t, from->nins) : NULL, *has = no_mask(t, n),
         *unused = no_mask(t, n);
    const jx_aval **outs =
        JX_NEW_ARRAY(jx_batch_arena(t), nouts + 1, const jx_aval *);
    const jx_value **avals =
        JX_NEW_ARRAY(jx_batch_arena(t), nouts + 1, const jx_value *);
    jx_params p = jx_batch_others(t, without);

    if (!from)
        return jx_batch_refuse(t, "its rule is not in the program (PRM002)");
    if (!ins || !has || !unused || !outs || !avals ||
        from->nins != nres + nouts)
        return false;
    for (int i = 0; i < from->nins; i++)
        ins[i] = i >= nres || t->has[i];
    for (int i = 0; i < n; i++) {
        unused[i] = is_true(s->in_zeros, i);
        if (!unused[i] && next < t->eqn->nins)
            has[i] = t->has[next++];
    }
    bwd = batch_bwd(t, from, ins, n, has, unused, s->ct_zeros);
    for (int i = 0; i < nouts; i++) {
        outs[i] = jx_batch_aval(t, jx_batch_out(t, i));
        avals[i] = jx_value_add(&p.program->values,
                                &(jx_value){.tag = JX_V_AVAL, .aval = outs[i]});
    }
    jx_put(&p, "out_avals", jx_value_of_tuple(p.program, nouts, avals));
    jx_put(&p, "bwd",
           bwd ? jx_value_add(&p.program->values,
                              &(jx_value){.tag = JX_V_JAXPR,
                                          .jaxpr = bwd,
                                          .count = s->bwd->count,
                                          .items = s->bwd->items})
               : NULL);
    return bwd &&
           jx_batch_give(t, jx_build_as(t->b, t->eqn->prim, &p, t->eqn->nins,
                                        t->ins, nouts, outs));
}

/* ---- functions with a batching rule: traced at any size, once for each choice
 * of operands that have the axis */

/* How many operands get the axis for this pattern alone; -1 if one that has it
 * is to have none. */
static int extra_of(const jx_batch *t, const jx_value *pattern)
{
    const jx_value *ins = jx_value_field(pattern, "ins");
    int extra = 0;

    if (!ins || ins->tag != JX_V_TEXT || (int)strlen(ins->text) != t->eqn->nins)
        return -1;
    for (int i = 0; i < t->eqn->nins; i++) {
        if (t->has[i] && ins->text[i] != '1')
            return -1;
        extra += !t->has[i] && ins->text[i] == '1';
    }
    return extra;
}

static const jx_value *pattern_of(const jx_batch *t)
{
    const jx_value *all = ((const jx_p_custom_vmap *)t->eqn->typed)->batched;
    const jx_value *best = NULL;
    int least = -1;

    for (int i = 0; all && all->tag == JX_V_TUPLE && i < all->count; i++) {
        int extra = extra_of(t, all->items[i]);
        if (extra >= 0 && (least < 0 || extra < least)) {
            least = extra;
            best = all->items[i];
        }
    }
    return best;
}

bool jx_batch_custom_vmap_call(jx_batch *t)
{
    const jx_value *pattern = pattern_of(t), *from, *error, *size, *flags;
    jx_atom *ins = JX_NEW_ARRAY(jx_batch_arena(t), t->eqn->nins + 1, jx_atom);
    const jx_jaxpr *jaxpr;
    const jx_atom *made;
    jx_value like;

    if (!pattern)
        return jx_batch_refuse(
            t, "its batching rule is a function of the traced process, "
               "which is not in the program (PRM002)");
    from = jx_value_field(pattern, "jaxpr");
    error = jx_value_field(pattern, "error");
    size = jx_value_field(pattern, "size");
    flags = jx_value_field(pattern, "outs");
    if (error && error->tag == JX_V_TEXT)
        return jx_batch_refuse(t, error->text);
    if (!from || from->tag != JX_V_JAXPR || !flags || flags->tag != JX_V_TEXT ||
        (int)strlen(flags->text) != t->eqn->nouts ||
        from->jaxpr->nins != t->eqn->nins ||
        from->jaxpr->nouts != t->eqn->nouts)
        return jx_batch_refuse(
            t, "its batching rule does not take and give what it does");
    jaxpr = size && size->tag == JX_V_DIM
                ? jx_refine_jaxpr(t->b->in, from->jaxpr, size->dim, t->size)
                : from->jaxpr;
    like = *from;
    like.jaxpr = jaxpr;
    for (int i = 0; ins && jaxpr && i < t->eqn->nins; i++)
        ins[i] = jx_value_field(pattern, "ins")->text[i] == '1'
                     ? jx_batch_full(t, i)
                     : t->ins[i];
    made =
        ins && jaxpr
            ? jx_batch_call_of(t, t->b, "batched",
                               jx_value_add(&t->b->in->program->values, &like),
                               t->eqn->nins, ins)
            : NULL;
    for (int i = 0; made && i < t->eqn->nouts; i++) {
        t->outs[i] = made[i];
        t->gets[i] = flags->text[i] == '1';
    }
    return made != NULL;
}

/* ---- functions of the process that traced it: called as `vmap_method` says */

static bool is_text(const jx_value *value, const char *text)
{
    return value && value->text && !strcmp(value->text, text);
}

bool jx_batch_callback(jx_batch *t)
{
    static const char *const without[] = {"result_avals", NULL};
    const jx_value *method = jx_eqn_param(t->eqn, "vmap_method");
    int nins = t->eqn->nins, nouts = t->eqn->nouts;
    jx_atom *ins = JX_NEW_ARRAY(jx_batch_arena(t), nins + 1, jx_atom);
    const jx_aval **outs =
        JX_NEW_ARRAY(jx_batch_arena(t), nouts + 1, const jx_aval *);
    const jx_value **avals =
        JX_NEW_ARRAY(jx_batch_arena(t), nouts + 1, const jx_value *);
    jx_params p = jx_batch_others(t, without);

    if (t->eqn->prim->id != JX_PRIM_pure_callback ||
        is_text(method, "sequential") || is_text(method, "sequential_unrolled"))
        return jx_batch_map(t);
    if (!is_text(method, "expand_dims") && !is_text(method, "broadcast_all"))
        return jx_batch_refuse(
            t, "pure_callback can be mapped where its vmap_method is "
               "'sequential', 'sequential_unrolled', 'expand_dims' or "
               "'broadcast_all'");
    if (!ins || !outs || !avals)
        return false;
    for (int i = 0; i < nins; i++) {
        const jx_aval *of = jx_atom_aval(t->ins[i]);
        ins[i] =
            t->has[i] || !is_text(method, "expand_dims")
                ? jx_batch_full(t, i)
                : jx_build_reshape(
                      t->b, t->ins[i], of->rank + 1,
                      jx_batch_sizes(t, jx_body_int(t->b, 1),
                                     (jx_dim_list){of->rank, of->shape, true})
                          .at);
        if (!jx_is_made(ins[i]))
            return false;
    }
    for (int i = 0; i < nouts; i++) {
        outs[i] = jx_batch_aval(t, jx_batch_out(t, i));
        avals[i] = jx_value_add(&p.program->values,
                                &(jx_value){.tag = JX_V_AVAL, .aval = outs[i]});
    }
    jx_put(&p, "result_avals", jx_value_of_tuple(p.program, nouts, avals));
    return jx_batch_give(
        t, jx_build_as(t->b, t->eqn->prim, &p, nins, ins, nouts, outs));
}
