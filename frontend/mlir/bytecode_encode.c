/* bytecode_encode.c - attributes and types as bytecode has them, for the
 * writer: the counterpart of bytecode_attrs.c and bytecode_types.c. */
#include "frontend/mlir/bytecode_write_parts.h"

#include <string.h>

/* ---- what goes into a sink */

static void put(jx_bw_sink *s, uint64_t value)
{
    if (s->to)
        jx_bw_varint(s->to, value);
}

static void put_signed(jx_bw_sink *s, int64_t value)
{
    if (s->to)
        jx_bw_signed(s->to, value);
}

static void put_byte(jx_bw_sink *s, uint8_t value)
{
    if (s->to)
        jx_buffer_putc(s->to, (char)value);
}

static void put_blob(jx_bw_sink *s, const void *bytes, size_t size)
{
    put(s, size);
    if (s->to && size)
        jx_buffer_bytes(s->to, bytes, size);
}

static void put_string(jx_bw_sink *s, const void *bytes, size_t size)
{
    if (s->mode == JX_BW_KEY)
        put_blob(s, bytes, size);
    else if (s->mode == JX_BW_WRITE)
        put(s, jx_bw_keep(s->w, &s->w->strings, bytes, size));
}

static void put_attr(jx_bw_sink *s, const jx_mlir_attr *attr)
{
    put(s, s->parts->attr(s->w, attr));
}

static void put_attr_or_none(jx_bw_sink *s, const jx_mlir_attr *attr)
{
    uint64_t value = attr ? s->parts->attr(s->w, attr) : 0;

    if (s->to)
        jx_bw_flagged(s->to, value, attr != NULL);
}

static void put_type(jx_bw_sink *s, const jx_mlir_type *type)
{
    put(s, s->parts->type(s->w, type));
}

static void put_attrs(jx_bw_sink *s, const jx_mlir_attr *const *items,
                      int count)
{
    put(s, (uint64_t)count);
    for (int i = 0; i < count; i++)
        put_attr(s, items[i]);
}

static void put_integers(jx_bw_sink *s, const int64_t *list, int count)
{
    put(s, (uint64_t)count);
    for (int i = 0; i < count; i++)
        put_signed(s, list[i]);
}

static void put_text(jx_bw_sink *s, const char *text, bool vhlo)
{
    const jx_mlir_attr *string = jx_bw_text(s->w, text, vhlo);

    if (string)
        put_attr(s, string);
}

/* ---- numbers of a known width */

static void put_bits(jx_bw_sink *s, const void *bytes, size_t size,
                     unsigned width)
{
    uint64_t words[16] = {0};
    size_t count;

    if (size > sizeof words) {
        jx_bw_fail(s->w, "an integer of %u bits", width);
        return;
    }
    if (size)
        memcpy(words, bytes, size);
    if (width < 64)
        words[0] &= (UINT64_C(1) << width) - 1;
    if (width <= 8) {
        put_byte(s, (uint8_t)words[0]);
    } else if (width <= 64) {
        put_signed(s, (int64_t)words[0]);
    } else {
        for (count = ((size_t)width + 63) / 64; count > 1; count--)
            if (words[count - 1])
                break;
        put(s, count);
        for (size_t i = 0; i < count; i++)
            put_signed(s, (int64_t)words[i]);
    }
}

static void integer(jx_bw_sink *s, const jx_mlir_attr *a)
{
    int64_t value = a->kind == JX_A_BOOL ? a->boolean : a->integer;
    const jx_mlir_type *type =
        a->type ? a->type : jx_mlir_integer(s->w->file->types, JX_SIGNLESS, 1);
    unsigned width = type && type->kind == JX_T_INTEGER ? type->width : 64;

    if (!type)
        return;
    put_type(s, type);
    if (a->bytes)
        put_bits(s, a->bytes, a->size, width);
    else
        put_bits(s, &value, sizeof value, width);
}

static void float_value(jx_bw_sink *s, const jx_mlir_attr *a)
{
    put_bits(s, a->bytes, a->size, jx_bc_float_bits(a->type));
}

/* ---- dense */

