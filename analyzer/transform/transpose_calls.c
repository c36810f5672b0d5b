/* transpose_calls.c - transposes of what runs jaxprs. */
#include "analyzer/transform/split.h"
#include "analyzer/transform/transpose_parts.h"

/* Which operands from `first` on are linear; which results have a cotangent. */
static bool *linear_of(jx_transpose *t, int first)
{
    bool *mask = JX_NEW_ARRAY(jx_transpose_arena(t), t->eqn->nins + 1, bool);

    for (int i = first; mask && i < t->eqn->nins; i++)
        mask[i - first] = jx_is_linear(t, i);
    return mask;
}

static bool *cts_of(jx_transpose *t)
{
    bool *mask = JX_NEW_ARRAY(jx_transpose_arena(t), t->eqn->nouts + 1, bool);

    for (int i = 0; mask && i < t->eqn->nouts; i++)
        mask[i] = jx_is_made(t->cts[i]);
    return mask;
}

/* An equation in the making. */
typedef struct call {
    jx_transpose *t;
    int nins, nouts;
    jx_atom *ins;
    const jx_aval **outs;
} call;

static bool begin_call(jx_transpose *t, call *c)
{
    int room = 2 * (t->eqn->nins + t->eqn->nouts) + 1;

    *c = (call){.t = t};
    c->ins = JX_NEW_ARRAY(jx_transpose_arena(t), room, jx_atom);
    c->outs = JX_NEW_ARRAY(jx_transpose_arena(t), room, const jx_aval *);
    return c->ins && c->outs;
}

/* The operands that are not linear, then cotangents. */
static void pass(call *c, int first, int end)
{
    for (int i = first; i < end; i++)
        if (!jx_is_linear(c->t, i))
            c->ins[c->nins++] = c->t->ins[i];
}

static void pass_cts(call *c)
{
    for (int i = 0; i < c->t->eqn->nouts; i++)
        if (jx_is_made(c->t->cts[i]))
            c->ins[c->nins++] = c->t->cts[i];
}

/* What the mask says of operands from `first` on is what it gives. */
static bool finish(call *c, const jx_prim *prim, jx_params *p, int first,
                   const bool *gives)
{
    jx_transpose *t = c->t;
    const jx_atom *made;

    for (int i = first; i < t->eqn->nins; i++)
        if (gives[i - first])
            c->outs[c->nouts++] = jx_transpose_in(t, i);
    made = jx_build_as(t->b, prim, p, c->nins, c->ins, c->nouts, c->outs);
    for (int i = first, k = 0; made && i < t->eqn->nins; i++)
        if (gives[i - first])
            t->gives[i] = made[k++];
    return made != NULL;
}

/* What is computed again on the way back: the results of `split->known`. */
static const jx_atom *again(jx_transpose *t, const jx_split *split,
                            const jx_closed *callee, const char *name)
{
    jx_params p = {.program = t->b->in->program};
    call c;

    if (!begin_call(t, &c))
        return NULL;
    jx_put_text(&p, "name", name);
    jx_put(&p, "jaxpr", jx_making_closed(t->of->make, split->known, callee));
    pass(&c, 0, t->eqn->nins);
    return jx_build_all(t->b, jx_prim_of(JX_PRIM_jit), &p, c.nins, c.ins,
                        split->known->nouts);
}

