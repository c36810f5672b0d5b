/* work.c - see work.h. */
#include "prover/trace.h"

#include "frontend/base/assert.h"
#include "frontend/ir/dim_verify.h"

#include <string.h>

enum {
    BUDGET = 256 << 20,
    MAX_REDUCTIONS = 64,
    MAX_FLATTENED = 6, /* power of a maximum that is multiplied out */
    MAX_POWER = 12,    /* of an atom that a sum may be put for */
};

bool jx_work_init(jx_work *work, jx_ctx *above, int64_t base)
{
    *work = (jx_work){.base = base};
    work->ctx = jx_ctx_below(above, BUDGET);
    if (!work->ctx)
        return false;
    work->in = jx_dims_new(work->ctx);
    if (!work->in)
        jx_work_free(work);
    return work->in != NULL;
}

void jx_work_free(jx_work *work)
{
    jx_ctx_free(work->ctx);
    *work = (jx_work){0};
}

/* -------------------------------------------------------------------------
 * Ranges
 * ---------------------------------------------------------------------- */

jx_dim_range jx_work_range(const jx_work *work, const jx_dim_atom *var)
{
    if (var->id < work->nranges && work->ranges[var->id].has_low)
        return work->ranges[var->id];
    return (jx_dim_range){.has_low = true, .low = work->base};
}

void jx_work_narrow(jx_work *work, const jx_dim_atom *var, jx_dim_range range)
{
    jx_dim_range *at;

    if (var->id >= work->nranges) {
        size_t n = (size_t)var->id * 2 + 16;
        jx_dim_range *grown = JX_NEW_ARRAY(work->ctx->arena, n, jx_dim_range);

        if (!grown)
            return;
        if (work->nranges)
            memcpy(grown, work->ranges, work->nranges * sizeof *grown);
        work->ranges = grown;
        work->nranges = n;
    }
    at = &work->ranges[var->id];
    *at = jx_work_range(work, var);
    if (range.has_low && range.low > at->low)
        at->low = range.low;
    if (range.has_high && (!at->has_high || range.high < at->high)) {
        at->has_high = true;
        at->high = range.high;
    }
}

bool jx_work_is_empty(const jx_work *work)
{
    for (size_t i = 0; i < work->nranges; i++)
        if (work->ranges[i].has_high &&
            work->ranges[i].high < work->ranges[i].low)
            return true;
    return false;
}

const jx_dim_atom *jx_work_fresh(jx_work *work, jx_dim_range range)
{
    char *name = jx_arena_printf(work->ctx->arena, " %u", work->fresh++);
    const jx_dim_atom *var = name ? jx_dim_var_atom(work->in, name, -1) : NULL;
    size_t had = work->nranges;

    if (!var)
        return NULL;
    jx_work_narrow(work, var, range);
    if (work->nranges == had && var->id >= had)
        return NULL;
    work->ranges[var->id] = range; /* the base does not bind it */
    return var;
}

static void known_range(void *env, const jx_dim_atom *atom, jx_dim_range *known)
{
    if (atom->kind == JX_ATOM_VAR)
        *known = jx_work_range(env, atom);
}

jx_dim_range jx_work_bounds(const jx_work *work, const jx_dim *dim)
{
    return jx_dim_bounds_by(dim, known_range, (void *)(uintptr_t)work);
}

static bool is_positive(jx_work *work, const jx_dim *dim)
{
    jx_dim_range r = jx_work_bounds(work, dim);

    return r.has_low && r.low > 0;
}

/* -------------------------------------------------------------------------
 * Import
 * ---------------------------------------------------------------------- */

static const jx_dim *import_atom(jx_work *work, const jx_dim_atom *atom)
{
    if (atom->kind == JX_ATOM_VAR)
        return jx_dim_var(work->in, atom->name, atom->scope);
    return jx_dim_literal(work->in, atom->kind, jx_work_import(work, atom->a),
                          jx_work_import(work, atom->b));
}

