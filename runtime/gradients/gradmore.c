/* gradmore.c - see gradding.h: more than points.
 *
 * A rule that is the function's own derivative term by term is proved to be
 * that, for all inputs and sizes.  One that is it over finite fields is
 * identical over the reals, but for an error that is said.  Its values in the
 * declared dtype are looked at all the same. */
#include "analyzer/transform/same.h"
#include "runtime/field/field_same.h"
#include "runtime/gradients/gradding.h"

#include <string.h>

static bool is_made(const jx_rule_pair *pair)
{
    return pair->rule.jaxpr && pair->own.jaxpr;
}

/* All that the document has of the rule can be held against its
 * function's derivative. */
static bool has_pairs(const jx_rule *rule, const jx_derived_rule *derived)
{
    if (rule->truncated || !rule->npatterns || !derived->pairs)
        return false;
    for (int i = 0; i < rule->npatterns; i++)
        if (!is_made(&derived->pairs[i]))
            return false;
    return true;
}

/* At whatever depth of calls. */
static bool stops(const jx_jaxpr *jaxpr)
{
    for (int i = 0; i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        const jx_closed *callee = eqn->typed ? jx_eqn_callee(eqn) : NULL;
        if (eqn->prim->id == JX_PRIM_stop_gradient ||
            (callee && stops(callee->jaxpr)))
            return true;
    }
    return false;
}

/* What the rule keeps from being differentiated once more, its
 * function does not. */
static bool stops_more(const jx_rule *rule)
{
    bool more = false;

    for (int i = 0; i < rule->npatterns; i++) {
        const jx_rule_pattern *p = &rule->patterns[i];
        const jx_closed *all[] = {&p->jvp, &p->fwd, &p->bwd};
        for (int k = 0; k < 3; k++)
            more |= all[k]->jaxpr && stops(all[k]->jaxpr);
    }
    return more && !stops(rule->primal.jaxpr);
}

static bool is_proved(const jx_typed *typed, const jx_rule *rule,
                      const jx_derived_rule *derived)
{
    for (int i = 0; i < rule->npatterns; i++)
        if (!jx_same_jaxprs(typed, &derived->pairs[i].rule,
                            &derived->pairs[i].own))
            return false;
    return true;
}

/* " at n = 3, m = 2": what is only known of these sizes. */
static const char *sizes_of(jx_ctx *ctx, const jx_plan_options *how)
{
    jx_buffer text = jx_ctx_text(ctx);

    for (int i = 0; i < how->nbindings; i++) {
        jx_buffer_puts(&text, i ? ", " : " at ");
        jx_buffer_printf(&text, "%s = %lld", how->bindings[i].var->name,
                         (long long)how->bindings[i].value);
    }
    return how->nbindings ? jx_arena_take(ctx->arena, &text) : "";
}

/* All patterns are the same over the reals. */
static bool is_identical(const jx_typed *typed, const jx_plan_options *how,
                         uint64_t seed, const jx_derived_rule *derived,
                         bool *kinks, jx_rule_report *report)
{
    jx_ctx *ctx = typed->program->ctx;
    const char *assuming = NULL;
    int bits = 0;

    for (int i = 0; i < report->rule->npatterns; i++) {
        const jx_field_question question = {.typed = typed,
                                            .a = &derived->pairs[i].rule,
                                            .b = &derived->pairs[i].own,
                                            .nbindings = how->nbindings,
                                            .bindings = how->bindings,
                                            .nvalues =
                                                derived->pairs[i].nvalues,
                                            .integers = true,
                                            .seed = seed,
                                            .memory = how->memory};
        jx_field_answer answer;
        if (!jx_field_same(&question, &answer) ||
            answer.verdict != JX_FIELD_IDENTICAL) {
            report->more = answer.why;
            return false;
        }
        *kinks |= answer.kinks;
        bits = i && bits < answer.bits ? bits : answer.bits;
        if (!assuming ||
            (answer.assuming && strlen(answer.assuming) > strlen(assuming)))
            assuming = answer.assuming;
    }
    report->more = jx_arena_printf(
        ctx->arena, "identical over the reals%s, error below 2^-%d%s%s",
        sizes_of(ctx, how), bits, assuming ? ", assuming that " : "",
        assuming ? assuming : "");
    return true;
}

void jx_grad_more(const jx_typed *typed, const jx_plan_options *how,
                  uint64_t seed, const jx_derived_rule *derived,
                  jx_rule_report *report)
{
    bool kinks = false;

    if (!has_pairs(report->rule, derived))
        report->more =
            "the function's own derivative is not known in that form";
    else if (stops_more(report->rule))
        report->more = "it keeps something from being differentiated once more";
    else if (is_proved(typed, report->rule, derived))
        report->evidence = JX_RULE_PROVED;
    else if (is_identical(typed, how, seed, derived, &kinks, report))
        report->evidence = JX_RULE_IDENTICAL;
    /* What looks like a convention is rounding then, of numbers so large that
     * what is smooth has a corner. */
    if (report->evidence && !kinks)
        report->convention = NULL;
}

void jx_grad_withhold(const jx_eqn_list *closing, jx_rule_reports *reports)
{
    for (size_t i = 0; i < closing->count; i++)
        for (int k = 0; k < closing->at[i]->nparams; k++) {
            const jx_value *value = closing->at[i]->params[k].value;
            for (size_t r = 0; value->tag == JX_V_RULE && r < reports->count;
                 r++)
                if (reports->at[r].rule &&
                    reports->at[r].rule->id == value->rule->id)
                    reports->at[r].evidence = JX_RULE_SAMPLED;
        }
}
