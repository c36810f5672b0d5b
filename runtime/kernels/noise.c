/* noise.c - see noise.h and elementwise.h. */
#include "runtime/noise.h"

#include "frontend/base/intern.h"
#include "runtime/kernels/elementwise.h"
#include "runtime/kernels/vector.h"
#include "runtime/plan_impl.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* How a step rounds, and how that is known of its operands and result;
 * SUMS, SOLUTIONS and MATRICES move what the step takes, MATRICES by a part of
 * the largest number there. */
typedef enum rounding {
    EXACT = 0,
    SUM,
    DIFFERENCE,
    PRODUCT,
    QUOTIENT,
    SQUARE,
    ROOT,
    POWER, /* of integers: exact where the result is one */
    FUNCTION,
    SUMS,
    SOLUTIONS, /* of triangular systems whose entries are off by a part each */
    MATRICES,
} rounding;

/* What picks, moves or compares numbers is exact, and so is what calls others,
 * which are asked themselves. */
static rounding rounding_of(jx_prim_id prim)
{
    switch (prim) {
    case JX_PRIM_add:
    case JX_PRIM_add_any: return SUM;
    case JX_PRIM_sub: return DIFFERENCE;
    case JX_PRIM_mul: return PRODUCT;
    case JX_PRIM_div: return QUOTIENT;
    case JX_PRIM_square: return SQUARE;
    case JX_PRIM_sqrt: return ROOT;
    case JX_PRIM_integer_pow:
    case JX_PRIM_pow: return POWER;
    case JX_PRIM_rsqrt:
    case JX_PRIM_cbrt:
    case JX_PRIM_exp:
    case JX_PRIM_expm1:
    case JX_PRIM_log:
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
    case JX_PRIM_atan2:
    case JX_PRIM_erf:
    case JX_PRIM_erfc:
    case JX_PRIM_erf_inv:
    case JX_PRIM_lgamma:
    case JX_PRIM_digamma:
    case JX_PRIM_bessel_i0e:
    case JX_PRIM_bessel_i1e:
    case JX_PRIM_igamma:
    case JX_PRIM_igammac:
    case JX_PRIM_igamma_grad_a:
    case JX_PRIM_random_gamma_grad:
    case JX_PRIM_zeta:
    case JX_PRIM_polygamma:
    case JX_PRIM_regularized_incomplete_beta: return FUNCTION;
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
    case JX_PRIM_triangular_solve: return SOLUTIONS;
    case JX_PRIM_fft:
    case JX_PRIM_householder_product:
    case JX_PRIM_ormqr:
    case JX_PRIM_tridiagonal_solve: return MATRICES;
    default: return jx_prim_decomposes(prim) ? MATRICES : EXACT;
    }
}

bool jx_prim_is_noisy(jx_prim_id prim)
{
    return rounding_of(prim) != EXACT;
}

typedef struct noisy {
    const jx_noise *noise;
    uint64_t salt; /* the operation */
    rounding how;
} noisy;

/* Inlined by all means: else its loop is not made of vectors. */
static inline __attribute__((always_inline)) uint64_t mixed(uint64_t hash,
                                                            double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

/* From -1 to 1, by several amounts, so that two steps seldom go along
 * with each other. */
static inline __attribute__((always_inline)) double part_of(uint64_t hash,
                                                            double value)
{
    return (double)(int64_t)(mixed(hash, value) * 0xbf58476d1ce4e5b9u) *
           0x1p-63;
}

static double moved(const noisy *n, uint64_t hash, double value, double unit)
{
    return value + unit * n->noise->by * part_of(hash, value);
}

/* -- steps of elementwise operations --------------------------------------- */

/* Operands: the result r, and what it was made of, x and y (x twice, if that is
 * all); `exact`: whether r is what these give exactly.  A function for each way
 * of rounding, so that its loop is made of vectors. */
#define MOVES(name, exact)                                                     \
    JX_VECTOR_CLONES static void move_##name(void *o, const void *const *ins,  \
                                             int64_t count, const void *param) \
    {                                                                          \
        const noisy *n = param;                                                \
        const double *result = ins[0], *a = ins[1], *b = ins[2];               \
        double by = n->noise->by, *out = o;                                    \
        uint64_t seed = n->noise->seed ^ n->salt;                              \
        JX_NO_ALIAS                                                            \
        for (int64_t i = 0; i < count; i++) {                                  \
            double x = a[i], y = b[i], r = result[i];                          \
            double unit = DBL_EPSILON * fabs(r);                               \
            double moved =                                                     \
                r + unit * by * part_of(mixed(mixed(seed, x), y), r);          \
            bool stays = (r - r != 0) | (r == 0) | (exact) | (by == 0);        \
            out[i] = stays ? r : moved;                                        \
        }                                                                      \
    }

MOVES(SUM, (x - (r - (r - x))) + (y - (r - x)) == 0)
MOVES(DIFFERENCE, (x - (r - (r - x))) - (y + (r - x)) == 0)
MOVES(PRODUCT, fma(x, y, -r) == 0)
MOVES(QUOTIENT, fma(r, y, -x) == 0)
MOVES(SQUARE, fma(x, x, -r) == 0)
MOVES(ROOT, fma(r, r, -x) == 0)
MOVES(POWER, fabs(r) < 0x1p53 && r == rint(r))
MOVES(FUNCTION, x == 0)
#undef MOVES

