/* vhlo_attrs.c - the inherent attributes of ops between VHLO and StableHLO,
 * by the table vhlo_map.def. */
#include "frontend/mlir/vhlo_parts.h"

#include <string.h>

typedef enum form {
    form_same = 0,
    form_list,
    form_bools,
    form_channel,
    form_unit,
    form_symbol,
    form_symbols,
    form_number,
} form;

typedef enum absent {
    absent_none = 0,
    absent_no,
    absent_zero,
    absent_minus_one,
    absent_text,
    absent_array,
    absent_dict,
    absent_text_or_dict,
    absent_empty,
    absent_untyped,
    absent_accuracy,
    absent_notype,
    absent_original,
    absent_precision,
    absent_ones,
    absent_falses,
    absent_zeros,
} absent;

typedef struct fields_row {
    const char *op, *attr, *record;
} fields_row;

typedef struct attr_row {
    const char *op, *attr;
    form form;
    absent absent;
} attr_row;

static const fields_row fields_rows[] = {
#define FIELDS(op, attr, record) {op, attr, record},
#define ATTR(op, attr, form, absent)
#include "frontend/mlir/vhlo_map.def"
#undef ATTR
#undef FIELDS
};

static const attr_row attr_rows[] = {
#define FIELDS(op, attr, record)
#define ATTR(op, attr, form, absent) {op, attr, form_##form, absent_##absent},
#include "frontend/mlir/vhlo_map.def"
#undef ATTR
#undef FIELDS
};

enum {
    NFIELDS = sizeof fields_rows / sizeof *fields_rows,
    NATTRS = sizeof attr_rows / sizeof *attr_rows
};

static const attr_row *row_of(const char *op, const char *attr)
{
    for (size_t i = 0; i < NATTRS; i++)
        if (jx_vhlo_is(attr_rows[i].op, op) &&
            strcmp(attr_rows[i].attr, attr) == 0)
            return &attr_rows[i];
    return NULL;
}

/* What the op has so far by that name. */
static const jx_mlir_attr *find(const jx_vhlo_attrs *in, const char *name)
{
    return jx_mlir_named_value(in->at, (int)in->count, name);
}

static jx_mlir_attr *make(jx_vhlo *v, jx_mlir_attr_kind kind, bool vhlo)
{
    jx_mlir_attr *a = JX_NEW(v->arena, jx_mlir_attr);

    if (a) {
        a->kind = kind;
        a->vhlo = vhlo;
    }
    return a;
}

static bool push(jx_vhlo *v, jx_vhlo_attrs *to, const char *name,
                 const jx_mlir_attr *value)
{
    const char *kept = jx_intern_text(v->ctx, name);

    if (!value || !kept)
        return false;
    JX_PUSH(v->arena, to, (jx_mlir_named){kept, value});
    return !jx_arena_failed(v->arena);
}

/* ---- numbers and tensors of VHLO */

static bool is_tensor(const jx_mlir_attr *a, size_t element)
{
    return a->kind == JX_A_DENSE && a->type->kind == JX_T_TENSOR &&
           jx_mlir_element_size(a->type->items[0]) == element &&
           a->type->items[0]->kind == JX_T_INTEGER;
}

static uint64_t elements(const jx_mlir_attr *a)
{
    uint64_t count = 0;

    return jx_mlir_elements(a->type, &count) ? count : 0;
}

/* The elements of a tensor of i64 or i1 as array<...>. */
static const jx_mlir_attr *list_of(jx_vhlo *v, const jx_mlir_attr *a,
                                   unsigned width)
{
    size_t element = (width + 7) / 8, step;
    uint64_t count;
    jx_mlir_attr *to = make(v, JX_A_DENSE_ARRAY, false);

    if (!is_tensor(a, element) || a->type->items[0]->width != width) {
        jx_vhlo_fail(v, "a tensor of i%u is expected", width);
        return NULL;
    }
    count = elements(a);
    step = a->splat ? 0 : element;
    /* A splat stands for any number of elements: far more than an op has
     * axes makes no sense. */
    if (a->splat && count > 4096) {
        jx_vhlo_fail(v, "a list of %llu numbers", (unsigned long long)count);
        return NULL;
    }
    int64_t *list = JX_NEW_ARRAY(v->arena, count, int64_t);
    for (uint64_t i = 0; list && i < count; i++)
        memcpy(&list[i], (const char *)a->bytes + i * step, element);
    if (!to || !list)
        return NULL;
    to->type = jx_mlir_integer(v->types, JX_SIGNLESS, width);
    to->integers = list;
    to->count = (int)count;
    return to->type ? to : NULL;
}

