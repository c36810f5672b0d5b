/* spmd_steps.c - loops and branches that hold a collective: the devices that
 * wait for each other in it (a team) go on in step.
 *
 * Its condition must be the same on all of a team (it is checked at run time),
 * as it must be where they really run, or they hang. */
#include "runtime/kernels/spmd.h"

#include <stdlib.h>
#include <string.h>

/* The expanded jaxpr of a body: the inputs of the team's first device, of its
 * second, ...; what is added at its end is the caller's. */
static bool begin_body(jx_spmd_maker *m, jx_spmd *s, const jx_closed *body,
                       jx_spmd_atoms *ins, jx_spmd_atoms *outs)
{
    const jx_jaxpr *j = body->jaxpr;

    *m = (jx_spmd_maker){.s = s, .nins = s->team.count * j->nins};
    *ins = jx_spmd_new_atoms(s, j->nins);
    *outs = jx_spmd_new_atoms(s, j->nouts);
    for (int t = 0; t < s->team.count && !s->failed; t++)
        for (int i = 0; i < j->nins; i++)
            jx_spmd_row(ins, s->team.at[t])[i] =
                jx_spmd_new_var(m, j->vars[j->nconsts + i]->aval);
    return !s->failed && jx_spmd_expand(m, body, ins, outs);
}

/* Fails at run time where a device of the team has another value than its
 * first. */
static bool agree(jx_spmd_maker *m, const jx_spmd_atoms *a, int number)
{
    static const jx_aval truth = {.dtype = JX_BOOL};
    static const jx_p_none none;
    jx_p_shape_assertion *says = JX_NEW(m->s->arena, jx_p_shape_assertion);

    if (!says)
        return jx_spmd_fail(m->s, "there is no memory");
    says->error_message = "devices go separate ways around a collective: "
                          "where they really run, they wait for each other "
                          "for ever";
    for (int t = 1; t < m->s->team.count; t++) {
        jx_atom pair[2] = {jx_spmd_row(a, m->s->team.at[0])[number],
                           jx_spmd_row(a, m->s->team.at[t])[number]},
                same;
        if (pair[0].var == pair[1].var && pair[0].var)
            continue;
        same = jx_spmd_emit_one(m, JX_PRIM_eq, &none, sizeof none, 2, pair,
                                &truth);
        if (!jx_spmd_emit(m, jx_prim_of(JX_PRIM_shape_assertion), says, 1,
                          &same, 0, NULL, NULL))
            return false;
    }
    return true;
}

/* The atoms first..first+count of each device, one device after the other. */
static void gather(jx_spmd *s, const jx_spmd_atoms *from, int first, int count,
                   jx_atom *to)
{
    for (int t = 0; t < s->team.count; t++)
        for (int i = 0; i < count; i++)
            *to++ = jx_spmd_row(from, s->team.at[t])[first + i];
}

/* An equation on the values of a team, whose results are theirs in turn. */
static bool emit_all(jx_spmd_maker *m, const jx_eqn *eqn, const void *typed,
                     int nins, const jx_atom *ins, const jx_spmd_atoms *outs)
{
    jx_spmd *s = m->s;
    int all = s->team.count * eqn->nouts;
    const jx_aval **avals = JX_NEW_ARRAY(s->arena, all + 1, const jx_aval *);
    jx_atom *results = JX_NEW_ARRAY(s->arena, all + 1, jx_atom);

    if (!avals || !results)
        return jx_spmd_fail(s, "there is no memory");
    for (int i = 0; i < all; i++)
        avals[i] = eqn->outs[i % eqn->nouts]->aval;
    if (!jx_spmd_emit(m, eqn->prim, typed, nins, ins, all, avals, results))
        return false;
    for (int i = 0; i < all; i++)
        jx_spmd_row(outs, s->team.at[i / eqn->nouts])[i % eqn->nouts] =
            results[i];
    return true;
}

