/* stablehlo_contract.c - products of arrays (stablehlo_rules.h). */
#include "frontend/ir/dot_algorithm.h"
#include "frontend/write/stablehlo_rules.h"

#include <string.h>

/* ---- precision */

/* The name of one operand's precision: "DEFAULT", "HIGH", "HIGHEST". */
static const char *precision_name(const jx_value *v)
{
    const char *dot;

    if (!v || v->tag == JX_V_NONE || !v->text)
        return "DEFAULT";
    dot = strrchr(v->text, '.');
    dot = dot ? dot + 1 : v->text;
    return !strcmp(dot, "HIGH") || !strcmp(dot, "HIGHEST") ? dot : "DEFAULT";
}

static const jx_mlir_attr *precision(jx_hlo *in, const jx_value *v)
{
    const jx_mlir_attr *items[2];

    for (int i = 0; i < 2; i++) {
        bool pair = v && v->tag == JX_V_TUPLE && v->count == 2;
        items[i] = jx_hlo_enum(in, "stablehlo.precision",
                               precision_name(pair ? v->items[i] : v));
    }
    return jx_hlo_list(in, 2, items);
}

/* ---- dot_general */

static const jx_mlir_attr *dot_dims(jx_hlo *in, const jx_dot_dims *d)
{
    static const char *const names[] = {
        "lhs_batching_dimensions", "rhs_batching_dimensions",
        "lhs_contracting_dimensions", "rhs_contracting_dimensions"};
    const jx_mlir_attr *items[] = {
        jx_hlo_some(in, d->lhs_batch.count, d->lhs_batch.at),
        jx_hlo_some(in, d->rhs_batch.count, d->rhs_batch.at),
        jx_hlo_some(in, d->lhs_contracting.count, d->lhs_contracting.at),
        jx_hlo_some(in, d->rhs_contracting.count, d->rhs_contracting.at)};

    return jx_hlo_record(in, "stablehlo.dot", 4, names, items);
}

static bool is_eight_bits(jx_dtype dtype)
{
    return jx_dtype_is_float(dtype) && jx_dtype_of(dtype)->bits <= 8;
}

static const jx_mlir_attr *algorithm(jx_hlo *in, const jx_dot_algorithm *a)
{
    static const char *const names[] = {
        "lhs_precision_type",          "rhs_precision_type",
        "accumulation_type",           "lhs_component_count",
        "rhs_component_count",         "num_primitive_operations",
        "allow_imprecise_accumulation"};
    const jx_mlir_type *tf32 =
        a->tf32 ? jx_mlir_float(in->types, "tf32") : NULL;
    const jx_mlir_attr *items[] = {
        jx_hlo_type_attr(in,
                         tf32 ? tf32 : jx_mlir_element(in->types, a->lhs_type)),
        jx_hlo_type_attr(in,
                         tf32 ? tf32 : jx_mlir_element(in->types, a->rhs_type)),
        jx_hlo_type_attr(in, jx_mlir_element(in->types, a->sum)),
        jx_hlo_i64(in, a->lhs_parts),
        jx_hlo_i64(in, a->rhs_parts),
        jx_hlo_i64(in, a->products),
        jx_hlo_bool(in, a->is_fast)};

    return jx_hlo_record(in, "stablehlo.dot_algorithm", 7, names, items);
}

/* Without an algorithm: operands of two dtypes meet in the result's. */
static jx_dot_algorithm no_algorithm(jx_dtype lhs, jx_dtype rhs, jx_dtype out)
{
    bool meet = lhs != rhs && !(is_eight_bits(lhs) && is_eight_bits(rhs));

    return (jx_dot_algorithm){.is_default = true,
                              .lhs = meet ? out : lhs,
                              .rhs = meet ? out : rhs,
                              .product = out};
}