static jx_tile *const moves[] = {
    [SUM] = move_SUM,         [DIFFERENCE] = move_DIFFERENCE,
    [PRODUCT] = move_PRODUCT, [QUOTIENT] = move_QUOTIENT,
    [SQUARE] = move_SQUARE,   [ROOT] = move_ROOT,
    [POWER] = move_POWER,     [FUNCTION] = move_FUNCTION,
};

/* A part of a complex number that is zero. */
static double zero(const noisy *n, double part, double other)
{
    return n->noise->signs
               ? copysign(0, part_of(n->noise->seed ^ n->salt, other))
               : part;
}

/* The same of complex numbers, of which a product's or a function's parts are
 * as sure as both of them; one that few bits hold was not rounded. */
static void move_pairs(void *o, const void *const *ins, int64_t count,
                       const void *param)
{
    const noisy *n = param;
    const double *r = ins[0];
    double *out = o;

    for (int64_t i = 0; i < 2 * count; i++) {
        bool alone = n->how == SUM || n->how == DIFFERENCE;
        double size = alone ? fabs(r[i]) : hypot(r[i], r[i ^ 1]);
        out[i] =
            n->noise->by == 0 || !isfinite(r[i]) ? r[i]
            : r[i] == 0                          ? zero(n, r[i], r[i ^ 1])
            : (double)(float)r[i] == r[i]
                ? r[i]
                : moved(n, n->noise->seed ^ n->salt, r[i], DBL_EPSILON * size);
    }
}

/* What the tile computes: the primitive, whose tile it is. */
static jx_prim_id prim_of(jx_tile *tile, jx_dtype dtype)
{
    for (int prim = 0; prim < JX_NPRIMS; prim++)
        if (rounding_of((jx_prim_id)prim) != EXACT &&
            rounding_of((jx_prim_id)prim) <= FUNCTION &&
            jx_tile_of((jx_prim_id)prim, dtype) == tile)
            return (jx_prim_id)prim;
    return JX_NPRIMS;
}

int jx_make_noise(jx_maker *m, jx_tile *tile, jx_dtype dtype, int made,
                  int nins, const int *ins)
{
    jx_prim_id prim = prim_of(tile, dtype);
    int values[3] = {made, ins[0], ins[nins > 1 ? 1 : 0]};
    bool fused = tile == jx_tile_fma(JX_F64);
    noisy *n = made >= 0 && (fused || prim != JX_NPRIMS)
                   ? JX_NEW(m->p->arena, noisy)
                   : NULL;

    if (!n)
        return made;
    *n = (noisy){m->p->options->noise, (uint64_t)prim,
                 fused ? FUNCTION : rounding_of(prim)};
    return jx_region_instr(m->p->scratch, m->region,
                           dtype == JX_F64 ? moves[n->how] : move_pairs, n,
                           dtype, 3, values);
}

/* -- operands of the others ------------------------------------------------ */

/* Sums of numbers that few bits hold are exact, where all are such: beside
 * others, they are what is rounded most. */
static bool is_of_few_bits(const double *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if ((double)(float)from[i] != from[i])
            return false;
    return true;
}

static bool move_operand(jx_run *run, const void *data, const jx_view *ins,
                         const jx_view *outs, void *scratch)
{
    const noisy *n = data;
    int64_t count = ins->count * (ins->dtype == JX_C128 ? 2 : 1);
    const double *from = (const double *)(const void *)ins->data;
    double *to = (double *)(void *)outs->data, largest = 0;
    /* a decomposition never is exact */
    bool exact =
        n->noise->by == 0 || (n->how == SUMS && is_of_few_bits(from, count));

    (void)run;
    (void)scratch;
    for (int64_t i = 0; n->how == MATRICES && i < count; i++)
        largest = isfinite(from[i]) ? fmax(largest, fabs(from[i])) : largest;
    for (int64_t i = 0; i < count; i++) {
        double unit =
            DBL_EPSILON * (n->how == MATRICES ? largest : fabs(from[i]));
        to[i] = exact ? from[i] : moved(n, n->noise->seed, from[i], unit);
    }
    return true;
}

void jx_plan_noise(jx_planner *p, const jx_noise *noise, const jx_eqn *eqn,
                   jx_slot *ins)
{
    const noisy data = {noise, 0, rounding_of(eqn->prim->id)};

    for (int i = 0; data.how >= SUMS && i < eqn->nins; i++) {
        if (ins[i].dtype != JX_F64 && ins[i].dtype != JX_C128)
            continue;
        jx_slot from = jx_plan_dense(p, &ins[i]);
        jx_slot to = jx_plan_new(p, from.dtype, from.rank, from.shape);
        jx_plan_op(p, move_operand, &data, sizeof data, 1, &from, 1, &to, 0);
        ins[i] = to;
    }
}
