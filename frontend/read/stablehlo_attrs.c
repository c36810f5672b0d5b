/* stablehlo_attrs.c - attributes of ops, and parameters of equations. */
#include "frontend/read/stablehlo_parts.h"

/* ---- attributes */

const jx_mlir_attr *jx_hlo_attr(jx_hlo_body *b, const char *name)
{
    const jx_mlir_attr *found = jx_mlir_get(b->op, name);

    if (!found)
        jx_hlo_refuse(b, "expected the attribute '%s'", name);
    return found;
}

static bool wants(jx_hlo_body *b, const char *name, const char *what)
{
    return jx_hlo_refuse(b, "attribute '%s': expected %s", name, what);
}

/* An integer or bool attribute, or a dense one of one element. */
static bool int_of(const jx_mlir_attr *a, int64_t *value)
{
    if (a->kind == JX_A_BOOL) {
        *value = a->boolean;
        return true;
    }
    if (a->kind != JX_A_INTEGER || a->bytes)
        return false;
    *value = a->integer;
    return true;
}

bool jx_hlo_attr_int(jx_hlo_body *b, const char *name, int64_t *value)
{
    const jx_mlir_attr *a = jx_hlo_attr(b, name);

    return a && (int_of(a, value) || wants(b, name, "an integer"));
}

int64_t jx_hlo_attr_int_or(jx_hlo_body *b, const char *name, int64_t otherwise)
{
    int64_t value = otherwise;

    if (jx_mlir_get(b->op, name))
        jx_hlo_attr_int(b, name, &value);
    return value;
}

bool jx_hlo_attr_bool_or(jx_hlo_body *b, const char *name, bool otherwise)
{
    return jx_hlo_attr_int_or(b, name, otherwise) != 0;
}

bool jx_hlo_attr_real(jx_hlo_body *b, const char *name, double *value)
{
    const jx_mlir_attr *a = jx_hlo_attr(b, name);

    if (!a || a->kind != JX_A_FLOAT)
        return a && wants(b, name, "a float");
    *value = a->real;
    return true;
}

const char *jx_hlo_attr_enum(jx_hlo_body *b, const char *name,
                             const char *otherwise)
{
    const jx_mlir_attr *a = jx_mlir_get(b->op, name);

    if (!a && otherwise)
        return otherwise;
    a = jx_hlo_attr(b, name);
    if (a && a->kind == JX_A_ENUM && a->text)
        return a->text;
    const char *text = a ? jx_mlir_text(b->s->ctx, a) : NULL;
    if (a && !text)
        wants(b, name, "a word");
    return text;
}

const char *jx_hlo_attr_text(jx_hlo_body *b, const char *name)
{
    const jx_mlir_attr *a = jx_mlir_get(b->op, name);

    if (a && a->kind == JX_A_SYMBOL)
        return a->text;
    return a ? jx_mlir_text(b->s->ctx, a) : NULL;
}

/* How many integers there are in a list attribute; -1: it is none. */
static int64_t list_size(const jx_mlir_attr *a)
{
    int64_t count = 1;

    if (a->kind == JX_A_DENSE_ARRAY || a->kind == JX_A_ARRAY)
        return a->count;
    if (a->kind != JX_A_DENSE || !a->type || a->type->kind != JX_T_TENSOR)
        return -1;
    for (int i = 0; i < a->type->rank; i++)
        if (a->type->shape[i] < 0 ||
            __builtin_mul_overflow(count, a->type->shape[i], &count))
            return -1;
    return count < 1 << 20 ? count : -1;
}

static int64_t element_at(const jx_mlir_attr *a, size_t bytes, int64_t index)
{
    const unsigned char *at = a->bytes;
    uint64_t value = 0;

    if (!a->splat)
        at += (size_t)index * bytes;
    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << 8 * i;
    if (bytes > 1 && bytes < 8 && (at[bytes - 1] & 0x80))
        value -= (uint64_t)1 << 8 * bytes;
    return (int64_t)value;
}

