/* gradshake.c - see gradding.h.
 *
 * A function that approximates another one has constants, and its derivative
 * those of its own; both are rounded to a dtype.  Where a slope is small beside
 * what it is the difference of, these roundings are all that is left of it. So
 * a disagreement counts only if it is more than other roundings of the constants
 * make: function and rule are planned again with their constants shaken.
 *
 * What a shake makes must shrink with it.  Where it does not, a constant
 * decides between two branches, and says nothing about either. */
#include "runtime/gradients/gradding.h"

#include <math.h>
#include <string.h>

enum { SHAKES = 4 };
/* Times what a shake makes, which is twice what rounding makes of a constant; more where
 * the function has such constants itself. */
static const double enough = 2, enough_of_both = 8;
static const double small = 1. / 16;

/* Times what noise makes, which is at least what rounding does. */
static const double enough_of_noise = 8;

/* An operand that is the same constant in every call is one here, too. */
static void take_input(const jx_gradding *from, jx_gradding *to, int i,
                       const jx_shake *shake)
{
    const jx_port *port = jx_plan_in(to->primal.plan, i);

    memcpy(to->primal.in[i], from->primal.in[i], port->bytes);
    if (from->calling->fixed[i])
        jx_shake_constants(shake, port->aval->dtype, port->dtype,
                           to->primal.in[i], port->count);
}

/* The check again at the point of `c`, of shaken constants and with a noise (or NULL), with
 * the own derivative or without; released in any case. */
static bool begin_shaken(const jx_gradding *c, jx_shake shake, jx_noise *noise, bool own,
                         jx_gradding *again)
{
    jx_plan_options how = *c->how;
    jx_gradding s = *c;

    how.shake = shake;
    how.noise = s.noise = noise;
    s.primal = s.jvp = s.fwd = s.bwd = s.own = s.guard = (jx_callee){0};
    s.derivative = own ? c->derivative : NULL;
    s.guarded = NULL;
    s.work = 0;
    bool good = jx_grad_allocate(&s) && jx_grad_open(&s, &how);
    if (good)
        memcpy(s.x, c->x, (size_t)c->in.size * sizeof *s.x);
    for (int i = 0; good && i < s.primal.nins; i++)
        take_input(c, &s, i, &shake);
    *again = s;
    return good;
}

/* The rule less the slope along d. */
static bool difference(jx_gradding *s, const double *d, jx_functional f, double *off)
{
    double value, slope = 0;

    jx_space_scatter(&s->in, s->x, &s->primal);
    if (!jx_grad_says(s, d, f, &value) ||
        !jx_grad_sample(s, d, jx_grad_first_step(s, d), s->slopes))
        return false;
    for (int j = 0; j < s->out.size; j++)
        if (f.weights ? f.weights[j] != 0 : j == f.only)
            slope += (f.weights ? f.weights[j] : 1) * s->slopes[j].value;
    *off = value - slope;
    return true;
}

/* The same, of shaken constants. */
static bool shaken(const jx_gradding *c, const double *d, jx_functional f,
                   jx_shake shake, double *off)
{
    jx_gradding s;
    bool good = begin_shaken(c, shake, NULL, false, &s) && difference(&s, d, f, off);

    jx_grad_release(&s);
    jx_error_clear(c->program->ctx);
    return good && isfinite(*off);
}

/* The rule less the own derivative along d, of shaken constants. */
static bool own_shaken(const jx_gradding *c, const double *d, jx_functional f,
                       jx_shake shake, double *off)
{
    jx_gradding s;
    bool good = begin_shaken(c, shake, NULL, true, &s);

    *off = NAN;
    if (good) {
        jx_space_scatter(&s.in, s.x, &s.primal);
        jx_grad_own_along(&s, d);
    }
    if (good && s.has_along && jx_grad_says(&s, d, f, off))
        for (int j = 0; j < s.out.size; j++)
            if (f.weights ? f.weights[j] != 0 : j == f.only)
                *off -= (f.weights ? f.weights[j] : 1) * s.along[j];
    jx_grad_release(&s);
    jx_error_clear(c->program->ctx);
    return isfinite(*off);
}

