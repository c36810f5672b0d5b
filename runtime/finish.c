/* finish.c - from the planner's operations to a plan: dead code, fusion,
 * sharing of memory, addresses. */
#include "runtime/plan_impl.h"

#include <stdlib.h>

enum { MAX_OPEN = 8, MAX_INSTRS = 96, MAX_OPERANDS = 40 };

int jx_mem_root(jx_mem *mems, int buffer)
{
    while (mems[buffer].alias >= 0)
        buffer = mems[buffer].alias;
    return buffer;
}

static int64_t operand_count(const jx_operand *o)
{
    int64_t n = 1;

    for (int i = 0; i < o->rank; i++)
        n *= o->shape[i];
    return n;
}

static bool operand_dense(const jx_operand *o)
{
    int64_t step = (int64_t)jx_dtype_of(o->dtype)->bytes;

    if (operand_count(o) == 0)
        return true;
    for (int i = o->rank - 1; i >= 0; i--) {
        if (o->shape[i] != 1 && o->strides[i] != step)
            return false;
        step *= o->shape[i];
    }
    return true;
}

/* All of its buffer, row-major. */
static bool covers(const jx_planner *p, const jx_operand *o)
{
    return o->offset == 0 && operand_dense(o) &&
           operand_count(o) * (int64_t)jx_dtype_of(o->dtype)->bytes ==
               p->mems.at[o->buffer].bytes;
}

static jx_access access_of(const jx_operand *o)
{
    if (operand_dense(o))
        return JX_ACCESS_DENSE;
    for (int i = 0; i < o->rank; i++)
        if (o->shape[i] != 1 && o->strides[i] != 0)
            return JX_ACCESS_STRIDED;
    return JX_ACCESS_SPLAT;
}

static bool same_window(const jx_operand *a, const jx_operand *b)
{
    if (a->buffer != b->buffer || a->offset != b->offset ||
        a->dtype != b->dtype)
        return false;
    if (operand_dense(a) && operand_dense(b))
        return operand_count(a) == operand_count(b);
    if (a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->shape[i] != b->shape[i] || a->strides[i] != b->strides[i])
            return false;
    return true;
}

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

/* All operations by position. */
static jx_op **number_all(jx_planner *p, int *count)
{
    *count = 0;
    number_block(p, 0, count);
    jx_op **all = JX_NEW_ARRAY(p->arena, *count, jx_op *);
    if (all)
        list_block(p, 0, all);
    return all;
}

/* An operation without results is there for what it does (it checks something);
 * so is one that runs such an operation. */
