/* discharge_loops.c - loops whose operands are references. */
#include "analyzer/transform/discharge_parts.h"

static jx_arena *arena_of(const jx_discharge *d)
{
    return d->ctx->arena;
}

/* ---- scan
 *
 *     constants, written references, carried values, items
 *     -> written references, carried values, results, written items
 */

typedef struct scanned {
    const jx_eqn *eqn;
    const jx_p_scan *p;
    const jx_jaxpr *from;
    const bool *writes;       /* by input */
    int consts, carry, moved; /* `moved` of the constants are carried */
    int *order;               /* by new input: the old one */
} scanned;

static bool is_moved(const scanned *s, int i)
{
    return i < s->consts && s->writes[i] && jx_is_ref(s->eqn->ins[i].var);
}

static bool is_item(const scanned *s, int i)
{
    return i >= s->consts + s->carry && s->writes[i] &&
           jx_is_ref(s->eqn->ins[i].var);
}

static bool begin_scan(jx_discharging *b, const jx_eqn *eqn, scanned *s)
{
    int next = 0;

    *s = (scanned){.eqn = eqn, .p = eqn->typed};
    s->from = s->p->jaxpr.jaxpr;
    s->consts = (int)s->p->num_consts;
    s->carry = (int)s->p->num_carry;
    s->order = JX_NEW_ARRAY(arena_of(b->d), eqn->nins + 1, int);
    s->writes = jx_discharge_writes(b->d, s->from);
    if (!s->order || !s->writes || !jx_discharge_distinct(b, eqn) ||
        !jx_discharge_inputs(b, eqn, 0, s->from, 0, eqn->nins))
        return false;
    s->writes += s->from->nconsts;
    for (int i = s->consts; i < s->consts + s->carry; i++)
        if (jx_is_ref(eqn->ins[i].var))
            return jx_discharge_fail(b, "a reference among what a loop "
                                        "carries");
    for (int last = 0; last < 2; last++)
        for (int i = 0; i < s->consts; i++)
            if (is_moved(s, i) == last)
                s->order[next++] = i;
    for (int i = 0; i < s->consts; i++)
        s->moved += is_moved(s, i);
    for (int i = s->consts; i < eqn->nins; i++)
        s->order[next++] = i;
    return true;
}

static void put_held(jx_discharge *d, jx_recipe *r, int input)
{
    jx_recipe_put(d, r, -1);
    jx_recipe_put(d, r, input);
}

static const jx_jaxpr *scan_body(jx_discharging *b, const scanned *s)
{
    jx_discharge *d = b->d;
    jx_recipe r = {0};
    int n = s->eqn->nins, nouts = s->from->nouts;

    jx_recipe_put(d, &r, b->lenient ? JX_RECIPE_SHOWN : JX_RECIPE_CALLED);
    jx_recipe_put(d, &r, n);
    jx_recipe_put(d, &r, 1);
    jx_recipe_put(d, &r, s->from->id);
    for (int i = 0; i < n; i++) {
        int k = 0;
        while (s->order[k] != i)
            k++;
        jx_recipe_put(d, &r, k);
    }
    jx_recipe_put(d, &r, 0);
    for (int i = 0; i < n; i++)
        nouts += is_moved(s, i) || is_item(s, i);
    jx_recipe_put(d, &r, nouts);
    for (int k = 0; k < n; k++)
        if (is_moved(s, s->order[k]))
            put_held(d, &r, k);
    for (int i = 0; i < s->from->nouts; i++) {
        jx_recipe_put(d, &r, 0);
        jx_recipe_put(d, &r, i);
    }
    for (int k = 0; k < n; k++)
        if (is_item(s, s->order[k]))
            put_held(d, &r, k);
    return jx_recipe_follow(d, &r);
}

/* Types of the results; what is carried is as the references hold it. */
static const jx_aval *const *scan_avals(jx_discharging *b, const scanned *s,
                                        int nouts)
{
    const jx_aval **outs = JX_NEW_ARRAY(arena_of(b->d), nouts, const jx_aval *);
    int next = 0;

    for (int k = 0; outs && k < s->eqn->nins; k++)
        if (is_moved(s, s->order[k]))
            outs[next++] = jx_held_by(s->eqn->ins[s->order[k]].var);
    for (int i = 0; outs && i < s->eqn->nouts; i++)
        outs[next++] = s->eqn->outs[i]->aval;
    for (int k = 0; outs && k < s->eqn->nins; k++)
        if (is_item(s, s->order[k]))
            outs[next++] = jx_held_by(s->eqn->ins[s->order[k]].var);
    return outs;
}

