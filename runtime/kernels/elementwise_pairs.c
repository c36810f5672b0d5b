/* elementwise_pairs.c - f64x2: numbers of two doubles (pairs.h).
 *
 * What has no tile here is computed in double (plan_pairs.c). */
#include "runtime/kernels/elementwise.h"
#include "runtime/kernels/pairs_functions.h"
#include "runtime/kernels/special.h"

#define V JX_VECTOR_CLONES
#define UNARY(name, ...) JX_UNARY(V, name, jx_pair, jx_pair, __VA_ARGS__)
#define BINARY(name, ...) JX_BINARY(V, name, jx_pair, jx_pair, __VA_ARGS__)
#define COMPARES(name, ...) JX_BINARY(V, name, uint8_t, jx_pair, __VA_ARGS__)
/* Functions that are rare: element by element. */
#define PLAIN1(name, ...) JX_UNARY(, name, jx_pair, jx_pair, __VA_ARGS__)
#define PLAIN2(name, ...) JX_BINARY(, name, jx_pair, jx_pair, __VA_ARGS__)

static const jx_pair one = {1, 0};

/* ---- arithmetic */

JX_PAIR_FN jx_pair with_sign(jx_pair x, double sign)
{
    return jx_pair_scaled(x, copysign(1, sign));
}

JX_PAIR_FN jx_pair magnitude(jx_pair x)
{
    return (jx_pair){fabs(x.hi), signbit(x.hi) ? -x.lo : x.lo};
}

JX_PAIR_FN jx_pair power(jx_pair x, int64_t y)
{
    uint64_t n = y < 0 ? 0 - (uint64_t)y : (uint64_t)y;
    jx_pair r = one;

    for (; n; n >>= 1, x = jx_pair_mul(x, x))
        if (n & 1)
            r = jx_pair_mul(r, x);
    return y < 0 ? jx_pair_div(one, r) : r;
}

JX_PAIR_FN jx_pair inverse_root(jx_pair x)
{
    double near = 1 / sqrt(x.hi);
    jx_pair off = jx_pair_sub(one, jx_pair_mul(x, jx_two_product(near, near)));
    double more = 0.5 * near * off.hi;

    more += 0.375 * near * off.hi * off.hi;
    return jx_pair_joined(near, more - more == 0 ? more : 0);
}

BINARY(add, jx_pair_add(x, y))
BINARY(sub, jx_pair_sub(x, y))
BINARY(mul, jx_pair_mul(x, y))
BINARY(divide, jx_pair_div(x, y))
BINARY(vmax, jx_pair_max(x, y))
BINARY(vmin, jx_pair_min(x, y))
JX_TERNARY(V, clamp, jx_pair, jx_pair, jx_pair_min(jx_pair_max(y, x), z))
COMPARES(eq, jx_pair_equal(x, y))
COMPARES(ne, !jx_pair_equal(x, y))
COMPARES(lt, jx_pair_less(x, y))
COMPARES(le, (int)jx_pair_less(x, y) | jx_pair_equal(x, y))
COMPARES(gt, jx_pair_less(y, x))
COMPARES(ge, (int)jx_pair_less(y, x) | jx_pair_equal(x, y))
UNARY(neg, jx_pair_neg(x))
UNARY(vabs, magnitude(x))
UNARY(square, jx_pair_mul(x, x))
UNARY(root, jx_pair_sqrt(x))
UNARY(rsqrt, inverse_root(x))
PLAIN1(sign, jx_pair_of(x.hi > 0 ? 1 : x.hi < 0 ? -1 : x.hi))
JX_UNARY(V, isfinite_of, uint8_t, jx_pair, x.hi - x.hi == 0)
PLAIN1(ipow, power(x, ((const jx_p_integer_pow *)param)->y))

/* ---- exponentials */

JX_PAIR_FN jx_pair logistic_of(jx_pair x)
{
    return jx_pair_div(one, jx_pair_add(one, jx_pair_exp(jx_pair_neg(x))));
}

JX_PAIR_FN jx_pair tanh_of(jx_pair x)
{
    jx_pair size = magnitude(x), e = jx_pair_expm1(jx_pair_scaled(size, 2));
    jx_pair t = jx_pair_div(e, jx_pair_add(e, jx_pair_of(2)));

    t = jx_pair_choose(size.hi > 40, one, t);
    return jx_pair_choose((x.hi != x.hi) | (x.hi == 0), x, with_sign(t, x.hi));
}

