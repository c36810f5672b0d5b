/* wraps.c - see wraps.h. */
#include "reports/pipeline/wraps.h"
#include "frontend/ir/scope.h"
#include "prover/work.h"

#include <stdlib.h>
#include <string.h>

/* Findings show sizes up to this one: larger ones are left to
 * the conditions. */
static const int64_t LARGE = (int64_t)1 << 20;

enum {
    MOST_PAIRS = 64, /* conditions compared with each other */
    MOST_ASKED = 12, /* ... by the prover, too */
    MOST_SHOWN = 6,  /* in the line for people */
};

/* `dim <= most`, without a constant on the left, divided by what divides all
 * coefficients; in one variable, that variable's largest value. */
typedef struct condition {
    const jx_dim *dim;
    jx_int most;
    int scope; /* -1: of an assertion, which no constraint may keep */
    bool reached;
    int covered;    /* 1 + the condition that says more; 0: none does */
    jx_truth truth; /* of one that none covers: JX_TRUE, if it always holds */
    const char *by;
} condition;

typedef struct region {
    jx_analysis *to;
    jx_program *program;
    jx_dims *dims;
    jx_ctx *ctx;
    const jx_settle_options *options;
    condition *all;         /* by bound */
    JX_VEC(condition) left; /* those that nothing covers or proves */
} region;

/* -- one condition ------------------------------------------------------- */

typedef struct one_value {
    int64_t value;
} one_value;

static bool the_one(void *env, const jx_dim_atom *var, int64_t *value)
{
    (void)var;
    *value = ((const one_value *)env)->value;
    return true;
}

static int growth_of(const jx_dim *dim);

/* 1: where its variables are at least 0, the atom is not negative and does not
 * fall when they grow; -1: neither does its negative; 0: not known. */
static int growth_of_atom(const jx_dim_atom *atom)
{
    jx_int divisor;

    switch (atom->kind) {
    case JX_ATOM_VAR: return 1;
    case JX_ATOM_FLOORDIV:
        if (!jx_dim_is_wide(atom->b, &divisor) || divisor == 0 ||
            growth_of(atom->a) != 1)
            return 0;
        return divisor > 0 ? 1 : -1;
    case JX_ATOM_MAX:
    case JX_ATOM_MIN: return growth_of(atom->a) == 1 && growth_of(atom->b) == 1;
    case JX_ATOM_MOD: break;
    }
    return 0;
}

static int growth_of(const jx_dim *dim)
{
    for (int i = 0; i < jx_dim_nterms(dim); i++) {
        const jx_dim_term *term = &jx_dim_terms(dim)[i];
        int sign = term->coefficient < 0 ? -1 : 1;
        for (int k = 0; k < term->nfactors; k++) {
            int growth = growth_of_atom(term->factors[k].atom);
            sign *= growth < 0 && term->factors[k].power % 2 == 0 ? 1 : growth;
        }
        if (sign != 1)
            return 0;
    }
    return 1;
}

/* The only variable of a dim that does not fall when it grows; or NULL. */
static const jx_dim_atom *growing(const region *r, const jx_dim *dim)
{
    int count = 0;
    const jx_dim_atom *const *vars = jx_dim_vars(r->dims, dim, &count);
    const jx_dim *from_base;

    if (!vars || count != 1)
        return NULL;
    from_base =
        jx_dim_substitute(r->dims, dim, vars[0],
                          jx_dim_add(r->dims, jx_dim_of_atom(r->dims, vars[0]),
                                     jx_dim_int(r->dims, r->program->base)));
    return from_base && growth_of(from_base) == 1 ? vars[0] : NULL;
}

/* The largest value at which the dim, which grows, is at most `most`. */
static int64_t largest_value(const region *r, const jx_dim *dim, jx_int most)
{
    int64_t low = r->program->base - 1, high = INT64_MAX / 4;

    while (low < high) {
        one_value at = {low + (high - low + 1) / 2};
        jx_int value;
        if (jx_dim_eval_wide(dim, the_one, &at, &value) && value <= most)
            low = at.value;
        else
            high = at.value - 1;
    }
    return low;
}

