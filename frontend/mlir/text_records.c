/* text_records.c - attributes of dialects: records and enumerations.
 *
 * What records.def knows is read field by field; what has a syntax of its own
 * is read here (convolutions) or in text_sdy.c; the rest is kept as written. */
#include "frontend/mlir/text_parts.h"

#include <stdio.h>
#include <string.h>

enum { MOST_FIELDS = 16 };

/* ---- skipping */

static bool opens(char c)
{
    return c == '<' || c == '(' || c == '[' || c == '{';
}

static bool shuts(char open, char c)
{
    switch (open) {
    case '<': return c == '>';
    case '(': return c == ')';
    case '[': return c == ']';
    default: return c == '}';
    }
}

bool jx_mtext_skip(jx_mtext *t)
{
    enum { MOST = 200 };
    char stack[MOST];
    const char *from = t->at;
    jx_piece string;
    int depth = 0;

    if (!opens(jx_mtext_space(t)))
        return jx_mtext_wants(t, "'<'");
    do {
        char c = jx_mtext_space(t);
        if (t->at >= t->end)
            return jx_mtext_fail(t, from, "this bracket is not closed");
        if (c == '"') {
            if (!jx_mtext_string(t, &string))
                return false;
            continue;
        }
        if (opens(c)) {
            if (depth == MOST)
                return jx_mtext_fail(t, t->at, "this nests more than %d deep",
                                     MOST);
            stack[depth++] = c;
        } else if (c == '-' && t->at + 1 < t->end && t->at[1] == '>') {
            t->at++;
        } else if (c == '>' || c == ')' || c == ']' || c == '}') {
            if (!shuts(stack[depth - 1], c))
                return jx_mtext_fail(t, t->at,
                                     "this does not close the '%c' "
                                     "that is open",
                                     stack[depth - 1]);
            depth--;
        }
        t->at++;
    } while (depth);
    return true;
}

/* ---- fields */

static const jx_mlir_attr *list_field(jx_mtext *t)
{
    size_t from = t->numbers.count;

    return jx_mtext_list(t, "[", "]") ? jx_mtext_list_attr(t, t->i64, from)
                                      : NULL;
}

/* `(1)2`: sizes of what lies before the part of an axis, and of the part. */
const jx_mlir_attr *jx_mtext_sub_axis(jx_mtext *t, const char *name)
{
    size_t from = t->entries.count;

    jx_mtext_expect(t, "(");
    jx_mtext_field(t, "pre_size", jx_mtext_i64(t));
    jx_mtext_expect(t, ")");
    jx_mtext_field(t, "size", jx_mtext_i64(t));
    return jx_mtext_record_attr(t, name, from);
}

const jx_mlir_attr *jx_mtext_of_kind(jx_mtext *t, const char *at,
                                     const jx_mlir_attr *attr,
                                     jx_mlir_attr_kind kind)
{
    if (attr && attr->kind != kind)
        jx_mtext_fail(t, at, "an attribute of another kind is expected here");
    return t->failed ? NULL : attr;
}

const jx_mlir_attr *jx_mtext_in_full(jx_mtext *t, const char *name)
{
    const char *at = t->at;
    const jx_mlir_attr *attr = jx_mtext_attr(t);

    if (attr && (!attr->name || strcmp(attr->name, name) != 0))
        jx_mtext_fail(t, at, "expected #%s", name);
    return t->failed ? NULL : attr;
}

/* Attributes of records, also without the names of what they are. */
static const jx_mlir_attr *attr_field(jx_mtext *t, const char *field)
{
    char c = jx_mtext_space(t);
    const char *at = t->at;

    if (strcmp(field, "sub_axis_info") == 0)
        return c == '(' ? jx_mtext_sub_axis(t, "stablehlo.sub_axis_info")
                        : jx_mtext_in_full(t, "stablehlo.sub_axis_info");
    if (strcmp(field, "mesh") == 0)
        return c == '@' ? jx_mtext_symbol_attr(t)
                        : jx_mtext_record(t, "stablehlo.mesh");
    if (strcmp(field, "mode") == 0)
        return jx_mtext_record(t, "stablehlo.result_accuracy_mode");
    return jx_mtext_of_kind(t, at, jx_mtext_attr(t), JX_A_DENSE);
}

static const jx_mlir_attr *mesh_axis(jx_mtext *t)
{
    return jx_mtext_record(t, "stablehlo.mesh_axis");
}

