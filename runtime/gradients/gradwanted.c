/* gradwanted.c - see gradding.h: which results of rules' functions anybody has a use for.
 *
 * What a solver knows of its last step, or a loop of its own state, is often left where it is,
 * and then has no cotangent but zero. */
#include "analyzer/transform/live.h"
#include "runtime/gradients/gradding.h"

/* Adds what these jaxprs want of the functions of rules, but of that one (-1: of all): a rule
 * calls its own function for its value. */
static bool add_wanted(const jx_program *program, const jx_jaxpr *const *roots, int count,
                       int but, bool **wanted)
{
    jx_live live = {0};

    for (int i = 0; i < count; i++)
        if (roots[i] && !jx_live_add(&live, program->ctx->arena, roots[i]))
            return false;
    for (int r = 0; r < program->nrules; r++) {
        const jx_rule *rule = program->rules[r];
        const bool *here = live.wanted.arena && r != but
                               ? jx_live_wanted(&live, rule->primal.jaxpr)
                               : NULL;
        for (int i = 0; here && i < rule->nouts; i++)
            wanted[r][i] |= here[i];
    }
    return true;
}

const bool *const *jx_grad_wanted(const jx_program *program)
{
    jx_arena *arena = program->ctx->arena;
    bool **wanted = JX_NEW_ARRAY(arena, program->nrules + 1, bool *);
    bool good = wanted != NULL;

    for (int r = 0; good && r < program->nrules; r++)
        good = (wanted[r] = JX_NEW_ARRAY(arena, program->rules[r]->nouts + 1, bool)) != NULL;
    good = good && add_wanted(program, &program->entry.jaxpr, 1, -1, wanted);
    for (int r = 0; good && r < program->nrules; r++)
        for (int i = 0; good && i < program->rules[r]->npatterns; i++) {
            const jx_rule_pattern *p = &program->rules[r]->patterns[i];
            const jx_jaxpr *code[] = {p->jvp.jaxpr, p->fwd.jaxpr, p->bwd.jaxpr};
            good = add_wanted(program, code, 3, r, wanted);
        }
    return good ? (const bool *const *)wanted : NULL;
}
