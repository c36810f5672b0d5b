/* plan_slots.c - sizes, the slots that values lie in, and the operations on
 * them, while a plan is made. */
#include "frontend/base/plain.h"
#include "runtime/elementwise.h"
#include "runtime/kernels/prng.h"
#include "runtime/kernels/shapes.h"
#include "runtime/plan_impl.h"

#include <stdio.h>

/* "prog.py:12:8 (scatter)", of a long path the end; "equation 3 of jaxpr 0
 * (scatter)" where no line is known. */
static void name_place(const jx_planner *p, size_t room, char *to)
{
    enum { MOST_PATH = 80, MOST_NAME = 24 };
    const jx_frame *frame = jx_user_frame(p->eqn->stack);
    const char *path = frame ? frame->file->path : "";
    size_t length = strlen(path);

    if (frame)
        snprintf(to, room, "%s:%d:%d (%.*s)",
                 path + (length > MOST_PATH ? length - MOST_PATH : 0),
                 frame->line, frame->column + 1, MOST_NAME,
                 jx_eqn_name(p->eqn));
    else
        snprintf(to, room, "equation %d of jaxpr %d (%s)",
                 (int)(p->eqn - p->jaxpr->eqns), p->jaxpr->id,
                 jx_eqn_name(p->eqn));
}

static bool fail(jx_planner *p, jx_error_kind kind, const char *text)
{
    char place[160];

    if (p->failed)
        return false;
    p->failed = true;
    if (p->eqn)
        name_place(p, sizeof place, place);
    return jx_fail(p->program->ctx, kind, p->program->path,
                   p->eqn ? place : NULL, "%s", text);
}

bool jx_plan_fail(jx_planner *p, const char *format, ...)
{
    char text[400];
    va_list args;

    va_start(args, format);
    jx_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return fail(p, JX_E_INPUT, text);
}

bool jx_plan_starved(jx_planner *p)
{
    bool told = p->failed; /* why, by a rule within a loop, say */

    p->failed = true;
    return !told && jx_starved(p->program->ctx);
}

bool jx_plan_allows(jx_planner *p, const char *what, int64_t bytes)
{
    size_t limit = jx_budget_left(&p->program->ctx->budget);
    jx_buffer text = jx_ctx_text(p->program->ctx);

    if (p->options->memory && p->options->memory < limit)
        limit = p->options->memory;
    if ((uint64_t)bytes <= limit)
        return true;
    jx_buffer_printf(&text, "gave up: %s takes ", what);
    jx_buffer_amount(&text, (double)bytes);
    jx_buffer_puts(&text, ", and of the limit of memory is left ");
    jx_buffer_amount(&text, (double)limit);
    fail(p, JX_E_LIMIT, jx_buffer_text(&text));
    jx_buffer_free(&text);
    return false;
}

jx_ctx *jx_plan_ctx(const jx_planner *p)
{
    return p->program->ctx;
}

jx_domain jx_plan_domain(const jx_planner *p)
{
    return p->options->domain;
}

jx_dtype jx_plan_dtype(const jx_planner *p, jx_dtype declared)
{
    if (declared == JX_KEY)
        return JX_U32;
    if (p->options->domain == JX_DECLARED)
        return declared;
    if (declared == JX_F64 && p->options->domain == JX_DOUBLED && !p->single)
        return JX_F64X2;
    if (jx_dtype_is_float(declared))
        return JX_F64;
    return jx_dtype_is_complex(declared) ? JX_C128 : declared;
}

static jx_assignment sizes_of(const jx_planner *p)
{
    return (jx_assignment){p->options->nbindings, p->options->bindings};
}

static const char *dim_text(jx_planner *p, const jx_dim *dim)
{
    jx_buffer text = jx_ctx_text(p->program->ctx);

    jx_dim_print(dim, &text);
    const char *kept = jx_arena_take(p->arena, &text);
    return kept ? kept : "";
}

