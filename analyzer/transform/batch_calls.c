/* batch_calls.c - batching of what runs jaxprs. */
#include "analyzer/transform/batch_parts.h"
#include "frontend/ir/effects.h"

static bool *mask_of(jx_batch *t, const bool *from, int count)
{
    bool *mask = JX_NEW_ARRAY(jx_batch_arena(t), count + 1, bool);

    for (int i = 0; mask && from && i < count; i++)
        mask[i] = from[i];
    return mask;
}

/* All of n. */
static bool *all_of(jx_batch *t, int n)
{
    bool *mask = mask_of(t, NULL, n);

    for (int i = 0; mask && i < n; i++)
        mask[i] = true;
    return mask;
}

static bool any_of(const bool *mask, int n)
{
    for (int i = 0; i < n; i++)
        if (mask[i])
            return true;
    return false;
}

/* An equation of this primitive whose results have the axis as `outs` says. */
static bool finish(jx_batch *t, const jx_prim *prim, jx_params *p, int nins,
                   const jx_atom *ins, const bool *outs)
{
    int n = t->eqn->nouts;
    const jx_aval **types =
        JX_NEW_ARRAY(jx_batch_arena(t), n + 1, const jx_aval *);
    const jx_atom *made;

    for (int i = 0; types && i < n; i++)
        types[i] =
            outs[i] ? jx_batch_aval(t, jx_batch_out(t, i)) : jx_batch_out(t, i);
    made = types ? jx_build_as(t->b, prim, p, nins, ins, n, types) : NULL;
    for (int i = 0; made && i < n; i++) {
        t->outs[i] = made[i];
        t->gets[i] = outs[i];
    }
    return made != NULL;
}

/* The operands, repeated where `wanted` says that they need the axis. */
static jx_atom *passed(jx_batch *t, int first, int count, const bool *wanted)
{
    jx_atom *ins = JX_NEW_ARRAY(jx_batch_arena(t), t->eqn->nins + 1, jx_atom);

    for (int i = 0; ins && i < count; i++) {
        ins[i] = wanted && wanted[i] ? jx_batch_full(t, first + i)
                                     : t->ins[first + i];
        if (!jx_is_made(ins[i]))
            return NULL;
    }
    return ins;
}

/* ---- calls */

/* What runs once is called by the name it has; remat stays what it is. */
bool jx_batch_call(jx_batch *t)
{
    static const char *const without[] = {"jaxpr", NULL};
    const jx_closed *callee = jx_eqn_callee(t->eqn);
    bool is_remat = jx_prim_is_remat(t->eqn->prim->id);
    jx_params p = {.program = t->b->in->program};
    const jx_batched *made;

    if (!callee)
        return jx_batch_none(t);
    made = jx_batch_jaxpr(t->of, callee->jaxpr, t->has, NULL);
    if (!made)
        return false;
    if (is_remat)
        p = jx_batch_others(t, without);
    else
        jx_put_text(&p, "name", jx_eqn_name(t->eqn));
    jx_put(&p, "jaxpr", jx_batch_closed(t, made->jaxpr, callee));
    return finish(t, is_remat ? t->eqn->prim : jx_prim_of(JX_PRIM_jit), &p,
                  t->eqn->nins, t->ins, made->outs);
}

/* ---- cond */

/* Each index has its own: all branches are computed. */
static bool chosen(jx_batch *t, const jx_closed_list *branches)
{
    int n = t->eqn->nouts, nins = t->eqn->nins - 1;
    const jx_atom **made =
        JX_NEW_ARRAY(jx_batch_arena(t), branches->count + 1, const jx_atom *);
    jx_atom *cases =
        JX_NEW_ARRAY(jx_batch_arena(t), branches->count + 2, jx_atom);
    const bool *all = all_of(t, n);
    jx_dtype dtype = jx_batch_in(t, 0)->dtype;
    const jx_atom bounds[] = {
        jx_build_number(t->b, dtype, 0), t->ins[0],
        jx_build_number(t->b, dtype, branches->count - 1)};
    jx_atom index;

    if (!made || !cases || !all)
        return false;
    for (int i = 0; i < branches->count; i++) {
        const jx_batched *branch =
            jx_batch_jaxpr(t->of, branches->at[i].jaxpr, t->has + 1, all);
        if (!branch ||
            !(made[i] = jx_batch_call_of(
                  t, t->b, "branch",
                  jx_batch_closed(t, branch->jaxpr, &branches->at[i]), nins,
                  t->ins + 1)))
            return false;
    }
    index = dtype == JX_BOOL ? t->ins[0]
                             : jx_build(t->b, JX_PRIM_clamp, NULL, 3, bounds);
    for (int k = 0; k < n; k++) {
        cases[0] = jx_batch_spread(t, index, true, jx_batch_out(t, k));
        for (int i = 0; i < branches->count; i++)
            cases[i + 1] = made[i][k];
        if (!jx_is_made(cases[0]))
            return false;
        t->gets[k] = true;
        t->outs[k] = branches->count == 1
                         ? cases[1]
                         : jx_build(t->b, JX_PRIM_select_n, NULL,
                                    branches->count + 1, cases);
    }
    return true;
}

