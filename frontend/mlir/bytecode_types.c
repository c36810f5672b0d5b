/* bytecode_types.c - types of bytecode: builtin's and VHLO's. */
#include "frontend/mlir/bytecode_parts.h"

#include <string.h>

/* ---- types that are one number */

static const jx_bc_simple_type vhlo_simple[] = {
    {0, JX_T_INTEGER, JX_SIGNLESS, 1, NULL},
    {2, JX_T_FLOAT, JX_SIGNLESS, 0, "bf16"},
    {3, JX_T_FLOAT, JX_SIGNLESS, 0, "f16"},
    {4, JX_T_FLOAT, JX_SIGNLESS, 0, "f32"},
    {5, JX_T_FLOAT, JX_SIGNLESS, 0, "f64"},
    {6, JX_T_FLOAT, JX_SIGNLESS, 0, "f8E4M3FN"},
    {7, JX_T_FLOAT, JX_SIGNLESS, 0, "f8E5M2"},
    {9, JX_T_INDEX, JX_SIGNLESS, 0, NULL},
    {10, JX_T_INTEGER, JX_SIGNLESS, 4, NULL},
    {11, JX_T_INTEGER, JX_SIGNLESS, 8, NULL},
    {12, JX_T_INTEGER, JX_SIGNLESS, 16, NULL},
    {13, JX_T_INTEGER, JX_SIGNLESS, 32, NULL},
    {14, JX_T_INTEGER, JX_SIGNLESS, 64, NULL},
    {15, JX_T_INTEGER, JX_UNSIGNED, 4, NULL},
    {16, JX_T_INTEGER, JX_UNSIGNED, 8, NULL},
    {17, JX_T_INTEGER, JX_UNSIGNED, 16, NULL},
    {18, JX_T_INTEGER, JX_UNSIGNED, 32, NULL},
    {19, JX_T_INTEGER, JX_UNSIGNED, 64, NULL},
    {22, JX_T_TOKEN, JX_SIGNLESS, 0, NULL},
    {26, JX_T_WITNESS, JX_SIGNLESS, 0, NULL},
    {27, JX_T_FLOAT, JX_SIGNLESS, 0, "f8E4M3FNUZ"},
    {28, JX_T_FLOAT, JX_SIGNLESS, 0, "f8E5M2FNUZ"},
    {29, JX_T_FLOAT, JX_SIGNLESS, 0, "f8E4M3B11FNUZ"},
    {31, JX_T_INTEGER, JX_SIGNLESS, 2, NULL},
    {32, JX_T_INTEGER, JX_UNSIGNED, 2, NULL},
    {33, JX_T_NONE, JX_SIGNLESS, 0, NULL},
    {34, JX_T_FLOAT, JX_SIGNLESS, 0, "tf32"},
    {35, JX_T_FLOAT, JX_SIGNLESS, 0, "f8E4M3"},
    {36, JX_T_FLOAT, JX_SIGNLESS, 0, "f8E3M4"},
    {37, JX_T_FLOAT, JX_SIGNLESS, 0, "f4E2M1FN"},
    {38, JX_T_FLOAT, JX_SIGNLESS, 0, "f6E2M3FN"},
    {39, JX_T_FLOAT, JX_SIGNLESS, 0, "f6E3M2FN"},
    {40, JX_T_FLOAT, JX_SIGNLESS, 0, "f8E8M0FNU"},
};

