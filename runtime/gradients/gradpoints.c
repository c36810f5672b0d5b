/* gradpoints.c - see gradpoints.h. */
#include "runtime/gradients/gradpoints.h"
#include "frontend/ir/element.h"

#include "frontend/base/vec.h"
#include "runtime/choices.h"
#include "runtime/elementwise.h"
#include "runtime/shake.h"
#include "runtime/turns.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const jx_point fixed[] = {
    {JX_AT_NORMAL, 1, "normal"},
    {JX_AT_NORMAL, 0.03, "normal, scale 0.03"},
    {JX_AT_NORMAL, 3, "normal, scale 3"},
    {JX_AT_EQUAL, 0, "all zeros"},
    {JX_AT_NORMAL, 30, "normal, scale 30"},
    {JX_AT_NORMAL, 1000, "normal, scale 1000"},
    {JX_AT_POSITIVE, 1, "positive"},
    {JX_AT_POSITIVE, 5, "positive, scale 5"},
    {JX_AT_UNIT, 1, "between 0 and 1"},
    {JX_AT_EQUAL, 1, "all ones"},
    {JX_AT_EQUAL, -1, "all minus one"},
    {JX_AT_EQUAL, 1000, "all 1000"},
    {JX_AT_EQUAL, -1000, "all -1000"},
    {JX_AT_QUARTERS, 1, "multiples of 1/4"},
    {JX_AT_QUARTERS, 4, "integers"},
    {JX_AT_NORMAL, 1e-5, "normal, scale 1e-5"},
    {JX_AT_SPD, 1, "positive definite matrices"},
};

static const jx_point of_sample[JX_SAMPLE_POINTS] = {
    {JX_AT_SAMPLE, 0, "the sample"},
    {JX_AT_SAMPLE, 0.1, "near the sample"},
    {JX_AT_ROUNDED, 1, "the sample, rounded"},
    {JX_AT_ZEROED, 0, "the sample with argument 0 at zero"},
    {JX_AT_ZEROED, 1, "the sample with argument 1 at zero"},
    {JX_AT_ZEROED, 2, "the sample with argument 2 at zero"},
    {JX_AT_SAMPLE, 0.5, "around the sample"},
};

typedef struct point_list {
    jx_point *at; /* as in JX_VEC */
    size_t count, capacity;
    char *reached; /* by jaxpr: 1 + the least depth at which it was met */
    double reach;  /* as in jx_points_reach() */
} point_list;

/* A float literal's value, if it is one that code may compare with. */
static bool constant_of(jx_atom atom, double *value)
{
    return jx_points_float(atom, value) && isfinite(*value) &&
           fabs(*value) > 1e-3 && fabs(*value) <= 1e4 && fabs(*value) != 1;
}

static void add_constant(const jx_program *program, point_list *to,
                         double value)
{
    enum { MOST = 12 };
    size_t around = 0;

    for (size_t i = 0; i < to->count; i++) {
        around += to->at[i].kind == JX_AT_AROUND;
        if (to->at[i].kind == JX_AT_AROUND && to->at[i].scale == value)
            return;
    }
    if (around == MOST)
        return;
    const char *name =
        jx_arena_printf(program->ctx->arena, "around %.6g", value);
    JX_PUSH(program->ctx->arena, to, (jx_point){JX_AT_AROUND, value, name});
}

enum { MAX_DEPTH = 8 };

static void constants_in(const jx_program *program, const jx_jaxpr *jaxpr,
                         int depth, point_list *to);

static void constants_in_value(const jx_program *program, const jx_value *v,
                               int depth, point_list *to)
{
    if (!v || depth > MAX_DEPTH)
        return;
    if (v->tag == JX_V_JAXPR)
        constants_in(program, v->jaxpr, depth + 1, to);
    if (v->tag == JX_V_TUPLE || v->tag == JX_V_RECORD)
        for (int i = 0; i < v->count; i++)
            constants_in_value(program, v->items[i], depth + 1, to);
}

