/* plan.c - see plan.h: equations, blocks, and the whole program; plan_calls.c
 * has the calls that are not written out. */
#include "runtime/plan_impl.h"

#include "analyzer/collective.h"
#include "analyzer/transform/devices.h"
#include "frontend/ir/definition.h"
#include "runtime/digits.h"
#include "runtime/host.h"
#include "runtime/plan_pairs.h"

#include <stdlib.h>

enum { MAX_DEPTH = 400 };

/* Equations. */

typedef struct frame {
    const jx_operand **values; /* by variable number */
} frame;

static void atom_slot(jx_planner *p, const frame *f, jx_atom atom,
                      jx_slot *slot)
{
    if (!atom.var)
        jx_plan_literal_slot(p, atom.literal, slot);
    else if (f->values[atom.var->id])
        jx_operand_slot(f->values[atom.var->id], slot);
    else
        jx_plan_fail(p, "an operand is used before it is made");
}

static void bind(jx_planner *p, frame *f, const jx_var *var,
                 const jx_slot *slot)
{
    jx_operand *operand = JX_NEW(p->scratch, jx_operand);

    if (!operand)
        return;
    jx_plan_operand(p, slot, operand);
    if (operand->shape)
        f->values[var->id] = operand;
}

static void probe(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                  const jx_slot *outs)
{
    const jx_probes *probes = &p->options->probes;

    if (probes->quiet && jx_map_has(probes->quiet, eqn))
        return;
    /* which looks at all of them */
    if ((probes->kinds & JX_PROBE_OOB) && !p->options->watch)
        jx_plan_watch_indices(p, NULL, eqn, ins, outs);
    if (probes->kinds & JX_PROBE_NAN)
        jx_plan_watch_decision(p, p->options->watch, eqn, ins);
    if (probes->kinds & (JX_PROBE_NAN | JX_PROBE_WRAP))
        jx_plan_watch_integers(p, p->options->watch, probes->kinds, eqn, ins,
                               outs);
}

/* Where a plan has pairs of doubles, what is not made for them gets and
 * gives doubles. */
static bool apply(jx_planner *p, jx_plan_rule *rule, const jx_eqn *eqn,
                  jx_slot *ins, jx_slot *outs)
{
    bool was = p->single, ok;

    if (p->options->domain == JX_DOUBLED && !jx_pairs_take(eqn, ins)) {
        p->single = true;
        for (int i = 0; i < eqn->nins; i++)
            if (ins[i].dtype == JX_F64X2)
                ins[i] = jx_plan_convert(p, &ins[i], JX_F64);
    }
    if (jx_plan_is_noisy(p))
        jx_plan_noise(p, p->options->noise, eqn, ins);
    ok = rule(p, eqn, ins, outs);
    p->single = was;
    for (int i = 0; ok && i < eqn->nouts; i++)
        if (outs[i].dtype == JX_F64 && eqn->outs[i]->aval->dtype == JX_F64 &&
            p->options->domain == JX_DOUBLED)
            outs[i] = jx_plan_convert(p, &outs[i], JX_F64X2);
    return ok && !p->failed;
}

