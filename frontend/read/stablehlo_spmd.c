/* stablehlo_spmd.c - what many devices run, as modules said it before they had
 * sdy.manual_computation:
 *
 *     %1 = custom_call @Sharding(%0) {mhlo.sharding = "{devices=[4,1]<=[4]}"}
 *     %2 = custom_call @SPMDFullToShardShape(%1) {mhlo.sharding = "{manual}"}
 *     %3 = call @shmap_body(%2)
 *     %4 = custom_call @Sharding(%3) {mhlo.sharding = "{manual}"}
 *     %5 = custom_call @SPMDShardToFullShape(%4) {mhlo.sharding = "{devices=[4,1]<=[4]}"}
 *
 * Such a call is read as the manual computation of it, on a mesh that is made up: its axes
 * are digits of the devices' numbers, of which each sharding says which part a device has.
 * What has another form stays as it is, calls that nobody runs. */
#include "frontend/read/meshes.h"
#include "frontend/read/stablehlo_parts.h"

#include <string.h>

enum { MOST_DEVICES = 1024, MOST_DIGITS = 10 };

/* ---- who uses what */

static bool calls(const jx_mlir_op *op, const char *target)
{
    const jx_mlir_attr *name =
        op->id == JX_OP_stablehlo_custom_call && op->nins == 1 && op->nouts == 1
            ? jx_mlir_get(op, "call_target_name")
            : NULL;

    return name && name->kind == JX_A_STRING && name->size == strlen(target) &&
           !memcmp(name->bytes, target, name->size);
}

static bool says(const jx_mlir_op *op, const char *sharding)
{
    const jx_mlir_attr *said = jx_mlir_get(op, "mhlo.sharding");

    return said && said->kind == JX_A_STRING &&
           said->size == strlen(sharding) &&
           !memcmp(said->bytes, sharding, said->size);
}

/* How often a value is used in a block and in what its ops hold; the last op of the block
 * itself that does goes to *by. */
static int count_uses(const jx_mlir_block *block, const jx_mlir_value *value,
                      const jx_mlir_op **by)
{
    const jx_mlir_op *inside;
    int count = 0;

    for (int i = 0; i < block->nops; i++) {
        const jx_mlir_op *op = block->ops[i];
        for (int k = 0; k < op->nins; k++)
            if (op->ins[k] == value) {
                *by = op;
                count++;
            }
        for (int r = 0; r < op->nregions; r++)
            for (int k = 0; k < op->regions[r].nblocks; k++)
                count +=
                    2 * count_uses(op->regions[r].blocks[k], value, &inside);
    }
    return count;
}

static const jx_mlir_op *only_user(const jx_mlir_block *block,
                                   const jx_mlir_value *value)
{
    const jx_mlir_op *by = NULL;

    return count_uses(block, value, &by) == 1 ? by : NULL;
}

/* Out of the manual region, from a result of the call; NULL: it does not lead there. */
static const jx_mlir_op *way_out(const jx_mlir_block *block,
                                 const jx_mlir_value *result)
{
    const jx_mlir_op *by = only_user(block, result);

    if (by && calls(by, "Sharding") && says(by, "{manual}"))
        by = only_user(block, by->outs[0]);
    return by && calls(by, "SPMDShardToFullShape") ? by : NULL;
}

static bool is_computation(const jx_mlir_block *block, const jx_mlir_op *call)
{
    if (call->id != JX_OP_func_call || !call->nins)
        return false;
    for (int i = 0; i < call->nins; i++) {
        const jx_mlir_op *in = call->ins[i]->op;
        if (!in || !calls(in, "SPMDFullToShardShape") ||
            !says(in, "{manual}") || only_user(block, call->ins[i]) != call ||
            !in->ins[0]->op || !calls(in->ins[0]->op, "Sharding"))
            return false;
    }
    for (int i = 0; i < call->nouts; i++)
        if (!way_out(block, call->outs[i]))
            return false;
    return true;
}