/* dim + k <= most, with a number k: dim <= most - k. */
static bool without_constant(const region *r, condition *c)
{
    int n = jx_dim_nterms(c->dim);
    const jx_dim_term *last = jx_dim_terms(c->dim) + n - 1;
    const jx_dim *dim;
    jx_int most;

    if (!n || last->nfactors ||
        __builtin_sub_overflow(c->most, last->coefficient, &most) ||
        !(dim = jx_dim_sub(r->dims, c->dim,
                           jx_dim_wide(r->dims, last->coefficient))))
        return false;
    c->dim = dim;
    c->most = most;
    return true;
}

/* k*dim <= most: dim <= floordiv(most, k). */
static bool without_factor(const region *r, condition *c)
{
    jx_int divisor = 0, most, rest;
    const jx_dim *dim;

    for (int i = 0; i < jx_dim_nterms(c->dim); i++)
        divisor = jx_int_gcd(divisor, jx_dim_terms(c->dim)[i].coefficient);
    if (divisor <= 1 || !jx_int_floordiv(c->most, divisor, &most, &rest) ||
        !(dim = jx_dim_divide_exactly(r->dims, c->dim,
                                      jx_dim_wide(r->dims, divisor))))
        return false;
    c->dim = dim;
    c->most = most;
    return true;
}

/* floordiv(dim, k) <= most with k > 0: dim <= k*most + k - 1; and
 * floordiv(dim, k) >= -most: dim >= -k*most. */
static bool without_quotient(const region *r, condition *c)
{
    const jx_dim_term *term = jx_dim_terms(c->dim);
    const jx_dim_atom *atom;
    const jx_dim *dim;
    jx_int divisor, most;

    if (jx_dim_nterms(c->dim) != 1 || term->nfactors != 1 ||
        term->factors->power != 1 ||
        (term->coefficient != 1 && term->coefficient != -1))
        return false;
    atom = term->factors->atom;
    if (atom->kind != JX_ATOM_FLOORDIV || !jx_dim_is_wide(atom->b, &divisor) ||
        divisor <= 0 || __builtin_mul_overflow(c->most, divisor, &most) ||
        (term->coefficient > 0 &&
         __builtin_add_overflow(most, divisor - 1, &most)))
        return false;
    dim = term->coefficient > 0 ? atom->a : jx_dim_neg(r->dims, atom->a);
    if (!dim)
        return false;
    c->dim = dim;
    c->most = most;
    return true;
}

static void in_range(void *env, const jx_dim_atom *atom, jx_dim_range *known)
{
    if (atom->kind == JX_ATOM_VAR)
        *known =
            (jx_dim_range){*(const int64_t *)env, JX_LARGEST_SIZE, true, true};
}

static bool always_below(const region *r, const jx_dim *dim, jx_int most)
{
    int64_t base = r->program->base;
    jx_dim_range range = jx_dim_bounds_by(dim, in_range, &base);

    return range.has_high && range.high <= most;
}

/* max(dim, other) <= most, where the other one always is: dim <= most. */
static bool without_maximum(const region *r, condition *c)
{
    const jx_dim_term *term = jx_dim_terms(c->dim);
    const jx_dim_atom *atom;

    if (jx_dim_nterms(c->dim) != 1 || term->nfactors != 1 ||
        term->factors->power != 1 || term->coefficient != 1)
        return false;
    atom = term->factors->atom;
    if (atom->kind != JX_ATOM_MAX)
        return false;
    if (always_below(r, atom->b, c->most))
        c->dim = atom->a;
    else if (always_below(r, atom->a, c->most))
        c->dim = atom->b;
    else
        return false;
    return true;
}

/* Each step leaves something smaller that says the same. */
static condition normal(const region *r, const jx_size_bound *bound)
{
    condition c = {.dim = bound->dim,
                   .most = bound->most,
                   .scope = bound->asserted ? -1 : bound->scope,
                   .reached = bound->reached};
    const jx_dim_atom *var;

    while (without_constant(r, &c) || without_factor(r, &c) ||
           without_quotient(r, &c) || without_maximum(r, &c))
        ;
    var = growing(r, c.dim);
    if (var) {
        c.most = largest_value(r, c.dim, c.most);
        c.dim = jx_dim_of_atom(r->dims, var);
    }
    return c;
}

