/* cell_functions.c - see cell.h: functions that are no polynomials. */
#include "runtime/field/cell.h"

#include <math.h>

static uint64_t hash_of(const jx_field *f, uint64_t kind, const jx_cell *x)
{
    if (x->w)
        kind = jx_hash_mix(kind, x->root);
    return jx_ring_mix(f->salt ^ jx_hash_mix(jx_hash_mix(kind, x->v), x->w));
}

/* A new number that depends on what `x` does. */
static jx_cell new_number(jx_field *f, const jx_cell *x, uint64_t v, uint64_t e)
{
    jx_cell to =
        jx_cell_depends(f, (jx_cell){.signs = JX_MAY_BE_ANY, .about = NAN}, x);

    f->work += 64;
    f->opaque++;
    f->degree = fmax(f->degree, jx_cell_degree(f, x));
    to.v = to.base = v;
    to.e = e;
    to.over = 1;
    to.bits = f->planes ? 0 : x->bits;
    return to;
}

/* The number alone. */
static jx_cell bare(jx_cell x)
{
    x.mixed = false;
    x.needs = NULL;
    for (int i = 0; i < JX_COLOURS; i++)
        x.by[i] = 0;
    return x;
}

static jx_cell not_a_number(jx_field *f, const jx_cell *x)
{
    jx_cell to = jx_cell_depends(f, jx_cell_nan(), x);

    to.kind = x->kind == JX_CELL_UNKNOWN ? JX_CELL_UNKNOWN : JX_CELL_NAN;
    return to;
}

static void needs(jx_field *f, jx_cell *to, const jx_cell *x, uint64_t domain)
{
    to->needs = jx_keys_with(f, to->needs, hash_of(f, domain, x));
}

/* ---- exp and log */

/* The memo of that number; NULL: there is none. */
static const jx_memo *memo_of(const jx_map *numbers, uint64_t key,
                              const jx_memo *list)
{
    uintptr_t number =
        (uintptr_t)jx_map_get(numbers, (const void *)(uintptr_t)(key | 1));

    return number ? &list[number - 1] : NULL;
}

/* A key that is taken stays that of the first. */
static void number_memo(jx_field *f, jx_map *numbers, uint64_t key,
                        size_t number)
{
    const void *at = (const void *)(uintptr_t)(key | 1);

    if (!jx_map_has(numbers, at) &&
        !jx_map_put(numbers, at, (const void *)(uintptr_t)number))
        f->spent = true;
}

static uint64_t image_key(const jx_cell *x)
{
    return jx_ring_mix(jx_hash_mix(x->v, x->w));
}

/* Whether a logarithm is there a whole number of times. */
static bool is_whole(const jx_field *f, const struct jx_log_part *part,
                     int64_t *n)
{
    double whole = rint(part->about);

    if (!(fabs(whole) < 1 << 20))
        return false;
    *n = (int64_t)whole;
    return jx_mod_dyadic(*n, 0, f->ring.p) == part->v;
}

/* g^(times e), the same for all that are one number. */
static jx_cell power_of(jx_field *f, const jx_cell *x, uint64_t kind,
                        uint64_t times)
{
    uint64_t key = hash_of(f, kind, x), v;
    int nlogs = kind == JX_KIND_IMAGE && x->logs ? x->logs->count : 0;
    jx_cell to;
    int64_t n;

    f->powers = true;
    const jx_memo *known = memo_of(&f->made->exp_at, key, f->made->exps.at);
    if (known && known->key == key)
        return jx_cell_depends(f, known->to, x);
    uint64_t exponent = jx_mod_mul(x->e, times, f->ring.q);
    for (int i = 0; i < nlogs; i++) {
        const jx_memo *log = &f->made->logs.at[x->logs->at[i].atom];
        if (!is_whole(f, &x->logs->at[i], &n))
            continue;
        uint64_t by = n < 0 ? f->ring.q - (uint64_t)-n : (uint64_t)n;
        exponent = jx_mod_sub(exponent, jx_mod_mul(log->to.e, by, f->ring.q),
                              f->ring.q);
    }
    v = jx_mod_power(f->ring.g, exponent, f->ring.p);
    to = new_number(f, x, v, jx_ring_mix(key + 1) % f->ring.q);
    to.over = 1 + x->over;
    to.under = f->planes ? x->under : 1 + x->under;
    for (int i = 0; i < nlogs; i++) {
        jx_cell part = f->made->logs.at[x->logs->at[i].atom].from;
        if (!is_whole(f, &x->logs->at[i], &n))
            continue;
        part = jx_cell_power(f, &part, n);
        to = jx_cell_mul(f, &to, &part);
    }
    to.signs = JX_MAY_BE_POSITIVE;
    to.zeros = NULL;
    JX_PUSH(f->ctx->arena, &f->made->exps,
            ((jx_memo){key, bare(*x), bare(to)}));
    number_memo(f, &f->made->exp_at, key, f->made->exps.count);
    if (kind == JX_KIND_IMAGE)
        number_memo(f, &f->made->image_at, image_key(&to), f->made->exps.count);
    return to;
}

