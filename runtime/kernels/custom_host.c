/* custom_host.c - custom calls that a host runs (jaxvet.h says
 * what it is told).
 *
 * Arrays are handed over in memory of their own, dense and in the order of axes
 * that the module asks for.  A result that lies in an operand's memory is its
 * copy before, and both are one pointer. */
#include "runtime/kernels/custom_host.h"

#include "runtime/host.h"
#include "runtime/kernels/shapes.h"
#include "runtime/plan_impl.h"
#include "runtime/run.h"

#include <string.h>

enum { ALIGNMENT = 64 };

/* ---- running */

/* What a call is handed, and what of that had to be elsewhere. */
typedef struct handed {
    void **at;       /* inputs, then outputs */
    void **borrowed; /* instead of the memory that it is; or NULL */
} handed;

static size_t handed_bytes(const jaxvet_custom_call *call)
{
    return 2 * sizeof(void *) *
           ((size_t)call->input_count + (size_t)call->output_count + 1);
}

/* Where an array is for the host: in its place, or in a copy if that does not
 * start at a multiple of 64. */
static bool hand(jx_run *run, const handed *h, int i,
                 const jaxvet_layout *array, void *place, bool holds)
{
    h->borrowed[i] = NULL;
    h->at[i] = place;
    if (!array->bytes || (uintptr_t)place % ALIGNMENT == 0)
        return true;
    h->at[i] = h->borrowed[i] = jx_run_borrow(run, array->bytes);
    if (h->at[i] && holds)
        memcpy(h->at[i], place, array->bytes);
    return h->at[i] != NULL;
}

static bool hand_all(jx_run *run, const jx_host_op *op, const handed *h,
                     const jx_view *ins, const jx_view *outs, void *nothing)
{
    const jaxvet_custom_call *call = &op->call;
    bool ok = true;

    for (int i = 0; i < call->output_count; i++) {
        int k = op->outs[i], at = call->input_count + i;
        void *place = k >= 0 && call->outputs[i].bytes ? outs[k].data : nothing;
        ok =
            hand(run, h, at, &call->outputs[i], place, call->aliases[i] >= 0) &&
            ok;
    }
    for (int i = 0; i < call->input_count; i++) {
        int k = op->ins[i];
        void *place = k >= 0 && call->inputs[i].bytes ? ins[k].data : nothing;
        h->borrowed[i] = NULL;
        if (k < JX_HOST_TOKEN)
            h->at[i] = h->at[call->input_count + JX_HOST_SHARED - k];
        else
            ok = hand(run, h, i, &call->inputs[i], place, true) && ok;
    }
    return ok;
}

static void take_back(jx_run *run, const jx_host_op *op, const handed *h,
                      const jx_view *outs)
{
    const jaxvet_custom_call *call = &op->call;

    for (int i = 0; i < call->input_count; i++)
        jx_run_give_back(run, h->borrowed[i], call->inputs[i].bytes);
    for (int i = 0; i < call->output_count; i++) {
        void *borrowed = h->borrowed[call->input_count + i];
        if (borrowed)
            memcpy(outs[op->outs[i]].data, borrowed, call->outputs[i].bytes);
        jx_run_give_back(run, borrowed, call->outputs[i].bytes);
    }
}

/* The handler's results, or those that it gave before. */
static jaxvet_status perform(jx_run *run, const jx_host_op *op, const handed *h,
                             jaxvet_error *error)
{
    const jaxvet_custom_call *call = &op->call;
    const void *const *inputs = (const void *const *)h->at;
    void **outputs = h->at + call->input_count;
    jx_tape *tape = jx_run_tape(run);
    jx_tape_key key = {0};
    jaxvet_status status;

    if (tape)
        key = jx_tape_key_of(call, inputs);
    if (tape && jx_tape_play(tape, key, call, outputs))
        return JAXVET_OK;
    status = op->handlers->run(op->handlers->data, op->state, call, inputs,
                               outputs, jx_run_context(run), error);
    if (tape && status == JAXVET_OK)
        jx_tape_keep(tape, key, call, outputs);
    return status;
}

static bool run_host_call(jx_run *run, const void *data, const jx_view *ins,
                          const jx_view *outs, void *scratch)
{
    const jx_host_op *op = *(const jx_host_op *const *)data;
    const jaxvet_custom_call *call = &op->call;
    void **all = scratch;
    handed h = {all, all + call->input_count + call->output_count};
    jaxvet_error error = {JAXVET_OK, "", "", ""};
    jaxvet_status status = JAXVET_LIMIT;

    memset(all, 0, handed_bytes(call));
    bool handed_over = hand_all(run, op, &h, ins, outs, scratch);
    if (handed_over)
        status = perform(run, op, &h, &error);
    take_back(run, op, &h, outs);
    return status == JAXVET_OK || !handed_over
               ? handed_over
               : jx_run_host_failed(run, status, &error, call);
}

/* ---- planning */

/* The order of an array's axes in memory, from the slowest to the fastest, of
 * what `layouts` says of the call's operand or result `i`. */