static void constants_in(const jx_program *program, const jx_jaxpr *jaxpr,
                         int depth, point_list *to)
{
    double value;

    /* As deep as this or less, it has been here. */
    if (to->reached[jaxpr->id] && to->reached[jaxpr->id] <= depth + 1)
        return;
    to->reached[jaxpr->id] = (char)(depth + 1);
    for (int i = 0; i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        for (int k = 0; k < eqn->nins; k++)
            if (constant_of(eqn->ins[k], &value) && fabs(value) <= to->reach) {
                add_constant(program, to, value);
                add_constant(program, to, -value);
            }
        for (int k = 0; k < eqn->nparams; k++)
            constants_in_value(program, eqn->params[k].value, depth, to);
    }
}

const jx_point *jx_points_make(const jx_program *program,
                               const jx_jaxpr *const *jaxprs, int njaxprs,
                               bool sample, int *count)
{
    jx_arena *arena = program->ctx->arena;
    point_list list = {0};
    double reach = INFINITY;

    for (int i = 0; i < njaxprs; i++)
        reach = jaxprs[i] ? fmin(reach, jx_points_reach(jaxprs[i])) : reach;
    for (size_t i = 0; sample && i < sizeof of_sample / sizeof *of_sample; i++)
        JX_PUSH(arena, &list, of_sample[i]);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (fabs(fixed[i].scale) <= reach)
            JX_PUSH(arena, &list, fixed[i]);
    list.reached = JX_NEW_ARRAY(arena, program->njaxprs + 1, char);
    list.reach = reach;
    for (int i = 0; i < njaxprs && list.reached; i++)
        if (jaxprs[i])
            constants_in(program, jaxprs[i], 0, &list);
    *count = (int)list.count;
    return list.at;
}

/* A A' + by n I over the last two axes, where they are equal. */
static bool fill_spd(jx_rng *rng, const jx_span_of *span, double by, double *x)
{
    int64_t n = span->rank >= 2 ? span->shape[span->rank - 1] : 0;

    if (n < 1 || n > 64 || span->shape[span->rank - 2] != n || span->complex)
        return false;
    for (int64_t m = 0; m < span->count / (n * n); m++) {
        double a[64], *to = x + m * n * n;
        memset(to, 0, (size_t)(n * n) * sizeof *to);
        for (int64_t k = 0; k < n; k++) {
            for (int64_t i = 0; i < n; i++)
                a[i] = jx_rng_normal(rng);
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j < n; j++)
                    to[i * n + j] += a[i] * a[j];
        }
        for (int64_t i = 0; i < n; i++)
            to[i * n + i] += by * (double)n;
    }
    return true;
}

/* Close by or, for a large constant, far enough off for a finite difference's
 * steps, which grow with it, to stay on one side. */
static double around(double scale, jx_rng *rng)
{
    bool far = fabs(scale) > 8 && jx_rng_uniform(rng) < 0.5;

    return scale + (far ? fabs(scale) : 1) * jx_rng_normal(rng) / 8;
}

static bool is_of_normals(jx_point_kind kind)
{
    return kind != JX_AT_UNIT && kind != JX_AT_EQUAL && kind != JX_AT_AROUND &&
           kind != JX_AT_ROUNDED && kind != JX_AT_ZEROED;
}

/* `normal`: a number of its own, for what is made of one. */
static double element(const jx_point *point, jx_rng *rng, double normal,
                      double sample)
{
    switch (point->kind) {
    case JX_AT_POSITIVE: return point->scale * (fabs(normal) + 0.3);
    case JX_AT_UNIT: return 0.05 + 0.9 * jx_rng_uniform(rng);
    case JX_AT_EQUAL: return point->scale;
    case JX_AT_QUARTERS: return point->scale * round(4 * normal) / 4;
    case JX_AT_AROUND: return around(point->scale, rng);
    case JX_AT_SAMPLE: return sample * (1 + point->scale * normal);
    case JX_AT_ROUNDED: return round(sample) != 0 ? round(sample) : sample;
    case JX_AT_ZEROED: return sample;
    case JX_AT_GIVEN:
    case JX_AT_NORMAL:
    case JX_AT_SPD: break;
    }
    return point->scale * normal;
}

