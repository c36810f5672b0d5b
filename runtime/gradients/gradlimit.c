/* gradlimit.c - see gradding.h: an iteration where it leads.
 *
 * What a loop computes that stops when it is near enough (a search) is a
 * function of so many steps.  Its slopes come as near to those of what it
 * approaches as its tolerance lets them, and a rule that differentiates
 * implicitly is right at the solution alone.  So function and rule are run with
 * their loops going on (turns.h) until as many turns again change nothing:
 * there both have all digits, wherever the loop began and however near was near
 * enough.  By how much as many turns again still change it is what its
 * differences can't see.
 *
 * It is where the program itself nearly is, or nobody asks for it.  A rule that
 * follows the loop's own steps is right without it, and one that what goes on
 * takes elsewhere is not judged there. */
#include "frontend/base/assert.h"
#include "runtime/gradients/gradding.h"
#include "runtime/gradients/gradpoints.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_TIMES = 16, /* turns more, as often as the loop's own */
    MOST_MISSES = 4, /* points, after which nobody looks for it any more */
    FEW_NUDGES = 2,  /* tried at a point, where all were left alone before */
};

/* Parts of the results: the program's own are as near (those of so many turns,
 * which know nothing of that, as nearly), what still changes is as little. */
static const double near = 0.02, nearly = 0.2, still = 1e-7, at_rest = 1e-13;

/* Runs the function as often its own turns more; its results. */
static bool run_on(jx_gradding *c, int times, int64_t most, double *to)
{
    c->turns->times = times;
    c->turns->most = most;
    c->turns->least = INT64_MAX;
    if (!jx_grad_call(c, &c->primal))
        return false;
    jx_space_gather(&c->out, &c->primal, 0, to);
    return true;
}

/* How far two lie apart, as a part of what each result has; INFINITY where one
 * is no number.  Results that nobody wants are left out. */
static double apart(const jx_gradding *c, const double *a, const double *b)
{
    double most = 0;

    for (int s = 0; s < c->out.count; s++) {
        const jx_span_of *span = &c->out.spans[s];
        double size = DBL_MIN, off = 0;
        if (!jx_grad_is_wanted(c, s))
            continue;
        for (int j = span->at; j < span->at + span->count; j++) {
            size = fmax(size, fabs(a[j]));
            off = isfinite(a[j]) && isfinite(b[j])
                      ? fmax(off, fabs(a[j] - b[j]))
                      : INFINITY;
        }
        most = fmax(most, off / size);
    }
    return most;
}

/* What as many turns again change, `once` having been run; INFINITY where that
 * can't be told.  Where a turn was taken back, the loop ended for want of
 * numbers: one turn less must have changed as little. */
static double change_of(jx_gradding *c, int times, double *once, double *twice)
{
    if (!run_on(c, 2 * times, 0, twice))
        return INFINITY;
    int64_t least = c->turns->least;
    if (least <= 1 || (least < INT64_MAX && !run_on(c, times, least - 1, once)))
        return INFINITY;
    return apart(c, once, twice);
}

/* Whether what is in `twice` draws the loops to it: from close by, as many
 * turns lead back.  An iteration that is stuck, or has come to an end of
 * another kind, stays where it is put.  Not from each place: of what a search
 * has found out, some may keep it from moving.  Where all are left alone (the
 * terms of a series), so are those at other points, mostly. */
static bool draws(jx_gradding *c, int times, const double *twice, double change)
{
    static const double parts[] = {1e-4, 1e-4, 1e-4, 1e-6, 1e-6, 1e-8};
    double *other = c->samples + 3 * (size_t)c->out.size;
    bool back = false, left = true;
    size_t most = c->limit.left ? FEW_NUDGES : sizeof parts / sizeof *parts;

    for (size_t k = 0;
         !back && k < sizeof parts / sizeof *parts && !(left && k >= most);
         k++) {
        double slack = fmin(fmax(64 * change, 1e-10), 1e-3 * parts[k]);
        c->turns->nudge = k + 1;
        c->turns->part = parts[k];
        double off = run_on(c, times, 0, other) ? apart(c, twice, other) : NAN;
        c->limit.work = jx_grad_cost(c, &c->primal);
        back = off <= slack && run_on(c, 0, 0, other) &&
               apart(c, twice, other) > 0.01 * parts[k];
        left = left && isfinite(off) && off > 0.01 * parts[k];
    }
    c->limit.left = c->limit.left || (left && !back);
    c->turns->nudge = 0;
    return back;
}

