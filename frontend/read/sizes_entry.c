/* sizes_entry.c - the entry: what its sizes are called, and what it asks of
 * those who call it.
 *
 * The assertions of jax.export are read twice.  First each size of an argument
 * is a variable of its own (the *raw* sizes), so that what an assertion
 * compares is seen as it is, and can be held against what its message says.
 * Then the arguments have the shapes that were declared. */
#include "frontend/read/sizes_parts.h"

#include "frontend/ir/solution.h"

#include <stdio.h>
#include <string.h>

enum { RAW_SCOPE = 1 << 21, MOST_ROUNDS = 6, SAMPLES = 400 };

/* An assertion of the entry. */
typedef struct asserted {
    const jx_mlir_op *op;
    jx_sz_message message;
    /* What it compares, in raw sizes; -1: not known. */
    int ncompared;
    jx_scope_constraint *compared;
    const jx_dim **shown; /* what the message shows, too; NULL: not known */
    jx_size_mismatch mismatch;
    bool agrees; /* what is checked is what the message says, by algebra */
    bool declared; /* ... and a constraint */
} asserted;

/* A variable in raw sizes. */
typedef struct solved {
    const jx_dim_atom *var;
    const jx_dim *value;
    const jx_dim *remainder; /* of the division that gave it, or NULL */
} solved;

typedef struct reading {
    jx_sizes *s;
    const jx_mlir_block *body;
    int nargs;
    JX_VEC(asserted) asserted;
    int nspecs;
    jx_sz_spec *specs;
    jx_dim_shape *shapes; /* by argument; a rank of -1: not known */
    jx_dim_shape *raw;
    JX_VEC(solved) solved;
    const jx_solution *solution;
} reading;

static jx_arena *arena_of(const reading *r)
{
    return r->s->ctx->arena;
}

/* -- what the entry's assertions say --------------------------------------- */