bool jx_batch_cond(jx_batch *t)
{
    static const char *const without[] = {"branches", NULL};
    const jx_closed_list branches =
        ((const jx_p_cond *)t->eqn->typed)->branches;
    int n = t->eqn->nouts;
    const jx_value **made =
        JX_NEW_ARRAY(jx_batch_arena(t), branches.count + 1, const jx_value *);
    bool *outs = mask_of(t, NULL, n);
    jx_params p = jx_batch_others(t, without);

    if (t->has[0])
        return jx_eqn_acts(t->eqn)
                   ? jx_batch_refuse(
                         t, "it has effects, and each index has its own branch")
                   : chosen(t, &branches);
    if (!made || !outs)
        return false;
    for (int last = 0; last < 2; last++) /* what one branch gives, all do */
        for (int i = 0; i < branches.count; i++) {
            const jx_batched *branch = jx_batch_jaxpr(
                t->of, branches.at[i].jaxpr, t->has + 1, last ? outs : NULL);
            if (!branch)
                return false;
            for (int k = 0; !last && k < n; k++)
                outs[k] |= branch->outs[k];
            if (last)
                made[i] = jx_batch_closed(t, branch->jaxpr, &branches.at[i]);
        }
    jx_put(&p, "branches",
           jx_value_of_tuple(t->b->in->program, branches.count, made));
    return finish(t, t->eqn->prim, &p, t->eqn->nins, t->ins, outs);
}

/* ---- loops: what is carried has the axis if it gets it in any turn */

/* A loop's body where those of `carry` have the axis that come of it: `ins` is
 * of the body's inputs, whose carried ones begin at `first`. */
static const jx_batched *settled(jx_batch *t, const jx_jaxpr *body, bool *ins,
                                 int first, int ncarry)
{
    for (;;) {
        const bool *outs = mask_of(t, NULL, body->nouts);
        const jx_batched *made;
        bool more = false;
        for (int i = 0; outs && i < ncarry; i++)
            ((bool *)(uintptr_t)outs)[i] = ins[first + i];
        made = outs ? jx_batch_jaxpr(t->of, body, ins, outs) : NULL;
        if (!made)
            return NULL;
        for (int i = 0; i < ncarry; i++) {
            more |= made->outs[i] && !ins[first + i];
            ins[first + i] |= made->outs[i];
        }
        if (!more)
            return made;
    }
}

bool jx_batch_scan(jx_batch *t)
{
    static const char *const without[] = {"jaxpr", NULL};
    const jx_p_scan *s = t->eqn->typed;
    const jx_jaxpr *body = s->jaxpr.jaxpr;
    int nc = (int)s->num_consts, n = (int)s->num_carry, nins = t->eqn->nins;
    bool *mask = mask_of(t, t->has, nins);
    jx_params p = jx_batch_others(t, without);
    const jx_batched *made;
    const jx_aval **outs =
        JX_NEW_ARRAY(jx_batch_arena(t), t->eqn->nouts + 1, const jx_aval *);
    const jx_atom *results;
    jx_atom *ins;

    if (!mask || !outs || !(made = settled(t, body, mask, nc, n)) ||
        !(ins = passed(t, 0, nins, mask)))
        return false;
    for (int i = nc + n; i < nins; i++) /* one element after the other */
        if (mask[i])
            ins[i] = jx_batch_from_front(t, ins[i], 1);
    for (int i = 0; i < t->eqn->nouts; i++) {
        const jx_aval *one = jx_atom_aval(made->jaxpr->outs[i]);
        outs[i] =
            i < n ? one
                  : jx_aval_stack(&t->b->in->program->avals, one, s->length);
    }
    jx_put(&p, "jaxpr", jx_batch_closed(t, made->jaxpr, &s->jaxpr));
    results =
        jx_build_as(t->b, t->eqn->prim, &p, nins, ins, t->eqn->nouts, outs);
    for (int i = 0; results && i < t->eqn->nouts; i++) {
        t->gets[i] = made->outs[i];
        t->outs[i] = i >= n && t->gets[i] ? jx_batch_to_front(t, results[i], 1)
                                          : results[i];
    }
    return results != NULL;
}

/* A `while` on its way. */
typedef struct loop {
    const jx_p_while *p;
    int nc, nb, n; /* constants of both, and what is carried */
    const bool *cond_ins, *body_ins;
    const jx_batched *cond, *body;
} loop;

