/* products.h - what a cell is a sum of, in the order in which a
 * program adds it up.
 *
 * A field with such a store keeps beside the value of a cell (jx_cell.sum)
 * which products of elements of inputs it adds up, where it is such a sum with
 * the coefficients 1; all else is 0. Cells are copied and changed in many
 * places, so what is kept is a hint: jx_products_of() holds it against the
 * cell's value, and only what agrees counts. */
#ifndef JX_PRODUCTS_H
#define JX_PRODUCTS_H

#include "runtime/field/cell.h"

enum { JX_MOST_FACTORS = 3 };

/* A product of elements of inputs, the least first. */
typedef struct jx_product {
    int count;
    uint64_t factors[JX_MOST_FACTORS]; /* JX_FACTOR() */
} jx_product;

#define JX_FACTOR(input, element)                                              \
    ((uint64_t)(input) << 40 | (uint64_t)(element))
#define JX_FACTOR_INPUT(factor) ((int)((factor) >> 40))
#define JX_FACTOR_ELEMENT(factor)                                              \
    ((int64_t)((factor) & (((uint64_t)1 << 40) - 1)))

/* A product (left 0), or the sum of two. */
typedef struct jx_sum_node {
    uint32_t left, right;
    jx_product product;
} jx_sum_node;

typedef struct jx_products {
    jx_arena *arena;
    JX_VEC(jx_sum_node) nodes; /* counted from 1 */
} jx_products;

/* The sums of an element of an input, of a + b and of a * b; 0: it is
 * none that is kept. */
uint32_t jx_products_input(jx_products *to, int input, int64_t element);
uint32_t jx_products_add(jx_products *to, uint32_t a, uint32_t b);
uint32_t jx_products_mul(jx_products *to, uint32_t a, uint32_t b);

/* The products of a cell in their order, `most` at most; -1: there are more,
 * or they are not what the cell is.  `value` gives an element of an input
 * over the field. */
typedef uint64_t jx_factor_value(const void *from, uint64_t factor);
int64_t jx_products_of(const jx_field *f, const jx_cell *cell,
                       jx_factor_value *value, const void *from, int64_t most,
                       jx_product *to);

#endif
