/* stablehlo_contract.c - products that sum, convolutions, transforms, linear
 * algebra and random numbers. */
#include "frontend/read/stablehlo_parts.h"

#include "frontend/ir/dot_algorithm.h"

#include <stdio.h>

/* ---- dots */

/* Batch axes, then what is left of each side. */
static int dot_rank(const jx_dot_dims *d, const jx_aval *lhs,
                    const jx_aval *rhs)
{
    return lhs->rank - d->lhs_contracting.count + rhs->rank -
           d->rhs_contracting.count - d->rhs_batch.count;
}

/* "HIGHEST" of the operands' precisions, the way JAX has it; NULL: None. */
static const jx_value *precision(jx_hlo_body *b)
{
    const jx_mlir_attr *a = jx_mlir_get(b->op, "precision_config");
    const jx_value *items[2];
    jx_hlo_reader *s = b->s;
    char text[48];

    if (!a || a->kind != JX_A_ARRAY || a->count != 2)
        return jx_value_add(&s->program->values, &(jx_value){.tag = JX_V_NONE});
    bool plain = true;
    for (int i = 0; i < 2; i++) {
        const char *word =
            a->items[i]->kind == JX_A_ENUM ? a->items[i]->text : NULL;
        word = word ? word : "DEFAULT";
        plain = plain && !strcmp(word, "DEFAULT");
        snprintf(text, sizeof text, "Precision.%.30s", word);
        items[i] =
            jx_value_add(&s->program->values,
                         &(jx_value){.tag = JX_V_ENUM,
                                     .text = jx_intern_text(s->ctx, text)});
    }
    return plain ? jx_value_add(&s->program->values,
                                &(jx_value){.tag = JX_V_NONE})
                 : jx_value_of_tuple(s->program, 2, items);
}

static bool type_field(const jx_mlir_attr *record, const char *name,
                       jx_dtype *dtype, bool *tf32)
{
    const jx_mlir_attr *a = jx_mlir_field(record, name);
    const jx_mlir_type *type = a && a->kind == JX_A_TYPE ? a->type : NULL;

    if (tf32 && type && type->kind == JX_T_FLOAT && !strcmp(type->text, "tf32"))
        return *tf32 = true;
    return type && jx_mlir_dtype(type, dtype);
}

static int64_t count_field(const jx_mlir_attr *record, const char *name)
{
    const jx_mlir_attr *a = jx_mlir_field(record, name);

    return a ? a->integer : 1;
}

/* As jax.lax.DotAlgorithm has it. */
static const jx_value *algorithm_record(jx_hlo_reader *s,
                                        const jx_dot_algorithm *a)
{
    static const char *const names[] = {
        "lhs_precision_type",          "rhs_precision_type",
        "accumulation_type",           "lhs_component_count",
        "rhs_component_count",         "num_primitive_operations",
        "allow_imprecise_accumulation"};
    const jx_dtype dtypes[] = {a->lhs_type, a->rhs_type, a->sum};
    const int64_t counts[] = {a->lhs_parts, a->rhs_parts, a->products};
    jx_values *values = &s->program->values;
    const jx_value *items[7];
    const char *keys[7];

    for (int i = 0; i < 7; i++)
        keys[i] = jx_intern_text(s->ctx, names[i]);
    for (int i = 0; i < 3; i++) {
        const char *text = jx_dtype_of(dtypes[i])->name;
        items[i] = jx_value_add(
            values, &(jx_value){.tag = JX_V_DTYPE,
                                .dtype = dtypes[i],
                                .text = jx_intern_text(s->ctx, text)});
        items[3 + i] = jx_value_add(
            values, &(jx_value){.tag = JX_V_INT, .integer = counts[i]});
    }
    items[6] = jx_value_add(
        values, &(jx_value){.tag = JX_V_BOOL, .boolean = a->is_fast});
    return jx_value_add(
        values, &(jx_value){.tag = JX_V_RECORD,
                            .text = jx_intern_text(s->ctx, "DotAlgorithm"),
                            .count = 7,
                            .items = items,
                            .keys = keys});
}

