/* gradlines.c - see gradding.h.
 *
 * Of a function of few elements a run is mostly the starting of its
 * operations.  The function over an axis more (analyzer/transform/widen.h)
 * takes all samples of a line at once. */
#include "analyzer/transform/widen.h"
#include "analyzer/typing.h"
#include "runtime/fits.h"
#include "runtime/gradients/gradding.h"

#include <math.h>
#include <string.h>

enum {
    /* operations of samples, of which the making of another plan takes part */
    WORTH = 1200,
    FEW_BYTES = 1 << 16, /* of a run's buffers: more keep each operation busy */
    /* times fewer operations than one by one: each is of more elements */
    GAIN = 2,
    STRIKES = 3, /* lines that take more, after which none is tried */
};

/* The inputs that samples differ in have the new axis. */
static const jx_typed *make_lines(const jx_gradding *c)
{
    jx_arena *arena = c->program->ctx->arena;
    bool *has = JX_NEW_ARRAY(arena, c->primal.nins + 1, bool);
    jx_program *wide;

    for (int s = 0; has && s < c->in.count; s++)
        has[c->in.port[s]] = true;
    wide = has && c->in.count && !jx_points_batches(c->rule->primal.jaxpr)
               ? jx_program_widen(c->typed->program, &c->rule->primal,
                                  c->how->nbindings, c->how->bindings, has,
                                  JX_RIDDERS_SAMPLES)
               : NULL;
    return wide ? jx_program_fits(wide, false, 0, NULL) : NULL;
}

static bool has_size(const jx_port *port, size_t bytes, bool moved)
{
    return port->bytes == (moved ? JX_RIDDERS_SAMPLES * bytes : bytes);
}

/* Whether it takes and gives what the function does, and more of it. */
static bool fits(const jx_gradding *c)
{
    const jx_callee *f = &c->line;

    if (f->nins != c->primal.nins || f->nouts != c->primal.nouts)
        return false;
    for (int i = 0, s = 0; i < f->nins; i++) {
        bool moved = s < c->in.count && c->in.port[s] == i;
        if (!has_size(jx_plan_in(f->plan, i),
                      jx_plan_in(c->primal.plan, i)->bytes, moved))
            return false;
        s += moved;
    }
    for (int i = 0; i < f->nouts; i++)
        if (!has_size(jx_plan_out(f->plan, i),
                      jx_plan_out(c->primal.plan, i)->bytes, true))
            return false;
    return true;
}

static void give_up(jx_gradding *c)
{
    jx_callee_close(&c->line);
    c->alone = true;
}

static void open_line(jx_gradding *c)
{
    jx_plan_options how = *c->how;

    how.nbindings = 0; /* they are numbers in it */
    if (!c->lines)
        c->lines = make_lines(c);
    if (!c->lines ||
        !jx_callee_open(&c->line, c->lines, &c->lines->program->entry, &how) ||
        !fits(c))
        give_up(c);
    if (c->program->ctx->error.kind != JX_E_LIMIT)
        jx_error_clear(c->program->ctx);
}

/* Whether it gives what the function gives, at some samples: what is batched by
 * a rule of its own may be batched wrongly. */
static bool is_function(jx_gradding *c, const double *d, const double *steps)
{
    enum { TRIED = 4 };
    const double *y =
        c->samples + (size_t)JX_RIDDERS_SAMPLES * (size_t)c->out.size;
    size_t m = (size_t)c->out.size;

    for (size_t k = 0; k < TRIED; k++) {
        double h = jx_ridders_offset(steps, (int)k);
        for (int i = 0; i < c->in.size; i++)
            c->moved[i] = c->x[i] + h * d[i];
        jx_space_scatter(&c->in, c->moved, &c->primal);
        if (!jx_grad_call(c, &c->primal))
            return false;
        jx_space_gather(&c->out, &c->primal, 0,
                        c->samples + (size_t)JX_RIDDERS_SAMPLES * m);
        for (size_t j = 0; j < m; j++) {
            double off = fabs(y[j] - c->samples[k * m + j]);
            if (isfinite(y[j]) && !(off <= 1e-9 * fmax(fabs(y[j]), 1)))
                return false;
        }
    }
    return true;
}

static void put_samples(jx_gradding *c, const double *d, const double *steps)
{
    for (int i = 0, s = 0; i < c->line.nins; i++) {
        const jx_span_of *span = &c->in.spans[s];
        double *to = c->line.in[i], h;
        if (s == c->in.count || c->in.port[s] != i) {
            memcpy(to, c->primal.in[i], jx_plan_in(c->primal.plan, i)->bytes);
            continue;
        }
        for (int k = 0; k < JX_RIDDERS_SAMPLES; k++, to += span->count) {
            h = jx_ridders_offset(steps, k);
            for (int e = 0; e < span->count; e++)
                to[e] = c->x[span->at + e] + h * d[span->at + e];
        }
        s++;
    }
}

static void take_samples(jx_gradding *c)
{
    size_t m = (size_t)c->out.size;

    for (int s = 0; s < c->out.count; s++) {
        const jx_span_of *span = &c->out.spans[s];
        const double *from = jx_exec_out(c->line.exec, c->out.port[s]);
        for (size_t k = 0; k < JX_RIDDERS_SAMPLES; k++, from += span->count)
            memcpy(c->samples + k * m + span->at, from,
                   (size_t)span->count * sizeof *from);
    }
}

bool jx_grad_run_line(jx_gradding *c, const double *d, const double *steps)
{
    int64_t one_by_one = JX_RIDDERS_SAMPLES * (c->call_work + 1);

    /* A loop over an axis more chooses which rows go on: none does where
     * all have ended. */
    if (c->alone || jx_plan_memory(c->primal.plan) > FEW_BYTES ||
        (c->turns && c->turns->times > 0))
        return false;
    c->sampling += one_by_one;
    if (!c->line.plan && c->sampling > WORTH)
        open_line(c);
    if (!c->line.plan || jx_grad_is_spent(c))
        return false;
    put_samples(c, d, steps);
    jx_exec_limit(c->line.exec, one_by_one / GAIN);
    if (c->noise)
        c->noise->seed++;
    if (!jx_callee_run(&c->line)) {
        /* All ways of all samples are gone, as often as any
         * sample goes them. */
        if (++c->strikes == STRIKES)
            give_up(c);
        return false;
    }
    take_samples(c);
    if (!c->tried && !is_function(c, d, steps)) {
        give_up(c);
        return false;
    }
    c->tried = true;
    c->work += one_by_one; /* which is what its points are counted by */
    return true;
}
