/* stablehlo_spmd.c - what many devices run, as modules said it before they had
 * sdy.manual_computation:
 *
 *     %1 = custom_call @Sharding(%0) {mhlo.sharding = "{devices=[4,1]<=[4]}"}
 *     %2 = custom_call @SPMDFullToShardShape(%1) {mhlo.sharding = "{manual}"}
 *     %3 = call @shmap_body(%2)
 *     %4 = custom_call @Sharding(%3) {mhlo.sharding = "{manual}"}
 *     %5 = custom_call @SPMDShardToFullShape(%4)
 *          {mhlo.sharding = "{devices=[4,1]<=[4]}"}
 *
 * Such a call is read as the manual computation of it, on a mesh that is made
 * up: its axes are digits of the devices' numbers, of which each sharding says
 * which part a device has. They are one mesh for all of a block, where that
 * can be.  Any other @Sharding is read as a sdy.sharding_constraint on it.
 * Where only some axes of a mesh are manual ("last_tile_dims={manual,
 * replicated}"), devices along the others do the same on the same parts, so
 * that all may be manual as well.  What has another form stays as it is, calls
 * that nobody runs. */
#include "frontend/read/manual_call.h"
#include "frontend/read/meshes.h"
#include "frontend/read/sharding_cut.h"
#include "frontend/read/stablehlo_parts.h"

#include <string.h>

enum { MOST_DEVICES = 1024, MOST_DIGITS = 10, MOST_PLACES = 1 << 18 };

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

/* Some devices are manual, and the others have no part of their own. */
static bool says_some_manual(const jx_mlir_op *op)
{
    static const char *const kinds[] = {"last_tile_dims={manual}",
                                        "last_tile_dims={manual, replicated}",
                                        "last_tile_dims={replicated, manual}"};
    const jx_mlir_attr *said = jx_mlir_get(op, "mhlo.sharding");

    for (size_t i = 0;
         said && said->kind == JX_A_STRING && i < sizeof kinds / sizeof *kinds;
         i++)
        if (memmem(said->bytes, said->size, kinds[i], strlen(kinds[i])))
            return true;
    return false;
}

static bool says_manual(const jx_mlir_op *op)
{
    return says(op, "{manual}") || says_some_manual(op);
}

/* A mesh, whose axes are digits of the devices' numbers. */
typedef struct digits {
    jx_hlo_body *b;
    int devices, count;
    int64_t sizes[MOST_DIGITS], strides[MOST_DIGITS]; /* the last is fastest */
    const jx_mlir_attr *names[MOST_DIGITS], *mesh;
} digits;

/* What is known of a block, once it is asked for. */
typedef struct jx_hlo_spmds {
    const jx_mlir_block *block;
    jx_map users; /* of values: the op that alone uses it, or `many` */
    jx_map made;  /* of calls: the manual computation of it, or NULL */
    /* by which all arrays of the block are cut; without a mesh:
     * there are none */
    digits all;
} jx_hlo_spmds;

static const jx_mlir_op many;

/* What ops hold in regions is no use that leads on. */
static bool note_uses(jx_map *users, const jx_mlir_block *block, bool inside)
{
    for (int i = 0; i < block->nops; i++) {
        const jx_mlir_op *op = block->ops[i];
        for (int k = 0; k < op->nins; k++) {
            bool only = !inside && !jx_map_has(users, op->ins[k]);
            if (!jx_map_put(users, op->ins[k], only ? op : &many))
                return false;
        }
        for (int r = 0; r < op->nregions; r++)
            for (int k = 0; k < op->regions[r].nblocks; k++)
                if (!note_uses(users, op->regions[r].blocks[k], true))
                    return false;
    }
    return true;
}

static const jx_mlir_op *only_user(const jx_hlo_spmds *known,
                                   const jx_mlir_value *value)
{
    const jx_mlir_op *by = jx_map_get(&known->users, value);

    return by != &many ? by : NULL;
}

/* Out of the manual region, from a result of the call; NULL: it does
 * not lead there. */
static const jx_mlir_op *way_out(const jx_hlo_spmds *known,
                                 const jx_mlir_value *result)
{
    const jx_mlir_op *by = only_user(known, result);

    if (by && calls(by, "Sharding") && says_manual(by))
        by = only_user(known, by->outs[0]);
    return by && calls(by, "SPMDShardToFullShape") ? by : NULL;
}