/* Elements of a dense attribute, or of an array of bools. */
static bool dense_ints(const jx_mlir_attr *a, int64_t count, int64_t *to)
{
    jx_dtype dtype;

    if (!a->type || !jx_hlo_dtype(a->type, &dtype))
        return false;
    size_t bytes = jx_dtype_of(dtype)->bytes;
    if (bytes > 8 || jx_dtype_is_inexact(dtype) ||
        a->size < bytes * (a->splat ? count > 0 : (size_t)count))
        return false;
    for (int64_t i = 0; i < count; i++)
        to[i] = element_at(a, bytes, i);
    return true;
}

static bool ints_of(jx_hlo_body *b, const jx_mlir_attr *a, jx_ints *to)
{
    int64_t count = list_size(a);
    int64_t *at =
        count < 0 ? NULL : JX_NEW_ARRAY(b->s->ctx->arena, count, int64_t);

    *to = (jx_ints){at ? (int)count : 0, at};
    if (!at)
        return false;
    if (a->kind == JX_A_DENSE_ARRAY && a->integers) {
        if (count)
            memcpy(at, a->integers, (size_t)count * sizeof *at);
        return true;
    }
    if (a->kind != JX_A_ARRAY)
        return dense_ints(a, count, at);
    for (int64_t i = 0; i < count; i++)
        if (!int_of(a->items[i], &at[i]))
            return false;
    return true;
}

bool jx_hlo_constant_int(const jx_mlir_value *value, int64_t *to)
{
    const jx_mlir_attr *a =
        value->op && value->op->id == JX_OP_stablehlo_constant
            ? jx_mlir_get(value->op, "value")
            : NULL;

    return a && a->kind == JX_A_DENSE && list_size(a) == 1 &&
           dense_ints(a, 1, to);
}

bool jx_hlo_attr_ints(jx_hlo_body *b, const char *name, jx_ints *to)
{
    const jx_mlir_attr *a = jx_hlo_attr(b, name);

    *to = (jx_ints){0, NULL};
    return a && (ints_of(b, a, to) || wants(b, name, "a list of integers"));
}

bool jx_hlo_attr_ints_or(jx_hlo_body *b, const char *name, int count,
                         int64_t otherwise, jx_ints *to)
{
    int64_t *at;

    if (jx_mlir_get(b->op, name))
        return jx_hlo_attr_ints(b, name, to) &&
               (to->count == count ||
                jx_hlo_refuse(b,
                              "attribute '%s': expected %d integers, found %d",
                              name, count, to->count));
    at = JX_NEW_ARRAY(b->s->ctx->arena, count, int64_t);
    for (int i = 0; at && i < count; i++)
        at[i] = otherwise;
    *to = (jx_ints){at ? count : 0, at};
    return at != NULL;
}

bool jx_hlo_field_int(jx_hlo_body *b, const jx_mlir_attr *record,
                      const char *name, int64_t *value)
{
    const jx_mlir_attr *a = jx_mlir_field(record, name);

    *value = 0;
    return !a || int_of(a, value) || wants(b, name, "an integer");
}

bool jx_hlo_field_ints(jx_hlo_body *b, const jx_mlir_attr *record,
                       const char *name, jx_ints *to)
{
    const jx_mlir_attr *a = jx_mlir_field(record, name);

    *to = (jx_ints){0, NULL};
    return !a || ints_of(b, a, to) || wants(b, name, "a list of integers");
}

bool jx_hlo_axes_ok(jx_hlo_body *b, const char *name, jx_ints axes, int rank)
{
    uint64_t seen = 0;

    for (int i = 0; i < axes.count; i++) {
        if (axes.at[i] < 0 || axes.at[i] >= rank || axes.at[i] >= JX_HLO_RANK ||
            (seen & (uint64_t)1 << axes.at[i]))
            return jx_hlo_refuse(b,
                                 "attribute '%s': expected distinct axes "
                                 "below %d",
                                 name, rank);
        seen |= (uint64_t)1 << axes.at[i];
    }
    return true;
}
