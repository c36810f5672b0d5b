/* prng.h - JAX's random number generators on plain words, bit for bit.
 *
 * A generator turns a key (1, 2 or 4 words) into keys or bits.  Arrays of keys
 * are handled one by one, except for the two whose batching rule in JAX draws
 * for the whole array from its first key (rbg's bits, unsafe_rbg's splits). */
#ifndef JX_PRNG_H
#define JX_PRNG_H

#include "frontend/ir/prng.h"

#include <stdbool.h>
#include <stdint.h>

/* `partitionable` is JAX's jax_threefry_partitionable. */
typedef struct jx_generator {
    jx_prng prng;
    bool partitionable;
} jx_generator;

void jx_prng_seed(const jx_generator *g, uint64_t seed, uint32_t *key);
/* Of an array of `nkeys` keys, `count` new ones each. */
void jx_prng_split(const jx_generator *g, const uint32_t *keys, int64_t nkeys,
                   int64_t count, uint32_t *out);
/* `row` is the position of `data` in the array that it came from, `first` that
 * array's first element (1 or 0 of them matter to unsafe_rbg alone). */
void jx_prng_fold_in(const jx_generator *g, const uint32_t *key, uint32_t data,
                     int64_t row, uint32_t first, uint32_t *out);
/* `count` elements of 8, 16, 32 or 64 bits for each key. */
void jx_prng_bits(const jx_generator *g, const uint32_t *keys, int64_t nkeys,
                  int bit_width, int64_t count, void *out);

/* Hashes n counters (hi, lo) in place. */
void jx_threefry2x32(const uint32_t key[2], uint32_t *hi, uint32_t *lo,
                     int64_t n);

/* XLA's RngBitGenerator on a state of four words, which it advances: elements
 * from `start` on of a row-major array. */
void jx_philox_bits(uint32_t state[4], int bit_width, int64_t start,
                    int64_t count, void *out);
/* With a counter of 128 bits, the lower half first, that it advances. */
void jx_philox_stream(const uint32_t key[2], uint64_t counter[2], int bit_width,
                      int64_t start, int64_t count, void *out);
/* With Threefry the values depend on the shape (see prng.c). */
void jx_threefry_bits(uint32_t state[4], int bit_width, int rank,
                      const int64_t *shape, void *out);

#endif
