/* cumulative.c - cumsum, cumprod, cummax, cummin, cumlogsumexp.
 *
 * Each line is one chain from its first element (or its last, in reverse).
 * Sums and products of f32 and c64 run in double and round at every output;
 * smaller floats are converted to f32 first. */
#include "runtime/kernels/monoid.h"
#include "runtime/kernels/pairs.h"
#include "runtime/kernels/shapes.h"
#include "runtime/plan_rules.h"

/* Lines that lie side by side are carried along together. */
enum { CHUNK = 64, PIECE = 1 << 22 /* elements between looks at the clock */ };

typedef struct cumulative {
    int64_t outer, n, inner;
    bool reverse;
} cumulative;

/* What `width` lines have come to: a number each, of whatever type. */
typedef struct tally {
    _Alignas(16) char bytes[CHUNK * 2 * sizeof(double complex)];
} tally;

/* n elements of `width` lines, `step` elements apart; their first ones, or
 * those behind what the tally holds. */
typedef void chain_fn(const void *in, void *out, int64_t n, int64_t step,
                      int64_t width, bool first, tally *so_far);

#define CHAIN(name, type, wide, START, STEP)                                   \
    static void name(const void *from, void *to, int64_t n, int64_t step,      \
                     int64_t width, bool first, tally *so_far)                 \
    {                                                                          \
        const type *in = from;                                                 \
        type *out = to;                                                        \
        wide *restrict acc = (wide *)(void *)so_far->bytes;                    \
        for (int64_t j = 0; first && j < width; j++)                           \
            acc[j] = START;                                                    \
        if (width == 1) {                                                      \
            wide a = acc[0];                                                   \
            for (int64_t i = 0; i < n; i++, in += step, out += step) {         \
                a = (wide)STEP(a, *in);                                        \
                *out = (type)a;                                                \
            }                                                                  \
            acc[0] = a;                                                        \
            return;                                                            \
        }                                                                      \
        for (int64_t i = 0; i < n; i++, in += step, out += step)               \
            for (int64_t j = 0; j < width; j++) {                              \
                acc[j] = (wide)STEP(acc[j], in[j]);                            \
                out[j] = (type)acc[j];                                         \
            }                                                                  \
    }

CHAIN(sum_f32, float, double, 0, JX_ADD)
CHAIN(sum_f64, double, double, 0, JX_ADD)
CHAIN(sum_c64, float complex, double complex, 0, JX_ADD)
CHAIN(sum_c128, double complex, double complex, 0, JX_ADD)
CHAIN(sum_8, uint8_t, uint8_t, 0, JX_ADD)
CHAIN(sum_16, uint16_t, uint16_t, 0, JX_ADD)
CHAIN(sum_32, uint32_t, uint32_t, 0, JX_ADD)
CHAIN(sum_64, uint64_t, uint64_t, 0, JX_ADD)
CHAIN(prod_f32, float, double, 1, JX_MUL)
CHAIN(prod_f64, double, double, 1, JX_MUL)
CHAIN(prod_c64, float complex, double complex, 1, jx_times)
CHAIN(prod_c128, double complex, double complex, 1, jx_times)
CHAIN(prod_8, uint8_t, uint8_t, 1, JX_MUL)
CHAIN(prod_16, uint16_t, uint32_t, 1, JX_MUL)
CHAIN(prod_32, uint32_t, uint32_t, 1, JX_MUL)
CHAIN(prod_64, uint64_t, uint64_t, 1, JX_MUL)
CHAIN(max_f32, float, float, -INFINITY, jx_max_float)
CHAIN(max_f64, double, double, -(double)INFINITY, jx_max_float)
CHAIN(max_i8, int8_t, int8_t, INT8_MIN, JX_GREATER)
CHAIN(max_i16, int16_t, int16_t, INT16_MIN, JX_GREATER)
CHAIN(max_i32, int32_t, int32_t, INT32_MIN, JX_GREATER)
CHAIN(max_i64, int64_t, int64_t, INT64_MIN, JX_GREATER)
CHAIN(max_u8, uint8_t, uint8_t, 0, JX_GREATER)
CHAIN(max_u16, uint16_t, uint16_t, 0, JX_GREATER)
CHAIN(max_u32, uint32_t, uint32_t, 0, JX_GREATER)
CHAIN(max_u64, uint64_t, uint64_t, 0, JX_GREATER)
CHAIN(min_f32, float, float, INFINITY, jx_min_float)
CHAIN(min_f64, double, double, (double)INFINITY, jx_min_float)
CHAIN(min_i8, int8_t, int8_t, INT8_MAX, JX_LESS)
CHAIN(min_i16, int16_t, int16_t, INT16_MAX, JX_LESS)
CHAIN(min_i32, int32_t, int32_t, INT32_MAX, JX_LESS)
CHAIN(min_i64, int64_t, int64_t, INT64_MAX, JX_LESS)
CHAIN(min_u8, uint8_t, uint8_t, UINT8_MAX, JX_LESS)
CHAIN(min_u16, uint16_t, uint16_t, UINT16_MAX, JX_LESS)
CHAIN(min_u32, uint32_t, uint32_t, UINT32_MAX, JX_LESS)
CHAIN(min_u64, uint64_t, uint64_t, UINT64_MAX, JX_LESS)
CHAIN(max_c64, float complex, float complex, CMPLXF(-INFINITY, -INFINITY),
      jx_max_complex)
