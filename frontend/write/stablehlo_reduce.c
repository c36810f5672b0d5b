/* stablehlo_reduce.c - reductions, windows and sorting (stablehlo_rules.h). */
#include "frontend/write/stablehlo_rules.h"

#include <math.h>
#include <string.h>

/* What `name` leaves as it is. */
static jx_hv identity(jx_code *c, const char *name, jx_dtype dtype)
{
    const char *op = strchr(name, '.') + 1;

    if (!strcmp(op, "maximum"))
        return jx_hlo_least(c, dtype);
    if (!strcmp(op, "minimum"))
        return jx_hlo_greatest(c, dtype);
    if (!strcmp(op, "multiply"))
        return jx_hlo_scalar(c, dtype, 1);
    if (!strcmp(op, "and"))
        return jx_hlo_scalar_int(c, dtype, -1);
    return jx_hlo_scalar(c, dtype, 0);
}

void jx_lowering_rule_reduce(jx_hlo_eqn *e)
{
    const jx_p_axes *p = e->eqn->typed;

    if (e->ins[0].value)
        jx_hlo_fill(
            e, jx_hlo_reduce(e->code, e->detail, e->ins[0],
                             identity(e->code, e->detail, e->avals[0]->dtype),
                             p->axes.count, p->axes.at));
}

void jx_lowering_rule_allreduce(jx_hlo_eqn *e)
{
    const jx_p_allreduce *p = e->eqn->typed;

    for (int i = 0; i < e->eqn->nins; i++)
        if (p->axes.names.count && p->axes.at.count)
            jx_hlo_fail(e->code,
                        "it goes over axes of its operands and of a mesh");
        else if (p->axes.names.count)
            e->outs[i] = jx_hlo_all_reduce(e, e->ins[i], p->axis_index_groups);
        else if (p->axes.at.count == 0)
            e->outs[i] = e->ins[i];
        else if (e->ins[i].value)
            e->outs[i] =
                jx_hlo_reduce(e->code, e->detail, e->ins[i],
                              identity(e->code, e->detail, e->avals[i]->dtype),
                              p->axes.at.count, p->axes.at.at);
}

void jx_lowering_rule_reduce_general(jx_hlo_eqn *e)
{
    const jx_p_reduce *p = e->eqn->typed;
    int n = e->eqn->nins / 2;
    jx_mlir_named attr = {
        "dimensions",
        jx_hlo_i64s(e->code->in, p->dimensions.count, p->dimensions.at)};
    jx_mlir_region body =
        jx_hlo_computation(e->code, &p->jaxpr, n, e->ins, JX_HLO_TWICE);

    jx_hlo_emit(e->code,
                &(jx_hlo_op){.name = "stablehlo.reduce",
                             .nins = 2 * n,
                             .ins = e->ins,
                             .nouts = n,
                             .outs = e->avals,
                             .nattrs = 1,
                             .attrs = &attr,
                             .nregions = 1,
                             .regions = &body},
                e->outs);
}

/* ---- argmax, argmin: pairs of value and place */

/* x before y: greater (less), or NaN; of equals the first. */
static jx_mlir_region pick(jx_code *c, const char *direction, jx_dtype dtype,
                           jx_dtype index)
{
    jx_dtype dtypes[4] = {dtype, index, dtype, index};
    jx_hv a[4], out[2], take, take_place;
    jx_code *inner = jx_hlo_begin_scalars(c, 4, dtypes, a);

    if (!inner)
        return (jx_mlir_region){0};
    take = jx_hlo_or(inner, jx_hlo_compare(inner, direction, a[0], a[2]),
                     jx_hlo_compare(inner, "NE", a[0], a[0]));
    take_place =
        jx_hlo_or(inner, take,
                  jx_hlo_and(inner, jx_hlo_compare(inner, "EQ", a[0], a[2]),
                             jx_hlo_compare(inner, "LT", a[1], a[3])));
    out[0] = jx_hlo_select(inner, take, a[0], a[2]);
    out[1] = jx_hlo_select(inner, take_place, a[1], a[3]);
    return jx_hlo_finish(inner, 2, out);
}

