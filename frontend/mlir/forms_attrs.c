/* forms_attrs.c - parts of forms that say attributes in a way of their own:
 * ranges, formats of floats, constants (form_parts.def). */
#include "frontend/mlir/forms.h"

#include "frontend/base/plain.h"
#include "frontend/mlir/print_parts.h"
#include "frontend/mlir/text_parts.h"

#include <inttypes.h>
#include <string.h>

/* ---- @ranges: `[1:10:2, 0:3]`, begins, ends and steps */

static const char *const range_names[3] = {"start_indices", "limit_indices",
                                           "strides"};

bool jx_take_ranges(jx_mtext *t, jx_mop *op)
{
    enum { MOST = 64 };
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
        jx_mtext_give(t, range_names[i], jx_mtext_list_attr(t, t->i64, from));
    }
    return !t->failed;
}

bool jx_fits_ranges(const jx_mlir_op *op)
{
    const jx_mlir_attr *start = jx_mlir_get(op, range_names[0]);

    for (int i = 0; i < 3; i++) {
        const jx_mlir_attr *a = jx_mlir_get(op, range_names[i]);
        if (!a || jx_mlir_numbers(a) != jx_mlir_numbers(start) ||
            jx_mlir_numbers(a) < 0)
            return false;
    }
    return true;
}

void jx_put_ranges(jx_mlir_printer *p, const jx_mlir_op *op)
{
    const jx_mlir_attr *start = jx_mlir_get(op, range_names[0]);
    const jx_mlir_attr *limit = jx_mlir_get(op, range_names[1]);
    const jx_mlir_attr *step = jx_mlir_get(op, range_names[2]);
    int64_t count = jx_mlir_numbers(start);

    jx_buffer_putc(p->to, '[');
    for (int64_t i = 0; i < count; i++) {
        jx_buffer_printf(p->to, "%s%" PRId64 ":%" PRId64, i ? ", " : "",
                         jx_mlir_number(start, i), jx_mlir_number(limit, i));
        if (jx_mlir_number(step, i) != 1)
            jx_buffer_printf(p->to, ":%" PRId64, jx_mlir_number(step, i));
    }
    jx_buffer_putc(p->to, ']');
}

/* ---- @format: `e5m10` */

static const char *const format_names[2] = {"exponent_bits", "mantissa_bits"};

bool jx_take_format(jx_mtext *t, jx_mop *op)
{
    (void)op;
    jx_mtext_space(t);
    const char *at = t->at;
    for (int i = 0; i < 2; i++) {
        int64_t bits;
        if (t->at >= t->end || *t->at != "em"[i] || t->end - t->at < 2 ||
            !jx_is_digit(t->at[1]))
            return jx_mtext_fail(t, at, "expected a format such as e5m10");
        t->at++;
        if (!jx_mtext_integer(t, &bits) || bits > INT32_MAX ||
            !jx_mtext_give(t, format_names[i],
                           jx_mtext_int_attr(t, t->i32, bits)))
            return jx_mtext_fail(t, at, "expected a format such as e5m10");
    }
    return true;
}

bool jx_fits_format(const jx_mlir_op *op)
{
    for (int i = 0; i < 2; i++) {
        const jx_mlir_attr *a = jx_mlir_get(op, format_names[i]);
        if (!a || a->kind != JX_A_INTEGER || a->integer < 0)
            return false;
    }
    return true;
}

void jx_put_format(jx_mlir_printer *p, const jx_mlir_op *op)
{
    for (int i = 0; i < 2; i++) {
        jx_buffer_putc(p->to, "em"[i]);
        jx_mlir_put_plain(p, jx_mlir_get(op, format_names[i]));
    }
}

/* ---- @constant: `{attrs} dense<...> : type` */

bool jx_take_constant(jx_mtext *t, jx_mop *op)
{
    if (jx_mtext_comes(t, "("))
        return jx_mtext_generic(t, op);
    if (!jx_mtext_attr_dict(t, op))
        return false;
    const char *at = (jx_mtext_space(t), t->at);
    const jx_mlir_attr *value = jx_mtext_attr(t);
    if (!value)
        return false;
    const jx_mlir_type *type = value->kind == JX_A_BOOL ? t->i1 : value->type;
    bool any = op->id == JX_OP_arith_constant;
    if (!type || value->kind == JX_A_TYPE ||
        (!any && type->kind != JX_T_TENSOR))
        return jx_mtext_fail(t, at,
                             "expected a constant with a tensor's type, "
                             "dense<...> : tensor<...>");
    JX_PUSH(t->arena, &t->out_types, type);
    return jx_mtext_give(t, "value", value);
}

bool jx_fits_constant(const jx_mlir_op *op)
{
    return jx_mlir_get(op, "value") && op->nouts == 1 && !op->nins &&
           !op->nregions;
}

void jx_put_constant(jx_mlir_printer *p, const jx_mlir_op *op)
{
    const jx_mlir_attr *value = jx_mlir_get(op, "value");

    if (value->type != op->outs[0]->type) {
        jx_mlir_put_generic(p, op);
        return;
    }
    jx_mlir_put_attr_dict(p, op, "value", NULL);
    jx_mlir_puts(p, " ");
    jx_mlir_put_attr(p, value, JX_TYPE_ALWAYS);
}
