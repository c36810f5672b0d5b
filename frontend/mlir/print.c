/* print.c - a tree as text (print.h): what all ops share, and the generic
 * form. */
#include "frontend/mlir/print_parts.h"

#include <string.h>

/* ---- the vocabulary of forms */

void jx_mlir_put_newline(jx_mlir_printer *p)
{
    if (p->collecting)
        return;
    jx_buffer_putc(p->to, '\n');
    for (int i = 0; i < p->indent; i++)
        jx_buffer_putc(p->to, ' ');
}

void jx_mlir_put_op_name(jx_mlir_printer *p, const jx_mlir_op *op)
{
    size_t length = strlen(p->dialect);
    bool known = length && !strncmp(op->name, p->dialect, length) &&
                 op->name[length] == '.';

    jx_mlir_puts(p, known ? op->name + length + 1 : op->name);
}

void jx_mlir_put_operands(jx_mlir_printer *p, const jx_mlir_op *op, int from,
                          int to)
{
    for (int i = from; i < to && i < op->nins; i++) {
        jx_mlir_puts(p, i > from ? ", " : "");
        jx_mlir_put_value(p, op->ins[i]);
    }
}

void jx_mlir_put_types(jx_mlir_printer *p, const jx_mlir_value *const *values,
                       int count)
{
    for (int i = 0; i < count; i++) {
        jx_mlir_puts(p, i ? ", " : "");
        jx_mlir_put_type(p, values[i]->type);
    }
}

void jx_mlir_put_function_type(jx_mlir_printer *p, const jx_mlir_op *op)
{
    bool bare = op->nouts == 1 && op->outs[0]->type->kind != JX_T_FUNCTION;

    jx_mlir_puts(p, "(");
    jx_mlir_put_types(p, op->ins, op->nins);
    jx_mlir_puts(p, bare ? ") -> " : ") -> (");
    jx_mlir_put_types(p, op->outs, op->nouts);
    jx_mlir_puts(p, bare ? "" : ")");
}

/* One attribute of a dictionary that is open already or not yet. */
static void put_entry(jx_mlir_printer *p, const jx_mlir_named *entry,
                      const char *but, const char *open, bool *any)
{
    if (but && jx_mlir_has_name(but, entry->name, NULL))
        return;
    jx_mlir_puts(p, *any ? ", " : open);
    *any = true;
    jx_mlir_put_named(p, entry->name, entry->value);
}

/* The inherent and the other attributes in one order. */
void jx_mlir_put_attr_dict(jx_mlir_printer *p, const jx_mlir_op *op,
                           const char *but, const char *keyword)
{
    int i = 0, j = 0;
    bool any = false;
    char open[32];

    strcpy(open, keyword ? " attributes {" : " {");
    while (i < op->ninherent || j < op->nattrs) {
        bool left = j == op->nattrs ||
                    (i < op->ninherent &&
                     strcmp(op->inherent[i].name, op->attrs[j].name) < 0);
        put_entry(p, left ? &op->inherent[i++] : &op->attrs[j++], but, open,
                  &any);
    }
    if (any)
        jx_mlir_puts(p, "}");
}

void jx_mlir_put_argument(jx_mlir_printer *p, const jx_mlir_value *value,
                          const jx_mlir_attr *attrs)
{
    jx_mlir_put_value(p, value);
    jx_mlir_puts(p, ": ");
    jx_mlir_put_type(p, value->type);
    if (attrs && attrs->count) {
        jx_mlir_puts(p, " ");
        jx_mlir_put_attr(p, attrs, JX_TYPE_ALWAYS);
    }
    jx_mlir_put_loc(p, value->loc, JX_LOC_INLINE, false);
}

/* ---- blocks and regions */

static void put_op(jx_mlir_printer *p, const jx_mlir_op *op);

static void put_header(jx_mlir_printer *p, const jx_mlir_block *block,
                       int index)
{
    if (!p->collecting)
        jx_buffer_printf(p->to, "^bb%d", index);
    for (int i = 0; i < block->nargs; i++) {
        jx_mlir_puts(p, i ? ", " : "(");
        jx_mlir_put_argument(p, block->args[i], NULL);
    }
    jx_mlir_puts(p, block->nargs ? "):" : ":");
}

