/* reduce.c - reductions over axes.
 *
 * The order is fixed: it depends on the shape alone, never on the instruction
 * set or on threads.  A sum of f32 runs in blocks of LANES lanes in f32, whose
 * results are added up in f64 and rounded once; smaller floats are converted to
 * f32 first and rounded once at the end. */
#include "frontend/ir/computation.h"
#include "runtime/elementwise.h"
#include "runtime/kernels/elementwise_f32.h"
#include "runtime/kernels/monoid.h"
#include "runtime/kernels/pairs.h"
#include "runtime/kernels/vector.h"
#include "runtime/plan_impl.h"
#include "runtime/plan_rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 32, BLOCK = 512, COLUMNS = 256 };

/* Reduces n neighbours to one. */
typedef void row_fn(const void *in, int64_t n, void *out);
/* Folds one row of n elements into accumulators; `first`: sets them. */
typedef void fold_fn(void *acc, const void *in, int64_t n, bool first);
/* Turns accumulators into results. */
typedef void finish_fn(const void *acc, void *out, int64_t n);

typedef struct reducer {
    row_fn *row;
    fold_fn *fold;
    finish_fn *finish;
    size_t acc; /* bytes of an accumulator */
} reducer;

/* Without rounding, or where order does not matter. */
#define SIMPLE(name, T, init, op)                                              \
    JX_VECTOR_CLONES static void row_##name(const void *in, int64_t n,         \
                                            void *out)                         \
    {                                                                          \
        const T *v = in;                                                       \
        T x = init;                                                            \
        for (int64_t i = 0; i < n; i++) {                                      \
            T y = v[i];                                                        \
            x = (T)(op);                                                       \
        }                                                                      \
        *(T *)out = x;                                                         \
    }                                                                          \
    JX_VECTOR_CLONES static void fold_##name(void *acc, const void *in,        \
                                             int64_t n, bool first)            \
    {                                                                          \
        const T *v = in;                                                       \
        T *a = acc;                                                            \
        if (first)                                                             \
            for (int64_t i = 0; i < n; i++)                                    \
                a[i] = init;                                                   \
        for (int64_t i = 0; i < n; i++) {                                      \
            T x = a[i], y = v[i];                                              \
            a[i] = (T)(op);                                                    \
        }                                                                      \
    }                                                                          \
    static void finish_##name(const void *acc, void *out, int64_t n)           \
    {                                                                          \
        memcpy(out, acc, (size_t)n * sizeof(T));                               \
    }

