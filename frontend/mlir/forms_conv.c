/* forms_conv.c - the dimensions and the window of a convolution. */
#include "frontend/mlir/forms.h"

#include "frontend/mlir/print_parts.h"
#include "frontend/mlir/text_parts.h"

#include <inttypes.h>

/* ---- @conv */

bool jx_take_conv(jx_mtext *t, jx_mop *op)
{
    (void)op;
    const jx_mlir_attr *dims = jx_mtext_comes(t, "#")
                                   ? jx_mtext_in_full(t, "stablehlo.conv")
                                   : jx_mtext_conv_dims(t);

    return dims && jx_mtext_give(t, "dimension_numbers", dims);
}

bool jx_fits_conv(const jx_mlir_op *op)
{
    const jx_mlir_attr *dims = jx_mlir_get(op, "dimension_numbers");

    return dims && dims->kind == JX_A_RECORD && jx_mlir_has_conv_roles(dims);
}

void jx_put_conv(jx_mlir_printer *p, const jx_mlir_op *op)
{
    jx_mlir_put_conv_dims(p, jx_mlir_get(op, "dimension_numbers"));
}

/* ---- @window */

/* `[[1, 1], [0, 0]]` as a constant of that shape. */
static const jx_mlir_attr *take_padding(jx_mtext *t)
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

static void put_padding(jx_mlir_printer *p, const jx_mlir_attr *a)
{
    int64_t count = jx_mlir_numbers(a);

    jx_buffer_putc(p->to, '[');
    for (int64_t i = 0; i + 1 < count; i += 2)
        jx_buffer_printf(p->to, "%s[%" PRId64 ", %" PRId64 "]", i ? ", " : "",
                         jx_mlir_number(a, i), jx_mlir_number(a, i + 1));
    jx_buffer_putc(p->to, ']');
}

/* `[1, 0]` or `[true, false]`. */
static const jx_mlir_attr *take_reversal(jx_mtext *t)
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

static const struct window_part {
    const char *word, *name;
    const jx_mlir_attr *(*take)(jx_mtext *t);
    void (*put)(jx_mlir_printer *p, const jx_mlir_attr *a);
    jx_mlir_attr_kind kind;
} window_parts[] = {
    {"stride", "window_strides", jx_take_list, jx_mlir_put_plain,
     JX_A_DENSE_ARRAY},
    {"pad", "padding", take_padding, put_padding, JX_A_DENSE},
    {"lhs_dilate", "lhs_dilation", jx_take_list, jx_mlir_put_plain,
     JX_A_DENSE_ARRAY},
    {"rhs_dilate", "rhs_dilation", jx_take_list, jx_mlir_put_plain,
     JX_A_DENSE_ARRAY},
    {"reverse", "window_reversal", take_reversal, jx_mlir_put_plain,
     JX_A_DENSE_ARRAY},
};
enum { WINDOW_PARTS = sizeof window_parts / sizeof *window_parts };

/* `{stride = [2, 2], pad = [[1, 1]], ...}`, each once and in any order. */
bool jx_take_window(jx_mtext *t, jx_mop *op)
{
    (void)op;
    if (!jx_mtext_expect(t, "{"))
        return false;
    if (jx_mtext_take(t, "}"))
        return true;
    do {
        size_t i = 0;
        while (i < WINDOW_PARTS && !jx_mtext_take(t, window_parts[i].word))
            i++;
        if (i == WINDOW_PARTS)
            return jx_mtext_wants(t, "'stride', 'pad', 'lhs_dilate', "
                                     "'rhs_dilate' or 'reverse'");
        if (!jx_mtext_expect(t, "=") ||
            !jx_mtext_give(t, window_parts[i].name, window_parts[i].take(t)))
            return false;
    } while (jx_mtext_take(t, ","));
    return jx_mtext_expect(t, "}");
}

bool jx_fits_window(const jx_mlir_op *op)
{
    for (size_t i = 0; i < WINDOW_PARTS; i++) {
        const jx_mlir_attr *a = jx_mlir_get(op, window_parts[i].name);
        if (a && a->kind != window_parts[i].kind)
            return false;
    }
    return true;
}

void jx_put_window(jx_mlir_printer *p, const jx_mlir_op *op)
{
    const char *between = "";

    jx_buffer_putc(p->to, '{');
    for (size_t i = 0; i < WINDOW_PARTS; i++) {
        const jx_mlir_attr *a = jx_mlir_get(op, window_parts[i].name);
        if (!a)
            continue;
        jx_buffer_printf(p->to, "%s%s = ", between, window_parts[i].word);
        window_parts[i].put(p, a);
        between = ", ";
    }
    jx_buffer_putc(p->to, '}');
}
