/* derived.c - see derived.h. */
#include "analyzer/transform/derived.h"

#include "analyzer/transform/live.h"
#include "analyzer/transform/rule_pair.h"
#include "analyzer/transform/split.h"
#include "analyzer/transform/transpose.h"
#include "analyzer/transform/vjp.h"

#include <string.h>

typedef struct deriving {
    jx_making make;
    jx_differentiator as_written, by_rules;
} deriving;

static jx_arena *arena_of(const deriving *d)
{
    return jx_making_arena(&d->make);
}

static bool *mask_of(const deriving *d, int n)
{
    return JX_NEW_ARRAY(arena_of(d), n + 1, bool);
}

/* What can't be made is left out; false only without memory. */
static bool go_on(deriving *d)
{
    jx_ctx *ctx = d->make.to->ctx;

    if (jx_arena_failed(ctx->arena) || ctx->error.kind == JX_E_LIMIT)
        return false;
    jx_error_clear(ctx);
    d->make.eqn = NULL;
    return true;
}

/* Those results of a jaxpr that have a tangent. */
static const bool *inexact_outs(const deriving *d, const jx_jaxpr *of)
{
    bool *mask = mask_of(d, of->nouts);

    for (int i = 0; mask && i < of->nouts; i++)
        mask[i] = jx_has_tangent(jx_atom_aval(of->outs[i]));
    return mask;
}

static jx_closed derivative(deriving *d, jx_differentiator *by,
                            const jx_closed *of, const bool *ins)
{
    const bool *outs = inexact_outs(d, of->jaxpr);
    const jx_jvped *made =
        ins && outs ? jx_jvp_jaxpr(by, of->jaxpr, jx_jvp_one_group(of->jaxpr),
                                   ins, outs)
                    : NULL;

    return made ? jx_making_closed_like(made->jaxpr, of) : (jx_closed){0};
}

static const jx_aval *input_of(const jx_jaxpr *jaxpr, int i)
{
    return jaxpr->vars[jaxpr->nconsts + i]->aval;
}

/* Of the function of a rule, as in jx_derived_rule. */
static bool make_own(deriving *d, jx_differentiator *by, const jx_rule *rule,
                     jx_closed *to)
{
    const jx_jaxpr *of = rule->primal.jaxpr;
    bool *ins = mask_of(d, of->nins), any = false;

    for (int i = rule->nconsts; ins && i < of->nins; i++)
        any |= ins[i] = jx_has_tangent(input_of(of, i));
    if (any)
        *to = derivative(d, by, &rule->primal, ins);
    return go_on(d);
}

/* ---- what a rule says, and its own derivative */

/* bwd of what fwd leaves: takes operands, then cotangents; gives fwd's results
 * as well, if that is wanted. */
static jx_closed pulled_back(deriving *d, const jx_rule *rule,
                             const jx_rule_pattern *p, bool results)
{
    const jx_jaxpr *fwd = p->fwd.jaxpr, *bwd = p->bwd.jaxpr;
    int operands = rule->nins - rule->nconsts, own = fwd->nouts - rule->nouts,
        next = 0;
    int nconsts = p->fwd.nconsts + p->bwd.nconsts;
    jx_body *b = jx_body_new(&d->make.build, NULL);
    jx_atom *all = JX_NEW_ARRAY(
        arena_of(d), fwd->nins + fwd->nouts + bwd->nins + bwd->nouts + 1,
        jx_atom);
    const jx_array **consts =
        JX_NEW_ARRAY(arena_of(d), nconsts + 1, const jx_array *);
    jx_atom *ins = all, *outs = all ? ins + fwd->nins : NULL;
    jx_atom *to = all ? outs + fwd->nouts : NULL,
            *made = all ? to + bwd->nins : NULL;
    const jx_jaxpr *jaxpr;

    if (!b || !all || !consts || fwd->nins != operands || own < 0 ||
        p->nres > bwd->nins)
        return (jx_closed){0};
    for (int i = 0; i < fwd->nins; i++)
        ins[i] = jx_body_input(b, input_of(fwd, i));
    if (!jx_making_enclose(&d->make, b, fwd, ins, outs))
        return (jx_closed){0};
    for (int i = 0; i < p->nres; i++) {
        int from = p->fwds ? p->fwds[i] : -1;
        if (from < 0 ? next >= own : from < rule->nconsts || from >= rule->nins)
            return (jx_closed){0};
        to[i] = from < 0 ? outs[next++] : ins[from - rule->nconsts];
    }
    for (int i = p->nres; i < bwd->nins; i++)
        to[i] = jx_body_input(b, input_of(bwd, i));
    if (!jx_making_enclose(&d->make, b, bwd, to, made))
        return (jx_closed){0};
    for (int i = 0; i < bwd->nouts; i++)
        jx_body_result(b, made[i]);
    for (int i = 0; results && i < rule->nouts; i++)
        jx_body_result(b, outs[own + i]);
    for (int i = 0; i < nconsts; i++)
        consts[i] = i < p->fwd.nconsts ? p->fwd.consts[i]
                                       : p->bwd.consts[i - p->fwd.nconsts];
    jaxpr = jx_body_finish(b, jx_no_atoms, NULL);
    return jaxpr ? (jx_closed){jaxpr, nconsts, consts} : (jx_closed){0};
}

