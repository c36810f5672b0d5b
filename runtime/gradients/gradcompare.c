/* gradcompare.c - see gradding.h: holds what a rule says along a line against
 * the slopes. */
#include "runtime/gradients/gradding.h"
#include "runtime/watch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COTANGENTS = 4 };

static void say_wrong(jx_gradding *c, const char *what, double value,
                      const jx_target *t)
{
    jx_arena *arena = c->program->ctx->arena;
    const char *slope =
        t->low == t->high
            ? jx_arena_printf(arena, "%.10g (± %.1g)", t->low, t->error)
            : jx_arena_printf(arena, "between %.6g and %.6g", t->low, t->high);
    const char *at = jx_sample_text(c->program->ctx, c->x, c->in.size);

    c->wrong = jx_arena_printf(
        arena,
        "at %s (%s), direction \"%s\", %s: %s gives %.10g, "
        "finite differences %s",
        at ? at : "a point", c->point->name, c->direction, what,
        c->most_work ? "the derivative" : "the rule", value, slope);
}

/* The functional of the function's own derivative. */
static double own_along(const jx_gradding *c, jx_functional f)
{
    double own = 0;

    for (int j = 0; j < c->out.size; j++)
        if (f.weights ? f.weights[j] != 0 : j == f.only)
            own += (f.weights ? f.weights[j] : 1) * c->along[j];
    return own;
}

static void say_in_vain(jx_gradding *c, const double *d, jx_functional f,
                        const char *what, double value, double slope)
{
    const bool pulled = f.weights != NULL;

    c->wrong = jx_arena_printf(
        c->program->ctx->arena,
        "at %s (%s), direction \"%s\", %s: %s gives %s, where the quotients of "
        "both sides come to one number",
        jx_sample_text(c->program->ctx, c->x, c->in.size), c->point->name,
        c->direction, what, c->most_work ? "the derivative" : "the rule",
        isnan(value) ? "nan"
        : value > 0  ? "inf"
                     : "-inf");
    if (pulled)
        jx_space_conjugate(&c->out, c->cotangent);
    jx_grad_witness(c, &(jx_shown){d, pulled ? c->cotangent : NULL, false,
                                   value, slope, slope});
}

/* By the function's own derivative. */
static void say_denied(jx_gradding *c, const double *d, jx_functional f,
                       const char *what, double value, const jx_target *t)
{
    const double own = own_along(c, f);

    c->by_own = true;
    c->wrong = jx_arena_printf(
        c->program->ctx->arena,
        "at %s (%s), direction \"%s\", %s: the rule gives %.17g, the "
        "function's own derivative is %.17g (finite differences %.10g ± %.1g)",
        jx_sample_text(c->program->ctx, c->x, c->in.size), c->point->name,
        c->direction, what, value, own, t->low, t->error);
    if (f.weights)
        jx_space_conjugate(&c->out, c->cotangent);
    jx_grad_witness(c, &(jx_shown){d, f.weights ? c->cotangent : NULL, false,
                                   value, own, own});
    if (f.weights)
        jx_space_conjugate(&c->out, c->cotangent);
}

/* Whether the program's derivative bends at these steps by no more than its
 * dtype rounds, from the slope that larger ones show: what a patch of its code
 * makes of numbers that near. */
static bool bends_unseen(const jx_gradding *c, jx_functional f, double first,
                         double slope)
{
    double unit = jx_grad_unit(c), steps[JX_RIDDERS_STEPS];
    size_t m = (size_t)c->out.size;

    jx_ridders_steps(first, steps);
    if (f.weights || !c->most_work || !c->second)
        return false;
    for (int k = 1; k < JX_RIDDERS_SAMPLES; k++) {
        double moved =
            c->samples[(size_t)k * m + (size_t)f.only] - c->samples[f.only];
        if (!(fabs(moved - slope * jx_ridders_offset(steps, k)) <=
              8 * unit * fabs(c->samples[f.only])))
            return false;
    }
    return true;
}

