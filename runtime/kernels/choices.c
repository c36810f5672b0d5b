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
    bool inexact = eqn->nins > 0 && jx_dtype_is_inexact(jx_atom_aval(eqn->ins[0])->dtype);

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

static double number_at(const jx_view *view, const int64_t *index)
{
    const char *at = view->data;
    double value[2] = {0};

    for (int k = 0; k < view->rank; k++)
        at += index[k] * view->strides[k];
    if (view->dtype == JX_F64)
        return *(const double *)at;
    if (view->dtype == JX_BOOL)
        return *at;
    if (jx_dtype_is_inexact(view->dtype))
        jx_convert(view->dtype, jx_dtype_is_complex(view->dtype) ? JX_C128 : JX_F64, at, value,
                   1);
    else
        for (size_t i = 0; i < jx_dtype_of(view->dtype)->bytes; i++)
            value[0] += at[i] * (double)(i + 1);
    return value[0];
}

/* 0, 1, 2: equal, more, less. */
static int compared(double a, double b)
{
    return a > b ? 1 : a < b ? 2 : 0;
}

static bool run_choices(jx_run *run, const void *data, const jx_view *ins,
                        const jx_view *outs, void *scratch)
{
    enum { MOST = 4096 };
    const chosen *d = data;
    int64_t index[JX_MAX_RANK] = {0};
    uint64_t sum = d->to->sum;

    (void)run;
    (void)outs;
    (void)scratch;
    for (int64_t i = 0; i < ins[0].count && i < MOST; i++) {
        double a = number_at(&ins[0], index);
        double b = d->look == SIDE ? number_at(&ins[1], index) : 0;
        uint64_t way = d->look == SIGN || d->look == SIDE ? (uint64_t)compared(a, b)
                                                          : (uint64_t)(int64_t)a;
        sum = jx_hash_mix(sum, way);
        for (int k = ins[0].rank - 1; k >= 0 && ++index[k] == ins[0].shape[k]; k--)
            index[k] = 0;
    }
    d->to->sum = sum;
    return true;
}

void jx_plan_choices(jx_planner *p, jx_choices *to, const jx_eqn *eqn, const jx_slot *ins,
                     const jx_slot *outs)
{
    chosen data = {to, look_at(eqn)};
    /* A clamp and a max: what came out beside what went in. */
    jx_slot seen[2] = {outs[0], eqn->prim->id == JX_PRIM_clamp ? ins[1] : ins[0]};
    bool same = seen[0].rank == seen[1].rank;

    if (data.look == SIGN || data.look == FIRST_OPERAND)
        seen[0] = ins[0];
    for (int k = 0; same && k < seen[0].rank; k++)
        same = seen[0].shape[k] == seen[1].shape[k];
    if (data.look == NOTHING || (data.look == SIDE && !same))
        return;
    jx_plan_op(p, run_choices, &data, sizeof data, data.look == SIDE ? 2 : 1, seen, 0, NULL,
               0);
}
