/* stablehlo_build.c - types, attributes and ops for the lowering
 * (stablehlo_build.h). */
#include "frontend/write/stablehlo_build.h"

#include "frontend/base/plain.h"
#include "frontend/ir/element.h"
#include "frontend/ir/prng.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- types and avals */

const jx_aval *jx_hlo_aval(jx_hlo *in, jx_dtype dtype, int rank,
                           const jx_dim *const *shape)
{
    return jx_aval_array(&in->program->avals, dtype, false, rank, shape);
}

const jx_aval *jx_hlo_scalar_aval(jx_hlo *in, jx_dtype dtype)
{
    return jx_hlo_aval(in, dtype, 0, NULL);
}

const jx_aval *jx_hlo_with_dtype(jx_hlo *in, const jx_aval *aval,
                                 jx_dtype dtype)
{
    return aval ? jx_hlo_aval(in, dtype, aval->rank, aval->shape) : NULL;
}

const jx_aval *jx_hlo_leading(jx_code *c, const jx_aval *aval, int fewer,
                              jx_dtype dtype, int n, const jx_dim *const *more)
{
    const jx_dim **shape =
        JX_NEW_ARRAY(c->in->ctx->arena, aval->rank + n + 1, const jx_dim *);
    int rank = 0;

    if (!shape || aval->rank < fewer)
        return NULL;
    for (int i = 0; i < aval->rank - fewer; i++)
        shape[rank++] = aval->shape[i];
    for (int i = 0; i < n; i++)
        shape[rank++] = more[i];
    return jx_hlo_aval(c->in, dtype, rank, shape);
}

const jx_dim *jx_hlo_int(jx_hlo *in, int64_t size)
{
    return jx_dim_int(in->program->dims, size);
}

const jx_aval *jx_hlo_physical(jx_hlo *in, const jx_aval *aval)
{
    const jx_dim **shape;

    if (aval->kind != JX_AVAL_ARRAY)
        return aval;
    if (aval->dtype != JX_KEY)
        return jx_hlo_aval(in, aval->dtype == JX_FLOAT0 ? JX_BOOL : aval->dtype,
                           aval->rank, aval->shape);
    int words = jx_prng_words(jx_prng_named(aval->impl ? aval->impl : "fry"));
    shape = JX_NEW_ARRAY(in->ctx->arena, aval->rank + 1, const jx_dim *);
    if (!words)
        jx_fail(in->ctx, JX_E_INPUT, in->program->path, NULL,
                "keys of %s have no StableHLO form", aval->impl);
    if (!shape || !words)
        return NULL;
    for (int i = 0; i < aval->rank; i++)
        shape[i] = aval->shape[i];
    shape[aval->rank] = jx_hlo_int(in, words);
    return jx_hlo_aval(in, JX_U32, aval->rank + 1, shape);
}

const jx_mlir_type *jx_hlo_type(jx_hlo *in, const jx_aval *aval)
{
    const jx_mlir_type *element;
    int64_t *shape;

    if (!aval)
        return NULL;
    if (aval->kind == JX_AVAL_TOKEN)
        return jx_mlir_type_add(
            in->types, &(jx_mlir_type){.kind = JX_T_TOKEN, .rank = -1});
    element = jx_mlir_element(in->types, aval->dtype);
    shape = JX_NEW_ARRAY(in->ctx->arena, aval->rank + 1, int64_t);
    if (!element || !shape)
        return NULL;
    for (int i = 0; i < aval->rank; i++)
        if (!jx_dim_is_int(aval->shape[i], &shape[i]))
            shape[i] = JX_MLIR_DYNAMIC;
    return jx_mlir_tensor(in->types, aval->rank, shape, element);
}

int64_t jx_hlo_static(jx_code *c, const jx_dim *dim, const char *what)
{
    int64_t value = 0;

    if (dim && !jx_dim_is_int(dim, &value))
        jx_hlo_fail(c, "StableHLO has %s only as numbers", what);
    return value;
}

/* ---- attributes */

