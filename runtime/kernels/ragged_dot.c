/* ragged_dot.c - ragged_dot_general, as JAX defines it: an operand is written
 * out once per group, zeros where the group is not, and then it is a
 * dot_general. */
#include "runtime/plan_impl.h"
#include "runtime/plan_rules.h"

#include <string.h>

/* Writing out. */
typedef struct writing {
    int rank, axis; /* of the operand; what is cut into groups */
    int64_t groups;
    int nprefix;
    int prefix[JX_MAX_RANK]; /* axes that have groups of their own */
} writing;

/* Where group `g` lies in a line: [*start, *end) of n. */
static void bounds(const jx_view *sizes, int64_t offset, int64_t g, int64_t n,
                   int64_t *start, int64_t *end)
{
    int64_t step = sizes->strides[sizes->rank - 1];
    uint64_t sum = 0;

    *start = 0;
    for (int64_t i = 0; i <= g; i++) {
        int64_t size;
        *start = (int64_t)sum;
        memcpy(&size, sizes->data + offset + i * step, sizeof size);
        sum += (uint64_t)size;
    }
    *end = (int64_t)sum < n ? (int64_t)sum : n;
    *start = *start < 0 ? 0 : *start;
}

/* operand, sizes -> [groups, operand] */
static bool run_write(jx_run *run, const void *data, const jx_view *ins,
                      const jx_view *outs, void *scratch)
{
    const writing *w = data;
    const jx_view *in = &ins[0], *out = &outs[0];
    size_t size = jx_dtype_of(in->dtype)->bytes;
    int64_t n = in->shape[w->axis], lines = n ? in->count / n : 0;

    (void)run, (void)scratch;
    memset(out->data, 0, (size_t)out->count * size);
    for (int64_t g = 0; g < w->groups; g++)
        for (int64_t line = 0; line < lines; line++) {
            int64_t rest = line, from = 0, to = g * out->strides[0];
            int64_t at[JX_MAX_RANK] = {0}, offset = 0, start, end;
            for (int k = w->rank - 1; k >= 0; k--) {
                if (k == w->axis)
                    continue;
                at[k] = rest % in->shape[k];
                rest /= in->shape[k];
                from += at[k] * in->strides[k];
                to += at[k] * out->strides[k + 1];
            }
            for (int i = 0; ins[1].rank > 1 && i < w->nprefix; i++)
                offset += at[w->prefix[i]] * ins[1].strides[i];
            bounds(&ins[1], offset, g, n, &start, &end);
            for (int64_t i = start; i < end; i++)
                memcpy(out->data + to + i * out->strides[w->axis + 1],
                       in->data + from + i * in->strides[w->axis], size);
        }
    return true;
}

/* ---- dimension numbers ---- */

static int position(jx_ints axes, int64_t axis)
{
    for (int i = 0; i < axes.count; i++)
        if (axes.at[i] == axis)
            return i;
    return -1;
}

/* The same axes behind a new one, and that one (0) after them or before. */
static jx_ints moved(jx_planner *p, jx_ints axes, bool before, bool after)
{
    int64_t *at = JX_NEW_ARRAY(p->arena, axes.count + 2, int64_t);
    int n = 0;

    if (at && before)
        at[n++] = 0;
    for (int i = 0; at && i < axes.count; i++)
        at[n++] = axes.at[i] + 1;
    if (at && after)
        at[n++] = 0;
    return (jx_ints){n, at};
}

static jx_ints with(jx_planner *p, jx_ints axes, int64_t one)
{
    int64_t *at = JX_NEW_ARRAY(p->arena, axes.count + 1, int64_t);

    if (!at)
        return (jx_ints){0, NULL};
    if (axes.count)
        memcpy(at, axes.at, (size_t)axes.count * sizeof *at);
    at[axes.count] = one;
    return (jx_ints){axes.count + 1, at};
}

/* ---- planning ---- */

static void add_prefix(writing *w, int64_t axis)
{
    if (w->nprefix < JX_MAX_RANK - 1)
        w->prefix[w->nprefix++] = (int)axis;
}

static bool write_out(jx_planner *p, const jx_slot *in, const jx_slot *sizes,
                      writing *w, jx_slot *out)
{
    int64_t shape[JX_MAX_RANK];

    w->rank = in->rank;
    w->groups = sizes->shape[sizes->rank - 1];
    if (in->rank + 1 >= JX_MAX_RANK || w->axis < 0 || w->axis >= in->rank)
        return jx_plan_fail(p, "the ragged axis is out of range");
    if (sizes->rank > 1) {
        if (sizes->rank != w->nprefix + 1)
            return jx_plan_fail(p, "the sizes of groups have another rank");
        for (int i = 0; i < w->nprefix; i++)
            if (w->prefix[i] < 0 || w->prefix[i] >= in->rank ||
                sizes->shape[i] != in->shape[w->prefix[i]])
                return jx_plan_fail(p, "the sizes of groups do not fit");
    }
    shape[0] = w->groups;
    memcpy(shape + 1, in->shape, (size_t)in->rank * sizeof *shape);
    *out = jx_plan_new(p, in->dtype, in->rank + 1, shape);
    if (jx_slot_count(out) > 0)
        jx_plan_op(p, run_write, w, sizeof *w, 2, (jx_slot[]){*in, *sizes}, 1,
                   out, 0);
    return true;
}

