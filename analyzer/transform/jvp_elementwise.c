/* jvp_elementwise.c - derivatives of elementwise primitives: x and y are the
 * operands, z the result, t and s the tangents of the operands. */
#include "analyzer/transform/jvp_parts.h"

#include <math.h>

#define P(name) JX_PRIM_##name

static const jx_atom nothing = {NULL, NULL};

static const double PI = 3.14159265358979323846, LN2 = 0.69314718055994530942;

/* In the shape of the result. */
static jx_atom spread(jx_jvp *t, jx_atom a)
{
    return jx_math_spread(t->b, a, jx_jvp_out(t));
}

/* The tangent of the one result is its tangent operand times that. */
static bool slope(jx_jvp *t, jx_atom slope)
{
    t->touts[0] = jx_math_2(t->b, P(mul), t->tins[0], slope);
    return jx_is_made(t->touts[0]);
}

/* ... or that. */
static bool tangent(jx_jvp *t, jx_atom tangent)
{
    t->touts[0] = spread(t, tangent);
    return jx_is_made(tangent);
}

#define RULE(name) bool jx_jvp_##name(jx_jvp *t)
#define X t->ins[0]
#define Y t->ins[1]
#define Z t->outs[0]
#define T t->tins[0]
#define S t->tins[1]

/* A function of one operand, whose slope is an expression of x and z. */
#define SLOPE(name, expression)                                                \
    RULE(name)                                                                 \
    {                                                                          \
        return jx_jvp_primal(t) && slope(t, (expression));                     \
    }
/* ... whose tangent is one. */
#define TANGENT(name, expression)                                              \
    RULE(name)                                                                 \
    {                                                                          \
        return jx_jvp_primal(t) && tangent(t, (expression));                   \
    }

static jx_atom f(jx_jvp *t, jx_prim_id prim, jx_atom a)
{
    return jx_math_1(t->b, prim, a);
}

static jx_atom g(jx_jvp *t, jx_prim_id prim, jx_atom a, jx_atom c)
{
    return jx_math_2(t->b, prim, a, c);
}

static jx_atom square(jx_jvp *t, jx_atom a)
{
    return g(t, P(mul), a, a);
}

/* Of a complex operand the real part of t times its conjugate, over its length:
 * `sign` itself counts as constant. */
RULE(abs)
{
    jx_atom safe;

    if (!jx_jvp_primal(t))
        return false;
    /* at zero it is that of x */
    if (!jx_dtype_is_complex(jx_atom_aval(X)->dtype))
        return tangent(
            t, jx_math_where(t->b, g(t, P(ge), X, jx_math_number(t->b, X, 0)),
                             T, f(t, P(neg), T)));
    safe = jx_math_where(t->b, g(t, P(eq), Z, jx_math_number(t->b, Z, 0)),
                         jx_math_all(t->b, Z, 1), Z);
    return tangent(
        t,
        g(t, P(div), f(t, P(real), g(t, P(mul), T, f(t, P(conj), X))), safe));
}

/* JAX takes it for constant, and so does what is differentiated as JAX does.
 * That is not so on the complex plane, where it turns with x: what a rule is
 * held against is z times i by the part of t across x, over the length of x. */
RULE(sign)
{
    jx_atom length, turn;

    if (!t->of->stripped || !jx_dtype_is_complex(jx_atom_aval(X)->dtype))
        return jx_jvp_zero(t);
    if (!jx_jvp_primal(t))
        return false;
    length = f(t, P(abs), X);
    length = jx_math_where(t->b,
                           g(t, P(eq), length, jx_math_number(t->b, length, 0)),
                           jx_math_all(t->b, length, 1), length);
    turn =
        g(t, P(div), f(t, P(imag), g(t, P(mul), f(t, P(conj), Z), T)), length);
    return tangent(
        t, g(t, P(mul), Z, g(t, P(complex), jx_math_all(t->b, turn, 0), turn)));
}