static const jx_mlir_attr *array_field(jx_mtext *t, const char *record)
{
    const char *at = t->at;

    return strcmp(record, "stablehlo.mesh") == 0
               ? jx_mtext_items(t, "[", "]", mesh_axis)
               : jx_mtext_of_kind(t, at, jx_mtext_attr(t), JX_A_ARRAY);
}

static const jx_mlir_attr *field_value(jx_mtext *t, const char *record,
                                       const char *field, char kind)
{
    switch (kind) {
    case 'L': return list_field(t);
    case 'I': return jx_mtext_i64(t);
    case 'B': return jx_mtext_bool(t);
    case 'F': return jx_mtext_number(t, t->f64);
    case 'S': return jx_mtext_quoted(t);
    case 'T': return jx_mtext_type_attr(t, jx_mtext_type(t));
    case 'R': return array_field(t, record);
    default: return attr_field(t, field);
    }
}

/* What a field left out means where it must have a value; NULL: nothing. */
static const jx_mlir_attr *default_value(jx_mtext *t, char kind)
{
    switch (kind) {
    case 'L': return jx_mtext_list_attr(t, t->i64, t->numbers.count);
    case 'I': return jx_mtext_int_attr(t, t->i64, 0);
    case 'F': return jx_mtext_real_attr(t, 0);
    default: return NULL;
    }
}

static bool is_default(const jx_mlir_attr *value)
{
    switch (value->kind) {
    case JX_A_DENSE_ARRAY:
    case JX_A_ARRAY: return !value->count;
    case JX_A_INTEGER: return !value->integer;
    case JX_A_BOOL: return !value->boolean;
    case JX_A_ENUM: return jx_mlir_enum_number(value->name, value->text) == 0;
    default: return false;
    }
}

/* ---- records */

/* The fields of a record as they come, at their places in `values`. */
static bool read_fields(jx_mtext *t, const jx_mlir_record_info *info,
                        const jx_mlir_attr *values[MOST_FIELDS])
{
    do {
        const char *at = info->fields, *name;
        jx_piece word = jx_mtext_word(t, false);
        size_t length;
        char kind, mark;
        int i = 0;

        for (; (at = jx_mlir_next_field(at, &name, &length, &kind, &mark)); i++)
            if (length == word.length && !memcmp(name, word.at, length))
                break;
        if (!at || !word.length) {
            t->at = word.at;
            return jx_mtext_wants(t, "the name of a field");
        }
        if (values[i])
            return jx_mtext_fail(t, word.at, "'%.*s' is given twice",
                                 (int)length, name);
        if (!jx_mtext_expect(t, "="))
            return false;
        values[i] = field_value(t, info->name, jx_mtext_intern(t, word), kind);
        if (!values[i])
            return false;
    } while (jx_mtext_take(t, ",") && !jx_mtext_comes(t, ">"));
    return !t->failed;
}

/* Behind the `<`. */
static const jx_mlir_attr *fields_of(jx_mtext *t,
                                     const jx_mlir_record_info *info)
{
    const jx_mlir_attr *values[MOST_FIELDS] = {0};
    const char *at = info->fields, *name;
    size_t length, from = t->entries.count;
    char kind, mark;

    const char *begin = t->at;
    if (!jx_mtext_comes(t, ">") && !read_fields(t, info, values))
        return NULL;
    if (!jx_mtext_expect(t, ">"))
        return NULL;
    for (int i = 0; (at = jx_mlir_next_field(at, &name, &length, &kind, &mark));
         i++) {
        jx_piece word = {name, length};
        if (!values[i] && !mark)
            values[i] = default_value(t, kind);
        if (!values[i] && !mark) {
            jx_mtext_fail(t, begin, "'%.*s' is missing", (int)length, name);
            return NULL;
        }
        if (!values[i] || (mark == '=' && is_default(values[i])))
            continue;
        JX_PUSH(t->arena, &t->entries,
                (jx_mlir_named){jx_mtext_intern(t, word), values[i]});
    }
    return jx_mtext_record_attr(t, info->name, from);
}

static const jx_mlir_attr *record_of(jx_mtext *t,
                                     const jx_mlir_record_info *info)
{
    return jx_mtext_expect(t, "<") ? fields_of(t, info) : NULL;
}

/* ---- convolutions */

typedef struct conv_side {
    int64_t first, second; /* places of `b` and `f`, or of `i` and `o` */
    const jx_mlir_attr *spatial;
} conv_side;

