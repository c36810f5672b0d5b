/* declared.c - see declared.h. */
#include "analyzer/declared.h"

#include "analyzer/asking.h"
#include "frontend/base/map.h"
#include "frontend/ir/scope.h"
#include "frontend/ir/signature.h"
#include "frontend/ir/solution.h"

#include <string.h>

typedef JX_VEC(const jx_dim_atom *) var_list;

static jx_arena *arena_of(const jx_analysis *to)
{
    return to->program->ctx->arena;
}

/* A claim that points to where the scope was made. */
static jx_claim *claim_of_scope(jx_analysis *to, jx_code code, int scope,
                                jx_goal_kind goal)
{
    jx_claim *claim = jx_claim_add(to->program->ctx, &to->claims, code);

    if (!claim)
        return NULL;
    if (scope >= 0 && scope < to->program->nscopes)
        claim->stack = to->program->scopes[scope].stack;
    claim->goal.kind = goal;
    claim->goal.scope = scope;
    return claim;
}

/* -- variables that no input gives ----------------------------------------- */

static bool names(const jx_analysis *to, const jx_dim *dim,
                  const jx_dim_atom *var)
{
    int count = 0;
    const jx_dim_atom *const *vars =
        jx_dim_vars(to->program->dims, dim, &count);

    for (int i = 0; vars && i < count; i++)
        if (vars[i] == var)
            return true;
    return false;
}

/* Variables that are not in `seen` join it and the list. */
static void add_vars(const jx_analysis *to, const jx_dim *dim, jx_map *seen,
                     var_list *list)
{
    int count = 0;
    const jx_dim_atom *const *vars =
        jx_dim_vars(to->program->dims, dim, &count);

    for (int i = 0; vars && i < count; i++)
        if (jx_map_add(seen, vars[i]))
            JX_PUSH(arena_of(to), list, vars[i]);
}

/* Variables that are in no input's shape: those of the entry's values, then
 * those of the constraints that a call checks (of scopes that inputs have).
 * What the program may well say, and we don't know, is not among them. */
typedef struct foreign {
    var_list values, constraints;
} foreign;

static foreign foreign_vars(const jx_analysis *to)
{
    const jx_program *program = to->program;
    int ninputs = 0, nall = 0;
    const jx_dim_atom *const *inputs = jx_input_vars(program, &ninputs);
    const jx_dim_atom *const *all = jx_program_vars(program, &nall);
    bool *used = JX_NEW_ARRAY(arena_of(to), program->nscopes + 1, bool);
    foreign found = {0};
    jx_map seen;

    jx_map_init(&seen, arena_of(to));
    for (int i = 0; inputs && used && i < ninputs; i++) {
        jx_map_add(&seen, inputs[i]);
        if (inputs[i]->scope >= 0 && inputs[i]->scope < program->nscopes)
            used[inputs[i]->scope] = true;
    }
    for (int i = 0; all && i < nall; i++)
        if (jx_map_add(&seen, all[i]) &&
            !jx_program_unsaid(program, jx_dim_of_atom(program->dims, all[i])))
            JX_PUSH(arena_of(to), &found.values, all[i]);
    for (int s = 0; used && s < program->nscopes; s++)
        for (int i = 0; used[s] && i < program->scopes[s].nconstraints; i++) {
            const jx_scope_constraint *c = &program->scopes[s].constraints[i];
            add_vars(to, c->lhs, &seen, &found.constraints);
            add_vars(to, c->rhs, &seen, &found.constraints);
        }
    return found;
}

enum {
    SHOWN = 4, /* sizes of a variable that can't be solved */
    MOST = 100 /* such variables */
};

/* The sizes that a variable is in, none of which gives it. */

static const char *unsolved_text(const jx_analysis *to, const jx_solution *s,
                                 const jx_dim_atom *var)
{
    jx_buffer text = jx_ctx_text(to->program->ctx);
    int shown = 0;

    jx_buffer_printf(
        &text, "`%s` can't be solved from the inputs' shapes: ", var->name);
    for (int i = 0; i < s->nopen; i++) {
        if (!names(to, s->open[i].dim, var))
            continue;
        if (shown == SHOWN)
            break;
        jx_buffer_puts(&text, shown++ ? ", " : "");
        jx_input_axis_print(to->program, s->open[i].input, s->open[i].axis,
                            &text);
        jx_buffer_puts(&text, " = ");
        jx_dim_print(s->open[i].dim, &text);
    }
    jx_buffer_puts(&text, shown == 1 ? " is not linear in one unknown"
                                     : " are not linear in one unknown");
    return jx_arena_take(arena_of(to), &text);
}

