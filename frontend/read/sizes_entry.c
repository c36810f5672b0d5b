/* sizes_entry.c - the entry: what its sizes are called, and what it asks of
 * those who call it.
 *
 * The assertions of jax.export are read twice.  First each size of an argument
 * is a variable of its own (the *raw* sizes), so that what an assertion
 * compares is seen as it is, and can be held against what its message says.
 * Then the arguments have the shapes that were declared. */
#include "frontend/read/sizes_entry.h"

#include <stdio.h>
#include <string.h>

enum { MOST_ROUNDS = 6 };

static jx_arena *arena_of(const jx_sz_reading *r)
{
    return r->s->ctx->arena;
}

/* -- what the entry's assertions say --------------------------------------- */

static void find_assertions(jx_sz_reading *r)
{
    jx_ctx *ctx = r->s->ctx;

    for (int i = 0; i < r->body->nops; i++) {
        const jx_mlir_op *op = r->body->ops[i];
        const jx_mlir_attr *target = jx_mlir_get(op, "call_target_name");
        const jx_mlir_attr *message = jx_mlir_get(op, "error_message");
        const char *name = target ? jx_mlir_text(ctx, target) : NULL;
        jx_sz_asserted made = {.op = op};
        if (!name || strcmp(name, "shape_assertion") != 0 || !op->nins)
            continue;
        made.message = jx_sz_read_message(
            ctx, message ? jx_mlir_text(ctx, message) : NULL);
        JX_PUSH(ctx->arena, &r->asserted, made);
        if (made.message.nspecs > r->nspecs) {
            r->nspecs = made.message.nspecs;
            r->specs = (jx_sz_spec *)(uintptr_t)made.message.specs;
        }
    }
}

/* -- shapes ---------------------------------------------------------------- */

/* The shape says what the type says, and more. */
static bool shape_fits(const jx_mlir_type *type, const jx_dim_shape *shape)
{
    if (type->kind != JX_T_TENSOR || type->rank != shape->rank)
        return false;
    for (int i = 0; i < type->rank; i++) {
        int64_t size;
        if (type->shape[i] != JX_MLIR_DYNAMIC &&
            (!jx_dim_is_int(shape->dims[i], &size) || size != type->shape[i]))
            return false;
    }
    return true;
}

static void no_shapes(jx_sz_reading *r)
{
    for (int i = 0; i < r->nargs; i++)
        r->shapes[i].rank = -1;
}

static void shapes_of_caller(jx_sz_reading *r)
{
    const jx_sizes_options *o = &r->s->options;

    for (int i = 0; i < o->nshapes && i < r->nargs; i++) {
        int at = r->nargs - o->nshapes + i;
        if (at >= 0 && o->shapes[i].rank >= 0 &&
            shape_fits(r->body->args[at]->type, &o->shapes[i]))
            r->shapes[at] = o->shapes[i];
    }
}

/* JAX lists the inputs that have symbolic sizes, in order. */
static void shapes_of_messages(jx_sz_reading *r)
{
    int next = 0;

    for (int i = 0; i < r->nargs && next < r->nspecs; i++) {
        jx_sz_spec *spec = &r->specs[next];
        jx_dim_spec_error error;
        jx_dim_shape shape;
        if (!jx_sz_is_open(r->body->args[i]->type))
            continue;
        if (!jx_dim_spec_read(r->s->dims, spec->text, 0, NULL, &shape,
                              &error) ||
            !shape_fits(r->body->args[i]->type, &shape))
            continue;
        spec->input = i;
        r->shapes[i] = shape;
        next++;
    }
}

/* Names that the declared shapes use; the variables of these. */
static void take_vars(jx_sz_reading *r, int input, int axis, const jx_dim *dim)
{
    int count = 0;
    const jx_dim_atom *const *vars = jx_dim_vars(r->s->dims, dim, &count);
    bool sole = vars && count == 1 &&
                dim == jx_dim_of_atom(r->s->dims, vars[0]);

    for (int i = 0; vars && i < count; i++) {
        jx_size_var made = {vars[i], JX_SIZE_AXIS, input, sole ? axis : -1,
                            NULL, 0};
        if (jx_sz_take_name(r->s, vars[i]->name)) {
            JX_PUSH(arena_of(r), &r->s->vars, made);
            continue;
        }
        for (size_t k = 0; sole && k < r->s->vars.count; k++)
            if (r->s->vars.at[k].var == vars[i] &&
                r->s->vars.at[k].axis < 0) {
                r->s->vars.at[k].input = input;
                r->s->vars.at[k].axis = axis;
            }
    }
}

