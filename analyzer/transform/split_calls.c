/* split_calls.c - splitting what runs jaxprs. */
#include "analyzer/transform/split_parts.h"

static jx_arena *arena_of(const jx_splitting *w)
{
    return jx_making_arena(w->of->make);
}

/* Which of the operands from `first` on are unknown. */
static bool *mask_of(jx_splitting *w, const jx_eqn *eqn, int first)
{
    bool *mask = JX_NEW_ARRAY(arena_of(w), eqn->nins + 1, bool);

    for (int i = first; mask && i < eqn->nins; i++)
        mask[i - first] = jx_split_is_unknown(w, eqn->ins[i]);
    return mask;
}

static int count_of(const bool *mask, int n)
{
    int count = 0;

    for (int i = 0; i < n; i++)
        count += mask[i];
    return count;
}

static jx_body *body_of(jx_splitting *w)
{
    return jx_body_new(&w->of->make->build, NULL);
}

/* An equation in the making. */
typedef struct call {
    jx_splitting *w;
    const jx_eqn *eqn;
    int nins, nouts;
    jx_atom *ins;
    const jx_aval **outs;
} call;

static bool begin_call(jx_splitting *w, const jx_eqn *eqn, int more, call *c)
{
    *c = (call){.w = w, .eqn = eqn};
    c->ins = JX_NEW_ARRAY(arena_of(w), eqn->nins + more + 1, jx_atom);
    c->outs = JX_NEW_ARRAY(arena_of(w), eqn->nouts + more + 1, const jx_aval *);
    return c->ins && c->outs;
}

/* The results that the mask says, or (`known`) that it does not. */
static void expect(call *c, const bool *outs, bool known)
{
    for (int i = 0; i < c->eqn->nouts; i++)
        if (outs[i] != known)
            c->outs[c->nouts++] = c->eqn->outs[i]->aval;
}

static void pass_known(call *c, int first, const bool *unknown)
{
    for (int i = first; i < c->eqn->nins; i++)
        if (!unknown[i - first])
            c->ins[c->nins++] = jx_split_known(c->w, c->eqn->ins[i]);
}

static void pass_unknown(call *c, int first, int from, int end,
                         const bool *unknown)
{
    for (int i = from; i < end; i++)
        if (unknown[i])
            c->ins[c->nins++] = jx_split_rest(c->w, c->eqn->ins[first + i]);
}

/* ---- calls */

static jx_params call_params(jx_splitting *w, const jx_eqn *eqn,
                             const jx_jaxpr *jaxpr, const jx_closed *like)
{
    const jx_value *name = jx_eqn_param(eqn, "name");
    jx_params p = {.program = w->of->make->to};

    jx_put_text(&p, "name",
                name && name->tag == JX_V_TEXT ? name->text : jx_eqn_name(eqn));
    jx_put(&p, "jaxpr", jx_making_closed(w->of->make, jaxpr, like));
    return p;
}

bool jx_split_call(jx_splitting *w, const jx_eqn *eqn)
{
    const jx_closed *callee = jx_eqn_callee(eqn);
    const bool *mask = mask_of(w, eqn, 0);
    const jx_split *s =
        mask ? jx_split_jaxpr(w->of, callee->jaxpr, mask, NULL, NULL) : NULL;
    const jx_prim *jit = jx_prim_of(JX_PRIM_jit);
    const jx_atom *made;
    jx_params p;
    int nknown;
    call k, r;

    if (!s || !begin_call(w, eqn, s->nres, &k) ||
        !begin_call(w, eqn, s->nres, &r))
        return false;
    nknown = eqn->nouts - count_of(s->outs, eqn->nouts);
    pass_known(&k, 0, mask);
    expect(&k, s->outs, true);
    for (int i = 0; i < s->nres; i++)
        k.outs[k.nouts++] = jx_atom_aval(s->known->outs[nknown + i]);
    p = call_params(w, eqn, s->known, callee);
    if (!(made =
              jx_build_as(&w->known, jit, &p, k.nins, k.ins, k.nouts, k.outs)))
        return false;
    jx_split_give_known(w, eqn, s->outs, made);
    for (int i = 0; i < s->nres; i++)
        r.ins[r.nins++] = jx_split_residual(w, made[nknown + i]);
    for (int i = 0; i < s->npassed; i++)
        r.ins[r.nins++] = jx_split_rest(w, eqn->ins[s->passed[i]]);
    pass_unknown(&r, 0, 0, eqn->nins, mask);
    expect(&r, s->outs, false);
    p = call_params(w, eqn, s->rest, callee);
    made = jx_build_as(&w->rest, jit, &p, r.nins, r.ins, r.nouts, r.outs);
    jx_split_give_rest(w, eqn, s->outs, made);
    return made != NULL;
}

