/* forms_regions.c - loops, reductions, scans and other computations, read and
 * printed (form_parts.def). */
#include "frontend/mlir/forms.h"

#include "frontend/mlir/print_parts.h"
#include "frontend/mlir/text_parts.h"

#include <string.h>

/* `attributes {...}`, if it is there. */
bool jx_take_attributes(jx_mtext *t, const jx_mop *op)
{
    if (!jx_mtext_take(t, "attributes"))
        return !t->failed;
    return jx_mtext_comes(t, "{") ? jx_mtext_attr_dict(t, op)
                                  : jx_mtext_wants(t, "'{'");
}

/* ---- @regions and @body */

bool jx_take_regions(jx_mtext *t, jx_mop *op)
{
    return jx_mtext_regions(t, op);
}

void jx_put_regions(jx_mlir_printer *p, const jx_mlir_op *op)
{
    for (int i = 0; i < op->nregions; i++) {
        jx_mlir_puts(p, i ? ", " : " (");
        jx_mlir_put_region(p, &op->regions[i], true, "");
    }
    jx_mlir_puts(p, op->nregions ? ")" : "");
}

bool jx_take_body(jx_mtext *t, jx_mop *op)
{
    size_t from = t->args.count;

    return jx_mtext_args(t, true) && jx_mtext_region(t, op, from);
}

bool jx_fits_body(const jx_mlir_op *op)
{
    return op->nregions == 1 && jx_mlir_body(op, 0);
}

void jx_put_body(jx_mlir_printer *p, const jx_mlir_op *op)
{
    const jx_mlir_block *body = jx_mlir_body(op, 0);

    jx_mlir_puts(p, "(");
    for (int i = 0; i < body->nargs; i++) {
        jx_mlir_puts(p, i ? ", " : "");
        jx_mlir_put_argument(p, body->args[i], NULL);
    }
    jx_mlir_puts(p, ") ");
    jx_mlir_put_region(p, &op->regions[0], false, "");
}

/* ---- @while */

/* The names and types of the loop's values become arguments of a region. */
static void push_args(jx_mtext *t, const jx_mop *op, const jx_muse *names)
{
    for (size_t i = op->in_types; i < t->in_types.count; i++)
        JX_PUSH(t->arena, &t->args,
                (jx_marg){.name = names[i - op->in_types],
                          .type = t->in_types.at[i]});
}

bool jx_take_while(jx_mtext *t, jx_mop *op)
{
    size_t names = t->results.count, n;
    jx_muse use;

    if (!jx_mtext_expect(t, "("))
        return false;
    if (!jx_mtext_take(t, ")")) {
        do {
            if (!jx_mtext_need(t, &use))
                return false;
            JX_PUSH(t->arena, &t->results, use);
            if (!jx_mtext_expect(t, "=") || !jx_mtext_operand(t))
                return false;
        } while (jx_mtext_take(t, ","));
        if (!jx_mtext_expect(t, ")") || !jx_mtext_expect(t, ":") ||
            !jx_mtext_type_list(t, &t->in_types))
            return false;
    }
    n = t->results.count - names;
    if (t->in_types.count - op->in_types != n)
        return jx_mtext_fail(t, op->at,
                             "this loop has %zu values, and types for %zu", n,
                             t->in_types.count - op->in_types);
    for (size_t i = op->in_types; i < t->in_types.count; i++)
        JX_PUSH(t->arena, &t->out_types, t->in_types.at[i]);
    const jx_muse *kept = JX_MTEXT_CUT(t, &t->results, names);
    if (!jx_take_attributes(t, op) || !jx_mtext_expect(t, "cond"))
        return false;
    size_t args = t->args.count;
    push_args(t, op, kept);
    if (!jx_mtext_region(t, op, args) || !jx_mtext_expect(t, "do"))
        return false;
    push_args(t, op, kept);
    return jx_mtext_region(t, op, args);
}

bool jx_fits_while(const jx_mlir_op *op)
{
    const jx_mlir_block *body = jx_mlir_body(op, 1);

    if (op->nregions != 2 || !body || body->nargs != op->nins)
        return false;
    return jx_fits_pairwise(op);
}

