/* gradsolved.c - see gradding.h: so many turns, and where more of them lead.
 *
 * A solver of so many turns is a function of these.  A rule that differentiates
 * what it solves is no derivative of that by as much as the turns fall short,
 * which may be much, and what was meant. So the points are visited once more
 * where the loops go on to their end (gradlimit.c): where this is near by and
 * draws them, and the rule is right at all such points, there is nothing to
 * accuse it of.  A rule whose tangents go through a loop follows turns, and is
 * judged by these. */
#include "runtime/gradients/gradding.h"

#include <math.h>

enum {
    SEEN = 16,  /* comparisons in which it is right, to excuse it, ... */
    ENOUGH = 3, /* ... and points, to say that it agrees */
    SOME = 3,   /* at which it disagreed, and may yet be wrong */
    UNITS = 64,
};

/* How near to where they lead turns are that nobody tells from it: some units
 * of the dtype, where these are small. */
static double unseen(const jx_gradding *c)
{
    double unit = jx_grad_unit(c);

    return fmax(unit, fmin(UNITS * unit, 1e-5));
}

/* Whether what disagrees may be right where more turns lead. */
static bool may_be_solved(const jx_gradding *c)
{
    return !c->ends_only && c->against > 0 && c->iterative && !c->most_work &&
           c->turns && c->turns->searches == 0 && c->turns->again > 0;
}

void jx_grad_look_at_solutions(jx_gradding *c, const jx_gradding *base,
                               const jx_plan_options *how, bool thorough)
{
    jx_gradding there = *base;
    jx_rule_report report = {.rule = c->rule};

    if (!may_be_solved(c))
        return;
    there.ends_only = true;
    there.away = 1; /* as this one is: what iterations are for is tried, too */
    there.first = NULL;
    jx_grad_pattern(&there, how, thorough, &report);
    c->work += report.work;
    if (report.outcome == JX_RULE_WRONG && !c->wrong && c->against > SOME) {
        c->wrong = report.detail;
        c->witness = report.witness;
        c->place = report.place;
        c->code = report.code;
        c->by_own = report.by_own;
    }
    if (report.detail || report.comparisons < SEEN ||
        report.dropped > report.comparisons)
        return;
    if (report.points < ENOUGH || there.unsolved > unseen(c))
        c->solved = jx_arena_printf(
            c->program->ctx->arena,
            "it is the derivative where its function's loops lead, of which so "
            "many turns fall short by up to %.1g of the result: "
            "jaxvet.intended(..., \"implicit\") says that this is meant",
            there.unsolved);
    c->wrong = c->witness = NULL;
    c->place = NULL;
    c->code = JX_CODE_NONE;
    c->by_own = false;
    c->against = c->settled_against = 0;
    c->points = report.points;
    c->comparisons = report.comparisons;
    c->dropped = report.dropped;
}