static bool acts(const jx_planner *p, const jx_op *op)
{
    bool any = op->nouts == 0;

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
    for (int i = count - 1; i >= 0; i--) {
        jx_op *op = all[i];
        bool live = acts(p, op);
        for (int k = 0; k < op->nouts; k++)
            live |= p->mems.at[op->outs[k].buffer].needed;
        live &= !p->blocks.at[op->block].dead;
        op->dead = !live;
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

/* Fusion.  While walking a block, up to MAX_OPEN regions stay open; an
 * elementwise operation of as many elements joins one, if what it needs from
 * other open regions does not wait for that one.  Other operations are emitted
 * at once, after the open regions that they depend on. */

typedef struct open_region {
    jx_op *op;
    int64_t count;
    unsigned waits_for; /* open regions that must be emitted before */
    jx_operand ins[MAX_OPERANDS], outs[MAX_OPERANDS];
    int nins, nouts;
} open_region;

typedef struct fuser {
    jx_planner *p;
    int *producer; /* per buffer: the open region that makes it, or -1 */
    open_region *open[MAX_OPEN];
    open_region slots[MAX_OPEN];
    jx_op_list emitted;
    int block;
} fuser;

static void emit_region(fuser *f, int k)
{
    open_region *r = f->open[k];
    jx_op *op = r->op;

    for (int i = 0; i < MAX_OPEN; i++)
        if ((r->waits_for >> i & 1) && f->open[i])
            emit_region(f, i);
    jx_operand *all =
        JX_NEW_ARRAY(f->p->arena, r->nins + r->nouts, jx_operand);
    if (!all)
        return;
    memcpy(all, r->ins, (size_t)r->nins * sizeof *all);
    memcpy(all + r->nins, r->outs, (size_t)r->nouts * sizeof *all);
    op->ins = all;
    op->outs = all + r->nins;
    op->nins = r->nins;
    op->nouts = r->nouts;
    for (int i = 0; i < r->nouts; i++)
        f->producer[r->outs[i].buffer] = -1;
    f->open[k] = NULL;
    for (int i = 0; i < MAX_OPEN; i++)
        if (f->open[i])
            f->open[i]->waits_for &= ~(1u << k);
    JX_PUSH(f->p->arena, &f->emitted, op);
}

static void emit_all(fuser *f)
{
    for (int k = 0; k < MAX_OPEN; k++)
        if (f->open[k])
            emit_region(f, k);
}

static unsigned needs(const fuser *f, const jx_op *op)
{
    unsigned mask = 0;

    for (int i = 0; i < op->nins; i++)
        if (f->producer[op->ins[i].buffer] >= 0)
            mask |= 1u << f->producer[op->ins[i].buffer];
    return mask;
}

static bool waits_for(const fuser *f, int k, int other)
{
    if (f->open[k]->waits_for >> other & 1)
        return true;
    for (int i = 0; i < MAX_OPEN; i++)
        if ((f->open[k]->waits_for >> i & 1) && f->open[i] &&
            waits_for(f, i, other))
            return true;
    return false;
}

/* What of region r each operand of the operation is; false when one is made
 * by r but not read element by element. */
static bool map_operands(const fuser *f, int k, const jx_op *op, int *map,
                         int *added)
{
    const open_region *r = f->open[k];

    *added = 0;
    for (int i = 0; i < op->nins; i++) {
        const jx_operand *o = &op->ins[i];
        map[i] = -1;
        if (f->producer[o->buffer] == k) {
            if (!covers(f->p, o))
                return false;
            for (int n = 0; n < r->nouts; n++)
                if (r->outs[n].buffer == o->buffer)
                    map[i] = r->op->region->outputs.at[n];
        } else {
            for (int n = 0; n < r->nins && map[i] < 0; n++)
                if (same_window(&r->ins[n], o))
                    map[i] = r->op->region->inputs.at[n];
            *added += map[i] < 0;
        }
    }
    return true;
}

static bool join(fuser *f, int k, jx_op *op, unsigned needed)
{
    open_region *r = f->open[k];
    int map[MAX_OPERANDS], added;

    if (r->count != operand_count(&op->outs[0]) ||
        r->op->region->instrs.count + op->region->instrs.count > MAX_INSTRS ||
        r->nouts + 1 > MAX_OPERANDS || op->nins > MAX_OPERANDS)
        return false;
    for (int i = 0; i < MAX_OPEN; i++)
        if (i != k && (needed >> i & 1) && f->open[i] && waits_for(f, i, k))
            return false;
    if (!map_operands(f, k, op, map, &added) ||
        r->nins + added > MAX_OPERANDS)
        return false;
    for (int i = 0; i < op->nins; i++)
        if (map[i] < 0)
            r->ins[r->nins++] = op->ins[i];
    jx_region_merge(f->p->arena, r->op->region, op->region, map);
    r->outs[r->nouts++] = op->outs[0];
    r->waits_for |= needed & ~(1u << k);
    f->producer[op->outs[0].buffer] = k;
    return true;
}

static void open_new(fuser *f, jx_op *op, unsigned needed)
{
    int k = 0;

    while (k < MAX_OPEN && f->open[k])
        k++;
    if (k == MAX_OPEN) {
        emit_region(f, 0);
        k = 0;
        while (f->open[k])
            k++;
        needed = needs(f, op);
    }
    open_region *r = f->open[k] = &f->slots[k];
    r->op = op;
    r->count = operand_count(&op->outs[0]);
    r->waits_for = needed;
    r->nins = op->nins;
    r->nouts = 1;
    memcpy(r->ins, op->ins, (size_t)op->nins * sizeof *r->ins);
    r->outs[0] = op->outs[0];
    f->producer[op->outs[0].buffer] = k;
}

static void fuse_region(fuser *f, jx_op *op)
{
    unsigned needed = needs(f, op);

    if (op->nins > MAX_OPERANDS) {
        emit_all(f);
        JX_PUSH(f->p->arena, &f->emitted, op);
        return;
    }
    for (int pass = 0; pass < 2; pass++)
        for (int k = MAX_OPEN - 1; k >= 0; k--)
            if (f->open[k] && (needed >> k & 1) == (pass == 0) &&
                join(f, k, op, needed))
                return;
    open_new(f, op, needed);
}

/* An operation that overwrites what others may read, or runs blocks. */
static bool is_barrier(const fuser *f, const jx_op *op)
{
    if (op->nblocks)
        return true;
    for (int i = 0; i < op->nouts; i++)
        if (f->p->mems.at[op->outs[i].buffer].home != f->block &&
            f->p->mems.at[op->outs[i].buffer].kind != JX_MEM_OUT)
            return true;
    return false;
}

static void fuse_block(fuser *f, int block)
{
    jx_op_list ops = f->p->blocks.at[block].ops;

    f->block = block;
    f->emitted = (jx_op_list){0};
    for (size_t i = 0; i < ops.count; i++) {
        jx_op *op = ops.at[i];
        if (op->region && f->p->mems.at[op->outs[0].buffer].home == block) {
            fuse_region(f, op);
            continue;
        }
        if (is_barrier(f, op))
            emit_all(f);
        unsigned needed = needs(f, op);
        for (int k = 0; k < MAX_OPEN; k++)
            if ((needed >> k & 1) && f->open[k])
                emit_region(f, k);
        JX_PUSH(f->p->arena, &f->emitted, op);
    }
    emit_all(f);
    f->p->blocks.at[block].ops = f->emitted;
}

static bool fuse(jx_planner *p)
{
    fuser *f = JX_NEW(p->arena, fuser);

    if (!f || !(f->producer =
                    JX_NEW_ARRAY(p->arena, p->mems.count, int)))
        return false;
    f->p = p;
    for (size_t i = 0; i < p->mems.count; i++)
        f->producer[i] = -1;
    for (size_t b = 0; b < p->blocks.count; b++)
        fuse_block(f, (int)b);
    return !jx_arena_failed(p->arena);
}

/* Outputs of regions that nobody reads any more become internal. */
static void drop_internal(jx_planner *p, jx_op **all, int count)
{
    bool keep[MAX_OPERANDS];

    for (size_t i = 0; i < p->mems.count; i++)
        p->mems.at[i].needed = p->mems.at[i].kind == JX_MEM_OUT ||
                               p->mems.at[i].kind == JX_MEM_MOVING;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < all[i]->nins; k++)
            p->mems.at[all[i]->ins[k].buffer].needed = true;
        for (int k = 0; k < all[i]->nouts && all[i]->nblocks; k++)
            p->mems.at[all[i]->outs[k].buffer].needed = true;
    }
    for (int i = 0; i < count; i++) {
        jx_op *op = all[i];
        int kept = 0;
        if (!op->region || op->nouts < 2)
            continue;
        for (int k = 0; k < op->nouts; k++) {
            keep[k] = p->mems.at[op->outs[k].buffer].needed;
            if (keep[k])
                op->outs[kept++] = op->outs[k];
        }
        jx_region_keep(op->region, keep);
        op->nouts = kept;
    }
}

