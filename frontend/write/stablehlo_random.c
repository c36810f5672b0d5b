/* stablehlo_random.c - keys and random bits (stablehlo_rules.h).
 *
 * A key is its u32 words along a last axis: two for threefry, four for the
 * generators of XLA.  What a rule does to one key it does to an array of them
 * at once, with the words spread over the results' axes. */
#include "frontend/ir/prng.h"
#include "frontend/write/stablehlo_rules.h"

#include <math.h>
#include <string.h>

/* The generators that JAX lowers in ways that are known here; of others
 * JX_PRNG_NONE, having said so. */
static jx_prng generator_of(jx_code *c, const char *impl)
{
    jx_prng prng = impl ? jx_prng_named(impl) : JX_PRNG_THREEFRY2X32;

    if (prng == JX_PRNG_THREEFRY2X32 || prng == JX_PRNG_RBG ||
        prng == JX_PRNG_UNSAFE_RBG)
        return prng;
    jx_hlo_fail(c, "keys of %s have no StableHLO form", impl);
    return JX_PRNG_NONE;
}

static bool partitionable(const jx_hlo_eqn *e)
{
    return !e->eqn->ctx || e->eqn->ctx->threefry_partitionable;
}

static const jx_dim *number(jx_code *c, int64_t value)
{
    return jx_hlo_int(c->in, value);
}

static jx_hv shift(jx_code *c, const char *name, jx_hv x, int64_t by)
{
    return jx_hlo_binary(c, name, x,
                         x.value ? jx_hlo_full_int(c, x.aval, by) : x);
}

/* ---- the threefry block */

static void rounds(jx_code *c, jx_hv *x, const int *rotations)
{
    for (int i = 0; i < 4; i++) {
        jx_hv left, right;
        x[0] = jx_hlo_add(c, x[0], x[1]);
        left = shift(c, "stablehlo.shift_left", x[1], rotations[i]);
        right = shift(c, "stablehlo.shift_right_logical", x[1],
                      32 - rotations[i]);
        x[1] = jx_hlo_binary(c, "stablehlo.xor", x[0],
                             jx_hlo_or(c, left, right));
    }
}

/* ins: two words of the key, two of the counter, all of one shape. */
static void threefry_body(jx_code *c, const jx_hv *ins, jx_hv *outs)
{
    static const int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
    jx_hv key[3] = {ins[0], ins[1]}, x[2];

    if (!ins[0].value)
        return;
    key[2] = jx_hlo_binary(c, "stablehlo.xor",
                           jx_hlo_binary(c, "stablehlo.xor", key[0], key[1]),
                           jx_hlo_full_int(c, key[0].aval, 0x1BD11BDA));
    x[0] = jx_hlo_add(c, ins[2], key[0]);
    x[1] = jx_hlo_add(c, ins[3], key[1]);
    for (int i = 0; i < 5; i++) {
        rounds(c, x, rotations[i & 1]);
        x[0] = jx_hlo_add(c, x[0], key[(i + 1) % 3]);
        x[1] = jx_hlo_add(c, x[1], key[(i + 2) % 3]);
        if (x[1].value)
            x[1] = jx_hlo_add(c, x[1],
                              jx_hlo_full_int(c, x[1].aval, i + 1));
    }
    outs[0] = x[0];
    outs[1] = x[1];
}

static void threefry(jx_code *c, const jx_hv *ins, jx_hv *outs)
{
    const jx_aval *avals[2] = {ins[2].aval, ins[2].aval};

    jx_hlo_call_body(c, "threefry2x32", threefry_body, 4, ins, 2, avals, outs);
}

void jx_lowering_rule_threefry(jx_hlo_eqn *e)
{
    jx_hv ins[4];

    for (int i = 0; i < 4; i++) {
        ins[i] = jx_hlo_fit(e->code, e->ins[i], e->avals[0]);
        if (!ins[i].value)
            return;
    }
    threefry(e->code, ins, e->outs);
}

/* ---- words and counters */

/* Word `index` of keys, spread over the axes behind theirs. */
static jx_hv word(jx_code *c, jx_hv key, int64_t index, const jx_aval *to)
{
    int rank = key.value ? key.aval->rank - 1 : 0;
    jx_hv one;

    if (!key.value)
        return (jx_hv){0};
    one = jx_hlo_reshape(c,
                         jx_hlo_slice_axis(c, key, rank, number(c, index),
                                           number(c, index + 1)),
                         rank, key.aval->shape);
    return to && to->rank != rank ? jx_hlo_along(c, one, to, 0) : one;
}

