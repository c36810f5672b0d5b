/* choose.c - see choose.h. */
#include "prover/choose.h"

#include "frontend/base/map.h"
#include "frontend/base/vec.h"
#include "frontend/ir/scope.h"
#include "frontend/ir/signature.h"

#include <stdlib.h>
#include <string.h>

enum {
    CANDIDATES = 3000, /* evaluated at most */
    QUESTIONS = 60,    /* that count */
    ASKED = 12,        /* questions for the prover */
    NUMBERS = 24,      /* values of one variable */
    AT_LEAST = 3,      /* assignments chosen, if there are so many */
    FEW = 8,           /* candidates: look beside them */
    ELEMENTS = 1 << 24,
};

/* Assignments differ where the sign of left - right does.  One that was
 * recorded has an answer, and where it is wrong is worth more than the rest. */
typedef struct question {
    const jx_dim *left, *right;
    const jx_comparison *asked;
} question;

typedef struct row {
    int64_t *values;
    double cost;
    size_t order; /* among candidates */
    bool chosen;
    unsigned char *features; /* what it is, by number of the question */
} row;

typedef struct chooser {
    const jx_program *program;
    jx_ctx *ctx;
    jx_choice *to;
    const int64_t *at; /* the assignment being looked at */
    JX_VEC(question) questions;
    JX_VEC(int64_t) numbers;
    JX_VEC(row) rows;
    jx_map seen; /* dims, avals and values */
} chooser;

static const double too_large = 1e18;

/* ---- evaluation */

static bool value_of(void *env, const jx_dim_atom *var, int64_t *value)
{
    const chooser *c = env;

    for (int i = 0; i < c->to->nvars; i++)
        if (c->to->vars[i] == var) {
            *value = c->at[i];
            return true;
        }
    return false;
}

static bool eval(chooser *c, const jx_dim *dim, int64_t *value)
{
    return dim && jx_dim_eval(dim, value_of, c, value);
}

/* Scopes that have none of the variables are those of exported functions that
 * the program calls. */
static bool is_own(const chooser *c, int scope)
{
    for (int i = 0; i < c->to->nvars; i++)
        if (c->to->vars[i]->scope == scope)
            return true;
    return false;
}

static bool is_allowed(chooser *c)
{
    for (int i = 0; i < c->to->nvars; i++)
        if (c->at[i] < c->program->base)
            return false;
    for (int i = 0; i < c->program->nscopes; i++)
        for (int k = 0; is_own(c, i) && k < c->program->scopes[i].nconstraints;
             k++) {
            const jx_scope_constraint *one =
                &c->program->scopes[i].constraints[k];
            int64_t lhs, rhs;
            if (!eval(c, one->lhs, &lhs) || !eval(c, one->rhs, &rhs) ||
                !jx_scope_holds(one, lhs, rhs))
                return false;
        }
    return true;
}

static double elements_of(chooser *c, const jx_aval *aval)
{
    double count = 1;
    int64_t size;

    for (int i = 0; i < aval->rank; i++) {
        if (!eval(c, aval->shape[i], &size) || size < 0)
            return 1e30; /* not to be run there */
        count *= (double)size;
    }
    return count;
}

/* How large the sizes are; those that make a large array come last. */
static double cost_of(chooser *c)
{
    const jx_jaxpr *entry = c->program->entry.jaxpr;
    double most = 0, sum = 0, largest = 0;

    for (int i = 0; i < entry->nvars; i++) {
        double n = elements_of(c, entry->vars[i]->aval);
        most = n > most ? n : most;
    }
    for (int i = 0; i < c->to->nvars; i++) {
        sum += (double)c->at[i];
        largest = (double)c->at[i] > largest ? (double)c->at[i] : largest;
    }
    return (most > ELEMENTS ? too_large : 0) + 1e3 * largest + sum;
}

/* ---- what is asked */