JX_PAIR_FN jx_pair sinh_of(jx_pair x)
{
    jx_pair e = jx_pair_expm1(magnitude(x));
    jx_pair less = jx_pair_div(e, jx_pair_add(e, one));

    less = jx_pair_choose(e.hi - e.hi == 0, less, one);
    return with_sign(jx_pair_scaled(jx_pair_add(e, less), 0.5), x.hi);
}

JX_PAIR_FN jx_pair cosh_of(jx_pair x)
{
    jx_pair e = jx_pair_exp(magnitude(x));

    return jx_pair_scaled(jx_pair_add(e, jx_pair_div(one, e)), 0.5);
}

UNARY(vexp, jx_pair_exp(x))
UNARY(vexpm1, jx_pair_expm1(x))
UNARY(logistic, logistic_of(x))
UNARY(vtanh, tanh_of(x))
PLAIN1(vsinh, sinh_of(x))
PLAIN1(vcosh, cosh_of(x))

/* ---- logarithms: from the library's, which is not a vector's, by
 * a step that is */

enum { CHUNK = 32 };

/* log(x) = log(1 + d) + e log 2, where `near` is log(1 + d) in double; what is
 * no number above 0 has its logarithm there, and a d of 0. */
typedef struct logs {
    jx_pair d[CHUNK];
    double e[CHUNK], near[CHUNK];
} logs;

static void near_log(logs *l, int i, jx_pair x)
{
    int e = 0;
    double m = frexp(x.hi, &e), scale;

    l->e[i] = 0;
    l->d[i] = jx_pair_of(0);
    l->near[i] = log(x.hi);
    if (!(x.hi > 0) || x.hi > 0x1p1020 || x.hi < 0x1p-960)
        return;
    if (m < 0x1.6a09e667f3bcdp-1)
        e--;
    scale = ldexp(1, -e);
    l->d[i] = jx_pair_add(jx_pair_scaled(x, scale), jx_pair_of(-1));
    l->e[i] = e;
    l->near[i] = log1p(l->d[i].hi);
}

static void near_log1p(logs *l, int i, jx_pair x)
{
    if (fabs(x.hi) < 0.29) {
        l->d[i] = x;
        l->e[i] = 0;
        l->near[i] = log1p(x.hi);
    } else {
        near_log(l, i, jx_pair_add(x, one));
    }
}

JX_PAIR_FN jx_pair log_step(const logs *l, int64_t i)
{
    const jx_pair ln2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
    jx_pair y = jx_pair_log1p_step(l->d[i], l->near[i]);

    y = jx_pair_choose(l->d[i].hi == 0, jx_pair_of(l->near[i]), y);
    return jx_pair_choose(l->e[i] == 0, y,
                          jx_pair_add(jx_pair_times(ln2, l->e[i]), y));
}

V static void log_steps(const logs *l, int64_t n, jx_pair *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = log_step(l, i);
}

#define LOGARITHM(name)                                                        \
    static void v##name(void *o, const void *const *ins, int64_t n,            \
                        const void *param)                                     \
    {                                                                          \
        const jx_pair *x = ins[0];                                             \
        logs l;                                                                \
        (void)param;                                                           \
        for (int64_t at = 0; at < n; at += CHUNK) {                            \
            int count = (int)(n - at < CHUNK ? n - at : CHUNK);                \
            for (int i = 0; i < count; i++)                                    \
                near_##name(&l, i, x[at + i]);                                 \
            log_steps(&l, count, (jx_pair *)o + at);                           \
        }                                                                      \
    }
LOGARITHM(log)
LOGARITHM(log1p)

static jx_pair log_of(jx_pair x)
{
    logs l;

    near_log(&l, 0, x);
    return log_step(&l, 0);
}

static jx_pair log1p_of(jx_pair x)
{
    logs l;

    near_log1p(&l, 0, x);
    return log_step(&l, 0);
}

static jx_pair pow_of(jx_pair x, jx_pair y)
{
    double near = pow(x.hi, y.hi);
    jx_pair p;

    if (near - near != 0 || near == 0 || x.hi == 0 || x.hi - x.hi != 0 ||
        y.hi - y.hi != 0)
        return jx_pair_of(near);
    p = jx_pair_exp(jx_pair_mul(y, log_of(magnitude(x))));
    return with_sign(p, near);
}

