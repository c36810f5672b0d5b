/* discharge_eqn.c - what equations become whose operands are references. */
#include "analyzer/transform/discharge_parts.h"
#include "analyzer/transform/mesh_parts.h"

#include <string.h>

static const jx_atom nothing = {NULL, NULL};

static jx_arena *arena_of(const jx_discharge *d)
{
    return d->ctx->arena;
}

/* ---- operands */

jx_atom jx_discharge_now(const jx_discharging *b, jx_atom atom)
{
    return atom.var ? b->now[atom.var->id] : atom;
}

jx_atom *jx_discharge_operands(jx_discharging *b, const jx_eqn *eqn)
{
    jx_atom *ins = JX_NEW_ARRAY(arena_of(b->d), eqn->nins, jx_atom);

    for (int i = 0; ins && i < eqn->nins; i++)
        ins[i] = jx_discharge_now(b, eqn->ins[i]);
    return ins;
}

static bool has_refs(const jx_eqn *eqn)
{
    for (int i = 0; i < eqn->nins; i++)
        if (jx_is_ref(eqn->ins[i].var))
            return true;
    for (int i = 0; i < eqn->nouts; i++)
        if (jx_is_ref(eqn->outs[i]))
            return true;
    return false;
}

/* None that was frozen. */
static bool check_alive(jx_discharging *b, const jx_eqn *eqn)
{
    for (int i = 0; i < eqn->nins; i++)
        if (jx_is_ref(eqn->ins[i].var) && b->gone[eqn->ins[i].var->id])
            return jx_discharge_fail(b,
                                     "operand %d is a reference that was "
                                     "frozen or freed before",
                                     i);
    return true;
}

/* An equation calls with a reference once: within, each input is another. */
bool jx_discharge_distinct(jx_discharging *b, const jx_eqn *eqn)
{
    for (int i = 0; i < eqn->nins; i++)
        for (int k = 0; jx_is_ref(eqn->ins[i].var) && k < i; k++)
            if (eqn->ins[k].var == eqn->ins[i].var)
                return jx_discharge_fail(b,
                                         "operands %d and %d are the same "
                                         "reference",
                                         k, i);
    return true;
}

/* Inputs of a callee are references where the operands are. */
bool jx_discharge_inputs(jx_discharging *b, const jx_eqn *eqn, int first,
                         const jx_jaxpr *callee, int from, int count)
{
    for (int i = 0; i < count; i++) {
        const jx_var *in = callee->vars[callee->nconsts + from + i];
        if (jx_is_ref(in) != jx_is_ref(eqn->ins[first + i].var))
            return jx_discharge_fail(b,
                                     "operand %d is a reference, or the "
                                     "callee takes one there, but not both",
                                     first + i);
    }
    return true;
}

void jx_discharge_become(jx_discharging *b, const jx_var *old, jx_atom atom)
{
    b->now[old->id] = atom;
}

bool jx_discharge_results(jx_discharging *b, const jx_eqn *eqn,
                          const jx_atom *outs)
{
    for (int i = 0; outs && i < eqn->nouts; i++)
        jx_discharge_become(b, eqn->outs[i], outs[i]);
    return outs != NULL;
}

const jx_value *jx_discharge_callee(jx_discharging *b, const jx_jaxpr *jaxpr,
                                    const jx_closed *closed)
{
    const jx_value **items =
        JX_NEW_ARRAY(arena_of(b->d), closed->nconsts, const jx_value *);

    for (int i = 0; items && i < closed->nconsts; i++) {
        jx_value v = {.tag = JX_V_CONST, .array = closed->consts[i]};
        items[i] = jx_value_add(&b->d->program->values, &v);
        if (!items[i])
            return NULL;
    }
    jx_value v = {.tag = JX_V_JAXPR,
                  .jaxpr = jaxpr,
                  .count = closed->nconsts,
                  .items = items};
    return jaxpr && items ? jx_value_add(&b->d->program->values, &v) : NULL;
}

/* ---- the equations of references */

