/* move.c - plan rules that only move elements: most are views. */
#include "runtime/kernels/move.h"
#include "runtime/plan_rules.h"

#include <string.h>

/* A key's slot has trailing axes that its aval has not. */
static int trailing(const jx_slot *slot, jx_atom atom)
{
    return slot->rank - jx_atom_aval(atom)->rank;
}

static void broadcast(const jx_slot *in, jx_ints dims, int extra, jx_slot *out)
{
    out->buffer = in->buffer;
    out->offset = in->offset;
    memset(out->strides, 0, (size_t)out->rank * sizeof *out->strides);
    for (int i = 0; i < dims.count; i++)
        if (in->shape[i] != 1)
            out->strides[dims.at[i]] = in->strides[i];
    for (int i = 1; i <= extra; i++)
        out->strides[out->rank - i] = in->strides[in->rank - i];
}

static bool broadcast_rule(jx_planner *p, const jx_eqn *eqn, const jx_slot *in,
                           jx_slot *out)
{
    const jx_p_broadcast_in_dim *params = eqn->typed;
    jx_ints dims = params->broadcast_dimensions;
    int extra = trailing(in, eqn->ins[0]);

    out->dtype = in->dtype;
    jx_plan_shape(p, eqn->outs[0]->aval, &out->rank, out->shape);
    if (dims.count != in->rank - extra)
        return jx_plan_fail(p, "broadcast_dimensions do not fit the operand");
    for (int i = 0; i < dims.count; i++)
        if (dims.at[i] < 0 || dims.at[i] >= out->rank ||
            (in->shape[i] != 1 && in->shape[i] != out->shape[dims.at[i]]))
            return jx_plan_fail(p, "axis %d of the operand does not fit", i);
    broadcast(in, dims, extra, out);
    return true;
}

/* Keeps the axes of `in` that are not in the set, or puts new ones of size 1
 * where the set says. */
static void squeeze(const jx_slot *in, jx_ints gone, jx_slot *out)
{
    int rank = 0;

    for (int i = 0; i < in->rank; i++) {
        bool drop = false;
        for (int k = 0; k < gone.count; k++)
            drop |= gone.at[k] == i;
        if (drop)
            continue;
        out->shape[rank] = in->shape[i];
        out->strides[rank++] = in->strides[i];
    }
    out->rank = rank;
}

static void expand(const jx_slot *in, jx_ints added, jx_slot *out)
{
    int rank = in->rank + added.count, from = 0;

    for (int i = 0; i < rank; i++) {
        bool is_new = false;
        for (int k = 0; k < added.count; k++)
            is_new |= added.at[k] == i;
        out->shape[i] = is_new ? 1 : in->shape[from];
        out->strides[i] = is_new ? 0 : in->strides[from];
        from += !is_new;
    }
    out->rank = rank;
}

static bool transpose(jx_planner *p, const jx_slot *in, jx_ints perm,
                      jx_slot *out)
{
    for (int i = 0; i < perm.count; i++) {
        if (perm.at[i] < 0 || perm.at[i] >= in->rank)
            return jx_plan_fail(p, "the permutation does not fit");
        out->shape[i] = in->shape[perm.at[i]];
        out->strides[i] = in->strides[perm.at[i]];
    }
    return true;
}

static bool slice(jx_planner *p, const jx_p_slice *params, const jx_slot *in,
                  jx_slot *out)
{
    for (int i = 0; i < params->start_indices.count && i < in->rank; i++) {
        int64_t start = jx_plan_dim(p, params->start_indices.at[i]);
        int64_t limit = jx_plan_dim(p, params->limit_indices.at[i]);
        int64_t step =
            params->strides.given ? jx_plan_dim(p, params->strides.at[i]) : 1;
        if (start < 0 || limit > in->shape[i] || start > limit || step < 1)
            return jx_plan_fail(
                p, "axis %d of %lld elements can't be cut from %lld to %lld", i,
                (long long)in->shape[i], (long long)start, (long long)limit);
        out->shape[i] = limit == start ? 0 : (limit - start - 1) / step + 1;
        out->strides[i] = out->shape[i] > 1 ? in->strides[i] * step : 0;
        if (out->shape[i])
            out->offset += start * in->strides[i];
    }
    return true;
}