static const char *text_of(const region *r, const condition *c)
{
    jx_buffer text = jx_ctx_text(r->ctx);
    const jx_dim *dim = c->dim;
    bool below = jx_dim_nterms(dim) && jx_dim_terms(dim)->coefficient < 0;

    if (below && (dim = jx_dim_neg(r->dims, c->dim))) {
        jx_dim_print(dim, &text);
        jx_buffer_puts(&text, " >= ");
        jx_int_print(-c->most, &text);
    } else {
        jx_dim_print(c->dim, &text);
        jx_buffer_puts(&text, " <= ");
        jx_int_print(c->most, &text);
    }
    return jx_arena_take(r->ctx->arena, &text);
}

/* -- sizes that break a bound -------------------------------------------- */

/* A value for each variable of a scope. */
typedef struct trial {
    const jx_scope *scope; /* or NULL */
    int64_t base;
    int count;
    jx_binding *at;
} trial;

static bool of_trial(void *env, const jx_dim_atom *var, int64_t *value)
{
    const trial *t = env;
    jx_assignment at = {t->count, t->at};

    return jx_assigned(&at, var, value);
}

static void add_variables(region *r, trial *t, const jx_dim *dim)
{
    int count = 0;
    const jx_dim_atom *const *vars = jx_dim_vars(r->dims, dim, &count);
    int64_t value;

    for (int i = 0; vars && i < count; i++) {
        if (of_trial(t, vars[i], &value))
            continue;
        jx_binding *more =
            JX_NEW_ARRAY(r->ctx->arena, t->count + 1, jx_binding);
        if (!more)
            return;
        if (t->count)
            memcpy(more, t->at, (size_t)t->count * sizeof *more);
        more[t->count] = (jx_binding){vars[i], t->base};
        t->at = more;
        t->count++;
    }
}

static bool is_admissible(trial *t)
{
    jx_int lhs, rhs;

    for (int i = 0; t->scope && i < t->scope->nconstraints; i++) {
        const jx_scope_constraint *c = &t->scope->constraints[i];
        if (!jx_dim_eval_wide(c->lhs, of_trial, t, &lhs) ||
            !jx_dim_eval_wide(c->rhs, of_trial, t, &rhs) ||
            !jx_scope_holds(c, lhs, rhs))
            return false;
    }
    return true;
}

static bool breaks(trial *t, const jx_size_bound *bound)
{
    jx_int value;

    return is_admissible(t) &&
           jx_dim_eval_wide(bound->dim, of_trial, t, &value) &&
           value > bound->most;
}

/* The place of a variable that stands alone, or NULL. */
static jx_binding *place_of(trial *t, const jx_dim *dim)
{
    const jx_dim_term *term = jx_dim_terms(dim);

    if (jx_dim_nterms(dim) != 1 || term->coefficient != 1 ||
        term->nfactors != 1 || term->factors->power != 1)
        return NULL;
    for (int i = 0; i < t->count; i++)
        if (t->at[i].var == term->factors->atom)
            return &t->at[i];
    return NULL;
}

/* What `b == 2*t` says of b. */
static void follow_equalities(trial *t)
{
    for (int i = 0; t->scope && i < t->scope->nconstraints; i++) {
        const jx_scope_constraint *c = &t->scope->constraints[i];
        jx_binding *place = c->equal ? place_of(t, c->lhs) : NULL;
        int64_t value;
        if (place && jx_dim_eval(c->rhs, of_trial, t, &value))
            place->value = value;
    }
}

static void set_all(trial *t, int64_t size)
{
    for (int i = 0; i < t->count; i++)
        t->at[i].value = size;
    follow_equalities(t);
}

/* Each variable in turn as large as the constraints let it be. */
static void climb(trial *t, int64_t cap)
{
    int64_t start = t->base;

    for (int64_t size = cap; size > t->base; size /= 2) {
        set_all(t, size);
        if (is_admissible(t)) {
            start = size;
            break;
        }
    }
    set_all(t, start);
    for (int i = 0; i < t->count; i++) {
        int64_t before = (int64_t)t->at[i].value; /* at most `cap` */
        bool found = false;
        for (int64_t size = cap; size > before && !found; size /= 2) {
            t->at[i].value = size;
            follow_equalities(t);
            found = is_admissible(t);
        }
        if (!found) {
            t->at[i].value = before;
            follow_equalities(t);
        }
    }
}

