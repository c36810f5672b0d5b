/* typing.c - the pass: walks jaxprs, runs rules, compares, makes claims.
 *
 * Callees come before callers in the program's table, so one walk in that
 * order finds every callee typed already.  Inside a jaxpr, equations are typed
 * from the types inferred so far.  Where a rule gives up, or inferred and
 * declared sizes are only perhaps equal (a claim says so), the walk goes on
 * with what is declared, so that one defect is one finding. */
#include "analyzer/rules.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What a jaxpr's outputs turned out to be. */
typedef struct result {
    const jx_aval **outs;
    bool *resting; /* see jx_typing.resting */
} result;

/* A condition that is claimed already: `kind` of goal on a difference (or on
 * the two sides of a division). */
typedef struct condition {
    jx_goal_kind kind;
    const jx_dim *a, *b;
} condition;

struct jx_typer {
    jx_analysis *to;
    jx_program *program;
    result *results;         /* per jaxpr */
    const jx_calls **chains; /* per jaxpr: how one gets there; NULL: a root */
    bool *reached;
    jx_intern conditions;
    jx_intern divisors; /* dims whose divisors have been looked at */
    jx_intern unknowns; /* of place */
};

typedef struct jx_typer typer;

static jx_ctx *context(const jx_typing *t)
{
    return t->program->ctx;
}

/* -- claims ------------------------------------------------------------- */

static int scope_of(jx_typing *t, const jx_dim *a, const jx_dim *b)
{
    const jx_dim *sides[2] = {a, b};

    for (int i = 0; i < 2; i++) {
        int count = 0;
        const jx_dim_atom *const *vars =
            sides[i] ? jx_dim_vars(t->program->dims, sides[i], &count) : NULL;
        if (vars && count)
            return vars[0]->scope;
    }
    return 0;
}

static jx_claim *claim(jx_typing *t, jx_code code, const char *format,
                       va_list args)
{
    jx_claim *made = jx_claim_add(context(t), &t->to->claims, code);
    jx_buffer what = {0};

    if (!made)
        return NULL;
    made->jaxpr = t->jaxpr;
    made->eqn = t->eqn;
    made->calls = t->calls;
    made->stack = t->stack;
    jx_buffer_vprintf(&what, format, args);
    made->what = jx_arena_take(context(t)->arena, &what);
    return made;
}

/* What rests on an unchecked declaration is never settled. */
static bool rests(jx_typing *t, jx_claim *made)
{
    if (!t->resting || !made)
        return t->resting;
    made->goal.kind = JX_GOAL_NONE;
    made->evidence.why = "rests on the declared type of an unknown primitive";
    return true;
}

bool jx_type_wrong(jx_typing *t, const char *format, ...)
{
    va_list args;

    t->wrong = true;
    va_start(args, format);
    jx_claim *made = claim(t, t->code, format, args);
    va_end(args);
    if (!made)
        return false;
    made->goal.kind = JX_GOAL_FALSE;
    if (!rests(t, made)) {
        made->verdict = JX_REFUTED;
        made->evidence.by = "type rules";
    }
    return false;
}

static bool same_condition(const void *kept, const void *key)
{
    const condition *a = kept, *b = key;

    return a->kind == b->kind && a->a == b->a && a->b == b->b;
}

/* True the first time that this condition comes up. */
static bool is_new(typer *r, jx_goal_kind kind, const jx_dim *a,
                   const jx_dim *b)
{
    condition key = {kind, a, b};
    uint64_t hash =
        jx_hash_mix(jx_hash_mix((uint64_t)kind, (uint64_t)(uintptr_t)a),
                    (uint64_t)(uintptr_t)b);

    if (jx_intern_find(&r->conditions, hash, &key, same_condition))
        return false;
    condition *kept = jx_arena_copy(r->program->ctx->arena, &key, sizeof key);
    if (kept)
        jx_intern_add(&r->conditions, hash, kept);
    return true;
}

static void count_settled(jx_typing *t)
{
    *(t->resting ? &t->to->resting : &t->to->settled) += 1;
}

typedef struct question {
    jx_goal_kind kind;
    jx_code code;
    const jx_dim *lhs, *rhs;
    const jx_dim *key_a, *key_b; /* what makes it the same as another */
    bool holds, fails;           /* settled on the spot */
} question;

static void ask(jx_typing *t, const question *q, const char *format,
                va_list args)
{
    if (q->holds) {
        count_settled(t);
        return;
    }
    if (!t->resting && !q->fails && q->key_a &&
        !is_new(t->typer, q->kind, q->key_a, q->key_b)) {
        t->to->repeated++;
        return;
    }
    jx_claim *made = claim(t, q->code, format, args);
    if (!made)
        return;
    made->goal =
        (jx_goal){q->kind, q->lhs, q->rhs, NULL, scope_of(t, q->lhs, q->rhs)};
    if (!q->lhs || !q->rhs) {
        made->goal.kind = JX_GOAL_NONE;
        made->evidence.why = "a size is too large to reason about";
    } else if (!rests(t, made) && q->fails) {
        made->verdict = JX_REFUTED;
        made->evidence.by = "algebra";
        made->evidence.lhs = jx_dim_value(q->lhs);
        made->evidence.rhs = jx_dim_value(q->rhs);
    }
}