/* -- what the assertions enforce ------------------------------------------- */

static bool is_asserted(const jx_sz_reading *r, jx_assertion_kind kind,
                        const char *name, int axis)
{
    for (size_t i = 0; name && i < r->asserted.count; i++) {
        const jx_sz_asserted *a = &r->asserted.at[i];
        const char *of = kind == JX_ASSERTS_SHAPE ? a->message.path
                                                  : a->message.name;
        if (a->agrees && a->message.kind == kind && of && !strcmp(of, name) &&
            a->message.axis == axis)
            return true;
    }
    return false;
}

static const char *path_of(const jx_sz_reading *r, int input)
{
    for (int i = 0; i < r->nspecs; i++)
        if (r->specs[i].input == input)
            return r->specs[i].path;
    return NULL;
}

static bool step_is_asserted(const jx_sz_reading *r, const jx_size_step *step)
{
    const jx_dim *size = r->raw[step->input].dims[step->axis];

    if (step->var)
        return step->factor == 1 ||
               is_asserted(r, JX_ASSERTS_DIVISIBLE, step->var->name, -1);
    return size == jx_sz_in_raw(r, step->dim) ||
           is_asserted(r, JX_ASSERTS_SHAPE, path_of(r, step->input),
                       step->axis);
}

/* No other shapes than those of the messages pass the assertions. */
static bool shapes_are_asserted(const jx_sz_reading *r)
{
    const jx_solution *solution = r->solution;

    if (!solution || solution->nunsolved || solution->nopen)
        return false;
    for (int i = 0; i < solution->nsteps; i++)
        if (!step_is_asserted(r, &solution->steps[i]))
            return false;
    return true;
}

/* Each size that has a name is at least 1, and each size has one. */
static bool all_are_positive(const jx_sz_reading *r)
{
    for (int i = 0; i < r->nargs; i++)
        if (jx_sz_is_open(r->body->args[i]->type) && r->shapes[i].rank < 0)
            return false;
    for (size_t i = 0; i < r->solved.count; i++)
        if (!is_asserted(r, JX_ASSERTS_POSITIVE, r->solved.at[i].var->name,
                         -1))
            return false;
    return true;
}

/* -- constraints ----------------------------------------------------------- */

/* `2*floordiv(a, 2) == a`, which JAX adds by itself to `mod(a,2)==0`. */
static bool is_derived(const jx_sz_reading *r, const jx_sz_asserted *a,
                       const jx_sz_asserted *next)
{
    const jx_dim *rest = next->message.kind == JX_ASSERTS_CONSTRAINT
                             ? jx_sz_parse(r, next->message.difference)
                             : NULL;
    const jx_dim_term *term = rest ? jx_dim_terms(rest) : NULL;
    const jx_dim_atom *mod;

    if (!rest || jx_dim_nterms(rest) != 1 || term->nfactors != 1 ||
        term->coefficient != 1 || term->factors[0].power != 1 ||
        term->factors[0].atom->kind != JX_ATOM_MOD)
        return false;
    mod = term->factors[0].atom;
    return jx_sz_parse(r, a->message.difference) ==
           jx_dim_sub(r->s->dims,
                      jx_dim_mul(r->s->dims, mod->b,
                                 jx_dim_literal(r->s->dims, JX_ATOM_FLOORDIV,
                                                mod->a, mod->b)),
                      mod->a);
}

/* Which assertions are constraints of the author: looked at before the first
 * equality becomes a rule that rewrites dims. */
static void declare(jx_sz_reading *r)
{
    int count = (int)r->asserted.count;
    bool *derived = JX_NEW_ARRAY(arena_of(r), count + 1, bool);
    jx_scope_error error;

    for (int i = 0; derived && i + 1 < count; i++) {
        const jx_sz_asserted *a = &r->asserted.at[i];
        derived[i] = a->message.kind == JX_ASSERTS_CONSTRAINT &&
                     is_derived(r, a, a + 1);
    }
    for (int i = 0; derived && i < count; i++) {
        jx_sz_asserted *a = &r->asserted.at[i];
        if (a->message.kind != JX_ASSERTS_CONSTRAINT || !a->agrees ||
            (derived[i] && a[1].agrees))
            continue;
        /* One that no rule can follow holds nevertheless. */
        a->declared =
            jx_scope_declare(r->s->dims, a->message.constraint, 0, true,
                             &r->s->constraints, &error) ||
            jx_scope_declare(r->s->dims, a->message.constraint, 0, false,
                             &r->s->constraints, &error);
    }
}

