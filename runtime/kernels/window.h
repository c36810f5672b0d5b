/* window.h - the elements under a window.
 *
 * A window at an output position takes, along each axis, the input positions
 *     (o * stride - low + k * dilation) / base   for k = 0 .. size - 1
 * that exist: not in the padding, not in a hole of the base dilation.  They
 * are always an arithmetic progression. */
#ifndef JX_WINDOW_H
#define JX_WINDOW_H

#include "runtime/kernel.h"

typedef struct jx_window {
    int rank; /* of the axes that the window moves along */
    int64_t out[JX_MAX_RANK], in[JX_MAX_RANK];
    int64_t size[JX_MAX_RANK], stride[JX_MAX_RANK], low[JX_MAX_RANK];
    int64_t base[JX_MAX_RANK], dilation[JX_MAX_RANK];
    int64_t step[JX_MAX_RANK]; /* elements to the next one in the input */
    int64_t period[JX_MAX_RANK], advance[JX_MAX_RANK]; /* in k, in the input */
    int64_t inner; /* elements behind the last of these axes */
} jx_window;

/* From parameters (of params.h); `operand` has the window's input shape, and
 * is dense.  A missing dilation is 1. */
bool jx_window_plan(jx_planner *p, const jx_slot *operand, const jx_slot *out,
                    const jx_dim_list *size, const jx_ints *stride,
                    const jx_dim_tuples *padding, const jx_ints *base,
                    const jx_ints *dilation, jx_window *w);

/* The elements under one window. */
typedef struct jx_reach {
    int64_t start; /* of the first, in elements (without `inner`) */
    int64_t count; /* how many */
    int64_t counts[JX_MAX_RANK], steps[JX_MAX_RANK];
} jx_reach;

/* Along the first `naxes` axes (w->rank: all). */
void jx_window_reach(const jx_window *w, int naxes, const int64_t *at,
                     jx_reach *r);
/* The same along the last of the axes (there is one) at `at`: how many,
 * *first in elements. */
int64_t jx_window_last(const jx_window *w, int64_t at, int64_t *first);
/* The next output position in row-major order; false past the last. */
bool jx_window_next(const jx_window *w, int64_t *at);
/* The next run of elements along the last axis: `pos` counts along the axes
 * before it (zero it first), *offset is moved.  False past the last. */
bool jx_reach_next(const jx_window *w, const jx_reach *r, int64_t *pos,
                   int64_t *offset);

#endif
