/* elementary.c - the decider: which split comes next; see elementary.h. */
#include "prover/scene.h"

enum {
    MAX_DEPTH = 48,
    MAX_ENUMERATED = 1 << 10, /* values of a bounded variable */
};

/* max(d, 0): d where d >= 0, else 0. */
static bool split_maximum(const jx_scene *s, const jx_dim_atom *atom)
{
    jx_scene a = *s, b = *s;
    const jx_dim *d = atom->a;
    int signs = jx_scene_signs(&a, d);

    const jx_dim *max = jx_dim_of_atom(s->work->in, atom);
    const jx_dim *minus = jx_dim_neg(s->work->in, d);

    if (!(signs & JX_NEGATIVE)) {
        jx_note_atom(s->work, JX_STEP_FIRST, max, 0);
        return jx_scene_replace(&a, atom, d) && jx_scene_settle(&a);
    }
    if (!(signs & JX_POSITIVE)) {
        jx_note_atom(s->work, JX_STEP_SECOND, max, 0);
        return jx_scene_replace(&a, atom, jx_scene_int(&a, 0)) &&
               jx_scene_settle(&a);
    }
    jx_note_split(s->work, d, minus);
    jx_note_case(s->work, 0, NULL);
    jx_note_atom(s->work, JX_STEP_FIRST, max, 0);
    if (!jx_scene_replace(&a, atom, d) || !jx_scene_assume(&a, d, JX_HYP_GE) ||
        !jx_scene_settle(&a))
        return false;
    jx_note_case(s->work, 0, NULL);
    jx_note_atom(s->work, JX_STEP_SECOND, max, 0);
    if (!jx_scene_replace(&b, atom, jx_scene_int(&b, 0)) ||
        !jx_scene_assume(&b, minus, JX_HYP_GE) || !jx_scene_settle(&b))
        return false;
    jx_note_end(s->work);
    return true;
}

static bool split_atom(jx_scene *s, const jx_dim_atom *atom)
{
    return atom->kind == JX_ATOM_MAX ? split_maximum(s, atom)
                                     : jx_scene_split_quotient(s, atom);
}

/* x >= e (coefficient 1, e's own lower end not below x's): x = e + t. */
static bool substitute_hyp(jx_scene *s, bool *done)
{
    *done = false;
    for (int i = 0; i < s->nhyps; i++) {
        const jx_dim *d = s->hyps[i].dim;

        if (s->hyps[i].kind != JX_HYP_GE || !jx_is_polynomial(d))
            continue;
        for (int n = 0; n < jx_dim_nterms(d); n++) {
            const jx_dim_term *t = &jx_dim_terms(d)[n];
            const jx_dim_atom *x = t->nfactors ? t->factors[0].atom : NULL;
            jx_scene_variable *v;

            if (!x || jx_linear_coefficient(d, x) != 1 ||
                !(v = jx_scene_var(s, x)))
                continue;
            const jx_dim *e = jx_scene_sub(s, jx_scene_dim(s, x), d);
            const jx_dim *gap = jx_scene_sub(s, e, jx_scene_int(s, v->low));
            if (!gap || jx_scene_signs(s, gap) & JX_NEGATIVE)
                continue;
            jx_scene a = *s;
            const jx_dim *rest = jx_scene_fresh(&a, 0);
            *done = true;
            jx_scene_drop(&a, i);
            return jx_scene_eliminate(&a, x, jx_scene_add(&a, e, rest)) &&
                   jx_scene_settle(&a);
        }
    }
    return false;
}

/* Above their lows, x < y or x >= y; a = b + t then makes up for a term in
 * which they are mixed. */
static bool split_order(jx_scene *s, const jx_dim_atom *x, const jx_dim_atom *y,
                        jx_int apart)
{
    jx_scene a = *s, b = *s;
    const jx_dim *t = jx_scene_fresh(&a, apart),
                 *u = jx_scene_fresh(&b, 1 - apart);

    if (!t || !u)
        return false;
    if (s->work->trace) {
        const jx_dim *gap = jx_scene_sub(
            &a, jx_scene_sub(&a, jx_scene_dim(&a, x), jx_scene_dim(&a, y)),
            jx_scene_int(&a, apart));
        jx_note_split(s->work, gap,
                      jx_scene_sub(&a, jx_scene_int(&a, -1), gap));
    }
    jx_note_case(s->work, 0, NULL);
    if (!jx_scene_eliminate(&a, x, jx_scene_add(&a, jx_scene_dim(&a, y), t)) ||
        !jx_scene_settle(&a))
        return false;
    jx_note_case(s->work, 0, NULL);
    if (!jx_scene_eliminate(&b, y, jx_scene_add(&b, jx_scene_dim(&b, x), u)) ||
        !jx_scene_settle(&b))
        return false;
    jx_note_end(s->work);
    return true;
}