/* 0, 1, 2, ... in the order of the last axes from `first` on, as u64. */
static jx_hv counter(jx_code *c, const jx_aval *aval, int first)
{
    const jx_aval *wide = jx_hlo_with_dtype(c->in, aval, JX_U64);
    const jx_dim *stride = number(c, 1);
    jx_hv sum = {0};

    for (int i = aval->rank - 1; i >= first; i--) {
        jx_hv at = jx_hlo_iota(c, wide, i), by;
        int64_t factor;
        if (jx_dim_is_int(stride, &factor))
            by = jx_hlo_full_int(c, wide, factor);
        else
            by = jx_hlo_spread(
                c, jx_hlo_convert(c, jx_hlo_dim(c, stride), JX_U64), wide);
        at = jx_hlo_mul(c, by, at);
        sum = sum.value ? jx_hlo_add(c, sum, at) : at;
        stride = jx_dim_mul(c->in->program->dims, stride, aval->shape[i]);
    }
    return sum.value ? sum : jx_hlo_full_int(c, wide, 0);
}

static void halves(jx_code *c, jx_hv wide, jx_hv *high, jx_hv *low)
{
    *high = jx_hlo_convert(
        c, shift(c, "stablehlo.shift_right_logical", wide, 32), JX_U32);
    *low = jx_hlo_convert(c, wide, JX_U32);
}

void jx_lowering_rule_iota_2x32(jx_hlo_eqn *e)
{
    halves(e->code, counter(e->code, e->avals[0], 0), &e->outs[0],
           &e->outs[1]);
}

/* The words that count the elements of the axes behind the keys', hashed. */
static void hashed_counts(jx_code *c, jx_hv key, const jx_aval *out,
                          jx_hv *bits)
{
    jx_hv ins[4];
    int first = key.aval->rank - 1;

    ins[0] = word(c, key, 0, out);
    ins[1] = word(c, key, 1, out);
    halves(c, counter(c, out, first), &ins[2], &ins[3]);
    threefry(c, ins, bits);
}

/* [from, to) of the last axis. */
static jx_hv part_of(jx_code *c, jx_hv x, int64_t from, int64_t to)
{
    return x.value ? jx_hlo_slice_axis(c, x, x.aval->rank - 1, number(c, from),
                                       number(c, to))
                   : x;
}

/* The older way, for each key: counts 0, 1, 2, ... of u32, their first half with
 * their second one (and a 0, if they are odd). */
static jx_hv hashed_halves(jx_code *c, jx_hv key, int64_t count)
{
    int64_t half = (count + 1) / 2;
    const jx_dim *all = number(c, 2 * half), *n = number(c, half);
    const jx_aval *to;
    jx_hv counts, ins[4], bits[2];
    int last;

    if (!key.value)
        return key;
    last = key.aval->rank - 1;
    counts = jx_hlo_iota(c, jx_hlo_aval(c->in, JX_U32, 1, &all), 0);
    if (count & 1) {
        const jx_dim *one = number(c, 1);
        jx_hv parts[2] = {
            part_of(c, counts, 0, count),
            jx_hlo_full_int(c, jx_hlo_aval(c->in, JX_U32, 1, &one), 0)};
        counts = jx_hlo_concatenate(c, 2, parts, 0);
    }
    to = jx_hlo_leading(c, key.aval, 1, JX_U32, 1, &n);
    for (int i = 0; i < 2; i++) {
        ins[i] = word(c, key, i, to);
        ins[2 + i] = jx_hlo_along(
            c, part_of(c, counts, i * half, (i + 1) * half), to, last);
    }
    threefry(c, ins, bits);
    return part_of(c, jx_hlo_concatenate(c, 2, bits, last), 0, count);
}

/* How many elements a result has for each of an array of keys. */
static int64_t count_each(jx_code *c, jx_hv key, const jx_aval *out,
                          const char *what)
{
    int64_t count = 1;

    for (int i = key.aval->rank - 1; i < out->rank; i++)
        if (__builtin_mul_overflow(count, jx_hlo_static(c, out->shape[i], what),
                                   &count)) {
            jx_hlo_fail(c, "StableHLO has no %s like these", what);
            return 0;
        }
    return count;
}

/* ---- XLA's generator */

