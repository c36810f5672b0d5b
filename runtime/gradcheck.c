/* gradcheck.c - see gradcheck.h.
 *
 * One rule is checked pattern by pattern (a pattern: which tangents are zero).
 * At a point x, a direction d gives a line; the primal is sampled along it and
 * each output component gets a slope with an error bar (ridders.h).
 *
 *     jvp:  the rule's tangent out, component by component, against the slopes
 *     vjp:  <bwd(c), d> against <c, slopes>, for several cotangents c
 *
 * Complex numbers are pairs of reals; JAX's vjp is the transpose without
 * conjugation, so the pairing of complex vectors is Re(sum c v). */
#include "runtime/gradcheck.h"

#include "runtime/gradcall.h"
#include "runtime/gradjudge.h"
#include "runtime/gradsample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CALL_OPERATIONS = 300000,  /* one call may execute (loops count turns) */
    RULE_OPERATIONS = 10000000, /* all calls for one rule, then it is enough */
    COTANGENTS = 4,
    PROGRAM_SAMPLES = 3, /* operands as the program computes them */
};

/* One pattern of one rule under check. */
typedef struct check {
    jx_program *program;
    const jx_gradcheck_options *options;
    const jx_rule *rule;
    const jx_rule_pattern *pattern;
    jx_callee primal, jvp, fwd, bwd;
    jx_space in, out;
    const jx_calling *calling;
    const void *const *fixed; /* operands of which the fixed ones count */
    const void *const *sample; /* operands in the caller's sample, or NULL */
    jx_rng rng;
    double tolerance; /* relative, from the narrowest dtype in the code */
    double *x, *samples, *tangent, *cotangent, *moved, *directions;
    jx_slope *slopes, *again;
    bool cautious; /* only the program's own values can accuse the rule */
    int points;
    int64_t comparisons, work;
    bool stair, wide, spent; /* why comparisons were not conclusive */
    const char *wrong; /* the first disagreement, in words */
    const jx_point *point;
    const char *direction;
} check;

static jx_ctx *ctx_of(const check *c)
{
    return c->program->ctx;
}

/* Runs a callee within what is left for the rule. */
static bool call(check *c, jx_callee *f)
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
static bool is_foreign(const check *c)
{
    return c->cautious &&
           !(c->point->kind == JX_AT_SAMPLE && c->point->scale == 0);
}

/* -- a point's inputs ------------------------------------------------------ */

/* Everything a rule does not differentiate: constants, integers, keys. */
static void fill_passive(check *c)
{
    for (int i = 0; i < c->primal.nins; i++) {
        const jx_port *port = jx_plan_in(c->primal.plan, i);
        int tied = c->calling->ties[i];
        jx_sample_passive(&c->rng, port, c->point,
                          c->sample ? c->sample[i] : NULL, c->primal.in[i]);
        if (c->fixed && c->calling->fixed[i])
            memcpy(c->primal.in[i], c->fixed[i], port->bytes);
        if (tied != i)
            memcpy(c->primal.in[i], c->primal.in[tied], port->bytes);
    }
}

/* -- a line --------------------------------------------------------------- */

static bool sample_line(check *c, const double *d, double first,
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
        if (!call(c, &c->primal))
            return false;
        jx_space_gather(&c->out, &c->primal, 0, c->samples + (size_t)k * (size_t)m);
    }
    jx_space_scatter(&c->in, c->x, &c->primal);
    for (int j = 0; j < m; j++)
        slopes[j] = jx_ridders(c->samples + j, m, first);
    return true;
}

/* The first step along d: a hundredth of what is there to move. */
static double first_step(const check *c, const double *d)
{
    double scale = 0;

    for (int i = 0; i < c->in.size; i++)
        if (d[i] != 0)
            scale = fmax(scale, fabs(c->x[i]));
    return 0.01 * (scale > 0 ? scale : 1);
}

/* -- judging -------------------------------------------------------------- */

/* Where a component of the output stands: "output 1, element 3". */
static const char *component(const check *c, int j)
{
    const jx_space *s = &c->out;
    int i = 0;

    while (i + 1 < s->count && s->spans[i + 1].at <= j)
        i++;
    int element = (j - s->spans[i].at) / (s->spans[i].complex ? 2 : 1);
    return jx_arena_printf(ctx_of(c)->arena, "output %d, element %d",
                           s->port[i], element);
}

