/* value.c - integers and truth values as dims (see sizes.h). */
#include "frontend/sizes/sizes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The scope of auxiliary variables: no user's. */
enum {
    AUX_SCOPE = 1 << 20,
    MOST_FACTS = 40,
    MOST_DECLARED = 16,
    MOST_SPLITS = 6,
    MOST_CANDIDATES = 6,
    MOST_COND = 64
};

/* -- facts: what holds in a case ------------------------------------------- */

typedef struct fact {
    const jx_dim *dim;
    jx_dim_range range;
} fact;

typedef struct facts {
    const jx_sizes *s;
    int count;
    fact at[MOST_FACTS];
} facts;

static void narrow(jx_dim_range *to, jx_dim_range by)
{
    if (by.has_low && (!to->has_low || by.low > to->low)) {
        to->low = by.low;
        to->has_low = true;
    }
    if (by.has_high && (!to->has_high || by.high < to->high)) {
        to->high = by.high;
        to->has_high = true;
    }
}

static bool is_number(jx_dim_range r, jx_int value)
{
    return r.has_low && r.has_high && r.low == value && r.high == value;
}

static const jx_sz_aux *aux_of(const jx_sizes *s, const jx_dim_atom *atom)
{
    size_t number = 0;

    if (atom->kind != JX_ATOM_VAR || atom->scope != AUX_SCOPE)
        return NULL;
    for (const char *c = atom->name; *c; c++)
        number = number * 10 + (size_t)(*c - '0');
    return number < s->aux.count ? s->aux.at[number] : NULL;
}

static bool shift(jx_int value, jx_int by, jx_int *to)
{
    return !__builtin_add_overflow(value, by, to);
}

/* From a range of `f` to one of dim = f + by. */
static void narrow_by_sum(jx_dim_range *to, jx_dim_range f, jx_int by)
{
    jx_dim_range r = {0};

    r.has_low = f.has_low && shift(f.low, by, &r.low);
    r.has_high = f.has_high && shift(f.high, by, &r.high);
    narrow(to, r);
}

/* The number that is added to the rest of a dim. */
static jx_int constant_of(const jx_dim *dim)
{
    int n = jx_dim_nterms(dim);
    const jx_dim_term *last = jx_dim_terms(dim) + n - 1;

    return n && !last->nfactors ? last->coefficient : 0;
}

/* The dim is the atom and a number (that can be negated). */
static bool is_atom_plus(const jx_dim *dim, const jx_dim_atom *atom)
{
    const jx_dim_term *term = jx_dim_terms(dim);
    int n = jx_dim_nterms(dim);

    return n >= 1 && n <= 2 && term->nfactors == 1 && term->coefficient == 1 &&
           term->factors[0].power == 1 && term->factors[0].atom == atom &&
           (n == 1 || !term[1].nfactors) &&
           constant_of(dim) > -((jx_int)1 << 100);
}

static void range_of_atom(void *env, const jx_dim_atom *atom,
                          jx_dim_range *known)
{
    const facts *f = env;
    const jx_sz_aux *aux = aux_of(f->s, atom);

    if (aux && aux->kind != JX_SZ_OPAQUE)
        narrow(known,
               (jx_dim_range){aux->kind == JX_SZ_SIGN ? -1 : 0, 1, true, true});
    else if (!aux && atom->kind == JX_ATOM_VAR)
        narrow(known, (jx_dim_range){f->s->base, 0, true, false});
    for (int i = 0; i < f->count; i++) {
        if (atom->kind != JX_ATOM_VAR && atom->a == f->at[i].dim &&
            atom->kind <= JX_ATOM_MOD && is_number(f->at[i].range, 0))
            narrow(known, f->at[i].range); /* 0 divided by something */
        if (is_atom_plus(f->at[i].dim, atom))
            narrow_by_sum(known, f->at[i].range, -constant_of(f->at[i].dim));
    }
}

static jx_dim_range negated(jx_dim_range f)
{
    jx_dim_range r = {0};

    r.has_low =
        f.has_high && !__builtin_sub_overflow((jx_int)0, f.high, &r.low);
    r.has_high =
        f.has_low && !__builtin_sub_overflow((jx_int)0, f.low, &r.high);
    return r;
}

