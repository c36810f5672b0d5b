/* gradsettle.c - see gradding.h: where a rule gives no number.
 *
 * That is asked for each component of a result, and there may be hundreds that
 * give none at a point (xlogy of zeros).  What is run for the first one has the
 * answers for all others. */
#include "runtime/gradients/gradding.h"
#include "runtime/watch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    COUNT = 8,           /* quotients of a side, each ten times nearer */
    VALUES = COUNT + 1,  /* with the point itself */
    LINES = 2,           /* the one at hand, and the first one of the point */
    MOST_KEPT = 1 << 16, /* results, of which a line is kept */
};
enum { UNKNOWN = 0, YES, NO };

/* The function from the point to h[k] * d, on either side, the point last. */
typedef struct line {
    double *d, *sides[2]; /* VALUES times the results; NULL: not known */
    bool ran[2];
} line;

struct jx_grad_around {
    int visit;     /* the point that it is about, where loops ... */
    bool in_limit; /* ... end, or lead */
    double *x;
    line lines[LINES];
    int next;          /* of the lines, the older one */
    char *settled;     /* of each result, by itself: UNKNOWN, YES or NO */
    jx_callee watched; /* the function */
    jx_watch watch;
    bool opened, knows_domain, in_domain;
};

static void forget_line(line *l)
{
    free(l->d);
    free(l->sides[0]);
    free(l->sides[1]);
    *l = (line){0};
}

void jx_grad_forget_around(jx_gradding *c)
{
    for (int i = 0; c->around && i < LINES; i++)
        forget_line(&c->around->lines[i]);
    if (c->around) {
        jx_callee_close(&c->around->watched);
        free(c->around->settled);
        free(c->around->x);
    }
    free(c->around);
    c->around = NULL;
}

/* What is known around the point at hand; NULL without memory. */
static jx_grad_around *around(jx_gradding *c)
{
    size_t bytes = (size_t)c->in.size * sizeof *c->x, m = (size_t)c->out.size;
    jx_grad_around *a = c->around;

    if (!a) {
        a = c->around = jx_grad_room(c, 1, sizeof *a);
        if (a && (!(a->x = jx_grad_room(c, bytes + 1, 1)) ||
                  !(a->settled = jx_grad_room(c, m + 1, 1))))
            jx_grad_forget_around(c);
        a = c->around;
    } else if (a->visit == c->visit && a->in_limit == c->limit.in &&
               memcmp(a->x, c->x, bytes) == 0) {
        return a;
    }
    if (!a)
        return NULL;
    for (int i = 0; i < LINES; i++)
        forget_line(&a->lines[i]);
    a->visit = c->visit;
    a->in_limit = c->limit.in;
    a->knows_domain = false;
    memset(a->settled, UNKNOWN, m);
    memcpy(a->x, c->x, bytes);
    return a;
}

/* -- quotients ------------------------------------------------------------- */

static line *line_along(jx_gradding *c, const double *d)
{
    size_t bytes = (size_t)c->in.size * sizeof *d;
    jx_grad_around *a = around(c);
    line *l;

    for (int i = 0; a && i < LINES; i++)
        if (a->lines[i].d && memcmp(a->lines[i].d, d, bytes) == 0)
            return &a->lines[i];
    if (!a)
        return NULL;
    l = &a->lines[a->next];
    a->next = (a->next + 1) % LINES;
    forget_line(l);
    l->d = jx_grad_room(c, (size_t)c->in.size + 1, sizeof *l->d);
    if (!l->d)
        return NULL;
    memcpy(l->d, d, bytes);
    return l;
}

/* Runs the function along one side of a line; false if that fails. */
static bool run_side(jx_gradding *c, line *l, int side)
{
    size_t m = (size_t)c->out.size;
    double h = side ? -1e-2 : 1e-2;

    l->ran[side] = true;
    l->sides[side] = jx_grad_room(c, VALUES * m + 1, sizeof(double));
    for (int k = -1; l->sides[side] && k < COUNT; k++) {
        for (int i = 0; i < c->in.size; i++)
            c->moved[i] = c->x[i] + (k < 0 ? 0 : h * l->d[i]);
        jx_space_scatter(&c->in, c->moved, &c->primal);
        if (!jx_grad_call(c, &c->primal)) {
            free(l->sides[side]);
            l->sides[side] = NULL;
            break;
        }
        jx_space_gather(&c->out, &c->primal, 0,
                        l->sides[side] + m * (size_t)(k < 0 ? COUNT : k));
        h /= k < 0 ? 1 : 10;
    }
    jx_space_scatter(&c->in, c->x, &c->primal);
    return l->sides[side];
}

