/* window_select.c - select_and_scatter_add and select_and_gather_add: what is
 * behind the gradients of max pooling.
 *
 * A selected element stays while it is >= (or <=) the next one; so a NaN is
 * replaced by whatever follows it, as in XLA. */
#include "frontend/ir/computation.h"
#include "runtime/kernels/pairs.h"
#include "runtime/kernels/shapes.h"
#include "runtime/kernels/window.h"
#include "runtime/plan_impl.h"
#include "runtime/plan_rules.h"

#include <math.h>
#include <string.h>

/* The next position inside of a window, row by row; false past the last. */
static bool next_inside(const jx_window *w, int64_t *pos)
{
    for (int i = w->rank - 1; i >= 0; i--) {
        if (++pos[i] < w->size[i])
            return true;
        pos[i] = 0;
    }
    return false;
}

/* The offset of a position inside of the window at `at`; -1: in the padding. */
static int64_t offset_inside(const jx_window *w, const int64_t *at,
                             const int64_t *pos)
{
    int64_t offset = 0;

    for (int i = 0; i < w->rank; i++) {
        int64_t place = at[i] * w->stride[i] - w->low[i] + pos[i];
        if (place < 0 || place >= w->in[i])
            return -1;
        offset += place * w->step[i];
    }
    return offset;
}

static int64_t positions_inside(const jx_window *w)
{
    int64_t count = 1;

    for (int i = 0; i < w->rank; i++)
        count *= w->size[i];
    return count;
}

/* The offset of the element that a window selects, or -1; `inner` is the
 * position behind the window's axes.  With `limited` an element has to beat
 * infinity first: XLA begins with it.  Without it the padding is elements, too,
 * of the dtype's least (or greatest) value, as JAX lowers it for the CPU. */
typedef int64_t pick_fn(const jx_window *w, const void *operand,
                        const int64_t *at, int64_t inner, bool largest,
                        bool limited);

#define PICK(name, type, LOWEST, HIGHEST)                                      \
    static int64_t name##_padded(const jx_window *w, const void *operand,      \
                                 const int64_t *at, int64_t inner,             \
                                 bool largest)                                 \
    {                                                                          \
        int64_t pos[JX_MAX_RANK] = {0}, chosen = -1;                           \
        const type *x = (const type *)operand + inner;                         \
        type pad = largest ? LOWEST : HIGHEST, best = pad;                     \
        bool any = false;                                                      \
                                                                               \
        do {                                                                   \
            int64_t i = offset_inside(w, at, pos);                             \
            type next = i < 0 ? pad : x[i];                                    \
            bool stays = largest ? best >= next : best <= next;                \
            if (any && stays)                                                  \
                continue;                                                      \
            best = next;                                                       \
            chosen = i;                                                        \
            any = true;                                                        \
        } while (next_inside(w, pos));                                         \
        return chosen < 0 ? -1 : chosen + inner;                               \
    }                                                                          \
    static int64_t name(const jx_window *w, const void *operand,               \
                        const int64_t *at, int64_t inner, bool largest,        \
                        bool limited)                                          \
    {                                                                          \
        int64_t pos[JX_MAX_RANK] = {0}, offset = 0, chosen = -1;               \
        const type *x = (const type *)operand + inner;                         \
        type best = largest ? LOWEST : HIGHEST;                                \
        int last = w->rank - 1;                                                \
        bool any = limited;                                                    \
        jx_reach r;                                                            \
                                                                               \
        jx_window_reach(w, w->rank, at, &r);                                   \
        if (r.count == 0)                                                      \
            return -1;                                                         \
        if (!limited && r.count < positions_inside(w))                         \
            return name##_padded(w, operand, at, inner, largest);              \
        do {                                                                   \
            int64_t n = last < 0 ? 1 : r.counts[last];                         \
            int64_t i = r.start + offset;                                      \
            for (; n > 0; n--, i += last < 0 ? 0 : r.steps[last]) {            \
                bool stays = largest ? best >= x[i] : best <= x[i];            \
                if (any && stays)                                              \
                    continue;                                                  \
                best = x[i];                                                   \
                chosen = i;                                                    \
                any = true;                                                    \
            }                                                                  \
        } while (jx_reach_next(w, &r, pos, &offset));                          \
        return chosen < 0 ? -1 : chosen + inner;                               \
    }