static jx_hv generate(jx_code *c, const char *algorithm, jx_hv key,
                      const jx_aval *out, jx_hv *next)
{
    jx_hlo *in = c->in;
    jx_dtype dtype = out->dtype;
    bool is_unsigned = jx_dtype_of(dtype)->kind == JX_KIND_UINT &&
                       jx_dtype_of(dtype)->bits >= 8;
    const jx_dim *two = number(c, 2), *four = number(c, 4);
    const jx_dim *pairs[2] = {two, two};
    const jx_aval *state = jx_hlo_aval(in, JX_U64, 1, &two);
    const jx_aval *words = jx_hlo_aval(in, JX_U32, 2, pairs);
    const jx_aval *avals[2] = {
        state, jx_hlo_with_dtype(in, out, is_unsigned ? dtype : JX_U32)};
    bool narrow = key.value && key.aval->dtype == JX_U32;
    jx_mlir_named attr = {
        "rng_algorithm",
        jx_hlo_enum(in, "stablehlo.rng_algorithm", algorithm)};
    jx_hv outs[2];

    if (narrow)
        key = jx_hlo_bitcast(c, jx_hlo_reshape(c, key, 2, pairs), state);
    jx_hlo_emit(c,
                &(jx_hlo_op){.name = "stablehlo.rng_bit_generator",
                             .nins = 1,
                             .ins = &key,
                             .nouts = 2,
                             .outs = avals,
                             .nattrs = 1,
                             .attrs = &attr},
                outs);
    if (narrow && outs[0].value)
        outs[0] =
            jx_hlo_reshape(c, jx_hlo_bitcast(c, outs[0], words), 1, &four);
    if (next)
        *next = outs[0];
    return is_unsigned ? outs[1]
                       : jx_hlo_unary_to(c, "stablehlo.convert", outs[1],
                                         dtype);
}

void jx_lowering_rule_rng_bit_generator(jx_hlo_eqn *e)
{
    const jx_p_rng_bit_generator *p = e->eqn->typed;
    const char *algorithm = p->algorithm == JX_RNG_THREEFRY ? "THREE_FRY"
                            : p->algorithm == JX_RNG_PHILOX ? "PHILOX"
                                                            : "DEFAULT";

    e->outs[1] =
        generate(e->code, algorithm, e->ins[0], e->avals[1], &e->outs[0]);
}

/* Of two bounds (or a mean and a deviation). */
static void rng(jx_hlo_eqn *e, const char *distribution)
{
    jx_code *c = e->code;
    const jx_aval *out = e->avals[0];
    int64_t *sizes = JX_NEW_ARRAY(c->in->ctx->arena, out->rank + 1, int64_t);
    jx_hv ins[3] = {e->ins[0], e->ins[1]};
    jx_mlir_named attr = {
        "rng_distribution",
        jx_hlo_enum(c->in, "stablehlo.rng_distribution", distribution)};

    if (!sizes)
        return;
    for (int i = 0; i < out->rank; i++)
        sizes[i] = jx_hlo_static(c, out->shape[i], "sizes of random arrays");
    ins[2] = jx_hlo_vector(c, JX_I64, out->rank, sizes);
    jx_hlo_fill(e, jx_hlo_simple(c, e->op, 3, ins, e->avals[0], 1, &attr));
}

void jx_lowering_rule_rng_uniform(jx_hlo_eqn *e)
{
    rng(e, e->detail);
}

void jx_lowering_rule_own_rng(jx_hlo_eqn *e)
{
    const jx_p_stablehlo_rng *p = e->eqn->typed;

    rng(e, p->rng_distribution == JX_NORMAL ? "NORMAL" : "UNIFORM");
}

/* ---- keys */

/* The first of an array of keys: when XLA's generator is to be called for many,
 * JAX calls it once, for all that they want. */
static jx_hv first_key(jx_code *c, jx_hv key)
{
    jx_hv first = key;

    for (int i = 0; first.value && i < key.aval->rank - 1; i++)
        first = jx_hlo_slice_axis(c, first, i, number(c, 0), number(c, 1));
    return first.value && key.aval->rank > 1
               ? jx_hlo_reshape(c, first, 1,
                                key.aval->shape + key.aval->rank - 1)
               : first;
}

/* Two words along a new last axis. */
static jx_hv pair(jx_code *c, jx_hv high, jx_hv low)
{
    const jx_dim **shape;
    jx_hv parts[2];
    int rank;

    if (!high.value || !low.value)
        return (jx_hv){0};
    rank = high.aval->rank;
    shape = JX_NEW_ARRAY(c->in->ctx->arena, rank + 1, const jx_dim *);
    if (!shape)
        return (jx_hv){0};
    for (int i = 0; i < rank; i++)
        shape[i] = high.aval->shape[i];
    shape[rank] = number(c, 1);
    parts[0] = jx_hlo_reshape(c, high, rank + 1, shape);
    parts[1] = jx_hlo_reshape(c, low, rank + 1, shape);
    return jx_hlo_concatenate(c, 2, parts, rank);
}

