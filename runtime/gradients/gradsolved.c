/* gradsolved.c - see gradding.h: so many turns, and where more of them lead.
 *
 * A solver of so many turns is a function of these.  A rule that differentiates
 * what it solves is no derivative of that by as much as the turns fall short,
 * which may be much, and what was meant. So the points are visited once more
 * where the loops go on to their end (gradlimit.c): where this is near by and
 * draws them, and the rule is right at all such points, there is nothing to
 * accuse it of.  Points that disagreed as they stood are among these: where
 * none of them is judged there, nothing explains them.  A rule whose tangents
 * go through a loop follows turns, and is judged by these. */
#include "runtime/gradients/gradding.h"

#include <math.h>
#include <string.h>

enum {
    SEEN = 16,  /* comparisons in which it is right, to excuse it, ... */
    ENOUGH = 3, /* ... and points, to say that it agrees */
    SOME = 3,   /* at which it disagreed, and may yet be wrong */
    UNITS = 64,
    KEPT = 32,        /* points at which it disagreed ... */
    ROOM = 64 * 1024, /* ... and their numbers */
    MOST_WORK = 8000000,
};

/* How near to where they lead turns are that nobody tells from it: some units
 * of the dtype, where these are small. */
static double unseen(const jx_gradding *c)
{
    double unit = jx_grad_unit(c);

    return fmax(unit, fmin(UNITS * unit, 1e-5));
}

/* Whether its function makes so many turns, which the rule does not follow. */
static bool has_turns(const jx_gradding *c)
{
    return c->iterative && !c->most_work && c->turns &&
           c->turns->searches == 0 && c->turns->again > 0;
}

/* Whether what disagrees may be right where more turns lead. */
static bool may_be_solved(const jx_gradding *c)
{
    return !c->ends_only && c->against > 0 && has_turns(c);
}

void jx_grad_keep_refused(jx_gradding *c)
{
    const size_t n = (size_t)c->in.size;

    if (!has_turns(c) || c->nrefused >= KEPT ||
        (size_t)(c->nrefused + 1) * n > ROOM)
        return;
    if (!c->refused)
        c->refused = JX_NEW_ARRAY(c->program->ctx->arena,
                                  n * KEPT < ROOM ? n * KEPT : ROOM, double);
    if (c->refused)
        memcpy(c->refused + (size_t)c->nrefused++ * n, c->x, n * sizeof *c->x);
}

void jx_grad_visit_refused(jx_gradding *c)
{
    static const jx_point here = {JX_AT_GIVEN, 1, "where it disagrees"};
    const size_t n = (size_t)c->in.size;
    const int64_t work = c->work;
    const int points = c->points;
    bool good = true;

    /* What others took is none of theirs; the last are those of regions. */
    c->work = 0;
    c->point = &here;
    for (int k = c->nrefused; good && k-- > 0 && c->work < MOST_WORK;) {
        memcpy(c->x, c->refused + (size_t)k * n, n * sizeof *c->x);
        good = jx_grad_check_here(c);
    }
    c->work += work;
    c->answered = c->points - points;
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
    there.refused = c->refused;
    there.nrefused = c->nrefused;
    jx_grad_pattern(&there, how, thorough, &report);
    c->work += report.work;
    if (report.outcome == JX_RULE_WRONG && !c->wrong && c->against <= SOME)
        c->solved = "it disagrees, and where its function's loops lead as well";
    else if (report.outcome == JX_RULE_WRONG && !c->wrong) {
        c->wrong = report.detail;
        c->witness = report.witness;
        c->place = report.place;
        c->code = report.code;
        c->by_own = report.by_own;
    }
    if (report.detail || report.comparisons < SEEN ||
        report.dropped > report.comparisons ||
        (!c->wrong && there.answered == 0))
        return;
    if (report.points < ENOUGH || there.answered == 0 ||
        there.unsolved > unseen(c))
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
