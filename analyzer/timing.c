/* timing.c - see timing.h: a walk that knows of each value when it is there. */
#include "analyzer/timing.h"

#include "analyzer/communication.h"
#include "analyzer/cost_rules.h"
#include "frontend/base/map.h"

#include <math.h>
#include <string.h>

enum { MOST_TURNS = 1 << 12 /* that are walked one by one */ };
static const int64_t MOST_STEPS = 5000000; /* equations that are walked */

/* When a value is there at the earliest, and how much of the longest way to
 * it is sending. */
typedef struct moment {
    double at, sending;
} moment;

/* What was done on the way, whenever. */
typedef struct totals {
    double computing, collectives, up, down; /* the last two: permutes */
    double halved; /* of what collectives take, where they send both ways */
} totals;

typedef struct timer {
    const jx_typed *typed;
    jx_program *program;
    const jx_cost *cost;
    jx_assignment sizes;
    const jx_rates *rates;
    moment **values; /* per jaxpr; no jaxpr runs within itself, and ... */
    jx_map rooms;    /* ... no equation: moment[] of both, beside these */
    totals all;
    int64_t steps;
    bool failed;
} timer;

static void walk(timer *t, const jx_jaxpr *jaxpr, const moment *ins,
                 moment *outs);

static double fail(timer *t, const char *why, const jx_eqn *eqn)
{
    if (!t->failed)
        jx_fail(t->program->ctx, JX_E_INPUT, t->program->path, NULL, "%s: %s",
                eqn ? jx_eqn_name(eqn) : "it", why);
    t->failed = true;
    return 0;
}

static double number(timer *t, const jx_dim *dim, const jx_eqn *eqn)
{
    jx_int value;

    if (dim && jx_dim_eval_wide(dim, jx_assigned, &t->sizes, &value))
        return (double)value;
    return fail(t,
                "its cost is not known: expected all sizes to be given, as in "
                "--set b=8",
                eqn);
}

/* Room for `n` moments that is this equation's, or this jaxpr's,
 * in loops, too. */
static moment *room_of(timer *t, const void *whose, int n)
{
    moment *room = (moment *)(uintptr_t)jx_map_get(&t->rooms, whose);

    if (!room && (room = JX_NEW_ARRAY(t->program->ctx->arena, n + 1, moment)))
        jx_map_put(&t->rooms, whose, room);
    if (room)
        memset(room, 0, (size_t)n * sizeof *room);
    return room;
}

static moment later(moment a, moment b)
{
    return a.at > b.at || (a.at == b.at && a.sending >= b.sending) ? a : b;
}

static moment latest(int n, const moment *of)
{
    moment to = {0};

    for (int i = 0; i < n; i++)
        to = later(of[i], to);
    return to;
}

/* ---- one equation by itself */

static double computing(const timer *t, double operations)
{
    return t->rates->flops > 0 ? operations / t->rates->flops : 0;
}

static double sending(timer *t, const jx_eqn *eqn)
{
    jx_communication c;
    double bytes, start, seconds;

    if (!jx_communication_of(t->program, eqn, &c))
        return 0;
    bytes = number(t, c.bytes, eqn) * t->rates->beta;
    start = (double)c.messages * t->rates->alpha;
    seconds = start + bytes;
    if (c.kind == JX_COLLECTIVE_PERMUTE) {
        *(c.down ? &t->all.down : &t->all.up) += seconds;
    } else {
        t->all.collectives += seconds;
        t->all.halved += start + bytes / 2;
    }
    return seconds;
}

/* Operations of a body that combines elements. */
static double operations_of(timer *t, const jx_jaxpr *body)
{
    double sum = 0;

    for (int i = 0; i < body->neqns; i++) {
        jx_dims *dims = t->program->dims;
        const jx_dim *zero = jx_dim_int(dims, 0);
        jx_costing rule = {dims, &body->eqns[i],      zero,
                           zero, jx_dim_int(dims, 1), false,
                           false};
        if (!jx_typed_accepts(t->typed, body, &body->eqns[i]))
            continue;
        jx_cost_rule_of(body->eqns[i].prim->id)(&rule);
        sum += number(t, rule.flops, rule.eqn) +
               number(t, rule.transcendentals, rule.eqn);
    }
    return sum;
}