static void ask_eq(jx_typing *t, jx_code code, const jx_dim *a, const jx_dim *b,
                   const char *format, va_list args)
{
    question q = {JX_GOAL_EQ, code, a, b, NULL, NULL, a && a == b, false};
    int64_t x, y;

    if (!q.holds && a && b) {
        q.fails = jx_dim_is_int(a, &x) && jx_dim_is_int(b, &y);
        /* a == b is b == a. */
        const jx_dim *one = q.fails ? NULL : jx_minus(t, a, b);
        const jx_dim *other = jx_dim_neg(t->program->dims, one);
        q.key_a = (uintptr_t)one < (uintptr_t)other ? one : other;
    }
    ask(t, &q, format, args);
}

void jx_require_eq(jx_typing *t, const jx_dim *a, const jx_dim *b,
                   const char *format, ...)
{
    va_list args;

    va_start(args, format);
    ask_eq(t, t->code, a, b, format, args);
    va_end(args);
}

static void ask_ge(jx_typing *t, jx_code code, const jx_dim *a, const jx_dim *b,
                   const char *format, va_list args)
{
    question q = {JX_GOAL_GE, code, a, b, NULL, NULL, false, false};
    int64_t x, y;

    if (a && b && jx_dim_is_int(a, &x) && jx_dim_is_int(b, &y)) {
        q.holds = x >= y;
        q.fails = x < y;
    } else if (a && b && (q.key_a = jx_minus(t, a, b))) {
        jx_dim_range range = jx_dim_bounds(q.key_a, t->program->base);
        q.holds = range.has_low && range.low >= 0;
    }
    ask(t, &q, format, args);
}

void jx_require_ge(jx_typing *t, const jx_dim *a, const jx_dim *b,
                   const char *format, ...)
{
    va_list args;

    va_start(args, format);
    ask_ge(t, JX_CODE_SHP013, a, b, format, args);
    va_end(args);
}

void jx_require_least(jx_typing *t, const jx_dim *a, const jx_dim *b,
                      const char *format, ...)
{
    va_list args;

    va_start(args, format);
    ask_ge(t, t->code, a, b, format, args);
    va_end(args);
}

void jx_require_ne(jx_typing *t, const jx_dim *a, const jx_dim *b,
                   const char *format, ...)
{
    question q = {JX_GOAL_NE, t->code, a, b, NULL, NULL, false, false};
    jx_int value;
    va_list args;

    if (a && b && (q.key_a = jx_minus(t, a, b)) &&
        jx_dim_is_wide(q.key_a, &value)) {
        q.holds = value != 0;
        q.fails = value == 0;
    }
    va_start(args, format);
    ask(t, &q, format, args);
    va_end(args);
}

void jx_require_unknown(jx_typing *t, const char *why, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    jx_claim *made = claim(t, t->code, format, args);
    va_end(args);
    if (made && !rests(t, made))
        made->evidence.why = why;
}

void jx_require_divides(jx_typing *t, const jx_dim *divisor, const jx_dim *dim,
                        const char *format, ...)
{
    question q = {JX_GOAL_DIVIDES, t->code, divisor, dim,
                  divisor,         dim,     false,   false};
    int64_t x, y;
    va_list args;

    if (divisor && dim && jx_dim_divide_exactly(t->program->dims, dim, divisor))
        q.holds = true;
    else if (divisor && dim && jx_dim_is_int(divisor, &x) && x > 0) {
        const jx_dim *rest = jx_dim_mod(t->program->dims, dim, divisor);
        if (rest && jx_dim_is_int(rest, &y)) {
            q.holds = y == 0;
            q.fails = y != 0;
        }
    }
    va_start(args, format);
    ask(t, &q, format, args);
    va_end(args);
}

static void require_divisor(jx_typing *t, const jx_dim *divisor)
{
    jx_dim_range range = jx_dim_bounds(divisor, t->program->base);
    jx_buffer text = {0};

    if ((range.has_low && range.low > 0) ||
        (range.has_high && range.high < 0)) {
        t->to->settled++;
        return;
    }
    if (!is_new(t->typer, JX_GOAL_NE, divisor, NULL))
        return;
    jx_claim *made = jx_claim_add(context(t), &t->to->claims, JX_CODE_SHP012);
    if (!made)
        return;
    jx_dim_print(divisor, &text);
    made->jaxpr = t->jaxpr;
    made->eqn = t->eqn;
    made->calls = t->calls;
    made->what = jx_arena_printf(context(t)->arena, "the divisor %s",
                                 jx_buffer_text(&text));
    made->goal = (jx_goal){JX_GOAL_NE, divisor, jx_const(t, 0), NULL,
                           scope_of(t, divisor, NULL)};
    jx_buffer_free(&text);
}