/* ---- remat: what is known is computed once now and again by the rest */

/* What of a jaxpr gives these results, of these inputs (NULL: all), with the
 * constants of another. */
static const jx_value *slice_of(jx_splitting *w, const jx_jaxpr *from,
                                const jx_closed *like, const bool *ins,
                                const bool *outs)
{
    jx_atom *atoms = JX_NEW_ARRAY(
        arena_of(w), from->nconsts + from->nins + from->nouts + 1, jx_atom);
    jx_body *b = body_of(w);

    if (!atoms || !b)
        return NULL;
    for (int i = 0; i < from->nconsts; i++)
        atoms[i] = jx_body_const(b, from->vars[i]->aval);
    for (int i = from->nconsts; i < from->nconsts + from->nins; i++)
        if (!ins || ins[i - from->nconsts])
            atoms[i] = jx_body_input(b, from->vars[i]->aval);
    jx_atom *made = atoms + from->nconsts + from->nins;
    if (!jx_making_inline(w->of->make, b, from, atoms, atoms + from->nconsts,
                          outs, made))
        return NULL;
    for (int i = 0; i < from->nouts; i++)
        if (outs[i])
            jx_body_result(b, made[i]);
    return jx_making_closed(
        w->of->make, jx_body_finish(b, jx_no_atoms, from->function), like);
}

/* What is known of it, without the residuals. */
static const jx_value *known_part(jx_splitting *w, const jx_split *s,
                                  const jx_closed *like)
{
    bool *outs = JX_NEW_ARRAY(arena_of(w), s->known->nouts + 1, bool);

    for (int i = 0; outs && i < s->known->nouts - s->nres; i++)
        outs[i] = true;
    return outs ? slice_of(w, s->known, like, NULL, outs) : NULL;
}

/* All of it, of all inputs: what is known first, then the rest, which is apart
 * from it, so that it can be transposed; gives what is unknown. */
static const jx_value *whole_again(jx_splitting *w, const jx_split *s,
                                   const jx_closed *callee)
{
    const jx_jaxpr *from = callee->jaxpr, *known = s->known, *rest = s->rest;
    int nknown = known->nouts - s->nres, n = from->nconsts, next = 0;
    jx_body *b = body_of(w);
    jx_atom *consts = JX_NEW_ARRAY(arena_of(w),
                                   n + 2 * from->nins + known->nouts +
                                       rest->nins + rest->nouts + 1,
                                   jx_atom);
    bool *needed = JX_NEW_ARRAY(arena_of(w), known->nouts + 1, bool);
    jx_atom *ins, *kins, *kouts, *to, *made;

    if (!b || !consts || !needed)
        return NULL;
    ins = consts + n;
    kins = ins + from->nins;
    kouts = kins + from->nins;
    to = kouts + known->nouts;
    made = to + rest->nins;
    for (int i = 0; i < n; i++)
        consts[i] = jx_body_const(b, from->vars[i]->aval);
    for (int i = 0; i < from->nins; i++) {
        ins[i] = jx_body_input(b, from->vars[n + i]->aval);
        if (!s->ins[i])
            kins[next++] = ins[i];
    }
    for (int i = nknown; i < known->nouts; i++)
        needed[i] = true;
    if (!jx_making_inline(w->of->make, b, known, consts, kins, needed, kouts))
        return NULL;
    next = 0;
    for (int i = nknown; i < known->nouts; i++)
        to[next++] = kouts[i];
    for (int i = 0; i < s->npassed; i++)
        to[next++] = ins[s->passed[i]];
    for (int i = 0; i < from->nins; i++)
        if (s->ins[i])
            to[next++] = ins[i];
    if (!jx_making_inline(w->of->make, b, rest, consts, to, NULL, made))
        return NULL;
    for (int i = 0; i < rest->nouts; i++)
        jx_body_result(b, made[i]);
    return jx_making_closed(
        w->of->make, jx_body_finish(b, jx_no_atoms, from->function), callee);
}