void jx_lowering_rule_arg_reduce(jx_hlo_eqn *e)
{
    const jx_p_arg_reduce *p = e->eqn->typed;
    jx_code *c = e->code;
    bool max = e->eqn->prim->id == JX_PRIM_argmax;
    jx_hv ins[4] = {e->ins[0]}, outs[2];
    jx_dtype dtype, index = e->avals[0]->dtype;

    if (!ins[0].value || p->axes.count != 1)
        return;
    dtype = ins[0].aval->dtype;
    ins[1] = jx_hlo_iota(c, jx_hlo_with_dtype(c->in, ins[0].aval, index),
                         (int)p->axes.at[0]);
    ins[2] = max ? jx_hlo_least(c, dtype) : jx_hlo_greatest(c, dtype);
    ins[3] = jx_hlo_scalar_int(c, index, 0);
    const jx_aval *avals[2] = {jx_hlo_with_dtype(c->in, e->avals[0], dtype),
                               e->avals[0]};
    jx_mlir_named attr = {"dimensions", jx_hlo_i64s(c->in, 1, p->axes.at)};
    jx_mlir_region body = pick(c, max ? "GT" : "LT", dtype, index);
    jx_hlo_emit(c,
                &(jx_hlo_op){.name = "stablehlo.reduce",
                             .nins = 4,
                             .ins = ins,
                             .nouts = 2,
                             .outs = avals,
                             .nattrs = 1,
                             .attrs = &attr,
                             .nregions = 1,
                             .regions = &body},
                outs);
    e->outs[0] = outs[1];
}

/* ---- windows */

typedef struct window {
    int rank;
    const jx_dim *const *sizes;    /* of the window */
    jx_ints strides, base, within; /* empty: 1 */
    const jx_dim *const *padding;  /* low, high of each axis */
} window;

/* One step for each axis. */
static const int64_t *steps_of(jx_code *c, int rank, jx_ints list)
{
    int64_t *all = JX_NEW_ARRAY(c->in->ctx->arena, rank + 1, int64_t);

    for (int i = 0; all && i < rank; i++)
        all[i] = i < list.count ? list.at[i] : 1;
    return all;
}

static const jx_mlir_attr *steps(jx_code *c, int rank, jx_ints list)
{
    const int64_t *all = steps_of(c, rank, list);

    return all ? jx_hlo_i64s(c->in, rank, all) : NULL;
}

static const jx_mlir_attr *padding_of(jx_code *c, int rank,
                                      const jx_dim *const *padding)
{
    int64_t *all = JX_NEW_ARRAY(c->in->ctx->arena, 2 * rank + 1, int64_t);

    if (!all)
        return NULL;
    for (int i = 0; i < 2 * rank; i++)
        all[i] = jx_hlo_static(c, padding[i], "padding of windows");
    return jx_hlo_table(c->in, rank, 2, all);
}

static bool has_numbers(const window *w)
{
    int64_t value;

    for (int i = 0; i < w->rank; i++)
        if (!jx_dim_is_int(w->sizes[i], &value) ||
            !jx_dim_is_int(w->padding[2 * i], &value) ||
            !jx_dim_is_int(w->padding[2 * i + 1], &value))
            return false;
    return true;
}

static jx_hv step_vector(jx_code *c, int rank, jx_ints list)
{
    const int64_t *all = steps_of(c, rank, list);

    return all ? jx_hlo_vector(c, JX_I32, rank, all) : (jx_hv){0};
}

/* With sizes that are values: a custom call that XLA knows, once it knows the
 * sizes. */