void jx_put_while(jx_mlir_printer *p, const jx_mlir_op *op)
{
    const jx_mlir_block *body = jx_mlir_body(op, 1);

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
}

/* ---- @reduce */

/* `(%x init: %i), ...`: all inputs, then all initial values. */
static bool reduce_uses(jx_mtext *t)
{
    size_t inits = t->results.count;
    jx_muse use;

    do {
        if (!jx_mtext_expect(t, "(") || !jx_mtext_operand(t) ||
            !jx_mtext_expect(t, "init") || !jx_mtext_expect(t, ":") ||
            !jx_mtext_need(t, &use))
            return false;
        JX_PUSH(t->arena, &t->results, use);
        if (!jx_mtext_expect(t, ")"))
            return false;
    } while (jx_mtext_take(t, ","));
    for (size_t i = inits; i < t->results.count; i++)
        JX_PUSH(t->arena, &t->uses, t->results.at[i]);
    t->results.count = inits;
    return !t->failed;
}

/* `across dimensions = [0, 1] {attrs} : (types) -> types` */
static bool reduce_tail(jx_mtext *t, const jx_mop *op)
{
    size_t from = t->numbers.count;

    return jx_mtext_expect(t, "across") && jx_mtext_expect(t, "dimensions") &&
           jx_mtext_expect(t, "=") && jx_mtext_list(t, "[", "]") &&
           jx_mtext_give(t, "dimensions",
                         jx_mtext_list_attr(t, t->i64, from)) &&
           jx_mtext_attr_dict(t, op) && jx_mtext_expect(t, ":") &&
           jx_mtext_signature(t);
}

/* `reducer(%a: type, %b: type) (...) {...}`: first all that come in, then all
 * that were reduced so far. */
static bool reducer(jx_mtext *t, const jx_mop *op)
{
    size_t from = t->args.count, n;
    jx_marg arg;

    while (jx_mtext_take(t, "(")) {
        for (int i = 0; i < 2; i++) {
            if ((i && !jx_mtext_expect(t, ",")) ||
                !jx_mtext_arg(t, &arg, false))
                return false;
            JX_PUSH(t->arena, &t->args, arg);
        }
        if (!jx_mtext_expect(t, ")"))
            return false;
    }
    n = t->args.count - from;
    jx_marg *sorted = JX_NEW_ARRAY(t->arena, n, jx_marg);
    if (!sorted) {
        t->failed = true;
        return false;
    }
    for (size_t i = 0; i < n; i++)
        sorted[i / 2 + (i % 2) * (n / 2)] = t->args.at[from + i];
    if (n)
        memcpy(t->args.at + from, sorted, n * sizeof *sorted);
    return jx_mtext_region(t, op, from);
}

/* An op of the reader's own making. */
static const jx_mlir_op *made(jx_mtext *t, const jx_mop *like, jx_op_id id,
                              int nins, jx_mlir_value *const *ins,
                              jx_mlir_value *out)
{
    jx_mlir_op *op = JX_NEW(t->arena, jx_mlir_op);
    const jx_mlir_value **outs = JX_NEW(t->arena, const jx_mlir_value *);

    if (!op || !outs) {
        t->failed = true;
        return NULL;
    }
    op->id = id;
    op->name = jx_intern_text(t->ctx, jx_mlir_op_name(id));
    op->nins = nins;
    op->ins = (const jx_mlir_value *const *)ins;
    if (out) {
        *outs = out;
        op->nouts = 1;
        op->outs = outs;
        out->op = op;
    }
    op->loc = like->loc ? like->loc : t->unknown;
    op->place = jx_mtext_place(t, like->at);
    return op;
}

/* The type of what one step of a reduction takes: a scalar. */
static const jx_mlir_type *scalar_of(jx_mtext *t, const jx_mop *op)
{
    const jx_mlir_type *type =
        t->in_types.count > op->in_types ? t->in_types.at[op->in_types] : NULL;

    if (!type || (type->kind != JX_T_TENSOR && type->kind != JX_T_UNRANKED)) {
        jx_mtext_fail(t, op->at, "expected tensors to reduce");
        return NULL;
    }
    return jx_mlir_tensor(t->types, 0, NULL, type->items[0]);
}

