/* jitter.c - see jitter.h. */
#include "runtime/kernels/jitter.h"

#include "runtime/elementwise.h"
#include "runtime/plan_impl.h"

#include <math.h>
#include <string.h>

/* Whether a step rounds, and how that is known of its operands and result. */
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
} rounding;

typedef struct jitter {
    uint64_t seed;
    rounding how;
} jitter;

static const struct {
    jx_prim_id prim;
    rounding how;
} steps[] = {
    {JX_PRIM_add, SUM},           {JX_PRIM_sub, DIFFERENCE},   {JX_PRIM_mul, PRODUCT},
    {JX_PRIM_div, QUOTIENT},      {JX_PRIM_square, SQUARE},    {JX_PRIM_sqrt, ROOT},
    {JX_PRIM_integer_pow, POWER}, {JX_PRIM_pow, POWER},        {JX_PRIM_rsqrt, FUNCTION},
    {JX_PRIM_exp, FUNCTION},      {JX_PRIM_expm1, FUNCTION},   {JX_PRIM_log, FUNCTION},
    {JX_PRIM_log1p, FUNCTION},    {JX_PRIM_logistic, FUNCTION}, {JX_PRIM_sin, FUNCTION},
    {JX_PRIM_cos, FUNCTION},      {JX_PRIM_tan, FUNCTION},     {JX_PRIM_asin, FUNCTION},
    {JX_PRIM_acos, FUNCTION},     {JX_PRIM_atan, FUNCTION},    {JX_PRIM_sinh, FUNCTION},
    {JX_PRIM_cosh, FUNCTION},     {JX_PRIM_tanh, FUNCTION},    {JX_PRIM_asinh, FUNCTION},
    {JX_PRIM_acosh, FUNCTION},    {JX_PRIM_atanh, FUNCTION},   {JX_PRIM_cbrt, FUNCTION},
    {JX_PRIM_erf, FUNCTION},      {JX_PRIM_erfc, FUNCTION},    {JX_PRIM_erf_inv, FUNCTION},
    {JX_PRIM_lgamma, FUNCTION},   {JX_PRIM_digamma, FUNCTION}, {JX_PRIM_bessel_i0e, FUNCTION},
    {JX_PRIM_bessel_i1e, FUNCTION}, {JX_PRIM_atan2, FUNCTION}, {JX_PRIM_igamma, FUNCTION},
    {JX_PRIM_igammac, FUNCTION},  {JX_PRIM_igamma_grad_a, FUNCTION},
    {JX_PRIM_random_gamma_grad, FUNCTION}, {JX_PRIM_zeta, FUNCTION},
    {JX_PRIM_polygamma, FUNCTION}, {JX_PRIM_regularized_incomplete_beta, FUNCTION},
};

/* Whether r, which the operands a and b gave, is what they give exactly. */
static bool is_exact(rounding how, double a, double b, double r)
{
    double t;

    switch (how) {
    case SUM:
    case DIFFERENCE:
        b = how == SUM ? b : -b;
        t = r - a;
        return (a - (r - t)) + (b - t) == 0;
    case PRODUCT: return fma(a, b, -r) == 0;
    case SQUARE: return fma(a, a, -r) == 0;
    case QUOTIENT: return fma(r, b, -a) == 0;
    case ROOT: return fma(r, r, -a) == 0;
    case POWER: return fabs(r) < 0x1p53 && r == rint(r);
    case FUNCTION: return a == 0;
    default: return true;
    }
}

/* Some units one way or the other: the same one each time for the same number. */
static double nudged(double r, uint64_t seed)
{
    uint64_t bits, hash;

    memcpy(&bits, &r, sizeof bits);
    hash = (bits ^ seed) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9u;
    /* By several amounts, so that two steps seldom go along with each other. */
    bits += hash >> 63 ? 1 + (hash >> 60 & 7) : 0 - (1 + (hash >> 60 & 7));
    memcpy(&r, &bits, sizeof r);
    return r;
}

/* Operands: the result, and what it was made of (one or two). */
static void jitter_values(void *o, const void *const *ins, int64_t n, const void *param)
{
    const jitter *j = param;
    const double *r = ins[0], *a = ins[1], *b = ins[2];
    double *out = o;

    for (int64_t i = 0; i < n; i++) {
        double was = r[i];
        out[i] = was - was != 0 || was == 0 || is_exact(j->how, a[i], b[i], was)
                     ? was
                     : nudged(was, j->seed);
    }
}

static rounding rounding_of(jx_tile *tile)
{
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (jx_tile_of(steps[i].prim, JX_F64) == tile)
            return steps[i].how;
    return EXACT;
}

int jx_make_jitter(jx_maker *m, jx_tile *tile, int made, int nins, const int *ins)
{
    jitter *j;
    rounding how = rounding_of(tile);
    int values[3] = {made, ins[0], ins[nins > 1 ? 1 : 0]};

    if (how == EXACT && tile == jx_tile_fma(JX_F64))
        how = FUNCTION;
    if (how == EXACT || made < 0)
        return made;
    j = JX_NEW(m->p->arena, jitter);
    if (!j)
        return made;
    /* Of its own for each step: what is computed twice in one way is no surer for that. */
    *j = (jitter){m->p->options->jitter + ++m->p->jittered * 0x2545f4914f6cdd1d, how};
    return jx_region_instr(m->p->arena, m->region, jitter_values, j, JX_F64, 3, values);
}