/* `[b, 0, 1, f]`: at each place of the shape, which dimension it is. */
static bool conv_side_of(jx_mtext *t, const char letters[2], conv_side *side)
{
    enum { MOST = 64 };
    int64_t spatial[MOST], place = 0, number;
    int count = 0, highest = -1;
    char what[48];

    *side = (conv_side){-1, -1, NULL};
    for (int i = 0; i < MOST; i++)
        spatial[i] = -1;
    if (!jx_mtext_expect(t, "["))
        return false;
    do {
        char c = jx_mtext_space(t);
        const char *at = t->at;
        int64_t *named = c == letters[0]   ? &side->first
                         : c == letters[1] ? &side->second
                                           : NULL;
        if (named && *named < 0) {
            t->at++;
            *named = place++;
            continue;
        }
        snprintf(what, sizeof what, "'%c', '%c' or the number of an axis",
                 letters[0], letters[1]);
        if (c == '?') {
            t->at++;
            place++;
            continue;
        }
        if (c < '0' || c > '9')
            return jx_mtext_wants(t, what);
        if (!jx_mtext_integer(t, &number))
            return false;
        if (number >= MOST || spatial[number] >= 0)
            return jx_mtext_fail(t, at,
                                 "this axis can't be, or is there already");
        spatial[number] = place++;
        highest = number > highest ? (int)number : highest;
        count++;
    } while (jx_mtext_take(t, ","));
    if (side->first < 0 || side->second < 0)
        return jx_mtext_fail(t, t->at, "expected '%c' and '%c' in this list",
                             letters[0], letters[1]);
    if (count != highest + 1)
        return jx_mtext_fail(
            t, t->at, "expected every axis from 0 to %d in this list", highest);
    size_t from = t->numbers.count;
    for (int i = 0; i < count; i++)
        JX_PUSH(t->arena, &t->numbers, spatial[i]);
    side->spatial = jx_mtext_list_attr(t, t->i64, from);
    return jx_mtext_expect(t, "]");
}

const jx_mlir_attr *jx_mtext_conv_dims(jx_mtext *t)
{
    static const struct side {
        const char *letters, *first, *second, *spatial;
    } sides[] = {
        {"bf", "input_batch_dimension", "input_feature_dimension",
         "input_spatial_dimensions"},
        {"io", "kernel_input_feature_dimension",
         "kernel_output_feature_dimension", "kernel_spatial_dimensions"},
        {"bf", "output_batch_dimension", "output_feature_dimension",
         "output_spatial_dimensions"},
    };
    size_t from = t->entries.count;
    conv_side side;

    for (int i = 0; i < 3; i++) {
        if (i && !jx_mtext_expect(t, i == 1 ? "x" : "->"))
            return NULL;
        if (!conv_side_of(t, sides[i].letters, &side))
            return NULL;
        jx_mtext_field(t, sides[i].first,
                       jx_mtext_int_attr(t, t->i64, side.first));
        jx_mtext_field(t, sides[i].second,
                       jx_mtext_int_attr(t, t->i64, side.second));
        jx_mtext_field(t, sides[i].spatial, side.spatial);
    }
    return jx_mtext_record_attr(t, "stablehlo.conv", from);
}

static const jx_mlir_attr *conv(jx_mtext *t)
{
    const jx_mlir_attr *attr;

    if (!jx_mtext_expect(t, "<"))
        return NULL;
    if (jx_mtext_take(t, "raw"))
        return fields_of(t, jx_mlir_record_info_find("stablehlo.conv"));
    attr = jx_mtext_conv_dims(t);
    return jx_mtext_expect(t, ">") ? attr : NULL;
}

/* `<5, ?>`, or as `<bounds = [5, ?]>`. */
static const jx_mlir_attr *bounds(jx_mtext *t, bool named)
{
    size_t from = t->entries.count, numbers = t->numbers.count;

    if (named) {
        jx_mtext_expect(t, "<");
        jx_mtext_expect(t, "bounds");
        jx_mtext_expect(t, "=");
    }
    if (jx_mtext_list(t, named ? "[" : "<", named ? "]" : ">"))
        jx_mtext_field(t, "bounds", jx_mtext_list_attr(t, t->i64, numbers));
    if (named)
        jx_mtext_expect(t, ">");
    return jx_mtext_record_attr(t, "stablehlo.bounds", from);
}

/* ---- enumerations */

