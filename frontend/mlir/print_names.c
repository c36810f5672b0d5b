/* print_names.c - how MLIR names the values of a module (print_parts.h).
 *
 * Regions are numbered outside in, the last of an op's regions first: a whole
 * region (arguments and results of its ops), then each region inside of it,
 * which goes on from the numbers at the end of its parent.  In the generic
 * form numbers are never used twice. */
#include "frontend/mlir/print_parts.h"

#include "frontend/base/map.h"
#include "frontend/base/vec.h"

#include <string.h>

/* What one region calls its values, beside what those around it do. */
typedef struct scope {
    const struct scope *parent;
    jx_intern used; /* of texts */
} scope;

typedef struct counters {
    unsigned value, argument, conflict;
} counters;

typedef struct name {
    const char *text; /* without `%` */
    int part;         /* which of a group of results; -1: alone */
    int parts;        /* how many, of the first of a group */
} name;

typedef struct task {
    const jx_mlir_op *op;
    const jx_mlir_region *region;
    counters at;
    const scope *parent;
} task;

typedef struct jx_mlir_names {
    jx_ctx *ctx;
    jx_map table;  /* of names, by value */
    jx_map places; /* of blocks but the first: their number in the region */
    bool generic;
    counters at;
    scope *scope;
    JX_VEC(task) todo; /* a stack */
} jx_mlir_names;

static bool same_text(const void *kept, const void *key)
{
    return !strcmp(kept, key);
}

static bool is_used(const scope *s, const char *text)
{
    uint64_t hash = jx_hash_bytes(text, strlen(text));

    for (; s; s = s->parent)
        if (jx_intern_find(&s->used, hash, text, same_text))
            return true;
    return false;
}

static void keep(jx_mlir_names *n, const jx_mlir_value *value, const char *text,
                 int part, int parts)
{
    name *kept = JX_NEW(n->ctx->arena, name);

    if (!kept || !text)
        return;
    *kept = (name){text, part, parts};
    jx_map_put(&n->table, value, kept);
}

/* The text, with a number behind it where it is taken; NULL without memory, of
 * what is no text for that as well. */
static const char *unique(jx_mlir_names *n, const char *text)
{
    const char *chosen = text;

    if (!text)
        return NULL;
    while (is_used(n->scope, chosen)) {
        chosen =
            jx_arena_printf(n->ctx->arena, "%s_%u", text, n->at.conflict++);
        if (!chosen)
            return NULL;
    }
    jx_intern_add(&n->scope->used, jx_hash_bytes(chosen, strlen(chosen)),
                  chosen);
    return chosen;
}

/* What the op calls an argument of its regions, or NULL. */
static const char *argument_base(const jx_mlir_names *n, const jx_mlir_op *op,
                                 int index)
{
    if (n->generic)
        return NULL;
    if (op->id == JX_OP_chlo_scan)
        return index < op->nins - jx_mlir_scan_inits(op) ? "input" : "carry";
    return op->id == JX_OP_stablehlo_while ? "iterArg" : NULL;
}

static void name_arguments(jx_mlir_names *n, const jx_mlir_op *op,
                           const jx_mlir_block *block, bool entry)
{
    for (int i = 0; i < block->nargs; i++) {
        const char *base = argument_base(n, op, i), *text;
        if (entry && base)
            text = unique(n, base);
        else if (entry)
            text = unique(
                n, jx_arena_printf(n->ctx->arena, "arg%u", n->at.argument++));
        else
            text = jx_arena_printf(n->ctx->arena, "%u", n->at.value++);
        keep(n, block->args[i], text, -1, 1);
    }
}

/* What the op calls its results, or NULL: `c` and `cst` for constants, `f`
 * for a function. */
static const char *constant_name(const jx_mlir_op *op)
{
    const jx_mlir_type *t;

    if (op->id == JX_OP_func_constant)
        return "f";
    if (op->id != JX_OP_stablehlo_constant || op->nouts != 1)
        return NULL;
    t = op->outs[0]->type;
    return t->count == 1 && t->items[0]->kind == JX_T_INTEGER ? "c" : "cst";
}

static void name_group(jx_mlir_names *n, const jx_mlir_op *op, int begin,
                       int count, const char *text)
{
    for (int i = 0; i < count; i++)
        keep(n, op->outs[begin + i], text, count > 1 ? i : -1, count);
}

/* Ops with several results that have names of their own; not those that name
 * the arguments of their regions. */
