/* sharding_rules.c - see sharding_rules.h: which axes of a result come from
 * which of the operands'. */
#include "frontend/read/sharding_rules.h"

#include "frontend/read/meshes.h"

#include <string.h>

/* The result, and where its cuts are put. */
typedef struct rule {
    jx_cuts *cuts;
    const jx_mlir_op *op;
    const jx_cut *const *ins;
    const jx_mlir_type *type;
    jx_cut *to;
} rule;

static bool is_tensor(const rule *r, int operand)
{
    return operand < r->op->nins &&
           r->op->ins[operand]->type->kind == JX_T_TENSOR &&
           r->op->ins[operand]->type->rank >= 0;
}

static int64_t size_of(const rule *r, int operand, int64_t axis)
{
    const jx_mlir_type *type = r->op->ins[operand]->type;

    return axis >= 0 && axis < type->rank ? type->shape[axis] : -1;
}

/* Axis `from` of an operand is axis `to` of the result. */
static void comes(const rule *r, int64_t to, int operand, int64_t from)
{
    const jx_cut *cut = r->ins[operand];

    if (cut && from >= 0 && from < cut->rank && to >= 0 && to < r->to->rank)
        jx_cut_join(r->cuts, r->to, r->type, (int)to, cut->mesh,
                    cut->axes[from]);
}

static bool has(const jx_mlir_attr *list, int64_t axis)
{
    for (int64_t i = 0; list && i < jx_mlir_numbers(list); i++)
        if (jx_mlir_number(list, i) == axis)
            return true;
    return false;
}

static int64_t count_of(const jx_mlir_attr *list)
{
    int64_t n = list ? jx_mlir_numbers(list) : 0;

    return n > 0 ? n : 0;
}

static int64_t field(const jx_mlir_attr *record, const char *name)
{
    const jx_mlir_attr *value = record ? jx_mlir_field(record, name) : NULL;

    return value && value->kind == JX_A_INTEGER ? value->integer : -1;
}

/* ---- axis by axis */

/* An operand with the result's axes, some of other sizes if `any_size`. */
static void positions(const rule *r, int operand, bool any_size)
{
    if (!is_tensor(r, operand) ||
        r->op->ins[operand]->type->rank != r->to->rank)
        return;
    for (int k = 0; k < r->to->rank; k++)
        if (any_size || size_of(r, operand, k) == r->type->shape[k])
            comes(r, k, operand, k);
}

static bool same_shape(const rule *r, int operand)
{
    const jx_mlir_type *type = r->op->ins[operand]->type;

    return is_tensor(r, operand) && type->rank == r->to->rank &&
           (!type->rank || !memcmp(type->shape, r->type->shape,
                                   (size_t)type->rank * sizeof *type->shape));
}

/* Whether an op of several results makes each of all the
 * operands of its shape. */
static bool mixes(const jx_mlir_op *op)
{
    return op->nouts == 1 || op->id == JX_OP_stablehlo_sort;
}

static void elements(const rule *r, int i)
{
    for (int k = 0; k < r->op->nins; k++)
        if ((mixes(r->op) || k == i) && same_shape(r, k))
            positions(r, k, false);
}

static void broadcast(const rule *r)
{
    const jx_mlir_attr *dims = jx_mlir_get(r->op, "broadcast_dimensions");

    for (int64_t k = 0; is_tensor(r, 0) && k < count_of(dims); k++) {
        int64_t axis = jx_mlir_number(dims, k);
        if (axis >= 0 && axis < r->to->rank &&
            size_of(r, 0, k) == r->type->shape[axis])
            comes(r, axis, 0, k);
    }
}

static void transpose(const rule *r)
{
    const jx_mlir_attr *from = jx_mlir_get(r->op, "permutation");

    for (int64_t k = 0; k < count_of(from); k++)
        comes(r, k, 0, jx_mlir_number(from, k));
}

/* What is left of the operands without the axes that go away; initial values
 * come after them and have no axes. */
static void remaining(const rule *r)
{
    const jx_mlir_attr *gone = jx_mlir_get(r->op, "dimensions");

    for (int i = 0; i < r->op->nouts && is_tensor(r, i); i++)
        for (int k = 0, to = 0; k < r->op->ins[i]->type->rank; k++)
            if (!has(gone, k))
                comes(r, to++, i, k);
}

