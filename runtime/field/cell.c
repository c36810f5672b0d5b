/* cell.c - see cell.h: numbers. */
#include "runtime/field/cell.h"

#include "runtime/field/ideal.h"
#include "runtime/field/products.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool jx_field_begin(jx_field *f, jx_ctx *ctx, jx_arena *room, uint64_t seed)
{
    uint64_t random = seed;

    *f = (jx_field){.ctx = ctx, .room = room, .colour = -1};
    jx_intern_init(&f->sets, ctx->arena);
    jx_intern_init(&f->most, ctx->arena);
    jx_intern_init(&f->compared, ctx->arena);
    jx_intern_init(&f->met, ctx->arena);
    jx_intern_init(&f->places, ctx->arena);
    f->made = JX_NEW(ctx->arena, jx_memory);
    if (f->made) {
        jx_map_init(&f->made->exp_at, ctx->arena);
        jx_map_init(&f->made->image_at, ctx->arena);
        jx_map_init(&f->made->log_at, ctx->arena);
        jx_intern_init(&f->made->constants, ctx->arena);
    }
    jx_map_init(&f->root_at, ctx->arena);
    jx_ring_make(&f->ring, &random);
    f->salt = jx_ring_random(&random);
    return f->made && jx_ok(ctx);
}

void jx_field_again(jx_field *f, const jx_field *like)
{
    *f = (jx_field){.ctx = like->ctx,
                    .room = like->room,
                    .ring = like->ring,
                    .salt = like->salt,
                    .planes = like->planes,
                    .sets_of_most = like->sets_of_most,
                    .made = like->made,
                    .colour = -1};
    jx_intern_init(&f->sets, like->ctx->arena);
    jx_intern_init(&f->most, like->ctx->arena);
    jx_intern_init(&f->compared, like->ctx->arena);
    jx_intern_init(&f->met, like->ctx->arena);
    jx_intern_init(&f->places, like->ctx->arena);
}

/* ---- sets */

static bool same_keys(const void *kept, const void *key)
{
    const jx_keys *a = kept, *b = key;

    return a->count == b->count &&
           memcmp(a->at, b->at, (size_t)a->count * sizeof *a->at) == 0;
}

static const jx_keys *keep_keys(jx_field *f, const jx_keys *like)
{
    uint64_t hash =
        jx_hash_bytes(like->at, (size_t)like->count * sizeof *like->at);
    const jx_keys *kept = jx_intern_find(&f->sets, hash, like, same_keys);
    jx_keys *to;

    if (kept)
        return kept;
    to = jx_arena_copy(f->ctx->arena, like, sizeof *like);
    if (to)
        to->at = jx_arena_copy(f->ctx->arena, like->at,
                               (size_t)like->count * sizeof *like->at);
    if (!to || !to->at || !jx_intern_add(&f->sets, hash, to))
        f->spent = true;
    return f->spent ? NULL : to;
}