static const jx_bc_simple_type builtin_simple[] = {
    {1, JX_T_INDEX, JX_SIGNLESS, 0, NULL},
    {3, JX_T_FLOAT, JX_SIGNLESS, 0, "bf16"},
    {4, JX_T_FLOAT, JX_SIGNLESS, 0, "f16"},
    {5, JX_T_FLOAT, JX_SIGNLESS, 0, "f32"},
    {6, JX_T_FLOAT, JX_SIGNLESS, 0, "f64"},
    {7, JX_T_FLOAT, JX_SIGNLESS, 0, "f80"},
    {8, JX_T_FLOAT, JX_SIGNLESS, 0, "f128"},
    {12, JX_T_NONE, JX_SIGNLESS, 0, NULL},
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

static const jx_bc_simple_type *table_of(jx_bc_dialect_kind dialect,
                                         size_t *count)
{
    *count = dialect == JX_BC_VHLO      ? COUNT(vhlo_simple)
             : dialect == JX_BC_BUILTIN ? COUNT(builtin_simple)
                                        : 0;
    return dialect == JX_BC_VHLO ? vhlo_simple : builtin_simple;
}

const jx_bc_simple_type *jx_bc_simple_by_code(jx_bc_dialect_kind dialect,
                                              uint64_t code)
{
    size_t count;
    const jx_bc_simple_type *table = table_of(dialect, &count);

    for (size_t i = 0; i < count; i++)
        if (table[i].code == code)
            return &table[i];
    return NULL;
}

const jx_bc_simple_type *jx_bc_simple_of(jx_bc_dialect_kind dialect,
                                         const jx_mlir_type *type)
{
    size_t count;
    const jx_bc_simple_type *table = table_of(dialect, &count);

    for (size_t i = 0; i < count; i++)
        if (table[i].kind == type->kind && table[i].sign == type->sign &&
            table[i].width == type->width &&
            (table[i].text ? type->text && !strcmp(table[i].text, type->text)
                           : !type->text))
            return &table[i];
    return NULL;
}

/* ---- sizes */

static size_t float_size(const char *text)
{
    if (strcmp(text, "f64") == 0)
        return 8;
    if (strcmp(text, "f32") == 0 || strcmp(text, "tf32") == 0)
        return 4;
    if (strcmp(text, "f16") == 0 || strcmp(text, "bf16") == 0)
        return 2;
    if (strcmp(text, "f80") == 0 || strcmp(text, "f128") == 0)
        return 16;
    return 1; /* f8, f6 and f4, a byte each */
}

size_t jx_mlir_element_size(const jx_mlir_type *element)
{
    switch (element->kind) {
    case JX_T_INTEGER:
        return (element->width + 7) / 8;
    case JX_T_INDEX:
        return 8;
    case JX_T_FLOAT:
        return float_size(element->text);
    case JX_T_COMPLEX:
        return 2 * jx_mlir_element_size(element->items[0]);
    case JX_T_QUANTIZED:
        return jx_mlir_element_size(element->items[0]);
    default:
        return 0;
    }
}

bool jx_mlir_elements(const jx_mlir_type *type, uint64_t *count)
{
    *count = 1;
    if (type->kind != JX_T_TENSOR)
        return false;
    for (int i = 0; i < type->rank; i++)
        if (type->shape[i] < 0 ||
            __builtin_mul_overflow(*count, (uint64_t)type->shape[i], count))
            return false;
    return true;
}

/* ---- types with parts */

static const jx_mlir_type *add(jx_bc_reader *r, const jx_mlir_type *like)
{
    return jx_bc_ok(r) ? jx_mlir_type_add(r->types, like) : NULL;
}

static const jx_mlir_type *of_items(jx_bc_reader *r, jx_bc_cursor *c,
                                    jx_mlir_type_kind kind, bool vhlo)
{
    size_t count;
    const jx_mlir_type *const *items = jx_bc_type_list(r, c, &count);

    return add(r, &(jx_mlir_type){.kind = kind,
                                  .vhlo = vhlo,
                                  .rank = -1,
                                  .count = (int)count,
                                  .items = items});
}

static const jx_mlir_type *of_one(jx_bc_reader *r, jx_bc_cursor *c,
                                  jx_mlir_type_kind kind, bool vhlo)
{
    const jx_mlir_type *item = jx_bc_type(r, c);

    return add(r, &(jx_mlir_type){.kind = kind,
                                  .vhlo = vhlo,
                                  .rank = -1,
                                  .count = 1,
                                  .items = &item});
}

static const jx_mlir_type *function(jx_bc_reader *r, jx_bc_cursor *c,
                                    bool vhlo)
{
    size_t ins, outs;
    const jx_mlir_type **in = jx_bc_type_list(r, c, &ins);
    const jx_mlir_type **out = jx_bc_type_list(r, c, &outs);
    const jx_mlir_type **all =
        JX_NEW_ARRAY(r->scratch, ins + outs, const jx_mlir_type *);

    if (!jx_bc_ok(r))
        return NULL;
    memcpy(all, in, ins * sizeof *all);
    memcpy(all + ins, out, outs * sizeof *all);
    return add(r, &(jx_mlir_type){.kind = JX_T_FUNCTION,
                                  .vhlo = vhlo,
                                  .rank = -1,
                                  .count = (int)(ins + outs),
                                  .inputs = (int)ins,
                                  .items = all});
}

static const jx_mlir_type *shaped(jx_bc_reader *r, jx_bc_cursor *c,
                                  jx_mlir_type_kind kind, bool vhlo,
                                  bool encoded)
{
    const jx_mlir_attr *encoding = encoded ? jx_bc_attr(r, c) : NULL;
    const uint8_t *at = c->at;
    size_t rank;
    const int64_t *shape = jx_bc_signed_list(r, c, &rank);
    const jx_mlir_type *element = jx_bc_type(r, c);

    for (size_t i = 0; shape && !r->failed && i < rank; i++)
        if (shape[i] < 0 && shape[i] != JX_MLIR_DYNAMIC)
            jx_bc_fail(r, at, "size %lld of axis %zu", (long long)shape[i],
                       i);
    return add(r, &(jx_mlir_type){.kind = kind,
                                  .vhlo = vhlo,
                                  .rank = (int)rank,
                                  .shape = shape,
                                  .count = 1,
                                  .items = &element,
                                  .encoding = encoding});
}

static double real(jx_bc_reader *r, jx_bc_cursor *c)
{
    int64_t bits = jx_bc_signed(r, c);
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static const jx_mlir_type *add_quantized(jx_bc_reader *r,
                                         const jx_mlir_type *storage,
                                         const jx_mlir_type *expressed,
                                         const jx_mlir_quant *quant)
{
    const jx_mlir_type *items[] = {storage, expressed};

    return add(r, &(jx_mlir_type){.kind = JX_T_QUANTIZED,
                                  .vhlo = true,
                                  .rank = -1,
                                  .count = 2,
                                  .items = items,
                                  .quant = quant});
}

static double scale_of(jx_bc_reader *r, jx_bc_cursor *c)
{
    const uint8_t *at = c->at;
    double scale = real(r, c);

    if (!r->failed && !jx_mlir_is_scale(scale))
        jx_bc_fail(r, at, "a scale of %g: expected it to be finite and above 0",
                   scale);
    return scale;
}

static const jx_mlir_type *quantized(jx_bc_reader *r, jx_bc_cursor *c)
{
    jx_mlir_quant q = {.axis = -1, .count = 1};

    q.flags = jx_bc_varint(r, c);
    const jx_mlir_type *storage = jx_bc_type(r, c);
    const jx_mlir_type *expressed = jx_bc_type(r, c);
    double scale = scale_of(r, c);
    int64_t zero = jx_bc_signed(r, c);
    q.scales = &scale;
    q.zeros = &zero;
    q.min = jx_bc_signed(r, c);
    q.max = jx_bc_signed(r, c);
    return add_quantized(r, storage, expressed, &q);
}

static const jx_mlir_type *quantized_per_axis(jx_bc_reader *r,
                                              jx_bc_cursor *c)
{
    jx_mlir_quant q = {.flags = jx_bc_varint(r, c)};
    const jx_mlir_type *storage = jx_bc_type(r, c);
    const jx_mlir_type *expressed = jx_bc_type(r, c);
    const uint8_t *at = c->at;
    uint64_t axis = jx_bc_varint(r, c);
    size_t nscales, nzeros;

    if (axis > INT32_MAX)
        jx_bc_fail(r, at, "axis %llu", (unsigned long long)axis);
    q.axis = (int)axis;
    q.min = jx_bc_signed(r, c);
    q.max = jx_bc_signed(r, c);
    nscales = jx_bc_count(r, c, "scales");
    double *scales = JX_NEW_ARRAY(r->scratch, nscales, double);
    for (size_t i = 0; scales && i < nscales; i++)
        scales[i] = scale_of(r, c);
    at = c->at;
    q.zeros = jx_bc_signed_list(r, c, &nzeros);
    if (!r->failed && nzeros != nscales)
        jx_bc_fail(r, at, "%zu zero points for %zu scales", nzeros, nscales);
    q.scales = scales;
    q.count = (int)nscales;
    return add_quantized(r, storage, expressed, &q);
}

static const jx_mlir_type *simple(jx_bc_reader *r,
                                  jx_bc_dialect_kind dialect, uint64_t code,
                                  const uint8_t *at)
{
    const jx_bc_simple_type *s = jx_bc_simple_by_code(dialect, code);

    if (!s) {
        jx_bc_fail(r, at, "type code %llu is not known",
                   (unsigned long long)code);
        return NULL;
    }
    return add(r, &(jx_mlir_type){
                      .kind = s->kind,
                      .vhlo = dialect == JX_BC_VHLO,
                      .sign = s->sign,
                      .width = s->width,
                      .rank = -1,
                      .text = s->text ? jx_intern_text(r->ctx, s->text)
                                      : NULL});
}

static const jx_mlir_type *vhlo_type(jx_bc_reader *r, jx_bc_cursor *c)
{
    const uint8_t *at = c->at;
    uint64_t code = jx_bc_varint(r, c);

    switch (code) {
    case 1:
        return of_one(r, c, JX_T_COMPLEX, true);
    case 8:
        return function(r, c, true);
    case 20:
    case 21:
        return shaped(r, c, JX_T_TENSOR, true, code == 21);
    case 23:
        return of_items(r, c, JX_T_TUPLE, true);
    case 24:
        return quantized(r, c);
    case 25:
        return of_one(r, c, JX_T_UNRANKED, true);
    case 30:
        return quantized_per_axis(r, c);
    case 41:
        return shaped(r, c, JX_T_MEMREF, true, false);
    case 42:
        return of_items(r, c, JX_T_FUTURE, true);
    default:
        return simple(r, JX_BC_VHLO, code, at);
    }
}

static const jx_mlir_type *integer(jx_bc_reader *r, jx_bc_cursor *c)
{
    const uint8_t *at = c->at;
    uint64_t value = jx_bc_varint(r, c);

    if (!r->failed && ((value & 3) > 2 || !(value >> 2) ||
                       value >> 2 > (1 << 24) - 1))
        jx_bc_fail(r, at, "no integer type has the code %llu",
                   (unsigned long long)value);
    return add(r, &(jx_mlir_type){.kind = JX_T_INTEGER,
                                  .rank = -1,
                                  .sign = (jx_mlir_sign)(value & 3),
                                  .width = (unsigned)(value >> 2)});
}

static const jx_mlir_type *builtin_type(jx_bc_reader *r, jx_bc_cursor *c)
{
    const uint8_t *at = c->at;
    uint64_t code = jx_bc_varint(r, c);

    switch (code) {
    case 0:
        return integer(r, c);
    case 2:
        return function(r, c, false);
    case 9:
        return of_one(r, c, JX_T_COMPLEX, false);
    case 13:
    case 14:
        return shaped(r, c, JX_T_TENSOR, false, code == 14);
    case 15:
        return of_items(r, c, JX_T_TUPLE, false);
    case 18:
        return of_one(r, c, JX_T_UNRANKED, false);
    default:
        return simple(r, JX_BC_BUILTIN, code, at);
    }
}

const jx_mlir_type *jx_bc_read_type(jx_bc_reader *r, jx_bc_cursor *c,
                                    jx_bc_dialect_kind dialect)
{
    switch (dialect) {
    case JX_BC_VHLO:
        return vhlo_type(r, c);
    case JX_BC_BUILTIN:
        return builtin_type(r, c);
    default:
        jx_bc_fail(r, c->at, "this dialect's types are not known");
        return NULL;
    }
}