/* i1 is packed, eight to a byte; all equal is one byte, 0xFF for true. */
static void put_bools(jx_bw_sink *s, const jx_mlir_attr *a)
{
    const uint8_t *from = a->bytes;
    size_t size = (a->size + 7) / 8;
    uint8_t *packed, one;

    if (a->splat) {
        one = from[0] ? 0xFF : 0x00;
        put_blob(s, &one, 1);
        return;
    }
    packed = jx_arena_alloc(s->w->arena, size);
    for (size_t i = 0; packed && i < a->size; i++)
        if (from[i])
            packed[i / 8] |= (uint8_t)(1 << (i % 8));
    if (packed)
        put_blob(s, packed, size);
}

static void dense(jx_bw_sink *s, const jx_mlir_attr *a)
{
    const jx_mlir_type *element = a->type->items[0];

    put_type(s, a->type);
    if (!s->to)
        return;
    if (element->kind == JX_T_INTEGER && element->width == 1)
        put_bools(s, a);
    else
        put_blob(s, a->bytes, a->size);
}

static void dense_array(jx_bw_sink *s, const jx_mlir_attr *a)
{
    size_t element = jx_mlir_element_size(a->type), n = (size_t)a->count;

    put_type(s, a->type);
    put(s, n);
    if (!s->to)
        return;
    if (!a->integers) {
        put_blob(s, a->bytes, a->size);
        return;
    }
    put(s, n * element);
    for (size_t i = 0; i < n; i++)
        jx_buffer_bytes(s->to, &a->integers[i], element);
}

static void strings(jx_bw_sink *s, const jx_mlir_attr *a)
{
    put_type(s, a->type);
    put(s, a->splat);
    for (int i = 0; i < a->count; i++)
        put_string(s, a->items[i]->bytes, a->items[i]->size);
}

static void resource(jx_bw_sink *s, const jx_mlir_attr *a)
{
    jx_bw *w = s->w;
    size_t i = 0;

    put_type(s, a->type);
    if (s->mode == JX_BW_KEY) {
        put_string(s, a->text, strlen(a->text));
        return;
    }
    while (i < w->resources.count && w->resources.at[i]->text != a->text)
        i++;
    if (i == w->resources.count)
        JX_PUSH(w->arena, &w->resources, a);
    put(s, i);
}

/* ---- locations */

/* As few numbers as say it; a line and a column have a code of their own. */
static void file_location(jx_bw_sink *s, const jx_mlir_attr *a)
{
    const int64_t *n = a->integers;
    int count = a->count == 4 && n[0] == n[2] ? 3 : a->count;

    put(s, count == 2 ? 11 : 22);
    put_text(s, a->text, false);
    if (count != 2)
        put(s, (uint64_t)count);
    for (int i = 0; i < count; i++)
        put(s, (uint64_t)n[count == 3 && i == 2 ? 3 : i]);
    if (s->mode == JX_BW_KEY)
        put(s, (uint64_t)a->again);
}

static void location(jx_bw_sink *s, const jx_mlir_attr *a)
{
    const jx_mlir_attr *child;

    switch (a->kind) {
    case JX_A_LOC_FILE: file_location(s, a); return;
    case JX_A_LOC_NAME:
        put(s, 14);
        put_text(s, a->text, false);
        child = a->count ? a->items[0] : jx_bw_unknown(s->w);
        if (child)
            put_attr(s, child);
        return;
    case JX_A_LOC_CALL:
        put(s, 10);
        put_attr(s, a->items[0]);
        put_attr(s, a->items[1]);
        return;
    case JX_A_LOC_FUSED:
        put(s, a->extra ? 13 : 12);
        put_attrs(s, a->items, a->count);
        if (a->extra)
            put_attr(s, a->extra);
        return;
    default: put(s, 15); return;
    }
}

/* ---- records */

static bool has_field(const char *fields, const char *wanted)
{
    const char *name;
    size_t length;
    char kind, mark;

    while ((fields = jx_mlir_next_field(fields, &name, &length, &kind, &mark)))
        if (jx_mlir_is_name(wanted, name, length))
            return true;
    return false;
}

static bool says(const jx_bc_record *row, const jx_mlir_attr *a)
{
    for (int i = 0; i < a->count; i++)
        if (!has_field(row->fields, a->names[i]))
            return false;
    return true;
}