CHAIN(max_c128, double complex, double complex,
      CMPLX(-(double)INFINITY, -(double)INFINITY), jx_max_complex)
CHAIN(min_c64, float complex, float complex, CMPLXF(INFINITY, INFINITY),
      jx_min_complex)
CHAIN(min_c128, double complex, double complex,
      CMPLX((double)INFINITY, (double)INFINITY), jx_min_complex)

/* Pairs of doubles, in the clothes of complex numbers. */
CHAIN(sum_f64x2, double complex, double complex, 0, JX_PAIR_ADD)
CHAIN(prod_f64x2, double complex, double complex, 1, JX_PAIR_MUL)
CHAIN(max_f64x2, double complex, double complex, CMPLX(-(double)INFINITY, 0),
      JX_PAIR_MAX)
CHAIN(min_f64x2, double complex, double complex, CMPLX((double)INFINITY, 0),
      JX_PAIR_MIN)

/* log of a sum of exponentials: e^largest * sum. */
typedef struct logsum {
    double largest;
    double complex sum;
} logsum;

static void logsum_add(logsum *l, double complex x)
{
    double re = creal(x);
    double complex turn = cimag(x) == 0 ? 1 : cexp(CMPLX(0, cimag(x)));

    if (re == l->largest) /* also two infinities */
        l->sum += turn;
    else if (re > l->largest) {
        l->sum = jx_times(l->sum, exp(l->largest - re)) + turn;
        l->largest = re;
    } else
        l->sum += exp(re - l->largest) * turn;
}

#define LOGSUM(name, type, VALUE)                                              \
    static void name(const void *from, void *to, int64_t n, int64_t step,      \
                     int64_t width, bool first, tally *so_far)                 \
    {                                                                          \
        logsum *all = (logsum *)(void *)so_far->bytes;                         \
        for (int64_t j = 0; j < width; j++) {                                  \
            const type *in = (const type *)from + j;                           \
            type *out = (type *)to + j;                                        \
            logsum l = first ? (logsum){-(double)INFINITY, 0} : all[j];        \
            for (int64_t i = 0; i < n; i++, in += step, out += step) {         \
                logsum_add(&l, *in);                                           \
                *out = (type)VALUE;                                            \
            }                                                                  \
            all[j] = l;                                                        \
        }                                                                      \
    }

LOGSUM(logsum_f32, float, (l.largest + log(creal(l.sum))))
LOGSUM(logsum_f64, double, (l.largest + log(creal(l.sum))))
LOGSUM(logsum_c64, float complex, (l.largest + clog(l.sum)))
LOGSUM(logsum_c128, double complex, (l.largest + clog(l.sum)))