static void say_wrong(check *c, const char *what, double value,
                      const jx_target *t)
{
    jx_arena *arena = ctx_of(c)->arena;
    const char *slope =
        t->low == t->high
            ? jx_arena_printf(arena, "%.10g (± %.1g)", t->low, t->error)
            : jx_arena_printf(arena, "between %.6g and %.6g", t->low, t->high);
    const char *at = jx_sample_text(ctx_of(c), c->x, c->in.size);

    c->wrong = jx_arena_printf(
        arena,
        "at %s (%s), direction \"%s\", %s: the rule gives %.10g, "
        "finite differences %s",
        at ? at : "a point", c->point->name, c->direction, what, value, slope);
}

/* Weights of the slopes, or one component. */
typedef struct functional {
    const double *weights; /* NULL: component `only` */
    int only;
} functional;

static jx_target target_of(const check *c, functional f, const jx_slope *slopes)
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

/* A disagreement stands only if no other first step agrees with the rule and
 * at least one disagrees again with the same slope. */
static bool confirmed(check *c, const double *d, functional f, double value,
                      double scale, const jx_target *before)
{
    static const double factors[] = {1. / 32, 8, 1. / 1024};
    int again = 0;

    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        if (!sample_line(c, d, first_step(c, d) * factors[i], c->again))
            return false;
        jx_target t = target_of(c, f, c->again);
        jx_opinion o = jx_judge(value, scale, c->tolerance, &t);
        if (o == JX_AGREE)
            return false;
        double apart = fmax(fabs(t.low - before->low),
                            fabs(t.high - before->high));
        again += o == JX_DISAGREE &&
                 apart <= 10 * (t.error + before->error) +
                              1e-3 * (t.scale + before->scale);
    }
    return again > 0;
}

/* Whether the outputs in question are smooth along a direction that moves
 * everything: where they are not, a NaN is as good as any answer. */
static bool differentiable(check *c, functional f)
{
    const double *d = c->directions; /* the first is random */

    if (!sample_line(c, d, first_step(c, d), c->again))
        return false;
    for (int j = 0; j < c->out.size; j++) {
        bool asked = f.weights ? f.weights[j] != 0 : j == f.only;
        if (asked && (c->again[j].kind != JX_SLOPE_SMOOTH ||
                      !c->again[j].precise))
            return false;
    }
    return true;
}

/* Counts one comparison; false once the rule is known to be wrong. */
static bool compare(check *c, const double *d, functional f, double value,
                    double scale, const char *what)
{
    jx_target t = target_of(c, f, c->slopes);
    jx_opinion o = jx_judge(value, scale, c->tolerance, &t);

    /* Inputs that were drawn may be outside what the program is for. */
    if (o == JX_DISAGREE && isnan(value) &&
        (!differentiable(c, f) || (c->cautious && !c->options->inputs)))
        o = JX_SKIP;
    if (o == JX_DISAGREE && is_foreign(c))
        o = JX_UNCERTAIN;
    c->stair = c->stair || t.stair;
    c->wide = c->wide || o == JX_UNCERTAIN;
    c->comparisons += o == JX_AGREE;
    if (o != JX_DISAGREE)
        return true;
    if (!confirmed(c, d, f, value, scale, &t)) {
        c->wide = true;
        return true;
    }
    say_wrong(c, what ? what : component(c, f.only), value, &t);
    return false;
}

/* -- jvp ------------------------------------------------------------------ */

static void copy_primals(const check *c, jx_callee *to)
{
    for (int i = c->rule->nconsts; i < c->primal.nins; i++)
        memcpy(to->in[i - c->rule->nconsts], c->primal.in[i],
               jx_plan_in(c->primal.plan, i)->bytes);
}

/* Runs the jvp rule along d; the tangents go after the primals, one per input
 * whose tangent is not zero. */
static bool run_jvp(check *c, const double *d, double factor)
{
    int nprimals = c->primal.nins - c->rule->nconsts;

    copy_primals(c, &c->jvp);
    for (int i = 0; i < c->in.count; i++) {
        double *to = c->jvp.in[nprimals + i];
        const jx_span_of *span = &c->in.spans[i];
        for (int k = 0; k < span->count; k++)
            to[k] = factor * d[span->at + k];
    }
    return call(c, &c->jvp);
}

