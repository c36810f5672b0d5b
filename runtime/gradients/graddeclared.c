/* graddeclared.c - see gradding.h: a rule in the dtypes that are declared.
 *
 * What is right over the reals may overflow, or lose its digits, where it
 * runs.  Rule and function run in both domains at the same points; where the
 * function and the derivative are numbers that the dtype has, so must be what
 * the rule gives. */
#include "runtime/elementwise.h"
#include "runtime/gradients/gradding.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct declared {
    jx_gradding *c;
    jx_callee primal, jvp, fwd, bwd, own;
    double largest; /* of what the rule gave anywhere */
    double *room;   /* for the numbers of an output */
} declared;

static double most_of(jx_dtype dtype)
{
    return dtype == JX_F16                       ? 65504
           : dtype == JX_F64 || dtype == JX_C128 ? DBL_MAX
                                                 : 3e38;
}

static bool open_declared(declared *s)
{
    const jx_gradding *c = s->c;
    const jx_rule_pattern *p = c->pattern;
    jx_plan_options how = *c->how;

    how.domain = JX_DECLARED;
    bool good =
        jx_callee_open(&s->primal, c->typed, &c->rule->primal, &how) &&
        (c->rule->vjp ? jx_callee_open(&s->fwd, c->typed, &p->fwd, &how) &&
                            jx_callee_open(&s->bwd, c->typed, &p->bwd, &how)
                      : jx_callee_open(&s->jvp, c->typed, &p->jvp, &how));
    if (good && c->own.plan && !c->rule->vjp)
        good = jx_callee_open(&s->own, c->typed, c->derivative, &how);
    if (!good && c->program->ctx->error.kind != JX_E_LIMIT)
        jx_error_clear(c->program->ctx);
    return good;
}

static void close_declared(declared *s)
{
    jx_callee *all[] = {&s->primal, &s->jvp, &s->fwd, &s->bwd, &s->own};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        jx_callee_close(all[i]);
    free(s->room);
}

static jx_dtype wide(jx_dtype dtype)
{
    return jx_dtype_is_complex(dtype) ? JX_C128 : JX_F64;
}

/* The operands of the function, in the declared dtypes. */
static void take_operands(declared *s)
{
    const jx_gradding *c = s->c;

    for (int i = 0; i < c->primal.nins; i++) {
        const jx_port *port = jx_plan_in(s->primal.plan, i);
        if (jx_dtype_is_inexact(port->dtype))
            jx_convert(wide(port->dtype), port->dtype, c->primal.in[i],
                       s->primal.in[i], port->count);
        else
            memcpy(s->primal.in[i], c->primal.in[i], port->bytes);
    }
}

/* The same, and what moves is rounded in the wide domain, too. */
static void round_operands(declared *s)
{
    jx_gradding *c = s->c;

    take_operands(s);
    for (int k = 0; k < c->in.count; k++) {
        int i = c->in.port[k];
        const jx_port *port = jx_plan_in(s->primal.plan, i);
        jx_convert(port->dtype, wide(port->dtype), s->primal.in[i],
                   c->primal.in[i], port->count);
        memcpy(c->x + c->in.spans[k].at, c->primal.in[i],
               (size_t)c->in.spans[k].count * sizeof *c->x);
    }
}

/* Whether a result in its declared dtype is another than in the wide domain, by
 * a part of the largest of its array; *finite: a number even so. */
static bool is_other(const jx_gradding *c, const jx_callee *f, int span,
                     const bool *asked, const double *expected, bool *finite)
{
    const jx_span_of *s = &c->out.spans[span];
    const jx_port *port = jx_plan_out(f->plan, c->out.port[span]);
    double *got = jx_grad_room(c, (size_t)s->count + 2, sizeof *got), size = 0;
    bool other = false;

    if (!got)
        return false;
    jx_convert(port->dtype, wide(port->dtype),
               jx_exec_out(f->exec, c->out.port[span]), got, port->count);
    for (int k = 0; k < s->count; k++)
        size = fmax(size, fabs(expected[s->at + k]));
    for (int k = 0; k < s->count; k++)
        if (asked[s->at + k] &&
            !(fabs(got[k] - expected[s->at + k]) <= size / 10)) {
            other = true;
            *finite = *finite && isfinite(got[k]);
        }
    free(got);
    return other;
}

