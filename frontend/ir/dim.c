/* dim.c - see dim.h: order, interning, arithmetic, rewriting, mapping. */
#include "frontend/ir/dim_parts.h"

#include "frontend/base/assert.h"
#include "frontend/ir/dim_verify.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_DEPTH = 512,     /* of nested atoms */
    MAX_NODES = 1 << 16, /* of the dim written out as a tree */
    MAX_TERMS = 1 << 13,
    MAX_PRODUCT = 1 << 16, /* terms multiplied out before collecting */
    MAX_POWER = 1 << 20,
    MAX_REWRITTEN_POWER = 1 << 10,
    MAX_DIVISION_STEPS = 1 << 10,
};

/* -------------------------------------------------------------------------
 * JAX's order
 * ---------------------------------------------------------------------- */

static jx_wide add_size(jx_wide a, jx_wide b)
{
    jx_wide sum;

    return __builtin_add_overflow(a, b, &sum) ? ~(jx_wide)0 : sum;
}

static jx_wide mul_size(jx_wide a, jx_wide b)
{
    jx_wide product;

    return __builtin_mul_overflow(a, b, &product) ? ~(jx_wide)0 : product;
}

static jx_wide magnitude(jx_int k)
{
    return k < 0 ? -(jx_wide)k : (jx_wide)k;
}

static int compare_sizes(jx_wide a, jx_wide b)
{
    return (a > b) - (a < b);
}

/* The place of an operation in the order of their names. */
static int kind_rank(jx_atom_kind kind)
{
    switch (kind) {
    case JX_ATOM_VAR: return 0;
    case JX_ATOM_FLOORDIV: return 1;
    case JX_ATOM_MAX: return 2;
    case JX_ATOM_MIN: return 3;
    case JX_ATOM_MOD: return 4;
    }
    return 5;
}

static int compare_dims(const jx_dim *a, const jx_dim *b);

static int compare_atoms(const jx_dim_atom *a, const jx_dim_atom *b)
{
    int c;

    if (a == b)
        return 0;
    if ((c = compare_sizes(jx_dim_node_of(a)->size, jx_dim_node_of(b)->size)))
        return c;
    if ((c = kind_rank(a->kind) - kind_rank(b->kind)))
        return c;
    if (a->kind == JX_ATOM_VAR) {
        if ((c = strcmp(a->name, b->name)))
            return c;
        return (a->scope > b->scope) - (a->scope < b->scope);
    }
    if ((c = compare_dims(a->a, b->a)))
        return c;
    return compare_dims(a->b, b->b);
}

static int compare_monos(const jx_dim_mono *a, const jx_dim_mono *b)
{
    int c;

    if (a == b)
        return 0;
    if ((c = compare_sizes(a->size, b->size)))
        return c;
    for (int i = 0; i < a->nfactors && i < b->nfactors; i++) {
        if ((c = compare_atoms(a->factors[i].atom, b->factors[i].atom)))
            return c;
        if ((c = a->factors[i].power - b->factors[i].power))
            return c;
    }
    return a->nfactors - b->nfactors;
}

static int compare_coefficients(jx_int a, jx_int b)
{
    return (a > b) - (a < b);
}

static int compare_dims(const jx_dim *a, const jx_dim *b)
{
    int c;

    if (a == b)
        return 0;
    if ((c = compare_sizes(a->size, b->size)))
        return c;
    if (jx_dim_is_constant(a) && jx_dim_is_constant(b))
        return compare_coefficients(jx_dim_constant(a), jx_dim_constant(b));
    for (int i = 0; i < a->nterms && i < b->nterms; i++) {
        const jx_dim_term *s = &a->terms[i], *t = &b->terms[i];

        if ((c = compare_monos(jx_dim_mono_of(s), jx_dim_mono_of(t))))
            return c;
        if ((c = compare_coefficients(s->coefficient, t->coefficient)))
            return c;
    }
    return a->nterms - b->nterms;
}

int jx_dim_order(const jx_dim *a, const jx_dim *b)
{
    return compare_dims(a, b);
}

