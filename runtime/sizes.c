/* sizes.c - the values of dim variables from the shapes of arrays.
 *
 * The steps are those of solution.h, in JAX's order, so that the same size is
 * blamed.  Where JAX stops, a size that becomes linear once known values stand
 * in it is used too (`a*b` with a known a). */
#include "runtime/plan.h"

#include "frontend/base/vec.h"
#include "frontend/ir/scope.h"
#include "frontend/ir/signature.h"
#include "frontend/ir/solution.h"
#include "frontend/read/asserted.h"

#include <stdio.h>

/* A step of the solution and the size that the caller's array has there. */
typedef struct equation {
    jx_size_step step;
    int64_t size;
} equation;

/* A variable's value, and the size that gave it (NULL: the caller). */
typedef struct known {
    jx_binding binding;
    const equation *from;
} known;

typedef struct solving {
    const jx_program *program;
    const int64_t *const *shapes; /* of the caller's arrays, or NULL */
    bool ranked; /* ... which have the declared ranks, and numbers */
    JX_VEC(known) known;
} solving;

static jx_ctx *ctx_of(const solving *s)
{
    return s->program->ctx;
}

static const known *find(const solving *s, const jx_dim_atom *var)
{
    for (size_t i = 0; i < s->known.count; i++)
        if (s->known.at[i].binding.var == var)
            return &s->known.at[i];
    return NULL;
}

static bool value_of(void *env, const jx_dim_atom *var, int64_t *value)
{
    const known *k = find(env, var);

    if (!k || k->binding.value != (int64_t)k->binding.value)
        return false;
    *value = (int64_t)k->binding.value;
    return true;
}

static bool all_known(const solving *s, const jx_dim *dim)
{
    int count = 0;
    const jx_dim_atom *const *vars = jx_dim_vars(s->program->dims, dim, &count);

    for (int i = 0; vars && i < count; i++)
        if (!find(s, vars[i]))
            return false;
    return vars != NULL;
}

/* -- what a message says --------------------------------------------------- */

static void put_axis(const solving *s, const equation *e, jx_buffer *to)
{
    jx_input_axis_print(s->program, e->step.input, e->step.axis, to);
}

/* "b = 3 from args[0].shape[0]" */
static void put_known(const solving *s, const known *k, jx_buffer *to)
{
    jx_buffer_printf(to, "%s = %lld", k->binding.var->name,
                     (long long)k->binding.value);
    if (!k->from)
        return;
    jx_buffer_puts(to, " from ");
    put_axis(s, k->from, to);
    if (k->binding.value == k->from->size)
        return;
    jx_buffer_printf(to, " = %lld, declared ", (long long)k->from->size);
    jx_dim_print(k->from->step.dim, to);
}

static bool names(const solving *s, int count, const jx_dim *const *dims,
                  const jx_dim_atom *var)
{
    for (int i = 0; i < count; i++) {
        int n = 0;
        const jx_dim_atom *const *vars =
            jx_dim_vars(s->program->dims, dims[i], &n);
        for (int k = 0; vars && k < n; k++)
            if (vars[k] == var)
                return true;
    }
    return false;
}

/* The variables of these dims as far as they are known, with their origins. */
static void put_origins(const solving *s, int count, const jx_dim *const *dims,
                        jx_buffer *to)
{
    const char *before = "; ";

    for (size_t i = 0; i < s->known.count; i++) {
        if (!names(s, count, dims, s->known.at[i].binding.var))
            continue;
        jx_buffer_puts(to, before);
        put_known(s, &s->known.at[i], to);
        before = ", ";
    }
}

/* What the module itself says of it. */
static void put_asserted(const solving *s, jx_buffer *to)
{
    JX_VEC(jx_binding) all = {0};
    const char *says;

    for (size_t i = 0; i < s->known.count; i++)
        JX_PUSH(ctx_of(s)->arena, &all, s->known.at[i].binding);
    if (!s->shapes)
        says = jx_asserted_for(s->program, (int)all.count, all.at);
    else
        says = s->ranked ? jx_asserted_at(s->program, s->shapes, (int)all.count,
                                          all.at)
                         : NULL;
    if (says)
        jx_buffer_printf(to, "; the program asserts: %s", says);
}

/* Fails with the text, which is freed. */
static bool fail_with(const solving *s, const char *place, jx_buffer *text)
{
    put_asserted(s, text);
    jx_fail(ctx_of(s), JX_E_INPUT, s->program->path, place, "%s",
            jx_buffer_text(text));
    jx_buffer_free(text);
    return false;
}

