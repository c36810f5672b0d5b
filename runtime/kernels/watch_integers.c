/* watch_integers.c - see watch.h: what equations make of integers that their
 * dtype does not hold.
 *
 * Only signed arithmetic has a meaning that wrapping breaks: unsigned integers
 * are bits, and wrap by their author's wish.  A conversion loses what its
 * result's dtype does not hold. */
#include "runtime/watch.h"

#include "frontend/ir/params.h"
#include "runtime/elementwise.h"
#include "runtime/plan_impl.h"
#include "runtime/run.h"

#include <math.h>
#include <string.h>

enum { PIECE = 256 };

/* What is computed; the value that a piece of elements should have had
 * overflows int64 too. */
typedef enum integer_op {
    OP_ADD = 1,
    OP_SUB,
    OP_MUL,
    OP_NEG,
    OP_ABS,
    OP_POWER,
    OP_DIVIDE,  /* also a remainder */
    OP_CONVERT, /* of an integer */
    OP_ROUND,   /* of a float */
    OP_SUM,     /* along axes */
} integer_op;

/* Data of the kernel: operands, result. */
typedef struct integers {
    jx_watch *to; /* NULL: the run notices */
    const jx_eqn *eqn;
    integer_op op;
    int nins;
    int64_t power;
    uint32_t axes; /* of a sum */
    bool wraps;    /* probes of overflow are asked for */
    bool from_u64; /* of a conversion: what is below zero as int64 is large */
    int64_t *runs;
} integers;

/* A dtype's integers lie between these; those of u64 beyond int64
 * count as int64's. */
typedef struct bounds {
    int64_t lo, hi;
} bounds;

static bounds bounds_of(jx_dtype dtype)
{
    const jx_dtype_info *info = jx_dtype_of(dtype);

    if (info->kind == JX_KIND_UINT)
        return (bounds){0, info->bits >= 63 ? INT64_MAX
                                            : ((int64_t)1 << info->bits) - 1};
    if (info->bits >= 64)
        return (bounds){INT64_MIN, INT64_MAX};
    return (bounds){-((int64_t)1 << (info->bits - 1)),
                    ((int64_t)1 << (info->bits - 1)) - 1};
}

static bool is_within(bounds b, int64_t value)
{
    return value >= b.lo && value <= b.hi;
}

static bool power_fits(bounds b, int64_t base, int64_t power)
{
    int64_t value = 1;

    /* Any base but -1, 0 and 1 leaves int64 within 64 turns. */
    for (; power > 0 && (value || base); power--) {
        if (base >= -1 && base <= 1)
            return true;
        if (__builtin_mul_overflow(value, base, &value) || !is_within(b, value))
            return false;
    }
    return true;
}

/* Whether an element is what its equation says. */
static bool is_right(const integers *d, bounds b, int64_t x, int64_t y)
{
    int64_t value;

    switch (d->op) {
    case OP_ADD:
        return !__builtin_add_overflow(x, y, &value) && is_within(b, value);
    case OP_SUB:
        return !__builtin_sub_overflow(x, y, &value) && is_within(b, value);
    case OP_MUL:
        return !__builtin_mul_overflow(x, y, &value) && is_within(b, value);
    case OP_NEG:
    case OP_ABS: return x != b.lo;
    case OP_POWER: return power_fits(b, x, d->power);
    case OP_DIVIDE:
        return y != 0 && !(d->wraps && y == -1 && b.lo && x == b.lo &&
                           d->eqn->prim->id == JX_PRIM_div);
    case OP_CONVERT: return is_within(b, x) && !(d->from_u64 && x < 0);
    default: return true;
    }
}

static bool is_rounded(bounds b, double x)
{
    double whole = trunc(x);

    /* The largest int64 is no double: the next one is beyond it. */
    return whole >= (double)b.lo &&
           (b.hi == INT64_MAX ? whole < 0x1p63 : whole <= (double)b.hi);
}

static char *at_index(const jx_view *view, const int64_t *index)
{
    char *at = view->data;

    for (int k = 0; k < view->rank; k++)
        at += index[k] * view->strides[k];
    return at;
}

/* Elements along the last axis, as int64. */
static void read_row(const jx_view *view, const char *at, int64_t n,
                     int64_t *to)
{
    int64_t step = view->rank ? view->strides[view->rank - 1] : 0;
    size_t size = jx_dtype_of(view->dtype)->bytes;

    if (step == (int64_t)size) {
        jx_convert(view->dtype, JX_I64, at, to, n);
        return;
    }
    for (int64_t i = 0; i < n; i++, at += step)
        if (!i || step)
            jx_convert(view->dtype, JX_I64, at, &to[i], 1);
        else
            to[i] = to[0];
}

static void read_reals(const jx_view *view, const char *at, int64_t n,
                       double *to)
{
    int64_t step = view->rank ? view->strides[view->rank - 1] : 0;

    for (int64_t i = 0; i < n; i++, at += step)
        jx_convert(view->dtype, JX_F64, at, &to[i], 1);
}