/* The cotangents of linear operands, from the transpose of `split->rest`. */
static bool finish_rest(jx_transpose *t, const jx_split *split,
                        const jx_transposed *back, const jx_closed *callee,
                        const jx_atom *known, const char *name)
{
    jx_params p = {.program = t->b->in->program};
    int nknown = split->known->nouts - split->nres, k = 0;
    int input = split->nres + split->npassed, n = 0;
    jx_atom *ins =
        JX_NEW_ARRAY(jx_transpose_arena(t), back->jaxpr->nins + 1, jx_atom);
    const jx_atom *made;

    if (!ins)
        return false;
    for (int i = 0; i < split->nres; i++)
        ins[n++] = known[nknown + i];
    for (int i = 0; i < split->npassed; i++)
        ins[n++] = t->ins[split->passed[i]];
    for (int i = 0; i < t->eqn->nouts; i++)
        if (split->outs[i] && jx_is_made(t->cts[i]))
            ins[n++] = t->cts[i];
    jx_put_text(&p, "name", name);
    jx_put(&p, "jaxpr", jx_making_closed(t->of->make, back->jaxpr, callee));
    made = jx_build_all(t->b, jx_prim_of(JX_PRIM_jit), &p, n, ins,
                        back->jaxpr->nouts);
    for (int i = 0; made && i < t->eqn->nins; i++)
        if (jx_is_linear(t, i) && back->ins[input++])
            t->gives[i] = made[k++];
    return made != NULL;
}

/* What remat runs holds both what is linear and what that is made with, in
 * calls, too: it is taken apart first. */
static bool transpose_remat(jx_transpose *t, const jx_closed *callee,
                            const bool *linear, const char *name)
{
    jx_arena *arena = jx_transpose_arena(t);
    const jx_transposed *back;
    const jx_atom *known;
    const jx_split *split;
    jx_splitter splitter;
    bool *ins, *outs;
    int nouts = 0, first;

    jx_splitter_begin(&splitter, t->of->make);
    if (!(split = jx_split_jaxpr(&splitter, callee->jaxpr, linear, NULL, NULL)))
        return false;
    first = split->nres + split->npassed;
    ins = JX_NEW_ARRAY(arena, split->rest->nins + 1, bool);
    outs = JX_NEW_ARRAY(arena, split->rest->nouts + 1, bool);
    if (!ins || !outs)
        return false;
    for (int i = first; i < split->rest->nins; i++)
        ins[i] = true;
    for (int i = 0; i < t->eqn->nouts; i++)
        if (split->outs[i])
            outs[nouts++] = jx_is_made(t->cts[i]);
    back = jx_transpose_jaxpr(t->of, split->rest, ins, outs, NULL);
    known = back ? again(t, split, callee, name) : NULL;
    return known && finish_rest(t, split, back, callee, known, name);
}

bool jx_transpose_call(jx_transpose *t)
{
    const jx_closed *callee = jx_eqn_callee(t->eqn);
    const jx_value *name = jx_eqn_param(t->eqn, "name");
    const bool *linear = linear_of(t, 0), *cts = cts_of(t);
    jx_params p = {.program = t->b->in->program};
    const jx_transposed *made;
    call c;

    if (!callee)
        return jx_transpose_none(t);
    if (jx_prim_is_remat(t->eqn->prim->id))
        return linear &&
               transpose_remat(t, callee, linear, jx_eqn_name(t->eqn));
    made = linear && cts
               ? jx_transpose_jaxpr(t->of, callee->jaxpr, linear, cts, NULL)
               : NULL;
    if (!made || !begin_call(t, &c))
        return false;
    jx_put_text(&p, "name",
                name && name->tag == JX_V_TEXT ? name->text
                                               : jx_eqn_name(t->eqn));
    jx_put(&p, "jaxpr", jx_making_closed(t->of->make, made->jaxpr, callee));
    pass(&c, 0, t->eqn->nins);
    pass_cts(&c);
    return finish(&c, jx_prim_of(JX_PRIM_jit), &p, 0, made->ins);
}