/* Sizes up to `cap` that break the bound, by trying: equal ones say most. */
static bool try_sizes(trial *t, const jx_size_bound *bound, int64_t cap)
{
    for (int64_t size = 1; size <= cap; size *= 2) {
        set_all(t, size);
        if (size >= t->base && breaks(t, bound))
            return true;
    }
    climb(t, cap);
    return breaks(t, bound);
}

static trial new_trial(region *r, const jx_size_bound *bound)
{
    trial t = {.base = r->program->base};

    if (bound->scope >= 0 && bound->scope < r->program->nscopes)
        t.scope = &r->program->scopes[bound->scope];
    add_variables(r, &t, bound->dim);
    for (int i = 0; t.scope && i < t.scope->nconstraints; i++) {
        add_variables(r, &t, t.scope->constraints[i].lhs);
        add_variables(r, &t, t.scope->constraints[i].rhs);
    }
    return t;
}

/* -- the prover ---------------------------------------------------------- */

/* A prover for what the trial's scope declares, with no variable beyond `cap`,
 * and the conditions of `more` that `but` is not one of. */
static jx_prover *prover_of(region *r, const trial *t, int64_t cap,
                            const condition *more, int nmore, int but,
                            bool no_solver)
{
    int declared = t->scope ? t->scope->nconstraints : 0, count = 0;
    jx_constraint *all =
        JX_NEW_ARRAY(r->ctx->arena, declared + t->count + nmore, jx_constraint);
    jx_prover_options options = {.base = r->program->base,
                                 .base_is_set = true,
                                 .no_solver = no_solver,
                                 .solver = r->options->solver};

    if (!all)
        return NULL;
    for (int i = 0; i < declared; i++)
        all[count++] = jx_constraint_of_scope(&t->scope->constraints[i]);
    for (int i = 0; i < t->count; i++)
        all[count++] = (jx_constraint){jx_dim_of_atom(r->dims, t->at[i].var),
                                       JX_REL_LE, jx_dim_int(r->dims, cap)};
    for (int i = 0; i < nmore; i++)
        if (i != but)
            all[count++] = (jx_constraint){more[i].dim, JX_REL_LE,
                                           jx_dim_wide(r->dims, more[i].most)};
    return jx_prover_new(r->ctx, r->dims, all, count, &options);
}

static jx_answer ask(region *r, const trial *t, int64_t cap,
                     const jx_size_bound *bound, bool no_solver)
{
    jx_prover *prover = prover_of(r, t, cap, NULL, 0, -1, no_solver);
    jx_answer answer = {0};

    if (!prover)
        return answer;
    answer = jx_prove_compare(prover, bound->dim, JX_REL_LE,
                              jx_dim_wide(r->dims, bound->most));
    jx_prover_free(prover);
    return answer;
}

/* -- claims -------------------------------------------------------------- */

static bool fits_64(const jx_dim *dim, trial *t, int64_t *value)
{
    return dim && jx_dim_eval(dim, of_trial, t, value);
}

static void refute(region *r, jx_claim *claim, trial *t, const char *by)
{
    jx_evidence *evidence = &claim->evidence;
    jx_binding *kept = JX_NEW_ARRAY(r->ctx->arena, t->count, jx_binding);

    if (!kept)
        return;
    if (t->count)
        memcpy(kept, t->at, (size_t)t->count * sizeof *kept);
    evidence->bindings = kept;
    evidence->nbindings = t->count;
    evidence->by = by;
    if (!fits_64(claim->goal.lhs, t, &evidence->lhs))
        evidence->lhs = INT64_MAX;
    if (!fits_64(claim->goal.rhs, t, &evidence->rhs))
        evidence->rhs = INT64_MAX;
    claim->verdict = JX_REFUTED;
}

static void take_answer(trial *t, const jx_assignment *from)
{
    set_all(t, t->base);
    for (int i = 0; i < from->count; i++)
        for (int k = 0; k < t->count; k++)
            if (t->at[k].var == from->at[i].var)
                t->at[k].value = from->at[i].value;
}

