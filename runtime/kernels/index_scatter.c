/* index_scatter.c - scatter and its kin.
 *
 * Updates are taken in row-major order of the indices, always: where two hit one
 * element, `scatter` keeps the last. */
#include "runtime/elementwise.h"
#include "runtime/kernels/index.h"
#include "runtime/kernels/move.h"
#include "runtime/plan_impl.h"
#include "runtime/rules.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 128 };

/* How an element of the operand and one of the updates combine. */
typedef struct combine {
    jx_tile *tile;             /* NULL: replace, or a block */
    jx_tile *widen, *narrow;   /* of small dtypes, or NULL */
    size_t size;
    int block; /* of a general body, or -1 */
} combine;

typedef struct scatter {
    jx_gather_mode mode;
    combine with;
    int nbatch;
    int64_t batch_shape[JX_MAX_RANK], index_strides[JX_MAX_RANK];
    int64_t batch_update[JX_MAX_RANK];
    int nindex;
    int64_t index_step, limit[JX_MAX_RANK], step[JX_MAX_RANK];
    int npaired;
    int64_t paired_batch[JX_MAX_RANK], paired_step[JX_MAX_RANK];
    int nwindow;
    int64_t window[JX_MAX_RANK], window_out[JX_MAX_RANK];
    int64_t window_update[JX_MAX_RANK];
} scatter;

/* n neighbours. */
static void combine_run(const combine *c, char *out, const char *update,
                        int64_t n)
{
    if (!c->widen) {
        const void *ins[] = {out, update};
        c->tile(out, ins, n, NULL);
        return;
    }
    for (int64_t i = 0; i < n; i += CHUNK) {
        int64_t count = n - i < CHUNK ? n - i : CHUNK;
        uint64_t a[CHUNK], b[CHUNK];
        const void *at = out + i * (int64_t)c->size;
        c->widen(a, &at, count, NULL);
        at = update + i * (int64_t)c->size;
        c->widen(b, &at, count, NULL);
        const void *ins[] = {a, b};
        c->tile(a, ins, count, NULL);
        at = a;
        c->narrow(out + i * (int64_t)c->size, &at, count, NULL);
    }
}

static void combine_window(const scatter *d, char *out, const char *update)
{
    int64_t index[JX_MAX_RANK] = {0}, to = 0, from = 0, size;
    int last = d->nwindow - 1;

    size = (int64_t)d->with.size;
    if (!d->with.tile) {
        jx_copy_elements(d->nwindow, d->window, out, d->window_out, update,
                         d->window_update, d->with.size);
        return;
    }
    if (last < 0) {
        combine_run(&d->with, out, update, 1);
        return;
    }
    bool row = d->window_out[last] == size && d->window_update[last] == size;
    do
        combine_run(&d->with, out + to, update + from,
                    row ? d->window[last] : 1);
    while (jx_advance2(row ? last : last + 1, d->window, index, d->window_out,
                       &to, d->window_update, &from));
}

/* Slots of the body: operand's element, update's element, result. */
static bool combine_body(jx_run *run, const scatter *d, const jx_view *slots,
                         char *out, const char *update)
{
    int64_t index[JX_MAX_RANK] = {0}, to = 0, from = 0;
    size_t size = d->with.size;

    do {
        memcpy(slots[0].data, out + to, size);
        memcpy(slots[1].data, update + from, size);
        if (!jx_run_block(run, d->with.block))
            return false;
        memcpy(out + to, slots[2].data, size);
    } while (jx_advance2(d->nwindow, d->window, index, d->window_out, &to,
                         d->window_update, &from));
    return true;
}

/* The window's offset; false when it is to be dropped. */
static bool scatter_offset(const scatter *d, jx_dtype dtype, const char *index,
                           const int64_t *place, int64_t *offset)
{
    *offset = 0;
    for (int i = 0; i < d->nindex; i++) {
        int64_t at = jx_read_index(dtype, index + i * d->index_step);
        if (d->mode == JX_MODE_CLIP)
            at = at > d->limit[i] ? d->limit[i] : at < 0 ? 0 : at;
        else if (at < 0 || at > d->limit[i])
            return false;
        *offset += at * d->step[i];
    }
    for (int i = 0; i < d->npaired; i++)
        *offset += place[d->paired_batch[i]] * d->paired_step[i];
    return true;
}

