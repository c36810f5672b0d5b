/* finish.c - from the planner's operations to a plan: dead code, the order of
 * the passes, addresses. */
#include "runtime/finish.h"

#include "frontend/base/assert.h"

/* Positions: blocks come before the operation that runs them. */

static void number_block(jx_planner *p, int block, int *position)
{
    jx_op_list *ops = &p->blocks.at[block].ops;

    for (size_t i = 0; i < ops->count; i++) {
        jx_op *op = ops->at[i];
        op->begin = *position;
        for (int b = 0; b < op->nblocks; b++) {
            p->blocks.at[op->first_block + b].owner = op;
            number_block(p, op->first_block + b, position);
        }
        op->position = (*position)++;
    }
}

static void list_block(jx_planner *p, int block, jx_op **all)
{
    jx_op_list *ops = &p->blocks.at[block].ops;

    for (size_t i = 0; i < ops->count; i++) {
        jx_op *op = ops->at[i];
        for (int b = 0; b < op->nblocks; b++)
            list_block(p, op->first_block + b, all);
        all[op->position] = op;
    }
}

static void list_all(jx_planner *p, jx_op **all)
{
    for (size_t i = 0; i < p->order.count; i++)
        list_block(p, p->units.at[p->order.at[i]].block, all);
    list_block(p, 0, all);
}

/* All operations by position: what is called before who calls it. */
static jx_op **number_all(jx_planner *p, int *count)
{
    *count = 0;
    for (size_t i = 0; i < p->order.count; i++)
        number_block(p, p->units.at[p->order.at[i]].block, count);
    number_block(p, 0, count);
    jx_op **all = JX_NEW_ARRAY(p->arena, *count, jx_op *);
    if (all)
        list_all(p, all);
    return all;
}

/* An operation without results is there for what it does (it checks something),
 * as are some with results; so is one that runs such an operation. */
static bool acts(const jx_planner *p, const jx_op *op)
{
    bool any = op->acts || op->nouts == 0 ||
               (op->unit && p->blocks.at[p->units.at[op->unit].block].acts);

    for (int b = 0; b < op->nblocks; b++)
        any |= p->blocks.at[op->first_block + b].acts;
    return any;
}

/* Dead code: walking backwards, an operation lives if something that it
 * writes is needed.  A loop lists what its body carries, so that one pass
 * reaches the bodies too. */
static void remove_dead(jx_planner *p, jx_op **all, int count)
{
    /* Blocks come before the operation that runs them. */
    for (int i = 0; i < count; i++)
        p->blocks.at[all[i]->block].acts |= acts(p, all[i]);
    for (size_t i = 0; i < p->mems.count; i++)
        p->mems.at[i].needed = p->mems.at[i].kind == JX_MEM_OUT ||
                               p->mems.at[i].kind == JX_MEM_MOVING;
    for (size_t i = 1; i < p->units.count; i++)
        p->blocks.at[p->units.at[i].block].dead = true; /* not called yet */
    for (int i = count - 1; i >= 0; i--) {
        jx_op *op = all[i];
        bool live = acts(p, op);
        for (int k = 0; k < op->nouts; k++)
            live |= p->mems.at[op->outs[k].buffer].needed;
        live &= !p->blocks.at[op->block].dead;
        op->dead = !live;
        if (live && op->unit)
            p->blocks.at[p->units.at[op->unit].block].dead = false;
        for (int b = 0; b < op->nblocks; b++)
            p->blocks.at[op->first_block + b].dead = !live;
        for (int k = 0; live && k < op->nins + op->nouts; k++)
            p->mems.at[op->ins[k].buffer].needed = true;
    }
    for (size_t b = 0; b < p->blocks.count; b++) {
        jx_op_list *ops = &p->blocks.at[b].ops;
        size_t kept = 0;
        for (size_t i = 0; i < ops->count; i++)
            if (!ops->at[i]->dead)
                ops->at[kept++] = ops->at[i];
        ops->count = kept;
    }
}

/* The final form. */

static void finish_view(jx_plan *plan, jx_planner *p, int at,
                        const jx_operand *o)
{
    int root = jx_mem_root(p->mems.at, o->buffer);

    plan->views[at] = (jx_view){.dtype = o->dtype,
                                .rank = o->rank,
                                .shape = o->shape,
                                .strides = o->strides,
                                .count = jx_operand_count(o),
                                .dense = jx_operand_dense(o)};
    ((int *)(uintptr_t)plan->view_mems)[at] = root;
    ((int64_t *)(uintptr_t)plan->view_offsets)[at] = o->offset;
}