const jx_dim *jx_work_import(jx_work *work, const jx_dim *dim)
{
    const jx_dim *sum = jx_dim_int(work->in, 0);
    const jx_dim_term *terms = jx_dim_terms(dim);

    for (int i = 0; i < jx_dim_nterms(dim); i++) {
        const jx_dim *product = jx_dim_wide(work->in, terms[i].coefficient);

        for (int j = 0; j < terms[i].nfactors; j++) {
            const jx_dim_factor *f = &terms[i].factors[j];
            const jx_dim *atom = import_atom(work, f->atom);

            product = jx_dim_mul(work->in, product,
                                 jx_dim_pow(work->in, atom, f->power));
        }
        sum = jx_dim_add(work->in, sum, product);
    }
    return sum;
}

/* -------------------------------------------------------------------------
 * Numbers and monomials
 * ---------------------------------------------------------------------- */

jx_int jx_int_gcd(jx_int a, jx_int b)
{
    a = a < 0 ? -a : a;
    b = b < 0 ? -b : b;
    while (b) {
        jx_int r = a % b;
        a = b;
        b = r;
    }
    return a;
}

bool jx_int_is_tame(jx_int value)
{
    return value > -((jx_int)1 << 120) && value < (jx_int)1 << 120;
}

jx_int jx_work_content(const jx_dim *dim, jx_int *constant)
{
    const jx_dim_term *terms = jx_dim_terms(dim);
    jx_int g = 0;

    *constant = 0;
    for (int i = 0; i < jx_dim_nterms(dim); i++)
        if (terms[i].nfactors)
            g = jx_int_gcd(g, terms[i].coefficient);
        else
            *constant = terms[i].coefficient;
    return g;
}

static int power_in(const jx_dim_term *t, const jx_dim_atom *atom)
{
    for (int i = 0; i < t->nfactors; i++)
        if (t->factors[i].atom == atom)
            return t->factors[i].power;
    return 0;
}

static int least_power(const jx_dim *dim, const jx_dim_atom *atom)
{
    const jx_dim_term *terms = jx_dim_terms(dim);
    int least = jx_dim_nterms(dim) ? power_in(&terms[0], atom) : 0;

    for (int i = 1; i < jx_dim_nterms(dim) && least; i++) {
        int power = power_in(&terms[i], atom);
        least = power < least ? power : least;
    }
    return least;
}

/* The product of what divides every term of both, coefficients too. */
static const jx_dim *common_factor(jx_work *work, const jx_dim *n,
                                   const jx_dim *d)
{
    const jx_dim_term *lead = jx_dim_terms(d);
    jx_int k, g = jx_work_content(d, &k);
    const jx_dim *product;

    g = jx_int_gcd(g, k);
    g = jx_int_gcd(g, jx_work_content(n, &k));
    g = jx_int_gcd(g, k);
    product = jx_dim_wide(work->in, g);
    for (int i = 0; i < lead->nfactors; i++) {
        const jx_dim_atom *atom = lead->factors[i].atom;
        int p = least_power(d, atom), q = least_power(n, atom);

        if (p && q)
            product =
                jx_dim_mul(work->in, product,
                           jx_dim_pow(work->in, jx_dim_of_atom(work->in, atom),
                                      p < q ? p : q));
    }
    return product;
}

/* -------------------------------------------------------------------------
 * Quotients
 * ---------------------------------------------------------------------- */

static const jx_dim *quotient(jx_work *work, const jx_dim *n, const jx_dim *d);

static bool is_negative_led(const jx_dim *d)
{
    return jx_dim_nterms(d) && jx_dim_terms(d)[0].coefficient < 0;
}

static const jx_dim *term_dim(jx_work *work, jx_int k, const jx_dim_term *t)
{
    const jx_dim *product = jx_dim_wide(work->in, k);

    for (int i = 0; i < t->nfactors; i++)
        product = jx_dim_mul(
            work->in, product,
            jx_dim_pow(work->in, jx_dim_of_atom(work->in, t->factors[i].atom),
                       t->factors[i].power));
    return product;
}