/* ins: indices, updates; outs: the operand's copy, the body's slots. */
static bool run_scatter(jx_run *run, const void *data, const jx_view *ins,
                        const jx_view *outs, void *scratch)
{
    const scatter *d = data;
    int64_t place[JX_MAX_RANK] = {0}, index = 0, update = 0, offset;

    (void)scratch;
    if (ins[1].count == 0)
        return true;
    do {
        if (!scatter_offset(d, ins[0].dtype, ins[0].data + index, place,
                            &offset))
            continue;
        char *to = outs->data + offset;
        const char *from = ins[1].data + update;
        if (d->with.block < 0)
            combine_window(d, to, from);
        else if (!combine_body(run, d, outs + 1, to, from))
            return false;
    } while (jx_advance2(d->nbatch, d->batch_shape, place, d->index_strides,
                         &index, d->batch_update, &update));
    return true;
}

static bool among(jx_ints set, int64_t axis)
{
    for (int i = 0; i < set.count; i++)
        if (set.at[i] == axis)
            return true;
    return false;
}

static bool scatter_axes(jx_planner *p, const jx_scatter_dims *dims,
                         const jx_slot *out, const jx_slot *indices,
                         const jx_slot *updates, scatter *d)
{
    int64_t sizes[JX_MAX_RANK];
    int window = 0, batch = 0;

    for (int i = 0; i < out->rank; i++) {
        sizes[i] = 1;
        if (among(dims->inserted_window_dims, i) ||
            among(dims->operand_batching_dims, i))
            continue;
        int64_t axis = window < dims->update_window_dims.count
                           ? dims->update_window_dims.at[window]
                           : -1;
        if (axis < 0 || axis >= updates->rank ||
            updates->shape[axis] > out->shape[i])
            return jx_plan_fail(p, "update_window_dims do not fit");
        sizes[i] = d->window[window] = updates->shape[axis];
        d->window_update[window] = updates->strides[axis];
        d->window_out[window++] = out->strides[i];
    }
    d->nwindow = window;
    for (int i = 0; i < updates->rank; i++) {
        if (among(dims->update_window_dims, i))
            continue;
        if (batch >= indices->rank - 1 ||
            indices->shape[batch] != updates->shape[i])
            return jx_plan_fail(p, "the indices do not fit the updates");
        d->batch_shape[batch] = updates->shape[i];
        d->index_strides[batch] = indices->strides[batch];
        d->batch_update[batch++] = updates->strides[i];
    }
    d->nbatch = batch;
    d->nindex = dims->scatter_dims_to_operand_dims.count;
    d->index_step = indices->strides[indices->rank - 1];
    if (batch != indices->rank - 1 ||
        indices->shape[indices->rank - 1] != d->nindex)
        return jx_plan_fail(p, "the indices do not fit");
    for (int i = 0; i < d->nindex; i++) {
        int64_t axis = dims->scatter_dims_to_operand_dims.at[i];
        if (axis < 0 || axis >= out->rank)
            return jx_plan_fail(p, "scatter_dims_to_operand_dims do not fit");
        d->limit[i] = out->shape[axis] - sizes[axis];
        d->step[i] = out->strides[axis];
    }
    d->npaired = dims->operand_batching_dims.count;
    for (int i = 0; i < d->npaired; i++) {
        int64_t axis = dims->operand_batching_dims.at[i];
        int64_t with = i < dims->scatter_indices_batching_dims.count
                           ? dims->scatter_indices_batching_dims.at[i]
                           : -1;
        if (axis < 0 || axis >= out->rank || with < 0 || with >= batch ||
            indices->shape[with] > out->shape[axis])
            return jx_plan_fail(p, "the batching axes do not fit");
        d->paired_batch[i] = with;
        d->paired_step[i] = out->strides[axis];
    }
    return true;
}

