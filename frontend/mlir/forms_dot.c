/* forms_dot.c - which dimensions of two arrays are contracted, in the form of
 * stablehlo.dot_general. */
#include "frontend/mlir/forms.h"

#include "frontend/mlir/print_parts.h"
#include "frontend/mlir/text_parts.h"

/* `= [0] x [0]`, two fields of a record. */
static bool take_pair(jx_mtext *t, const char *left, const char *right)
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

static void put_list(jx_mlir_printer *p, const jx_mlir_attr *list)
{
    if (list)
        jx_mlir_put_plain(p, list);
    else
        jx_buffer_puts(p->to, "[]");
}

static void put_pair(jx_mlir_printer *p, const char *word,
                     const jx_mlir_attr *left, const jx_mlir_attr *right)
{
    jx_buffer_puts(p->to, word);
    put_list(p, left);
    jx_buffer_puts(p->to, " x ");
    put_list(p, right);
}

/* `batching_dims = [0] x [0], contracting_dims = [2] x [1]`. */
bool jx_take_dot(jx_mtext *t, jx_mop *op)
{
    size_t from = t->entries.count;
    bool more = true;

    (void)op;
    if (jx_mtext_take(t, "batching_dims")) {
        if (!take_pair(t, "lhs_batching_dimensions", "rhs_batching_dimensions"))
            return false;
        const char *at = t->at;
        more = jx_mtext_take(t, ",") && jx_mtext_comes(t, "contracting_dims");
        t->at = more ? t->at : at;
    }
    if (more && (!jx_mtext_expect(t, "contracting_dims") ||
                 !take_pair(t, "lhs_contracting_dimensions",
                            "rhs_contracting_dimensions")))
        return false;
    return jx_mtext_give(t, "dot_dimension_numbers",
                         jx_mtext_record_attr(t, "stablehlo.dot", from));
}

bool jx_fits_dot(const jx_mlir_op *op)
{
    const jx_mlir_attr *d = jx_mlir_get(op, "dot_dimension_numbers");

    return d && d->kind == JX_A_RECORD;
}

void jx_put_dot(jx_mlir_printer *p, const jx_mlir_op *op)
{
    const jx_mlir_attr *d = jx_mlir_get(op, "dot_dimension_numbers");
    const jx_mlir_attr *lhs = jx_mlir_field(d, "lhs_batching_dimensions");
    const jx_mlir_attr *rhs = jx_mlir_field(d, "rhs_batching_dimensions");

    if ((lhs && lhs->count) || (rhs && rhs->count)) {
        put_pair(p, "batching_dims = ", lhs, rhs);
        jx_buffer_puts(p->to, ", ");
    }
    put_pair(p, "contracting_dims = ",
             jx_mlir_field(d, "lhs_contracting_dimensions"),
             jx_mlir_field(d, "rhs_contracting_dimensions"));
}
