/* sharding_flow.c - see sharding_flow.h. */
#include "frontend/read/sharding_flow.h"

#include "frontend/base/map.h"
#include "frontend/read/meshes.h"
#include "frontend/read/sharding_rules.h"

enum { MOST_OPS = 1 << 18, MOST_DEPTH = 100, MOST_ROUNDS = 3 };

/* What is looked at, from one function on. */
typedef struct looking {
    jx_cuts cuts;
    jx_mlir_symbols symbols;
    jx_flow_see *see;
    void *data;
    int64_t left; /* ops that may still be looked at */
} looking;

/* Values of a function and of the regions in it. */
typedef struct frame {
    looking *flow;
    jx_map values; /* to cuts */
    int depth;
} frame;

static const jx_cut *cut_of(const frame *f, const jx_mlir_value *value)
{
    return jx_map_get(&f->values, value);
}

/* A loop's body is looked at several times, and knows more each time. */
static void set_cut(frame *f, const jx_mlir_value *value, const jx_cut *cut)
{
    /* What a callee says it takes need not be what it is given. */
    if (cut &&
        (value->type->kind != JX_T_TENSOR || value->type->rank != cut->rank))
        cut = NULL;
    if (((cut && cut->mesh) || jx_map_has(&f->values, value)) &&
        !jx_map_put(&f->values, value, cut))
        f->flow->cuts.starved = true;
}

/* ---- blocks */

static void flow_block(frame *f, const jx_mlir_block *block);

/* What a region or a function gives. */
static const jx_cut *given(const frame *f, const jx_mlir_block *block, int i)
{
    const jx_mlir_op *last =
        block && block->nops ? block->ops[block->nops - 1] : NULL;

    return last && i < last->nins ? cut_of(f, last->ins[i]) : NULL;
}

/* What is carried lies as it does at the beginning, or as a round leaves it. */
static void flow_while(frame *f, const jx_mlir_op *op)
{
    const jx_mlir_block *body = op->nregions == 2 ? jx_mlir_body(op, 1) : NULL;
    bool changed = body && body->nargs == op->nins && op->nouts == op->nins;

    for (int i = 0; changed && i < op->nins; i++) {
        set_cut(f, body->args[i], cut_of(f, op->ins[i]));
        set_cut(f, op->outs[i], cut_of(f, op->ins[i]));
    }
    for (int round = 0; changed && round < MOST_ROUNDS; round++) {
        changed = false;
        flow_block(f, body);
        for (int i = 0; i < op->nins; i++) {
            const jx_cut *before = cut_of(f, body->args[i]);
            const jx_cut *after = given(f, body, i);
            if (!after || before == after)
                continue;
            changed |= !before;
            before =
                jx_cut_joined(&f->flow->cuts, op->outs[i]->type, before, after);
            set_cut(f, body->args[i], before);
            set_cut(f, op->outs[i], before);
        }
    }
}

/* Branches take nothing, and one of them gives the results. */
static void flow_branches(frame *f, const jx_mlir_op *op)
{
    for (int r = 0; r < op->nregions; r++) {
        const jx_mlir_block *block = jx_mlir_body(op, r);
        if (!block)
            continue;
        flow_block(f, block);
        for (int i = 0; i < op->nouts; i++)
            set_cut(f, op->outs[i],
                    jx_cut_joined(&f->flow->cuts, op->outs[i]->type,
                                  cut_of(f, op->outs[i]), given(f, block, i)));
    }
}

static void flow_call(frame *f, const jx_mlir_op *op, const char *callee)
{
    const jx_mlir_attr *name = jx_mlir_get(op, callee);
    const jx_mlir_op *func =
        name && name->kind == JX_A_SYMBOL && name->text
            ? jx_mlir_find(f->flow->cuts.ctx, &f->flow->symbols,
                           f->flow->cuts.module, name->text)
            : NULL;
    const jx_mlir_block *body =
        func && func->id == JX_OP_func_func ? jx_mlir_body(func, 0) : NULL;
    frame in = {.flow = f->flow, .depth = f->depth + 1};

    if (!body || body->nargs != op->nins || in.depth > MOST_DEPTH)
        return;
    jx_map_init(&in.values, f->flow->cuts.arena);
    for (int i = 0; i < op->nins; i++)
        set_cut(&in, body->args[i], cut_of(f, op->ins[i]));
    flow_block(&in, body);
    for (int i = 0; i < op->nouts; i++)
        set_cut(f, op->outs[i], given(&in, body, i));
}

/* How axes that are not manual cut an operand of a manual computation, which is
 * of this type inside. */
static const jx_cut *free_cut(frame *f, const jx_mlir_op *op,
                              const jx_cut *whole, const jx_mlir_type *type)
{
    jx_cuts *cuts = &f->flow->cuts;
    jx_cut *cut = whole ? jx_cut_new(cuts, type) : NULL;

    for (int k = 0; cut && k < cut->rank && k < whole->rank; k++) {
        jx_cut_axis from = whole->axes[k];
        const jx_mlir_attr **by =
            JX_NEW_ARRAY(cuts->arena, from.count + 1, const jx_mlir_attr *);
        jx_cut_axis to = {0, by};
        cuts->starved |= !by;
        for (int n = 0; by && n < from.count; n++)
            if (!jx_mesh_is_manual(cuts->ctx, op, from.by[n]))
                by[to.count++] = from.by[n];
        if (by)
            jx_cut_join(cuts, cut, type, k, whole->mesh, to);
    }
    return cut;
}

/* Axes that the results' shardings leave open are cut as inside.  Calls there
 * are of one device each, and are not shown. */
