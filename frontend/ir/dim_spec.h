/* dim_spec.h - shapes written as text, with placeholders: what JAX's
 * symbolic_shape() reads.
 *
 *     spec = "None" | "(" spec ")" | [ item { "," item } [ "," ] ]
 *     item = dim | "_" | "..."        -- "..." only as the last item
 *
 * `_` stands for one size of the shape that the spec is read for,
 * `...` and None for all that are left.  Dims are those of dim.h, with
 * its parentheses. */
#ifndef JX_DIM_SPEC_H
#define JX_DIM_SPEC_H

#include "frontend/ir/dim.h"

/* A shape; of a spec, or the one that it is read for. */
typedef struct jx_dim_shape {
    int rank;
    const jx_dim *const *dims;
} jx_dim_shape;

typedef struct jx_dim_spec_error {
    size_t column;        /* from 1 */
    const char *expected; /* in the arena of the dims' context */
} jx_dim_spec_error;

/* Reads a spec; `like` may be NULL, then placeholders are errors.  A size that
 * is a number must be that of `like`, and there must be as many.  The result
 * lives in the arena of the dims' context.  On failure false. */
bool jx_dim_spec_read(jx_dims *dims, const char *text, int scope,
                      const jx_dim_shape *like, jx_dim_shape *to,
                      jx_dim_spec_error *error);

/* As Python prints the tuple: "(b, 2*d)", "(b,)", "()". */
void jx_dim_shape_print(const jx_dim_shape *shape, jx_buffer *to);

#endif