/* The body that `applies` stands for: one op, and its result returned. */
static bool applied(jx_mtext *t, const jx_mop *op, jx_op_id id)
{
    const jx_mlir_type *type = scalar_of(t, op);
    jx_mlir_value *values = JX_NEW_ARRAY(t->arena, 3, jx_mlir_value);
    jx_mlir_value **at = JX_NEW_ARRAY(t->arena, 3, jx_mlir_value *);
    size_t from = t->ops.count;

    if (!type || !values || !at) {
        t->failed = true;
        return false;
    }
    for (int i = 0; i < 3; i++) {
        values[i].type = type;
        values[i].index = i % 2;
        values[i].loc = i < 2 ? op->loc : NULL;
        at[i] = &values[i];
    }
    values[2].index = 0;
    const jx_mlir_op *step = made(t, op, id, 2, at, at[2]);
    const jx_mlir_op *end =
        made(t, op, JX_OP_stablehlo_return, 1, at + 2, NULL);
    if (!step || !end)
        return false;
    JX_PUSH(t->arena, &t->ops, step);
    JX_PUSH(t->arena, &t->ops, end);
    return jx_mtext_push_region(t, at, 2, from);
}

bool jx_take_reduce(jx_mtext *t, jx_mop *op)
{
    if (!reduce_uses(t))
        return false;
    if (!jx_mtext_take(t, "applies"))
        return reduce_tail(t, op) && jx_mtext_expect(t, "reducer") &&
               reducer(t, op);
    jx_piece word = jx_mtext_word(t, true);
    jx_op_id id = jx_mtext_op_id(t, jx_mtext_intern(t, word));
    if (!jx_mlir_op_commutes(id)) {
        t->at = word.at;
        return jx_mtext_wants(t, "an op whose order does not matter, such as "
                                 "stablehlo.add");
    }
    if (!reduce_tail(t, op))
        return false;
    op->loc = jx_mtext_loc(t);
    return !t->failed && applied(t, op, id);
}

/* The one op of a reducer that computes it from the arguments as they are, and
 * does not care for their order; or NULL.  What it has of attributes is not
 * printed then, as in MLIR. */
static const jx_mlir_op *simple_reducer(const jx_mlir_op *op)
{
    const jx_mlir_block *body = jx_mlir_body(op, 0);
    const jx_mlir_op *inner;

    if (!body || body->nops != 2 || body->nargs != 2 || op->nins < 2)
        return NULL;
    inner = body->ops[0];
    if (!jx_mlir_op_commutes(inner->id) || inner->nins != 2 ||
        inner->nouts != 1 || inner->ins[0] != body->args[0] ||
        inner->ins[1] != body->args[1] ||
        inner->ins[0]->type != inner->outs[0]->type ||
        inner->ins[1]->type != inner->outs[0]->type)
        return NULL;
    const jx_mlir_type *element = inner->outs[0]->type;
    if (element->kind != JX_T_TENSOR || element->rank || element->encoding ||
        !op->ins[0]->type->count ||
        element->items[0] != op->ins[0]->type->items[0])
        return NULL;
    return body->ops[1]->id == JX_OP_stablehlo_return &&
                   body->ops[1]->nins == 1 &&
                   body->ops[1]->ins[0] == inner->outs[0]
               ? inner
               : NULL;
}

bool jx_fits_reduce(const jx_mlir_op *op)
{
    const jx_mlir_block *body = jx_mlir_body(op, 0);

    return jx_mlir_get(op, "dimensions") && op->nregions == 1 && body &&
           body->nargs == op->nins && op->nins && op->nins % 2 == 0;
}

void jx_put_reduce(jx_mlir_printer *p, const jx_mlir_op *op)
{
    const jx_mlir_block *body = jx_mlir_body(op, 0);
    const jx_mlir_op *inner = simple_reducer(op);
    int half = op->nins / 2;

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
    jx_mlir_put_plain(p, jx_mlir_get(op, "dimensions"));
    jx_mlir_put_attr_dict(p, op, "dimensions", NULL);
    jx_mlir_puts(p, " : ");
    jx_mlir_put_function_type(p, op);
    if (inner)
        return;
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
}

