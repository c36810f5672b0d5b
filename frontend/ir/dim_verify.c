/* dim_verify.c - see dim_verify.h. */
#include "frontend/ir/dim_verify.h"

#include <string.h>

enum { MOST_NODES = 300, MOST_EVALUATED = 64, TRIES = 6 };

typedef unsigned __int128 wide;

/* The order: by size, which counts coefficients and powers, then by the parts
 * in turn. */

static wide sum(wide a, wide b)
{
    wide s;

    return __builtin_add_overflow(a, b, &s) ? ~(wide)0 : s;
}

static wide product(wide a, wide b)
{
    wide p;

    return __builtin_mul_overflow(a, b, &p) ? ~(wide)0 : p;
}

static wide size_of(const jx_dim *dim);

static wide size_of_atom(const jx_dim_atom *atom)
{
    return atom->kind == JX_ATOM_VAR
               ? 1
               : sum(1, sum(size_of(atom->a), size_of(atom->b)));
}

static wide size_of_factors(const jx_dim_term *t)
{
    wide size = 0;

    for (int i = 0; i < t->nfactors; i++)
        size = sum(size, sum(1, product(size_of_atom(t->factors[i].atom),
                                        (wide)t->factors[i].power)));
    return size;
}

static wide size_of(const jx_dim *dim)
{
    const jx_dim_term *t = jx_dim_terms(dim);
    wide size = jx_dim_nterms(dim) ? 0 : 1;

    for (int i = 0; i < jx_dim_nterms(dim); i++) {
        wide k = t[i].coefficient < 0 ? -(wide)t[i].coefficient
                                      : (wide)t[i].coefficient;
        size = sum(size, sum(1, product(k, size_of_factors(&t[i]))));
    }
    return size;
}

static int order_of_sizes(wide a, wide b)
{
    return (a > b) - (a < b);
}

static int order_of_kinds(jx_atom_kind a, jx_atom_kind b)
{
    return a == JX_ATOM_VAR || b == JX_ATOM_VAR
               ? (b == JX_ATOM_VAR) - (a == JX_ATOM_VAR)
               : strcmp(jx_atom_kind_name(a), jx_atom_kind_name(b));
}

static int order_of_dims(const jx_dim *a, const jx_dim *b);

static int order_of_atoms(const jx_dim_atom *a, const jx_dim_atom *b)
{
    int c;

    if (a == b)
        return 0;
    if ((c = order_of_sizes(size_of_atom(a), size_of_atom(b))) ||
        (c = order_of_kinds(a->kind, b->kind)))
        return c;
    if (a->kind == JX_ATOM_VAR)
        return (c = strcmp(a->name, b->name)) ? c : a->scope - b->scope;
    return (c = order_of_dims(a->a, b->a)) ? c : order_of_dims(a->b, b->b);
}

static int order_of_terms(const jx_dim_term *s, const jx_dim_term *t)
{
    int c = order_of_sizes(size_of_factors(s), size_of_factors(t));

    for (int i = 0; !c && i < s->nfactors && i < t->nfactors; i++)
        if (!(c = order_of_atoms(s->factors[i].atom, t->factors[i].atom)))
            c = s->factors[i].power - t->factors[i].power;
    return c ? c : s->nfactors - t->nfactors;
}

static int order_of_numbers(jx_int a, jx_int b)
{
    return (a > b) - (a < b);
}

static int order_of_dims(const jx_dim *a, const jx_dim *b)
{
    const jx_dim_term *s = jx_dim_terms(a), *t = jx_dim_terms(b);
    int m = jx_dim_nterms(a), n = jx_dim_nterms(b);
    jx_int x, y;
    int c = a == b ? 0 : order_of_sizes(size_of(a), size_of(b));

    if (a == b || c)
        return c;
    if (jx_dim_is_wide(a, &x) && jx_dim_is_wide(b, &y))
        return order_of_numbers(x, y);
    for (int i = 0; !c && i < m && i < n; i++)
        if (!(c = order_of_terms(&s[i], &t[i])))
            c = order_of_numbers(s[i].coefficient, t[i].coefficient);
    return c ? c : m - n;
}

