/* suggest.c - see suggest.h.
 *
 * Candidates come from samples (which bound, which multiple, which order parts
 * the points where it holds from those where it does not) and count only once
 * the question is proved with them. */
#include "prover/suggest.h"

#include "prover/theory.h"

#include <string.h>

enum {
    MAX_SAMPLES = 600,
    CANDIDATES = 1500,
    MAX_SUGGESTIONS = 3,
    STEPS = 300,
    LOOSENING_STEPS = 2000,
    MAX_TRIES = 24,    /* proofs */
    MAX_LOOSENED = 64, /* more of them, for one bound */
    LONG = 40,         /* nodes: a constraint that nobody would write */
    MANY_VARS = 10     /* no constraint on one of so many settles it */
};

typedef struct sample {
    const jx_int *at; /* a value for each variable of the search */
    bool holds;
} sample;

typedef struct finder {
    jx_ctx *ctx;
    const jx_search *search;
    const jx_constraint *question;
    sample *samples;
    int nsamples;
    jx_constraint *found;
    int nfound, room, tries;
} finder;

static bool take_sample(void *env, const jx_search *s, const jx_point *point)
{
    finder *f = env;
    bool holds;

    if (!jx_search_holds(s, f->question, point, &holds))
        return true;
    jx_int *at =
        jx_arena_copy(f->ctx->arena, point->at, (size_t)s->nvars * sizeof *at);
    if (!at)
        return false;
    f->samples[f->nsamples++] = (sample){at, holds};
    return f->nsamples < MAX_SAMPLES;
}

/* Some sample with x >= m fails: else `mod(x, m) == 0` is a
 * bound in disguise. */
static bool fails_from(const finder *f, int i, jx_int m)
{
    for (int j = 0; j < f->nsamples; j++)
        if (!f->samples[j].holds && f->samples[j].at[i] >= m)
            return true;
    return false;
}

/* Some sample satisfies the candidate, and all that do satisfy the question. */
static bool fits_samples(const finder *f, const jx_constraint *c)
{
    bool some = false, in;

    for (int i = 0; i < f->nsamples; i++) {
        jx_point p;

        memcpy(p.at, f->samples[i].at, (size_t)f->search->nvars * sizeof *p.at);
        if (!jx_search_holds(f->search, c, &p, &in) || !in)
            continue;
        if (!f->samples[i].holds)
            return false;
        some = true;
    }
    return some;
}

/* What the constraints say with some more; false without memory, or where no
 * assignment is left at first sight. */
static bool assume_all(const finder *f, int count, const jx_constraint *c,
                       jx_theory *t)
{
    const jx_search *s = f->search;
    jx_constraint *all =
        JX_NEW_ARRAY(f->ctx->arena, s->nconstraints + count, jx_constraint);

    if (!all)
        return false;
    if (s->nconstraints)
        memcpy(all, s->constraints, (size_t)s->nconstraints * sizeof *all);
    memcpy(all + s->nconstraints, c, (size_t)count * sizeof *c);
    if (!jx_theory_init(t, f->ctx, s->base, all, s->nconstraints + count))
        return false;
    if (!t->empty)
        return true;
    jx_theory_free(t);
    return false;
}

static bool assume(const finder *f, const jx_constraint *c, jx_theory *t)
{
    return assume_all(f, 1, c, t);
}

static bool are_sufficient(const finder *f, int count, const jx_constraint *c,
                           long steps)
{
    const jx_dim *goal;
    jx_theory t;
    int wanted;
    bool yes;

    if (!assume_all(f, count, c, &t))
        return false;
    yes = jx_theory_goal(&t, f->question, &goal, &wanted) &&
          jx_theory_proves(&t, goal, wanted, steps);
    jx_theory_free(&t);
    return yes;
}

static bool is_sufficient(const finder *f, const jx_constraint *c, long steps)
{
    return are_sufficient(f, 1, c, steps);
}

/* The constraints don't exclude it: a bound there says what it seems to. */
static bool is_possible(const finder *f, const jx_constraint *c)
{
    jx_theory t;
    bool yes;

    if (!assume(f, c, &t))
        return false;
    yes = !jx_elementary(&t.work, t.hyps, t.nhyps, jx_dim_int(t.work.in, 0), 0,
                         STEPS);
    jx_theory_free(&t);
    return yes;
}

static bool try_candidate(finder *f, jx_constraint c)
{
    if (f->nfound == f->room || !c.lhs || !c.rhs || !fits_samples(f, &c) ||
        f->tries++ >= MAX_TRIES || !is_sufficient(f, &c, STEPS))
        return false;
    f->found[f->nfound++] = c;
    return true;
}

