/* gradsettled.c - see gradding.h: whether an iteration has come to where it leads.
 *
 * A rule that differentiates implicitly is right where the loop has converged.  Elsewhere the
 * function is finite junk with slopes of its own, and no rule need have these. */
#include "runtime/gradients/gradding.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The function with more turns; false if there is none, or a loop that can't have them. */
static bool open_longer(jx_gradding *c)
{
    jx_plan_options how = *c->how;
    jx_turns turns = {0};

    if (!c->asked_longer) {
        c->asked_longer = true;
        how.turns = &turns;
        bool opened = jx_callee_open(&c->longer, c->typed, &c->rule->primal, &how);
        if (!opened && c->program->ctx->error.kind != JX_E_LIMIT)
            jx_error_clear(c->program->ctx);
        else if (turns.again == 0 || turns.once > 0)
            jx_callee_close(&c->longer);
    }
    return c->longer.plan != NULL;
}

/* How far apart both are at x, as a part of what they give: at least, and at most; NaN
 * where they give no number. */
static void part_of(jx_gradding *c, const double *x, double *least, double *most)
{
    size_t m = (size_t)c->out.size;
    double *once = c->samples, *more = c->samples + m, size = 0;

    *least = *most = NAN;
    jx_space_scatter(&c->in, x, &c->primal);
    jx_space_scatter(&c->in, x, &c->longer);
    if (!jx_grad_call(c, &c->primal) || !jx_grad_call(c, &c->longer))
        return;
    jx_space_gather(&c->out, &c->primal, 0, once);
    jx_space_gather(&c->out, &c->longer, 0, more);
    for (size_t j = 0; j < m; j++)
        size = fmax(size, fabs(once[j]));
    for (size_t j = 0; j < m; j++) {
        double part = fabs(once[j] - more[j]) / (fabs(once[j]) + 0.01 * size + DBL_MIN);
        if (!isfinite(part)) {
            *least = *most = NAN;
            return;
        }
        *least = fmin(*least, part);
        *most = fmax(*most, part);
    }
}

static bool stays(jx_gradding *c, const double *x)
{
    double least, most;

    part_of(c, x, &least, &most);
    return most <= 1e-11;
}

/* Whether what disagreed last does not move at all: a search that is stuck at an end of where
 * it looks has settled, and found nothing. */
static bool is_stuck(const jx_gradding *c)
{
    for (int k = 0; k < jx_grad_nlooked(c); k++) {
        const int j = jx_grad_looked(c, k);
        const jx_slope *slope = &c->slopes[j];
        if ((c->wrong_at < 0 || c->wrong_at == j) && fabs(slope->value) <= 2 * slope->error)
            return true;
    }
    return false;
}

/* Whether what disagreed last (any, of all together) is another number where one span alone
 * is elsewhere. */
static bool depends_on(jx_gradding *c, const jx_span_of *span, const double *here)
{
    enum { PLACES = 6 };

    for (int k = 0; k < PLACES; k++) {
        memcpy(c->moved, c->x, (size_t)c->in.size * sizeof *c->moved);
        for (int i = span->at; i < span->at + span->count; i++)
            c->moved[i] = c->x[i] * jx_rng_normal(&c->rng) + 0.5 * jx_rng_normal(&c->rng);
        jx_space_scatter(&c->in, c->moved, &c->primal);
        if (!jx_grad_call(c, &c->primal))
            return false;
        jx_space_gather(&c->out, &c->primal, 0, c->samples);
        for (int j = 0; j < c->out.size; j++)
            if ((c->wrong_at < 0 || c->wrong_at == j) && isfinite(c->samples[j]) &&
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

    if (!is_stuck(c))
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

/* The same where the check stands; false if there is none. */
static bool prepare_longer(jx_gradding *c)
{
    if (!open_longer(c))
        return false;
    for (int i = 0; i < c->primal.nins; i++)
        memcpy(c->longer.in[i], c->primal.in[i], jx_plan_in(c->primal.plan, i)->bytes);
    return true;
}

bool jx_grad_is_under_way(jx_gradding *c)
{
    double least = 0, most;

    if (prepare_longer(c))
        part_of(c, c->x, &least, &most);
    jx_space_scatter(&c->in, c->x, &c->primal);
    return least > 1e-3;
}

bool jx_grad_is_settled(jx_gradding *c)
{
    enum { AROUND = 4 };
    bool settled = !is_stuck(c) && prepare_longer(c) && stays(c, c->x);

    for (int k = 0; settled && k < AROUND; k++) {
        for (int i = 0; i < c->in.size; i++)
            c->moved[i] = c->x[i] + 0.02 * fmax(fabs(c->x[i]), 1e-3) * jx_rng_normal(&c->rng);
        settled = stays(c, c->moved);
    }
    jx_space_scatter(&c->in, c->x, &c->primal);
    return settled;
}
