/* quotient.c - scenes with a quotient, split until it is gone. */
#include "prover/scene.h"

enum {
    MAX_RESIDUES = 130, /* of one variable, when it is split */
    FEW_RESIDUES = 16,  /* above: quotient and remainder are tried first */
};

/* How many residues a variable must be split into so that its terms in n
 * become multiples of m. */
static jx_int residues_for(const jx_dim *n, const jx_dim_atom *var, jx_int m)
{
    jx_int g = m;

    for (int i = 0; i < jx_dim_nterms(n); i++) {
        const jx_dim_term *t = &jx_dim_terms(n)[i];

        for (int j = 0; j < t->nfactors; j++)
            if (t->factors[j].atom == var)
                g = jx_int_gcd(g, t->coefficient);
    }
    return m / g;
}

/* var = residues*fresh + i, for each i. */
static bool split_residues(const jx_scene *s, const jx_dim_atom *var,
                           jx_int residues)
{
    jx_scene base = *s;
    jx_scene_variable *v = jx_scene_var(&base, var);

    if (!v)
        return false;
    jx_note_atom(s->work, JX_STEP_RESIDUES, jx_scene_dim(&base, var), residues);
    for (jx_int i = 0; i < residues; i++) {
        jx_scene a = base;
        jx_scene_variable *w = jx_scene_find(&a, var);
        jx_int low, high, r;

        /* residues*x + i >= low: x >= ceil((low - i) / residues) */
        jx_int_floordiv(i - w->low, residues, &low, &r);
        const jx_dim *x = jx_scene_fresh(&a, -low);
        w = jx_scene_find(&a, var);
        bool has_high = w->has_high;
        jx_int_floordiv(w->high - i, residues, &high, &r);
        const jx_dim *value =
            jx_scene_add(&a, jx_scene_mul(&a, jx_scene_int(&a, residues), x),
                         jx_scene_int(&a, i));
        if (!value)
            return false;
        jx_note_case(s->work, i, x);
        if (has_high && high < -low) {
            jx_note(s->work, JX_STEP_EMPTY);
            continue; /* no such value */
        }
        if (has_high) {
            jx_scene_variable *f =
                jx_scene_find(&a, jx_dim_terms(x)[0].factors[0].atom);
            f->has_high = true;
            f->high = high;
        }
        jx_scene_forget(&a, jx_scene_find(&a, var));
        if (!jx_scene_replace(&a, var, value) || !jx_scene_settle(&a))
            return false;
    }
    jx_note_end(s->work);
    return true;
}

/* The variable of n that needs the fewest residues (more than one). */
static const jx_dim_atom *cheapest_residues(const jx_dim *n, jx_int m,
                                            jx_int *count)
{
    const jx_dim_atom *best = NULL;

    for (int i = 0; i < jx_dim_nterms(n); i++)
        for (int j = 0; j < jx_dim_terms(n)[i].nfactors; j++) {
            const jx_dim_atom *a = jx_dim_terms(n)[i].factors[j].atom;
            jx_int k = residues_for(n, a, m);

            if (k > 1 && (!best || k < *count)) {
                best = a;
                *count = k;
            }
        }
    return best;
}

/* In a copy: is d's sign among `signs`, with a share of the steps? */
static bool holds(const jx_scene *s, const jx_dim *d, int signs, long steps)
{
    jx_scene a = *s;
    long own = *s->steps < steps ? *s->steps : steps, had = own;
    size_t mark = jx_noted(s->work);
    bool yes;

    d = jx_work_simplify(s->work, d);
    if (!d)
        return false;
    a.goal = d;
    a.wanted = signs;
    a.steps = &own;
    a.order_splits = a.value_splits = 0;
    a.shallow = true;
    if (s->work->trace)
        jx_note_fact(s->work, JX_STEP_CLAIM,
                     signs & JX_POSITIVE ? d : jx_dim_neg(s->work->in, d),
                     JX_HYP_GE);
    yes = jx_scene_settle(&a);
    jx_note_end(s->work);
    if (!yes)
        jx_note_back(s->work, mark);
    *s->steps -= had - own;
    return yes;
}

static bool is_narrow(jx_dim_range r)
{
    jx_int width;

    return r.has_low && r.has_high &&
           !__builtin_sub_overflow(r.high, r.low, &width) &&
           width < JX_SCENE_NARROW;
}

/* floordiv(n, d) is the number q in this scene: q*d <= n < (q + 1)*d. */
static bool is_quotient(const jx_scene *s, const jx_dim *n, const jx_dim *d,
                        jx_int q)
{
    jx_scene a = *s;
    const jx_dim *r =
        jx_scene_sub(&a, n, jx_scene_mul(&a, jx_scene_int(&a, q), d));
    const jx_dim *t =
        jx_scene_sub(&a, jx_scene_sub(&a, d, r), jx_scene_int(&a, 1));

    return r && t && holds(s, r, JX_ZERO | JX_POSITIVE, 40) &&
           holds(s, t, JX_ZERO | JX_POSITIVE, 40);
}