/* The tangents out, zeros where the rule says so. */
static void take_tangents(check *c, double *tangent)
{
    int next = c->rule->nouts;

    for (int i = 0, port = 0; port < c->rule->nouts; port++) {
        bool zero = c->pattern->out_zeros &&
                    c->pattern->out_zeros[port] == '1';
        bool active = i < c->out.count && c->out.port[i] == port;
        if (active) {
            const jx_span_of *span = &c->out.spans[i++];
            size_t bytes = (size_t)span->count * sizeof *tangent;
            if (zero)
                memset(tangent + span->at, 0, bytes);
            else
                memcpy(tangent + span->at, jx_exec_out(c->jvp.exec, next),
                       bytes);
        }
        next += !zero;
    }
}

/* The rule's own primal outputs must be those of the function. */
static bool same_primals(check *c, const jx_callee *rule, int first)
{
    double *y = c->samples, *z = c->samples + c->out.size;

    if (!call(c, &c->primal) || is_foreign(c))
        return true;
    jx_space_gather(&c->out, &c->primal, 0, y);
    jx_space_gather(&c->out, rule, first, z);
    for (int j = 0; j < c->out.size; j++) {
        double slack = 16 * c->tolerance * fabs(y[j]) + 1e-12;
        if (!isfinite(y[j]) || fabs(y[j] - z[j]) <= slack)
            continue;
        c->wrong = jx_arena_printf(
            ctx_of(c)->arena,
            "at %s (%s), %s: the rule returns the value %.10g, the function "
            "%.10g",
            jx_sample_text(ctx_of(c), c->x, c->in.size), c->point->name,
            component(c, j), z[j], y[j]);
        return false;
    }
    return true;
}

static bool check_jvp_line(check *c, const double *d)
{
    /* Twice with different lengths: a tangent map must be linear. */
    static const double factors[] = {1, -2.5};

    for (int k = 0; k < 2; k++) {
        if (!run_jvp(c, d, factors[k]))
            return true;
        take_tangents(c, c->tangent);
        if (k == 0 && !same_primals(c, &c->jvp, 0))
            return false;
        for (int j = 0; j < c->out.size; j++) {
            double value = c->tangent[j] / factors[k];
            if (!compare(c, d, (functional){NULL, j}, value, fabs(value),
                         NULL))
                return false;
        }
    }
    return true;
}

/* -- vjp ------------------------------------------------------------------ */

/* Copies residual `r` to bwd: a forwarded input, or the next output of fwd. */
static void pass_residuals(check *c)
{
    const jx_rule_pattern *p = c->pattern;

    for (int r = 0, next = 0; r < p->nres; r++) {
        size_t bytes = jx_plan_in(c->bwd.plan, r)->bytes;
        const void *from = p->fwds && p->fwds[r] >= 0
                               ? c->primal.in[p->fwds[r]]
                               : jx_exec_out(c->fwd.exec, next++);
        memcpy(c->bwd.in[r], from, bytes);
    }
}

/* Residuals that fwd computes, before its primal outputs. */
static int computed_residuals(const jx_rule_pattern *p)
{
    int n = 0;

    for (int r = 0; r < p->nres; r++)
        n += !(p->fwds && p->fwds[r] >= 0);
    return n;
}

static bool run_bwd(check *c, const double *cotangent, double *pullback)
{
    for (int i = 0; i < c->out.count; i++)
        memcpy(c->bwd.in[c->pattern->nres + i],
               cotangent + c->out.spans[i].at,
               (size_t)c->out.spans[i].count * sizeof *cotangent);
    if (!call(c, &c->bwd))
        return false;
    memset(pullback, 0, (size_t)c->in.size * sizeof *pullback);
    jx_space_add(&c->in, &c->bwd, c->rule->nconsts,
                 c->primal.nins - c->rule->nconsts, c->pattern->ct_zeros,
                 pullback);
    return true;
}