static void run_rule(jx_planner *p, frame *f, const jx_eqn *eqn)
{
    jx_plan_rule *rule = jx_plan_rule_of(eqn->prim->id);
    jx_slot *slots;

    const jx_definition *defined = jx_eqn_definition(eqn);

    if (defined && jx_eqn_is_unknown(eqn) &&
        defined->missing[JX_DEFINED_EVAL]) {
        jx_plan_fail(p, "%s",
                     jx_missing_rule(p->program->ctx, JX_DEFINED_EVAL,
                                     jx_eqn_name(eqn), NULL));
        return;
    }
    if (!rule || jx_eqn_is_unknown(eqn)) {
        jx_plan_fail(p, "there is no way to run the primitive %s%s%s",
                     jx_eqn_name(eqn),
                     eqn->refused ? "; JAX does not lower it: " : "",
                     eqn->refused ? eqn->refused : "");
        return;
    }
    if (!eqn->typed || !jx_typed_accepts(p->typed, p->jaxpr, eqn)) {
        jx_plan_fail(p, "its parameters do not fit its operands");
        return;
    }
    slots = malloc((size_t)(eqn->nins + eqn->nouts + 1) * sizeof *slots);
    if (!slots) {
        jx_plan_starved(p);
        return;
    }
    for (int i = 0; i < eqn->nins && !p->failed; i++)
        atom_slot(p, f, eqn->ins[i], &slots[i]);
    if (!p->failed && apply(p, rule, eqn, slots, slots + eqn->nins)) {
        for (int i = 0; i < eqn->nouts; i++)
            bind(p, f, eqn->outs[i], &slots[eqn->nins + i]);
        if (p->options->watch) {
            jx_plan_watch_indices(p, p->options->watch, eqn, slots,
                                  slots + eqn->nins);
            jx_plan_watch(p, p->options->watch, eqn, slots, slots + eqn->nins);
        }
        if (p->options->probes.kinds)
            probe(p, eqn, slots, slots + eqn->nins);
        if (p->options->digits)
            jx_plan_digits(p, p->options->digits, eqn, slots,
                           slots + eqn->nins);
        if (p->options->choices)
            jx_plan_choices(p, p->options->choices, eqn, slots,
                            slots + eqn->nins);
    } else {
        jx_plan_fail(p, "it can't be planned");
    }
    free(slots);
}

/* Whether an equation does more than give results: where devices really run
 * they all meet in a collective, whoever needs what comes of it. */
static bool has_effect(const jx_planner *p, const jx_eqn *eqn)
{
    const jx_p_custom_call *call = eqn->typed;

    return eqn->nouts == 0 || (p->options->comm && jx_is_collective(eqn)) ||
           eqn->prim->id == JX_PRIM_io_callback ||
           (eqn->prim->id == JX_PRIM_stablehlo_custom_call && call &&
            call->has_side_effect);
}

enum { NOT_KNOWN = 0, IDLE, ACTING };

static bool jaxpr_acts(jx_planner *p, const jx_jaxpr *jaxpr);

static bool value_acts(jx_planner *p, const jx_value *value)
{
    if (value->tag == JX_V_JAXPR)
        return value->jaxpr && jaxpr_acts(p, value->jaxpr);
    for (int i = 0; value->items && i < value->count; i++)
        if (value_acts(p, value->items[i]))
            return true;
    return false;
}

/* It is there for what it does, or runs something that is. */
static bool eqn_acts(jx_planner *p, const jx_eqn *eqn)
{
    for (int i = 0; i < eqn->nparams; i++)
        if (value_acts(p, eqn->params[i].value))
            return true;
    return has_effect(p, eqn);
}

/* Nested jaxprs have smaller numbers, and are as deep as readers allow. */
static bool jaxpr_acts(jx_planner *p, const jx_jaxpr *jaxpr)
{
    bool found = false;

    if (!p->acting)
        p->acting = JX_NEW_ARRAY(p->scratch, p->program->njaxprs, char);
    if (!p->acting || jaxpr->id < 0 || jaxpr->id >= p->program->njaxprs)
        return false;
    if (p->acting[jaxpr->id] == NOT_KNOWN) {
        for (int i = 0; i < jaxpr->neqns && !found; i++)
            found = eqn_acts(p, &jaxpr->eqns[i]);
        p->acting[jaxpr->id] = found ? ACTING : IDLE;
    }
    return p->acting[jaxpr->id] == ACTING;
}

