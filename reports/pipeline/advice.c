/* advice.c - see advice.h. */
#include "reports/pipeline/advice.h"

#include "frontend/base/json.h"
#include "frontend/ir/dim_spec.h"
#include "frontend/ir/scope.h"
#include "frontend/ir/signature.h"

#include <string.h>

typedef struct adviser {
    const jx_program *program;
    const jx_claim *claim;
    int count;
    const jx_constraint *settles; /* all of them */
    jx_buffer text;
} adviser;

static void begin_line(adviser *a)
{
    if (a->text.length)
        jx_buffer_putc(&a->text, '\n');
}

static bool is_number(const jx_dim *dim, jx_int *value)
{
    return jx_dim_is_wide(dim, value);
}

/* The dim as a plain variable; NULL if it is none. */
static const jx_dim_atom *sole_var(const jx_dim *dim)
{
    const jx_dim_term *term = jx_dim_terms(dim);

    return jx_dim_nterms(dim) == 1 && term->nfactors == 1 &&
                   term->factors->power == 1 && term->coefficient == 1 &&
                   term->factors->atom->kind == JX_ATOM_VAR
               ? term->factors->atom
               : NULL;
}

/* -- a constraint ---------------------------------------------------------- */

static bool is_product(const jx_dim *dim)
{
    return jx_dim_nterms(dim) == 1 && jx_dim_terms(dim)->nfactors > 0;
}

/* The constraint in JAX's language (>=, <=, and == with one product on its
 * left), or nothing where it has no words for it. */
static bool put_for_jax(const jx_constraint *c, jx_buffer *to)
{
    jx_constraint turned = {c->rhs, c->relation, c->lhs};

    switch (c->relation) {
    case JX_REL_GE:
    case JX_REL_LE: jx_constraint_print(c, to); return true;
    case JX_REL_EQ:
        if (!is_product(c->lhs) && !is_product(c->rhs))
            return false;
        jx_constraint_print(is_product(c->lhs) ? c : &turned, to);
        return true;
    default: return false;
    }
}

static void put_quoted(adviser *a, int *n, const char *text)
{
    if ((*n)++)
        jx_buffer_puts(&a->text, ", ");
    jx_json_put_text(&a->text, text);
}

/* What is declared already, as it was written if JAX reads that. */
static bool put_declared(const jx_scope_constraint *c, jx_buffer *to)
{
    jx_constraint sides = jx_constraint_of_scope(c);
    bool read = c->text && (strstr(c->text, ">=") || strstr(c->text, "<=") ||
                            strstr(c->text, "=="));

    if (!read)
        return put_for_jax(&sides, to);
    jx_buffer_puts(to, c->text);
    return true;
}

/* ["b >= 2", "mod(n, 4) == 0"]; false if JAX has no words for one of them.  Of
 * so many that nobody has written them by hand only the new one. */
static bool put_constraints(adviser *a, const jx_scope *in)
{
    enum { MANY = 64 };
    int n = 0;
    bool ok = true;
    jx_buffer one = jx_ctx_text(a->program->ctx);

    jx_buffer_putc(&a->text, '[');
    if (in && in->nconstraints > MANY) {
        jx_buffer_puts(&a->text, "...");
        in = NULL;
        n = 1;
    }
    for (int i = 0; ok && in && i < in->nconstraints; i++) {
        if (jx_scope_is_derived(in, i))
            continue;
        jx_buffer_clear(&one);
        ok = put_declared(&in->constraints[i], &one);
        put_quoted(a, &n, jx_buffer_text(&one));
    }
    for (int i = 0; ok && i < a->count; i++) {
        jx_buffer_clear(&one);
        ok = put_for_jax(&a->settles[i], &one);
        put_quoted(a, &n, jx_buffer_text(&one));
    }
    jx_buffer_putc(&a->text, ']');
    jx_buffer_free(&one);
    return ok;
}

/* symbolic_shape(..., constraints=["b >= 2", "mod(n, 4) == 0"]) */
static void advise_constraint(adviser *a)
{
    int scope = a->claim->goal.scope;
    size_t before = a->text.length;

    begin_line(a);
    jx_buffer_puts(&a->text, "declare it: symbolic_shape(..., constraints=");
    if (put_constraints(a, scope >= 0 && scope < a->program->nscopes
                               ? &a->program->scopes[scope]
                               : NULL))
        jx_buffer_putc(&a->text, ')');
    else
        jx_buffer_cut(&a->text, before);
}