static const jx_mlir_attr *integer(jx_vhlo *v, int64_t value, unsigned width,
                                   bool vhlo)
{
    jx_mlir_attr *a = make(v, JX_A_INTEGER, vhlo);

    if (!a)
        return NULL;
    a->integer = value;
    a->type = jx_mlir_type_add(v->types, &(jx_mlir_type){.kind = JX_T_INTEGER,
                                                         .vhlo = vhlo,
                                                         .rank = -1,
                                                         .width = width});
    return a->type ? a : NULL;
}

/* A tensor of VHLO of i64 or i1 whose elements are all `value`. */
static const jx_mlir_attr *filled(jx_vhlo *v, int rank, const int64_t *shape,
                                  unsigned width, int64_t value)
{
    size_t element = (width + 7) / 8, count = 1;
    jx_mlir_attr *a = make(v, JX_A_DENSE, true);
    const jx_mlir_type *item = jx_mlir_type_add(
        v->types,
        &(jx_mlir_type){
            .kind = JX_T_INTEGER, .vhlo = true, .rank = -1, .width = width});

    for (int i = 0; i < rank; i++)
        count *= (size_t)shape[i];
    if (!a || !item)
        return NULL;
    a->type = jx_mlir_type_add(v->types, &(jx_mlir_type){.kind = JX_T_TENSOR,
                                                         .vhlo = true,
                                                         .rank = rank,
                                                         .shape = shape,
                                                         .count = 1,
                                                         .items = &item});
    a->splat = count > 1;
    a->size = count ? element : 0;
    a->bytes = jx_arena_copy(v->arena, &value, sizeof value);
    return a->type && a->bytes ? a : NULL;
}

/* ---- defaults */

static bool all_are(const jx_mlir_attr *a, size_t element, int64_t value)
{
    int64_t one = 0;

    if (!is_tensor(a, element) || a->size != element)
        return false;
    memcpy(&one, a->bytes, element);
    return one == value;
}

static bool is_zero_real(const jx_mlir_attr *a)
{
    return a && a->kind == JX_A_FLOAT && a->real == 0;
}

static bool is_accuracy(const jx_mlir_attr *a)
{
    const jx_mlir_attr *ulps = jx_mlir_field(a, "ulps");
    const jx_mlir_attr *mode = jx_mlir_field(a, "mode");

    return is_zero_real(jx_mlir_field(a, "atol")) &&
           is_zero_real(jx_mlir_field(a, "rtol")) && ulps && !ulps->integer &&
           mode && mode->text && strcmp(mode->text, "DEFAULT") == 0;
}

static bool is_enum(const jx_mlir_attr *a, const char *text)
{
    return a->kind == JX_A_ENUM && strcmp(a->text, text) == 0;
}

static bool all_default(const jx_mlir_attr *a)
{
    for (int i = 0; a->kind == JX_A_ARRAY && i < a->count; i++)
        if (!is_enum(a->items[i], "DEFAULT"))
            return false;
    return a->kind == JX_A_ARRAY;
}