static jx_pair asinh_of(jx_pair x)
{
    jx_pair a = magnitude(x), square = jx_pair_mul(a, a);
    jx_pair more = jx_pair_div(
        square, jx_pair_add(one, jx_pair_sqrt(jx_pair_add(one, square))));

    if (!(a.hi < 0x1p500))
        return jx_pair_of(asinh(x.hi));
    return with_sign(log1p_of(jx_pair_add(a, more)), x.hi);
}

static jx_pair acosh_of(jx_pair x)
{
    jx_pair less = jx_pair_sub(x, one), more = jx_pair_add(x, one);

    if (!(x.hi > 1 && x.hi < 0x1p500))
        return jx_pair_of(acosh(x.hi));
    return log1p_of(jx_pair_add(less, jx_pair_sqrt(jx_pair_mul(less, more))));
}

static jx_pair atanh_of(jx_pair x)
{
    jx_pair a = magnitude(x);

    if (!(a.hi < 1) || a.hi == 0)
        return jx_pair_of(atanh(x.hi));
    a = log1p_of(jx_pair_div(jx_pair_scaled(a, 2), jx_pair_sub(one, a)));
    return with_sign(jx_pair_scaled(a, 0.5), x.hi);
}

static jx_pair cbrt_of(jx_pair x)
{
    double near = cbrt(x.hi);
    jx_pair cube = jx_pair_times(jx_two_product(near, near), near);
    double more = jx_pair_sub(x, cube).hi / (3 * near * near);

    return jx_pair_joined(near, more - more == 0 ? more : 0);
}

PLAIN2(vpow, pow_of(x, y))
PLAIN1(vasinh, asinh_of(x))
PLAIN1(vacosh, acosh_of(x))
PLAIN1(vatanh, atanh_of(x))
PLAIN1(vcbrt, cbrt_of(x))

/* ---- circles */

/* Of larger ones the library's value is near, and what x.lo adds. */
static const double periodic_limit = 1e5;

JX_PAIR_FN jx_pair sin_near(jx_pair x)
{
    jx_pair s, c;

    jx_pair_turn(x, &s, &c);
    return s;
}

JX_PAIR_FN jx_pair cos_near(jx_pair x)
{
    jx_pair s, c;

    jx_pair_turn(x, &s, &c);
    return c;
}

static jx_pair sin_far(jx_pair x)
{
    return jx_pair_joined(sin(x.hi), cos(x.hi) * x.lo);
}

static jx_pair cos_far(jx_pair x)
{
    return jx_pair_joined(cos(x.hi), -sin(x.hi) * x.lo);
}

#define PERIODIC(name)                                                         \
    UNARY(near_##name, name##_near(x))                                         \
    static void v##name(void *o, const void *const *ins, int64_t n,            \
                        const void *param)                                     \
    {                                                                          \
        const jx_pair *x = ins[0];                                             \
        jx_pair *out = o;                                                      \
        bool far = false;                                                      \
        for (int64_t i = 0; i < n; i++)                                        \
            far |= !(fabs(x[i].hi) < periodic_limit);                          \
        if (!far)                                                              \
            near_##name(o, ins, n, param);                                     \
        for (int64_t i = 0; far && i < n; i++)                                 \
            out[i] = fabs(x[i].hi) < periodic_limit ? name##_near(x[i])        \
                                                    : name##_far(x[i]);        \
    }
PERIODIC(sin)
PERIODIC(cos)

static jx_pair tan_of(jx_pair x)
{
    jx_pair s, c;

    if (!(fabs(x.hi) < periodic_limit))
        return jx_pair_of(tan(x.hi));
    jx_pair_turn(x, &s, &c);
    return jx_pair_div(s, c);
}