SLOPE(exp, Z)
SLOPE(exp2, jx_math_times(t->b, Z, LN2))
SLOPE(expm1, jx_math_plus(t->b, Z, 1))
TANGENT(log, g(t, P(div), T, X))
TANGENT(log2, g(t, P(div), T, jx_math_times(t->b, X, LN2)))
TANGENT(log1p, g(t, P(div), T, jx_math_plus(t->b, X, 1)))
SLOPE(logistic, g(t, P(mul), Z, jx_math_from(t->b, 1, Z)))
SLOPE(sin, f(t, P(cos), X))
SLOPE(cos, f(t, P(neg), f(t, P(sin), X)))
SLOPE(tan, jx_math_plus(t->b, square(t, Z), 1))
SLOPE(asin, f(t, P(rsqrt), jx_math_from(t->b, 1, square(t, X))))
SLOPE(acos, f(t, P(neg), f(t, P(rsqrt), jx_math_from(t->b, 1, square(t, X)))))
TANGENT(atan, g(t, P(div), T, jx_math_plus(t->b, square(t, X), 1)))
SLOPE(sinh, f(t, P(cosh), X))
SLOPE(cosh, f(t, P(sinh), X))
/* (1 + z) (1 - z), which loses less than 1 - z^2. */
TANGENT(tanh, g(t, P(mul), g(t, P(add), T, g(t, P(mul), T, Z)),
                jx_math_from(t->b, 1, Z)))
SLOPE(asinh, f(t, P(rsqrt), jx_math_plus(t->b, square(t, X), 1)))
SLOPE(acosh,
      f(t, P(rsqrt),
        g(t, P(mul), jx_math_plus(t->b, X, -1), jx_math_plus(t->b, X, 1))))
SLOPE(atanh, g(t, P(div), jx_math_over(t->b, 1, jx_math_plus(t->b, X, 1)),
               jx_math_from(t->b, 1, X)))
SLOPE(sqrt, jx_math_over(t->b, 0.5, Z))
SLOPE(rsqrt, g(t, P(div), jx_math_times(t->b, Z, -0.5), X))
SLOPE(cbrt, jx_math_times(t->b, jx_math_power(t->b, Z, -2), 1.0 / 3))
SLOPE(square, jx_math_times(t->b, X, 2))
SLOPE(one_minus_square, jx_math_times(t->b, X, -2))
SLOPE(erf, jx_math_times(t->b, f(t, P(exp), f(t, P(neg), square(t, X))),
                         2 / sqrt(PI)))
SLOPE(erfc, jx_math_times(t->b, f(t, P(exp), f(t, P(neg), square(t, X))),
                          -2 / sqrt(PI)))
SLOPE(erf_inv, jx_math_times(t->b, f(t, P(exp), square(t, Z)), sqrt(PI) / 2))
SLOPE(lgamma, f(t, P(digamma), X))
SLOPE(digamma, g(t, P(polygamma), jx_math_all(t->b, X, 1), X))
SLOPE(bessel_i0e,
      g(t, P(sub), f(t, P(bessel_i1e), X), g(t, P(mul), f(t, P(sign), X), Z)))

/* From 1 to the next number. */
static double epsilon(jx_dtype dtype)
{
    return dtype == JX_F64    ? 0x1p-52
           : dtype == JX_F16  ? 0x1p-10
           : dtype == JX_BF16 ? 0x1p-7
                              : 0x1p-23;
}

/* i0e(x) - z (sign(x) + 1 / x), which is 1 / 2 at 0. */
RULE(bessel_i1e)
{
    const double least = epsilon(jx_atom_aval(X)->dtype);
    jx_atom tiny, safe, other;

    if (!jx_jvp_primal(t))
        return false;
    tiny =
        jx_math_2(t->b, P(le), f(t, P(abs), X), jx_math_number(t->b, X, least));
    safe = jx_math_where(t->b, tiny, jx_math_all(t->b, X, least), X);
    other =
        g(t, P(sub), f(t, P(bessel_i0e), safe),
          g(t, P(mul), Z,
            g(t, P(add), f(t, P(sign), safe), jx_math_over(t->b, 1, safe))));
    return slope(t,
                 jx_math_where(t->b, tiny, jx_math_all(t->b, X, 0.5), other));
}

