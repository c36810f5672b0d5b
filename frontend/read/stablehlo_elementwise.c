/* stablehlo_elementwise.c - ops that work element by element, and constants. */
#include "frontend/read/stablehlo_parts.h"

static const jx_aval *result(jx_hlo_body *b)
{
    if (b->op->nouts != 1) {
        jx_hlo_refuse(b, "expected one result, a tensor");
        return NULL;
    }
    return jx_hlo_result(b, 0, NULL);
}

/* Of operands of one shape: a size that is 1 in one of them is that in all,
 * though the primitives would repeat it. */
static const jx_aval *result_of(jx_hlo_body *b, jx_atoms ins)
{
    const jx_dim *known[JX_HLO_RANK] = {0};
    int rank = b->op->nouts == 1 ? b->op->outs[0]->type->rank : 0;

    for (int k = 0; k < 2 * ins.count && rank <= JX_HLO_RANK; k++) {
        const jx_aval *aval = jx_atom_aval(ins.at[k % ins.count]);
        for (int i = 0; i < rank && aval->rank == rank; i++)
            if (known[i])
                jx_sz_same(b->s->sizes, aval->shape[i], known[i]);
            else if (jx_dim_value(aval->shape[i]) == 1)
                known[i] = aval->shape[i];
    }
    return b->op->nouts == 1 ? jx_hlo_result(b, 0, known) : result(b);
}

static bool emit_plain(jx_hlo_body *b, jx_prim_id prim, jx_atoms ins,
                       jx_params *params)
{
    const jx_aval *out = result_of(b, ins);

    return out && jx_hlo_define1(
                      b, jx_hlo_eqn(b, prim, ins.count, ins.at, params, out));
}

/* ---- primitives by dtype */

/* On booleans sums are `or` and products `and`. */
static jx_prim_id for_booleans(jx_prim_id prim)
{
    switch (prim) {
    case JX_PRIM_add:
    case JX_PRIM_max: return JX_PRIM_or;
    case JX_PRIM_mul:
    case JX_PRIM_min: return JX_PRIM_and;
    case JX_PRIM_sub: return JX_PRIM_xor;
    default: return prim;
    }
}

/* The parts of what is no complex number: itself, and 0. */
static bool part_of_real(jx_hlo_body *b, jx_prim_id prim, jx_atom in)
{
    const jx_aval *aval = jx_atom_aval(in);

    if (prim == JX_PRIM_real)
        return jx_hlo_define1(b, in);
    return jx_hlo_define1(
        b, jx_hlo_eqn_broadcast(b, jx_build_number(&b->body, aval->dtype, 0),
                                aval->rank, aval->shape));
}

/* ---- what JAX has for fewer dtypes */

/* A number at the shape of `like`. */
static jx_atom number(jx_hlo_body *b, jx_dtype dtype, double value,
                      const jx_aval *like)
{
    return jx_hlo_eqn_broadcast(b, jx_build_number(&b->body, dtype, value),
                                like->rank, like->shape);
}

static jx_atom two(jx_hlo_body *b, jx_prim_id prim, jx_atom a, jx_atom c)
{
    return jx_is_made(a) && jx_is_made(c)
               ? jx_hlo_eqn2(b, prim, a, c, jx_atom_aval(a))
               : (jx_atom){NULL, NULL};
}

/* A test of integers against 0. */
static jx_atom test(jx_hlo_body *b, jx_prim_id prim, jx_atom a)
{
    const jx_aval *aval = jx_is_made(a) ? jx_atom_aval(a) : NULL;

    return aval ? jx_hlo_eqn2(b, prim, a, number(b, aval->dtype, 0, aval),
                              jx_hlo_array(b, JX_BOOL, aval->rank, aval->shape))
                : a;
}

static jx_atom choose(jx_hlo_body *b, jx_atom test_, jx_atom yes, jx_atom no)
{
    const jx_atom ins[] = {test_, no, yes};

    return jx_is_made(test_) && jx_is_made(yes) && jx_is_made(no)
               ? jx_hlo_eqn(b, JX_PRIM_select_n, 3, ins, NULL,
                            jx_atom_aval(yes))
               : (jx_atom){NULL, NULL};
}

/* Integers: by squaring, one bit of the exponent after the other.  What is
 * divided by, as the exponent is negative, leaves 0 but for 1 and -1; so does
 * 0. */