bool jx_split_remat(jx_splitting *w, const jx_eqn *eqn)
{
    static const char *const without[] = {"jaxpr", NULL};
    const jx_closed *callee = jx_eqn_callee(eqn);
    const bool *mask = mask_of(w, eqn, 0);
    const jx_split *s =
        mask && callee ? jx_split_jaxpr(w->of, callee->jaxpr, mask, NULL, NULL)
                       : NULL;
    jx_params kp = {.program = w->of->make->to}, rp = kp;
    const jx_atom *made;
    call k, r;

    if (!s || !begin_call(w, eqn, 0, &k) || !begin_call(w, eqn, 0, &r))
        return false;
    pass_known(&k, 0, mask);
    expect(&k, s->outs, true);
    jx_put_others(&kp, eqn, without);
    jx_put(&kp, "jaxpr", known_part(w, s, callee));
    if (!(made = jx_build_as(&w->known, eqn->prim, &kp, k.nins, k.ins, k.nouts,
                             k.outs)))
        return false;
    jx_split_give_known(w, eqn, s->outs, made);
    for (int i = 0; i < eqn->nins; i++)
        r.ins[r.nins++] = jx_split_rest(w, eqn->ins[i]);
    expect(&r, s->outs, false);
    jx_put_others(&rp, eqn, without);
    jx_put(&rp, "jaxpr", whole_again(w, s, callee));
    made =
        jx_build_as(&w->rest, eqn->prim, &rp, r.nins, r.ins, r.nouts, r.outs);
    jx_split_give_rest(w, eqn, s->outs, made);
    return made != NULL;
}

/* ---- while: what it carries and knows is computed now, and again by the rest,
 * in which the loop is whole */

typedef struct loop_split {
    const jx_p_while *p;
    bool *mask, *carry; /* operands, and what is carried, that is unknown */
    int first, ncarry;  /* of operands: the first that is carried */
    const jx_split *body;
} loop_split;

/* What a turn makes unknown stays so; false, told. */
static bool settle_carry(jx_splitting *w, const jx_eqn *eqn, loop_split *l)
{
    bool *ins = JX_NEW_ARRAY(arena_of(w), eqn->nins + 1, bool), more = true;
    int nconsts = (int)l->p->body_nconsts;

    while (ins && more) {
        for (int i = 0; i < nconsts; i++)
            ins[i] = l->mask[l->first - nconsts + i];
        for (int i = 0; i < l->ncarry; i++)
            ins[nconsts + i] = l->carry[i];
        l->body =
            jx_split_jaxpr(w->of, l->p->body_jaxpr.jaxpr, ins, l->carry, NULL);
        if (!l->body)
            return false;
        more = false;
        for (int i = 0; i < l->ncarry; i++) {
            more |= l->body->outs[i] && !l->carry[i];
            l->carry[i] |= l->body->outs[i];
        }
    }
    return ins != NULL;
}

/* Whether the loop ends when something unknown says so; -1 if that was told. */
static int ends_unknown(jx_splitting *w, const loop_split *l, bool *ins)
{
    const jx_split *cond;
    int nconsts = (int)l->p->cond_nconsts;

    for (int i = 0; i < nconsts; i++)
        ins[i] = l->mask[i];
    for (int i = 0; i < l->ncarry; i++)
        ins[nconsts + i] = l->carry[i];
    cond = jx_split_jaxpr(w->of, l->p->cond_jaxpr.jaxpr, ins, NULL, NULL);
    return cond ? cond->outs[0] : -1;
}

