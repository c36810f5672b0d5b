/* dot_algorithm.h - what the `precision` of a dot_general says of how to
 * compute it, where it names an algorithm (jax.lax.DotAlgorithmPreset, or a
 * jax.lax.DotAlgorithm). */
#ifndef JX_DOT_ALGORITHM_H
#define JX_DOT_ALGORITHM_H

#include "frontend/ir/value.h"

typedef struct jx_dot_algorithm {
    const char *name; /* "BF16_BF16_F32"; of no preset: "DotAlgorithm" */
    bool on_cpu;      /* whether JAX has it on a CPU */
    /* The dtypes that the operands are converted to, and that of the product,
     * which is then converted to the result's. */
    jx_dtype lhs, rhs, product;
    bool is_default; /* the platform's own choice: nothing below is said */
    /* What operands are rounded to (if `tf32`, to that), what products are
     * added up in, of how many parts operands are and how many products make
     * one, whether sums may be less exact. */
    bool tf32, is_fast;
    jx_dtype lhs_type, rhs_type, sum;
    int64_t lhs_parts, rhs_parts, products;
} jx_dot_algorithm;

/* Whether `precision` (or NULL) is an algorithm, of whatever name. */
bool jx_names_algorithm(const jx_value *precision);
/* The algorithm for operands and a result of these dtypes; false: it is none,
 * or one that JAX has not, or not for these. */
bool jx_dot_algorithm_of(const jx_value *precision, jx_dtype lhs, jx_dtype rhs,
                         jx_dtype out, jx_dot_algorithm *to);
/* The preset that operands and a result of these dtypes (.lhs, .rhs, .product)
 * are computed by as `like` says; NULL: none. */
const char *jx_dot_preset(const jx_dot_algorithm *like);

#endif
