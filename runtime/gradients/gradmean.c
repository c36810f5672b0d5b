/* gradmean.c - see gradding.h.
 *
 * A function that approximates another one to its dtype has that one's
 * derivative for a rule, and a derivative of its own that may be anything:
 * where C(x) has become 0.5 in float32, its slope is 0 and the rule goes on
 * swinging.  The difference of the two is no error as long as the rule,
 * integrated along the line, gives what the function gives, to within what the
 * dtype rounds.  (Nobody approximates in 16 bits.) */
#include "runtime/gradients/gradding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    NODES = 8,
    LENGTHS = 20,
    AGREED = 3,   /* points */
    EXCUSED = 10, /* disagreements of a rule, after which ... */
    SPARSE = 5,   /* ... one of so many lengths is tried */
};

/* Gauss' nodes and weights of [-1, 1]; the others are these mirrored. */
static const double nodes[NODES / 2] = {0.1834346424956498, 0.5255324099163290,
                                        0.7966664774136267, 0.9602898564975363};
static const double weights[NODES / 2] = {
    0.3626837833783620, 0.3137066458778873, 0.2223810344533745,
    0.1012285362903763};

typedef struct walk {
    jx_gradding *c;
    const double *d, *x; /* the line, and the point on it */
    jx_functional f;
} walk;

static void put(const walk *w, double t)
{
    for (int i = 0; i < w->c->in.size; i++)
        w->c->x[i] = w->x[i] + t * w->d[i];
    jx_space_scatter(&w->c->in, w->c->x, &w->c->primal);
}

static bool rule_at(const walk *w, double t, double *value)
{
    put(w, t);
    return jx_grad_says(w->c, w->d, w->f, value) && isfinite(*value);
}

/* The functional of the function's values, and the magnitudes it sums. */
static bool value_at(const walk *w, double t, double *value, double *size)
{
    jx_gradding *c = w->c;
    double sum = 0, most = 0;

    put(w, t);
    if (!jx_grad_call(c, &c->primal))
        return false;
    jx_space_gather(&c->out, &c->primal, 0, c->samples);
    for (int j = 0; j < c->out.size; j++) {
        double weight = w->f.weights ? w->f.weights[j] : j == w->f.only;
        double term = weight == 0 ? 0 : weight * c->samples[j];
        sum += term;
        most += fabs(term);
    }
    *value = sum;
    *size = fmax(*size, most);
    return isfinite(sum);
}

double jx_grad_unit(const jx_gradding *c)
{
    double unit = 0;

    for (int i = 0; i < c->rule->nins; i++)
        unit = fmax(unit, jx_unit_roundoff(c->rule->ins[i]->dtype));
    return unit;
}

/* What the values may be off, as a part of them. */
static double slack_of(const jx_gradding *c)
{
    return (c->second ? 1024 : 4) * jx_grad_unit(c);
}

/* Whether the rule swings from one number of the dtype around the point to the
 * next by as much as it is off: there it is as good as any. */
static bool swings(const walk *w, double value, double off)
{
    enum { AROUND = 8 };
    double unit = jx_grad_unit(w->c), low = INFINITY, high = -INFINITY, there;
    int apart = 0;

    for (int k = 0; k < AROUND; k++) {
        for (int i = 0; i < w->c->in.size; i++)
            w->c->x[i] =
                w->x[i] * (1 + unit * (2 * jx_rng_uniform(&w->c->rng) - 1));
        jx_space_scatter(&w->c->in, w->c->x, &w->c->primal);
        if (!jx_grad_says(w->c, w->d, w->f, &there) || !isfinite(there))
            return false;
        apart += fabs(there - value) > off / 8;
        low = fmin(low, there);
        high = fmax(high, there);
    }
    return apart > AROUND / 2 && high - low > off;
}