PICK(pick_f32, float, -INFINITY, INFINITY)
PICK(pick_f64, double, -(double)INFINITY, (double)INFINITY)
PICK(pick_i8, int8_t, INT8_MIN, INT8_MAX)
PICK(pick_i16, int16_t, INT16_MIN, INT16_MAX)
PICK(pick_i32, int32_t, INT32_MIN, INT32_MAX)
PICK(pick_i64, int64_t, INT64_MIN, INT64_MAX)
PICK(pick_u8, uint8_t, 0, UINT8_MAX)
PICK(pick_u16, uint16_t, 0, UINT16_MAX)
PICK(pick_u32, uint32_t, 0, UINT32_MAX)
PICK(pick_u64, uint64_t, 0, UINT64_MAX)

static pick_fn *pick_of(jx_dtype dtype)
{
    static pick_fn *const picks[JX_NDTYPES] = {
        [JX_BOOL] = pick_u8, [JX_I8] = pick_i8,   [JX_I16] = pick_i16,
        [JX_I32] = pick_i32, [JX_I64] = pick_i64, [JX_U8] = pick_u8,
        [JX_U16] = pick_u16, [JX_U32] = pick_u32, [JX_U64] = pick_u64,
        [JX_F32] = pick_f32, [JX_F64] = pick_f64,
    };

    return picks[dtype];
}

typedef struct selecting {
    jx_window window;
    pick_fn *pick;
    bool largest;
} selecting;

static void add_to(jx_dtype dtype, char *to, const char *from)
{
#define ADD(type, field)                                                       \
    {                                                                          \
        type a, b;                                                             \
        memcpy(&a, to, sizeof a);                                              \
        memcpy(&b, from, sizeof b);                                            \
        a = (type)(a field b);                                                 \
        memcpy(to, &a, sizeof a);                                              \
    }
    if (dtype == JX_F32)
        ADD(float, +)
    else if (dtype == JX_F64)
        ADD(double, +)
    else if (dtype == JX_F64X2) {
        jx_pair a, b;
        memcpy(&a, to, sizeof a);
        memcpy(&b, from, sizeof b);
        a = jx_pair_add(a, b);
        memcpy(to, &a, sizeof a);
    } else if (dtype == JX_BOOL)
        ADD(uint8_t, |)
    else if (jx_dtype_of(dtype)->bytes == 1)
        ADD(uint8_t, +)
    else if (jx_dtype_of(dtype)->bytes == 2)
        ADD(uint16_t, +)
    else if (jx_dtype_of(dtype)->bytes == 4)
        ADD(uint32_t, +)
    else
        ADD(uint64_t, +)
#undef ADD
}

/* source, operand -> what the operand's elements get */
static bool run_scatter(jx_run *run, const void *data, const jx_view *ins,
                        const jx_view *outs, void *scratch)
{
    const selecting *s = data;
    int64_t at[JX_MAX_RANK] = {0};
    size_t item = jx_dtype_of(outs[0].dtype)->bytes;
    const char *source = ins[0].data;

    (void)run, (void)scratch;
    memset(outs[0].data, 0, (size_t)outs[0].count * item);
    if (ins[0].count == 0)
        return true;
    do
        for (int64_t j = 0; j < s->window.inner; j++, source += item) {
            int64_t i =
                s->pick(&s->window, ins[1].data, at, j, s->largest, false);
            if (i >= 0)
                add_to(outs[0].dtype, outs[0].data + (size_t)i * item, source);
        }
    while (jx_window_next(&s->window, at));
    return true;
}

/* tangents, operand -> the tangents of the selected elements */
static bool run_gather(jx_run *run, const void *data, const jx_view *ins,
                       const jx_view *outs, void *scratch)
{
    const selecting *s = data;
    int64_t at[JX_MAX_RANK] = {0};
    size_t item = jx_dtype_of(outs[0].dtype)->bytes;
    char *out = outs[0].data;

    (void)run, (void)scratch;
    do
        for (int64_t j = 0; j < s->window.inner; j++, out += item) {
            int64_t i =
                s->pick(&s->window, ins[1].data, at, j, s->largest, true);
            if (i < 0)
                memset(out, 0, item);
            else
                memcpy(out, ins[0].data + (size_t)i * item, item);
        }
    while (jx_window_next(&s->window, at));
    return true;
}

static jx_dtype computed(jx_dtype d)
{
    const jx_dtype_info *info = jx_dtype_of(d);

    if (info->kind == JX_KIND_FLOAT && d != JX_F64 && d != JX_F64X2)
        return JX_F32;
    if (info->bits < 8)
        return info->kind == JX_KIND_INT ? JX_I8 : JX_U8;
    return d;
}

/* The dtype in which elements are chosen: of pairs, the first double. */
static jx_dtype choosing_dtype(jx_dtype d)
{
    return d == JX_F64X2 ? JX_F64 : d;
}

