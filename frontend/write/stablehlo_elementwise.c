/* stablehlo_elementwise.c - one value per element (stablehlo_rules.h). */
#include "frontend/write/stablehlo_rules.h"

#include <math.h>
#include <string.h>

jx_hv jx_hlo_isnan(jx_code *c, jx_hv x)
{
    return jx_hlo_compare(c, "NE", x, x);
}

jx_hv jx_hlo_fit(jx_code *c, jx_hv x, const jx_aval *like)
{
    if (!x.value || !like || jx_aval_same_shape(x.aval, like))
        return x;
    return jx_hlo_along(c, x, like, like->rank - x.aval->rank);
}

/* ---- functions that StableHLO has not for all dtypes */

static jx_hv part(jx_code *c, const char *name, jx_hv x)
{
    return jx_hlo_unary_to(c, name, x, jx_dtype_real(x.aval->dtype));
}

/* sin(a + ib) = sin a cosh b + i cos a sinh b and cos(a + ib) = cos a cosh b -
 * i sin a sinh b; cosh and sinh by expm1, which is exact near 0. */
static jx_hv sine_of_complex(jx_code *c, jx_hv x, bool cosine)
{
    jx_hv a = part(c, "stablehlo.real", x), b = part(c, "stablehlo.imag", x);
    jx_hv zero = jx_hlo_like(c, a, 0), two = jx_hlo_like(c, a, 2);
    jx_hv sn = jx_hlo_unary(c, "stablehlo.sine", a);
    jx_hv cs = jx_hlo_unary(c, "stablehlo.cosine", a);
    jx_hv up = jx_hlo_unary(c, "stablehlo.exponential_minus_one", b);
    jx_hv down =
        jx_hlo_unary(c, "stablehlo.exponential_minus_one", jx_hlo_neg(c, b));
    jx_hv sinh = jx_hlo_div(c, jx_hlo_sub(c, up, down), two);
    jx_hv cosh =
        jx_hlo_div(c, jx_hlo_add(c, jx_hlo_add(c, up, down), two), two);
    jx_hv re = jx_hlo_mul(c, cosine ? cs : sn, cosh);
    jx_hv im = jx_hlo_mul(c, cosine ? jx_hlo_neg(c, sn) : cs, sinh);
    /* Where a is 0, one part is 0, even if the other factor is infinite. */
    jx_hv at_zero =
        cosine ? jx_hlo_complex(c, re, zero) : jx_hlo_complex(c, zero, im);

    return jx_hlo_select(c, jx_hlo_compare(c, "EQ", a, zero), at_zero,
                         jx_hlo_complex(c, re, im));
}

static jx_hv sign_of_unsigned(jx_code *c, jx_hv x)
{
    jx_hv zero = jx_hlo_like(c, x, 0);

    return jx_hlo_select(c, jx_hlo_compare(c, "EQ", x, zero), zero,
                         jx_hlo_like(c, x, 1));
}

static double number_of(const jx_value *record, const char *name)
{
    const jx_value *v =
        record->tag == JX_V_RECORD ? jx_value_field(record, name) : NULL;

    if (v && v->tag == JX_V_INT)
        return (double)v->integer;
    return v && v->tag == JX_V_FLOAT ? v->real : 0;
}

/* `accuracy`, a mode or a lax.Tolerance; NULL where nothing is asked for. */
static const jx_mlir_attr *accuracy(const jx_hlo_eqn *e)
{
    static const char *const names[] = {"atol", "rtol", "ulps", "mode"};
    const jx_value *v = jx_eqn_param(e->eqn, "accuracy");
    jx_hlo *in = e->code->in;
    const char *dot = v && v->tag == JX_V_ENUM ? strchr(v->text, '.') : NULL;

    if (!dot && (!v || v->tag != JX_V_RECORD))
        return NULL;
    const jx_mlir_attr *items[] = {
        jx_hlo_float(in, "f64", number_of(v, "atol")),
        jx_hlo_float(in, "f64", number_of(v, "rtol")),
        jx_hlo_i64(in, (int64_t)number_of(v, "ulps")),
        jx_hlo_enum(in, "stablehlo.result_accuracy_mode",
                    dot ? dot + 1 : "TOLERANCE")};
    return jx_hlo_record(in, "stablehlo.result_accuracy", 4, names, items);
}