static bool name_by_definition(jx_mlir_names *n, const jx_mlir_op *op)
{
    const jx_mlir_op_info *info = jx_mlir_op_info_of(op->id);
    int begin, count, index = 0;
    const char *word;
    size_t length;
    char mark;

    if (n->generic || !info || jx_mlir_count_names(info->outs) < 2 ||
        op->id == JX_OP_chlo_scan)
        return false;
    for (const char *at = jx_mlir_next_name(info->outs, &word, &length, &mark);
         at; at = jx_mlir_next_name(at, &word, &length, &mark), index++) {
        if (!jx_mlir_group(info->outs, op->nouts, index, &begin, &count))
            return false;
        if (count)
            name_group(n, op, begin, count,
                       unique(n, jx_arena_string(n->ctx->arena, word, length)));
    }
    return true;
}

static void name_results(jx_mlir_names *n, const jx_mlir_op *op)
{
    const char *constant = n->generic ? NULL : constant_name(op);

    if (!op->nouts || name_by_definition(n, op))
        return;
    name_group(n, op, 0, op->nouts,
               constant ? unique(n, constant)
                        : jx_arena_printf(n->ctx->arena, "%u", n->at.value++));
}

static void push_regions(jx_mlir_names *n, const jx_mlir_op *op)
{
    for (int i = 0; i < op->nregions; i++)
        JX_PUSH(n->ctx->arena, &n->todo,
                (task){op, &op->regions[i], n->at, n->scope});
}

static void name_region(jx_mlir_names *n, const task *t)
{
    scope *s = JX_NEW(n->ctx->arena, scope);

    if (!s)
        return;
    jx_intern_init(&s->used, n->ctx->arena);
    s->parent = t->parent;
    n->scope = s;
    if (!n->generic)
        n->at = t->at;
    for (int b = 0; b < t->region->nblocks; b++) {
        const jx_mlir_block *block = t->region->blocks[b];
        if (b)
            jx_map_put(&n->places, block, (const void *)(uintptr_t)b);
        name_arguments(n, t->op, block, b == 0);
        for (int i = 0; i < block->nops; i++)
            name_results(n, block->ops[i]);
    }
    for (int b = 0; b < t->region->nblocks; b++)
        for (int i = 0; i < t->region->blocks[b]->nops; i++)
            push_regions(n, t->region->blocks[b]->ops[i]);
}

struct jx_mlir_names *jx_mlir_names_of(jx_ctx *ctx, const jx_mlir_op *op,
                                       bool generic)
{
    jx_mlir_names *n = JX_NEW(ctx->arena, jx_mlir_names);
    scope *top = JX_NEW(ctx->arena, scope);

    if (!n || !top)
        return NULL;
    n->ctx = ctx;
    n->generic = generic;
    n->scope = top;
    jx_intern_init(&top->used, ctx->arena);
    jx_map_init(&n->table, ctx->arena);
    jx_map_init(&n->places, ctx->arena);
    name_results(n, op);
    push_regions(n, op);
    while (n->todo.count && !jx_arena_failed(ctx->arena)) {
        task t = n->todo.at[--n->todo.count];
        name_region(n, &t);
    }
    return n;
}

static const name *find(jx_mlir_printer *p, const jx_mlir_value *value)
{
    return jx_map_get(&p->names->table, value);
}

void jx_mlir_put_value(jx_mlir_printer *p, const jx_mlir_value *value)
{
    const name *known;

    if (p->collecting)
        return;
    known = find(p, value);
    if (!known)
        jx_buffer_puts(p->to, "<<UNKNOWN SSA VALUE>>");
    else if (known->part < 0)
        jx_buffer_printf(p->to, "%%%s", known->text);
    else
        jx_buffer_printf(p->to, "%%%s#%d", known->text, known->part);
}

void jx_mlir_put_block_name(jx_mlir_printer *p, const jx_mlir_block *block)
{
    if (!p->collecting)
        jx_buffer_printf(p->to, "^bb%d",
                         (int)(uintptr_t)jx_map_get(&p->names->places, block));
}

void jx_mlir_put_results(jx_mlir_printer *p, const jx_mlir_op *op)
{
    if (p->collecting || !op->nouts)
        return;
    for (int i = 0; i < op->nouts; i++) {
        const name *known = find(p, op->outs[i]);
        if (!known || known->part > 0)
            continue;
        jx_buffer_printf(p->to, "%s%%%s", i ? ", " : "", known->text);
        if (known->parts > 1)
            jx_buffer_printf(p->to, ":%d", known->parts);
    }
    jx_buffer_puts(p->to, " = ");
}