static jx_dim_range bounds_under(const facts *f, const jx_dim *dim)
{
    jx_dims *dims = f->s->dims;
    jx_dim_range range =
        jx_dim_bounds_by(dim, range_of_atom, (void *)(uintptr_t)f);

    for (int i = 0; i < f->count; i++) {
        const jx_dim *less = jx_dim_sub(dims, dim, f->at[i].dim);
        const jx_dim *more = jx_dim_add(dims, dim, f->at[i].dim);
        jx_int k;
        if (less && jx_dim_is_wide(less, &k))
            narrow_by_sum(&range, f->at[i].range, k);
        if (more && jx_dim_is_wide(more, &k))
            narrow_by_sum(&range, negated(f->at[i].range), k);
    }
    return range;
}

/* What the author declared holds everywhere. */
static void start_facts(facts *f, const jx_sizes *s)
{
    f->s = s;
    f->count = 0;
    for (size_t i = 0; i < s->constraints.count && f->count < MOST_DECLARED;
         i++) {
        const jx_scope_constraint *c = &s->constraints.at[i];
        jx_dim_range range = {0, 0, true, c->equal};
        const jx_dim *apart =
            c->differs ? NULL : jx_dim_sub(s->dims, c->lhs, c->rhs);
        if (apart)
            f->at[f->count++] = (fact){apart, range};
    }
}

jx_dim_range jx_sz_bounds(const jx_sizes *s, const jx_dim *dim)
{
    facts f;

    start_facts(&f, s);
    return bounds_under(&f, dim);
}

/* -- conditions ------------------------------------------------------------ */

static bool same_cond(const void *kept, const void *key)
{
    const jx_sz_cond *a = kept, *b = key;

    return a->kind == b->kind && a->dim == b->dim && a->a == b->a &&
           a->b == b->b;
}

static const jx_sz_cond *cond(jx_sizes *s, jx_sz_cond_kind kind,
                              const jx_dim *dim, const jx_sz_cond *a,
                              const jx_sz_cond *b)
{
    jx_sz_cond key = {kind, 1 + (a ? a->nodes : 0) + (b ? b->nodes : 0), dim, a,
                      b};
    uint64_t hash = jx_hash_mix((uintptr_t)dim, kind);
    const jx_sz_cond *kept;

    hash = jx_hash_mix(jx_hash_mix(hash, (uintptr_t)a), (uintptr_t)b);
    kept = jx_intern_find(&s->conds, hash, &key, same_cond);
    if (!kept && key.nodes <= MOST_COND) {
        kept = jx_arena_copy(s->ctx->arena, &key, sizeof key);
        if (kept && !jx_intern_add(&s->conds, hash, kept))
            kept = NULL;
    }
    return kept;
}

/* 1: it holds; 0: it does not; -1: it depends. */
static int decided(jx_sz_cond_kind kind, jx_dim_range r)
{
    bool zero = is_number(r, 0);
    bool apart = (r.has_low && r.low > 0) || (r.has_high && r.high < 0);

    switch (kind) {
    case JX_SZ_ZERO: return zero ? 1 : apart ? 0 : -1;
    case JX_SZ_NONZERO: return apart ? 1 : zero ? 0 : -1;
    case JX_SZ_NONNEG:
        return r.has_low && r.low >= 0 ? 1 : r.has_high && r.high < 0 ? 0 : -1;
    default: return -1;
    }
}

static const jx_sz_cond *leaf(jx_sizes *s, jx_sz_cond_kind kind,
                              const jx_dim *dim)
{
    int truth;

    if (!dim || jx_dim_nodes(dim) > JX_SZ_NODES)
        return NULL;
    truth = decided(kind, jx_sz_bounds(s, dim));
    return truth == 1   ? s->yes
           : truth == 0 ? s->no
                        : cond(s, kind, dim, NULL, NULL);
}

static const jx_dim *one(jx_sizes *s)
{
    return jx_dim_int(s->dims, 1);
}

const jx_sz_cond *jx_sz_compare(jx_sizes *s, jx_prim_id comparison,
                                const jx_dim *a, const jx_dim *b)
{
    const jx_dim *d = jx_dim_sub(s->dims, a, b);
    const jx_dim *n = jx_dim_sub(s->dims, b, a);

    if (!d || !n)
        return NULL;
    switch (comparison) {
    case JX_PRIM_eq: return leaf(s, JX_SZ_ZERO, d);
    case JX_PRIM_ne: return leaf(s, JX_SZ_NONZERO, d);
    case JX_PRIM_ge: return leaf(s, JX_SZ_NONNEG, d);
    case JX_PRIM_gt:
        return leaf(s, JX_SZ_NONNEG, jx_dim_sub(s->dims, d, one(s)));
    case JX_PRIM_le: return leaf(s, JX_SZ_NONNEG, n);
    case JX_PRIM_lt:
        return leaf(s, JX_SZ_NONNEG, jx_dim_sub(s->dims, n, one(s)));
    default: return NULL;
    }
}

