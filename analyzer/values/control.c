/* control.c - calls, branches and loops on extents. */
#include "analyzer/values/values_parts.h"

#include "frontend/ir/element.h"

#include <math.h>
#include <string.h>

enum {
    MOST_TURNS = 32,     /* that are walked one by one ... */
    MOST_WALKED = 20000, /* ... while they come to no more equations */
    FREE_TURNS = 3,      /* of a loop, before its extents are widened */
    MOST_WIDENED = 60,
    NARROWINGS = 2,
    /* equations in a loop and its loops, before no turns are walked alone */
    MOST_INSIDE = 150000,
    /* loops around one that is walked anew in each of their turns */
    MOST_UNSETTLED = 1,
    FREE_MISSES = 5, /* of what is kept of it else, before it is widened, ... */
    WIDENING_MISSES = 9, /* ... and before it is as wide as its dtype is */
};

static const jx_aval *result_aval(const jx_closed *body, int i)
{
    return jx_atom_aval(body->jaxpr->outs[i]);
}

/* What was numbered in the body is forgotten: its results get
 * numbers of their own. */
static bool leave(jx_valuing *in, int mark, const jx_closed *body,
                  jx_known *outs, int count)
{
    jx_valuing_forget(in, mark);
    for (int i = 0; i < count; i++)
        if (outs[i].number >= mark) {
            outs[i] = jx_valuing_new(in, result_aval(body, i), outs[i].is,
                                     outs[i].lost);
            if (outs[i].number < 0)
                return false;
        }
    return true;
}

static bool fits(const jx_bounding *t, const jx_closed *closed, int nins,
                 int nouts)
{
    (void)t;
    return closed->jaxpr && closed->jaxpr->nins == nins &&
           closed->jaxpr->nouts == nouts;
}

bool jx_bound_call(jx_bounding *t)
{
    const jx_closed *callee = jx_eqn_callee(t->eqn);

    if (!callee || !fits(t, callee, t->eqn->nins, t->eqn->nouts))
        return true;
    t->walked = true;
    return jx_valuing_run(t->in, callee, t->ins, t->outs);
}

static void join_outs(jx_known *to, const jx_known *from, int count)
{
    for (int i = 0; i < count; i++) {
        to[i].is = jx_extent_join(to[i].is, from[i].is);
        if (!to[i].lost && !jx_extent_is_finite(from[i].is))
            to[i].lost = from[i].lost;
    }
}

/* A body that runs where a scalar predicate holds, or does not. */
static bool run_where(jx_valuing *in, const jx_known *predicate, bool holds,
                      const jx_closed *body, const jx_known *ins,
                      jx_known *outs)
{
    bool ok, supposed = predicate && predicate->number >= 0 &&
                        !jx_valuing_made(in, predicate)->aval->rank;

    if (supposed && !jx_suppose(in, predicate, holds))
        return false;
    ok = jx_valuing_run(in, body, ins, outs);
    if (supposed)
        jx_supposed(in);
    return ok;
}

bool jx_bound_cond(jx_bounding *t)
{
    const jx_p_cond *p = t->eqn->typed;
    jx_valuing *in = t->in;
    int nins = t->eqn->nins - 1, nouts = t->eqn->nouts,
        last = p->branches.count - 1;
    jx_known *ins =
        JX_NEW_ARRAY(jx_valuing_arena(in), nins + nouts + 1, jx_known);
    jx_known *outs = ins ? ins + nins : NULL;
    jx_extent which = t->ins[0].is;
    bool two = last == 1 && which.lo >= 0 && which.hi <= 1;

    if (!ins || last < 0)
        return ins != NULL;
    for (int i = 0; i < nouts; i++)
        t->outs[i].is = jx_extent_none();
    for (int b = 0; b <= last; b++) {
        int mark = jx_valuing_mark(in);
        /* An index beyond the branches is that of the nearest. */
        if ((b < which.lo && b < last) || (b > which.hi && b > 0))
            continue;
        if (!fits(t, &p->branches.at[b], nins, nouts))
            return true;
        memcpy(ins, t->ins + 1, (size_t)nins * sizeof *ins);
        if (two)
            jx_guard_all(in, &t->ins[0], b == 1, ins, nins);
        if (!run_where(in, two ? &t->ins[0] : NULL, b == 1, &p->branches.at[b],
                       ins, outs))
            return false;
        jx_valuing_forget(in, mark);
        join_outs(t->outs, outs, nouts);
    }
    t->walked = true;
    return true;
}

