/* tree.c - see tree.h: interning, lookups and comparison. */
#include "frontend/mlir/tree.h"

#include "frontend/base/utf8.h"
#include "frontend/base/vec.h"

#include <math.h>
#include <string.h>

/* ---- types */

void jx_mlir_types_init(jx_mlir_types *in, jx_ctx *ctx)
{
    in->ctx = ctx;
    jx_intern_init(&in->table, ctx->arena);
}

jx_mlir_types *jx_mlir_types_new(jx_ctx *ctx)
{
    jx_mlir_types *in = JX_NEW(ctx->arena, jx_mlir_types);

    if (in)
        jx_mlir_types_init(in, ctx);
    return in;
}

static uint64_t mix(uint64_t hash, const void *data, size_t size)
{
    return jx_hash_mix(hash, size ? jx_hash_bytes(data, size) : 0);
}

static uint64_t hash_type(const jx_mlir_type *t)
{
    uint64_t h = jx_hash_mix((uint64_t)t->kind * 2 + t->vhlo,
                             (uint64_t)t->sign << 32 | t->width);

    h = jx_hash_mix(h, (uint64_t)(unsigned)t->count << 32 | (unsigned)t->rank);
    h = jx_hash_mix(h, (uint64_t)(unsigned)t->inputs);
    h = jx_hash_mix(h, (uint64_t)(uintptr_t)t->text);
    if (t->rank > 0)
        h = mix(h, t->shape, (size_t)t->rank * sizeof *t->shape);
    h = mix(h, t->items, (size_t)t->count * sizeof(void *));
    if (t->quant)
        h = mix(h, t->quant->scales, (size_t)t->quant->count * sizeof(double));
    return h; /* an encoding is compared, not hashed: it has no identity */
}

static bool same_quant(const jx_mlir_quant *a, const jx_mlir_quant *b)
{
    size_t n;

    if (!a || !b)
        return a == b;
    n = (size_t)a->count;
    return a->flags == b->flags && a->min == b->min && a->max == b->max &&
           a->axis == b->axis && a->count == b->count &&
           (!n || (!memcmp(a->scales, b->scales, n * sizeof *a->scales) &&
                   !memcmp(a->zeros, b->zeros, n * sizeof *a->zeros)));
}

static bool same_bytes(const void *a, const void *b, size_t size)
{
    return !size || memcmp(a, b, size) == 0;
}

static bool same_type(const void *kept, const void *key)
{
    const jx_mlir_type *a = kept, *b = key;

    return a->kind == b->kind && a->vhlo == b->vhlo && a->sign == b->sign &&
           a->width == b->width && a->rank == b->rank && a->count == b->count &&
           a->inputs == b->inputs && a->text == b->text &&
           (a->rank <= 0 || same_bytes(a->shape, b->shape,
                                       (size_t)a->rank * sizeof *a->shape)) &&
           same_bytes(a->items, b->items, (size_t)a->count * sizeof(void *)) &&
           same_quant(a->quant, b->quant) &&
           (a->encoding == b->encoding ||
            (a->encoding && b->encoding &&
             jx_mlir_attr_same(a->encoding, b->encoding)));
}

bool jx_mlir_is_scale(double value)
{
    return value > 0 && value < (double)INFINITY;
}

static const jx_mlir_quant *copy_quant(jx_arena *arena, const jx_mlir_quant *q)
{
    jx_mlir_quant *to = jx_arena_copy(arena, q, sizeof *q);
    size_t n = (size_t)q->count;

    if (!to)
        return NULL;
    to->scales = jx_arena_copy(arena, q->scales, n * sizeof *q->scales);
    to->zeros = jx_arena_copy(arena, q->zeros, n * sizeof *q->zeros);
    return to->scales && to->zeros ? to : NULL;
}

const jx_mlir_type *jx_mlir_type_add(jx_mlir_types *in,
                                     const jx_mlir_type *like)
{
    jx_arena *arena = in->ctx->arena;
    uint64_t hash = hash_type(like);
    const jx_mlir_type *found =
        jx_intern_find(&in->table, hash, like, same_type);

    if (found)
        return found;
    jx_mlir_type *t = jx_arena_copy(arena, like, sizeof *like);
    if (!t)
        return NULL;
    if (like->rank > 0)
        t->shape = jx_arena_copy(arena, like->shape,
                                 (size_t)like->rank * sizeof *like->shape);
    if (like->count)
        t->items = jx_arena_copy(arena, like->items,
                                 (size_t)like->count * sizeof(void *));
    if (like->quant)
        t->quant = copy_quant(arena, like->quant);
    if (jx_arena_failed(arena) || !jx_intern_add(&in->table, hash, t))
        return NULL;
    return t;
}

