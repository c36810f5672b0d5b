/* bytecode_types.c - types of bytecode: builtin's and VHLO's. */
#include "frontend/mlir/bytecode_parts.h"

#include <string.h>

/* ---- types that are one number */

/* Their codes in VHLO and in builtin, -1 where a dialect has none; kind, sign
 * and width, or a float's name. */
static const struct simple_type {
    int vhlo, builtin;
    jx_mlir_type_kind kind;
    jx_mlir_sign sign;
    unsigned width;
    const char *text;
} simple_types[] = {
    {0, -1, JX_T_INTEGER, JX_SIGNLESS, 1, NULL},
    {2, 3, JX_T_FLOAT, JX_SIGNLESS, 0, "bf16"},
    {3, 4, JX_T_FLOAT, JX_SIGNLESS, 0, "f16"},
    {4, 5, JX_T_FLOAT, JX_SIGNLESS, 0, "f32"},
    {5, 6, JX_T_FLOAT, JX_SIGNLESS, 0, "f64"},
    {-1, 7, JX_T_FLOAT, JX_SIGNLESS, 0, "f80"},
    {-1, 8, JX_T_FLOAT, JX_SIGNLESS, 0, "f128"},
    {6, 24, JX_T_FLOAT, JX_SIGNLESS, 0, "f8E4M3FN"},
    {7, 22, JX_T_FLOAT, JX_SIGNLESS, 0, "f8E5M2"},
    {9, 1, JX_T_INDEX, JX_SIGNLESS, 0, NULL},
    {10, -1, JX_T_INTEGER, JX_SIGNLESS, 4, NULL},
    {11, -1, JX_T_INTEGER, JX_SIGNLESS, 8, NULL},
    {12, -1, JX_T_INTEGER, JX_SIGNLESS, 16, NULL},
    {13, -1, JX_T_INTEGER, JX_SIGNLESS, 32, NULL},
    {14, -1, JX_T_INTEGER, JX_SIGNLESS, 64, NULL},
    {15, -1, JX_T_INTEGER, JX_UNSIGNED, 4, NULL},
    {16, -1, JX_T_INTEGER, JX_UNSIGNED, 8, NULL},
    {17, -1, JX_T_INTEGER, JX_UNSIGNED, 16, NULL},
    {18, -1, JX_T_INTEGER, JX_UNSIGNED, 32, NULL},
    {19, -1, JX_T_INTEGER, JX_UNSIGNED, 64, NULL},
    {22, -1, JX_T_TOKEN, JX_SIGNLESS, 0, NULL},
    {26, -1, JX_T_WITNESS, JX_SIGNLESS, 0, NULL},
    {27, 26, JX_T_FLOAT, JX_SIGNLESS, 0, "f8E4M3FNUZ"},
    {28, 25, JX_T_FLOAT, JX_SIGNLESS, 0, "f8E5M2FNUZ"},
    {29, 27, JX_T_FLOAT, JX_SIGNLESS, 0, "f8E4M3B11FNUZ"},
    {31, -1, JX_T_INTEGER, JX_SIGNLESS, 2, NULL},
    {32, -1, JX_T_INTEGER, JX_UNSIGNED, 2, NULL},
    {33, 12, JX_T_NONE, JX_SIGNLESS, 0, NULL},
    {34, 21, JX_T_FLOAT, JX_SIGNLESS, 0, "tf32"},
    {35, 23, JX_T_FLOAT, JX_SIGNLESS, 0, "f8E4M3"},
    {36, 28, JX_T_FLOAT, JX_SIGNLESS, 0, "f8E3M4"},
    {37, 29, JX_T_FLOAT, JX_SIGNLESS, 0, "f4E2M1FN"},
    {38, 30, JX_T_FLOAT, JX_SIGNLESS, 0, "f6E2M3FN"},
    {39, 31, JX_T_FLOAT, JX_SIGNLESS, 0, "f6E3M2FN"},
    {40, 32, JX_T_FLOAT, JX_SIGNLESS, 0, "f8E8M0FNU"},
};

enum { NSIMPLE = sizeof simple_types / sizeof *simple_types };

static bool same_simple(const struct simple_type *row, const jx_mlir_type *type)
{
    return row->kind == type->kind && row->sign == type->sign &&
           row->width == type->width &&
           (row->text ? type->text && !strcmp(row->text, type->text)
                      : !type->text);
}

int jx_bc_simple_code(jx_bc_dialect_kind dialect, const jx_mlir_type *type)
{
    for (size_t i = 0; i < NSIMPLE; i++)
        if (same_simple(&simple_types[i], type))
            return dialect == JX_BC_VHLO ? simple_types[i].vhlo
                                         : simple_types[i].builtin;
    return -1;
}

