/* choices.c - see choices.h. */
#include "runtime/choices.h"

#include "frontend/base/intern.h"
#include "runtime/elementwise.h"
#include "runtime/plan_impl.h"

#include <math.h>
#include <string.h>

/* What of an equation shows its choice. */
typedef enum look { NOTHING = 0, RESULT, FIRST_OPERAND, SIGN, SIDE } look;

static look look_at(const jx_eqn *eqn)
{
    bool inexact =
        eqn->nins > 0 && jx_dtype_is_inexact(jx_atom_aval(eqn->ins[0])->dtype);

    switch (eqn->prim->id) {
    case JX_PRIM_eq:
    case JX_PRIM_ne:
    case JX_PRIM_lt:
    case JX_PRIM_le:
    case JX_PRIM_gt:
    case JX_PRIM_ge:
    case JX_PRIM_is_finite: return inexact ? RESULT : NOTHING;
    case JX_PRIM_abs:
    case JX_PRIM_sign: return inexact ? SIGN : NOTHING;
    case JX_PRIM_max:
    case JX_PRIM_min:
    case JX_PRIM_clamp: return inexact ? SIDE : NOTHING;
    case JX_PRIM_cond: return FIRST_OPERAND;
    default: return NOTHING;
    }
}

bool jx_eqn_chooses(const jx_eqn *eqn)
{
    return look_at(eqn) != NOTHING;
}

typedef struct chosen {
    jx_choices *to;
    look look;
} chosen;

static double number_at(jx_dtype dtype, const char *at)
{
    double value[2] = {0};

    if (dtype == JX_F64)
        return *(const double *)at;
    if (dtype == JX_BOOL)
        return *at;
    if (jx_dtype_is_inexact(dtype))
        jx_convert(dtype, jx_dtype_is_complex(dtype) ? JX_C128 : JX_F64, at,
                   value, 1);
    else
        for (size_t i = 0; i < jx_dtype_of(dtype)->bytes; i++)
            value[0] += at[i] * (double)(i + 1);
    return value[0];
}

/* On to the next element of a view; `index` is of the one before. */
static const char *next_of(const jx_view *view, const int64_t *index,
                           const char *at)
{
    for (int k = view->rank - 1; k >= 0; k--) {
        at += view->strides[k];
        if (index[k] + 1 < view->shape[k])
            return at;
        at -= view->strides[k] * view->shape[k];
    }
    return at;
}

/* 0, 1, 2: equal, more, less. */
static int compared(double a, double b)
{
    return a > b ? 1 : a < b ? 2 : 0;
}

static bool run_choices(jx_run *run, const void *data, const jx_view *ins,
                        const jx_view *outs, void *scratch)
{
    enum { MOST = 4096, PACKED = 32 };
    const chosen *d = data;
    bool side = d->look == SIDE,
         dense = ins[0].dense && (!side || ins[1].dense);
    size_t first_size = jx_dtype_of(ins[0].dtype)->bytes;
    size_t second_size = side ? jx_dtype_of(ins[1].dtype)->bytes : 0;
    const char *first = ins[0].data, *second = side ? ins[1].data : NULL;
    int64_t index[JX_MAX_RANK] = {0};
    uint64_t sum = d->to->sum, ways = 0;

    (void)run;
    (void)outs;
    (void)scratch;
    for (int64_t i = 0; i < ins[0].count && i < MOST; i++) {
        double a = number_at(ins[0].dtype, first);
        double b = side ? number_at(ins[1].dtype, second) : 0;
        if (d->look == FIRST_OPERAND) /* any number of branches */
            sum = jx_hash_mix(sum, (uint64_t)(int64_t)a);
        ways = ways << 2 | (uint64_t)compared(a, b);
        if (i % PACKED == PACKED - 1)
            sum = jx_hash_mix(sum, ways);
        first = dense ? first + first_size : next_of(&ins[0], index, first);
        if (side)
            second =
                dense ? second + second_size : next_of(&ins[1], index, second);
        for (int k = ins[0].rank - 1;
             !dense && k >= 0 && ++index[k] == ins[0].shape[k]; k--)
            index[k] = 0;
    }
    d->to->sum = jx_hash_mix(sum, ways);
    return true;
}

static bool is_like(const jx_slot *a, const jx_slot *b)
{
    bool same = a->rank == b->rank;

    for (int k = 0; same && k < a->rank; k++)
        same = a->shape[k] == b->shape[k];
    return same;
}

void jx_plan_choices(jx_planner *p, jx_choices *to, const jx_eqn *eqn,
                     const jx_slot *ins, const jx_slot *outs)
{
    chosen data = {to, look_at(eqn)};
    bool clamps = eqn->prim->id == JX_PRIM_clamp;
    /* A clamp and a max: what came out beside what went in, of which one
     * may be a number. */
    jx_slot seen[2] = {outs[0]};

    if (data.look == SIGN || data.look == FIRST_OPERAND)
        seen[0] = ins[0];
    else if (data.look == SIDE)
        seen[1] = clamps || !is_like(&ins[0], &outs[0]) ? ins[1] : ins[0];
    if (data.look == NOTHING ||
        (data.look == SIDE && !is_like(&seen[1], &outs[0])))
        return;
    jx_plan_op(p, run_choices, &data, sizeof data, data.look == SIDE ? 2 : 1,
               seen, 0, NULL, 0);
}