static bool make_next(deriving *d, const jx_rule *rule,
                      const jx_rule_pattern *p, jx_derived_rule *to)
{
    int operands = rule->nins - rule->nconsts;
    bool any = false, *ins;

    to->says = rule->vjp ? pulled_back(d, rule, p, false) : p->jvp;
    ins = to->says.jaxpr ? mask_of(d, to->says.jaxpr->nins) : NULL;
    for (int i = 0; ins && i < operands && i < to->says.jaxpr->nins; i++)
        any |= ins[i] = (!p->zeros || p->zeros[i] != '1') &&
                        jx_has_tangent(input_of(to->says.jaxpr, i));
    if (any)
        to->next = derivative(d, &d->by_rules, &to->says, ins);
    return go_on(d);
}

/* ---- backwards along the tangents */

static bool turn_back(deriving *d, const jx_rule *rule,
                      const jx_rule_pattern *p, const jx_eqn **stuck)
{
    const jx_jaxpr *jvp = p->jvp.jaxpr;
    int operands = rule->nins - rule->nconsts;
    bool *ins = mask_of(d, jvp->nins), *outs = mask_of(d, jvp->nouts), *linear,
         *all;
    jx_splitter splitter;
    jx_transposer transposer;
    const jx_split *split;

    jx_splitter_begin(&splitter, &d->make);
    jx_transposer_begin(&transposer, &d->make);
    for (int i = operands; ins && i < jvp->nins; i++)
        ins[i] = true;
    for (int i = rule->nouts; outs && i < jvp->nouts; i++)
        outs[i] = true;
    split =
        ins && outs ? jx_split_jaxpr(&splitter, jvp, ins, outs, NULL) : NULL;
    if (!split)
        return go_on(d);
    linear = mask_of(d, split->rest->nins);
    all = mask_of(d, split->rest->nouts);
    for (int i = split->nres + split->npassed; linear && i < split->rest->nins;
         i++)
        linear[i] = true;
    for (int i = 0; all && i < split->rest->nouts; i++)
        all[i] = true;
    d->make.failed = NULL;
    if (linear && all &&
        !jx_transpose_jaxpr(&transposer, split->rest, linear, all, linear))
        *stuck = d->make.failed;
    return go_on(d);
}

/* A loop that JAX makes a scan of where its bounds are numbers: it counts
 * from one that is carried to another. */
static bool counts_between(const jx_p_while *p)
{
    const jx_jaxpr *cond = p->cond_jaxpr.jaxpr, *body = p->body_jaxpr.jaxpr;
    const jx_var *upper = NULL;

    if (p->cond_nconsts || cond->neqns != 1 ||
        cond->eqns[0].prim->id != JX_PRIM_lt)
        return false;
    upper = cond->eqns[0].ins[1].var;
    for (int i = 0; upper && i < body->nouts; i++)
        if (cond->vars[cond->nconsts + i] == upper)
            return body->outs[i].var ==
                   body->vars[body->nconsts + (int)p->body_nconsts + i];
    return false;
}

/* A while loop is how somebody writes it who goes forward alone, or whose
 * function has one: its tangents are stuck where the function's own would not
 * be, however its bounds are known. */
static bool is_stuck_in_vain(deriving *d, const jx_rule *rule,
                             const jx_closed *own, const jx_eqn *stuck)
{
    return stuck->prim->id == JX_PRIM_while &&
           (counts_between(stuck->typed) || !own->jaxpr ||
            !jx_vjp_of_jvp(&d->make, own->jaxpr, rule->nins, rule->nouts));
}

/* ---- both as jaxprs that take and give the same */

static bool is_whole(const jx_rule *rule, const jx_rule_pattern *p)
{
    size_t operands = (size_t)(rule->nins - rule->nconsts);

    return !p->error && (!p->zeros || strlen(p->zeros) == operands) &&
           (rule->vjp ? p->fwd.jaxpr && p->bwd.jaxpr : p->jvp.jaxpr != NULL);
}