static jx_mlir_attr *attribute(jx_hlo *in, jx_mlir_attr_kind kind)
{
    jx_mlir_attr *a = JX_NEW(in->ctx->arena, jx_mlir_attr);

    if (a)
        a->kind = kind;
    return a;
}

const jx_mlir_attr *jx_hlo_integer(jx_hlo *in, jx_mlir_sign sign,
                                   unsigned width, int64_t value)
{
    jx_mlir_attr *a = attribute(in, JX_A_INTEGER);

    if (!a)
        return NULL;
    a->type = jx_mlir_integer(in->types, sign, width);
    a->integer = value;
    return a;
}

const jx_mlir_attr *jx_hlo_i64(jx_hlo *in, int64_t value)
{
    return jx_hlo_integer(in, JX_SIGNLESS, 64, value);
}

const jx_mlir_attr *jx_hlo_unit(jx_hlo *in)
{
    return attribute(in, JX_A_UNIT);
}

const jx_mlir_attr *jx_hlo_bool(jx_hlo *in, bool value)
{
    jx_mlir_attr *a = attribute(in, JX_A_BOOL);

    if (a)
        a->boolean = value;
    return a;
}

const jx_mlir_attr *jx_hlo_float(jx_hlo *in, const char *type, double value)
{
    jx_mlir_attr *a = attribute(in, JX_A_FLOAT);
    float narrow = (float)value;
    bool is_narrow = !strcmp(type, "f32");

    if (!a)
        return NULL;
    a->type = jx_mlir_float(in->types, type);
    a->real = is_narrow ? (double)narrow : value;
    a->size = is_narrow ? sizeof narrow : sizeof value;
    a->bytes = jx_arena_copy(
        in->ctx->arena, is_narrow ? (void *)&narrow : (void *)&value, a->size);
    return a;
}

const jx_mlir_attr *jx_hlo_text(jx_hlo *in, const char *text)
{
    jx_mlir_attr *a = attribute(in, JX_A_STRING);

    if (!a || !text)
        return NULL;
    a->bytes = jx_intern_text(in->ctx, text);
    a->size = strlen(text);
    return a;
}

const jx_mlir_attr *jx_hlo_symbol(jx_hlo *in, const char *name)
{
    jx_mlir_attr *a = attribute(in, JX_A_SYMBOL);

    if (!a || !name)
        return NULL;
    a->text = jx_intern_text(in->ctx, name);
    return a;
}

const jx_mlir_attr *jx_hlo_type_attr(jx_hlo *in, const jx_mlir_type *type)
{
    jx_mlir_attr *a = attribute(in, JX_A_TYPE);

    if (a)
        a->type = type;
    return a;
}

const jx_mlir_attr *jx_hlo_i64s(jx_hlo *in, int count, const int64_t *values)
{
    jx_mlir_attr *a = attribute(in, JX_A_DENSE_ARRAY);

    if (!a)
        return NULL;
    a->type = jx_mlir_integer(in->types, JX_SIGNLESS, 64);
    a->count = count;
    a->integers =
        jx_arena_copy(in->ctx->arena, count ? values : (const int64_t[]){0},
                      (size_t)(count ? count : 1) * sizeof *values);
    return a;
}

const jx_mlir_attr *jx_hlo_dims_attr(jx_code *c, int count,
                                     const jx_dim *const *dims,
                                     const char *what)
{
    int64_t *values = JX_NEW_ARRAY(c->in->ctx->arena, count + 1, int64_t);

    if (!values)
        return NULL;
    for (int i = 0; i < count; i++)
        values[i] = jx_hlo_static(c, dims[i], what);
    return jx_hlo_i64s(c->in, count, values);
}

const jx_mlir_attr *jx_hlo_some(jx_hlo *in, int count, const int64_t *values)
{
    return count ? jx_hlo_i64s(in, count, values) : NULL;
}

