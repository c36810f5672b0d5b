/* text_ops.c - ops: their generic form, and what all forms share. */
#include "frontend/mlir/text_parts.h"

#include <string.h>

jx_mop jx_mtext_begin(const jx_mtext *t, const char *at)
{
    return (jx_mop){.at = at,
                    .results = t->results.count,
                    .uses = t->uses.count,
                    .in_types = t->in_types.count,
                    .out_types = t->out_types.count,
                    .inherent = t->inherent.count,
                    .attrs = t->attrs.count,
                    .regions = t->regions.count,
                    .successors = t->successors.count};
}

/* ---- types */

/* Moves the types on `parts` from `from` on to another stack. */
static void move(jx_mtext *t, jx_mtypes *to, size_t from)
{
    for (size_t i = from; i < t->parts.count; i++)
        JX_PUSH(t->arena, to, t->parts.at[i]);
    t->parts.count = from;
}

bool jx_mtext_type_list(jx_mtext *t, jx_mtypes *to)
{
    do {
        const jx_mlir_type *type = jx_mtext_type(t);
        if (type)
            JX_PUSH(t->arena, to, type);
    } while (!t->failed && jx_mtext_take(t, ","));
    return !t->failed;
}

void jx_mtext_push_function(jx_mtext *t, const jx_mlir_type *type)
{
    for (int i = 0; i < type->count; i++)
        if (i < type->inputs)
            JX_PUSH(t->arena, &t->in_types, type->items[i]);
        else
            JX_PUSH(t->arena, &t->out_types, type->items[i]);
}

/* A type that an alias names may be a function's. */
static bool named_signature(jx_mtext *t)
{
    const jx_mlir_type *type = jx_mtext_type(t);

    if (!type)
        return false;
    if (type->kind != JX_T_FUNCTION)
        return jx_mtext_wants(t, "'->' before this: (types) -> types");
    jx_mtext_push_function(t, type);
    return true;
}

bool jx_mtext_signature(jx_mtext *t)
{
    size_t from = t->parts.count;

    if (jx_mtext_space(t) == '!')
        return named_signature(t);
    if (!jx_mtext_comes(t, "("))
        return jx_mtext_wants(t, "'(' and the types of the operands");
    if (!jx_mtext_types(t))
        return false;
    move(t, &t->in_types, from);
    if (!jx_mtext_expect(t, "->") || !jx_mtext_types(t))
        return false;
    move(t, &t->out_types, from);
    return true;
}

/* ---- attributes */

bool jx_mtext_give(jx_mtext *t, const char *name, const jx_mlir_attr *value)
{
    const char *kept = value ? jx_intern_text(t->ctx, name) : NULL;

    if (kept)
        JX_PUSH(t->arena, &t->inherent, (jx_mlir_named){kept, value});
    else
        t->failed = true;
    return !t->failed;
}

/* `operandSegmentSizes` and its like are no op's own idea. */
static bool is_inherent(const jx_mop *op, const char *name)
{
    const jx_mlir_op_info *info = jx_mlir_op_info_of(op->id);

    return (info && jx_mlir_has_name(info->attrs, name, NULL)) ||
           strcmp(name, "operandSegmentSizes") == 0 ||
           strcmp(name, "resultSegmentSizes") == 0;
}

static void share_out(jx_mtext *t, const jx_mop *op, size_t from, bool all)
{
    for (size_t i = from; i < t->entries.count; i++)
        if (all || is_inherent(op, t->entries.at[i].name))
            JX_PUSH(t->arena, &t->inherent, t->entries.at[i]);
        else
            JX_PUSH(t->arena, &t->attrs, t->entries.at[i]);
    t->entries.count = from;
}

bool jx_mtext_attr_dict(jx_mtext *t, const jx_mop *op)
{
    size_t from = t->entries.count;

    if (!jx_mtext_comes(t, "{"))
        return !t->failed;
    if (!jx_mtext_entries(t, "{", "}"))
        return false;
    share_out(t, op, from, false);
    return true;
}

bool jx_mtext_properties(jx_mtext *t, const jx_mop *op, const char *open,
                         const char *close)
{
    size_t from = t->entries.count;

    if (!jx_mtext_entries(t, open, close))
        return false;
    share_out(t, op, from, true);
    return true;
}

/* ---- making the op */

