/* move_make.c - plan rules that make elements from nothing, or read their
 * bytes as something else. */
#include "runtime/elementwise.h"
#include "runtime/kernels/move.h"
#include "runtime/plan_rules.h"

#include <stdlib.h>
#include <string.h>

/* The numbers 0, 1, ... once; every other axis repeats them. */
bool jx_plan_iota(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                  jx_slot *outs)
{
    const jx_p_iota *params = eqn->typed;
    jx_dtype dtype = jx_plan_dtype(p, params->dtype);
    size_t size = jx_dtype_of(dtype)->bytes;
    int64_t shape[JX_MAX_RANK];
    int rank;

    (void)ins;
    jx_plan_shape(p, eqn->outs[0]->aval, &rank, shape);
    if (params->dimension < 0 || params->dimension >= rank)
        return jx_plan_fail(p, "there is no axis %lld",
                            (long long)params->dimension);
    int64_t n = shape[params->dimension];
    if (!jx_plan_affords(p, n, size + 8))
        return false;
    char *made = malloc((size_t)n * (size + 8) + 1);
    if (!made)
        return jx_plan_starved(p);
    int64_t *numbers = (int64_t *)(void *)made;
    for (int64_t i = 0; i < n; i++)
        numbers[i] = i;
    jx_convert(JX_I64, dtype, numbers, made + 8 * n, n);
    *outs = jx_plan_constant(p, dtype, 1, &n, made + 8 * n);
    free(made);
    int64_t step = outs->strides[0];
    outs->rank = rank;
    memcpy(outs->shape, shape, (size_t)rank * sizeof *shape);
    memset(outs->strides, 0, (size_t)rank * sizeof *shape);
    outs->strides[params->dimension] = step;
    return true;
}

bool jx_plan_empty(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                   jx_slot *outs)
{
    static const char zero[16];
    int64_t shape[JX_MAX_RANK];
    int rank;

    (void)ins;
    jx_plan_shape(p, eqn->outs[0]->aval, &rank, shape);
    *outs = jx_plan_constant(p, jx_plan_dtype(p, eqn->outs[0]->aval->dtype), 0,
                             NULL, zero);
    outs->rank = rank;
    memcpy(outs->shape, shape, (size_t)rank * sizeof *shape);
    memset(outs->strides, 0, (size_t)rank * sizeof *shape);
    return true;
}

/* The running number of each element, as two words. */
static bool run_iota_2x32(jx_run *run, const void *data, const jx_view *ins,
                          const jx_view *outs, void *scratch)
{
    uint32_t *high = (uint32_t *)(void *)outs[0].data;
    uint32_t *low = (uint32_t *)(void *)outs[1].data;

    (void)run;
    (void)data;
    (void)ins;
    (void)scratch;
    for (int64_t i = 0; i < outs[0].count; i++) {
        high[i] = (uint32_t)((uint64_t)i >> 32);
        low[i] = (uint32_t)i;
    }
    return true;
}

bool jx_plan_iota_2x32(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                       jx_slot *outs)
{
    (void)ins;
    outs[0] = jx_plan_output(p, eqn, 0);
    outs[1] = jx_plan_output(p, eqn, 1);
    jx_plan_op(p, run_iota_2x32, NULL, 0, 0, NULL, 2, outs, 0);
    return true;
}

/* Bitcasts.  4-bit and 2-bit integers lie in a byte each, so a wider element is
 * taken apart or put together by a kernel; all others are views. */

typedef struct parts {
    int per_byte; /* 2 or 4 */
    int bits;
} parts;

static bool run_unpack(jx_run *run, const void *data, const jx_view *ins,
                       const jx_view *outs, void *scratch)
{
    const parts *d = data;
    const unsigned char *from = (const unsigned char *)ins->data;
    unsigned char *to = (unsigned char *)outs->data;

    (void)run;
    (void)scratch;
    for (int64_t i = 0; i < outs->count; i++)
        to[i] = (unsigned char)(from[i / d->per_byte] >>
                                    (i % d->per_byte * d->bits) &
                                ((1 << d->bits) - 1));
    return true;
}

static bool run_pack(jx_run *run, const void *data, const jx_view *ins,
                     const jx_view *outs, void *scratch)
{
    const parts *d = data;
    const unsigned char *from = (const unsigned char *)ins->data;
    unsigned char *to = (unsigned char *)outs->data;
    int64_t bytes = ins->count / d->per_byte;

    (void)run;
    (void)scratch;
    for (int64_t i = 0; i < bytes; i++) {
        unsigned byte = 0;
        for (int k = 0; k < d->per_byte; k++)
            byte |= (unsigned)(from[i * d->per_byte + k] & ((1 << d->bits) - 1))
                    << (k * d->bits);
        to[i] = (unsigned char)byte;
    }
    return true;
}

static int bits_of(jx_dtype dtype)
{
    return dtype == JX_BOOL ? 8 : jx_dtype_of(dtype)->bits;
}

static bool packed(jx_planner *p, const jx_slot *from, jx_dtype to, int rank,
                   const int64_t *shape, jx_slot *out)
{
    bool unpack = bits_of(to) < bits_of(from->dtype);
    int low = bits_of(unpack ? to : from->dtype);
    int high = bits_of(unpack ? from->dtype : to);
    /* Four bits have a byte of their own. */
    parts data = {(high < 8 ? high : 8) / low, low};
    jx_slot in = jx_plan_dense(p, from);

    *out = jx_plan_new(p, to, rank, shape);
    jx_plan_op(p, unpack ? run_unpack : run_pack, &data, sizeof data, 1, &in, 1,
               out, 0);
    return true;
}

bool jx_plan_bitcast(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                     jx_slot *outs)
{
    jx_dtype declared = jx_atom_aval(eqn->ins[0])->dtype;
    jx_dtype to = ((const jx_p_bitcast *)eqn->typed)->new_dtype;
    int64_t shape[JX_MAX_RANK];
    int rank;

    if (declared == JX_KEY)
        declared = JX_U32;
    jx_slot from = jx_plan_convert(p, ins, declared), as;
    jx_plan_shape(p, eqn->outs[0]->aval, &rank, shape);
    if (bits_of(declared) != bits_of(to) &&
        (bits_of(declared) < 8 || bits_of(to) < 8)) {
        packed(p, &from, to, rank, shape, &as);
    } else if (rank == from.rank && bits_of(declared) == bits_of(to)) {
        as = from;
    } else {
        as = jx_plan_dense(p, &from);
        as.rank = rank;
        memcpy(as.shape, shape, (size_t)rank * sizeof *shape);
        int64_t step = (int64_t)jx_dtype_of(to)->bytes;
        for (int i = rank - 1; i >= 0; i--) {
            as.strides[i] = step;
            step *= shape[i];
        }
    }
    as.dtype = to;
    if (jx_slot_count(&as) * (int64_t)bits_of(to) !=
        jx_slot_count(&from) * (int64_t)bits_of(declared))
        return jx_plan_fail(p, "the result has another number of bits");
    *outs = jx_plan_convert(p, &as, jx_plan_dtype(p, to));
    return true;
}