static const jx_mlir_attr *dense(jx_hlo *in, const jx_mlir_type *type,
                                 const void *data, size_t size, bool splat)
{
    jx_mlir_attr *a = attribute(in, JX_A_DENSE);

    if (!a)
        return NULL;
    a->type = type;
    a->bytes = data;
    a->size = size;
    a->splat = splat;
    return a;
}

const jx_mlir_attr *jx_hlo_i64_row(jx_hlo *in, int count, const int64_t *values)
{
    int64_t shape = count;
    size_t size = (size_t)count * sizeof *values;
    const void *data = jx_arena_copy(in->ctx->arena, values, size);

    return data ? dense(in,
                        jx_mlir_tensor(
                            in->types, 1, &shape,
                            jx_mlir_integer(in->types, JX_SIGNLESS, 64)),
                        data, size, false)
                : NULL;
}

const jx_mlir_attr *jx_hlo_table(jx_hlo *in, int rows, int columns,
                                 const int64_t *values)
{
    int64_t shape[2] = {rows, columns};
    size_t size = (size_t)rows * (size_t)columns * sizeof *values;
    const jx_mlir_type *type = jx_mlir_tensor(
        in->types, 2, shape, jx_mlir_integer(in->types, JX_SIGNLESS, 64));
    const void *data = jx_arena_copy(in->ctx->arena, values, size);

    return data ? dense(in, type, data, size, false) : NULL;
}

const jx_mlir_attr *jx_hlo_axes(jx_hlo *in, int count, const int64_t *axes)
{
    const jx_mlir_type *index = jx_mlir_type_add(
        in->types, &(jx_mlir_type){.kind = JX_T_INDEX, .rank = -1});
    int64_t shape = count;
    size_t size = (size_t)count * sizeof *axes;
    const void *data =
        jx_arena_copy(in->ctx->arena, count ? axes : (const int64_t[]){0},
                      size ? size : sizeof *axes);

    return data ? dense(in, jx_mlir_tensor(in->types, 1, &shape, index), data,
                        size, false)
                : NULL;
}

const jx_mlir_attr *jx_hlo_enum(jx_hlo *in, const char *name, const char *text)
{
    jx_mlir_attr *a = attribute(in, JX_A_ENUM);

    if (!a)
        return NULL;
    a->name = jx_intern_text(in->ctx, name);
    a->text = jx_intern_text(in->ctx, text);
    return a;
}

const jx_mlir_attr *jx_hlo_list(jx_hlo *in, int count,
                                const jx_mlir_attr *const *items)
{
    jx_mlir_attr *a = attribute(in, JX_A_ARRAY);

    if (!a)
        return NULL;
    a->count = count;
    a->items =
        jx_arena_copy(in->ctx->arena, items, (size_t)count * sizeof(void *));
    return a;
}

const jx_mlir_attr *jx_hlo_record(jx_hlo *in, const char *name, int count,
                                  const char *const *names,
                                  const jx_mlir_attr *const *items)
{
    jx_mlir_attr *a = attribute(in, JX_A_RECORD);
    const char **kept = JX_NEW_ARRAY(in->ctx->arena, count + 1, const char *);
    const jx_mlir_attr **values =
        JX_NEW_ARRAY(in->ctx->arena, count + 1, const jx_mlir_attr *);

    if (!a || !kept || !values)
        return NULL;
    a->name = jx_intern_text(in->ctx, name);
    a->names = kept;
    a->items = values;
    for (int i = 0; i < count; i++)
        if (items[i]) {
            kept[a->count] = jx_intern_text(in->ctx, names[i]);
            values[a->count++] = items[i];
        }
    return a;
}

static int by_name(const void *a, const void *b)
{
    const jx_mlir_named *x = a, *y = b;

    return strcmp(x->name, y->name);
}

/* Those that have a value, interned and in order. */
static const jx_mlir_named *sorted(jx_hlo *in, int *count,
                                   const jx_mlir_named *from)
{
    jx_mlir_named *to = JX_NEW_ARRAY(in->ctx->arena, *count + 1, jx_mlir_named);
    int n = 0;

    if (!to)
        return NULL;
    for (int i = 0; i < *count; i++) {
        const char *name =
            from[i].value ? jx_intern_text(in->ctx, from[i].name) : NULL;
        if (name)
            to[n++] = (jx_mlir_named){name, from[i].value};
    }
    qsort(to, (size_t)n, sizeof *to, by_name);
    *count = n;
    return to;
}

