/* noise.c - see noise.h. */
#include "runtime/noise.h"

#include "frontend/base/intern.h"

#include <float.h>
#include <math.h>

/* How an operation rounds: each number of its results; sums of what it takes; or as if
 * what it takes were off by a part of the largest number there. */
typedef enum rounding { EXACT = 0, EACH, SUMS, MATRICES } rounding;

/* What picks, moves or compares numbers is exact, and so is what calls others, which are
 * asked themselves. */
static rounding rounding_of(jx_prim_id prim)
{
    switch (prim) {
    case JX_PRIM_exp:
    case JX_PRIM_exp2:
    case JX_PRIM_expm1:
    case JX_PRIM_log:
    case JX_PRIM_log2:
    case JX_PRIM_log1p:
    case JX_PRIM_logistic:
    case JX_PRIM_sin:
    case JX_PRIM_cos:
    case JX_PRIM_tan:
    case JX_PRIM_asin:
    case JX_PRIM_acos:
    case JX_PRIM_atan:
    case JX_PRIM_sinh:
    case JX_PRIM_cosh:
    case JX_PRIM_tanh:
    case JX_PRIM_asinh:
    case JX_PRIM_acosh:
    case JX_PRIM_atanh:
    case JX_PRIM_sqrt:
    case JX_PRIM_rsqrt:
    case JX_PRIM_cbrt:
    case JX_PRIM_square:
    case JX_PRIM_one_minus_square:
    case JX_PRIM_erf:
    case JX_PRIM_erfc:
    case JX_PRIM_erf_inv:
    case JX_PRIM_lgamma:
    case JX_PRIM_digamma:
    case JX_PRIM_bessel_i0e:
    case JX_PRIM_bessel_i1e:
    case JX_PRIM_integer_pow:
    case JX_PRIM_add:
    case JX_PRIM_add_any:
    case JX_PRIM_sub:
    case JX_PRIM_mul:
    case JX_PRIM_div:
    case JX_PRIM_pow:
    case JX_PRIM_atan2:
    case JX_PRIM_igamma:
    case JX_PRIM_igammac:
    case JX_PRIM_igamma_grad_a:
    case JX_PRIM_random_gamma_grad:
    case JX_PRIM_zeta:
    case JX_PRIM_polygamma:
    case JX_PRIM_regularized_incomplete_beta:
    case JX_PRIM_polynomial: return EACH;
    case JX_PRIM_scatter_add:
    case JX_PRIM_scatter_sub:
    case JX_PRIM_scatter_mul:
    case JX_PRIM_reduce_sum:
    case JX_PRIM_reduce_prod:
    case JX_PRIM_cumsum:
    case JX_PRIM_cumprod:
    case JX_PRIM_cumlogsumexp:
    case JX_PRIM_reduce_window_sum:
    case JX_PRIM_select_and_scatter_add:
    case JX_PRIM_dot_general:
    case JX_PRIM_conv_general_dilated:
    case JX_PRIM_ragged_dot_general: return SUMS;
    case JX_PRIM_fft:
    case JX_PRIM_cholesky:
    case JX_PRIM_lu:
    case JX_PRIM_qr:
    case JX_PRIM_geqrf:
    case JX_PRIM_householder_product:
    case JX_PRIM_ormqr:
    case JX_PRIM_svd:
    case JX_PRIM_eigh:
    case JX_PRIM_eig:
    case JX_PRIM_schur:
    case JX_PRIM_triangular_solve:
    case JX_PRIM_tridiagonal_solve:
    case JX_PRIM_tridiagonal:
    case JX_PRIM_hessenberg: return MATRICES;
    default: return EXACT;
    }
}

typedef struct noisy {
    const jx_noise *noise;
    uint64_t salt; /* what made the numbers */
    bool by_largest;
} noisy;

/* A number that few bits hold was not rounded. */
static double moved(const noisy *n, double value, double unit)
{
    uint64_t bits = jx_hash_mix(n->noise->seed ^ n->salt,
                                jx_hash_bytes(&value, sizeof value));
    double part = (double)(int64_t)bits * 0x1p-63;

    return (double)(float)value == value ? value : value + unit * n->noise->by * part;
}

static bool run_noise(jx_run *run, const void *data, const jx_view *ins,
                      const jx_view *outs, void *scratch)
{
    const noisy *n = data;
    int64_t count = ins->count * (ins->dtype == JX_C128 ? 2 : 1);
    const double *from = (const double *)(const void *)ins->data;
    double *to = (double *)(void *)outs->data, largest = 0;

    (void)run;
    (void)scratch;
    for (int64_t i = 0; n->by_largest && i < count; i++)
        largest = isfinite(from[i]) ? fmax(largest, fabs(from[i])) : largest;
    for (int64_t i = 0; i < count; i++) {
        double unit = DBL_EPSILON * (n->by_largest ? largest : fabs(from[i]));
        to[i] = n->noise->by == 0 ? from[i] : moved(n, from[i], unit);
    }
    return true;
}

static void put_through(jx_planner *p, const noisy *data, int count, jx_slot *slots)
{
    for (int i = 0; i < count; i++) {
        if (slots[i].dtype != JX_F64 && slots[i].dtype != JX_C128)
            continue;
        jx_slot from = jx_plan_dense(p, &slots[i]);
        jx_slot to = jx_plan_new(p, from.dtype, from.rank, from.shape);
        jx_plan_op(p, run_noise, data, sizeof *data, 1, &from, 1, &to, 0);
        slots[i] = to;
    }
}

void jx_plan_noise_before(jx_planner *p, const jx_noise *noise, const jx_eqn *eqn, jx_slot *ins)
{
    rounding how = rounding_of(eqn->prim->id);
    noisy data = {noise, 0, how == MATRICES};

    if (how == SUMS || how == MATRICES)
        put_through(p, &data, eqn->nins, ins);
}

void jx_plan_noise_after(jx_planner *p, const jx_noise *noise, const jx_eqn *eqn, jx_slot *outs)
{
    noisy data = {noise, (uint64_t)eqn->prim->id, false};

    if (rounding_of(eqn->prim->id) != EXACT)
        put_through(p, &data, eqn->nouts, outs);
}
