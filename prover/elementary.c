/* elementary.c - see elementary.h.
 *
 * A `scene` is one case: what is wanted of which dim, under which hypotheses,
 * with which variables.  Scenes are small values; a split copies the scene,
 * changes the copy and goes on there. */
#include "prover/elementary.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_HYPS = 28,
    MAX_VARS = 20,
    MAX_DEPTH = 48,
    MAX_RESIDUES = 130,  /* of one variable, when it is split */
    FEW_RESIDUES = 16,   /* above: quotient and remainder are tried first */
    MAX_NARROW = 4,      /* values of a quotient or variable that are tried */
    MAX_ROOTS = 1 << 12, /* values of a single variable that are looked at */
    MAX_ENUMERATED = 1 << 10,
};

typedef struct variable {
    const jx_dim_atom *atom;
    jx_int low, high;
    bool has_high;
} variable;

typedef struct scene {
    jx_work *work;
    long *steps;
    const jx_dim *goal;
    int wanted;
    int depth;
    int nhyps, nvars;
    int order_splits, value_splits; /* how many more are allowed */
    bool refuting;       /* the opposite of the goal is a hypothesis */
    bool enumerate;      /* residues even where they are many */
    bool shallow;        /* atoms are not split */
    bool compare_first;  /* hypotheses x >= e are used before atoms are split */
    jx_hyp hyps[MAX_HYPS];
    variable vars[MAX_VARS];
} scene;

static bool settle(scene *s);

static bool spend(scene *s, long steps)
{
    *s->steps -= steps;
    return *s->steps > 0;
}

static bool is_number(const jx_dim *d, jx_int *value)
{
    return jx_dim_is_wide(d, value);
}

static int sign_of(jx_int k)
{
    return k > 0 ? JX_POSITIVE : k < 0 ? JX_NEGATIVE : JX_ZERO;
}

static bool within(int signs, int wanted)
{
    return !(signs & ~wanted);
}

/* -------------------------------------------------------------------------
 * Ranges
 * ---------------------------------------------------------------------- */

static variable *find_var(scene *s, const jx_dim_atom *atom)
{
    for (int i = 0; i < s->nvars; i++)
        if (s->vars[i].atom == atom)
            return &s->vars[i];
    return NULL;
}

static variable *get_var(scene *s, const jx_dim_atom *atom)
{
    variable *v = find_var(s, atom);
    jx_dim_range r;

    if (v || s->nvars == MAX_VARS)
        return v;
    v = &s->vars[s->nvars++];
    r = jx_work_range(s->work, atom);
    *v = (variable){atom, r.low, r.high, r.has_high};
    return v;
}

static void scene_range(void *env, const jx_dim_atom *atom,
                        jx_dim_range *known)
{
    scene *s = env;
    variable *v;

    if (atom->kind != JX_ATOM_VAR)
        return;
    v = find_var(s, atom);
    if (!v)
        *known = jx_work_range(s->work, atom);
    else
        *known = (jx_dim_range){v->low, v->high, true, v->has_high};
}

static int signs_of_range(jx_dim_range r)
{
    int signs = JX_NEGATIVE | JX_ZERO | JX_POSITIVE;

    if (r.has_low && r.low >= 0)
        signs &= ~JX_NEGATIVE;
    if (r.has_low && r.low > 0)
        signs &= ~JX_ZERO;
    if (r.has_high && r.high <= 0)
        signs &= ~JX_POSITIVE;
    if (r.has_high && r.high < 0)
        signs &= ~JX_ZERO;
    return signs;
}

int jx_signs_by_bounds(const jx_work *work, const jx_dim *dim)
{
    return signs_of_range(jx_work_bounds(work, dim));
}

static jx_dim_range bounds(scene *s, const jx_dim *d)
{
    return d ? jx_dim_bounds_by(d, scene_range, s) : (jx_dim_range){0};
}

/* -------------------------------------------------------------------------
 * Looking at dims
 * ---------------------------------------------------------------------- */

static bool is_polynomial(const jx_dim *d)
{
    for (int i = 0; i < jx_dim_nterms(d); i++)
        for (int j = 0; j < jx_dim_terms(d)[i].nfactors; j++)
            if (jx_dim_terms(d)[i].factors[j].atom->kind != JX_ATOM_VAR)
                return false;
    return true;
}

static int size_of(const jx_dim_atom *atom)
{
    return jx_dim_nodes(atom->a) + jx_dim_nodes(atom->b);
}

static const jx_dim_atom *smaller(const jx_dim_atom *a, const jx_dim_atom *b)
{
    return !a || (b && size_of(b) < size_of(a)) ? b : a;
}

/* The smallest atom that is no variable and whose operands are polynomials:
 * naming the small ones makes the larger ones simpler. */
static const jx_dim_atom *innermost(const jx_dim *d)
{
    const jx_dim_atom *best = NULL;

    for (int i = 0; i < jx_dim_nterms(d); i++)
        for (int j = 0; j < jx_dim_terms(d)[i].nfactors; j++) {
            const jx_dim_atom *a = jx_dim_terms(d)[i].factors[j].atom, *below;

            if (a->kind == JX_ATOM_VAR)
                continue;
            below = smaller(innermost(a->a), innermost(a->b));
            best = smaller(best, below ? below : a);
        }
    return best;
}

static bool mentions(const jx_dim *d, const jx_dim_atom *atom)
{
    for (int i = 0; i < jx_dim_nterms(d); i++)
        for (int j = 0; j < jx_dim_terms(d)[i].nfactors; j++) {
            const jx_dim_atom *a = jx_dim_terms(d)[i].factors[j].atom;

            if (a == atom || (a->kind != JX_ATOM_VAR &&
                              (mentions(a->a, atom) || mentions(a->b, atom))))
                return true;
        }
    return false;
}

/* The coefficient of a variable that occurs in one term only, alone there;
 * else 0. */
static jx_int linear_coefficient(const jx_dim *d, const jx_dim_atom *var)
{
    jx_int found = 0;

    for (int i = 0; i < jx_dim_nterms(d); i++) {
        const jx_dim_term *t = &jx_dim_terms(d)[i];

        for (int j = 0; j < t->nfactors; j++) {
            const jx_dim_atom *a = t->factors[j].atom;

            if (a == var && t->nfactors == 1 && t->factors[j].power == 1)
                found = t->coefficient;
            else if (a == var ||
                     (a->kind != JX_ATOM_VAR &&
                      (mentions(a->a, var) || mentions(a->b, var))))
                return 0;
        }
    }
    return found;
}

