/* type_rules_elementwise.c - one element in, one element out.
 *
 * Operands of several-operand primitives broadcast as JAX lets them at this
 * level: scalars go with anything, and a size of 1 with any size.  A symbolic
 * size is never taken for 1. */
#include "analyzer/type_rules.h"

/* The size along one axis over all operands of that rank. */
static const jx_dim *broadcast_axis(jx_typing *t, int rank, int axis)
{
    const jx_dim *size = NULL;
    int from = -1;

    for (int i = 0; i < t->nins; i++) {
        const jx_aval *in = t->ins[i];
        if (in->rank != rank || jx_is_number(in->shape[axis], 1))
            continue;
        if (size)
            jx_require_eq(t, size, in->shape[axis],
                          "operands %d and %d, axis %d", from, i, axis);
        else {
            size = in->shape[axis];
            from = i;
        }
    }
    return size ? size : jx_const(t, 1);
}

/* The common shape of all operands; NULL if there is none. */
static const jx_dim **broadcast(jx_typing *t, int *rank)
{
    *rank = 0;
    for (int i = 0; i < t->nins; i++) {
        int is = t->ins[i]->rank;
        if (is > 0 && *rank > 0 && is != *rank) {
            jx_type_wrong(t, "operands have ranks %d and %d", *rank, is);
            return NULL;
        }
        *rank = is > 0 ? is : *rank;
    }
    const jx_dim **shape = jx_shape(t, *rank);
    for (int k = 0; shape && k < *rank; k++)
        shape[k] = broadcast_axis(t, *rank, k);
    return shape;
}

static void broadcast_out(jx_typing *t, jx_dtype dtype)
{
    int rank;
    const jx_dim **shape = broadcast(t, &rank);

    if (shape)
        jx_type_out(t, 0, dtype, jx_all_weak(t), rank, shape);
}

static void out_as(jx_typing *t, jx_dtype dtype, bool weak)
{
    jx_type_out(t, 0, dtype, weak, t->ins[0]->rank, t->ins[0]->shape);
}

static bool check_unary_params(jx_typing *t)
{
    jx_dtype dtype = t->ins[0]->dtype;

    if (t->eqn->prim->id == JX_PRIM_integer_pow) {
        const jx_p_integer_pow *p = t->params;
        if (p->y < 0 && !jx_dtype_is_inexact(dtype))
            return jx_type_wrong(t, "an integer to the power %lld",
                                 (long long)p->y);
    }
    if (t->eqn->prim->id == JX_PRIM_reduce_precision) {
        const jx_p_reduce_precision *p = t->params;
        if (p->exponent_bits < 1 || p->mantissa_bits < 0)
            return jx_type_wrong(t,
                                 "no float has %lld exponent and %lld "
                                 "mantissa bits",
                                 (long long)p->exponent_bits,
                                 (long long)p->mantissa_bits);
    }
    return true;
}

void jx_type_unary(jx_typing *t)
{
    if (check_unary_params(t))
        out_as(t, t->ins[0]->dtype, t->ins[0]->weak);
}

void jx_type_abs(jx_typing *t)
{
    const jx_dtype_info *info = jx_dtype_of(t->ins[0]->dtype);

    if (!jx_type_takes(t, 0, JX_TAKES_INT | JX_TAKES_INEXACT))
        return;
    if (info->kind == JX_KIND_INT && info->bits < 8)
        jx_type_wrong(t, "operand 0 is %s, which abs does not take",
                      info->short_name);
    else
        out_as(t, jx_dtype_real(t->ins[0]->dtype), t->ins[0]->weak);
}

void jx_type_is_finite(jx_typing *t)
{
    out_as(t, JX_BOOL, t->ins[0]->weak);
}

void jx_type_complex_part(jx_typing *t)
{
    out_as(t, jx_dtype_real(t->ins[0]->dtype), t->ins[0]->weak);
}

void jx_type_conj(jx_typing *t)
{
    jx_dtype dtype = t->ins[0]->dtype;

    if (jx_dtype_is_complex(dtype))
        out_as(t, dtype, t->ins[0]->weak);
    else if (jx_dtype_complex(dtype) != JX_DT_NONE)
        out_as(t, jx_dtype_complex(dtype), t->ins[0]->weak);
    else
        jx_type_takes(t, 0, 0);
}

void jx_type_make_complex(jx_typing *t)
{
    jx_dtype dtype = jx_dtype_complex(t->ins[0]->dtype);

    if (!jx_type_same_dtypes(t, 0, 2))
        return;
    if (dtype == JX_DT_NONE)
        jx_type_takes(t, 0, 0);
    else
        broadcast_out(t, dtype);
}

void jx_type_convert(jx_typing *t)
{
    const jx_p_convert *p = t->params;
    jx_dtype from = t->ins[0]->dtype;

    if (from == JX_KEY || p->new_dtype == JX_KEY)
        jx_type_wrong(t, "%s does not convert to %s",
                      jx_dtype_of(from)->short_name,
                      jx_dtype_of(p->new_dtype)->short_name);
    else
        out_as(t, p->new_dtype, p->weak_type);
}

static bool is_plain_bits(jx_dtype dtype)
{
    return jx_dtype_is_integer(dtype) || jx_dtype_is_float(dtype);
}