/* Which equations matter to the results, or for themselves. */
static bool *used_equations(jx_planner *p, const jx_jaxpr *jaxpr)
{
    bool *used = JX_NEW_ARRAY(p->scratch, jaxpr->neqns + jaxpr->nvars, bool);
    bool *vars = used ? used + jaxpr->neqns : NULL;

    if (!used)
        return NULL;
    for (int i = 0; i < jaxpr->nouts; i++)
        if (jaxpr->outs[i].var)
            vars[jaxpr->outs[i].var->id] = true;
    for (int i = jaxpr->neqns - 1; i >= 0; i--) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        used[i] = eqn_acts(p, eqn);
        for (int k = 0; k < eqn->nouts; k++)
            used[i] |= vars[eqn->outs[k]->id];
        for (int k = 0; k < eqn->nins && used[i]; k++)
            if (eqn->ins[k].var)
                vars[eqn->ins[k].var->id] = true;
    }
    return used;
}

/* What stands for several users of a variable, the caller among them. */
static const jx_eqn several;

/* By number of a variable: the used equation that takes it, if there is one. */
static const jx_eqn **find_users(jx_planner *p, const jx_jaxpr *jaxpr,
                                 const bool *used)
{
    const jx_eqn **users =
        JX_NEW_ARRAY(p->scratch, jaxpr->nvars, const jx_eqn *);

    for (int i = 0; users && i < jaxpr->neqns; i++)
        for (int k = 0; k < jaxpr->eqns[i].nins && used[i]; k++) {
            const jx_var *var = jaxpr->eqns[i].ins[k].var;
            if (var)
                users[var->id] = users[var->id] ? &several : &jaxpr->eqns[i];
        }
    for (int i = 0; users && i < jaxpr->nouts; i++)
        if (jaxpr->outs[i].var)
            users[jaxpr->outs[i].var->id] = &several;
    return users;
}

const jx_eqn *jx_plan_only_user(const jx_planner *p, const jx_eqn *eqn)
{
    const jx_eqn *user =
        eqn == p->eqn && eqn->nouts == 1 ? p->users[eqn->outs[0]->id] : NULL;

    return user == &several ? NULL : user;
}

static void run_equations(jx_planner *p, frame *f, const jx_jaxpr *jaxpr)
{
    const bool *used = used_equations(p, jaxpr);
    const jx_eqn **users = used ? find_users(p, jaxpr, used) : NULL;

    for (int i = 0; users && i < jaxpr->neqns && !p->failed; i++) {
        if (!used[i])
            continue;
        p->eqn = &jaxpr->eqns[i];
        p->jaxpr = jaxpr;
        p->users = users;
        run_rule(p, f, &jaxpr->eqns[i]);
    }
}

static bool write_out(jx_planner *p, const jx_closed *closed,
                      const jx_slot *ins, jx_slot *outs)
{
    const jx_jaxpr *jaxpr = closed->jaxpr;
    const jx_eqn *eqn = p->eqn;
    const jx_jaxpr *outer = p->jaxpr;
    const jx_eqn **users = p->users;
    frame f = {JX_NEW_ARRAY(p->scratch, jaxpr->nvars, const jx_operand *)};

    if (!f.values)
        return jx_plan_starved(p);
    if (closed->nconsts != jaxpr->nconsts)
        return jx_plan_fail(p, "a jaxpr lacks its constants");
    if (p->depth >= MAX_DEPTH)
        return jx_plan_fail(p, "calls nest deeper than %d", MAX_DEPTH);
    p->depth++;
    jx_slot *slot = malloc(sizeof *slot);
    for (int i = 0; slot && i < jaxpr->nconsts && !p->failed; i++) {
        jx_plan_array_slot(p, closed->consts[i], slot);
        bind(p, &f, jaxpr->vars[i], slot);
    }
    free(slot);
    for (int i = 0; i < jaxpr->nins; i++)
        bind(p, &f, jaxpr->vars[jaxpr->nconsts + i], &ins[i]);
    run_equations(p, &f, jaxpr);
    if (!p->failed) {
        p->eqn = eqn;
        p->jaxpr = outer;
        p->users = users;
        for (int i = 0; i < jaxpr->nouts; i++)
            atom_slot(p, &f, jaxpr->outs[i], &outs[i]);
    }
    p->depth--;
    return !p->failed;
}

