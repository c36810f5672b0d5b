/* gradvote.c - see gradding.h: where the function's own derivative accuses.
 *
 * Differences see a tenth of the digits at best, and nothing of a slope that is
 * small beside the function.  The own derivative has all of them: where the
 * rule is off by more than both of them round, differences do not speak against
 * it, and the function has a derivative there, the rule is wrong.
 *
 * What they round is measured: both run once more with all roundings upward,
 * once downward, and some times with a noise.  That moves each of them by about
 * as much as rounding moved it from the truth, cancellation and all. */
#include "runtime/gradients/gradding.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Times what both move when rounded otherwise; an approximation
 * is off by more. */
static const double surely = 16, surely_of_approximations = 256;

/* The functional of the own derivative along d; `size` sums magnitudes. */
static double own_of(const jx_gradding *c, jx_functional f, double *size)
{
    double sum = 0;

    *size = f.weights ? 0 : fabs(c->along[f.only]);
    if (!f.weights)
        return c->along[f.only];
    for (int j = 0; j < c->out.size; j++) {
        double term = f.weights[j] == 0 ? 0 : f.weights[j] * c->along[j];
        sum += term;
        *size += fabs(term);
    }
    return sum;
}

/* What the check needs where other lines and roundings have been tried. */
typedef struct kept {
    double *weights, *x, *tangent, *along;
} kept;

static bool keep(const jx_gradding *c, jx_functional f, kept *k)
{
    size_t n = (size_t)c->in.size, m = (size_t)c->out.size,
           most = (n > m ? n : m) + 2;
    double *all = jx_grad_room(c, 4 * most, sizeof *all);

    *k = (kept){all, all + most, all + 2 * most, all + 3 * most};
    if (!all)
        return false;
    if (f.weights)
        memcpy(k->weights, f.weights, m * sizeof *all);
    memcpy(k->x, c->x, n * sizeof *all);
    memcpy(k->tangent, c->tangent, most * sizeof *all);
    memcpy(k->along, c->along, m * sizeof *all);
    return true;
}

static void set_rounding(const jx_gradding *c, int mode)
{
    const jx_callee *all[] = {&c->own, &c->jvp, &c->fwd, &c->bwd};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->exec)
            jx_exec_round(all[i]->exec, mode);
}

static void restore(jx_gradding *c, jx_functional f, kept *k)
{
    size_t n = (size_t)c->in.size, m = (size_t)c->out.size,
           most = (n > m ? n : m) + 2;

    set_rounding(c, FE_TONEAREST);
    memcpy(c->x, k->x, n * sizeof *c->x);
    jx_space_scatter(&c->in, c->x, &c->primal);
    if (c->rule->vjp)
        jx_grad_prepare_fwd(c);
    if (f.weights)
        memcpy(c->cotangent, k->weights, m * sizeof *c->x);
    memcpy(c->tangent, k->tangent, most * sizeof *c->x);
    memcpy(c->along, k->along, m * sizeof *c->x);
    c->has_along = true;
    free(k->weights);
    *k = (kept){0};
}

/* The rule's value and the own derivative's, once more. */
static bool both(jx_gradding *c, const double *d, jx_functional f,
                 double *value, double *own, double *size)
{
    jx_grad_own_along(c, d);
    if (!c->has_along || !jx_grad_says(c, d, f, value))
        return false;
    *own = own_of(c, f, size);
    return isfinite(*own) && isfinite(*value);
}

/* How far both move when all is rounded upward, downward, and at random. */
static double rounds_by(jx_gradding *c, const double *d, jx_functional f,
                        double value, double own)
{
    static const int modes[] = {FE_UPWARD, FE_DOWNWARD};
    double most = 0, other, other_own, size;

    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        set_rounding(c, modes[i]);
        if (!both(c, d, f, &other, &other_own, &size))
            most = INFINITY;
        most = fmax(most, fabs(other - value) + fabs(other_own - own));
    }
    set_rounding(c, FE_TONEAREST);
    return fmax(most, jx_grad_noise_moves(c, d, f));
}

/* Moves the point by that much of itself, at most as far as there is room. */
static void move_by(jx_gradding *c, const kept *k, double part)
{
    for (int j = 0; j < c->in.size; j++) {
        double by = part * (fabs(k->x[j]) > 0 ? fabs(k->x[j]) : 1e-3);
        by = c->room > 0 ? fmin(by, c->room) : by;
        c->x[j] = k->x[j] + by * jx_rng_normal(&c->rng);
    }
    jx_space_scatter(&c->in, c->x, &c->primal);
}

/* Whether they differ by as much at points close by, where the own derivative
 * is nearly what it is here: the difference is no convention at a kink or a
 * tie.  And further off, in the same direction: roundings that stay while
 * nothing moves are not the same there. */
static bool goes_on(jx_gradding *c, const kept *k, const double *d,
                    jx_functional f, double own, double off, double size)
{
    enum { CLOSE = 3, FURTHER = 6 };
    double value, there, size_there;

    for (int i = 0; i < CLOSE; i++) {
        move_by(c, k, 1e-8);
        if (!both(c, d, f, &value, &there, &size_there) ||
            fabs(value - there) < fabs(off) / 2 ||
            fabs(there - own) > fabs(off) / 4 + 1e-6 * size_there)
            return false;
    }
    for (int i = 0; i < FURTHER; i++) {
        move_by(c, k, 1e-3);
        if (!both(c, d, f, &value, &there, &size_there) ||
            (value > there) != (off > 0) ||
            fabs(value - there) * size <= 0.2 * fabs(off) * size_there)
            return false;
    }
    return true;
}

