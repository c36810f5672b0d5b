/* gradmore.c - see gradding.h: more than points.
 *
 * A rule that is the function's own derivative term by term is proved to be that, for all
 * inputs and sizes.  Its values in the declared dtype are looked at all the same. */
#include "analyzer/transform/same.h"
#include "runtime/gradients/gradding.h"

static bool is_made(const jx_rule_pair *pair)
{
    return pair->rule.jaxpr && pair->own.jaxpr;
}

/* All that the document has of the rule can be held against its function's derivative. */
static bool has_pairs(const jx_rule *rule, const jx_derived_rule *derived)
{
    if (rule->truncated || !rule->npatterns || !derived->pairs)
        return false;
    for (int i = 0; i < rule->npatterns; i++)
        if (!is_made(&derived->pairs[i]))
            return false;
    return true;
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

void jx_grad_more(const jx_typed *typed, const jx_plan_options *how,
                  const jx_derived_rule *derived, jx_rule_report *report)
{
    (void)how;
    if (!has_pairs(report->rule, derived)) {
        report->more = "the function's own derivative has no such form";
        return;
    }
    if (is_proved(typed, report->rule, derived))
        report->evidence = JX_RULE_PROVED;
}