bool jx_discharge_scan(jx_discharging *b, const jx_eqn *eqn)
{
    /* JAX's trees of the operands, and what it knows of them one by one. */
    static const char *const without[] = {
        "jaxpr", "num_consts", "num_carry", "linear", "ft_in", "ft_out", NULL};
    jx_params p = {.program = b->d->program};
    jx_atom *ins = jx_discharge_operands(b, eqn), *put_in;
    const jx_jaxpr *to;
    const jx_atom *atoms;
    scanned s;
    int next = 0;

    if (!ins || !begin_scan(b, eqn, &s))
        return false;
    to = scan_body(b, &s);
    put_in = JX_NEW_ARRAY(arena_of(b->d), eqn->nins, jx_atom);
    if (!to || !put_in)
        return false;
    for (int k = 0; k < eqn->nins; k++)
        put_in[k] = ins[s.order[k]];
    jx_put_others(&p, eqn, without);
    jx_put(&p, "jaxpr", jx_discharge_callee(b, to, &s.p->jaxpr));
    jx_put_int(&p, "num_consts", s.consts - s.moved);
    jx_put_int(&p, "num_carry", s.carry + s.moved);
    atoms = jx_discharge_emit_all(b, eqn->prim, eqn->nins, put_in, &p,
                                  to->nouts, scan_avals(b, &s, to->nouts));
    if (!atoms)
        return false;
    for (int k = 0; k < eqn->nins; k++)
        if (is_moved(&s, s.order[k]))
            jx_discharge_become(b, eqn->ins[s.order[k]].var, atoms[next++]);
    jx_discharge_results(b, eqn, atoms + next);
    next += eqn->nouts;
    for (int k = 0; k < eqn->nins; k++)
        if (is_item(&s, s.order[k]))
            jx_discharge_become(b, eqn->ins[s.order[k]].var, atoms[next++]);
    return true;
}

/* ---- while
 *
 * What is written is carried, ahead of the rest.  A condition that writes is
 * evaluated in front of the body once more, since it can give no more than its
 * answer; what it writes the last time is lost, as in JAX. */

typedef struct looped {
    const jx_eqn *eqn;
    const jx_p_while *p;
    const bool *cond_writes, *body_writes; /* by input */
    int cond, body, carry;
    bool twice; /* the condition writes */
    int ncarried;
    int *carried; /* operands: one for each reference that is written */
} looped;

static int carried_as(const looped *l, int operand)
{
    for (int i = 0; i < l->ncarried; i++)
        if (l->eqn->ins[l->carried[i]].var == l->eqn->ins[operand].var)
            return i;
    return -1;
}

static bool begin_while(jx_discharging *b, const jx_eqn *eqn, looped *l)
{
    *l = (looped){.eqn = eqn, .p = eqn->typed};
    l->cond = (int)l->p->cond_nconsts;
    l->body = (int)l->p->body_nconsts;
    l->carry = eqn->nouts;
    l->carried = JX_NEW_ARRAY(arena_of(b->d), l->cond + l->body + 1, int);
    const jx_jaxpr *c = l->p->cond_jaxpr.jaxpr, *body = l->p->body_jaxpr.jaxpr;
    l->cond_writes = jx_discharge_writes(b->d, c);
    l->body_writes = jx_discharge_writes(b->d, body);
    if (!l->carried || !l->cond_writes || !l->body_writes)
        return false;
    if (c->nconsts || body->nconsts)
        return jx_discharge_fail(b, "a loop with constants of its own");
    if (!jx_discharge_inputs(b, eqn, 0, c, 0, l->cond) ||
        !jx_discharge_inputs(b, eqn, l->cond, body, 0, l->body) ||
        !jx_discharge_inputs(b, eqn, l->cond + l->body, body, l->body,
                             l->carry))
        return false;
    for (int i = l->cond + l->body; i < eqn->nins; i++)
        if (jx_is_ref(eqn->ins[i].var))
            return jx_discharge_fail(b, "a reference among what a loop "
                                        "carries");
    for (int i = 0; i < l->cond + l->body; i++) {
        bool writes =
            i < l->cond ? l->cond_writes[i] : l->body_writes[i - l->cond];
        int first = i < l->cond ? 0 : l->cond;
        for (int k = first; k < i && jx_is_ref(eqn->ins[i].var); k++)
            if (eqn->ins[k].var == eqn->ins[i].var)
                return jx_discharge_fail(b,
                                         "operands %d and %d are the same "
                                         "reference",
                                         k, i);
        if (!jx_is_ref(eqn->ins[i].var) || !writes)
            continue;
        l->twice |= i < l->cond;
        if (carried_as(l, i) < 0)
            l->carried[l->ncarried++] = i;
    }
    return true;
}

/* The operands among [from, from + count) that stay constants. */
static int put_consts(const looped *l, int from, int count, int *to)
{
    int n = 0;

    for (int i = from; i < from + count; i++)
        if (carried_as(l, i) < 0)
            to[n++] = i;
    return n;
}

/* A stage of a recipe: `consts` are the new constants, then come the references
 * that are carried, then the rest. */
static void put_stage(jx_discharge *d, jx_recipe *r, const looped *l,
                      const jx_jaxpr *from, int first, int count, int nconsts,
                      const int *consts)
{
    jx_recipe_put(d, r, from->id);
    for (int i = first; i < first + count; i++) {
        int k = 0, at = carried_as(l, i);
        while (at < 0 && consts[k] != i)
            k++;
        jx_recipe_put(d, r, at < 0 ? k : nconsts + at);
    }
    for (int i = 0; i < l->carry; i++)
        jx_recipe_put(d, r, nconsts + l->ncarried + i);
}