/* ---- what runs jaxprs */

static void walk_closed(timer *t, const jx_closed *closed, const moment *ins,
                        moment *outs)
{
    walk(t, closed->jaxpr, ins, outs);
}

/* One of them is run: the slowest. */
static void walk_branches(timer *t, const jx_eqn *eqn, const moment *ins,
                          moment *outs)
{
    const jx_closed_list *branches = &((const jx_p_cond *)eqn->typed)->branches;
    moment *made = room_of(t, eqn, eqn->nouts + eqn->nins);
    moment *from = made ? made + eqn->nouts : NULL;
    totals before = t->all, most = before;

    for (int i = 1; made && i < eqn->nins; i++)
        from[i - 1] = later(ins[i], ins[0]);
    for (int b = 0; made && b < branches->count; b++) {
        t->all = before;
        walk_closed(t, &branches->at[b], from, made);
        for (int i = 0; i < eqn->nouts; i++)
            outs[i] = later(made[i], outs[i]);
        most.computing = fmax(most.computing, t->all.computing);
        most.collectives = fmax(most.collectives, t->all.collectives);
        most.halved = fmax(most.halved, t->all.halved);
        most.up = fmax(most.up, t->all.up);
        most.down = fmax(most.down, t->all.down);
    }
    t->all = most;
}

/* After some turns each takes as long as the last: what is left
 * of a long loop. */
static void add_turns(timer *t, const totals *before, double left, int n,
                      const moment *last, moment *now)
{
    for (int i = 0; i < n; i++) {
        now[i].at += left * (now[i].at - last[i].at);
        now[i].sending += left * (now[i].sending - last[i].sending);
    }
    t->all.computing += left * (t->all.computing - before->computing);
    t->all.collectives += left * (t->all.collectives - before->collectives);
    t->all.halved += left * (t->all.halved - before->halved);
    t->all.up += left * (t->all.up - before->up);
    t->all.down += left * (t->all.down - before->down);
}

/* A loop as its turns: `from` has its constants, what it carries and the rest
 * of what the body takes; `made` what the body gives, of which the first
 * `carried` are carried. */
typedef struct turning {
    const jx_closed *body, *test; /* test NULL: a scan */
    moment *from, *made, *ask, *last;
    int fixed, carried, nasked;
    double turns;
} turning;

static void turn_once(timer *t, const turning *l)
{
    moment goes_on = {0};

    if (l->test) {
        memcpy(l->ask + l->nasked, l->from + l->fixed,
               (size_t)l->carried * sizeof *l->ask);
        walk_closed(t, l->test, l->ask, &goes_on);
        /* no turn begins before it is known */
        for (int i = 0; i < l->carried; i++)
            l->from[l->fixed + i] = later(l->from[l->fixed + i], goes_on);
    }
    walk_closed(t, l->body, l->from, l->made);
    memcpy(l->from + l->fixed, l->made, (size_t)l->carried * sizeof *l->from);
}

static void turn(timer *t, const turning *l)
{
    double done = 0;
    totals before = t->all;

    for (; done < l->turns && done < MOST_TURNS && !t->failed; done++) {
        before = t->all;
        memcpy(l->last, l->from + l->fixed,
               (size_t)l->carried * sizeof *l->last);
        turn_once(t, l);
    }
    if (done < l->turns)
        add_turns(t, &before, l->turns - done, l->carried, l->last,
                  l->from + l->fixed);
}

static void walk_scan(timer *t, const jx_eqn *eqn, const moment *ins,
                      moment *outs)
{
    const jx_p_scan *p = eqn->typed;
    int fixed = (int)p->num_consts, carried = (int)p->num_carry,
        n = eqn->nins + 2 * eqn->nouts;
    moment *room = room_of(t, eqn, n);
    turning l = {.body = &p->jaxpr, .fixed = fixed, .carried = carried};

    if (!room)
        return;
    l.from = room;
    l.made = room + eqn->nins;
    l.last = l.made + eqn->nouts;
    l.turns = number(t, p->length, eqn);
    memcpy(l.from, ins, (size_t)eqn->nins * sizeof *ins);
    turn(t, &l);
    memcpy(outs, l.from + fixed, (size_t)carried * sizeof *outs);
    /* What is stacked is there when its last row is. */
    for (int i = carried; i < eqn->nouts; i++)
        outs[i] = later(l.made[i], latest(carried, outs));
}