static bool any_unreduced(const jx_mlir_attr *a)
{
    const jx_mlir_attr *list = jx_mlir_field(a, "shardings");

    for (int i = 0; list && i < list->count; i++)
        if (jx_mlir_field(list->items[i], "unreduced_axes"))
            return true;
    return false;
}

/* The first row of the record's name that has all of its fields. */
static const jx_bc_record *row_of(const jx_mlir_attr *a)
{
    jx_bc_dialect_kind dialect = a->vhlo ? JX_BC_VHLO : JX_BC_SDY;
    const jx_bc_record *row;

    if (strcmp(a->name, "sdy.sharding_per_value") == 0)
        return jx_bc_record_by_code(dialect, any_unreduced(a) ? 16 : 7);
    for (unsigned code = 0; code < 32; code++) {
        row = jx_bc_record_by_code(dialect, code);
        if (row && strcmp(row->name, a->name) == 0 && says(row, a))
            return row;
    }
    return NULL;
}

static void field(jx_bw_sink *s, const jx_mlir_attr *a, char kind)
{
    switch (kind) {
    case 'L': put_integers(s, a ? a->integers : NULL, a ? a->count : 0); return;
    case 'R': put_attrs(s, a ? a->items : NULL, a ? a->count : 0); return;
    case 'I': put_signed(s, a ? a->integer : 0); return;
    case 'B': put_byte(s, a && a->boolean); return;
    case 'F':
        if (a)
            float_value(s, a);
        return;
    case 'S': put_string(s, a ? a->bytes : "", a ? a->size : 0); return;
    case 'E':
        put_signed(s, a ? jx_mlir_enum_number(a->name, a->text) : 0);
        return;
    case 'P':
        if (s->to)
            jx_bw_flagged(s->to, a ? (uint64_t)a->integer : 0, a != NULL);
        return;
    case 'o': put_attr_or_none(s, a); return;
    case 'O':
        put(s, a != NULL);
        if (a)
            put_attr(s, a);
        return;
    default:
        if (a)
            put_attr(s, a);
        else
            jx_bw_fail(s->w, "a record lacks a field");
        return;
    }
}

static void record(jx_bw_sink *s, const jx_mlir_attr *a)
{
    const jx_bc_record *row = row_of(a);
    const char *at, *name;
    size_t length;
    char kind, mark;

    if (!row) {
        jx_bw_fail(s->w, "bytecode has no code for #%s", a->name);
        return;
    }
    put(s, row->code);
    at = row->fields;
    while ((at = jx_mlir_next_field(at, &name, &length, &kind, &mark))) {
        const jx_mlir_attr *value = NULL;
        for (int i = 0; i < a->count; i++)
            if (jx_mlir_is_name(a->names[i], name, length))
                value = a->items[i];
        field(s, value, kind);
    }
}

static void enumeration(jx_bw_sink *s, const jx_mlir_attr *a)
{
    const jx_bc_enum *e = jx_bc_enum_by_name(a->name);
    int number = e ? jx_bc_enum_number(e, a->text) : -1;

    if (number < 0) {
        jx_bw_fail(s->w, "bytecode has no code for #%s<%s>", a->name, a->text);
        return;
    }
    put(s, e->code);
    put(s, (uint64_t)number);
}

/* ---- the dialects */

static void dictionary(jx_bw_sink *s, const jx_mlir_attr *a)
{
    put(s, (uint64_t)a->count);
    for (int i = 0; i < a->count; i++) {
        put_text(s, a->names[i], a->vhlo);
        put_attr(s, a->items[i]);
    }
}

static void symbol(jx_bw_sink *s, const jx_mlir_attr *a)
{
    put(s, a->count ? 5 : 4);
    put_text(s, a->text, false);
    if (a->count)
        put_attrs(s, a->items, a->count);
}

