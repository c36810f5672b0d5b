/* text_pretty.c - pretty forms, as pretty.def has them. */
#include "frontend/mlir/text_parts.h"
#include "frontend/base/plain.h"

#include <stdlib.h>
#include <string.h>

typedef struct form {
    const char *name, *form;
} form;

static const form forms[] = {
#define PRETTY(name, form) {name, form},
#include "frontend/mlir/pretty.def"
#undef PRETTY
};

/* ---- types */

static size_t uses_of(const jx_mtext *t, const jx_mop *op)
{
    return t->uses.count - op->uses;
}

static bool repeat_in(jx_mtext *t, const jx_mlir_type *type, size_t count)
{
    for (size_t i = 0; type && i < count; i++)
        JX_PUSH(t->arena, &t->in_types, type);
    return type != NULL;
}

static bool push_out(jx_mtext *t, const jx_mlir_type *type)
{
    if (type)
        JX_PUSH(t->arena, &t->out_types, type);
    return type != NULL;
}

static bool take_out(jx_mtext *t, jx_mop *op)
{
    (void)op;
    return push_out(t, jx_mtext_type(t));
}

static bool take_in(jx_mtext *t, jx_mop *op)
{
    (void)op;
    return repeat_in(t, jx_mtext_type(t), 1);
}

static bool take_ins(jx_mtext *t, jx_mop *op)
{
    (void)op;
    return jx_mtext_type_list(t, &t->in_types);
}

static bool take_outs(jx_mtext *t, jx_mop *op)
{
    (void)op;
    return jx_mtext_type_list(t, &t->out_types);
}

static bool take_fn(jx_mtext *t, jx_mop *op)
{
    (void)op;
    return jx_mtext_signature(t);
}

/* A type of its own, or a whole signature; then *type is NULL. */
static bool type_or_fn(jx_mtext *t, const jx_mlir_type **type)
{
    *type = NULL;
    if (jx_mtext_comes(t, "("))
        return jx_mtext_signature(t);
    *type = jx_mtext_type(t);
    if (!*type || (*type)->kind != JX_T_FUNCTION)
        return *type != NULL;
    jx_mtext_push_function(t, *type);
    *type = NULL;
    return true;
}

static bool take_same(jx_mtext *t, jx_mop *op)
{
    const jx_mlir_type *type;

    if (!type_or_fn(t, &type))
        return false;
    if (!type)
        return true;
    repeat_in(t, type, uses_of(t, op));
    return push_out(t, type);
}

static bool take_both(jx_mtext *t, jx_mop *op)
{
    return repeat_in(t, jx_mtext_type(t), uses_of(t, op));
}

static bool take_thru(jx_mtext *t, jx_mop *op)
{
    const jx_mlir_type *type = jx_mtext_type(t);

    return repeat_in(t, type, uses_of(t, op)) && push_out(t, type);
}

/* The operands of a complex number are its parts. */
static bool take_complex(jx_mtext *t, jx_mop *op)
{
    const jx_mlir_type *type;
    const char *at = (jx_mtext_space(t), t->at);

    if (!type_or_fn(t, &type))
        return false;
    if (!type)
        return true;
    if (type->kind != JX_T_TENSOR || type->items[0]->kind != JX_T_COMPLEX)
        return jx_mtext_fail(t, at, "expected a tensor of complex numbers");
    jx_mlir_type part = *type;
    part.items = type->items[0]->items;
    repeat_in(t, jx_mtext_add(t, &part), uses_of(t, op));
    return push_out(t, type);
}

/* `pred type, type of the rest`, or as @fn. */
static bool take_select(jx_mtext *t, jx_mop *op)
{
    const jx_mlir_type *type;

    (void)op;
    if (!type_or_fn(t, &type))
        return false;
    if (!type)
        return true;
    repeat_in(t, type, 1);
    if (!jx_mtext_expect(t, ","))
        return false;
    type = jx_mtext_type(t);
    return repeat_in(t, type, 2) && push_out(t, type);
}

