/* stablehlo_reduce.c - reductions and windows: what a body computes tells
 * which primitive an op is. */
#include "frontend/read/stablehlo_parts.h"

#include "frontend/ir/element.h"

#include <stdlib.h>

/* Scalars of the operands' dtypes, twice: the arguments of a body that
 * combines two of each. */
static const jx_aval **scalars_of(jx_hlo_body *b, int count,
                                  const jx_atom *atoms, int times)
{
    const jx_aval **to =
        JX_NEW_ARRAY(b->s->ctx->arena, times * count, const jx_aval *);

    for (int i = 0; to && i < times * count; i++)
        to[i] = jx_hlo_array(b, jx_atom_aval(atoms[i % count])->dtype, 0, NULL);
    return to;
}

/* ---- what a monoid begins with */

static int64_t least(jx_dtype dtype)
{
    const jx_dtype_info *info = jx_dtype_of(dtype);

    if (info->kind != JX_KIND_INT)
        return 0;
    return info->bits == 64 ? INT64_MIN : -((int64_t)1 << (info->bits - 1));
}

static uint64_t largest(jx_dtype dtype)
{
    const jx_dtype_info *info = jx_dtype_of(dtype);

    if (info->kind == JX_KIND_BOOL)
        return 1;
    int bits = info->bits - (info->kind == JX_KIND_INT);
    return bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

static bool is_integer_identity(jx_prim_id prim, jx_dtype dtype,
                                const void *bits)
{
    const jx_dtype_info *info = jx_dtype_of(dtype);
    uint64_t value = 0, mask, wanted = 0;

    memcpy(&value, bits, info->bytes);
    mask = info->kind == JX_KIND_BOOL ? 1
           : info->bits == 64         ? UINT64_MAX
                                      : ((uint64_t)1 << info->bits) - 1;
    if (prim == JX_PRIM_mul)
        wanted = 1;
    else if (prim == JX_PRIM_and)
        wanted = UINT64_MAX;
    else if (prim == JX_PRIM_max)
        wanted = (uint64_t)least(dtype);
    else if (prim == JX_PRIM_min)
        wanted = largest(dtype);
    return ((value ^ wanted) & mask) == 0;
}

/* Whether combining with that element changes nothing. */
static bool is_identity(jx_prim_id prim, jx_dtype dtype, const void *bits)
{
    const unsigned char *imaginary = bits;
    double value;

    if (!bits)
        return false;
    if (!jx_dtype_is_inexact(dtype))
        return is_integer_identity(prim, dtype, bits);
    value = jx_element_real(jx_dtype_real(dtype), bits);
    imaginary += jx_dtype_of(jx_dtype_real(dtype))->bytes;
    if (jx_dtype_is_complex(dtype) &&
        jx_element_real(jx_dtype_real(dtype), imaginary) != 0)
        return false;
    switch (prim) {
    case JX_PRIM_add: return value == 0;
    case JX_PRIM_mul: return value == 1;
    case JX_PRIM_max: return value == -__builtin_inf();
    case JX_PRIM_min: return value == __builtin_inf();
    default: return false;
    }
}

/* The op that a body of one op combines with: of truth values,
 * a sum is `or`. */
static jx_op_id combining(jx_op_id one, bool booleans)
{
    if (booleans &&
        (one == JX_OP_stablehlo_add || one == JX_OP_stablehlo_maximum))
        return JX_OP_stablehlo_or;
    if (booleans &&
        (one == JX_OP_stablehlo_multiply || one == JX_OP_stablehlo_minimum))
        return JX_OP_stablehlo_and;
    return jx_mlir_op_commutes(one) ? one : JX_OP_unknown;
}

static jx_prim_id prim_of(const jx_hlo_body *b, jx_op_id op)
{
    return op ? b->s->rows[op]->prim : JX_PRIM_unknown;
}

/* ---- reduce */

/* Sizes of what is left after reducing these axes. */
static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static bool reduce_simply(jx_hlo_body *b, jx_prim_id combine, jx_prim_id reduce,
                          jx_ints axes, const jx_aval *out)
{
    jx_params p = jx_hlo_no_params(b);
    jx_atom in = jx_hlo_in(b, 0), start = jx_hlo_in(b, 1), made;

    jx_put_ints(&p, "axes", axes);
    if (reduce == JX_PRIM_reduce_sum || reduce == JX_PRIM_reduce_prod ||
        reduce == JX_PRIM_reduce_max || reduce == JX_PRIM_reduce_min)
        jx_put_none(&p, "out_sharding");
    made = jx_hlo_eqn(b, reduce, 1, &in, &p, out);
    /* A sum of sizes is a literal by now. */
    if (jx_is_made(made) &&
        !is_identity(combine, out->dtype, jx_hlo_splat(start)))
        made = jx_hlo_eqn2(
            b, combine, jx_hlo_eqn_broadcast(b, start, out->rank, out->shape),
            made, out);
    return jx_hlo_define1(b, made);
}

/* What combines many operands by any body. */
typedef struct combination {
    const jx_jaxpr *body;
    jx_atoms ins; /* operands, then what they begin with */
    int nouts;    /* those of the op come first */
    const jx_aval *const *outs;
} combination;

/* False without a failure if the body is none that can be run. */
static bool make_general(jx_hlo_body *b, jx_atoms ins,
                         const jx_aval *const *outs, combination *to)
{
    int n = ins.count / 2;
    const jx_aval **args = scalars_of(b, n, ins.at, 2), **all;
    jx_atoms captured, everywhere;

    to->body =
        args ? jx_hlo_lifted(b, b->op, 2 * n, args, JX_HLO_HALVES, &captured)
             : NULL;
    if (!to->body)
        return false;
    everywhere = jx_hlo_eqn_spread(b, captured, jx_atom_aval(ins.at[0]));
    to->ins = jx_hlo_joined(
        b, 4,
        (const jx_atoms[]){{n, ins.at}, everywhere, {n, ins.at + n}, captured});
    to->nouts = n + captured.count;
    to->outs = all = JX_NEW_ARRAY(b->s->ctx->arena, to->nouts, const jx_aval *);
    for (int i = 0; all && i < to->nouts; i++)
        all[i] = i < n
                     ? outs[i]
                     : jx_hlo_array(b, jx_atom_aval(captured.at[i - n])->dtype,
                                    outs[0]->rank, outs[0]->shape);
    return all != NULL;
}

static bool emit_general(jx_hlo_body *b, jx_prim_id prim, const combination *g,
                         jx_params *p)
{
    jx_put_jaxpr(p, "jaxpr", g->body);
    const jx_atom *made = jx_hlo_eqn_all(b, jx_prim_of(prim), g->ins.count,
                                         g->ins.at, p, g->nouts, g->outs);

    return made && jx_hlo_define(b, b->op->nouts, made);
}

static bool reduce_generally(jx_hlo_body *b, jx_atoms ins, jx_ints axes,
                             const jx_aval *const *outs)
{
    jx_params p = jx_hlo_no_params(b);
    combination g;

    if (!make_general(b, ins, outs, &g))
        return jx_ok(b->s->ctx) && jx_hlo_unknown(b, b->op);
    jx_put_ints(&p, "dimensions", axes);
    return emit_general(b, JX_PRIM_reduce, &g, &p);
}

bool jx_hlo_op_reduce(jx_hlo_body *b, const jx_mlir_op *op,
                      const jx_hlo_row *row)
{
    jx_atoms ins = jx_hlo_ins(b, 0);
    const jx_aval **outs =
        JX_NEW_ARRAY(b->s->ctx->arena, op->nouts, const jx_aval *);
    jx_op_id one;
    jx_ints axes;

    if (!outs || !ins.count || ins.count != 2 * op->nouts)
        return jx_hlo_refuse(b, "expected two operands for each result");
    const jx_aval *in = jx_atom_aval(ins.at[0]);
    if (!jx_hlo_attr_ints(b, "dimensions", &axes) ||
        !jx_hlo_axes_ok(b, "dimensions", axes, in->rank))
        return false;
    qsort((int64_t *)(uintptr_t)axes.at, (size_t)axes.count, sizeof *axes.at,
          by_value);
    int left = in->rank - axes.count;
    for (int i = 0; i < op->nouts; i++) {
        if (op->outs[i]->type->rank != left)
            return jx_hlo_refuse(b, "expected results of %d axes", left);
        outs[i] = jx_hlo_result(b, i, NULL);
        if (!outs[i])
            return false;
    }
    one = op->nouts == 1 && outs[0]->dtype == in->dtype
              ? combining(jx_hlo_single_op(op, 0), in->dtype == JX_BOOL)
              : JX_OP_unknown;
    row = jx_hlo_row_of(b->s, op->id, jx_mlir_op_name(one));
    if (!row || !row->detail[0])
        return reduce_generally(b, ins, axes, outs);
    return reduce_simply(b, prim_of(b, one), row->prim, axes, outs[0]);
}

/* ---- windows */

typedef struct window {
    int rank;
    const jx_dim *const *sizes, *const *padding; /* padding: pairs, flat */
    jx_ints strides, base, dilation;
} window;

typedef bool general_rule(jx_hlo_body *b, const window *w,
                          const jx_aval *const *outs);

static const jx_dim *const *dims_of(jx_hlo_body *b, jx_ints ints)
{
    const jx_dim **dims =
        JX_NEW_ARRAY(b->s->ctx->arena, ints.count, const jx_dim *);

    for (int i = 0; dims && i < ints.count; i++)
        dims[i] = jx_hlo_dim_int(b, ints.at[i]);
    return dims;
}

static bool read_window(jx_hlo_body *b, int rank, window *w)
{
    jx_ints sizes, padding;

    w->rank = rank;
    if (!jx_hlo_attr_ints_or(b, "window_dimensions", rank, 1, &sizes) ||
        !jx_hlo_attr_ints_or(b, "window_strides", rank, 1, &w->strides) ||
        !jx_hlo_attr_ints_or(b, "base_dilations", rank, 1, &w->base) ||
        !jx_hlo_attr_ints_or(b, "window_dilations", rank, 1, &w->dilation) ||
        !jx_hlo_attr_ints_or(b, "padding", 2 * rank, 0, &padding))
        return false;
    w->sizes = dims_of(b, sizes);
    w->padding = dims_of(b, padding);
    return w->sizes && w->padding;
}

static void put_window(jx_params *p, const window *w)
{
    jx_put_dims(p, "window_dimensions", w->rank, w->sizes);
    jx_put_ints(p, "window_strides", w->strides);
    jx_put_tuples(p, "padding", w->rank, 2, w->padding);
}

static void put_dilations(jx_params *p, const window *w)
{
    jx_put_ints(p, "base_dilation", w->base);
    jx_put_ints(p, "window_dilation", w->dilation);
}

static bool is_plain(jx_ints ints)
{
    for (int i = 0; i < ints.count; i++)
        if (ints.at[i] != 1)
            return false;
    return true;
}

/* The axis along which a window takes all before, or all after an element:
 * what JAX makes of a cumulative sum; -1 if it is none. */
static int cumulative_axis(jx_hlo_body *b, const window *w, const jx_aval *in,
                           bool *reverse)
{
    const jx_dim *none = jx_hlo_dim_int(b, 0), *one = jx_hlo_dim_int(b, 1);
    int axis = -1;

    if (!is_plain(w->strides) || !is_plain(w->base) || !is_plain(w->dilation))
        return -1;
    for (int i = 0; i < w->rank; i++) {
        const jx_dim *low = w->padding[2 * i], *high = w->padding[2 * i + 1];
        const jx_dim *size = w->sizes[i];
        if (size == one && low == none && high == none)
            continue;
        const jx_dim *rest = jx_dim_sub(b->s->program->dims, size, one);
        bool before = low == rest && high == none;
        bool after = high == rest && low == none;
        if (axis >= 0 || size != in->shape[i] || (!before && !after))
            return -1;
        axis = i;
        *reverse = after;
    }
    return axis;
}

static jx_prim_id cumulative_of(jx_prim_id combine)
{
    switch (combine) {
    case JX_PRIM_add: return JX_PRIM_cumsum;
    case JX_PRIM_mul: return JX_PRIM_cumprod;
    case JX_PRIM_max: return JX_PRIM_cummax;
    case JX_PRIM_min: return JX_PRIM_cummin;
    default: return JX_PRIM_unknown;
    }
}

/* Cumulative sums and products of floats depend on their order and rounding:
 * those of the window are kept while it is small (they take time by the square
 * of its size), by a body that does one step after the other. */
static bool may_reorder(jx_prim_id combine, const jx_aval *in, int axis)
{
    enum { SMALL = 128 };
    int64_t size = jx_dim_value(in->shape[axis]);

    return !jx_dtype_is_inexact(in->dtype) || combine == JX_PRIM_max ||
           combine == JX_PRIM_min || size < 0 || size > SMALL;
}

static bool emit_cumulative(jx_hlo_body *b, jx_prim_id prim, int axis,
                            bool reverse, const jx_aval *out)
{
    jx_params p = jx_hlo_no_params(b);
    jx_atom in = jx_hlo_in(b, 0);

    jx_put_int(&p, "axis", axis);
    jx_put_bool(&p, "reverse", reverse);
    return jx_hlo_define1(b, jx_hlo_eqn(b, prim, 1, &in, &p, out));
}

static bool window_generally(jx_hlo_body *b, const window *w,
                             const jx_aval *const *outs)
{
    jx_params p = jx_hlo_no_params(b);
    combination g;

    if (!make_general(b, jx_hlo_ins(b, 0), outs, &g))
        return jx_ok(b->s->ctx) && jx_hlo_unknown(b, b->op);
    put_window(&p, w);
    put_dilations(&p, w);
    return emit_general(b, JX_PRIM_reduce_window, &g, &p);
}

static bool window_simply(jx_hlo_body *b, jx_prim_id prim, const window *w,
                          const jx_aval *out)
{
    jx_params p = jx_hlo_no_params(b);
    jx_atom in = jx_hlo_in(b, 0);

    put_window(&p, w);
    put_dilations(&p, w);
    return jx_hlo_define1(b, jx_hlo_eqn(b, prim, 1, &in, &p, out));
}

/* One op or many. */
static bool emit_window(jx_hlo_body *b, const window *w, jx_op_id one,
                        const jx_aval *const *outs, general_rule *general)
{
    jx_atom in = jx_hlo_in(b, 0), start = jx_hlo_in(b, 1);
    const jx_aval *aval = jx_atom_aval(in);
    const jx_hlo_row *row;
    bool reverse = false;
    jx_op_id op = outs[0]->dtype == aval->dtype
                      ? combining(one, aval->dtype == JX_BOOL)
                      : JX_OP_unknown;
    jx_prim_id combine = prim_of(b, op);

    if (combine == JX_PRIM_unknown ||
        !is_identity(combine, aval->dtype, jx_hlo_splat(start)))
        return general(b, w, outs);
    int axis = cumulative_axis(b, w, aval, &reverse);
    if (axis >= 0 && cumulative_of(combine) != JX_PRIM_unknown)
        return may_reorder(combine, aval, axis)
                   ? emit_cumulative(b, cumulative_of(combine), axis, reverse,
                                     outs[0])
                   : general(b, w, outs);
    row =
        jx_hlo_row_of(b->s, JX_OP_stablehlo_reduce_window, jx_mlir_op_name(op));
    if (!row || !row->detail[0])
        return general(b, w, outs);
    return window_simply(b, row->prim, w, outs[0]);
}

bool jx_hlo_op_reduce_window(jx_hlo_body *b, const jx_mlir_op *op,
                             const jx_hlo_row *row)
{
    jx_atoms ins = jx_hlo_ins(b, 0);
    const jx_aval **outs =
        JX_NEW_ARRAY(b->s->ctx->arena, op->nouts, const jx_aval *);
    window w;

    (void)row;
    if (!outs || !ins.count || ins.count != 2 * op->nouts)
        return jx_hlo_refuse(b, "expected two operands for each result");
    const jx_aval *in = jx_atom_aval(ins.at[0]);
    if (!read_window(b, in->rank, &w))
        return false;
    for (int i = 0; i < op->nouts; i++)
        if (!(outs[i] = jx_hlo_result(b, i, NULL)))
            return false;
    return emit_window(b, &w,
                       op->nouts == 1 ? jx_hlo_single_op(op, 0) : JX_OP_unknown,
                       outs, window_generally);
}

/* ---- windows whose sizes are operands: JAX's custom call of
 * (operands, inits, sizes, strides, base dilations, dilations, padding). */

static bool numbers(jx_hlo_body *b, int operand, int count, jx_ints *to)
{
    const jx_dim *const *dims = jx_hlo_sizes_in(b, operand, count);
    int64_t *at = JX_NEW_ARRAY(b->s->ctx->arena, count, int64_t);

    for (int i = 0; dims && at && i < count; i++) {
        at[i] = jx_dim_value(dims[i]);
        if (at[i] < 0)
            return false;
    }
    *to = (jx_ints){count, at};
    return dims && at;
}

const jx_mlir_op *jx_hlo_reducer_called(jx_hlo_body *b)
{
    const jx_mlir_attr *all = jx_mlir_get(b->op, "called_computations");
    const jx_mlir_op *func;

    if (!all || all->kind != JX_A_ARRAY || all->count != 1 ||
        all->items[0]->kind != JX_A_SYMBOL || !all->items[0]->text)
        return NULL;
    func = jx_mlir_find(b->s->ctx, &b->s->symbols, b->s->module,
                        all->items[0]->text);
    return func && func->id == JX_OP_func_func ? func : NULL;
}

static bool general_dynamic(jx_hlo_body *b, const window *w,
                            const jx_aval *const *outs)
{
    int n = b->op->nouts;
    jx_atoms ins = jx_hlo_ins(b, 0);
    const jx_aval **args =
        JX_NEW_ARRAY(b->s->ctx->arena, 2 * n + 1, const jx_aval *);
    jx_params p = jx_hlo_no_params(b);
    const jx_jaxpr *body;
    const jx_atom *made;

    if (!args || ins.count < 2 * n)
        return false;
    for (int i = 0; i < n; i++)
        args[i] = args[n + i] = jx_hlo_array(b, outs[i]->dtype, 0, NULL);
    body = jx_hlo_jaxpr_of(b->s, jx_hlo_reducer_called(b), b->op, 2 * n, args,
                           NULL);
    if (!body)
        return false;
    jx_put_jaxpr(&p, "jaxpr", body);
    put_window(&p, w);
    put_dilations(&p, w);
    made = jx_hlo_eqn_all(b, jx_prim_of(JX_PRIM_reduce_window), 2 * n, ins.at,
                          &p, n, outs);
    return made && jx_hlo_define(b, n, made);
}

bool jx_hlo_op_dynamic_reduce_window(jx_hlo_body *b, const jx_mlir_op *op,
                                     const jx_hlo_row *row)
{
    const jx_mlir_op *func = jx_hlo_reducer_called(b);
    const jx_aval **outs =
        JX_NEW_ARRAY(b->s->ctx->arena, op->nouts + 1, const jx_aval *);
    jx_atom in = jx_hlo_in(b, 0);
    window w = {0};
    int n = op->nouts;

    (void)row;
    if (!outs || (!in.var && !in.literal) || n < 1 || op->nins != 2 * n + 5 ||
        !func)
        return jx_hlo_refuse(b, "expected two operands for each result, five "
                                "that say the window, and the name of a "
                                "function");
    for (int i = 0; i < n; i++)
        if (!(outs[i] = jx_hlo_result(b, i, NULL)))
            return false;
    w.rank = jx_atom_aval(in)->rank;
    w.sizes = jx_hlo_sizes_in(b, 2 * n, w.rank);
    w.padding = jx_hlo_sizes_in(b, 2 * n + 4, 2 * w.rank);
    if (!w.sizes || !w.padding || !numbers(b, 2 * n + 1, w.rank, &w.strides) ||
        !numbers(b, 2 * n + 2, w.rank, &w.base) ||
        !numbers(b, 2 * n + 3, w.rank, &w.dilation))
        return jx_ok(b->s->ctx) && jx_hlo_unknown(b, op);
    return emit_window(b, &w,
                       n == 1 ? jx_hlo_single_op(func, 0) : JX_OP_unknown, outs,
                       general_dynamic);
}

/* ---- select and scatter */

/* "ge" or "le" of a body that is one comparison of its arguments. */
static const char *selecting(const jx_mlir_op *op)
{
    const jx_mlir_block *block = op->nregions == 2 ? jx_mlir_body(op, 0) : NULL;
    const jx_mlir_attr *direction;

    if (jx_hlo_single_op(op, 0) != JX_OP_stablehlo_compare)
        return NULL;
    direction = jx_mlir_get(block->ops[0], "comparison_direction");
    if (!direction || direction->kind != JX_A_ENUM || !direction->text)
        return NULL;
    return !strcmp(direction->text, "GE")   ? "ge"
           : !strcmp(direction->text, "LE") ? "le"
                                            : NULL;
}

static bool select_generally(jx_hlo_body *b, const window *w, const jx_aval *in)
{
    const jx_aval *scalar = jx_hlo_array(b, in->dtype, 0, NULL);
    const jx_aval *const args[] = {scalar, scalar};
    jx_params p = jx_hlo_no_params(b);
    jx_atoms ins = jx_hlo_ins(b, 0);
    const jx_jaxpr *select, *scatter;

    select = scalar ? jx_hlo_closed(b, b->op, 0, 2, args) : NULL;
    scatter = select ? jx_hlo_closed(b, b->op, 1, 2, args) : NULL;
    if (!scatter)
        return jx_ok(b->s->ctx) && jx_hlo_unknown(b, b->op);
    jx_put_jaxpr(&p, "select", select);
    jx_put_jaxpr(&p, "scatter", scatter);
    put_window(&p, w);
    return jx_hlo_define1(b, jx_hlo_eqn(b, JX_PRIM_stablehlo_select_and_scatter,
                                        ins.count, ins.at, &p, in));
}

/* JAX's padding is elements, the op's is none. */
static bool is_padded(const window *w)
{
    for (int i = 0; i < 2 * w->rank; i++)
        if (jx_dim_value(w->padding[i]) != 0)
            return true;
    return false;
}

bool jx_hlo_op_select_and_scatter(jx_hlo_body *b, const jx_mlir_op *op,
                                  const jx_hlo_row *row)
{
    jx_params p = jx_hlo_no_params(b);
    jx_atoms ins = jx_hlo_ins(b, 0);
    const char *chosen = selecting(op);
    window w;

    if (ins.count != 3 || op->nregions != 2)
        return jx_hlo_refuse(b, "expected 3 operands and 2 regions");
    const jx_aval *in = jx_atom_aval(ins.at[0]);
    if (!read_window(b, in->rank, &w))
        return false;
    if (!chosen || is_padded(&w) ||
        jx_hlo_single_op(op, 1) != JX_OP_stablehlo_add ||
        !is_identity(JX_PRIM_add, in->dtype, jx_hlo_splat(ins.at[2])))
        return select_generally(b, &w, in);
    jx_put_prim(&p, "select_prim", chosen);
    put_window(&p, &w);
    return jx_hlo_define1(b, jx_hlo_eqn(b, row->prim, 2,
                                        (const jx_atom[]){ins.at[1], ins.at[0]},
                                        &p, in));
}