RULE(integer_pow)
{
    int64_t n = ((const jx_p_integer_pow *)t->eqn->typed)->y;

    if (!jx_jvp_primal(t))
        return false;
    return n == 0 ||
           slope(t, jx_math_times(t->b,
                                  n == 1   ? jx_math_all(t->b, X, 1)
                                  : n == 2 ? X
                                           : jx_math_power(t->b, X, n - 1),
                                  (double)n));
}

/* ---- of two operands: the sum of what comes of each tangent
 * that is not zero */

static jx_atom along(jx_jvp *t, int i, jx_atom slope)
{
    return jx_is_made(t->tins[i]) ? g(t, P(mul), spread(t, t->tins[i]), slope)
                                  : nothing;
}

RULE(div)
{
    jx_atom y = spread(t, Y);
    jx_atom first = nothing, second = nothing;

    if (!jx_jvp_primal(t))
        return false;
    if (jx_is_made(T))
        first = g(t, P(div), spread(t, T), y);
    if (jx_is_made(S))
        second = g(t, P(div), g(t, P(mul), f(t, P(neg), spread(t, S)), Z), y);
    return tangent(t, jx_math_sum(t->b, first, second));
}

/* x - y trunc(x / y) */
RULE(rem)
{
    jx_atom x = spread(t, X), y = spread(t, Y);
    jx_atom quotient, whole, second = nothing;

    if (!jx_jvp_primal(t))
        return false;
    if (jx_is_made(S)) {
        quotient = g(t, P(div), x, y);
        whole = g(t, P(mul), f(t, P(sign), quotient),
                  f(t, P(floor), f(t, P(abs), quotient)));
        second = g(t, P(mul), f(t, P(neg), spread(t, S)), whole);
    }
    return tangent(t, jx_math_sum(t->b, spread(t, T), second));
}

/* 1 where the operand is the result, a half where both are. */
static jx_atom share(jx_jvp *t, jx_atom mine, jx_atom other)
{
    jx_atom one = jx_math_all(t->b, Z, 1), half = jx_math_all(t->b, Z, 0.5);

    return jx_math_where(t->b, g(t, P(eq), mine, Z),
                         jx_math_where(t->b, g(t, P(eq), other, Z), half, one),
                         jx_math_all(t->b, Z, 0));
}

RULE(max)
{
    jx_atom x = spread(t, X), y = spread(t, Y);
    jx_atom first = nothing, second = nothing;

    if (!jx_jvp_primal(t))
        return false;
    if (jx_is_made(T))
        first = along(t, 0, share(t, x, y));
    if (jx_is_made(S))
        second = along(t, 1, share(t, y, x));
    return tangent(t, jx_math_sum(t->b, first, second));
}

RULE(min)
{
    return jx_jvp_max(t);
}

/* y x^(y - 1), which of floats is NaN where both are 0, as in JAX; and log(x)
 * x^y, 0 where x is. */
static jx_atom power_slope(jx_jvp *t, jx_atom x, jx_atom y)
{
    jx_atom by = jx_build_convert(t->b, y, jx_atom_aval(x)->dtype, false), none,
            less, each;

    if (jx_dtype_is_inexact(jx_atom_aval(y)->dtype))
        return g(t, P(mul), by, g(t, P(pow), x, jx_math_plus(t->b, y, -1)));
    none = g(t, P(eq), y, jx_math_number(t->b, y, 0));
    less = jx_math_where(t->b, none, jx_math_all(t->b, y, 1),
                         jx_math_plus(t->b, y, -1));
    each = g(t, P(mul), by, g(t, P(pow), x, less));
    return jx_math_where(t->b, none, jx_math_all(t->b, each, 0), each);
}

