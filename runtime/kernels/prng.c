/* prng.c - see prng.h.
 *
 * Threefry and Philox as published (Salmon et al., Parallel random numbers: as
 * easy as 1, 2, 3), used the ways that JAX and XLA use them. */
#include "runtime/kernels/prng.h"

#include "runtime/kernels/vector.h"

#include <string.h>

enum { BLOCK = 512 }; /* counters hashed at a time */

/* ---- the hashes ---- */

static inline uint32_t rotate(uint32_t x, int by)
{
    return x << by | x >> (32 - by);
}

#define MIX(r) a += b, b = rotate(b, r) ^ a

JX_VECTOR_CLONES
static void threefry2x32(uint32_t k0, uint32_t k1, uint32_t *restrict hi,
                         uint32_t *restrict lo, int64_t n)
{
    const uint32_t k2 = k0 ^ k1 ^ 0x1bd11bda;

    for (int64_t i = 0; i < n; i++) {
        uint32_t a = hi[i] + k0, b = lo[i] + k1;
        MIX(13), MIX(15), MIX(26), MIX(6);
        a += k1, b += k2 + 1;
        MIX(17), MIX(29), MIX(16), MIX(24);
        a += k2, b += k0 + 2;
        MIX(13), MIX(15), MIX(26), MIX(6);
        a += k0, b += k1 + 3;
        MIX(17), MIX(29), MIX(16), MIX(24);
        a += k1, b += k2 + 4;
        MIX(13), MIX(15), MIX(26), MIX(6);
        hi[i] = a + k2, lo[i] = b + k0 + 5;
    }
}

void jx_threefry2x32(const uint32_t key[2], uint32_t *hi, uint32_t *lo,
                     int64_t n)
{
    threefry2x32(key[0], key[1], hi, lo, n);
}

static void threefry4x32(const uint32_t key[4], uint32_t x[4])
{
    static const unsigned char turns[8][2] = {{10, 26}, {11, 21}, {13, 27},
                                              {23, 5},  {6, 20},  {17, 11},
                                              {25, 10}, {18, 20}};
    uint32_t ks[5] = {key[0], key[1], key[2], key[3], 0x1bd11bda};

    for (int i = 0; i < 4; i++) {
        ks[4] ^= key[i];
        x[i] += key[i];
    }
    for (int r = 0; r < 20; r++) {
        /* Odd rounds pair (0, 3) and (2, 1). */
        int p = r % 2 ? 3 : 1, q = r % 2 ? 1 : 3;
        x[0] += x[p], x[p] = rotate(x[p], turns[r % 8][0]) ^ x[0];
        x[2] += x[q], x[q] = rotate(x[q], turns[r % 8][1]) ^ x[2];
        if (r % 4 < 3)
            continue;
        for (int i = 0; i < 4; i++)
            x[i] += ks[(r / 4 + 1 + i) % 5];
        x[3] += (uint32_t)(r / 4 + 1);
    }
}

static void philox2x32(uint32_t key, uint32_t x[2])
{
    for (int r = 0; r < 10; r++, key += 0x9e3779b9) {
        uint64_t product = (uint64_t)0xd256d193 * x[0];
        x[0] = (uint32_t)(product >> 32) ^ x[1] ^ key;
        x[1] = (uint32_t)product;
    }
}

static inline void philox4x32(uint32_t k0, uint32_t k1, uint32_t x[4])
{
    for (int r = 0; r < 10; r++, k0 += 0x9e3779b9, k1 += 0xbb67ae85) {
        uint64_t p = (uint64_t)0xd2511f53 * x[0];
        uint64_t q = (uint64_t)0xcd9e8d57 * x[2];
        x[0] = (uint32_t)(q >> 32) ^ x[1] ^ k0;
        x[2] = (uint32_t)(p >> 32) ^ x[3] ^ k1;
        x[1] = (uint32_t)q;
        x[3] = (uint32_t)p;
    }
}

/* ---- words to elements ---- */

/* Element i of an array of that width from two words. */
static inline void put(void *out, int64_t i, int bit_width, uint32_t hi,
                       uint32_t lo)
{
    if (bit_width == 64)
        ((uint64_t *)out)[i] = (uint64_t)hi << 32 | lo;
    else if (bit_width == 32)
        ((uint32_t *)out)[i] = lo;
    else if (bit_width == 16)
        ((uint16_t *)out)[i] = (uint16_t)lo;
    else
        ((uint8_t *)out)[i] = (uint8_t)lo;
}

/* ---- threefry2x32 ---- */

