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

/* What rounding makes of sums in which the largest slopes cancel, or numbers of the size
 * of the direction, which is 1: a slope below that may be anything. */
static double rounding_of(const jx_gradding *c, const jx_slope *slopes)
{
    double most = 1;

    for (int j = 0; j < c->out.size; j++)
        if (isfinite(slopes[j].value))
            most = fmax(most, fabs(slopes[j].value));
    return 1e-14 * most;
}

static jx_target target_of(const jx_gradding *c, jx_functional f,
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

/* A disagreement stands only if at least one other first step shows the same
 * slope, none agrees with the rule, and the function does not turn out rough or
 * to have another slope closer by. */
static bool confirmed(jx_gradding *c, const double *d, jx_functional f,
                      double value, double scale, const jx_target *before)
{
    static const double factors[] = {1. / 32, 8, 1. / 1024};
    int again = 0;

    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        if (!jx_grad_sample(c, d, jx_grad_first_step(c, d) * factors[i],
                            c->again))
            return false;
        jx_target t = target_of(c, f, c->again, rounding_of(c, c->again));
        jx_opinion o = jx_judge(value, scale, c->tolerance, &t);
        double apart =
            fmax(fabs(t.low - before->low), fabs(t.high - before->high));
        bool same =
            o == JX_DISAGREE && apart <= 10 * (t.error + before->error) +
                                             1e-3 * (t.scale + before->scale);
        if (o == JX_AGREE || (factors[i] < 1 && !same && o != JX_UNCERTAIN))
            return false;
        again += same;
    }
    return again > 0;
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

/* The slopes along a line, if all outputs are smooth there. */
static bool smooth_slopes(jx_gradding *c, const double *d, jx_slope *slopes)
{
    if (!jx_grad_sample(c, d, jx_grad_first_step(c, d), slopes))
        return false;
    for (int j = 0; j < c->out.size; j++)
        if (slopes[j].kind != JX_SLOPE_SMOOTH)
            return false;
    return true;
}

/* Whether the slopes in `again` are nearly these: nearer than `off` is. */
static bool same_slopes(const jx_gradding *c, const jx_slope *slopes, double off)
{
    double rounding = rounding_of(c, slopes);

    for (int j = 0; j < c->out.size; j++) {
        double a = slopes[j].value, b = c->again[j].value;
        double slack = 0.02 * (off + fabs(a) + fabs(b)) + slopes[j].error + c->again[j].error +
                       rounding;
        if (fabs(a - b) > slack)
            return false;
    }
    return true;
}

/* Whether the slopes along two random lines add up to those along their sum. */
static bool adds_up(jx_gradding *c, const double *d, const jx_slope *along_d, double off)
{
    size_t n = (size_t)c->in.size, m = (size_t)c->out.size;
    double *other = malloc((n + 1) * sizeof *other);
    jx_slope *sum = malloc((m + 1) * sizeof *sum);
    bool good = other && sum;

    for (size_t i = 0; good && i < n; i++)
        other[i] = jx_rng_normal(&c->rng);
    good = good && smooth_slopes(c, other, sum);
    for (size_t j = 0; good && j < m; j++) {
        sum[j].value += along_d[j].value;
        sum[j].error += along_d[j].error;
    }
    for (size_t i = 0; good && i < n; i++)
        other[i] += d[i];
    good = good && smooth_slopes(c, other, c->again) && same_slopes(c, sum, off);
    free(other);
    free(sum);
    return good;
}

/* Whether slopes along a random line are nearly the same at points close by, on all sides:
 * at ties and kinks they are not, though the function may be smooth along some lines, and
 * then any derivative is a convention. */
static bool is_smooth_around(jx_gradding *c, double off)
{
    static const double far[] = {3e-4, 1e-4, 3e-5, 1e-5};
    size_t n = (size_t)c->in.size;
    double *here = malloc((2 * n + 1) * sizeof *here), *d = here ? here + n : NULL, by = 0;
    jx_slope *there = malloc(((size_t)c->out.size + 1) * sizeof *there);
    bool good = here && there;

    for (size_t i = 0; good && i < n; i++) {
        here[i] = c->x[i];
        by = fmax(by, fabs(here[i]));
        d[i] = jx_rng_normal(&c->rng);
    }
    good = good && smooth_slopes(c, d, there) && adds_up(c, d, there, off);
    for (size_t k = 0; good && k < sizeof far / sizeof *far; k++) {
        for (size_t i = 0; i < n; i++)
            c->x[i] = here[i] + far[k] * (by > 0 ? by : 1) * jx_rng_normal(&c->rng);
        good = smooth_slopes(c, d, c->again) && same_slopes(c, there, off);
    }
    if (here)
        memcpy(c->x, here, n * sizeof *here);
    jx_space_scatter(&c->in, c->x, &c->primal);
    free(here);
    free(there);
    return good;
}

/* Whether the rule is right at points close by: what is left is a tie, of which another
 * derivative is another convention. */
static bool is_isolated(jx_gradding *c, const double *d, jx_functional f)
{
    enum { AROUND = 2 };
    size_t n = (size_t)c->in.size, m = (size_t)c->out.size;
    double *kept = malloc((n + m + 2) * sizeof *kept), value;
    bool good = kept != NULL;

    if (!kept)
        return false;
    memcpy(kept, c->x, n * sizeof *kept);
    memcpy(kept + n, c->tangent, m * sizeof *kept);
    for (int k = 0; good && k < AROUND; k++) {
        for (size_t i = 0; i < n; i++)
            c->x[i] = kept[i] + 1e-4 * fmax(1, fabs(kept[i])) * jx_rng_normal(&c->rng);
        good = jx_grad_sample(c, d, jx_grad_first_step(c, d), c->again) &&
               jx_grad_says(c, d, f, &value);
        if (!good)
            break;
        jx_target t = target_of(c, f, c->again, rounding_of(c, c->again));
        good = jx_judge(value, fabs(value), c->tolerance, &t) == JX_AGREE;
    }
    memcpy(c->x, kept, n * sizeof *kept);
    memcpy(c->tangent, kept + n, m * sizeof *kept);
    jx_space_scatter(&c->in, c->x, &c->primal);
    free(kept);
    return good;
}

/* Whether some output is not finite at the point: 0 times what is not finite is
 * in every sum of cotangents then. */
static bool outside(const jx_gradding *c)
{
    for (int j = 0; j < c->out.size; j++)
        if (!isfinite(c->samples[j]))
            return true;
    return false;
}

/* The quotients of the functional from the point to h[k] * d on one side of it; false if
 * one is not finite. */
static bool quotients(jx_gradding *c, const double *d, jx_functional f, double sign,
                      int count, double *to)
{
    double h = 1e-2;

    for (int k = -1; k < count; k++) {
        double sum = 0;
        for (int i = 0; i < c->in.size; i++)
            c->moved[i] = c->x[i] + (k < 0 ? 0 : sign * h * d[i]);
        jx_space_scatter(&c->in, c->moved, &c->primal);
        if (!jx_grad_call(c, &c->primal))
            return false;
        jx_space_gather(&c->out, &c->primal, 0, c->along);
        for (int j = 0; j < c->out.size; j++)
            if (f.weights ? f.weights[j] != 0 : j == f.only)
                sum += (f.weights ? f.weights[j] : 1) * c->along[j];
        to[k < 0 ? count : k] = sum;
        h /= k < 0 ? 1 : 10;
    }
    h = 1e-2;
    for (int k = 0; k < count; k++, h /= 10)
        if (!isfinite(to[k] = sign * (to[k] - to[count]) / h))
            return false;
    return true;
}

/* Whether the quotients of both sides come to one number, by less and less: there is a
 * derivative, though the function may bend so much that no extrapolation finds it. */
static bool settles(jx_gradding *c, const double *d, jx_functional f)
{
    enum { COUNT = 8 };
    double ahead[COUNT + 1], behind[COUNT + 1];
    bool good;

    c->has_along = false; /* its room is used */
    good = quotients(c, d, f, 1, COUNT, ahead) && quotients(c, d, f, -1, COUNT, behind);
    jx_space_scatter(&c->in, c->x, &c->primal);
    if (!good)
        return false;
    double scale = fmax(fabs(ahead[0]), fabs(behind[0]));
    for (int k = 1; k + 1 < COUNT; k++)
        if (fabs(ahead[k + 1] - ahead[k]) >
                0.7 * fabs(ahead[k] - ahead[k - 1]) + 1e-6 * scale ||
            fabs(behind[k + 1] - behind[k]) >
                0.7 * fabs(behind[k] - behind[k - 1]) + 1e-6 * scale)
            return false;
    return scale > 0 && fabs(ahead[COUNT - 1] - behind[COUNT - 1]) <= 2e-3 * scale;
}

/* Whether the values are larger than what a program is likely to be for: where parts of it
 * overflow says nothing of the whole. */
static bool is_far(const jx_gradding *c)
{
    return c->most_work && c->point->kind != JX_AT_SAMPLE && fabs(c->point->scale) > 5;
}

/* Whether the function computes no NaN on its way at a point close by: where it does, and
 * then leaves it out (log of a negative number, where another operand is zero), nobody
 * asks for a derivative. */
static bool is_in_domain(jx_gradding *c)
{
    jx_watch watch = {0};
    jx_plan_options how = *c->how;
    jx_callee f;
    bool good;

    how.watch = &watch;
    if (!jx_callee_open(&f, c->typed, &c->rule->primal, &how)) {
        jx_error_clear(c->program->ctx);
        return false;
    }
    for (int i = 0; i < f.nins; i++)
        memcpy(f.in[i], c->primal.in[i], jx_plan_in(f.plan, i)->bytes);
    for (int i = 0; i < c->in.size; i++)
        c->moved[i] = c->x[i] + 1e-5 * fmax(1, fabs(c->x[i])) * jx_rng_normal(&c->rng);
    jx_space_scatter(&c->in, c->moved, &f);
    good = jx_callee_run(&f) && !watch.nan.eqn;
    jx_callee_close(&f);
    return good;
}

/* Whether a NaN is told: those of inputs that nobody means are not. */
static bool is_nan_news(jx_gradding *c)
{
    double size = 0;

    for (int j = 0; j < c->out.size; j++)
        size = fmax(size, fabs(c->samples[j]));
    return is_in_domain(c) && (!c->most_work || is_smooth_around(c, size));
}

/* A NaN where there is a derivative.  The slope that is shown is what the quotients come
 * to. */
static bool is_nan_in_vain(jx_gradding *c, const double *d, jx_functional f, double value)
{
    return isnan(value) && !c->second && !c->cautious && !outside(c) &&
           !is_far(c) && settles(c, d, f) && is_nan_news(c);
}

/* Whether the parts that each input has in a tangent cancel so far that their roundings
 * explain the difference. */
static bool cancels(jx_gradding *c, const double *d, jx_functional f, double value,
                    const jx_target *t)
{
    return !f.weights && !isnan(value) &&
           jx_judge(value, jx_grad_parts(c, d, f.only), c->tolerance, t) != JX_DISAGREE;
}

/* Counts one comparison; false once the rule is known to be wrong. */
static bool compare(jx_gradding *c, const double *d, jx_functional f,
                     double value, double scale, const char *what)
{
    jx_target t = target_of(c, f, c->slopes, c->rounding);
    jx_opinion o = jx_judge(value, scale, c->tolerance, &t);
    jx_opinion own = jx_grad_own_says(c, f, value, scale);

    if (own == JX_AGREE && (o == JX_UNCERTAIN || (o == JX_SKIP && !t.stair)))
        o = JX_AGREE;
    /* Inputs that were drawn may be outside what the program is for. */
    if (o == JX_DISAGREE && isnan(value) &&
        ((f.weights && outside(c)) || !differentiable(c, f) ||
         is_far(c) || c->second || (c->cautious && !c->options->inputs) ||
         !is_nan_news(c)))
        o = JX_SKIP;
    c->met = c->met || (o == JX_AGREE && !jx_grad_is_foreign(c));
    if (o == JX_DISAGREE && jx_grad_is_foreign(c)) {
        c->doubted = c->doubted || confirmed(c, d, f, value, scale, &t);
        o = JX_UNCERTAIN;
    }
    c->stair = c->stair || t.stair;
    double off = fmax(t.low - value, value - t.high);
    bool stands =
        o == JX_DISAGREE && confirmed(c, d, f, value, scale, &t) &&
        !cancels(c, d, f, value, &t) &&
        !jx_grad_is_rounding(c, d, f, off);
    if (stands && (own == JX_AGREE || (c->second && is_isolated(c, d, f)) || (c->most_work && !isnan(value) &&
                                       !is_smooth_around(c, off)))) {
        c->outvoted++;
        return true;
    }
    bool foreign = jx_grad_is_foreign(c);
    *(foreign ? &c->abroad : &c->comparisons) += o == JX_AGREE;
    *(foreign ? &c->muted : &c->dropped) +=
        o == JX_UNCERTAIN || (o == JX_DISAGREE && !stands);
    if (!stands && is_nan_in_vain(c, d, f, value)) {
        c->wrong = jx_arena_printf(c->program->ctx->arena,
                                   "at %s (%s), direction \"%s\", %s: %s gives "
                                   "nan, where the quotients of "
                                   "both sides come to one number",
                                   jx_sample_text(c->program->ctx, c->x, c->in.size),
                                   c->point->name, c->direction,
                                   what ? what : jx_grad_component(c, f.only),
                                   c->most_work ? "the derivative" : "the rule");
        return false;
    }
    if (!stands)
        return true;
    say_wrong(c, what ? what : jx_grad_component(c, f.only), value, &t);
    return false;
}

bool jx_grad_jvp_line(jx_gradding *c, const double *d)
{
    /* Twice with different lengths: a tangent map must be linear. */
    static const double factors[] = {1, -2.5};

    c->rounding = rounding_of(c, c->slopes);
    for (int k = 0; k < 2; k++) {
        if (!jx_grad_run_jvp(c, d, factors[k]))
            return true;
        jx_grad_take_tangents(c, c->tangent);
        if (k == 0 && !jx_grad_same_primals(c, &c->jvp, 0))
            return false;
        for (int j = 0; j < c->out.size; j++) {
            double value = c->tangent[j] / factors[k];
            if (!compare(c, d, (jx_functional){NULL, j}, value,
                                 fabs(value), NULL))
                return false;
        }
    }
    return true;
}

static void fill_cotangent(jx_gradding *c, int which)
{
    int m = c->out.size;

    for (int j = 0; j < m; j++)
        c->cotangent[j] = which == 0   ? jx_rng_normal(&c->rng)
                          : which == 1 ? 1
                          : which == 2 ? (j == m - 1)
                                       : -2.5 * jx_rng_normal(&c->rng);
}

bool jx_grad_vjp_line(jx_gradding *c, const double *d)
{
    c->rounding = rounding_of(c, c->slopes);
    for (int k = 0; k < COTANGENTS; k++) {
        double value, scale;
        fill_cotangent(c, k);
        if (!jx_grad_pulled_back(c, c->cotangent, d, &value, &scale))
            return true;
        jx_space_conjugate(&c->out, c->cotangent);
        if (!compare(c, d, (jx_functional){c->cotangent, 0}, value,
                             isnan(scale) ? 0 : scale,
                             "cotangent times slopes"))
            return false;
    }
    return true;
}