/* The term of n that a multiple of d's leading term takes off, as that
 * multiple; NULL when there is none (or, *over, on overflow). */
static const jx_dim *reduction(jx_work *work, const jx_dim *n, const jx_dim *d)
{
    const jx_dim_term *lead = jx_dim_terms(d);
    jx_int q, r;

    for (int i = 0; i < jx_dim_nterms(n); i++) {
        const jx_dim_term *t = &jx_dim_terms(n)[i];
        bool divides = true;

        for (int j = 0; j < lead->nfactors && divides; j++)
            divides =
                power_in(t, lead->factors[j].atom) >= lead->factors[j].power;
        if (!divides ||
            !jx_int_floordiv(t->coefficient, lead->coefficient, &q, &r) || !q)
            continue;
        return jx_dim_divide_exactly(work->in,
                                     term_dim(work, q * lead->coefficient, t),
                                     term_dim(work, lead->coefficient, lead));
    }
    return NULL;
}

/* n == d * *q + the result, with n's terms as small as d's leading term makes
 * them.  Steps are limited: the order of terms does not promise an end. */
static const jx_dim *reduce(jx_work *work, const jx_dim *n, const jx_dim *d,
                            const jx_dim **q)
{
    const jx_dim *rest = n, *sum = jx_dim_int(work->in, 0);

    for (int step = 0; rest && sum && step < MAX_REDUCTIONS; step++) {
        const jx_dim *u = reduction(work, rest, d);

        if (!u) {
            *q = sum;
            return rest;
        }
        sum = jx_dim_add(work->in, sum, u);
        rest = jx_dim_sub(work->in, rest, jx_dim_mul(work->in, u, d));
    }
    *q = jx_dim_int(work->in, 0);
    return n;
}

/* A quotient among the terms of n, with coefficient 1 or -1. */
static const jx_dim_term *lone_quotient(const jx_dim *n)
{
    for (int i = 0; i < jx_dim_nterms(n); i++) {
        const jx_dim_term *t = &jx_dim_terms(n)[i];

        if (t->nfactors == 1 && t->factors[0].power == 1 &&
            t->factors[0].atom->kind == JX_ATOM_FLOORDIV &&
            (t->coefficient == 1 || t->coefficient == -1))
            return t;
    }
    return NULL;
}

/* floordiv(floordiv(x, y) + w, d) == floordiv(x + w*y, y*d) for d > 0, and
 * -floordiv(x, y) == floordiv(y - 1 - x, y) for y > 0.  NULL if neither
 * applies. */
static const jx_dim *merge_nested(jx_work *work, const jx_dim *n,
                                  const jx_dim *d)
{
    const jx_dim_term *t = lone_quotient(n);
    const jx_dim *x, *y, *w;

    if (!t || !is_positive(work, d))
        return NULL;
    x = t->factors[0].atom->a;
    y = t->factors[0].atom->b;
    w = jx_dim_sub(work->in, n, term_dim(work, t->coefficient, t));
    if (t->coefficient < 0) {
        if (!is_positive(work, y))
            return NULL;
        x = jx_dim_sub(work->in,
                       jx_dim_sub(work->in, y, jx_dim_int(work->in, 1)), x);
    }
    x = jx_dim_add(work->in, x, jx_dim_mul(work->in, w, y));
    y = jx_dim_mul(work->in, y, d);
    if (x && y && work->trace) {
        jx_note_atom(work, JX_STEP_NEST,
                     jx_dim_literal(work->in, JX_ATOM_FLOORDIV, n, d),
                     t->coefficient);
        work->trace->at[work->trace->count - 1].other = t->factors[0].atom;
        work->trace->at[work->trace->count - 1].a =
            jx_dim_literal(work->in, JX_ATOM_FLOORDIV, x, y);
    }
    return x && y ? quotient(work, x, y) : NULL;
}