static bool is_default(absent how, const jx_mlir_attr *a)
{
    switch (how) {
    case absent_none: return false;
    case absent_no: return a->kind == JX_A_BOOL && !a->boolean;
    case absent_zero:
    case absent_minus_one:
        return a->kind == JX_A_INTEGER && !a->bytes &&
               a->integer == (how == absent_zero ? 0 : -1);
    case absent_text: return a->kind == JX_A_STRING && !a->size;
    case absent_array: return a->kind == JX_A_ARRAY && !a->count;
    case absent_dict: return a->kind == JX_A_DICT && !a->count;
    case absent_text_or_dict:
        return (a->kind == JX_A_STRING && !a->size) ||
               (a->kind == JX_A_DICT && !a->count);
    case absent_empty: return a->kind == JX_A_DENSE && !a->size;
    case absent_untyped:
        return a->kind == JX_A_TYPE && a->type->kind == JX_T_NONE;
    case absent_accuracy: return a->kind == JX_A_RECORD && is_accuracy(a);
    case absent_notype: return is_enum(a, "NOTYPE");
    case absent_original: return is_enum(a, "API_VERSION_ORIGINAL");
    case absent_precision: return all_default(a);
    case absent_ones: return all_are(a, 8, 1);
    case absent_falses: return all_are(a, 1, 0);
    case absent_zeros: return all_are(a, 8, 0);
    }
    return false;
}

static const jx_mlir_attr *enumerator(jx_vhlo *v, const char *name,
                                      const char *text)
{
    jx_mlir_attr *a = make(v, JX_A_ENUM, true);

    if (a) {
        a->name = jx_intern_text(v->ctx, name);
        a->text = jx_intern_text(v->ctx, text);
    }
    return a;
}

static const jx_mlir_attr *real_zero(jx_vhlo *v)
{
    static const double zero;
    jx_mlir_attr *a = make(v, JX_A_FLOAT, false);

    if (a) {
        a->type = jx_mlir_float(v->types, "f64");
        a->bytes = &zero;
        a->size = sizeof zero;
    }
    return a;
}

static const jx_mlir_attr *accuracy(jx_vhlo *v)
{
    jx_mlir_attr *a = make(v, JX_A_RECORD, true);
    const char **names = JX_NEW_ARRAY(v->arena, 4, const char *);
    const jx_mlir_attr **items =
        JX_NEW_ARRAY(v->arena, 4, const jx_mlir_attr *);
    static const char *const fields[] = {"atol", "rtol", "ulps", "mode"};

    if (!a || !names || !items)
        return NULL;
    for (int i = 0; i < 4; i++)
        names[i] = jx_intern_text(v->ctx, fields[i]);
    items[0] = items[1] = real_zero(v);
    items[2] = integer(v, 0, 64, false);
    items[3] = enumerator(v, "vhlo.result_accuracy_mode_v1", "DEFAULT");
    a->name = jx_intern_text(v->ctx, "vhlo.result_accuracy_v1");
    a->names = names;
    a->items = items;
    a->count = 4;
    return jx_arena_failed(v->arena) ? NULL : a;
}

static const jx_mlir_attr *two_precisions(jx_vhlo *v)
{
    jx_mlir_attr *a = make(v, JX_A_ARRAY, true);
    const jx_mlir_attr **items =
        JX_NEW_ARRAY(v->arena, 2, const jx_mlir_attr *);

    if (!a || !items)
        return NULL;
    items[0] = items[1] = enumerator(v, "vhlo.precision_v1", "DEFAULT");
    a->items = items;
    a->count = 2;
    return a;
}

static const jx_mlir_attr *untyped(jx_vhlo *v)
{
    jx_mlir_attr *a = make(v, JX_A_TYPE, true);

    if (a)
        a->type = jx_mlir_type_add(
            v->types,
            &(jx_mlir_type){.kind = JX_T_NONE, .vhlo = true, .rank = -1});
    return a && a->type ? a : NULL;
}

/* The axes of the window of the op that has these attributes. */
static int64_t window_axes(const jx_vhlo_attrs *set)
{
    const jx_mlir_attr *a = find(set, "input_spatial_dimensions");

    if (!a)
        a = find(set, "window_dimensions");
    return a && a->kind == JX_A_DENSE ? (int64_t)elements(a) : 0;
}

static const jx_mlir_attr *tensor_default(jx_vhlo *v, absent how,
                                          const jx_vhlo_attrs *set)
{
    int64_t shape[2] = {window_axes(set), 2};

    if (shape[0] > 4096) {
        jx_vhlo_fail(v, "a window of %lld axes", (long long)shape[0]);
        return NULL;
    }
    switch (how) {
    case absent_ones: return filled(v, 1, shape, 64, 1);
    case absent_falses: return filled(v, 1, shape, 1, 0);
    case absent_zeros: return filled(v, 2, shape, 64, 0);
    default: shape[0] = 0; return filled(v, 1, shape, 64, 0);
    }
}

