/* same.c - are two modules the same but for names and locations? (tree.h) */
#include "frontend/mlir/tree.h"

#include "frontend/base/map.h"
#include "frontend/base/vec.h"

#include <string.h>

/* A region that is still to be compared. */
typedef struct task {
    const jx_mlir_op *a, *b;
    int region;
} task;

/* Both trees are walked together.  A value of `a` is paired with the one of
 * `b` that stands in its place, when both are defined or first used. */
typedef struct comparison {
    jx_ctx *ctx;
    jx_map values; /* of `b`, by those of `a` */
    jx_mlir_difference *why;
    JX_VEC(task) todo; /* a stack, since nesting has no bound here */
} comparison;

static bool differ(comparison *c, const jx_mlir_op *a, const jx_mlir_op *b,
                   const char *what)
{
    if (c->why)
        *c->why = (jx_mlir_difference){a, b, what};
    return false;
}

/* `b` stands where `a` does, now and wherever `a` was met before. */
static bool paired(comparison *c, const jx_mlir_value *a,
                   const jx_mlir_value *b)
{
    const jx_mlir_value *known = jx_map_get(&c->values, a);

    return known ? known == b : jx_map_put(&c->values, a, b);
}

/* Attributes of arguments and results, none of which has any: the pretty form
 * leaves them out.  And what an op did before it had the attribute: sums, the
 * first of equal elements. */
static bool says_nothing(const jx_mlir_op *op, const jx_mlir_named *named)
{
    const jx_mlir_attr *value = named->value;

    if (strcmp(named->name, "reduction_op") == 0)
        return value->kind == JX_A_INTEGER && value->integer == 0;
    if (strcmp(named->name, "is_stable") == 0)
        return value->kind == JX_A_BOOL && value->boolean &&
               op->id == JX_OP_chlo_top_k;
    if ((strcmp(named->name, "arg_attrs") != 0 &&
         strcmp(named->name, "res_attrs") != 0) ||
        value->kind != JX_A_ARRAY)
        return false;
    for (int i = 0; i < value->count; i++)
        if (value->items[i]->kind != JX_A_DICT || value->items[i]->count)
            return false;
    return true;
}

static bool same_named(comparison *c, const jx_mlir_op *a, const jx_mlir_op *b,
                       const jx_mlir_named *x, int nx, const jx_mlir_named *y,
                       int ny)
{
    for (;; x++, nx--, y++, ny--) {
        for (; nx && says_nothing(a, x); x++)
            nx--;
        for (; ny && says_nothing(b, y); y++)
            ny--;
        if (!nx && !ny)
            return true;
        int order = !nx ? 1 : !ny ? -1 : strcmp(x->name, y->name);
        if (order || !jx_mlir_attr_same(x->value, y->value))
            return differ(c, a, b,
                          jx_arena_printf(c->ctx->arena, "attribute `%s`",
                                          order > 0 ? y->name : x->name));
    }
}

static bool same_values(comparison *c, const jx_mlir_op *a, const jx_mlir_op *b,
                        const jx_mlir_value *const *x,
                        const jx_mlir_value *const *y, int count,
                        const char *noun)
{
    for (int i = 0; i < count; i++) {
        if (x[i]->type != y[i]->type)
            return differ(
                c, a, b,
                jx_arena_printf(c->ctx->arena, "type of %s %d", noun, i));
        if (!paired(c, x[i], y[i]))
            return differ(c, a, b,
                          jx_arena_printf(c->ctx->arena, "%s %d", noun, i));
    }
    return true;
}

static bool same_op(comparison *c, const jx_mlir_op *a, const jx_mlir_op *b)
{
    if (a->name != b->name)
        return differ(c, a, b, "name of the op");
    if (a->nins != b->nins)
        return differ(c, a, b, "number of operands");
    if (a->nouts != b->nouts)
        return differ(c, a, b, "number of results");
    if (a->nregions != b->nregions)
        return differ(c, a, b, "number of regions");
    if (a->nsuccessors != b->nsuccessors)
        return differ(c, a, b, "number of successors");
    if (!same_named(c, a, b, a->inherent, a->ninherent, b->inherent,
                    b->ninherent) ||
        !same_named(c, a, b, a->attrs, a->nattrs, b->attrs, b->nattrs) ||
        !same_values(c, a, b, a->ins, b->ins, a->nins, "operand") ||
        !same_values(c, a, b, a->outs, b->outs, a->nouts, "result"))
        return false;
    for (int i = 0; i < a->nregions; i++)
        if (a->regions[i].nblocks != b->regions[i].nblocks)
            return differ(c, a, b,
                          jx_arena_printf(c->ctx->arena,
                                          "number of blocks in region %d", i));
        else
            JX_PUSH(c->ctx->arena, &c->todo, (task){a, b, i});
    return true;
}

static bool same_block(comparison *c, const jx_mlir_op *a, const jx_mlir_op *b,
                       const jx_mlir_block *x, const jx_mlir_block *y)
{
    if (x->nargs != y->nargs)
        return differ(c, a, b, "number of block arguments");
    if (!same_values(c, a, b, x->args, y->args, x->nargs, "block argument"))
        return false;
    for (int i = 0; i < x->nops || i < y->nops; i++) {
        if (i >= x->nops)
            return differ(c, NULL, y->ops[i], "one op more");
        if (i >= y->nops)
            return differ(c, x->ops[i], NULL, "one op less");
        if (!same_op(c, x->ops[i], y->ops[i]))
            return false;
    }
    return true;
}

bool jx_mlir_same(jx_ctx *ctx, const jx_mlir_op *a, const jx_mlir_op *b,
                  jx_mlir_difference *why)
{
    comparison c = {.ctx = ctx, .why = why};

    jx_map_init(&c.values, ctx->arena);
    if (!same_op(&c, a, b))
        return false;
    while (c.todo.count) {
        task t = c.todo.at[--c.todo.count];
        const jx_mlir_region *x = &t.a->regions[t.region],
                             *y = &t.b->regions[t.region];

        for (int i = 0; i < x->nblocks; i++)
            if (!same_block(&c, t.a, t.b, x->blocks[i], y->blocks[i]))
                return false;
    }
    return !jx_arena_failed(ctx->arena);
}