static int degree_in(const jx_dim *d, const jx_dim_atom *atom)
{
    int degree = 0;

    for (int i = 0; i < jx_dim_nterms(d); i++)
        for (int j = 0; j < jx_dim_terms(d)[i].nfactors; j++) {
            const jx_dim_factor *f = &jx_dim_terms(d)[i].factors[j];
            if (f->atom == atom && f->power > degree)
                degree = f->power;
        }
    return degree;
}

static const jx_dim *of_var(scene *s, const jx_dim_atom *var)
{
    return jx_dim_of_atom(s->work->in, var);
}

static const jx_dim *plus(scene *s, const jx_dim *a, const jx_dim *b)
{
    return jx_dim_add(s->work->in, a, b);
}

static const jx_dim *minus(scene *s, const jx_dim *a, const jx_dim *b)
{
    return jx_dim_sub(s->work->in, a, b);
}

static const jx_dim *times(scene *s, const jx_dim *a, const jx_dim *b)
{
    return jx_dim_mul(s->work->in, a, b);
}

static const jx_dim *number(scene *s, jx_int k)
{
    return jx_dim_wide(s->work->in, k);
}

/* -------------------------------------------------------------------------
 * Changing a scene
 * ---------------------------------------------------------------------- */

static bool add_hyp(scene *s, const jx_dim *d, jx_hyp_kind kind)
{
    if (!d || s->nhyps == MAX_HYPS)
        return d && kind == JX_HYP_NE; /* forgetting weakens: still sound */
    s->hyps[s->nhyps++] = (jx_hyp){d, kind};
    return true;
}

typedef struct putting {
    jx_dims *in;
    const jx_dim_atom *atom;
    const jx_dim *value;
} putting;

static bool put_atom(void *env, const jx_dim_atom *a, const jx_dim **to)
{
    const putting *p = env;

    if (a == p->atom)
        *to = p->value;
    if (a == p->atom || a->kind == JX_ATOM_VAR ||
        !(mentions(a->a, p->atom) || mentions(a->b, p->atom)))
        return true;
    *to = jx_dim_literal(p->in, a->kind,
                         jx_dim_map(p->in, a->a, put_atom, env),
                         jx_dim_map(p->in, a->b, put_atom, env));
    return *to != NULL;
}

/* Puts a dim for an atom everywhere; nothing is simplified. */
static const jx_dim *put_dim(scene *s, const jx_dim *d,
                             const jx_dim_atom *atom, const jx_dim *value)
{
    putting p = {s->work->in, atom, value};

    return value ? jx_dim_map(s->work->in, d, put_atom, &p) : NULL;
}

static const jx_dim *put(scene *s, const jx_dim *d, const jx_dim_atom *atom,
                         const jx_dim *value)
{
    return jx_work_simplify(s->work, put_dim(s, d, atom, value));
}

/* False when something became too large. */
static bool replace(scene *s, const jx_dim_atom *atom, const jx_dim *value)
{
    long cost = 1 + s->nhyps + jx_dim_nterms(s->goal) / 8;
    bool ok;

    for (int i = 0; i < s->nhyps; i++)
        cost += jx_dim_nterms(s->hyps[i].dim) / 8;
    ok = value && spend(s, cost);
    s->goal = ok ? put(s, s->goal, atom, value) : NULL;
    ok = ok && s->goal;
    for (int i = 0; ok && i < s->nhyps; i++)
        ok = (s->hyps[i].dim = put(s, s->hyps[i].dim, atom, value)) != NULL;
    return ok;
}

static void forget_var(scene *s, variable *v)
{
    *v = s->vars[--s->nvars];
}

/* Replaces a variable and turns its range into hypotheses. */
static bool eliminate(scene *s, const jx_dim_atom *var, const jx_dim *value)
{
    variable *v = get_var(s, var), had;
    bool ok;

    if (!v || !value)
        return false;
    had = *v;
    forget_var(s, v);
    ok = replace(s, var, value) &&
         add_hyp(s, minus(s, value, number(s, had.low)), JX_HYP_GE);
    if (ok && had.has_high)
        ok = add_hyp(s, minus(s, number(s, had.high), value), JX_HYP_GE);
    return ok;
}

static const jx_dim *fresh(scene *s, jx_int low)
{
    const jx_dim_atom *var =
        jx_work_fresh(s->work, (jx_dim_range){.low = low, .has_low = true});

    return var && get_var(s, var) ? of_var(s, var) : NULL;
}

/* -------------------------------------------------------------------------
 * Hypotheses
 * ---------------------------------------------------------------------- */

typedef enum outcome {
    AS_BEFORE,
    CHANGED,
    IMPOSSIBLE, /* the case is empty: anything holds */
    TOO_MUCH,
} outcome;

static outcome raise_low(variable *v, jx_int low)
{
    if (low <= v->low)
        return AS_BEFORE;
    v->low = low;
    return v->has_high && v->high < low ? IMPOSSIBLE : CHANGED;
}

static outcome lower_high(variable *v, jx_int high)
{
    if (v->has_high && high >= v->high)
        return AS_BEFORE;
    v->has_high = true;
    v->high = high;
    return high < v->low ? IMPOSSIBLE : CHANGED;
}

static void drop_hyp(scene *s, int i)
{
    memmove(&s->hyps[i], &s->hyps[i + 1],
            (size_t)(--s->nhyps - i) * sizeof *s->hyps);
}

/* k*x + c >= 0 (one linear term): into the range of x. */
static outcome absorb_linear(scene *s, int i)
{
    const jx_dim_term *t = jx_dim_terms(s->hyps[i].dim);
    variable *v = get_var(s, t[0].factors[0].atom);
    jx_int c = jx_dim_nterms(s->hyps[i].dim) == 2 ? t[1].coefficient : 0;
    jx_int k = t[0].coefficient, q, r;

    if (!v || !jx_int_is_tame(c))
        return TOO_MUCH;
    drop_hyp(s, i);
    if (k > 0) /* x >= ceil(-c / k) == -floor(c / k) */
        return jx_int_floordiv(c, k, &q, &r) ? raise_low(v, -q) : TOO_MUCH;
    return jx_int_floordiv(c, -k, &q, &r) ? lower_high(v, q) : TOO_MUCH;
}