void jx_lowering_rule_dot_general(jx_hlo_eqn *e)
{
    const jx_p_dot_general *p = e->eqn->typed;
    jx_code *c = e->code;
    jx_hv ins[2] = {e->ins[0], e->ins[1]};
    const jx_aval *out = e->avals[0];
    jx_dot_algorithm a;

    if (!ins[0].value || !ins[1].value)
        return;
    if (!jx_names_algorithm(p->precision)) {
        a = no_algorithm(ins[0].aval->dtype, ins[1].aval->dtype, out->dtype);
    } else if (!jx_dot_algorithm_of(p->precision, ins[0].aval->dtype,
                                    ins[1].aval->dtype, out->dtype, &a)) {
        jx_hlo_fail(c,
                    "the algorithm of a dot_general of %s and %s is not "
                    "one that JAX has",
                    jx_dtype_of(ins[0].aval->dtype)->short_name,
                    jx_dtype_of(ins[1].aval->dtype)->short_name);
        return;
    }
    for (int i = 0; i < 2; i++) {
        jx_dtype dtype = i ? a.rhs : a.lhs;
        if (ins[i].aval->dtype != dtype)
            ins[i] = jx_hlo_convert(c, ins[i], dtype);
    }
    jx_mlir_named attrs[] = {
        {"dot_dimension_numbers", dot_dims(c->in, &p->dimension_numbers)},
        {"precision_config", precision(c->in, p->precision)},
        {"algorithm", a.is_default ? NULL : algorithm(c->in, &a)}};
    jx_hv result =
        jx_hlo_simple(c, "stablehlo.dot_general", 2, ins,
                      jx_hlo_with_dtype(c->in, out, a.product), 3, attrs);
    jx_hlo_fill(e, a.product == out->dtype
                       ? result
                       : jx_hlo_convert(c, result, out->dtype));
}

/* ---- convolutions */

static const jx_mlir_attr *conv_dims(jx_hlo *in, const jx_conv_dims *d)
{
    static const char *const names[] = {
        "input_batch_dimension",           "input_feature_dimension",
        "input_spatial_dimensions",        "kernel_input_feature_dimension",
        "kernel_output_feature_dimension", "kernel_spatial_dimensions",
        "output_batch_dimension",          "output_feature_dimension",
        "output_spatial_dimensions"};
    int n = d->lhs_spec.count - 2;
    const jx_mlir_attr *items[] = {jx_hlo_i64(in, d->lhs_spec.at[0]),
                                   jx_hlo_i64(in, d->lhs_spec.at[1]),
                                   jx_hlo_i64s(in, n, d->lhs_spec.at + 2),
                                   jx_hlo_i64(in, d->rhs_spec.at[1]),
                                   jx_hlo_i64(in, d->rhs_spec.at[0]),
                                   jx_hlo_i64s(in, n, d->rhs_spec.at + 2),
                                   jx_hlo_i64(in, d->out_spec.at[0]),
                                   jx_hlo_i64(in, d->out_spec.at[1]),
                                   jx_hlo_i64s(in, n, d->out_spec.at + 2)};

    return jx_hlo_record(in, "stablehlo.conv", 9, names, items);
}

static const jx_mlir_attr *no_reversal(jx_hlo *in, int n)
{
    jx_mlir_attr *a = JX_NEW(in->ctx->arena, jx_mlir_attr);

    if (!a)
        return NULL;
    a->kind = JX_A_DENSE_ARRAY;
    a->type = jx_mlir_integer(in->types, JX_SIGNLESS, 1);
    a->count = n;
    a->integers = JX_NEW_ARRAY(in->ctx->arena, n + 1, int64_t);
    return a;
}