/* -- another spec ---------------------------------------------------------- */

/* What can stand for the variable in the spec so that the constraint holds by
 * itself: 4*n for `mod(n, 4) == 0`, n + 15 for `n >= 16`, 4 for `n == 4`. */
static const jx_dim *instead(const adviser *a, const jx_constraint *c,
                             const jx_dim_atom **var)
{
    jx_dims *dims = a->program->dims;
    jx_int value;

    if (!is_number(c->rhs, &value))
        return NULL;
    *var = sole_var(c->lhs);
    if (*var && c->relation == JX_REL_EQ && value >= 1)
        return c->rhs;
    if (*var && c->relation == JX_REL_GE && value > a->program->base)
        return jx_dim_add(dims, c->lhs,
                          jx_dim_wide(dims, value - a->program->base));
    if (*var || c->relation != JX_REL_EQ || value || !is_product(c->lhs))
        return NULL;
    const jx_dim_term *term = jx_dim_terms(c->lhs);
    const jx_dim_atom *mod = term->factors->atom;
    if (term->nfactors != 1 || term->factors->power != 1 ||
        mod->kind != JX_ATOM_MOD || !is_number(mod->b, &value) ||
        !(*var = sole_var(mod->a)))
        return NULL;
    return jx_dim_mul(dims, mod->b, mod->a);
}

/* The first input that has the variable, or -1. */
static int input_with(const adviser *a, const jx_dim_atom *var)
{
    for (int i = 0; i < a->program->entry.jaxpr->nins; i++) {
        const jx_aval *aval = jx_input_aval(a->program, i);
        for (int k = 0; aval->kind == JX_AVAL_ARRAY && k < aval->rank; k++) {
            int n = 0;
            const jx_dim_atom *const *vars =
                jx_dim_vars(a->program->dims, aval->shape[k], &n);
            for (int v = 0; vars && v < n; v++)
                if (vars[v] == var)
                    return i;
        }
    }
    return -1;
}

/* The dim with all that is put for its variables. */
static const jx_dim *put_all(const adviser *a, const jx_dim *dim,
                             const jx_dim_atom *const *vars,
                             const jx_dim *const *puts)
{
    for (int i = 0; dim && i < a->count; i++)
        dim = jx_dim_substitute(a->program->dims, dim, vars[i], puts[i]);
    return dim;
}

static bool put_shape_with(adviser *a, int input,
                           const jx_dim_atom *const *vars,
                           const jx_dim *const *puts)
{
    const jx_aval *aval = jx_input_aval(a->program, input);
    const jx_dim **dims =
        JX_NEW_ARRAY(a->program->ctx->arena, aval->rank + 1, const jx_dim *);

    for (int k = 0; dims && k < aval->rank; k++) {
        dims[k] = put_all(a, aval->shape[k], vars, puts);
        if (!dims[k])
            return false;
    }
    if (!dims)
        return false;
    jx_input_print(a->program, input, &a->text);
    jx_buffer_puts(&a->text, ".shape = ");
    jx_dim_shape_print(&(jx_dim_shape){aval->rank, dims}, &a->text);
    return true;
}

/* Another spec for each constraint, in the first input that has the first one's
 * variable. */
static void advise_spec(adviser *a)
{
    jx_arena *arena = a->program->ctx->arena;
    const jx_dim_atom **vars =
        JX_NEW_ARRAY(arena, a->count, const jx_dim_atom *);
    const jx_dim **puts = JX_NEW_ARRAY(arena, a->count, const jx_dim *);
    size_t before = a->text.length;
    int input = -1;

    for (int i = 0; vars && puts && i < a->count; i++) {
        puts[i] = instead(a, &a->settles[i], &vars[i]);
        if (!puts[i] || (input = input_with(a, vars[0])) < 0)
            return;
    }
    if (input < 0)
        return;
    begin_line(a);
    jx_buffer_puts(&a->text, before ? "or put " : "put ");
    for (int i = 0; i < a->count; i++) {
        jx_buffer_puts(&a->text, i ? " and `" : "`");
        jx_dim_print(puts[i], &a->text);
        jx_buffer_printf(&a->text, "` for `%s`", vars[i]->name);
    }
    jx_buffer_puts(&a->text, " in the spec: ");
    if (!put_shape_with(a, input, vars, puts))
        jx_buffer_cut(&a->text, before);
}