static double turns_of(timer *t, const jx_eqn *eqn)
{
    for (size_t i = 0; i < t->cost->loops.count; i++)
        if (t->cost->loops.at[i].eqn == eqn) {
            jx_int value;
            const jx_dim *often = t->cost->loops.at[i].often;
            if (often &&
                jx_dim_eval_wide(often, jx_assigned, &t->sizes, &value))
                return (double)value;
        }
    return fail(t, "how often the loop runs is not known", eqn);
}

static void walk_while(timer *t, const jx_eqn *eqn, const moment *ins,
                       moment *outs)
{
    const jx_p_while *p = eqn->typed;
    int asks = (int)p->cond_nconsts, does = (int)p->body_nconsts,
        n = eqn->nouts;
    moment *room = room_of(t, eqn, 2 * eqn->nins + 3 * n);
    turning l = {.body = &p->body_jaxpr,
                 .test = &p->cond_jaxpr,
                 .fixed = does,
                 .carried = n,
                 .nasked = asks};

    if (!room)
        return;
    l.ask = room;
    l.from = l.ask + asks + n;
    l.made = l.from + does + n;
    l.last = l.made + n;
    l.turns = turns_of(t, eqn);
    memcpy(l.ask, ins, (size_t)asks * sizeof *ins);
    memcpy(l.from, ins + asks, (size_t)(does + n) * sizeof *ins);
    turn(t, &l);
    memcpy(outs, l.from + does, (size_t)n * sizeof *outs);
}

/* A jaxpr among the parameters that is run, `often` times, by
 * something else. */
static void walk_nested(timer *t, const jx_eqn *eqn, const jx_jaxpr *body,
                        double often, const moment *ins, moment *outs)
{
    bool plain =
        often == 1 && body->nins == eqn->nins && body->nouts == eqn->nouts;
    moment *room = room_of(t, body, body->nins + body->nouts);
    moment start = latest(eqn->nins, ins), end = {0};
    totals before = t->all;

    if (!room)
        return;
    for (int i = 0; i < body->nins; i++)
        room[i] = plain ? ins[i] : start;
    walk(t, body, room, room + body->nins);
    if (plain) {
        memcpy(outs, room + body->nins, (size_t)eqn->nouts * sizeof *outs);
        return;
    }
    end = later(latest(body->nouts, room + body->nins), start);
    add_turns(t, &before, often - 1, 1, &start, &end);
    for (int i = 0; i < eqn->nouts; i++)
        outs[i] = later(end, outs[i]);
}

/* ---- equations */

static void walk_inside(timer *t, const jx_eqn *eqn, const jx_costing *rule,
                        const moment *ins, moment *outs)
{
    switch (eqn->prim->id) {
    case JX_PRIM_cond: walk_branches(t, eqn, ins, outs); return;
    case JX_PRIM_scan: walk_scan(t, eqn, ins, outs); return;
    case JX_PRIM_while: walk_while(t, eqn, ins, outs); return;
    case JX_PRIM_custom_linear_solve:
        walk_nested(t, eqn,
                    ((const jx_p_custom_linear_solve *)eqn->typed)
                        ->jaxprs.part[JX_SOLVE]
                        .jaxpr,
                    1, ins, outs);
        return;
    default: break;
    }
    for (int i = 0; i < eqn->nparams; i++)
        if (eqn->params[i].value->tag == JX_V_JAXPR)
            walk_nested(t, eqn, eqn->params[i].value->jaxpr,
                        number(t, rule->often, eqn), ins, outs);
}