/* The high and the low half of a seed. */
static jx_hv seed_words(jx_code *c, jx_hv seed)
{
    jx_hv high;

    if (!seed.value)
        return seed;
    high = shift(c, "stablehlo.shift_right_logical", seed, 32);
    return pair(c, jx_hlo_convert(c, high, JX_U32),
                jx_hlo_convert(c, seed, JX_U32));
}

void jx_lowering_rule_random_seed(jx_hlo_eqn *e)
{
    const jx_p_random_seed *p = e->eqn->typed;
    jx_code *c = e->code;
    jx_prng prng = generator_of(c, p->impl);
    jx_hv words = seed_words(c, e->ins[0]);
    jx_hv twice[2] = {words, words};

    if (!words.value || prng == JX_PRNG_NONE)
        return;
    jx_hlo_fill(e, prng == JX_PRNG_THREEFRY2X32
                       ? words
                       : jx_hlo_concatenate(c, 2, twice,
                                            words.aval->rank - 1));
}

static jx_prng prng_of(const jx_hlo_eqn *e)
{
    return generator_of(e->code, jx_atom_aval(e->eqn->ins[0])->impl);
}

/* The shape of `aval` without its last axis. */
static const jx_aval *without_words(jx_code *c, const jx_aval *aval)
{
    return jx_hlo_aval(c->in, JX_U32, aval->rank - 1, aval->shape);
}

/* Threefry's children of keys, of the (physical) type `out`. */
static jx_hv split(jx_code *c, jx_hv key, const jx_aval *out, bool by_parts)
{
    jx_hv bits[2];

    if (!key.value)
        return key;
    if (by_parts) {
        hashed_counts(c, key, without_words(c, out), bits);
        return pair(c, bits[0], bits[1]);
    }
    return jx_hlo_reshape(
        c, hashed_halves(c, key, count_each(c, key, out, "counts of keys")),
        out->rank, out->shape);
}

/* Four words are two keys of threefry; their children lie side by side. */
static jx_hv split_pairs(jx_code *c, jx_hv key, const jx_aval *out,
                         bool by_parts)
{
    const jx_dim *two = number(c, 2);
    const jx_aval *half = jx_hlo_leading(c, out, 1, JX_U32, 1, &two);
    jx_hv parts[2];

    for (int i = 0; i < 2; i++)
        parts[i] = split(c, part_of(c, key, 2 * i, 2 * i + 2), half, by_parts);
    return jx_hlo_concatenate(c, 2, parts, out->rank - 1);
}

/* Every tenth of ten times as many keys as are wanted. */
static jx_hv split_unsafe(jx_code *c, jx_hv key, const jx_aval *out)
{
    int rank = key.value ? key.aval->rank - 1 : 0;
    const jx_dim *more[2] = {NULL, number(c, 4)};
    const jx_dim **from =
        JX_NEW_ARRAY(c->in->ctx->arena, rank + 2, const jx_dim *);
    const jx_dim **steps =
        JX_NEW_ARRAY(c->in->ctx->arena, rank + 2, const jx_dim *);
    const jx_aval *all;

    if (!key.value || !from || !steps)
        return (jx_hv){0};
    /* The words of a key are no keys: four times too many. */
    more[0] = number(c, 10 * (count_each(c, key, out, "counts of keys") / 4));
    all = jx_hlo_leading(c, key.aval, 1, JX_U32, 2, more);
    for (int i = 0; i < rank + 2; i++) {
        from[i] = number(c, 0);
        steps[i] = number(c, i == rank ? 10 : 1);
    }
    return jx_hlo_reshape(
        c,
        jx_hlo_slice(c, generate(c, "DEFAULT", first_key(c, key), all, NULL),
                     from, all->shape, steps),
        out->rank, out->shape);
}

void jx_lowering_rule_random_split(jx_hlo_eqn *e)
{
    jx_prng prng = prng_of(e);
    jx_code *c = e->code;

    if (prng == JX_PRNG_THREEFRY2X32)
        jx_hlo_fill(e, split(c, e->ins[0], e->avals[0], partitionable(e)));
    else if (prng == JX_PRNG_UNSAFE_RBG)
        jx_hlo_fill(e, split_unsafe(c, e->ins[0], e->avals[0]));
    else if (prng == JX_PRNG_RBG)
        jx_hlo_fill(e, split_pairs(c, e->ins[0], e->avals[0],
                                   partitionable(e)));
}