static const jx_dim *var_dim(const finder *f, int i)
{
    return jx_dim_of_atom(f->search->dims, f->search->vars[i]);
}

static const jx_dim *number(const finder *f, jx_int value)
{
    return jx_dim_wide(f->search->dims, value);
}

/* Whether it fails at a point but for variable i; not where it has no value. */
static bool fails_with(const finder *f, const jx_int *at, int i, jx_int value)
{
    bool holds;
    jx_point p;

    memcpy(p.at, at, (size_t)f->search->nvars * sizeof *p.at);
    p.at[i] = value;
    return jx_search_holds(f->search, f->question, &p, &holds) && !holds;
}

/* Between a value for which it fails and the next one in a sample for which it
 * holds: where, with all else as in that sample, the one turns into the other.
 * `way` is 1 for a lower bound, -1 for an upper one. */
static jx_int turning_point(const finder *f, int i, jx_int failing, int way)
{
    const sample *next = NULL;
    jx_int bad = failing, good;

    for (int j = 0; j < f->nsamples; j++) {
        const sample *s = &f->samples[j];

        if (s->holds && (way > 0 ? s->at[i] > failing : s->at[i] < failing) &&
            (!next ||
             (way > 0 ? s->at[i] < next->at[i] : s->at[i] > next->at[i])))
            next = s;
    }
    if (!next)
        return failing + way;
    for (good = next->at[i]; good - bad != way;) {
        jx_int middle = bad + (good - bad) / 2;

        if (fails_with(f, next->at, i, middle))
            bad = middle;
        else
            good = middle;
    }
    return good;
}

/* The weakest bound on variable i that is proved, from k toward a value for
 * which it fails: constraints may leave out the points that turned it. */
static jx_int loosen(const finder *f, int i, jx_relation relation, jx_int k,
                     jx_int failing)
{
    jx_int way = relation == JX_REL_GE ? -1 : 1, step = 1;

    for (int tries = 0; tries < MAX_LOOSENED && k + way != failing; tries++) {
        jx_int gap = way * (failing - k) - 1, by = step < gap ? step : gap;
        jx_constraint c = {var_dim(f, i), relation, number(f, k + way * by)};
        jx_constraint there = {c.lhs, JX_REL_EQ, c.rhs};

        if (c.rhs && fits_samples(f, &c) &&
            is_sufficient(f, &c, LOOSENING_STEPS) && is_possible(f, &there)) {
            k += way * by;
            step *= 2;
        } else if (by == 1) {
            break;
        } else {
            step = by / 2;
        }
    }
    return k;
}

static bool try_bound(finder *f, int i, jx_relation relation, jx_int k,
                      jx_int failing)
{
    if (!try_candidate(f,
                       (jx_constraint){var_dim(f, i), relation, number(f, k)}))
        return false;
    k = loosen(f, i, relation, k, failing);
    f->found[f->nfound - 1].rhs = number(f, k);
    return true;
}

/* x >= k past the largest value, or x <= k before the smallest, for which it
 * fails. */
static bool try_bounds(finder *f, int i)
{
    jx_int largest = 0, least = 0;
    bool any = false;

    for (int j = 0; j < f->nsamples; j++) {
        jx_int v = f->samples[j].at[i];

        if (f->samples[j].holds)
            continue;
        largest = any && v < largest ? largest : v;
        least = any && v > least ? least : v;
        any = true;
    }
    if (!any)
        return false;
    if (try_bound(f, i, JX_REL_GE, turning_point(f, i, largest, 1), largest))
        return true;
    if (least <= f->search->low[i])
        return false;
    jx_int k = turning_point(f, i, least, -1);
    return k > f->search->low[i] && /* else it is one value */
           try_bound(f, i, JX_REL_LE, k, least);
}

static bool try_residue(finder *f, int i, jx_int m, jx_int r)
{
    const jx_dim *mod = jx_dim_literal(f->search->dims, JX_ATOM_MOD,
                                       var_dim(f, i), number(f, m));

    return try_candidate(f, (jx_constraint){mod, JX_REL_EQ, number(f, r)});
}

/* A multiple of a small number or of one in the question, or a residue. */
static bool try_multiples(finder *f, int i)
{
    const jx_search *s = f->search;

    for (int k = 0; k < s->nvalues + 3; k++) {
        jx_int m = k < 3 ? k + 2 : s->values[k - 3];

        if (m >= 2 && m <= 1 << 20 && fails_from(f, i, m) &&
            try_residue(f, i, m, 0))
            return true;
    }
    for (jx_int m = 2; m <= 4; m++)
        for (jx_int r = 1; r < m; r++)
            if (fails_from(f, i, m) && try_residue(f, i, m, r))
                return true;
    return false;
}

