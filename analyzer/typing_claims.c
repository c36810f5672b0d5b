/* typing_claims.c - what type rules require of sizes, as claims; what holds or
 * fails at sight is settled here. */
#include "analyzer/typing_parts.h"

#include <stdarg.h>
#include <string.h>

/* A condition that is claimed already: `kind` of goal on a difference (or on
 * the two sides of a division). */
typedef struct condition {
    jx_goal_kind kind;
    const jx_dim *a, *b;
} condition;

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

static const char *worded(jx_typing *t, const char *format, va_list args)
{
    jx_buffer what = jx_ctx_text(t->program->ctx);

    jx_buffer_vprintf(&what, format, args);
    return jx_arena_take(jx_typing_ctx(t)->arena, &what);
}

static jx_claim *claim(jx_typing *t, jx_code code, const char *format,
                       va_list args)
{
    jx_claim *made = jx_claim_add(jx_typing_ctx(t), &t->to->claims, code);

    if (!made)
        return NULL;
    made->jaxpr = t->jaxpr;
    made->eqn = t->eqn;
    made->calls = t->calls;
    made->stack = t->stack;
    made->what = worded(t, format, args);
    return made;
}

/* Why there is no such equation, where nothing is claimed: the first reason. */
static void say_why(jx_typing *t, const char *format, va_list args)
{
    t->refused = true;
    if (!t->typer->why)
        t->typer->why = worded(t, format, args);
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

/* The claim holds at no size. */
static void refuse(jx_typing *t, const jx_claim *made)
{
    if (!jx_code_is_structural(made->code))
        return;
    t->refused = true;
    if (!t->typer->refusal &&
        (!t->jaxpr || t->typer->looked[t->jaxpr->id].runs))
        t->typer->refusal = made;
}

bool jx_type_wrong(jx_typing *t, const char *format, ...)
{
    jx_claim *made = NULL;
    va_list args;

    t->wrong = true;
    va_start(args, format);
    if (t->typer->claims_nothing)
        say_why(t, format, args);
    else
        made = claim(t, t->code, format, args);
    va_end(args);
    if (!made)
        return false;
    refuse(t, made);
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

bool jx_typing_is_new(jx_typer *r, jx_goal_kind kind, const jx_dim *a,
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

void jx_typing_count_settled(jx_typing *t)
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

/* Without a claim: what fails is refused, sizes that must be equal are told. */
static void ask_quietly(jx_typing *t, const question *q, const char *format,
                        va_list args)
{
    static const char *const fails[] = {[JX_GOAL_EQ] = "is not",
                                        [JX_GOAL_NE] = "is",
                                        [JX_GOAL_GE] = "is below",
                                        [JX_GOAL_DIVIDES] = "does not divide"};
    jx_typer *r = t->typer;

    if (!q->fails && q->kind == JX_GOAL_EQ && q->lhs && q->rhs && r->tell)
        r->tell(r->whom, q->lhs, q->rhs);
    if (!q->fails || !jx_code_is_structural(q->code) || r->why)
        return;
    say_why(t, format, args);
    if (r->why)
        r->why =
            jx_arena_printf(jx_typing_ctx(t)->arena, "%s: %lld %s %lld", r->why,
                            (long long)jx_dim_value(q->lhs), fails[q->kind],
                            (long long)jx_dim_value(q->rhs));
}

static void ask(jx_typing *t, const question *q, const char *format,
                va_list args)
{
    if (t->typer->claims_nothing && !q->holds) {
        ask_quietly(t, q, format, args);
        return;
    }
    if (q->holds) {
        jx_typing_count_settled(t);
        return;
    }
    if (!t->resting && !q->fails && q->key_a &&
        !jx_typing_is_new(t->typer, q->kind, q->key_a, q->key_b)) {
        t->to->repeated++;
        return;
    }
    jx_claim *made = claim(t, q->code, format, args);
    if (!made)
        return;
    if (q->fails)
        refuse(t, made);
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

void jx_require_eq(jx_typing *t, const jx_dim *a, const jx_dim *b,
                   const char *format, ...)
{
    question q = {JX_GOAL_EQ, t->code, a, b, NULL, NULL, a && a == b, false};
    int64_t x, y;
    va_list args;

    if (!q.holds && a && b) {
        q.fails = jx_dim_is_int(a, &x) && jx_dim_is_int(b, &y);
        /* a == b is b == a. */
        const jx_dim *one = q.fails ? NULL : jx_minus(t, a, b);
        const jx_dim *other = jx_dim_neg(t->program->dims, one);
        q.key_a = (uintptr_t)one < (uintptr_t)other ? one : other;
    }
    va_start(args, format);
    ask(t, &q, format, args);
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
    jx_claim *made = NULL;
    va_list args;

    va_start(args, format);
    if (!t->typer->claims_nothing)
        made = claim(t, t->code, format, args);
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
    jx_buffer text = jx_ctx_text(t->program->ctx);

    if ((range.has_low && range.low > 0) ||
        (range.has_high && range.high < 0)) {
        t->to->settled++;
        return;
    }
    if (!jx_typing_is_new(t->typer, JX_GOAL_NE, divisor, NULL))
        return;
    jx_claim *made =
        jx_claim_add(jx_typing_ctx(t), &t->to->claims, JX_CODE_SHP012);
    if (!made)
        return;
    jx_dim_print(divisor, &text);
    made->jaxpr = t->jaxpr;
    made->eqn = t->eqn;
    made->calls = t->calls;
    made->what = jx_arena_printf(jx_typing_ctx(t)->arena, "the divisor %s",
                                 jx_buffer_text(&text));
    made->goal = (jx_goal){JX_GOAL_NE, divisor, jx_const(t, 0), NULL,
                           scope_of(t, divisor, NULL)};
    jx_buffer_free(&text);
}

/* Each dim is looked at once, and the queue stands for the recursion: dims can
 * be deep. */
void jx_typing_look_for_divisors(jx_typing *t, const jx_dim *first)
{
    JX_VEC(const jx_dim *) queue = {0};
    jx_map *seen = &t->typer->divisors;

    if (jx_map_has(seen, first))
        return;
    JX_PUSH(jx_typing_ctx(t)->arena, &queue, first);
    for (size_t next = 0; next < queue.count; next++) {
        const jx_dim *dim = queue.at[next];
        if (!jx_map_add(seen, dim))
            continue;
        for (int i = 0; i < jx_dim_nterms(dim); i++) {
            const jx_dim_term *term = &jx_dim_terms(dim)[i];
            for (int k = 0; k < term->nfactors; k++) {
                const jx_dim_atom *atom = term->factors[k].atom;
                if (atom->kind == JX_ATOM_VAR)
                    continue;
                if (atom->kind == JX_ATOM_FLOORDIV || atom->kind == JX_ATOM_MOD)
                    require_divisor(t, atom->b);
                JX_PUSH(jx_typing_ctx(t)->arena, &queue, atom->a);
                JX_PUSH(jx_typing_ctx(t)->arena, &queue, atom->b);
            }
        }
    }
}

void jx_typing_look_at_value(jx_typing *t, const jx_value *value)
{
    if (value && value->tag == JX_V_DIM)
        jx_typing_look_for_divisors(t, value->dim);
    for (int i = 0; value && value->items && i < value->count; i++)
        jx_typing_look_at_value(t, value->items[i]);
}

void jx_typing_look_at_sizes(jx_typing *t, const jx_aval *aval)
{
    for (int i = 0; aval && i < aval->rank; i++)
        if (jx_dim_is_symbolic(aval->shape[i]))
            jx_typing_look_for_divisors(t, aval->shape[i]);
}

/* -- unknown primitives -------------------------------------------------- */

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
    kept = jx_arena_copy(jx_typing_ctx(t)->arena, &here, sizeof here);
    jx_unknown first = {here.name, 1, t->jaxpr, t->eqn, t->calls};
    if (kept && jx_intern_add(&t->typer->unknowns, hash, kept))
        JX_PUSH(jx_typing_ctx(t)->arena, &t->to->unknowns, first);
}

void jx_type_unknown(jx_typing *t, const char *name)
{
    if (!t->typer->claims_nothing)
        note_unknown(t, name);
    for (int i = 0; i < t->nouts; i++)
        t->outs[i] = t->eqn->outs[i]->aval;
    t->resting = true;
}