static jx_cell exp_of(jx_field *f, const jx_cell *x)
{
    if (x->kind == JX_CELL_INFINITE && x->signs == JX_MAY_BE_NEGATIVE)
        return jx_cell_depends(f, jx_cell_integer(f, 0), x);
    if (x->kind)
        return not_a_number(f, x);
    if (jx_cell_is_zero(x))
        return jx_cell_depends(f, jx_cell_integer(f, 1), x);
    return power_of(f, x, JX_KIND_IMAGE, 1);
}

static jx_cell log_2(jx_field *f);

/* log(S exp(a)) is log S + a, and so is that of a quotient. */
static bool log_by_another(jx_field *f, const jx_cell *x, jx_cell *to)
{
    enum { PAIRS = 1 << 16 };

    if (f->made->logs.count * f->made->exps.count > PAIRS)
        return false;
    for (size_t i = 0; i < f->made->logs.count; i++)
        for (size_t k = 0; k < f->made->exps.count; k++) {
            const jx_memo *log = &f->made->logs.at[i],
                          *exp = &f->made->exps.at[k];
            bool product = jx_cell_is_product(f, &log->from, &exp->to, x);
            if ((!product && !jx_cell_is_product(f, x, &exp->to, &log->from)) ||
                exp->key != hash_of(f, JX_KIND_IMAGE, &exp->from))
                continue;
            *to = product ? jx_cell_add(f, &log->to, &exp->from)
                          : jx_cell_sub(f, &log->to, &exp->from);
            return true;
        }
    return false;
}

static jx_cell log_of(jx_field *f, const jx_cell *x)
{
    jx_cell to, one = jx_cell_integer(f, 1), two = jx_cell_integer(f, 2);
    jx_logs *logs;
    const jx_memo *image, *known;
    size_t i;

    if (x->kind || !(x->signs & JX_MAY_BE_POSITIVE))
        return not_a_number(f, x);
    if (jx_cell_same(x, &one))
        return jx_cell_depends(f, jx_cell_integer(f, 0), x);
    if (jx_cell_same(x, &two))
        return jx_cell_depends(f, log_2(f), x);
    image = memo_of(&f->made->image_at, image_key(x), f->made->exps.at);
    if (image && jx_cell_same(&image->to, x))
        return jx_cell_depends(f, image->from, x);
    known = memo_of(&f->made->log_at, image_key(x), f->made->logs.at);
    i = known && jx_cell_same(&known->from, x)
            ? (size_t)(known - f->made->logs.at)
            : f->made->logs.count;
    if (i == f->made->logs.count && !x->power && log_by_another(f, x, &to))
        return jx_cell_depends(f, to, x);
    uint64_t h = hash_of(f, JX_KIND_LOGGED, x);
    to = new_number(f, x, h % f->ring.p,
                    x->power ? x->power : jx_ring_mix(h) % f->ring.q);
    logs = x->power ? NULL : JX_NEW(f->ctx->arena, jx_logs);
    if (logs)
        *logs = (jx_logs){1, {{(int)i, 1, 1}}};
    to.logs = logs;
    if (x->signs != JX_MAY_BE_POSITIVE)
        needs(f, &to, x, JX_KIND_LOG);
    if (logs && i == f->made->logs.count) {
        jx_memo memo = {0, bare(*x), bare(to)};
        if (x->signs != JX_MAY_BE_POSITIVE)
            needs(f, &memo.to, x, JX_KIND_LOG);
        JX_PUSH(f->ctx->arena, &f->made->logs, memo);
        number_memo(f, &f->made->log_at, image_key(x), f->made->logs.count);
    }
    return to;
}

/* ---- square roots */

/* What is known of a root's sign, and where there is one. */
static jx_cell signed_root(jx_field *f, jx_cell to, const jx_cell *x)
{
    to.signs = x->signs & JX_MAY_BE_ZERO ? JX_MAY_BE_ZERO | JX_MAY_BE_POSITIVE
                                         : JX_MAY_BE_POSITIVE;
    to.zeros = jx_cell_zeros(f, x);
    if (x->signs & JX_MAY_BE_NEGATIVE)
        needs(f, &to, x, JX_KIND_SQRT);
    return to;
}

