/* gradwanted.c - see gradding.h: which results of rules' functions anybody has
 * a use for, whose derivatives that is.
 *
 * What a solver knows of its last step, or a loop of its own state, is often
 * left where it is, and then has no cotangent but zero. */
#include "analyzer/transform/live.h"
#include "runtime/gradients/gradding.h"

/* Adds what `live` has met of the functions of rules, but of that one (-1: of
 * all): a rule calls its own function for its value.  Whether any is new. */
static bool add_wanted(const jx_program *program, const jx_live *live, int but,
                       bool **wanted)
{
    bool new = false;

    for (int r = 0; r < program->nrules; r++) {
        const jx_rule *rule = program->rules[r];
        const bool *here = live->wanted.arena && r != but
                               ? jx_live_wanted(live, rule->primal.jaxpr)
                               : NULL;
        for (int i = 0; here && i < rule->nouts; i++) {
            new |= here[i] && !wanted[r][i];
            wanted[r][i] |= here[i];
        }
    }
    return new;
}

bool *jx_grad_wanted_of_jvp(jx_arena *arena, const jx_rule *rule,
                            const jx_rule_pattern *p, const bool *wanted)
{
    int n = p->jvp.jaxpr->nouts, next = rule->nouts;
    bool *to = JX_NEW_ARRAY(arena, n + 1, bool);

    for (int i = 0; to && i < rule->nouts && i < n; i++) {
        to[i] = wanted[i];
        if (!(p->out_zeros && p->out_zeros[i] == '1') && next < n)
            to[next++] = wanted[i];
    }
    for (int i = 0; to && next != n && i < n; i++)
        to[i] = true; /* it does not fit */
    return to;
}

/* Adds what the code of rules wants of each other; false without memory. */
static bool add_of_rules(const jx_program *program, bool **wanted, bool *more)
{
    jx_arena *arena = program->ctx->arena;

    *more = false;
    for (int r = 0; r < program->nrules; r++) {
        jx_live live = {.derivatives = true};
        for (int i = 0; i < program->rules[r]->npatterns; i++) {
            const jx_rule_pattern *p = &program->rules[r]->patterns[i];
            const bool *some =
                p->jvp.jaxpr ? jx_grad_wanted_of_jvp(arena, program->rules[r],
                                                     p, wanted[r])
                             : NULL;
            if ((p->jvp.jaxpr &&
                 !(some &&
                   jx_live_add_some(&live, arena, p->jvp.jaxpr, some))) ||
                (p->fwd.jaxpr && !jx_live_add(&live, arena, p->fwd.jaxpr)) ||
                (p->bwd.jaxpr && !jx_live_add(&live, arena, p->bwd.jaxpr)))
                return false;
        }
        *more |= add_wanted(program, &live, r, wanted);
    }
    return true;
}

const bool *const *jx_grad_wanted(const jx_program *program)
{
    jx_arena *arena = program->ctx->arena;
    bool **wanted = JX_NEW_ARRAY(arena, program->nrules + 1, bool *);
    bool good = wanted != NULL, more = true;
    jx_live live = {.derivatives = true};

    for (int r = 0; good && r < program->nrules; r++)
        good = (wanted[r] = JX_NEW_ARRAY(arena, program->rules[r]->nouts + 1,
                                         bool)) != NULL;
    good = good && jx_live_add(&live, arena, program->entry.jaxpr);
    if (good)
        add_wanted(program, &live, -1, wanted);
    while (good && more)
        good = add_of_rules(program, wanted, &more);
    return good ? (const bool *const *)wanted : NULL;
}