static void find_assertions(reading *r)
{
    jx_ctx *ctx = r->s->ctx;

    for (int i = 0; i < r->body->nops; i++) {
        const jx_mlir_op *op = r->body->ops[i];
        const jx_mlir_attr *target = jx_mlir_get(op, "call_target_name");
        const jx_mlir_attr *message = jx_mlir_get(op, "error_message");
        const char *name = target ? jx_mlir_text(ctx, target) : NULL;
        asserted made = {.op = op};
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

static void no_shapes(reading *r)
{
    for (int i = 0; i < r->nargs; i++)
        r->shapes[i].rank = -1;
}

static void shapes_of_caller(reading *r)
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
static void shapes_of_messages(reading *r)
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
static void take_vars(reading *r, int input, int axis, const jx_dim *dim)
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

/* -- raw sizes ------------------------------------------------------------- */

static bool make_raw(reading *r)
{
    r->raw = JX_NEW_ARRAY(arena_of(r), r->nargs + 1, jx_dim_shape);
    for (int i = 0; r->raw && i < r->nargs; i++) {
        const jx_mlir_type *type = r->body->args[i]->type;
        const jx_dim **dims;
        const char *path = NULL;
        if (type->kind != JX_T_TENSOR)
            continue;
        dims = JX_NEW_ARRAY(arena_of(r), type->rank + 1, const jx_dim *);
        for (int k = 0; k < r->nspecs; k++)
            if (r->specs[k].input == i)
                path = r->specs[k].path;
        for (int axis = 0; dims && axis < type->rank; axis++) {
            const char *name =
                path ? jx_arena_printf(arena_of(r), "%s.shape[%d]", path, axis)
                     : jx_arena_printf(arena_of(r), "arg%d.shape[%d]", i,
                                       axis);
            dims[axis] =
                type->shape[axis] == JX_MLIR_DYNAMIC
                    ? jx_dim_var(r->s->dims, jx_intern_text(r->s->ctx, name),
                                 RAW_SCOPE)
                    : jx_dim_int(r->s->dims, type->shape[axis]);
            if (!dims[axis])
                return false;
        }
        r->raw[i] = (jx_dim_shape){type->rank, dims};
        if (!dims)
            return false;
    }
    return r->raw != NULL;
}

static jx_sizes_env *new_env(reading *r, const jx_dim_shape *shapes)
{
    jx_sizes_env *env = JX_NEW(arena_of(r), jx_sizes_env);

    if (!env)
        return NULL;
    env->of = r->s;
    env->func = r->s->entry;
    jx_intern_init(&env->values, arena_of(r));
    jx_intern_init(&env->calls, arena_of(r));
    for (int i = 0; shapes && i < r->nargs; i++)
        if (shapes[i].dims)
            jx_sz_set(env, r->body->args[i],
                      (jx_sz_info){.rank = shapes[i].rank,
                                   .shape = shapes[i].dims});
    return env;
}

/* What the assertions compare, in raw sizes. */
static bool follow_raw(reading *r)
{
    const jx_mlir_op *last = r->asserted.at[r->asserted.count - 1].op;
    jx_sizes_env *env = make_raw(r) ? new_env(r, r->raw) : NULL;
    int64_t base = r->s->base;

    if (!env)
        return false;
    r->s->base = 0; /* they are only known to be sizes */
    for (int i = 0; i < r->body->nops && r->body->ops[i] != last; i++)
        jx_sz_note(env, r->body->ops[i]);
    for (size_t i = 0; i < r->asserted.count; i++) {
        asserted *a = &r->asserted.at[i];
        jx_sz_info info = jx_sz_info_of(env, a->op->ins[0]);
        a->compared = JX_NEW_ARRAY(arena_of(r), JX_SZ_ASSERTED,
                                   jx_scope_constraint);
        if (!a->compared || !info.elems || info.count != 1 ||
            !jx_sz_compared(r->s, info.elems[0].cond, a->compared,
                            &a->ncompared))
            a->ncompared = -1;
        a->shown = JX_NEW_ARRAY(arena_of(r), a->op->nins, const jx_dim *);
        for (int k = 1; a->shown && k < a->op->nins; k++) {
            info = jx_sz_info_of(env, a->op->ins[k]);
            if (info.elems && info.count == 1 && info.elems[0].dim)
                a->shown[k - 1] = jx_sz_public(r->s, info.elems[0].dim);
        }
    }
    r->s->base = base;
    return true;
}

/* -- variables in raw sizes ------------------------------------------------ */

static const jx_dim *in_raw(const reading *r, const jx_dim *dim)
{
    for (size_t i = 0; dim && i < r->solved.count; i++)
        dim = jx_dim_substitute(r->s->dims, dim, r->solved.at[i].var,
                                r->solved.at[i].value);
    return dim;
}

/* As jax.export solves for them. */
static void solve(reading *r)
{
    jx_avals avals;
    const jx_aval **declared =
        JX_NEW_ARRAY(arena_of(r), r->nargs + 1, const jx_aval *);
    const jx_solution *solution;

    jx_avals_init(&avals, r->s->ctx);
    for (int i = 0; declared && i < r->nargs; i++) {
        int rank = r->shapes[i].rank < 0 ? 0 : r->shapes[i].rank;
        declared[i] = jx_aval_array(&avals, JX_F32, false, rank,
                                    rank ? r->shapes[i].dims : NULL);
        if (!declared[i])
            return;
    }
    solution = declared ? jx_solution_of_avals(r->s->dims, r->nargs, declared,
                                               0, NULL)
                        : NULL;
    r->solution = solution;
    for (int i = 0; solution && i < solution->nsteps; i++) {
        const jx_size_step *step = &solution->steps[i];
        const jx_dim *factor = jx_dim_wide(r->s->dims, step->factor), *size;
        solved made = {step->var, NULL, NULL};
        if (!step->var)
            continue;
        size = jx_dim_sub(r->s->dims, r->raw[step->input].dims[step->axis],
                          in_raw(r, step->rest));
        made.value = jx_dim_floordiv(r->s->dims, size, factor);
        if (step->factor != 1)
            made.remainder = jx_dim_mod(r->s->dims, size, factor);
        if (made.value)
            JX_PUSH(arena_of(r), &r->solved, made);
    }
}

static const solved *solved_as(const reading *r, const char *name)
{
    for (size_t i = 0; name && i < r->solved.count; i++)
        if (!strcmp(r->solved.at[i].var->name, name))
            return &r->solved.at[i];
    return NULL;
}

static const jx_dim *parse(const reading *r, const char *text)
{
    size_t at;
    const char *expected;

    return jx_dim_parse(r->s->dims, text, strlen(text), 0, &at, &expected);
}

/* The raw size that a message names. */
static const jx_dim *raw_size(const reading *r, const char *path, int axis)
{
    for (int i = 0; i < r->nspecs; i++) {
        int input = r->specs[i].input;
        if (input >= 0 && !strcmp(r->specs[i].path, path) && axis >= 0 &&
            axis < r->raw[input].rank)
            return r->raw[input].dims[axis];
    }
    return NULL;
}

/* What the message says is compared, in raw sizes; false if that cannot be
 * told. */
static bool expected_of(const reading *r, const jx_sz_message *m,
                        jx_scope_constraint *to)
{
    const solved *var = solved_as(r, m->name);

    to->equal = m->kind != JX_ASSERTS_POSITIVE;
    to->rhs = jx_dim_int(r->s->dims, 0);
    switch (m->kind) {
    case JX_ASSERTS_OTHER: return false;
    case JX_ASSERTS_POSITIVE:
        to->lhs = var ? var->value : NULL;
        to->rhs = jx_dim_int(r->s->dims, 1);
        break;
    case JX_ASSERTS_DIVISIBLE: to->lhs = var ? var->remainder : NULL; break;
    case JX_ASSERTS_SHAPE:
        to->lhs = raw_size(r, m->path, m->axis);
        to->rhs = in_raw(r, parse(r, m->spec));
        break;
    case JX_ASSERTS_CONSTRAINT:
        to->equal = m->equal;
        to->lhs = in_raw(r, parse(r, m->difference));
        break;
    }
    return to->lhs && to->rhs;
}

/* -- comparing message and operands ---------------------------------------- */

typedef struct sample {
    uint64_t seed;
    int64_t most;
} sample;

/* A value that depends on the variable and the sample. */
static bool sampled(void *env, const jx_dim_atom *var, int64_t *value)
{
    const sample *s = env;

    *value = (int64_t)(jx_hash_mix(s->seed, var->id) % (uint64_t)s->most);
    return true;
}

/* 1, 0, or -1 where there is no value. */
static int holds_at(const jx_scope_constraint *c, sample *at)
{
    jx_int lhs, rhs;

    if (!jx_dim_eval_wide(c->lhs, sampled, at, &lhs) ||
        !jx_dim_eval_wide(c->rhs, sampled, at, &rhs))
        return -1;
    return jx_scope_holds(c, lhs, rhs);
}

static int all_hold_at(int count, const jx_scope_constraint *all, sample *at)
{
    for (int i = 0; i < count; i++) {
        int holds = holds_at(&all[i], at);
        if (holds != 1)
            return holds;
    }
    return 1;
}

/* Assertions before this one let the sizes pass, as far as they are known. */
static bool is_reached(const reading *r, const asserted *a, sample *at)
{
    for (const asserted *b = r->asserted.at; b < a; b++)
        if (b->ncompared >= 0 &&
            all_hold_at(b->ncompared, b->compared, at) == 0)
            return false;
    return true;
}

static void put_comparison(const jx_scope_constraint *c, jx_buffer *to)
{
    jx_dim_print(c->lhs, to);
    jx_buffer_printf(to, " %s ", jx_scope_relation(c));
    jx_dim_print(c->rhs, to);
}

/* Finishes a mismatch with the sizes of the sample. */
static jx_size_mismatch at_sample(const reading *r, jx_buffer *text,
                                  const jx_dim *all, sample *at)
{
    jx_size_mismatch made = {0};
    int count = 0;
    const jx_dim_atom *const *vars =
        all ? jx_dim_vars(r->s->dims, all, &count) : NULL;
    jx_binding *sizes = JX_NEW_ARRAY(arena_of(r), count + 1, jx_binding);

    for (int i = 0; vars && sizes && i < count; i++) {
        int64_t value = 0;

        sizes[i].var = vars[i];
        sampled(at, vars[i], &value);
        sizes[i].value = value;
        jx_buffer_printf(text, "%s%s = %lld", i ? ", " : "; they differ at ",
                         vars[i]->name, (long long)sizes[i].value);
    }
    made.nsizes = sizes ? count : 0;
    made.sizes = sizes;
    made.what = jx_arena_take(arena_of(r), text);
    return made;
}

/* Says that `expected` (of the message) and `compared` differ at a sample. */
static jx_size_mismatch differing(const reading *r, const char *what,
                                  const jx_scope_constraint *expected,
                                  int count,
                                  const jx_scope_constraint *compared,
                                  sample *at)
{
    const jx_dim *all = jx_dim_add(r->s->dims, expected->lhs, expected->rhs);
    jx_buffer text = jx_ctx_text(r->s->ctx);

    jx_buffer_printf(&text, "%s `", what);
    put_comparison(expected, &text);
    jx_buffer_printf(&text, "`, the program checks %s", count ? "`" : "nothing");
    for (int i = 0; i < count; i++) {
        jx_buffer_puts(&text, i ? " and " : "");
        put_comparison(&compared[i], &text);
        all = jx_dim_add(r->s->dims, all,
                         jx_dim_add(r->s->dims, compared[i].lhs,
                                    compared[i].rhs));
    }
    jx_buffer_puts(&text, count ? "`" : "");
    return at_sample(r, &text, all, at);
}

static sample sample_at(int i)
{
    static const int64_t most[] = {4, 12, 100, 2000, 100000, 1 << 30};

    return (sample){(uint64_t)i * 7919 + 1, most[i % 6]};
}

/* Compares at samples; nothing if they agree at all of them. */
static jx_size_mismatch compare(const reading *r, const asserted *a,
                                const char *what,
                                const jx_scope_constraint *expected, int count,
                                const jx_scope_constraint *compared)
{
    for (int i = 0; i < SAMPLES; i++) {
        sample at = sample_at(i);
        int said = holds_at(expected, &at);
        int done = all_hold_at(count, compared, &at);
        if (said >= 0 && done >= 0 && said != done && is_reached(r, a, &at))
            return differing(r, what, expected, count, compared, &at);
    }
    return (jx_size_mismatch){0};
}

/* The same statement by algebra alone. */
static bool is_same(const reading *r, const jx_scope_constraint *a,
                    const jx_scope_constraint *b)
{
    const jx_dim *x = jx_dim_sub(r->s->dims, a->lhs, a->rhs);
    const jx_dim *y = jx_dim_sub(r->s->dims, b->lhs, b->rhs);

    return x && y && a->equal == b->equal && a->differs == b->differs &&
           (x == y ||
            ((a->equal || a->differs) && x == jx_dim_neg(r->s->dims, y)));
}

/* It holds for all sizes there are, as the program found of what it checks. */
static bool is_always(const reading *r, const jx_scope_constraint *c)
{
    const jx_dim *apart = jx_dim_sub(r->s->dims, c->lhs, c->rhs);
    jx_dim_range range = {0};

    if (apart)
        range = jx_dim_bounds(apart, 0);
    return range.has_low && range.low >= 0 && !c->differs &&
           (!c->equal || (range.has_high && range.high <= 0));
}

static bool agree(const reading *r, const jx_scope_constraint *expected,
                  int count, const jx_scope_constraint *compared)
{
    return count == 1   ? is_same(r, expected, &compared[0])
           : count == 0 ? is_always(r, expected)
                        : false;
}

/* `a>=b` against the difference that the message says is compared with 0. */
static jx_size_mismatch compare_text(const reading *r, const asserted *a,
                                     bool *agrees)
{
    const jx_sz_message *m = &a->message;
    static const jx_size_mismatch none;
    jx_scope_list said = {0};
    jx_scope_error error;
    jx_scope_constraint expected = {.equal = m->equal};

    *agrees = false;
    expected.lhs = parse(r, m->difference);
    expected.rhs = jx_dim_int(r->s->dims, 0);
    if (!expected.lhs ||
        !jx_scope_declare(r->s->dims, m->constraint, 0, false, &said, &error))
        return none;
    /* What is derived from it stands before it. */
    *agrees = said.count
                  ? is_same(r, &expected, &said.at[said.count - 1])
                  : is_always(r, &expected);
    return *agrees ? none
                   : compare(r, a, "the message expects", &expected,
                             (int)said.count, said.at);
}

/* What a number of the message is said to be, in raw sizes; NULL where that
 * cannot be told. */
static const jx_dim *shown_as(const reading *r, const jx_sz_message *m,
                              const jx_sz_shown *shown)
{
    const solved *var;

    switch (shown->kind) {
    case JX_SZ_SHOWS_NOTHING: break;
    case JX_SZ_SHOWS_VAR:
        var = solved_as(r, shown->text);
        return var ? var->value : NULL;
    case JX_SZ_SHOWS_SIZE: return raw_size(r, shown->text, shown->axis);
    case JX_SZ_SHOWS_SPEC: return in_raw(r, parse(r, shown->text));
    case JX_SZ_SHOWS_REST:
        var = solved_as(r, m->name);
        return var ? var->remainder : NULL;
    case JX_SZ_SHOWS_DIFFERENCE: return in_raw(r, parse(r, m->difference));
    }
    return NULL;
}

/* Two sizes that differ somewhere; nothing if no sample says so. */
static jx_size_mismatch compare_shown(const reading *r, const asserted *a,
                                      int operand, const jx_dim *said,
                                      const jx_dim *given)
{
    jx_scope_constraint same = {.equal = true, .lhs = said, .rhs = given};
    jx_buffer text = jx_ctx_text(r->s->ctx);

    for (int i = 0; i < SAMPLES; i++) {
        sample at = sample_at(i);
        const jx_dim *all = jx_dim_add(r->s->dims, said, given);
        if (holds_at(&same, &at) != 0 || !is_reached(r, a, &at))
            continue;
        jx_buffer_printf(&text, "the message shows {%d} as `", operand);
        jx_dim_print(said, &text);
        jx_buffer_puts(&text, "`, the program gives `");
        jx_dim_print(given, &text);
        jx_buffer_puts(&text, "`");
        return at_sample(r, &text, all, &at);
    }
    return (jx_size_mismatch){0};
}

static void compare_numbers(reading *r, asserted *a)
{
    const jx_sz_message *m = &a->message;

    for (int i = 0; i < m->nshown && a->shown && !a->mismatch.what; i++) {
        const jx_sz_shown *shown = &m->shown[i];
        const jx_dim *said = shown_as(r, m, shown), *given = NULL;
        if (shown->operand >= 0 && shown->operand < a->op->nins - 1)
            given = a->shown[shown->operand];
        if (said && given && said != given)
            a->mismatch = compare_shown(r, a, shown->operand, said, given);
    }
}

/* Where message and operand differ by algebra, sizes are looked for at which
 * they do; the operand counts in any case. */
static void compare_message(reading *r, asserted *a)
{
    jx_scope_constraint expected = {0};
    bool same = true;

    if (a->ncompared >= 0 && expected_of(r, &a->message, &expected)) {
        a->agrees = agree(r, &expected, a->ncompared, a->compared);
        if (!a->agrees)
            a->mismatch = compare(r, a, "the message says", &expected,
                                  a->ncompared, a->compared);
    }
    if (a->message.kind == JX_ASSERTS_CONSTRAINT && !a->mismatch.what) {
        a->mismatch = compare_text(r, a, &same);
        a->agrees = a->agrees && same;
    }
    compare_numbers(r, a);
}

/* -- what the assertions enforce ------------------------------------------- */

static bool is_asserted(const reading *r, jx_assertion_kind kind,
                        const char *name, int axis)
{
    for (size_t i = 0; name && i < r->asserted.count; i++) {
        const asserted *a = &r->asserted.at[i];
        const char *of = kind == JX_ASSERTS_SHAPE ? a->message.path
                                                  : a->message.name;
        if (a->agrees && a->message.kind == kind && of && !strcmp(of, name) &&
            a->message.axis == axis)
            return true;
    }
    return false;
}

static const char *path_of(const reading *r, int input)
{
    for (int i = 0; i < r->nspecs; i++)
        if (r->specs[i].input == input)
            return r->specs[i].path;
    return NULL;
}

static bool step_is_asserted(const reading *r, const jx_size_step *step)
{
    const jx_dim *size = r->raw[step->input].dims[step->axis];

    if (step->var)
        return step->factor == 1 ||
               is_asserted(r, JX_ASSERTS_DIVISIBLE, step->var->name, -1);
    return size == in_raw(r, step->dim) ||
           is_asserted(r, JX_ASSERTS_SHAPE, path_of(r, step->input),
                       step->axis);
}

/* No other shapes than those of the messages pass the assertions. */
static bool shapes_are_asserted(const reading *r)
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
static bool all_are_positive(const reading *r)
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
static bool is_derived(const reading *r, const asserted *a,
                       const asserted *next)
{
    const jx_dim *rest = next->message.kind == JX_ASSERTS_CONSTRAINT
                             ? parse(r, next->message.difference)
                             : NULL;
    const jx_dim_term *term = rest ? jx_dim_terms(rest) : NULL;
    const jx_dim_atom *mod;

    if (!rest || jx_dim_nterms(rest) != 1 || term->nfactors != 1 ||
        term->coefficient != 1 || term->factors[0].power != 1 ||
        term->factors[0].atom->kind != JX_ATOM_MOD)
        return false;
    mod = term->factors[0].atom;
    return parse(r, a->message.difference) ==
           jx_dim_sub(r->s->dims,
                      jx_dim_mul(r->s->dims, mod->b,
                                 jx_dim_literal(r->s->dims, JX_ATOM_FLOORDIV,
                                                mod->a, mod->b)),
                      mod->a);
}

/* Which assertions are constraints of the author: looked at before the first
 * equality becomes a rule that rewrites dims. */
static void declare(reading *r)
{
    int count = (int)r->asserted.count;
    bool *derived = JX_NEW_ARRAY(arena_of(r), count + 1, bool);
    jx_scope_error error;

    for (int i = 0; derived && i + 1 < count; i++) {
        const asserted *a = &r->asserted.at[i];
        derived[i] = a->message.kind == JX_ASSERTS_CONSTRAINT &&
                     is_derived(r, a, a + 1);
    }
    for (int i = 0; derived && i < count; i++) {
        asserted *a = &r->asserted.at[i];
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

static bool name_args(reading *r)
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

static void note_equated(reading *r, const jx_sz_equation *e)
{
    jx_buffer text = jx_ctx_text(r->s->ctx);

    jx_buffer_printf(&text, "%s = ", e->var->name);
    jx_dim_print(e->is, &text);
    JX_PUSH(arena_of(r), &r->s->equated, jx_arena_take(arena_of(r), &text));
}

/* Puts what was found out about sizes that nobody named into the inputs, and
 * forgets the variables that are gone. */
static bool apply_equations(reading *r)
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
static void forget_walk(reading *r)
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

static bool unify(reading *r)
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

static const asserted *asserted_by(const reading *r, const jx_mlir_op *op)
{
    for (size_t i = 0; i < r->asserted.count; i++)
        if (r->asserted.at[i].op == op)
            return &r->asserted.at[i];
    return NULL;
}

/* XLA takes no module with such an assertion, whatever the sizes. */
static const char *malformed(reading *r, const jx_size_assertion *a)
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

static void finish_assertions(reading *r)
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
        const asserted *of = a->declares ? asserted_by(r, a->op) : NULL;
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
static void forget_raw(reading *r)
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
static bool read_messages(reading *r)
{
    bool declared = r->s->options.nshapes > 0;

    r->s->base = declared;
    find_assertions(r);
    no_shapes(r);
    if (!r->asserted.count)
        return true;
    shapes_of_messages(r);
    if (!follow_raw(r))
        return false;
    solve(r);
    for (size_t i = 0; i < r->asserted.count; i++)
        compare_message(r, &r->asserted.at[i]);
    if (!declared && !shapes_are_asserted(r))
        no_shapes(r);
    r->s->base = declared || all_are_positive(r);
    forget_raw(r);
    return true;
}

/* -- the walk that counts -------------------------------------------------- */

static bool walk_entry(reading *r)
{
    jx_sizes *s = r->s;

    jx_intern_init(&s->envs, s->ctx->arena);
    s->work = 0;
    s->assertions.count = 0;
    s->recording = true;
    s->root = jx_sz_enter(s, s->entry, r->nargs, s->args);
    s->recording = false;
    if (!s->root)
        s->root = new_env(r, NULL);
    return s->root != NULL;
}

/* Sizes that no shape gives may be 0: the others are asked to be at least 1. */
static bool lower_base(reading *r)
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
static void take_given(reading *r, int arg)
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
static bool enter_at_sizes(reading *r)
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
    reading r = {.s = s, .body = jx_mlir_body(s->entry, 0)};

    if (!r.body)
        return true; /* only declared */
    r.nargs = r.body->nargs;
    r.shapes = JX_NEW_ARRAY(arena_of(&r), r.nargs + 1, jx_dim_shape);
    if (!r.shapes)
        return false;
    if (s->plain) {
        s->base = s->options.nshapes > 0 ||
                  jx_mlir_get(s->options.module, "jax.uses_shape_polymorphism");
        s->root = new_env(&r, NULL);
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