/* The size does not fit; `why` says what would be needed and is freed. */
static bool wrong(const solving *s, const equation *e, jx_buffer *why)
{
    const jx_aval *aval = jx_input_aval(s->program, e->step.input);
    jx_buffer text = jx_ctx_text(s->program->ctx),
              place = jx_ctx_text(s->program->ctx);

    put_axis(s, e, &place);
    jx_buffer_printf(&text, "is %lld, ", (long long)e->size);
    jx_buffer_puts(&text, jx_buffer_text(why));
    jx_buffer_puts(&text, " (the program's ");
    jx_input_spec_print(s->program, e->step.input, &text);
    put_origins(s, aval->rank, aval->shape, &text);
    jx_buffer_putc(&text, ')');
    fail_with(s, jx_buffer_text(&place), &text);
    jx_buffer_free(&place);
    jx_buffer_free(why);
    return false;
}

static void put_declared(const equation *e, jx_buffer *to)
{
    jx_buffer_puts(to, "declared ");
    jx_dim_print(e->step.dim, to);
}

static bool indivisible(const solving *s, const equation *e,
                        const jx_dim_atom *var, jx_int factor, jx_int rest)
{
    jx_buffer why = jx_ctx_text(s->program->ctx);
    jx_int quotient, remainder;

    put_declared(e, &why);
    jx_buffer_printf(&why, ": no `%s` gives that, since ", var->name);
    jx_int_print((jx_int)e->size - rest, &why);
    jx_buffer_puts(&why, " divided by ");
    jx_int_print(factor, &why);
    if (jx_int_floordiv((jx_int)e->size - rest, factor, &quotient,
                        &remainder)) {
        jx_buffer_puts(&why, " has remainder ");
        jx_int_print(remainder, &why);
    }
    return wrong(s, e, &why);
}

static bool out_of_range(const solving *s, const equation *e,
                         const jx_dim_atom *var, jx_int value)
{
    jx_buffer why = jx_ctx_text(s->program->ctx);

    put_declared(e, &why);
    jx_buffer_printf(&why, ": so `%s` would be ", var->name);
    jx_int_print(value, &why);
    if (value < s->program->base)
        jx_buffer_printf(&why, ", expected at least %lld",
                         (long long)s->program->base);
    else
        jx_buffer_puts(&why, ", expected a 64-bit integer");
    return wrong(s, e, &why);
}

static bool inconsistent(const solving *s, const equation *e, int64_t value)
{
    jx_buffer why = jx_ctx_text(s->program->ctx);
    int64_t number;

    if (jx_dim_is_int(e->step.dim, &number)) {
        jx_buffer_printf(&why, "expected %lld", (long long)number);
        return wrong(s, e, &why);
    }
    put_declared(e, &why);
    jx_buffer_printf(&why, ", which is %lld", (long long)value);
    return wrong(s, e, &why);
}

static bool without_value(const solving *s, const equation *e)
{
    jx_buffer why = jx_ctx_text(s->program->ctx);

    put_declared(e, &why);
    jx_buffer_puts(&why, ", which has no value: a divisor is 0, or it does not "
                         "fit in 64 bits");
    return wrong(s, e, &why);
}

/* -- solving --------------------------------------------------------------- */

