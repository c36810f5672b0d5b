/* leaf.c - signs of polynomials, where nothing is left to split. */
#include "prover/scene.h"

enum {
    MAX_ROOTS = 1 << 12, /* values of a single variable that are looked at */
    MAX_SHIFTED = 1000,  /* terms */
};

/* Puts low + x for every variable x, so that all start at 0. */
const jx_dim *jx_scene_shift(jx_scene *s, const jx_dim *d)
{
    for (int i = 0; i < s->nvars && d; i++) {
        const jx_scene_variable *v = &s->vars[i];

        if (!v->low || !jx_mentions(d, v->atom))
            continue;
        d = jx_dim_substitute(
            s->work->in, d, v->atom,
            jx_scene_add(s, jx_scene_dim(s, v->atom), jx_scene_int(s, v->low)));
        /* A product of many variables doubles with each of them. */
        if (d && jx_dim_nterms(d) > MAX_SHIFTED) {
            if (*s->steps > 0)
                *s->steps = 0; /* the next would be as large */
            return NULL;
        }
    }
    return d;
}

/* The signs of a polynomial whose variables start at 0, by its coefficients. */
int jx_signs_by_coefficients(const jx_dim *d)
{
    jx_int c, g = jx_work_content(d, &c);
    bool up = false, down = false;
    int signs = jx_sign_of(c);

    for (int i = 0; i < jx_dim_nterms(d); i++)
        if (jx_dim_terms(d)[i].nfactors) {
            up |= jx_dim_terms(d)[i].coefficient > 0;
            down |= jx_dim_terms(d)[i].coefficient < 0;
        }
    if (up)
        signs |= c >= 0 ? JX_POSITIVE : JX_NEGATIVE | JX_ZERO | JX_POSITIVE;
    if (down)
        signs |= c <= 0 ? JX_NEGATIVE : JX_NEGATIVE | JX_ZERO | JX_POSITIVE;
    if (up && down)
        signs |= JX_ZERO;
    /* No sum of multiples of g gives -c: never 0. */
    if (g > 1 && c % g)
        signs &= ~JX_ZERO;
    return signs;
}

/* As above; where the polynomial is linear in a bounded variable both ends
 * together say what happens between them. */
static int signs_at_ends(jx_scene *s, const jx_dim *d, int ends)
{
    for (int i = 0; i < s->nvars && ends; i++) {
        const jx_scene_variable *v = &s->vars[i];
        int low, high;

        if (!v->has_high || jx_degree_in(d, v->atom) != 1)
            continue;
        const jx_dim *at_low =
            jx_dim_substitute(s->work->in, d, v->atom, jx_scene_int(s, v->low));
        const jx_dim *at_high = jx_dim_substitute(s->work->in, d, v->atom,
                                                  jx_scene_int(s, v->high));
        if (!at_low || !at_high || !jx_scene_spend(s, 1))
            return 7;
        low = signs_at_ends(s, at_low, ends - 1);
        high = low == 7 ? 7 : signs_at_ends(s, at_high, ends - 1);
        if ((low | high) & JX_POSITIVE && (low | high) & JX_NEGATIVE)
            return 7;
        return low | high;
    }
    d = jx_scene_shift(s, d);
    return d ? jx_signs_by_coefficients(d) : 7;
}