/* -- loops ----------------------------------------------------------------- */

/* An integer that each turn of a scan adds the same number to: it never leaves
 * what it is at first and after the last turn.  Step 0: it is none. */
typedef struct counter {
    int64_t step;
    jx_extent within, after; /* in a turn, and when all are over */
    const jx_dim *least, *most;
} counter;

/* A loop: what its body takes is constants, carried values, then slices; it
 * gives what is carried, then slices. */
typedef struct loop {
    jx_bounding *t;
    const jx_closed *body;
    int nconsts, ncarry, nslices;
    const jx_known *consts;
    const jx_known *slices;     /* as the whole arrays are */
    const jx_closed *condition; /* of a while, or no jaxpr */
    int nheld;
    const jx_known *held; /* its constants */
    jx_known *carry;      /* now */
    jx_known *ins, *outs; /* of the body */
    jx_known *asked;      /* of the condition */
    const jx_dim *length; /* of a scan */
    counter *counters;    /* of a scan's carried values */
} loop;

static bool begin(loop *l)
{
    jx_arena *arena = jx_valuing_arena(l->t->in);
    int nins = l->nconsts + l->ncarry + l->nslices;

    l->ins = JX_NEW_ARRAY(arena, nins + 1, jx_known);
    l->outs = JX_NEW_ARRAY(arena, l->body->jaxpr->nouts + 1, jx_known);
    l->asked = JX_NEW_ARRAY(arena, l->nheld + l->ncarry + 2, jx_known);
    return l->ins && l->outs && l->asked;
}

/* What the condition gives of the carried values; its number stays. */
static bool ask(loop *l, jx_known *predicate)
{
    memcpy(l->asked, l->held, (size_t)l->nheld * sizeof *l->asked);
    memcpy(l->asked + l->nheld, l->carry, (size_t)l->ncarry * sizeof *l->asked);
    return jx_valuing_run(l->t->in, l->condition, l->asked, predicate);
}

static bool counts(const loop *l, int i)
{
    return l->counters && l->counters[i].step;
}

/* Whether no turn changes it. */
static bool stays(const loop *l, int i)
{
    const jx_jaxpr *body = l->body->jaxpr;

    return body->outs[i].var == body->vars[body->nconsts + l->nconsts + i];
}

/* Carried values get numbers of their own, since what they are changes, but for
 * those that stay what they are. */
static bool renumber(loop *l)
{
    for (int i = 0; i < l->ncarry; i++) {
        const jx_aval *aval =
            l->body->jaxpr->vars[l->body->jaxpr->nconsts + l->nconsts + i]
                ->aval;
        if (stays(l, i) && l->carry[i].number >= 0)
            continue;
        l->carry[i] =
            jx_valuing_new(l->t->in, aval, l->carry[i].is, l->carry[i].lost);
        if (l->carry[i].number < 0)
            return false;
        if (counts(l, i)) {
            jx_made *made = &l->t->in->made.at[l->carry[i].number];
            made->least = l->counters[i].least;
            made->most = l->counters[i].most;
        }
    }
    return true;
}

/* One turn; where a condition is given, within what it says. */
static bool turn(loop *l, const jx_known *predicate)
{
    jx_valuing *in = l->t->in;
    jx_known *to = l->ins;

    memcpy(to, l->consts, (size_t)l->nconsts * sizeof *to);
    to += l->nconsts;
    memcpy(to, l->carry, (size_t)l->ncarry * sizeof *to);
    if (predicate)
        jx_guard_all(in, predicate, true, to, l->ncarry);
    to += l->ncarry;
    for (int i = 0; i < l->nslices; i++) {
        const jx_jaxpr *body = l->body->jaxpr;
        const jx_aval *aval =
            body->vars[body->nconsts + l->nconsts + l->ncarry + i]->aval;
        to[i] = jx_valuing_new(in, aval, l->slices[i].is, l->slices[i].lost);
        if (to[i].number < 0)
            return false;
        in->made.at[to[i].number].among = &l->slices[i];
    }
    return run_where(in, predicate, true, l->body, l->ins, l->outs);
}