static bool is_linear_in_one(const jx_dim *d)
{
    const jx_dim_term *t = jx_dim_terms(d);
    int n = jx_dim_nterms(d);

    return (n == 1 || (n == 2 && !t[1].nfactors)) && t[0].nfactors == 1 &&
           t[0].factors[0].power == 1 &&
           t[0].factors[0].atom->kind == JX_ATOM_VAR;
}

/* Divides a hypothesis by what all its terms but the constant share. */
static outcome divide_by_content(scene *s, jx_hyp *h)
{
    jx_int c, g = jx_work_content(h->dim, &c), q, r;
    const jx_dim *d = h->dim;

    if (g <= 1)
        return AS_BEFORE;
    if (!jx_int_floordiv(c, g, &q, &r))
        return TOO_MUCH;
    if (r && h->kind == JX_HYP_EQ)
        return IMPOSSIBLE;
    if (r && h->kind == JX_HYP_NE)
        return AS_BEFORE;
    d = minus(s, d, number(s, r));
    h->dim = d ? jx_dim_divide_exactly(s->work->in, d, number(s, g)) : NULL;
    return h->dim ? CHANGED : TOO_MUCH;
}

static bool divides_all(const jx_dim *d, const jx_dim_atom *a, bool constant)
{
    for (int i = 0; i < jx_dim_nterms(d); i++) {
        const jx_dim_term *t = &jx_dim_terms(d)[i];
        bool found = !t->nfactors && !constant;

        for (int j = 0; j < t->nfactors; j++)
            found |= t->factors[j].atom == a;
        if (!found)
            return false;
    }
    return true;
}

/* A variable common to all terms: if it is positive it can be divided out;
 * if only a negative constant lacks it (x*y - k >= 0), it is not 0. */
static outcome use_common_variable(scene *s, jx_hyp *h)
{
    const jx_dim_term *lead = jx_dim_terms(h->dim);
    jx_int c;

    jx_work_content(h->dim, &c);
    for (int j = 0; j < lead->nfactors; j++) {
        const jx_dim_atom *a = lead->factors[j].atom;
        variable *v = a->kind == JX_ATOM_VAR ? get_var(s, a) : NULL;

        if (!v || v->low < 0 || !divides_all(h->dim, a, c == 0))
            continue;
        if (!c && v->low > 0 && h->kind != JX_HYP_NE) {
            h->dim = jx_dim_divide_exactly(s->work->in, h->dim, of_var(s, a));
            return h->dim ? CHANGED : TOO_MUCH;
        }
        if (!v->low && ((c < 0 && h->kind == JX_HYP_GE) ||
                        (c && h->kind == JX_HYP_EQ)))
            return raise_low(v, 1);
    }
    return AS_BEFORE;
}

/* x == e for a variable of coefficient 1 or -1. */
static outcome solve_equation(scene *s, int i)
{
    const jx_dim *d = s->hyps[i].dim;

    for (int n = 0; n < jx_dim_nterms(d); n++) {
        const jx_dim_term *t = &jx_dim_terms(d)[n];
        const jx_dim_atom *a = t->nfactors ? t->factors[0].atom : NULL;
        jx_int k;

        if (!a || a->kind != JX_ATOM_VAR)
            continue;
        k = linear_coefficient(d, a);
        if (k != 1 && k != -1)
            continue;
        const jx_dim *rest = minus(s, d, times(s, number(s, k), of_var(s, a)));
        drop_hyp(s, i);
        if (k == 1)
            rest = jx_dim_neg(s->work->in, rest);
        return eliminate(s, a, rest) ? CHANGED : TOO_MUCH;
    }
    return AS_BEFORE;
}

static int signs_of_one_variable(scene *s, const jx_dim *d, const variable *v,
                                 int enough);

/* An equation of higher degree in one variable, without a solution. */
static outcome look_for_root(scene *s, const jx_dim *d)
{
    int n;
    const jx_dim_atom *const *vars = jx_dim_vars(s->work->in, d, &n);
    const variable *v = vars && n == 1 ? get_var(s, vars[0]) : NULL;

    if (!v || !is_polynomial(d) || degree_in(d, v->atom) < 2)
        return AS_BEFORE;
    return signs_of_one_variable(s, d, v, JX_ZERO) & JX_ZERO ? AS_BEFORE
                                                             : IMPOSSIBLE;
}

static outcome tidy_hyp(scene *s, int i)
{
    jx_hyp *h = &s->hyps[i];
    jx_dim_range r = bounds(s, h->dim);
    int signs = signs_of_range(r);
    outcome o;

    if (h->kind == JX_HYP_GE ? !(signs & ~JX_NEGATIVE)
        : h->kind == JX_HYP_EQ ? !(signs & JX_ZERO)
                               : signs == JX_ZERO)
        return IMPOSSIBLE;
    if (h->kind == JX_HYP_GE ? !(signs & JX_NEGATIVE)
        : h->kind == JX_HYP_EQ ? signs == JX_ZERO
                               : !(signs & JX_ZERO)) {
        drop_hyp(s, i);
        return CHANGED;
    }
    if ((o = divide_by_content(s, h)) || (o = use_common_variable(s, h)))
        return o;
    if (h->kind == JX_HYP_GE && is_linear_in_one(h->dim))
        return (o = absorb_linear(s, i)) == AS_BEFORE ? CHANGED : o;
    if (h->kind != JX_HYP_EQ)
        return AS_BEFORE;
    o = solve_equation(s, i);
    return o == AS_BEFORE ? look_for_root(s, h->dim) : o;
}

/* A variable with one value is that value. */
static outcome pin_variables(scene *s)
{
    for (int i = 0; i < s->nvars; i++) {
        variable *v = &s->vars[i];

        if (v->has_high && v->high == v->low) {
            const jx_dim_atom *atom = v->atom;
            const jx_dim *value = number(s, v->low);
            forget_var(s, v);
            return replace(s, atom, value) ? CHANGED : TOO_MUCH;
        }
    }
    return AS_BEFORE;
}

static outcome tidy(scene *s)
{
    outcome o = CHANGED;

    for (int round = 0; o == CHANGED && round < 200; round++) {
        if (!spend(s, 1))
            return TOO_MUCH;
        o = pin_variables(s);
        for (int i = 0; o == AS_BEFORE && i < s->nhyps; i++)
            o = tidy_hyp(s, i);
    }
    return o == CHANGED ? AS_BEFORE : o;
}

