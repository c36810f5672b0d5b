/* stablehlo_quantized.c - quantized tensors: integers that stand for reals.
 *
 * A tensor of `!quant.uniform<i8:f32, scale:zero>` is carried as what it
 * stores, an array of i8.  What an op computes on it is spelled out:
 *
 *     dequantize   (stored - zero) * scale
 *     quantize     round to even of clamp(real / scale + zero, min, max)
 *
 * so that an op is these around the op on reals, as the specification of
 * StableHLO defines it; nothing is rearranged, and each step is an equation
 * that can be typed, differentiated and run.  Ops that only move elements move
 * what is stored.  A region reads its arguments as stored, too, so a reduction
 * of quantized tensors is one whose body dequantizes and quantizes. */
#include "frontend/read/stablehlo_parts.h"

#include "frontend/ir/element.h"

static const jx_atom nothing = {NULL, NULL};

/* ---- types */

/* The quantized element type of a tensor, or NULL. */
static const jx_mlir_type *element_of(const jx_mlir_type *type)
{
    const jx_mlir_type *element = type;

    if ((type->kind == JX_T_TENSOR || type->kind == JX_T_UNRANKED) &&
        type->count)
        element = type->items[0];
    return element != type && element->kind == JX_T_QUANTIZED ? element : NULL;
}

bool jx_hlo_is_quantized(const jx_mlir_type *type)
{
    return element_of(type) != NULL;
}

/* Rounded to even where that is what a literal holds. */
static double as_real(jx_dtype dtype, double value)
{
    return dtype == JX_F64 ? value : (double)(float)value;
}

/* The scale as an element of that dtype has it. */
static double rounded(jx_dtype dtype, double value)
{
    unsigned char bits[16];

    jx_element_from_real(dtype, as_real(dtype, value), bits);
    return jx_element_real(dtype, bits);
}

/* The parameters mean something for these dtypes. */
static bool parameters_ok(jx_hlo_body *b, const jx_mlir_quant *q,
                          jx_dtype stored, jx_dtype real)
{
    int bits = jx_dtype_of(stored)->bits;
    bool sign = jx_dtype_of(stored)->kind == JX_KIND_INT;
    int64_t least = sign ? -((int64_t)1 << (bits - 1)) : 0;
    int64_t most = ((int64_t)1 << (bits - sign)) - 1;

    if (q->count < 1 || q->min >= q->max || q->min < least || q->max > most)
        return jx_hlo_refuse(b,
                             "expected a quantized type that stores values "
                             "from %lld to %lld",
                             (long long)least, (long long)most);
    for (int i = 0; i < q->count; i++) {
        double scale = rounded(real, q->scales[i]);
        if (!(scale > 0) || scale - scale != 0)
            return jx_hlo_refuse(b,
                                 "a quantized type whose scale %g is not "
                                 "positive and finite",
                                 q->scales[i]);
        if (q->zeros[i] < q->min || q->zeros[i] > q->max)
            return jx_hlo_refuse(b,
                                 "a quantized type whose zero point %lld is "
                                 "not between %lld and %lld",
                                 (long long)q->zeros[i], (long long)q->min,
                                 (long long)q->max);
    }
    return true;
}

/* The dtypes of what is stored and of what it stands for. */
static bool read_type(jx_hlo_body *b, const jx_mlir_type *element,
                      jx_dtype *stored, jx_dtype *real)
{
    if (!element->quant || !jx_hlo_dtype(element, stored) ||
        !jx_dtype_is_integer(*stored) || jx_dtype_of(*stored)->bits > 32 ||
        !jx_mlir_dtype(element->items[1], real) || !jx_dtype_is_float(*real))
        return jx_hlo_refuse(b, "expected a quantized type that stores "
                                "integers of at most 32 bits for reals");
    return parameters_ok(b, element->quant, *stored, *real);
}

/* The type of a tensor with other elements. */
static const jx_mlir_type *with_element(jx_hlo_body *b,
                                        const jx_mlir_type *type,
                                        const jx_mlir_type *element)
{
    jx_mlir_type like = *type;

    like.items = &element;
    return jx_mlir_type_add(b->s->file->types, &like);
}

/* ---- scales and zero points */

static bool all_zero(const jx_mlir_quant *q)
{
    for (int i = 0; i < q->count; i++)
        if (q->zeros[i])
            return false;
    return true;
}