/* Runs the function in both domains. */
static bool has_others(jx_gradding *c, jx_functional f)
{
    declared s = {.c = c};
    jx_plan_options how = *c->how;
    size_t m = (size_t)c->out.size;
    bool *asked = jx_grad_room(c, m + 1, sizeof *asked), lost = false,
         finite = true;
    double *here = jx_grad_room(c, (size_t)c->in.size + 1, sizeof *here);

    how.domain = JX_DECLARED;
    how.turns = NULL;
    for (size_t j = 0; asked && j < m; j++)
        asked[j] = f.weights ? f.weights[j] != 0 : (int)j == f.only;
    if (asked && here && !c->limit.in &&
        jx_callee_open(&s.primal, c->typed, &c->rule->primal, &how)) {
        memcpy(here, c->x, (size_t)c->in.size * sizeof *here);
        jx_space_scatter(&c->in, c->x, &c->primal);
        round_operands(&s);
        if (jx_grad_call(c, &c->primal) && jx_grad_call(c, &s.primal)) {
            jx_space_gather(&c->out, &c->primal, 0, c->samples);
            for (int k = 0; k < c->out.count; k++)
                lost = is_other(c, &s.primal, k, asked, c->samples, &finite) ||
                       lost;
            c->others += lost && finite;
        }
        memcpy(c->x, here, (size_t)c->in.size * sizeof *here);
        jx_space_scatter(&c->in, c->x, &c->primal);
    } else if (c->program->ctx->error.kind != JX_E_LIMIT) {
        jx_error_clear(c->program->ctx);
    }
    close_declared(&s);
    free(here);
    free(asked);
    return lost;
}

bool jx_grad_is_lost(jx_gradding *c, jx_functional f)
{
    int *last = &c->lost[f.weights ? c->out.size : f.only];

    if (*last != c->visit && has_others(c, f))
        *last = c->visit;
    return *last == c->visit;
}

/* Element `k` (a part of a complex number counts) of an output, of
 * either domain. */
static double element_of(const jx_callee *f, int out, int64_t k)
{
    const jx_port *port = jx_plan_out(f->plan, out);
    bool complex = jx_dtype_is_complex(port->dtype);
    const char *at = jx_exec_out(f->exec, out);
    double value[2];

    jx_convert(port->dtype, wide(port->dtype),
               at + (size_t)(complex ? k / 2 : k) *
                        jx_dtype_of(port->dtype)->bytes,
               value, 1);
    return value[complex ? k % 2 : 0];
}

/* Gives the own derivative the operands, and a tangent for each inexact one
 * that is not closed over. */
static bool take_tangents(declared *s, const double *d)
{
    const jx_gradding *c = s->c;
    int n = s->primal.nins, next = n, span = 0;

    for (int i = 0; i < n; i++) {
        const jx_port *port = jx_plan_in(s->primal.plan, i);
        bool moves = span < c->in.count && c->in.port[span] == i;
        memcpy(s->own.in[i], s->primal.in[i], port->bytes);
        if (i < c->rule->nconsts || !jx_dtype_is_inexact(port->dtype))
            continue;
        if (next == s->own.nins ||
            jx_plan_in(s->own.plan, next)->bytes != port->bytes)
            return false;
        memset(s->own.in[next], 0, port->bytes);
        if (moves)
            jx_convert(wide(port->dtype), port->dtype, d + c->in.spans[span].at,
                       s->own.in[next], port->count);
        span += moves;
        next++;
    }
    return next == s->own.nins;
}

/* What it gives in the place of the functional; *scale sums magnitudes. */
static double own_gives(const declared *s, jx_functional f, double *scale)
{
    const jx_gradding *c = s->c;
    double sum = 0;

    *scale = 0;
    for (int k = 0; k < c->out.count; k++)
        for (int i = 0; i < c->out.spans[k].count; i++) {
            int j = c->out.spans[k].at + i;
            double weight = f.weights ? f.weights[j] : j == f.only;
            double term =
                weight == 0
                    ? 0
                    : weight * element_of(&s->own, s->primal.nouts + k, i);
            sum += term;
            *scale += fabs(term);
        }
    return sum;
}