const jx_mlir_attr *jx_hlo_dict(jx_hlo *in, int count,
                                const jx_mlir_named *entries)
{
    jx_mlir_attr *a = attribute(in, JX_A_DICT);
    const jx_mlir_named *named = sorted(in, &count, entries);
    const char **names = JX_NEW_ARRAY(in->ctx->arena, count + 1, const char *);
    const jx_mlir_attr **items =
        JX_NEW_ARRAY(in->ctx->arena, count + 1, const jx_mlir_attr *);

    if (!a || !named || !names || !items)
        return NULL;
    for (int i = 0; i < count; i++) {
        names[i] = named[i].name;
        items[i] = named[i].value;
    }
    a->names = names;
    a->items = items;
    a->count = count;
    return a;
}

/* ---- ops */

jx_hv jx_hlo_fail(jx_code *c, const char *format, ...)
{
    char text[300];
    va_list args;

    va_start(args, format);
    jx_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    jx_fail(c->in->ctx, JX_E_INPUT, c->in->program->path, NULL, "%s", text);
    return (jx_hv){0};
}

static const jx_mlir_value *new_value(jx_hlo *in, const jx_aval *aval,
                                      int index)
{
    jx_mlir_value *v = JX_NEW(in->ctx->arena, jx_mlir_value);

    if (!v)
        return NULL;
    v->type = jx_hlo_type(in, aval);
    v->index = index;
    return v->type ? v : NULL;
}

static bool copy_operands(jx_hlo *in, jx_mlir_op *to, const jx_hlo_op *op)
{
    const jx_mlir_value **ins =
        JX_NEW_ARRAY(in->ctx->arena, op->nins + 1, const jx_mlir_value *);

    if (!ins)
        return false;
    for (int i = 0; i < op->nins; i++) {
        ins[i] = op->ins[i].value;
        if (!ins[i])
            return false;
    }
    to->ins = ins;
    to->nins = op->nins;
    return true;
}

static bool make_results(jx_hlo *in, jx_mlir_op *to, const jx_hlo_op *op,
                         jx_hv *outs)
{
    const jx_mlir_value **values =
        JX_NEW_ARRAY(in->ctx->arena, op->nouts + 1, const jx_mlir_value *);

    if (!values)
        return false;
    for (int i = 0; i < op->nouts; i++) {
        values[i] = new_value(in, op->outs[i], i);
        if (!values[i])
            return false;
        ((jx_mlir_value *)(uintptr_t)values[i])->op = to;
        outs[i] = (jx_hv){values[i], op->outs[i]};
    }
    to->outs = values;
    to->nouts = op->nouts;
    return true;
}

void jx_hlo_emit(jx_code *c, const jx_hlo_op *op, jx_hv *outs)
{
    jx_hlo *in = c->in;
    jx_mlir_op *to = JX_NEW(in->ctx->arena, jx_mlir_op);

    for (int i = 0; i < op->nouts; i++)
        outs[i] = (jx_hv){0};
    if (!to || !copy_operands(in, to, op) || !make_results(in, to, op, outs))
        return;
    to->id = jx_mlir_op_id(op->name);
    to->name = jx_intern_text(in->ctx, op->name);
    to->ninherent = op->nattrs;
    to->inherent = sorted(in, &to->ninherent, op->attrs);
    to->nattrs = op->nmore;
    to->attrs = sorted(in, &to->nattrs, op->more);
    to->nregions = op->nregions;
    to->regions = jx_arena_copy(in->ctx->arena, op->regions,
                                (size_t)op->nregions * sizeof *op->regions);
    to->loc = c->loc;
    JX_PUSH(in->ctx->arena, &c->ops, to);
}

