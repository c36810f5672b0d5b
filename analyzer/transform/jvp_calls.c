/* jvp_calls.c - derivatives of what runs jaxprs. */
#include "analyzer/transform/jvp_parts.h"

#include <string.h>

static bool *mask_of(jx_jvp *t, const jx_atom *atoms, int count)
{
    bool *mask = JX_NEW_ARRAY(jx_jvp_arena(t), count + 1, bool);

    for (int i = 0; mask && i < count; i++)
        mask[i] = jx_is_made(atoms[i]);
    return mask;
}

static int count_of(const bool *mask, int n)
{
    int count = 0;

    for (int i = 0; i < n; i++)
        count += mask[i];
    return count;
}

/* Operands and results in the making. */
typedef struct call {
    jx_jvp *t;
    int nins, nouts;
    jx_atom *ins;
    const jx_aval **outs;
} call;

static bool begin_call(jx_jvp *t, call *c)
{
    *c = (call){.t = t};
    c->ins = JX_NEW_ARRAY(jx_jvp_arena(t), 2 * t->eqn->nins + 1, jx_atom);
    c->outs =
        JX_NEW_ARRAY(jx_jvp_arena(t), 2 * t->eqn->nouts + 1, const jx_aval *);
    return c->ins && c->outs;
}

/* The operands from `first` to `end`, then the tangents of those that have one
 * (of operand `first`, `mask` is first), written out where they are zero. */
static void pass(call *c, int first, int end, const bool *mask)
{
    for (int i = first; i < end; i++)
        c->ins[c->nins++] = c->t->ins[i];
    for (int i = first; mask && i < end; i++)
        if (mask[i - first])
            c->ins[c->nins++] = jx_jvp_full(c->t, i);
}

static void expect(call *c, int first, int end, const bool *mask)
{
    for (int i = first; i < end; i++)
        c->outs[c->nouts++] = c->t->eqn->outs[i]->aval;
    for (int i = first; i < end; i++)
        if (mask[i])
            c->outs[c->nouts++] = c->t->eqn->outs[i]->aval;
}

static void take(jx_jvp *t, const jx_atom *made, int *next, int first, int end,
                 const bool *mask)
{
    for (int i = first; i < end; i++)
        t->outs[i] = made[(*next)++];
    for (int i = first; i < end; i++)
        if (mask[i])
            t->touts[i] = made[(*next)++];
}

static bool finish(call *c, const jx_prim *prim, jx_params *p, int group,
                   const bool *mask)
{
    const jx_atom *made;
    int next = 0, n = c->t->eqn->nouts;

    expect(c, 0, group, mask);
    expect(c, group, n, mask);
    made = jx_build_as(c->t->b, prim, p, c->nins, c->ins, c->nouts, c->outs);
    if (!made)
        return false;
    take(c->t, made, &next, 0, group, mask);
    take(c->t, made, &next, group, n, mask);
    return true;
}

/* ---- calls */

/* What runs once is called by the name it has; remat stays what it is. */
bool jx_jvp_call(jx_jvp *t)
{
    static const char *const without[] = {"jaxpr", NULL};
    const jx_closed *callee = jx_eqn_callee(t->eqn);
    bool is_remat = jx_prim_is_remat(t->eqn->prim->id);
    jx_params p = {.program = t->b->in->program};
    const jx_jvped *made;
    bool *mask;
    call c;

    if (!callee)
        return jx_jvp_none(t);
    mask = mask_of(t, t->tins, t->eqn->nins);
    made = mask ? jx_jvp_jaxpr(t->of, callee->jaxpr,
                               jx_jvp_one_group(callee->jaxpr), mask, NULL)
                : NULL;
    if (!made || !begin_call(t, &c))
        return false;
    if (is_remat)
        p = jx_jvp_others(t, without);
    else
        jx_put_text(&p, "name", jx_eqn_name(t->eqn));
    jx_put(&p, "jaxpr", jx_jvp_closed(t, made->jaxpr, callee));
    pass(&c, 0, t->eqn->nins, mask);
    return finish(&c, is_remat ? t->eqn->prim : jx_prim_of(JX_PRIM_jit), &p, 0,
                  made->outs);
}

/* ---- functions with a batching rule: its derivative is what that of the
 * function is over an axis */