/* A derivative of a rule's function in the direction in which the rule goes. */
static jx_closed turned(deriving *d, const jx_rule *rule, const jx_closed *own)
{
    const jx_jaxpr *back;

    if (!rule->vjp || !own->jaxpr)
        return *own;
    back = jx_vjp_of_jvp(&d->make, own->jaxpr, rule->nins, rule->nouts);
    return back ? jx_making_closed_like(back, own) : (jx_closed){0};
}

static void make_pair(deriving *d, const jx_rule *rule,
                      const jx_rule_pattern *p, const jx_closed *own,
                      jx_rule_pair *to)
{
    jx_closed says = {0};

    if (own->jaxpr)
        says = rule->vjp ? pulled_back(d, rule, p, true) : p->jvp;
    if (says.jaxpr && !jx_rule_pair_make(&d->make, rule, p, &says, own, to))
        *to = (jx_rule_pair){0};
}

static bool make_pairs(deriving *d, const jx_rule *rule, jx_derived_rule *to)
{
    jx_rule_pair *pairs =
        JX_NEW_ARRAY(arena_of(d), rule->npatterns + 1, jx_rule_pair);
    jx_closed own;

    if (!pairs)
        return false;
    to->pairs = pairs;
    own = turned(d, rule, &to->own);
    for (int i = 0; i < rule->npatterns; i++) {
        const jx_rule_pattern *p = &rule->patterns[i];
        const jx_eqn *stuck = NULL;
        if (!is_whole(rule, p))
            continue;
        if (!rule->vjp && !turn_back(d, rule, p, &stuck))
            return false;
        if (stuck && is_stuck_in_vain(d, rule, &own, stuck))
            stuck = NULL;
        make_pair(d, rule, p, &own, &pairs[i]);
        pairs[i].stuck = stuck;
        if (!go_on(d))
            return false;
    }
    return go_on(d);
}

static bool derive_rule(deriving *d, const jx_rule *rule, jx_derived_rule *to)
{
    const jx_rule_pattern *p = rule->npatterns ? &rule->patterns[0] : NULL;

    if (!make_own(d, &d->as_written, rule, &to->own))
        return false;
    if (p && is_whole(rule, p) && !make_next(d, rule, p, to))
        return false;
    return make_pairs(d, rule, to);
}

/* The program itself: which calls its derivative meets, and what that is; and,
 * if it is asked for, the derivative of that. */
static bool derive_whole(deriving *d, const jx_program *from, bool asked,
                         jx_derived_rule *to)
{
    const jx_jaxpr *entry = from->entry.jaxpr;
    bool *ins = mask_of(d, entry->nins), *again, any = false;

    for (int i = 0; ins && i < entry->nins; i++)
        any |= ins[i] = jx_has_tangent(input_of(entry, i));
    if (!any)
        return go_on(d);
    to->says = derivative(d, &d->by_rules, &from->entry, ins);
    if (!to->says.jaxpr || !asked)
        return go_on(d);
    again = mask_of(d, to->says.jaxpr->nins);
    for (int i = 0; again && i < entry->nins; i++)
        again[i] = ins[i];
    if (again)
        to->next = derivative(d, &d->by_rules, &to->says, again);
    return go_on(d);
}

static bool takes_what_it_closes_over(const jx_eqn *eqn)
{
    for (int i = 0; i < eqn->nparams; i++)
        if (eqn->params[i].value->tag == JX_V_RULE)
            return eqn->params[i].value->rule->nconsts == 0;
    return false;
}

/* What is of no use has no derivative that could be wrong; JAX raises all the
 * same where a rule uses what it closes over. */
static void keep_live(const jx_program *from, jx_derived *to)
{
    const jx_jaxpr *says = to->rules[from->nrules].says.jaxpr;
    jx_live live = {0};
    size_t kept = 0;

    if (!to->closing.count ||
        !jx_live_add(&live, from->ctx->arena, from->entry.jaxpr) ||
        (says && !jx_live_add(&live, from->ctx->arena, says)))
        return;
    for (size_t i = 0; i < to->closing.count; i++)
        if (takes_what_it_closes_over(to->closing.at[i]) ||
            !jx_live_is_dead(&live, to->closing.at[i]))
            to->closing.at[kept++] = to->closing.at[i];
    to->closing.count = kept;
}