void jx_point_fill(const jx_point *point, jx_rng *rng, const jx_span_of *spans,
                   int nspans, double *x)
{
    for (int s = 0; s < nspans; s++) {
        double *to = x + spans[s].at;
        if (spans[s].fixed) {
            memcpy(to, spans[s].fixed, (size_t)spans[s].count * sizeof *to);
            continue;
        }
        if (point->kind == JX_AT_SPD &&
            fill_spd(rng, &spans[s], point->scale, to))
            continue;
        if (is_of_normals(point->kind))
            jx_rng_normals(rng, spans[s].count, to);
        for (int i = 0; i < spans[s].count; i++) {
            double sample = spans[s].sample ? spans[s].sample[i] : 0;
            to[i] = element(point, rng, to[i], sample);
            if (spans[s].positive && to[i] < 0)
                to[i] = -to[i];
            if (point->kind == JX_AT_ROUNDED && i > 0 && to[i] == to[i - 1])
                to[i] = sample; /* ties are for others */
        }
    }
}

static void normalize(double *d, int size)
{
    double most = 0;

    for (int i = 0; i < size; i++)
        most = fmax(most, fabs(d[i]));
    for (int i = 0; most > 0 && i < size; i++)
        d[i] /= most;
}

/* The directions under construction. */
typedef struct directions {
    int count, size;
    double *at;
    const char **names;
} directions;

static double *add(directions *d, const char *name)
{
    if (d->count == JX_MOST_DIRECTIONS)
        return NULL;
    d->names[d->count] = name;
    double *at = d->at + (size_t)d->count++ * (size_t)d->size;
    memset(at, 0, (size_t)d->size * sizeof *at);
    return at;
}

static void add_random(directions *d, jx_rng *rng, int from, int count,
                       const char *name)
{
    double *at = add(d, name);

    if (!at)
        return;
    jx_rng_normals(rng, count, at + from);
    normalize(at, d->size);
}

static void add_element(directions *d, jx_ctx *ctx, int i)
{
    double *at = add(d, jx_arena_printf(ctx->arena, "element %d alone", i));

    if (at)
        at[i] = 1;
}

/* What is fixed does not move. */
static void hold_fixed(directions *d, const jx_span_of *spans, int nspans)
{
    for (int k = 0; k < d->count; k++)
        for (int s = 0; s < nspans; s++)
            for (int i = 0; spans[s].fixed && i < spans[s].count; i++)
                d->at[(size_t)k * (size_t)d->size + (size_t)(spans[s].at + i)] =
                    0;
}

int jx_directions_at_random(jx_rng *rng, const jx_span_of *spans, int nspans,
                            int size, double *to, const char **names)
{
    directions d = {0, size, to, names};

    add_random(&d, rng, 0, size, "random");
    hold_fixed(&d, spans, nspans);
    return d.count;
}

int jx_directions_make(jx_ctx *ctx, jx_rng *rng, const jx_span_of *spans,
                       int nspans, int size, const double *x, int random,
                       double *to, const char **names)
{
    directions d = {0, size, to, names};
    double *ones, *along;

    add_random(&d, rng, 0, size, "random");
    if ((ones = add(&d, "all ones")))
        for (int i = 0; i < size; i++)
            ones[i] = 1;
    for (int s = 0; nspans > 1 && s < nspans && s < 6; s++)
        add_random(&d, rng, spans[s].at, spans[s].count,
                   jx_arena_printf(ctx->arena, "argument %d alone", s));
    add_element(&d, ctx, 0);
    if (size > 1)
        add_element(&d, ctx, size - 1);
    if (size > 2)
        add_element(&d, ctx, (int)(jx_rng_next(rng) % (uint64_t)size));
    if ((along = add(&d, "along the point"))) {
        memcpy(along, x, (size_t)size * sizeof *along);
        normalize(along, size);
        if (along[0] == 0 && size == 1)
            d.count--; /* nothing to move along at zero */
    }
    for (int i = 0; i < random; i++)
        add_random(&d, rng, 0, size, "random");
    hold_fixed(&d, spans, nspans);
    return d.count;
}
