/* fits.c - see fits.h. */
#include "runtime/fits.h"

#include "analyzer/typing.h"

#include <stdio.h>

typedef struct sizes {
    int count;
    const jx_binding *at;
} sizes;

static bool size_of(void *env, const jx_dim_atom *var, int64_t *value)
{
    const sizes *s = env;

    for (int i = 0; i < s->count; i++)
        if (s->at[i].var == var) {
            *value = s->at[i].value;
            return true;
        }
    return false;
}

/* What the claim says holds at these sizes, as far as they decide it. */
static bool holds(const jx_claim *claim, sizes *s)
{
    const jx_goal *goal = &claim->goal;
    int64_t lhs, rhs;

    if (claim->verdict == JX_PROVED)
        return true;
    if (goal->kind == JX_GOAL_FALSE || goal->kind == JX_GOAL_NONE ||
        goal->kind == JX_GOAL_DECIDED)
        return claim->verdict != JX_REFUTED;
    if (!goal->lhs || !goal->rhs || !jx_dim_eval(goal->lhs, size_of, s, &lhs) ||
        !jx_dim_eval(goal->rhs, size_of, s, &rhs))
        return claim->verdict != JX_REFUTED;
    switch (goal->kind) {
    case JX_GOAL_EQ: return lhs == rhs;
    case JX_GOAL_NE: return lhs != rhs;
    case JX_GOAL_GE: return lhs >= rhs;
    case JX_GOAL_GT: return lhs > rhs;
    default: return lhs != 0 && (lhs == -1 || rhs % lhs == 0);
    }
}

/* The codes whose breach would let a kernel leave its operands, or lets a call
 * of an exported function die. */
static bool structural(jx_code code)
{
    return code == JX_CODE_SHP010 || code == JX_CODE_SHP011 ||
           code == JX_CODE_SHP013 || code == JX_CODE_SHP015;
}

static void mark(const jx_value *value, bool *reached)
{
    if (value->tag == JX_V_JAXPR && !reached[value->jaxpr->id]) {
        reached[value->jaxpr->id] = true;
        return;
    }
    for (int i = 0; i < value->count; i++)
        if (value->items && value->items[i])
            mark(value->items[i], reached);
}

/* Jaxprs that running the entry may meet: callees come before callers, so one
 * walk from the last to the first reaches all.  Rules are not run. */
static bool *reachable(const jx_program *program)
{
    bool *reached =
        JX_NEW_ARRAY(program->ctx->arena, program->njaxprs + 1, bool);

    if (!reached)
        return NULL;
    reached[program->entry.jaxpr->id] = true;
    for (int i = program->njaxprs - 1; i >= 0; i--) {
        const jx_jaxpr *jaxpr = program->jaxprs[i];
        for (int k = 0; reached[i] && k < jaxpr->neqns; k++)
            for (int n = 0; n < jaxpr->eqns[k].nparams; n++)
                mark(jaxpr->eqns[k].params[n].value, reached);
    }
    return reached;
}

static bool refuse(const jx_program *program, const jx_claim *claim)
{
    char place[160] = "the program";

    if (claim->jaxpr && claim->eqn)
        snprintf(place, sizeof place, "equation %d of jaxpr %d (%s)",
                 (int)(claim->eqn - claim->jaxpr->eqns), claim->jaxpr->id,
                 claim->eqn->prim->name);
    return jx_fail(program->ctx, JX_E_INPUT, program->path, place,
                   "%s: %s (%s); jaxvet check says more",
                   jx_code_of(claim->code)->summary,
                   claim->what ? claim->what : "", jx_code_of(claim->code)->id);
}

bool jx_program_fits(jx_program *program, bool rules, int nbindings,
                     const jx_binding *bindings)
{
    jx_analysis *analysis = jx_analysis_new(program);
    sizes s = {nbindings, bindings};

    if (!analysis || !jx_type_program(analysis))
        return jx_ok(program->ctx);
    const bool *reached = reachable(program);
    for (size_t i = 0; reached && i < analysis->claims.count; i++) {
        const jx_claim *claim = analysis->claims.at[i];
        if (structural(claim->code) &&
            (rules || !claim->jaxpr || reached[claim->jaxpr->id]) &&
            !holds(claim, &s))
            return refuse(program, claim);
    }
    return jx_ok(program->ctx);
}