/* `out` is the (physical) type of the result: keys and data are spread over its
 * axes. */
static jx_hv fold_in(jx_code *c, jx_hv key, jx_hv data, const jx_aval *out)
{
    const jx_aval *one = without_words(c, out);
    jx_hv ins[4], bits[2];

    for (int i = 0; i < 2; i++)
        ins[i] = jx_hlo_fit(c, word(c, key, i, NULL), one);
    ins[2] = jx_hlo_full_int(c, one, 0);
    ins[3] = jx_hlo_fit(c, jx_hlo_convert(c, data, JX_U32), one);
    if (!ins[3].value)
        return ins[3];
    threefry(c, ins, bits);
    return pair(c, bits[0], bits[1]);
}

/* The last of ten keys that the data make, over the key. */
static jx_hv fold_in_unsafe(jx_code *c, jx_hv key, jx_hv data,
                            const jx_aval *out)
{
    const jx_dim *more[2] = {number(c, 10), number(c, 4)};
    jx_hv words = seed_words(c, data), twice[2] = {words, words}, bits;

    if (!words.value)
        return words;
    words = jx_hlo_concatenate(c, 2, twice, words.aval->rank - 1);
    bits = generate(c, "DEFAULT", first_key(c, words),
                    jx_hlo_leading(c, data.aval, 0, JX_U32, 2, more), NULL);
    bits = jx_hlo_slice_axis(c, bits, data.aval->rank, number(c, 9),
                             number(c, 10));
    bits = jx_hlo_reshape(c, bits, words.aval->rank, words.aval->shape);
    return jx_hlo_binary(c, "stablehlo.xor", jx_hlo_fit(c, key, out),
                         jx_hlo_fit(c, bits, out));
}

void jx_lowering_rule_random_fold_in(jx_hlo_eqn *e)
{
    jx_prng prng = prng_of(e);
    jx_code *c = e->code;
    jx_hv key = e->ins[0], parts[2];

    if (prng == JX_PRNG_THREEFRY2X32) {
        jx_hlo_fill(e, fold_in(c, key, e->ins[1], e->avals[0]));
        return;
    }
    if (prng == JX_PRNG_NONE)
        return;
    if (prng == JX_PRNG_UNSAFE_RBG) {
        jx_hlo_fill(e, fold_in_unsafe(c, key, e->ins[1], e->avals[0]));
        return;
    }
    for (int i = 0; i < 2; i++)
        parts[i] = fold_in(c, part_of(c, key, 2 * i, 2 * i + 2), e->ins[1],
                           e->avals[0]);
    jx_hlo_fill(e, jx_hlo_concatenate(c, 2, parts, e->avals[0]->rank - 1));
}

/* ---- bits */

/* 32 bits as several of the narrower dtype, the low ones first; the first `size`
 * of them along the last axis. */
static jx_hv pieces_of(jx_code *c, jx_hv words, jx_dtype dtype, int64_t size)
{
    int bits = jx_dtype_of(dtype)->bits, per = 32 / bits, rank;
    const jx_dim *more = number(c, per), *flat;
    const jx_aval *wide;
    jx_hv by, all;

    if (!words.value)
        return words;
    rank = words.aval->rank;
    wide = jx_hlo_leading(c, words.aval, 0, JX_U32, 1, &more);
    by = jx_hlo_mul(c, jx_hlo_full_int(c, wide, bits),
                    jx_hlo_iota(c, wide, rank));
    all = jx_hlo_binary(c, "stablehlo.shift_right_logical",
                        jx_hlo_along(c, words, wide, 0), by);
    all =
        jx_hlo_and(c, all, jx_hlo_full_int(c, wide, ((int64_t)1 << bits) - 1));
    flat = jx_dim_mul(c->in->program->dims, words.aval->shape[rank - 1], more);
    wide = jx_hlo_leading(c, words.aval, 1, JX_U32, 1, &flat);
    all = jx_hlo_reshape(c, all, rank, wide->shape);
    return part_of(c, jx_hlo_convert(c, all, dtype), 0, size);
}

/* High and low half. */
static jx_hv joined(jx_code *c, jx_hv high, jx_hv low)
{
    return jx_hlo_or(
        c,
        shift(c, "stablehlo.shift_left", jx_hlo_convert(c, high, JX_U64), 32),
        jx_hlo_convert(c, low, JX_U64));
}