/* The text, and what it says of the masked, once more behind it. */
static const jx_value *twice(jx_jvp *t, const jx_value *flags, int n,
                             const bool *mask)
{
    jx_buffer text = jx_ctx_text(t->of->make->to->ctx);
    const char *kept;

    if (!flags || flags->tag != JX_V_TEXT || (int)strlen(flags->text) != n)
        return NULL;
    jx_buffer_puts(&text, flags->text);
    for (int i = 0; i < n; i++)
        if (mask[i])
            jx_buffer_putc(&text, flags->text[i]);
    kept = jx_arena_take(jx_jvp_arena(t), &text);
    return kept ? jx_value_add(&t->of->make->to->values,
                               &(jx_value){.tag = JX_V_TEXT,
                                           .text = jx_intern_text(
                                               t->of->make->to->ctx, kept)})
                : NULL;
}

/* One pattern, differentiated; gives NULL where it has no jaxpr to be.  *outs
 * gains what has a tangent in it; with `last` it is made. */
static bool pattern_along(jx_jvp *t, const jx_value *from, const bool *ins,
                          bool *outs, const jx_value **made)
{
    static const char *const keys[] = {"ins", "jaxpr", "outs", "size"};
    const jx_value *rule = jx_value_field(from, "jaxpr"), *fields[4];
    jx_program *program = t->of->make->to;
    const jx_jvped *along;
    jx_value like;

    if (!rule && made && jx_value_field(from, "error")) {
        fields[0] = jx_value_field(from, "error");
        fields[1] = twice(t, jx_value_field(from, "ins"), t->eqn->nins, ins);
        if (fields[1])
            *made = jx_value_of_record(program, "Batched", 2,
                                       (const char *const[]){"error", "ins"},
                                       fields);
        return *made != NULL;
    }
    if (!rule || rule->tag != JX_V_JAXPR || rule->jaxpr->nins != t->eqn->nins ||
        rule->jaxpr->nouts != t->eqn->nouts)
        return true;
    along = jx_jvp_jaxpr(t->of, rule->jaxpr, jx_jvp_one_group(rule->jaxpr), ins,
                         made ? outs : NULL);
    if (!along)
        return false;
    for (int i = 0; i < t->eqn->nouts; i++)
        outs[i] |= along->outs[i];
    if (!made)
        return true;
    like = *rule;
    like.jaxpr = along->jaxpr;
    fields[0] = twice(t, jx_value_field(from, "ins"), t->eqn->nins, ins);
    fields[1] = jx_value_add(&program->values, &like);
    fields[2] = twice(t, jx_value_field(from, "outs"), t->eqn->nouts, outs);
    fields[3] = jx_value_field(from, "size");
    if (fields[0] && fields[1] && fields[2] && fields[3])
        *made = jx_value_of_record(program, "Batched", 4, keys, fields);
    return jx_ok(program->ctx);
}

bool jx_jvp_custom_vmap_call(jx_jvp *t)
{
    const jx_p_custom_vmap *s = t->eqn->typed;
    const jx_value *all = s->batched;
    int npatterns = all && all->tag == JX_V_TUPLE ? all->count : 0, count = 0;
    const jx_value **patterns =
        JX_NEW_ARRAY(jx_jvp_arena(t), npatterns + 1, const jx_value *);
    bool *mask = mask_of(t, t->tins, t->eqn->nins);
    bool *outs = JX_NEW_ARRAY(jx_jvp_arena(t), t->eqn->nouts + 1, bool);
    jx_params p = {.program = t->b->in->program};
    const jx_jvped *made;
    call c;

    if (!patterns || !mask || !outs || !begin_call(t, &c))
        return false;
    made = jx_jvp_jaxpr(t->of, s->call.jaxpr, jx_jvp_one_group(s->call.jaxpr),
                        mask, NULL);
    for (int i = 0; made && i < t->eqn->nouts; i++)
        outs[i] = made->outs[i];
    for (int i = 0; made && i < npatterns; i++) /* what one gives, all do */
        if (!pattern_along(t, all->items[i], mask, outs, NULL))
            return false;
    for (int i = 0; made && i < npatterns; i++) {
        const jx_value *pattern = NULL;
        if (!pattern_along(t, all->items[i], mask, outs, &pattern))
            return false;
        if (pattern)
            patterns[count++] = pattern;
    }
    if (made)
        made = jx_jvp_jaxpr(t->of, s->call.jaxpr,
                            jx_jvp_one_group(s->call.jaxpr), mask, outs);
    if (!made)
        return false;
    jx_put(&p, "call", jx_jvp_closed(t, made->jaxpr, &s->call));
    jx_put(&p, "batched", jx_value_of_tuple(p.program, count, patterns));
    pass(&c, 0, t->eqn->nins, mask);
    return finish(&c, t->eqn->prim, &p, 0, outs);
}