static void flow_manual(frame *f, const jx_mlir_op *op)
{
    const jx_mlir_attr *all = jx_mesh_shardings(op, "out_shardings");
    const jx_mlir_block *body = jx_mlir_body(op, 0);
    jx_flow_see *see = f->flow->see;

    f->flow->see = NULL;
    for (int i = 0; body && i < body->nargs && i < op->nins; i++)
        set_cut(f, body->args[i],
                free_cut(f, op, cut_of(f, op->ins[i]), body->args[i]->type));
    if (body)
        flow_block(f, body);
    f->flow->see = see;
    for (int i = 0; all && i < op->nouts && i < all->count; i++)
        set_cut(f, op->outs[i],
                jx_cut_said(&f->flow->cuts, op->outs[i]->type, all->items[i],
                            given(f, body, i)));
}

static void show_call(frame *f, const jx_mlir_op *op)
{
    looking *flow = f->flow;
    const jx_mlir_attr **ins =
        JX_NEW_ARRAY(flow->cuts.arena, op->nins + 1, const jx_mlir_attr *);

    flow->cuts.starved |= !ins;
    for (int i = 0; ins && i < op->nins; i++) {
        const jx_cut *cut = cut_of(f, op->ins[i]);
        ins[i] = cut ? jx_cut_sharding(flow->cuts.ctx, cut) : NULL;
        flow->cuts.starved |= cut && !ins[i];
    }
    if (ins && !flow->see(flow->data, op, ins))
        flow->cuts.starved = true;
}

static void flow_results(frame *f, const jx_mlir_op *op)
{
    const jx_cut **ins =
        JX_NEW_ARRAY(f->flow->cuts.arena, op->nins + 1, const jx_cut *);
    bool any = false;

    f->flow->cuts.starved |= !ins;
    for (int i = 0; ins && i < op->nins; i++)
        any |= (ins[i] = cut_of(f, op->ins[i])) != NULL;
    for (int i = 0; ins && i < op->nouts; i++) {
        const jx_mlir_type *type = op->outs[i]->type;
        jx_cut *to = any && type->kind == JX_T_TENSOR
                         ? jx_cut_new(&f->flow->cuts, type)
                         : NULL;
        if (to)
            jx_cut_result(&f->flow->cuts, op, i, ins, to);
        set_cut(f, op->outs[i], to && to->mesh ? to : NULL);
    }
}

static void flow_op(frame *f, const jx_mlir_op *op)
{
    switch (op->id) {
    case JX_OP_sdy_sharding_constraint:
        if (op->nins == 1 && op->nouts == 1)
            set_cut(f, op->outs[0],
                    jx_cut_said(&f->flow->cuts, op->outs[0]->type,
                                jx_mlir_get(op, "sharding"),
                                cut_of(f, op->ins[0])));
        return;
    case JX_OP_sdy_manual_computation: flow_manual(f, op); return;
    case JX_OP_stablehlo_while: flow_while(f, op); return;
    case JX_OP_stablehlo_if:
    case JX_OP_stablehlo_case: flow_branches(f, op); return;
    case JX_OP_func_call: flow_call(f, op, "callee"); return;
    case JX_OP_stablehlo_composite: flow_call(f, op, "decomposition"); return;
    default:
        if (op->id == JX_OP_stablehlo_custom_call && f->flow->see)
            show_call(f, op);
        flow_results(f, op);
    }
}

static void flow_block(frame *f, const jx_mlir_block *block)
{
    for (int i = 0;
         i < block->nops && !f->flow->cuts.starved && f->flow->left > 0; i++) {
        f->flow->left--;
        flow_op(f, block->ops[i]);
    }
}

/* ---- functions */

const jx_mlir_attr *const *jx_sharding_flow(jx_ctx *ctx,
                                            const jx_mlir_op *module,
                                            const jx_mlir_op *func, int count,
                                            jx_flow_see *see, void *data)
{
    const jx_mlir_block *body = jx_mlir_body(func, 0);
    const jx_mlir_attr *said = jx_mlir_get(func, "arg_attrs");
    const jx_mlir_op *last =
        body && body->nops ? body->ops[body->nops - 1] : NULL;
    const jx_mlir_attr **to =
        JX_NEW_ARRAY(ctx->arena, count + 1, const jx_mlir_attr *);
    looking flow = {.cuts = {ctx, module, jx_arena_new(&ctx->budget), false},
                    .see = see,
                    .data = data,
                    .left = MOST_OPS};
    frame f = {.flow = &flow};

    flow.cuts.starved = !flow.cuts.arena || !to;
    if (flow.cuts.arena)
        jx_map_init(&f.values, flow.cuts.arena);
    for (int i = 0; last && !flow.cuts.starved && i < body->nargs; i++) {
        const jx_mlir_attr *of =
            said && said->kind == JX_A_ARRAY && i < said->count ? said->items[i]
                                                                : NULL;
        of = of ? jx_mlir_field(of, "sdy.sharding") : NULL;
        if (of)
            set_cut(&f, body->args[i],
                    jx_cut_said(&flow.cuts, body->args[i]->type, of, NULL));
    }
    if (last && !flow.cuts.starved)
        flow_block(&f, body);
    for (int i = 0; last && i < count && i < last->nins && !flow.cuts.starved;
         i++) {
        const jx_cut *cut = cut_of(&f, last->ins[i]);
        to[i] = cut ? jx_cut_sharding(ctx, cut) : NULL;
        flow.cuts.starved |= cut && !to[i];
    }
    if (flow.cuts.arena)
        jx_arena_free(flow.cuts.arena);
    if (flow.cuts.starved)
        jx_starved(ctx);
    return flow.cuts.starved ? NULL : to;
}
