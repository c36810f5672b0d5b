/* index.c - dynamic_slice, dynamic_update_slice and gather. */
#include "runtime/kernels/index.h"

#include "runtime/elementwise.h"
#include "runtime/kernels/move.h"
#include "runtime/plan_rules.h"

#include <math.h>
#include <string.h>

int64_t jx_read_index(jx_dtype dtype, const void *at)
{
    switch (dtype) {
    case JX_I8: return *(const int8_t *)at;
    case JX_I16: return *(const int16_t *)at;
    case JX_I32: return *(const int32_t *)at;
    case JX_I64: return *(const int64_t *)at;
    case JX_U16: return *(const uint16_t *)at;
    case JX_U32: return *(const uint32_t *)at;
    case JX_U64: {
        uint64_t value = *(const uint64_t *)at;
        return value > INT64_MAX ? INT64_MAX : (int64_t)value;
    }
    case JX_I4: return ((*(const uint8_t *)at & 15) ^ 8) - 8;
    case JX_I2: return ((*(const uint8_t *)at & 3) ^ 2) - 2;
    default: return *(const uint8_t *)at;
    }
}

bool jx_advance2(int n, const int64_t *shape, int64_t *index,
                 const int64_t *a_strides, int64_t *a, const int64_t *b_strides,
                 int64_t *b)
{
    for (int i = n - 1; i >= 0; i--) {
        *a += a_strides[i];
        *b += b_strides[i];
        if (++index[i] < shape[i])
            return true;
        *a -= shape[i] * a_strides[i];
        *b -= shape[i] * b_strides[i];
        index[i] = 0;
    }
    return false;
}

static int64_t clamp(int64_t x, int64_t high)
{
    return x > high ? high : x < 0 ? 0 : x;
}

/* Offset of a window of `part`'s shape in `whole`, starts clamped. */
static int64_t window_offset(const jx_view *whole, const int64_t *part,
                             const jx_view *starts)
{
    int64_t offset = 0;

    for (int i = 0; i < whole->rank; i++)
        offset += clamp(jx_read_index(starts[i].dtype, starts[i].data),
                        whole->shape[i] - part[i]) *
                  whole->strides[i];
    return offset;
}

static bool run_dynamic_slice(jx_run *run, const void *data, const jx_view *ins,
                              const jx_view *outs, void *scratch)
{
    (void)run;
    (void)data;
    (void)scratch;
    if (outs->count)
        jx_copy_elements(run, outs->rank, outs->shape, outs->data,
                         outs->strides,
                         ins->data + window_offset(ins, outs->shape, ins + 1),
                         ins->strides, jx_dtype_of(ins->dtype)->bytes);
    return true;
}

static bool scalars(jx_planner *p, int count, const jx_slot *starts)
{
    for (int i = 0; i < count; i++)
        if (starts[i].rank != 0 || !(jx_dtype_is_integer(starts[i].dtype) ||
                                     starts[i].dtype == JX_BOOL))
            return jx_plan_fail(p, "start %d is no integer", i);
    return true;
}

/* The starts, which come behind `before` operands, of all axes that the first
 * has in memory, to all[1] and on: the words that a key is made of are all
 * taken. */
static bool all_starts(jx_planner *p, const jx_eqn *eqn, int before,
                       const jx_slot *ins, jx_slot *all)
{
    int given = jx_atom_aval(eqn->ins[0])->rank;
    int32_t zero = 0;

    if (eqn->nins < before + given || given > ins->rank)
        return jx_plan_fail(p, "there is not one start for each axis");
    if (!scalars(p, given, ins + before))
        return false;
    for (int i = 0; i < ins->rank; i++)
        all[1 + i] = i < given ? ins[before + i]
                               : jx_plan_constant(p, JX_I32, 0, NULL, &zero);
    return true;
}

bool jx_plan_dynamic_slice(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                           jx_slot *outs)
{
    jx_slot all[1 + JX_MAX_RANK] = {*ins};
    int rank = ins->rank;

    outs[0] = jx_plan_output(p, eqn, 0);
    if (outs->rank != rank || outs->dtype != ins->dtype)
        return jx_plan_fail(p, "its result is of another kind");
    if (!all_starts(p, eqn, 1, ins, all))
        return false;
    for (int i = 0; i < rank; i++)
        if (outs->shape[i] > ins->shape[i])
            return jx_plan_fail(p, "axis %d is too short", i);
    jx_plan_op(p, run_dynamic_slice, NULL, 0, 1 + rank, all, 1, outs, 0);
    return true;
}

static bool run_dynamic_update(jx_run *run, const void *data,
                               const jx_view *ins, const jx_view *outs,
                               void *scratch)
{
    (void)run;
    (void)data;
    (void)scratch;
    if (ins->count)
        jx_copy_elements(run, ins->rank, ins->shape,
                         outs->data + window_offset(outs, ins->shape, ins + 1),
                         outs->strides, ins->data, ins->strides,
                         jx_dtype_of(ins->dtype)->bytes);
    return true;
}