RULE(pow)
{
    jx_atom x = spread(t, X), y = spread(t, Y);
    jx_atom first = nothing, second = nothing;

    if (!jx_jvp_primal(t))
        return false;
    if (jx_is_made(T))
        first = along(t, 0, power_slope(t, x, y));
    if (jx_is_made(S)) {
        jx_atom zero = g(t, P(eq), x, jx_math_number(t->b, x, 0));
        jx_atom safe = jx_math_where(t->b, zero, jx_math_all(t->b, x, 1), x);
        second = along(t, 1, g(t, P(mul), f(t, P(log), safe), Z));
    }
    return tangent(t, jx_math_sum(t->b, first, second));
}

RULE(atan2)
{
    jx_atom x = spread(t, X), y = spread(t, Y);
    jx_atom both, first = nothing, second = nothing;

    if (!jx_jvp_primal(t))
        return false;
    both = g(t, P(add), square(t, x), square(t, y));
    if (jx_is_made(T))
        first = g(t, P(mul), spread(t, T), g(t, P(div), y, both));
    if (jx_is_made(S))
        second =
            g(t, P(mul), spread(t, S), g(t, P(div), f(t, P(neg), x), both));
    return tangent(t, jx_math_sum(t->b, first, second));
}

/* x^(a - 1) exp(-x) / gamma(a): the slope of igamma in its second operand. */
static jx_atom gamma_density(jx_jvp *t, jx_atom x, jx_atom y)
{
    jx_atom powers = g(t, P(mul), f(t, P(log), y), jx_math_plus(t->b, x, -1));

    return f(t, P(exp),
             g(t, P(sub), g(t, P(sub), powers, y), f(t, P(lgamma), x)));
}

static bool incomplete_gamma(jx_jvp *t, bool upper)
{
    jx_atom x = spread(t, X), y = spread(t, Y);
    jx_atom first = nothing, second = nothing;

    if (!jx_jvp_primal(t))
        return false;
    if (jx_is_made(T))
        first = along(t, 0, g(t, P(igamma_grad_a), x, y));
    if (jx_is_made(S))
        second = along(t, 1, gamma_density(t, x, y));
    first = jx_math_sum(t->b, first, second);
    return tangent(t, upper ? f(t, P(neg), first) : first);
}

RULE(igamma)
{
    return incomplete_gamma(t, false);
}

RULE(igammac)
{
    return incomplete_gamma(t, true);
}

RULE(zeta)
{
    jx_atom x = spread(t, X), y = spread(t, Y);
    if (jx_is_made(T))
        return jx_jvp_refuse(t, "its first operand has no derivative (PRM002)");
    return jx_jvp_primal(t) &&
           tangent(t, along(t, 1,
                            g(t, P(mul), f(t, P(neg), x),
                              g(t, P(zeta), jx_math_plus(t->b, x, 1), y))));
}

RULE(polygamma)
{
    jx_atom x = spread(t, X), y = spread(t, Y);
    if (jx_is_made(T))
        return jx_jvp_refuse(t, "its first operand has no derivative (PRM002)");
    return jx_jvp_primal(t) &&
           tangent(
               t, along(t, 1, g(t, P(polygamma), jx_math_plus(t->b, x, 1), y)));
}

/* x^(a - 1) (1 - x)^(b - 1) / beta(a, b) */
RULE(regularized_incomplete_beta)
{
    jx_atom a = spread(t, t->ins[0]), b = spread(t, t->ins[1]);
    jx_atom x = spread(t, t->ins[2]), sum, beta;

    if (jx_is_made(t->tins[0]) || jx_is_made(t->tins[1]))
        return jx_jvp_refuse(
            t, "its first two operands have no derivative (PRM002)");
    if (!jx_jvp_primal(t))
        return false;
    beta = g(t, P(sub), g(t, P(add), f(t, P(lgamma), a), f(t, P(lgamma), b)),
             f(t, P(lgamma), g(t, P(add), a, b)));
    sum = g(t, P(add),
            g(t, P(mul), jx_math_plus(t->b, b, -1),
              f(t, P(log1p), f(t, P(neg), x))),
            g(t, P(mul), jx_math_plus(t->b, a, -1), f(t, P(log), x)));
    return tangent(t, along(t, 2, f(t, P(exp), g(t, P(sub), sum, beta))));
}