/* Of the variables mixed in a negative term, the two of the highest degree. */
static bool split_some_order(jx_scene *s)
{
    const jx_dim *d = jx_scene_shift(s, s->goal);
    const jx_dim_term *worst = d ? jx_negative_term(d) : NULL;
    const jx_scene_variable *x = NULL, *y = NULL;

    for (int i = 0; worst && i < worst->nfactors; i++) {
        const jx_scene_variable *v = jx_scene_find(s, worst->factors[i].atom);
        int degree = v && !v->has_high ? jx_degree_in(d, v->atom) : 0;

        if (!degree)
            continue;
        if (!x || degree > jx_degree_in(d, x->atom)) {
            y = x;
            x = v;
        } else if (!y || degree > jx_degree_in(d, y->atom)) {
            y = v;
        }
    }
    /* x >= y + (low of x - low of y), or else y >= x + (...) + 1 */
    return x && y && split_order(s, x->atom, y->atom, x->low - y->low);
}

/* x == low or x > low, for the variable of lowest degree in the goal's
 * negative part. */
static bool split_value(jx_scene *s)
{
    for (int i = 0; i < s->nvars; i++) {
        const jx_dim_atom *x = s->vars[i].atom;
        jx_int low = s->vars[i].low;
        jx_scene a = *s, b = *s;

        if (!jx_mentions(s->goal, x))
            continue;
        a.value_splits++; /* that side got easier */
        jx_scene_forget(&a, jx_scene_find(&a, x));
        size_t mark = jx_noted(s->work);
        const jx_dim *at =
            jx_scene_sub(&a, jx_scene_int(&a, low), jx_scene_dim(&a, x));
        const jx_dim *above = jx_scene_sub(&a, jx_scene_int(&a, -1), at);
        jx_note_split(s->work, at, above);
        jx_note_case(s->work, 0, NULL);
        jx_scene_note_put(&a, x, jx_scene_int(&a, low));
        if (!jx_scene_replace(&a, x, jx_scene_int(&a, low)) ||
            !jx_scene_settle(&a)) {
            jx_note_back(s->work, mark);
            continue;
        }
        jx_note_case(s->work, 0, NULL);
        if (jx_scene_raise(jx_scene_find(&b, x), low + 1) == JX_IMPOSSIBLE)
            jx_note_fact(s->work, JX_STEP_IMPOSSIBLE, above, JX_HYP_GE);
        else if (!jx_scene_settle(&b))
            return false;
        jx_note_end(s->work);
        return true;
    }
    return false;
}

/* Divides the goal by positive variables that all its terms share. */
static bool strip_goal(jx_scene *s)
{
    for (int j = 0; s->goal && jx_dim_nterms(s->goal) &&
                    j < jx_dim_terms(s->goal)->nfactors;) {
        const jx_dim_atom *x = jx_dim_terms(s->goal)->factors[j++].atom;
        jx_scene_variable *v =
            x->kind == JX_ATOM_VAR ? jx_scene_var(s, x) : NULL;

        if (!v || v->low <= 0 || !jx_divides_all(s->goal, x, true))
            continue;
        jx_hyp had = s->work->trace ? jx_scene_opposite(s) : (jx_hyp){0};
        s->goal =
            jx_dim_divide_exactly(s->work->in, s->goal, jx_scene_dim(s, x));
        if (s->work->trace && s->goal)
            jx_note_derived(s, JX_STEP_DIVIDE, &had, jx_scene_opposite(s).dim,
                            x);
        j = 0;
    }
    return s->goal != NULL;
}

/* Where the goal may have two signs that are not wanted, a case for each. */
static bool note_refutation(const jx_scene *s)
{
    jx_scene a = *s;
    const jx_dim *minus = jx_dim_neg(a.work->in, a.goal), *one;

    if (!s->work->trace || s->wanted == (JX_ZERO | JX_POSITIVE) ||
        s->wanted == (JX_ZERO | JX_NEGATIVE) ||
        s->wanted == (JX_NEGATIVE | JX_POSITIVE))
        return false;
    one = jx_scene_int(&a, 1);
    if (s->wanted == JX_ZERO)
        jx_scene_note_opposites(&a);
    else if (s->wanted == JX_POSITIVE)
        jx_note_split(s->work, jx_scene_sub(&a, minus, one), s->goal);
    else
        jx_note_split(s->work, minus, jx_scene_sub(&a, s->goal, one));
    return true;
}