int64_t jx_plan_dim(jx_planner *p, const jx_dim *dim)
{
    jx_assignment sizes = sizes_of(p);
    int64_t value = 0;

    if (!dim) {
        jx_plan_fail(p, "a size is missing");
        return 0;
    }
    if (jx_dim_is_int(dim, &value))
        return value;
    if (!jx_dim_eval(dim, jx_assigned, &sizes, &value)) {
        jx_plan_fail(p,
                     "the size %s has no value: give its variables sizes that "
                     "it can be computed from (--set b=3)",
                     dim_text(p, dim));
        return 0;
    }
    return value;
}

static int key_words(const char *impl)
{
    int words = jx_prng_words(jx_prng_named(impl));

    return words ? words : 4;
}

/* The number of elements, were no axis empty, stays below 2^58. */
static bool elements_fit(int rank, const int64_t *shape)
{
    int64_t count = 1;

    for (int i = 0; i < rank; i++)
        if (shape[i] && (__builtin_mul_overflow(count, shape[i], &count) ||
                         count >= (int64_t)1 << 58))
            return false;
    return true;
}

void jx_plan_shape(jx_planner *p, const jx_aval *aval, int *rank,
                   int64_t *shape)
{
    *rank = 0;
    if (aval->kind != JX_AVAL_ARRAY) {
        if (aval->kind != JX_AVAL_TOKEN)
            jx_plan_fail(p, "values that are not arrays can't be run");
        return;
    }
    if (aval->rank >= JX_MAX_RANK) {
        jx_plan_fail(p, "rank %d is above %d", aval->rank, JX_MAX_RANK - 1);
        return;
    }
    for (int i = 0; i < aval->rank; i++) {
        shape[i] = jx_plan_dim(p, aval->shape[i]);
        if (shape[i] < 0) {
            jx_plan_fail(p, "axis %d has the size %s = %lld here", i,
                         dim_text(p, aval->shape[i]), (long long)shape[i]);
            shape[i] = 0;
        }
    }
    *rank = aval->rank;
    if (aval->dtype == JX_KEY)
        shape[(*rank)++] = key_words(aval->impl);
    if (!elements_fit(*rank, shape)) {
        jx_plan_fail(p, "an array would have more elements than there are "
                        "bytes");
        memset(shape, 0, (size_t)*rank * sizeof *shape);
    }
}

/* Row-major strides; false when the size in bytes leaves 62 bits. */
static bool dense_strides(jx_slot *s, int64_t *bytes)
{
    int64_t step = (int64_t)jx_dtype_of(s->dtype)->bytes;
    bool ok = true, empty = false;

    for (int i = s->rank - 1; i >= 0; i--) {
        s->strides[i] = step;
        empty |= s->shape[i] == 0;
        if (s->shape[i] && (__builtin_mul_overflow(step, s->shape[i], &step) ||
                            step >= (int64_t)1 << 62))
            ok = false, step = 1;
    }
    *bytes = empty ? 0 : step;
    return ok;
}

int jx_mem_add(jx_planner *p, const jx_mem *mem)
{
    jx_mems *mems = &p->mems;

    size_t piece = (size_t)mems->count / JX_MEMS_PIECE;

    if (piece == mems->pieces.count) {
        jx_mem *more = JX_NEW_ARRAY(p->arena, JX_MEMS_PIECE, jx_mem);
        if (more)
            JX_PUSH(p->arena, &mems->pieces, more);
        if (piece == mems->pieces.count)
            return 0;
    }
    *jx_mem_at(mems, mems->count) = *mem;
    return mems->count++;
}

static int new_mem(jx_planner *p, jx_mem_kind kind, int64_t bytes)
{
    jx_mem mem = {.kind = kind,
                  .bytes = bytes,
                  .port = -1,
                  .home = p->block,
                  .alias = -1};

    return jx_mem_add(p, &mem);
}

