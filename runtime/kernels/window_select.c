/* window_select.c - select_and_scatter_add and select_and_gather_add: what is
 * behind the gradients of max pooling.
 *
 * A selected element stays while it is >= (or <=) the next one; so a NaN is
 * replaced by whatever follows it, as in XLA. */
#include "runtime/kernels/window.h"
#include "runtime/kernels/shapes.h"
#include "runtime/rules.h"

#include <math.h>
#include <string.h>

/* The offset of the element that a window selects, or -1; `inner` is the
 * position behind the window's axes.  With `limited` an element has to beat
 * infinity first: XLA begins with it. */
typedef int64_t pick_fn(const jx_window *w, const void *operand,
                        const int64_t *at, int64_t inner, bool largest,
                        bool limited);

#define PICK(name, type, LOWEST, HIGHEST)                                     \
    static int64_t name(const jx_window *w, const void *operand,              \
                        const int64_t *at, int64_t inner, bool largest,       \
                        bool limited)                                         \
    {                                                                         \
        int64_t pos[JX_MAX_RANK] = {0}, offset = 0, chosen = -1;              \
        const type *x = (const type *)operand + inner;                        \
        type best = largest ? LOWEST : HIGHEST;                               \
        int last = w->rank - 1;                                               \
        bool any = limited;                                                   \
        jx_reach r;                                                           \
                                                                              \
        jx_window_reach(w, w->rank, at, &r);                                      \
        if (r.count == 0)                                                     \
            return -1;                                                        \
        do {                                                                  \
            int64_t n = last < 0 ? 1 : r.counts[last];                        \
            int64_t i = r.start + offset;                                     \
            for (; n > 0; n--, i += last < 0 ? 0 : r.steps[last]) {           \
                bool stays = largest ? best >= x[i] : best <= x[i];           \
                if (any && stays)                                             \
                    continue;                                                 \
                best = x[i];                                                  \
                chosen = i;                                                   \
                any = true;                                                   \
            }                                                                 \
        } while (jx_reach_next(w, &r, pos, &offset));                         \
        return chosen < 0 ? -1 : chosen + inner;                              \
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
#define ADD(type, field)                                                      \
    {                                                                         \
        type a, b;                                                            \
        memcpy(&a, to, sizeof a);                                             \
        memcpy(&b, from, sizeof b);                                           \
        a = (type)(a field b);                                                \
        memcpy(to, &a, sizeof a);                                             \
    }
    if (dtype == JX_F32)
        ADD(float, +)
    else if (dtype == JX_F64)
        ADD(double, +)
    else if (dtype == JX_BOOL)
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
            int64_t i = s->pick(&s->window, ins[1].data, at, j, s->largest,
                                false);
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
            int64_t i = s->pick(&s->window, ins[1].data, at, j, s->largest,
                                true);
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

    if (info->kind == JX_KIND_FLOAT && d != JX_F64)
        return JX_F32;
    if (info->bits < 8)
        return info->kind == JX_KIND_INT ? JX_I8 : JX_U8;
    return d;
}

static bool plan_select(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                        bool scatter, jx_slot *outs)
{
    const jx_p_select_window *params = eqn->typed;
    jx_slot out = jx_plan_output(p, eqn, 0), all[2];
    jx_dtype dtype = computed(out.dtype);
    selecting s = {.pick = pick_of(dtype),
                   .largest = !strcmp(params->select_prim, "ge")};

    if (!s.pick || (!s.largest && strcmp(params->select_prim, "le") != 0))
        return jx_plan_fail(p, "selecting %s by %s can't be run",
                            jx_dtype_of(out.dtype)->short_name,
                            params->select_prim);
    if (!jx_same_shape(scatter ? &out : &ins[0], &ins[1]))
        return jx_plan_fail(p, "arrays of the operand's shape are expected");
    for (int i = 0; i < 2; i++) {
        all[i] = jx_plan_convert(p, &ins[i], dtype);
        all[i] = jx_plan_dense(p, &all[i]);
    }
    if (!jx_window_plan(p, &all[1], scatter ? &all[0] : &out,
                        &params->window_dimensions, &params->window_strides,
                        &params->padding, &params->base_dilation,
                        &params->window_dilation, &s.window))
        return false;
    jx_slot to = dtype == out.dtype
                     ? out
                     : jx_plan_new(p, dtype, out.rank, out.shape);
    if (jx_slot_count(&out) > 0)
        jx_plan_op(p, scatter ? run_scatter : run_gather, &s, sizeof s, 2, all,
                   1, &to, 0);
    outs[0] = jx_plan_convert(p, &to, out.dtype);
    return true;
}

bool jx_plan_select_and_scatter_add(jx_planner *p, const jx_eqn *eqn,
                                    const jx_slot *ins, jx_slot *outs)
{
    return plan_select(p, eqn, ins, true, outs);
}

bool jx_plan_select_and_gather_add(jx_planner *p, const jx_eqn *eqn,
                                   const jx_slot *ins, jx_slot *outs)
{
    return plan_select(p, eqn, ins, false, outs);
}