/* Drops axes of size 1 and joins those that step as one, for faster walks. */
static void simplify(jx_arena *arena, jx_operand *o)
{
    int64_t *both = JX_NEW_ARRAY(arena, 2 * o->rank + 2, int64_t);
    int64_t *shape = both, *strides = both ? both + o->rank + 1 : NULL;
    int rank = 0;

    if (!both)
        return;
    for (int i = 0; i < o->rank; i++) {
        if (o->shape[i] == 1)
            continue;
        if (rank && strides[rank - 1] == o->strides[i] * o->shape[i]) {
            shape[rank - 1] *= o->shape[i];
            strides[rank - 1] = o->strides[i];
        } else {
            shape[rank] = o->shape[i];
            strides[rank++] = o->strides[i];
        }
    }
    if (rank == 0) {
        shape[0] = jx_operand_count(o);
        strides[rank++] = (int64_t)jx_dtype_of(o->dtype)->bytes;
    }
    o->rank = rank;
    o->shape = shape;
    o->strides = strides;
}

static jx_access access_of(const jx_operand *o)
{
    if (jx_operand_dense(o))
        return JX_ACCESS_DENSE;
    for (int i = 0; i < o->rank; i++)
        if (o->shape[i] != 1 && o->strides[i] != 0)
            return JX_ACCESS_STRIDED;
    return JX_ACCESS_SPLAT;
}

/* So many elements that are all the same, as a constant; -1: without memory. */
static int spread_of(jx_planner *p, jx_dtype dtype, int64_t count,
                     const void *element)
{
    size_t size = jx_dtype_of(dtype)->bytes;
    jx_spread *to = &p->spreads[p->nspreads % JX_SPREADS];
    char *all;

    for (int i = 0; i < p->nspreads && i < JX_SPREADS; i++) {
        const jx_spread *s = &p->spreads[i];
        if (s->dtype == dtype && s->count == count &&
            !memcmp(s->element, element, size))
            return s->buffer;
    }
    all = jx_arena_alloc(p->arena, (size_t)count * size + 1);
    if (!all)
        return -1;
    for (int64_t i = 0; i < count; i++)
        memcpy(all + (size_t)i * size, element, size);
    jx_mem mem = {.kind = JX_MEM_CONST,
                  .bytes = count * (int64_t)size,
                  .constant = all,
                  .port = -1,
                  .alias = -1};
    JX_PUSH(p->arena, &p->mems, mem);
    *to = (jx_spread){
        .dtype = dtype, .count = count, .buffer = (int)p->mems.count - 1};
    memcpy(to->element, element, size);
    p->nspreads++;
    return to->buffer;
}

/* A constant that a few elements take is kept as so many, sooner than written
 * out whenever a loop comes by.  False where it is none. */
static bool spread(jx_planner *p, jx_operand *o, int64_t count)
{
    enum { MOST_BYTES = 1024 };
    size_t size = jx_dtype_of(o->dtype)->bytes;
    const jx_mem *from = &p->mems.at[jx_mem_root(p->mems.at, o->buffer)];
    int64_t *both;
    int buffer;

    if (from->kind != JX_MEM_CONST || count > MOST_BYTES / (int64_t)size)
        return false;
    both = JX_NEW_ARRAY(p->arena, 2, int64_t);
    buffer =
        spread_of(p, o->dtype, count, (const char *)from->constant + o->offset);
    if (!both || buffer < 0)
        return false;
    both[0] = count;
    both[1] = (int64_t)size;
    *o = (jx_operand){.dtype = o->dtype,
                      .rank = 1,
                      .buffer = buffer,
                      .shape = both,
                      .strides = both + 1};
    return true;
}

static bool compile_region(jx_planner *p, jx_op *op)
{
    jx_access *access = JX_NEW_ARRAY(p->arena, op->nins, jx_access);

    if (!access)
        return false;
    int64_t count = jx_operand_count(&op->outs[0]);
    for (int i = 0; i < op->nins; i++) {
        access[i] = access_of(&op->ins[i]);
        if (access[i] == JX_ACCESS_STRIDED)
            simplify(p->arena, &op->ins[i]);
        else if (access[i] == JX_ACCESS_SPLAT && spread(p, &op->ins[i], count))
            access[i] = JX_ACCESS_DENSE;
    }
    op->data =
        jx_region_compile(p->arena, op->region, access, count, &op->scratch);
    if (op->data && op->scratch) {
        jx_mem mem = {.bytes = (int64_t)op->scratch,
                      .home = op->block,
                      .port = -1,
                      .alias = -1};
        JX_PUSH(p->arena, &p->mems, mem);
        op->scratch_buffer = (int)p->mems.count - 1;
    }
    return op->data != NULL;
}

static bool finish_views(jx_planner *p, jx_op **all, int count)
{
    jx_plan *plan = p->plan;
    int nviews = 0;

    for (int i = 0; i < count; i++)
        nviews += all[i]->nins + all[i]->nouts;
    plan->nviews = nviews;
    plan->views = JX_NEW_ARRAY(p->arena, nviews, jx_view);
    plan->view_mems = JX_NEW_ARRAY(p->arena, nviews, int);
    plan->view_offsets = JX_NEW_ARRAY(p->arena, nviews, int64_t);
    if (!plan->views || !plan->view_mems || !plan->view_offsets)
        return false;
    nviews = 0;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < all[i]->nins; k++)
            finish_view(plan, p, nviews++, &all[i]->ins[k]);
        for (int k = 0; k < all[i]->nouts; k++)
            finish_view(plan, p, nviews++, &all[i]->outs[k]);
    }
    return true;
}

