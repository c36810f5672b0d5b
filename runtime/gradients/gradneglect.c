/* gradneglect.c - see gradding.h: arguments that a rule makes nothing of.
 *
 * Slopes of a function that stops when it is near enough are those of so many
 * steps: what a rule is off by says nothing there.  But an argument that no
 * tangent of the rule depends on, along which the function moves by a part of
 * itself, is ignored however near that is: where a solver starts moves what it
 * finds by no more than its own tolerance. */
#include "runtime/gradients/gradding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The slopes along d, of which only that span is left; `alone`
 * has room for it. */
static bool sample_alone(jx_gradding *c, const double *d, int span,
                         double *alone)
{
    const jx_span_of *s = &c->in.spans[span];

    memset(alone, 0, (size_t)c->in.size * sizeof *alone);
    memcpy(alone + s->at, d + s->at, (size_t)s->count * sizeof *d);
    return jx_grad_sample(c, alone, jx_grad_first_step(c, alone), c->again);
}

static bool is_sure(const jx_slope *slope)
{
    return slope->kind == JX_SLOPE_SMOOTH && slope->precise &&
           fabs(slope->value) > 100 * slope->error;
}

/* Whether the function moves along d, of which only that span is left. */
static bool moves_along(jx_gradding *c, const double *d, int span)
{
    double *alone = jx_grad_room(c, (size_t)c->in.size + 1, sizeof *alone);
    bool moves = false;

    if (alone && sample_alone(c, d, span, alone))
        for (int j = 0; j < c->out.size; j++)
            moves |= is_sure(&c->again[j]);
    free(alone);
    return moves;
}

static void say_ignored(jx_gradding *c, int span, const char *how)
{
    c->code = JX_CODE_DRV005;
    c->wrong =
        jx_arena_printf(c->program->ctx->arena,
                        "it makes nothing of argument %d, on which the value "
                        "depends: %s",
                        c->in.port[span] - c->rule->nconsts, how);
}

void jx_grad_look_for_ignored(jx_gradding *c, const double *d)
{
    int span = jx_grad_ignored(c);

    if (span >= 0 && moves_along(c, d, span))
        say_ignored(c, span, c->wrong);
}

/* Whether the program moves an operand, at the sample at hand. */
static bool is_moved_by_program(jx_gradding *c, int operand)
{
    const jx_sampling by = jx_grad_sampling(c);
    const void *const *ahead, *const *behind;

    return c->sample &&
           jx_sample_moved(&by, c->called, c->sample, -1, &c->rng, &ahead,
                           &behind) &&
           memcmp(ahead[operand], behind[operand],
                  jx_plan_in(c->primal.plan, operand)->bytes) != 0;
}

/* Of the results, what no tolerance explains. */
static const double much = 0.05;

enum { UNSURE = -1, STILL = -2 };

/* The component that moves most along a span alone, by a part of the results
 * that no tolerance explains, and as the function's own derivative has it; or
 * UNSURE; or STILL, if none moves as much. */
static int most_moved(jx_gradding *c, int span, double *alone)
{
    static const double near = 1e-2;
    double size = 0, most = 0;
    int which = -1;

    /* in proportion: slopes are parts of it */
    if (!sample_alone(c, c->x, span, alone))
        return UNSURE;
    jx_grad_own_along(c, alone);
    for (int j = 0; j < c->out.size; j++) {
        size = fmax(size, isfinite(c->samples[j]) ? fabs(c->samples[j]) : 0);
        if (!is_sure(&c->again[j]) || fabs(c->again[j].value) <= most)
            continue;
        most = fabs(c->again[j].value);
        which = j;
    }
    bool agreed = which >= 0 && c->has_along &&
                  fabs(c->along[which] - c->again[which].value) <= near * most;
    return most <= much * size ? STILL : agreed ? which : UNSURE;
}