static bool same_pointer(const void *kept, const void *key)
{
    return kept == key;
}

/* The divisors inside a size, at any depth.  Each dim is looked at once, and
 * the queue stands for the recursion: dims can be deep. */
static void look_for_divisors(jx_typing *t, const jx_dim *first)
{
    JX_VEC(const jx_dim *) queue = {0};
    jx_intern *seen = &t->typer->divisors;

    if (jx_intern_find(seen, jx_hash_mix(0, (uint64_t)(uintptr_t)first), first,
                       same_pointer))
        return;
    JX_PUSH(context(t)->arena, &queue, first);
    for (size_t next = 0; next < queue.count; next++) {
        const jx_dim *dim = queue.at[next];
        uint64_t hash = jx_hash_mix(0, (uint64_t)(uintptr_t)dim);
        if (jx_intern_find(seen, hash, dim, same_pointer) ||
            !jx_intern_add(seen, hash, dim))
            continue;
        for (int i = 0; i < jx_dim_nterms(dim); i++) {
            const jx_dim_term *term = &jx_dim_terms(dim)[i];
            for (int k = 0; k < term->nfactors; k++) {
                const jx_dim_atom *atom = term->factors[k].atom;
                if (atom->kind == JX_ATOM_VAR)
                    continue;
                if (atom->kind == JX_ATOM_FLOORDIV || atom->kind == JX_ATOM_MOD)
                    require_divisor(t, atom->b);
                JX_PUSH(context(t)->arena, &queue, atom->a);
                JX_PUSH(context(t)->arena, &queue, atom->b);
            }
        }
    }
}

static bool is_symbolic(const jx_dim *dim)
{
    int64_t value;

    return dim && !jx_dim_is_int(dim, &value);
}

/* A size may be in the parameters and in no type: dim_as_value, or a slice of
 * three elements from n // m on. */
static void look_at_value(jx_typing *t, const jx_value *value)
{
    if (value && value->tag == JX_V_DIM)
        look_for_divisors(t, value->dim);
    for (int i = 0; value && value->items && i < value->count; i++)
        look_at_value(t, value->items[i]);
}

static void look_at_sizes(jx_typing *t, const jx_aval *aval)
{
    for (int i = 0; aval && i < aval->rank; i++)
        if (is_symbolic(aval->shape[i]))
            look_for_divisors(t, aval->shape[i]);
}

/* -- types -------------------------------------------------------------- */

static const jx_aval *add_aval(jx_typing *t, const jx_aval *like)
{
    for (int i = 0; i < like->rank; i++)
        if (!like->shape[i])
            return NULL;
    return jx_aval_add(&t->program->avals, like);
}

/* Sets are sorted and their names interned. */
static bool names_equal(jx_names a, jx_names b)
{
    if (a.count != b.count)
        return false;
    for (int i = 0; i < a.count; i++)
        if (a.at[i] != b.at[i])
            return false;
    return true;
}

/* The union of two sorted sets. */
static jx_names names_join(jx_typing *t, jx_names a, jx_names b)
{
    if (b.count == 0 || names_equal(a, b))
        return a;
    if (a.count == 0)
        return b;
    const char **at =
        JX_NEW_ARRAY(context(t)->arena, a.count + b.count, const char *);
    jx_names both = {0, at};
    int i = 0, k = 0;
    while (at && (i < a.count || k < b.count)) {
        int order = i == a.count   ? 1
                    : k == b.count ? -1
                                   : strcmp(a.at[i], b.at[k]);
        at[both.count++] = order <= 0 ? a.at[i] : b.at[k];
        i += order <= 0;
        k += order >= 0;
    }
    return both;
}

static jx_names varying_of_inputs(jx_typing *t)
{
    jx_names all = {0};

    for (int i = 0; i < t->nins; i++)
        all = names_join(t, all, t->ins[i]->varying);
    return all;
}

void jx_type_out_like(jx_typing *t, int i, const jx_aval *like, bool weak,
                      int rank, const jx_dim *const *shape)
{
    jx_aval aval = {.dtype = like->dtype,
                    .impl = like->impl,
                    .weak = weak,
                    .rank = rank,
                    .shape = shape};

    if (i < 0 || i >= t->nouts)
        return;
    aval.varying = varying_of_inputs(t);
    t->outs[i] = add_aval(t, &aval);
}

void jx_type_out(jx_typing *t, int i, jx_dtype dtype, bool weak, int rank,
                 const jx_dim *const *shape)
{
    jx_aval like = {.dtype = dtype};

    jx_type_out_like(t, i, &like, weak, rank, shape);
}

void jx_type_is(jx_typing *t, int i, const jx_aval *aval)
{
    if (i >= 0 && i < t->nouts)
        t->outs[i] = aval;
}

