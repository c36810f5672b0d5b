/* text_attrs.c - attributes of MLIR text that belong to no dialect. */
#include "frontend/base/plain.h"
#include "frontend/mlir/text_parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- making them */

jx_mlir_attr *jx_mtext_new(jx_mtext *t, jx_mlir_attr_kind kind)
{
    jx_mlir_attr *attr = t->failed ? NULL : JX_NEW(t->arena, jx_mlir_attr);

    if (attr)
        attr->kind = kind;
    else
        t->failed = true;
    return attr;
}

static void *copy(jx_mtext *t, const void *from, size_t size)
{
    void *to = size ? jx_arena_copy(t->arena, from, size)
                    : jx_arena_alloc(t->arena, 0);

    if (!to)
        t->failed = true;
    return to;
}

const jx_mlir_attr *jx_mtext_int_attr(jx_mtext *t, const jx_mlir_type *type,
                                      int64_t value)
{
    jx_mlir_attr *attr = jx_mtext_new(t, JX_A_INTEGER);

    if (attr) {
        attr->type = type;
        attr->integer = value;
    }
    return attr;
}

const jx_mlir_attr *jx_mtext_text_attr(jx_mtext *t, jx_piece text)
{
    jx_mlir_attr *attr = jx_mtext_new(t, JX_A_STRING);

    if (attr) {
        attr->bytes = copy(t, text.at, text.length);
        attr->size = text.length;
    }
    return attr;
}

const jx_mlir_attr *jx_mtext_bool(jx_mtext *t)
{
    if (jx_mtext_take(t, "true"))
        return t->yes;
    if (jx_mtext_take(t, "false"))
        return t->no;
    jx_mtext_wants(t, "'true' or 'false'");
    return NULL;
}

const jx_mlir_attr *jx_mtext_quoted(jx_mtext *t)
{
    jx_piece text;

    if (jx_mtext_string(t, &text))
        return jx_mtext_text_attr(t, text);
    jx_mtext_wants(t, "a string");
    return NULL;
}

const jx_mlir_attr *jx_mtext_i64(jx_mtext *t)
{
    int64_t value;

    return jx_mtext_integer(t, &value) ? jx_mtext_int_attr(t, t->i64, value)
                                       : NULL;
}

const jx_mlir_attr *jx_mtext_real_attr(jx_mtext *t, double value)
{
    jx_mlir_attr *attr = jx_mtext_new(t, JX_A_FLOAT);

    if (attr) {
        attr->type = t->f64;
        attr->bytes = copy(t, &value, sizeof value);
        attr->size = sizeof value;
        attr->real = value;
    }
    return attr;
}

const jx_mlir_attr *jx_mtext_type_attr(jx_mtext *t, const jx_mlir_type *type)
{
    jx_mlir_attr *attr = type ? jx_mtext_new(t, JX_A_TYPE) : NULL;

    if (attr)
        attr->type = type;
    return attr;
}

const jx_mlir_attr *jx_mtext_list_attr(jx_mtext *t, const jx_mlir_type *of,
                                       size_t from)
{
    jx_mlir_attr *attr = jx_mtext_new(t, JX_A_DENSE_ARRAY);

    if (!attr)
        return NULL;
    attr->type = of;
    attr->count = (int)(t->numbers.count - from);
    attr->integers = JX_MTEXT_CUT(t, &t->numbers, from);
    return attr;
}

const jx_mlir_attr *jx_mtext_array_attr(jx_mtext *t, size_t from)
{
    jx_mlir_attr *attr = jx_mtext_new(t, JX_A_ARRAY);

    if (!attr)
        return NULL;
    attr->count = (int)(t->items.count - from);
    attr->items = JX_MTEXT_CUT(t, &t->items, from);
    return attr;
}

/* ---- lists and dictionaries */