static void add_question(chooser *c, const jx_dim *left, const jx_dim *right,
                         const jx_comparison *asked)
{
    int64_t number;

    if (!left || !right || left == right || c->questions.count == QUESTIONS)
        return;
    if (jx_dim_is_int(left, &number) && jx_dim_is_int(right, &number))
        return;
    for (size_t i = 0; i < c->questions.count; i++)
        if (c->questions.at[i].left == left &&
            c->questions.at[i].right == right &&
            (!asked || c->questions.at[i].asked))
            return;
    JX_PUSH(c->ctx->arena, &c->questions, (question){left, right, asked});
}

static void add_number(chooser *c, int64_t number)
{
    if (number < c->program->base || number > INT32_MAX ||
        c->numbers.count >= 4 * NUMBERS)
        return;
    for (size_t i = 0; i < c->numbers.count; i++)
        if (c->numbers.at[i] == number)
            return;
    JX_PUSH(c->ctx->arena, &c->numbers, number);
}

static void add_numbers_near(chooser *c, jx_int number)
{
    if (number < 0)
        number = -number;
    if (number < 2 || number > INT32_MAX / 4)
        return;
    for (int64_t by = -1; by <= 1; by++)
        add_number(c, (int64_t)number + by);
    add_number(c, 2 * (int64_t)number);
    add_number(c, 3 * (int64_t)number);
}

/* The dim's numbers, and what decides each of its quotients and maxima. */
static void look_at_dim(chooser *c, const jx_dim *dim)
{
    JX_VEC(const jx_dim *) queue = {0};

    JX_PUSH(c->ctx->arena, &queue, dim);
    for (size_t next = 0; next < queue.count; next++) {
        const jx_dim *at = queue.at[next];
        if (!at || !jx_map_add(&c->seen, at))
            continue;
        for (int i = 0; i < jx_dim_nterms(at); i++) {
            const jx_dim_term *term = &jx_dim_terms(at)[i];
            add_numbers_near(c, term->coefficient);
            for (int k = 0; k < term->nfactors; k++) {
                const jx_dim_atom *atom = term->factors[k].atom;
                if (atom->kind == JX_ATOM_VAR)
                    continue;
                JX_PUSH(c->ctx->arena, &queue, atom->a);
                JX_PUSH(c->ctx->arena, &queue, atom->b);
                if (atom->kind == JX_ATOM_MAX || atom->kind == JX_ATOM_MIN)
                    add_question(c, atom->a, atom->b, NULL);
                else
                    add_question(c,
                                 jx_dim_mod(c->program->dims, atom->a, atom->b),
                                 jx_dim_int(c->program->dims, 0), NULL);
            }
        }
    }
}

static void look_at_value(chooser *c, const jx_value *value)
{
    if (value->tag == JX_V_DIM)
        look_at_dim(c, value->dim);
    for (int i = 0; value->items && i < value->count; i++)
        look_at_value(c, value->items[i]);
}

static void look_at_jaxpr(chooser *c, const jx_jaxpr *jaxpr)
{
    for (int i = 0; i < jaxpr->nvars; i++) {
        const jx_aval *aval = jaxpr->vars[i]->aval;
        if (!jx_map_add(&c->seen, aval))
            continue;
        for (int k = 0; k < aval->rank; k++)
            look_at_dim(c, aval->shape[k]);
    }
    for (int i = 0; i < jaxpr->neqns; i++)
        for (int k = 0; k < jaxpr->eqns[i].nparams; k++)
            if (jx_map_add(&c->seen, jaxpr->eqns[i].params[k].value))
                look_at_value(c, jaxpr->eqns[i].params[k].value);
}

static void collect_questions(chooser *c)
{
    const jx_program *p = c->program;

    for (int i = 0; i < p->nscopes; i++)
        for (int k = 0; k < p->scopes[i].nconstraints; k++) {
            const jx_scope_constraint *one = &p->scopes[i].constraints[k];
            look_at_dim(c, one->lhs);
            look_at_dim(c, one->rhs);
            add_question(c, one->lhs, one->rhs, NULL);
        }
    for (int i = 0; i < p->ncomparisons; i++) {
        const jx_comparison *one = &p->comparisons[i];
        add_question(c, one->lhs, one->rhs, one);
        look_at_dim(c, one->lhs);
        look_at_dim(c, one->rhs);
    }
    for (int i = 0; i < p->njaxprs; i++)
        look_at_jaxpr(c, p->jaxprs[i]);
}