/* Looks for a contradiction with the opposite of what is wanted, one sign
 * after the other. */
static bool refute(const jx_scene *s)
{
    bool two = note_refutation(s);

    for (int sign = JX_NEGATIVE; sign <= JX_POSITIVE; sign *= 2) {
        jx_scene a = *s;
        const jx_dim *d = s->goal;

        if (s->wanted & sign)
            continue;
        if (two)
            jx_note_case(s->work, 0, NULL);
        if (two && sign == JX_ZERO)
            jx_note_fact(s->work, JX_STEP_BOTH, d, JX_HYP_EQ);
        a.refuting = true;
        a.wanted = 0;
        a.goal = jx_scene_int(&a, 0);
        if (sign == JX_NEGATIVE)
            d = jx_dim_neg(a.work->in, d);
        if (sign != JX_ZERO)
            d = jx_scene_sub(&a, d, jx_scene_int(&a, 1));
        if (!jx_scene_assume(&a, d, sign == JX_ZERO ? JX_HYP_EQ : JX_HYP_GE) ||
            !jx_scene_settle(&a))
            return false;
    }
    if (two)
        jx_note_end(s->work);
    return true;
}

static bool settle_one_variable(jx_scene *s, const jx_scene_variable *v)
{
    jx_hyp h;

    if (!jx_within(jx_scene_signs_of_one(s, s->goal, v, 7 & ~s->wanted),
                   s->wanted))
        return false;
    if (s->work->trace) {
        h = jx_scene_opposite(s);
        jx_note_derived(s, JX_STEP_FAR, &h, NULL, v->atom);
    }
    return true;
}

static void note_values(const jx_scene *s, const jx_scene_variable *v)
{
    jx_step *step = jx_note(s->work, JX_STEP_VALUES);

    if (!step)
        return;
    step->atom = v->atom;
    step->i = v->low;
    step->j = v->high;
}

/* Every value of a bounded variable, each with few steps of its own: for a
 * goal in two variables what is left has one. */
static bool enumerate(const jx_scene *s, const jx_scene_variable *v)
{
    note_values(s, v);
    for (jx_int x = v->low; x <= v->high; x++) {
        jx_scene a = *s;
        long own = 60;

        a.steps = &own;
        jx_note_case(s->work, x, NULL);
        jx_scene_forget(&a, jx_scene_find(&a, v->atom));
        if (!jx_scene_replace(&a, v->atom, jx_scene_int(&a, x)) ||
            !jx_scene_settle(&a) || --*s->steps < 0)
            return false;
    }
    jx_note_end(s->work);
    return true;
}

/* In search of a contradiction: a variable of some hypothesis that has only a
 * few values takes each of them. */
static bool try_few_values(const jx_scene *s)
{
    for (int i = 0; i < s->nvars; i++) {
        const jx_scene_variable *v = &s->vars[i];
        bool used = false;

        for (int j = 0; j < s->nhyps; j++)
            used |= jx_mentions(s->hyps[j].dim, v->atom);
        if (!used || !v->has_high || v->high - v->low >= 2 * JX_SCENE_NARROW)
            continue;
        note_values(s, v);
        for (jx_int x = v->low; x <= v->high; x++) {
            jx_scene a = *s;

            jx_note_case(s->work, x, NULL);
            jx_scene_forget(&a, jx_scene_find(&a, v->atom));
            if (!jx_scene_replace(&a, v->atom, jx_scene_int(&a, x)) ||
                !jx_scene_settle(&a))
                return false;
        }
        jx_note_end(s->work);
        return true;
    }
    return false;
}

/* Goals in one variable, or in two of which one is bounded. */
static bool settle_few_variables(jx_scene *s)
{
    int n;
    const jx_dim_atom *const *vars = jx_dim_vars(s->work->in, s->goal, &n);
    jx_scene_variable *v[2] = {NULL, NULL};

    for (int i = 0; vars && i < n && n <= 2; i++)
        if (!(v[i] = jx_scene_find(s, vars[i])))
            return false;
    if (n == 1)
        return settle_one_variable(s, v[0]);
    for (int i = 0; n == 2 && i < 2; i++)
        if (v[i]->has_high && v[i]->high - v[i]->low < MAX_ENUMERATED)
            return enumerate(s, v[i]);
    return false;
}