/* Sharing of memory. */

static void touch_operand(jx_planner *p, const jx_op *op, int buffer)
{
    jx_mem *mem = &p->mems.at[buffer];

    if (mem->touches.count &&
        mem->touches.at[mem->touches.count - 1] == op->position)
        return;
    JX_PUSH(p->arena, &mem->touches, op->position);
}

static void touch_all(jx_planner *p, jx_op **all, int count)
{
    for (int i = 0; i < count; i++) {
        const jx_op *op = all[i];
        for (int k = 0; k < op->nins; k++)
            touch_operand(p, op, op->ins[k].buffer);
        for (int k = 0; k < op->nouts; k++)
            touch_operand(p, op, op->outs[k].buffer);
        for (int k = 0; k < op->nouts; k++)
            p->mems.at[op->outs[k].buffer].writes++;
        if (op->scratch_buffer >= 0)
            touch_operand(p, op, op->scratch_buffer);
    }
}

/* x lives in y from now on. */
static void share(jx_planner *p, int x, int y)
{
    jx_mem *from = &p->mems.at[x], *to = &p->mems.at[y];
    size_t total = from->touches.count + to->touches.count, i = 0, k = 0;
    int *merged = JX_NEW_ARRAY(p->arena, total, int);

    if (!merged)
        return;
    for (size_t n = 0; n < total; n++) {
        bool first = k == to->touches.count ||
                     (i < from->touches.count &&
                      from->touches.at[i] <= to->touches.at[k]);
        merged[n] = first ? from->touches.at[i++] : to->touches.at[k++];
    }
    to->touches.at = merged;
    to->touches.count = to->touches.capacity = total;
    from->alias = y;
}