static bool claim_unsolved(jx_analysis *to, const jx_dim_atom *var,
                           const char *what, const char *help)
{
    jx_claim *claim =
        claim_of_scope(to, JX_CODE_SHP006, var->scope, JX_GOAL_FALSE);

    if (!claim)
        return false;
    claim->what = what;
    claim->help = help;
    claim->verdict = JX_REFUTED;
    claim->evidence.by = "solving";
    return true;
}

static void join(const jx_analysis *to, const var_list *more, var_list *all)
{
    for (size_t i = 0; i < more->count; i++)
        JX_PUSH(arena_of(to), all, more->at[i]);
}

static bool claim_each(jx_analysis *to, const var_list *vars, const char *what,
                       const char *advice)
{
    for (size_t i = 0; i < vars->count; i++)
        if (!claim_unsolved(to, vars->at[i],
                            jx_arena_printf(arena_of(to), "`%s` %s",
                                            vars->at[i]->name, what),
                            advice))
            return false;
    return true;
}

static bool claim_solvable(jx_analysis *to)
{
    const jx_solution *s = jx_solution_of(to->program, 0, NULL);
    foreign f = foreign_vars(to);
    var_list all = {0};
    jx_buffer help = jx_ctx_text(to->program->ctx);
    bool ok = s != NULL;

    for (int i = 0; ok && i < s->nunsolved; i++)
        JX_PUSH(arena_of(to), &all, s->unsolved[i]);
    join(to, &f.values, &all);
    join(to, &f.constraints, &all);
    if (!ok || !all.count)
        return ok;
    jx_buffer_puts(&help, "let an array without elements bring the size: ");
    jx_signature_with(to->program, (int)all.count, all.at, &help);
    const char *advice = jx_arena_take(arena_of(to), &help);
    for (int i = 0; ok && i < s->nunsolved && i < MOST; i++)
        ok = claim_unsolved(to, s->unsolved[i],
                            unsolved_text(to, s, s->unsolved[i]), advice);
    if (ok && s->nunsolved > MOST)
        ok = claim_unsolved(to, s->unsolved[MOST],
                            jx_arena_printf(arena_of(to),
                                            "%d more variables can't be solved",
                                            s->nunsolved - MOST),
                            advice);
    return ok &&
           claim_each(to, &f.values,
                      "is in no input's shape, and a call gives sizes by the "
                      "shapes of its inputs alone",
                      advice) &&
           claim_each(to, &f.constraints,
                      "is in a constraint and in no input's shape, so that a "
                      "call can't check it",
                      advice);
}

/* -- constraints ----------------------------------------------------------- */

/* `v >= c` with a plain variable: what it is at least, else false. */
static bool lower_bound(const jx_analysis *to, const jx_scope_constraint *c,
                        const jx_dim_atom **var, int64_t *low)
{
    const jx_dim *d = jx_dim_sub(to->program->dims, c->lhs, c->rhs);
    const jx_dim_term *terms = d ? jx_dim_terms(d) : NULL;
    int n = d ? jx_dim_nterms(d) : 0;
    jx_int rest = n == 2 ? terms[1].coefficient : 0;

    if (c->equal || c->differs || n < 1 || n > 2 || terms[0].nfactors != 1 ||
        terms[0].coefficient != 1 || terms[0].factors->power != 1 ||
        terms[0].factors->atom->kind != JX_ATOM_VAR ||
        (n == 2 && terms[1].nfactors) || rest < -INT32_MAX || rest > INT32_MAX)
        return false;
    *var = terms[0].factors->atom;
    *low = (int64_t)-rest;
    return true;
}

/* The author meant 0 to be allowed, and it is not. */
static bool claim_zero(jx_analysis *to, int scope, const jx_scope_constraint *c,
                       const jx_dim_atom *var)
{
    jx_claim *claim = claim_of_scope(to, JX_CODE_SHP005, scope, JX_GOAL_FALSE);
    jx_buffer text = jx_ctx_text(to->program->ctx);

    if (!claim)
        return false;
    jx_buffer_puts(&text, "the constraint `");
    jx_scope_print(c, &text);
    jx_buffer_printf(&text,
                     "` admits %s = 0, but a variable is at least 1, and a "
                     "call with an empty axis is refused",
                     var->name);
    claim->what = jx_arena_take(arena_of(to), &text);
    claim->help = jx_arena_printf(
        arena_of(to),
        "write `%s - 1` for `%s` in the spec, which can be 0; or drop the "
        "constraint",
        var->name, var->name);
    claim->verdict = JX_REFUTED;
    claim->evidence.by = "bounds";
    return claim->help != NULL;
}