/* Slopes of a component alone are rounded as those of all were. */
static double rounding_of_again(const jx_gradding *c)
{
    return fmax(c->rounding, jx_grad_rounding(c, c->again));
}

/* A disagreement stands only if at least one other first step shows the same
 * slope, none agrees with the rule, and the function does not turn out rough or
 * to have another slope closer by. */
static bool is_again(jx_gradding *c, const double *d, jx_functional f,
                     double value, double scale, const jx_target *before)
{
    static const double factors[] = {1. / 32, 8, 1. / 1024};
    int again = 0;

    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        double first = jx_grad_first_step(c, d) * factors[i];
        if (!jx_grad_sample(c, d, first, c->again))
            return false;
        jx_target t = jx_grad_target(c, f, c->again, rounding_of_again(c));
        jx_opinion o = jx_judge(value, scale, c->tolerance, &t);
        double apart =
            fmax(fabs(t.low - before->low), fabs(t.high - before->high));
        bool same =
            o == JX_DISAGREE && apart <= 10 * (t.error + before->error) +
                                             1e-3 * (t.scale + before->scale);
        if (o != JX_DISAGREE && bends_unseen(c, f, first, before->low))
            continue;
        if (o == JX_AGREE || (factors[i] < 1 && !same && o != JX_UNCERTAIN))
            return false;
        again += same;
    }
    return again > 0;
}

static bool confirmed(jx_gradding *c, const double *d, jx_functional f,
                      double value, double scale, const jx_target *before)
{
    const jx_grad_looking looking = jx_grad_look_at(c, f);
    const bool is = is_again(c, d, f, value, scale, before);

    jx_grad_look_again(c, &looking);
    return is;
}

/* Whether the outputs in question are smooth along a direction that moves
 * everything: where they are not, a NaN is as good as any answer. */
static bool differentiable(jx_gradding *c, jx_functional f)
{
    const double *d = c->directions; /* the first is random */

    if (!jx_grad_sample(c, d, jx_grad_first_step(c, d), c->again))
        return false;
    for (int j = 0; j < c->out.size; j++) {
        bool asked = f.weights ? f.weights[j] != 0 : j == f.only;
        if (asked &&
            (c->again[j].kind != JX_SLOPE_SMOOTH || !c->again[j].precise))
            return false;
    }
    return true;
}

/* Whether some output has no number at the point. */
static bool lacks_numbers(const jx_gradding *c)
{
    for (int j = 0; j < c->out.size; j++)
        if (!isfinite(c->samples[j]))
            return true;
    return false;
}

/* The same, or no bound on its slope: 0 times what is not finite is in every
 * sum of cotangents then. */
static bool outside(jx_gradding *c)
{
    return lacks_numbers(c) || jx_grad_is_unbounded(c);
}

/* Whether the values are larger than what a program is likely to be for: where
 * parts of it overflow says nothing of the whole.  And whether they are drawn
 * for a loop that ends by values (an integrator, a solver), which is for times
 * that rise, for what converges. */
static bool is_far(const jx_gradding *c)
{
    return c->point->kind != JX_AT_SAMPLE &&
           (c->most_work ? fabs(c->point->scale) > 5
                         : c->loops && c->converges);
}

/* Whether a tangent is no number where the function's own is none, and another
 * output has no value: a singular system's are made of each other. */
static bool is_nan_of_another(const jx_gradding *c, jx_functional f)
{
    return !f.weights && c->has_along && !isfinite(c->along[f.only]) &&
           lacks_numbers(c);
}

/* Whether a NaN is told: those of inputs that nobody means are not. */
static bool is_nan_news(jx_gradding *c)
{
    double size = 0;

    for (int j = 0; j < c->out.size; j++)
        size = fmax(size, fabs(c->samples[j]));
    return jx_grad_is_in_domain(c) &&
           (!c->most_work || jx_grad_is_smooth_around(c, size));
}

/* A NaN where there is a derivative: `slope`, which the quotients come to, as
 * they come to one along the first direction, which moves everything. */
