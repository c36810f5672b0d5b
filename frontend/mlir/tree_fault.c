/* tree_fault.c - the rules of trees. */
#include "frontend/mlir/tree_fault.h"

#include "frontend/base/map.h"

#include <string.h>

typedef struct checking {
    jx_map defined; /* values met so far */
    bool before;    /* a use has to come after its definition */
    const char *fault;
} checking;

static void wrong(checking *c, const char *what)
{
    if (!c->fault)
        c->fault = what;
}

static void define(checking *c, const jx_mlir_value *v)
{
    if (!v || !v->type)
        wrong(c, "a value has no type");
    else if (!jx_map_add(&c->defined, v))
        wrong(c, "a value is defined twice");
}

static void check_uses(checking *c, const jx_mlir_op *op)
{
    for (int i = 0; i < op->nins; i++)
        if (!jx_map_has(&c->defined, op->ins[i]))
            wrong(c, c->before ? "an operand is used before it is defined"
                               : "an operand is defined nowhere");
}

static void check_results(checking *c, const jx_mlir_op *op)
{
    for (int i = 0; i < op->nouts; i++) {
        define(c, op->outs[i]);
        if (!c->fault && (op->outs[i]->op != op || op->outs[i]->index != i))
            wrong(c, "a result is another op's");
    }
}

static void check_names(checking *c, int count, const jx_mlir_named *at)
{
    for (int i = 0; i < count; i++)
        if (!at[i].name || !at[i].value)
            wrong(c, "an attribute has no name or value");
        else if (c->before && i && strcmp(at[i - 1].name, at[i].name) >= 0)
            wrong(c, "attributes are not sorted by name");
}

/* Of all ops below, `visit` before their regions are entered and `leave` after
 * that. */
static void walk(checking *c, const jx_mlir_op *op,
                 void (*visit)(checking *c, const jx_mlir_op *op),
                 void (*leave)(checking *c, const jx_mlir_op *op), bool args)
{
    visit(c, op);
    for (int r = 0; r < op->nregions && !c->fault; r++)
        for (int b = 0; b < op->regions[r].nblocks && !c->fault; b++) {
            const jx_mlir_block *block = op->regions[r].blocks[b];
            for (int i = 0; args && i < block->nargs && !c->fault; i++) {
                define(c, block->args[i]);
                if (!c->fault && (block->args[i]->block != block ||
                                  block->args[i]->index != i))
                    wrong(c, "an argument is another block's");
            }
            for (int i = 0; i < block->nops && !c->fault; i++)
                walk(c, block->ops[i], visit, leave, args);
        }
    if (!c->fault)
        leave(c, op);
}

static void nothing(checking *c, const jx_mlir_op *op)
{
    (void)c;
    (void)op;
}

static void check_form(checking *c, const jx_mlir_op *op)
{
    if (!op->name || !op->loc)
        wrong(c, "an op has no name or no location");
    else if (op->id != jx_mlir_op_id(op->name))
        wrong(c, "an op has the id of another name");
    check_names(c, op->ninherent, op->inherent);
    check_names(c, op->nattrs, op->attrs);
    if (c->before)
        check_uses(c, op);
}

const char *jx_mlir_fault(const jx_mlir_op *module, bool before)
{
    jx_arena *arena = jx_arena_new(0);
    checking c = {.before = before};

    if (!arena)
        return NULL;
    jx_map_init(&c.defined, arena);
    walk(&c, module, check_form, check_results, true);
    if (!before && !c.fault)
        walk(&c, module, check_uses, nothing, false);
    if (jx_arena_failed(arena))
        c.fault = NULL;
    jx_arena_free(arena);
    return c.fault;
}

const char *jx_mlir_file_fault(const jx_mlir_file *file)
{
    const char *fault = NULL;

    for (int i = 0; i < file->nmodules && !fault; i++)
        fault = jx_mlir_fault(file->modules[i], false);
    return fault;
}
