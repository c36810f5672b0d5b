/* vhlo_values.c - types and attributes between VHLO and StableHLO. */
#include "frontend/mlir/vhlo_parts.h"

#include <string.h>

/* ---- types */

static const jx_mlir_type *convert_type(jx_vhlo *v, const jx_mlir_type *t)
{
    jx_mlir_type to = *t;
    const jx_mlir_type **items =
        JX_NEW_ARRAY(v->scratch, t->count, const jx_mlir_type *);

    to.vhlo = v->mode == JX_VHLO_DOWN;
    if (to.vhlo && !t->count && t->kind != JX_T_FUNCTION &&
        t->kind != JX_T_TUPLE && t->kind != JX_T_FUTURE &&
        jx_bc_simple_code(JX_BC_VHLO, t) < 0) {
        jx_vhlo_fail(v, "VHLO has no type for %s",
                     t->text ? t->text : "one of its types");
        return NULL;
    }
    for (int i = 0; items && i < t->count; i++) {
        items[i] = jx_vhlo_type(v, t->items[i]);
        if (!items[i])
            return NULL;
    }
    to.items = items;
    if (t->encoding) {
        to.encoding = jx_vhlo_attr(v, t->encoding);
        if (!to.encoding)
            return NULL;
    }
    return items || !t->count ? jx_mlir_type_add(v->types, &to) : NULL;
}

const jx_mlir_type *jx_vhlo_type(jx_vhlo *v, const jx_mlir_type *type)
{
    bool to_vhlo = v->mode == JX_VHLO_DOWN;
    const jx_mlir_type *to;

    if (v->mode >= JX_VHLO_VERSION || type->vhlo == to_vhlo ||
        type->kind == JX_T_OPAQUE)
        return type;
    to = jx_map_get(&v->type_map, type);
    if (to)
        return to;
    if (++v->depth > JX_BYTECODE_DEPTH) {
        jx_vhlo_fail(v, "types nest deeper than %d", JX_BYTECODE_DEPTH);
        return NULL;
    }
    to = convert_type(v, type);
    v->depth--;
    if (!to || !jx_map_put(&v->type_map, type, to))
        return NULL;
    return to;
}

/* ---- attributes */

static const char *other_name(jx_vhlo *v, const char *name)
{
    char text[80];
    size_t length = strlen(name);

    if (v->mode == JX_VHLO_DOWN) {
        if (strncmp(name, "stablehlo.", 10) != 0 || length > 60)
            return NULL;
        if (strcmp(name, "stablehlo.bounds") == 0)
            return jx_intern_text(v->ctx, "vhlo.type_extensions_v1");
        memcpy(text, "vhlo.", 5);
        memcpy(text + 5, name + 10, length - 10);
        memcpy(text + length - 5, "_v1", 4);
        return jx_intern_text(v->ctx, text);
    }
    if (strcmp(name, "vhlo.type_extensions_v1") == 0)
        return jx_intern_text(v->ctx, "stablehlo.bounds");
    if (strncmp(name, "vhlo.", 5) != 0 || length < 9 || length > 60)
        return NULL;
    memcpy(text, "stablehlo.", 10);
    memcpy(text + 10, name + 5, length - 5 - 3);
    text[length + 2] = '\0';
    return jx_intern_text(v->ctx, text);
}

static const jx_mlir_attr *converted_items(jx_vhlo *v, jx_mlir_attr *to)
{
    const jx_mlir_attr **items =
        JX_NEW_ARRAY(v->arena, to->count, const jx_mlir_attr *);

    for (int i = 0; items && i < to->count; i++) {
        items[i] = jx_vhlo_attr(v, to->items[i]);
        if (!items[i])
            return NULL;
    }
    to->items = items;
    return items ? to : NULL;
}

static const jx_mlir_attr *string_from(jx_vhlo *v, const char *text)
{
    jx_mlir_attr *to = JX_NEW(v->arena, jx_mlir_attr);

    if (to) {
        to->kind = JX_A_STRING;
        to->vhlo = v->mode == JX_VHLO_DOWN;
        to->bytes = text;
        to->size = strlen(text);
    }
    return to;
}

static const jx_mlir_attr *symbol_from(jx_vhlo *v, const jx_mlir_attr *string)
{
    jx_mlir_attr *to = JX_NEW(v->arena, jx_mlir_attr);
    const char *text = jx_mlir_text(v->ctx, string);

    if (!text) {
        jx_vhlo_fail(v, "a symbol's name is expected to be a string");
        return NULL;
    }
    if (to) {
        to->kind = JX_A_SYMBOL;
        to->text = text;
    }
    return to;
}

/* The mesh of replica groups is a symbol here, a string there. */
static const jx_mlir_attr *mesh_field(jx_vhlo *v, const jx_mlir_attr *value)
{
    if (v->mode == JX_VHLO_UP && value->kind == JX_A_STRING)
        return symbol_from(v, value);
    if (v->mode == JX_VHLO_DOWN && value->kind == JX_A_SYMBOL)
        return string_from(v, value->text);
    return jx_vhlo_attr(v, value);
}