static jx_atom integer_power(jx_hlo_body *b, jx_atom base, jx_atom exponent,
                             const jx_aval *out)
{
    const jx_dtype_info *info = jx_dtype_of(out->dtype);
    jx_atom one = number(b, out->dtype, 1, out), result = one, square = base;
    jx_atom negative = test(b, JX_PRIM_lt, exponent);

    for (int bit = 0; bit < info->bits - (info->kind == JX_KIND_INT); bit++) {
        jx_atom shift = number(b, out->dtype, bit, out);
        jx_atom digit =
            two(b, JX_PRIM_and,
                two(b, JX_PRIM_shift_right_logical, exponent, shift), one);
        if (bit)
            square = two(b, JX_PRIM_mul, square, square);
        result = choose(b, test(b, JX_PRIM_ne, digit),
                        two(b, JX_PRIM_mul, result, square), result);
    }
    if (info->kind != JX_KIND_INT)
        return result;
    jx_atom rest = choose(b, test(b, JX_PRIM_ne, base),
                          two(b, JX_PRIM_div, one, base), base);
    jx_atom odd = test(b, JX_PRIM_ne, two(b, JX_PRIM_and, exponent, one));
    jx_atom reciprocal = choose(b, odd, rest, two(b, JX_PRIM_mul, rest, rest));
    return choose(b, negative, reciprocal, result);
}

/* -i log((x + i y) / sqrt(x x + y y)) */
static jx_atom complex_atan2(jx_hlo_body *b, jx_atom y, jx_atom x,
                             const jx_aval *out)
{
    jx_dtype part = jx_dtype_real(out->dtype);
    const jx_aval *real = jx_hlo_array(b, part, out->rank, out->shape);
    jx_atom zero = number(b, part, 0, out), one = number(b, part, 1, out);
    jx_atom i = jx_hlo_eqn2(b, JX_PRIM_complex, zero, one, out);
    jx_atom sum = two(b, JX_PRIM_add, x, two(b, JX_PRIM_mul, i, y));
    jx_atom squares = two(b, JX_PRIM_add, two(b, JX_PRIM_mul, x, x),
                          two(b, JX_PRIM_mul, y, y));

    if (!jx_is_made(sum) || !jx_is_made(squares) || !real)
        return (jx_atom){NULL, NULL};
    sum = two(b, JX_PRIM_div, sum, jx_hlo_eqn1(b, JX_PRIM_sqrt, squares, out));
    sum = jx_is_made(sum) ? jx_hlo_eqn1(b, JX_PRIM_log, sum, out) : sum;
    if (!jx_is_made(sum))
        return sum;
    jx_atom up = jx_hlo_eqn1(b, JX_PRIM_imag, sum, real);
    jx_atom down = jx_hlo_eqn1(b, JX_PRIM_neg,
                               jx_hlo_eqn1(b, JX_PRIM_real, sum, real), real);
    return jx_hlo_eqn2(b, JX_PRIM_complex, up, down, out);
}

/* What it computes as a size is known without its equations. */
static jx_atom followed(jx_hlo_body *b, jx_prim_id prim, jx_atoms ins,
                        jx_atom made)
{
    if (made.var) {
        jx_sz_follow_as(b->s->sizes, jx_prim_of(prim), ins.at[0], ins.at[1],
                        made.var);
        jx_hlo_size_symbol(b, made, &made);
    }
    return made;
}

/* The op by others, where the primitive does not take the dtype; *composed
 * says whether that was so. */
static jx_atom compose(jx_hlo_body *b, jx_prim_id prim, jx_atoms ins,
                       bool *composed)
{
    const jx_aval *aval = ins.count ? jx_atom_aval(ins.at[0]) : NULL;
    bool complex = aval && jx_dtype_is_complex(aval->dtype);

    *composed = true;
    if (prim == JX_PRIM_abs && ins.count == 1 &&
        jx_dtype_of(aval->dtype)->kind == JX_KIND_INT &&
        jx_dtype_of(aval->dtype)->bits < 8)
        return choose(b, test(b, JX_PRIM_lt, ins.at[0]),
                      jx_hlo_eqn1(b, JX_PRIM_neg, ins.at[0], aval), ins.at[0]);
    if (prim == JX_PRIM_pow && ins.count == 2 &&
        jx_dtype_is_integer(aval->dtype))
        return followed(b, prim, ins,
                        integer_power(b, ins.at[0], ins.at[1], aval));
    if (prim == JX_PRIM_atan2 && ins.count == 2 && complex)
        return complex_atan2(b, ins.at[0], ins.at[1], aval);
    if (prim == JX_PRIM_cbrt && ins.count == 1 && complex)
        return two(b, JX_PRIM_pow, ins.at[0],
                   number(b, aval->dtype, 1.0 / 3.0, aval));
    *composed = false;
    return (jx_atom){NULL, NULL};
}