jx_slot jx_plan_slot_in(jx_planner *p, jx_mem_kind kind, jx_dtype stored,
                        int rank, const int64_t *shape)
{
    jx_slot slot = {.dtype = stored, .rank = rank};
    int64_t bytes;

    if (rank)
        memcpy(slot.shape, shape, (size_t)rank * sizeof *shape);
    if (!dense_strides(&slot, &bytes)) {
        jx_plan_fail(p, "an array would take more bytes than there are");
        memset(slot.shape, 0, sizeof slot.shape);
        bytes = 0;
    }
    if (kind == JX_MEM_TEMP || kind == JX_MEM_OUT)
        jx_plan_allows(p, "one array", bytes);
    slot.buffer = new_mem(p, kind, bytes);
    return slot;
}

jx_slot jx_plan_new(jx_planner *p, jx_dtype stored, int rank,
                    const int64_t *shape)
{
    return jx_plan_slot_in(p, JX_MEM_TEMP, stored, rank, shape);
}

jx_slot jx_plan_slot(jx_planner *p, const jx_aval *aval, jx_mem_kind kind)
{
    int64_t shape[JX_MAX_RANK];
    int rank;
    jx_dtype dtype =
        aval->kind == JX_AVAL_TOKEN ? JX_BOOL : jx_plan_dtype(p, aval->dtype);

    jx_plan_shape(p, aval, &rank, shape);
    return jx_plan_slot_in(p, kind, dtype, rank, shape);
}

jx_slot jx_plan_output(jx_planner *p, const jx_eqn *eqn, int i)
{
    return jx_plan_slot(p, eqn->outs[i]->aval, JX_MEM_TEMP);
}

int64_t jx_slot_count(const jx_slot *slot)
{
    int64_t n = 1;

    for (int i = 0; i < slot->rank; i++)
        n *= slot->shape[i];
    return n;
}

bool jx_slot_is_dense(const jx_slot *slot)
{
    int64_t step = (int64_t)jx_dtype_of(slot->dtype)->bytes;

    if (jx_slot_count(slot) == 0)
        return true;
    for (int i = slot->rank - 1; i >= 0; i--) {
        if (slot->shape[i] != 1 && slot->strides[i] != step)
            return false;
        step *= slot->shape[i];
    }
    return true;
}

jx_slot jx_plan_dense(jx_planner *p, const jx_slot *slot)
{
    if (jx_slot_is_dense(slot)) {
        jx_slot same = *slot;
        int64_t bytes;
        dense_strides(&same, &bytes);
        return same;
    }
    jx_slot copy = jx_plan_new(p, slot->dtype, slot->rank, slot->shape);
    jx_plan_copy(p, slot, &copy);
    return copy;
}

/* Strides of the new shape over the same memory: the old axes of size other
 * than 1 are grouped into runs that are contiguous among themselves, and each
 * run must be cut by the new shape on its own. */
static bool view_strides(const jx_slot *s, jx_slot *to)
{
    int i = 0, k = 0;

    while (i < s->rank || k < to->rank) {
        int64_t have = i < s->rank ? s->shape[i] : 1;
        int64_t want = k < to->rank ? to->shape[k] : 1;
        int i0 = i++, k0 = k++;

        while (have != want)
            if (have < want && i < s->rank)
                have *= s->shape[i++];
            else if (want < have && k < to->rank)
                want *= to->shape[k++];
            else
                return false;
        int64_t step = 0, next = 0;
        bool first = true;
        for (int a = i - 1; a >= i0; a--) {
            if (a >= s->rank || s->shape[a] == 1)
                continue;
            if (!first && s->strides[a] != next)
                return false;
            if (first)
                step = s->strides[a];
            first = false;
            next = s->strides[a] * s->shape[a];
        }
        for (int a = k - 1; a >= k0; a--)
            if (a < to->rank) {
                to->strides[a] = step;
                step *= to->shape[a];
            }
    }
    return true;
}