static void reduce_window_dynamic(jx_code *c, const window *w, int n,
                                  const jx_hv *both,
                                  const jx_aval *const *avals,
                                  jx_mlir_region body, jx_hv *outs)
{
    jx_hlo *in = c->in;
    const jx_dim *pairs[2] = {jx_hlo_int(in, w->rank), jx_hlo_int(in, 2)};
    const char *name = jx_hlo_region_function(c, "reducer", body);
    const jx_mlir_attr *symbol = name ? jx_hlo_symbol(in, name) : NULL;
    jx_hv *ins = JX_NEW_ARRAY(in->ctx->arena, 2 * n + 5, jx_hv);

    if (!symbol || !ins)
        return;
    memcpy(ins, both, 2 * (size_t)n * sizeof *ins);
    ins[2 * n] = jx_hlo_dims(c, w->rank, w->sizes);
    ins[2 * n + 1] = step_vector(c, w->rank, w->strides);
    ins[2 * n + 2] = step_vector(c, w->rank, w->base);
    ins[2 * n + 3] = step_vector(c, w->rank, w->within);
    ins[2 * n + 4] =
        jx_hlo_reshape(c, jx_hlo_dims(c, 2 * w->rank, w->padding), 2, pairs);
    jx_mlir_named attrs[] = {
        {"call_target_name",
         jx_hlo_text(in, "stablehlo.dynamic_reduce_window")},
        {"api_version", jx_hlo_integer(in, JX_SIGNLESS, 32, 2)},
        {"backend_config", jx_hlo_text(in, "")},
        {"called_computations", jx_hlo_list(in, 1, &symbol)}};
    jx_hlo_emit(c,
                &(jx_hlo_op){.name = "stablehlo.custom_call",
                             .nins = 2 * n + 5,
                             .ins = ins,
                             .nouts = n,
                             .outs = avals,
                             .nattrs = 4,
                             .attrs = attrs},
                outs);
}

static void reduce_window(jx_code *c, const window *w, int n,
                          const jx_hv *operands, const jx_hv *init,
                          const jx_aval *const *avals, jx_mlir_region body,
                          jx_hv *outs)
{
    jx_hv *ins = JX_NEW_ARRAY(c->in->ctx->arena, 2 * n + 1, jx_hv);

    if (!ins)
        return;
    memcpy(ins, operands, (size_t)n * sizeof *ins);
    memcpy(ins + n, init, (size_t)n * sizeof *ins);
    if (!has_numbers(w)) {
        reduce_window_dynamic(c, w, n, ins, avals, body, outs);
        return;
    }
    jx_mlir_named attrs[] = {
        {"window_dimensions",
         jx_hlo_dims_attr(c, w->rank, w->sizes, "sizes of windows")},
        {"window_strides", steps(c, w->rank, w->strides)},
        {"base_dilations", steps(c, w->rank, w->base)},
        {"window_dilations", steps(c, w->rank, w->within)},
        {"padding", padding_of(c, w->rank, w->padding)}};
    jx_hlo_emit(c,
                &(jx_hlo_op){.name = "stablehlo.reduce_window",
                             .nins = 2 * n,
                             .ins = ins,
                             .nouts = n,
                             .outs = avals,
                             .nattrs = 5,
                             .attrs = attrs,
                             .nregions = 1,
                             .regions = &body},
                outs);
}

void jx_lowering_rule_reduce_window(jx_hlo_eqn *e)
{
    const jx_p_window *p = e->eqn->typed;
    window w = {p->window_dimensions.count, p->window_dimensions.at,
                p->window_strides,          p->base_dilation,
                p->window_dilation,         p->padding.at};
    jx_dtype dtype = e->avals[0]->dtype;
    jx_hv init = identity(e->code, e->detail, dtype);

    reduce_window(e->code, &w, 1, e->ins, &init, e->avals,
                  jx_hlo_reducer(e->code, e->detail, dtype), e->outs);
}

void jx_lowering_rule_reduce_window_general(jx_hlo_eqn *e)
{
    const jx_p_reduce_window *p = e->eqn->typed;
    window w = {p->window_dimensions.count, p->window_dimensions.at,
                p->window_strides,          p->base_dilation,
                p->window_dilation,         p->padding.at};
    int n = e->eqn->nins / 2;

    reduce_window(
        e->code, &w, n, e->ins, e->ins + n, e->avals,
        jx_hlo_computation(e->code, &p->jaxpr, n, e->ins, JX_HLO_TWICE),
        e->outs);
}