/* That a constraint says something; a doubt, settled by the prover. */
static bool claim_adds(jx_analysis *to, int scope, const jx_scope_constraint *c)
{
    const jx_dim_atom *var;
    jx_claim *claim;
    int64_t low;

    if (lower_bound(to, c, &var, &low) && low <= 0 && to->program->base == 1)
        return claim_zero(to, scope, c, var);
    claim = claim_of_scope(to, JX_CODE_SHP002, scope, JX_GOAL_ADDS);
    if (!claim)
        return false;
    claim->constraint = c;
    claim->level = JX_NOTE;
    claim->class = JX_PROBE;
    return true;
}

/* Some input has a size that is negative for some values of its variables. */
static bool may_be_negative(const jx_analysis *to)
{
    for (int i = 0; i < to->program->entry.jaxpr->nins; i++) {
        const jx_aval *aval = jx_input_aval(to->program, i);
        for (int k = 0; aval->kind == JX_AVAL_ARRAY && k < aval->rank; k++) {
            jx_dim_range r = jx_dim_bounds(aval->shape[k], to->program->base);
            if (!r.has_low || r.low < 0)
                return true;
        }
    }
    return false;
}

static bool claim_scope(jx_analysis *to, int index)
{
    const jx_scope *scope = &to->program->scopes[index];
    jx_claim *claim;

    if (!scope->nconstraints)
        return true;
    claim = claim_of_scope(to, JX_CODE_SHP002, index, JX_GOAL_ADMISSIBLE);
    if (!claim)
        return false;
    claim->what = "the constraints admit some sizes";
    for (int i = 0; i < scope->nconstraints; i++)
        if (!jx_scope_is_derived(scope, i) &&
            !claim_adds(to, index, &scope->constraints[i]))
            return false;
    return true;
}

static bool claim_callable(jx_analysis *to)
{
    jx_claim *claim;

    if (!may_be_negative(to))
        return true;
    claim = claim_of_scope(to, JX_CODE_SHP004, 0, JX_GOAL_CALLABLE);
    if (claim)
        claim->class = JX_PROBE;
    return claim != NULL;
}

/* -- comparisons without an answer ----------------------------------------- */

static bool is_repeated(const jx_program *program, int index)
{
    const jx_comparison *c = &program->comparisons[index];

    for (int i = 0; i < index; i++) {
        const jx_comparison *d = &program->comparisons[i];
        if (d->decision == JX_DECIDED_NONE && d->lhs == c->lhs &&
            d->rhs == c->rhs && !strcmp(d->op, c->op) && d->stack == c->stack)
            return true;
    }
    return false;
}

/* JAX raised at the user's line, and yet there is a program. */
static bool claim_swallowed(jx_analysis *to, int index)
{
    const jx_comparison *c = &to->program->comparisons[index];
    const char *why;
    jx_claim *claim;

    if (c->decision != JX_DECIDED_NONE || !c->stack || !c->stack->count ||
        jx_asking_of(c, &why) != JX_ASKING_semantic || why ||
        is_repeated(to->program, index))
        return true;
    claim = jx_claim_add(to->program->ctx, &to->claims, JX_CODE_SHP003);
    if (!claim)
        return false;
    claim->stack = c->stack;
    claim->goal = (jx_goal){.kind = JX_GOAL_ANSWER,
                            .lhs = c->lhs,
                            .rhs = c->rhs,
                            .comparison = c,
                            .scope = c->scope};
    return true;
}

bool jx_claim_declared(jx_analysis *to)
{
    enum { COMPARISONS = 4096 }; /* a look back at each is quadratic */
    int n = to->program->ncomparisons;

    if (!claim_solvable(to) || !claim_callable(to))
        return false;
    for (int i = 0; i < to->program->nscopes; i++)
        if (!claim_scope(to, i))
            return false;
    for (int i = 0; i < n && i < COMPARISONS; i++)
        if (!claim_swallowed(to, i))
            return false;
    return jx_ok(to->program->ctx);
}