/* The older way: as many blocks of 32 bits as there are bits. */
static jx_hv bits_by_halves(jx_code *c, jx_hv key, const jx_aval *out)
{
    int bits = jx_dtype_of(out->dtype)->bits;
    int64_t size, blocks;
    jx_hv all;

    if (!key.value)
        return key;
    size = count_each(c, key, out, "sizes of random arrays");
    blocks = bits == 64 ? 2 * size : (size + 32 / bits - 1) / (32 / bits);
    all = hashed_halves(c, key, blocks);
    if (bits == 64)
        all =
            joined(c, part_of(c, all, 0, size), part_of(c, all, size, blocks));
    else if (bits < 32)
        all = pieces_of(c, all, out->dtype, size);
    return jx_hlo_reshape(c, all, out->rank, out->shape);
}

static jx_hv bits_of(jx_code *c, jx_hv key, const jx_aval *out, bool by_parts)
{
    jx_hv bits[2];

    if (!key.value)
        return key;
    if (!by_parts)
        return bits_by_halves(c, key, out);
    hashed_counts(c, key, out, bits);
    if (jx_dtype_of(out->dtype)->bits == 64)
        return joined(c, bits[0], bits[1]);
    bits[0] = jx_hlo_binary(c, "stablehlo.xor", bits[0], bits[1]);
    return out->dtype == JX_U32 ? bits[0]
                                : jx_hlo_convert(c, bits[0], out->dtype);
}

void jx_lowering_rule_random_bits(jx_hlo_eqn *e)
{
    jx_code *c = e->code;
    jx_prng prng = prng_of(e);
    jx_hv key = e->ins[0];

    if (prng == JX_PRNG_THREEFRY2X32)
        jx_hlo_fill(e, bits_of(c, key, e->avals[0], partitionable(e)));
    else if (prng != JX_PRNG_NONE)
        jx_hlo_fill(
            e, generate(c, "DEFAULT", first_key(c, key), e->avals[0], NULL));
}

/* ---- gamma: Marsaglia and Tsang's method, all elements in one loop
 *
 * The state of the loop is (keys, X, V, U); an element that has been accepted
 * keeps its state while others go on.  JAX's own loop, batched, does the same. */

typedef struct gamma {
    jx_hv c, d;    /* of the method, per element */
    bool by_parts; /* how keys are split and hashed */
} gamma_env;

static jx_hv mul_by(jx_code *c, jx_hv x, double by)
{
    return jx_hlo_mul(c, x, jx_hlo_like(c, x, by));
}

/* Child `index` of `count`. */
static jx_hv child(jx_code *c, const gamma_env *g, jx_hv key, int64_t index,
                   int64_t count)
{
    const jx_dim *shape[3] = {key.aval->shape[0], number(c, count),
                              number(c, 2)};
    const jx_dim *one[2] = {shape[0], shape[2]};
    jx_hv all =
        split(c, key, jx_hlo_aval(c->in, JX_U32, 3, shape), g->by_parts);

    return jx_hlo_reshape(c,
                          jx_hlo_slice_axis(c, all, 1, number(c, index),
                                            number(c, index + 1)),
                          2, one);
}

static int mantissa(jx_dtype dtype)
{
    switch (dtype) {
    case JX_F64: return 52;
    case JX_F16: return 10;
    case JX_BF16: return 7;
    default: return 23;
    }
}

static jx_dtype unsigned_of(int bits)
{
    return bits == 64 ? JX_U64 : bits == 32 ? JX_U32 : bits == 16 ? JX_U16
                                                                  : JX_U8;
}

/* In [0, 1): random bits as the mantissa of a number in [1, 2), minus 1. */
static jx_hv unit_interval(jx_code *c, const gamma_env *g, jx_hv key,
                           const jx_aval *like)
{
    int bits = jx_dtype_of(like->dtype)->bits;
    int nmant = mantissa(like->dtype);
    int made = nmant < 8 ? 8 : bits;
    jx_dtype word_type = unsigned_of(bits);
    jx_hv x = bits_of(c, key, jx_hlo_with_dtype(c->in, like, unsigned_of(made)),
                      g->by_parts);

    if (made != bits)
        x = jx_hlo_convert(c, x, word_type);
    x = shift(c, "stablehlo.shift_right_logical", x, made - nmant);
    if (!x.value)
        return x;
    x = jx_hlo_or(c, x,
                  jx_hlo_bitcast(c, jx_hlo_full(c, like, 1),
                                 jx_hlo_with_dtype(c->in, like, word_type)));
    x = jx_hlo_bitcast(c, x, like);
    return jx_hlo_sub(c, x, jx_hlo_like(c, x, 1));
}

