/* work.h - the prover's own space, apart from the caller's dims.
 *
 * Proofs make many dims that nobody wants to see again, so they live in a
 * context of their own, which is thrown away when it has grown.  Inside, dims
 * are *simplified*: on top of the normal form of frontend/ir/dim.h,
 *
 *     mod(x, y)     is  x - y*floordiv(x, y)
 *     max(x, y)     is  y + max(x - y, 0)
 *     min(x, y)     is  x - max(x - y, 0)
 *     floordiv(N,D) has N reduced by D, common factors cancelled, nested
 *                   quotients merged, and D's leading coefficient positive
 *     max(d, 0)     has d's leading coefficient positive and no common factor
 *
 * so that much of what is equal becomes the same pointer.  Every rule holds
 * for all values of the variables within `ranges` where no divisor is 0. */
#ifndef JX_PROVER_WORK_H
#define JX_PROVER_WORK_H

#include "frontend/ir/dim.h"

typedef struct jx_work {
    jx_ctx *ctx;
    jx_dims *in;
    int64_t base;         /* no variable is smaller */
    jx_dim_range *ranges; /* of variables, by atom id */
    size_t nranges;
    const jx_dim **memo; /* simplified, by id of the dim */
    size_t nmemo;
    unsigned fresh;         /* variables made so far */
    struct jx_trace *trace; /* where steps are noted, or NULL; see trace.h */
} jx_work;

/* In a context below `above` (or NULL).  False without memory. */
bool jx_work_init(jx_work *work, jx_ctx *above, int64_t base);
void jx_work_free(jx_work *work);

/* The same dim in here, not simplified; NULL when it is too large. */
const jx_dim *jx_work_import(jx_work *work, const jx_dim *dim);
/* NULL on overflow, and for NULL. */
const jx_dim *jx_work_simplify(jx_work *work, const jx_dim *dim);

/* What is known of a variable for the whole life of `work`. */
jx_dim_range jx_work_range(const jx_work *work, const jx_dim_atom *var);
/* Narrows it, before anything is simplified. */
void jx_work_narrow(jx_work *work, const jx_dim_atom *var, jx_dim_range range);
/* Some variable has no value left. */
bool jx_work_is_empty(const jx_work *work);
/* A variable of nobody's, with a range; NULL without memory. */
const jx_dim_atom *jx_work_fresh(jx_work *work, jx_dim_range range);

/* The interval of a dim by these ranges. */
jx_dim_range jx_work_bounds(const jx_work *work, const jx_dim *dim);

/* The largest number that divides all coefficients but the constant, 0 if
 * there are none; and the constant. */
jx_int jx_work_content(const jx_dim *dim, jx_int *constant);
jx_int jx_int_gcd(jx_int a, jx_int b);
/* Far enough from the ends of 128 bits that sums of a few don't leave them. */
bool jx_int_is_tame(jx_int value);

#endif