#define INTS(ID, T, U, low, high)                                              \
    SIMPLE(sum_##ID, T, 0, (U)x + (U)y)                                        \
    SIMPLE(prod_##ID, T, 1, (U)((U)x * 1u) * (U)y)                             \
    SIMPLE(max_##ID, T, low, x > y ? x : y)                                    \
    SIMPLE(min_##ID, T, high, x < y ? x : y)                                   \
    SIMPLE(and_##ID, T, (T)-1, x &y)                                           \
    SIMPLE(or_##ID, T, 0, x | y)                                               \
    SIMPLE(xor_##ID, T, 0, x ^ y)
INTS(I8, int8_t, uint32_t, INT8_MIN, INT8_MAX)
INTS(I16, int16_t, uint32_t, INT16_MIN, INT16_MAX)
INTS(I32, int32_t, uint32_t, INT32_MIN, INT32_MAX)
INTS(I64, int64_t, uint64_t, INT64_MIN, INT64_MAX)
INTS(U8, uint8_t, uint32_t, 0, UINT8_MAX)
INTS(U16, uint16_t, uint32_t, 0, UINT16_MAX)
INTS(U32, uint32_t, uint32_t, 0, UINT32_MAX)
INTS(U64, uint64_t, uint64_t, 0, UINT64_MAX)
SIMPLE(and_BOOL, uint8_t, 1, x &&y)
SIMPLE(or_BOOL, uint8_t, 0, x || y)
SIMPLE(xor_BOOL, uint8_t, 0, (x != 0) != (y != 0))

/* The lanes that a row of n elements fills, and what makes them
 * a power of two. */
static inline int lanes_of(int64_t n)
{
    int width = LANES;

    while (width > 1 && n <= width / 2)
        width /= 2;
    return width;
}

/* LANES at a time; `step` combines x and y, the wide type W adds blocks up.  Of
 * a row of fewer, only the lanes that get an element are joined: what others
 * hold changes nothing. */
#define FLOATS(name, T, W, init, step, wide_step)                              \
    JX_VECTOR_CLONES static void row_##name(const void *in, int64_t n,         \
                                            void *out)                         \
    {                                                                          \
        const T *v = in;                                                       \
        W lanes[LANES];                                                        \
        int width = lanes_of(n);                                               \
        for (int k = 0; k < width; k++)                                        \
            lanes[k] = init;                                                   \
        int64_t i = 0;                                                         \
        while (n - i >= LANES) {                                               \
            int64_t end =                                                      \
                n - i < BLOCK ? i + (n - i) / LANES * LANES : i + BLOCK;       \
            T part[LANES];                                                     \
            for (int k = 0; k < LANES; k++)                                    \
                part[k] = init;                                                \
            for (; i < end; i += LANES)                                        \
                for (int k = 0; k < LANES; k++) {                              \
                    T x = part[k], y = v[i + k];                               \
                    part[k] = step;                                            \
                }                                                              \
            for (int k = 0; k < LANES; k++) {                                  \
                W x = lanes[k], y = part[k];                                   \
                lanes[k] = wide_step;                                          \
            }                                                                  \
        }                                                                      \
        for (int k = 0; i < n; i++, k++) {                                     \
            W x = lanes[k], y = v[i];                                          \
            lanes[k] = wide_step;                                              \
        }                                                                      \
        for (int half = width / 2; half; half /= 2)                            \
            for (int k = 0; k < half; k++) {                                   \
                W x = lanes[k], y = lanes[k + half];                           \
                lanes[k] = wide_step;                                          \
            }                                                                  \
        *(T *)out = (T)lanes[0];                                               \
    }                                                                          \
    JX_VECTOR_CLONES static void fold_##name(void *acc, const void *in,        \
                                             int64_t n, bool first)            \
    {                                                                          \
        const T *v = in;                                                       \
        W *a = acc;                                                            \
        if (first)                                                             \
            for (int64_t i = 0; i < n; i++)                                    \
                a[i] = init;                                                   \
        for (int64_t i = 0; i < n; i++) {                                      \
            W x = a[i], y = v[i];                                              \
            a[i] = wide_step;                                                  \
        }                                                                      \
    }                                                                          \
    JX_VECTOR_CLONES static void finish_##name(const void *acc, void *out,     \
                                               int64_t n)                      \
    {                                                                          \
        const W *a = acc;                                                      \
        T *to = out;                                                           \
        for (int64_t i = 0; i < n; i++)                                        \
            to[i] = (T)a[i];                                                   \
    }
FLOATS(sum_F32, float, double, 0, x + y, x + y)
FLOATS(sum_F64, double, double, 0, x + y, x + y)
FLOATS(prod_F32, float, float, 1, x *y, x *y)
FLOATS(prod_F64, double, double, 1, x *y, x *y)
FLOATS(max_F32, float, float, -INFINITY, jx_max_f32(x, y), jx_max_f32(x, y))
FLOATS(min_F32, float, float, INFINITY, jx_min_f32(x, y), jx_min_f32(x, y))
FLOATS(max_F64, double, double, (double)-INFINITY, jx_max_f64(x, y),
       jx_max_f64(x, y))
FLOATS(min_F64, double, double, (double)INFINITY, jx_min_f64(x, y),
       jx_min_f64(x, y))

/* Complex numbers, in f64. */
typedef struct z64 {
    float re, im;
} z64;
typedef struct z128 {
    double re, im;
} z128;

/* By the real part, then the imaginary one; a NaN compares false. */
static inline z128 z_pick(z128 x, z128 y, bool max)
{
    bool take = max ? x.re > y.re || (x.re == y.re && x.im > y.im)
                    : x.re < y.re || (x.re == y.re && x.im < y.im);

    return take ? x : y;
}

#define COMPLEX(name, T, R, init_re, init_im, ...)                             \
    static void fold_##name(void *acc, const void *in, int64_t n, bool first)  \
    {                                                                          \
        const T *v = in;                                                       \
        z128 *a = acc;                                                         \
        for (int64_t i = 0; i < n; i++) {                                      \
            z128 x = first ? (z128){init_re, init_im} : a[i];                  \
            z128 y = {v[i].re, v[i].im};                                       \
            a[i] = __VA_ARGS__;                                                \
        }                                                                      \
    }                                                                          \
    static void finish_##name(const void *acc, void *out, int64_t n)           \
    {                                                                          \
        const z128 *a = acc;                                                   \
        for (int64_t i = 0; i < n; i++)                                        \
            ((T *)out)[i] = (T){(R)a[i].re, (R)a[i].im};                       \
    }                                                                          \
    static void row_##name(const void *in, int64_t n, void *out)               \
    {                                                                          \
        z128 acc = {init_re, init_im};                                         \
        for (int64_t i = 0; i < n; i++)                                        \
            fold_##name(&acc, (const T *)in + i, 1, false);                    \
        finish_##name(&acc, out, 1);                                           \
    }
#define COMPLEXES(ID, T, R)                                                    \
    COMPLEX(sum_##ID, T, R, 0, 0, (z128){x.re + y.re, x.im + y.im})            \
    COMPLEX(prod_##ID, T, R, 1, 0,                                             \
            (z128){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re})      \
    COMPLEX(max_##ID, T, R, (double)-INFINITY, (double)-INFINITY,              \
            z_pick(x, y, true))                                                \
    COMPLEX(min_##ID, T, R, (double)INFINITY, (double)INFINITY,                \
            z_pick(x, y, false))
COMPLEXES(C64, z64, float)
COMPLEXES(C128, z128, double)

/* Pairs of doubles. */
#define PAIRS(name, init_hi, step)                                             \
    JX_VECTOR_CLONES static void fold_##name(void *acc, const void *in,        \
                                             int64_t n, bool first)            \
    {                                                                          \
        const jx_pair *v = in;                                                 \
        jx_pair *a = acc;                                                      \
        JX_NO_ALIAS                                                            \
        for (int64_t i = 0; first && i < n; i++)                               \
            a[i] = jx_pair_of(init_hi);                                        \
        JX_NO_ALIAS                                                            \
        for (int64_t i = 0; i < n; i++)                                        \
            a[i] = step(a[i], v[i]);                                           \
    }                                                                          \
    static void finish_##name(const void *acc, void *out, int64_t n)           \
    {                                                                          \
        memcpy(out, acc, (size_t)n * sizeof(jx_pair));                         \
    }                                                                          \
    static void row_##name(const void *in, int64_t n, void *out)               \
    {                                                                          \
        enum { WIDTH = 8 };                                                    \
        jx_pair lanes[WIDTH];                                                  \
        const jx_pair *v = in;                                                 \
        int64_t i = 0;                                                         \
        for (int k = 0; k < WIDTH; k++)                                        \
            lanes[k] = jx_pair_of(init_hi);                                    \
        for (; i + WIDTH <= n; i += WIDTH)                                     \
            fold_##name(lanes, v + i, WIDTH, false);                           \
        fold_##name(lanes, v + i, n - i, false);                               \
        for (int k = 1; k < WIDTH; k++)                                        \
            lanes[0] = step(lanes[0], lanes[k]);                               \
        *(jx_pair *)out = lanes[0];                                            \
    }
PAIRS(sum_F64X2, 0, jx_pair_add)
PAIRS(prod_F64X2, 1, jx_pair_mul)
PAIRS(max_F64X2, (double)-INFINITY, jx_pair_max)
PAIRS(min_F64X2, (double)INFINITY, jx_pair_min)

#define ONE(name, T)                                                           \
    {                                                                          \
        row_##name, fold_##name, finish_##name, sizeof(T)                      \
    }
#define ENTRY(op, ID, T) [JX_##ID] = ONE(op##_##ID, T)
#define INT_ROW(op)                                                            \
    ENTRY(op, I8, int8_t), ENTRY(op, I16, int16_t), ENTRY(op, I32, int32_t),   \
        ENTRY(op, I64, int64_t), ENTRY(op, U8, uint8_t),                       \
        ENTRY(op, U16, uint16_t), ENTRY(op, U32, uint32_t),                    \
        ENTRY(op, U64, uint64_t)
#define FLOAT_ROW(op)                                                          \
    ENTRY(op, F32, double), ENTRY(op, F64, double), ENTRY(op, C64, z128),      \
        ENTRY(op, C128, z128), ENTRY(op, F64X2, jx_pair)

static const reducer *reducer_of(jx_prim_id prim, jx_dtype dtype)
{
    static const reducer
        sums[JX_NDTYPES] = {INT_ROW(sum), FLOAT_ROW(sum)},
        prods[JX_NDTYPES] = {INT_ROW(prod), FLOAT_ROW(prod)},
        maxs[JX_NDTYPES] = {INT_ROW(max),
                            FLOAT_ROW(max), [JX_BOOL] = ONE(or_BOOL, uint8_t)},
        mins[JX_NDTYPES] = {INT_ROW(min),
                            FLOAT_ROW(min), [JX_BOOL] = ONE(and_BOOL, uint8_t)},
        ands[JX_NDTYPES] = {INT_ROW(and), ENTRY(and, BOOL, uint8_t)},
        ors[JX_NDTYPES] = {INT_ROW(or), ENTRY(or, BOOL, uint8_t)},
        xors[JX_NDTYPES] = {INT_ROW(xor), ENTRY(xor, BOOL, uint8_t)};
    const reducer *all;

    switch (prim) {
    case JX_PRIM_reduce_sum:
    case JX_PRIM_psum: all = sums; break;
    case JX_PRIM_reduce_prod: all = prods; break;
    case JX_PRIM_reduce_max:
    case JX_PRIM_pmax: all = maxs; break;
    case JX_PRIM_reduce_min:
    case JX_PRIM_pmin: all = mins; break;
    case JX_PRIM_reduce_and: all = ands; break;
    case JX_PRIM_reduce_or: all = ors; break;
    case JX_PRIM_reduce_xor: all = xors; break;
    default: return NULL;
    }
    return all[dtype].row ? &all[dtype] : NULL;
}

/* The operand's axes: kept ones first (all, or all but the innermost when that
 * is kept), then the reduced ones. */
typedef struct layout {
    const reducer *with;
    size_t size, out_size;
    bool by_column;       /* the innermost axis is kept: `columns` of them */
    int64_t columns, row; /* row: length of a contiguous reduced run */
    int nkept, nreduced;
    int64_t kept_shape[JX_MAX_RANK], kept_strides[JX_MAX_RANK];
    int64_t out_strides[JX_MAX_RANK];
    int64_t reduced_shape[JX_MAX_RANK], reduced_strides[JX_MAX_RANK];
} layout;

/* Steps through a shape; false after the last. */
static bool advance(int n, const int64_t *shape, const int64_t *strides,
                    int64_t *index, int64_t *offset)
{
    for (int i = n - 1; i >= 0; i--) {
        *offset += strides[i];
        if (++index[i] < shape[i])
            return true;
        *offset -= shape[i] * strides[i];
        index[i] = 0;
    }
    return false;
}

static int64_t product(int n, const int64_t *shape)
{
    int64_t all = 1;

    for (int i = 0; i < n; i++)
        all *= shape[i];
    return all;
}

/* One chunk of columns: folds every reduced row into accumulators. */
static void reduce_columns(jx_run *run, const layout *l, const char *in,
                           char *out, void *acc)
{
    int64_t done = 0;
    bool empty = product(l->nreduced, l->reduced_shape) == 0;

    for (int64_t c = 0; c < l->columns; c += COLUMNS) {
        int64_t n = l->columns - c < COLUMNS ? l->columns - c : COLUMNS;
        int64_t index[JX_MAX_RANK] = {0}, offset = 0;
        bool first = true;
        if (empty) { /* the neutral element, from a row of none */
            for (int64_t i = 0; i < n; i++)
                l->with->row(in, 0, out + (c + i) * (int64_t)l->out_size);
            continue;
        }
        do {
            l->with->fold(acc, in + offset + c * (int64_t)l->size, n, first);
            first = false;
        } while (advance(l->nreduced, l->reduced_shape, l->reduced_strides,
                         index, &offset) &&
                 jx_run_lasts_for(run, &done, n));
        l->with->finish(acc, out + c * (int64_t)l->out_size, n);
    }
}

static bool run_reduce(jx_run *run, const void *data, const jx_view *ins,
                       const jx_view *outs, void *scratch)
{
    const layout *l = data;
    int64_t index[JX_MAX_RANK] = {0}, offset = 0, out = 0;
    int64_t step = (int64_t)l->out_size * (l->by_column ? l->columns : 1);
    int64_t done = 0;

    if (outs->count == 0)
        return true;
    do {
        if (l->by_column)
            reduce_columns(run, l, ins->data + offset, outs->data + out,
                           scratch);
        else
            l->with->row(ins->data + offset, l->row, outs->data + out);
        out += step;
    } while (
        advance(l->nkept, l->kept_shape, l->kept_strides, index, &offset) &&
        jx_run_lasts_for(run, &done, l->by_column ? 1 : l->row));
    return true;
}

static bool is_reduced(jx_ints axes, int axis)
{
    for (int i = 0; i < axes.count; i++)
        if (axes.at[i] == axis)
            return true;
    return false;
}

/* The slot with kept axes first; *nkept of them. */
static jx_slot kept_first(const jx_slot *in, jx_ints axes, int *nkept)
{
    jx_slot out = *in;
    int n = 0;

    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < in->rank; i++)
            if (is_reduced(axes, i) == (pass == 1)) {
                out.shape[n] = in->shape[i];
                out.strides[n++] = in->strides[i];
                *nkept += pass == 0;
            }
    return out;
}

/* Joins neighbouring axes that step as one, in place; gives their number. */
static int join_axes(int n, int64_t *shape, int64_t *strides)
{
    int kept = 0;

    for (int i = 0; i < n; i++) {
        if (shape[i] == 1)
            continue;
        if (kept && strides[kept - 1] == strides[i] * shape[i]) {
            shape[kept - 1] *= shape[i];
            strides[kept - 1] = strides[i];
        } else {
            shape[kept] = shape[i];
            strides[kept++] = strides[i];
        }
    }
    return kept;
}

static void split_axes(const jx_slot *s, int nkept, layout *l)
{
    l->nkept = nkept;
    l->nreduced = s->rank - nkept;
    memcpy(l->kept_shape, s->shape, (size_t)nkept * sizeof(int64_t));
    memcpy(l->kept_strides, s->strides, (size_t)nkept * sizeof(int64_t));
    memcpy(l->reduced_shape, s->shape + nkept,
           (size_t)l->nreduced * sizeof(int64_t));
    memcpy(l->reduced_strides, s->strides + nkept,
           (size_t)l->nreduced * sizeof(int64_t));
    l->nkept = join_axes(l->nkept, l->kept_shape, l->kept_strides);
    l->nreduced = join_axes(l->nreduced, l->reduced_shape, l->reduced_strides);
    /* One axis, or several with nothing in them. */
    l->row = product(l->nreduced, l->reduced_shape);
}

static void plan_reduce(jx_planner *p, const jx_slot *in, jx_ints axes,
                        const reducer *with, const jx_slot *out)
{
    layout l = {.with = with,
                .size = jx_dtype_of(in->dtype)->bytes,
                .out_size = jx_dtype_of(out->dtype)->bytes};
    int nkept = 0;
    jx_slot s = kept_first(in, axes, &nkept);

    if (product(nkept, s.shape) != jx_slot_count(out)) {
        jx_plan_fail(p, "the result has another size");
        return;
    }
    split_axes(&s, nkept, &l);
    int64_t size = (int64_t)l.size;
    bool by_row =
        l.nreduced == 0 || (l.nreduced == 1 && l.reduced_strides[0] == size);
    if (!by_row && l.nkept && l.kept_strides[l.nkept - 1] == size &&
        l.kept_shape[l.nkept - 1] >= 4) {
        l.by_column = true;
        l.columns = l.kept_shape[--l.nkept];
    } else if (!by_row) {
        s = jx_plan_dense(p, &s);
        split_axes(&s, nkept, &l);
    }
    jx_plan_op(p, run_reduce, &l, sizeof l, 1, &s, 1, out,
               l.by_column ? with->acc * COLUMNS : 0);
}

/* The dtype that a reduction works in. */
static jx_dtype work_dtype(jx_dtype stored)
{
    return jx_compute_dtype(stored);
}

/* Nothing is left of signed integers of few bits but the end of their range. */
static bool plan_narrow_end(jx_planner *p, const jx_eqn *eqn, const jx_slot *in,
                            jx_slot *out)
{
    const jx_dtype_info *info = jx_dtype_of(out->dtype);
    jx_prim_id id = eqn->prim->id;
    bool max = id == JX_PRIM_reduce_max || id == JX_PRIM_pmax;
    jx_slot end;

    if (info->kind != JX_KIND_INT || info->bits >= 8 || jx_slot_count(in) ||
        (!max && id != JX_PRIM_reduce_min && id != JX_PRIM_pmin))
        return false;
    unsigned char bits = jx_narrow_end(info->bits, max);
    end = jx_plan_constant(p, out->dtype, 0, NULL, &bits);
    end.rank = out->rank;
    memcpy(end.shape, out->shape, sizeof end.shape);
    memset(end.strides, 0, sizeof end.strides);
    *out = end;
    return true;
}

/* Result i of operand i. */
static bool plan_over(jx_planner *p, const jx_eqn *eqn, int i, jx_ints axes,
                      const jx_slot *ins, jx_slot *outs)
{
    jx_dtype dtype = work_dtype(ins[i].dtype);
    const reducer *with = reducer_of(eqn->prim->id, dtype);
    jx_slot in = jx_plan_convert(p, &ins[i], dtype), *out = &outs[i];

    *out = jx_plan_output(p, eqn, i);
    if (!with)
        return jx_plan_fail(p, "it does not take %s",
                            jx_dtype_of(ins[i].dtype)->short_name);
    for (int k = 0; k < axes.count; k++)
        if (axes.at[k] < 0 || axes.at[k] >= in.rank)
            return jx_plan_fail(p, "there is no axis %lld",
                                (long long)axes.at[k]);
    if (dtype == out->dtype) {
        plan_reduce(p, &in, axes, with, out);
        return true;
    }
    if (plan_narrow_end(p, eqn, &in, out))
        return true;
    jx_slot wide = jx_plan_new(p, dtype, out->rank, out->shape);
    plan_reduce(p, &in, axes, with, &wide);
    *out = jx_plan_convert(p, &wide, out->dtype);
    return true;
}

bool jx_plan_reduce(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                    jx_slot *outs)
{
    return plan_over(p, eqn, 0, ((const jx_p_axes *)eqn->typed)->axes, ins,
                     outs);
}

/* Across devices nobody gets here (jx_eqn_is_unknown). */
bool jx_plan_allreduce(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                       jx_slot *outs)
{
    const jx_p_allreduce *params = eqn->typed;

    for (int i = 0; i < eqn->nins; i++)
        if (!plan_over(p, eqn, i, params->axes.at, ins, outs))
            return false;
    return true;
}

/* argmax and argmin: the first NaN, else the first of the largest. */

typedef int64_t arg_fn(const char *in, int64_t stride, int64_t n);

#define ARG(name, T, better)                                                   \
    static int64_t arg_##name(const char *in, int64_t stride, int64_t n)       \
    {                                                                          \
        int64_t best = 0;                                                      \
        T x = *(const T *)(const void *)in;                                    \
        for (int64_t i = 1; i < n && x == x; i++) {                            \
            T y = *(const T *)(const void *)(in + i * stride);                 \
            if (y better x || y != y) {                                        \
                x = y;                                                         \
                best = i;                                                      \
            }                                                                  \
        }                                                                      \
        return best;                                                           \
    }
#define ARGS(ID, T) ARG(max_##ID, T, >) ARG(min_##ID, T, <)
ARGS(I8, int8_t)
ARGS(I16, int16_t)
ARGS(I32, int32_t)
ARGS(I64, int64_t)
ARGS(U8, uint8_t)
ARGS(U16, uint16_t)
ARGS(U32, uint32_t)
ARGS(U64, uint64_t)
ARGS(F32, float)
ARGS(F64, double)

#define ARG_ROW(op)                                                            \
    {                                                                          \
        [JX_BOOL] = arg_##op##_U8, [JX_I8] = arg_##op##_I8,                    \
        [JX_I16] = arg_##op##_I16, [JX_I32] = arg_##op##_I32,                  \
        [JX_I64] = arg_##op##_I64, [JX_U8] = arg_##op##_U8,                    \
        [JX_U16] = arg_##op##_U16, [JX_U32] = arg_##op##_U32,                  \
        [JX_U64] = arg_##op##_U64, [JX_F32] = arg_##op##_F32,                  \
        [JX_F64] = arg_##op##_F64                                              \
    }

typedef struct arg_data {
    arg_fn *find;
    int64_t n, stride;
    int nkept;
    int64_t shape[JX_MAX_RANK], strides[JX_MAX_RANK];
} arg_data;

static bool run_arg(jx_run *run, const void *data, const jx_view *ins,
                    const jx_view *outs, void *scratch)
{
    const arg_data *d = data;
    int64_t index[JX_MAX_RANK] = {0}, offset = 0;
    int64_t *out = (int64_t *)(void *)outs->data;

    (void)run;
    (void)scratch;
    if (outs->count == 0)
        return true;
    do
        *out++ = d->find(ins->data + offset, d->stride, d->n);
    while (advance(d->nkept, d->shape, d->strides, index, &offset));
    return true;
}

bool jx_plan_arg_reduce(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                        jx_slot *outs)
{
    static arg_fn *const max[JX_NDTYPES] = ARG_ROW(max),
                         *const min[JX_NDTYPES] = ARG_ROW(min);
    const jx_p_arg_reduce *params = eqn->typed;
    jx_dtype dtype = ins->dtype == JX_F64X2 ? JX_F64 : work_dtype(ins->dtype);
    jx_slot in = jx_plan_convert(p, ins, dtype);
    arg_data d = {.find =
                      (eqn->prim->id == JX_PRIM_argmax ? max : min)[in.dtype]};
    int nkept = 0;

    if (!d.find || params->axes.count != 1 || params->axes.at[0] < 0 ||
        params->axes.at[0] >= in.rank)
        return jx_plan_fail(p, "it does not take these operands");
    jx_slot s = kept_first(&in, params->axes, &nkept);
    d.n = s.shape[nkept];
    d.stride = s.strides[nkept];
    d.nkept = nkept;
    memcpy(d.shape, s.shape, sizeof d.shape);
    memcpy(d.strides, s.strides, sizeof d.strides);
    outs[0] = jx_plan_output(p, eqn, 0);
    if (product(nkept, s.shape) != jx_slot_count(outs))
        return jx_plan_fail(p, "the result has another size");
    if (d.n == 0 && jx_slot_count(outs))
        return jx_plan_fail(p, "the axis is empty");
    jx_slot found = jx_plan_new(p, JX_I64, outs->rank, outs->shape);
    jx_plan_op(p, run_arg, &d, sizeof d, 1, &s, 1, &found, 0);
    outs[0] = jx_plan_convert(p, &found, outs->dtype);
    return true;
}

/* reduce with a body: one element after the other, from the initial value. */

typedef struct general {
    int block, n; /* operands */
    int nkept, nreduced;
    int64_t kept_shape[JX_MAX_RANK], reduced_shape[JX_MAX_RANK];
} general;

/* Operands: n arrays (kept axes first), n initial values, 2 n slots that the
 * body reads and n that it writes. */
static bool run_general(jx_run *run, const void *data, const jx_view *ins,
                        const jx_view *outs, void *scratch)
{
    const general *d = data;
    const jx_view *init = ins + d->n, *acc = outs + d->n, *x = acc + d->n;
    const jx_view *result = x + d->n;
    int64_t kept = product(d->nkept, d->kept_shape);
    int64_t reduced = product(d->nreduced, d->reduced_shape);

    (void)scratch;
    for (int64_t i = 0; i < kept; i++) {
        for (int k = 0; k < d->n; k++)
            memcpy(acc[k].data, init[k].data,
                   jx_dtype_of(init[k].dtype)->bytes);
        for (int64_t j = 0; j < reduced; j++) {
            for (int k = 0; k < d->n; k++) {
                size_t size = jx_dtype_of(ins[k].dtype)->bytes;
                memcpy(x[k].data,
                       ins[k].data + (size_t)(i * reduced + j) * size, size);
            }
            if (!jx_run_block(run, d->block))
                return false;
            for (int k = 0; k < d->n; k++)
                memcpy(acc[k].data, result[k].data,
                       jx_dtype_of(result[k].dtype)->bytes);
        }
        for (int k = 0; k < d->n; k++) {
            size_t size = jx_dtype_of(outs[k].dtype)->bytes;
            memcpy(outs[k].data + (size_t)i * size, acc[k].data, size);
        }
    }
    return true;
}

static bool plan_general(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                         jx_slot *outs, jx_slot *args)
{
    const jx_p_reduce *params = eqn->typed;
    int n = eqn->nouts;
    general d = {.n = n};
    jx_slot *arrays = args, *all = args + 2 * n;

    for (int k = 0; k < n; k++) {
        d.nkept = 0;
        jx_slot s = kept_first(&ins[k], params->dimensions, &d.nkept);
        arrays[k] = jx_plan_dense(p, &s);
        arrays[n + k] = ins[n + k];
        all[k] = outs[k] = jx_plan_output(p, eqn, k);
        all[n + k] = jx_plan_new(p, ins[k].dtype, 0, NULL);
        all[2 * n + k] = jx_plan_new(p, ins[k].dtype, 0, NULL);
        if (!jx_plan_same(p, &ins[n + k], &all[n + k]) ||
            outs[k].dtype != ins[k].dtype ||
            product(d.nkept, arrays[k].shape) != jx_slot_count(&outs[k]) ||
            jx_slot_count(&arrays[k]) != jx_slot_count(&arrays[0]))
            return jx_plan_fail(p, "operand %d does not fit", k);
    }
    d.nreduced = arrays[0].rank - d.nkept;
    memcpy(d.kept_shape, arrays[0].shape, sizeof d.kept_shape);
    memcpy(d.reduced_shape, arrays[0].shape + d.nkept,
           (size_t)d.nreduced * sizeof(int64_t));
    d.block = jx_plan_body(p, &params->jaxpr, all + n, all + 3 * n);
    for (int k = 0; k < n; k++)
        if (!jx_plan_same(p, &all[3 * n + k], &all[n + k]))
            return false;
    jx_plan_block_op(p, run_general, &d, sizeof d, 2 * n, arrays, 4 * n, all, 0,
                     d.block, 1);
    return true;
}

/* A body that is one operation is the reduction of that name, to which the
 * initial value is added at the end.  False without a failure: it is not. */
static bool plan_monoid(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                        jx_slot *outs)
{
    static const struct {
        jx_prim_id op, reduction;
    } known[] = {
        {JX_PRIM_add, JX_PRIM_reduce_sum}, {JX_PRIM_mul, JX_PRIM_reduce_prod},
        {JX_PRIM_max, JX_PRIM_reduce_max}, {JX_PRIM_min, JX_PRIM_reduce_min},
        {JX_PRIM_and, JX_PRIM_reduce_and}, {JX_PRIM_or, JX_PRIM_reduce_or},
        {JX_PRIM_xor, JX_PRIM_reduce_xor}};
    const jx_p_reduce *params = eqn->typed;
    jx_prim_id op = jx_body_monoid(params->jaxpr.jaxpr);
    jx_dtype dtype = work_dtype(ins->dtype);
    const reducer *with = NULL;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].op == op)
            with = reducer_of(known[i].reduction, dtype);
    for (int i = 0; i < params->dimensions.count; i++)
        if (params->dimensions.at[i] < 0 ||
            params->dimensions.at[i] >= ins->rank)
            with = NULL;
    if (!with || ins[1].rank != 0 || ins[1].dtype != ins[0].dtype)
        return false;
    jx_slot out = jx_plan_output(p, eqn, 0);
    jx_slot in = jx_plan_convert(p, ins, dtype);
    jx_slot start = jx_plan_convert(p, &ins[1], dtype);
    jx_slot wide = jx_plan_new(p, dtype, out.rank, out.shape);
    plan_reduce(p, &in, params->dimensions, with, &wide);
    wide = jx_plan_combine(p, op, &wide, &start);
    outs[0] = jx_plan_convert(p, &wide, out.dtype);
    return true;
}

bool jx_plan_reduce_general(jx_planner *p, const jx_eqn *eqn,
                            const jx_slot *ins, jx_slot *outs)
{
    const jx_p_reduce *params = eqn->typed;
    int n = eqn->nouts;

    if (n < 1 || eqn->nins != 2 * n || params->jaxpr.jaxpr->nins != 2 * n ||
        params->jaxpr.jaxpr->nouts != n)
        return jx_plan_fail(p, "the body takes other operands");
    if (n == 1 && plan_monoid(p, eqn, ins, outs))
        return true;
    jx_slot *args = malloc((size_t)(6 * n) * sizeof *args);
    bool ok = args && plan_general(p, eqn, ins, outs, args);
    free(args);
    return ok || jx_plan_starved(p);
}