/* The call to which an op belongs that only says where it begins or ends. */
static const jx_mlir_op *computation_of(const jx_mlir_block *block,
                                        const jx_mlir_op *op)
{
    const jx_mlir_op *call = NULL;

    if (calls(op, "SPMDFullToShardShape"))
        call = only_user(block, op->outs[0]);
    else if (calls(op, "SPMDShardToFullShape") ||
             (calls(op, "Sharding") && says(op, "{manual}")))
        call = op->ins[0]->op;
    if (call && calls(call, "Sharding") && says(call, "{manual}"))
        call = call->ins[0]->op;
    return call && is_computation(block, call) ? call : NULL;
}

/* ---- a mesh of digits */

typedef struct digits {
    jx_hlo_body *b;
    int devices, count;
    int64_t sizes[MOST_DIGITS], strides[MOST_DIGITS]; /* the last is fastest */
    const jx_mlir_attr *names[MOST_DIGITS], *mesh;
} digits;

/* Which digits, in order, say which part of an axis a device has; -1: none do. */
static int order_of(const digits *g, const jx_placement *how, int axis,
                    int *order)
{
    int64_t weights[MOST_DIGITS];
    int n = 0;

    for (int j = 0; j < g->count; j++) {
        weights[j] = how->place[g->strides[j] * how->rank + axis];
        int at = weights[j] ? n++ : -1;
        for (; at > 0 && weights[order[at - 1]] < weights[j]; at--)
            order[at] = order[at - 1];
        if (at >= 0)
            order[at] = j;
    }
    int64_t parts = 1;
    for (int i = n; i-- > 0; parts *= g->sizes[order[i]])
        if (weights[order[i]] != parts)
            return -1;
    for (int d = 0; d < g->devices; d++) {
        int64_t place = 0;
        for (int i = 0; i < n; i++)
            place += d / g->strides[order[i]] % g->sizes[order[i]] *
                     weights[order[i]];
        if (place != how->place[d * how->rank + axis])
            return -1;
    }
    return parts == how->parts[axis] ? n : -1;
}

static const jx_mlir_attr *array_of(jx_hlo_body *b, int count,
                                    const jx_mlir_attr *const *items)
{
    jx_mlir_attr *made = JX_NEW(b->s->ctx->arena, jx_mlir_attr);
    const jx_mlir_attr **kept =
        jx_arena_copy(b->s->ctx->arena, items, (size_t)count * sizeof *kept);

    if (!made || !kept)
        return NULL;
    *made = (jx_mlir_attr){.kind = JX_A_ARRAY, .count = count, .items = kept};
    return made;
}

static const jx_mlir_attr *record_of(jx_hlo_body *b, const char *name,
                                     int count, const char *const *names,
                                     const jx_mlir_attr *const *items)
{
    jx_mlir_attr *made = JX_NEW(b->s->ctx->arena, jx_mlir_attr);
    const jx_mlir_attr **kept =
        jx_arena_copy(b->s->ctx->arena, items, (size_t)count * sizeof *kept);

    if (!made || !kept)
        return NULL;
    *made = (jx_mlir_attr){.kind = JX_A_RECORD,
                           .name = name,
                           .count = count,
                           .names = names,
                           .items = kept};
    return made;
}

static const jx_mlir_attr *text_of(jx_hlo_body *b, const char *text)
{
    jx_mlir_attr *made = text ? JX_NEW(b->s->ctx->arena, jx_mlir_attr) : NULL;

    if (made)
        *made = (jx_mlir_attr){
            .kind = JX_A_STRING, .bytes = text, .size = strlen(text)};
    return made;
}

static const jx_mlir_attr *int_of(jx_hlo_body *b, int64_t value)
{
    jx_mlir_attr *made = JX_NEW(b->s->ctx->arena, jx_mlir_attr);

    if (made)
        *made = (jx_mlir_attr){.kind = JX_A_INTEGER, .integer = value};
    return made;
}

static bool make_mesh(digits *g)
{
    static const char *const fields[] = {"name", "size"}, *const axes[] = {
                                                              "axes"};
    const jx_mlir_attr *items[MOST_DIGITS], *all;

    for (int j = 0; j < g->count; j++) {
        const jx_mlir_attr *axis[2] = {
            text_of(g->b, jx_arena_printf(g->b->s->ctx->arena, "digit%d", j)),
            int_of(g->b, g->sizes[j])};
        g->names[j] = axis[0];
        items[j] = axis[0] && axis[1]
                       ? record_of(g->b, "sdy.mesh_axis", 2, fields, axis)
                       : NULL;
        if (!items[j])
            return false;
    }
    all = array_of(g->b, g->count, items);
    g->mesh = all ? record_of(g->b, "sdy.mesh", 1, axes, &all) : NULL;
    return g->mesh != NULL;
}