const char *jx_dim_fault(const jx_dim *dim)
{
    const jx_dim_term *t = jx_dim_terms(dim);

    if (jx_dim_nodes(dim) > MOST_NODES)
        return NULL;
    for (int i = 0; i < jx_dim_nterms(dim); i++) {
        if (!t[i].coefficient)
            return "a term of a size has the coefficient 0";
        if (i && order_of_terms(&t[i - 1], &t[i]) <= 0)
            return "terms of a size are not sorted, or of one product";
        for (int k = 0; k < t[i].nfactors; k++)
            if (t[i].factors[k].power < 1 ||
                (k && order_of_atoms(t[i].factors[k - 1].atom,
                                     t[i].factors[k].atom) <= 0))
                return "factors of a term are not sorted, or the same";
    }
    return NULL;
}

/* Values. */

typedef struct trial {
    int number;
    jx_dim_range_of *range; /* or NULL: from 1 on */
    void *env;
} trial;

/* Small and large ones, by name: a value within the variable's range. */
static bool value_of(void *env, const jx_dim_atom *var, jx_int *value)
{
    const trial *t = env;
    jx_dim_range r = {.has_low = true, .low = 1};
    uint64_t hash = jx_hash_mix((uint64_t)var->scope, (uint64_t)t->number);
    static const jx_int most[TRIES] = {3, 7, 40, 100, 1000, 100000};

    if (t->range)
        t->range(t->env, var, &r);
    for (const char *c = var->name; *c; c++)
        hash = jx_hash_mix(hash, (unsigned char)*c);
    *value = (jx_int)(hash >> 8) % most[t->number];
    if (r.has_low && r.has_high) {
        if (r.high < r.low || r.low < -most[TRIES - 1] || r.high - r.low < 0)
            return false;
        *value = r.low + *value % (r.high - r.low + 1);
        return true;
    }
    *value = r.has_low ? r.low + *value : r.has_high ? r.high - *value : *value;
    return true;
}

static bool is_small(const jx_dim *dim)
{
    return dim && jx_dim_nodes(dim) <= MOST_EVALUATED;
}

static bool applied(char op, jx_int a, jx_int b, jx_int *value)
{
    jx_int rest;

    switch (op) {
    case '+': return !__builtin_add_overflow(a, b, value);
    case '-': return !__builtin_sub_overflow(a, b, value);
    case '*': return !__builtin_mul_overflow(a, b, value);
    case '/': return jx_int_floordiv(a, b, value, &rest);
    case '%': return jx_int_floordiv(a, b, &rest, value);
    case '>': *value = a > b ? a : b; return true;
    default: *value = a < b ? a : b; return true;
    }
}

bool jx_dim_is_result(char op, const jx_dim *a, const jx_dim *b,
                      const jx_dim *result)
{
    if (!is_small(a) || !is_small(b) || !is_small(result))
        return true;
    for (int i = 0; i < TRIES; i++) {
        trial t = {.number = i};
        jx_int x, y, wanted, got;
        if (jx_dim_eval_exact(a, value_of, &t, &x) &&
            jx_dim_eval_exact(b, value_of, &t, &y) &&
            applied(op, x, y, &wanted) &&
            jx_dim_eval_exact(result, value_of, &t, &got) && got != wanted)
            return false;
    }
    return true;
}

bool jx_dim_same_values(const jx_dim *a, const jx_dim *b,
                        jx_dim_range_of *range, void *env)
{
    if (!is_small(a) || !is_small(b))
        return true;
    for (int i = 0; i < TRIES; i++) {
        trial t = {.number = i, .range = range, .env = env};
        jx_int x, y;
        if (jx_dim_eval_exact(a, value_of, &t, &x) &&
            jx_dim_eval_exact(b, value_of, &t, &y) && x != y)
            return false;
    }
    return true;
}