const jx_aval *jx_aval_stacked(jx_typing *t, const jx_aval *aval,
                               const jx_dim *length)
{
    jx_aval stacked = *aval;
    const jx_dim **shape = jx_shape(t, aval->rank + 1);

    if (!shape)
        return NULL;
    shape[0] = length;
    for (int i = 0; i < aval->rank; i++)
        shape[i + 1] = aval->shape[i];
    stacked.rank++;
    stacked.shape = shape;
    stacked.spec = NULL;
    return add_aval(t, &stacked);
}

const jx_aval *jx_aval_item(jx_typing *t, const jx_aval *aval)
{
    jx_aval item = *aval;

    if (aval->kind != JX_AVAL_ARRAY || aval->rank == 0)
        return NULL;
    item.rank--;
    item.shape++;
    item.spec = NULL;
    return add_aval(t, &item);
}

static void print_aval(const jx_typing *t, const jx_aval *aval, jx_buffer *to)
{
    jx_aval_print(aval, to);
    if (aval->weak && !t->program->from_text)
        jx_buffer_puts(to, " (weakly typed)");
}

/* Everything but sizes and weak types. */
static bool same_kind(const jx_aval *a, const jx_aval *b)
{
    return a->kind == b->kind && a->dtype == b->dtype && a->impl == b->impl &&
           a->rank == b->rank && names_equal(a->varying, b->varying) &&
           (a->kind != JX_AVAL_OTHER || a->label == b->label);
}

/* One is weakly typed and the other not.  Text does not say. */
static bool weaker(const jx_typing *t, const jx_aval *a, const jx_aval *b)
{
    return a->weak != b->weak && !t->program->from_text;
}

/* Two sizes are numbers and differ. */
static bool differ(const jx_dim *a, const jx_dim *b)
{
    int64_t x, y;

    return a != b && jx_dim_is_int(a, &x) && jx_dim_is_int(b, &y);
}

typedef enum likeness { SAME, PERHAPS, DIFFERENT } likeness;

static likeness compare(const jx_aval *a, const jx_aval *b)
{
    likeness found = SAME;

    if (a == b)
        return SAME;
    if (!same_kind(a, b))
        return DIFFERENT;
    if (a->kind == JX_AVAL_REF && a->of && b->of && a->of != b->of)
        return compare(a->of, b->of);
    for (int i = 0; i < a->rank; i++) {
        if (differ(a->shape[i], b->shape[i]))
            return DIFFERENT;
        if (a->shape[i] != b->shape[i])
            found = PERHAPS;
    }
    return found;
}

__attribute__((format(printf, 4, 5))) static void
ask_sizes(jx_typing *t, const jx_dim *a, const jx_dim *b, const char *format,
          ...)
{
    va_list args;

    va_start(args, format);
    ask_eq(t, t->code, a, b, format, args);
    va_end(args);
}

/* Says how two types that must agree differ. */
static void disagree(jx_typing *t, const jx_aval *a, const char *a_is,
                     const jx_aval *b, const char *b_is, const char *what,
                     likeness how)
{
    jx_buffer one = {0}, two = {0};

    print_aval(t, a, &one);
    print_aval(t, b, &two);
    if (how == DIFFERENT)
        jx_type_wrong(t, "%s: %s %s, %s %s", what, a_is, jx_buffer_text(&one),
                      b_is, jx_buffer_text(&two));
    for (int i = 0; how == PERHAPS && i < a->rank; i++)
        if (a->shape[i] != b->shape[i])
            ask_sizes(t, a->shape[i], b->shape[i], "%s, axis %d: %s %s, %s %s",
                      what, i, a_is, jx_buffer_text(&one), b_is,
                      jx_buffer_text(&two));
    jx_buffer_free(&one);
    jx_buffer_free(&two);
}

void jx_type_agree(jx_typing *t, const jx_aval *a, const jx_aval *b,
                   const char *format, ...)
{
    likeness how = compare(a, b);
    jx_buffer what = {0};
    va_list args;

    if (how == SAME) {
        count_settled(t);
        return;
    }
    va_start(args, format);
    jx_buffer_vprintf(&what, format, args);
    va_end(args);
    disagree(t, a, "one is", b, "the other", jx_buffer_text(&what), how);
    jx_buffer_free(&what);
}

/* JAX lets weak types differ between a call and its callee, but never makes
 * such a program; the callee's results would be typed by a declaration that is
 * not true.  A note, for nothing can go wrong at run time. */
static void note_weak(jx_typing *t, const jx_aval *a, const jx_aval *b,
                      const char *what)
{
    size_t before = t->to->claims.count;
    jx_code code = t->code;
    bool wrong = t->wrong;

    t->code = JX_CODE_SHP011;
    jx_type_wrong(t, "%s: one is weakly typed, the other not: %s", what,
                  jx_dtype_of((a->weak ? a : b)->dtype)->short_name);
    t->code = code;
    t->wrong = wrong;
    if (t->to->claims.count > before)
        t->to->claims.at[before]->level = JX_NOTE;
}