/* The algorithm that the op names, as `precision` has it in JAX; NULL with an
 * error where JAX has no word for it. */
static const jx_value *algorithm(jx_hlo_body *b, const jx_mlir_attr *record,
                                 jx_dtype lhs, jx_dtype rhs, jx_dtype out)
{
    const jx_mlir_attr *fast =
        jx_mlir_field(record, "allow_imprecise_accumulation");
    jx_dot_algorithm a = {
        .lhs = lhs,
        .rhs = rhs,
        .product = out,
        .is_fast = fast && (fast->boolean || fast->integer),
        .lhs_parts = count_field(record, "lhs_component_count"),
        .rhs_parts = count_field(record, "rhs_component_count"),
        .products = count_field(record, "num_primitive_operations")};
    bool tf32 = false;
    const char *name;

    if (!type_field(record, "lhs_precision_type", &a.lhs_type, &a.tf32) ||
        !type_field(record, "rhs_precision_type", &a.rhs_type, &tf32) ||
        !type_field(record, "accumulation_type", &a.sum, NULL) ||
        a.tf32 != tf32) {
        jx_hlo_refuse(b, "expected an algorithm of dtypes that JAX has");
        return NULL;
    }
    name = jx_dot_preset(&a);
    if (name) {
        name = jx_arena_printf(b->s->ctx->arena, "DotAlgorithmPreset.%s", name);
        return jx_value_add(
            &b->s->program->values,
            &(jx_value){.tag = JX_V_ENUM,
                        .text = jx_intern_text(b->s->ctx, name)});
    }
    if (tf32) {
        jx_hlo_refuse(b, "expected an algorithm that JAX has");
        return NULL;
    }
    return algorithm_record(b->s, &a);
}

static bool emit_dot(jx_hlo_body *b, const jx_dot_dims *d)
{
    const jx_mlir_attr *record = jx_mlir_get(b->op, "algorithm");
    const jx_value *how;
    jx_params p = jx_hlo_no_params(b);
    const jx_atom ins[] = {jx_hlo_in(b, 0), jx_hlo_in(b, 1)};
    const jx_aval *out;

    int rank = dot_rank(d, jx_atom_aval(ins[0]), jx_atom_aval(ins[1]));
    if (!jx_hlo_rank_ok(b, 0))
        return false;
    if (rank != b->op->outs[0]->type->rank)
        return jx_hlo_refuse(b, "expected a result of %d axes", rank);
    out = jx_hlo_result(b, 0, NULL);
    if (!out)
        return false;
    jx_put_dot_dims(&p, d);
    how = record && record->kind == JX_A_RECORD
              ? algorithm(b, record, jx_atom_aval(ins[0])->dtype,
                          jx_atom_aval(ins[1])->dtype, out->dtype)
              : precision(b);
    if (!how)
        return false;
    jx_put(&p, "precision", how);
    jx_put_dtype(&p, "preferred_element_type", out->dtype);
    jx_put_none(&p, "out_sharding");
    return jx_hlo_define1(b,
                          jx_hlo_eqn(b, JX_PRIM_dot_general, 2, ins, &p, out));
}

bool jx_hlo_op_dot_general(jx_hlo_body *b, const jx_mlir_op *op,
                           const jx_hlo_row *row)
{
    const jx_mlir_attr *dims = jx_hlo_attr(b, "dot_dimension_numbers");
    jx_atom lhs = jx_hlo_in(b, 0), rhs = jx_hlo_in(b, 1);
    jx_dot_dims d;

    (void)op, (void)row;
    if (!dims || !jx_is_made(lhs) || !jx_is_made(rhs))
        return false;
    int left = jx_atom_aval(lhs)->rank, right = jx_atom_aval(rhs)->rank;
    return jx_hlo_field_ints(b, dims, "lhs_contracting_dimensions",
                             &d.lhs_contracting) &&
           jx_hlo_field_ints(b, dims, "rhs_contracting_dimensions",
                             &d.rhs_contracting) &&
           jx_hlo_field_ints(b, dims, "lhs_batching_dimensions",
                             &d.lhs_batch) &&
           jx_hlo_field_ints(b, dims, "rhs_batching_dimensions",
                             &d.rhs_batch) &&
           jx_hlo_axes_ok(b, "lhs_contracting_dimensions", d.lhs_contracting,
                          left) &&
           jx_hlo_axes_ok(b, "lhs_batching_dimensions", d.lhs_batch, left) &&
           jx_hlo_axes_ok(b, "rhs_contracting_dimensions", d.rhs_contracting,
                          right) &&
           jx_hlo_axes_ok(b, "rhs_batching_dimensions", d.rhs_batch, right) &&
           emit_dot(b, &d);
}