/* The angle, from the library's, by the tangent of what is left. */
static jx_pair atan2_of(jx_pair y, jx_pair x)
{
    double near = atan2(y.hi, x.hi), size = fmax(fabs(y.hi), fabs(x.hi)), scale,
           more;
    jx_pair s, c, across, along;

    if (size == 0 || size - size != 0)
        return jx_pair_of(near);
    scale = ldexp(1, size < 0x1p-1000 ? 1000 : -ilogb(size));
    y = jx_pair_scaled(y, scale);
    x = jx_pair_scaled(x, scale);
    jx_pair_turn(jx_pair_of(near), &s, &c);
    across = jx_pair_sub(jx_pair_mul(y, c), jx_pair_mul(x, s));
    along = jx_pair_add(jx_pair_mul(x, c), jx_pair_mul(y, s));
    more = across.hi / along.hi;
    return jx_pair_joined(near, more);
}

/* sqrt(1 - x^2) */
static jx_pair beside(jx_pair x)
{
    return jx_pair_sqrt(jx_pair_mul(jx_pair_sub(one, x), jx_pair_add(one, x)));
}

PLAIN1(vtan, tan_of(x))
PLAIN1(vatan, atan2_of(x, one))
PLAIN1(vasin, fabs(x.hi) <= 1 ? atan2_of(x, beside(x)) : jx_pair_of(asin(x.hi)))
PLAIN1(vacos, fabs(x.hi) <= 1 ? atan2_of(beside(x), x) : jx_pair_of(acos(x.hi)))
PLAIN2(vatan2, atan2_of(x, y))

/* ---- the error function */

/* Some arguments at once, so that the series are loops over few lines. */
enum { FEW = 16 };

typedef struct errors {
    jx_pair size[FEW], square[FEW], small[FEW], large[FEW];
} errors;

/* Below 1/2: 2/sqrt(pi) x exp(-x^2) (1 + 2 x^2/3 (1 + 2 x^2/5 (...))), of which
 * this is what is in parentheses; above, the trapezoidal rule for the integral
 * that erfc is, whose error is known but for 2^-120 of it (Chiarella and
 * Reichel, "On the evaluation of integrals related to the error function",
 * Math. Comp. 22, 1968). */
V static void sum_errors(errors *e)
{
    enum { TERMS = 22, POINTS = 26 };

    for (int i = 0; i < FEW; i++) {
        e->square[i] = jx_pair_mul(e->size[i], e->size[i]);
        e->small[i] = one;
        e->large[i] = jx_pair_of(0);
    }
    for (int n = TERMS; n >= 1; n--)
        for (int i = 0; i < FEW; i++)
            e->small[i] = jx_pair_plus(
                one, jx_pair_mul(jx_pair_mul(e->small[i], e->square[i]),
                                 jx_two_over_odd[n]));
    for (int n = POINTS; n >= 1; n--) {
        jx_pair at = jx_pair_of(n * JX_ERFC_STEP * (n * JX_ERFC_STEP));
        for (int i = 0; i < FEW; i++)
            e->large[i] = jx_pair_plus(
                jx_pair_div(jx_weights[n], jx_pair_plus(at, e->square[i])),
                e->large[i]);
    }
}

/* What these make of it: erf of what is small, erfc of what is not. */
V static void end_errors(errors *e)
{
    const jx_pair slope = {0x1.20dd750429b6dp+0,
                           0x1.1ae3a914fed80p-56}; /* 2 / sqrt(pi) */
    const jx_pair scale = JX_ERFC_SCALE, turn = JX_ERFC_TURN;

    for (int i = 0; i < FEW; i++) {
        jx_pair x = e->size[i], fall = jx_pair_exp(jx_pair_neg(e->square[i]));
        jx_pair sum = jx_pair_plus(jx_pair_div(one, e->square[i]),
                                   jx_pair_scaled(e->large[i], 2));
        jx_pair pole =
            jx_pair_div(jx_pair_of(-2), jx_pair_expm1(jx_pair_mul(turn, x)));
        fall = jx_pair_mul(fall, x);
        e->small[i] = jx_pair_mul(slope, jx_pair_mul(e->small[i], fall));
        sum = jx_pair_mul(jx_pair_mul(scale, sum), fall);
        sum = jx_pair_choose(x.hi > 9, sum, jx_pair_add(sum, pole));
        e->large[i] = jx_pair_choose(x.hi > 27.5, jx_pair_of(0), sum);
    }
}