/* Element i is a hash of the 64-bit counter i. */
static void fry_bits(const uint32_t *key, int bit_width, int64_t count,
                     void *out)
{
    uint32_t hi[BLOCK], lo[BLOCK];

    for (int64_t b = 0; b < count; b += BLOCK) {
        int64_t n = count - b < BLOCK ? count - b : BLOCK;
        for (int64_t i = 0; i < n; i++) {
            hi[i] = (uint32_t)((uint64_t)(b + i) >> 32);
            lo[i] = (uint32_t)(b + i);
        }
        threefry2x32(key[0], key[1], hi, lo, n);
        if (bit_width == 32) {
            uint32_t *to = (uint32_t *)out + b;
            for (int64_t i = 0; i < n; i++)
                to[i] = hi[i] ^ lo[i];
        } else {
            for (int64_t i = 0; i < n; i++)
                put(out, b + i, bit_width, hi[i],
                    bit_width == 64 ? lo[i] : hi[i] ^ lo[i]);
        }
    }
}

/* The older way: `nwords` counters cut into halves that are hashed in pairs;
 * a missing last one is 0. */
static void fry_words_block(const uint32_t *key, int64_t nwords, int64_t b,
                            int64_t n, uint32_t *first, uint32_t *second)
{
    int64_t half = (nwords + 1) / 2;

    for (int64_t i = 0; i < n; i++) {
        first[i] = (uint32_t)(b + i);
        second[i] = half + b + i < nwords ? (uint32_t)(half + b + i) : 0;
    }
    threefry2x32(key[0], key[1], first, second, n);
}

/* Word w of the older way, for the narrow widths: little endian. */
static void put_word(void *out, int bit_width, int64_t w, uint32_t word,
                     int64_t count)
{
    int per = 32 / bit_width;

    for (int k = 0; k < per && w * per + k < count; k++)
        put(out, w * per + k, bit_width, 0, word >> (k * bit_width));
}

static void fry_bits_original(const uint32_t *key, int bit_width, int64_t count,
                              void *out)
{
    uint32_t first[BLOCK], second[BLOCK];
    /* Beyond 2^32 words JAX hashes in blocks; no such array fits here. */
    int64_t nwords =
        bit_width == 64 ? 2 * count : (count * bit_width + 31) / 32;
    int64_t half = (nwords + 1) / 2;

    for (int64_t b = 0; b < half; b += BLOCK) {
        int64_t n = half - b < BLOCK ? half - b : BLOCK;
        fry_words_block(key, nwords, b, n, first, second);
        for (int64_t i = 0; i < n; i++) {
            if (bit_width == 64) {
                put(out, b + i, 64, first[i], second[i]);
                continue;
            }
            put_word(out, bit_width, b + i, first[i], count);
            put_word(out, bit_width, half + b + i, second[i], count);
        }
    }
}

static void fry_split(const jx_generator *g, const uint32_t *key, int64_t count,
                      uint32_t *out, int out_stride)
{
    uint32_t first[BLOCK], second[BLOCK];

    for (int64_t b = 0; b < count; b += BLOCK) {
        int64_t n = count - b < BLOCK ? count - b : BLOCK;
        if (g->partitionable) {
            for (int64_t i = 0; i < n; i++) {
                first[i] = (uint32_t)((uint64_t)(b + i) >> 32);
                second[i] = (uint32_t)(b + i);
            }
            threefry2x32(key[0], key[1], first, second, n);
        } else {
            fry_words_block(key, 2 * count, b, n, first, second);
        }
        for (int64_t i = 0; i < n; i++) {
            /* The older way lays out all first words, then all second. */
            int64_t p = g->partitionable ? 2 * (b + i) : b + i;
            int64_t q = g->partitionable ? p + 1 : count + b + i;
            out[p / 2 * out_stride + p % 2] = first[i];
            out[q / 2 * out_stride + q % 2] = second[i];
        }
    }
}

static void fry_fold_in(const uint32_t *key, uint32_t data, uint32_t *out)
{
    out[0] = 0, out[1] = data;
    threefry2x32(key[0], key[1], &out[0], &out[1], 1);
}

/* ---- RngBitGenerator ---- */

static uint64_t pair(const uint32_t *w)
{
    return (uint64_t)w[1] << 32 | w[0];
}

/* Word w of the stream: four per counter (which starts at the state's second
 * half, the key above it). */