static bool take_tuple(jx_mtext *t, jx_mop *op)
{
    const jx_mlir_type *type = jx_mtext_type(t);

    (void)op;
    if (type && type->kind != JX_T_TUPLE)
        return jx_mtext_wants(t, "a tuple's type before this");
    for (int i = 0; type && i < type->count; i++)
        repeat_in(t, type->items[i], 1);
    return push_out(t, type);
}

/* `%a, %b : type, type` with results of the same types; or `()`. */
static bool take_pairwise(jx_mtext *t, jx_mop *op)
{
    if (!jx_mtext_comes(t, "%"))
        return jx_mtext_expect(t, "(") && jx_mtext_expect(t, ")");
    if (!jx_mtext_uses(t) || !jx_mtext_expect(t, ":") ||
        !jx_mtext_type_list(t, &t->in_types))
        return false;
    for (size_t i = op->in_types; i < t->in_types.count; i++)
        JX_PUSH(t->arena, &t->out_types, t->in_types.at[i]);
    return true;
}

/* The function is the first operand; its type is the signature. */
static bool take_indirect(jx_mtext *t, jx_mop *op)
{
    size_t ins = t->in_types.count, outs = t->out_types.count;

    (void)op;
    JX_PUSH(t->arena, &t->in_types, NULL);
    if (!jx_mtext_signature(t))
        return false;
    t->in_types.at[ins] =
        jx_mlir_function(t->types, (int)(t->in_types.count - ins - 1),
                         t->in_types.at + ins + 1,
                         (int)(t->out_types.count - outs),
                         t->out_types.at ? t->out_types.at + outs : NULL);
    t->failed |= !t->in_types.at[ins];
    return !t->failed;
}

/* ---- parts of a few ops */

/* `[1:10:2, 0:3]`: begins, ends and steps. */
static bool take_ranges(jx_mtext *t, jx_mop *op)
{
    enum { MOST = 64 };
    static const char *const names[3] = {"start_indices", "limit_indices",
                                         "strides"};
    int64_t numbers[3][MOST];
    int count = 0;

    (void)op;
    if (!jx_mtext_expect(t, "["))
        return false;
    if (!jx_mtext_take(t, "]")) {
        do {
            if (count == MOST)
                return jx_mtext_fail(t, t->at, "more axes than can be");
            numbers[2][count] = 1;
            if (!jx_mtext_integer(t, &numbers[0][count]) ||
                !jx_mtext_expect(t, ":") ||
                !jx_mtext_integer(t, &numbers[1][count]) ||
                (jx_mtext_take(t, ":") &&
                 !jx_mtext_integer(t, &numbers[2][count])))
                return false;
            count++;
        } while (jx_mtext_take(t, ","));
        if (!jx_mtext_expect(t, "]"))
            return false;
    }
    for (int i = 0; i < 3; i++) {
        size_t from = t->numbers.count;
        for (int k = 0; k < count; k++)
            JX_PUSH(t->arena, &t->numbers, numbers[i][k]);
        jx_mtext_give(t, names[i], jx_mtext_list_attr(t, t->i64, from));
    }
    return !t->failed;
}

static bool take_conv(jx_mtext *t, jx_mop *op)
{
    (void)op;
    const jx_mlir_attr *dims = jx_mtext_comes(t, "#")
                                   ? jx_mtext_in_full(t, "stablehlo.conv")
                                   : jx_mtext_conv_dims(t);

    return dims && jx_mtext_give(t, "dimension_numbers", dims);
}

/* `[[1, 1], [0, 0]]` as a constant of that shape. */
static const jx_mlir_attr *paddings(jx_mtext *t)
{
    size_t from = t->numbers.count;
    jx_mlir_attr *attr = jx_mtext_new(t, JX_A_DENSE);
    int64_t shape[2] = {0, 2};

    jx_mtext_expect(t, "[");
    if (!jx_mtext_take(t, "]")) {
        do {
            const char *at = t->at;
            if (jx_mtext_list(t, "[", "]") &&
                t->numbers.count != from + 2 * (size_t)++shape[0])
                jx_mtext_fail(t, at, "expected two numbers, [low, high]");
        } while (!t->failed && jx_mtext_take(t, ","));
        jx_mtext_expect(t, "]");
    }
    if (t->failed)
        return NULL;
    attr->type = jx_mlir_tensor(t->types, 2, shape, t->i64);
    attr->size = (t->numbers.count - from) * sizeof(int64_t);
    attr->bytes = JX_MTEXT_CUT(t, &t->numbers, from);
    return attr;
}

