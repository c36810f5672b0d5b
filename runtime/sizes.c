/* sizes.c - the values of dim variables from the shapes of arrays.
 *
 * As in JAX (document on shape polymorphism, "variables must be solvable"), one
 * unknown at a time: a size that is linear in its only unknown variable gives
 * that variable, until nothing more follows. */
#include "runtime/plan.h"

#include "frontend/base/vec.h"

#include <stdio.h>

typedef struct solving {
    const jx_program *program;
    const jx_jaxpr *jaxpr;
    JX_VEC(jx_binding) known;
} solving;

static jx_ctx *ctx_of(const solving *s)
{
    return s->program->ctx;
}

static const char *text_of(const solving *s, const jx_dim *dim)
{
    jx_buffer text = {0};

    jx_dim_print(dim, &text);
    const char *kept =
        jx_arena_string(ctx_of(s)->arena, jx_buffer_text(&text), text.length);
    jx_buffer_free(&text);
    return kept ? kept : "";
}

static bool wrong(const solving *s, int input, int axis, const char *what,
                  int64_t size, const jx_dim *dim)
{
    char place[64];

    snprintf(place, sizeof place, "input %d, axis %d", input, axis);
    return jx_fail(ctx_of(s), JX_E_INPUT, s->program->path, place,
                   "has size %lld, but the program's is %s: %s",
                   (long long)size, text_of(s, dim), what);
}

static bool value_of(void *env, const jx_dim_atom *var, int64_t *value)
{
    const solving *s = env;

    for (size_t i = 0; i < s->known.count; i++)
        if (s->known.at[i].var == var) {
            *value = s->known.at[i].value;
            return true;
        }
    return false;
}

/* The dim with all known variables replaced. */
static const jx_dim *reduce(const solving *s, const jx_dim *dim)
{
    for (size_t i = 0; i < s->known.count && dim; i++)
        dim = jx_dim_substitute(
            s->program->dims, dim, s->known.at[i].var,
            jx_dim_int(s->program->dims, s->known.at[i].value));
    return dim;
}

/* factor * var + rest, with a plain variable. */
static bool linear(const jx_dim *dim, const jx_dim_atom **var, jx_int *factor,
                   jx_int *rest)
{
    const jx_dim_term *terms = jx_dim_terms(dim);
    int n = jx_dim_nterms(dim);

    *var = NULL;
    *rest = 0;
    for (int i = 0; i < n; i++) {
        if (terms[i].nfactors == 0) {
            *rest = terms[i].coefficient;
            continue;
        }
        const jx_dim_factor *f = terms[i].factors;
        if (*var || terms[i].nfactors > 1 || f->power > 1 ||
            f->atom->kind != JX_ATOM_VAR)
            return false;
        *var = f->atom;
        *factor = terms[i].coefficient;
    }
    return *var != NULL;
}

/* Uses one size.  Sets *learned when it gives a variable; false when no value
 * of it can fit. */
static bool use(solving *s, int input, int axis, const jx_dim *whole,
                int64_t size, bool *learned)
{
    const jx_dim *dim = reduce(s, whole);
    const jx_dim_atom *var;
    jx_int factor, rest;

    if (!dim || !linear(dim, &var, &factor, &rest))
        return true;
    jx_int off = (jx_int)size - rest;
    if (off % factor != 0)
        return wrong(s, input, axis, "no whole number fits", size, whole);
    jx_int value = off / factor;
    if (value < s->program->base)
        return wrong(s, input, axis, "its variable would be too small", size,
                     whole);
    if (value > INT64_MAX)
        return wrong(s, input, axis, "its variable would be too large", size,
                     whole);
    JX_PUSH(ctx_of(s)->arena, &s->known, (jx_binding){var, (int64_t)value});
    *learned = true;
    return true;
}

typedef bool visit(solving *s, int input, int axis, const jx_dim *dim,
                   int64_t size, bool *flag);

static bool each_size(solving *s, const int *ranks,
                      const int64_t *const *shapes, visit *visitor, bool *flag)
{
    for (int i = 0; i < s->jaxpr->nins; i++) {
        const jx_aval *aval = s->jaxpr->vars[s->jaxpr->nconsts + i]->aval;
        if (aval->kind != JX_AVAL_ARRAY)
            continue;
        if (ranks[i] != aval->rank) {
            char place[32];
            snprintf(place, sizeof place, "input %d", i);
            return jx_fail(ctx_of(s), JX_E_INPUT, s->program->path, place,
                           "has %d axes, the program's has %d", ranks[i],
                           aval->rank);
        }
        for (int k = 0; k < aval->rank; k++)
            if (!visitor(s, i, k, aval->shape[k], shapes[i][k], flag))
                return false;
    }
    return true;
}