static bool plan_select(jx_planner *p, const jx_eqn *eqn,
                        const jx_p_select_window *params, const jx_slot *ins,
                        bool scatter, jx_slot *outs)
{
    jx_slot out = jx_plan_output(p, eqn, 0), all[2];
    jx_dtype dtype = computed(out.dtype);
    selecting s = {.pick = pick_of(choosing_dtype(dtype)),
                   .largest = !strcmp(params->select_prim, "ge")};

    if (!s.pick || (!s.largest && strcmp(params->select_prim, "le") != 0))
        return jx_plan_fail(p, "selecting %s by %s can't be run",
                            jx_dtype_of(out.dtype)->short_name,
                            params->select_prim);
    if (!jx_same_shape(scatter ? &out : &ins[0], &ins[1]))
        return jx_plan_fail(p, "arrays of the operand's shape are expected");
    for (int i = 0; i < 2; i++) {
        all[i] =
            jx_plan_convert(p, &ins[i], i == 0 ? dtype : choosing_dtype(dtype));
        all[i] = jx_plan_dense(p, &all[i]);
    }
    if (!jx_window_plan(p, &all[1], scatter ? &all[0] : &out,
                        &params->window_dimensions, &params->window_strides,
                        &params->padding, &params->base_dilation,
                        &params->window_dilation, &s.window))
        return false;
    jx_slot to =
        dtype == out.dtype ? out : jx_plan_new(p, dtype, out.rank, out.shape);
    if (jx_slot_count(&out) > 0)
        jx_plan_op(p, scatter ? run_scatter : run_gather, &s, sizeof s, 2, all,
                   1, &to, 0);
    outs[0] = jx_plan_convert(p, &to, out.dtype);
    return true;
}

bool jx_plan_select_and_scatter_add(jx_planner *p, const jx_eqn *eqn,
                                    const jx_slot *ins, jx_slot *outs)
{
    return plan_select(p, eqn, eqn->typed, ins, true, outs);
}

bool jx_plan_select_and_gather_add(jx_planner *p, const jx_eqn *eqn,
                                   const jx_slot *ins, jx_slot *outs)
{
    return plan_select(p, eqn, eqn->typed, ins, false, outs);
}

/* ---- any computations ----
 *
 * `select` is asked whether the element chosen so far stays, against the next
 * one; `scatter` combines what an element has received with one more. */

typedef struct choosing {
    jx_window window;
    int select, scatter; /* blocks */
} choosing;

/* Slots: two elements and the answer; what is there, what comes, the result. */
enum { CHOSEN, NEXT, STAYS, HELD, COMES, SUM, CHOOSING_SLOTS };

static bool choose_element(jx_run *run, const choosing *c,
                           const jx_view *operand, const int64_t *at,
                           int64_t inner, const jx_view *slots, int64_t *chosen)
{
    int64_t pos[JX_MAX_RANK] = {0}, offset = 0;
    size_t item = jx_dtype_of(operand->dtype)->bytes;
    int last = c->window.rank - 1;
    jx_reach r;

    *chosen = -1;
    jx_window_reach(&c->window, c->window.rank, at, &r);
    if (r.count == 0)
        return true;
    do {
        int64_t n = last < 0 ? 1 : r.counts[last];
        int64_t i = r.start + offset + inner;
        for (; n > 0; n--, i += last < 0 ? 0 : r.steps[last]) {
            if (*chosen >= 0) {
                memcpy(slots[CHOSEN].data,
                       operand->data + (size_t)*chosen * item, item);
                memcpy(slots[NEXT].data, operand->data + (size_t)i * item,
                       item);
                if (!jx_run_block(run, c->select))
                    return false;
                if (*slots[STAYS].data)
                    continue;
            }
            *chosen = i;
        }
    } while (jx_reach_next(&c->window, &r, pos, &offset));
    return true;
}

/* operand, source, initial value -> what the operand's elements get */
static bool run_choosing(jx_run *run, const void *data, const jx_view *ins,
                         const jx_view *outs, void *scratch)
{
    const choosing *c = data;
    const jx_view *slots = outs + 1;
    int64_t at[JX_MAX_RANK] = {0}, chosen;
    size_t item = jx_dtype_of(outs[0].dtype)->bytes;
    const char *source = ins[1].data;

    (void)scratch;
    for (int64_t i = 0; i < outs[0].count; i++)
        memcpy(outs[0].data + (size_t)i * item, ins[2].data, item);
    if (ins[1].count == 0)
        return true;
    do
        for (int64_t j = 0; j < c->window.inner; j++, source += item) {
            if (!choose_element(run, c, &ins[0], at, j, slots, &chosen))
                return false;
            if (chosen < 0)
                continue;
            char *to = outs[0].data + (size_t)chosen * item;
            memcpy(slots[HELD].data, to, item);
            memcpy(slots[COMES].data, source, item);
            if (!jx_run_block(run, c->scatter))
                return false;
            memcpy(to, slots[SUM].data, item);
        }
    while (jx_window_next(&c->window, at));
    return true;
}