const jx_sz_cond *jx_sz_and(jx_sizes *s, const jx_sz_cond *a,
                            const jx_sz_cond *b)
{
    if (a == s->no || b == s->no)
        return s->no;
    if (!a || !b)
        return NULL;
    if (a == s->yes || a == b)
        return b;
    return b == s->yes ? a : cond(s, JX_SZ_AND, NULL, a, b);
}

const jx_sz_cond *jx_sz_or(jx_sizes *s, const jx_sz_cond *a,
                           const jx_sz_cond *b)
{
    if (a == s->yes || b == s->yes)
        return s->yes;
    if (!a || !b)
        return NULL;
    if (a == s->no || a == b)
        return b;
    return b == s->no ? a : cond(s, JX_SZ_OR, NULL, a, b);
}

const jx_sz_cond *jx_sz_not(jx_sizes *s, const jx_sz_cond *a)
{
    const jx_dim *dim;

    if (!a)
        return NULL;
    switch (a->kind) {
    case JX_SZ_FALSE: return s->yes;
    case JX_SZ_TRUE: return s->no;
    case JX_SZ_ZERO: return leaf(s, JX_SZ_NONZERO, a->dim);
    case JX_SZ_NONZERO: return leaf(s, JX_SZ_ZERO, a->dim);
    case JX_SZ_NONNEG:
        dim = jx_dim_sub(s->dims, jx_dim_neg(s->dims, a->dim), one(s));
        return leaf(s, JX_SZ_NONNEG, dim);
    case JX_SZ_AND: return jx_sz_or(s, jx_sz_not(s, a->a), jx_sz_not(s, a->b));
    case JX_SZ_OR: return jx_sz_and(s, jx_sz_not(s, a->a), jx_sz_not(s, a->b));
    }
    return NULL;
}

/* -- auxiliaries ----------------------------------------------------------- */

static bool same_aux(const void *kept, const void *key)
{
    const jx_sz_aux *a = kept, *b = key;

    return a->kind == b->kind && a->a == b->a && a->b == b->b &&
           a->cond == b->cond && a->of == b->of && a->input == b->input &&
           a->element == b->element;
}

static const jx_dim *add_of(jx_sizes *s, const jx_sz_aux *key)
{
    uint64_t hash = jx_hash_mix((uintptr_t)key->a, key->kind);
    const jx_sz_aux *kept;
    jx_sz_aux *made;
    char name[24];

    hash = jx_hash_mix(hash, (uintptr_t)key->b);
    hash = jx_hash_mix(hash, (uintptr_t)key->cond);
    hash = jx_hash_mix(hash, (uintptr_t)key->of);
    hash = jx_hash_mix(hash, (uint64_t)key->input);
    hash = jx_hash_mix(hash, (uint64_t)key->element);
    kept = jx_intern_find(&s->auxs, hash, key, same_aux);
    if (kept)
        return jx_dim_of_atom(s->dims, kept->var);
    made = jx_arena_copy(s->ctx->arena, key, sizeof *key);
    snprintf(name, sizeof name, "%zu", s->aux.count);
    if (!made ||
        !(made->var = jx_dim_var_atom(s->dims, jx_intern_text(s->ctx, name),
                                      AUX_SCOPE)) ||
        !jx_intern_add(&s->auxs, hash, made))
        return NULL;
    JX_PUSH(s->ctx->arena, &s->aux, made);
    return jx_dim_of_atom(s->dims, made->var);
}

static const jx_dim *aux(jx_sizes *s, jx_sz_aux_kind kind, const jx_dim *a,
                         const jx_dim *b, const jx_sz_cond *c)
{
    jx_sz_aux key = {.kind = kind, .a = a, .b = b, .cond = c};

    return add_of(s, &key);
}

static bool cond_is_opaque(const jx_sizes *s, const jx_sz_cond *c, bool inputs)
{
    return (c->dim && jx_sz_is_opaque(s, c->dim, inputs)) ||
           (c->a && cond_is_opaque(s, c->a, inputs)) ||
           (c->b && cond_is_opaque(s, c->b, inputs));
}