static bool finish_patches(jx_planner *p)
{
    jx_plan *plan = p->plan;
    int *counts = JX_NEW_ARRAY(p->arena, p->mems.count, int);

    plan->nmems = (int)p->mems.count;
    plan->mems = p->mems.at;
    plan->patches = JX_NEW_ARRAY(p->arena, p->mems.count, jx_patches);
    if (!counts || !plan->patches)
        return false;
    for (int i = 0; i < plan->nviews; i++)
        counts[plan->view_mems[i]]++;
    for (int i = 0; i < plan->nmems; i++) {
        int *views = NULL;
        if (plan->mems[i].kind != JX_MEM_TEMP &&
            plan->mems[i].kind != JX_MEM_CONST)
            views = JX_NEW_ARRAY(p->arena, counts[i], int);
        plan->patches[i].views = views;
    }
    for (int i = 0; i < plan->nviews; i++) {
        jx_patches *patches = &plan->patches[plan->view_mems[i]];
        if (patches->views)
            ((int *)(uintptr_t)patches->views)[patches->count++] = i;
    }
    return true;
}

static bool is_nothing(jx_planner *p, const jx_op *op)
{
    return op->copy && op->ins[0].offset == op->outs[0].offset &&
           jx_mem_root(p->mems.at, op->ins[0].buffer) ==
               jx_mem_root(p->mems.at, op->outs[0].buffer) &&
           jx_operand_covers(p, &op->ins[0]) &&
           jx_operand_covers(p, &op->outs[0]);
}

static bool finish_steps(jx_planner *p)
{
    jx_plan *plan = p->plan;
    int view = 0;

    plan->nblocks = (int)p->blocks.count;
    plan->blocks = JX_NEW_ARRAY(p->arena, plan->nblocks, jx_steps);
    if (!plan->blocks)
        return false;
    /* Views are numbered by position; find each operation's first. */
    int *first = JX_NEW_ARRAY(p->arena, plan->nops + 1, int);
    jx_op **all = JX_NEW_ARRAY(p->arena, plan->nops, jx_op *);
    if (!first || !all)
        return false;
    list_all(p, all);
    for (int i = 0; i < plan->nops; i++) {
        first[i] = view;
        view += all[i]->nins + all[i]->nouts;
    }
    for (int b = 0; b < plan->nblocks; b++) {
        const jx_op_list *ops = &p->blocks.at[b].ops;
        jx_step *steps = JX_NEW_ARRAY(p->arena, ops->count, jx_step);
        int count = 0;
        for (size_t i = 0; steps && i < ops->count; i++) {
            const jx_op *op = ops->at[i];
            if (is_nothing(p, op))
                continue;
            steps[count++] = (jx_step){
                op->kernel,
                op->data,
                first[op->position],
                op->nins,
                op->nouts,
                op->scratch_buffer >= 0 ? p->mems.at[op->scratch_buffer].offset
                                        : -1,
                op};
        }
        plan->blocks[b] = (jx_steps){count, steps};
        plan->nsteps += count;
    }
    return true;
}

bool jx_plan_finish(jx_planner *p)
{
    int count;
    jx_op **all = number_all(p, &count);

    if (!all)
        return false;
    JX_ASSERT_NONE(jx_plan_fault(p, false));
    remove_dead(p, all, count);
    if (!jx_finish_fuse(p) || !(all = number_all(p, &count)))
        return false;
    JX_ASSERT_NONE(jx_plan_fault(p, false));
    jx_finish_drop_internal(p, all, count);
    for (int i = 0; i < count; i++)
        if (all[i]->region)
            jx_region_simplify(p->arena, all[i]->region, p->options->excess);
    jx_finish_touch_all(p, all, count);
    if (jx_arena_failed(p->arena)) /* what follows relies on every touch */
        return false;
    jx_finish_share(p, all, count);
    JX_ASSERT_NONE(jx_plan_fault(p, false));
    for (int i = 0; i < count; i++)
        if (all[i]->region) {
            if (!compile_region(p, all[i]))
                return false;
            if (all[i]->scratch_buffer >= 0)
                jx_finish_touch(p, all[i], all[i]->scratch_buffer);
        }
    p->plan->nops = count;
    if (jx_arena_failed(p->arena) || !jx_finish_memory(p, all, count) ||
        !jx_finish_lend(p, all))
        return false;
    JX_ASSERT_NONE(jx_plan_fault(p, true));
    return finish_views(p, all, count) && finish_patches(p) &&
           finish_steps(p) && !p->failed && !jx_arena_failed(p->arena);
}
