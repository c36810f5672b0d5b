/* solve.c - from the shapes of inputs to the values of dim variables. */
#include "runtime/plan.h"

#include <string.h>

typedef struct solver {
    const jx_program *program;
    const jx_closed *closed;
    const int *ranks;
    const int64_t *const *shapes;
    int count, capacity;
    jx_binding *bindings;
} solver;

static bool value_of(void *env, const jx_dim_atom *var, int64_t *value)
{
    const solver *s = env;

    for (int i = 0; i < s->count; i++)
        if (s->bindings[i].var == var) {
            *value = s->bindings[i].value;
            return true;
        }
    return false;
}

static const char *text_of(const solver *s, const jx_dim *dim)
{
    jx_buffer text = {0};

    jx_dim_print(dim, &text);
    const char *kept = jx_arena_printf(s->program->ctx->arena, "%s",
                                       jx_buffer_text(&text));
    jx_buffer_free(&text);
    return kept ? kept : "";
}

static const jx_aval *input(const solver *s, int i)
{
    const jx_jaxpr *jaxpr = s->closed->jaxpr;

    return jaxpr->vars[jaxpr->nconsts + i]->aval;
}

/* The dim with the variables that have values replaced by them. */
static const jx_dim *known_replaced(const solver *s, const jx_dim *dim)
{
    jx_dims *dims = s->program->dims;

    for (int i = 0; i < s->count && dim; i++)
        dim = jx_dim_substitute(dims, dim, s->bindings[i].var,
                                jx_dim_int(dims, s->bindings[i].value));
    return dim;
}

/* coefficient * variable + rest == size, if that is what it says. */
static bool solve_axis(solver *s, const jx_dim *dim, int64_t size)
{
    const jx_dim *left = known_replaced(s, dim);
    const jx_dim_term *terms = left ? jx_dim_terms(left) : NULL;
    int n = left ? jx_dim_nterms(left) : 0;

    if (n < 1 || n > 2 || terms[0].nfactors != 1 ||
        terms[0].factors[0].power != 1 ||
        terms[0].factors[0].atom->kind != JX_ATOM_VAR ||
        (n == 2 && terms[1].nfactors != 0))
        return false;
    jx_int rest = n == 2 ? terms[1].coefficient : 0;
    jx_int scaled = (jx_int)size - rest;
    if (scaled % terms[0].coefficient || s->count == s->capacity)
        return false;
    jx_int value = scaled / terms[0].coefficient;
    if (value > INT64_MAX || value < INT64_MIN)
        return false;
    s->bindings[s->count++] =
        (jx_binding){terms[0].factors[0].atom, (int64_t)value};
    return true;
}

static bool solve_once(solver *s)
{
    bool progress = false;

    for (int i = 0; i < s->closed->jaxpr->nins; i++) {
        const jx_aval *aval = input(s, i);
        for (int k = 0; k < aval->rank && k < s->ranks[i]; k++)
            progress |= solve_axis(s, aval->shape[k], s->shapes[i][k]);
    }
    return progress;
}

/* Every input has the shape that its aval says at these values. */
static bool check_shapes(solver *s)
{
    jx_ctx *ctx = s->program->ctx;

    for (int i = 0; i < s->closed->jaxpr->nins; i++) {
        const jx_aval *aval = input(s, i);
        const char *place =
            jx_arena_printf(ctx->arena, "input %d", i);
        if (aval->rank != s->ranks[i])
            return jx_fail(ctx, JX_E_INPUT, s->program->path, place,
                           "has rank %d, the program takes rank %d",
                           s->ranks[i], aval->rank);
        for (int k = 0; k < aval->rank; k++) {
            int64_t value;
            const char *text = text_of(s, aval->shape[k]);
            if (!jx_dim_eval(aval->shape[k], value_of, s, &value))
                return jx_fail(ctx, JX_E_INPUT, s->program->path, place,
                               "axis %d does not say what the variables of "
                               "%s are: give them (--set b=3)",
                               k, text);
            if (value != s->shapes[i][k])
                return jx_fail(ctx, JX_E_INPUT, s->program->path, place,
                               "axis %d has %lld elements, the program takes "
                               "%s%s%lld",
                               k, (long long)s->shapes[i][k], text,
                               jx_dim_is_int(aval->shape[k], &value) ? ", "
                                                                     : " = ",
                               (long long)value);
        }
    }
    return true;
}

/* No more variables than axes can be solved for. */
static int count_axes(const jx_closed *closed)
{
    int n = 0;

    for (int i = 0; i < closed->jaxpr->nins; i++)
        n += closed->jaxpr->vars[closed->jaxpr->nconsts + i]->aval->rank;
    return n;
}

bool jx_plan_solve(const jx_program *program, const jx_closed *closed,
                   const int *ranks, const int64_t *const *shapes, int nfixed,
                   const jx_binding *fixed, int *nbindings,
                   const jx_binding **bindings)
{
    solver s = {.program = program,
                .closed = closed,
                .ranks = ranks,
                .shapes = shapes,
                .count = nfixed,
                .capacity = nfixed + count_axes(closed)};

    s.bindings =
        JX_NEW_ARRAY(program->ctx->arena, s.capacity + 1, jx_binding);
    if (!s.bindings)
        return jx_ok(program->ctx);
    if (nfixed)
        memcpy(s.bindings, fixed, (size_t)nfixed * sizeof *fixed);
    while (solve_once(&s))
        ;
    if (!check_shapes(&s))
        return false;
    *nbindings = s.count;
    *bindings = s.bindings;
    return jx_plan_admissible(program, s.count, s.bindings);
}

static bool holds(const solver *s, const jx_scope_constraint *c)
{
    int64_t lhs, rhs;

    if (!jx_dim_eval(c->lhs, value_of, (void *)(uintptr_t)s, &lhs) ||
        !jx_dim_eval(c->rhs, value_of, (void *)(uintptr_t)s, &rhs))
        return true; /* of variables that play no part here */
    return c->equal ? lhs == rhs : lhs >= rhs;
}

bool jx_plan_admissible(const jx_program *program, int nbindings,
                        const jx_binding *bindings)
{
    solver s = {.program = program,
                .count = nbindings,
                .bindings = (jx_binding *)(uintptr_t)bindings};

    for (int i = 0; i < nbindings; i++)
        if (bindings[i].value < program->base)
            return jx_fail(program->ctx, JX_E_INPUT, program->path, NULL,
                           "the size %s is %lld here; sizes start at %lld",
                           bindings[i].var->name,
                           (long long)bindings[i].value,
                           (long long)program->base);
    for (int i = 0; i < program->nscopes; i++)
        for (int k = 0; k < program->scopes[i].nconstraints; k++) {
            const jx_scope_constraint *c = &program->scopes[i].constraints[k];
            if (!holds(&s, c))
                return jx_fail(program->ctx, JX_E_INPUT, program->path, NULL,
                               "these sizes break the constraint %s", c->text);
        }
    return true;
}
