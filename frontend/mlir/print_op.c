/* print_op.c - the pretty forms of ops (print_forms.def, and those below that
 * have regions or symbols). */
#include "frontend/mlir/print_parts.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef enum types {
    SAME = 0,
    FUNCTION,
    RESULT,
    FIRST,
    ARROW,
    COMPLEX,
    SELECT,
} types;

typedef struct form {
    const char *name, *text, *attrs;
    types types;
} form;

static const form forms[] = {
#define FORM(name, text, attrs, types) {name, text, attrs, types},
#include "frontend/mlir/print_forms.def"
#undef FORM
};

static bool is_op(const jx_mlir_op *op, const char *name)
{
    return !strcmp(op->name, name);
}

/* ---- pieces of forms */

static void put_list(jx_mlir_printer *p, const jx_mlir_attr *list)
{
    int64_t count = list ? jx_mlir_numbers(list) : 0;

    jx_buffer_putc(p->to, '[');
    for (int64_t i = 0; i < count; i++)
        jx_buffer_printf(p->to, "%s%" PRId64, i ? ", " : "",
                         jx_mlir_number(list, i));
    jx_buffer_putc(p->to, ']');
}

static void put_ranges(jx_mlir_printer *p, const jx_mlir_op *op)
{
    const jx_mlir_attr *start = jx_mlir_get(op, "start_indices");
    const jx_mlir_attr *limit = jx_mlir_get(op, "limit_indices");
    const jx_mlir_attr *step = jx_mlir_get(op, "strides");
    int64_t count = start && limit && step ? jx_mlir_numbers(start) : 0;

    jx_buffer_putc(p->to, '[');
    for (int64_t i = 0; i < count; i++) {
        jx_buffer_printf(p->to, "%s%" PRId64 ":%" PRId64, i ? ", " : "",
                         jx_mlir_number(start, i), jx_mlir_number(limit, i));
        if (jx_mlir_number(step, i) != 1)
            jx_buffer_printf(p->to, ":%" PRId64, jx_mlir_number(step, i));
    }
    jx_buffer_putc(p->to, ']');
}

static void put_dot(jx_mlir_printer *p, const jx_mlir_op *op)
{
    const jx_mlir_attr *d = jx_mlir_get(op, "dot_dimension_numbers");
    const jx_mlir_attr *lhs = jx_mlir_field(d, "lhs_batching_dimensions");
    const jx_mlir_attr *rhs = jx_mlir_field(d, "rhs_batching_dimensions");

    if ((lhs && lhs->count) || (rhs && rhs->count)) {
        jx_buffer_puts(p->to, "batching_dims = ");
        put_list(p, lhs);
        jx_buffer_puts(p->to, " x ");
        put_list(p, rhs);
        jx_buffer_puts(p->to, ", ");
    }
    jx_buffer_puts(p->to, "contracting_dims = ");
    put_list(p, jx_mlir_field(d, "lhs_contracting_dimensions"));
    jx_buffer_puts(p->to, " x ");
    put_list(p, jx_mlir_field(d, "rhs_contracting_dimensions"));
}

static void put_precision(jx_mlir_printer *p, const jx_mlir_op *op)
{
    const jx_mlir_attr *list = jx_mlir_get(op, "precision_config");

    if (!list)
        return;
    jx_buffer_puts(p->to, ", precision = [");
    for (int i = 0; i < list->count; i++) {
        jx_buffer_puts(p->to, i ? ", " : "");
        jx_mlir_put_plain(p, list->items[i]);
    }
    jx_buffer_putc(p->to, ']');
}