bool jx_grad_is_own_declared(jx_gradding *c, const double *d, jx_functional f,
                             double value)
{
    declared s = {.c = c};
    jx_plan_options how = *c->how;
    double scale;
    bool is = false;

    how.domain = JX_DECLARED;
    how.turns = NULL;
    if (c->derivative &&
        jx_callee_open(&s.primal, c->typed, &c->rule->primal, &how) &&
        jx_callee_open(&s.own, c->typed, c->derivative, &how)) {
        take_operands(&s);
        is = s.own.nouts == s.primal.nouts + c->out.count &&
             take_tangents(&s, d) && jx_grad_call(c, &s.own) &&
             fabs(own_gives(&s, f, &scale) - value) <=
                 16 * jx_grad_unit(c) * (scale + fabs(value));
    } else if (c->program->ctx->error.kind != JX_E_LIMIT) {
        jx_error_clear(c->program->ctx);
    }
    close_declared(&s);
    return is;
}

static void fill_ones(const jx_port *port, void *to)
{
    const double wide_one[2] = {1, 0};
    size_t bytes = jx_dtype_of(port->dtype)->bytes;
    char one[2 * sizeof(double)];

    jx_convert(wide(port->dtype), port->dtype, wide_one, one, 1);
    for (int64_t i = 0; i < port->count; i++)
        memcpy((char *)to + (size_t)i * bytes, one, bytes);
}

/* A callee that takes the operands behind the constants, then ones. */
static bool run_with_ones(declared *s, jx_callee *f, int first)
{
    int n = s->primal.nins - first;

    for (int i = 0; i < f->nins; i++)
        if (i < n)
            memcpy(f->in[i], s->primal.in[first + i],
                   jx_plan_in(f->plan, i)->bytes);
        else
            fill_ones(jx_plan_in(f->plan, i), f->in[i]);
    return jx_callee_run(f);
}

static bool run_declared(declared *s)
{
    const jx_gradding *c = s->c;
    const jx_rule_pattern *p = c->pattern;

    if (!jx_callee_run(&s->primal))
        return false;
    if (!c->rule->vjp)
        return run_with_ones(s, &s->jvp, c->rule->nconsts) &&
               (!s->own.plan || run_with_ones(s, &s->own, 0));
    if (!run_with_ones(s, &s->fwd, c->rule->nconsts))
        return false;
    for (int i = 0, next = 0; i < s->bwd.nins; i++) {
        const jx_port *port = jx_plan_in(s->bwd.plan, i);
        bool input = i < p->nres && p->fwds && p->fwds[i] >= 0;
        if (i >= p->nres)
            fill_ones(port, s->bwd.in[i]);
        else
            memcpy(s->bwd.in[i],
                   input ? s->primal.in[p->fwds[i]]
                         : jx_exec_out(s->fwd.exec, next++),
                   port->bytes);
    }
    return jx_callee_run(&s->bwd);
}

static bool run_wide(jx_gradding *c)
{
    double *d = c->directions, value, scale;

    for (int i = 0; i < c->in.size; i++)
        d[i] = 1;
    for (int k = 0; k < c->in.count; k++) /* a complex one is 1 + 0i */
        for (int i = 1; c->in.spans[k].complex && i < c->in.spans[k].count;
             i += 2)
            d[c->in.spans[k].at + i] = 0;
    for (int j = 0; j < c->out.size; j++)
        c->cotangent[j] = 1;
    for (int k = 0; k < c->out.count; k++)
        for (int i = 1; c->out.spans[k].complex && i < c->out.spans[k].count;
             i += 2)
            c->cotangent[c->out.spans[k].at + i] = 0;
    jx_grad_own_along(c, d);
    return jx_grad_call(c, &c->primal) &&
           (c->rule->vjp
                ? jx_grad_prepare_fwd(c) &&
                      jx_grad_pulled_back(c, c->cotangent, d, &value, &scale)
                : jx_grad_run_jvp(c, d, 1));
}

static int64_t elements(const jx_port *port)
{
    return jx_dtype_is_inexact(port->dtype)
               ? port->count * (jx_dtype_is_complex(port->dtype) ? 2 : 1)
               : 0;
}

/* The largest of the outputs of all that run in declared dtypes. */
static bool make_room(declared *s)
{
    const jx_callee *all[] = {&s->primal, &s->jvp, &s->bwd};
    int64_t most = 0;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int o = 0; o < all[i]->nouts; o++) {
            int64_t count = elements(jx_plan_out(all[i]->plan, o));
            most = count > most ? count : most;
        }
    s->room = jx_grad_room(s->c, (size_t)most + 1, sizeof *s->room);
    return s->room != NULL;
}

/* An output that has elements, until the next one in a declared dtype is asked
 * for: parts of complex numbers count. */
