/* window.c - the shape of windows; see window.h. */
#include "runtime/kernels/window.h"

#include <string.h>

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t r = a % b;
        a = b, b = r;
    }
    return a;
}

/* The axes behind the last one that the window moves along hold the elements
 * that are worked on side by side; no more than fit the first-level cache. */
enum { MOST_INNER = 1024 };

static int moving_axes(const jx_window *w, int rank)
{
    int64_t inner = 1;

    while (rank > 0) {
        int i = rank - 1;
        bool still = w->size[i] == 1 && w->stride[i] == 1 && w->low[i] == 0 &&
                     w->base[i] == 1 && w->out[i] == w->in[i];
        if (!still || w->in[i] > MOST_INNER || inner * w->in[i] > MOST_INNER)
            break;
        inner *= w->in[i];
        rank--;
    }
    return rank;
}

static bool fill_axis(jx_planner *p, jx_window *w, int i)
{
    if (w->size[i] < 1 || w->stride[i] < 1 || w->base[i] < 1 ||
        w->dilation[i] < 1)
        return jx_plan_fail(p, "window sizes, strides and dilations are "
                               "positive");
    int64_t limit = (int64_t)1 << 40;
    if (w->size[i] > limit || w->stride[i] > limit || w->base[i] > limit ||
        w->dilation[i] > limit || w->low[i] > limit || w->low[i] < -limit ||
        w->size[i] * (__int128)w->dilation[i] > limit ||
        w->out[i] * (__int128)w->stride[i] > limit)
        return jx_plan_fail(p, "a window is beyond what can be counted");
    int64_t common = gcd(w->base[i], w->dilation[i]);
    w->period[i] = w->base[i] / common;
    w->advance[i] = w->dilation[i] / common;
    return true;
}

bool jx_window_plan(jx_planner *p, const jx_slot *operand, const jx_slot *out,
                    const jx_dim_list *size, const jx_ints *stride,
                    const jx_dim_tuples *padding, const jx_ints *base,
                    const jx_ints *dilation, jx_window *w)
{
    int rank = operand->rank;

    *w = (jx_window){.inner = 1};
    if (size->count != rank || stride->count != rank || out->rank != rank ||
        padding->count != rank || (base->count && base->count != rank) ||
        (dilation->count && dilation->count != rank))
        return jx_plan_fail(p,
                            "a window has a size, a stride and a padding "
                            "for each of %d axes",
                            rank);
    for (int i = 0; i < rank; i++) {
        w->out[i] = out->shape[i], w->in[i] = operand->shape[i];
        w->size[i] = jx_plan_dim(p, size->at[i]);
        w->stride[i] = stride->at[i];
        w->low[i] = jx_plan_dim(p, padding->at[2 * i]);
        w->base[i] = base->count ? base->at[i] : 1;
        w->dilation[i] = dilation->count ? dilation->at[i] : 1;
        if (!fill_axis(p, w, i))
            return false;
    }
    w->rank = moving_axes(w, rank);
    for (int i = rank - 1; i >= w->rank; i--)
        w->inner *= w->in[i];
    int64_t step = w->inner;
    for (int i = w->rank - 1; i >= 0; i--) {
        w->step[i] = step;
        step *= w->in[i];
    }
    return true;
}

/* The progression along one axis. */
static int64_t reach_axis(const jx_window *w, int i, int64_t at, int64_t *first)
{
    int64_t from = at * w->stride[i] - w->low[i];
    int64_t k = 0, end = w->in[i] * w->base[i];

    if (w->base[i] == 1 && w->dilation[i] == 1) {
        int64_t to = from + w->size[i] < end ? from + w->size[i] : end;
        *first = from > 0 ? from : 0;
        return to > *first ? to - *first : 0;
    }
    if (from < 0)
        k = (-from + w->dilation[i] - 1) / w->dilation[i];
    for (int64_t tries = 0; tries < w->period[i]; tries++, k++) {
        int64_t position = from + k * w->dilation[i];
        if (k >= w->size[i] || position >= end)
            return 0;
        if (position % w->base[i])
            continue;
        *first = position / w->base[i];
        int64_t by_size = (w->size[i] - 1 - k) / w->period[i];
        int64_t by_input = (w->in[i] - 1 - *first) / w->advance[i];
        return 1 + (by_size < by_input ? by_size : by_input);
    }
    return 0;
}

void jx_window_reach(const jx_window *w, int naxes, const int64_t *at,
                     jx_reach *r)
{
    r->start = 0, r->count = 1;
    for (int i = 0; i < naxes; i++) {
        int64_t first = 0;
        r->counts[i] = reach_axis(w, i, at[i], &first);
        r->steps[i] = w->advance[i] * w->step[i];
        r->start += first * w->step[i];
        r->count *= r->counts[i];
    }
}

int64_t jx_window_last(const jx_window *w, int64_t at, int64_t *first)
{
    int64_t place = 0, count = reach_axis(w, w->rank - 1, at, &place);

    *first = place * w->step[w->rank - 1];
    return count;
}

bool jx_window_next(const jx_window *w, int64_t *at)
{
    for (int i = w->rank - 1; i >= 0; i--) {
        if (++at[i] < w->out[i])
            return true;
        at[i] = 0;
    }
    return false;
}

bool jx_reach_next(const jx_window *w, const jx_reach *r, int64_t *pos,
                   int64_t *offset)
{
    for (int i = w->rank - 2; i >= 0; i--) {
        *offset += r->steps[i];
        if (++pos[i] < r->counts[i])
            return true;
        *offset -= r->steps[i] * pos[i];
        pos[i] = 0;
    }
    return false;
}