static void try_orders(finder *f, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (i != j)
                try_candidate(f, (jx_constraint){var_dim(f, i), JX_REL_GE,
                                                 var_dim(f, j)});
}

/* x == k for a value for which it holds. */
static bool try_value(finder *f, int i)
{
    const jx_int *last = NULL;

    for (int j = 0, tries = 0; j < f->nsamples && tries < 4; j++) {
        const jx_int *v = &f->samples[j].at[i];

        if (!f->samples[j].holds || (last && *v == *last))
            continue;
        last = v;
        tries++;
        if (try_candidate(
                f, (jx_constraint){var_dim(f, i), JX_REL_EQ, number(f, *v)}))
            return true;
    }
    return false;
}

/* The largest number that variable i alone is divided by in the dim, or 0. */
static jx_int divisor_of(const finder *f, int i, const jx_dim *dim)
{
    jx_int found = 0;

    for (int t = 0; t < jx_dim_nterms(dim); t++)
        for (int k = 0; k < jx_dim_terms(dim)[t].nfactors; k++) {
            const jx_dim_atom *atom = jx_dim_terms(dim)[t].factors[k].atom;
            jx_int m = 0;
            if ((atom->kind != JX_ATOM_FLOORDIV && atom->kind != JX_ATOM_MOD) ||
                atom->a != var_dim(f, i) || !jx_dim_is_wide(atom->b, &m))
                continue;
            found = m > found && m <= 1 << 20 ? m : found;
        }
    return found;
}

/* Some sample satisfies them all: there are such sizes. */
static bool some_sample(const finder *f, int count, const jx_constraint *c)
{
    for (int i = 0; i < f->nsamples; i++) {
        jx_point p;
        int k = 0;
        bool in = true;

        memcpy(p.at, f->samples[i].at, (size_t)f->search->nvars * sizeof *p.at);
        while (k < count && in)
            in = jx_search_holds(f->search, &c[k++], &p, &in) && in;
        if (in && f->samples[i].holds)
            return true;
    }
    return false;
}

/* Every variable that a number divides is a multiple of it: what cutting an
 * image into patches needs, of height and width alike.  One that is not
 * needed is left out. */
static void try_together(finder *f, int n, jx_answer *answer)
{
    jx_constraint all[MANY_VARS], fewer[MANY_VARS], *kept;
    int count = 0;

    for (int i = 0; i < n; i++) {
        jx_int m = divisor_of(f, i, f->question->lhs);
        jx_int other = divisor_of(f, i, f->question->rhs);
        m = other > m ? other : m;
        if (m < 2)
            continue;
        all[count++] =
            (jx_constraint){jx_dim_literal(f->search->dims, JX_ATOM_MOD,
                                           var_dim(f, i), number(f, m)),
                            JX_REL_EQ, number(f, 0)};
        if (!all[count - 1].lhs || !all[count - 1].rhs)
            return;
    }
    if (count < 2 || !some_sample(f, count, all) ||
        !are_sufficient(f, count, all, LOOSENING_STEPS))
        return;
    for (int i = 0; count > 2 && i < count;) {
        int left = 0;
        for (int k = 0; k < count; k++)
            if (k != i)
                fewer[left++] = all[k];
        if (!are_sufficient(f, left, fewer, LOOSENING_STEPS)) {
            i++;
            continue;
        }
        memcpy(all, fewer, (size_t)left * sizeof *all);
        count = left;
    }
    kept = jx_arena_copy(f->ctx->arena, all, (size_t)count * sizeof *all);
    answer->together = kept;
    answer->ntogether = kept ? count : 0;
}

/* The same constraint in other words. */
static bool is_known(const finder *f, const jx_constraint *c)
{
    const jx_dim *d = jx_dim_sub(f->search->dims, c->lhs, c->rhs);

    for (int i = 0; i < f->nfound; i++) {
        const jx_constraint *g = &f->found[i];
        bool turned = (c->relation == JX_REL_GE && g->relation == JX_REL_LE) ||
                      (c->relation == JX_REL_LE && g->relation == JX_REL_GE);

        if (turned ? d == jx_dim_sub(f->search->dims, g->rhs, g->lhs)
                   : c->relation == g->relation &&
                         d == jx_dim_sub(f->search->dims, g->lhs, g->rhs))
            return true;
    }
    return false;
}

static const jx_dim *dim_of_term(jx_dims *in, const jx_dim_term *t)
{
    const jx_dim *product = jx_dim_wide(in, t->coefficient);

    for (int i = 0; i < t->nfactors; i++)
        product =
            jx_dim_mul(in, product,
                       jx_dim_pow(in, jx_dim_of_atom(in, t->factors[i].atom),
                                  t->factors[i].power));
    return product;
}