/* -- calls -------------------------------------------------------------- */

const jx_aval *const *jx_callee_outs(jx_typing *t, const jx_jaxpr *callee)
{
    const result *kept = &t->typer->results[callee->id];

    for (int i = 0; i < callee->nouts; i++)
        t->resting |= kept->resting[i];
    return kept->outs;
}

void jx_type_pass(jx_typing *t, const jx_jaxpr *callee, int i,
                  const jx_aval *value, const char *what)
{
    jx_buffer text = {0};

    if (!value || i < 0 || i >= callee->nins)
        return;
    const jx_aval *wants = callee->vars[callee->nconsts + i]->aval;
    likeness how = compare(value, wants);
    if (how == SAME && !weaker(t, value, wants)) {
        count_settled(t);
        return;
    }
    jx_buffer_printf(&text, "%s, input %d", what, i);
    if (how == SAME)
        note_weak(t, value, wants, jx_buffer_text(&text));
    else
        disagree(t, value, "it gets", wants, "it takes", jx_buffer_text(&text),
                 how);
    jx_buffer_free(&text);
}

bool jx_type_closed(jx_typing *t, const jx_closed *closed, const char *what)
{
    const jx_jaxpr *callee = closed->jaxpr;

    if (!callee)
        return jx_type_wrong(t, "%s: no jaxpr", what);
    if (closed->nconsts != callee->nconsts)
        return jx_type_wrong(t, "%s: %d constants for %d constvars", what,
                             closed->nconsts, callee->nconsts);
    for (int i = 0; i < closed->nconsts; i++) {
        const jx_aval *has = closed->consts[i]->aval;
        const jx_aval *wants = callee->vars[i]->aval;
        if (compare(has, wants) == DIFFERENT)
            jx_type_agree(t, has, wants, "%s, constant %d", what, i);
    }
    return !t->wrong;
}

bool jx_type_computation(jx_typing *t, const jx_closed *closed,
                         const char *what, int nins, const jx_dtype *ins,
                         int nouts, const jx_dtype *outs)
{
    const jx_jaxpr *callee = closed->jaxpr;

    if (!jx_type_closed(t, closed, what))
        return false;
    if (callee->nins != nins || callee->nouts != nouts)
        return jx_type_wrong(t, "%s takes %d values and gives %d, not %d and %d",
                             what, callee->nins, callee->nouts, nins, nouts);
    for (int i = 0; i < nins; i++)
        jx_type_pass(t, callee, i,
                     jx_aval_array(&t->program->avals, ins[i], false, 0, NULL),
                     what);
    for (int i = 0; i < nouts; i++) {
        const jx_aval *wants =
            jx_aval_array(&t->program->avals, outs[i], false, 0, NULL);
        if (wants)
            jx_type_agree(t, jx_callee_outs(t, callee)[i], wants,
                          "%s, output %d", what, i);
    }
    return !t->wrong;
}

void jx_assume(jx_typing *t, const char *format, ...)
{
    jx_buffer text = {0};
    va_list args;

    va_start(args, format);
    jx_buffer_vprintf(&text, format, args);
    va_end(args);
    const char *line = jx_intern_text(context(t), jx_buffer_text(&text));
    jx_buffer_free(&text);
    for (size_t i = 0; i < t->to->assumptions.count; i++)
        if (t->to->assumptions.at[i] == line)
            return;
    JX_PUSH(context(t)->arena, &t->to->assumptions, line);
}

/* -- equations ---------------------------------------------------------- */

/* Where an unknown primitive stands in the analysis. */
typedef struct place {
    const char *name;
    size_t index;
} place;

static bool same_place(const void *kept, const void *key)
{
    return strcmp(((const place *)kept)->name, ((const place *)key)->name) == 0;
}

static void note_unknown(jx_typing *t, const char *name)
{
    place here = {name, t->to->unknowns.count};
    uint64_t hash = jx_hash_bytes(here.name, strlen(here.name));
    const place *kept =
        jx_intern_find(&t->typer->unknowns, hash, &here, same_place);

    if (kept) {
        if (kept->index < t->to->unknowns.count)
            t->to->unknowns.at[kept->index].count++;
        return;
    }
    kept = jx_arena_copy(context(t)->arena, &here, sizeof here);
    jx_unknown first = {here.name, 1, t->jaxpr, t->eqn, t->calls};
    if (kept && jx_intern_add(&t->typer->unknowns, hash, kept))
        JX_PUSH(context(t)->arena, &t->to->unknowns, first);
}