const jx_mlir_type *jx_mlir_integer(jx_mlir_types *in, jx_mlir_sign sign,
                                    unsigned width)
{
    return jx_mlir_type_add(in, &(jx_mlir_type){.kind = JX_T_INTEGER,
                                                .sign = sign,
                                                .width = width,
                                                .rank = -1});
}

const jx_mlir_type *jx_mlir_float(jx_mlir_types *in, const char *text)
{
    return jx_mlir_type_add(
        in, &(jx_mlir_type){.kind = JX_T_FLOAT,
                            .rank = -1,
                            .text = jx_intern_text(in->ctx, text)});
}

const jx_mlir_type *jx_mlir_complex(jx_mlir_types *in, const jx_mlir_type *part)
{
    return part ? jx_mlir_type_add(in, &(jx_mlir_type){.kind = JX_T_COMPLEX,
                                                       .rank = -1,
                                                       .count = 1,
                                                       .items = &part})
                : NULL;
}

const jx_mlir_type *jx_mlir_tensor(jx_mlir_types *in, int rank,
                                   const int64_t *shape,
                                   const jx_mlir_type *element)
{
    return element ? jx_mlir_type_add(in, &(jx_mlir_type){.kind = JX_T_TENSOR,
                                                          .rank = rank,
                                                          .shape = shape,
                                                          .count = 1,
                                                          .items = &element})
                   : NULL;
}

const jx_mlir_type *jx_mlir_function(jx_mlir_types *in, int ninputs,
                                     const jx_mlir_type *const *inputs,
                                     int nresults,
                                     const jx_mlir_type *const *results)
{
    size_t n = (size_t)ninputs, m = (size_t)nresults;
    const jx_mlir_type **items =
        JX_NEW_ARRAY(in->ctx->arena, n + m, const jx_mlir_type *);

    if (!items)
        return NULL;
    if (n)
        memcpy(items, inputs, n * sizeof *items);
    if (m)
        memcpy(items + n, results, m * sizeof *items);
    return jx_mlir_type_add(in, &(jx_mlir_type){.kind = JX_T_FUNCTION,
                                                .rank = -1,
                                                .count = ninputs + nresults,
                                                .inputs = ninputs,
                                                .items = items});
}

/* MLIR's float types, and the dtypes that some of them are. */
static const struct float_type {
    const char *text;
    unsigned bits;
    jx_dtype dtype;
} float_types[] = {
    {"f32", 32, JX_F32},
    {"f64", 64, JX_F64},
    {"bf16", 16, JX_BF16},
    {"f16", 16, JX_F16},
    {"f4E2M1FN", 4, JX_F4_E2M1FN},
    {"f8E3M4", 8, JX_F8_E3M4},
    {"f8E4M3", 8, JX_F8_E4M3},
    {"f8E4M3B11FNUZ", 8, JX_F8_E4M3B11FNUZ},
    {"f8E4M3FN", 8, JX_F8_E4M3FN},
    {"f8E4M3FNUZ", 8, JX_F8_E4M3FNUZ},
    {"f8E5M2", 8, JX_F8_E5M2},
    {"f8E5M2FNUZ", 8, JX_F8_E5M2FNUZ},
    {"f8E8M0FNU", 8, JX_F8_E8M0FNU},
    {"f6E2M3FN", 6, JX_DT_NONE},
    {"f6E3M2FN", 6, JX_DT_NONE},
    {"tf32", 19, JX_DT_NONE},
    {"f80", 80, JX_DT_NONE},
    {"f128", 128, JX_DT_NONE},
};

#define NFLOATS (sizeof float_types / sizeof *float_types)

static const struct float_type *float_named(const char *text, size_t length)
{
    for (size_t i = 0; i < NFLOATS; i++)
        if (strncmp(float_types[i].text, text, length) == 0 &&
            !float_types[i].text[length])
            return &float_types[i];
    return NULL;
}

unsigned jx_mlir_float_bits(const char *text, size_t length)
{
    const struct float_type *found = float_named(text, length);

    return found ? found->bits : 0;
}