/* y is touched at a position in [from, to). */
static bool touched_within(const jx_planner *p, int y, int from, int to)
{
    const jx_mem *mem = &p->mems.at[y];
    size_t low = 0, high = mem->touches.count;

    while (low < high) {
        size_t mid = (low + high) / 2;
        if (mem->touches.at[mid] < from)
            low = mid + 1;
        else
            high = mid;
    }
    return low < mem->touches.count && mem->touches.at[low] < to;
}

/* The operation writes its output `out` where operand `in` lies, element by
 * element, and reads that memory in no other way. */
static bool works_in_place(jx_planner *p, const jx_op *op, int in, int out)
{
    int root = jx_mem_root(p->mems.at, op->ins[in].buffer);

    if (!(op->copy || op->region) || !covers(p, &op->ins[in]) ||
        !covers(p, &op->outs[out]) ||
        jx_dtype_of(op->ins[in].dtype)->bytes !=
            jx_dtype_of(op->outs[out].dtype)->bytes)
        return false;
    for (int i = 0; i < op->nins; i++)
        if (i != in && jx_mem_root(p->mems.at, op->ins[i].buffer) == root)
            return false;
    return !op->region || jx_region_in_place(op->region, in, out);
}

/* A copy of all of O to all of D costs nothing if O can live in D: O must be
 * made in this block, and D not be in use between O's birth and the copy.  At
 * O's birth D may be read by an operation that works in place. */
