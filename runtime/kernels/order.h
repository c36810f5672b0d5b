/* order.h - values as unsigned integers that sort the same way.
 *
 * The order of JAX's sort: -0 equals +0, every NaN is above all else and
 * equals every other NaN.  Complex numbers have two keys. */
#ifndef JX_ORDER_H
#define JX_ORDER_H

#include "runtime/kernel.h"

/* Significant bits of a dtype's keys: 8, 16, 32 or 64; 0 if it is not ordered
 * directly (small floats: convert to f32). */
int jx_order_bits(jx_dtype dtype);
/* Keys of n elements that are `stride` bytes apart (for a complex, of its real
 * parts or, `data` moved on, its imaginary ones).  False when distinct bits
 * were given one key. */
bool jx_order_keys(jx_dtype dtype, const char *data, int64_t stride, int64_t n,
                   uint64_t *keys);
bool jx_order_keys32(jx_dtype dtype, const char *data, int64_t stride,
                     int64_t n, uint32_t *keys);
/* Keys of the total order of top_k: -NaN, -inf, ... -0, +0, ... inf, NaN. */
void jx_order_total(jx_dtype dtype, const char *data, int64_t stride, int64_t n,
                    uint64_t *keys);
void jx_order_total32(jx_dtype dtype, const char *data, int64_t stride,
                      int64_t n, uint32_t *keys);
/* Sorts 32-bit keys; `spare` has room for as many.  The result is in the one
 * that is returned. */
uint32_t *jx_order_sort32(uint32_t *keys, uint32_t *spare, int64_t n);
/* From a key of at most 32 bits back to the value, where no information was
 * lost. */
void jx_order_value32(jx_dtype dtype, const uint32_t *keys, int64_t n,
                      char *data, int64_t stride);

/* A position with its key: the key above, the position in the low 32 bits
 * (keys of at most 32 bits), or apart. */
typedef struct jx_ranked {
    uint64_t key;
    uint64_t at;
} jx_ranked;

/* Stable sorts by key; `spare` has room for n, too.  The result is in the one
 * that is returned. */
uint64_t *jx_order_sort_packed(uint64_t *items, uint64_t *spare, int64_t n,
                               int bits);
jx_ranked *jx_order_sort_ranked(jx_ranked *items, jx_ranked *spare, int64_t n);

#endif