static bool is_nan_in_vain(jx_gradding *c, const double *d, jx_functional f,
                           double value, double *slope)
{
    double other;

    return !isfinite(value) && !c->second && !c->cautious && !outside(c) &&
           !is_far(c) && jx_grad_settles(c, d, f, slope) &&
           jx_grad_settles(c, c->directions, f, &other) && is_nan_news(c) &&
           !(c->point->kind == JX_AT_GIVEN && jx_grad_is_noisy_nan(c, d, f)) &&
           !jx_grad_is_subnormal_nan(c, d, f) && !jx_grad_is_lost(c, f);
}

/* Whether the parts that each input has in a tangent cancel so far that their
 * roundings explain the difference. */
static bool cancels(jx_gradding *c, const double *d, jx_functional f,
                    double value, const jx_target *t)
{
    return !f.weights && isfinite(value) &&
           jx_judge(value, jx_grad_parts(c, d, f.only), c->tolerance, t) !=
               JX_DISAGREE;
}

/* Whether all that is looked at moves along the line. */
static bool all_move(const jx_gradding *c)
{
    bool moves = c->has_slopes;

    for (int k = 0; moves && k < jx_grad_nlooked(c); k++) {
        const jx_slope *slope = &c->slopes[jx_grad_looked(c, k)];
        moves = fabs(slope->value) > 2 * slope->error;
    }
    return moves;
}

/* The part of slopes by which those of what stops when it is near enough may be
 * off what it comes near: of what has come to rest, and found something, some
 * times what it is off by itself. */
static double resting(const jx_gradding *c)
{
    static const double least = 0.02, times = 5000, most = 1e-6;

    return c->limit.rests && !c->limit.in && c->limit.moved <= most &&
                   !c->limit.reached && all_move(c)
               ? fmax(least, times * c->limit.moved)
               : INFINITY;
}

/* Whether a difference says nothing: where the function stops when it is
 * near enough, its slopes are those of so many steps (what is far from where
 * more of them lead is near to nothing: x is halved until it is below 1); of
 * large numbers, it may be rounding. */
static bool says_nothing(jx_gradding *c, double value, double scale, double off,
                         const jx_target *t)
{
    double size = fabs(value) + scale + t->scale, most = size;
    bool huge = c->point->kind != JX_AT_SAMPLE && fabs(c->point->scale) >= 1000;

    for (int k = 0; k < jx_grad_nlooked(c); k++) {
        double slope = fabs(c->slopes[jx_grad_looked(c, k)].value);
        most = isfinite(slope) ? fmax(most, slope) : most;
    }
    return isfinite(value) &&
           (off <= c->leeway * most ||
            (c->converges && !jx_grad_is_far_from_rest(c) &&
             off <= resting(c) * most) ||
            (huge && (c->point->kind == JX_AT_EQUAL || off < 0.01 * size)));
}

/* By most of what is drawn, since a single draw is luck; but runs of what loops
 * take too long for more. */
static bool is_mostly_smooth_around(jx_gradding *c, double off)
{
    const int most = c->loops ? 1 : 5;
    int smooth = 0, rough = 0;

    while (smooth < most && rough < most)
        ++*(jx_grad_is_smooth_around(c, off) ? &smooth : &rough);
    return smooth == most;
}

/* Whether the point is smooth around beside that difference; beside a larger
 * one it is, too, and beside a smaller one no more than that. */
static bool is_smooth_around(jx_gradding *c, double off)
{
    bool is;

    if (c->smooth_at != c->visit || c->limit.in) {
        c->smooth_at = c->limit.in ? 0 : c->visit;
        c->smooth_beside = INFINITY;
        c->rough_beside = -INFINITY;
    }
    if (off >= c->smooth_beside || off <= c->rough_beside)
        return off >= c->smooth_beside;
    is = is_mostly_smooth_around(c, off);
    if (is)
        c->smooth_beside = off;
    else
        c->rough_beside = fmax(c->rough_beside, off);
    return is;
}