int jx_scene_signs(jx_scene *s, const jx_dim *d)
{
    int by_range = jx_signs_of_range(jx_scene_bounds(s, d)), by_ends;

    if (by_range == JX_ZERO || by_range == JX_POSITIVE ||
        by_range == JX_NEGATIVE)
        return by_range;
    by_ends = signs_at_ends(s, d, 4);
    if (by_ends == 7) { /* divisibility needs no ends */
        const jx_dim *shifted = jx_scene_shift(s, d);
        by_ends = shifted ? jx_signs_by_coefficients(shifted) : 7;
    }
    return by_range & by_ends;
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
int jx_scene_signs_of_one(jx_scene *s, const jx_dim *d,
                          const jx_scene_variable *v, int enough)
{
    jx_int end = v->low + 1, value;
    int signs = 7;

    for (;; end = v->low + 2 * (end - v->low)) {
        const jx_dim *far = jx_dim_substitute(
            s->work->in, d, v->atom,
            jx_scene_add(s, jx_scene_dim(s, v->atom), jx_scene_int(s, end)));

        if (!far || end - v->low > MAX_ROOTS || !jx_scene_spend(s, 1))
            return 7;
        signs = jx_signs_by_coefficients(far);
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
        signs |= jx_sign_of(value);
    }
    return signs;
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
static bool may_be_zero_modulo(jx_scene *s, const jx_dim *d, jx_int m)
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
static bool nonzero_by_residues(jx_scene *s, const jx_dim *d)
{
    static const jx_int moduli[] = {2, 3, 4, 5, 7, 8, 9, 16};

    for (size_t i = 0; i < sizeof moduli / sizeof *moduli; i++)
        if (jx_scene_spend(s, 2) && !may_be_zero_modulo(s, d, moduli[i])) {
            jx_trace *trace = s->work->trace;
            if (trace)
                jx_scene_note_signs(s);
            if (trace && !trace->failed) {
                trace->at[trace->count - 1].kind = JX_STEP_MODULO;
                trace->at[trace->count - 1].i = moduli[i];
            }
            return true;
        }
    return false;
}

/* The largest negative term of d. */
const jx_dim_term *jx_negative_term(const jx_dim *d)
{
    for (int i = 0; i < jx_dim_nterms(d); i++)
        if (jx_dim_terms(d)[i].coefficient < 0)
            return &jx_dim_terms(d)[i];
    return NULL;
}

/* term / part as a dim with coefficient 1, or NULL. */
static const jx_dim *cofactor(jx_scene *s, const jx_dim_term *term,
                              const jx_dim_term *part)
{
    const jx_dim *u = jx_scene_int(s, 1);
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
        u = jx_scene_mul(s, u,
                         jx_dim_pow(s->work->in,
                                    jx_scene_dim(s, term->factors[i].atom),
                                    power));
    }
    return matched == part->nfactors ? u : NULL;
}

/* Hypotheses with all variables starting at 0, and as they were. */
typedef struct shifted {
    jx_hyp hyps[JX_SCENE_HYPS + JX_SCENE_VARS];
    jx_hyp given[JX_SCENE_HYPS + JX_SCENE_VARS];
    int n;
} shifted;

static bool by_hypotheses(jx_scene *s, const jx_dim *d, const shifted *hyps,
                          int depth);

static void push_product(jx_work *work, jx_int scale, jx_int times,
                         const jx_dim *monomial, jx_hyp fact)
{
    jx_trace *t = work->trace;

    if (!t || t->nproducts == JX_TRACE_PRODUCTS)
        return;
    t->scales[t->nproducts] = scale;
    t->products[t->nproducts++] = (jx_product){times, monomial, fact};
}

/* The sum that was found: p, which is not negative, and the products. */
static void note_sum(jx_scene *s, const jx_dim *p)
{
    jx_trace *t = s->work->trace;
    jx_int scale = 1;
    jx_step *step = jx_note(s->work, JX_STEP_SUM);

    if (!t)
        return;
    for (int i = t->nproducts - 1; i >= 0; i--) {
        t->failed |= __builtin_mul_overflow(t->products[i].times, scale,
                                            &t->products[i].times);
        t->failed |= __builtin_mul_overflow(scale, t->scales[i], &scale);
    }
    step->a = p;
    step->i = scale;
    step->nproducts = t->nproducts;
    step->products = jx_arena_copy(s->work->ctx->arena, t->products,
                                   (size_t)t->nproducts * sizeof *t->products);
    t->failed |= !step->products;
}

/* Takes the negative term `worst` off d >= 0 with a multiple of h >= 0. */
static bool cancel_with(jx_scene *s, const jx_dim *d, const jx_dim_term *worst,
                        const shifted *hyps, int which, int sign, int depth)
{
    const jx_dim *h = hyps->hyps[which].dim;

    if (sign < 0)
        h = jx_dim_neg(s->work->in, h);
    for (int i = 0; h && i < jx_dim_nterms(h); i++) {
        const jx_dim_term *t = &jx_dim_terms(h)[i];
        const jx_dim *u;
        jx_int g, e, c;

        if (t->coefficient >= 0 || !(u = cofactor(s, worst, t)))
            continue;
        g = jx_int_gcd(t->coefficient, worst->coefficient);
        e = -t->coefficient / g;
        c = -worst->coefficient / g;
        const jx_dim *next = jx_scene_sub(
            s, jx_scene_mul(s, jx_scene_int(s, e), d),
            jx_scene_mul(s, jx_scene_mul(s, jx_scene_int(s, c), u), h));
        if (s->work->trace)
            push_product(s->work, e, sign * c, u, hyps->given[which]);
        if (next && by_hypotheses(s, next, hyps, depth - 1))
            return true;
        if (s->work->trace && s->work->trace->nproducts)
            s->work->trace->nproducts--;
    }
    return false;
}

/* d >= 0, as a sum of hypotheses times products, plus what has no negative
 * coefficient.  All variables start at 0. */
static bool by_hypotheses(jx_scene *s, const jx_dim *d, const shifted *hyps,
                          int depth)
{
    const jx_dim_term *worst = d ? jx_negative_term(d) : NULL;

    if (!d || !worst)
        return d != NULL;
    if (!depth || !jx_scene_spend(s, 1 + (hyps->n + jx_dim_nterms(d)) / 8))
        return false;
    for (int i = 0; i < hyps->n; i++) {
        if (hyps->hyps[i].kind == JX_HYP_NE)
            continue;
        if (cancel_with(s, d, worst, hyps, i, 1, depth))
            return true;
        if (hyps->hyps[i].kind == JX_HYP_EQ &&
            cancel_with(s, d, worst, hyps, i, -1, depth))
            return true;
    }
    return false;
}

/* The polynomial hypotheses, shifted, and those that say x <= high. */
static void shift_hyps(jx_scene *s, shifted *to)
{
    to->n = 0;
    for (int i = 0; i < s->nhyps; i++) {
        const jx_dim *d = s->hyps[i].dim;

        if (!jx_is_polynomial(d) || !(d = jx_scene_shift(s, d)))
            continue;
        to->given[to->n] = s->hyps[i];
        to->hyps[to->n++] = (jx_hyp){d, s->hyps[i].kind};
    }
    for (int i = 0; i < s->nvars; i++) {
        const jx_scene_variable *v = &s->vars[i];
        const jx_dim *x = jx_scene_dim(s, v->atom), *d = NULL;

        if (v->has_high)
            d = jx_scene_sub(s, jx_scene_int(s, v->high - v->low), x);
        if (!d)
            continue;
        to->given[to->n].kind = JX_HYP_GE;
        to->given[to->n].dim =
            s->work->trace ? jx_scene_sub(s, jx_scene_int(s, v->high), x)
                           : NULL;
        to->hyps[to->n++] = (jx_hyp){d, JX_HYP_GE};
    }
}

static bool found_sum(jx_scene *s, const jx_dim *p, const jx_dim *shifted_p,
                      const shifted *hyps)
{
    if (s->work->trace)
        s->work->trace->nproducts = 0;
    if (!p || !shifted_p || !by_hypotheses(s, shifted_p, hyps, 5))
        return false;
    if (s->work->trace)
        note_sum(s, p);
    return true;
}

static bool leaf_sign(jx_scene *s, const jx_dim *d, const shifted *hyps,
                      int sign)
{
    const jx_dim *p = sign & JX_NEGATIVE ? jx_dim_neg(s->work->in, d) : d;
    const jx_dim *g = s->goal;

    if (!(sign & JX_ZERO)) /* over the integers p > 0 is p - 1 >= 0 */
        p = jx_scene_sub(s, p, jx_scene_int(s, 1));
    if (s->work->trace && sign & JX_NEGATIVE)
        g = jx_dim_neg(s->work->in, g);
    if (s->work->trace && !(sign & JX_ZERO))
        g = jx_scene_sub(s, g, jx_scene_int(s, 1));
    return found_sum(s, g, p, hyps);
}

/* Whether the polynomial goal has a wanted sign, by hypotheses. */
bool jx_scene_leaf(jx_scene *s)
{
    shifted hyps;
    const jx_dim *d = jx_scene_shift(s, s->goal);
    int w = s->wanted;

    if (!d)
        return false;
    shift_hyps(s, &hyps);
    if (w == (JX_NEGATIVE | JX_POSITIVE) && nonzero_by_residues(s, d))
        return true;
    if (!hyps.n)
        return false;
    if (w == JX_ZERO) {
        size_t mark = jx_noted(s->work);
        bool both;

        if (s->work->trace)
            jx_scene_note_opposites(s);
        jx_note_case(s->work, 0, NULL);
        both = leaf_sign(s, d, &hyps, JX_ZERO | JX_POSITIVE);
        jx_note_case(s->work, 0, NULL);
        both = both && leaf_sign(s, d, &hyps, JX_ZERO | JX_NEGATIVE);
        jx_note_end(s->work);
        if (!both)
            jx_note_back(s->work, mark);
        return both;
    }
    return (w & JX_POSITIVE && leaf_sign(s, d, &hyps, w & ~JX_NEGATIVE)) ||
           (w & JX_NEGATIVE && leaf_sign(s, d, &hyps, w & ~JX_POSITIVE));
}

/* The hypotheses alone are impossible: -1 >= 0 follows from them. */
bool jx_scene_clash(jx_scene *s)
{
    const jx_dim *minus_1 = jx_scene_int(s, -1);
    shifted hyps;

    shift_hyps(s, &hyps);
    return hyps.n && found_sum(s, minus_1, minus_1, &hyps);
}