/* The counts of the table, and arrays where arrays belong. */
static bool is_callable(jx_typing *t, jx_type_rule *rule)
{
    const jx_prim *prim = t->eqn->prim;

    if (!jx_type_counts(t, prim->nins, prim->nouts))
        return false;
    for (int i = 0; i < t->nins && !jx_type_rule_takes_any(rule); i++)
        if (t->ins[i]->kind != JX_AVAL_ARRAY)
            return jx_type_wrong(t, "operand %d is no array", i);
    for (int i = 0; i < t->nins; i++)
        if (t->ins[i]->rank > JX_MOST_AXES)
            return jx_type_wrong(t, "operand %d has %d axes, more than %d", i,
                                 t->ins[i]->rank, JX_MOST_AXES);
    unsigned kinds = jx_prim_takes(prim->id);
    for (int i = 0; kinds && i < t->nins; i++)
        if (!jx_type_takes(t, i, kinds))
            return false;
    return true;
}

/* The inferred type against the declared one; gives the one to go on with. */
static const jx_aval *settle_out(jx_typing *t, int i)
{
    const jx_aval *declared = t->eqn->outs[i]->aval, *inferred = t->outs[i];
    char what[32];

    snprintf(what, sizeof what, "result %d", i);
    t->code = JX_CODE_SHP011;
    if (!inferred) {
        ask_sizes(t, NULL, NULL, "%s: no type could be inferred", what);
        return declared;
    }
    likeness how = compare(inferred, declared);
    if (how == SAME && weaker(t, inferred, declared))
        how = DIFFERENT;
    if (how == SAME) {
        count_settled(t);
        return inferred;
    }
    disagree(t, inferred, "inferred", declared, "declared", what, how);
    return how == DIFFERENT ? inferred : declared;
}

static void take_declared(jx_typing *t)
{
    for (int i = 0; i < t->nouts; i++)
        t->outs[i] = t->eqn->outs[i]->aval;
}

void jx_type_unknown(jx_typing *t, const char *name)
{
    note_unknown(t, name);
    take_declared(t);
    t->resting = true;
}

static void type_eqn(jx_typing *t)
{
    jx_type_rule *rule = jx_type_rule_of(t->eqn->prim->id);

    t->to->equations++;
    t->code = JX_CODE_SHP010;
    t->wrong = false;
    if (!rule || !t->eqn->typed) {
        jx_type_unknown(t, t->eqn->prim->name);
        return;
    }
    t->params = t->eqn->typed;
    if (is_callable(t, rule))
        rule(t);
    if (t->wrong) {
        take_declared(t);
        return;
    }
    for (int i = 0; i < t->eqn->nparams; i++)
        look_at_value(t, t->eqn->params[i].value);
    for (int i = 0; i < t->nouts; i++)
        look_at_sizes(t, t->outs[i]);
    for (int i = 0; i < t->nouts; i++)
        t->outs[i] = settle_out(t, i);
}

/* A scalar literal is a scalar, an array literal what its array is. */
static void check_literal(jx_typing *t, const jx_literal *literal, int i)
{
    t->code = JX_CODE_SHP011;
    t->wrong = false;
    if (literal->array)
        jx_type_agree(t, literal->array->aval, literal->aval, "literal %d", i);
    else if (literal->aval->rank != 0)
        jx_type_wrong(t, "literal %d: a scalar is declared with rank %d", i,
                      literal->aval->rank);
    if (literal->dim)
        look_for_divisors(t, literal->dim);
}

/* -- jaxprs ------------------------------------------------------------- */

typedef struct scope {
    const jx_aval **types; /* per variable */
    bool *resting;
    const jx_aval **ins, **outs; /* room for one equation */
} scope;

static bool open_scope(jx_typing *t, const jx_jaxpr *jaxpr, scope *env)
{
    jx_arena *arena = context(t)->arena;
    int ins = 0, outs = 0;

    for (int i = 0; i < jaxpr->neqns; i++) {
        ins = jaxpr->eqns[i].nins > ins ? jaxpr->eqns[i].nins : ins;
        outs = jaxpr->eqns[i].nouts > outs ? jaxpr->eqns[i].nouts : outs;
    }
    env->types = JX_NEW_ARRAY(arena, jaxpr->nvars, const jx_aval *);
    env->resting = JX_NEW_ARRAY(arena, jaxpr->nvars, bool);
    env->ins = JX_NEW_ARRAY(arena, ins, const jx_aval *);
    env->outs = JX_NEW_ARRAY(arena, outs, const jx_aval *);
    return env->types && env->resting && env->ins && env->outs;
}

static const jx_aval *type_of(const scope *env, jx_atom atom)
{
    return atom.var ? env->types[atom.var->id] : atom.literal->aval;
}

static void type_in_scope(jx_typing *t, const scope *env)
{
    const jx_eqn *eqn = t->eqn;

    t->resting = false;
    t->nins = eqn->nins;
    t->nouts = eqn->nouts;
    t->ins = env->ins;
    t->outs = env->outs;
    for (int i = 0; i < eqn->nins; i++) {
        if (eqn->ins[i].var)
            t->resting |= env->resting[eqn->ins[i].var->id];
        else
            check_literal(t, eqn->ins[i].literal, i);
        env->ins[i] = type_of(env, eqn->ins[i]);
    }
    memset(env->outs, 0, sizeof *env->outs * (size_t)eqn->nouts);
    type_eqn(t);
    for (int i = 0; i < eqn->nouts; i++) {
        env->types[eqn->outs[i]->id] =
            env->outs[i] ? env->outs[i] : eqn->outs[i]->aval;
        env->resting[eqn->outs[i]->id] = t->resting;
    }
}