/* The rule integrated from t - h to t + h. */
static bool integral(const walk *w, double t, double h, double *sum)
{
    double ahead, behind;

    *sum = 0;
    for (int i = 0; i < NODES / 2; i++) {
        if (!rule_at(w, t + nodes[i] * h, &ahead) ||
            !rule_at(w, t - nodes[i] * h, &behind))
            return false;
        *sum += h * weights[i] * (ahead + behind);
    }
    return true;
}

/* The same from -h to h, in so many parts. */
static bool integral_in(const walk *w, double h, int parts, double *sum)
{
    double part;

    *sum = 0;
    for (int i = 0; i < parts; i++) {
        if (!integral(w, h * (2 * i + 1 - parts) / parts, h / parts, &part))
            return false;
        *sum += part;
    }
    return true;
}

/* Whether the rule integrates to another difference than the function has, from
 * -h to h; where its integral is not sure, nothing is known. */
static bool is_contradicted(const walk *w, double h)
{
    double sum[3], ahead, behind, off = 0, size = 0;

    if (!value_at(w, h, &ahead, &size) || !value_at(w, -h, &behind, &size))
        return false;
    for (int i = 0; i < 3; i++) {
        if (!integral_in(w, h, 1 << i, &sum[i]))
            return false;
        off = fabs(sum[i] - (ahead - behind));
        if (off <= slack_of(w->c) * size ||
            (i && fabs(sum[i] - sum[0]) > 1e-4 * off))
            return false;
    }
    return true;
}

/* Whether what the rule gives goes on at both sides: a single number integrates
 * to nothing.  And as far as the next numbers of the dtype: between them there
 * is nothing to integrate. */
static bool goes_on(const walk *w, double h, double value, double off)
{
    const double far[] = {1e-12 * h, fmax(100 * jx_grad_unit(w->c), 1e-6) * h};
    double ahead, behind;

    for (size_t i = 0; i < sizeof far / sizeof *far; i++)
        if (!rule_at(w, far[i], &ahead) || !rule_at(w, -far[i], &behind) ||
            fabs(ahead - value) >= off / 2 || fabs(behind - value) >= off / 2)
            return false;
    return true;
}

bool jx_grad_is_unseen(jx_gradding *c, const double *d, jx_functional f,
                       double value, double off)
{
    size_t n = (size_t)c->in.size, m = (size_t)c->out.size,
           most = (n > m ? n : m) + 2;
    double *kept = NULL, h = jx_grad_first_step(c, d);
    bool unseen = c->tolerance < 1e-4 && c->approximates && isfinite(value) &&
                  c->points >= AGREED && (f.weights || c->agreed[f.only]) &&
                  (kept = jx_grad_room(c, 4 * most, sizeof *kept)) != NULL;
    bool often = c->unseen >= EXCUSED;
    walk w = {c, d, kept, f};

    if (!unseen)
        return false;
    memcpy(kept, c->x, n * sizeof *kept);
    memcpy(kept + most, c->tangent, most * sizeof *kept);
    memcpy(kept + 2 * most, c->samples, m * sizeof *kept);
    if (f.weights) {
        memcpy(kept + 3 * most, f.weights, m * sizeof *kept);
        w.f.weights = kept + 3 * most;
    }
    bool swung = swings(&w, value, off);
    unseen = swung || goes_on(&w, h, value, off);
    for (int i = 0; unseen && !swung && i < LENGTHS; i++, h /= 4)
        unseen = (often && i % SPARSE) || !is_contradicted(&w, h);
    memcpy(c->x, kept, n * sizeof *kept);
    jx_space_scatter(&c->in, c->x, &c->primal);
    if (c->rule->vjp)
        jx_grad_prepare_fwd(c);
    memcpy(c->tangent, kept + most, most * sizeof *kept);
    memcpy(c->samples, kept + 2 * most, m * sizeof *kept);
    if (f.weights)
        memcpy(c->cotangent, kept + 3 * most, m * sizeof *kept);
    free(kept);
    c->unseen += unseen;
    return unseen;
}