/* Whether a turn less makes no difference either: it goes
 * round in no circle. */
static bool is_at_rest(jx_gradding *c, int times, const double *twice,
                       double change)
{
    double *other = c->samples + 3 * (size_t)c->out.size;
    bool good;

    c->turns->fewer = 1;
    good = run_on(c, times, 0, other) &&
           apart(c, twice, other) <= fmax(64 * change, 1e-10);
    c->turns->fewer = 0;
    return good;
}

/* How many turns it takes until as many again change nothing, of the loops
 * that are asked for; 0 where these do not come to rest near by.  *drawn:
 * it draws them. */
static int times_of(jx_gradding *c, int from, double *change, bool *drawn)
{
    size_t m = (size_t)c->out.size;
    double *here = c->samples, *once = here + m, *twice = once + m,
           last = INFINITY;
    int times = 0;

    *change = INFINITY;
    *drawn = false;
    if (!run_on(c, from, 0, once))
        return 0;
    for (int k = from; 2 * k <= MOST_TIMES; k *= 2) {
        double now = change_of(c, k, once, twice);
        if (!(apart(c, here, twice) <=
              (c->turns->searches > 0 ? near : nearly)))
            return 0;
        if (now < *change) {
            *change = now;
            times = 2 * k;
        }
        if (now <= at_rest || now > last / 4)
            break;
        last = now;
        memcpy(once, twice, m * sizeof *once);
    }
    if (!(*change <= still) || !is_at_rest(c, times, twice, *change))
        return 0;
    *drawn = (c->limit.met || c->limit.stays < MOST_MISSES) &&
             draws(c, times, twice, *change);
    return times;
}

/* The same of any kind of searches that does, or of loops where there is no
 * search: of those that are drawn, if any is. */
static int search(jx_gradding *c, double *change, bool *drawn)
{
    const bool searches = c->turns->searches > 0;
    int best = 0;
    jx_turning which = c->turns->which;

    if (c->limit.met || c->limit.stays >= MOST_MISSES)
        return times_of(c, c->limit.times / 2, change, drawn);
    *drawn = false;
    for (int k = searches ? JX_TURN_OUTERMOST_SEARCH : JX_TURN_OUTERMOST;
         k < (searches ? JX_TURNINGS : JX_TURN_OUTERMOST_SEARCH) && !*drawn;
         k++) {
        double now;
        c->turns->which = (jx_turning)k;
        c->turns->nested = false;
        int times = times_of(c, 1, &now, drawn);
        if (times && (*drawn || !best)) {
            best = times;
            *change = now;
            which = (jx_turning)k;
        }
        if (!c->turns->nested)
            break; /* the innermost are the outermost ones */
    }
    c->turns->which = which;
    return best;
}

/* What runs from here on is as it stands, or where it leads; and so is what
 * is allowed for. */
static void change_sides(jx_gradding *c, bool in)
{
    jx_limit *l = &c->limit;
    jx_regime now = {c->tolerance, c->leeway, c->nearness, c->grain,
                     c->converges};

    c->turns->times = in ? l->times : 0;
    c->turns->most = 0;
    c->tolerance = l->other.tolerance;
    c->leeway = l->other.leeway;
    c->nearness = l->other.nearness;
    c->grain = l->other.grain;
    c->converges = l->other.converges;
    l->other = now;
    l->in = in;
}

/* Whether what was given last is within reach of where loops stop that search:
 * near nothing they stop where they begin, which is as near as all else. */
static bool is_within_reach(const jx_gradding *c)
{
    static const double tolerance = 1e-2, times = 1000;
    double stops = jx_points_stops_at(c->rule->primal.jaxpr), size = 0;

    for (int j = 0; j < c->out.size; j++)
        size = fmax(size, fabs(c->samples[j]));
    return stops <= tolerance && size <= times * stops;
}

bool jx_grad_enter_limit(jx_gradding *c)
{
    jx_limit *l = &c->limit;
    double change = INFINITY;
    bool drawn = false;
    int times;

    JX_ASSERT(!l->in);
    l->rests = false;
    if (!jx_grad_goes_on(c) || l->misses >= MOST_MISSES)
        return false;
    times = search(c, &change, &drawn);
    c->turns->times = 0;
    l->met = l->met || drawn;
    l->misses += !l->met && !times;
    if (!times)
        return false;
    l->stays += !l->met;
    l->rests = true;
    l->moved = apart(c, c->samples, c->samples + 2 * (size_t)c->out.size);
    l->reached = is_within_reach(c);
    if (drawn)
        c->unsolved = fmax(c->unsolved, l->moved);
    l->times = times;
    l->other = (jx_regime){.tolerance = fmin(c->tolerance, l->tolerance),
                           .grain = fmax(c->grain, 4 * change)};
    if (drawn)
        change_sides(c, true);
    return drawn;
}