static bool order_of(jx_planner *p, const jx_value *layouts, int i, int rank,
                     int *order)
{
    const jx_value *one =
        layouts && layouts->tag == JX_V_TUPLE && i < layouts->count
            ? layouts->items[i]
            : NULL;
    bool seen[JX_MAX_RANK] = {false};

    for (int k = 0; k < rank; k++)
        order[k] = k;
    if (!layouts || layouts->tag == JX_V_NONE)
        return true;
    if (!one || one->tag != JX_V_TUPLE || one->count != rank)
        return jx_plan_fail(p,
                            "its layouts do not fit its operands and results");
    for (int k = 0; k < rank; k++) {
        const jx_value *axis = one->items[rank - 1 - k];
        if (axis->tag != JX_V_INT || axis->integer < 0 ||
            axis->integer >= rank || seen[axis->integer])
            return jx_plan_fail(p, "a layout does not name each axis once");
        order[k] = (int)axis->integer;
        seen[order[k]] = true;
    }
    return true;
}

/* The slot with its axes in another order: `to` has as its axis k the axis
 * order[k] of `from`. */
static void reorder(const jx_slot *from, const int *order, jx_slot *to)
{
    *to = *from;
    for (int k = 0; k < from->rank; k++) {
        to->shape[k] = from->shape[order[k]];
        to->strides[k] = from->strides[order[k]];
    }
}

static void reorder_back(const jx_slot *from, const int *order, jx_slot *to)
{
    *to = *from;
    for (int k = 0; k < from->rank; k++) {
        to->shape[order[k]] = from->shape[k];
        to->strides[order[k]] = from->strides[k];
    }
}

/* What the host is told of an array. */
static bool describe(jx_planner *p, const jx_slot *slot, jaxvet_layout *to)
{
    const jx_dtype_info *dtype = jx_dtype_of(slot->dtype);

    *to = (jaxvet_layout){
        dtype->short_name, slot->rank,
        jx_arena_copy(p->arena, slot->shape,
                      (size_t)(slot->rank + 1) * sizeof *slot->shape),
        (size_t)jx_slot_count(slot) * dtype->bytes};
    return to->shape || jx_plan_starved(p);
}

/* An operation in the making. */
typedef struct host_plan {
    jx_planner *p;
    const jx_eqn *eqn;
    const jx_value *operand_layouts, *result_layouts; /* or NULL */
    jx_host_op *op;
    jaxvet_layout *inputs, *outputs;
    jx_slot *ins, *outs; /* of the operation */
    int nins, nouts;
} host_plan;

static bool take_outputs(host_plan *h, jx_slot *results)
{
    const jaxvet_custom_call *call = &h->op->call;
    int order[JX_MAX_RANK];

    for (int i = 0; i < call->output_count; i++) {
        h->op->outs[i] = JX_HOST_TOKEN;
        if (h->outputs[i].dtype)
            continue;
        if (h->nouts == h->eqn->nouts)
            return jx_plan_fail(h->p, "it has other results than it says");
        jx_slot out = jx_plan_output(h->p, h->eqn, h->nouts), *to;
        if (!order_of(h->p, h->result_layouts, i, out.rank, order) ||
            !describe(h->p, &out, &h->outputs[i]))
            return false;
        to = &h->outs[h->nouts];
        reorder(&out, order, to);
        *to = jx_plan_new(h->p, to->dtype, to->rank, to->shape);
        reorder_back(to, order, &results[h->nouts]);
        h->op->outs[i] = h->nouts++;
    }
    return h->nouts == h->eqn->nouts ||
           jx_plan_fail(h->p, "it has other results than it says");
}

/* The result that lies in an operand's memory; -1: none. */
static int shared_by(const jaxvet_custom_call *call, int input)
{
    for (int i = 0; i < call->output_count; i++)
        if (call->aliases[i] == input)
            return i;
    return -1;
}

/* The slot is what the result's memory holds before. */
static bool share(host_plan *h, const jx_slot *slot, int input, int output)
{
    int k = h->op->outs[output];

    if (k < 0 || h->outs[k].dtype != slot->dtype ||
        !jx_same_shape(&h->outs[k], slot))
        return jx_plan_fail(h->p,
                            "a result lies in the memory of an operand of "
                            "another type");
    jx_plan_copy(h->p, slot, &h->outs[k]);
    h->op->ins[input] = JX_HOST_SHARED - output;
    return true;
}

static bool take_inputs(host_plan *h, const jx_slot *operands)
{
    const jaxvet_custom_call *call = &h->op->call;
    int order[JX_MAX_RANK], next = 0;

    for (int i = 0; i < call->input_count; i++) {
        int output = shared_by(call, i);
        jx_slot slot;
        h->op->ins[i] = JX_HOST_TOKEN;
        if (h->inputs[i].dtype)
            continue;
        if (next == h->eqn->nins)
            return jx_plan_fail(h->p, "it has other operands than it says");
        if (!order_of(h->p, h->operand_layouts, i, operands[next].rank,
                      order) ||
            !describe(h->p, &operands[next], &h->inputs[i]))
            return false;
        reorder(&operands[next++], order, &slot);
        if (output >= 0 && !share(h, &slot, i, output))
            return false;
        if (output >= 0)
            continue;
        h->ins[h->nins] = jx_plan_dense(h->p, &slot);
        h->op->ins[i] = h->nins++;
    }
    return next == h->eqn->nins ||
           jx_plan_fail(h->p, "it has other operands than it says");
}