/* ---- cond */

bool jx_jvp_cond(jx_jvp *t)
{
    static const char *const without[] = {"branches", NULL};
    const jx_closed_list branches =
        ((const jx_p_cond *)t->eqn->typed)->branches;
    int nouts = t->eqn->nouts;
    const jx_value **made =
        JX_NEW_ARRAY(jx_jvp_arena(t), branches.count + 1, const jx_value *);
    bool *mask = mask_of(t, t->tins + 1, t->eqn->nins - 1);
    bool *outs = JX_NEW_ARRAY(jx_jvp_arena(t), nouts + 1, bool);
    jx_params p = jx_jvp_others(t, without);
    call c;

    if (!made || !mask || !outs || !begin_call(t, &c))
        return false;
    for (int last = 0; last < 2; last++) /* what one branch gives, all do */
        for (int i = 0; i < branches.count; i++) {
            const jx_jaxpr *from = branches.at[i].jaxpr;
            const jx_jvped *d = jx_jvp_jaxpr(
                t->of, from, jx_jvp_one_group(from), mask, last ? outs : NULL);
            if (!d)
                return false;
            for (int k = 0; !last && k < nouts; k++)
                outs[k] |= d->outs[k];
            if (last)
                made[i] = jx_jvp_closed(t, d->jaxpr, &branches.at[i]);
        }
    jx_put(&p, "branches",
           jx_value_of_tuple(t->b->in->program, branches.count, made));
    c.ins[c.nins++] = t->ins[0];
    pass(&c, 1, t->eqn->nins, mask);
    return finish(&c, t->eqn->prim, &p, 0, outs);
}

/* ---- loops: what is carried has a tangent if it gets one in any turn */

/* The derivative of a loop's body where those of `carry` have one that come of
 * it: `ins` is of the body's inputs, whose carried ones begin at `first`. */
static const jx_jvped *settled(jx_jvp *t, const jx_jaxpr *body,
                               jx_jvp_groups groups, bool *ins, int first,
                               int ncarry)
{
    for (;;) {
        bool *outs = JX_NEW_ARRAY(jx_jvp_arena(t), body->nouts + 1, bool);
        const jx_jvped *made;
        bool more = false;
        for (int i = 0; outs && i < ncarry; i++)
            outs[i] = ins[first + i];
        made = outs ? jx_jvp_jaxpr(t->of, body, groups, ins, outs) : NULL;
        if (!made)
            return NULL;
        for (int i = 0; i < ncarry; i++) {
            more |= made->outs[i] && !ins[first + i];
            ins[first + i] |= made->outs[i];
        }
        if (!more)
            return made;
    }
}

bool jx_jvp_while(jx_jvp *t)
{
    static const char *const without[] = {"body_jaxpr", "cond_jaxpr",
                                          "body_nconsts", NULL};
    const jx_p_while *w = t->eqn->typed;
    const jx_jaxpr *body = w->body_jaxpr.jaxpr, *cond = w->cond_jaxpr.jaxpr;
    int nc = (int)w->cond_nconsts, nb = (int)w->body_nconsts, n = t->eqn->nouts;
    bool *mask = mask_of(t, t->tins + nc, nb + n);
    const jx_aval **more =
        JX_NEW_ARRAY(jx_jvp_arena(t), n + 1, const jx_aval *);
    jx_params p = jx_jvp_others(t, without);
    const jx_jvped *made;
    int count = 0;
    call c;

    if (!mask || !more || !begin_call(t, &c) ||
        !(made = settled(t, body, (jx_jvp_groups){{nb, nb, nb + n}, {0, n}},
                         mask, nb, n)))
        return false;
    for (int i = 0; i < n; i++)
        if (mask[nb + i])
            more[count++] = t->eqn->outs[i]->aval;
    jx_put(&p, "body_jaxpr", jx_jvp_closed(t, made->jaxpr, &w->body_jaxpr));
    jx_put(
        &p, "cond_jaxpr",
        jx_jvp_closed(t, jx_jvp_widened(t, cond, count, more), &w->cond_jaxpr));
    jx_put_int(&p, "body_nconsts", nb + count_of(mask, nb));
    pass(&c, 0, nc, NULL);
    pass(&c, nc, nc + nb, mask);
    pass(&c, nc + nb, t->eqn->nins, mask + nb);
    return finish(&c, t->eqn->prim, &p, 0, made->outs);
}