/* Nothing proves the bound: is it broken at sizes that occur? */
static void settle_claim(region *r, const jx_size_bound *bound, trial *t)
{
    jx_claim *claim = bound->claim;
    jx_answer answer;

    if (try_sizes(t, bound, LARGE)) {
        refute(r, claim, t, "search");
        return;
    }
    answer = ask(r, t, LARGE, bound, r->options->no_solver);
    if (answer.has_false)
        take_answer(t, &answer.when_false);
    if (answer.has_false && breaks(t, bound))
        refute(r, claim, t, answer.by);
    else if (answer.truth == JX_TRUE)
        claim->evidence.why = "it wraps only at very large sizes";
    else
        claim->evidence.why =
            answer.why ? answer.why : "no sizes at which it wraps were found";
}

/* -- few conditions ------------------------------------------------------ */

static void drop(region *r, size_t at)
{
    for (size_t i = at + 1; i < r->left.count; i++)
        r->left.at[i - 1] = r->left.at[i];
    r->left.count--;
}

/* Whether the second condition says nothing that the first does not say: the
 * difference of the two sides is never larger than that of the limits. */
static bool covers(region *r, const condition *a, const condition *b,
                   bool asking)
{
    const jx_dim *excess = jx_dim_sub(r->dims, b->dim, a->dim);
    jx_dim_range range;
    jx_int room;

    if ((a->scope >= 0 && a->scope != b->scope) || !excess ||
        __builtin_sub_overflow(b->most, a->most, &room))
        return false;
    range = jx_dim_bounds(excess, r->program->base);
    if (range.has_high && range.high <= room)
        return true;
    if (!asking)
        return false;
    jx_size_bound question = {.dim = excess, .most = room, .scope = a->scope};
    trial t = new_trial(r, &question);
    set_all(&t, JX_LARGEST_SIZE);
    if (breaks(&t, &question))
        return false;
    return ask(r, &t, JX_LARGEST_SIZE, &question, true).truth == JX_TRUE;
}

static void drop_covered(region *r)
{
    for (size_t b = r->left.count; b-- > 0;)
        for (size_t a = 0; a < r->left.count; a++)
            if (a != b && covers(r, &r->left.at[a], &r->left.at[b], true)) {
                drop(r, b);
                break;
            }
}

/* What follows from all the others together. */
static void drop_implied(region *r)
{
    for (size_t b = r->left.count; b-- > 0 && r->left.count > 1;) {
        const condition *c = &r->left.at[b];
        jx_size_bound question = {
            .dim = c->dim, .most = c->most, .scope = c->scope};
        trial t = new_trial(r, &question);
        for (size_t i = 0; i < r->left.count; i++)
            add_variables(r, &t, r->left.at[i].dim);
        jx_prover *prover = prover_of(r, &t, JX_LARGEST_SIZE, r->left.at,
                                      (int)r->left.count, (int)b, true);
        if (!prover)
            return;
        jx_answer answer = jx_prove_compare(prover, c->dim, JX_REL_LE,
                                            jx_dim_wide(r->dims, c->most));
        jx_prover_free(prover);
        if (answer.truth == JX_TRUE)
            drop(r, b);
    }
}

/* -- all conditions ------------------------------------------------------ */

/* The conditions that no other one covers, as far as is seen at a glance. */
typedef struct summits {
    int count, at[MOST_PAIRS];
} summits;

/* Finds its place among the others, which it may cover. */
static void place_condition(region *r, summits *s, int index)
{
    condition *c = &r->all[index];
    int kept = 0;

    for (int i = 0; i < s->count; i++)
        if (covers(r, &r->all[s->at[i]], c, false)) {
            c->covered = 1 + s->at[i];
            return;
        }
    for (int i = 0; i < s->count; i++) {
        if (covers(r, c, &r->all[s->at[i]], false))
            r->all[s->at[i]].covered = 1 + index;
        else
            s->at[kept++] = s->at[i];
    }
    s->count = kept;
    if (s->count < MOST_PAIRS)
        s->at[s->count++] = index;
}

static const condition *summit_of(const region *r, size_t index)
{
    while (r->all[index].covered)
        index = (size_t)r->all[index].covered - 1;
    return &r->all[index];
}

