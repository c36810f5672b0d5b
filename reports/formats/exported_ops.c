/* exported_ops.c - what the ops of an exported module say: how many there are,
 * which custom calls, and what the inputs were called. */
#include "frontend/base/map.h"
#include "frontend/base/vec.h"
#include "frontend/mlir/bytecode.h"
#include "reports/formats/exported_info.h"

#include <stdlib.h>
#include <string.h>

typedef struct walk {
    jx_exported_info *info;
    jx_map seen; /* calls by their targets, interned */
    JX_VEC(jx_exported_call *) calls;
} walk;

typedef enum role { COMPUTES, CALLS, SAYS } role;

/* Modules, functions and what ends a block compute nothing.  Names are as
 * written: "stablehlo.custom_call", "vhlo.custom_call_v1". */
static role role_of(const char *op)
{
    static const struct {
        const char *name;
        role role;
    } rows[] = {{"custom_call", CALLS}, {"func", SAYS},
                {"mesh", SAYS},         {"module", SAYS},
                {"return", SAYS},       {"unrealized_conversion_cast", SAYS}};
    const char *name = strchr(op, '.');

    for (size_t i = 0; name && i < sizeof rows / sizeof *rows; i++) {
        if (name[1] != rows[i].name[0])
            continue;
        size_t length = strlen(rows[i].name);
        if (!strncmp(name + 1, rows[i].name, length) &&
            (!name[1 + length] || !strncmp(name + 1 + length, "_v", 2)))
            return rows[i].role;
    }
    return COMPUTES;
}

static void count_call(walk *w, const jx_mlir_op *op)
{
    jx_ctx *ctx = w->info->ctx;
    const char *target = jx_mlir_text(ctx, jx_mlir_get(op, "call_target_name"));
    jx_exported_call *kept;

    if (!target)
        return;
    kept = (jx_exported_call *)(uintptr_t)jx_map_get(&w->seen, target);
    if (!kept) {
        kept = JX_NEW(ctx->arena, jx_exported_call);
        if (!kept)
            return;
        *kept = (jx_exported_call){
            .target = target,
            .known = jx_custom_call_named(target),
            .disabled = jx_exported_admits(w->info->exported, target)};
        jx_map_put(&w->seen, target, kept);
        JX_PUSH(ctx->arena, &w->calls, kept);
    }
    kept->count++;
}

/* As deep as the reader of bytecode goes. */
static void walk_op(walk *w, const jx_mlir_op *op)
{
    role what = role_of(op->name);

    w->info->ops += what != SAYS;
    if (what == CALLS)
        count_call(w, op);
    for (int r = 0; r < op->nregions; r++)
        for (int b = 0; b < op->regions[r].nblocks; b++) {
            const jx_mlir_block *block = op->regions[r].blocks[b];
            for (int i = 0; i < block->nops; i++)
                walk_op(w, block->ops[i]);
        }
}

/* The module's inputs among a function's arguments, which come last: before
 * them are sizes, the platform's index and tokens. */
typedef struct inputs {
    const jx_exported *exported;
    const jx_mlir_value *const *args; /* nkept of them, or NULL */
} inputs;

/* A polymorphic module has its names where it computes, not at its entry. */
static void find_inputs(const jx_exported_info *info, inputs *to)
{
    static const char *const names[] = {"_wrapped_jax_export_main", "main"};
    const jx_mlir_op *module = info->module->modules[0];

    for (size_t i = 0; i < sizeof names / sizeof *names && !to->args; i++) {
        const jx_mlir_op *f = jx_mlir_symbol(module, names[i]);
        const jx_mlir_block *body =
            f && f->nregions == 1 && f->regions[0].nblocks
                ? f->regions[0].blocks[0]
                : NULL;
        if (body && body->nargs && body->nargs >= to->exported->nkept)
            to->args = body->args + (body->nargs - to->exported->nkept);
    }
}

static const char *origin(void *env, int input)
{
    const inputs *in = env;
    const jx_exported *x = in->exported;
    int at = jx_exported_taken_as(x, input);

    if (!in->args || at < 0 || !in->args[at]->loc ||
        in->args[at]->loc->kind != JX_A_LOC_NAME)
        return NULL;
    return in->args[at]->loc->text;
}

static int compare_calls(const void *a_, const void *b_)
{
    const jx_exported_call *a = a_, *b = b_;

    return strcmp(a->target, b->target);
}

static bool keep_calls(walk *w)
{
    jx_exported_call *at =
        JX_NEW_ARRAY(w->info->ctx->arena, w->calls.count, jx_exported_call);

    for (size_t i = 0; at && i < w->calls.count; i++)
        at[i] = *w->calls.at[i];
    if (at && w->calls.count)
        qsort(at, w->calls.count, sizeof *at, compare_calls);
    w->info->calls = at;
    w->info->ncalls = at ? (int)w->calls.count : 0;
    return at != NULL;
}

bool jx_exported_ops_of(jx_exported_info *info, size_t at)
{
    const jx_exported_bytes *module = &info->exported->module;
    walk w = {.info = info};
    inputs in = {.exported = info->exported};

    jx_map_init(&w.seen, info->ctx->arena);
    info->module = jx_bytecode_read(info->ctx, NULL, info->path, module->at,
                                    module->size, at);
    if (!info->module)
        return false;
    walk_op(&w, info->module->modules[0]);
    find_inputs(info, &in);
    return keep_calls(&w) && jx_exported_paths_of(info->ctx, info->exported,
                                                  origin, &in, &info->paths);
}
