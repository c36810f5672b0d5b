/* text_custom.c - pretty forms of ops that are unlike all others: modules,
 * functions, loops, reductions, constants. */
#include "frontend/mlir/text_parts.h"

#include <string.h>

static bool give_name(jx_mtext *t, const char *attr, const char *name)
{
    jx_piece piece = {name, strlen(name)};

    return jx_mtext_give(t, attr, jx_mtext_text_attr(t, piece));
}

/* `attributes {...}`, if it is there. */
static bool attributes(jx_mtext *t, const jx_mop *op)
{
    if (!jx_mtext_take(t, "attributes"))
        return !t->failed;
    return jx_mtext_comes(t, "{") ? jx_mtext_attr_dict(t, op)
                                  : jx_mtext_wants(t, "'{'");
}

bool jx_mtext_module(jx_mtext *t, jx_mop *op)
{
    const char *name = jx_mtext_symbol(t);

    if (name)
        give_name(t, "sym_name", name);
    return attributes(t, op) && jx_mtext_region(t, op, t->args.count);
}

/* ---- functions */

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
            return jx_mtext_fail(t, at, "expected names for the arguments of "
                                        "a function with a body");
    return true;
}

bool jx_mtext_func(jx_mtext *t, jx_mop *op)
{
    static const char *const words[] = {"public", "private", "nested"};
    size_t from = t->args.count, outs;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (jx_mtext_take(t, words[i])) {
            give_name(t, "sym_visibility", words[i]);
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
        !attributes(t, op))
        return false;
    t->args.count = outs;
    if (!jx_mtext_comes(t, "{")) {
        t->args.count = from;
        JX_PUSH(t->arena, &t->regions, (jx_mlir_region){0});
        return !t->failed;
    }
    return check_names(t, at, from) && jx_mtext_region(t, op, from);
}

/* ---- constants */

/* As an op of its own, `() <{value = ...}> : () -> type`. */
static bool generic_constant(jx_mtext *t, jx_mop *op)
{
    size_t from = t->entries.count;

    if (!jx_mtext_expect(t, "(") || !jx_mtext_expect(t, ")"))
        return false;
    if (jx_mtext_take(t, "<")) {
        if (!jx_mtext_entries(t, "{", "}") || !jx_mtext_expect(t, ">"))
            return false;
        for (size_t i = from; i < t->entries.count; i++)
            JX_PUSH(t->arena, &t->inherent, t->entries.at[i]);
        t->entries.count = from;
    }
    return jx_mtext_attr_dict(t, op) && jx_mtext_expect(t, ":") &&
           jx_mtext_signature(t);
}

bool jx_mtext_constant(jx_mtext *t, jx_mop *op)
{
    if (jx_mtext_comes(t, "("))
        return generic_constant(t, op);
    if (!jx_mtext_attr_dict(t, op))
        return false;
    const char *at = (jx_mtext_space(t), t->at);
    const jx_mlir_attr *value = jx_mtext_attr(t);
    if (!value)
        return false;
    const jx_mlir_type *type = value->kind == JX_A_BOOL ? t->i1 : value->type;
    bool any = strncmp(op->name, "arith.", 6) == 0;
    if (!type || value->kind == JX_A_TYPE ||
        (!any && type->kind != JX_T_TENSOR))
        return jx_mtext_fail(t, at, "expected a constant with a tensor's type, "
                                    "dense<...> : tensor<...>");
    JX_PUSH(t->arena, &t->out_types, type);
    return jx_mtext_give(t, "value", value);
}

/* ---- loops */

/* The names and types of the loop's values become arguments of a region. */
static void push_args(jx_mtext *t, const jx_mop *op, const jx_muse *names)
{
    for (size_t i = op->in_types; i < t->in_types.count; i++)
        JX_PUSH(t->arena, &t->args,
                (jx_marg){.name = names[i - op->in_types],
                          .type = t->in_types.at[i]});
}

bool jx_mtext_while(jx_mtext *t, jx_mop *op)
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
            if (!jx_mtext_expect(t, "="))
                return false;
            if (!jx_mtext_need(t, &use))
                return false;
            JX_PUSH(t->arena, &t->uses, use);
        } while (jx_mtext_take(t, ","));
        if (!jx_mtext_expect(t, ")") || !jx_mtext_expect(t, ":") ||
            !jx_mtext_type_list(t, &t->in_types))
            return false;
    }
    n = t->results.count - names;
    if (t->in_types.count - op->in_types != n)
        return jx_mtext_fail(t, op->at, "this loop has %zu values, and types "
                             "for %zu", n, t->in_types.count - op->in_types);
    for (size_t i = op->in_types; i < t->in_types.count; i++)
        JX_PUSH(t->arena, &t->out_types, t->in_types.at[i]);
    const jx_muse *kept = JX_MTEXT_CUT(t, &t->results, names);
    if (!attributes(t, op) || !jx_mtext_expect(t, "cond"))
        return false;
    size_t args = t->args.count;
    push_args(t, op, kept);
    if (!jx_mtext_region(t, op, args) || !jx_mtext_expect(t, "do"))
        return false;
    push_args(t, op, kept);
    return jx_mtext_region(t, op, args);
}