/* The older op: the last axis of the left by the first of the right. */
bool jx_hlo_op_dot(jx_hlo_body *b, const jx_mlir_op *op, const jx_hlo_row *row)
{
    jx_atom lhs = jx_hlo_in(b, 0), rhs = jx_hlo_in(b, 1);
    int64_t last = 0, first = 0;
    jx_dot_dims d = {.rhs_contracting = {1, &first},
                     .lhs_contracting = {1, &last}};

    (void)op, (void)row;
    if (!jx_is_made(lhs) || !jx_is_made(rhs))
        return false;
    last = jx_atom_aval(lhs)->rank - 1;
    if (last < 0 || jx_atom_aval(rhs)->rank < 1)
        return jx_hlo_refuse(b, "expected operands with axes");
    return emit_dot(b, &d);
}

/* ---- convolutions */

/* (batch, feature, spatial...), or of the kernel (out, in, spatial...). */
static bool spec_of(jx_hlo_body *b, const jx_mlir_attr *dims, const char *first,
                    const char *second, const char *spatial, int rank,
                    jx_ints *to)
{
    int64_t *at = JX_NEW_ARRAY(b->s->ctx->arena, rank + 2, int64_t);
    jx_ints axes;

    if (!at || !jx_hlo_field_int(b, dims, first, &at[0]) ||
        !jx_hlo_field_int(b, dims, second, &at[1]) ||
        !jx_hlo_field_ints(b, dims, spatial, &axes))
        return false;
    if (axes.count + 2 != rank)
        return jx_hlo_refuse(b,
                             "attribute 'dimension_numbers': expected %d "
                             "spatial axes",
                             rank - 2);
    for (int i = 0; i < axes.count; i++)
        at[2 + i] = axes.at[i];
    *to = (jx_ints){rank, at};
    return jx_hlo_axes_ok(b, "dimension_numbers", *to, rank);
}

typedef struct conv {
    jx_ints lhs, rhs, out, strides, lhs_dilation, rhs_dilation, reversal;
    int64_t features, batches;
} conv;

/* Of dynamic_conv nobody checks how many there are: what is more than one for
 * each axis says nothing. */
static bool read_strides(jx_hlo_body *b, int n, jx_ints *to)
{
    if (b->op->id != JX_OP_stablehlo_dynamic_conv ||
        !jx_mlir_get(b->op, "window_strides"))
        return jx_hlo_attr_ints_or(b, "window_strides", n, 1, to);
    if (!jx_hlo_attr_ints(b, "window_strides", to))
        return false;
    if (to->count < n)
        return jx_hlo_refuse(
            b, "attribute 'window_strides': expected %d integers", n);
    to->count = n;
    return true;
}