/* -------------------------------------------------------------------------
 * Polynomials
 * ---------------------------------------------------------------------- */

/* Puts low + x for every variable x, so that all start at 0. */
static const jx_dim *shift_to_zero(scene *s, const jx_dim *d)
{
    for (int i = 0; i < s->nvars && d; i++) {
        const variable *v = &s->vars[i];

        if (v->low && mentions(d, v->atom))
            d = jx_dim_substitute(s->work->in, d, v->atom,
                                  plus(s, of_var(s, v->atom),
                                       number(s, v->low)));
    }
    return d;
}

/* The signs of a polynomial whose variables start at 0, by its coefficients. */
static int signs_by_coefficients(const jx_dim *d)
{
    jx_int c, g = jx_work_content(d, &c);
    bool up = false, down = false;
    int signs = sign_of(c);

    for (int i = 0; i < jx_dim_nterms(d); i++)
        if (jx_dim_terms(d)[i].nfactors) {
            up |= jx_dim_terms(d)[i].coefficient > 0;
            down |= jx_dim_terms(d)[i].coefficient < 0;
        }
    if (up)
        signs |= c >= 0 ? JX_POSITIVE
                        : JX_NEGATIVE | JX_ZERO | JX_POSITIVE;
    if (down)
        signs |= c <= 0 ? JX_NEGATIVE
                        : JX_NEGATIVE | JX_ZERO | JX_POSITIVE;
    if (up && down)
        signs |= JX_ZERO;
    /* No sum of multiples of g gives -c: never 0. */
    if (g > 1 && c % g)
        signs &= ~JX_ZERO;
    return signs;
}

/* As above; where the polynomial is linear in a bounded variable both ends
 * together say what happens between them. */
static int signs_at_ends(scene *s, const jx_dim *d, int ends)
{
    for (int i = 0; i < s->nvars && ends; i++) {
        const variable *v = &s->vars[i];
        int low, high;

        if (!v->has_high || degree_in(d, v->atom) != 1)
            continue;
        const jx_dim *at_low = jx_dim_substitute(s->work->in, d, v->atom,
                                                 number(s, v->low));
        const jx_dim *at_high = jx_dim_substitute(s->work->in, d, v->atom,
                                                  number(s, v->high));
        if (!at_low || !at_high || !spend(s, 1))
            return 7;
        low = signs_at_ends(s, at_low, ends - 1);
        high = low == 7 ? 7 : signs_at_ends(s, at_high, ends - 1);
        if ((low | high) & JX_POSITIVE && (low | high) & JX_NEGATIVE)
            return 7;
        return low | high;
    }
    d = shift_to_zero(s, d);
    return d ? signs_by_coefficients(d) : 7;
}

static int signs_of_polynomial(scene *s, const jx_dim *d)
{
    int by_range = signs_of_range(bounds(s, d)), by_ends;

    if (by_range == JX_ZERO || by_range == JX_POSITIVE ||
        by_range == JX_NEGATIVE)
        return by_range;
    by_ends = signs_at_ends(s, d, 4);
    if (by_ends == 7) { /* divisibility needs no ends */
        const jx_dim *shifted = shift_to_zero(s, d);
        by_ends = shifted ? signs_by_coefficients(shifted) : 7;
    }
    return by_range & by_ends;
}

/* The value of a polynomial modulo m, where the residues of the variables
 * are given. */
static jx_int value_modulo(const jx_dim *d, jx_int m,
                           const jx_dim_atom *const *vars,
                           const jx_int *residues, int n)
{
    jx_int sum = 0;

    for (int i = 0; i < jx_dim_nterms(d); i++) {
        const jx_dim_term *t = &jx_dim_terms(d)[i];
        jx_int product = t->coefficient % m;

        for (int j = 0; j < t->nfactors && product; j++)
            for (int v = 0; v < n; v++)
                if (t->factors[j].atom == vars[v])
                    for (int p = 0; p < t->factors[j].power; p++)
                        product = product * residues[v] % m;
        sum = (sum + product) % m;
    }
    return sum;
}

/* Whether d is 0 modulo m for some residues; `true`, too, if too many. */
static bool may_be_zero_modulo(scene *s, const jx_dim *d, jx_int m)
{
    int n;
    const jx_dim_atom *const *vars = jx_dim_vars(s->work->in, d, &n);
    jx_int residues[4] = {0}, count = 1;

    for (int i = 0; i < n; i++)
        count *= m;
    if (!vars || n > 4 || count > 700)
        return true;
    for (jx_int k = 0; k < count; k++) {
        jx_int rest = k;

        for (int i = 0; i < n; i++, rest /= m)
            residues[i] = rest % m;
        if (!value_modulo(d, m, vars, residues, n))
            return true;
    }
    return false;
}

/* Never 0, as it is not 0 modulo some small number. */
static bool nonzero_by_residues(scene *s, const jx_dim *d)
{
    static const jx_int moduli[] = {2, 3, 4, 5, 7, 8, 9, 16};

    for (size_t i = 0; i < sizeof moduli / sizeof *moduli; i++)
        if (spend(s, 2) && !may_be_zero_modulo(s, d, moduli[i]))
            return true;
    return false;
}

/* The largest negative term of d. */
static const jx_dim_term *negative_term(const jx_dim *d)
{
    for (int i = 0; i < jx_dim_nterms(d); i++)
        if (jx_dim_terms(d)[i].coefficient < 0)
            return &jx_dim_terms(d)[i];
    return NULL;
}

/* term / part as a dim with coefficient 1, or NULL. */
static const jx_dim *cofactor(scene *s, const jx_dim_term *term,
                              const jx_dim_term *part)
{
    const jx_dim *u = number(s, 1);
    int matched = 0;

    for (int i = 0; i < term->nfactors; i++) {
        int power = term->factors[i].power;

        for (int j = 0; j < part->nfactors; j++)
            if (part->factors[j].atom == term->factors[i].atom) {
                power -= part->factors[j].power;
                matched++;
            }
        if (power < 0)
            return NULL;
        u = times(s, u, jx_dim_pow(s->work->in,
                                   of_var(s, term->factors[i].atom), power));
    }
    return matched == part->nfactors ? u : NULL;
}

static bool by_hypotheses(scene *s, const jx_dim *d, const jx_hyp *hyps, int n,
                          int depth);

