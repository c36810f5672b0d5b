/* forms_types.c - the parts of forms that say types, read and printed
 * (form_parts.def). */
#include "frontend/mlir/forms.h"

#include "frontend/mlir/print_parts.h"
#include "frontend/mlir/text_parts.h"

#include <string.h>

/* ---- what they share */

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

/* Whether a type is the same for the operands from `from` on. */
static bool all_are(const jx_mlir_op *op, int from, const jx_mlir_type *type)
{
    for (int i = from; i < op->nins; i++)
        if (op->ins[i]->type != type)
            return false;
    return true;
}

static void put_result_type(jx_mlir_printer *p, const jx_mlir_op *op)
{
    jx_mlir_put_types(p, op->outs, op->nouts);
}

/* ---- @fn */

bool jx_take_fn(jx_mtext *t, jx_mop *op)
{
    (void)op;
    return jx_mtext_signature(t);
}

void jx_put_fn(jx_mlir_printer *p, const jx_mlir_op *op)
{
    jx_mlir_put_function_type(p, op);
}

/* ---- @same */

bool jx_take_same(jx_mtext *t, jx_mop *op)
{
    const jx_mlir_type *type;

    if (!type_or_fn(t, &type))
        return false;
    if (!type)
        return true;
    repeat_in(t, type, uses_of(t, op));
    return push_out(t, type);
}

void jx_put_same(jx_mlir_printer *p, const jx_mlir_op *op)
{
    if (op->nouts == 1 && all_are(op, 0, op->outs[0]->type))
        put_result_type(p, op);
    else
        jx_mlir_put_function_type(p, op);
}

/* ---- @thru */

bool jx_take_thru(jx_mtext *t, jx_mop *op)
{
    const jx_mlir_type *type = jx_mtext_type(t);

    return repeat_in(t, type, uses_of(t, op)) &&
           (!*jx_mlir_op_info_of(op->id)->outs || push_out(t, type));
}

bool jx_fits_thru(const jx_mlir_op *op)
{
    return op->nins && all_are(op, 0, op->ins[0]->type) &&
           op->nouts == (*jx_mlir_op_info_of(op->id)->outs != 0) &&
           (!op->nouts || op->outs[0]->type == op->ins[0]->type);
}

void jx_put_thru(jx_mlir_printer *p, const jx_mlir_op *op)
{
    jx_mlir_put_types(p, op->ins, 1);
}

/* ---- @like */

bool jx_take_like(jx_mtext *t, jx_mop *op)
{
    for (size_t i = op->inherent; i < t->inherent.count; i++)
        if (!strcmp(t->inherent.at[i].name, "value") &&
            t->inherent.at[i].value->type)
            return repeat_in(t, t->inherent.at[i].value->type, 1);
    return jx_mtext_wants(t, "a constant with a type before this");
}

bool jx_fits_like(const jx_mlir_op *op)
{
    const jx_mlir_attr *value = jx_mlir_get(op, "value");

    return value && op->nins == 1 && !op->nouts &&
           op->ins[0]->type == value->type;
}

void jx_put_like(jx_mlir_printer *p, const jx_mlir_op *op)
{
    (void)p;
    (void)op;
}

/* ---- @complex */

bool jx_take_complex(jx_mtext *t, jx_mop *op)
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

static bool is_complex_of(const jx_mlir_type *whole, const jx_mlir_type *part)
{
    return whole->kind == JX_T_TENSOR && part->kind == JX_T_TENSOR &&
           whole->items[0]->kind == JX_T_COMPLEX &&
           whole->items[0]->items[0] == part->items[0] &&
           whole->rank == part->rank && !whole->encoding && !part->encoding &&
           (!whole->rank ||
            !memcmp(whole->shape, part->shape,
                    (size_t)whole->rank * sizeof *whole->shape));
}

bool jx_fits_complex(const jx_mlir_op *op)
{
    return op->nins == 2 && op->nouts == 1;
}