static void take_slices(loop *l)
{
    join_outs(l->t->outs + l->ncarry, l->outs + l->ncarry,
              l->body->jaxpr->nouts - l->ncarry);
}

static void carry_on(loop *l)
{
    for (int i = 0; i < l->ncarry; i++)
        l->carry[i] = l->outs[i];
}

/* Turn by turn, as long as it is sure that another follows and they are short:
 * adds to *turned.  *done: none follows. */
static bool unroll(loop *l, int turns, int *turned, bool *done)
{
    jx_valuing *in = l->t->in;
    int64_t before = in->walked;

    for (int i = 0; i < turns && in->walked - before < MOST_WALKED &&
                    in->walked - in->outermost < MOST_INSIDE;
         i++, ++*turned) {
        int mark = jx_valuing_mark(in);
        jx_known predicate = {jx_extent_of(1), -1, NULL};
        if (l->condition && !ask(l, &predicate))
            return false;
        if (predicate.is.hi < 1)
            *done = true;
        if (*done || predicate.is.lo < 1) {
            jx_valuing_forget(in, mark);
            return true;
        }
        if (!turn(l, l->condition ? &predicate : NULL))
            return false;
        if (!leave(in, mark, l->body, l->outs, l->body->jaxpr->nouts))
            return false;
        carry_on(l);
        take_slices(l);
    }
    return true;
}

/* One turn from extents for any turn: what it gives beside what
 * there was at first. */
static bool any_turn(loop *l, jx_extent *after)
{
    jx_valuing *in = l->t->in;
    int mark = jx_valuing_mark(in);
    jx_known predicate;
    bool condition = l->condition != NULL;

    if (!renumber(l) || (condition && !ask(l, &predicate)) ||
        !turn(l, condition ? &predicate : NULL))
        return false;
    for (int i = 0; i < l->ncarry; i++) {
        after[i] = l->outs[i].is;
        if (!l->carry[i].lost && !jx_extent_is_finite(l->outs[i].is))
            l->carry[i].lost = l->outs[i].lost;
    }
    jx_valuing_forget(in, mark);
    return true;
}

/* Extents that hold before any turn. */
static bool settle(loop *l, const jx_extent *first)
{
    jx_extent *after =
        JX_NEW_ARRAY(jx_valuing_arena(l->t->in), l->ncarry + 1, jx_extent);
    bool steady = false;

    for (int k = 0; after && !steady && k < MOST_WIDENED; k++) {
        steady = true;
        if (!any_turn(l, after))
            return false;
        for (int i = 0; i < l->ncarry; i++) {
            jx_extent was = l->carry[i].is, is = jx_extent_join(was, after[i]);
            if (counts(l, i) || jx_extent_same(was, is))
                continue;
            steady = false;
            l->carry[i].is =
                k < FREE_TURNS
                    ? is
                    : jx_extent_widen(was, is, result_aval(l->body, i)->dtype);
        }
    }
    for (int i = 0; after && !steady && i < l->ncarry; i++)
        if (!counts(l, i))
            l->carry[i].is = jx_extent_whole(result_aval(l->body, i)->dtype);
    /* What one more turn gives holds, too, and may be narrower. */
    for (int k = 0; after && k < NARROWINGS; k++) {
        if (!any_turn(l, after))
            return false;
        for (int i = 0; i < l->ncarry; i++) {
            jx_extent is = jx_extent_join(first[i], after[i]);
            if (!counts(l, i) && is.lo >= l->carry[i].is.lo &&
                is.hi <= l->carry[i].is.hi && (!is.nan || l->carry[i].is.nan))
                l->carry[i].is = is;
        }
    }
    return after != NULL;
}

/* A literal integer that fits 32 bits; else 0. */
static int64_t number_of(const jx_atom *atom)
{
    const jx_literal *literal = atom->literal;
    int64_t is;

    if (!literal || literal->array || literal->dim)
        return 0;
    is = (int64_t)jx_element_integer(literal->aval->dtype, literal->bits);
    return is >= -INT32_MAX && is <= INT32_MAX ? is : 0;
}

/* What the body adds to a carried value, of a result of it; 0: something
 * else happens to it. */