static bool asks_for_most(const jx_hlo_eqn *e)
{
    const jx_value *v = jx_eqn_param(e->eqn, "accuracy");

    return v && v->tag == JX_V_ENUM && !strcmp(v->text, "AccuracyMode.HIGHEST");
}

/* The op has no accuracy to ask for, but f64 has more of it. */
static jx_hv erfc_of_single(jx_code *c, jx_hv x)
{
    jx_hv wide = jx_hlo_unary_to(c, "stablehlo.convert", x, JX_F64);

    return jx_hlo_unary_to(c, "stablehlo.convert",
                           jx_hlo_unary(c, "chlo.erfc", wide), JX_F32);
}

/* True, and sets *out, where the op is not what the row says. */
static bool special_case(jx_hlo_eqn *e, jx_hv *out)
{
    jx_code *c = e->code;
    jx_dtype dtype = e->ins[0].aval->dtype;
    bool complex = jx_dtype_is_complex(dtype);
    bool is_unsigned = jx_dtype_of(dtype)->kind == JX_KIND_UINT;

    switch (e->eqn->prim->id) {
    case JX_PRIM_sin:
    case JX_PRIM_cos:
        if (!complex)
            return false;
        *out = sine_of_complex(c, e->ins[0], e->eqn->prim->id == JX_PRIM_cos);
        return true;
    case JX_PRIM_sign:
        if (is_unsigned)
            *out = sign_of_unsigned(c, e->ins[0]);
        return is_unsigned;
    case JX_PRIM_abs:
        if (is_unsigned)
            *out = e->ins[0];
        return is_unsigned;
    case JX_PRIM_square:
        if (jx_dtype_is_inexact(dtype))
            return false;
        *out = jx_hlo_mul(c, e->ins[0], e->ins[0]);
        return true;
    case JX_PRIM_erfc:
        *out = asks_for_most(e) && dtype == JX_F32
                   ? erfc_of_single(c, e->ins[0])
                   : jx_hlo_unary(c, "chlo.erfc", e->ins[0]);
        return true;
    default: return false;
    }
}

static bool is_extreme(jx_prim_id prim)
{
    return prim == JX_PRIM_max || prim == JX_PRIM_min;
}

/* The dtype in which operands meet: that of `mul` with an out_dtype, and of a
 * power whose exponent has another dtype. */
static jx_dtype common_dtype(const jx_hlo_eqn *e, jx_hv operand)
{
    jx_prim_id prim = e->eqn->prim->id;

    if (prim == JX_PRIM_pow ||
        (prim == JX_PRIM_mul && ((const jx_p_mul *)e->eqn->typed)->out_dtype))
        return e->avals[0]->dtype;
    return operand.aval->dtype;
}

void jx_lowering_rule_elementwise(jx_hlo_eqn *e)
{
    jx_mlir_named attr = {"result_accuracy", accuracy(e)};
    jx_hv ins[3] = {{0}}, out;
    int n = e->eqn->nins;

    if (n < 1 || n > 3)
        return;
    for (int i = 0; i < n; i++)
        if (!e->ins[i].value)
            return;
    if (special_case(e, &out)) {
        jx_hlo_fill(e, out);
        return;
    }
    for (int i = 0; i < n; i++) {
        jx_dtype dtype = common_dtype(e, e->ins[i]);
        ins[i] = e->ins[i];
        if (dtype != ins[i].aval->dtype)
            ins[i] =
                jx_hlo_unary_to(e->code, "stablehlo.convert", ins[i], dtype);
        /* clamp takes scalars as its bounds. */
        if (e->eqn->prim->id != JX_PRIM_clamp)
            ins[i] = jx_hlo_fit(e->code, ins[i], e->avals[0]);
    }
    if (is_extreme(e->eqn->prim->id))
        jx_hlo_fill(e, jx_hlo_extreme(e->code, e->op, ins[0], ins[1]));
    else
        jx_hlo_fill(
            e, jx_hlo_simple(e->code, e->op, n, ins, e->avals[0], 1, &attr));
}

static jx_hv unary_as_asked(jx_hlo_eqn *e, const char *name, jx_hv x)
{
    jx_mlir_named attr = {"result_accuracy", accuracy(e)};

    return jx_hlo_simple(e->code, name, 1, &x, e->avals[0], 1, &attr);
}

