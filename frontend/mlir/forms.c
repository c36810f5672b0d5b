/* forms.c - the forms of ops.def, taken apart, read and printed (forms.h). */
#include "frontend/mlir/forms.h"

#include "frontend/base/plain.h"
#include "frontend/mlir/print_parts.h"
#include "frontend/mlir/text_parts.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

static const jx_form_part parts[] = {
#define NONE 0
#define TYPES JX_SAYS_TYPES
#define OPERANDS JX_SAYS_OPERANDS
#define REGIONS JX_SAYS_REGIONS
#define ALL JX_SAYS_ALL
#define PART(name, attrs, says)                                                \
    {#name, attrs, says, jx_take_##name, jx_fits_##name, jx_put_##name},
#define PART_ANY(name, attrs, says)                                            \
    {#name, attrs, says, jx_take_##name, NULL, jx_put_##name},
#include "frontend/mlir/form_parts.def"
#undef PART_ANY
#undef PART
#undef ALL
#undef REGIONS
#undef OPERANDS
#undef TYPES
#undef NONE
};

/* ---- a form taken apart */

typedef JX_VEC(jx_form_item) item_list;

/* What `@name` stands for; false for nothing. */
static bool find_part(jx_form_item *item, const char *at, size_t length)
{
    static const struct row {
        const char *name;
        jx_form_kind kind;
    } kinds[] = {{"in", JX_FORM_IN_TYPE},
                 {"in*", JX_FORM_IN_TYPES},
                 {"out", JX_FORM_OUT_TYPE},
                 {"out*", JX_FORM_OUT_TYPES}};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (jx_mlir_is_name(kinds[i].name, at, length)) {
            item->kind = kinds[i].kind;
            return true;
        }
    item->kind = JX_FORM_PART;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (jx_mlir_is_name(parts[i].name, at, length)) {
            item->part = &parts[i];
            return true;
        }
    return false;
}

static size_t word_length(const char *at)
{
    size_t n = 0;

    while (jx_is_alnum(at[n]) || at[n] == '_')
        n++;
    return n;
}

/* `{name:kind=preset}`; returns how long it is, 0 if it is none. */
static size_t take_apart_attr(jx_ctx *ctx, jx_form_item *item, const char *at)
{
    size_t n = word_length(at + 1), whole = strcspn(at, "}");
    const char *kind = at + 1 + n + 1;

    if (!n || at[1 + n] != ':' || !at[whole] || kind >= at + whole)
        return 0;
    const char *equals = memchr(kind, '=', (size_t)(at + whole - kind));
    const char *end = equals ? equals : at + whole;
    item->kind = JX_FORM_ATTR;
    item->how = *kind;
    item->text = jx_arena_string(ctx->arena, at + 1, n);
    item->length = n;
    item->of = jx_arena_string(ctx->arena, kind + 1, (size_t)(end - kind - 1));
    if (equals)
        item->preset = jx_arena_string(ctx->arena, equals + 1,
                                       (size_t)(at + whole - equals - 1));
    return whole + 1;
}

/* One item that begins at `at`; returns how long it is, 0 if it makes no
 * sense. */
static size_t take_apart(jx_ctx *ctx, jx_form_item *item, const char *at)
{
    size_t n;

    item->text = at;
    if (at[0] == '$') {
        item->kind = at[1] == '*'   ? JX_FORM_OPERANDS
                     : at[1] == '+' ? JX_FORM_EACH
                                    : JX_FORM_OPERAND;
        return item->kind == JX_FORM_OPERAND ? 1 : 2;
    }
    if (at[0] == '@') {
        n = word_length(at + 1);
        n += at[1 + n] == '*';
        return find_part(item, at + 1, n) ? n + 1 : 0;
    }
    item->kind = strncmp(at, "(?", 2) == 0   ? JX_FORM_OPEN
                 : strncmp(at, "?)", 2) == 0 ? JX_FORM_CLOSE
                 : strncmp(at, "{}", 2) == 0 ? JX_FORM_DICT
                                             : JX_FORM_TEXT;
    if (item->kind != JX_FORM_TEXT)
        return 2;
    if (at[0] == '{')
        return take_apart_attr(ctx, item, at);
    n = word_length(at);
    item->length = n ? n : strncmp(at, "->", 2) == 0 ? 2 : 1;
    return item->length;
}

/* Groups do not nest. */
static bool close_groups(item_list *items)
{
    int open = -1;

    for (size_t i = 0; i < items->count; i++) {
        jx_form_item *item = &items->at[i];
        if (item->kind == JX_FORM_OPEN && open >= 0)
            return false;
        if (item->kind == JX_FORM_OPEN)
            open = (int)i;
        if (item->kind != JX_FORM_CLOSE)
            continue;
        if (open < 0)
            return false;
        items->at[open].end = (int)i;
        open = -1;
    }
    return open < 0;
}

static const char *attrs_said(jx_ctx *ctx, const item_list *items)
{
    const char *said = "";

    for (size_t i = 0; i < items->count && said; i++) {
        const jx_form_item *item = &items->at[i];
        const char *names = item->kind == JX_FORM_ATTR   ? item->text
                            : item->kind == JX_FORM_PART ? item->part->attrs
                                                         : "";
        if (names && *names)
            said = jx_arena_printf(ctx->arena, "%s %s", said, names);
    }
    return said;
}

const jx_form *jx_form_of(jx_ctx *ctx, jx_forms *met, jx_op_id id)
{
    const jx_mlir_op_info *info = jx_mlir_op_info_of(id);
    const char *at = info ? info->form : "";
    item_list items = {0};
    int spaces = 0;

    if (!*at || met->of[id])
        return met->of[id];
    jx_form *form = JX_NEW(ctx->arena, jx_form);
    if (!form)
        return NULL;
    form->read_only = *at == '!';
    for (at += form->read_only; *at;) {
        jx_form_item item = {.spaces = spaces};
        if (*at == ' ') {
            spaces++;
            at++;
            continue;
        }
        size_t n = take_apart(ctx, &item, at);
        if (!n)
            return met->of[id] = form;
        JX_PUSH(ctx->arena, &items, item);
        spaces = 0;
        at += n;
    }
    form->said = attrs_said(ctx, &items);
    if (!close_groups(&items) || !jx_ok(ctx))
        return met->of[id] = form;
    form->items = items.at;
    form->count = (int)items.count;
    return met->of[id] = form;
}

/* ---- attributes, by their kinds */

static const struct kind {
    char how;
    jx_mlir_attr_kind kind;
} kinds[] = {{'i', JX_A_INTEGER}, {'j', JX_A_INTEGER},     {'u', JX_A_INTEGER},
             {'v', JX_A_INTEGER}, {'n', JX_A_INTEGER},     {'f', JX_A_FLOAT},
             {'b', JX_A_BOOL},    {'l', JX_A_DENSE_ARRAY}, {'s', JX_A_STRING},
             {'y', JX_A_STRING},  {'c', JX_A_SYMBOL},      {'e', JX_A_ENUM},
             {'E', JX_A_ARRAY},   {'r', JX_A_RECORD},      {'p', JX_A_RECORD}};

/* False: any will do. */
static bool kind_of(char how, jx_mlir_attr_kind *kind)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].how == how) {
            *kind = kinds[i].kind;
            return true;
        }
    return false;
}