bool jx_transpose_cond(jx_transpose *t)
{
    static const char *const without[] = {"branches", NULL};
    const jx_closed_list from = ((const jx_p_cond *)t->eqn->typed)->branches;
    const bool *linear = linear_of(t, 1), *cts = cts_of(t);
    const jx_value **branches =
        JX_NEW_ARRAY(jx_transpose_arena(t), from.count + 1, const jx_value *);
    bool *gives = JX_NEW_ARRAY(jx_transpose_arena(t), t->eqn->nins + 1, bool);
    jx_params p = jx_transpose_others(t, without);
    call c;

    if (!linear || !cts || !branches || !gives || !begin_call(t, &c))
        return false;
    if (jx_is_linear(t, 0))
        return jx_transpose_none(t);
    for (int last = 0; last < 2; last++) /* what one gives, all do */
        for (int i = 0; i < from.count; i++) {
            const jx_transposed *made = jx_transpose_jaxpr(
                t->of, from.at[i].jaxpr, linear, cts, last ? gives : NULL);
            if (!made)
                return false;
            for (int k = 0; !last && k < t->eqn->nins - 1; k++)
                gives[k] |= made->ins[k];
            if (last)
                branches[i] =
                    jx_making_closed(t->of->make, made->jaxpr, &from.at[i]);
        }
    jx_put(&p, "branches", jx_value_of_tuple(p.program, from.count, branches));
    pass(&c, 0, t->eqn->nins);
    pass_cts(&c);
    return finish(&c, t->eqn->prim, &p, 1, gives);
}

bool jx_transpose_while(jx_transpose *t)
{
    return jx_transpose_refuse(t, "reverse-mode differentiation does not work "
                                  "for lax.while_loop or lax.fori_loop "
                                  "with dynamic start/stop values");
}

/* ---- scan: turn by turn from the last, carrying what the turns before were
 * given and, of constants, the sum */

typedef struct loop {
    const jx_p_scan *p;
    const jx_jaxpr *body;
    /* of operands: where constants end, and what is carried */
    int consts, carried;
    int ncarry;
} loop;

/* Takes constants that are not linear; sums of those that are, and
 * cotangents of what is carried; cotangents of what each turn gave, and what
 * else each turn takes. */
static const jx_value *turned(jx_transpose *t, const loop *l,
                              const bool *linear, const bool *given)
{
    const jx_jaxpr *from = l->body;
    bool *cts = JX_NEW_ARRAY(jx_transpose_arena(t), from->nouts + 1, bool);
    jx_body *b = jx_body_new(t->b->in, NULL);
    jx_atom *ins = JX_NEW_ARRAY(jx_transpose_arena(t),
                                from->nins + from->nouts + 1, jx_atom);
    jx_atom *sums =
        JX_NEW_ARRAY(jx_transpose_arena(t), from->nins + 1, jx_atom);
    jx_atom *made =
        JX_NEW_ARRAY(jx_transpose_arena(t), from->nins + 1, jx_atom);
    const jx_transposed *back;
    int nfree = 0, n, next = 0;

    if (!cts || !b || !ins || !sums || !made)
        return NULL;
    for (int i = 0; i < from->nouts; i++)
        cts[i] = i < l->ncarry || given[i];
    for (int i = 0; i < from->nins; i++)
        nfree += !linear[i];
    if (!(back = jx_transpose_jaxpr(t->of, from, linear, cts, linear)))
        return NULL;
    for (int i = 0; i < l->consts; i++)
        if (!linear[i])
            ins[next++] = jx_body_input(b, from->vars[from->nconsts + i]->aval);
    for (int i = 0; i < l->consts; i++)
        if (linear[i])
            sums[i] = jx_body_input(b, from->vars[from->nconsts + i]->aval);
    n = nfree;
    for (int i = 0; i < from->nouts; i++)
        if (cts[i])
            ins[n++] = jx_body_input(b, jx_atom_aval(from->outs[i]));
    for (int i = l->carried; i < from->nins; i++)
        if (!linear[i])
            ins[next++] = jx_body_input(b, from->vars[from->nconsts + i]->aval);
    if (!jx_making_enclose(t->of->make, b, back->jaxpr, ins, made))
        return NULL;
    for (int i = 0, k = 0; i < from->nins; i++)
        if (linear[i])
            jx_body_result(b, i < l->consts ? jx_math_sum(b, sums[i], made[k++])
                                            : made[k++]);
    return jx_making_closed(t->of->make,
                            jx_body_finish(b, jx_no_atoms, from->function),
                            &l->p->jaxpr);
}

