/* plan_calls.c - calls that are not written out.
 *
 * Calls within calls double: twenty functions, each of which calls the one before
 * twice, are a million equations.  Where a program would grow beyond MOST
 * equations and a few times its own, what stands in several places becomes a
 * *unit*: a block that is planned once for each list of operand types, and run by
 * an operation in each place.  Its operands and results are moving buffers, which
 * that operation sets to where the caller has them, so that nothing is copied.
 * Jaxprs don't recur, so that a unit runs once at a time, and its memory has one
 * place (finish_memory.c). */
#include "runtime/kernels/shapes.h"
#include "runtime/plan_impl.h"
#include "runtime/run.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 4096, TIMES = 2 };

/* Sizes. */

static int64_t plus(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* Does something for each jaxpr that a value holds. */
typedef int64_t per_jaxpr(jx_planner *p, const jx_jaxpr *jaxpr);

static int64_t sum_in_value(jx_planner *p, const jx_value *value,
                            per_jaxpr *of)
{
    int64_t sum = 0;

    if (value->tag == JX_V_JAXPR)
        return value->jaxpr ? of(p, value->jaxpr) : 0;
    for (int i = 0; value->items && i < value->count; i++)
        sum = plus(sum, sum_in_value(p, value->items[i], of));
    return sum;
}

/* The equations, and what each runs. */
static int64_t sum_in_jaxpr(jx_planner *p, const jx_jaxpr *jaxpr,
                            per_jaxpr *of)
{
    int64_t sum = jaxpr->neqns;

    for (int i = 0; i < jaxpr->neqns; i++)
        for (int k = 0; k < jaxpr->eqns[i].nparams; k++)
            sum = plus(sum, sum_in_value(p, jaxpr->eqns[i].params[k].value,
                                         of));
    return sum;
}

/* One that a rule made for itself is not in the program's table. */
static bool in_table(const jx_planner *p, const jx_jaxpr *jaxpr)
{
    return jaxpr->id >= 0 && jaxpr->id < p->program->njaxprs &&
           p->program->jaxprs[jaxpr->id] == jaxpr;
}

/* With all calls written out.  Nested jaxprs have smaller numbers, and are as
 * deep as readers allow. */
static int64_t whole_size(jx_planner *p, const jx_jaxpr *jaxpr)
{
    jx_call_sizes *c = &p->calls;

    if (!in_table(p, jaxpr))
        return jaxpr->neqns;
    c->uses[jaxpr->id]++;
    if (!c->sizes[jaxpr->id]) {
        c->own = plus(c->own, jaxpr->neqns);
        c->sizes[jaxpr->id] = 1;
        c->sizes[jaxpr->id] = plus(1, sum_in_jaxpr(p, jaxpr, whole_size));
    }
    return c->sizes[jaxpr->id];
}

/* With those calls written out that are small enough; callees come first. */
static int64_t size_in_place(jx_planner *p, const jx_jaxpr *jaxpr)
{
    if (!in_table(p, jaxpr))
        return jaxpr->neqns;
    return jx_plan_is_called(p, jaxpr) ? 1 : p->calls.sizes[jaxpr->id];
}

/* All that is planned if units are made of what is larger than `small`. */
static int64_t planned_size(jx_planner *p, const jx_jaxpr *root, int64_t small)
{
    jx_call_sizes *c = &p->calls;
    int64_t all = 0;

    c->small = small;
    for (int i = 0; i <= root->id; i++) {
        const jx_jaxpr *jaxpr = p->program->jaxprs[i];
        if (!c->sizes[i])
            continue;
        c->sizes[i] = plus(1, sum_in_jaxpr(p, jaxpr, size_in_place));
        if (jaxpr == root || jx_plan_is_called(p, jaxpr))
            all = plus(all, c->sizes[i]);
    }
    return all;
}

static bool new_sizes(jx_planner *p, jx_call_sizes *c)
{
    int n = p->program->njaxprs;

    c->sizes = JX_NEW_ARRAY(p->arena, n, int64_t);
    c->uses = JX_NEW_ARRAY(p->arena, n, int);
    c->units = JX_NEW_ARRAY(p->arena, n, int);
    return c->sizes && c->uses && c->units;
}

bool jx_plan_measure(jx_planner *p, const jx_jaxpr *root)
{
    jx_call_sizes *c = &p->calls;

    if (!new_sizes(p, c))
        return false;
    c->small = INT64_MAX;
    if (!in_table(p, root))
        return true;
    int64_t all = whole_size(p, root), most = plus(MOST, c->own);
    for (int i = 1; i < TIMES; i++)
        most = plus(most, c->own);
    for (int64_t small = 256; all > most && c->small; small /= 4)
        all = planned_size(p, root, small);
    c->left = most;
    return true;
}

bool jx_plan_is_called(const jx_planner *p, const jx_jaxpr *jaxpr)
{
    const jx_call_sizes *c = &p->calls;

    return c->small < INT64_MAX && in_table(p, jaxpr) &&
           c->uses[jaxpr->id] > 1 && c->sizes[jaxpr->id] > c->small;
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
    return p->mems.at[slot->buffer].kind == JX_MEM_CONST && slot->rank == 0 &&
           slot->dtype == JX_I32;
}

static void forms_of(const jx_planner *p, int count, const jx_slot *ins,
                     jx_form *forms)
{
    for (int i = 0; i < count; i++)
        forms[i] = is_known(p, &ins[i])   ? JX_FORM_KNOWN
                   : is_splat(&ins[i])    ? JX_FORM_SPLAT
                                          : JX_FORM_DENSE;
}

static const char *bytes_of(const jx_planner *p, int buffer, int64_t offset)
{
    return (const char *)p->mems.at[buffer].constant + offset;
}

static bool fits_unit(const jx_planner *p, const jx_unit *unit,
                      const jx_closed *closed, const jx_slot *ins,
                      const jx_form *forms)
{
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
    int found = p->calls.units[closed->jaxpr->id];

    while (found && !fits_unit(p, &p->units.at[found], closed, ins, forms))
        found = p->units.at[found].next;
    return found;
}

/* Where the unit's equations find an operand. */
static jx_slot unit_operand(jx_planner *p, const jx_slot *in, jx_form form)
{
    if (form == JX_FORM_KNOWN)
        return *in;
    jx_slot slot = jx_plan_slot_in(p, JX_MEM_MOVING, in->dtype, in->rank,
                                   in->shape);
    if (form == JX_FORM_SPLAT && p->mems.count) {
        memset(slot.strides, 0, sizeof slot.strides);
        p->mems.at[slot.buffer].bytes =
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
            p->mems.at[out.buffer].kind != JX_MEM_CONST) {
            out = jx_plan_slot_in(p, JX_MEM_MOVING, out.dtype, out.rank,
                                  out.shape);
            jx_plan_copy(p, &results[i], &out);
        }
        jx_plan_operand(p, &out, &unit->outs[i]);
    }
}