/* ---- candidates */

/* The recorded answer is wrong where its relation says otherwise. */
static bool is_wrong(const jx_comparison *asked, int sign)
{
    bool equal = strchr(asked->op, '=') && *asked->op != '!';
    bool holds = !strcmp(asked->op, "!=")   ? sign != 0
                 : !strcmp(asked->op, "==") ? sign == 0
                 : *asked->op == '>'        ? sign > 0 || (equal && sign == 0)
                                            : sign < 0 || (equal && sign == 0);

    return asked->decision != JX_DECIDED_NONE &&
           holds != (asked->decision == JX_DECIDED_TRUE);
}

/* Per question one of: no value, less, equal, greater; and whether the recorded
 * answer is wrong there.  Then per variable: its value, of larger ones whether
 * it is even; and per pair of variables whether they are equal. */
static int feature_count(const chooser *c)
{
    int n = c->to->nvars;

    return (int)c->questions.count + n + n * (n - 1) / 2;
}

static void find_features(chooser *c, unsigned char *to)
{
    int next = 0, n = c->to->nvars;

    for (size_t i = 0; i < c->questions.count; i++) {
        const question *q = &c->questions.at[i];
        int64_t left, right;
        int sign;
        to[next] = 0;
        if (eval(c, q->left, &left) && eval(c, q->right, &right)) {
            sign = (left > right) - (left < right);
            to[next] = (unsigned char)(2 + sign);
            if (q->asked && is_wrong(q->asked, sign))
                to[next] |= 4;
        }
        next++;
    }
    for (int i = 0; i < n; i++)
        to[next++] = (unsigned char)(c->at[i] < 0    ? 0
                                     : c->at[i] <= 5 ? c->at[i]
                                                     : 6 + c->at[i] % 2);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++)
            to[next++] = c->at[i] == c->at[k];
}

static void add_row(chooser *c, const int64_t *values)
{
    size_t bytes = (size_t)c->to->nvars * sizeof *values;
    row made = {.values = jx_arena_copy(c->ctx->arena, values, bytes),
                .features = JX_NEW_ARRAY(c->ctx->arena, feature_count(c),
                                         unsigned char)};

    c->at = values;
    if (!made.values || !made.features || !is_allowed(c))
        return;
    for (size_t i = 0; i < c->rows.count; i++)
        if (memcmp(c->rows.at[i].values, values, bytes) == 0)
            return;
    made.cost = cost_of(c);
    made.order = c->rows.count;
    if (made.cost >= 1e30)
        return;
    find_features(c, made.features);
    JX_PUSH(c->ctx->arena, &c->rows, made);
}

static void add_equal(chooser *c, int64_t value, int64_t *values)
{
    for (int i = 0; i < c->to->nvars; i++)
        values[i] = value;
    add_row(c, values);
}

/* All combinations of so many values each that they stay few. */
static void add_products(chooser *c, int64_t *values)
{
    int n = c->to->nvars, each = 1;
    int64_t total = 1, grown;

    while (each < (int)c->numbers.count) {
        grown = 1;
        for (int i = 0; i < n && grown <= CANDIDATES; i++)
            grown *= each + 1;
        if (grown > CANDIDATES)
            break;
        total = grown;
        each++;
    }
    for (int64_t k = 0; k < total; k++) {
        int64_t rest = k;
        for (int i = 0; i < n; i++, rest /= each)
            values[i] = c->numbers.at[rest % each];
        add_row(c, values);
    }
}

