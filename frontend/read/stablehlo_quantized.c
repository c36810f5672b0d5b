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

static bool is_atom(jx_atom a)
{
    return a.var || a.literal;
}

static const jx_atom nothing = {NULL, NULL};

/* ---- types */

/* The quantized element type of a tensor, or NULL. */
static const jx_mlir_type *element_of(const jx_mlir_type *type)
{
    const jx_mlir_type *element = type;

    if ((type->kind == JX_T_TENSOR || type->kind == JX_T_UNRANKED) &&
        type->count)
        element = type->items[0];
    return element->kind == JX_T_QUANTIZED ? element : NULL;
}

bool jx_shlo_is_quantized(const jx_mlir_type *type)
{
    return element_of(type) != NULL;
}

/* The dtypes of what is stored and of what it stands for, and parameters that
 * mean something. */
static bool read_type(jx_shlo_body *b, const jx_mlir_type *element,
                      jx_dtype *stored, jx_dtype *real)
{
    const jx_mlir_quant *q = element->quant;

    if (!q || !jx_shlo_dtype(element, stored) ||
        !jx_dtype_is_integer(*stored) ||
        !jx_mlir_dtype(element->items[1], real) || !jx_dtype_is_float(*real))
        return jx_shlo_fail(b, "a quantized type that stores no integers, or "
                               "whose values are no reals");
    if (q->count < 1 || q->min > q->max)
        return jx_shlo_fail(b, "a quantized type without a scale or without "
                               "values");
    for (int i = 0; i < q->count; i++)
        if (!(q->scales[i] > 0) || q->scales[i] - q->scales[i] != 0)
            return jx_shlo_fail(b, "a quantized type whose scale %g is not "
                                   "positive and finite", q->scales[i]);
    return true;
}

/* The type of the same tensor with elements that are reals. */
static const jx_mlir_type *real_type(jx_shlo_body *b,
                                     const jx_mlir_type *type)
{
    const jx_mlir_type *element = element_of(type);
    jx_mlir_type like = *type;

    if (element == type)
        return element->items[1];
    like.items = &element->items[1];
    return jx_mlir_type_add(b->s->file->types, &like);
}

/* ---- scales and zero points */

/* Rounded to even where that is what a literal holds. */
static double as_real(jx_dtype dtype, double value)
{
    return dtype == JX_F64 ? value : (double)(float)value;
}

static bool all_zero(const jx_mlir_quant *q)
{
    for (int i = 0; i < q->count; i++)
        if (q->zeros[i])
            return false;
    return true;
}

/* One number for each index of the axis, as a vector. */
static jx_atom vector(jx_shlo_body *b, jx_dtype dtype, const jx_mlir_quant *q,
                      bool scales)
{
    size_t size = jx_dtype_of(dtype)->bytes;
    const jx_dim *length = jx_shlo_int(b, q->count);
    const jx_aval *aval = jx_shlo_array(b, dtype, 1, &length);
    unsigned char *data = JX_NEW_ARRAY(b->s->ctx->arena,
                                       (size_t)q->count * size, unsigned char);

    if (!aval || !data)
        return nothing;
    for (int i = 0; i < q->count; i++) {
        unsigned char *to = data + (size_t)i * size;
        if (jx_dtype_is_float(dtype))
            jx_element_from_real(dtype,
                                 as_real(dtype, scales ? q->scales[i]
                                                       : (double)q->zeros[i]),
                                 to);
        else
            memcpy(to, &q->zeros[i], size); /* little endian, and it fits */
    }
    return jx_shlo_constant(b, aval, data, (size_t)q->count * size, false);
}

/* The scales or zero points for an array of this type. */
static jx_atom spread(jx_shlo_body *b, jx_dtype dtype, const jx_mlir_quant *q,
                      bool scales, const jx_aval *over)
{
    int64_t axis = q->axis;

    if (q->axis < 0)
        return jx_shlo_broadcast(
            b, jx_shlo_scalar(b, dtype,
                              as_real(dtype, scales ? q->scales[0]
                                                    : (double)q->zeros[0])),
            over->rank, over->shape);
    if (axis >= over->rank ||
        jx_dim_value(over->shape[axis]) != q->count) {
        jx_shlo_fail(b, "expected an axis %d of %d elements, one for each "
                        "scale", q->axis, q->count);
        return nothing;
    }
    return jx_shlo_broadcast_dims(b, vector(b, dtype, q, scales),
                                  (jx_ints){1, &axis}, over->rank,
                                  over->shape);
}

/* ---- between what is stored and reals */

/* Where subtracting a zero point can't wrap. */
static jx_dtype wide_enough(jx_dtype stored)
{
    return jx_dtype_of(stored)->bits <= 16 ? JX_I32 : JX_I64;
}

