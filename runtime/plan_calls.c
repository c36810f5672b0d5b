/* plan_calls.c - calls that are not written out.
 *
 * Where a program would grow too much (frontend/ir/growth.h), what stands in
 * several places becomes a *unit*: a block that is planned once for each list
 * of operand types, and run by an operation in each place.  Its operands and
 * results are moving buffers, which that operation sets to where the caller has
 * them, so that nothing is copied.  Jaxprs don't recur, so that a unit runs
 * once at a time, and its memory has one place (finish_memory.c). */
#include "runtime/kernels/shapes.h"
#include "runtime/plan_impl.h"
#include "runtime/run.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };

bool jx_plan_measure(jx_planner *p, const jx_jaxpr *root)
{
    p->units_of = JX_NEW_ARRAY(p->scratch, p->program->njaxprs, int);
    if (!p->units_of ||
        !jx_growth_measure(p->scratch, p->program, root, MOST, &p->growth))
        return false;
    p->special = p->growth.most;
    return true;
}

bool jx_plan_is_called(const jx_planner *p, const jx_jaxpr *jaxpr)
{
    return jx_growth_shares(&p->growth, jaxpr);
}

/* Units. */

static bool is_splat(const jx_slot *slot)
{
    for (int i = 0; i < slot->rank; i++)
        if (slot->strides[i] && slot->shape[i] != 1)
            return false;
    return jx_slot_count(slot) > 1;
}

/* An index that is known chooses a branch while planning. */
static bool is_known(const jx_planner *p, const jx_slot *slot)
{
    return jx_mem_at(&p->mems, slot->buffer)->kind == JX_MEM_CONST &&
           slot->rank == 0 && slot->dtype == JX_I32;
}

static void forms_of(const jx_planner *p, int count, const jx_slot *ins,
                     jx_form *forms)
{
    for (int i = 0; i < count; i++)
        forms[i] = is_known(p, &ins[i]) ? JX_FORM_KNOWN
                   : is_splat(&ins[i])  ? JX_FORM_SPLAT
                                        : JX_FORM_DENSE;
}

static const char *bytes_of(const jx_planner *p, int buffer, int64_t offset)
{
    return (const char *)jx_mem_at(&p->mems, buffer)->constant + offset;
}

static bool fits_unit(const jx_planner *p, const jx_unit *unit,
                      const jx_closed *closed, const jx_slot *ins,
                      const jx_form *forms)
{
    if (unit->jaxpr != closed->jaxpr)
        return false;
    for (int i = 0; i < closed->nconsts; i++)
        if (unit->consts[i] != closed->consts[i])
            return false;
    for (int i = 0; i < closed->jaxpr->nins; i++) {
        const jx_operand *in = &unit->ins[i];
        if (unit->forms[i] != forms[i] || in->dtype != ins[i].dtype ||
            in->rank != ins[i].rank)
            return false;
        if (in->rank && memcmp(in->shape, ins[i].shape,
                               (size_t)in->rank * sizeof *in->shape))
            return false;
        if (forms[i] == JX_FORM_KNOWN &&
            memcmp(bytes_of(p, in->buffer, in->offset),
                   bytes_of(p, ins[i].buffer, ins[i].offset), sizeof(int32_t)))
            return false;
    }
    return true;
}

static int find_unit(const jx_planner *p, const jx_closed *closed,
                     const jx_slot *ins, const jx_form *forms)
{
    int found = p->units_of[closed->jaxpr->id];

    while (found && !fits_unit(p, &p->units.at[found], closed, ins, forms))
        found = p->units.at[found].next;
    return found;
}

/* Where the unit's equations find an operand. */
static jx_slot unit_operand(jx_planner *p, const jx_slot *in, jx_form form)
{
    if (form == JX_FORM_KNOWN)
        return *in;
    jx_slot slot =
        jx_plan_slot_in(p, JX_MEM_MOVING, in->dtype, in->rank, in->shape);
    if (form == JX_FORM_SPLAT && p->mems.count) {
        memset(slot.strides, 0, sizeof slot.strides);
        jx_mem_at(&p->mems, slot.buffer)->bytes =
            (int64_t)jx_dtype_of(in->dtype)->bytes;
    }
    return slot;
}