static void fill_cotangent(check *c, int which)
{
    int m = c->out.size;

    for (int j = 0; j < m; j++)
        c->cotangent[j] = which == 0   ? jx_rng_normal(&c->rng)
                          : which == 1 ? 1
                          : which == 2 ? (j == m - 1)
                                       : -2.5 * jx_rng_normal(&c->rng);
}

static bool check_vjp_line(check *c, const double *d)
{
    double *g = c->tangent; /* a vjp check has no other use for it */

    for (int k = 0; k < COTANGENTS; k++) {
        double value = 0, scale = 0;
        fill_cotangent(c, k);
        if (!run_bwd(c, c->cotangent, g))
            return true;
        jx_space_conjugate(&c->in, g);
        jx_space_conjugate(&c->out, c->cotangent);
        for (int i = 0; i < c->in.size; i++) {
            if (d[i] == 0)
                continue; /* keeps 0 * inf out */
            value += g[i] * d[i];
            scale += fabs(g[i] * d[i]);
        }
        if (!compare(c, d, (functional){c->cotangent, 0}, value,
                     isnan(scale) ? 0 : scale, "cotangent times slopes"))
            return false;
    }
    return true;
}

/* -- a point, a pattern, a rule ------------------------------------------- */

static bool prepare_point(check *c)
{
    fill_passive(c);
    jx_point_fill(c->point, &c->rng, c->in.spans, c->in.count, c->x);
    jx_space_scatter(&c->in, c->x, &c->primal);
    if (!call(c, &c->primal))
        return false;
    jx_space_gather(&c->out, &c->primal, 0, c->samples);
    bool finite = c->out.size == 0;
    for (int j = 0; j < c->out.size; j++)
        finite = finite || isfinite(c->samples[j]);
    return finite;
}

static bool prepare_fwd(check *c)
{
    copy_primals(c, &c->fwd);
    if (!call(c, &c->fwd))
        return false;
    pass_residuals(c);
    return true;
}

/* False once the rule is known to be wrong. */
static bool check_point(check *c)
{
    const char *names[JX_MOST_DIRECTIONS];
    int64_t before = c->comparisons;
    int random = c->options->directions ? c->options->directions : 3;

    if (!prepare_point(c))
        return true;
    if (c->rule->vjp) {
        if (!prepare_fwd(c))
            return true;
        if (!same_primals(c, &c->fwd, computed_residuals(c->pattern)))
            return false;
    }
    int count = jx_directions_make(ctx_of(c), &c->rng, c->in.spans,
                                   c->in.count, c->in.size, c->x, random,
                                   c->directions, names);
    for (int k = 0; k < count; k++) {
        const double *d = c->directions + (size_t)k * (size_t)c->in.size;
        c->direction = names[k];
        if (!sample_line(c, d, first_step(c, d), c->slopes))
            return true;
        if (c->rule->vjp ? !check_vjp_line(c, d) : !check_jvp_line(c, d))
            return false;
    }
    c->points += c->comparisons > before;
    return true;
}

static bool allocate(check *c)
{
    size_t n = (size_t)c->in.size, m = (size_t)c->out.size;
    size_t both = (n > m ? n : m) + 2;

    c->x = calloc(both, sizeof *c->x);
    c->samples = calloc((JX_RIDDERS_SAMPLES + 1) * (m + 1), sizeof(double));
    c->tangent = calloc(both, sizeof *c->tangent);
    c->cotangent = calloc(both, sizeof *c->cotangent);
    c->moved = calloc(both, sizeof *c->moved);
    c->directions = calloc(JX_MOST_DIRECTIONS * (n + 1), sizeof(double));
    c->slopes = calloc(m + 1, sizeof *c->slopes);
    c->again = calloc(m + 1, sizeof *c->again);
    return c->x && c->samples && c->tangent && c->cotangent && c->moved &&
           c->directions && c->slopes && c->again;
}

static void release(check *c)
{
    void *all[] = {c->x,        c->samples,    c->tangent, c->cotangent,
                   c->moved,    c->directions, c->slopes,  c->again};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    jx_callee_close(&c->primal);
    jx_callee_close(&c->jvp);
    jx_callee_close(&c->fwd);
    jx_callee_close(&c->bwd);
}