const jx_mlir_attr *jx_mtext_enum(jx_mtext *t, const char *name)
{
    char what[96];
    const char *at = t->at;
    bool bracket = jx_mtext_take(t, "<");
    jx_piece word = jx_mtext_word(t, false);
    const char *text = word.length ? jx_mtext_intern(t, word) : "";

    if (!word.length || jx_mlir_enum_number(name, text) < 0) {
        t->at = word.length ? word.at : at;
        snprintf(what, sizeof what, "a case of %s", name);
        jx_mtext_wants(t, what);
        return NULL;
    }
    if (bracket && !jx_mtext_expect(t, ">"))
        return NULL;
    jx_mlir_attr *attr = jx_mtext_new(t, JX_A_ENUM);
    if (attr) {
        attr->name = jx_intern_text(t->ctx, name);
        attr->text = text;
    }
    return attr;
}

/* ---- any of them */

/* Whether `name` is known; *attr is then read, or NULL after a failure. */
static bool known(jx_mtext *t, const char *name, const jx_mlir_attr **attr)
{
    const jx_mlir_record_info *info;

    if (strncmp(name, "sdy.", 4) == 0 && jx_mtext_sdy(t, name, attr))
        return true;
    if (strcmp(name, "stablehlo.conv") == 0)
        *attr = conv(t);
    else if (strcmp(name, "stablehlo.bounds") == 0 ||
             strcmp(name, "chlo.bounds") == 0)
        *attr = bounds(t, false);
    else if (strcmp(name, "stablehlo.type_extensions") == 0)
        *attr = bounds(t, true);
    else if (strcmp(name, "stablehlo.sub_axis_info") == 0)
        *attr = jx_mtext_sub_axis(t, name);
    else if ((info = jx_mlir_record_info_find(name)))
        *attr = record_of(t, info);
    else if (*jx_mlir_enum_cases(name))
        *attr = jx_mtext_enum(t, name);
    else
        return false;
    return true;
}

const jx_mlir_attr *jx_mtext_record(jx_mtext *t, const char *name)
{
    const jx_mlir_attr *attr = NULL;

    if (jx_mtext_space(t) == '#')
        return jx_mtext_in_full(t, name);
    if (!jx_mtext_enter(t))
        return NULL;
    if (!known(t, name, &attr))
        jx_mtext_wants(t, "an attribute that is known");
    jx_mtext_leave(t);
    return t->failed ? NULL : attr;
}

/* `dialect.mnemonic` in a buffer; false if it is too long to be known. */
static bool full_name(char *to, size_t size, jx_piece dialect,
                      jx_piece mnemonic)
{
    int n = snprintf(to, size, "%.*s.%.*s", (int)dialect.length, dialect.at,
                     (int)mnemonic.length, mnemonic.at);

    return n > 0 && (size_t)n < size;
}

static const jx_mlir_attr *as_written(jx_mtext *t, const char *from)
{
    jx_mlir_attr *attr = jx_mtext_new(t, JX_A_OPAQUE);

    if (t->at < t->end && *t->at == '<' && !jx_mtext_skip(t))
        return NULL;
    if (attr)
        attr->text =
            jx_mtext_intern(t, (jx_piece){from, (size_t)(t->at - from)});
    return attr;
}

/* `dialect<mnemonic ...>`, at the bracket. */
static const jx_mlir_attr *long_form(jx_mtext *t, jx_piece dialect)
{
    enum { MOST = 128 };
    const char *from = dialect.at - 1, *bracket = t->at;
    const jx_mlir_attr *attr;
    char name[MOST];

    t->at++;
    jx_piece mnemonic = jx_mtext_word(t, true);
    if (mnemonic.length < MOST / 2 && dialect.length < MOST / 2 &&
        full_name(name, sizeof name, dialect, mnemonic) &&
        known(t, name, &attr))
        return jx_mtext_expect(t, ">") ? attr : NULL;
    t->at = bracket;
    return t->failed ? NULL : as_written(t, from);
}

const jx_mlir_attr *jx_mtext_dialect_attr(jx_mtext *t)
{
    enum { MOST = 128 };
    const char *from = t->at - 1;
    jx_piece name = jx_mtext_suffix(t);
    const jx_mlir_attr *attr;

    if (!name.length) {
        jx_mtext_wants(t, "the name of an attribute after '#'");
        return NULL;
    }
    bool body = t->at < t->end && *t->at == '<';
    if (!memchr(name.at, '.', name.length))
        return body ? long_form(t, name) : jx_mtext_alias_attr(t, name);
    if (name.length < MOST && known(t, jx_mtext_intern(t, name), &attr))
        return t->failed ? NULL : attr;
    return t->failed ? NULL : as_written(t, from);
}