RULE(clamp)
{
    jx_atom low = spread(t, t->ins[0]), x = spread(t, t->ins[1]),
            high = spread(t, t->ins[2]);
    jx_atom zero, sum = nothing;

    if (!jx_jvp_primal(t))
        return false;
    zero = jx_math_all(t->b, x, 0);
    if (jx_is_made(t->tins[1]))
        sum = jx_math_where(
            t->b, g(t, P(and), g(t, P(gt), x, low), g(t, P(lt), x, high)),
            spread(t, t->tins[1]), zero);
    if (jx_is_made(t->tins[0]))
        sum = jx_math_sum(t->b, sum,
                          jx_math_where(t->b,
                                        g(t, P(and), g(t, P(gt), low, x),
                                          g(t, P(lt), low, high)),
                                        spread(t, t->tins[0]), zero));
    if (jx_is_made(t->tins[2]))
        sum = jx_math_sum(t->b, sum,
                          jx_math_where(t->b, g(t, P(lt), high, x),
                                        spread(t, t->tins[2]), zero));
    return tangent(t, sum);
}

/* The number beside another moves with that one, and not with where it lies. */
RULE(nextafter)
{
    return jx_jvp_primal(t) && (!jx_is_made(T) || tangent(t, T));
}

/* c0 + c1 x + c2 x^2 + ...: the coefficients' tangents take their places, and
 * those of the derivative are k ck. */
RULE(polynomial)
{
    static const char *const all[] = {NULL};
    int n = t->eqn->nins;
    jx_atom *ins = JX_NEW_ARRAY(jx_jvp_arena(t), n + 1, jx_atom), sum = nothing;
    jx_params p = jx_jvp_others(t, all), same = p;
    bool any = false;

    if (!ins || !jx_jvp_primal(t))
        return false;
    ins[0] = X;
    if (jx_is_made(T) && n > 2) {
        for (int i = 2; i < n; i++)
            ins[i - 1] =
                i == 2 ? t->ins[i] : jx_math_times(t->b, t->ins[i], i - 1);
        sum = jx_math_2(t->b, P(mul), T,
                        jx_build(t->b, P(polynomial), &p, n - 1, ins));
    }
    for (int i = 1; i < n; i++) {
        any |= jx_is_made(t->tins[i]);
        ins[i] = jx_jvp_full(t, i);
    }
    if (any)
        sum = jx_math_sum(t->b, sum,
                          jx_build(t->b, P(polynomial), &same, n, ins));
    if (!jx_is_made(sum))
        return n <= 2; /* a constant, or no coefficient at all */
    return tangent(t, sum);
}

/* A sample moves with the parameter of its distribution as the quantile
 * does; where its logarithm is given, one that is 0 counts as the smallest
 * normal number. */
RULE(random_gamma)
{
    const jx_p_random_gamma *p = t->eqn->typed;
    jx_atom sample, tiny, grad;

    if (!jx_jvp_primal(t))
        return false;
    sample = Z;
    if (p->log_space) {
        sample = f(t, P(exp), sample);
        tiny =
            jx_math_all(t->b, sample,
                        jx_jvp_out(t)->dtype == JX_F64 ? 0x1p-1022 : 0x1p-126);
        sample = jx_math_where(
            t->b, g(t, P(eq), sample, jx_math_number(t->b, sample, 0)), tiny,
            sample);
    }
    grad = g(t, P(random_gamma_grad), Y, sample);
    return tangent(
        t, g(t, P(mul), S, p->log_space ? g(t, P(div), grad, sample) : grad));
}