/* Whether it is one of several derivatives that a kink or a tie has.  Of a
 * rule, in second order, that shows where the points around have no such
 * trouble, and no one slope that all lines agree on: where(x == 0, 0, ...) in a
 * rule of what is smooth there has none to choose. */
static bool is_convention(jx_gradding *c, const double *d, jx_functional f,
                          double value, double off)
{
    if (c->most_work)
        return isfinite(value) && !is_smooth_around(c, off);
    return c->second && jx_grad_is_isolated(c, d, f) &&
           (!is_smooth_around(c, off) || jx_grad_varies_around(c, d, f, off));
}

/* Whether the rule is right at steps that are tiny beside the numbers of the
 * point: a function that goes to and fro between larger ones (the Fresnel
 * integrals of 23487) has no slope there. */
static bool goes_between_steps(jx_gradding *c, const double *d, jx_functional f,
                               double value)
{
    double first = jx_grad_first_step(c, d);

    for (int power = -20; isfinite(value) && !c->second && power >= -30;
         power -= 5) {
        if (!jx_grad_sample(c, d, ldexp(first, power), c->again))
            continue;
        jx_target near =
            jx_grad_target(c, f, c->again, jx_grad_rounding(c, c->again));
        if (!near.undefined && !near.stair && !near.imprecise &&
            jx_judge(value, 0, c->tolerance, &near) == JX_AGREE)
            return true;
    }
    return false;
}

bool jx_grad_stands(jx_gradding *c, const double *d, jx_functional f,
                    double value, double scale, const jx_target *t)
{
    double off = fmax(t->low - value, value - t->high);

    return !says_nothing(c, value, scale, off, t) &&
           confirmed(c, d, f, value, scale, t) && !cancels(c, d, f, value, t) &&
           !jx_grad_depends_on_start(c, d, f, off, t) &&
           !jx_grad_is_rounding(c, d, f, off) &&
           !(c->point->kind == JX_AT_GIVEN &&
             goes_between_steps(c, d, f, value)) &&
           (!c->limit.in || jx_grad_stands_in_limit(c, d, f, value, off, t)) &&
           (!isfinite(value) || (!jx_grad_is_noise(c, d, f, off) &&
                                 !jx_grad_is_unseen(c, d, f, value, off))) &&
           !jx_grad_is_lost(c, f);
}

/* Whether the slopes of both sides are the same at steps far smaller. */
static bool is_kink(jx_gradding *c, const double *d, jx_functional f,
                    const jx_target *t)
{
    if (c->loops ||
        !jx_grad_sample(c, d, jx_grad_first_step(c, d) / 32, c->again))
        return false;
    jx_target near =
        jx_grad_target(c, f, c->again, jx_grad_rounding(c, c->again));
    double slack = 0.01 * (t->high - t->low) + t->error + near.error;
    return !near.undefined && !near.stair && !near.imprecise &&
           fabs(near.low - t->low) <= slack &&
           fabs(near.high - t->high) <= slack;
}

/* Notes a point where there are several derivatives, of which the rule gives
 * another than the function's own. */
static void note_convention(jx_gradding *c, const char *what, jx_functional f,
                            double value, const jx_target *t)
{
    double own = own_along(c, f);

    if (c->convention || c->second || c->most_work || c->intent ||
        c->stands_in || jx_grad_is_foreign(c) || !isfinite(value))
        return;
    /* What cancels in both is another number in each. */
    if (fabs(value - own) <= c->tolerance * (t->high - t->low))
        return;
    c->convention = jx_arena_printf(
        c->program->ctx->arena,
        "at %s (%s), direction \"%s\", %s: the slopes of both sides are %.6g "
        "and %.6g, the rule gives %.6g, the function's own derivative is %.6g",
        jx_sample_text(c->program->ctx, c->x, c->in.size), c->point->name,
        c->direction, what, t->low, t->high, value, own);
}