/* The quotients of the functional on one side; false if one is not finite. */
static bool quotients(jx_gradding *c, line *l, jx_functional f, int side,
                      double *to)
{
    double sign = side ? -1 : 1, h = 1e-2, sums[VALUES];
    size_t m = (size_t)c->out.size;

    if (l->ran[side] ? !l->sides[side] : !run_side(c, l, side))
        return false;
    for (int k = 0; k < VALUES; k++) {
        const double *outs = l->sides[side] + m * (size_t)k;
        sums[k] = f.weights ? 0 : outs[f.only];
        for (size_t j = 0; f.weights && j < m; j++)
            if (f.weights[j] != 0)
                sums[k] += f.weights[j] * outs[j];
    }
    for (int k = 0; k < COUNT; k++, h /= 10)
        if (!isfinite(to[k] = sign * (sums[k] - sums[COUNT]) / h))
            return false;
    return true;
}

static bool settles_along(jx_gradding *c, line *l, jx_functional f,
                          double *slope)
{
    double ahead[COUNT], behind[COUNT];

    if (!quotients(c, l, f, 0, ahead) || !quotients(c, l, f, 1, behind))
        return false;
    double scale = fmax(fabs(ahead[0]), fabs(behind[0]));
    for (int k = 1; k + 1 < COUNT; k++)
        if (fabs(ahead[k + 1] - ahead[k]) >
                0.7 * fabs(ahead[k] - ahead[k - 1]) + 1e-6 * scale ||
            fabs(behind[k + 1] - behind[k]) >
                0.7 * fabs(behind[k] - behind[k - 1]) + 1e-6 * scale)
            return false;
    *slope = (ahead[COUNT - 1] + behind[COUNT - 1]) / 2;
    return scale > 0 &&
           fabs(ahead[COUNT - 1] - behind[COUNT - 1]) <= 2e-3 * scale;
}

bool jx_grad_settles(jx_gradding *c, const double *d, jx_functional f,
                     double *slope)
{
    line *l = line_along(c, d);
    bool settles = l && settles_along(c, l, f, slope);

    if (l && c->out.size > MOST_KEPT)
        forget_line(l);
    return settles;
}

bool jx_grad_is_unbounded(jx_gradding *c)
{
    line *l = c->has_along ? line_along(c, c->directions) : NULL;
    bool unbounded = false;
    double slope;

    for (int j = 0; l && j < c->out.size && !unbounded; j++) {
        const jx_functional f = {.only = j};
        char *settled = &c->around->settled[j];
        if (isfinite(c->along[j]))
            continue;
        if (*settled == UNKNOWN)
            *settled = settles_along(c, l, f, &slope) ? YES : NO;
        unbounded = *settled == NO;
    }
    if (l && c->out.size > MOST_KEPT)
        forget_line(l);
    return unbounded;
}

/* -- domain ---------------------------------------------------------------- */

/* Runs the watched function at the point moved by that much of a random
 * direction; whether it computes no NaN on its way, and gives numbers. */
static bool is_clean_at(jx_gradding *c, const double *d, double by)
{
    jx_callee *f = &c->around->watched;

    for (int i = 0; i < c->in.size; i++)
        c->moved[i] = c->x[i] + by * fmax(1, fabs(c->x[i])) * d[i];
    jx_space_scatter(&c->in, c->moved, f);
    return jx_callee_run(f) && !c->around->watch.nan.eqn &&
           jx_callee_gives_numbers(f);
}

/* Its plan is made once. */
static bool open_watched(jx_gradding *c)
{
    jx_plan_options how = *c->how;
    jx_grad_around *a = c->around;

    how.watch = &a->watch;
    if (!a->opened &&
        !jx_callee_open(&a->watched, c->typed, &c->rule->primal, &how))
        jx_error_clear(c->program->ctx);
    a->opened = true;
    return a->watched.plan;
}

/* At points along a random direction. */
static bool is_clean_around(jx_gradding *c)
{
    jx_callee *f = &c->around->watched;
    double *d = jx_grad_room(c, (size_t)c->in.size + 1, sizeof *d);
    bool clean;

    if (!d)
        return false;
    c->around->watch = (jx_watch){0};
    for (int i = 0; i < f->nins; i++)
        memcpy(f->in[i], c->primal.in[i], jx_plan_in(f->plan, i)->bytes);
    for (int i = 0; i < c->in.size; i++)
        d[i] = jx_rng_normal(&c->rng);
    clean = is_clean_at(c, d, 1e-5) && is_clean_at(c, d, -1e-5);
    free(d);
    return clean;
}

bool jx_grad_is_in_domain(jx_gradding *c)
{
    jx_grad_around *a = around(c);

    if (!a || !open_watched(c))
        return false;
    if (a->knows_domain) {
        /* what is drawn later is the same, however many ask */
        jx_rng_skip(&c->rng, JX_DRAWS_OF_NORMAL * (int64_t)c->in.size);
        return a->in_domain;
    }
    a->in_domain = is_clean_around(c);
    a->knows_domain = true;
    return a->in_domain;
}