/* floordiv(x + 1, 2) == x - floordiv(x, 2), since one of x, x + 1 is even. */
static const jx_dim *half_of_next(jx_work *work, const jx_dim *n,
                                  const jx_dim *two)
{
    const jx_dim *x = jx_dim_sub(work->in, n, jx_dim_int(work->in, 1));

    jx_note_atom(work, JX_STEP_HALF,
                 jx_dim_literal(work->in, JX_ATOM_FLOORDIV, n, two), 0);
    return jx_dim_sub(work->in, x, quotient(work, x, two));
}

/* floordiv(g*x + k, g*m) == floordiv(x + floordiv(k, g), m) for numbers. */
static const jx_dim *quotient_by_number(jx_work *work, const jx_dim *n,
                                        const jx_dim *d, jx_int m)
{
    jx_int k, g = jx_int_gcd(jx_work_content(n, &k), m), q, r;
    const jx_dim *by = jx_dim_wide(work->in, g);

    if (m == 2 && g == 1 && k == 1)
        return half_of_next(work, n, d);
    if (g <= 1 || !jx_int_floordiv(k, g, &q, &r))
        return jx_dim_literal(work->in, JX_ATOM_FLOORDIV, n, d);
    const jx_dim *rest = jx_dim_sub(work->in, n, jx_dim_wide(work->in, r));
    rest = rest ? jx_dim_divide_exactly(work->in, rest, by) : NULL;
    if (rest && work->trace) {
        jx_note_atom(work, JX_STEP_DROP,
                     jx_dim_literal(work->in, JX_ATOM_FLOORDIV, n, d), g);
        work->trace->at[work->trace->count - 1].a = rest;
    }
    return rest ? quotient(work, rest, jx_dim_wide(work->in, m / g)) : NULL;
}

/* What is left after reduction: a number if the interval says so, a merged
 * quotient, or the atom. */
static const jx_dim *quotient_of_rest(jx_work *work, const jx_dim *n,
                                      const jx_dim *d)
{
    const jx_dim *atom, *merged;
    jx_dim_range r;
    jx_int m;

    if (!jx_dim_nterms(n))
        return n;
    atom = jx_dim_literal(work->in, JX_ATOM_FLOORDIV, n, d);
    if (!atom)
        return NULL;
    r = jx_work_bounds(work, atom);
    if (r.has_low && r.has_high && r.low == r.high) {
        jx_note_atom(work, JX_STEP_VALUE, atom, r.low);
        return jx_dim_wide(work->in, r.low);
    }
    merged = merge_nested(work, n, d);
    if (merged)
        return merged;
    return jx_dim_is_wide(d, &m) ? quotient_by_number(work, n, d, m) : atom;
}

/* floordiv(n, given) == whole + floordiv(rest, d), where d divides given. */
static void note_ratio(jx_work *work, const jx_dim *n, const jx_dim *given,
                       const jx_dim *d, const jx_dim *whole, const jx_dim *rest)
{
    jx_step *s;

    if (!work->trace)
        return;
    s = jx_note(work, JX_STEP_RATIO);
    s->atom =
        jx_dim_terms(jx_dim_literal(work->in, JX_ATOM_FLOORDIV, n, given))[0]
            .factors[0]
            .atom;
    s->a = jx_dim_divide_exactly(work->in, given, d);
    s->b = whole;
    s->c = rest;
    s->d = d;
}

/* floordiv(n, d) of simplified n and d. */
static const jx_dim *quotient(jx_work *work, const jx_dim *n, const jx_dim *d)
{
    const jx_dim *factor, *whole, *rest, *given = n, *by = d;

    if (!n || !d || !jx_dim_nterms(d))
        return jx_dim_literal(work->in, JX_ATOM_FLOORDIV, n, d);
    if (!jx_dim_nterms(n)) {
        note_ratio(work, n, d, d, n, n);
        return n;
    }
    if (is_negative_led(d)) {
        n = jx_dim_neg(work->in, n);
        d = jx_dim_neg(work->in, d);
    }
    factor = n && d ? common_factor(work, n, d) : NULL;
    if (!factor)
        return NULL;
    n = jx_dim_divide_exactly(work->in, n, factor);
    d = jx_dim_divide_exactly(work->in, d, factor);
    rest = n && d ? reduce(work, n, d, &whole) : NULL;
    if (!rest)
        return NULL;
    if (rest != given || d != by)
        note_ratio(work, given, by, d, whole, rest);
    /* What was taken off may have left a common factor behind. */
    if (rest != n)
        return jx_dim_add(work->in, whole, quotient(work, rest, d));
    return quotient_of_rest(work, rest, d);
}