bool jx_mtext_list(jx_mtext *t, const char *open, const char *close)
{
    if (!jx_mtext_expect(t, open))
        return false;
    if (jx_mtext_take(t, close))
        return true;
    do {
        int64_t value = JX_MLIR_DYNAMIC;
        if (!jx_mtext_take(t, "?"))
            jx_mtext_integer(t, &value);
        JX_PUSH(t->arena, &t->numbers, value);
    } while (!t->failed && jx_mtext_take(t, ","));
    return jx_mtext_expect(t, close);
}

const jx_mlir_attr *jx_mtext_items(jx_mtext *t, const char *open,
                                   const char *close, jx_mtext_reader *item)
{
    size_t from = t->items.count;

    if (!jx_mtext_expect(t, open))
        return NULL;
    if (!jx_mtext_take(t, close)) {
        do {
            const jx_mlir_attr *attr = item(t);
            if (attr)
                JX_PUSH(t->arena, &t->items, attr);
            else
                jx_mtext_wants(t, "an item");
        } while (!t->failed && jx_mtext_take(t, ","));
        jx_mtext_expect(t, close);
    }
    return jx_mtext_array_attr(t, from);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const jx_mlir_named *)a)->name,
                  ((const jx_mlir_named *)b)->name);
}

bool jx_mtext_sort(jx_mtext *t, const char *at, jx_mlir_named *named,
                   size_t count)
{
    bool sorted = true;

    for (size_t i = 1; i < count && sorted; i++)
        sorted = strcmp(named[i - 1].name, named[i].name) < 0;
    if (sorted)
        return true;
    qsort(named, count, sizeof *named, by_name);
    for (size_t i = 1; i < count; i++)
        if (named[i - 1].name == named[i].name)
            return jx_mtext_fail(t, at, "the attribute '%.64s' is given twice",
                                 named[i].name);
    return true;
}

/* `name`, `"name"`, with `= value` or alone. */
static void entry(jx_mtext *t)
{
    jx_mlir_named named = {0};
    jx_piece name;

    if (jx_mtext_string(t, &name)) {
        if (!name.length) {
            jx_mtext_fail(t, t->at, "expected the name of an attribute");
            return;
        }
        if (!jx_mtext_is_name(t, t->at, name))
            return;
    } else {
        name = jx_mtext_word(t, true);
        if (!name.length) {
            jx_mtext_wants(t, "the name of an attribute");
            return;
        }
    }
    named.name = jx_mtext_intern(t, name);
    named.value = jx_mtext_take(t, "=") ? jx_mtext_attr(t) : t->unit;
    if (!t->failed)
        JX_PUSH(t->arena, &t->entries, named);
}

bool jx_mtext_entries(jx_mtext *t, const char *open, const char *close)
{
    size_t from = t->entries.count;

    if (!jx_mtext_expect(t, open))
        return false;
    const char *at = t->at;
    if (!jx_mtext_take(t, close)) {
        do
            entry(t);
        while (!t->failed && jx_mtext_take(t, ","));
        jx_mtext_expect(t, close);
    }
    return !t->failed && (t->entries.count == from ||
                          jx_mtext_sort(t, at, t->entries.at + from,
                                        t->entries.count - from));
}

static const jx_mlir_attr *named_attr(jx_mtext *t, jx_mlir_attr_kind kind,
                                      size_t from)
{
    jx_mlir_attr *attr = jx_mtext_new(t, kind);
    size_t n = t->entries.count - from;
    const char **names = JX_NEW_ARRAY(t->arena, n, const char *);
    const jx_mlir_attr **items =
        JX_NEW_ARRAY(t->arena, n, const jx_mlir_attr *);

    if (!attr || !names || !items) {
        t->failed = true;
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        names[i] = t->entries.at[from + i].name;
        items[i] = t->entries.at[from + i].value;
    }
    t->entries.count = from;
    attr->count = (int)n;
    attr->names = names;
    attr->items = items;
    return attr;
}

const jx_mlir_attr *jx_mtext_dict_attr(jx_mtext *t, size_t from)
{
    return named_attr(t, JX_A_DICT, from);
}