/* ---- reductions */

/* `(%x init: %i), ...`: all inputs, then all initial values. */
static bool reduce_uses(jx_mtext *t)
{
    size_t inits = t->results.count;
    jx_muse use;

    do {
        if (!jx_mtext_expect(t, "("))
            return false;
        if (!jx_mtext_need(t, &use))
            return false;
        JX_PUSH(t->arena, &t->uses, use);
        if (!jx_mtext_expect(t, "init") || !jx_mtext_expect(t, ":"))
            return false;
        if (!jx_mtext_need(t, &use))
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
static const jx_mlir_op *made(jx_mtext *t, const jx_mop *like,
                              const char *name, int nins,
                              jx_mlir_value *const *ins, jx_mlir_value *out)
{
    jx_mlir_op *op = JX_NEW(t->arena, jx_mlir_op);
    const jx_mlir_value **outs = JX_NEW(t->arena, const jx_mlir_value *);

    if (!op || !outs) {
        t->failed = true;
        return NULL;
    }
    op->name = jx_intern_text(t->ctx, name);
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
    const jx_mlir_type *type = t->in_types.count > op->in_types
                                   ? t->in_types.at[op->in_types] : NULL;

    if (!type || (type->kind != JX_T_TENSOR && type->kind != JX_T_UNRANKED)) {
        jx_mtext_fail(t, op->at, "expected tensors to reduce");
        return NULL;
    }
    return jx_mlir_tensor(t->types, 0, NULL, type->items[0]);
}

/* The body that `applies` stands for: one op, and its result returned. */
static bool applied(jx_mtext *t, const jx_mop *op, const char *name)
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
    const jx_mlir_op *step = made(t, op, name, 2, at, at[2]);
    const jx_mlir_op *end = made(t, op, "stablehlo.return", 1, at + 2, NULL);
    if (!step || !end)
        return false;
    JX_PUSH(t->arena, &t->ops, step);
    JX_PUSH(t->arena, &t->ops, end);
    return jx_mtext_push_region(t, at, 2, from);
}

static bool can_apply(jx_piece word)
{
    static const char *const names[] = {
        "stablehlo.add", "stablehlo.multiply", "stablehlo.maximum",
        "stablehlo.minimum", "stablehlo.and", "stablehlo.or",
        "stablehlo.xor"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (jx_mtext_is(word, names[i]))
            return true;
    return false;
}

bool jx_mtext_reduce(jx_mtext *t, jx_mop *op)
{
    if (!reduce_uses(t))
        return false;
    if (!jx_mtext_take(t, "applies"))
        return reduce_tail(t, op) && jx_mtext_expect(t, "reducer") &&
               reducer(t, op);
    jx_piece word = jx_mtext_word(t, true);
    if (!can_apply(word)) {
        t->at = word.at;
        return jx_mtext_wants(t, "an op whose order does not matter, such as "
                                 "stablehlo.add");
    }
    const char *name = jx_mtext_intern(t, word);
    if (!reduce_tail(t, op))
        return false;
    op->loc = jx_mtext_loc(t);
    return !t->failed && applied(t, op, name);
}

/* ---- scans */

static bool give_sizes(jx_mtext *t, const char *name, size_t first,
                       size_t second)
{
    size_t from = t->numbers.count;

    JX_PUSH(t->arena, &t->numbers, (int64_t)first);
    JX_PUSH(t->arena, &t->numbers, (int64_t)second);
    return jx_mtext_give(t, name, jx_mtext_list_attr(t, t->i32, from));
}

/* `(%x) inits (%c) dimension=0 attributes {...} {...} : (types) -> types` */
bool jx_mtext_scan(jx_mtext *t, jx_mop *op)
{
    if (!jx_mtext_expect(t, "(") || !jx_mtext_uses(t) ||
        !jx_mtext_expect(t, ")") || !jx_mtext_expect(t, "inits"))
        return false;
    size_t inputs = t->uses.count - op->uses;
    if (!jx_mtext_expect(t, "(") || !jx_mtext_uses(t) ||
        !jx_mtext_expect(t, ")") || !jx_mtext_expect(t, "dimension") ||
        !jx_mtext_expect(t, "=") ||
        !jx_mtext_give(t, "dimension", jx_mtext_number(t, t->i64)) ||
        !attributes(t, op) || !jx_mtext_region(t, op, t->args.count) ||
        !jx_mtext_expect(t, ":") || !jx_mtext_signature(t))
        return false;
    size_t inits = t->uses.count - op->uses - inputs;
    size_t outs = t->out_types.count - op->out_types;
    if (outs < inits)
        return jx_mtext_fail(t, op->at, "expected a result for each of the "
                                        "%zu initial values", inits);
    return give_sizes(t, "operandSegmentSizes", inputs, inits) &&
           give_sizes(t, "resultSegmentSizes", outs - inits, inits);
}