const jx_dim *jx_sz_opaque(jx_sizes *s, jx_sz_aux like)
{
    like.kind = JX_SZ_OPAQUE;
    return add_of(s, &like);
}

bool jx_sz_is_opaque(const jx_sizes *s, const jx_dim *dim, bool inputs)
{
    int count = 0;
    const jx_dim_atom *const *vars = jx_dim_vars(s->dims, dim, &count);

    for (int i = 0; vars && i < count; i++) {
        const jx_sz_aux *a = aux_of(s, vars[i]);
        if (!a)
            continue;
        if (a->kind == JX_SZ_OPAQUE && (inputs || a->of))
            return true;
        /* What it stands for was made before it. */
        if ((a->a && jx_sz_is_opaque(s, a->a, inputs)) ||
            (a->b && jx_sz_is_opaque(s, a->b, inputs)) ||
            (a->cond && cond_is_opaque(s, a->cond, inputs)))
            return true;
    }
    return !vars;
}

/* The sign that all values have, or 2. */
static int sign_in(jx_dim_range r)
{
    if (r.has_low && r.low > 0)
        return 1;
    if (r.has_high && r.high < 0)
        return -1;
    return is_number(r, 0) ? 0 : 2;
}

const jx_dim *jx_sz_sign(jx_sizes *s, const jx_dim *a)
{
    int sign = a ? sign_in(jx_sz_bounds(s, a)) : 0;

    if (!a)
        return NULL;
    return sign == 2 ? aux(s, JX_SZ_SIGN, a, NULL, NULL)
                     : jx_dim_int(s->dims, sign);
}

const jx_dim *jx_sz_abs(jx_sizes *s, const jx_dim *a)
{
    jx_dim_range r;

    if (!a)
        return NULL;
    r = jx_sz_bounds(s, a);
    if (r.has_low && r.low >= 0)
        return a;
    if (r.has_high && r.high <= 0)
        return jx_dim_neg(s->dims, a);
    return jx_dim_max(s->dims, a, jx_dim_neg(s->dims, a));
}

/* What has to be added to floordiv(a, b) where a/b is rounded toward 0. */
static const jx_dim *carry(jx_sizes *s, const jx_dim *a, const jx_dim *b)
{
    const jx_dim *rest = jx_dim_mod(s->dims, a, b);
    jx_dim_range of_a = jx_sz_bounds(s, a), of_b = jx_sz_bounds(s, b);
    jx_int number;

    if (!rest || is_number(of_b, 0))
        return NULL;
    if ((jx_dim_is_wide(rest, &number) && number == 0) ||
        (of_a.has_low && of_a.low >= 0 && of_b.has_low && of_b.low >= 0) ||
        (of_a.has_high && of_a.high <= 0 && of_b.has_high && of_b.high <= 0))
        return jx_dim_int(s->dims, 0);
    if (jx_dim_is_wide(a, &number) && jx_dim_is_wide(b, &number))
        return one(s); /* of different signs, and not divisible */
    return aux(s, JX_SZ_CARRY, a, b, NULL);
}

const jx_dim *jx_sz_divide(jx_sizes *s, const jx_dim *a, const jx_dim *b)
{
    if (!a || !b)
        return NULL;
    return jx_dim_add(s->dims, jx_dim_floordiv(s->dims, a, b), carry(s, a, b));
}

const jx_dim *jx_sz_remainder(jx_sizes *s, const jx_dim *a, const jx_dim *b)
{
    if (!a || !b)
        return NULL;
    return jx_dim_sub(s->dims, jx_dim_mod(s->dims, a, b),
                      jx_dim_mul(s->dims, b, carry(s, a, b)));
}

/* -- choices by cases ------------------------------------------------------ */

typedef struct pair {
    const jx_dim *a, *b, *rest;
    int nonzero;
} pair;

typedef struct cases {
    jx_sizes *s;
    facts facts;
    int naux, nsigns, npairs, nchoices;
    const jx_sz_aux *aux[MOST_SPLITS];
    const jx_dim *signs[2 * MOST_SPLITS];
    int sign[2 * MOST_SPLITS];
    pair pairs[MOST_SPLITS];
    const jx_sz_cond *choices[MOST_SPLITS];
    int choice[MOST_SPLITS];
    const jx_sz_cond *cond;
    const jx_dim *yes, *no;
    const jx_dim *candidate; /* being tried, or NULL: they are collected */
    int ncandidates;
    const jx_dim *candidates[MOST_CANDIDATES];
} cases;