static const jx_mlir_value *const *operands(jx_mtext *t, const jx_mop *op,
                                            int *count)
{
    size_t n = t->uses.count - op->uses;
    size_t types = t->in_types.count - op->in_types;
    const jx_mlir_value **ins =
        JX_NEW_ARRAY(t->arena, n, const jx_mlir_value *);

    if (n != types) {
        jx_mtext_fail(t, op->at, "%s has %zu operands here, and types for %zu",
                      op->name, n, types);
        return NULL;
    }
    if (!ins)
        t->failed = true;
    for (size_t i = 0; !t->failed && i < n; i++)
        ins[i] = jx_mtext_resolve(t, &t->uses.at[op->uses + i],
                                  t->in_types.at[op->in_types + i]);
    t->uses.count = op->uses;
    t->in_types.count = op->in_types;
    *count = (int)n;
    return t->failed ? NULL : ins;
}

/* How many results the text binds. */
static int64_t bound(const jx_mtext *t, const jx_mop *op)
{
    int64_t count = 0;

    for (size_t i = op->results; i < t->results.count; i++)
        count += t->results.at[i].number;
    return count;
}

static bool bind(jx_mtext *t, const jx_mop *op, jx_mlir_op *made)
{
    size_t n = t->out_types.count - op->out_types, at = 0;
    jx_mlir_value **outs = JX_NEW_ARRAY(t->arena, n, jx_mlir_value *);
    size_t names = t->results.count - op->results;

    if (names && bound(t, op) != (int64_t)n)
        return jx_mtext_fail(t, op->at, "this binds %lld results, %s has %zu",
                             (long long)bound(t, op), op->name, n);
    if (!outs)
        t->failed = true;
    for (size_t g = 0; !t->failed && g < (names ? names : n); g++) {
        const jx_muse *name = names ? &t->results.at[op->results + g] : NULL;
        size_t count = names ? (size_t)name->number : 1;
        for (size_t i = 0; !t->failed && i < count; i++) {
            jx_mlir_value *value =
                jx_mtext_value(t, count == 1 ? name : NULL,
                               t->out_types.at[op->out_types + at + i]);
            if (!value)
                return false;
            value->op = made;
            value->index = (int)(at + i);
            value->name = name && count == 1 ? name->name->text : NULL;
            outs[at + i] = value;
        }
        if (name && !t->failed)
            jx_mtext_define(t, name, outs + at, (int)count);
        at += count;
    }
    t->out_types.count = op->out_types;
    t->results.count = op->results;
    made->nouts = (int)n;
    made->outs = (const jx_mlir_value *const *)outs;
    return !t->failed;
}

static const jx_mlir_named *named(jx_mtext *t, const jx_mop *op,
                                  jx_mlir_named *stack, size_t *top,
                                  size_t from, int *count)
{
    size_t n = *top - from;

    if (n > 1 && !jx_mtext_sort(t, op->at, stack + from, n))
        return NULL;
    *count = (int)n;
    return n ? jx_mtext_cut(t, stack, sizeof *stack, from, top) : NULL;
}

const jx_mlir_op *jx_mtext_finish(jx_mtext *t, jx_mop *op)
{
    jx_mlir_op *made = t->failed ? NULL : JX_NEW(t->arena, jx_mlir_op);

    if (!made) {
        t->failed = true;
        return NULL;
    }
    made->id = op->id;
    made->name = op->name;
    made->place = jx_mtext_place(t, op->at);
    made->ins = operands(t, op, &made->nins);
    if (t->failed)
        return NULL;
    made->inherent = named(t, op, t->inherent.at, &t->inherent.count,
                           op->inherent, &made->ninherent);
    made->attrs =
        named(t, op, t->attrs.at, &t->attrs.count, op->attrs, &made->nattrs);
    made->nregions = (int)(t->regions.count - op->regions);
    if (made->nregions)
        made->regions = JX_MTEXT_CUT(t, &t->regions, op->regions);
    made->nsuccessors = (int)(t->successors.count - op->successors);
    if (made->nsuccessors)
        made->successors = JX_MTEXT_CUT(t, &t->successors, op->successors);
    made->loc = t->failed || op->loc ? op->loc : jx_mtext_loc(t);
    if (!made->loc)
        made->loc = t->unknown;
    return bind(t, op, made) ? made : NULL;
}

/* ---- the generic form */