static const jx_mlir_attr *sharding_of(const digits *g, const jx_placement *how)
{
    static const char *const inner[] = {"axes"};
    static const char *const fields[] = {"mesh_or_ref", "dim_shardings"};
    const jx_mlir_attr *dims[JX_HLO_RANK + 1], *by[MOST_DIGITS], *both[2];
    int order[MOST_DIGITS];

    for (int k = 0; k < how->rank; k++) {
        int n = order_of(g, how, k, order);
        for (int i = 0; i < n; i++)
            by[i] = g->names[order[i]];
        const jx_mlir_attr *axes = array_of(g->b, n, by);
        dims[k] =
            axes ? record_of(g->b, "sdy.dimension_sharding", 1, inner, &axes)
                 : NULL;
        if (!dims[k])
            return NULL;
    }
    both[0] = g->mesh;
    both[1] = array_of(g->b, how->rank, dims);
    return both[1] ? record_of(g->b, "sdy.sharding", 2, fields, both) : NULL;
}

/* Digits of the devices' numbers by which all arrays are cut, tried with prime factors in each
 * order; false: there are none. */
static bool fits_all(const digits *g, int count, const jx_placement *all)
{
    int order[MOST_DIGITS];

    for (int i = 0; i < count; i++)
        for (int k = 0; k < all[i].rank; k++)
            if (order_of(g, &all[i], k, order) < 0)
                return false;
    return true;
}

static bool find_digits(digits *g, int64_t left, int count,
                        const jx_placement *all)
{
    if (left == 1) {
        int64_t stride = 1;
        for (int j = g->count; j-- > 0; stride *= g->sizes[j])
            g->strides[j] = stride;
        return fits_all(g, count, all);
    }
    for (int64_t prime = 2; prime <= left && g->count < MOST_DIGITS; prime++) {
        bool is_prime = left % prime == 0;
        for (int64_t k = 2; is_prime && k * k <= prime; k++)
            is_prime = prime % k != 0;
        if (!is_prime)
            continue;
        g->sizes[g->count++] = prime;
        if (find_digits(g, left / prime, count, all))
            return true;
        g->count--;
    }
    return false;
}

/* ---- the computation */

typedef struct made_op {
    jx_mlir_op manual, call, last;
    jx_mlir_region region;
    jx_mlir_block block;
    const jx_mlir_block *blocks[1];
    const jx_mlir_op *ops[2];
    jx_mlir_named attrs[3];
} made_op;

static bool place(jx_hlo_body *b, const jx_mlir_op *says,
                  const jx_mlir_type *type, int devices, jx_placement *to)
{
    const jx_mlir_attr *said = jx_mlir_get(says, "mhlo.sharding");
    const char *why;

    return said && type->kind == JX_T_TENSOR && type->rank >= 0 &&
           type->rank <= JX_HLO_RANK &&
           jx_mesh_place(b->s->ctx, b->s->module, said, type->rank, devices, to,
                         &why) &&
           !to->is_summed;
}

/* The shardings of operands and results; false: they are of no mesh. */
static bool shardings(jx_hlo_body *b, const jx_mlir_block *block,
                      const jx_mlir_op *call, const jx_mlir_attr **ins,
                      const jx_mlir_attr **outs, const jx_mlir_attr **axes)
{
    int n = call->nins, count = n + call->nouts;
    jx_placement *all = JX_NEW_ARRAY(b->s->ctx->arena, count + 1, jx_placement);
    const jx_mlir_attr *devices =
        jx_mlir_get(b->s->module, "mhlo.num_partitions");
    digits g = {.b = b};

    if (!all || !devices || devices->kind != JX_A_INTEGER ||
        devices->integer < 1 || devices->integer > MOST_DEVICES)
        return false;
    g.devices = (int)devices->integer;
    for (int i = 0; i < count; i++) {
        const jx_mlir_op *out =
            i < n ? NULL : way_out(block, call->outs[i - n]);
        const jx_mlir_op *in = i < n ? call->ins[i]->op : NULL;
        if (!place(b, out ? out : in->ins[0]->op,
                   out ? out->outs[0]->type : in->ins[0]->type, g.devices,
                   &all[i]))
            return false;
    }
    if (!find_digits(&g, g.devices, count, all) || !make_mesh(&g))
        return false;
    for (int i = 0; i < count; i++) {
        const jx_mlir_attr **to = i < n ? &ins[i] : &outs[i - n];
        if (!(*to = sharding_of(&g, &all[i])))
            return false;
    }
    *axes = array_of(b, g.count, g.names);
    return *axes != NULL;
}

