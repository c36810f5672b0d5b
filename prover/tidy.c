/* tidy.c - what hypotheses say at once: ranges, values, contradictions.
 *
 * Each step makes a hypothesis go away or a range smaller, until nothing
 * changes any more. */
#include "prover/scene.h"

jx_outcome jx_scene_raise(jx_scene_variable *v, jx_int low)
{
    if (low <= v->low)
        return JX_AS_BEFORE;
    v->low = low;
    return v->has_high && v->high < low ? JX_IMPOSSIBLE : JX_CHANGED;
}

static jx_outcome lower_high(jx_scene_variable *v, jx_int high)
{
    if (v->has_high && high >= v->high)
        return JX_AS_BEFORE;
    v->has_high = true;
    v->high = high;
    return high < v->low ? JX_IMPOSSIBLE : JX_CHANGED;
}

/* k*x + c >= 0 (one linear term): into the range of x. */
static jx_outcome absorb_linear(jx_scene *s, int i)
{
    const jx_dim_term *t = jx_dim_terms(s->hyps[i].dim);
    jx_scene_variable *v = jx_scene_var(s, t[0].factors[0].atom);
    jx_int c = jx_dim_nterms(s->hyps[i].dim) == 2 ? t[1].coefficient : 0;
    jx_int k = t[0].coefficient, q, r;

    if (!v || !jx_int_is_tame(c))
        return JX_TOO_MUCH;
    const jx_dim *fact = s->hyps[i].dim;
    jx_outcome o;
    jx_scene_drop(s, i);
    jx_note_fact(s->work, JX_STEP_RANGE, fact, JX_HYP_GE);
    if (k > 0) /* x >= ceil(-c / k) == -floor(c / k) */
        o = jx_int_floordiv(c, k, &q, &r) ? jx_scene_raise(v, -q) : JX_TOO_MUCH;
    else
        o = jx_int_floordiv(c, -k, &q, &r) ? lower_high(v, q) : JX_TOO_MUCH;
    if (o == JX_IMPOSSIBLE)
        jx_note_fact(s->work, JX_STEP_IMPOSSIBLE, fact, JX_HYP_GE);
    return o;
}

static bool is_linear_in_one(const jx_dim *d)
{
    const jx_dim_term *t = jx_dim_terms(d);
    int n = jx_dim_nterms(d);

    return (n == 1 || (n == 2 && !t[1].nfactors)) && t[0].nfactors == 1 &&
           t[0].factors[0].power == 1 &&
           t[0].factors[0].atom->kind == JX_ATOM_VAR;
}

void jx_note_derived(jx_scene *s, jx_step_kind kind, const jx_hyp *from,
                     const jx_dim *to, const jx_dim_atom *by)
{
    jx_step *step = jx_note(s->work, kind);

    if (!step)
        return;
    step->a = from->dim;
    step->fact = from->kind;
    step->b = to;
    step->atom = by;
}

/* Divides a hypothesis by what all its terms but the constant share. */
static jx_outcome divide_by_content(jx_scene *s, jx_hyp *h)
{
    jx_int c, g = jx_work_content(h->dim, &c), q, r;
    const jx_dim *d = h->dim;

    if (g <= 1)
        return JX_AS_BEFORE;
    if (!jx_int_floordiv(c, g, &q, &r))
        return JX_TOO_MUCH;
    if (r && h->kind == JX_HYP_EQ) {
        jx_note_fact(s->work, JX_STEP_IMPOSSIBLE, h->dim, JX_HYP_EQ);
        return JX_IMPOSSIBLE;
    }
    if (r && h->kind == JX_HYP_NE)
        return JX_AS_BEFORE;
    d = jx_scene_sub(s, d, jx_scene_int(s, r));
    d = d ? jx_dim_divide_exactly(s->work->in, d, jx_scene_int(s, g)) : NULL;
    jx_note_derived(s, JX_STEP_CUT, h, d, NULL);
    h->dim = d;
    return h->dim ? JX_CHANGED : JX_TOO_MUCH;
}

/* A variable common to all terms: if it is positive it can be divided out;
 * if only a negative constant lacks it (x*y - k >= 0), it is not 0. */
static jx_outcome use_common_variable(jx_scene *s, jx_hyp *h)
{
    const jx_dim_term *lead = jx_dim_terms(h->dim);
    jx_int c;

    jx_work_content(h->dim, &c);
    for (int j = 0; j < lead->nfactors; j++) {
        const jx_dim_atom *a = lead->factors[j].atom;
        jx_scene_variable *v =
            a->kind == JX_ATOM_VAR ? jx_scene_var(s, a) : NULL;

        if (!v || v->low < 0 || !jx_divides_all(h->dim, a, c == 0))
            continue;
        if (!c && v->low > 0 && h->kind != JX_HYP_NE) {
            const jx_dim *d =
                jx_dim_divide_exactly(s->work->in, h->dim, jx_scene_dim(s, a));
            jx_note_derived(s, JX_STEP_DIVIDE, h, d, a);
            h->dim = d;
            return h->dim ? JX_CHANGED : JX_TOO_MUCH;
        }
        if (!v->low &&
            ((c < 0 && h->kind == JX_HYP_GE) || (c && h->kind == JX_HYP_EQ))) {
            jx_note_derived(s, JX_STEP_RAISE, h, NULL, a);
            if (v->has_high && !v->high)
                jx_note_fact(s->work, JX_STEP_IMPOSSIBLE,
                             jx_dim_neg(s->work->in, jx_scene_dim(s, a)),
                             JX_HYP_GE);
            return jx_scene_raise(v, 1);
        }
    }
    return JX_AS_BEFORE;
}