/* One number for each index of the axis, as a vector. */
static jx_atom vector(jx_hlo_body *b, jx_dtype dtype, const jx_mlir_quant *q,
                      bool scales)
{
    size_t size = jx_dtype_of(dtype)->bytes;
    const jx_dim *length = jx_hlo_dim_int(b, q->count);
    const jx_aval *aval = jx_hlo_array(b, dtype, 1, &length);
    unsigned char *data =
        JX_NEW_ARRAY(b->s->ctx->arena, (size_t)q->count * size, unsigned char);

    if (!aval || !data)
        return nothing;
    for (int i = 0; i < q->count; i++) {
        unsigned char *to = data + (size_t)i * size;
        if (jx_dtype_is_float(dtype))
            jx_element_from_real(
                dtype,
                as_real(dtype, scales ? q->scales[i] : (double)q->zeros[i]),
                to);
        else
            memcpy(to, &q->zeros[i], size); /* little endian, and it fits */
    }
    return jx_hlo_literal(b, aval, data, (size_t)q->count * size, false);
}

/* The scales or zero points for an array of this type. */
static jx_atom spread(jx_hlo_body *b, jx_dtype dtype, const jx_mlir_quant *q,
                      bool scales, const jx_aval *over)
{
    int64_t axis = q->axis, size;

    if (q->axis < 0)
        return jx_hlo_eqn_broadcast(
            b,
            jx_build_number(
                &b->body, dtype,
                as_real(dtype, scales ? q->scales[0] : (double)q->zeros[0])),
            over->rank, over->shape);
    if (axis >= over->rank ||
        (jx_dim_is_int(over->shape[axis], &size) && size != q->count)) {
        jx_hlo_refuse(b,
                      "expected an axis %d of %d elements, one for each scale",
                      q->axis, q->count);
        return nothing;
    }
    return jx_hlo_eqn_broadcast_dims(b, vector(b, dtype, q, scales),
                                     (jx_ints){1, &axis}, over->rank,
                                     over->shape);
}

/* ---- between what is stored and reals */

/* Where subtracting a zero point can't wrap. */
static jx_dtype wide_enough(jx_dtype stored)
{
    return jx_dtype_of(stored)->bits <= 16 ? JX_I32 : JX_I64;
}

static jx_atom dequantize(jx_hlo_body *b, jx_atom stored,
                          const jx_mlir_type *element)
{
    const jx_mlir_quant *q = element->quant;
    jx_dtype from, real, wide;
    const jx_aval *aval;

    if (!jx_is_made(stored) || !read_type(b, element, &from, &real))
        return nothing;
    if (!all_zero(q)) {
        wide = wide_enough(from);
        stored = jx_hlo_eqn_convert(b, stored, wide);
        if (!jx_is_made(stored))
            return nothing;
        aval = jx_atom_aval(stored);
        stored = jx_hlo_eqn2(b, JX_PRIM_sub, stored,
                             spread(b, wide, q, false, aval), aval);
        b->s->program->x64 |= wide == JX_I64;
    }
    stored = jx_hlo_eqn_convert(b, stored, real);
    if (!jx_is_made(stored))
        return nothing;
    aval = jx_atom_aval(stored);
    return jx_hlo_eqn2(b, JX_PRIM_mul, stored, spread(b, real, q, true, aval),
                       aval);
}

/* Clamped to what may be stored, and rounded. */
static jx_atom stored_of(jx_hlo_body *b, jx_atom value, const jx_mlir_quant *q,
                         jx_dtype real, jx_dtype to)
{
    const jx_aval *aval = jx_atom_aval(value);
    const jx_atom bounded[] = {
        jx_build_number(&b->body, real, as_real(real, (double)q->min)), value,
        jx_build_number(&b->body, real, as_real(real, (double)q->max))};
    jx_params p = jx_hlo_no_params(b);

    value = jx_hlo_eqn(b, JX_PRIM_clamp, 3, bounded, NULL, aval);
    jx_put_enum(&p, "rounding_method", "RoundingMethod.TO_NEAREST_EVEN");
    if (jx_is_made(value))
        value = jx_hlo_eqn(b, JX_PRIM_round, 1, &value, &p, aval);
    return jx_hlo_eqn_convert(b, value, to);
}

static jx_atom quantize(jx_hlo_body *b, jx_atom value,
                        const jx_mlir_type *element)
{
    const jx_mlir_quant *q = element->quant;
    const jx_aval *aval;
    jx_dtype to, real;

    if (!jx_is_made(value) || !read_type(b, element, &to, &real))
        return nothing;
    aval = jx_atom_aval(value);
    if (aval->dtype != real) {
        jx_hlo_refuse(b, "expected values of %s, found %s",
                      jx_dtype_of(real)->name, jx_dtype_of(aval->dtype)->name);
        return nothing;
    }
    value = jx_hlo_eqn2(b, JX_PRIM_div, value, spread(b, real, q, true, aval),
                        aval);
    if (jx_is_made(value) && !all_zero(q))
        value = jx_hlo_eqn2(b, JX_PRIM_add, value,
                            spread(b, real, q, false, aval), aval);
    return jx_is_made(value) ? stored_of(b, value, q, real, to) : nothing;
}

