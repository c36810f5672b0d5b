/* elementwise_composed.c - primitives that JAX makes of a few others.
 *
 * They are computed as they are lowered, step by step, each step rounded to the
 * dtype: log2(8) is not 3, and in bf16 the factors are what bf16 has of ln 2.
 * Polynomials are the exception that XLA makes: a product and the sum behind it
 * are rounded once, but for the floats that have no such operation. */
#include "runtime/kernels/elementwise.h"

#include "runtime/plan_impl.h"
#include "runtime/plan_rules.h"

bool jx_is_composed(jx_prim_id prim)
{
    return prim == JX_PRIM_exp2 || prim == JX_PRIM_log2 ||
           prim == JX_PRIM_one_minus_square;
}

/* A step in the making: on values of the dtype that `stored` computes in. */
typedef struct steps {
    jx_maker *m;
    jx_dtype stored, compute;
} steps;

static int rounded(const steps *s, int value)
{
    return jx_make_convert(s->m, jx_make_convert(s->m, value, s->stored),
                           s->compute);
}

static int step(const steps *s, jx_tile *tile, int nins, const int *ins)
{
    if (!tile) {
        jx_plan_fail(s->m->p, "%s does not take %s", s->m->eqn->prim->name,
                     jx_dtype_of(s->stored)->short_name);
        return ins[0];
    }
    return rounded(s, jx_make_instr(s->m, tile, NULL, s->compute, nins, ins));
}

static int one(const steps *s, jx_prim_id prim, int x)
{
    return step(s, jx_tile_of(prim, s->compute), 1, &x);
}

static int two(const steps *s, jx_prim_id prim, int x, int y)
{
    return step(s, jx_tile_of(prim, s->compute), 2, (int[]){x, y});
}

/* The number in the stored dtype, for all elements. */
static int number(const steps *s, double value)
{
    jx_planner *p = s->m->p;
    unsigned char bytes[16];

    jx_convert(JX_F64, s->stored, &value, bytes, 1);
    jx_slot slot = jx_plan_constant(p, s->stored, 0, NULL, bytes);
    return jx_make_convert(s->m, jx_make_operand(s->m, &slot), s->compute);
}

/* Both parts of a complex number are scaled, which is no complex product. */
static int scaled_parts(const steps *s, int x, double by)
{
    jx_dtype real = jx_dtype_real(s->compute);
    steps part = {s->m, real, real};
    int factor = number(&part, by), both[2];

    for (int i = 0; i < 2; i++) {
        jx_tile *tile = jx_tile_of(i ? JX_PRIM_imag : JX_PRIM_real, s->compute);
        both[i] = two(&part, JX_PRIM_mul, step(&part, tile, 1, &x), factor);
    }
    return step(s, jx_tile_of(JX_PRIM_complex, real), 2, both);
}

int jx_make_composed(jx_maker *m, int x)
{
    jx_dtype stored = m->region->values.at[x].dtype;
    steps s = {m, stored, jx_compute_dtype(stored)};
    const double ln2 = 0.693147180559945309417, log2e = 1.44269504088896340736;

    x = jx_make_convert(m, x, s.compute);
    switch (m->eqn->prim->id) {
    case JX_PRIM_exp2:
        return one(&s, JX_PRIM_exp, two(&s, JX_PRIM_mul, number(&s, ln2), x));
    case JX_PRIM_log2:
        x = one(&s, JX_PRIM_log, x);
        return jx_dtype_is_complex(stored)
                   ? scaled_parts(&s, x, log2e)
                   : two(&s, JX_PRIM_mul, x, number(&s, log2e));
    default: { /* 1 - x^2 */
        int unit = number(&s, 1), more = two(&s, JX_PRIM_add, unit, x);
        return two(&s, JX_PRIM_mul, more, two(&s, JX_PRIM_sub, unit, x));
    }
    }
}

/* ---- polynomials ---- */

/* XLA has no sums of products for the floats that it widens at each step. */
static jx_tile *fused(const steps *s)
{
    bool whole = s->stored == s->compute || s->stored == JX_F16;

    return whole ? jx_tile_fma(s->compute) : NULL;
}

/* acc * x + c */
static int horner(const steps *s, int acc, int x, int c)
{
    jx_tile *tile = fused(s);

    if (tile)
        return step(s, tile, 3, (int[]){acc, x, c});
    return two(s, JX_PRIM_add, two(s, JX_PRIM_mul, acc, x), c);
}

/* Coefficients of one region, which has one operand for each. */
enum { AT_ONCE = 16 };

/* Goes on from `acc` (NULL: from the last coefficient) with coefficients[0..n),
 * the last one first. */
static bool evaluate(jx_maker *m, const jx_slot *acc, const jx_slot *x, int n,
                     const jx_slot *coefficients)
{
    steps s = {m, x->dtype, jx_compute_dtype(x->dtype)};
    int value = -1;

    if (!jx_make_begin(m, n + 2))
        return jx_make_end(m, value);
    int at = jx_make_convert(m, jx_make_operand(m, x), s.compute);
    if (acc)
        value = jx_make_convert(m, jx_make_operand(m, acc), s.compute);
    for (int i = n - 1; i >= 0; i--) {
        int c =
            jx_make_convert(m, jx_make_operand(m, &coefficients[i]), s.compute);
        value = value < 0 ? c : horner(&s, value, at, c);
    }
    return jx_make_end(m, value);
}

/* Many coefficients are a loop in JAX, which begins with 0: 0 x is NaN where x
 * is not finite. */
bool jx_plan_polynomial(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                        jx_slot *outs)
{
    jx_maker m = {.p = p, .eqn = eqn};
    jx_slot out = jx_plan_output(p, eqn, 0), acc = out;
    bool begun = jx_polynomial_loops(eqn);
    uint64_t zero[2] = {0};
    int n = eqn->nins - 1;

    if (n < 1)
        return jx_plan_fail(p, "there are no coefficients");
    for (int i = 1; i < eqn->nins; i++)
        if (ins[i].dtype != ins[0].dtype)
            return jx_plan_fail(p, "a coefficient has another dtype");
    if (begun)
        acc = jx_plan_constant(p, ins[0].dtype, 0, NULL, zero);
    while (n > 0) {
        int most = n < AT_ONCE ? n : AT_ONCE;
        m.out =
            n == most ? out : jx_plan_new(p, out.dtype, out.rank, out.shape);
        if (!evaluate(&m, begun ? &acc : NULL, &ins[0], most,
                      &ins[1 + n - most]))
            return false;
        acc = m.out;
        begun = true;
        n -= most;
    }
    outs[0] = m.out;
    return true;
}