/* Whether along d an element of the array moves that holds element `i`. */
static bool is_moved(const jx_gradding *c, const double *d, int i)
{
    int s = 0;

    while (s + 1 < c->in.count && c->in.spans[s + 1].at <= i)
        s++;
    for (int k = 0; k < c->in.spans[s].count; k++)
        if (d[c->in.spans[s].at + k] != 0)
            return true;
    return false;
}

/* Whether the function's own derivative is not what the slopes along that line
 * are, where these are sure. */
static bool is_own_off(jx_gradding *c, const double *d)
{
    jx_grad_own_along(c, d);
    if (!c->has_along ||
        !jx_grad_sample(c, d, jx_grad_first_step(c, d), c->again))
        return false;
    const double rounding = jx_grad_rounding(c, c->again);
    for (int k = 0; k < jx_grad_nlooked(c); k++) {
        int j = jx_grad_looked(c, k);
        jx_target t =
            jx_grad_target(c, (jx_functional){NULL, j}, c->again, rounding);
        if (isfinite(c->along[j]) && jx_judge(c->along[j], fabs(c->along[j]),
                                              c->tolerance, &t) == JX_DISAGREE)
            return true;
    }
    return false;
}

/* The same of lines on which what d moves moves all at once, or one element
 * of it: there the own derivative has chosen one of several orders of what
 * ties, or is none. */
static bool own_chooses(jx_gradding *c, const double *along)
{
    enum { TRIES = 64 };
    int n = c->in.size;
    double *line = jx_grad_room(c, (size_t)n + 1, sizeof *line);
    bool chooses = false;

    for (int i = 0; line && i < n; i++)
        line[i] = is_moved(c, along, i);
    chooses = line && is_own_off(c, line);
    for (int k = 0; line && !chooses && k < TRIES && k < n; k++) {
        int i = n <= TRIES ? k : (int)(jx_rng_next(&c->rng) % (uint64_t)n);
        memset(line, 0, (size_t)n * sizeof *line);
        line[i] = 1;
        chooses = is_moved(c, along, i) && is_own_off(c, line);
    }
    free(line);
    jx_grad_own_along(c, along);
    return chooses;
}

/* Whether along d, which moves everything, the function's own derivative is the
 * same at points around, in whatever order they break a tie: then no choice
 * explains another. */
static bool is_beyond_choice(jx_gradding *c, const double *d, jx_functional f,
                             double own)
{
    enum { ORDERS = 12 };
    size_t n = (size_t)c->in.size;
    double *kept = jx_grad_room(c, n + 1, sizeof *kept);
    bool same = true;

    if (!kept)
        return false;
    memcpy(kept, c->x, n * sizeof *kept);
    for (size_t i = 0; same && i < n; i++)
        same = d[i] != 0;
    for (int k = 0; same && k < ORDERS; k++) {
        for (size_t i = 0; i < n; i++)
            c->x[i] = kept[i] +
                      1e-7 * fmax(1, fabs(kept[i])) * jx_rng_normal(&c->rng);
        jx_space_scatter(&c->in, c->x, &c->primal);
        jx_grad_own_along(c, d);
        same = c->has_along && fabs(own_along(c, f) - own) <= 1e-4 * fabs(own);
    }
    memcpy(c->x, kept, n * sizeof *kept);
    jx_space_scatter(&c->in, c->x, &c->primal);
    jx_grad_own_along(c, d);
    free(kept);
    return same;
}

/* Whether, at a kink or a tie, the function's own derivative is not what the
 * slopes are either, along this line or another; or at a single point, though
 * there is one slope: what ties inside of a function may be seen no more in
 * what it gives (the smallest of the largest so far). */