static bool read_conv(jx_hlo_body *b, int rank, conv *c)
{
    const jx_mlir_attr *dims = jx_hlo_attr(b, "dimension_numbers");
    int n = rank - 2;

    if (!dims)
        return false;
    c->features = jx_hlo_attr_int_or(b, "feature_group_count", 1);
    c->batches = jx_hlo_attr_int_or(b, "batch_group_count", 1);
    return spec_of(b, dims, "input_batch_dimension", "input_feature_dimension",
                   "input_spatial_dimensions", rank, &c->lhs) &&
           spec_of(b, dims, "kernel_output_feature_dimension",
                   "kernel_input_feature_dimension",
                   "kernel_spatial_dimensions", rank, &c->rhs) &&
           spec_of(b, dims, "output_batch_dimension",
                   "output_feature_dimension", "output_spatial_dimensions",
                   rank, &c->out) &&
           read_strides(b, n, &c->strides) &&
           jx_hlo_attr_ints_or(b, "lhs_dilation", n, 1, &c->lhs_dilation) &&
           jx_hlo_attr_ints_or(b, "rhs_dilation", n, 1, &c->rhs_dilation) &&
           jx_hlo_attr_ints_or(b, "window_reversal", n, 0, &c->reversal);
}

/* The kernel with the axes turned around that the op says. */
static jx_atom reversed(jx_hlo_body *b, const conv *c, jx_atom rhs)
{
    jx_params p = jx_hlo_no_params(b);
    int64_t axes[JX_HLO_RANK];
    int n = 0;

    for (int i = 0; i < c->reversal.count; i++)
        if (c->reversal.at[i])
            axes[n++] = c->rhs.at[2 + i];
    if (!n)
        return rhs;
    jx_put_ints(&p, "dimensions", (jx_ints){n, axes});
    return jx_hlo_eqn(b, JX_PRIM_rev, 1, &rhs, &p, jx_atom_aval(rhs));
}

static bool emit_conv(jx_hlo_body *b, const jx_dim *const *padding)
{
    jx_params p = jx_hlo_no_params(b);
    jx_atom ins[] = {jx_hlo_in(b, 0), jx_hlo_in(b, 1)};
    const jx_aval *out;
    conv c;

    if (!jx_is_made(ins[0]) || !jx_is_made(ins[1]))
        return false;
    int rank = jx_atom_aval(ins[0])->rank;
    if (rank < 2 || jx_atom_aval(ins[1])->rank != rank)
        return jx_hlo_refuse(b, "expected operands of as many axes, two or "
                                "more");
    if (!read_conv(b, rank, &c))
        return false;
    ins[1] = reversed(b, &c, ins[1]);
    out = jx_hlo_result(b, 0, NULL);
    if (!out)
        return false;
    jx_put_conv_dims(&p, &(jx_conv_dims){c.lhs, c.rhs, c.out});
    jx_put_ints(&p, "window_strides", c.strides);
    jx_put_tuples(&p, "padding", rank - 2, 2, padding);
    jx_put_ints(&p, "lhs_dilation", c.lhs_dilation);
    jx_put_ints(&p, "rhs_dilation", c.rhs_dilation);
    jx_put_int(&p, "feature_group_count", c.features);
    jx_put_int(&p, "batch_group_count", c.batches);
    jx_put(&p, "precision", precision(b));
    jx_put_dtype(&p, "preferred_element_type", out->dtype);
    return jx_hlo_define1(
        b, jx_hlo_eqn(b, JX_PRIM_conv_general_dilated, 2, ins, &p, out));
}

bool jx_hlo_op_convolution(jx_hlo_body *b, const jx_mlir_op *op,
                           const jx_hlo_row *row)
{
    const jx_dim *padding[2 * JX_HLO_RANK];
    jx_atom in = jx_hlo_in(b, 0);
    jx_ints ints;

    (void)op, (void)row;
    if (!jx_is_made(in))
        return false;
    int n = jx_atom_aval(in)->rank - 2;
    if (n < 0)
        return jx_hlo_refuse(b, "expected operands of two axes or more");
    if (!jx_hlo_attr_ints_or(b, "padding", 2 * n, 0, &ints))
        return false;
    for (int i = 0; i < 2 * n; i++)
        padding[i] = jx_hlo_dim_int(b, ints.at[i]);
    return emit_conv(b, padding);
}

bool jx_hlo_op_dynamic_conv(jx_hlo_body *b, const jx_mlir_op *op,
                            const jx_hlo_row *row)
{
    const jx_dim *const *padding =
        jx_hlo_sizes_in(b, 2, op->nins ? 2 * (op->ins[0]->type->rank - 2) : -1);

    (void)row;
    return padding ? emit_conv(b, padding) : jx_hlo_unknown(b, op);
}

