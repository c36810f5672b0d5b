/* stablehlo_attrs.c - attributes of ops, and parameters of equations. */
#include "frontend/read/stablehlo_parts.h"

/* ---- attributes */

const jx_mlir_attr *jx_shlo_attr(jx_shlo_body *b, const char *name)
{
    const jx_mlir_attr *found = jx_mlir_get(b->op, name);

    if (!found)
        jx_shlo_fail(b, "expected the attribute '%s'", name);
    return found;
}

static bool wants(jx_shlo_body *b, const char *name, const char *what)
{
    return jx_shlo_fail(b, "attribute '%s': expected %s", name, what);
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

bool jx_shlo_attr_int(jx_shlo_body *b, const char *name, int64_t *value)
{
    const jx_mlir_attr *a = jx_shlo_attr(b, name);

    return a && (int_of(a, value) || wants(b, name, "an integer"));
}

int64_t jx_shlo_attr_int_or(jx_shlo_body *b, const char *name,
                            int64_t otherwise)
{
    int64_t value = otherwise;

    if (jx_mlir_get(b->op, name))
        jx_shlo_attr_int(b, name, &value);
    return value;
}

bool jx_shlo_attr_bool_or(jx_shlo_body *b, const char *name, bool otherwise)
{
    return jx_shlo_attr_int_or(b, name, otherwise) != 0;
}

bool jx_shlo_attr_real(jx_shlo_body *b, const char *name, double *value)
{
    const jx_mlir_attr *a = jx_shlo_attr(b, name);

    if (!a || a->kind != JX_A_FLOAT)
        return a && wants(b, name, "a float");
    *value = a->real;
    return true;
}

const char *jx_shlo_attr_enum(jx_shlo_body *b, const char *name,
                              const char *otherwise)
{
    const jx_mlir_attr *a = jx_mlir_get(b->op, name);

    if (!a && otherwise)
        return otherwise;
    a = jx_shlo_attr(b, name);
    if (a && a->kind == JX_A_ENUM && a->text)
        return a->text;
    const char *text = a ? jx_mlir_text(b->s->ctx, a) : NULL;
    if (a && !text)
        wants(b, name, "a word");
    return text;
}

const char *jx_shlo_attr_text(jx_shlo_body *b, const char *name)
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

    if (!a->type || !jx_shlo_dtype(a->type, &dtype))
        return false;
    size_t bytes = jx_dtype_of(dtype)->bytes;
    if (bytes > 8 || jx_dtype_is_inexact(dtype) ||
        a->size < bytes * (a->splat ? count > 0 : (size_t)count))
        return false;
    for (int64_t i = 0; i < count; i++)
        to[i] = element_at(a, bytes, i);
    return true;
}

