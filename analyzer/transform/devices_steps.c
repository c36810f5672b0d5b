/* devices_steps.c - loops and branches that hold a collective: the devices that
 * wait for each other in it (a team) go on in step.
 *
 * Its condition must be the same on all of a team (it is checked at run time),
 * as it must be where they really run, or they hang. */
#include "analyzer/transform/devices_parts.h"

/* The expanded jaxpr of a body: the inputs of the team's first device, of its
 * second, ...; what is added at its end is the caller's. */
static bool begin_body(jx_devices_body *m, jx_devices *s, const jx_closed *body,
                       jx_device_atoms *ins, jx_device_atoms *outs)
{
    const jx_jaxpr *j = body->jaxpr;

    *m = jx_devices_begin(s);
    *ins = jx_device_atoms_new(s, j->nins);
    *outs = jx_device_atoms_new(s, j->nouts);
    for (int t = 0; t < s->team.count && !s->failed; t++)
        for (int i = 0; i < j->nins; i++)
            jx_device_row(ins, s->team.at[t])[i] = jx_body_input(
                &m->body,
                jx_devices_plain_aval(s, j->vars[j->nconsts + i]->aval));
    return !s->failed && jx_devices_expand(m, body, ins, outs);
}

/* Fails at run time where a device of the team has another value than its
 * first. */
static bool agree(jx_devices_body *m, const jx_eqn *eqn,
                  const jx_device_atoms *a, int number)
{
    const jx_aval *truth =
        jx_aval_array(&m->s->build.program->avals, JX_BOOL, false, 0, NULL);

    for (int t = 1; t < m->s->team.count; t++) {
        jx_atom pair[2] = {jx_device_row(a, m->s->team.at[0])[number],
                           jx_device_row(a, m->s->team.at[t])[number]},
                same;
        jx_params says = {.program = m->s->build.program};
        if (pair[0].var == pair[1].var && pair[0].var)
            continue;
        jx_put_text(&says, "error_message",
                    jx_devices_part_text(m->s->from->ctx, eqn));
        if (!jx_devices_emit(m, jx_prim_of(JX_PRIM_eq), NULL, 2, pair, 1,
                             &truth, &same) ||
            !jx_devices_emit(m, jx_prim_of(JX_PRIM_shape_assertion), &says, 1,
                             &same, 0, NULL, NULL))
            return false;
    }
    return true;
}

/* The atoms first..first+count of each device, one device after the other. */
static void gather(jx_devices *s, const jx_device_atoms *from, int first,
                   int count, jx_atom *to)
{
    for (int t = 0; t < s->team.count; t++)
        for (int i = 0; i < count; i++)
            *to++ = jx_device_row(from, s->team.at[t])[first + i];
}

/* An equation on the values of a team, whose results are theirs in turn. */
static bool emit_all(jx_devices_body *m, const jx_eqn *eqn, jx_params *params,
                     int nins, const jx_atom *ins, const jx_device_atoms *outs)
{
    jx_devices *s = m->s;
    int all = s->team.count * eqn->nouts;
    const jx_aval **avals = JX_NEW_ARRAY(s->scratch, all + 1, const jx_aval *);
    jx_atom *results = JX_NEW_ARRAY(s->scratch, all + 1, jx_atom);

    if (!avals || !results)
        return jx_devices_starved(s);
    for (int i = 0; i < all; i++)
        avals[i] = jx_devices_plain_aval(s, eqn->outs[i % eqn->nouts]->aval);
    if (!jx_devices_emit(m, eqn->prim, params, nins, ins, all, avals, results))
        return false;
    for (int i = 0; i < all; i++)
        jx_device_row(outs, s->team.at[i / eqn->nouts])[i % eqn->nouts] =
            results[i];
    return true;
}

/* A jaxpr with the outputs of a team's devices. */
static const jx_jaxpr *end_body(jx_devices_body *body,
                                const jx_device_atoms *outs)
{
    jx_devices *s = body->s;
    int all = s->team.count * outs->width;
    jx_atom *atoms = JX_NEW_ARRAY(s->scratch, all + 1, jx_atom);

    if (!atoms) {
        jx_devices_starved(s);
        return NULL;
    }
    gather(s, outs, 0, outs->width, atoms);
    return jx_devices_finish(body, all, atoms, NULL);
}

