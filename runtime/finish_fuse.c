/* finish_fuse.c - fusion of elementwise operations.
 *
 * While walking a block, up to MAX_OPEN regions stay open; an
 * elementwise operation of as many elements joins one, if what it needs from
 * other open regions does not wait for that one.  Other operations are emitted
 * at once, after the open regions that they depend on. */
#include "runtime/finish.h"

enum { MAX_OPEN = 8, MAX_INSTRS = 96, MAX_OPERANDS = 40 };

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
    open_region *slots[MAX_OPEN]; /* made when first used: most are not */
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
        JX_NEW_ARRAY(f->p->scratch, r->nins + r->nouts, jx_operand);
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
    JX_PUSH(f->p->scratch, &f->emitted, op);
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

static bool same_window(const jx_operand *a, const jx_operand *b)
{
    if (a->buffer != b->buffer || a->offset != b->offset ||
        a->dtype != b->dtype)
        return false;
    if (jx_operand_dense(a) && jx_operand_dense(b))
        return jx_operand_count(a) == jx_operand_count(b);
    if (a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->shape[i] != b->shape[i] || a->strides[i] != b->strides[i])
            return false;
    return true;
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
            if (!jx_operand_covers(f->p, o))
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

    if (r->count != jx_operand_count(&op->outs[0]) ||
        r->op->region->instrs.count + op->region->instrs.count > MAX_INSTRS ||
        r->nouts + 1 > MAX_OPERANDS || op->nins > MAX_OPERANDS)
        return false;
    for (int i = 0; i < MAX_OPEN; i++)
        if (i != k && (needed >> i & 1) && f->open[i] && waits_for(f, i, k))
            return false;
    if (!map_operands(f, k, op, map, &added) || r->nins + added > MAX_OPERANDS)
        return false;
    for (int i = 0; i < op->nins; i++)
        if (map[i] < 0)
            r->ins[r->nins++] = op->ins[i];
    jx_region_merge(f->p->scratch, r->op->region, op->region, map);
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
    if (!f->slots[k] && !(f->slots[k] = JX_NEW(f->p->scratch, open_region)))
        return;
    open_region *r = f->open[k] = f->slots[k];
    r->op = op;
    r->count = jx_operand_count(&op->outs[0]);
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
        JX_PUSH(f->p->scratch, &f->emitted, op);
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
        if (jx_mem_at(&f->p->mems, op->outs[i].buffer)->home != f->block &&
            jx_mem_at(&f->p->mems, op->outs[i].buffer)->kind != JX_MEM_OUT)
            return true;
    return false;
}

static void fuse_block(fuser *f, int block)
{
    jx_op_list ops = f->p->blocks.at[block].ops;

    f->block = block;
    f->emitted = (jx_op_list){0};
    /* Without memory a region may lack what it gives. */
    for (size_t i = 0; i < ops.count && jx_plan_is_fed(f->p); i++) {
        jx_op *op = ops.at[i];
        if (op->region &&
            jx_mem_at(&f->p->mems, op->outs[0].buffer)->home == block) {
            fuse_region(f, op);
            continue;
        }
        if (is_barrier(f, op))
            emit_all(f);
        unsigned needed = needs(f, op);
        for (int k = 0; k < MAX_OPEN; k++)
            if ((needed >> k & 1) && f->open[k])
                emit_region(f, k);
        JX_PUSH(f->p->scratch, &f->emitted, op);
    }
    emit_all(f);
    f->p->blocks.at[block].ops = f->emitted;
}

bool jx_finish_fuse(jx_planner *p)
{
    fuser *f = JX_NEW(p->scratch, fuser);

    if (!f || !(f->producer = JX_NEW_ARRAY(p->scratch, p->mems.count, int)))
        return false;
    f->p = p;
    for (int i = 0; i < p->mems.count; i++)
        f->producer[i] = -1;
    for (size_t b = 0; b < p->blocks.count; b++)
        fuse_block(f, (int)b);
    return jx_plan_is_fed(p);
}

void jx_finish_drop_internal(jx_planner *p, jx_op **all, int count)
{
    bool keep[MAX_OPERANDS];

    for (int i = 0; i < p->mems.count; i++)
        jx_mem_at(&p->mems, i)->needed =
            jx_mem_at(&p->mems, i)->kind == JX_MEM_OUT ||
            jx_mem_at(&p->mems, i)->kind == JX_MEM_MOVING;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < all[i]->nins; k++)
            jx_mem_at(&p->mems, all[i]->ins[k].buffer)->needed = true;
        for (int k = 0; k < all[i]->nouts && all[i]->nblocks; k++)
            jx_mem_at(&p->mems, all[i]->outs[k].buffer)->needed = true;
    }
    for (int i = 0; i < count; i++) {
        jx_op *op = all[i];
        int kept = 0;
        if (!op->region || op->nouts < 2)
            continue;
        for (int k = 0; k < op->nouts; k++) {
            keep[k] = jx_mem_at(&p->mems, op->outs[k].buffer)->needed;
            if (keep[k])
                op->outs[kept++] = op->outs[k];
        }
        jx_region_keep(op->region, keep);
        op->nouts = kept;
    }
}