static int operand_that_is(const jx_slot *result, const jx_slot *ins, int nins)
{
    for (int i = 0; i < nins; i++)
        if (ins[i].buffer == result->buffer &&
            ins[i].offset == result->offset && ins[i].rank == result->rank &&
            jx_same_shape(&ins[i], result) &&
            !memcmp(ins[i].strides, result->strides,
                    (size_t)result->rank * sizeof *result->strides))
            return i;
    return -1;
}

/* Results are left where the caller wants them. */
static void end_unit(jx_planner *p, jx_unit *unit, const jx_slot *ins,
                     const jx_slot *results)
{
    for (int i = 0; i < unit->jaxpr->nouts && !p->failed; i++) {
        jx_slot out = results[i];
        unit->passes[i] = operand_that_is(&out, ins, unit->jaxpr->nins);
        if (unit->passes[i] < 0 &&
            jx_mem_at(&p->mems, out.buffer)->kind != JX_MEM_CONST) {
            out = jx_plan_slot_in(p, JX_MEM_MOVING, out.dtype, out.rank,
                                  out.shape);
            jx_plan_copy(p, &results[i], &out);
        }
        jx_plan_operand(p, &out, &unit->outs[i]);
    }
}

/* The unit's operations, into a block of its own. */
static void plan_operations(jx_planner *p, int number, const jx_closed *closed,
                            jx_plan_writer *write, const jx_slot *ins,
                            jx_slot *slots)
{
    jx_unit unit = p->units.at[number];
    int nins = closed->jaxpr->nins, block = p->block, outer = p->unit;

    unit.block = (int)p->blocks.count;
    JX_PUSH(p->scratch, &p->blocks, (jx_block){.parent = -1, .unit = number});
    p->block = unit.block;
    p->unit = number;
    for (int i = 0; i < nins; i++) {
        slots[i] = unit_operand(p, &ins[i], unit.forms[i]);
        jx_plan_operand(p, &slots[i], &unit.ins[i]);
    }
    p->units.at[number] = unit;
    if (!p->failed && write(p, closed, slots, slots + nins))
        end_unit(p, &unit, slots, slots + nins);
    p->block = block;
    p->unit = outer;
    p->units.at[number].planned = true;
    JX_PUSH(p->scratch, &p->order, number);
}

static int new_unit(jx_planner *p, const jx_closed *closed,
                    jx_plan_writer *write, const jx_slot *ins,
                    const jx_form *forms)
{
    const jx_jaxpr *jaxpr = closed->jaxpr;
    size_t count = (size_t)(jaxpr->nins + jaxpr->nouts);
    jx_slot *slots = malloc((count + 1) * sizeof *slots);
    jx_operand *all = JX_NEW_ARRAY(p->scratch, count, jx_operand);
    jx_unit unit = {.jaxpr = jaxpr,
                    .consts = closed->consts,
                    .next = p->units_of[jaxpr->id],
                    .forms = jx_arena_copy(p->scratch, forms,
                                           (size_t)jaxpr->nins * sizeof *forms),
                    .ins = all,
                    .outs = all ? all + jaxpr->nins : NULL,
                    .passes = JX_NEW_ARRAY(p->scratch, jaxpr->nouts, int)};
    int number = (int)p->units.count;

    if (slots && all && unit.forms && unit.passes)
        JX_PUSH(p->scratch, &p->units, unit);
    if ((int)p->units.count > number) {
        p->units_of[jaxpr->id] = number;
        plan_operations(p, number, closed, write, ins, slots);
    } else {
        jx_plan_fail(p, "there is no memory");
    }
    free(slots);
    return p->failed ? 0 : number;
}

/* The unit for such operands.  Only a few are made for what is special about
 * some: that would double again. */