/* Puts the inputs of a body in another order: those of all devices up to
 * ends[0] of each, then up to ends[1], and so on. */
static void reorder(jx_devices_body *m, int nends, const int *ends)
{
    jx_devices *s = m->s;
    size_t count = m->body.ins.count;
    jx_var **old =
        jx_arena_copy(s->scratch, m->body.ins.at, count * sizeof *old);
    int at = 0;

    if (!old) {
        jx_devices_starved(s);
        return;
    }
    for (int part = 0; part < nends; part++)
        for (int d = 0; d < s->team.count; d++)
            for (int i = part ? ends[part - 1] : 0; i < ends[part]; i++)
                m->body.ins.at[at++] = old[d * ends[nends - 1] + i];
}

/* ---- calls */

static bool same_callee(const jx_closed *a, const jx_closed *b)
{
    bool same = a->jaxpr == b->jaxpr && a->nconsts == b->nconsts;

    for (int i = 0; same && i < a->nconsts; i++)
        same = a->consts[i] == b->consts[i];
    return same;
}

static const jx_jaxpr *made_before(const jx_devices *s, const jx_closed *callee)
{
    for (size_t i = 0; i < s->callees.count; i++) {
        const jx_team_callee *made = &s->callees.at[i];
        if (same_callee(made->callee, callee) && made->branch == s->branch &&
            made->team.count == s->team.count &&
            !memcmp(made->team.at, s->team.at,
                    (size_t)s->team.count * sizeof *s->team.at))
            return made->jaxpr;
    }
    return NULL;
}

static const jx_jaxpr *make_callee(jx_devices *s, const jx_closed *callee)
{
    jx_device_atoms ins, outs;
    jx_devices_body m;

    if (!begin_body(&m, s, callee, &ins, &outs))
        return NULL;
    const jx_team_callee made = {callee, s->team, s->branch,
                                 end_body(&m, &outs)};
    if (made.jaxpr)
        JX_PUSH(s->scratch, &s->callees, made);
    return made.jaxpr;
}

bool jx_devices_call(jx_devices_body *m, const jx_eqn *eqn,
                     const jx_device_atoms *ins, const jx_device_atoms *outs)
{
    jx_devices *s = m->s;
    const jx_closed *callee = jx_eqn_callee(eqn);
    int nins = s->team.count * eqn->nins;
    const jx_jaxpr *made = made_before(s, callee);
    jx_params call = {.program = s->build.program};
    jx_atom *all = JX_NEW_ARRAY(s->scratch, nins + 1, jx_atom);
    jx_eqn like = *eqn;

    if (callee->jaxpr->nins != eqn->nins || callee->jaxpr->nouts != eqn->nouts)
        return jx_devices_fail(s, "a body takes other operands");
    if (!all)
        return jx_devices_starved(s);
    if (!made && !(made = make_callee(s, callee)))
        return false;
    jx_put_jaxpr(&call, "call_jaxpr", made);
    like.prim = jx_prim_of(JX_PRIM_closed_call);
    gather(s, ins, 0, eqn->nins, all);
    return emit_all(m, &like, &call, nins, all, outs);
}

/* An equation, team by team. */
static bool each_team(jx_devices_body *m, const jx_eqn *eqn,
                      const jx_device_atoms *ins, const jx_device_atoms *outs,
                      jx_devices_eqn *work)
{
    jx_devices *s = m->s;
    jx_team all = s->team;
    jx_teams teams;

    if (!jx_devices_teams(s, eqn, &teams))
        return false;
    for (int i = 0; i < teams.count && !s->failed; i++) {
        s->team = teams.at[i];
        work(m, eqn, ins, outs);
    }
    s->team = all;
    return !s->failed;
}

