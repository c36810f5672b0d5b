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
    jx_op **all = JX_NEW_ARRAY(p->scratch, *count, jx_op *);
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
    for (int i = 0; i < p->mems.count; i++)
        jx_mem_at(&p->mems, i)->needed =
            jx_mem_at(&p->mems, i)->kind == JX_MEM_OUT ||
            jx_mem_at(&p->mems, i)->kind == JX_MEM_MOVING;
    for (size_t i = 1; i < p->units.count; i++)
        p->blocks.at[p->units.at[i].block].dead = true; /* not called yet */
    for (int i = count - 1; i >= 0; i--) {
        jx_op *op = all[i];
        bool live = acts(p, op);
        for (int k = 0; k < op->nouts; k++)
            live |= jx_mem_at(&p->mems, op->outs[k].buffer)->needed;
        live &= !p->blocks.at[op->block].dead;
        op->dead = !live;
        if (live && op->unit)
            p->blocks.at[p->units.at[op->unit].block].dead = false;
        for (int b = 0; b < op->nblocks; b++)
            p->blocks.at[op->first_block + b].dead = !live;
        for (int k = 0; live && k < op->nins + op->nouts; k++)
            jx_mem_at(&p->mems, op->ins[k].buffer)->needed = true;
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

/* Drops axes of size 1 and joins those that step as one, for faster walks. */
static void simplify(jx_planner *p, jx_operand *o)
{
    int64_t shape[JX_MAX_RANK + 1], strides[JX_MAX_RANK + 1];
    int rank = 0;

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
    jx_operand_lay(p, rank, shape, strides, o);
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
    *to = (jx_spread){
        .dtype = dtype, .count = count, .buffer = jx_mem_add(p, &mem)};
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
    const jx_mem *from = jx_mem_at(&p->mems, jx_mem_root(&p->mems, o->buffer));
    int64_t step = (int64_t)size;
    int buffer;

    if (from->kind != JX_MEM_CONST || count > MOST_BYTES / (int64_t)size)
        return false;
    buffer =
        spread_of(p, o->dtype, count, (const char *)from->constant + o->offset);
    if (buffer < 0)
        return false;
    o->buffer = buffer;
    o->offset = 0;
    jx_operand_lay(p, 1, &count, &step, o);
    return true;
}

static bool compile_region(jx_planner *p, jx_op *op)
{
    jx_access *access = JX_NEW_ARRAY(p->scratch, op->nins, jx_access);

    if (!access)
        return false;
    int64_t count = jx_operand_count(&op->outs[0]);
    for (int i = 0; i < op->nins; i++) {
        access[i] = access_of(&op->ins[i]);
        if (access[i] == JX_ACCESS_STRIDED)
            simplify(p, &op->ins[i]);
        else if (access[i] == JX_ACCESS_SPLAT && spread(p, &op->ins[i], count))
            access[i] = JX_ACCESS_DENSE;
    }
    op->data = jx_region_compile(p->arena, p->scratch, op->region, access,
                                 count, &op->scratch);
    if (op->data && op->scratch) {
        jx_mem mem = {.bytes = (int64_t)op->scratch,
                      .home = op->block,
                      .port = -1,
                      .alias = -1};
        op->scratch_buffer = jx_mem_add(p, &mem);
    }
    return op->data != NULL;
}

static bool is_nothing(jx_planner *p, const jx_op *op)
{
    return op->copy && op->ins[0].offset == op->outs[0].offset &&
           jx_mem_root(&p->mems, op->ins[0].buffer) ==
               jx_mem_root(&p->mems, op->outs[0].buffer) &&
           jx_operand_covers(p, &op->ins[0]) &&
           jx_operand_covers(p, &op->outs[0]);
}

/* Operands as the plan keeps them: each in the buffer that its own lives in. */
static const jx_operand *kept_operands(jx_planner *p, const jx_op *op)
{
    int count = op->nins + op->nouts;
    jx_operand *to =
        jx_arena_copy(p->arena, op->ins, (size_t)count * sizeof *to);

    for (int i = 0; to && i < count; i++)
        to[i].buffer = jx_mem_root(&p->mems, to[i].buffer);
    return to;
}

static jx_step step_of(jx_planner *p, const jx_op *op)
{
    int scratch = op->scratch_buffer;

    return (jx_step){
        .kernel = op->kernel,
        .data = op->data,
        .operands = kept_operands(p, op),
        .first_view = p->plan->nviews,
        .nins = op->nins,
        .nouts = op->nouts,
        .scratch = scratch >= 0 ? jx_mem_at(&p->mems, scratch)->offset : -1,
        .name = op->copy ? "copy" : op->name,
        .position = op->position,
        .instrs = op->region ? (int)op->region->instrs.count : 1,
        .scratch_buffer = scratch,
        .first_block = op->first_block,
        .nblocks = op->nblocks,
    };
}

static bool finish_steps(jx_planner *p)
{
    jx_plan *plan = p->plan;

    plan->nblocks = (int)p->blocks.count;
    plan->blocks = JX_NEW_ARRAY(p->arena, plan->nblocks, jx_steps);
    for (int b = 0; plan->blocks && b < plan->nblocks; b++) {
        const jx_op_list *ops = &p->blocks.at[b].ops;
        jx_step *steps = JX_NEW_ARRAY(p->arena, ops->count, jx_step);
        int count = 0;
        for (size_t i = 0; steps && i < ops->count; i++) {
            const jx_op *op = ops->at[i];
            if (is_nothing(p, op))
                continue;
            steps[count++] = step_of(p, op);
            plan->nviews += op->nins + op->nouts;
        }
        plan->blocks[b] = (jx_steps){count, steps};
        plan->nsteps += count;
    }
    return jx_plan_is_fed(p);
}

/* Calls back for each view of a buffer that is set when the plan runs. */
typedef void at_patch(jx_patches *patches, const jx_patch *patch);

static void all_patches(const jx_plan *plan, at_patch *at)
{
    for (int b = 0; b < plan->nblocks; b++)
        for (int i = 0; i < plan->blocks[b].count; i++) {
            const jx_step *s = &plan->blocks[b].at[i];
            for (int k = 0; k < s->nins + s->nouts; k++) {
                const jx_operand *o = &s->operands[k];
                const jx_mem *mem = jx_mem_at(&plan->mems, o->buffer);
                jx_patch patch = {s->first_view + k, o->offset};
                if (jx_mem_is_set(mem))
                    at(&plan->patches[mem->patches], &patch);
            }
        }
}

static void count_patch(jx_patches *patches, const jx_patch *patch)
{
    (void)patch;
    patches->count++;
}

static void add_patch(jx_patches *patches, const jx_patch *patch)
{
    patches->at[patches->count++] = *patch;
}

static bool finish_patches(jx_planner *p)
{
    jx_plan *plan = p->plan;
    int count = 0;

    for (int i = 0; i < p->mems.count; i++) {
        jx_mem *mem = jx_mem_at(&p->mems, i);
        memset(&mem->touches, 0, sizeof mem->touches);
        if (jx_mem_is_set(mem))
            mem->patches = count++;
    }
    plan->mems = p->mems;
    plan->patches = JX_NEW_ARRAY(p->arena, count, jx_patches);
    if (!plan->patches)
        return false;
    all_patches(plan, count_patch);
    for (int i = 0; i < count; i++) {
        plan->patches[i].at =
            JX_NEW_ARRAY(p->arena, plan->patches[i].count, jx_patch);
        plan->patches[i].count = 0;
    }
    if (!jx_plan_is_fed(p))
        return false;
    all_patches(plan, add_patch);
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
            jx_region_simplify(p->scratch, all[i]->region, p->options->excess);
    jx_finish_touch_all(p, all, count);
    if (!jx_plan_is_fed(p)) /* what follows relies on every touch */
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
    if (!jx_plan_is_fed(p) || !jx_finish_memory(p, all, count) ||
        !jx_finish_lend(p, all))
        return false;
    JX_ASSERT_NONE(jx_plan_fault(p, true));
    return finish_steps(p) && finish_patches(p) && !p->failed;
}