/* `[1, 0]` or `[true, false]`. */
static const jx_mlir_attr *reversals(jx_mtext *t)
{
    size_t from = t->numbers.count;

    jx_mtext_expect(t, "[");
    if (!jx_mtext_take(t, "]")) {
        do {
            int64_t value = 1;
            if (!jx_mtext_take(t, "true") && (value = 0, true) &&
                !jx_mtext_take(t, "false"))
                jx_mtext_integer(t, &value);
            JX_PUSH(t->arena, &t->numbers, (int64_t)(value != 0));
        } while (!t->failed && jx_mtext_take(t, ","));
        jx_mtext_expect(t, "]");
    }
    return jx_mtext_list_attr(t, t->i1, from);
}

static const jx_mlir_attr *list_of_i64(jx_mtext *t)
{
    size_t from = t->numbers.count;

    if (jx_mtext_space(t) != '[') {
        const char *at = t->at;
        return jx_mtext_of_kind(t, at, jx_mtext_attr(t), JX_A_DENSE_ARRAY);
    }
    return jx_mtext_list(t, "[", "]") ? jx_mtext_list_attr(t, t->i64, from)
                                      : NULL;
}

/* `stride = [2, 2], pad = [[1, 1]], ...`, each once and in any order. */
static bool take_window(jx_mtext *t, jx_mop *op)
{
    static const struct part {
        const char *word, *name;
        const jx_mlir_attr *(*read)(jx_mtext *t);
    } parts[] = {{"stride", "window_strides", list_of_i64},
                 {"pad", "padding", paddings},
                 {"lhs_dilate", "lhs_dilation", list_of_i64},
                 {"rhs_dilate", "rhs_dilation", list_of_i64},
                 {"reverse", "window_reversal", reversals}};
    enum { COUNT = sizeof parts / sizeof *parts };

    (void)op;
    if (jx_mtext_comes(t, "}"))
        return true;
    do {
        size_t i = 0;
        while (i < COUNT && !jx_mtext_take(t, parts[i].word))
            i++;
        if (i == COUNT)
            return jx_mtext_wants(t, "'stride', 'pad', 'lhs_dilate', "
                                     "'rhs_dilate' or 'reverse'");
        if (!jx_mtext_expect(t, "=") ||
            !jx_mtext_give(t, parts[i].name, parts[i].read(t)))
            return false;
    } while (jx_mtext_take(t, ","));
    return !t->failed;
}

static bool take_target(jx_mtext *t, jx_mop *op)
{
    const char *name = jx_mtext_symbol(t);

    (void)op;
    if (!name)
        return jx_mtext_wants(t, "the target, @name");
    jx_piece piece = {name, strlen(name)};
    return jx_mtext_give(t, "call_target_name", jx_mtext_text_attr(t, piece));
}

/* `[0] x [0]`, two fields of a record. */
static bool dim_pair(jx_mtext *t, const char *left, const char *right)
{
    const char *names[2] = {left, right};

    if (!jx_mtext_expect(t, "="))
        return false;
    for (int i = 0; i < 2; i++) {
        size_t from = t->numbers.count;
        if ((i && !jx_mtext_expect(t, "x")) || !jx_mtext_list(t, "[", "]"))
            return false;
        const jx_mlir_attr *list = jx_mtext_list_attr(t, t->i64, from);
        if (list && list->count)
            jx_mtext_field(t, names[i], list);
    }
    return !t->failed;
}

static bool take_dot(jx_mtext *t, jx_mop *op)
{
    size_t from = t->entries.count;
    bool more = true;

    (void)op;
    if (jx_mtext_take(t, "batching_dims")) {
        if (!dim_pair(t, "lhs_batching_dimensions",
                      "rhs_batching_dimensions"))
            return false;
        const char *at = t->at;
        more = jx_mtext_take(t, ",") && jx_mtext_comes(t, "contracting_dims");
        t->at = more ? t->at : at;
    }
    if (more && (!jx_mtext_expect(t, "contracting_dims") ||
                 !dim_pair(t, "lhs_contracting_dimensions",
                           "rhs_contracting_dimensions")))
        return false;
    return jx_mtext_give(t, "dot_dimension_numbers",
                         jx_mtext_record_attr(t, "stablehlo.dot", from));
}