/* Whether the condition holds for all sizes that the constraints allow. */
static void decide(region *r, condition *c)
{
    jx_size_bound question = {
        .dim = c->dim, .most = c->most, .scope = c->scope};
    trial t = new_trial(r, &question);
    jx_answer answer = {0};

    if (!try_sizes(&t, &question, JX_LARGEST_SIZE))
        answer = ask(r, &t, JX_LARGEST_SIZE, &question, r->options->no_solver);
    c->truth = answer.truth;
    c->by = answer.by;
    if (c->truth != JX_TRUE && c->truth != JX_CONTRADICTION)
        JX_PUSH(r->ctx->arena, &r->left, *c);
}

static bool decide_all(region *r)
{
    size_t count = r->to->bounds.count;
    summits s = {0};

    r->all = JX_NEW_ARRAY(r->ctx->arena, count, condition);
    if (!r->all)
        return false;
    for (size_t i = 0; i < count; i++)
        r->all[i] = normal(r, &r->to->bounds.at[i]);
    for (size_t i = 0; i < count; i++)
        place_condition(r, &s, (int)i);
    for (size_t i = 0; i < count; i++)
        if (!r->all[i].covered)
            decide(r, &r->all[i]);
    return jx_ok(r->ctx);
}

/* What keeps a finding's bound: the condition that covers it, if one does. */
static const char *safe_for(region *r, const condition *own)
{
    const condition *safe = own;

    for (size_t i = 0; i < r->left.count && safe == own; i++)
        if (covers(r, &r->left.at[i], own, r->left.count <= MOST_ASKED))
            safe = &r->left.at[i];
    return text_of(r, safe);
}

static void settle(region *r, size_t index)
{
    const jx_size_bound *bound = &r->to->bounds.at[index];
    const condition *summit = summit_of(r, index);
    jx_claim *claim = bound->claim;

    if (!claim)
        return;
    claim->evidence.by = summit->by;
    if (summit->truth == JX_TRUE) {
        claim->verdict = JX_PROVED;
    } else if (summit->truth == JX_CONTRADICTION) {
        claim->evidence.why = "the constraints allow no sizes";
    } else {
        trial t = new_trial(r, bound);
        settle_claim(r, bound, &t);
        if (claim->verdict == JX_REFUTED)
            claim->evidence.safe = safe_for(r, &r->all[index]);
    }
}

static bool say(region *r)
{
    jx_buffer text = jx_ctx_text(r->ctx);
    bool reached = true;

    for (size_t i = 0; i < r->left.count; i++) {
        reached &= r->left.at[i].reached;
        JX_PUSH(r->ctx->arena, &r->to->conditions, text_of(r, &r->left.at[i]));
    }
    jx_buffer_printf(&text,
                     "sizes are integers in proofs and %s in the program, ",
                     r->program->x64 ? "int64 (int32 along an axis)" : "int32");
    if (r->to->may_wrap)
        jx_buffer_puts(&text, "which computes from them what was not followed "
                              "and may wrap");
    if (r->to->may_wrap && r->left.count)
        jx_buffer_puts(&text, "; nothing else does while ");
    else if (r->left.count)
        jx_buffer_printf(&text, "where nothing wraps %s ",
                         reached ? "while" : "at least while");
    for (size_t i = 0; i < r->to->conditions.count && i < MOST_SHOWN; i++)
        jx_buffer_printf(&text, "%s%s", i ? " and " : "",
                         r->to->conditions.at[i]);
    if (r->to->conditions.count > MOST_SHOWN)
        jx_buffer_printf(&text, " and %d more conditions hold",
                         (int)r->to->conditions.count - MOST_SHOWN);
    const char *line = jx_arena_take(r->ctx->arena, &text);
    JX_PUSH(r->ctx->arena, &r->to->assumptions, line);
    return jx_ok(r->ctx);
}

bool jx_settle_wraps(jx_analysis *analysis, const jx_settle_options *options)
{
    region r = {.to = analysis,
                .program = analysis->program,
                .dims = analysis->program->dims,
                .ctx = analysis->program->ctx,
                .options = options};

    if (!decide_all(&r))
        return false;
    if (r.left.count <= MOST_ASKED) {
        drop_covered(&r);
        drop_implied(&r);
    }
    for (size_t i = 0; i < analysis->bounds.count; i++)
        settle(&r, i);
    return (!r.left.count && !analysis->may_wrap) || say(&r);
}