static void coalesce(jx_planner *p, jx_op **all, const jx_op *copy)
{
    const jx_operand *from = &copy->ins[0], *to = &copy->outs[0];
    int o = jx_mem_root(p->mems.at, from->buffer);
    int d = jx_mem_root(p->mems.at, to->buffer);
    jx_mem *mem = &p->mems.at[o];

    if (o == d || mem->kind != JX_MEM_TEMP || mem->home != copy->block ||
        p->mems.at[d].kind == JX_MEM_CONST ||
        p->mems.at[d].kind == JX_MEM_IN || !mem->touches.count ||
        !covers(p, from) || !covers(p, to) || mem->bytes == 0 ||
        mem->bytes != p->mems.at[d].bytes)
        return;
    /* Who reads O after the copy may not find D written again. */
    if (mem->touches.at[mem->touches.count - 1] > copy->position &&
        p->mems.at[to->buffer].writes > 1)
        return;
    jx_op *birth = all[mem->touches.at[0]];
    if (birth->begin < birth->position
            ? touched_within(p, d, birth->begin, copy->position)
            : touched_within(p, d, birth->position + 1, copy->position))
        return;
    if (touched_within(p, d, birth->position, birth->position + 1)) {
        bool ok = birth->block == copy->block;
        for (int i = 0; ok && i < birth->nouts; i++)
            if (jx_mem_root(p->mems.at, birth->outs[i].buffer) == d)
                ok = false;
        for (int i = 0; ok && i < birth->nins; i++) {
            if (jx_mem_root(p->mems.at, birth->ins[i].buffer) != d)
                continue;
            bool fits = false;
            for (int n = 0; n < birth->nouts; n++)
                if (birth->outs[n].buffer == from->buffer)
                    fits = works_in_place(p, birth, i, n);
            ok = fits;
        }
        if (!ok)
            return;
    }
    share(p, o, d);
}

static bool reads(jx_planner *p, const jx_op *op, int root)
{
    for (int i = 0; i < op->nins; i++)
        if (jx_mem_root(p->mems.at, op->ins[i].buffer) == root)
            return true;
    return false;
}

/* An operand that dies here may lend its memory to an output. */
static void reuse_operands(jx_planner *p, const jx_op *op)
{
    for (int n = 0; n < op->nouts; n++) {
        int y = jx_mem_root(p->mems.at, op->outs[n].buffer);
        if (reads(p, op, y))
            continue;
        for (int i = 0; i < op->nins; i++) {
            int x = jx_mem_root(p->mems.at, op->ins[i].buffer);
            const jx_mem *mem = &p->mems.at[x];
            if (x == y || mem->kind != JX_MEM_TEMP ||
                mem->home != op->block || mem->bytes == 0 ||
                mem->bytes != p->mems.at[y].bytes ||
                mem->touches.at[mem->touches.count - 1] != op->position ||
                touched_within(p, y, mem->touches.at[0], op->position) ||
                !works_in_place(p, op, i, n))
                continue;
            share(p, x, y);
            break;
        }
    }
}

/* Bounds of a buffer's life: a use in a nested block counts for all of the
 * operation that runs it. */
static void live_range(jx_planner *p, jx_op **all, int buffer)
{
    jx_mem *mem = &p->mems.at[buffer];

    mem->first = INT32_MAX;
    mem->last = -1;
    for (size_t i = 0; i < mem->touches.count; i++) {
        const jx_op *op = all[mem->touches.at[i]];
        while (op->block != mem->home && p->blocks.at[op->block].owner)
            op = p->blocks.at[op->block].owner;
        if (op->begin < mem->first)
            mem->first = op->begin;
        if (op->position > mem->last)
            mem->last = op->position;
    }
}

typedef struct interval {
    int buffer, first, last;
    int64_t bytes, offset;
} interval;

static int by_first(const void *a, const void *b)
{
    const interval *x = a, *y = b;

    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->buffer < y->buffer ? -1 : 1;
}

/* Best fit among the gaps between what is in use, which is kept by offset. */
static int64_t place(interval *used, int *nused, const interval *want)
{
    int kept = 0, at = 0;
    int64_t end = 0, best = -1, best_gap = 0;

    for (int i = 0; i < *nused; i++)
        if (used[i].last >= want->first)
            used[kept++] = used[i];
    *nused = kept;
    at = kept;
    for (int i = 0; i < kept; i++) {
        int64_t gap = used[i].offset - end;
        if (gap >= want->bytes && (best < 0 || gap < best_gap)) {
            best = end;
            best_gap = gap;
            at = i;
        }
        if (used[i].offset + used[i].bytes > end)
            end = used[i].offset + used[i].bytes;
    }
    if (best < 0)
        best = end;
    memmove(&used[at + 1], &used[at], (size_t)(kept - at) * sizeof *used);
    used[at] = *want;
    used[at].offset = best;
    ++*nused;
    return best;
}