static jx_atom dequantize(jx_shlo_body *b, jx_atom stored,
                          const jx_mlir_type *element)
{
    const jx_mlir_quant *q = element->quant;
    jx_dtype from, real, wide;
    const jx_aval *aval;

    if (!is_atom(stored) || !read_type(b, element, &from, &real))
        return nothing;
    if (!all_zero(q)) {
        wide = wide_enough(from);
        stored = jx_shlo_convert(b, stored, wide);
        if (!is_atom(stored))
            return nothing;
        aval = jx_atom_aval(stored);
        stored = jx_shlo_emit2(b, JX_PRIM_sub, stored,
                               spread(b, wide, q, false, aval), aval);
        b->s->program->x64 |= wide == JX_I64;
    }
    stored = jx_shlo_convert(b, stored, real);
    if (!is_atom(stored))
        return nothing;
    aval = jx_atom_aval(stored);
    return jx_shlo_emit2(b, JX_PRIM_mul, stored,
                         spread(b, real, q, true, aval), aval);
}

/* Clamped to what may be stored, and rounded. */
static jx_atom stored_of(jx_shlo_body *b, jx_atom value,
                         const jx_mlir_quant *q, jx_dtype real, jx_dtype to)
{
    const jx_aval *aval = jx_atom_aval(value);
    const jx_atom bounded[] = {
        jx_shlo_scalar(b, real, as_real(real, (double)q->min)), value,
        jx_shlo_scalar(b, real, as_real(real, (double)q->max))};
    jx_shlo_params p = jx_shlo_no_params(b);

    value = jx_shlo_emit(b, JX_PRIM_clamp, 3, bounded, NULL, aval);
    jx_shlo_put_enum(&p, "rounding_method", "RoundingMethod.TO_NEAREST_EVEN");
    if (is_atom(value))
        value = jx_shlo_emit(b, JX_PRIM_round, 1, &value, &p, aval);
    return jx_shlo_convert(b, value, to);
}

static jx_atom quantize(jx_shlo_body *b, jx_atom value,
                        const jx_mlir_type *element)
{
    const jx_mlir_quant *q = element->quant;
    const jx_aval *aval;
    jx_dtype to, real;

    if (!is_atom(value) || !read_type(b, element, &to, &real))
        return nothing;
    aval = jx_atom_aval(value);
    if (aval->dtype != real) {
        jx_shlo_fail(b, "expected values of %s, found %s",
                     jx_dtype_of(real)->name, jx_dtype_of(aval->dtype)->name);
        return nothing;
    }
    value = jx_shlo_emit2(b, JX_PRIM_div, value, spread(b, real, q, true, aval),
                          aval);
    if (is_atom(value) && !all_zero(q))
        value = jx_shlo_emit2(b, JX_PRIM_add, value,
                              spread(b, real, q, false, aval), aval);
    return is_atom(value) ? stored_of(b, value, q, real, to) : nothing;
}

bool jx_shlo_op_uniform_quantize(jx_shlo_body *b, const jx_mlir_op *op,
                                 const jx_shlo_row *row)
{
    jx_atom in = jx_shlo_in(b, 0);

    (void)row;
    if (op->nins != 1 || op->nouts != 1 ||
        !jx_shlo_is_quantized(op->outs[0]->type))
        return jx_shlo_fail(b, "expected one operand and a quantized result");
    if (jx_shlo_is_quantized(op->ins[0]->type))
        in = dequantize(b, in, element_of(op->ins[0]->type));
    return jx_shlo_define1(b, quantize(b, in, element_of(op->outs[0]->type)));
}

bool jx_shlo_op_uniform_dequantize(jx_shlo_body *b, const jx_mlir_op *op,
                                   const jx_shlo_row *row)
{
    (void)row;
    if (op->nins != 1 || !jx_shlo_is_quantized(op->ins[0]->type))
        return jx_shlo_fail(b, "expected one operand, a quantized tensor");
    return jx_shlo_define1(b, dequantize(b, jx_shlo_in(b, 0),
                                         element_of(op->ins[0]->type)));
}

/* ---- ops on what is stored */

/* Equal parameters; the axis may be another one (transpose, reshape). */
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

/* Whether all quantized operands and results store the same way. */
static bool stores_alike(const jx_mlir_op *op)
{
    const jx_mlir_type *first = NULL;

    for (int i = 0; i < op->nins + op->nouts; i++) {
        const jx_mlir_value *v = i < op->nins ? op->ins[i]
                                              : op->outs[i - op->nins];
        const jx_mlir_type *element = element_of(v->type);
        if (element && first && !same_scales(element, first))
            return false;
        first = first ? first : element;
    }
    return true;
}