/* A root as a symbol, whose square is known; of what has roots itself, a
 * random number. */
static jx_cell new_root(jx_field *f, const jx_cell *x, uint64_t key)
{
    const void *at = (const void *)(uintptr_t)(key | 1);
    uintptr_t number = (uintptr_t)jx_map_get(&f->root_at, at);
    jx_cell to = new_number(f, x, jx_ring_mix(key) % f->ring.p,
                            jx_ring_mix(key + 1) % f->ring.q);

    to.over = x->over + 1;
    to.under = x->under;
    if (!x->w && !number) {
        JX_PUSH(f->ctx->arena, &f->roots, ((jx_root){x->v, to.v}));
        number = f->roots.count;
        f->spent |= !jx_map_put(&f->root_at, at, (const void *)number);
    }
    if (!x->w && !f->spent && f->roots.at[number - 1].square == x->v) {
        to.v = to.base = 0;
        to.w = 1;
        to.root = (uint32_t)number - 1;
    }
    return signed_root(f, to, x);
}

static jx_cell root_of(jx_field *f, const jx_cell *x)
{
    uint64_t key = hash_of(f, JX_KIND_ROOT, x), v = 0, w = 0, half;
    jx_cell to;

    if (x->kind || x->signs == JX_MAY_BE_NEGATIVE)
        return not_a_number(f, x);
    if (jx_cell_is_zero(x))
        return *x;
    /* what divides by the root does by that */
    if (f->divisors && x->signs & JX_MAY_BE_ZERO)
        JX_PUSH(f->ctx->arena, f->divisors, *x);
    if (!isnan(x->about)) { /* a constant whose root is one */
        size_t named = f->named.count;
        to = jx_cell_constant(f, (double)(float)sqrt(x->about), JX_F32);
        f->named.count = named;
        jx_cell square = jx_cell_mul(f, &to, &to);
        if (jx_cell_same(&square, x))
            return jx_cell_depends(f, to, x);
    }
    if (f->planes)
        return new_root(f, x, key);
    if (x->w || f->blends) {
        v = jx_ring_mix(key) % f->ring.p;
    } else if (!jx_mod_root(x->v, f->ring.p, &v)) {
        half = jx_mod_mul(x->v, jx_mod_inverse(f->ring.no_square, f->ring.p),
                          f->ring.p);
        v = 0;
        jx_mod_root(half, f->ring.p, &w);
    }
    to = new_number(f, x, v, jx_ring_mix(key + 1) % f->ring.q);
    to.w = w;
    to.over = x->over + 1;
    to.under = x->under;
    if (!f->blends && jx_cell_root_choice(f, key, &to)) {
        to.v = jx_mod_sub(0, to.v, f->ring.p);
        to.w = jx_mod_sub(0, to.w, f->ring.p);
        to.base = to.v;
    }
    return signed_root(f, to, x);
}

/* ---- what is made of these */

/* e^(ix); its inverse is e^(-ix). */
static void turn(jx_field *f, const jx_cell *x, jx_cell *z, jx_cell *back)
{
    jx_cell one = jx_cell_integer(f, 1);

    *z = power_of(f, x, JX_KIND_TURN, f->ring.i[1]);
    *back = jx_cell_div(f, &one, z);
}

static jx_cell sine(jx_field *f, const jx_cell *x, bool cosine)
{
    jx_cell z, back, sum, by = jx_cell_integer(f, 2);

    if (x->kind)
        return not_a_number(f, x);
    turn(f, x, &z, &back);
    sum = cosine ? jx_cell_add(f, &z, &back) : jx_cell_sub(f, &z, &back);
    by.about = cosine ? 2 : NAN;
    by.v = cosine ? 2 : jx_mod_mul(2, f->ring.i[0], f->ring.p);
    by.e = cosine ? 2 : jx_mod_mul(2, f->ring.i[1], f->ring.q);
    sum = jx_cell_div(f, &sum, &by);
    sum.signs = JX_MAY_BE_ANY;
    sum.zeros = NULL;
    sum.base = sum.v;
    sum.off = 0;
    return sum;
}

static jx_cell hyperbolic(jx_field *f, const jx_cell *x, bool cosine)
{
    jx_cell e = exp_of(f, x), negative = jx_cell_neg(f, x),
            back = exp_of(f, &negative);
    jx_cell two = jx_cell_integer(f, 2);
    jx_cell sum =
        cosine ? jx_cell_add(f, &e, &back) : jx_cell_sub(f, &e, &back);

    return jx_cell_div(f, &sum, &two);
}

