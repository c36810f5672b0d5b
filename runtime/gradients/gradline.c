/* gradline.c - see gradding.h. */
#include "runtime/gradients/gradding.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    CALL_OPERATIONS = 300000,   /* one call may execute (loops count turns) */
    RULE_OPERATIONS = 10000000, /* all calls for one rule, then it is enough */
};

/* Runs a callee within what is left for the rule. */
bool jx_grad_call(jx_gradding *c, jx_callee *f)
{
    if (c->work > RULE_OPERATIONS) {
        c->spent = true;
        return false;
    }
    jx_exec_limit(f->exec, CALL_OPERATIONS);
    bool ok = jx_callee_run(f);
    c->work += jx_exec_operations(f->exec);
    c->spent = c->spent || !ok;
    return ok;
}

/* Whether the rule may never meet the values of this point. */
bool jx_grad_is_foreign(const jx_gradding *c)
{
    return c->cautious &&
           !(c->point->kind == JX_AT_SAMPLE && c->point->scale == 0);
}

/* -- a point's inputs ------------------------------------------------------ */

/* Everything a rule does not differentiate: constants, integers, keys. */
void jx_grad_fill_passive(jx_gradding *c)
{
    for (int i = 0; i < c->primal.nins; i++) {
        const jx_port *port = jx_plan_in(c->primal.plan, i);
        int tied = c->calling->ties[i];
        jx_sample_passive(&c->rng, port, c->point,
                          c->sample ? c->sample->at[i] : NULL, c->primal.in[i]);
        if (c->fixed && c->calling->fixed[i])
            memcpy(c->primal.in[i], c->fixed[i], port->bytes);
        if (tied != i)
            memcpy(c->primal.in[i], c->primal.in[tied], port->bytes);
    }
}

/* -- a line --------------------------------------------------------------- */

bool jx_grad_sample(jx_gradding *c, const double *d, double first,
                    jx_slope *slopes)
{
    double *moved = c->moved;
    int m = c->out.size, n = c->in.size;

    for (int k = 0; k < JX_RIDDERS_SAMPLES; k++) {
        double h = k == 0 ? 0 : jx_ridders_step(first, (k - 1) / 2);
        if (k > 0 && k % 2 == 0)
            h = -h;
        for (int i = 0; i < n; i++)
            moved[i] = c->x[i] + h * d[i];
        jx_space_scatter(&c->in, moved, &c->primal);
        if (!jx_grad_call(c, &c->primal))
            return false;
        jx_space_gather(&c->out, &c->primal, 0,
                        c->samples + (size_t)k * (size_t)m);
    }
    jx_space_scatter(&c->in, c->x, &c->primal);
    for (int j = 0; j < m; j++)
        slopes[j] = jx_ridders(c->samples + j, m, first);
    return true;
}

/* The first step along d: a hundredth of what is there to move. */
double jx_grad_first_step(const jx_gradding *c, const double *d)
{
    double scale = 0;

    for (int i = 0; i < c->in.size; i++)
        if (d[i] != 0)
            scale = fmax(scale, fabs(c->x[i]));
    return 0.01 * (scale > 0 ? scale : 1);
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
        "at %s (%s), direction \"%s\", %s: the rule gives %.10g, "
        "finite differences %s",
        at ? at : "a point", c->point->name, c->direction, what, value, slope);
}

static jx_target target_of(const jx_gradding *c, jx_functional f,
                           const jx_slope *slopes)
{
    jx_target t = {0};

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
        jx_target t = target_of(c, f, c->again);
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

/* Whether some output is not finite at the point: 0 times what is not finite is
 * in every sum of cotangents then. */
static bool outside(const jx_gradding *c)
{
    for (int j = 0; j < c->out.size; j++)
        if (!isfinite(c->samples[j]))
            return true;
    return false;
}

/* Counts one comparison; false once the rule is known to be wrong. */
bool jx_grad_compare(jx_gradding *c, const double *d, jx_functional f,
                     double value, double scale, const char *what)
{
    jx_target t = target_of(c, f, c->slopes);
    jx_opinion o = jx_judge(value, scale, c->tolerance, &t);

    /* Inputs that were drawn may be outside what the program is for. */
    if (o == JX_DISAGREE && isnan(value) &&
        ((f.weights && outside(c)) || !differentiable(c, f) ||
         (c->cautious && !c->options->inputs)))
        o = JX_SKIP;
    c->met = c->met || (o == JX_AGREE && !jx_grad_is_foreign(c));
    if (o == JX_DISAGREE && jx_grad_is_foreign(c)) {
        c->doubted = c->doubted || confirmed(c, d, f, value, scale, &t);
        o = JX_UNCERTAIN;
    }
    c->stair = c->stair || t.stair;
    bool stands =
        o == JX_DISAGREE && confirmed(c, d, f, value, scale, &t) &&
        !jx_grad_is_rounding(c, d, f, fmax(t.low - value, value - t.high));
    bool foreign = jx_grad_is_foreign(c);
    *(foreign ? &c->abroad : &c->comparisons) += o == JX_AGREE;
    *(foreign ? &c->muted : &c->dropped) +=
        o == JX_UNCERTAIN || (o == JX_DISAGREE && !stands);
    if (!stands)
        return true;
    say_wrong(c, what ? what : jx_grad_component(c, f.only), value, &t);
    return false;
}
