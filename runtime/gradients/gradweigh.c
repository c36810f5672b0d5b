/* gradweigh.c - see gradding.h: what a point at which a rule disagrees says of
 * it, where its function is an iteration. */
#include "runtime/gradients/gradding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ENOUGH_AGAINST = 3, /* points at which one component is off */
    /* the same, that may lie outside of what an iteration is for */
    A_STRAY = 1,
    /* points where a loop is under way, and the rule right ... */
    ENOUGH_FOLLOWED = 3,
    MOST_FOLLOWED = 24, /* ... of so many that are looked at */
    /* points where loops have settled, and the rule is right */
    ENOUGH_AT_REST = 2,
};

/* Whether the rule may rely on where the function's loops lead: a loop of its
 * own (CG) need not follow these where they are drawn to something. */
static bool relies(const jx_gradding *c)
{
    return c->iterative || c->limit.met;
}

/* Whether the loops come to no rest at the point, where they do elsewhere: what
 * they give here is nothing that anybody looked for.  A rule that is right
 * where they are under way follows their turns, and has no such excuse. */
static bool is_astray(const jx_gradding *c)
{
    return c->limit.met && !c->limit.was_in && !c->limit.rests &&
           c->agreed_under_way < ENOUGH_FOLLOWED;
}

/* Whether loops that make so many turns are under way at the point, or beside
 * it: a solver of what it is not for goes on and on, and a rule that
 * differentiates what it solves, or solves by loops of its own, is no
 * derivative of that. */
static bool is_away(jx_gradding *c)
{
    enum { AROUND = 4 };
    double *here = jx_grad_room(c, (size_t)c->in.size + 1, sizeof *here);
    const int64_t work = c->work;
    double size = 0;
    bool away = false;

    c->work = 0; /* a few runs, whatever the others took */
    if (here && c->loops && !c->takes_rows && !c->limit.met &&
        !c->limit.was_in && !c->most_work && !c->second && c->turns &&
        c->turns->searches == 0) {
        memcpy(here, c->x, (size_t)c->in.size * sizeof *here);
        for (int i = 0; i < c->in.size; i++)
            size = fmax(size, fabs(here[i]));
        away = jx_grad_is_unsettled(c, 1e-13);
        /* A singular system has solutions that nothing beside it leads to. */
        for (int k = 0; !away && k < AROUND; k++) {
            for (int i = 0; i < c->in.size; i++)
                c->x[i] = here[i] + 1e-3 * size * jx_rng_normal(&c->rng);
            away = jx_grad_is_unsettled(c, 1e-13);
        }
        memcpy(c->x, here, (size_t)c->in.size * sizeof *here);
        jx_space_scatter(&c->in, c->x, &c->primal);
    }
    c->work = work;
    free(here);
    return away;
}

/* After such a point: whether the rule is right where the loops have
 * settled, or follows them on their way.  False once that is so: then
 * nothing excuses it. */
static bool weigh_rest(jx_gradding *c)
{
    /* What its dtype does not show is no way to go. */
    if (jx_grad_is_unsettled(c, fmax(1e-11, jx_grad_unit(c))))
        c->agreed_under_way += jx_grad_is_under_way(c);
    else
        c->at_rest++;
    return c->agreed_under_way < ENOUGH_FOLLOWED;
}

static void accuse_first(jx_gradding *c)
{
    c->wrong = c->first_wrong;
    c->witness = c->first_witness;
    c->code = c->first_code;
}

/* A point of a rule.  An iteration that has not converged, or that starts
 * outside its domain, gives finite junk with slopes of its own: a rule of one
 * is judged where it is known to converge, else by the majority of points
 * (jx_grad_weigh_points).  False once the rule is known to be wrong. */
bool jx_grad_check_here(jx_gradding *c)
{
    int64_t before = c->comparisons, unsure = c->dropped + c->outvoted;

    c->visit++;
    c->has_slopes = false;
    if (c->ends_only) {
        c->against += !jx_grad_check_point(c);
        return c->against == 0;
    }
    if (jx_grad_check_point(c)) {
        if (c->comparisons > before)
            jx_grad_note_point(c);
        if (relies(c) && !c->limit.was_in && c->comparisons > before &&
            c->dropped + c->outvoted == unsure &&
            c->agreed_under_way < ENOUGH_FOLLOWED &&
            c->under_way < MOST_FOLLOWED) {
            c->under_way++;
            c->agreed_under_way += jx_grad_is_under_way(c);
        }
        if (c->away && !c->limit.met && c->comparisons > before &&
            c->dropped + c->outvoted == unsure && !weigh_rest(c) &&
            !relies(c)) {
            accuse_first(c);
            return false;
        }
        return true;
    }
    if (is_astray(c) ||
        (relies(c) && !c->most_work && jx_grad_finds_nothing(c))) {
        c->wrong = c->witness = NULL;
        c->code = JX_CODE_NONE;
        return true;
    }
    jx_grad_keep_refused(c);
    c->against++;
    bool settled = relies(c) && !c->limit.was_in && jx_grad_is_settled(c);
    c->settled_against += settled;
    if (c->wrong_at >= 0)
        c->opposed[c->wrong_at]++;
    bool away = is_away(c);
    c->away += away;
    /* A count of turns knows no tolerance: where it has settled, its slopes are
     * those of where it leads, unless it goes there in steps, as by halves. */
    bool stepping = away && jx_points_chooses(c->rule->primal.jaxpr);
    if ((!relies(c) && !away) ||
        (settled && !stepping && c->turns->searches == 0) ||
        (c->limit.was_in && c->turns->once == 0 && !jx_grad_is_stuck(c)))
        return false;
    if (!c->first_wrong) {
        c->first_wrong = c->wrong;
        c->first_witness = c->witness;
        c->first_code = c->code;
    }
    c->wrong = c->witness = NULL;
    c->code = JX_CODE_NONE;
    return true;
}

/* Whether all that it disagrees at are points where loops are under way, and it
 * is right where they have settled. */
static bool is_excused_under_way(const jx_gradding *c)
{
    return c->away == c->against && c->at_rest >= ENOUGH_AT_REST &&
           c->agreed_under_way < ENOUGH_FOLLOWED;
}

/* Where the program's own values were met, others have no say. */
void jx_grad_weigh_points(jx_gradding *c)
{
    bool most =
        c->against > c->points || c->agreed_under_way >= ENOUGH_FOLLOWED;

    if (!c->met) {
        c->comparisons += c->abroad;
        c->dropped += c->muted;
        c->muted = 0;
    }
    for (int j = 0; c->first_wrong && !most && j < c->out.size; j++)
        most = c->opposed[j] >= ENOUGH_AGAINST && c->opposed[j] > c->agreed[j];
    if (c->first_wrong && (!relies(c) || most) && !is_excused_under_way(c))
        accuse_first(c);
    jx_grad_weigh_short(c);
}

const char *jx_grad_doubts(const jx_gradding *c)
{
    if (c->solved)
        return c->solved;
    if (c->settled_against > 0)
        return "it disagrees where its function's loops have settled, which "
               "nothing shows to be a solution";
    if (c->against > A_STRAY && !c->limit.met)
        return jx_arena_printf(c->program->ctx->arena,
                               "it disagrees at %d of %d points, where its "
                               "loops may not have come to an end",
                               c->against, c->visit);
    if (c->others_alone)
        return "it disagrees where its function has other values in the dtypes "
               "that are declared: it has lost its digits there";
    if (jx_grad_is_short(c))
        return jx_grad_is_short(c);
    return c->doubted && !c->met ? "it disagrees, but at values only that the "
                                   "program may never compute"
                                 : NULL;
}