/* What nobody knows of: it may give and leave anything. */
static bool unknown(jx_discharging *b, const jx_eqn *eqn)
{
    int nouts = eqn->nouts, next = nouts;
    const jx_aval **outs =
        JX_NEW_ARRAY(arena_of(b->d), nouts + eqn->nins, const jx_aval *);
    jx_params params = {.program = b->d->program};
    const jx_prim *prim = jx_prim_unknown(b->d->ctx, jx_eqn_name(eqn));
    jx_atom *ins = jx_discharge_operands(b, eqn);
    const jx_atom *atoms;

    if (!outs || !ins)
        return false;
    for (int i = 0; i < eqn->nouts; i++)
        outs[i] = jx_held_by(eqn->outs[i]);
    for (int i = 0; i < eqn->nins; i++)
        if (jx_is_ref(eqn->ins[i].var))
            outs[nouts++] = jx_held_by(eqn->ins[i].var);
    for (int i = 0; i < eqn->nparams; i++)
        jx_put(&params, eqn->params[i].name,
               jx_discharge_value(b->d, eqn->params[i].value));
    atoms =
        jx_discharge_emit_all(b, prim, eqn->nins, ins, &params, nouts, outs);
    if (!jx_discharge_results(b, eqn, atoms))
        return false;
    for (int i = 0; i < eqn->nins; i++)
        if (jx_is_ref(eqn->ins[i].var))
            jx_discharge_become(b, eqn->ins[i].var, atoms[next++]);
    return true;
}

static bool check_holder(jx_discharging *b, const jx_eqn *eqn)
{
    if (!jx_is_ref(eqn->ins[0].var))
        return jx_discharge_fail(b, "operand 0 is no reference");
    for (int i = 1; i < eqn->nins; i++)
        if (jx_is_ref(eqn->ins[i].var))
            return jx_discharge_fail(b, "operand %d is a reference", i);
    return true;
}

static bool access(jx_discharging *b, const jx_eqn *eqn)
{
    const jx_ref_path *path = &((const jx_p_ref_path *)eqn->typed)->tree;
    int first = jx_ref_path_at(eqn->prim);
    jx_atom *ins = jx_discharge_operands(b, eqn), held, before = nothing;
    bool wanted;

    if (!ins || !check_holder(b, eqn))
        return false;
    if (!jx_discharge_can(b, eqn, path))
        return unknown(b, eqn);
    switch (eqn->prim->id) {
    case JX_PRIM_get:
        held = jx_discharge_read(b, path, ins[0], ins + first);
        held = jx_discharge_as(b, held, eqn->outs[0]->aval);
        return jx_is_made(held) && jx_discharge_results(b, eqn, &held);
    case JX_PRIM_swap:
        wanted = b->used[eqn->outs[0]->id];
        held = jx_discharge_write(b, path, ins[0], ins + first, ins[1],
                                  wanted ? &before : NULL);
        before =
            wanted ? jx_discharge_as(b, before, eqn->outs[0]->aval) : nothing;
        if (wanted && !jx_is_made(before))
            return false;
        jx_discharge_become(b, eqn->outs[0], before);
        break;
    default: held = jx_discharge_add(b, path, ins[0], ins + first, ins[1]);
    }
    held = jx_discharge_as(b, held, jx_held_by(eqn->ins[0].var));
    jx_discharge_become(b, eqn->ins[0].var, held);
    return jx_is_made(held);
}

/* A new reference holds its operand, or anything. */
static bool new_ref(jx_discharging *b, const jx_eqn *eqn)
{
    const jx_aval *aval = jx_held_by(eqn->outs[0]);
    jx_params p = {.program = b->d->program};
    jx_atom held;

    if (!jx_is_ref(eqn->outs[0]) || aval->kind == JX_AVAL_REF)
        return jx_discharge_fail(b, "expected a result that is a reference to "
                                    "an array");
    if (eqn->nins && jx_is_ref(eqn->ins[0].var))
        return jx_discharge_fail(b, "a reference to a reference");
    if (eqn->nins) {
        held = jx_discharge_as(b, jx_discharge_now(b, eqn->ins[0]), aval);
    } else {
        jx_put_dims(&p, "shape", aval->rank, aval->shape);
        jx_put_dtype(&p, "dtype", aval->dtype);
        jx_put_none(&p, "out_sharding");
        held = jx_discharge_emit(b, JX_PRIM_empty, 0, NULL, &p, aval);
    }
    return jx_is_made(held) && jx_discharge_results(b, eqn, &held);
}

static bool end_ref(jx_discharging *b, const jx_eqn *eqn)
{
    jx_atom held = jx_discharge_now(b, eqn->ins[0]);

    if (!check_holder(b, eqn))
        return false;
    if (eqn->nouts) {
        held = jx_discharge_as(b, held, eqn->outs[0]->aval);
        if (!jx_is_made(held))
            return false;
        jx_discharge_become(b, eqn->outs[0], held);
    }
    b->gone[eqn->ins[0].var->id] = true;
    return true;
}