/* -- sizes chosen when they are known -------------------------------------- */

static void put_choice(adviser *a, const char *name, const jx_dim *x,
                       const jx_dim *y)
{
    jx_buffer_printf(&a->text, "core.%s(", name);
    jx_dim_print(x, &a->text);
    jx_buffer_puts(&a->text, ", ");
    jx_dim_print(y, &a->text);
    jx_buffer_putc(&a->text, ')');
}

/* A size that should not be less than another. */
static void advise_bounds(adviser *a)
{
    const jx_goal *goal = &a->claim->goal;
    const jx_eqn *eqn = a->claim->eqn;
    jx_int value;

    if (is_number(goal->lhs, &value) && is_number(goal->rhs, &value))
        return;
    if (is_number(goal->rhs, &value) && !value) {
        begin_line(a);
        jx_buffer_puts(&a->text, "or take ");
        put_choice(a, "max_dim", goal->lhs, goal->rhs);
        jx_buffer_puts(&a->text, " where the size is computed");
    } else if (eqn && eqn->prim->id == JX_PRIM_slice) {
        begin_line(a);
        jx_buffer_puts(&a->text, "or slice up to ");
        put_choice(a, "min_dim", goal->rhs, goal->lhs);
        jx_buffer_puts(&a->text, ", which is never too large");
    }
}

/* A comparison that the user's code branched on. */
static void advise_branch(adviser *a)
{
    const jx_comparison *c = a->claim->goal.comparison;

    if (!c || !c->lhs || !c->rhs)
        return;
    if (!strcmp(c->op, ">=")) {
        begin_line(a);
        jx_buffer_puts(&a->text, "if it is the larger or the smaller size that "
                                 "is wanted, ");
        put_choice(a, "max_dim", c->lhs, c->rhs);
        jx_buffer_puts(&a->text, " and core.min_dim are found once sizes are "
                                 "known");
    } else if (a->claim->code == JX_CODE_SHP001) {
        begin_line(a);
        jx_buffer_puts(&a->text, "or let the running program compare: "
                                 "jnp.where(jnp.array(");
        jx_dim_print(c->lhs, &a->text);
        jx_buffer_printf(&a->text, ") %s ", c->op);
        jx_dim_print(c->rhs, &a->text);
        jx_buffer_puts(&a->text, ", ...) or lax.cond, where both ways give the "
                                 "same shapes");
    }
}

int jx_advised(const jx_answer *answer, const jx_constraint **settles)
{
    *settles = answer->nsuggestions ? answer->suggestions : answer->together;
    return answer->nsuggestions ? 1 : answer->ntogether;
}

const char *jx_advised_text(const jx_program *program, int count,
                            const jx_constraint *settles)
{
    jx_buffer text = jx_ctx_text(program->ctx);

    for (int i = 0; i < count; i++) {
        jx_buffer_puts(&text, i ? " and " : "");
        jx_constraint_print(&settles[i], &text);
    }
    return jx_arena_take(program->ctx->arena, &text);
}

const char *jx_advice(const jx_program *program, const jx_claim *claim,
                      int count, const jx_constraint *settles)
{
    adviser a = {.program = program,
                 .claim = claim,
                 .count = count,
                 .settles = settles,
                 .text = jx_ctx_text(program->ctx)};
    const char *kept = NULL;

    /* A bound on one size is no advice where a product passes a limit. */
    if (count && claim->code != JX_CODE_IDX004) {
        advise_constraint(&a);
        advise_spec(&a);
    }
    if (claim->code == JX_CODE_SHP013 && claim->goal.kind == JX_GOAL_GE &&
        claim->goal.lhs && claim->goal.rhs)
        advise_bounds(&a);
    if (claim->code == JX_CODE_SHP001 || claim->code == JX_CODE_SHP003)
        advise_branch(&a);
    if (a.text.length)
        kept = jx_arena_take(program->ctx->arena, &a.text);
    jx_buffer_free(&a.text);
    return kept;
}
