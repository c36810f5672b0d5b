/* orders.h - in which order a program adds up what another one adds up.
 *
 * Of two programs whose results are sums of products of inputs: an element adds
 * up products that the second program numbers, in an order of the first
 * program's own.  That order is what a ring of devices changes, and all that
 * depends on how many they are (rings.h). */
#ifndef JX_ORDERS_H
#define JX_ORDERS_H

#include "runtime/equal/equal.h"

enum { JX_MOST_SUMMED = 4 };

/* Of one result.  `of` has for each element, in the order of its index, the
 * numbers in the second program of the `terms` products that the first one
 * adds, from 0.  What is the only one of its kind (of these inputs), such as a
 * bias, both add once, and it has no number. */
typedef struct jx_order {
    int rank;
    const int64_t *shape;
    int64_t count, terms;
    int64_t beside; /* products without a number */
    const int32_t *of;
    /* The axes of inputs along which the second program adds up. */
    int nsummed;
    struct jx_summed {
        int input, axis;
    } summed[JX_MOST_SUMMED];
} jx_order;

/* Of all results, for so many devices. */
typedef struct jx_orders {
    int64_t devices;
    int nouts;
    const jx_order *outs;
    int bits; /* that none was read wrongly: error below 2^-bits */
} jx_orders;

/* Arrays are of the first program's arena.  NULL, or why it is not known:
 * results that are no such sums, or not of the same products, each once.
 * Whether both programs are the same is not asked here but by
 * jx_equal_over_fields(). */
const char *jx_equal_orders(const jx_equal_question *question, jx_orders *to);

#endif