static const jx_atom *known_loop(jx_splitting *w, const jx_eqn *eqn,
                                 const loop_split *l, bool *ins)
{
    static const char *const without[] = {"cond_jaxpr", "body_jaxpr",
                                          "body_nconsts", "cond_nconsts", NULL};
    static const bool all[] = {true};
    const jx_jaxpr *cond = l->p->cond_jaxpr.jaxpr;
    int ncond = (int)l->p->cond_nconsts, nconds = 0;
    jx_params p = {.program = w->of->make->to};
    call k;

    if (!begin_call(w, eqn, 0, &k))
        return NULL;
    for (int i = 0; i < cond->nins; i++)
        ins[i] = i < ncond ? !l->mask[i] : !l->carry[i - ncond];
    for (int i = 0; i < l->first; i++) {
        if (!l->mask[i])
            k.ins[k.nins++] = jx_split_known(w, eqn->ins[i]);
        if (i == ncond - 1)
            nconds = k.nins;
    }
    jx_put_others(&p, eqn, without);
    jx_put(&p, "cond_jaxpr", slice_of(w, cond, &l->p->cond_jaxpr, ins, all));
    jx_put(&p, "body_jaxpr", known_part(w, l->body, &l->p->body_jaxpr));
    jx_put_int(&p, "cond_nconsts", nconds);
    jx_put_int(&p, "body_nconsts", k.nins - nconds);
    for (int i = 0; i < l->ncarry; i++)
        if (!l->carry[i])
            k.ins[k.nins++] = jx_split_known(w, eqn->ins[l->first + i]);
    expect(&k, l->carry, true);
    return jx_build_as(&w->known, eqn->prim, &p, k.nins, k.ins, k.nouts,
                       k.outs);
}

bool jx_split_while(jx_splitting *w, const jx_eqn *eqn, bool *whole)
{
    const jx_p_while *p = eqn->typed;
    loop_split l = {.p = p,
                    .mask = mask_of(w, eqn, 0),
                    .first = (int)(p->cond_nconsts + p->body_nconsts)};
    bool *ins = JX_NEW_ARRAY(arena_of(w), eqn->nins + 1, bool);
    jx_atom *rest =
        JX_NEW_ARRAY(arena_of(w), eqn->nins + eqn->nouts + 1, jx_atom);
    const jx_atom *made;
    int ends;

    l.ncarry = eqn->nins - l.first;
    l.carry = mask_of(w, eqn, l.first);
    *whole = true;
    if (!l.mask || !l.carry || !ins || !rest || !settle_carry(w, eqn, &l))
        return false;
    ends = ends_unknown(w, &l, ins);
    *whole = ends != 0 || count_of(l.carry, l.ncarry) == l.ncarry;
    if (*whole)
        return ends >= 0;
    if (!(made = known_loop(w, eqn, &l, ins)))
        return false;
    jx_split_give_known(w, eqn, l.carry, made);
    for (int i = 0; i < eqn->nins; i++)
        rest[i] = jx_split_rest(w, eqn->ins[i]);
    if (!(made = jx_build_like(&w->rest, eqn, rest, NULL, NULL)))
        return false;
    for (int i = 0, n = 0; i < eqn->nouts; i++)
        if (l.carry[i])
            rest[eqn->nins + n++] = made[i];
    jx_split_give_rest(w, eqn, l.carry, rest + eqn->nins);
    return true;
}

/* ---- cond: a branch gives the residuals of all, those of the
 * others as zeros */

typedef struct branches {
    const jx_closed_list *from;
    const jx_split **at;
    bool *outs, *passed; /* of all; known operands that any takes */
    int nres;            /* of all together */
} branches;

static bool split_branches(jx_splitting *w, const jx_eqn *eqn, const bool *mask,
                           branches *b)
{
    b->from = &((const jx_p_cond *)eqn->typed)->branches;
    b->at = JX_NEW_ARRAY(arena_of(w), b->from->count + 1, const jx_split *);
    b->outs = JX_NEW_ARRAY(arena_of(w), eqn->nouts + 1, bool);
    b->passed = JX_NEW_ARRAY(arena_of(w), eqn->nins + 1, bool);
    if (!b->at || !b->outs || !b->passed)
        return false;
    for (int last = 0; last < 2; last++) /* what one does not know, none does */
        for (int i = 0; i < b->from->count; i++) {
            b->at[i] = jx_split_jaxpr(w->of, b->from->at[i].jaxpr, mask,
                                      last ? b->outs : NULL, NULL);
            if (!b->at[i])
                return false;
            for (int k = 0; !last && k < eqn->nouts; k++)
                b->outs[k] |= b->at[i]->outs[k];
        }
    for (int i = 0; i < b->from->count; i++) {
        b->nres += b->at[i]->nres;
        for (int k = 0; k < b->at[i]->npassed; k++)
            b->passed[b->at[i]->passed[k]] = true;
    }
    return true;
}

