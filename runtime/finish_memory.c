/* finish_memory.c - which buffers share memory, and where they lie. */
#include "runtime/finish.h"
#include "runtime/gaps.h"

#include <stdlib.h>
#include <string.h>

void jx_finish_touch(jx_planner *p, const jx_op *op, int buffer)
{
    jx_mem *mem = jx_mem_at(&p->mems, buffer);

    if (mem->touches.count &&
        mem->touches.at[mem->touches.count - 1] == op->position)
        return;
    mem->touched = true;
    JX_PUSH(p->scratch, &mem->touches, op->position);
}

void jx_finish_touch_all(jx_planner *p, jx_op **all, int count)
{
    for (int i = 0; i < count; i++) {
        const jx_op *op = all[i];
        for (int k = 0; k < op->nins; k++)
            jx_finish_touch(p, op, op->ins[k].buffer);
        for (int k = 0; k < op->nouts; k++)
            jx_finish_touch(p, op, op->outs[k].buffer);
        for (int k = 0; k < op->nouts; k++)
            jx_mem_at(&p->mems, op->outs[k].buffer)->writes++;
        if (op->scratch_buffer >= 0)
            jx_finish_touch(p, op, op->scratch_buffer);
    }
}

/* Room for so many touches; amortized, since a chain of copies shares one
 * buffer after the other with all before it. */
static bool reserve_touches(jx_planner *p, jx_mem *mem, size_t total)
{
    int *room;

    if (total <= mem->touches.capacity)
        return true;
    room = JX_NEW_ARRAY(p->scratch, 2 * total, int);
    if (!room)
        return false;
    if (mem->touches.count)
        memcpy(room, mem->touches.at, mem->touches.count * sizeof *room);
    mem->touches.at = room;
    mem->touches.capacity = 2 * total;
    return true;
}

/* x lives in y from now on.  The shorter list of touches goes into the longer
 * one, from the back: as far as the two overlap, elements of that move. */
static void share(jx_planner *p, int x, int y)
{
    jx_mem *from = jx_mem_at(&p->mems, x), *to = jx_mem_at(&p->mems, y);
    bool grows = from->touches.count <= to->touches.count;
    jx_mem *longer = grows ? to : from, *shorter = grows ? from : to;
    size_t i = longer->touches.count, k = shorter->touches.count, total = i + k,
           n = total;

    if (!reserve_touches(p, longer, total))
        return;
    while (k > 0) {
        bool last =
            i > 0 && longer->touches.at[i - 1] > shorter->touches.at[k - 1];
        longer->touches.at[--n] =
            last ? longer->touches.at[--i] : shorter->touches.at[--k];
    }
    longer->touches.count = total;
    if (!grows)
        to->touches = from->touches;
    from->touches.at = NULL;
    from->touches.count = from->touches.capacity = 0;
    from->alias = y;
}

/* The operation of its own block in which a buffer is first in use: what
 * happens in a nested block happens in each turn of what runs that. */
static jx_op *birth_of(const jx_planner *p, jx_op **all, const jx_mem *mem)
{
    jx_op *op = all[mem->touches.at[0]];

    while (op->block != mem->home && p->blocks.at[op->block].owner)
        op = p->blocks.at[op->block].owner;
    return op;
}

/* y is touched at a position in [from, to). */
static bool touched_within(const jx_planner *p, int y, int from, int to)
{
    const jx_mem *mem = jx_mem_at(&p->mems, y);
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
    int root = jx_mem_root(&p->mems, op->ins[in].buffer);

    if (!(op->copy || op->region) || !jx_operand_covers(p, &op->ins[in]) ||
        !jx_operand_covers(p, &op->outs[out]) ||
        jx_dtype_of(op->ins[in].dtype)->bytes !=
            jx_dtype_of(op->outs[out].dtype)->bytes)
        return false;
    for (int i = 0; i < op->nins; i++)
        if (i != in && jx_mem_root(&p->mems, op->ins[i].buffer) == root)
            return false;
    return !op->region || jx_region_in_place(op->region, in, out);
}

/* A copy of all of O to all of D costs nothing if O can live in D: O must be
 * made in this block, and D not be in use between O's birth and the copy.  At
 * O's birth D may be read by an operation that works in place. */