static jx_dtype integer_dtype(const jx_mlir_type *t)
{
    bool u = t->sign == JX_UNSIGNED;

    switch (t->width) {
    case 1: return JX_BOOL;
    case 2: return u ? JX_U2 : JX_I2;
    case 4: return u ? JX_U4 : JX_I4;
    case 8: return u ? JX_U8 : JX_I8;
    case 16: return u ? JX_U16 : JX_I16;
    case 32: return u ? JX_U32 : JX_I32;
    case 64: return u ? JX_U64 : JX_I64;
    default: return JX_DT_NONE;
    }
}

static jx_dtype float_dtype(const char *text)
{
    const struct float_type *found = float_named(text, strlen(text));

    return found ? found->dtype : JX_DT_NONE;
}

bool jx_mlir_dtype(const jx_mlir_type *element, jx_dtype *dtype)
{
    *dtype = JX_DT_NONE;
    switch (element->kind) {
    case JX_T_INTEGER: *dtype = integer_dtype(element); break;
    case JX_T_FLOAT: *dtype = float_dtype(element->text); break;
    case JX_T_COMPLEX:
        if (jx_mlir_dtype(element->items[0], dtype))
            *dtype = jx_dtype_complex(*dtype);
        break;
    default: break;
    }
    return *dtype != JX_DT_NONE;
}

const jx_mlir_type *jx_mlir_element(jx_mlir_types *in, jx_dtype dtype)
{
    const jx_dtype_info *info = jx_dtype_of(dtype);

    switch (info->kind) {
    case JX_KIND_BOOL: return jx_mlir_integer(in, JX_SIGNLESS, 1);
    case JX_KIND_INT:
        return jx_mlir_integer(in, JX_SIGNLESS, (unsigned)info->bits);
    case JX_KIND_UINT:
        return jx_mlir_integer(in, JX_UNSIGNED, (unsigned)info->bits);
    case JX_KIND_FLOAT:
        for (size_t i = 0; i < NFLOATS; i++)
            if (float_types[i].dtype == dtype)
                return jx_mlir_float(in, float_types[i].text);
        return NULL;
    case JX_KIND_COMPLEX:
        return jx_mlir_complex(in, jx_mlir_element(in, jx_dtype_real(dtype)));
    default: return NULL;
    }
}

/* ---- attributes */

static bool same_names(const jx_mlir_attr *a, const jx_mlir_attr *b)
{
    if (!a->names || !b->names)
        return a->names == b->names || !a->count;
    return same_bytes(a->names, b->names, (size_t)a->count * sizeof *a->names);
}

static bool same_items(const jx_mlir_attr *a, const jx_mlir_attr *b)
{
    if (!a->items || !b->items)
        return a->items == b->items || !a->count;
    for (int i = 0; i < a->count; i++)
        if (!jx_mlir_attr_same(a->items[i], b->items[i]))
            return false;
    return true;
}

static bool same_integers(const jx_mlir_attr *a, const jx_mlir_attr *b)
{
    if (!a->integers || !b->integers)
        return a->integers == b->integers || !a->count;
    return same_bytes(a->integers, b->integers,
                      (size_t)a->count * sizeof *a->integers);
}

/* A splat equals the same elements written out. */
static bool same_dense(const jx_mlir_attr *a, const jx_mlir_attr *b)
{
    const jx_mlir_attr *one = a->splat ? a : b, *all = a->splat ? b : a;

    if (a->splat == b->splat)
        return a->size == b->size && same_bytes(a->bytes, b->bytes, a->size);
    if (!one->size || all->size % one->size)
        return false;
    for (size_t i = 0; i < all->size; i += one->size)
        if (memcmp((const char *)all->bytes + i, one->bytes, one->size) != 0)
            return false;
    return all->size > 0;
}

/* Readers limit how deep attributes nest, which bounds the recursion. */
bool jx_mlir_attr_same(const jx_mlir_attr *a, const jx_mlir_attr *b)
{
    if (a == b)
        return true;
    if (!a || !b || a->kind != b->kind || a->vhlo != b->vhlo ||
        a->type != b->type || a->name != b->name || a->text != b->text)
        return false;
    if (a->kind == JX_A_DENSE)
        return same_dense(a, b);
    return a->boolean == b->boolean && a->integer == b->integer &&
           a->count == b->count && a->size == b->size && a->splat == b->splat &&
           same_bytes(a->bytes, b->bytes, a->size) && same_names(a, b) &&
           same_integers(a, b) && same_items(a, b) &&
           (a->extra == b->extra ||
            (a->extra && b->extra && jx_mlir_attr_same(a->extra, b->extra)));
}