static bool is_theirs_alike(jx_gradding *c, const double *d, jx_functional f,
                            double value, double off, const jx_target *t)
{
    double own = c->has_along ? own_along(c, f) : NAN;
    bool smooth;

    if (!isfinite(own))
        return false;
    smooth = is_smooth_around(c, off);
    if (smooth &&
        ((c->loops && !c->takes_rows) || !jx_grad_is_isolated(c, d, f)))
        return false;
    if (jx_judge(own, fabs(own), c->tolerance, t) == JX_DISAGREE ||
        jx_grad_is_own_declared(c, d, f, value))
        return true;
    return own_chooses(c, d) && (smooth || off <= 0.01 * fabs(own) ||
                                 !is_beyond_choice(c, d, f, own));
}

/* Whether the function has no derivative at this single point, to whose slopes
 * along several lines no linear map comes (the eigenvalues of a matrix of
 * zeros), where there is no derivative of its own to go by. */
static bool is_cone(jx_gradding *c, const double *d, jx_functional f,
                    double value, double off)
{
    return !c->second && !c->most_work && isfinite(value) &&
           !(c->has_along && isfinite(own_along(c, f))) &&
           jx_grad_is_isolated(c, d, f) && !is_smooth_around(c, off);
}

/* Whether what agrees by what is allowed for, where the function stops when it
 * is near enough, was seen to agree: as near as its dtypes have it, or where
 * the loops come to rest. */
static bool is_seen(jx_gradding *c, const double *d, jx_functional f,
                    double value, double scale, const jx_target *t)
{
    double tolerance = c->tolerance;
    bool seen;

    if (!jx_grad_goes_on(c) || c->limit.in)
        return true;
    c->tolerance = fmin(tolerance, c->limit.tolerance);
    seen = jx_judge(value, scale, c->tolerance, t) == JX_AGREE ||
           jx_grad_own_says(c, f, value, scale) == JX_AGREE;
    c->tolerance = tolerance;
    return seen || jx_grad_agrees_at_rest(c, d, f, value);
}

/* How operands that hang together move is known by differences of what the
 * program computes them from.  Where that approximates, its slopes are off by
 * much more than its values are, and a rule that was made for what it
 * approximates is off from them by as much. */
static bool is_within_moves(const jx_gradding *c, double off, double value,
                            const jx_target *t)
{
    static const double unknown = 1e-3;

    return c->cautious && c->in.count > 1 &&
           off <= unknown * fmax(fabs(value), t->scale) &&
           jx_points_has_rounded(c->typed->program->entry.jaxpr);
}

/* Whether a disagreement with the slopes is none of the rule's: those that have
 * another way to its derivative go with it, or have several as well. */
static bool is_outvoted(jx_gradding *c, const double *d, jx_functional f,
                        double value, double off, const jx_target *t,
                        jx_opinion own)
{
    return own == JX_AGREE || is_convention(c, d, f, value, off) ||
           is_theirs_alike(c, d, f, value, off, t) ||
           is_cone(c, d, f, value, off) ||
           jx_grad_is_kept_alike(c, d, f, value) ||
           jx_grad_is_beside_kink(c, d, f, value);
}

static void watch(const jx_gradding *c, bool off)
{
    jx_grad_watched *w = c->watched;

    if (memcmp(c->x, w->x, (size_t)c->in.size * sizeof *c->x) != 0)
        return;
    w->off |= off;
    w->nvalues = c->out.size;
    if (!w->values)
        w->values = jx_arena_copy(c->program->ctx->arena, c->samples,
                                  (size_t)c->out.size * sizeof *c->samples);
}