/* -------------------------------------------------------------------------
 * Interning
 * ---------------------------------------------------------------------- */

static bool same_atom(const void *kept, const void *key)
{
    const jx_dim_atom *a = kept, *b = key;

    return a->kind == b->kind && a->scope == b->scope && a->name == b->name &&
           a->a == b->a && a->b == b->b;
}

static uint64_t hash_atom(const jx_dim_atom *a)
{
    uint64_t hash = jx_hash_mix((uint64_t)a->kind, (uint64_t)a->scope);

    if (a->kind == JX_ATOM_VAR)
        return jx_hash_mix(hash, (uint64_t)(uintptr_t)a->name);
    return jx_hash_mix(jx_hash_mix(hash, a->a->id), a->b->id);
}

static const jx_dim_atom *keep_atom(jx_dims *in, const jx_dim_atom *key)
{
    uint64_t hash = hash_atom(key);
    const jx_dim_atom *found = jx_intern_find(&in->atoms, hash, key, same_atom);

    if (found)
        return found;
    int nodes = 1, depth = 1;
    jx_wide size = 1;
    if (key->kind != JX_ATOM_VAR) {
        nodes += key->a->nodes + key->b->nodes;
        depth += key->a->depth > key->b->depth ? key->a->depth : key->b->depth;
        size = add_size(size, add_size(key->a->size, key->b->size));
    }
    if (nodes > MAX_NODES || depth > MAX_DEPTH)
        return NULL;
    jx_dim_node *kept = JX_NEW(in->ctx->arena, jx_dim_node);
    if (!kept)
        return NULL;
    *kept = (jx_dim_node){*key, size, nodes, depth};
    kept->a.id = in->natoms++;
    return jx_intern_add(&in->atoms, hash, kept) ? &kept->a : NULL;
}

typedef struct factors {
    const jx_dim_factor *at;
    int count;
} factors;

static bool same_mono(const void *kept, const void *key)
{
    const jx_dim_mono *m = kept;
    const factors *f = key;

    if (m->nfactors != f->count)
        return false;
    for (int i = 0; i < f->count; i++)
        if (m->factors[i].atom != f->at[i].atom ||
            m->factors[i].power != f->at[i].power)
            return false;
    return true;
}

static const jx_dim_mono *keep_mono(jx_dims *in, const jx_dim_factor *at,
                                    int count)
{
    factors key = {at, count};
    uint64_t hash = (uint64_t)count;

    for (int i = 0; i < count; i++)
        hash = jx_hash_mix(jx_hash_mix(hash, at[i].atom->id),
                           (uint64_t)at[i].power);
    const jx_dim_mono *found =
        jx_intern_find(&in->monos, hash, &key, same_mono);
    if (found)
        return found;
    jx_dim_mono *kept = jx_arena_alloc(
        in->ctx->arena, sizeof *kept + (size_t)count * sizeof *at);
    if (!kept)
        return NULL;
    kept->id = in->nmonos++;
    kept->nfactors = count;
    for (int i = 0; i < count; i++) {
        const jx_dim_node *a = jx_dim_node_of(at[i].atom);
        jx_wide size = mul_size(a->size, (jx_wide)at[i].power);

        kept->factors[i] = at[i];
        kept->size = add_size(kept->size, add_size(1, size));
        kept->nodes += a->nodes;
        if (kept->nodes > MAX_NODES)
            return NULL;
        if (a->depth > kept->depth)
            kept->depth = a->depth;
    }
    return jx_intern_add(&in->monos, hash, kept) ? kept : NULL;
}

typedef struct terms {
    const jx_dim_term *at;
    size_t count;
} terms;

static bool same_dim(const void *kept, const void *key)
{
    const jx_dim *d = kept;
    const terms *t = key;

    if ((size_t)d->nterms != t->count)
        return false;
    for (size_t i = 0; i < t->count; i++)
        if (d->terms[i].coefficient != t->at[i].coefficient ||
            d->terms[i].factors != t->at[i].factors)
            return false;
    return true;
}