/* -------------------------------------------------------------------------
 * Maxima
 * ---------------------------------------------------------------------- */

/* max(d, 0), which is i * part where there is one. */
static void note_part(jx_work *work, jx_step_kind kind, const jx_dim *d,
                      jx_int i, const jx_dim *part)
{
    if (!work->trace)
        return;
    jx_note_atom(
        work, kind,
        jx_dim_literal(work->in, JX_ATOM_MAX, d, jx_dim_int(work->in, 0)), i);
    work->trace->at[work->trace->count - 1].a = part;
}

/* max(d, 0) of a simplified d. */
static const jx_dim *positive_part(jx_work *work, const jx_dim *d)
{
    jx_int k, g;
    jx_dim_range r;

    if (!d)
        return NULL;
    r = jx_work_bounds(work, d);
    if (r.has_low && r.low >= 0) {
        note_part(work, JX_STEP_FIRST, d, 0, NULL);
        return d;
    }
    if (r.has_high && r.high <= 0) {
        note_part(work, JX_STEP_SECOND, d, 0, NULL);
        return jx_dim_int(work->in, 0);
    }
    if (is_negative_led(d)) {
        const jx_dim *minus = jx_dim_neg(work->in, d);

        note_part(work, JX_STEP_PART, d, -1, minus);
        return jx_dim_add(work->in, d, positive_part(work, minus));
    }
    g = jx_work_content(d, &k);
    g = jx_int_gcd(g, k);
    const jx_dim *whole = d;
    d = jx_dim_divide_exactly(work->in, d, jx_dim_wide(work->in, g));
    if (g != 1)
        note_part(work, JX_STEP_PART, whole, g, d);
    return jx_dim_mul(
        work->in, jx_dim_wide(work->in, g),
        jx_dim_literal(work->in, JX_ATOM_MAX, d, jx_dim_int(work->in, 0)));
}

/* max(d, 0)^n == d^(n-1) * max(d, 0), in one term. */
static const jx_dim *flatten_term(jx_work *work, const jx_dim_term *t)
{
    const jx_dim *product = jx_dim_wide(work->in, t->coefficient);

    for (int i = 0; i < t->nfactors; i++) {
        const jx_dim_atom *atom = t->factors[i].atom;
        int power = t->factors[i].power;

        if (atom->kind == JX_ATOM_MAX && power > 1 && power <= MAX_FLATTENED) {
            jx_note_atom(work, JX_STEP_POWER, jx_dim_of_atom(work->in, atom),
                         power);
            product = jx_dim_mul(work->in, product,
                                 jx_dim_pow(work->in, atom->a, power - 1));
            power = 1;
        }
        product = jx_dim_mul(
            work->in, product,
            jx_dim_pow(work->in, jx_dim_of_atom(work->in, atom), power));
    }
    return product;
}

static bool has_power_of_max(const jx_dim *dim)
{
    for (int i = 0; i < jx_dim_nterms(dim); i++) {
        const jx_dim_term *t = &jx_dim_terms(dim)[i];

        for (int j = 0; j < t->nfactors; j++)
            if (t->factors[j].power > 1 &&
                t->factors[j].power <= MAX_FLATTENED &&
                t->factors[j].atom->kind == JX_ATOM_MAX)
                return true;
    }
    return false;
}