/* A jaxpr with the outputs of a team's devices. */
static const jx_jaxpr *end_body(jx_spmd_maker *body, int id,
                                const jx_spmd_atoms *outs)
{
    jx_spmd *s = body->s;
    int all = s->team.count * outs->width;
    jx_atom *atoms = JX_NEW_ARRAY(s->arena, all + 1, jx_atom);

    if (!atoms) {
        jx_spmd_fail(s, "there is no memory");
        return NULL;
    }
    gather(s, outs, 0, outs->width, atoms);
    return jx_spmd_jaxpr(body, id, all, atoms);
}

/* ---- calls */

static bool same_callee(const jx_closed *a, const jx_closed *b)
{
    bool same = a->jaxpr == b->jaxpr && a->nconsts == b->nconsts;

    for (int i = 0; same && i < a->nconsts; i++)
        same = a->consts[i] == b->consts[i];
    return same;
}

static const jx_jaxpr *made_before(const jx_spmd *s, const jx_closed *callee)
{
    for (size_t i = 0; i < s->made.count; i++) {
        const jx_spmd_made *made = &s->made.at[i];
        if (same_callee(made->callee, callee) &&
            made->team.count == s->team.count &&
            !memcmp(made->team.at, s->team.at,
                    (size_t)s->team.count * sizeof *s->team.at))
            return made->jaxpr;
    }
    return NULL;
}

static const jx_jaxpr *make_callee(jx_spmd *s, const jx_closed *callee)
{
    jx_spmd_atoms ins, outs;
    jx_spmd_maker m;

    if (!begin_body(&m, s, callee, &ins, &outs))
        return NULL;
    const jx_spmd_made made = {callee, s->team,
                               end_body(&m, callee->jaxpr->id, &outs)};
    if (made.jaxpr) {
        JX_PUSH(s->arena, &s->made, made);
        jx_plan_share(s->p, made.jaxpr);
    }
    return made.jaxpr;
}

bool jx_spmd_call(jx_spmd_maker *m, const jx_eqn *eqn,
                  const jx_spmd_atoms *ins, const jx_spmd_atoms *outs)
{
    jx_spmd *s = m->s;
    const jx_closed *callee = jx_eqn_callee(eqn);
    int nins = s->team.count * eqn->nins;
    const jx_jaxpr *made = made_before(s, callee);
    jx_p_closed_call *call = JX_NEW(s->arena, jx_p_closed_call);
    jx_atom *all = JX_NEW_ARRAY(s->arena, nins + 1, jx_atom);
    jx_eqn like = *eqn;

    if (callee->jaxpr->nins != eqn->nins || callee->jaxpr->nouts != eqn->nouts)
        return jx_spmd_fail(s, "a body takes other operands");
    if (!call || !all)
        return jx_spmd_fail(s, "there is no memory");
    if (!made && !(made = make_callee(s, callee)))
        return false;
    call->call_jaxpr.jaxpr = made;
    like.prim = jx_prim_of(JX_PRIM_closed_call);
    gather(s, ins, 0, eqn->nins, all);
    return emit_all(m, &like, call, nins, all, outs);
}

/* An equation, team by team. */
static bool each_team(jx_spmd_maker *m, const jx_eqn *eqn,
                      const jx_spmd_atoms *ins, const jx_spmd_atoms *outs,
                      jx_spmd_eqn *work)
{
    jx_spmd *s = m->s;
    jx_team all = s->team;
    jx_teams teams;

    if (!jx_spmd_teams(s, eqn, &teams))
        return false;
    for (int i = 0; i < teams.count && !s->failed; i++) {
        s->team = teams.at[i];
        work(m, eqn, ins, outs);
    }
    s->team = all;
    return !s->failed;
}

/* A body whose inputs come in another order: those of all devices up to
 * ends[0] of each, then up to ends[1], and so on. */