/* The call, with operands and results of its own. */
static bool put_call(jx_hlo_body *b, made_op *to, const jx_mlir_op *call)
{
    jx_arena *arena = b->s->ctx->arena;
    int n = call->nins, m = call->nouts;
    jx_mlir_value *values = JX_NEW_ARRAY(arena, n + m + 1, jx_mlir_value);
    const jx_mlir_value **at =
        JX_NEW_ARRAY(arena, n + m + 1, const jx_mlir_value *);

    if (!values || !at)
        return false;
    for (int i = 0; i < n + m; i++) {
        values[i] = (jx_mlir_value){
            .type = (i < n ? call->ins[i] : call->outs[i - n])->type,
            .op = i < n ? NULL : &to->call,
            .block = i < n ? &to->block : NULL,
            .index = i < n ? i : i - n};
        at[i] = &values[i];
    }
    to->call = *call;
    to->call.ins = at;
    to->call.outs = at + n;
    to->last = (jx_mlir_op){.id = JX_OP_sdy_return,
                            .name = "sdy.return",
                            .nins = m,
                            .ins = at + n,
                            .loc = call->loc,
                            .place = call->place};
    to->ops[0] = &to->call;
    to->ops[1] = &to->last;
    to->block = (jx_mlir_block){n, 2, at, to->ops};
    to->blocks[0] = &to->block;
    to->region = (jx_mlir_region){1, to->blocks};
    return true;
}

static const jx_mlir_op *computation(jx_hlo_body *b, const jx_mlir_block *block,
                                     const jx_mlir_op *call)
{
    jx_arena *arena = b->s->ctx->arena;
    int n = call->nins, m = call->nouts;
    made_op *to = JX_NEW(arena, made_op);
    const jx_mlir_attr **how =
                           JX_NEW_ARRAY(arena, n + m + 1, const jx_mlir_attr *),
                       *axes;
    const jx_mlir_value **at =
        JX_NEW_ARRAY(arena, n + m + 1, const jx_mlir_value *);

    if (!to || !how || !at || !shardings(b, block, call, how, how + n, &axes) ||
        !put_call(b, to, call))
        return NULL;
    for (int i = 0; i < n; i++)
        at[i] = call->ins[i]->op->ins[0];
    for (int i = 0; i < m; i++)
        at[n + i] = way_out(block, call->outs[i])->outs[0];
    to->attrs[0] = (jx_mlir_named){"in_shardings", array_of(b, n, how)};
    to->attrs[1] = (jx_mlir_named){"manual_axes", axes};
    to->attrs[2] = (jx_mlir_named){"out_shardings", array_of(b, m, how + n)};
    to->manual = (jx_mlir_op){.id = JX_OP_sdy_manual_computation,
                              .name = "sdy.manual_computation",
                              .nins = n,
                              .nouts = m,
                              .ninherent = 3,
                              .nregions = 1,
                              .ins = at,
                              .outs = at + n,
                              .inherent = to->attrs,
                              .regions = &to->region,
                              .loc = call->loc,
                              .place = call->place};
    return to->attrs[0].value && to->attrs[2].value ? &to->manual : NULL;
}

/* ---- in a block */

jx_hlo_spmd jx_hlo_spmd_of(jx_hlo_body *b, const jx_mlir_block *block,
                           const jx_mlir_op *op, const jx_mlir_op **made)
{
    const jx_mlir_op *call = computation_of(block, op);

    *made = NULL;
    if (call)
        return computation(b, block, call) ? JX_HLO_SPMD_PART
                                           : JX_HLO_SPMD_NONE;
    if (is_computation(block, op))
        *made = computation(b, block, op);
    return *made ? JX_HLO_SPMD_CALL : JX_HLO_SPMD_NONE;
}