/* ---- reshapes: both shapes are made of common factors */

typedef struct factor {
    int from, to; /* whose part it is, of the operand's axes and the result's */
    int64_t size;
} factor;

enum { MOST_FACTORS = 64 };

/* The factors, those of 1 left out; 0: there are none in common. */
static int factors(const jx_mlir_type *a, const jx_mlir_type *b, factor *to)
{
    int i = 0, k = 0, n = 0;
    int64_t x = 1, y = 1;

    for (;; n++) {
        while (x == 1 && i < a->rank)
            x = a->shape[i++];
        while (y == 1 && k < b->rank)
            y = b->shape[k++];
        if (x == 1 && y == 1)
            return n;
        if (x < 2 || y < 2 || n == MOST_FACTORS || (x % y && y % x))
            return 0;
        to[n] = (factor){i - 1, k - 1, x < y ? x : y};
        x /= to[n].size;
        y /= to[n].size;
    }
}

/* How many of the mesh axes, from the first on, cut a factor; *rest is what
 * they leave of it. */
static int taken(const rule *r, const jx_cut *cut, jx_cut_axis axes,
                 int64_t *rest)
{
    int n = 0;

    for (; n<axes.count && * rest> 1; n++) {
        int64_t parts = jx_mesh_axis_size(r->cuts->ctx, r->cuts->module,
                                          cut->mesh, axes.by[n]);
        if (parts < 1 || *rest % parts)
            break;
        *rest /= parts;
    }
    return n;
}

/* The axes of the mesh that cut one axis of the result: those of its factors,
 * as long as each of these is cut into single elements. */
static void reshape(const rule *r)
{
    const jx_cut *cut = r->ins[0];
    int from = -1, to = -1, n = 0, used = 0, count = 0;
    const jx_mlir_attr **by;
    bool open = false, whole = false;
    factor all[MOST_FACTORS];

    if (!cut || !is_tensor(r, 0))
        return;
    count = factors(r->op->ins[0]->type, r->type, all);
    for (int i = 0; i < count; i++) {
        int64_t rest = all[i].size;
        if (all[i].from != from)
            from = all[i].from, used = 0, whole = true;
        if (all[i].to != to)
            to = all[i].to, n = 0, open = true;
        jx_cut_axis left = {cut->axes[from].count - used,
                            cut->axes[from].by + used};
        int more = whole ? taken(r, cut, left, &rest) : 0;
        /* What a factor leaves uncut, the next one of its axis can't cut. */
        whole = whole && rest == 1;
        used += more;
        by = open && more
                 ? JX_NEW_ARRAY(r->cuts->arena, n + more, const jx_mlir_attr *)
                 : NULL;
        for (int k = 0; by && k < n; k++)
            by[k] = r->to->axes[to].by[k];
        for (int k = 0; by && k < more; k++)
            by[n + k] = left.by[k];
        if (by)
            jx_cut_join(r->cuts, r->to, r->type, to, cut->mesh,
                        (jx_cut_axis){n + more, by});
        n = r->to->axes[to].count;
        open = open && rest == 1;
    }
}

/* ---- products */

/* Batch axes, then those of each side that are not contracted. */
static void dot_general(const rule *r)
{
    static const char *const names[2][2] = {
        {"lhs_batching_dimensions", "lhs_contracting_dimensions"},
        {"rhs_batching_dimensions", "rhs_contracting_dimensions"}};
    const jx_mlir_attr *dims = jx_mlir_get(r->op, "dot_dimension_numbers");
    int64_t to = 0;

    for (int side = 0; dims && side < 2 && is_tensor(r, side); side++) {
        const jx_mlir_attr *batch = jx_mlir_field(dims, names[side][0]);
        const jx_mlir_attr *gone = jx_mlir_field(dims, names[side][1]);
        for (int64_t k = 0; k < count_of(batch); k++)
            comes(r, k, side, jx_mlir_number(batch, k));
        if (side == 0)
            to = count_of(batch);
        for (int k = 0; k < r->op->ins[side]->type->rank; k++)
            if (!has(batch, k) && !has(gone, k))
                comes(r, to++, side, k);
    }
}

