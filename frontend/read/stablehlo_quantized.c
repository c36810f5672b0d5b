/* stablehlo_quantized.c - quantized types, which no program has: a value of
 * one is the integers that it stores, and what is computed with it is computed
 * with the floats that these stand for:
 *
 *     dequantize(q) = (q - zero) * scale
 *     quantize(x) = round(clamp(least, x / scale + zero, most))
 *
 * (the specification's sections "uniform_quantize" and "Quantization
 * computations").  Ops that only move elements move the integers. */
#include "frontend/read/stablehlo_parts.h"

/* ---- types */

static const jx_mlir_type *quantized(const jx_mlir_type *type)
{
    return type->kind == JX_T_TENSOR && type->count &&
                   type->items[0]->kind == JX_T_QUANTIZED &&
                   type->items[0]->quant
               ? type->items[0]
               : NULL;
}

bool jx_shlo_is_quantized(const jx_mlir_op *op)
{
    for (int i = 0; i < op->nins; i++)
        if (quantized(op->ins[i]->type))
            return true;
    for (int i = 0; i < op->nouts; i++)
        if (quantized(op->outs[i]->type))
            return true;
    return false;
}

static bool same_parameters(const jx_mlir_quant *a, const jx_mlir_quant *b)
{
    return a->count == b->count && a->min == b->min && a->max == b->max &&
           !memcmp(a->scales, b->scales,
                   (size_t)a->count * sizeof *a->scales) &&
           !memcmp(a->zeros, b->zeros, (size_t)a->count * sizeof *a->zeros);
}

/* All quantized types of the op store the same numbers for the same values. */
static bool is_uniform(const jx_mlir_op *op)
{
    const jx_mlir_quant *first = NULL;

    for (int i = 0; i < op->nins + op->nouts; i++) {
        const jx_mlir_type *type =
            quantized(i < op->nins ? op->ins[i]->type
                                   : op->outs[i - op->nins]->type);
        if (!type)
            continue;
        if (first && !same_parameters(first, type->quant))
            return false;
        first = type->quant;
    }
    return true;
}

