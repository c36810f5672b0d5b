/* stablehlo_raw.c - the entry's assertions in raw sizes, against what their
 * messages say; see stablehlo_entry.h. */
#include "frontend/read/stablehlo_entry.h"

#include <string.h>

enum { RAW_SCOPE = 1 << 21, SAMPLES = 400 };

static jx_arena *arena_of(const jx_sz_reading *r)
{
    return r->s->ctx->arena;
}

/* -- raw sizes ------------------------------------------------------------- */

static bool make_raw(jx_sz_reading *r)
{
    r->raws = JX_NEW_ARRAY(arena_of(r), r->nargs + 1, jx_dim_shape);
    for (int i = 0; r->raws && i < r->nargs; i++) {
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
                     : jx_arena_printf(arena_of(r), "arg%d.shape[%d]", i, axis);
            dims[axis] =
                type->shape[axis] == JX_MLIR_DYNAMIC
                    ? jx_dim_var(r->s->dims, jx_intern_text(r->s->ctx, name),
                                 RAW_SCOPE)
                    : jx_dim_int(r->s->dims, type->shape[axis]);
            if (!dims[axis])
                return false;
        }
        r->raws[i] = (jx_dim_shape){type->rank, dims};
        if (!dims)
            return false;
    }
    return r->raws != NULL;
}

void jx_sz_note_raw(jx_sz_reading *r, jx_sz_asserted *a, jx_atoms ins)
{
    jx_sz_info info = jx_sz_info_of(r->s, ins.at[0]);

    a->compared =
        JX_NEW_ARRAY(arena_of(r), JX_SZ_ASSERTED, jx_scope_constraint);
    a->ncompared = 0;
    if (!a->compared || !info.elems || info.count != 1 ||
        !jx_sz_compared(r->s, info.elems[0].cond, a->compared, &a->ncompared))
        a->ncompared = -1;
    a->shown = JX_NEW_ARRAY(arena_of(r), a->op->nins, const jx_dim *);
    for (int k = 1; a->shown && k < ins.count && k < a->op->nins; k++) {
        info = jx_sz_info_of(r->s, ins.at[k]);
        if (info.elems && info.count == 1 && info.elems[0].dim)
            a->shown[k - 1] = jx_sz_public(r->s, info.elems[0].dim);
    }
}

bool jx_sz_follow_raw(jx_sz_reading *r)
{
    int64_t base = r->s->base;
    bool ok = make_raw(r);

    r->s->base = 0; /* they are only known to be sizes */
    r->raw = true;
    ok = ok &&
         jx_sz_read(r, r->raws, NULL, r->asserted.at[r->asserted.count - 1].op);
    r->raw = false;
    r->s->base = base;
    return ok;
}

/* -- variables in raw sizes ------------------------------------------------ */

const jx_dim *jx_sz_in_raw(const jx_sz_reading *r, const jx_dim *dim)
{
    for (size_t i = 0; dim && i < r->solved.count; i++)
        dim = jx_dim_substitute(r->s->dims, dim, r->solved.at[i].var,
                                r->solved.at[i].value);
    return dim;
}

/* As jax.export solves for them. */
void jx_sz_solve(jx_sz_reading *r)
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
    solution =
        declared ? jx_solution_of_avals(r->s->dims, r->nargs, declared, 0, NULL)
                 : NULL;
    r->solution = solution;
    for (int i = 0; solution && i < solution->nsteps; i++) {
        const jx_size_step *step = &solution->steps[i];
        const jx_dim *factor = jx_dim_wide(r->s->dims, step->factor), *size;
        jx_sz_solved made = {step->var, NULL, NULL};
        if (!step->var)
            continue;
        size = jx_dim_sub(r->s->dims, r->raws[step->input].dims[step->axis],
                          jx_sz_in_raw(r, step->rest));
        made.value = jx_dim_floordiv(r->s->dims, size, factor);
        if (step->factor != 1)
            made.remainder = jx_dim_mod(r->s->dims, size, factor);
        if (made.value)
            JX_PUSH(arena_of(r), &r->solved, made);
    }
}

static const jx_sz_solved *solved_as(const jx_sz_reading *r, const char *name)
{
    for (size_t i = 0; name && i < r->solved.count; i++)
        if (!strcmp(r->solved.at[i].var->name, name))
            return &r->solved.at[i];
    return NULL;
}

const jx_dim *jx_sz_parse(const jx_sz_reading *r, const char *text)
{
    size_t at;
    const char *expected;

    return jx_dim_parse(r->s->dims, text, strlen(text), 0, &at, &expected);
}

/* The raw size that a message names. */
static const jx_dim *raw_size(const jx_sz_reading *r, const char *path,
                              int axis)
{
    for (int i = 0; i < r->nspecs; i++) {
        int input = r->specs[i].input;
        if (input >= 0 && !strcmp(r->specs[i].path, path) && axis >= 0 &&
            axis < r->raws[input].rank)
            return r->raws[input].dims[axis];
    }
    return NULL;
}

/* What the message says is compared, in raw sizes; false if that cannot be
 * told. */