bool jx_hlo_op_uniform_quantize(jx_hlo_body *b, const jx_mlir_op *op,
                                const jx_hlo_row *row)
{
    jx_atom in = jx_hlo_in(b, 0);

    (void)row;
    if (op->nins != 1 || op->nouts != 1 ||
        !jx_hlo_is_quantized(op->outs[0]->type))
        return jx_hlo_refuse(b, "expected one operand and a quantized result");
    if (jx_hlo_is_quantized(op->ins[0]->type))
        in = dequantize(b, in, element_of(op->ins[0]->type));
    return jx_hlo_define1(b, quantize(b, in, element_of(op->outs[0]->type)));
}

bool jx_hlo_op_uniform_dequantize(jx_hlo_body *b, const jx_mlir_op *op,
                                  const jx_hlo_row *row)
{
    const jx_mlir_type *from;

    (void)row;
    if (op->nins != 1 || op->nouts != 1 ||
        !(from = element_of(op->ins[0]->type)) ||
        op->outs[0]->type->kind != JX_T_TENSOR ||
        op->outs[0]->type->items[0] != from->items[1])
        return jx_hlo_refuse(b, "expected a quantized operand, and a result of "
                                "what it stands for");
    return jx_hlo_define1(b, dequantize(b, jx_hlo_in(b, 0), from));
}

/* ---- ops on what is stored */

/* Equal parameters; the axis may be another one. */
static bool same_scales(const jx_mlir_type *a, const jx_mlir_type *b)
{
    const jx_mlir_quant *p = a->quant, *q = b->quant;

    if (a == b)
        return true;
    if (a->items[0] != b->items[0] || a->items[1] != b->items[1] ||
        p->flags != q->flags || p->min != q->min || p->max != q->max ||
        (p->axis < 0) != (q->axis < 0))
        return false;
    for (int i = 0; i < p->count && i < q->count; i++)
        if (p->zeros[i] != q->zeros[i] || p->scales[i] < q->scales[i] ||
            p->scales[i] > q->scales[i])
            return false;
    return p->count == q->count;
}

/* Of an operand, then of a result. */
static const jx_mlir_type *type_at(const jx_mlir_op *op, int i)
{
    return i < op->nins ? op->ins[i]->type : op->outs[i - op->nins]->type;
}

/* Whether all quantized operands and results store the same way. */
static bool stores_alike(const jx_mlir_op *op)
{
    const jx_mlir_type *first = NULL;

    for (int i = 0; i < op->nins + op->nouts; i++) {
        const jx_mlir_type *element = element_of(type_at(op, i));
        if (element && first && !same_scales(element, first))
            return false;
        first = first ? first : element;
    }
    return true;
}

/* How many elements these axes have; -1: not known here. */
static int64_t elements_of(const jx_mlir_type *type, int axes)
{
    int64_t count = 1;

    for (int i = 0; i < axes; i++)
        if (type->shape[i] < 0 ||
            __builtin_mul_overflow(count, type->shape[i], &count))
            return -1;
    return count;
}

/* A reshape that leaves the axis alone. */
static bool reshapes_around(const jx_mlir_type *in, int from,
                            const jx_mlir_type *out, int to)
{
    return from < in->rank && to < out->rank &&
           in->shape[from] == out->shape[to] && elements_of(in, from) >= 0 &&
           elements_of(in, from) == elements_of(out, to);
}

/* Whether an op that moves leaves each element with its scale: always if there
 * is one for all. */
static bool keeps_scales(jx_hlo_body *b, const jx_mlir_op *op)
{
    const jx_mlir_type *in = op->nins ? element_of(op->ins[0]->type) : NULL;
    const jx_mlir_type *out = op->nouts ? element_of(op->outs[0]->type) : NULL;
    int from, to;
    jx_ints axes;

    if (!in || !out || !stores_alike(op))
        return false;
    from = in->quant->axis;
    to = out->quant->axis;
    if (from < 0)
        return true;
    if (op->id == JX_OP_stablehlo_transpose)
        return jx_hlo_attr_ints(b, "permutation", &axes) && to < axes.count &&
               axes.at[to] == from;
    if (op->id == JX_OP_stablehlo_broadcast_in_dim ||
        op->id == JX_OP_stablehlo_dynamic_broadcast_in_dim)
        return jx_hlo_attr_ints(b, "broadcast_dimensions", &axes) &&
               from < axes.count && axes.at[from] == to;
    return (op->id == JX_OP_stablehlo_reshape ||
            op->id == JX_OP_stablehlo_dynamic_reshape) &&
           reshapes_around(op->ins[0]->type, from, op->outs[0]->type, to);
}