/* A new dim of these terms, sorted and without zeros. */
static jx_dim *make_dim(jx_dims *in, const jx_dim_term *at, size_t count)
{
    jx_dim *kept = JX_NEW(in->ctx->arena, jx_dim);

    if (!kept)
        return NULL;
    kept->terms = jx_arena_copy(in->ctx->arena, at, count * sizeof *at);
    if (!kept->terms)
        return NULL;
    kept->nterms = (int)count;
    kept->size = count ? 0 : 1;
    kept->nodes = 1;
    for (size_t i = 0; i < count; i++) {
        const jx_dim_mono *m = jx_dim_mono_of(&at[i]);
        jx_wide size = mul_size(magnitude(at[i].coefficient), m->size);

        kept->size = add_size(kept->size, add_size(1, size));
        kept->nodes += 1 + m->nodes;
        if (kept->nodes > MAX_NODES)
            return NULL;
        if (m->depth > kept->depth)
            kept->depth = m->depth;
    }
    kept->id = in->ndims++;
    return kept;
}

static uint64_t hash_terms(const jx_dim_term *at, size_t count)
{
    uint64_t hash = count;

    for (size_t i = 0; i < count; i++) {
        jx_wide k = (jx_wide)at[i].coefficient;
        uint64_t half = (uint64_t)(k >> 64) * 0x9e3779b97f4a7c15u;

        hash =
            jx_hash_mix(hash, ((uint64_t)k ^ half) +
                                  ((uint64_t)jx_dim_mono_of(&at[i])->id << 32));
    }
    return hash;
}

bool jx_dims_hold(const jx_dims *in, const jx_dim *dim)
{
    terms key = {dim->terms, (size_t)dim->nterms};

    return jx_intern_find(&in->dims, hash_terms(key.at, key.count), &key,
                          same_dim) == dim;
}

static const jx_dim *keep_dim(jx_dims *in, const jx_dim_term *at, size_t count)
{
    terms key = {at, count};

    if (count > MAX_TERMS)
        return NULL;
    uint64_t hash = hash_terms(at, count);
    const jx_dim *found = jx_intern_find(&in->dims, hash, &key, same_dim);
    if (found)
        return found;
    jx_dim *kept = make_dim(in, at, count);
    JX_ASSERT_NONE(kept ? jx_dim_fault(kept) : NULL);
    return kept && jx_intern_add(&in->dims, hash, kept) ? kept : NULL;
}

/* -2^127 is left out, so that every coefficient can be negated. */
static bool is_coefficient(jx_int k)
{
    return k != (jx_int)((jx_wide)1 << 127);
}

static const jx_dim *dim_of_term(jx_dims *in, jx_int k, const jx_dim_mono *m)
{
    if (!is_coefficient(k))
        return NULL;
    jx_dim_term term = {k, m->nfactors, m->factors};

    return keep_dim(in, &term, k != 0);
}

/* -------------------------------------------------------------------------
 * Scratch
 * ---------------------------------------------------------------------- */

static bool push_term(jx_dims *in, jx_int k, const jx_dim_mono *m)
{
    if (!k || !is_coefficient(k))
        return !k;
    if (in->nterms == in->terms_capacity) {
        size_t capacity = in->terms_capacity ? in->terms_capacity * 2 : 64;
        jx_dim_term *at = JX_NEW_ARRAY(in->ctx->arena, capacity, jx_dim_term);
        if (!at)
            return false;
        if (in->nterms)
            memcpy(at, in->terms, in->nterms * sizeof *at);
        in->terms = at;
        in->terms_capacity = capacity;
    }
    in->terms[in->nterms++] = (jx_dim_term){k, m->nfactors, m->factors};
    return true;
}

static jx_dim_factor *room_for_factors(jx_dims *in, size_t count)
{
    if (count > in->factors_capacity) {
        size_t capacity = count < 16 ? 16 : count * 2;
        in->factors = JX_NEW_ARRAY(in->ctx->arena, capacity, jx_dim_factor);
        in->factors_capacity = in->factors ? capacity : 0;
    }
    return in->factors;
}