/* Whether a derivative may meet a call that closes over what it is of. */
static bool any_closes(const jx_program *of)
{
    for (int i = 0; i < of->nrules; i++)
        for (int k = 0; !of->rules[i]->vjp && k < of->rules[i]->nins; k++)
            if (jx_rule_closes_over(of->rules[i], k))
                return true;
    return false;
}

bool jx_program_derive(const jx_typed *typed, bool whole, jx_derived *to)
{
    jx_program *from = typed->program;
    deriving d;

    *to = (jx_derived){.rules = JX_NEW_ARRAY(from->ctx->arena, from->nrules + 1,
                                             jx_derived_rule)};
    if (!to->rules || !jx_making_begin(&d.make, from))
        return false;
    jx_differentiator_begin(&d.as_written, &d.make, typed, true);
    jx_differentiator_begin(&d.by_rules, &d.make, typed, false);
    d.by_rules.closing = &to->closing;
    if ((whole || any_closes(from)) &&
        !derive_whole(&d, from, whole, &to->rules[from->nrules]))
        return false;
    keep_live(from, to);
    jx_differentiator_begin(&d.by_rules, &d.make, typed, false);
    for (int i = 0; i < from->nrules; i++)
        if (!derive_rule(&d, from->rules[i], &to->rules[i]))
            return false;
    to->program = jx_making_end(&d.make, from->entry.jaxpr);
    return to->program != NULL;
}

jx_program *jx_program_derive_again(const jx_typed *typed, const jx_closed *of,
                                    const bool *ins, bool stripped,
                                    jx_closed *to)
{
    jx_program *from = typed->program, *made = NULL;
    jx_differentiator by;
    deriving d;

    if (!jx_making_begin(&d.make, from))
        return NULL;
    jx_differentiator_begin(&by, &d.make, typed, stripped);
    *to = derivative(&d, &by, of, ins);
    if (to->jaxpr)
        made = jx_making_end(&d.make, from->entry.jaxpr);
    go_on(&d);
    return made;
}

jx_program *jx_program_derive_kept(const jx_typed *typed, const jx_rule *rule,
                                   jx_derived_kept *to)
{
    const jx_rule_pattern *p = rule->npatterns ? &rule->patterns[0] : NULL;
    jx_program *from = typed->program, *made = NULL;
    jx_rule_pair pair = {0};
    deriving d;

    *to = (jx_derived_kept){0};
    if (!jx_making_begin(&d.make, from))
        return NULL;
    jx_differentiator_begin(&d.by_rules, &d.make, typed, false);
    if (!make_own(&d, &d.by_rules, rule, &to->own) || !to->own.jaxpr)
        return NULL;
    if (p && is_whole(rule, p)) {
        const jx_closed back = turned(&d, rule, &to->own);
        make_pair(&d, rule, p, &back, &pair);
        to->says = pair.own;
    }
    if (go_on(&d))
        made = jx_making_end(&d.make, from->entry.jaxpr);
    go_on(&d);
    return made;
}

/* ---- a derivative that a file holds */

jx_program *jx_program_pulling(jx_program *stored, const jx_jaxpr *of)
{
    const jx_jaxpr *entry = stored->entry.jaxpr;
    jx_making make;
    jx_body *b;
    jx_atom *ins = JX_NEW_ARRAY(stored->ctx->arena, entry->nins + 1, jx_atom);
    jx_atom *outs = JX_NEW_ARRAY(stored->ctx->arena, entry->nouts + 1, jx_atom);

    if (entry->nins != of->nins + of->nouts || entry->nouts != of->nins) {
        jx_fail(stored->ctx, JX_E_INPUT, stored->path, NULL,
                "the stored derivative does not take the inputs and a "
                "cotangent for each output");
        return NULL;
    }
    if (!ins || !outs || !jx_making_begin(&make, stored))
        return NULL;
    b = jx_body_new(&make.build, NULL);
    for (int i = 0; b && i < entry->nins; i++) {
        const jx_aval *aval = input_of(entry, i);
        bool given = i < of->nins ||
                     jx_has_tangent(jx_atom_aval(of->outs[i - of->nins]));
        ins[i] = given ? jx_body_input(b, aval) : jx_build_zeros(b, aval);
    }
    if (!b || !jx_making_enclose(&make, b, entry, ins, outs))
        return NULL;
    for (int i = 0; i < of->nins; i++)
        if (jx_has_tangent(input_of(of, i)))
            jx_body_result(b, outs[i]);
    make.to->in_paths = make.to->out_paths = NULL;
    return jx_making_end(&make, jx_body_finish(b, jx_no_atoms, NULL));
}