/* erf, or 1 - erf. */
static void error_function(const jx_pair *x, int64_t n, bool rest, jx_pair *out)
{
    errors e;

    for (int64_t at = 0; at < n; at += FEW) {
        int64_t count = n - at < FEW ? n - at : FEW;
        for (int64_t i = 0; i < FEW; i++)
            e.size[i] = i < count ? magnitude(x[at + i]) : jx_pair_of(0);
        sum_errors(&e);
        end_errors(&e);
        for (int64_t i = 0; i < count; i++) {
            jx_pair of = x[at + i], y = e.large[i];
            bool small = e.size[i].hi < 0.5;
            if (of.hi != of.hi)
                y = of;
            else if (rest && small)
                y = jx_pair_sub(one, with_sign(e.small[i], of.hi));
            else if (rest)
                y = of.hi < 0 ? jx_pair_sub(jx_pair_of(2), y) : y;
            else
                y = with_sign(small ? e.small[i] : jx_pair_sub(one, y), of.hi);
            out[at + i] = y;
        }
    }
}

static void verf(void *out, const void *const *ins, int64_t n,
                 const void *param)
{
    (void)param;
    error_function(ins[0], n, false, out);
}

static void verfc(void *out, const void *const *ins, int64_t n,
                  const void *param)
{
    (void)param;
    error_function(ins[0], n, true, out);
}

/* The library's, and what erf (or erfc, near 1) of that is off by. */
static jx_pair erf_inv_of(jx_pair x)
{
    jx_pair size = magnitude(x), y = jx_pair_of(jx_sf_erf_inv(size.hi)), at,
            off;
    double slope = 0x1.20dd750429b6dp+0 * exp(-y.hi * y.hi), more;

    if (!(size.hi < 1) || size.hi == 0)
        return with_sign(y, x.hi);
    error_function(&y, 1, size.hi >= 0.5, &at);
    off = size.hi < 0.5 ? jx_pair_sub(size, at)
                        : jx_pair_sub(at, jx_pair_sub(one, size));
    more = off.hi / slope;
    more += y.hi * more * more;
    return with_sign(jx_pair_joined(y.hi, more), x.hi);
}

PLAIN1(verf_inv, erf_inv_of(x))

jx_tile *jx_tile_pair(jx_prim_id prim)
{
    switch (prim) {
    case JX_PRIM_add:
    case JX_PRIM_add_any: return add;
    case JX_PRIM_sub: return sub;
    case JX_PRIM_mul: return mul;
    case JX_PRIM_div: return divide;
    case JX_PRIM_max: return vmax;
    case JX_PRIM_min: return vmin;
    case JX_PRIM_clamp: return clamp;
    case JX_PRIM_eq: return eq;
    case JX_PRIM_ne: return ne;
    case JX_PRIM_lt: return lt;
    case JX_PRIM_le: return le;
    case JX_PRIM_gt: return gt;
    case JX_PRIM_ge: return ge;
    case JX_PRIM_neg: return neg;
    case JX_PRIM_abs: return vabs;
    case JX_PRIM_square: return square;
    case JX_PRIM_sqrt: return root;
    case JX_PRIM_rsqrt: return rsqrt;
    case JX_PRIM_sign: return sign;
    case JX_PRIM_is_finite: return isfinite_of;
    case JX_PRIM_integer_pow: return ipow;
    case JX_PRIM_exp: return vexp;
    case JX_PRIM_expm1: return vexpm1;
    case JX_PRIM_logistic: return logistic;
    case JX_PRIM_tanh: return vtanh;
    case JX_PRIM_sinh: return vsinh;
    case JX_PRIM_cosh: return vcosh;
    case JX_PRIM_log: return vlog;
    case JX_PRIM_log1p: return vlog1p;
    case JX_PRIM_pow: return vpow;
    case JX_PRIM_asinh: return vasinh;
    case JX_PRIM_acosh: return vacosh;
    case JX_PRIM_atanh: return vatanh;
    case JX_PRIM_cbrt: return vcbrt;
    case JX_PRIM_sin: return vsin;
    case JX_PRIM_cos: return vcos;
    case JX_PRIM_tan: return vtan;
    case JX_PRIM_atan: return vatan;
    case JX_PRIM_asin: return vasin;
    case JX_PRIM_acos: return vacos;
    case JX_PRIM_atan2: return vatan2;
    case JX_PRIM_erf: return verf;
    case JX_PRIM_erfc: return verfc;
    case JX_PRIM_erf_inv: return verf_inv;
    default: return NULL;
    }
}