static bool while_of_team(jx_devices_body *m, const jx_eqn *eqn,
                          const jx_device_atoms *ins,
                          const jx_device_atoms *outs)
{
    static const char *const changed[] = {"cond_jaxpr", "body_jaxpr",
                                          "cond_nconsts", "body_nconsts", NULL};
    const jx_p_while *p = eqn->typed;
    jx_devices *s = m->s;
    int devices = s->team.count;
    int nc = (int)p->cond_nconsts, nb = (int)p->body_nconsts, n = eqn->nouts;
    jx_params params = {.program = s->build.program};
    jx_atom *all = JX_NEW_ARRAY(s->scratch, devices * eqn->nins + 1, jx_atom);
    jx_device_atoms body_ins, body_outs;
    jx_devices_body body;

    if (!all)
        return jx_devices_starved(s);
    if (nc < 0 || nb < 0 || nc + nb + n != eqn->nins)
        return jx_devices_fail(s, "a loop's parts do not fit each other");
    jx_put_others(&params, eqn, changed);
    if (!begin_body(&body, s, &p->cond_jaxpr, &body_ins, &body_outs) ||
        !agree(&body, eqn, &body_outs, 0))
        return false;
    reorder(&body, 2, (int[]){nc, nc + n});
    jx_put_jaxpr(&params, "cond_jaxpr",
                 jx_devices_finish(
                     &body, 1, jx_device_row(&body_outs, s->team.at[0]), NULL));
    if (s->failed ||
        !begin_body(&body, s, &p->body_jaxpr, &body_ins, &body_outs) ||
        !jx_devices_change_carried(&body, eqn, &body_outs))
        return false;
    reorder(&body, 2, (int[]){nb, nb + n});
    jx_put_jaxpr(&params, "body_jaxpr", end_body(&body, &body_outs));
    jx_put_int(&params, "cond_nconsts", (int64_t)devices * nc);
    jx_put_int(&params, "body_nconsts", (int64_t)devices * nb);
    gather(s, ins, 0, nc, all);
    gather(s, ins, nc, nb, all + devices * nc);
    gather(s, ins, nc + nb, n, all + devices * (nc + nb));
    return !s->failed &&
           emit_all(m, eqn, &params, devices * eqn->nins, all, outs);
}

bool jx_devices_while(jx_devices_body *m, const jx_eqn *eqn,
                      const jx_device_atoms *ins, const jx_device_atoms *outs)
{
    return each_team(m, eqn, ins, outs, while_of_team);
}

/* Where processes meet in one branch they are not those that meet in another,
 * and share no callee with these. */
static const jx_jaxpr *branch_of_team(jx_devices *s, const jx_closed *closed)
{
    int outer = s->branch;
    jx_device_atoms ins, outs;
    const jx_jaxpr *made;
    jx_devices_body body;

    if (s->rank != JX_ALL_DEVICES)
        s->branch = ++s->branches;
    made = begin_body(&body, s, closed, &ins, &outs) ? end_body(&body, &outs)
                                                     : NULL;
    s->branch = outer;
    return made;
}

static bool cond_of_team(jx_devices_body *m, const jx_eqn *eqn,
                         const jx_device_atoms *ins,
                         const jx_device_atoms *outs)
{
    static const char *const changed[] = {"branches", NULL};
    const jx_closed_list *list = &((const jx_p_cond *)eqn->typed)->branches;
    jx_devices *s = m->s;
    int devices = s->team.count;
    const jx_value **branches =
        JX_NEW_ARRAY(s->scratch, list->count, const jx_value *);
    jx_params params = {.program = s->build.program};
    jx_atom *all = JX_NEW_ARRAY(s->scratch, devices * eqn->nins + 1, jx_atom);

    if (!branches || !all)
        return jx_devices_starved(s);
    if (!agree(m, eqn, ins, 0))
        return false;
    for (int i = 0; i < list->count; i++) {
        const jx_jaxpr *made = branch_of_team(s, &list->at[i]);
        if (!made)
            return false;
        branches[i] = jx_value_of_jaxpr(s->build.program, made);
    }
    jx_put_others(&params, eqn, changed);
    jx_put(&params, "branches",
           jx_value_of_tuple(s->build.program, list->count, branches));
    all[0] = jx_device_row(ins, s->team.at[0])[0];
    gather(s, ins, 1, eqn->nins - 1, all + 1);
    return !s->failed &&
           emit_all(m, eqn, &params, 1 + devices * (eqn->nins - 1), all, outs);
}

bool jx_devices_cond(jx_devices_body *m, const jx_eqn *eqn,
                     const jx_device_atoms *ins, const jx_device_atoms *outs)
{
    return each_team(m, eqn, ins, outs, cond_of_team);
}

