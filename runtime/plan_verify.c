/* plan_verify.c - is what the passes made of the operations still a program?
 *
 * Every operand stays in its buffer, every alias ends in a buffer that may be
 * shared, and every value is read where and while it lies in memory.  Nothing
 * here asks finish_memory.c how long something lives: the operations are walked
 * in their order, with the time of its last change for each piece of memory.  A
 * buffer still holds its value if nothing in its memory is younger.
 *
 * A block is walked once.  What it needs on entry, what memory it changes and
 * which buffers hold a value at its end is all that its owner asks: it may run
 * the block in several places, and again and again. */
#include "runtime/finish.h"

#include <stdlib.h>

typedef JX_VEC(int) numbers;

typedef struct summary {
    bool walked, entered;
    numbers needs;  /* buffers that hold a value on entry, and are read */
    numbers writes; /* roots */
    numbers gives;  /* buffers that hold one at the end, since the beginning of
                       the block */
} summary;

/* Pieces of memory, neighbours first: those of a buffer are [from, to). */
typedef struct pieces {
    int from, to;
} pieces;

typedef struct verifier {
    const jx_planner *p;
    jx_arena *arena;
    const char *fault;
    bool placed;
    const jx_op *op; /* being looked at */
    bool *used;      /* per buffer: an operation has it */
    bool *computed;  /* operations of the plan's own write it */
    pieces *memory;  /* per root */
    /* Times of changes: a tree over a power of two of pieces.  `all` is of all
     * that lies below a node, `some` the latest of anything below it. */
    int64_t *all, *some;
    int width;
    int64_t now, began; /* the time; when this block began */
    int64_t *content;   /* per buffer: when it got its value; `began`: it had it
                           on entry; earlier: not in this block */
    int block;          /* being walked */
    /* per buffer: the last block (from 1) that has it in its summary */
    int *needed, *written, *made;
    summary *summaries;
    numbers given; /* by this block, perhaps */
} verifier;

static bool fault(verifier *v, const char *what, int buffer)
{
    if (!v->fault)
        v->fault = jx_arena_printf(
            v->p->arena, "block %d, operation %d: buffer %d %s", v->block,
            v->op ? v->op->position : -1, buffer, what);
    return false;
}

/* Memory and time. */

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void stamp(verifier *v, pieces at, int64_t time)
{
    int first = at.from + v->width, last = at.to - 1 + v->width;

    if (at.from >= at.to)
        return;
    for (int l = first, r = last + 1; l < r; l /= 2, r /= 2) {
        if (l & 1) {
            v->all[l] = v->some[l] = time;
            l++;
        }
        if (r & 1) {
            r--;
            v->all[r] = v->some[r] = time;
        }
    }
    for (int i = first / 2; i; i /= 2)
        v->some[i] = time;
    for (int i = last / 2; i; i /= 2)
        v->some[i] = time;
}

static int64_t latest(const verifier *v, pieces at)
{
    int first = at.from + v->width, last = at.to - 1 + v->width;
    int64_t time = 0;

    if (at.from >= at.to)
        return 0;
    for (int l = first, r = last + 1; l < r; l /= 2, r /= 2) {
        if (l & 1)
            time = later(time, v->some[l++]);
        if (r & 1)
            time = later(time, v->some[--r]);
    }
    for (int i = first; i; i /= 2)
        time = later(time, v->all[i]);
    for (int i = last; i; i /= 2)
        time = later(time, v->all[i]);
    return time;
}

static pieces memory_of(const verifier *v, int buffer)
{
    return v->memory[jx_mem_root(&v->p->mems, buffer)];
}

static bool meet(pieces a, pieces b)
{
    return a.from < b.to && b.from < a.to;
}