static jx_slip_kind kind_of(const integers *d, const char *divisor,
                            jx_dtype dtype)
{
    int64_t by;

    switch (d->op) {
    case OP_CONVERT: return JX_NARROWED;
    case OP_ROUND: return JX_OUT_OF_RANGE;
    case OP_DIVIDE:
        jx_convert(dtype, JX_I64, divisor, &by, 1);
        return by ? JX_OVERFLOWED : JX_DIVIDED;
    default: return JX_OVERFLOWED;
    }
}

/* The slip of this equation in the watch, made at this element if there is
 * none; NULL: no room. */
static jx_slip *slip_at(const integers *d, const jx_view *ins,
                        const int64_t *index)
{
    const jx_view *out = &ins[d->nins];
    jx_watch *watch = d->to;
    jx_slip *to;

    for (int i = 0; i < watch->nslips; i++)
        if (watch->slips[i].at.eqn == d->eqn)
            return &watch->slips[i];
    if (watch->nslips == JX_WATCHED_ROOTS)
        return NULL;
    to = &watch->slips[watch->nslips++];
    *to = (jx_slip){.at = {.eqn = d->eqn, .rank = out->rank, .run = *d->runs}};
    memcpy(to->at.shape, out->shape, (size_t)out->rank * sizeof *out->shape);
    memcpy(to->at.index, index, (size_t)out->rank * sizeof *index);
    to->at.value = jx_element_at(out->dtype, at_index(out, index));
    to->kind =
        kind_of(d, at_index(&ins[d->nins - 1], index), ins[d->nins - 1].dtype);
    for (int i = 0; i < d->nins && d->op != OP_SUM; i++)
        to->at.operands[to->at.noperands++] =
            jx_element_at(ins[i].dtype, at_index(&ins[i], index));
    return to;
}

/* False: it was noticed, which is all that is asked for. */
static bool tell(const integers *d, jx_run *run, const jx_view *ins,
                 const int64_t *index)
{
    jx_slip *slip;

    if (!d->to) {
        jx_run_notice(run);
        return false;
    }
    slip = slip_at(d, ins, index);
    if (slip && slip->at.run == *d->runs)
        slip->at.count++;
    return true;
}

/* -- element by element ---------------------------------------------------- */

static bool look_at_piece(const integers *d, jx_run *run, const jx_view *ins,
                          int64_t *index, int64_t n)
{
    const jx_view *out = &ins[d->nins];
    bounds b = bounds_of(out->dtype);
    int64_t x[PIECE], y[PIECE] = {0};
    double reals[PIECE];
    int last = out->rank - 1;
    int64_t first = last < 0 ? 0 : index[last];

    if (d->op == OP_ROUND)
        read_reals(&ins[0], at_index(&ins[0], index), n, reals);
    else
        read_row(&ins[0], at_index(&ins[0], index), n, x);
    if (d->nins > 1)
        read_row(&ins[1], at_index(&ins[1], index), n, y);
    for (int64_t i = 0; i < n; i++) {
        if (d->op == OP_ROUND ? is_rounded(b, reals[i])
                              : is_right(d, b, x[i], y[i]))
            continue;
        if (last >= 0)
            index[last] = first + i;
        if (!tell(d, run, ins, index))
            return false;
    }
    if (last >= 0)
        index[last] = first;
    return true;
}

static bool next_row(int rank, const int64_t *shape, int64_t *index)
{
    int axis = rank - 2;

    for (; axis >= 0 && ++index[axis] == shape[axis]; axis--)
        index[axis] = 0;
    return axis >= 0;
}

static bool run_integers(jx_run *run, const void *data, const jx_view *ins,
                         const jx_view *outs, void *scratch)
{
    const integers *d = data;
    const jx_view *out = &ins[d->nins];
    int64_t index[JX_MAX_RANK] = {0};
    int last = out->rank - 1;
    int64_t columns = last < 0 ? 1 : out->shape[last];

    (void)outs;
    (void)scratch;
    if (out->count)
        do
            for (int64_t at = 0; at < columns; at += PIECE) {
                if (last >= 0)
                    index[last] = at;
                if (!look_at_piece(d, run, ins, index,
                                   columns - at < PIECE ? columns - at : PIECE))
                    return true;
            }
        while (next_row(out->rank, out->shape, index));
    if (d->to)
        ++*d->runs;
    return true;
}

/* -- sums ------------------------------------------------------------------ */

/* Sums in the scratch memory, one for each result; those that leave
 * int64 stay there. */
static void add_up(const integers *d, const jx_view *in, const jx_view *out,
                   int64_t *sums)
{
    int64_t index[JX_MAX_RANK] = {0};
    int axis;

    memset(sums, 0, (size_t)out->count * sizeof *sums);
    do {
        int64_t at = 0, value;
        for (int k = 0; k < in->rank; k++)
            if (!(d->axes >> k & 1))
                at = at * in->shape[k] + index[k];
        jx_convert(in->dtype, JX_I64, at_index(in, index), &value, 1);
        if (__builtin_add_overflow(sums[at], value, &sums[at]))
            sums[at] = INT64_MAX;
        for (axis = in->rank - 1; axis >= 0 && ++index[axis] == in->shape[axis];
             axis--)
            index[axis] = 0;
    } while (axis >= 0);
}