/* numpy's broadcasting: axes are counted from the end. */
static bool broadcast_to(jx_discharging *b, const jx_eqn *eqn)
{
    const jx_dim_list *shape = &((const jx_p_broadcast_to *)eqn->typed)->shape;
    jx_atom in = jx_discharge_now(b, eqn->ins[0]);
    const jx_aval *aval = jx_atom_aval(in);
    int64_t *dims = JX_NEW_ARRAY(arena_of(b->d), aval->rank, int64_t);

    if (aval->rank > shape->count)
        return jx_discharge_fail(b, "an operand of rank %d to a shape of %d",
                                 aval->rank, shape->count);
    for (int i = 0; dims && i < aval->rank; i++)
        dims[i] = shape->count - aval->rank + i;
    if (!dims)
        return false;
    in = jx_discharge_broadcast(b, in, shape->count, shape->at, dims);
    in = jx_discharge_as(b, in, eqn->outs[0]->aval);
    return jx_is_made(in) && jx_discharge_results(b, eqn, &in);
}

/* The barrier of all that is no reference: what these hold needs none. */
static bool barrier(jx_discharging *b, const jx_eqn *eqn)
{
    jx_atom *ins = JX_NEW_ARRAY(arena_of(b->d), eqn->nins, jx_atom);
    const jx_aval **outs =
        JX_NEW_ARRAY(arena_of(b->d), eqn->nins, const jx_aval *);
    const jx_atom *atoms;
    int count = 0;

    for (int i = 0; ins && outs && i < eqn->nins; i++)
        if (!jx_is_ref(eqn->ins[i].var)) {
            ins[count] = jx_discharge_now(b, eqn->ins[i]);
            outs[count] = jx_atom_aval(ins[count]);
            count++;
        }
    if (count != eqn->nouts)
        return jx_discharge_fail(b, "expected a result for each operand that "
                                    "is no reference");
    atoms = jx_discharge_emit_all(b, eqn->prim, count, ins, NULL, count, outs);
    return jx_discharge_results(b, eqn, atoms);
}

/* ---- calls */

/* Parameters of the equation that its schema does not name, and whose number
 * goes with the operands, are left out: they say nothing of values. */
static void put_call(jx_params *p, const jx_eqn *eqn, const char *key,
                     const jx_value *callee)
{
    const jx_value *name = jx_eqn_param(eqn, "name");

    jx_put(p, key, callee);
    if (name)
        jx_put(p, "name", name);
}

/* References that a callee writes get what it gives at the end. */
static bool take(jx_discharging *b, const jx_eqn *eqn, int first, int count,
                 const jx_jaxpr *callee, const bool *gives,
                 const jx_atom *atoms, int next)
{
    if (!jx_discharge_results(b, eqn, atoms))
        return false;
    for (int i = 0; i < count; i++) {
        const jx_var *var = eqn->ins[first + i].var;
        if (jx_is_ref(var) && gives[callee->nconsts + i])
            jx_discharge_become(b, var, atoms[next++]);
    }
    return true;
}

static const jx_aval **out_avals(jx_discharge *d, const jx_jaxpr *to)
{
    const jx_aval **outs =
        JX_NEW_ARRAY(arena_of(d), to->nouts, const jx_aval *);

    for (int i = 0; outs && i < to->nouts; i++)
        outs[i] = jx_atom_aval(to->outs[i]);
    return outs;
}

/* The results as they are declared, then what the callee gives beside them. */
static const jx_aval *const *call_avals(jx_discharge *d, const jx_eqn *eqn,
                                        const jx_jaxpr *to)
{
    const jx_aval **outs = out_avals(d, to);

    for (int i = 0; outs && i < eqn->nouts; i++)
        outs[i] = jx_held_by(eqn->outs[i]);
    return outs;
}

static bool call(jx_discharging *b, const jx_eqn *eqn, const jx_closed *callee)
{
    const jx_jaxpr *from = callee->jaxpr, *to;
    const bool *gives = jx_discharge_writes(b->d, from);
    bool open = jx_eqn_param(eqn, "call_jaxpr") == NULL;
    const jx_prim *prim = jx_prim_of(open ? JX_PRIM_jit : JX_PRIM_closed_call);
    jx_params p = {.program = b->d->program};
    jx_atom *ins = jx_discharge_operands(b, eqn);
    const jx_aval *const *outs;

    if (!gives || !ins || !jx_discharge_distinct(b, eqn) ||
        !jx_discharge_inputs(b, eqn, 0, from, 0, eqn->nins))
        return false;
    to = jx_discharge_plain(b->d, from, gives, b->lenient);
    outs = to ? call_avals(b->d, eqn, to) : NULL;
    if (!outs)
        return false;
    put_call(&p, eqn, open ? "jaxpr" : "call_jaxpr",
             jx_discharge_callee(b, to, callee));
    return take(
        b, eqn, 0, eqn->nins, from, gives,
        jx_discharge_emit_all(b, prim, eqn->nins, ins, &p, to->nouts, outs),
        eqn->nouts);
}