/* Both parts times the number, which is no complex product. */
static jx_hv scaled(jx_code *c, jx_hv x, double by)
{
    if (!jx_dtype_is_complex(x.aval->dtype))
        return jx_hlo_mul(c, x, jx_hlo_like(c, x, by));
    jx_hv re = part(c, "stablehlo.real", x), im = part(c, "stablehlo.imag", x);
    jx_hv factor = jx_hlo_like(c, re, by);
    return jx_hlo_complex(c, jx_hlo_mul(c, re, factor),
                          jx_hlo_mul(c, im, factor));
}

/* What JAX composes of a few ops. */
void jx_lowering_rule_composed(jx_hlo_eqn *e)
{
    jx_code *c = e->code;
    jx_hv x = e->ins[0], one, more;

    if (!x.value)
        return;
    switch (e->eqn->prim->id) {
    case JX_PRIM_logistic:
        one = jx_hlo_like(c, x, 1);
        jx_hlo_fill(
            e, jx_hlo_div(c, one,
                          jx_hlo_add(c, one,
                                     jx_hlo_unary(c, "stablehlo.exponential",
                                                  jx_hlo_neg(c, x)))));
        break;
    case JX_PRIM_exp2:
        x = jx_hlo_mul(c, jx_hlo_like(c, x, log(2.0)), x);
        jx_hlo_fill(e, unary_as_asked(e, "stablehlo.exponential", x));
        break;
    case JX_PRIM_log2:
        x = unary_as_asked(e, "stablehlo.log", x);
        jx_hlo_fill(e, x.value ? scaled(c, x, 1 / log(2.0)) : x);
        break;
    case JX_PRIM_one_minus_square:
        one = jx_hlo_like(c, x, 1);
        more = jx_hlo_add(c, one, x);
        jx_hlo_fill(e, jx_hlo_mul(c, more, jx_hlo_sub(c, one, x)));
        break;
    default: break;
    }
}

/* By Horner's rule; where JAX makes a loop of it, from 0 on, as that does. */
void jx_lowering_rule_polynomial(jx_hlo_eqn *e)
{
    jx_code *c = e->code;
    int last = e->eqn->nins - 1;
    bool loops = jx_polynomial_loops(e->eqn);
    jx_hv x = jx_hlo_fit(c, e->ins[0], e->avals[0]), acc;

    acc = loops ? jx_hlo_full(c, e->avals[0], 0)
                : jx_hlo_fit(c, e->ins[last], e->avals[0]);
    for (int i = loops ? last : last - 1; i >= 1; i--)
        acc = jx_hlo_add(c, jx_hlo_mul(c, acc, x),
                         jx_hlo_fit(c, e->ins[i], e->avals[0]));
    jx_hlo_fill(e, acc);
}

static jx_hv power(jx_code *c, jx_hv x, uint64_t y)
{
    jx_hv acc = {0};

    for (; y; y >>= 1) {
        if (y & 1)
            acc = acc.value ? jx_hlo_mul(c, acc, x) : x;
        if (y > 1)
            x = jx_hlo_mul(c, x, x);
    }
    return acc;
}

void jx_lowering_rule_integer_pow(jx_hlo_eqn *e)
{
    jx_code *c = e->code;
    int64_t y = ((const jx_p_integer_pow *)e->eqn->typed)->y;
    jx_hv x = e->ins[0], result;

    if (!y)
        result = jx_hlo_like(c, x, 1);
    else if (y == 3)
        result = jx_hlo_mul(c, jx_hlo_mul(c, x, x), x);
    else
        result = power(c, x, y < 0 ? -(uint64_t)y : (uint64_t)y);
    if (y < 0)
        result = jx_hlo_div(c, jx_hlo_like(c, x, 1), result);
    jx_hlo_fill(e, result);
}

void jx_lowering_rule_conj(jx_hlo_eqn *e)
{
    jx_code *c = e->code;
    jx_hv x = e->ins[0];

    if (!x.value)
        return;
    if (jx_dtype_is_complex(x.aval->dtype))
        jx_hlo_fill(
            e, jx_hlo_complex(c, part(c, "stablehlo.real", x),
                              jx_hlo_neg(c, part(c, "stablehlo.imag", x))));
    else
        jx_hlo_fill(e, jx_hlo_complex(c, x, jx_hlo_like(c, x, 0)));
}

void jx_lowering_rule_same(jx_hlo_eqn *e)
{
    for (int i = 0; i < e->eqn->nouts && i < e->eqn->nins; i++)
        e->outs[i] = e->ins[i];
}