jx_hv jx_hlo_emit1(jx_code *c, const jx_hlo_op *op)
{
    jx_hv out;

    jx_hlo_emit(c, op, &out);
    return out;
}

jx_hv jx_hlo_simple(jx_code *c, const char *name, int nins, const jx_hv *ins,
                    const jx_aval *out, int nattrs, const jx_mlir_named *attrs)
{
    return jx_hlo_emit1(c, &(jx_hlo_op){.name = name,
                                        .nins = nins,
                                        .ins = ins,
                                        .nouts = 1,
                                        .outs = &out,
                                        .nattrs = nattrs,
                                        .attrs = attrs});
}

jx_code *jx_hlo_begin(jx_code *c, int nargs, const jx_aval *const *args,
                      jx_hv *to)
{
    jx_arena *arena = c->in->ctx->arena;
    jx_code *inner = JX_NEW(arena, jx_code);
    const jx_mlir_value **values =
        JX_NEW_ARRAY(arena, nargs + 1, const jx_mlir_value *);

    for (int i = 0; i < nargs; i++)
        to[i] = (jx_hv){0};
    if (!inner || !values)
        return NULL;
    inner->in = c->in;
    inner->sizes = c->sizes;
    inner->loc = c->loc;
    for (int i = 0; i < nargs; i++) {
        values[i] = new_value(c->in, args[i], i);
        to[i] = (jx_hv){values[i], args[i]};
    }
    inner->args = values;
    inner->nargs = nargs;
    return inner;
}

jx_code *jx_hlo_begin_scalars(jx_code *c, int count, const jx_dtype *dtypes,
                              jx_hv *to)
{
    const jx_aval **avals =
        JX_NEW_ARRAY(c->in->ctx->arena, count + 1, const jx_aval *);

    if (!avals)
        return NULL;
    for (int i = 0; i < count; i++)
        avals[i] = jx_hlo_scalar_aval(c->in, dtypes[i]);
    return jx_hlo_begin(c, count, avals, to);
}

static const jx_mlir_block *finish_block(jx_code *c)
{
    jx_mlir_block *block = JX_NEW(c->in->ctx->arena, jx_mlir_block);

    if (!block)
        return NULL;
    block->nargs = c->nargs;
    block->args = c->args;
    block->nops = (int)c->ops.count;
    block->ops = c->ops.at;
    for (int i = 0; i < c->nargs; i++)
        if (c->args[i])
            ((jx_mlir_value *)(uintptr_t)c->args[i])->block = block;
    return block;
}

jx_mlir_region jx_hlo_finish_as(jx_code *c, const char *name, int nresults,
                                const jx_hv *results)
{
    const jx_mlir_block **blocks;

    if (!c)
        return (jx_mlir_region){0};
    jx_hlo_emit(c, &(jx_hlo_op){.name = name, .nins = nresults, .ins = results},
                NULL);
    blocks = JX_NEW_ARRAY(c->in->ctx->arena, 1, const jx_mlir_block *);
    if (!blocks)
        return (jx_mlir_region){0};
    blocks[0] = finish_block(c);
    return (jx_mlir_region){blocks[0] ? 1 : 0, blocks};
}

jx_mlir_region jx_hlo_finish(jx_code *c, int nresults, const jx_hv *results)
{
    return jx_hlo_finish_as(c, "stablehlo.return", nresults, results);
}

/* ---- constants */

static jx_hv constant(jx_code *c, const jx_aval *aval, const void *data,
                      size_t size, bool splat)
{
    const jx_mlir_type *type = jx_hlo_type(c->in, aval);
    jx_mlir_named value = {"value",
                           type ? dense(c->in, type, data, size, splat) : NULL};

    if (!type || !data)
        return (jx_hv){0};
    return jx_hlo_simple(c, "stablehlo.constant", 0, NULL, aval, 1, &value);
}

