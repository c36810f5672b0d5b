/* gradnear.c - see gradding.h: how the function behaves around the point. */
#include "runtime/gradients/gradding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double jx_grad_rounding(const jx_gradding *c, const jx_slope *slopes)
{
    double most = 1;

    for (int j = 0; j < c->out.size; j++)
        if (isfinite(slopes[j].value))
            most = fmax(most, fabs(slopes[j].value));
    return 1e-14 * most;
}

jx_target jx_grad_target(const jx_gradding *c, jx_functional f,
                         const jx_slope *slopes, double rounding)
{
    jx_target t = {.error = rounding};

    if (!f.weights) {
        jx_target_add(&t, 1, &slopes[f.only]);
        return t;
    }
    for (int j = 0; j < c->out.size; j++)
        jx_target_add(&t, f.weights[j], &slopes[j]);
    return t;
}

/* Whether a function has a slope.  Beside a point at which a rule takes
 * the place of a quotient that cancels, what is rough, or bends, by far
 * less than a difference of `off` is as good as smooth.  (Where no rule
 * does, nobody promised more than the first order: where(x == 0, 1, sin(x)
 * / x) is not told.) */
static bool is_smooth(const jx_gradding *c, const jx_slope *slope, double off)
{
    if (slope->kind == JX_SLOPE_SMOOTH || !c->has_within)
        return slope->kind == JX_SLOPE_SMOOTH;
    return slope->kind == JX_SLOPE_KINK
               ? fabs(slope->right - slope->left) <= 0.01 * off
           : slope->kind == JX_SLOPE_ROUGH ? slope->error <= 1e-3 * off
                                           : false;
}

/* The slopes along a line, if all outputs are smooth there, beside a
 * difference of `off`. */
static bool smooth_slopes(jx_gradding *c, const double *d, double first,
                          double off, jx_slope *slopes)
{
    if (!jx_grad_sample(c, d, first, slopes))
        return false;
    for (int k = 0; k < jx_grad_nlooked(c); k++)
        if (!is_smooth(c, &slopes[jx_grad_looked(c, k)], off))
            return false;
    return true;
}

/* By how much slopes differ so far from the point because the function bends:
 * as they do beside its smallest step, and some times that, since elements move
 * by more or less. */
static double bent_by(const jx_slope *slope, double first, double far)
{
    enum { TIMES = 8 };
    double steps[JX_RIDDERS_STEPS];

    if (slope->kind != JX_SLOPE_SMOOTH)
        return 0;
    jx_ridders_steps(first, steps);
    return TIMES * fabs(slope->right - slope->left) * far /
           steps[JX_RIDDERS_STEPS - 1];
}

/* Whether the slopes in `again`, so far from these, are nearly the same: nearer
 * than `off` is. */
static bool same_slopes(const jx_gradding *c, const jx_slope *slopes,
                        double off, double first, double far)
{
    double rounding = jx_grad_rounding(c, slopes);

    for (int k = 0; k < jx_grad_nlooked(c); k++) {
        int j = jx_grad_looked(c, k);
        double a = slopes[j].value, b = c->again[j].value;
        double slack = 0.02 * (off + fabs(a) + fabs(b)) + slopes[j].error +
                       c->again[j].error + rounding +
                       bent_by(&slopes[j], first, far);
        if (fabs(a - b) > slack)
            return false;
    }
    return true;
}

/* Whether the slopes along two random lines add up to those along their sum. */
static bool adds_up(jx_gradding *c, const double *d, const jx_slope *along_d,
                    double off)
{
    size_t n = (size_t)c->in.size, m = (size_t)c->out.size;
    double *other = jx_grad_room(c, n + 1, sizeof *other);
    jx_slope *sum = jx_grad_room(c, m + 1, sizeof *sum);
    bool good = other && sum;

    for (size_t i = 0; good && i < n; i++)
        other[i] = jx_rng_normal(&c->rng);
    good =
        good && smooth_slopes(c, other, jx_grad_first_step(c, other), off, sum);
    for (size_t j = 0; good && j < m; j++) {
        sum[j].value += along_d[j].value;
        sum[j].error += along_d[j].error;
    }
    for (size_t i = 0; good && i < n; i++)
        other[i] += d[i];
    good =
        good &&
        smooth_slopes(c, other, jx_grad_first_step(c, other), off, c->again) &&
        same_slopes(c, sum, off, 1, 0);
    free(other);
    free(sum);
    return good;
}

bool jx_grad_is_smooth_around(jx_gradding *c, double off)
{
    static const double far[] = {3e-4, 1e-4, 3e-5, 1e-5};
    size_t n = (size_t)c->in.size;
    double *here = jx_grad_room(c, 2 * n + 1, sizeof *here),
           *d = here ? here + n : NULL, by = 0;
    /* a step is as long as at the point, however near that is */
    double first = 0;
    jx_slope *there = jx_grad_room(c, (size_t)c->out.size + 1, sizeof *there);
    bool good = here && there;

    for (size_t i = 0; good && i < n; i++) {
        here[i] = c->x[i];
        by = fmax(by, fabs(here[i]));
        d[i] = jx_rng_normal(&c->rng);
    }
    first = good ? jx_grad_first_step(c, d) : 0;
    good = good && smooth_slopes(c, d, first, off, there) &&
           adds_up(c, d, there, off);
    for (size_t k = 0; good && k < sizeof far / sizeof *far; k++) {
        const double to = far[k] * (by > 0 ? by : 1);
        for (size_t i = 0; i < n; i++)
            c->x[i] = here[i] + to * jx_rng_normal(&c->rng);
        good = smooth_slopes(c, d, first, off, c->again) &&
               same_slopes(c, there, off, first, to);
    }
    if (here)
        memcpy(c->x, here, n * sizeof *here);
    jx_space_scatter(&c->in, c->x, &c->primal);
    free(here);
    free(there);
    return good;
}