/* The body returns its second operand, the update. */
static bool replaces(const jx_closed *body)
{
    const jx_jaxpr *j = body->jaxpr;

    return !j || (j->nouts == 1 && j->neqns == 0 && j->nins == 2 &&
                  j->outs[0].var == j->vars[j->nconsts + 1]);
}

static bool choose(jx_planner *p, const jx_eqn *eqn, const jx_slot *out,
                   combine *c, jx_slot *body)
{
    const jx_p_scatter *params = eqn->typed;
    jx_prim_id op = JX_PRIM_unknown;
    jx_dtype dtype = out->dtype, work = jx_compute_dtype(dtype);

    *c = (combine){.size = jx_dtype_of(dtype)->bytes, .block = -1};
    switch (eqn->prim->id) {
    case JX_PRIM_scatter_add:
        op = JX_PRIM_add;
        break;
    case JX_PRIM_scatter_sub:
        op = JX_PRIM_sub;
        break;
    case JX_PRIM_scatter_mul:
        op = JX_PRIM_mul;
        break;
    case JX_PRIM_scatter_min:
        op = JX_PRIM_min;
        break;
    case JX_PRIM_scatter_max:
        op = JX_PRIM_max;
        break;
    default:
        if (replaces(&params->update_jaxpr))
            return true;
        body[0] = body[1] = jx_plan_new(p, dtype, 0, NULL);
        body[1] = jx_plan_new(p, dtype, 0, NULL);
        if (params->update_jaxpr.jaxpr->nins != 2 ||
            params->update_jaxpr.jaxpr->nouts != 1)
            return jx_plan_fail(p, "the body takes other operands");
        c->block = jx_plan_body(p, &params->update_jaxpr, body, body + 2);
        return jx_plan_same(p, &body[2], &body[0]);
    }
    c->tile = jx_tile_of(op, work);
    if (work != dtype) {
        c->widen = jx_tile_convert(dtype, work);
        c->narrow = jx_tile_convert(work, dtype);
    }
    if (!c->tile || (work != dtype && (!c->widen || !c->narrow)))
        return jx_plan_fail(p, "it does not take %s",
                            jx_dtype_of(dtype)->short_name);
    return true;
}

static bool plan_scatter(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                         jx_slot *outs, jx_slot *all)
{
    const jx_p_scatter *params = eqn->typed;
    scatter d = {.mode = params->mode};

    outs[0] = all[0] = jx_plan_output(p, eqn, 0);
    jx_slot out = outs[0], updates = ins[2];
    if (ins[1].rank < 1)
        return jx_plan_fail(p, "the indices have no axis");
    if (updates.dtype != out.dtype || !(jx_dtype_is_integer(ins[1].dtype) ||
                                        ins[1].dtype == JX_BOOL))
        return jx_plan_fail(p, "it does not take these dtypes");
    jx_plan_copy(p, ins, outs);
    if (!choose(p, eqn, outs, &d.with, all + 1))
        return false;
    if (out.rank > jx_atom_aval(eqn->ins[0])->rank) {
        /* a key's words travel together, as one element */
        updates = jx_plan_dense(p, &updates);
        if (updates.rank < 1 || updates.shape[updates.rank - 1] !=
                                    out.shape[out.rank - 1])
            return jx_plan_fail(p, "the updates are of another kind of key");
        d.with.size *= (size_t)out.shape[--out.rank];
        updates.rank--;
    }
    if (!scatter_axes(p, &params->dimension_numbers, &out, &ins[1], &updates,
                      &d))
        return false;
    jx_slot args[2] = {ins[1], updates};
    jx_plan_block_op(p, run_scatter, &d, sizeof d, 2, args,
                     d.with.block < 0 ? 1 : 4, all, 0,
                     d.with.block < 0 ? 0 : d.with.block,
                     d.with.block >= 0);
    return true;
}

bool jx_plan_scatter(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                     jx_slot *outs)
{
    jx_slot *all = malloc(4 * sizeof *all);
    bool ok = all && plan_scatter(p, eqn, ins, outs, all);

    free(all);
    return ok || jx_plan_fail(p, "there is no memory");
}