void jx_grad_leave_limit(jx_gradding *c)
{
    if (c->limit.in)
        change_sides(c, false);
}

/* Whether the function comes to rest at x as it does at the point. */
static bool rests(jx_gradding *c, const double *x)
{
    size_t m = (size_t)c->out.size;
    int times = c->limit.times;
    bool good;

    jx_space_scatter(&c->in, x, &c->primal);
    good = run_on(c, times / 2, 0, c->samples + m) &&
           change_of(c, times / 2, c->samples + m, c->samples + 2 * m) <=
               fmax(64 * c->grain, at_rest);
    c->turns->times = times;
    c->turns->most = 0;
    return good;
}

/* The same on the line along d, and beside it. */
static bool rests_around(jx_gradding *c, const double *d)
{
    enum { AROUND = 6 };
    double first = jx_grad_first_step(c, d);
    bool good = true;

    for (int k = 0; good && k < AROUND; k++) {
        double by = (k % 2 ? -first : first) / (k < 2 ? 1 : 32);
        for (int i = 0; i < c->in.size; i++)
            c->moved[i] = c->x[i] + (k < 4 ? by * d[i]
                                           : by * fmax(fabs(c->x[i]), 1e-3) *
                                                 jx_rng_normal(&c->rng));
        good = rests(c, c->moved);
    }
    jx_space_scatter(&c->in, c->x, &c->primal);
    return good;
}

/* Whether half as many turns make nothing else of the rule. */
static bool is_rule_at_rest(jx_gradding *c, const double *d, jx_functional f,
                            double value, double off)
{
    double before;
    bool good;

    c->turns->times = c->limit.times / 2;
    good = jx_grad_says(c, d, f, &before) && fabs(before - value) <= off / 16;
    c->turns->times = c->limit.times;
    return good;
}

/* How far the function's values lie in the limit from what they are as they
 * stand, in `samples`; as apart(). */
static double moves_of(jx_gradding *c)
{
    double *there = c->samples + c->out.size;

    if (!jx_grad_call(c, &c->primal))
        return 0;
    jx_space_gather(&c->out, &c->primal, 0, there);
    return apart(c, there, c->samples);
}

/* Whether the rule is right as it stands, or its own loops lead to something
 * else: it comes to no rest, or what it gives moves by more than the function's
 * values and slopes do, which it may be made of. */
static bool is_excused(jx_gradding *c, const double *d, jx_functional f,
                       double value, double off, const jx_target *limit)
{
    static const double times = 4;
    double tolerance = c->tolerance, there = INFINITY, moves;
    bool steady = is_rule_at_rest(c, d, f, value, off), excused = true;
    jx_target t;

    change_sides(c, false);
    if (jx_grad_says(c, d, f, &there) &&
        jx_grad_sample(c, d, jx_grad_first_step(c, d), c->again)) {
        t = jx_grad_target(c, f, c->again, jx_grad_rounding(c, c->again));
        excused = jx_judge(there, fabs(there), tolerance, &t) == JX_AGREE;
    }
    change_sides(c, true);
    moves = fabs(there - value);
    if (excused || moves < off / 4)
        return excused;
    return !steady ||
           moves > times * fmax(fabs(t.low - limit->low),
                                moves_of(c) * (fabs(value) + limit->scale));
}

/* What the check needs where other lines have been run. */
typedef struct kept {
    double *tangent, *cotangent, *samples;
} kept;

/* Weights that are the cotangent at hand are kept, too. */
static bool keep(jx_gradding *c, jx_functional *f, kept *k)
{
    size_t n = (size_t)c->in.size, m = (size_t)c->out.size,
           most = (n > m ? n : m) + 2;
    double *all = jx_grad_room(c, 3 * most, sizeof *all);

    *k = (kept){all, all + most, all + 2 * most};
    if (!all)
        return false;
    memcpy(k->tangent, c->tangent, most * sizeof *all);
    memcpy(k->cotangent, c->cotangent, most * sizeof *all);
    memcpy(k->samples, c->samples, m * sizeof *all);
    if (f->weights)
        f->weights = k->cotangent;
    return true;
}

