/* wrapping.h - between wrapping.c, which looks for what the program computes
 * from sizes, and wrapping_values.c, which says between what it lies. */
#ifndef JX_WRAPPING_H
#define JX_WRAPPING_H

#include "analyzer/lint/lint.h"

/* Between which dims the elements of an integer array lie. */
typedef struct jx_interval {
    const jx_dim *low, *high; /* NULL: nothing is known */
    bool ends; /* the first element is `low` and the last one `high`, ... */
    bool even; /* ... and the others lie between them in equal steps */
} jx_interval;

typedef struct jx_intervals {
    jx_linter *lint;
    jx_dims *dims;
    jx_interval *of; /* by value */
} jx_intervals;

/* Of integers that wrap.  False for floats and booleans. */
bool jx_wraps(const jx_aval *aval);
/* The integers' width in bits, and their largest value. */
int jx_wrap_bits(jx_dtype dtype);
jx_int jx_wrap_most(jx_dtype dtype);
jx_int jx_wrap_least(jx_dtype dtype);

/* Sums, products, copies, choices: right modulo 2^bits whatever their operands
 * are, so that only who looks at the result can see a wrap. */
bool jx_wraps_along(const jx_flat_node *node);

/* Fills in what a value without a node is, and a node's first result. */
void jx_interval_of_source(jx_intervals *in, int value);
void jx_interval_of_node(jx_intervals *in, const jx_flat_node *node);

#endif