/* Uniform in [low, high). */
static jx_hv uniform(jx_code *c, const gamma_env *g, jx_hv key,
                     const jx_aval *like, double low, double high)
{
    jx_hv x = unit_interval(c, g, key, like);
    jx_hv lowest = jx_hlo_full(c, like, low);
    jx_hv width = jx_hlo_sub(c, jx_hlo_full(c, like, high), lowest);

    x = jx_hlo_add(c, jx_hlo_mul(c, x, width), lowest);
    return jx_hlo_binary(c, "stablehlo.maximum", lowest, x);
}

/* The number next to -1 in the direction of 0. */
static double after_minus_one(jx_dtype dtype)
{
    return -1 + ldexp(1, -(mantissa(dtype) + 1));
}

static jx_hv normal(jx_code *c, const gamma_env *g, jx_hv key,
                    const jx_aval *like)
{
    jx_hv u = uniform(c, g, key, like, after_minus_one(like->dtype), 1);

    return jx_hlo_mul(c, jx_hlo_like(c, u, sqrt(2.0)),
                      jx_hlo_unary(c, "chlo.erf_inv", u));
}

/* Whether each element needs another round. */
static jx_hv rejected(jx_code *c, const gamma_env *g, const jx_hv *s)
{
    jx_hv one = jx_hlo_like(c, s[1], 1);
    jx_hv square = jx_hlo_mul(c, s[1], s[1]);
    jx_hv squeeze = jx_hlo_sub(
        c, one, jx_hlo_mul(c, jx_hlo_like(c, s[1], 0.0331), square));
    jx_hv log_u = jx_hlo_unary(c, "stablehlo.log", s[3]);
    jx_hv log_v = jx_hlo_unary(c, "stablehlo.log", s[2]);
    jx_hv bound = jx_hlo_add(
        c, mul_by(c, s[1], 0.5),
        jx_hlo_mul(c, g->d,
                   jx_hlo_add(c, jx_hlo_sub(c, one, s[2]), log_v)));

    return jx_hlo_and(c, jx_hlo_compare(c, "GE", s[3], squeeze),
                      jx_hlo_compare(c, "GE", log_u, bound));
}

static void gamma_go_on(jx_code *c, void *env, const jx_hv *s, jx_hv *next)
{
    next[0] = jx_hlo_any(c, rejected(c, env, s));
}

static jx_hv not_positive(jx_code *c, jx_hv v)
{
    return jx_hlo_compare(c, "LE", v, jx_hlo_like(c, v, 0));
}

/* The inner loop, state (keys, x, v): until v is positive. */
static void draw_go_on(jx_code *c, void *env, const jx_hv *s, jx_hv *next)
{
    (void)env;
    next[0] = jx_hlo_any(c, not_positive(c, s[2]));
}

static jx_hv keep_keys(jx_code *c, jx_hv which, jx_hv yes, jx_hv no)
{
    return yes.value
               ? jx_hlo_select(c, jx_hlo_along(c, which, yes.aval, 0), yes, no)
               : yes;
}

static void draw_step(jx_code *c, void *env, const jx_hv *s, jx_hv *next)
{
    const gamma_env *g = env;
    jx_hv on = not_positive(c, s[2]);
    jx_hv key = child(c, g, s[0], 0, 2);
    jx_hv x = normal(c, g, child(c, g, s[0], 1, 2), s[1].aval);
    jx_hv v = jx_hlo_add(c, jx_hlo_like(c, s[1], 1),
                         jx_hlo_mul(c, x, g->c));

    next[0] = keep_keys(c, on, key, s[0]);
    next[1] = jx_hlo_select(c, on, x, s[1]);
    next[2] = jx_hlo_select(c, on, v, s[2]);
}

static void gamma_step(jx_code *c, void *env, const jx_hv *s, jx_hv *next)
{
    jx_hv on = rejected(c, env, s), drawn[3];
    jx_hv init[3] = {child(c, env, s[0], 1, 3), jx_hlo_like(c, s[1], 0),
                     jx_hlo_like(c, s[1], -1)};
    jx_hv x, v;

    jx_hlo_while(c, 3, init, draw_go_on, draw_step, env, drawn);
    x = jx_hlo_mul(c, drawn[1], drawn[1]);
    v = jx_hlo_mul(c, jx_hlo_mul(c, drawn[2], drawn[2]), drawn[2]);
    next[0] = keep_keys(c, on, child(c, env, s[0], 0, 3), s[0]);
    next[1] = jx_hlo_select(c, on, x, s[1]);
    next[2] = jx_hlo_select(c, on, v, s[2]);
    next[3] = jx_hlo_select(
        c, on, uniform(c, env, child(c, env, s[0], 2, 3), s[3].aval, 0, 1),
        s[3]);
}