/* Counts one comparison; false once the rule is known to be wrong. */
static bool compare(jx_gradding *c, const double *d, jx_functional f,
                    double value, double scale, const char *what)
{
    jx_target t = jx_grad_target(c, f, c->slopes, c->rounding);
    if (c->limit.in && !isfinite(value)) {
        c->limit.lost = true;
        return true;
    }
    c->wrong_at = f.weights ? -1 : f.only;
    value = jx_grad_unscaled(c, value, &t);
    jx_opinion o = jx_judge(value, scale, c->tolerance, &t);
    jx_opinion own = jx_grad_own_says(c, f, value, scale);
    double off = fmax(t.low - value, value - t.high);
    const int others = c->others;

    if (c->watched)
        watch(c, !isfinite(value) || o == JX_DISAGREE);

    if ((o == JX_DISAGREE || o == JX_UNCERTAIN) &&
        off <= c->leeway * fmax(scale, fmax(fabs(value), t.scale)))
        o = JX_AGREE;
    if (o == JX_DISAGREE && is_within_moves(c, off, value, &t))
        o = JX_UNCERTAIN;
    if (own == JX_DISAGREE && t.low < t.high && !t.undefined && !t.stair &&
        !t.imprecise && !c->convention && is_kink(c, d, f, &t))
        note_convention(c, what ? what : jx_grad_component(c, f.only), f, value,
                        &t);
    if (own == JX_AGREE && (o == JX_UNCERTAIN || (o == JX_SKIP && !t.stair)))
        o = JX_AGREE;
    if (o == JX_AGREE && !is_seen(c, d, f, value, scale, &t))
        o = JX_UNCERTAIN;
    if (o == JX_DISAGREE && jx_grad_is_beyond(c, f))
        o = JX_SKIP;
    /* Inputs that were drawn may be outside what the program is for. */
    if (o == JX_DISAGREE && !isfinite(value) &&
        ((f.weights && outside(c)) || is_nan_of_another(c, f) ||
         !differentiable(c, f) || is_far(c) || c->second ||
         (c->cautious && !c->options->inputs) || !is_nan_news(c) ||
         jx_grad_is_subnormal_nan(c, d, f)))
        o = JX_SKIP;
    c->met = c->met || (o == JX_AGREE && !jx_grad_is_foreign(c));
    if (o == JX_DISAGREE && jx_grad_is_foreign(c)) {
        c->doubted = c->doubted || confirmed(c, d, f, value, scale, &t);
        o = JX_UNCERTAIN;
    }
    c->stair = c->stair || t.stair;
    int *excused = &c->excused[f.weights ? c->out.size : f.only];
    bool stands =
        o == JX_DISAGREE && !jx_grad_is_apart(c) && *excused != c->visit;
    /* Whether it stands takes many runs, and where one that did was outvoted,
     * the next one mostly is. */
    const bool voted = stands && c->outvoted_at == c->visit &&
                       is_outvoted(c, d, f, value, off, &t, own);
    stands = stands && (voted || jx_grad_stands(c, d, f, value, scale, &t));
    if (o == JX_DISAGREE && !stands) {
        *excused = c->visit;
        o = own == JX_AGREE ? JX_AGREE : o; /* as where slopes are uncertain */
        c->met = c->met || (o == JX_AGREE && !jx_grad_is_foreign(c));
    }
    if (stands && (voted || is_outvoted(c, d, f, value, off, &t, own))) {
        if (own == JX_DISAGREE && !c->approximates && !c->loops)
            note_convention(c, what ? what : jx_grad_component(c, f.only), f,
                            value, &t);
        c->outvoted_at = c->visit;
        c->outvoted++;
        return true;
    }
    jx_opinion denied =
        stands || c->lost[f.weights ? c->out.size : f.only] == c->visit
            ? JX_SKIP
            : jx_grad_own_denies(c, d, f, value, scale, &t);
    if (denied == JX_DISAGREE &&
        (jx_grad_is_beside_kink(c, d, f, value) || jx_grad_is_lost(c, f)))
        denied = JX_SKIP;
    if (denied == JX_DISAGREE) {
        say_denied(c, d, f, what ? what : jx_grad_component(c, f.only), value,
                   &t);
        jx_grad_look_for_ignored(c, d);
        return false;
    }
    if (denied == JX_UNCERTAIN && o == JX_AGREE)
        o = JX_UNCERTAIN;
    c->others_alone = c->others_alone || (c->others > others && o != JX_AGREE);
    bool foreign = jx_grad_is_foreign(c);
    double slope;
    if (!f.weights && o == JX_AGREE && value != 0 &&
        c->last_agreed[f.only] != c->visit) {
        c->last_agreed[f.only] = c->visit;
        c->agreed[f.only]++;
    }
    *(foreign ? &c->abroad : &c->comparisons) += o == JX_AGREE;
    *(foreign ? &c->muted : &c->dropped) +=
        o == JX_UNCERTAIN || (o == JX_DISAGREE && !stands);
    if (!stands && !jx_grad_is_beyond(c, f) &&
        is_nan_in_vain(c, d, f, value, &slope)) {
        say_in_vain(c, d, f, what ? what : jx_grad_component(c, f.only), value,
                    slope);
        return false;
    }
    if (!stands)
        return true;
    jx_grad_shrink(c, d, f, &value, &t);
    say_wrong(c, what ? what : jx_grad_component(c, f.only), value, &t);
    if (!c->second && !c->most_work)
        jx_grad_look_for_ignored(c, d);
    return false;
}

