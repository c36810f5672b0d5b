/* gradstuck.c - see gradding.h: an iteration that has come to rest and
 * found nothing.
 *
 * A search that is stuck at an end of where it looks does not move, whatever
 * its inputs do. */
#include "runtime/gradients/gradding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether a result is the same number where the inputs of a span are others,
 * a little. */
static bool stays(jx_gradding *c, const jx_span_of *span, int component)
{
    static const double little = 1e-3, same = 1e-9;
    double here, there;

    memcpy(c->moved, c->x, (size_t)c->in.size * sizeof *c->moved);
    for (int i = span->at; i < span->at + span->count; i++)
        c->moved[i] += little * fmax(1, fabs(c->x[i])) * jx_rng_normal(&c->rng);
    jx_space_scatter(&c->in, c->x, &c->primal);
    if (!jx_grad_call(c, &c->primal))
        return true;
    jx_space_gather(&c->out, &c->primal, 0, c->samples);
    here = c->samples[component];
    jx_space_scatter(&c->in, c->moved, &c->primal);
    if (!jx_grad_call(c, &c->primal))
        return true;
    jx_space_gather(&c->out, &c->primal, 0, c->samples);
    there = c->samples[component];
    return !isfinite(there) || fabs(there - here) <= same * fabs(here);
}

/* The same of any span alone. */
static bool stays_of_any(jx_gradding *c, int component)
{
    bool any = false;

    for (int s = 0; !any && s < c->in.count; s++)
        any = !c->in.spans[s].fixed && stays(c, &c->in.spans[s], component);
    jx_space_scatter(&c->in, c->x, &c->primal);
    return any;
}

bool jx_grad_is_stuck(jx_gradding *c)
{
    for (int k = 0; c->has_slopes && k < jx_grad_nlooked(c); k++) {
        const int j = jx_grad_looked(c, k);
        const jx_slope *slope = &c->slopes[j];
        if (fabs(slope->value) > 2 * slope->error)
            continue;
        /* A direction of one input leaves most results of a map alone. */
        if (c->wrong_at == j || (c->wrong_at < 0 && stays_of_any(c, j)))
            return true;
    }
    return false;
}

/* Whether what disagreed last (any, of all together) is another number where
 * one span alone is elsewhere. */
static bool depends_on(jx_gradding *c, const jx_span_of *span,
                       const double *here)
{
    enum { PLACES = 6 };

    for (int k = 0; k < PLACES; k++) {
        memcpy(c->moved, c->x, (size_t)c->in.size * sizeof *c->moved);
        for (int i = span->at; i < span->at + span->count; i++)
            c->moved[i] =
                c->x[i] * jx_rng_normal(&c->rng) + 0.5 * jx_rng_normal(&c->rng);
        jx_space_scatter(&c->in, c->moved, &c->primal);
        if (!jx_grad_call(c, &c->primal))
            return false;
        jx_space_gather(&c->out, &c->primal, 0, c->samples);
        for (int j = 0; j < c->out.size; j++)
            if ((c->wrong_at < 0 || c->wrong_at == j) &&
                isfinite(c->samples[j]) &&
                fabs(c->samples[j] - here[j]) > 1e-6 * fabs(here[j]))
                return true;
    }
    return false;
}

bool jx_grad_finds_nothing(jx_gradding *c)
{
    static const double near = 0.1;
    size_t m = (size_t)c->out.size;
    double *here;
    bool depends = true;

    if (!jx_grad_is_stuck(c))
        return false;
    c->stuck_met |= c->point->kind == JX_AT_SAMPLE && c->point->scale <= near;
    if (c->stuck_met || c->point->kind == JX_AT_SAMPLE)
        return false;
    here = jx_grad_room(c, m + 1, sizeof *here);
    if (!here)
        return false;
    jx_space_scatter(&c->in, c->x, &c->primal);
    depends = jx_grad_call(c, &c->primal);
    jx_space_gather(&c->out, &c->primal, 0, here);
    for (int s = 0; depends && s < c->in.count; s++)
        depends = c->in.spans[s].fixed || depends_on(c, &c->in.spans[s], here);
    free(here);
    jx_space_scatter(&c->in, c->x, &c->primal);
    return depends;
}