/* log(exp x + exp y), from the greater one. */
static jx_hv log_add_exp(jx_code *c, jx_hv x, jx_hv y)
{
    jx_hv greater = jx_hlo_extreme(c, "stablehlo.maximum", x, y);
    jx_hv delta = jx_hlo_sub(c, x, y);
    jx_hv away = jx_hlo_unary(c, "stablehlo.abs", delta);
    jx_hv sum = jx_hlo_add(c, greater,
                           jx_hlo_unary(c, "stablehlo.log_plus_one",
                                        jx_hlo_unary(c, "stablehlo.exponential",
                                                     jx_hlo_neg(c, away))));

    return jx_hlo_select(c, jx_hlo_isnan(c, delta), jx_hlo_add(c, x, y), sum);
}

/* Of complex numbers; the imaginary part of the result is kept
 * within a turn. */
static jx_hv log_add_exp_complex(jx_code *c, jx_hv x, jx_hv y)
{
    static const double pi = 3.14159265358979323846;
    jx_dtype half = jx_dtype_real(x.aval->dtype);
    jx_hv most = jx_hlo_extreme(c, "stablehlo.maximum", x, y);
    jx_hv delta = jx_hlo_sub(c, jx_hlo_add(c, x, y),
                             jx_hlo_mul(c, most, jx_hlo_like(c, most, 2)));
    jx_hv out = jx_hlo_add(
        c, most,
        jx_hlo_unary(c, "stablehlo.log_plus_one",
                     jx_hlo_unary(c, "stablehlo.exponential", delta)));
    jx_hv im = jx_hlo_unary_to(c, "stablehlo.imag", out, half);
    jx_hv turn = jx_hlo_like(c, im, 2 * pi), at = jx_hlo_like(c, im, pi);
    jx_hv rest =
        jx_hlo_binary(c, "stablehlo.remainder", jx_hlo_add(c, im, at), turn);

    rest =
        jx_hlo_select(c, jx_hlo_compare(c, "LT", rest, jx_hlo_like(c, im, 0)),
                      jx_hlo_add(c, rest, turn), rest);
    return jx_hlo_complex(c, jx_hlo_unary_to(c, "stablehlo.real", out, half),
                          jx_hlo_sub(c, rest, at));
}

static jx_mlir_region log_add_exp_body(jx_code *c, jx_dtype dtype)
{
    jx_dtype dtypes[2] = {dtype, dtype};
    jx_hv x[2], out;
    jx_code *inner = jx_hlo_begin_scalars(c, 2, dtypes, x);

    if (!inner)
        return (jx_mlir_region){0};
    out = jx_dtype_is_complex(dtype) ? log_add_exp_complex(inner, x[0], x[1])
                                     : log_add_exp(inner, x[0], x[1]);
    return jx_hlo_finish(inner, 1, &out);
}