/* The same written in full, `#...`. */
static const jx_mlir_attr *take_in_full(jx_mtext *t, const jx_form_item *item)
{
    const char *at = t->at;
    jx_mlir_attr_kind kind;

    if (item->how == 'e' || item->how == 'r')
        return jx_mtext_in_full(t, item->of);
    const jx_mlir_attr *attr = jx_mtext_attr(t);
    return kind_of(item->how, &kind) ? jx_mtext_of_kind(t, at, attr, kind)
                                     : attr;
}

static const jx_mlir_attr *take_symbol_text(jx_mtext *t)
{
    const char *name = jx_mtext_symbol(t);

    if (!name) {
        jx_mtext_wants(t, "a name with '@'");
        return NULL;
    }
    return jx_mtext_text_attr(t, (jx_piece){name, strlen(name)});
}

static const jx_mlir_attr *take_case_number(jx_mtext *t, const char *of)
{
    const jx_mlir_attr *attr = jx_mtext_enum(t, of);

    return attr ? jx_mtext_int_attr(t, t->i32,
                                    jx_mlir_enum_number(of, attr->text))
                : NULL;
}

/* `[HIGH, DEFAULT]` */
static const jx_mlir_attr *take_cases(jx_mtext *t, const char *of)
{
    size_t from = t->items.count;

    jx_mtext_expect(t, "[");
    if (!jx_mtext_take(t, "]")) {
        do {
            const jx_mlir_attr *item = jx_mtext_enum(t, of);
            if (item)
                JX_PUSH(t->arena, &t->items, item);
        } while (!t->failed && jx_mtext_take(t, ","));
        jx_mtext_expect(t, "]");
    }
    return t->failed ? NULL : jx_mtext_array_attr(t, from);
}