/* ---- transforms and linear algebra */

bool jx_hlo_op_fft(jx_hlo_body *b, const jx_mlir_op *op, const jx_hlo_row *row)
{
    const char *kind = jx_hlo_attr_enum(b, "fft_type", NULL);
    const jx_dim *lengths[JX_HLO_RANK];
    jx_params p = jx_hlo_no_params(b);
    jx_atom in = jx_hlo_in(b, 0);
    char text[32];
    jx_ints ints;

    (void)op;
    if (!kind || !jx_is_made(in) || !jx_hlo_attr_ints(b, "fft_length", &ints))
        return false;
    const jx_aval *aval = jx_atom_aval(in);
    if (ints.count > aval->rank || ints.count < 1)
        return jx_hlo_refuse(b,
                             "attribute 'fft_length': expected at most %d "
                             "lengths",
                             aval->rank);
    for (int i = 0; i < ints.count; i++)
        lengths[i] = jx_hlo_dim_int(b, ints.at[i]);
    snprintf(text, sizeof text, "FftType.%.16s", kind);
    jx_put_enum(&p, "fft_type", text);
    jx_put_dims(&p, "fft_lengths", ints.count, lengths);
    return jx_hlo_define1(
        b, jx_hlo_eqn(b, row->prim, 1, &in, &p, jx_hlo_result(b, 0, NULL)));
}

bool jx_hlo_op_triangular_solve(jx_hlo_body *b, const jx_mlir_op *op,
                                const jx_hlo_row *row)
{
    const char *how = jx_hlo_attr_enum(b, "transpose_a", "NO_TRANSPOSE");
    jx_params p = jx_hlo_no_params(b);
    const jx_atom ins[] = {jx_hlo_in(b, 0), jx_hlo_in(b, 1)};
    bool adjoint = how && !strcmp(how, "ADJOINT");

    (void)op;
    if (!how || !jx_is_made(ins[0]) || !jx_is_made(ins[1]))
        return false;
    jx_put_bool(&p, "left_side", jx_hlo_attr_bool_or(b, "left_side", false));
    jx_put_bool(&p, "lower", jx_hlo_attr_bool_or(b, "lower", false));
    jx_put_bool(&p, "unit_diagonal",
                jx_hlo_attr_bool_or(b, "unit_diagonal", false));
    jx_put_bool(&p, "transpose_a", adjoint || !strcmp(how, "TRANSPOSE"));
    jx_put_bool(&p, "conjugate_a",
                adjoint && jx_dtype_is_complex(jx_atom_aval(ins[0])->dtype));
    return jx_hlo_define1(
        b, jx_hlo_eqn(b, row->prim, 2, ins, &p, jx_atom_aval(ins[1])));
}

/* The last two axes swapped, and conjugated. */
static jx_atom adjoint(jx_hlo_body *b, jx_atom a)
{
    int64_t order[JX_HLO_RANK];
    const jx_aval *aval;

    if (!jx_is_made(a))
        return a;
    aval = jx_atom_aval(a);
    for (int i = 0; i < aval->rank; i++)
        order[i] = i;
    order[aval->rank - 1] = aval->rank - 2;
    order[aval->rank - 2] = aval->rank - 1;
    a = jx_hlo_eqn_transpose(b, a, order);
    return jx_is_made(a) && jx_dtype_is_complex(aval->dtype)
               ? jx_hlo_eqn1(b, JX_PRIM_conj, a, jx_atom_aval(a))
               : a;
}

/* The primitive takes and gives lower triangles. */
bool jx_hlo_op_cholesky(jx_hlo_body *b, const jx_mlir_op *op,
                        const jx_hlo_row *row)
{
    bool lower = jx_hlo_attr_bool_or(b, "lower", false);
    jx_atom in = jx_hlo_in(b, 0);

    (void)op;
    if (!jx_is_made(in) || jx_atom_aval(in)->rank < 2)
        return jx_hlo_refuse(b, "expected a matrix");
    if (!lower)
        in = adjoint(b, in);
    if (jx_is_made(in))
        in = jx_hlo_eqn1(b, row->prim, in, jx_atom_aval(in));
    return jx_hlo_define1(b, lower ? in : adjoint(b, in));
}