static int64_t step_of(const loop *l, int i)
{
    const jx_jaxpr *body = l->body->jaxpr;
    const jx_var *out = body->outs[i].var,
                 *in = body->vars[body->nconsts + l->nconsts + i];
    const jx_aval *aval = result_aval(l->body, i);

    if (!out || aval->kind != JX_AVAL_ARRAY ||
        !jx_dtype_is_integer(aval->dtype))
        return 0;
    for (int k = 0; k < body->neqns; k++) {
        const jx_eqn *eqn = &body->eqns[k];
        if (eqn->nouts != 1 || eqn->outs[0] != out)
            continue;
        if (eqn->prim->id == JX_PRIM_sub)
            return eqn->ins[0].var == in ? -number_of(&eqn->ins[1]) : 0;
        for (int s = 0; eqn->prim->id == JX_PRIM_add && s < 2; s++)
            if (eqn->ins[s].var == in)
                return number_of(&eqn->ins[1 - s]);
        return 0;
    }
    return 0;
}

static bool count(loop *l, int i, counter *c, jx_extent turns)
{
    jx_dims *dims = l->t->in->program->dims;
    jx_dtype dtype = result_aval(l->body, i)->dtype;
    jx_extent first = l->carry[i].is, holds = jx_extent_finite(dtype);
    const jx_dim *more;
    double step;

    c->step = step_of(l, i);
    step = (double)c->step;
    c->after =
        jx_extent_between(first.lo + step * (step < 0 ? turns.hi : turns.lo),
                          first.hi + step * (step < 0 ? turns.lo : turns.hi));
    c->within = jx_extent_between(first.lo + fmin(0, step * (turns.hi - 1)),
                                  first.hi + fmax(0, step * (turns.hi - 1)));
    if (c->step == 1 && jx_extent_is_one(first) && first.lo == 0) {
        c->within = jx_bound_places(dtype, l->length, c->within);
        if (jx_dim_is_symbolic(l->length)) /* which fits */
            c->after.hi = fmin(c->after.hi, c->within.hi + 1);
    }
    if (jx_extent_is_empty(first) || turns.hi < 1 || c->after.lo < holds.lo ||
        c->after.hi > holds.hi || c->within.lo < holds.lo ||
        c->within.hi > holds.hi)
        c->step = 0;
    if (!c->step || !jx_extent_is_one(first) || fabs(first.lo) > 0x1p53)
        return true;
    more = jx_dim_add(
        dims, jx_dim_int(dims, (int64_t)first.lo),
        jx_dim_mul(dims, jx_dim_int(dims, c->step),
                   jx_dim_sub(dims, l->length, jx_dim_int(dims, 1))));
    c->least = c->step > 0 ? jx_dim_int(dims, (int64_t)first.lo) : more;
    c->most = c->step > 0 ? more : jx_dim_int(dims, (int64_t)first.lo);
    return more != NULL;
}

/* Finds what counts, before the turns that are left. */
static bool find_counters(loop *l, int turned)
{
    jx_extent turns = jx_bound_size(l->t->in, l->length);

    turns = jx_extent_between(fmax(turns.lo - turned, 0), turns.hi - turned);
    l->counters =
        JX_NEW_ARRAY(jx_valuing_arena(l->t->in), l->ncarry + 1, counter);
    for (int i = 0; l->counters && i < l->ncarry; i++) {
        if (!count(l, i, &l->counters[i], turns))
            return false;
        if (counts(l, i))
            l->carry[i].is = l->counters[i].within;
    }
    return l->counters != NULL;
}

/* Any number of turns more. */
static bool repeat(loop *l)
{
    jx_valuing *in = l->t->in;
    bool recording = in->recording, condition = l->condition != NULL;
    jx_extent *first =
        JX_NEW_ARRAY(jx_valuing_arena(in), l->ncarry + 1, jx_extent);
    int mark;
    jx_known predicate;

    if (!first)
        return false;
    for (int i = 0; i < l->ncarry; i++)
        first[i] = l->carry[i].is;
    in->recording = false;
    if (!settle(l, first))
        return false;
    in->recording = recording;
    mark = jx_valuing_mark(in);
    if (!renumber(l) || (condition && !ask(l, &predicate)))
        return false;
    if (condition && result_aval(l->condition, 0)->rank) {
        /* Runs that have ended go on until all have, and what they
         * make is left out. */
        if (!turn(l, NULL))
            return false;
        in->recording = false;
    }
    if (!turn(l, condition ? &predicate : NULL))
        return false;
    in->recording = recording;
    take_slices(l);
    for (int i = 0; i < l->ncarry; i++) {
        l->outs[i] = l->carry[i];
        if (counts(l, i))
            l->outs[i].is = l->counters[i].after;
    }
    if (condition)
        jx_guard_all(in, &predicate, false, l->outs, l->ncarry);
    carry_on(l);
    jx_valuing_forget(in, mark);
    for (int i = 0; i < l->ncarry; i++)
        if (l->carry[i].number >= mark)
            l->carry[i].number = -1;
    return true;
}