static bool assign_memory(jx_planner *p, jx_op **all)
{
    interval *wants = JX_NEW_ARRAY(p->arena, p->mems.count, interval);
    interval *used = JX_NEW_ARRAY(p->arena, p->mems.count + 1, interval);
    int count = 0, nused = 0;
    int64_t total = 0;

    if (!wants || !used)
        return false;
    for (size_t i = 0; i < p->mems.count; i++) {
        jx_mem *mem = &p->mems.at[i];
        if (mem->kind != JX_MEM_TEMP || mem->alias >= 0 ||
            !mem->touches.count)
            continue;
        live_range(p, all, (int)i);
        wants[count++] = (interval){(int)i, mem->first, mem->last,
                                    (mem->bytes + 63) / 64 * 64, 0};
    }
    qsort(wants, (size_t)count, sizeof *wants, by_first);
    for (int i = 0; i < count; i++) {
        jx_mem *mem = &p->mems.at[wants[i].buffer];
        mem->offset = place(used, &nused, &wants[i]);
        if (mem->offset + wants[i].bytes > total)
            total = mem->offset + wants[i].bytes;
    }
    p->plan->bytes = total;
    if (p->options->memory && (uint64_t)total > p->options->memory)
        return jx_plan_fail(p, "running takes %lld bytes, the budget is %llu",
                            (long long)total,
                            (unsigned long long)p->options->memory);
    return true;
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
                                .count = operand_count(o),
                                .dense = operand_dense(o)};
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
        shape[0] = operand_count(o);
        strides[rank++] = (int64_t)jx_dtype_of(o->dtype)->bytes;
    }
    o->rank = rank;
    o->shape = shape;
    o->strides = strides;
}

static bool compile_region(jx_planner *p, jx_op *op)
{
    jx_access *access = JX_NEW_ARRAY(p->arena, op->nins, jx_access);

    if (!access)
        return false;
    int64_t count = operand_count(&op->outs[0]);
    for (int i = 0; i < op->nins; i++) {
        access[i] = access_of(&op->ins[i]);
        if (access[i] == JX_ACCESS_STRIDED)
            simplify(p->arena, &op->ins[i]);
    }
    op->data = jx_region_compile(p->arena, op->region, access, count,
                                 &op->scratch);
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
           covers(p, &op->ins[0]) && covers(p, &op->outs[0]);
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
    list_block(p, 0, all);
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
                op->kernel, op->data, first[op->position], op->nins,
                op->nouts,
                op->scratch_buffer >= 0
                    ? p->mems.at[op->scratch_buffer].offset
                    : -1};
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
    remove_dead(p, all, count);
    if (!fuse(p) || !(all = number_all(p, &count)))
        return false;
    drop_internal(p, all, count);
    for (int i = 0; i < count; i++)
        if (all[i]->region)
            jx_region_simplify(p->arena, all[i]->region);
    touch_all(p, all, count);
    for (int i = 0; i < count; i++)
        if (all[i]->copy)
            coalesce(p, all, all[i]);
    for (int i = 0; i < count; i++)
        reuse_operands(p, all[i]);
    for (int i = 0; i < count; i++)
        if (all[i]->region) {
            if (!compile_region(p, all[i]))
                return false;
            if (all[i]->scratch_buffer >= 0)
                touch_operand(p, all[i], all[i]->scratch_buffer);
        }
    p->plan->nops = count;
    return assign_memory(p, all) && finish_views(p, all, count) &&
           finish_patches(p) && finish_steps(p) && !p->failed &&
           !jx_arena_failed(p->arena);
}
