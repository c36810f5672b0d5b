/* stablehlo_entry.c - the entry: what its sizes are called, and what it asks of
 * those who call it.
 *
 * The assertions of jax.export are read twice.  First each size of an argument
 * is a variable of its own (the *raw* sizes), so that what an assertion
 * compares is seen as it is, and can be held against what its message says.
 * Then the arguments have the shapes that were declared. */
#include "frontend/read/stablehlo_entry.h"

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
        jx_sz_asserted made = {.op = op, .ncompared = -1};
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
    for (int i = 0; r->given && i < r->nargs; i++)
        if (r->caller[i].rank >= 0 &&
            shape_fits(r->body->args[i]->type, &r->caller[i]))
            r->shapes[i] = r->caller[i];
}

/* JAX lists the inputs that have symbolic sizes, in order. */
static void shapes_of_messages(jx_sz_reading *r)
{
    int next = 0;

    for (int i = 0; i < r->nargs && next < r->nspecs; i++) {
        jx_sz_spec *spec = &r->specs[next];
        jx_dim_spec_error error;
        jx_dim_shape shape;
        if (!jx_hlo_is_open(r->body->args[i]->type))
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
    bool sole =
        vars && count == 1 && dim == jx_dim_of_atom(r->s->dims, vars[0]);

    for (int i = 0; vars && i < count; i++) {
        jx_size_var made = {vars[i], JX_SIZE_AXIS, input, sole ? axis : -1, 0};
        if (jx_sz_take_name(r->s, vars[i]->name)) {
            JX_PUSH(arena_of(r), &r->s->vars, made);
            continue;
        }
        for (size_t k = 0; sole && k < r->s->vars.count; k++)
            if (r->s->vars.at[k].var == vars[i] && r->s->vars.at[k].axis < 0) {
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
        const char *of =
            kind == JX_ASSERTS_SHAPE ? a->message.path : a->message.name;
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
    const jx_dim *size = r->raws[step->input].dims[step->axis];

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
        if (jx_hlo_is_open(r->body->args[i]->type) && r->shapes[i].rank < 0)
            return false;
    for (size_t i = 0; i < r->solved.count; i++)
        if (!is_asserted(r, JX_ASSERTS_POSITIVE, r->solved.at[i].var->name, -1))
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
        derived[i] =
            a->message.kind == JX_ASSERTS_CONSTRAINT && is_derived(r, a, a + 1);
    }
    for (int i = 0; derived && i < count; i++) {
        jx_sz_asserted *a = &r->asserted.at[i];
        if (a->message.kind != JX_ASSERTS_CONSTRAINT || !a->agrees ||
            (derived[i] && a[1].agrees))
            continue;
        /* One that no rule can follow holds nevertheless. */
        a->declared = jx_scope_declare(r->s->dims, a->message.constraint, 0,
                                       true, &r->s->constraints, &error) ||
                      jx_scope_declare(r->s->dims, a->message.constraint, 0,
                                       false, &r->s->constraints, &error);
    }
}

/* -- reading the entry ----------------------------------------------------- */

/* What an earlier reading left behind. */
static void forget_reading(jx_sz_reading *r)
{
    jx_hlo_reader *s = r->shlo;

    jx_intern_init(&r->s->values, s->ctx->arena);
    if (!r->s->plain)
        jx_intern_init(&s->functions, s->ctx->arena);
    r->s->work = 0;
    s->build.jaxprs.count = r->njaxprs;
    s->build.arrays.count = r->narrays;
    s->misstated.count = r->nmisstated;
    s->open.count = 0;
}

static bool fits_entry(jx_sz_reading *r)
{
    for (int i = 0; r->body && i < r->nargs; i++)
        if (jx_hlo_width(r->body->args[i]->type) > 1)
            return jx_hlo_refuse_at(r->shlo, r->func,
                                    "expected arguments that are tensors");
    return r->body ||
           jx_hlo_refuse_at(r->shlo, r->func,
                            "expected a function with a body of one block");
}

const jx_jaxpr *jx_sz_read(jx_sz_reading *r, const jx_dim_shape *shapes,
                           const jx_sz_info *known, const jx_mlir_op *last)
{
    jx_hlo_reader *s = r->shlo;
    jx_hlo_body *b = jx_hlo_body_new(s, NULL);
    const jx_aval **ins =
        JX_NEW_ARRAY(arena_of(r), r->nargs + 1, const jx_aval *);
    jx_sz_info *infos =
        known ? JX_NEW_ARRAY(arena_of(r), r->nargs + 1, jx_sz_info) : NULL;
    int n = 0;

    if (!b || !ins || (known && !infos) || !fits_entry(r))
        return NULL;
    b->op = r->func;
    forget_reading(r);
    s->last = last;
    s->placeless = !r->recording;
    s->program->base = r->s->base;
    for (int i = 0; i < r->nargs; i++) {
        if (!jx_hlo_width(r->body->args[i]->type))
            continue;
        if (infos)
            infos[n] = known[i];
        ins[n++] = jx_hlo_aval_of(b, r->body->args[i]->type,
                                  shapes && shapes[i].rank >= 0 ? shapes[i].dims
                                                                : NULL);
    }
    return jx_ok(s->ctx) ? jx_hlo_jaxpr_of(s, r->func, r->func, n, ins, infos)
                         : NULL;
}

/* -- sizes that nobody named ----------------------------------------------- */

static bool name_args(jx_sz_reading *r)
{
    jx_sizes *s = r->s;

    for (int i = 0; i < r->nargs; i++)
        for (int k = 0; k < r->shapes[i].rank; k++)
            take_vars(r, i, k, r->shapes[i].dims[k]);
    for (int i = 0; i < r->nargs; i++) {
        const jx_mlir_type *type = r->body->args[i]->type;
        const jx_dim **dims;
        if (!jx_hlo_is_open(type) || r->shapes[i].rank >= 0)
            continue;
        dims = JX_NEW_ARRAY(arena_of(r), type->rank + 1, const jx_dim *);
        for (int k = 0; dims && k < type->rank; k++) {
            jx_size_var like = {NULL, JX_SIZE_AXIS, i, k, 0};
            const char *name = jx_arena_printf(arena_of(r), "arg%d_%d", i, k);
            dims[k] = type->shape[k] == JX_MLIR_DYNAMIC
                          ? jx_sz_fresh(s, like, name)
                          : jx_dim_int(s->dims, type->shape[k]);
            if (!dims[k])
                return false;
            if (type->shape[k] == JX_MLIR_DYNAMIC)
                JX_PUSH(arena_of(r), &s->open,
                        s->vars.at[s->vars.count - 1].var);
        }
        if (!dims)
            return false;
        r->shapes[i] = (jx_dim_shape){type->rank, dims};
    }
    return true;
}

static void note_equated(jx_sz_reading *r, const jx_sz_equation *e)
{
    jx_buffer text = jx_ctx_text(r->s->ctx);

    jx_buffer_printf(&text, "%s = ", e->var->name);
    jx_dim_print(e->is, &text);
    JX_PUSH(arena_of(r), &r->shlo->equated, jx_arena_take(arena_of(r), &text));
}

/* Puts what was found out about sizes that nobody named into the inputs, and
 * forgets the variables that are gone. */
static bool apply_equations(jx_sz_reading *r)
{
    jx_sizes *s = r->s;

    for (int i = 0; i < r->nargs; i++) {
        const jx_dim **dims;
        if (r->shapes[i].rank < 0)
            continue;
        dims = JX_NEW_ARRAY(arena_of(r), r->shapes[i].rank + 1, const jx_dim *);
        for (int k = 0; dims && k < r->shapes[i].rank; k++) {
            dims[k] = r->shapes[i].dims[k];
            for (size_t e = 0; dims[k] && e < s->equations.count; e++)
                dims[k] =
                    jx_dim_substitute(s->dims, dims[k], s->equations.at[e].var,
                                      s->equations.at[e].is);
            if (!dims[k])
                return false;
        }
        if (!dims)
            return false;
        r->shapes[i].dims = dims;
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

/* -- assertions, where they count ------------------------------------------ */

/* What an assertion of the entry compares is asked of callers. */
static void ask(jx_sizes *s, const jx_size_assertion *a)
{
    for (int i = 0; a->known && i < a->ncompared; i++) {
        const jx_scope_constraint *c = &a->compared[i];
        const jx_dim *apart = jx_dim_sub(s->dims, c->lhs, c->rhs);
        jx_int number;
        if (apart && !jx_dim_is_wide(apart, &number) &&
            jx_sz_is_given(s, apart))
            JX_PUSH(s->ctx->arena, &s->constraints, *c);
    }
}

static jx_sz_asserted *asserted_by(const jx_sz_reading *r, const jx_mlir_op *op)
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
    int shown = a->nshown;
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

/* The numbers of the message: no variable is made for them. */
static const jx_dim *const *shown_by(jx_sizes *s, jx_atoms ins)
{
    const jx_dim **shown =
        JX_NEW_ARRAY(s->ctx->arena, ins.count, const jx_dim *);

    for (int i = 1; shown && i < ins.count; i++) {
        jx_sz_info info = jx_sz_info_of(s, ins.at[i]);
        jx_int number;
        if (info.elems && info.count == 1 && info.elems[0].dim &&
            jx_dim_is_wide(info.elems[0].dim, &number))
            shown[i - 1] = info.elems[0].dim;
    }
    return shown;
}

static jx_size_assertion *meet(jx_sz_reading *r, const char *message,
                               const jx_sz_asserted *of, bool declares,
                               jx_atoms ins)
{
    jx_sizes *s = r->s;
    jx_sz_info info = jx_sz_info_of(s, ins.at[0]);
    jx_size_assertion *a = JX_NEW(s->ctx->arena, jx_size_assertion);
    jx_scope_constraint *compared =
        JX_NEW_ARRAY(s->ctx->arena, JX_SZ_ASSERTED, jx_scope_constraint);

    if (!a || !compared)
        return NULL;
    a->of = of;
    a->message = message;
    a->kind = jx_sz_read_message(s->ctx, message).kind;
    a->declares = declares;
    a->known = info.elems && info.count == 1 &&
               jx_sz_compared(s, info.elems[0].cond, compared, &a->ncompared);
    a->compared = compared;
    a->fails = info.elems && info.count == 1 && info.elems[0].cond == s->no;
    a->shown = shown_by(s, ins);
    a->nshown = a->shown ? ins.count - 1 : 0;
    a->mismatch.what = malformed(r, a);
    if (of && !a->mismatch.what)
        a->mismatch = of->mismatch;
    return a;
}

const jx_size_assertion *jx_sz_assertion(jx_hlo_body *b, jx_atoms ins)
{
    jx_sz_reading *r = b->s->reading;
    const jx_mlir_attr *message = jx_mlir_get(b->op, "error_message");
    const jx_hlo_body *of = b;
    jx_size_assertion *made;
    jx_sz_asserted *own;

    while (of->outer)
        of = of->outer;
    own = r && of->func == r->func ? asserted_by(r, b->op) : NULL;
    if (r && r->raw && own && ins.count)
        jx_sz_note_raw(r, own, ins);
    if (!r || !r->recording || !ins.count)
        return NULL;
    made = meet(r, message ? jx_mlir_text(b->s->ctx, message) : NULL, own,
                of->func == r->func, ins);
    if (made)
        JX_PUSH(arena_of(r), &r->met, made);
    return made;
}

/* Callers are asked for what the entry's own assertions compare, unless an
 * author's constraint says so. */
static void ask_callers(jx_sz_reading *r)
{
    for (size_t i = 0; i < r->met.count; i++) {
        const jx_size_assertion *a = r->met.at[i];
        if (a->declares && !(a->of && a->of->declared))
            ask(r->s, a);
    }
}

/* The raw sizes have no part in what follows. */
static void forget_raw(jx_sz_reading *r)
{
    jx_sizes *s = r->s;

    s->vars.count = 0;
    for (size_t i = 0; i < s->aux.count; i++)
        s->aux.at[i]->size = NULL;
    jx_sz_forget(s);
}

/* Messages name inputs and shapes in their own way, and are held against what
 * they themselves say.  An exported file declares its shapes, and who calls it
 * keeps to them; of a text they count if its assertions leave no others. */
static bool read_messages(jx_sz_reading *r)
{
    bool declared = r->given;

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

/* -- the reading that counts ----------------------------------------------- */

static const jx_jaxpr *read_entry(jx_sz_reading *r, const jx_sz_info *known)
{
    const jx_jaxpr *made;

    r->met.count = 0;
    r->recording = true;
    made = jx_sz_read(r, r->shapes, known, NULL);
    r->recording = false;
    return made;
}

/* The same as often as it finds out that sizes which nobody named are one. */
static const jx_jaxpr *read_unified(jx_sz_reading *r)
{
    jx_sizes *s = r->s;

    for (int round = 0;; round++) {
        const jx_jaxpr *made;
        s->unifying = s->open.count && round < MOST_ROUNDS;
        made = read_entry(r, NULL);
        s->unifying = false;
        if (!made || !s->equations.count)
            return made;
        if (!apply_equations(r))
            return NULL;
        jx_sz_forget(s);
    }
}

/* Sizes that no shape gives may be 0: the others are asked to be at least 1,
 * and the entry is read again. */
static bool has_lower_base(jx_sz_reading *r)
{
    jx_sizes *s = r->s;
    bool others = false;

    for (size_t i = 0; i < s->vars.count; i++)
        others = others || s->vars.at[i].origin != JX_SIZE_AXIS;
    if (!others || !s->base)
        return false;
    s->base = 0;
    for (size_t i = 0; i < s->vars.count; i++) {
        jx_scope_constraint made = {
            .lhs = jx_dim_of_atom(s->dims, s->vars.at[i].var),
            .rhs = jx_dim_int(s->dims, 1)};
        if (s->vars.at[i].origin == JX_SIZE_AXIS && made.lhs && made.rhs)
            JX_PUSH(s->ctx->arena, &s->constraints, made);
    }
    jx_sz_forget(s);
    return true;
}

static const jx_jaxpr *read_open(jx_sz_reading *r)
{
    const jx_jaxpr *made;

    if (!read_messages(r))
        return NULL;
    declare(r);
    shapes_of_caller(r);
    if (!name_args(r))
        return NULL;
    made = read_unified(r);
    if (made && has_lower_base(r))
        made = read_entry(r, NULL);
    if (made)
        ask_callers(r);
    return made;
}

/* -- entries --------------------------------------------------------------- */

/* An op that takes or gives sizes as values. */
static bool is_about_sizes(const jx_mlir_op *op)
{
    switch (op->id) {
    case JX_OP_stablehlo_get_dimension_size:
    case JX_OP_stablehlo_set_dimension_size:
    case JX_OP_stablehlo_dynamic_broadcast_in_dim:
    case JX_OP_stablehlo_dynamic_conv:
    case JX_OP_stablehlo_dynamic_gather:
    case JX_OP_stablehlo_dynamic_iota:
    case JX_OP_stablehlo_dynamic_pad:
    case JX_OP_stablehlo_dynamic_reshape:
    case JX_OP_stablehlo_real_dynamic_slice: return true;
    case JX_OP_stablehlo_custom_call: return !op->nouts;
    default: return false;
    }
}

/* Whether anything in there has a size that is not known, or makes one. */
static bool has_sizes(const jx_mlir_op *op, int depth)
{
    if (depth > JX_HLO_DEPTH || is_about_sizes(op))
        return true;
    for (int i = 0; i < op->nouts; i++)
        if (jx_hlo_is_open(op->outs[i]->type))
            return true;
    for (int i = 0; i < op->nregions; i++)
        for (int k = 0; k < op->regions[i].nblocks; k++) {
            const jx_mlir_block *block = op->regions[i].blocks[k];
            for (int a = 0; a < block->nargs; a++)
                if (jx_hlo_is_open(block->args[a]->type))
                    return true;
            for (int n = 0; n < block->nops; n++)
                if (has_sizes(block->ops[n], depth + 1))
                    return true;
        }
    return false;
}

static jx_sz_reading *begin(jx_hlo_reader *s, const jx_mlir_op *func)
{
    jx_sz_reading *r = JX_NEW(s->ctx->arena, jx_sz_reading);

    if (!r)
        return NULL;
    *r = (jx_sz_reading){.shlo = s,
                         .func = func,
                         .body =
                             func->nregions == 1 ? jx_mlir_body(func, 0) : NULL,
                         .njaxprs = s->build.jaxprs.count,
                         .narrays = s->build.arrays.count,
                         .nmisstated = s->misstated.count};
    r->s = s->sizes = jx_sizes_new(s->ctx, s->program->dims);
    if (!r->s)
        return NULL;
    r->s->looking = true;
    r->nargs = r->body ? r->body->nargs : 0;
    r->shapes = JX_NEW_ARRAY(arena_of(r), r->nargs + 1, jx_dim_shape);
    r->caller = JX_NEW_ARRAY(arena_of(r), r->nargs + 1, jx_dim_shape);
    s->reading = r;
    s->entry = func;
    if (r->shapes)
        no_shapes(r);
    return r->shapes && r->caller ? r : NULL;
}

/* Those of the last arguments. */
static void take_shapes(jx_sz_reading *r, const jx_hlo_shapes *shapes)
{
    r->given = shapes && shapes->count;
    for (int i = 0; i < r->nargs; i++) {
        int at = shapes ? i - (r->nargs - shapes->count) : -1;
        r->caller[i] = at >= 0 ? shapes->at[at] : (jx_dim_shape){-1, NULL};
    }
}

const jx_jaxpr *jx_hlo_entry(jx_hlo_reader *s, const jx_mlir_op *func,
                             const jx_hlo_shapes *shapes)
{
    jx_sz_reading *r = begin(s, func);
    const jx_jaxpr *made;

    if (!r)
        return NULL;
    take_shapes(r, shapes);
    r->s->plain = !has_sizes(s->module, 0);
    if (r->s->plain)
        r->s->base =
            r->given || jx_mlir_get(s->module, "jax.uses_shape_polymorphism");
    made = r->s->plain || !r->body ? read_entry(r, NULL) : read_open(r);
    for (size_t i = 0; i < r->s->vars.count; i++)
        if (r->s->vars.at[i].origin == JX_SIZE_FREE)
            JX_PUSH(s->ctx->arena, &s->unsaid, r->s->vars.at[i].var);
    return made;
}

/* -- the entry at sizes ---------------------------------------------------- */

/* The integers of an argument that a caller gives. */
static jx_sz_info take_given(jx_sz_reading *r, int arg, int ngiven,
                             const jx_given_integer *given)
{
    const jx_mlir_type *type = r->body->args[arg]->type;
    int64_t count = type->kind == JX_T_TENSOR;
    jx_sz_elem *elems = NULL;

    for (int i = 0; count && i < type->rank; i++)
        if (type->shape[i] < 0 ||
            __builtin_mul_overflow(count, type->shape[i], &count))
            count = 0;
    for (int i = 0; i < ngiven; i++) {
        const jx_given_integer *g = &given[i];
        if (g->arg != arg || g->element < 0 || count > JX_SZ_ELEMENTS ||
            g->element >= count)
            continue;
        if (!elems && !(elems = JX_NEW_ARRAY(arena_of(r), count, jx_sz_elem)))
            break;
        elems[g->element].dim = jx_dim_int(r->s->dims, g->value);
    }
    return (jx_sz_info){elems ? (int)count : 0, elems};
}

const jx_size_assertion *jx_sz_failing(jx_hlo_reader *s, const jx_mlir_op *func,
                                       const jx_dim_shape *shapes, int ngiven,
                                       const jx_given_integer *given)
{
    jx_sz_reading *r = begin(s, func);
    jx_sz_info *known;

    if (!r)
        return NULL;
    r->s->wrapping = true;
    known = JX_NEW_ARRAY(arena_of(r), r->nargs + 1, jx_sz_info);
    for (int i = 0; known && i < r->nargs; i++) {
        if (shapes[i].rank >= 0 &&
            shape_fits(r->body->args[i]->type, &shapes[i]))
            r->shapes[i] = shapes[i];
        known[i] = take_given(r, i, ngiven, given);
    }
    if (known)
        read_entry(r, known);
    for (int declares = 1; declares >= 0; declares--)
        for (size_t i = 0; i < r->met.count; i++)
            if (r->met.at[i]->declares == declares && r->met.at[i]->fails)
                return r->met.at[i];
    return NULL;
}