const jx_mlir_attr *jx_mlir_field(const jx_mlir_attr *of, const char *name)
{
    if (!of || !of->names)
        return NULL;
    for (int i = 0; i < of->count; i++)
        if (strcmp(of->names[i], name) == 0)
            return of->items[i];
    return NULL;
}

/* ---- ops */

const jx_mlir_attr *jx_mlir_named_value(const jx_mlir_named *in, int count,
                                        const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(in[i].name, name) == 0)
            return in[i].value;
    return NULL;
}

const jx_mlir_attr *jx_mlir_get(const jx_mlir_op *op, const char *name)
{
    const jx_mlir_attr *found =
        jx_mlir_named_value(op->inherent, op->ninherent, name);

    return found ? found : jx_mlir_named_value(op->attrs, op->nattrs, name);
}

const jx_mlir_block *jx_mlir_body(const jx_mlir_op *op, int region)
{
    if (region >= op->nregions || op->regions[region].nblocks != 1)
        return NULL;
    return op->regions[region].blocks[0];
}

const jx_mlir_op *jx_mlir_symbol(const jx_mlir_op *module, const char *name)
{
    const jx_mlir_block *body = jx_mlir_body(module, 0);
    size_t length = strlen(name);

    for (int i = 0; body && i < body->nops; i++) {
        const jx_mlir_attr *symbol = jx_mlir_get(body->ops[i], "sym_name");

        if (symbol && symbol->kind == JX_A_STRING && symbol->size == length &&
            memcmp(symbol->bytes, name, length) == 0)
            return body->ops[i];
    }
    return NULL;
}

typedef struct symbol {
    const jx_mlir_attr *name;
    const jx_mlir_op *op;
} symbol;

static bool same_symbol(const void *kept, const void *key)
{
    const jx_mlir_attr *name = ((const symbol *)kept)->name;

    return name->size == strlen(key) &&
           (!name->size || memcmp(name->bytes, key, name->size) == 0);
}

/* The first of several of a name is the one that is found. */
static bool add_symbol(jx_ctx *ctx, jx_mlir_symbols *to, const jx_mlir_op *op)
{
    const jx_mlir_attr *name = jx_mlir_get(op, "sym_name");
    const char *text;
    uint64_t hash;
    symbol *made;

    if (!name || name->kind != JX_A_STRING ||
        (name->size && memchr(name->bytes, 0, name->size)))
        return true; /* nobody asks for such a name */
    text =
        jx_arena_string(ctx->arena, name->size ? name->bytes : "", name->size);
    hash = jx_hash_bytes(name->size ? name->bytes : "", name->size);
    if (!text)
        return false;
    if (jx_intern_find(&to->names, hash, text, same_symbol))
        return true;
    made = JX_NEW(ctx->arena, symbol);
    if (!made)
        return false;
    *made = (symbol){name, op};
    return jx_intern_add(&to->names, hash, made);
}

const jx_mlir_op *jx_mlir_find(jx_ctx *ctx, jx_mlir_symbols *in,
                               const jx_mlir_op *module, const char *name)
{
    const jx_mlir_block *body = jx_mlir_body(module, 0);
    const symbol *found;

    if (in->module != module) {
        in->module = module;
        jx_intern_init(&in->names, ctx->arena);
        for (int i = 0; body && i < body->nops; i++)
            if (!add_symbol(ctx, in, body->ops[i]))
                return NULL;
    }
    found = jx_intern_find(&in->names, jx_hash_bytes(name, strlen(name)), name,
                           same_symbol);
    return found ? found->op : NULL;
}

const char *jx_mlir_text(jx_ctx *ctx, const jx_mlir_attr *attr)
{
    if (!attr || attr->kind != JX_A_STRING ||
        (attr->size && (memchr(attr->bytes, 0, attr->size) ||
                        !jx_utf8_valid(attr->bytes, attr->size, NULL))))
        return NULL;
    return jx_strings_add(&ctx->strings, attr->size ? attr->bytes : "",
                          attr->size);
}