/* -------------------------------------------------------------------------
 * Arithmetic
 * ---------------------------------------------------------------------- */

static const jx_dim *rewritten(jx_dims *in, const jx_dim *dim);

/* The result, which has the value of its operands' (but where declared
 * equalities rewrite it). */
static const jx_dim *valued(const jx_dims *in, char op, const jx_dim *a,
                            const jx_dim *b, const jx_dim *result)
{
    (void)in;
    (void)op;
    (void)a;
    (void)b;
    JX_ASSERT((!a || jx_dims_hold(in, a)) && (!b || jx_dims_hold(in, b)));
    JX_ASSERT(in->nrules || jx_dim_is_result(op, a, b, result));
    return result;
}

jx_dims *jx_dims_new(jx_ctx *ctx)
{
    jx_dims *in = JX_NEW(ctx->arena, jx_dims);

    if (!in)
        return NULL;
    in->ctx = ctx;
    jx_intern_init(&in->atoms, ctx->arena);
    jx_intern_init(&in->monos, ctx->arena);
    jx_intern_init(&in->dims, ctx->arena);
    jx_intern_init(&in->rules, ctx->arena);
    in->one = keep_mono(in, NULL, 0);
    in->zero = keep_dim(in, NULL, 0);
    return in->one && in->zero ? in : NULL;
}

jx_ctx *jx_dims_ctx(const jx_dims *in)
{
    return in->ctx;
}

const jx_dim *jx_dim_wide(jx_dims *in, jx_int value)
{
    return dim_of_term(in, value, in->one);
}

const jx_dim *jx_dim_int(jx_dims *in, int64_t value)
{
    const jx_dim **met = &in->numbers[(uint64_t)value % 256];

    if (!*met || jx_dim_constant(*met) != value)
        *met = jx_dim_wide(in, value);
    return *met;
}

const jx_dim *jx_dim_of_atom(jx_dims *in, const jx_dim_atom *a)
{
    jx_dim_factor factor = {a, 1};
    const jx_dim_mono *m = a ? keep_mono(in, &factor, 1) : NULL;

    return m ? rewritten(in, dim_of_term(in, 1, m)) : NULL;
}

const jx_dim_atom *jx_dim_var_atom(jx_dims *in, const char *name, int scope)
{
    jx_dim_atom key = {.kind = JX_ATOM_VAR, .scope = scope};

    key.name = jx_intern_text(in->ctx, name);
    return key.name ? keep_atom(in, &key) : NULL;
}

const jx_dim *jx_dim_var(jx_dims *in, const char *name, int scope)
{
    return jx_dim_of_atom(in, jx_dim_var_atom(in, name, scope));
}

const jx_dim *jx_dim_literal(jx_dims *in, jx_atom_kind kind, const jx_dim *a,
                             const jx_dim *b)
{
    jx_dim_atom key = {.kind = kind, .a = a, .b = b};

    return a && b ? jx_dim_of_atom(in, keep_atom(in, &key)) : NULL;
}

static bool push_scaled(jx_dims *in, const jx_dim_term *t, jx_int by)
{
    jx_int k;

    return !__builtin_mul_overflow(t->coefficient, by, &k) &&
           push_term(in, k, jx_dim_mono_of(t));
}

static bool push_sum(jx_dims *in, const jx_dim_term *s, jx_int ks,
                     const jx_dim_term *t, jx_int kt)
{
    jx_int a, b, sum;

    return !__builtin_mul_overflow(s->coefficient, ks, &a) &&
           !__builtin_mul_overflow(t->coefficient, kt, &b) &&
           !__builtin_add_overflow(a, b, &sum) &&
           push_term(in, sum, jx_dim_mono_of(s));
}