/* VHLO's attribute for what StableHLO leaves out. */
static const jx_mlir_attr *default_of(jx_vhlo *v, absent how,
                                      const jx_vhlo_attrs *set)
{
    const jx_mlir_attr *api;

    switch (how) {
    case absent_no: return make(v, JX_A_BOOL, true);
    case absent_zero:
    case absent_minus_one:
        return integer(v, how == absent_zero ? 0 : -1, 64, true);
    case absent_text: return make(v, JX_A_STRING, true);
    case absent_array: return make(v, JX_A_ARRAY, true);
    case absent_dict: return make(v, JX_A_DICT, true);
    case absent_text_or_dict:
        api = find(set, "api_version");
        return make(v,
                    api && is_enum(api, "API_VERSION_TYPED_FFI") ? JX_A_DICT
                                                                 : JX_A_STRING,
                    true);
    case absent_untyped: return untyped(v);
    case absent_accuracy: return accuracy(v);
    case absent_notype:
        return enumerator(v, "vhlo.comparison_type_v1", "NOTYPE");
    case absent_original:
        return enumerator(v, "vhlo.api_version_v1", "API_VERSION_ORIGINAL");
    case absent_precision: return two_precisions(v);
    default: return tensor_default(v, how, set);
    }
}

static bool add_defaults(jx_vhlo *v, const char *base, jx_vhlo_attrs *set)
{
    for (size_t i = 0; i < NATTRS; i++) {
        const attr_row *row = &attr_rows[i];
        if (row->absent == absent_none || strcmp(row->op, base) != 0 ||
            find(set, row->attr))
            continue;
        if (!push(v, set, row->attr, default_of(v, row->absent, set)))
            return false;
    }
    return true;
}

/* ---- records */

/* VHLO's name of a field: those of a channel are called otherwise. */
static const char *vhlo_field(const char *record, const char *name,
                              size_t length, char buffer[64])
{
    if (strcmp(record, "stablehlo.channel_handle") == 0)
        return name[0] == 'h' ? "channel_id" : "channel_type";
    if (length > 63)
        length = 63;
    memcpy(buffer, name, length);
    buffer[length] = '\0';
    return buffer;
}

static const jx_mlir_attr *field_up(jx_vhlo *v, const jx_mlir_attr *a,
                                    char kind)
{
    if (kind == 'L')
        return list_of(v, a, 64);
    if (kind == 'I' && a->kind == JX_A_INTEGER)
        return integer(v, a->integer, 64, false);
    if ((kind == 'B' && a->kind == JX_A_BOOL) ||
        (kind == 'T' && a->kind == JX_A_TYPE))
        return jx_vhlo_attr(v, a);
    jx_vhlo_fail(v, "a dimension number of another type");
    return NULL;
}

static bool keeps(const jx_mlir_attr *a, char mark)
{
    if (mark != '=')
        return true;
    return a->kind == JX_A_DENSE_ARRAY ? a->count != 0 : a->integer != 0;
}

