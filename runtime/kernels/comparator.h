/* comparator.h - comparators that are orders of keys.
 *
 * A comparator of StableHLO's sort may be any computation; nearly all compare a
 * key, and if it is equal another one.  Those can be sorted by integer keys
 * (order.h), which is many times faster. */
#ifndef JX_COMPARATOR_H
#define JX_COMPARATOR_H

#include "runtime/kernel.h"

typedef enum jx_key_order {
    JX_KEY_NUMERIC = 0, /* order.h: -0 equals +0, every NaN comes last */
    JX_KEY_TOTAL,       /* the total order of the bits */
    JX_KEY_PLAIN,       /* numeric, of numbers: a NaN has no place in it */
} jx_key_order;

typedef struct jx_sort_key {
    int operand;
    bool imaginary; /* this part of a complex; else the real one, or all */
    bool descending;
    jx_key_order order;
} jx_sort_key;

/* The keys of a comparator of `noperands` operands, the most significant first;
 * their number, or 0: it is something else (or needs more than `most`,
 * or more memory than the context has). */
int jx_comparator_keys(jx_ctx *ctx, const jx_closed *comparator, int noperands,
                       jx_sort_key *keys, int most);

#endif