bool jx_mtext_generic(jx_mtext *t, const jx_mop *op)
{
    if (!jx_mtext_expect(t, "(") || !jx_mtext_uses(t) ||
        !jx_mtext_expect(t, ")") || !jx_mtext_successors(t) ||
        (jx_mtext_take(t, "<") &&
         (!jx_mtext_properties(t, op, "{", "}") || !jx_mtext_expect(t, ">"))))
        return false;
    return jx_mtext_regions(t, op) && jx_mtext_attr_dict(t, op) &&
           jx_mtext_expect(t, ":") && jx_mtext_signature(t);
}

/* ---- ops in general */

/* Most names come again and again, and each is one pointer. */
jx_op_id jx_mtext_op_id(jx_mtext *t, const char *name)
{
    size_t slot = ((uintptr_t)name >> 3) % (sizeof t->known / sizeof *t->known);

    if (t->known[slot].name != name) {
        t->known[slot].name = name;
        t->known[slot].id = name ? jx_mlir_op_id(name) : JX_OP_unknown;
    }
    return t->known[slot].id;
}

/* `%0:2, %x = `, if an op begins so. */
static bool results(jx_mtext *t)
{
    jx_muse use;

    if (jx_mtext_space(t) != '%')
        return true;
    do {
        if (!jx_mtext_need(t, &use))
            return false;
        if (use.number)
            return jx_mtext_fail(t, use.at, "expected a name without '#'");
        use.number = 1;
        if (t->at < t->end && *t->at == ':') {
            t->at++;
            const char *at = t->at;
            if (!jx_mtext_integer(t, &use.number) || use.number < 1 ||
                use.number > INT32_MAX)
                return jx_mtext_fail(t, at,
                                     "expected how many results, 1 or more");
        }
        JX_PUSH(t->arena, &t->results, use);
    } while (!t->failed && jx_mtext_take(t, ","));
    return jx_mtext_expect(t, "=");
}

/* `stablehlo.add`, or `return` where the op around says of which dialect. */
static bool pretty_name(jx_mtext *t, jx_mop *op)
{
    jx_piece word = jx_mtext_word(t, true);

    if (!word.length)
        return jx_mtext_wants(t, "an op");
    op->name = jx_mtext_intern(t, word);
    if (memchr(word.at, '.', word.length) || t->failed)
        return !t->failed;
    const char *full = jx_arena_printf(t->arena, "%s.%s", t->dialect, op->name);
    op->name = full ? jx_intern_text(t->ctx, full) : NULL;
    t->failed |= !op->name;
    return !t->failed;
}

/* What stands behind the name. */
static bool pretty(jx_mtext *t, jx_mop *op)
{
    op->id = jx_mtext_op_id(t, op->name);
    const jx_form *form = jx_form_of(t->ctx, &t->forms, op->id);

    if (form)
        return jx_form_take(t, op, form);
    return jx_mtext_fail(t, op->at,
                         op->id ? "%s is only written in the generic form, "
                                  "\"%s\"(...) : (types) -> types"
                                : "of %s no pretty form is known; write \"%s\""
                                  "(...) : (types) -> types",
                         op->name, op->name);
}

const jx_mlir_op *jx_mtext_op(jx_mtext *t)
{
    char c = jx_mtext_space(t);
    jx_mop op = jx_mtext_begin(t, t->at);
    jx_piece name;
    bool ok;

    if (c == '%') {
        if (!results(t))
            return NULL;
        c = jx_mtext_space(t);
    }
    if (c == '"') {
        if (!jx_mtext_string(t, &name) || !jx_mtext_is_name(t, t->at, name))
            return NULL;
        if (!name.length)
            return jx_mtext_wants(t, "the name of an op before this"), NULL;
        op.name = jx_mtext_intern(t, name);
        op.id = jx_mtext_op_id(t, op.name);
        ok = jx_mtext_generic(t, &op);
    } else {
        ok = pretty_name(t, &op) && pretty(t, &op);
    }
    return ok ? jx_mtext_finish(t, &op) : NULL;
}

bool jx_mtext_ops(jx_mtext *t)
{
    for (;;) {
        char c = jx_mtext_space(t);
        if (t->at >= t->end || c == '}' || c == '^')
            return !t->failed;
        const jx_mlir_op *op = jx_mtext_op(t);
        if (!op)
            return false;
        JX_PUSH(t->arena, &t->ops, op);
    }
}