void jx_put_complex(jx_mlir_printer *p, const jx_mlir_op *op)
{
    if (is_complex_of(op->outs[0]->type, op->ins[0]->type) &&
        op->ins[0]->type == op->ins[1]->type)
        put_result_type(p, op);
    else
        jx_mlir_put_function_type(p, op);
}

/* ---- @select */

bool jx_take_select(jx_mtext *t, jx_mop *op)
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

bool jx_fits_select(const jx_mlir_op *op)
{
    return op->nins == 3 && op->nouts == 1;
}

void jx_put_select(jx_mlir_printer *p, const jx_mlir_op *op)
{
    if (!all_are(op, 1, op->outs[0]->type)) {
        jx_mlir_put_function_type(p, op);
        return;
    }
    jx_mlir_put_types(p, op->ins, 1);
    jx_mlir_puts(p, ", ");
    put_result_type(p, op);
}

/* ---- @tuple */

bool jx_take_tuple(jx_mtext *t, jx_mop *op)
{
    const jx_mlir_type *type = jx_mtext_type(t);

    (void)op;
    if (type && type->kind != JX_T_TUPLE)
        return jx_mtext_wants(t, "a tuple's type before this");
    for (int i = 0; type && i < type->count; i++)
        repeat_in(t, type->items[i], 1);
    return push_out(t, type);
}

bool jx_fits_tuple(const jx_mlir_op *op)
{
    const jx_mlir_type *type = op->nouts == 1 ? op->outs[0]->type : NULL;

    if (!type || type->kind != JX_T_TUPLE || type->count != op->nins)
        return false;
    for (int i = 0; i < op->nins; i++)
        if (op->ins[i]->type != type->items[i])
            return false;
    return true;
}

void jx_put_tuple(jx_mlir_printer *p, const jx_mlir_op *op)
{
    put_result_type(p, op);
}

/* ---- @indirect */

bool jx_take_indirect(jx_mtext *t, jx_mop *op)
{
    size_t ins = t->in_types.count, outs = t->out_types.count;

    (void)op;
    JX_PUSH(t->arena, &t->in_types, NULL);
    if (!jx_mtext_signature(t))
        return false;
    t->in_types.at[ins] = jx_mlir_function(
        t->types, (int)(t->in_types.count - ins - 1), t->in_types.at + ins + 1,
        (int)(t->out_types.count - outs),
        t->out_types.at ? t->out_types.at + outs : NULL);
    t->failed |= !t->in_types.at[ins];
    return !t->failed;
}

bool jx_fits_indirect(const jx_mlir_op *op)
{
    const jx_mlir_type *type = op->nins ? op->ins[0]->type : NULL;

    if (!type || type->kind != JX_T_FUNCTION || type->inputs != op->nins - 1 ||
        type->count - type->inputs != op->nouts)
        return false;
    for (int i = 0; i < type->count; i++) {
        const jx_mlir_value *value =
            i < type->inputs ? op->ins[i + 1] : op->outs[i - type->inputs];
        if (value->type != type->items[i])
            return false;
    }
    return true;
}

void jx_put_indirect(jx_mlir_printer *p, const jx_mlir_op *op)
{
    jx_mlir_put_types(p, op->ins, 1);
}

/* ---- @pairwise: `%a, %b : type, type`, or `()` */

bool jx_take_pairwise(jx_mtext *t, jx_mop *op)
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

bool jx_fits_pairwise(const jx_mlir_op *op)
{
    if (op->nins != op->nouts)
        return false;
    for (int i = 0; i < op->nins; i++)
        if (op->ins[i]->type != op->outs[i]->type)
            return false;
    return true;
}

void jx_put_pairwise(jx_mlir_printer *p, const jx_mlir_op *op)
{
    if (!op->nins) {
        jx_mlir_puts(p, "()");
        return;
    }
    jx_mlir_puts(p, " ");
    jx_mlir_put_operands(p, op, 0, op->nins);
    jx_mlir_puts(p, " : ");
    jx_mlir_put_types(p, op->ins, op->nins);
}