/* Takes the negative term `worst` off d >= 0 with a multiple of h >= 0. */
static bool cancel_with(scene *s, const jx_dim *d, const jx_dim_term *worst,
                        const jx_dim *h, const jx_hyp *hyps, int n, int depth)
{
    for (int i = 0; h && i < jx_dim_nterms(h); i++) {
        const jx_dim_term *t = &jx_dim_terms(h)[i];
        const jx_dim *u;
        jx_int g, e, c;

        if (t->coefficient >= 0 || !(u = cofactor(s, worst, t)))
            continue;
        g = jx_int_gcd(t->coefficient, worst->coefficient);
        e = -t->coefficient / g;
        c = -worst->coefficient / g;
        const jx_dim *next =
            minus(s, times(s, number(s, e), d),
                  times(s, times(s, number(s, c), u), h));
        if (next && by_hypotheses(s, next, hyps, n, depth - 1))
            return true;
    }
    return false;
}

/* d >= 0, as a sum of hypotheses times products, plus what has no negative
 * coefficient.  All variables start at 0. */
static bool by_hypotheses(scene *s, const jx_dim *d, const jx_hyp *hyps, int n,
                          int depth)
{
    const jx_dim_term *worst = d ? negative_term(d) : NULL;

    if (!d || !worst)
        return d != NULL;
    if (!depth || !spend(s, 1 + (n + jx_dim_nterms(d)) / 8))
        return false;
    for (int i = 0; i < n; i++) {
        if (hyps[i].kind == JX_HYP_NE)
            continue;
        if (cancel_with(s, d, worst, hyps[i].dim, hyps, n, depth))
            return true;
        if (hyps[i].kind == JX_HYP_EQ &&
            cancel_with(s, d, worst, jx_dim_neg(s->work->in, hyps[i].dim),
                        hyps, n, depth))
            return true;
    }
    return false;
}

/* The polynomial hypotheses, shifted, and those that say x <= high. */
static int shifted_hyps(scene *s, jx_hyp *to, int room)
{
    int n = 0;

    for (int i = 0; i < s->nhyps && n < room; i++) {
        const jx_dim *d = s->hyps[i].dim;
        if (is_polynomial(d) && (d = shift_to_zero(s, d)))
            to[n++] = (jx_hyp){d, s->hyps[i].kind};
    }
    for (int i = 0; i < s->nvars && n < room; i++) {
        const variable *v = &s->vars[i];
        const jx_dim *d = v->has_high ? minus(s, number(s, v->high - v->low),
                                              of_var(s, v->atom))
                                      : NULL;
        if (d)
            to[n++] = (jx_hyp){d, JX_HYP_GE};
    }
    return n;
}

static bool leaf_sign(scene *s, const jx_dim *d, const jx_hyp *hyps, int n,
                      int sign)
{
    const jx_dim *p = sign & JX_NEGATIVE ? jx_dim_neg(s->work->in, d) : d;

    if (!(sign & JX_ZERO)) /* over the integers p > 0 is p - 1 >= 0 */
        p = minus(s, p, number(s, 1));
    return p && by_hypotheses(s, p, hyps, n, 5);
}

/* Whether the polynomial goal has a wanted sign, by hypotheses. */
static bool leaf(scene *s)
{
    jx_hyp hyps[MAX_HYPS + MAX_VARS];
    const jx_dim *d = shift_to_zero(s, s->goal);
    int n = shifted_hyps(s, hyps, MAX_HYPS + MAX_VARS);
    int w = s->wanted;

    if (!d)
        return false;
    if (w == (JX_NEGATIVE | JX_POSITIVE) && nonzero_by_residues(s, d))
        return true;
    if (!n)
        return false;
    if (w == JX_ZERO)
        return leaf_sign(s, d, hyps, n, JX_ZERO | JX_POSITIVE) &&
               leaf_sign(s, d, hyps, n, JX_ZERO | JX_NEGATIVE);
    return (w & JX_POSITIVE && leaf_sign(s, d, hyps, n, w & ~JX_NEGATIVE)) ||
           (w & JX_NEGATIVE && leaf_sign(s, d, hyps, n, w & ~JX_POSITIVE));
}

/* The hypotheses alone are impossible: -1 >= 0 follows from them. */
static bool hypotheses_clash(scene *s)
{
    jx_hyp hyps[MAX_HYPS + MAX_VARS];
    int n = shifted_hyps(s, hyps, MAX_HYPS + MAX_VARS);

    return n && by_hypotheses(s, number(s, -1), hyps, n, 5);
}

/* -------------------------------------------------------------------------
 * Splitting
 * ---------------------------------------------------------------------- */

/* Both ways on, with one more hypothesis each. */
static bool split_by_hyp(const scene *s, const jx_dim *one, jx_hyp_kind k1,
                         const jx_dim *other, jx_hyp_kind k2)
{
    scene a = *s, b = *s;

    return add_hyp(&a, one, k1) && settle(&a) && add_hyp(&b, other, k2) &&
           settle(&b);
}