jx_slot jx_plan_reshaped(jx_planner *p, const jx_slot *slot, int rank,
                         const int64_t *shape)
{
    jx_slot to = {.dtype = slot->dtype,
                  .rank = rank,
                  .buffer = slot->buffer,
                  .offset = slot->offset};
    int64_t bytes;

    memcpy(to.shape, shape, (size_t)rank * sizeof *shape);
    if (jx_slot_count(&to) != jx_slot_count(slot)) {
        jx_plan_fail(p, "a reshape changes the number of elements");
        return *slot;
    }
    if (jx_slot_is_dense(slot)) {
        dense_strides(&to, &bytes);
        return to;
    }
    if (view_strides(slot, &to))
        return to;
    jx_slot copy = jx_plan_dense(p, slot);
    to.buffer = copy.buffer;
    to.offset = copy.offset;
    dense_strides(&to, &bytes);
    return to;
}

bool jx_plan_affords(jx_planner *p, int64_t count, size_t size)
{
    int64_t bytes;

    if (__builtin_mul_overflow(count, (int64_t)size, &bytes))
        return jx_plan_fail(p, "what is made while planning would take more "
                               "bytes than there are");
    return jx_plan_allows(p, "what is made while planning", bytes);
}

jx_slot jx_plan_constant(jx_planner *p, jx_dtype stored, int rank,
                         const int64_t *shape, const void *elements)
{
    jx_slot slot = jx_plan_slot_in(p, JX_MEM_CONST, stored, rank, shape);

    if (p->mems.count)
        jx_mem_at(&p->mems, slot.buffer)->constant =
            jx_arena_copy(p->arena, elements,
                          (size_t)jx_mem_at(&p->mems, slot.buffer)->bytes);
    return slot;
}

static unsigned hash_of(int rank, const int64_t *shape, const int64_t *strides)
{
    uint64_t hash = (uint64_t)rank;

    for (int i = 0; i < rank; i++)
        hash = (hash * 31 + (uint64_t)shape[i]) * 31 + (uint64_t)strides[i];
    return (unsigned)(hash * UINT64_C(0x9e3779b97f4a7c15) >> 58);
}

void jx_operand_lay(jx_planner *p, int rank, const int64_t *shape,
                    const int64_t *strides, jx_operand *to)
{
    size_t bytes = (size_t)rank * sizeof *shape;
    jx_layout *known = &p->layouts[hash_of(rank, shape, strides)];
    const int64_t *both = known->rank == rank ? known->both : NULL;

    if (!both || memcmp(both, shape, bytes) ||
        memcmp(both + rank, strides, bytes)) {
        int64_t *made = jx_arena_alloc(p->arena, 2 * bytes);
        if (made) {
            memcpy(made, shape, bytes);
            memcpy(made + rank, strides, bytes);
        }
        both = made;
        *known = (jx_layout){rank, made};
    }
    to->rank = rank;
    to->shape = both;
    to->strides = both ? both + rank : NULL;
}

void jx_plan_operand(jx_planner *p, const jx_slot *slot, jx_operand *to)
{
    *to = (jx_operand){
        .dtype = slot->dtype, .buffer = slot->buffer, .offset = slot->offset};
    jx_operand_lay(p, slot->rank, slot->shape, slot->strides, to);
}

void jx_operand_slot(const jx_operand *operand, jx_slot *to)
{
    size_t bytes = (size_t)operand->rank * sizeof(int64_t);

    to->dtype = operand->dtype;
    to->rank = operand->rank;
    to->buffer = operand->buffer;
    to->offset = operand->offset;
    if (operand->rank) {
        memcpy(to->shape, operand->shape, bytes);
        memcpy(to->strides, operand->strides, bytes);
    }
}