static const jx_mlir_attr *dictionary(jx_mtext *t)
{
    size_t from = t->entries.count;

    if (!jx_mtext_entries(t, "{", "}"))
        return NULL;
    return jx_mtext_dict_attr(t, from);
}

void jx_mtext_field(jx_mtext *t, const char *name, const jx_mlir_attr *value)
{
    const char *kept = jx_intern_text(t->ctx, name);

    if (!kept || !value)
        t->failed = true;
    else
        JX_PUSH(t->arena, &t->entries, (jx_mlir_named){kept, value});
}

const jx_mlir_attr *jx_mtext_record_attr(jx_mtext *t, const char *name,
                                         size_t from)
{
    jx_mlir_attr *attr =
        t->failed ? NULL
                  : (jx_mlir_attr *)(uintptr_t)named_attr(t, JX_A_RECORD, from);

    if (attr)
        attr->name = jx_intern_text(t->ctx, name);
    return attr;
}

/* ---- numbers */

static const jx_mlir_attr *integer(jx_mtext *t, const jx_mnumber *n,
                                   const jx_mlir_type *type)
{
    unsigned width = type->kind == JX_T_INDEX ? 64 : type->width;
    jx_mlir_sign sign = type->kind == JX_T_INDEX ? JX_SIGNED : type->sign;
    unsigned char bytes[16];

    if (!jx_mnumber_integer(n, width, sign, bytes)) {
        jx_mtext_fail(t, n->at,
                      width > 128
                          ? "integers of more than 128 bits are not read"
                          : "this does not fit its type, an integer of %u bits",
                      width);
        return NULL;
    }
    if (width == 1 && sign == JX_SIGNLESS)
        return bytes[0] & 1 ? t->yes : t->no;
    jx_mlir_attr *attr = jx_mtext_new(t, JX_A_INTEGER);
    if (!attr)
        return NULL;
    attr->type = type;
    memcpy(&attr->integer, bytes, 8);
    /* Beyond int64: bits 63 to 127 are not all the same. */
    uint64_t high, fill = attr->integer < 0 ? UINT64_MAX : 0;
    memcpy(&high, bytes + 8, 8);
    if (high != fill) {
        attr->integer = 0;
        attr->size = (width + 7) / 8;
        attr->bytes = copy(t, bytes, attr->size);
    }
    return attr;
}

static const jx_mlir_attr *real(jx_mtext *t, const jx_mnumber *n,
                                const jx_mlir_type *type)
{
    const jx_mformat *format = jx_mformat_of(type->text);
    unsigned char bytes[16] = {0};
    uint64_t bits;

    if (!format) {
        jx_mtext_fail(t, n->at, "values of %s are not read", type->text);
        return NULL;
    }
    if (n->hex) {
        if (n->negative || !jx_mnumber_integer(n, jx_mformat_width(format),
                                               JX_UNSIGNED, bytes)) {
            jx_mtext_fail(t, n->at, "expected the bits of %s", type->text);
            return NULL;
        }
        memcpy(&bits, bytes, 8);
    } else if (n->real) {
        bits = jx_mnumber_encode(t->ctx, n, format);
    } else {
        jx_mtext_fail(t, n->at,
                      "expected a number with a point: its type is %s",
                      type->text);
        return NULL;
    }
    jx_mlir_attr *attr = jx_mtext_new(t, JX_A_FLOAT);
    if (!attr)
        return NULL;
    attr->type = type;
    attr->size = (jx_mformat_width(format) + 7) / 8;
    attr->bytes = copy(t, &bits, attr->size);
    attr->real = jx_mformat_decode(format, bits);
    return attr;
}