static bool add_sign(cases *c, const jx_dim *dim)
{
    for (int i = 0; i < c->nsigns; i++)
        if (c->signs[i] == dim)
            return true;
    if (c->nsigns == 2 * MOST_SPLITS)
        return false;
    c->signs[c->nsigns++] = dim;
    return true;
}

static bool add_aux(cases *c, const jx_sz_aux *a)
{
    for (int i = 0; i < c->naux; i++)
        if (c->aux[i] == a)
            return true;
    if (c->naux == MOST_SPLITS)
        return false;
    c->aux[c->naux++] = a;
    if (a->kind == JX_SZ_OPAQUE)
        return c->naux--; /* no number in any case */
    if (a->kind == JX_SZ_CHOICE) {
        c->choices[c->nchoices++] = a->cond;
        return true;
    }
    if (a->kind == JX_SZ_CARRY) {
        const jx_dim *rest = jx_dim_mod(c->s->dims, a->a, a->b);
        if (!rest || !add_sign(c, a->b))
            return false;
        c->pairs[c->npairs++] = (pair){a->a, a->b, rest, 0};
    }
    return add_sign(c, a->a);
}

static bool collect_dim(cases *c, const jx_dim *dim)
{
    int count = 0;
    const jx_dim_atom *const *vars =
        dim ? jx_dim_vars(c->s->dims, dim, &count) : NULL;

    for (int i = 0; vars && i < count; i++) {
        const jx_sz_aux *a = aux_of(c->s, vars[i]);
        if (a && !add_aux(c, a))
            return false;
    }
    return vars != NULL;
}

static bool collect_cond(cases *c, const jx_sz_cond *in)
{
    if (in->dim && !collect_dim(c, in->dim))
        return false;
    return (!in->a || collect_cond(c, in->a)) &&
           (!in->b || collect_cond(c, in->b));
}

/* False where that can't be: such a case does not count.  A fact for which
 * there is no room is left out, which proves less and nothing wrong. */
static bool assume(cases *c, const jx_dim *dim, jx_dim_range range)
{
    jx_dim_range now = bounds_under(&c->facts, dim);

    narrow(&now, range);
    if (now.has_low && now.has_high && now.low > now.high)
        return false;
    if (c->facts.count < MOST_FACTS)
        c->facts.at[c->facts.count++] = (fact){dim, range};
    return true;
}

static int sign_of(const cases *c, const jx_dim *dim)
{
    for (int i = 0; i < c->nsigns; i++)
        if (c->signs[i] == dim)
            return c->sign[i];
    return 2;
}

static int value_of(const cases *c, const jx_sz_aux *a)
{
    switch (a->kind) {
    case JX_SZ_SIGN: return sign_of(c, a->a);
    case JX_SZ_CARRY:
        for (int i = 0; i < c->npairs; i++)
            if (c->pairs[i].a == a->a && c->pairs[i].b == a->b)
                return c->pairs[i].nonzero &&
                       sign_of(c, a->a) * sign_of(c, a->b) < 0;
        return 0;
    case JX_SZ_CHOICE:
        for (int i = 0; i < c->nchoices; i++)
            if (c->choices[i] == a->cond)
                return c->choice[i];
        return 0;
    case JX_SZ_OPAQUE: break;
    }
    return 0;
}

static const jx_dim *in_case(const cases *c, const jx_dim *dim)
{
    for (int i = 0; dim && i < c->naux; i++)
        dim = jx_dim_substitute(c->s->dims, dim, c->aux[i]->var,
                                jx_dim_int(c->s->dims, value_of(c, c->aux[i])));
    return dim;
}

static int truth_in_case(const cases *c, const jx_sz_cond *of)
{
    const jx_dim *dim;
    int a, b;

    switch (of->kind) {
    case JX_SZ_FALSE: return 0;
    case JX_SZ_TRUE: return 1;
    case JX_SZ_AND:
        a = truth_in_case(c, of->a);
        b = a ? truth_in_case(c, of->b) : 0;
        return !a || !b ? 0 : a == 1 && b == 1 ? 1 : -1;
    case JX_SZ_OR:
        a = truth_in_case(c, of->a);
        b = a == 1 ? 1 : truth_in_case(c, of->b);
        return a == 1 || b == 1 ? 1 : !a && !b ? 0 : -1;
    default:
        dim = in_case(c, of->dim);
        return dim ? decided(of->kind, bounds_under(&c->facts, dim)) : -1;
    }
}