/* One variable beside what is allowed already. */
static void add_neighbours(chooser *c, size_t count, int64_t *values)
{
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < c->to->nvars; k++)
            for (size_t v = 0; v < c->numbers.count && v < NUMBERS; v++) {
                memcpy(values, c->rows.at[i].values,
                       (size_t)c->to->nvars * sizeof *values);
                values[k] = c->numbers.at[v];
                add_row(c, values);
            }
}

/* One variable a little larger or smaller, where constraints leave few. */
static void add_steps(chooser *c, size_t count, int64_t *values)
{
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < c->to->nvars; k++)
            for (int64_t by = -12; by <= 12; by++) {
                memcpy(values, c->rows.at[i].values,
                       (size_t)c->to->nvars * sizeof *values);
                if (!__builtin_add_overflow(values[k], by, &values[k]))
                    add_row(c, values);
            }
}

/* ---- the prover, where evaluation finds nothing */

static jx_prover *prover_of(chooser *c, bool with_solver)
{
    const jx_scope *scope = c->program->nscopes ? c->program->scopes : NULL;
    int n = scope ? scope->nconstraints : 0;
    jx_constraint *to = JX_NEW_ARRAY(c->ctx->arena, n, jx_constraint);
    jx_prover_options options = {.base = c->program->base,
                                 .base_is_set = true,
                                 .no_solver = !with_solver};

    if (!to)
        return NULL;
    for (int i = 0; i < n; i++)
        to[i] = (jx_constraint){scope->constraints[i].lhs,
                                scope->constraints[i].equal     ? JX_REL_EQ
                                : scope->constraints[i].differs ? JX_REL_NE
                                                                : JX_REL_GE,
                                scope->constraints[i].rhs};
    return jx_prover_new(c->ctx, c->program->dims, to, n, &options);
}

/* The assignment, and the same with other small values of what
 * it leaves open. */
static void add_assignment(chooser *c, const jx_assignment *found,
                           int64_t *values)
{
    for (size_t fill = 0; fill < 4 && fill < c->numbers.count; fill++) {
        for (int i = 0; i < c->to->nvars; i++) {
            values[i] = c->numbers.at[fill];
            for (int k = 0; k < found->count; k++)
                if (found->at[k].var == c->to->vars[i] &&
                    !jx_assigned((void *)(uintptr_t)found, c->to->vars[i],
                                 &values[i]))
                    return; /* beyond any size */
        }
        add_row(c, values);
    }
}

static bool is_constant(const chooser *c, size_t number)
{
    for (size_t i = 1; i < c->rows.count; i++)
        if (c->rows.at[i].features[number] != c->rows.at[0].features[number])
            return false;
    return true;
}

/* Any assignment at all, and what is near it. */
static void ask_for_one(chooser *c, int64_t *values)
{
    jx_prover *prover = prover_of(c, true);

    if (!prover)
        return;
    jx_answer some = jx_prove_consistent(prover);
    if (some.has_true)
        add_assignment(c, &some.when_true, values);
    add_neighbours(c, c->rows.count, values);
    jx_prover_free(prover);
}

/* Where what is asked has both answers, though no candidate shows it. */
static void ask_for_both(chooser *c, int64_t *values)
{
    jx_prover *prover = prover_of(c, false);
    int asked = 0;

    for (size_t i = 0; prover && i < c->questions.count && asked < ASKED; i++) {
        const question *q = &c->questions.at[i];
        if (!is_constant(c, i))
            continue;
        jx_answer a = jx_prove_compare(prover, q->left, JX_REL_EQ, q->right);
        asked++;
        if (a.has_true)
            add_assignment(c, &a.when_true, values);
        if (a.has_false)
            add_assignment(c, &a.when_false, values);
    }
    jx_prover_free(prover);
}

/* ---- the choice */