/* n == d*q + r with 0 <= r < d, d > 0, and q >= 0 (or -1 - q for negative n):
 * by a variable of n where one is linear, else by hypotheses. */
static bool with_remainder(const jx_scene *s, const jx_dim_atom *atom,
                           bool below)
{
    jx_scene a = *s;
    const jx_dim *n = atom->a, *d = atom->b, *left;
    const jx_dim *q = jx_scene_fresh(&a, 0), *r = jx_scene_fresh(&a, 0);

    if (!q || !r)
        return false;
    if (s->work->trace) {
        jx_step *step = jx_note(s->work, JX_STEP_NAME);
        step->atom = atom;
        step->a = q;
        step->b = r;
        step->i = below;
    }
    if (below)
        q = jx_scene_sub(&a, jx_scene_int(&a, -1), q);
    left = jx_scene_sub(&a, jx_scene_add(&a, jx_scene_mul(&a, d, q), r),
                        n); /* == 0 */
    if (!left || !jx_scene_replace(&a, atom, q) ||
        !jx_scene_assume(
            &a, jx_scene_sub(&a, jx_scene_sub(&a, d, r), jx_scene_int(&a, 1)),
            JX_HYP_GE))
        return false;
    for (int i = 0; i < jx_dim_nterms(n); i++) {
        const jx_dim_term *t = &jx_dim_terms(n)[i];
        const jx_dim_atom *x = t->nfactors ? t->factors[0].atom : NULL;
        jx_int k = x ? jx_linear_coefficient(n, x) : 0;

        if ((k != 1 && k != -1) || jx_mentions(d, x))
            continue;
        /* left == -k*x + rest, so x == k*rest */
        left = jx_scene_add(
            &a, left,
            jx_scene_mul(&a, jx_scene_int(&a, k), jx_scene_dim(&a, x)));
        return jx_scene_eliminate(
                   &a, x, jx_scene_mul(&a, jx_scene_int(&a, k), left)) &&
               jx_scene_settle(&a);
    }
    /* r == n - d*q; r itself is gone with its range */
    return jx_scene_assume(&a, left, JX_HYP_EQ) && jx_scene_settle(&a);
}

static bool name_quotient(jx_scene *s, const jx_dim_atom *atom)
{
    int signs = jx_scene_signs(s, atom->a);

    if (!(signs & JX_NEGATIVE))
        return with_remainder(s, atom, false);
    if (!(signs & (JX_ZERO | JX_POSITIVE)))
        return with_remainder(s, atom, true);
    jx_scene a = *s, b = *s;
    const jx_dim *below = jx_scene_sub(&b, jx_scene_int(&b, -1), atom->a);
    if (!jx_scene_assume(&a, atom->a, JX_HYP_GE) ||
        !jx_scene_assume(&b, below, JX_HYP_GE))
        return false;
    jx_note_split(s->work, atom->a, below);
    jx_note_case(s->work, 0, NULL);
    if (!with_remainder(&a, atom, false))
        return false;
    jx_note_case(s->work, 0, NULL);
    if (!with_remainder(&b, atom, true))
        return false;
    jx_note_end(s->work);
    return true;
}

/* The value of a quotient that has few: tries each. */
static bool try_values(const jx_scene *s, const jx_dim_atom *atom, jx_int low,
                       jx_int high)
{
    if (s->work->trace) {
        jx_step *step = jx_note(s->work, JX_STEP_QUOTIENTS);
        step->atom = atom;
        step->i = low;
        step->j = high;
    }
    for (jx_int q = low; q <= high; q++) {
        jx_scene a = *s;
        const jx_dim *r = jx_scene_sub(
            &a, atom->a, jx_scene_mul(&a, jx_scene_int(&a, q), atom->b));

        jx_note_case(s->work, q, NULL);
        if (!jx_scene_assume(&a, r, JX_HYP_GE) ||
            !jx_scene_assume(&a,
                             jx_scene_sub(&a, jx_scene_sub(&a, atom->b, r),
                                          jx_scene_int(&a, 1)),
                             JX_HYP_GE) ||
            !jx_scene_replace(&a, atom, jx_scene_int(&a, q)) ||
            !jx_scene_settle(&a))
            return false;
    }
    jx_note_end(s->work);
    return true;
}