static const jx_mlir_attr *record(jx_vhlo *v, jx_mlir_attr *to)
{
    const char *vhlo_name, *from = to->name, *at;
    const jx_mlir_attr **items =
        JX_NEW_ARRAY(v->arena, to->count, const jx_mlir_attr *);

    to->name = other_name(v, from);
    vhlo_name = v->mode == JX_VHLO_DOWN ? to->name : from;
    const jx_bc_record *row =
        to->name ? jx_bc_record_by_name(vhlo_name, 0) : NULL;
    if (!row || !items) {
        jx_vhlo_fail(v, "#%s has no counterpart", from);
        return NULL;
    }
    for (int i = 0; i < to->count; i++) {
        const char *name;
        size_t length;
        char kind = '\0', mark;
        at = row->fields;
        while ((at = jx_mlir_next_field(at, &name, &length, &kind, &mark)))
            if (jx_mlir_is_name(to->names[i], name, length))
                break;
        bool plain = !at || strchr("LIFB", kind);
        items[i] = strcmp(to->names[i], "mesh") == 0
                       ? mesh_field(v, to->items[i])
                   : plain ? to->items[i]
                           : jx_vhlo_attr(v, to->items[i]);
        if (!items[i])
            return NULL;
    }
    to->items = items;
    return to;
}

static const jx_mlir_attr *enumeration(jx_vhlo *v, jx_mlir_attr *to)
{
    const char *from = to->name;
    const jx_bc_enum *e;

    to->name = other_name(v, from);
    e = to->name ? jx_bc_enum_by_name(v->mode == JX_VHLO_DOWN ? to->name : from)
                 : NULL;
    if (!e || !e->stablehlo || jx_bc_enum_number(e, to->text) < 0) {
        jx_vhlo_fail(v, "#%s<%s> has no counterpart", from, to->text);
        return NULL;
    }
    return to;
}

/* array<i64: ...> and array<i1: ...> become tensors. */
static const jx_mlir_attr *tensor_of_list(jx_vhlo *v, const jx_mlir_attr *from)
{
    size_t element = from->type ? jx_mlir_element_size(from->type) : 0;
    size_t n = (size_t)from->count;
    bool fits = from->type && from->type->kind == JX_T_INTEGER &&
                from->type->sign == JX_SIGNLESS &&
                (from->type->width == 64 || from->type->width == 1) &&
                (from->integers || !n);
    jx_mlir_attr *to = JX_NEW(v->arena, jx_mlir_attr);
    uint8_t *bytes = jx_arena_alloc(v->arena, n * (element ? element : 1));
    bool splat = n > 1;
    int64_t shape = from->count;

    if (!fits) {
        jx_vhlo_fail(v, "an array of a type that VHLO has no tensor for");
        return NULL;
    }
    if (!to || !bytes)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        memcpy(bytes + i * element, &from->integers[i], element);
        splat &= from->integers[i] == from->integers[0];
    }
    const jx_mlir_type *type = jx_mlir_tensor(v->types, 1, &shape, from->type);
    to->kind = JX_A_DENSE;
    to->vhlo = true;
    to->type = type ? jx_vhlo_type(v, type) : NULL;
    to->bytes = bytes;
    to->splat = splat;
    to->size = splat ? element : n * element;
    return to->type ? to : NULL;
}

static const jx_mlir_attr *with_type(jx_vhlo *v, jx_mlir_attr *to)
{
    if (to->type)
        to->type = jx_vhlo_type(v, to->type);
    return to->type ? to : NULL;
}

static const jx_mlir_attr *convert_attr(jx_vhlo *v, const jx_mlir_attr *from)
{
    jx_mlir_attr *to;

    if (from->kind == JX_A_DENSE_ARRAY)
        return tensor_of_list(v, from);
    if (from->kind == JX_A_SYMBOL && v->mode == JX_VHLO_DOWN && !from->count)
        return string_from(v, from->text);
    to = jx_arena_copy(v->arena, from, sizeof *from);
    if (!to)
        return NULL;
    to->vhlo = v->mode == JX_VHLO_DOWN;
    switch (from->kind) {
    case JX_A_BOOL: return to;
    case JX_A_STRING:
        if (!from->type)
            return to;
        jx_vhlo_fail(v, "VHLO has no strings of a type");
        return NULL;
    case JX_A_INTEGER:
    case JX_A_FLOAT:
    case JX_A_TYPE:
    case JX_A_DENSE: return with_type(v, to);
    case JX_A_ARRAY:
    case JX_A_DICT: return converted_items(v, to);
    case JX_A_ENUM: return enumeration(v, to);
    case JX_A_RECORD: return record(v, to);
    default: to->vhlo = from->vhlo; return to;
    }
}

/* Attributes of other dialects stay: sdy's, and builtin's units. */
static bool stays(const jx_vhlo *v, const jx_mlir_attr *a)
{
    if (v->mode >= JX_VHLO_VERSION)
        return true;
    if (v->mode == JX_VHLO_UP)
        return !a->vhlo;
    if (a->vhlo)
        return true;
    return (a->kind == JX_A_RECORD || a->kind == JX_A_ENUM) &&
           strncmp(a->name, "stablehlo.", 10) != 0;
}

const jx_mlir_attr *jx_vhlo_attr(jx_vhlo *v, const jx_mlir_attr *attr)
{
    const jx_mlir_attr *to;

    if (stays(v, attr))
        return attr;
    to = jx_map_get(&v->attr_map, attr);
    if (to)
        return to;
    if (++v->depth > JX_BYTECODE_DEPTH) {
        jx_vhlo_fail(v, "attributes nest deeper than %d", JX_BYTECODE_DEPTH);
        return NULL;
    }
    to = convert_attr(v, attr);
    v->depth--;
    if (!to || !jx_map_put(&v->attr_map, attr, to))
        return NULL;
    return to;
}
