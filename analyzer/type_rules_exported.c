/* type_rules_exported.c - calls of functions that jax.export made.
 *
 * The callee was traced for sizes of its own scope.  The shapes of the operands
 * give its variables (solution.h: the steps that JAX takes), as dims of the
 * caller; then all that the callee asserts when it is called is owed here, for
 * every size that the caller admits: no remainder, variables of at least 1,
 * sizes that agree, and its constraints.  JAX checks the same while tracing,
 * but of a deserialized function it knows no constraints.  The code itself is
 * not read: results have the types that the callee declares. */
#include "analyzer/type_rules.h"
#include "frontend/ir/scope.h"
#include "frontend/ir/solution.h"

/* What a variable of the callee is in the caller. */
typedef struct given {
    const jx_dim_atom *var;
    const jx_dim *value; /* NULL: too large to reason about */
} given;

typedef struct called {
    jx_typing *t;
    const jx_called_export *callee;
    int count;
    given *given;
    const jx_dim_atom *missing; /* met, and not given */
} called;

static const char *name_of(const called *c)
{
    return c->callee->name ? c->callee->name : "the exported function";
}

/* "args[0].shape[1]" */
static const char *axis_of(const called *c, int input, int axis)
{
    jx_arena *arena = c->t->program->ctx->arena;

    return c->callee->paths
               ? jx_arena_printf(arena, "%s.shape[%d]", c->callee->paths[input],
                                 axis)
               : jx_arena_printf(arena, "operand %d, axis %d", input, axis);
}

/* -- its sizes in the caller --------------------------------------------- */

static bool put_given(void *env, const jx_dim_atom *atom, const jx_dim **put)
{
    called *c = env;
    jx_dims *dims = c->t->program->dims;

    if (atom->kind != JX_ATOM_VAR) {
        const jx_dim *a = jx_dim_map(dims, atom->a, put_given, c);
        const jx_dim *b = jx_dim_map(dims, atom->b, put_given, c);
        *put = a && b ? jx_dim_apply(dims, atom->kind, a, b) : NULL;
        return *put != NULL;
    }
    for (int i = 0; i < c->count; i++)
        if (c->given[i].var == atom) {
            *put = c->given[i].value;
            return *put != NULL;
        }
    c->missing = atom;
    return false;
}

/* NULL where a variable is missing (c->missing) or numbers overflow. */
static const jx_dim *in_caller(called *c, const jx_dim *dim)
{
    c->missing = NULL;
    return jx_dim_map(c->t->program->dims, dim, put_given, c);
}

/* -- what it takes ------------------------------------------------------- */

static bool fits(const called *c, int i)
{
    const jx_aval *wants = c->callee->ins[i], *gets = c->t->ins[i];

    if (wants->kind != gets->kind || wants->dtype != gets->dtype ||
        wants->impl != gets->impl)
        return jx_type_wrong(c->t, "%s takes %s as operand %d, it gets %s",
                             name_of(c), jx_dtype_of(wants->dtype)->short_name,
                             i, jx_dtype_of(gets->dtype)->short_name);
    if (wants->rank != gets->rank)
        return jx_type_wrong(c->t,
                             "%s takes operand %d with %d axes, it gets %d",
                             name_of(c), i, wants->rank, gets->rank);
    return true;
}

static void same_numbers(const called *c)
{
    int64_t size;

    for (int i = 0; i < c->callee->nins; i++) {
        const jx_aval *wants = c->callee->ins[i];
        for (int k = 0; k < wants->rank; k++)
            if (jx_dim_is_int(wants->shape[k], &size))
                jx_require_eq(c->t, c->t->ins[i]->shape[k], wants->shape[k],
                              "%s of %s", axis_of(c, i, k), name_of(c));
    }
}

/* A size that is factor*var + rest gives the variable. */
static void learn(called *c, const jx_size_step *step, const jx_dim *size)
{
    jx_typing *t = c->t;
    const jx_dim *rest = in_caller(c, step->rest);
    const jx_dim *factor = jx_dim_wide(t->program->dims, step->factor);
    const jx_dim *value = jx_minus(t, size, rest);

    if (step->factor != 1) {
        jx_require_divides(t, factor, value, "%s of %s, a multiple of %s",
                           axis_of(c, step->input, step->axis), name_of(c),
                           step->var->name);
        value = jx_dim_floordiv(t->program->dims, value, factor);
    }
    c->given[c->count++] = (given){step->var, value};
    jx_require_least(t, value, jx_const(t, t->program->base),
                     "`%s` of %s, from %s", step->var->name, name_of(c),
                     axis_of(c, step->input, step->axis));
}