static void convolution(const rule *r)
{
    const jx_mlir_attr *dims = jx_mlir_get(r->op, "dimension_numbers");
    const jx_mlir_attr *in =
        dims ? jx_mlir_field(dims, "input_spatial_dimensions") : NULL;
    const jx_mlir_attr *out =
        dims ? jx_mlir_field(dims, "output_spatial_dimensions") : NULL;
    int64_t batch = field(dims, "output_batch_dimension");

    if (!is_tensor(r, 0) || !is_tensor(r, 1) || batch < 0 ||
        batch >= r->to->rank)
        return;
    if (size_of(r, 0, field(dims, "input_batch_dimension")) ==
        r->type->shape[batch])
        comes(r, batch, 0, field(dims, "input_batch_dimension"));
    comes(r, field(dims, "output_feature_dimension"), 1,
          field(dims, "kernel_output_feature_dimension"));
    for (int64_t k = 0; k < count_of(in) && k < count_of(out); k++)
        comes(r, jx_mlir_number(out, k), 0, jx_mlir_number(in, k));
}

/* ---- gathers */

/* The result's axes that are no offsets are those of the indices, in order; the
 * offsets are the operand's that are taken whole. */
static void gather(const rule *r)
{
    const jx_mlir_attr *dims = jx_mlir_get(r->op, "dimension_numbers");
    const jx_mlir_attr *sizes = jx_mlir_get(r->op, "slice_sizes");
    const jx_mlir_attr *offsets, *collapsed, *batching, *of_indices;
    int64_t vector, from = 0, index = 0;

    if (!dims || !is_tensor(r, 0) || !is_tensor(r, 1))
        return;
    offsets = jx_mlir_field(dims, "offset_dims");
    collapsed = jx_mlir_field(dims, "collapsed_slice_dims");
    batching = jx_mlir_field(dims, "operand_batching_dims");
    of_indices = jx_mlir_field(dims, "start_indices_batching_dims");
    vector = field(dims, "index_vector_dim");
    for (int k = 0; k < r->to->rank; k++) {
        if (has(offsets, k)) {
            while (has(collapsed, from) || has(batching, from))
                from++;
            if (from < count_of(sizes) &&
                jx_mlir_number(sizes, from) == size_of(r, 0, from))
                comes(r, k, 0, from);
            from++;
            continue;
        }
        if (index == vector)
            index++;
        for (int64_t i = 0; i < count_of(of_indices) && i < count_of(batching);
             i++)
            if (jx_mlir_number(of_indices, i) == index)
                comes(r, k, 0, jx_mlir_number(batching, i));
        comes(r, k, 1, index++);
    }
}

void jx_cut_result(jx_cuts *cuts, const jx_mlir_op *op, int i,
                   const jx_cut *const *ins, jx_cut *to)
{
    rule r = {cuts, op, ins, op->outs[i]->type, to};

    switch (op->id) {
    case JX_OP_stablehlo_broadcast_in_dim: broadcast(&r); return;
    case JX_OP_stablehlo_transpose: transpose(&r); return;
    case JX_OP_stablehlo_reshape: reshape(&r); return;
    case JX_OP_stablehlo_reduce: remaining(&r); return;
    case JX_OP_stablehlo_dot_general: dot_general(&r); return;
    case JX_OP_stablehlo_convolution: convolution(&r); return;
    case JX_OP_stablehlo_gather: gather(&r); return;
    case JX_OP_stablehlo_concatenate:
        for (int k = 0; k < op->nins; k++)
            positions(&r, k, true);
        return;
    case JX_OP_stablehlo_slice:
    case JX_OP_stablehlo_pad:
    case JX_OP_stablehlo_dynamic_slice:
    case JX_OP_stablehlo_reduce_window:
    case JX_OP_stablehlo_select_and_scatter:
    case JX_OP_chlo_top_k:
        positions(&r, op->id == JX_OP_stablehlo_reduce_window ? i : 0, true);
        return;
    case JX_OP_stablehlo_dynamic_update_slice:
        positions(&r, 0, false);
        positions(&r, 1, false);
        return;
    default: elements(&r, i);
    }
}