static const jx_jaxpr *reordered(jx_spmd_maker *m, const jx_jaxpr *body,
                                 int nends, const int *ends)
{
    jx_spmd *s = m->s;
    jx_jaxpr *made = jx_arena_copy(s->arena, body, sizeof *body);
    const jx_var **vars = JX_NEW_ARRAY(s->arena, body->nvars, const jx_var *);
    int at = 0;

    if (!made || !vars) {
        jx_spmd_fail(s, "there is no memory");
        return NULL;
    }
    for (int part = 0; part < nends; part++)
        for (int d = 0; d < s->team.count; d++)
            for (int i = part ? ends[part - 1] : 0; i < ends[part]; i++)
                vars[at++] = body->vars[d * ends[nends - 1] + i];
    for (; at < body->nvars; at++)
        vars[at] = body->vars[at];
    made->vars = vars;
    /* The planner finds values by number: number them anew. */
    for (int i = 0; i < body->nins; i++)
        ((jx_var *)(uintptr_t)vars[i])->id = i;
    return made;
}

static bool while_of_team(jx_spmd_maker *m, const jx_eqn *eqn,
                          const jx_spmd_atoms *ins, const jx_spmd_atoms *outs)
{
    const jx_p_while *p = eqn->typed;
    jx_spmd *s = m->s;
    int devices = s->team.count;
    int nc = (int)p->cond_nconsts, nb = (int)p->body_nconsts, n = eqn->nouts;
    jx_p_while *made = JX_NEW(s->arena, jx_p_while);
    jx_atom *all = JX_NEW_ARRAY(s->arena, devices * eqn->nins + 1, jx_atom);
    jx_spmd_atoms body_ins, body_outs;
    jx_spmd_maker body;

    if (!made || !all)
        return jx_spmd_fail(s, "there is no memory");
    if (nc < 0 || nb < 0 || nc + nb + n != eqn->nins)
        return jx_spmd_fail(s, "a loop's parts do not fit each other");
    if (!begin_body(&body, s, &p->cond_jaxpr, &body_ins, &body_outs) ||
        !agree(&body, &body_outs, 0))
        return false;
    const jx_jaxpr *cond = jx_spmd_jaxpr(&body, p->cond_jaxpr.jaxpr->id, 1,
                                         jx_spmd_row(&body_outs, s->team.at[0]));
    made->cond_jaxpr.jaxpr =
        cond ? reordered(m, cond, 2, (int[]){nc, nc + n}) : NULL;
    if (!begin_body(&body, s, &p->body_jaxpr, &body_ins, &body_outs))
        return false;
    const jx_jaxpr *step = end_body(&body, p->body_jaxpr.jaxpr->id, &body_outs);
    made->body_jaxpr.jaxpr =
        step ? reordered(m, step, 2, (int[]){nb, nb + n}) : NULL;
    made->cond_nconsts = (int64_t)devices * nc;
    made->body_nconsts = (int64_t)devices * nb;
    gather(s, ins, 0, nc, all);
    gather(s, ins, nc, nb, all + devices * nc);
    gather(s, ins, nc + nb, n, all + devices * (nc + nb));
    return !s->failed &&
           emit_all(m, eqn, made, devices * eqn->nins, all, outs);
}

bool jx_spmd_while(jx_spmd_maker *m, const jx_eqn *eqn,
                   const jx_spmd_atoms *ins, const jx_spmd_atoms *outs)
{
    return each_team(m, eqn, ins, outs, while_of_team);
}