/* The step of a scan for all devices of the team. */
static const jx_jaxpr *step_of(jx_devices *s, const jx_eqn *eqn, int nc, int nk)
{
    int n = s->team.count, ny = eqn->nouts - nk;
    jx_atom *results = JX_NEW_ARRAY(s->scratch, n * eqn->nouts + 1, jx_atom);
    jx_device_atoms ins, outs;
    jx_devices_body body;

    if (!results) {
        jx_devices_starved(s);
        return NULL;
    }
    if (!begin_body(&body, s, &((const jx_p_scan *)eqn->typed)->jaxpr, &ins,
                    &outs) ||
        !jx_devices_change_carried(&body, eqn, &outs))
        return NULL;
    gather(s, &outs, 0, nk, results);
    gather(s, &outs, nk, ny, results + n * nk);
    reorder(&body, 3, (int[]){nc, nc + nk, eqn->nins});
    return jx_devices_finish(&body, n * eqn->nouts, results, NULL);
}

/* As many turns as were written, or as a change makes of a loop that takes no
 * items and gives none. */
static void put_length(jx_devices *s, jx_params *to, const jx_eqn *eqn)
{
    const jx_p_scan *p = eqn->typed;
    int64_t length;
    bool bare =
        p->num_carry == eqn->nouts && p->num_consts + p->num_carry == eqn->nins;

    if (bare && jx_devices_is_changed(s, JX_DEVICES_TURNS, eqn) &&
        jx_dim_is_int(p->length, &length) && length + s->change.by > 0)
        jx_put_int(to, "length", length + s->change.by);
    else
        jx_put_dim(to, "length", p->length);
}

/* Three kinds of inputs (constants, what is carried, items) and two of
 * results, each of all devices together. */
bool jx_devices_scan(jx_devices_body *m, const jx_eqn *eqn,
                     const jx_device_atoms *ins, const jx_device_atoms *outs)
{
    static const char *const changed[] = {"jaxpr",  "num_consts", "num_carry",
                                          "linear", "length",     NULL};
    const jx_p_scan *p = eqn->typed;
    jx_devices *s = m->s;
    int nc = (int)p->num_consts, nk = (int)p->num_carry, n = s->team.count;
    int ny = eqn->nouts - nk;
    jx_params params = {.program = s->build.program};
    jx_atom *all = JX_NEW_ARRAY(s->scratch, n * eqn->nins + 1, jx_atom);
    jx_atom *results = JX_NEW_ARRAY(s->scratch, n * eqn->nouts + 1, jx_atom);
    const jx_aval **avals =
        JX_NEW_ARRAY(s->scratch, n * eqn->nouts + 1, const jx_aval *);

    if (!all || !results || !avals)
        return jx_devices_starved(s);
    if (nc < 0 || nk < 0 || ny < 0 || nc > eqn->nins - nk)
        return jx_devices_fail(s, "a scan's parts do not fit each other");
    jx_put_others(&params, eqn, changed);
    jx_put_jaxpr(&params, "jaxpr", step_of(s, eqn, nc, nk));
    jx_put_int(&params, "num_consts", (int64_t)n * nc);
    jx_put_int(&params, "num_carry", (int64_t)n * nk);
    put_length(s, &params, eqn);
    gather(s, ins, 0, nc, all);
    gather(s, ins, nc, nk, all + n * nc);
    gather(s, ins, nc + nk, eqn->nins - nc - nk, all + n * (nc + nk));
    for (int i = 0; i < n * eqn->nouts; i++)
        avals[i] = jx_devices_plain_aval(
            s,
            eqn->outs[i < n * nk ? i % (nk ? nk : 1) : nk + (i - n * nk) % ny]
                ->aval);
    if (s->failed || !jx_devices_emit(m, eqn->prim, &params, n * eqn->nins, all,
                                      n * eqn->nouts, avals, results))
        return false;
    for (int d = 0; d < n; d++)
        for (int i = 0; i < eqn->nouts; i++)
            jx_device_row(outs, s->team.at[d])[i] =
                i < nk ? results[d * nk + i]
                       : results[n * nk + d * ny + i - nk];
    return true;
}