bool jx_transpose_scan(jx_transpose *t)
{
    static const char *const without[] = {"jaxpr",  "num_consts", "num_carry",
                                          "linear", "reverse",    NULL};
    const jx_p_scan *p = t->eqn->typed;
    const loop l = {.p = p,
                    .body = p->jaxpr.jaxpr,
                    .consts = (int)p->num_consts,
                    .carried = (int)(p->num_consts + p->num_carry),
                    .ncarry = (int)p->num_carry};
    const bool *cts = cts_of(t);
    bool *linear = linear_of(t, 0);
    jx_params q = jx_transpose_others(t, without);
    const jx_value *no = jx_value_add(
        &q.program->values, &(jx_value){.tag = JX_V_BOOL, .boolean = false});
    const jx_value **flags =
        JX_NEW_ARRAY(jx_transpose_arena(t),
                     2 * (t->eqn->nins + t->eqn->nouts) + 1, const jx_value *);
    int nconsts, ncarry;
    call c;

    if (!linear || !cts || !flags || !begin_call(t, &c))
        return false;
    for (int i = l.consts; i < l.carried; i++)
        linear[i] = true; /* or 0, with which it begins */
    pass(&c, 0, l.consts);
    nconsts = c.nins;
    for (int i = 0; i < l.consts; i++)
        if (linear[i])
            c.ins[c.nins++] = jx_build_zeros(t->b, jx_transpose_in(t, i));
    for (int i = 0; i < l.ncarry; i++)
        c.ins[c.nins++] = jx_transpose_full(t, i);
    ncarry = c.nins - nconsts;
    for (int i = l.ncarry; i < t->eqn->nouts; i++)
        if (cts[i])
            c.ins[c.nins++] = t->cts[i];
    pass(&c, l.carried, t->eqn->nins);
    for (int i = 0; i < c.nins; i++)
        flags[i] = no;
    jx_put(&q, "jaxpr", turned(t, &l, linear, cts));
    jx_put_int(&q, "num_consts", nconsts);
    jx_put_int(&q, "num_carry", ncarry);
    jx_put(&q, "linear", jx_value_of_tuple(q.program, c.nins, flags));
    jx_put_bool(&q, "reverse", !p->reverse);
    return finish(&c, t->eqn->prim, &q, 0, linear);
}

/* ---- solves: A^T in the place of A */