static void vhlo_attr(jx_bw_sink *s, const jx_mlir_attr *a)
{
    switch (a->kind) {
    case JX_A_ARRAY:
        put(s, 1);
        put_attrs(s, a->items, a->count);
        return;
    case JX_A_BOOL:
        put(s, 2);
        put(s, a->boolean);
        return;
    case JX_A_DICT:
        put(s, 6);
        dictionary(s, a);
        return;
    case JX_A_FLOAT:
        put(s, 8);
        put_type(s, a->type);
        float_value(s, a);
        return;
    case JX_A_INTEGER:
        put(s, 9);
        integer(s, a);
        return;
    case JX_A_STRING:
        put(s, 14);
        put_string(s, a->bytes, a->size);
        return;
    case JX_A_DENSE:
        put(s, 15);
        dense(s, a);
        return;
    case JX_A_TYPE:
        put(s, 17);
        put_type(s, a->type);
        return;
    case JX_A_ENUM: enumeration(s, a); return;
    case JX_A_RECORD: record(s, a); return;
    default: jx_bw_fail(s->w, "an attribute that VHLO does not have"); return;
    }
}

static void builtin_string(jx_bw_sink *s, const jx_mlir_attr *a)
{
    put(s, a->type ? 3 : 2);
    put_string(s, a->bytes, a->size);
    if (a->type)
        put_type(s, a->type);
}

static void builtin_elements(jx_bw_sink *s, const jx_mlir_attr *a)
{
    switch (a->kind) {
    case JX_A_RESOURCE:
        put(s, 16);
        resource(s, a);
        return;
    case JX_A_DENSE_ARRAY:
        put(s, 17);
        dense_array(s, a);
        return;
    case JX_A_DENSE:
        put(s, 18);
        dense(s, a);
        return;
    default:
        put(s, 19);
        strings(s, a);
        return;
    }
}

static void builtin_attr(jx_bw_sink *s, const jx_mlir_attr *a)
{
    switch (a->kind) {
    case JX_A_ARRAY:
        put(s, 0);
        put_attrs(s, a->items, a->count);
        return;
    case JX_A_DICT:
        put(s, 1);
        dictionary(s, a);
        return;
    case JX_A_STRING: builtin_string(s, a); return;
    case JX_A_SYMBOL: symbol(s, a); return;
    case JX_A_TYPE:
        put(s, 6);
        put_type(s, a->type);
        return;
    case JX_A_UNIT: put(s, 7); return;
    case JX_A_BOOL:
    case JX_A_INTEGER:
        put(s, 8);
        integer(s, a);
        return;
    case JX_A_FLOAT:
        put(s, 9);
        put_type(s, a->type);
        float_value(s, a);
        return;
    case JX_A_RESOURCE:
    case JX_A_DENSE_ARRAY:
    case JX_A_DENSE:
    case JX_A_DENSE_STRINGS: builtin_elements(s, a); return;
    default: location(s, a); return;
    }
}

bool jx_bw_encode_attr(jx_bw_sink *s, const jx_mlir_attr *a)
{
    if (a->kind == JX_A_OPAQUE) {
        if (s->to)
            jx_buffer_bytes(s->to, a->text, strlen(a->text) + 1);
        return false;
    }
    if (a->vhlo)
        vhlo_attr(s, a);
    else if (a->kind == JX_A_RECORD)
        record(s, a);
    else if (a->kind == JX_A_ENUM || a->kind == JX_A_LOC_ALIAS)
        jx_bw_fail(s->w, "bytecode has no code for #%s",
                   a->name ? a->name : "loc");
    else
        builtin_attr(s, a);
    return true;
}

/* ---- types */

static void put_types(jx_bw_sink *s, const jx_mlir_type *const *items,
                      int count)
{
    put(s, (uint64_t)count);
    for (int i = 0; i < count; i++)
        put_type(s, items[i]);
}

static void put_real(jx_bw_sink *s, double value)
{
    put_bits(s, &value, sizeof value, 64);
}

static void quantized(jx_bw_sink *s, const jx_mlir_type *t)
{
    const jx_mlir_quant *q = t->quant;

    put(s, q->axis < 0 ? 24 : 30);
    put(s, q->flags);
    put_type(s, t->items[0]);
    put_type(s, t->items[1]);
    if (q->axis < 0) {
        put_real(s, q->scales[0]);
        put_signed(s, q->zeros[0]);
    } else {
        put(s, (uint64_t)q->axis);
    }
    put_signed(s, q->min);
    put_signed(s, q->max);
    if (q->axis < 0)
        return;
    put(s, (uint64_t)q->count);
    for (int i = 0; i < q->count; i++)
        put_real(s, q->scales[i]);
    put_integers(s, q->zeros, q->count);
}

