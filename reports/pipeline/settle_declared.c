/* settle_declared.c - see settle_declared.h. */
#include "reports/pipeline/settle_declared.h"

#include "frontend/ir/scope.h"
#include "frontend/ir/signature.h"
#include "reports/pipeline/advice.h"

#include <string.h>

enum {
    MOST_CONSTRAINTS = 64, /* of a scope that are looked at one by one */
    MOST_VARS = 32,
    MOST_GOALS = 64, /* refuted ones that are assumed together */
};

typedef JX_VEC(jx_constraint) constraint_list;

typedef struct asker {
    jx_program *program;
    const jx_settle_options *options;
} asker;

static jx_arena *arena_of(const asker *a)
{
    return a->program->ctx->arena;
}

/* The constraints of a scope (-1: of all) but for those that are `without`, or
 * derived from it, or what it is derived from. */
static constraint_list constraints_of(const asker *a, int scope,
                                      const jx_scope_constraint *without)
{
    constraint_list all = {0};

    for (int s = 0; s < a->program->nscopes; s++) {
        const jx_scope *from = &a->program->scopes[s];
        for (int i = 0; (scope < 0 || s == scope) && i < from->nconstraints;
             i++) {
            const jx_scope_constraint *c = &from->constraints[i];
            bool partner = jx_scope_is_derived(from, i) && c + 1 == without;
            if (c != without && !partner)
                JX_PUSH(arena_of(a), &all, jx_constraint_of_scope(c));
        }
    }
    return all;
}

static jx_prover *prover_with(const asker *a, const constraint_list *all,
                              bool suggest)
{
    jx_prover_options options = {
        .base = a->program->base,
        .base_is_set = true,
        .no_solver = a->options->no_solver,
        .suggest = suggest && a->options->suggest,
        .solver = a->options->solver,
    };

    return jx_prover_new(a->program->ctx, a->program->dims, all->at,
                         (int)all->count, &options);
}

static jx_answer is_consistent(const asker *a, const constraint_list *all)
{
    jx_prover *prover = prover_with(a, all, false);
    jx_answer answer = {.why = "no memory"};

    if (prover)
        answer = jx_prove_consistent(prover);
    jx_prover_free(prover);
    return answer;
}

static jx_answer compare(const asker *a, const constraint_list *all,
                         const jx_dim *lhs, jx_relation relation,
                         const jx_dim *rhs, bool suggest)
{
    jx_prover *prover = prover_with(a, all, suggest);
    jx_answer answer = {.why = "no memory"};

    if (prover)
        answer = jx_prove_compare(prover, lhs, relation, rhs);
    jx_prover_free(prover);
    return answer;
}

/* -- the constraints of a scope -------------------------------------------- */

static void settle_admissible(const asker *a, jx_claim *claim)
{
    const jx_scope *scope = &a->program->scopes[claim->goal.scope];
    constraint_list all = constraints_of(a, claim->goal.scope, NULL);
    jx_answer answer = is_consistent(a, &all);
    jx_buffer text = jx_ctx_text(a->program->ctx);

    claim->evidence.by = answer.by;
    claim->evidence.why = answer.why;
    if (answer.truth == JX_TRUE)
        claim->verdict = JX_PROVED;
    if (answer.truth != JX_CONTRADICTION)
        return;
    jx_buffer_puts(&text, "no sizes satisfy ");
    for (int i = 0; i < answer.ncore; i++) {
        jx_buffer_puts(&text, i ? " and `" : "`");
        jx_scope_print(&scope->constraints[answer.core[i]], &text);
        jx_buffer_putc(&text, '`');
    }
    if (!answer.ncore)
        jx_buffer_puts(&text, "the constraints");
    if (answer.ncore == 1)
        jx_buffer_printf(&text, ", since sizes are at least %lld",
                         (long long)a->program->base);
    claim->what = jx_arena_take(arena_of(a), &text);
    claim->help = "nothing is proved or refuted where no sizes are admitted";
    claim->verdict = JX_REFUTED;
}