const jx_mlir_attr *jx_mtext_number(jx_mtext *t, const jx_mlir_type *type)
{
    jx_mnumber n;

    jx_mtext_space(t);
    const char *at = t->at;
    if (!jx_mnumber_scan(t->at, t->end, &n)) {
        jx_mtext_wants(t, "a number");
        return NULL;
    }
    t->at = n.at + n.length;
    if (!type)
        type = jx_mtext_take(t, ":") ? jx_mtext_type(t)
               : n.real              ? t->f64
                                     : t->i64;
    if (!type)
        return NULL;
    if (type->kind == JX_T_FLOAT)
        return real(t, &n, type);
    if ((type->kind == JX_T_INTEGER || type->kind == JX_T_INDEX) && !n.real)
        return integer(t, &n, type);
    jx_mtext_fail(t, at,
                  n.real ? "a number with a point needs a float type"
                         : "a number needs a number's type");
    return NULL;
}

/* ---- what begins with a word */

/* One element of `array<T: ...>`; of a float its bits, on the stack. */
static void array_element(jx_mtext *t, const jx_mlir_type *type)
{
    const jx_mlir_attr *value;
    int64_t bits = 0;

    if (type == t->i1 && jx_mtext_take(t, "true"))
        value = t->yes;
    else if (type == t->i1 && jx_mtext_take(t, "false"))
        value = t->no;
    else
        value = jx_mtext_number(t, type);
    if (!value)
        return;
    if (value->kind == JX_A_BOOL)
        bits = value->boolean;
    else if (value->bytes)
        memcpy(&bits, value->bytes, value->size < 8 ? value->size : 8);
    else
        bits = value->integer;
    JX_PUSH(t->arena, &t->numbers, bits);
}

static const jx_mlir_attr *dense_array(jx_mtext *t)
{
    size_t from = t->numbers.count;
    const jx_mlir_type *type =
        jx_mtext_expect(t, "<") ? jx_mtext_type(t) : NULL;
    const jx_mformat *format;

    if (!type)
        return NULL;
    format = type->kind == JX_T_FLOAT ? jx_mformat_of(type->text) : NULL;
    if (!format && (type->kind != JX_T_INTEGER || type->width > 64)) {
        jx_mtext_fail(t, t->at, "expected a type of integers or floats");
        return NULL;
    }
    if (jx_mtext_take(t, ":"))
        do
            array_element(t, type);
        while (!t->failed && jx_mtext_take(t, ","));
    jx_mtext_expect(t, ">");
    jx_mlir_attr *attr =
        (jx_mlir_attr *)(uintptr_t)jx_mtext_list_attr(t, type, from);
    if (!attr || !format)
        return attr;
    /* Floats are bytes, each as long as its format. */
    size_t size = (jx_mformat_width(format) + 7) / 8, n = (size_t)attr->count;
    char *bytes = jx_arena_array(t->arena, n, size);
    for (size_t i = 0; bytes && i < n; i++)
        memcpy(bytes + i * size, &attr->integers[i], size);
    attr->bytes = bytes;
    attr->size = n * size;
    attr->integers = NULL;
    return bytes ? attr : NULL;
}

/* `dense_resource<name> : type`; the bytes come at the end of the text. */
static const jx_mlir_attr *resource(jx_mtext *t)
{
    jx_mlir_attr *attr = jx_mtext_new(t, JX_A_RESOURCE);
    jx_piece name;

    if (!attr || !jx_mtext_expect(t, "<"))
        return NULL;
    if (!jx_mtext_string(t, &name))
        name = jx_mtext_word(t, true);
    if (!name.length) {
        jx_mtext_wants(t, "the name of a resource");
        return NULL;
    }
    attr->text = jx_mtext_intern(t, name);
    if (jx_mtext_expect(t, ">") && jx_mtext_expect(t, ":"))
        attr->type = jx_mtext_type(t);
    if (!attr->type)
        return NULL;
    JX_PUSH(t->arena, &t->blobs, (jx_mblob){attr->text, attr});
    return attr;
}

/* What is kept as it is written, from `from` up to the bracket that closes the
 * one that comes. */
static const jx_mlir_attr *opaque(jx_mtext *t, const char *from)
{
    jx_mlir_attr *attr = jx_mtext_new(t, JX_A_OPAQUE);

    if (!attr || !jx_mtext_skip(t))
        return NULL;
    attr->text = jx_mtext_intern(t, (jx_piece){from, (size_t)(t->at - from)});
    if (jx_mtext_take(t, ":"))
        attr->type = jx_mtext_type(t);
    return t->failed ? NULL : attr;
}

