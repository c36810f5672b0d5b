/* index_scatter.c - scatter and its kin.
 *
 * Updates are taken in row-major order of the indices, always: where two hit
 * one element, `scatter` keeps the last. */
#include "frontend/ir/computation.h"
#include "runtime/elementwise.h"
#include "runtime/kernels/index.h"
#include "runtime/kernels/move.h"
#include "runtime/kernels/shapes.h"
#include "runtime/plan_impl.h"
#include "runtime/plan_rules.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 128 };

/* How an element of the operand and one of the updates combine. */
typedef struct combine {
    jx_tile *tile;           /* NULL: replace, or a block */
    jx_tile *widen, *narrow; /* of small dtypes, or NULL */
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

static void combine_window(jx_run *run, const scatter *d, char *out,
                           const char *update)
{
    int64_t index[JX_MAX_RANK] = {0}, to = 0, from = 0, size;
    int last = d->nwindow - 1;

    size = (int64_t)d->with.size;
    if (!d->with.tile) {
        jx_copy_elements(run, d->nwindow, d->window, out, d->window_out, update,
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
    int64_t place[JX_MAX_RANK] = {0}, index = 0, update = 0, done = 0, offset;

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
            combine_window(run, d, to, from);
        else if (!combine_body(run, d, outs + 1, to, from))
            return false;
    } while (jx_advance2(d->nbatch, d->batch_shape, place, d->index_strides,
                         &index, d->batch_update, &update) &&
             jx_run_lasts_for(run, &done, 16));
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
        int axis = jx_scatter_window_axis(dims, i);
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

/* The operation by which operand and update combine; JX_PRIM_unknown: only the
 * body says. */
static jx_prim_id operation_of(const jx_eqn *eqn, const jx_closed *body)
{
    switch (eqn->prim->id) {
    case JX_PRIM_scatter_add: return JX_PRIM_add;
    case JX_PRIM_scatter_sub: return JX_PRIM_sub;
    case JX_PRIM_scatter_mul: return JX_PRIM_mul;
    case JX_PRIM_scatter_min: return JX_PRIM_min;
    case JX_PRIM_scatter_max: return JX_PRIM_max;
    default: break;
    }
    if (!body->jaxpr || body->jaxpr->neqns != 1)
        return JX_PRIM_unknown;
    switch (jx_body_monoid(body->jaxpr)) {
    case JX_PRIM_add: return JX_PRIM_add;
    case JX_PRIM_mul: return JX_PRIM_mul;
    case JX_PRIM_min: return JX_PRIM_min;
    case JX_PRIM_max: return JX_PRIM_max;
    case JX_PRIM_and: return JX_PRIM_and;
    case JX_PRIM_or: return JX_PRIM_or;
    case JX_PRIM_xor: return JX_PRIM_xor;
    default: return JX_PRIM_unknown;
    }
}

static bool choose(jx_planner *p, const jx_eqn *eqn, const jx_closed *update,
                   const jx_slot *out, combine *c, jx_slot *body)
{
    jx_prim_id op = operation_of(eqn, update);
    jx_dtype dtype = out->dtype, work = jx_compute_dtype(dtype);

    *c = (combine){.size = jx_dtype_of(dtype)->bytes, .block = -1};
    if (op == JX_PRIM_unknown) {
        if (replaces(update))
            return true;
        body[0] = body[1] = jx_plan_new(p, dtype, 0, NULL);
        body[1] = jx_plan_new(p, dtype, 0, NULL);
        if (update->jaxpr->nins != 2 || update->jaxpr->nouts != 1)
            return jx_plan_fail(p, "the body takes other operands");
        c->block = jx_plan_body(p, update, body, body + 2);
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

static bool plan_scatter(jx_planner *p, const jx_eqn *eqn,
                         const jx_p_scatter *params, const jx_slot *ins,
                         jx_slot *outs, jx_slot *all)
{
    scatter d = {.mode = params->mode};

    outs[0] = all[0] = jx_plan_output(p, eqn, 0);
    jx_slot out = outs[0], updates = ins[2];
    if (ins[1].rank < 1)
        return jx_plan_fail(p, "the indices have no axis");
    if (updates.dtype != out.dtype ||
        !(jx_dtype_is_integer(ins[1].dtype) || ins[1].dtype == JX_BOOL))
        return jx_plan_fail(p, "it does not take these dtypes");
    jx_plan_copy(p, ins, outs);
    if (!choose(p, eqn, &params->update_jaxpr, outs, &d.with, all + 1))
        return false;
    if (out.rank > jx_atom_aval(eqn->ins[0])->rank) {
        /* a key's words travel together, as one element */
        updates = jx_plan_dense(p, &updates);
        if (updates.rank < 1 ||
            updates.shape[updates.rank - 1] != out.shape[out.rank - 1])
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
                     d.with.block < 0 ? 0 : d.with.block, d.with.block >= 0);
    return true;
}

bool jx_plan_scatter(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                     jx_slot *outs)
{
    jx_slot *all = malloc(4 * sizeof *all);
    bool ok = all && plan_scatter(p, eqn, eqn->typed, ins, outs, all);

    free(all);
    return ok || jx_plan_starved(p);
}

/* ---- several arrays at once */

typedef struct together {
    int n, block;
    scatter each[]; /* they differ in the sizes of their elements */
} together;

/* Slots of the body: n elements, n updates, n results. */
static bool combine_together(jx_run *run, const together *d,
                             const jx_view *slots, char *const *to,
                             char *const *from)
{
    const scatter *first = &d->each[0];
    int64_t index[JX_MAX_RANK] = {0}, none = 0;
    const int64_t still[JX_MAX_RANK] = {0};

    do {
        for (int i = 0; i < d->n; i++) {
            const scatter *s = &d->each[i];
            int64_t at = 0, by = 0;
            for (int k = 0; k < s->nwindow; k++) {
                at += index[k] * s->window_out[k];
                by += index[k] * s->window_update[k];
            }
            memcpy(slots[i].data, to[i] + at, s->with.size);
            memcpy(slots[d->n + i].data, from[i] + by, s->with.size);
        }
        if (!jx_run_block(run, d->block))
            return false;
        for (int i = 0; i < d->n; i++) {
            int64_t at = 0;
            for (int k = 0; k < d->each[i].nwindow; k++)
                at += index[k] * d->each[i].window_out[k];
            memcpy(to[i] + at, slots[2 * d->n + i].data, d->each[i].with.size);
        }
    } while (jx_advance2(first->nwindow, first->window, index, still, &none,
                         still, &none));
    return true;
}

/* ins: indices, updates; outs: the operands' copies, the body's slots. */
static bool run_together(jx_run *run, const void *data, const jx_view *ins,
                         const jx_view *outs, void *scratch)
{
    const together *d = data;
    const scatter *first = &d->each[0];
    int64_t place[JX_MAX_RANK] = {0}, index = 0, none = 0, offset = 0;
    const int64_t still[JX_MAX_RANK] = {0};
    char **to = scratch, **from = to + d->n;

    if (ins[1].count == 0)
        return true;
    do {
        bool inside = true;
        for (int i = 0; i < d->n && inside; i++) {
            const scatter *s = &d->each[i];
            inside = scatter_offset(s, ins[0].dtype, ins[0].data + index, place,
                                    &offset);
            to[i] = outs[i].data + offset;
            from[i] = ins[1 + i].data;
            for (int k = 0; k < s->nbatch; k++)
                from[i] += place[k] * s->batch_update[k];
        }
        if (inside && !combine_together(run, d, outs + d->n, to, from))
            return false;
    } while (jx_advance2(first->nbatch, first->batch_shape, place,
                         first->index_strides, &index, still, &none));
    return true;
}

static bool plan_together(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                          jx_slot *outs, jx_slot *all)
{
    const jx_p_stablehlo_scatter *params = eqn->typed;
    int n = eqn->nouts;
    size_t size = sizeof(together) + (size_t)n * sizeof(scatter);
    together *d = jx_arena_alloc(p->arena, size);

    if (!d)
        return jx_plan_starved(p);
    d->n = n;
    if (ins[n].rank < 1 ||
        !(jx_dtype_is_integer(ins[n].dtype) || ins[n].dtype == JX_BOOL))
        return jx_plan_fail(p, "the indices are of another kind");
    for (int i = 0; i < n; i++) {
        const jx_slot *updates = &ins[n + 1 + i];
        outs[i] = all[i] = jx_plan_output(p, eqn, i);
        if (updates->dtype != outs[i].dtype ||
            !jx_same_shape(updates, &ins[n + 1]) ||
            !jx_same_shape(&outs[i], &outs[0]))
            return jx_plan_fail(p, "operand %d does not fit the others", i);
        jx_plan_copy(p, &ins[i], &outs[i]);
        all[n + i] = jx_plan_new(p, outs[i].dtype, 0, NULL);
        all[2 * n + i] = jx_plan_new(p, outs[i].dtype, 0, NULL);
        d->each[i].mode = JX_MODE_FILL_OR_DROP;
        d->each[i].with.size = jx_dtype_of(outs[i].dtype)->bytes;
        if (!scatter_axes(p, &params->dimension_numbers, &outs[i], &ins[n],
                          updates, &d->each[i]))
            return false;
    }
    d->block =
        jx_plan_body(p, &params->update_computation, all + n, all + 3 * n);
    for (int i = 0; i < n; i++)
        if (!jx_plan_same(p, &all[3 * n + i], &all[n + i]))
            return false;
    jx_plan_block_op(p, run_together, d, size, n + 1, ins + n, 4 * n, all,
                     2 * (size_t)n * sizeof(char *), d->block, 1);
    return true;
}

/* Updates that reach out of bounds are left out. */
bool jx_plan_stablehlo_scatter(jx_planner *p, const jx_eqn *eqn,
                               const jx_slot *ins, jx_slot *outs)
{
    const jx_p_stablehlo_scatter *params = eqn->typed;
    jx_p_scatter one = {.dimension_numbers = params->dimension_numbers,
                        .mode = JX_MODE_FILL_OR_DROP,
                        .update_jaxpr = params->update_computation};
    int n = eqn->nouts;

    if (n < 1 || eqn->nins != 2 * n + 1 ||
        one.update_jaxpr.jaxpr->nins != 2 * n ||
        one.update_jaxpr.jaxpr->nouts != n)
        return jx_plan_fail(p, "the computation takes other operands");
    jx_slot *all = malloc(4 * (size_t)n * sizeof *all);
    bool ok = all && (n == 1 ? plan_scatter(p, eqn, &one, ins, outs, all)
                             : plan_together(p, eqn, ins, outs, all));
    free(all);
    return ok || jx_plan_starved(p);
}