/* ---- random numbers */

/* Bits are unsigned integers before they are taken for something else; NULL:
 * there is none as wide. */
static const jx_aval *unsigned_bits(jx_hlo_body *b, const jx_aval *aval)
{
    static const jx_dtype bits[] = {JX_U8, JX_U16, JX_U32, JX_U64};

    if (jx_dtype_of(aval->dtype)->kind == JX_KIND_UINT)
        return aval;
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
        if (jx_dtype_of(bits[i])->bits == jx_dtype_of(aval->dtype)->bits &&
            !jx_dtype_is_complex(aval->dtype))
            return jx_hlo_array(b, bits[i], aval->rank, aval->shape);
    return NULL;
}

bool jx_hlo_op_rng_bit_generator(jx_hlo_body *b, const jx_mlir_op *op,
                                 const jx_hlo_row *row)
{
    static const struct {
        const char *theirs, *ours;
    } names[] = {{"DEFAULT", "RandomAlgorithm.RNG_DEFAULT"},
                 {"THREE_FRY", "RandomAlgorithm.RNG_THREE_FRY"},
                 {"PHILOX", "RandomAlgorithm.RNG_PHILOX"}};
    const char *algorithm = jx_hlo_attr_enum(b, "rng_algorithm", "DEFAULT");
    jx_params p = jx_hlo_no_params(b);
    jx_atom in = jx_hlo_in(b, 0);
    const jx_aval *outs[2];

    if (!jx_is_made(in) || !algorithm)
        return false;
    if (op->nouts != 2)
        return jx_hlo_refuse(b, "expected 2 results");
    outs[0] = jx_atom_aval(in);
    outs[1] = jx_hlo_result(b, 1, NULL);
    if (!outs[1])
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i].theirs, algorithm))
            jx_put_enum(&p, "algorithm", names[i].ours);
    const jx_aval *bits = unsigned_bits(b, outs[1]);
    const jx_aval *declared = outs[1];
    if (!bits)
        return jx_hlo_refuse(b, "expected results of 8 to 64 bits");
    outs[1] = bits;
    jx_put_dims(&p, "shape", bits->rank, bits->shape);
    jx_put_dtype(&p, "dtype", bits->dtype);
    jx_put_none(&p, "out_sharding");
    const jx_atom *made =
        jx_hlo_eqn_all(b, jx_prim_of(row->prim), 1, &in, &p, 2, outs);
    if (!made || bits == declared)
        return made && jx_hlo_define(b, 2, made);
    jx_params cast = jx_hlo_no_params(b);
    jx_put_dtype(&cast, "new_dtype", declared->dtype);
    const jx_atom both[] = {made[0], jx_hlo_eqn(b, JX_PRIM_bitcast_convert_type,
                                                1, &made[1], &cast, declared)};
    return jx_hlo_define(b, 2, both);
}

bool jx_hlo_op_rng(jx_hlo_body *b, const jx_mlir_op *op, const jx_hlo_row *row)
{
    const char *kind = jx_hlo_attr_enum(b, "rng_distribution", NULL);
    jx_params p = jx_hlo_no_params(b);
    const jx_atom ins[] = {jx_hlo_in(b, 0), jx_hlo_in(b, 1)};
    const jx_aval *out = jx_hlo_result(b, 0, NULL);
    char text[32];

    (void)op, (void)row;
    if (!kind || !out)
        return false;
    snprintf(text, sizeof text, "RngDistribution.%.10s", kind);
    jx_put_enum(&p, "rng_distribution", text);
    jx_put_dims(&p, "shape", out->rank, out->shape);
    return jx_hlo_define1(
        b, jx_hlo_eqn(b, JX_PRIM_stablehlo_rng, 2, ins, &p, out));
}
