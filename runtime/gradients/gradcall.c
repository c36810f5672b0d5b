/* gradcall.c - see gradcall.h. */
#include "runtime/gradients/gradcall.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void jx_callee_close(jx_callee *f)
{
    for (int i = 0; f->in && i < f->nins; i++)
        free(f->in[i]);
    free(f->in);
    jx_exec_free(f->exec);
    jx_plan_free(f->plan);
    *f = (jx_callee){0};
}

bool jx_callee_open_bare(jx_callee *f, const jx_typed *typed,
                         const jx_closed *closed, const jx_plan_options *how)
{
    *f = (jx_callee){.plan = jx_plan_make(typed, closed, how)};
    f->exec = f->plan ? jx_exec_new(f->plan) : NULL;
    if (!f->exec) {
        jx_callee_close(f);
        return false;
    }
    f->nins = jx_plan_nins(f->plan);
    f->nouts = jx_plan_nouts(f->plan);
    return true;
}

bool jx_callee_open(jx_callee *f, const jx_typed *typed,
                    const jx_closed *closed, const jx_plan_options *how)
{
    if (!jx_callee_open_bare(f, typed, closed, how))
        return false;
    f->in = calloc((size_t)f->nins + 1, sizeof *f->in);
    for (int i = 0; f->in && i < f->nins; i++) {
        f->in[i] = calloc(1, jx_plan_in(f->plan, i)->bytes + 16);
        if (!f->in[i])
            break;
    }
    return (f->in && (f->nins == 0 || f->in[f->nins - 1])) ||
           jx_starved(typed->program->ctx);
}

bool jx_callee_run(jx_callee *f)
{
    return jx_exec_run(f->exec, (const void *const *)f->in, NULL);
}

bool jx_callee_gives_numbers(const jx_callee *f)
{
    for (int i = 0; i < f->nouts; i++) {
        const jx_port *port = jx_plan_out(f->plan, i);
        const double *at = jx_exec_out(f->exec, i);
        size_t count =
            jx_dtype_is_inexact(port->dtype) ? port->bytes / sizeof *at : 0;
        for (size_t k = 0; k < count; k++)
            if (!isfinite(at[k]))
                return false;
    }
    return true;
}

static bool is_active(const jx_port *port)
{
    return jx_dtype_is_inexact(port->aval->dtype);
}

static bool add_span(jx_space *to, const jx_port *port, int number, int tied)
{
    bool complex = port->dtype == JX_C128;
    int64_t count = port->count * (complex ? 2 : 1);

    if (count > JX_MOST_ELEMENTS - to->size)
        return false;
    to->port[to->count] = number;
    to->spans[to->count++] =
        (jx_span_of){.at = tied >= 0 ? tied : to->size,
                     .count = (int)count,
                     .tied = tied >= 0,
                     .complex = complex,
                     .largest = jx_largest_finite(port->aval->dtype),
                     .rank = port->rank,
                     .shape = port->shape};
    if (tied < 0)
        to->size += (int)count;
    return true;
}

static bool space_start(jx_space *to, jx_arena *arena, int most)
{
    *to = (jx_space){.port = JX_NEW_ARRAY(arena, most + 1, int),
                     .spans = JX_NEW_ARRAY(arena, most + 1, jx_span_of)};
    return to->port && to->spans;
}

bool jx_space_of_outputs(jx_space *to, jx_arena *arena, const jx_plan *plan)
{
    bool good = space_start(to, arena, jx_plan_nouts(plan));

    for (int i = 0; good && i < jx_plan_nouts(plan); i++)
        if (is_active(jx_plan_out(plan, i)))
            good = add_span(to, jx_plan_out(plan, i), i, -1);
    return good;
}

/* Where the input that this one is tied to lies, or -1. */
static int place_of(const jx_space *s, int number)
{
    for (int i = 0; i < s->count; i++)
        if (s->port[i] == number)
            return s->spans[i].at;
    return -1;
}

bool jx_space_of_inputs(jx_space *to, jx_arena *arena, const jx_plan *plan,
                        int first, const char *zeros, const int *ties)
{
    bool good = space_start(to, arena, jx_plan_nins(plan));

    for (int i = first; good && i < jx_plan_nins(plan); i++) {
        const jx_port *port = jx_plan_in(plan, i);
        if (!is_active(port) || (zeros && zeros[i - first] == '1'))
            continue;
        int tied = ties && ties[i] != i ? place_of(to, ties[i]) : -1;
        good = add_span(to, port, i, tied);
    }
    return good;
}

void jx_space_scatter(const jx_space *s, const double *x, jx_callee *to)
{
    for (int i = 0; i < s->count; i++)
        memcpy(to->in[s->port[i]], x + s->spans[i].at,
               (size_t)s->spans[i].count * sizeof *x);
}

void jx_space_gather(const jx_space *s, const jx_callee *from, int shift,
                     double *y)
{
    for (int i = 0; i < s->count; i++)
        memcpy(y + s->spans[i].at, jx_exec_out(from->exec, s->port[i] + shift),
               (size_t)s->spans[i].count * sizeof *y);
}

void jx_space_add(const jx_space *s, const jx_callee *from, int first,
                  int count, const char *zeros, double *y)
{
    int next = 0;

    for (int i = 0, span = 0; i < count; i++) {
        bool zero = zeros && zeros[i] == '1';
        bool active = span < s->count && s->port[span] == first + i;
        const double *part =
            active && !zero ? jx_exec_out(from->exec, next) : NULL;
        for (int k = 0; part && k < s->spans[span].count; k++)
            y[s->spans[span].at + k] += part[k];
        span += active;
        next += !zero;
    }
}

void jx_space_conjugate(const jx_space *s, double *v)
{
    for (int i = 0; i < s->count; i++)
        /* A tied input shares the place of one that was done. */
        for (int k = 1;
             s->spans[i].complex && !s->spans[i].tied && k < s->spans[i].count;
             k += 2)
            v[s->spans[i].at + k] = -v[s->spans[i].at + k];
}

void jx_space_symmetric(const jx_space *s, double *v)
{
    for (int i = 0; i < s->count; i++) {
        const jx_span_of *span = &s->spans[i];
        int64_t n = span->rank >= 2 ? span->shape[span->rank - 1] : 0;
        if (span->complex || span->tied || n < 2 ||
            span->shape[span->rank - 2] != n)
            continue;
        for (double *m = v + span->at; m < v + span->at + span->count;
             m += n * n)
            for (int64_t r = 0; r < n; r++)
                for (int64_t k = 0; k < r; k++)
                    m[r * n + k] = m[k * n + r] =
                        (m[r * n + k] + m[k * n + r]) / 2;
    }
}
