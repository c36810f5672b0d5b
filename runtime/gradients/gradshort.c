/* gradshort.c - see gradding.h: rules whose own loops stop short.
 *
 * Where a function's loops are looked at where they lead, those of its rule go
 * on as well: a rule that solves by fewer turns than it needs, or to a
 * tolerance far beyond the function's, is right there.  What it gives as it
 * stands is what anybody gets.  It may be off by what the function itself falls
 * short by at the point, some times over, for it is made of that, or stop as
 * early as it does, which is said; not by far more. */
#include "runtime/gradients/gradding.h"
#include "runtime/gradients/gradpoints.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum {
    ENOUGH = 3,      /* points at which it is off by much */
    TIMES = 256,     /* what the function is off by, a rule may be */
    TOLERANCES = 16, /* the same of where it stops ... */
    UNITS = 16,      /* ... and of its dtype */
};

/* Parts of what it gives: less is nothing, and more is much. */
static const double little = 1e-7, much = 1e-4;
/* A tolerance, as it was rounded up. */
static const double near = 1. / 512;

static double allowed(const jx_gradding *c)
{
    double stops = jx_points_stops_at(c->rule->primal.jaxpr);

    return fmax(fmax(TIMES * c->limit.moved, little),
                fmax(TOLERANCES * stops, UNITS * jx_grad_unit(c)));
}

/* What a rule says itself that is near enough for it, where that is near: a
 * tolerance that somebody chose, if not as near as the function's. */
static double chosen(const jx_gradding *c)
{
    const jx_rule_pattern *p = c->pattern;
    double stops =
        jx_points_stops_at(c->rule->vjp ? p->bwd.jaxpr : p->jvp.jaxpr);

    return stops <= near ? TOLERANCES * stops : 0;
}

static void say_short(jx_gradding *c, const double *d, jx_functional f,
                      double stands, double rests)
{
    const char *what =
        f.weights ? "cotangent times slopes" : jx_grad_component(c, f.only);

    c->shorts.said = jx_arena_printf(
        c->program->ctx->arena,
        "at %s (%s), direction \"%s\", %s: the rule gives %.10g, and %.10g "
        "with more turns of its loops: they stop long before the function's",
        jx_sample_text(c->program->ctx, c->x, c->in.size), c->point->name,
        c->direction, what, stands, rests);
    jx_grad_witness(c, &(jx_shown){d, f.weights ? c->cotangent : NULL, false,
                                   stands, rests, rests});
    c->shorts.witness = c->witness;
    c->witness = NULL;
}

void jx_grad_note_short(jx_gradding *c, const double *d, jx_functional f,
                        double stands, double rests, double scale)
{
    jx_short *s = &c->shorts;
    double may = allowed(c);
    double part = fabs(stands - rests) / (fmax(fabs(rests), scale) + DBL_MIN);
    bool worse;

    if (s->visit != c->visit) {
        s->visit = c->visit;
        s->looked++;
        s->here = 0;
    }
    if (!isfinite(part) || c->stands_in || c->intent || c->second ||
        c->most_work)
        return;
    if (part > fmax(little, UNITS * jx_grad_unit(c)))
        s->within = fmax(s->within, part);
    if (part <= may)
        return;
    worse = part > much && part > 4 * may && part > chosen(c);
    s->some += s->here < 1;
    s->many += worse && s->here < 2;
    s->here = worse ? 2 : s->here < 1 ? 1 : s->here;
    s->most = fmax(s->most, part);
    if (worse && !s->said && !jx_grad_is_foreign(c))
        say_short(c, d, f, stands, rests);
}

/* Runs a jvp rule along d as it stands; its tangents. */
static bool stands_along(jx_gradding *c, const double *d, double factor,
                         double *to)
{
    const int times = c->limit.times;
    bool good;

    c->turns->times = 0;
    good = jx_grad_run_jvp(c, d, factor);
    if (good)
        jx_grad_take_tangents(c, to);
    c->turns->times = times;
    return good;
}

/* More turns lead to the derivative, not somewhere else. */
static bool is_right(const jx_gradding *c, jx_functional f, double rests,
                     double scale)
{
    jx_target t = jx_grad_target(c, f, c->slopes, c->rounding);

    return jx_judge(rests, scale, c->tolerance, &t) == JX_AGREE;
}

void jx_grad_look_short(jx_gradding *c, const double *d, double factor)
{
    double *stands, size = 0;

    if (!c->limit.in || d != c->directions)
        return;
    stands = jx_grad_room(c, (size_t)c->out.size + 1, sizeof *stands);
    if (stands && stands_along(c, d, factor, stands)) {
        for (int j = 0; j < c->out.size; j++)
            size = isfinite(c->tangent[j]) ? fmax(size, fabs(c->tangent[j]))
                                           : size;
        for (int k = 0; k < jx_grad_nlooked(c); k++) {
            jx_functional f = {NULL, jx_grad_looked(c, k)};
            double rests = c->tangent[f.only] / factor;
            if (is_right(c, f, rests, fabs(rests)))
                jx_grad_note_short(c, d, f, stands[f.only] / factor, rests,
                                   size / factor);
        }
    }
    free(stands);
}

void jx_grad_look_short_back(jx_gradding *c, const double *d, double rests,
                             double scale)
{
    const jx_functional f = {c->cotangent, 0};
    const int times = c->limit.times;
    double stands, size;
    bool good;

    if (!c->limit.in || d != c->directions || c->intent ||
        !is_right(c, f, rests, scale))
        return;
    c->turns->times = 0;
    good = jx_grad_prepare_fwd(c) &&
           jx_grad_pulled_back(c, c->cotangent, d, &stands, &size);
    c->turns->times = times;
    if (good)
        jx_grad_note_short(c, d, f, stands, rests, scale);
    jx_grad_prepare_fwd(c);
}

void jx_grad_weigh_short(jx_gradding *c)
{
    const jx_short *s = &c->shorts;

    if (c->wrong || !s->said || s->many < ENOUGH || 3 * s->many <= s->looked)
        return;
    c->wrong = s->said;
    c->witness = s->witness;
}

const char *jx_grad_is_short(const jx_gradding *c)
{
    const jx_short *s = &c->shorts;

    return s->some < ENOUGH || 3 * s->some <= s->looked
               ? NULL
               : jx_arena_printf(
                     c->program->ctx->arena,
                     "with more turns of its loops it is the derivative; as "
                     "they stand they fall short by up to %.1g of what it "
                     "gives, the function's by far less",
                     s->most);
}