/* Whether an operand of the call is a part, as all are of a computation. */
static bool is_part(const jx_mlir_op *call, int i)
{
    const jx_mlir_op *in = call->ins[i]->op;

    return in && calls(in, "SPMDFullToShardShape") && says_manual(in);
}

static bool is_computation(const jx_hlo_spmds *known, const jx_mlir_op *call)
{
    for (int i = 0; i < call->nins; i++) {
        if (!is_part(call, i) || only_user(known, call->ins[i]) != call)
            return false;
        const jx_mlir_op *whole = call->ins[i]->op->ins[0]->op;
        if (!whole || !calls(whole, "Sharding") || says_manual(whole))
            return false; /* manual in part already: a computation within one */
    }
    for (int i = 0; i < call->nouts; i++) {
        const jx_mlir_op *out = way_out(known, call->outs[i]);
        if (!out || says_manual(out))
            return false;
    }
    return true;
}

/* ---- a mesh of digits */

/* Which digits, in order, say which part of an axis a device
 * has; -1: none do. */
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
    all = jx_array_attr(g->b->s->ctx->arena, g->count, items);
    g->mesh = all ? record_of(g->b, "sdy.mesh", 1, axes, &all) : NULL;
    return g->mesh != NULL;
}

static const jx_mlir_attr *sharding_of(const digits *g, const jx_placement *how)
{
    jx_cut_axis axes[JX_HLO_RANK + 1];
    jx_ctx *ctx = g->b->s->ctx;
    int order[MOST_DIGITS];

    for (int k = 0; k < how->rank; k++) {
        int n = order_of(g, how, k, order);
        const jx_mlir_attr **by =
            JX_NEW_ARRAY(ctx->arena, n + 1, const jx_mlir_attr *);
        if (!by)
            return NULL;
        for (int i = 0; i < n; i++)
            by[i] = g->names[order[i]];
        axes[k] = (jx_cut_axis){n, by};
    }
    return jx_cut_sharding(ctx, &(jx_cut){g->mesh, how->rank, axes});
}

/* Digits of the devices' numbers by which all arrays are cut, tried with prime
 * factors in each order; false: there are none. */
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

/* How many devices the module is for; 0: it does not say. */
static int devices_of(jx_hlo_body *b)
{
    const jx_mlir_attr *devices =
        jx_mlir_get(b->s->module, "mhlo.num_partitions");

    return devices && devices->kind == JX_A_INTEGER && devices->integer >= 1 &&
                   devices->integer <= MOST_DEVICES
               ? (int)devices->integer
               : 0;
}

/* It says how a whole array lies. */
static bool says_whole(const jx_mlir_op *op)
{
    return (calls(op, "SPMDShardToFullShape") || calls(op, "Sharding")) &&
           !says_manual(op);
}

/* Digits for all that the block says of whole arrays, if that
 * is not too much. */
static void find_all(jx_hlo_body *b, jx_hlo_spmds *known)
{
    const jx_mlir_block *block = known->block;
    jx_placement *all =
        JX_NEW_ARRAY(b->s->ctx->arena, block->nops + 1, jx_placement);
    digits *g = &known->all;
    int count = 0;

    *g = (digits){.b = b, .devices = devices_of(b)};
    for (int i = 0; all && g->devices && i < block->nops; i++) {
        count += says_whole(block->ops[i]) &&
                 place(b, block->ops[i], block->ops[i]->outs[0]->type,
                       g->devices, &all[count]);
        if (count > MOST_PLACES / g->devices)
            return;
    }
    if (!count || !find_digits(g, g->devices, count, all) || !make_mesh(g))
        g->mesh = NULL;
}

/* NULL without memory. */
static jx_hlo_spmds *known_of(jx_hlo_body *b, const jx_mlir_block *block)
{
    jx_arena *arena = b->s->ctx->arena;
    jx_hlo_spmds *known = b->spmds;

    if (known && known->block == block)
        return known;
    known = JX_NEW(arena, jx_hlo_spmds);
    if (!known)
        return NULL;
    known->block = block;
    jx_map_init(&known->users, arena);
    jx_map_init(&known->made, arena);
    if (!note_uses(&known->users, block, false))
        return NULL;
    find_all(b, known);
    return b->spmds = known;
}