/* The first `n` axes. */
static jx_ints leading(jx_batch *t, int n)
{
    jx_ints to = {n, jx_batch_room(t, n)};

    for (int i = 0; to.at && i < n; i++)
        ((int64_t *)(uintptr_t)to.at)[i] = i;
    return to;
}

/* Inputs like those of a jaxpr. */
static void take(jx_body *body, const jx_jaxpr *of, int count, jx_atom *to)
{
    for (int i = 0; i < count; i++)
        to[i] = jx_body_input(body, of->vars[of->nconsts + i]->aval);
}

/* Goes on while it does so for any index; the loop may have been one
 * of many before. */
static const jx_jaxpr *any_goes_on(jx_batch *t, const loop *l,
                                   const jx_value *cond)
{
    jx_ints axes = leading(t, jx_atom_aval(l->cond->jaxpr->outs[0])->rank);
    jx_body *body = jx_body_new(t->b->in, NULL);
    jx_atom *ins = JX_NEW_ARRAY(jx_batch_arena(t), l->nc + l->n + 1, jx_atom);
    jx_params p = {.program = t->b->in->program};
    const jx_atom *goes;

    if (!body || !ins || !axes.at)
        return NULL;
    take(body, l->cond->jaxpr, l->nc + l->n, ins);
    goes = jx_batch_call_of(t, body, "cond", cond, l->nc + l->n, ins);
    jx_put_ints(&p, "axes", axes);
    if (!goes)
        return NULL;
    jx_body_result(body, jx_build(body, JX_PRIM_reduce_or, &p, 1, goes));
    return jx_body_finish(body, jx_no_atoms, l->p->cond_jaxpr.jaxpr->function);
}

/* Takes constants of the condition, then those of the body: an index that is
 * done keeps what it has. */
static const jx_jaxpr *while_it_goes_on(jx_batch *t, const loop *l,
                                        const jx_value *cond,
                                        const jx_value *step)
{
    jx_body *body = jx_body_new(t->b->in, NULL);
    int nc = l->nc, nb = l->nb, n = l->n;
    jx_atom *ins =
        JX_NEW_ARRAY(jx_batch_arena(t), 2 * (nc + nb + n) + 1, jx_atom);
    jx_atom *to_cond;
    jx_ints axes = leading(t, jx_atom_aval(l->cond->jaxpr->outs[0])->rank);
    const jx_atom *goes, *made;

    if (!body || !ins || !axes.at)
        return NULL;
    to_cond = ins + nb + nc + n;
    take(body, l->cond->jaxpr, nc, to_cond);
    take(body, l->body->jaxpr, nb + n, ins);
    for (int i = 0; i < n; i++)
        to_cond[nc + i] = ins[nb + i];
    goes = jx_batch_call_of(t, body, "cond", cond, nc + n, to_cond);
    made = goes ? jx_batch_call_of(t, body, "body", step, nb + n, ins) : NULL;
    for (int i = 0; made && i < n; i++) {
        const jx_aval *of = jx_atom_aval(made[i]);
        jx_atom here =
            of->rank == axes.count
                ? *goes
                : jx_build_broadcast(body, *goes, axes, of->rank, of->shape);
        jx_body_result(body, jx_math_where(body, here, made[i], ins[nb + i]));
    }
    return made ? jx_body_finish(body, jx_no_atoms,
                                 l->p->body_jaxpr.jaxpr->function)
                : NULL;
}

static bool loop_of_its_own(jx_batch *t, const loop *l)
{
    static const char *const without[] = {"body_jaxpr", "cond_jaxpr",
                                          "body_nconsts", NULL};
    const jx_value *cond =
        jx_batch_closed(t, l->cond->jaxpr, &l->p->cond_jaxpr);
    const jx_value *step =
        jx_batch_closed(t, l->body->jaxpr, &l->p->body_jaxpr);
    jx_params p = jx_batch_others(t, without);
    int nc = l->nc, nb = l->nb, n = l->n;
    jx_atom *ins =
        JX_NEW_ARRAY(jx_batch_arena(t), 2 * nc + nb + n + 1, jx_atom);
    const bool *all = all_of(t, n);

    if (!ins || !all || !cond || !step)
        return false;
    for (int i = 0; i < nc; i++)
        ins[i] = ins[nc + i] = t->ins[i];
    for (int i = 0; i < nb; i++)
        ins[2 * nc + i] = t->ins[nc + i];
    for (int i = 0; i < n; i++)
        if (!jx_is_made(ins[2 * nc + nb + i] = jx_batch_full(t, nc + nb + i)))
            return false;
    jx_put_jaxpr(&p, "cond_jaxpr", any_goes_on(t, l, cond));
    jx_put_jaxpr(&p, "body_jaxpr", while_it_goes_on(t, l, cond, step));
    jx_put_int(&p, "body_nconsts", nc + nb);
    return finish(t, t->eqn->prim, &p, 2 * nc + nb + n, ins, all);
}