/* ---- sizes */

unsigned jx_bc_float_bits(const jx_mlir_type *type)
{
    return jx_mlir_float_bits(type->text, strlen(type->text));
}

size_t jx_mlir_element_size(const jx_mlir_type *element)
{
    switch (element->kind) {
    case JX_T_INTEGER: return (element->width + 7) / 8;
    case JX_T_INDEX: return 8;
    case JX_T_FLOAT: return (jx_bc_float_bits(element) + 7) / 8;
    case JX_T_COMPLEX: return 2 * jx_mlir_element_size(element->items[0]);
    case JX_T_QUANTIZED: return jx_mlir_element_size(element->items[0]);
    default: return 0;
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

static const jx_mlir_type *function(jx_bc_reader *r, jx_bc_cursor *c, bool vhlo)
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
            jx_bc_fail(r, at, "size %lld of axis %zu", (long long)shape[i], i);
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

static const jx_mlir_type *quantized_per_axis(jx_bc_reader *r, jx_bc_cursor *c)
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

static const jx_mlir_type *simple(jx_bc_reader *r, jx_bc_dialect_kind dialect,
                                  uint64_t code, const uint8_t *at)
{
    const struct simple_type *s = simple_types;
    const struct simple_type *end = s + NSIMPLE;
    bool vhlo = dialect == JX_BC_VHLO;

    for (; s < end; s++) {
        int own = vhlo ? s->vhlo : s->builtin;
        if (own >= 0 && (uint64_t)own == code)
            return add(r, &(jx_mlir_type){
                              .kind = s->kind,
                              .vhlo = vhlo,
                              .sign = s->sign,
                              .width = s->width,
                              .rank = -1,
                              .text = s->text ? jx_intern_text(r->ctx, s->text)
                                              : NULL});
    }
    jx_bc_fail(r, at, "type code %llu is not known", (unsigned long long)code);
    return NULL;
}

static const jx_mlir_type *vhlo_type(jx_bc_reader *r, jx_bc_cursor *c)
{
    const uint8_t *at = c->at;
    uint64_t code = jx_bc_varint(r, c);

    switch (code) {
    case 1: return of_one(r, c, JX_T_COMPLEX, true);
    case 8: return function(r, c, true);
    case 20:
    case 21: return shaped(r, c, JX_T_TENSOR, true, code == 21);
    case 23: return of_items(r, c, JX_T_TUPLE, true);
    case 24: return quantized(r, c);
    case 25: return of_one(r, c, JX_T_UNRANKED, true);
    case 30: return quantized_per_axis(r, c);
    case 41: return shaped(r, c, JX_T_MEMREF, true, false);
    case 42: return of_items(r, c, JX_T_FUTURE, true);
    default: return simple(r, JX_BC_VHLO, code, at);
    }
}

static const jx_mlir_type *integer(jx_bc_reader *r, jx_bc_cursor *c)
{
    const uint8_t *at = c->at;
    uint64_t value = jx_bc_varint(r, c);

    if (!r->failed &&
        ((value & 3) > 2 || !(value >> 2) || value >> 2 > (1 << 24) - 1))
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
    case 0: return integer(r, c);
    case 2: return function(r, c, false);
    case 9: return of_one(r, c, JX_T_COMPLEX, false);
    case 13:
    case 14: return shaped(r, c, JX_T_TENSOR, false, code == 14);
    case 15: return of_items(r, c, JX_T_TUPLE, false);
    case 18: return of_one(r, c, JX_T_UNRANKED, false);
    default: return simple(r, JX_BC_BUILTIN, code, at);
    }
}

/* The token alone: what else the dialect has is of quantized types. */
static const jx_mlir_type *stablehlo_type(jx_bc_reader *r, jx_bc_cursor *c)
{
    const uint8_t *at = c->at;
    uint64_t code = jx_bc_varint(r, c);

    if (code)
        jx_bc_fail(r, at, "type code %llu is not known",
                   (unsigned long long)code);
    return code ? NULL
                : add(r, &(jx_mlir_type){.kind = JX_T_TOKEN, .rank = -1});
}

const jx_mlir_type *jx_bc_read_type(jx_bc_reader *r, jx_bc_cursor *c,
                                    jx_bc_dialect_kind dialect)
{
    switch (dialect) {
    case JX_BC_VHLO: return vhlo_type(r, c);
    case JX_BC_BUILTIN: return builtin_type(r, c);
    case JX_BC_STABLEHLO: return stablehlo_type(r, c);
    default:
        jx_bc_fail(r, c->at, "this dialect's types are not known");
        return NULL;
    }
}