static bool keep_result(jx_typing *t, const jx_jaxpr *jaxpr, const scope *env)
{
    result *kept = &t->typer->results[jaxpr->id];

    kept->outs = JX_NEW_ARRAY(context(t)->arena, jaxpr->nouts, const jx_aval *);
    kept->resting = JX_NEW_ARRAY(context(t)->arena, jaxpr->nouts, bool);
    if (!kept->outs || !kept->resting)
        return false;
    for (int i = 0; i < jaxpr->nouts; i++) {
        jx_atom out = jaxpr->outs[i];
        kept->outs[i] = type_of(env, out);
        kept->resting[i] = out.var && env->resting[out.var->id];
        if (out.literal)
            check_literal(t, out.literal, i);
    }
    return true;
}

static bool type_jaxpr(typer *r, const jx_jaxpr *jaxpr)
{
    jx_typing t = {.to = r->to,
                   .program = r->program,
                   .typer = r,
                   .jaxpr = jaxpr,
                   .calls = r->chains[jaxpr->id]};
    scope env = {0};

    if (!open_scope(&t, jaxpr, &env))
        return false;
    for (int i = 0; i < jaxpr->nconsts + jaxpr->nins; i++) {
        env.types[i] = jaxpr->vars[i]->aval;
        look_at_sizes(&t, jaxpr->vars[i]->aval);
    }
    for (int i = 0; i < jaxpr->neqns && jx_ok(r->program->ctx); i++) {
        t.eqn = &jaxpr->eqns[i];
        type_in_scope(&t, &env);
    }
    t.eqn = NULL;
    return keep_result(&t, jaxpr, &env);
}

/* -- how one gets to a jaxpr -------------------------------------------- */

typedef struct walk {
    typer *r;
    JX_VEC(const jx_jaxpr *) queue; /* reached, in the order of meeting */
    const jx_jaxpr *jaxpr;          /* now */
    const jx_eqn *eqn;
    const jx_calls *chain; /* of what is nested in eqn, made when needed */
    bool rules;            /* follow rules, not jaxprs */
} walk;

static void reach(walk *w, const jx_jaxpr *nested)
{
    jx_arena *arena = w->r->program->ctx->arena;

    if (!nested || w->r->reached[nested->id])
        return;
    if (!w->chain && w->eqn) {
        jx_calls *chain = JX_NEW(arena, jx_calls);
        if (!chain)
            return;
        *chain = (jx_calls){w->r->chains[w->jaxpr->id], w->jaxpr, w->eqn};
        w->chain = chain;
    }
    w->r->reached[nested->id] = true;
    w->r->chains[nested->id] = w->chain;
    JX_PUSH(arena, &w->queue, nested);
}

static void reach_rule(walk *w, const jx_rule *rule)
{
    for (int i = 0; i < rule->npatterns; i++) {
        reach(w, rule->patterns[i].jvp.jaxpr);
        reach(w, rule->patterns[i].fwd.jaxpr);
        reach(w, rule->patterns[i].bwd.jaxpr);
    }
}

/* Parameter trees are only as deep as the reader lets them be. */
static void reach_value(walk *w, const jx_value *value)
{
    if (!value)
        return;
    if (value->tag == JX_V_JAXPR && !w->rules)
        reach(w, value->jaxpr);
    if (value->tag == JX_V_RULE && w->rules && value->rule)
        reach_rule(w, value->rule);
    for (int i = 0; i < value->count && value->items; i++)
        reach_value(w, value->items[i]);
}

static void reach_from(walk *w, const jx_jaxpr *jaxpr, bool rules)
{
    w->jaxpr = jaxpr;
    w->rules = rules;
    for (int i = 0; i < jaxpr->neqns; i++) {
        w->eqn = &jaxpr->eqns[i];
        w->chain = NULL;
        for (int k = 0; k < w->eqn->nparams; k++)
            reach_value(w, w->eqn->params[k].value);
    }
}

/* The first chain of calls to each jaxpr, breadth first; what only a rule
 * leads to comes after all that the program itself calls. */
static void find_chains(typer *r)
{
    walk w = {.r = r};
    size_t next = 0, ruled = 0;

    reach(&w, r->program->entry.jaxpr);
    while (ruled < w.queue.count) {
        if (next < w.queue.count)
            reach_from(&w, w.queue.at[next++], false);
        else
            reach_from(&w, w.queue.at[ruled++], true);
    }
}

/* -- the program -------------------------------------------------------- */