/* The unit's operations, into a block of its own. */
static void plan_operations(jx_planner *p, int number, const jx_closed *closed,
                            const jx_slot *ins, jx_slot *slots)
{
    jx_unit unit = p->units.at[number];
    int nins = closed->jaxpr->nins, block = p->block, outer = p->unit;

    unit.block = (int)p->blocks.count;
    JX_PUSH(p->arena, &p->blocks, (jx_block){.parent = -1, .unit = number});
    p->block = unit.block;
    p->unit = number;
    for (int i = 0; i < nins; i++) {
        slots[i] = unit_operand(p, &ins[i], unit.forms[i]);
        jx_plan_operand(p, &slots[i], &unit.ins[i]);
    }
    p->units.at[number] = unit;
    if (!p->failed && jx_plan_write_out(p, closed, slots, slots + nins))
        end_unit(p, &unit, slots, slots + nins);
    p->block = block;
    p->unit = outer;
    p->units.at[number].planned = true;
    JX_PUSH(p->arena, &p->order, number);
}

static int new_unit(jx_planner *p, const jx_closed *closed, const jx_slot *ins,
                    const jx_form *forms)
{
    const jx_jaxpr *jaxpr = closed->jaxpr;
    size_t count = (size_t)(jaxpr->nins + jaxpr->nouts);
    jx_slot *slots = malloc((count + 1) * sizeof *slots);
    jx_operand *all = JX_NEW_ARRAY(p->arena, count, jx_operand);
    jx_unit unit = {
        .jaxpr = jaxpr,
        .consts = closed->consts,
        .next = p->calls.units[jaxpr->id],
        .forms = jx_arena_copy(p->arena, forms,
                               (size_t)jaxpr->nins * sizeof *forms),
        .ins = all,
        .outs = all ? all + jaxpr->nins : NULL,
        .passes = JX_NEW_ARRAY(p->arena, jaxpr->nouts, int)};
    int number = (int)p->units.count;

    if (slots && all && unit.forms && unit.passes)
        JX_PUSH(p->arena, &p->units, unit);
    if ((int)p->units.count > number) {
        p->calls.units[jaxpr->id] = number;
        plan_operations(p, number, closed, ins, slots);
    } else {
        jx_plan_fail(p, "there is no memory");
    }
    free(slots);
    return p->failed ? 0 : number;
}