static bool cond_of_team(jx_spmd_maker *m, const jx_eqn *eqn,
                         const jx_spmd_atoms *ins, const jx_spmd_atoms *outs)
{
    const jx_closed_list *list = &((const jx_p_cond *)eqn->typed)->branches;
    jx_spmd *s = m->s;
    int devices = s->team.count;
    jx_closed *branches = JX_NEW_ARRAY(s->arena, list->count, jx_closed);
    jx_p_cond *made = JX_NEW(s->arena, jx_p_cond);
    jx_atom *all = JX_NEW_ARRAY(s->arena, devices * eqn->nins + 1, jx_atom);
    jx_spmd_atoms body_ins, body_outs;
    jx_spmd_maker body;

    if (!made || !branches || !all)
        return jx_spmd_fail(s, "there is no memory");
    if (!agree(m, ins, 0))
        return false;
    for (int i = 0; i < list->count; i++) {
        if (!begin_body(&body, s, &list->at[i], &body_ins, &body_outs))
            return false;
        branches[i].jaxpr =
            end_body(&body, list->at[i].jaxpr->id, &body_outs);
    }
    made->branches = (jx_closed_list){list->count, branches};
    all[0] = jx_spmd_row(ins, s->team.at[0])[0];
    gather(s, ins, 1, eqn->nins - 1, all + 1);
    return !s->failed &&
           emit_all(m, eqn, made, 1 + devices * (eqn->nins - 1), all, outs);
}

bool jx_spmd_cond(jx_spmd_maker *m, const jx_eqn *eqn, const jx_spmd_atoms *ins,
                  const jx_spmd_atoms *outs)
{
    return each_team(m, eqn, ins, outs, cond_of_team);
}

/* Three kinds of inputs (constants, what is carried, items) and two of
 * results, each of all devices together. */
bool jx_spmd_scan(jx_spmd_maker *m, const jx_eqn *eqn, const jx_spmd_atoms *ins,
                  const jx_spmd_atoms *outs)
{
    const jx_p_scan *p = eqn->typed;
    jx_spmd *s = m->s;
    int nc = (int)p->num_consts, nk = (int)p->num_carry, n = s->team.count;
    int ny = eqn->nouts - nk;
    jx_p_scan *made = jx_arena_copy(s->arena, p, sizeof *p);
    jx_atom *all = JX_NEW_ARRAY(s->arena, n * eqn->nins + 1, jx_atom);
    jx_atom *results = JX_NEW_ARRAY(s->arena, n * eqn->nouts + 1, jx_atom);
    const jx_aval **avals =
        JX_NEW_ARRAY(s->arena, n * eqn->nouts + 1, const jx_aval *);
    jx_spmd_atoms body_ins, body_outs;
    jx_spmd_maker body;

    if (!made || !all || !results || !avals)
        return jx_spmd_fail(s, "there is no memory");
    if (nc < 0 || nk < 0 || ny < 0 || nc > eqn->nins - nk)
        return jx_spmd_fail(s, "a scan's parts do not fit each other");
    if (!begin_body(&body, s, &p->jaxpr, &body_ins, &body_outs))
        return false;
    gather(s, &body_outs, 0, nk, results);
    gather(s, &body_outs, nk, ny, results + n * nk);
    const jx_jaxpr *step =
        jx_spmd_jaxpr(&body, p->jaxpr.jaxpr->id, n * eqn->nouts, results);
    step = step ? reordered(m, step, 3, (int[]){nc, nc + nk, eqn->nins}) : NULL;
    if (!step)
        return false;
    *made = (jx_p_scan){.jaxpr = {.jaxpr = step},
                        .length = p->length,
                        .num_consts = (int64_t)n * nc,
                        .num_carry = (int64_t)n * nk,
                        .reverse = p->reverse};
    gather(s, ins, 0, nc, all);
    gather(s, ins, nc, nk, all + n * nc);
    gather(s, ins, nc + nk, eqn->nins - nc - nk, all + n * (nc + nk));
    for (int i = 0; i < n * eqn->nouts; i++)
        avals[i] =
            eqn->outs[i < n * nk ? i % (nk ? nk : 1) : nk + (i - n * nk) % ny]
                ->aval;
    if (!jx_spmd_emit(m, eqn->prim, made, n * eqn->nins, all, n * eqn->nouts,
                      avals, results))
        return false;
    for (int d = 0; d < n; d++)
        for (int i = 0; i < eqn->nouts; i++)
            jx_spmd_row(outs, s->team.at[d])[i] = i < nk
                                          ? results[d * nk + i]
                                          : results[n * nk + d * ny + i - nk];
    return true;
}