/* What the rule gives for a component of the results less what the function does. */
static bool value_shaken(const jx_gradding *c, int component, jx_shake shake, double *off)
{
    jx_gradding s;
    bool good = begin_shaken(c, shake, NULL, false, &s);
    const jx_callee *rule = c->rule->vjp ? &s.fwd : &s.jvp;
    int first = c->rule->vjp ? jx_grad_computed_residuals(c->pattern) : 0;

    if (good)
        jx_space_scatter(&s.in, s.x, &s.primal);
    good = good && jx_grad_call(&s, &s.primal) &&
           (c->rule->vjp ? jx_grad_prepare_fwd(&s) : jx_grad_run_jvp(&s, s.x, 0));
    if (good) {
        jx_space_gather(&s.out, &s.primal, 0, s.samples);
        jx_space_gather(&s.out, rule, first, s.samples + s.out.size);
        *off = s.samples[s.out.size + component] - s.samples[component];
    }
    jx_grad_release(&s);
    jx_error_clear(c->program->ctx);
    return good && isfinite(*off);
}

bool jx_grad_is_rounded_value(const jx_gradding *c, int component, double off)
{
    double as_it_is, much;

    if (!value_shaken(c, component, (jx_shake){0}, &as_it_is))
        return false;
    for (uint64_t seed = 1; seed <= SHAKES; seed++)
        if (value_shaken(c, component, (jx_shake){seed, 1}, &much) &&
            fabs(off) <= enough_of_both * fabs(much - as_it_is))
            return true;
    return false;
}

bool jx_grad_is_shaken(const jx_gradding *c, const double *d, jx_functional f, double off)
{
    double as_it_is, much;

    if (!c->rounded)
        return false; /* there is nothing to shake */
    if (!own_shaken(c, d, f, (jx_shake){0}, &as_it_is))
        return true;
    for (uint64_t seed = 1; seed <= SHAKES; seed++)
        if (!own_shaken(c, d, f, (jx_shake){seed, 1}, &much) ||
            off <= fabs(much - as_it_is))
            return true;
    return false;
}

bool jx_grad_is_rounding(const jx_gradding *c, const double *d, jx_functional f,
                         double off)
{
    double as_it_is, much, little;
    double most = jx_points_has_rounded(c->rule->primal.jaxpr) ? enough_of_both : enough;

    if (!shaken(c, d, f, (jx_shake){0}, &as_it_is))
        return false;
    for (uint64_t seed = 1; seed <= SHAKES; seed++) {
        if (!shaken(c, d, f, (jx_shake){seed, 1}, &much) ||
            !shaken(c, d, f, (jx_shake){seed, small}, &little))
            return false;
        much = fabs(much - as_it_is);
        little = fabs(little - as_it_is);
        if (little <= much / 4 && off <= most * much)
            return true;
    }
    return false;
}

/* What a noise makes of a difference at most; not finite where it makes no number of it. */
static double made_by(jx_gradding *s, const double *d, jx_functional f, double quiet)
{
    double most = 0, off;

    for (int k = 0; k < SHAKES; k++) {
        s->work = 0;
        if (!difference(s, d, f, &off) || !isfinite(off))
            return INFINITY;
        most = fmax(most, fabs(off - quiet));
    }
    return most;
}

bool jx_grad_is_noise(const jx_gradding *c, const double *d, jx_functional f, double off)
{
    jx_noise noise = {0};
    jx_gradding s;
    double quiet = 0;
    bool is = begin_shaken(c, (jx_shake){0}, &noise, false, &s) && difference(&s, d, f, &quiet) &&
              isfinite(quiet);

    if (is) {
        noise.by = 1;
        is = off <= enough_of_noise * made_by(&s, d, f, quiet);
    }
    jx_grad_release(&s);
    jx_error_clear(c->program->ctx);
    return is;
}