bool jx_jvp_scan(jx_jvp *t)
{
    static const char *const without[] = {"jaxpr", "num_consts", "num_carry",
                                          "linear", NULL};
    const jx_p_scan *s = t->eqn->typed;
    const jx_jaxpr *body = s->jaxpr.jaxpr;
    int nc = (int)s->num_consts, n = (int)s->num_carry;
    bool *mask = mask_of(t, t->tins, t->eqn->nins);
    jx_params p = jx_jvp_others(t, without);
    const jx_jvp_groups groups = {{nc, nc + n, body->nins}, {n, body->nouts}};
    const jx_value **linear =
        JX_NEW_ARRAY(jx_jvp_arena(t), 2 * t->eqn->nins + 1, const jx_value *);
    const jx_jvped *made;
    call c;

    if (!mask || !linear || !begin_call(t, &c) ||
        !(made = settled(t, body, groups, mask, nc, n)))
        return false;
    pass(&c, 0, nc, mask);
    pass(&c, nc, nc + n, mask + nc);
    pass(&c, nc + n, t->eqn->nins, mask + nc + n);
    for (int i = 0; i < c.nins; i++)
        linear[i] =
            jx_value_add(&t->b->in->program->values,
                         &(jx_value){.tag = JX_V_BOOL, .boolean = false});
    jx_put(&p, "jaxpr", jx_jvp_closed(t, made->jaxpr, &s->jaxpr));
    jx_put_int(&p, "num_consts", nc + count_of(mask, nc));
    jx_put_int(&p, "num_carry", n + count_of(mask + nc, n));
    jx_put(&p, "linear", jx_value_of_tuple(t->b->in->program, c.nins, linear));
    return finish(&c, t->eqn->prim, &p, n, made->outs);
}

/* ---- reductions by any function: of pairs of a value and its tangent, of
 * which the initial ones have the tangent 0 */

static bool by_function(jx_jvp *t, const jx_closed *function)
{
    static const char *const without[] = {"jaxpr", "consts", NULL};
    const jx_jaxpr *from = function->jaxpr;
    int n = t->eqn->nouts;
    bool *mask = JX_NEW_ARRAY(jx_jvp_arena(t), 2 * n + 1, bool);
    const jx_value *consts = jx_eqn_param(t->eqn, "consts");
    jx_params p = jx_jvp_others(t, without);
    const jx_jvped *made;
    call c;

    for (int i = 0; mask && i < n; i++)
        mask[i] = mask[n + i] =
            jx_dtype_is_inexact(t->eqn->outs[i]->aval->dtype);
    if (!mask || !begin_call(t, &c) ||
        !(made = jx_jvp_jaxpr(
              t->of, from, (jx_jvp_groups){{n, n, 2 * n}, {0, n}}, mask, mask)))
        return false;
    jx_put(&p, "jaxpr", jx_jvp_closed(t, made->jaxpr, function));
    if (consts)
        jx_put(&p, "consts", consts);
    pass(&c, 0, n, mask);
    pass(&c, n, 2 * n, mask);
    return finish(&c, t->eqn->prim, &p, 0, mask);
}

bool jx_jvp_reduce(jx_jvp *t)
{
    return by_function(t, &((const jx_p_reduce *)t->eqn->typed)->jaxpr);
}

bool jx_jvp_reduce_window(jx_jvp *t)
{
    return by_function(t, &((const jx_p_reduce_window *)t->eqn->typed)->jaxpr);
}

/* ---- solves */

/* The tangent of matvec at what was solved for, along its constants' tangents;
 * an element without one is nothing. */