/* A case with all its facts: collects what is chosen, or compares it. */
static bool at_case(cases *c)
{
    int truth = truth_in_case(c, c->cond);
    const jx_dim *yes = in_case(c, c->yes), *no = in_case(c, c->no);
    const jx_dim *chosen = truth == 1 ? yes : no, *apart;

    if (!yes || !no || (truth < 0 && yes != no))
        return false;
    if (c->candidate) {
        apart = jx_dim_sub(c->s->dims, chosen, c->candidate);
        return apart && is_number(bounds_under(&c->facts, apart), 0);
    }
    for (int i = 0; i < c->ncandidates; i++)
        if (c->candidates[i] == chosen)
            return true;
    if (c->ncandidates < MOST_CANDIDATES)
        c->candidates[c->ncandidates++] = chosen;
    return true;
}

static const jx_dim_range POSITIVE = {1, 0, true, false};
static const jx_dim_range NEGATIVE = {0, -1, false, true};
static const jx_dim_range NOTHING = {0, 0, true, true};

static bool by_choices(cases *c, int from)
{
    if (from == c->nchoices)
        return at_case(c);
    for (c->choice[from] = 0; c->choice[from] < 2; c->choice[from]++)
        if (!by_choices(c, from + 1))
            return false;
    return true;
}

/* The facts of a remainder: zero, or between zero and the divisor. */
static bool assume_rest(cases *c, const pair *p)
{
    const jx_dim *below = jx_dim_sub(c->s->dims, p->rest, p->b);
    bool up = sign_of(c, p->b) > 0;

    if (!p->nonzero)
        return assume(c, p->rest, NOTHING);
    return below && assume(c, p->rest, up ? POSITIVE : NEGATIVE) &&
           assume(c, below, up ? NEGATIVE : POSITIVE);
}

static bool by_rests(cases *c, int from)
{
    int kept = c->facts.count;
    pair *p;

    if (from == c->npairs)
        return by_choices(c, 0);
    p = &c->pairs[from];
    for (p->nonzero = 0; p->nonzero < 2; p->nonzero++) {
        bool possible =
            !(p->nonzero && sign_of(c, p->a) == 0) && assume_rest(c, p);
        if (possible && !by_rests(c, from + 1))
            return false;
        c->facts.count = kept;
    }
    return true;
}

static bool is_divisor(const cases *c, const jx_dim *dim)
{
    for (int i = 0; i < c->npairs; i++)
        if (c->pairs[i].b == dim)
            return true;
    return false;
}

static bool by_signs(cases *c, int from)
{
    static const jx_dim_range *const ranges[] = {&NEGATIVE, &NOTHING,
                                                 &POSITIVE};
    int kept = c->facts.count;

    if (from == c->nsigns)
        return by_rests(c, 0);
    for (int sign = -1; sign <= 1; sign++) {
        c->sign[from] = sign;
        if (sign == 0 && is_divisor(c, c->signs[from]))
            continue; /* such sizes do not count */
        if (assume(c, c->signs[from], *ranges[sign + 1]) &&
            !by_signs(c, from + 1))
            return false;
        c->facts.count = kept;
    }
    return true;
}

/* The one dim that the choice is in all cases; NULL if there is none. */
static const jx_dim *by_cases(jx_sizes *s, const jx_sz_cond *cond,
                              const jx_dim *yes, const jx_dim *no)
{
    cases c = {0};

    c.s = s;
    start_facts(&c.facts, s);
    c.cond = cond;
    c.yes = yes;
    c.no = no;
    if (!collect_cond(&c, cond) || !collect_dim(&c, yes) ||
        !collect_dim(&c, no) || !c.naux ||
        c.nsigns + c.npairs + c.nchoices > MOST_SPLITS || !by_signs(&c, 0))
        return NULL;
    for (int i = 0; i < c.ncandidates; i++) {
        c.candidate = c.candidates[i];
        if (by_signs(&c, 0))
            return c.candidate;
    }
    return NULL;
}

