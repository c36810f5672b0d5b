/* gradshrink.c - see gradding.h: a smaller point and a simpler line along which
 * a derivative is wrong as well.
 *
 * What is tried first is judged by the slopes alone; what is kept has been
 * confirmed as the first finding was. */
#include "runtime/gradients/gradding.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ALONE = 24,     /* elements that are tried one by one */
    TRIALS = 300,   /* of one finding */
    WORK = 1 << 22, /* of all of them, as jx_grad_call() counts it */
    CONFIRMED = 6,  /* of these, at most so many are confirmed */
};
/* What is left of the difference, beside the numbers that differ. */
static const double enough = 0.25;

typedef struct shrinking {
    jx_gradding *c;
    bool pulled;       /* the functional has weights */
    int only;          /* or is that component */
    double *x, *d, *w; /* the best so far: point, direction, weights */
    double *kept;      /* ... that was confirmed */
    double share;      /* of the numbers, that the first difference was */
    bool is_nan;       /* ... which had no finite number */
    int trials, confirmed;
    int64_t work;
} shrinking;

static size_t sizes(const shrinking *s)
{
    return 2 * (size_t)s->c->in.size + (size_t)s->c->out.size;
}

static jx_functional functional(const shrinking *s)
{
    return (jx_functional){s->pulled ? s->w : NULL, s->only};
}

/* How far a value is off, as a share of the numbers that differ. */
static double share_of(double value, const jx_target *t)
{
    double size = fabs(value) + fmax(fabs(t->low), fabs(t->high));

    return size > 0 ? fmax(t->low - value, value - t->high) / size : 0;
}

/* Whether what is tried seems as wrong as what was found. */
static bool seems_wrong(shrinking *s, double *value, jx_target *t)
{
    jx_gradding *c = s->c;

    if (s->trials++ >= TRIALS || s->work > WORK)
        return false;
    s->work += c->work;
    c->work = 0;
    memcpy(c->x, s->x, (size_t)c->in.size * sizeof *c->x);
    if (jx_grad_is_apart(c))
        return false;
    jx_space_scatter(&c->in, c->x, &c->primal);
    if (!jx_grad_call(c, &c->primal) ||
        !jx_grad_sample(c, s->d, jx_grad_first_step(c, s->d), c->slopes) ||
        !jx_grad_says(c, s->d, functional(s), value) ||
        isfinite(*value) == s->is_nan)
        return false;
    *t = jx_grad_target(c, functional(s), c->slopes,
                        jx_grad_rounding(c, c->slopes));
    return jx_judge(*value, fabs(*value), c->tolerance, t) == JX_DISAGREE &&
           (s->is_nan || share_of(*value, t) >= enough * s->share);
}

/* Makes the best so far what is kept, if it is wrong beyond doubt;
 * else goes back. */
static void confirm(shrinking *s)
{
    jx_gradding *c = s->c;
    double value;
    jx_target t;

    if (memcmp(s->x, s->kept, sizes(s) * sizeof *s->x) == 0)
        return;
    s->trials--; /* one that was tried before */
    if (s->confirmed++ < CONFIRMED && seems_wrong(s, &value, &t)) {
        jx_grad_own_along(c, s->d);
        if (jx_grad_stands(c, s->d, functional(s), value, fabs(value), &t) &&
            jx_grad_own_says(c, functional(s), value, fabs(value)) !=
                JX_AGREE) {
            memcpy(s->kept, s->x, sizes(s) * sizeof *s->x);
            return;
        }
    }
    memcpy(s->x, s->kept, sizes(s) * sizeof *s->x);
}

/* Tries what the caller made of the vector `v` (n elements of it); `was`
 * has what it was. */
static bool take(shrinking *s, double *v, const double *was, size_t n)
{
    double value;
    jx_target t;

    if (memcmp(v, was, n * sizeof *v) == 0)
        return true;
    if (seems_wrong(s, &value, &t))
        return true;
    memcpy(v, was, n * sizeof *v);
    return false;
}

/* The element of which `v` has most, of those that are not `done`; -1:
 * there is none. */
static int largest(const double *v, size_t n, const bool *done)
{
    int at = -1;

    for (size_t i = 0; i < n; i++)
        if (!done[i] && v[i] != 0 && (at < 0 || fabs(v[i]) > fabs(v[at])))
            at = (int)i;
    return at;
}