static bool emit_plainly(jx_hlo_body *b, jx_prim_id prim, jx_atoms ins)
{
    jx_dtype dtype = ins.count ? jx_atom_aval(ins.at[0])->dtype : JX_DT_NONE;

    if ((prim == JX_PRIM_real || prim == JX_PRIM_imag) && ins.count == 1 &&
        !jx_dtype_is_complex(dtype))
        return part_of_real(b, prim, ins.at[0]);
    if (dtype == JX_BOOL && ins.count == 2)
        prim = for_booleans(prim);
    return emit_plain(b, prim, ins, NULL);
}

bool jx_hlo_elementwise(jx_hlo_body *b, jx_prim_id prim, jx_atoms ins)
{
    bool composed;
    jx_atom made = compose(b, prim, ins, &composed);

    if (composed)
        return jx_hlo_define1(b, made);
    return emit_plainly(b, prim, ins);
}

bool jx_hlo_op_elementwise(jx_hlo_body *b, const jx_mlir_op *op,
                           const jx_hlo_row *row)
{
    (void)op;
    return jx_hlo_elementwise(b, row->prim, jx_hlo_ins(b, 0));
}

/* ---- choosing and comparing */

bool jx_hlo_select_of(jx_hlo_body *b, jx_atoms ins)
{
    if (ins.count != 3)
        return jx_hlo_refuse(b, "expected 3 operands");
    const jx_atom atoms[] = {ins.at[0], ins.at[2], ins.at[1]};
    const jx_aval *out = result_of(b, (jx_atoms){2, ins.at + 1});
    return out && jx_hlo_define1(
                      b, jx_hlo_eqn(b, JX_PRIM_select_n, 3, atoms, NULL, out));
}

bool jx_hlo_op_select(jx_hlo_body *b, const jx_mlir_op *op,
                      const jx_hlo_row *row)
{
    (void)op, (void)row;
    return jx_hlo_select_of(b, jx_hlo_ins(b, 0));
}

/* Total order has equal, less and less or equal; the others follow. */
static bool compare_totally(jx_hlo_body *b, const char *direction, jx_atoms ins)
{
    bool swap = direction[0] == 'G';
    const jx_atom both[] = {ins.at[swap], ins.at[!swap]};
    jx_prim_id prim = !strcmp(direction, "EQ") || !strcmp(direction, "NE")
                          ? JX_PRIM_eq_to
                      : direction[1] == 'T' ? JX_PRIM_lt_to
                                            : JX_PRIM_le_to;
    const jx_aval *out = result_of(b, ins);
    jx_atom made =
        out ? jx_hlo_eqn(b, prim, 2, both, NULL, out) : (jx_atom){NULL, NULL};

    if (!strcmp(direction, "NE") && jx_is_made(made))
        made = jx_hlo_eqn1(b, JX_PRIM_not, made, out);
    return jx_hlo_define1(b, made);
}

static jx_atom of_two(jx_hlo_body *b, jx_prim_id prim, jx_atom x, jx_atom y,
                      const jx_aval *out)
{
    return jx_is_made(x) && jx_is_made(y) ? jx_hlo_eqn2(b, prim, x, y, out)
                                          : (jx_atom){NULL, NULL};
}

/* An order in which -0 is 0 and all NaNs are one, above all else:
 *
 *     x == y    eq(x, y) or both are NaN
 *     x <  y    lt(x, y) or only y is
 *     x <= y    le(x, y) or y is */