void jx_lowering_rule_barrier(jx_hlo_eqn *e)
{
    jx_hlo_own(e, 0, NULL, NULL);
}

/* ---- comparisons and choices */

void jx_lowering_rule_compare(jx_hlo_eqn *e)
{
    jx_code *c = e->code;
    const char *space = strchr(e->detail, ' ');
    size_t length = space ? (size_t)(space - e->detail) : strlen(e->detail);
    const char *direction =
        jx_arena_string(c->in->ctx->arena, e->detail, length);
    jx_hv x = e->ins[0], y = e->ins[1], out;
    bool key = jx_atom_aval(e->eqn->ins[0])->dtype == JX_KEY;

    if (!x.value || !y.value || !direction)
        return;
    const jx_aval *like = e->avals[0];
    if (key) /* the numbers of the keys, too */
        like = x.aval->rank < y.aval->rank ? y.aval : x.aval;
    x = jx_hlo_fit(c, x, like);
    y = jx_hlo_fit(c, y, like);
    if (space && jx_dtype_is_inexact(x.aval->dtype))
        out = jx_hlo_compare_as(c, direction, "TOTALORDER", x, y);
    else
        out = jx_hlo_compare(c, direction, x, y);
    if (key && out.value) {
        int64_t axis = out.aval->rank - 1;
        bool eq = !strcmp(direction, "EQ");
        out = jx_hlo_reduce(c, eq ? "stablehlo.and" : "stablehlo.or", out,
                            jx_hlo_scalar_int(c, JX_BOOL, eq), 1, &axis);
    }
    jx_hlo_fill(e, out);
}

/* cases[0..n) by `which` - first. */
static jx_hv choose(jx_code *c, jx_hv which, int64_t first, int n,
                    const jx_hv *cases)
{
    int half = n / 2;

    if (n == 1)
        return cases[0];
    jx_hv below = jx_hlo_compare(c, "LT", which,
                                 jx_hlo_full_int(c, which.aval, first + half));
    return jx_hlo_select(
        c, below, choose(c, which, first, half, cases),
        choose(c, which, first + half, n - half, cases + half));
}

void jx_lowering_rule_select_n(jx_hlo_eqn *e)
{
    jx_code *c = e->code;
    jx_hv which = e->ins[0];
    int n = e->eqn->nins - 1;

    if (!which.value || n < 1)
        return;
    /* Of keys, a choice is one of all their numbers. */
    if (which.aval->rank && e->avals[0]->rank > which.aval->rank)
        which = jx_hlo_along(c, which, e->avals[0], 0);
    if (n == 1)
        jx_hlo_fill(e, e->ins[1]);
    else if (which.value && which.aval->dtype == JX_BOOL)
        jx_hlo_fill(e, jx_hlo_select(c, which, e->ins[2], e->ins[1]));
    else if (which.value)
        jx_hlo_fill(e, choose(c, which, 0, n, e->ins + 1));
}

/* ---- dtypes and bits */

void jx_lowering_rule_convert(jx_hlo_eqn *e)
{
    jx_hlo_fill(e, jx_hlo_convert(e->code, e->ins[0], e->avals[0]->dtype));
}

void jx_lowering_rule_bitcast(jx_hlo_eqn *e)
{
    jx_hlo_fill(e, jx_hlo_bitcast(e->code, e->ins[0], e->avals[0]));
}

void jx_lowering_rule_reduce_precision(jx_hlo_eqn *e)
{
    const jx_p_reduce_precision *p = e->eqn->typed;
    jx_hlo *in = e->code->in;
    jx_mlir_named attrs[] = {
        {"exponent_bits",
         jx_hlo_integer(in, JX_SIGNLESS, 32, p->exponent_bits)},
        {"mantissa_bits",
         jx_hlo_integer(in, JX_SIGNLESS, 32, p->mantissa_bits)}};

    jx_hlo_fill(
        e, jx_hlo_simple(e->code, e->op, 1, e->ins, e->avals[0], 2, attrs));
}

void jx_lowering_rule_round(jx_hlo_eqn *e)
{
    const jx_p_round *p = e->eqn->typed;
    bool even = p->rounding_method == JX_ROUND_TO_NEAREST_EVEN;

    jx_hlo_fill(e, jx_hlo_unary(e->code,
                                even ? "stablehlo.round_nearest_even"
                                     : "stablehlo.round_nearest_afz",
                                e->ins[0]));
}