static bool split_by_number(jx_scene *s, const jx_dim_atom *atom, jx_int m)
{
    jx_int count = 0;
    const jx_dim_atom *var = cheapest_residues(atom->a, m, &count);
    jx_dim_range r = jx_scene_bounds(s, jx_dim_of_atom(s->work->in, atom));

    if (!var)
        return false; /* simplification leaves no such quotient */
    if (count <= FEW_RESIDUES)
        return split_residues(s, var, count);
    if (is_narrow(r))
        return try_values(s, atom, r.low, r.high);
    if (!s->enumerate || count > MAX_RESIDUES)
        return name_quotient(s, atom);
    return split_residues(s, var, count);
}

/* The quotient with d < 0 as floordiv(-n, -d). */
static bool turn_quotient(jx_scene *s, const jx_dim_atom *atom)
{
    const jx_dim *n = jx_dim_neg(s->work->in, atom->a);
    const jx_dim *d = jx_dim_neg(s->work->in, atom->b);
    const jx_dim *turned = jx_dim_literal(s->work->in, JX_ATOM_FLOORDIV, n, d);
    const jx_dim_atom *other;
    bool ok;

    if (!turned)
        return false;
    if (s->work->trace) {
        jx_step *step = jx_note(s->work, JX_STEP_RATIO);
        step->atom = atom;
        step->a = jx_scene_int(s, -1);
        step->b = jx_scene_int(s, 0);
        step->c = n;
        step->d = d;
    }
    /* Not simplified, which would turn it back. */
    other = jx_dim_terms(turned)[0].factors[0].atom;
    s->goal = jx_scene_put(s, s->goal, atom, turned);
    ok = s->goal != NULL;
    for (int i = 0; ok && i < s->nhyps; i++)
        ok = (s->hyps[i].dim = jx_scene_put(s, s->hyps[i].dim, atom, turned)) !=
             NULL;
    return ok && name_quotient(s, other);
}

/* Both ways on, with one more hypothesis each. */
static bool split_by_hyp(const jx_scene *s, const jx_dim *one, jx_hyp_kind k1,
                         const jx_dim *other, jx_hyp_kind k2)
{
    jx_scene a = *s, b = *s;

    jx_note_split(s->work, one, other);
    jx_note_case(s->work, 0, NULL);
    if (!jx_scene_assume(&a, one, k1) || !jx_scene_settle(&a))
        return false;
    jx_note_case(s->work, 0, NULL);
    if (!jx_scene_assume(&b, other, k2) || !jx_scene_settle(&b))
        return false;
    jx_note_end(s->work);
    return true;
}

bool jx_scene_split_quotient(jx_scene *s, const jx_dim_atom *atom)
{
    jx_int m;
    int signs;
    jx_dim_range r;

    if (jx_dim_is_wide(atom->b, &m) && !m) {
        jx_note_fact(s->work, JX_STEP_NONZERO, atom->b, JX_HYP_NE);
        jx_note_fact(s->work, JX_STEP_IMPOSSIBLE, atom->b, JX_HYP_NE);
        return true;
    }
    if (jx_dim_is_wide(atom->b, &m))
        return split_by_number(s, atom, m);
    jx_note_fact(s->work, JX_STEP_NONZERO, atom->b, JX_HYP_NE);
    signs = jx_scene_signs(s, atom->b) & ~JX_ZERO; /* by the domain */
    if (!signs) {
        jx_note_fact(s->work, JX_STEP_IMPOSSIBLE, atom->b, JX_HYP_NE);
        return true;
    }
    if (signs == (JX_NEGATIVE | JX_POSITIVE) && s->nhyps)
        signs = holds(s, atom->b, JX_POSITIVE | JX_ZERO, 40)   ? JX_POSITIVE
                : holds(s, atom->b, JX_NEGATIVE | JX_ZERO, 40) ? JX_NEGATIVE
                                                               : signs;
    if (signs == JX_NEGATIVE)
        return turn_quotient(s, atom);
    if (signs != JX_POSITIVE)
        return split_by_hyp(
            s, jx_scene_sub(s, atom->b, jx_scene_int(s, 1)), JX_HYP_GE,
            jx_scene_sub(s, jx_scene_int(s, -1), atom->b), JX_HYP_GE);
    for (jx_int q = -1; q <= 1; q++) {
        size_t mark = jx_noted(s->work);
        if (is_quotient(s, atom->a, atom->b, q)) {
            jx_scene a = *s;
            jx_note_atom(s->work, JX_STEP_IS, jx_dim_of_atom(s->work->in, atom),
                         q);
            return jx_scene_replace(&a, atom, jx_scene_int(&a, q)) &&
                   jx_scene_settle(&a);
        }
        jx_note_back(s->work, mark);
    }
    r = jx_scene_bounds(s, jx_dim_of_atom(s->work->in, atom));
    if (is_narrow(r))
        return try_values(s, atom, r.low, r.high);
    return name_quotient(s, atom);
}