/* The dim with all known variables replaced. */
static const jx_dim *reduce(const solving *s, const jx_dim *dim)
{
    for (size_t i = 0; i < s->known.count && dim; i++)
        dim = jx_dim_substitute(
            s->program->dims, dim, s->known.at[i].binding.var,
            jx_dim_wide(s->program->dims, s->known.at[i].binding.value));
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

static equation *equation_of(solving *s, const jx_size_step *step)
{
    equation *e = JX_NEW(ctx_of(s)->arena, equation);

    if (e)
        *e = (equation){*step, s->shapes[step->input][step->axis]};
    return e;
}

/* factor*var + rest == size */
static bool learn(solving *s, const equation *e, const jx_dim_atom *var,
                  jx_int factor, jx_int rest)
{
    jx_int off, value;

    if (__builtin_sub_overflow((jx_int)e->size, rest, &off))
        return without_value(s, e);
    if (off % factor != 0)
        return indivisible(s, e, var, factor, rest);
    value = off / factor;
    if (value < s->program->base || value > INT64_MAX)
        return out_of_range(s, e, var, value);
    JX_PUSH(ctx_of(s)->arena, &s->known, (known){{var, (int64_t)value}, e});
    return true;
}

/* Compares a size whose variables are all known. */
static bool compare(const solving *s, const equation *e)
{
    int64_t value;

    if (!jx_dim_eval(e->step.dim, value_of, (void *)(uintptr_t)s, &value))
        return without_value(s, e);
    return value == e->size || inconsistent(s, e, value);
}

static bool take_step(solving *s, const jx_size_step *step)
{
    const equation *e = equation_of(s, step);
    jx_int rest;

    if (!e)
        return false;
    if (!step->var)
        return compare(s, e);
    if (!jx_dim_eval_wide(step->rest, value_of, s, &rest))
        return without_value(s, e);
    return learn(s, e, step->var, step->factor, rest);
}

/* Uses a size that JAX leaves alone, if it is linear once the known values
 * stand in it.  Sets *learned; false with an error. */
static bool use_open(solving *s, const jx_size_step *step, bool *learned)
{
    const jx_dim *dim = reduce(s, step->dim);
    const jx_dim_atom *var;
    jx_int factor, rest;

    *learned = dim && linear(dim, &var, &factor, &rest);
    if (!*learned)
        return true;
    const equation *e = equation_of(s, step);
    return e && learn(s, e, var, factor, rest);
}

/* Names the variables that stay unknown, and the sizes that have them. */
static bool unsolved(const solving *s, const jx_solution *left)
{
    jx_buffer text = jx_ctx_text(s->program->ctx);

    jx_buffer_puts(&text, "can't solve for ");
    for (int i = 0; i < left->nunsolved; i++)
        jx_buffer_printf(&text, "%s`%s`", i ? ", " : "",
                         left->unsolved[i]->name);
    jx_buffer_puts(&text, ": only a size that is linear in one unknown gives "
                          "its value, and ");
    for (int i = 0; i < left->nopen; i++) {
        const jx_size_step *open = &left->open[i];
        jx_buffer_puts(&text, i ? ", " : "");
        jx_input_axis_print(s->program, open->input, open->axis, &text);
        jx_buffer_printf(&text, " = %lld is declared ",
                         (long long)s->shapes[open->input][open->axis]);
        jx_dim_print(open->dim, &text);
    }
    jx_buffer_puts(&text, "; give it with --set NAME=SIZE, or let the program "
                          "take an array of shape (0, NAME)");
    return fail_with(s, NULL, &text);
}

/* -- constraints ---------------------------------------------------------- */

typedef enum outcome { BROKEN, HOLDS, UNKNOWN } outcome;

/* Unknown: a variable has no value (it belongs to no input). */
static outcome side(const solving *s, const jx_dim *dim, int64_t *value)
{
    if (jx_dim_eval(dim, value_of, (void *)(uintptr_t)s, value))
        return HOLDS;
    return all_known(s, dim) ? BROKEN : UNKNOWN;
}

static outcome judge(const solving *s, const jx_scope_constraint *c)
{
    int64_t a, b;
    outcome left = side(s, c->lhs, &a), right = side(s, c->rhs, &b);

    if (left != HOLDS || right != HOLDS)
        return left == BROKEN || right == BROKEN ? BROKEN : UNKNOWN;
    return jx_scope_holds(c, a, b) ? HOLDS : BROKEN;
}

/* The first constraint that does not hold, or NULL.  What JAX derives holds
 * where that holds from which it is derived. */
static const jx_scope_constraint *broken(const solving *s)
{
    for (int i = 0; i < s->program->nscopes; i++) {
        const jx_scope *scope = &s->program->scopes[i];
        for (int k = 0; k < scope->nconstraints; k++)
            if (judge(s, &scope->constraints[k]) == BROKEN &&
                !jx_scope_is_derived(scope, k))
                return &scope->constraints[k];
    }
    return NULL;
}

static void take(solving *s, int n, const jx_binding *bindings)
{
    for (int i = 0; i < n; i++)
        JX_PUSH(ctx_of(s)->arena, &s->known, (known){bindings[i], NULL});
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

/* False with an error if a constraint is broken. */
static bool none_broken(const solving *s)
{
    const jx_scope_constraint *c = broken(s);
    jx_buffer text = jx_ctx_text(s->program->ctx);
    int64_t lhs, rhs;

    if (!c)
        return true;
    jx_buffer_puts(&text, "the constraint `");
    jx_scope_print(c, &text);
    jx_buffer_puts(&text, "` does not hold");
    if (side(s, c->lhs, &lhs) == HOLDS && side(s, c->rhs, &rhs) == HOLDS)
        jx_buffer_printf(&text, ": %lld %s %lld is false", (long long)lhs,
                         jx_scope_relation(c), (long long)rhs);
    put_origins(s, 2, (const jx_dim *const[]){c->lhs, c->rhs}, &text);
    return fail_with(s, NULL, &text);
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

/* -- the whole ------------------------------------------------------------- */

static bool check_rank(const solving *s, int input, int rank)
{
    jx_buffer place = jx_ctx_text(s->program->ctx),
              text = jx_ctx_text(s->program->ctx);
    const jx_aval *aval = jx_input_aval(s->program, input);

    if (rank == aval->rank)
        return true;
    jx_input_print(s->program, input, &place);
    jx_buffer_printf(&text, "has %d axes, expected %d (the program's ", rank,
                     aval->rank);
    jx_input_spec_print(s->program, input, &text);
    jx_buffer_putc(&text, ')');
    fail_with(s, jx_buffer_text(&place), &text);
    jx_buffer_free(&place);
    return false;
}

/* Ranks, and sizes that are numbers: JAX looks at these first. */
static bool check_numbers(const solving *s, const int *ranks)
{
    int64_t number;

    for (int i = 0; i < s->program->entry.jaxpr->nins; i++) {
        const jx_aval *aval = jx_input_aval(s->program, i);
        if (aval->kind != JX_AVAL_ARRAY)
            continue;
        if (!check_rank(s, i, ranks[i]))
            return false;
        for (int k = 0; k < aval->rank; k++)
            if (jx_dim_is_int(aval->shape[k], &number) &&
                number != s->shapes[i][k])
                return inconsistent(
                    s,
                    &(equation){{.input = i, .axis = k, .dim = aval->shape[k]},
                                s->shapes[i][k]},
                    number);
    }
    return true;
}

static const jx_solution *solution_now(const solving *s)
{
    const jx_dim_atom **vars =
        JX_NEW_ARRAY(ctx_of(s)->arena, s->known.count + 1, const jx_dim_atom *);

    for (size_t i = 0; vars && i < s->known.count; i++)
        vars[i] = s->known.at[i].binding.var;
    return vars ? jx_solution_of(s->program, (int)s->known.count, vars) : NULL;
}

/* Sizes that are values of inputs: shapes alone do not say them. */
static bool values_known(const solving *s)
{
    for (int i = 0; i < s->program->nvalued; i++) {
        const jx_valued *v = &s->program->valued[i];
        jx_buffer place = jx_ctx_text(s->program->ctx);
        if (find(s, v->var))
            continue;
        jx_input_print(s->program, v->input, &place);
        jx_fail(ctx_of(s), JX_E_INPUT, s->program->path, jx_buffer_text(&place),
                "its value is the size `%s`: give it with --set %s=SIZE",
                v->var->name, v->var->name);
        jx_buffer_free(&place);
        return false;
    }
    return true;
}

/* The steps of JAX's solution; then those that take more, one by one, each
 * followed by what JAX can do with it. */
static bool solve(solving *s)
{
    bool learned = true;

    while (learned) {
        const jx_solution *solution = solution_now(s);
        if (!solution)
            return false;
        for (int i = 0; i < solution->nsteps; i++)
            if (!take_step(s, &solution->steps[i]))
                return false;
        learned = false;
        for (int i = 0; !learned && i < solution->nopen; i++)
            if (!use_open(s, &solution->open[i], &learned))
                return false;
        if (!learned && solution->nunsolved)
            return unsolved(s, solution);
    }
    return values_known(s) && none_broken(s);
}

bool jx_plan_solve(const jx_program *program, const int *ranks,
                   const int64_t *const *shapes, int nfixed,
                   const jx_binding *fixed, int *nbindings,
                   const jx_binding **bindings)
{
    solving s = {.program = program, .shapes = shapes};
    jx_binding *found;

    take(&s, nfixed, fixed);
    if (!check_numbers(&s, ranks))
        return false;
    s.ranked = true;
    if (!solve(&s))
        return false;
    found = JX_NEW_ARRAY(program->ctx->arena, s.known.count + 1, jx_binding);
    for (size_t i = 0; found && i < s.known.count; i++)
        found[i] = s.known.at[i].binding;
    *nbindings = (int)s.known.count;
    *bindings = found;
    return jx_ok(program->ctx);
}