static bool open_callees(check *c, const jx_plan_options *how)
{
    const jx_rule_pattern *p = c->pattern;

    if (!jx_callee_open(&c->primal, c->program, &c->rule->primal, how))
        return false;
    if (!c->rule->vjp)
        return jx_callee_open(&c->jvp, c->program, &p->jvp, how);
    return jx_callee_open(&c->fwd, c->program, &p->fwd, how) &&
           jx_callee_open(&c->bwd, c->program, &p->bwd, how);
}

/* A cotangent of another dtype than its input is wrong for every value. */
static bool cotangent_dtypes(check *c)
{
    int next = 0, ninputs = c->rule->nins - c->rule->nconsts;
    const char *zeros = c->pattern->ct_zeros;

    for (int i = 0; i < ninputs; i++) {
        if (zeros && zeros[i] == '1')
            continue;
        const jx_aval *in = c->rule->ins[c->rule->nconsts + i];
        const jx_aval *out = jx_plan_out(c->bwd.plan, next++)->aval;
        if (!jx_dtype_is_inexact(in->dtype) || in->dtype == out->dtype)
            continue;
        c->wrong = jx_arena_printf(
            ctx_of(c)->arena,
            "the cotangent of input %d has dtype %s, the input has %s", i,
            jx_dtype_of(out->dtype)->short_name,
            jx_dtype_of(in->dtype)->short_name);
        return false;
    }
    return true;
}

/* Shows the spans their part of a sample (NULL: there is none). */
static void attach_sample(check *c, const void *const *sample)
{
    c->sample = sample;
    for (int s = 0; s < c->in.count; s++) {
        jx_span_of *span = &c->in.spans[s];
        int operand = c->in.port[s];
        span->sample = sample ? sample[operand] : NULL;
        span->fixed = c->fixed && c->calling->fixed[operand]
                          ? c->fixed[operand]
                          : NULL;
        /* So many positive numbers are no accident but a domain. */
        span->positive = span->sample && !span->complex && span->count >= 8;
        for (int i = 0; span->positive && i < span->count; i++)
            span->positive = span->sample[i] > 0;
    }
}

/* Points that the program itself can reach: what its own operations before the
 * call make of random inputs. */
static bool check_program_points(check *c, const jx_plan_options *how)
{
    static const jx_point points[PROGRAM_SAMPLES] = {
        {JX_AT_SAMPLE, 0, "as the program computes it"},
        {JX_AT_SAMPLE, 0, "as the program computes it from positive inputs"},
        {JX_AT_SAMPLE, 0, "as the program computes it from small inputs"},
    };

    for (int i = 0; i < PROGRAM_SAMPLES; i++) {
        const void *const *sample =
            jx_sample_program(c->program, c->rule, &c->rng, i, how);
        if (!sample)
            return true;
        attach_sample(c, sample);
        c->point = &points[i];
        if (!check_point(c))
            return false;
    }
    return true;
}

static bool check_points(check *c, const jx_plan_options *how, bool thorough)
{
    const jx_jaxpr *code[] = {c->rule->primal.jaxpr, c->pattern->jvp.jaxpr,
                              c->pattern->fwd.jaxpr, c->pattern->bwd.jaxpr};
    const void *const *given = jx_sample_given(
        c->program, c->rule, c->options->inputs, how);
    int count;

    /* What is fixed has a value that only the program knows; and where operands
     * depend on each other, or the program's own code never makes the call,
     * values drawn one by one may be ones that the rule never meets. */
    if (c->calling->any_fixed)
        c->fixed = jx_sample_program(c->program, c->rule, &c->rng, 0, how);
    c->cautious = c->calling->related || !c->calling->reached ||
                  (c->calling->any_fixed && !c->fixed);
    if (c->cautious && !given && !check_program_points(c, how))
        return false;
    attach_sample(c, given);
    const jx_point *points =
        jx_points_make(c->program, code, 4, given != NULL, &count);
    if (!thorough)
        count = count < 3 ? count : 3;
    for (int i = 0; points && i < count; i++) {
        c->point = &points[i];
        if (!check_point(c))
            return false;
    }
    return true;
}

