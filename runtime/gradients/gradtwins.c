/* gradtwins.c - see gradding.h: rules that are asked the same.  A network has
 * one activation in many layers, and JAX traces its rule at each call. */
#include "analyzer/transform/same.h"
#include "frontend/base/map.h"
#include "runtime/gradients/gradding.h"

#include <string.h>

static bool is_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* The rules of what a jaxpr runs, each jaxpr once. */
typedef struct noted {
    jx_arena *arena;
    jx_map seen;
    JX_VEC(const jx_rule *) rules;
} noted;

static void note_rules(noted *to, const jx_jaxpr *jaxpr);

static void note_value(noted *to, const jx_value *value)
{
    if (value->tag == JX_V_RULE)
        JX_PUSH(to->arena, &to->rules, value->rule);
    if (value->tag == JX_V_JAXPR && value->jaxpr)
        note_rules(to, value->jaxpr);
    for (int i = 0; value->items && i < value->count; i++)
        note_value(to, value->items[i]);
}

static void note_rules(noted *to, const jx_jaxpr *jaxpr)
{
    if (!jx_map_add(&to->seen, jaxpr))
        return;
    for (int i = 0; i < jaxpr->neqns; i++)
        for (int k = 0; k < jaxpr->eqns[i].nparams; k++)
            note_value(to, jaxpr->eqns[i].params[k].value);
}

static noted rules_of(jx_arena *arena, const jx_jaxpr *jaxpr)
{
    noted to = {.arena = arena};

    jx_map_init(&to.seen, arena);
    note_rules(&to, jaxpr);
    return to;
}

/* By which rules the two are differentiated further on, of which terms say
 * nothing: by themselves, or by the same ones. */
static bool has_same_rules(jx_arena *arena, const jx_jaxpr *a,
                           const jx_rule *of, const jx_jaxpr *b,
                           const jx_rule *other)
{
    noted here = rules_of(arena, a), there = rules_of(arena, b);
    bool same = here.rules.count == there.rules.count;

    for (size_t i = 0; same && i < here.rules.count; i++)
        same = here.rules.at[i] == there.rules.at[i] ||
               (here.rules.at[i] == of && there.rules.at[i] == other);
    return same;
}

/* Two rules of a program that may be one. */
typedef struct couple {
    const jx_typed *typed;
    const jx_rule *a, *b;
} couple;

static bool is_code(const couple *c, const jx_closed *a, const jx_closed *b)
{
    return a->jaxpr && b->jaxpr
               ? has_same_rules(c->typed->program->ctx->arena, a->jaxpr, c->a,
                                b->jaxpr, c->b) &&
                     jx_same_derivatives(c->typed, a, b)
               : a->jaxpr == b->jaxpr;
}

static bool is_pattern(const couple *c, const jx_rule_pattern *a,
                       const jx_rule_pattern *b)
{
    return !a->error && !b->error && is_text(a->zeros, b->zeros) &&
           is_text(a->out_zeros, b->out_zeros) &&
           is_text(a->ct_zeros, b->ct_zeros) && a->nres == b->nres &&
           (!a->nres ||
            memcmp(a->fwds, b->fwds, (size_t)a->nres * sizeof *a->fwds) == 0) &&
           is_code(c, &a->jvp, &b->jvp) && is_code(c, &a->fwd, &b->fwd) &&
           is_code(c, &a->bwd, &b->bwd);
}

static bool has_same_types(const jx_rule *a, const jx_rule *b)
{
    bool same = a->vjp == b->vjp && a->nins == b->nins &&
                a->nconsts == b->nconsts && a->nouts == b->nouts &&
                a->npatterns == b->npatterns &&
                a->symbolic_zeros == b->symbolic_zeros;

    for (int i = 0; same && i < a->nins; i++)
        same = jx_aval_same_values(a->ins[i], b->ins[i]);
    return same;
}

/* Nothing but its code says where it is looked at: its operands are
 * independent, of no declared range, and the program's own code has them
 * computed. */
static bool is_open(const jx_rule *rule, const jx_calling *calling)
{
    bool open = calling->reached && !calling->related && !calling->any_fixed &&
                !calling->ends.count && !rule->intent && !rule->truncated &&
                !rule->batched;

    for (int i = 0; open && i < rule->nins; i++)
        open = calling->ties[i] == i;
    return open;
}

static bool is_wanted_alike(const jx_rule *rule, const bool *a, const bool *b)
{
    return a && b ? memcmp(a, b, (size_t)rule->nouts * sizeof *a) == 0 : a == b;
}

static bool is_met_alike(const jx_grad_asked *a, const jx_grad_asked *b)
{
    bool same = true;

    for (int i = 0; same && i < a->rule->npatterns; i++) {
        const char *zeros = a->rule->patterns[i].zeros;
        same = jx_sample_mask_is_met(&a->calling, a->rule, zeros) ==
               jx_sample_mask_is_met(&b->calling, b->rule, zeros);
    }
    return same;
}

bool jx_grad_is_twin(const jx_typed *typed, const jx_grad_asked *a,
                     const jx_grad_asked *b)
{
    const couple c = {typed, a->rule, b->rule};
    bool same = is_text(a->rule->name, b->rule->name) &&
                has_same_types(a->rule, b->rule) &&
                is_open(a->rule, &a->calling) &&
                is_open(b->rule, &b->calling) &&
                is_wanted_alike(a->rule, a->calling.wanted, b->calling.wanted);

    same = same && is_code(&c, &a->rule->primal, &b->rule->primal);
    for (int i = 0; same && i < a->rule->npatterns; i++)
        same = is_pattern(&c, &a->rule->patterns[i], &b->rule->patterns[i]);
    return same && is_met_alike(a, b);
}