/* The record of the fields that the op has; *to is NULL where none is meant. */
static bool implode(jx_vhlo *v, const fields_row *row, const jx_mlir_op *op,
                    const jx_mlir_attr **to)
{
    const char *at = jx_mlir_record_info_find(row->record)->fields, *name;
    int most = jx_mlir_count_names(at), present = 0, untyped_fields = 0;
    jx_mlir_attr *a = make(v, JX_A_RECORD, false);
    const char **names = JX_NEW_ARRAY(v->arena, most, const char *);
    const jx_mlir_attr **items =
        JX_NEW_ARRAY(v->arena, most, const jx_mlir_attr *);
    char buffer[64], kind, mark;
    size_t length;

    *to = NULL;
    if (!a || !names || !items)
        return false;
    while ((at = jx_mlir_next_field(at, &name, &length, &kind, &mark))) {
        const jx_mlir_attr *value =
            jx_mlir_named_value(op->inherent, op->ninherent,
                                vhlo_field(row->record, name, length, buffer));
        if (!value)
            continue;
        present++;
        if (is_default(absent_untyped, value)) {
            untyped_fields++;
            continue;
        }
        value = field_up(v, value, kind);
        if (!value)
            return false;
        if (!keeps(value, mark))
            continue;
        names[a->count] = jx_strings_add(&v->ctx->strings, name, length);
        items[a->count++] = value;
    }
    if (untyped_fields == present && strstr(row->record, "dot_algorithm"))
        return true;
    if (untyped_fields)
        return jx_vhlo_fail(v, "an algorithm that is given in part");
    a->name = jx_intern_text(v->ctx, row->record);
    a->names = names;
    a->items = items;
    *to = a;
    return true;
}

static bool explode(jx_vhlo *v, const fields_row *row,
                    const jx_mlir_attr *record, jx_vhlo_attrs *to)
{
    const char *at = jx_mlir_record_info_find(row->record)->fields, *name;
    char buffer[64], kind, mark;
    size_t length;
    int64_t none = 0;

    if (record->kind != JX_A_RECORD || strcmp(record->name, row->record) != 0)
        return jx_vhlo_fail(v, "%s is expected to be #%s", row->attr,
                            row->record);
    while ((at = jx_mlir_next_field(at, &name, &length, &kind, &mark))) {
        const jx_mlir_attr *value = NULL;
        for (int i = 0; i < record->count; i++)
            if (jx_mlir_is_name(record->names[i], name, length))
                value = record->items[i];
        if (value)
            value = jx_vhlo_attr(v, value);
        else if (kind == 'L')
            value = filled(v, 1, &none, 64, 0);
        else if (kind == 'I')
            value = integer(v, 0, 64, true);
        else
            return jx_vhlo_fail(v, "#%s lacks a field", row->record);
        if (!push(v, to, vhlo_field(row->record, name, length, buffer), value))
            return false;
    }
    return true;
}

/* Whether a record of the op has a field of that VHLO name. */
static bool in_record(const char *base, const char *attr)
{
    char buffer[64], kind, mark;
    const char *name;
    size_t length;

    for (size_t i = 0; i < NFIELDS; i++) {
        const fields_row *row = &fields_rows[i];
        if (strcmp(row->op, base) != 0)
            continue;
        const char *at = jx_mlir_record_info_find(row->record)->fields;
        while ((at = jx_mlir_next_field(at, &name, &length, &kind, &mark)))
            if (strcmp(vhlo_field(row->record, name, length, buffer), attr) ==
                0)
                return true;
    }
    return false;
}

/* ---- up */

static const jx_mlir_attr *symbol_up(jx_vhlo *v, const jx_mlir_attr *a)
{
    jx_mlir_attr *to = make(v, JX_A_SYMBOL, false);
    const char *text = a->kind == JX_A_STRING ? jx_mlir_text(v->ctx, a) : NULL;

    if (!text) {
        jx_vhlo_fail(v, "a function's name is expected");
        return NULL;
    }
    if (to)
        to->text = text;
    return to;
}

static const jx_mlir_attr *symbols_up(jx_vhlo *v, const jx_mlir_attr *a)
{
    jx_mlir_attr *to = make(v, JX_A_ARRAY, false);
    const jx_mlir_attr **items;

    if (a->kind != JX_A_ARRAY) {
        jx_vhlo_fail(v, "a list of functions is expected");
        return NULL;
    }
    items = JX_NEW_ARRAY(v->arena, a->count, const jx_mlir_attr *);
    if (!to || !items)
        return NULL;
    for (int i = 0; i < a->count; i++) {
        items[i] = symbol_up(v, a->items[i]);
        if (!items[i])
            return NULL;
    }
    to->items = items;
    to->count = a->count;
    return to;
}