/* -- the entry's own walk -------------------------------------------------- */

static bool name_args(jx_sz_reading *r)
{
    jx_sizes *s = r->s;

    s->args = JX_NEW_ARRAY(arena_of(r), r->nargs + 1, jx_sz_info);
    for (int i = 0; s->args && i < r->nargs; i++)
        for (int k = 0; k < r->shapes[i].rank; k++)
            take_vars(r, i, k, r->shapes[i].dims[k]);
    for (int i = 0; s->args && i < r->nargs; i++) {
        const jx_mlir_type *type = r->body->args[i]->type;
        const jx_dim **dims;
        if (!jx_sz_is_open(type))
            continue;
        s->args[i].rank = type->rank;
        s->args[i].shape = r->shapes[i].rank < 0 ? NULL : r->shapes[i].dims;
        if (s->args[i].shape)
            continue;
        dims = JX_NEW_ARRAY(arena_of(r), type->rank + 1, const jx_dim *);
        for (int k = 0; dims && k < type->rank; k++) {
            jx_size_var like = {NULL, JX_SIZE_AXIS, i, k, NULL, 0};
            const char *name =
                jx_arena_printf(arena_of(r), "arg%d_%d", i, k);
            dims[k] = type->shape[k] == JX_MLIR_DYNAMIC
                          ? jx_sz_fresh(s, like, name)
                          : jx_dim_int(s->dims, type->shape[k]);
            if (!dims[k])
                return false;
            if (type->shape[k] == JX_MLIR_DYNAMIC)
                JX_PUSH(arena_of(r), &s->open,
                        s->vars.at[s->vars.count - 1].var);
        }
        s->args[i].shape = dims;
    }
    return s->args != NULL;
}

static void note_equated(jx_sz_reading *r, const jx_sz_equation *e)
{
    jx_buffer text = jx_ctx_text(r->s->ctx);

    jx_buffer_printf(&text, "%s = ", e->var->name);
    jx_dim_print(e->is, &text);
    JX_PUSH(arena_of(r), &r->s->equated, jx_arena_take(arena_of(r), &text));
}

/* Puts what was found out about sizes that nobody named into the inputs, and
 * forgets the variables that are gone. */
static bool apply_equations(jx_sz_reading *r)
{
    jx_sizes *s = r->s;

    for (int i = 0; i < r->nargs; i++) {
        const jx_dim **dims;
        if (!s->args[i].shape)
            continue;
        dims = JX_NEW_ARRAY(arena_of(r), s->args[i].rank + 1, const jx_dim *);
        for (int k = 0; dims && k < s->args[i].rank; k++) {
            dims[k] = s->args[i].shape[k];
            for (size_t e = 0; dims[k] && e < s->equations.count; e++)
                dims[k] = jx_dim_substitute(s->dims, dims[k],
                                            s->equations.at[e].var,
                                            s->equations.at[e].is);
            if (!dims[k])
                return false;
        }
        if (!dims)
            return false;
        s->args[i].shape = dims;
    }
    for (size_t e = 0; e < s->equations.count; e++)
        note_equated(r, &s->equations.at[e]);
    for (size_t e = 0; e < s->equations.count; e++)
        for (size_t i = 0; i < s->vars.count; i++)
            if (s->vars.at[i].var == s->equations.at[e].var) {
                memmove(&s->vars.at[i], &s->vars.at[i + 1],
                        (s->vars.count - i - 1) * sizeof *s->vars.at);
                s->vars.count--;
            }
    s->equations.count = 0;
    return true;
}

/* What a walk made up; the next one makes its own. */
static void forget_walk(jx_sz_reading *r)
{
    jx_sizes *s = r->s;
    size_t kept = 0;

    for (size_t i = 0; i < s->vars.count; i++)
        if (s->vars.at[i].origin == JX_SIZE_AXIS ||
            s->vars.at[i].origin == JX_SIZE_INPUT)
            s->vars.at[kept++] = s->vars.at[i];
    s->vars.count = kept;
    s->fresh = 0;
    jx_intern_init(&s->names, s->ctx->arena);
    for (size_t i = 0; i < s->vars.count; i++)
        jx_sz_take_name(s, s->vars.at[i].var->name);
    jx_intern_init(&s->envs, s->ctx->arena);
    for (size_t i = 0; i < s->aux.count; i++)
        if (s->aux.at[i]->env)
            s->aux.at[i]->size = NULL;
}