static bool keeps(jx_piece word)
{
    static const char *const words[] = {"affine_map", "affine_set", "sparse",
                                        "opaque",     "distinct",   "strided"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (jx_mtext_is(word, words[i]))
            return true;
    return false;
}

static const jx_mlir_attr *worded(jx_mtext *t)
{
    const char *from = t->at;
    jx_piece word = jx_mtext_word(t, false);

    if (jx_mtext_is(word, "true"))
        return t->yes;
    if (jx_mtext_is(word, "false"))
        return t->no;
    if (jx_mtext_is(word, "dense"))
        return jx_mtext_dense(t);
    if (jx_mtext_is(word, "array"))
        return dense_array(t);
    if (jx_mtext_is(word, "unit"))
        return t->unit;
    if (jx_mtext_is(word, "dense_resource"))
        return resource(t);
    if (jx_mtext_is(word, "loc")) {
        t->at = from;
        return jx_mtext_loc(t);
    }
    if (keeps(word))
        return opaque(t, from);
    const jx_mlir_type *type = jx_mtext_type_word(t, word);
    if (type)
        return jx_mtext_type_attr(t, type);
    if (!t->failed) {
        t->at = from;
        jx_mtext_wants(t, "an attribute");
    }
    return NULL;
}

/* ---- the rest */

const jx_mlir_attr *jx_mtext_symbol_attr(jx_mtext *t)
{
    jx_mlir_attr *attr = jx_mtext_new(t, JX_A_SYMBOL);
    size_t from = t->items.count;

    if (!attr)
        return NULL;
    attr->text = jx_mtext_symbol(t);
    if (!attr->text) {
        jx_mtext_wants(t, "a name with '@'");
        return NULL;
    }
    while (!t->failed && jx_mtext_take(t, "::")) {
        jx_mlir_attr *nested = jx_mtext_new(t, JX_A_SYMBOL);
        if (!nested)
            return NULL;
        nested->text = jx_mtext_symbol(t);
        if (!nested->text)
            jx_mtext_wants(t, "a name with '@'");
        JX_PUSH(t->arena, &t->items, nested);
    }
    attr->count = (int)(t->items.count - from);
    if (attr->count)
        attr->items = JX_MTEXT_CUT(t, &t->items, from);
    return t->failed ? NULL : attr;
}

static const jx_mlir_attr *string(jx_mtext *t)
{
    jx_piece text;
    jx_mlir_attr *attr;

    if (!jx_mtext_string(t, &text))
        return NULL;
    attr = (jx_mlir_attr *)(uintptr_t)jx_mtext_text_attr(t, text);
    if (attr && jx_mtext_take(t, ":"))
        attr->type = jx_mtext_type(t);
    return t->failed ? NULL : attr;
}

static const jx_mlir_attr *any(jx_mtext *t)
{
    switch (jx_mtext_space(t)) {
    case '"': return string(t);
    case '[': return jx_mtext_items(t, "[", "]", jx_mtext_attr);
    case '{': return dictionary(t);
    case '@': return jx_mtext_symbol_attr(t);
    case '#': t->at++; return jx_mtext_dialect_attr(t);
    case '!':
    case '(': return jx_mtext_type_attr(t, jx_mtext_type(t));
    case '-': return jx_mtext_number(t, NULL);
    default:
        if (t->at < t->end && jx_is_digit(*t->at))
            return jx_mtext_number(t, NULL);
        return worded(t);
    }
}

const jx_mlir_attr *jx_mtext_attr(jx_mtext *t)
{
    const jx_mlir_attr *attr;

    if (!jx_mtext_enter(t))
        return NULL;
    attr = any(t);
    jx_mtext_leave(t);
    if (!attr && !t->failed)
        jx_mtext_wants(t, "an attribute");
    return t->failed ? NULL : attr;
}