/* Whether tangents are to be passed on as they are: no slopes are asked. */
static bool is_straight(const jx_gradding *c)
{
    return c->intent == JX_INTENT_STRAIGHT_THROUGH && !c->stands_in;
}

bool jx_grad_jvp_line(jx_gradding *c, const double *d)
{
    /* Twice with different lengths: a tangent map must be linear. */
    const double factors[] = {1, -2.5 * jx_grad_length(c)};

    c->rounding = jx_grad_rounding(c, c->slopes);
    for (int k = 0; k < 2; k++) {
        double factor = factors[k] * jx_grad_reach(c);
        if (!jx_grad_run_jvp(c, d, factor))
            return true;
        jx_grad_take_tangents(c, c->tangent);
        if (k == 0 && !c->limit.in && !jx_grad_same_primals(c, &c->jvp, 0))
            return false;
        if (is_straight(c)) {
            for (int j = 0; j < c->out.size; j++)
                c->tangent[j] /= factor;
            if (!jx_grad_is_straight(c, d, c->tangent))
                return false;
            continue;
        }
        if (k == 0)
            jx_grad_look_short(c, d, factor);
        for (int i = 0; i < jx_grad_nlooked(c); i++) {
            int j = jx_grad_looked(c, i);
            double value = c->tangent[j] / factor;
            if (!compare(c, d, (jx_functional){NULL, j}, value, fabs(value),
                         NULL))
                return false;
        }
    }
    return true;
}

/* Of what is looked at alone. */
static void fill_cotangent(jx_gradding *c, int which)
{
    int m = c->out.size;
    double reach = jx_grad_reach(c);

    memset(c->cotangent, 0, (size_t)m * sizeof *c->cotangent);
    for (int i = 0, j; i < jx_grad_nlooked(c) && (j = jx_grad_looked(c, i)) < m;
         i++)
        c->cotangent[j] = reach * (which == 0   ? jx_rng_normal(&c->rng)
                                   : which == 1 ? 1
                                   : which == 2 ? (j == m - 1)
                                                : -2.5 * jx_grad_length(c) *
                                                      jx_rng_normal(&c->rng));
}

bool jx_grad_vjp_line(jx_gradding *c, const double *d)
{
    c->rounding = jx_grad_rounding(c, c->slopes);
    for (int k = 0; k < COTANGENTS; k++) {
        double value, scale;
        fill_cotangent(c, k);
        if (!jx_grad_pulled_back(c, c->cotangent, d, &value, &scale))
            return true;
        if (jx_grad_is_clipped(c)) {
            c->clipped++;
            continue;
        }
        if (k == 0)
            jx_grad_look_short_back(c, d, value, scale);
        jx_space_conjugate(&c->out, c->cotangent);
        if (is_straight(c)) {
            if (!jx_grad_is_straight(c, c->cotangent, c->tangent))
                return false;
            continue;
        }
        if (!compare(c, d, (jx_functional){c->cotangent, 0}, value,
                     isfinite(scale) ? scale : 0, "cotangent times slopes"))
            return false;
    }
    return true;
}