/* Each device has such a part of the whole. */
static bool is_cut_so(const jx_placement *how, const jx_mlir_type *whole,
                      const jx_mlir_type *part)
{
    bool fits = part->kind == JX_T_TENSOR && part->rank == whole->rank;

    for (int k = 0; fits && k < whole->rank; k++)
        fits = whole->shape[k] < 0 || part->shape[k] < 0 ||
               whole->shape[k] == part->shape[k] * how->parts[k];
    return fits;
}

/* The shardings of operands and results; false: they are of no mesh. */
static bool shardings(jx_hlo_body *b, const jx_hlo_spmds *known,
                      const jx_mlir_op *call, const jx_mlir_attr **ins,
                      const jx_mlir_attr **outs, const jx_mlir_attr **axes)
{
    int n = call->nins, count = n + call->nouts;
    jx_placement *all = JX_NEW_ARRAY(b->s->ctx->arena, count + 1, jx_placement);
    digits g = {.b = b, .devices = devices_of(b)};

    if (!all || !g.devices)
        return false;
    for (int i = 0; i < count; i++) {
        const jx_mlir_op *out =
            i < n ? NULL : way_out(known, call->outs[i - n]);
        const jx_mlir_op *in = i < n ? call->ins[i]->op : NULL;
        const jx_mlir_type *whole = out ? out->outs[0]->type : in->ins[0]->type;
        if (!place(b, out ? out : in->ins[0]->op, whole, g.devices, &all[i]) ||
            !is_cut_so(&all[i], whole,
                       (out ? call->outs[i - n] : call->ins[i])->type))
            return false;
    }
    if (known->all.mesh)
        g = known->all;
    else if (!find_digits(&g, g.devices, count, all) || !make_mesh(&g))
        return false;
    for (int i = 0; i < count; i++) {
        const jx_mlir_attr **to = i < n ? &ins[i] : &outs[i - n];
        if (!(*to = sharding_of(&g, &all[i])))
            return false;
    }
    *axes = jx_array_attr(b->s->ctx->arena, g.count, g.names);
    return *axes != NULL;
}

/* The manual computation of a call; NULL: it is none that can be read. */
static const jx_mlir_op *computation(jx_hlo_body *b, const jx_hlo_spmds *known,
                                     const jx_mlir_op *call)
{
    jx_arena *arena = b->s->ctx->arena;
    int n = call->nins, m = call->nouts;
    const jx_mlir_attr **how =
                           JX_NEW_ARRAY(arena, n + m + 1, const jx_mlir_attr *),
                       *axes;
    const jx_mlir_value **wholes =
        JX_NEW_ARRAY(arena, n + m + 1, const jx_mlir_value *);
    const jx_mlir_type **types =
        JX_NEW_ARRAY(arena, n + m + 1, const jx_mlir_type *);

    if (!how || !wholes || !types ||
        !shardings(b, known, call, how, how + n, &axes))
        return NULL;
    for (int i = 0; i < n + m; i++) {
        types[i] = (i < n ? call->ins[i] : call->outs[i - n])->type;
        wholes[i] = i < n ? call->ins[i]->op->ins[0]
                          : way_out(known, call->outs[i - n])->outs[0];
    }
    return jx_manual_call_make(arena, call,
                               &(jx_manual_call){wholes, types, how, axes});
}

/* The same, made once: all that belongs to the call asks for it. */
static const jx_mlir_op *computation_of(jx_hlo_body *b, jx_hlo_spmds *known,
                                        const jx_mlir_op *call)
{
    const jx_mlir_op *made = NULL;

    if (call->id != JX_OP_func_call || !call->nins || !is_part(call, 0))
        return NULL;
    if (jx_map_has(&known->made, call))
        return jx_map_get(&known->made, call);
    if (is_computation(known, call))
        made = computation(b, known, call);
    jx_map_put(&known->made, call, made);
    return made;
}

/* The op on the other side of what only says where a computation begins or
 * ends, that of a call among them; NULL: it says no such thing. */
