/* gradline.c - see gradding.h. */
#include "frontend/ir/element.h"
#include "runtime/gradients/gradding.h"

#include <math.h>
#include <string.h>

enum {
    SLOPE_OPERATIONS = 500, /* that a slope costs, of a program with many */
    SLOPE_OF_RULE = 100,    /* and of a rule, of which more are tried ... */
    /* ... unless each is a point of its own, which are tried once */
    SLOPE_OF_ELEMENT = 200,
};

/* Whether the rule may never meet the values of this point. */
bool jx_grad_is_foreign(const jx_gradding *c)
{
    return c->cautious &&
           !(c->point->kind == JX_AT_SAMPLE && c->point->scale == 0);
}

/* -- a point's inputs ------------------------------------------------------ */

/* Whether an operand gets its values from the point, and no other gets them
 * from it. */
static bool is_of_point(const jx_gradding *c, int operand)
{
    bool is = false;

    for (int s = 0; s < c->in.count && !is; s++)
        is = c->in.port[s] == operand;
    for (int i = 0; i < c->primal.nins && is; i++)
        is = i == operand || c->calling->ties[i] != operand;
    return is;
}

/* Everything a rule does not differentiate: constants, integers, keys. */
void jx_grad_fill_passive(jx_gradding *c)
{
    for (int i = 0; i < c->primal.nins; i++) {
        const jx_port *port = jx_plan_in(c->primal.plan, i);
        int tied = c->calling->ties[i];
        if (!c->sample && is_of_point(c, i)) {
            /* what is drawn later is the same, whatever moves */
            jx_rng_skip(&c->rng, jx_sample_draws(port));
            continue;
        }
        jx_sample_passive(&c->rng, port, c->point,
                          c->sample ? c->sample->at[i] : NULL, c->primal.in[i]);
        if (c->fixed && c->calling->fixed[i])
            memcpy(c->primal.in[i], c->fixed[i], port->bytes);
        if (tied != i)
            memcpy(c->primal.in[i], c->primal.in[tied], port->bytes);
    }
    if (c->single) {
        const int i = c->single->operand;
        const jx_dtype dtype = jx_plan_in(c->primal.plan, i)->dtype;
        jx_element_from_integer(dtype, (uint64_t)c->single->value,
                                (char *)c->primal.in[i] +
                                    (size_t)c->single->element *
                                        jx_dtype_of(dtype)->bytes);
    }
}

/* -- a line --------------------------------------------------------------- */

/* A complex number of which one part is not finite has no derivative. */
static void join_parts(const jx_gradding *c, jx_slope *slopes)
{
    for (int s = 0; s < c->out.count; s++) {
        const jx_span_of *span = &c->out.spans[s];
        for (int j = span->at; span->complex && j < span->at + span->count;
             j += 2)
            if (slopes[j].kind == JX_SLOPE_UNDEFINED)
                slopes[j + 1].kind = JX_SLOPE_UNDEFINED;
            else if (slopes[j + 1].kind == JX_SLOPE_UNDEFINED)
                slopes[j].kind = JX_SLOPE_UNDEFINED;
    }
}

/* The samples one by one. */
static bool run_samples(jx_gradding *c, const double *d, const double *steps)
{
    double *moved = c->moved;
    int m = c->out.size, n = c->in.size;

    for (int k = 0; k < JX_RIDDERS_SAMPLES; k++) {
        double h = jx_ridders_offset(steps, k);
        for (int i = 0; i < n; i++)
            moved[i] = c->x[i] + h * d[i];
        jx_space_scatter(&c->in, moved, &c->primal);
        if (!jx_grad_call_beside(c))
            return false;
        jx_space_gather(&c->out, &c->primal, 0,
                        c->samples + (size_t)k * (size_t)m);
    }
    return true;
}

bool jx_grad_sample(jx_gradding *c, const double *d, double first,
                    jx_slope *slopes)
{
    int m = c->out.size, n = jx_grad_nlooked(c);
    double steps[JX_RIDDERS_STEPS];

    jx_ridders_steps(first, steps);
    if (!jx_grad_run_line(c, d, steps) && !run_samples(c, d, steps))
        return false;
    jx_space_scatter(&c->in, c->x, &c->primal);
    for (int j = 0; n < m && j < m; j++)
        slopes[j] = (jx_slope){.kind = JX_SLOPE_UNDEFINED, .error = INFINITY};
    jx_ridders(c->samples, m, c->nlooked ? c->looked : NULL, n, steps, c->grain,
               slopes);
    join_parts(c, slopes);
    if (c->most_work)
        c->work += (int64_t)n * SLOPE_OPERATIONS;
    else
        c->asked +=
            (int64_t)n * (c->pointwise ? SLOPE_OF_ELEMENT : SLOPE_OF_RULE);
    return true;
}

/* The first step along d: a hundredth of what is there to move. */
double jx_grad_first_step(const jx_gradding *c, const double *d)
{
    double scale = 0;

    for (int i = 0; i < c->in.size; i++)
        if (d[i] != 0)
            scale = fmax(scale, fabs(c->x[i]));
    scale = 0.01 * (scale > 0 ? scale : 1);
    return c->room > 0 && c->room < scale ? c->room : scale;
}

static bool is_beyond(const jx_gradding *c, const jx_span_of *span, int j)
{
    /* A series that is summed where it does not converge gives finite junk. */
    double largest = c->loops ? sqrt(span->largest) : span->largest;

    return fabs(c->samples[j]) > largest || fabs(c->slopes[j].value) > largest;
}

bool jx_grad_is_beyond(const jx_gradding *c, jx_functional f)
{
    for (int s = 0; s < c->out.count; s++) {
        const jx_span_of *span = &c->out.spans[s];
        int end = span->at + span->count;
        if (!f.weights && f.only >= span->at && f.only < end)
            return is_beyond(c, span, f.only);
        for (int j = span->at; f.weights && j < end; j++)
            if (f.weights[j] != 0 && is_beyond(c, span, j))
                return true;
    }
    return false;
}

/* -- judging -------------------------------------------------------------- */

/* Where a component of the output stands: "output 1, element 3". */
const char *jx_grad_component(const jx_gradding *c, int j)
{
    const jx_space *s = &c->out;
    int i = 0;

    while (i + 1 < s->count && s->spans[i + 1].at <= j)
        i++;
    int element = (j - s->spans[i].at) / (s->spans[i].complex ? 2 : 1);
    return jx_arena_printf(c->program->ctx->arena, "output %d, element %d",
                           s->port[i], element);
}