/* a*ka + b*kb; both sorted alike, so one merge does it. */
static const jx_dim *combine(jx_dims *in, const jx_dim *a, jx_int ka,
                             const jx_dim *b, jx_int kb)
{
    int i = 0, j = 0;
    bool ok = a && b;

    in->nterms = 0;
    while (ok && i < a->nterms && j < b->nterms) {
        const jx_dim_term *s = &a->terms[i], *t = &b->terms[j];
        int c = compare_monos(jx_dim_mono_of(s), jx_dim_mono_of(t));

        ok = c > 0   ? push_scaled(in, s, ka)
             : c < 0 ? push_scaled(in, t, kb)
                     : push_sum(in, s, ka, t, kb);
        i += c >= 0;
        j += c <= 0;
    }
    for (; ok && i < a->nterms; i++)
        ok = push_scaled(in, &a->terms[i], ka);
    for (; ok && j < b->nterms; j++)
        ok = push_scaled(in, &b->terms[j], kb);
    return ok ? keep_dim(in, in->terms, in->nterms) : NULL;
}

/* What JAX gives back as it is, without a look at the rules: 0 added, or 1
 * multiplied. */
const jx_dim *jx_dim_add(jx_dims *in, const jx_dim *a, const jx_dim *b)
{
    if (a == in->zero || b == in->zero)
        return a == in->zero ? b : a;
    return valued(in, '+', a, b, rewritten(in, combine(in, a, 1, b, 1)));
}

const jx_dim *jx_dim_sub(jx_dims *in, const jx_dim *a, const jx_dim *b)
{
    if (b == in->zero)
        return a;
    return valued(in, '-', a, b, rewritten(in, combine(in, a, 1, b, -1)));
}

const jx_dim *jx_dim_neg(jx_dims *in, const jx_dim *a)
{
    return rewritten(in, combine(in, a, -1, in->zero, 0));
}

static const jx_dim *scaled(jx_dims *in, const jx_dim *a, jx_int by)
{
    return by == 1 ? a : rewritten(in, combine(in, a, by, in->zero, 0));
}

/* The product, or with sign -1 the quotient; NULL if that is no mono. */
static const jx_dim_mono *times(jx_dims *in, const jx_dim_mono *a,
                                const jx_dim_mono *b, int sign)
{
    int i = 0, j = 0, n = 0;
    jx_dim_factor *to =
        room_for_factors(in, (size_t)(a->nfactors + b->nfactors));

    if (!to)
        return NULL;
    while (i < a->nfactors || j < b->nfactors) {
        int c = i == a->nfactors ? -1
                : j == b->nfactors
                    ? 1
                    : compare_atoms(a->factors[i].atom, b->factors[j].atom);
        jx_dim_factor f = c >= 0 ? a->factors[i] : b->factors[j];

        f.power = c >= 0 ? f.power : 0;
        if (c <= 0)
            f.power += sign * b->factors[j].power;
        if (f.power < 0 || f.power > MAX_POWER)
            return NULL;
        if (f.power)
            to[n++] = f;
        i += c >= 0;
        j += c <= 0;
    }
    return keep_mono(in, to, n);
}

static int largest_first(const void *a, const void *b)
{
    return -compare_monos(jx_dim_mono_of(a), jx_dim_mono_of(b));
}

/* Sorts the scratch terms and adds up those of one mono. */
static const jx_dim *collect(jx_dims *in)
{
    size_t n = 0;

    if (in->nterms > 1)
        qsort(in->terms, in->nterms, sizeof *in->terms, largest_first);
    for (size_t i = 0; i < in->nterms;) {
        jx_dim_term sum = in->terms[i++];

        for (; i < in->nterms && in->terms[i].factors == sum.factors; i++)
            if (__builtin_add_overflow(sum.coefficient,
                                       in->terms[i].coefficient,
                                       &sum.coefficient) ||
                !is_coefficient(sum.coefficient))
                return NULL;
        if (sum.coefficient)
            in->terms[n++] = sum;
    }
    return keep_dim(in, in->terms, n);
}