static bool ints_of(jx_shlo_body *b, const jx_mlir_attr *a, jx_ints *to)
{
    int64_t count = list_size(a);
    int64_t *at = count < 0 ? NULL
                            : JX_NEW_ARRAY(b->s->ctx->arena, count, int64_t);

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

bool jx_shlo_constant_int(const jx_mlir_value *value, int64_t *to)
{
    const jx_mlir_attr *a =
        value->op && value->op->id == JX_OP_stablehlo_constant
            ? jx_mlir_get(value->op, "value")
            : NULL;

    return a && a->kind == JX_A_DENSE && list_size(a) == 1 &&
           dense_ints(a, 1, to);
}

bool jx_shlo_attr_ints(jx_shlo_body *b, const char *name, jx_ints *to)
{
    const jx_mlir_attr *a = jx_shlo_attr(b, name);

    *to = (jx_ints){0, NULL};
    return a && (ints_of(b, a, to) || wants(b, name, "a list of integers"));
}

bool jx_shlo_attr_ints_or(jx_shlo_body *b, const char *name, int count,
                          int64_t otherwise, jx_ints *to)
{
    int64_t *at;

    if (jx_mlir_get(b->op, name))
        return jx_shlo_attr_ints(b, name, to) &&
               (to->count == count ||
                jx_shlo_fail(b, "attribute '%s': expected %d integers, found "
                             "%d", name, count, to->count));
    at = JX_NEW_ARRAY(b->s->ctx->arena, count, int64_t);
    for (int i = 0; at && i < count; i++)
        at[i] = otherwise;
    *to = (jx_ints){at ? count : 0, at};
    return at != NULL;
}

bool jx_shlo_field_int(jx_shlo_body *b, const jx_mlir_attr *record,
                       const char *name, int64_t *value)
{
    const jx_mlir_attr *a = jx_mlir_field(record, name);

    *value = 0;
    return !a || int_of(a, value) || wants(b, name, "an integer");
}

bool jx_shlo_field_ints(jx_shlo_body *b, const jx_mlir_attr *record,
                        const char *name, jx_ints *to)
{
    const jx_mlir_attr *a = jx_mlir_field(record, name);

    *to = (jx_ints){0, NULL};
    return !a || ints_of(b, a, to) || wants(b, name, "a list of integers");
}

bool jx_shlo_axes_ok(jx_shlo_body *b, const char *name, jx_ints axes, int rank)
{
    uint64_t seen = 0;

    for (int i = 0; i < axes.count; i++) {
        if (axes.at[i] < 0 || axes.at[i] >= rank ||
            axes.at[i] >= JX_SHLO_RANK ||
            (seen & (uint64_t)1 << axes.at[i]))
            return jx_shlo_fail(b, "attribute '%s': expected distinct axes "
                                "below %d", name, rank);
        seen |= (uint64_t)1 << axes.at[i];
    }
    return true;
}

/* ---- parameters */

static const jx_value *add(jx_shlo *s, const jx_value *like)
{
    return jx_value_add(&s->program->values, like);
}

jx_shlo_params jx_shlo_no_params(jx_shlo_body *b)
{
    return (jx_shlo_params){.s = b->s};
}

void jx_shlo_put(jx_shlo_params *p, const char *name, const jx_value *value)
{
    if (p->count < JX_SHLO_PARAMS)
        p->at[p->count++] =
            (jx_param){jx_intern_text(p->s->ctx, name), value};
}

void jx_shlo_put_int(jx_shlo_params *p, const char *name, int64_t value)
{
    jx_shlo_put(p, name,
                add(p->s, &(jx_value){.tag = JX_V_INT, .integer = value}));
}

void jx_shlo_put_bool(jx_shlo_params *p, const char *name, bool value)
{
    jx_shlo_put(p, name,
                add(p->s, &(jx_value){.tag = JX_V_BOOL, .boolean = value}));
}

void jx_shlo_put_none(jx_shlo_params *p, const char *name)
{
    jx_shlo_put(p, name, add(p->s, &(jx_value){.tag = JX_V_NONE}));
}

static void put_word(jx_shlo_params *p, const char *name, jx_value_tag tag,
                     const char *text)
{
    jx_shlo_put(p, name,
                add(p->s, &(jx_value){.tag = tag, .text = jx_intern_text(
                                                      p->s->ctx, text)}));
}

void jx_shlo_put_text(jx_shlo_params *p, const char *name, const char *text)
{
    put_word(p, name, JX_V_TEXT, text);
}

void jx_shlo_put_enum(jx_shlo_params *p, const char *name, const char *text)
{
    put_word(p, name, JX_V_ENUM, text);
}

void jx_shlo_put_prim(jx_shlo_params *p, const char *name, const char *text)
{
    put_word(p, name, JX_V_PRIM, text);
}

void jx_shlo_put_dtype(jx_shlo_params *p, const char *name, jx_dtype dtype)
{
    const char *text = jx_intern_text(p->s->ctx, jx_dtype_of(dtype)->name);

    jx_shlo_put(p, name,
                add(p->s, &(jx_value){.tag = JX_V_DTYPE, .dtype = dtype,
                                      .text = text}));
}

const jx_value *jx_shlo_value_tuple(jx_shlo *s, int count,
                                    const jx_value *const *items)
{
    for (int i = 0; i < count; i++)
        if (!items[i])
            return NULL;
    return add(s, &(jx_value){.tag = JX_V_TUPLE, .count = count,
                              .items = items});
}

const jx_value *jx_shlo_value_ints(jx_shlo *s, jx_ints ints)
{
    const jx_value **items = JX_NEW_ARRAY(s->ctx->arena, ints.count,
                                          const jx_value *);

    for (int i = 0; items && i < ints.count; i++)
        items[i] = add(s, &(jx_value){.tag = JX_V_INT,
                                      .integer = ints.at[i]});
    return items ? jx_shlo_value_tuple(s, ints.count, items) : NULL;
}

static const jx_value *dim_value(jx_shlo *s, const jx_dim *dim)
{
    int64_t number;

    if (!dim)
        return NULL;
    if (jx_dim_is_int(dim, &number))
        return add(s, &(jx_value){.tag = JX_V_INT, .integer = number});
    return add(s, &(jx_value){.tag = JX_V_DIM, .dim = dim});
}

const jx_value *jx_shlo_value_dims(jx_shlo *s, int count,
                                   const jx_dim *const *dims)
{
    const jx_value **items = JX_NEW_ARRAY(s->ctx->arena, count,
                                          const jx_value *);

    for (int i = 0; items && i < count; i++)
        items[i] = dim_value(s, dims[i]);
    return items ? jx_shlo_value_tuple(s, count, items) : NULL;
}

void jx_shlo_put_ints(jx_shlo_params *p, const char *name, jx_ints ints)
{
    jx_shlo_put(p, name, jx_shlo_value_ints(p->s, ints));
}

void jx_shlo_put_dims(jx_shlo_params *p, const char *name, int count,
                      const jx_dim *const *dims)
{
    jx_shlo_put(p, name, jx_shlo_value_dims(p->s, count, dims));
}

void jx_shlo_put_dim(jx_shlo_params *p, const char *name, const jx_dim *dim)
{
    jx_shlo_put(p, name, dim_value(p->s, dim));
}

void jx_shlo_put_tuples(jx_shlo_params *p, const char *name, int count,
                        int width, const jx_dim *const *dims)
{
    const jx_value **items = JX_NEW_ARRAY(p->s->ctx->arena, count,
                                          const jx_value *);

    for (int i = 0; items && i < count; i++)
        items[i] = jx_shlo_value_dims(p->s, width, dims + i * width);
    jx_shlo_put(p, name,
                items ? jx_shlo_value_tuple(p->s, count, items) : NULL);
}

const jx_value *jx_shlo_value_record(jx_shlo *s, const char *type, int count,
                                     const char *const *keys,
                                     const jx_value *const *items)
{
    const char **names = JX_NEW_ARRAY(s->ctx->arena, count, const char *);

    for (int i = 0; names && i < count; i++) {
        names[i] = jx_intern_text(s->ctx, keys[i]);
        if (!items[i])
            return NULL;
    }
    return names ? add(s, &(jx_value){.tag = JX_V_RECORD,
                                      .text = jx_intern_text(s->ctx, type),
                                      .count = count, .keys = names,
                                      .items = items})
                 : NULL;
}

const jx_value *jx_shlo_value_jaxpr(jx_shlo *s, const jx_jaxpr *jaxpr)
{
    return jaxpr ? add(s, &(jx_value){.tag = JX_V_JAXPR, .jaxpr = jaxpr})
                 : NULL;
}

void jx_shlo_put_jaxpr(jx_shlo_params *p, const char *name,
                       const jx_jaxpr *jaxpr)
{
    jx_shlo_put(p, name, jx_shlo_value_jaxpr(p->s, jaxpr));
}