/* A window that reaches back (or forth) to the end. */
void jx_lowering_rule_cumulative(jx_hlo_eqn *e)
{
    const jx_p_cumulative *p = e->eqn->typed;
    jx_code *c = e->code;
    jx_hlo *in = c->in;
    const jx_aval *aval = e->avals[0];
    const jx_dim **sizes =
        JX_NEW_ARRAY(in->ctx->arena, aval->rank + 1, const jx_dim *);
    const jx_dim **padding =
        JX_NEW_ARRAY(in->ctx->arena, 2 * aval->rank + 1, const jx_dim *);
    bool sum = e->eqn->prim->id == JX_PRIM_cumlogsumexp;
    int64_t n;
    jx_hv init;

    if (!sizes || !padding)
        return;
    if (jx_dim_is_int(aval->shape[p->axis], &n) && !n) {
        jx_hlo_fill(e, e->ins[0]);
        return;
    }
    for (int i = 0; i < aval->rank; i++) {
        sizes[i] = i == p->axis ? aval->shape[i] : jx_hlo_int(in, 1);
        padding[2 * i] = padding[2 * i + 1] = jx_hlo_int(in, 0);
    }
    padding[2 * p->axis + p->reverse] =
        jx_dim_sub(in->program->dims, aval->shape[p->axis], jx_hlo_int(in, 1));
    window w = {.rank = aval->rank, .sizes = sizes, .padding = padding};
    if (sum)
        init = jx_hlo_scalar(c, aval->dtype, -__builtin_inf());
    else
        init = identity(c, e->detail, aval->dtype);
    reduce_window(c, &w, 1, e->ins, &init, e->avals,
                  sum ? log_add_exp_body(c, aval->dtype)
                      : jx_hlo_reducer(c, e->detail, aval->dtype),
                  e->outs);
}

static bool selects_greatest(const char *prim)
{
    return prim && (!strcmp(prim, "ge") || !strcmp(prim, "ge_p"));
}

static jx_mlir_region chooser(jx_code *c, bool greatest, jx_dtype dtype)
{
    jx_dtype dtypes[2] = {dtype, dtype};
    jx_hv x[2], out;
    jx_code *inner = jx_hlo_begin_scalars(c, 2, dtypes, x);

    if (!inner)
        return (jx_mlir_region){0};
    out = jx_hlo_compare(inner, greatest ? "GE" : "LE", x[0], x[1]);
    return jx_hlo_finish(inner, 1, &out);
}

/* Of operand, source and what it begins with; the result is
 * like the operand. */
static jx_hv select_and_scatter(jx_code *c, const window *w, const jx_hv *ins,
                                const jx_mlir_region *regions)
{
    jx_mlir_named attrs[] = {
        {"window_dimensions",
         jx_hlo_dims_attr(c, w->rank, w->sizes, "sizes of windows")},
        {"window_strides", steps(c, w->rank, w->strides)},
        {"padding", padding_of(c, w->rank, w->padding)}};

    return jx_hlo_emit1(c, &(jx_hlo_op){.name = "stablehlo.select_and_scatter",
                                        .nins = 3,
                                        .ins = ins,
                                        .nouts = 1,
                                        .outs = &ins[0].aval,
                                        .nattrs = 3,
                                        .attrs = attrs,
                                        .nregions = 2,
                                        .regions = regions});
}

/* The operand is padded by hand: XLA's CPU code can't. */
void jx_lowering_rule_select_and_scatter(jx_hlo_eqn *e)
{
    const jx_p_select_window *p = e->eqn->typed;
    jx_code *c = e->code;
    jx_hlo *in = c->in;
    int rank = p->window_dimensions.count;
    bool greatest = selects_greatest(p->select_prim);
    jx_hv ins[3] = {{0}, e->ins[0]}, x = e->ins[1];
    const jx_dim **pads =
        JX_NEW_ARRAY(in->ctx->arena, 3 * rank + 1, const jx_dim *);
    const jx_dim **zeros =
        JX_NEW_ARRAY(in->ctx->arena, 2 * rank + 1, const jx_dim *);
    const jx_dim **from =
        JX_NEW_ARRAY(in->ctx->arena, rank + 1, const jx_dim *);
    const jx_dim **to = JX_NEW_ARRAY(in->ctx->arena, rank + 1, const jx_dim *);

    if (!pads || !zeros || !from || !to || !x.value || x.aval->rank != rank)
        return;
    jx_dtype dtype = x.aval->dtype;
    for (int i = 0; i < rank; i++) {
        pads[3 * i] = from[i] = p->padding.at[2 * i];
        pads[3 * i + 1] = p->padding.at[2 * i + 1];
        pads[3 * i + 2] = zeros[2 * i] = zeros[2 * i + 1] = jx_hlo_int(in, 0);
        to[i] = jx_dim_add(in->program->dims, from[i], x.aval->shape[i]);
    }
    ins[0] = jx_hlo_pad(
        c, x, greatest ? jx_hlo_least(c, dtype) : jx_hlo_greatest(c, dtype),
        pads);
    ins[2] = jx_hlo_scalar(c, dtype, 0);
    if (!ins[0].value)
        return;
    window w = {.rank = rank,
                .sizes = p->window_dimensions.at,
                .strides = p->window_strides,
                .padding = zeros};
    jx_mlir_region regions[2] = {
        chooser(c, greatest, dtype),
        jx_hlo_reducer(c, dtype == JX_BOOL ? "stablehlo.or" : "stablehlo.add",
                       dtype)};
    jx_hlo_fill(e, jx_hlo_slice(c, select_and_scatter(c, &w, ins, regions),
                                from, to, NULL));
}