/* Sizes of the entry's inputs are sizes of arrays that exist. */
static void assume_sizes(typer *r)
{
    const jx_jaxpr *entry = r->program->entry.jaxpr;

    for (int i = 0; i < entry->nconsts + entry->nins; i++) {
        const jx_aval *aval = entry->vars[i]->aval;
        for (int k = 0; k < aval->rank; k++)
            if (is_symbolic(aval->shape[k]))
                is_new(r, JX_GOAL_GE, aval->shape[k], NULL);
    }
}

static void check_entry(typer *r)
{
    jx_typing t = {.to = r->to,
                   .program = r->program,
                   .typer = r,
                   .jaxpr = r->program->entry.jaxpr,
                   .code = JX_CODE_SHP011};

    jx_type_closed(&t, &r->program->entry, "the program");
}

/* The call that carries a rule, from the chain to one of its jaxprs. */
static const jx_calls *call_of(typer *r, const jx_rule *rule)
{
    for (int i = 0; i < rule->npatterns; i++) {
        const jx_rule_pattern *p = &rule->patterns[i];
        const jx_jaxpr *own = p->jvp.jaxpr ? p->jvp.jaxpr : p->fwd.jaxpr;
        const jx_calls *chain = own ? r->chains[own->id] : NULL;
        if (chain && (chain->eqn->prim->id == JX_PRIM_custom_jvp_call ||
                      chain->eqn->prim->id == JX_PRIM_custom_vjp_call))
            return chain;
    }
    return NULL;
}

static void check_rules(typer *r)
{
    for (int i = 0; i < r->program->nrules; i++) {
        const jx_rule *rule = r->program->rules[i];
        jx_typing t = {.to = r->to,
                       .program = r->program,
                       .typer = r,
                       .stack = rule->stack,
                       .code = rule->vjp ? JX_CODE_DRV002 : JX_CODE_DRV001};
        const jx_calls *call = call_of(r, rule);
        if (call) {
            t.jaxpr = call->jaxpr;
            t.eqn = call->eqn;
            t.calls = call->outer;
        }
        jx_type_custom_rule(&t, rule);
    }
}

static void claim_unknowns(typer *r)
{
    jx_arena *arena = r->program->ctx->arena;

    for (size_t i = 0; i < r->to->unknowns.count; i++) {
        const jx_unknown *unknown = &r->to->unknowns.at[i];
        jx_claim *made =
            jx_claim_add(r->program->ctx, &r->to->claims, JX_CODE_PRM001);
        if (!made)
            return;
        made->jaxpr = unknown->jaxpr;
        made->eqn = unknown->eqn;
        made->calls = unknown->calls;
        made->what = jx_arena_printf(arena, "%s, %lld equation%s",
                                     unknown->name, (long long)unknown->count,
                                     unknown->count == 1 ? "" : "s");
        made->evidence.why = "unknown primitive";
        const char *assumption = jx_arena_printf(
            arena, "the results of %s have their declared types",
            unknown->name);
        JX_PUSH(arena, &r->to->assumptions, assumption);
    }
}

jx_analysis *jx_analysis_new(jx_program *program)
{
    jx_analysis *made = JX_NEW(program->ctx->arena, jx_analysis);

    if (made)
        made->program = program;
    return made;
}

static bool start(typer *r)
{
    jx_arena *arena = r->program->ctx->arena;
    int count = r->program->njaxprs;

    r->results = JX_NEW_ARRAY(arena, count, result);
    r->chains = JX_NEW_ARRAY(arena, count, const jx_calls *);
    r->reached = JX_NEW_ARRAY(arena, count, bool);
    jx_intern_init(&r->conditions, arena);
    jx_intern_init(&r->divisors, arena);
    jx_intern_init(&r->unknowns, arena);
    return r->results && r->chains && r->reached;
}

/* How many jaxprs are the program's own: those of retraces come last, and what
 * is said of them is said of the comparison. */
static int own_jaxprs(const typer *r)
{
    const jx_program *p = r->program;
    int most = p->entry.jaxpr->id;

    if (!p->nretraces)
        return p->njaxprs;
    for (int i = 0; i < p->njaxprs; i++)
        if (r->reached[i] && i > most)
            most = i;
    for (int i = 0; i < p->nrules; i++)
        if (p->rules[i]->primal.jaxpr->id > most)
            most = p->rules[i]->primal.jaxpr->id;
    return most + 1;
}

bool jx_type_program(jx_analysis *to)
{
    typer r = {.to = to, .program = to->program};

    if (!start(&r))
        return jx_ok(to->program->ctx);
    find_chains(&r);
    assume_sizes(&r);
    for (int i = 0, n = own_jaxprs(&r); i < n; i++)
        if (!type_jaxpr(&r, to->program->jaxprs[i]))
            return jx_ok(to->program->ctx);
    check_entry(&r);
    check_rules(&r);
    claim_unknowns(&r);
    return jx_ok(to->program->ctx);
}