static void put_conv(jx_mlir_printer *p, const jx_mlir_op *op)
{
    jx_mlir_put_conv_dims(p, jx_mlir_get(op, "dimension_numbers"));
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

static void put_window(jx_mlir_printer *p, const jx_mlir_op *op)
{
    static const char *const attrs[][2] = {
        {"stride", "window_strides"},   {"pad", "padding"},
        {"lhs_dilate", "lhs_dilation"}, {"rhs_dilate", "rhs_dilation"},
        {"reverse", "window_reversal"},
    };
    const char *between = "";

    jx_buffer_putc(p->to, '{');
    for (size_t i = 0; i < sizeof attrs / sizeof *attrs; i++) {
        const jx_mlir_attr *a = jx_mlir_get(op, attrs[i][1]);
        if (!a)
            continue;
        jx_buffer_printf(p->to, "%s%s = ", between, attrs[i][0]);
        if (a->kind == JX_A_DENSE)
            put_padding(p, a);
        else
            jx_mlir_put_plain(p, a);
        between = ", ";
    }
    jx_buffer_putc(p->to, '}');
}

static void put_target(jx_mlir_printer *p, const jx_mlir_op *op)
{
    const jx_mlir_attr *name = jx_mlir_get(op, "call_target_name");

    jx_mlir_put_symbol(p, name->bytes, name->size);
}

/* An integer that stands for a word. */
static void put_word(jx_mlir_printer *p, const jx_mlir_attr *a,
                     const char *words)
{
    size_t length;
    const char *word = a->integer >= 0 && a->integer <= INT_MAX
                           ? jx_mlir_enum_case(words, (int)a->integer, &length)
                           : NULL;

    if (word)
        jx_buffer_bytes(p->to, word, length);
    else
        jx_buffer_printf(p->to, "%" PRId64, a->integer);
}

static void put_direction(jx_mlir_printer *p, const jx_mlir_op *op)
{
    put_word(p, jx_mlir_get(op, "allowed_direction"),
             "sdy.propagation_direction");
}

/* `max `; a sum goes without saying. */
static void put_reduction(jx_mlir_printer *p, const jx_mlir_op *op)
{
    const jx_mlir_attr *a = jx_mlir_get(op, "reduction_op");

    if (!a || !a->integer)
        return;
    put_word(p, a, "sdy.reduction_op");
    jx_buffer_putc(p->to, ' ');
}

/* That equal elements keep their order goes without saying. */
static void put_stable(jx_mlir_printer *p, const jx_mlir_op *op)
{
    const jx_mlir_attr *a = jx_mlir_get(op, "is_stable");

    if (a && !a->boolean)
        jx_mlir_puts(p, ", is_stable = false");
}

static const struct {
    const char *name;
    const char *needs; /* an attribute without which there is no such piece */
    void (*put)(jx_mlir_printer *p, const jx_mlir_op *op);
} pieces[] = {
    {"direction", "allowed_direction", put_direction},
    {"reduction", NULL, put_reduction},
    {"stable", NULL, put_stable},
    {"ranges", "start_indices", put_ranges},
    {"dot", "dot_dimension_numbers", put_dot},
    {"precision", NULL, put_precision},
    {"conv", "dimension_numbers", put_conv},
    {"window", NULL, put_window},
    {"target", "call_target_name", put_target},
};

/* ---- types behind the colon */

static bool all_same(const jx_mlir_op *op)
{
    for (int i = 0; i < op->nins; i++)
        if (op->nouts != 1 || op->ins[i]->type != op->outs[0]->type)
            return false;
    return true;
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

static bool short_form(const jx_mlir_op *op, types how)
{
    switch (how) {
    case SAME: return all_same(op);
    case COMPLEX:
        return op->nins == 2 && op->nouts == 1 &&
               is_complex_of(op->outs[0]->type, op->ins[0]->type) &&
               op->ins[0]->type == op->ins[1]->type;
    case SELECT:
        return op->nins == 3 && op->nouts == 1 &&
               op->ins[1]->type == op->outs[0]->type &&
               op->ins[2]->type == op->outs[0]->type;
    default: return true;
    }
}

static void put_arrow(jx_mlir_printer *p, const jx_mlir_op *op)
{
    jx_mlir_put_types(p, op->ins, op->nins);
    jx_mlir_puts(p, op->nouts == 1 ? " -> " : " -> (");
    jx_mlir_put_types(p, op->outs, op->nouts);
    jx_mlir_puts(p, op->nouts == 1 ? "" : ")");
}

static void put_types(jx_mlir_printer *p, const jx_mlir_op *op, types how)
{
    jx_mlir_puts(p, " : ");
    if (how == FUNCTION || !short_form(op, how)) {
        jx_mlir_put_function_type(p, op);
        return;
    }
    switch (how) {
    case ARROW: put_arrow(p, op); return;
    case FIRST: jx_mlir_put_types(p, op->ins, 1); return;
    case SELECT:
        jx_mlir_put_types(p, op->ins, 1);
        jx_mlir_puts(p, ", ");
        break;
    default: break;
    }
    jx_mlir_put_types(p, op->outs, op->nouts);
}

/* ---- forms */

static const jx_mlir_attr *attribute(const jx_mlir_op *op, const char *name,
                                     size_t length)
{
    char text[64];

    if (length >= sizeof text)
        return NULL;
    memcpy(text, name, length);
    text[length] = '\0';
    return jx_mlir_get(op, text);
}

/* What `<` at `at` opens is shown if the attribute in it is there. */
static bool is_shown(const jx_mlir_op *op, const char *at)
{
    const char *name = strchr(at, '{') + 1;

    return attribute(op, name, strcspn(name, "}")) != NULL;
}

static size_t piece_at(const char *at)
{
    size_t i = 0;

    while (strncmp(at, pieces[i].name, strlen(pieces[i].name)) != 0)
        i++;
    return i;
}

/* Whether the op has all that its form needs. */
static bool fits(const jx_mlir_op *op, const form *f)
{
    int least = 0;

    for (const char *at = f->text; *at; at++) {
        if (*at == '<' && !is_shown(op, at))
            at = strchr(at, '>');
        else if (*at == '%' && at[2] != '*' && at[1] - '0' + 1 > least)
            least = at[1] - '0' + 1;
        else if (*at == '{' && !attribute(op, at + 1, strcspn(at + 1, "}")))
            return false;
        else if (*at == '&') {
            const char *needs = pieces[piece_at(at + 1)].needs;
            if (needs && !jx_mlir_get(op, needs))
                return false;
        }
    }
    return op->nins >= least && op->nregions == 0 && !op->nsuccessors;
}

static void put_form(jx_mlir_printer *p, const jx_mlir_op *op, const form *f)
{
    const char *at = f->text;

    while (*at) {
        if (*at == '<' && !is_shown(op, at)) {
            at = strchr(at, '>') + 1;
        } else if (*at == '<' || *at == '>') {
            at++;
        } else if (*at == '%') {
            int from = at[1] - '0';
            bool all = at[2] == '*';
            jx_mlir_put_operands(p, op, from, all ? op->nins : from + 1);
            at += all ? 3 : 2;
        } else if (*at == '{') {
            size_t length = strcspn(++at, "}");
            jx_mlir_put_plain(p, attribute(op, at, length));
            at += length + 1;
        } else if (*at == '&') {
            size_t i = piece_at(at + 1);
            pieces[i].put(p, op);
            at += 1 + strlen(pieces[i].name);
        } else {
            jx_buffer_putc(p->to, *at++);
        }
    }
}

static int by_name(const void *key, const void *row)
{
    return strcmp(key, ((const form *)row)->name);
}

/* ---- ops with ideas of their own */

/* `stablehlo.add`, or `add` where its dialect goes without saying. */
static void put_name(jx_mlir_printer *p, const jx_mlir_op *op)
{
    size_t length = strlen(p->dialect);
    bool known = length && !strncmp(op->name, p->dialect, length) &&
                 op->name[length] == '.';

    jx_mlir_puts(p, known ? op->name + length + 1 : op->name);
}

static bool put_constant(jx_mlir_printer *p, const jx_mlir_op *op)
{
    const jx_mlir_attr *value = jx_mlir_get(op, "value");

    if (!value || op->nouts != 1 || op->nins || op->nregions)
        return false;
    put_name(p, op);
    if (value->type != op->outs[0]->type) {
        jx_mlir_put_generic(p, op);
        return true;
    }
    jx_mlir_put_attr_dict(p, op, "value", NULL);
    jx_mlir_puts(p, " ");
    jx_mlir_put_attr(p, value, JX_TYPE_ALWAYS);
    return true;
}

/* `return %0 : tensor<f32>`; the attributes before the values, or behind. */
static bool put_return(jx_mlir_printer *p, const jx_mlir_op *op)
{
    bool before = !is_op(op, "stablehlo.return");

    if (op->nouts || op->nregions || op->nsuccessors)
        return false;
    put_name(p, op);
    if (before)
        jx_mlir_put_attr_dict(p, op, NULL, NULL);
    jx_mlir_puts(p, op->nins ? " " : "");
    jx_mlir_put_operands(p, op, 0, op->nins);
    if (!before)
        jx_mlir_put_attr_dict(p, op, NULL, NULL);
    jx_mlir_puts(p, op->nins ? " : " : "");
    jx_mlir_put_types(p, op->ins, op->nins);
    return true;
}

static bool put_barrier(jx_mlir_printer *p, const jx_mlir_op *op)
{
    put_name(p, op);
    jx_mlir_put_attr_dict(p, op, NULL, NULL);
    jx_mlir_puts(p, op->nins ? " " : " ()");
    jx_mlir_put_operands(p, op, 0, op->nins);
    jx_mlir_puts(p, op->nins ? " : " : "");
    jx_mlir_put_types(p, op->ins, op->nins);
    return true;
}

static bool put_while(jx_mlir_printer *p, const jx_mlir_op *op)
{
    const jx_mlir_block *body = jx_mlir_body(op, 1);

    if (op->nregions != 2 || !body || body->nargs != op->nins)
        return false;
    put_name(p, op);
    jx_mlir_puts(p, "(");
    for (int i = 0; i < op->nins; i++) {
        jx_mlir_puts(p, i ? ", " : "");
        jx_mlir_put_value(p, body->args[i]);
        jx_mlir_puts(p, " = ");
        jx_mlir_put_value(p, op->ins[i]);
    }
    jx_mlir_puts(p, op->nins ? ") : " : ")");
    jx_mlir_put_types(p, op->ins, op->nins);
    jx_mlir_put_attr_dict(p, op, NULL, "attributes");
    jx_mlir_put_newline(p);
    jx_mlir_puts(p, "cond ");
    jx_mlir_put_region(p, &op->regions[0], false, "");
    jx_mlir_puts(p, " do ");
    jx_mlir_put_region(p, &op->regions[1], false, "");
    return true;
}

/* The one op of a reducer that computes it from the arguments as they are, and
 * does not care for their order; or NULL. */
static const jx_mlir_op *simple_reducer(const jx_mlir_op *op)
{
    static const char commutative[] =
        "stablehlo.add stablehlo.and stablehlo.maximum stablehlo.minimum "
        "stablehlo.multiply stablehlo.or stablehlo.xor";
    const jx_mlir_block *body = jx_mlir_body(op, 0);
    const jx_mlir_op *inner;

    if (!body || body->nops != 2 || body->nargs != 2 || op->nins < 2)
        return NULL;
    inner = body->ops[0];
    if (!jx_mlir_has_name(commutative, inner->name, NULL) ||
        inner->nins != 2 || inner->nouts != 1 ||
        inner->ins[0] != body->args[0] || inner->ins[1] != body->args[1] ||
        inner->ins[0]->type != inner->outs[0]->type ||
        inner->ins[1]->type != inner->outs[0]->type)
        return NULL;
    const jx_mlir_type *element = inner->outs[0]->type;
    if (element->kind != JX_T_TENSOR || element->rank || element->encoding ||
        !op->ins[0]->type->count ||
        element->items[0] != op->ins[0]->type->items[0])
        return NULL;
    return is_op(body->ops[1], "stablehlo.return") &&
                   body->ops[1]->nins == 1 &&
                   body->ops[1]->ins[0] == inner->outs[0]
               ? inner
               : NULL;
}

static bool put_reduce(jx_mlir_printer *p, const jx_mlir_op *op)
{
    const jx_mlir_attr *dimensions = jx_mlir_get(op, "dimensions");
    const jx_mlir_block *body = jx_mlir_body(op, 0);
    const jx_mlir_op *inner = simple_reducer(op);
    int half = op->nins / 2;

    if (!dimensions || !body || body->nargs != op->nins)
        return false;
    put_name(p, op);
    for (int i = 0; i < half; i++) {
        jx_mlir_puts(p, i ? ", (" : "(");
        jx_mlir_put_value(p, op->ins[i]);
        jx_mlir_puts(p, " init: ");
        jx_mlir_put_value(p, op->ins[i + half]);
        jx_mlir_puts(p, ")");
    }
    jx_mlir_puts(p, inner ? " applies " : "");
    jx_mlir_puts(p, inner ? inner->name : "");
    jx_mlir_puts(p, " across dimensions = ");
    jx_mlir_put_plain(p, dimensions);
    jx_mlir_put_attr_dict(p, op, "dimensions", NULL);
    jx_mlir_puts(p, " : ");
    jx_mlir_put_function_type(p, op);
    if (inner)
        return true;
    jx_mlir_put_newline(p);
    jx_mlir_puts(p, " reducer");
    for (int i = 0; i < half; i++) {
        jx_mlir_puts(p, "(");
        jx_mlir_put_argument(p, body->args[i], NULL);
        jx_mlir_puts(p, ", ");
        jx_mlir_put_argument(p, body->args[i + half], NULL);
        jx_mlir_puts(p, ") ");
    }
    jx_mlir_puts(p, " ");
    jx_mlir_put_region(p, &op->regions[0], false, "");
    return true;
}

/* ---- modules and functions */

static void put_symbol_name(jx_mlir_printer *p, const jx_mlir_attr *name)
{
    if (name)
        jx_mlir_put_symbol(p, name->bytes, name->size);
}

static void put_visibility(jx_mlir_printer *p, const jx_mlir_op *op)
{
    const jx_mlir_attr *how = jx_mlir_get(op, "sym_visibility");

    if (!how || p->collecting)
        return;
    jx_buffer_bytes(p->to, how->bytes, how->size);
    jx_buffer_putc(p->to, ' ');
}

static bool put_module(jx_mlir_printer *p, const jx_mlir_op *op)
{
    const jx_mlir_attr *name = jx_mlir_get(op, "sym_name");

    if (op->nregions != 1 || op->nins || op->nouts)
        return false;
    put_name(p, op);
    jx_mlir_puts(p, jx_mlir_get(op, "sym_visibility") ? " " : "");
    put_visibility(p, op);
    if (name) {
        jx_mlir_puts(p, " ");
        put_symbol_name(p, name);
    }
    jx_mlir_put_attr_dict(p, op, "sym_name sym_visibility", "attributes");
    jx_mlir_puts(p, " ");
    jx_mlir_put_region(p, &op->regions[0], false, "builtin");
    return true;
}

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

static bool put_func(jx_mlir_printer *p, const jx_mlir_op *op)
{
    const jx_mlir_attr *type = jx_mlir_get(op, "function_type");
    const jx_mlir_attr *name = jx_mlir_get(op, "sym_name");

    if (!type || !name || !type->type || type->type->kind != JX_T_FUNCTION ||
        op->nregions != 1 ||
        (op->regions[0].nblocks &&
         op->regions[0].blocks[0]->nargs != type->type->inputs))
        return false;
    put_name(p, op);
    jx_mlir_puts(p, " ");
    put_visibility(p, op);
    put_symbol_name(p, name);
    put_arguments(p, op, type->type);
    put_function_results(p, op, type->type);
    jx_mlir_put_attr_dict(
        p, op, "arg_attrs function_type res_attrs sym_name sym_visibility",
        "attributes");
    if (op->regions[0].nblocks) {
        jx_mlir_puts(p, " ");
        jx_mlir_put_region(p, &op->regions[0], false, "func");
    }
    return true;
}

/* ---- sharding */

static bool put_mesh(jx_mlir_printer *p, const jx_mlir_op *op)
{
    const jx_mlir_attr *name = jx_mlir_get(op, "sym_name");
    const jx_mlir_attr *mesh = jx_mlir_get(op, "mesh");

    if (!name || !mesh)
        return false;
    put_name(p, op);
    jx_mlir_puts(p, " ");
    put_symbol_name(p, name);
    jx_mlir_puts(p, " = ");
    jx_mlir_put_plain(p, mesh);
    jx_mlir_put_attr_dict(p, op, "mesh sym_name", NULL);
    return true;
}

static void put_shardings(jx_mlir_printer *p, const char *word,
                          const jx_mlir_attr *shardings)
{
    const jx_mlir_attr *list =
        shardings ? jx_mlir_field(shardings, "shardings") : NULL;

    jx_mlir_puts(p, word);
    for (int i = 0; list && i < list->count; i++) {
        jx_mlir_puts(p, i ? ", " : "");
        jx_mlir_put_plain(p, list->items[i]);
    }
    jx_mlir_puts(p, "]");
}

/* The region with its arguments in parentheses, the attributes, the types. */
static bool put_computation(jx_mlir_printer *p, const jx_mlir_op *op,
                            const char *but)
{
    const jx_mlir_block *body = jx_mlir_body(op, 0);

    jx_mlir_puts(p, " (");
    for (int i = 0; i < body->nargs; i++) {
        jx_mlir_puts(p, i ? ", " : "");
        jx_mlir_put_argument(p, body->args[i], NULL);
    }
    jx_mlir_puts(p, ") ");
    jx_mlir_put_region(p, &op->regions[0], false, "");
    jx_mlir_put_attr_dict(p, op, but, NULL);
    jx_mlir_puts(p, " : ");
    jx_mlir_put_function_type(p, op);
    return true;
}

static bool put_manual(jx_mlir_printer *p, const jx_mlir_op *op)
{
    const jx_mlir_attr *in = jx_mlir_get(op, "in_shardings");
    const jx_mlir_attr *out = jx_mlir_get(op, "out_shardings");
    const jx_mlir_attr *axes = jx_mlir_get(op, "manual_axes");

    if (op->nregions != 1 || !jx_mlir_body(op, 0) || !in || !out || !axes)
        return false;
    put_name(p, op);
    jx_mlir_puts(p, "(");
    jx_mlir_put_operands(p, op, 0, op->nins);
    put_shardings(p, ") in_shardings=[", in);
    put_shardings(p, " out_shardings=[", out);
    jx_mlir_puts(p, " manual_axes=");
    jx_mlir_put_plain(p, axes);
    return put_computation(p, op, "in_shardings manual_axes out_shardings");
}

static bool put_named_computation(jx_mlir_printer *p, const jx_mlir_op *op)
{
    const jx_mlir_attr *in = jx_mlir_get(op, "in_shardings");
    const jx_mlir_attr *out = jx_mlir_get(op, "out_shardings");
    const jx_mlir_attr *name = jx_mlir_get(op, "name");

    if (op->nregions != 1 || !jx_mlir_body(op, 0) || !name)
        return false;
    put_name(p, op);
    jx_mlir_puts(p, "<");
    jx_mlir_put_plain(p, name);
    jx_mlir_puts(p, ">(");
    jx_mlir_put_operands(p, op, 0, op->nins);
    jx_mlir_puts(p, ")");
    if (in)
        put_shardings(p, " in_shardings=[", in);
    if (out)
        put_shardings(p, " out_shardings=[", out);
    return put_computation(p, op, "in_shardings name out_shardings");
}

static const struct {
    const char *name;
    bool (*put)(jx_mlir_printer *p, const jx_mlir_op *op);
} customs[] = {
    {"builtin.module", put_module},
    {"func.func", put_func},
    {"func.return", put_return},
    {"stablehlo.return", put_return},
    {"sdy.return", put_return},
    {"stablehlo.constant", put_constant},
    {"sdy.constant", put_constant},
    {"stablehlo.while", put_while},
    {"stablehlo.reduce", put_reduce},
    {"stablehlo.optimization_barrier", put_barrier},
    {"sdy.mesh", put_mesh},
    {"sdy.manual_computation", put_manual},
    {"sdy.named_computation", put_named_computation},
};

bool jx_mlir_put_custom(jx_mlir_printer *p, const jx_mlir_op *op)
{
    const form *f;

    for (size_t i = 0; i < sizeof customs / sizeof *customs; i++)
        if (is_op(op, customs[i].name))
            return customs[i].put(p, op);
    f = bsearch(op->name, forms, sizeof forms / sizeof *forms, sizeof *forms,
                by_name);
    if (!f || !fits(op, f))
        return false;
    if (p->collecting)
        return true;
    put_name(p, op);
    put_form(p, op, f);
    jx_mlir_put_attr_dict(p, op, f->attrs, NULL);
    put_types(p, op, f->types);
    return true;
}