bool jx_plan_view(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                  jx_slot *outs)
{
    const jx_p_dimensions *dims = eqn->typed;

    outs[0] = ins[0];
    switch (eqn->prim->id) {
    case JX_PRIM_broadcast_in_dim: return broadcast_rule(p, eqn, ins, outs);
    case JX_PRIM_squeeze: squeeze(ins, dims->dimensions, outs); return true;
    case JX_PRIM_expand_dims:
        if (ins->rank + dims->dimensions.count > JX_MAX_RANK)
            return jx_plan_fail(p, "the rank is above %d", JX_MAX_RANK);
        expand(ins, dims->dimensions, outs);
        return true;
    case JX_PRIM_transpose:
        return transpose(
            p, ins, ((const jx_p_transpose *)eqn->typed)->permutation, outs);
    case JX_PRIM_rev:
        for (int i = 0; i < dims->dimensions.count; i++) {
            int64_t d = dims->dimensions.at[i];
            if (d < 0 || d >= ins->rank)
                return jx_plan_fail(p, "there is no axis %lld", (long long)d);
            if (ins->shape[d] > 0)
                outs->offset += (ins->shape[d] - 1) * ins->strides[d];
            outs->strides[d] = -ins->strides[d];
        }
        return true;
    case JX_PRIM_slice: return slice(p, eqn->typed, ins, outs);
    default: return jx_plan_fail(p, "it is no view");
    }
}

bool jx_plan_identity(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                      jx_slot *outs)
{
    (void)p;
    for (int i = 0; i < eqn->nouts && i < eqn->nins; i++)
        outs[i] = ins[i];
    return true;
}

bool jx_plan_reshape(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                     jx_slot *outs)
{
    const jx_p_reshape *params = eqn->typed;
    int64_t shape[JX_MAX_RANK];
    jx_slot from = ins[0];
    int rank;

    if (params->dimensions.count &&
        (params->dimensions.count != from.rank ||
         !transpose(p, ins, params->dimensions, &from)))
        return jx_plan_fail(p, "dimensions do not fit the operand");
    jx_plan_shape(p, eqn->outs[0]->aval, &rank, shape);
    outs[0] = jx_plan_reshaped(p, &from, rank, shape);
    return true;
}

/* A part of an output along one axis. */
static jx_slot window(const jx_slot *whole, int axis, int64_t start,
                      int64_t size)
{
    jx_slot part = *whole;

    part.shape[axis] = size;
    if (size)
        part.offset += start * whole->strides[axis];
    return part;
}

bool jx_plan_concatenate(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                         jx_slot *outs)
{
    const jx_p_concatenate *params = eqn->typed;
    int axis = (int)params->dimension;
    int64_t at = 0;

    outs[0] = jx_plan_output(p, eqn, 0);
    if (axis < 0 || axis >= outs->rank)
        return jx_plan_fail(p, "there is no axis %d", axis);
    for (int i = 0; i < eqn->nins; i++) {
        if (at + ins[i].shape[axis] > outs->shape[axis])
            return jx_plan_fail(p, "the operands do not fit the result");
        jx_slot part = window(outs, axis, at, ins[i].shape[axis]);
        for (int k = 0; k < part.rank; k++)
            if (part.shape[k] != ins[i].shape[k])
                return jx_plan_fail(p, "operand %d does not fit", i);
        if (jx_slot_count(&part))
            jx_plan_copy(p, &ins[i], &part);
        at += ins[i].shape[axis];
    }
    return true;
}

bool jx_plan_stack(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                   jx_slot *outs)
{
    int64_t axis = ((const jx_p_stack *)eqn->typed)->axis;

    outs[0] = jx_plan_output(p, eqn, 0);
    if (axis < 0 || axis >= outs->rank || outs->shape[axis] != eqn->nins)
        return jx_plan_fail(p, "there is no axis %lld", (long long)axis);
    for (int i = 0; i < eqn->nins; i++) {
        jx_slot part = window(outs, (int)axis, i, 1), flat = part;
        squeeze(&part, (jx_ints){1, &axis}, &flat);
        if (jx_slot_count(&flat))
            jx_plan_copy(p, &ins[i], &flat);
    }
    return true;
}