/* What a run_state gives is what its references hold. */
static bool run_state(jx_discharging *b, const jx_eqn *eqn)
{
    const jx_closed *callee = &((const jx_p_run_state *)eqn->typed)->jaxpr;
    const jx_jaxpr *from = callee->jaxpr, *to;
    bool *gives =
        JX_NEW_ARRAY(arena_of(b->d), from->nconsts + from->nins + 1, bool);
    jx_params p = {.program = b->d->program};
    jx_atom *ins = jx_discharge_operands(b, eqn);

    if (!gives || !ins)
        return false;
    for (int i = 0; i < from->nins; i++) {
        gives[from->nconsts + i] = true;
        if (!jx_is_ref(from->vars[from->nconsts + i]) ||
            jx_is_ref(eqn->ins[i].var))
            return jx_discharge_fail(b,
                                     "expected a reference as each input of "
                                     "the jaxpr, and no operand that is one");
    }
    to = jx_discharge_plain(b->d, from, gives, b->lenient);
    if (!to)
        return false;
    jx_put_text(&p, "name", "run_state");
    jx_put(&p, "jaxpr", jx_discharge_callee(b, to, callee));
    return jx_discharge_results(
        b, eqn,
        jx_discharge_emit_all(b, jx_prim_of(JX_PRIM_jit), eqn->nins, ins, &p,
                              to->nouts, call_avals(b->d, eqn, to)));
}

static bool cond(jx_discharging *b, const jx_eqn *eqn)
{
    static const char *const without[] = {"branches", NULL};
    const jx_closed_list *all = &((const jx_p_cond *)eqn->typed)->branches;
    bool *gives = JX_NEW_ARRAY(arena_of(b->d), eqn->nins + 1, bool);
    const jx_value **items =
        JX_NEW_ARRAY(arena_of(b->d), all->count, const jx_value *);
    jx_params p = {.program = b->d->program};
    jx_atom *ins = jx_discharge_operands(b, eqn);
    const jx_jaxpr *to = NULL;

    if (!gives || !items || !ins || !jx_discharge_distinct(b, eqn))
        return false;
    for (int i = 0; i < all->count; i++) {
        const jx_jaxpr *from = all->at[i].jaxpr;
        const bool *writes = jx_discharge_writes(b->d, from);
        if (from->nconsts)
            return jx_discharge_fail(b, "a branch with constants of its own");
        if (!writes || !jx_discharge_inputs(b, eqn, 1, from, 0, eqn->nins - 1))
            return false;
        for (int k = 0; k < eqn->nins - 1; k++)
            gives[k] |= writes[k];
    }
    for (int i = 0; i < all->count; i++) {
        to = jx_discharge_plain(b->d, all->at[i].jaxpr, gives, b->lenient);
        items[i] = to ? jx_discharge_callee(b, to, &all->at[i]) : NULL;
        if (!items[i])
            return false;
    }
    if (!to)
        return jx_discharge_fail(b, "expected a branch");
    jx_value v = {.tag = JX_V_TUPLE, .count = all->count, .items = items};
    jx_put_others(&p, eqn, without);
    jx_put(&p, "branches", jx_value_add(&b->d->program->values, &v));
    return take(b, eqn, 1, eqn->nins - 1, all->at[0].jaxpr, gives,
                jx_discharge_emit_all(b, eqn->prim, eqn->nins, ins, &p,
                                      to->nouts, call_avals(b->d, eqn, to)),
                eqn->nouts);
}

/* What many devices do with their parts of what references hold, which are cut
 * as operands are, and put together so. */