static jx_op *add_op(jx_planner *p, int nins, const jx_slot *ins, int nouts,
                     const jx_slot *outs)
{
    jx_op *op = JX_NEW(p->scratch, jx_op);
    jx_operand *all = JX_NEW_ARRAY(p->scratch, nins + nouts, jx_operand);

    if (!op || !all || p->failed)
        return NULL;
    for (int i = 0; i < nins; i++)
        jx_plan_operand(p, &ins[i], &all[i]);
    for (int i = 0; i < nouts; i++)
        jx_plan_operand(p, &outs[i], &all[nins + i]);
    op->ins = all;
    op->outs = all + nins;
    op->nins = nins;
    op->nouts = nouts;
    op->name = p->eqn ? jx_eqn_name(p->eqn) : "copy";
    op->block = p->block;
    op->scratch_buffer = -1;
    JX_PUSH(p->scratch, &p->blocks.at[p->block].ops, op);
    return op;
}

void jx_plan_block_op(jx_planner *p, jx_kernel *kernel, const void *data,
                      size_t data_size, int nins, const jx_slot *ins, int nouts,
                      const jx_slot *outs, size_t scratch, int first_block,
                      int nblocks)
{
    jx_op *op = add_op(p, nins, ins, nouts, outs);

    if (!op)
        return;
    op->kernel = kernel;
    op->data = data_size ? jx_arena_copy(p->arena, data, data_size) : NULL;
    op->scratch = scratch;
    if (scratch)
        op->scratch_buffer = new_mem(p, JX_MEM_TEMP, (int64_t)scratch);
    op->first_block = first_block;
    op->nblocks = nblocks;
}

void jx_plan_acts(jx_planner *p)
{
    const jx_op_list *ops = &p->blocks.at[p->block].ops;

    if (!p->failed && ops->count)
        ops->at[ops->count - 1]->acts = true;
}

const char *jx_plan_user_place(jx_planner *p)
{
    const jx_frame *frame = p->eqn ? jx_user_frame(p->eqn->stack) : NULL;

    return frame ? jx_arena_printf(p->arena, "%s:%d:%d", frame->file->path,
                                   frame->line, frame->column + 1)
                 : "";
}

void jx_plan_unit_op(jx_planner *p, int unit, jx_kernel *kernel,
                     const void *data, size_t data_size, int nins,
                     const jx_slot *ins, int nouts, const jx_slot *outs)
{
    jx_op *op = add_op(p, nins, ins, nouts, outs);

    if (!op)
        return;
    op->kernel = kernel;
    op->data = jx_arena_copy(p->arena, data, data_size);
    op->unit = unit;
}

void jx_plan_op(jx_planner *p, jx_kernel *kernel, const void *data,
                size_t data_size, int nins, const jx_slot *ins, int nouts,
                const jx_slot *outs, size_t scratch)
{
    jx_plan_block_op(p, kernel, data, data_size, nins, ins, nouts, outs,
                     scratch, 0, 0);
}

void jx_plan_region(jx_planner *p, jx_region *region, int nins,
                    const jx_slot *ins, const jx_slot *out)
{
    jx_op *op = add_op(p, nins, ins, 1, out);

    if (op) {
        op->kernel = jx_run_region;
        op->region = region;
    }
}

bool jx_plan_same(jx_planner *p, const jx_slot *a, const jx_slot *b)
{
    if (a->dtype != b->dtype)
        return jx_plan_fail(p, "%s meets %s", jx_dtype_of(a->dtype)->short_name,
                            jx_dtype_of(b->dtype)->short_name);
    return jx_same_shape(a, b) || jx_plan_fail(p, "the shapes do not agree");
}

bool jx_plan_pass(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                  jx_slot *outs)
{
    if (eqn->nins != eqn->nouts)
        return jx_plan_fail(p, "as many results as operands are expected");
    for (int i = 0; i < eqn->nouts; i++) {
        jx_slot out = jx_plan_output(p, eqn, i);
        if (!jx_plan_same(p, &ins[i], &out))
            return false;
        outs[i] = ins[i];
    }
    return true;
}