static void shaped(jx_bw_sink *s, const jx_mlir_type *t, unsigned code)
{
    put(s, t->encoding ? code + 1 : code);
    if (t->encoding)
        put_attr(s, t->encoding);
    put_integers(s, t->shape, t->rank);
    put_type(s, t->items[0]);
}

/* The code of a type with parts, in VHLO and in builtin; 99: it has none. */
static unsigned code_of(const jx_mlir_type *t)
{
    switch (t->kind) {
    case JX_T_COMPLEX: return t->vhlo ? 1 : 9;
    case JX_T_FUNCTION: return t->vhlo ? 8 : 2;
    case JX_T_TENSOR: return t->vhlo ? 20 : 13;
    case JX_T_TUPLE: return t->vhlo ? 23 : 15;
    case JX_T_UNRANKED: return t->vhlo ? 25 : 18;
    case JX_T_MEMREF: return t->vhlo ? 41 : 99;
    case JX_T_FUTURE: return t->vhlo ? 42 : 99;
    case JX_T_QUANTIZED: return t->vhlo ? 24 : 99;
    case JX_T_INTEGER: return t->vhlo ? 99 : 0;
    default: return 99;
    }
}

static void simple(jx_bw_sink *s, const jx_mlir_type *t)
{
    int code = t->kind == JX_T_TOKEN && !t->vhlo
                   ? 0
                   : jx_bc_simple_code(t->vhlo ? JX_BC_VHLO : JX_BC_BUILTIN, t);

    if (code >= 0)
        put(s, (uint64_t)code);
    else
        jx_bw_fail(s->w, "bytecode has no code for the type %s",
                   t->text ? t->text : "of a value");
}

bool jx_bw_encode_type(jx_bw_sink *s, const jx_mlir_type *t)
{
    unsigned code = code_of(t);

    if (t->kind == JX_T_OPAQUE) {
        if (s->to)
            jx_buffer_bytes(s->to, t->text, strlen(t->text) + 1);
        return false;
    }
    if (code == 99) {
        simple(s, t);
    } else if (t->kind == JX_T_INTEGER) {
        put(s, 0);
        put(s, (uint64_t)t->width << 2 | (uint64_t)t->sign);
    } else if (t->kind == JX_T_FUNCTION) {
        put(s, code);
        put_types(s, t->items, t->inputs);
        put_types(s, t->items + t->inputs, t->count - t->inputs);
    } else if (t->kind == JX_T_TENSOR || t->kind == JX_T_MEMREF) {
        shaped(s, t, code);
    } else if (t->kind == JX_T_QUANTIZED) {
        quantized(s, t);
    } else {
        put(s, code);
        if (t->kind == JX_T_TUPLE || t->kind == JX_T_FUTURE)
            put_types(s, t->items, t->count);
        else
            put_type(s, t->items[0]);
    }
    return true;
}

/* ---- ops */

bool jx_bw_has_props(const jx_bw *w, const jx_mlir_op *op)
{
    const char *attrs = jx_mlir_op_attrs(op->name);

    return w->version >= JX_BC_HAS_PROPERTIES && attrs && *attrs;
}

bool jx_bw_encode_props(jx_bw_sink *s, const jx_mlir_op *op)
{
    const char *at = jx_mlir_op_attrs(op->name), *name;
    size_t length;
    char mark;

    while ((at = jx_mlir_next_name(at, &name, &length, &mark))) {
        const jx_mlir_attr *value = NULL;
        for (int i = 0; i < op->ninherent; i++)
            if (jx_mlir_is_name(op->inherent[i].name, name, length))
                value = op->inherent[i].value;
        if (mark)
            put_attr_or_none(s, value);
        else if (value)
            put_attr(s, value);
        else
            return jx_bw_fail(s->w, "%s lacks the attribute %.*s", op->name,
                              (int)length, name);
    }
    return true;
}