/* JAX wants one term on the left of ==, and reads it as "put the right side for
 * it": a variable, where one stands alone. */
static void put_one_term_left(jx_dims *in, jx_constraint *c)
{
    const jx_dim *d = jx_dim_sub(in, c->lhs, c->rhs), *term;
    const jx_dim_term *best = NULL;

    if (jx_dim_nterms(c->lhs) == 1 && jx_dim_terms(c->lhs)->nfactors)
        return;
    for (int i = 0; d && i < jx_dim_nterms(d); i++) {
        const jx_dim_term *t = &jx_dim_terms(d)[i];
        bool alone = t->nfactors == 1 && t->factors[0].power == 1 &&
                     (t->coefficient == 1 || t->coefficient == -1);

        if (t->nfactors && (!best || alone))
            best = t;
    }
    if (!best)
        return;
    if (best->coefficient < 0) {
        /* The same in the other direction; the order of terms stays. */
        c->lhs = jx_dim_neg(in, c->lhs);
        c->rhs = jx_dim_neg(in, c->rhs);
        if (c->lhs && c->rhs)
            put_one_term_left(in, c);
        return;
    }
    term = dim_of_term(in, best);
    c->rhs = jx_dim_sub(in, term, d);
    c->lhs = term;
}

/* What makes the question true and asks for least: the question itself, in
 * JAX's language, which has only >=, <= and ==.  It needs no proof. */
static void try_itself(finder *f, jx_relation relation, jx_int more)
{
    jx_constraint c = *f->question;

    c.relation = relation;
    c.rhs = jx_dim_add(f->search->dims, c.rhs, number(f, more));
    if (c.rhs && relation == JX_REL_EQ)
        put_one_term_left(f->search->dims, &c);
    if (c.lhs && c.rhs && !is_known(f, &c) && fits_samples(f, &c))
        f->found[f->nfound++] = c;
}

static void try_question(finder *f)
{
    switch (f->question->relation) {
    case JX_REL_EQ:
    case JX_REL_GE:
    case JX_REL_LE: try_itself(f, f->question->relation, 0); break;
    case JX_REL_GT: try_itself(f, JX_REL_GE, 1); break;
    case JX_REL_LT: try_itself(f, JX_REL_LE, -1); break;
    case JX_REL_NE:
        try_itself(f, JX_REL_GE, 1);
        try_itself(f, JX_REL_LE, -1);
        break;
    }
}

/* The answer's own witnesses, which may lie further out than any sample. */
static void take_witness(finder *f, const jx_assignment *from, bool holds)
{
    const jx_search *s = f->search;
    jx_int *at = JX_NEW_ARRAY(f->ctx->arena, s->nvars, jx_int);

    for (int i = 0, j = 0; at && i < s->nvars; i++) {
        while (j < from->count && from->at[j].var != s->vars[i])
            j++;
        if (j == from->count)
            return;
        at[i] = from->at[j].value;
    }
    if (at)
        f->samples[f->nsamples++] = (sample){at, holds};
}

void jx_suggest(jx_ctx *ctx, const jx_search *search,
                const jx_constraint *question, jx_answer *answer)
{
    finder f = {.ctx = ctx,
                .search = search,
                .question = question,
                .room = MAX_SUGGESTIONS};
    int n = search->nvars <= MANY_VARS ? search->nvars : 0;
    bool bounded[MANY_VARS] = {false};

    f.samples = JX_NEW_ARRAY(ctx->arena, MAX_SAMPLES + 2, sample);
    f.found = JX_NEW_ARRAY(ctx->arena, MAX_SUGGESTIONS + 2, jx_constraint);
    if (!f.samples || !f.found)
        return;
    jx_search_run(search, 0, CANDIDATES, take_sample, &f);
    take_witness(&f, &answer->when_true, true);
    take_witness(&f, &answer->when_false, false);
    for (int i = 0; i < n; i++)
        bounded[i] = try_bounds(&f, i);
    for (int i = 0; i < n; i++)
        if (!bounded[i])
            try_multiples(&f, i);
    if (!f.nfound)
        try_orders(&f, n);
    for (int i = 0; i < n && !f.nfound; i++)
        try_value(&f, i);
    if (!f.nfound)
        try_together(&f, n, answer);
    if ((!f.nfound || n != 1) && !answer->ntogether &&
        jx_dim_nodes(question->lhs) + jx_dim_nodes(question->rhs) < LONG)
        try_question(&f);
    answer->suggestions = f.found;
    answer->nsuggestions = f.nfound;
}
