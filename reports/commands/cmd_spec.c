/* cmd_spec.c - `jaxvet spec SPEC...`: symbolic shapes as text, what they mean,
 * and whether shapes fit them. */
#include "frontend/ir/dim_spec.h"
#include "frontend/ir/scope.h"
#include "frontend/ir/signature.h"
#include "prover/prover.h"
#include "reports/commands/commands.h"
#include "reports/commands/limits.h"
#include "reports/pipeline/checks.h"
#include "reports/pipeline/inputs.h"

#include <stdio.h>
#include <string.h>

typedef struct settings {
    jx_texts like, where, shape;
    const char *output;
    jx_limit_settings limits;
} settings;

static const jx_option options[] = {
    {"like", 0, JX_OPT_LIST, "SHAPE",
     "what placeholders of a spec stand for, in the order of specs",
     offsetof(settings, like)},
    {"where", 0, JX_OPT_LIST, "CONSTRAINT",
     "what is declared of the sizes: 'b >= 2', 'a*b == c + d'",
     offsetof(settings, where)},
    {"shape", 0, JX_OPT_LIST, "SHAPE",
     "a shape to match with a spec, in the order of specs",
     offsetof(settings, shape)},
    {"output", 'o', JX_OPT_TEXT, "FILE", "write there, whole or not at all",
     offsetof(settings, output)},
    JX_LIMIT_OPTIONS(settings),
};

/* Says what was expected and points at it. */
static int refuse(jx_ctx *ctx, const char *what, const char *text,
                  size_t column, const char *expected)
{
    if (!jx_ok(ctx))
        return jx_command_failed(ctx);
    if (!column) {
        jx_command_say("jaxvet: %s: %s: expected %s", what, text, expected);
        return JX_EXIT_INPUT;
    }
    jx_command_say("jaxvet: %s: column %zu: expected %s", what, column,
                   expected);
    jx_command_point(text, column);
    return JX_EXIT_INPUT;
}

/* -- reading --------------------------------------------------------------- */

static int declare(jx_program *program, const jx_texts *where)
{
    jx_scope *scope = JX_NEW(program->ctx->arena, jx_scope);
    jx_scope_list list = {0};
    jx_scope_error error;

    for (int i = 0; scope && i < where->count; i++)
        if (!jx_scope_declare(program->dims, where->at[i], 0, true, &list,
                              &error))
            return refuse(program->ctx, "constraint", where->at[i],
                          error.column, error.expected);
    if (!scope)
        return jx_command_failed(program->ctx);
    *scope = (jx_scope){(int)list.count, list.at, NULL};
    program->scopes = scope;
    program->nscopes = 1;
    return JX_EXIT_OK;
}

static int read_shape(jx_program *program, const char *what, const char *text,
                      const jx_dim_shape *like, jx_dim_shape *to)
{
    jx_dim_spec_error error;

    return jx_dim_spec_read(program->dims, text, 0, like, to, &error)
               ? JX_EXIT_OK
               : refuse(program->ctx, what, text, error.column, error.expected);
}

/* The program with inputs of these shapes and nothing else. */
static bool add_input(jx_program *program, const jx_var **vars, int i,
                      const jx_dim_shape *shape)
{
    jx_aval *aval = JX_NEW(program->ctx->arena, jx_aval);
    jx_var *var = JX_NEW(program->ctx->arena, jx_var);

    if (!aval || !var)
        return false;
    *aval =
        (jx_aval){.dtype = JX_F32, .rank = shape->rank, .shape = shape->dims};
    *var = (jx_var){.aval = aval};
    vars[i] = var;
    return true;
}

static int read_specs(jx_program *program, const settings *s, int n,
                      char *const *specs)
{
    jx_jaxpr *entry = JX_NEW(program->ctx->arena, jx_jaxpr);
    const jx_var **vars = JX_NEW_ARRAY(program->ctx->arena, n, const jx_var *);

    if (!entry || !vars)
        return jx_command_failed(program->ctx);
    for (int i = 0; i < n; i++) {
        jx_dim_shape like, shape;
        bool has = i < s->like.count;
        int code =
            has ? read_shape(program, "shape", s->like.at[i], NULL, &like)
                : JX_EXIT_OK;
        if (code == JX_EXIT_OK)
            code = read_shape(program, "spec", specs[i], has ? &like : NULL,
                              &shape);
        if (code != JX_EXIT_OK)
            return code;
        if (!add_input(program, vars, i, &shape))
            return jx_command_failed(program->ctx);
    }
    *entry = (jx_jaxpr){.nins = n, .nvars = n, .vars = vars};
    program->entry.jaxpr = entry;
    return JX_EXIT_OK;
}