static bool unify(jx_sz_reading *r)
{
    jx_sizes *s = r->s;

    for (int round = 0; s->open.count && round < MOST_ROUNDS; round++) {
        bool found;
        s->work = 0;
        s->unifying = true;
        jx_sz_enter(s, s->entry, r->nargs, s->args);
        s->unifying = false;
        found = s->equations.count > 0;
        if (!apply_equations(r))
            return false;
        forget_walk(r);
        if (!found)
            break;
    }
    return true;
}

/* -- after the walk -------------------------------------------------------- */

/* What an assertion of the entry compares is asked of callers. */
static void ask(jx_sizes *s, const jx_size_assertion *a)
{
    for (int i = 0; a->known && i < a->ncompared; i++) {
        const jx_scope_constraint *c = &a->compared[i];
        const jx_dim *apart = jx_dim_sub(s->dims, c->lhs, c->rhs);
        jx_int number;
        if (apart && !jx_dim_is_wide(apart, &number) &&
            !jx_sz_is_made_up(s, apart))
            JX_PUSH(s->ctx->arena, &s->constraints, *c);
    }
}

static const jx_sz_asserted *asserted_by(const jx_sz_reading *r,
                                         const jx_mlir_op *op)
{
    for (size_t i = 0; i < r->asserted.count; i++)
        if (r->asserted.at[i].op == op)
            return &r->asserted.at[i];
    return NULL;
}

/* XLA takes no module with such an assertion, whatever the sizes. */
static const char *malformed(jx_sz_reading *r, const jx_size_assertion *a)
{
    enum { MOST_SHOWN = 32 };
    int shown = a->op->nins - 1;
    int beyond = a->message ? jx_sz_beyond(a->message, shown) : -1;

    if (!a->message)
        return "it has no message: XLA refuses the module at all sizes";
    if (shown > MOST_SHOWN)
        return jx_arena_printf(arena_of(r),
                               "it shows %d numbers: XLA takes %d and refuses "
                               "the module at all sizes",
                               shown, MOST_SHOWN);
    if (beyond >= 0)
        return jx_arena_printf(arena_of(r),
                               "its message shows {%d} and it has %d number%s: "
                               "XLA refuses the module at all sizes",
                               beyond, shown, shown == 1 ? "" : "s");
    return NULL;
}

static void finish_assertions(jx_sz_reading *r)
{
    jx_sizes *s = r->s;
    size_t count = s->assertions.count, next = 0;
    jx_size_assertion *sorted =
        JX_NEW_ARRAY(s->ctx->arena, count + 1, jx_size_assertion);

    for (int declares = 1; sorted && declares >= 0; declares--)
        for (size_t i = 0; i < count; i++)
            if (s->assertions.at[i].declares == declares)
                sorted[next++] = s->assertions.at[i];
    if (!sorted)
        return;
    s->assertions.at = sorted;
    s->assertions.capacity = count;
    for (size_t i = 0; i < count; i++) {
        jx_size_assertion *a = &s->assertions.at[i];
        jx_sz_message m = jx_sz_read_message(s->ctx, a->message);
        const jx_sz_asserted *of = a->declares ? asserted_by(r, a->op) : NULL;
        a->kind = m.kind;
        a->text = m.constraint;
        a->mismatch.what = malformed(r, a);
        if (of && !a->mismatch.what)
            a->mismatch = of->mismatch;
        if (a->declares && !(of && of->declared))
            ask(s, a);
    }
}

/* The raw sizes have no part in what follows. */
static void forget_raw(jx_sz_reading *r)
{
    jx_sizes *s = r->s;

    s->vars.count = 0;
    for (size_t i = 0; i < s->aux.count; i++)
        s->aux.at[i]->size = NULL;
    forget_walk(r);
    s->work = 0;
}

/* Messages name inputs and shapes in their own way, and are held against what
 * they themselves say.  An exported file declares its shapes, and who calls it
 * keeps to them; of a text they count if its assertions leave no others. */