static const jx_value *known_branch(jx_splitting *w, const branches *all,
                                    int which, const jx_aval **outs)
{
    const jx_jaxpr *from = all->at[which]->known;
    int nknown = from->nouts - all->at[which]->nres, n = nknown;
    jx_atom *ins = JX_NEW_ARRAY(arena_of(w), from->nins + 1, jx_atom);
    jx_atom *made = JX_NEW_ARRAY(arena_of(w), from->nouts + 1, jx_atom);
    jx_body *b = body_of(w);

    if (!ins || !made || !b)
        return NULL;
    for (int i = 0; i < from->nins; i++)
        ins[i] = jx_body_input(b, from->vars[from->nconsts + i]->aval);
    if (!jx_making_enclose(w->of->make, b, from, ins, made))
        return NULL;
    for (int i = 0; i < nknown; i++)
        jx_body_result(b, made[i]);
    for (int i = 0; i < all->from->count; i++)
        for (int k = 0; k < all->at[i]->nres; k++, n++) {
            outs[n] = jx_atom_aval(all->at[i]->known->outs[nknown + k]);
            jx_body_result(b, i == which ? made[nknown + k]
                                         : jx_build_zeros(b, outs[n]));
        }
    return jx_making_closed(w->of->make,
                            jx_body_finish(b, jx_no_atoms, from->function),
                            &all->from->at[which]);
}

/* Of the residuals of all, the operands that any takes, and
 * the unknown ones. */
static const jx_value *rest_branch(jx_splitting *w, const branches *all,
                                   int which, const jx_eqn *eqn,
                                   const bool *mask)
{
    const jx_split *s = all->at[which];
    const jx_jaxpr *from = s->rest;
    int n = eqn->nins - 1, next = 0;
    jx_atom *ins = JX_NEW_ARRAY(arena_of(w), from->nins + 1, jx_atom);
    jx_atom *by = JX_NEW_ARRAY(arena_of(w), n + 1, jx_atom);
    jx_atom *made = JX_NEW_ARRAY(arena_of(w), from->nouts + 1, jx_atom);
    jx_body *b = body_of(w);

    if (!ins || !by || !made || !b)
        return NULL;
    for (int i = 0; i < all->from->count; i++) {
        int nknown = all->at[i]->known->nouts - all->at[i]->nres;
        for (int k = 0; k < all->at[i]->nres; k++) {
            jx_atom in = jx_body_input(
                b, jx_atom_aval(all->at[i]->known->outs[nknown + k]));
            if (i == which)
                ins[next++] = in;
        }
    }
    for (int i = 0; i < n; i++)
        if (all->passed[i])
            by[i] = jx_body_input(b, jx_atom_aval(eqn->ins[1 + i]));
    for (int i = 0; i < s->npassed; i++)
        ins[next++] = by[s->passed[i]];
    for (int i = 0; i < n; i++)
        if (mask[i])
            ins[next++] = jx_body_input(b, jx_atom_aval(eqn->ins[1 + i]));
    if (!jx_making_enclose(w->of->make, b, from, ins, made))
        return NULL;
    for (int i = 0; i < from->nouts; i++)
        jx_body_result(b, made[i]);
    return jx_making_closed(w->of->make,
                            jx_body_finish(b, jx_no_atoms, from->function),
                            &all->from->at[which]);
}