const jx_mlir_attr *jx_take_list(jx_mtext *t)
{
    size_t from = t->numbers.count;

    if (jx_mtext_space(t) != '[') {
        const char *at = t->at;
        return jx_mtext_of_kind(t, at, jx_mtext_attr(t), JX_A_DENSE_ARRAY);
    }
    return jx_mtext_list(t, "[", "]") ? jx_mtext_list_attr(t, t->i64, from)
                                      : NULL;
}

static const jx_mlir_attr *take_value(jx_mtext *t, const jx_form_item *item)
{
    if (jx_mtext_space(t) == '#')
        return take_in_full(t, item);
    switch (item->how) {
    case 'i': return jx_mtext_number(t, t->i64);
    case 'j': return jx_mtext_number(t, t->i32);
    case 'u':
        return jx_mtext_number(t, jx_mlir_integer(t->types, JX_UNSIGNED, 64));
    case 'v':
        return jx_mtext_number(t, jx_mlir_integer(t->types, JX_UNSIGNED, 32));
    case 'f': return jx_mtext_number(t, t->f64);
    case 'b': return jx_mtext_bool(t);
    case 'l': return jx_take_list(t);
    case 's': return jx_mtext_quoted(t);
    case 'y': return take_symbol_text(t);
    case 'c': return jx_mtext_symbol_attr(t);
    case 'e': return jx_mtext_enum(t, item->of);
    case 'E': return take_cases(t, item->of);
    case 'n': return take_case_number(t, item->of);
    case 'r': return jx_mtext_record(t, item->of);
    case 'p': return jx_mtext_record(t, "sdy.sharding_per_value");
    default: return jx_mtext_attr(t);
    }
}

static bool take_attr(jx_mtext *t, const jx_form_item *item)
{
    const jx_mlir_attr *value = take_value(t, item);

    return value && jx_mtext_give(t, item->text, value);
}

/* The case that an integer is the number of, or NULL. */
static const char *case_of(const jx_mlir_attr *a, const char *of,
                           size_t *length)
{
    return a->integer >= 0 && a->integer <= INT_MAX
               ? jx_mlir_enum_case(of, (int)a->integer, length)
               : NULL;
}

static bool is_number_of(const jx_mlir_attr *a, unsigned width,
                         jx_mlir_sign sign)
{
    return a->type && a->type->kind == JX_T_INTEGER &&
           a->type->width == width && a->type->sign == sign;
}

static bool has_cases(const jx_mlir_attr *a, const char *of)
{
    for (int i = 0; i < a->count; i++)
        if (a->items[i]->kind != JX_A_ENUM || strcmp(a->items[i]->name, of))
            return false;
    return true;
}

/* Whether the attribute is what would be read from how it is printed. */
static bool attr_fits(const jx_form_item *item, const jx_mlir_attr *a)
{
    jx_mlir_attr_kind kind;
    size_t length;

    if (kind_of(item->how, &kind) && a->kind != kind)
        return false;
    switch (item->how) {
    case 'i': return is_number_of(a, 64, JX_SIGNLESS);
    case 'j': return is_number_of(a, 32, JX_SIGNLESS);
    case 'u': return is_number_of(a, 64, JX_UNSIGNED);
    case 'v': return is_number_of(a, 32, JX_UNSIGNED);
    case 'f': return !strcmp(a->type->text, "f64");
    case 'l': return a->integers || !a->count;
    case 's':
    case 'y': return !a->type || a->type->kind == JX_T_NONE;
    case 'e':
    case 'r': return !strcmp(a->name, item->of);
    case 'E': return has_cases(a, item->of);
    case 'n':
        return is_number_of(a, 32, JX_SIGNLESS) &&
               case_of(a, item->of, &length);
    case 'p':
        return !strcmp(a->name, "sdy.sharding_per_value") &&
               jx_mlir_field(a, "shardings");
    default: return true;
    }
}