static const jx_mlir_attr *precision(jx_mtext *t)
{
    return jx_mtext_enum(t, "stablehlo.precision");
}

static bool precisions(jx_mtext *t)
{
    jx_mtext_expect(t, "=");
    const jx_mlir_attr *list = jx_mtext_items(t, "[", "]", precision);
    if (list && !list->count)
        return !t->failed;
    return jx_mtext_give(t, "precision_config", list);
}

/* `, precision = [HIGH, HIGH], algorithm = <...>`, both if they are there. */
static bool take_precision(jx_mtext *t, jx_mop *op)
{
    bool dot = strcmp(op->name, "stablehlo.dot") == 0;

    if (!jx_mtext_take(t, ","))
        return !t->failed;
    if (jx_mtext_take(t, "precision")) {
        if (!precisions(t) || dot || !jx_mtext_take(t, ","))
            return !t->failed;
    }
    if (dot || !jx_mtext_take(t, "algorithm"))
        return jx_mtext_wants(t, dot ? "'precision'"
                                     : "'precision' or 'algorithm'");
    return jx_mtext_expect(t, "=") &&
           jx_mtext_give(t, "algorithm",
                         jx_mtext_record(t, "stablehlo.dot_algorithm"));
}

/* `e5m10` */
static bool take_format(jx_mtext *t, jx_mop *op)
{
    static const char *const names[2] = {"exponent_bits", "mantissa_bits"};
    const char marks[2] = {'e', 'm'};

    (void)op;
    jx_mtext_space(t);
    const char *at = t->at;
    for (int i = 0; i < 2; i++) {
        int64_t bits;
        if (t->at >= t->end || *t->at != marks[i] || t->end - t->at < 2 ||
            !jx_is_digit(t->at[1]))
            return jx_mtext_fail(t, at, "expected a format such as e5m10");
        t->at++;
        if (!jx_mtext_integer(t, &bits) || bits > INT32_MAX ||
            !jx_mtext_give(t, names[i], jx_mtext_int_attr(t, t->i32, bits)))
            return jx_mtext_fail(t, at, "expected a format such as e5m10");
    }
    return true;
}

static bool take_regions(jx_mtext *t, jx_mop *op)
{
    return jx_mtext_regions(t, op);
}

/* `(%x: type, ...) {...}` */
static bool take_body(jx_mtext *t, jx_mop *op)
{
    size_t from = t->args.count;
    jx_marg arg;

    if (!jx_mtext_expect(t, "("))
        return false;
    if (!jx_mtext_take(t, ")")) {
        do {
            if (!jx_mtext_arg(t, &arg, true))
                return false;
            JX_PUSH(t->arena, &t->args, arg);
        } while (jx_mtext_take(t, ","));
        jx_mtext_expect(t, ")");
    }
    return jx_mtext_region(t, op, from);
}

typedef bool part_reader(jx_mtext *t, jx_mop *op);

static const struct directive {
    const char *name;
    part_reader *read;
} directives[] = {
    {"fn", take_fn},
    {"same", take_same},
    {"out", take_out},
    {"in", take_in},
    {"in*", take_ins},
    {"out*", take_outs},
    {"both", take_both},
    {"thru", take_thru},
    {"constant", jx_mtext_constant},
    {"select", take_select},
    {"dot", take_dot},
    {"precision", take_precision},
    {"ranges", take_ranges},
    {"target", take_target},
    {"reduce", jx_mtext_reduce},
    {"while", jx_mtext_while},
    {"func", jx_mtext_func},
    {"module", jx_mtext_module},
    {"complex", take_complex},
    {"tuple", take_tuple},
    {"pairwise", take_pairwise},
    {"indirect", take_indirect},
    {"conv", take_conv},
    {"window", take_window},
    {"format", take_format},
    {"regions", take_regions},
    {"body", take_body},
    {"scan", jx_mtext_scan},
};

/* ---- items of a form */