/* One element alone, the largest first; or all of them, and these are round. */
static void shrink_line(shrinking *s, double *v, size_t n)
{
    double *was = jx_grad_room(s->c, n + 1, sizeof *was);
    bool *done = jx_grad_room(s->c, n + 1, sizeof *done);
    bool found = false;

    if (was)
        memcpy(was, v, n * sizeof *v);
    for (int k = 0; was && done && !found && k < ALONE; k++) {
        int at = largest(was, n, done);
        if (at < 0)
            break;
        done[at] = true;
        memset(v, 0, n * sizeof *v);
        v[at] = 1;
        if (s->c->symmetric && v == s->d)
            jx_space_symmetric(&s->c->in, v);
        found = take(s, v, was, n);
    }
    for (int digits = 0; was && !found && digits < 3; digits++) {
        double unit = pow(10, digits);
        for (size_t i = 0; i < n; i++)
            v[i] = round(was[i] * unit) / unit;
        found = take(s, v, was, n);
    }
    free(was);
    free(done);
    confirm(s);
}

static bool may_be(const shrinking *s, int i, double value)
{
    const jx_space *in = &s->c->in;

    for (int k = 0; k < in->count; k++) {
        const jx_span_of *span = &in->spans[k];
        if (i >= span->at && i < span->at + span->count &&
            (span->fixed || (span->positive && value <= 0) ||
             !jx_span_has(span, value)))
            return false;
    }
    return true;
}

/* All elements made simple alike, those that may be. */
static bool try_all(shrinking *s, const double *was,
                    double (*simple)(double, double), double by)
{
    int n = s->c->in.size;

    for (int i = 0; i < n; i++) {
        double value = simple(was[i], by);
        s->x[i] = may_be(s, i, value) ? value : was[i];
    }
    if (s->c->symmetric)
        jx_space_symmetric(&s->c->in, s->x);
    return take(s, s->x, was, (size_t)n);
}

static double constant(double was, double by)
{
    (void)was;
    return by;
}

static double rounded(double was, double by)
{
    return round(was * by) / by;
}

static double to_figures(double was, double figures)
{
    double unit = was == 0 ? 1 : pow(10, figures - 1 - floor(log10(fabs(was))));

    return isfinite(unit) && unit > 0 ? round(was * unit) / unit : was;
}

/* Rounded, where that is no zero: the sign stays. */
static double rounded_as_given(double was, double by)
{
    double value = round(was * by) / by;

    return value != 0 ? value : to_figures(was, 1);
}

static void shrink_elements(shrinking *s, double *was)
{
    static const double simple[] = {0, 1, -1, 0.5};
    int n = s->c->in.size;

    for (int i = 0; i < n && i < ALONE; i++) {
        bool taken = false;
        for (size_t k = 0; !taken && k < sizeof simple / sizeof *simple; k++) {
            if (s->x[i] == simple[k])
                break;
            if (!may_be(s, i, simple[k]))
                continue;
            memcpy(was, s->x, (size_t)n * sizeof *was);
            s->x[i] = simple[k];
            if (s->c->symmetric)
                jx_space_symmetric(&s->c->in, s->x);
            taken = take(s, s->x, was, (size_t)n);
        }
    }
}

static void shrink_point(shrinking *s)
{
    static const double constants[] = {1, 0, 0.5, 2, -1, -0.5, 3};
    static const double units[] = {1, 2, 10, 100, 1000};
    int n = s->c->in.size;
    double *was = jx_grad_room(s->c, (size_t)n + 1, sizeof *was);
    /* What the caller gave shows what the function is for: it is
     * rounded alone. */
    bool given = s->c->point->kind == JX_AT_SAMPLE, found = false;

    if (!was)
        return;
    memcpy(was, s->x, (size_t)n * sizeof *was);
    for (size_t k = 0;
         !given && !found && k < sizeof constants / sizeof *constants; k++)
        found = try_all(s, was, constant, constants[k]);
    for (size_t k = 0; !found && k < sizeof units / sizeof *units; k++)
        found = try_all(s, was, given ? rounded_as_given : rounded, units[k]);
    for (int figures = 1; !found && figures < 6; figures++)
        found = try_all(s, was, to_figures, figures);
    confirm(s);
    if (!given)
        shrink_elements(s, was);
    free(was);
    confirm(s);
}