static bool only_moves(const char *name)
{
    static const char *const names[] = {
        "stablehlo.transpose", "stablehlo.reshape", "stablehlo.slice",
        "stablehlo.broadcast_in_dim", "stablehlo.gather", "stablehlo.pad",
        "stablehlo.concatenate", "stablehlo.reverse", "stablehlo.select",
        "stablehlo.dynamic_slice", "stablehlo.dynamic_update_slice",
        "stablehlo.dynamic_broadcast_in_dim", "stablehlo.dynamic_reshape",
        "stablehlo.dynamic_gather", "stablehlo.real_dynamic_slice",
        "stablehlo.dynamic_pad", "stablehlo.broadcast",
        "stablehlo.optimization_barrier"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

static bool keeps_integers(const char *name)
{
    static const char *const names[] = {
        "stablehlo.constant", "stablehlo.bitcast_convert", "stablehlo.tuple",
        "stablehlo.get_tuple_element", "stablehlo.custom_call",
        "stablehlo.get_dimension_size", "stablehlo.composite", "func.call",
        "builtin.unrealized_conversion_cast", "check.expect_eq",
        "check.expect_eq_const", "check.expect_almost_eq"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

/* ---- scales and zeros */

/* One number, or one per index of the axis, at the shape of `like`. */
static jx_atom spread(jx_shlo_body *b, const jx_mlir_quant *q, jx_dtype dtype,
                      bool zeros, const jx_aval *like)
{
    jx_dtype wide = zeros ? JX_I64 : JX_F64;
    const jx_dim *count = jx_shlo_int(b, q->count);
    int64_t axis = q->axis;
    jx_atom all;

    if (q->count == 1 && q->axis < 0)
        return jx_shlo_broadcast(
            b, jx_shlo_scalar(b, dtype,
                              zeros ? (double)q->zeros[0] : q->scales[0]),
            like->rank, like->shape);
    if (axis < 0 || axis >= like->rank) {
        jx_shlo_fail(b, "a quantized type whose axis is not one of the "
                        "tensor's");
        return (jx_atom){NULL, NULL};
    }
    all = jx_shlo_constant(b, jx_shlo_array(b, wide, 1, &count),
                           zeros ? (const void *)q->zeros : q->scales,
                           (size_t)q->count * sizeof(double), false);
    return jx_shlo_broadcast_dims(b, jx_shlo_convert(b, all, dtype),
                                  (jx_ints){1, &axis}, like->rank,
                                  like->shape);
}

/* Integers in which a difference of two of the stored ones is exact. */
static jx_dtype wider(jx_dtype storage)
{
    return jx_dtype_of(storage)->bits < 32 ? JX_I32 : JX_I64;
}

static bool has_no_zero(const jx_mlir_quant *q)
{
    for (int i = 0; i < q->count; i++)
        if (q->zeros[i])
            return false;
    return true;
}

static const jx_aval *like_of(jx_shlo_body *b, jx_atom a, jx_dtype dtype)
{
    const jx_aval *aval = jx_atom_aval(a);

    return jx_shlo_array(b, dtype, aval->rank, aval->shape);
}

static bool is_atom(jx_atom a)
{
    return a.var || a.literal;
}

static jx_atom dequantize(jx_shlo_body *b, jx_atom in,
                          const jx_mlir_type *type)
{
    const jx_mlir_quant *q = type->quant;
    jx_dtype expressed, wide;

    if (!is_atom(in) || !jx_mlir_dtype(type->items[1], &expressed)) {
        jx_shlo_fail(b, "a quantized type that we do not know");
        return (jx_atom){NULL, NULL};
    }
    wide = wider(jx_atom_aval(in)->dtype);
    in = jx_shlo_convert(b, in, wide);
    if (is_atom(in) && !has_no_zero(q))
        in = jx_shlo_emit2(b, JX_PRIM_sub, in,
                           spread(b, q, wide, true, jx_atom_aval(in)),
                           jx_atom_aval(in));
    in = jx_shlo_convert(b, in, expressed);
    if (!is_atom(in))
        return in;
    return jx_shlo_emit2(b, JX_PRIM_mul, in,
                         spread(b, q, expressed, false, jx_atom_aval(in)),
                         jx_atom_aval(in));
}

static jx_atom clamped(jx_shlo_body *b, jx_atom in, const jx_mlir_quant *q)
{
    const jx_aval *aval = jx_atom_aval(in);
    const jx_atom ins[] = {jx_shlo_scalar(b, aval->dtype, (double)q->min), in,
                           jx_shlo_scalar(b, aval->dtype, (double)q->max)};

    return jx_shlo_emit(b, JX_PRIM_clamp, 3, ins, NULL, aval);
}

static jx_atom quantize(jx_shlo_body *b, jx_atom in, const jx_mlir_type *type)
{
    const jx_mlir_quant *q = type->quant;
    jx_shlo_params p = jx_shlo_no_params(b);
    jx_dtype storage, expressed;
    const jx_aval *aval;

    if (!is_atom(in) || !jx_mlir_dtype(type->items[0], &storage) ||
        !jx_mlir_dtype(type->items[1], &expressed)) {
        jx_shlo_fail(b, "a quantized type that we do not know");
        return (jx_atom){NULL, NULL};
    }
    in = jx_shlo_convert(b, in, expressed);
    if (!is_atom(in))
        return in;
    aval = like_of(b, in, expressed);
    in = jx_shlo_emit2(b, JX_PRIM_div, in, spread(b, q, expressed, false,
                                                  aval), aval);
    if (is_atom(in) && !has_no_zero(q))
        in = jx_shlo_emit2(b, JX_PRIM_add, in,
                           spread(b, q, expressed, true, aval), aval);
    if (is_atom(in))
        in = clamped(b, in, q);
    jx_shlo_put_enum(&p, "rounding_method", "RoundingMethod.TO_NEAREST_EVEN");
    in = jx_shlo_emit(b, JX_PRIM_round, 1, &in, &p, aval);
    return jx_shlo_convert(b, in, storage);
}

/* ---- ops on floats in place of those on quantized values */

static const jx_mlir_type *float_type(jx_shlo_body *b,
                                      const jx_mlir_type *type)
{
    return jx_mlir_tensor(b->s->file->types, type->rank, type->shape,
                          quantized(type)->items[1]);
}

/* The value itself, or one of floats in its place. */
static const jx_mlir_value *stand_in(jx_shlo_body *b, const jx_mlir_op *op,
                                     const jx_mlir_value *value)
{
    jx_mlir_value *to;

    if (!quantized(value->type))
        return value;
    to = jx_arena_copy(b->s->ctx->arena, value, sizeof *value);
    if (to)
        to->type = float_type(b, value->type);
    if (to && op)
        to->op = op;
    return to && to->type ? to : NULL;
}

static bool replace_ins(jx_shlo_body *b, jx_mlir_op *op)
{
    const jx_mlir_value **ins = JX_NEW_ARRAY(b->s->ctx->arena, op->nins,
                                             const jx_mlir_value *);

    for (int i = 0; ins && i < op->nins; i++) {
        const jx_mlir_value *from = op->ins[i];
        ins[i] = stand_in(b, NULL, from);
        if (!ins[i])
            return false;
        if (ins[i] == from)
            continue;
        jx_atom *atom = JX_NEW(b->s->ctx->arena, jx_atom);
        if (!atom)
            return false;
        *atom = dequantize(b, jx_shlo_atom(b, from), quantized(from->type));
        if (!jx_shlo_define_value(b, ins[i], 1, atom))
            return false;
    }
    op->ins = ins;
    return ins != NULL;
}

static bool replace_outs(jx_shlo_body *b, jx_mlir_op *op)
{
    const jx_mlir_value **outs = JX_NEW_ARRAY(b->s->ctx->arena, op->nouts,
                                              const jx_mlir_value *);

    for (int i = 0; outs && i < op->nouts; i++) {
        outs[i] = stand_in(b, op, op->outs[i]);
        if (!outs[i])
            return false;
    }
    op->outs = outs;
    return outs != NULL;
}

static bool take_results(jx_shlo_body *b, const jx_mlir_op *op,
                         const jx_mlir_op *done)
{
    for (int i = 0; i < op->nouts; i++) {
        jx_shlo_atoms made;
        jx_atom *atom;
        if (done->outs[i] == op->outs[i])
            continue; /* no quantized one */
        made = jx_shlo_atoms_of(b, done->outs[i]);
        atom = made.count == 1 ? JX_NEW(b->s->ctx->arena, jx_atom) : NULL;
        if (!atom)
            return false;
        *atom = quantize(b, made.at[0], quantized(op->outs[i]->type));
        if (!jx_shlo_define_value(b, op->outs[i], 1, atom))
            return false;
    }
    return true;
}

static bool read_with_floats(jx_shlo_body *b, const jx_mlir_op *op,
                             const jx_shlo_row *row)
{
    jx_mlir_op *floats = jx_arena_copy(b->s->ctx->arena, op, sizeof *op);
    bool ok;

    if (!floats || !replace_ins(b, floats) || !replace_outs(b, floats))
        return false;
    b->op = floats;
    b->stands_for = op;
    ok = row->rule(b, floats, row);
    b->op = op;
    b->stands_for = NULL;
    return ok && take_results(b, op, floats);
}

bool jx_shlo_quantized(jx_shlo_body *b, const jx_mlir_op *op,
                       const jx_shlo_row *row)
{
    if (op->nregions || keeps_integers(op->name) ||
        (only_moves(op->name) && is_uniform(op)))
        return row->rule(b, op, row);
    return read_with_floats(b, op, row);
}

/* ---- conversions */

bool jx_shlo_op_uniform_dequantize(jx_shlo_body *b, const jx_mlir_op *op,
                                   const jx_shlo_row *row)
{
    /* Its operand has become floats on the way here. */
    (void)op, (void)row;
    return jx_shlo_define1(b, jx_shlo_in(b, 0));
}

bool jx_shlo_op_uniform_quantize(jx_shlo_body *b, const jx_mlir_op *op,
                                 const jx_shlo_row *row)
{
    (void)op, (void)row;
    return jx_shlo_define1(b, jx_shlo_in(b, 0));
}