bool jx_plan_inline(jx_planner *p, const jx_closed *closed, const jx_slot *ins,
                    jx_slot *outs)
{
    return jx_plan_is_called(p, closed->jaxpr)
               ? jx_plan_call_unit(p, closed, write_out, ins, outs)
               : write_out(p, closed, ins, outs);
}

int jx_plan_block_begin(jx_planner *p)
{
    jx_block block = {.parent = p->block, .unit = p->unit};

    JX_PUSH(p->scratch, &p->blocks, block);
    p->block = (int)p->blocks.count - 1;
    return p->block;
}

void jx_plan_block_end(jx_planner *p)
{
    p->block = p->blocks.at[p->block].parent;
}

int jx_plan_body(jx_planner *p, const jx_closed *closed, const jx_slot *ins,
                 jx_slot *outs)
{
    int nouts = closed->jaxpr->nouts;
    jx_slot *results = malloc((size_t)(nouts + 1) * sizeof *results);

    if (!results) {
        jx_plan_starved(p);
        return 0;
    }
    for (int i = 0; i < nouts; i++)
        outs[i] =
            jx_plan_slot(p, jx_atom_aval(closed->jaxpr->outs[i]), JX_MEM_TEMP);
    int block = jx_plan_block_begin(p);
    if (jx_plan_inline(p, closed, ins, results))
        for (int i = 0; i < nouts; i++)
            jx_plan_copy(p, &results[i], &outs[i]);
    jx_plan_block_end(p);
    free(results);
    return block;
}

/* Ports. */

static void fill_port(jx_planner *p, jx_port *port, const jx_aval *aval,
                      const jx_slot *slot)
{
    jx_operand kept;

    jx_plan_operand(p, slot, &kept);
    port->aval = aval;
    port->dtype = slot->dtype;
    port->rank = slot->rank;
    port->shape = kept.shape;
    port->count = jx_slot_count(slot);
    port->bytes = (size_t)jx_mem_at(&p->mems, slot->buffer)->bytes;
}

/* An input of the program; converts what comes in its declared dtype. */
static jx_slot plan_input(jx_planner *p, int i, const jx_aval *aval)
{
    jx_dtype stored = jx_plan_dtype(p, aval->dtype);
    bool same = !p->options->takes_declared || aval->kind == JX_AVAL_TOKEN ||
                aval->dtype == JX_KEY || aval->dtype == stored;
    int64_t shape[JX_MAX_RANK];
    jx_slot slot;
    int rank;

    if (same) {
        slot = jx_plan_slot(p, aval, JX_MEM_IN);
    } else {
        jx_plan_shape(p, aval, &rank, shape);
        slot = jx_plan_slot_in(p, JX_MEM_IN, aval->dtype, rank, shape);
    }
    jx_mem_at(&p->mems, slot.buffer)->port = i;
    fill_port(p, &p->plan->ins[i], aval, &slot);
    return same ? slot : jx_plan_convert(p, &slot, stored);
}

static void plan_program(jx_planner *p, const jx_closed *closed, jx_slot *ins,
                         jx_slot *outs)
{
    jx_plan *plan = p->plan;
    const jx_jaxpr *jaxpr = closed->jaxpr;

    for (int i = 0; i < jaxpr->nins && !p->failed; i++)
        ins[i] = plan_input(p, i, jaxpr->vars[jaxpr->nconsts + i]->aval);
    if (p->failed || !write_out(p, closed, ins, outs))
        return;
    for (int i = 0; i < jaxpr->nouts && !p->failed; i++) {
        jx_slot port = jx_plan_slot_in(p, JX_MEM_OUT, outs[i].dtype,
                                       outs[i].rank, outs[i].shape);
        jx_mem_at(&p->mems, port.buffer)->port = i;
        fill_port(p, &plan->outs[i], jx_atom_aval(jaxpr->outs[i]), &port);
        jx_plan_copy(p, &outs[i], &port);
    }
}

bool jx_plan_is_fed(const jx_planner *p)
{
    return !jx_arena_failed(p->arena) && !jx_arena_failed(p->scratch);
}