static int by_cost(const void *a_, const void *b_)
{
    const row *a = a_, *b = b_;

    if (a->cost != b->cost)
        return a->cost < b->cost ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* How much a row shows that those chosen before do not; a wrong answer is the
 * most there is to be seen.  A few rows are chosen even if they are alike. */
static int gain(const chooser *c, const row *r, const bool *seen, int chosen)
{
    int n = feature_count(c), sum = chosen < AT_LEAST;

    if (r->chosen)
        return 0;
    for (int i = 0; i < n; i++)
        if (!seen[i * 8 + (r->features[i] & 7)])
            sum += i >= (int)c->questions.count ? 1
                   : r->features[i] & 4         ? 8
                                                : 2;
    return sum;
}

static row *choose_one(chooser *c, bool *seen, int chosen)
{
    row *best = NULL;
    int most = 0;

    for (size_t i = 0; i < c->rows.count; i++) {
        int g = gain(c, &c->rows.at[i], seen, chosen);
        if (g > most) {
            best = &c->rows.at[i];
            most = g;
        }
    }
    if (best)
        best->chosen = true;
    for (int i = 0; best && i < feature_count(c); i++)
        seen[i * 8 + (best->features[i] & 7)] = true;
    return best;
}

static bool choose(chooser *c, int wanted)
{
    size_t each = (size_t)c->to->nvars;
    bool *seen = JX_NEW_ARRAY(c->ctx->arena, 8 * feature_count(c), bool);
    JX_VEC(row) chosen = {0};
    int64_t *values;
    const row *one;

    while (seen && (int)chosen.count < wanted &&
           (one = choose_one(c, seen, (int)chosen.count)))
        JX_PUSH(c->ctx->arena, &chosen, *one);
    values = JX_NEW_ARRAY(c->ctx->arena, each * chosen.count, int64_t);
    if (!values || !seen)
        return false;
    qsort(chosen.at, chosen.count, sizeof *chosen.at, by_cost);
    for (size_t i = 0; i < chosen.count; i++)
        memcpy(values + i * each, chosen.at[i].values, each * sizeof *values);
    c->to->count = (int)chosen.count;
    c->to->values = values;
    return true;
}

/* Candidates that make large arrays are none if there are others. */
static void sort_rows(chooser *c)
{
    size_t kept = 0;

    qsort(c->rows.at, c->rows.count, sizeof *c->rows.at, by_cost);
    while (kept < c->rows.count && c->rows.at[kept].cost < too_large)
        kept++;
    if (kept)
        c->rows.count = kept;
}

static bool find_rows(chooser *c)
{
    static const int64_t small[] = {1, 2, 3, 4, 7, 8, 12, 5, 6, 16, 9, 10};
    int64_t *values = JX_NEW_ARRAY(c->ctx->arena, c->to->nvars, int64_t);

    for (size_t i = 0; i < 4; i++)
        add_number(c, small[i]);
    if (!values || !c->numbers.count)
        return jx_starved(c->ctx);
    collect_questions(c);
    for (size_t i = 4; i < sizeof small / sizeof *small; i++)
        add_number(c, small[i]);
    for (size_t i = 0; i < c->numbers.count; i++)
        add_equal(c, c->numbers.at[i], values);
    add_products(c, values);
    add_neighbours(c, c->rows.count < 4 ? c->rows.count : 4, values);
    if (!c->rows.count)
        ask_for_one(c, values);
    if (c->rows.count < FEW)
        add_steps(c, c->rows.count, values);
    ask_for_both(c, values);
    return jx_ok(c->ctx);
}

bool jx_choose_sizes(const jx_program *program, int wanted, jx_choice *to)
{
    chooser c = {.program = program, .ctx = program->ctx, .to = to};

    *to = (jx_choice){0};
    to->vars = jx_input_vars(program, &to->nvars);
    if (!to->vars)
        return false;
    if (!to->nvars)
        return true;
    jx_map_init(&c.seen, c.ctx->arena);
    if (!find_rows(&c))
        return false;
    if (!c.rows.count)
        return jx_fail(c.ctx, JX_E_INPUT, program->path, NULL,
                       "no sizes are known that its constraints allow");
    sort_rows(&c);
    return choose(&c, wanted < 1                ? JX_CHOOSE_DEFAULT
                      : wanted > JX_CHOOSE_MOST ? JX_CHOOSE_MOST
                                                : wanted);
}