void jx_plan_copy(jx_planner *p, const jx_slot *from, const jx_slot *into)
{
    jx_op *op;

    if (!jx_plan_same(p, from, into))
        return;
    if (from->buffer == into->buffer && from->offset == into->offset &&
        from->rank == into->rank &&
        !memcmp(from->strides, into->strides,
                (size_t)from->rank * sizeof(int64_t)))
        return;
    op = add_op(p, 1, from, 1, into);
    if (op) {
        op->kernel = jx_run_copy;
        op->copy = true;
    }
}

jx_slot jx_plan_convert(jx_planner *p, const jx_slot *slot, jx_dtype stored)
{
    if (slot->dtype == stored)
        return *slot;
    jx_slot to = jx_plan_new(p, stored, slot->rank, slot->shape);
    jx_region *r = jx_region_new(p->scratch);
    if (!r)
        return to;
    int value = jx_region_input(p->scratch, r, slot->dtype);
    value = jx_region_convert(p->scratch, r, value, stored);
    if (value < 0) {
        jx_plan_fail(p, "%s can't be converted to %s",
                     jx_dtype_of(slot->dtype)->short_name,
                     jx_dtype_of(stored)->short_name);
        return to;
    }
    jx_region_output(p->scratch, r, value);
    jx_plan_region(p, r, 1, slot, &to);
    return to;
}

static bool is_same_window(const jx_slot *a, const jx_slot *b)
{
    size_t bytes = (size_t)a->rank * sizeof(int64_t);

    return a->buffer == b->buffer && a->offset == b->offset &&
           a->dtype == b->dtype && a->rank == b->rank &&
           !memcmp(a->shape, b->shape, bytes) &&
           !memcmp(a->strides, b->strides, bytes);
}

jx_slot jx_plan_converted(jx_planner *p, const jx_slot *slot, jx_dtype stored)
{
    enum { MOST_ELEMENTS = 1 << 17, MOST_KEPT = 64 };
    jx_mem_kind kind = slot->buffer < 0
                           ? JX_MEM_TEMP
                           : jx_mem_at(&p->mems, slot->buffer)->kind;
    jx_converted made = {.block = p->block, .from = *slot};

    if (slot->dtype == stored || (kind != JX_MEM_IN && kind != JX_MEM_CONST) ||
        jx_slot_count(slot) > MOST_ELEMENTS)
        return jx_plan_convert(p, slot, stored);
    for (size_t i = 0; i < p->converted.count; i++)
        if (p->converted.at[i].block == p->block &&
            p->converted.at[i].to.dtype == stored &&
            is_same_window(&p->converted.at[i].from, slot))
            return p->converted.at[i].to;
    made.to = jx_plan_convert(p, slot, stored);
    if (p->converted.count < MOST_KEPT)
        JX_PUSH(p->scratch, &p->converted, made);
    return made.to;
}

jx_slot jx_plan_moving(jx_planner *p, const jx_slot *whole)
{
    jx_slot slot = {.dtype = whole->dtype, .rank = whole->rank - 1};
    size_t bytes = (size_t)slot.rank * sizeof(int64_t);
    int64_t low = 0, high = (int64_t)jx_dtype_of(slot.dtype)->bytes;

    memcpy(slot.shape, whole->shape + 1, bytes);
    memcpy(slot.strides, whole->strides + 1, bytes);
    for (int i = 0; i < slot.rank; i++)
        *(slot.strides[i] < 0 ? &low : &high) +=
            (slot.shape[i] - 1) * slot.strides[i];
    if (jx_slot_count(&slot) == 0)
        low = high = 0;
    slot.buffer = new_mem(p, JX_MEM_MOVING, high);
    if (slot.buffer >= 0)
        jx_mem_at(&p->mems, slot.buffer)->below = -low;
    return slot;
}

/* Constants. */

/* Elements in the plan's domain: `count` of them, converted if need be. */
static const void *stored_elements(jx_planner *p, jx_dtype declared,
                                   jx_dtype stored, const void *data,
                                   int64_t count)
{
    if (declared == stored || (declared == JX_KEY && stored == JX_U32))
        return data;
    void *to =
        jx_arena_array(p->arena, (size_t)count, jx_dtype_of(stored)->bytes);
    if (to) {
        jx_convert(declared, stored, data, to, count);
        jx_shake_constants(&p->options->shake, declared, stored, to, count);
    }
    return to;
}