bool jx_plan_dynamic_update_slice(jx_planner *p, const jx_eqn *eqn,
                                  const jx_slot *ins, jx_slot *outs)
{
    jx_slot all[1 + JX_MAX_RANK] = {ins[1]};
    int rank = ins->rank;

    outs[0] = jx_plan_output(p, eqn, 0);
    if (ins[1].rank != rank || ins[1].dtype != ins->dtype)
        return jx_plan_fail(p, "the update is of another kind");
    if (!all_starts(p, eqn, 2, ins, all))
        return false;
    for (int i = 0; i < rank; i++)
        if (ins[1].shape[i] > ins->shape[i])
            return jx_plan_fail(p, "axis %d is too short", i);
    jx_plan_copy(p, ins, outs);
    jx_plan_op(p, run_dynamic_update, NULL, 0, 1 + rank, all, 1, outs, 0);
    return true;
}

/* Gather: at each place of the indices, a window of the operand. */

typedef struct gather {
    jx_gather_mode mode;
    size_t size;
    unsigned char fill[16];
    int nbatch; /* axes of the indices but the last */
    int64_t batch_shape[JX_MAX_RANK], index_strides[JX_MAX_RANK];
    int64_t batch_out[JX_MAX_RANK]; /* strides in the result */
    int nindex;                     /* components of an index */
    int64_t index_step, limit[JX_MAX_RANK], step[JX_MAX_RANK];
    int npaired; /* operand axes that run along with a batch axis */
    int64_t paired_batch[JX_MAX_RANK], paired_step[JX_MAX_RANK];
    int nwindow;
    int64_t window[JX_MAX_RANK], window_in[JX_MAX_RANK];
    int64_t window_out[JX_MAX_RANK];
} gather;

/* The window's offset in the operand; false if it does not lie inside. */
static bool gather_offset(const gather *d, jx_dtype dtype, const char *index,
                          const int64_t *place, int64_t *offset)
{
    bool inside = true;

    *offset = 0;
    for (int i = 0; i < d->nindex; i++) {
        int64_t at = jx_read_index(dtype, index + i * d->index_step);
        inside &= at >= 0 && at <= d->limit[i];
        *offset += clamp(at, d->limit[i]) * d->step[i];
    }
    for (int i = 0; i < d->npaired; i++)
        *offset += place[d->paired_batch[i]] * d->paired_step[i];
    return inside || d->mode != JX_MODE_FILL_OR_DROP;
}

static const int64_t no_strides[JX_MAX_RANK];

static bool run_gather(jx_run *run, const void *data, const jx_view *ins,
                       const jx_view *outs, void *scratch)
{
    const gather *d = data;
    int64_t place[JX_MAX_RANK] = {0}, index = 0, out = 0, done = 0, offset;

    (void)scratch;
    if (outs->count == 0)
        return true;
    do {
        bool ok =
            gather_offset(d, ins[1].dtype, ins[1].data + index, place, &offset);
        const char *from = ok ? ins->data + offset : (const char *)d->fill;
        if (d->nwindow == 0)
            memcpy(outs->data + out, from, d->size);
        else if (d->nwindow == 1 && ok && d->window_in[0] == (int64_t)d->size &&
                 d->window_out[0] == (int64_t)d->size)
            memcpy(outs->data + out, from, (size_t)d->window[0] * d->size);
        else
            jx_copy_elements(run, d->nwindow, d->window, outs->data + out,
                             d->window_out, from,
                             ok ? d->window_in : no_strides, d->size);
    } while (jx_advance2(d->nbatch, d->batch_shape, place, d->index_strides,
                         &index, d->batch_out, &out) &&
             jx_run_lasts_for(run, &done, 16));
    return true;
}

/* What an index out of range gives: NaN, the least or the largest number. */
static void fill_value(const jx_p_gather *params, jx_dtype dtype,
                       unsigned char *to)
{
    const jx_value *given = params->fill_value;
    const jx_dtype_info *info = jx_dtype_of(dtype);
    double real = (double)NAN;
    int64_t integer = 1;

    if (given && given->tag == JX_V_FLOAT) {
        real = given->real;
        jx_convert(JX_F64, dtype, &real, to, 1);
    } else if (given && (given->tag == JX_V_INT || given->tag == JX_V_BOOL)) {
        integer = given->tag == JX_V_INT ? given->integer : given->boolean;
        jx_convert(JX_I64, dtype, &integer, to, 1);
    } else if (jx_dtype_is_inexact(dtype)) {
        jx_convert(JX_F64, dtype, &real, to, 1);
    } else {
        if (info->kind == JX_KIND_INT)
            integer = INT64_MIN >> (64 - info->bits);
        else if (info->kind == JX_KIND_UINT)
            integer = -1;
        jx_convert(JX_I64, dtype, &integer, to, 1);
    }
}