/* ---- @scan */

static bool give_sizes(jx_mtext *t, const char *name, size_t first,
                       size_t second)
{
    size_t from = t->numbers.count;

    JX_PUSH(t->arena, &t->numbers, (int64_t)first);
    JX_PUSH(t->arena, &t->numbers, (int64_t)second);
    return jx_mtext_give(t, name, jx_mtext_list_attr(t, t->i32, from));
}

/* `(%x) inits (%c) dimension=0 attributes {...} {...} : (types) -> types` */
bool jx_take_scan(jx_mtext *t, jx_mop *op)
{
    if (!jx_mtext_expect(t, "(") || !jx_mtext_uses(t) ||
        !jx_mtext_expect(t, ")") || !jx_mtext_expect(t, "inits"))
        return false;
    size_t inputs = t->uses.count - op->uses;
    if (!jx_mtext_expect(t, "(") || !jx_mtext_uses(t) ||
        !jx_mtext_expect(t, ")") || !jx_mtext_expect(t, "dimension") ||
        !jx_mtext_expect(t, "=") ||
        !jx_mtext_give(t, "dimension", jx_mtext_number(t, t->i64)) ||
        !jx_take_attributes(t, op) || !jx_mtext_region(t, op, t->args.count) ||
        !jx_mtext_expect(t, ":") || !jx_mtext_signature(t))
        return false;
    size_t inits = t->uses.count - op->uses - inputs;
    size_t outs = t->out_types.count - op->out_types;
    if (outs < inits)
        return jx_mtext_fail(t, op->at,
                             "expected a result for each of the "
                             "%zu initial values",
                             inits);
    return give_sizes(t, "operandSegmentSizes", inputs, inits) &&
           give_sizes(t, "resultSegmentSizes", outs - inits, inits);
}

/* How many of the `total` operands or results are initial values; -1 where that
 * is not said as it is read. */
static int inits_of(const jx_mlir_op *op, const char *name, int total)
{
    const jx_mlir_attr *sizes = jx_mlir_get(op, name);

    return sizes && sizes->kind == JX_A_DENSE_ARRAY && sizes->integers &&
                   sizes->count == 2 && sizes->integers[0] >= 0 &&
                   sizes->integers[1] >= 0 && sizes->integers[1] <= total &&
                   sizes->integers[0] == total - sizes->integers[1]
               ? (int)sizes->integers[1]
               : -1;
}

int jx_mlir_scan_inits(const jx_mlir_op *op)
{
    return inits_of(op, "operandSegmentSizes", op->nins);
}

bool jx_fits_scan(const jx_mlir_op *op)
{
    const jx_mlir_attr *dimension = jx_mlir_get(op, "dimension");
    int inits = jx_mlir_scan_inits(op);

    return dimension && dimension->kind == JX_A_INTEGER && inits >= 0 &&
           inits_of(op, "resultSegmentSizes", op->nouts) == inits &&
           op->nregions == 1 && op->regions[0].nblocks;
}

void jx_put_scan(jx_mlir_printer *p, const jx_mlir_op *op)
{
    int inputs = op->nins - jx_mlir_scan_inits(op);

    jx_mlir_puts(p, "(");
    jx_mlir_put_operands(p, op, 0, inputs);
    jx_mlir_puts(p, ") inits (");
    jx_mlir_put_operands(p, op, inputs, op->nins);
    jx_mlir_puts(p, ") dimension=");
    jx_mlir_put_plain(p, jx_mlir_get(op, "dimension"));
    jx_mlir_puts(p, " ");
    jx_mlir_put_attr_dict(p, op,
                          "dimension operandSegmentSizes resultSegmentSizes",
                          "attributes");
    jx_mlir_puts(p, " ");
    jx_mlir_put_region(p, &op->regions[0], true, "");
    jx_mlir_puts(p, " : ");
    jx_mlir_put_function_type(p, op);
}