static int by_offset(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static bool is_in_arena(const verifier *v, int i)
{
    const jx_mem *mem = jx_mem_at(&v->p->mems, i);

    return v->placed && mem->kind == JX_MEM_TEMP && mem->alias < 0 &&
           v->used[i];
}

static bool check_place(verifier *v, int buffer)
{
    const jx_mem *mem = jx_mem_at(&v->p->mems, buffer);

    return (mem->offset >= 0 && mem->offset % 64 == 0 &&
            mem->bytes <= v->p->plan->bytes - mem->offset) ||
           fault(v, "does not lie within the run's memory", buffer);
}

typedef struct offsets {
    int64_t *at;
    size_t count;
} offsets;

/* Where the buffers of the run's arena begin and end, sorted. */
static bool find_ends(verifier *v, offsets *ends)
{
    size_t count = 0;

    ends->at =
        JX_NEW_ARRAY(v->arena, 2 * (size_t)v->p->mems.count + 1, int64_t);
    for (int i = 0; ends->at && i < v->p->mems.count; i++) {
        const jx_mem *mem = jx_mem_at(&v->p->mems, i);
        if (!is_in_arena(v, i))
            continue;
        if (!check_place(v, i))
            return false;
        ends->at[count++] = mem->offset;
        ends->at[count++] = mem->offset + mem->bytes;
    }
    if (!ends->at)
        return false;
    qsort(ends->at, count, sizeof *ends->at, by_offset);
    for (size_t i = 0; i < count; i++)
        if (!ends->count || ends->at[ends->count - 1] != ends->at[i])
            ends->at[ends->count++] = ends->at[i];
    return true;
}

static int piece_at(const offsets *ends, int64_t offset)
{
    const int64_t *found =
        bsearch(&offset, ends->at, ends->count, sizeof offset, by_offset);

    return found ? (int)(found - ends->at) : 0;
}

/* Pieces of the arena; then one for each buffer elsewhere. */
static bool cut(verifier *v)
{
    int n = v->p->mems.count;
    offsets ends = {0};

    v->memory = JX_NEW_ARRAY(v->arena, n + 1, pieces);
    if (!v->memory || !find_ends(v, &ends))
        return false;
    int next = (int)ends.count;
    for (int i = 0; i < n; i++) {
        const jx_mem *mem = jx_mem_at(&v->p->mems, i);
        if (is_in_arena(v, i))
            v->memory[i] = (pieces){piece_at(&ends, mem->offset),
                                    piece_at(&ends, mem->offset + mem->bytes)};
        else if (mem->bytes > 0)
            v->memory[i] = (pieces){next, next + 1};
        next += !is_in_arena(v, i);
    }
    for (v->width = 1; v->width <= next;)
        v->width *= 2;
    v->all = JX_NEW_ARRAY(v->arena, 2 * (size_t)v->width, int64_t);
    v->some = JX_NEW_ARRAY(v->arena, 2 * (size_t)v->width, int64_t);
    return v->all && v->some;
}

/* Values. */

static bool is_tracked(const verifier *v, int buffer)
{
    jx_mem_kind kind = jx_mem_at(&v->p->mems, buffer)->kind;

    return kind == JX_MEM_TEMP || kind == JX_MEM_OUT;
}

static void note(verifier *v, numbers *list, int *seen, int number)
{
    if (seen[number] == v->block + 1)
        return;
    seen[number] = v->block + 1;
    JX_PUSH(v->arena, list, number);
}

static bool made_here(const verifier *v, int buffer)
{
    return v->content[buffer] >= v->began;
}

/* Its value was made in this block, or came into it, and is there. */
static bool is_there(const verifier *v, int buffer)
{
    int64_t changed = latest(v, memory_of(v, buffer));

    if (v->content[buffer] <= v->began)
        return changed <= v->began;
    pieces at = memory_of(v, buffer);
    return at.from >= at.to || changed == v->content[buffer];
}

static bool need(verifier *v, int buffer)
{
    if (!is_tracked(v, buffer))
        return true;
    if (!is_there(v, buffer))
        return fault(v, "is read when its value is gone", buffer);
    if (!made_here(v, buffer))
        note(v, &v->summaries[v->block].needs, v->needed, buffer);
    return true;
}

static void change(verifier *v, int root)
{
    stamp(v, v->memory[root], ++v->now);
    note(v, &v->summaries[v->block].writes, v->written, root);
}

static void make(verifier *v, int buffer, int64_t time)
{
    v->content[buffer] = time;
    note(v, &v->given, v->made, buffer);
}

/* A new value in a buffer: what lay there is gone. */
static void put(verifier *v, int buffer)
{
    change(v, jx_mem_root(&v->p->mems, buffer));
    make(v, buffer, v->now);
}

/* Nobody may count on the buffer's value. */
static void drop(verifier *v, int buffer)
{
    make(v, buffer, ++v->now);
}

/* Operations. */

static bool check_bounds(verifier *v, const jx_operand *o)
{
    const jx_planner *p = v->p;
    int64_t low = o->offset, high = o->offset;

    if (o->buffer < 0 || o->buffer >= p->mems.count || o->rank < 0)
        return fault(v, "is none", o->buffer);
    for (int i = 0; i < o->rank; i++) {
        if (o->shape[i] < 0)
            return fault(v, "has an axis below 0", o->buffer);
        if (o->shape[i] == 0)
            return true;
        *(o->strides[i] < 0 ? &low : &high) +=
            (o->shape[i] - 1) * o->strides[i];
    }
    high += (int64_t)jx_dtype_of(o->dtype)->bytes;
    return (low >= -jx_mem_at(&p->mems, o->buffer)->below &&
            high <= jx_mem_at(&p->mems, o->buffer)->bytes) ||
           fault(v, "ends before the operand does", o->buffer);
}

static bool check_alias(verifier *v, int buffer)
{
    const jx_mems *mems = &v->p->mems;
    int root = buffer, steps = 0;

    for (; jx_mem_at(mems, root)->alias >= 0;
         root = jx_mem_at(mems, root)->alias)
        if (jx_mem_at(mems, root)->alias >= v->p->mems.count ||
            ++steps > v->p->mems.count)
            return fault(v, "lives in none", buffer);
    return root == buffer ||
           (jx_mem_at(mems, buffer)->kind == JX_MEM_TEMP &&
            jx_mem_at(mems, root)->kind != JX_MEM_CONST &&
            jx_mem_at(mems, root)->kind != JX_MEM_IN &&
            jx_mem_at(mems, root)->bytes == jx_mem_at(mems, buffer)->bytes) ||
           fault(v, "lives in one that is not its like", buffer);
}

/* Both are all of their memory, and elements are as wide. */
static bool same_elements(const verifier *v, const jx_operand *a,
                          const jx_operand *b)
{
    return memory_of(v, a->buffer).from == memory_of(v, b->buffer).from &&
           memory_of(v, a->buffer).to == memory_of(v, b->buffer).to &&
           jx_operand_covers(v->p, a) && jx_operand_covers(v->p, b) &&
           jx_dtype_of(a->dtype)->bytes == jx_dtype_of(b->dtype)->bytes;
}

/* A copy that is none, since both ends are one place. */
static bool stays(const verifier *v, const jx_op *op)
{
    return op->copy &&
           jx_mem_root(&v->p->mems, op->ins[0].buffer) ==
               jx_mem_root(&v->p->mems, op->outs[0].buffer) &&
           same_elements(v, &op->ins[0], &op->outs[0]);
}

/* May the output be written where the operand lies?  Where the plan rule has
 * put it there, and where elements are taken one by one. */
static bool may_overwrite(const verifier *v, const jx_op *op, int in, int out)
{
    const jx_operand *a = &op->ins[in], *b = &op->outs[out];

    if (!op->region && !op->copy)
        return a->buffer == b->buffer;
    return same_elements(v, a, b) &&
           (!op->region || jx_region_in_place(op->region, in, out));
}

static pieces touched(const verifier *v, const jx_operand *o)
{
    pieces none = {0, 0};

    return jx_operand_count(o) ? memory_of(v, o->buffer) : none;
}

/* Outputs lie apart from each other, from the scratch, and from the operands
 * that are read after they are written. */
static bool lie_apart(verifier *v, const jx_op *op)
{
    pieces scratch = {0, 0};

    if (op->scratch_buffer >= 0)
        scratch = memory_of(v, op->scratch_buffer);
    for (int k = 0; k < op->nins + op->nouts; k++)
        if (meet(touched(v, &op->ins[k]), scratch))
            return fault(v, "lies in the operation's scratch",
                         op->ins[k].buffer);
    for (int n = 0; n < op->nouts; n++) {
        const jx_operand *out = &op->outs[n];
        for (int k = 0; k < n; k++)
            if (meet(touched(v, out), touched(v, &op->outs[k])) &&
                out->buffer != op->outs[k].buffer)
                return fault(v, "lies where another result does", out->buffer);
        for (int k = 0; k < op->nins; k++)
            if (meet(touched(v, out), touched(v, &op->ins[k])) &&
                !may_overwrite(v, op, k, n))
                return fault(v, "is written while an operand there is read",
                             out->buffer);
    }
    return true;
}

static bool write(verifier *v, const jx_op *op, const jx_operand *o)
{
    jx_mem_kind kind = jx_mem_at(&v->p->mems, o->buffer)->kind;
    bool part = !jx_operand_covers(v->p, o);

    if (kind == JX_MEM_CONST || kind == JX_MEM_IN)
        return fault(v, "is no place to write to", o->buffer);
    /* The other elements must still be there; a kernel that comes second works
     * on what the first one made. */
    if (made_here(v, o->buffer) && (part || !(op->copy || op->region)) &&
        !need(v, o->buffer))
        return false;
    put(v, o->buffer);
    return true;
}

static bool walk_plain(verifier *v, const jx_op *op)
{
    for (int k = 0; k < op->nins; k++)
        if (jx_operand_count(&op->ins[k]) && !need(v, op->ins[k].buffer))
            return false;
    if (stays(v, op)) {
        int from = op->ins[0].buffer;
        make(v, op->outs[0].buffer, later(v->content[from], v->began));
        return true;
    }
    if (!lie_apart(v, op))
        return false;
    if (op->scratch_buffer >= 0)
        put(v, op->scratch_buffer);
    for (int k = 0; k < op->nouts; k++)
        if (!write(v, op, &op->outs[k]))
            return false;
    return true;
}

/* Blocks. */

static bool need_all(verifier *v, const summary *s)
{
    for (size_t i = 0; i < s->needs.count; i++)
        if (!need(v, s->needs.at[i]))
            return false;
    return true;
}

static void change_all(verifier *v, const summary *s)
{
    for (size_t i = 0; i < s->writes.count; i++)
        change(v, s->writes.at[i]);
}

/* It holds a value, whenever it was that it came there. */
static void give(verifier *v, int buffer)
{
    make(v, buffer, later(latest(v, memory_of(v, buffer)), v->began));
}

static summary *block_of(const verifier *v, const jx_op *op, int i)
{
    return &v->summaries[op->first_block + i];
}

/* One of the blocks runs. */
static bool walk_choice(verifier *v, const jx_op *op)
{
    int *times = calloc((size_t)v->p->mems.count + 1, sizeof *times);
    bool ok = times != NULL;

    for (int k = 0; ok && k < op->nins; k++)
        ok = need(v, op->ins[k].buffer);
    for (int b = 0; ok && b < op->nblocks; b++)
        ok = need_all(v, block_of(v, op, b));
    for (int b = 0; ok && b < op->nblocks; b++)
        change_all(v, block_of(v, op, b));
    for (int b = 0; ok && b < op->nblocks; b++) {
        const summary *s = block_of(v, op, b);
        for (size_t i = 0; i < s->gives.count; i++)
            if (++times[s->gives.at[i]] == op->nblocks)
                give(v, s->gives.at[i]);
    }
    free(times);
    return ok;
}

/* Of what an operation writes: the kernel itself does, at each turn (elements
 * to compare, a result). */
static bool is_kernels(const verifier *v, const jx_operand *o)
{
    return is_tracked(v, o->buffer) && !v->computed[o->buffer];
}

static bool is_written_by(const verifier *v, const jx_op *op, int buffer)
{
    int root = jx_mem_root(&v->p->mems, buffer);

    for (int b = 0; b < op->nblocks; b++) {
        const summary *s = block_of(v, op, b);
        for (size_t i = 0; i < s->writes.count; i++)
            if (s->writes.at[i] == root)
                return true;
    }
    return false;
}

static bool walk_turn(verifier *v, const jx_op *op)
{
    for (int k = 0; k < op->nins; k++)
        if (!is_written_by(v, op, op->ins[k].buffer) &&
            !need(v, op->ins[k].buffer))
            return false;
    if (op->scratch_buffer >= 0)
        put(v, op->scratch_buffer);
    for (int k = 0; k < op->nouts; k++)
        if (is_kernels(v, &op->outs[k]))
            put(v, op->outs[k].buffer);
    for (int b = 0; b < op->nblocks; b++) {
        const summary *s = block_of(v, op, b);
        if (!need_all(v, s))
            return false;
        change_all(v, s);
        for (size_t i = 0; i < s->gives.count; i++)
            give(v, s->gives.at[i]);
    }
    /* The kernel looks at all of it between turns. */
    for (int k = 0; k < op->nins + op->nouts; k++)
        if (!need(v, op->ins[k].buffer))
            return false;
    return op->scratch_buffer < 0 || need(v, op->scratch_buffer);
}

/* What the blocks alone make is there only if there was a turn. */
static void forget(verifier *v, const jx_op *op, const bool *kept)
{
    for (int b = 0, at = 0; b < op->nblocks; b++) {
        const summary *s = block_of(v, op, b);
        for (size_t i = 0; i < s->gives.count; i++)
            if (!kept[at++])
                drop(v, s->gives.at[i]);
    }
}

static bool talks_through(const jx_op *op, int buffer)
{
    for (int k = 0; k < op->nins + op->nouts; k++)
        if (op->ins[k].buffer == buffer)
            return true;
    return false;
}

static bool walk_loop(verifier *v, const jx_op *op)
{
    size_t count = 1, at = 0;
    bool *kept;

    for (int b = 0; b < op->nblocks; b++)
        count += block_of(v, op, b)->gives.count;
    if (!(kept = calloc(count, sizeof *kept)))
        return false;
    for (int b = 0; b < op->nblocks; b++) {
        const summary *s = block_of(v, op, b);
        for (size_t i = 0; i < s->gives.count; i++) {
            int buffer = s->gives.at[i];
            kept[at++] =
                talks_through(op, buffer) ||
                (made_here(v, buffer)
                     ? is_there(v, buffer)
                     : jx_mem_at(&v->p->mems, buffer)->home != v->block);
        }
    }
    bool ok = walk_turn(v, op) && walk_turn(v, op);
    if (ok)
        forget(v, op, kept);
    free(kept);
    return ok;
}

static bool walk_op(verifier *v, const jx_op *op)
{
    v->op = op;
    if (!op->nblocks)
        return walk_plain(v, op);
    return op->kernel == jx_run_branch ? walk_choice(v, op) : walk_loop(v, op);
}

static bool walk_block(verifier *v, int block);

static bool walk_inner(verifier *v, const jx_op_list *ops)
{
    for (size_t i = 0; i < ops->count; i++)
        for (int b = 0; b < ops->at[i]->nblocks; b++)
            if (!walk_block(v, ops->at[i]->first_block + b))
                return false;
    return true;
}

static bool walk_block(verifier *v, int block)
{
    summary *s = &v->summaries[block];
    const jx_op_list *ops = &v->p->blocks.at[block].ops;

    if (s->walked)
        return true;
    if (s->entered)
        return fault(v, "is in a block that runs itself", -1);
    s->entered = true;
    if (!walk_inner(v, ops))
        return false;
    v->block = block;
    v->began = ++v->now;
    v->given.count = 0;
    for (size_t i = 0; i < ops->count; i++)
        if (!walk_op(v, ops->at[i]))
            return false;
    for (size_t i = 0; i < v->given.count; i++)
        if (is_there(v, v->given.at[i]))
            JX_PUSH(v->arena, &s->gives, v->given.at[i]);
    s->walked = true;
    return true;
}

/* All operations that the program reaches. */

/* Its operands are those of the operation. */
static bool look_at_region(verifier *v, const jx_op *op)
{
    const jx_region *r = op->region;
    const char *why = jx_region_fault(v->arena, r);

    if (why || r->nins != op->nins || r->nouts != op->nouts)
        return fault(v, why ? why : "is of a region with other operands",
                     op->outs[0].buffer);
    for (int i = 0; i < op->nins; i++)
        if (r->values.at[r->inputs.at[i]].dtype != op->ins[i].dtype ||
            jx_operand_count(&op->ins[i]) != jx_operand_count(&op->outs[0]))
            return fault(v, "is not what its region takes", op->ins[i].buffer);
    for (int i = 0; i < op->nouts; i++)
        if (r->values.at[r->outputs.at[i]].dtype != op->outs[i].dtype)
            return fault(v, "is not what its region makes", op->outs[i].buffer);
    return true;
}

static bool look_at(verifier *v, const jx_op *op)
{
    v->op = op;
    for (int k = 0; k < op->nins + op->nouts; k++) {
        if (!check_bounds(v, &op->ins[k]))
            return false;
        v->used[op->ins[k].buffer] = true;
        if (k >= op->nins && !op->nblocks)
            v->computed[op->ins[k].buffer] = true;
    }
    if (op->scratch_buffer >= 0)
        v->used[op->scratch_buffer] = true;
    return !op->region || look_at_region(v, op);
}

static bool look_at_all(verifier *v)
{
    for (int i = 0; i < v->p->mems.count; i++)
        if (!check_alias(v, (int)i))
            return false;
    for (size_t b = 0; b < v->p->blocks.count; b++) {
        const jx_op_list *ops = &v->p->blocks.at[b].ops;
        v->block = (int)b;
        for (size_t i = 0; !v->p->blocks.at[b].dead && i < ops->count; i++)
            if (!look_at(v, ops->at[i]))
                return false;
    }
    /* Who has an alias has its root. */
    for (int i = 0; i < v->p->mems.count; i++)
        if (v->used[i])
            v->used[jx_mem_root(&v->p->mems, i)] = true;
    return true;
}

static bool has_room(verifier *v)
{
    int n = v->p->mems.count + 1;

    v->used = JX_NEW_ARRAY(v->arena, n, bool);
    v->computed = JX_NEW_ARRAY(v->arena, n, bool);
    v->content = JX_NEW_ARRAY(v->arena, n, int64_t);
    v->needed = JX_NEW_ARRAY(v->arena, n, int);
    v->written = JX_NEW_ARRAY(v->arena, n, int);
    v->made = JX_NEW_ARRAY(v->arena, n, int);
    v->summaries = JX_NEW_ARRAY(v->arena, v->p->blocks.count + 1, summary);
    return !jx_arena_failed(v->arena);
}

static void check_program(verifier *v)
{
    const summary *s = &v->summaries[0];

    if (!walk_block(v, 0))
        return;
    v->op = NULL;
    for (size_t i = 0; i < s->needs.count; i++)
        fault(v, "is read before it has a value", s->needs.at[i]);
    for (int i = 0; i < v->p->mems.count; i++)
        if (jx_mem_at(&v->p->mems, i)->kind == JX_MEM_OUT && v->used[i] &&
            !(made_here(v, i) && is_there(v, i)))
            fault(v, "is a result that is gone at the end", i);
}

const char *jx_plan_fault(const jx_planner *p, bool placed)
{
    verifier v = {.p = p, .placed = placed, .arena = jx_arena_new(0)};
    const char *found;

    if (!v.arena)
        return NULL;
    if (has_room(&v) && look_at_all(&v) && cut(&v))
        check_program(&v);
    /* What could not be noted is no fault. */
    found = jx_arena_failed(v.arena) ? NULL : v.fault;
    jx_arena_free(v.arena);
    return found;
}