const jx_dim *jx_dim_mul(jx_dims *in, const jx_dim *a, const jx_dim *b)
{
    if (!a || !b)
        return NULL;
    if (jx_dim_is_constant(a))
        return scaled(in, b, jx_dim_constant(a));
    if (jx_dim_is_constant(b))
        return scaled(in, a, jx_dim_constant(b));
    if ((int64_t)a->nterms * b->nterms > MAX_PRODUCT)
        return NULL;
    in->nterms = 0;
    for (int i = 0; i < a->nterms; i++)
        for (int j = 0; j < b->nterms; j++) {
            const jx_dim_mono *m = times(in, jx_dim_mono_of(&a->terms[i]),
                                         jx_dim_mono_of(&b->terms[j]), 1);
            jx_int k;

            if (!m ||
                __builtin_mul_overflow(a->terms[i].coefficient,
                                       b->terms[j].coefficient, &k) ||
                !push_term(in, k, m))
                return NULL;
        }
    return valued(in, '*', a, b, rewritten(in, collect(in)));
}

/* One factor after the other, as JAX does it: rules may fire on the way. */
static const jx_dim *pow_step_by_step(jx_dims *in, const jx_dim *a,
                                      int64_t power)
{
    const jx_dim *result = a;

    if (power > MAX_REWRITTEN_POWER)
        return NULL;
    for (int64_t i = 1; result && i < power; i++)
        result = jx_dim_mul(in, result, a);
    return power ? result : jx_dim_int(in, 1);
}

const jx_dim *jx_dim_pow(jx_dims *in, const jx_dim *a, int64_t power)
{
    const jx_dim *result = jx_dim_int(in, 1);

    if (!a || power < 0 || power > MAX_POWER)
        return NULL;
    if (in->nrules)
        return pow_step_by_step(in, a, power);
    while (result && power) {
        if (power & 1)
            result = jx_dim_mul(in, result, a);
        power >>= 1;
        if (power && !(a = jx_dim_mul(in, a, a)))
            return NULL;
    }
    return result;
}

/* One step of polynomial division: the term that, times b, cancels the
 * leading term of a.  False if there is none. */
static const jx_dim *quotient_term(jx_dims *in, const jx_dim *a,
                                   const jx_dim *b)
{
    const jx_dim_term *lead = &a->terms[0];
    const jx_dim_mono *m = jx_dim_mono_of(lead);
    jx_int by =
        jx_dim_is_constant(b) ? jx_dim_constant(b) : b->terms[0].coefficient;
    jx_int q, r;

    if (!jx_dim_is_constant(b))
        m = times(in, m, jx_dim_mono_of(&b->terms[0]), -1);
    if (!m || !jx_int_floordiv(lead->coefficient, by, &q, &r) || r)
        return NULL;
    return rewritten(in, dim_of_term(in, q, m));
}

/* a == b * quotient + remainder as JAX finds it: by leading terms, down to a
 * constant, which must be 0 unless b is a number.  The steps are limited
 * because JAX's order does not promise an end. */
static bool divide(jx_dims *in, const jx_dim *a, const jx_dim *b,
                   const jx_dim **quotient, const jx_dim **remainder)
{
    const jx_dim *sum = in->zero;
    jx_int q, r;

    for (int step = 0; !jx_dim_is_constant(a); step++) {
        const jx_dim *term =
            step < MAX_DIVISION_STEPS ? quotient_term(in, a, b) : NULL;
        sum = jx_dim_add(in, sum, term);
        a = jx_dim_sub(in, a, jx_dim_mul(in, term, b));
        if (!a || !sum)
            return false;
    }
    if (!jx_dim_is_constant(b)) {
        *quotient = sum;
        *remainder = in->zero;
        return a == in->zero;
    }
    if (!jx_int_floordiv(jx_dim_constant(a), jx_dim_constant(b), &q, &r))
        return false;
    *quotient = jx_dim_add(in, sum, jx_dim_wide(in, q));
    *remainder = jx_dim_wide(in, r);
    return *quotient && *remainder;
}