static bool expected_of(const jx_sz_reading *r, const jx_sz_message *m,
                        jx_scope_constraint *to)
{
    const jx_sz_solved *var = solved_as(r, m->name);

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
        to->rhs = jx_sz_in_raw(r, jx_sz_parse(r, m->spec));
        break;
    case JX_ASSERTS_CONSTRAINT:
        to->equal = m->equal;
        to->lhs = jx_sz_in_raw(r, jx_sz_parse(r, m->difference));
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
static bool is_reached(const jx_sz_reading *r, const jx_sz_asserted *a,
                       sample *at)
{
    for (const jx_sz_asserted *b = r->asserted.at; b < a; b++)
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
static jx_size_mismatch at_sample(const jx_sz_reading *r, jx_buffer *text,
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
static jx_size_mismatch differing(const jx_sz_reading *r, const char *what,
                                  const jx_scope_constraint *expected,
                                  int count,
                                  const jx_scope_constraint *compared,
                                  sample *at)
{
    const jx_dim *all = jx_dim_add(r->s->dims, expected->lhs, expected->rhs);
    jx_buffer text = jx_ctx_text(r->s->ctx);

    jx_buffer_printf(&text, "%s `", what);
    put_comparison(expected, &text);
    jx_buffer_printf(&text, "`, the program checks %s",
                     count ? "`" : "nothing");
    for (int i = 0; i < count; i++) {
        jx_buffer_puts(&text, i ? " and " : "");
        put_comparison(&compared[i], &text);
        all = jx_dim_add(
            r->s->dims, all,
            jx_dim_add(r->s->dims, compared[i].lhs, compared[i].rhs));
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
static jx_size_mismatch compare(const jx_sz_reading *r, const jx_sz_asserted *a,
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
static bool is_same(const jx_sz_reading *r, const jx_scope_constraint *a,
                    const jx_scope_constraint *b)
{
    const jx_dim *x = jx_dim_sub(r->s->dims, a->lhs, a->rhs);
    const jx_dim *y = jx_dim_sub(r->s->dims, b->lhs, b->rhs);

    return x && y && a->equal == b->equal && a->differs == b->differs &&
           (x == y ||
            ((a->equal || a->differs) && x == jx_dim_neg(r->s->dims, y)));
}

/* It holds for all sizes there are, as the program found of what it checks. */
static bool is_always(const jx_sz_reading *r, const jx_scope_constraint *c)
{
    const jx_dim *apart = jx_dim_sub(r->s->dims, c->lhs, c->rhs);
    jx_dim_range range = {0};

    if (apart)
        range = jx_dim_bounds(apart, 0);
    return range.has_low && range.low >= 0 && !c->differs &&
           (!c->equal || (range.has_high && range.high <= 0));
}

static bool agree(const jx_sz_reading *r, const jx_scope_constraint *expected,
                  int count, const jx_scope_constraint *compared)
{
    return count == 1   ? is_same(r, expected, &compared[0])
           : count == 0 ? is_always(r, expected)
                        : false;
}

/* `a>=b` against the difference that the message says is compared with 0. */
static jx_size_mismatch compare_text(const jx_sz_reading *r,
                                     const jx_sz_asserted *a, bool *agrees)
{
    const jx_sz_message *m = &a->message;
    static const jx_size_mismatch none;
    jx_scope_list said = {0};
    jx_scope_error error;
    jx_scope_constraint expected = {.equal = m->equal};

    *agrees = false;
    expected.lhs = jx_sz_parse(r, m->difference);
    expected.rhs = jx_dim_int(r->s->dims, 0);
    if (!expected.lhs ||
        !jx_scope_declare(r->s->dims, m->constraint, 0, false, &said, &error))
        return none;
    /* What is derived from it stands before it. */
    *agrees = said.count ? is_same(r, &expected, &said.at[said.count - 1])
                         : is_always(r, &expected);
    return *agrees ? none
                   : compare(r, a, "the message expects", &expected,
                             (int)said.count, said.at);
}

/* What a number of the message is said to be, in raw sizes; NULL where that
 * cannot be told. */
static const jx_dim *shown_as(const jx_sz_reading *r, const jx_sz_message *m,
                              const jx_sz_shown *shown)
{
    const jx_sz_solved *var;

    switch (shown->kind) {
    case JX_SZ_SHOWS_NOTHING: break;
    case JX_SZ_SHOWS_VAR:
        var = solved_as(r, shown->text);
        return var ? var->value : NULL;
    case JX_SZ_SHOWS_SIZE: return raw_size(r, shown->text, shown->axis);
    case JX_SZ_SHOWS_SPEC: return jx_sz_in_raw(r, jx_sz_parse(r, shown->text));
    case JX_SZ_SHOWS_REST:
        var = solved_as(r, m->name);
        return var ? var->remainder : NULL;
    case JX_SZ_SHOWS_DIFFERENCE:
        return jx_sz_in_raw(r, jx_sz_parse(r, m->difference));
    }
    return NULL;
}

/* Two sizes that differ somewhere; nothing if no sample says so. */
static jx_size_mismatch compare_shown(const jx_sz_reading *r,
                                      const jx_sz_asserted *a, int operand,
                                      const jx_dim *said, const jx_dim *given)
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

static void compare_numbers(jx_sz_reading *r, jx_sz_asserted *a)
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
void jx_sz_compare_message(jx_sz_reading *r, jx_sz_asserted *a)
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
