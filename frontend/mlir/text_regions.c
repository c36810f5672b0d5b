/* text_regions.c - regions, blocks and their arguments. */
#include "frontend/mlir/text_parts.h"

#include <string.h>

/* ---- labels */

static bool same_label(const void *kept, const void *key)
{
    return ((const jx_mlabel *)kept)->name == key;
}

/* `^name`: the block that it stands for in this region. */
static jx_mlabel *label(jx_mtext *t)
{
    const char *at = t->at;

    if (jx_mtext_space(t) != '^') {
        jx_mtext_wants(t, "a block, ^name");
        return NULL;
    }
    t->at++;
    jx_piece piece = jx_mtext_suffix(t);
    const char *name = jx_mtext_intern(t, piece);
    uint64_t hash = jx_hash_mix(0, (uint64_t)(uintptr_t)name);
    if (!piece.length || !t->labels) {
        jx_mtext_fail(t, at, "expected no block here");
        return NULL;
    }
    jx_mlabel *known = (jx_mlabel *)(uintptr_t)jx_intern_find(t->labels, hash,
                                                              name, same_label);
    if (known || t->failed)
        return known;
    known = JX_NEW(t->arena, jx_mlabel);
    jx_mlir_block *block = JX_NEW(t->arena, jx_mlir_block);
    if (!known || !block || !jx_intern_add(t->labels, hash, known)) {
        t->failed = true;
        return NULL;
    }
    *known = (jx_mlabel){.name = name, .at = at, .block = block};
    return known;
}

bool jx_mtext_successors(jx_mtext *t)
{
    if (!jx_mtext_take(t, "[") || jx_mtext_take(t, "]"))
        return !t->failed;
    do {
        const char *at = (jx_mtext_space(t), t->at);
        jx_mlabel *to = label(t);
        if (to) {
            to->branch = to->branch ? to->branch : at;
            JX_PUSH(t->arena, &t->successors, to->block);
        }
    } while (!t->failed && jx_mtext_take(t, ","));
    return jx_mtext_expect(t, "]");
}

/* Every label has its block, and nothing goes to the first block, as MLIR has
 * it: what a region begins with is no place to come back to. */
static bool labels_hold(jx_mtext *t, const jx_mlir_block *first)
{
    for (size_t i = 0; i < t->labels->capacity; i++) {
        const jx_mlabel *l = t->labels->slots[i];
        if (l && !l->defined)
            return jx_mtext_fail(t, l->at, "there is no block ^%.64s", l->name);
        if (l && l->branch && l->block == first)
            return jx_mtext_fail(t, l->branch,
                                 "^%.64s is the first block of "
                                 "its region, no op can go there",
                                 l->name);
    }
    return true;
}

/* ---- blocks */

bool jx_mtext_arg(jx_mtext *t, jx_marg *arg, bool attrs)
{
    size_t from = t->entries.count;

    *arg = (jx_marg){0};
    if (!jx_mtext_use(t, &arg->name))
        return jx_mtext_wants(t, "an argument, %name");
    if (!jx_mtext_expect(t, ":"))
        return false;
    arg->type = jx_mtext_type(t);
    if (attrs && arg->type && jx_mtext_comes(t, "{") &&
        jx_mtext_entries(t, "{", "}"))
        arg->attrs = jx_mtext_dict_attr(t, from);
    arg->loc = jx_mtext_loc(t);
    return !t->failed;
}

bool jx_mtext_args(jx_mtext *t, bool attrs)
{
    jx_marg arg;

    if (!jx_mtext_expect(t, "("))
        return false;
    if (jx_mtext_take(t, ")"))
        return true;
    do {
        if (!jx_mtext_arg(t, &arg, attrs))
            return false;
        JX_PUSH(t->arena, &t->args, arg);
    } while (jx_mtext_take(t, ","));
    return jx_mtext_expect(t, ")");
}

static jx_mlir_value *argument(jx_mtext *t, const jx_marg *arg,
                               const jx_mlir_block *block, int index)
{
    jx_mlir_value *value = jx_mtext_value(t, &arg->name, arg->type);

    if (!value)
        return NULL;
    value->block = block;
    value->index = index;
    value->loc = arg->loc;
    value->name = arg->name.name ? arg->name.name->text : NULL;
    return value;
}

/* The arguments on the stack from `from` on become those of the block. */
static bool take_args(jx_mtext *t, jx_mlir_block *block, size_t from)
{
    size_t n = t->args.count - from;
    jx_mlir_value **args = JX_NEW_ARRAY(t->arena, n, jx_mlir_value *);

    if (!args) {
        t->failed = true;
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const jx_marg *arg = &t->args.at[from + i];
        args[i] = argument(t, arg, block, (int)i);
        if (!args[i] ||
            (arg->name.name && !jx_mtext_define(t, &arg->name, &args[i], 1)))
            return false;
    }
    t->args.count = from;
    block->nargs = (int)n;
    block->args = (const jx_mlir_value *const *)args;
    return true;
}