static bool compare_weakly(jx_hlo_body *b, const char *direction, jx_atoms ins)
{
    bool swap = direction[0] == 'G';
    jx_atom x = ins.at[swap], y = ins.at[!swap], nan, made;
    const jx_aval *out = result_of(b, ins);
    jx_prim_id prim = !strcmp(direction, "EQ") || !strcmp(direction, "NE")
                          ? JX_PRIM_eq
                      : direction[1] == 'T' ? JX_PRIM_lt
                                            : JX_PRIM_le;

    if (!out)
        return false;
    nan = of_two(b, JX_PRIM_ne, y, y, out);
    if (prim != JX_PRIM_le)
        nan = of_two(
            b, JX_PRIM_and,
            of_two(b, prim == JX_PRIM_eq ? JX_PRIM_ne : JX_PRIM_eq, x, x, out),
            nan, out);
    made = of_two(b, JX_PRIM_or, of_two(b, prim, x, y, out), nan, out);
    if (!strcmp(direction, "NE") && jx_is_made(made))
        made = jx_hlo_eqn1(b, JX_PRIM_not, made, out);
    return jx_hlo_define1(b, made);
}

bool jx_hlo_compare_of(jx_hlo_body *b, jx_atoms ins)
{
    const char *direction = jx_hlo_attr_enum(b, "comparison_direction", NULL);
    const char *type = jx_hlo_attr_enum(b, "compare_type", "NOTYPE");
    const jx_hlo_row *row;

    if (!direction || !type || ins.count != 2)
        return jx_hlo_refuse(b, "expected 2 operands");
    row = jx_hlo_row_of(b->s, JX_OP_stablehlo_compare, direction);
    if (!row)
        return jx_hlo_refuse(
            b, "expected a direction of comparison, found '%s'", direction);
    if (!strcmp(type, "TOTALORDER") &&
        jx_dtype_is_float(jx_atom_aval(ins.at[0])->dtype))
        return compare_totally(b, direction, ins);
    if (!strcmp(type, "WEAKORDER") &&
        jx_dtype_is_float(jx_atom_aval(ins.at[0])->dtype))
        return compare_weakly(b, direction, ins);
    return emit_plain(b, row->prim, ins, NULL);
}

bool jx_hlo_op_compare(jx_hlo_body *b, const jx_mlir_op *op,
                       const jx_hlo_row *row)
{
    (void)op, (void)row;
    return jx_hlo_compare_of(b, jx_hlo_ins(b, 0));
}

/* ---- conversions */

bool jx_hlo_op_convert(jx_hlo_body *b, const jx_mlir_op *op,
                       const jx_hlo_row *row)
{
    jx_atoms ins = jx_hlo_ins(b, 0);
    jx_params p = jx_hlo_no_params(b);
    const jx_aval *in = ins.count == 1 ? jx_atom_aval(ins.at[0]) : NULL;
    const jx_aval *out;

    if (op->nouts != 1)
        return jx_hlo_refuse(b, "expected one result, a tensor");
    if (!in)
        return false;
    out = jx_hlo_result(b, 0,
                        op->outs[0]->type->rank == in->rank ? in->shape : NULL);
    if (!out)
        return false;
    if (out == in) /* of the same sizes, which is nothing at all */
        return jx_hlo_define1(b, ins.at[0]);
    /* To JAX a complex number is true by either part. */
    jx_dtype from = jx_atom_aval(ins.at[0])->dtype;
    jx_atom real;
    if (out->dtype == JX_BOOL && jx_dtype_is_complex(from)) {
        real = jx_hlo_eqn1(
            b, JX_PRIM_real, ins.at[0],
            jx_hlo_array(b, jx_dtype_real(from), out->rank, out->shape));
        ins.at = &real;
        if (!jx_is_made(real))
            return false;
    }
    jx_put_dtype(&p, "new_dtype", out->dtype);
    jx_put_bool(&p, "weak_type", false);
    jx_put_none(&p, "sharding");
    return jx_hlo_define1(b, jx_hlo_eqn(b, row->prim, 1, ins.at, &p, out));
}

/* The primitive knows no single bits, and no parts of complex numbers. */
static bool has_same_bits(jx_dtype from, jx_dtype to)
{
    bool special = from == JX_BOOL || to == JX_BOOL ||
                   jx_dtype_is_complex(from) || jx_dtype_is_complex(to);

    return from == to || !special;
}

/* An axis may come or go at the end. */
bool jx_hlo_op_bitcast(jx_hlo_body *b, const jx_mlir_op *op,
                       const jx_hlo_row *row)
{
    jx_params p = jx_hlo_no_params(b);
    jx_atom in = jx_hlo_in(b, 0);
    const jx_aval *aval, *out;

    if (!in.var && !in.literal)
        return false;
    aval = jx_atom_aval(in);
    out = jx_hlo_result(b, 0, NULL);
    if (!out)
        return false;
    if (!has_same_bits(aval->dtype, out->dtype))
        return jx_hlo_unknown(b, op);
    jx_put_dtype(&p, "new_dtype", out->dtype);
    return jx_hlo_define1(b, jx_hlo_eqn(b, row->prim, 1, &in, &p, out));
}