static void finish(loop *l)
{
    l->t->walked = true;
    for (int i = 0; i < l->ncarry; i++) {
        l->t->outs[i].is = l->carry[i].is;
        l->t->outs[i].lost = l->carry[i].lost;
    }
}

static jx_known *copy(const jx_bounding *t, const jx_known *from, int count)
{
    jx_known *to = JX_NEW_ARRAY(jx_valuing_arena(t->in), count + 1, jx_known);

    if (to)
        memcpy(to, from, (size_t)count * sizeof *to);
    return to;
}

/* -- loops in loops -------------------------------------------------------- */

/* What a loop gives of operands within these extents, whatever they are
 * to each other. */
typedef struct settled_loop {
    jx_extent *ins;
    jx_known *outs;
    int misses;
} settled_loop;

static jx_dtype known_dtype(const jx_aval *aval)
{
    return aval->kind == JX_AVAL_ARRAY ? aval->dtype : JX_DT_NONE;
}

/* Makes the extents of operands as wide as those of an equation's are, or
 * wider; false: they were already. */
static bool widen_to(settled_loop *to, const jx_bounding *t)
{
    bool wider = false;

    for (int i = 0; i < t->eqn->nins; i++) {
        jx_dtype dtype = known_dtype(jx_atom_aval(t->eqn->ins[i]));
        jx_extent was = to->ins[i], is = jx_extent_join(was, t->ins[i].is);
        if (jx_extent_same(was, is))
            continue;
        wider = true;
        to->ins[i] = to->misses < FREE_MISSES ? is
                     : to->misses < WIDENING_MISSES
                         ? jx_extent_widen(was, is, dtype)
                         : jx_extent_join(is, jx_extent_whole(dtype));
    }
    to->misses += wider;
    return wider;
}

static settled_loop *settled_of(const jx_bounding *t)
{
    jx_valuing *in = t->in;
    jx_arena *arena = jx_valuing_arena(in);
    settled_loop *kept =
        (settled_loop *)(uintptr_t)jx_map_get(&in->settled, t->eqn);

    if (kept)
        return kept;
    if (!in->settled.arena)
        jx_map_init(&in->settled, arena);
    kept = JX_NEW(arena, settled_loop);
    if (!kept)
        return NULL;
    kept->ins = JX_NEW_ARRAY(arena, t->eqn->nins + 1, jx_extent);
    kept->outs = JX_NEW_ARRAY(arena, t->eqn->nouts + 1, jx_known);
    for (int i = 0; kept->ins && i < t->eqn->nins; i++)
        kept->ins[i] = jx_extent_none();
    return kept->ins && kept->outs && jx_map_put(&in->settled, t->eqn, kept)
               ? kept
               : NULL;
}

/* The loop on operands of which only these extents are known. */
static bool walk_settled(const jx_bounding *t, jx_bound_rule *rule,
                         settled_loop *kept)
{
    jx_valuing *in = t->in;
    jx_known *ins =
        JX_NEW_ARRAY(jx_valuing_arena(in), t->eqn->nins + 1, jx_known);
    jx_bounding alone = *t;
    int mark = jx_valuing_mark(in);

    for (int i = 0; ins && i < t->eqn->nins; i++) {
        ins[i] = jx_valuing_new(in, jx_atom_aval(t->eqn->ins[i]), kept->ins[i],
                                t->ins[i].lost);
        if (ins[i].number < 0)
            return false;
    }
    alone.ins = ins;
    alone.outs = kept->outs;
    for (int i = 0; i < t->eqn->nouts; i++)
        kept->outs[i] = t->outs[i];
    if (!ins || !rule(&alone))
        return false;
    jx_valuing_forget(in, mark);
    return true;
}