bool jx_plan_unstack(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                     jx_slot *outs)
{
    int64_t axis = ((const jx_p_stack *)eqn->typed)->axis;

    if (axis < 0 || axis >= ins->rank || ins->shape[axis] != eqn->nouts)
        return jx_plan_fail(p, "there is no axis %lld", (long long)axis);
    for (int i = 0; i < eqn->nouts; i++) {
        jx_slot part = window(ins, (int)axis, i, 1);
        outs[i] = part;
        squeeze(&part, (jx_ints){1, &axis}, &outs[i]);
    }
    return true;
}

bool jx_plan_split(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                   jx_slot *outs)
{
    const jx_p_split *params = eqn->typed;
    int64_t at = 0;

    if (params->axis < 0 || params->axis >= ins->rank ||
        params->sizes.count != eqn->nouts)
        return jx_plan_fail(p, "sizes or axis do not fit");
    for (int i = 0; i < eqn->nouts; i++) {
        int64_t size = jx_plan_dim(p, params->sizes.at[i]);
        if (size < 0 || at + size > ins->shape[params->axis])
            return jx_plan_fail(p, "the parts do not fit the operand");
        outs[i] = window(ins, (int)params->axis, at, size);
        at += size;
    }
    return true;
}

bool jx_plan_tile(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                  jx_slot *outs)
{
    const jx_p_tile *params = eqn->typed;
    jx_slot from = {
        .dtype = ins->dtype, .buffer = ins->buffer, .offset = ins->offset};
    jx_slot to;

    outs[0] = jx_plan_output(p, eqn, 0);
    int lead = params->reps.count - ins->rank;
    if (lead < 0 || ins->rank + params->reps.count > JX_MAX_RANK ||
        outs->rank < params->reps.count)
        return jx_plan_fail(p, "reps do not fit the operand");
    for (int i = 0; i < outs->rank; i++) {
        bool old = i >= lead;
        from.shape[from.rank] =
            i < params->reps.count ? jx_plan_dim(p, params->reps.at[i]) : 1;
        from.strides[from.rank++] = 0;
        if (!old)
            continue;
        from.shape[from.rank] = ins->shape[i - lead];
        from.strides[from.rank++] = ins->strides[i - lead];
    }
    if (jx_slot_count(&from) != jx_slot_count(outs))
        return jx_plan_fail(p, "the result has another size");
    to = jx_plan_reshaped(p, outs, from.rank, from.shape);
    jx_plan_copy(p, &from, &to);
    return true;
}

/* No padding needs to be larger, and sums of such numbers do not overflow. */
#define LARGEST ((int64_t)1 << 60)

/* Fills with the value, then copies what remains of the operand into its
 * places. */
bool jx_plan_pad(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                 jx_slot *outs)
{
    const jx_p_pad *params = eqn->typed;
    jx_slot from = ins[0], value = ins[1], to;

    to = outs[0] = jx_plan_output(p, eqn, 0);
    if (params->padding_config.count != from.rank)
        return jx_plan_fail(p, "padding_config does not fit the operand");
    for (int i = 0; i < from.rank; i++) {
        const jx_dim *const *t = params->padding_config.at + 3 * i;
        int64_t low = jx_plan_dim(p, t[0]), step = jx_plan_dim(p, t[2]) + 1;
        if (step < 1 || step > LARGEST || low > LARGEST || low < -LARGEST)
            return jx_plan_fail(p, "the padding is negative or too large");
        /* Element k goes to low + k * step; keep those inside. */
        int64_t first = low >= 0 ? 0 : (-low + step - 1) / step;
        int64_t count = outs->shape[i] - low <= 0
                            ? 0
                            : (outs->shape[i] - low - 1) / step + 1;
        count = (count < from.shape[i] ? count : from.shape[i]) - first;
        count = count < 0 ? 0 : count;
        if (count) {
            from.offset += first * from.strides[i];
            to.offset += (low + first * step) * to.strides[i];
        }
        from.shape[i] = to.shape[i] = count;
        to.strides[i] = count > 1 ? to.strides[i] * step : 0;
    }
    if (jx_slot_count(&to) != jx_slot_count(outs)) {
        jx_slot all = outs[0];
        all.buffer = value.buffer;
        all.offset = value.offset;
        memset(all.strides, 0, sizeof all.strides);
        jx_plan_copy(p, &all, outs);
    }
    if (jx_slot_count(&to))
        jx_plan_copy(p, &from, &to);
    return true;
}