void jx_philox_bits(uint32_t state[4], int bit_width, int64_t start,
                    int64_t count, void *out)
{
    uint64_t counter[2] = {pair(state + 2), pair(state)};

    jx_philox_stream(state, counter, bit_width, start, count, out);
    state[2] = (uint32_t)counter[0], state[3] = (uint32_t)(counter[0] >> 32);
}

void jx_philox_stream(const uint32_t key[2], uint64_t counter[2], int bit_width,
                      int64_t start, int64_t count, void *out)
{
    int per = bit_width == 64 ? 2 : 4; /* elements per counter */
    uint64_t low = counter[0], high = counter[1];
    int64_t end = start + count;

    for (int64_t b = start / per; b * per < end; b++) {
        uint64_t lo = low + (uint64_t)b, hi = high + (lo < low);
        uint32_t x[4] = {(uint32_t)lo, (uint32_t)(lo >> 32), (uint32_t)hi,
                         (uint32_t)(hi >> 32)};
        philox4x32(key[0], key[1], x);
        for (int k = 0; k < per; k++) {
            int64_t i = b * per + k;
            if (i < start || i >= end)
                continue;
            if (bit_width == 64)
                put(out, i - start, 64, x[2 * k + 1], x[2 * k]);
            else
                put(out, i - start, bit_width, 0, x[k]);
        }
    }
    counter[0] += (uint64_t)((end + per - 1) / per);
    counter[1] += counter[0] < low;
}

/* The axis that is cut into halves: the first even one, else the longest. */
static int split_axis(int rank, const int64_t *shape)
{
    int longest = -1;

    for (int i = 0; i < rank; i++)
        if (shape[i] % 2 == 0)
            return i;
    for (int i = 0; i < rank; i++)
        if (longest < 0 || shape[i] > shape[longest])
            longest = i;
    return longest;
}

/* Up to 32 bits, one axis is halved; counter c of the halved array gives the
 * two elements 2j and 2j+1 along that axis. */
void jx_threefry_bits(uint32_t state[4], int bit_width, int rank,
                      const int64_t *shape, void *out)
{
    int axis = split_axis(rank, shape);
    int64_t inner = 1, outer = 1, n = axis < 0 ? 1 : shape[axis];
    int64_t half = bit_width == 64 ? n : (n + 1) / 2, c = 0;
    uint64_t counter = pair(state + 2);

    for (int i = 0; i < axis; i++)
        outer *= shape[i];
    for (int i = axis + 1; i < rank; i++)
        inner *= shape[i];
    for (int64_t o = 0; o < outer; o++)
        for (int64_t j = 0; j < half; j++)
            for (int64_t k = 0; k < inner; k++, c++) {
                uint64_t at = counter + (uint64_t)c;
                uint32_t a = (uint32_t)at, b = (uint32_t)(at >> 32);
                threefry2x32(state[0], state[1], &a, &b, 1);
                if (bit_width == 64) {
                    put(out, c, 64, b, a);
                    continue;
                }
                int64_t i = (o * n + 2 * j) * inner + k;
                put(out, i, bit_width, 0, a);
                if (2 * j + 1 < n)
                    put(out, i + inner, bit_width, 0, b);
            }
    counter += (uint64_t)c;
    state[2] = (uint32_t)counter, state[3] = (uint32_t)(counter >> 32);
}

/* ---- keys ---- */

void jx_prng_seed(const jx_generator *g, uint64_t seed, uint32_t *key)
{
    uint32_t hi = (uint32_t)(seed >> 32), lo = (uint32_t)seed;
    uint32_t x[4] = {hi, lo, 0, 0}, fry[4] = {hi, lo, 0, 0}, zero[4] = {0};

    switch (g->prng) {
    case JX_PRNG_THREEFRY2X32: key[0] = hi, key[1] = lo; break;
    case JX_PRNG_RBG:
    case JX_PRNG_UNSAFE_RBG: key[0] = key[2] = hi, key[1] = key[3] = lo; break;
    case JX_PRNG_PHILOX2X32:
        philox2x32(0, x);
        key[0] = x[0];
        break;
    case JX_PRNG_PHILOX4X32:
        philox4x32(0, 0, x);
        key[0] = x[0], key[1] = x[1];
        break;
    case JX_PRNG_THREEFRY4X32:
        threefry4x32(fry, zero);
        memcpy(key, zero, sizeof zero);
        break;
    case JX_PRNG_NONE: break;
    }
}