const jx_dim *jx_dim_floordiv(jx_dims *in, const jx_dim *a, const jx_dim *b)
{
    const jx_dim *q, *r;

    if (a && b && divide(in, a, b, &q, &r))
        return valued(in, '/', a, b, q);
    return jx_dim_literal(in, JX_ATOM_FLOORDIV, a, b);
}

const jx_dim *jx_dim_mod(jx_dims *in, const jx_dim *a, const jx_dim *b)
{
    const jx_dim *q, *r;

    if (a && b && divide(in, a, b, &q, &r))
        return valued(in, '%', a, b, r);
    return jx_dim_literal(in, JX_ATOM_MOD, a, b);
}

const jx_dim *jx_dim_divide_exactly(jx_dims *in, const jx_dim *a,
                                    const jx_dim *b)
{
    const jx_dim *q, *r;

    return a && b && divide(in, a, b, &q, &r) && r == in->zero ? q : NULL;
}

const jx_dim *jx_dim_max(jx_dims *in, const jx_dim *a, const jx_dim *b)
{
    const jx_dim *d = jx_dim_sub(in, a, b);

    if (d && jx_dim_is_constant(d))
        return valued(in, '>', a, b, jx_dim_constant(d) >= 0 ? a : b);
    return jx_dim_literal(in, JX_ATOM_MAX, a, b);
}

const jx_dim *jx_dim_min(jx_dims *in, const jx_dim *a, const jx_dim *b)
{
    const jx_dim *d = jx_dim_sub(in, a, b);

    if (d && jx_dim_is_constant(d))
        return valued(in, '<', a, b, jx_dim_constant(d) >= 0 ? b : a);
    return jx_dim_literal(in, JX_ATOM_MIN, a, b);
}

const jx_dim *jx_dim_apply(jx_dims *in, jx_atom_kind kind, const jx_dim *a,
                           const jx_dim *b)
{
    switch (kind) {
    case JX_ATOM_FLOORDIV: return jx_dim_floordiv(in, a, b);
    case JX_ATOM_MOD: return jx_dim_mod(in, a, b);
    case JX_ATOM_MAX: return jx_dim_max(in, a, b);
    case JX_ATOM_MIN: return jx_dim_min(in, a, b);
    case JX_ATOM_VAR: break;
    }
    return NULL;
}

/* -------------------------------------------------------------------------
 * Rewriting
 * ---------------------------------------------------------------------- */

/* coefficient*product, wherever it stands, is `after`. */
typedef struct rule {
    const jx_dim_mono *product;
    jx_int coefficient;
    const jx_dim *after;
} rule;

static bool same_product(const void *kept, const void *key)
{
    return ((const rule *)kept)->product == key;
}

/* The rule for k times the product, or NULL. */
static const rule *rule_for(jx_dims *in, const jx_dim_mono *product, jx_int k)
{
    const rule *r =
        product ? jx_intern_find(&in->rules, product->id, product, same_product)
                : NULL;

    return r && k % r->coefficient == 0 ? r : NULL;
}

/* The dim without its term `i`, for which stands `times` * rule->after, each
 * term multiplied by the product `by` (NULL: none). */
static const jx_dim *replace_term(jx_dims *in, const jx_dim *dim, int i,
                                  const rule *r, const jx_dim_mono *by)
{
    jx_int times_after = dim->terms[i].coefficient / r->coefficient, k;
    bool ok = true;

    in->nterms = 0;
    for (int j = 0; ok && j < dim->nterms; j++)
        if (j != i)
            ok = push_term(in, dim->terms[j].coefficient,
                           jx_dim_mono_of(&dim->terms[j]));
    for (int j = 0; ok && j < r->after->nterms; j++) {
        const jx_dim_term *t = &r->after->terms[j];
        const jx_dim_mono *m =
            by ? times(in, jx_dim_mono_of(t), by, 1) : jx_dim_mono_of(t);

        ok = m && !__builtin_mul_overflow(t->coefficient, times_after, &k) &&
             push_term(in, k, m);
    }
    return ok ? collect(in) : NULL;
}

/* The dim as JAX has it after an operation: the first term that a rule fits, as
 * a whole or by one of its factors, is rewritten, and no other. */