void jx_lowering_rule_own_select_and_scatter(jx_hlo_eqn *e)
{
    const jx_p_select_and_scatter *p = e->eqn->typed;
    window w = {.rank = p->window_dimensions.count,
                .sizes = p->window_dimensions.at,
                .strides = p->window_strides,
                .padding = p->padding.at};
    jx_mlir_region regions[2] = {
        jx_hlo_computation(e->code, &p->select, 1, e->ins, JX_HLO_TWICE),
        jx_hlo_computation(e->code, &p->scatter, 1, e->ins, JX_HLO_TWICE)};

    if (e->ins[0].value)
        jx_hlo_fill(e, select_and_scatter(e->code, &w, e->ins, regions));
}

/* Pairs of key and value: the one whose key is chosen. */
void jx_lowering_rule_select_and_gather(jx_hlo_eqn *e)
{
    const jx_p_select_window *p = e->eqn->typed;
    jx_code *c = e->code;
    window w = {p->window_dimensions.count, p->window_dimensions.at,
                p->window_strides,          p->base_dilation,
                p->window_dilation,         p->padding.at};
    bool greatest = selects_greatest(p->select_prim);
    jx_dtype dtype = e->avals[0]->dtype;
    jx_dtype dtypes[4] = {dtype, dtype, dtype, dtype};
    const jx_aval *avals[2] = {e->avals[0], e->avals[0]};
    jx_hv operands[2] = {e->ins[1], e->ins[0]}, a[4], out[2];
    jx_hv init[2] = {greatest ? jx_hlo_least(c, dtype)
                              : jx_hlo_greatest(c, dtype),
                     jx_hlo_scalar(c, dtype, 0)};
    jx_code *inner = jx_hlo_begin_scalars(c, 4, dtypes, a);
    jx_hv which;

    if (!inner)
        return;
    which = jx_hlo_compare(inner, greatest ? "GE" : "LE", a[0], a[2]);
    out[0] = jx_hlo_select(inner, which, a[0], a[2]);
    out[1] = jx_hlo_select(inner, which, a[1], a[3]);
    reduce_window(c, &w, 2, operands, init, avals, jx_hlo_finish(inner, 2, out),
                  out);
    e->outs[0] = out[1];
}

/* ---- sorting */

/* Equal zeros and equal NaNs have one form. */
static jx_hv canonical(jx_code *c, jx_hv x)
{
    jx_hv zero = jx_hlo_like(c, x, 0);
    jx_hv y = jx_hlo_select(c, jx_hlo_compare(c, "EQ", x, zero), zero, x);

    return jx_hlo_select(c, jx_hlo_isnan(c, x),
                         jx_hlo_like(c, x, __builtin_nan("")), y);
}

/* x before y, or equal and the rest so. */
static jx_hv before(jx_code *c, jx_hv x, jx_hv y, jx_hv rest)
{
    bool real = jx_dtype_is_float(x.aval->dtype);
    jx_hv less, equal;

    if (real) {
        x = canonical(c, x);
        y = canonical(c, y);
    }
    less = real ? jx_hlo_compare_as(c, "LT", "TOTALORDER", x, y)
                : jx_hlo_compare(c, "LT", x, y);
    if (!rest.value)
        return less;
    equal = real ? jx_hlo_compare_as(c, "EQ", "TOTALORDER", x, y)
                 : jx_hlo_compare(c, "EQ", x, y);
    return jx_hlo_or(c, less, jx_hlo_and(c, equal, rest));
}