/* The generators that hash a counter of (hi, lo) per element. */
static void hash(jx_prng prng, const uint32_t *key, uint64_t counter,
                 bool in_front, uint32_t x[4])
{
    uint32_t hi = (uint32_t)(counter >> 32), lo = (uint32_t)counter;

    memset(x, 0, 4 * sizeof *x);
    x[in_front ? 0 : 2] = hi, x[in_front ? 1 : 3] = lo;
    if (prng == JX_PRNG_PHILOX4X32)
        philox4x32(key[0], key[1], x);
    else if (prng == JX_PRNG_THREEFRY4X32)
        threefry4x32(key, x);
    else
        philox2x32(key[0], x);
}

static void split_one(const jx_generator *g, const uint32_t *key, int64_t count,
                      uint32_t *out)
{
    int words = jx_prng_words(g->prng);
    uint32_t x[4];

    if (g->prng == JX_PRNG_THREEFRY2X32) {
        fry_split(g, key, count, out, 2);
    } else if (g->prng == JX_PRNG_RBG) {
        fry_split(g, key, count, out, 4);
        fry_split(g, key + 2, count, out + 2, 4);
    } else {
        for (int64_t i = 0; i < count; i++, out += words) {
            hash(g->prng, key, (uint64_t)i, g->prng == JX_PRNG_PHILOX2X32, x);
            memcpy(out, x, (size_t)words * sizeof *x);
        }
    }
}

void jx_prng_split(const jx_generator *g, const uint32_t *keys, int64_t nkeys,
                   int64_t count, uint32_t *out)
{
    int words = jx_prng_words(g->prng);

    for (int64_t i = 0; i < nkeys; i++) {
        if (g->prng != JX_PRNG_UNSAFE_RBG) {
            split_one(g, keys + i * words, count, out + i * count * words);
            continue;
        }
        /* Every tenth row of an array drawn from the first key. */
        for (int64_t j = 0; j < count; j++) {
            uint32_t state[4];
            memcpy(state, keys, sizeof state);
            jx_philox_bits(state, 32, 40 * (i * count + j), 4,
                           out + (i * count + j) * 4);
        }
    }
}

void jx_prng_fold_in(const jx_generator *g, const uint32_t *key, uint32_t data,
                     int64_t row, uint32_t first, uint32_t *out)
{
    uint32_t x[4], state[4];

    switch (g->prng) {
    case JX_PRNG_RBG:
        fry_fold_in(key + 2, data, out + 2);
        fry_fold_in(key, data, out);
        break;
    case JX_PRNG_THREEFRY2X32: fry_fold_in(key, data, out); break;
    case JX_PRNG_UNSAFE_RBG:
        jx_prng_seed(g, first, state);
        jx_philox_bits(state, 32, 40 * row + 36, 4, x);
        for (int i = 0; i < 4; i++)
            out[i] = key[i] ^ x[i];
        break;
    default:
        hash(g->prng, key, data, g->prng == JX_PRNG_PHILOX2X32, x);
        memcpy(out, x, (size_t)jx_prng_words(g->prng) * sizeof *x);
    }
}

static void hashed_bits(jx_prng prng, const uint32_t *key, int bit_width,
                        int64_t count, void *out)
{
    uint32_t x[4];

    for (int64_t i = 0; i < count; i++) {
        hash(prng, key, (uint64_t)i, true, x);
        if (bit_width < 64)
            put(out, i, bit_width, 0, x[0] ^ x[1] ^ x[2] ^ x[3]);
        else if (prng == JX_PRNG_THREEFRY4X32)
            put(out, i, 64, x[0] ^ x[2], x[1] ^ x[3]);
        else
            put(out, i, 64, x[0], x[1]);
    }
}

void jx_prng_bits(const jx_generator *g, const uint32_t *keys, int64_t nkeys,
                  int bit_width, int64_t count, void *out)
{
    int words = jx_prng_words(g->prng);

    if (g->prng == JX_PRNG_RBG || g->prng == JX_PRNG_UNSAFE_RBG) {
        uint32_t state[4];
        if (nkeys == 0)
            return;
        memcpy(state, keys, sizeof state);
        jx_philox_bits(state, bit_width, 0, nkeys * count, out);
        return;
    }
    for (int64_t i = 0; i < nkeys; i++) {
        const uint32_t *key = keys + i * words;
        char *to = (char *)out + i * count * (bit_width / 8);
        if (g->prng != JX_PRNG_THREEFRY2X32)
            hashed_bits(g->prng, key, bit_width, count, to);
        else if (g->partitionable)
            fry_bits(key, bit_width, count, to);
        else
            fry_bits_original(key, bit_width, count, to);
    }
}