/* Of what a rule says, tangents or cotangents: there is room for either. */
static size_t told_of(const jx_gradding *c)
{
    return (size_t)(c->in.size > c->out.size ? c->in.size : c->out.size);
}

/* The point and what the rule said there last, to be put back; NULL without
 * memory. */
static double *keep_point(const jx_gradding *c)
{
    size_t n = (size_t)c->in.size, m = told_of(c);
    double *kept = jx_grad_room(c, n + m + 1, sizeof *kept);

    if (kept) {
        memcpy(kept, c->x, n * sizeof *kept);
        memcpy(kept + n, c->tangent, m * sizeof *kept);
    }
    return kept;
}

static void put_back(jx_gradding *c, double *kept)
{
    memcpy(c->x, kept, (size_t)c->in.size * sizeof *kept);
    memcpy(c->tangent, kept + c->in.size, told_of(c) * sizeof *kept);
    jx_space_scatter(&c->in, c->x, &c->primal);
    free(kept);
}

bool jx_grad_is_isolated(jx_gradding *c, const double *d, jx_functional f)
{
    enum { TRIES = 6, ENOUGH = 2 };
    size_t n = (size_t)c->in.size;
    double *kept = keep_point(c), value;
    bool good = kept != NULL;
    int agreed = 0;

    if (!kept)
        return false;
    const jx_grad_looking looking = jx_grad_look_at(c, f);
    /* What is moved ties no more, and the steps are too small for it
     * to meet again. */
    for (int k = 0; good && agreed < ENOUGH && k < TRIES; k++) {
        double size = 0, by = k % 2 ? 0.1 : 1e-3;
        for (size_t i = 0; i < n; i++) {
            c->x[i] =
                kept[i] + by * fmax(1, fabs(kept[i])) * jx_rng_normal(&c->rng);
            size = fmax(size, fabs(kept[i]));
        }
        good = jx_grad_sample(c, d, by / 100 * fmax(1, size), c->again) &&
               jx_grad_says(c, d, f, &value);
        if (!good)
            break;
        jx_target t = jx_grad_target(
            c, f, c->again, fmax(c->rounding, jx_grad_rounding(c, c->again)));
        jx_opinion o = jx_judge(value, fabs(value), c->tolerance, &t);
        good = o != JX_DISAGREE ||
               jx_grad_is_noise(c, d, f, fmax(t.low - value, value - t.high));
        agreed += o == JX_AGREE;
    }
    jx_grad_look_again(c, &looking);
    put_back(c, kept);
    return good && agreed == ENOUGH;
}

bool jx_grad_varies_around(jx_gradding *c, const double *d, jx_functional f,
                           double off)
{
    enum { AROUND = 256, MOST_WORK = 2000000 };
    size_t n = (size_t)c->in.size;
    double *kept = keep_point(c);
    double low = INFINITY, high = -INFINITY, value;
    int64_t asked = c->asked;
    bool varies = false;

    if (!kept)
        return false;
    for (int k = 0; k < AROUND && !varies && c->asked - asked < MOST_WORK;
         k++) {
        for (size_t i = 0; i < n; i++)
            c->x[i] = kept[i] +
                      1e-5 * fmax(1, fabs(kept[i])) * jx_rng_normal(&c->rng);
        jx_space_scatter(&c->in, c->x, &c->primal);
        if (!jx_grad_says(c, d, f, &value) || !isfinite(value))
            continue;
        low = fmin(low, value);
        high = fmax(high, value);
        varies = high - low > 0.02 * (off + fabs(low) + fabs(high));
    }
    put_back(c, kept);
    return varies;
}

/* Whether the rule is right on both sides of the point, that far off, and gives
 * something between here. */
static bool is_between(jx_gradding *c, const double *d, jx_functional f,
                       double value, const double *at, double far)
{
    double gives[2] = {0};
    bool good = far > 0;

    for (int side = 0; good && side < 2; side++) {
        double by = side ? -far : far;
        for (int i = 0; i < c->in.size; i++)
            c->x[i] = at[i] + (d[i] > 0 ? by : d[i] < 0 ? -by : 0);
        good = jx_grad_sample(c, d, far / 8, c->again) &&
               jx_grad_says(c, d, f, &gives[side]);
        jx_target t =
            jx_grad_target(c, f, c->again, jx_grad_rounding(c, c->again));
        good = good && jx_judge(gives[side], fabs(gives[side]), c->tolerance,
                                &t) == JX_AGREE;
    }
    /* Slopes that merely go on change by no such part of themselves on
     * so short a way; a little, they do. */
    double jump = fabs(gives[0] - gives[1]);
    return good && fmin(gives[0], gives[1]) - jump / 32 <= value &&
           value <= fmax(gives[0], gives[1]) + jump / 32 &&
           jump > 0.25 * fmax(fabs(gives[0]), fabs(gives[1]));
}

bool jx_grad_is_beside_kink(jx_gradding *c, const double *d, jx_functional f,
                            double value)
{
    double *kept = keep_point(c), unit = 4 * jx_grad_unit(c), size = 0;
    bool is;

    if (!kept)
        return false;
    for (int i = 0; i < c->in.size; i++)
        size = fmax(size, d[i] != 0 ? fabs(kept[i]) : 0);
    /* what is added to 1 on the way is rounded beside that; nearer than some
     * way, differences see no more, and far off other slopes */
    double beside = fmin(fmax(unit, 1e-9), 1e-6);
    is =
        is_between(c, d, f, value, kept, unit * size) ||
        (size > 0 && size < beside && is_between(c, d, f, value, kept, beside));
    put_back(c, kept);
    return is;
}