bool jx_batch_while(jx_batch *t)
{
    static const char *const without[] = {"body_jaxpr", "cond_jaxpr", NULL};
    const jx_p_while *w = t->eqn->typed;
    loop l = {.p = w,
              .nc = (int)w->cond_nconsts,
              .nb = (int)w->body_nconsts,
              .n = t->eqn->nouts};
    bool *body = mask_of(t, t->has + l.nc, l.nb + l.n);
    bool *cond = mask_of(t, t->has, l.nc + l.n);
    bool *wanted = mask_of(t, NULL, t->eqn->nins);
    jx_params p = jx_batch_others(t, without);
    const jx_atom *ins;

    if (!body || !cond || !wanted ||
        !(l.body = settled(t, w->body_jaxpr.jaxpr, body, l.nb, l.n)))
        return false;
    for (int i = 0; i < l.n; i++)
        cond[l.nc + i] = body[l.nb + i];
    if (!(l.cond = jx_batch_jaxpr(t->of, w->cond_jaxpr.jaxpr, cond, NULL)))
        return false;
    /* What says for each of many whether they go on says so along
     * the first axes. */
    if (any_of(l.cond->outs, 1) ||
        (jx_atom_aval(w->cond_jaxpr.jaxpr->outs[0])->rank &&
         any_of(body + l.nb, l.n))) {
        for (int i = 0; i < l.n; i++)
            cond[l.nc + i] = body[l.nb + i] = true;
        l.body =
            jx_batch_jaxpr(t->of, w->body_jaxpr.jaxpr, body, all_of(t, l.n));
        l.cond = jx_batch_jaxpr(t->of, w->cond_jaxpr.jaxpr, cond, all_of(t, 1));
        if (jx_eqn_acts(t->eqn))
            return jx_batch_refuse(
                t, "it has effects, and each index ends by itself");
        return l.body && l.cond && loop_of_its_own(t, &l);
    }
    for (int i = 0; i < l.n; i++)
        wanted[l.nc + l.nb + i] = body[l.nb + i];
    if (!(ins = passed(t, 0, t->eqn->nins, wanted)))
        return false;
    jx_put(&p, "cond_jaxpr", jx_batch_closed(t, l.cond->jaxpr, &w->cond_jaxpr));
    jx_put(&p, "body_jaxpr", jx_batch_closed(t, l.body->jaxpr, &w->body_jaxpr));
    return finish(t, t->eqn->prim, &p, t->eqn->nins, ins, body + l.nb);
}

/* ---- solves: of all vectors, by functions over the axis */

bool jx_batch_custom_linear_solve(jx_batch *t)
{
    static const char *const without[] = {"jaxprs", NULL};
    const jx_p_custom_linear_solve *s = t->eqn->typed;
    int consts = s->const_lengths.before[JX_SOLVE_PARTS],
        n = t->eqn->nins - consts;
    bool *wanted = mask_of(t, NULL, t->eqn->nins);
    const jx_value *parts[JX_SOLVE_PARTS];
    jx_params p = jx_batch_others(t, without);
    jx_program *program = t->b->in->program;
    const jx_atom *ins;

    for (int k = 0; wanted && k < JX_SOLVE_PARTS; k++) {
        const jx_closed *part = &s->jaxprs.part[k];
        int own = jx_solve_count(&s->const_lengths, k);
        bool *mask = mask_of(t, NULL, own + n);
        const jx_batched *made;
        if (!part->jaxpr) {
            parts[k] =
                jx_value_add(&program->values, &(jx_value){.tag = JX_V_NONE});
            continue;
        }
        for (int i = 0; mask && i < own + n; i++)
            mask[i] = i >= own || t->has[s->const_lengths.before[k] + i];
        made = mask ? jx_batch_jaxpr(t->of, part->jaxpr, mask,
                                     all_of(t, part->jaxpr->nouts))
                    : NULL;
        if (!made)
            return false;
        parts[k] = jx_batch_closed(t, made->jaxpr, part);
    }
    for (int i = consts; wanted && i < t->eqn->nins; i++)
        wanted[i] = true;
    jx_put(&p, "jaxprs",
           jx_value_of_record(program, "LinearSolveTuple", JX_SOLVE_PARTS,
                              jx_solve_names, parts));
    ins = wanted ? passed(t, 0, t->eqn->nins, wanted) : NULL;
    return ins && finish(t, t->eqn->prim, &p, t->eqn->nins, ins,
                         all_of(t, t->eqn->nouts));
}
