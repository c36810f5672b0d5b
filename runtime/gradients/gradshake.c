/* gradshake.c - see gradding.h.
 *
 * A function that approximates another one has constants, and its derivative
 * those of its own; both are rounded to a dtype.  Where a slope is small
 * beside what it is the difference of, these roundings are all that is left
 * of it. So a disagreement counts only if it is more than other roundings of
 * the constants make: function and rule are planned again with their
 * constants shaken.
 *
 * What a shake makes must shrink with it.  Where it does not, a constant
 * decides between two branches, and says nothing about either. */
#include "runtime/gradients/gradding.h"

#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHAKES = 4 };
/* Times what a shake makes, which is twice what rounding makes of a constant;
 * more where the function has such constants itself. */
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

/* The same check of other roundings: as it is, with its constants shaken by
 * much and by little, with a noise.  Their plans are made once. */
enum {
    AS_IT_IS = 0,
    MUCH = 1,
    LITTLE = MUCH + SHAKES,
    NOISY = LITTLE + SHAKES,
    TWINS
};

struct jx_grad_twins {
    jx_gradding at[TWINS];
    bool tried[TWINS], good[TWINS], own_tried[TWINS];
    jx_noise noise;
};

static jx_plan_options how_of(const jx_gradding *c, int which)
{
    jx_plan_options how = *c->how;

    if (which == NOISY)
        how.noise = &c->twins->noise;
    else if (which >= LITTLE)
        how.shake = (jx_shake){(uint64_t)(which - LITTLE) + 1, small};
    else if (which >= MUCH)
        how.shake = (jx_shake){(uint64_t)(which - MUCH) + 1, 1};
    return how;
}

/* What it is that a twin has of its own. */
static void keep_own(const jx_gradding *of, jx_gradding *to)
{
    to->primal = of->primal;
    to->line = of->line;
    to->tried = of->tried;
    to->alone = of->alone;
    to->strikes = of->strikes;
    to->sampling = of->sampling;
    to->jvp = of->jvp;
    to->fwd = of->fwd;
    to->bwd = of->bwd;
    to->own = of->own;
    to->kept = of->kept;
    to->kept_tried = of->kept_tried;
    to->x = of->x;
    to->samples = of->samples;
    to->tangent = of->tangent;
    to->cotangent = of->cotangent;
    to->moved = of->moved;
    to->directions = of->directions;
    to->along = of->along;
    to->is_looked = of->is_looked;
    to->slopes = of->slopes;
    to->again = of->again;
    to->slopes_at_rest = of->slopes_at_rest;
    to->tangent_at_rest = of->tangent_at_rest;
    to->agreed = of->agreed;
    to->opposed = of->opposed;
    to->last_agreed = of->last_agreed;
    to->excused = of->excused;
    to->lost = of->lost;
    to->given_value = of->given_value;
    to->given_at = of->given_at;
    to->noise = of->noise;
    to->twins = NULL;
    to->around = of->around;
    to->first = NULL;
    to->derivative = to->guarded = NULL;
    to->guard = (jx_callee){0};
    to->work = 0;
}

/* A twin at the point of the check; NULL if there is none. */
static jx_gradding *twin_of(jx_gradding *c, int which, bool own)
{
    static const jx_gradding nothing;
    jx_grad_twins *twins = c->twins ? c->twins : calloc(1, sizeof *twins);
    jx_gradding *to, now = *c;
    jx_plan_options how;

    if (!(c->twins = twins))
        return NULL;
    to = &twins->at[which];
    how = how_of(c, which);
    c->asked += to->work;
    if (!twins->tried[which]) {
        keep_own(&nothing, &now);
        now.noise = which == NOISY ? &twins->noise : NULL;
        /* Samples that are one run have one noise, which moves what is the
         * same in all of them alike: log(1 + x), where 1 takes all digits of
         * x. */
        now.alone = which == NOISY;
        *to = now;
        twins->tried[which] = true;
        twins->good[which] = jx_grad_allocate(to) && jx_grad_open(to, &how);
    } else {
        keep_own(to, &now);
        *to = now;
    }
    if (twins->good[which] && own && !twins->own_tried[which]) {
        twins->own_tried[which] = true;
        if (c->derivative)
            jx_callee_open(&to->own, c->typed, c->derivative, &how);
    }
    jx_error_clear(c->program->ctx);
    if (!twins->good[which])
        return NULL;
    memcpy(to->x, c->x, (size_t)c->in.size * sizeof *to->x);
    for (int i = 0; i < to->primal.nins; i++)
        take_input(c, to, i, &how.shake);
    jx_space_scatter(&to->in, to->x, &to->primal);
    return to;
}

void jx_grad_close_twins(jx_gradding *c)
{
    for (int i = 0; c->twins && i < TWINS; i++)
        if (c->twins->tried[i])
            jx_grad_release(&c->twins->at[i]);
    free(c->twins);
    c->twins = NULL;
}

