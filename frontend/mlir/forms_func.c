/* forms_func.c - modules and functions, read and printed (form_parts.def). */
#include "frontend/mlir/forms.h"

#include "frontend/mlir/print_parts.h"
#include "frontend/mlir/text_parts.h"

#include <string.h>

/* ---- names */

static bool give_name(jx_mtext *t, const char *attr, const char *name)
{
    jx_piece piece = {name, strlen(name)};

    return jx_mtext_give(t, attr, jx_mtext_text_attr(t, piece));
}

static bool is_text(const jx_mlir_attr *a)
{
    return a && a->kind == JX_A_STRING &&
           (!a->type || a->type->kind == JX_T_NONE);
}

/* ---- modules */

bool jx_take_module(jx_mtext *t, jx_mop *op)
{
    const char *name = jx_mtext_symbol(t);

    if (name)
        give_name(t, "sym_name", name);
    /* `<sym_visibility = "private">`, as MLIR prints it since 2026. */
    if (jx_mtext_comes(t, "<") && !jx_mtext_properties(t, op, "<", ">"))
        return false;
    return jx_take_attributes(t, op) && jx_mtext_region(t, op, t->args.count);
}

bool jx_fits_module(const jx_mlir_op *op)
{
    const jx_mlir_attr *name = jx_mlir_get(op, "sym_name");

    return op->nregions == 1 && !op->nins && !op->nouts &&
           (!name || is_text(name));
}

void jx_put_module(jx_mlir_printer *p, const jx_mlir_op *op)
{
    const jx_mlir_attr *name = jx_mlir_get(op, "sym_name");
    const jx_mlir_attr *how = jx_mlir_get(op, "sym_visibility");

    if (name) {
        jx_mlir_puts(p, " ");
        jx_mlir_put_symbol(p, name->bytes, name->size);
    }
    if (how) {
        jx_mlir_puts(p, " <sym_visibility = ");
        jx_mlir_put_attr(p, how, JX_TYPE_ALWAYS);
        jx_mlir_puts(p, ">");
    }
    jx_mlir_put_attr_dict(p, op, "sym_name sym_visibility", "attributes");
    jx_mlir_puts(p, " ");
    jx_mlir_put_region(p, &op->regions[0], false, "builtin");
}

/* ---- functions, read */

/* `type {attrs}` of a declaration, without a name. */
static bool nameless(jx_mtext *t, jx_marg *arg)
{
    size_t from = t->entries.count;

    *arg = (jx_marg){0};
    arg->type = jx_mtext_type(t);
    if (arg->type && jx_mtext_comes(t, "{") && jx_mtext_entries(t, "{", "}"))
        arg->attrs = jx_mtext_dict_attr(t, from);
    if (!t->failed)
        arg->loc = jx_mtext_loc(t);
    return !t->failed;
}

/* Arguments or results between brackets, onto the stack. */
static bool signature_part(jx_mtext *t, bool names)
{
    jx_marg arg;

    if (!jx_mtext_expect(t, "("))
        return false;
    if (jx_mtext_take(t, ")"))
        return true;
    do {
        bool named = names && jx_mtext_comes(t, "%");
        if (named ? !jx_mtext_arg(t, &arg, true) : !nameless(t, &arg))
            return false;
        JX_PUSH(t->arena, &t->args, arg);
    } while (jx_mtext_take(t, ","));
    return jx_mtext_expect(t, ")");
}

/* `-> type`, `-> (type {attrs}, ...)`, onto the stack. */
static bool results(jx_mtext *t)
{
    jx_marg arg = {0};

    if (!jx_mtext_take(t, "->"))
        return !t->failed;
    if (jx_mtext_comes(t, "("))
        return signature_part(t, false);
    arg.type = jx_mtext_type(t);
    if (arg.type)
        JX_PUSH(t->arena, &t->args, arg);
    return !t->failed;
}

/* An array with a dictionary for each, if one of them has any. */
static bool give_attrs(jx_mtext *t, const char *name, size_t from, size_t to)
{
    size_t items = t->items.count, entries = t->entries.count;
    bool any = false;

    for (size_t i = from; i < to; i++)
        any |= t->args.at[i].attrs && t->args.at[i].attrs->count;
    if (!any)
        return true;
    const jx_mlir_attr *none = jx_mtext_dict_attr(t, entries);
    for (size_t i = from; i < to; i++) {
        const jx_mlir_attr *attrs = t->args.at[i].attrs;
        JX_PUSH(t->arena, &t->items, attrs ? attrs : none);
    }
    return jx_mtext_give(t, name, jx_mtext_array_attr(t, items));
}

static bool give_type(jx_mtext *t, size_t from, size_t outs)
{
    size_t parts = t->parts.count;

    for (size_t i = from; i < t->args.count; i++)
        JX_PUSH(t->arena, &t->parts, t->args.at[i].type);
    const jx_mlir_type *type = jx_mtext_add(
        t, &(jx_mlir_type){.kind = JX_T_FUNCTION,
                           .rank = -1,
                           .count = (int)(t->args.count - from),
                           .inputs = (int)(outs - from),
                           .items = t->parts.at ? t->parts.at + parts : NULL});
    t->parts.count = parts;
    return jx_mtext_give(t, "function_type", jx_mtext_type_attr(t, type));
}

/* All arguments of a body have names, or none has. */
static bool check_names(jx_mtext *t, const char *at, size_t from)
{
    for (size_t i = from; i < t->args.count; i++)
        if (!t->args.at[i].name.name)
            return jx_mtext_fail(t, at,
                                 "expected names for the arguments of "
                                 "a function with a body");
    return true;
}