/* -- what they mean -------------------------------------------------------- */

typedef struct folding {
    jx_dims *dims;
    jx_prover *prover;
} folding;

/* Which of the two it always is; NULL: neither. */
static const jx_dim *always(const folding *f, jx_atom_kind kind,
                            const jx_dim *x, const jx_dim *y)
{
    if (jx_prove_compare(f->prover, x, JX_REL_GE, y).truth == JX_TRUE)
        return kind == JX_ATOM_MAX ? x : y;
    if (jx_prove_compare(f->prover, y, JX_REL_GE, x).truth == JX_TRUE)
        return kind == JX_ATOM_MAX ? y : x;
    return NULL;
}

/* JAX takes `max(a, b)` for a where its bounds show that a is the larger. */
static bool fold_atom(void *env, const jx_dim_atom *atom, const jx_dim **put)
{
    const folding *f = env;
    const jx_dim *x, *y;

    if (atom->kind == JX_ATOM_VAR)
        return true;
    x = jx_dim_map(f->dims, atom->a, fold_atom, env);
    y = jx_dim_map(f->dims, atom->b, fold_atom, env);
    if (!x || !y)
        return false;
    if (atom->kind == JX_ATOM_MAX || atom->kind == JX_ATOM_MIN)
        *put = always(f, atom->kind, x, y);
    if (!*put && (x != atom->a || y != atom->b))
        *put = jx_dim_apply(f->dims, atom->kind, x, y);
    return *put || (x == atom->a && y == atom->b);
}

/* Replaces the shapes of the inputs by what they come to. */
static bool fold(const jx_program *program, jx_prover *prover)
{
    folding f = {program->dims, prover};

    for (int i = 0; i < program->entry.jaxpr->nins; i++) {
        jx_aval *aval =
            (jx_aval *)(uintptr_t)jx_input_aval(program, i); /* ours */
        const jx_dim **dims =
            JX_NEW_ARRAY(program->ctx->arena, aval->rank + 1, const jx_dim *);
        for (int k = 0; dims && k < aval->rank; k++) {
            const jx_dim *folded =
                jx_dim_map(program->dims, aval->shape[k], fold_atom, &f);
            dims[k] = folded ? folded : aval->shape[k];
        }
        if (!dims)
            return false;
        aval->shape = dims;
    }
    return true;
}

/* The constraints that no sizes satisfy. */
static void say_core(jx_ctx *ctx, const jx_scope *scope,
                     const jx_answer *answer)
{
    jx_buffer core = jx_ctx_text(ctx);

    for (int i = 0; i < answer->ncore; i++) {
        jx_buffer_puts(&core, i ? " and `" : "`");
        jx_scope_print(&scope->constraints[answer->core[i]], &core);
        jx_buffer_putc(&core, '`');
    }
    jx_command_say("jaxvet: no sizes satisfy %s",
                   answer->ncore ? jx_buffer_text(&core) : "the constraints");
    jx_buffer_free(&core);
}

/* Refuses constraints that no sizes satisfy, naming a least set of them; else
 * uses them. */
static int assume(const jx_program *program)
{
    const jx_scope *scope = program->scopes;
    jx_constraint *all =
        JX_NEW_ARRAY(program->ctx->arena, scope->nconstraints, jx_constraint);
    jx_prover *prover;
    jx_answer answer;
    int code = JX_EXIT_OK;

    for (int i = 0; all && i < scope->nconstraints; i++)
        all[i] = jx_constraint_of_scope(&scope->constraints[i]);
    prover = all ? jx_prover_new(program->ctx, program->dims, all,
                                 scope->nconstraints, NULL)
                 : NULL;
    if (!prover)
        return jx_command_failed(program->ctx);
    answer = jx_prove_consistent(prover);
    if (!jx_ok(program->ctx)) {
        code = jx_command_failed(program->ctx);
    } else if (answer.truth == JX_CONTRADICTION) {
        code = JX_EXIT_INPUT;
        say_core(program->ctx, scope, &answer);
    }
    if (code == JX_EXIT_OK && !fold(program, prover))
        code = jx_command_failed(program->ctx);
    jx_prover_free(prover);
    return code;
}

