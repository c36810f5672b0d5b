/* gradcall.c - see gradcall.h. */
#include "runtime/gradcall.h"

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

bool jx_callee_open(jx_callee *f, const jx_program *program,
                        const jx_closed *closed, const jx_plan_options *how)
{
    *f = (jx_callee){.plan = jx_plan_make(program, closed, how)};
    f->exec = f->plan ? jx_exec_new(f->plan) : NULL;
    if (!f->exec) {
        jx_callee_close(f);
        return false;
    }
    f->nins = jx_plan_nins(f->plan);
    f->nouts = jx_plan_nouts(f->plan);
    f->in = calloc((size_t)f->nins + 1, sizeof *f->in);
    for (int i = 0; f->in && i < f->nins; i++) {
        f->in[i] = calloc(1, jx_plan_in(f->plan, i)->bytes + 16);
        if (!f->in[i])
            break;
    }
    return f->in && (f->nins == 0 || f->in[f->nins - 1]);
}

bool jx_callee_run(jx_callee *f)
{
    return jx_exec_run(f->exec, (const void *const *)f->in, NULL);
}

static bool is_active(const jx_port *port)
{
    return jx_dtype_is_inexact(port->aval->dtype);
}

bool jx_space_make(jx_space *to, jx_arena *arena, const jx_plan *plan,
                       bool of_outputs, int first, const char *zeros)
{
    int n = of_outputs ? jx_plan_nouts(plan) : jx_plan_nins(plan);
    int64_t size = 0;

    *to = (jx_space){.port = JX_NEW_ARRAY(arena, n + 1, int),
                  .spans = JX_NEW_ARRAY(arena, n + 1, jx_span_of)};
    if (!to->port || !to->spans)
        return false;
    for (int i = first; i < n; i++) {
        const jx_port *port =
            of_outputs ? jx_plan_out(plan, i) : jx_plan_in(plan, i);
        bool complex = port->dtype == JX_C128;
        if (!is_active(port) || (zeros && zeros[i - first] == '1'))
            continue;
        int64_t count = port->count * (complex ? 2 : 1);
        if (count > JX_MOST_ELEMENTS - size)
            return false;
        to->port[to->count] = i;
        to->spans[to->count++] =
            (jx_span_of){.at = (int)size, .count = (int)count,
                         .complex = complex, .rank = port->rank,
                         .shape = port->shape};
        size += count;
    }
    to->size = (int)size;
    return true;
}

void jx_space_scatter(const jx_space *s, const double *x, jx_callee *to)
{
    for (int i = 0; i < s->count; i++)
        memcpy(to->in[s->port[i]], x + s->spans[i].at,
               (size_t)s->spans[i].count * sizeof *x);
}

void jx_space_gather(const jx_space *s, const jx_callee *from, int shift, double *y)
{
    for (int i = 0; i < s->count; i++)
        memcpy(y + s->spans[i].at,
               jx_exec_out(from->exec, s->port[i] + shift),
               (size_t)s->spans[i].count * sizeof *y);
}

void jx_space_conjugate(const jx_space *s, double *v)
{
    for (int i = 0; i < s->count; i++)
        for (int k = 1; s->spans[i].complex && k < s->spans[i].count; k += 2)
            v[s->spans[i].at + k] = -v[s->spans[i].at + k];
}