/* A computation in a block that has its number already. */
static bool plan_block(jx_planner *p, int block, const jx_closed *body,
                       const jx_slot *ins, const jx_slot *out)
{
    int outer = p->block;
    jx_slot result;

    p->block = block;
    bool ok = jx_plan_inline(p, body, ins, &result);
    if (ok)
        jx_plan_copy(p, &result, out);
    p->block = outer;
    return ok;
}

static bool plan_choosing(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                          jx_slot *outs)
{
    const jx_p_select_and_scatter *params = eqn->typed;
    jx_slot args[3], all[1 + CHOOSING_SLOTS], *slots = all + 1;
    const jx_ints none = {0, NULL};
    choosing c;

    outs[0] = all[0] = jx_plan_output(p, eqn, 0);
    for (int i = 0; i < 3; i++) {
        args[i] = jx_plan_dense(p, &ins[i]);
        if (ins[i].dtype != outs[0].dtype)
            return jx_plan_fail(p, "operands of one dtype are expected");
    }
    if (!jx_same_shape(&outs[0], &args[0]) || args[2].rank != 0)
        return jx_plan_fail(p, "arrays of the operand's shape are expected");
    if (!jx_window_plan(p, &args[0], &args[1], &params->window_dimensions,
                        &params->window_strides, &params->padding, &none, &none,
                        &c.window))
        return false;
    for (int i = 0; i < CHOOSING_SLOTS; i++)
        slots[i] =
            jx_plan_new(p, i == STAYS ? JX_BOOL : outs[0].dtype, 0, NULL);
    c.select = (int)p->blocks.count;
    c.scatter = c.select + 1;
    for (int i = 0; i < 2; i++) {
        jx_plan_block_begin(p);
        jx_plan_block_end(p);
    }
    if (!plan_block(p, c.select, &params->select, &slots[CHOSEN],
                    &slots[STAYS]) ||
        !plan_block(p, c.scatter, &params->scatter, &slots[HELD], &slots[SUM]))
        return false;
    if (jx_slot_count(&outs[0]) > 0)
        jx_plan_block_op(p, run_choosing, &c, sizeof c, 3, args,
                         1 + CHOOSING_SLOTS, all, 0, c.select, 2);
    return true;
}

/* The largest or smallest element gets the sum: what gradients of pooling are
 * made of. */
static bool plan_known(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                       jx_slot *outs)
{
    const jx_p_select_and_scatter *params = eqn->typed;
    jx_prim_id select = jx_body_operation(params->select.jaxpr, true);
    jx_p_select_window window = {.select_prim =
                                     select == JX_PRIM_ge ? "ge" : "le",
                                 .window_dimensions = params->window_dimensions,
                                 .window_strides = params->window_strides,
                                 .padding = params->padding};
    const jx_slot both[2] = {ins[1], ins[0]};

    return plan_select(p, eqn, &window, both, true, outs);
}

static bool is_zero(const jx_planner *p, const jx_slot *slot)
{
    static const char zeros[16];
    const jx_mem *mem = jx_mem_at(&p->mems, slot->buffer);

    return mem->kind == JX_MEM_CONST && mem->constant &&
           !memcmp((const char *)mem->constant + slot->offset, zeros,
                   jx_dtype_of(slot->dtype)->bytes);
}

bool jx_plan_stablehlo_select_and_scatter(jx_planner *p, const jx_eqn *eqn,
                                          const jx_slot *ins, jx_slot *outs)
{
    const jx_p_select_and_scatter *params = eqn->typed;
    jx_prim_id select = jx_body_operation(params->select.jaxpr, true);

    if (params->select.jaxpr->nins != 2 || params->select.jaxpr->nouts != 1 ||
        params->scatter.jaxpr->nins != 2 || params->scatter.jaxpr->nouts != 1)
        return jx_plan_fail(p, "the computations take other operands");
    if ((select == JX_PRIM_ge || select == JX_PRIM_le) &&
        jx_body_monoid(params->scatter.jaxpr) == JX_PRIM_add &&
        ins[2].rank == 0 && is_zero(p, &ins[2]) &&
        !jx_dtype_is_complex(ins[0].dtype) && ins[0].dtype != JX_BOOL)
        return plan_known(p, eqn, ins, outs);
    return plan_choosing(p, eqn, ins, outs);
}
