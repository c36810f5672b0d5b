/* bytecode_attrs.c - attributes of bytecode: builtin's, VHLO's and sdy's. */
#include "frontend/mlir/bytecode_parts.h"

#include <string.h>

/* ---- tables */

static const jx_bc_record records[] = {
#define RECORD(dialect, code, name, fields)                                    \
    {DIALECT_##dialect, code, name, fields},
#define DIALECT_vhlo JX_BC_VHLO
#define DIALECT_sdy JX_BC_SDY
#include "frontend/mlir/bytecode_records.def"
#undef RECORD
};

enum { NRECORDS = sizeof records / sizeof *records };

const jx_bc_record *jx_bc_record_by_code(jx_bc_dialect_kind dialect,
                                         uint64_t code)
{
    for (size_t i = 0; i < NRECORDS; i++)
        if (records[i].dialect == dialect && records[i].code == code)
            return &records[i];
    return NULL;
}

const jx_bc_record *jx_bc_record_by_name(const char *name, int fields)
{
    for (size_t i = 0; i < NRECORDS; i++)
        if (strcmp(records[i].name, name) == 0 &&
            jx_mlir_count_names(records[i].fields) >= fields)
            return &records[i];
    return NULL;
}

static const jx_bc_enum enums[] = {
    {3, "vhlo.comparison_direction_v1", "stablehlo.comparison_direction"},
    {4, "vhlo.comparison_type_v1", "stablehlo.comparison_type"},
    {5, "vhlo.api_version_v1", NULL},
    {7, "vhlo.fft_type_v1", "stablehlo.fft_type"},
    {11, "vhlo.precision_v1", "stablehlo.precision"},
    {12, "vhlo.rng_algorithm_v1", "stablehlo.rng_algorithm"},
    {13, "vhlo.rng_distribution_v1", "stablehlo.rng_distribution"},
    {16, "vhlo.transpose_v1", "stablehlo.transpose"},
    {19, "vhlo.result_accuracy_mode_v1", "stablehlo.result_accuracy_mode"},
};

enum { NENUMS = sizeof enums / sizeof *enums };

static const jx_bc_enum *enum_by_code(uint64_t code)
{
    for (size_t i = 0; i < NENUMS; i++)
        if (enums[i].code == code)
            return &enums[i];
    return NULL;
}

const jx_bc_enum *jx_bc_enum_by_name(const char *name)
{
    for (size_t i = 0; i < NENUMS; i++)
        if (strcmp(enums[i].name, name) == 0)
            return &enums[i];
    return NULL;
}

/* StableHLO has numbers where VHLO has versions of the interface. */
static const char *cases_of(const jx_bc_enum *e)
{
    return e->stablehlo ? jx_mlir_enum_cases(e->stablehlo)
                        : "API_VERSION_UNSPECIFIED API_VERSION_ORIGINAL "
                          "API_VERSION_STATUS_RETURNING "
                          "API_VERSION_STATUS_RETURNING_UNIFIED "
                          "API_VERSION_TYPED_FFI";
}

const char *jx_bc_enum_case(const jx_bc_enum *e, uint64_t number,
                            size_t *length)
{
    return jx_mlir_case_at(cases_of(e), number, length);
}

int jx_bc_enum_number(const jx_bc_enum *e, const char *text)
{
    return jx_mlir_name_index(cases_of(e), text);
}

/* ---- making */

static jx_mlir_attr *make(jx_bc_reader *r, jx_mlir_attr_kind kind, bool vhlo)
{
    jx_mlir_attr *attr = jx_bc_ok(r) ? JX_NEW(r->arena, jx_mlir_attr) : NULL;

    if (attr) {
        attr->kind = kind;
        attr->vhlo = vhlo;
    }
    return attr;
}

static const jx_mlir_attr *integer_of(jx_bc_reader *r, int64_t value)
{
    jx_mlir_attr *a = make(r, JX_A_INTEGER, false);

    if (a) {
        a->type = jx_mlir_integer(r->types, JX_SIGNLESS, 64);
        a->integer = value;
    }
    return a;
}

static const jx_mlir_attr *list_of_integers(jx_bc_reader *r, jx_bc_cursor *c)
{
    size_t count;
    int64_t *list = jx_bc_signed_list(r, c, &count);
    jx_mlir_attr *a = make(r, JX_A_DENSE_ARRAY, false);

    if (!a)
        return NULL;
    a->type = jx_mlir_integer(r->types, JX_SIGNLESS, 64);
    a->integers = list;
    a->count = (int)count;
    return a;
}

static const jx_mlir_attr **items(jx_bc_reader *r, jx_bc_cursor *c,
                                  size_t *count)
{
    *count = jx_bc_count(r, c, "attributes");
    const jx_mlir_attr **list =
        JX_NEW_ARRAY(r->arena, *count, const jx_mlir_attr *);

    for (size_t i = 0; list && i < *count && !r->failed; i++)
        list[i] = jx_bc_attr(r, c);
    return jx_bc_ok(r) ? list : NULL;
}

static const jx_mlir_attr *of_items(jx_bc_reader *r, jx_bc_cursor *c,
                                    jx_mlir_attr_kind kind, bool vhlo)
{
    size_t count;
    const jx_mlir_attr **list = items(r, c, &count);
    jx_mlir_attr *a = make(r, kind, vhlo);

    if (a) {
        a->items = list;
        a->count = (int)count;
    }
    return a;
}

/* The text of a string attribute, interned: names, paths, symbols. */
static const char *text_of(jx_bc_reader *r, jx_bc_cursor *c)
{
    const uint8_t *at = c->at;
    const jx_mlir_attr *a = jx_bc_attr(r, c);

    if (!a)
        return NULL;
    const char *text = jx_mlir_text(r->ctx, a);
    if (!text)
        jx_bc_fail(r, at, "expected text: UTF-8 without a NUL");
    return text;
}

static const jx_mlir_attr *dictionary(jx_bc_reader *r, jx_bc_cursor *c,
                                      bool vhlo)
{
    size_t count = jx_bc_count(r, c, "entries");
    jx_mlir_attr *a = make(r, JX_A_DICT, vhlo);
    const char **names = JX_NEW_ARRAY(r->arena, count, const char *);
    const jx_mlir_attr **values =
        JX_NEW_ARRAY(r->arena, count, const jx_mlir_attr *);

    for (size_t i = 0; jx_bc_ok(r) && i < count; i++) {
        names[i] = text_of(r, c);
        values[i] = jx_bc_attr(r, c);
    }
    if (!jx_bc_ok(r))
        return NULL;
    a->count = (int)count;
    a->names = names;
    a->items = values;
    return a;
}

static const jx_mlir_attr *string(jx_bc_reader *r, jx_bc_cursor *c, bool vhlo)
{
    const jx_bc_text *s = jx_bc_raw_string(r, c);
    jx_mlir_attr *a = make(r, JX_A_STRING, vhlo);

    if (a && s) {
        a->bytes = s->at;
        a->size = s->size;
    }
    return a;
}

static const jx_mlir_attr *symbol(jx_bc_reader *r, jx_bc_cursor *c, bool nested)
{
    jx_mlir_attr *a = make(r, JX_A_SYMBOL, false);
    size_t count = 0;

    if (!a)
        return NULL;
    a->text = text_of(r, c);
    if (nested)
        a->items = items(r, c, &count);
    a->count = (int)count;
    return jx_bc_ok(r) ? a : NULL;
}

static const jx_mlir_attr *type_attr(jx_bc_reader *r, jx_bc_cursor *c,
                                     bool vhlo)
{
    const jx_mlir_type *type = jx_bc_type(r, c);
    jx_mlir_attr *a = make(r, JX_A_TYPE, vhlo);

    if (a)
        a->type = type;
    return a;
}

/* ---- numbers of a known width */

/* Bits as MLIR writes an integer of that width: a byte, a signed number, or a
 * list of words.  Little-endian into a new array of `size` bytes. */
static uint8_t *bits(jx_bc_reader *r, jx_bc_cursor *c, unsigned width,
                     size_t *size)
{
    uint64_t word;

    *size = ((size_t)width + 7) / 8;
    if (width > 64) {
        const uint8_t *at = c->at;
        size_t words = jx_bc_count(r, c, "words");
        if (!r->failed && words > (*size + 7) / 8)
            jx_bc_fail(r, at, "%zu words for %u bits", words, width);
        /* A long type needs as many bytes, whatever its value is. */
        if (*size > r->size + 64)
            jx_bc_fail(r, at, "an integer of %u bits", width);
        if (r->failed)
            return NULL;
        uint8_t *list = jx_arena_alloc(r->arena, *size + 8);
        for (size_t i = 0; list && i < words; i++) {
            word = (uint64_t)jx_bc_signed(r, c);
            memcpy(list + 8 * i, &word, 8);
        }
        return jx_bc_ok(r) ? list : NULL;
    }
    word = width <= 8 ? jx_bc_byte(r, c) : (uint64_t)jx_bc_signed(r, c);
    if (width < 64)
        word &= (UINT64_C(1) << width) - 1;
    return jx_bc_ok(r) ? jx_arena_copy(r->arena, &word, 8) : NULL;
}

static unsigned integer_width(const jx_mlir_type *type)
{
    return type->kind == JX_T_INTEGER ? type->width
           : type->kind == JX_T_INDEX ? 64
                                      : 0;
}

static const jx_mlir_attr *integer(jx_bc_reader *r, jx_bc_cursor *c, bool vhlo)
{
    const uint8_t *at = c->at;
    const jx_mlir_type *type = jx_bc_type(r, c);
    unsigned width = type ? integer_width(type) : 0;
    size_t size;
    uint64_t word;

    if (!r->failed && !width)
        jx_bc_fail(r, at, "an integer of a type that is none");
    if (r->failed)
        return NULL;
    uint8_t *data = bits(r, c, width, &size);
    jx_mlir_attr *a = make(r, JX_A_INTEGER, vhlo);
    if (!a || !data)
        return NULL;
    a->type = type;
    if (width > 64) {
        a->bytes = data;
        a->size = size;
        return a;
    }
    memcpy(&word, data, 8);
    if (width == 1 && type->sign == JX_SIGNLESS && !vhlo) {
        a->kind = JX_A_BOOL;
        a->type = NULL;
        a->boolean = word & 1;
    } else if (type->sign == JX_UNSIGNED && word > INT64_MAX) {
        a->bytes = data;
        a->size = size;
    } else if (type->sign != JX_UNSIGNED && width < 64) {
        a->integer = (int64_t)(word << (64 - width)) >> (64 - width);
    } else {
        a->integer = (int64_t)word;
    }
    return a;
}

/* The value where it is plain to tell; the bits say it all. */
static double real_of(const char *text, uint64_t word)
{
    uint32_t half = (uint32_t)word;
    float single;
    double value = 0;

    if (strcmp(text, "f64") == 0)
        memcpy(&value, &word, sizeof value);
    else if (strcmp(text, "f32") == 0 || strcmp(text, "bf16") == 0) {
        half = text[0] == 'b' ? half << 16 : half;
        memcpy(&single, &half, sizeof single);
        value = single;
    }
    return value;
}

static const jx_mlir_attr *float_of(jx_bc_reader *r, jx_bc_cursor *c,
                                    const jx_mlir_type *type, bool vhlo)
{
    size_t size;
    uint64_t word;
    uint8_t *data = type ? bits(r, c, jx_bc_float_bits(type), &size) : NULL;
    jx_mlir_attr *a = make(r, JX_A_FLOAT, vhlo);

    if (!a || !data)
        return NULL;
    memcpy(&word, data, 8);
    a->type = type;
    a->bytes = data;
    a->size = size;
    a->real = real_of(type->text, word);
    return a;
}

static const jx_mlir_attr *float_attr(jx_bc_reader *r, jx_bc_cursor *c,
                                      bool vhlo)
{
    const uint8_t *at = c->at;
    const jx_mlir_type *type = jx_bc_type(r, c);

    if (type && type->kind != JX_T_FLOAT)
        jx_bc_fail(r, at, "a float of a type that is none");
    return r->failed ? NULL : float_of(r, c, type, vhlo);
}

/* ---- dense */

static uint8_t *unpack(jx_bc_reader *r, const uint8_t *from, uint64_t count)
{
    uint8_t *to = jx_arena_alloc(r->arena, (size_t)count);

    for (uint64_t i = 0; to && i < count; i++)
        to[i] = from[i / 8] >> (i % 8) & 1;
    return to;
}

/* A blob of i1 is packed, eight to a byte; or one byte 0xFF, all are true (from
 * old writers a single one, too, which stays a splat so that it is written as
 * it was); or, from old writers, a byte each. */
static void bools(jx_bc_reader *r, jx_mlir_attr *a, uint64_t count)
{
    static const uint8_t one = 1;
    const uint8_t *from = a->bytes;
    uint64_t packed = count / 8 + (count % 8 != 0);

    if (a->size == 1 && from[0] == 0xFF) {
        a->bytes = &one;
        a->splat = true;
    } else if (a->size == packed && a->size != count) {
        a->bytes = unpack(r, from, count);
        a->size = (size_t)count;
    }
}

static bool all_equal(const uint8_t *at, size_t size, size_t element)
{
    return memcmp(at, at + element, size - element) == 0;
}

/* Settles whether all elements are equal, as MLIR does when it makes one. */
static bool settle(jx_bc_reader *r, const uint8_t *at, jx_mlir_attr *a,
                   const jx_mlir_type *type)
{
    size_t element = jx_mlir_element_size(type->items[0]), wanted;
    uint64_t count;

    if (!jx_mlir_elements(type, &count) || !element ||
        __builtin_mul_overflow(element, count, &wanted))
        return jx_bc_fail(r, at, "a constant of a type that can't have one");
    if (type->items[0]->kind == JX_T_INTEGER && type->items[0]->width == 1)
        bools(r, a, count);
    if (a->splat)
        a->size = element;
    else if (a->size == wanted)
        a->splat = count > 1 && all_equal(a->bytes, a->size, element);
    else if (a->size == element && count != 1)
        a->splat = true;
    else
        return jx_bc_fail(r, at, "%zu bytes for %llu elements of %zu", a->size,
                          (unsigned long long)count, element);
    if (a->splat)
        a->size = element;
    return jx_bc_ok(r);
}

static const jx_mlir_attr *dense(jx_bc_reader *r, jx_bc_cursor *c, bool vhlo)
{
    const uint8_t *at = c->at;
    const jx_mlir_type *type = jx_bc_type(r, c);
    jx_mlir_attr *a = make(r, JX_A_DENSE, vhlo);
    uint64_t size = jx_bc_varint(r, c);

    if (!a)
        return NULL;
    if (type->kind != JX_T_TENSOR) {
        jx_bc_fail(r, at, "a constant of a type that is no tensor");
        return NULL;
    }
    at = c->at;
    a->type = type;
    a->bytes = jx_bc_take(r, c, size);
    a->size = (size_t)size;
    return !r->failed && settle(r, at, a, type) ? a : NULL;
}

static const jx_mlir_attr *dense_strings(jx_bc_reader *r, jx_bc_cursor *c)
{
    const uint8_t *at = c->at;
    const jx_mlir_type *type = jx_bc_type(r, c);
    jx_mlir_attr *a = make(r, JX_A_DENSE_STRINGS, false);
    bool splat = jx_bc_varint(r, c) != 0;
    uint64_t count = 0;

    if (!a)
        return NULL;
    if (!jx_mlir_elements(type, &count) ||
        (!splat && count > (uint64_t)(c->end - c->at))) {
        jx_bc_fail(r, at, "strings of a type that can't have as many");
        return NULL;
    }
    count = splat ? 1 : count;
    const jx_mlir_attr **list =
        JX_NEW_ARRAY(r->arena, count, const jx_mlir_attr *);
    for (uint64_t i = 0; jx_bc_ok(r) && i < count; i++)
        list[i] = string(r, c, false);
    a->type = type;
    a->splat = splat;
    a->items = list;
    a->count = (int)count;
    return jx_bc_ok(r) ? a : NULL;
}

/* array<i64: 1, 2>: integers become numbers, everything else stays bytes. */
static const jx_mlir_attr *dense_array(jx_bc_reader *r, jx_bc_cursor *c)
{
    const jx_mlir_type *type = jx_bc_type(r, c);
    const uint8_t *at = c->at;
    uint64_t count = jx_bc_varint(r, c), size = jx_bc_varint(r, c);
    const uint8_t *data = jx_bc_take(r, c, size);
    jx_mlir_attr *a = make(r, JX_A_DENSE_ARRAY, false);
    size_t element = type ? jx_mlir_element_size(type) : 0;

    if (!a)
        return NULL;
    if (!element || element > 8 || count > INT32_MAX ||
        count * element != size) {
        jx_bc_fail(r, at, "%llu elements of %zu bytes in %llu",
                   (unsigned long long)count, element,
                   (unsigned long long)size);
        return NULL;
    }
    a->type = type;
    a->count = (int)count;
    a->bytes = data;
    a->size = (size_t)size;
    if (type->kind != JX_T_INTEGER)
        return a;
    int64_t *list = JX_NEW_ARRAY(r->arena, count, int64_t);
    for (uint64_t i = 0; list && i < count; i++) {
        uint64_t word = 0;
        unsigned unused = (unsigned)(64 - 8 * element);
        memcpy(&word, data + i * element, element);
        list[i] = type->sign == JX_UNSIGNED || type->width == 1
                      ? (int64_t)word
                      : (int64_t)(word << unused) >> unused;
    }
    a->integers = list;
    a->bytes = NULL;
    a->size = 0;
    return a;
}

static const jx_mlir_attr *resource(jx_bc_reader *r, jx_bc_cursor *c)
{
    const jx_mlir_type *type = jx_bc_type(r, c);
    const uint8_t *at = c->at;
    uint64_t wanted = jx_bc_varint(r, c), seen = 0;
    jx_mlir_attr *a = make(r, JX_A_RESOURCE, false);

    if (!a)
        return NULL;
    a->type = type;
    for (size_t i = 0; i < r->resources.count; i++) {
        const jx_bytecode_resource *one = &r->resources.at[i];
        if (!one->dialect || seen++ != wanted)
            continue;
        a->text = one->key;
        if (one->kind == 0) {
            a->bytes = one->bytes;
            a->size = one->size;
        }
        return a;
    }
    jx_bc_fail(r, at, "resource %llu, but there are %llu",
               (unsigned long long)wanted, (unsigned long long)seen);
    return NULL;
}

/* ---- locations */

static bool locations(jx_bc_reader *r, const uint8_t *at, const jx_mlir_attr *a)
{
    for (int i = 0; i < a->count; i++)
        if (!jx_mlir_is_location(a->items[i]))
            return jx_bc_fail(r, at, "a location is expected");
    return true;
}

static const jx_mlir_attr *location(jx_bc_reader *r, jx_bc_cursor *c,
                                    jx_mlir_attr_kind kind, int count)
{
    const uint8_t *at = c->at;
    jx_mlir_attr *a = make(r, kind, false);
    const jx_mlir_attr **list =
        JX_NEW_ARRAY(r->arena, count, const jx_mlir_attr *);

    if (!a || !list)
        return NULL;
    if (kind == JX_A_LOC_NAME)
        a->text = text_of(r, c);
    for (int i = 0; i < count && !r->failed; i++)
        list[i] = jx_bc_attr(r, c);
    if (!jx_bc_ok(r))
        return NULL;
    a->items = list;
    a->count = count;
    if (!locations(r, at, a))
        return NULL;
    /* A name whose child says nothing stands alone, as in the text. */
    if (kind == JX_A_LOC_NAME && list[0]->kind == JX_A_LOC_UNKNOWN)
        a->count = 0;
    return a;
}

static const jx_mlir_attr *fused(jx_bc_reader *r, jx_bc_cursor *c,
                                 bool metadata)
{
    const uint8_t *at = c->at;
    size_t count;
    const jx_mlir_attr **list = items(r, c, &count);
    jx_mlir_attr *a = make(r, JX_A_LOC_FUSED, false);

    if (!a)
        return NULL;
    a->items = list;
    a->count = (int)count;
    if (metadata)
        a->extra = jx_bc_attr(r, c);
    return !r->failed && locations(r, at, a) ? a : NULL;
}

/* A place in a file, and how often it was read. */
typedef struct place {
    const jx_mlir_attr *attr;
    int count;
} place;

static bool same_place(const void *kept, const void *key)
{
    return jx_mlir_attr_same(((const place *)kept)->attr, key);
}

/* MLIR may have two places that it writes alike: a range that ends on its line,
 * and one that says so. */
static int times_before(jx_bc_reader *r, const jx_mlir_attr *a)
{
    uint64_t hash =
        jx_hash_mix((uint64_t)a->count, (uint64_t)(uintptr_t)a->text);
    place *known;

    for (int i = 0; i < a->count; i++)
        hash = jx_hash_mix(hash, (uint64_t)a->integers[i]);
    known = (place *)(uintptr_t)jx_intern_find(&r->places, hash, a, same_place);
    if (known)
        return known->count++;
    known = JX_NEW(r->scratch, place);
    if (known) {
        *known = (place){a, 1};
        jx_intern_add(&r->places, hash, known);
    }
    return 0;
}

/* A range is line, column, end line, end column; where the end's line is left
 * out it is the same. */
static const jx_mlir_attr *file_location(jx_bc_reader *r, jx_bc_cursor *c,
                                         bool range)
{
    jx_mlir_attr *a = make(r, JX_A_LOC_FILE, false);
    int64_t *list = JX_NEW_ARRAY(r->arena, 4, int64_t);

    if (!a || !list)
        return NULL;
    a->text = text_of(r, c);
    const uint8_t *at = c->at;
    uint64_t count = range ? jx_bc_varint(r, c) : 2;
    if (count > 4) {
        jx_bc_fail(r, at, "a location of %llu numbers",
                   (unsigned long long)count);
        return NULL;
    }
    for (uint64_t i = 0; i < count; i++) {
        at = c->at;
        uint64_t number = jx_bc_varint(r, c);
        if (!r->failed && number > UINT32_MAX)
            jx_bc_fail(r, at, "a line or column of %llu",
                       (unsigned long long)number);
        list[i] = (int64_t)number;
    }
    if (count == 3) {
        list[3] = list[2];
        list[2] = list[0];
        count = 4;
    }
    a->integers = list;
    a->count = jx_mlir_place_numbers((int)count, list);
    a->again = r->failed ? 0 : times_before(r, a);
    return jx_bc_ok(r) ? a : NULL;
}

/* ---- the dialects */

static const jx_mlir_attr *string_of_type(jx_bc_reader *r, jx_bc_cursor *c)
{
    const jx_bc_text *s = jx_bc_raw_string(r, c);
    const jx_mlir_type *type = jx_bc_type(r, c);
    jx_mlir_attr *a = make(r, JX_A_STRING, false);

    if (!a)
        return NULL;
    a->bytes = s->at;
    a->size = s->size;
    a->type = type;
    return a;
}

static const jx_mlir_attr *builtin_location(jx_bc_reader *r, jx_bc_cursor *c,
                                            uint64_t code)
{
    switch (code) {
    case 10: return location(r, c, JX_A_LOC_CALL, 2);
    case 11: return file_location(r, c, false);
    case 12:
    case 13: return fused(r, c, code == 13);
    case 14: return location(r, c, JX_A_LOC_NAME, 1);
    case 15: return make(r, JX_A_LOC_UNKNOWN, false);
    default: return file_location(r, c, true);
    }
}

static const jx_mlir_attr *builtin_attr(jx_bc_reader *r, jx_bc_cursor *c)
{
    const uint8_t *at = c->at;
    uint64_t code = jx_bc_varint(r, c);

    switch (code) {
    case 0: return of_items(r, c, JX_A_ARRAY, false);
    case 1: return dictionary(r, c, false);
    case 2: return string(r, c, false);
    case 3: return string_of_type(r, c);
    case 4:
    case 5: return symbol(r, c, code == 5);
    case 6: return type_attr(r, c, false);
    case 7: return make(r, JX_A_UNIT, false);
    case 8: return integer(r, c, false);
    case 9: return float_attr(r, c, false);
    case 10:
    case 11:
    case 12:
    case 13:
    case 14:
    case 15:
    case 22: return builtin_location(r, c, code);
    case 16: return resource(r, c);
    case 17: return dense_array(r, c);
    case 18: return dense(r, c, false);
    case 19: return dense_strings(r, c);
    default:
        jx_bc_fail(r, at, "attribute code %llu is not known",
                   (unsigned long long)code);
        return NULL;
    }
}

static const jx_mlir_attr *enumerator(jx_bc_reader *r, jx_bc_cursor *c,
                                      const jx_bc_enum *e)
{
    const uint8_t *at = c->at;
    uint64_t number = jx_bc_varint(r, c);
    size_t length;
    const char *text = jx_bc_enum_case(e, number, &length);
    jx_mlir_attr *a = make(r, JX_A_ENUM, true);

    if (!a)
        return NULL;
    if (!text) {
        jx_bc_fail(r, at, "%s has no case %llu", e->name,
                   (unsigned long long)number);
        return NULL;
    }
    a->name = jx_intern_text(r->ctx, e->name);
    a->text = jx_strings_add(&r->ctx->strings, text, length);
    return a;
}

static const jx_mlir_attr *boolean(jx_bc_reader *r, jx_bc_cursor *c, bool byte)
{
    const uint8_t *at = c->at;
    uint64_t value = byte ? jx_bc_byte(r, c) : jx_bc_varint(r, c);
    jx_mlir_attr *a = make(r, JX_A_BOOL, !byte);

    if (a && value > 1)
        jx_bc_fail(r, at, "a bool is 0 or 1, not %llu",
                   (unsigned long long)value);
    if (a)
        a->boolean = value == 1;
    return a;
}

static const jx_mlir_attr *reduction(jx_bc_reader *r, jx_bc_cursor *c)
{
    const uint8_t *at = c->at;
    int64_t number = jx_bc_signed(r, c);
    size_t length;
    const char *text =
        number >= 0 && number < 100
            ? jx_mlir_enum_case("sdy.reduction_op", (int)number, &length)
            : NULL;
    jx_mlir_attr *a = make(r, JX_A_ENUM, false);

    if (!a)
        return NULL;
    if (!text) {
        jx_bc_fail(r, at, "reduction %lld is not known", (long long)number);
        return NULL;
    }
    a->name = jx_intern_text(r->ctx, "sdy.reduction_op");
    a->text = jx_strings_add(&r->ctx->strings, text, length);
    return a;
}

/* A field by how it is encoded (bytecode_records.def); NULL for none. */
static const jx_mlir_attr *field(jx_bc_reader *r, jx_bc_cursor *c, char kind)
{
    bool flag;
    uint64_t number;

    switch (kind) {
    case 'L': return list_of_integers(r, c);
    case 'I': return integer_of(r, jx_bc_signed(r, c));
    case 'B': return boolean(r, c, true);
    case 'F': return float_of(r, c, jx_mlir_float(r->types, "f64"), false);
    case 'S': return string(r, c, false);
    case 'A': return jx_bc_attr(r, c);
    case 'R': return of_items(r, c, JX_A_ARRAY, false);
    case 'E': return reduction(r, c);
    case 'o': return jx_bc_attr_or_none(r, c);
    case 'O': return jx_bc_varint(r, c) ? jx_bc_attr(r, c) : NULL;
    default: /* P */
        number = jx_bc_flagged(r, c, &flag);
        return flag ? integer_of(r, (int64_t)number) : NULL;
    }
}

static bool is_default(const jx_mlir_attr *a)
{
    return a->kind == JX_A_BOOL   ? !a->boolean
           : a->kind == JX_A_ENUM ? jx_mlir_enum_number(a->name, a->text) == 0
                                  : !a->count;
}

/* Fields that hold what the text leaves out are left out here, too. */
static bool left_out(const char *record, const char *name, size_t length,
                     const jx_mlir_attr *value)
{
    const jx_mlir_record_info *info = jx_mlir_record_info_find(record);
    const char *at = info ? info->fields : "", *one;
    size_t size;
    char kind, mark;

    while ((at = jx_mlir_next_field(at, &one, &size, &kind, &mark)))
        if (size == length && !memcmp(one, name, size))
            return mark == '=' && is_default(value);
    return false;
}

static const jx_mlir_attr *record(jx_bc_reader *r, jx_bc_cursor *c,
                                  const jx_bc_record *row)
{
    const char *at = row->fields, *name;
    size_t length, most = (size_t)jx_mlir_count_names(at);
    char kind, mark;
    jx_mlir_attr *a = make(r, JX_A_RECORD, row->dialect == JX_BC_VHLO);
    const char **names = JX_NEW_ARRAY(r->arena, most, const char *);
    const jx_mlir_attr **values =
        JX_NEW_ARRAY(r->arena, most, const jx_mlir_attr *);

    if (!a || !names || !values)
        return NULL;
    while ((at = jx_mlir_next_field(at, &name, &length, &kind, &mark))) {
        const jx_mlir_attr *value = field(r, c, kind);
        if (!jx_bc_ok(r))
            return NULL;
        if (!value || left_out(row->name, name, length, value))
            continue;
        names[a->count] = jx_strings_add(&r->ctx->strings, name, length);
        values[a->count++] = value;
    }
    a->name = jx_intern_text(r->ctx, row->name);
    a->names = names;
    a->items = values;
    return jx_bc_ok(r) ? a : NULL;
}

static const jx_mlir_attr *coded(jx_bc_reader *r, jx_bc_cursor *c,
                                 jx_bc_dialect_kind dialect, uint64_t code,
                                 const uint8_t *at)
{
    const jx_bc_record *row = jx_bc_record_by_code(dialect, code);
    const jx_bc_enum *e = dialect == JX_BC_VHLO ? enum_by_code(code) : NULL;

    if (e)
        return enumerator(r, c, e);
    if (row)
        return record(r, c, row);
    jx_bc_fail(r, at, "attribute code %llu is not known",
               (unsigned long long)code);
    return NULL;
}

static const jx_mlir_attr *vhlo_attr(jx_bc_reader *r, jx_bc_cursor *c)
{
    const uint8_t *at = c->at;
    uint64_t code = jx_bc_varint(r, c);

    switch (code) {
    case 1: return of_items(r, c, JX_A_ARRAY, true);
    case 2: return boolean(r, c, false);
    case 6: return dictionary(r, c, true);
    case 8: return float_attr(r, c, true);
    case 9: return integer(r, c, true);
    case 14: return string(r, c, true);
    case 15: return dense(r, c, true);
    case 17: return type_attr(r, c, true);
    default: return coded(r, c, JX_BC_VHLO, code, at);
    }
}

const jx_mlir_attr *jx_bc_read_attr(jx_bc_reader *r, jx_bc_cursor *c,
                                    jx_bc_dialect_kind dialect)
{
    const uint8_t *at = c->at;

    switch (dialect) {
    case JX_BC_BUILTIN: return builtin_attr(r, c);
    case JX_BC_VHLO: return vhlo_attr(r, c);
    case JX_BC_SDY: return coded(r, c, JX_BC_SDY, jx_bc_varint(r, c), at);
    default:
        jx_bc_fail(r, at, "this dialect's attributes are not known");
        return NULL;
    }
}