static jx_hv key_before(jx_code *c, jx_hv x, jx_hv y, jx_hv rest)
{
    jx_dtype half;

    if (!x.value || !jx_dtype_is_complex(x.aval->dtype))
        return x.value ? before(c, x, y, rest) : x;
    half = jx_dtype_real(x.aval->dtype);
    rest = before(c, jx_hlo_unary_to(c, "stablehlo.imag", x, half),
                  jx_hlo_unary_to(c, "stablehlo.imag", y, half), rest);
    return before(c, jx_hlo_unary_to(c, "stablehlo.real", x, half),
                  jx_hlo_unary_to(c, "stablehlo.real", y, half), rest);
}

static void sort(jx_hlo_eqn *e, int64_t dimension, bool is_stable,
                 jx_mlir_region comparator)
{
    jx_hlo *in = e->code->in;
    jx_mlir_named attrs[] = {{"dimension", jx_hlo_i64(in, dimension)},
                             {"is_stable", jx_hlo_bool(in, is_stable)}};

    jx_hlo_own(e, 2, attrs, &comparator);
}

void jx_lowering_rule_sort(jx_hlo_eqn *e)
{
    const jx_p_sort *p = e->eqn->typed;
    jx_code *c = e->code;
    jx_arena *arena = c->in->ctx->arena;
    int n = e->eqn->nins;
    jx_dtype *dtypes = JX_NEW_ARRAY(arena, 2 * n + 1, jx_dtype);
    jx_hv *args = JX_NEW_ARRAY(arena, 2 * n + 1, jx_hv), out = {0};
    jx_code *inner;

    if (!dtypes || !args || p->num_keys > n)
        return;
    for (int i = 0; i < 2 * n; i++) {
        if (!e->ins[i / 2].value)
            return;
        dtypes[i] = e->ins[i / 2].aval->dtype;
    }
    inner = jx_hlo_begin_scalars(c, 2 * n, dtypes, args);
    if (!inner)
        return;
    for (int k = (int)p->num_keys - 1; k >= 0; k--)
        out = key_before(inner, args[2 * k], args[2 * k + 1], out);
    sort(e, p->dimension, p->is_stable, jx_hlo_finish(inner, 1, &out));
}

void jx_lowering_rule_own_sort(jx_hlo_eqn *e)
{
    const jx_p_stablehlo_sort *p = e->eqn->typed;

    sort(e, p->dimension, p->is_stable,
         jx_hlo_computation(e->code, &p->comparator, e->eqn->nins, e->ins,
                            JX_HLO_PAIRS));
}

/* The avals with axes `axis` and the last one exchanged. */
static const jx_aval *exchanged(jx_hlo *in, const jx_aval *aval,
                                const int64_t *axes)
{
    const jx_dim **shape =
        JX_NEW_ARRAY(in->ctx->arena, aval->rank + 1, const jx_dim *);

    if (!shape)
        return NULL;
    for (int i = 0; i < aval->rank; i++)
        shape[i] = aval->shape[axes[i]];
    return jx_hlo_aval(in, aval->dtype, aval->rank, shape);
}