/* d itself may bring new powers, of smaller maxima: hence the loop. */
static const jx_dim *flatten_maxima(jx_work *work, const jx_dim *dim)
{
    for (int round = 0; dim && has_power_of_max(dim) && round < 8; round++) {
        const jx_dim *sum = jx_dim_int(work->in, 0);

        for (int i = 0; i < jx_dim_nterms(dim); i++)
            sum = jx_dim_add(work->in, sum,
                             flatten_term(work, &jx_dim_terms(dim)[i]));
        dim = sum;
    }
    return dim;
}

/* -------------------------------------------------------------------------
 * The whole
 * ---------------------------------------------------------------------- */

static const jx_dim *simplify_atom(jx_work *work, const jx_dim_atom *atom)
{
    const jx_dim *a, *b, *d;

    if (atom->kind == JX_ATOM_VAR)
        return jx_dim_of_atom(work->in, atom);
    a = jx_work_simplify(work, atom->a);
    b = jx_work_simplify(work, atom->b);
    d = jx_dim_sub(work->in, a, b);
    switch (atom->kind) {
    case JX_ATOM_FLOORDIV: return quotient(work, a, b);
    case JX_ATOM_MOD:
        return jx_dim_sub(work->in, a,
                          jx_dim_mul(work->in, b, quotient(work, a, b)));
    case JX_ATOM_MAX: return jx_dim_add(work->in, b, positive_part(work, d));
    case JX_ATOM_MIN: return jx_dim_sub(work->in, a, positive_part(work, d));
    case JX_ATOM_VAR: break;
    }
    return NULL;
}

static bool is_polynomial(const jx_dim *dim)
{
    for (int i = 0; i < jx_dim_nterms(dim); i++) {
        const jx_dim_term *t = &jx_dim_terms(dim)[i];

        for (int j = 0; j < t->nfactors; j++)
            if (t->factors[j].atom->kind != JX_ATOM_VAR)
                return false;
    }
    return true;
}

static bool simplify_part(void *env, const jx_dim_atom *atom,
                          const jx_dim **put)
{
    if (atom->kind == JX_ATOM_VAR)
        return true;
    *put = simplify_atom(env, atom);
    return *put != NULL;
}

static const jx_dim *simplify_sum(jx_work *work, const jx_dim *dim)
{
    return flatten_maxima(work, jx_dim_map(work->in, dim, simplify_part, work));
}

static bool has_high_power(const jx_dim *dim)
{
    for (int i = 0; i < jx_dim_nterms(dim); i++) {
        const jx_dim_term *t = &jx_dim_terms(dim)[i];

        for (int j = 0; j < t->nfactors; j++)
            if (t->factors[j].power > MAX_POWER &&
                t->factors[j].atom->kind != JX_ATOM_VAR)
                return true;
    }
    return false;
}

static void remember(jx_work *work, const jx_dim *dim, const jx_dim *simple)
{
    unsigned id = jx_dim_id(dim);

    if (id >= work->nmemo) {
        size_t n = (size_t)id * 2 + 64;
        const jx_dim **grown =
            JX_NEW_ARRAY(work->ctx->arena, n, const jx_dim *);

        if (!grown)
            return;
        if (work->nmemo)
            memcpy(grown, work->memo, work->nmemo * sizeof *grown);
        work->memo = grown;
        work->nmemo = n;
    }
    work->memo[id] = simple;
}

const jx_dim *jx_work_simplify(jx_work *work, const jx_dim *dim)
{
    const jx_dim *simple;

    if (!dim || is_polynomial(dim))
        return dim;
    /* With a trace the steps are wanted, not only what they lead to. */
    if (jx_dim_id(dim) < work->nmemo && work->memo[jx_dim_id(dim)] &&
        (!work->trace || work->memo[jx_dim_id(dim)] == dim))
        return work->memo[jx_dim_id(dim)];
    simple = has_high_power(dim) ? NULL : simplify_sum(work, dim);
    JX_ASSERT(jx_dim_same_values(dim, simple, known_range, work));
    if (simple) {
        remember(work, dim, simple);
        remember(work, simple, simple);
    }
    return simple;
}