static jx_hv convolve(jx_hlo_eqn *e, jx_hv x, jx_hv k, const jx_aval *out)
{
    const jx_p_conv *p = e->eqn->typed;
    jx_code *c = e->code;
    jx_hlo *in = c->in;
    int n = p->dimension_numbers.lhs_spec.count - 2;
    jx_hv ins[3] = {x, k};
    int64_t *pads = JX_NEW_ARRAY(in->ctx->arena, 2 * n + 1, int64_t), value;
    bool numbers = true;

    if (!pads || n < 0)
        return (jx_hv){0};
    for (int i = 0; i < 2 * n; i++)
        if (jx_dim_is_int(p->padding.at[i], &value))
            pads[i] = value;
        else
            numbers = false;
    if (!numbers) {
        const jx_dim *shape[2] = {jx_hlo_int(in, n), jx_hlo_int(in, 2)};
        ins[2] =
            jx_hlo_reshape(c, jx_hlo_dims(c, 2 * n, p->padding.at), 2, shape);
    }
    jx_mlir_named attrs[] = {
        {"dimension_numbers", conv_dims(in, &p->dimension_numbers)},
        {"feature_group_count",
         jx_hlo_i64(
             in, jx_hlo_static(c, p->feature_group_count, "counts of groups"))},
        {"batch_group_count",
         jx_hlo_i64(
             in, jx_hlo_static(c, p->batch_group_count, "counts of groups"))},
        {"window_strides",
         jx_hlo_i64s(in, p->window_strides.count, p->window_strides.at)},
        {"lhs_dilation",
         jx_hlo_i64s(in, p->lhs_dilation.count, p->lhs_dilation.at)},
        {"rhs_dilation",
         jx_hlo_i64s(in, p->rhs_dilation.count, p->rhs_dilation.at)},
        {"window_reversal", no_reversal(in, n)},
        {"precision_config", precision(in, jx_eqn_param(e->eqn, "precision"))},
        {"padding", numbers ? jx_hlo_table(in, n, 2, pads) : NULL}};
    return jx_hlo_simple(
        c, numbers ? "stablehlo.convolution" : "stablehlo.dynamic_conv",
        numbers ? 2 : 3, ins, out, 9, attrs);
}

/* Of complex numbers: three convolutions of real ones (Gauss). */
static jx_hv convolve_complex(jx_hlo_eqn *e, jx_hv x, jx_hv k)
{
    jx_code *c = e->code;
    jx_dtype half = jx_dtype_real(x.aval->dtype);
    const jx_aval *out = jx_hlo_with_dtype(c->in, e->avals[0],
                                           jx_dtype_real(e->avals[0]->dtype));
    jx_hv xr = jx_hlo_unary_to(c, "stablehlo.real", x, half);
    jx_hv xi = jx_hlo_unary_to(c, "stablehlo.imag", x, half);
    jx_hv kr = jx_hlo_unary_to(c, "stablehlo.real", k, half);
    jx_hv ki = jx_hlo_unary_to(c, "stablehlo.imag", k, half);
    jx_hv k1 = convolve(e, jx_hlo_add(c, xr, xi), kr, out);
    jx_hv k2 = convolve(e, xr, jx_hlo_sub(c, ki, kr), out);
    jx_hv k3 = convolve(e, xi, jx_hlo_add(c, kr, ki), out);

    return jx_hlo_complex(c, jx_hlo_sub(c, k1, k3), jx_hlo_add(c, k1, k2));
}

void jx_lowering_rule_convolution(jx_hlo_eqn *e)
{
    jx_hv x = e->ins[0], k = e->ins[1];

    if (!x.value || !k.value)
        return;
    if (jx_dtype_is_complex(x.aval->dtype))
        jx_hlo_fill(e, convolve_complex(e, x, k));
    else
        jx_hlo_fill(e, convolve(e, x, k, e->avals[0]));
}

/* ---- fft */

void jx_lowering_rule_fft(jx_hlo_eqn *e)
{
    static const char *const names[] = {"FFT", "FFT", "IFFT", "RFFT", "IRFFT"};
    const jx_p_fft *p = e->eqn->typed;
    jx_code *c = e->code;
    jx_mlir_named attrs[] = {
        {"fft_type",
         jx_hlo_enum(c->in, "stablehlo.fft_type", names[p->fft_type])},
        {"fft_length",
         jx_hlo_dims_attr(c, p->fft_lengths.count, p->fft_lengths.at,
                          "lengths of transforms")}};

    jx_hlo_fill(e, jx_hlo_simple(c, e->op, 1, e->ins, e->avals[0], 2, attrs));
}