/* x == e for a variable of coefficient 1 or -1. */
static jx_outcome solve_equation(jx_scene *s, int i)
{
    const jx_dim *d = s->hyps[i].dim;

    for (int n = 0; n < jx_dim_nterms(d); n++) {
        const jx_dim_term *t = &jx_dim_terms(d)[n];
        const jx_dim_atom *a = t->nfactors ? t->factors[0].atom : NULL;
        jx_int k;

        if (!a || a->kind != JX_ATOM_VAR)
            continue;
        k = jx_linear_coefficient(d, a);
        if (k != 1 && k != -1)
            continue;
        const jx_dim *rest = jx_scene_sub(
            s, d, jx_scene_mul(s, jx_scene_int(s, k), jx_scene_dim(s, a)));
        jx_scene_drop(s, i);
        if (k == 1)
            rest = jx_dim_neg(s->work->in, rest);
        return jx_scene_eliminate(s, a, rest) ? JX_CHANGED : JX_TOO_MUCH;
    }
    return JX_AS_BEFORE;
}

/* An equation of higher degree in one variable, without a solution. */
static jx_outcome look_for_root(jx_scene *s, const jx_dim *d)
{
    int n;
    const jx_dim_atom *const *vars = jx_dim_vars(s->work->in, d, &n);
    const jx_scene_variable *v =
        vars && n == 1 ? jx_scene_var(s, vars[0]) : NULL;

    if (!v || !jx_is_polynomial(d) || jx_degree_in(d, v->atom) < 2)
        return JX_AS_BEFORE;
    if (jx_scene_signs_of_one(s, d, v, JX_ZERO) & JX_ZERO)
        return JX_AS_BEFORE;
    jx_note_derived(s, JX_STEP_FAR, &(jx_hyp){d, JX_HYP_EQ}, NULL, v->atom);
    return JX_IMPOSSIBLE;
}

static jx_outcome tidy_hyp(jx_scene *s, int i)
{
    jx_hyp *h = &s->hyps[i];
    jx_dim_range r = jx_scene_bounds(s, h->dim);
    int signs = jx_signs_of_range(r);
    jx_outcome o;

    if (h->kind == JX_HYP_GE   ? !(signs & ~JX_NEGATIVE)
        : h->kind == JX_HYP_EQ ? !(signs & JX_ZERO)
                               : signs == JX_ZERO) {
        jx_note_fact(s->work, JX_STEP_IMPOSSIBLE, h->dim, h->kind);
        return JX_IMPOSSIBLE;
    }
    if (h->kind == JX_HYP_GE   ? !(signs & JX_NEGATIVE)
        : h->kind == JX_HYP_EQ ? signs == JX_ZERO
                               : !(signs & JX_ZERO)) {
        jx_scene_drop(s, i);
        return JX_CHANGED;
    }
    if ((o = divide_by_content(s, h)) || (o = use_common_variable(s, h)))
        return o;
    if (h->kind == JX_HYP_GE && is_linear_in_one(h->dim))
        return (o = absorb_linear(s, i)) == JX_AS_BEFORE ? JX_CHANGED : o;
    if (h->kind != JX_HYP_EQ)
        return JX_AS_BEFORE;
    o = solve_equation(s, i);
    return o == JX_AS_BEFORE ? look_for_root(s, h->dim) : o;
}

/* A variable with one value is that value. */
static jx_outcome pin_variables(jx_scene *s)
{
    for (int i = 0; i < s->nvars; i++) {
        jx_scene_variable *v = &s->vars[i];

        if (v->has_high && v->high == v->low) {
            const jx_dim_atom *atom = v->atom;
            const jx_dim *value = jx_scene_int(s, v->low);
            jx_scene_forget(s, v);
            jx_scene_note_put(s, atom, value);
            return jx_scene_replace(s, atom, value) ? JX_CHANGED : JX_TOO_MUCH;
        }
    }
    return JX_AS_BEFORE;
}

jx_outcome jx_scene_tidy(jx_scene *s)
{
    jx_outcome o = JX_CHANGED;

    for (int round = 0; o == JX_CHANGED && round < 200; round++) {
        if (!jx_scene_spend(s, 1))
            return JX_TOO_MUCH;
        o = pin_variables(s);
        for (int i = 0; o == JX_AS_BEFORE && i < s->nhyps; i++)
            o = tidy_hyp(s, i);
    }
    return o == JX_CHANGED ? JX_AS_BEFORE : o;
}