static bool spread(jx_discharging *b, const jx_eqn *eqn)
{
    const jx_p_shard_map *p = eqn->typed;
    const jx_jaxpr *from = p ? p->jaxpr.jaxpr : NULL, *to;
    const bool *gives =
        from && from->nins == eqn->nins && p->in_specs.count == eqn->nins
            ? jx_discharge_writes(b->d, from)
            : NULL;
    jx_specs ins = jx_specs_new(b->d->program, eqn->nins);
    jx_specs outs = jx_specs_new(b->d->program, eqn->nouts + eqn->nins);
    const jx_atom *operands = jx_discharge_operands(b, eqn);
    const jx_aval **avals;

    if (!gives || p->out_specs.count != eqn->nouts)
        return unknown(b, eqn);
    if (!ins.at || !outs.at || !operands || !jx_discharge_distinct(b, eqn) ||
        !jx_discharge_inputs(b, eqn, 0, from, 0, eqn->nins))
        return false;
    to = jx_discharge_plain(b->d, from, gives, b->lenient);
    avals = to ? JX_NEW_ARRAY(arena_of(b->d), to->nouts + 1, const jx_aval *)
               : NULL;
    for (int i = 0; avals && i < eqn->nouts; i++) {
        avals[i] = jx_held_by(eqn->outs[i]);
        jx_specs_add(&outs, jx_spec_out(eqn, i));
    }
    for (int i = 0; avals && i < eqn->nins; i++) {
        const jx_var *var = from->vars[from->nconsts + i];
        jx_specs_add(&ins, jx_spec_in(eqn, i));
        if (jx_is_ref(var) && gives[from->nconsts + i]) {
            avals[outs.count] = jx_held_by(eqn->ins[i].var);
            jx_specs_add(&outs, jx_spec_in(eqn, i));
        }
    }
    if (!avals)
        return false;
    jx_params params = jx_shard_map_like(b->d->program, eqn, to, &ins, &outs);
    return take(b, eqn, 0, eqn->nins, from, gives,
                jx_discharge_emit_all(b, eqn->prim, eqn->nins, operands,
                                      &params, to->nouts, avals),
                eqn->nouts);
}

/* ---- all equations */

/* The same equation, of what its operands are now. */
static bool same(jx_discharging *b, const jx_eqn *eqn)
{
    jx_eqn like = *eqn;
    jx_param *params = jx_arena_copy(arena_of(b->d), eqn->params,
                                     (size_t)eqn->nparams * sizeof *params);
    const jx_aval **outs =
        JX_NEW_ARRAY(arena_of(b->d), eqn->nouts, const jx_aval *);
    const jx_atom *ins = jx_discharge_operands(b, eqn);
    bool changed = false;

    if (!params || !outs || !ins)
        return false;
    for (int i = 0; i < eqn->nparams; i++) {
        params[i].value = jx_discharge_value(b->d, eqn->params[i].value);
        changed |= params[i].value != eqn->params[i].value;
        if (!params[i].value)
            return false;
    }
    for (int i = 0; i < eqn->nouts; i++)
        outs[i] = jx_held_by(eqn->outs[i]);
    like.effects = jx_discharge_effects(b->d, eqn->effects);
    return jx_discharge_results(
        b, eqn,
        jx_build_like(&b->body, &like, ins, changed ? params : NULL, outs));
}

bool jx_discharge_eqn(jx_discharging *b, const jx_eqn *eqn)
{
    const jx_closed *callee = jx_eqn_callee(eqn);

    b->eqn = eqn;
    switch (eqn->prim->id) {
    case JX_PRIM_get:
    case JX_PRIM_swap:
    case JX_PRIM_addupdate: return check_alive(b, eqn) && access(b, eqn);
    case JX_PRIM_new_ref:
    case JX_PRIM_empty_ref: return new_ref(b, eqn);
    case JX_PRIM_freeze:
    case JX_PRIM_free_ref: return check_alive(b, eqn) && end_ref(b, eqn);
    case JX_PRIM_run_state: return run_state(b, eqn);
    case JX_PRIM_broadcast_to: return broadcast_to(b, eqn);
    default: break;
    }
    if (!has_refs(eqn))
        return jx_discharge_has_module(eqn, b->d->open)
                   ? jx_discharge_module(b, eqn)
                   : same(b, eqn);
    if (!check_alive(b, eqn))
        return false;
    if (callee)
        return call(b, eqn, callee);
    switch (eqn->prim->id) {
    case JX_PRIM_scan: return jx_discharge_scan(b, eqn);
    case JX_PRIM_while: return jx_discharge_while(b, eqn);
    case JX_PRIM_cond: return cond(b, eqn);
    case JX_PRIM_shard_map: return spread(b, eqn);
    case JX_PRIM_optimization_barrier: return barrier(b, eqn);
    default: return jx_eqn_calls_back(eqn) ? same(b, eqn) : unknown(b, eqn);
    }
}