/* Whether more noise moves them by as much, at the point itself: of a few that
 * hit a number which cancels none need do so. */
static bool is_moved_after_all(jx_gradding *c, const kept *k, const double *d,
                               jx_functional f, double off, double times)
{
    enum { MORE = 4 };

    memcpy(c->x, k->x, (size_t)c->in.size * sizeof *c->x);
    jx_space_scatter(&c->in, c->x, &c->primal);
    for (int i = 0; i < MORE; i++)
        if (off <= times * jx_grad_noise_moves(c, d, f))
            return true;
    return false;
}

/* The magnitudes of the functional's values; a part of a complex number is
 * as sure as that. */
static double magnitude(const jx_gradding *c, jx_functional f)
{
    double sum = 0;

    for (int s = 0; s < c->out.count; s++) {
        const jx_span_of *span = &c->out.spans[s];
        for (int j = span->at; j < span->at + span->count; j++) {
            double weight = f.weights ? f.weights[j] : j == f.only;
            int other = span->at + ((j - span->at) ^ 1);
            double size = span->complex
                              ? hypot(c->samples[j], c->samples[other])
                              : fabs(c->samples[j]);
            sum += weight == 0 ? 0 : fabs(weight) * size;
        }
    }
    return sum;
}

/* How the function's values limit what a slope can mean: a difference that
 * moves them by less than they are rounded, however far one goes, is none in
 * the declared dtype. */
static double beneath_rounding(const jx_gradding *c, const double *d,
                               jx_functional f)
{
    double unit = 0, reach = 0;

    for (int i = 0; i < c->rule->nins; i++)
        unit = fmax(unit, jx_unit_roundoff(c->rule->ins[i]->dtype));
    for (int i = 0; i < c->in.size; i++)
        reach = fmax(reach, d[i] != 0 ? fabs(c->x[i]) : 0);
    return unit * magnitude(c, f) / fmax(reach, 1);
}

/* Whether differences speak against the own derivative, which may
 * be what is off. */
static bool is_opposed(const jx_target *t, double own, double off)
{
    return t->undefined || t->stair || t->low < t->high ||
           !(fabs(own - t->low) <= 8 * t->error + off / 4);
}

/* Whether the own derivative alone denies too little: differences are nearer to
 * the rule, or what chooses may go in steps, as a bisection does, which are
 * what its own derivative is of.  Differences tell those from the rule, where
 * it is off by as much as they see of what is smooth. */
static bool is_alone(const jx_gradding *c, const jx_target *t, double value,
                     double own, double size)
{
    double off = fabs(value - own);

    return fabs(own - t->low) > fabs(value - t->low) ||
           (off > c->tolerance * size && off <= 8 * t->error &&
            jx_points_chooses(c->rule->primal.jaxpr));
}

/* How near both should come, relative to their size. */
static double nearness(const jx_gradding *c)
{
    double unit = jx_grad_unit(c);

    unit = fmax(c->rounded ? 1.5 * unit : unit / 2,
                c->approximates ? 8e-12 : 1e-12);
    unit = fmax(unit, c->nearness);
    return c->rough ? fmax(fmax(c->tolerance, unit), 1e-8) : unit;
}

jx_opinion jx_grad_own_denies(jx_gradding *c, const double *d, jx_functional f,
                              double value, double scale, const jx_target *t)
{
    double size, own, off;
    bool sure = false;
    kept k;

    /* what has a grain looks at bits, whose slopes nobody derives */
    if (!c->has_along || c->intent || c->stands_in || c->converges ||
        c->iterates || c->grain > DBL_EPSILON ||
        c->cautious || /* directions are known by differences alone */
        !isfinite(value))
        return JX_SKIP;
    own = own_of(c, f, &size);
    off = fabs(value - own);
    size = fmax(size, fmax(fabs(value), f.weights ? scale : 0));
    /* What decompositions cancel is as sure as all that they give. */
    for (int j = 0; c->normwise && j < c->out.size; j++)
        size = fmax(size, isfinite(c->along[j]) ? fabs(c->along[j]) : 0);
    if (!isfinite(own) || size < 1e-290)
        return JX_SKIP;
    if (off <= nearness(c) * size)
        return JX_AGREE;
    /* A loop goes in steps, not in roundings, which take many runs. */
    if (is_opposed(t, own, off) ||
        (c->loops && is_alone(c, t, value, own, size)))
        return JX_SKIP;
    if (off <= beneath_rounding(c, d, f))
        return off > 1e-3 * size ? JX_UNCERTAIN : JX_AGREE;
    /* What explained others is asked first: the roundings take many runs. */
    if ((c->shaken && jx_grad_is_shaken(c, d, f, off)) || !keep(c, f, &k))
        return JX_SKIP;
    double times = c->approximates ? surely_of_approximations : surely;
    sure = off > times * rounds_by(c, d, f, value, own) &&
           goes_on(c, &k, d, f, own, value - own, size) &&
           !is_moved_after_all(c, &k, d, f, off, times);
    restore(c, f, &k);
    c->shaken = sure && jx_grad_is_shaken(c, d, f, off);
    if (!sure || c->shaken || !keep(c, f, &k))
        return JX_SKIP;
    /* Its room is used. */
    f.weights = f.weights ? k.weights : NULL;
    sure = !jx_grad_is_unseen(c, d, f, value, off) &&
           !jx_grad_is_patched(c, d, off / (4 * size));
    restore(c, f, &k);
    return sure && !is_alone(c, t, value, own, size) ? JX_DISAGREE : JX_SKIP;
}