static void restore(jx_gradding *c, kept *k)
{
    size_t n = (size_t)c->in.size, m = (size_t)c->out.size,
           most = (n > m ? n : m) + 2;

    memcpy(c->tangent, k->tangent, most * sizeof *c->x);
    memcpy(c->cotangent, k->cotangent, most * sizeof *c->x);
    memcpy(c->samples, k->samples, m * sizeof *c->x);
    free(k->tangent);
    if (c->rule->vjp)
        jx_grad_prepare_fwd(c);
}

bool jx_grad_stands_in_limit(jx_gradding *c, const double *d, jx_functional f,
                             double value, double off, const jx_target *t)
{
    bool stands;
    kept k;

    if (!keep(c, &f, &k))
        return false;
    stands = rests_around(c, d) && !is_excused(c, d, f, value, off, t);
    restore(c, &k);
    return stands;
}

/* The slopes along d at rest, and what a jvp rule says there. */
static bool look_at_rest(jx_gradding *c, const double *d)
{
    jx_limit *l = &c->limit;

    if (l->visit == c->visit && l->along == d)
        return l->good;
    l->visit = c->visit;
    l->along = d;
    l->good =
        jx_grad_sample(c, d, jx_grad_first_step(c, d), c->slopes_at_rest) &&
        (c->rule->vjp || jx_grad_run_jvp(c, d, 1));
    if (l->good && !c->rule->vjp)
        jx_grad_take_tangents(c, c->tangent_at_rest);
    return l->good;
}

bool jx_grad_agrees_at_rest(jx_gradding *c, const double *d, jx_functional f,
                            double stands)
{
    double value = 0, scale = 0;
    bool agrees = false;
    kept k;

    if (!c->limit.rests || !keep(c, &f, &k))
        return false;
    change_sides(c, true);
    if (look_at_rest(c, d) &&
        (!c->rule->vjp || jx_grad_says(c, d, f, &value))) {
        jx_target t = jx_grad_target(c, f, c->slopes_at_rest,
                                     jx_grad_rounding(c, c->slopes_at_rest));
        value = c->rule->vjp ? value : c->tangent_at_rest[f.only];
        agrees = jx_judge(value, fabs(value), c->tolerance, &t) == JX_AGREE;
        scale = t.scale;
    }
    change_sides(c, false);
    restore(c, &k);
    if (agrees)
        jx_grad_note_short(c, d, f, stands, value, scale);
    return agrees;
}

/* How much as many turns again change at the point, or one less than that,
 * which is another place of a circle: as a part of each result, at least, and
 * at most.  False: nobody knows. */
static bool changes_of_more(jx_gradding *c, double *least, double *most)
{
    size_t m = (size_t)c->out.size;
    double *once = c->samples, *more = once + m, *fewer = more + m, size = 0;
    jx_turning which = c->turns ? c->turns->which : JX_TURN_OUTERMOST;
    bool good;

    if (!c->turns || c->turns->again == 0 || c->turns->once > 0 || c->limit.in)
        return false;
    c->turns->which = JX_TURN_OUTERMOST;
    jx_space_scatter(&c->in, c->x, &c->primal);
    good = run_on(c, 0, 0, once) && run_on(c, 1, 0, more);
    c->turns->fewer = 1;
    good = good && run_on(c, 1, 0, fewer);
    c->turns->fewer = c->turns->times = 0;
    c->turns->which = which;
    *least = INFINITY;
    *most = 0;
    for (size_t j = 0; good && j < m; j++)
        size = fmax(size, fabs(once[j]));
    for (size_t j = 0; good && j < m; j++) {
        double part = fmax(fabs(once[j] - more[j]), fabs(once[j] - fewer[j])) /
                      (fabs(once[j]) + 0.01 * size + DBL_MIN);
        *least = isfinite(part) ? fmin(*least, part) : 0;
        *most = isfinite(part) ? fmax(*most, part) : INFINITY;
    }
    return good;
}

bool jx_grad_is_under_way(jx_gradding *c)
{
    double least, most;

    return changes_of_more(c, &least, &most) && least > 1e-3;
}

bool jx_grad_is_far_from_rest(jx_gradding *c)
{
    double least, most;

    return changes_of_more(c, &least, &most) && least > nearly &&
           !is_within_reach(c);
}

bool jx_grad_is_settled(jx_gradding *c)
{
    double least, most;

    return !jx_grad_is_stuck(c) && changes_of_more(c, &least, &most) &&
           most <= 1e-11;
}

bool jx_grad_is_unsettled(jx_gradding *c, double part)
{
    double least, most;

    return changes_of_more(c, &least, &most) && most > part;
}