/* The constraint follows from the others: it says nothing. */
static void settle_adds(const asker *a, jx_claim *claim)
{
    const jx_scope *scope = &a->program->scopes[claim->goal.scope];
    const jx_scope_constraint *c = claim->constraint;
    jx_constraint question = jx_constraint_of_scope(c);
    constraint_list others;
    jx_buffer text = jx_ctx_text(a->program->ctx);
    jx_answer answer;

    if (scope->nconstraints > MOST_CONSTRAINTS)
        return;
    others = constraints_of(a, claim->goal.scope, c);
    answer = compare(a, &others, question.lhs, question.relation, question.rhs,
                     false);
    if (answer.truth != JX_TRUE)
        return;
    jx_buffer_puts(&text, "the constraint `");
    jx_scope_print(c, &text);
    jx_buffer_printf(&text, "` says nothing: it follows from %s",
                     others.count ? "the others" : "");
    if (!others.count)
        jx_buffer_printf(&text, "sizes being at least %lld",
                         (long long)a->program->base);
    claim->what = jx_arena_take(arena_of(a), &text);
    claim->evidence.by = answer.by;
    claim->verdict = JX_REFUTED;
}

/* -- whether any call fits ------------------------------------------------- */

/* Adds that no size of an input is negative. */
static void add_sizes(const asker *a, constraint_list *to)
{
    const jx_dim *zero = jx_dim_int(a->program->dims, 0);

    for (int i = 0; i < a->program->entry.jaxpr->nins; i++) {
        const jx_aval *aval = jx_input_aval(a->program, i);
        for (int k = 0; aval->kind == JX_AVAL_ARRAY && k < aval->rank; k++) {
            jx_dim_range r = jx_dim_bounds(aval->shape[k], a->program->base);
            if (!r.has_low || r.low < 0)
                JX_PUSH(arena_of(a), to,
                        (jx_constraint){aval->shape[k], JX_REL_GE, zero});
        }
    }
}

static void settle_callable(const asker *a, jx_claim *claim)
{
    constraint_list all = constraints_of(a, -1, NULL);
    jx_buffer text = jx_ctx_text(a->program->ctx);
    jx_answer answer;

    if (is_consistent(a, &all).truth != JX_TRUE)
        return; /* SHP002 says so */
    add_sizes(a, &all);
    answer = is_consistent(a, &all);
    if (answer.truth != JX_CONTRADICTION)
        return;
    jx_buffer_puts(&text, "no call fits the inputs: ");
    for (int i = 0; i < answer.ncore; i++) {
        jx_buffer_puts(&text, i ? " and `" : "`");
        jx_constraint_print(&all.at[answer.core[i]], &text);
        jx_buffer_putc(&text, '`');
    }
    jx_buffer_puts(&text,
                   answer.ncore > 1 ? " exclude each other" : " is never so");
    claim->what = jx_arena_take(arena_of(a), &text);
    claim->evidence.by = answer.by;
    claim->verdict = JX_REFUTED;
}

/* -- comparisons that JAX did not decide ----------------------------------- */

static void settle_answer(const asker *a, jx_claim *claim)
{
    constraint_list all = constraints_of(a, claim->goal.scope, NULL);
    jx_relation relation;
    const jx_constraint *settles;
    jx_answer answer;
    int count;

    claim->verdict = JX_WITNESSED;
    claim->evidence.by = "trace";
    if (!claim->goal.lhs || !claim->goal.rhs ||
        !jx_relation_named(claim->goal.comparison->op, &relation))
        return;
    answer = compare(a, &all, claim->goal.lhs, relation, claim->goal.rhs, true);
    if (answer.truth == JX_TRUE || answer.truth == JX_FALSE) {
        claim->help = jx_arena_printf(
            arena_of(a),
            "it is %s for all admissible sizes: trace under jaxvet.prover()",
            answer.truth == JX_TRUE ? "true" : "false");
        return;
    }
    count = jx_advised(&answer, &settles);
    claim->evidence.advice = jx_advice(a->program, claim, count, settles);
    if (count)
        claim->evidence.suggestion =
            jx_advised_text(a->program, count, settles);
}

bool jx_settle_declared(jx_program *program, jx_claim *claim,
                        const jx_settle_options *options)
{
    asker a = {program, options};

    switch (claim->goal.kind) {
    case JX_GOAL_ADMISSIBLE: settle_admissible(&a, claim); return true;
    case JX_GOAL_ADDS: settle_adds(&a, claim); return true;
    case JX_GOAL_CALLABLE: settle_callable(&a, claim); return true;
    case JX_GOAL_ANSWER: settle_answer(&a, claim); return true;
    default: return false;
    }
}