static void put_list(jx_mlir_printer *p, const jx_mlir_attr *list)
{
    if (p->collecting)
        return;
    jx_buffer_putc(p->to, '[');
    jx_mlir_put_items(p, list);
    jx_buffer_putc(p->to, ']');
}

static void put_value(jx_mlir_printer *p, const jx_form_item *item,
                      const jx_mlir_attr *a)
{
    const char *word;
    size_t length;

    switch (item->how) {
    case 'a': jx_mlir_put_attr(p, a, JX_TYPE_ALWAYS); break;
    case 'y': jx_mlir_put_symbol(p, a->bytes, a->size); break;
    case 'E': put_list(p, a); break;
    case 'p': put_list(p, jx_mlir_field(a, "shardings")); break;
    case 'n':
        word = case_of(a, item->of, &length);
        if (!p->collecting)
            jx_buffer_bytes(p->to, word, length);
        break;
    default: jx_mlir_put_plain(p, a); break;
    }
}

/* ---- reading */

/* `%a, %b,`: each with a comma behind it.  MLIR prints the comma alone where
 * there are none, and does not read that. */
static bool take_each(jx_mtext *t)
{
    if (!jx_mtext_comes(t, "%"))
        return jx_mtext_take(t, ",") || !t->failed;
    while (jx_mtext_comes(t, "%"))
        if (!jx_mtext_operand(t) || !jx_mtext_expect(t, ","))
            return false;
    return !t->failed;
}

static bool take_type(jx_mtext *t, jx_mtypes *to)
{
    const jx_mlir_type *type = jx_mtext_type(t);

    if (type)
        JX_PUSH(t->arena, to, type);
    return type != NULL;
}

/* Whether what may be missing is there: its first item says so. */
static bool is_there(jx_mtext *t, const jx_form_item *first)
{
    if (first->kind == JX_FORM_OPERANDS)
        return jx_mtext_comes(t, "%");
    if (first->kind == JX_FORM_ATTR)
        return jx_is_alpha(jx_mtext_space(t));
    /* A comma alone does not say what follows it. */
    if (*first->text == ',') {
        const char *from = t->at;
        bool there = jx_mtext_take(t, ",") &&
                     (first[1].kind == JX_FORM_ATTR ||
                      jx_mtext_comes_piece(t, first[1].text, first[1].length));
        if (!t->failed)
            t->at = from;
        return there;
    }
    return jx_mtext_comes_piece(t, first->text, first->length);
}

static bool take_item(jx_mtext *t, jx_mop *op, const jx_form_item *item)
{
    switch (item->kind) {
    case JX_FORM_OPERAND: return jx_mtext_operand(t);
    case JX_FORM_OPERANDS: return jx_mtext_uses(t);
    case JX_FORM_EACH: return take_each(t);
    case JX_FORM_DICT: return jx_mtext_attr_dict(t, op);
    case JX_FORM_ATTR: return take_attr(t, item);
    case JX_FORM_IN_TYPE: return take_type(t, &t->in_types);
    case JX_FORM_IN_TYPES: return jx_mtext_type_list(t, &t->in_types);
    case JX_FORM_OUT_TYPE: return take_type(t, &t->out_types);
    case JX_FORM_OUT_TYPES: return jx_mtext_type_list(t, &t->out_types);
    case JX_FORM_PART: return item->part->take(t, op);
    case JX_FORM_TEXT:
        return jx_mtext_expect_piece(t, item->text, item->length);
    case JX_FORM_OPEN:
    case JX_FORM_CLOSE: break;
    }
    return true;
}

bool jx_form_take(jx_mtext *t, jx_mop *op, const jx_form *form)
{
    for (int i = 0; i < form->count && !t->failed; i++) {
        const jx_form_item *item = &form->items[i];
        if (item->kind == JX_FORM_OPEN && !is_there(t, item + 1))
            i = item->end;
        else if (!take_item(t, op, item))
            return false;
    }
    return !t->failed;
}

/* ---- printing */

static bool is_preset(const jx_form_item *item, const jx_mlir_attr *a)
{
    if (!item->preset)
        return false;
    if (item->how == 'n')
        return a->kind == JX_A_INTEGER &&
               a->integer == jx_mlir_enum_number(item->of, item->preset);
    return item->how == 'b' && a->kind == JX_A_BOOL &&
           a->boolean == !strcmp(item->preset, "true");
}