bool jx_transpose_custom_linear_solve(jx_transpose *t)
{
    static const char *const without[] = {"jaxprs", "const_lengths", NULL};
    static const int swapped[JX_SOLVE_PARTS] = {
        JX_SOLVE_VECMAT, JX_SOLVE_MATVEC, JX_SOLVE_TRANSPOSE, JX_SOLVE};
    const jx_p_custom_linear_solve *s = t->eqn->typed;
    const int *before = s->const_lengths.before;
    jx_program *program = t->b->in->program;
    const jx_value *jaxprs[JX_SOLVE_PARTS], *counts[JX_SOLVE_PARTS];
    jx_params p = jx_transpose_others(t, without);
    int consts = before[JX_SOLVE_PARTS], n = t->eqn->nins - consts;
    const jx_jaxpr *back = s->jaxprs.part[JX_SOLVE_TRANSPOSE].jaxpr;
    call c;

    if (!s->jaxprs.part[JX_SOLVE_VECMAT].jaxpr || !back)
        return jx_transpose_refuse(
            t, "transpose_solve required for backwards mode automatic "
               "differentiation of custom_linear_solve");
    /* what solve gives beside the solution */
    for (int i = n; i < t->eqn->nouts; i++)
        if (jx_is_made(t->cts[i]))
            return jx_transpose_none(t);
    if (back->nouts < n)
        return jx_transpose_none(t);
    if (!begin_call(t, &c) ||
        !(c.outs = JX_NEW_ARRAY(jx_transpose_arena(t), back->nouts + 1,
                                const jx_aval *)))
        return false;
    for (int i = 0; i < JX_SOLVE_PARTS; i++) {
        int from = swapped[i];
        const jx_closed *part = &s->jaxprs.part[from];
        for (int k = before[from]; k < before[from + 1]; k++) {
            if (jx_is_linear(t, k))
                return jx_transpose_none(t);
            c.ins[c.nins++] = t->ins[k];
        }
        jaxprs[i] = jx_making_closed(t->of->make, part->jaxpr, part);
        counts[i] = jx_value_add(
            &program->values,
            &(jx_value){.tag = JX_V_INT,
                        .integer = before[from + 1] - before[from]});
    }
    for (int i = 0; i < n; i++)
        c.ins[c.nins++] = jx_transpose_full(t, i);
    jx_put(&p, "jaxprs",
           jx_value_of_record(program, "LinearSolveTuple", JX_SOLVE_PARTS,
                              jx_solve_names, jaxprs));
    jx_put(&p, "const_lengths",
           jx_value_of_record(program, "LinearSolveTuple", JX_SOLVE_PARTS,
                              jx_solve_names, counts));
    const jx_atom *made = NULL;
    for (int i = 0; i < back->nouts; i++)
        c.outs[i] = i < n ? jx_transpose_in(t, consts + i)
                          : jx_atom_aval(back->outs[i]);
    made =
        jx_build_as(t->b, t->eqn->prim, &p, c.nins, c.ins, back->nouts, c.outs);
    for (int i = 0; made && i < n; i++)
        if (jx_is_linear(t, consts + i))
            t->gives[consts + i] = made[i];
    return made != NULL;
}

/* ---- rules: the bwd, of residuals and cotangents in full */

static bool is_zero(const jx_value *zeros, int i)
{
    return zeros && zeros->tag == JX_V_TUPLE && i < zeros->count &&
           zeros->items[i]->tag == JX_V_BOOL && zeros->items[i]->boolean;
}

bool jx_transpose_custom_lin(jx_transpose *t)
{
    const jx_p_custom_lin *p = t->eqn->typed;
    const jx_value *bwd = p->bwd && p->bwd->tag == JX_V_JAXPR ? p->bwd : NULL;
    int n = p->in_zeros ? p->in_zeros->count : 0, nres = (int)p->num_res,
        next = 0, k = 0;
    jx_params q = {.program = t->b->in->program};
    const jx_atom *made;
    call c;

    if (!bwd)
        return jx_transpose_refuse(t,
                                   "its rule is not in the program (PRM002)");
    if (!begin_call(t, &c))
        return false;
    for (int i = 0; i < nres; i++)
        c.ins[c.nins++] = t->ins[i];
    for (int i = 0; i < t->eqn->nouts; i++)
        c.ins[c.nins++] = jx_transpose_full(t, i);
    jx_put_text(&q, "name", "bwd");
    jx_put(&q, "jaxpr", bwd);
    made = jx_build_all(t->b, jx_prim_of(JX_PRIM_jit), &q, c.nins, c.ins,
                        bwd->jaxpr->nouts);
    for (int i = 0; made && i < n; i++) {
        bool given = !p->ct_zeros || p->ct_zeros[i] != '1';
        int operand = is_zero(p->in_zeros, i) ? -1 : nres + next++;
        if (given && k >= bwd->jaxpr->nouts)
            return jx_transpose_refuse(
                t, "its bwd gives less than its operands take");
        if (given && operand >= 0 && operand < t->eqn->nins &&
            !jx_transpose_give(t, operand, made[k]))
            return false;
        k += given;
    }
    return made != NULL;
}