static void print_specs(const jx_program *program, jx_buffer *to)
{
    for (int i = 0; i < program->entry.jaxpr->nins; i++) {
        jx_input_spec_print(program, i, to);
        jx_buffer_putc(to, '\n');
    }
    jx_checks_print(program, "  ", to);
}

static int print_sizes(const jx_program *program, const settings *s,
                       jx_buffer *to)
{
    const jx_binding *sizes;
    int count;

    if (!jx_inputs_shapes(program, &s->shape, NULL, &count, &sizes))
        return jx_command_failed(program->ctx);
    for (int i = 0; i < count; i++)
        jx_buffer_printf(to, "%s = %lld\n", sizes[i].var->name,
                         (long long)sizes[i].value);
    return JX_EXIT_OK;
}

static int execute(jx_ctx *ctx, const settings *s, int n, char *const *specs)
{
    jx_program *program = JX_NEW(ctx->arena, jx_program);
    jx_buffer text = jx_ctx_text(ctx);
    int code;

    if (!program || !(program->dims = jx_dims_new(ctx)))
        return jx_command_failed(ctx);
    program->ctx = ctx;
    program->base = 1;
    code = declare(program, &s->where);
    if (code == JX_EXIT_OK)
        code = read_specs(program, s, n, specs);
    if (code == JX_EXIT_OK)
        code = assume(program);
    if (code == JX_EXIT_OK && s->shape.count)
        code = print_sizes(program, s, &text);
    else if (code == JX_EXIT_OK)
        print_specs(program, &text);
    if (code == JX_EXIT_OK)
        code = jx_command_write(s->output, &text);
    jx_buffer_free(&text);
    return code;
}

static int run(int argc, char **argv)
{
    settings s = {0};
    int n = jx_command_options(&jx_command_spec, argc, argv, &s), code;
    jx_ctx *ctx;

    if (n < 0)
        return JX_EXIT_USAGE;
    if (n < 1)
        return jx_command_usage(&jx_command_spec,
                                "expected a spec, as in 'b, ...'");
    if (s.like.count > n || s.shape.count > n)
        return jx_command_usage(&jx_command_spec,
                                "more shapes than specs were given");
    ctx = jx_command_ctx(&jx_command_spec, &s.limits, &code);
    if (!ctx)
        return code;
    jx_ctx_stage(ctx, "reading specs");
    code = execute(ctx, &s, n, argv);
    jx_ctx_free(ctx);
    return code;
}

const jx_command jx_command_spec = {
    "spec",
    "SPEC...",
    "say what symbolic shapes mean and which shapes fit",
    "A spec is a shape as jax.export.symbolic_shape() reads it: 'b, 2*d', with\n"
    "parentheses or without; _ stands for one size and ... (or None, for all) for\n"
    "the sizes that are left of the shape given by --like.  Several specs are the\n"
    "shapes of several arguments.  Prints the shapes as JAX would, how each\n"
    "variable follows from the arguments' shapes, and what a call checks; or, with\n"
    "--shape, the sizes that make these shapes, or what does not fit (exit 3).\n"
    "\n"
    "  $ jaxvet spec 'b, b, 2*d'\n"
    "  $ jaxvet spec 'b, _, ...' --like 3,4,5 --where 'b >= 2'\n"
    "  $ jaxvet spec 'b, b, 2*d' --shape 3,3,6\n"
    "\n"
    "Constraints are JAX's >=, <= and ==, and <, > and != besides.  As in JAX,\n"
    "the left side of == is one product and is written as the right side from then\n"
    "on.  Sizes may have parentheses, // and %.\n",
    options,
    sizeof options / sizeof *options,
    run,
};