/* max(d, 0): d where d >= 0, else 0. */
static bool split_maximum(const scene *s, const jx_dim_atom *atom)
{
    scene a = *s, b = *s;
    const jx_dim *d = atom->a;
    int signs = signs_of_polynomial(&a, d);

    if (!(signs & JX_NEGATIVE))
        return replace(&a, atom, d) && settle(&a);
    if (!(signs & JX_POSITIVE))
        return replace(&a, atom, number(&a, 0)) && settle(&a);
    return replace(&a, atom, d) && add_hyp(&a, d, JX_HYP_GE) && settle(&a) &&
           replace(&b, atom, number(&b, 0)) &&
           add_hyp(&b, jx_dim_neg(b.work->in, d), JX_HYP_GE) && settle(&b);
}

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
static bool split_residues(const scene *s, const jx_dim_atom *var,
                           jx_int residues)
{
    scene base = *s;
    variable *v = get_var(&base, var);

    if (!v)
        return false;
    for (jx_int i = 0; i < residues; i++) {
        scene a = base;
        variable *w = find_var(&a, var);
        jx_int low, high, r;

        /* residues*x + i >= low: x >= ceil((low - i) / residues) */
        jx_int_floordiv(i - w->low, residues, &low, &r);
        const jx_dim *x = fresh(&a, -low);
        w = find_var(&a, var);
        bool has_high = w->has_high;
        jx_int_floordiv(w->high - i, residues, &high, &r);
        const jx_dim *value =
            plus(&a, times(&a, number(&a, residues), x), number(&a, i));
        if (!value)
            return false;
        if (has_high && high < -low)
            continue; /* no such value */
        if (has_high) {
            variable *f =
                find_var(&a, jx_dim_terms(x)[0].factors[0].atom);
            f->has_high = true;
            f->high = high;
        }
        forget_var(&a, find_var(&a, var));
        if (!replace(&a, var, value) || !settle(&a))
            return false;
    }
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
static bool holds(const scene *s, const jx_dim *d, int signs, long steps)
{
    scene a = *s;
    long own = *s->steps < steps ? *s->steps : steps, had = own;
    bool yes;

    d = jx_work_simplify(s->work, d);
    if (!d)
        return false;
    a.goal = d;
    a.wanted = signs;
    a.steps = &own;
    a.order_splits = a.value_splits = 0;
    a.shallow = true;
    yes = settle(&a);
    *s->steps -= had - own;
    return yes;
}

static bool is_narrow(jx_dim_range r)
{
    jx_int width;

    return r.has_low && r.has_high &&
           !__builtin_sub_overflow(r.high, r.low, &width) &&
           width < MAX_NARROW;
}

/* floordiv(n, d) is the number q in this scene: q*d <= n < (q + 1)*d. */
static bool is_quotient(const scene *s, const jx_dim *n, const jx_dim *d,
                        jx_int q)
{
    scene a = *s;
    const jx_dim *r = minus(&a, n, times(&a, number(&a, q), d));
    const jx_dim *t = minus(&a, minus(&a, d, r), number(&a, 1));

    return r && t && holds(s, r, JX_ZERO | JX_POSITIVE, 40) &&
           holds(s, t, JX_ZERO | JX_POSITIVE, 40);
}

/* n == d*q + r with 0 <= r < d, d > 0, and q >= 0 (or -1 - q for negative n):
 * by a variable of n where one is linear, else by hypotheses. */
static bool with_remainder(const scene *s, const jx_dim_atom *atom, bool below)
{
    scene a = *s;
    const jx_dim *n = atom->a, *d = atom->b, *left;
    const jx_dim *q = fresh(&a, 0), *r = fresh(&a, 0);

    if (!q || !r)
        return false;
    if (below)
        q = minus(&a, number(&a, -1), q);
    left = minus(&a, plus(&a, times(&a, d, q), r), n); /* == 0 */
    if (!left || !replace(&a, atom, q) ||
        !add_hyp(&a, minus(&a, minus(&a, d, r), number(&a, 1)), JX_HYP_GE))
        return false;
    for (int i = 0; i < jx_dim_nterms(n); i++) {
        const jx_dim_term *t = &jx_dim_terms(n)[i];
        const jx_dim_atom *x = t->nfactors ? t->factors[0].atom : NULL;
        jx_int k = x ? linear_coefficient(n, x) : 0;

        if ((k != 1 && k != -1) || mentions(d, x))
            continue;
        /* left == -k*x + rest, so x == k*rest */
        left = plus(&a, left, times(&a, number(&a, k), of_var(&a, x)));
        return eliminate(&a, x, times(&a, number(&a, k), left)) && settle(&a);
    }
    /* r == n - d*q; r itself is gone with its range */
    return add_hyp(&a, left, JX_HYP_EQ) && settle(&a);
}

static bool name_quotient(scene *s, const jx_dim_atom *atom)
{
    int signs = signs_of_polynomial(s, atom->a);

    if (!(signs & JX_NEGATIVE))
        return with_remainder(s, atom, false);
    if (!(signs & (JX_ZERO | JX_POSITIVE)))
        return with_remainder(s, atom, true);
    scene a = *s, b = *s;
    return add_hyp(&a, atom->a, JX_HYP_GE) &&
           with_remainder(&a, atom, false) &&
           add_hyp(&b, minus(&b, number(&b, -1), atom->a), JX_HYP_GE) &&
           with_remainder(&b, atom, true);
}

/* The value of a quotient that has few: tries each. */
static bool try_values(const scene *s, const jx_dim_atom *atom, jx_int low,
                       jx_int high)
{
    for (jx_int q = low; q <= high; q++) {
        scene a = *s;
        const jx_dim *r =
            minus(&a, atom->a, times(&a, number(&a, q), atom->b));

        if (!add_hyp(&a, r, JX_HYP_GE) ||
            !add_hyp(&a, minus(&a, minus(&a, atom->b, r), number(&a, 1)),
                     JX_HYP_GE) ||
            !replace(&a, atom, number(&a, q)) || !settle(&a))
            return false;
    }
    return true;
}

static bool split_by_number(scene *s, const jx_dim_atom *atom, jx_int m)
{
    jx_int count = 0;
    const jx_dim_atom *var = cheapest_residues(atom->a, m, &count);
    jx_dim_range r = bounds(s, jx_dim_of_atom(s->work->in, atom));

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
static bool turn_quotient(scene *s, const jx_dim_atom *atom)
{
    const jx_dim *n = jx_dim_neg(s->work->in, atom->a);
    const jx_dim *d = jx_dim_neg(s->work->in, atom->b);
    const jx_dim *turned = jx_dim_literal(s->work->in, JX_ATOM_FLOORDIV, n, d);
    const jx_dim_atom *other;
    bool ok;

    if (!turned)
        return false;
    /* Not simplified, which would turn it back. */
    other = jx_dim_terms(turned)[0].factors[0].atom;
    s->goal = put_dim(s, s->goal, atom, turned);
    ok = s->goal != NULL;
    for (int i = 0; ok && i < s->nhyps; i++)
        ok = (s->hyps[i].dim = put_dim(s, s->hyps[i].dim, atom, turned)) !=
             NULL;
    return ok && name_quotient(s, other);
}

static bool split_quotient(scene *s, const jx_dim_atom *atom)
{
    jx_int m;
    int signs;
    jx_dim_range r;

    if (is_number(atom->b, &m))
        return !m || split_by_number(s, atom, m);
    signs = signs_of_polynomial(s, atom->b) & ~JX_ZERO; /* by the domain */
    if (!signs)
        return true;
    if (signs == (JX_NEGATIVE | JX_POSITIVE) && s->nhyps)
        signs = holds(s, atom->b, JX_POSITIVE | JX_ZERO, 40) ? JX_POSITIVE
                : holds(s, atom->b, JX_NEGATIVE | JX_ZERO, 40)
                    ? JX_NEGATIVE
                    : signs;
    if (signs == JX_NEGATIVE)
        return turn_quotient(s, atom);
    if (signs != JX_POSITIVE)
        return split_by_hyp(s, minus(s, atom->b, number(s, 1)), JX_HYP_GE,
                            minus(s, number(s, -1), atom->b), JX_HYP_GE);
    for (jx_int q = -1; q <= 1; q++)
        if (is_quotient(s, atom->a, atom->b, q)) {
            scene a = *s;
            return replace(&a, atom, number(&a, q)) && settle(&a);
        }
    r = bounds(s, jx_dim_of_atom(s->work->in, atom));
    if (is_narrow(r))
        return try_values(s, atom, r.low, r.high);
    return name_quotient(s, atom);
}

static bool split_atom(scene *s, const jx_dim_atom *atom)
{
    return atom->kind == JX_ATOM_MAX ? split_maximum(s, atom)
                                     : split_quotient(s, atom);
}

/* x >= e (coefficient 1, e's own lower end not below x's): x = e + t. */
static bool substitute_hyp(scene *s, bool *done)
{
    *done = false;
    for (int i = 0; i < s->nhyps; i++) {
        const jx_dim *d = s->hyps[i].dim;

        if (s->hyps[i].kind != JX_HYP_GE || !is_polynomial(d))
            continue;
        for (int n = 0; n < jx_dim_nterms(d); n++) {
            const jx_dim_term *t = &jx_dim_terms(d)[n];
            const jx_dim_atom *x = t->nfactors ? t->factors[0].atom : NULL;
            variable *v;

            if (!x || linear_coefficient(d, x) != 1 || !(v = get_var(s, x)))
                continue;
            const jx_dim *e = minus(s, of_var(s, x), d);
            const jx_dim *gap = minus(s, e, number(s, v->low));
            if (!gap || signs_of_polynomial(s, gap) & JX_NEGATIVE)
                continue;
            scene a = *s;
            const jx_dim *rest = fresh(&a, 0);
            *done = true;
            drop_hyp(&a, i);
            return eliminate(&a, x, plus(&a, e, rest)) && settle(&a);
        }
    }
    return false;
}

/* Above their lows, x < y or x >= y; a = b + t then makes up for a term in
 * which they are mixed. */
static bool split_order(scene *s, const jx_dim_atom *x, const jx_dim_atom *y,
                        jx_int apart)
{
    scene a = *s, b = *s;
    const jx_dim *t = fresh(&a, apart), *u = fresh(&b, 1 - apart);

    if (!t || !u)
        return false;
    return eliminate(&a, x, plus(&a, of_var(&a, y), t)) && settle(&a) &&
           eliminate(&b, y, plus(&b, of_var(&b, x), u)) && settle(&b);
}

/* Of the variables mixed in a negative term, the two of the highest degree. */
static bool split_some_order(scene *s)
{
    const jx_dim *d = shift_to_zero(s, s->goal);
    const jx_dim_term *worst = d ? negative_term(d) : NULL;
    const variable *x = NULL, *y = NULL;

    for (int i = 0; worst && i < worst->nfactors; i++) {
        const variable *v = find_var(s, worst->factors[i].atom);
        int degree = v && !v->has_high ? degree_in(d, v->atom) : 0;

        if (!degree)
            continue;
        if (!x || degree > degree_in(d, x->atom)) {
            y = x;
            x = v;
        } else if (!y || degree > degree_in(d, y->atom)) {
            y = v;
        }
    }
    /* x >= y + (low of x - low of y), or else y >= x + (...) + 1 */
    return x && y && split_order(s, x->atom, y->atom, x->low - y->low);
}

/* x == low or x > low, for the variable of lowest degree in the goal's
 * negative part. */
static bool split_value(scene *s)
{
    for (int i = 0; i < s->nvars; i++) {
        const jx_dim_atom *x = s->vars[i].atom;
        jx_int low = s->vars[i].low;
        scene a = *s, b = *s;

        if (!mentions(s->goal, x))
            continue;
        a.value_splits++; /* that side got easier */
        forget_var(&a, find_var(&a, x));
        if (!replace(&a, x, number(&a, low)) || !settle(&a))
            continue;
        return raise_low(find_var(&b, x), low + 1) == IMPOSSIBLE ||
               settle(&b);
    }
    return false;
}

/* Divides the goal by positive variables that all its terms share. */
static bool strip_goal(scene *s)
{
    for (int j = 0; s->goal && jx_dim_nterms(s->goal) &&
                    j < jx_dim_terms(s->goal)->nfactors;) {
        const jx_dim_atom *x = jx_dim_terms(s->goal)->factors[j++].atom;
        variable *v = x->kind == JX_ATOM_VAR ? get_var(s, x) : NULL;

        if (!v || v->low <= 0 || !divides_all(s->goal, x, true))
            continue;
        s->goal = jx_dim_divide_exactly(s->work->in, s->goal, of_var(s, x));
        j = 0;
    }
    return s->goal != NULL;
}

/* Looks for a contradiction with the opposite of what is wanted, one sign
 * after the other. */
static bool refute(const scene *s)
{
    for (int sign = JX_NEGATIVE; sign <= JX_POSITIVE; sign *= 2) {
        scene a = *s;
        const jx_dim *d = s->goal;

        if (s->wanted & sign)
            continue;
        a.refuting = true;
        a.wanted = 0;
        a.goal = number(&a, 0);
        if (sign == JX_NEGATIVE)
            d = jx_dim_neg(a.work->in, d);
        if (sign != JX_ZERO)
            d = minus(&a, d, number(&a, 1));
        if (!add_hyp(&a, d, sign == JX_ZERO ? JX_HYP_EQ : JX_HYP_GE) ||
            !settle(&a))
            return false;
    }
    return true;
}

/* The value of a polynomial in one variable. */
static bool value_at(const jx_dim *d, jx_int x, jx_int *value)
{
    jx_int sum = 0;

    for (int i = 0; i < jx_dim_nterms(d); i++) {
        const jx_dim_term *t = &jx_dim_terms(d)[i];
        jx_int product = t->coefficient;

        for (int p = t->nfactors ? t->factors[0].power : 0; p > 0; p--)
            if (__builtin_mul_overflow(product, x, &product))
                return false;
        if (__builtin_add_overflow(sum, product, &sum))
            return false;
    }
    *value = sum;
    return true;
}

/* The signs of a polynomial in one variable: far enough out its sign stays (all
 * coefficients of the shifted polynomial agree); up to there every value is
 * looked at, until a sign in `enough` is met. */
static int signs_of_one_variable(scene *s, const jx_dim *d, const variable *v,
                                 int enough)
{
    jx_int end = v->low + 1, value;
    int signs = 7;

    for (;; end = v->low + 2 * (end - v->low)) {
        const jx_dim *far = jx_dim_substitute(
            s->work->in, d, v->atom,
            plus(s, of_var(s, v->atom), number(s, end)));

        if (!far || end - v->low > MAX_ROOTS || !spend(s, 1))
            return 7;
        signs = signs_by_coefficients(far);
        if (!(signs & enough) || (v->has_high && v->high < end))
            break;
    }
    if (v->has_high && v->high < end) {
        end = v->high + 1;
        signs = 0;
    }
    for (jx_int x = v->low; x < end && !(signs & enough); x++) {
        if (!value_at(d, x, &value))
            return 7;
        signs |= sign_of(value);
    }
    return signs;
}

static bool settle_one_variable(scene *s, const variable *v)
{
    return within(signs_of_one_variable(s, s->goal, v, 7 & ~s->wanted),
                  s->wanted);
}

/* Every value of a bounded variable, each with few steps of its own: for a
 * goal in two variables what is left has one. */
static bool enumerate(const scene *s, const variable *v)
{
    for (jx_int x = v->low; x <= v->high; x++) {
        scene a = *s;
        long own = 60;

        a.steps = &own;
        forget_var(&a, find_var(&a, v->atom));
        if (!replace(&a, v->atom, number(&a, x)) || !settle(&a) ||
            --*s->steps < 0)
            return false;
    }
    return true;
}

/* In search of a contradiction: a variable of some hypothesis that has only a
 * few values takes each of them. */
static bool try_few_values(const scene *s)
{
    for (int i = 0; i < s->nvars; i++) {
        const variable *v = &s->vars[i];
        bool used = false;

        for (int j = 0; j < s->nhyps; j++)
            used |= mentions(s->hyps[j].dim, v->atom);
        if (!used || !v->has_high || v->high - v->low >= 2 * MAX_NARROW)
            continue;
        for (jx_int x = v->low; x <= v->high; x++) {
            scene a = *s;

            forget_var(&a, find_var(&a, v->atom));
            if (!replace(&a, v->atom, number(&a, x)) || !settle(&a))
                return false;
        }
        return true;
    }
    return false;
}

/* Goals in one variable, or in two of which one is bounded. */
static bool settle_few_variables(scene *s)
{
    int n;
    const jx_dim_atom *const *vars = jx_dim_vars(s->work->in, s->goal, &n);
    variable *v[2] = {NULL, NULL};

    for (int i = 0; vars && i < n && n <= 2; i++)
        if (!(v[i] = find_var(s, vars[i])))
            return false;
    if (n == 1)
        return settle_one_variable(s, v[0]);
    for (int i = 0; n == 2 && i < 2; i++)
        if (v[i]->has_high && v[i]->high - v[i]->low < MAX_ENUMERATED)
            return enumerate(s, v[i]);
    return false;
}

static const jx_dim_atom *atom_to_split(const scene *s)
{
    const jx_dim_atom *atom;

    /* Equations first: what they leave out need not be looked at. */
    for (int i = 0; i < s->nhyps; i++)
        if (s->hyps[i].kind == JX_HYP_EQ && (atom = innermost(s->hyps[i].dim)))
            return atom;
    if ((atom = innermost(s->goal)))
        return atom;
    for (int i = 0; i < s->nhyps; i++)
        if (s->hyps[i].kind == JX_HYP_GE && (atom = innermost(s->hyps[i].dim)))
            return atom;
    return NULL;
}

static bool settle(scene *s)
{
    const jx_dim_atom *atom;
    outcome o;
    bool done;

    if (!s->goal || ++s->depth > MAX_DEPTH || !spend(s, 1))
        return false;
    o = tidy(s);
    if (o == IMPOSSIBLE)
        return true;
    if (o == TOO_MUCH)
        return false;
    if (s->wanted &&
        within(is_polynomial(s->goal) ? signs_of_polynomial(s, s->goal)
                                      : signs_of_range(bounds(s, s->goal)),
               s->wanted))
        return true;
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
    if (s->wanted && is_polynomial(s->goal) && leaf(s))
        return true;
    if (substitute_hyp(s, &done))
        return true;
    if (done)
        return false;
    if (hypotheses_clash(s))
        return true;
    if (s->wanted && !s->shallow && is_polynomial(s->goal) &&
        settle_few_variables(s))
        return true;
    if (!s->wanted && !s->shallow && s->nhyps && try_few_values(s))
        return true;
    if (s->wanted && !s->shallow && !s->refuting && refute(s))
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

/* From here on every variable that occurs has its range in the scene. */
static bool register_vars(scene *s, const jx_dim *d)
{
    int count;
    const jx_dim_atom *const *vars = jx_dim_vars(s->work->in, d, &count);

    for (int i = 0; i < count; i++)
        if (!get_var(s, vars[i]))
            return false;
    return vars != NULL;
}

/* The ways to try, cheapest first. */
static const struct {
    int order_splits, value_splits;
    bool enumerate, compare_first;
} ways[] = {{0, 0, false, false}, {0, 0, false, true}, {0, 3, true, false},
            {4, 0, false, false}, {2, 3, true, true}};

bool jx_elementary(jx_work *work, const jx_hyp *hyps, int nhyps,
                   const jx_dim *dim, int wanted, long steps)
{
    scene s = {.work = work, .goal = dim, .wanted = wanted};

    if (!dim || nhyps > MAX_HYPS || !register_vars(&s, dim))
        return false;
    for (int i = 0; i < nhyps; i++) {
        s.hyps[s.nhyps++] = hyps[i];
        if (!register_vars(&s, hyps[i].dim))
            return false;
    }
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        scene a = s;
        long own = steps;

        a.steps = &own;
        a.order_splits = ways[i].order_splits;
        a.value_splits = ways[i].value_splits;
        a.enumerate = ways[i].enumerate;
        a.compare_first = ways[i].compare_first;
        if (settle(&a))
            return true;
    }
    return false;
}
