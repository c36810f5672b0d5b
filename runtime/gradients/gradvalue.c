/* gradvalue.c - see gradding.h. */
#include "runtime/gradients/gradding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Beyond which the program computes no number there. */
static double largest_of(const jx_gradding *c, int component)
{
    const jx_space *s = &c->out;
    int i = 0;

    while (i + 1 < s->count && s->spans[i + 1].at <= component)
        i++;
    return s->spans[i].largest;
}

/* The function's results around a point, within `by` of it: how far they lie
 * apart, and how near the nearest of them is to a number. */
typedef struct around {
    double range, nearest;
} around;

/* No further than until they lie apart by more than `far`, or one is
 * nearer than `near`. */
static around look_around(jx_gradding *c, int component, double by,
                          double number, double far, double near)
{
    /* a sign that is random is the same 8 times now and then */
    enum { AROUND = 24 };
    double *y = jx_grad_room(c, (size_t)c->out.size + 1, sizeof *y),
           least = c->samples[component], most = least;
    around found = {.nearest = fabs(least - number)};

    for (int k = 0;
         y && k < AROUND && most - least <= far && !(found.nearest <= near);
         k++) {
        for (int i = 0; i < c->in.size; i++)
            c->moved[i] =
                c->x[i] + by * fmax(1, fabs(c->x[i])) * jx_rng_normal(&c->rng);
        jx_space_scatter(&c->in, c->moved, &c->primal);
        if (!jx_grad_call(c, &c->primal))
            continue;
        jx_space_gather(&c->out, &c->primal, 0, y);
        least = fmin(least, y[component]);
        most = fmax(most, y[component]);
        found.nearest = fmin(found.nearest, fabs(y[component] - number));
    }
    free(y);
    jx_space_scatter(&c->in, c->x, &c->primal);
    found.range = most - least;
    return found;
}

/* Whether the function jumps as far close by: where it does, which side is
 * taken is a matter of rounding; and where it jumps to what the rule has as
 * near as constants of the code are known, of theirs. */
static bool jumps(jx_gradding *c, int component, double says)
{
    double value = c->samples[component], off = value - says;
    double far = isfinite(off) ? fabs(off) / 4 : 1e-3 * (1 + fabs(value));

    if (look_around(c, component, 1e-13, says, far, -1).range > far)
        return true;
    return isfinite(off) && look_around(c, component, c->tolerance, says,
                                        INFINITY, fabs(off) / 16)
                                    .nearest <= fabs(off) / 16;
}

static bool run_flushed(const jx_gradding *c, jx_callee *f, int shift,
                        bool flush, double *y)
{
    bool good = jx_exec_flush(f->exec, flush) && jx_callee_run(f);

    jx_exec_flush(f->exec, false);
    if (good)
        jx_space_gather(&c->out, f, shift, y);
    return good;
}

/* What a value of that size may be off by: in the narrowest dtypes, what some
 * steps round; more is explained by these, or told. */
static double slack_of(const jx_gradding *c, double value)
{
    static const double most = 0.02;

    return fmin(16 * c->tolerance, most) * fabs(value) + 1e-12;
}

/* Whether they are one where subnormal numbers are zeros: a choice that such a
 * number decides (exp(-745) > 0) says nothing of either. */
static bool is_subnormal(jx_gradding *c, jx_callee *rule, int first,
                         int component)
{
    double *y = jx_grad_room(c, (size_t)c->out.size + 1, sizeof *y),
           *z = c->moved;
    bool same = y && run_flushed(c, &c->primal, 0, true, y) &&
                run_flushed(c, rule, first, true, z) &&
                fabs(y[component] - z[component]) <= slack_of(c, y[component]);

    free(y);
    run_flushed(c, rule, first, false, z);
    return same;
}

/* Whether the rule gives the very values at the point that were looked at
 * before: a jvp rule does, along each line. */
static bool is_looked_at(const jx_gradding *c, const double *values)
{
    return c->given_at == c->visit &&
           memcmp(values, c->given_value,
                  (size_t)c->out.size * sizeof *values) == 0;
}

bool jx_grad_same_primals(jx_gradding *c, jx_callee *rule, int first)
{
    double *y = c->samples, *z = c->samples + c->out.size;

    if (c->stands_in || jx_grad_is_foreign(c))
        return true;
    jx_space_gather(&c->out, rule, first, z);
    if (is_looked_at(c, z))
        return true;
    if (!jx_grad_call(c, &c->primal))
        return true;
    jx_space_gather(&c->out, &c->primal, 0, y);
    for (int j = 0; j < c->out.size; j++) {
        double off = fabs(y[j] - z[j]);
        if (!isfinite(y[j]) || fabs(y[j]) > largest_of(c, j) ||
            off <= slack_of(c, y[j]) ||
            (off <= fmax(16 * c->tolerance * fabs(y[j]),
                         1e-3 * (1 + fabs(y[j]))) &&
             jx_grad_is_rounded_value(c, j, y[j] - z[j])) ||
            jumps(c, j, z[j]) || is_subnormal(c, rule, first, j) ||
            jx_grad_is_noisy_value(c, j, y[j] - z[j]))
            continue;
        c->code = JX_CODE_DRV010;
        c->wrong_at = j;
        c->wrong = jx_arena_printf(
            c->program->ctx->arena,
            "at %s (%s), %s: the rule returns the value %.10g, the function "
            "%.10g",
            jx_sample_text(c->program->ctx, c->x, c->in.size), c->point->name,
            jx_grad_component(c, j), z[j], y[j]);
        jx_grad_witness(
            c, &(jx_shown){
                   .value = true, .gives = z[j], .low = y[j], .high = y[j]});
        return false;
    }
    memcpy(c->given_value, z, (size_t)c->out.size * sizeof *z);
    c->given_at = c->visit;
    return true;
}