static bool moved(jx_jvp *t, const jx_p_custom_linear_solve *p, int n,
                  jx_atom *products)
{
    const jx_closed *matvec = &p->jaxprs.part[JX_SOLVE_MATVEC];
    const jx_jaxpr *from = matvec->jaxpr;
    int consts = jx_solve_count(&p->const_lengths, JX_SOLVE_MATVEC), next;
    bool *mask = JX_NEW_ARRAY(jx_jvp_arena(t), from->nins + 1, bool);
    jx_params params = {.program = t->b->in->program};
    const jx_jvped *made;
    const jx_atom *given;
    call c;

    for (int i = 0; mask && i < consts; i++)
        mask[i] = jx_is_made(t->tins[i]);
    if (!mask || !count_of(mask, consts))
        return mask != NULL;
    made = jx_jvp_jaxpr(
        t->of, from,
        (jx_jvp_groups){{consts, consts, from->nins}, {0, from->nouts}}, mask,
        NULL);
    if (!made || !begin_call(t, &c))
        return false;
    pass(&c, 0, consts, mask);
    for (int i = 0; i < n; i++)
        c.ins[c.nins++] = t->outs[i];
    next = from->nouts;
    jx_put_text(&params, "name", "matvec");
    jx_put(&params, "jaxpr", jx_jvp_closed(t, made->jaxpr, matvec));
    given = jx_build_all(t->b, jx_prim_of(JX_PRIM_jit), &params, c.nins, c.ins,
                         from->nouts + count_of(made->outs, from->nouts));
    for (int i = 0; given && i < from->nouts; i++)
        if (i < n && made->outs[i])
            products[i] = given[next++];
    return given != NULL;
}

/* A dx = db - dA x.  What a solve gives beside x has no tangent. */
bool jx_jvp_custom_linear_solve(jx_jvp *t)
{
    const jx_p_custom_linear_solve *p = t->eqn->typed;
    int consts = p->const_lengths.before[JX_SOLVE_PARTS],
        n = t->eqn->nins - consts;
    jx_atom *ins = JX_NEW_ARRAY(jx_jvp_arena(t), t->eqn->nins + 1, jx_atom);
    jx_atom *products = JX_NEW_ARRAY(jx_jvp_arena(t), n + 1, jx_atom);
    const jx_atom *made;

    if (!ins || !products || !jx_jvp_primal(t) || !moved(t, p, n, products))
        return false;
    for (int i = 0; i < t->eqn->nins; i++)
        ins[i] = t->ins[i];
    for (int i = 0; i < n; i++) {
        jx_atom rhs = jx_math_sum(t->b, t->tins[consts + i],
                                  jx_math_1(t->b, JX_PRIM_neg, products[i]));
        ins[consts + i] =
            jx_is_made(rhs)
                ? rhs
                : jx_build_zeros(t->b, jx_atom_aval(t->ins[consts + i]));
    }
    if (!(made = jx_jvp_again(t, ins)))
        return false;
    for (int i = 0; i < n; i++)
        t->touts[i] = made[i];
    return true;
}

/* ---- custom rules */

/* The pattern with the fewest tangents among those that have all
 * that are not zero. */
static const jx_rule_pattern *pattern_for(const jx_rule *rule,
                                          const jx_atom *tangents)
{
    const jx_rule_pattern *best = NULL;
    int n = rule->nins - rule->nconsts, fewest = n + 1;

    for (int i = 0; i < rule->npatterns; i++) {
        const jx_rule_pattern *p = &rule->patterns[i];
        int count = 0;
        bool fits = !p->error && (rule->vjp ? p->bwd.jaxpr : p->jvp.jaxpr);
        for (int k = 0; fits && k < n; k++) {
            bool zero = p->zeros && p->zeros[k] == '1';
            fits = !zero || !jx_is_made(tangents[k]);
            count += !zero;
        }
        if (fits && count < fewest) {
            best = p;
            fewest = count;
        }
    }
    return best;
}

bool jx_rule_closes_over(const jx_rule *rule, int operand)
{
    bool never = rule->npatterns > 0;

    for (int i = 0; operand >= rule->nconsts && i < rule->npatterns; i++) {
        const char *zeros = rule->patterns[i].zeros;
        never = never && zeros && zeros[operand - rule->nconsts] == '1';
    }
    return operand < rule->nconsts || never;
}

/* Looks at what the function closes over; *done where nothing else has a
 * tangent.  False: told. */