static bool read_messages(jx_sz_reading *r)
{
    bool declared = r->s->options.nshapes > 0;

    r->s->base = declared;
    find_assertions(r);
    no_shapes(r);
    if (!r->asserted.count)
        return true;
    shapes_of_messages(r);
    if (!jx_sz_follow_raw(r))
        return false;
    jx_sz_solve(r);
    for (size_t i = 0; i < r->asserted.count; i++)
        jx_sz_compare_message(r, &r->asserted.at[i]);
    if (!declared && !shapes_are_asserted(r))
        no_shapes(r);
    r->s->base = declared || all_are_positive(r);
    forget_raw(r);
    return true;
}

/* -- the walk that counts -------------------------------------------------- */

static bool walk_entry(jx_sz_reading *r)
{
    jx_sizes *s = r->s;

    jx_intern_init(&s->envs, s->ctx->arena);
    s->work = 0;
    s->assertions.count = 0;
    s->recording = true;
    s->root = jx_sz_enter(s, s->entry, r->nargs, s->args);
    s->recording = false;
    if (!s->root)
        s->root = jx_sz_new_env(r, NULL);
    return s->root != NULL;
}

/* Sizes that no shape gives may be 0: the others are asked to be at least 1. */
static bool lower_base(jx_sz_reading *r)
{
    jx_sizes *s = r->s;
    bool others = false;

    for (size_t i = 0; i < s->vars.count; i++)
        others = others || s->vars.at[i].origin != JX_SIZE_AXIS;
    if (!others || !s->base)
        return true;
    s->base = 0;
    for (size_t i = 0; i < s->vars.count; i++) {
        jx_scope_constraint made = {
            .lhs = jx_dim_of_atom(s->dims, s->vars.at[i].var),
            .rhs = jx_dim_int(s->dims, 1)};
        if (s->vars.at[i].origin == JX_SIZE_AXIS && made.lhs && made.rhs)
            JX_PUSH(s->ctx->arena, &s->constraints, made);
    }
    forget_walk(r);
    return walk_entry(r);
}

/* The integers of an argument that a caller gives. */
static void take_given(jx_sz_reading *r, int arg)
{
    const jx_sizes_options *o = &r->s->options;
    int64_t count = jx_sz_elements_of(r->body->args[arg]->type);
    jx_sz_elem *elems = NULL;

    for (int i = 0; i < o->ngiven; i++) {
        const jx_given_integer *g = &o->given[i];
        if (g->input + r->nargs - o->nshapes != arg || g->element < 0 ||
            count > JX_SZ_ELEMENTS || g->element >= count)
            continue;
        if (!elems &&
            !(elems = JX_NEW_ARRAY(arena_of(r), count, jx_sz_elem)))
            return;
        elems[g->element].dim = jx_dim_int(r->s->dims, g->value);
    }
    r->s->args[arg].count = elems ? (int)count : 0;
    r->s->args[arg].elems = elems;
}

/* The entry at shapes that are numbers. */
static bool enter_at_sizes(jx_sz_reading *r)
{
    jx_sizes *s = r->s;

    no_shapes(r);
    shapes_of_caller(r);
    if (!(s->args = JX_NEW_ARRAY(arena_of(r), r->nargs + 1, jx_sz_info)))
        return false;
    for (int i = 0; i < r->nargs; i++) {
        if (jx_sz_is_open(r->body->args[i]->type) && r->shapes[i].rank >= 0) {
            s->args[i].rank = r->shapes[i].rank;
            s->args[i].shape = r->shapes[i].dims;
        }
        take_given(r, i);
    }
    if (!walk_entry(r))
        return false;
    finish_assertions(r);
    return true;
}

bool jx_sz_entry(jx_sizes *s)
{
    jx_sz_reading r = {.s = s, .body = jx_mlir_body(s->entry, 0)};

    if (!r.body)
        return true; /* only declared */
    r.nargs = r.body->nargs;
    r.shapes = JX_NEW_ARRAY(arena_of(&r), r.nargs + 1, jx_dim_shape);
    if (!r.shapes)
        return false;
    if (s->plain) {
        s->base = s->options.nshapes > 0 ||
                  jx_mlir_get(s->options.module, "jax.uses_shape_polymorphism");
        s->root = jx_sz_new_env(&r, NULL);
        return s->root != NULL;
    }
    if (s->options.at_sizes)
        return enter_at_sizes(&r);
    if (!read_messages(&r))
        return false;
    declare(&r);
    shapes_of_caller(&r);
    if (!name_args(&r) || !unify(&r) || !walk_entry(&r) || !lower_base(&r))
        return false;
    finish_assertions(&r);
    return jx_ok(s->ctx);
}