static bool is_item(const char *at, size_t length, const char *text)
{
    return strlen(text) == length && memcmp(at, text, length) == 0;
}

static bool take_like(jx_mtext *t, const jx_mop *op, jx_piece name)
{
    for (size_t i = op->inherent; i < t->inherent.count; i++)
        if (jx_mtext_is(name, t->inherent.at[i].name) &&
            t->inherent.at[i].value->type)
            return repeat_in(t, t->inherent.at[i].value->type, 1);
    return jx_mtext_wants(t, "a constant with a type before this");
}

static bool directive(jx_mtext *t, jx_mop *op, const char *at, size_t length)
{
    static const char like[] = "like.";

    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++)
        if (is_item(at, length, directives[i].name))
            return directives[i].read(t, op);
    size_t n = sizeof like - 1;
    return take_like(t, op, (jx_piece){at + n, length - n});
}

static const jx_mlir_attr *symbol_text(jx_mtext *t)
{
    const char *name = jx_mtext_symbol(t);

    if (!name) {
        jx_mtext_wants(t, "a name with '@'");
        return NULL;
    }
    return jx_mtext_text_attr(t, (jx_piece){name, strlen(name)});
}

/* A case of an enumeration as a number. */
static const jx_mlir_attr *case_number(jx_mtext *t, const char *name)
{
    const jx_mlir_attr *attr = jx_mtext_enum(t, name);

    return attr ? jx_mtext_int_attr(t, t->i32,
                                    jx_mlir_enum_number(name, attr->text))
                : NULL;
}

/* The same written in full, `#...`. */
static const jx_mlir_attr *in_full(jx_mtext *t, char kind, const char *name)
{
    static const struct row {
        const char *letters;
        jx_mlir_attr_kind kind;
    } rows[] = {{"ijuvn", JX_A_INTEGER},    {"f", JX_A_FLOAT},
                {"b", JX_A_BOOL},           {"l", JX_A_DENSE_ARRAY},
                {"sy", JX_A_STRING},        {"c", JX_A_SYMBOL}};
    const char *at = t->at;

    if (kind == 'e' || kind == 'r')
        return jx_mtext_in_full(t, name);
    const jx_mlir_attr *attr = jx_mtext_attr(t);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strchr(rows[i].letters, kind))
            return jx_mtext_of_kind(t, at, attr, rows[i].kind);
    return attr;
}

/* The value of an attribute of this kind, which is a letter and what follows
 * it, ended by a space or NUL. */
static const jx_mlir_attr *value_of(jx_mtext *t, const char *kind)
{
    enum { MOST = 64 };
    size_t n = strcspn(kind, " ");
    char name[MOST] = "";

    if (n > 2) {
        memcpy(name, kind + 2, n - 2);
        name[n - 2] = '\0';
    }
    if (jx_mtext_space(t) == '#')
        return in_full(t, *kind, name);
    switch (*kind) {
    case 'i':
        return jx_mtext_number(t, t->i64);
    case 'j':
        return jx_mtext_number(t, t->i32);
    case 'u':
        return jx_mtext_number(t, jx_mlir_integer(t->types, JX_UNSIGNED, 64));
    case 'v':
        return jx_mtext_number(t, jx_mlir_integer(t->types, JX_UNSIGNED, 32));
    case 'f':
        return jx_mtext_number(t, t->f64);
    case 'b':
        return jx_mtext_bool(t);
    case 'l':
        return list_of_i64(t);
    case 's':
        return jx_mtext_quoted(t);
    case 'y':
        return symbol_text(t);
    case 'c':
        return jx_mtext_symbol_attr(t);
    case 'e':
        return jx_mtext_enum(t, name);
    case 'n':
        return case_number(t, name);
    case 'r':
        return jx_mtext_record(t, name);
    default:
        return jx_mtext_attr(t);
    }
}

static bool attribute(jx_mtext *t, const char *at, const char *colon)
{
    jx_piece piece = {at, (size_t)(colon - at)};
    const jx_mlir_attr *value = value_of(t, colon + 1);

    if (!value)
        return false;
    jx_mlir_named named = {jx_mtext_intern(t, piece), value};
    if (!t->failed)
        JX_PUSH(t->arena, &t->inherent, named);
    return !t->failed;
}