static chain_fn *chain_of(jx_prim_id prim, jx_dtype dtype)
{
    static chain_fn *const sum[JX_NDTYPES] = {
        JX_WRAPPING(sum), JX_INEXACT(sum), [JX_F64X2] = sum_f64x2};
    static chain_fn *const prod[JX_NDTYPES] = {
        JX_WRAPPING(prod), JX_INEXACT(prod), [JX_F64X2] = prod_f64x2};
    static chain_fn *const max[JX_NDTYPES] = {
        JX_COMPARING(max), JX_INEXACT(max), [JX_F64X2] = max_f64x2};
    static chain_fn *const min[JX_NDTYPES] = {
        JX_COMPARING(min), JX_INEXACT(min), [JX_F64X2] = min_f64x2};
    static chain_fn *const logs[JX_NDTYPES] = {JX_INEXACT(logsum)};

    switch (prim) {
    case JX_PRIM_cumsum: return sum[dtype];
    case JX_PRIM_cumprod: return prod[dtype];
    case JX_PRIM_cummax: return max[dtype];
    case JX_PRIM_cummin: return min[dtype];
    case JX_PRIM_cumlogsumexp: return logs[dtype];
    default: return NULL;
    }
}

typedef struct cumulative_op {
    cumulative c;
    chain_fn *chain;
} cumulative_op;

/* Lines side by side, in pieces of their length. */
static bool run_lines(jx_run *run, const cumulative_op *op, const char *in,
                      char *out, int64_t step, int64_t item, int64_t width,
                      int64_t *done)
{
    int64_t n = op->c.n, piece = PIECE / width;
    tally so_far;

    for (int64_t i = 0; i < n; i += piece) {
        int64_t count = n - i < piece ? n - i : piece;
        if (!jx_run_lasts_for(run, done, count * width))
            return false;
        op->chain(in + i * step * item, out + i * step * item, count, step,
                  width, i == 0, &so_far);
    }
    return true;
}

static bool run_cumulative(jx_run *run, const void *data, const jx_view *ins,
                           const jx_view *outs, void *scratch)
{
    const cumulative_op *op = data;
    const cumulative *c = &op->c;
    int64_t item = (int64_t)jx_dtype_of(outs[0].dtype)->bytes;
    int64_t start = c->reverse ? (c->n - 1) * c->inner : 0;
    int64_t step = c->reverse ? -c->inner : c->inner;
    int64_t done = 0;

    (void)scratch;
    for (int64_t o = 0; o < c->outer; o++)
        for (int64_t j = 0; j < c->inner; j += CHUNK) {
            int64_t width = c->inner - j < CHUNK ? c->inner - j : CHUNK;
            int64_t at = (o * c->n * c->inner + start + j) * item;
            if (!run_lines(run, op, ins[0].data + at, outs[0].data + at, step,
                           item, width, &done))
                return true;
        }
    return true;
}

bool jx_plan_cumulative(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                        jx_slot *outs)
{
    const jx_p_cumulative *params = eqn->typed;
    jx_slot out = jx_plan_output(p, eqn, 0);
    const jx_dtype_info *info = jx_dtype_of(out.dtype);
    jx_dtype dtype = out.dtype;
    cumulative_op op = {{1, 0, 1, params->reverse}, NULL};

    if (!jx_same_shape(&ins[0], &out))
        return jx_plan_fail(p, "the result has the operand's shape");
    if (params->axis < 0 || params->axis >= out.rank)
        return jx_plan_fail(p, "axis %lld is out of range",
                            (long long)params->axis);
    if (info->kind == JX_KIND_FLOAT && dtype != JX_F64 && dtype != JX_F64X2)
        dtype = JX_F32;
    else if (info->bits < 8)
        dtype = info->kind == JX_KIND_INT ? JX_I8 : JX_U8;
    op.chain = chain_of(eqn->prim->id, dtype);
    if (!op.chain)
        return jx_plan_fail(p, "%s of %s can't be run", eqn->prim->name,
                            info->short_name);
    for (int i = 0; i < params->axis; i++)
        op.c.outer *= out.shape[i];
    for (int i = (int)params->axis + 1; i < out.rank; i++)
        op.c.inner *= out.shape[i];
    op.c.n = out.shape[params->axis];
    jx_slot in = jx_plan_convert(p, &ins[0], dtype);
    in = jx_plan_dense(p, &in);
    jx_slot to =
        dtype == out.dtype ? out : jx_plan_new(p, dtype, out.rank, out.shape);
    if (jx_slot_count(&out) > 0)
        jx_plan_op(p, run_cumulative, &op, sizeof op, 1, &in, 1, &to, 0);
    outs[0] = jx_plan_convert(p, &to, out.dtype);
    return true;
}