/* Ones for the numbers that are not moved. */
static void shrink_passive(shrinking *s)
{
    jx_gradding *c = s->c;
    double value;
    jx_target t;

    for (int i = 0, span = 0; i < c->primal.nins; i++) {
        const jx_port *port = jx_plan_in(c->primal.plan, i);
        bool moves = span < c->in.count && c->in.port[span] == i;
        span += moves;
        double *was = moves || !jx_dtype_is_float(port->dtype) || c->sample
                          ? NULL
                          : jx_grad_room(c, port->bytes + 1, 1);
        if (!was)
            continue;
        memcpy(was, c->primal.in[i], port->bytes);
        for (int64_t k = 0; k < port->count; k++)
            ((double *)c->primal.in[i])[k] = 1;
        if (!seems_wrong(s, &value, &t))
            memcpy(c->primal.in[i], was, port->bytes);
        free(was);
    }
}

/* The first finding, as what is kept. */
static bool begin(shrinking *s, const double *d, jx_functional f)
{
    const jx_gradding *c = s->c;
    size_t n = (size_t)c->in.size, m = (size_t)c->out.size;

    s->pulled = f.weights != NULL;
    s->only = f.only;
    s->x = jx_grad_room(c, 2 * sizes(s) + 1, sizeof *s->x);
    if (!s->x)
        return false;
    s->d = s->x + n;
    s->w = s->d + n;
    s->kept = s->x + sizes(s);
    memcpy(s->x, c->x, n * sizeof *d);
    memcpy(s->d, d, n * sizeof *d);
    if (f.weights)
        memcpy(s->w, f.weights, m * sizeof *d);
    memcpy(s->kept, s->x, sizes(s) * sizeof *d);
    return true;
}

/* What is kept, in numbers. */
static void conclude(shrinking *s, double value, jx_target *t, jx_shown *shown)
{
    jx_gradding *c = s->c;
    double again;
    jx_target there;

    s->trials = 0;
    s->work = 0;
    if (seems_wrong(s, &again, &there)) {
        value = again;
        *t = there;
    } else {
        memcpy(c->x, s->kept, (size_t)c->in.size * sizeof *c->x);
    }
    *shown = (jx_shown){s->d,   s->pulled ? s->w : NULL, false, value, t->low,
                        t->high};
}

/* A point and a direction that were found in the place of others. */
static void name_them(jx_gradding *c, const double *d, const double *was,
                      const double *from)
{
    jx_point *point = JX_NEW(c->program->ctx->arena, jx_point);
    int moved = 0, at = 0, span = 0;

    if (point && memcmp(c->x, from, (size_t)c->in.size * sizeof *d) != 0) {
        *point = *c->point;
        point->name = "the simplest found";
        c->point = point;
    }
    if (memcmp(d, was, (size_t)c->in.size * sizeof *d) == 0)
        return;
    for (int i = 0; i < c->in.size; i++)
        if (d[i] != 0) {
            moved++;
            at = i;
        }
    while (span + 1 < c->in.count && c->in.spans[span + 1].at <= at)
        span++;
    const jx_span_of *in = &c->in.spans[span];
    c->direction =
        moved == 1
            ? jx_arena_printf(c->program->ctx->arena, "input %d, element %d",
                              c->in.port[span] - c->rule->nconsts,
                              (at - in->at) / (in->complex ? 2 : 1))
            : "of round numbers";
}

void jx_grad_shrink(jx_gradding *c, const double *d, jx_functional f,
                    double *value, jx_target *t)
{
    shrinking s = {
        .c = c, .share = share_of(*value, t), .is_nan = !isfinite(*value)};
    int64_t spent = c->work;
    double *from = jx_grad_room(c, (size_t)c->in.size + 1, sizeof *from);
    jx_shown shown;

    if (!from || !begin(&s, d, f)) {
        free(from);
        return;
    }
    memcpy(from, c->x, (size_t)c->in.size * sizeof *from);
    c->work = 0;
    if (!isinf(*value) && !c->cautious && !c->calling->any_fixed &&
        !c->iterative && c->intent == JX_INTENT_NONE) {
        if (s.pulled)
            shrink_line(&s, s.w, (size_t)c->out.size);
        shrink_line(&s, s.d, (size_t)c->in.size);
        /* Whether a NaN matters has been asked of this point alone. */
        if (!s.is_nan)
            shrink_point(&s);
        shrink_passive(&s);
    }
    conclude(&s, *value, t, &shown);
    *value = shown.gives;
    c->work = spent;
    if (s.pulled)
        jx_space_conjugate(&c->out, s.w);
    jx_grad_witness(c, &shown);
    name_them(c, s.d, d, from);
    free(from);
    free(s.x);
}