static const jx_dim *rewritten(jx_dims *in, const jx_dim *dim)
{
    for (int i = 0; in->nrules && dim && i < dim->nterms; i++) {
        const jx_dim_term *t = &dim->terms[i];
        const rule *r = rule_for(in, jx_dim_mono_of(t), t->coefficient);

        if (r)
            return replace_term(in, dim, i, r, NULL);
        for (int j = 0; t->nfactors > 1 && j < t->nfactors; j++) {
            const jx_dim_mono *factor = keep_mono(in, &t->factors[j], 1);

            r = rule_for(in, factor, t->coefficient);
            if (r)
                return replace_term(in, dim, i, r,
                                    times(in, jx_dim_mono_of(t), factor, -1));
        }
    }
    return dim;
}

bool jx_dims_have_rewrites(const jx_dims *in)
{
    return in->nrules > 0;
}

bool jx_dims_rewrite(jx_dims *in, const jx_dim *before, const jx_dim *after)
{
    rule *r;

    if (!before || !after || before->nterms != 1 ||
        jx_dim_is_constant(before) ||
        jx_intern_find(&in->rules, jx_dim_mono_of(before->terms)->id,
                       jx_dim_mono_of(before->terms), same_product))
        return false;
    r = JX_NEW(in->ctx->arena, rule);
    if (!r)
        return false;
    *r = (rule){jx_dim_mono_of(before->terms), before->terms->coefficient,
                after};
    if (!jx_intern_add(&in->rules, r->product->id, r))
        return false;
    in->nrules++;
    return true;
}

/* -------------------------------------------------------------------------
 * Mapping
 * ---------------------------------------------------------------------- */

/* The term with other dims for some of its atoms, NULL if for none; false on
 * overflow. */
static bool map_term(jx_dims *in, const jx_dim_term *t, jx_dim_mapping *map,
                     void *env, const jx_dim **to)
{
    const jx_dim *product = NULL;
    bool changed = false;

    for (int j = 0; j < t->nfactors; j++) {
        const jx_dim_factor *f = &t->factors[j];
        const jx_dim *put = NULL;

        if (!map(env, f->atom, &put))
            return false;
        if (put && !changed) {
            /* The first: what stood before it stays. */
            const jx_dim_mono *before = keep_mono(in, t->factors, j);
            changed = true;
            product = before ? dim_of_term(in, t->coefficient, before) : NULL;
        }
        if (!changed)
            continue;
        if (!put)
            put = jx_dim_of_atom(in, f->atom);
        if (f->power != 1)
            put = jx_dim_pow(in, put, f->power);
        product = jx_dim_mul(in, product, put);
        if (!product)
            return false;
    }
    *to = product;
    return true;
}

const jx_dim *jx_dim_map(jx_dims *in, const jx_dim *dim, jx_dim_mapping *map,
                         void *env)
{
    const jx_dim *few[16], **parts = few;
    bool any = false, ok = dim != NULL;
    int n = dim ? dim->nterms : 0;

    if (n > 16 && !(parts = calloc((size_t)n, sizeof *parts))) {
        jx_starved(in->ctx);
        return NULL;
    }
    for (int i = 0; ok && i < n; i++) {
        parts[i] = NULL;
        ok = map_term(in, &dim->terms[i], map, env, &parts[i]);
        any |= parts[i] != NULL;
    }
    if (ok && any) {
        in->nterms = 0;
        for (int i = 0; ok && i < n; i++)
            if (!parts[i])
                ok = push_term(in, dim->terms[i].coefficient,
                               jx_dim_mono_of(&dim->terms[i]));
            else
                for (int j = 0; ok && j < parts[i]->nterms; j++)
                    ok = push_term(in, parts[i]->terms[j].coefficient,
                                   jx_dim_mono_of(&parts[i]->terms[j]));
        dim = ok ? collect(in) : NULL;
    }
    if (parts != few)
        free(parts);
    return ok ? dim : NULL;
}