static bool dot(jx_planner *p, const jx_eqn *eqn, const jx_dot_dims *dims,
                const jx_slot *ins, jx_slot *outs)
{
    const jx_p_ragged_dot *params = eqn->typed;
    jx_p_dot_general typed = {.dimension_numbers = *dims,
                              .preferred_element_type =
                                  params->preferred_element_type,
                              .precision = params->precision};
    jx_eqn as = *eqn;

    as.prim = jx_prim_of(JX_PRIM_dot_general);
    as.nins = 2;
    as.nparams = 0;
    as.typed = &typed;
    return jx_plan_dot_general(p, &as, ins, outs);
}

/* One matrix of operand 1 per group. */
static bool free_axis(jx_planner *p, const jx_eqn *eqn, const jx_ragged_dims *r,
                      const jx_slot *ins, const jx_slot *sizes, jx_slot *outs)
{
    writing w = {.axis = (int)r->of_lhs.at[0]};
    jx_slot both[2] = {ins[0], ins[1]};

    if (r->groups.count != 1)
        return jx_plan_fail(p, "one group axis is expected");
    for (int i = 0; i < r->dot.lhs_batch.count; i++)
        add_prefix(&w, r->dot.lhs_batch.at[i]);
    for (int axis = 0; axis < w.axis; axis++)
        if (position(r->dot.lhs_batch, axis) < 0 &&
            position(r->dot.lhs_contracting, axis) < 0)
            add_prefix(&w, axis);
    const jx_dot_dims dims = {
        .lhs_contracting = moved(p, r->dot.lhs_contracting, false, true),
        .rhs_contracting = with(p, r->dot.rhs_contracting, r->groups.at[0]),
        .lhs_batch = moved(p, r->dot.lhs_batch, false, false),
        .rhs_batch = r->dot.rhs_batch};
    return write_out(p, &ins[0], sizes, &w, &both[0]) &&
           dot(p, eqn, &dims, both, outs);
}

/* One result per group. */
static bool contracting_axis(jx_planner *p, const jx_eqn *eqn,
                             const jx_ragged_dims *r, const jx_slot *ins,
                             const jx_slot *sizes, jx_slot *outs)
{
    int at = position(r->dot.lhs_contracting, r->of_lhs.at[0]);
    jx_ints batch[2] = {r->dot.lhs_batch, r->dot.rhs_batch};
    jx_ints contracting[2] = {r->dot.lhs_contracting, r->dot.rhs_contracting};
    jx_slot both[2];

    if (at >= r->dot.rhs_contracting.count)
        return jx_plan_fail(p, "the operands contract other axes");
    for (int side = 0; side < 2; side++) {
        writing w = {.axis = (int)contracting[side].at[at]};
        for (int i = 0; i < batch[side].count; i++)
            add_prefix(&w, batch[side].at[i]);
        for (int i = 0; i < at; i++)
            add_prefix(&w, contracting[side].at[i]);
        if (!write_out(p, &ins[side], sizes, &w, &both[side]))
            return false;
    }
    const jx_dot_dims dims = {
        .lhs_contracting = moved(p, r->dot.lhs_contracting, false, false),
        .rhs_contracting = moved(p, r->dot.rhs_contracting, false, false),
        .lhs_batch = moved(p, r->dot.lhs_batch, true, false),
        .rhs_batch = moved(p, r->dot.rhs_batch, true, false)};
    return dot(p, eqn, &dims, both, outs);
}

bool jx_plan_ragged_dot(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                        jx_slot *outs)
{
    const jx_p_ragged_dot *params = eqn->typed;
    const jx_value *offset = jx_eqn_param(eqn, "group_offset");
    const jx_ragged_dims *r = &params->ragged_dot_dimension_numbers;

    if (eqn->nins != 3 || (offset && offset->tag != JX_V_NONE))
        return jx_plan_fail(p, "group_offset can't be had, in JAX neither");
    if (ins[2].rank < 1)
        return jx_plan_fail(p, "the sizes of groups are a scalar");
    jx_slot sizes = jx_plan_convert(p, &ins[2], JX_I64);
    if (position(r->dot.lhs_contracting, r->of_lhs.at[0]) >= 0)
        return contracting_axis(p, eqn, r, ins, &sizes, outs);
    if (position(r->dot.lhs_batch, r->of_lhs.at[0]) < 0)
        return free_axis(p, eqn, r, ins, &sizes, outs);
    return dot(p, eqn, &r->dot, ins, outs);
}