/* Ops that take and give tensors as they are stored: their own rules see
 * integers. */
static bool is_storage_op(const char *name)
{
    static const char *const names[] = {
        "uniform_quantize", "uniform_dequantize", "bitcast_convert",
        "constant", "get_dimension_size", "tuple", "get_tuple_element",
        "optimization_barrier", "custom_call", "composite", "while", "case",
        "if", "map", "reduce", "reduce_window", "select_and_scatter",
        "scatter", "sort", "all_reduce", "reduce_scatter"};
    const char *dot = strchr(name, '.');

    if (!dot || strncmp(name, "stablehlo.", 10))
        return strncmp(name, "chlo.", 5) != 0; /* calls, checks, casts */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(dot + 1, names[i]))
            return true;
    return false;
}

/* Ops that move elements and compute nothing. */
static bool is_move(const char *name)
{
    static const char *const names[] = {
        "all_gather", "all_to_all", "broadcast", "broadcast_in_dim",
        "collective_broadcast", "collective_permute", "concatenate",
        "dynamic_broadcast_in_dim", "dynamic_gather", "dynamic_pad",
        "dynamic_reshape", "dynamic_slice", "dynamic_update_slice", "gather",
        "pad", "real_dynamic_slice", "reshape", "reverse", "slice",
        "transpose"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(name, "stablehlo.", 10) && !strcmp(name + 10, names[i]))
            return true;
    return false;
}

bool jx_shlo_is_on_reals(const jx_mlir_op *op)
{
    bool any = false;

    for (int i = 0; i < op->nins; i++)
        any = any || jx_shlo_is_quantized(op->ins[i]->type);
    for (int i = 0; i < op->nouts; i++)
        any = any || jx_shlo_is_quantized(op->outs[i]->type);
    return any && !is_storage_op(op->name) &&
           !(is_move(op->name) && stores_alike(op));
}

/* ---- ops on reals */

/* A value like this one with reals in it. */
static const jx_mlir_value *real_value(jx_shlo_body *b,
                                       const jx_mlir_value *of)
{
    jx_mlir_value *to = jx_arena_copy(b->s->ctx->arena, of, sizeof *of);

    if (to)
        to->type = real_type(b, of->type);
    return to && to->type ? to : NULL;
}

static const jx_mlir_value *const *real_values(jx_shlo_body *b, int count,
                                               const jx_mlir_value *const *of)
{
    const jx_mlir_value **to = JX_NEW_ARRAY(b->s->ctx->arena, count,
                                            const jx_mlir_value *);

    for (int i = 0; to && i < count; i++) {
        to[i] = jx_shlo_is_quantized(of[i]->type) ? real_value(b, of[i])
                                                  : of[i];
        if (!to[i])
            return NULL;
    }
    return to;
}

/* Operands of the op on reals are what those of the op stand for. */
static bool define_reals(jx_shlo_body *b, const jx_mlir_op *op,
                         const jx_mlir_op *reals)
{
    for (int i = 0; i < op->nins; i++) {
        jx_atom *atom = JX_NEW(b->s->ctx->arena, jx_atom);
        if (!atom)
            return false;
        if (op->ins[i] == reals->ins[i])
            continue;
        *atom = dequantize(b, jx_shlo_in(b, i), element_of(op->ins[i]->type));
        if (!jx_shlo_define_value(b, reals->ins[i], 1, atom))
            return false;
    }
    return true;
}

static bool define_results(jx_shlo_body *b, const jx_mlir_op *op,
                           const jx_mlir_op *reals)
{
    for (int i = 0; i < op->nouts; i++) {
        jx_atom *atom = JX_NEW(b->s->ctx->arena, jx_atom);
        if (!atom)
            return false;
        if (op->outs[i] == reals->outs[i])
            continue;
        *atom = quantize(b, jx_shlo_atom(b, reals->outs[i]),
                         element_of(op->outs[i]->type));
        if (!jx_shlo_define_value(b, op->outs[i], 1, atom))
            return false;
    }
    return true;
}

bool jx_shlo_on_reals(jx_shlo_body *b, const jx_mlir_op *op,
                      const jx_shlo_row *row)
{
    jx_mlir_op *reals = jx_arena_copy(b->s->ctx->arena, op, sizeof *op);

    if (!reals || !(reals->ins = real_values(b, op->nins, op->ins)) ||
        !(reals->outs = real_values(b, op->nouts, op->outs)) ||
        !define_reals(b, op, reals))
        return false;
    b->op = reals;
    b->stands_for = op;
    bool ok = row->rule(b, reals, row);
    b->op = op;
    b->stands_for = NULL;
    return ok && define_results(b, op, reals);
}