/* The rule less the slope along d, of a twin: that alone is looked at. */
static bool difference(jx_gradding *s, const double *d, jx_functional f,
                       double *off)
{
    double value, slope = 0;

    jx_grad_look_at(s, f);
    jx_space_scatter(&s->in, s->x, &s->primal);
    if (!jx_grad_says(s, d, f, &value) ||
        !jx_grad_sample(s, d, jx_grad_first_step(s, d), s->slopes))
        return false;
    for (int j = f.weights ? 0 : f.only;
         j < (f.weights ? s->out.size : f.only + 1); j++)
        if (!f.weights || f.weights[j] != 0)
            slope += (f.weights ? f.weights[j] : 1) * s->slopes[j].value;
    *off = value - slope;
    return true;
}

/* The same, of a twin. */
static bool shaken(jx_gradding *c, const double *d, jx_functional f, int which,
                   double *off)
{
    jx_gradding *s = twin_of(c, which, false);

    return s && difference(s, d, f, off) && isfinite(*off);
}

/* The functional of a twin's own derivative. */
static double own_of(const jx_gradding *s, jx_functional f)
{
    double sum = 0;

    if (!f.weights)
        return s->along[f.only];
    for (int j = 0; j < s->out.size; j++)
        if (f.weights[j] != 0)
            sum += f.weights[j] * s->along[j];
    return sum;
}

/* How far the function's value moves where all is rounded upward, downward, and
 * with a noise, as a slope over a first step along d; of a twin that has a
 * noise.  A value that has no digits left counts for more. */
static double value_moves(jx_gradding *s, const double *d, jx_functional f)
{
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD};
    enum { MODES = sizeof modes / sizeof *modes };
    const double by = s->noise->by;
    double first = 0, most = 0;

    jx_space_scatter(&s->in, s->x, &s->primal);
    for (int k = 0; k < MODES + SHAKES; k++) {
        double sum = 0;
        s->noise->by = k < MODES ? 0 : 1;
        jx_exec_round(s->primal.exec, k < MODES ? modes[k] : FE_TONEAREST);
        if (!jx_grad_call(s, &s->primal))
            most = INFINITY;
        jx_space_gather(&s->out, &s->primal, 0, s->samples);
        for (int j = 0; j < s->out.size; j++)
            if (f.weights ? f.weights[j] != 0 : j == f.only)
                sum += (f.weights ? f.weights[j] : 1) * s->samples[j];
        first = k == 0 ? sum : first;
        most = fmax(most, fabs(sum - first));
    }
    jx_exec_round(s->primal.exec, FE_TONEAREST);
    s->noise->by = by;
    return (most >= fabs(first) / 2 ? 1000 : 1) * most /
           jx_grad_first_step(s, d);
}

/* A twin's rule less its own derivative along d. */
static bool own_shaken(jx_gradding *c, const double *d, jx_functional f,
                       int which, double *off)
{
    jx_gradding *s = twin_of(c, which, true);

    *off = NAN;
    if (s)
        jx_grad_own_along(s, d);
    if (s && s->has_along && jx_grad_says(s, d, f, off))
        *off -= own_of(s, f);
    return isfinite(*off);
}

/* What a twin's rule gives for a component of the results less what the
 * function does. */
static bool value_shaken(jx_gradding *c, int component, int which, double *off)
{
    jx_gradding *s = twin_of(c, which, false);
    int first = c->rule->vjp ? jx_grad_computed_residuals(c->pattern) : 0;
    bool good =
        s && jx_grad_call(s, &s->primal) &&
        (c->rule->vjp ? jx_grad_prepare_fwd(s) : jx_grad_run_jvp(s, s->x, 0));

    if (good) {
        jx_space_gather(&s->out, &s->primal, 0, s->samples);
        jx_space_gather(&s->out, c->rule->vjp ? &s->fwd : &s->jvp, first,
                        s->samples + s->out.size);
        *off = s->samples[s->out.size + component] - s->samples[component];
    }
    return good && isfinite(*off);
}

bool jx_grad_is_rounded_value(jx_gradding *c, int component, double off)
{
    double as_it_is, much;

    if (!value_shaken(c, component, AS_IT_IS, &as_it_is))
        return false;
    for (int i = 0; i < SHAKES; i++)
        if (value_shaken(c, component, MUCH + i, &much) &&
            fabs(off) <= enough_of_both * fabs(much - as_it_is))
            return true;
    return false;
}

bool jx_grad_is_noisy_nan(jx_gradding *c, const double *d, jx_functional f)
{
    jx_gradding *s = twin_of(c, NOISY, false);
    double value;

    for (int k = 0; s && k < SHAKES; k++) {
        s->noise->by = 1;
        if (jx_grad_says(s, d, f, &value) && isfinite(value))
            return true;
    }
    return false;
}

/* Whether subnormal numbers are zeros to whatever a twin runs. */
static void flush(jx_gradding *s, bool zeros)
{
    const jx_callee *all[] = {&s->primal, &s->own, &s->jvp, &s->fwd, &s->bwd};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->exec)
            jx_exec_flush(all[i]->exec, zeros);
}