static const jx_mlir_attr *channel_up(jx_vhlo *v, const jx_mlir_attr *a)
{
    jx_mlir_attr *to = make(v, JX_A_RECORD, false);
    const char **names = JX_NEW_ARRAY(v->arena, 2, const char *);
    const jx_mlir_attr **items =
        JX_NEW_ARRAY(v->arena, 2, const jx_mlir_attr *);

    if (a->kind != JX_A_INTEGER) {
        jx_vhlo_fail(v, "a channel's number is expected");
        return NULL;
    }
    if (!to || !names || !items)
        return NULL;
    names[0] = jx_intern_text(v->ctx, "handle");
    names[1] = jx_intern_text(v->ctx, "type");
    items[0] = integer(v, a->integer, 64, false);
    items[1] = integer(v, 0, 64, false);
    to->name = jx_intern_text(v->ctx, "stablehlo.channel_handle");
    to->names = names;
    to->items = items;
    to->count = 2;
    return jx_arena_failed(v->arena) ? NULL : to;
}

static const jx_mlir_attr *number_up(jx_vhlo *v, const jx_mlir_attr *a)
{
    const jx_bc_enum *e =
        a->kind == JX_A_ENUM ? jx_bc_enum_by_name(a->name) : NULL;

    if (!e || strcmp(e->name, "vhlo.api_version_v1") != 0) {
        jx_vhlo_fail(v, "an API version is expected");
        return NULL;
    }
    return integer(v, jx_bc_enum_number(e, a->text), 32, false);
}

static const jx_mlir_attr *up(jx_vhlo *v, const attr_row *row,
                              const jx_mlir_attr *a)
{
    switch (row ? row->form : form_same) {
    case form_list: return list_of(v, a, 64);
    case form_bools: return list_of(v, a, 1);
    case form_channel: return channel_up(v, a);
    case form_unit:
        if (a->kind != JX_A_BOOL)
            jx_vhlo_fail(v, "%s is expected to be a bool", row->attr);
        return v->failed ? NULL : make(v, JX_A_UNIT, false);
    case form_symbol: return symbol_up(v, a);
    case form_symbols: return symbols_up(v, a);
    case form_number: return number_up(v, a);
    default: return jx_vhlo_attr(v, a);
    }
}

/* Layouts are left out together or not at all. */
static bool left_out(const jx_mlir_op *op, const attr_row *row,
                     const jx_mlir_attr *value)
{
    const char *other = NULL;
    const jx_mlir_attr *there;

    if (!row || !is_default(row->absent, value))
        return false;
    if (strcmp(row->attr, "operand_layouts") == 0)
        other = "result_layouts";
    else if (strcmp(row->attr, "result_layouts") == 0)
        other = "operand_layouts";
    if (!other)
        return true;
    there = jx_mlir_named_value(op->inherent, op->ninherent, other);
    return !there || is_default(absent_array, there);
}

static void sort(jx_vhlo_attrs *set)
{
    for (size_t i = 1; i < set->count; i++) {
        jx_mlir_named one = set->at[i];
        size_t k = i;
        for (; k && strcmp(set->at[k - 1].name, one.name) > 0; k--)
            set->at[k] = set->at[k - 1];
        set->at[k] = one;
    }
}

bool jx_vhlo_inherent_up(jx_vhlo *v, const jx_mlir_op *op, const char *base,
                         jx_vhlo_attrs *to)
{
    const jx_mlir_attr *value;

    for (size_t i = 0; i < NFIELDS; i++) {
        if (!jx_vhlo_is(fields_rows[i].op, base))
            continue;
        if (!implode(v, &fields_rows[i], op, &value))
            return false;
        if (value && !push(v, to, fields_rows[i].attr, value))
            return false;
    }
    for (int i = 0; i < op->ninherent; i++) {
        const jx_mlir_named *one = &op->inherent[i];
        const attr_row *row = row_of(base, one->name);
        if (in_record(base, one->name) || left_out(op, row, one->value) ||
            (strcmp(base, "dynamic_conv") == 0 &&
             strcmp(one->name, "padding") == 0))
            continue;
        value = up(v, row, one->value);
        if (!value || !push(v, to,
                            row && row->form == form_channel ? "channel_handle"
                                                             : one->name,
                            value))
            return false;
    }
    sort(to);
    return true;
}