/* For alpha < 1, a sample of alpha + 1 times uniform^(1 / alpha). */
static jx_hv boosted(jx_code *c, const gamma_env *g, jx_hv key, jx_hv alpha,
                     jx_hv big, jx_hv v, bool in_logs)
{
    jx_hv one = jx_hlo_like(c, alpha, 1), zero = jx_hlo_like(c, alpha, 0);
    jx_hv inverse = jx_hlo_div(c, one, alpha);
    jx_hv u = uniform(c, g, key, alpha.aval, 0, 1), boost, d = g->d;

    if (!in_logs) {
        boost = jx_hlo_select(c, big, one,
                              jx_hlo_binary(c, "stablehlo.power",
                                            jx_hlo_sub(c, one, u), inverse));
        return jx_hlo_mul(c, jx_hlo_mul(c, d, v), boost);
    }
    u = jx_hlo_neg(c, jx_hlo_neg(c, jx_hlo_unary(c, "stablehlo.log_plus_one",
                                                 jx_hlo_neg(c, u))));
    boost = jx_hlo_select(
        c, jx_hlo_or(c, big, jx_hlo_compare(c, "EQ", u, zero)), zero,
        jx_hlo_mul(c, u, inverse));
    return jx_hlo_add(c,
                      jx_hlo_add(c, jx_hlo_unary(c, "stablehlo.log", d),
                                 jx_hlo_unary(c, "stablehlo.log", v)),
                      boost);
}

static jx_hv gamma_flat(jx_code *c, jx_hv key, jx_hv alpha, bool in_logs,
                        bool by_parts)
{
    jx_hv one = jx_hlo_like(c, alpha, 1), zero = jx_hlo_like(c, alpha, 0);
    jx_hv third = jx_hlo_like(c, alpha, 1. / 3.);
    jx_hv big = jx_hlo_compare(c, "GE", alpha, one);
    jx_hv raised = jx_hlo_select(c, big, alpha, jx_hlo_add(c, alpha, one));
    gamma_env g = {.by_parts = by_parts};
    jx_hv state[4], done[4];

    g.d = jx_hlo_sub(c, raised, third);
    g.c = jx_hlo_div(c, third, jx_hlo_unary(c, "stablehlo.sqrt", g.d));
    if (!key.value || !g.c.value)
        return (jx_hv){0};
    state[0] = child(c, &g, key, 0, 2);
    state[1] = zero;
    state[2] = one;
    state[3] = jx_hlo_like(c, alpha, 2);
    jx_hlo_while(c, 4, state, gamma_go_on, gamma_step, &g, done);
    return boosted(c, &g, child(c, &g, key, 1, 2), alpha, big, done[2],
                   in_logs);
}

void jx_lowering_rule_random_gamma(jx_hlo_eqn *e)
{
    const jx_p_random_gamma *p = e->eqn->typed;
    jx_code *c = e->code;
    jx_hv key = e->ins[0], alpha = e->ins[1];
    int64_t keys = 1, all = 1;

    if (!key.value || !alpha.value)
        return;
    if (prng_of(e) != JX_PRNG_THREEFRY2X32) {
        jx_hlo_fail(c, "random_gamma has a StableHLO form for threefry keys "
                       "only");
        return;
    }
    for (int i = 0; i < alpha.aval->rank; i++) {
        int64_t n = jx_hlo_static(c, alpha.aval->shape[i],
                                  "sizes of random arrays");
        all *= n;
        keys *= i < key.aval->rank - 1 ? n : 1;
    }
    const jx_dim *flat = number(c, all), *two = number(c, 2);
    const jx_dim *shape[3] = {number(c, keys),
                              number(c, keys ? all / keys : 0), two};
    const jx_dim *each[2] = {flat, two}, *given[2] = {shape[0], two};
    key = split(c, jx_hlo_reshape(c, key, 2, given),
                jx_hlo_aval(c->in, JX_U32, 3, shape), partitionable(e));
    key = jx_hlo_reshape(c, key, 2, each);
    jx_hv out = gamma_flat(c, key, jx_hlo_reshape(c, alpha, 1, &flat),
                           p->log_space, partitionable(e));
    jx_hlo_fill(e, jx_hlo_reshape(c, out, e->avals[0]->rank,
                                  e->avals[0]->shape));
}