/* Checks one pattern and joins what it found to the report. */
static void check_pattern(check *c, const jx_plan_options *how, bool thorough,
                          jx_rule_report *report)
{
    jx_arena *arena = ctx_of(c)->arena;

    if (!open_callees(c, how)) {
        report->detail = ctx_of(c)->error.message;
        jx_error_clear(ctx_of(c));
    } else if (!jx_space_of_inputs(&c->in, arena, c->primal.plan,
                                   c->rule->nconsts, c->pattern->zeros,
                                   c->calling->ties) ||
               !jx_space_of_outputs(&c->out, arena, c->primal.plan) ||
               !allocate(c)) {
        report->detail = "its values are too large to sample";
    } else if (!(c->rule->vjp && !cotangent_dtypes(c)) && c->in.size > 0 &&
               c->out.size > 0) {
        check_points(c, how, thorough);
    }
    report->points += c->points;
    report->comparisons += c->comparisons;
    if (c->wrong) {
        report->outcome = JX_RULE_WRONG;
        report->detail = c->wrong;
    } else if (!report->detail && c->comparisons == 0) {
        report->detail =
            c->stair  ? "the function is a staircase: its differences say "
                        "nothing about slopes"
            : c->spent ? "its code runs longer than is tried"
            : c->wide ? "finite differences were too uncertain everywhere"
                      : "the function was not finite at any point tried";
    }
    release(c);
}

static void check_rule(jx_program *program, const jx_gradcheck_options *options,
                       const jx_rule *rule, jx_rule_report *report)
{
    jx_plan_options how = {.domain = JX_WIDE, .memory = options->memory};

    if (!jx_sample_sizes(program, rule, options->nbindings, options->bindings,
                         &how.nbindings, &how.bindings)) {
        report->detail = "no sizes were found that its constraints allow";
        return;
    }
    if (rule->npatterns == 0) {
        report->detail = rule->truncated
                             ? "the document does not hold it (rules inside "
                               "rules are followed to a limit)"
                             : "the document does not hold it";
        return;
    }
    jx_calling calling;
    if (!jx_sample_calling(program, rule, &calling))
        return;
    int refused = 0;
    for (int i = 0; i < rule->npatterns && report->outcome != JX_RULE_WRONG;
         i++) {
        const jx_rule_pattern *p = &rule->patterns[i];
        if (p->error) {
            report->detail = p->error;
            refused++;
            continue;
        }
        check c = {.program = program, .options = options, .rule = rule,
                   .pattern = p, .calling = &calling,
                   .rng = {options->seed + 1},
                   .tolerance = jx_sample_tolerance(rule)};
        check_pattern(&c, &how, i == 0, report);
    }
    if (refused == rule->npatterns)
        report->outcome = JX_RULE_REFUSES;
    else if (report->outcome != JX_RULE_WRONG && report->comparisons > 0)
        report->outcome = JX_RULE_AGREES;
}

static void claim_of(jx_program *program, const jx_rule_report *report,
                     jx_claim_list *claims)
{
    const jx_rule *rule = report->rule;
    jx_ctx *ctx = program->ctx;

    if (report->outcome == JX_RULE_AGREES || report->outcome == JX_RULE_REFUSES)
        return;
    jx_claim *claim = jx_claim_add(
        ctx, claims, rule->vjp ? JX_CODE_DRV002 : JX_CODE_DRV001);
    if (!claim)
        return;
    claim->stack = rule->stack;
    claim->what = jx_arena_printf(
        ctx->arena, "the %s rule of `%s` is not its derivative",
        rule->vjp ? "vjp" : "jvp", rule->name ? rule->name : "a function");
    if (report->outcome == JX_RULE_WRONG) {
        claim->verdict = JX_WITNESSED;
        claim->evidence.by = "finite differences";
        claim->evidence.note = report->detail;
    } else {
        claim->evidence.why = report->detail;
    }
}

bool jx_gradcheck(jx_program *program, const jx_gradcheck_options *options,
                  jx_claim_list *claims, jx_rule_reports *reports)
{
    for (int i = 0; i < program->nrules; i++) {
        jx_rule_report report = {.rule = program->rules[i]};
        /* A rule inside a rule beyond the limit has a twin outside. */
        check_rule(program, options, program->rules[i], &report);
        claim_of(program, &report, claims);
        JX_PUSH(program->ctx->arena, reports, report);
        if (!jx_ok(program->ctx))
            return false;
    }
    return true;
}