static void walk_eqn(timer *t, const jx_eqn *eqn, const moment *ins,
                     moment *outs)
{
    jx_dims *dims = t->program->dims;
    const jx_dim *zero = jx_dim_int(dims, 0);
    jx_costing rule = {dims,  eqn,  zero, zero, jx_dim_int(dims, 1),
                       false, false};
    moment start = latest(eqn->nins, ins);
    double operations, seconds, sent;

    jx_cost_rule_of(eqn->prim->id)(&rule);
    operations =
        number(t, rule.flops, eqn) + number(t, rule.transcendentals, eqn);
    for (int i = 0; rule.body && i < eqn->nparams; i++)
        if (eqn->params[i].value->tag == JX_V_JAXPR)
            operations += number(t, rule.often, eqn) *
                          operations_of(t, eqn->params[i].value->jaxpr);
    seconds = computing(t, operations);
    sent = sending(t, eqn);
    t->all.computing += seconds;
    for (int i = 0; i < eqn->nouts; i++)
        outs[i] = (moment){start.at + seconds + sent, start.sending + sent};
    if (!rule.body)
        walk_inside(t, eqn, &rule, ins, outs);
}

static void walk(timer *t, const jx_jaxpr *jaxpr, const moment *ins,
                 moment *outs)
{
    jx_arena *arena = t->program->ctx->arena;
    moment **values = &t->values[jaxpr->id];
    int first = jaxpr->nconsts, most = 1;

    for (int i = 0; i < jaxpr->neqns; i++) {
        most = jaxpr->eqns[i].nins > most ? jaxpr->eqns[i].nins : most;
        most = jaxpr->eqns[i].nouts > most ? jaxpr->eqns[i].nouts : most;
    }
    if (!*values)
        *values = JX_NEW_ARRAY(arena, jaxpr->nvars + 2 * most + 1, moment);
    if (!*values || (t->steps += jaxpr->neqns) > MOST_STEPS ||
        !jx_ctx_lasts(t->program->ctx)) {
        fail(t, "its loops are too long to be followed", NULL);
        return;
    }
    moment *of = *values, *to = of + jaxpr->nvars;
    memset(of, 0, (size_t)first * sizeof *of);
    memcpy(of + first, ins, (size_t)jaxpr->nins * sizeof *of);
    for (int i = 0; i < jaxpr->neqns && !t->failed; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        for (int k = 0; k < eqn->nins; k++)
            to[k] = eqn->ins[k].var ? of[eqn->ins[k].var->id] : (moment){0};
        memset(to + most, 0, (size_t)most * sizeof *to);
        if (jx_typed_accepts(t->typed, jaxpr, eqn))
            walk_eqn(t, eqn, to, to + most);
        else
            fail(t, "it is refused, and has no cost", eqn);
        for (int k = 0; k < eqn->nouts; k++)
            of[eqn->outs[k]->id] = to[most + k];
    }
    for (int i = 0; i < jaxpr->nouts; i++)
        outs[i] = jaxpr->outs[i].var ? of[jaxpr->outs[i].var->id] : (moment){0};
}

bool jx_timing_of(const jx_typed *typed, const jx_cost *cost, int nbindings,
                  const jx_binding *bindings, const jx_rates *rates,
                  jx_timing *to)
{
    jx_program *program = typed->program;
    jx_arena *arena = program->ctx->arena;
    const jx_jaxpr *entry = program->entry.jaxpr;
    timer t = {.typed = typed,
               .program = program,
               .cost = cost,
               .sizes = {nbindings, bindings},
               .rates = rates,
               .values = JX_NEW_ARRAY(arena, program->njaxprs + 1, moment *)};
    moment *ins = JX_NEW_ARRAY(arena, entry->nins + 1, moment);
    moment *outs = JX_NEW_ARRAY(arena, entry->nouts + 1, moment), end;

    if (!t.values || !ins || !outs)
        return false;
    jx_map_init(&t.rooms, arena);
    walk(&t, entry, ins, outs);
    end = latest(entry->nouts, outs);
    *to = (jx_timing){.computing = t.all.computing,
                      .sending = t.all.collectives + t.all.up + t.all.down,
                      .both_ways = t.all.halved + fmax(t.all.up, t.all.down),
                      .path = end.at,
                      .path_sending = end.sending};
    return !t.failed && jx_ok(program->ctx);
}