/* `%a, %b,`: each with a comma behind it. */
static bool uses_with_commas(jx_mtext *t)
{
    jx_muse use;

    while (jx_mtext_use(t, &use)) {
        JX_PUSH(t->arena, &t->uses, use);
        if (!jx_mtext_expect(t, ","))
            return false;
    }
    return !t->failed;
}

static bool one_use(jx_mtext *t)
{
    jx_muse use;

    if (!jx_mtext_need(t, &use))
        return false;
    JX_PUSH(t->arena, &t->uses, use);
    return true;
}

/* Whether what may be missing is there: its first item says so. */
static bool is_there(jx_mtext *t, const char *at)
{
    size_t length = strcspn(at, " ");

    if (*at == '$')
        return jx_mtext_comes(t, "%");
    if (length > 1 && memchr(at, ':', length))
        return jx_is_alpha(jx_mtext_space(t));
    /* A comma alone does not say what follows it. */
    if (*at == ',' && jx_is_alpha(at[2])) {
        const char *from = t->at;
        const char *word = at + 2;
        size_t n = strcspn(word, " ");
        bool there = jx_mtext_take(t, ",") &&
                     (memchr(word, ':', n) || jx_mtext_comes_piece(t, word, n));
        if (!t->failed)
            t->at = from;
        return there;
    }
    return jx_mtext_comes_piece(t, at, length);
}

static bool item(jx_mtext *t, jx_mop *op, const char *at, size_t length)
{
    const char *colon = NULL;

    switch (*at) {
    case '$':
        if (length == 1)
            return one_use(t);
        return at[1] == '*' ? jx_mtext_uses(t) : uses_with_commas(t);
    case '@':
        return directive(t, op, at + 1, length - 1);
    case '{':
        if (length == 2)
            return jx_mtext_attr_dict(t, op);
        break;
    case ':':
        break;
    default:
        colon = memchr(at, ':', length);
        break;
    }
    return colon ? attribute(t, at, colon)
                 : jx_mtext_expect_piece(t, at, length);
}

static bool read_form(jx_mtext *t, jx_mop *op, const char *at)
{
    while (*at && !t->failed) {
        size_t length = strcspn(at, " ");
        const char *next = at + length + (at[length] == ' ');
        if (is_item(at, length, "(?")) {
            if (!is_there(t, next)) {
                next = strstr(next, "?)") + 2;
                next += *next == ' ';
            }
        } else if (!is_item(at, length, "?)") && !item(t, op, at, length)) {
            return false;
        }
        at = next;
    }
    return !t->failed;
}

/* ---- which form */

/* What is known of an op by its interned name. */
typedef struct known {
    const char *name, *form; /* form: NULL, there is none */
    const jx_mlir_op_info *info;
} known;

static int by_name(const void *key, const void *row)
{
    return strcmp(key, ((const form *)row)->name);
}

static bool same_known(const void *kept, const void *key)
{
    return ((const known *)kept)->name == key;
}

static const known *lookup(jx_mtext *t, const char *name)
{
    uint64_t hash = jx_hash_mix(0, (uint64_t)(uintptr_t)name);
    const known *found = jx_intern_find(&t->forms, hash, name, same_known);

    if (found)
        return found;
    const form *row = bsearch(name, forms, sizeof forms / sizeof *forms,
                              sizeof *forms, by_name);
    known *entry = JX_NEW(t->arena, known);
    if (!entry || !jx_intern_add(&t->forms, hash, entry)) {
        t->failed = true;
        return NULL;
    }
    *entry = (known){name, row ? row->form : NULL,
                     jx_mlir_op_info_find(name)};
    return entry;
}

bool jx_mtext_pretty(jx_mtext *t, jx_mop *op)
{
    const known *entry = lookup(t, op->name);

    if (!entry)
        return false;
    op->info = entry->info;
    if (!entry->form)
        return jx_mtext_fail(t, op->at, entry->info
                             ? "%s is only written in the generic form, "
                               "\"%s\"(...) : (types) -> types"
                             : "of %s no pretty form is known; write \"%s\""
                               "(...) : (types) -> types",
                             op->name, op->name);
    return read_form(t, op, entry->form);
}