#define OP(name) case JX_OP_stablehlo_##name:

/* Ops that take and give tensors as they are stored: their own rules see
 * integers. */
static bool is_storage_op(const jx_mlir_op *op)
{
    switch (op->id) {
        /* As it stands: clang-format takes rows of cases for one expression. */
        /* clang-format off */
    OP(uniform_quantize) OP(uniform_dequantize) OP(bitcast_convert)
    OP(constant) OP(get_dimension_size) OP(tuple) OP(get_tuple_element)
    OP(optimization_barrier) OP(custom_call) OP(composite) OP(while) OP(case)
    OP(if) OP(map) OP(reduce) OP(reduce_window) OP(select_and_scatter)
    OP(scatter) OP(sort) OP(all_reduce) OP(reduce_scatter) return true;
    /* clang-format on */
    default: /* calls, checks, casts */
        return strncmp(op->name, "stablehlo.", 10) &&
               strncmp(op->name, "chlo.", 5);
    }
}

/* Ops that move elements and compute nothing. */
static bool is_move(const jx_mlir_op *op)
{
    switch (op->id) {
        /* clang-format off */
    OP(all_gather) OP(all_to_all) OP(broadcast) OP(broadcast_in_dim)
    OP(collective_broadcast) OP(collective_permute) OP(concatenate)
    OP(dynamic_broadcast_in_dim) OP(dynamic_gather) OP(dynamic_pad)
    OP(dynamic_reshape) OP(dynamic_slice) OP(dynamic_update_slice) OP(gather)
    OP(pad) OP(real_dynamic_slice) OP(reshape) OP(reverse) OP(slice)
    OP(transpose) return true;
    /* clang-format on */
    default: return false;
    }
}

#undef OP

/* ---- an op as it is for other types */

/* What a value is as a tensor of `to`, which was read as one of `from`; both
 * are elements, quantized ones or reals. */
static jx_atom restored(jx_hlo_body *b, jx_atom atom, const jx_mlir_type *from,
                        const jx_mlir_type *to)
{
    jx_dtype dtype;

    if (from->kind != JX_T_QUANTIZED && to->kind != JX_T_QUANTIZED)
        return jx_mlir_dtype(to, &dtype) ? jx_hlo_eqn_convert(b, atom, dtype)
                                         : nothing;
    if (from->kind == JX_T_QUANTIZED)
        atom = dequantize(b, atom, from);
    return to->kind == JX_T_QUANTIZED ? quantize(b, atom, to) : atom;
}

/* These values, with types of these elements; NULL: as they are. */
static const jx_mlir_value *const *retyped(jx_hlo_body *b, int count,
                                           const jx_mlir_value *const *of,
                                           const jx_mlir_type *const *elements)
{
    const jx_mlir_value **to =
        JX_NEW_ARRAY(b->s->ctx->arena, count, const jx_mlir_value *);

    for (int i = 0; to && i < count; i++) {
        jx_mlir_value *other;
        to[i] = of[i];
        if (!elements[i])
            continue;
        to[i] = other = jx_arena_copy(b->s->ctx->arena, of[i], sizeof *other);
        if (!other ||
            !(other->type = with_element(b, of[i]->type, elements[i])))
            return NULL;
    }
    return to;
}

/* Says what `to` is by what `from`, the same tensor of another type, is. */
static bool define_as(jx_hlo_body *b, const jx_mlir_value *from,
                      const jx_mlir_value *to)
{
    jx_atom *atom = JX_NEW(b->s->ctx->arena, jx_atom);

    if (!atom || from == to)
        return atom != NULL;
    *atom = restored(b, jx_hlo_atom(b, from), from->type->items[0],
                     to->type->items[0]);
    return jx_hlo_define_value(b, to, 1, atom);
}

/* Reads the op as if its operands and results had these elements. */
static bool read_as(jx_hlo_body *b, const jx_mlir_op *op, const jx_hlo_row *row,
                    const jx_mlir_type *const *elements)
{
    jx_mlir_op *other = jx_arena_copy(b->s->ctx->arena, op, sizeof *op);
    bool ok = true;

    if (!other || !(other->ins = retyped(b, op->nins, op->ins, elements)) ||
        !(other->outs = retyped(b, op->nouts, op->outs, elements + op->nins)))
        return false;
    for (int i = 0; ok && i < op->nins; i++)
        ok = define_as(b, op->ins[i], other->ins[i]);
    if (!ok)
        return false;
    b->op = other;
    ok = row->rule(b, other, row);
    b->op = op;
    for (int i = 0; ok && i < op->nouts; i++)
        ok = define_as(b, other->outs[i], op->outs[i]);
    return ok;
}