static bool look_at_closure(jx_jvp *t, const jx_rule *rule, bool *done)
{
    bool closes = false, takes = false;

    for (int i = 0; rule && i < t->eqn->nins; i++)
        if (jx_is_made(t->tins[i]))
            *(jx_rule_closes_over(rule, i) ? &closes : &takes) = true;
    *done = closes && !takes;
    if (!closes)
        return true;
    /* of a custom_vjp function, JAX says so itself */
    if (!t->of->closing || rule->vjp)
        return jx_jvp_refuse(
            t, "it closes over a value that is differentiated, which JAX "
               "refuses");
    JX_PUSH(jx_jvp_arena(t), t->of->closing, t->eqn);
    return !*done || jx_jvp_primal(t);
}

/* The pattern that a rule is asked for here; NULL, told. */
static const jx_rule_pattern *asked_for(jx_jvp *t, const jx_rule *rule)
{
    const jx_rule_pattern *found;

    if (!rule) {
        jx_jvp_refuse(t, "its rule is not in the program (PRM002)");
        return NULL;
    }
    found = pattern_for(rule, t->tins + rule->nconsts);
    if (!found)
        jx_jvp_refuse(
            t,
            rule->npatterns && rule->patterns[0].error
                ? rule->patterns[0].error
                : "its rule is not in the program for these tangents (PRM002)");
    return found;
}

static bool by_jvp_rule(jx_jvp *t, const jx_rule *rule)
{
    const jx_rule_pattern *found;
    jx_params p = {.program = t->b->in->program};
    bool *outs = JX_NEW_ARRAY(jx_jvp_arena(t), t->eqn->nouts + 1, bool);
    int consts, n;
    bool done;
    call c;

    if (t->of->stripped)
        return jx_jvp_call(t);
    if (!look_at_closure(t, rule, &done))
        return false;
    if (done)
        return true;
    found = asked_for(t, rule);
    if (!found || !outs || !begin_call(t, &c))
        return false;
    consts = rule->nconsts;
    n = rule->nins - consts;
    for (int i = consts; i < consts + n; i++)
        c.ins[c.nins++] = t->ins[i];
    for (int i = 0; i < n; i++)
        if (!found->zeros || found->zeros[i] != '1')
            c.ins[c.nins++] = jx_jvp_full(t, consts + i);
    for (int i = 0; i < t->eqn->nouts; i++)
        outs[i] = !found->out_zeros || found->out_zeros[i] != '1';
    jx_put(&p, "jaxpr", jx_jvp_closed(t, found->jvp.jaxpr, &found->jvp));
    jx_put_text(&p, "name", rule->name);
    return finish(&c, jx_prim_of(JX_PRIM_jit), &p, 0, outs);
}

/* What the rule's fwd gives: residuals that it computes, then the results. */
static const jx_atom *run_fwd(jx_jvp *t, const jx_rule *rule,
                              const jx_rule_pattern *p)
{
    jx_params params = {.program = t->b->in->program};

    jx_put_text(&params, "name", rule->name);
    jx_put(&params, "jaxpr", jx_jvp_closed(t, p->fwd.jaxpr, &p->fwd));
    if (p->fwd.jaxpr->nins != rule->nins - rule->nconsts) {
        jx_jvp_refuse(t, "its fwd takes other operands than it does");
        return NULL;
    }
    return jx_build_all(t->b, jx_prim_of(JX_PRIM_jit), &params,
                        p->fwd.jaxpr->nins, t->ins + rule->nconsts,
                        p->fwd.jaxpr->nouts);
}

static const jx_value *bools(jx_jvp *t, int n, const bool *at)
{
    jx_program *program = t->b->in->program;
    const jx_value **items =
        JX_NEW_ARRAY(jx_jvp_arena(t), n + 1, const jx_value *);

    for (int i = 0; items && i < n; i++)
        items[i] = jx_value_add(
            &program->values, &(jx_value){.tag = JX_V_BOOL, .boolean = at[i]});
    return items ? jx_value_of_tuple(program, n, items) : NULL;
}