jx_hv jx_hlo_constant(jx_code *c, const jx_array *array)
{
    const jx_aval *aval = jx_hlo_physical(c->in, array->aval);
    static const unsigned char zero[1];

    if (!array->data && array->aval->dtype != JX_FLOAT0)
        return jx_hlo_fail(c, "the value of a constant is not known");
    if (array->aval->dtype == JX_FLOAT0)
        return constant(c, aval, zero, 1, true);
    /* One element of a key is several numbers, so its splat is not one. */
    if (array->splat && array->aval->dtype == JX_KEY)
        return jx_hlo_fail(c, "a constant of equal keys has no StableHLO form");
    return constant(c, aval, array->data, array->bytes, array->splat);
}

jx_hv jx_hlo_bits(jx_code *c, jx_dtype dtype, const void *bits)
{
    size_t size = jx_dtype_of(dtype)->bytes;

    return constant(c, jx_hlo_scalar_aval(c->in, dtype),
                    jx_arena_copy(c->in->ctx->arena, bits, size), size, true);
}

static void integer_bits(jx_dtype dtype, int64_t value, unsigned char *to)
{
    int bits = jx_dtype_of(dtype)->bits;

    if (dtype == JX_BOOL)
        value = value != 0;
    for (int i = 0; i < 8; i++)
        to[i] = (unsigned char)((uint64_t)value >> 8 * i);
    if (bits < 8)
        to[0] &= (unsigned char)((1 << bits) - 1);
}

jx_hv jx_hlo_scalar_int(jx_code *c, jx_dtype dtype, int64_t value)
{
    unsigned char bits[16] = {0};

    if (jx_dtype_is_inexact(dtype))
        return jx_hlo_scalar(c, dtype, (double)value);
    integer_bits(dtype, value, bits);
    return jx_hlo_bits(c, dtype, bits);
}

jx_hv jx_hlo_scalar(jx_code *c, jx_dtype dtype, double value)
{
    unsigned char bits[16] = {0};

    if (!jx_dtype_is_inexact(dtype))
        return jx_hlo_scalar_int(c, dtype, (int64_t)value);
    jx_element_from_real(jx_dtype_real(dtype), value, bits);
    return jx_hlo_bits(c, dtype, bits);
}

jx_hv jx_hlo_vector(jx_code *c, jx_dtype dtype, int count,
                    const int64_t *values)
{
    size_t size = jx_dtype_of(dtype)->bytes;
    const jx_dim *n = jx_hlo_int(c->in, count);
    unsigned char *data =
        jx_arena_array(c->in->ctx->arena, (size_t)count + 1, size);
    unsigned char bits[8];

    if (!data)
        return (jx_hv){0};
    for (int i = 0; i < count; i++) {
        integer_bits(dtype, values[i], bits);
        memcpy(data + (size_t)i * size, bits, size);
    }
    return constant(c, jx_hlo_aval(c->in, dtype, 1, &n), data,
                    (size_t)count * size, false);
}

static jx_hv extreme_value(jx_code *c, jx_dtype dtype, bool greatest)
{
    const jx_dtype_info *info = jx_dtype_of(dtype);
    int bits = info->bits;

    switch (info->kind) {
    case JX_KIND_BOOL: return jx_hlo_scalar_int(c, dtype, greatest);
    case JX_KIND_UINT: return jx_hlo_scalar_int(c, dtype, greatest ? -1 : 0);
    case JX_KIND_INT: {
        uint64_t least = (uint64_t)1 << (bits - 1);
        return jx_hlo_scalar_int(c, dtype,
                                 (int64_t)(greatest ? least - 1 : least));
    }
    default:
        /* JAX takes a real number for complex ones, too, although that is not
         * the least of the pairs. */
        return jx_hlo_scalar(c, dtype,
                             greatest ? __builtin_inf() : -__builtin_inf());
    }
}

jx_hv jx_hlo_least(jx_code *c, jx_dtype dtype)
{
    return extreme_value(c, dtype, false);
}

jx_hv jx_hlo_greatest(jx_code *c, jx_dtype dtype)
{
    return extreme_value(c, dtype, true);
}