/* Wider elements take up a last axis, narrower ones make one. */
void jx_type_bitcast(jx_typing *t)
{
    const jx_p_bitcast *p = t->params;
    const jx_aval *in = t->ins[0];
    int from = jx_dtype_of(in->dtype)->bits,
        to = jx_dtype_of(p->new_dtype)->bits;
    const jx_dim **shape = jx_shape(t, in->rank + 1);

    if (!shape)
        return;
    if (in->dtype != p->new_dtype &&
        (!is_plain_bits(in->dtype) || !is_plain_bits(p->new_dtype))) {
        jx_type_wrong(t, "%s is no bits of %s",
                      jx_dtype_of(in->dtype)->short_name,
                      jx_dtype_of(p->new_dtype)->short_name);
        return;
    }
    for (int i = 0; i < in->rank; i++)
        shape[i] = in->shape[i];
    if (from > to)
        shape[in->rank] = jx_const(t, from / to);
    else if (from < to && (in->rank == 0 || to % from != 0))
        jx_type_wrong(t, "one element has %d bits, not %d", from, to);
    else if (from < to)
        jx_require_eq(t, in->shape[in->rank - 1], jx_const(t, to / from),
                      "operand 0, last axis: the parts of one element");
    jx_type_out(t, 0, p->new_dtype, false, in->rank + (from > to) - (from < to),
                shape);
}

void jx_type_binary(jx_typing *t)
{
    if (jx_type_same_dtypes(t, 0, t->nins))
        broadcast_out(t, t->ins[0]->dtype);
}

void jx_type_polynomial(jx_typing *t)
{
    const jx_p_polynomial *p = t->params;

    if (t->nins < 2)
        jx_type_wrong(t, "has no coefficients");
    else if (p->unroll < 0)
        jx_type_wrong(t, "no loop has %lld steps at once",
                      (long long)p->unroll);
    else
        jx_type_binary(t);
}

void jx_type_ternary(jx_typing *t)
{
    jx_type_binary(t);
}

void jx_type_mul(jx_typing *t)
{
    const jx_p_mul *p = t->params;

    if (p->out_dtype != JX_DT_NONE)
        broadcast_out(t, t->program->x64 ? p->out_dtype
                                         : jx_dtype_narrowed(p->out_dtype));
    else
        jx_type_binary(t);
}

void jx_type_compare(jx_typing *t)
{
    if (jx_type_same_dtypes(t, 0, t->nins))
        broadcast_out(t, JX_BOOL);
}

void jx_type_pow(jx_typing *t)
{
    if (!jx_type_takes(t, 0, JX_TAKES_INEXACT) ||
        !jx_type_takes(t, 1, JX_TAKES_NUMBER))
        return;
    if (jx_dtype_is_integer(t->ins[1]->dtype) || jx_type_same_dtypes(t, 0, 2))
        broadcast_out(t, t->ins[0]->dtype);
}

void jx_type_clamp(jx_typing *t)
{
    const jx_aval *in = t->ins[1];

    if (!jx_type_same_dtypes(t, 0, 3))
        return;
    for (int i = 0; i <= 2; i += 2) {
        const jx_aval *bound = t->ins[i];
        if (bound->rank != 0 && bound->rank != in->rank) {
            jx_type_wrong(t, "operand %d has rank %d, operand 1 has %d", i,
                          bound->rank, in->rank);
            return;
        }
        for (int k = 0; k < bound->rank; k++)
            jx_require_eq(t, bound->shape[k], in->shape[k],
                          "operands %d and 1, axis %d", i, k);
    }
    jx_type_out(t, 0, in->dtype, jx_all_weak(t), in->rank, in->shape);
}

void jx_type_select_n(jx_typing *t)
{
    if (t->nins < 2) {
        jx_type_wrong(t, "has no cases");
        return;
    }
    const jx_aval *which = t->ins[0], *in = t->ins[1];
    bool weak = true;
    if (!jx_type_takes(t, 0, JX_TAKES_BOOL | JX_TAKES_INTEGER) ||
        !jx_type_same_dtypes(t, 1, t->nins) ||
        !jx_type_same_shapes(t, 1, t->nins))
        return;
    if (which->dtype == JX_BOOL && t->nins > 3)
        jx_type_wrong(t, "a bool selects among %d cases", t->nins - 1);
    if (which->rank != 0 && which->rank != in->rank) {
        jx_type_wrong(t, "operand 0 has rank %d, the cases have %d",
                      which->rank, in->rank);
        return;
    }
    for (int k = 0; k < which->rank; k++)
        jx_require_eq(t, which->shape[k], in->shape[k],
                      "operands 0 and 1, axis %d", k);
    for (int i = 1; i < t->nins; i++)
        weak = weak && t->ins[i]->weak;
    jx_type_out_like(t, 0, in, weak, in->rank, in->shape);
}

/* The same value again, with all its marks. */
void jx_type_same(jx_typing *t)
{
    jx_type_is(t, 0, t->ins[0]);
}

void jx_type_same_all(jx_typing *t)
{
    if (!jx_type_counts(t, -1, t->nins))
        return;
    for (int i = 0; i < t->nins; i++)
        jx_type_is(t, i, t->ins[i]);
}

void jx_type_add_any(jx_typing *t)
{
    jx_type_agree(t, t->ins[0], t->ins[1], "operands 0 and 1");
    jx_type_is(t, 0, t->ins[0]);
}

/* Two words of key and two of counters, broadcast as elementwise. */
void jx_type_threefry2x32(jx_typing *t)
{
    int rank;

    for (int i = 0; i < 4; i++)
        if (t->ins[i]->dtype != JX_U32) {
            jx_type_takes(t, i, 0);
            return;
        }
    const jx_dim **shape = broadcast(t, &rank);
    for (int i = 0; shape && i < 2; i++)
        jx_type_out(t, i, JX_U32, false, rank, shape);
}
