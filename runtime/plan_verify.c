/* plan_verify.c - is what the passes made of the operations still a program?
 *
 * Every operand stays in its buffer, every alias ends in a buffer that may be
 * shared, and every value is read where and while it lies in memory: the
 * operations are walked in their order, blocks twice, with a number for each
 * value instead of its elements. */
#include "runtime/finish.h"

#ifdef JX_VERIFY
#include "frontend/base/assert.h"

#include <stdlib.h>

/* Walks beyond this are not made: it is a check for debugging. */
enum { MOST_WORK = 40000000 };

typedef struct walk {
    jx_planner *p;
    bool placed;    /* buffers have offsets */
    int next;       /* number of the next value */
    int *content;   /* per buffer: the value that it holds; 0: none yet */
    int *memory;    /* per root: the value that lies there */
    bool *computed; /* per buffer: operations of the plan's own write it */
    long work;
} walk;

static void check_bounds(const jx_planner *p, const jx_operand *o)
{
    int64_t low = o->offset, high = o->offset;

    JX_ASSERT(o->buffer >= 0 && (size_t)o->buffer < p->mems.count);
    JX_ASSERT(o->rank >= 0);
    for (int i = 0; i < o->rank; i++) {
        JX_ASSERT(o->shape[i] >= 0);
        if (o->shape[i] == 0)
            return;
        *(o->strides[i] < 0 ? &low : &high) += (o->shape[i] - 1) * o->strides[i];
    }
    JX_ASSERT(low >= 0);
    JX_ASSERT(high + (int64_t)jx_dtype_of(o->dtype)->bytes <=
              p->mems.at[o->buffer].bytes);
}

static void check_aliases(const jx_planner *p)
{
    for (size_t i = 0; i < p->mems.count; i++) {
        const jx_mem *mem = &p->mems.at[i];
        size_t steps = 0;
        for (int at = (int)i; p->mems.at[at].alias >= 0;
             at = p->mems.at[at].alias) {
            JX_ASSERT((size_t)p->mems.at[at].alias < p->mems.count);
            JX_ASSERT(++steps <= p->mems.count);
        }
        if (mem->alias < 0)
            continue;
        JX_ASSERT(mem->kind == JX_MEM_TEMP);
        const jx_mem *root = &p->mems.at[jx_mem_root(p->mems.at, (int)i)];
        JX_ASSERT(root->bytes == mem->bytes);
        JX_ASSERT(root->kind != JX_MEM_CONST && root->kind != JX_MEM_IN);
    }
}

static bool is_tracked(const walk *w, int buffer)
{
    jx_mem_kind kind = w->p->mems.at[buffer].kind;

    return kind == JX_MEM_TEMP || kind == JX_MEM_OUT;
}

/* The two are neighbours in the run's arena that share a byte. */
static bool overlap(const jx_mem *a, const jx_mem *b)
{
    return a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

/* A new value in a buffer: what lay there is gone. */
static void put(walk *w, int buffer)
{
    const jx_planner *p = w->p;
    int root = jx_mem_root(p->mems.at, buffer);
    const jx_mem *mem = &p->mems.at[root];

    w->content[buffer] = w->memory[root] = w->next++;
    if (!w->placed || mem->kind != JX_MEM_TEMP)
        return;
    w->work += (long)p->mems.count;
    for (size_t i = 0; i < p->mems.count; i++)
        if ((int)i != root && p->mems.at[i].alias < 0 &&
            p->mems.at[i].kind == JX_MEM_TEMP &&
            p->mems.at[i].touches.count && overlap(mem, &p->mems.at[i]))
            w->memory[i] = -1;
}

static bool is_there(const walk *w, int buffer)
{
    return w->content[buffer] &&
           w->content[buffer] ==
               w->memory[jx_mem_root(w->p->mems.at, buffer)];
}

static void read_operand(const walk *w, const jx_operand *o)
{
    if (is_tracked(w, o->buffer) && jx_operand_count(o))
        JX_ASSERT(is_there(w, o->buffer));
}

static void write_operand(walk *w, const jx_operand *o)
{
    JX_ASSERT(w->p->mems.at[o->buffer].kind != JX_MEM_CONST &&
              w->p->mems.at[o->buffer].kind != JX_MEM_IN);
    if (!is_tracked(w, o->buffer))
        return;
    /* A part: the others must still be there. */
    if (w->content[o->buffer] && !jx_operand_covers(w->p, o))
        JX_ASSERT(is_there(w, o->buffer));
    put(w, o->buffer);
}

/* A copy that is none, since both ends are one place. */
static bool stays(const walk *w, const jx_op *op)
{
    return op->copy && op->ins[0].offset == op->outs[0].offset &&
           jx_mem_root(w->p->mems.at, op->ins[0].buffer) ==
               jx_mem_root(w->p->mems.at, op->outs[0].buffer) &&
           jx_operand_covers(w->p, &op->ins[0]) &&
           jx_operand_covers(w->p, &op->outs[0]);
}

static void walk_block(walk *w, int block);

/* What only the kernel writes that runs the block (elements to compare, a turn's
 * number) is there anew at each turn. */
static void enter_block(walk *w, const jx_op *op, int block)
{
    for (int k = 0; k < op->nins + op->nouts; k++) {
        int buffer = op->ins[k].buffer;
        if (is_tracked(w, buffer) && !w->computed[buffer])
            put(w, buffer);
    }
    walk_block(w, block);
}

static void walk_op(walk *w, const jx_op *op)
{
    for (int turn = 0; turn < 2; turn++)
        for (int b = 0; b < op->nblocks; b++)
            enter_block(w, op, op->first_block + b);
    if (op->nblocks)
        return;
    for (int k = 0; k < op->nins; k++)
        read_operand(w, &op->ins[k]);
    if (stays(w, op)) {
        w->content[op->outs[0].buffer] = w->content[op->ins[0].buffer];
        return;
    }
    if (op->scratch_buffer >= 0)
        put(w, op->scratch_buffer);
    for (int k = 0; k < op->nouts; k++)
        write_operand(w, &op->outs[k]);
}

static void walk_block(walk *w, int block)
{
    const jx_op_list *ops = &w->p->blocks.at[block].ops;

    for (size_t i = 0; i < ops->count && w->work++ < MOST_WORK; i++)
        walk_op(w, ops->at[i]);
}

void jx_plan_verify(jx_planner *p, jx_op **all, int count, bool placed)
{
    size_t n = p->mems.count + 1;
    walk w = {.p = p,
              .placed = placed,
              .next = 1,
              .content = calloc(n, sizeof *w.content),
              .memory = calloc(n, sizeof *w.memory),
              .computed = calloc(n, sizeof *w.computed)};

    check_aliases(p);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < all[i]->nins + all[i]->nouts; k++)
            check_bounds(p, &all[i]->ins[k]);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < all[i]->nouts && !all[i]->nblocks; k++)
            if (w.computed)
                w.computed[all[i]->outs[k].buffer] = true;
    if (w.content && w.memory && w.computed)
        walk_block(&w, 0);
    for (size_t i = 0; w.content && w.memory && i < p->mems.count &&
                       w.work < MOST_WORK; i++)
        if (p->mems.at[i].kind == JX_MEM_OUT && w.content[i])
            JX_ASSERT(is_there(&w, (int)i));
    free(w.content);
    free(w.memory);
    free(w.computed);
}
#endif