static bool run_sums(jx_run *run, const void *data, const jx_view *ins,
                     const jx_view *outs, void *scratch)
{
    const integers *d = data;
    const jx_view *out = &ins[1];
    bounds b = bounds_of(out->dtype);
    int64_t *sums = scratch, index[JX_MAX_RANK] = {0};

    (void)outs;
    if (!ins[0].count)
        return true;
    add_up(d, &ins[0], out, sums);
    for (int64_t i = 0; i < out->count; i++) {
        if (!is_within(b, sums[i]) && !tell(d, run, ins, index))
            return true;
        for (int k = out->rank - 1; k >= 0 && ++index[k] == out->shape[k]; k--)
            index[k] = 0;
    }
    if (d->to)
        ++*d->runs;
    return true;
}

/* -- planning -------------------------------------------------------------- */

static bool is_signed(jx_dtype dtype)
{
    return jx_dtype_of(dtype)->kind == JX_KIND_INT;
}

static integer_op conversion(const jx_slot *in, const jx_slot *out)
{
    bounds from, to;

    if (!jx_dtype_is_integer(out->dtype))
        return 0;
    if (jx_dtype_is_float(in->dtype))
        return OP_ROUND;
    if (!jx_dtype_is_integer(in->dtype))
        return 0;
    from = bounds_of(in->dtype);
    to = bounds_of(out->dtype);
    return from.lo < to.lo || from.hi > to.hi ||
                   (in->dtype == JX_U64) != (out->dtype == JX_U64)
               ? OP_CONVERT
               : 0;
}

static integer_op wrapping(integers *d, const jx_eqn *eqn, const jx_slot *ins,
                           const jx_slot *outs)
{
    if (eqn->prim->id == JX_PRIM_convert_element_type)
        return conversion(ins, outs);
    if (!is_signed(outs[0].dtype))
        return 0;
    switch (eqn->prim->id) {
    case JX_PRIM_add:
    case JX_PRIM_add_any: return OP_ADD;
    case JX_PRIM_sub: return OP_SUB;
    case JX_PRIM_mul: return OP_MUL;
    case JX_PRIM_neg: return OP_NEG;
    case JX_PRIM_abs: return OP_ABS;
    case JX_PRIM_integer_pow:
        d->power = ((const jx_p_integer_pow *)eqn->typed)->y;
        return OP_POWER;
    case JX_PRIM_reduce_sum:
        if (ins[0].dtype != outs[0].dtype)
            return 0;
        for (int i = 0; i < ((const jx_p_axes *)eqn->typed)->axes.count; i++)
            d->axes |= 1u << ((const jx_p_axes *)eqn->typed)->axes.at[i];
        return OP_SUM;
    default: return 0;
    }
}

static bool describe(integers *d, unsigned kinds, const jx_eqn *eqn,
                     const jx_slot *ins, const jx_slot *outs)
{
    if (!eqn->typed || eqn->nouts != 1 || eqn->nins < 1 || eqn->nins > 2)
        return false;
    d->nins = eqn->nins;
    d->wraps = kinds & JX_PROBE_WRAP;
    d->from_u64 = ins[0].dtype == JX_U64;
    if ((eqn->prim->id == JX_PRIM_div || eqn->prim->id == JX_PRIM_rem) &&
        jx_dtype_is_integer(outs[0].dtype))
        d->op = kinds & JX_PROBE_NAN ? OP_DIVIDE : 0;
    else if (kinds & JX_PROBE_WRAP)
        d->op = wrapping(d, eqn, ins, outs);
    for (int i = 0; d->op && d->op != OP_SUM && i < eqn->nins; i++)
        if (ins[i].rank &&
            (ins[i].rank != outs[0].rank ||
             memcmp(ins[i].shape, outs[0].shape,
                    (size_t)ins[i].rank * sizeof *ins[i].shape) != 0))
            return false;
    return d->op != 0;
}

void jx_plan_watch_integers(jx_planner *p, jx_watch *to, unsigned kinds,
                            const jx_eqn *eqn, const jx_slot *ins,
                            const jx_slot *outs)
{
    integers data = {.to = to, .eqn = eqn};
    jx_slot slots[3];

    if (!describe(&data, kinds, eqn, ins, outs))
        return;
    data.runs = JX_NEW(p->arena, int64_t);
    if (!data.runs) {
        jx_plan_starved(p);
        return;
    }
    if (to && to->tracks)
        JX_PUSH(to->tracks->arena, &to->tracks->runs, data.runs);
    memcpy(slots, ins, (size_t)data.nins * sizeof *slots);
    slots[data.nins] = outs[0];
    jx_plan_op(p, data.op == OP_SUM ? run_sums : run_integers, &data,
               sizeof data, data.nins + 1, slots, 0, NULL,
               data.op == OP_SUM
                   ? (size_t)jx_slot_count(&outs[0]) * sizeof(int64_t)
                   : 0);
}