static const char *const visibilities[] = {"public", "private", "nested"};
enum { VISIBILITIES = sizeof visibilities / sizeof *visibilities };

bool jx_take_func(jx_mtext *t, jx_mop *op)
{
    size_t from = t->args.count, outs;

    for (size_t i = 0; i < VISIBILITIES; i++)
        if (jx_mtext_take(t, visibilities[i])) {
            give_name(t, "sym_visibility", visibilities[i]);
            break;
        }
    const char *name = jx_mtext_symbol(t);
    if (!name)
        return jx_mtext_wants(t, "the name of the function, @name");
    if (!give_name(t, "sym_name", name))
        return false;
    const char *at = t->at;
    if (!signature_part(t, true))
        return false;
    outs = t->args.count;
    if (!results(t) || !give_type(t, from, outs) ||
        !give_attrs(t, "arg_attrs", from, outs) ||
        !give_attrs(t, "res_attrs", outs, t->args.count) ||
        !jx_take_attributes(t, op))
        return false;
    t->args.count = outs;
    if (!jx_mtext_comes(t, "{")) {
        t->args.count = from;
        JX_PUSH(t->arena, &t->regions, (jx_mlir_region){0});
        return !t->failed;
    }
    return check_names(t, at, from) && jx_mtext_region(t, op, from);
}

/* ---- functions, printed */

static const jx_mlir_attr *item(const jx_mlir_attr *list, int index)
{
    const jx_mlir_attr *a =
        list && index < list->count ? list->items[index] : NULL;

    return a && a->kind == JX_A_DICT && a->count ? a : NULL;
}

static void put_arguments(jx_mlir_printer *p, const jx_mlir_op *op,
                          const jx_mlir_type *type)
{
    const jx_mlir_attr *attrs = jx_mlir_get(op, "arg_attrs");
    const jx_mlir_region *region = &op->regions[0];

    jx_mlir_puts(p, "(");
    for (int i = 0; i < type->inputs; i++) {
        const jx_mlir_attr *a = item(attrs, i);
        jx_mlir_puts(p, i ? ", " : "");
        if (region->nblocks) {
            jx_mlir_put_argument(p, region->blocks[0]->args[i], a);
            continue;
        }
        jx_mlir_put_type(p, type->items[i]);
        jx_mlir_puts(p, a ? " " : "");
        if (a)
            jx_mlir_put_attr(p, a, JX_TYPE_ALWAYS);
    }
    jx_mlir_puts(p, ")");
}

static void put_function_results(jx_mlir_printer *p, const jx_mlir_op *op,
                                 const jx_mlir_type *type)
{
    const jx_mlir_attr *attrs = jx_mlir_get(op, "res_attrs");
    int count = type->count - type->inputs;
    const jx_mlir_type *const *results = type->items + type->inputs;
    bool bare =
        count == 1 && !item(attrs, 0) && results[0]->kind != JX_T_FUNCTION;

    if (!count)
        return;
    jx_mlir_puts(p, bare ? " -> " : " -> (");
    for (int i = 0; i < count; i++) {
        const jx_mlir_attr *a = item(attrs, i);
        jx_mlir_puts(p, i ? ", " : "");
        jx_mlir_put_type(p, results[i]);
        jx_mlir_puts(p, a ? " " : "");
        if (a)
            jx_mlir_put_attr(p, a, JX_TYPE_ALWAYS);
    }
    jx_mlir_puts(p, bare ? "" : ")");
}

static bool is_visibility(const jx_mlir_attr *a)
{
    size_t i = 0;

    while (i < VISIBILITIES && !(a->size == strlen(visibilities[i]) &&
                                 !memcmp(a->bytes, visibilities[i], a->size)))
        i++;
    return i < VISIBILITIES;
}

bool jx_fits_func(const jx_mlir_op *op)
{
    const jx_mlir_attr *how = jx_mlir_get(op, "sym_visibility");
    const jx_mlir_attr *attr = jx_mlir_get(op, "function_type");
    const jx_mlir_type *type =
        attr && attr->kind == JX_A_TYPE ? attr->type : NULL;

    if (!type || type->kind != JX_T_FUNCTION || op->nregions != 1 || op->nins ||
        op->nouts || !is_text(jx_mlir_get(op, "sym_name")) ||
        (how && !(is_text(how) && is_visibility(how))))
        return false;
    if (!op->regions[0].nblocks)
        return true;
    const jx_mlir_block *block = op->regions[0].blocks[0];
    bool same = block->nargs == type->inputs;
    for (int i = 0; same && i < block->nargs; i++)
        same = block->args[i]->type == type->items[i];
    return same;
}

void jx_put_func(jx_mlir_printer *p, const jx_mlir_op *op)
{
    const jx_mlir_attr *type = jx_mlir_get(op, "function_type");
    const jx_mlir_attr *name = jx_mlir_get(op, "sym_name");
    const jx_mlir_attr *how = jx_mlir_get(op, "sym_visibility");

    jx_mlir_puts(p, " ");
    if (how && !p->collecting)
        jx_buffer_printf(p->to, "%.*s ", (int)how->size,
                         (const char *)how->bytes);
    jx_mlir_put_symbol(p, name->bytes, name->size);
    put_arguments(p, op, type->type);
    put_function_results(p, op, type->type);
    jx_mlir_put_attr_dict(
        p, op, "arg_attrs function_type res_attrs sym_name sym_visibility",
        "attributes");
    if (op->regions[0].nblocks) {
        jx_mlir_puts(p, " ");
        jx_mlir_put_region(p, &op->regions[0], false, "func");
    }
}