/* The unit for such operands.  Only a few are made for what is special about
 * some: that would double again. */
static int unit_for(jx_planner *p, const jx_closed *closed, const jx_slot *ins,
                    jx_form *forms)
{
    int64_t size = p->calls.sizes[closed->jaxpr->id];

    forms_of(p, closed->jaxpr->nins, ins, forms);
    int found = find_unit(p, closed, ins, forms);
    if (!found && p->calls.left < size) {
        memset(forms, 0, (size_t)closed->jaxpr->nins * sizeof *forms);
        found = find_unit(p, closed, ins, forms);
    }
    if (!found) {
        p->calls.left -= size < p->calls.left ? size : p->calls.left;
        found = new_unit(p, closed, ins, forms);
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
        given[c->nins] = unit.forms[i] == JX_FORM_SPLAT
                             ? ins[i]
                             : jx_plan_dense(p, &ins[i]);
        c->buffers[c->nins++] = unit.ins[i].buffer;
    }
    for (int i = 0; i < jaxpr->nouts; i++) {
        jx_operand_slot(&unit.outs[i], &outs[i]);
        if (unit.passes[i] >= 0) {
            outs[i] = ins[unit.passes[i]];
        } else if (p->mems.at[outs[i].buffer].kind != JX_MEM_CONST) {
            outs[i] = jx_plan_new(p, outs[i].dtype, outs[i].rank,
                                  outs[i].shape);
            made[c->nouts] = outs[i];
            c->buffers[c->nins + c->nouts++] = unit.outs[i].buffer;
        }
    }
    jx_plan_unit_op(p, number, run_unit, c,
                    sizeof *c + (size_t)(c->nins + c->nouts) * sizeof(int),
                    c->nins, given, c->nouts, made);
}

bool jx_plan_call_unit(jx_planner *p, const jx_closed *closed,
                       const jx_slot *ins, jx_slot *outs)
{
    size_t count = (size_t)(closed->jaxpr->nins + closed->jaxpr->nouts);
    jx_form *forms = calloc(count + 1, sizeof *forms);
    jx_slot *slots = malloc((count + 1) * sizeof *slots);
    unit_call *c = calloc(1, sizeof *c + count * sizeof(int));

    if (closed->nconsts != closed->jaxpr->nconsts) {
        jx_plan_fail(p, "a jaxpr lacks its constants");
    } else if (forms && slots && c) {
        int number = unit_for(p, closed, ins, forms);
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