/* -- variables with one value ---------------------------------------------- */

/* What the program needs of its sizes and has not. */
static bool needed(const jx_claim *claim, jx_constraint *to)
{
    const jx_goal *goal = &claim->goal;

    if (claim->verdict != JX_REFUTED || !goal->lhs || !goal->rhs ||
        (claim->code != JX_CODE_SHP010 && claim->code != JX_CODE_SHP013))
        return false;
    *to = (jx_constraint){goal->lhs, JX_REL_EQ, goal->rhs};
    if (goal->kind == JX_GOAL_GE)
        to->relation = JX_REL_GE;
    return goal->kind == JX_GOAL_EQ || goal->kind == JX_GOAL_GE;
}

/* All constraints and what else the program needs. */
static constraint_list everything(const asker *a, const jx_claim_list *claims)
{
    constraint_list all = constraints_of(a, -1, NULL);
    jx_constraint c;
    int n = 0;

    for (size_t i = 0; i < claims->count && n < MOST_GOALS; i++)
        if (needed(claims->at[i], &c)) {
            JX_PUSH(arena_of(a), &all, c);
            n++;
        }
    return all;
}

/* Where the program needs something of this variable; NULL: nowhere. */
static const jx_claim *place_of(const asker *a, const jx_claim_list *claims,
                                const jx_dim_atom *var)
{
    jx_constraint c;

    for (size_t i = 0; i < claims->count; i++) {
        const jx_dim *sides[2];
        if (!needed(claims->at[i], &c))
            continue;
        sides[0] = c.lhs;
        sides[1] = c.rhs;
        for (int k = 0; k < 2; k++) {
            int n = 0;
            const jx_dim_atom *const *vars =
                jx_dim_vars(a->program->dims, sides[k], &n);
            for (int v = 0; vars && v < n; v++)
                if (vars[v] == var)
                    return claims->at[i];
        }
    }
    return NULL;
}

static bool claim_fixed(const asker *a, jx_claim_list *claims,
                        const jx_dim_atom *var, int64_t value)
{
    const jx_claim *at = place_of(a, claims, var);
    jx_claim *claim = jx_claim_add(a->program->ctx, claims, JX_CODE_SHP008);

    if (!claim)
        return false;
    if (at) {
        claim->jaxpr = at->jaxpr;
        claim->eqn = at->eqn;
        claim->calls = at->calls;
        claim->stack = at->stack;
    } else if (var->scope < a->program->nscopes) {
        claim->stack = a->program->scopes[var->scope].stack;
    }
    claim->what = jx_arena_printf(
        arena_of(a),
        at ? "the inputs have any size `%s`, but the program works for "
             "%s = %lld alone"
           : "`%s` is declared as a variable, but the constraints leave it the "
             "one value %s = %lld",
        var->name, var->name, (long long)value);
    claim->help = jx_arena_printf(arena_of(a),
                                  "write %lld for `%s` in the spec, or make "
                                  "the program handle other sizes",
                                  (long long)value, var->name);
    claim->verdict = JX_REFUTED;
    claim->evidence.by = "bounds";
    return claim->what && claim->help;
}

bool jx_settle_fixed(jx_program *program, jx_claim_list *claims,
                     const jx_settle_options *options)
{
    asker a = {program, options};
    int count;
    const jx_dim_atom *const *vars = jx_input_vars(program, &count);
    constraint_list all;
    jx_answer some;
    int64_t value;

    if (!vars)
        return false;
    all = everything(&a, claims);
    if (!all.count || count > MOST_VARS)
        return true;
    some = is_consistent(&a, &all);
    if (some.truth != JX_TRUE || !some.has_true)
        return true;
    for (int i = 0; i < count; i++) {
        const jx_dim *var = jx_dim_of_atom(program->dims, vars[i]);

        if (!jx_assigned(&some.when_true, vars[i], &value))
            continue; /* nothing is said of it */
        if (compare(&a, &all, var, JX_REL_EQ, jx_dim_int(program->dims, value),
                    false)
                    .truth == JX_TRUE &&
            !claim_fixed(&a, claims, vars[i], value))
            return false;
    }
    return jx_ok(program->ctx);
}