static void coalesce(jx_planner *p, jx_op **all, const jx_op *copy)
{
    const jx_operand *from = &copy->ins[0], *to = &copy->outs[0];
    int o = jx_mem_root(&p->mems, from->buffer);
    int d = jx_mem_root(&p->mems, to->buffer);
    jx_mem *mem = jx_mem_at(&p->mems, o);

    if (o == d || mem->kind != JX_MEM_TEMP || mem->home != copy->block ||
        jx_mem_at(&p->mems, d)->kind == JX_MEM_CONST ||
        jx_mem_at(&p->mems, d)->kind == JX_MEM_IN || !mem->touches.count ||
        !jx_operand_covers(p, from) || !jx_operand_covers(p, to) ||
        mem->bytes == 0 || mem->bytes != jx_mem_at(&p->mems, d)->bytes)
        return;
    /* Who reads O after the copy may not find D written again. */
    if (mem->touches.at[mem->touches.count - 1] > copy->position &&
        jx_mem_at(&p->mems, to->buffer)->writes > 1)
        return;
    jx_op *birth = birth_of(p, all, mem);
    if (birth->begin < birth->position
            ? touched_within(p, d, birth->begin, copy->position)
            : touched_within(p, d, birth->position + 1, copy->position))
        return;
    if (touched_within(p, d, birth->position, birth->position + 1)) {
        bool ok = birth->block == copy->block;
        for (int i = 0; ok && i < birth->nouts; i++)
            if (jx_mem_root(&p->mems, birth->outs[i].buffer) == d)
                ok = false;
        for (int i = 0; ok && i < birth->nins; i++) {
            if (jx_mem_root(&p->mems, birth->ins[i].buffer) != d)
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
        if (jx_mem_root(&p->mems, op->ins[i].buffer) == root)
            return true;
    return false;
}

/* An operand that dies here may lend its memory to an output. */
static void reuse_operands(jx_planner *p, jx_op **all, const jx_op *op)
{
    for (int n = 0; n < op->nouts; n++) {
        int y = jx_mem_root(&p->mems, op->outs[n].buffer);
        if (reads(p, op, y))
            continue;
        for (int i = 0; i < op->nins; i++) {
            int x = jx_mem_root(&p->mems, op->ins[i].buffer);
            const jx_mem *mem = jx_mem_at(&p->mems, x);
            if (x == y || mem->kind != JX_MEM_TEMP || mem->home != op->block ||
                mem->bytes == 0 ||
                mem->bytes != jx_mem_at(&p->mems, y)->bytes ||
                mem->touches.at[mem->touches.count - 1] != op->position ||
                touched_within(p, y, birth_of(p, all, mem)->begin,
                               op->position) ||
                !works_in_place(p, op, i, n))
                continue;
            share(p, x, y);
            break;
        }
    }
}

void jx_finish_share(jx_planner *p, jx_op **all, int count)
{
    for (int i = 0; i < count; i++)
        if (all[i]->copy)
            coalesce(p, all, all[i]);
    for (int i = 0; i < count; i++)
        reuse_operands(p, all, all[i]);
}

/* Bounds of a buffer's life: a use in a nested block counts for all of the
 * operation that runs it. */
static void live_range(jx_planner *p, jx_op **all, int buffer)
{
    jx_mem *mem = jx_mem_at(&p->mems, buffer);

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

/* Of a buffer that needs memory. */
typedef struct interval {
    int buffer, first, last, number;
    int64_t bytes;
} interval;

static int by_first(const void *a, const void *b)
{
    const interval *x = *(const interval *const *)a,
                   *y = *(const interval *const *)b;

    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->buffer < y->buffer ? -1 : 1;
}

static int by_last(const void *a, const void *b)
{
    const interval *x = *(const interval *const *)a,
                   *y = *(const interval *const *)b;

    if (x->last != y->last)
        return x->last < y->last ? -1 : 1;
    return x->buffer < y->buffer ? -1 : 1;
}

/* The intervals in an order; NULL without memory. */
static interval **ordered(jx_arena *scratch, interval *wants, int count,
                          int (*order)(const void *, const void *))
{
    interval **to = JX_NEW_ARRAY(scratch, count, interval *);

    for (int i = 0; to && i < count; i++)
        to[i] = &wants[i];
    if (to)
        qsort(to, (size_t)count, sizeof *to, order);
    return to;
}

/* A call of a unit, and where what is in use then ends: the unit's memory lies
 * behind. */
typedef struct height {
    const jx_op *op;
    int64_t bytes;
} height;

static height *heights_of(jx_arena *scratch, jx_op **all, int count,
                          int *ncalls)
{
    *ncalls = 0;
    for (int i = 0; i < count; i++)
        *ncalls += all[i]->unit != 0;
    height *to = JX_NEW_ARRAY(scratch, *ncalls, height);
    for (int i = 0, n = 0; to && i < count; i++)
        if (all[i]->unit)
            to[n++].op = all[i];
    return to;
}

/* Units that call each other lie behind each other, others over each other. */
static void place_units(jx_planner *p, const height *calls, int ncalls)
{
    for (int i = ncalls - 1; i >= 0; i--) {
        const jx_op *op = calls[i].op;
        const jx_unit *caller = &p->units.at[p->blocks.at[op->block].unit];
        jx_unit *callee = &p->units.at[op->unit];
        if (caller->offset + calls[i].bytes > callee->offset)
            callee->offset = caller->offset + calls[i].bytes;
    }
}

/* What is not in use any more at that position. */
static void give_back(jx_gaps *gaps, interval *const *lasts, int count,
                      int *over, int position)
{
    for (; *over < count && lasts[*over]->last < position; ++*over)
        if (lasts[*over]->bytes)
            jx_gaps_give(gaps, lasts[*over]->number);
}

static bool place_buffers(jx_planner *p, jx_arena *scratch, jx_op **all,
                          int nops, interval *wants, int count)
{
    interval **firsts = ordered(scratch, wants, count, by_first);
    interval **lasts = ordered(scratch, wants, count, by_last);
    int ncalls, next = 0, over = 0;
    height *calls = heights_of(scratch, all, nops, &ncalls);
    jx_gaps gaps;

    if (!firsts || !lasts || !calls || !jx_gaps_open(scratch, count, &gaps))
        return false;
    for (int i = 0; i < count; i++) {
        interval *want = firsts[i];
        for (; next < ncalls && calls[next].op->position < want->first;
             next++) {
            give_back(&gaps, lasts, count, &over, calls[next].op->position);
            calls[next].bytes = jx_gaps_end(&gaps);
        }
        give_back(&gaps, lasts, count, &over, want->first);
        if (want->bytes)
            want->number = jx_gaps_take(
                &gaps, want->bytes, &jx_mem_at(&p->mems, want->buffer)->offset);
    }
    for (; next < ncalls; next++) {
        give_back(&gaps, lasts, count, &over, calls[next].op->position);
        calls[next].bytes = jx_gaps_end(&gaps);
    }
    place_units(p, calls, ncalls);
    return true;
}

/* False without memory. */
static bool place_all(jx_planner *p, jx_arena *scratch, jx_op **all, int nops,
                      int64_t *total)
{
    interval *wants = JX_NEW_ARRAY(scratch, p->mems.count, interval);
    int count = 0;

    if (!wants)
        return false;
    for (int i = 0; i < p->mems.count; i++) {
        jx_mem *mem = jx_mem_at(&p->mems, i);
        if (mem->kind != JX_MEM_TEMP || mem->alias >= 0 || !mem->touches.count)
            continue;
        live_range(p, all, (int)i);
        wants[count++] = (interval){.buffer = (int)i,
                                    .first = mem->first,
                                    .last = mem->last,
                                    .bytes = (mem->bytes + 63) / 64 * 64};
    }
    if (!place_buffers(p, scratch, all, nops, wants, count))
        return false;
    for (int i = 0; i < count; i++) {
        jx_mem *mem = jx_mem_at(&p->mems, wants[i].buffer);
        mem->offset += p->units.at[p->blocks.at[mem->home].unit].offset;
        if (mem->offset + wants[i].bytes > *total)
            *total = mem->offset + wants[i].bytes;
    }
    return true;
}

bool jx_finish_memory(jx_planner *p, jx_op **all, int nops)
{
    jx_arena *scratch = jx_arena_new(&p->program->ctx->budget);
    int64_t total = 0;
    bool placed = scratch && place_all(p, scratch, all, nops, &total);

    jx_arena_free(scratch);
    p->plan->bytes = total;
    return placed && jx_plan_allows(p, "running", total);
}

/* ---- inputs whose memory an output may have */

/* What the operation that writes an output first reads there,
 * and reads last. */
static void lend_in_place(jx_planner *p, jx_op **all, int output)
{
    const jx_mem *mem = jx_mem_at(&p->mems, output);
    const jx_op *op = all[mem->touches.at[0]];

    if (op->block != mem->home || op->begin != op->position)
        return;
    for (int n = 0; n < op->nouts; n++)
        for (int i = 0; i < op->nins; i++) {
            const jx_mem *in =
                jx_mem_at(&p->mems, jx_mem_root(&p->mems, op->ins[i].buffer));
            jx_lending lending = {in->port, mem->port};
            if (jx_mem_root(&p->mems, op->outs[n].buffer) == output &&
                in->kind == JX_MEM_IN && in->last == op->position &&
                works_in_place(p, op, i, n))
                JX_PUSH(p->arena, &p->plan->lendings, lending);
        }
}

bool jx_finish_lend(jx_planner *p, jx_op **all)
{
    jx_plan *plan = p->plan;

    plan->last_reads = JX_NEW_ARRAY(p->arena, plan->nins + 1, int);
    plan->first_writes = JX_NEW_ARRAY(p->arena, plan->nouts + 1, int);
    if (!plan->last_reads || !plan->first_writes)
        return false;
    for (int i = 0; i < plan->nins; i++)
        plan->last_reads[i] = -1;
    for (int i = 0; i < plan->nouts; i++)
        plan->first_writes[i] = -1;
    for (int i = 0; i < p->mems.count; i++) {
        jx_mem *mem = jx_mem_at(&p->mems, i);
        if ((mem->kind != JX_MEM_IN && mem->kind != JX_MEM_OUT) ||
            !mem->touches.count)
            continue;
        live_range(p, all, (int)i);
        if (mem->kind == JX_MEM_IN)
            plan->last_reads[mem->port] = mem->last;
        else
            plan->first_writes[mem->port] = mem->first;
    }
    for (int i = 0; i < p->mems.count; i++)
        if (jx_mem_at(&p->mems, i)->kind == JX_MEM_OUT &&
            jx_mem_at(&p->mems, i)->touches.count)
            lend_in_place(p, all, (int)i);
    return jx_plan_is_fed(p);
}