/* New input `input` is of the type that the operand has. */
static void put_type(jx_discharge *d, jx_recipe *r, const looped *l, int input,
                     int operand)
{
    bool cond = operand < l->cond;

    jx_recipe_put(d, r, input);
    jx_recipe_put(
        d, r, cond ? l->p->cond_jaxpr.jaxpr->id : l->p->body_jaxpr.jaxpr->id);
    jx_recipe_put(d, r, cond ? operand : operand - l->cond);
}

static const jx_jaxpr *while_part(jx_discharging *b, const looped *l, bool body,
                                  int nconsts, const int *consts)
{
    jx_discharge *d = b->d;
    bool both = body && l->twice;
    jx_recipe r = {0};

    jx_recipe_put(d, &r, b->lenient ? JX_RECIPE_SHOWN : JX_RECIPE_CALLED);
    jx_recipe_put(d, &r, nconsts + l->ncarried + l->carry);
    jx_recipe_put(d, &r, both ? 2 : 1);
    if (!body || both)
        put_stage(d, &r, l, l->p->cond_jaxpr.jaxpr, 0, l->cond, nconsts,
                  consts);
    if (body)
        put_stage(d, &r, l, l->p->body_jaxpr.jaxpr, l->cond, l->body, nconsts,
                  consts);
    jx_recipe_put(d, &r, l->ncarried);
    for (int i = 0; i < l->ncarried; i++)
        put_type(d, &r, l, nconsts + i, l->carried[i]);
    jx_recipe_put(d, &r, body ? l->ncarried + l->carry : 1);
    for (int i = 0; body && i < l->ncarried; i++)
        put_held(d, &r, nconsts + i);
    for (int i = 0; i < (body ? l->carry : 1); i++) {
        jx_recipe_put(d, &r, both);
        jx_recipe_put(d, &r, i);
    }
    return jx_recipe_follow(d, &r);
}

/* New operands: constants of both, what is carried; and types
 * of the results. */
static bool while_operands(jx_discharging *b, const looped *l, int nconsts,
                           const int *consts, jx_atom *ins,
                           const jx_aval **outs)
{
    int next = nconsts;

    for (int i = 0; i < nconsts; i++)
        ins[i] = jx_discharge_now(b, l->eqn->ins[consts[i]]);
    for (int i = 0; i < l->ncarried; i++) {
        outs[next - nconsts] = jx_held_by(l->eqn->ins[l->carried[i]].var);
        ins[next++] = jx_discharge_now(b, l->eqn->ins[l->carried[i]]);
    }
    for (int i = 0; i < l->carry; i++) {
        outs[next - nconsts] = l->eqn->outs[i]->aval;
        ins[next++] = jx_discharge_now(b, l->eqn->ins[l->cond + l->body + i]);
    }
    return true;
}

bool jx_discharge_while(jx_discharging *b, const jx_eqn *eqn)
{
    static const char *const without[] = {"cond_jaxpr", "body_jaxpr",
                                          "cond_nconsts", "body_nconsts", NULL};
    jx_arena *arena = arena_of(b->d);
    int *consts = JX_NEW_ARRAY(arena, 2 * eqn->nins + 1, int), ncond, nbody;
    jx_atom *ins = JX_NEW_ARRAY(arena, 2 * eqn->nins + 1, jx_atom);
    const jx_aval **outs =
        JX_NEW_ARRAY(arena, 2 * eqn->nins + 1, const jx_aval *);
    jx_params p = {.program = b->d->program};
    const jx_jaxpr *cond_to, *body_to;
    const jx_atom *atoms;
    looped l;

    if (!consts || !ins || !outs || !begin_while(b, eqn, &l))
        return false;
    ncond = put_consts(&l, 0, l.cond, consts);
    nbody = put_consts(&l, l.twice ? 0 : l.cond,
                       l.twice ? l.cond + l.body : l.body, consts + ncond);
    cond_to = while_part(b, &l, false, ncond, consts);
    body_to = cond_to ? while_part(b, &l, true, nbody, consts + ncond) : NULL;
    if (!body_to || !while_operands(b, &l, ncond + nbody, consts, ins, outs))
        return false;
    jx_put_others(&p, eqn, without);
    jx_put(&p, "cond_jaxpr", jx_discharge_callee(b, cond_to, &l.p->cond_jaxpr));
    jx_put(&p, "body_jaxpr", jx_discharge_callee(b, body_to, &l.p->body_jaxpr));
    jx_put_int(&p, "cond_nconsts", ncond);
    jx_put_int(&p, "body_nconsts", nbody);
    atoms = jx_discharge_emit_all(b, eqn->prim,
                                  ncond + nbody + l.ncarried + l.carry, ins, &p,
                                  l.ncarried + l.carry, outs);
    if (!atoms)
        return false;
    for (int i = 0; i < l.ncarried; i++)
        jx_discharge_become(b, eqn->ins[l.carried[i]].var, atoms[i]);
    return jx_discharge_results(b, eqn, atoms + l.ncarried);
}