/* x where x >= y, else y; and the other way round. */
static const jx_dim *as_extreme(jx_sizes *s, const jx_sz_cond *cond,
                                const jx_dim *yes, const jx_dim *no)
{
    const jx_dim *more = jx_dim_sub(s->dims, yes, no);
    const jx_dim *less = jx_dim_sub(s->dims, no, yes);
    const jx_dim *strict;

    if (cond->kind != JX_SZ_NONNEG || !more || !less)
        return NULL;
    strict = jx_dim_add(s->dims, cond->dim, one(s));
    if (more == cond->dim || more == strict)
        return jx_dim_max(s->dims, yes, no);
    if (less == cond->dim || less == strict)
        return jx_dim_min(s->dims, yes, no);
    return NULL;
}

const jx_dim *jx_sz_indicator(jx_sizes *s, const jx_sz_cond *cond)
{
    if (!cond)
        return NULL;
    if (cond == s->yes || cond == s->no)
        return jx_dim_int(s->dims, cond == s->yes);
    return aux(s, JX_SZ_CHOICE, NULL, NULL, cond);
}

const jx_dim *jx_sz_select(jx_sizes *s, const jx_sz_cond *cond,
                           const jx_dim *yes, const jx_dim *no)
{
    const jx_dim *found;

    if (!cond)
        return yes == no ? yes : NULL;
    if (cond == s->yes)
        return yes;
    if (cond == s->no)
        return no;
    if (!yes || !no || yes == no)
        return yes && no ? yes : NULL;
    found = by_cases(s, cond, yes, no);
    if (!found)
        found = as_extreme(s, cond, yes, no);
    return found ? found
                 : jx_dim_add(s->dims, no,
                              jx_dim_mul(s->dims, jx_sz_indicator(s, cond),
                                         jx_dim_sub(s->dims, yes, no)));
}

/* -- without auxiliaries --------------------------------------------------- */

static const jx_dim *at_most_one(jx_sizes *s, const jx_dim *dim)
{
    return jx_dim_min(s->dims, one(s), dim);
}

/* 1 where dim > 0, else 0. */
static const jx_dim *if_positive(jx_sizes *s, const jx_dim *dim)
{
    return jx_dim_max(s->dims, jx_dim_int(s->dims, 0), at_most_one(s, dim));
}

static const jx_dim *cond_public(jx_sizes *s, const jx_sz_cond *c)
{
    const jx_dim *a, *b;

    switch (c->kind) {
    case JX_SZ_FALSE:
    case JX_SZ_TRUE: return jx_dim_int(s->dims, c->kind == JX_SZ_TRUE);
    case JX_SZ_NONZERO: return at_most_one(s, jx_sz_abs(s, c->dim));
    case JX_SZ_ZERO:
        return jx_dim_sub(s->dims, one(s),
                          at_most_one(s, jx_sz_abs(s, c->dim)));
    case JX_SZ_NONNEG:
        return if_positive(s, jx_dim_add(s->dims, c->dim, one(s)));
    case JX_SZ_AND:
    case JX_SZ_OR:
        a = cond_public(s, c->a);
        b = cond_public(s, c->b);
        if (c->kind == JX_SZ_AND)
            return jx_dim_mul(s->dims, a, b);
        return jx_dim_sub(s->dims, jx_dim_add(s->dims, a, b),
                          jx_dim_mul(s->dims, a, b));
    }
    return NULL;
}

static const jx_dim *carry_public(jx_sizes *s, const jx_sz_aux *x)
{
    const jx_dim *rest = jx_dim_mod(s->dims, x->a, x->b);
    const jx_dim *minus = jx_dim_neg(s->dims, x->a);
    int sign = sign_in(jx_sz_bounds(s, x->b));

    if (sign == 1)
        return jx_dim_mul(s->dims, if_positive(s, minus), at_most_one(s, rest));
    if (sign == -1)
        return jx_dim_mul(s->dims, if_positive(s, x->a),
                          at_most_one(s, jx_dim_neg(s->dims, rest)));
    return NULL;
}

/* A variable of its own, once for all places. */
static const jx_dim *opaque_public(jx_sizes *s, const jx_sz_aux *x)
{
    jx_sz_aux *kept = s->aux.at[strtoul(x->var->name, NULL, 10)];
    jx_size_var like = {.origin = x->of ? JX_SIZE_BOUND : JX_SIZE_INPUT,
                        .input = x->of ? -1 : x->input,
                        .axis = -1,
                        .element = x->element};
    char name[64];

    if (kept->size)
        return kept->size;
    name[0] = '\0';
    if (!x->of && x->scalar)
        snprintf(name, sizeof name, "arg%d", x->input);
    else if (!x->of)
        snprintf(name, sizeof name, "arg%d_%d", x->input, x->element);
    kept->size = jx_sz_fresh(s, like, name[0] ? name : NULL);
    return kept->size;
}