static void put_block(jx_mlir_printer *p, const jx_mlir_block *block, int index,
                      bool header)
{
    if (header) {
        jx_mlir_put_newline(p);
        put_header(p, block, index);
    }
    p->indent += 2;
    for (int i = 0; i < block->nops; i++) {
        jx_mlir_put_newline(p);
        put_op(p, block->ops[i]);
    }
    p->indent -= 2;
}

void jx_mlir_put_region(jx_mlir_printer *p, const jx_mlir_region *region,
                        bool arguments, const char *dialect)
{
    const char *outside = p->dialect;

    if (!jx_mlir_enter(p))
        return;
    p->dialect = dialect;
    jx_mlir_puts(p, "{");
    for (int b = 0; b < region->nblocks; b++) {
        const jx_mlir_block *block = region->blocks[b];
        put_block(p, block, b,
                  b || (arguments && (block->nargs || !block->nops)));
    }
    jx_mlir_put_newline(p);
    jx_mlir_puts(p, "}");
    p->dialect = outside;
    p->depth--;
}

/* ---- ops */

static void put_properties(jx_mlir_printer *p, const jx_mlir_op *op)
{
    for (int i = 0; i < op->ninherent; i++) {
        jx_mlir_puts(p, i ? ", " : " <{");
        jx_mlir_put_named(p, op->inherent[i].name, op->inherent[i].value);
    }
    if (op->ninherent)
        jx_mlir_puts(p, "}>");
}

static void put_successors(jx_mlir_printer *p, const jx_mlir_op *op)
{
    for (int i = 0; i < op->nsuccessors; i++) {
        jx_mlir_puts(p, i ? ", " : "[");
        jx_mlir_put_block_name(p, op->successors[i]);
    }
    if (op->nsuccessors)
        jx_mlir_puts(p, "]");
}

void jx_mlir_put_generic(jx_mlir_printer *p, const jx_mlir_op *op)
{
    bool any = false;

    jx_mlir_puts(p, "(");
    jx_mlir_put_operands(p, op, 0, op->nins);
    jx_mlir_puts(p, ")");
    put_successors(p, op);
    put_properties(p, op);
    jx_put_regions(p, op);
    for (int i = 0; i < op->nattrs; i++)
        put_entry(p, &op->attrs[i], NULL, " {", &any);
    jx_mlir_puts(p, any ? "} : " : " : ");
    jx_mlir_put_function_type(p, op);
}

/* In the pretty form; false: the op has none that says all of it. */
static bool put_pretty(jx_mlir_printer *p, const jx_mlir_op *op)
{
    const jx_form *form = jx_form_of(p->ctx, &p->forms, op->id);

    return form && jx_form_put(p, op, form);
}

static void put_op(jx_mlir_printer *p, const jx_mlir_op *op)
{
    if (p->collecting)
        jx_mlir_put_loc(p, op->loc, JX_LOC_ALIASED, true);
    jx_mlir_put_results(p, op);
    if (p->how.generic || !put_pretty(p, op)) {
        jx_mlir_put_string(p, op->name, strlen(op->name));
        jx_mlir_put_generic(p, op);
    }
    if (!p->collecting)
        jx_mlir_put_loc(p, op->loc, JX_LOC_ALIASED, true);
}

bool jx_mlir_print(jx_ctx *ctx, const jx_mlir_op *op, jx_mlir_print_how how,
                   jx_buffer *to)
{
    jx_mlir_printer p = {
        .ctx = ctx, .to = to, .how = how, .dialect = "builtin"};

    p.names = jx_mlir_names_of(ctx, op, how.generic);
    p.locs = how.locations ? jx_mlir_locs_new(ctx) : NULL;
    if (!jx_ok(ctx))
        return false;
    if (p.locs) {
        p.collecting = true;
        put_op(&p, op);
        p.collecting = false;
        jx_mlir_locs_number(&p);
        if (!jx_ok(ctx))
            return false;
        jx_mlir_put_aliases(&p, false);
    }
    put_op(&p, op);
    jx_buffer_putc(to, '\n');
    if (p.locs)
        jx_mlir_put_aliases(&p, true);
    jx_mlir_put_resources(&p);
    if (p.too_deep)
        return jx_fail(ctx, JX_E_INPUT, NULL, NULL,
                       "the module is nested more than %d levels deep",
                       JX_MLIR_PRINT_DEPTH);
    return jx_buffer_ok(to);
}