static bool check_size(solving *s, int input, int axis, const jx_dim *dim,
                       int64_t size, bool *flag)
{
    int64_t value;
    int count = 0;

    (void)flag;
    if (jx_dim_eval(dim, value_of, s, &value))
        return value == size ||
               wrong(s, input, axis, "that does not fit the other sizes", size,
                     dim);
    const jx_dim_atom *const *vars = jx_dim_vars(s->program->dims, dim, &count);
    for (int i = 0; i < count; i++)
        if (!value_of(s, vars[i], &value))
            return jx_fail(
                ctx_of(s), JX_E_INPUT, s->program->path, NULL,
                "the variable %s can't be solved for: it appears only in sizes "
                "that are not linear in it, as in %s; give it with --set %s=N",
                vars[i]->name, text_of(s, dim), vars[i]->name);
    return wrong(s, input, axis, "it has no value at these sizes", size, dim);
}

/* -- constraints ---------------------------------------------------------- */

typedef enum outcome { BROKEN, HOLDS, UNKNOWN } outcome;

/* Unknown: a variable has no value (it belongs to no input). */
static outcome side(solving *s, const jx_dim *dim, int64_t *value)
{
    int count = 0;
    const jx_dim_atom *const *vars;

    if (jx_dim_eval(dim, value_of, s, value))
        return HOLDS;
    vars = jx_dim_vars(s->program->dims, dim, &count);
    for (int i = 0; i < count; i++)
        if (!value_of(s, vars[i], value))
            return UNKNOWN;
    return BROKEN;
}

static outcome judge(solving *s, const jx_scope_constraint *c)
{
    int64_t a, b;
    outcome left = side(s, c->lhs, &a), right = side(s, c->rhs, &b);

    if (left != HOLDS || right != HOLDS)
        return left == BROKEN || right == BROKEN ? BROKEN : UNKNOWN;
    return (c->equal ? a == b : a >= b) ? HOLDS : BROKEN;
}

/* The first constraint that does not hold, or NULL. */
static const jx_scope_constraint *broken(solving *s)
{
    for (int i = 0; i < s->program->nscopes; i++)
        for (int k = 0; k < s->program->scopes[i].nconstraints; k++)
            if (judge(s, &s->program->scopes[i].constraints[k]) == BROKEN)
                return &s->program->scopes[i].constraints[k];
    return NULL;
}

static void take(solving *s, int n, const jx_binding *bindings)
{
    for (int i = 0; i < n; i++)
        JX_PUSH(ctx_of(s)->arena, &s->known, bindings[i]);
}

bool jx_plan_admissible(const jx_program *program, int nbindings,
                        const jx_binding *bindings)
{
    solving s = {.program = program};

    take(&s, nbindings, bindings);
    for (int i = 0; i < nbindings; i++)
        if (bindings[i].value < program->base)
            return false;
    return !broken(&s);
}

static const char *sizes_text(const solving *s)
{
    jx_buffer text = {0};

    for (size_t i = 0; i < s->known.count; i++)
        jx_buffer_printf(&text, "%s%s = %lld", i ? ", " : "",
                         s->known.at[i].var->name,
                         (long long)s->known.at[i].value);
    const char *kept =
        jx_arena_string(ctx_of(s)->arena, jx_buffer_text(&text), text.length);
    jx_buffer_free(&text);
    return kept ? kept : "";
}

/* False with an error if a constraint is broken. */
static bool none_broken(solving *s)
{
    const jx_scope_constraint *c = broken(s);

    return !c || jx_fail(ctx_of(s), JX_E_INPUT, s->program->path, NULL,
                         "the sizes %s break the constraint %s", sizes_text(s),
                         c->text ? c->text : "that was declared");
}

bool jx_plan_admit(const jx_program *program, int nbindings,
                   const jx_binding *bindings)
{
    solving s = {.program = program};

    take(&s, nbindings, bindings);
    for (int i = 0; i < nbindings; i++)
        if (bindings[i].value < program->base)
            return jx_fail(program->ctx, JX_E_INPUT, program->path, NULL,
                           "expected %s >= %lld, got %lld",
                           bindings[i].var->name, (long long)program->base,
                           (long long)bindings[i].value);
    return none_broken(&s);
}

bool jx_plan_solve(const jx_program *program, const jx_closed *closed,
                   const int *ranks, const int64_t *const *shapes, int nfixed,
                   const jx_binding *fixed, int *nbindings,
                   const jx_binding **bindings)
{
    solving s = {.program = program, .jaxpr = closed->jaxpr};
    bool learned = true;

    take(&s, nfixed, fixed);
    while (learned) {
        learned = false;
        if (!each_size(&s, ranks, shapes, use, &learned))
            return false;
    }
    if (!each_size(&s, ranks, shapes, check_size, &learned))
        return false;
    if (!none_broken(&s))
        return false;
    *nbindings = (int)s.known.count;
    *bindings = s.known.at;
    return jx_ok(program->ctx);
}