bool jx_hlo_op_reduce_precision(jx_hlo_body *b, const jx_mlir_op *op,
                                const jx_hlo_row *row)
{
    jx_params p = jx_hlo_no_params(b);
    int64_t exponent = 0, mantissa = 0;

    (void)op;
    if (!jx_hlo_attr_int(b, "exponent_bits", &exponent) ||
        !jx_hlo_attr_int(b, "mantissa_bits", &mantissa))
        return false;
    jx_put_int(&p, "exponent_bits", exponent);
    jx_put_int(&p, "mantissa_bits", mantissa);
    return emit_plain(b, row->prim, jx_hlo_ins(b, 0), &p);
}

bool jx_hlo_op_round(jx_hlo_body *b, const jx_mlir_op *op,
                     const jx_hlo_row *row)
{
    jx_params p = jx_hlo_no_params(b);
    bool even = !strcmp(row->detail, "TO_NEAREST_EVEN");

    (void)op;
    jx_put_enum(&p, "rounding_method",
                even ? "RoundingMethod.TO_NEAREST_EVEN"
                     : "RoundingMethod.AWAY_FROM_ZERO");
    return emit_plain(b, row->prim, jx_hlo_ins(b, 0), &p);
}

bool jx_hlo_op_barrier(jx_hlo_body *b, const jx_mlir_op *op,
                       const jx_hlo_row *row)
{
    jx_atoms ins = jx_hlo_ins(b, 0);
    const jx_aval **outs =
        JX_NEW_ARRAY(b->s->ctx->arena, ins.count, const jx_aval *);
    const jx_atom *made;

    (void)op;
    for (int i = 0; outs && i < ins.count; i++)
        outs[i] = jx_atom_aval(ins.at[i]);
    made = outs ? jx_hlo_eqn_all(b, jx_prim_of(row->prim), ins.count, ins.at,
                                 NULL, ins.count, outs)
                : NULL;
    return made && jx_hlo_define(b, ins.count, made);
}

/* ---- constants */

bool jx_hlo_op_constant(jx_hlo_body *b, const jx_mlir_op *op,
                        const jx_hlo_row *row)
{
    const jx_mlir_attr *value = jx_hlo_attr(b, "value");
    const jx_aval *aval;
    jx_dtype dtype;

    (void)row;
    if (!value || op->nouts != 1)
        return false;
    if (value->kind != JX_A_DENSE && value->kind != JX_A_RESOURCE)
        return jx_hlo_refuse(b, "attribute 'value': expected elements");
    if (!value->bytes && value->size)
        return jx_hlo_refuse(b, "attribute 'value': the elements are not in "
                                "this file");
    aval = jx_hlo_result(b, 0, NULL);
    if (aval && aval->kind != JX_AVAL_ARRAY)
        return jx_hlo_unknown(b, op); /* of a type that we do not know */
    if (aval && !jx_hlo_is_quantized(op->outs[0]->type) &&
        !(value->type && jx_hlo_dtype(value->type, &dtype) &&
          dtype == aval->dtype))
        return jx_hlo_refuse(b, "attribute 'value': expected elements of the "
                                "result's type");
    return aval && jx_hlo_define1(b, jx_hlo_literal(b, aval, value->bytes,
                                                    value->size, value->splat));
}

/* ---- CHLO */

/* Both operands at the shape of the one with more axes.  Axes of size 1 grow,
 * which broadcast_in_dim does as well. */