static const jx_dim_atom *atom_to_split(const jx_scene *s)
{
    const jx_dim_atom *atom;

    /* Equations first: what they leave out need not be looked at. */
    for (int i = 0; i < s->nhyps; i++)
        if (s->hyps[i].kind == JX_HYP_EQ &&
            (atom = jx_innermost(s->hyps[i].dim)))
            return atom;
    if ((atom = jx_innermost(s->goal)))
        return atom;
    for (int i = 0; i < s->nhyps; i++)
        if (s->hyps[i].kind == JX_HYP_GE &&
            (atom = jx_innermost(s->hyps[i].dim)))
            return atom;
    return NULL;
}

/* True if it proves; else what it noted is taken back. */
static bool kept(const jx_scene *s, size_t mark, bool proved)
{
    if (!proved)
        jx_note_back(s->work, mark);
    return proved;
}

static bool settle(jx_scene *s)
{
    const jx_dim_atom *atom;
    jx_outcome o;
    bool done;
    size_t mark;

    if (!s->goal || ++s->depth > MAX_DEPTH || !jx_scene_spend(s, 1))
        return false;
    o = jx_scene_tidy(s);
    if (o == JX_IMPOSSIBLE)
        return true;
    if (o == JX_TOO_MUCH)
        return false;
    if (s->wanted &&
        jx_within(jx_is_polynomial(s->goal)
                      ? jx_scene_signs(s, s->goal)
                      : jx_signs_of_range(jx_scene_bounds(s, s->goal)),
                  s->wanted)) {
        jx_scene_note_signs(s);
        return true;
    }
    if (s->wanted && !strip_goal(s))
        return false;
    if (s->compare_first && !s->shallow) {
        bool proved = substitute_hyp(s, &done);
        if (done)
            return proved;
    }
    atom = atom_to_split(s);
    if (atom && !s->shallow)
        return split_atom(s, atom);
    mark = jx_noted(s->work);
    if (s->wanted && jx_is_polynomial(s->goal) &&
        kept(s, mark, jx_scene_leaf(s)))
        return true;
    if (kept(s, mark, substitute_hyp(s, &done)))
        return true;
    if (done)
        return false;
    if (kept(s, mark, jx_scene_clash(s)))
        return true;
    if (s->wanted && !s->shallow && jx_is_polynomial(s->goal) &&
        kept(s, mark, settle_few_variables(s)))
        return true;
    if (!s->wanted && !s->shallow && s->nhyps &&
        kept(s, mark, try_few_values(s)))
        return true;
    if (s->wanted && !s->shallow && !s->refuting && kept(s, mark, refute(s)))
        return true;
    if (s->wanted && s->order_splits > 0) {
        s->order_splits--;
        return split_some_order(s);
    }
    if (s->wanted && s->value_splits > 0) {
        s->value_splits--;
        return split_value(s);
    }
    return false;
}

bool jx_scene_settle(jx_scene *s)
{
    size_t mark = jx_noted(s->work);

    return kept(s, mark, settle(s));
}

/* The ways to try, cheapest first. */
static const struct {
    int order_splits, value_splits;
    bool enumerate, compare_first;
} ways[] = {{0, 0, false, true},
            {0, 0, false, false},
            {0, 3, true, false},

            {4, 0, false, false},
            {2, 3, true, true}};

bool jx_elementary(jx_work *work, const jx_hyp *hyps, int nhyps,
                   const jx_dim *dim, int wanted, long steps)
{
    jx_scene s = {.work = work, .goal = dim, .wanted = wanted};

    if (!dim || nhyps > JX_SCENE_HYPS || !jx_scene_register(&s, dim))
        return false;
    for (int i = 0; i < nhyps; i++) {
        s.hyps[s.nhyps++] = hyps[i];
        if (!jx_scene_register(&s, hyps[i].dim))
            return false;
    }
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        jx_scene a = s;
        long own = steps;

        a.steps = &own;
        a.order_splits = ways[i].order_splits;
        a.value_splits = ways[i].value_splits;
        a.enumerate = ways[i].enumerate;
        a.compare_first = ways[i].compare_first;
        if (jx_scene_settle(&a))
            return true;
    }
    return false;
}
