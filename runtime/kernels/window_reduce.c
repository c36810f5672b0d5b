/* window_reduce.c - reduce_window with a known operation or any other. */
#include "frontend/ir/computation.h"
#include "runtime/kernels/monoid.h"
#include "runtime/kernels/pairs.h"
#include "runtime/kernels/shapes.h"
#include "runtime/kernels/vector.h"
#include "runtime/kernels/window.h"
#include "runtime/plan_rules.h"
#include "runtime/run.h"

#include <stdlib.h>
#include <string.h>

/* ---- known operations ----
 *
 * `start` fills the accumulators (from one element, or with the neutral one),
 * `fold` takes in n rows of `width` elements, `across` one element for each
 * accumulator, `step` apart; `put` stores. */
typedef struct fold_fns {
    void (*start)(void *acc, const void *from, int64_t width);
    void (*fold)(void *acc, const void *in, int64_t n, int64_t step,
                 int64_t width);
    void (*across)(void *acc, const void *in, int64_t step, int64_t width);
    void (*put)(const void *acc, void *out, int64_t width);
    size_t wide; /* bytes of an accumulator */
} fold_fns;

#define FOLD_AS(ATTRIBUTE, name, type, wide, START, STEP)                      \
    static void name##_start(void *acc, const void *from, int64_t width)       \
    {                                                                          \
        wide first = from ? (wide) * (const type *)from : (wide)(START);       \
        for (int64_t j = 0; j < width; j++)                                    \
            ((wide *)acc)[j] = first;                                          \
    }                                                                          \
    ATTRIBUTE                                                                  \
    static void name##_fold(void *to, const void *from, int64_t n,             \
                            int64_t step, int64_t width)                       \
    {                                                                          \
        wide *acc = to;                                                        \
        const type *in = from;                                                 \
        if (width == 1) {                                                      \
            wide a = *acc;                                                     \
            for (int64_t i = 0; i < n; i++)                                    \
                a = (wide)STEP(a, in[i * step]);                               \
            *acc = a;                                                          \
            return;                                                            \
        }                                                                      \
        for (int64_t i = 0; i < n; i++, in += step) {                          \
            JX_NO_ALIAS for (int64_t j = 0; j < width; j++) acc[j] =           \
                (wide)STEP(acc[j], in[j]);                                     \
        }                                                                      \
    }                                                                          \
    ATTRIBUTE                                                                  \
    static void name##_across(void *to, const void *from, int64_t step,        \
                              int64_t width)                                   \
    {                                                                          \
        wide *acc = to;                                                        \
        const type *in = from;                                                 \
        if (step == 2) {                                                       \
            JX_NO_ALIAS for (int64_t j = 0; j < width; j++) acc[j] =           \
                (wide)STEP(acc[j], in[2 * j]);                                 \
            return;                                                            \
        }                                                                      \
        JX_NO_ALIAS for (int64_t j = 0; j < width; j++) acc[j] =               \
            (wide)STEP(acc[j], in[j * step]);                                  \
    }                                                                          \
    static void name##_put(const void *acc, void *out, int64_t width)          \
    {                                                                          \
        for (int64_t j = 0; j < width; j++)                                    \
            ((type *)out)[j] = (type)((const wide *)acc)[j];                   \
    }                                                                          \
    static const fold_fns name = {name##_start, name##_fold, name##_across,    \
                                  name##_put, sizeof(wide)};

#define FOLD(name, type, wide, START, STEP)                                    \
    FOLD_AS(, name, type, wide, START, STEP)
/* Those that networks spend their time in. */
#define FOLD_FAST(name, type, wide, START, STEP)                               \
    FOLD_AS(JX_VECTOR_CLONES, name, type, wide, START, STEP)

#define AND(a, x) ((a) & (x))
#define OR(a, x) ((a) | (x))
#define XOR(a, x) ((a) ^ (x))
#define INF ((double)INFINITY)

/* jx_max_float and jx_min_float without branches.  Equal values have equal
 * bits but for the sign of zero, which "and" and "or" settle; of subnormal
 * numbers that count as zeros the sign is all that is kept. */
#define CHOOSE(name, type, bits_type, BETTER, SETTLE)                          \
    static inline __attribute__((always_inline)) type name(type a, type x)     \
    {                                                                          \
        bits_type u, v;                                                        \
        type both, best = x BETTER a ? x : a;                                  \
        memcpy(&u, &a, sizeof u);                                              \
        memcpy(&v, &x, sizeof v);                                              \
        u = (u SETTLE v) &                                                     \
            (a == 0 ? (bits_type)1 << (8 * sizeof u - 1) : (bits_type)-1);     \
        memcpy(&both, &u, sizeof u);                                           \
        best = a == x ? both : best;                                           \
        return x != x ? x : best;                                              \
    }

CHOOSE(max32, float, uint32_t, >, &)
CHOOSE(min32, float, uint32_t, <, |)
CHOOSE(max64, double, uint64_t, >, &)
CHOOSE(min64, double, uint64_t, <, |)

/* The nearest bf16, ties to even; a NaN stays one. */
static inline float as_bf16(float x)
{
    uint32_t bits;

    if (x != x)
        return x;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline float add_bf16(float a, float x)
{
    return as_bf16(a + x);
}

static inline float mul_bf16(float a, float x)
{
    return as_bf16(a * x);
}

FOLD_FAST(sum_f32, float, double, 0, JX_ADD)
FOLD_FAST(sum_f64, double, double, 0, JX_ADD)
FOLD(sum_c64, float complex, double complex, 0, JX_ADD)
FOLD(sum_c128, double complex, double complex, 0, JX_ADD)
FOLD(sum_8, uint8_t, uint8_t, 0, JX_ADD)
FOLD(sum_16, uint16_t, uint16_t, 0, JX_ADD)
FOLD(sum_32, uint32_t, uint32_t, 0, JX_ADD)
FOLD(sum_64, uint64_t, uint64_t, 0, JX_ADD)
FOLD(prod_f32, float, double, 1, JX_MUL)
FOLD(prod_f64, double, double, 1, JX_MUL)
FOLD(prod_c64, float complex, double complex, 1, jx_times)
FOLD(prod_c128, double complex, double complex, 1, jx_times)
FOLD(prod_8, uint8_t, uint8_t, 1, JX_MUL)
FOLD(prod_16, uint16_t, uint32_t, 1, JX_MUL)
FOLD(prod_32, uint32_t, uint32_t, 1, JX_MUL)
FOLD(prod_64, uint64_t, uint64_t, 1, JX_MUL)
/* As a body says it: rounded at every step. */
FOLD_FAST(steps_sum_f32, float, float, 0, JX_ADD)
FOLD(steps_sum_c64, float complex, float complex, 0, JX_ADD)
FOLD(steps_prod_f32, float, float, 1, JX_MUL)
FOLD(steps_sum_bf16, float, float, 0, add_bf16)
FOLD(steps_prod_bf16, float, float, 1, mul_bf16)
FOLD_FAST(max_f32, float, float, -INF, max32)
FOLD_FAST(max_f64, double, double, -INF, max64)
FOLD(max_c64, float complex, float complex, CMPLXF(-INFINITY, -INFINITY),
     jx_max_complex)
FOLD(max_c128, double complex, double complex, CMPLX(-INF, -INF),
     jx_max_complex)
FOLD(max_i8, int8_t, int8_t, INT8_MIN, JX_GREATER)
FOLD(max_i16, int16_t, int16_t, INT16_MIN, JX_GREATER)
FOLD(max_i32, int32_t, int32_t, INT32_MIN, JX_GREATER)
FOLD(max_i64, int64_t, int64_t, INT64_MIN, JX_GREATER)
FOLD(max_u8, uint8_t, uint8_t, 0, JX_GREATER)
FOLD(max_u16, uint16_t, uint16_t, 0, JX_GREATER)
FOLD(max_u32, uint32_t, uint32_t, 0, JX_GREATER)
FOLD(max_u64, uint64_t, uint64_t, 0, JX_GREATER)
FOLD_FAST(min_f32, float, float, INF, min32)
FOLD_FAST(min_f64, double, double, INF, min64)
FOLD(min_c64, float complex, float complex, CMPLXF(INFINITY, INFINITY),
     jx_min_complex)
FOLD(min_c128, double complex, double complex, CMPLX(INF, INF), jx_min_complex)
FOLD(min_i8, int8_t, int8_t, INT8_MAX, JX_LESS)
FOLD(min_i16, int16_t, int16_t, INT16_MAX, JX_LESS)
FOLD(min_i32, int32_t, int32_t, INT32_MAX, JX_LESS)
FOLD(min_i64, int64_t, int64_t, INT64_MAX, JX_LESS)
FOLD(min_u8, uint8_t, uint8_t, UINT8_MAX, JX_LESS)
FOLD(min_u16, uint16_t, uint16_t, UINT16_MAX, JX_LESS)
FOLD(min_u32, uint32_t, uint32_t, UINT32_MAX, JX_LESS)
FOLD(min_u64, uint64_t, uint64_t, UINT64_MAX, JX_LESS)
/* Pairs of doubles, in the clothes of complex numbers. */
FOLD(sum_f64x2, double complex, double complex, 0, JX_PAIR_ADD)
FOLD(prod_f64x2, double complex, double complex, 1, JX_PAIR_MUL)
FOLD(max_f64x2, double complex, double complex, CMPLX(-INF, 0), JX_PAIR_MAX)
FOLD(min_f64x2, double complex, double complex, CMPLX(INF, 0), JX_PAIR_MIN)
FOLD(and_8, uint8_t, uint8_t, UINT8_MAX, AND)
FOLD(and_16, uint16_t, uint16_t, UINT16_MAX, AND)
FOLD(and_32, uint32_t, uint32_t, UINT32_MAX, AND)
FOLD(and_64, uint64_t, uint64_t, UINT64_MAX, AND)
FOLD(or_8, uint8_t, uint8_t, 0, OR)
FOLD(or_16, uint16_t, uint16_t, 0, OR)
FOLD(or_32, uint32_t, uint32_t, 0, OR)
FOLD(or_64, uint64_t, uint64_t, 0, OR)
FOLD(xor_8, uint8_t, uint8_t, 0, XOR)
FOLD(xor_16, uint16_t, uint16_t, 0, XOR)
FOLD(xor_32, uint32_t, uint32_t, 0, XOR)
FOLD(xor_64, uint64_t, uint64_t, 0, XOR)

/* The tables hold addresses. */
#define WRAPS(f)                                                               \
    [JX_I8] = &f##_8, [JX_U8] = &f##_8, [JX_I16] = &f##_16,                    \
    [JX_U16] = &f##_16, [JX_I32] = &f##_32, [JX_U32] = &f##_32,                \
    [JX_I64] = &f##_64, [JX_U64] = &f##_64
#define COMPARES(f)                                                            \
    [JX_I8] = &f##_i8, [JX_U8] = &f##_u8, [JX_I16] = &f##_i16,                 \
    [JX_U16] = &f##_u16, [JX_I32] = &f##_i32, [JX_U32] = &f##_u32,             \
    [JX_I64] = &f##_i64, [JX_U64] = &f##_u64
#define FLOATS(f)                                                              \
    [JX_F32] = &f##_f32, [JX_F64] = &f##_f64, [JX_C64] = &f##_c64,             \
    [JX_C128] = &f##_c128, [JX_F64X2] = &f##_f64x2

static const fold_fns *fold_of(jx_prim_id prim, jx_dtype dtype)
{
    /* A sum of bools is "or", a product "and". */
    static const fold_fns *const sum[JX_NDTYPES] = {
        [JX_BOOL] = &or_8, WRAPS(sum), FLOATS(sum)};
    static const fold_fns *const prod[JX_NDTYPES] = {
        [JX_BOOL] = &and_8, WRAPS(prod), FLOATS(prod)};
    static const fold_fns *const max[JX_NDTYPES] = {
        [JX_BOOL] = &or_8, COMPARES(max), FLOATS(max)};
    static const fold_fns *const min[JX_NDTYPES] = {
        [JX_BOOL] = &and_8, COMPARES(min), FLOATS(min)};
    static const fold_fns *const ands[JX_NDTYPES] = {[JX_BOOL] = &and_8,
                                                     WRAPS(and)};
    static const fold_fns *const ors[JX_NDTYPES] = {[JX_BOOL] = &or_8,
                                                    WRAPS(or)};
    static const fold_fns *const xors[JX_NDTYPES] = {[JX_BOOL] = &xor_8,
                                                     WRAPS(xor)};

    switch (prim) {
    case JX_PRIM_reduce_window_sum:
    case JX_PRIM_add:
    case JX_PRIM_add_any: return sum[dtype];
    case JX_PRIM_mul: return prod[dtype];
    case JX_PRIM_reduce_window_max:
    case JX_PRIM_max: return max[dtype];
    case JX_PRIM_reduce_window_min:
    case JX_PRIM_min: return min[dtype];
    case JX_PRIM_and: return ands[dtype];
    case JX_PRIM_or: return ors[dtype];
    case JX_PRIM_xor: return xors[dtype];
    default: return NULL;
    }
}

/* The dtype to fold in. */
static jx_dtype folding_dtype(jx_dtype d)
{
    const jx_dtype_info *info = jx_dtype_of(d);

    if (info->kind == JX_KIND_FLOAT)
        return d == JX_F64 || d == JX_F64X2 ? d : JX_F32;
    if (info->bits < 8)
        return info->kind == JX_KIND_INT ? JX_I8 : JX_U8;
    return d;
}

/* The fold of a body, which rounds at every step; NULL: it has to be run. */
static const fold_fns *steps_of(jx_prim_id prim, jx_dtype dtype)
{
    bool sums = prim == JX_PRIM_add;

    if (!jx_dtype_is_inexact(dtype) ||
        (prim != JX_PRIM_add && prim != JX_PRIM_mul))
        return fold_of(prim, folding_dtype(dtype));
    switch (dtype) {
    case JX_F64:
    case JX_F64X2: return fold_of(prim, dtype);
    case JX_C128: return fold_of(prim, dtype);
    case JX_F32: return sums ? &steps_sum_f32 : &steps_prod_f32;
    case JX_BF16: return sums ? &steps_sum_bf16 : &steps_prod_bf16;
    case JX_F16: return fold_of(prim, JX_F32); /* where XLA rounds once */
    case JX_C64: return sums ? &steps_sum_c64 : NULL;
    default: return NULL;
    }
}

/* Outputs are made in lines, along the last axis that the window moves along;
 * lines are shared with the run's second thread from so much work on. */
enum { SHARED_WORK = 1 << 17 };

typedef struct folding {
    jx_window window;
    const fold_fns *fns;
    bool has_init; /* as a second operand, which may not be neutral */
    bool rows;     /* a line is folded at once; else each of its windows */
    bool shared;
    int64_t lines, length; /* length: outputs of a line, without `inner` */
    size_t worker_bytes;   /* of scratch */
} folding;

typedef struct job {
    jx_run *run;
    const folding *f;
    const char *in, *init;
    char *out, *scratch;
    int64_t item;
} job;

/* One window after the other; at[last] is not looked at. */
static void fold_windows(const job *j, const int64_t *at, char *acc, char *out)
{
    const folding *f = j->f;
    const jx_window *w = &f->window;
    int last = w->rank - 1;
    int64_t done = 0;
    jx_reach r;

    jx_window_reach(w, last < 0 ? 0 : last, at, &r);
    int64_t work = w->inner * r.count;
    for (int64_t i = 0; i < f->length && jx_run_lasts_for(j->run, &done, work);
         i++, out += w->inner * j->item) {
        int64_t pos[JX_MAX_RANK] = {0}, offset = 0, first = 0;
        int64_t count = last < 0 ? 1 : jx_window_last(w, i, &first);
        int64_t step = last < 0 ? 0 : w->advance[last] * w->step[last];
        f->fns->start(acc, j->init, w->inner);
        if (r.count > 0 && count > 0)
            do
                f->fns->fold(acc, j->in + (r.start + first + offset) * j->item,
                             count, step, w->inner);
            while (jx_reach_next(w, &r, pos, &offset));
        f->fns->put(acc, out, w->inner);
    }
}

/* One place of the window after the other. */
static void fold_row(const job *j, const int64_t *at, char *acc, char *out)
{
    const folding *f = j->f;
    const jx_window *w = &f->window;
    int last = w->rank - 1;
    int64_t pos[JX_MAX_RANK] = {0}, offset = 0, stride = w->stride[last],
            done = 0;
    jx_reach r;

    jx_window_reach(w, last, at, &r);
    f->fns->start(acc, NULL, f->length);
    if (r.count > 0)
        do
            for (int64_t k = 0; k < w->size[last] &&
                                jx_run_lasts_for(j->run, &done, f->length);
                 k++) {
                int64_t shift = k * w->dilation[last] - w->low[last];
                int64_t from = shift < 0 ? (-shift + stride - 1) / stride : 0;
                int64_t end = w->in[last] - shift > 0
                                  ? (w->in[last] - shift + stride - 1) / stride
                                  : 0;
                end = end < f->length ? end : f->length;
                if (from < end)
                    f->fns->across(
                        acc + (size_t)from * f->fns->wide,
                        j->in + (r.start + offset + from * stride + shift) *
                                    j->item,
                        stride, end - from);
            }
        while (jx_reach_next(w, &r, pos, &offset));
    f->fns->put(acc, out, f->length);
}

static void fold_lines(const void *data, int64_t from, int64_t to, int worker)
{
    const job *j = data;
    const folding *f = j->f;
    int64_t at[JX_MAX_RANK] = {0}, rest = from;
    char *acc = j->scratch + (size_t)worker * f->worker_bytes;
    jx_window outer = f->window;

    outer.rank -= outer.rank > 0;
    for (int i = outer.rank - 1; i >= 0; i--) {
        at[i] = rest % outer.out[i];
        rest /= outer.out[i];
    }
    for (int64_t line = from; line < to && jx_run_lasts(j->run); line++) {
        char *out = j->out + line * f->length * f->window.inner * j->item;
        (f->rows ? fold_row : fold_windows)(j, at, acc, out);
        jx_window_next(&outer, at);
    }
}

static bool run_fold(jx_run *run, const void *data, const jx_view *ins,
                     const jx_view *outs, void *scratch)
{
    const folding *f = data;
    job j = {.run = run,
             .f = f,
             .in = ins[0].data,
             .init = f->has_init ? ins[1].data : NULL,
             .out = outs[0].data,
             .scratch = scratch,
             .item = (int64_t)jx_dtype_of(outs[0].dtype)->bytes};

    jx_pool_share(f->shared ? jx_run_pool(run) : NULL, fold_lines, &j,
                  f->lines);
    return true;
}

/* Of an output that has elements. */
static void cut(folding *f)
{
    const jx_window *w = &f->window;
    int last = w->rank - 1;
    double work = (double)w->inner;

    f->rows = !f->has_init && last >= 0 && w->inner == 1 &&
              w->base[last] == 1 && w->out[last] >= 4;
    f->length = last < 0 ? 1 : w->out[last];
    f->lines = 1;
    for (int i = 0; i < w->rank; i++) {
        work *= (double)w->out[i] * (double)w->size[i];
        f->lines *= i < last ? w->out[i] : 1;
    }
    f->shared = work >= SHARED_WORK;
    f->worker_bytes = (size_t)(f->rows ? f->length : w->inner) * 16;
}

/* Whether padding may give the neutral element of signed integers of few bits,
 * which has to be given then: *end. */
static bool narrow_end(jx_prim_id prim, jx_dtype dtype, unsigned char *end)
{
    const jx_dtype_info *info = jx_dtype_of(dtype);
    bool max = prim == JX_PRIM_reduce_window_max || prim == JX_PRIM_max;
    bool min = prim == JX_PRIM_reduce_window_min || prim == JX_PRIM_min;

    if (info->kind != JX_KIND_INT || info->bits >= 8 || (!max && !min))
        return false;
    *end = jx_narrow_end(info->bits, max);
    return true;
}

/* `init`, if any, is a scalar.  False without a failure when there is no such
 * fold. */
static bool plan_fold(jx_planner *p, const jx_eqn *eqn, jx_prim_id prim,
                      const jx_slot *ins, const jx_p_window *params,
                      jx_slot *outs)
{
    jx_slot out = jx_plan_output(p, eqn, 0), all[2];
    jx_dtype dtype = folding_dtype(out.dtype);
    bool has_init = eqn->nins == 2;
    unsigned char end;
    folding f = {.fns = has_init ? steps_of(prim, out.dtype)
                                 : fold_of(prim, dtype),
                 .has_init = has_init};

    if (!f.fns)
        return false;
    for (int i = 0; i < eqn->nins; i++) {
        all[i] = jx_plan_convert(p, &ins[i], dtype);
        all[i] = jx_plan_dense(p, &all[i]);
    }
    if (!has_init && narrow_end(prim, out.dtype, &end)) {
        all[1] = jx_plan_constant(p, out.dtype, 0, NULL, &end);
        all[1] = jx_plan_convert(p, &all[1], dtype);
        f.has_init = true;
    }
    if (!jx_window_plan(p, &all[0], &out, &params->window_dimensions,
                        &params->window_strides, &params->padding,
                        &params->base_dilation, &params->window_dilation,
                        &f.window))
        return false;
    jx_slot to =
        dtype == out.dtype ? out : jx_plan_new(p, dtype, out.rank, out.shape);
    if (jx_slot_count(&out) > 0) {
        cut(&f);
        jx_plan_op(p, run_fold, &f, sizeof f, 1 + f.has_init, all, 1, &to,
                   f.worker_bytes * (f.shared ? JX_POOL_WORKERS : 1));
    }
    outs[0] = jx_plan_convert(p, &to, out.dtype);
    return true;
}

bool jx_plan_reduce_window_monoid(jx_planner *p, const jx_eqn *eqn,
                                  const jx_slot *ins, jx_slot *outs)
{
    return plan_fold(p, eqn, eqn->prim->id, ins, eqn->typed, outs) ||
           jx_plan_fail(p, "%s of %s can't be run", eqn->prim->name,
                        jx_dtype_of(ins[0].dtype)->short_name);
}

/* ---- any body ----
 *
 * As in XLA the initial value comes in once: places of a window that are in
 * the padding, or in a hole, are left out. */

typedef struct general {
    jx_window window;
    int block, n;
} general;

/* The position in the input of place `k` of a window, or -1. */
static int64_t place(const jx_window *w, const int64_t *at, const int64_t *k)
{
    int64_t offset = 0;

    for (int i = 0; i < w->rank; i++) {
        int64_t position =
            at[i] * w->stride[i] - w->low[i] + k[i] * w->dilation[i];
        if (position < 0 || position % w->base[i] ||
            position / w->base[i] >= w->in[i])
            return -1;
        offset += position / w->base[i] * w->step[i];
    }
    return offset;
}

static void put(const jx_view *to, const void *from)
{
    memcpy(to->data, from, jx_dtype_of(to->dtype)->bytes);
}

/* Operands as in a general reduce: n arrays, n initial values; outputs: n
 * results, 2 n slots that the body reads, n that it writes. */
static bool window_of_body(jx_run *run, const general *g, const int64_t *at,
                           int64_t inner, const jx_view *ins,
                           const jx_view *outs)
{
    const jx_view *acc = outs + g->n, *x = acc + g->n, *result = x + g->n;
    int64_t k[JX_MAX_RANK] = {0};

    for (int i = 0; i < g->n; i++)
        put(&acc[i], ins[g->n + i].data);
    for (;;) {
        int64_t offset = place(&g->window, at, k);
        for (int i = 0; i < g->n && offset >= 0; i++)
            put(&x[i], ins[i].data + (size_t)(offset + inner) *
                                         jx_dtype_of(ins[i].dtype)->bytes);
        if (offset >= 0 && !jx_run_block(run, g->block))
            return false;
        for (int i = 0; i < g->n && offset >= 0; i++)
            put(&acc[i], result[i].data);
        int axis = g->window.rank - 1;
        for (; axis >= 0; axis--) {
            if (++k[axis] < g->window.size[axis])
                break;
            k[axis] = 0;
        }
        if (axis < 0)
            return true;
    }
}

static bool run_general(jx_run *run, const void *data, const jx_view *ins,
                        const jx_view *outs, void *scratch)
{
    const general *g = data;
    int64_t at[JX_MAX_RANK] = {0}, element = 0;

    (void)scratch;
    do
        for (int64_t j = 0; j < g->window.inner; j++, element++) {
            if (!window_of_body(run, g, at, j, ins, outs))
                return false;
            for (int i = 0; i < g->n; i++) {
                size_t item = jx_dtype_of(outs[i].dtype)->bytes;
                memcpy(outs[i].data + (size_t)element * item,
                       outs[g->n + i].data, item);
            }
        }
    while (jx_window_next(&g->window, at));
    return true;
}

static bool plan_general(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                         jx_slot *outs, jx_slot *args)
{
    const jx_p_reduce_window *params = eqn->typed;
    int n = eqn->nouts;
    general g = {.n = n};
    jx_slot *all = args + 2 * n;

    for (int i = 0; i < n; i++) {
        args[i] = jx_plan_dense(p, &ins[i]);
        args[n + i] = ins[n + i];
        all[i] = outs[i] = jx_plan_output(p, eqn, i);
        all[n + i] = jx_plan_new(p, ins[i].dtype, 0, NULL);
        all[2 * n + i] = jx_plan_new(p, ins[i].dtype, 0, NULL);
        if (!jx_same_shape(&ins[i], &ins[0]) ||
            !jx_same_shape(&outs[i], &outs[0]) || outs[i].dtype != ins[i].dtype)
            return jx_plan_fail(p, "operands of one shape are expected");
    }
    if (!jx_window_plan(p, &args[0], &outs[0], &params->window_dimensions,
                        &params->window_strides, &params->padding,
                        &params->base_dilation, &params->window_dilation,
                        &g.window))
        return false;
    g.block = jx_plan_body(p, &params->jaxpr, all + n, all + 3 * n);
    if (jx_slot_count(&outs[0]) > 0)
        jx_plan_block_op(p, run_general, &g, sizeof g, 2 * n, args, 4 * n, all,
                         0, g.block, 1);
    return true;
}

bool jx_plan_reduce_window(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                           jx_slot *outs)
{
    const jx_p_reduce_window *params = eqn->typed;
    const jx_jaxpr *body = params->jaxpr.jaxpr;
    jx_p_window window = {.window_dimensions = params->window_dimensions,
                          .window_strides = params->window_strides,
                          .padding = params->padding,
                          .base_dilation = params->base_dilation,
                          .window_dilation = params->window_dilation};
    int n = eqn->nouts;

    if (n < 1 || eqn->nins != 2 * n || body->nins != 2 * n || body->nouts != n)
        return jx_plan_fail(p, "the body takes other operands");
    for (int i = 0; i < n; i++)
        if (ins[n + i].rank != 0)
            return jx_plan_fail(p, "initial values are scalars");
    if (n == 1 && plan_fold(p, eqn, jx_body_monoid(body), ins, &window, outs))
        return true;
    jx_slot *args = malloc((size_t)(6 * n) * sizeof *args);
    if (!args)
        return jx_plan_starved(p);
    bool ok = plan_general(p, eqn, ins, outs, args);
    free(args);
    return ok;
}