static bool among(jx_ints set, int64_t axis)
{
    for (int i = 0; i < set.count; i++)
        if (set.at[i] == axis)
            return true;
    return false;
}

static bool gather_axes(jx_planner *p, const jx_p_gather *params,
                        const jx_slot *in, const jx_slot *indices,
                        const jx_slot *out, gather *d)
{
    const jx_gather_dims *dims = &params->dimension_numbers;
    int batch = 0, window = 0;
    int64_t sizes[JX_MAX_RANK];

    for (int i = 0; i < in->rank; i++) {
        sizes[i] = i < params->slice_sizes.count
                       ? jx_plan_dim(p, params->slice_sizes.at[i])
                       : in->shape[i];
        if (sizes[i] < 0 || sizes[i] > in->shape[i])
            return jx_plan_fail(p, "axis %d is too short for the slice", i);
        if (among(dims->collapsed_slice_dims, i) ||
            among(dims->operand_batching_dims, i))
            continue;
        if (window >= dims->offset_dims.count)
            return jx_plan_fail(p, "offset_dims do not fit the operand");
        int64_t to = dims->offset_dims.at[window];
        if (to < 0 || to >= out->rank || out->shape[to] != sizes[i])
            return jx_plan_fail(p, "offset_dims do not fit the result");
        d->window[window] = sizes[i];
        d->window_in[window] = in->strides[i];
        d->window_out[window++] = out->strides[to];
    }
    d->nwindow = window;
    for (int i = 0; i < out->rank; i++) {
        if (among(dims->offset_dims, i))
            continue;
        if (batch >= indices->rank - 1 ||
            indices->shape[batch] != out->shape[i])
            return jx_plan_fail(p, "the indices do not fit the result");
        d->batch_shape[batch] = indices->shape[batch];
        d->index_strides[batch] = indices->strides[batch];
        d->batch_out[batch++] = out->strides[i];
    }
    if (batch != indices->rank - 1)
        return jx_plan_fail(p, "the indices do not fit the result");
    d->nbatch = batch;
    d->nindex = dims->start_index_map.count;
    d->index_step = indices->strides[indices->rank - 1];
    if (indices->shape[indices->rank - 1] != d->nindex)
        return jx_plan_fail(p, "the indices do not fit start_index_map");
    for (int i = 0; i < d->nindex; i++) {
        int64_t axis = dims->start_index_map.at[i];
        if (axis < 0 || axis >= in->rank)
            return jx_plan_fail(p, "start_index_map does not fit");
        d->limit[i] = in->shape[axis] - sizes[axis];
        d->step[i] = in->strides[axis];
    }
    d->npaired = dims->operand_batching_dims.count;
    for (int i = 0; i < d->npaired; i++) {
        int64_t axis = dims->operand_batching_dims.at[i];
        int64_t with = i < dims->start_indices_batching_dims.count
                           ? dims->start_indices_batching_dims.at[i]
                           : -1;
        if (axis < 0 || axis >= in->rank || with < 0 || with >= batch ||
            indices->shape[with] > in->shape[axis])
            return jx_plan_fail(p, "the batching axes do not fit");
        d->paired_batch[i] = with;
        d->paired_step[i] = in->strides[axis];
    }
    return true;
}

bool jx_plan_gather(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                    jx_slot *outs)
{
    const jx_p_gather *params = eqn->typed;
    gather d = {.mode = params->mode, .size = jx_dtype_of(ins->dtype)->bytes};

    outs[0] = jx_plan_output(p, eqn, 0);
    jx_slot in = ins[0], out = outs[0];
    int extra = in.rank - jx_atom_aval(eqn->ins[0])->rank;
    if (ins[1].rank < 1)
        return jx_plan_fail(p, "the indices have no axis");
    if (out.dtype != in.dtype ||
        !(jx_dtype_is_integer(ins[1].dtype) || ins[1].dtype == JX_BOOL))
        return jx_plan_fail(p, "it does not take these dtypes");
    if (extra) { /* a key's words travel together, as one element */
        in.rank--;
        out.rank--;
        d.size *= (size_t)in.shape[in.rank];
        if (out.rank < 0 || out.shape[out.rank] != in.shape[in.rank] ||
            in.strides[in.rank] != 4)
            return jx_plan_fail(p, "keys are not contiguous");
    }
    fill_value(params, in.dtype, d.fill);
    if (!gather_axes(p, params, &in, &ins[1], &out, &d))
        return false;
    jx_plan_op(p, run_gather, &d, sizeof d, 2, ins, 1, outs, 0);
    return true;
}