static bool block_ops(jx_mtext *t, jx_mlir_block *block)
{
    size_t from = t->ops.count;

    if (!jx_mtext_ops(t))
        return false;
    block->nops = (int)(t->ops.count - from);
    block->ops = JX_MTEXT_CUT(t, &t->ops, from);
    JX_PUSH(t->arena, &t->blocks, block);
    return !t->failed;
}

/* `^name(%x: type, ...):` and its ops. */
static bool labelled(jx_mtext *t)
{
    size_t from = t->args.count;
    const char *at = t->at;
    jx_mlabel *l = label(t);

    if (!l)
        return false;
    if (l->defined)
        return jx_mtext_fail(t, at, "this block is there already");
    l->defined = true;
    t->block = at;
    if (jx_mtext_comes(t, "(") && !jx_mtext_args(t, false))
        return false;
    return jx_mtext_expect(t, ":") && take_args(t, l->block, from) &&
           block_ops(t, l->block);
}

/* ---- regions */

static bool push_region(jx_mtext *t, size_t blocks)
{
    jx_mlir_region region = {.nblocks = (int)(t->blocks.count - blocks)};

    region.blocks = JX_MTEXT_CUT(t, &t->blocks, blocks);
    JX_PUSH(t->arena, &t->regions, region);
    return !t->failed;
}

bool jx_mtext_regions(jx_mtext *t, const jx_mop *op)
{
    if (!jx_mtext_take(t, "("))
        return !t->failed;
    do
        jx_mtext_region(t, op, t->args.count);
    while (!t->failed && jx_mtext_take(t, ","));
    return jx_mtext_expect(t, ")");
}

bool jx_mtext_push_region(jx_mtext *t, jx_mlir_value *const *args, int nargs,
                          size_t ops)
{
    jx_mlir_block *block = JX_NEW(t->arena, jx_mlir_block);
    size_t blocks = t->blocks.count;

    if (!block) {
        t->failed = true;
        return false;
    }
    for (int i = 0; i < nargs; i++)
        args[i]->block = block;
    block->nargs = nargs;
    block->args = (const jx_mlir_value *const *)args;
    block->nops = (int)(t->ops.count - ops);
    block->ops = JX_MTEXT_CUT(t, &t->ops, ops);
    JX_PUSH(t->arena, &t->blocks, block);
    return push_region(t, blocks);
}

static bool blocks_of(jx_mtext *t, const jx_mop *op, size_t args)
{
    bool given = t->args.count > args;

    t->block = t->at;
    if (given ||
        (!jx_mtext_comes(t, "^") &&
         (!jx_mtext_comes(t, "}") || op->id == JX_OP_builtin_module))) {
        jx_mlir_block *block = JX_NEW(t->arena, jx_mlir_block);
        if (!block) {
            t->failed = true;
            return false;
        }
        if (!take_args(t, block, args) || !block_ops(t, block))
            return false;
    }
    while (!t->failed && jx_mtext_comes(t, "^"))
        labelled(t);
    return !t->failed;
}

static bool is_isolated(jx_op_id id)
{
    switch (id) {
    case JX_OP_func_func:
    case JX_OP_builtin_module:
    case JX_OP_chlo_scan:
    case JX_OP_sdy_manual_computation:
    case JX_OP_stablehlo_async_start:
    case JX_OP_sdy_named_computation: return true;
    default: return false;
    }
}

/* Ops are named without a dialect where the op around them says which. */
static void set_dialect(jx_mtext *t, jx_op_id id)
{
    if (id == JX_OP_func_func)
        t->dialect = "func";
    else if (id == JX_OP_builtin_module)
        t->dialect = "builtin";
}

bool jx_mtext_region(jx_mtext *t, const jx_mop *op, size_t args)
{
    size_t blocks = t->blocks.count;
    jx_intern labels;
    jx_mscope was;

    if (!jx_mtext_expect(t, "{") ||
        !jx_mtext_open(t, &was, is_isolated(op->id)))
        return false;
    jx_intern_init(&labels, t->arena);
    t->labels = &labels;
    set_dialect(t, op->id);
    bool ok =
        blocks_of(t, op, args) &&
        (t->blocks.count == blocks || labels_hold(t, t->blocks.at[blocks])) &&
        jx_mtext_expect(t, "}");
    if (!jx_mtext_close(t, &was) || !ok)
        return false;
    return push_region(t, blocks);
}