static const jx_dim *aux_public(jx_sizes *s, const jx_sz_aux *x)
{
    switch (x->kind) {
    case JX_SZ_SIGN:
        return jx_dim_max(s->dims, jx_dim_int(s->dims, -1),
                          at_most_one(s, x->a));
    case JX_SZ_CARRY: return carry_public(s, x);
    case JX_SZ_CHOICE: return cond_public(s, x->cond);
    case JX_SZ_OPAQUE: return opaque_public(s, x);
    }
    return NULL;
}

const jx_dim *jx_sz_public(jx_sizes *s, const jx_dim *dim)
{
    int count = 0;
    const jx_dim_atom *const *vars;

    /* What stands for an auxiliary may hold others, made before it. */
    for (int round = 0; dim && round < 64; round++) {
        const jx_sz_aux *last = NULL;
        if (jx_dim_nodes(dim) > JX_SZ_NODES ||
            !(vars = jx_dim_vars(s->dims, dim, &count)))
            return NULL;
        for (int i = 0; i < count; i++) {
            const jx_sz_aux *a = aux_of(s, vars[i]);
            if (a && (!last || a->var->id > last->var->id))
                last = a;
        }
        if (!last)
            return dim;
        dim = jx_dim_substitute(s->dims, dim, last->var, aux_public(s, last));
    }
    return NULL;
}

/* A term of a dim, with its coefficient's size. */
static const jx_dim *term_of(jx_sizes *s, const jx_dim_term *term)
{
    const jx_dim *product = jx_dim_wide(s->dims, term->coefficient);

    if (term->coefficient < 0)
        product = jx_dim_neg(s->dims, product);
    for (int i = term->nfactors - 1; i >= 0; i--)
        product = jx_dim_mul(
            s->dims, product,
            jx_dim_pow(s->dims, jx_dim_of_atom(s->dims, term->factors[i].atom),
                       term->factors[i].power));
    return product;
}

/* dim >= 0 (or ==, !=) as two sides without minus signs. */
static bool put_compared(jx_sizes *s, const jx_sz_cond *c,
                         jx_scope_constraint *to, int *count)
{
    const jx_dim *dim = jx_sz_public(s, c->dim);
    const jx_dim *sides[2];

    if (!dim || *count == JX_SZ_ASSERTED)
        return false;
    sides[0] = sides[1] = jx_dim_int(s->dims, 0);
    for (int i = 0; i < jx_dim_nterms(dim); i++) {
        const jx_dim_term *term = &jx_dim_terms(dim)[i];
        const jx_dim **side = &sides[term->coefficient < 0];
        *side = jx_dim_add(s->dims, *side, term_of(s, term));
    }
    to[*count] =
        (jx_scope_constraint){c->kind == JX_SZ_ZERO, c->kind == JX_SZ_NONZERO,
                              sides[0], sides[1], NULL};
    ++*count;
    return sides[0] && sides[1];
}

bool jx_sz_compared(jx_sizes *s, const jx_sz_cond *c, jx_scope_constraint *to,
                    int *count)
{
    if (!c)
        return false;
    switch (c->kind) {
    case JX_SZ_TRUE: return true;
    case JX_SZ_AND:
        return jx_sz_compared(s, c->a, to, count) &&
               jx_sz_compared(s, c->b, to, count);
    case JX_SZ_ZERO:
    case JX_SZ_NONZERO:
    case JX_SZ_NONNEG: return put_compared(s, c, to, count);
    case JX_SZ_FALSE:
    case JX_SZ_OR: break;
    }
    if (*count == JX_SZ_ASSERTED)
        return false;
    to[*count] = (jx_scope_constraint){
        true, false, jx_sz_public(s, jx_sz_indicator(s, c)), one(s), NULL};
    return to[(*count)++].lhs != NULL;
}

bool jx_sz_value_init(jx_sizes *s)
{
    jx_intern_init(&s->conds, s->ctx->arena);
    jx_intern_init(&s->auxs, s->ctx->arena);
    s->no = cond(s, JX_SZ_FALSE, NULL, NULL, NULL);
    s->yes = cond(s, JX_SZ_TRUE, NULL, NULL, NULL);
    return s->no && s->yes;
}