/* Keeps what the point shows, of that component along a span alone. */
static void note_ignored(jx_gradding *c, const double *alone, int which)
{
    const jx_slope *slope = &c->again[which];

    memset(c->cotangent, 0, (size_t)c->out.size * sizeof *c->cotangent);
    c->cotangent[which] = 1;
    jx_grad_witness(c, &(jx_shown){alone, c->rule->vjp ? c->cotangent : NULL,
                                   false, 0, slope->value, slope->value});
    c->ignored_witness = c->witness;
    c->witness = NULL;
    c->ignored = jx_arena_printf(
        c->program->ctx->arena,
        "at %s (%s), along it alone, %s: the rule gives 0, finite differences "
        "%.10g (± %.1g)",
        jx_sample_text(c->program->ctx, c->x, c->in.size), c->point->name,
        jx_grad_component(c, which), slope->value, slope->error);
}

void jx_grad_neglects(jx_gradding *c)
{
    int span = jx_grad_ignored(c), which;
    double *alone;

    if (span < 0 || !c->loops || c->second || c->intent || c->most_work ||
        c->point->kind != JX_AT_SAMPLE || jx_grad_is_foreign(c) ||
        c->ignores < 0)
        return;
    alone = jx_grad_room(c, (size_t)c->in.size + 1, sizeof *alone);
    which = alone ? most_moved(c, span, alone) : UNSURE;
    if (which == STILL ||
        (which >= 0 && !is_moved_by_program(c, c->in.port[span])))
        c->ignores = -1;
    else if (which >= 0 && c->ignores++ == 0)
        note_ignored(c, alone, which);
    free(alone);
}

/* Moves what is ignored by a tenth, at random. */
static void start_elsewhere(jx_gradding *c, int span)
{
    const jx_span_of *s = &c->in.spans[span];

    for (int i = s->at; i < s->at + s->count; i++)
        c->x[i] += 0.1 * fmax(fabs(c->x[i]), 1) * jx_rng_normal(&c->rng);
    jx_space_scatter(&c->in, c->x, &c->primal);
}

/* Whether only what is ignored moves along d, and the function hardly does:
 * where a loop begins, it comes from a little. */
static bool is_start_alone(const jx_gradding *c, const double *d,
                           jx_functional f, int span, double off)
{
    const jx_span_of *s = &c->in.spans[span];
    double reach = 0, size = 0;

    for (int i = 0; i < c->in.size; i++) {
        if (d[i] != 0 && (i < s->at || i >= s->at + s->count))
            return false;
        reach = fmax(reach, d[i] != 0 ? fabs(c->x[i]) : 0);
    }
    for (int j = 0; j < c->out.size; j++)
        size += fabs(c->samples[j]) *
                (f.weights ? fabs(f.weights[j]) : j == f.only);
    return off * reach <= much * size;
}

bool jx_grad_depends_on_start(jx_gradding *c, const double *d, jx_functional f,
                              double off, const jx_target *t)
{
    enum { STARTS = 3 };
    int span = c->loops ? jx_grad_ignored(c) : -1;
    size_t n = (size_t)c->in.size, m = (size_t)c->out.size;
    double *kept;
    bool depends = false;

    if (span >= 0 && !c->limit.in && is_start_alone(c, d, f, span, off))
        return true;
    kept = span < 0 ? NULL : jx_grad_room(c, n + m + 1, sizeof *kept);
    if (!kept)
        return false;
    memcpy(kept, c->x, n * sizeof *kept);
    memcpy(kept + n, c->samples, m * sizeof *kept);
    for (int k = 0; k < STARTS && !depends; k++) {
        start_elsewhere(c, span);
        if (jx_grad_sample(c, d, jx_grad_first_step(c, d), c->again)) {
            jx_target there =
                jx_grad_target(c, f, c->again, jx_grad_rounding(c, c->again));
            depends = fmax(fabs(there.low - t->low),
                           fabs(there.high - t->high)) > off / 8;
        }
        memcpy(c->x, kept, n * sizeof *kept);
    }
    memcpy(c->samples, kept + n, m * sizeof *kept);
    jx_space_scatter(&c->in, c->x, &c->primal);
    free(kept);
    return depends;
}

void jx_grad_weigh_ignored(jx_gradding *c)
{
    if (c->wrong || c->ignores < (c->cautious ? 1 : 2))
        return;
    say_ignored(c, jx_grad_ignored(c), c->ignored);
    c->witness = c->ignored_witness;
}