/* ---- down */

static const jx_mlir_attr *number_down(jx_vhlo *v, const jx_mlir_attr *a)
{
    const jx_bc_enum *e = jx_bc_enum_by_name("vhlo.api_version_v1");
    size_t length;
    const char *text = a->kind == JX_A_INTEGER && a->integer >= 0
                           ? jx_bc_enum_case(e, (uint64_t)a->integer, &length)
                           : NULL;
    jx_mlir_attr *to = make(v, JX_A_ENUM, true);

    if (!text) {
        jx_vhlo_fail(v, "an API version of 0 to 4 is expected");
        return NULL;
    }
    if (to) {
        to->name = jx_intern_text(v->ctx, e->name);
        to->text = jx_strings_add(&v->ctx->strings, text, length);
    }
    return to;
}

static const jx_mlir_attr *unit_down(jx_vhlo *v)
{
    jx_mlir_attr *to = make(v, JX_A_BOOL, true);

    if (to)
        to->boolean = true;
    return to;
}

static const jx_mlir_attr *down(jx_vhlo *v, const attr_row *row,
                                const jx_mlir_attr *a)
{
    if (row && row->form == form_number)
        return number_down(v, a);
    if (row && row->form == form_unit && a->kind == JX_A_UNIT)
        return unit_down(v);
    if (row && row->form == form_channel) {
        const jx_mlir_attr *handle = jx_mlir_field(a, "handle");
        if (!handle)
            jx_vhlo_fail(v, "a channel handle is expected");
        return handle ? jx_vhlo_attr(v, handle) : NULL;
    }
    return jx_vhlo_attr(v, a);
}

static const fields_row *record_of(const char *base, const char *attr)
{
    for (size_t i = 0; i < NFIELDS; i++)
        if (jx_vhlo_is(fields_rows[i].op, base) &&
            strcmp(fields_rows[i].attr, attr) == 0)
            return &fields_rows[i];
    return NULL;
}

bool jx_vhlo_inherent_down(jx_vhlo *v, const jx_mlir_op *op, const char *base,
                           jx_vhlo_attrs *to)
{
    for (int i = 0; i < op->ninherent; i++) {
        const jx_mlir_named *one = &op->inherent[i];
        const fields_row *fields = record_of(base, one->name);
        bool channel = !fields && strcmp(one->name, "channel_handle") == 0;
        const char *name = channel ? "channel_id" : one->name;
        if (fields
                ? !explode(v, fields, one->value, to)
                : !push(v, to, name, down(v, row_of(base, name), one->value)))
            return false;
    }
    return true;
}

bool jx_vhlo_inherent_fit(jx_vhlo *v, const char *base,
                          const jx_vhlo_op_info *row, jx_vhlo_attrs *set)
{
    jx_vhlo_attrs fit = {0};
    const char *at = row->attrs, *name;
    size_t length;
    char mark;

    if (!add_defaults(v, base, set))
        return false;
    while ((at = jx_mlir_next_name(at, &name, &length, &mark))) {
        const jx_mlir_attr *value = NULL;
        for (size_t i = 0; i < set->count; i++)
            if (jx_mlir_is_name(set->at[i].name, name, length)) {
                value = set->at[i].value;
                JX_PUSH(v->arena, &fit, set->at[i]);
                break;
            }
        if (!value)
            return jx_vhlo_fail(v, "lacks the attribute %.*s", (int)length,
                                name);
    }
    for (size_t i = 0; i < set->count; i++) {
        const jx_mlir_named *one = &set->at[i];
        const attr_row *known = row_of(base, one->name);
        if (!jx_mlir_has_name(row->attrs, one->name, NULL) &&
            strcmp(base, "dynamic_conv") != 0 &&
            !(known && is_default(known->absent, one->value)))
            return jx_vhlo_fail(v, "%s of VHLO %d.%d.%d has no attribute %s",
                                row->name, v->version[0], v->version[1],
                                v->version[2], one->name);
    }
    *set = fit;
    return !jx_arena_failed(v->arena);
}