bool jx_split_cond(jx_splitting *w, const jx_eqn *eqn)
{
    static const char *const without[] = {"branches", NULL};
    const bool *mask = mask_of(w, eqn, 1);
    branches all = {.nres = 0};
    const jx_value **knowns, **rests;
    jx_params kp = {.program = w->of->make->to}, rp = kp;
    const jx_atom *made;
    int nknown;
    call k, r;

    if (!mask || !split_branches(w, eqn, mask, &all) ||
        !begin_call(w, eqn, all.nres, &k) || !begin_call(w, eqn, all.nres, &r))
        return false;
    knowns =
        JX_NEW_ARRAY(arena_of(w), 2 * all.from->count + 2, const jx_value *);
    if (!knowns)
        return false;
    rests = knowns + all.from->count + 1;
    expect(&k, all.outs, true);
    nknown = k.nouts;
    for (int i = 0; i < all.from->count; i++) {
        knowns[i] = known_branch(w, &all, i, k.outs);
        rests[i] = rest_branch(w, &all, i, eqn, mask);
        if (!knowns[i] || !rests[i])
            return false;
    }
    k.nouts += all.nres;
    k.ins[k.nins++] = jx_split_known(w, eqn->ins[0]);
    pass_known(&k, 1, mask);
    jx_put_others(&kp, eqn, without);
    jx_put(&kp, "branches",
           jx_value_of_tuple(kp.program, all.from->count, knowns));
    if (!(made = jx_build_as(&w->known, eqn->prim, &kp, k.nins, k.ins, k.nouts,
                             k.outs)))
        return false;
    jx_split_give_known(w, eqn, all.outs, made);
    r.ins[r.nins++] = jx_split_rest(w, eqn->ins[0]);
    for (int i = 0; i < all.nres; i++)
        r.ins[r.nins++] = jx_split_residual(w, made[nknown + i]);
    for (int i = 0; i < eqn->nins - 1; i++)
        if (all.passed[i])
            r.ins[r.nins++] = jx_split_rest(w, eqn->ins[1 + i]);
    pass_unknown(&r, 1, 0, eqn->nins - 1, mask);
    expect(&r, all.outs, false);
    jx_put_others(&rp, eqn, without);
    jx_put(&rp, "branches",
           jx_value_of_tuple(rp.program, all.from->count, rests));
    made =
        jx_build_as(&w->rest, eqn->prim, &rp, r.nins, r.ins, r.nouts, r.outs);
    jx_split_give_rest(w, eqn, all.outs, made);
    return made != NULL;
}

/* ---- scan: residuals are stacked, one of each turn */

/* The split of the body: what is carried is unknown if it becomes
 * so in any turn. */
static const jx_split *settled(jx_splitting *w, const jx_p_scan *p,
                               const jx_jaxpr *body, bool *mask)
{
    int first = (int)p->num_consts, n = (int)p->num_carry;
    bool *kept = JX_NEW_ARRAY(arena_of(w), body->nins + 1, bool);

    for (int i = 0; kept && i < n; i++)
        kept[first + i] = true;
    for (bool more = kept != NULL; more;) {
        bool *outs = JX_NEW_ARRAY(arena_of(w), body->nouts + 1, bool);
        const jx_split *s;
        for (int i = 0; outs && i < n; i++)
            outs[i] = mask[first + i];
        s = outs ? jx_split_jaxpr(w->of, body, mask, outs, kept) : NULL;
        if (!s)
            return NULL;
        more = false;
        for (int i = 0; i < n; i++) {
            more |= s->outs[i] && !mask[first + i];
            mask[first + i] |= s->outs[i];
        }
        if (!more)
            return s;
    }
    return NULL;
}

static const jx_aval *stacked(jx_body *b, const jx_aval *each,
                              const jx_dim *length)
{
    const jx_dim **shape = JX_NEW_ARRAY(b->in->program->ctx->arena,
                                        each->rank + 2, const jx_dim *);

    if (!shape)
        return NULL;
    shape[0] = length;
    for (int i = 0; i < each->rank; i++)
        shape[1 + i] = each->shape[i];
    return jx_body_aval(b, each, each->dtype, each->rank + 1, shape);
}

static void put_counts(jx_params *p, const jx_eqn *eqn, const jx_value *body,
                       int consts, int carry, int nins)
{
    static const char *const without[] = {"jaxpr", "num_consts", "num_carry",
                                          "linear", NULL};
    const jx_value *no = jx_value_add(
        &p->program->values, &(jx_value){.tag = JX_V_BOOL, .boolean = false});
    const jx_value **linear =
        JX_NEW_ARRAY(p->program->ctx->arena, nins + 1, const jx_value *);

    for (int i = 0; linear && i < nins; i++)
        linear[i] = no;
    jx_put_others(p, eqn, without);
    jx_put(p, "jaxpr", body);
    jx_put_int(p, "num_consts", consts);
    jx_put_int(p, "num_carry", carry);
    jx_put(p, "linear",
           linear ? jx_value_of_tuple(p->program, nins, linear) : NULL);
}

/* The rest of the body in a scan's order: constants, what is carried, then
 * residuals and what else is new in each turn. */