static void follow(called *c, const jx_solution *solution)
{
    for (int i = 0; i < solution->nsteps; i++) {
        const jx_size_step *step = &solution->steps[i];
        const jx_dim *size = c->t->ins[step->input]->shape[step->axis];
        if (step->var)
            learn(c, step, size);
        else
            jx_require_eq(c->t, size, in_caller(c, step->dim), "%s of %s",
                          axis_of(c, step->input, step->axis), name_of(c));
    }
    for (int i = 0; i < solution->nopen; i++)
        jx_require_unknown(
            c->t, "no size of its inputs gives its variables", "%s of %s",
            axis_of(c, solution->open[i].input, solution->open[i].axis),
            name_of(c));
}

static int scope_of(const called *c)
{
    for (int i = 0; i < c->callee->nins; i++)
        for (int k = 0; k < c->callee->ins[i]->rank; k++) {
            int count = 0;
            const jx_dim_atom *const *vars = jx_dim_vars(
                c->t->program->dims, c->callee->ins[i]->shape[k], &count);
            if (vars && count)
                return vars[0]->scope;
        }
    return -1;
}

static void require(called *c, const jx_scope_constraint *constraint)
{
    jx_typing *t = c->t;
    const jx_dim *lhs = in_caller(c, constraint->lhs);
    const jx_dim_atom *missing = c->missing;
    const jx_dim *rhs = in_caller(c, constraint->rhs);
    jx_buffer text = jx_ctx_text(t->program->ctx);

    missing = missing ? missing : c->missing;
    jx_scope_print(constraint, &text);
    if (missing)
        jx_require_unknown(t,
                           jx_arena_printf(t->program->ctx->arena,
                                           "no size of its inputs gives %s",
                                           missing->name),
                           "%s needs %s", name_of(c), jx_buffer_text(&text));
    else if (constraint->equal)
        jx_require_eq(t, lhs, rhs, "%s needs %s", name_of(c),
                      jx_buffer_text(&text));
    else if (constraint->differs)
        jx_require_ne(t, lhs, rhs, "%s needs %s", name_of(c),
                      jx_buffer_text(&text));
    else
        jx_require_least(t, lhs, rhs, "%s needs %s", name_of(c),
                         jx_buffer_text(&text));
    jx_buffer_free(&text);
}

static void require_all(called *c)
{
    int index = scope_of(c);
    const jx_scope *scope = index >= 0 && index < c->t->program->nscopes
                                ? &c->t->program->scopes[index]
                                : NULL;

    for (int i = 0; scope && i < scope->nconstraints; i++)
        if (!jx_scope_is_derived(scope, i))
            require(c, &scope->constraints[i]);
    for (int i = 0; i < c->callee->ninner; i++)
        jx_require_unknown(c->t,
                           "its variables are of a call inside the module, "
                           "which is not read",
                           "%s calls what needs %s", name_of(c),
                           c->callee->inner[i]);
}

/* -- what it gives ------------------------------------------------------- */

static void give(called *c, int i)
{
    const jx_aval *out = c->callee->outs[i];
    const jx_dim **shape = jx_shape(c->t, out->rank);

    if (out->kind != JX_AVAL_ARRAY) {
        jx_type_is(c->t, i, c->t->eqn->outs[i]->aval);
        return;
    }
    for (int k = 0; shape && k < out->rank; k++) {
        shape[k] = in_caller(c, out->shape[k]);
        if (shape[k])
            continue;
        if (c->missing)
            jx_require_unknown(c->t,
                               jx_arena_printf(c->t->program->ctx->arena,
                                               "no size of its inputs gives %s",
                                               c->missing->name),
                               "result %d, axis %d, of %s", i, k, name_of(c));
        if (c->missing) /* as declared: that is all there is */
            jx_type_is(c->t, i, c->t->eqn->outs[i]->aval);
        return;
    }
    if (shape)
        jx_type_out_like(c->t, i, out, out->weak, out->rank, shape);
}

static void take_declared(jx_typing *t)
{
    for (int i = 0; i < t->nouts; i++)
        jx_type_is(t, i, t->eqn->outs[i]->aval);
    jx_assume(t, "the results of call_exported have their declared types");
}

void jx_type_call_exported(jx_typing *t)
{
    called c = {t, ((const jx_p_call_exported *)t->params)->exported, 0, NULL,
                NULL};
    const jx_solution *solution;

    if (!c.callee) {
        take_declared(t);
        return;
    }
    if (!jx_type_counts(t, c.callee->nins, c.callee->nouts))
        return;
    for (int i = 0; i < t->nins; i++)
        if (!fits(&c, i))
            return;
    solution = jx_solution_of_avals(t->program->dims, c.callee->nins,
                                    c.callee->ins, 0, NULL);
    c.given =
        solution ? JX_NEW_ARRAY(t->program->ctx->arena, solution->nsteps, given)
                 : NULL;
    if (!c.given)
        return;
    t->code = JX_CODE_SHP015;
    same_numbers(&c);
    follow(&c, solution);
    require_all(&c);
    t->code = JX_CODE_SHP010;
    for (int i = 0; i < t->nouts; i++)
        give(&c, i);
    jx_assume(t, "the exported %s computes what its declared types say",
              name_of(&c));
}