static int unit_for(jx_planner *p, const jx_closed *closed,
                    jx_plan_writer *write, const jx_slot *ins, jx_form *forms)
{
    int64_t size = p->growth.sizes[closed->jaxpr->id];

    forms_of(p, closed->jaxpr->nins, ins, forms);
    int found = find_unit(p, closed, ins, forms);
    if (!found && p->special < size) {
        memset(forms, 0, (size_t)closed->jaxpr->nins * sizeof *forms);
        found = find_unit(p, closed, ins, forms);
    }
    if (!found) {
        p->special -= size < p->special ? size : p->special;
        found = new_unit(p, closed, write, ins, forms);
    }
    if (found && !p->units.at[found].planned) {
        jx_plan_fail(p, "a function calls itself");
        return 0;
    }
    return found;
}

/* Calls. */

typedef struct unit_call {
    int block, nins, nouts;
    int buffers[]; /* moving: of the operands, then the results */
} unit_call;

static bool run_unit(jx_run *run, const void *data, const jx_view *ins,
                     const jx_view *outs, void *scratch)
{
    const unit_call *c = data;

    (void)scratch;
    for (int i = 0; i < c->nins; i++)
        jx_run_move(run, c->buffers[i], ins[i].data);
    for (int i = 0; i < c->nouts; i++)
        jx_run_move(run, c->buffers[c->nins + i], outs[i].data);
    return jx_run_block(run, c->block);
}

/* What the caller hands over, in `given`; what it gets, in `made`. */
static void append_call(jx_planner *p, int number, const jx_slot *ins,
                        jx_slot *outs, jx_slot *given, jx_slot *made,
                        unit_call *c)
{
    const jx_unit unit = p->units.at[number];
    const jx_jaxpr *jaxpr = unit.jaxpr;

    c->block = unit.block;
    for (int i = 0; i < jaxpr->nins; i++) {
        if (unit.forms[i] == JX_FORM_KNOWN)
            continue;
        given[c->nins] =
            unit.forms[i] == JX_FORM_SPLAT ? ins[i] : jx_plan_dense(p, &ins[i]);
        c->buffers[c->nins++] = unit.ins[i].buffer;
    }
    for (int i = 0; i < jaxpr->nouts; i++) {
        jx_operand_slot(&unit.outs[i], &outs[i]);
        if (unit.passes[i] >= 0) {
            outs[i] = ins[unit.passes[i]];
        } else if (jx_mem_at(&p->mems, outs[i].buffer)->kind != JX_MEM_CONST) {
            outs[i] =
                jx_plan_new(p, outs[i].dtype, outs[i].rank, outs[i].shape);
            made[c->nouts] = outs[i];
            c->buffers[c->nins + c->nouts++] = unit.outs[i].buffer;
        }
    }
    jx_plan_unit_op(p, number, run_unit, c,
                    sizeof *c + (size_t)(c->nins + c->nouts) * sizeof(int),
                    c->nins, given, c->nouts, made);
}

bool jx_plan_call_unit(jx_planner *p, const jx_closed *closed,
                       jx_plan_writer *write, const jx_slot *ins, jx_slot *outs)
{
    size_t count = (size_t)(closed->jaxpr->nins + closed->jaxpr->nouts);
    jx_form *forms = calloc(count + 1, sizeof *forms);
    jx_slot *slots = malloc((count + 1) * sizeof *slots);
    unit_call *c = calloc(1, sizeof *c + count * sizeof(int));

    if (closed->nconsts != closed->jaxpr->nconsts) {
        jx_plan_fail(p, "a jaxpr lacks its constants");
    } else if (forms && slots && c) {
        int number = unit_for(p, closed, write, ins, forms);
        if (number)
            append_call(p, number, ins, outs, slots,
                        slots + closed->jaxpr->nins, c);
    } else {
        jx_plan_fail(p, "there is no memory");
    }
    free(forms);
    free(slots);
    free(c);
    return !p->failed;
}