/* The parameters of `custom_lin`, and what its results are. */
static jx_params linear_params(jx_jvp *t, const jx_rule *rule,
                               const jx_rule_pattern *found, call *c)
{
    int n = rule->nins - rule->nconsts;
    bool *zeros = JX_NEW_ARRAY(jx_jvp_arena(t), n + 1, bool);
    const jx_value **avals =
        JX_NEW_ARRAY(jx_jvp_arena(t), t->eqn->nouts + 1, const jx_value *);
    jx_params p = {.program = t->b->in->program};

    for (int i = 0; zeros && i < n; i++)
        zeros[i] = !jx_is_made(t->tins[rule->nconsts + i]);
    for (int i = 0; avals && i < t->eqn->nouts; i++)
        if (jx_has_tangent(t->eqn->outs[i]->aval)) {
            avals[c->nouts] = jx_value_add(
                &p.program->values,
                &(jx_value){.tag = JX_V_AVAL, .aval = t->eqn->outs[i]->aval});
            c->outs[c->nouts++] = t->eqn->outs[i]->aval;
        }
    jx_put_int(&p, "num_res", found->nres);
    jx_put(&p, "bwd", jx_jvp_closed(t, found->bwd.jaxpr, &found->bwd));
    jx_put(&p, "in_zeros", zeros ? bools(t, n, zeros) : NULL);
    jx_put(&p, "out_avals",
           avals ? jx_value_of_tuple(p.program, c->nouts, avals) : NULL);
    jx_put_bool(&p, "symbolic_zeros", rule->symbolic_zeros);
    if (found->ct_zeros)
        jx_put_text(&p, "ct_zeros", found->ct_zeros);
    return p;
}

/* No result has a tangent: nobody asks the rule. */
static bool gives_none(const jx_jvp *t)
{
    for (int i = 0; i < t->eqn->nouts; i++)
        if (jx_has_tangent(t->eqn->outs[i]->aval))
            return false;
    return true;
}

bool jx_jvp_custom_jvp_call(jx_jvp *t)
{
    if (gives_none(t))
        return jx_jvp_primal(t);
    return by_jvp_rule(t,
                       ((const jx_p_custom_jvp *)t->eqn->typed)->jvp_jaxpr_fun);
}

/* Of the rule's fwd, and of what its bwd is the transpose: a `custom_lin` of
 * residuals and tangents, which nothing but a transposition can take away. */
static bool by_vjp_rule(jx_jvp *t, const jx_rule *rule)
{
    const jx_rule_pattern *found;
    const jx_atom *fwd, *made;
    int own, next = 0;
    jx_params p;
    bool done;
    call c;

    if (t->of->stripped)
        return jx_jvp_call(t);
    if (!look_at_closure(t, rule, &done))
        return false;
    if (done)
        return true;
    found = asked_for(t, rule);
    fwd = found ? run_fwd(t, rule, found) : NULL;
    own = fwd ? found->fwd.jaxpr->nouts - t->eqn->nouts : -1;
    if (own < 0 || !begin_call(t, &c))
        return false;
    c.ins =
        JX_NEW_ARRAY(jx_jvp_arena(t), found->nres + t->eqn->nins + 1, jx_atom);
    if (!c.ins)
        return false;
    for (int i = 0; i < t->eqn->nouts; i++)
        t->outs[i] = fwd[own + i];
    for (int i = 0; i < found->nres; i++) {
        int from = found->fwds ? found->fwds[i] : -1;
        if (from < 0 ? next >= own : from >= t->eqn->nins)
            return jx_jvp_refuse(t, "its residuals are not what its fwd gives");
        c.ins[c.nins++] = from < 0 ? fwd[next++] : t->ins[from];
    }
    for (int i = rule->nconsts; i < t->eqn->nins; i++)
        if (jx_is_made(t->tins[i]))
            c.ins[c.nins++] = t->tins[i];
    p = linear_params(t, rule, found, &c);
    made = jx_build_as(t->b, jx_prim_of(JX_PRIM_custom_lin), &p, c.nins, c.ins,
                       c.nouts, c.outs);
    for (int i = 0, k = 0; made && i < t->eqn->nouts; i++)
        if (jx_has_tangent(t->eqn->outs[i]->aval))
            t->touts[i] = made[k++];
    return made != NULL;
}

bool jx_jvp_custom_vjp_call(jx_jvp *t)
{
    if (gives_none(t))
        return jx_jvp_primal(t);
    return by_vjp_rule(
        t, ((const jx_p_custom_vjp *)t->eqn->typed)->fwd_jaxpr_thunk);
}

/* What it expands to may hide how its results depend on its operands (the
 * bits of a float): its author's rules say how it is differentiated, if
 * there are any. */
bool jx_jvp_hi_call(jx_jvp *t)
{
    const jx_p_hi_call *p = t->eqn->typed;

    if (p->jvp)
        return by_jvp_rule(t, p->jvp);
    if (p->vjp)
        return by_vjp_rule(t, p->vjp);
    return jx_jvp_call(t);
}