/* Whether the function has its values in a twin. */
static bool has_values(const jx_gradding *c, jx_gradding *s, jx_functional f)
{
    if (!jx_grad_call(s, &s->primal))
        return false;
    jx_space_gather(&s->out, &s->primal, 0, s->samples);
    for (int j = 0; j < c->out.size; j++)
        if ((f.weights ? f.weights[j] != 0 : j == f.only) &&
            !(fabs(s->samples[j] - c->samples[j]) <=
              16 * c->tolerance * fabs(c->samples[j]) + 1e-12))
            return false;
    return true;
}

bool jx_grad_is_subnormal_nan(jx_gradding *c, const double *d, jx_functional f)
{
    jx_gradding *s = twin_of(c, NOISY, false);
    double value = NAN;
    bool is;

    if (!s)
        return false;
    s->noise->by = 0;
    flush(s, true);
    is = !has_values(c, s, f) ||
         (jx_grad_says(s, d, f, &value) && isfinite(value));
    flush(s, false);
    return is;
}

bool jx_grad_is_noisy_value(jx_gradding *c, int component, double off)
{
    int first = c->rule->vjp ? jx_grad_computed_residuals(c->pattern) : 0;
    jx_gradding *s = twin_of(c, NOISY, false);
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};

    for (int k = 0; s && k <= SHAKES; k++) {
        s->noise->by = k > 0;
        s->noise->signs = true;
        bool good = jx_grad_call(s, &s->primal) &&
                    (c->rule->vjp ? jx_grad_prepare_fwd(s)
                                  : jx_grad_run_jvp(s, s->x, 0));
        s->noise->signs = false;
        if (!good)
            return false;
        jx_space_gather(&s->out, &s->primal, 0, s->samples);
        jx_space_gather(&s->out, c->rule->vjp ? &s->fwd : &s->jvp, first,
                        s->samples + s->out.size);
        for (int i = 0; i < 2; i++) {
            double y = s->samples[i * s->out.size + component];
            low[i] = fmin(low[i], y);
            high[i] = fmax(high[i], y);
        }
    }
    return s &&
           fabs(off) <= enough_of_noise * (high[0] - low[0] + high[1] - low[1]);
}

bool jx_grad_is_shaken(jx_gradding *c, const double *d, jx_functional f,
                       double off)
{
    double as_it_is, much;

    if (!c->rounded)
        return false; /* there is nothing to shake */
    if (!own_shaken(c, d, f, AS_IT_IS, &as_it_is))
        return true;
    for (int i = 0; i < SHAKES; i++)
        if (!own_shaken(c, d, f, MUCH + i, &much) ||
            off <= fabs(much - as_it_is))
            return true;
    return false;
}

bool jx_grad_is_rounding(jx_gradding *c, const double *d, jx_functional f,
                         double off)
{
    double as_it_is, much, little;
    double most =
        jx_points_has_rounded(c->rule->primal.jaxpr) ? enough_of_both : enough;

    if (!c->rounded || !shaken(c, d, f, AS_IT_IS, &as_it_is))
        return false;
    for (int i = 0; i < SHAKES; i++) {
        if (!shaken(c, d, f, MUCH + i, &much))
            return false;
        much = fabs(much - as_it_is);
        if (off > most * much)
            continue; /* whatever a little makes of it */
        if (!shaken(c, d, f, LITTLE + i, &little))
            return false;
        if (fabs(little - as_it_is) <= much / 4)
            return true;
    }
    return false;
}

/* Whether a noise makes as much as that of a difference, or no number. */
static bool makes(jx_gradding *c, jx_gradding *s, const double *d,
                  jx_functional f, double quiet, double much)
{
    double off;

    for (int k = 0; k < SHAKES; k++) {
        c->asked += s->work;
        s->work = 0;
        if (!difference(s, d, f, &off) || !isfinite(off) ||
            fabs(off - quiet) >= much)
            return true;
    }
    return false;
}

double jx_grad_noise_moves(jx_gradding *c, const double *d, jx_functional f)
{
    jx_gradding *s = twin_of(c, NOISY, true);
    double quiet[2], by[2], most;

    if (!s)
        return INFINITY;
    /* callers take some times as much */
    most = value_moves(s, d, f) / 16;
    for (int k = 0; k <= SHAKES; k++) {
        s->noise->by = k > 0;
        c->asked += s->work;
        s->work = 0;
        jx_grad_own_along(s, d);
        if (!s->has_along || !jx_grad_says(s, d, f, &by[0]))
            return INFINITY;
        by[1] = own_of(s, f);
        if (k == 0)
            memcpy(quiet, by, sizeof quiet);
        most = fmax(most, fabs(by[0] - quiet[0]) + fabs(by[1] - quiet[1]));
    }
    return most;
}

bool jx_grad_is_noise(jx_gradding *c, const double *d, jx_functional f,
                      double off)
{
    jx_gradding *s = twin_of(c, NOISY, false);
    double quiet = 0;
    bool is;

    if (!s)
        return false;
    /* It may move all of a line alike: log(1 + x) where x vanishes beside 1,
     * and then the logarithm of that. */
    if (value_moves(s, d, f) >= off)
        return true;
    s->noise->by = 0;
    is = difference(s, d, f, &quiet) && isfinite(quiet);
    s->noise->by = 1;
    return is && makes(c, s, d, f, quiet, off / enough_of_noise);
}
