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
        d = jx_dim_substitute(s->work->in, d, v->atom,
                              jx_scene_add(s, jx_scene_dim(s, v->atom),
                                           jx_scene_int(s, v->low)));
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
        if (jx_scene_spend(s, 2) && !may_be_zero_modulo(s, d, moduli[i]))
            return true;
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

static bool by_hypotheses(jx_scene *s, const jx_dim *d, const jx_hyp *hyps,
                          int n, int depth);

/* Takes the negative term `worst` off d >= 0 with a multiple of h >= 0. */
static bool cancel_with(jx_scene *s, const jx_dim *d, const jx_dim_term *worst,
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
        const jx_dim *next = jx_scene_sub(
            s, jx_scene_mul(s, jx_scene_int(s, e), d),
            jx_scene_mul(s, jx_scene_mul(s, jx_scene_int(s, c), u), h));
        if (next && by_hypotheses(s, next, hyps, n, depth - 1))
            return true;
    }
    return false;
}

/* d >= 0, as a sum of hypotheses times products, plus what has no negative
 * coefficient.  All variables start at 0. */
static bool by_hypotheses(jx_scene *s, const jx_dim *d, const jx_hyp *hyps,
                          int n, int depth)
{
    const jx_dim_term *worst = d ? jx_negative_term(d) : NULL;

    if (!d || !worst)
        return d != NULL;
    if (!depth || !jx_scene_spend(s, 1 + (n + jx_dim_nterms(d)) / 8))
        return false;
    for (int i = 0; i < n; i++) {
        if (hyps[i].kind == JX_HYP_NE)
            continue;
        if (cancel_with(s, d, worst, hyps[i].dim, hyps, n, depth))
            return true;
        if (hyps[i].kind == JX_HYP_EQ &&
            cancel_with(s, d, worst, jx_dim_neg(s->work->in, hyps[i].dim), hyps,
                        n, depth))
            return true;
    }
    return false;
}

/* The polynomial hypotheses, shifted, and those that say x <= high. */
static int shifted_hyps(jx_scene *s, jx_hyp *to, int room)
{
    int n = 0;

    for (int i = 0; i < s->nhyps && n < room; i++) {
        const jx_dim *d = s->hyps[i].dim;
        if (jx_is_polynomial(d) && (d = jx_scene_shift(s, d)))
            to[n++] = (jx_hyp){d, s->hyps[i].kind};
    }
    for (int i = 0; i < s->nvars && n < room; i++) {
        const jx_scene_variable *v = &s->vars[i];
        const jx_dim *d =
            v->has_high ? jx_scene_sub(s, jx_scene_int(s, v->high - v->low),
                                       jx_scene_dim(s, v->atom))
                        : NULL;
        if (d)
            to[n++] = (jx_hyp){d, JX_HYP_GE};
    }
    return n;
}

static bool leaf_sign(jx_scene *s, const jx_dim *d, const jx_hyp *hyps, int n,
                      int sign)
{
    const jx_dim *p = sign & JX_NEGATIVE ? jx_dim_neg(s->work->in, d) : d;

    if (!(sign & JX_ZERO)) /* over the integers p > 0 is p - 1 >= 0 */
        p = jx_scene_sub(s, p, jx_scene_int(s, 1));
    return p && by_hypotheses(s, p, hyps, n, 5);
}

/* Whether the polynomial goal has a wanted sign, by hypotheses. */
bool jx_scene_leaf(jx_scene *s)
{
    jx_hyp hyps[JX_SCENE_HYPS + JX_SCENE_VARS];
    const jx_dim *d = jx_scene_shift(s, s->goal);
    int n = shifted_hyps(s, hyps, JX_SCENE_HYPS + JX_SCENE_VARS);
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
bool jx_scene_clash(jx_scene *s)
{
    jx_hyp hyps[JX_SCENE_HYPS + JX_SCENE_VARS];
    int n = shifted_hyps(s, hyps, JX_SCENE_HYPS + JX_SCENE_VARS);

    return n && by_hypotheses(s, jx_scene_int(s, -1), hyps, n, 5);
}