static bool stretch(jx_hlo_body *b, jx_atoms ins, jx_atom *to)
{
    const jx_dim *shape[JX_HLO_RANK];
    int rank = 0;

    for (int i = 0; i < ins.count; i++) {
        const jx_aval *aval = jx_atom_aval(ins.at[i]);
        rank = aval->rank > rank ? aval->rank : rank;
    }
    for (int i = 0; i < rank; i++)
        shape[i] = NULL;
    for (int k = 0; k < ins.count; k++) {
        const jx_aval *aval = jx_atom_aval(ins.at[k]);
        for (int i = 0; i < aval->rank; i++) {
            const jx_dim **at = &shape[rank - aval->rank + i];
            if (!*at || jx_dim_value(*at) == 1)
                *at = aval->shape[i];
        }
    }
    for (int k = 0; k < ins.count; k++) {
        const jx_aval *aval = jx_atom_aval(ins.at[k]);
        int64_t dims[JX_HLO_RANK];
        bool same = aval->rank == rank;
        for (int i = 0; i < aval->rank; i++) {
            dims[i] = rank - aval->rank + i;
            same = same && aval->shape[i] == shape[i];
        }
        to[k] = same ? ins.at[k]
                     : jx_hlo_eqn_broadcast_dims(b, ins.at[k],
                                                 (jx_ints){aval->rank, dims},
                                                 rank, shape);
        if (!to[k].var && !to[k].literal)
            return false;
    }
    return true;
}

/* Whether the op says what holds without being said: that the axes of the
 * operand with fewer of them are the last. */
static bool aligns_last(jx_hlo_body *b, const jx_mlir_op *op, jx_atoms ins)
{
    jx_ints dims;

    if (!jx_mlir_get(op, "broadcast_dimensions"))
        return true;
    if (ins.count != 2 || !jx_hlo_attr_ints(b, "broadcast_dimensions", &dims))
        return false;
    int left = jx_atom_aval(ins.at[0])->rank;
    int right = jx_atom_aval(ins.at[1])->rank;
    int few = left < right ? left : right, rank = left + right - few;
    for (int i = 0; i < dims.count; i++)
        if (dims.count != few || dims.at[i] != rank - few + i)
            return false;
    return dims.count == few;
}

bool jx_hlo_op_chlo_broadcast(jx_hlo_body *b, const jx_mlir_op *op,
                              const jx_hlo_row *row)
{
    jx_atoms ins = jx_hlo_ins(b, 0);
    jx_atom to[3];

    if (ins.count < 2 || ins.count > 3)
        return jx_hlo_refuse(b, "expected 2 or 3 operands");
    if (!aligns_last(b, op, ins))
        return jx_ok(b->s->ctx) && jx_hlo_unknown(b, op);
    if (!stretch(b, ins, to))
        return false;
    ins.at = to;
    if (row->prim == JX_PRIM_select_n)
        return jx_hlo_select_of(b, ins);
    if (row->op == JX_OP_chlo_broadcast_compare)
        return jx_hlo_compare_of(b, ins);
    return jx_hlo_elementwise(b, row->prim, ins);
}

/* x == inf, x == -inf, or |x| == inf. */
bool jx_hlo_op_chlo_is_inf(jx_hlo_body *b, const jx_mlir_op *op,
                           const jx_hlo_row *row)
{
    jx_atom in = jx_hlo_in(b, 0);
    const jx_aval *aval, *out;
    jx_atom inf;

    (void)op;
    if (!in.var && !in.literal)
        return false;
    aval = jx_atom_aval(in);
    out = result(b);
    if (!strcmp(row->detail, "any"))
        in = jx_hlo_eqn1(b, JX_PRIM_abs, in, aval);
    inf = jx_build_number(&b->body, aval->dtype,
                          strcmp(row->detail, "negative") ? __builtin_inf()
                                                          : -__builtin_inf());
    inf = jx_hlo_eqn_broadcast(b, inf, aval->rank, aval->shape);
    return out && jx_hlo_define1(b, jx_hlo_eqn2(b, JX_PRIM_eq, in, inf, out));
}

bool jx_hlo_op_chlo_constant_like(jx_hlo_body *b, const jx_mlir_op *op,
                                  const jx_hlo_row *row)
{
    const jx_mlir_attr *value = jx_hlo_attr(b, "value");
    jx_atom in = jx_hlo_in(b, 0);
    double number = 0;

    (void)op, (void)row;
    if (!value || (!in.var && !in.literal))
        return false;
    if (value->kind == JX_A_INTEGER && !value->bytes)
        number = (double)value->integer;
    else if (value->kind == JX_A_FLOAT)
        number = value->real;
    else
        return jx_hlo_refuse(b, "attribute 'value': expected a number");
    const jx_aval *aval = jx_atom_aval(in);
    return jx_hlo_define1(
        b,
        jx_hlo_eqn_broadcast(b, jx_build_number(&b->body, aval->dtype, number),
                             aval->rank, aval->shape));
}