/* The host's part, which ends when the plan does. */
static bool begin(jx_planner *p, jx_host_op *op)
{
    const jaxvet_handlers *handlers = op->handlers;
    jaxvet_error error = {JAXVET_OK, "", "", ""};

    if (p->failed)
        return false;
    if (handlers->begin && handlers->begin(handlers->data, &op->call,
                                           &op->state, &error) != JAXVET_OK)
        return jx_plan_fail(p, "the custom call @%s: %.*s", op->call.target,
                            (int)sizeof error.message, error.message);
    op->next = p->plan->host;
    p->plan->host = op;
    return true;
}

static bool make_room(host_plan *h, const jaxvet_custom_call *said)
{
    jx_arena *arena = h->p->arena;
    jx_host_op *op = JX_NEW(arena, jx_host_op);
    size_t nins = (size_t)said->input_count + 1,
           nouts = (size_t)said->output_count + 1;

    if (!op)
        return jx_plan_starved(h->p);
    h->op = op;
    h->inputs = JX_NEW_ARRAY(arena, nins, jaxvet_layout);
    h->outputs = JX_NEW_ARRAY(arena, nouts, jaxvet_layout);
    h->ins = JX_NEW_ARRAY(arena, nins, jx_slot);
    h->outs = JX_NEW_ARRAY(arena, nouts, jx_slot);
    op->ins = JX_NEW_ARRAY(arena, nins, int);
    op->outs = JX_NEW_ARRAY(arena, nouts, int);
    op->handlers = h->p->options->handlers;
    op->call = *said;
    op->call.place = jx_plan_user_place(h->p);
    op->call.inputs = h->inputs;
    op->call.outputs = h->outputs;
    if (!h->inputs || !h->outputs || !h->ins || !h->outs || !op->ins ||
        !op->outs || !op->call.place)
        return jx_plan_starved(h->p);
    memcpy(h->inputs, said->inputs, (nins - 1) * sizeof *h->inputs);
    memcpy(h->outputs, said->outputs, (nouts - 1) * sizeof *h->outputs);
    return true;
}

/* Plans what is said of a call, whose arrays and place are filled in here. */
static bool plan(host_plan *h, const jaxvet_custom_call *said,
                 const jx_slot *ins, jx_slot *outs)
{
    jx_planner *p = h->p;

    if (!make_room(h, said) || !take_outputs(h, outs) || !take_inputs(h, ins) ||
        !begin(p, h->op))
        return false;
    jx_plan_op(p, run_host_call, &h->op, sizeof h->op, h->nins, h->ins,
               h->nouts, h->outs, handed_bytes(said));
    if (said->has_side_effect)
        jx_plan_acts(p);
    return !p->failed;
}

bool jx_plan_host_call(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                       jx_slot *outs)
{
    const jx_p_custom_call *params = eqn->typed;
    const jx_value *target = jx_eqn_param(eqn, "call_target_name");
    const jaxvet_custom_call *said = target ? target->call : NULL;
    host_plan h = {.p = p,
                   .eqn = eqn,
                   .operand_layouts = params->operand_layouts,
                   .result_layouts = params->result_layouts};

    if (!said)
        return jx_plan_fail(
            p, "a host can't run it: the program holds only a part "
               "of what the module said");
    return plan(&h, said, ins, outs);
}

bool jx_plan_host_callback(jx_planner *p, const jx_eqn *eqn,
                           const char *function, const jx_slot *ins,
                           jx_slot *outs)
{
    host_plan h = {.p = p, .eqn = eqn};
    size_t nins = (size_t)eqn->nins + 1, nouts = (size_t)eqn->nouts + 1;
    int *aliases = JX_NEW_ARRAY(p->arena, nouts, int);
    jaxvet_custom_call said = {
        .size = sizeof said,
        .target = eqn->prim->name,
        .has_side_effect = eqn->prim->id != JX_PRIM_pure_callback,
        .input_count = eqn->nins,
        .output_count = eqn->nouts,
        .inputs = JX_NEW_ARRAY(p->arena, nins, jaxvet_layout),
        .outputs = JX_NEW_ARRAY(p->arena, nouts, jaxvet_layout),
        .aliases = aliases,
        .config = function,
        .config_size = function ? strlen(function) : 0,
    };

    if (!aliases || !said.inputs || !said.outputs)
        return jx_plan_starved(p);
    for (int i = 0; i < eqn->nouts; i++)
        aliases[i] = -1;
    return plan(&h, &said, ins, outs);
}