void jx_lowering_rule_top_k(jx_hlo_eqn *e)
{
    const jx_p_top_k *p = e->eqn->typed;
    jx_code *c = e->code;
    jx_hv x = e->ins[0], outs[2];
    int rank = x.value ? x.aval->rank : 0;
    int axis = p->axis < 0 ? (int)p->axis + rank : (int)p->axis;
    int64_t *axes = JX_NEW_ARRAY(c->in->ctx->arena, rank + 1, int64_t);
    const jx_value *given = jx_eqn_param(e->eqn, "axis");

    if (!axes || rank < 1)
        return;
    if (!given || given->tag == JX_V_NONE)
        axis = rank - 1;
    for (int i = 0; i < rank; i++)
        axes[i] = i;
    axes[axis] = rank - 1;
    axes[rank - 1] = axis;
    if (axis != rank - 1)
        x = jx_hlo_transpose(c, x, axes);
    const jx_aval *avals[2] = {exchanged(c->in, e->avals[0], axes),
                               exchanged(c->in, e->avals[1], axes)};
    bool loose = jx_eqn_param(e->eqn, "is_stable") && !p->is_stable;
    jx_mlir_named attrs[] = {
        {"is_stable", loose ? jx_hlo_bool(c->in, false) : NULL},
        {"k", jx_hlo_i64(c->in, jx_hlo_static(c, p->k, "k"))}};
    jx_hlo_emit(c,
                &(jx_hlo_op){.name = "chlo.top_k",
                             .nins = 1,
                             .ins = &x,
                             .nouts = 2,
                             .outs = avals,
                             .nattrs = 2,
                             .attrs = attrs},
                outs);
    for (int i = 0; i < 2; i++)
        e->outs[i] =
            axis != rank - 1 ? jx_hlo_transpose(c, outs[i], axes) : outs[i];
}

/* XLA's own target, whose fallback is exact; the comparator is a function. */
void jx_lowering_rule_approx_top_k(jx_hlo_eqn *e)
{
    const jx_p_approx_top_k *p = e->eqn->typed;
    jx_code *c = e->code;
    jx_hlo *in = c->in;
    jx_hv x = e->ins[0], ins[4];
    jx_dtype dtype;
    int rank, axis = (int)p->reduction_dimension;

    if (!x.value)
        return;
    dtype = x.aval->dtype;
    rank = x.aval->rank;
    axis = axis < 0 ? axis + rank : axis;
    ins[0] = x;
    ins[1] = jx_hlo_iota(c, jx_hlo_with_dtype(in, x.aval, JX_I32), axis);
    ins[2] = jx_hlo_scalar(c, dtype,
                           p->is_max_k ? -__builtin_inf() : __builtin_inf());
    ins[3] = jx_hlo_scalar_int(c, JX_I32, -1);
    const char *name = jx_arena_printf(in->ctx->arena, "top_k_%s_%s_comparator",
                                       p->is_max_k ? "gt" : "lt",
                                       jx_dtype_of(dtype)->short_name);
    const jx_mlir_attr *called = name ? jx_hlo_symbol(in, name) : NULL;
    if (!called || !jx_hlo_comparator(c, name, p->is_max_k, dtype))
        return;
    jx_mlir_named config[] = {
        {"reduction_dim", jx_hlo_i64(in, axis)},
        {"recall_target", jx_hlo_float(in, "f32", p->recall_target)},
        {"aggregate_to_topk", jx_hlo_bool(in, p->aggregate_to_topk)},
        {"reduction_input_size_override",
         jx_hlo_i64(in, p->reduction_input_size_override)},
        {"is_fallback", jx_hlo_bool(in, true)},
        {"top_k", jx_hlo_i64(in, jx_hlo_static(c, p->k, "k"))}};
    jx_mlir_named attrs[] = {
        {"call_target_name", jx_hlo_text(in, "ApproxTopK")},
        {"backend_config", jx_hlo_text(in, "")},
        {"called_computations", jx_hlo_list(in, 1, &called)}};
    jx_mlir_named more = {"mhlo.backend_config", jx_hlo_dict(in, 6, config)};
    jx_hlo_emit(c,
                &(jx_hlo_op){.name = "stablehlo.custom_call",
                             .nins = 4,
                             .ins = ins,
                             .nouts = 2,
                             .outs = e->avals,
                             .nattrs = 3,
                             .attrs = attrs,
                             .nmore = 1,
                             .more = &more},
                e->outs);
}