static const jx_value *ordered(jx_splitting *w, const jx_split *s,
                               const jx_closed *body, const jx_p_scan *p)
{
    const jx_jaxpr *from = s->rest;
    int nc = (int)p->num_consts, carried = nc + (int)p->num_carry,
        first = s->nres + s->npassed;
    jx_atom *ins = JX_NEW_ARRAY(arena_of(w), from->nins + 1, jx_atom);
    jx_atom *made = JX_NEW_ARRAY(arena_of(w), from->nouts + 1, jx_atom);
    jx_body *b = body_of(w);

    if (!ins || !made || !b)
        return NULL;
    /* constants, carried, of each turn */
    for (int part = 0; part < 3; part++) {
        int low = part == 0 ? 0 : part == 1 ? nc : carried;
        int high = part == 0 ? nc : part == 1 ? carried : body->jaxpr->nins;
        for (int i = 0; part == 2 && i < s->nres; i++)
            ins[i] = jx_body_input(b, from->vars[from->nconsts + i]->aval);
        for (int i = 0; i < s->npassed; i++)
            if (s->passed[i] >= low && s->passed[i] < high)
                ins[s->nres + i] = jx_body_input(
                    b, from->vars[from->nconsts + s->nres + i]->aval);
        for (int i = 0, k = first; i < body->jaxpr->nins; i++)
            if (s->ins[i]) {
                if (i >= low && i < high)
                    ins[k] =
                        jx_body_input(b, from->vars[from->nconsts + k]->aval);
                k++;
            }
    }
    if (!jx_making_enclose(w->of->make, b, from, ins, made))
        return NULL;
    for (int i = 0; i < from->nouts; i++)
        jx_body_result(b, made[i]);
    return jx_making_closed(
        w->of->make, jx_body_finish(b, jx_no_atoms, from->function), body);
}

/* Operands of the rest, in the same order, after the residuals if there are
 * any to be passed. */
static int pass_rest(call *r, const jx_split *s, const jx_atom *residuals,
                     int low, int high)
{
    int before = r->nins;

    for (int i = 0; residuals && i < s->nres; i++)
        r->ins[r->nins++] = jx_split_residual(r->w, residuals[i]);
    for (int i = 0; i < s->npassed; i++)
        if (s->passed[i] >= low && s->passed[i] < high)
            r->ins[r->nins++] = jx_split_rest(r->w, r->eqn->ins[s->passed[i]]);
    pass_unknown(r, 0, low, high, s->ins);
    return r->nins - before;
}

bool jx_split_scan(jx_splitting *w, const jx_eqn *eqn)
{
    const jx_p_scan *p = eqn->typed;
    int nc = (int)p->num_consts, carried = nc + (int)p->num_carry, nknown,
        consts, carry;
    bool *mask = mask_of(w, eqn, 0);
    const jx_split *s = mask ? settled(w, p, p->jaxpr.jaxpr, mask) : NULL;
    jx_params kp = {.program = w->of->make->to}, rp = kp;
    const jx_atom *made;
    call k, r;

    if (!s || !begin_call(w, eqn, s->nres, &k) ||
        !begin_call(w, eqn, s->nres, &r))
        return false;
    pass_known(&k, 0, mask);
    expect(&k, s->outs, true);
    nknown = k.nouts;
    for (int i = 0; i < s->nres; i++)
        k.outs[k.nouts++] = stacked(
            &w->known, jx_atom_aval(s->known->outs[nknown + i]), p->length);
    put_counts(&kp, eqn, jx_making_closed(w->of->make, s->known, &p->jaxpr),
               nc - count_of(mask, nc),
               carried - nc - count_of(mask + nc, carried - nc), k.nins);
    if (!(made = jx_build_as(&w->known, eqn->prim, &kp, k.nins, k.ins, k.nouts,
                             k.outs)))
        return false;
    jx_split_give_known(w, eqn, s->outs, made);
    consts = pass_rest(&r, s, NULL, 0, nc);
    carry = pass_rest(&r, s, NULL, nc, carried);
    pass_rest(&r, s, made + nknown, carried, eqn->nins);
    expect(&r, s->outs, false);
    put_counts(&rp, eqn, ordered(w, s, &p->jaxpr, p), consts, carry, r.nins);
    made =
        jx_build_as(&w->rest, eqn->prim, &rp, r.nins, r.ins, r.nouts, r.outs);
    jx_split_give_rest(w, eqn, s->outs, made);
    return made != NULL;
}