bool jx_keys_hold(const jx_keys *set, uint64_t key)
{
    int low = 0, high = set ? set->count : 0;

    while (low < high) {
        int middle = low + (high - low) / 2;
        if (set->at[middle] == key)
            return true;
        if (set->at[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

const jx_keys *jx_keys_join(jx_field *f, const jx_keys *a, const jx_keys *b)
{
    uint64_t few[64], *all = few;
    int n = 0, i = 0, k = 0;

    if (a == b || !b)
        return a;
    if (!a)
        return b;
    if (a->count + b->count > 64)
        all = JX_NEW_ARRAY(f->ctx->arena, a->count + b->count, uint64_t);
    if (!all) {
        f->spent = true;
        return NULL;
    }
    while (i < a->count || k < b->count) {
        bool left = k == b->count || (i < a->count && a->at[i] <= b->at[k]);
        uint64_t next = left ? a->at[i++] : b->at[k++];
        if (!n || all[n - 1] != next)
            all[n++] = next;
    }
    return keep_keys(f, &(jx_keys){n, all});
}

const jx_keys *jx_keys_with(jx_field *f, const jx_keys *set, uint64_t key)
{
    return jx_keys_join(f, set, keep_keys(f, &(jx_keys){1, &key}));
}

/* ---- constants */

jx_cell jx_cell_nan(void)
{
    return (jx_cell){.kind = JX_CELL_NAN, .signs = JX_MAY_BE_ANY, .about = NAN};
}

jx_cell jx_cell_unknown(jx_field *f, const char *why)
{
    if (!f->why)
        f->why = why;
    return (jx_cell){
        .kind = JX_CELL_UNKNOWN, .signs = JX_MAY_BE_ANY, .about = NAN};
}

static uint8_t sign_of(double about)
{
    return about < 0    ? JX_MAY_BE_NEGATIVE
           : about > 0  ? JX_MAY_BE_POSITIVE
           : about == 0 ? JX_MAY_BE_ZERO
                        : JX_MAY_BE_ANY;
}

static jx_cell constant(uint64_t v, uint64_t e, double about, float bits)
{
    return (jx_cell){.signs = v ? sign_of(about) : JX_MAY_BE_ZERO,
                     .v = v,
                     .e = e,
                     .bits = bits,
                     .parts = bits,
                     .about = about,
                     .off = about};
}

jx_cell jx_cell_integer(jx_field *f, int64_t value)
{
    return constant(jx_mod_dyadic(value, 0, f->ring.p),
                    jx_mod_dyadic(value, 0, f->ring.q), (double)value, 64);
}

/* A constant as it stands in a program, and what it is there. */
typedef struct kept_constant {
    double value;
    jx_dtype dtype;
    bool ideal;
    jx_cell cell;
    const char *name; /* jx_number.name */
} kept_constant;

static bool same_constant(const void *kept, const void *key)
{
    const kept_constant *a = kept, *b = key;

    return memcmp(&a->value, &b->value, sizeof a->value) == 0 &&
           a->dtype == b->dtype && a->ideal == b->ideal;
}

static void make_constant(jx_field *f, kept_constant *to)
{
    jx_number n;
    int exponent;

    if (f->ideal && jx_number_ideal(f, to->value, to->dtype, &n)) {
        to->cell = constant(n.v, n.e, n.about, n.bits);
        to->name = n.name;
        return;
    }
    int64_t whole = (int64_t)ldexp(frexp(to->value, &exponent), 53);
    to->cell = constant(jx_mod_dyadic(whole, exponent - 53, f->ring.p),
                        jx_mod_dyadic(whole, exponent - 53, f->ring.q),
                        to->value, 64 + (float)abs(exponent));
}

static const kept_constant *keep_constant(jx_field *f, kept_constant *like)
{
    uint64_t hash = jx_hash_mix(jx_hash_bytes(&like->value, sizeof like->value),
                                2 * (uint64_t)like->dtype + like->ideal);
    const kept_constant *kept =
        jx_intern_find(&f->made->constants, hash, like, same_constant);

    if (kept)
        return kept;
    make_constant(f, like);
    kept = jx_arena_copy(f->ctx->arena, like, sizeof *like);
    if (!kept || !jx_intern_add(&f->made->constants, hash, kept))
        f->spent = true;
    return kept ? kept : like;
}

/* Among the constants that stand for others, once. */
static void take_name(jx_field *f, const char *name)
{
    for (size_t i = 0; name && i < f->named.count; i++)
        if (strcmp(f->named.at[i], name) == 0)
            return;
    if (name)
        JX_PUSH(f->ctx->arena, &f->named, name);
}

jx_cell jx_cell_constant(jx_field *f, double value, jx_dtype dtype)
{
    kept_constant like = {.value = value, .dtype = dtype, .ideal = f->ideal};
    const kept_constant *kept;

    if (isnan(value))
        return jx_cell_nan();
    if (isinf(value))
        return (jx_cell){.kind = JX_CELL_INFINITE,
                         .signs = value < 0 ? JX_MAY_BE_NEGATIVE
                                            : JX_MAY_BE_POSITIVE,
                         .about = value};
    kept = keep_constant(f, &like);
    take_name(f, kept->name);
    return kept->cell;
}

jx_cell jx_cell_random(jx_field *f, uint64_t key)
{
    uint64_t h = jx_ring_mix(f->salt ^ jx_ring_mix(key));
    uint64_t power = 1 + jx_ring_mix(h ^ 0x2545f491) % (f->ring.q - 1);
    uint64_t v = jx_mod_power(f->ring.g, power, f->ring.p);

    return (jx_cell){.signs = JX_MAY_BE_ANY,
                     .v = v,
                     .power = power,
                     .e = jx_ring_mix(h ^ 0x5bd1e995) % f->ring.q,
                     .over = 1,
                     .about = NAN,
                     .base = v};
}

jx_cell jx_cell_any(jx_field *f, uint64_t key)
{
    uint64_t h = jx_ring_mix(f->salt ^ jx_ring_mix(key)), v = h % f->ring.p;

    return (jx_cell){.signs = JX_MAY_BE_ANY,
                     .v = v,
                     .e = jx_ring_mix(h ^ 0x5bd1e995) % f->ring.q,
                     .over = 1,
                     .about = NAN,
                     .base = v};
}

bool jx_cell_is_zero(const jx_cell *a)
{
    return a->kind == JX_CELL_NUMBER && a->v == 0 && a->w == 0;
}

bool jx_cell_same(const jx_cell *a, const jx_cell *b)
{
    return a->kind == JX_CELL_NUMBER && b->kind == JX_CELL_NUMBER &&
           a->v == b->v && a->w == b->w && (!a->w || a->root == b->root);
}

jx_cell jx_cell_collapsed(const jx_field *f, const jx_cell *a)
{
    jx_cell to = *a;

    if (!f->planes || !a->w)
        return to;
    to.v = jx_mod_add(
        a->v, jx_mod_fast(a->w, f->roots.at[a->root].any, &f->ring.fast_p),
        f->ring.p);
    to.w = 0;
    to.base = to.v;
    to.off = 0;
    return to;
}

/* Roots of two numbers are no numbers of one extension. */
static void bring_together(const jx_field *f, const jx_cell **a,
                           const jx_cell **b, jx_cell *kept)
{
    if (!f->planes || !(*a)->w || !(*b)->w || (*a)->root == (*b)->root)
        return;
    kept[0] = jx_cell_collapsed(f, *a);
    kept[1] = jx_cell_collapsed(f, *b);
    *a = &kept[0];
    *b = &kept[1];
}

static uint64_t square_of(const jx_field *f, const jx_cell *a)
{
    return f->planes && a->w ? f->roots.at[a->root].square : f->ring.no_square;
}

static bool is_constant(const jx_cell *a)
{
    return !isnan(a->about) && a->kind == JX_CELL_NUMBER;
}

/* ---- what they depend on */

static void depend(jx_field *f, jx_cell *of, const jx_cell *on)
{
    of->mixed |= on->mixed;
    if (on->needs)
        of->needs = jx_keys_join(f, of->needs, on->needs);
    for (int i = 0; i < f->ncolours; i++) {
        of->mixed |= of->by[i] && on->by[i] && of->by[i] != on->by[i];
        of->by[i] = of->by[i] ? of->by[i] : on->by[i];
    }
}

jx_cell jx_cell_depends(jx_field *f, jx_cell of, const jx_cell *on)
{
    depend(f, &of, on);
    return of;
}

/* A new one of two, of which nothing else is known yet. */
static jx_cell made_of(jx_field *f, const jx_cell *a, const jx_cell *b)
{
    jx_cell to = {.signs = JX_MAY_BE_ANY, .about = NAN};

    f->work++;
    depend(f, &to, a);
    if (b != a)
        depend(f, &to, b);
    to.kind = a->kind == JX_CELL_UNKNOWN || b->kind == JX_CELL_UNKNOWN
                  ? JX_CELL_UNKNOWN
              : a->kind || b->kind ? JX_CELL_NAN
                                   : JX_CELL_NUMBER;
    return to;
}

uint64_t jx_cell_key(const jx_field *f, uint64_t kind, const jx_cell *a,
                     bool *flipped)
{
    uint64_t v = jx_mod_sub(0, a->v, f->ring.p),
             w = jx_mod_sub(0, a->w, f->ring.p);

    *flipped = a->v > v || (a->v == v && a->w > w);
    if (!*flipped) {
        v = a->v;
        w = a->w;
    }
    if (w)
        kind = jx_hash_mix(kind, a->root);
    return jx_ring_mix(f->salt ^ jx_hash_mix(jx_hash_mix(kind, v), w));
}

uint64_t jx_cell_zero_key(const jx_field *f, const jx_cell *a)
{
    bool flipped;

    return jx_cell_key(f, JX_KIND_POLE, a, &flipped);
}

const jx_keys *jx_cell_zeros(jx_field *f, const jx_cell *a)
{
    return !(a->signs & JX_MAY_BE_ZERO) ? NULL
           : a->zeros                   ? a->zeros
                      : jx_keys_with(f, NULL, jx_cell_zero_key(f, a));
}

/* ---- logarithms in a sum */

static const jx_logs *times(jx_field *f, const jx_logs *of,
                            const jx_cell *constant)
{
    jx_logs *to;

    if (!of || !constant->v || constant->w)
        return NULL;
    if (constant->v == 1)
        return of;
    to = jx_arena_copy(f->ctx->arena, of, sizeof *of);
    for (int i = 0; to && i < to->count; i++) {
        to->at[i].v = jx_mod_mul(to->at[i].v, constant->v, f->ring.p);
        to->at[i].about *= constant->about;
    }
    return to;
}

static const jx_logs *sum_of(jx_field *f, const jx_logs *a, const jx_logs *b)
{
    jx_logs *to;

    if (!a || !b)
        return a ? a : b;
    to = jx_arena_copy(f->ctx->arena, a, sizeof *a);
    for (int i = 0; to && i < b->count; i++) {
        int k = 0;
        while (k < to->count && to->at[k].atom != b->at[i].atom)
            k++;
        if (k == to->count && k == JX_MOST_LOGS)
            return NULL;
        if (k == to->count)
            to->at[to->count++] = (struct jx_log_part){.atom = b->at[i].atom};
        to->at[k].v = jx_mod_add(to->at[k].v, b->at[i].v, f->ring.p);
        to->at[k].about += b->at[i].about;
    }
    return to;
}

/* ---- arithmetic */

static uint8_t signs_of_sum(uint8_t a, uint8_t b)
{
    uint8_t rest = JX_MAY_BE_ANY & ~JX_MAY_BE_NEGATIVE;

    for (int turn = 0; turn < 2;
         turn++, rest = JX_MAY_BE_ANY & ~JX_MAY_BE_POSITIVE)
        if (!(a & ~rest) && !(b & ~rest))
            return (uint8_t)(((a | b) & ~JX_MAY_BE_ZERO) |
                             (a & b & JX_MAY_BE_ZERO));
    return JX_MAY_BE_ANY;
}

static uint8_t signs_of_product(uint8_t a, uint8_t b)
{
    uint8_t to = 0;

    for (int i = -1; i <= 1; i++)
        for (int k = -1; k <= 1; k++)
            if (a & (1 << (i + 1)) && b & (1 << (k + 1)))
                to |= (uint8_t)(1 << (i * k + 1));
    return to;
}

/* An infinite constant and a number. */
static bool add_infinite(const jx_cell *a, const jx_cell *b, jx_cell *to)
{
    const jx_cell *infinite = a->kind == JX_CELL_INFINITE ? a : b;
    const jx_cell *other = infinite == a ? b : a;

    if (infinite->kind != JX_CELL_INFINITE ||
        (other->kind == JX_CELL_INFINITE ? other->signs != infinite->signs
                                         : other->kind != JX_CELL_NUMBER))
        return false;
    to->kind = JX_CELL_INFINITE;
    to->signs = infinite->signs;
    to->about = infinite->about;
    return true;
}

static void add_constants(const jx_cell *a, const jx_cell *b, jx_cell *to)
{
    double sum = a->about + b->about;

    if (is_constant(a) && is_constant(b) &&
        (fabs(sum) > 0.01 * (fabs(a->about) + fabs(b->about)) || !to->v)) {
        to->about = to->v ? sum : 0;
        to->off = to->about;
        to->base = 0;
        to->signs = sign_of(to->about);
    } else if (is_constant(a) != is_constant(b)) {
        const jx_cell *by = is_constant(a) ? a : b, *of = by == a ? b : a;
        to->base = of->base;
        to->off = of->off + by->about;
    }
}

static bool is_integer(const jx_cell *a, int value)
{
    return is_constant(a) && a->about == value && a->v == (uint64_t)value &&
           !a->w;
}

/* The products of a sum, and of a product. */
static uint32_t added(jx_field *f, const jx_cell *a, const jx_cell *b)
{
    return !f->products       ? 0
           : is_integer(a, 0) ? b->sum
           : is_integer(b, 0) ? a->sum
                              : jx_products_add(f->products, a->sum, b->sum);
}

static uint32_t multiplied(jx_field *f, const jx_cell *a, const jx_cell *b)
{
    return !f->products       ? 0
           : is_integer(a, 1) ? b->sum
           : is_integer(b, 1) ? a->sum
                              : jx_products_mul(f->products, a->sum, b->sum);
}

jx_cell jx_cell_add(jx_field *f, const jx_cell *a, const jx_cell *b)
{
    jx_cell to = made_of(f, a, b), kept[2];
    uint64_t p = f->ring.p;

    bring_together(f, &a, &b, kept);
    if (to.kind) {
        if (to.kind == JX_CELL_NAN)
            add_infinite(a, b, &to);
        return to;
    }
    to.v = jx_mod_add(a->v, b->v, p);
    to.w = jx_mod_add(a->w, b->w, p);
    to.root = a->w ? a->root : b->root;
    to.e = jx_mod_add(a->e, b->e, f->ring.q);
    if ((a->under == 0 && b->under == 0) || f->planes) {
        to.over = fmaxf(a->over, b->over);
        to.under = fmaxf(a->under, b->under);
    } else {
        to.over = fmaxf(a->over + b->under, b->over + a->under);
        to.under = a->under + b->under;
    }
    to.bits = f->planes ? fmaxf(a->bits, b->bits) + 1 : a->bits + b->bits + 1;
    to.parts = fmaxf(a->parts, b->parts);
    to.base = to.v;
    to.signs = signs_of_sum(a->signs, b->signs);
    add_constants(a, b, &to);
    if (jx_cell_is_zero(a))
        to.zeros = b->zeros;
    if (jx_cell_is_zero(b))
        to.zeros = a->zeros;
    to.logs = sum_of(f, a->logs, b->logs);
    to.sum = added(f, a, b);
    if (jx_cell_is_zero(&to))
        to.signs = JX_MAY_BE_ZERO;
    return to;
}

jx_cell jx_cell_neg(jx_field *f, const jx_cell *a)
{
    jx_cell to = *a;

    f->work++;
    to.power = 0;
    to.sum = 0;
    to.v = jx_mod_sub(0, a->v, f->ring.p);
    to.w = jx_mod_sub(0, a->w, f->ring.p);
    to.e = jx_mod_sub(0, a->e, f->ring.q);
    to.base = jx_mod_sub(0, a->base, f->ring.p);
    to.off = -a->off;
    to.about = -a->about;
    to.signs =
        (uint8_t)((a->signs & JX_MAY_BE_ZERO) |
                  (a->signs & JX_MAY_BE_NEGATIVE ? JX_MAY_BE_POSITIVE : 0) |
                  (a->signs & JX_MAY_BE_POSITIVE ? JX_MAY_BE_NEGATIVE : 0));
    to.zeros = a->zeros; /* the key of a zero is that of both signs */
    jx_cell minus = {.v = f->ring.p - 1, .about = -1};
    to.logs = times(f, a->logs, &minus);
    return to;
}

jx_cell jx_cell_sub(jx_field *f, const jx_cell *a, const jx_cell *b)
{
    jx_cell negative = jx_cell_neg(f, b);

    return jx_cell_add(f, a, &negative);
}

/* An infinite constant times one that is no zero. */
static void mul_infinite(const jx_cell *a, const jx_cell *b, jx_cell *to)
{
    double product = a->about * b->about;

    if (!isinf(product) || (a->kind && a->kind != JX_CELL_INFINITE) ||
        (b->kind && b->kind != JX_CELL_INFINITE))
        return;
    to->kind = JX_CELL_INFINITE;
    to->about = product;
    to->signs = sign_of(product);
}

static void mul_values(const jx_ring *r, uint64_t square, const jx_cell *a,
                       const jx_cell *b, jx_cell *to)
{
    uint64_t p = r->p;

    to->v = jx_mod_fast(a->v, b->v, &r->fast_p);
    to->e = jx_mod_fast(a->e, b->e, &r->fast_q);
    if (!a->w && !b->w)
        return;
    to->v =
        jx_mod_add(to->v, jx_mod_mul(jx_mod_mul(a->w, b->w, p), square, p), p);
    to->root = a->w ? a->root : b->root;
    to->w = jx_mod_add(jx_mod_mul(a->v, b->w, p), jx_mod_mul(a->w, b->v, p), p);
}

jx_cell jx_cell_mul(jx_field *f, const jx_cell *a, const jx_cell *b)
{
    jx_cell to = made_of(f, a, b), kept[2];

    bring_together(f, &a, &b, kept);
    if (to.kind) {
        if (to.kind == JX_CELL_NAN)
            mul_infinite(a, b, &to);
        return to;
    }
    mul_values(&f->ring, square_of(f, a->w ? a : b), a, b, &to);
    to.over = a->over + b->over;
    to.under = f->planes ? fmaxf(a->under, b->under) : a->under + b->under;
    to.bits = a->bits + b->bits;
    to.parts = a->parts + b->parts;
    to.base = to.v;
    to.signs = signs_of_product(a->signs, b->signs);
    if (jx_cell_same(a, b))
        to.signs &= (uint8_t)~JX_MAY_BE_NEGATIVE;
    if (is_constant(a) && is_constant(b)) {
        to.about = to.off = a->about * b->about;
        to.base = 0;
    }
    to.zeros = is_constant(a) && a->v ? jx_cell_zeros(f, b)
               : is_constant(b) && b->v
                   ? jx_cell_zeros(f, a)
                   : jx_keys_join(f, jx_cell_zeros(f, a), jx_cell_zeros(f, b));
    to.logs = is_constant(a)   ? times(f, b->logs, a)
              : is_constant(b) ? times(f, a->logs, b)
                               : NULL;
    to.sum = multiplied(f, a, b);
    if (jx_cell_is_zero(&to)) {
        to.signs = JX_MAY_BE_ZERO;
        to.about = to.off = 0;
        to.base = 0;
    }
    return to;
}

jx_cell jx_cell_product(jx_field *f, const jx_cell *a, const jx_cell *b)
{
    jx_cell to = {.kind = a->kind || b->kind ? JX_CELL_NAN : JX_CELL_NUMBER},
            kept[2];

    f->work++;
    bring_together(f, &a, &b, kept);
    if (!to.kind)
        mul_values(&f->ring, square_of(f, a->w ? a : b), a, b, &to);
    return to;
}

bool jx_cell_is_product(jx_field *f, const jx_cell *a, const jx_cell *b,
                        const jx_cell *of)
{
    jx_cell to;

    if (!a->w && !b->w && !a->kind && !b->kind) {
        f->work++;
        return !of->kind && !of->w &&
               jx_mod_fast(a->v, b->v, &f->ring.fast_p) == of->v;
    }
    to = jx_cell_product(f, a, b);
    return jx_cell_same(&to, of);
}

/* An inverse is a symbol more, for which a fraction has its denominator as
 * often as it has the symbol. */
static void note_inverse(jx_field *f, const jx_cell *a, jx_cell *to)
{
    int level = (int)fminf(a->under, JX_MOST_LEVELS - 1);
    jx_inverses *all = &f->inverses[level];

    to->over = 1;
    to->under = (float)(level + 1);
    if (is_constant(a)) { /* what it is made of is known by its bits */
        to->over = 0;
        to->under = a->under;
        return;
    }
    all->count++;
    all->degree = fmaxf(all->degree, a->over);
    all->bits = fmaxf(all->bits, a->bits + a->parts);
    to->bits = to->parts = 0;
    f->spent |= a->under >= JX_MOST_LEVELS;
}

double jx_cell_degree(const jx_field *f, const jx_cell *a)
{
    double to = (double)a->over;

    if (!f->planes)
        return to + (double)a->under;
    for (int level = 0; level < (int)a->under && level < JX_MOST_LEVELS;
         level++)
        to *= 1 + f->inverses[level].count * (double)f->inverses[level].degree;
    return to;
}

/* 1 / a, of a number that is not 0. */
static jx_cell inverse(jx_field *f, const jx_cell *a)
{
    const jx_ring *r = &f->ring;
    jx_cell to = *a;
    uint64_t norm = jx_mod_mul(a->v, a->v, r->p);

    f->work += 16;
    if (f->divisors && a->signs & JX_MAY_BE_ZERO)
        JX_PUSH(f->ctx->arena, f->divisors, *a);
    to.power = 0;
    to.sum = 0;
    norm = jx_mod_sub(
        norm, jx_mod_mul(jx_mod_mul(a->w, a->w, r->p), square_of(f, a), r->p),
        r->p);
    norm = jx_mod_inverse(norm, r->p);
    to.v = jx_mod_mul(a->v, norm, r->p);
    to.w = jx_mod_sub(0, jx_mod_mul(a->w, norm, r->p), r->p);
    to.e =
        a->e ? jx_mod_inverse(a->e, r->q) : jx_ring_mix(f->salt ^ to.v) % r->q;
    to.over = a->under;
    to.under = a->over;
    if (f->planes)
        note_inverse(f, a, &to);
    to.about = to.off = 1 / a->about;
    to.base = is_constant(a) ? 0 : to.v;
    to.off = is_constant(a) ? to.about : 0;
    to.needs = jx_keys_join(f, a->needs, jx_cell_zeros(f, a));
    to.signs = a->signs & (uint8_t)~JX_MAY_BE_ZERO;
    to.zeros = NULL;
    to.logs = NULL;
    to.tie = 0;
    return to;
}

jx_cell jx_cell_div(jx_field *f, const jx_cell *a, const jx_cell *b)
{
    jx_cell by;

    if (b->kind || jx_cell_is_zero(b)) {
        jx_cell to = made_of(f, a, b);
        to.kind = to.kind == JX_CELL_UNKNOWN ? JX_CELL_UNKNOWN : JX_CELL_NAN;
        return to;
    }
    by = inverse(f, b);
    return jx_cell_mul(f, a, &by);
}

jx_cell jx_cell_power(jx_field *f, const jx_cell *a, int64_t n)
{
    jx_cell square = *a, to = jx_cell_integer(f, 1);
    int64_t left = n < 0 ? -n : n;

    if (a->kind)
        return n == 0 ? to : made_of(f, a, a);
    if (n < -(1 << 20) || n > 1 << 20)
        return jx_cell_unknown(f, "a power beyond 2^20");
    if (n < 0 && jx_cell_is_zero(a))
        return jx_cell_div(f, &to, a);
    square = n < 0 ? inverse(f, a) : *a;
    for (bool any = false; left; left >>= 1) {
        if (left & 1)
            to = any ? jx_cell_mul(f, &to, &square) : square;
        any |= left & 1;
        if (left > 1)
            square = jx_cell_mul(f, &square, &square);
    }
    if (n > 0)
        to.zeros = jx_cell_zeros(f, a);
    if (n % 2 == 0)
        to.signs &= (uint8_t)~JX_MAY_BE_NEGATIVE;
    return to;
}