static const jx_mlir_type **no_elements(jx_hlo_body *b, const jx_mlir_op *op)
{
    return JX_NEW_ARRAY(b->s->ctx->arena, op->nins + op->nouts,
                        const jx_mlir_type *);
}

/* The op on reals, between dequantizing and quantizing. */
static bool on_reals(jx_hlo_body *b, const jx_mlir_op *op,
                     const jx_hlo_row *row)
{
    const jx_mlir_type **elements = no_elements(b, op);

    for (int i = 0; elements && i < op->nins + op->nouts; i++) {
        const jx_mlir_type *element = element_of(type_at(op, i));
        elements[i] = element ? element->items[1] : NULL;
    }
    return elements && read_as(b, op, row, elements);
}

/* ---- ops with a body that combines elements */

/* Which argument of the body an operand's elements are; -1: none. */
static int argument_of(const jx_mlir_op *op, int operand)
{
    int inputs = (op->nins - 1) / 2;

    if (op->id == JX_OP_stablehlo_reduce ||
        op->id == JX_OP_stablehlo_reduce_window)
        return operand;
    if (op->id == JX_OP_stablehlo_scatter)
        return operand < inputs ? operand : operand > inputs ? operand - 1 : -1;
    return op->id == JX_OP_stablehlo_select_and_scatter ||
                   op->id == JX_OP_stablehlo_all_reduce ||
                   op->id == JX_OP_stablehlo_reduce_scatter
               ? 0
               : -1;
}

static const jx_mlir_type *any_element(const jx_mlir_type *type)
{
    return type->kind == JX_T_TENSOR && type->count ? type->items[0] : NULL;
}

/* The elements that the body takes of an operand (a result, which are numbered
 * behind them), where that is another type than the operand's: a wider one, or
 * one that is quantized otherwise; else NULL. */
static const jx_mlir_type *taken(const jx_mlir_op *op, int i)
{
    const jx_mlir_block *body = op->nregions ? jx_mlir_body(op, 0) : NULL;
    int argument = argument_of(op, i < op->nins ? i : i - op->nins);
    const jx_mlir_type *has = any_element(type_at(op, i)), *wants;

    if (!body || argument < 0 || argument >= body->nargs || !has)
        return NULL;
    wants = any_element(body->args[argument]->type);
    if (!wants || wants == has ||
        (wants->kind == JX_T_QUANTIZED && has->kind == JX_T_QUANTIZED &&
         same_scales(wants, has)))
        return NULL;
    return wants;
}

bool jx_hlo_widens(const jx_mlir_op *op)
{
    for (int i = 0; op->nregions == 1 && i < op->nins; i++)
        if (taken(op, i))
            return true;
    return false;
}

/* Operands become what the body takes, where that is another type. */
static bool as_stored(jx_hlo_body *b, const jx_mlir_op *op,
                      const jx_hlo_row *row)
{
    const jx_mlir_type **elements = no_elements(b, op);
    bool change = false;

    for (int i = 0; elements && i < op->nins + op->nouts; i++) {
        const jx_mlir_type *wants = taken(op, i);
        if (!wants)
            continue;
        if ((wants->kind == JX_T_QUANTIZED) !=
            jx_hlo_is_quantized(type_at(op, i)))
            return jx_hlo_refuse(b, "a body that takes quantized elements of "
                                    "a tensor that has none");
        if (wants->kind != JX_T_QUANTIZED && i >= op->nins)
            return jx_hlo_refuse(b, "expected results of the type that the "
                                    "body gives");
        elements[i] = wants;
        change = true;
    }
    if (!elements)
        return false;
    return change ? read_as(b, op, row, elements) : row->rule(b, op, row);
}

/* ---- any op */

bool jx_hlo_has_quantized(const jx_mlir_op *op)
{
    for (int i = 0; i < op->nins + op->nouts; i++)
        if (element_of(type_at(op, i)))
            return true;
    return false;
}

bool jx_hlo_quantized(jx_hlo_body *b, const jx_mlir_op *op,
                      const jx_hlo_row *row)
{
    if (is_storage_op(op))
        return as_stored(b, op, row);
    if (is_move(op) && keeps_scales(b, op))
        return row->rule(b, op, row);
    return on_reals(b, op, row);
}