/* 1 / (1 + exp(-x)). */
static jx_cell logistic(jx_field *f, const jx_cell *x)
{
    jx_cell negative = jx_cell_neg(f, x), e = exp_of(f, &negative);
    jx_cell one = jx_cell_integer(f, 1), sum = jx_cell_add(f, &one, &e);

    return jx_cell_div(f, &one, &sum);
}

/* 2 logistic(2x) - 1. */
static jx_cell tanh_of(jx_field *f, const jx_cell *x)
{
    jx_cell two = jx_cell_integer(f, 2), one = jx_cell_integer(f, 1);
    jx_cell twice = jx_cell_mul(f, &two, x), s = logistic(f, &twice);

    s = jx_cell_mul(f, &two, &s);
    s = jx_cell_sub(f, &s, &one);
    s.base = s.v;
    s.off = 0;
    return s;
}

/* log 2, as the constants that stand for it are (ideal.h). */
static jx_cell log_2(jx_field *f)
{
    bool ideal = f->ideal;
    size_t named = f->named.count;
    jx_cell to;

    f->ideal = true;
    to = jx_cell_constant(f, 0.693147180559945309417, JX_F64);
    f->ideal = ideal;
    f->named.count = named;
    return to;
}

jx_cell jx_cell_apply(jx_field *f, jx_cell_function function, const jx_cell *x)
{
    jx_cell one = jx_cell_integer(f, 1), y, z;

    switch (function) {
    case JX_F_EXP: return exp_of(f, x);
    case JX_F_EXP2:
        y = log_2(f);
        y = jx_cell_mul(f, x, &y);
        return exp_of(f, &y);
    case JX_F_EXPM1: y = exp_of(f, x); return jx_cell_sub(f, &y, &one);
    case JX_F_LOG: return log_of(f, x);
    case JX_F_LOG2:
        y = log_of(f, x);
        z = log_2(f);
        return jx_cell_div(f, &y, &z);
    case JX_F_LOG1P: y = jx_cell_add(f, &one, x); return log_of(f, &y);
    case JX_F_LOGISTIC: return logistic(f, x);
    case JX_F_SIN: return sine(f, x, false);
    case JX_F_COS: return sine(f, x, true);
    case JX_F_TAN:
        y = sine(f, x, false);
        z = sine(f, x, true);
        return jx_cell_div(f, &y, &z);
    case JX_F_SINH: return hyperbolic(f, x, false);
    case JX_F_COSH: return hyperbolic(f, x, true);
    case JX_F_TANH: return tanh_of(f, x);
    case JX_F_SQRT: return root_of(f, x);
    case JX_F_RSQRT: y = root_of(f, x); return jx_cell_div(f, &one, &y);
    }
    return jx_cell_unknown(f, "a function that the field does not know");
}

jx_cell jx_cell_raise(jx_field *f, const jx_cell *x, const jx_cell *y)
{
    jx_cell l;

    if (!x->kind && !y->kind && fabs(2 * y->about) < 1 << 20 &&
        2 * y->about == floor(2 * y->about) &&
        jx_mod_add(y->v, y->v, f->ring.p) ==
            jx_mod_dyadic((int64_t)(2 * y->about), 0, f->ring.p)) {
        int64_t twice = (int64_t)(2 * y->about);
        if (twice % 2 == 0)
            return jx_cell_depends(f, jx_cell_power(f, x, twice / 2), y);
        l = root_of(f, x);
        return jx_cell_depends(f, jx_cell_power(f, &l, twice), y);
    }
    l = log_of(f, x);
    l = jx_cell_mul(f, y, &l);
    return exp_of(f, &l);
}

jx_cell jx_cell_opaque(jx_field *f, uint64_t function, bool partial, int nins,
                       const jx_cell *const *ins)
{
    uint64_t h = jx_hash_mix(f->salt, function + 1000);
    jx_cell to;

    for (int i = 0; i < nins; i++)
        h = jx_hash_mix(jx_hash_mix(h, ins[i]->v), ins[i]->w);
    h = jx_ring_mix(h);
    to = new_number(f, ins[0], h % f->ring.p, jx_ring_mix(h) % f->ring.q);
    for (int i = 1; i < nins; i++)
        to = jx_cell_depends(f, to, ins[i]);
    for (int i = 0; i < nins; i++)
        if (ins[i]->kind)
            return not_a_number(f, ins[i]);
    if (partial)
        to.needs = jx_keys_with(f, to.needs, jx_hash_mix(h, JX_KIND_FUNCTION));
    return to;
}