static bool make_plan(jx_planner *p, const jx_closed *closed)
{
    const jx_jaxpr *jaxpr = closed->jaxpr;
    jx_plan *plan = p->plan;
    jx_slot *slots =
        malloc((size_t)(jaxpr->nins + jaxpr->nouts + 1) * sizeof *slots);

    if (!slots)
        return jx_plan_starved(p);
    plan->nins = jaxpr->nins;
    plan->nouts = jaxpr->nouts;
    plan->ins = JX_NEW_ARRAY(p->arena, jaxpr->nins, jx_port);
    plan->outs = JX_NEW_ARRAY(p->arena, jaxpr->nouts, jx_port);
    JX_PUSH(p->scratch, &p->blocks, (jx_block){.parent = -1});
    JX_PUSH(p->scratch, &p->units, (jx_unit){.jaxpr = jaxpr});
    jx_mem_add(p, &(jx_mem){.kind = JX_MEM_CONST, .port = -1, .alias = -1});
    p->mems.count = 0;
    if (plan->ins && plan->outs && p->blocks.count && p->mems.pieces.count &&
        p->units.count && jx_plan_measure(p, jaxpr))
        plan_program(p, closed, slots, slots + jaxpr->nins);
    free(slots);
    p->eqn = NULL;
    return !p->failed && jx_plan_is_fed(p) && jx_plan_finish(p);
}

/* A host's part of each operation that began. */
static void end_host(jx_plan *plan)
{
    for (jx_host_op *op = plan->host; op; op = op->next)
        if (op->handlers->end)
            op->handlers->end(op->handlers->data, op->state);
}

jx_plan *jx_plan_make(const jx_typed *typed, const jx_closed *closed,
                      const jx_plan_options *options)
{
    jx_arena *arena = NULL;
    jx_plan *plan = NULL;

    if (jx_devices_write_out(
            &typed, &closed,
            (jx_assignment){options->nbindings, options->bindings},
            options->comm ? options->comm->rank : JX_ALL_DEVICES,
            options->comm ? options->comm->count : 1, options->compares))
        arena = jx_arena_new(&typed->program->ctx->budget);
    plan = arena ? JX_NEW(arena, jx_plan) : NULL;

    if (plan) {
        jx_planner p = {.plan = plan,
                        .arena = arena,
                        .scratch = jx_arena_new(&typed->program->ctx->budget),
                        .typed = typed,
                        .program = typed->program,
                        .options = options};
        plan->arena = arena;
        plan->program = typed->program;
        plan->domain = options->domain;
        bool made = p.scratch && make_plan(&p, closed);
        jx_arena_free(p.scratch);
        if (made)
            return plan;
        if (!p.failed)
            jx_plan_starved(&p);
    }
    if (plan)
        end_host(plan);
    if (arena)
        jx_arena_free(arena);
    return NULL;
}

void jx_plan_free(jx_plan *plan)
{
    if (!plan)
        return;
    end_host(plan);
    jx_arena_free(plan->arena);
}

int jx_plan_nins(const jx_plan *plan)
{
    return plan->nins;
}

int jx_plan_nouts(const jx_plan *plan)
{
    return plan->nouts;
}

const jx_port *jx_plan_in(const jx_plan *plan, int i)
{
    return &plan->ins[i];
}

const jx_port *jx_plan_out(const jx_plan *plan, int i)
{
    return &plan->outs[i];
}

bool jx_plan_lends(const jx_plan *plan, int in, int out)
{
    if (!plan->ins[in].bytes || plan->ins[in].bytes != plan->outs[out].bytes)
        return false;
    for (size_t i = 0; i < plan->lendings.count; i++)
        if (plan->lendings.at[i].in == in && plan->lendings.at[i].out == out)
            return true;
    return plan->last_reads[in] < plan->first_writes[out];
}

size_t jx_plan_memory(const jx_plan *plan)
{
    return (size_t)plan->bytes;
}

int jx_plan_nops(const jx_plan *plan)
{
    return plan->nsteps;
}