bool jx_plan_rounded_literal(jx_planner *p, const jx_slot *slot, jx_dtype to,
                             jx_slot *out)
{
    const jx_mem *mem =
        slot->buffer < 0 ? NULL : jx_mem_at(&p->mems, slot->buffer);
    unsigned char narrow[16] = {0}, bits[16] = {0};

    if (!mem || !mem->is_literal || !mem->constant || slot->dtype != JX_F64)
        return false;
    jx_convert(JX_F64, to, mem->constant, narrow, 1);
    jx_convert(to, JX_F64, narrow, bits, 1);
    jx_shake_constants(&p->options->shake, to, JX_F64, bits, 1);
    *out = *slot;
    out->buffer = jx_plan_constant(p, JX_F64, 0, NULL, bits).buffer;
    return true;
}

void jx_plan_array_slot(jx_planner *p, const jx_array *array, jx_slot *slot)
{
    const jx_aval *aval = array->aval;
    int64_t words = aval->dtype == JX_KEY ? key_words(aval->impl) : 1;
    int64_t bytes;

    *slot = jx_plan_slot(p, aval, JX_MEM_CONST);
    if (p->failed)
        return;
    int64_t count = array->splat ? words : jx_slot_count(slot);
    if (count && !array->data) {
        jx_plan_fail(
            p, "the values of a constant are not in the program: the text of a "
               "jaxpr has its type alone");
        return;
    }
    if ((uint64_t)count * jx_dtype_of(aval->dtype)->bytes > array->bytes) {
        jx_plan_fail(p, "a constant has fewer bytes than its shape says");
        return;
    }
    jx_mem_at(&p->mems, slot->buffer)->constant =
        stored_elements(p, aval->dtype, slot->dtype, array->data, count);
    dense_strides(slot, &bytes);
    if (array->splat)
        for (int i = 0; i < aval->rank; i++)
            slot->strides[i] = 0;
}

/* Size arithmetic as the program does it: in its own integers, which wrap. */
static int64_t dim_value(jx_planner *p, const jx_dim *dim)
{
    jx_assignment sizes = sizes_of(p);
    int64_t value;

    if (jx_dim_eval_wrapped(dim, p->program->x64 ? 64 : 32, jx_assigned, &sizes,
                            &value))
        return value;
    jx_plan_fail(p, "the size %s has no value here", dim_text(p, dim));
    return 0;
}

jx_slot jx_plan_dim_slot(jx_planner *p, const jx_dim *dim, jx_dtype declared)
{
    int64_t value = dim_value(p, dim);
    jx_dtype stored = jx_plan_dtype(p, declared);
    unsigned char bits[16] = {0};

    jx_convert(JX_I64, stored, &value, bits, 1);
    return jx_plan_constant(p, stored, 0, NULL, bits);
}

void jx_plan_literal_slot(jx_planner *p, const jx_literal *literal,
                          jx_slot *slot)
{
    const jx_aval *aval = literal->aval;

    if (literal->array) {
        jx_plan_array_slot(p, literal->array, slot);
    } else if (literal->dim) {
        *slot = jx_plan_dim_slot(p, literal->dim, aval->dtype);
    } else {
        *slot = jx_plan_slot(p, aval, JX_MEM_CONST);
        const void *bits =
            stored_elements(p, aval->dtype, slot->dtype, literal->bits, 1);
        if (bits)
            jx_mem_at(&p->mems, slot->buffer)->constant =
                jx_arena_copy(p->arena, bits, 16);
        if (slot->buffer >= 0)
            jx_mem_at(&p->mems, slot->buffer)->is_literal = true;
        for (int i = 0; i < slot->rank; i++)
            slot->strides[i] = 0;
    }
}