static const jx_mlir_op *side_of(const jx_hlo_spmds *known,
                                 const jx_mlir_op *op)
{
    const jx_mlir_op *side = NULL;

    if (calls(op, "SPMDFullToShardShape"))
        side = only_user(known, op->outs[0]);
    else if (calls(op, "SPMDShardToFullShape") ||
             (calls(op, "Sharding") && says_manual(op)))
        side = op->ins[0]->op;
    if (side && calls(side, "Sharding") && says_manual(side))
        side = side->ins[0]->op;
    return side;
}

/* ---- how whole arrays are to lie */

static const jx_mlir_op *sdy_op(jx_hlo_body *b, const jx_mlir_op *op,
                                jx_op_id id, const char *name,
                                const jx_mlir_attr *sharding)
{
    jx_mlir_named *named = JX_NEW(b->s->ctx->arena, jx_mlir_named);
    jx_mlir_op *made = JX_NEW(b->s->ctx->arena, jx_mlir_op);

    if (!named || !made)
        return NULL;
    *named = (jx_mlir_named){"sharding", sharding};
    *made = (jx_mlir_op){.id = id,
                         .name = name,
                         .nins = 1,
                         .nouts = 1,
                         .ninherent = sharding != NULL,
                         .ins = op->ins,
                         .outs = op->outs,
                         .inherent = named,
                         .loc = op->loc,
                         .place = op->place};
    return made;
}

/* What only goes from some manual devices to all, or back, where no array is
 * cut by that: among devices that are manual already. */
static bool is_between_manual(const jx_mlir_op *op)
{
    return says_some_manual(op) && op->ins[0]->type == op->outs[0]->type;
}

/* A @Sharding as an op of sdy; in front of a computation, which says as
 * what it takes the array, it is one that says nothing.  NULL: it says
 * something else. */
static const jx_mlir_op *constraint_of(jx_hlo_body *b, jx_hlo_spmds *known,
                                       const jx_mlir_op *op)
{
    const jx_mlir_op *by = only_user(known, op->outs[0]);
    const jx_mlir_op *side =
        by && calls(by, "SPMDFullToShardShape") ? side_of(known, by) : NULL;
    const jx_mlir_attr *more = jx_mlir_get(op, "backend_config"), *sharding;
    jx_placement how;

    if (side && computation_of(b, known, side))
        return sdy_op(b, op, JX_OP_sdy_propagation_barrier,
                      "sdy.propagation_barrier", NULL);
    if (side || !known->all.mesh || !says_whole(op) ||
        (more && (more->kind != JX_A_STRING || more->size)) ||
        !place(b, op, op->outs[0]->type, known->all.devices, &how))
        return NULL;
    sharding = sharding_of(&known->all, &how);
    return sharding ? sdy_op(b, op, JX_OP_sdy_sharding_constraint,
                             "sdy.sharding_constraint", sharding)
                    : NULL;
}

/* ---- in a block */

jx_hlo_spmd jx_hlo_spmd_of(jx_hlo_body *b, const jx_mlir_block *block,
                           const jx_mlir_op *op, const jx_mlir_op **made)
{
    bool is_call = op->id == JX_OP_func_call && op->nins && is_part(op, 0);
    jx_hlo_spmds *known;
    const jx_mlir_op *side;

    *made = NULL;
    if (!is_call && !calls(op, "SPMDFullToShardShape") &&
        !calls(op, "SPMDShardToFullShape") && !calls(op, "Sharding"))
        return JX_HLO_SPMD_NONE;
    known = known_of(b, block);
    if (!known)
        return JX_HLO_SPMD_NONE;
    if (is_call) {
        *made = computation_of(b, known, op);
        return *made ? JX_HLO_SPMD_MADE : JX_HLO_SPMD_NONE;
    }
    side = side_of(known, op);
    if (side && computation_of(b, known, side))
        return JX_HLO_SPMD_PART;
    if (is_between_manual(op) &&
        (calls(op, "SPMDShardToFullShape") || calls(op, "Sharding")))
        *made = sdy_op(b, op, JX_OP_sdy_propagation_barrier,
                       "sdy.propagation_barrier", NULL);
    else if (!side && calls(op, "Sharding"))
        *made = constraint_of(b, known, op);
    return *made ? JX_HLO_SPMD_MADE : JX_HLO_SPMD_NONE;
}