static bool bound_inside(jx_bounding *t, jx_bound_rule *rule)
{
    settled_loop *kept;

    if (t->in->recording || t->in->unsettled <= MOST_UNSETTLED)
        return rule(t);
    kept = settled_of(t);
    if (!kept)
        return false;
    if ((widen_to(kept, t) || !kept->misses) && !walk_settled(t, rule, kept))
        return false;
    kept->misses += !kept->misses; /* one without operands */
    for (int i = 0; i < t->eqn->nouts; i++)
        t->outs[i] = (jx_known){kept->outs[i].is, -1, kept->outs[i].lost};
    t->walked = true;
    return true;
}

/* Each turn of a loop whose extents are being settled walks the loops inside,
 * which settle theirs: turns multiply with depth.  Deep inside, what a loop
 * gave of operands that held these is what it gives, and of wider ones it is
 * asked a few times only, since these are widened. */
static bool bound_loop(jx_bounding *t, jx_bound_rule *rule)
{
    jx_valuing *in = t->in;
    int unsettled = in->unsettled;
    bool ok;

    if (!in->loops)
        in->outermost = in->walked;
    in->loops++;
    in->unsettled += !in->recording;
    ok = bound_inside(t, rule);
    in->loops--;
    in->unsettled = unsettled;
    return ok;
}

static bool bound_while(jx_bounding *t)
{
    const jx_p_while *p = t->eqn->typed;
    int nheld = (int)p->cond_nconsts, nconsts = (int)p->body_nconsts;
    int ncarry = t->eqn->nins - nheld - nconsts;
    loop l = {.t = t,
              .body = &p->body_jaxpr,
              .nconsts = nconsts,
              .ncarry = ncarry,
              .consts = t->ins + nheld,
              .condition = &p->cond_jaxpr,
              .nheld = nheld,
              .held = t->ins};
    bool done = false;
    int turned = 0;

    if (ncarry != t->eqn->nouts || !fits(t, l.body, nconsts + ncarry, ncarry) ||
        !fits(t, l.condition, nheld + ncarry, 1))
        return true;
    l.carry = copy(t, t->ins + nheld + nconsts, ncarry);
    if (!l.carry || !begin(&l) || !unroll(&l, MOST_TURNS, &turned, &done) ||
        (!done && !repeat(&l)))
        return false;
    finish(&l);
    return true;
}

bool jx_bound_while(jx_bounding *t)
{
    return bound_loop(t, bound_while);
}

static bool bound_scan(jx_bounding *t)
{
    const jx_p_scan *p = t->eqn->typed;
    int nconsts = (int)p->num_consts, ncarry = (int)p->num_carry;
    int nslices = t->eqn->nins - nconsts - ncarry;
    loop l = {.t = t,
              .body = &p->jaxpr,
              .nconsts = nconsts,
              .ncarry = ncarry,
              .nslices = nslices,
              .consts = t->ins,
              .slices = t->ins + nconsts + ncarry,
              .length = p->length};
    jx_extent length = jx_bound_size(t->in, p->length);
    bool done = false,
         few = jx_extent_is_one(length) && length.lo <= MOST_TURNS;
    int turns = few ? (int)length.lo : 0, turned = 0;
    int64_t before = t->in->walked;

    if (nslices < 0 || !fits(t, l.body, t->eqn->nins, t->eqn->nouts))
        return true;
    l.carry = copy(t, t->ins + nconsts, ncarry);
    if (!l.carry || !begin(&l))
        return false;
    for (int i = ncarry; i < t->eqn->nouts; i++)
        t->outs[i].is = jx_extent_none();
    /* Few turns are walked each, if the first shows that they are short. */
    if (turns && !unroll(&l, 1, &turned, &done))
        return false;
    if ((t->in->walked - before) * turns < MOST_WALKED &&
        !unroll(&l, turns - turned, &turned, &done))
        return false;
    if ((!few || turned < turns) && (!find_counters(&l, turned) || !repeat(&l)))
        return false;
    finish(&l);
    return true;
}

bool jx_bound_scan(jx_bounding *t)
{
    return bound_loop(t, bound_scan);
}