/* Whether what may be missing is shown. */
static bool is_shown(const jx_mlir_op *op, const jx_form_item *open)
{
    for (const jx_form_item *i = open; i->kind != JX_FORM_CLOSE; i++)
        if (i->kind == JX_FORM_ATTR) {
            const jx_mlir_attr *a = jx_mlir_get(op, i->text);
            return a && !is_preset(i, a);
        }
    return op->nins > 0;
}

/* What a form has said of an op, counted. */
typedef struct said {
    int says, operands, ins, outs;
} said;

static bool item_fits(const jx_mlir_op *op, const jx_form_item *item, said *s)
{
    const jx_mlir_attr *a;

    switch (item->kind) {
    case JX_FORM_OPERAND: s->operands++; break;
    case JX_FORM_OPERANDS:
    case JX_FORM_EACH: s->says |= JX_SAYS_OPERANDS; break;
    case JX_FORM_IN_TYPE: s->ins++; break;
    case JX_FORM_IN_TYPES: s->ins = op->nins; break;
    case JX_FORM_OUT_TYPE: s->outs++; break;
    case JX_FORM_OUT_TYPES: s->outs = op->nouts; break;
    case JX_FORM_ATTR:
        a = jx_mlir_get(op, item->text);
        return a && attr_fits(item, a);
    case JX_FORM_PART:
        s->says |= item->part->says;
        return !item->part->fits || item->part->fits(op);
    default: break;
    }
    return true;
}

static bool op_fits(const jx_mlir_op *op, const jx_form *form)
{
    said s = {0};

    for (int i = 0; i < form->count; i++) {
        const jx_form_item *item = &form->items[i];
        if (item->kind == JX_FORM_OPEN && !is_shown(op, item))
            i = item->end;
        else if (!item_fits(op, item, &s))
            return false;
    }
    bool operands = s.says & JX_SAYS_OPERANDS ? op->nins >= s.operands
                                              : op->nins == s.operands;
    bool types =
        s.says & JX_SAYS_TYPES || (op->nins == s.ins && op->nouts == s.outs);
    return operands && types && (s.says & JX_SAYS_REGIONS || !op->nregions) &&
           !op->nsuccessors;
}

static void put_item(jx_mlir_printer *p, const jx_mlir_op *op,
                     const jx_form *form, const jx_form_item *item, said *at)
{
    switch (item->kind) {
    case JX_FORM_TEXT:
        if (!p->collecting)
            jx_buffer_bytes(p->to, item->text, item->length);
        break;
    case JX_FORM_OPERAND:
        jx_mlir_put_operands(p, op, at->operands, at->operands + 1);
        at->operands++;
        break;
    case JX_FORM_OPERANDS:
    case JX_FORM_EACH:
        jx_mlir_put_operands(p, op, at->operands, op->nins);
        jx_mlir_puts(p, item->kind == JX_FORM_EACH ? "," : "");
        break;
    case JX_FORM_DICT: jx_mlir_put_attr_dict(p, op, form->said, NULL); break;
    case JX_FORM_ATTR: put_value(p, item, jx_mlir_get(op, item->text)); break;
    case JX_FORM_IN_TYPE: jx_mlir_put_types(p, op->ins + at->ins++, 1); break;
    case JX_FORM_IN_TYPES: jx_mlir_put_types(p, op->ins, op->nins); break;
    case JX_FORM_OUT_TYPE:
        jx_mlir_put_types(p, op->outs + at->outs++, 1);
        break;
    case JX_FORM_OUT_TYPES: jx_mlir_put_types(p, op->outs, op->nouts); break;
    case JX_FORM_PART: item->part->put(p, op); break;
    case JX_FORM_OPEN:
    case JX_FORM_CLOSE: break;
    }
}

bool jx_form_put(jx_mlir_printer *p, const jx_mlir_op *op, const jx_form *form)
{
    said at = {0};

    if ((form->read_only && !p->how.any_dialect) || !op_fits(op, form))
        return false;
    if (p->collecting && !op->nregions)
        return true;
    jx_mlir_put_op_name(p, op);
    for (int i = 0; i < form->count; i++) {
        const jx_form_item *item = &form->items[i];
        if (item->kind == JX_FORM_OPEN && !is_shown(op, item)) {
            i = item->end;
            continue;
        }
        for (int k = 0; k < item->spaces; k++)
            jx_mlir_puts(p, " ");
        put_item(p, op, form, item, &at);
    }
    return true;
}