static const double *numbers_of(const declared *s, const jx_callee *f, int out)
{
    const jx_port *port = jx_plan_out(f->plan, out);
    const void *at = jx_exec_out(f->exec, out);

    if (port->dtype == wide(port->dtype))
        return at;
    jx_convert(port->dtype, wide(port->dtype), at, s->room, port->count);
    return s->room;
}

/* Whether the function's values are numbers that its dtypes have; *overflows:
 * it does not come to them in these dtypes. */
static bool has_values(const declared *s, bool *overflows)
{
    *overflows = false;
    for (int o = 0; o < s->primal.nouts; o++) {
        const jx_port *port = jx_plan_out(s->primal.plan, o);
        int64_t count = elements(port);
        const double *right = count ? numbers_of(s, &s->c->primal, o) : NULL,
                     *given = count ? numbers_of(s, &s->primal, o) : NULL;
        for (int64_t k = 0; k < count; k++) {
            if (!(fabs(right[k]) <= most_of(port->dtype) / 2))
                return false;
            *overflows = *overflows || !isfinite(given[k]);
        }
    }
    return true;
}

/* Whether the own derivative has most of its digits there, in the
 * declared dtypes. */
static bool own_is_good(const declared *s, int out, int64_t k, double value)
{
    return s->own.plan && s->c->has_along && out < s->own.nouts &&
           fabs(element_of(&s->own, out, k) - value) <= 0.005 * fabs(value);
}

/* Looks at what the rule gave in both domains; false: it is told. */
static bool look_at(declared *s)
{
    jx_gradding *c = s->c;
    const jx_callee *ours = c->rule->vjp ? &s->bwd : &s->jvp;
    const jx_callee *there = c->rule->vjp ? &c->bwd : &c->jvp;
    bool overflows,
        masked = c->pattern->out_zeros && strchr(c->pattern->out_zeros, '1');

    if (!has_values(s, &overflows))
        return true;
    for (int o = c->rule->vjp ? 0 : c->rule->nouts; o < ours->nouts; o++) {
        const jx_port *port = jx_plan_out(ours->plan, o);
        int64_t count = elements(port);
        const double *wanted = count ? numbers_of(s, there, o) : NULL,
                     *got = count ? numbers_of(s, ours, o) : NULL;
        for (int64_t k = 0; k < count; k++) {
            double right = wanted[k], given = got[k];
            if (!(fabs(right) <= most_of(port->dtype) / 2))
                continue;
            s->largest = fmax(s->largest, fabs(right));
            bool lost = !overflows && !masked && isfinite(given) &&
                        fabs(given - right) > 0.05 * fabs(right) &&
                        fabs(right) > 0.01 * s->largest && !c->rule->vjp &&
                        own_is_good(s, o, k, right);
            bool unfinite = overflows ? isnan(given) : !isfinite(given);
            if (!lost && !unfinite)
                continue;
            c->undeclared = jx_arena_printf(
                c->program->ctx->arena,
                "at %s, the rule gives %.6g in %s, where the derivative is "
                "%.6g%s",
                jx_sample_text(c->program->ctx, c->x, c->in.size), given,
                jx_dtype_of(port->dtype)->short_name, right,
                overflows ? " (the function overflows there, too)" : "");
            return false;
        }
    }
    return true;
}

void jx_grad_declared(jx_gradding *c)
{
    static const jx_point points[] = {
        {JX_AT_NORMAL, 1, "normal"},   {JX_AT_EQUAL, 1, "all ones"},
        {JX_AT_EQUAL, -2, "all -2"},   {JX_AT_EQUAL, 5, "all 5"},
        {JX_AT_EQUAL, -15, "all -15"}, {JX_AT_EQUAL, 100, "all 100"},
        {JX_AT_EQUAL, -100, ""},       {JX_AT_EQUAL, 1000, ""},
        {JX_AT_EQUAL, -1000, ""},      {JX_AT_EQUAL, 1e-3, ""},
    };
    declared s = {.c = c};

    if (c->cautious || c->second || c->most_work || c->stands_in ||
        c->values_only || c->iterates || c->iterative || c->pulling ||
        c->calling->any_fixed)
        return;
    if (open_declared(&s) && make_room(&s))
        for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
            c->point = &points[i];
            jx_grad_fill_passive(c);
            jx_point_fill(c->point, &c->rng, c->in.spans, c->in.count, c->x);
            jx_space_scatter(&c->in, c->x, &c->primal);
            round_operands(&s);
            if (run_wide(c) && run_declared(&s) && !look_at(&s))
                break;
        }
    close_declared(&s);
}
